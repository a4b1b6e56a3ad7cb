package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"sort"
	"unicode/utf8"
)

const (
	// longLine is the length from which readLine looks for the end of a line before it
	// loads the line. The buffer then becomes no larger than the line.
	longLine = 1 << 20
	// maxRecord is the largest size of a record. The model counts the bytes of a message
	// in 32 bits.
	maxRecord = math.MaxUint32
	// peekSize is how many bytes are first read beyond the window.
	peekSize = 4 << 10
	// A record that is spread over several lines is joined from at most joinLines lines
	// and joinBytes bytes.
	joinLines = 64
	joinBytes = 16 << 20
	// The framing is decided from at most sampleRecords records that start within the
	// first sampleBytes bytes.
	sampleRecords = 64
	sampleBytes   = 64 << 20
)

// What was expected after a complete value.
const (
	wantLineEnd = "the end of the line"
	wantEnd     = "the end of the file"
	wantNext    = "white space or another value"
)

// A Reader splits a source into records. It holds one record at a time.
type Reader struct {
	src  *Source
	scan Scanner
	win  window
	long int64 // longLine, except in tests
	pos  int64 // where to look for the next record
	n    int   // the number of records returned

	decided bool
	framing Framing
	reason  string
	doc     *document // for FramingDocument, until it is returned
	err     error     // the error that Next returns from now on

	// line is the line at pos, kept because it may hold several values. whole is the end of
	// the last whole value that was read from a line, and shared says that its line has
	// another one before it.
	line   line
	whole  int64
	shared bool
	// Lines that end at or before values are known to consist of complete values.
	values int64
	// clean is the last answer of cutAtNUL. There is no NUL to cut at in [from, to). If
	// cut is set, there is one at to.
	clean struct {
		from, to int64
		cut      bool
	}
	// wasted is the number of bytes that join examined in vain.
	wasted int64

	// near is the last readable record of a line.
	near neighbour

	// peeked is the buffer of the last peek, and peekedAt its offset.
	peeked   []byte
	peekedAt int64
}

// A line is the bytes [start, end) and the offset of the next line.
type line struct {
	start, end, next int64
}

// A document is what decide has already learned about the only record of the source.
type document struct {
	start int64
	nul   Span
	scan  Scan
	// like is set if the text starts like a JSON document. bracket is set if the first
	// line is only an opening bracket.
	like, bracket bool
	// pages is set if the document is not held in memory.
	pages *pages
}

// NewReader returns a reader of the records of src.
func NewReader(src *Source) *Reader {
	r := newReader(src, chunkSize, longLine)
	r.win.text = src.text
	return r
}

func newReader(src *Source, chunk, long int64) *Reader {
	return &Reader{src: src, scan: newScanner(src), win: window{src: src, chunk: chunk, most: maxRecord}, long: long}
}

// reset makes the reader a new one, in the same memory.
func (r *Reader) reset() {
	win := r.win
	if win.text == nil {
		win.base, win.buf = 0, win.buf[:0]
	}
	*r = Reader{src: r.src, scan: r.scan, win: win, long: r.long, peeked: r.peeked[:0]}
}

// Records yields the records of src, followed by the error that ended reading early, if
// any. A record is valid until the next one.
func Records(src *Source) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		defer func() { src.near = Value{} }()
		look := func(rec Record, err error) bool {
			src.near = rec.Value
			return yield(rec, err)
		}
		if src.ahead {
			readAhead(func(s swap) iter.Seq2[Record, error] { return records(src, s) }, look)
		} else {
			records(src, nil)(look)
		}
	}
}

// Again yields a record of src that was read earlier and is still valid.
func Again(src *Source, rec Record) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		defer func() { src.near = Value{} }()
		src.near = rec.Value
		yield(rec, nil)
	}
}

