package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// A mangler breaks transcripts as agents, crashes and compactions do.
type mangler struct{ *rand.Rand }

func (m mangler) at(list []string) int { return m.IntN(len(list)) }

// id returns where an id of an element stands, and false for none.
func (m mangler) id(ids *regexp.Regexp, e string) (lo, hi int, ok bool) {
	if ids == nil {
		return 0, 0, false
	}
	all := ids.FindAllStringSubmatchIndex(e, -1)
	if len(all) == 0 {
		return 0, 0, false
	}
	at := all[m.IntN(len(all))]
	return at[4], at[5], true
}

// mangle breaks the list in one way. ids finds ids in its elements.
func (m mangler) mangle(list []string, ids *regexp.Regexp) []string {
	if len(list) == 0 {
		return list
	}
	i := m.at(list)
	switch m.IntN(16) {
	case 0: // drop
		return slices.Delete(list, i, i+1)
	case 1: // duplicate, beside it or elsewhere
		return slices.Insert(list, []int{i + 1, m.IntN(len(list) + 1)}[m.IntN(2)], list[i])
	case 2, 3: // move
		e := list[i]
		list = slices.Delete(list, i, i+1)
		return slices.Insert(list, m.IntN(len(list)+1), e)
	case 4, 5: // another id on one side
		if lo, hi, ok := m.id(ids, list[i]); ok {
			id := []string{`"other"`, `""`, `null`, `"null"`, `" x "`, `7`, `"call 1"`, `"` + strings.Repeat("l", 70) + `"`}[m.IntN(8)]
			list[i] = list[i][:lo] + id + list[i][hi:]
		}
	case 6: // the id of another
		lo, hi, ok := m.id(ids, list[i])
		k := m.at(list)
		lo2, hi2, ok2 := m.id(ids, list[k])
		if ok && ok2 {
			list[i] = list[i][:lo] + list[k][lo2:hi2] + list[i][hi:]
		}
	case 7: // one id for all
		for k := range list {
			if ids != nil {
				list[k] = ids.ReplaceAllString(list[k], `"$1":"same"`)
			}
		}
	case 8: // wedge
		e := []string{`{"role":"user","content":"wedged"}`, `{"role":"assistant","content":"wedged"}`, `{"role":"user","content":[{"type":"text","text":"wedged"}]}`}[m.IntN(3)]
		return slices.Insert(list, m.IntN(len(list)+1), e)
	case 9: // cut the head
		return list[i:]
	case 10: // cut the tail
		return list[:i+1]
	case 11: // split a message in two
		if p, ok := inner(list[i]); ok && len(p) > 1 {
			e, k := list[i], 1+m.IntN(len(p)-1)
			list[i] = e[:p[k-1].end] + e[p[len(p)-1].end:]
			return slices.Insert(list, i+1, e[:p[0].start]+e[p[k].start:])
		}
	case 12, 13: // move or copy a block into another message
		k := m.at(list)
		from, ok := inner(list[i])
		to, ok2 := inner(list[k])
		if ok && ok2 {
			b, n := from[m.IntN(len(from))], m.IntN(len(to))
			list[k] = list[k][:to[n].start] + list[i][b.start:b.end] + "," + list[k][to[n].start:]
		}
	case 14: // take a block out
		if p, ok := inner(list[i]); ok && len(p) > 1 {
			k := m.IntN(len(p) - 1)
			list[i] = list[i][:p[k].start] + list[i][p[k+1].start:]
		}
	case 15: // swap
		k := m.at(list)
		list[i], list[k] = list[k], list[i]
	}
	return list
}

// A talk is a conversation that is written in one dialect.
type talk struct {
	name  string
	lines bool
	list  []string
}

