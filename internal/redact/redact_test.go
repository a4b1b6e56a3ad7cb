package redact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/profile"
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
		if (text[i] == '\n') != (out[i] == '\n') {
			t.Errorf("%s: byte %d is %q instead of %q", name, i, out[i], text[i])
			break
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

// TestTexts: the same for logs that end in a call without a result, and what their user wrote
// then: by the tags around a text, readers see that no human wrote it, so that the call is open.
func TestTexts(t *testing.T) {
	log := string(files(t)["claude-code/broken/live-tail.jsonl"])
	const tagged = `"<task-notification>running</task-notification>"`
	if strings.Count(log, tagged) != 1 {
		t.Fatal("the log has another text")
	}
	long := strings.Repeat("many words ", 20_000)
	open := map[string]bool{}
	for _, text := range []string{
		"<b>", "<b>x", "<b> x >", "<>", "<1>", "< b>", "b>", "<b", `<b>x</b>\n\n  \t`, `\u003cb\u003ex\u003c/b\u003e`, `\u003cb>x\u003e\n`,
		"<b>" + long + "</b>", "<b>" + long, long + "</b>", `<b>` + long + `</b>\n \n`, `\u003cb>` + long + `\u003c/b\u003e`,
		"<tool_call>{}</tool_call>", "<tool_call>{} x", "[Request interrupted by user]", "[Request interrupted by user] <b>", "<command-name>/clear</command-name>",
	} {
		log := strings.Replace(log, tagged, `"`+text+`"`, 1)
		holds(t, text[:min(len(text), 40)], []byte(log))
		open[fmt.Sprint(problems(t, []byte(log))[1:])] = true
	}
	// A text that is just too long to be held, with a page of the input that ends among its last bytes.
	text := "<b>" + strings.Repeat("y", mostHeld-20) + `</b>\n\n \n\n \n\n`
	at := strings.Index(log, tagged) + 1 + len(text)
	for n := range 24 {
		lead := strings.Repeat(" ", pageSize-at+n)
		holds(t, fmt.Sprintf("%d bytes on another page", n), []byte(lead+strings.Replace(log, tagged, `"`+text+`"`, 1)))
	}
	if len(open) < 2 {
		t.Errorf("all texts have the same report: %v", open)
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
const chatRedacted = `{"model":"gpt-4o-mini-2024-07-18","user":"Td4n3zXfyTaz7XS","Djak3Uv5":{"k1Iv":[10,35740,691,true]},"created":1785498771334,
"messages":[{"role":"user","content":"uHndkTiBvxGjsukdXdmsAmv"},
{"role":"assistant","content":null,"tool_calls":[{"id":"call_ENsdU","type":"function","function":{"name":"SKIw9LO","arguments":"{\"TAL\":\"xmQ\",\"j\":[98,\"IVh0wZIhFz8q1gR\"],\"SmWK\":\"XpKGaERyZ\"}"}}]},
{"role":"tool","tool_call_id":"call_ENsdU","content":"GRxkjArtHsUxPOEfJcMEvBwVpjBvlwm"},
{"role":"assistant","content":"<tool_call>jSJkMkxiOWNXmWCqfvVHYlrjzJzVDROklGNVqjilBjFrtM"}],
"tools":[{"type":"function","function":{"name":"SKIw9LO","parameters":{"type":"object","properties":{"TAL":{"type":"string","pattern":"||"},"j":{"type":"array"},"SmWK":{"$ref":"#/$defs/RzH"}},"required":["TAL"],"$defs":{"RzH":{"type":"string","oe8dydJRv":4}}}}}]}
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

// TestOtherCharacters: a finding behind text with other characters in the same bytes is kept.
func TestOtherCharacters(t *testing.T) {
	text := `{"messages":[{"role":"user","content":"Wer hat die Löhne? 中"},{"role":"assistant","tool_calls":[{"id":"call_Ab3dE","type":"function","function":{"name":"get_pay","arguments":"{}"}}]},{"role":"user","content":"?"}]}`
	got, err := Redact(t.Context(), source.FromBytes("in", []byte(text)), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Source.Close() }()
	if n := got.Report.Findings.Len(); n == 0 || len(got.NotKept) != 0 || got.NoError {
		t.Errorf("%d findings, not kept: %v", n, got.NotKept)
	}
}

// TestModels: a provider serves the redacted name of a model if and only if it serves the name, for
// the models of all providers as they and gateways write them.
func TestModels(t *testing.T) {
	served := func(model string) string {
		p, _ := profile.ByName("openai").Asked(profile.Request{Model: model})
		return p.Name
	}
	n := 0
	for _, v := range profile.Vendors() {
		for _, name := range v.Models {
			for _, before := range []string{"", "openrouter/", "accounts/fireworks/models/", "us.", "acme/"} {
				for _, after := range []string{"", "3", "3.2", "3:8b", "-v3p1-8b", "-large", "-acme"} {
					model := before + name + after
					text := `{"model":"` + model + `","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`
					out, err := redacted(t, []byte(text))
					if err != nil {
						t.Fatalf("%s: %v", model, err)
					}
					var got struct{ Model string }
					if err := json.Unmarshal(out, &got); err != nil {
						t.Fatal(err)
					}
					n++
					if served(got.Model) != served(model) {
						t.Errorf("%s of %s became %s of %s", model, served(model), got.Model, served(got.Model))
					}
				}
			}
		}
	}
	if n < 1000 {
		t.Errorf("only %d names", n)
	}
}