func records(src *Source, swap swap) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		r := NewReader(src)
		r.win.swap = swap
		for {
			rec, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// Framing returns the framing of the source. It decides from the bytes and reads only as
// many as it needs, often one line.
func (r *Reader) Framing() (Framing, error) {
	if !r.decided {
		r.decided = true
		r.err = r.decide()
	}
	if errors.Is(r.err, io.EOF) {
		return r.framing, r.src.failure()
	}
	return r.framing, cmp.Or(r.err, r.src.failure())
}

// Reason says why the framing is FramingNone, without the name of the file: `invalid
// JSON: unexpected character 'P' at byte 1`.
func (r *Reader) Reason() string { return r.reason }

// Next returns the next record, or io.EOF after the last one. The record's Value is valid
// until the next call.
func (r *Reader) Next() (Record, error) {
	if _, err := r.Framing(); err != nil {
		return Record{}, err
	}
	if r.err != nil {
		return Record{}, r.err
	}
	var rec Record
	switch r.framing {
	case FramingDocument:
		rec, r.err = r.nextDocument()
	case FramingLines:
		rec, r.err = r.nextLine()
	case FramingValues:
		rec, r.err = r.nextValue()
	default:
		r.err = io.EOF
	}
	if r.err = cmp.Or(r.err, r.src.failure()); r.err != nil {
		return Record{}, r.err
	}
	r.n++
	rec.Index = r.n
	return rec, nil
}

// nextDocument returns the only record of the source.
func (r *Reader) nextDocument() (Record, error) {
	if r.doc == nil {
		return Record{}, io.EOF
	}
	doc := r.doc
	r.doc = nil
	r.pos = r.src.size
	end := doc.start + int64(doc.scan.End)
	if doc.pages != nil {
		root, err := doc.pages.root(doc.scan)
		if err != nil {
			return Record{}, err
		}
		return r.finish(Record{Span: root.Span(), Value: root, Faults: doc.scan.flaws(doc.start)}, doc.nul, end, true)
	}
	if doc.scan.Kind == FaultNone {
		if err := r.win.load(doc.start, end); err != nil {
			return Record{}, err
		}
		rec := r.good(doc.start, doc.scan)
		return r.finish(rec, doc.nul, end, true)
	}
	end, err := r.lastByte(doc.start)
	if err != nil {
		return Record{}, err
	}
	return r.bad(Span{doc.start, end}, doc.start, doc.scan, doc.nul, end, true)
}

// nextLine returns the next record of a source with one record per line.
func (r *Reader) nextLine() (Record, error) {
	if _, err := r.win.from(r.pos); err != nil {
		return Record{}, err
	}
	nul, start, c, err := r.skip(r.pos, false)
	again := r.pos > 0 && r.pos == r.whole && nul.End == 0 // on the line of another value
	for err == nil && nul.End == 0 {
		behind := start
		switch c {
		case '\n':
			behind++
		case byteOrderMark[0]:
			behind, err = r.behindMark(start)
		}
		if err != nil || behind == start {
			break
		}
		again = false
		nul, start, c, err = r.skip(behind, false)
	}
	if err != nil {
		return Record{}, err
	}
	if start == r.src.size || c == '\n' {
		r.pos = start
		return alone(nul)
	}

	if r.line.start > start || start >= r.line.end {
		if r.line, err = r.readLine(start, start, r.src.size); err != nil {
			return Record{}, err
		}
	}
	end, next := r.line.end, r.line.next
	text := r.win.bytes(start, end)
	s := r.scan.Scan(text, 0, Strict)
	if s.Kind == FaultNone {
		if r.follows(start, text, s.End) {
			return r.goodLine(r.good(start, s), nul, again, nil)
		}
		s.fail(FaultInvalidJSON, SkipBlank(text, s.End), wantLineEnd)
	}

	cut := -1
	if s.Kind != FaultTruncated {
		if cut, err = r.cutAtNUL(start, text, s.At); err != nil {
			return Record{}, err
		}
	}
	if cut >= 0 {
		text = text[:cut]
		end = start + int64(cut)
		next = end
		if s.At == cut {
			s = r.scan.Scan(text, 0, Strict)
		}
	}
	if s.Kind == FaultInvalidJSON {
		if rec, is, err := r.glued(start, text, next, s); is || err != nil {
			return r.goodLine(rec, nul, false, err)
		}
	}
	if s.Kind == FaultTruncated {
		_, rest, _, err := r.skip(end, true)
		if err != nil {
			return Record{}, err
		}
		if rest < r.src.size {
			if cut < 0 {
				joined, err := r.join(start, next)
				if err != nil {
					return Record{}, err
				}
				if joined.Kind == FaultNone {
					return r.goodLine(r.good(start, joined), nul, again, nil)
				}
				text = r.win.bytes(start, end) // the window may have moved
			}
		}
		if rec, is, err := r.glued(start, text, next, s); is || err != nil {
			return r.goodLine(rec, nul, false, err)
		}
		if rest < r.src.size {
			text = r.win.bytes(start, end) // the window may have moved
			s.Kind = FaultInvalidJSON
		}
	}
	r.pos = next
	span := Span{start, start + int64(len(bytes.TrimRight(text, " \t\r")))}
	return r.bad(span, start, s, nul, end, false)
}

// goodLine finishes a readable record of a line. again is set if another whole record is on
// that line before it: the first such record of a line has a fault.
func (r *Reader) goodLine(rec Record, nul Span, again bool, err error) (Record, error) {
	if err != nil {
		return Record{}, err
	}
	r.near.at = rec.Span
	told := again && r.shared
	r.shared, rec.Shared = again, again
	if again && !told {
		at := rec.Span.Start
		rec.Faults = append([]Fault{{Kind: FaultSameLine, Span: Span{at, at + 1}}}, rec.Faults...)
	}
	r.pos = rec.Span.End
	r.whole = r.pos
	return r.finish(rec, nul, r.pos, false)
}

// byteOrderMark is what some editors put at the start of a file. Concatenated files have
// one at the start of each part.
const byteOrderMark = "\xef\xbb\xbf"

// behindMark returns the offset after the byte order mark at start, or start if there is
// none.
func (r *Reader) behindMark(start int64) (int64, error) {
	var head [len(byteOrderMark)]byte
	if start+int64(len(head)) > r.src.size {
		return start, nil
	}
	if err := r.src.readFull(head[:], start); err != nil || string(head[:]) != byteOrderMark {
		return start, err
	}
	return start + int64(len(byteOrderMark)), nil
}

// skipMarks skips blanks, line ends, NULs and byte order marks between two values, and returns
// the same as skip. A mark behind NULs is not skipped.
func (r *Reader) skipMarks(off int64) (nul Span, at int64, c byte, err error) {
	for {
		nul, at, c, err = r.skip(off, true)
		if err != nil || nul.End > 0 || c != byteOrderMark[0] {
			return nul, at, c, err
		}
		if off, err = r.behindMark(at); err != nil || off == at {
			return nul, at, c, err
		}
	}
}

// follows reports whether the value that ends at text[at] may be followed by the rest of
// the line: nothing, NULs, or another value.
func (r *Reader) follows(start int64, text []byte, at int) bool {
	i := SkipBlank(text, at)
	if i == len(text) {
		return true
	}
	switch text[i] {
	case 0, '{', '[':
		return true
	}
	// Prose can look like scalars, so the whole line must consist of values.
	end := start + int64(len(text))
	for r.values < end {
		if !apart(text, at, i) {
			return false
		}
		s := r.scan.Scan(text, i, Strict)
		if s.Kind != FaultNone {
			return false
		}
		at = s.End
		if i = SkipBlank(text, at); i == len(text) || text[i] == 0 {
			r.values = end
			break
		}
	}
	return true
}

// apart reports whether the value that ends at text[at] and the one that starts at
// text[i] are separate. The `0` and `1` in `01` are not.
func apart(text []byte, at, i int) bool {
	return at < i || !isWord(text[at-1]) || !isWord(text[i])
}

func isWord(c byte) bool {
	return c-'0' < 10 || c|0x20-'a' < 26 || c == '-' || c == '+' || c == '.'
}

// cutAtNUL returns the offset of the first NUL in text[from:] that a crash left behind,
// or -1. After such a run of NULs, the line ends or a record starts.
func (r *Reader) cutAtNUL(start int64, text []byte, from int) (int, error) {
	known := &r.clean
	if off := start + int64(from); known.to == 0 || off < known.from || off > known.to {
		known.from, known.to, known.cut = off, start+int64(len(text)), false
		for !known.cut {
			i := bytes.IndexByte(text[from:], 0)
			if i < 0 {
				break
			}
			nul := start + int64(from+i)
			crash, end, err := r.crash(nul)
			if err != nil {
				return -1, err
			}
			if crash {
				known.to, known.cut = nul, true
			}
			from = min(int(end-start), len(text))
		}
	}
	if known.cut {
		return int(known.to - start), nil
	}
	return -1, nil
}

// crash reports whether a crash may have left the NULs at off in place of a line end. It
// also returns where the NULs end.
func (r *Reader) crash(off int64) (bool, int64, error) {
	_, end, c, err := r.skip(off, false)
	return end == r.src.size || c == '\n' || c == '{' || c == '[', end, err
}

// join assembles a record that starts at start and continues in the lines from next on.
// The record contains a raw line end in a string, or it was printed over several lines.
// The result has FaultNone only if the record ends at the end of a line.
func (r *Reader) join(start, next int64) (Scan, error) {
	broken := Scan{Kind: FaultInvalidJSON}
	if r.wasted > joinBytes+start {
		// This limits the work on a file of torn lines to a few scans per line.
		return broken, nil
	}
	var s Scan
	for lines := 1; lines < joinLines && next < r.src.size; {
		// Double the number of lines each time, because a string that continues is
		// scanned again from its start.
		for range lines {
			if next == r.src.size {
				break
			}
			l, err := r.readLine(start, next, start+joinBytes)
			if err != nil {
				return s, err
			}
			if l.next == 0 {
				r.wasted += next - start
				return broken, nil
			}
			next = l.next
			lines++
		}
		text := r.win.bytes(start, next)
		if s.Kind == FaultNone {
			s = r.scan.Scan(text, 0, AllowNewlines)
		} else {
			s = r.scan.Resume(text, s)
		}
		if s.Kind == FaultNone {
			i := s.End
			for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r') {
				i++
			}
			if i == len(text) || text[i] == '\n' || text[i] == 0 {
				return s, nil
			}
		}
		if s.Kind != FaultTruncated {
			break
		}
	}
	r.wasted += int64(s.End)
	return broken, nil
}

