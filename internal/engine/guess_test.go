package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

const stand = "[toolguard] No result was recorded for this tool call; it may or may not have run."

func listed(elements ...string) string { return "[" + strings.Join(elements, ",\n") + "]" }

// functionCalls is a chat message with calls of functions, each given by an id and a name.
func functionCalls(of ...[2]string) string {
	var calls []string
	for _, c := range of {
		calls = append(calls, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":"{}"}}`, c[0], c[1]))
	}
	return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]}`
}

// TestFixDoesNotGuess: text that is not understood stays as it is.
func TestFixDoesNotGuess(t *testing.T) {
	const (
		user  = `{"role":"user","content":"go"}`
		next  = `{"role":"user","content":"n"}`
		twins = "duplicate-call-id, missing-tool-result (another call of the turn has the same id, and the result with that id may belong to this call)"
		there = "missing-tool-result (messages.2, which toolguard cannot read, contains the id of the call, so the result may be there)"
	)
	use := func(id, input string) string {
		return `{"type":"tool_use","id":"` + id + `","name":"f","input":` + input + `}`
	}
	said := func(id, text string) string {
		return `{"type":"tool_result","tool_use_id":"` + id + `","content":"` + text + `"}`
	}
	two := functionCalls([2]string{"a", "f"}, [2]string{"a", "g"})
	one := functionCalls([2]string{"c1", "f"})
	item := `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`
	items := func(of ...string) string { return `{"model":"gpt-5","input":[` + strings.Join(of, ",") + `]}` }
	ollama := FixOptions{Options: Options{Send: true, Target: profile.ByName("ollama")}}
	// The target wants arguments that are no text.
	decoded := func(text string) string { return strings.ReplaceAll(text, `"{}"`, `{}`) }
	same := strings.Replace(decoded(functionCalls([2]string{"a", "f"}, [2]string{"a", "f"})), `{}`, `{"x":1}`, 1)
	mark := func(more string) string {
		return `{"type":"text","text":"t","cache_control":{"type":"ephemeral"` + more + `}}`
	}
	marked := listed(
		`{"role":"user","content":[`+mark(`,"x":"KEEP"`)+strings.Repeat(","+mark(""), 4)+`]}`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"hi"}]}`,
	)
	noID := func(name string) string {
		return `{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"` + name + `","arguments":"{}"}}]}`
	}
	const stands = "a result in messages.3 does not say which call it answers, and may belong to this call"
	for _, c := range []fixing{
		{
			"late results that the call of another turn may have got",
			listed(user, functionCalls([2]string{"a", "f"}), two, `{"role":"assistant","content":"hm"}`, `{"role":"tool","tool_call_id":"a","content":"1"}`, `{"role":"tool","tool_call_id":"a","content":"2"}`),
			FixOptions{},
			listed(
				user, functionCalls([2]string{"a", "f"}), `{"role":"tool","tool_call_id":"a","content":"`+stand+`"}`,
				two, `{"role":"assistant","content":"hm"}`, `{"role":"tool","tool_call_id":"a","content":"1"}`, `{"role":"tool","tool_call_id":"a","content":"2"}`,
			),
			"duplicate-call-id, misplaced-tool-result, misplaced-tool-result",
		},
		{
			"one result for two calls of an id",
			listed(user, `{"role":"assistant","content":[`+use("a", `{"x":1}`)+","+use("a", `{"x":2}`)+`]}`, `{"role":"user","content":[`+said("a", "1")+`]}`),
			FixOptions{},
			"", twins,
		},
		{
			"a result that names the other call of its id",
			listed(user, two, `{"role":"tool","tool_call_id":"a","name":"g","content":"1"}`, user),
			FixOptions{},
			"", twins,
		},
		{
			"the same, before it is sent to who pairs by name",
			listed(user, two, `{"role":"tool","tool_call_id":"a","name":"g","content":"1"}`, user), ollama,
			decoded(listed(user, two, `{"role":"tool","tool_call_id":"a","name":"g","content":"1"}`, user)), twins,
		},
		{
			"a result that names no call of its id",
			listed(user, two, `{"role":"tool","tool_call_id":"a","content":"1"}`, user), ollama,
			decoded(listed(user, two, `{"role":"tool","tool_call_id":"a","content":"1"}`, user)), twins,
		},
		{
			"a result of two calls of one name",
			listed(user, same, `{"role":"tool","tool_call_id":"a","content":"1"}`, user), ollama,
			listed(user, same, `{"name":"f","role":"tool","tool_call_id":"a","content":"1"}`, user), twins,
		},
		{
			"two results beside their call go together, in order",
			listed(user, `{"role":"assistant","content":[`+use("b", `{}`)+","+said("b", "first")+","+said("b", "second")+`]}`, next),
			FixOptions{},
			listed(user, `{"role":"assistant","content":[`+use("b", `{}`)+`]}`, `{"role":"user","content":[`+said("b", "first")+","+said("b", "second")+`,{"type":"text","text":"n"}]}`),
			"duplicate-tool-result",
		},
		{"a mark for the cache that says more", marked, FixOptions{Options: Options{Send: true}}, "", "cache-control-limit"},
		{
			"the same, when something may be dropped", marked,
			FixOptions{Options: Options{Send: true}, Unsafe: true},
			strings.Replace(marked, `,"cache_control":{"type":"ephemeral","x":"KEEP"}`, "", 1), "",
		},
		{
			"a message of a role that nobody knows names the call",
			listed(user, one, `{"role":"function_result","tool_call_id":"c1","content":"x"}`, next),
			FixOptions{},
			"", "block-in-wrong-role",
		},
		{
			"an item of a role that nobody knows names the call",
			items(user, item, `{"role":"function_result","call_id":"c1","content":"x"}`, next),
			FixOptions{},
			"", strings.Replace(there, "messages", "input", 1) + ", invalid-role",
		},
		{
			"an item of a type that nobody knows names the call",
			items(user, item, `{"type":"function_result","call_id":"c1","output":"x"}`, next),
			FixOptions{},
			"", strings.Replace(there, "messages", "input", 1),
		},
		{
			"an item of a type that nobody knows names another call",
			items(user, item, `{"type":"function_result","call_id":"c2","output":"x"}`, next),
			FixOptions{},
			items(user, item, `{"type":"function_call_output","call_id":"c1","output":"`+stand+`"}`, `{"type":"function_result","call_id":"c2","output":"x"}`, next), "",
		},
		{
			"an id is named by a message of a role that nobody knows too",
			listed(user, functionCalls([2]string{"c1 ", "f"}), `{"role":"observation","tool_call_id":"c1 ","content":"x"}`, next),
			FixOptions{},
			"", "invalid-call-id (messages.2, which toolguard cannot read, contains the id too, and the id would not change there), block-in-wrong-role",
		},
		{
			"one of two calls of an id may be named there",
			listed(user, two, `{"role":"tool","tool_call_id":"a","content":"1"}`, `{"role":"tool","tool_call_id":"a","content":"2"}`, `{"role":"observation","tool_call_id":"a","content":"x"}`),
			FixOptions{},
			"", "duplicate-call-id",
		},
		{
			"a result in the message of two calls of its id, before them",
			listed(user, `{"role":"assistant","content":[`+said("a", "1")+","+use("a", `{}`)+","+use("a", `{"x":1}`)+`]}`, `{"role":"user","content":[`+said("a", "2")+`]}`),
			FixOptions{},
			"", "block-in-wrong-role, duplicate-call-id",
		},
		{
			"a block of a type that nobody knows names the call",
			listed(user, `{"role":"assistant","content":[`+use("a", `{}`)+`]}`, `{"role":"user","content":[{"type":"weird_result","tool_use_id":"a","content":"x"}]}`, next),
			FixOptions{},
			"", there,
		},
		{
			"a result with the id and the name of another call",
			listed(user, noID("f"), `{"role":"tool","tool_call_id":"other","name":"g","content":"x"}`, next),
			FixOptions{},
			"", "missing-call-id",
		},
		{
			"a result without an id that has the name of another call",
			listed(user, one, `{"role":"tool","name":"g","content":"x"}`, next),
			FixOptions{},
			"", "missing-call-id",
		},
		{
			"a result without an id that has no name",
			listed(user, one, `{"role":"tool","content":"x"}`, next),
			FixOptions{},
			listed(user, one, `{"tool_call_id":"c1","role":"tool","content":"x"}`, next), "",
		},
		{
			"a result without an id further on",
			listed(user, one, next, `{"role":"tool","name":"f","content":"x"}`),
			FixOptions{},
			"", "missing-tool-result (" + stands + "), missing-call-id (the result answers no call of this conversation: see orphan-tool-result), orphan-tool-result",
		},
		{
			"the same, and the call has no id",
			listed(user, noID("f"), next, `{"role":"tool","name":"f","content":"x"}`),
			FixOptions{},
			"", "missing-call-id, missing-tool-result (" + stands + "), missing-call-id (the result answers no call of this conversation: see orphan-tool-result), orphan-tool-result",
		},
		{
			"a result of another tool without an id further on",
			listed(user, one, next, `{"role":"tool","name":"g","content":"x"}`),
			FixOptions{},
			listed(user, one, `{"role":"tool","tool_call_id":"c1","name":"f","content":"`+stand+`"}`, next, `{"role":"tool","name":"g","content":"x"}`), "missing-call-id (the result answers no call of this conversation: see orphan-tool-result), orphan-tool-result",
		},
		{
			"two results of one call, the first before it",
			listed(user, `{"role":"assistant","content":[`+said("a", "1")+","+use("a", `{}`)+`]}`, `{"role":"user","content":[`+said("a", "2")+`]}`),
			FixOptions{},
			"", "block-in-wrong-role (toolguard cannot know which of two results answers the call), duplicate-tool-result",
		},
		{
			"a torn result on the line of a message",
			user + "\n" + one + "\n" + `{"role":"tool","tool_call_id":"c1","content":"RE` + next + "\n",
			FixOptions{},
			"", "missing-tool-result (the result may be in a record that toolguard cannot read), glued-records",
		},
	} {
		t.Run(c.name, c.run)
	}
}

