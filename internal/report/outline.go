package report

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"sync"

	"github.com/fatih/color"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Outline reads the elements around what a repair changes, so that a preview shows them. If that
// fails, the preview shows lines; the error is that of the context.
func (o *Options) Outline(ctx context.Context, src *source.Source, f *engine.Fixed, opts engine.Options) error {
	err := contain.Do(func() (err error) {
		o.before, o.after, err = f.Outline(ctx, src, opts)
		return err
	})
	o.outlined = err == nil
	return ctx.Err()
}

// elements are the elements of messages, in the order of their conversations.
type elements struct {
	list []engine.Element
	at   []int   // indices of list, sorted by the starts of the elements
	ends []int64 // the end of the last of the elements up to each of at
}

func newElements(list []engine.Element) elements {
	out := elements{list: list, at: make([]int, len(list))}
	for i := range list {
		out.at[i] = i
	}
	slices.SortStableFunc(out.at, func(a, b int) int { return cmp.Compare(list[a].Span.Start, list[b].Span.Start) })
	end := int64(0)
	for _, i := range out.at {
		end = max(end, list[i].Span.End)
		out.ends = append(out.ends, end)
	}
	return out
}

// near marks the element before a span, which touches none.
func (es *elements) near(s source.Span, marks map[int]bool) {
	if i := sort.Search(len(es.at), func(i int) bool { return es.ends[i] >= s.Start }); i > 0 {
		marks[es.at[i-1]] = true
	}
}

// touched marks the elements that touch a span, and reports whether there are any.
func (es *elements) touched(s source.Span, marks map[int]bool) (found bool) {
	from := sort.Search(len(es.at), func(i int) bool { return es.ends[i] >= s.Start })
	for _, i := range es.at[from:] {
		m := es.list[i].Span
		if m.Start > s.End {
			break
		}
		if m.End >= s.Start {
			marks[i], found = true, true
		}
	}
	return found
}

// around returns the marked elements with one before and one behind each, in order.
func (es *elements) around(marks map[int]bool) []*engine.Element {
	var out []*engine.Element
	last := -1
	sorted := make([]int, 0, len(marks))
	for i := range marks {
		sorted = append(sorted, i)
	}
	slices.Sort(sorted)
	for _, i := range sorted {
		for k := max(last+1, i-1); k <= min(i+1, len(es.list)-1); k++ {
			if es.list[k].Conversation == es.list[i].Conversation {
				out = append(out, &es.list[k])
				last = k
			}
		}
	}
	return out
}

// mostCompared is how many pairs of elements are compared at most, to find the ones that stay. Of
// more, only those nearby are compared: nearest is how many.
const (
	mostCompared = 1 << 14
	nearest      = 32
)

// separates reports whether an edit only changes what is between elements.
func separates(e *edited) bool {
	const between = " ,\t\r\n[]{}"
	return len(bytes.Trim(e.old, between)) == 0 && len(bytes.Trim(e.Text, between)) == 0
}

// outline shows the elements that edits remove and add, if the messages with them are on one line
// each, and the values that they change elsewhere. It reports whether that was all.
func (p *preview) outline(edits []edited) (told bool, err error) {
	if p.pretty = false; !p.opts.outlined {
		return false, nil
	}
	was, is := map[int]bool{}, map[int]bool{}
	var beside []edited // in no element
	var from, to []source.Span
	for i := range edits {
		old, err := p.src.Bytes(edits[i].Span.First(min(edits[i].Span.Len(), previewRead)))
		if err != nil {
			return false, err
		}
		edits[i].old = bytes.Clone(old)
		removes, adds := p.before.touched(edits[i].Span, was), p.after.touched(edits[i].now, is)
		switch {
		case removes && !adds:
			p.after.near(edits[i].now, is)
		case adds && !removes:
			p.before.near(edits[i].Span, was)
		case !adds && !separates(&edits[i]):
			beside = append(beside, edits[i])
		}
		from, to = append(from, edits[i].Span), append(to, edits[i].now)
	}
	old, now := p.before.around(was), p.after.around(is)
	for _, side := range []struct {
		src  *source.Source
		list []*engine.Element
	}{{p.src, old}, {p.fixed.Pieces.Source(), now}} {
		for _, e := range side.list {
			if p.fixed.Before.File.Framing == source.FramingLines {
				continue // a line feed is an error there
			}
			text, err := side.src.Bytes(e.Message.First(min(e.Message.Len(), previewRead)))
			if p.pretty = bytes.IndexByte(text, '\n') >= 0; err != nil || p.pretty {
				return false, err
			}
		}
	}
	rows := outlineOf(old, now, from, to)
	first := slices.IndexFunc(rows, func(r outlined) bool { return r.sign != " " })
	if first < 0 && p.opts.NoExcerpt {
		return false, nil
	}
	if first < 0 {
		return p.values(edits)
	}
	for i, r := range rows {
		near := i+1 < len(rows) && rows[i+1].sign != " " || i > 0 && rows[i-1].sign != " "
		if r.sign != " " || near {
			p.element(r)
		}
	}
	if p.opts.NoExcerpt {
		return true, nil
	}
	return p.values(beside)
}

