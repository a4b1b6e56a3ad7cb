package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A UnitKind says what part of a source a unit is.
type UnitKind uint8

// The kinds of units.
const (
	UnitRow     UnitKind = iota // a record of a dataset, or all records on a line
	UnitElement                 // an element of a list of conversations in a document
	UnitRest                    // the rest of such a document; only if something was found there
	UnitFile                    // a source that has no such parts
)

// A Unit is the smallest part of a source that can be left out without breaking a
// conversation, and what the check found in it.
type Unit struct {
	Kind UnitKind
	// Span is the value, without the white space or line end around it. That of a row
	// includes the bytes of its faults, such as NULs before it.
	Span source.Span
	// List is the array that holds an element.
	List   source.Span
	Record int32 // 0 for a file
	// Conversations is the number of conversations in it. The count of an element is 0 or 1.
	Conversations int
	// Dialect is the dialect of its conversations, "" if there are several.
	Dialect string
	// Unreadable is set if the record is not valid JSON.
	Unreadable bool
	// Caught is the panic that ended the check of a row; nil if there was none. Then there are
	// no findings. In other units, a panic ends the check of the source.
	Caught *contain.Error
	// Findings are valid until the next unit.
	Findings Findings
	// File is what is known about the source so far.
	File *Report
}

// Units checks a source like Check and passes its units to take, in order. Rows are passed
// while the source is read, so nothing grows with their number. The report has no findings.
func Units(ctx context.Context, src *source.Source, opts Options, take func(*Unit) error) (*Report, error) {
	u := newUnits(src, opts, take)
	u.mode = beside{checking{u.checker}, u.rows, u.join}
	return u.run(ctx)
}

// rowUnits is the mode of a check that splits a source into rows, and checks each as another mode does. A panic
// in a row is one of that row.
type rowUnits struct {
	mode
	*checker
	row     Unit   // the current record, or all records on its line
	started bool   // there is a row
	gap     []byte // between two rows
	ended   func(*Unit) error
}

// begin ends the current row and begins the next one at a record.
func (u *rowUnits) begin(rec source.Record) {
	if !isDataset(u.report.File) {
		return
	}
	shared, err := u.onLine(rec)
	if shared { // for who reads line by line, the line is one row
		u.row.Span.End = rec.Span.End
		return
	}
	if err = cmp.Or(err, u.endRow()); err != nil {
		u.err = cmp.Or(u.err, err)
		return
	}
	u.started = true
	u.row = Unit{Span: rec.Span, Record: int32(rec.Index), File: u.report}
}

// onLine reports whether a record begins on the line on which the current row ends.
func (u *rowUnits) onLine(rec source.Record) (bool, error) {
	if !u.started || u.report.File.Framing != source.FramingLines || u.err != nil {
		return false, nil
	}
	for at := u.row.Span.End; at < rec.Span.Start; {
		text, err := u.src.Into(u.gap, source.Span{Start: at, End: min(at+lineGap, rec.Span.Start)})
		if err != nil || bytes.IndexByte(text, '\n') >= 0 {
			return false, err
		}
		u.gap, at = text, at+int64(len(text))
	}
	return true, nil
}

// lineGap is the number of bytes between two records that are read at a time.
const lineGap = 64

// isDataset reports whether the records of a file are rows, or are all unreadable.
func isDataset(f *container.File) bool {
	return (f.Framing == source.FramingLines || f.Framing == source.FramingValues) &&
		(f.Container == detect.ContainerConversations || f.Container == f.Framing.String())
}

// Conversation implements mode.
func (u *rowUnits) Conversation(conv *transcript.Conversation, err error) error {
	switch {
	case u.started && errors.As(err, new(*container.RecordError)):
		u.lose(err)
		return nil
	case err != nil:
		return err
	}
	if u.row.Conversations++; u.row.Conversations == 1 {
		u.row.Dialect = conv.Dialect
	} else if u.row.Dialect != conv.Dialect {
		u.row.Dialect = ""
	}
	var caught error
	if func() { defer contain.Catch(&caught); err = u.mode.Conversation(conv, err) }(); caught != nil {
		u.lose(caught)
	}
	return err
}

