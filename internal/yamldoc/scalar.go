//go:build !noyaml

package yamldoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/toolguard/toolguard/internal/source"
)

// scalar writes a scalar as JSON.
func (t *transcriber) scalar(n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		t.u.Put("null", t.at(n))
		return nil
	case "!!bool":
		t.u.Put(strings.ToLower(n.Value), t.at(n))
		return nil
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			at := t.at(n)
			at.End = at.Start + int64(len(n.Value))
			t.u.Put(n.Value, at)
			return nil
		}
	case "!!binary", "!binary": // the latter is how Ruby writes it
		return t.binary(n)
	}
	return t.str(n)
}

// str writes a scalar as a JSON string.
func (t *transcriber) str(n *yaml.Node) error {
	p, err := t.parse(n)
	if err != nil {
		return err
	}
	w := quoting{t: t}
	w.quote(p.from)
	for _, r := range p.runs {
		w.run(r)
	}
	w.quote(p.to)
	return nil
}

// A run is a part of the text of a scalar, and the part of the file that it comes from.
type run struct {
	from, to int // offsets in the text of the document
	same     bool
	text     string // unless it is the same as that of the file
}

// of returns the text of a run.
func (r *run) of(text []byte) string {
	if r.same {
		return string(text[r.from:r.to])
	}
	return r.text
}

// A quoting writes text as the content of a JSON string.
type quoting struct{ t *transcriber }

func (w quoting) span(from, to int) source.Span {
	return source.Span{Start: w.t.base + int64(from), End: w.t.base + int64(to)}
}

func (w quoting) quote(at int) { w.t.u.Put(`"`, w.span(at, at)) }

func (w quoting) run(r run) {
	if !r.same {
		w.t.u.Put(escaped(r.text), w.span(r.from, r.to))
		return
	}
	text, done := w.t.text, r.from
	for i := r.from; i < r.to; i++ {
		if c := text[i]; c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		if i > done {
			w.t.u.Take(string(text[done:i]), w.span(done, i))
		}
		w.t.u.Put(escaped(string(text[i:i+1])), w.span(i, i+1))
		done = i + 1
	}
	if done < r.to {
		w.t.u.Take(string(text[done:r.to]), w.span(done, r.to))
	}
}

// escaped returns a text as the content of a JSON string.
func escaped(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string is always encoded
	return b.String()[1 : b.Len()-2]
}

// A parsed is a scalar in the text of a document.
type parsed struct {
	from, to int // without tag and anchor
	runs     []run
}

// parse finds the text of a scalar and where it ends. The library knows neither its end nor where
// each of its characters comes from, but its value, which is followed.
func (t *transcriber) parse(n *yaml.Node) (*parsed, error) {
	f := &follower{text: t.text, at: t.offset(n), want: n.Value}
	f.properties()
	p := &parsed{from: f.at}
	var ok bool
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		ok = f.quoted('"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		ok = f.quoted('\'')
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		ok = f.block(n.Style&yaml.FoldedStyle != 0)
	default:
		ok = f.plain()
	}
	if !ok || f.want != "" {
		return nil, t.fail(p.from, fmt.Sprintf("the text of this value was not found: expected %q at byte %d", cutOff(f.want), t.base+int64(f.at)))
	}
	p.to, p.runs = f.at, f.runs
	return p, nil
}

// cutOff returns the beginning of a text.
func cutOff(s string) string {
	const most = 20
	if len(s) <= most {
		return s
	}
	for i := range s {
		if i >= most {
			return s[:i] + "…"
		}
	}
	return s
}

// A follower goes through the text of a scalar along its known value. Each step consumes what it
// stands for from want, and fails if that is something else.
type follower struct {
	text []byte
	at   int
	want string
	runs []run
}

// take consumes text for the part of the file from from to at.
func (f *follower) take(text string, from int) bool {
	if f.at-from == len(text) && string(f.text[from:f.at]) == text {
		return f.literal(from)
	}
	if !strings.HasPrefix(f.want, text) {
		return false
	}
	f.want = f.want[len(text):]
	if text != "" {
		f.runs = append(f.runs, run{from: from, to: f.at, text: text})
	}
	return true
}

