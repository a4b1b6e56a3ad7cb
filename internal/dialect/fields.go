package dialect

import (
	"bytes"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A fieldSet reads the members that several paths name in one pass over an
// object.
type fieldSet struct {
	keys []string         // first segments, each once
	at   map[string][]int // by key: the entries that begin with it
	all  []fieldAlt
	n    int // how many paths there are
}

// A fieldAlt is one alternative of one path.
type fieldAlt struct {
	path, key int
	rest      Path // "" for the member itself
}

func newFieldSet(paths ...Path) *fieldSet {
	s := &fieldSet{at: map[string][]int{}, n: len(paths)}
	for i, p := range paths {
		if p == "" {
			continue
		}
		for alt := range p.Alternatives() {
			key, rest, _ := strings.Cut(string(alt), ".")
			if _, known := s.at[key]; !known {
				s.keys = append(s.keys, key)
			}
			k := 0
			for s.keys[k] != key {
				k++
			}
			s.at[key] = append(s.at[key], len(s.all))
			s.all = append(s.all, fieldAlt{path: i, key: k, rest: Path(rest)})
		}
	}
	return s
}

// put notes a member for the paths that it belongs to, and reports whether
// there are any. Of several alternatives the first that is met counts.
func (s *fieldSet) put(out []source.Value, key, val source.Value) bool {
	raw := key.Raw()
	entries, known := s.at[string(raw[1:len(raw)-1])]
	if !known && bytes.IndexByte(raw, '\\') >= 0 {
		entries, known = s.at[key.Str()]
	}
	for _, e := range entries {
		a := &s.all[e]
		if out[a.path].Exists() {
			continue
		}
		if out[a.path] = val; a.rest != "" {
			out[a.path] = a.rest.In(val)
		}
	}
	return known
}

// read fills out with the value of each path in v, None where there is none. It
// reports doubled keys.
func (s *fieldSet) read(b *transcript.Builder, v source.Value, out []source.Value) {
	clear(out)
	b.Members(v, func(key, val source.Value) { s.put(out, key, val) })
}
