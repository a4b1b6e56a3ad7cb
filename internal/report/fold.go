package report

import (
	"math"
	"strings"
)

// DefaultWidth is how many columns a line for people takes at most if the width of
// a terminal is not known.
const DefaultWidth = 100

// width returns how many columns a line for people may take.
func (o *Options) width() int {
	if o.Width > 0 {
		return o.Width
	}
	return DefaultWidth
}

// headWidth returns how many columns a line may take that names a file.
func (o *Options) headWidth() int {
	if o.Width > 0 {
		return o.Width
	}
	return math.MaxInt
}

// measure returns how many columns a line of several parts takes. That depends on where its
// colours begin and end: see lines.line.
func measure(parts ...part) int {
	var l lines
	l.line(parts...)
	text := string(l.out[:len(l.out)-1])
	for _, p := range parts {
		if begin, stop := codes(p.color); begin != "" {
			text = strings.NewReplacer(begin, "", stop, "").Replace(text)
		}
	}
	return textWidth(text)
}

// fold adds a line of several parts, and breaks it between words if it is wider
// than width. Lines behind the first one begin with hang. A part that is whole is not
// broken.
func (l *lines) fold(width int, hang string, parts ...part) {
	if width == math.MaxInt || measure(parts...) <= width {
		l.line(parts...)
		return
	}
	var line, word []part
	flush := func() {
		last := &line[len(line)-1]
		last.text = strings.TrimRight(last.text, " ")
		l.line(line...)
		line = append(line[:0:0], bare(hang))
	}
	begun, blank := false, true // the line has a word; the word is only blanks
	add := func() {
		if len(word) == 0 {
			return
		}
		next := append(append([]part(nil), line...), word...)
		last := &next[len(next)-1]
		last.text = strings.TrimRight(last.text, " ")
		if begun && measure(next...) > width {
			flush()
		}
		line, word, begun = append(line, word...), nil, true
	}
	for _, p := range parts {
		texts := []string{p.text}
		if !p.whole {
			texts = strings.SplitAfter(p.text, " ")
		}
		for _, text := range texts {
			if text == "" {
				continue
			}
			word = append(word, part{color: p.color, text: text})
			if blank = blank && strings.Trim(text, " ") == ""; !blank && !p.whole && strings.HasSuffix(text, " ") {
				add()
				blank = true
			}
		}
	}
	if add(); begun {
		flush()
	}
}

// apart splits a text at the names in it, which are whole.
func apart(text string, names []string) (out []part) {
	for text != "" {
		at, found := len(text), ""
		for _, n := range names {
			// Of two names that begin in the same place, the longer one is meant.
			if i := strings.Index(text, n); i >= 0 && strings.Contains(n, " ") && (i < at || i == at && len(n) > len(found)) {
				at, found = i, n
			}
		}
		if at > 0 {
			out = append(out, bare(text[:at]))
		}
		if found != "" {
			out = append(out, unbroken(nil, found))
		}
		text = text[at+len(found):]
	}
	return out
}

// Fold returns a text of one line, broken between words into lines of at most width
// columns. Lines behind the first one begin with hang. Names in the text, such as paths, are
// not broken. Nothing in it is obeyed by a terminal.
func Fold(text string, width int, hang string, names ...string) string {
	var l lines
	l.fold(width, hang, apart(text, names)...)
	return l.String()
}

// FoldTable returns a table in lines of at most width columns. The last column is broken between
// words, and goes on where it begins. Names, such as paths, and indented examples in JSON are
// not broken.
func FoldTable(table string, width int, names ...string) string {
	var out strings.Builder
	for line := range strings.Lines(table) {
		row := strings.TrimSuffix(line, "\n")
		text := strings.TrimLeft(row, " ")
		indented := len(row) - len(text)
		if textWidth(row) <= width || indented >= 4 && strings.HasPrefix(text, "{") {
			out.WriteString(line)
			continue
		}
		hang, at := indented+4, indented
		for _, p := range apart(text, names) {
			if i := strings.LastIndex(p.text, "  "); i >= 0 && !p.whole && at+i > indented {
				hang = at + i + 2
			}
			at += len(p.text)
		}
		if hang > width/2 {
			hang = indented + 4
		}
		out.WriteString(Fold(row, width, strings.Repeat(" ", hang), names...))
	}
	return out.String()
}

// FoldSentences returns sentences in lines of at most width columns. It begins a new line
// with a sentence that does not fit, and breaks only those that fit on no line. Names in
// them, such as paths, are not broken.
func FoldSentences(text string, width int, names ...string) string {
	var out strings.Builder
	line := ""
	flush := func() {
		if line != "" {
			out.WriteString(Fold(strings.TrimRight(line, " "), width, "", names...))
		}
		line = ""
	}
	for _, sentence := range sentences(apart(text, names)) {
		if line != "" && measure(bare(strings.TrimRight(line+sentence, " "))) > width {
			flush()
		}
		line += sentence
	}
	flush()
	return out.String()
}

// sentences returns the sentences of a text with the blanks behind them. None ends in a
// name.
func sentences(parts []part) (out []string) {
	sentence := ""
	for _, p := range parts {
		texts := []string{p.text}
		if !p.whole {
			texts = strings.SplitAfter(p.text, ". ")
		}
		for i, text := range texts {
			if i > 0 {
				out, sentence = append(out, sentence), ""
			}
			sentence += text
		}
	}
	return append(out, sentence)
}
