package repair

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/toolguard/toolguard/internal/source"
)

// A laid is a list that was written element by element.
type laid struct {
	text  string
	elems []source.Span
	array source.Span
}

// layOut writes a list: the text before it, the elements separated by sep, and the text after
// it.
func layOut(head, lead, sep, trail, tail string, elems []string) laid {
	var b strings.Builder
	b.WriteString(head)
	l := laid{array: source.Span{Start: int64(b.Len()) - 1}}
	if len(elems) > 0 {
		b.WriteString(lead)
	}
	for i, e := range elems {
		if i > 0 {
			b.WriteString(sep)
		}
		at := int64(b.Len())
		b.WriteString(e)
		l.elems = append(l.elems, source.Span{Start: at, End: int64(b.Len())})
	}
	if len(elems) > 0 {
		b.WriteString(trail)
	}
	l.array.End = int64(b.Len()) + 1
	b.WriteString(tail)
	l.text = b.String()
	return l
}

func apply(text string, edits []edit.Edit) string {
	return string(edit.Splice([]byte(text), 0, edits))
}

// A change is a change of a list: the removed elements, and the insertions by index (-1 for
// the front).
type change struct {
	gone   []bool
	behind map[int][]string
}

func randomChange(r *rand.Rand, n int) change {
	c := change{gone: make([]bool, n), behind: map[int][]string{}}
	for i := range n {
		c.gone[i] = r.IntN(3) == 0
	}
	for i := -1; i < n; i++ {
		for range max(0, r.IntN(5)-2) {
			c.behind[i] = append(c.behind[i], fmt.Sprintf(`{"new":%d}`, r.IntN(100)))
		}
	}
	return c
}

// want returns the elements of the changed list.
func (c change) want(elems []string) []string {
	out := slices.Clone(c.behind[-1])
	for i, e := range elems {
		if !c.gone[i] {
			out = append(out, e)
		}
		out = append(out, c.behind[i]...)
	}
	return out
}

func (c change) make(l *list, elems []source.Span) []edit.Edit {
	for i := range elems {
		if c.gone[i] {
			l.remove(elems[i])
		}
	}
	for i := -1; i < len(elems); i++ {
		for _, text := range c.behind[i] {
			anchor := source.Span{}
			if i >= 0 {
				anchor = elems[i]
			}
			l.after(anchor, []byte(text))
		}
	}
	return l.compile()
}

// arrayLayouts are formats of arrays in which all elements are formatted alike.
var arrayLayouts = []struct{ name, head, lead, sep, trail, tail string }{
	{"compact", `{"m":[`, "", ",", "", `]}`},
	{"python", `{"m": [`, "", ", ", "", `]}`},
	{"two spaces", "{\n  \"m\": [", "\n    ", ",\n    ", "\n  ", "]\n}\n"},
	{"tabs", "{\n\t\"m\": [", "\n\t\t", ",\n\t\t", "\n\t", "]\n}\n"},
	{"CRLF", "[", "\r\n  ", ",\r\n  ", "\r\n", "]\r\n"},
	{"odd", "[", " ", " , ", " ", "]"},
	{"comma first", "[", "\n  ", "\n, ", "\n", "]"},
}

