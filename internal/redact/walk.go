package redact

import (
	"bytes"
	"cmp"
	"hash"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/source"
)

// A nest is an object or array that has begun.
type nest struct {
	mode   mode // of its keys and elements
	object bool
	onKey  bool   // the next string is a key
	key    string // of the value; for an array, the one that leads to it
	at     string // the key that leads to it
	known  bool   // the key is a word
	remote bool   // a key on the way to it is unknown, or it is in a string
	// opaque is set if it is payload because of its key, and from is where it begins.
	opaque bool
	from   int64
}

// A place is where a value is.
type place struct {
	mode    mode
	key     string
	around  string // the key that leads to the object around it
	known   bool   // the key is a word
	remote  bool   // a key on the way to it is unknown, or it is in a string
	element bool   // of an array
}

// A redactor redacts texts.
type redactor struct {
	*filler
	vocabulary *vocabulary
	survey     *survey
	learned    *lessons
	mac        hash.Hash
	scanner    source.Scanner
	head       []byte
	made       [512]byte // filler of a long text
	err        error
}

// begin begins the hash of a value.
func (r *redactor) begin(k kind) {
	r.mac.Reset()
	r.mac.Write([]byte{byte(k)})
}

// finish returns the hash of the value that was written since begin.
func (r *redactor) finish() (s sum) {
	r.mac.Sum(s[:0])
	return s
}

// sumOf returns the hash of a token as it is written, or decoded if it is a word or a value.
func (r *redactor) sumOf(t *scalar, k kind) sum {
	if t.long {
		return t.sum
	}
	r.begin(k)
	text := t.head
	if k <= value && bytes.IndexByte(text, '\\') >= 0 {
		text = source.AppendUnescaped(nil, text)
	}
	r.mac.Write(text)
	return r.finish()
}

// deepest is how deep objects and arrays are nested whose keys are distinguished. Readers go less
// deep.
const deepest = source.MaxDepth + 1

// run redacts valid JSON, or what is left of it up to the end of the input. cut says that a fault
// follows there. It reports whether it ends in a string.
func (r *redactor) run(in *input, out *output, at place, cut bool) (inString bool) {
	var open []nest
	deeper := 0 // objects and arrays in the last of open
	where := func() place {
		p := at
		if n := len(open); n > 0 {
			top := &open[n-1]
			key := ""
			if top.object {
				key = top.key
			}
			p = place{top.mode.within(key), top.key, top.at, top.known, top.remote || top.object && !top.known, !top.object}
			if m, is := readIn[top.at+"."+key]; is && top.opaque {
				p.mode = m
			}
			if deeper > 0 {
				p.mode = payload
			}
		}
		if r.survey.dropsSchemas && (p.mode == declared || p.mode == named || p.mode == pattern) {
			p.mode = dropped
		}
		if m, is := r.survey.payload(in.offset()); is && p.mode < declared {
			p.mode = m
		}
		return p
	}
	for in.more() && r.err == nil {
		switch c := in.page[0]; {
		case c == '{' || c == '[':
			read := r.survey.isRead(in.offset())
			if read {
				r.learned.contain(open)
			}
			if len(open) == deepest {
				deeper++
			} else {
				p := where()
				top := nest{mode: p.mode, object: c == '{', onKey: c == '{', key: p.key, at: p.key, known: p.known, remote: p.remote, from: in.offset()}
				switch {
				case c == '[' && p.mode == named:
					top.mode = payload
				case p.mode == structure && !p.element && p.key != "" && (!p.known || slices.Contains(opaqueIn, p.key)) && !read && !r.learned.containers[top.from]:
					top.mode, top.opaque = payload, true
				}
				open = append(open, top)
			}
			in.copy(out, 1)
		case c == '}' || c == ']':
			if deeper > 0 {
				deeper--
			} else if len(open) > 0 {
				open = open[:len(open)-1]
			}
			in.copy(out, 1)
		case c == ',':
			if len(open) > 0 && deeper == 0 {
				top := &open[len(open)-1]
				top.onKey = top.object
			}
			in.copy(out, 1)
		case c == '"':
			top := &nest{}
			if len(open) > 0 {
				top = &open[len(open)-1]
			}
			isKey := top.onKey && deeper == 0
			p := place{}
			if !isKey {
				p = where()
				if s := r.survey.decodes(in.offset()); s != nil {
					r.learned.contain(open)
					r.inString(in, out, p, s)
					continue
				}
			}
			in.copy(out, 1)
			t := in.text(r)
			tail := r.tail(in, &t)
			if isKey {
				top.key, top.known = r.key(&t, out, top)
				top.onKey = false
			} else {
				if r.survey.isReadIn(&t) {
					r.learned.contain(open)
				}
				r.string(&t, out, p)
			}
			if !t.closed {
				out.write(tail)
				return true
			}
			in.copy(out, 1)
		case c == '-' || c-'0' < 10:
			p := where()
			t := in.number(r)
			r.number(&t, out, p)
		case 'a' <= c && c <= 'z':
			r.literal(in, out, cut)
		default: // a colon or white space
			n := 1
			for n < len(in.page) && (in.page[n] <= ' ' || in.page[n] == ':') {
				n++
			}
			in.copy(out, n)
		}
	}
	return false
}

