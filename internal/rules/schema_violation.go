package rules

import (
	"strconv"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var schemaViolation = &Rule{
	Name: "schema-violation", Category: Declared, Severity: "warning",
	Summary: "The arguments of a call do not match the schema of its tool",
	What: `Checks the arguments of each call against the schema of its tool. The schema comes from ` + "`--tools`" + `,
or else from the request body. The finding points to the value that violates the schema, even if
the arguments are written as a string.

toolguard reads patterns as RE2. If RE2 cannot read a pattern, for example one with a lookahead,
toolguard does not check it and an info says so. It checks the rest of the schema.`,
	Why: `A tool that checks its arguments rejects such a call. In training data it teaches the model to
write wrong arguments.`,
	Repair: `toolguard cannot repair this.`,
	Bad: `{"model":"m","max_tokens":9,"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}],"messages":[{"role":"user","content":"q"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"path\": 7}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"1"}]}`,
	Good: `{"model":"m","max_tokens":9,"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}],"messages":[{"role":"user","content":"q"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"path\": \"/srv\"}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"1"}]}`,
	Check: func(c *Context) {
		if c.Tools == nil {
			return
		}
		told := map[string]bool{}
		var unescaped []byte
		for i := range c.Calls {
			call := &c.Calls[i]
			if !c.declarable(i) {
				continue
			}
			if name := call.Name.Text(); !told[name] {
				told[name] = true
				for _, pattern := range c.Tools.Unchecked(name) {
					c.aboutCall(i, Finding{
						Severity: Info, Span: call.Name.Span,
						Message: "the pattern " + strconv.Quote(clip(pattern)) + " in the schema of " + quote(call.Name) + " is not checked, because RE2 cannot read it",
					})
				}
			}
			if call.Form != transcript.ArgsObject && call.Form != transcript.ArgsString {
				continue
			}
			text := c.Value(call.Args).Raw()
			if len(text) < 2 {
				return // the source can no longer be read
			}
			inside := text[1 : len(text)-1]
			if call.Form == transcript.ArgsString {
				unescaped = source.AppendUnescaped(unescaped[:0], inside)
				text = unescaped
			}
			broken := c.Tools.Violations(call.Name.Text(), text)
			if len(broken) == 0 {
				continue
			}
			at := func(i int64) int64 { return call.Args.Start + i }
			if call.Form == transcript.ArgsString {
				offset := source.EscapedOffset(inside)
				at = func(i int64) int64 { return call.Args.Start + 1 + int64(offset(int(i))) }
			}
			for i := range broken { // before the next call to Value
				broken[i].Span = source.Span{Start: at(broken[i].Span.Start), End: at(broken[i].Span.End)}
			}
			for _, v := range broken {
				what := "the arguments of " + callName(call) + " violate"
				if v.Pointer != "" {
					what = v.Pointer + " in the arguments of " + callName(call) + " violates"
				}
				f := Finding{Severity: Warning, Span: v.Span, Message: what + " the schema: " + v.Message}
				f.Discreet = "the arguments of " + callName(call) + " violate the schema: " + v.Broken
				if call.Form == transcript.ArgsObject {
					f.Within = v.Depth
				}
				c.aboutCall(i, f)
			}
		}
	},
}
