package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/planted"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// rowsOf returns rows of all kinds: sound ones, those of the fixtures, and each with a fault.
func rowsOf(t *testing.T) (rows []string) {
	t.Helper()
	for _, pattern := range []string{"*/ok/*.jsonl", "*/broken/*.jsonl", "*/ok/*.json", "*/broken/*.json"} {
		paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "transcripts", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(path, ".json") {
				text = bytes.ReplaceAll(text, []byte("\n"), []byte(" "))
			}
			if len(text) > 8<<10 {
				continue
			}
			for line := range bytes.Lines(text) {
				rows = append(rows, string(bytes.TrimRight(line, "\r\n")))
			}
		}
	}
	return rows
}

// dataset returns rows in any order, most of them of one kind.
func dataset(rnd *rand.Rand, all []string) []byte {
	const sound = `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c%d","content":"r"},{"role":"assistant","content":"a"}]}`
	var b bytes.Buffer
	if rnd.IntN(8) == 0 {
		b.WriteString("\xef\xbb\xbf")
	}
	ends := []string{"\n", "\n", "\n", "\n", "\r\n", "\n\n", " \n", "\n \t\n", "", "\x00\x00\n", "\n\x00", "\n\xef\xbb\xbf"}
	odd := rnd.IntN(4) // how many in 10 rows are odd
	for i := range 10 + rnd.IntN(80) {
		row := fmt.Sprintf(sound, i%7, i%7)
		switch {
		case i < 4 || rnd.IntN(10) >= odd:
		case rnd.IntN(3) > 0:
			row = all[rnd.IntN(len(all))]
		case rnd.IntN(2) > 0 && len(row) > 40:
			row = row[:20+rnd.IntN(len(row)-30)] // torn
		default:
			row = strings.Replace(row, `"q"`, "\"a\nb\"", 1) // over two lines
		}
		b.WriteString(row)
		if i < 4 || odd == 0 {
			b.WriteString("\n")
		} else {
			b.WriteString(ends[rnd.IntN(len(ends))])
		}
	}
	return b.Bytes()
}

// TestSideBySide: the report of rows that several goroutines check is that of a check from the start
// to the end, wherever the stretches begin, and whatever is kept of it.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	all := rowsOf(t)
	split := 0
	for seed := range uint64(sample.Size(40, 1000, 20)) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		text := dataset(rnd, all)
		opts := Options{Edits: rnd.IntN(2) > 0, Excerpts: rnd.IntN(2) > 0}
		switch rnd.IntN(4) {
		case 0:
			opts.Most = 1 + rnd.IntN(5)
		case 1:
			opts.Most, opts.Shown = 3, func(_ *rules.Rule, s rules.Severity) bool { return s > rules.Info }
		case 2:
			opts.Ignore = func(f *rules.Finding) bool { return f.Span.Start%3 == 0 }
		}
		want := rowsReport(t, text, opts, 0)
		for range 3 {
			stretch := 1 + rnd.Int64N(int64(len(text)))
			if rnd.IntN(2) > 0 {
				stretch = 1 + rnd.Int64N(400)
			}
			got := rowsReport(t, text, opts, stretch)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, stretches of %d bytes (-want +got):\n%s", seed, stretch, diff)
			}
			split++
		}
	}
	if split == 0 {
		t.Error("nothing was split")
	}
}

// TestListedSideBySide: so is the report of a document whose conversations several goroutines check.
func TestListedSideBySide(t *testing.T) {
	t.Parallel()
	all := slices.DeleteFunc(rowsOf(t), func(row string) bool { return !json.Valid([]byte(row)) })
	split := 0
	for seed := range uint64(sample.Size(300, 30, 20)) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		var rows []string
		for line := range bytes.Lines(rowed(t, rnd, all, 60)) {
			if line = bytes.TrimSpace(line); len(line) > 0 && json.Valid(line) {
				rows = append(rows, string(line))
			}
		}
		text := []byte("[" + strings.Join(rows, ",\n") + "]")
		switch rnd.IntN(4) {
		case 0:
			text = fmt.Appendf(nil, `{"data":%s,"data":1}`, text)
		case 1:
			text = fmt.Appendf(nil, `{"v":1,"train":%s,"test":%[1]s}`, text)
		}
		opts := Options{Edits: rnd.IntN(2) > 0, Excerpts: rnd.IntN(2) > 0, Send: rnd.IntN(2) > 0}
		if rnd.IntN(3) == 0 {
			opts.Most = 1 + rnd.IntN(5)
		}
		window := int64(1+rnd.IntN(3)) << 10
		want := textReport(t, text, opts, 0, window)
		for range 3 {
			stretch := 1 + rnd.Int64N(8<<10)
			if diff := cmp.Diff(want, textReport(t, text, opts, stretch, window)); diff != "" {
				t.Fatalf("seed %d, stretches of %d bytes (-want +got):\n%s", seed, stretch, diff)
			}
		}
		src := source.NewSource("rows", bytes.NewReader(text), int64(len(text)))
		src.SetWindow(window)
		src.SetJobs(0, 3)
		if container.Open(src, detect.Options{}).SideBySide() {
			split++
		}
	}
	if split < 10 {
		t.Errorf("%d documents were split", split)
	}
}