// TestKeptText: texts of which a check finds the same, and what must stay of them.
func TestKeptText(t *testing.T) {
	for _, tt := range []struct{ name, text, stays string }{
		{"usage", `{"model":"m","usage":{"input_tokens":9,"output_tokens":17},"messages":[{"role":"user","content":"hi"}]}`, `"usage":{"input_tokens":9,"output_tokens":17}`},
		{"usage around unknown fields", `{"model":"m","acme":{"output_tokens":4711},"messages":[{"role":"user","content":"hi"}]}`, `"model":"`},
		{"a name that ends in an escape", `{"model":"gpt-4o","messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"apply patch\n*** E\n","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]}`, `"name":" `},
		{"a string that ends with its line", "{\n \"role\": \"user\",\n \"content\": \"q\"\n}\n{\n \"role\": \"assistant\",\n \"content\": \"hi\n}\n{\n \"role\": \"user\",\n \"content\": \"q\",\n \"tool_call_id\": \"x\"\n}\n{\n \"role\": \"tool\",\n \"tool_call_id\": \"zz\",\n \"content\": \"x\"\n}\n", `"role": "tool"`},
		{"a line break in a string", "{\"role\":\"user\",\"content\":\"a\r\nb\"}\r\n{\"role\":\"assistant\",\"content\":\"x\"}\r\n", "\r\n"},
		{"arguments that begin like a literal", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"nurse Kim"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]}`, `"arguments":"11xxxxxxx"`},
		{"arguments that go on after a literal", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"[true,falsework]"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]}`, `"arguments":"[true,11111xxxxx"`},
		{"the state of a turn is a number", `{"requestId":"r1","message":{"text":"q"},"response":[{"value":"a"}],"modelState":{"value":1},"result":{"metadata":{"toolCallRounds":[{"id":"t1","response":"","toolCalls":[{"id":"call_1","name":"ls","arguments":"{}"}]}],"toolCallResults":{}}}}`, `"modelState":{"value":1}`},
	} {
		for range 3 { // whatever the key is
			holds(t, tt.name, []byte(tt.text))
		}
		out, err := redacted(t, []byte(tt.text))
		if err != nil || !strings.Contains(string(out), tt.stays) {
			t.Errorf("%s: %s is not in\n%s, %v", tt.name, tt.stays, out, err)
		}
		if strings.Contains(string(out), "4711") {
			t.Errorf("%s: a count in an unknown field stays in\n%s", tt.name, out)
		}
	}
}

