package edit

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// overlaps is a naive reference: it reports whether two edits cannot be made together.
func overlaps(a, b Edit) bool {
	if a.Span.Len() == 0 && b.Span.Len() == 0 {
		return false
	}
	return a.Span.Start < b.Span.End && b.Span.Start < a.Span.End
}

// TestSetTry: a fix is added whole or rejected, and the result can be applied.
func TestSetTry(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	text := []byte("0123456789abcdefghijklmnopqrstuvwxyz")
	for range 5_000 {
		var s Set
		var taken []Edit
		for range r.IntN(8) {
			f := Fix{Edits: someEdits(r, len(text))}
			want := true
			for _, e := range f.Edits {
				want = want && !slices.ContainsFunc(taken, func(o Edit) bool { return overlaps(e, o) })
			}
			if got := s.Try(f); got != want {
				t.Fatalf("Try(%v) behind %v is %t", f.Edits, taken, got)
			}
			if want {
				taken = append(taken, f.Edits...)
			}
		}
		if len(s.Edits()) != len(taken) {
			t.Fatalf("%d edits of %d", len(s.Edits()), len(taken))
		}
		p, err := NewPieces(source.FromBytes("p", text)).Apply(s.Edits())
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := p.WriteTo(&out); err != nil || !bytes.Equal(out.Bytes(), naively(text, s.Edits())) {
			t.Fatalf("%v gives %q", s.Edits(), out.Bytes())
		}
	}
}

// TestSetInsertsInOrder: texts inserted at one offset keep their order, and come before a
// replacement there.
func TestSetInsertsInOrder(t *testing.T) {
	at := func(from, to int64, text string) Fix {
		return Fix{Edits: []Edit{{source.Span{Start: from, End: to}, []byte(text)}}}
	}
	var s Set
	for _, f := range []Fix{at(1, 2, "R"), at(1, 1, "a"), at(1, 1, "b"), at(2, 2, "z")} {
		if !s.Try(f) {
			t.Fatalf("%v is refused", f.Edits)
		}
	}
	if got := string(naively([]byte("012"), s.Edits())); got != "0abRz2" {
		t.Error(got)
	}
}

// TestShelf: very many edits in any order are sorted, as few are.
func TestShelf(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	var s Set
	var want []Edit
	for _, i := range r.Perm(5 * chunk) {
		e := Edit{source.Span{Start: int64(3 * i), End: int64(3*i + r.IntN(3))}, []byte{byte(i)}}
		if !s.Try(Fix{Edits: []Edit{e}}) {
			t.Fatalf("%v is refused", e)
		}
		want = append(want, e)
	}
	slices.SortFunc(want, func(a, b Edit) int { return int(a.Span.Start - b.Span.Start) })
	if got := s.Edits(); !slices.EqualFunc(got, want, func(a, b Edit) bool { return a.Span == b.Span && a.Text[0] == b.Text[0] }) {
		t.Error("not in order")
	}
}

// TestSetReads: a fix that depends on text which another fix changes is rejected, whichever
// comes first. Two fixes may depend on the same text.
func TestSetReads(t *testing.T) {
	at := func(from, to int64) source.Span { return source.Span{Start: from, End: to} }
	reader := Fix{Edits: []Edit{{Span: at(20, 20), Text: []byte("x")}}, Reads: []source.Span{at(5, 10)}}
	writer := Fix{Edits: []Edit{{Span: at(7, 8)}}}
	other := Fix{Edits: []Edit{{Span: at(30, 30), Text: []byte("y")}}, Reads: []source.Span{at(5, 10)}}
	beside := Fix{Edits: []Edit{{Span: at(10, 12)}}}
	for _, c := range []struct {
		fixes []Fix
		want  []bool
	}{
		{[]Fix{reader, writer, other, beside}, []bool{true, false, true, true}},
		{[]Fix{writer, reader, other, beside}, []bool{true, false, false, true}},
	} {
		var s Set
		for i, f := range c.fixes {
			if s.Try(f) != c.want[i] {
				t.Errorf("fix %d is not %t", i, c.want[i])
			}
		}
	}
}

