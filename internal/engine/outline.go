package engine

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// An Element is a part of a message as people look at it: a call, a result or another block, or
// the whole message if it has no blocks.
type Element struct {
	Kind transcript.BlockKind
	Role transcript.Role // of the message
	// Conversation counts the conversations of the file from 0.
	Conversation int
	// Index is that of the message in its conversation, from 0, and Place how the provider names
	// it: messages.2.
	Index int
	Place string
	// Span is that of the element, and Message that of the message.
	Span, Message source.Span
	ID, Tool      string
	// Text is the beginning of the arguments, the content of the result or the text, as it is
	// written in JSON. Size is the number of its bytes.
	Text []byte
	Size int64
	// Placeholder is set for a result that says that none was recorded, Failed for one that is
	// marked as failed.
	Placeholder, Failed bool
}

// elementText is how many bytes of the text of an element are kept.
const elementText = 400

// Outline returns the elements of the messages that touch one of some spans, and of the messages
// before and behind these, in the order of their conversations. Conversations in texts that are
// unfolded have no elements.
func Outline(ctx context.Context, src *source.Source, opts Options, at []source.Span) ([]Element, error) {
	opts.Rules, opts.Edits, opts.Excerpts, opts.StripReasoning = []*rules.Rule{}, false, false, false
	at = slices.Clone(at)
	slices.SortFunc(at, bySpan)
	o := outliner{at: at}
	_, err := See(ctx, src, opts, func(v *View) error { o.conversation(v); return nil })
	return o.elements, err
}

// Outline returns the elements around what a repair changes, in the source and in the repaired one.
func (f *Fixed) Outline(ctx context.Context, src *source.Source, opts Options) (before, after []Element, err error) {
	var old, now []source.Span
	moved := int64(0)
	for _, e := range f.Pieces.Edits() {
		start := e.Span.Start + moved
		old = append(old, e.Span)
		now = append(now, source.Span{Start: start, End: start + int64(len(e.Text))})
		moved += int64(len(e.Text)) - e.Span.Len()
	}
	if before, err = Outline(ctx, src, opts, old); err == nil {
		after, err = Outline(ctx, f.Pieces.Source(), opts, now)
	}
	return before, after, err
}

// An outliner collects elements.
type outliner struct {
	at       []source.Span // sorted
	elements []Element
}

// touched reports whether a message touches one of the spans.
func (o *outliner) touched(m source.Span) bool {
	i := sort.Search(len(o.at), func(i int) bool { return o.at[i].End >= m.Start })
	return i < len(o.at) && o.at[i].Start <= m.End
}

// conversation collects the elements of a conversation.
func (o *outliner) conversation(v *View) {
	conv := v.Conversation
	if conv.Unfolded != nil {
		return
	}
	shown := make([]bool, len(conv.Messages))
	for i := range conv.Messages {
		if o.touched(conv.Messages[i].Span()) {
			for k := max(0, i-1); k <= min(i+1, len(conv.Messages)-1); k++ {
				shown[k] = true
			}
		}
	}
	for i := range conv.Messages {
		if !shown[i] || !v.c.goesOn(workOfFinding) {
			continue
		}
		m := &conv.Messages[i]
		_, place := v.Place(m.Span())
		whole := Element{Kind: transcript.BlockText, Role: m.Role, Conversation: conv.Index, Index: i, Place: place, Span: m.Span(), Message: m.Span()}
		if m.BlockLo == m.BlockHi {
			text := v.c.now.Look(transcript.MemberContent, m.Span()).Span
			if first := v.Value(text).First().Get("text"); first.Exists() {
				text = first.Span()
			}
			if !text.IsZero() {
				whole.Span = text // the rest of the message can change without it
			}
			o.add(v, whole, text)
		}
		for b := m.BlockLo; b < m.BlockHi; b++ {
			block := &conv.Blocks[b]
			e, text := whole, block.Span
			e.Kind, e.Span = block.Kind, block.Span
			switch block.Kind {
			case transcript.BlockCall:
				call := &conv.Calls[block.Ref]
				e.ID, e.Tool, text = call.ID.Text(), call.Name.Text(), call.Args
			case transcript.BlockResult:
				r := &conv.Results[block.Ref]
				e.ID, e.Tool, text = r.ID.Text(), r.Name.Text(), r.Payload
				e.Placeholder, e.Failed = v.Placeholder(block.Ref), r.Error
			default:
				if v := v.Value(block.Span).Get("text"); v.Exists() {
					text = v.Span()
				}
			}
			o.add(v, e, text)
		}
	}
}

// add adds an element with a text.
func (o *outliner) add(v *View, e Element, text source.Span) {
	e.Size = text.Len()
	e.Text = bytes.Clone(v.Bytes(text.First(min(elementText, cmp.Or(text.Len(), 1)))))
	if text.IsZero() {
		e.Text = nil
	}
	o.elements = append(o.elements, e)
}
