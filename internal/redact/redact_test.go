package redact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// problems lists what a check says of a text: rules and severities at bytes.
func problems(t testing.TB, text []byte) []string {
	t.Helper()
	r, err := engine.Check(t.Context(), source.FromBytes("in", text), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := []string{"not a transcript"}
	if r.Skipped == "" {
		out = []string{fmt.Sprintf("%s %s %d %d %d", r.File.Dialect, r.File.Container, r.File.Conversations, r.Calls, r.Results)}
	}
	for f := range r.Findings.All() {
		out = append(out, fmt.Sprintf("%s %s %d %d", f.Rule.Name, f.Severity, f.Start.Offset, f.End.Offset))
	}
	slices.Sort(out[1:])
	return out
}

// holds fails the test unless a text is redacted, and a check says the same of both.
func holds(t *testing.T, name string, text []byte) {
	t.Helper()
	want := problems(t, text)
	if want[0] == "not a transcript" {
		return
	}
	out, err := redacted(t, text)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if diff := cmp.Diff(want, problems(t, out)); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
	if len(out) != len(text) {
		t.Errorf("%s: %d bytes instead of %d", name, len(out), len(text))
	}
	for i := range min(len(out), len(text)) {
		if structural := "{}[]\n\""; strings.IndexByte(structural, text[i]) != strings.IndexByte(structural, out[i]) {
			if text[i] == '"' || text[i] == '\n' || out[i] == '"' || out[i] == '\n' {
				t.Errorf("%s: byte %d is %q instead of %q", name, i, out[i], text[i])
				break
			}
		}
	}
}

// TestSameReport: a check says the same of each transcript of the test data, broken or not, and
// of its redacted text.
func TestSameReport(t *testing.T) {
	all := files(t)
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	folder := func(s string) []string { return []string{filepath.Dir(s)} }
	late := sample.Until(t)
	for _, name := range sample.Of(t, 12, names, func(s string) string { return s }, folder) {
		if late() {
			break
		}
		holds(t, name, all[name])
	}
}

// TestCorpus: the same for real transcripts, of which many are broken.
func TestCorpus(t *testing.T) {
	root := filepath.Join("..", "..", "..", "shared", "corpus")
	if _, err := os.Stat(filepath.Join(root, "MANIFEST.tsv")); err != nil {
		t.Skip("no corpus beside the checkout")
	}
	names, err := filepath.Glob(filepath.Join(root, "*", "*.json*"))
	if err != nil || len(names) < 300 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	late := sample.Until(t)
	for _, name := range sample.Of(t, 60, names, filepath.Base, func(string) []string { return nil }) {
		if late() {
			break
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) < 300<<10 || sample.Long() {
			holds(t, filepath.Base(name), text)
		}
	}
}

// chat is a conversation with everything that redacting distinguishes.
const chat = `{"model":"gpt-4o-mini-2024-07-18","user":"kim@example.com","acme_key":{"acme":[12,-0.50,7e3,true]},"created":1785498771334,
"messages":[{"role":"user","content":"Wer hat die Löhne?\n  "},
{"role":"assistant","content":null,"tool_calls":[{"id":"call_Ab3dE","type":"function","function":{"name":"get_pay","arguments":"{\"who\":\"Kim\",\"n\":[41,\"\\u00e9t\\u00e9\"],\"path\":\"C:\\\\pay\"}"}}]},
{"role":"tool","tool_call_id":"call_Ab3dE","content":"{\"pay\": 123456, \"name\":null"},
{"role":"assistant","content":"<tool_call>{\"name\":\"x\"}</tool_call> done \ud83d\ude00"}],
"tools":[{"type":"function","function":{"name":"get_pay","parameters":{"type":"object","properties":{"who":{"type":"string","pattern":"^K"},"n":{"type":"array"},"path":{"$ref":"#/$defs/dir"}},"required":["who"],"$defs":{"dir":{"type":"string","maxLength":9}}}}}]}
`

// chatRedacted is chat with filler from the key of redacted.
const chatRedacted = `{"model":"gpt-4o-mini-2024-07-18","user":"fqj*ztcturd.vrq","detv_ida":{"mfva":[44,-0.85,6e3,true]},"created":1785498771334,
"messages":[{"role":"user","content":"VJKwytmpyqbwcİNuVg\n  "},
{"role":"assistant","content":null,"tool_calls":[{"id":"call_Ha8lX","type":"function","function":{"name":"tbs_nxl","arguments":"{\"dsd\":\"Lgz\",\"c\":[74,\"\\u53ccm\\u9990\"],\"jpif\":\"N:\\\\xeh\"}"}}]},
{"role":"tool","tool_call_id":"call_Ha8lX","content":"{\"nwf\": 769845, \"zzgk\":null"},
{"role":"assistant","content":"<tool_call>{\"name\":\"x\"}</tool_call> zXeyr\ud861\udd92"}],
"tools":[{"type":"function","function":{"name":"tbs_nxl","parameters":{"type":"object","properties":{"dsd":{"type":"string","pattern":"||"},"c":{"type":"array"},"jpif":{"$ref":"#/$defs/ufy"}},"required":["dsd"],"$defs":{"ufy":{"type":"string","maxLength":9}}}}}]}
`

// TestWhatStays: the bytes that stay, and the filler for the others.
func TestWhatStays(t *testing.T) {
	out, err := redacted(t, []byte(chat))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(chatRedacted, string(out)); diff != "" {
		t.Error(diff)
	}
}

// TestEqualTexts: equal texts stay equal wherever they are, and different ones stay different,
// even if there are hardly more texts of their form.
func TestEqualTexts(t *testing.T) {
	f := newFiller([]byte("k"), newVocabulary(nil))
	for _, in := range []string{"0123456789", "abcdefghijklmnopqrstuvwxyz"} {
		seen := map[string]rune{}
		for _, r := range in {
			out := string(f.fill(shapeName, []rune{r}))
			if before, again := seen[out]; again {
				t.Errorf("%q and %q both became %q", before, r, out)
			}
			seen[out] = r
			if again := string(f.fill(shapeName, []rune{r})); again != out {
				t.Errorf("%q became %q and %q", r, out, again)
			}
		}
	}
	other := newFiller([]byte("l"), newVocabulary(nil))
	if text := []rune("call_0aB9xQr4"); slices.Equal(f.fill(shapeName, text), other.fill(shapeName, text)) {
		t.Error("two keys give the same filler")
	}
}

// TestForms: filler has the form of the text.
func TestForms(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		as       shape
	}{
		{"toolu_01AbCd-x.y:z", `^toolu_[0-9]{2}[A-Z][a-z][A-Z][a-z]-[a-z]\.[a-z]:[a-z]$`, shapeName},
		{"6f1c2ab0-00ff-4a4b-8c8d-0123456789ab", `^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`, shapeHex},
		{"My tool!", `^[A-Z][a-z] [a-z]{4}[^a-zA-Z0-9]$`, shapeName},
		{"-10.500e12", `^-[1-9][0-9]\.[0-9]{3}e12$`, shapeNumber},
		{"70.00", `^[1-9][0-9]\.00$`, shapeNumber},
		{"  [x y z]  ", `^  \[[a-zA-Z]{6}  $`, shapeText},
		{"<reminder>of x", `^<[a-zA-Z]{8}>[a-zA-Z]{4}$`, shapeText},
		{"né€😀\ufffd", "^[a-zA-Z][\u0100-\u017f][\u4e00-\u9fff][\U00020000-\U00029fff]\ufffd$", shapeText},
		{"NaN2", "^[b-z]{4}$", shapeWord},
	} {
		f := newFiller([]byte("k"), newVocabulary(nil))
		out := string(f.fill(tt.as, []rune(tt.in)))
		if !regexp.MustCompile(tt.want).MatchString(out) || len(out) != len(tt.in) || out == tt.in {
			t.Errorf("%q became %q; want %s", tt.in, out, tt.want)
		}
	}
}

