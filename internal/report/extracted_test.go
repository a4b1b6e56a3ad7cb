package report

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/extract"
	"github.com/toolguard/toolguard/internal/hostile"
	"github.com/toolguard/toolguard/internal/source"
)

// extracted returns an extract of a text as Markdown and as JSON, "" if it is no transcript, with what
// was read.
func extracted(t *testing.T, text []byte) (markdown, doc string, entries []extract.Entry) {
	t.Helper()
	x := &Extraction{Path: "s.jsonl"}
	render := [2]Extractor{Markdown{}, ExtractJSON{}}
	var out [2]strings.Builder
	got, err := extract.Read(t.Context(), source.FromBytes("s", text), extract.Options{Unsent: true, ResultsMax: 300}, func(e *extract.Entry) error {
		for i, r := range render {
			b, err := r.Entry(e, 1, len(entries) == 0)
			if err != nil {
				return err
			}
			if len(entries) > 0 {
				out[i].WriteString(r.Between())
			}
			out[i].Write(b)
		}
		entries = append(entries, *e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 {
		return "", "", nil
	}
	x.Extract = got
	var texts [2]string
	for i, r := range render {
		head, err := r.Head(x)
		if err != nil {
			t.Fatal(err)
		}
		tail, err := r.Tail(x)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(head) + out[i].String() + string(tail)
	}
	return texts[0], texts[1], entries
}

var (
	opening = regexp.MustCompile("^(`{3,})(text|json)$")
	// framing are the lines of Markdown that toolguard writes.
	framing = regexp.MustCompile("^(|# What was said|From `.*`.* This text holds what was said word for word, secrets too\\." +
		"|# Conversation `.*`|## (System|User|Assistant|Tool|Other) \\(turn \\d+, line \\d+(, no longer sent)?\\)|\\d+ attachments? left out\\." +
		"|Call of `.*`:|Result( without a call)?( \\(error\\))?(, shortened from [\\d,]+ bytes)?: ?(empty\\.)?" +
		"|It has no result yet\\.|It was interrupted: no result was recorded\\.|It is not clear which result answers it\\.|No result was recorded\\." +
		"|# Not in this text|- .*)$")
)

// inFences returns the texts in the fences of a Markdown text, and fails if a line outside of them is
// not one of toolguard's.
func inFences(t *testing.T, name, markdown string) []string {
	t.Helper()
	var out []string
	fence, begin := "", 0
	lines := strings.Split(markdown, "\n")
	for i, line := range lines {
		m := opening.FindStringSubmatch(line)
		switch {
		case fence == "" && m != nil:
			fence, begin = m[1], i+1
		case fence == "" && !framing.MatchString(line):
			t.Errorf("%s: line %d is outside of a fence: %q", name, i+1, line)
		case fence != "" && strings.TrimSpace(line) == fence:
			out = append(out, strings.Join(lines[begin:i], "\n"))
			fence = ""
		}
	}
	if fence != "" {
		t.Errorf("%s: a fence does not end", name)
	}
	return out
}

// spoken returns the texts of entries in the order of a Markdown text, as it shows them.
func spoken(entries []extract.Entry) []string {
	var out []string
	add := func(text string) {
		if text != "" {
			out = append(out, strings.TrimSuffix(string(document(text)), "\n"))
		}
	}
	for _, e := range entries {
		for _, text := range e.Texts {
			add(text)
		}
		for _, c := range e.Calls {
			add(c.Arguments)
			if c.Result != nil {
				add(c.Result.Text)
			}
		}
		for _, r := range e.Loose {
			add(r.Text)
		}
	}
	return out
}

// TestExtracts: of every fixture, whatever is said in it, Markdown has each text in a fence of its own
// and nothing else, and the JSON is valid and has as many turns.
func TestExtracts(t *testing.T) {
	t.Parallel()
	n, texts := 0, 0
	check := func(name string, text []byte) {
		markdown, doc, entries := extracted(t, text)
		if len(entries) == 0 {
			return
		}
		n++
		want := spoken(entries)
		texts += len(want)
		if diff := cmp.Diff(want, inFences(t, name, markdown)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		var got struct{ Messages []json.RawMessage }
		if err := json.Unmarshal([]byte(doc), &got); err != nil || len(got.Messages) != len(entries) {
			t.Errorf("%s: %d messages, want %d, %v", name, len(got.Messages), len(entries), err)
		}
		for _, out := range []string{markdown, doc} {
			if bad := hostile.Obeyed(out, hostile.Allowed{Tabs: true}); bad != nil {
				t.Errorf("%s: %v", name, bad)
			}
		}
	}
	err := filepath.WalkDir(filepath.Join("..", "..", "testdata", "transcripts"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			check(path, text)
		}
		return err
	})
	if err != nil || n < 450 || texts < 3000 {
		t.Errorf("%d transcripts with %d texts, %v", n, texts, err)
	}
	n = 0
	for _, said := range append(hostile.Texts(), "```\n# What was said\n````text\n`````", "~~~\n```", "``` ", "    ```", "\r\n```\r\n## User", "<script>alert(1)</script>", "`", "") {
		for _, spelling := range hostile.Spellings(said) {
			spelling = `"` + spelling + `"`
			check(said, []byte(`[{"role":"user","content":`+spelling+`},{"role":"assistant","content":`+spelling+`,"tool_calls":[{"id":`+spelling+`,"type":"function","function":{"name":`+spelling+`,"arguments":`+spelling+`}}]},`+
				`{"role":"tool","tool_call_id":`+spelling+`,"content":`+spelling+`},{"role":"tool","tool_call_id":"lone","content":[{"type":"text","text":`+spelling+`}]},{"role":"user","content":"end"}]`))
		}
	}
	if n < 50 {
		t.Errorf("%d hostile transcripts", n)
	}
}
