package toolguard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/internal/sample"
)

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		opt  toolguard.Option
		want string
	}{
		{toolguard.Target("antropic"), `unknown provider "antropic"; did you mean "anthropic"?`},
		{toolguard.Dialect("openai"), `unknown format "openai"; did you mean "openai-chat"?`},
		{toolguard.Only("pairng"), `unknown rule or category "pairng"; did you mean "pairing"?`},
		{toolguard.Without("missing-tool-results"), `unknown rule or category "missing-tool-results"; did you mean "missing-tool-result"?`},
		{toolguard.SetSeverity("broken-links", toolguard.Off), `unknown rule "broken-links"; did you mean "broken-link"?`},
		{toolguard.SetSeverity("broken-link", 7), `unknown severity 7; expected Off, Info, Warning or Error`},
		{toolguard.Strategy("orphan-tool-result", "texts"), `unknown strategy "texts"; did you mean "text"? (known for orphan-tool-result: text, drop, relink, leave)`},
		{toolguard.Strategy("orphan-tool-results", "text"), `unknown rule "orphan-tool-results"; did you mean "orphan-tool-result"?`},
		{toolguard.Strategy("broken-link", "text"), `broken-link has no strategies`},
		{toolguard.Allow("dangerous"), `unknown class "dangerous"; expected Safe, Additive or Unsafe`},
		{toolguard.Placeholder(" "), `the placeholder is empty`},
		{toolguard.Tools([]byte(`[{"name":]`)), `tools: invalid JSON at byte 9`},
	} {
		if _, err := toolguard.Check(t.Context(), strings.NewReader(request), tt.opt); err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
		if _, err := toolguard.Fix(t.Context(), io.Discard, strings.NewReader(request), tt.opt); err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
	for _, tt := range []struct {
		name string
		opts []toolguard.Option
		want toolguard.Severity
	}{
		{"without options", nil, toolguard.Error},
		{"nil is no option", []toolguard.Option{nil, toolguard.Only("ids"), nil}, toolguard.Off},
		{"another category", []toolguard.Option{toolguard.Only("ids")}, toolguard.Off},
		{"without the rule", []toolguard.Option{toolguard.Without("missing-tool-result")}, toolguard.Off},
		{"as a warning", []toolguard.Option{toolguard.SetSeverity("missing-tool-result", toolguard.Warning)}, toolguard.Warning},
		{"declared tools", []toolguard.Option{toolguard.Tools([]byte(`[{"name":"cat","input_schema":{"type":"object"}}]`)), toolguard.Only("tools")}, toolguard.Warning},
		{"silenced", []toolguard.Option{toolguard.SetSeverity("missing-tool-result", toolguard.Off)}, toolguard.Off},
	} {
		report, err := toolguard.Check(t.Context(), strings.NewReader(request), tt.opts...)
		if err != nil || report.Worst() != tt.want {
			t.Errorf("%s: %v, %v", tt.name, report, err)
		}
	}
}

func TestAllow(t *testing.T) {
	t.Parallel()
	for most, repairs := range map[toolguard.Class]int{toolguard.Safe: 0, toolguard.Additive: 1, toolguard.Unsafe: 1} {
		var out bytes.Buffer
		fixed, err := toolguard.Fix(t.Context(), &out, strings.NewReader(request), toolguard.Allow(most), toolguard.Placeholder("gone: {tool} {id}"))
		if err != nil || len(fixed.Repairs) != repairs || fixed.Changed() != (repairs > 0) {
			t.Errorf("%s: %+v, %v", most, fixed, err)
			continue
		}
		switch same := out.String() == request; {
		case repairs == 0 && !same:
			t.Errorf("%s: not repaired, but changed:\n%s", most, out.String())
		case repairs > 0 && !strings.Contains(out.String(), `"gone: ls c1"`):
			t.Errorf("%s: no placeholder:\n%s", most, out.String())
		}
	}
}

func TestFixWithoutWriter(t *testing.T) {
	t.Parallel()
	fixed, err := toolguard.Fix(t.Context(), nil, strings.NewReader(request))
	if err != nil || len(fixed.Repairs) != 1 || fixed.Before.Worst() != toolguard.Error || fixed.After.Worst() != toolguard.Off {
		t.Errorf("%+v, %v", fixed, err)
	}
}

