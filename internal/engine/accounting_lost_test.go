package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// A mark is one occurrence of a marked text in a tree.
type mark struct {
	text    string
	speaker string
	ofCall  bool   // in a call or a result
	key     string // of the value that contains it
	thing   *tree  // the message, call or result that contains it
	element *tree  // the line, or the element of the outermost list
}

// roleKeys are the keys that give the speaker, in order of preference.
var roleKeys = []string{"role", "Role", "_role", "author", "sender", "type", "kind"}

// speaks returns the speaker of an object, as a role and a name; "" if it has none.
func speaks(t *tree) string {
	if t.kind != '{' {
		return ""
	}
	for _, key := range roleKeys {
		role := ""
		switch v := t.get(key); {
		case v == nil:
			continue
		case v.kind == '{':
			role = cmp.Or(v.str("role"), v.str("label"), v.str("Label"), v.str("value"))
		default:
			role = t.str(key)
		}
		switch strings.ToLower(role) {
		case "user", "human", "humanmessage", "request":
			role = "user"
		case "assistant", "ai", "model", "gpt", "agent", "aimessage", "response":
			role = "assistant"
		case "system", "developer", "systemmessage":
			role = "system"
		case "tool", "function", "toolmessage":
			role = "tool"
		default:
			continue
		}
		return role + " " + t.str("name")
	}
	return ""
}

// marksIn returns the marks of a text in order, as encoding/json reads it. read says what is
// a message, a call or a result; without it the usual keys decide.
func marksIn(records []*tree, read *things) (out []mark) {
	var walk func(t *tree, key string, m mark)
	note := func(raw string, m mark) {
		text, is := unquoted(raw)
		if !is {
			text = raw
		}
		for _, found := range marker.FindAllString(text, -1) {
			m.text = found
			out = append(out, m)
		}
	}
	walk = func(t *tree, key string, m mark) {
		m.key = key
		if t.kind == 0 {
			note(t.raw, m)
			return
		}
		role, call := read.at(t)
		speaker, call := cmp.Or(speaks(t), role), call || callish(t)
		m.speaker = cmp.Or(speaker, m.speaker)
		m.ofCall = m.ofCall || call || speaker != "" && callsAlone(t)
		if m.thing == nil || speaker != "" || call {
			m.thing = t
		}
		for i, k := range t.kids {
			in := m
			if t.kind == '{' {
				note(t.keys[i], m)
				key = plainKey(t.keys[i])
				in.ofCall = in.ofCall || ofTool(key)
			} else if k.kind == '{' {
				if in.element == nil {
					in.element = k
				}
				if ofTool(key) { // a list of calls
					in.thing = k
				}
			}
			walk(k, key, in)
		}
	}
	for _, r := range records {
		m := mark{}
		if len(records) > 1 && r.get("$set") == nil { // which holds messages that later records take the place of
			m.element = r
		}
		walk(r, "", m)
	}
	return out
}

// callsAlone reports whether a message holds only calls or results. Then they have no speaker
// of their own.
func callsAlone(t *tree) bool {
	calls, says := false, false
	t.each(func(_ []*tree, t *tree) {
		calls = calls || callish(t)
		says = says || t.kind == 0 && saidMark.MatchString(t.raw)
	})
	return calls && !says
}

// saidMark finds the marks in the texts of messages.
var saidMark = regexp.MustCompile(`M\d{6}z`)

// holds reports whether a contains everything in b, except for removed elements of lists. The
// own id, the parent and the time of a message or a record do not count, nor those of a call
// or result that names its call by another field.
func holds(a, b *tree, went func(*tree) bool) bool {
	own := b.get("role") != nil || b.get("message") != nil || b.get("uuid") != nil || namesCall(b)
	if a.kind != b.kind || a.kind == 0 && a.raw != b.raw {
		return false
	}
	if a.kind == '[' {
		left := func(t *tree) []*tree { return slices.DeleteFunc(slices.Clone(t.kids), went) }
		return slices.EqualFunc(left(a), left(b), func(a, b *tree) bool { return holds(a, b, went) })
	}
	for i, k := range b.kids {
		if own && slices.Contains(ownKeys, b.keys[i]) {
			continue
		}
		if at := slices.Index(a.keys, b.keys[i]); at < 0 || !holds(a.kids[at], k, went) {
			return false
		}
	}
	return true
}

