package pairing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/transcript"
)

// script makes a conversation from a short text with messages separated by semicolons:
//
//	u            a user message; U is one that a human typed
//	a            an assistant message
//	a c1 c2:f=2  with calls: an id, a name, arguments that differ
//	a/m c1       the same, as a part of turn m
//	t c1 c2      results in a message with role tool; r for role user
//	r . c1       a text before the result
//	x c1         a result in an assistant message
//	s c1 >c1     the call and the result of a server tool
//	compact      a compaction
//
// The id - is absent. A ! after the kind of message marks it as aborted, and a ~ as a
// replay.
func script(w transcript.Window, text string) *transcript.Conversation {
	m := newMaker(&chooser{}, w)
	for line := range strings.SplitSeq(text, ";") {
		words := strings.Fields(line)
		kind, turn, _ := strings.Cut(words[0], "/")
		if kind == "compact" {
			m.segment++
			continue
		}
		role := map[byte]transcript.Role{
			'u': transcript.RoleUser, 'U': transcript.RoleUser, 'r': transcript.RoleUser, 't': transcript.RoleTool,
			'a': transcript.RoleAssistant, 'x': transcript.RoleAssistant, 's': transcript.RoleAssistant,
		}[kind[0]]
		m.message(role, turn, map[string]transcript.MessageFlags{
			"!": transcript.MessageAborted, "~": transcript.MessageReplay,
		}[kind[1:]])
		if kind == "U" {
			m.Message().Flags |= transcript.MessageTyped
		}
		if len(words) == 1 {
			m.text()
		}
		for _, word := range words[1:] {
			m.word(kind[0], word)
		}
	}
	return m.Conv
}

// word adds a block of a script.
func (m *maker) word(kind byte, word string) {
	if word == "." {
		m.text()
		return
	}
	word, args, _ := strings.Cut(word, "=")
	id, name, _ := strings.Cut(word, ":")
	quote := func(s string) string {
		if s == "" || s == "-" {
			return ""
		}
		return `"` + strings.ReplaceAll(s, "_", " ") + `"`
	}
	switch kind {
	case 's':
		m.server(quote(strings.TrimPrefix(id, ">")), id[0] != '>')
	case 'a':
		m.call(quote(id), quote(name), int64(len(args)))
	default:
		m.result(quote(id), quote(name))
	}
}

// outcome describes the outcome of every call, and of every result that answers none.
func outcome(p Pairing) string {
	states := []string{"", "missing", "pending", "interrupted", "copy", "unclear", "exempt"}
	places := []string{"", " late", " early"}
	var out []string
	for _, x := range p.Calls {
		switch {
		case x.State == Answered:
			s := fmt.Sprint(x.Result, places[x.Place])
			if x.Confidence != Exact {
				s += " " + x.Confidence.String()
			}
			if x.Crosses {
				s += " across"
			}
			out = append(out, s)
		case x.Surplus:
			out = append(out, "unclear surplus")
		default:
			out = append(out, states[x.State])
		}
	}
	fates := []string{"", "duplicate", "orphan", "undecided", "ignored"}
	for i, l := range p.Results {
		if l.Surplus {
			out = append(out, fmt.Sprintf("surplus %d", i))
		} else if l.Fate != Answers {
			out = append(out, fmt.Sprintf("%s %d", fates[l.Fate], i))
		}
	}
	return strings.Join(out, ", ")
}

