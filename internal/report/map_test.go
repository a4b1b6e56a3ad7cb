package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/hostile"
	"github.com/toolguard/toolguard/internal/session"
	"github.com/toolguard/toolguard/internal/source"
)

// eachFixture calls f with every transcript among the fixtures.
func eachFixture(t *testing.T, f func(path string, text []byte)) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(filepath.Join("..", "..", "testdata", "transcripts"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			n++
			f(path, text)
		}
		return err
	})
	if err != nil || n < 300 {
		t.Fatalf("%d fixtures, %v", n, err)
	}
}

// sessionOf reads a text, nil if it is no transcript.
func sessionOf(t *testing.T, text []byte, opts session.Options) (*source.Source, *session.Session) {
	t.Helper()
	src := source.FromBytes("s", text)
	s, err := session.Read(t.Context(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	if s.Report.Skipped != "" {
		return nil, nil
	}
	return src, s
}

// mapOf returns the map of a session.
func mapOf(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var ruleMark = regexp.MustCompile(`\[[a-z]+(?:-[a-z0-9]+)+\]`)

// TestMapFits: no row of the map of any fixture is wider than the terminal, folded or not, and every
// finding about a call, a result or a turn has its whole mark, however narrow the terminal is.
func TestMapFits(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(path string, text []byte) {
		src, s := sessionOf(t, text, session.Options{Texts: true, Rows: true})
		if s == nil {
			return
		}
		for _, opts := range []MapOptions{
			{Options: Options{Width: 40}},
			{Options: Options{Width: 80}, ASCII: true},
			{Options: Options{Width: 100, Color: true}, Problems: true, Context: 1},
			{Options: Options{Width: 40}, All: true},
			{Options: Options{Width: 80}, All: true, ASCII: true},
			{Options: Options{Width: 300}, All: true},
		} {
			out := mapOf(t, func(w io.Writer) error { return Map(w, src, s, opts) })
			if wide := widest(stripColors(out)); wide > opts.Width {
				t.Errorf("%s: %d of %d columns\n%s", path, wide, opts.Width, out)
			}
			if opts.ASCII && strings.IndexFunc(out, func(r rune) bool { return r > 126 }) >= 0 {
				t.Errorf("%s: not ASCII\n%s", path, out)
			}
			for line := range strings.Lines(out) {
				if strings.HasSuffix(line, " \n") {
					t.Errorf("%s: blanks at the end of a row\n%s", path, out)
					break
				}
			}
			if !opts.All {
				continue
			}
			want := map[string]bool{} // the marks of each turn, call and result
			for _, p := range s.Problems {
				want[fmt.Sprint(p.Rule.Name, p.Turn, p.Call, p.Loose)] = true
			}
			got := len(ruleMark.FindAllString(out, -1))
			if got < len(want) {
				t.Errorf("%s: %d marks for %d findings\n%s", path, got, len(want), out)
			}
		}
	})
}

// stripColors removes the codes of colours.
func stripColors(text string) string {
	return regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(text, "")
}

// TestMapJSON: the lines of a map as JSON agree with the report of check: as many calls and results,
// and the same findings.
func TestMapJSON(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(path string, text []byte) {
		src, s := sessionOf(t, text, session.Options{Texts: true, Rows: true})
		if s == nil {
			return
		}
		rep, err := engine.Check(t.Context(), source.FromBytes("s", text), engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var calls, results, findings, turns, told int
		out := mapOf(t, func(w io.Writer) error { return MapJSON(w, src, s, MapOptions{}) })
		for line := range strings.Lines(out) {
			var l struct {
				Type                        string
				Calls, Results, Turns, Turn int
				Fingerprint                 string
			}
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatalf("%s: %v in %s", path, err, line)
			}
			switch l.Type {
			case "conversation":
				calls, results, turns = calls+l.Calls, results+l.Results, turns+l.Turns
			case "turn":
				told++
			case "finding":
				findings++
			}
		}
		if calls != rep.Calls || results != rep.Results || findings != rep.Findings.Len() || told != turns {
			t.Errorf("%s: %d calls of %d, %d results of %d, %d findings of %d, %d turns of %d", path, calls, rep.Calls, results, rep.Results, findings, rep.Findings.Len(), told, turns)
		}
	})
}

// TestMapFixed: what a repair changes is shown with each repair's title, fits, and shows no turn as
// changed that looks the same on both sides.
func TestMapFixed(t *testing.T) {
	t.Parallel()
	n := 0
	eachFixture(t, func(path string, text []byte) {
		src := source.FromBytes("s", text)
		f, err := engine.Settle(t.Context(), src, engine.FixOptions{Unsafe: true})
		if err != nil || !f.Changed() {
			return
		}
		n++
		opts := session.Options{Texts: true, Rows: true}
		_, before := sessionOf(t, text, opts)
		fixed, err := io.ReadAll(f.Pieces.Source().Stream())
		if err != nil {
			t.Fatal(err)
		}
		_, after := sessionOf(t, fixed, opts)
		for _, width := range []int{60, 140} {
			out := mapOf(t, func(w io.Writer) error {
				return MapFixed(w, src, f, before, after, MapOptions{Options: Options{Width: width}})
			})
			if wide := widest(out); wide > width {
				t.Errorf("%s: %d of %d columns\n%s", path, wide, width, out)
			}
			for line := range strings.Lines(out) {
				if old, now, ok := strings.Cut(strings.TrimRight(line, "\n"), divider); ok && strings.TrimSpace(old) == "" && strings.TrimSpace(now) == "" {
					t.Errorf("%s: a row without sides\n%s", path, out)
				}
			}
			flat := strings.Join(strings.Fields(out), " ")
			for i, r := range f.Repairs {
				title := r.Class.String() + ": " + r.Title
				if want := strings.Join(strings.Fields(title), " "); width == 140 && len(title) < 100 && i < mostTitles && !strings.Contains(flat, want) {
					t.Errorf("%s: not told: %s\n%s", path, want, out)
				}
			}
		}
	})
	if n < 100 {
		t.Errorf("%d repairs", n)
	}
}

// TestMapFixedNamesRepairs: above turns that change is the repair that changes them, also if results that
// stay are between, or if the repair writes the record anew somewhere else. One that changes no turn says
// in which line it is.
func TestMapFixedNamesRepairs(t *testing.T) {
	t.Parallel()
	raw := `{"id":"g1","timestamp":"2026-09-09T10:00:02.000Z","type":"gemini","content":"Two lists`
	for _, tt := range []struct {
		path, old, new string
		want           []string // the rows that are neither before nor after
	}{
		{path: "langchain/broken/content-blocks-missing.json", want: []string{"additive: insert a placeholder result after messages.2 [missing-tool-result]"}},
		{path: "codebuddy/broken/session.jsonl", want: []string{
			"additive: insert a placeholder result after messages.3 [missing-tool-result]", `unsafe: turn the result for "call_9" into text [orphan-tool-result]`,
		}},
		{path: "gemini-cli/broken/results-twice.jsonl", old: raw, new: strings.Replace(raw, "Two ", "Two\n", 1), want: []string{
			`safe: escape the line feeds as \n [raw-newline-in-string]`, "safe: drop the identical copy [duplicate-tool-result]",
			"safe: drop the identical copy [duplicate-tool-result]", `safe: escape the line feeds as \n [raw-newline-in-string], line 3`,
		}},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "transcripts", tt.path))
		if err != nil {
			t.Fatal(err)
		}
		if tt.old != "" {
			text = bytes.ReplaceAll(text, []byte(tt.old), []byte(tt.new))
		}
		src, before := sessionOf(t, text, session.Options{Texts: true})
		f, err := engine.Settle(t.Context(), src, engine.FixOptions{Unsafe: true})
		if err != nil {
			t.Fatal(err)
		}
		after, err := session.Read(t.Context(), f.Pieces.Source(), session.Options{Texts: true})
		if err != nil {
			t.Fatal(err)
		}
		out := mapOf(t, func(w io.Writer) error { return MapFixed(w, src, f, before, after, MapOptions{}) })
		var got []string
		blocks := strings.Split(out, "\n\n")
		for _, block := range blocks[1 : len(blocks)-1] {
			rows := strings.Split(block, "\n")
			if strings.HasPrefix(rows[0], "-") || strings.HasPrefix(rows[0], "+") {
				t.Errorf("%s: no repair of these turns:\n%s", tt.path, block)
			}
			for _, row := range rows {
				if !strings.HasPrefix(row, "-") && !strings.HasPrefix(row, "+") {
					got = append(got, row)
				}
			}
		}
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s: got %q\n%s", tt.path, got, out)
		}
	}
}

