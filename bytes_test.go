package toolguard_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard"
)

// guarded returns a copy of text with room behind it, and a function that fails the test if the
// text or the room was written to.
func guarded(t *testing.T, text []byte) (in []byte, check func(name string)) {
	t.Helper()
	whole := append(bytes.Clone(text), bytes.Repeat([]byte{0xa5}, 64)...)
	was := bytes.Clone(whole)
	return whole[:len(text)], func(name string) {
		t.Helper()
		if !bytes.Equal(whole, was) {
			t.Errorf("%s: the input was written to", name)
		}
	}
}

// transcripts are the files in testdata/transcripts.
func transcripts(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(filepath.Join("testdata", "transcripts"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files[name], err = os.ReadFile(name)
		}
		return err
	})
	if err != nil || len(files) < 300 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

// TestBytes: for bytes in memory, everything is as for a reader. The input is not written to,
// and it is returned itself if nothing is repaired.
func TestBytes(t *testing.T) {
	t.Parallel()
	same, changed := 0, 0
	for name, text := range transcripts(t) {
		in, check := guarded(t, text)
		opts := []toolguard.Option{toolguard.Allow(toolguard.Unsafe), toolguard.WithEdits()}
		report, err := toolguard.CheckBytes(t.Context(), in, opts...)
		want, wantErr := toolguard.Check(t.Context(), bytes.NewReader(text), opts...)
		if diff := gocmp.Diff(want, report); diff != "" || message(err) != message(wantErr) {
			t.Errorf("%s: %v, want %v\n%s", name, err, wantErr, diff)
		}
		var wantOut bytes.Buffer
		out, fixed, err := toolguard.FixBytes(t.Context(), in, opts...)
		wantFixed, wantErr := toolguard.Fix(t.Context(), &wantOut, bytes.NewReader(text), opts...)
		if diff := gocmp.Diff(wantFixed, fixed); diff != "" || message(err) != message(wantErr) {
			t.Errorf("%s: %v, want %v\n%s", name, err, wantErr, diff)
		}
		check(name)
		switch {
		case err != nil:
			if out != nil {
				t.Errorf("%s: %d bytes with the error %v", name, len(out), err)
			}
		case fixed.Changed():
			changed++
			if !bytes.Equal(out, wantOut.Bytes()) {
				t.Errorf("%s: got\n%s\nwant\n%s", name, out, wantOut.Bytes())
			}
		case len(in) > 0 && (len(out) != len(in) || &out[0] != &in[0]):
			t.Errorf("%s: nothing is repaired, but the output is not the input", name)
		default:
			same++
		}
	}
	if same < 100 || changed < 100 {
		t.Errorf("only %d files unchanged and %d repaired", same, changed)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestBytesAgain: the result does not change with the input after the call.
func TestBytesAgain(t *testing.T) {
	t.Parallel()
	in := []byte(request)
	out, fixed, err := toolguard.FixBytes(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	wantOut, want, err := toolguard.FixBytes(t.Context(), []byte(request))
	if err != nil {
		t.Fatal(err)
	}
	for i := range in {
		in[i] = 'x'
	}
	if diff := gocmp.Diff(want, fixed); diff != "" || !bytes.Equal(out, wantOut) {
		t.Errorf("%s\n%s", out, diff)
	}
}

// TestBytesWithoutFiles: large input in memory is checked and repaired where no temporary file
// can be written.
func TestBytesWithoutFiles(t *testing.T) {
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, filepath.Join(t.TempDir(), "missing"))
	}
	text := body(9_000_000, 100_000, true)
	if _, err := toolguard.Check(t.Context(), bytes.NewReader(text)); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("Check wrote a temporary file: %v", err)
	}
	report, err := toolguard.CheckBytes(t.Context(), text)
	if err != nil || report.Worst() != toolguard.Error || len(report.Findings) != 2 {
		t.Errorf("%d findings, %v", len(report.Findings), err)
	}
	out, fixed, err := toolguard.FixBytes(t.Context(), text)
	if err != nil || len(fixed.Repairs) != 2 || fixed.After.Worst() != toolguard.Off || len(out) < len(text) {
		t.Errorf("%d bytes, %d repairs, %v", len(out), len(fixed.Repairs), err)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text)
	_ = w.Close()
	if report, err := toolguard.CheckBytes(t.Context(), b.Bytes()); err != nil || len(report.Findings) != 2 {
		t.Errorf("compressed: %+v, %v", report, err)
	}
}

