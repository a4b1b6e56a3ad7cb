package layout

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// mostDeep is how deep values of MessagePack may be nested.
const mostDeep = 500

// mostObject is the last extension of MessagePack by which LangGraph writes objects of Python, from 0:
// lists of a module, a name, and the arguments or fields, which become JSON. Others are arrays of numpy.
// https://github.com/langchain-ai/langgraph/blob/main/libs/checkpoint/langgraph/checkpoint/serde/jsonplus.py
const mostObject = 5

// unpacked returns MessagePack as JSON, with the order of its fields. Bytes become base64.
func unpacked(packed []byte) ([]byte, error) {
	r := bytes.NewReader(packed)
	u := &unpacking{d: msgpack.NewDecoder(r)}
	if err := u.value(0); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("its MessagePack cannot be read: %w", err)
	}
	if r.Len() > 0 {
		return nil, fmt.Errorf("its MessagePack ends %d bytes before the end", r.Len())
	}
	return u.out, nil
}

type unpacking struct {
	d   *msgpack.Decoder
	out []byte
}

func (u *unpacking) value(depth int) error {
	code, err := u.d.PeekCode()
	switch {
	case err != nil:
		return err
	case depth > mostDeep:
		return errors.New("values are nested too deep")
	case code == msgpcode.Nil:
		u.out = append(u.out, "null"...)
		return u.d.DecodeNil()
	case code == msgpcode.True || code == msgpcode.False:
		b, err := u.d.DecodeBool()
		u.out = strconv.AppendBool(u.out, b)
		return err
	case code == msgpcode.Float || code == msgpcode.Double:
		f, err := u.d.DecodeFloat64()
		number, bad := json.Marshal(f)
		if bad != nil { // it is infinite or none
			number = []byte("null")
		}
		u.out = append(u.out, number...)
		return err
	case code == msgpcode.Uint64:
		n, err := u.d.DecodeUint64()
		u.out = strconv.AppendUint(u.out, n, 10)
		return err
	case msgpcode.IsFixedNum(code) || code >= msgpcode.Uint8 && code <= msgpcode.Int64:
		n, err := u.d.DecodeInt64()
		u.out = strconv.AppendInt(u.out, n, 10)
		return err
	case msgpcode.IsString(code):
		s, err := u.d.DecodeString()
		u.out = append(u.out, quoted(s)...)
		return err
	case msgpcode.IsBin(code):
		b, err := u.d.DecodeBytes()
		u.out = append(u.out, quoted(base64.StdEncoding.EncodeToString(b))...)
		return err
	case msgpcode.IsFixedArray(code) || code == msgpcode.Array16 || code == msgpcode.Array32:
		return u.array(depth)
	case msgpcode.IsFixedMap(code) || code == msgpcode.Map16 || code == msgpcode.Map32:
		return u.object(depth)
	case msgpcode.IsExt(code):
		return u.extension(depth)
	}
	return fmt.Errorf("the type %#x is unknown", code)
}

func (u *unpacking) array(depth int) error {
	n, err := u.d.DecodeArrayLen()
	u.out = append(u.out, '[')
	for i := 0; i < n && err == nil; i++ {
		if i > 0 {
			u.out = append(u.out, ',')
		}
		err = u.value(depth + 1)
	}
	u.out = append(u.out, ']')
	return err
}

func (u *unpacking) object(depth int) error {
	n, err := u.d.DecodeMapLen()
	u.out = append(u.out, '{')
	for i := 0; i < n && err == nil; i++ {
		if i > 0 {
			u.out = append(u.out, ',')
		}
		from := len(u.out)
		if err = u.value(depth + 1); err != nil {
			break
		}
		if u.out[from] != '"' { // a number, for example
			u.out = append(u.out[:from], quoted(string(u.out[from:]))...)
		}
		u.out = append(u.out, ':')
		err = u.value(depth + 1)
	}
	u.out = append(u.out, '}')
	return err
}

// extension writes the arguments or fields of an object of Python.
func (u *unpacking) extension(depth int) error {
	id, size, err := u.d.DecodeExtHeader()
	if err != nil {
		return err
	}
	if id < 0 || id > mostObject {
		raw := make([]byte, 0, min(size, 4<<10))
		for ; size > 0; size -= cap(raw) {
			part := raw[:min(size, cap(raw))]
			if err := u.d.ReadFull(part); err != nil {
				return err
			}
		}
		u.out = append(u.out, "null"...)
		return nil
	}
	n, err := u.d.DecodeArrayLen()
	if err == nil && n < 3 {
		err = errors.New("an object has no value")
	}
	for i := 0; i < n && err == nil; i++ {
		from := len(u.out)
		if err = u.value(depth + 1); i != 2 {
			u.out = u.out[:from]
		}
	}
	return err
}
