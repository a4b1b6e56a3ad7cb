package dialect

import (
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// textCalls is a side list in which a call, or a list of calls, is JSON text without
// an id, as in training data. Results have no ids either.
type textCalls struct {
	*SideListDriver
	roles []string // of messages whose content is such a text
}

// Reader implements Driver.
func (d *textCalls) Reader(b *transcript.Builder) Reader {
	r := d.reader(b)
	return hook(&r)
}

// reader returns a reader that has no hooks yet.
func (d *textCalls) reader(b *transcript.Builder) textCallsReader {
	return textCallsReader{sideListReader: d.SideListDriver.reader(b), roles: d.roles}
}

type textCallsReader struct {
	sideListReader
	roles []string
	// list holds the calls of the assistant's last text, and answers counts the
	// results since.
	list    []transcript.Call
	answers int
	spoke   bool // some text was a call
	called  bool // the text of this message was a call
	results int  // before this message
}

// onElement begins a message.
func (r *textCallsReader) onElement(v source.Value) source.Value {
	r.called, r.results = false, len(r.b.Conv.Results)
	return v
}

// onEnd relates the results of a message to the calls.
func (r *textCallsReader) onEnd(source.Value) {
	switch {
	case len(r.b.Conv.Results) > r.results:
		r.settleAnswers()
	case !r.called:
		r.list = nil
	}
}

// onMessage reads a message whose content is a call. It also reads the answer to a
// text that is not a call as plain text: some rows write calls in a notation of
// their own, such as [f(a=1)], and use another role for the answer.
func (r *textCallsReader) onMessage() bool {
	switch m := &r.now; {
	case contains(r.roles, m.roleVal):
		lo := len(r.b.Conv.Calls)
		r.spoke, r.called = true, true
		r.readCalls(m.content)
		r.list, r.answers = r.b.Conv.Calls[lo:], 0
	case m.role == transcript.RoleTool && len(r.roles) > 0 && !r.spoke && r.said && !m.roleVal.Is(string(r.row.Tool.Nth(0))):
		r.text(m.content)
	default:
		return false
	}
	return true
}

// onResult marks a result as answered by position, because it has no id.
func (r *textCallsReader) onResult(_ source.Value, res transcript.Result) transcript.Result {
	res.Answer = transcript.AnswerByPosition
	return res
}

// settleAnswers decides how a list of calls is answered: by one result for all of
// them, because user and assistant texts alternate strictly, or by one result each.
func (r *textCallsReader) settleAnswers() {
	r.answers++
	for i := 1; i < len(r.list) && r.answers <= 2; i++ {
		r.list[i].Answer = transcript.AnswerByPosition
		if r.answers == 1 {
			r.list[i].Answer = transcript.AnswerNone
		}
	}
}

// readCalls reads the calls in a text.
func (r *textCallsReader) readCalls(text source.Value) {
	if text.Kind() != source.String {
		return
	}
	decoded, form, bad := embedded(r.b, text)
	offset := source.EscapedOffset(text.Raw()[1 : len(text.Raw())-1])
	inner := source.NewValue(decoded, 0)
	read := func(c source.Value) {
		block := text
		if c.Span() != inner.Span() {
			at := text.Span().Start + 1
			block = text.Part(source.Span{Start: at + int64(offset(int(c.Span().Start))), End: at + int64(offset(int(c.Span().End)))})
		}
		call := transcript.Call{
			ID: transcript.Token{Span: block.Span()}, Name: transcript.Token{Span: block.Span()},
			Args: block.Span(), Form: transcript.ArgsString, Want: transcript.ArgsWantString, Answer: transcript.AnswerByPosition,
		}
		if name := r.row.Name.In(c); name.Exists() {
			call.Name.Raw = string(name.Raw())
		}
		if form == transcript.ArgsStringBad {
			call.Form = form
			call.SetBad(bad)
		}
		r.b.Call(block, call, 0)
	}
	if form != transcript.ArgsStringOther || inner.Kind() != source.Array {
		read(inner)
		return
	}
	for _, c := range inner.Present() {
		read(c)
	}
}