// namesCall reports whether an object names a call by a field other than its id.
func namesCall(t *tree) bool {
	return slices.ContainsFunc(resultIDs, func(key string) bool { return t.get(key) != nil })
}

// ownKeys are the keys in which copies of a message or a record may differ.
var ownKeys = []string{`"id"`, `"uuid"`, `"parentUuid"`, `"parentId"`, `"timestamp"`}

func countMarks(marks []mark) map[string]int {
	out := map[string]int{}
	for _, m := range marks {
		out[m.text]++
	}
	return out
}

// tails returns the text after each mark as it is written, because escapes must not change.
// The number of backslashes depends on whether the text is in JSON inside a string.
func tails(text []byte) map[string][]string {
	out := map[string][]string{}
	for _, at := range marker.FindAllIndex(text, -1) {
		var tail strings.Builder
		rest := text[at[1]:]
		for i := 0; i < len(rest); i++ {
			c := rest[i]
			if c == '\\' {
				k := i
				for k < len(rest) && rest[k] == '\\' {
					k++
				}
				if k == len(rest) || rest[k] != 'u' && rest[k] != '/' {
					break
				}
				i = k - 1
				tail.WriteByte('\\')
				continue
			}
			if c == '"' || c <= ' ' || c == ',' || c == '}' || c == ']' {
				break
			}
			tail.WriteByte(c)
		}
		m := string(text[at[0]:at[1]])
		out[m] = append(out[m], tail.String())
	}
	return out
}

// resultIDs are the keys by which a result names its call.
var resultIDs = []string{"tool_use_id", "tool_call_id", "toolUseId", "toolCallId", "call_id", "callId", "callID"}

// answers returns, for each id of a call, the results that name it, in order. Each result is
// given by a mark that occurs nowhere else.
func answers(records []*tree, count map[string]int) map[string][]string {
	out := map[string][]string{}
	for _, r := range records {
		r.each(func(way []*tree, t *tree) {
			id, ok := answerTo(way, t)
			if !ok {
				return
			}
			for _, m := range marksIn([]*tree{t}, nil) {
				if count[m.text] == 1 {
					out[id] = append(out[id], m.text)
					return
				}
			}
		})
	}
	return out
}

// answerTo returns the id of the call that an object is a result of, and false if it is not a
// result.
func answerTo(way []*tree, t *tree) (id string, ok bool) {
	for _, key := range resultIDs {
		v := t.get(key)
		if v == nil || len(v.raw) < 3 || v.raw[0] != '"' || v.raw == `"null"` {
			continue
		}
		what := t.str("type") + t.str("role") + t.str("kind")
		if len(way) > 0 {
			up := way[len(way)-1]
			if i := slices.Index(up.kids, t); up.kind == '{' {
				what += up.keys[i]
			}
		}
		what = strings.ToLower(what)
		if strings.HasSuffix(what, "_tool_result") {
			return "", false // of a server's tool
		}
		if strings.Contains(what, "result") || strings.Contains(what, "output") || strings.Contains(what, "response") || what == "tool" {
			return v.raw, true
		}
	}
	return "", false
}

// A misdeed is a fault of a repair: its kind and what it affects.
type misdeed struct{ kind, what string }

// added returns the marks of a result, without those that a repair may repeat: the time that
// a placeholder's record copies from the record of its call, and a message that is written again
// to replace an earlier one.
func added(marks []mark, folding bool) (out []mark) {
	last := map[string]*tree{}
	for _, m := range marks {
		if m.element != nil && m.element.str("id") != "" {
			last[m.element.str("id")] = m.element
		}
	}
	for _, m := range marks {
		if m.element == nil {
			out = append(out, m)
			continue
		}
		timed := (m.key == "timestamp" || m.key == "created") && m.element.get(m.key) != nil
		if timed && strings.Contains(oneLine.text(m.element), "[toolguard] No result") {
			continue
		}
		if l := last[m.element.str("id")]; folding && l != nil && l != m.element {
			continue
		}
		out = append(out, m)
	}
	return out
}

