package redact

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"unicode"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A survey has what readers and rules say of a source: where they read JSON in strings, where
// payloads are, and which verdicts depend on a text.
type survey struct {
	encoded    []encodedJSON
	payloads   []span
	read       []int64           // where messages, calls and results begin, in order
	inStrings  bool              // some of them begin in strings
	blankAfter map[int64]bool    // the texts that must end in white space, by their offsets
	variants   map[int64]variant // what the words at these offsets must have
	// inTags is set if readers see by the tags around a text that an agent wrote it.
	inTags bool
	// dropsSchemas is set if nothing stays of schemas.
	dropsSchemas bool
}

// An encodedJSON is a string in which a reader reads JSON.
type encodedJSON struct {
	span source.Span
	mode mode // of what is in it
}

// A span is a payload.
type span struct {
	source.Span
	mode mode
}

// lessons are what redacting a source has shown about other places with equal words.
type lessons struct {
	// lengths are the shortest spellings of words that are somewhere spelled with escapes.
	lengths map[sum]int
	marks   map[sum]variant
	// containers are opaque objects and arrays, by their offsets, in which messages, calls or
	// results are read.
	containers map[int64]bool
	changed    bool
	survey     *survey
}

// contain notes in what a message, a call or a result is.
func (l *lessons) contain(open []nest) {
	for i := range open {
		if n := &open[i]; n.opaque && !l.containers[n.from] {
			l.containers[n.from], l.changed = true, true
		}
	}
}

// length returns the length of the filler for a word that is written with n bytes, so that its
// spellings stay equal if they can.
func (l *lessons) length(s sum, n int, escaped bool) int {
	shortest, known := l.lengths[s]
	if !known && !escaped {
		return n
	}
	if !known || n < shortest {
		l.lengths[s], l.changed = n, true
		shortest = n
	}
	if more := n - shortest; more%5 == 0 && more/5 <= shortest && shortest <= mostShort {
		return shortest
	}
	return n
}

// mark returns the variant of a word.
func (l *lessons) mark(at int64, s sum) variant {
	if v, marked := l.survey.variants[at]; marked && l.marks[s] != v {
		l.marks[s], l.changed = v, true
	}
	return l.marks[s]
}

// newSurvey returns the survey of a source with these findings.
func newSurvey(src *source.Source, opts engine.Options, found *engine.Report) (*survey, error) {
	p := &survey{blankAfter: map[int64]bool{}, variants: map[int64]variant{}}
	d := opts.Dialects.ByName(found.File.Dialect)
	_, conversations := container.Read(src, detect.Options{Dialects: opts.Dialects, Dialect: opts.Dialect, Request: opts.Request})
	for conv, err := range conversations {
		if err != nil {
			return nil, err
		}
		p.add(src, conv)
		if len(conv.Echoes) > 0 && d != nil && d.Log != nil {
			if err := p.echoes(src, d.Log, conv); err != nil {
				return nil, err
			}
		}
	}
	p.inTags = d != nil && d.Log != nil
	for f := range found.Findings.All() {
		at := f.Start.Offset
		switch f.Rule.Name {
		case "trailing-whitespace":
			p.blankAfter[at] = true
		case "invalid-call-id", "invalid-tool-name", "invalid-item-id":
			v, err := variantOf(src, f)
			if err != nil {
				return nil, err
			}
			if v != plain {
				p.variants[at] = v
			}
		}
	}
	less := func(a, b source.Span) bool { return a.Start < b.Start || a.Start == b.Start && a.End > b.End }
	sort.SliceStable(p.encoded, func(i, j int) bool { return less(p.encoded[i].span, p.encoded[j].span) })
	p.encoded = slices.CompactFunc(p.encoded, func(a, b encodedJSON) bool { return a.span.Start == b.span.Start })
	slices.Sort(p.read)
	p.read = slices.Compact(p.read)
	sort.SliceStable(p.payloads, func(i, j int) bool { return less(p.payloads[i].Span, p.payloads[j].Span) })
	outer := p.payloads[:0]
	for _, s := range p.payloads {
		if len(outer) == 0 || s.Start >= outer[len(outer)-1].End {
			outer = append(outer, s)
		}
	}
	p.payloads = outer
	return p, nil
}