// talks writes a random conversation in each dialect.
func (m mangler) talks() []talk {
	chat, blocks, items, log := []string{}, []string{}, []string{}, []string{}
	say := func(role, text string) {
		chat = append(chat, fmt.Sprintf(`{"role":%q,"content":%q}`, role, text))
		blocks = append(blocks, fmt.Sprintf(`{"role":%q,"content":%q}`, role, text))
		items = append(items, fmt.Sprintf(`{"type":"message","role":%q,"content":%q}`, role, text))
	}
	last, n := "null", 0
	record := func(typ, parent, more, message string) string {
		n++
		id := fmt.Sprintf(`"00000000-0000-4000-8000-%012d"`, n)
		log = append(log, fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/w","sessionId":"s","version":"2","gitBranch":"g","type":%q,%s"message":%s,"uuid":%s,"timestamp":"2026-02-08T17:%02d:%02d.000Z"}`, parent, typ, more, message, id, n/60%60, n%60))
		return id
	}
	for turn := range 1 + m.IntN(4) {
		text := fmt.Sprintf("question %d", turn)
		say("user", text)
		last = record("user", last, "", fmt.Sprintf(`{"role":"user","content":%q}`, text))
		calls := m.IntN(4)
		var cc, cb, rb []string
		for k := range calls {
			id := fmt.Sprintf("c%d_%d", turn, k)
			if m.IntN(6) == 0 {
				id = fmt.Sprintf("c%d", k)
			}
			cc = append(cc, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"f","arguments":"{}"}}`, id))
			cb = append(cb, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"f","input":{}}`, id))
			rb = append(rb, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":"result %d %d"}`, id, turn, k))
			items = append(items, fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":"f","arguments":"{}"}`, id))
		}
		if calls == 0 {
			say("assistant", "answer")
			last = record("assistant", last, "", fmt.Sprintf(`{"id":"m%d","role":"assistant","content":[{"type":"text","text":"answer"}]}`, turn))
			continue
		}
		chat = append(chat, `{"role":"assistant","content":null,"tool_calls":[`+strings.Join(cc, ",")+`]}`)
		blocks = append(blocks, `{"role":"assistant","content":[`+strings.Join(cb, ",")+`]}`, `{"role":"user","content":[`+strings.Join(rb, ",")+`]}`)
		var of []string
		for k := range calls {
			last = record("assistant", last, `"requestId":"r",`, fmt.Sprintf(`{"id":"m%d","role":"assistant","content":[%s]}`, turn, cb[k]))
			of = append(of, last)
		}
		for k := range calls {
			id := strings.TrimSuffix(strings.SplitN(rb[k], `"tool_use_id":`, 2)[1], "}")
			id, _, _ = strings.Cut(id, ",")
			chat = append(chat, fmt.Sprintf(`{"role":"tool","tool_call_id":%s,"content":"result %d %d"}`, id, turn, k))
			items = append(items, fmt.Sprintf(`{"type":"function_call_output","call_id":%s,"output":"result %d %d"}`, id, turn, k))
			last = record("user", of[k], `"toolUseResult":{"out":"x"},"sourceToolAssistantUUID":`+of[k]+`,`, `{"role":"user","content":[`+rb[k]+`]}`)
		}
	}
	say("user", "and?")
	record("user", last, "", `{"role":"user","content":"and?"}`)
	return []talk{{"chat", false, chat}, {"blocks", false, blocks}, {"items", false, items}, {"log", true, log}}
}