// gone returns the marks that were lost, and how often. Marks of a message, a call or a
// result that another one contains do not count, after the elements that repairs name are
// removed.
func gone(before, after []mark, named []source.Span) (out []mark, times map[string]int) {
	went := func(t *tree) bool {
		return slices.ContainsFunc(named, func(s source.Span) bool { return int(s.Start) <= t.start && t.end <= int(s.End) })
	}
	is, was := countMarks(after), countMarks(before)
	times = map[string]int{}
	for text, n := range was {
		if is[text] < n {
			times[text] = n - is[text]
		}
	}
	in := map[string][]*tree{} // the things that a mark stands in
	for _, m := range before {
		if times[m.text] > 0 && is[m.text] > 0 {
			in[m.text] = append(in[m.text], m.thing)
		}
	}
	for text, things := range in {
		var copies []*tree
		for i, t := range things {
			other := func(o *tree) bool { return o != t && !slices.Contains(copies, o) && holds(o, t, went) }
			if slices.Contains(copies, t) || slices.ContainsFunc(things[:i], other) || slices.ContainsFunc(things[i:], other) {
				copies = append(copies, t)
			}
		}
		times[text] -= len(copies)
	}
	for _, m := range before {
		if times[m.text] > 0 && !slices.ContainsFunc(out, func(o mark) bool { return o.text == m.text }) {
			out = append(out, m)
		}
	}
	return out, times
}

// attempted repairs a text. An error is a misdeed, unless the text is only checked.
func attempted(text []byte, opts FixOptions) (out []byte, f *Fixed, bad []misdeed) {
	out, f, err := repaired(text, opts)
	if checkedOnly(err) {
		return text, nil, nil
	}
	if err != nil {
		kind := "refused"
		if errors.As(err, new(*panicError)) {
			kind = "panic"
		}
		return nil, nil, []misdeed{{kind, err.Error()}}
	}
	return out, f, nil
}

// misaccounted repairs a text and returns the faults in the account of its marks, nil if
// there are none.
func misaccounted(text []byte, opts FixOptions) (bad []misdeed, out []byte, f *Fixed) {
	out, f, bad = attempted(text, opts)
	if bad != nil || f == nil || !f.Changed() {
		return bad, out, f
	}
	fault := func(kind, format string, args ...any) { bad = append(bad, misdeed{kind, fmt.Sprintf(format, args...)}) }
	recordsBefore, recordsAfter := parseRecords(text), parseRecords(out)
	if recordsAfter == nil {
		fault("not JSON", "the result cannot be read")
		return bad, out, f
	}
	before, after := marksIn(recordsBefore, thingsIn(text, f)), marksIn(recordsAfter, thingsIn(out, f))
	lost, _ := gone(before, after, nil)
	for _, m := range lost {
		fault("lost", "%s, said by %q, in %s", m.text, m.speaker, m.key)
	}
	was, is := countMarks(before), countMarks(after)
	placed := countMarks(added(after, folds(f.Before.File.Dialect)))
	for _, m := range slices.Sorted(maps.Keys(is)) {
		if is[m] > was[m] && placed[m] > was[m] {
			fault("doubled", "%s is there %d times, and was %d times", m, is[m], was[m])
		}
	}
	speakers := func(marks []mark) map[string]map[string]bool {
		out := map[string]map[string]bool{}
		for _, m := range marks {
			if m.ofCall {
				continue
			}
			if out[m.text] == nil {
				out[m.text] = map[string]bool{}
			}
			out[m.text][m.speaker] = true
		}
		return out
	}
	spoke, speak := speakers(before), speakers(after)
	for _, m := range slices.Sorted(maps.Keys(speak)) {
		for who := range speak[m] {
			if who == "" && len(speak[m]) > 1 {
				continue // of a record that is read no more nobody is known, and the one in its place is looked at
			}
			if spoke[m] != nil && !spoke[m][who] && !spoke[m][""] {
				fault("speaker", "%s was said by %v, and is by %v", m, slices.Sorted(maps.Keys(spoke[m])), slices.Sorted(maps.Keys(speak[m])))
				break
			}
		}
	}
	place := map[string]int{}
	for i, m := range after {
		place[m.text] = i
	}
	answered := answers(recordsBefore, was)
	for _, id := range slices.Sorted(maps.Keys(answered)) {
		last := ""
		for _, m := range answered[id] {
			if is[m] != 1 {
				continue
			}
			if last != "" && place[m] < place[last] {
				fault("order", "of the results of %s, %s comes before %s", id, m, last)
			}
			last = m
		}
	}
	wrote, write := tails(text), tails(out)
	for _, m := range slices.Sorted(maps.Keys(write)) {
		for _, tail := range write[m] {
			if wrote[m] != nil && !slices.Contains(wrote[m], tail) {
				fault("spelling", "%s goes on with %q, and did with %q", m, tail, wrote[m])
				break
			}
		}
	}
	if n := replaced(out) - replaced(text); n > 0 {
		fault("spelling", "%d characters are replaced by U+FFFD", n)
	}
	if s := rewritten(text, out, recordsBefore, f); s != "" {
		fault("bytes", "%s", s)
	}
	switch again, f, err := repaired(out, opts); {
	case err != nil:
		fault("unsettled", "the second time: %v", err)
	case f.Changed():
		fault("unsettled", "it is changed again, by %+v, to %s", f.Repairs, again)
	}
	return bad, out, f
}

