package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// TestTextColumns repairs the fixtures that are lists of messages as rows of a training set: as they
// are, and as JSON text in their column, whose characters are written in any form. The repaired
// messages are the same, and all edits are inside the text.
func TestTextColumns(t *testing.T) {
	t.Parallel()
	opts := FixOptions{Unsafe: true}
	opts.Strategy = map[string]string{"missing-tool-result": "insert", "orphan-tool-result": "text"}
	rnd := rand.New(rand.NewPCG(sample.Seed(11), 31))
	done := 0
	for _, f := range fixtures(t) {
		if !json.Valid(f.text) {
			continue
		}
		list := source.NewValue(f.text, 0)
		if list.Kind() == source.Object {
			list = list.Get("messages")
		}
		if list.Kind() != source.Array {
			continue
		}
		messages := strings.ReplaceAll(string(list.Raw()), "\n", " ")
		plain := []byte(aSet(messages))
		want, fixed, wantErr := repaired(plain, opts)
		if wantErr != nil || fixed.Before.File == nil || fixed.Before.File.CheckOnly != "" {
			continue // for example, because the dialect is only checked
		}
		set := []byte(aSet(anyhow(rnd, messages)))
		got, inText, err := repaired(set, opts)
		if err == nil && inText.Before.File.Dialect != fixed.Before.File.Dialect {
			continue // what shows the dialect is beside the messages
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", f.name, err, set)
			continue
		}
		if is, want := source.NewValue(got, 0).Get("messages").Text(), source.NewValue(want, 0).Get("messages").Raw(); string(is) != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", f.name, is, want)
		}
		column := source.NewValue(set, 0).Get("messages").Span()
		for _, e := range inText.Edits() {
			if done++; e.Span.Start <= column.Start || e.Span.End >= column.End {
				t.Errorf("%s: edit %v is not inside %v", f.name, e.Span, column)
			}
		}
		if _, again, err := repaired(got, opts); err != nil || again.Changed() {
			t.Errorf("%s: a second run changes it, or fails: %v\n%s", f.name, err, got)
		}
	}
	t.Log(done, "edits")
	if done < 100 {
		t.Errorf("%d edits, want at least 100", done)
	}
}

// aSet is a training set whose first row has a value as its messages.
func aSet(messages string) string {
	const other = `{"n":"\u00e9\/é","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}` + "\n"
	return `{"messages":` + messages + `,"n":"\u00e9\/é"}` + "\n" + other + other
}

// anyhow writes a text as a JSON string, with each character in one of its forms.
func anyhow(rnd *rand.Rand, text string) string {
	out := []byte{'"'}
	for _, r := range text {
		high, low := utf16.EncodeRune(r)
		at := strings.IndexRune("\"\\/\b\f\n\r\t", r)
		switch n := rnd.IntN(8); {
		case at >= 0 && (n > 0 && r != '/' || n > 4):
			out = append(out, '\\', `"\/bfnrt`[at])
		case r > 0xffff && n < 4:
			out = fmt.Appendf(out, `\u%04x\u%04X`, high, low)
		case r <= 0xffff && (r < ' ' || r == '"' || r == '\\' || r > '~' && n < 4 || rnd.IntN(60) == 0):
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = append(out, string(r)...)
		}
	}
	return string(append(out, '"'))
}