// literal consumes the part of the file from from to at as it is.
func (f *follower) literal(from int) bool {
	n := f.at - from
	if len(f.want) < n || f.want[:n] != string(f.text[from:f.at]) {
		return false
	}
	f.want = f.want[n:]
	if k := len(f.runs) - 1; k >= 0 && f.runs[k].same && f.runs[k].to == from {
		f.runs[k].to = f.at
	} else if n > 0 {
		f.runs = append(f.runs, run{from: from, to: f.at, same: true})
	}
	return true
}

func (f *follower) peek() byte {
	if f.at < len(f.text) {
		return f.text[f.at]
	}
	return 0
}

// lineBreak returns the length of the line break at the start of a text, 0 if there is none.
func lineBreak(text []byte) int {
	switch {
	case len(text) == 0:
		return 0
	case text[0] == '\n':
		return 1
	case text[0] == '\r':
		if len(text) > 1 && text[1] == '\n' {
			return 2
		}
		return 1
	case text[0] == 0xc2 && len(text) > 1 && text[1] == 0x85:
		return 2
	case text[0] == 0xe2 && len(text) > 2 && text[1] == 0x80 && (text[2] == 0xa8 || text[2] == 0xa9):
		return 3
	}
	return 0
}

func (f *follower) lineBreak() int { return lineBreak(f.text[min(f.at, len(f.text)):]) }

// broken goes over a line break and returns what it stands for.
func (f *follower) broken() string {
	n := f.lineBreak()
	text := "\n"
	if n == 3 { // a line or paragraph separator is kept
		text = string(f.text[f.at : f.at+n])
	}
	f.at += n
	return text
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// properties goes over a tag and an anchor, and what is between them and the scalar.
func (f *follower) properties() {
	for f.peek() == '!' || f.peek() == '&' {
		for f.at < len(f.text) && !blank(f.text[f.at]) && f.lineBreak() == 0 {
			f.at++
		}
		for f.at < len(f.text) {
			switch {
			case blank(f.text[f.at]):
				f.at++
				continue
			case f.lineBreak() > 0:
				f.at += f.lineBreak()
				continue
			case f.text[f.at] == '#':
				for f.at < len(f.text) && f.lineBreak() == 0 {
					f.at++
				}
				continue
			}
			break
		}
	}
}

// fold goes over blanks and line breaks inside a scalar and consumes what they stand for. after is
// set behind an escaped line break, whose own break stands for nothing.
func (f *follower) fold(after bool) bool {
	from := f.at
	leading, folds := "", after
	var trailing strings.Builder
	for f.at < len(f.text) {
		if blank(f.text[f.at]) {
			f.at++
			continue
		}
		if f.lineBreak() == 0 {
			break
		}
		if text := f.broken(); folds {
			trailing.WriteString(text)
		} else {
			leading, folds = text, true
		}
	}
	switch {
	case !folds:
		return f.literal(from)
	case leading != "\n":
		return f.take(leading+trailing.String(), from)
	case trailing.Len() == 0:
		return f.take(" ", from)
	}
	return f.take(trailing.String(), from)
}

// plain follows a plain scalar, which ends where its value does.
func (f *follower) plain() bool {
	for f.want != "" {
		var ok bool
		switch {
		case f.at >= len(f.text):
			return false
		case blank(f.text[f.at]) || f.lineBreak() > 0:
			ok = f.fold(false)
		default:
			from := f.at
			for f.at++; f.at < len(f.text) && f.at-from < len(f.want) && !blank(f.text[f.at]) && f.lineBreak() == 0; f.at++ {
			}
			ok = f.literal(from)
		}
		if !ok {
			return false
		}
	}
	return true
}

// quoted follows a scalar in quotes.
func (f *follower) quoted(mark byte) bool {
	if f.peek() != mark {
		return false
	}
	f.at++
	for f.at < len(f.text) {
		c := f.text[f.at]
		var ok bool
		switch {
		case c == mark && mark == '\'' && f.at+1 < len(f.text) && f.text[f.at+1] == mark:
			f.at += 2
			ok = f.take("'", f.at-2)
		case c == mark:
			f.at++
			return true
		case blank(c) || f.lineBreak() > 0:
			ok = f.fold(false)
		case c == '\\' && mark == '"':
			ok = f.escape()
		default:
			from := f.at
			for f.at++; f.at < len(f.text); f.at++ {
				if c := f.text[f.at]; c == mark || c == '\\' && mark == '"' || blank(c) || f.lineBreak() > 0 {
					break
				}
			}
			ok = f.literal(from)
		}
		if !ok {
			return false
		}
	}
	return false
}

// escapes are the escapes of one character.
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': `"`, '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029", '\'': "'",
}

