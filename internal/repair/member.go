package repair

import (
	"strings"
	"unicode"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/transcript"
)

// addMember writes a member of an element where it is not there, or holds
// nothing.
func (p *Plan) addMember(op *operation.Operation) bool {
	if whole([]byte(op.Text)) != nil {
		return false
	}
	for path := range p.Dialect.Members[op.Member].Alternatives() {
		owner := p.at(op.Span)
		if i := strings.LastIndexByte(string(path), '.'); i >= 0 {
			owner = path[:i].In(owner)
		}
		if path != "" && owner.Kind() == transcript.Object && members(owner) > 0 {
			p.setToken(transcript.TokenOf(owner.Get(path.Key()), owner.Span()), path.Key(), op.Text)
			return true
		}
	}
	return false
}

// trimText cuts the white space at the end of a message's text.
func (p *Plan) trimText(m int32) bool {
	text := p.Dialect.Members[transcript.MemberLastText].In(p.value(m))
	if text.Kind() != transcript.String {
		return false
	}
	p.set(text.Span(), transcript.Quote(strings.TrimRightFunc(text.Str(), unicode.IsSpace)))
	return true
}

// holding returns the object inside of v, or v itself, of which the value at a
// span is a member.
func holding(v transcript.Value, member transcript.Span) transcript.Value {
	for _, val := range v.Members() {
		switch {
		case val.Span() == member:
			return v
		case val.Span().Contains(member):
			return holding(val, member)
		}
	}
	for _, e := range v.Elements() {
		if e.Span().Contains(member) {
			return holding(e, member)
		}
	}
	return v
}
