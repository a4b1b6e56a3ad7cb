package engine

import (
	"bytes"
	"cmp"
	"context"
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
	c := newChecker(src, opts)
	c.mode = beside{checking{c}}
	return c.inUnits(ctx, take)
}

// inUnits is Units.
func (c *checker) inUnits(ctx context.Context, take func(*Unit) error) (*Report, error) {
	c.units = &units{take: take}
	rep, err := c.run(ctx)
	if err != nil {
		return nil, err
	}
	rep.Findings = Findings{}
	return rep, nil
}

// units splits a source into units.
type units struct {
	take func(*Unit) error
	row  Unit // the current record, if the records are rows
	// started is set once there is a row.
	started bool
	gap     []byte // between two rows
	// elements are the starts of the elements that hold a conversation, in the order in which
	// these were found. lists are the arrays that hold them.
	elements []int64
	lists    []source.Span
	// ended takes each row when it ends, before it is judged; nil to judge it here. joined is set if rows
	// were judged as others ended them.
	ended  func(*Unit) error
	joined bool
	// loose is set if a conversation is in no list. answer is set if there is only one and it
	// is recorded output.
	loose, answer bool
}

// begin ends the current row and begins the next one at a record.
func (u *units) begin(c *checker, rec source.Record) {
	if !isDataset(c.report.File) {
		return
	}
	shared, err := u.onLine(c, rec)
	if shared { // for who reads line by line, the line is one row
		u.row.Span.End = rec.Span.End
		return
	}
	if err = cmp.Or(err, u.endRow(c)); err != nil {
		c.err = cmp.Or(c.err, err)
		return
	}
	u.started = true
	u.row = Unit{Span: rec.Span, Record: int32(rec.Index), File: c.report}
}

// onLine reports whether a record begins on the line on which the current row ends.
func (u *units) onLine(c *checker, rec source.Record) (bool, error) {
	if !u.started || c.report.File.Framing != source.FramingLines || c.err != nil {
		return false, nil
	}
	for at := u.row.Span.End; at < rec.Span.Start; {
		text, err := c.src.Into(u.gap, source.Span{Start: at, End: min(at+lineGap, rec.Span.Start)})
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

// conversation notes where a conversation is.
func (u *units) conversation(conv *transcript.Conversation) {
	if u.started {
		if u.row.Conversations++; u.row.Conversations == 1 {
			u.row.Dialect = conv.Dialect
		} else if u.row.Dialect != conv.Dialect {
			u.row.Dialect = ""
		}
		return
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
}

// check checks a conversation. A panic in a row is one of that row.
func (u *units) check(c *checker, conv *transcript.Conversation) (err error) {
	if !u.started {
		return c.mode.Conversation(conv)
	}
	var caught error
	if func() { defer contain.Catch(&caught); err = c.mode.Conversation(conv) }(); caught != nil {
		u.lose(c, caught)
	}
	return err
}

// lose notes that the current row cannot be checked.
func (u *units) lose(c *checker, err error) {
	u.row.Caught = cmp.Or(u.row.Caught, contain.From(err))
	c.report.File.Doubt()
	c.renew()
}

// endRow passes the current row on and forgets what was found in it.
func (u *units) endRow(c *checker) error {
	row := &u.row
	if !u.started || c.err != nil {
		return c.err
	}
	for _, f := range c.report.File.Faults {
		row.Unreadable = row.Unreadable || f.Unreadable()
		row.Span.Start, row.Span.End = min(row.Span.Start, f.Span.Start), max(row.Span.End, f.Span.End)
	}
	if u.ended != nil {
		return u.ended(row)
	}
	if row.Caught == nil {
		if err := u.judge(c); err != nil {
			u.lose(c, err)
		}
	}
	if c.err != nil {
		return c.err
	}
	err := u.take(row)
	c.forget()
	return err
}

// judge finishes the check of the current row. It returns a panic; other errors are those of c.
func (u *units) judge(c *checker) (caught error) {
	defer contain.Catch(&caught)
	if c.clean() {
		return nil
	}
	file := c.report.File
	if d := c.opts.Dialects.ByName(file.Dialect); d != nil { // as it will be known of the file
		file.CheckOnly = cmp.Or(d.CheckOnly, file.CheckOnly)
	}
	c.file()
	if c.err == nil {
		c.err = c.place(false, u.row.Span.End) // the next row is not known yet
	}
	u.row.Findings = c.report.Findings
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

// end passes on what is left once the source has been read.
func (u *units) end(c *checker) error {
	if u.started {
		if !u.joined {
			if err := u.endRow(c); err != nil {
				return err
			}
		}
		return cmp.Or(c.err, c.src.Unchanged())
	}
	c.file()
	if err := c.finish(); err != nil {
		return err
	}
	if err := c.place(false, c.src.Size()); err != nil {
		return err
	}
	if len(u.elements) == 0 || u.loose || u.answer {
		return u.whole(c)
	}
	slices.Sort(u.elements)
	slices.SortFunc(u.lists, func(a, b source.Span) int { return cmp.Compare(a.Start, b.Start) })
	u.lists = slices.Compact(u.lists)
	elements, err := u.inLists(c)
	if err != nil {
		return err
	}
	return u.each(c, elements)
}

// whole passes on the file as one unit.
func (u *units) whole(c *checker) error {
	f := c.report.File
	return u.take(&Unit{
		Kind: UnitFile, Span: source.Span{End: c.src.Size()}, Conversations: f.Conversations, Dialect: f.Dialect,
		Unreadable: slices.ContainsFunc(f.Faults, func(f transcript.RecordFault) bool { return f.Unreadable() }),
		Findings:   c.report.Findings, File: c.report,
	})
}

// An inList is an element of one of the lists.
type inList struct {
	at   source.Span
	list int32
}

// inLists returns the elements of all lists, in order.
func (u *units) inLists(c *checker) ([]inList, error) {
	var out []inList
	for _, err := range source.Again(c.src, c.report.File.Document) {
		if err != nil {
			return nil, err
		}
		for i, at := range u.lists {
			for _, e := range c.value(at).Elements() {
				if !c.goesOn(workOfValue) {
					break
				}
				out = append(out, inList{e.Span(), int32(i)})
			}
		}
	}
	return out, cmp.Or(c.err, c.src.Err())
}

// each passes on the elements, and then what was found in none of them.
func (u *units) each(c *checker, elements []inList) error {
	next, end := iter.Pull(c.report.Findings.All())
	defer end()
	f, more := next()
	rest := Unit{Kind: UnitRest, Span: source.Span{End: c.src.Size()}, Record: 1, File: c.report}
	before := func(offset int64) { // what is found before it is in no element
		for ; more && f.Span.Start < offset; f, more = next() {
			rest.Findings.Add(f)
		}
	}
	for _, e := range elements {
		out := Unit{Kind: UnitElement, Span: e.at, List: u.lists[e.list], Record: 1, Dialect: c.report.File.Dialect, File: c.report}
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
		if err := cmp.Or(c.err, u.take(&out)); err != nil {
			return err
		}
	}
	if before(c.src.Size() + 1); rest.Findings.Len() == 0 {
		return nil
	}
	return u.take(&rest)
}