// lose notes that the current row cannot be checked.
func (u *rowUnits) lose(err error) {
	u.row.Caught = cmp.Or(u.row.Caught, contain.From(err))
	u.report.File.Doubt()
	u.renew()
}

// endRow ends the current row, if there is one.
func (u *rowUnits) endRow() error {
	if !u.started || u.err != nil {
		return u.err
	}
	row := &u.row
	for _, f := range u.report.File.Faults {
		row.Unreadable = row.Unreadable || f.Unreadable()
		row.Span.Start, row.Span.End = min(row.Span.Start, f.Span.Start), max(row.Span.End, f.Span.End)
	}
	return u.ended(row)
}

// End implements mode.
func (u *rowUnits) End() error { return cmp.Or(u.endRow(), u.err) }

// units is the mode of a check that splits a source into units.
type units struct {
	rowUnits
	take func(*Unit) error
	// elements are the starts of the elements that hold a conversation, in the order in which
	// these were found. lists are the arrays that hold them.
	elements []int64
	lists    []source.Span
	joined   bool // rows were checked side by side
	// loose is set if a conversation is in no list. answer is set if there is only one and it
	// is recorded output.
	loose, answer bool
}

// newUnits returns units that are yet to be given a mode in which each is checked.
func newUnits(src *source.Source, opts Options, take func(*Unit) error) *units {
	opts.Excerpts = false
	u := &units{rowUnits: rowUnits{checker: newChecker(src, opts)}, take: take}
	u.checker.mode, u.ended = u, u.judged
	return u
}

// Open implements mode.
func (u *units) Open(r *container.Reading) iter.Seq2[*transcript.Conversation, error] {
	r.Look(u.begin)
	if r.InRows() {
		return u.mode.Open(r)
	}
	return r.Conversations
}

// Conversation implements mode. Outside of rows, it notes where conversations are.
func (u *units) Conversation(conv *transcript.Conversation, err error) error {
	switch {
	case u.started:
		return u.rowUnits.Conversation(conv, err)
	case err != nil:
		return err
	}
	u.answer = conv.Index == 0 && conv.Use == transcript.UseTrace
	switch at := conv.Element; {
	case at.IsZero():
		u.loose = true
	case len(u.elements) == 0 || u.elements[len(u.elements)-1] != at.Start:
		u.elements = append(u.elements, at.Start)
		if len(u.lists) == 0 || u.lists[len(u.lists)-1] != conv.List {
			u.lists = append(u.lists, conv.List)
		}
	}
	return u.mode.Conversation(conv, nil)
}

// judged passes a row that has ended on, and forgets what was found in it.
func (u *units) judged(row *Unit) error {
	if row.Caught == nil {
		if err := u.judge(row); err != nil {
			u.lose(err)
		}
	}
	if u.err != nil {
		return u.err
	}
	err := u.take(row)
	u.forget()
	return err
}

// judge finishes the check of a row. It returns a panic; other errors are those of the checker.
func (u *units) judge(row *Unit) (caught error) {
	defer contain.Catch(&caught)
	if u.clean() {
		return nil
	}
	file := u.report.File
	if d := u.opts.Dialects.ByName(file.Dialect); d != nil { // as it will be known of the file
		file.CheckOnly = cmp.Or(d.CheckOnly, file.CheckOnly)
	}
	if u.file(); u.err == nil {
		u.err = u.place(row.Span.End, false) // the next row is not known yet
	}
	row.Findings = u.report.Findings
	return nil
}

// rows returns the mode of who checks rows beside others. They are judged once they are joined.
func (u *units) rows(w *rowChecker) mode {
	rows := &rowUnits{mode: w, checker: w.checker, ended: w.ended}
	w.in.Look(rows.begin)
	return rows
}

// join passes on rows that were checked beside others.
func (u *units) join(p *rowPart) error {
	u.joined = true
	for i := range p.units {
		u.row, u.row.File = p.units[i], u.report
		if err := u.judged(&u.row); err != nil {
			return err
		}
	}
	return nil
}