// nextValue returns the next record of a source with FramingValues.
func (r *Reader) nextValue() (Record, error) {
	if _, err := r.win.from(r.pos); err != nil {
		return Record{}, err
	}
	nul, start, _, err := r.skipMarks(r.pos)
	if err != nil {
		return Record{}, err
	}
	if start == r.src.size {
		r.pos = start
		return alone(nul)
	}
	s, err := r.scanFrom(start, Strict, r.src.size)
	if err != nil {
		return Record{}, err
	}
	if s.Kind == FaultInvalidJSON && s.Want == wantControl && r.wasted <= joinBytes+start {
		t, err := r.scanFrom(start, AllowNewlines, start+joinBytes)
		if err != nil {
			return Record{}, err
		}
		if t.Kind == FaultNone {
			s = t
		} else {
			r.wasted += int64(t.End)
		}
	}
	text := r.win.bytes(start, r.win.end())
	if s.Kind == FaultNone {
		if s.End == len(text) || apart(text, s.End, s.End) {
			r.pos = start + int64(s.End)
			return r.finish(r.good(start, s), nul, r.pos, true)
		}
		s.fail(FaultInvalidJSON, s.End, wantNext)
	}
	if s.Kind == FaultInvalidJSON && s.At < len(text) && text[s.At] == 0 {
		fault := start + int64(s.At)
		_, at, c, err := r.skip(fault, true)
		if err != nil {
			return Record{}, err
		}
		if at == r.src.size || c == '{' || c == '[' {
			s = r.scan.Scan(text[:s.At], 0, AllowNewlines)
			if at < r.src.size {
				s.Kind = FaultInvalidJSON
			}
			r.pos = at
			n := len(bytes.TrimRight(text[:s.At], " \t\r\n"))
			return r.bad(Span{start, start + int64(n)}, start, s, nul, fault, true)
		}
	}
	if s.Kind == FaultTruncated {
		end, err := r.lastByte(start)
		if err != nil {
			return Record{}, err
		}
		r.pos = r.src.size
		return r.bad(Span{start, end}, start, s, nul, end, true)
	}
	n := len(bytes.TrimRight(text[:s.At], " \t\r\n"))
	end, err := r.resync(start + int64(max(n, 1)))
	if err != nil {
		return Record{}, err
	}
	return r.bad(Span{start, end}, start, s, nul, r.pos, true)
}