func TestNothingIsWrittenWithAnError(t *testing.T) {
	t.Parallel()
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	fails := errors.New("cannot be read")
	for _, tt := range []struct {
		name string
		ctx  context.Context
		in   io.Reader
	}{
		{"no transcript", t.Context(), strings.NewReader(`{"a":1}`)},
		{"stopped", stopped, strings.NewReader(request)},
		{"a broken reader", t.Context(), io.MultiReader(strings.NewReader(request), errReader{fails})},
	} {
		var out bytes.Buffer
		if fixed, err := toolguard.Fix(tt.ctx, &out, tt.in); err == nil || fixed != nil || out.Len() > 0 {
			t.Errorf("%s: %v, %v, %q", tt.name, fixed, err, out.String())
		}
	}
	// What was printed is never resumed from.
	printed := `{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]},"parent_tool_use_id":null,"session_id":"s"}
{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"on"}]},"parent_tool_use_id":null,"session_id":"s"}
`
	var out bytes.Buffer
	_, err := toolguard.Fix(t.Context(), &out, strings.NewReader(printed))
	var only *toolguard.CheckOnlyError
	if !errors.As(err, &only) || out.Len() > 0 || only.Error() != "is only checked: it is a copy of printed output, and no program resumes from it" {
		t.Errorf("got %v, %q", err, out.String())
	}
	_, err = toolguard.Check(t.Context(), errReader{fails}, toolguard.Name("body"))
	if !errors.Is(err, fails) || !strings.HasPrefix(err.Error(), "body: ") {
		t.Errorf("got %v", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// apply makes edits in a text, as a caller would.
func apply(t *testing.T, text []byte, edits []toolguard.Edit) []byte {
	t.Helper()
	var out []byte
	at := int64(0)
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > int64(len(text)) {
			t.Fatalf("edits of %d bytes out of order: %v", len(text), edits)
		}
		out = append(append(out, text[at:e.Start]...), e.Text...)
		at = e.End
	}
	return append(out, text[at:]...)
}

// broken are the files in testdata that hold something to repair.
func broken(t *testing.T) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "transcripts", "*", "broken", "*"))
	if err != nil || len(names) < 150 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		if files[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestEdits: the edits turn the input into what is written, and nothing else is
// repaired.
func TestEdits(t *testing.T) {
	t.Parallel()
	changed := 0
	for name, text := range broken(t) {
		for _, most := range []toolguard.Class{toolguard.Safe, toolguard.Additive, toolguard.Unsafe} {
			var out bytes.Buffer
			fixed, err := toolguard.Fix(t.Context(), &out, bytes.NewReader(text), toolguard.Send(), toolguard.Allow(most))
			if errors.As(err, new(*toolguard.CheckOnlyError)) && out.Len() == 0 {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got := apply(t, text, fixed.Edits); !bytes.Equal(got, out.Bytes()) {
				t.Errorf("%s: the edits give\n%s\nwritten was\n%s", name, got, out.Bytes())
			}
			if same := bytes.Equal(text, out.Bytes()); fixed.Changed() == same || same != (len(fixed.Repairs) == 0) {
				t.Errorf("%s: changed is %t, made were %d repairs, and the output is the input: %t", name, fixed.Changed(), len(fixed.Repairs), same)
			}
			if fixed.Changed() {
				changed++
			}
		}
	}
	if changed < 250 {
		t.Errorf("only %d were repaired", changed)
	}
}

// TestEditsOfRounds: a line break in a string is repaired first, and afterwards
// what the text says; the edits of both are places in the input.
func TestEditsOfRounds(t *testing.T) {
	t.Parallel()
	const call = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},`
	const text = `[{"role":"user","content":"a` + "\n" + `b"},` + call + `{"role":"user","content":"on"}]`
	const want = `[{"role":"user","content":"a\nb"},` + call + `{"role":"tool","tool_call_id":"c1","content":"gone"},{"role":"user","content":"on"}]`
	var out bytes.Buffer
	fixed, err := toolguard.Fix(t.Context(), &out, strings.NewReader(text), toolguard.Placeholder("gone"))
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("written is %s", out.String())
	}
	if got := apply(t, []byte(text), fixed.Edits); string(got) != want {
		t.Errorf("the edits give %s", got)
	}
	at := int64(strings.Index(text, "\n"))
	if diff := gocmp.Diff(toolguard.Edit{Start: at, End: at + 1, Text: []byte(`\n`)}, fixed.Edits[0]); diff != "" {
		t.Error(diff)
	}
	if n := len(text); len(fixed.Edits) != 2 || fixed.Edits[1].Start < int64(n/2) {
		t.Errorf("the edits of %d bytes are %v", n, fixed.Edits)
	}
	if r := fixed.Repairs; len(r) != 2 || r[0].Class != toolguard.Safe || r[1].Class != toolguard.Additive {
		t.Errorf("the repairs are %+v", r)
	}
}

func TestFindingEdits(t *testing.T) {
	t.Parallel()
	report, err := toolguard.Check(t.Context(), strings.NewReader(request))
	if err != nil || len(report.Findings) != 1 || report.Findings[0].Edits != nil {
		t.Fatalf("%+v, %v", report, err)
	}
	report, err = toolguard.Check(t.Context(), strings.NewReader(request), toolguard.WithEdits())
	if err != nil || len(report.Findings) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	const result = `[{"type":"tool_result","tool_use_id":"c1","content":"[toolguard] No result was recorded for this tool call; it may or may not have run.","is_error":true},{"type":"text","text":"still there?"}]`
	want := strings.Replace(request, `"still there?"`, result, 1)
	if got := apply(t, []byte(request), report.Findings[0].Edits); string(got) != want {
		t.Errorf("the edits give %s", got)
	}
}

// TestFindingEditsAlone: the edits of a finding are its repair, made alone, and
// findings of one repair have the same.
func TestFindingEditsAlone(t *testing.T) {
	t.Parallel()
	told, shared := 0, 0
	texts := broken(t)
	var calls []string
	for i := range 40 {
		calls = append(calls, fmt.Sprintf(`{"id":"c%d","type":"function","function":{"name":"f","arguments":"{}"}}`, i))
	}
	texts["many calls of one turn"] = []byte(`{"model":"gpt-4o","messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[` +
		strings.Join(calls, ",") + `]},{"role":"user","content":"go on"}]}`)
	for name, text := range texts {
		report, err := toolguard.Check(t.Context(), bytes.NewReader(text), toolguard.WithEdits())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		first := map[*toolguard.Repair]*toolguard.Finding{}
		for i := range report.Findings {
			f := &report.Findings[i]
			if (f.Repair == nil) != (f.Edits == nil) {
				t.Errorf("%s:%d: %s: repair %v, edits %v", name, f.Start.Line, f.Rule, f.Repair, f.Edits)
			}
			if f.Repair == nil {
				continue
			}
			if before := first[f.Repair]; before != nil {
				shared++
				if diff := gocmp.Diff(before.Edits, f.Edits); diff != "" {
					t.Errorf("%s:%d: %s: %s", name, f.Start.Line, f.Rule, diff)
				}
				continue
			}
			first[f.Repair] = f
			told++
			if bytes.Equal(apply(t, text, f.Edits), text) {
				t.Errorf("%s:%d: the edits of %s change nothing", name, f.Start.Line, f.Rule)
			}
		}
	}
	if told < 200 || shared < 5 {
		t.Errorf("only %d repairs, of which %d are shared", told, shared)
	}
}

// A countdown is a context that is done when it was asked some times.
type countdown struct {
	context.Context
	left, asked int
}

func (c *countdown) Err() error {
	c.asked++
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestContext: whenever the context ends, its error is returned and nothing
// else, and nothing wrong is written.
func TestContext(t *testing.T) {
	t.Parallel()
	try := func(name string, text []byte, steps int) {
		var whole bytes.Buffer
		all := &countdown{Context: t.Context(), left: math.MaxInt}
		if _, err := toolguard.Fix(all, &whole, bytes.NewReader(text)); err != nil {
			return
		}
		for left := 0; left < all.asked; left += max(1, all.asked/steps) {
			var out bytes.Buffer
			ctx := &countdown{Context: t.Context(), left: left}
			fixed, err := toolguard.Fix(ctx, &out, bytes.NewReader(text))
			if !errors.Is(err, context.Canceled) || err.Error() != "<input>: context canceled" || fixed != nil {
				t.Fatalf("%s: when asked %d times of %d: %v, %v", name, left, all.asked, fixed, err)
			}
			if !bytes.HasPrefix(whole.Bytes(), out.Bytes()) {
				t.Fatalf("%s: when asked %d times of %d: %q is written", name, left, all.asked, out.Bytes())
			}
			ctx = &countdown{Context: t.Context(), left: left}
			if report, err := toolguard.Check(ctx, bytes.NewReader(text), toolguard.WithEdits()); err == nil && ctx.left < 0 || err != nil && !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: when asked %d times: %v, %v", name, left, report, err)
			}
			ctx = &countdown{Context: t.Context(), left: left}
			cut, err := toolguard.Trim(ctx, nil, bytes.NewReader(text), toolguard.TrimTo{KeepLast: 2, ResultsMaxBytes: 200, Boundary: toolguard.BoundaryPair})
			if ctx.left < 0 && !errors.Is(err, context.Canceled) || errors.As(err, new(*toolguard.InternalError)) {
				t.Fatalf("%s: when asked %d times to trim: %v, %v", name, left, cut, err)
			}
		}
	}
	try("the request", []byte(request), math.MaxInt)
	for name, text := range broken(t) {
		try(name, text, sample.Size(8, 2, 1))
	}
}

// TestContextIsAsked: no message of a long document, and no chunk of one that is
// read, goes by without a look at the context.
func TestContextIsAsked(t *testing.T) {
	t.Parallel()
	const turns = 1_000
	document := `{"messages":[{"role":"user","content":"q"}` + strings.Repeat(`,{"role":"assistant","content":"a"},{"role":"user","content":"q"}`, turns) + `]}`
	ctx := &countdown{Context: t.Context(), left: math.MaxInt}
	if _, err := toolguard.Check(ctx, strings.NewReader(document)); err != nil || ctx.asked < 2*turns {
		t.Errorf("asked %d times for %d messages, %v", ctx.asked, 2*turns, err)
	}
}

// TestContextIsAskedSeldom: the context is looked at after some work, and not before each rule.
func TestContextIsAskedSeldom(t *testing.T) {
	t.Parallel()
	const rows = 1_000
	dataset := strings.Repeat(`{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`+"\n", rows)
	ctx := &countdown{Context: t.Context(), left: math.MaxInt}
	if _, err := toolguard.Check(ctx, strings.NewReader(dataset)); err != nil || ctx.asked > 8*rows {
		t.Errorf("asked %d times for %d rows, %v", ctx.asked, rows, err)
	}
}

// TestDeadline: a check of 10 MB ends soon after its deadline. The machine may do other things, so
// one of several tries is enough.
func TestDeadline(t *testing.T) {
	const pair = `,{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"ls","input":{}}]},{"role":"user","content":"on"}`
	body := []byte(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"q"}` + strings.Repeat(pair, 10<<20/len(pair)) + `]}`)
	best := time.Hour
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		begun := time.Now()
		_, err := toolguard.CheckBytes(ctx, body)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("10 MB were checked in 50 ms, or %v", err)
		}
		if best = min(best, time.Since(begun)); best < 100*time.Millisecond {
			return
		}
	}
	t.Errorf("it ends after %v", best)
}

// TestContextEndsReading: input that never ends is read until the context is
// done.
func TestContextEndsReading(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	reads := 0
	endless := readerFunc(func(p []byte) (int, error) {
		if reads++; reads == 3 {
			cancel()
		}
		return copy(p, request), nil
	})
	if report, err := toolguard.Check(ctx, endless, toolguard.Name("body")); !errors.Is(err, context.Canceled) || err.Error() != "body: context canceled" || report != nil || reads != 3 {
		t.Errorf("%v, %v after %d reads", report, err, reads)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestFailingWriter: an error of the writer is returned as it is.
func TestFailingWriter(t *testing.T) {
	t.Parallel()
	fails := errors.New("no space left")
	r, w := io.Pipe()
	r.CloseWithError(fails)
	if fixed, err := toolguard.Fix(t.Context(), w, strings.NewReader(request)); err != fails || fixed != nil { //nolint:errorlint // as it is
		t.Errorf("%v, %v", fixed, err)
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var out bytes.Buffer
			fixed, err := toolguard.Fix(t.Context(), &out, strings.NewReader(request))
			if err != nil || fixed.After.Worst() != toolguard.Off {
				t.Errorf("%v, %v", fixed, err)
			}
		})
	}
	wg.Wait()
}

func TestSeverityString(t *testing.T) {
	t.Parallel()
	for s, want := range map[toolguard.Severity]string{
		toolguard.Off: "off", toolguard.Info: "info", toolguard.Warning: "warning", toolguard.Error: "error", 4: "Severity(4)", -1: "Severity(-1)",
	} {
		if got := s.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	for _, list := range [][]string{toolguard.Rules(), toolguard.Profiles(), toolguard.Dialects()} {
		if len(list) < 3 {
			t.Errorf("a list of %d names: %v", len(list), list)
		}
	}
}

// TestKeptIndex: of a compaction that keeps what comes after a record behind it, all numbers of the
// record mean the same, however large they are.
func TestKeptIndex(t *testing.T) {
	text, err := os.ReadFile("testdata/transcripts/pi/broken/session-1-missing.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var want []toolguard.Finding
	for i, index := range []string{"4000", "2147483646", "2147483647", "2147483648", "4185072936", "8477514614", "4294967295"} {
		changed := bytes.Replace(text, []byte(`"firstKeptEntryIndex":8`), []byte(`"firstKeptEntryIndex":`+index), 1)
		if bytes.Equal(changed, text) {
			t.Fatal("no index to change")
		}
		found, err := toolguard.CheckBytes(t.Context(), changed)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = found.Findings
		}
		if len(want) != len(found.Findings) {
			t.Errorf("%s: %d findings instead of %d", index, len(found.Findings), len(want))
		}
		for j := range min(len(want), len(found.Findings)) {
			if want[j].Severity != found.Findings[j].Severity || want[j].Rule != found.Findings[j].Rule {
				t.Errorf("%s: %v %s instead of %v %s", index, found.Findings[j].Severity, found.Findings[j].Rule, want[j].Severity, want[j].Rule)
			}
		}
	}
}
