// Package record keeps the outlines of broken requests: what a request looks like without what it
// says. It does not know HTTP, nor what is wrong with a request.
package record

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Most is how many files a directory gets.
const Most = 100

// An Entry is a broken request.
type Entry struct {
	Endpoint string    `json:"endpoint"`
	Dialect  string    `json:"dialect"`
	Outcome  string    `json:"outcome"`
	Findings []Finding `json:"findings"`
	// Request is the outline of the body.
	Request json.RawMessage `json:"request"`
}

// A Finding is an error in a request.
type Finding struct {
	Rule    string `json:"rule"`
	Pointer string `json:"pointer"`
}

// A Dir is a directory of outlines.
type Dir struct {
	path string
	key  []byte // of the hashes of ids

	mu   sync.Mutex
	next int
	full bool
}

// Open prepares a directory, and makes it if there is none.
func Open(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	// The check of the directory comes before the first request.
	probe, err := os.CreateTemp(path, ".probe-*")
	if err != nil {
		return nil, err
	}
	probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return nil, err
	}
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return &Dir{path: path, key: key, next: 1}, nil
}

// Add writes the outline of a request with this text, which is JSON. It reports once that the directory
// is full: with the last file that it may get, or at once if an earlier run has left no room. From then
// on, it does nothing.
func (d *Dir) Add(e Entry, text []byte) (full bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return false, nil
	}
	f := formOf(e.Dialect)
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if e.Request, err = outline(text, f, d.key); err != nil {
		return false, err
	}
	for i := range e.Findings {
		e.Findings[i].Pointer = shorten(e.Findings[i].Pointer, text, f)
	}
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	to.SetIndent("", " ")
	if err := to.Encode(e); err != nil {
		return false, err
	}
	file, err := d.create()
	if d.full || err != nil {
		return d.full, err
	}
	_, err = file.Write(b.Bytes())
	if err = errors.Join(err, file.Close()); err != nil {
		return false, errors.Join(err, os.Remove(file.Name())) // it would count as a file
	}
	for d.next++; d.next <= Most; d.next++ {
		if _, err := os.Lstat(d.name()); err != nil {
			return false, nil
		}
	}
	d.full = true
	return true, nil
}

// name returns the path of the next file.
func (d *Dir) name() string { return filepath.Join(d.path, fmt.Sprintf("request-%03d.json", d.next)) }