// resync moves pos to the next line after off that starts with a bracket. It returns the
// end of the nonblank bytes before that line.
func (r *Reader) resync(off int64) (int64, error) {
	last := off
	newline := false
	for {
		text, err := r.peek(off)
		if err != nil {
			return 0, err
		}
		if len(text) == 0 {
			r.pos = r.src.size
			return last, nil
		}
		for i, c := range text {
			switch c {
			case '\n':
				newline = true
				continue
			case '{', '[':
				if newline {
					r.pos = off + int64(i)
					return last, nil
				}
			}
			newline = false
			if c != ' ' && c != '\t' && c != '\r' {
				last = off + int64(i) + 1
			}
		}
		off += int64(len(text))
	}
}

// good returns the record of a scan from start that found a readable value. The bytes of
// the value must be in the window.
func (r *Reader) good(start int64, s Scan) Record {
	end := start + int64(s.End)
	rec := Record{
		Span:  Span{start + int64(s.Start), end},
		Value: s.value(r.win.bytes(start, end), start),
	}
	if s.RawNewline.Count|s.InvalidUTF8.Count|s.LoneSurrogate.Count != 0 {
		rec.Faults = s.flaws(start)
	}
	return rec
}

// flaws returns the faults that leave the value readable, in order.
func (s *Scan) flaws(start int64) []Fault {
	var faults []Fault
	for _, f := range []struct {
		kind FaultKind
		flaw Flaw
	}{
		{FaultRawNewline, s.RawNewline},
		{FaultInvalidUTF8, s.InvalidUTF8},
		{FaultLoneSurrogate, s.LoneSurrogate},
	} {
		if f.flaw.Count > 0 {
			faults = append(faults, Fault{
				Kind:  f.kind,
				Span:  Span{start + int64(f.flaw.Start), start + int64(f.flaw.End)},
				Count: f.flaw.Count,
			})
		}
	}
	sort.SliceStable(faults, func(i, j int) bool { return faults[i].Span.Start < faults[j].Span.Start })
	return faults
}

