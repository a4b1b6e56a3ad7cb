package toolguard_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/toolguard/toolguard"
)

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		opt  toolguard.Option
		want string
	}{
		{toolguard.Target("antropic"), `unknown profile "antropic"; did you mean "anthropic"?`},
		{toolguard.Dialect("openai"), `unknown dialect "openai"; did you mean "openai-chat"?`},
		{toolguard.Only("pairng"), `unknown rule or category "pairng"; did you mean "pairing"?`},
		{toolguard.Without("missing-tool-results"), `unknown rule or category "missing-tool-results"; did you mean "missing-tool-result"?`},
		{toolguard.SetSeverity("broken-links", toolguard.Off), `unknown rule "broken-links"; did you mean "broken-link"?`},
		{toolguard.SetSeverity("broken-link", 7), `no severity: 7`},
		{toolguard.Strategy("orphan-tool-result", "texts"), `unknown strategy "texts"; did you mean "text"?`},
		{toolguard.Allow("dangerous"), `no class of repairs: "dangerous"`},
		{toolguard.Placeholder(" "), `an empty placeholder`},
		{toolguard.Tools([]byte(`[{"name":]`)), `tools: not JSON at byte 9`},
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
	if only, ok := errors.AsType[*toolguard.CheckOnlyError](err); !ok || out.Len() > 0 || only.Error() != "is only checked: it is a copy of what was printed, and nothing is ever resumed from it" {
		t.Errorf("got %v, %q", err, out.String())
	}
	_, err = toolguard.Check(t.Context(), errReader{fails}, toolguard.Name("body"))
	if !errors.Is(err, fails) || !strings.HasPrefix(err.Error(), "body: ") {
		t.Errorf("got %v", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

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

func TestLists(t *testing.T) {
	t.Parallel()
	for _, list := range [][]string{toolguard.Rules(), toolguard.Profiles(), toolguard.Dialects()} {
		if len(list) < 3 {
			t.Errorf("a list of %d names: %v", len(list), list)
		}
	}
}
