package rules

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var invalidToolName = &Rule{
	Name: "invalid-tool-name", Category: IDs, Severity: "error",
	Summary: "A call names no tool, or one that the provider refuses",
	Points:  []profile.Point{profile.BadName, profile.BadNamePattern},
	Doc: `The name is absent, empty, too long, or holds characters that the provider does
not take. Models make such names up, and proxies cut them.

**Repair.** White space at the ends is trimmed (safe). ` + "`fix --unsafe`" + ` replaces
characters that are refused, and removes a call without a name together with its
result.`,
	Bad: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"ok"}]`,
	Good: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"ok"}]`,
	Check: func(c *Context) {
		for i := range c.Calls {
			call := &c.Calls[i]
			switch call.Kind {
			case transcript.KindFunction, transcript.KindCustom, transcript.KindLegacyFunction:
			default:
				continue
			}
			if call.Server || call.Unread || c.Pairing.Calls[i].State == pairing.Exempt {
				continue
			}
			turn := c.turn(call.Message)
			name := call.Name.Text()
			f := Finding{Severity: severityOf(c.cell(profile.BadName)), Span: call.Name.Span, Refusal: c.cell(profile.BadName).Text}
			p := c.Profile
			write := func(class operation.Class, title, name string) *operation.Operation {
				if call.NameInTag {
					return nil
				}
				return c.op(turn, class, title, &operation.SetValue{At: call.Name.Span, Text: transcript.Quote(name), Call: int32(i)})
			}
			switch {
			case !call.Name.IsString() || strings.TrimSpace(name) == "":
				f.Message = "the call names no tool"
				if id := pairing.Key(call.ID); id != "" {
					f.Message = "call " + quote(call.ID) + " names no tool"
				}
				f.Fix = c.op(turn, operation.Unsafe, "remove the call with its result", &operation.DropCalls{Calls: []int32{int32(i)}, CopyOf: -1})
			case strings.TrimSpace(name) != name:
				f.Message = "the tool name " + quote(call.Name) + " has white space at an end"
				f.Fix = write(operation.Safe, "trim the white space", strings.TrimSpace(name))
			case !p.NameChars.Allows(name):
				f.Severity, f.Refusal = severityOf(p.Cell(profile.BadNamePattern)), p.Cell(profile.BadNamePattern).Text
				f.Message = "the tool name " + quote(call.Name) + " holds characters that the " + p.Title + " refuses: only " + p.NameChars.String() + " are taken"
				f.Fix = write(operation.Unsafe, "replace the characters", sanitise(name, p.NameChars))
			case p.NameMax > 0 && utf8.RuneCountInString(name) > p.NameMax:
				f.Message = fmt.Sprintf("the tool name has %d characters; the %s takes %d", utf8.RuneCountInString(name), p.Title, p.NameMax)
				f.Fix = write(operation.Unsafe, "shorten the name", string([]rune(name)[:p.NameMax]))
			default:
				continue
			}
			c.aboutCall(i, f)
		}
	},
}

// sanitise puts an underscore in the place of every character that is not in
// the set.
func sanitise(s string, set profile.Charset) string {
	return strings.Map(func(r rune) rune {
		if set.Allows(string(r)) {
			return r
		}
		return '_'
	}, s)
}