// bad finishes an unreadable record of the bytes of span. s is the failed scan from start.
// See finish for the rest.
func (r *Reader) bad(span Span, start int64, s Scan, before Span, off int64, lines bool) (Record, error) {
	fault := Fault{Kind: s.Kind, Want: s.Want}
	at := start + int64(s.At)
	switch {
	case s.Kind == FaultTruncated:
		fault.Span = span
	case at < span.End:
		n, err := r.character(at, span.End)
		if err != nil {
			return Record{}, err
		}
		fault.Span = Span{at, at + n}
	default: // something is missing at the end, and the scan may have read on to the next record
		fault.Span = Span{span.End, span.End}
	}
	return r.finish(Record{Span: span, Faults: []Fault{fault}}, before, off, lines)
}

// character returns the length of the character at off, which ends before end. It is 1 for a
// byte that is not UTF-8.
func (r *Reader) character(off, end int64) (int64, error) {
	var buf [utf8.UTFMax]byte
	text := buf[:min(utf8.UTFMax, end-off)]
	if err := r.src.readFull(text, off); err != nil {
		return 0, err
	}
	_, n := utf8.DecodeRune(text)
	return int64(n), nil
}

// alone returns a record for a run of NULs without a value, or io.EOF if there is no run.
func alone(nul Span) (Record, error) {
	if nul.End == 0 {
		return Record{}, io.EOF
	}
	return Record{Span: nul, Faults: []Fault{{Kind: FaultNUL, Span: nul}}}, nil
}

// finish adds the run of NULs before the record and the run at off, if any, to its
// faults. It moves pos past the second run.
func (r *Reader) finish(rec Record, before Span, off int64, lines bool) (Record, error) {
	if before.End > 0 {
		rec.Faults = append([]Fault{{Kind: FaultNUL, Span: before}}, rec.Faults...)
	}
	nul, at, _, err := r.skip(off, lines)
	if err != nil {
		return Record{}, err
	}
	if nul.End > 0 {
		rec.Faults = append(rec.Faults, Fault{Kind: FaultNUL, Span: nul})
		r.pos = max(r.pos, at)
	}
	return rec, nil
}

