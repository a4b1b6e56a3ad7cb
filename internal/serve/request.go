package serve

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/suggest"
)

// Version is the version of requests and answers. It changes when a field is removed or changes its
// meaning, not when one is added.
const Version = 1

// mostID is the length of the longest id of a request, as JSON.
const mostID = 256

// defaultFindings is how many findings an answer lists of a report or a row.
const defaultFindings = 1000

// A request is one line of the input.
type request struct {
	id []byte // as JSON, nil if there is none
	op *op

	// What is read. Values are parts of the line.
	text, document, rows, lines, tools source.Value

	from, like, provider string
	send                 bool
	selected, ignored    []string
	severity, strategy   map[string]string
	findings             *int

	fix, safeOnly, unsafe, stripReasoning bool
	placeholder, failOn                   string

	keepLast, keepLastUser, keepFirst, pin int
	target, keepResults                    *int
	maxTokens, maxBytes, resultsMax        int64
	boundary, prefer                       string
}

// A field is a field of a request.
type field struct {
	name string
	in   func(*request) any // a pointer to what it sets
}

// fields lists the fields that operations take.
func fields() []field {
	return []field{
		{"text", func(r *request) any { return &r.text }},
		{"json", func(r *request) any { return &r.document }},
		{"rows", func(r *request) any { return &r.rows }},
		{"lines", func(r *request) any { return &r.lines }},
		{"from", func(r *request) any { return &r.from }},
		{"like", func(r *request) any { return &r.like }},
		{"provider", func(r *request) any { return &r.provider }},
		{"send", func(r *request) any { return &r.send }},
		{"tools", func(r *request) any { return &r.tools }},
		{"select", func(r *request) any { return &r.selected }},
		{"ignore", func(r *request) any { return &r.ignored }},
		{"severity", func(r *request) any { return &r.severity }},
		{"max_findings", func(r *request) any { return &r.findings }},
		{"safe_only", func(r *request) any { return &r.safeOnly }},
		{"unsafe", func(r *request) any { return &r.unsafe }},
		{"strip_reasoning", func(r *request) any { return &r.stripReasoning }},
		{"strategy", func(r *request) any { return &r.strategy }},
		{"placeholder", func(r *request) any { return &r.placeholder }},
		{"fix", func(r *request) any { return &r.fix }},
		{"fail_on", func(r *request) any { return &r.failOn }},
		{"keep_last", func(r *request) any { return &r.keepLast }},
		{"keep_last_user", func(r *request) any { return &r.keepLastUser }},
		{"target_index", func(r *request) any { return &r.target }},
		{"keep_first", func(r *request) any { return &r.keepFirst }},
		{"max_tokens", func(r *request) any { return &r.maxTokens }},
		{"max_bytes", func(r *request) any { return &r.maxBytes }},
		{"boundary", func(r *request) any { return &r.boundary }},
		{"prefer", func(r *request) any { return &r.prefer }},
		{"pin", func(r *request) any { return &r.pin }},
		{"results_max_bytes", func(r *request) any { return &r.resultsMax }},
		{"keep_results", func(r *request) any { return &r.keepResults }},
	}
}

// parse reads a request. With an error, the request has the id if it could be read.
func parse(line []byte) (*request, error) {
	r := &request{}
	s := source.NewScanner().Scan(line, 0, source.Strict)
	if s.Kind == source.FaultNone && source.SkipBlank(line, s.End) < len(line) {
		s.Kind, s.At, s.Want = source.FaultInvalidJSON, source.SkipBlank(line, s.End), "the end of the line"
	}
	if s.Kind != source.FaultNone {
		r.id = idIn(line)
		return r, failure{codeBroken, fmt.Sprintf("expected %s at byte %d of the line", s.Want, s.At)}
	}
	if s.InvalidUTF8.Count > 0 {
		r.id = idIn(line)
		return r, failure{codeBroken, fmt.Sprintf("expected UTF-8 at byte %d of the line", s.InvalidUTF8.Start)}
	}
	v := source.NewValue(line, 0)
	if v.Kind() != source.Object {
		return r, failure{codeBroken, "expected an object"}
	}
	given := map[string]source.Value{}
	var order []string
	for k, val := range v.Members() {
		name := k.Str()
		if _, twice := given[name]; twice {
			return r, bad(name, "is given twice")
		}
		given[name] = val
		order = append(order, name)
	}
	var err error
	if r.id, err = identity(given["id"]); err != nil {
		return r, err
	}
	if v := given["v"]; v.Exists() && string(v.Raw()) != strconv.Itoa(Version) {
		return r, failure{codeVersion, fmt.Sprintf("v: expected %d, the only version of this program", Version)}
	}
	if r.op, err = opOf(given["op"]); err != nil {
		return r, err
	}
	all := fields()
	for _, name := range order {
		if name == "id" || name == "v" || name == "op" {
			continue
		}
		i := slices.IndexFunc(all, func(f field) bool { return f.name == name })
		if i < 0 || !slices.Contains(r.op.fields, name) {
			return r, failure{codeBad, suggest.Unknown("field", name, r.op.fields, r.op.name+" takes "+list(r.op.fields)).Error()}
		}
		val := given[name]
		if at := int64(s.LoneSurrogate.Start); s.LoneSurrogate.Count > 0 && (name == "text" || name == "lines") && val.Span().Start < at && at < val.Span().End {
			return r, bad(name, fmt.Sprintf("expected Unicode, but half of a surrogate pair is at byte %d of the line", at))
		}
		if val.Kind() != source.Null {
			if err := set(name, all[i].in(r), val); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// list joins names, or says that there are none.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// set sets a field to a value.
func set(name string, to any, v source.Value) error {
	if to, ok := to.(*source.Value); ok {
		*to = v
		return nil
	}
	if json.Unmarshal(v.Raw(), to) == nil {
		return nil
	}
	want := "an integer"
	switch to.(type) {
	case *bool:
		want = "true or false"
	case *string:
		want = "a string"
	case *[]string:
		want = "a list of strings"
	case *map[string]string:
		want = "an object of strings"
	}
	return bad(name, "expected "+want)
}

// identity returns the id of a request as JSON that can be echoed.
func identity(v source.Value) ([]byte, error) {
	switch v.Kind() {
	case source.None, source.Null:
		return nil, nil
	case source.String, source.Number:
		if id := v.Raw(); len(id) <= mostID && utf8.Valid(id) {
			return slices.Clone(id), nil
		}
	}
	return nil, bad("id", fmt.Sprintf("expected a string or a number of at most %d bytes", mostID))
}

// idIn returns the id of a line that cannot be read as a whole: if it is before what is broken.
func idIn(line []byte) []byte {
	at := source.SkipBlank(line, 0)
	if at == len(line) || line[at] != '{' {
		return nil
	}
	scan := source.NewScanner()
	whole := func(from int) (source.Value, int) {
		s := scan.Scan(line, from, source.Strict)
		if s.Kind != source.FaultNone {
			return source.Value{}, len(line)
		}
		return source.NewValue(line[:s.End], 0).Part(source.Span{Start: int64(s.Start), End: int64(s.End)}), source.SkipBlank(line, s.End)
	}
	for at++; at < len(line); at++ {
		key, colon := whole(at)
		if key.Kind() != source.String || colon == len(line) || line[colon] != ':' {
			return nil
		}
		val, end := whole(colon + 1)
		if end == len(line) || line[end] != ',' && line[end] != '}' {
			return nil // a number may go on
		}
		if key.Is("id") {
			id, _ := identity(val)
			return id
		}
		at = end
	}
	return nil
}
