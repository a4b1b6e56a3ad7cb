package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOpenCodeRecords: opencode sends what the status of a part names. A record that lacks it is repaired:
// with what it has, or else with a placeholder.
func TestOpenCodeRecords(t *testing.T) {
	t.Parallel()
	const (
		placeholder = `"[toolguard] No result was recorded for this tool call; it may or may not have run."`
		missing     = "missing-tool-result"
	)
	for name, tt := range map[string]struct {
		state, want string
		found       []string
		unsafe      bool
	}{
		"finished, no output": {
			`{"status":"completed","input":{},"title":"a","time":{"start":5,"end":6}}`,
			`{"status":"completed","input":{},"title":"a","time":{"start":5,"end":6},"output":` + placeholder + `}`,
			[]string{missing},
			false,
		},
		"finished, output is null": {
			`{"status":"completed","input":{},"output":null,"time":{"start":5,"end":6}}`,
			`{"status":"completed","input":{},"output":` + placeholder + `,"time":{"start":5,"end":6}}`,
			[]string{missing},
			false,
		},
		"finished, output is empty": {`{"status":"completed","input":{},"output":"","time":{"start":5}}`, ``, nil, false},
		"failed, no error": {
			`{"status":"error","input":{},"time":{"start":5,"end":6}}`,
			`{"status":"error","input":{},"time":{"start":5,"end":6},"error":` + placeholder + `}`,
			[]string{missing},
			false,
		},
		"failed, output instead of error": {
			`{"status":"error","input":{},"output":"\u00e4 b","time":{"start":5,"end":6}}`,
			`{"status":"error","input":{},"output":"\u00e4 b","time":{"start":5,"end":6},"error":"\u00e4 b"}`,
			[]string{missing},
			false,
		},
		"failed, output is no text": {`{"status":"error","input":{},"output":[1],"time":{"start":5,"end":6}}`, ``, []string{missing}, false},
		"running, has its output": {
			`{"status":"running","input":{},"output":"b","time":{"start":5}}`,
			`{"status":"completed","input":{},"output":"b","time":{"start":5,"end":5}}`,
			[]string{missing},
			false,
		},
		"running, has its error": {
			`{"status":"running","input":{},"error":"b","time":{"start":5,"end":6}}`,
			`{"status":"error","input":{},"error":"b","time":{"start":5,"end":6}}`,
			[]string{missing},
			false,
		},
		"unknown state": {
			`{"status":"done","input":{},"output":"b","time":{"start":5,"end":6}}`,
			`{"status":"completed","input":{},"output":"b","time":{"start":5,"end":6}}`,
			[]string{missing},
			true,
		},
		"no status": {
			`{"input":{},"output":"b","time":{"start":5,"end":6}}`,
			`{"input":{},"output":"b","time":{"start":5,"end":6},"status":"completed"}`,
			[]string{missing},
			false,
		},
		"no arguments": {
			`{"status":"completed","output":"b"}`,
			`{"input":{},"status":"completed","output":"b"}`,
			[]string{"missing-arguments"},
			false,
		},
		"empty state": {
			`{}`,
			`{"input":{},"status":"error","error":` + placeholder + `,"time":{"start":4,"end":4}}`,
			[]string{missing, "missing-arguments"},
			false,
		},
		"no state": {
			``, `{"input":{},"status":"error","error":` + placeholder + `,"time":{"start":4,"end":4}}`, []string{missing, "missing-arguments"}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := func(state string) string {
				if state != "" {
					state = `,"state":` + state
				}
				return `{"info":{"id":"s"},"messages":[` +
					`{"info":{"id":"m1","role":"assistant","time":{"created":4}},"parts":[{"id":"p1","sessionID":"s","messageID":"m1","type":"tool","callID":"c","tool":"ls"` + state + `}]},` +
					`{"info":{"id":"m2","role":"user"},"parts":[{"id":"p2","sessionID":"s","messageID":"m2","type":"text","text":"go on"}]}]}`
			}
			want := text(tt.want)
			if tt.want == "" {
				want = text(tt.state)
			}
			rep, err := checked([]byte(text(tt.state)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for f := range rep.Findings.All() {
				found = append(found, f.Rule.Name)
			}
			if diff := cmp.Diff(tt.found, found); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			out, _, err := repaired([]byte(text(tt.state)), FixOptions{Unsafe: tt.unsafe})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(out)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if tt.unsafe {
				if out, _, err = repaired([]byte(text(tt.state)), FixOptions{}); err != nil || string(out) != text(tt.state) {
					t.Errorf("it is repaired without --unsafe: %v\n%s", err, out)
				}
			}
		})
	}
}