func TestTable(t *testing.T) {
	const (
		tool = transcript.WindowTool
		user = transcript.WindowUser
		next = transcript.WindowNext
		log  = transcript.WindowLog
	)
	for _, c := range []struct {
		name   string
		window transcript.Window
		script string
		want   string
	}{
		// Sound conversations.
		{"one pair", tool, "u; a c1; t c1", "0"},
		{"two calls, one message", user, "u; a a b; r a b", "0, 1"},
		{"not in call order", user, "u; a a b; r b a", "1, 0"},
		{"behind an assistant message that made no call", tool, "u; a; a A; t A", "0"},
		{"a text before the result", user, "u; a t1; r . t1", "0"},
		{"split over two messages", user, "u; a a b; r a; r b", "0, 1"},
		{"another user message behind the result", user, "u; a s1; r s1; u", "0"},
		{"lines of one message", log, "u; a/m a; a/m b; r a; r b", "0, 1"},
		{"a result between the lines", log, "u; a/m a; r a; a/m b; r b", "0, 1"},
		{"one id in two turns", tool, "u; a c; t c; a c; t c", "0, 1"},
		{"items with others between", next, "a c1; u; t c1", "0"},
		{"a log goes on before the result", log, "U; a c1; U; a; r c1", "0"},
		{"a server tool", user, "u; s c1 >c1; u", "0"},

		// No result.
		{"at the end", tool, "a c2", "pending"},
		{"at the end, another answered", tool, "a c1 c2; t c1", "0, pending"},
		{"an id again, at the end", tool, "a c0; t c0; u; a c0", "0, pending"},
		{"an id again, and a user", tool, "a c0; t c0; u; a c0; u", "0, missing"},
		{"a user spoke", user, "u; a a b; u", "missing, missing"},
		{"the message with results closes the turn", user, "u; a t1 t2; r t1", "0, missing"},
		{"the middle one of three turns", user, "u; a a; r a; a b; u; a c; r c", "0, missing, 1"},
		{"the assistant went on", user, "u; a a; a; u", "missing"},
		{"in the middle", tool, "u; a A; t A; a; u; a B C; t B; u; a D; t D; a", "0, 1, missing, 2"},
		{"aborted", log, "U; a! c1; U", "interrupted"},
		{"aborted in another line of the turn", log, "U; a/m c1; a!/m; U", "interrupted"},
		{"aborted, and answered all the same", tool, "u; a! c1; t c1; u", "0"},
		{"a log is closed by one who types", log, "a c1; U", "missing"},
		{"a log is not closed by what an agent writes", log, "a c1; u", "pending"},
		{"a log is closed by the next turn", log, "a c1; u; a", "missing"},
		{"a result of another turn follows", tool, "a c1; t c1; a c2; t c1", "0, missing, duplicate 1"},
		{"two turns, one at the end", tool, "a c1; a c2", "missing, pending"},

		// No call.
		{"an orphan", tool, "t missing", "orphan 0"},
		{"an orphan and a call", tool, "t ghost; u; a c1; u", "missing, orphan 0"},
		{"other ids", user, "u; a r1 r2; r w1 w2", "missing, missing, orphan 0, orphan 1"},
		{"one right and one wrong", user, "u; a i1 i2; r i1 nope", "0, missing, orphan 1"},
		{"wrong first", user, "u; a a b; r x a", "1, missing, orphan 0"},
		{"across a compaction", log, "a c1; compact; r c1", "pending, orphan 0"},
		{"of a server tool", user, "u; s >c9 .; u", "orphan 0"},
		{"before a server tool's call", user, "u; s >c9 c9; u", "missing, orphan 0"},

		// Results outside the window.
		{"before its call", tool, "t c4; a c4", "0 early"},
		{"before its call, a user between", tool, "t c1; u; a c1; u", "0 early"},
		{"behind a user", tool, "u; a c1; u; t c1; a", "0 late"},
		{"one of two behind a user", tool, "a c1 c2; t c1; u; t c2", "0, 1 late"},
		{"one moved and one missing", tool, "a call_1 call_2; u; t call_2", "missing, 0 late"},
		{"behind the next turn", tool, "a c1; u; a c2; t c1; t c2", "0 late across, 1"},
		{"among the results of the next turn", user, "u; a a; u; a b; r a b", "0 late across, 1"},
		{"behind a turn split up", tool, "a c1; a c2; t c1; t c2", "0 late, 1"},
		{"one of two open calls", tool, "a c0; u; a c0; u; a c9; t c9; t c0", "missing, 1 late nearest across, 0"},
		{"a later call shadows the earlier", tool, "a dup; a dup; t dup", "missing, 0"},
		{"two results, the earlier call is shadowed", tool, "a c0; u; a c0; t c0; t c0", "missing, 0, duplicate 1"},
		{"items: the call before the next one", next, "a c; t c; t c; a c", "0, pending, duplicate 1"},
		{"before several calls of one id", user, "u; r x; a x; u; a x; u", "0 early nearest, missing"},
		{"before several calls of one id, the last has a result", user, "u; r x; a x; u; a x; r x", "0 early, 1"},
		{"before a call of an id, behind an open one", tool, "a x; u; a x; t x; u; t x; a x; u", "missing, 0, 1 early nearest"},
		{"before two calls of an id, and another late", tool, "t x; a x; u; a x; u; t x; u", "0 early nearest, 1 late nearest"},
		{"before a call whose result is late", tool, "t x; u; a x; u; a y; t y; t x; u; a x; u", "2 late across, 1, missing, duplicate 0"},
		{"before two turns in a row", user, "u; r x; a x; a x; u", "0 early nearest, missing"},
		{"late before early", tool, "t x; a x; u; t x", "1 late, duplicate 0"},
		{"between two turns, for the second", tool, "a x; t x; u; t x; a x; u", "0, 1 early"},
		{"between two turns, and one behind the second", tool, "a x; t x; u; t x; a x; u; t x", "0, 2 late, duplicate 1"},
		{"early, but another stands between", tool, "t x; t x; a x", "1 early, duplicate 0"},

		// Second results.
		{"a second result", tool, "a c3; t c3; t c3", "0, duplicate 1"},
		{"a second result for both", tool, "u; a A B; t A; t B; t A; t B; a", "0, 1, duplicate 2, duplicate 3"},
		{"a second result far away", tool, "a c1; t c1; a; t c1", "0, duplicate 1"},
		{"a placeholder and the real one", tool, "a c1; t c1; u; t c1", "0, duplicate 1"},
		{"an orphan among two results", next, "a c1; t orphan; t c1; t c1", "1, orphan 0, duplicate 2"},
		{"an identical call", tool, "a c1 c1; t c1", "0, copy"},
		{"an identical call, nothing answered", tool, "a c1 c1; u", "missing, copy"},
		{"an identical call, both answered", tool, "a c1 c1; t c1; t c1", "0, 1"},
		{"two calls of one id", tool, "a c1 c1=2; t c1; t c1; u", "0, 1"},
		{"two calls of one id, one answered", user, "u; a t1 t1:g; r t1", "0, missing"},
		{"a replay", log, "a c1; a~ c1; r~ c1; r c1", "1, exempt, ignored 0"},
		{"results between calls of one id in one message", user, "a x; x x; u", "0 late"},
		{"an identical call with a late result of its own", tool, "a c1 c1; t c1; u; t c1", "0, 1 late"},
		{"an identical call, one late result", tool, "a c1 c1; u; t c1", "0 late, copy"},
		{"turns in a row use an id again", tool, "u; a x; a x; t x; t x; u", "0 late, 1"},
		{"the same in blocks", user, "u; a x; a x; r x x; u", "0 late, 1"},
		{"the same in blocks, a user between the results", user, "u; a x; a x; r x; u; r x; u", "missing, 0, duplicate 1"},
		{"the same in blocks, a text between the results", user, "u; a x; a x; r x . x; u", "missing, 0, duplicate 1"},
		{"the same in items, a user between the results", next, "u; a x; a x; t x; u; t x; u", "missing, 0, duplicate 1"},
		{"the same in blocks, results of another id between", user, "u; a x y; a x; r x y x; u", "0 late, 1, 2"},
		{"not in a log, where nothing is moved", log, "U; a x; a x; r x; r x; U", "missing, 0, duplicate 1"},
		{"three turns in a row, others between", tool, "u; a x y; a; a x; a x; t x; t y; t x; t x; u", "0 late, 1 late, 2 late, 3"},
		{"turns in a row, one result too many", tool, "u; a x; a x; t x; t x; t x; u", "missing, 0, duplicate 1, duplicate 2"},
		{"turns in a row, one result too few", tool, "u; a x; a x; a x; t x; t x; u", "missing, missing, 0, duplicate 1"},
		{"turns in a row, one result out of the run", tool, "u; a x; a x; t x; u; t x", "missing, 0, duplicate 1"},
		{"a user between two turns", tool, "u; a x; u; a x; t x; t x; u", "missing, 0, duplicate 1"},

		// Ids.
		{"white space", tool, "a _c1_; t c1", "0 trimmed"},
		{"white space, but exact first", tool, "a c1 _c1; t _c1; t c1", "1, 0"},
		{"white space, exact far away", tool, "a c1; t _c1; u; t c1", "1 late, orphan 0"},
		{"no ids", tool, "u; a -:search; t -; a", "0 positional"},
		{"no ids, two turns", tool, "a -:bash; a -:bash; t -:bash", "missing, 0 positional"},
		{"no ids, the name tells", tool, "a -:search -:write; t -:write; u", "missing, 0 positional"},
		{"no ids, in order", tool, "a -:bash -:bash; t -:bash; t -:bash", "0 positional, 1 positional"},
		{"no ids, one too few", user, "u; a -:get -:get=2; r -:get", "unclear, unclear surplus, undecided 0"},
		{"no ids, one too many", user, "u; a -:get; r -:get -:get", "unclear, undecided 0, surplus 1"},
		{"no ids, as many, one name wrong", user, "u; a -:f -:g; r -:f -:f", "0 positional, 1 positional"},
		{"no id on one side", tool, "a c1; t -; u", "0 positional"},
		{"no id on the other", tool, "a -; t c1; u", "0 positional"},
		{"an id that is there cannot answer another", tool, "a c1 -; t c9; u", "missing, 0 positional"},
		{"no ids, far away", tool, "a -; u; t -", "missing, orphan 0"},
		{"no ids in a log, the model went on", log, "a -; a; r -", "missing, orphan 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := check(t, script(c.window, c.script))
			if got := outcome(p); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.script, got, c.want)
			}
		})
	}
}

