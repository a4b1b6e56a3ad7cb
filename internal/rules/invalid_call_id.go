package rules

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var invalidCallID = &Rule{
	Name: "invalid-call-id", Category: IDs, Severity: "error for ids that no provider accepts; else by provider",
	Summary: "The provider does not accept the id of a call",
	Points:  []profile.Point{profile.BadID, profile.LongID},
	What:    `Checks for call ids that the provider does not accept.`,
	Why: `Every provider rejects an id that is not a string, begins or ends with white space, or contains
control characters. Beyond that, each provider has its own rules. Anthropic accepts letters,
digits, ` + "`_`" + ` and ` + "`-`" + `. Mistral accepts exactly nine letters and digits. OpenAI accepts up to 64
characters. Histories that move from one provider to another break these rules.`,
	Repair: `toolguard rewrites the id in the call, in its results and in every copy (safe). The same id always
becomes the same new id, and different ids stay different.`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"functions.Bash:0","name":"Bash","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"functions.Bash:0","content":"ok"}]}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"functions_Bash_0","name":"Bash","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_Bash_0","content":"ok"}]}]`,
	Check: func(c *Context) {
		told := map[string]bool{}
		look := func(t transcript.Token) (sev Severity, what, text string) {
			if pairing.Key(t) == "" || c.NumericIDs && isNumber(t) || c.AnyIDs {
				return Off, "", ""
			}
			if sev, what, text = judgeID(t, c.Profile); sev == Off || told[t.Raw] {
				return Off, "", ""
			}
			told[t.Raw] = true
			return sev, what, text
		}
		fix := func(call, result int32) *operation.Operation {
			if call < 0 { // nothing else has its id
				return c.op(c.turn(c.Results[result].Message), operation.Safe, "rewrite the id", &operation.RenameID{Call: -1, Result: result})
			}
			turn := c.turn(c.Calls[call].Message)
			class := operation.Safe
			if c.signed(turn) {
				class = operation.Unsafe
			}
			return c.op(turn, class, "rewrite the id in the call and its result", &operation.RenameID{Call: call, Result: result})
		}
		// If an id also occurs in a message that no provider sees, the finding is about the
		// other place.
		judged := func(i int) bool {
			call := &c.Calls[i]
			return !call.Answer.ByProvider() && call.Kind != transcript.KindApproval && c.Pairing.Calls[i].State != pairing.Exempt
		}
		for _, hidden := range []bool{false, true} {
			for i := range c.Calls {
				call := &c.Calls[i]
				if !judged(i) || c.hidden(call.Message) != hidden {
					continue
				}
				if sev, what, text := look(call.ID); sev != Off {
					c.aboutCall(i, Finding{Severity: sev, Message: "the id " + quote(call.ID) + " " + what, Refusal: text, Fix: fix(int32(i), c.Pairing.Calls[i].Result)})
				}
			}
			for i := range c.Results {
				res := &c.Results[i]
				if res.Answer.ByProvider() || res.Kind == transcript.KindApproval || c.Pairing.Results[i].Fate == pairing.Ignored || c.hidden(res.Message) != hidden {
					continue
				}
				// What is wrong with the id of the call was told already.
				if k := c.Pairing.Results[i].Call; k >= 0 && res.ID.Raw == c.Calls[k].ID.Raw && judged(int(k)) && (hidden || !c.hidden(c.Calls[k].Message)) {
					continue
				}
				if sev, what, text := look(res.ID); sev != Off {
					c.aboutResult(i, Finding{Severity: sev, Message: "the id " + quote(res.ID) + " " + what, Refusal: text, Fix: fix(c.Pairing.Results[i].Call, int32(i))})
				}
			}
		}
	},
}

// isNumber reports whether an id is a number.
func isNumber(t transcript.Token) bool {
	return t.Raw != "" && (t.Raw[0] == '-' || '0' <= t.Raw[0] && t.Raw[0] <= '9')
}

// judgeID says what is wrong with an id.
func judgeID(t transcript.Token, p *profile.Profile) (sev Severity, what, text string) {
	if !t.IsString() {
		return Error, "is not a string", p.Cell(profile.BadID).Text
	}
	id := t.Text()
	n, plain := len(id), p.IDChars != profile.AnyText && p.IDChars.Allows(id)
	if !plain {
		n = utf8.RuneCountInString(id)
	}
	switch {
	case !plain && id != strings.TrimFunc(id, unicode.IsSpace):
		return Error, "begins or ends with white space", p.Cell(profile.BadID).Text
	case !plain && strings.IndexFunc(id, unicode.IsControl) >= 0:
		return Error, "contains a control character", p.Cell(profile.BadID).Text
	case !plain && !p.IDChars.Allows(id):
		return severityOf(p.Cell(profile.BadID)), "contains characters that the " + p.Title + " does not accept: only " + p.IDChars.String() + " are allowed", p.Cell(profile.BadID).Text
	case n < p.IDMin:
		return severityOf(p.Cell(profile.BadID)), fmt.Sprintf("has %d characters; the %s allows %d", n, p.Title, p.IDMin), p.Cell(profile.BadID).Text
	case p.IDMax > 0 && n > p.IDMax:
		return severityOf(p.Cell(profile.BadID)), fmt.Sprintf("has %d characters; the %s allows %d", n, p.Title, p.IDMax), p.Cell(profile.BadID).Text
	case p.IDSoftMax > 0 && n > p.IDSoftMax:
		return severityOf(p.Cell(profile.LongID)), fmt.Sprintf("has %d characters; the %s may allow only %d", n, p.Title, p.IDSoftMax), p.Cell(profile.LongID).Text
	}
	return Off, "", ""
}
