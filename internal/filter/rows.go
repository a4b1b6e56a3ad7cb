package filter

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/source"
)

// copyEvery is the number of bytes of kept rows after which they are written.
const copyEvery = 1 << 20

// rows writes the rows of a dataset while the source is read.
type rows struct {
	written  int64 // everything before it has been written or rejected
	valueEnd int64 // the end of the previous row's value
	text     []byte
	tried    int    // rejected rows of which more repairs were tried
	unfit    string // why the repaired row could not be stored
}

// row takes the next row.
func (w *rows) row(r *run, u *engine.Unit) error {
	if !r.started {
		r.result.Report = u.File
		if !r.sure() {
			return errUnsure
		}
		if err := r.open(); err != nil {
			return err
		}
		r.started = true
	}
	before := w.valueEnd
	w.valueEnd = u.Span.End
	if u.Caught != nil {
		return w.lose(r, u, before, u.Caught)
	}
	names := r.failing(&u.Findings)
	repairs := !u.Unreadable && r.repairable(&u.Findings)
	if !u.Unreadable && len(names) == 0 && (u.Conversations == 0 || !repairs) {
		if err := r.passes(u, nil, &u.Findings); err != nil {
			return err
		}
		return w.pass(r, u)
	}
	at, err := w.bounds(r, u.Span, before)
	if err != nil {
		return err
	}
	unfit := ""
	if repairs {
		text, left, after, err := w.repair(r, u, at)
		switch caught := contain.From(err); {
		case caught != nil && r.src.Err() == nil:
			return w.lose(r, u, before, caught)
		case err != nil:
			return err
		}
		unfit = w.unfit
		if names = left; text != nil && len(names) == 0 {
			if err := r.passes(u, text, after); err != nil {
				return err
			}
			if err := r.copy(source.Span{Start: w.written, End: at.Start}, r.out); err != nil {
				return err
			}
			w.written = at.End
			_, err := r.out.Write(text)
			return err
		}
		if len(names) == 0 {
			if err := r.passes(u, nil, &u.Findings); err != nil {
				return err
			}
			return w.pass(r, u)
		}
	}
	if u.Unreadable && len(names) == 0 {
		names = []string{unreadable}
	}
	if err := w.tryRow(r, u, at); err != nil {
		return err
	}
	return w.rejected(r, names, Reason{Record: u.Record, Span: at, Unfit: unfit}, &u.Findings)
}

// rejected leaves a row out of what passes.
func (w *rows) rejected(r *run, names []string, reason Reason, found *engine.Findings) error {
	if err := r.copy(source.Span{Start: w.written, End: reason.Span.Start}, r.out); err != nil {
		return err
	}
	w.written = reason.Span.End
	return r.reject(names, reason, found)
}

// lose rejects a row whose check or repair panicked. before is the end of the value of the
// previous row.
func (w *rows) lose(r *run, u *engine.Unit, before int64, caught *contain.Error) error {
	r.result.Caught = cmp.Or(r.result.Caught, caught)
	at, err := w.bounds(r, u.Span, before)
	if err != nil {
		return err
	}
	return w.rejected(r, []string{InternalError}, Reason{Record: u.Record, Span: at, Internal: true}, nil)
}

// passes counts a row that passes, with its text if it was repaired and the findings that are left,
// and tells of it. One without a conversation is not judged unless it had to be repaired.
func (r *run) passes(u *engine.Unit, text []byte, left *engine.Findings) error {
	p := Passed{Record: u.Record, Span: u.Span, Text: text, Judged: u.Conversations > 0 || text != nil}
	if p.Judged {
		p.Warned = r.kept(text != nil, left)
	} else {
		r.result.NotJudged++
	}
	if r.Passed == nil {
		return nil
	}
	return r.Passed(&p)
}

// unreadable is the rule that counts a row that cannot be read if no selected rule reports it.
const unreadable = "invalid-json"

// pass lets a row pass as it is.
func (w *rows) pass(r *run, u *engine.Unit) error {
	if u.Span.End-w.written < copyEvery {
		return nil
	}
	from := w.written
	w.written = u.Span.End
	return r.copy(source.Span{Start: from, End: w.written}, r.out)
}

// end writes what is behind the last row.
func (w *rows) end(r *run) error {
	return r.copy(source.Span{Start: w.written, End: r.src.Size()}, r.out)
}