// add adds the payloads of a conversation, and the strings in which it has JSON.
func (p *survey) add(src *source.Source, conv *transcript.Conversation) {
	origin := func(at source.Span) source.Span {
		if conv.Unfolded != nil && !at.IsZero() {
			return conv.Unfolded.Origin(at)
		}
		return at
	}
	pays := func(at source.Span, m mode) {
		if at = origin(at); !at.IsZero() {
			p.payloads = append(p.payloads, span{at, m})
		}
	}
	for i := range conv.Messages {
		p.read = append(p.read, origin(conv.Messages[i].Span()).Start)
	}
	for i := range conv.Calls {
		p.read = append(p.read, origin(conv.Blocks[conv.Calls[i].Block].Span).Start)
	}
	for i := range conv.Results {
		p.read = append(p.read, origin(conv.Blocks[conv.Results[i].Block].Span).Start)
	}
	if conv.Unfolded != nil {
		p.inStrings = true
		for at := range conv.Unfolded.Decoded() {
			p.encoded = append(p.encoded, encodedJSON{span: at})
		}
	}
	for i := range conv.Calls {
		c := &conv.Calls[i]
		mode := payload
		if conv.Blocks[c.Block].Span == c.Args { // the call is a text
			mode = callText
		} else {
			pays(c.Args, payload)
		}
		switch c.Form {
		case transcript.ArgsString, transcript.ArgsStringOther, transcript.ArgsStringBad:
			at := origin(c.Args)
			if mode == callText {
				at = stringAround(src, at)
			}
			if at.Len() > 2 {
				p.encoded = append(p.encoded, encodedJSON{at, mode})
			}
		}
	}
	for i := range conv.Results {
		res := &conv.Results[i]
		if res.Form == source.String || res.Form == source.Object {
			pays(res.Payload, result)
		}
		pays(res.Beside, payload)
	}
}

// echoes adds what is read of the records that repeat results.
func (p *survey) echoes(src *source.Source, log *dialect.Log, conv *transcript.Conversation) error {
	for i := range conv.Echoes {
		record, err := src.Value(conv.Echoes[i].At)
		if err != nil {
			return err
		}
		echo := log.EchoIn(record)
		if echo == nil {
			continue
		}
		for alt := range echo.Text.Alternatives() {
			if v := alt.In(record); v.Exists() {
				p.read = append(p.read, v.Span().Start)
				p.inStrings = true
			}
		}
	}
	return nil
}

// stringAround returns the string that has a call, or begins with a list of calls that begins with
// this one.
func stringAround(src *source.Source, call source.Span) source.Span {
	b, err := src.Bytes(source.Span{Start: max(0, call.Start-64), End: call.Start + 1})
	if err != nil || b[len(b)-1] == '"' {
		return call
	}
	lead := bytes.TrimRight(b[:len(b)-1], " \t\r\nnrt\\[")
	if !bytes.HasSuffix(lead, []byte{'"'}) {
		return source.Span{}
	}
	out := source.Span{Start: call.Start - int64(len(b)-1-len(lead)) - 1, End: call.End}
	for {
		b, err := src.Bytes(source.Span{Start: out.Start + 1, End: min(src.Size(), out.End+64)})
		if n := closing(b); n >= 0 || err != nil || out.End >= src.Size() {
			out.End = out.Start + 1 + int64(n) + 1
			return out
		}
		out.End += out.Len()
	}
}

// decodes returns the string at an offset if a reader reads JSON in it, or nil.
func (p *survey) decodes(at int64) *encodedJSON {
	i, is := slices.BinarySearchFunc(p.encoded, at, func(s encodedJSON, at int64) int { return cmp.Compare(s.span.Start, at) })
	if !is {
		return nil
	}
	return &p.encoded[i]
}

// isReadIn reports whether a message, a call or a result begins in a string, or is assembled from it.
func (p *survey) isReadIn(t *scalar) bool {
	if !p.inStrings {
		return false
	}
	i, _ := slices.BinarySearch(p.read, t.start-1)
	return i < len(p.read) && p.read[i] <= t.end
}

// isRead reports whether a message, a call or a result begins at an offset.
func (p *survey) isRead(at int64) bool {
	_, is := slices.BinarySearch(p.read, at)
	return is
}

// payload returns the mode of the payload at an offset, if there is one.
func (p *survey) payload(at int64) (mode, bool) {
	i, _ := slices.BinarySearchFunc(p.payloads, at, func(s span, at int64) int {
		if s.End <= at {
			return -1
		}
		return 1
	})
	if i < len(p.payloads) && p.payloads[i].Start <= at {
		return p.payloads[i].mode, true
	}
	return structure, false
}

// variantOf returns what the word at a finding must have, so that there is a finding again.
func variantOf(src *source.Source, f *engine.Finding) (variant, error) {
	b, err := src.Bytes(source.Span{Start: f.Start.Offset, End: f.End.Offset})
	if err != nil || len(b) < 3 || b[0] != '"' {
		return plain, err
	}
	b = source.AppendUnescaped(nil, b[1:len(b)-1])
	switch {
	case f.Rule.Name == "invalid-tool-name" && len(bytes.TrimSpace(b)) < len(b):
		return spaced, nil
	case bytes.ContainsFunc(bytes.TrimSpace(b), unicode.IsControl):
		return control, nil
	case f.Rule.Name != "invalid-tool-name" && wordChars(bytes.TrimSpace(b)), wordChars(b):
		return plain, nil // its length or its prefix matters
	}
	return badChar, nil
}

// wordChars reports whether a text has only the characters of filler.
func wordChars(b []byte) bool {
	for _, c := range b {
		if c-'0' >= 10 && (c|0x20)-'a' >= 26 && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