// An outlined is an element with a sign: "-" if it is removed, "+" if it is added, " " otherwise.
type outlined struct {
	sign string
	*engine.Element
}

// outlineOf returns the elements before and after edits of the spans from and to, each once. What no
// edit touches stays; what is the same although it was written anew, between two that stay, does too.
func outlineOf(old, now []*engine.Element, from, to []source.Span) []outlined {
	kept := func(list []*engine.Element, spans []source.Span) (out []*engine.Element) {
		for _, e := range list {
			if !changes(e.Span, spans) {
				out = append(out, e)
			}
		}
		return out
	}
	var rows []outlined
	o, n := 0, 0
	between := func(toOld, toNow int) { // two that stay
		var a, b []*engine.Element
		for ; o < toOld; o++ {
			if changes(old[o].Span, from) {
				a = append(a, old[o])
			}
		}
		var stays []*engine.Element // of which the other side has none
		for ; n < toNow; n++ {
			switch stay := !changes(now[n].Span, to); {
			case stay && len(b) == 0 && (len(a) == 0 || now[n].Index <= a[0].Index):
				rows = append(rows, outlined{" ", now[n]})
				continue
			case stay:
				stays = append(stays, now[n])
			}
			b = append(b, now[n])
		}
		for _, r := range common(a, b) {
			if r.sign == "+" && slices.Contains(stays, r.Element) {
				r.sign = " "
			}
			rows = append(rows, r.outlined)
		}
	}
	for _, r := range common(kept(old, from), kept(now, to)) {
		if r.sign == " " {
			between(o+slices.Index(old[o:], r.was), n+slices.Index(now[n:], r.Element))
			rows = append(rows, outlined{" ", r.Element})
			o, n = o+1, n+1
		}
	}
	between(len(old), len(now))
	return rows
}

// changes reports whether one of some spans, which are in order, is in an element.
func changes(at source.Span, spans []source.Span) bool {
	from := sort.Search(len(spans), func(i int) bool { return spans[i].End >= at.Start })
	for _, s := range spans[from:] {
		if s.Start > at.End {
			break
		}
		if s.Start < at.End && at.Start < s.End || s.Len() == 0 && at.Start < s.Start && s.Start < at.End {
			return true
		}
	}
	return false
}

// A paired is an element of one of two lists, or of both: then was is that of the first list.
type paired struct {
	outlined
	was *engine.Element
}

// common returns the elements of two lists in order, those that both have once.
func common(old, now []*engine.Element) []paired {
	same := func(a, b *engine.Element) bool {
		return a.Kind == b.Kind && a.Role == b.Role && a.ID == b.ID && a.Tool == b.Tool && a.Size == b.Size &&
			a.Placeholder == b.Placeholder && a.Failed == b.Failed && bytes.Equal(a.Text, b.Text)
	}
	// longest[i][k] is how many elements of old[i:] and now[k:] are the same, in order.
	var longest [][]int
	if len(old)*len(now) <= mostCompared {
		longest = make([][]int, len(old)+1)
		for i := len(old); i >= 0; i-- {
			longest[i] = make([]int, len(now)+1)
			for k := len(now) - 1; k >= 0 && i < len(old); k-- {
				if longest[i][k] = max(longest[i+1][k], longest[i][k+1]); same(old[i], now[k]) {
					longest[i][k] = longest[i+1][k+1] + 1
				}
			}
		}
	}
	// ahead returns how far an element is in front of a list, len(list) if it is not near.
	ahead := func(e *engine.Element, list []*engine.Element) int {
		if n := slices.IndexFunc(list[:min(len(list), nearest)], func(x *engine.Element) bool { return same(e, x) }); n >= 0 {
			return n
		}
		return len(list)
	}
	var out []paired
	for i, k := 0, 0; i < len(old) || k < len(now); {
		drop := i < len(old)
		switch {
		case !drop || k == len(now):
		case same(old[i], now[k]):
			out = append(out, paired{outlined{" ", now[k]}, old[i]})
			i, k = i+1, k+1
			continue
		case longest != nil:
			drop = longest[i+1][k] >= longest[i][k+1]
		default:
			drop = ahead(old[i], now[k:]) == len(now[k:]) || ahead(now[k], old[i:]) < len(old[i:])
		}
		if drop {
			out = append(out, paired{outlined{"-", old[i]}, nil})
			i++
		} else {
			out = append(out, paired{outlined{"+", now[k]}, nil})
			k++
		}
	}
	return out
}

