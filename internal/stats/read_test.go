package stats

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/bench"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/filter"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// every has a table of each dimension.
func every() [][]Dimension {
	var out [][]Dimension
	for d := range Dimension(dimensions) {
		out = append(out, []Dimension{d})
	}
	return out
}

// readText reads a text.
func readText(t *testing.T, name, text string, tables [][]Dimension) (*Shard, *engine.Report) {
	t.Helper()
	src, err := source.Open(t.Context(), name, 0)
	if text != "" {
		src, err = source.Spool(t.Context(), name, strings.NewReader(text), 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	about := func(d *dialect.Dialect) About {
		return About{Agent: d.Name, Project: "/srv", Version: "9.9", VersionAt: []string{"version"}}
	}
	s, rep, err := Read(t.Context(), src, Options{Tables: tables, About: about})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s, rep
}

// rows returns the rows of a table by their keys.
func (t *Table) byKey() map[string]Row {
	out := map[string]Row{}
	for _, r := range t.Rows {
		var key []string
		for _, d := range t.By {
			key = append(key, r.Key[d])
		}
		out[strings.Join(key, ",")] = *r
	}
	return out
}

// record is a line of a session of Claude Code.
func record(uuid, parent, version, model, at, role string, content ...any) string {
	message := map[string]any{"role": role, "content": content}
	if role == "assistant" {
		message["model"], message["id"], message["type"] = model, "msg_"+uuid, "message"
	}
	var up any
	if parent != "" {
		up = parent
	}
	line, _ := json.Marshal(map[string]any{
		"type": role, "uuid": uuid, "parentUuid": up, "sessionId": "s1", "cwd": "/srv", "version": version, "timestamp": at, "message": message,
	})
	return string(line) + "\n"
}

func use(id, tool string) any {
	return map[string]any{"type": "tool_use", "id": id, "name": tool, "input": map[string]any{}}
}

func result(id, text string) any {
	return map[string]any{"type": "tool_result", "tool_use_id": id, "content": text}
}

func spoken(text string) any { return map[string]any{"type": "text", "text": text} }

// session1 has calls of two versions, models, months and tools, with and without results.
func session1() string {
	return record("u1", "", "1.9", "", "2026-01-31T23:59:00.000Z", "user", spoken("go")) +
		record("u2", "u1", "1.9", "m1", "2026-01-31T23:59:10.000Z", "assistant", use("t1", "Bash"), use("t2", "Read")) +
		record("u3", "u2", "1.9", "", "2026-01-31T23:59:12.500Z", "user", result("t1", strings.Repeat("x", 98))) +
		record("u4", "u3", "1.9", "", "2026-01-31T23:59:20.000Z", "user", spoken("and?")) +
		record("u5", "u4", "1.10", "m2", "2026-02-01T00:00:10.000Z", "assistant", use("t3", "Bash")) +
		record("u6", "u5", "1.10", "", "2026-02-01T00:00:10.250Z", "user", result("t3", "ok")) +
		record("u7", "u6", "1.10", "m2", "2026-02-01T00:00:20.000Z", "assistant", use("t4", "Bash"))
}

// TestRead: a session has the counts that are in it, and a fork of it adds only what is new.
func TestRead(t *testing.T) {
	t.Parallel()
	s, rep := readText(t, "a.jsonl", session1(), every())
	r := s.Finish()
	if rep.Calls != 4 || r.Totals.Calls != 4 || r.Totals.Results != 2 || r.Totals.Sessions != 1 || r.Totals.Errors != 1 {
		t.Fatalf("%+v", r.Totals)
	}
	for table, want := range map[Dimension]map[string][3]int{
		Agent:   {"claude-code": {3, 1, 1}},
		Version: {"1.9": {2, 1, 0}, "1.10": {1, 0, 1}},
		Model:   {"m1": {2, 1, 0}, "m2": {1, 0, 1}},
		Month:   {"2026-01": {2, 1, 0}, "2026-02": {1, 0, 1}},
		Tool:    {"Bash": {2, 0, 1}, "Read": {1, 1, 0}},
		Project: {"/srv": {3, 1, 1}},
	} {
		got := map[string][3]int{}
		for key, row := range r.Tables[table].byKey() {
			got[key] = [3]int{row.Calls, row.Missing, row.Open}
			if row.Sessions != 1 {
				t.Errorf("%s %s: %d sessions", table, key, row.Sessions)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", table, diff)
		}
	}
	bash := r.Tables[Tool].byKey()["Bash"]
	if bash.Bytes.N() != 2 || bash.Bytes.Max() != 100 || bash.Latency.At(0.5) != 248 && bash.Latency.At(0.5) != 250 || bash.Latency.Max() != 2500 {
		t.Errorf("Bash: %d results up to %d bytes, times %d up to %d", bash.Bytes.N(), bash.Bytes.Max(), bash.Latency.At(0.5), bash.Latency.Max())
	}

	// The last call has its result in the fork, which counts, whichever comes first.
	fork := strings.ReplaceAll(session1(), `"s1"`, `"s2"`) + record("u8", "u7", "1.10", "", "2026-02-01T00:00:21.000Z", "user", result("t4", "ok"))
	var want *Result
	for _, names := range [][]string{{"a.jsonl", "b.jsonl"}, {"b.jsonl", "a.jsonl"}} {
		all := NewShard(every())
		for _, name := range names {
			text := session1()
			if name == "b.jsonl" {
				text = fork
			}
			s, _ := readText(t, name, text, every())
			all.Merge(s)
		}
		r := all.Finish()
		row := r.Tables[Agent].byKey()["claude-code"]
		if row.Calls != 4 || row.Missing != 1 || row.Open != 0 || row.Sessions != 2 || r.LeftOut[Repeated] != 4 || r.LeftOut[Open] != 0 || r.Totals.Calls != 8 {
			t.Errorf("with its fork: %+v, left out %v of %d", row.Calls, r.LeftOut, r.Totals.Calls)
		}
		if want != nil && !reflect.DeepEqual(want, r) {
			t.Error(cmp.Diff(want, r, cmp.AllowUnexported(Group{}, Buckets{})))
		}
		want = r
	}
}

// TestKnownRates: generated sessions and datasets have the rates that they were generated with.
func TestKnownRates(t *testing.T) {
	t.Parallel()
	for i, unanswered := range []int{0, 1, 40, 400} {
		var b bytes.Buffer
		if err := bench.CallLog(&b, uint64(i+1), 100<<10, 400, unanswered); err != nil {
			t.Fatal(err)
		}
		s, rep := readText(t, "log.jsonl", b.String(), [][]Dimension{{Agent}})
		r := s.Finish()
		row := r.Tables[0].Rows[0]
		if row.Missing != unanswered || row.Calls != rep.Calls || rep.Calls < 400 || r.Totals.Errors != unanswered {
			t.Errorf("%d of %d calls are missing their results, want %d", row.Missing, row.Calls, unanswered)
		}
	}
	// Every third row lacks its result, but in the last fifth all have broken arguments.
	var b strings.Builder
	const rows = 1000
	for i := range rows {
		arguments, answer := "{}", `{"role":"tool","tool_call_id":"c1","content":"a"},`
		switch {
		case i >= rows*4/5:
			arguments = "{"
		case i%3 == 0:
			answer = ""
		}
		fmt.Fprintf(&b, `{"messages":[{"role":"user","content":"%04d"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":%q}}]},%s{"role":"assistant","content":"b"}]}`+"\n", i, arguments, answer)
	}
	text := b.String() + "{\"messages\":[{\"role\":\n"
	s, _ := readText(t, "rows.jsonl", text, [][]Dimension{{Tool}})
	r := s.Finish()
	d := r.Datasets[0]
	if d.Rows != rows+1 || d.Rejected != 267+200+1 || d.Calls.N() != rows+1 || d.Calls.At(0.5) != 1 || r.Totals.Sessions != rows {
		t.Errorf("%d rows, %d rejected, %+v", d.Rows, d.Rejected, r.Totals)
	}
	causes := map[string]int{"missing-tool-result": 267, "arguments-invalid-json": 200, "truncated-record": 1}
	if diff := cmp.Diff(causes, d.Causes); diff != "" {
		t.Error(diff)
	}
	for i, c := range d.Strip.Cells {
		switch share := float64(c.Bad) / float64(c.All); {
		case i < Width*4/5-1 && (share < 0.2 || share > 0.5), i > Width*4/5 && share != 1:
			t.Errorf("cell %d: %+v", i, c)
		}
	}
	samples := map[string]int{}
	for _, c := range r.Causes {
		samples[c.Rule] = c.Sample.Line
	}
	if diff := cmp.Diff(map[string]int{"missing-tool-result": 1, "arguments-invalid-json": 801, "truncated-record": 1001}, samples); diff != "" {
		t.Error(diff)
	}
}

// TestDocument: the elements of a list of conversations are rows.
func TestDocument(t *testing.T) {
	t.Parallel()
	text := `[{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"a"},{"role":"tool","tool_call_id":"c2","content":"a"},{"role":"assistant","content":"b"}]},
 {"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{"}}]},{"role":"tool","tool_call_id":"c1","content":"a"},{"role":"assistant","content":"b"}]}]`
	s, _ := readText(t, "pairs.json", text, [][]Dimension{{Tool}})
	r := s.Finish()
	if len(r.Datasets) != 1 {
		t.Fatalf("%+v", r)
	}
	d := r.Datasets[0]
	if d.Rows != 2 || d.Rejected != 1 || d.Calls.N() != 2 || d.Calls.Max() != 2 || r.Totals.Sessions != 2 || r.Tables[0].Rows[0].Sessions != 2 {
		t.Errorf("%+v", d)
	}
}

// transcripts lists the transcripts below a directory.
func transcripts(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sameAsCheck compares the counts of a file with those of a check and of the filter.
func sameAsCheck(t *testing.T, path string) *Result {
	t.Helper()
	s, rep := readText(t, path, "", every())
	if rep.Skipped != "" {
		return nil
	}
	r := s.Finish()
	open := func() *source.Source {
		src, err := source.Open(t.Context(), path, 0)
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
	src := open()
	defer src.Close()
	want, err := engine.Check(t.Context(), src, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var at [rules.Error + 1]int
	n := map[string]int{}
	for f := range want.Findings.All() {
		at[f.Severity]++
		n[f.Rule.Name]++
	}
	totals := Totals{
		Files: 1, Conversations: want.File.Conversations, Calls: want.Calls, Results: want.Results, Errors: at[rules.Error], Warnings: at[rules.Warning],
		Infos: at[rules.Info], Sessions: r.Totals.Sessions,
	}
	if diff := cmp.Diff(totals, r.Totals); diff != "" {
		t.Errorf("%s: a check finds something else: %s", path, diff)
	}
	left, lost := 0, 0
	for why, n := range r.LeftOut {
		left += n
		if Reason(why) == Damaged || Reason(why) == Traced || Reason(why) == Elsewhere || Reason(why) == Interrupted {
			lost += n
		}
	}
	for _, table := range r.Tables {
		var sum Group
		for i := range table.Rows {
			sum.add(&table.Rows[i].Group)
		}
		if sum.Calls+left != want.Calls {
			t.Errorf("%s: %d calls are counted by %v, and %d are left out, of %d", path, sum.Calls, table.By, left, want.Calls)
		}
		if m := n["missing-tool-result"]; sum.Missing > m || sum.Missing < m-lost {
			t.Errorf("%s: %d calls are missing results, and check reports %d", path, sum.Missing, m)
		}
		if sum.Orphans != n[orphanRule] || sum.Duplicates != n[duplicateRule] || sum.Misplaced != n[misplacedRule]+n[beforeRule] {
			t.Errorf("%s: %d orphans, %d duplicates, %d misplaced", path, sum.Orphans, sum.Duplicates, sum.Misplaced)
		}
	}
	if len(r.Datasets) > 0 {
		src := open()
		defer src.Close()
		got, err := filter.Run(t.Context(), src, filter.Options{FailOn: rules.Error, Row: true, Whole: true, Out: func() (io.Writer, error) { return io.Discard, nil }})
		if err != nil {
			t.Fatal(err)
		}
		d := r.Datasets[0]
		if d.Rejected != got.Rejected || d.Kept() != got.Kept {
			t.Errorf("%s: %d rows kept and %d rejected, filter has %d and %d", path, d.Kept(), d.Rejected, got.Kept, got.Rejected)
		}
		if diff := cmp.Diff(got.Rules, d.Causes); diff != "" && got.Rejected > 0 {
			t.Errorf("%s: filter has other causes: %s", path, diff)
		}
	}
	return r
}

// TestFixtures: the totals of all fixtures are those of a check, and their rows those of the filter.
func TestFixtures(t *testing.T) {
	t.Parallel()
	for _, path := range transcripts(t, filepath.Join("..", "..", "testdata", "transcripts")) {
		sameAsCheck(t, path)
	}
}

// TestCorpus: the totals of real transcripts are those of a check, and as many calls are missing their
// results as an independent program counts, unless they are left out.
func TestCorpus(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "..", "shared", "corpus")
	f, err := os.Open(filepath.Join(dir, "MANIFEST.tsv"))
	if err != nil {
		t.Skip("no corpus beside the checkout")
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	lines.Scan()
	head := strings.Split(lines.Text(), "\t")
	all := NewShard([][]Dimension{{Agent}, {Version, Tool}})
	files, same, checked := 0, 0, 0
	for lines.Scan() {
		row := strings.Split(lines.Text(), "\t")
		col := func(name string) string { return row[slices.Index(head, name)] }
		path := filepath.Join(dir, col("path"))
		r := sameAsCheck(t, path)
		if r == nil {
			continue
		}
		s, _ := readText(t, path, "", [][]Dimension{{Agent}, {Version, Tool}})
		all.Merge(s)
		files++
		summary := map[string]int{}
		_ = json.Unmarshal([]byte(col("oracle_summary")), &summary)
		mid, trailing := 0, 0
		for class, n := range summary {
			if name, sub, _ := strings.Cut(class, ":"); name == "missing_result" {
				if sub == "trailing" {
					trailing += n
				} else {
					mid += n
				}
			}
		}
		calls, _ := strconv.Atoi(col("tool_calls"))
		if calls != r.Totals.Calls || r.LeftOut[Damaged]+r.LeftOut[Traced]+r.LeftOut[Elsewhere]+r.LeftOut[Unclear]+r.LeftOut[Exempt]+r.LeftOut[Repeated] > 0 {
			continue // internal/engine explains where they differ
		}
		checked++
		got := [2]int{0, r.LeftOut[Open] + r.LeftOut[Interrupted]}
		for _, row := range r.Tables[Agent].Rows {
			got[0] += row.Missing
		}
		if got[0]+got[1] == mid+trailing && (got[0] == mid || r.LeftOut[Interrupted] > 0) {
			same++
		} else {
			t.Logf("%s: %d missing and %d open, the other program has %d and %d", col("path"), got[0], got[1], mid, trailing)
		}
	}
	if files < 300 || checked < 250 || same < checked*97/100 {
		t.Errorf("%d of %d files have the same counts, of %d", same, checked, files)
	}
	r := all.Finish()
	t.Logf("%d files, %d calls; %d of %d as counted by another program", files, r.Totals.Calls, same, checked)
}
