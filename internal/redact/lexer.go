package redact

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A mode says what the keys and values of a place are.
type mode uint8

const (
	structure mode = iota // of the transcript: known words stay
	payload               // nothing stays
	declared              // a schema: keywords and types stay
	named                 // an object in a schema whose keys are names
	pattern               // a regular expression in a schema
)

// schemaKeys are the fields that hold the schema of a tool or of an answer.
var schemaKeys = []string{
	"parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema",
	"outputSchema", "output_schema", "args_schema", "schema", "json_schema", "responseSchema",
}

// namesIn are the keywords whose fields are names, and dataIn those whose value is data.
var (
	namesIn = []string{
		"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired",
		"dependencies",
	}
	dataIn = []string{
		"required", "enum", "const", "default", "example", "examples", "propertyOrdering",
		"title", "description",
	}
)

// within returns the mode of the value at a key of an object or array in the mode m.
func (m mode) within(key string) mode {
	switch {
	case m == payload || m == named && key == "":
		return payload
	case m == named:
		return declared
	case m == declared && key == "pattern":
		return pattern
	case m == declared && slices.Contains(namesIn, key):
		return named
	case m == declared && slices.Contains(dataIn, key):
		return payload
	case m == structure && slices.Contains(schemaKeys, key):
		return declared
	}
	return m
}

// An input is text to be redacted: the bytes of a source, or the characters of a string.
type input struct {
	from *bufio.Reader // nil for the characters of a string
	at   int64         // the offset of the next byte
	// text are the characters of a string, and places their offsets in the source; nil if
	// nobody needs them.
	text   []rune
	places []int64
	ahead  rune
	size   int // of ahead in bytes, 0 if it has not been read
	err    error
}

// peek returns the next character, and false at the end.
func (in *input) peek() (rune, bool) {
	if in.from == nil {
		if len(in.text) == 0 {
			return 0, false
		}
		return in.text[0], true
	}
	if in.size > 0 {
		return in.ahead, true
	}
	if in.err != nil {
		return 0, false
	}
	b, err := in.from.Peek(utf8.UTFMax)
	if len(b) == 0 {
		if err != io.EOF {
			in.err = err
		}
		return 0, false
	}
	in.ahead, in.size = utf8.DecodeRune(b)
	if in.ahead == utf8.RuneError && in.size == 1 {
		in.ahead = notUTF8 - rune(b[0])
	}
	return in.ahead, true
}

// next moves behind the next character.
func (in *input) next() {
	if in.from == nil {
		in.text = in.text[1:]
		if in.places != nil {
			in.places = in.places[1:]
		}
		return
	}
	_, _ = in.from.Discard(in.size) // it is in the buffer
	in.at += int64(in.size)
	in.size = 0
}

// offset returns the offset of the next character in the source.
func (in *input) offset() int64 {
	switch {
	case in.from != nil:
		return in.at
	case len(in.places) > 0:
		return in.places[0]
	}
	return -1
}

// take returns the following characters that are like this.
func (in *input) take(like func(rune) bool) []rune {
	var out []rune
	for r, more := in.peek(); more && like(r); r, more = in.peek() {
		out = append(out, r)
		in.next()
	}
	return out
}

// An output receives redacted text.
type output struct {
	to   *bufio.Writer // nil for the characters of a string
	text []rune
}

func (out *output) add(text ...rune) {
	if out.to == nil {
		out.text = append(out.text, text...)
		return
	}
	for _, r := range text {
		if r < 0 {
			_ = out.to.WriteByte(byte(notUTF8 - r)) // Flush reports the error
		} else {
			_, _ = out.to.WriteRune(r)
		}
	}
}

// A nest is an object or array that has begun.
type nest struct {
	mode   mode // of its keys and elements
	object bool
	onKey  bool   // the next string is a key
	key    string // of the value; for an array, the one that leads to it
	known  bool   // the key is a word
	remote bool   // a key on the way to it is unknown, or it is in a string
	ended  bool   // the value has been read
}

// A place is where a value is.
type place struct {
	mode    mode
	key     string
	known   bool
	remote  bool // a key on the way to it is unknown, or it is in a string
	element bool // of an array
}