// TestByChance: filler is never a word that a reader looks for, nor does it contain a piece of
// the text.
func TestByChance(t *testing.T) {
	words := newVocabulary(nil)
	f := newFiller([]byte("k"), words)
	for a := 'a'; a <= 'e'; a++ {
		for b := 'a'; b <= 'z'; b++ {
			if out := string(f.fill(shapeName, []rune{a, b})); words.words[out] {
				t.Errorf("%c%c became the word %s", a, b, out)
			}
		}
	}
	// Few texts have this form, so that a piece often comes again by chance.
	for i := range 40 {
		in := []rune(strings.Repeat("a1", 100) + strconv.Itoa(i))
		if out := f.fill(shapeHex, in); survives(in, out) {
			t.Errorf("%s became %s", string(in), string(out))
		}
	}
}

// TestTorn: whatever is cut off a transcript, nothing of a secret survives in the rest.
func TestTorn(t *testing.T) {
	line := `{"type":"user","uuid":"a1","parentUuid":null,"message":{"role":"user","content":"` + secret + `\n\u005aq7x"},"` + secret + `":-739184,"cwd":"/` + secret + `"}` + "\n"
	whole := `{"type":"user","uuid":"a0","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"q"}}` + "\n"
	done := 0
	for i := range line {
		for _, text := range []string{whole + line[:i], whole + line[i:], whole + line[:i] + "\n" + whole, whole + line[:i] + "\x00\xff" + line[i:]} {
			out, err := redacted(t, []byte(text))
			if err != nil {
				continue
			}
			done++
			for _, s := range []string{secret, "-739184"} {
				if piece := leaked(out, s); piece != "" {
					t.Fatalf("%q survives of\n%s\nin\n%s", piece, text, out)
				}
			}
		}
	}
	if done < 3*len(line) {
		t.Errorf("only %d of %d texts were redacted", done, 4*len(line))
	}
}