// TestModelNumbers: what of the name of a model stays that is no word.
func TestModelNumbers(t *testing.T) {
	for model, want := range map[string]string{
		"claude-3-5-haiku-20241022": `^claude-3-5-haiku-20241022$`,
		"llama-3.1-8b":              `^llama-3\.1-8b$`,
		"gemini-3-pro":              `^gemini-3-pro$`,
		"gpt-127.0.0.1":             `^gpt-\w{9}$`,
		"10.0.0.1/gpt":              `^\w{8}/gpt$`,
		"s3-c2-r8":                  `^\w{8}$`,
		"gpt-4o-20240229-20230131":  `^gpt-4o-20240229-\w{8}$`,
	} {
		out, err := redacted(t, []byte(`{"model":"`+model+`","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Model string }
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(want).MatchString(got.Model) {
			t.Errorf("%s became %s", model, got.Model)
		}
	}
}

// TestBehindInvalidJSON: an error says why a text is refused whose messages are behind a fault.
func TestBehindInvalidJSON(t *testing.T) {
	_, err := redacted(t, []byte(`{"model":"gpt-4o" "messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}]}`))
	want := "cannot be redacted: a check of the redacted text would not recognize a transcript, because its messages are behind the invalid JSON of line 1, where everything becomes filler"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// TestTitleAsName: a title that is the name of a tool in this dialect, and that the provider does
// not accept, becomes another that it does not accept.
func TestTitleAsName(t *testing.T) {
	names, err := filepath.Glob("../../testdata/transcripts/acp/*/*.jsonl")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	found := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Redact(t.Context(), source.FromBytes(name, text), engine.Options{Target: profile.ByName("openai")})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for f := range got.Report.Findings.All() {
			if f.Rule.Name == "invalid-tool-name" {
				found++
			}
		}
		if len(got.NotKept) > 0 {
			t.Errorf("%s: not kept: %v", name, got.NotKept)
		}
		_ = got.Source.Close()
	}
	if found == 0 {
		t.Error("no name is invalid")
	}
}

// TestCompare: a finding with a lower severity, or with another repair, is not kept as it is. One
// with a higher severity is new.
func TestCompare(t *testing.T) {
	report := func(model, arguments string) *engine.Report {
		r, err := engine.Check(t.Context(), source.FromBytes("in", []byte(`{"model":"`+model+`","messages":[{"role":"user","content":"q"},`+
			`{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":`+arguments+`}}]},{"role":"tool","content":"r"}]}`)), engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	strict, lax := report("gpt-4o-3", `"{}"`), report("llama3.2", `"{}"`)
	got := Redacted{Report: lax}
	if err := got.compare(strict); err != nil || len(got.NotKept) == 0 || got.NotKept[0].Differs != "severity" || !got.NoError {
		t.Errorf("lower: %v, %+v, no error: %v", err, got.NotKept, got.NoError)
	}
	want := "cannot be redacted: a check of the redacted text would find the warning of the rule missing-call-id at byte 111 (line 1) with the severity error"
	got = Redacted{Report: strict}
	if err := got.compare(lax); err == nil || err.Error() != want {
		t.Errorf("higher: %v", err)
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

// TestNoWords: of what is not JSON, the lengths of words do not stay.
func TestNoWords(t *testing.T) {
	for text, want := range map[string]string{
		`{"role":"user","content":"q"} // pay the invoice` + "\n  of Kim \r\n" + `{"role":"assistant","content":"a"}`: `xxxxxxxxxxxxxxxxxx` + "\n  xxxxxx \r\n",
		`{"role":"user","content":"q"}` + "\n" + `{"role":"assistant","content":"a"}, "x" pay  the bill` + "\n":       "xxxxxxxxxxxxxxxxxxx\n",
	} {
		out, err := redacted(t, []byte(text))
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%q is not in %q, %v", want, out, err)
		}
	}
	long := `{"role":"user","content":"q"} // pay` + strings.Repeat(" ", 3*mostHeld) + "now\n" + `{"role":"assistant","content":"a"}`
	if out, err := redacted(t, []byte(long)); err != nil || len(out) != len(long) {
		t.Errorf("%d bytes instead of %d, %v", len(out), len(long), err)
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

// TestOwnDialect: the words of a user's dialect stay, in the fields for roles and types too.
func TestOwnDialect(t *testing.T) {
	own := &dialect.Dialect{
		Name: "acme", Provider: "neutral", Marks: evidence.All("zork=quux"),
		Driver: dialect.NewBlocks(&dialect.Blocks{Role: "zpeaker", Content: "zaid", Tag: "zort"}),
	}
	words := newVocabulary(dialect.Builtin().With(own))
	if !words.tells["zpeaker"] || !words.tells["zort"] || words.tells["zaid"] {
		t.Errorf("readers are to tell apart the values of zpeaker and zort, not of zaid: %v", words.tells)
	}
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
		_, err := redact(t.Context(), source.NewSource("in", &shrinking{text, left}, int64(len(text))), engine.Options{}, []byte("k"), func(s sum) sum { return s })
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
		for _, escape := range []string{`\` + strings.ToUpper(letters[i:i+1]), `\u00` + letters[i:i+1] + `z`} {
			holds(t, escape, []byte(whole+`{"role":"user","content":"x`+escape+` y"}`+"\n"+whole))
		}
	}
}