// A redactor redacts texts.
type redactor struct {
	*filler
	level  level
	spans  spans
	phrase []string
	// escapes is set once a \u escape has been read.
	escapes bool
}

// run redacts JSON, whole or broken, that is in a place. What is not JSON becomes filler too.
func (r *redactor) run(in *input, out *output, at place) {
	var open []nest
	where := func() place {
		if len(open) > 0 && open[len(open)-1].onKey {
			return place{mode: payload} // no value belongs here
		}
		if r.level < allWords && r.spans.has(in.offset()) {
			return place{mode: payload}
		}
		if len(open) == 0 {
			return at
		}
		top := &open[len(open)-1]
		key := ""
		if top.object {
			key = top.key
		}
		return place{top.mode.within(key), top.key, top.known, top.remote || top.object && !top.known, !top.object}
	}
	ends := func() {
		if len(open) > 0 {
			open[len(open)-1].ended = true
		}
	}
	for c, more := in.peek(); more; c, more = in.peek() {
		switch {
		case c == '{' || c == '[':
			p := where()
			open = append(open, nest{mode: p.mode, object: c == '{', onKey: c == '{', key: p.key, known: p.known, remote: p.remote})
			if c == '[' && p.mode == named {
				open[len(open)-1].mode = payload
			}
			out.add(c)
			in.next()
		case c == '}' || c == ']':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			ends()
			out.add(c)
			in.next()
		case c == ',' || c == ':':
			if len(open) > 0 {
				top := &open[len(open)-1]
				top.ended = c == ':' && !top.onKey // no value belongs behind a second colon
				top.onKey = top.object && c == ','
			}
			out.add(c)
			in.next()
		case c == '"':
			if len(open) > 0 && open[len(open)-1].onKey {
				top := &open[len(open)-1]
				top.key, top.known = r.key(in, out, top.mode)
			} else {
				r.string(in, out, where())
				ends()
			}
		case c == '-' || '0' <= c && c <= '9':
			p := where()
			if len(open) > 0 && open[len(open)-1].ended {
				p = place{mode: payload} // no value belongs here
			}
			out.add(r.number(in.take(inNumber), p)...)
			ends()
		case isLetter(c):
			out.add(r.word(in.take(func(c rune) bool { return isLetter(c) || '0' <= c && c <= '9' }))...)
		case stays(c):
			out.add(c)
			in.next()
		default:
			out.add(r.fill(shapeWord, in.take(func(c rune) bool {
				return !stays(c) && !isLetter(c) && (c < '-' || c > '9') && !strings.ContainsRune(`{}[],:`, c)
			}))...)
			if again, more := in.peek(); more && again == c && (c >= '-' && c <= '9') {
				out.add(c) // a dot outside a number
				in.next()
			}
		}
	}
}

