package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
)

// A branched writes records of Claude Code, each with a parent.
type branched struct {
	records []string
	parents map[string]string
	turns   int
}

func (w *branched) add(id, parent, rest string) string {
	p := "null"
	if parent != "" {
		p = `"` + parent + `"`
	}
	w.records = append(w.records, fmt.Sprintf(`{"uuid":%q,"parentUuid":%s,"sessionId":"s",%s}`, id, p, rest))
	if w.parents == nil {
		w.parents = map[string]string{}
	}
	w.parents[id] = parent
	return id
}

func (w *branched) id() string { return fmt.Sprintf("r%d", len(w.records)) }

func (w *branched) prompt(parent string) string {
	return w.add(w.id(), parent, fmt.Sprintf(`"type":"user","message":{"role":"user","content":"ask %d"}`, len(w.records)))
}

func (w *branched) progress(parent string) string {
	return w.add(w.id(), parent, `"type":"progress","data":{"type":"bash_progress"}`)
}

// turn writes a call with its result and an answer, and returns the answer and the record of
// progress of the call. If through is set, the result follows that record.
func (w *branched) turn(parent string, through bool) (answer, progress string) {
	w.turns++
	n := w.turns
	call := w.add(w.id(), parent, fmt.Sprintf(`"type":"assistant","message":{"id":"m%da","role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"ls","input":{}}]}`, n, n))
	progress = w.progress(call)
	on := call
	if through {
		on = progress
	}
	result := w.add(w.id(), on, fmt.Sprintf(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"real %d"}]}`, n, n))
	return w.add(w.id(), result, fmt.Sprintf(`"type":"assistant","message":{"id":"m%db","role":"assistant","content":[{"type":"text","text":"said %d"}]}`, n, n)), progress
}

func (w *branched) text() []byte { return []byte(strings.Join(w.records, "\n") + "\n") }

// sentPath returns the ids from the last message of a log to its root, as the agent follows them.
func sentPath(t *testing.T, text []byte) []string {
	t.Helper()
	parents, leaf := map[string]string{}, ""
	for line := range bytes.SplitSeq(bytes.TrimSpace(text), []byte("\n")) {
		var r struct {
			UUID, Type string
			ParentUUID *string
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if parents[r.UUID] = ""; r.ParentUUID != nil {
			parents[r.UUID] = *r.ParentUUID
		}
		if r.Type != "progress" {
			leaf = r.UUID
		}
	}
	var out []string
	for ; leaf != ""; leaf = parents[leaf] {
		if slices.Contains(out, leaf) {
			t.Fatalf("a circle at %s", leaf)
		}
		out = append(out, leaf)
	}
	return out
}

func named(t *testing.T, text []byte, rule string) (out []*Finding) {
	t.Helper()
	for f := range check(t, "s.jsonl", text, Options{}).Findings.All() {
		if f.Rule.Name == rule {
			out = append(out, f)
		}
	}
	return out
}

// TestStaleParents: where a message hangs off a record of progress that the conversation had
// passed, the default repair puts every message before it back on the path that is sent.
func TestStaleParents(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(sample.Seed(5), 2))
	for range sample.Inputs(200, 150, 40) {
		w := &branched{}
		var stops []string // records of progress
		var before []string
		last := w.prompt("")
		for range 1 + rng.IntN(4) {
			var stop string
			last, stop = w.turn(last, rng.IntN(2) == 0)
			if stops = append(stops, stop); rng.IntN(2) == 0 {
				last = w.prompt(last)
			}
		}
		before = append(before, last)
		for on := last; w.parents[on] != ""; on = w.parents[on] {
			before = append(before, w.parents[on])
		}
		on := stops[rng.IntN(len(stops))]
		if rng.IntN(3) == 0 {
			on = w.progress("") // it leads nowhere
		}
		// The agent may send the prompt several times.
		for range rng.IntN(3) {
			w.prompt(on)
		}
		stale := w.prompt(on)
		end, _ := w.turn(stale, rng.IntN(2) == 0)
		if rng.IntN(2) == 0 {
			w.turn(end, false)
		}
		found := named(t, w.text(), "stale-parent")
		if len(found) != 1 || found[0].Severity != rules.Error || found[0].Fix == nil || found[0].Fix.Class != operation.Safe {
			t.Fatalf("%d findings in\n%s", len(found), w.text())
		}
		out, _ := fixText(t, "s.jsonl", w.text(), FixOptions{})
		now := sentPath(t, out)
		for _, id := range append(before, stale, end) {
			if !slices.Contains(now, id) && !strings.Contains(string(w.text()), `"uuid":"`+id+`","parentUuid":"`+w.parents[id]+`","sessionId":"s","type":"progress"`) {
				t.Fatalf("%s is not sent after the repair:\n%s", id, out)
			}
		}
		if left := named(t, out, "stale-parent"); len(left) > 0 {
			t.Fatalf("%s is left in\n%s", left[0].Message, out)
		}
		if len(out) < len(w.text())-8 || bytes.Count(out, []byte("\n")) != len(w.records) {
			t.Fatalf("records were removed:\n%s", out)
		}
	}
}

// TestStaleParentsUnsure: if the branch leaves out messages of two other branches, the repair
// is unsafe.
func TestStaleParentsUnsure(t *testing.T) {
	t.Parallel()
	w := &branched{}
	first, stop := w.turn(w.prompt(""), false)
	one := w.prompt(first)
	w.turn(w.prompt(first), false)
	w.turn(one, false)
	w.turn(w.prompt(stop), false)
	found := named(t, w.text(), "stale-parent")
	if len(found) != 1 || found[0].Fix.Class != operation.Unsafe {
		t.Fatalf("%d findings in\n%s", len(found), w.text())
	}
	if out, _ := fixText(t, "s.jsonl", w.text(), FixOptions{}); !bytes.Equal(out, w.text()) {
		t.Errorf("the default repair guesses:\n%s", out)
	}
	if out, _ := fixText(t, "s.jsonl", w.text(), FixOptions{Unsafe: true}); bytes.Equal(out, w.text()) || len(named(t, out, "stale-parent")) > 0 {
		t.Errorf("the unsafe repair does not relink:\n%s", out)
	}
}

// TestStaleParentsOfOthers: progress that the conversation goes on from, and a prompt that was
// edited behind it, are no findings.
func TestStaleParentsOfOthers(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(sample.Seed(5), 3))
	for range sample.Inputs(120, 100, 30) {
		w := &branched{}
		last := w.prompt("")
		for range 1 + rng.IntN(4) {
			switch last, _ = w.turn(last, rng.IntN(2) == 0); rng.IntN(4) {
			case 0:
				last = w.progress(last) // of a hook
			case 1: // a prompt behind a hook, which is edited
				last = w.progress(last)
				w.turn(w.prompt(last), rng.IntN(2) == 0)
			case 2: // an edited prompt with a hook of its own
				w.turn(w.prompt(w.progress(last)), false)
				last = w.progress(last)
			}
			last = w.prompt(last)
		}
		w.turn(last, false)
		if found := named(t, w.text(), "stale-parent"); len(found) > 0 {
			t.Fatalf("%s: %s in\n%s", found[0].Rule.Name, found[0].Message, w.text())
		}
	}
}

// TestUnsentBranches: results of a second program are counted if they are on the branch that
// is not sent, in one finding that says whether records of the two alternate.
func TestUnsentBranches(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(sample.Seed(5), 4))
	mixed, apart := 0, 0
	for range sample.Inputs(150, 120, 30) {
		w := &branched{}
		fork, _ := w.turn(w.prompt(""), false)
		tips := [2]string{fork, fork}
		results, began, alternate := [2]int{}, [2]int{-1, -1}, false
		order := make([]int, 2+rng.IntN(6))
		for i := range order {
			order[i] = rng.IntN(2)
		}
		for _, who := range order {
			if began[who] < 0 {
				tips[who], began[who] = w.prompt(tips[who]), len(w.records)
			}
			if rng.IntN(4) > 0 {
				tips[who], _ = w.turn(tips[who], rng.IntN(2) == 0)
				results[who]++
			} else {
				tips[who] = w.prompt(tips[who])
			}
		}
		sent := order[len(order)-1]
		lost := 1 - sent
		// Records of the lost branch behind the first one of the branch that is sent, or the
		// other way round: the branch that is sent has the last record.
		if began[0] >= 0 && began[1] >= 0 {
			lastOfLost := 0
			for i, who := range order {
				if who == lost {
					lastOfLost = i
				}
			}
			firstOfSent := slices.Index(order, sent)
			alternate = firstOfSent < lastOfLost
		}
		found := named(t, w.text(), "unsent-branch")
		if results[lost] == 0 || began[sent] < 0 {
			if len(found) > 0 {
				t.Fatalf("%s in\n%s", found[0].Message, w.text())
			}
			continue
		}
		want := fmt.Sprintf("%d results on 1 branch of the session are not sent", results[lost])
		if results[lost] == 1 {
			want = "1 result on 1 branch of the session is not sent"
		}
		if alternate {
			want += "; records of two branches alternate, as if two programs wrote the session"
			mixed++
		} else {
			apart++
		}
		if len(found) != 1 || found[0].Message != want || found[0].Severity != rules.Info || found[0].Fix != nil || len(found[0].Related) != 1 {
			t.Fatalf("%d findings, want %q, in\n%s", len(found), want, w.text())
		}
	}
	if mixed < 5 || apart < 3 {
		t.Errorf("%d logs alternate, %d do not", mixed, apart)
	}
}