// TestSetOver: no other fix changes or depends on a value that is replaced, whichever comes
// first. A fix beside it is allowed.
func TestSetOver(t *testing.T) {
	at := func(from, to int64) source.Span { return source.Span{Start: from, End: to} }
	appends := func(over source.Span) Fix {
		return Fix{Edits: []Edit{{Span: at(40, 40), Text: []byte("x")}}, Over: []source.Span{over}}
	}
	replaces := appends(at(5, 10))
	for _, c := range []struct {
		name  string
		other Fix
		want  bool
	}{
		{"edits it", Fix{Edits: []Edit{{Span: at(7, 8)}}}, false},
		{"inserts in it", Fix{Edits: []Edit{{Span: at(7, 7), Text: []byte("y")}}}, false},
		{"edits its last byte", Fix{Edits: []Edit{{Span: at(9, 12)}}}, false},
		{"reads it", Fix{Edits: []Edit{{Span: at(20, 21)}}, Reads: []source.Span{at(6, 7)}}, false},
		{"replaces it too", appends(at(5, 10)), false},
		{"replaces what it stands in", appends(at(0, 30)), false},
		{"inserts before it", Fix{Edits: []Edit{{Span: at(5, 5), Text: []byte("y")}}}, true},
		{"inserts behind it", Fix{Edits: []Edit{{Span: at(10, 10), Text: []byte("y")}}}, true},
		{"edits and reads beside it", Fix{Edits: []Edit{{Span: at(10, 12)}}, Reads: []source.Span{at(0, 5)}}, true},
		{"replaces what stands beside it", appends(at(10, 15)), true},
	} {
		for i, fixes := range [][]Fix{{replaces, c.other}, {c.other, replaces}} {
			var s Set
			if !s.Try(fixes[0]) || s.Try(fixes[1]) != c.want {
				t.Errorf("%s: the other one second is %t, and it is not %t", c.name, i == 0, c.want)
			}
			n := len(fixes[0].Edits)
			if c.want {
				n += len(fixes[1].Edits)
			}
			if len(s.Edits()) != n {
				t.Errorf("%s: %d edits, want %d", c.name, len(s.Edits()), n)
			}
		}
	}
}