func isLetter(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

func inNumber(c rune) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// literals are the words of JSON, and those of languages that write something like it.
var literals = []string{"true", "false", "null", "True", "False", "None", "NaN", "Infinity", "undefined", "nan", "inf"}

// word redacts letters outside strings. What could be the start of a literal stays, so that
// the place where the text stops being JSON stays the same.
func (r *redactor) word(word []rune) []rune {
	text := string(word)
	if slices.Contains(literals, text) {
		return word
	}
	same := 0
	for _, l := range literals[:3] {
		n := 0
		for n < min(len(l), len(text)) && l[n] == text[n] {
			n++
		}
		same = max(same, n)
	}
	return slices.Concat(word[:same], r.fill(shapeWord, word[same:]))
}

// number redacts a number.
func (r *redactor) number(text []rune, p place) []rune {
	field := p.mode == structure && p.known && !slices.Contains(saidIn, p.key)
	switch {
	case (field || p.mode == declared) && (!p.element || r.level == allWords) && len(text) < window,
		field && isOrdinal(p.key) && r.level == allWords,
		field && r.hasTime(p) && epoch().MatchString(string(text)):
		return text
	}
	if i := slices.IndexFunc(text, func(c rune) bool { return c != '-' }); i < 0 {
		return text
	}
	return r.fill(shapeNumber, text)
}

// epoch matches a time of this century in seconds, milliseconds, microseconds or nanoseconds.
var epoch = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^1\d{9}(\d{3}){0,3}(\.\d{1,9})?$`) })

// hasTime reports whether a value in a place may be a time that stays. A time that no reader knows
// is content, like one in an unknown field or in a text.
func (r *redactor) hasTime(p place) bool {
	return p.mode == structure && isTime(p.key) && (!p.remote && !p.element || r.level == allWords)
}

// isOrdinal reports whether the field of this key counts records.
func isOrdinal(key string) bool { return key == "ordinal" || key == "messageIndex" || key == "index" }

// isTime reports whether the field of this key is a time.
func isTime(key string) bool {
	low := strings.ToLower(key)
	for _, part := range []string{"time", "_date", "created", "updated", "started", "completed"} {
		if strings.Contains(low, part) {
			return true
		}
	}
	return key == "ts" || key == "date" || strings.HasSuffix(key, "Date") || strings.HasSuffix(key, "At") || strings.HasSuffix(key, "_at") || key == "start" || key == "end"
}

// key redacts a key and returns it, and whether it is known.
func (r *redactor) key(in *input, out *output, m mode) (string, bool) {
	t := read(in, false)
	text := string(t.text)
	known := r.words.hasKey(text)
	keep := known && (m == structure || m == declared || r.level == allWords)
	if !keep {
		filled := r.fillString(t.text, false)
		if m == structure {
			filled = keepTool(t.text, filled)
		}
		r.set(&t, filled)
	}
	t.write(out)
	return text, known
}

// keepTool keeps the words by which readers see that an unknown name is about tools.
func keepTool(text, filled []rune) []rune {
	low := []rune(strings.ToLower(string(text)))
	if len(low) != len(text) {
		return filled
	}
	for _, word := range []string{"tool", "function"} {
		for i := 0; i+len(word) <= len(low); i++ {
			if string(low[i:i+len(word)]) == word {
				filled = slices.Concat(filled[:i], text[i:i+len(word)], filled[i+len(word):])
			}
		}
	}
	return filled
}

// fillString redacts a string as a whole. Of what is said in several words, no word keeps its
// length.
func (r *redactor) fillString(text []rune, said bool) []rune {
	// Readers compare ids without the white space around them, and the halves of two ids in one.
	from, to := 0, len(text)
	for from < to && isSpace(text[from]) {
		from++
	}
	for to > from && isSpace(text[to-1]) {
		to--
	}
	var out []rune // nil until needed: a text can be long
	for i := from; i < to; {
		j := to
		if to-from <= longestToken {
			if at := slices.Index(text[i:to], '|'); at >= 0 {
				j = i + at
			}
		}
		if part := text[i:j]; slices.ContainsFunc(part, func(c rune) bool { return !stays(c) }) {
			as := shapeOf(part)
			if said && slices.ContainsFunc(part, isSpace) {
				as = shapeText
			}
			if len(part) == len(text) {
				return r.fill(as, part)
			}
			if out == nil {
				out = slices.Clone(text)
			}
			copy(out[i:], r.fill(as, part))
		}
		i = j + 1
	}
	if out == nil {
		return text
	}
	return out
}

func isSpace(c rune) bool { return c >= 0 && unicode.IsSpace(c) }

// string redacts a string.
func (r *redactor) string(in *input, out *output, p place) {
	t := read(in, len(r.spans.list) > 0 && p.mode != payload)
	r.set(&t, r.value(t.text, t.places, p))
	t.write(out)
}

// value redacts the text of a string. Tags around calls stay; the texts between them are values too.
func (r *redactor) value(text []rune, places []int64, p place) []rune {
	var out []rune
	for {
		if kept, is := r.keeps(text, p); is {
			return append(out, kept...)
		}
		if n := r.prefix(text); n > 0 {
			return append(append(out, text[:n]...), r.fillString(text[n:], true)...)
		}
		isJSON := looksLikeJSON(text)
		lo, hi := 0, 0
		if p.mode == structure {
			lo, hi = r.tag(text)
		}
		switch {
		case lo < hi && !(isJSON && isValid(text)):
		case isJSON:
			inner := &output{text: out}
			r.run(&input{text: text, places: places}, inner, place{mode: p.mode, remote: true})
			return inner.text
		default:
			filled := r.fillString(text, p.mode == payload || slices.Contains(saidIn, p.key))
			if len(out) == 0 {
				return filled
			}
			return append(out, filled...)
		}
		out = append(out, r.value(text[:lo], places, p)...) // no tag is in it
		out = append(out, text[lo:hi]...)
		if text = text[hi:]; places != nil {
			places = places[hi:]
		}
	}
}

// isValid reports whether a text is one JSON value. It reads no further than a text that is not.
func isValid(text []rune) bool {
	dec := json.NewDecoder(&runes{text})
	if err := dec.Decode(new(json.RawMessage)); err != nil {
		return false
	}
	_, err := dec.Token()
	return err == io.EOF
}

// runes reads a text as UTF-8, a piece at a time.
type runes struct{ text []rune }

// Read implements io.Reader.
func (r *runes) Read(p []byte) (int, error) {
	if len(r.text) == 0 {
		return 0, io.EOF
	}
	n := 0
	for len(r.text) > 0 && n+utf8.UTFMax <= len(p) {
		n += utf8.EncodeRune(p[n:], r.text[0])
		r.text = r.text[1:]
	}
	return n, nil
}

// looksLikeJSON reports whether a string contains JSON, or what was meant to be.
func looksLikeJSON(text []rune) bool {
	i := slices.IndexFunc(text, func(c rune) bool { return c > ' ' || c < 0 })
	if i < 0 || text[i] != '{' && text[i] != '[' {
		return false
	}
	for _, c := range text[i+1:] {
		if c > ' ' || c < 0 {
			return strings.ContainsRune(`"{[]}-0123456789tfn`, c)
		}
	}
	return true
}