// TestResultsInTheMessageOfTheirCalls has an assistant message with a result between two
// calls with its id, while both have results elsewhere.
func TestResultsInTheMessageOfTheirCalls(t *testing.T) {
	m := newMaker(&chooser{}, transcript.WindowUser)
	m.message(transcript.RoleAssistant, "", 0)
	m.call(`"x"`, "", 0)
	m.result(`"x"`, "")
	m.call(`"x"`, "", 1)
	m.message(transcript.RoleUser, "", 0)
	m.result(`"x"`, "")
	m.result(`"x"`, "")
	if got, want := outcome(check(t, m.Conv)), "1, 2, duplicate 0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestAliases has calls and results with two ids. A word id/alias has both.
func TestAliases(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"the call has the result's id as its second", "a fc1/c1; t c1", "0 alias"},
		{"the result has the call's id as its second", "a c1; t fc1/c1", "0 alias"},
		{"both have it as their second", "a fc1/c1; t fco1/c1", "0 alias"},
		{"the first id counts", "a c1/c2 c2/c1; t c1; t c2", "0, 1"},
		{"only leftovers are tried", "a c1 fc2/c1; t c1", "0, pending"},
		{"two of one alias, in order", "a fc1/c1; t c1; u; a fc2/c1; t c1; u", "0 alias, 1 alias"},
		{"late", "a fc1/c1; u; t c1", "0 late alias"},
		{"a second result under the other id", "a fc1/c1; t fc1; t c1; u", "0, duplicate 1"},
		{"the same alias twice is none", "a c1/c1; t c2; u", "missing, orphan 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var plain []string
			var aliases [][2]string
			for word := range strings.FieldsSeq(c.script) {
				id, alias, has := strings.Cut(strings.TrimSuffix(word, ";"), "/")
				if has {
					aliases = append(aliases, [2]string{id, alias})
				}
				if strings.HasSuffix(word, ";") {
					id += ";"
				}
				plain = append(plain, id)
			}
			conv := script(transcript.WindowTool, strings.Join(plain, " "))
			for _, a := range aliases {
				alias := transcript.Alias{Call: -1, Result: -1, ID: transcript.Token{Raw: `"` + a[1] + `"`}}
				for i := range conv.Calls {
					if conv.Calls[i].ID.Text() == a[0] {
						alias.Call = int32(i)
					}
				}
				for i := range conv.Results {
					if conv.Results[i].ID.Text() == a[0] && alias.Call < 0 {
						alias.Result = int32(i)
					}
				}
				conv.Aliases = append(conv.Aliases, alias)
			}
			if got := outcome(Pair(conv, nil)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestCopiesAreBounded(t *testing.T) {
	asked := 0
	c := oneID(0, "", false)(10_000)
	Pair(c, func(int, int) bool { asked++; return false })
	if asked > mostDistinct*len(c.Calls) {
		t.Errorf("asked %d times for %d calls", asked, len(c.Calls))
	}
	for _, x := range Pair(c, nil).Calls {
		if x.State != Pending {
			t.Fatalf("without a comparison there is a call of state %d", x.State)
		}
	}
}

func TestKey(t *testing.T) {
	same := [][]string{
		{"", "null", `""`, `"null"`, `"\u006eull"`},
		{`"a"`, `"\u0061"`},
		{`" a"`, `"\u0020a"`},
		{"1"},
		{"1.0"},
		{`"1"`, `"\u0031"`},
		{`"\u00001"`},
		{`"\ud800"`},
		{`"\ud801"`},
		{`"😀"`, `"\ud83d\ude00"`},
		{`"Null"`},
		{`" "`},
		{"true"},
	}
	of := map[string]int{}
	for i, group := range same {
		for _, raw := range group {
			key := Key(transcript.Token{Raw: raw})
			if (key == "") != (i == 0) {
				t.Errorf("%s: key %q", raw, key)
			}
			if j, seen := of[key]; seen && i != j {
				t.Errorf("%s has the key of %s", raw, same[j][0])
			}
			if first := Key(transcript.Token{Raw: group[0]}); key != first {
				t.Errorf("%s: key %q, not %q like %s", raw, key, first, group[0])
			}
			of[key] = i
		}
	}
}

// TestCrosses compares two ways to compute Crosses, for conversations in which no turn
// continues after a message of another one.
func TestCrosses(t *testing.T) {
	late := 0
	for seed := range conversations() / 8 {
		c := wild(&chooser{state: seed}).Conv
		whole := true
		for i := 1; i < len(c.Messages); i++ {
			whole = whole && c.Messages[i].Turn >= c.Messages[i-1].Turn
		}
		if !whole {
			continue
		}
		for i, x := range Pair(c, nil).Calls {
			if x.State != Answered || x.Place != Later {
				continue
			}
			late++
			if got := crosses(c, int32(i), x.Result); got != x.Crosses {
				t.Fatalf("call %d: %v, not %v\n%s", i, got, x.Crosses, sketch(c))
			}
		}
	}
	if late == 0 {
		t.Error("no conversation has a late answer")
	}
}

// crosses examines every message to decide whether moving a result back to its call would
// carry it across an assistant turn that was made without it. Assistant messages directly
// after the turn of the call are parts of the same model turn.
func crosses(c *transcript.Conversation, call, result int32) bool {
	turn := c.Messages[c.Calls[call].Message].Turn
	split := true
	for m := c.Calls[call].Message + 1; m < c.Results[result].Message; m++ {
		msg := &c.Messages[m]
		if msg.Has(transcript.MessageReplay) || msg.Turn == turn {
			continue
		}
		if msg.Role != transcript.RoleAssistant {
			split = false
		} else if !split {
			return true
		}
	}
	return false
}

// TestMerged checks that results answer the calls of all messages in a run that is sent
// as one, and that nothing else differs.
func TestMerged(t *testing.T) {
	for _, c := range []struct{ name, script, merged, apart string }{
		{"one message of results", "u; a c1; a c2; r c1 c2", "0, 1", "0 late, 1"},
		{"several messages of results", "u; a c1; a c2; r c2; r c1", "1, 0", "1 late, 0"},
		{"a text between", "u; a c1; a; r c1", "0", "0 late"},
		{"three in a row", "u; a c1; a; a c2; r . c2 c1; u", "1, 0", "1 late, 0"},
		{"a user between the calls", "u; a c1; u; a c2; r c1 c2", "0 late across, 1", "0 late across, 1"},
		{"a user behind them", "u; a c1; a c2; u; a; r c1 c2", "0 late across, 1 late across", "0 late across, 1 late across"},
		{"a replay between", "u; a c1; u~; a c2; r c1 c2", "0, 1", "0 late, 1"},
		{"turns of several messages", "u; a/m c1; r c1; a/m c2; a/n c3; r c3 c2", "0, 2, 1", "0, 2 late, 1"},
		{"without ids", "u; a -:f; a -:g; r -:g -:f", "1 positional, 0 positional", "missing, 0 positional, orphan 1"},
		{"one id, as many results", "u; a c; a c; r c c", "0 late, 1", "0 late, 1"},
		{"one id, fewer results", "u; a c; a c; r c", "missing, 0", "missing, 0"},
		{"one of two", "u; a c1; a c2; r c2; u", "missing, 0", "missing, 0"},
		{"none of two", "u; a c1; a c2", "missing, pending", "missing, pending"},
		{"behind a compaction", "u; a c1; compact; a c2; r c1 c2", "pending, 1, orphan 0", "pending, 1, orphan 0"},
	} {
		for _, merged := range []bool{true, false} {
			conv := script(transcript.WindowUser, c.script)
			conv.Merged = merged
			want := c.apart
			if merged {
				want = c.merged
			}
			if got := outcome(check(t, conv)); got != want {
				t.Errorf("%s, merged %v: %q, want %q\n%s", c.name, merged, got, want, sketch(conv))
			}
		}
	}
}
