package engine

import (
	"testing"
)

// TestAnyIDs: only a dialect whose ids are never sent may have any, and not each part of a conversation whose calls
// have their results beside them.
func TestAnyIDs(t *testing.T) {
	const id = `"toolCallId":"a\nb"`
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"span":   {`{"spans":[{"input":"x","output":[{"id":"m0","role":"user","parts":[{"type":"text","text":"go"}]},{"id":"m1","role":"assistant","parts":[{"type":"tool-ls",` + id + `,"state":"output-available","input":{},"output":"x"}]}]}]}`, 1},
		"bubble": {`[{"bubbleId":"b0","type":1,"text":"go"},{"bubbleId":"b1","type":2,"text":"","toolFormerData":{` + id + `,"name":"list_dir","rawArgs":"{}","status":"completed","result":"{}"}}]`, 0},
	} {
		rep := check(t, name+".json", []byte(c.text), Options{})
		if got := worstOf(rep)["invalid-call-id"]; rep.Calls != 1 || got != c.want {
			t.Errorf("%s: %d ids of %d calls are invalid, want %d", name, got, rep.Calls, c.want)
		}
	}
}