// TestTriedSideBySide: if more repairs are asked for than are tried, conversations of a document are checked
// one after the other, because the last ones depend on those before them.
func TestTriedSideBySide(t *testing.T) {
	t.Parallel()
	row := `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},{"role":"user","content":"r"}]}`
	text := []byte("[" + strings.Repeat(row+",", 29) + row + "]")
	opts, window := Options{Send: true, tries: 1000}, int64(1<<10)
	want := textReport(t, text, opts, 0, window)
	if diff := cmp.Diff(want, textReport(t, text, opts, 1, window)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	src := source.NewSource("rows", bytes.NewReader(text), int64(len(text)))
	src.SetWindow(window)
	src.SetJobs(0, 3)
	c := newChecker(src, opts)
	c.mode = beside{checking{c}, (*rowChecker).alone, c.untried}
	if _, err := c.run(t.Context()); !errors.Is(err, errTried) {
		t.Errorf("the conversations were checked side by side: %v", err)
	}
}

// rowsReport returns all that a check says of a text, read in stretches or, without any, from the start to
// the end.
func rowsReport(t *testing.T, text []byte, opts Options, stretch int64) map[string]any {
	t.Helper()
	return textReport(t, text, opts, stretch, 0)
}

// textReport is rowsReport. If window is not 0, so many bytes of a document are held in memory.
func textReport(t *testing.T, text []byte, opts Options, stretch, window int64) map[string]any {
	t.Helper()
	src := source.NewSource("rows", bytes.NewReader(text), int64(len(text)))
	if window > 0 {
		src.SetWindow(window)
	}
	if stretch > 0 {
		src.SetJobs(0, 3)
		src.SetStretch(stretch)
	}
	rep, err := Check(context.Background(), src, opts)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return reportText(rep)
}

// reportText returns all that a report says, as texts.
func reportText(rep *Report) map[string]any {
	f := rep.File
	var starts []int64
	for at := range f.Starts.All() {
		starts = append(starts, at)
	}
	return map[string]any{
		"findings": fmt.Sprintf("%+v", describedFindings(rep)), "rest": describedRest(rep), "calls": rep.Calls, "results": rep.Results, "skipped": rep.Skipped,
		"records": f.Records, "without": f.Skipped, "opaque": f.Opaque, "conversations": f.Conversations, "faults": fmt.Sprintf("%+v", f.Faults), "broken": f.Broken,
		"keys": fmt.Sprintf("%+v", f.Keys), "links": fmt.Sprintf("%+v", f.Links), "logs": f.Logs, "starts": starts, "why": f.CheckOnly, "text": f.InText, "decision": fmt.Sprintf("%+v", f.Decision),
	}
}

// TestUnitsSideBySide: so are the rows that are passed on, with what was found in each.
func TestUnitsSideBySide(t *testing.T) {
	t.Parallel()
	all := rowsOf(t)
	for seed := range uint64(sample.Size(30, 800, 20)) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		text := dataset(rnd, all)
		want := unitTexts(t, text, 0)
		for range 3 {
			stretch := 1 + rnd.Int64N(int64(len(text)))
			if rnd.IntN(2) > 0 {
				stretch = 1 + rnd.Int64N(400)
			}
			if diff := cmp.Diff(want, unitTexts(t, text, stretch)); diff != "" {
				t.Fatalf("seed %d, stretches of %d bytes (-want +got):\n%s", seed, stretch, diff)
			}
		}
	}
}