// forget forgets what is known about the current row.
func (c *checker) forget() {
	c.firstDial, c.dials = c.report.File.Conversations, c.dials[:0]
	f := c.report.File
	f.CheckOnly = "" // of this row
	f.Logs = nil
	clear(c.logs)
	if c.clean() {
		return
	}
	f.Faults, f.Broken, f.Keys, f.Links = f.Faults[:0], f.Broken[:0], f.Keys[:0], f.Links[:0]
	clear(c.merging)
	clear(c.unreadable)
	c.report.Findings = Findings{}
	c.found = hits{list: c.found.list[:0], words: c.found.words}
	c.current, c.offers = 0, offers{list: c.offers.list[:0]}
}

// End implements mode. It passes on what is left once the source has been read.
func (u *units) End() error {
	defer func() { u.report.Findings = Findings{} }() // the units have them
	switch {
	case u.joined:
		return cmp.Or(u.err, u.src.Unchanged())
	case u.started:
		return cmp.Or(u.rowUnits.End(), u.src.Unchanged())
	}
	u.file()
	if err := u.finish(); err != nil {
		return err
	}
	if err := u.place(u.src.Size(), false); err != nil {
		return err
	}
	if len(u.elements) == 0 || u.loose || u.answer {
		return u.whole()
	}
	slices.Sort(u.elements)
	slices.SortFunc(u.lists, func(a, b source.Span) int { return cmp.Compare(a.Start, b.Start) })
	u.lists = slices.Compact(u.lists)
	elements, err := u.inLists()
	if err != nil {
		return err
	}
	return u.each(elements)
}

// whole passes on the file as one unit.
func (u *units) whole() error {
	f := u.report.File
	return u.take(&Unit{
		Kind: UnitFile, Span: source.Span{End: u.src.Size()}, Conversations: f.Conversations, Dialect: f.Dialect,
		Unreadable: slices.ContainsFunc(f.Faults, func(f transcript.RecordFault) bool { return f.Unreadable() }),
		Findings:   u.report.Findings, File: u.report,
	})
}

// An inList is an element of one of the lists.
type inList struct {
	at   source.Span
	list int32
}

// inLists returns the elements of all lists, in order.
func (u *units) inLists() ([]inList, error) {
	var out []inList
	for _, err := range source.Again(u.src, u.report.File.Document) {
		if err != nil {
			return nil, err
		}
		for i, at := range u.lists {
			for _, e := range u.value(at).Elements() {
				if !u.goesOn(workOfValue) {
					break
				}
				out = append(out, inList{e.Span(), int32(i)})
			}
		}
	}
	return out, cmp.Or(u.err, u.src.Err())
}

// each passes on the elements, and then what was found in none of them.
func (u *units) each(elements []inList) error {
	next, end := iter.Pull(u.report.Findings.All())
	defer end()
	f, more := next()
	rest := Unit{Kind: UnitRest, Span: source.Span{End: u.src.Size()}, Record: 1, File: u.report}
	before := func(offset int64) { // what is found before it is in no element
		for ; more && f.Span.Start < offset; f, more = next() {
			rest.Findings.Add(f)
		}
	}
	for _, e := range elements {
		out := Unit{Kind: UnitElement, Span: e.at, List: u.lists[e.list], Record: 1, Dialect: u.report.File.Dialect, File: u.report}
		if _, is := slices.BinarySearch(u.elements, e.at.Start); is {
			out.Conversations = 1
		}
		before(e.at.Start)
		for ; more && (f.Span.Start < e.at.End || e.at.Contains(f.Span)); f, more = next() {
			if e.at.Contains(f.Span) {
				out.Findings.Add(f)
			} else {
				rest.Findings.Add(f)
			}
		}
		if err := cmp.Or(u.err, u.take(&out)); err != nil {
			return err
		}
	}
	if before(u.src.Size() + 1); rest.Findings.Len() == 0 {
		return nil
	}
	return u.take(&rest)
}