// tag returns the span of the first tag around a call in a text, such as <tool_call>.
func (r *redactor) tag(text []rune) (lo, hi int) {
	for i := range text {
		if text[i] != '<' {
			continue
		}
		j := i + 1
		if j < len(text) && text[j] == '/' {
			j++
		}
		from := j
		for j < len(text) && (isLetter(text[j]) || text[j] == '-') {
			j++
		}
		if j > from && j < len(text) && (text[j] == '>' || text[j] == '=') && r.words.words[string(text[from:j])] {
			return i, j + 1
		}
	}
	return 0, 0
}

// prefix returns the length of a phrase at the start of a text.
func (r *redactor) prefix(text []rune) int {
	for _, p := range r.phrase {
		start, open := strings.CutSuffix(p, "…")
		if n := utf8.RuneCountInString(start); len(text) >= n && (open || len(text) == n) && string(text[:n]) == start {
			return n
		}
	}
	return 0
}

// A quoted is a string as it is written.
type quoted struct {
	closed bool
	text   []rune  // decoded
	places []int64 // of the characters of text, or nil
	forms  []form  // of the characters of text; nil if all are literal
}

// A form says how a character of a string is written.
type form uint8

const (
	literal form = iota
	short        // an escape of two characters, such as \n
	hexLow       // \u with digits in lower case
	hexHigh      // \u with digits in upper case
	pairLow      // two \u escapes
	pairHigh
	broken // a part of an invalid escape
)

// read reads a string. An unclosed one ends with the text.
func read(in *input, placed bool) quoted {
	var t quoted
	in.next()
	add := func(r rune, f form, at int64) {
		t.text = append(t.text, r)
		if f != literal && t.forms == nil {
			t.forms = make([]form, len(t.text)-1, cap(t.text))
		}
		if t.forms != nil {
			t.forms = append(t.forms, f)
		}
		if placed {
			t.places = append(t.places, at)
		}
	}
	for c, more := in.peek(); more; c, more = in.peek() {
		at := in.offset()
		in.next()
		switch {
		case c == '"':
			t.closed = true
			return t
		case c != '\\':
			add(c, literal, at)
			continue
		}
		e, more := in.peek()
		i := strings.IndexRune(`"\/bfnrt`, e)
		switch {
		case !more:
			add('\\', broken, at)
		case i >= 0:
			in.next()
			add(rune("\"\\/\b\f\n\r\t"[i]), short, at)
		case e != 'u':
			in.next()
			add('\\', broken, at)
			add(unescaping(e), broken, at)
		default:
			in.next()
			t.hex(in, add, at)
		}
	}
	return t
}