// unitTexts returns all units of a text as texts.
func unitTexts(t *testing.T, text []byte, stretch int64) (out []string) {
	t.Helper()
	src := source.NewSource("rows", bytes.NewReader(text), int64(len(text)))
	if stretch > 0 {
		src.SetJobs(0, 3)
		src.SetStretch(stretch)
	}
	rep, err := Units(context.Background(), src, Options{Edits: true}, func(u *Unit) error {
		found := describedFindings(&Report{Findings: u.Findings})
		copied := *u
		copied.Findings, copied.File = Findings{}, nil
		out = append(out, fmt.Sprintf("%+v %v", copied, found))
		return nil
	})
	if err != nil {
		return append(out, err.Error())
	}
	return append(out, fmt.Sprint(rep.Calls, rep.Results, rep.File.Records, rep.File.Conversations, rep.File.Skipped, rep.File.Opaque, rep.File.InText))
}

// describedRest returns what is only counted, as texts.
func describedRest(rep *Report) (out []string) {
	for _, r := range rep.Rest {
		op := ""
		if r.Fix != nil {
			op = fmt.Sprintf("%+v", *r.Fix)
		}
		out = append(out, fmt.Sprintf("%s %s %d %d %s", r.Rule.Name, r.Severity, r.N, r.Kept, op))
	}
	return out
}

// describedFindings returns findings as texts.
func describedFindings(rep *Report) (out []string) {
	for f := range rep.Findings.All() {
		op, rule := "", f.Rule.Name
		if f.Fix != nil {
			op = fmt.Sprintf("%+v", *f.Fix)
		}
		copied := *f
		copied.Fix, copied.withheld, copied.EditAt, copied.Rule = nil, nil, nil, nil
		out = append(out, fmt.Sprintf("%s %+v %s %v\n", rule, copied, op, f.EditAt != nil))
	}
	return out
}

// TestPanicSideBySide: a panic on a goroutine that checks rows is an error of the check, and one in a row
// ends only that row if the rows are passed on.
func TestPanicSideBySide(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 60 {
		id := fmt.Sprintf("c%d", i)
		switch i % 20 {
		case 7:
			id = planted.InReader + id
		case 13:
			id = planted.InRule + id
		}
		b.WriteString(planted.Row(id) + "\n")
	}
	text := b.String()
	opts := Options{Dialects: dialect.Builtin().With(planted.Dialect()), Rules: append(rules.All(), planted.Rule())}
	open := func(stretch int64) *source.Source {
		src := source.NewSource("rows", strings.NewReader(text), int64(len(text)))
		if stretch > 0 {
			src.SetJobs(0, 3)
			src.SetStretch(stretch)
		}
		return src
	}
	rowsOf := func(stretch int64) (out []string) {
		_, err := Units(t.Context(), open(stretch), opts, func(u *Unit) error {
			out = append(out, fmt.Sprint(u.Record, u.Span, u.Conversations, u.Caught != nil, u.Findings.Len()))
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return out
	}
	want := rowsOf(0)
	caught := 0
	for _, row := range want {
		if strings.Contains(row, "true") {
			caught++
		}
	}
	if len(want) != 60 || caught != 6 {
		t.Errorf("%d rows, %d panics", len(want), caught)
	}
	for _, stretch := range []int64{1, 500, 3000} {
		if diff := cmp.Diff(want, rowsOf(stretch)); diff != "" {
			t.Errorf("stretches of %d bytes (-want +got):\n%s", stretch, diff)
		}
		err := contain.Do(func() error { _, err := Check(t.Context(), open(stretch), opts); return err })
		if contain.From(err) == nil {
			t.Errorf("stretches of %d bytes: %v", stretch, err)
		}
	}
	// A read that panics is an error of the check, whichever it is and whoever makes it.
	plain := strings.Repeat(`{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`+"\n", 3000)
	for reads := int64(1); reads < 40; reads += 3 {
		f := &fuse{Reader: bytes.NewReader([]byte(plain))}
		f.left.Store(reads)
		src := source.NewSource("rows", f, int64(len(plain)))
		src.SetJobs(0, 3)
		src.SetStretch(5000)
		err := contain.Do(func() error { _, err := Check(t.Context(), src, Options{}); return err })
		if f.left.Load() <= 0 && contain.From(err) == nil {
			t.Errorf("read %d: %v", reads, err)
		}
	}
}

// TestCanceledSideBySide: a check of rows ends soon after its context.
func TestCanceledSideBySide(t *testing.T) {
	t.Parallel()
	row := `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}` + "\n"
	text := strings.Repeat(row, 200_000)
	ctx, cancel := context.WithCancel(t.Context())
	src := source.NewSource("rows", strings.NewReader(text), int64(len(text)))
	src.SetJobs(0, 2)
	n := 0
	_, err := Units(ctx, src, Options{}, func(*Unit) error {
		if n++; n == 1000 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n > 150_000 {
		t.Errorf("%d rows, %v", n, err)
	}
}