// bounds returns the bytes of a row: its value, the blanks before it and its line end. If
// several rows share a line, the line end stays behind for the others. before is the end of
// the value of the previous row.
func (w *rows) bounds(r *run, value source.Span, before int64) (source.Span, error) {
	before = max(before, w.written)
	start, err := r.before(value.Start, before)
	if err != nil {
		return source.Span{}, err
	}
	shared := start == before && before > 0
	if shared {
		if shared, err = r.inLine(before); err != nil {
			return source.Span{}, err
		}
	}
	end, lineEnd, err := r.behind(value.End)
	if lineEnd && !shared {
		end++
	}
	return source.Span{Start: start, End: end}, err
}

// inLine reports whether the byte before an offset neither ends a line nor a byte order mark.
func (r *run) inLine(at int64) (bool, error) {
	text, err := r.src.Into(r.buf, source.Span{Start: max(0, at-int64(len(byteOrderMark))), End: at})
	if err != nil {
		return false, err
	}
	r.buf = text
	return text[len(text)-1] != '\n' && string(text) != byteOrderMark, nil
}

// repair repairs a row. It returns nil if the row stays as it is, the rules that reject it
// afterwards, and what is found in the repaired text. A panic is its error.
func (w *rows) repair(r *run, u *engine.Unit, at source.Span) (text []byte, left []string, after *engine.Findings, err error) {
	defer contain.Catch(&err)
	w.unfit = ""
	if w.text, err = r.src.Into(w.text, at); err != nil {
		return nil, nil, nil, err
	}
	row := source.FromBytes(r.src.Name(), w.text)
	if r.file == nil { // a source of only one row is a document for a check
		row.AsLines()
	}
	opts := *r.Fix
	if opts.Dialect == nil {
		opts.Dialect = opts.Dialects.ByName(u.Dialect)
	}
	f, unproved, err := r.settle(row, opts)
	if err != nil {
		return nil, nil, nil, err
	}
	asIs := r.failing(&u.Findings)
	switch {
	case unproved:
		return nil, r.asked(&u.Findings), nil, nil
	case f == nil || f.Before.File.Conversations != u.Conversations:
		return nil, asIs, nil, nil // alone, the row is read in another way
	}
	alone := r.failing(&f.Before.Findings)
	for _, name := range asIs {
		if !slices.Contains(alone, name) { // nobody knows whether it is repaired
			return nil, asIs, nil, nil
		}
	}
	if left = r.failing(&f.After.Findings); !f.Changed() || len(left) > 0 {
		return nil, left, nil, nil
	}
	text = f.Pieces.Source().Text()
	if r.Fix.Dialect == nil {
		// Whoever checks the output does not know which dialect the row was read in.
		if left, err = r.fails(text); err != nil || len(left) > 0 {
			return nil, left, nil, err
		}
	}
	if r.Fit == nil {
		return text, nil, &f.After.Findings, nil
	}
	stored, err := r.Fit(w.text, text)
	if err != nil {
		w.unfit = "the repaired row does not fit the columns: " + err.Error()
		return nil, r.asked(&u.Findings), nil, nil
	}
	if !bytes.Equal(stored, text) {
		if left, err = r.fails(stored); err != nil || len(left) > 0 {
			return nil, left, nil, err
		}
	}
	return text, nil, &f.After.Findings, nil
}

// fails returns the rules that reject a row whose dialect is not known. It returns none if the
// row alone does not tell what it is.
func (r *run) fails(row []byte) ([]string, error) {
	src := source.FromBytes(r.src.Name(), row)
	if r.file == nil {
		src.AsLines()
	}
	rep, err := engine.Check(r.ctx, src, r.Check)
	if err != nil || rep.Skipped != "" || !rep.File.Sure {
		return nil, err
	}
	return r.failing(&rep.Findings), nil
}

// asked returns the rules of findings that reject or whose repair was requested.
func (r *run) asked(found *engine.Findings) []string {
	var fs engine.Findings
	if found == nil {
		return nil
	}
	for f := range found.All() {
		if f.Severity >= r.FailOn || r.Fix.Allows(f) {
			f.Severity = max(f.Severity, r.FailOn)
			fs.Add(f)
		}
	}
	return r.failing(&fs)
}
