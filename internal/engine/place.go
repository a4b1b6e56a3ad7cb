package engine

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"hash/fnv"
	"strconv"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/digest"
	"github.com/toolguard/toolguard/internal/source"
)

// place sorts the findings and resolves their positions. It reads the source once for lines
// and columns, and each record with findings once. end is where the last known record ends. again says that somebody
// will read hits and offers again.
func (c *checker) place(end int64, again bool) error {
	if c.placer == nil {
		c.placer = &placer{checker: c, lines: source.NewLines(c.src)}
	}
	p := c.placer
	p.end = end
	p.texts, p.details = unpacker{packed: &c.found.packed}, unpacker{packed: &c.offers.details}
	c.found.sort(&p.texts)
	list := c.found.list
	if !again {
		for i := range list {
			p.texts.expect(list[i].texts)
			if n := list[i].operation; n > 0 {
				p.details.expect(c.offers.list[n-1].details)
			}
		}
	}
	for lo, hi := 0, 0; lo < len(list); lo = hi {
		for hi = lo; hi < len(list) && list[hi].record == list[lo].record; hi++ { // the findings of a record are adjacent
		}
		if err := p.record(list[lo:hi]); err != nil {
			return err
		}
	}
	return c.err
}

// A placer resolves one finding after another.
type placer struct {
	*checker
	end            int64
	texts, details unpacker // of the hits and of the offers
	lines          *source.Lines
	text           []byte // of a record
	// prints are the fingerprints, by the hash of their inputs, and equal the number of
	// findings with each.
	prints source.Index
	equal  []int32
	print  []byte // the input of a fingerprint
	// numbered is the number of repairs that have a number in the report.
	numbered int32
}

// record resolves the findings of one record. It reads the record once more, and finds all
// their JSON pointers in one walk.
func (p *placer) record(at []hit) error {
	file := p.report.File
	index := at[0].record
	record := file.Document.Value
	var line []byte
	known := true
	if file.Document.Index == 0 {
		if known = index >= 1 && int(index) <= file.Starts.Len(); known {
			whole := source.Span{Start: file.Starts.At(int(index) - 1)}
			if whole.End = max(whole.Start, p.end); int(index) < file.Starts.Len() {
				whole.End = file.Starts.At(int(index))
			}
			var err error
			if p.text, err = p.src.Into(p.text, whole); err != nil {
				return err
			}
			record = source.NewValue(p.text, whole.Start)
			line = bytes.TrimSpace(p.text)
		}
	}
	var pointers []string
	if known {
		spans := make([]source.Span, len(at))
		for i := range at {
			spans[i] = at[i].span
		}
		pointers = p.src.Pointers(record, spans)
	}
	hash := ""
	for i := range at {
		if !p.goesOn(workOfFinding) {
			return p.err
		}
		f := p.found.finding(&at[i], &p.texts)
		f.Path = p.src.Name()
		if known {
			if !p.unreadable[index] {
				f.Pointer = pointers[i]
			}
			switch {
			case f.CallID != "":
			case line == nil:
				f.RecordHash = p.recordHash(f.Span)
			case hash == "": // a line is hashed once
				hash = hashOf(line)
				fallthrough
			default:
				f.RecordHash = hash
			}
		}
		if f.Dialect == "" {
			f.Dialect = file.Dialect
		}
		p.repair(f)
		if err := p.positions(f); err != nil {
			return err
		}
		if p.opts.Excerpts {
			f.Excerpt = p.excerpt(f.Span, f.Start)
			for k, r := range f.Related {
				f.RelatedExcerpts = append(f.RelatedExcerpts, p.excerpt(r.Span, f.RelatedAt[2*k]))
			}
		}
		p.fingerprint(f)
		p.report.Findings.Add(f)
	}
	return p.err
}