// TestFixMutants breaks fixtures, worked cases and generated conversations, and repairs them.
func TestFixMutants(t *testing.T) {
	t.Parallel()
	seed := sample.Seed(8)
	m := mangler{rand.New(rand.NewPCG(seed, 11))}
	var sources []fixture
	for _, in := range append(fixtures(t), caseInputs(t)...) {
		if _, ok := dissect(in.text); ok && len(in.text) < 20_000 {
			sources = append(sources, in)
		}
	}
	want := sample.Inputs(6_000, 120, 100)
	sources = sampled(t, 10, sources)
	basic, all := basicSets(), allSets()
	n, repaired, held, usual := 0, 0, 0, 0
	kinds := map[string]int{}
	try := func(m mangler, name string, d dissected) {
		for range 1 + m.IntN(3) {
			d.list = m.mangle(slices.Clone(d.list), d.ids)
		}
		text := d.text()
		sets := []fixSet{basic[m.IntN(len(basic))], all[m.IntN(len(all))]}
		n++
		for k, set := range sets {
			s, out, f := misfixed(name, text, set.opts)
			if s != "" {
				t.Errorf("%s, %s: %s\n%s\n%s", name, set.name, s, compactly(text), compactly(out))
			}
			if f == nil {
				continue
			}
			if why := withheld(f); why != "" {
				held++
				t.Logf("%s, %s: %s\n%s", name, set.name, why, compactly(text))
				if k == 0 { // for the provider that the history is written for, as is usual
					usual++
				}
			}
			if f.Changed() {
				repaired++
			}
			for _, r := range f.Repairs {
				kinds[string(r.Kind)]++
			}
		}
	}
	done := sample.Until(t)
	for round := 0; n < want && !done(); round++ {
		for _, in := range sources {
			d, _ := dissect(in.text)
			// What becomes of a source does not depend on which others there are.
			h := fnv.New64a()
			_, _ = h.Write([]byte(in.name))
			own := mangler{rand.New(rand.NewPCG(seed, h.Sum64()+uint64(round)))}
			try(own, in.name, d)
		}
		for range 20 {
			for _, k := range m.talks() {
				d := dissected{head: "[", sep: ",", tail: "]", list: k.list}
				if k.lines || m.IntN(3) == 0 {
					d = dissected{sep: "\n", tail: "\n", list: k.list}
				} else if m.IntN(2) == 0 {
					d = dissected{head: "{\n  \"messages\": [\n    ", sep: ",\n    ", tail: "\n  ]\n}\n", list: k.list}
				}
				d.ids = anatomyOf(d.text(), nil).ids()
				try(m, k.name, d)
			}
		}
	}
	t.Logf("%d mutants, %d repaired, %d held back; %v", n, repaired, held, kinds)
	// Withheld repairs lose nothing, but they do not help either. One or two happen in every
	// few hundred.
	if held > max(3, n/500) || usual > max(1, n/1000) {
		t.Errorf("%d of %d held back, %d of them with usual options", held, n, usual)
	}
}

// withheld says why a repair was withheld, "" where none was but such as would
// have left nothing.
func withheld(f *Fixed) string {
	for f := range f.After.Findings.All() {
		if why := f.Unfixed; strings.HasPrefix(why, "not applied") && !strings.Contains(why, "make the transcript unreadable: no messages found") {
			return why
		}
	}
	return ""
}

// fuzzSet derives options from a number.
func fuzzSet(bits uint16) FixOptions {
	o := FixOptions{SafeOnly: bits&3 == 1, Unsafe: bits&3 >= 2, Options: Options{Send: bits&4 != 0}}
	if p := profile.All(); bits>>3&3 > 0 {
		o.Target = p[int(bits>>3&3-1)%len(p)]
	}
	if strategies := strategySets(); bits>>5 > 0 {
		o.Strategy = strategies[int(bits>>5-1)%len(strategies)].opts.Strategy
	}
	return o
}

func FuzzFix(f *testing.F) {
	bits := uint16(0)
	add := func(text []byte) {
		f.Add(text, bits&7)
		f.Add(text, bits)
		bits = bits*31 + 7
	}
	for _, in := range sampled(f, 10, append(fixtures(f), caseInputs(f)...)) {
		add(in.text)
	}
	for i, b := range brokens { // TestFixLayouts writes each in every way
		add([]byte(writings[i%len(writings)].write(b)))
	}
	for _, text := range traps() {
		if len(text) < 10_000 {
			add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, bits uint16) {
		if len(text) > 50_000 {
			return
		}
		fault, out, _ := misfixed("fuzz", text, fuzzSet(bits))
		if strings.HasPrefix(fault, refusal+"not repaired: ") {
			return // nothing would be written
		}
		if fault != "" {
			t.Fatalf("%s\n%s\n%s", fault, text, out)
		}
	})
}

