package rules

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var invalidToolName = &Rule{
	Name: "invalid-tool-name", Category: IDs, Severity: "error",
	Summary:    "A tool call has no tool name, or one that the provider does not accept",
	Points:     []profile.Point{profile.BadName, profile.BadNamePattern},
	Strategies: []string{"rename", "drop", "text"},
	What: `Checks for tool names that are missing, empty or too long, or that contain characters that the
provider rejects. A name that is too long is reported as such, whatever its characters are.`,
	Why: `The provider rejects the request. Models invent such names or write a whole command as the name, and
proxies cut names off. A client that stores such a call sends it again with every request.`,
	Repair: `With every strategy, toolguard removes white space from the ends of the name (safe). In all other
cases the strategy decides.

- ` + "`rename`" + ` (default, unsafe): set a missing or empty name to ` + "`unknown_tool`" + `, replace characters that
  are not allowed with ` + "`_`" + `, and shorten a name that is too long.
- ` + "`drop`" + ` (unsafe): drop the call and its result.
- ` + "`text`" + ` (unsafe): turn the call and its result into text.`,
	Bad: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"ok"}]`,
	Good: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"ok"}]`,
	Check: func(c *Context) {
		bad := c.cell(profile.BadName)
		for i := range c.Calls {
			call := &c.Calls[i]
			switch call.Kind {
			case transcript.KindFunction, transcript.KindCustom, transcript.KindLegacyFunction:
			default:
				continue
			}
			if call.Answer.ByProvider() || call.Unread || c.Pairing.Calls[i].State == pairing.Exempt {
				continue
			}
			name := call.Name.Text()
			f := Finding{Severity: severityOf(bad), Span: call.Name.Span, Refusal: bad.Text}
			p := c.Profile
			class, title := operation.Unsafe, ""
			switch {
			case !call.Name.IsString() || strings.TrimSpace(name) == "":
				f.Message = "the call has no tool name"
				if id := pairing.Key(call.ID); id != "" {
					f.Message = "call " + quote(call.ID) + " has no tool name"
				}
				name, title = unknownName, `set name to "`+unknownName+`"`
			case strings.TrimSpace(name) != name:
				f.Message = "the tool name " + quote(call.Name) + " begins or ends with white space"
				class, title = operation.Safe, "trim the white space"
			case p.NameMax > 0 && utf8.RuneCountInString(name) > p.NameMax:
				// Its characters may be refused too, but its length surely is.
				f.Message = fmt.Sprintf("the tool name has %d characters; the %s allows %d", utf8.RuneCountInString(name), p.Title, p.NameMax)
				if title = "shorten the name"; !p.NameChars.Allows(name) {
					title += " and replace the characters that are not allowed"
				}
			case !p.NameChars.Allows(name):
				f.Severity, f.Refusal = severityOf(p.Cell(profile.BadNamePattern)), p.Cell(profile.BadNamePattern).Text
				f.Message = "the tool name " + quote(call.Name) + " contains characters that the " + p.Title + " does not accept: only " + p.NameChars.String() + " are allowed"
				title = "replace the characters that are not allowed"
				if c.Use == transcript.UseTrace && !c.Target {
					f.Severity = Info // it was sent, or stands for another name
				}
			default:
				continue
			}
			switch strategy := c.strategyOr("rename"); {
			case strategy == "rename" || class == operation.Safe:
				if class != operation.Safe {
					name = c.fitName(name)
				}
				f.Fix = c.rename(int32(i), class, title, strings.TrimSpace(name))
			case strategy == "drop":
				f.Fix = c.dropCall(int32(i))
			case strategy == "text":
				f.Fix = c.callAsText(int32(i))
			}
			c.aboutCall(i, f)
		}
	},
}

// unknownName is the name of a tool if none was recorded.
const unknownName = "unknown_tool"

// fitName turns a name into one that the profile accepts.
func (c *Context) fitName(name string) string {
	name = sanitise(name, c.Profile.NameChars)
	if most := c.Profile.NameMax; most > 0 && utf8.RuneCountInString(name) > most {
		name = string([]rune(name)[:most])
	}
	return name
}

// rename returns the operation that renames the tool of a call, nil if the name is part of
// another value.
func (c *Context) rename(i int32, class operation.Class, title, name string) *operation.Operation {
	call := &c.Calls[i]
	turn := c.turn(call.Message)
	if c.signed(turn) {
		class = operation.Unsafe
	}
	switch {
	case call.NameInTag:
		return nil
	case !call.Name.Present():
		return c.op(turn, class, title, &operation.AddMember{At: c.Blocks[call.Block].Span, Member: transcript.MemberCallName, Text: source.Quote(name)})
	}
	return c.op(turn, class, title, &operation.SetValue{At: call.Name.Span, Text: source.Quote(name), Call: i})
}

// sanitise replaces every character that is not in the set by an underscore.
func sanitise(s string, set profile.Charset) string {
	return strings.Map(func(r rune) rune {
		if set.Allows(string(r)) {
			return r
		}
		return '_'
	}, s)
}