// replaced counts the replacement characters.
func replaced(text []byte) int {
	return bytes.Count(text, []byte("\ufffd")) + bytes.Count(text, []byte(`\ufffd`))
}

// rewritten looks for elements without an edit whose bytes differ in the result.
func rewritten(text, out []byte, records []*tree, f *Fixed) (bad string) {
	edits := f.Pieces.Edits()
	look := func(t *tree) {
		for _, e := range edits {
			if int(e.Span.Start) < t.end && int(e.Span.End) > t.start {
				return
			}
		}
		if bad == "" && !bytes.Contains(out, text[t.start:t.end]) {
			bad = fmt.Sprintf("no edit lies in %s, and it is not there any more", text[t.start:t.end])
		}
	}
	for _, r := range records {
		if len(records) > 1 {
			look(r)
		}
		r.each(func(way []*tree, t *tree) {
			if t.kind == '{' && len(way) > 0 && way[len(way)-1].kind == '[' {
				look(t)
			}
		})
	}
	return bad
}

// shrink returns the smallest text it finds that still fails.
func shrink(text []byte, fails func([]byte) bool) []byte {
	if records := parseRecords(text); records != nil {
		var lines []string
		for _, r := range records {
			lines = append(lines, oneLine.text(r))
		}
		if short := []byte(strings.Join(lines, "\n")); fails(short) {
			text = short
		}
	}
	tries := 300
	for smaller := true; smaller && tries > 0; {
		smaller = false
		for _, c := range cuts(text) {
			if tries--; tries <= 0 {
				break
			}
			if fails(c) {
				text, smaller = c, true
				break
			}
		}
	}
	return text
}

// A ledger collects faults by kind, and keeps the smallest inputs of each kind.
type ledger struct {
	n     map[string]int
	least map[string][]*ledgerEntry
}

type ledgerEntry struct {
	text    []byte
	where   string
	set     markedSet
	dialect string
	from    string // the fixture, "" for none
}

func (l *ledger) note(kind string, e *ledgerEntry) {
	if l.n == nil {
		l.n, l.least = map[string]int{}, map[string][]*ledgerEntry{}
	}
	most := 2
	if sample.Long() {
		most = 60
	}
	l.n[kind]++
	kept := slices.Concat(l.least[kind], []*ledgerEntry{e})
	slices.SortStableFunc(kept, func(a, b *ledgerEntry) int { return cmp.Compare(len(a.text), len(b.text)) })
	l.least[kind] = kept[:min(len(kept), most)]
}