// manyMissing returns a transcript with n calls without results, as a log or an array.
func manyMissing(n int, log bool) []byte {
	var b bytes.Buffer
	if !log {
		b.WriteByte('[')
	}
	for i := range n {
		if log {
			parent := "null"
			if i > 0 {
				parent = fmt.Sprintf("u%d", i-1)
			}
			b.WriteString(useLine(fmt.Sprintf("a%d", i), parent, fmt.Sprintf("m%d", i), 1, fmt.Sprintf("t%d", i)))
			b.WriteString(userLine(fmt.Sprintf("u%d", i), fmt.Sprintf("a%d", i), "and?", 2))
			continue
		}
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"role":"assistant","content":null,"tool_calls":[`+loadCall+`]},`+"\n"+loadUser, i)
	}
	if !log {
		b.WriteByte(']')
	}
	return b.Bytes()
}

// BenchmarkFixMany shows that the cost of a repair does not depend on their number: ns/edit
// at 60,000 compared with 6,000.
func BenchmarkFixMany(b *testing.B) {
	for _, log := range []bool{false, true} {
		name := map[bool]string{false: "array", true: "log"}[log]
		cost := map[int]float64{}
		for _, n := range []int{6_000, 60_000} {
			text := manyMissing(n, log)
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					_, f := fixText(b, name, text, FixOptions{})
					if f.After.Findings.Len() > n || !f.Changed() || len(f.Repairs) != n {
						b.Fatalf("%d repairs, %d findings left", len(f.Repairs), f.After.Findings.Len())
					}
				}
				cost[n] = float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(n)
				b.ReportMetric(cost[n], "ns/edit")
				if n == 60_000 && cost[6_000] > 0 {
					b.ReportMetric(cost[n]/cost[6_000], "ratio")
				}
			})
		}
	}
}

// logMissing returns a log of that many calls, of which some have no result.
func logMissing(calls, missing int) []byte {
	var b bytes.Buffer
	parent := "null"
	for i := range calls {
		use, next := fmt.Sprintf("a%d", i), fmt.Sprintf("u%d", i)
		b.WriteString(useLine(use, parent, fmt.Sprintf("m%d", i), 1, fmt.Sprintf("t%d", i)))
		if parent = next; (i+1)*missing/calls > i*missing/calls {
			b.WriteString(userLine(next, use, payload(i, 1000), 2))
		} else {
			text, _ := json.Marshal(payload(i, 1000))
			b.WriteString(strings.ReplaceAll(resultLine(next, use, fmt.Sprintf("t%d", i), 2), `"x"`, string(text)))
		}
	}
	return b.Bytes()
}

// BenchmarkFixSome compares many repairs in a log with few in a log of the same length: the
// ratio of the times, and the additional bytes of heap for each repair.
func BenchmarkFixSome(b *testing.B) {
	const calls, few, many = 60_000, 60, 60_000
	var ns, peak [2]float64
	for i, n := range []int{few, many} {
		text := logMissing(calls, n)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			runtime.GC()
			live := watchHeap()
			for b.Loop() {
				f, err := Settle(b.Context(), source.FromBytes("log", text), FixOptions{})
				if err != nil || len(f.Repairs) != n || f.After.Findings.Len() > 0 {
					b.Fatalf("%v: %d repairs, %d findings left", err, len(f.Repairs), f.After.Findings.Len())
				}
			}
			ns[i], peak[i] = float64(b.Elapsed().Nanoseconds())/float64(b.N), float64(live())
			b.ReportMetric(peak[i]/(1<<20), "peak-MiB")
			if i == 1 && ns[0] > 0 {
				b.ReportMetric(ns[1]/ns[0], "ratio")
				b.ReportMetric((peak[1]-peak[0])/(many-few), "B/repair")
			}
		})
	}
}

// watchHeap watches the live heap. most returns how many bytes it grew at most.
func watchHeap() (most func() uint64) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	first, last := live[0].Value.Uint64(), live[0].Value.Uint64()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(time.Millisecond); ; {
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
				metrics.Read(live)
				last = max(last, live[0].Value.Uint64())
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-stopped
		return last - first
	}
}