// literal writes true, false or null, or the start of one at the end of the input. If a fault
// follows, a text only begins like one, so a number of the same length takes its place.
func (r *redactor) literal(in *input, out *output, cut bool) {
	var word []byte
	for in.more() && in.page[0]-'a' < 26 {
		word = append(word, in.page[0])
		in.skip(1)
	}
	if cut && !in.more() {
		word = bytes.Repeat([]byte{'1'}, len(word))
	}
	out.write(word)
}

// inString redacts a string in which a reader reads JSON.
func (r *redactor) inString(in *input, out *output, at place, s *encodedJSON) {
	in.copy(out, 1)
	inner := &input{base: in.offset(), where: func(i int) int { return i }}
	if in.src != nil {
		inner.raw = make([]byte, s.span.End-1-in.at)
		if _, err := in.src.ReadAt(inner.raw, in.at); err != nil && err != io.EOF {
			r.err = err
			return
		}
		inner.page = inner.raw
		if bytes.IndexByte(inner.raw, '\\') >= 0 {
			inner.page, inner.where = source.Unescape(inner.raw)
		}
		in.seek(s.span.End-1, in.end)
	} else {
		text, offset := source.Unescape(in.page[:max(0, closing(in.page))])
		from, start, outer := int(in.at), in.where(int(in.at)), in.where
		inner.raw, inner.page = in.raw[start:], text
		inner.where = func(i int) int { return outer(from+offset(i)) - start }
		in.skip(max(0, closing(in.page)))
	}
	inner.end = int64(len(inner.page))
	at.remote = true
	if at.mode == structure {
		at.mode = s.mode
	}
	r.whole(inner, out, at)
	if in.more() {
		in.copy(out, 1)
	}
}

// whole redacts the text of a string up to where it stops being JSON, and the rest.
func (r *redactor) whole(in *input, out *output, at place) {
	text := in.page
	s := r.scanner.Scan(text, 0, source.Strict)
	stop := s.At
	if s.Kind == source.FaultNone {
		stop = source.SkipBlank(text, s.End)
	}
	if s.Kind == source.FaultTooDeep {
		stop = len(text)
	}
	in.page, in.end = text[:stop], int64(stop)
	open := r.run(in, out, at, stop < len(text))
	if stop == len(text) {
		return
	}
	in.page, in.end = text[stop:], int64(len(text))
	r.fault(in, out, open)
	for in.more() {
		n := int64(in.where(int(in.end)) - in.where(int(in.at)))
		out.write(bytes.Repeat([]byte{inert}, int(n)))
		in.skip(len(in.page))
	}
}

// inert replaces what is not JSON.
const inert = 'x'

// tail cuts an escape off a text that ends in it, and returns it without its digits.
func (r *redactor) tail(in *input, t *scalar) []byte {
	if t.closed {
		return nil
	}
	end := t.head[max(0, len(t.head)-5):]
	if in.src != nil {
		end = make([]byte, min(5, t.size()))
		if n, err := in.src.ReadAt(end, t.end-int64(len(end))); n < len(end) {
			r.err = err
			return nil
		}
	}
	i := bytes.LastIndexByte(end, '\\')
	if i < 0 || i > 0 && end[i-1] == '\\' || len(end)-i > 1 && end[i+1] != 'u' {
		return nil // a backslash before it is an escape of its own
	}
	n := len(end) - i
	if in.src != nil {
		t.end -= int64(n)
		t.head = t.head[:min(int64(len(t.head)), t.size())]
		return append([]byte(nil), `\u000`[:n]...)
	}
	from := in.where(int(in.at) - n)
	tail := bytes.Clone(in.raw[from:in.where(int(in.at))])
	t.end -= int64(len(tail))
	t.head = t.head[:len(t.head)-n]
	for j := len(tail) - 1; n > 2; n-- { // digits are written as themselves
		tail[j] = '0'
		j--
	}
	return tail
}