// report fails the test with the smallest input of each kind, and of each way in which it was
// repaired.
func (l *ledger) report(t *testing.T, look func(*ledgerEntry, []byte) ([]misdeed, []byte, *Fixed)) {
	t.Helper()
	for _, kind := range slices.Sorted(maps.Keys(l.n)) {
		least := map[string][]byte{}
		told := map[string]string{}
		for _, e := range l.least[kind] {
			find := func(text []byte) (what, by string, out []byte) {
				bad, out, f := look(e, text)
				i := slices.IndexFunc(bad, func(b misdeed) bool { return b.kind == kind })
				if i < 0 {
					return "", "", nil
				}
				return bad[i].what, repairsOf(f), out
			}
			text := shrink(e.text, func(text []byte) bool { s, _, _ := find(text); return s != "" })
			what, by, out := find(text)
			if least[by] == nil || len(text) < len(least[by]) {
				least[by] = text
				told[by] = fmt.Sprintf("%s, %s, %s: %s%s: %s\n%s\n%s", e.dialect, e.where, e.set.name, kind, by, what, text, out)
			}
		}
		t.Errorf("%s: %d times", kind, l.n[kind])
		for _, by := range slices.Sorted(maps.Keys(told)) {
			t.Error(told[by])
		}
	}
}

// repairsOf lists the rules whose findings were repaired.
func repairsOf(f *Fixed) string {
	if f == nil || len(f.Repairs) == 0 {
		return ""
	}
	var names []string
	for _, r := range f.Repairs {
		names = append(names, r.Rule)
	}
	slices.Sort(names)
	return " by " + strings.Join(slices.Compact(names), ", ")
}

// markedSeed is the seed of the histories.
func markedSeed() uint64 { return sample.Seed(23) }

// eachHistory generates n histories of a dialect for each set of options and calls f with
// each. It reports whether there was time for all of them.
func eachHistory(t *testing.T, d *dialect.Dialect, of []fixture, sets []markedSet, n int, f func(text []byte, where string, set markedSet)) (all bool) {
	t.Helper()
	var sources []fixture
	for _, in := range of {
		if len(in.text) < 20_000 && parseRecords(in.text) != nil {
			sources = append(sources, in)
		}
	}
	shape := slices.IndexFunc(apiShapes, func(a apiShape) bool { return a.dialect == d.Name })
	if len(sources) == 0 {
		t.Fatalf("no fixtures of %s", d.Name)
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(d.Name))
	seed := markedSeed()
	done := sample.Until(t)
	ran := 0
	for i := range n * len(sets) {
		if done() {
			t.Logf("stopped after %d of %d histories", i, n*len(sets))
			return false
		}
		s := scribeOf(seed, h.Sum64()+uint64(i))
		where := fmt.Sprintf("seed %d, history %d", seed, i)
		var text []byte
		if shape >= 0 && s.odds(.5) {
			a := &apiShapes[shape]
			text = []byte(oneOf(s, layouts...).text(a.make(s)))
		} else {
			in := sources[s.IntN(len(sources))]
			text = s.history(in)
			where += " of " + in.name
		}
		if text == nil {
			continue
		}
		set := sets[i%len(sets)]
		rep, err := checked(text, set.opts.Options)
		if err == nil && (rep.Skipped != "" || rep.File.Dialect != d.Name) {
			set.opts.Dialect = d
			set.name += ", --from"
		}
		ran++
		f(text, where, set)
	}
	if ran < n*len(sets)/2 {
		t.Errorf("only in %d of %d histories made of fixtures anything could be marked: what a call is given or gives is found by the model, what is said by %v", ran, n*len(sets), textFields)
	}
	return true
}

// TestNothingIsLost repairs histories full of texts that occur once. Every recorded text must
// still occur exactly once, with the same speaker and the same bytes.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	eachDialect(t, keepingSets(), sample.Inputs(60, 1, 1), misaccounted)
}

