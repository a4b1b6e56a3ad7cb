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
// than width. Lines behind the first one begin with hang. The first parts, as many
// as whole says, are never broken: there may be spaces in paths.
func (l *lines) fold(width int, hang string, whole int, parts ...part) {
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
	for i, p := range parts {
		texts := []string{p.text}
		if i >= whole {
			texts = strings.SplitAfter(p.text, " ")
		}
		for _, text := range texts {
			if text == "" {
				continue
			}
			word = append(word, part{p.color, text})
			if blank = blank && strings.Trim(text, " ") == ""; !blank && i >= whole-1 && strings.HasSuffix(text, " ") {
				add()
				blank = true
			}
		}
	}
	if add(); begun {
		flush()
	}
}

// Fold returns a text of one line, broken between words into lines of at most width
// columns. Lines behind the first one begin with hang. Nothing in it is obeyed by a
// terminal.
func Fold(text string, width int, hang string) string {
	var l lines
	l.fold(width, hang, 0, bare(text))
	return l.String()
}

// FoldTable returns a table in lines of at most width columns. The last column is broken between
// words, and goes on where it begins; indented examples in JSON are not broken.
func FoldTable(table string, width int) string {
	var out strings.Builder
	for line := range strings.Lines(table) {
		row := strings.TrimSuffix(line, "\n")
		text := strings.TrimLeft(row, " ")
		indented := len(row) - len(text)
		if textWidth(row) <= width || indented >= 4 && strings.HasPrefix(text, "{") {
			out.WriteString(line)
			continue
		}
		hang := indented + 4
		if i := strings.LastIndex(text, "  "); i > 0 {
			hang = indented + i + 2
		}
		if hang > width/2 {
			hang = indented + 4
		}
		out.WriteString(Fold(row, width, strings.Repeat(" ", hang)))
	}
	return out.String()
}

// FoldSentences returns sentences in lines of at most width columns. It begins a new line
// with a sentence that does not fit, and breaks only those that fit on no line.
func FoldSentences(text string, width int) string {
	var out strings.Builder
	line := ""
	flush := func() {
		if line != "" {
			out.WriteString(Fold(line, width, ""))
		}
		line = ""
	}
	for _, sentence := range strings.SplitAfter(text, ". ") {
		if line != "" && measure(bare(strings.TrimRight(line+sentence, " "))) > width {
			line = strings.TrimRight(line, " ")
			flush()
		}
		line += sentence
	}
	flush()
	return out.String()
}
