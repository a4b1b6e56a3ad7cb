package repair

import (
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
)

// fold makes a fix of the text that the messages were unfolded into one of the source, and reports
// whether it can. What the fix does to recorded content stays the same, because a string that
// contains JSON has the leaves of that JSON.
func (p *Plan) fold(f *edit.Fix) bool {
	u := p.Conv.Unfolded
	spans, texts := make([]source.Span, len(f.Edits)), make([][]byte, len(f.Edits))
	for i, e := range f.Edits {
		spans[i], texts[i] = e.Span, e.Text
	}
	spans, texts, whole, ok := u.Fold(spans, texts)
	if !ok {
		return false
	}
	for i := range f.Edits {
		f.Edits[i] = edit.Edit{Span: spans[i], Text: texts[i]}
	}
	for _, list := range [][]source.Span{f.Reads, f.Over, f.Gone} {
		for i, s := range list {
			list[i] = u.Origin(s)
		}
	}
	f.Within = []source.Span{whole}
	return true
}