// TestFixEarlyResult: nothing shows which call a result answers that comes before two calls
// with its id, before or after it is moved.
func TestFixEarlyResult(t *testing.T) {
	result := func(text string) string { return `{"role":"tool","tool_call_id":"a","content":"` + text + `"}` }
	two := functionCalls([2]string{"a", "f"}, [2]string{"a", "g"})
	text := listed(`{"role":"user","content":"go"}`, result("first"), two, result("second"))
	out, f := fixText(t, "x.json", []byte(text), FixOptions{})
	if string(out) != text {
		t.Errorf("%+v give\n%s", f.Repairs, out)
	}
}

// TestFixManyCalls: a duplicate message with very many calls.
func TestFixManyCalls(t *testing.T) {
	const n = 70
	const user = `{"role":"user","content":"go"}`
	var calls, same, fresh [][2]string
	var results, sames, freshes, stands, uses, listedCalls, chunks, said []string
	result := func(id, text string) string {
		return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, text)
	}
	for i := range n {
		id, text := fmt.Sprintf("c%d", i), fmt.Sprintf("r%d", i)
		calls, same = append(calls, [2]string{id, "f"}), append(same, [2]string{"same", "f"})
		results, stands = append(results, result(id, text)), append(stands, result(id, stand))
		sames = append(sames, result("same", text))
		// The first keeps its id, and no number is given twice.
		own := "same"
		if i > 0 {
			own = fmt.Sprintf("same-%d", n+1+i)
		}
		fresh, freshes = append(fresh, [2]string{own, "f"}), append(freshes, result(own, text))
		uses = append(uses, fmt.Sprintf(`{"type":"tool_use","id":" %s","name":"f","input":{}}`, id))
		listedCalls = append(listedCalls, fmt.Sprintf(`{"name":"f","args":{},"id":" %s"}`, id))
		chunks = append(chunks, fmt.Sprintf(`{"id":" %s","function":{"name":"f","arguments":"{}"}}`, id))
		said = append(said, fmt.Sprintf(`{"type":"tool","content":%q,"tool_call_id":" %s"}`, text, id))
	}
	all, alike := functionCalls(calls...), functionCalls(same...)
	r, s := strings.Join(results, ",\n"), strings.Join(stands, ",\n")
	copied := `{"type":"ai","content":[` + strings.Join(uses, ",") + `],"tool_calls":[` + strings.Join(listedCalls, ",") + `],"additional_kwargs":{"tool_calls":[` + strings.Join(chunks, ",") + `]}}`
	twice := listed(copied, strings.Join(said, ",\n"), copied, strings.Join(said, ",\n"), `{"type":"human","content":"go"}`)
	for _, c := range []fixing{
		{"right behind it", listed(user, all, all, r, user), FixOptions{}, listed(user, all, s, all, r, user), ""},
		{"behind its results", listed(user, all, r, all, user), FixOptions{}, listed(user, all, r, all, s, user), ""},
		{
			"all of one id", listed(user, alike, alike, strings.Join(sames, ",\n"), user),
			FixOptions{},
			listed(user, functionCalls(same[0]), result("same", stand), functionCalls(fresh...), strings.Join(freshes, ",\n"), user), "",
		},
		{"each in three places", twice, FixOptions{}, strings.ReplaceAll(twice, `" c`, `"c`), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run(t)
			out, _ := fixText(t, "x.json", []byte(c.text), c.opts)
			again, f := fixText(t, "x.json", out, c.opts)
			if f.Changed() || string(again) != string(out) {
				t.Errorf("it is changed again:\n%s", cmp.Diff(string(out), string(again)))
			}
		})
	}
}

