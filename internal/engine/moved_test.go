package engine

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/sample"
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
	for _, name := range []string{"pi", "codex", "claude-code", "qwen-code", "factory-droid"} {
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