// skip skips blanks and NULs from off on. Line ends count as blanks only if lines is set.
// It returns the span of the NULs, including blanks between them, and the offset and
// value of the first other byte. At the end of the source that byte is 0. The window does
// not move.
func (r *Reader) skip(off int64, lines bool) (nul Span, at int64, c byte, err error) {
	for {
		text, err := r.peek(off)
		if err != nil || len(text) == 0 {
			return nul, off, 0, err
		}
		for i, c := range text {
			switch c {
			case ' ', '\t', '\r':
				continue
			case '\n':
				if lines {
					continue
				}
			case 0:
				if nul.End == 0 {
					nul.Start = off + int64(i)
				}
				nul.End = off + int64(i) + 1
				continue
			}
			return nul, off + int64(i), c, nil
		}
		off += int64(len(text))
	}
}

// peek returns bytes of the source from off on without moving the window, or none at the
// end of the source. They are valid until the next peek.
func (r *Reader) peek(off int64) ([]byte, error) {
	if off >= r.src.size {
		return nil, nil
	}
	if r.win.base <= off && off < r.win.end() {
		return r.win.bytes(off, r.win.end()), nil
	}
	end := r.peekedAt + int64(len(r.peeked))
	if r.peekedAt <= off && off < end {
		return r.peeked[off-r.peekedAt:], nil
	}
	// A short read is usually enough. If not, the next peek reads a whole chunk.
	n := min(peekSize, r.win.chunk)
	if off == end {
		n = r.win.chunk
	}
	n = min(n, r.src.size-off)
	if int64(cap(r.peeked)) < n {
		r.peeked = make([]byte, n)
	}
	r.peeked, r.peekedAt = r.peeked[:n], off
	if err := r.src.readFull(r.peeked, off); err != nil {
		r.peeked = r.peeked[:0]
		return nil, err
	}
	return r.peeked, nil
}

// lastByte returns the end of the bytes from start on without trailing blanks and NULs.
func (r *Reader) lastByte(start int64) (int64, error) {
	buf := make([]byte, 4<<10)
	for end := r.src.size; end > start; {
		text := buf[:min(int64(len(buf)), end-start)]
		end -= int64(len(text))
		if err := r.src.readFull(text, end); err != nil {
			return 0, err
		}
		if n := len(bytes.TrimRight(text, " \t\r\n\x00")); n > 0 {
			return end + int64(n), nil
		}
	}
	return start, nil
}

// readLine returns the line that continues at from. It loads the bytes of the line and
// all bytes from keep on into the window. It returns the zero line if the line does not
// end before limit. A line longer than longLine may end at a NUL.
func (r *Reader) readLine(keep, from, limit int64) (line, error) {
	l := line{start: from}
	for off := from; l.next == 0; {
		if err := r.win.load(keep, off+1); err != nil {
			return line{}, err
		}
		if i := bytes.IndexByte(r.win.bytes(off, r.win.end()), '\n'); i >= 0 {
			l.end = off + int64(i)
			l.next = l.end + 1
			break
		}
		off = r.win.end()
		switch {
		case off == r.src.size:
			l.end, l.next = off, off
		case off >= limit:
			return line{}, nil
		case off-from >= r.long:
			end, c, err := r.findEnd(off)
			if err != nil {
				return line{}, err
			}
			l.end, l.next = end, end
			if c == '\n' {
				l.next++
			}
			if l.next > limit {
				return line{}, nil
			}
			if err := r.win.load(keep, l.next); err != nil {
				return line{}, err
			}
		}
	}
	if l.end > l.start && r.win.bytes(l.end-1, l.end)[0] == '\r' {
		l.end--
	}
	return l, nil
}