// fault writes a character that is as wrong as the one that follows and is written with as many
// bytes.
func (r *redactor) fault(in *input, out *output, inString bool) {
	_, n := utf8.DecodeRune(in.page)
	size := in.where(int(in.at)+n) - in.where(int(in.at))
	with := bytes.Repeat([]byte{inert}, size)
	switch control := inString && in.page[0] < ' '; {
	case size == 1 && in.page[0] == '\n':
		with[0] = '\n' // the lines after it stay where they are
	case control && size == 1:
		with[0] = 1
	case control && size < 6:
		copy(with, `\\\\\\`[6-size+1:])
		with[size-1] = 'n'
	case control:
		copy(with[size-5:], "u0001")
		copy(with, `\\\\\\\\\\\\`[:size-5])
	case size == 6:
		copy(with, `\u0078`)
	default:
		copy(with, map[int]string{2: "é", 3: "中", 4: "😀"}[size])
	}
	out.write(with)
	in.skip(n)
}

// fill writes filler for a token behind what is kept of its start.
func (r *redactor) fill(out *output, t *scalar, s sum, k kind, kept int) {
	n := int(t.size()) - kept
	if n <= 0 {
		return
	}
	if n <= mostShort {
		made, err := r.short(s, k, n, "")
		if err != nil {
			r.err = err
			return
		}
		r.put(out, t, made)
		return
	}
	g := r.start(r.seed(s), k)
	for n > 0 {
		made := r.made[:min(n, len(r.made))]
		g.write(made)
		r.put(out, t, made)
		n -= len(made)
	}
}

// put writes filler. Line feeds and carriage returns stay where they are.
func (r *redactor) put(out *output, t *scalar, made []byte) {
	for len(t.breaks) > 0 && t.breaks[0].at < out.at+int64(len(made)) {
		if i := t.breaks[0].at - out.at; i >= 0 {
			made[i] = t.breaks[0].char
		}
		t.breaks = t.breaks[1:]
	}
	out.write(made)
}

// key redacts a key and returns it, and whether it is known.
func (r *redactor) key(t *scalar, out *output, in *nest) (string, bool) {
	if !t.closed && t.size() > 0 || t.long {
		r.fill(out, t, r.sumOf(t, word), word, 0)
		return "", false
	}
	name := string(source.AppendUnescaped(nil, t.head))
	known := in.mode <= callText && r.vocabulary.hasKey(name) || in.mode == declared && slices.Contains(keywords, name)
	if _, read := readIn[in.at+"."+name]; read && in.opaque {
		known = true
	}
	switch {
	case known:
		out.write(t.head)
	case in.mode == structure && isTool(name) && prefixOf(t.head, idPrefixes) == "":
		r.word(t, out, forTool)
	case in.mode == structure:
		r.word(t, out, asID)
	default:
		r.word(t, out, plain)
	}
	return name, known
}

// isTool reports whether a key says that its field is about tools.
func isTool(key string) bool {
	low := strings.ToLower(key)
	return strings.Contains(low, "tool") || strings.Contains(low, "function")
}

// A variant of a word has what findings and readers look for.
type variant uint8

const (
	plain   variant = iota
	asID            // with the documented prefix, if it has one
	asItem          // the same, or with what the ids of items begin with
	forTool         // a key that is about tools
	badChar         // a character that the provider does not accept
	spaced          // white space at the start
	control         // a control character
)

// word redacts an id, a name or a key.
func (r *redactor) word(t *scalar, out *output, v variant) {
	s := r.sumOf(t, word)
	if (v == asID || v == asItem) && !t.long {
		if lead, trail := spaces(t.head); lead+trail > 0 && lead < len(t.head) && t.closed {
			core := *t
			core.start, core.end, core.head = t.start+int64(lead), t.end-int64(trail), t.head[lead:len(t.head)-trail]
			out.write(t.head[:lead])
			r.word(&core, out, v)
			out.write(t.head[len(t.head)-trail:])
			return
		}
		if i := bytes.IndexByte(t.head, '|'); i > 0 && int64(len(t.head)) == t.size() { // two ids in one
			for j, half := range [][]byte{t.head[:i], t.head[i+1:]} {
				if j > 0 {
					out.write([]byte{'|'})
				}
				r.word(&scalar{start: out.at, end: out.at + int64(len(half)), head: half, closed: true}, out, v)
			}
			return
		}
	}
	n := int(t.size())
	if !t.long {
		n = r.learned.length(s, n, bytes.IndexByte(t.head, '\\') >= 0)
	}
	prefix := ""
	switch mark := r.learned.mark(t.start-1, s); {
	case mark != plain:
		v = mark
		prefix = variants[v]
	case v == asItem:
		prefix = cmp.Or(prefixOf(t.head, idPrefixes), prefixOf(t.head, itemPrefixes))
	case v == asID:
		prefix = prefixOf(t.head, idPrefixes)
	case v == forTool:
		prefix = variants[v]
	}
	if len(prefix) >= n || n == 0 && t.size() > 0 {
		prefix = ""
	}
	escapes := (int(t.size()) - n) / 5
	if n > mostShort || prefix == "" && escapes == 0 {
		if prefix != "" {
			out.write([]byte(prefix))
		}
		t2 := *t
		r.fill(out, &t2, s, word, len(prefix))
		return
	}
	made, err := r.short(s, word, n, prefix)
	if err != nil {
		r.err = err
		return
	}
	for i, c := range made {
		if i < escapes {
			out.write([]byte{'\\', 'u', '0', '0', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15]})
			continue
		}
		r.put(out, t, []byte{c})
	}
}

