package session

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/source"
)

// read reads a text.
func read(t *testing.T, text []byte, opts Options) *Session {
	t.Helper()
	s, err := Read(t.Context(), source.FromBytes("s", text), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSession: of every fixture, the threads have the calls and results that the report counts, each
// turn has its own, states agree with results, and a finding about a call is at one with its id.
func TestSession(t *testing.T) {
	t.Parallel()
	n, located := 0, 0
	err := filepath.WalkDir(filepath.Join("..", "..", "testdata", "transcripts"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, rows := range []bool{false, true} {
			s := read(t, text, Options{Texts: true, Rows: rows})
			if s.Report.Skipped != "" {
				return nil
			}
			n++
			located += agrees(t, fmt.Sprintf("%s (rows %v)", path, rows), s)
		}
		return nil
	})
	if err != nil || n < 600 || located < 500 {
		t.Errorf("%d sessions, %d findings at their call, %v", n, located, err)
	}
}

// agrees checks what a session says of itself, and returns how many findings are at a call.
func agrees(t *testing.T, name string, s *Session) (located int) {
	t.Helper()
	var calls, results, conversations int
	turn := int32(0)
	call, loose := int32(0), int32(0)
	for i := range s.Threads {
		th := &s.Threads[i]
		calls, results, conversations = calls+th.Calls, results+th.Results, conversations+th.N
		if th.Folded {
			continue
		}
		if th.TurnLo != turn || int(th.TurnHi-th.TurnLo) != th.Turns {
			t.Errorf("%s: thread %d has turns %d to %d", name, i, th.TurnLo, th.TurnHi)
		}
		for ; turn < th.TurnHi; turn++ {
			tu := &s.Turns[turn]
			if tu.Thread != int32(i) || tu.CallLo != call || tu.LooseLo != loose {
				t.Errorf("%s: turn %d: %+v", name, turn, *tu)
			}
			for ; call < tu.CallHi; call++ {
				c := &s.Calls[call]
				if c.Turn != turn || (c.State == Answered) == c.Result.At.IsZero() && c.State != Exempt {
					t.Errorf("%s: call %d: %+v", name, call, *c)
				}
			}
			for ; loose < tu.LooseHi; loose++ {
				if s.Loose[loose].Turn != turn {
					t.Errorf("%s: result %d: %+v", name, loose, s.Loose[loose])
				}
			}
		}
	}
	if calls != s.Report.Calls || results != s.Report.Results || conversations != s.Report.File.Conversations {
		t.Errorf("%s: %d calls of %d, %d results of %d, %d conversations of %d", name, calls, s.Report.Calls, results, s.Report.Results, conversations, s.Report.File.Conversations)
	}
	if int(call) != len(s.Calls) || int(loose) != len(s.Loose) || int(turn) != len(s.Turns) || len(s.Problems) != s.Report.Findings.Len() {
		t.Errorf("%s: %d of %d calls, %d of %d results, %d of %d turns, %d problems", name, call, len(s.Calls), loose, len(s.Loose), turn, len(s.Turns), len(s.Problems))
	}
	i := 0
	for f := range s.Report.Findings.All() {
		p := &s.Problems[i]
		i++
		id := ""
		switch {
		case p.Call >= 0:
			id = s.Calls[p.Call].ID
		case p.Loose >= 0:
			id = s.Loose[p.Loose].ID
		case f.Conversation >= 0 && f.Turn >= 0 && p.Turn < 0:
			t.Errorf("%s: %s: no turn: %+v", name, f.Rule.Name, p)
			continue
		default:
			continue
		}
		located++
		if f.CallID != "" && f.CallID != "null" && id != f.CallID { // that of an id that is null
			t.Errorf("%s: %s about %q is at %q", name, f.Rule.Name, f.CallID, id)
		}
		if p.Turn < 0 || s.Turns[p.Turn].Thread != p.Thread {
			t.Errorf("%s: %s: %+v", name, f.Rule.Name, p)
		}
	}
	return located
}

// TestTime: a time is read as agents write it.
func TestTime(t *testing.T) {
	t.Parallel()
	const want = 1770570001037
	for _, tt := range []struct {
		raw  string
		want int64
	}{
		{`"2026-02-08T17:00:01.037Z"`, want},
		{`"2026-02-08T19:00:01.037+02:00"`, want},
		{`"2026-02-08T17:00:01.037"`, want},
		{`"2026-02-08 17:00:01.037"`, want},
		{`"2026-02-08 17:00:01.037Z"`, want},
		{`"Sun, 08 Feb 2026 17:00:01 GMT"`, want - 37},
		{`1770570001.037`, want},
		{`1770570001037`, want},
		{`1770570001037000`, want},
		{`1770570001037000000`, want},
		{`"1770570001037"`, want},
		{`1`, 0},
		{`-1770570001`, 0},
		{`1e400`, 0},
		{`"yesterday"`, 0},
		{`""`, 0},
		{`null`, 0},
		{`{}`, 0},
	} {
		if got := Time(source.NewValue([]byte(tt.raw), 0)); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.raw, got, tt.want)
		}
	}
}

