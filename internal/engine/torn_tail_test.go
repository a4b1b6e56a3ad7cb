package engine

import (
	"bytes"
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// TestNothingBehindATornLine: whatever a repair adds to a log goes before a last line that is cut
// off. So this line stays the last one, and no rule reports more errors or warnings.
func TestNothingBehindATornLine(t *testing.T) {
	t.Parallel()
	const torn = `{"zzuniq":"zzval","timestamp":"zz","ordinal":77,"zz2":"UNIQTORN`
	n := 0
	for name, all := range fixturesOf(t) {
		if d := dialect.ByName(name); d == nil || d.DamagedLine == 0 {
			continue
		}
		for _, in := range all {
			for _, kept := range []string{strings.TrimRight(string(in.text), "\r\n"), firstLines(string(in.text), -1), firstLines(string(in.text), -2)} {
				text := []byte(kept + "\n" + torn)
				_, plain, err := repaired([]byte(kept), FixOptions{SafeOnly: true})
				_, safe, also := repaired(text, FixOptions{SafeOnly: true})
				if err == nil && also == nil && plain.Changed() && plain.Before.File.Framing == source.FramingLines && !safe.Changed() {
					t.Errorf("%s: a safe repair is not made before the line that is cut off", in.name)
				}
				out, f, err := repaired(text, FixOptions{})
				if err != nil || !f.Changed() || f.Before.File.Framing != source.FramingLines {
					continue
				}
				n++
				if !bytes.HasSuffix(out, []byte("\n"+torn)) {
					t.Errorf("%s: the line that is cut off is not the last one: %s", in.name, out[max(0, len(out)-300):])
				}
				if was, is := severities(f.Before), severities(f.After); is[rules.Error] > was[rules.Error] {
					t.Errorf("%s: %v before, %v after", in.name, was, is)
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d logs were repaired", n)
	}
}

// severities counts the findings of the rules about records that cannot be read.
func severities(r *Report) map[rules.Severity]int {
	out := map[rules.Severity]int{}
	for _, f := range r.Findings.List() {
		if family(f.Rule) == "invalid-json" {
			out[f.Severity]++
		}
	}
	return out
}

// firstLines returns a text without its last lines.
func firstLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	return strings.Join(lines[:max(1, len(lines)+n)], "\n")
}

// TestResultInATornRecord: even a result that another record repeats is not inserted beside a
// record that cannot be read and names the call. Beside another such record it is, with the
// ordinal that the record which is cut off has.
func TestResultInATornRecord(t *testing.T) {
	t.Parallel()
	const head = `{"timestamp":"2026-07-01T00:00:00.000Z","ordinal":0,"type":"session_meta","payload":{"id":"s","cwd":"/w"}}
{"timestamp":"2026-07-01T00:00:01.000Z","ordinal":1,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"build"}]}}
{"timestamp":"2026-07-01T00:00:02.000Z","ordinal":2,"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"call_1"}}
{"timestamp":"2026-07-01T00:00:03.000Z","ordinal":3,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"call_1","command":["make"],"status":"completed","aggregated_output":"built\n","exit_code":0}}}
`
	const added = `{"timestamp":"2026-07-01T00:00:03.001Z","ordinal":4,"type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"Process exited with code 0\nOutput:\nbuilt\n"}}
`
	const output = `{"timestamp":"2026-07-01T00:00:04.000Z","ordinal":4,"type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"Wall time`
	named := strings.Index(output, `call_1"`) + len("call_1")
	for cut := 1; cut < len(output); cut++ {
		text, want := head+output[:cut], head+added
		if cut >= named {
			want = head
		}
		out, f, err := repaired([]byte(text), FixOptions{})
		// A line is dropped if all that is complete in it is in other records.
		rest, is := strings.CutPrefix(string(out), want)
		if err != nil || !is || rest != output[:cut] && (rest != "" || strings.Contains(output[:cut], `Z"`)) {
			t.Fatalf("cut off after %q: %v\n%s", output[:cut], err, out)
		}
		if cut < named {
			continue
		}
		if why := f.After.Findings.List()[0].Unfixed; why != "the result may be in a record that toolguard cannot read" {
			t.Errorf("cut off after %q: it says %q", output[:cut], why)
		}
	}
	if out, _, err := repaired([]byte(head+output), FixOptions{Unsafe: true}); err != nil || string(out) != head+added {
		t.Errorf("unsafe: %v\n%s", err, out)
	}
}

// TestEndsOfWhatIsKept: a compaction names the first and the last record that it keeps, and
// lists those between. After each repair that removes or adds records, the parents lead from the
// last to the first, over the records that were kept and stay and over the results of their
// calls, and the list has them in the same order.
func TestEndsOfWhatIsKept(t *testing.T) {
	t.Parallel()
	changed, emptied, longer := 0, 0, 0
	for seed := range sample.Inputs(800, 600, 100) {
		rnd := rand.New(rand.NewSource(int64(seed)))
		text, kept := compacted(rnd)
		opts := FixOptions{}
		if rnd.Intn(2) == 0 {
			opts.StripReasoning = true
		}
		out, f, err := repaired([]byte(text), opts)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if !f.Changed() {
			continue
		}
		changed++
		parents, calls, boundary := map[string]string{}, map[string]string{}, source.Value{}
		for line := range strings.Lines(string(out)) {
			v := source.NewValue([]byte(line), 0)
			parents[v.Get("uuid").Str()] = v.Get("parentUuid").Str()
			for _, b := range v.Path("message", "content").Elements() {
				if b.Get("type").Is("tool_result") {
					calls[v.Get("uuid").Str()] = b.Get("tool_use_id").Str()
				}
			}
			if v.Get("subtype").Is("compact_boundary") {
				boundary = v.Get("compactMetadata")
			}
		}
		var want []string // of the records that were kept
		for _, id := range kept {
			if _, stays := parents[id]; stays {
				want = append(want, id)
			}
		}
		segment := boundary.Get("preservedSegment")
		var got, old []string
		for at := segment.Get("tailUuid").Str(); at != ""; at = parents[at] {
			got = append([]string{at}, got...)
			if at == segment.Get("headUuid").Str() {
				break
			}
			if len(got) > len(parents) {
				break
			}
		}
		for _, id := range got {
			if len(id) < 36 { // it is not new
				old = append(old, id)
			} else if longer++; !strings.Contains(strings.Join(kept, " ")+" ", "r"+calls[id][1:]+" ") {
				t.Fatalf("seed %d: %s answers a call that is not kept\n%s\n%s", seed, id, text, out)
			}
		}
		if len(want) == 0 {
			emptied++
		}
		if fmt.Sprint(old) != fmt.Sprint(want) || segment.Exists() != (len(want) > 0) {
			t.Fatalf("seed %d: kept is %v, want %v\n%s\n%s", seed, got, want, text, out)
		}
		if list := boundary.Path("preservedMessages", "uuids"); list.Exists() {
			var ids []string
			for _, e := range list.Present() {
				ids = append(ids, e.Str())
			}
			if fmt.Sprint(ids) != fmt.Sprint(got) {
				t.Fatalf("seed %d: %v are listed, but %v are kept\n%s\n%s", seed, ids, got, text, out)
			}
		}
		for _, id := range kept { // "rN" calls "cN"
			n, is := strings.CutPrefix(id, "r")
			if is && !strings.Contains(text, `"tool_use_id":"c`+n+`"`) && !contains(got, calls, "c"+n) {
				t.Fatalf("seed %d: c%s has no result among what is kept\n%s\n%s", seed, n, text, out)
			}
		}
	}
	if changed < 40 || emptied == 0 || longer == 0 {
		t.Errorf("%d logs changed, %d of them keep nothing, %d results were added to what is kept", changed, emptied, longer)
	}
}

// contains reports whether one of the records has the result of a call.
func contains(ids []string, calls map[string]string, call string) bool {
	for _, id := range ids {
		if calls[id] == call {
			return true
		}
	}
	return false
}

// compacted returns a log of Claude Code with a compaction, and the ids of the records that it
// keeps. The record "rN" has the call "cN".
func compacted(rnd *rand.Rand) (text string, kept []string) {
	var b strings.Builder
	var ids []string
	parent := "null"
	add := func(id, typ, rest string) {
		fmt.Fprintf(&b, `{"type":"%s","uuid":"%s","parentUuid":%s,"sessionId":"s",%s}`+"\n", typ, id, parent, rest)
		parent = `"` + id + `"`
		ids = append(ids, id)
	}
	result := func(id, n string) {
		add(id, "user", `"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c`+n+`","content":"K`+n+`"}]}`)
	}
	add("u", "user", `"message":{"role":"user","content":"q"}`)
	for i := range 1 + rnd.Intn(6) {
		n := strconv.Itoa(i)
		switch rnd.Intn(4) {
		case 0:
			add("u"+n, "user", `"message":{"role":"user","content":"q`+n+`"}`)
		case 1:
			add("t"+n, "assistant", `"message":{"id":"m`+n+`","role":"assistant","content":[{"type":"thinking","thinking":"R`+n+`","signature":"x"}]}`)
			add("a"+n, "assistant", `"message":{"id":"m`+n+`","role":"assistant","content":[{"type":"text","text":"A`+n+`"}]}`)
		default:
			add("r"+n, "assistant", `"message":{"id":"m`+n+`","role":"assistant","content":[{"type":"tool_use","id":"c`+n+`","name":"ls","input":{}}]}`)
			for k := range rnd.Intn(4) {
				result("s"+n+"x"+strconv.Itoa(k), n)
			}
		}
	}
	from := rnd.Intn(len(ids))
	to := from + rnd.Intn(len(ids)-from)
	if rnd.Intn(3) == 0 {
		to = len(ids) - 1
	}
	kept = ids[from : to+1]
	last, list := parent, ""
	if rnd.Intn(2) == 0 {
		list = `,"preservedMessages":{"anchorUuid":"s","uuids":["` + strings.Join(kept, `","`) + `"]}`
	}
	parent = "null"
	add("b", "system", `"subtype":"compact_boundary","logicalParentUuid":`+last+`,"compactMetadata":{"trigger":"auto","preservedSegment":{"headUuid":"`+
		ids[from]+`","anchorUuid":"s","tailUuid":"`+ids[to]+`"}`+list+`}`)
	add("s", "user", `"isCompactSummary":true,"message":{"role":"user","content":"summary"}`)
	add("z", "user", `"message":{"role":"user","content":"go on"}`)
	return b.String(), kept
}
