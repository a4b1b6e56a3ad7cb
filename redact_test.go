package toolguard_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard"
)

// unanswered is a request with a call that has no result, and with a secret.
const unanswered = `{"model":"gpt-4o","messages":[
 {"role":"user","content":"the password is xyzzy-plugh"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"call_xyzzyplugh","type":"function","function":{"name":"xyzzy","arguments":"{\"plugh\":1}"}}]},
 {"role":"user","content":"and?"}]}
`

// TestRedact: the redacted text has the same problems at the same bytes, and nothing else of the
// input.
func TestRedact(t *testing.T) {
	for _, opts := range [][]toolguard.Option{
		nil,
		{toolguard.Target("anthropic")},
		{toolguard.Dialect("openai-chat"), toolguard.Request(), toolguard.Send()},
		{toolguard.Only("missing-tool-result"), toolguard.SetSeverity("missing-tool-result", toolguard.Warning)},
	} {
		want, err := toolguard.CheckBytes(t.Context(), []byte(unanswered), opts...)
		if err != nil || len(want.Findings) == 0 {
			t.Fatal(want, err)
		}
		var out bytes.Buffer
		got, err := toolguard.Redact(t.Context(), &out, strings.NewReader(unanswered), opts...)
		if err != nil {
			t.Fatal(err)
		}
		again, err := toolguard.CheckBytes(t.Context(), out.Bytes(), opts...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(again, got); diff != "" {
			t.Errorf("the report is not that of the redacted text: %s", diff)
		}
		type fact struct {
			rule       string
			severity   toolguard.Severity
			start, end toolguard.Position
			pointer    string
			repair     *toolguard.Repair
		}
		facts := func(r *toolguard.Report) (out []fact) {
			for _, f := range r.Findings {
				out = append(out, fact{f.Rule, f.Severity, f.Start, f.End, f.Pointer, f.Repair})
			}
			return out
		}
		if diff := gocmp.Diff(facts(want), facts(got), gocmp.AllowUnexported(fact{})); diff != "" {
			t.Error(diff)
		}
		in, check := guarded(t, []byte(unanswered))
		text, held, err := toolguard.RedactBytes(t.Context(), in, opts...)
		check("RedactBytes")
		if err != nil || len(text) != len(unanswered) || bytes.Contains(text, []byte("xyzzy")) || bytes.Contains(text, []byte("plugh")) {
			t.Errorf("RedactBytes: %s, %v", text, err)
		}
		if diff := gocmp.Diff(facts(want), facts(held), gocmp.AllowUnexported(fact{})); diff != "" {
			t.Errorf("RedactBytes: %s", diff)
		}
		if out.Len() != len(unanswered) || strings.Contains(out.String(), "xyzzy") || strings.Contains(out.String(), "plugh") {
			t.Errorf("got %s", out.String())
		}
	}
}

// TestRedactErrors: with an error, nothing is written.
func TestRedactErrors(t *testing.T) {
	var out bytes.Buffer
	run := func(ctx context.Context, in string, opts ...toolguard.Option) error {
		report, err := toolguard.Redact(ctx, &out, strings.NewReader(in), opts...)
		if report != nil || out.Len() > 0 {
			t.Errorf("%s: report %v, text %q", in, report, out.String())
		}
		text, report, same := toolguard.RedactBytes(ctx, []byte(in), opts...)
		if text != nil || report != nil || message(same) != message(err) {
			t.Errorf("%s: RedactBytes returns %v, %q and the error %v, want %v", in, report, text, same, err)
		}
		return err
	}
	if not := new(toolguard.NotTranscriptError); !errors.As(run(t.Context(), `{"a":1}`), &not) {
		t.Error("an object is a transcript")
	}
	if other := new(toolguard.DialectError); !errors.As(run(t.Context(), unanswered, toolguard.Dialect("anthropic"), toolguard.Request()), &other) {
		t.Error("a request in another format is redacted")
	}
	tools := toolguard.Tools([]byte(`[{"name":"plugh","input_schema":{"type":"object"}},{"name":"xyzzy","input_schema":{"type":"object"}}]`))
	err := run(t.Context(), unanswered, tools)
	want := "not redacted: a check of the redacted text would also find the warning of the rule unknown-tool at byte 200 (line 3)"
	if redacting := new(toolguard.RedactError); !errors.As(err, &redacting) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, unanswered); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	full := errors.New("full")
	if _, err := toolguard.Redact(t.Context(), failing{full}, strings.NewReader(unanswered)); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	if _, err := toolguard.Redact(t.Context(), io.Discard, strings.NewReader(unanswered), toolguard.Only("x")); err == nil {
		t.Error("an unknown rule is accepted")
	}
}

// TestRedactBytesCompressed: compressed input is unpacked.
func TestRedactBytesCompressed(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(unanswered))
	_ = w.Close()
	in, check := guarded(t, b.Bytes())
	text, report, err := toolguard.RedactBytes(t.Context(), in)
	check("compressed")
	if err != nil || len(text) != len(unanswered) || !bytes.HasPrefix(text, []byte(`{"model":"gpt-4o","messages":[`)) || report.Worst() != toolguard.Error {
		t.Errorf("%+v, %v\n%s", report, err, text)
	}
}

// failing is a writer that fails.
type failing struct{ err error }

func (w failing) Write([]byte) (int, error) { return 0, w.err }