// positions looks up the lines and columns of a finding.
func (p *placer) positions(f *Finding) error {
	var err error
	look := func(s source.Span, start, end *source.Position) {
		if err == nil {
			*start, err = p.lines.Position(s.Start)
		}
		if err == nil {
			*end, err = p.lines.Position(s.End)
		}
	}
	look(f.Span, &f.Start, &f.End)
	f.RelatedAt = make([]source.Position, 2*len(f.Related))
	for k, r := range f.Related {
		look(r.Span, &f.RelatedAt[2*k], &f.RelatedAt[2*k+1])
	}
	if len(f.Edits) == 1 {
		f.EditAt = new([2]source.Position)
		look(f.Edits[0].Span, &f.EditAt[0], &f.EditAt[1])
	}
	return err
}

// recordHash identifies the place of a finding in a document. A document is one record, which
// any change alters, so only the underlined bytes are hashed.
func (p *placer) recordHash(underlined source.Span) string {
	underlined.End = min(underlined.End, underlined.Start+fingerprintBytes)
	return hashOf(p.bytes(underlined))
}

func hashOf(text []byte) string {
	sum := digest.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// excerptBefore and excerptAfter are how many bytes of a line are read around
// a place; a report shows fewer.
const (
	excerptBefore = 120
	excerptAfter  = 240
)

// excerpt returns the line around a span that begins at a position.
func (p *placer) excerpt(at source.Span, start source.Position) Excerpt {
	lineStart := at.Start - int64(start.Column-1)
	lo := max(lineStart, at.Start-excerptBefore)
	hi := min(p.src.Size(), at.Start+excerptAfter)
	text := p.bytes(source.Span{Start: lo, End: hi})
	if p.err != nil {
		return Excerpt{}
	}
	e := Excerpt{CutBefore: lo > lineStart, CutAfter: hi < p.src.Size()}
	mark := int(at.Start - lo)
	if n := bytes.IndexByte(text[mark:], '\n'); n >= 0 {
		text, e.CutAfter = text[:mark+n], false
	}
	if !e.CutAfter {
		text = bytes.TrimSuffix(text, []byte{'\r'})
	}
	// Neither the text nor the mark begins or ends inside a character.
	skip := 0
	for e.CutBefore && skip < min(utf8.UTFMax-1, mark) && !utf8.RuneStart(text[skip]) {
		skip++
	}
	if e.CutAfter {
		text = source.WholeCharacters(text)
	}
	e.Text = bytes.Clone(text[min(skip, len(text)):])
	mark = min(mark-skip, len(e.Text))
	end := min(len(e.Text), mark+int(min(at.Len(), excerptAfter)))
	e.Mark = [2]int{characterStart(e.Text, mark), end}
	if last := characterStart(e.Text, end); last < end {
		_, n := utf8.DecodeRune(e.Text[last:])
		e.Mark[1] = last + n
	}
	return e
}

// characterStart returns where the character begins that offset i of a text is in: i, unless
// that is inside a character.
func characterStart(text []byte, i int) int {
	for n := 1; n < utf8.UTFMax && n <= i && i < len(text) && !utf8.RuneStart(text[i]); n++ {
		if _, size := utf8.DecodeRune(text[i-n:]); size > n {
			return i - n
		}
	}
	return i
}

// fingerprintBytes is the number of underlined bytes that go into a fingerprint.
const fingerprintBytes = 4 << 10

// fingerprint identifies a finding even if lines move: by rule, path and call id, or the
// underlined bytes if there is no call id, and by a counter if several findings are equal.
func (p *placer) fingerprint(f *Finding) {
	what := f.CallID
	if what == "" {
		what = string(p.bytes(source.Span{Start: f.Span.Start, End: min(f.Span.End, f.Span.Start+fingerprintBytes)}))
	}
	h := fnv.New64a()
	p.print = append(append(append(append(append(p.print[:0], f.Rule.Name...), 0), cmp.Or(p.opts.Identity, f.Path)...), 0), what...)
	_, _ = h.Write(p.print)
	n, known := p.prints.Find(h.Sum64())
	if !known {
		n = int32(len(p.equal))
		p.prints.Add(h.Sum64())
		p.equal = append(p.equal, 0)
	}
	p.equal[n]++
	p.print = strconv.AppendInt(append(p.print[:0], 0), int64(p.equal[n]), 10)
	_, _ = h.Write(p.print)
	p.print = h.Sum(p.print[:0])
	f.Fingerprint = hex.EncodeToString(p.print)
}
