package session

import (
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// An ElementKind is a kind of element.
type ElementKind uint8

// The kinds of elements.
const (
	ElementText ElementKind = iota
	ElementReasoning
	ElementMedia
	ElementOther
	ElementCall
	ElementResult
	ElementLoose
)

// An Element is what a turn is made of: a text, a call, a result.
type Element struct {
	Kind   ElementKind
	Turn   int32 // an index of Session.Turns
	Record int32 // from 1
	// Ref is an index of Session.Calls for a call and for its result, and one of Session.Loose for a
	// result without a call; -1 for others, and for a result that another one repeats.
	Ref int32
	// At is the element, Message its message, and Content its text, its arguments or what the result
	// says; in the source.
	At, Message, Content source.Span
	Text                 Text // the beginning of a text or of reasoning
}

// elements adds the elements of a conversation, turn by turn. lo is its first turn; calls and loose
// have the indices of its calls and of its results, -1 for a result that is not loose.
func (r *reader) elements(v *engine.View, lo int32, calls, loose []int32) {
	turns := r.Turns[lo:]
	at := int32(len(r.Elements))
	for _, i := range byTurn(turns, v, len(v.Messages), func(i int) int32 { return int32(i) }) {
		m := &v.Messages[i]
		if m.BlockLo == m.BlockHi {
			e := Element{Kind: ElementText, Ref: -1}
			if said := textOf(v, m.Span()); !said.IsZero() {
				e.Content, e.Text = v.Origin(said), r.keep(v, said, false)
			}
			r.element(v, m, lo, m.Span(), e)
			continue
		}
		for b := m.BlockLo; b < m.BlockHi; b++ {
			block := &v.Blocks[b]
			e := Element{Ref: -1}
			switch block.Kind {
			case transcript.BlockText, transcript.BlockReasoning:
				e.Kind = ElementText
				if block.Kind == transcript.BlockReasoning {
					e.Kind = ElementReasoning
				}
				e.Content, e.Text = r.saying(v, block.Span)
			case transcript.BlockMedia:
				e.Kind = ElementMedia
			case transcript.BlockCall, transcript.BlockServerCall:
				e.Kind, e.Ref = ElementCall, calls[block.Ref]
				e.Content = v.Origin(v.Calls[block.Ref].Args)
			case transcript.BlockResult, transcript.BlockServerResult:
				e.Kind = ElementResult
				e.Content = v.Origin(v.Results[block.Ref].Payload)
				switch fate := v.Pairing.Results[block.Ref]; {
				case loose[block.Ref] >= 0:
					e.Kind, e.Ref = ElementLoose, loose[block.Ref]
				case fate.Fate == pairing.Answers:
					e.Ref = calls[fate.Call]
				}
			default:
				e.Kind = ElementOther
			}
			r.element(v, m, lo, block.Span, e)
		}
	}
	for i := range turns {
		turns[i].ElementLo = at
		at = after(at, len(r.Elements), func(k int32) bool { return r.Elements[k].Turn == lo+int32(i) })
		turns[i].ElementHi = at
	}
}

// element adds an element of a message.
func (r *reader) element(v *engine.View, m *transcript.Message, lo int32, at source.Span, e Element) {
	e.Turn, e.Record, e.At, e.Message = lo+m.Turn, m.Record, v.Origin(at), v.Origin(m.Span())
	r.Elements = append(r.Elements, e)
}

// saying returns where the text of a value is in the source, and keeps its beginning.
func (r *reader) saying(v *engine.View, at source.Span) (source.Span, Text) {
	value := v.Value(at)
	for _, key := range [...]string{"text", "thinking", "reasoning", "content", "summary"} {
		if text := value.Get(key); text.Kind() == source.String {
			value = text
			break
		}
	}
	span := value.Span()
	return v.Origin(span), r.keep(v, span, false)
}
