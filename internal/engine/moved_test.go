package engine

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/transcript"
)

// numberedLog gives records ordinals, as Codex does since 0.142.
func numberedLog(records []object) {
	for i, r := range records {
		r["ordinal"] = i
	}
}

// TestMovedRecords moves the record of a result in logs, behind what follows or before its call, with
// sound links and ordinals. The repair brings it back, and leaves all others as they were.
func TestMovedRecords(t *testing.T) {
	t.Parallel()
	runs := sample.Inputs(2000, 200, 100)
	for _, name := range []string{"pi", "codex", "claude-code", "qwen-code", "factory-droid", "kimi-wire"} {
		w := &keptWires[slices.IndexFunc(keptWires, func(w wire) bool { return w.dialect == name })]
		b := breaker{rand.New(rand.NewPCG(sample.Seed(7), 0)), w}
		back := 0
		for n := range runs {
			records := b.talk()
			ordinals := name == "codex" && n%2 == 0
			write := func(records []object) []byte {
				if ordinals {
					numberedLog(records)
				}
				b.link(records)
				return w.text(records)
			}
			text := write(records)
			rep := check(t, "log", text, w.options())
			if len(errorsOf(rep)) > 0 || rep.Calls == 0 || rep.File.Conversations > 1 || rep.Findings.Len() > 0 {
				continue
			}
			i := b.IntN(len(records))
			if len(recordedResult.FindAll(w.text(records[i:i+1]), -1)) != 1 {
				continue // only a record with one result moves
			}
			moved := copied(records[i])
			rest := slices.Delete(slices.Clone(records), i, i+1)
			to := b.IntN(len(rest) + 1)
			broken := write(slices.Insert(rest, to, moved))
			found := errorsOf(check(t, "log", broken, w.options()))
			if !slices.Equal(found, []string{"result-before-call"}) && !slices.Equal(found, []string{"misplaced-tool-result"}) {
				continue
			}
			back++
			fault, out, f := misfixed("log", broken, FixOptions{Options: w.options(), Unsafe: true})
			if fault != "" {
				t.Errorf("%s: %s\n%s\n%s", name, fault, broken, out)
				continue
			}
			if len(errorsOf(f.After)) > 0 || w.why(out) != "" || w.loose(out) != "" {
				t.Errorf("%s: still wrong: %v %s %s\n%s\n%s", name, errorsOf(f.After), w.why(out), w.loose(out), broken, out)
			}
			// The others are as they were, and in order.
			was := decoded(broken)
			id, one := was[to][w.frame.id], messagesOf(w, was[to:to+1])
			others := func(records []object) []object {
				return slices.DeleteFunc(records, func(r object) bool {
					return r[w.frame.id] == id && messagesOf(w, []object{r}) == one
				})
			}
			if got, want := messagesOf(w, others(decoded(out))), messagesOf(w, others(was)); got != want {
				t.Errorf("%s: record %d was moved to %d, and the repair makes\n%s\nwant\n%s\nof\n%s", name, i, to, got, want, broken)
			}
			if bytes.Count(out, []byte("\n")) != len(records) {
				t.Errorf("%s: %d records become\n%s", name, len(records), out)
			}
		}
		t.Logf("%s: %d results came back", name, back)
		if back < runs/50 {
			t.Errorf("%s: only %d results of %d were moved", name, back, runs)
		}
	}
}

// messagesOf returns the records without what links and numbers them.
func messagesOf(w *wire, records []object) string {
	var out []object
	for _, r := range records {
		r = copied(r)
		delete(r, w.frame.parent)
		delete(r, "ordinal")
		out = append(out, r)
	}
	return string(w.text(out))
}

