package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

// callOmitted reports whether the client leaves out the call of a result. Only the result that
// answers the call counts, because another rule drops the others.
func (c *Context) callOmitted(result int) bool {
	l := &c.Pairing.Results[result]
	if l.Fate != pairing.Answers {
		return false
	}
	call, m := &c.Calls[l.Call], c.Results[result].Message
	return (call.Unsent || c.Messages[call.Message].Has(transcript.MessageOmitted)) && call.Message != m && !c.Messages[m].Has(transcript.MessageOmitted)
}

// withoutCall reports a result whose call the client does not send. In the file the two are
// a pair, so it is an error only if the client is about to send them.
func (c *Context) withoutCall(result int) {
	res, call := &c.Results[result], &c.Calls[c.Pairing.Results[result].Call]
	f := Finding{Severity: Info, Refusal: c.cell(profile.Orphan).Text}
	if c.sent() || c.Over && c.Use == transcript.UseLog {
		f.Severity = Error
	}
	if c.Seen(c.rule, f.Severity) {
		f.Message = resultName(res) + " answers a call that the client does not send"
		if c.Messages[call.Message].Has(transcript.MessageAborted) {
			f.Message = resultName(res) + " is sent without its call: the client leaves out the message with the call, which was aborted or failed"
		}
		f.Related = []Related{{"its call is here", call.ID.Span}}
	}
	f.Fix = c.uncalled(result)
	c.aboutResult(result, f)
}

// uncalled returns the operation of the chosen strategy for a result whose call is in the file,
// but not in the request. A placeholder says nothing without its call.
func (c *Context) uncalled(result int) *operation.Operation {
	drop := &operation.DropResults{Results: []int32{int32(result)}, CopyOf: -1}
	switch turn, s := c.turn(c.Results[result].Message), c.strategy(); {
	case s == "leave":
		return nil
	case s == "drop":
		return c.op(turn, operation.Unsafe, "drop the result", drop)
	case s == "" && c.placeholder(int32(result)):
		return c.op(turn, operation.Safe, "drop the placeholder", drop)
	}
	return c.resultAsText(result)
}