// escape follows an escape in a scalar in double quotes.
func (f *follower) escape() bool {
	from := f.at
	f.at++
	if f.lineBreak() > 0 {
		f.at += f.lineBreak()
		return f.fold(true)
	}
	c := f.peek()
	f.at++
	if text, is := escapes[c]; is {
		return f.take(text, from)
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	if digits == 0 {
		return false
	}
	r := rune(0)
	for range digits {
		d := strings.IndexByte("0123456789abcdef", f.peek()|0x20)
		if d < 0 {
			return false
		}
		r = r<<4 | rune(d)
		f.at++
	}
	return f.take(string(utf8.AppendRune(nil, r)), from)
}

// block follows a literal or folded scalar.
func (f *follower) block(folded bool) bool {
	for f.at < len(f.text) && f.lineBreak() == 0 { // the indicators and a comment
		f.at++
	}
	f.at += f.lineBreak()
	end := f.at
	var joint struct {
		from              int
		leading, trailing string
		first             bool // nothing is before it
	}
	joint.from, joint.first = f.at, true
	joint.trailing = f.emptyLines()
	indent := -1
	wasBlank := false
	behind := len(f.want) - len(strings.TrimRight(f.want, "\n\u2028\u2029"))
	for len(f.want) > behind {
		if f.at >= len(f.text) {
			return false
		}
		// What is between the last line and this one.
		from := f.at
		spaces := f.spaces()
		content := strings.TrimLeft(f.want, "\n\u2028\u2029")
		if folded && !joint.first {
			content = strings.TrimPrefix(content, " ")
		}
		if indent < 0 {
			indent = spaces - (len(content) - len(strings.TrimLeft(content, " ")))
		}
		if indent < 0 || spaces < indent {
			return false
		}
		f.at = from + indent
		isBlank := blank(f.peek())
		text := joint.leading + joint.trailing
		if folded && joint.leading == "\n" && !wasBlank && !isBlank {
			if text = joint.trailing; text == "" {
				text = " "
			}
		}
		at := f.at
		f.at = from
		if !f.take(text, joint.from) {
			return false
		}
		f.at = at
		for f.at < len(f.text) && f.lineBreak() == 0 {
			f.at++
		}
		if !f.literal(at) {
			return false
		}
		end, wasBlank = f.at, isBlank
		joint.from, joint.first, joint.leading = f.at, false, ""
		if f.lineBreak() > 0 {
			joint.leading = f.broken()
		}
		joint.trailing = f.emptyLinesOf(indent)
	}
	f.at = end
	if f.want != "" { // the line breaks at the end that are kept
		from := f.at
		for left := f.want; left != "" && f.at < len(f.text); {
			switch {
			case f.lineBreak() > 0:
				left = left[min(len(left), len(f.broken())):]
			case blank(f.text[f.at]):
				f.at++
			default:
				left = ""
			}
		}
		return f.take(f.want, from) // the last line of the file may lack a line break
	}
	return true
}

// spaces returns how many spaces are next.
func (f *follower) spaces() int {
	n := 0
	for f.at+n < len(f.text) && f.text[f.at+n] == ' ' {
		n++
	}
	return n
}

// emptyLines goes over lines of spaces and returns what their line breaks stand for.
func (f *follower) emptyLines() string { return f.emptyLinesOf(1 << 30) }

// emptyLinesOf goes over lines of at most indent spaces.
func (f *follower) emptyLinesOf(indent int) string {
	var out strings.Builder
	for {
		n := min(f.spaces(), indent)
		if lineBreak(f.text[min(f.at+n, len(f.text)):]) == 0 {
			return out.String()
		}
		f.at += n
		out.WriteString(f.broken())
	}
}
