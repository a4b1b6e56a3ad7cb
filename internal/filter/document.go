package filter

import (
	"bytes"
	"io"

	"github.com/toolguard/toolguard/internal/digest"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/source"
)

// A part is an element of a list of conversations.
type part struct {
	at, list source.Span
	judged   bool             // it holds a conversation
	found    *engine.Findings // nil for none
	left     *engine.Findings // those after the repair
	names    []string         // the rules that reject it
}

// document filters the elements of the lists in a document.
func (r *run) document() error {
	repairs := r.repairable(&r.beside)
	for i := range r.parts {
		p := &r.parts[i]
		p.names, p.left = r.failing(p.found), p.found
		repairs = repairs || r.repairable(p.found)
	}
	var edits []edit.Edit
	if repairs {
		var err error
		if edits, err = r.repairParts(); err != nil {
			return err
		}
	}
	if len(r.failing(&r.beside)) > 0 {
		return &Error{beside}
	}
	err := r.tryParts()
	if err == nil {
		err = r.open()
	}
	if err == nil {
		err = r.writeKept(edits)
	}
	if err == nil {
		err = r.writeRejects()
	}
	return err
}

// repairParts repairs the document and returns the edits. It sets which elements are rejected
// all the same, and what is found beside them.
func (r *run) repairParts() ([]edit.Edit, error) {
	f, unproved, err := r.settle(r.src, *r.Fix)
	if err != nil || f == nil {
		for i := range r.parts {
			if p := &r.parts[i]; unproved {
				p.names = r.asked(p.found)
			}
		}
		return nil, err
	}
	var edits []edit.Edit
	after := &run{Options: r.Options, ctx: r.ctx, parts: r.parts}
	if f.Changed() {
		edits = f.Edits()
		after.parts = nil
		opts := r.Check
		if opts.Dialect == nil { // a repair can remove what shows the dialect
			opts.Dialect = opts.Dialects.ByName(r.result.Report.File.Dialect)
		}
		if _, err := engine.Units(r.ctx, f.Pieces.Source(), opts, after.unit); err != nil {
			return nil, err
		}
		if len(after.parts) != len(r.parts) {
			return nil, &Error{recounted}
		}
	}
	// The report of the repair also says which repairs could not be proved.
	r.beside = engine.Findings{}
	left := make([]*engine.Findings, len(after.parts))
	i := 0
	for found := range f.After.Findings.All() {
		for i < len(left) && after.parts[i].at.End < found.Span.End {
			i++
		}
		switch {
		case i == len(left) || !after.parts[i].at.Contains(found.Span):
			r.beside.Add(found)
			continue
		case left[i] == nil:
			left[i] = &engine.Findings{}
		}
		left[i].Add(found)
	}
	for i := range r.parts {
		r.parts[i].names, r.parts[i].left = r.failing(left[i]), left[i]
	}
	return edits, nil
}

// writeKept writes the document without the rejected elements.
func (r *run) writeKept(edits []edit.Edit) error {
	out := &edited{run: r, edits: edits}
	for lo, hi := 0, 0; lo < len(r.parts); lo = hi {
		for hi = lo; hi < len(r.parts) && r.parts[hi].list == r.parts[lo].list; hi++ {
		}
		if err := out.list(r.parts[lo:hi]); err != nil {
			return err
		}
	}
	_, err := out.upTo(r.src.Size())
	return err
}

// list writes a list without the rejected elements. Each takes one separator with it: the one
// behind it, or the one before it at the end of the list. If no element is left, the list
// keeps no white space either.
func (e *edited) list(parts []part) error {
	kept, cut := int64(-1), int64(-1) // the end of the last kept element, and where the rejected ones behind it begin
	for i := range parts {
		p := &parts[i]
		if len(p.names) > 0 {
			if cut < 0 {
				cut = p.at.Start
			}
			continue
		}
		if cut >= 0 {
			if _, err := e.upTo(cut); err != nil {
				return err
			}
			e.at, cut = p.at.Start, -1
		}
		if _, err := e.upTo(p.at.Start); err != nil {
			return err
		}
		repaired, err := e.upTo(p.at.End)
		if err != nil {
			return err
		}
		if kept = p.at.End; p.judged {
			e.kept(repaired, p.left)
		} else {
			e.result.NotJudged++
		}
	}
	if cut < 0 {
		return nil
	}
	from, to := kept, parts[len(parts)-1].at.End
	if kept < 0 {
		from, to = parts[0].list.Start+1, parts[0].list.End-1
	}
	_, err := e.upTo(from)
	e.at = to
	return err
}