// TestProve: edits that change recorded content differently than their fix says are detected,
// alone and with others.
func TestProve(t *testing.T) {
	const text = `[{"role":"user","content":"a"},{"role":"user","content":"b\nc"}]`
	b := int64(len(`[{"role":"user","content":"a"},{"role":"user","content":`))
	at := func(from, to int64, text string) Edit {
		return Edit{source.Span{Start: from, End: to}, []byte(text)}
	}
	sum := func(text string) Sum { return Total([]byte(text)) }
	const unlike = "lose or duplicate the content of bytes "
	for _, c := range []struct {
		name  string
		edits []Edit
		says  Sum
		want  string
	}{
		{"nothing", nil, Sum{}, ""},
		{"says it otherwise", []Edit{at(b, b+6, `[{"text":"b"},{"text":"c "}]`)}, Sum{}, ""},
		{"says something else", []Edit{at(b, b+6, `"b\nd"`)}, Sum{}, unlike + "56 to 62"},
		{"loses a line", []Edit{at(b, b+6, `"b"`)}, Sum{}, unlike + "56 to 62"},
		{"loses a line, and says so", []Edit{at(b, b+6, `"b"`)}, Sum{}.Minus(sum(`"c"`)), ""},
		{"loses a line, and says that it is another", []Edit{at(b, b+6, `"b"`)}, Sum{}.Minus(sum(`"b"`)), unlike + "56 to 62"},
		{"loses nothing that it says", []Edit{at(1, 1, " ")}, Sum{}.Minus(sum(`"a"`)), unlike + "1 to 1"},
		{"says another role, with its key", []Edit{at(39, 45, `"tool"`)}, sum(`{"role":"tool"}`).Minus(sum(`{"role":"user"}`)), ""},
		{"moves", []Edit{at(1, 1, `{"role":"user","content":"b\nc"},`), at(30, 63, "")}, Sum{}, ""},
		{"copies", []Edit{at(1, 1, `{"role":"user","content":"b\nc"},`)}, Sum{}, unlike + "1 to 1"},
		{"copies, and says so", []Edit{at(1, 1, `{"role":"user","content":"b\nc"},`)}, sum(`{"role":"user"}`).Plus(sum(`["b","c"]`)), ""},
	} {
		src := source.FromBytes("p", []byte(text))
		f := Fix{Edits: c.edits, Change: c.says}
		var s, both Set
		before := Fix{Edits: []Edit{at(0, 0, " ")}}
		if !s.Try(f) || !both.Try(before) || !both.Try(f) {
			t.Fatalf("%s: it is refused", c.name)
		}
		for _, err := range []error{s.ProveAlone(&f, src), s.Prove(src)} {
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
		if err := both.Prove(src); (err != nil) != (c.want != "") {
			t.Errorf("%s, with another: %v", c.name, err)
		}
	}
}

// TestSetProvesWhatMeets: fixes that were proved alone are proved again only if one is near
// another.
func TestSetProvesWhatMeets(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	text := []byte(`[12,{"a":"b"},3,[4,5],"cd",67]`)
	src := source.FromBytes("p", text)
	proved, wrong := 0, 0
	for range 20_000 {
		var s Set
		var within []source.Span
		var change Sum
		for range 1 + r.IntN(4) {
			f := Fix{Edits: someEdits(r, len(text))}
			for i := range f.Edits {
				f.Edits[i].Text = []byte([]string{"", "8", ",9", `,"x"`, "1,2"}[r.IntN(5)])
			}
			if r.IntN(2) == 0 {
				from := r.IntN(len(text))
				f.Within = []source.Span{{Start: int64(from), End: int64(from + r.IntN(len(text)-from))}}
			}
			for _, w := range merged(f.Within, f.Edits) {
				inside := slices.DeleteFunc(slices.Clone(f.Edits), func(e Edit) bool { return e.Span.Start < w.Start || e.Span.End > w.End })
				key := KeyBefore(text[:w.Start])
				old := text[w.Start:w.End]
				f.Change = f.Change.Plus(total(Splice(old, w.Start, inside), key)).Minus(total(old, key))
			}
			if r.IntN(8) == 0 {
				f.Change[0]++ // it says something else than it does, and is not proved
			} else if err := s.ProveAlone(&f, src); err != nil {
				t.Fatal(err)
			}
			if s.Try(f) {
				within, change = append(within, f.Within...), change.Plus(f.Change)
			}
		}
		want, got := s.prove(src, s.Edits(), merged(within, s.Edits()), change), s.Prove(src)
		if (want == nil) != (got == nil) {
			t.Fatalf("%v is proved with %v and not %v", s.Edits(), got, want)
		}
		if got == nil {
			proved++
		} else {
			wrong++
		}
	}
	if proved < 1000 || wrong < 1000 {
		t.Errorf("%d proved, %d wrong", proved, wrong)
	}
}

// TestSplice: edits of a text that could not be read change nothing.
func TestSplice(t *testing.T) {
	edits := []Edit{{Span: source.Span{Start: 11, End: 12}, Text: []byte("bb")}, {Span: source.Span{Start: 13, End: 13}, Text: []byte("d")}}
	for text, want := range map[string]string{"abc": "abbcd", "abce": "abbcde", "ab": "", "": ""} {
		if got := string(Splice([]byte(text), 10, edits)); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if got := string(Splice(nil, 10, nil)); got != "" {
		t.Errorf("nothing becomes %q", got)
	}
}
