package detect

import (
	"errors"
	"fmt"
	"io"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/unfold"
	"github.com/toolguard/toolguard/internal/yamldoc"
)

// yamlCheckOnly says why YAML is not repaired.
const yamlCheckOnly = "it is YAML"

// exchangesCheckOnly says why recordings are not repaired.
const exchangesCheckOnly = "it records what was sent"

// recordings are the keys of the list of exchanges in recordings of HTTP requests: of VCR and its
// likes, and of HAR files.
var recordings = [][]string{{"interactions"}, {"http_interactions"}, {"log", "entries"}}

// bodies are the places of the body of a request, in order, and how a string is read there.
var bodies = []struct {
	at   dialect.Lens
	read func(*unfold.Unfolded, source.Value, *unfold.Unfolded) bool
}{
	{"body.base64_string", (*unfold.Unfolded).Unpack},
	{"body.string|postData.text", (*unfold.Unfolded).Decode},
	{"body|parsed_body", (*unfold.Unfolded).Decode},
}

// addresses is the place of the address of a request.
const addresses dialect.Lens = "uri|url"

// exchanges returns the requests that a recording holds, with their bodies unfolded. What was
// answered is in the next request. It returns nil if v is not a recording. in is what v is in, nil
// for the source.
func exchanges(v source.Value, in *unfold.Unfolded) *unfold.Unfolded {
	var list source.Value
	for _, path := range recordings {
		if list = v.Path(path...); list.Kind() == source.Array {
			break
		}
	}
	if first := list.First(); first.Get("request").Kind() != source.Object || !first.Get("response").Exists() {
		return nil
	}
	u := &unfold.Unfolded{}
	u.Reserve(len(list.Raw()))
	u.Make("[", list, in)
	for _, e := range list.Elements() {
		request := e.Get("request")
		u.Next(e, in)
		u.Make("{", request, in)
		if at := addresses.In(request); at.Kind() == source.String {
			u.Field("url", at, in)
			u.Copy(at, in)
		}
		u.Field("body", request, in)
		if !writeBody(u, request, in) {
			u.Make("null", request, in)
		}
		u.Make("}", request, in)
	}
	u.Make("]", list, in)
	return u
}

// writeBody writes the body of a request if that is JSON, as it is or as text.
func writeBody(u *unfold.Unfolded, request source.Value, in *unfold.Unfolded) bool {
	for _, b := range bodies {
		body := b.at.In(request)
		if b.read(u, body, in) {
			return true
		}
		if k := body.Kind(); k == source.Object || k == source.Array {
			u.Copy(body, in)
			return true
		}
	}
	return false
}

// findExchanges returns the places of conversations in a recording, nil if v is none.
func findExchanges(set *dialect.Set, v source.Value) []Place {
	u := exchanges(v, nil)
	if u == nil {
		return nil
	}
	return findIn(set, u, exchangesCheckOnly)
}

// findIn returns the places of conversations in an unfolded value.
func findIn(set *dialect.Set, u *unfold.Unfolded, checkOnly string) []Place {
	return finderFrom(set, u.Value(), Place{Unfolded: u, CheckOnly: checkOnly}).found
}

// A YAML reads the documents of a YAML file.
type YAML struct {
	set  *dialect.Set
	name string
	docs *yamldoc.Reader
	next []Place // of the first document with conversations, once it was read
	read int     // documents
}

// Next returns the places of the conversations in the next document that has any, and the number
// of the document, from 1. It returns io.EOF behind the last one.
func (y *YAML) Next() ([]Place, int, error) {
	if found := y.next; found != nil {
		y.next = nil
		return found, y.read, nil
	}
	for {
		u, err := y.docs.Next()
		if errors.As(err, new(*yamldoc.Error)) {
			err = fmt.Errorf("%s: %w", y.name, err)
		}
		if err != nil {
			return nil, y.read, err
		}
		y.read++
		if all := exchanges(u.Value(), u); all != nil {
			u = all
		}
		found := findIn(y.set, u, yamlCheckOnly)
		for i := range found {
			// A snapshot ends with what the model answered.
			found[i].Traced = found[i].Traced || u.Value().Get("models").Kind() == source.Array
		}
		if len(found) > 0 {
			return found, y.read, nil
		}
	}
}

// yaml decides what a YAML file is.
func yaml(src *source.Source, opts Options, like bool) (*Verdict, error) {
	y := &YAML{set: opts.Dialects, name: src.Name(), docs: yamldoc.NewReader(src)}
	s := &Verdict{Decision: Decision{Framing: source.FramingYAML}}
	found, _, err := y.Next()
	var invalid *yamldoc.Error
	switch {
	case errors.Is(err, io.EOF):
		s.reason = "no messages found in the YAML"
		return s, nil
	case errors.As(err, &invalid) && !like:
		s.reason = invalid.Error()
		return s, nil
	case err != nil:
		return nil, err
	}
	t := newTally(opts)
	t.n = 1
	t.conversation(source.Value{}, found, true)
	t.decide(s)
	s.YAML, s.Places, y.next = y, nil, found
	s.Class, s.Container = ClassYAML, ContainerYAML
	return s, nil
}

// isYAML reports whether a source is YAML by its name or its beginning, and whether it begins like
// a recording.
func isYAML(src *source.Source) (is, like bool, err error) {
	for _, size := range []int{64, yamldoc.HeadBytes} { // most files are JSON
		head := make([]byte, size)
		n, err := src.ReadAt(head, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, false, err
		}
		head = head[:n]
		if c := firstByte(head); c == '{' || c == '[' {
			return false, false, nil
		}
		like = yamldoc.BeginsLikeRecording(head)
	}
	return like || yamldoc.Named(src.Name()), like, nil
}

// firstByte returns the first byte of a text that is no white space, 0 if there is none.
func firstByte(text []byte) byte {
	if at := source.SkipBlank(text, 0); at < len(text) {
		return text[at]
	}
	return 0
}
