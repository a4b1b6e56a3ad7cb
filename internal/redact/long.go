package redact

// longestPattern is the longest regular expression that is compiled.
const longestPattern = 64 << 10

// long redacts a string that is not in memory: redact reads the characters between the quotes, and
// writes as many.
func (r *redactor) long(in *input, out *output, redact func(*input, *output)) {
	in.next()
	start := in.mark()
	all := decoder{outer: *in, left: -1}
	e := escapes{replaced: r.level == noPayload}
	n := 0
	for c, more := all.next(); more; c, more = all.next() {
		e.note(c)
		n++
	}
	*in = all.outer
	r.escapes = r.escapes || e.had != nil
	out.add('"')
	redact(&input{long: &decoder{outer: start.mark(), left: n}}, &output{outer: out, like: &decoder{outer: start, left: -1}, set: e})
	if all.closed {
		out.add('"')
	}
}

// longValue does the same as value for a text that is not in memory.
func (r *redactor) longValue(text *input, out *output, p place) {
	copied := func() *input {
		at := text.mark()
		return &at
	}
	for {
		n := text.long.left
		if n <= r.most || p.mode == pattern && n <= longestPattern {
			at := text.mark()
			var places []int64
			if len(r.spans.list) > 0 && p.mode != payload {
				for _, more := at.peek(); more; _, more = at.peek() {
					places = append(places, at.offset())
					at.next()
				}
			}
			out.add(r.value(text.take(n), places, p)...)
			return
		}
		if p.mode == pattern {
			for c, more := text.peek(); more; c, more = text.peek() {
				out.add(inPattern(c, '|'))
				text.next()
			}
			return
		}
		if n := r.prefix(copied().take(longestKept)); n > 0 {
			text.copy(out, n)
			r.fillLongString(text, out, true)
			return
		}
		isJSON := looksLikeJSON(copied())
		lo, hi := 0, 0
		if p.mode == structure {
			lo, hi = r.tag(copied())
		}
		switch {
		case lo < hi && !(isJSON && isValid(copied())):
		case isJSON:
			r.run(text, out, place{mode: p.mode, remote: true})
			return
		default:
			r.fillLongString(text, out, saidAt(p))
			return
		}
		before := copied()
		before.long.left = lo
		r.longValue(before, out, p) // no tag is in it
		for range lo {
			text.peek()
			text.next()
		}
		text.copy(out, hi-lo)
	}
}

// fillLongString does the same as fillString for a text that is not in memory.
func (r *redactor) fillLongString(text *input, out *output, said bool) {
	if text.long.left <= r.most {
		out.add(r.fillString(text.take(text.long.left), said)...)
		return
	}
	at := text.mark()
	from, to, changes := 0, 0, false
	n := 0
	for c, more := at.peek(); more; c, more = at.peek() {
		n++
		if !isSpace(c) {
			if to == 0 {
				from = n - 1
			}
			to = n
		}
		changes = changes || !isSpace(c) && !stays(c)
		at.next()
	}
	if !changes {
		text.copy(out, n)
		return
	}
	text.copy(out, from)
	if to-from <= r.most {
		out.add(r.fillString(text.take(to-from), said)...)
	} else {
		r.fillLong(shapeText, text, out, to-from)
	}
	text.copy(out, n-to)
}

// fillLong does the same as fill for the next n characters, of which there are more than
// longestSearch.
func (r *redactor) fillLong(as shape, in *input, out *output, n int) {
	if n <= r.most { // behind the start of a literal
		out.add(r.fill(as, in.take(n))...)
		return
	}
	at := in.mark()
	head := at.take(longestPrefix)
	at = in.mark()
	s := r.newSum(as)
	var f facts
	for c, more := at.peek(); more && f.n < n; c, more = at.peek() {
		s.add(c)
		f.add(c)
		at.next()
	}
	seed := s.end()
	for try := range attempts + 1 {
		g := r.generator(as, seed, try, &f, idPrefix(head), true)
		begin := make([]rune, len(head))
		for i, c := range head {
			begin[i] = g.next(c)
		}
		if idPrefix(begin) == keptPrefix(as, idPrefix(head)) || try == attempts {
			g = r.generator(as, seed, try, &f, idPrefix(head), true)
			for c, more := in.peek(); more && n > 0; c, more = in.peek() {
				out.add(g.next(c))
				in.next()
				n--
			}
			return
		}
	}
}

// isValid reports whether a text is one JSON value. It reads no further than a text that is not.
func isValid(in *input) bool {
	const (
		value  = iota // expected: a value,
		first         // a value or the end of the array,
		key           // a key,
		member        // a key or the end of the object,
		ended         // what follows a value
	)
	var objects []bool // for each object and array around the place, whether it is an object
	expected := value
	for {
		c, more := in.peek()
		switch {
		case !more:
			return expected == ended && len(objects) == 0
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			in.next()
			continue
		case len(objects) > 0 && (c == '}' && objects[len(objects)-1] && (expected == member || expected == ended) ||
			c == ']' && !objects[len(objects)-1] && (expected == first || expected == ended)):
			objects, expected = objects[:len(objects)-1], ended
			in.next()
		case expected == ended:
			if len(objects) == 0 || c != ',' {
				return false
			}
			in.next()
			if expected = value; objects[len(objects)-1] {
				expected = key
			}
		case expected == key || expected == member:
			if c != '"' || !validString(in) {
				return false
			}
			for c, more = in.peek(); more && (c == ' ' || c == '\t' || c == '\n' || c == '\r'); c, more = in.peek() {
				in.next()
			}
			if c != ':' {
				return false
			}
			in.next()
			expected = value
		case c == '{' || c == '[':
			if len(objects) == deepest {
				return false
			}
			in.next()
			objects = append(objects, c == '{')
			if expected = first; c == '{' {
				expected = member
			}
		default:
			if !validScalar(in, c) {
				return false
			}
			expected = ended
		}
	}
}

// validScalar reads a string, a number or a literal that begins with c, and reports whether it is valid.
func validScalar(in *input, c rune) bool {
	switch c {
	case '"':
		return validString(in)
	case 't', 'f', 'n':
		word := map[rune]string{'t': "true", 'f': "false", 'n': "null"}[c]
		return string(in.take(len(word))) == word
	}
	digits := func() bool {
		some := false
		for c, more := in.peek(); more && '0' <= c && c <= '9'; c, more = in.peek() {
			in.next()
			some = true
		}
		return some
	}
	if c == '-' {
		in.next()
		c, _ = in.peek()
	}
	if c == '0' {
		in.next()
	} else if !digits() {
		return false
	}
	if c, more := in.peek(); more && c == '.' {
		in.next()
		if !digits() {
			return false
		}
	}
	if c, more := in.peek(); more && (c == 'e' || c == 'E') {
		in.next()
		if c, more := in.peek(); more && (c == '+' || c == '-') {
			in.next()
		}
		return digits()
	}
	return true
}

// validString reads a string and reports whether it is valid.
func validString(in *input) bool {
	in.next()
	for c, more := in.peek(); more; c, more = in.peek() {
		in.next()
		switch {
		case c == '"':
			return true
		case 0 <= c && c < ' ':
			return false
		case c != '\\':
			continue
		}
		switch c, _ = in.peek(); c {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			in.next()
		case 'u':
			in.next()
			for range 4 {
				if c, more := in.peek(); !more || !isHex(c) {
					return false
				}
				in.next()
			}
		default:
			return false
		}
	}
	return false
}