// string redacts a string that is no key.
func (r *redactor) string(t *scalar, out *output, p place) {
	k := r.kindOf(p)
	if t.long && k != encoded {
		k = text
	}
	kept := r.kept(t, p)
	_, marked := r.survey.variants[t.start-1]
	switch {
	case marked && k == text && kept == 0: // a title that is a name
		r.word(t, out, plain)
	case p.mode == pattern:
		r.put(out, t, anyPattern(t))
	case kept == int(t.size()):
		out.write(t.head)
	case isBlank(t):
		r.put(out, t, bytes.Repeat([]byte{' '}, int(t.size())))
	case k == word && kept > 0:
		out.write(t.head[:kept])
		rest := *t
		rest.start, rest.head = t.start+int64(kept), t.head[kept:]
		r.word(&rest, out, plain)
	case k == word && p.mode == declared && slices.Contains(refersIn, p.key) && !t.long:
		r.reference(t, out)
	case k == word && p.mode == structure && p.known && isModel(p.key) && !t.long:
		r.parts(t, out, strings.Contains(strings.ToLower(p.key), "model"))
	case k == word && p.mode == structure && p.key == "id":
		r.word(t, out, asItem)
	case k == word && p.mode == structure && p.known && isID(p.key):
		r.word(t, out, asID)
	case k == word && p.mode != declared || k == word && slices.Contains(wordsIn, p.key):
		r.word(t, out, plain)
	case k == word: // in a schema
		r.fill(out, t, r.sumOf(t, value), value, 0)
	default:
		out.write(t.head[:kept])
		last := ""
		if k == text {
			start, end := r.around(t)
			out.write([]byte(start))
			kept, last = kept+len(start), end
		}
		if k == encoded {
			head := imageHeader(t.head[kept:])
			head = head[:min(len(head), int(t.size())-kept)]
			out.write(head)
			kept += len(head)
		}
		if r.survey.blankAfter[t.start-1] {
			last = " "
		}
		if int(t.size()) < kept+len(last) {
			last = ""
		}
		t.end -= int64(len(last))
		r.fill(out, t, r.sumOf(t, k), k, kept)
		r.put(out, t, []byte(last))
	}
}

// spaces returns the lengths of the white space at both ends of a text as it is written.
func spaces(b []byte) (lead, trail int) {
	cut := func(b []byte, has func([]byte, []byte) bool) int {
		for _, s := range []string{" ", `\n`, `\t`, `\r`} {
			if has(b, []byte(s)) {
				return len(s)
			}
		}
		return 0
	}
	for n := 1; n > 0; lead += n {
		n = cut(b[lead:], bytes.HasPrefix)
	}
	for n := 1; n > 0 && lead+trail < len(b); trail += n {
		n = cut(b[:len(b)-trail], bytes.HasSuffix)
	}
	return lead, trail
}

// around returns the start and the end of the filler for a text: what agents write themselves, and
// tags by which readers tell who wrote the text.
func (r *redactor) around(t *scalar) (start, end string) {
	said := t.head
	if bytes.IndexByte(said, '\\') >= 0 {
		said = source.AppendUnescaped(nil, said)
	}
	whole := said
	if t.long {
		whole = source.AppendUnescaped(slices.Clone(said[:2]), t.tail)
	}
	if r.survey.inTags && len(whole) > 2 && container.InTags(whole) {
		start, end = "<a>", ">"
	}
	if n := r.vocabulary.phrase(string(said)); n > 0 && (n < len(said) || !t.long) {
		return string(said[:n]), end
	}
	for _, tag := range callTags {
		if bytes.Contains(said, []byte(tag)) {
			return tag, end
		}
	}
	return start, end
}

// isBlank reports whether a text has nothing but white space.
func isBlank(t *scalar) bool {
	if t.long || t.size() == 0 {
		return false
	}
	text := t.head
	if bytes.IndexByte(text, '\\') >= 0 {
		text = source.AppendUnescaped(nil, text)
	}
	return len(bytes.TrimFunc(text, unicode.IsSpace)) == 0
}

// number redacts a number.
func (r *redactor) number(t *scalar, out *output, p place) {
	if !t.long && keepsNumber(t.head, p) {
		out.write(t.head)
		return
	}
	r.fill(out, t, r.sumOf(t, number), number, 0)
}
