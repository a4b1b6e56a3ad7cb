package store

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// aboutRead is the number of bytes that are read at each end of a session.
const aboutRead = 256 << 10

// About says where a session describes itself. Paths lead from a record, or from the document
// if the session is one. Their elements are keys and indices; a * is any index.
type About struct {
	// Project is the directory in which the session began, Version the version of the agent
	// that wrote last, and Title the last title.
	Project, Version, Title []string
	// Prompt is the first text of a human, for sessions without a title. In a record of a log,
	// Human must hold, and the field Robot must not be true.
	Prompt []string
	Human  []Is
	Robot  string
}

// Is is a condition on a record: the value at a path is a text.
type Is struct{ Path, Text string }

// A Description is what a session says about itself. What it does not say is empty.
type Description struct{ Project, Version, Title string }

// Describe reads what a session says about itself. It reads only the ends of a long session.
// It never fails: what it cannot read is empty.
func (a *About) Describe(r io.ReaderAt, size int64) Description {
	head := make([]byte, min(size, aboutRead))
	n, _ := r.ReadAt(head, 0)
	head = head[:n]
	d := &description{about: a}
	if line, _, _ := bytes.Cut(head, []byte("\n")); !json.Valid(line) {
		d.document(head)
		return d.done()
	}
	d.lines(head)
	if size > aboutRead {
		tail := make([]byte, min(size-aboutRead, aboutRead))
		n, _ := r.ReadAt(tail, size-int64(len(tail)))
		_, tail, _ = bytes.Cut(tail[:n], []byte("\n")) // the first line is cut
		d.lines(tail)
	}
	return d.done()
}

// A description collects what a session says.
type description struct {
	about                           *About
	project, version, title, prompt string
}

func (d *description) done() Description {
	out := Description{d.project, d.version, d.title}
	if out.Title == "" {
		out.Title = d.prompt
	}
	return out
}

// lines reads records.
func (d *description) lines(text []byte) {
	for line := range bytes.Lines(text) {
		var record any
		if json.Unmarshal(line, &record) == nil {
			d.record(record)
		}
	}
}

func (d *description) record(record any) {
	a := d.about
	if d.project == "" {
		d.project = first(record, a.Project)
	}
	if v := first(record, a.Version); v != "" {
		d.version = v
	}
	if v := first(record, a.Title); v != "" {
		d.title = v
	}
	if d.prompt != "" || first(record, []string{a.Robot}) == "true" {
		return
	}
	for _, is := range a.Human {
		if first(record, []string{is.Path}) != is.Text {
			return
		}
	}
	d.prompt = first(record, a.Prompt)
}

// first returns the first text at one of the paths. A text that begins with an angle bracket
// is markup that an agent added to what a human typed.
func first(v any, paths []string) (text string) {
	for _, path := range paths {
		walk(v, path, func(s string) bool {
			s = strings.TrimSpace(s)
			if s == "" || s[0] == '<' {
				return true
			}
			text = s
			return false
		})
		if text != "" {
			return text
		}
	}
	return ""
}

// walk calls yield with the texts at a path until it returns false.
func walk(v any, path string, yield func(string) bool) bool {
	if path == "" {
		switch v := v.(type) {
		case string:
			return yield(v)
		case bool:
			return yield(strconv.FormatBool(v))
		}
		return true
	}
	head, rest, _ := strings.Cut(path, ".")
	switch v := v.(type) {
	case map[string]any:
		if next, ok := v[head]; ok {
			return walk(next, rest, yield)
		}
	case []any:
		for i, next := range v {
			if (head == "*" || head == strconv.Itoa(i)) && !walk(next, rest, yield) {
				return false
			}
		}
	}
	return true
}

// document reads the beginning of a document, which may be cut.
func (d *description) document(text []byte) {
	leaves := map[string]string{}
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	readLeaves(in, nil, leaves)
	pick := func(paths []string) string {
		for _, path := range paths {
			if text := strings.TrimSpace(leaves[path]); text != "" {
				return text
			}
		}
		return ""
	}
	d.project, d.version, d.title, d.prompt = pick(d.about.Project), pick(d.about.Version), pick(d.about.Title), pick(d.about.Prompt)
}

// deepest is the number of elements that a path of an About has at most.
const deepest = 8

// readLeaves collects the texts of a value by their paths, as far as the value can be read.
func readLeaves(in *json.Decoder, path []string, leaves map[string]string) bool {
	token, err := in.Token()
	if err != nil {
		return false
	}
	switch token := token.(type) {
	case string:
		leaves[strings.Join(path, ".")] = token
	case json.Delim:
		if len(path) == deepest {
			return leave(in)
		}
		for i := 0; in.More(); i++ {
			key := strconv.Itoa(i)
			if token == '{' {
				name, err := in.Token()
				if err != nil {
					return false
				}
				key, _ = name.(string)
			}
			if !readLeaves(in, append(path, key), leaves) {
				return false
			}
		}
		if _, err := in.Token(); err != nil { // the closing bracket
			return false
		}
	}
	return true
}

// leave reads to the end of the current object or list.
func leave(in *json.Decoder) bool {
	for depth := 1; depth > 0; {
		token, err := in.Token()
		if err != nil {
			return false
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return true
}
