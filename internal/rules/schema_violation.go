package rules

import (
	"strconv"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var schemaViolation = &Rule{
	Name: "schema-violation", Category: Declared, Severity: "warning",
	Summary: "The arguments of a call do not fit the schema of its tool",
	Doc: `The schema is that of ` + "`--tools`" + `, or of the tools in the request body. The finding points to the
value that violates it, even if the arguments are written as a string.

Patterns are read as RE2. A pattern that RE2 lacks, such as one with lookahead, is not checked,
and an info says so. The rest of the schema is checked.

**Repair.** None.`,
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
			var text []byte
			at := func(s source.Span) source.Span {
				return source.Span{Start: call.Args.Start + s.Start, End: call.Args.Start + s.End}
			}
			switch call.Form {
			case transcript.ArgsObject:
				text = []byte(c.Text(call.Args))
			case transcript.ArgsString:
				inner := source.Span{Start: call.Args.Start + 1, End: call.Args.End - 1}
				decoded, offset := source.Unescape([]byte(c.Text(inner)))
				text = decoded
				at = func(s source.Span) source.Span {
					return source.Span{Start: inner.Start + int64(offset(int(s.Start))), End: inner.Start + int64(offset(int(s.End)))}
				}
			default:
				continue
			}
			for _, v := range c.Tools.Violations(call.Name.Text(), text) {
				what := "the arguments of " + callName(call) + " break"
				if v.Pointer != "" {
					what = v.Pointer + " in the arguments of " + callName(call) + " breaks"
				}
				f := Finding{Severity: Warning, Span: at(v.Span), Message: what + " the schema: " + v.Message}
				f.Discreet = "the arguments of " + callName(call) + " break the schema: " + v.Broken
				if call.Form == transcript.ArgsObject {
					f.Within = v.Depth
				}
				c.aboutCall(i, f)
			}
		}
	},
}