// TestRefuses: what cannot stay the same is not redacted, and the reason names no text.
func TestRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{
			"a number must be 4711",
			`{"model":"gpt-4o","messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"n\":4711}"}}]},{"role":"tool","tool_call_id":"c1","content":"1"}],` +
				`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"n":{"type":"integer","minimum":4711,"maximum":4711}}}}}]}`,
			"cannot be redacted: a check of the redacted text would also find the warning of the rule schema-violation at byte 181 (line 1)",
		},
		{"no transcript", `{"a":1}`, `not a transcript: no messages found, only the field "a"`},
	} {
		out, err := redacted(t, []byte(tt.text))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %s, error %v; want %s", tt.name, out, err, tt.want)
		}
	}
}

// TestSchemaNames: names stay the same in a schema and in arguments, so a violation stays one.
func TestSchemaNames(t *testing.T) {
	holds(t, "schema", []byte(`{"model":"gpt-4o","messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[`+
		`{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"type\":\"fast\",\"berth\":1}"}},`+
		`{"id":"c2","type":"function","function":{"name":"f","arguments":"{\"type\":\"slow\",\"name\":\"x\",\"berth\":\"k\"}"}}]},`+
		`{"role":"tool","tool_call_id":"c1","content":"1"},{"role":"tool","tool_call_id":"c2","content":"1"}],`+
		`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","additionalProperties":false,"required":["type","name"],`+
		`"properties":{"type":{"type":"string","enum":["slow","late"]},"name":{"$ref":"#/$defs/name"},"berth":{"type":["integer","null"]}},"$defs":{"name":{"type":"string","pattern":"^[a-z]+$","maxLength":1}}}}}]}`))
}

