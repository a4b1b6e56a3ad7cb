package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/sample"
)

// A kimiHistory is a log of Kimi Code.
type kimiHistory struct {
	records []string
	kinds   []string // by record
}

// randomKimi makes a log of Kimi Code. Each step has calls, their results, and often a text. Some
// results are repeated, as the agent does.
func randomKimi(r *rand.Rand) (h kimiHistory) {
	add := func(kind, format string, args ...any) {
		h.kinds = append(h.kinds, kind)
		h.records = append(h.records, strings.Replace(fmt.Sprintf(format, args...), `"time":0`, fmt.Sprintf(`"time":%d`, 1795647680000+len(h.records)), 1))
	}
	event := func(kind, format string, args ...any) {
		add(kind, `{"type":"context.append_loop_event","agentId":"main","event":%s,"time":0}`, fmt.Sprintf(format, args...))
	}
	add("metadata", `{"type":"metadata","protocol_version":"1.5","created_at":1795647670000}`)
	calls, steps := 0, 0
	for turn := range 1 + r.IntN(2) {
		add("user", `{"type":"context.append_message","agentId":"main","message":{"role":"user","content":[{"type":"text","text":"go %d"}],"toolCalls":[]},"time":0}`, turn)
		for range 1 + r.IntN(2) {
			event("begin", `{"type":"step.begin","uuid":"s%d","turnId":"%d","step":%[1]d}`, steps, turn)
			if r.IntN(2) == 0 {
				event("part", `{"type":"content.part","uuid":"p%d","turnId":"%d","step":%[1]d,"stepUuid":"s%[1]d","part":{"type":"text","text":"hm \"%[1]d\""}}`, steps, turn)
			}
			from := calls
			for range 1 + r.IntN(2) {
				event("call", `{"type":"tool.call","uuid":"u%d","turnId":"%d","step":%d,"stepUuid":"s%[3]d","toolCallId":"c%[1]d","name":"Bash","args":{"command":"ls %[1]d"}}`, calls, turn, steps)
				calls++
			}
			for c := from; c < calls; c++ {
				event("result", `{"type":"tool.result","parentUuid":"u%d","toolCallId":"c%[1]d","result":{"output":"real <%[1]d>","durationMs":%d}}`, c, 100+c)
			}
			event("end", `{"type":"step.end","uuid":"s%d","turnId":"%d","step":%[1]d,"finishReason":"tool_calls"}`, steps, turn)
			for c := from; c < calls; c++ {
				if r.IntN(2) == 0 {
					add("echo", `{"message":{"message":{"role":"tool","content":[{"type":"text","text":"real <%d>"}],"toolCallId":"c%[1]d"},"meta":{"source":"tool"}},"type":"agent.message.appended","time":0,"kind":"event"}`, c)
				}
			}
			steps++
		}
	}
	event("begin", `{"type":"step.begin","uuid":"s%d","turnId":"9","step":%[1]d}`, steps)
	event("part", `{"type":"content.part","uuid":"p%d","turnId":"9","step":%[1]d,"stepUuid":"s%[1]d","part":{"type":"text","text":"done"}}`, steps)
	event("end", `{"type":"step.end","uuid":"s%d","turnId":"9","step":%[1]d,"finishReason":"end_turn"}`, steps)
	return h
}

// text returns the log with another text in place of a record and its line feed.
func (h *kimiHistory) text(at int, instead string) []byte {
	var b strings.Builder
	for i, record := range h.records {
		if i == at {
			b.WriteString(instead)
		} else {
			b.WriteString(record + "\n")
		}
	}
	return []byte(b.String())
}

// kimiReads returns the lines that Kimi Code reads, and whether those are all. It stops at the
// first one that is not JSON.
func kimiReads(log []byte) (lines []string, whole bool) {
	for line := range bytes.Lines(log) {
		switch line = bytes.TrimSuffix(line, []byte("\n")); {
		case len(line) == 0:
		case !json.Valid(line):
			return lines, false
		default:
			lines = append(lines, string(line))
		}
	}
	return lines, true
}

