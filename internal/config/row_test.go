package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// TestRow: what a table says is what the row says, in the same terms.
func TestRow(t *testing.T) {
	t.Parallel()
	f, err := read(t, `
[[dialect]]
name = "acme"
driver = "blocks"
marks = ["meta.app=acme|acme2", "who", "!hidden", "version!=1"]
provider = "anthropic"
check-only = "it is a copy"
dataset = true
members = { arguments = "with", last-text = "body.-1.words|body" }

[dialect.blocks]
role = "who"
roles = { visitor = "user", "the bot" = "assistant" }
content = "body"
tag = "kind"
aborted = ["stopped"]
own-role = "helper"
message = [{ if = "v", json = '{"who":"visitor","body":"$blocks"}', copy = ["v"] }]

[[dialect.blocks.parts]]
is = "call"
tag = "do" # a comment
name = "what"
args = "with"
want = "object"
[[dialect.blocks.parts]] # another
is = "result"
key = "done"
error = [
  # one a line
  "state=failed",
]
[dialect.blocks.own]
name = "n"
[dialect.log]
type = "t"
speaks = ["m"]
id = "n"

[[dialect]]
name = "acme-2"
driver = "combined"
marks = ["x"]
title = "Acme's other one"
combined.members = ["x"]
combined.records = [{ in = "runs", id = "id", name = "n", args = "a", result = "s", answer = [{ to = "s", raw = '"$text"', keep = true }] }]
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []*dialect.Dialect{
		{
			Name: "acme", Title: "acme", Provider: "anthropic", Window: transcript.WindowLog, Dataset: true, CheckOnly: "it is a copy",
			Marks: evidence.All("meta.app=acme|acme2", "who", "!hidden", "version!=1"),
			Members: dialect.Members{
				transcript.MemberArguments: "with", transcript.MemberLastText: "body.-1.words|body",
			},
			Driver: dialect.NewBlocks(&dialect.Blocks{
				Role: "who", Content: "body", Tag: "kind",
				Roles: []dialect.RoleName{
					{Written: "visitor", Role: transcript.RoleUser}, {Written: "the bot", Role: transcript.RoleAssistant},
				},
				Aborted: evidence.All("stopped"),
				Message: []dialect.Stencil{{If: "v", JSON: `{"who":"visitor","body":"$blocks"}`, Copy: []string{"v"}}},
				Parts: []dialect.Part{
					{Is: dialect.PartCall, Tag: "do", Name: "what", Args: "with", Want: transcript.ArgsWantObject},
					{Is: dialect.PartResult, Key: "done", Error: evidence.All("state=failed")},
				},
				ResultMessage: &dialect.Part{Name: "n"}, ResultRole: "helper",
			}),
			Log: &dialect.Log{Type: "t", Speaks: []string{"m"}, ID: "n"},
		},
		{
			Name: "acme-2", Title: "Acme's other one", Provider: "neutral", Window: transcript.WindowOwn,
			Marks: evidence.All("x"), Identity: dialect.Identity{Needs: []string{"x"}},
			Driver: &dialect.Combined{
				Records: []dialect.Records{{
					In: "runs", ID: "id", Name: "n", Args: "a", Result: "s",
					Answer: []dialect.Setting{{To: "s", Raw: `"$text"`, Keep: true}},
				}},
			},
		},
	}
	got := f.Dialects().UserDefined()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(dialect.Dialect{}, "Evidence"), cmpopts.IgnoreUnexported(dialect.BlocksDriver{})); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if all := f.Dialects().All(); all[0] != got[0] || len(all) != len(dialect.All())+2 {
		t.Errorf("%d dialects, the first %s", len(all), all[0].Name)
	}
	for _, c := range want[0].Marks {
		var again evidence.Cond
		if err := again.UnmarshalText([]byte(c.String())); err != nil || !cmp.Equal(&again, c) {
			t.Errorf("%s: %s, %v", c, &again, err)
		}
	}
	// What is shown of it can be read again.
	text := f.Format()
	again, err := read(t, string(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	sorted := cmpopts.SortSlices(func(a, b dialect.RoleName) bool { return a.Written < b.Written })
	if diff := cmp.Diff(want, again.Dialects().UserDefined(), cmpopts.IgnoreFields(dialect.Dialect{}, "Evidence"), cmpopts.IgnoreUnexported(dialect.BlocksDriver{}), sorted); diff != "" {
		t.Errorf("written and read again (-want +got):\n%s", diff)
	}
}

// TestRowErrors: what is wrong with a table is told where it stands.
func TestRowErrors(t *testing.T) {
	t.Parallel()
	const head = "[[dialect]]\nname = 'a'\nmarks = ['x']\n"
	const events = head + "driver = 'events'\n[dialect.events]\ntype = 'k'\ncalls = [{ type = 'c', id = 'i', name = 'n' }]\n"
	const blocks = head + "driver = 'blocks'\n[dialect.blocks]\nrole = 'r'\ncontent = 'c'\n"
	const answered = head + "driver = 'events'\n[dialect.events]\ntype = 'k'\ncalls = [{ type = 'c', id = 'i', name = 'n', answer = '{\"k\":\"x\",\"i\":\"$id\"}' }]\nresults = [{ type = 'r', id = 'i' }]\n"
	const calls = blocks + "tag = 'k'\n[[dialect.blocks.parts]]\nis = 'result'\ntag = 'r'\nid = 'i'\npayload = 'o'\n[[dialect.blocks.parts]]\nis = 'call'\ntag = 'c'\nname = 'n'\n"
	const combined = head + "driver = 'combined'\n[dialect.combined]\nmembers = ['x']\n[[dialect.combined.records]]\nin = 'runs'\nid = 'i'\nname = 'n'\nargs = 'a'\n" +
		"state = 's'\nstates = [{ written = 'going', state = 'open' }, { written = 'ended', state = 'done' }]\nresult = 'o'\n"
	const items = head + "driver = 'items'\n[dialect.items]\ntype = 'k'\nrole = 'r'\ntext = 't'\nmessages = ['m']\nid = ['i']\nname = 'n'\n[[dialect.items.pairs]]\ncall = 'c'\n"
	const chat = head + "driver = 'side-list'\n[dialect.side-list]\nrole = 'r'\ncontent = 't'\ncalls = 'c'\nid = 'i'\nname = 'n'\nargs = 'a'\nresult-id = 'of'\n"
	for _, tt := range []struct{ text, want string }{
		{"dialect = 'x'", "1:11: expected a list of tables for dialect"},
		{"[dialect]\nname = 'a'", "1:2: expected a list of tables for dialect: [[dialect]]"},
		{"[[dialect]]\nmarks = ['x']\ndriver = 'items'\nitems.type = 't'", "1:3: a format needs a name"},
		{"[[dialect]]\nname = 'a'\ndriver = 'items'", `1:3: missing key "marks" in [[dialect]]: fields that all of its messages have, such as "version" or "app=acme"`},
		{head, `1:3: missing key "driver" in [[dialect]]; expected one of blocks, side-list, items, events, combined`},
		{head + "driver = 'block'", `4:10: unknown driver "block"; did you mean "blocks"?`},
		{head + "driver = 7", "4:10: expected a string for dialect.driver"},
		{head + "driver = 'items'", "1:3: missing table [dialect.items], because the driver is \"items\""},
		{head + "driver = 'items'\nitems = 3", "5:9: expected a table for items"},
		{events + "results = [{ type = 'r', id = 'i' }]\n[dialect.blocks]\nrole = 'r'", `9:10: expected the table [dialect.events], because the driver is "events"`},
		{"[[dialect]]\nname = 'My Stack'\nmarks = ['x']", "2:8: expected small letters, digits and dashes for dialect.name"},
		{"[[dialect]]\nname = 'anthropic'\nmarks = ['x']", `2:8: a built-in format is called "anthropic"; choose another name`},
		{head + head, `5:8: this file already defines a format "a"`},
		{head + "provider = 'anthropc'", `4:12: unknown provider "anthropc"; did you mean "anthropic"?`},
		{head + "window = 'all'", `4:10: unknown window "all"; expected one of tool, user, next, log, own`},
		{head + "dataset = 'yes'", "4:11: expected true or false for dialect.dataset"},
		{head + "titel = 'x'", `4:1: dialect: unknown key "titel"; did you mean "title"?`},
		{head + "members = { argument = 'x' }", `4:13: unknown member "argument"; expected one of call-type, arguments, signature, result-name, content, last-text, cache-mark, reasoning, item-id, result-content, role, call-name, image, result-blocks, store, thinking, result-id`},
		{"[[dialect]]\nname = 'a'\nmarks = 'x'", "3:9: expected a list of strings for dialect.marks"},
		{"[[dialect]]\nname = 'a'\nmarks = ['x', '/y']", `3:15: "/y" is not a path: expected field names joined by dots`},
		{"[[dialect]]\nname = 'a'\nmarks = ['a..b=c']", `3:10: "a..b" is not a path: a field name is empty`},
		{"[[dialect]]\nname = 'a'\nmarks = ['=c']", "3:10: expected a path: field names joined by dots"},
		{events, "5:10: events needs results"},
		{events + "results = [{ type = 'r' }]", "8:14: events.results needs id"},
		{events + "results = [{ type = 'r', id = 'i', payloads = 'p' }]", `8:36: events.results: unknown key "payloads"; did you mean "payload"?`},
		{events + "results = ['r']", "8:12: expected a table for events.results"},
		{events + "results = { type = 'r', id = 'i' }", "8:1: expected a list of tables for events.results"},
		{events + "results = [{ type = 'r', id = 'i' }]\nsays = [{ type = 's', text = 't', role = 'robot' }]", `9:42: unknown role "robot"; expected one of system, user, assistant, tool, other`},
		{events + "results = [{ type = 'r', id = 'i' }]\nsays = [{ type = 's', text = 't', role = 'user', calls = 'c' }]", "9:11: events.says needs call"},
		{events + "results = [{ type = 'r', id = 'i' }]\nroles = ['user']", "9:1: expected a table for events.roles"},
		{blocks, "5:10: blocks needs parts"},
		{blocks + "parts = [{ is = 'cal', tag = 't' }]", `8:17: unknown kind of part "cal"; expected one of text, call, result, server-call, server-result, reasoning, media, state, aside, other`},
		{blocks + "parts = [{ is = 'call', tag = 't', want = 'strings' }]", `8:43: unknown form of arguments "strings"; expected one of any, string, object`},
		{blocks + "parts = [{ is = 'text', tag = 't' }]", `5:10: blocks needs a part with is = "call"`},
		{blocks + "[[dialect.blocks.parts]]\nis = 'call'", "8:18: blocks.parts needs tag or key"},
		{blocks + "[[dialect.blocks.parts]]\nis = 'call'\ntag = 't'\nname = 'n'\nanswer = '{\"id\":$id}'", `12:10: expected JSON, with variables such as "$text"`},
		{blocks + "[[dialect.blocks.parts]]\nis = 'call'\ntag = 't'\nname = 'n'\nanswer = '\"$text\"'", "12:10: blocks.parts.answer must be a JSON object"},
		{calls + "answer = '{\"k\":\"out\",\"i\":\"$id\",\"o\":\"$text\"}'", `18:10: blocks.parts.answer cannot be read back: no part with is = "result" matches it`},
		{calls + "answer = '{\"k\":\"r\",\"ref\":\"$id\",\"o\":\"$text\"}'", `18:10: blocks.parts.answer cannot be read back: the id of a result is read from "i", but "$id" is not there`},
		{calls + "answer = '{\"k\":\"r\",\"i\":\"$id\",\"out\":\"$text\"}'", `18:10: blocks.parts.answer cannot be read back: the payload of a result is read from "o", but "$text" is not there`},
		{calls + "[[dialect.blocks.message]]\njson = '{\"r\":\"user\",\"b\":\"$blocks\"}'", `19:8: blocks.message.json cannot be read back: the blocks of a message are read from "c", but "$blocks" is not there`},
		{strings.Replace(calls, "content = 'c'", "content = 'c|b'", 1) + "[[dialect.blocks.message]]\njson = '{\"r\":\"user\",\"b\":\"$blocks\"}'", `19:8: blocks.message.json has "$blocks" in another field than "c"; repairs add this one to messages, so name it first in content`},
		{calls + "[[dialect.blocks.text-block]]\njson = '{\"k\":\"say\",\"t\":\"$text\"}'", `19:8: blocks.text-block.json cannot be read back: no part with is = "text" matches it and reads "$text"`},
		{answered, `7:55: events.calls.answer cannot be read back: no entry of results has its type, which is read from "k"`},
		{combined + "answer = [{ to = 'out', raw = '\"$text\"' }]", `15:1: combined.records.answer cannot be read back: neither result ("o") nor failure ("") leads to "$text"`},
		{combined + "answer = [{ to = 'o', raw = '\"$text\"' }]", `15:1: combined.records.answer cannot be read back: the call stays going according to "s"`},
		{combined + "answer = [{ to = 's', raw = '\"endde\"' }, { to = 'o', raw = '\"$text\"' }]", `15:1: combined.records.answer cannot be read back: it writes "endde" to "s", but states does not list that value`},
		{strings.Replace(combined, "written = 'ended'", "written = 'going'", 1), `13:62: combined.records.states: "going" is listed twice; only the first entry is used`},
		{strings.Replace(chat, "id = 'i'", "id = 'meta.ref'", 1), `9:6: side-list.id: repairs write this field, so it must be a plain field name; "meta.ref" is not`},
		{strings.Replace(chat, "id = 'i'", "id = '-1'", 1), `9:6: side-list.id: repairs write this field, so it must be a plain field name; "-1" is not`},
		{strings.Replace(chat, "'t'", "'says.0.text'", 1), `7:11: side-list.content: repairs write this field, so it must be a plain field name; "says.0.text" is not`},
		{strings.Replace(chat, "'of'", "'a|b||'", 1), `12:13: side-list.result-id: repairs write this field, so it must be a plain field name; "" is not`},
		{strings.Replace(chat, "'of'", "'t'", 1), `12:13: side-list.result-id: "t" is already used by content`},
		{strings.Replace(chat, "calls = 'c'", "calls = 't'", 1), `8:9: side-list.calls: "t" is already used by content`},
		{chat + "failed = 'yes'", "5:10: side-list needs error: failed is its value for a failed call"},
		{strings.Replace(events, "id = 'i'", "id = 'meta.i'", 1), `7:29: events.calls.id: repairs write this field, so it must be in the object that holds the other fields; "meta.i" is not`},
		{strings.Replace(calls, "id = 'i'", "id = 'meta.i'", 1), `12:6: blocks.parts.id: repairs write this field, so it must be in the object that holds the other fields; "meta.i" is not`},
		{strings.Replace(combined, "id = 'i'", "id = 'meta.i'", 1), `9:6: combined.records.id: repairs write this field, so it must be in the object that holds the other fields; "meta.i" is not`},
		{combined + "answer = [{ to = 'o.0', raw = '\"$text\"' }]", `15:18: combined.records.answer.to: cannot write to "o.0": expected field names joined by dots`},
		{strings.Replace(combined, "state = 's'\n", "", 1), "7:20: combined.records needs state"},
		{strings.Replace(combined, "'ended', state = 'done'", "'ended', state = 'failed'", 1) + "failure = 'e'\nanswer = [{ to = 's', raw = '\"ended\"' }, { to = 'o', raw = '\"$text\"' }]", `16:1: combined.records.answer cannot be read back: the call counts as failed, but failure ("e") does not lead to "$text"`},
		{items + "outputs = ['r']\nargs = 'a'\nanswer = 'x'", `16:10: items.pairs.answer cannot be read back: "x" is not one of the outputs`},
		{chat + "roles = { human = 'user', bot = 'assistant' }\nuser = 'human'\nassistant = 'bot'\ntool = 'machine'", `16:8: side-list.tool: roles does not map "machine" to tool`},
	} {
		_, err := read(t, tt.text)
		if err == nil {
			t.Errorf("%s: no error, want %s", tt.text, tt.want)
			continue
		}
		var got []string
		for line := range strings.SplitSeq(err.Error(), "\n") {
			_, message, _ := strings.Cut(line, "toolguard.toml:")
			got = append(got, message)
		}
		if !slices.Contains(got, tt.want) {
			t.Errorf("%s\n%s\nwant %s", tt.text, strings.Join(got, "\n"), tt.want)
		}
	}
}