// TestOwnDialect: the words of a user's dialect stay.
func TestOwnDialect(t *testing.T) {
	own := &dialect.Dialect{
		Name: "acme", Provider: "neutral", Marks: evidence.All("zork=quux"),
		Driver: &dialect.Blocks{Role: "zpeaker", Content: "zaid", Tag: "zort"},
	}
	words := newVocabulary(dialect.Builtin().With(own))
	for _, w := range []string{"zork", "quux", "zpeaker", "zaid", "zort"} {
		if !words.words[w] {
			t.Errorf("%s is no word", w)
		}
		if newVocabulary(nil).words[w] {
			t.Errorf("%s is a word without the dialect", w)
		}
	}
}

// TestContext: redacting ends with its context.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	src := source.FromBytes("in", []byte(chat))
	if _, err := Redact(ctx, src, engine.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestRandomKey: each call has its own key.
func TestRandomKey(t *testing.T) {
	var texts [2][]byte
	for i := range texts {
		got, err := Redact(t.Context(), source.FromBytes("in", []byte(chat)), engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = bytes.Clone(got.Source.Text())
	}
	if bytes.Equal(texts[0], texts[1]) {
		t.Error("two calls give the same text")
	}
}

func BenchmarkRedact(b *testing.B) {
	line := strings.ReplaceAll(chat, "\n", " ")
	text := []byte(strings.Repeat(strings.TrimSpace(line)+"\n", 100))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := redacted(b, text); err != nil {
			b.Fatal(err)
		}
	}
}

// TestManyTags: tags are found in one pass over a text, so twice as many do not take four times the
// memory.
func TestManyTags(t *testing.T) {
	used := func(n int) uint64 {
		text := []byte(`[{"role":"user","content":"` + strings.Repeat(`<tool_call>{\"a\":1}</tool_call> x `, n) + `"},{"role":"assistant","content":"a"}]`)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, err := redacted(t, text)
		runtime.ReadMemStats(&after)
		if err != nil || len(out) != len(text) || bytes.Count(out, []byte("<tool_call>")) != n {
			t.Fatalf("%d tags, %d of %d bytes, %v", bytes.Count(out, []byte("<tool_call>")), len(out), len(text), err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if one, two := used(1000), used(2000); two > 3*one {
		t.Errorf("%d bytes for 1,000 tags, %d for 2,000", one, two)
	}
}

// shrinking is a file that becomes shorter while it is redacted.
type shrinking struct {
	text []byte
	left int // reads until then
}

func (s *shrinking) ReadAt(p []byte, off int64) (int, error) {
	s.left--
	if off >= int64(len(s.text)) || s.left < 0 && off > 0 {
		return 0, io.EOF
	}
	n := copy(p, s.text[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// TestReadError: an error of reading names the file once.
func TestReadError(t *testing.T) {
	text := []byte(strings.Repeat(`{"role":"user","content":"`+strings.Repeat("x", 16000)+`"}`+"\n", 20))
	failed := 0
	for left := 0; ; left += 8 {
		_, err := redact(t.Context(), source.NewSource("in", &shrinking{text, left}, int64(len(text))), engine.Options{}, []byte("k"))
		if err == nil {
			break
		}
		failed++
		if strings.Count(err.Error(), "in: ") != 1 {
			t.Fatalf("%d reads: %v", left, err)
		}
	}
	if failed < 3 {
		t.Errorf("only %d errors", failed)
	}
}

// TestInvalidEscapes: an invalid escape stays invalid at the same byte.
func TestInvalidEscapes(t *testing.T) {
	whole := `{"role":"user","content":"q"}` + "\n" + `{"role":"assistant","content":"a"}` + "\n"
	for i := range 26 {
		for _, escape := range []string{`\` + strings.ToUpper(lower[i:i+1]), `\u00` + lower[i:i+1] + `z`} {
			holds(t, escape, []byte(whole+`{"role":"user","content":"x`+escape+` y"}`+"\n"+whole))
		}
	}
}