// element writes a row about an element.
func (p *preview) element(r outlined) {
	c := p.style.gutter
	switch r.sign {
	case "-":
		c = p.style.severities[rules.Error]
	case "+":
		c = p.style.fix
	}
	lead := []part{bare("    "), colored(c, r.sign), bare(" "), colored(p.style.gutter, r.Place), bare(" ")}
	what := r.Role.String()
	switch r.Kind {
	case transcript.BlockCall, transcript.BlockServerCall:
		what = "call"
	case transcript.BlockResult, transcript.BlockServerResult:
		what = "result"
	case transcript.BlockReasoning:
		what += " reasoning"
	case transcript.BlockMedia:
		what += " media"
	case transcript.BlockEmptyCalls:
		what += " without calls"
	}
	for _, name := range []string{r.ID, r.Tool} {
		if name != "" {
			what = fmt.Sprintf("%s %s", what, truncate(name, longestTool))
		}
	}
	switch {
	case r.Placeholder && r.Failed:
		what += " [placeholder, error]"
	case r.Placeholder:
		what += " [placeholder]"
	case r.Failed:
		what += " [error]"
	}
	text, behind := "", ""
	if !r.Placeholder && !p.opts.NoExcerpt {
		text = string(source.WholeCharacters(r.Text))
		behind = fmt.Sprintf(" (%s)", bytesOf(r.Size))
	}
	p.clipped(lead, c, what, text, text != "" && int64(len(r.Text)) < r.Size, behind)
}

// clipped writes a row with a text behind it. If not all of the text is there or it does not fit, it
// is cut, and what is behind it says how long it is.
func (p *preview) clipped(lead []part, c *color.Color, what, text string, cut bool, behind string) {
	room := p.opts.width() - measure(lead...)
	whole := what
	if text != "" {
		whole += " " + text
	}
	all := cells([]byte(whole))
	if columns(all) <= room && !cut {
		p.row(append(lead, colored(c, whole))...)
		return
	}
	if text == "" || room-len(behind)-1 < leastRoom {
		behind = ""
	}
	shown := head(all, max(room-len(behind)-1, 1))
	p.row(append(lead, colored(c, written(shown)+ellipsis), bare(behind))...)
}

// keyBefore is a key at the end of a text, perhaps with the beginning of its value.
var keyBefore = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"([^"\\]{1,40})"\s*:\s*"?$`) })

// values shows edits that change values within a line: the key, what was there and what is. It
// reports whether that was all.
func (p *preview) values(edits []edited) (bool, error) {
	type value struct {
		line     int
		key      string
		old, now []byte
	}
	var list []value
	for i := range edits {
		e := &edits[i]
		if e.Span.Len() > previewRead || len(e.Text) > previewRead {
			return false, nil
		}
		from := e.at.Offset - min(int64(e.at.Column-1), previewRead)
		text, err := p.src.Bytes(source.Span{Start: from, End: e.Span.End})
		if err != nil {
			return false, err
		}
		text = bytes.Clone(text)
		before, old := text[:e.Span.Start-from], text[e.Span.Start-from:]
		if bytes.IndexByte(old, '\n') >= 0 || bytes.IndexByte(e.Text, '\n') >= 0 {
			return false, nil
		}
		key := ""
		if m := keyBefore().FindSubmatch(before); m != nil {
			key = string(m[1]) + ": "
		}
		list = append(list, value{e.at.Line + p.grown, key, old, e.Text})
	}
	for _, v := range list {
		lead := []part{colored(p.style.gutter, fmt.Sprintf("%5d |", v.line)), bare(" "), bare(within([]byte(v.key), p.opts.width()/3))}
		room := p.opts.width() - measure(lead...)
		was, is := p.style.severities[rules.Error], p.style.fix
		switch {
		case len(v.old) == 0:
			p.row(append(lead, colored(is, "+ "+within(v.now, room-2)))...)
		case len(v.now) == 0:
			p.row(append(lead, colored(was, "- "+within(v.old, room-2)))...)
		default:
			half := (room - textWidth(" → ")) / 2
			p.row(append(lead, colored(was, within(v.old, half)), bare(" → "), colored(is, within(v.now, half)))...)
		}
	}
	return true, nil
}

// within returns a text in so many columns.
func within(text []byte, room int) string {
	all := cells(text)
	if columns(all) <= room {
		return written(all)
	}
	return written(head(all, max(room-1, 1))) + ellipsis
}