// TestStaysInPlace: a record of a result does not move where that would change more than its place, and
// the finding says so.
func TestStaysInPlace(t *testing.T) {
	record := func(id, parent, message string) string {
		return `{"type":"message","id":"` + id + `","parentId":"` + parent + `","timestamp":"2026-01-01T00:00:00.000Z","message":` + message + "}\n"
	}
	const (
		head = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
		call = `{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"ls","arguments":{}}]}`
		res  = `{"role":"toolResult","toolCallId":"c1","toolName":"ls","content":[{"type":"text","text":"a.txt"}],"isError":false}`
		user = `{"role":"user","content":"wait"}`
	)
	ask := `{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"go"}}` + "\n"
	late := head + ask + record("00000002", "00000001", call) + record("00000003", "00000002", user)
	for _, c := range []struct {
		name, log string
		moves     bool
		why       string // it stays
	}{
		{"alone", late + record("00000004", "00000003", res) + record("00000005", "00000004", user), true, ""},
		{"last", late + record("00000004", "00000003", res), true, ""},
		{"on another branch", late + record("00000004", "00000003", res) + record("00000005", "00000003", user) + record("00000006", "00000004", user) + record("00000007", "00000006", user), true, ""},
		{"with a branch of its own", late + record("00000004", "00000003", res) + record("00000005", "00000004", user) + record("00000006", "00000004", user), true, ""},
		{
			"behind a compaction", late + `{"type":"compaction","id":"00000009","parentId":"00000003","timestamp":"2026-01-01T00:00:00.000Z","summary":"x","firstKeptEntryId":"00000001","tokensBefore":1}` + "\n" +
				record("00000004", "00000009", res), false, "misplaced-tool-result (a compaction is between the call and the result)",
		},
		{
			"kept from there on", late + record("00000004", "00000003", res) + `{"type":"compaction","id":"00000009","parentId":"00000004","timestamp":"2026-01-01T00:00:00.000Z","summary":"x","firstKeptEntryId":"00000004","tokensBefore":1}` + "\n", false, "",
		},
		{"behind a torn line", late + `{"type":"message","id":"0000000a` + "\n" + record("00000004", "00000003", res), true, ""},
		{"and written twice", late + record("00000004", "00000003", res) + record("00000004", "00000003", res), true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, f, err := repaired([]byte(c.log), FixOptions{Unsafe: true})
			if err != nil {
				t.Fatal(err)
			}
			moved := slices.ContainsFunc(f.Repairs, func(r Repair) bool { return r.Kind == "move-result" })
			if moved != c.moves || left(f) != c.why {
				t.Errorf("moved: %s; left: %s\n%s", strconv.FormatBool(moved), left(f), out)
			}
			if fault, out, _ := misfixed("x.jsonl", []byte(c.log), FixOptions{Unsafe: true}); fault != "" {
				t.Errorf("%s\n%s", fault, out)
			}
			if moved && strings.Index(string(out), "a.txt") > strings.Index(string(out), "wait") {
				t.Errorf("the result is still behind the user:\n%s", out)
			}
		})
	}
}