// create creates the next file, nil if there is no room. Those that an earlier run has written stay.
func (d *Dir) create() (*os.File, error) {
	for ; d.next <= Most; d.next++ {
		f, err := os.OpenFile(d.name(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	d.full = true
	return nil, nil
}

// payload lists the keys whose values are contents, with keys of their own.
var payload = map[string]bool{
	"input": true, "args": true, "arguments": true, "partial_args": true, "partialArgs": true,
	"response": true, "output": true, "result": true, "json": true, "structuredContent": true,
	"parameters": true, "parametersJsonSchema": true, "input_schema": true, "inputSchema": true, "schema": true,
	"responseSchema": true, "responseJsonSchema": true, "response_schema": true, "output_schema": true,
	"metadata": true, "requestMetadata": true, "labels": true, "promptVariables": true, "variables": true,
	"additionalModelRequestFields": true, "env": true, "headers": true, "logit_bias": true, "source": true,
	"parameters_json_schema": true, "response_json_schema": true, "input_examples": true, "guided_json": true,
	"attributes": true, "filters": true, "metadataFilter": true, "client_metadata": true, "value": true,
	"chat_template_kwargs": true, "extra_body": true, "extra_content": true,
}

// holdsMessages reports whether the value of a key is a list of messages or items instead.
func holdsMessages(key string, first byte) bool { return key == "input" && first == '[' }

// identities are the keys of ids, and of the names by which some APIs pair calls with results.
var identities = map[string]bool{
	"id": true, "tool_use_id": true, "tool_call_id": true, "call_id": true, "toolUseId": true, "name": true,
	"previous_response_id": true,
}

// outline returns a JSON text without its contents: keys, values of role and type, and numbers stay if
// the form knows them, and so do literals. Ids become hashes with a key. Each other text or number, and all
// that is below a payload or an unknown key, becomes its length.
func outline(text []byte, f form, key []byte) ([]byte, error) {
	o := &outliner{from: json.NewDecoder(bytes.NewReader(text)), text: text, form: f, key: key}
	o.from.UseNumber()
	if err := o.value(place{}); err != nil {
		return nil, err
	}
	return o.to.Bytes(), nil
}

// An outliner writes the outline of one text.
type outliner struct {
	from *json.Decoder
	to   bytes.Buffer
	text []byte
	form form
	key  []byte
	top  int // how many objects and arrays are open
}

// A place is where a value is.
type place struct {
	parent  string // the key below which the object is that has the value
	key     string // of the value, or of the list that it is an element of
	element bool
	sealed  bool // only the length stays
}

// value writes the outline of the next value.
func (o *outliner) value(p place) error {
	first := o.peek()
	payload := payload[p.key] && !p.element && !(o.top == 1 && holdsMessages(p.key, first))
	if (p.sealed || payload) && (first == '{' || first == '[') {
		var raw json.RawMessage
		if err := o.from.Decode(&raw); err != nil {
			return err
		}
		o.size(len(raw))
		return nil
	}
	token, err := o.from.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return o.compound(p, t)
	case string:
		o.string(p, t)
	case json.Number:
		if o.form.numbers[p.parent+"."+p.key] && !p.element {
			o.to.WriteString(t.String())
		} else {
			o.string(p, t.String())
		}
	case bool:
		fmt.Fprint(&o.to, t)
	default:
		o.to.WriteString("null")
	}
	return nil
}

// peek returns the first byte of the next value.
func (o *outliner) peek() byte {
	for _, c := range o.text[o.from.InputOffset():] {
		switch c {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return c
		}
	}
	return 0
}

// compound writes the outline of an object or an array whose first token was read.
func (o *outliner) compound(p place, open json.Delim) error {
	o.top++
	defer func() { o.top-- }()
	o.to.WriteByte(byte(open))
	for i := 0; o.from.More(); i++ {
		if i > 0 {
			o.to.WriteByte(',')
		}
		inner := place{parent: p.parent, key: p.key, element: true}
		if open == '{' {
			token, err := o.from.Token()
			if err != nil {
				return err
			}
			key, _ := token.(string)
			if o.form.keys[key] {
				inner = place{parent: p.key, key: key}
				o.quote(key)
			} else {
				inner = place{sealed: true}
				o.quote(fmt.Sprintf("<key of %d bytes>", len(key)))
			}
			o.to.WriteByte(':')
		}
		if err := o.value(inner); err != nil {
			return err
		}
	}
	end, err := o.from.Token()
	if err != nil {
		return err
	}
	if d, ok := end.(json.Delim); ok {
		o.to.WriteByte(byte(d))
	}
	return nil
}

// string writes the outline of a string, or of a number as one.
func (o *outliner) string(p place, s string) {
	switch {
	case o.form.words[p.key][s] && !p.element:
		o.quote(s)
	case identities[p.key] && !p.element:
		sum := hmac.New(sha256.New, o.key)
		sum.Write([]byte(s))
		o.quote("<" + hex.EncodeToString(sum.Sum(nil)[:6]) + ">")
	default:
		o.size(len(s))
	}
}

// size writes a length.
func (o *outliner) size(n int) { o.quote(fmt.Sprintf("<%d bytes>", n)) }

// quote writes a string that needs no escapes.
func (o *outliner) quote(s string) { o.to.WriteString(`"` + s + `"`) }

// shorten cuts a JSON pointer into a text before the first key that the form does not know, and behind the
// first payload.
func shorten(pointer string, text []byte, f form) string {
	steps := strings.Split(pointer, "/")
	at := json.RawMessage(text)
	for i, step := range steps[1:] {
		var list []json.RawMessage
		var fields map[string]json.RawMessage
		switch {
		case json.Unmarshal(at, &list) == nil:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(list) {
				return strings.Join(steps[:i+1], "/")
			}
			at = list[n]
		case json.Unmarshal(at, &fields) != nil, !f.keys[step]:
			return strings.Join(steps[:i+1], "/")
		default:
			at = fields[step]
			if payload[step] && !(i == 0 && holdsMessages(step, first(at))) {
				return strings.Join(steps[:i+2], "/")
			}
		}
	}
	return pointer
}

// first returns the first byte of a JSON value, 0 if there is none.
func first(value []byte) byte {
	if len(value) == 0 {
		return 0
	}
	return value[0]
}