// TestBytesCompressed: compressed input is unpacked for the report. It comes back as it was, or
// the error says that it has to be unpacked.
func TestBytesCompressed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{request, "is only checked: it is compressed with gzip: unpack it first"},
		{strings.Replace(request, `{"type":"tool_use","id":"c1","name":"ls","input":{"path":"/srv"}}`, `{"type":"text","text":"a"}`, 1), ""},
	} {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(tt.text))
		_ = w.Close()
		in, check := guarded(t, b.Bytes())
		report, err := toolguard.CheckBytes(t.Context(), in)
		plain, plainErr := toolguard.CheckBytes(t.Context(), []byte(tt.text))
		if err != nil || plainErr != nil || len(report.Findings) != len(plain.Findings) || len(report.Findings) == 1 != (tt.want != "") {
			t.Errorf("%+v, %v, plain %+v, %v", report, err, plain, plainErr)
		}
		out, _, err := toolguard.FixBytes(t.Context(), in)
		check("compressed")
		if only := new(toolguard.CheckOnlyError); message(err) != tt.want || err != nil && !errors.As(err, &only) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
		if tt.want == "" && &out[0] != &in[0] || tt.want != "" && out != nil {
			t.Errorf("the output is %q", out)
		}
	}
}

// fieldOf is the field of a request that has the messages in each dialect.
var fieldOf = map[string]string{
	"anthropic": "messages", "bedrock": "messages", "openai-chat": "messages", "llama-stack": "messages",
	"gemini": "contents", "openai-responses": "input", "mistral-entries": "inputs", "cohere-v1": "chat_history",
}

// TestRequest: for a request, Request changes nothing, with faults and without.
func TestRequest(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for name, text := range transcripts(t) {
		report, err := toolguard.CheckBytes(t.Context(), text, toolguard.WithEdits())
		if err != nil || report.Container != "json-messages" || !isRequest(text, fieldOf[report.Dialect]) {
			continue
		}
		d := toolguard.Dialect(report.Dialect)
		for _, opts := range [][]toolguard.Option{{}, {toolguard.Send(), toolguard.Allow(toolguard.Unsafe)}} {
			opts = append(opts, d, toolguard.WithEdits())
			want, err := toolguard.CheckBytes(t.Context(), text, opts...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := toolguard.CheckBytes(t.Context(), text, append(opts, toolguard.Request())...)
			if diff := gocmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %v\n%s", name, err, diff)
			}
			wantOut, wantFixed, wantErr := toolguard.FixBytes(t.Context(), text, opts...)
			gotOut, gotFixed, err := toolguard.FixBytes(t.Context(), text, append(opts, toolguard.Request())...)
			if diff := gocmp.Diff(wantFixed, gotFixed); diff != "" || !bytes.Equal(wantOut, gotOut) || message(err) != message(wantErr) {
				t.Errorf("%s: %v, want %v\n%s\n%s", name, err, wantErr, diff, gotOut)
			}
		}
		seen[report.Dialect]++
	}
	for _, d := range []string{"anthropic", "openai-chat", "openai-responses", "gemini"} {
		if seen[d] == 0 {
			t.Errorf("no request in the dialect %s among %v", d, seen)
		}
	}
}

// isRequest reports whether text is an object with the field and a field that only requests have.
func isRequest(text []byte, field string) bool {
	var fields map[string]json.RawMessage
	if field == "" || json.Unmarshal(text, &fields) != nil || fields[field] == nil || fields["model"] == nil && field != "contents" {
		return false
	}
	for _, key := range []string{"max_tokens", "tools", "max_output_tokens", "generationConfig", "temperature", "stream", "toolConfig"} {
		if fields[key] != nil {
			return true
		}
	}
	return false
}