// TestLateResults: a result behind the next turn is found in the logs of agents that do not send it, and in
// no others. The repair is unsafe, and makes the log what it was.
func TestLateResults(t *testing.T) {
	found := 0
	for i := range keptWires {
		w := &keptWires[i]
		d := dialect.ByName(w.dialect)
		if w.joined != nil || d.Log == nil {
			continue
		}
		t.Run(w.dialect, func(t *testing.T) {
			b := breaker{rand.New(rand.NewPCG(1, 1)), w}
			first, second := []object{w.call(w.id(1, 0)), w.call(w.id(1, 1))}, []object{w.call(w.id(2, 0))}
			history := slices.Concat(
				[]object{w.says("user", "go")}, w.calls(first),
				w.answers([]object{w.answer(w.id(1, 0), "one")}), w.answers([]object{w.answer(w.id(1, 1), "two")}),
				[]object{w.says("assistant", "next")}, w.calls(second), w.answers([]object{w.answer(w.id(2, 0), "three")}),
				[]object{w.says("user", "and?")}, []object{w.says("assistant", "done")},
			)
			sound := w.frame.wrap(b, history)
			for _, late := range []string{"one", "two"} {
				at := func(text string) int {
					return slices.IndexFunc(sound, func(r object) bool { return strings.Contains(string(w.text([]object{r})), `"`+text+`"`) })
				}
				write := func(records []object) []byte {
					b.link(records)
					return w.text(records)
				}
				broken := slices.Clone(sound)
				moved := broken[at(late)]
				broken = slices.Insert(slices.Delete(broken, at(late), at(late)+1), at("three"), moved)
				text := write(broken)
				rep := check(t, "log", text, Options{})
				want := []string{"misplaced-tool-result"}
				if d.Window == transcript.WindowLog && d.Log.Closes == nil {
					want = nil
				}
				if got := errorsOf(rep); !slices.Equal(got, want) {
					t.Fatalf("%s is late: found %q, want %q\n%s", late, got, want, text)
				}
				if want == nil {
					continue
				}
				found++
				fault, out, f := misfixed("log", text, FixOptions{})
				if fault != "" || f.Changed() {
					t.Errorf("%s is late: repaired without --unsafe: %s\n%s", late, fault, out)
				}
				if fault, out, f = misfixed("log", text, FixOptions{Unsafe: true}); fault != "" || len(errorsOf(f.After)) > 0 {
					t.Fatalf("%s is late: %s %q\n%s", late, fault, errorsOf(f.After), out)
				}
				back := slices.Clone(sound)
				if late == "one" { // a call that is a record of its own gets its result at once
					back = slices.Insert(slices.Delete(back, at(late), at(late)+1), at("c1_0")+1, moved)
				}
				if got, want := write(decoded(out)), write(back); !bytes.Equal(got, want) { // both with new ids
					t.Errorf("%s is late: the repair makes\n%s\nwant\n%s", late, got, want)
				}
				if again, _, err := repaired(out, FixOptions{Unsafe: true}); err != nil || !bytes.Equal(again, out) {
					t.Errorf("%s is late: repaired again (%v):\n%s", late, err, again)
				}
			}
		})
	}
	if found != 2*4 { // pi, and three agents that leave such results out
		t.Errorf("%d late results were found", found)
	}
}

// TestLateByParents: in a linked log, a result is not late if only its line is, and not if another branch
// or a message that is not sent is between it and its call.
func TestLateByParents(t *testing.T) {
	t.Parallel()
	w := &keptWires[slices.IndexFunc(keptWires, func(w wire) bool { return w.dialect == "claude-code" })]
	b := breaker{rand.New(rand.NewPCG(1, 1)), w}
	records := w.frame.wrap(b, slices.Concat(
		[]object{w.says("user", "go")}, w.calls([]object{w.call("c1")}), w.answers([]object{w.answer("c1", "one")}),
		[]object{w.says("assistant", "next")}, w.calls([]object{w.call("c2")}), w.answers([]object{w.answer("c2", "two")}),
		[]object{w.says("user", "and?")}, []object{w.says("assistant", "done")},
	))
	b.link(records)
	at := func(text string) int {
		return slices.IndexFunc(records, func(r object) bool { return strings.Contains(string(w.text([]object{r})), text) })
	}
	one, last := at(`"one"`), at(`"two"`)
	moved := slices.Insert(slices.Delete(slices.Clone(records), one, one+1), last, records[one])
	if got := errorsOf(check(t, "log", w.text(moved), Options{})); got != nil {
		t.Errorf("only its line is late: found %q\n%s", got, w.text(moved))
	}
	beside := copied(records[at(`"next"`)])
	beside[w.frame.id], beside[w.frame.parent] = "0000ffff-0000-4000-8000-000000000000", records[at(`"c1"`)][w.frame.id]
	member(beside["message"])["id"] = "msg_beside"
	delete(beside, "requestId")
	branched := slices.Insert(slices.Clone(records), one, beside)
	if got := errorsOf(check(t, "log", w.text(branched), Options{})); got != nil {
		t.Errorf("another branch is between: found %q\n%s", got, w.text(branched))
	}
}