// TestArrayChanges compares changed arrays with arrays that are written anew with the same
// separators.
func TestArrayChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, lay := range arrayLayouts {
		t.Run(lay.name, func(t *testing.T) {
			for range 500 {
				var elems []string
				for i := range r.IntN(6) {
					elems = append(elems, fmt.Sprintf(`{"old":%d}`, i))
				}
				was := layOut(lay.head, lay.lead, lay.sep, lay.trail, lay.tail, elems)
				c := randomChange(r, len(elems))
				want := c.want(elems)
				l := &list{src: &window{src: source.FromBytes("t", []byte(was.text))}, array: was.array}
				edits := c.make(l, was.elems)
				got := apply(was.text, edits)
				for i := 1; i < len(edits); i++ {
					if edits[i].Span.Start < edits[i-1].Span.End {
						t.Fatalf("edits %v of %q", edits, was.text)
					}
				}
				var has []json.RawMessage
				start := strings.IndexByte(lay.head, '[')
				if err := json.NewDecoder(strings.NewReader(got[start:])).Decode(&has); err != nil || len(has) != len(want) {
					t.Fatalf("%v, %d elements, want %d: %q became %q", err, len(has), len(want), was.text, got)
				}
				for i := range has {
					if string(has[i]) != want[i] {
						t.Fatalf("element %d is %s, want %s: %q became %q", i, has[i], want[i], was.text, got)
					}
				}
				// With two or more elements, or one on its own lines, new elements have the
				// format of the others.
				if len(elems) > 1 && len(want) > 0 {
					if anew := layOut(lay.head, lay.lead, lay.sep, lay.trail, lay.tail, want).text; got != anew {
						t.Fatalf("%q became\n%q, written anew\n%q", was.text, got, anew)
					}
				}
			}
		})
	}
}

// TestLineChanges does the same with the lines of a file.
func TestLineChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, lay := range []struct{ name, head, sep, tail string }{
		{"LF", "", "\n", "\n"},
		{"no final line end", "", "\n", ""},
		{"CRLF", "", "\r\n", "\r\n"},
		{"CRLF without the last", "", "\r\n", ""},
		{"BOM", "\ufeff", "\n", "\n"},
		{"blank lines between", "", "\n\n", "\n"},
	} {
		t.Run(lay.name, func(t *testing.T) {
			for range 500 {
				var elems []string
				for i := range 1 + r.IntN(5) {
					elems = append(elems, fmt.Sprintf(`{"old":%d}`, i))
				}
				was := layOut(lay.head, "", lay.sep, "", lay.tail, elems)
				c := randomChange(r, len(elems))
				delete(c.behind, -1) // nothing is ever put before the first line
				want := c.want(elems)
				l := &list{src: &window{src: source.FromBytes("t", []byte(was.text))}, lines: true}
				got := apply(was.text, c.make(l, was.elems))
				anew := layOut(lay.head, "", lay.sep, "", lay.tail, want).text
				if len(want) == 0 {
					anew = lay.head
				}
				if lay.name == "blank lines between" {
					// One line ending or two before a new line read the same.
					got, anew = strings.ReplaceAll(got, "\n\n", "\n"), strings.ReplaceAll(anew, "\n\n", "\n")
				} else if len(elems) == 1 && !strings.Contains(was.text, "\n") && strings.Contains(lay.sep, "\r") {
					continue // nothing tells the line end
				}
				if got != anew {
					t.Fatalf("%+v of %q became\n%q, written anew\n%q", c, was.text, got, anew)
				}
			}
		})
	}
}

// TestInsertRemove: inserting and removing an element leaves no trace.
func TestInsertRemove(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, lay := range arrayLayouts {
		for range 500 {
			var elems []string
			for i := range 1 + r.IntN(4) {
				elems = append(elems, fmt.Sprintf(`{"old":%d}`, i))
			}
			was := layOut(lay.head, lay.lead, lay.sep, lay.trail, lay.tail, elems)
			at := was.elems[r.IntN(len(elems))]
			l := &list{src: &window{src: source.FromBytes("t", []byte(was.text))}, array: was.array}
			l.after(at, []byte(`{"new":1}`))
			with := apply(was.text, l.compile())
			i := int64(strings.Index(with, `{"new":1}`))
			l = &list{
				src:   &window{src: source.FromBytes("t", []byte(with))},
				array: source.Span{Start: was.array.Start, End: was.array.End + int64(len(with)-len(was.text))},
			}
			l.remove(source.Span{Start: i, End: i + int64(len(`{"new":1}`))})
			if back := apply(with, l.compile()); back != was.text {
				t.Fatalf("%s: %q\n became %q\n and then %q", lay.name, was.text, with, back)
			}
		}
	}
}