// kimiSends returns the texts that Kimi Code sends of some lines: those of messages, and those of
// results whose call is open. It also returns the calls that are open at the end.
func kimiSends(t *testing.T, lines []string) (sent, open map[string]bool) {
	t.Helper()
	sent, open = map[string]bool{}, map[string]bool{}
	for _, line := range lines {
		var rec struct {
			Type  string
			Event struct {
				Type       string
				ToolCallID string `json:"toolCallId"`
				Part       struct{ Text string }
				Result     struct{ Output string }
			}
			Message json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatal(err)
		}
		switch e := rec.Event; {
		case rec.Type == "context.append_message":
			var m struct {
				Role    string
				Content []struct{ Text string }
			}
			if err := json.Unmarshal(rec.Message, &m); err != nil || m.Role == "" {
				t.Fatal(err, line)
			}
			for _, c := range m.Content {
				sent[c.Text] = true
			}
		case rec.Type != "context.append_loop_event":
		case e.Type == "content.part":
			sent[e.Part.Text] = true
		case e.Type == "tool.call":
			open[e.ToolCallID] = true
		case e.Type == "tool.result" && open[e.ToolCallID]:
			delete(open, e.ToolCallID)
			sent[e.Result.Output] = true
		}
	}
	return sent, open
}

// kimiDamage is how a line is damaged at an offset of it. Again says that the record is also in
// the file as a whole.
var kimiDamage = []struct {
	name   string
	again  bool
	damage func(record string, cut int) string
}{
	{"torn, and written again", true, func(r string, cut int) string { return r[:cut] + "\n" + r + "\n" }},
	{"torn, and written again on the same line", true, func(r string, cut int) string { return r[:cut] + r + "\n" }},
	{"NULs from there, and written again", true, func(r string, cut int) string {
		return r[:cut] + strings.Repeat("\x00", len(r)-cut) + "\n" + r + "\n"
	}},
	{"NULs from there, and written again on the same line", true, func(r string, cut int) string {
		return r[:cut] + strings.Repeat("\x00", len(r)-cut) + r + "\n"
	}},
	{"torn", false, func(r string, cut int) string { return r[:cut] + "\n" }},
	{"NULs from there", false, func(r string, cut int) string { return r[:cut] + strings.Repeat("\x00", len(r)-cut) + "\n" }},
}

// TestKimiDamaged damages a line of each kind of record at many bytes. If the record was written
// again, the default repair gives the log without the damage. If not, it either removes what is
// left of the record, and nothing of it is only there, or leaves it. After --unsafe the agent
// reads the whole file, with all other records, and sends each result that the file had.
func TestKimiDamaged(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(sample.Seed(7), 3))
	step := sample.Size(5, 13, 40)
	dropped, stayed := map[string]int{}, map[string]int{}
	late := sample.Until(t)
	kinds := []string{"user", "begin", "part", "call", "result", "end", "echo"}
	for _, kind := range kinds {
		h := randomKimi(r)
		for !slices.Contains(h.kinds, kind) {
			h = randomKimi(r)
		}
		var places []int
		for i, k := range h.kinds {
			if k == kind {
				places = append(places, i)
			}
		}
		at := places[r.IntN(len(places))]
		record, whole := h.records[at], h.text(-1, "")
		for _, d := range kimiDamage {
			for cut := 1 + r.IntN(step); cut < len(record) && !late(); cut += step {
				text := h.text(at, d.damage(record, cut))
				where := fmt.Sprintf("%s of %s behind %q", d.name, kind, record[max(0, cut-20):cut])
				fault, out, _ := misfixed("wire.jsonl", text, FixOptions{})
				if fault != "" {
					t.Fatalf("%s: %s\n%s", where, fault, text)
				}
				lines, all := kimiReads(out)
				if d.again {
					if want, _ := kimiReads(whole); !all || !slices.Equal(lines, want) {
						t.Fatalf("%s: the agent reads %d of %d lines\n%s", where, len(lines), len(want), out)
					}
					dropped[kind]++
					continue
				}
				if all {
					dropped[kind]++
				} else if stayed[kind]++; !bytes.Contains(out, []byte(record[:cut])) {
					t.Fatalf("%s: the record is neither removed nor left\n%s", where, out)
				}
				if lost := kimiOnlyIn(record[:cut], h.text(at, "")); all != (len(lost) == 0) {
					t.Fatalf("%s: it was removed: %v, and only it has %q\n%s", where, all, lost, out)
				}
				fault, out, _ = misfixed("wire.jsonl", text, FixOptions{Unsafe: true})
				if fault != "" {
					t.Fatalf("%s, unsafe: %s\n%s", where, fault, text)
				}
				kimiResumes(t, where, &h, at, out)
			}
		}
	}
	for _, kind := range kinds {
		if late() {
			return
		}
		// What is in the records of a step is mostly in others too.
		if dropped[kind] == 0 || stayed[kind] == 0 && kind != "begin" && kind != "end" {
			t.Errorf("%s: %d records were removed, and %d stayed", kind, dropped[kind], stayed[kind])
		}
	}
}