// TestFixLostParent: if a record of a log is lost and a result is missing, the placeholder
// gets the id that exactly one child still names as its parent.
func TestFixLostParent(t *testing.T) {
	record := func(uuid, parent, id, more string, second int) string {
		message := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"` + stand + `","is_error":true}]}`
		return strings.TrimSuffix(logLine(uuid, parent, "user", "", message, second), "}\n") + more + "}\n"
	}
	asked, called := userLine("u1", "null", "go", 1), useLine("a1", "u1", "m1", 2, "t1")
	both := asked + useLine("a1", "u1", "m1", 2, "t1", "t2") + resultLine("r1", "a1", "t1", 3)
	rest := userLine("u2", "lost", "and?", 5) + userLine("u3", "u2", "more", 6)
	children := userLine("u2", "lost", "and?", 5) + userLine("u3", "lost", "more", 6)
	for _, c := range []fixing{
		{"the only result", asked + called + rest, FixOptions{}, asked + called + record("lost", "a1", "t1", "", 2) + rest, ""},
		{
			"the second result", both + rest,
			FixOptions{},
			both + record("lost", "r1", "t2", `,"toolUseResult":"`+stand+`","sourceToolAssistantUUID":"a1"`, 3) + rest, "",
		},
		{
			"two children name it", asked + called + children,
			FixOptions{},
			asked + called + record("1a7e75ad-61fb-4a63-9f4d-1f32b5db2f98", "a1", "t1", "", 2) + children, "broken-link",
		},
	} {
		t.Run(c.name, c.run)
	}
}

// TestFixMerges: a merge takes a message with only a role and content, keeps the speaker of
// every text, and waits while another message is to come between the two.
func TestFixMerges(t *testing.T) {
	says := func(more string) string { return `{"role":"user","content":` + more + `}` }
	const last = `{"role":"user","content":"n"}`
	call := functionCalls([2]string{"c1", "f"})
	tool := `{"role":"tool","tool_call_id":"c1","content":"1"}`
	made := `{"role":"tool","tool_call_id":"c1","content":"` + stand + `"}`
	merged := strings.Replace(call, "null", `"wait"`, 1)
	named := FixOptions{Options: Options{Explicit: map[string]bool{"consecutive-roles": true}}}
	unsafe := FixOptions{Options: named.Options, Unsafe: true}
	for _, c := range []fixing{
		{"the second says more", listed(says(`"a"`), says(`"b","y":"KEEP"`), call, tool), named, listed(says(`"a\n\nb","y":"KEEP"`), call, tool), ""},
		{"the first says more", listed(says(`"a","x":"KEEP"`), says(`"b"`), call, tool), named, listed(says(`"a\n\nb","x":"KEEP"`), call, tool), ""},
		{"both say more", listed(says(`"a","x":"KEEP"`), says(`"b","y":"KEEP"`), call, tool), named, "", ""},
		{"both say more, when something may be dropped", listed(says(`"a","x":"KEEP"`), says(`"b","y":"KEEP"`), call, tool), unsafe, "", ""},
		{"the first names its speaker", listed(says(`"a","name":"bob"`), says(`"b"`), call, tool), unsafe, "", ""},
		{"the second names its speaker", listed(says(`"a"`), says(`"b","name":"bob"`), call, tool), unsafe, "", ""},
		{"three in a row", listed(says(`"a"`), says(`"b"`), says(`"c"`), call, tool), named, listed(says(`"a\n\nb\n\nc"`), call, tool), ""},
		{
			"a placeholder comes between them", listed(says(`"q"`), call, `{"role":"assistant","content":"done"}`, last), named,
			listed(says(`"q"`), call, made, `{"role":"assistant","content":"done"}`, last), "",
		},
		{
			"a placeholder comes behind them", listed(says(`"q"`), `{"role":"assistant","content":"wait"}`, call, `{"role":"assistant","content":"done"}`, last), named,
			listed(says(`"q"`), merged, made, `{"role":"assistant","content":"done"}`, last), "",
		},
	} {
		t.Run(c.name, c.run)
	}
}

// TestAble: a fix is not made if its class is not allowed, or if it does not do what it says.
func TestAble(t *testing.T) {
	c := newChecker(source.FromBytes("t", []byte(`["a","b"]`)), Options{})
	cut := edit.Fix{Edits: []edit.Edit{{Span: source.Span{Start: 4, End: 8}}}, Change: edit.Sum{}.Minus(edit.Total([]byte(`"b"`)))}
	drops := cut
	drops.Drops = 1
	adds := edit.Fix{Edits: []edit.Edit{{Span: source.Span{Start: 4, End: 4}, Text: []byte(`,"c"`)}}, Adds: 1, Change: edit.Total([]byte(`"c"`))}
	lies := cut
	lies.Change = edit.Sum{}
	for _, tt := range []struct {
		name string
		fix  edit.Fix
		// with safe repairs alone, by default, with unsafe ones, and with those of the rule or
		// of another rule beside the safe ones
		want [5]bool
	}{
		{"neither", cut, [5]bool{true, true, true, true, true}},
		{"takes out", drops, [5]bool{false, false, true, true, false}},
		{"puts in", adds, [5]bool{false, true, true, true, false}},
		{"takes out what it does not say", lies, [5]bool{}},
	} {
		of := rules.All()[0]
		for i, opts := range []FixOptions{
			{SafeOnly: true},
			{},
			{Unsafe: true},
			{SafeOnly: true, AnyClass: map[string]bool{of.Name: true}},
			{SafeOnly: true, AnyClass: map[string]bool{rules.All()[1].Name: true}},
		} {
			r := &round{settler: &settler{opts: opts}}
			if got, err := r.able(c, &tt.fix, []wish{{rule: of}}); got != tt.want[i] || err != nil {
				t.Errorf("%s, with %+v: %t, %v", tt.name, opts, got, err)
			}
		}
	}
}