// TestTimes: reading all times at once and reading those that are asked for gives the same.
func TestTimes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "transcripts", "claude-code", "broken", "missing-results.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all, some := read(t, text, Options{Times: true}), read(t, text, Options{})
	if some.Turns[1].Time != 0 || some.First != all.First || some.Last != all.Last {
		t.Errorf("first %d, last %d, turn 1 at %d", some.First, some.Last, some.Turns[1].Time)
	}
	some.ReadTimes(0, int32(len(some.Turns)))
	if diff := cmp.Diff(all.Turns, some.Turns, cmp.AllowUnexported(Text{})); diff != "" || all.Turns[1].Time != 1770570002074 {
		t.Error(diff)
	}
	if diff := cmp.Diff(all.Calls, some.Calls, cmp.AllowUnexported(Text{})); diff != "" || all.Calls[1].Result.MS != 1037 {
		t.Error(diff)
	}
}

// TestAgents: a sub-agent hangs on the call that began it, if its result names the agent or the agent
// names the call, and never on one of its own thread.
func TestAgents(t *testing.T) {
	t.Parallel()
	record := func(fields map[string]any) string {
		b, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	}
	message := func(role string, blocks ...map[string]any) map[string]any {
		return map[string]any{"role": role, "content": blocks}
	}
	text := record(map[string]any{"type": "user", "uuid": "u1", "parentUuid": nil, "sessionId": "s", "message": message("user", map[string]any{"type": "text", "text": "go"})}) +
		record(map[string]any{"type": "assistant", "uuid": "u2", "parentUuid": "u1", "sessionId": "s", "message": message("assistant", map[string]any{"type": "tool_use", "id": "toolu_1", "name": "Task", "input": map[string]any{}})}) +
		record(map[string]any{"type": "user", "uuid": "a1", "parentUuid": nil, "isSidechain": true, "agentId": "x7", "sessionId": "s", "message": message("user", map[string]any{"type": "text", "text": "look"})}) +
		record(map[string]any{"type": "assistant", "uuid": "a2", "parentUuid": "a1", "isSidechain": true, "agentId": "x7", "sessionId": "s", "message": message("assistant", map[string]any{"type": "text", "text": "seen"})}) +
		record(map[string]any{
			"type": "user", "uuid": "u3", "parentUuid": "u2", "sessionId": "s", "toolUseResult": map[string]any{"agentId": "x7", "status": "completed"},
			"message": message("user", map[string]any{"type": "tool_result", "tool_use_id": "toolu_1", "content": "seen"}),
		})
	s := read(t, []byte(text), Options{})
	if len(s.Threads) != 2 || s.Threads[0].Parent != -1 || s.Threads[1].Parent != 0 || s.Threads[1].Name != "agent x7" {
		t.Errorf("threads: %+v", s.Threads)
	}
}

// TestBriefIDs: without texts, only the kind is told of an id or a name that can hold any text.
func TestBriefIDs(t *testing.T) {
	t.Parallel()
	text := []byte(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":{"a":1},"type":"function","function":{"name":["b"],"arguments":"{}"}},{"id":"[c]","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":{"d":1},"content":"e"}]}`)
	for texts, want := range map[bool][]string{true: {`{"a":1}`, `["b"]`, "[c]", "f", `{"d":1}`}, false: {"{…}", "[…]", "[…]", "f", "{…}"}} {
		s := read(t, text, Options{Texts: texts})
		got := []string{s.Calls[0].ID, s.Calls[0].Tool, s.Calls[1].ID, s.Calls[1].Tool, s.Loose[0].ID}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("texts %v: %s", texts, diff)
		}
	}
}

// TestRowsAreFolded: rows in which nothing was found take no memory, one after another or between
// others.
func TestRowsAreFolded(t *testing.T) {
	t.Parallel()
	const sound = `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}` + "\n"
	const broken = `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"b"}]}` + "\n"
	s := read(t, []byte(sound+sound+broken+sound+broken+broken), Options{})
	type row struct {
		Folded bool
		N      int
		Record int32
	}
	var got []row
	for _, th := range s.Threads {
		got = append(got, row{th.Folded, th.N, th.Record})
	}
	want := []row{{true, 2, 1}, {false, 1, 3}, {true, 1, 4}, {false, 1, 5}, {false, 1, 6}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