// writeRejects writes the rejected elements as an array.
func (r *run) writeRejects() error {
	to := r.rejects
	if to == nil {
		to = io.Discard
	}
	before := "[\n"
	for i := range r.parts {
		p := &r.parts[i]
		if len(p.names) == 0 {
			continue
		}
		if _, err := io.WriteString(to, before); err != nil {
			return err
		}
		before = ",\n"
		if err := r.reject(p.names, Reason{Record: 1, Span: p.at}, p.found); err != nil {
			return err
		}
	}
	end := "\n]\n"
	if before == "[\n" {
		end = "[]\n"
	}
	_, err := io.WriteString(to, end)
	return err
}

// reject writes the bytes of a reason to the rejects and counts it.
func (r *run) reject(names []string, reason Reason, found *engine.Findings) error {
	sum := digest.New()
	if err := r.copy(reason.Span, r.rejects, sum); err != nil {
		return err
	}
	sum.Sum(reason.SHA256[:0])
	return r.rejected(names, reason, found)
}

// whole keeps or rejects a source of one conversation as a whole.
func (r *run) whole() error {
	u := r.file
	if judged := u.Conversations > 0 || u.Unreadable; judged && !r.Whole {
		at, row, err := r.oneRow()
		switch {
		case err != nil:
			return err
		case row:
			u.Kind, u.Span, u.Record = engine.UnitRow, at, 1
			if err := r.rows.row(r, u); err != nil {
				return err
			}
			return r.rows.end(r)
		case u.Unreadable:
			return &Error{broken}
		case u.Conversations > 1:
			return &Error{scattered}
		}
		return &Error{alone}
	}
	names := r.failing(&u.Findings)
	if u.Unreadable && len(names) == 0 {
		names = []string{unreadable}
	}
	out, left := &edited{run: r}, &u.Findings
	if r.repairable(&u.Findings) {
		f, unproved, err := r.settle(r.src, *r.Fix)
		switch {
		case err != nil:
			return err
		case unproved:
			names = r.asked(&u.Findings)
		case f != nil:
			left, out.edits = &f.After.Findings, f.Edits()
			names = r.failing(left)
		}
	}
	if len(names) > 0 {
		if !u.Unreadable {
			if err := r.tryWhole(&u.Findings); err != nil {
				return err
			}
		}
		if err := r.openWhole(false); err != nil {
			return err
		}
		return r.reject(names, Reason{Record: 1, Span: u.Span}, &u.Findings)
	}
	if err := r.openWhole(true); err != nil {
		return err
	}
	repaired, err := out.upTo(r.src.Size())
	if u.Conversations > 0 {
		r.kept(repaired, left)
	}
	if err != nil || r.Whole || r.result.Report.File.Framing != source.FramingDocument {
		return err
	}
	if _, row, err := r.oneRow(); row || err != nil {
		return err
	}
	return r.writeRejects() // of a document without conversations: an empty array
}

// openWhole opens the output that the source belongs to as a whole. A dataset has both.
func (r *run) openWhole(kept bool) (err error) {
	switch {
	case !r.Whole:
		err = r.open()
	case kept:
		r.out, err = r.Out()
	case r.Rejects != nil:
		r.rejects, err = r.Rejects()
	}
	return err
}

// oneRow reports whether the source may be a dataset with one row, and returns its value: a
// conversation that is inside an object or an array, on one line.
func (r *run) oneRow() (value source.Span, is bool, err error) {
	f := r.result.Report.File
	if !r.Row || f.Framing != source.FramingDocument {
		return value, false, nil
	}
	ended := false // the line
	for at := int64(0); at < r.src.Size(); at += copySize {
		text, err := r.src.Into(r.buf, source.Span{Start: at, End: min(at+copySize, r.src.Size())})
		if err != nil {
			return value, false, err
		}
		r.buf = text
		from := 0
		if value.End == 0 {
			if at == 0 && bytes.HasPrefix(text, []byte(byteOrderMark)) {
				from = len(byteOrderMark)
			}
			if from += len(text[from:]) - len(bytes.TrimLeft(text[from:], white)); from == len(text) {
				continue
			}
			if text[from] == '{' && f.Pointer == "" && !r.file.Unreadable {
				return value, false, nil // a message
			}
			value.Start = at + int64(from)
		}
		if end := len(bytes.TrimRight(text, white)); end > from {
			if ended || bytes.IndexByte(text[from:end], '\n') >= 0 {
				return value, false, nil
			}
			value.End = at + int64(end)
		}
		ended = ended || bytes.IndexByte(text[from:], '\n') >= 0
	}
	return value, true, nil
}

// white is the white space of JSON.
const white = " \t\r\n"