// TestRequestErrors: what is no request in the dialect is refused, and the error says what was
// expected.
func TestRequestErrors(t *testing.T) {
	t.Parallel()
	const expected = "not a transcript: expected a request in the dialect anthropic, which is an object with an array in the field \"messages\", but "
	for _, tt := range []struct{ text, want string }{
		{``, expected + "the input is empty"},
		{`[{"role":"user","content":"q"}]`, expected + "the input is an array"},
		{`{"model":"x","input":"q"}`, expected + `the input has no field "messages"`},
		{`{"messages":"q"}`, expected + `"messages" is a string`},
		{`{"messages":7}`, expected + `"messages" is a number or a boolean`},
		{"{\"messages\":[]}\n{\"messages\":[]}\n", expected + "the input has several JSON values"},
		{`hello`, "not a transcript: invalid JSON: unexpected character 'h' at byte 1"},
		{`{"a":[}`, "not a transcript: invalid JSON: expected a value or ']' at byte 6"},
		{`{"model":"x","messages":[]}`, ""},
		{`{"model":"x","messages":[{"role":"user","content":"q"}]}`, ""},
	} {
		report, err := toolguard.CheckBytes(t.Context(), []byte(tt.text), toolguard.Dialect("anthropic"), toolguard.Request())
		if message(err) != tt.want || (err == nil) != (report != nil) {
			t.Errorf("%s:\n got %v\nwant %s", tt.text, err, tt.want)
		}
		if not := new(toolguard.NotTranscriptError); err != nil && !errors.As(err, &not) {
			t.Errorf("%s: the error is a %T", tt.text, err)
		}
	}
	report, err := toolguard.CheckBytes(t.Context(), []byte(`{"model":"x","input":"q"}`), toolguard.Dialect("openai-responses"), toolguard.Request())
	if err != nil || report.Conversations != 0 || len(report.Findings) != 0 {
		t.Errorf("a plain prompt: %+v, %v", report, err)
	}
	_, err = toolguard.CheckBytes(t.Context(), []byte(request), toolguard.Request())
	if err == nil || err.Error() != "Request needs Dialect: one of gemini, bedrock, llama-stack, openai-chat, anthropic, openai-responses, cohere-v1, mistral-entries" {
		t.Errorf("without a dialect: %v", err)
	}
	_, err = toolguard.CheckBytes(t.Context(), []byte(request), toolguard.Request(), toolguard.Dialect("claude-code"))
	if err == nil || !strings.HasPrefix(err.Error(), `no request is in the dialect "claude-code"; expected one of gemini, `) {
		t.Errorf("a dialect of no API: %v", err)
	}
}

// A meter is a context that is done when it was asked some times. From then on it counts the
// questions, and knows how much had been allocated.
type meter struct {
	countdown
	allocated uint64
}

func (m *meter) Err() error {
	err := m.countdown.Err()
	if m.left == -1 && err != nil {
		m.allocated = allocated()
	}
	return err
}

func allocated() uint64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.TotalAlloc
}

// TestCancel: little is done after the context ends, whatever the size of the input and whenever
// that is: few questions are asked, and little is allocated. While it runs, the context is asked
// at least once for each 256 KB.
func TestCancel(t *testing.T) {
	do := map[string]func(context.Context, []byte) error{
		"Check": func(ctx context.Context, b []byte) error {
			_, err := toolguard.Check(ctx, bytes.NewReader(b))
			return err
		},
		"Fix": func(ctx context.Context, b []byte) error {
			_, err := toolguard.Fix(ctx, nil, bytes.NewReader(b))
			return err
		},
		"CheckBytes": func(ctx context.Context, b []byte) error { _, err := toolguard.CheckBytes(ctx, b); return err },
		"FixBytes":   func(ctx context.Context, b []byte) error { _, _, err := toolguard.FixBytes(ctx, b); return err },
	}
	const huge, call = `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"`, `,{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"ls","input":{}}]},{"role":"user","content":"on"}`
	kinds := map[string]func(n int) []byte{
		"one huge message": func(n int) []byte { return []byte(huge + strings.Repeat("a", n*1_000_000) + `"}` + call + `]}`) },
		"small messages": func(n int) []byte {
			return []byte(huge + `q"}` + strings.Repeat(`,{"role":"assistant","content":"a"},{"role":"user","content":"q"}`, n*5_000) + call + `]}`)
		},
		"many findings": func(n int) []byte { return []byte(huge + `q"}` + strings.Repeat(call, n*500) + `]}`) },
	}
	const mostQuestions, mostBytes = 16, 2 << 20
	for kind, text := range kinds {
		for name, run := range do {
			for _, n := range []int{1, 4} {
				in := text(n)
				all := &countdown{Context: t.Context(), left: math.MaxInt}
				if err := run(all, in); err != nil {
					t.Fatal(kind, name, err)
				}
				if all.asked < len(in)/(256<<10) {
					t.Errorf("%s of %d bytes, %s: asked only %d times", kind, len(in), name, all.asked)
				}
				for i := range 7 {
					ctx := &meter{countdown: countdown{Context: t.Context(), left: all.asked * i / 7}}
					err := run(ctx, in)
					after, questions := allocated()-ctx.allocated, -ctx.left-1
					if !errors.Is(err, context.Canceled) || questions > mostQuestions || after > mostBytes {
						t.Errorf("%s of %d bytes, %s, ended at question %d of %d: %v; %d questions and %d bytes after that", kind, len(in), name, all.asked*i/7, all.asked, err, questions, after)
					}
				}
			}
		}
	}
}

