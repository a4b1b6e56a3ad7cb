package redact

import (
	"math"
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
	most   int // characters of a string in memory
	// escapes is set once a \u escape has been read.
	escapes bool
}

// deepest is how deep objects and arrays are nested whose keys are distinguished. Readers go less
// deep.
const deepest = 10_000

// run redacts JSON, whole or broken, that is in a place. What is not JSON becomes filler too.
func (r *redactor) run(in *input, out *output, at place) {
	var open []nest
	deeper := 0 // objects and arrays in the last of open
	where := func() place {
		if deeper > 0 || len(open) > 0 && open[len(open)-1].onKey {
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
		case (c == '{' || c == '[') && len(open) == deepest:
			deeper++
			out.add(c)
			in.next()
		case c == '{' || c == '[':
			p := where()
			open = append(open, nest{mode: p.mode, object: c == '{', onKey: c == '{', key: p.key, known: p.known, remote: p.remote})
			if c == '[' && p.mode == named {
				open[len(open)-1].mode = payload
			}
			out.add(c)
			in.next()
		case c == '}' || c == ']':
			if deeper > 0 {
				deeper--
			} else if len(open) > 0 {
				open = open[:len(open)-1]
			}
			ends()
			out.add(c)
			in.next()
		case c == ',' || c == ':':
			if len(open) > 0 && deeper == 0 {
				top := &open[len(open)-1]
				top.ended = c == ':' && !top.onKey // no value belongs behind a second colon
				top.onKey = top.object && c == ','
			}
			out.add(c)
			in.next()
		case c == '"':
			if deeper == 0 && len(open) > 0 && open[len(open)-1].onKey {
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
			if n, all := r.length(in, inNumber); all {
				out.add(r.number(in.take(n), p)...)
			} else {
				r.fillLong(shapeNumber, in, out, n)
			}
			ends()
		case isLetter(c):
			if n, all := r.length(in, inWord); all {
				out.add(r.word(in.take(n))...)
			} else {
				start := in.mark()
				kept := sameAsLiteral(string(start.take(len("false"))))
				in.copy(out, kept)
				r.fillLong(shapeWord, in, out, n-kept)
			}
		case stays(c):
			out.add(c)
			in.next()
		default:
			n, all := r.length(in, inRest)
			if all {
				out.add(r.fill(shapeWord, in.take(n))...)
			} else {
				r.fillLong(shapeWord, in, out, n)
			}
			if n == 0 {
				out.add(c) // a dot outside a number
				in.next()
			}
		}
	}
}

// length returns how many of the following characters are like this, and whether they may be in
// memory.
func (r *redactor) length(in *input, like func(rune) bool) (n int, held bool) {
	n = in.count(like, r.most+1)
	if n <= r.most {
		return n, true
	}
	return in.count(like, math.MaxInt), false
}

func isLetter(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

func inWord(c rune) bool { return isLetter(c) || '0' <= c && c <= '9' }

// inRest reports whether a character begins nothing that JSON has.
func inRest(c rune) bool {
	return !stays(c) && !isLetter(c) && (c < '-' || c > '9') && !strings.ContainsRune(`{}[],:`, c)
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
	n := sameAsLiteral(text)
	return slices.Concat(word[:n], r.fill(shapeWord, word[n:]))
}

// sameAsLiteral returns how many characters of a word are the start of a literal of JSON.
func sameAsLiteral(text string) int {
	most := 0
	for _, l := range literals[:3] {
		n := 0
		for n < min(len(l), len(text)) && l[n] == text[n] {
			n++
		}
		most = max(most, n)
	}
	return most
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
	start := in.mark()
	t, whole := read(in, false, r.most)
	text := string(t.text)
	if !whole { // no word is so long
		*in = start
		r.long(in, out, func(text *input, out *output) { r.fillLongString(text, out, false) })
		return text, false
	}
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
	start := in.mark()
	t, whole := read(in, len(r.spans.list) > 0 && p.mode != payload, r.most)
	if !whole {
		*in = start
		r.long(in, out, func(text *input, out *output) { r.longValue(text, out, p) })
		return
	}
	r.set(&t, r.value(t.text, t.places, p))
	t.write(out)
}

// saidAt reports whether the texts in a place are said by somebody.
func saidAt(p place) bool { return p.mode == payload || slices.Contains(saidIn, p.key) }

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
		isJSON := looksLikeJSON(&input{text: text})
		lo, hi := 0, 0
		if p.mode == structure {
			lo, hi = r.tag(&input{text: text})
		}
		switch {
		case lo < hi && !(isJSON && isValid(&input{text: text})):
		case isJSON:
			inner := &output{text: out}
			r.run(&input{text: text, places: places}, inner, place{mode: p.mode, remote: true})
			return inner.text
		default:
			filled := r.fillString(text, saidAt(p))
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

// looksLikeJSON reports whether a text contains JSON, or what was meant to be.
func looksLikeJSON(in *input) bool {
	visible := func() (rune, bool) {
		c, more := in.peek()
		for ; more && 0 <= c && c <= ' '; c, more = in.peek() {
			in.next()
		}
		return c, more
	}
	if c, more := visible(); !more || c != '{' && c != '[' {
		return false
	}
	in.next()
	c, more := visible()
	return !more || strings.ContainsRune(`"{[]}-0123456789tfn`, c)
}

// tag returns the span of the first tag around a call in a text, such as <tool_call>.
func (r *redactor) tag(in *input) (lo, hi int) {
	n := 0
	next := func() {
		in.next()
		n++
	}
	var name []rune
	for c, more := in.peek(); more; c, more = in.peek() {
		next()
		if c != '<' {
			continue
		}
		at := n - 1
		if c, more = in.peek(); more && c == '/' {
			next()
		}
		name = name[:0]
		for c, more = in.peek(); more && (isLetter(c) || c == '-'); c, more = in.peek() {
			if len(name) <= longestKept {
				name = append(name, c)
			}
			next()
		}
		if len(name) > 0 && more && (c == '>' || c == '=') && r.words.words[string(name)] {
			return at, n + 1
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

// read reads a string, and reports whether it has at most that many characters. If not, it reads no
// further. An unclosed string ends with the text.
func read(in *input, placed bool, most int) (quoted, bool) {
	var t quoted
	in.next()
	d := decoder{outer: *in, left: -1}
	for c, more := d.next(); more; c, more = d.next() {
		if len(t.text) == most {
			return t, false
		}
		t.text = append(t.text, c.rune)
		if c.form != literal && t.forms == nil {
			t.forms = make([]form, len(t.text)-1, cap(t.text))
		}
		if t.forms != nil {
			t.forms = append(t.forms, c.form)
		}
		if placed {
			t.places = append(t.places, c.at)
		}
	}
	*in, t.closed = d.outer, d.closed
	return t, true
}

// set replaces the text.
func (r *redactor) set(t *quoted, text []rune) {
	if t.forms == nil {
		t.text = text
		return
	}
	e := escapes{replaced: r.level == noPayload}
	for i, f := range t.forms {
		e.note(character{rune: t.text[i], form: f})
	}
	r.escapes = r.escapes || e.had != nil
	out := make([]rune, len(text))
	for i, f := range t.forms {
		out[i] = e.rune(character{rune: t.text[i], form: f}, text[i], i)
	}
	t.text = out
}

// write writes a string as it was written.
func (t *quoted) write(out *output) {
	out.add('"')
	if t.forms == nil {
		out.add(t.text...)
	} else {
		for i, r := range t.text {
			out.write(r, t.forms[i])
		}
	}
	if t.closed {
		out.add('"')
	}
}
