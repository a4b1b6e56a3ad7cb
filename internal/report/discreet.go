package report

import (
	"io"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
)

// discreetly makes a format omit the payload of a transcript if Options request it. It
// changes the findings before the format sees them, so that no format has to know what is
// payload.
func discreetly(format func(io.Writer, Options) Reporter) func(io.Writer, Options) Reporter {
	return func(w io.Writer, opts Options) Reporter {
		r := format(w, opts)
		if opts.NoExcerpt {
			return discreetReporter{r}
		}
		return r
	}
}

// A discreetReporter passes on findings without payload.
type discreetReporter struct{ Reporter }

// File implements Reporter.
func (d discreetReporter) File(r *engine.Report) error {
	out := *r
	out.Findings = r.Findings.Changed(discreet)
	return d.Reporter.File(&out)
}

// Fixed implements FixReporter. Its report has only kinds, numbers and places.
func (d discreetReporter) Fixed(f *engine.Fixed, written bool) error {
	if r, ok := d.Reporter.(FixReporter); ok {
		return r.Fixed(f, written)
	}
	return nil
}

// discreet removes the text of a transcript from a finding, except ids, names, roles and
// types, which show its structure.
func discreet(f *engine.Finding) {
	f.Excerpt, f.RelatedExcerpts = redacted(f), nil
	f.Edits, f.EditAt = nil, nil
	f.Pointer = outside(f)
	if f.Discreet != "" {
		f.Message = f.Discreet
	}
	f.CallID, f.Tool = brief(f.CallID, f.NestedID), brief(f.Tool, f.NestedTool)
}

// brief returns an id or a name. Of an object or an array it returns only the kind, as
// messages do.
func brief(s string, nested bool) string {
	switch {
	case !nested:
		return s
	case strings.HasPrefix(s, "{"):
		return "{…}"
	}
	return "[…]"
}

// outside returns the part of a finding's pointer that leads through fields of the format,
// without the keys of a payload. A fault of bytes can be anywhere in a record, so its pointer
// ends at the record.
func outside(f *engine.Finding) string {
	if f.Rule.Category == rules.Framing {
		return ""
	}
	pointer := f.Pointer
	for range f.Within {
		pointer = pointer[:max(0, strings.LastIndexByte(pointer, '/'))]
	}
	return pointer
}

// structural are the fields whose values show the structure of a transcript, and not its
// content.
var structural = []string{
	"id", "call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id", "toolUseID", "toolUseId",
	"uuid", "parentUuid", "parentId", "parent_id",
	"name", "role", "type",
}

// redacted returns the excerpt of a finding without content: only its underlined part, and
// only if that is an id, a name, a type or a role; otherwise an empty one.
func redacted(f *engine.Finding) engine.Excerpt {
	e := f.Excerpt
	mark := e.Text[e.Mark[0]:e.Mark[1]]
	pointer := outside(f)
	key := pointer[strings.LastIndexByte(pointer, '/')+1:]
	whole := int64(len(mark)) == f.Span.Len() && len(mark) >= 2 && mark[0] == '"' && mark[len(mark)-1] == '"'
	if !whole || !slices.Contains(structural, key) {
		return engine.Excerpt{}
	}
	return engine.Excerpt{
		Text: mark, Mark: [2]int{0, len(mark)},
		CutBefore: e.CutBefore || e.Mark[0] > 0,
		CutAfter:  e.CutAfter || e.Mark[1] < len(e.Text),
	}
}