// TestMapFixedNamesResults: a turn that holds only results is shown with them if it changes.
func TestMapFixedNamesResults(t *testing.T) {
	t.Parallel()
	const text = `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_l1","type":"function","function":{"name":"add","arguments":"{}"}}]},{"role":"function","name":"add","content":"4"},{"role":"assistant","content":"a"}]`
	src := source.FromBytes("s", []byte(text))
	f, err := engine.Settle(t.Context(), src, engine.FixOptions{Unsafe: true})
	if err != nil || !f.Changed() {
		t.Fatalf("%+v, %v", f, err)
	}
	fixed, err := io.ReadAll(f.Pieces.Source().Stream())
	if err != nil {
		t.Fatal(err)
	}
	_, before := sessionOf(t, []byte(text), session.Options{Texts: true})
	_, after := sessionOf(t, fixed, session.Options{Texts: true})
	out := mapOf(t, func(w io.Writer) error {
		return MapFixed(w, src, f, before, after, MapOptions{Options: Options{Width: 60}})
	})
	const want = "+    2 messages.2  tool\n+                  └ result add call_l1  1 B\n"
	if !strings.Contains(out, want) {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

// TestMapIsNotObeyed: whatever text stands in a transcript, no terminal obeys its map.
func TestMapIsNotObeyed(t *testing.T) {
	t.Parallel()
	for _, text := range hostile.Texts() {
		for _, spelled := range hostile.Spellings(text) {
			doc := fmt.Sprintf(`{"model":%[1]s,"messages":[{"role":"user","content":%[1]s},{"role":"assistant","content":[{"type":"tool_use","id":%[1]s,"name":%[1]s,"input":{%[1]s:%[1]s}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":%[1]s,"content":%[1]s},{"type":"tool_result","tool_use_id":"x","content":[{"type":"text","text":%[1]s}]}]}]}`, spelled)
			src, s := sessionOf(t, []byte(doc), session.Options{Texts: true, Whole: func(string, int, string) bool { return true }})
			if s == nil {
				continue
			}
			for i, opts := range []MapOptions{
				{},
				{Options: Options{Width: 40, Color: true}},
				{ASCII: true},
				{Options: Options{Color: true}, Only: func(*session.Thread, int, string) bool { return true }},
			} {
				out := mapOf(t, func(w io.Writer) error { return Map(w, src, s, opts) })
				if err := hostile.Obeyed(out, hostile.Allowed{Colors: opts.Color}); err != nil {
					t.Errorf("%q, options %d: %v\n%q", text, i, err, out)
				}
			}
			if err := hostile.Obeyed(mapOf(t, func(w io.Writer) error { return MapJSON(w, src, s, MapOptions{}) }), hostile.Allowed{}); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}

// TestMapNoExcerpt: without excerpts, no text of a message, an argument or a result is shown.
func TestMapNoExcerpt(t *testing.T) {
	t.Parallel()
	const secret = "SeCrEt"
	doc := `{"messages":[{"role":"user","content":"SeCrEt"},{"role":"assistant","content":[{"type":"text","text":"SeCrEt"},{"type":"tool_use","id":"toolu_1","name":"ls","input":{"SeCrEt":"SeCrEt"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_2","content":"SeCrEt"}]}]}`
	src, s := sessionOf(t, []byte(doc), session.Options{Texts: true, Whole: func(string, int, string) bool { return true }})
	hidden := MapOptions{Options: Options{NoExcerpt: true}, Only: func(*session.Thread, int, string) bool { return true }}
	for _, opts := range []MapOptions{{Options: Options{NoExcerpt: true}}, hidden} {
		for _, write := range []func(io.Writer) error{
			func(w io.Writer) error { return Map(w, src, s, opts) },
			func(w io.Writer) error { return MapJSON(w, src, s, opts) },
		} {
			if out := mapOf(t, write); strings.Contains(out, secret) || !strings.Contains(out, "toolu_1") {
				t.Errorf("shown:\n%s", out)
			}
		}
	}
}

// manyAlike are calls and results of which many have equal marks.
func manyAlike() []byte {
	var calls, results []string
	for i := range 30 {
		calls = append(calls, fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":"ls","input":{}}`, i))
	}
	for i := range 9 {
		results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":"toolu_x%d","content":"a"}`, i))
	}
	return []byte(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` + strings.Join(calls, ",") + `]},{"role":"user","content":[` +
		`{"type":"tool_result","tool_use_id":"toolu_0","content":"a"},` + strings.Join(results, ",") + `]}]}`)
}

// TestMapFoldsEqualMarks: of many calls or results in a row with the same marks, only some are shown,
// unless all are asked for.
func TestMapFoldsEqualMarks(t *testing.T) {
	t.Parallel()
	src, s := sessionOf(t, manyAlike(), session.Options{Texts: true})
	const want = `   1 messages.1  assistant
                 ├ ls  toolu_0  → messages.2, 1 B
                 ├ ls  toolu_1  ✗ no result [missing-tool-result]
                 ├ ls  toolu_2  ✗ no result [missing-tool-result]
                 ├ ls  toolu_3  ✗ no result [missing-tool-result]
                 └ ⋯ 26 more calls: ✗ no result [missing-tool-result]
   2 messages.2  user
                 ├ toolu_x0  ✗ result without a call, 1 B [orphan-tool-result]
                 ├ toolu_x1  ✗ result without a call, 1 B [orphan-tool-result]
                 ├ toolu_x2  ✗ result without a call, 1 B [orphan-tool-result]
                 └ ⋯ 6 more results: ✗ result without a call [orphan-tool-result]
`
	if out := mapOf(t, func(w io.Writer) error { return Map(w, src, s, MapOptions{}) }); !strings.Contains(out, want) {
		t.Error(out)
	}
	if out := mapOf(t, func(w io.Writer) error { return Map(w, src, s, MapOptions{All: true}) }); strings.Contains(out, "more") || !strings.Contains(out, "toolu_29") {
		t.Error(out)
	}
}

// TestMapInASCII: no other character is written if the terminal shows none, wherever it comes from, and
// rows stay as narrow.
func TestMapInASCII(t *testing.T) {
	t.Parallel()
	text := []byte(`{"model":"größe","messages":[{"role":"user","content":"漢字 é"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_漢","name":"größe","input":{"a":"é"}},{"type":"tool_use","id":"toolu_é","name":"ls","input":{"ß":"漢"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_漢","content":"é"},{"type":"tool_result","tool_use_id":"toolu_ü","content":"é"}]}]}`)
	src, s := sessionOf(t, text, session.Options{Texts: true, Whole: func(string, int, string) bool { return true }})
	fixed, err := engine.Settle(t.Context(), src, engine.FixOptions{Unsafe: true})
	if err != nil || !fixed.Changed() {
		t.Fatal("nothing is repaired", err)
	}
	after, err := session.Read(t.Context(), fixed.Pieces.Source(), session.Options{Texts: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{40, 80, 140} {
		opts := MapOptions{Options: Options{Width: width}, ASCII: true, Version: "ü", Command: "fix ü"}
		all := opts
		all.Only = func(*session.Thread, int, string) bool { return true }
		for _, write := range []func(io.Writer) error{
			func(w io.Writer) error { return Map(w, src, s, opts) },
			func(w io.Writer) error { return Map(w, src, s, all) },
			func(w io.Writer) error { return MapFixed(w, src, fixed, s, after, opts) },
		} {
			if out := mapOf(t, write); strings.IndexFunc(out, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 || !strings.Contains(out, "?") {
				t.Errorf("%d columns:\n%s", width, out)
			}
		}
	}
}