// TestBodyAllocations holds how many bytes are allocated for each byte of a body.
func TestBodyAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	for _, tt := range []struct {
		size, result int
		isBroken     bool
		most         float64
	}{
		{1_000_000, 300, false, 4},
		{1_000_000, 3_000, false, 1},
		{10_000_000, 3_000, false, 1},
		{10_000_000, 300, false, 4},
		{1_000_000, 300, true, 10},
		{1_000_000, 3_000, true, 4},
		{10_000_000, 3_000, true, 4},
	} {
		text := body(tt.size, tt.result, tt.isBroken)
		opts := []toolguard.Option{toolguard.Dialect("anthropic"), toolguard.Request()}
		run := func() uint64 {
			before := allocated()
			_, fixed, err := toolguard.FixBytes(t.Context(), text, opts...)
			if err != nil || fixed.Changed() != tt.isBroken {
				t.Fatal(fixed, err)
			}
			return allocated() - before
		}
		if tt.size < 10_000_000 {
			run() // what is made once for all
		}
		if got := float64(run()) / float64(len(text)); got > tt.most {
			t.Errorf("%d bytes, results of %d, broken %t: %.2f bytes are allocated for each, want at most %.1f", len(text), tt.result, tt.isBroken, got, tt.most)
		}
	}
}

// TestWASM: the package compiles for WebAssembly. With node, CheckBytes runs there.
func TestWASM(t *testing.T) {
	if os.Getenv("TOOLGUARD_LONG") != "1" {
		t.Skip("builds the standard library for two more systems")
	}
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "main.go")
	if err := os.WriteFile(program, []byte(wasmProgram), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, goos := range []string{"wasip1", "js"} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, goos+".wasm"), program)
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=wasm", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", goos, err, out)
		}
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Log("no node here: not run")
		return
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec_node.js"), filepath.Join(dir, "js.wasm"))
	out, err := cmd.CombinedOutput()
	if want := "openai-chat error true\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s, want %s", err, out, want)
	}
}

// wasmProgram checks and repairs more than would go to a temporary file.
const wasmProgram = `package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolguard/toolguard"
)

func main() {
	in := []byte(` + "`" + `{"model":"gpt-5","messages":[{"role":"user","content":"` + "`" + ` + strings.Repeat("a", 9<<20) + ` + "`" + `"},
{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"user","content":"on"}]}` + "`" + `)
	report, err := toolguard.CheckBytes(context.Background(), in)
	if err != nil {
		panic(err)
	}
	_, fixed, err := toolguard.FixBytes(context.Background(), in)
	if err != nil {
		panic(err)
	}
	fmt.Println(report.Dialect, report.Worst(), fixed.Changed())
}
`

// A gauge is a context that knows the most bytes that were allocated between two questions.
type gauge struct {
	context.Context
	last, most uint64
}

func (g *gauge) Err() error {
	now := allocated()
	g.most, g.last = max(g.most, now-g.last), now
	return nil
}

// TestCancelBetween: rules that find much, and the repairs, do not go on for long without a look at
// the context.
func TestCancelBetween(t *testing.T) {
	const call = `,{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"ls","input":{}}]},{"role":"user","content":"on"}`
	text := []byte(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"q"}` + strings.Repeat(call, 3_000) + `]}`)
	g := &gauge{Context: t.Context(), last: allocated()}
	if _, err := toolguard.CheckBytes(g, text); err != nil || g.most > 6<<20 {
		t.Errorf("up to %d bytes are allocated between two questions, %v", g.most, err)
	}
}
