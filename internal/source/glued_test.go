package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// logs are records of several logs, in an order in which they can follow each other. They have
// every kind of token, and blocks that are like records in some keys.
var logs = map[string][]string{
	"pi": {
		`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`,
		`{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"say \"hi\" \u00e4\\"}],"timestamp":1}}`,
		`{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"ls","arguments":{"p":["."],"n":-1.5e3,"x":true}}],"usage":{"input":1,"cost":{"total":0}},"stopReason":"toolUse","timestamp":2}}`,
		`{"type":"compaction","id":"a3","parentId":"a2","timestamp":"2026-01-01T00:00:03.000Z","summary":"so far","firstKeptEntryId":"a2","tokensBefore":7}`,
	},
	"claude": {
		`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"go"},"uuid":"u1","timestamp":"2026-01-01T00:00:01.000Z","sessionId":"s"}`,
		`{"parentUuid":"u1","isSidechain":false,"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]},"uuid":"u2","timestamp":"2026-01-01T00:00:02.000Z","sessionId":"s"}`,
		`{"parentUuid":"u2","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]},"uuid":"u3","timestamp":"2026-01-01T00:00:03.000Z","sessionId":"s"}`,
	},
	"messages": {
		`{"role":"user","content":"go"}`,
		`{"role":"assistant","content":[{"type":"text","text":"x"}]}`,
		`{"role":"user","content":"on"}`,
	},
}

// TestGluedAtEveryTear tears each record of a log at each byte, and has another record follow
// on the same line.
func TestGluedAtEveryTear(t *testing.T) {
	for name, log := range logs {
		for torn := range log {
			whole := log[(torn+1)%len(log)]
			for cut := 1; cut < len(log[torn]); cut++ {
				for _, behind := range []bool{true, false} {
					before := slices.Clone(log[:torn])
					text := strings.Join(append(before, log[torn][:cut]+whole), "\n") + "\n"
					if behind || torn == 0 { // a line alone is a document
						text += log[len(log)-1] + "\n"
					}
					at := strings.LastIndex(text, log[torn][:cut]+whole)
					want := fmt.Sprintf("%d-%d | glued %d-%d", at+cut, at+cut+len(whole), at, at+cut)
					var got []string
					for rec, err := range Records(FromBytes("x", []byte(text))) {
						if err != nil {
							t.Fatal(err)
						}
						for _, f := range rec.Faults {
							got = append(got, fmt.Sprintf("%d-%d | %s %d-%d", rec.Span.Start, rec.Span.End, faultNames[f.Kind], f.Span.Start, f.Span.End))
						}
					}
					if !slices.Equal(got, []string{want}) {
						t.Errorf("%s: record %d torn behind %q: got %q, want %q", name, torn, log[torn][max(0, cut-12):cut], got, want)
					}
				}
			}
		}
	}
}

// TestTornIsNotGlued tears each record of a log at each byte. What is left of it holds no
// record, although its last value can be whole.
func TestTornIsNotGlued(t *testing.T) {
	for name, log := range logs {
		for torn := range log {
			for cut := 1; cut < len(log[torn]); cut++ {
				for _, behind := range []bool{true, false} {
					text := strings.Join(append(slices.Clone(log[:torn]), log[torn][:cut]), "\n") + "\n"
					if behind || torn == 0 {
						text += log[len(log)-1] + "\n"
					}
					for rec, err := range Records(FromBytes("x", []byte(text))) {
						if err != nil {
							t.Fatal(err)
						}
						for _, f := range rec.Faults {
							if f.Kind != FaultInvalidJSON && f.Kind != FaultTruncated {
								t.Errorf("%s: record %d torn behind %q: %s", name, torn, log[torn][max(0, cut-12):cut], faultNames[f.Kind])
							}
						}
					}
				}
			}
		}
	}
}
