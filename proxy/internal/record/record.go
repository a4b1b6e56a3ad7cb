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

// ErrFull says that a directory has as many outlines as it may have.
var ErrFull = errors.New("the directory is full")

// Add writes the outline of a request with this text, which is JSON. After the last file that the
// directory may get, it returns ErrFull once, and nil from then on.
func (d *Dir) Add(e Entry, text []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return nil
	}
	var err error
	if e.Request, err = outline(text, d.key); err != nil {
		return err
	}
	for i := range e.Findings {
		e.Findings[i].Pointer = shorten(e.Findings[i].Pointer)
	}
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	to.SetIndent("", " ")
	if err := to.Encode(e); err != nil {
		return err
	}
	f, err := d.create()
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	if err = errors.Join(err, f.Close()); err != nil {
		d.next--
		return errors.Join(err, os.Remove(f.Name())) // it would count as a file
	}
	return nil
}

// create creates the next file. Those that an earlier run has written stay.
func (d *Dir) create() (*os.File, error) {
	for ; d.next <= Most; d.next++ {
		name := filepath.Join(d.path, fmt.Sprintf("request-%03d.json", d.next))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			d.next++
		}
		return f, err
	}
	d.full = true
	return nil, ErrFull
}

// payload lists the keys whose values are contents, with keys of their own.
var payload = map[string]bool{
	"input": true, "args": true, "arguments": true, "partial_args": true, "partialArgs": true,
	"response": true, "output": true, "result": true, "json": true, "structuredContent": true,
	"parameters": true, "parametersJsonSchema": true, "input_schema": true, "inputSchema": true, "schema": true,
	"responseSchema": true, "responseJsonSchema": true, "response_schema": true, "output_schema": true,
	"metadata": true, "requestMetadata": true, "labels": true, "promptVariables": true, "variables": true,
	"additionalModelRequestFields": true, "env": true, "headers": true, "logit_bias": true, "source": true,
}

// holdsMessages reports whether the value of a key is a list of messages or items instead.
func holdsMessages(key string, first byte) bool { return key == "input" && first == '[' }

// identities are the keys of ids, and of the names by which some APIs pair calls with results.
var identities = map[string]bool{
	"id": true, "tool_use_id": true, "tool_call_id": true, "call_id": true, "toolUseId": true, "name": true,
	"previous_response_id": true,
}

// words are the keys whose values say what a value is.
var words = map[string]bool{"role": true, "type": true}

// outline returns a JSON text without its contents: the values of role and type stay, and so do
// keys, numbers and literals outside of payloads. Ids become hashes with a key, and each other
// string becomes its length.
func outline(text, key []byte) ([]byte, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	o := &outliner{from: json.NewDecoder(bytes.NewReader(text)), text: text, key: key}
	o.from.UseNumber()
	if err := o.value(""); err != nil {
		return nil, err
	}
	return o.to.Bytes(), nil
}

// An outliner writes the outline of one text.
type outliner struct {
	from *json.Decoder
	to   bytes.Buffer
	text []byte
	key  []byte
	top  int // how many objects and arrays are open
}

// value writes the outline of the next value, which is that of a key, or of none.
func (o *outliner) value(key string) error {
	first := o.peek()
	if payload[key] && (first == '{' || first == '[') && !(o.top == 1 && holdsMessages(key, first)) {
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
		return o.compound(t)
	case string:
		o.string(key, t)
	case json.Number:
		if payload[key] || identities[key] {
			o.string(key, t.String())
		} else {
			o.to.WriteString(t.String())
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
func (o *outliner) compound(open json.Delim) error {
	o.top++
	defer func() { o.top-- }()
	o.to.WriteByte(byte(open))
	for i := 0; o.from.More(); i++ {
		if i > 0 {
			o.to.WriteByte(',')
		}
		inner := ""
		if open == '{' {
			token, err := o.from.Token()
			if err != nil {
				return err
			}
			inner, _ = token.(string)
			o.quote(safeKey(inner))
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

// string writes the outline of a string.
func (o *outliner) string(key, s string) {
	switch {
	case words[key] && isWord(s):
		o.quote(s)
	case identities[key]:
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

// safeKey returns a key, or its length if it can be more than a name.
func safeKey(key string) string {
	if isWord(key) {
		return key
	}
	return fmt.Sprintf("<key of %d bytes>", len(key))
}

// isWord reports whether a text is a name such as toolUseId, and no longer than those are.
func isWord(s string) bool {
	if s == "" || len(s) > 40 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', i > 0 && c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return true
}

// shorten cuts a JSON pointer at the first payload.
func shorten(pointer string) string {
	steps := strings.Split(pointer, "/")
	for i, step := range steps {
		switch {
		case payload[step] && !(i == 1 && step == "input"):
			return strings.Join(steps[:i+1], "/")
		case i > 0 && !isWord(step) && strings.Trim(step, "0123456789") != "":
			return strings.Join(steps[:i], "/")
		}
	}
	return pointer
}
