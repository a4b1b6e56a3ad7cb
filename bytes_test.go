package toolguard_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/internal/sample"
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
	files := transcripts(t)
	names := slices.Sorted(maps.Keys(files))
	folder := func(name string) []string { return []string{filepath.Dir(name)} }
	for _, name := range sample.Of(t, 10, names, filepath.ToSlash, folder) {
		text := files[name]
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
	if same < len(names)/20 || changed < len(names)/20 {
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

// TestBytesWithoutFiles: large input in memory is checked, repaired, trimmed and redacted where no
// temporary file can be written.
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
	short, did, err := toolguard.TrimBytes(t.Context(), text, toolguard.TrimTo{ResultsMaxBytes: 1000})
	if err != nil || did.Shortened == 0 || len(short) >= len(text) {
		t.Errorf("%d bytes, %+v, %v", len(short), did, err)
	}
	redacted, report, err := toolguard.RedactBytes(t.Context(), text)
	if err != nil || len(redacted) != len(text) || bytes.Equal(redacted, text) || len(report.Findings) != 2 {
		t.Errorf("%d bytes, %+v, %v", len(redacted), report, err)
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
		// Fix writes what it read: the unpacked text.
		var written bytes.Buffer
		_, err = toolguard.Fix(t.Context(), &written, bytes.NewReader(b.Bytes()))
		if message(err) != tt.want || tt.want == "" && written.String() != tt.text || tt.want != "" && written.Len() > 0 {
			t.Errorf("Fix: %v, and wrote %q", err, written.String())
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
			t.Errorf("no request in the format %s among %v", d, seen)
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

// TestRequestErrors: what is no request in the format is refused, and the error says what was
// expected.
func TestRequestErrors(t *testing.T) {
	t.Parallel()
	const expected = "not a transcript: expected a request in the format anthropic, which is an object with an array in the field \"messages\", but "
	for _, tt := range []struct{ text, want string }{
		{``, expected + "the input is empty"},
		{`[{"role":"user","content":"q"}]`, expected + "the input is an array"},
		{`{"model":"x","input":"q"}`, expected + `the input has no field "messages"`},
		{`{"messages":"q"}`, expected + `"messages" is a string`},
		{`{"messages":7}`, expected + `"messages" is a number`},
		{`{"messages":{}}`, expected + `"messages" is an object`},
		{`{"messages":null}`, expected + `"messages" is null`},
		{`{"messages":[],"messages":7}`, expected + `"messages" is a number`},
		{`[5]`, expected + "the input is an array"},
		{`"q"`, expected + "the input is a string"},
		{`5`, expected + "the input is a number"},
		{`true`, expected + "the input is true"},
		{`null`, expected + "the input is null"},
		{"{\"messages\":[]}\n{\"messages\":[]}\n", expected + "the input has several JSON values"},
		{`hello`, "not a transcript: invalid JSON: unexpected character 'h' at byte 1"},
		{`{"a":[}`, "not a transcript: invalid JSON: expected a value or ']' at byte 7"},
		{`{"messages":[]}}`, "not a transcript: invalid JSON: expected the end of the file at byte 16"},
		{`{"messages":[]}{}`, expected + "the input has several JSON values"},
		{"// a comment\n{\"messages\":[]}", "not a transcript: invalid JSON: expected a value at byte 1"},
		{"\x00", "not a transcript: invalid JSON: unexpected NUL byte at byte 1"},
		{"\ufeff\ufeff" + `{"messages":[]}`, "not a transcript: invalid JSON: a second byte order mark at byte 4"},
		{"\ufeff", expected + "the input is empty"},
		{"\ufeff" + `{"model":"x","messages":[]}`, ""},
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
	_, err := toolguard.CheckBytes(t.Context(), []byte(request), toolguard.Request())
	if err == nil || err.Error() != "Request needs Dialect: one of gemini, bedrock, llama-stack, openai-chat, anthropic, openai-responses, cohere-v1, mistral-entries" {
		t.Errorf("without a dialect: %v", err)
	}
	_, err = toolguard.CheckBytes(t.Context(), []byte(request), toolguard.Request(), toolguard.Dialect("claude-code"))
	if err == nil || !strings.HasPrefix(err.Error(), `no request is in the format "claude-code"; expected one of gemini, `) {
		t.Errorf("a dialect of no API: %v", err)
	}
}

// TestRequestForms: Request accepts every form of a request that an API accepts, and says of no
// other form that it is one.
func TestRequestForms(t *testing.T) {
	t.Parallel()
	const or = ", or with the field "
	for _, tt := range []struct {
		dialect, text, want string
		conversations       int
	}{
		{"openai-responses", `{"model":"x","input":"q"}`, "", 0},
		{"openai-responses", `{"model":"x","input":[{"role":"user","content":"q"}]}`, "", 1},
		{"openai-responses", `{"prompt":{"id":"pmpt_1"}}`, "", 0},
		{"openai-responses", `{"model":"x","input":null,"previous_response_id":"resp_1"}`, "", 0},
		{"openai-responses", `{"model":"x","conversation":"conv_1"}`, "", 0},
		{"openai-responses", `{"model":"x","prompt":null}`, `an array or a text in the field "input"` + or + `"prompt", "previous_response_id" or "conversation", but the input has no field "input"`, 0},
		{"cohere-v1", `{"message":"q"}`, "", 0},
		{"cohere-v1", `{"message":"q","chat_history":null}`, "", 0},
		{"cohere-v1", `{"message":"q","tool_results":[{"call":{"name":"ls","parameters":{}},"outputs":[{"text":"a.txt"}]}]}`, "", 1},
		{"cohere-v1", `{"message":"q","chat_history":"q"}`, `an array in the field "chat_history"` + or + `"message", but "chat_history" is a string`, 0},
		{"gemini", `{"contents":{"role":"user","parts":{"text":"q"}}}`, "", 1},
		{"gemini", `{"contents":[{"parts":[{"text":"q"}]}]}`, "", 1},
		{"gemini", `{"contents":"q"}`, `an array or a message in the field "contents", but "contents" is a string`, 0},
		{"bedrock", `{"promptVariables":{"topic":{"text":"q"}}}`, "", 0},
		{"bedrock", `{}`, `an array in the field "messages"` + or + `"promptVariables", but the input has no field "messages"`, 0},
		{"mistral-entries", `{"inputs":"q"}`, "", 0},
		{"mistral-entries", `{"tool_confirmations":[{"tool_call_id":"a","confirmation":"allow"}]}`, "", 0},
		{"mistral-entries", `{"from_entry_id":"msg_1"}`, "", 0},
	} {
		report, err := toolguard.CheckBytes(t.Context(), []byte(tt.text), toolguard.Dialect(tt.dialect), toolguard.Request(), toolguard.Send())
		if tt.want != "" {
			tt.want = "not a transcript: expected a request in the format " + tt.dialect + ", which is an object with " + tt.want
		}
		if message(err) != tt.want || err == nil && (report.Conversations != tt.conversations || report.Worst() > toolguard.Info) {
			t.Errorf("%s: got %v, %+v\nwant %s", tt.text, err, report, tt.want)
		}
	}
	// A call in a lone message is a call all the same.
	report, err := toolguard.CheckBytes(t.Context(), []byte(`{"contents":[{"role":"user","parts":{"text":"q"}},{"role":"model","parts":{"functionCall":{"name":"ls","args":{}}}},{"role":"user","parts":{"text":"x"}}]}`),
		toolguard.Dialect("gemini"), toolguard.Request())
	if got := told(report); err != nil || got != "error missing-tool-result /contents/1/parts/functionCall\n" {
		t.Errorf("%v\n%s", err, got)
	}
}

// told returns the severities, rules and pointers of a report.
func told(r *toolguard.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintln(&b, f.Severity, f.Rule, f.Pointer)
	}
	return b.String()
}

// TestRequestDoubled: what Request says is true whichever of two equal keys a provider reads.
func TestRequestDoubled(t *testing.T) {
	t.Parallel()
	const (
		ok     = `[{"role":"user","content":"q"}]`
		broken = `[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]},{"role":"user","content":"x"}]`
		key    = "warning duplicate-key "
		lost   = "error missing-tool-result /messages/1/content/0/id\n"
	)
	for _, tt := range []struct{ text, want string }{
		{`{"messages":[],"messages":` + broken + `}`, key + "/messages\n" + lost},
		{`{"messages":` + ok + `,"messages":` + broken + `}`, key + "/messages\n" + lost},
		{`{"messages":` + broken + `,"messages":` + ok + `}`, lost + key + "/messages\n"},
		{`{"messages":` + broken + `,"m\u0065ssages":[]}`, lost + key + "/messages\n"},
		{`{"messages":[],"messages":[]}`, key + "/messages\n"},
		{`{"messages":[{"role":"user","content":"a","content":"b"}]}`, key + "/messages/0/content\n"},
		{`{"model":"a","model":"b","messages":` + ok + `}`, key + "/model\n"},
		{`{"messages":` + ok + `}`, ""},
	} {
		opts := []toolguard.Option{toolguard.Dialect("anthropic"), toolguard.Request()}
		report, err := toolguard.CheckBytes(t.Context(), []byte(tt.text), opts...)
		if err != nil || told(report) != tt.want {
			t.Errorf("%s: %v\n got %s\nwant %s", tt.text, err, told(report), tt.want)
		}
		_, fixed, err := toolguard.FixBytes(t.Context(), []byte(tt.text), opts...)
		if err != nil || told(fixed.After) != strings.ReplaceAll(tt.want, lost, "") {
			t.Errorf("%s: repaired: %+v, %v", tt.text, fixed, err)
		}
	}
}

// TestRequestElements: an element of the list of messages that cannot be a message is an error in
// every dialect of an API, and an unsafe repair drops it.
func TestRequestElements(t *testing.T) {
	t.Parallel()
	users := map[string]string{
		"gemini": `{"role":"user","parts":[{"text":"q"}]}`, "bedrock": `{"role":"user","content":[{"text":"q"}]}`,
		"cohere-v1": `{"role":"USER","message":"q"}`,
	}
	for name, field := range fieldOf {
		user := cmp.Or(users[name], `{"role":"user","content":"q"}`)
		head, at := `{"`+field+`":[`, "error invalid-role /"+field
		opts := []toolguard.Option{
			toolguard.Dialect(name), toolguard.Request(), toolguard.Allow(toolguard.Unsafe), toolguard.Strategy("invalid-role", "drop"),
		}
		for _, tt := range []struct{ list, want, dropped string }{
			{user + `,null,5,"s",false,[` + user + `]`, at + "/1\n" + at + "/2\n" + at + "/3\n" + at + "/4\n" + at + "/5\n", user},
			{`null`, at + "/0\n", ""},
			{`"q"`, at + "/0\n", ""},
			{user, "", user},
		} {
			in := []byte(head + tt.list + "]}")
			report, err := toolguard.CheckBytes(t.Context(), in, opts...)
			if err != nil || told(report) != tt.want {
				t.Errorf("%s, %s: %v\n got %s\nwant %s", name, tt.list, err, told(report), tt.want)
			}
			out, _, err := toolguard.FixBytes(t.Context(), in, opts...)
			if want := head + tt.dropped + "]}"; name != "cohere-v1" && (err != nil || string(out) != want) {
				t.Errorf("%s, %s: %v\n got %s\nwant %s", name, tt.list, err, out, want)
			}
		}
	}
	// The same holds for a body that is detected. Of a history that is not sent, it is a note, and a
	// null is ignored.
	list := func(e string) string {
		return `[{"role":"user","content":"q"},` + e + `,{"role":"assistant","content":"a"}]`
	}
	for text, want := range map[string]string{
		`{"model":"x","max_tokens":9,"messages":` + list("null") + `}`: "error invalid-role /messages/1\n",
		`{"model":"x","max_tokens":9,"messages":` + list("5") + `}`:    "error invalid-role /messages/1\n",
		list("5"): "info invalid-role /1\n", list("null"): "",
	} {
		report, err := toolguard.CheckBytes(t.Context(), []byte(text), toolguard.Only("invalid-role"))
		if err != nil || told(report) != want {
			t.Errorf("%s: %v\n got %s\nwant %s", text, err, told(report), want)
		}
	}
	for text, want := range map[string]string{
		`{"messages":[{"role":"user","content":"q"},{"text":"q"}]}`:               "error invalid-role /messages/1\n",
		`{"messages":[{"role":"user","content":"q"},{"type":"note","text":"q"}]}`: "",
	} {
		report, err := toolguard.CheckBytes(t.Context(), []byte(text), toolguard.Dialect("anthropic"), toolguard.Request())
		if err != nil || told(report) != want {
			t.Errorf("%s: %v\n got %s\nwant %s", text, err, told(report), want)
		}
	}
}

// TestRequestOtherDialect: the calls of a body in another dialect cannot be checked, so the body
// is refused.
func TestRequestOtherDialect(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{
		"anthropic":        `[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]}]`,
		"openai-chat":      `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"t1","content":"a"}]`,
		"bedrock":          `[{"role":"user","content":[{"text":"q"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"ls","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":"a"}]}}]}]`,
		"gemini":           `[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"a"}}}]}]`,
		"openai-responses": `[{"role":"user","content":"q"},{"type":"function_call","call_id":"t1","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"t1","output":"a"}]`,
	}
	for as := range bodies {
		for is, list := range bodies {
			in := []byte(`{"model":"x","` + fieldOf[as] + `":` + list + `,"toolConfig":{"tools":[{"toolSpec":{"name":"ls","inputSchema":{"json":{"type":"object"}}}}]}}`)
			report, err := toolguard.CheckBytes(t.Context(), in, toolguard.Dialect(as), toolguard.Request())
			out, fixed, fixErr := toolguard.FixBytes(t.Context(), in, toolguard.Dialect(as), toolguard.Request())
			if as == is {
				if err != nil || fixErr != nil || report.Worst() > toolguard.Info || report.Calls != 1 || report.Results != 1 || fixed.Changed() {
					t.Errorf("%s: %+v, %v, %v", as, report, err, fixErr)
				}
				continue
			}
			var other *toolguard.DialectError
			if report != nil || out != nil || !errors.As(err, &other) || message(fixErr) != message(err) {
				t.Errorf("%s as %s: %+v, %v, %v", is, as, report, err, fixErr)
				continue
			}
			at := "/" + fieldOf[as] + "/1"
			want := toolguard.DialectError{Dialect: as, Found: is, Pointer: at}
			if text := "not a request in the format " + as + ": the message " + at + " is in the format " + is; *other != want || err.Error() != text {
				t.Errorf("got %+v, %v\nwant %+v, %s", *other, err, want, text)
			}
		}
	}
	// Two dialects in one body are a finding about a message, as in a file.
	report, err := toolguard.CheckBytes(t.Context(), []byte(`{"model":"x","messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]},{"role":"tool","tool_call_id":"t1","content":"a"}]}`),
		toolguard.Dialect("anthropic"), toolguard.Request(), toolguard.Only("pairing"))
	if err != nil || report.Worst() != toolguard.Error {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestRequestUnreadable: a damaged body with messages is a report without a dialect.
func TestRequestUnreadable(t *testing.T) {
	t.Parallel()
	for _, tail := range []string{`{"role":`, `}]}`, `]} x`} {
		for _, opts := range [][]toolguard.Option{{}, {toolguard.Request()}} {
			opts = append(opts, toolguard.Dialect("anthropic"))
			report, err := toolguard.CheckBytes(t.Context(), []byte(`{"model":"m","messages":[{"role":"user","content":"q"}`+tail), opts...)
			if err != nil || report.Dialect != "" || report.Worst() != toolguard.Error || len(report.Findings) != 1 {
				t.Errorf("%s: %+v, %v", tail, report, err)
			}
		}
	}
}

// TestNoFlags: no error and no finding of the package speaks of the command's flags.
func TestNoFlags(t *testing.T) {
	t.Parallel()
	flag := regexp.MustCompile(`(^|[^\w-])--[a-z]`)
	others := strings.NewReplacer("goose session export --format json", "", "pi --mode json", "", "inspect log convert --to json", "") // commands of other programs
	look := func(name string, texts ...string) {
		for _, text := range texts {
			if flag.MatchString(others.Replace(text)) {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
	look("not a flag", "a --- b", "a -- b")
	for name, text := range transcripts(t) {
		_, fixed, err := toolguard.FixBytes(t.Context(), text, toolguard.Send(), toolguard.Allow(toolguard.Unsafe))
		look(name, message(err))
		if err != nil {
			continue
		}
		for _, f := range slices.Concat(fixed.Before.Findings, fixed.After.Findings) {
			look(name, f.Message)
			for _, r := range f.Related {
				look(name, r.Message)
			}
			if f.Repair != nil {
				look(name, f.Repair.Title)
			}
		}
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(make([]byte, 2<<20))
	_ = w.Close()
	_, err := toolguard.CheckBytes(t.Context(), b.Bytes())
	if want := "<input>: unpacks to more than 200 times its size"; message(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for _, text := range []string{"SQLite format 3\x00", "PK\x03\x04", "\x7fELF", ""} {
		_, err := toolguard.CheckBytes(t.Context(), []byte(text))
		look(text, message(err))
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
			for _, n := range []int{1, sample.Size(4, 2, 2)} {
				in := text(n)
				all := &countdown{Context: t.Context(), left: math.MaxInt}
				if err := run(all, in); err != nil {
					t.Fatal(kind, name, err)
				}
				if all.asked < len(in)/(256<<10) {
					t.Errorf("%s of %d bytes, %s: asked only %d times", kind, len(in), name, all.asked)
				}
				for i := 0; i < 7; i += sample.Size(1, 3, 5) {
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
	if sample.Race {
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
	if !sample.Long() {
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
	if want := "openai-chat error true 1 true\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s, want %s", err, out, want)
	}
}

// wasmProgram checks, repairs, trims and redacts more than would go to a temporary file.
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
	short, did, err := toolguard.TrimBytes(context.Background(), in, toolguard.TrimTo{KeepLast: 1})
	if err != nil {
		panic(err)
	}
	text, _, err := toolguard.RedactBytes(context.Background(), short)
	if err != nil {
		panic(err)
	}
	fmt.Println(report.Dialect, report.Worst(), fixed.Changed(), did.Kept, len(text) == len(short))
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
	most := uint64(6 << 20)
	if sample.Race {
		most = 8 << 20 // the race detector allocates
	}
	g := &gauge{Context: t.Context(), last: allocated()}
	if _, err := toolguard.CheckBytes(g, text); err != nil || g.most > most {
		t.Errorf("up to %d bytes are allocated between two questions, %v", g.most, err)
	}
}

// TestStripReasoning: the option removes reasoning whatever Allow says, and no other option does.
func TestStripReasoning(t *testing.T) {
	const (
		body = `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"text","text":"a"}]},{"role":"user","content":"r"}]}`
		want = `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"text","text":"a"}]},{"role":"user","content":"r"}]}`
	)
	for _, class := range []toolguard.Class{toolguard.Safe, toolguard.Additive, toolguard.Unsafe} {
		out, fixed, err := toolguard.FixBytes(t.Context(), []byte(body), toolguard.Allow(class), toolguard.StripReasoning(), toolguard.Only("ids"), toolguard.AllowFor("orphan-tool-result"))
		if err != nil || string(out) != want {
			t.Errorf("%s: %s, %v", class, out, err)
		}
		repairs := []toolguard.Repair{{Title: "remove the reasoning", Class: toolguard.Unsafe, Rule: "replayed-reasoning"}}
		if diff := gocmp.Diff(repairs, fixed.Repairs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", class, diff)
		}
		out, fixed, err = toolguard.FixBytes(t.Context(), []byte(body), toolguard.Allow(class), toolguard.Only("replayed-reasoning"), toolguard.AllowFor("replayed-reasoning"))
		if err != nil || fixed.Changed() || string(out) != body {
			t.Errorf("%s, without the option: %s, %v", class, out, err)
		}
	}
	if !toolguard.RefusesReasoning("The encrypted content gAAA...c90= could not be verified.") || toolguard.RefusesReasoning("prompt is too long: 210000 tokens > 200000 maximum") {
		t.Error("RefusesReasoning does not tell errors about reasoning from others")
	}
}
