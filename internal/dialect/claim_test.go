package dialect

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// TestMemory checks that a set with a memory gives the same answers as one without,
// for every object in every fixture and for mutants of these objects.
func TestMemory(t *testing.T) {
	t.Parallel()
	every := sample.Size(5, 200, 200) // one object in this many is mutated
	m := newRemembered()
	seen := map[string]bool{}
	err := filepath.WalkDir("../../testdata/transcripts", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, v := range objectsIn(text) {
			if seen[string(v.Raw())] {
				continue
			}
			seen[string(v.Raw())] = true
			m.same(t, v)
			if len(seen)%every == 0 {
				for _, text := range mutantsOf(v) {
					m.same(t, source.NewValue(text, 0))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if m.remembered < m.asked*9/10 {
		t.Errorf("only %d of %d questions were answered from memory", m.remembered, m.asked)
	}
}

// FuzzMemory checks the same for two objects, asked about in order.
func FuzzMemory(f *testing.F) {
	f.Add(`{"role":"user","content":"x"}`, `{"role":"user","content":""}`)
	f.Add(`{"role":"a","content":[{"type":"tool_use","id":"1"}]}`, `{"role":"a","content":[{"type":"tool_use"},{"id":"1"}]}`)
	f.Add(`{"type":"x","id":["a","b","human"]}`, `{"type":"x","id":["a","human","b"]}`)
	f.Add(`{"role":"a","content":[null,{"type":"tool"}]}`, `{"role":"a","content":[{"type":"tool"}]}`)
	f.Add(`{"role":"a","toolRuns":[]}`, `{"role":"a","toolRuns":[1]}`)
	m := newRemembered()
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, text := range []string{a, b} {
			if json.Valid([]byte(text)) {
				for _, v := range objectsIn([]byte(text)) {
					m.same(t, v)
				}
			}
		}
	})
}

// A remembered holds a set with a memory and one without. Both have a user-defined
// dialect with marks that no other dialect looks at.
type remembered struct {
	set, plain        *Set
	asked, remembered int
	words             *evidence.Pen // draws only the keywords
	looked            map[string]uint64
}

func newRemembered() *remembered {
	own := *OpenAIChat
	own.Name = "own"
	own.Marks = evidence.All("a.#.b=1", "!c.1", "d.@keys.0=x|y", "e.*:string", `f\.g.#(h=1)`, "i.#=2")
	m := &remembered{plain: Builtin().With(&own)}
	m.set = m.plain.Remembering()
	m.set.memory.elements.asked, m.set.memory.requests.asked = fewAsked, fewAsked
	words := &evidence.Aspect{}
	words.Keywords()
	m.words, m.looked = evidence.NewPen(words, m.set.isWord), map[string]uint64{}
	return m
}

// same compares all answers about an object.
func (m *remembered) same(t *testing.T, v source.Value) {
	t.Helper()
	m.set.memory.elements.again, m.set.memory.requests.again = mostKnown, mostKnown // the memory never gives up
	asked := m.set.Ask(v)
	if m.asked++; asked.known != nil {
		m.remembered++
	}
	if outline, ok := m.words.Draw(v); ok {
		want := m.set.keywords.look(v)
		if got, known := m.looked[string(outline)]; known && got != want {
			t.Errorf("%s: keywords %b, want %b", v.Raw(), got, want)
		}
		m.looked[string(outline)] = want
	}
	gotD, gotW, gotS := asked.Claim()
	wantD, wantW, wantS := m.plain.ClaimOf(v)
	if gotD != wantD || gotW != wantW || gotS.Alike() != wantS.Alike() || wantD != nil && gotS.String() != wantS.String() {
		t.Errorf("%s: claimed as %v %d %q, want %v %d %q", v.Raw(), nameOf(gotD), gotW, gotS, nameOf(wantD), wantW, wantS)
	}
	wantAll := slices.Collect(m.plain.claims(v))
	gotAll := asked.Claims()
	if !slices.EqualFunc(gotAll, wantAll, func(a, b Claim) bool {
		return a.Dialect == b.Dialect && a.Weight == b.Weight && a.Sign.Alike() == b.Sign.Alike() && a.Sign.In(v).String() == b.Sign.String()
	}) {
		t.Errorf("%s: claimed by %v, want %v", v.Raw(), gotAll, wantAll)
	}
	if got, want := m.set.RequestOf(v), m.plain.RequestOf(v); got != want {
		t.Errorf("%s: request to %s, want %s", v.Raw(), nameOf(got), nameOf(want))
	}
	for _, d := range m.plain.All() {
		if got, want := asked.Reads(d), d.Reads(v); got != want {
			t.Errorf("%s: %s reads weight %d, want %d", v.Raw(), d.Name, got, want)
		}
	}
}

func nameOf(d *Dialect) string {
	if d == nil {
		return "none"
	}
	return d.Name
}

// objectsIn returns the objects in a text, at any depth.
func objectsIn(text []byte) (out []source.Value) {
	var add func(v source.Value)
	add = func(v source.Value) {
		if v.Kind() == source.Object {
			out = append(out, v)
		}
		for _, val := range v.Members() {
			add(val)
		}
		for _, e := range v.Elements() {
			add(e)
		}
	}
	for dec := json.NewDecoder(strings.NewReader(string(text))); ; {
		var one json.RawMessage
		if dec.Decode(&one) != nil {
			return out
		}
		add(source.NewValue(one, 0))
	}
}

// mutantsOf returns copies of an object in which one value or one key differs.
func mutantsOf(v source.Value) (out [][]byte) {
	put := func(s source.Span, text string) {
		raw := v.Raw()
		lo, hi := s.Start-v.Span().Start, s.End-v.Span().Start
		out = append(out, slices.Concat(raw[:lo], []byte(text), raw[hi:]))
	}
	var change func(val source.Value, depth int)
	change = func(val source.Value, depth int) {
		for _, text := range []string{"null", `""`, `"tool"`, "0", "true", "[]", "[null]", "{}", `{"tool":1}`, `["x"]`} {
			put(val.Span(), text)
		}
		if depth == 4 || val.Span().Len() > 1<<12 {
			return
		}
		for k, of := range val.Members() {
			put(k.Span(), `"x"`)
			put(k.Span(), `"type"`)
			put(k.Span(), `"\u0074ype"`)
			change(of, depth+1)
		}
		for _, e := range val.Elements() {
			put(e.Span(), string(e.Raw())+","+string(e.Raw()))
			put(e.Span(), "null,"+string(e.Raw()))
			change(e, depth+1)
		}
	}
	for k, val := range v.Members() {
		put(k.Span(), `"role"`)
		change(val, 0)
	}
	return out
}

// TestMemoryGivesUp checks that a set stops remembering if every element has a new
// outline, and keeps remembering otherwise.
func TestMemoryGivesUp(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		forms int
		want  bool
	}{{100, true}, {100 * mostKnown, false}} {
		set := Builtin().Remembering()
		for i := range 3 * mostKnown {
			set.Ask(source.NewValue(fmt.Appendf(nil, `{"role":"user","content":"x","k%d":1}`, i%test.forms), 0))
		}
		if got := set.Ask(source.NewValue([]byte(`{"role":"user"}`), 0)).known != nil; got != test.want {
			t.Errorf("%d forms: remembers %t, want %t", test.forms, got, test.want)
		}
		if n := len(set.memory.elements.known); n > mostKnown {
			t.Errorf("%d forms: %d outlines remembered, want at most %d", test.forms, n, mostKnown)
		}
	}
}