// TestKimiDoubled writes a record with an id twice, right behind itself or at a later place. The
// default repair gives the log as it was.
func TestKimiDoubled(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(sample.Seed(8), 3))
	doubled := map[string]int{}
	late := sample.Until(t)
	for range sample.Inputs(200, 40, 10) {
		if late() {
			break
		}
		h := randomKimi(r)
		for at, record := range h.records {
			switch h.kinds[at] {
			case "metadata", "user", "echo":
				continue // they have no id, so the second one may be meant
			}
			behind := at
			if r.IntN(2) == 0 {
				behind += r.IntN(len(h.records) - at)
			}
			text := h.text(behind, h.records[behind]+"\n"+record+"\n")
			fault, out, _ := misfixed("wire.jsonl", text, FixOptions{})
			if whole := h.text(-1, ""); fault != "" || !bytes.Equal(out, whole) {
				t.Fatalf("%s twice: %s\n%s\n%s", h.kinds[at], fault, text, out)
			}
			doubled[h.kinds[at]]++
		}
	}
	for _, kind := range []string{"begin", "part", "call", "result", "end"} {
		if late() {
			return
		}
		if doubled[kind] < 10 {
			t.Errorf("%d records of kind %s were doubled", doubled[kind], kind)
		}
	}
}

// kimiResumes checks that the agent reads a log as a whole after one of its records was lost, that
// the others are still there, and that it sends each result that is left.
func kimiResumes(t *testing.T, where string, h *kimiHistory, lost int, log []byte) {
	t.Helper()
	lines, all := kimiReads(log)
	if !all {
		t.Fatalf("%s: the agent reads only %d lines\n%s", where, len(lines), log)
	}
	sent, open := kimiSends(t, lines)
	if len(open) > 0 {
		t.Fatalf("%s: calls without results: %v\n%s", where, open, log)
	}
	texts := strings.Join(slices.Sorted(maps.Keys(sent)), "\n")
	left := string(h.text(lost, ""))
	for c := range strings.Count(left, `"tool.result"`) + 1 {
		if output := fmt.Sprintf("real <%d>", c); strings.Contains(left, output) && !strings.Contains(texts, output) {
			t.Fatalf("%s: the agent does not send %q\n%s", where, output, log)
		}
	}
	for i, record := range h.records {
		// The result of a lost call is in another record.
		if i != lost && h.kinds[lost] != "call" && !slices.Contains(lines, record) {
			t.Fatalf("%s: a record is lost: %s\n%s", where, record, log)
		}
	}
}

// kimiField is a field of randomKimi that is complete: a text, a number and what ends it, or the
// beginning of an object or a list.
var kimiField = regexp.MustCompile(`"(\w+)":(?:"((?:[^"\\]|\\.)*)"|(\d+)[,}]|([{\[]))`)

// kimiFields counts the complete fields of a record, or of its beginning. A text and what it is
// in have several keys in these logs, which do not count.
func kimiFields(record string) map[string]int {
	out := map[string]int{}
	for _, m := range kimiField.FindAllStringSubmatch(record, -1) {
		key := m[1]
		switch key {
		case "content", "text", "output", "result", "args":
			if m[4] != "" {
				continue
			}
			key = ""
		}
		out[key+"="+m[2]+m[3]]++
	}
	return out
}

// kimiCut matches the end of a record that is cut off: the last key, whole or not, and the part of
// its value.
var kimiCut = regexp.MustCompile(`[{,]("(?:[^"\\]|\\.)*"?\\?)(?::("(?:[^"\\]|\\.)*\\?|[^\s"{}\[\],:]+)?)?$`)

// kimiOnlyIn returns the complete fields of the beginning of a record that other records do not
// have as often, and what is cut off if no other record has it.
func kimiOnlyIn(torn string, others []byte) (only []string) {
	if m := kimiCut.FindStringSubmatch(torn); m != nil {
		if !bytes.Contains(others, []byte(m[1])) {
			only = append(only, m[1])
		}
		if m[2] != "" && !bytes.Contains(others, []byte(":"+m[2])) {
			only = append(only, m[2])
		}
	}
	have := kimiFields(string(others))
	for field, n := range kimiFields(torn) {
		if have[field] < n {
			only = append(only, field)
		}
	}
	return only
}