// eachDialect repairs n histories of each dialect with each set of options, and fails with
// the smallest input of each kind of fault.
func eachDialect(t *testing.T, sets []markedSet, n int, look func([]byte, FixOptions) ([]misdeed, []byte, *Fixed)) {
	t.Helper()
	of := fixturesOf(t)
	for _, d := range repairedDialects() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			var l ledger
			ran, changed, refused := 0, 0, 0
			all := eachHistory(t, d, of[d.Name], sets, n, func(text []byte, where string, set markedSet) {
				bad, _, f := look(text, set.opts)
				ran++
				if f != nil && f.Changed() {
					changed++
				}
				for i, b := range bad {
					if b.kind == "refused" {
						refused++
						t.Logf("%s, %s: %s\n%s", where, set.name, b.what, text)
					} else if !slices.ContainsFunc(bad[:i], func(o misdeed) bool { return o.kind == b.kind }) {
						l.note(b.kind, &ledgerEntry{text, where, set, d.Name, ""})
					}
				}
			})
			t.Logf("%d histories, %d changed, %d refused", ran, changed, refused)
			if changed == 0 && all {
				t.Errorf("of %d histories none is changed", ran)
			}
			if refused > 1+ran/100 {
				t.Errorf("%d of %d histories are refused", refused, ran)
			}
			l.report(t, func(e *ledgerEntry, text []byte) ([]misdeed, []byte, *Fixed) { return look(text, e.set.opts) })
		})
	}
}

// unsafeSets are the sets of options that allow unsafe repairs.
func unsafeSets() []markedSet {
	sets := []markedSet{
		{"unsafe", FixOptions{Unsafe: true}},
		{"unsafe, send", FixOptions{Options: Options{Send: true}, Unsafe: true}},
	}
	for _, name := range []string{"vllm", "bedrock", "anthropic", "gemini"} {
		sets = append(sets, markedSet{"unsafe, send, target " + name, FixOptions{
			Options: Options{Send: true, Target: profile.ByName(name)}, Unsafe: true,
		}})
	}
	return sets
}

// unnamed repairs a text with unsafe repairs and returns the lost marks that no repair names.
func unnamed(text []byte, opts FixOptions) (bad []misdeed, out []byte, f *Fixed) {
	out, f, bad = attempted(text, opts)
	if bad != nil || f == nil || !f.Changed() {
		return bad, out, f
	}
	recordsBefore, recordsAfter := parseRecords(text), parseRecords(out)
	if recordsAfter == nil && len(bytes.TrimSpace(out)) > 0 {
		return []misdeed{{"not JSON", "the result cannot be read"}}, out, f
	}
	before, after := marksIn(recordsBefore, thingsIn(text, f)), marksIn(recordsAfter, thingsIn(out, f))
	var dropped []source.Span
	for _, r := range f.Repairs {
		dropped = append(dropped, r.Dropped...)
	}
	lost, times := gone(before, after, dropped)
	named := map[string]int{}
	for _, at := range marker.FindAllIndex(text, -1) {
		if slices.ContainsFunc(dropped, func(s source.Span) bool { return int(s.Start) <= at[0] && at[1] <= int(s.End) }) {
			named[string(text[at[0]:at[1]])]++
		}
	}
	for _, m := range lost {
		if named[m.text] < times[m.text] {
			bad = append(bad, misdeed{"not named", fmt.Sprintf("%s, said by %q, in %s, is gone, and only %+v", m.text, m.speaker, m.key, f.Repairs)})
		}
	}
	was, is := countMarks(before), countMarks(after)
	placed := countMarks(added(after, folds(f.Before.File.Dialect)))
	for _, m := range slices.Sorted(maps.Keys(is)) {
		if is[m] > was[m] && placed[m] > was[m] {
			bad = append(bad, misdeed{"doubled", fmt.Sprintf("%s is there %d times, and was %d times", m, is[m], was[m])})
		}
	}
	switch again, f, err := repaired(out, opts); {
	case err != nil:
		bad = append(bad, misdeed{"unsettled", fmt.Sprintf("the second time: %v", err)})
	case f.Changed():
		bad = append(bad, misdeed{"unsettled", fmt.Sprintf("it is changed again, by %+v, to %s", f.Repairs, again)})
	}
	return bad, out, f
}

// TestUnsafeTakesWhatItNames: unsafe repairs name each element that they remove, at its
// original place.
func TestUnsafeTakesWhatItNames(t *testing.T) {
	t.Parallel()
	eachDialect(t, unsafeSets(), sample.Inputs(50, 1, 1), unnamed)
}