// unescaping returns a character that is in no escape either, like r.
func unescaping(r rune) rune {
	switch {
	case stays(r):
		return r
	case 0 <= r && r < utf8.RuneSelf:
		return 'x'
	}
	return filledLike(r)
}

// hex reads the digits of an escape.
func (t *quoted) hex(in *input, add func(rune, form, int64), at int64) {
	digits := []rune{}
	var bad rune
	for len(digits) < 4 {
		c, more := in.peek()
		if !more || !isHex(c) {
			if more && c != '"' && c != '\\' {
				bad = c
				in.next()
			}
			add('\\', broken, at)
			add('u', broken, at)
			for range digits {
				add('0', broken, at)
			}
			if bad != 0 {
				add(unescaping(bad), broken, at)
			}
			return
		}
		digits = append(digits, c)
		in.next()
	}
	r, f := rune(0), hexLow
	for _, d := range digits {
		r = r<<4 | digitValue(d)
		if 'A' <= d && d <= 'F' {
			f = hexHigh
		}
	}
	if n := len(t.text); n > 0 && 0xDC00 <= r && r < 0xE000 && 0xD800 <= t.text[n-1] && t.text[n-1] < 0xDC00 && t.forms[n-1] != literal {
		t.text[n-1] = 0x10000 + (t.text[n-1]-0xD800)<<10 + (r - 0xDC00)
		t.forms[n-1] = pairLow
		if f == hexHigh {
			t.forms[n-1] = pairHigh
		}
		return
	}
	add(r, f, at)
}

func isHex(c rune) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// digitValue returns the value of a hexadecimal digit.
func digitValue(c rune) rune {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}

// set replaces the text, except for invalid escapes: they would become valid ones.
//
// A \u escape is as long as a piece that must not survive, and those of ASCII are much alike. So
// each becomes the escape of an ideograph that the text does not have, unless equal texts must stay
// equal however they are written.
func (r *redactor) set(t *quoted, text []rune) {
	if t.forms == nil {
		t.text = text
		return
	}
	text = slices.Clone(text)
	had := map[rune]bool{}
	for i, f := range t.forms {
		if f == hexLow || f == hexHigh {
			had[t.text[i]] = true
			r.escapes = true
		}
	}
	for i, f := range t.forms {
		switch {
		case f == broken:
			text[i] = t.text[i]
		case r.level == noPayload && (f == hexLow || f == hexHigh) && text[i] != t.text[i] && (text[i] < 0xD800 || text[i] >= 0xE000):
			for text[i] = ideograph(text[i] + rune(i)); had[text[i]]; {
				text[i] = ideograph(text[i] + 1)
			}
		}
	}
	t.text = text
}

// ideograph returns an ideograph for a character.
func ideograph(r rune) rune { return 0x4E00 + r*131%0x5000 }

// write writes a string as it was written.
func (t *quoted) write(out *output) {
	out.add('"')
	for i, r := range t.text {
		f := literal
		if t.forms != nil {
			f = t.forms[i]
		}
		switch f {
		case literal, broken:
			out.add(r)
		case short:
			out.add('\\', rune(`"\/bfnrt`[bytes.IndexByte([]byte("\"\\/\b\f\n\r\t"), byte(r))]))
		case hexLow, hexHigh:
			escape(out, r, f == hexHigh)
		case pairLow, pairHigh:
			escape(out, 0xD800+(r-0x10000)>>10, f == pairHigh)
			escape(out, 0xDC00+(r-0x10000)&0x3FF, f == pairHigh)
		}
	}
	if t.closed {
		out.add('"')
	}
}

// escape writes a \u escape.
func escape(out *output, r rune, high bool) {
	digits := "0123456789abcdef"
	if high {
		digits = "0123456789ABCDEF"
	}
	out.add('\\', 'u')
	for shift := 12; shift >= 0; shift -= 4 {
		out.add(rune(digits[r>>shift&15]))
	}
}