// findEnd returns the offset and value of the first line end at or after off, or of the
// first NUL that a crash left in its place.
func (r *Reader) findEnd(off int64) (int64, byte, error) {
	for {
		text, err := r.peek(off)
		if err != nil || len(text) == 0 {
			return off, 0, err
		}
		lf := bytes.IndexByte(text, '\n')
		if lf >= 0 {
			text = text[:lf]
		}
		end := off + int64(len(text))
		for off < end {
			i := bytes.IndexByte(text, 0)
			if i < 0 {
				off = end
				break
			}
			nul := off + int64(i)
			crash, behind, err := r.crash(nul)
			if crash || err != nil {
				return nul, 0, err
			}
			text = text[min(behind-off, int64(len(text))):]
			off = behind
		}
		if lf >= 0 && off == end {
			return end, '\n', nil
		}
	}
}

// scanFrom scans the value that starts at start. It reads until the value ends or the
// limit is reached.
func (r *Reader) scanFrom(start int64, mode ScanMode, limit int64) (Scan, error) {
	text, err := r.win.from(start)
	if err != nil {
		return Scan{}, err
	}
	s := r.scan.Scan(text, 0, mode)
	for r.win.end() < min(r.src.size, limit) {
		number := s.Kind == FaultNone && s.End == len(text) && isWord(text[len(text)-1])
		if s.Kind != FaultTruncated && !number {
			break
		}
		if err := r.win.load(start, start+2*int64(len(text))); err != nil {
			return Scan{}, err
		}
		text = r.win.bytes(start, r.win.end())
		if number { // the number may continue
			s = r.scan.Scan(text, 0, mode)
		} else {
			s = r.scan.Resume(text, s)
		}
	}
	return s, nil
}

// A window is the part of a source that is in memory.
type window struct {
	src   *Source
	chunk int64
	most  int64  // maxRecord, except in tests
	text  []byte // the whole source if it is in memory
	base  int64
	buf   []byte // the bytes from base on
	swap  swap   // provides the next buffer
}

// end returns the offset after the last byte in memory.
func (w *window) end() int64 { return w.base + int64(len(w.buf)) }

// bytes returns the bytes [start, end), which must be in memory. They are valid until the
// next load.
func (w *window) bytes(start, end int64) []byte {
	return w.buf[start-w.base : end-w.base : end-w.base]
}

// from returns the bytes in memory from off on. It loads at least one byte unless the
// source ends at off.
func (w *window) from(off int64) ([]byte, error) {
	if err := w.load(off, off+1); err != nil {
		return nil, err
	}
	return w.bytes(off, w.end()), nil
}

// load loads the bytes [keep, to) into memory, up to the end of the source. It may drop
// the bytes before keep.
func (w *window) load(keep, to int64) error {
	size := w.src.size
	if w.text != nil && w.buf == nil {
		w.buf = w.text
		for at := int64(0); at < size; at += w.chunk {
			if err := w.src.Err(); err != nil {
				return err
			}
			w.src.lines.read(w.buf[at:min(at+w.chunk, size)], at)
		}
	}
	if keep < w.base || keep > w.end() {
		next, ok := w.swap.next(w.buf) // somebody may still read records in the buffer
		if !ok {
			return errStopped
		}
		w.base, w.buf = keep, next[:0]
	}
	to = min(to, size)
	if to <= w.end() {
		return nil
	}
	if to-keep > w.most {
		return fmt.Errorf("%s: the record at byte %d is longer than %d bytes", w.src.name, keep, w.most)
	}
	to = min(max(to, w.end()+w.chunk), size)
	if need := int(to - w.base); need > cap(w.buf) {
		kept := w.bytes(keep, w.end())
		next, ok := w.swap.next(w.buf)
		if !ok {
			return errStopped
		}
		if need = int(to - keep); need > cap(next) {
			if rest := int(size - keep); rest < need+need/2 {
				need = rest
			} else if need < 2*longLine {
				need = max(need, min(2*max(cap(next), int(w.chunk)), rest))
			}
			w.buf = append(make([]byte, 0, need), kept...)
		} else {
			w.buf = next[:copy(next[:cap(next)], kept)]
		}
		w.base = keep
	}
	n := len(w.buf)
	w.buf = w.buf[:to-w.base]
	if err := w.src.readFull(w.buf[n:], w.base+int64(n)); err != nil {
		w.buf = w.buf[:n]
		return err
	}
	w.src.lines.read(w.buf[n:], w.base+int64(n))
	return nil
}
