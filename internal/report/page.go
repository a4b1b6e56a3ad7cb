package report

import (
	"io"
	"strings"

	"github.com/fatih/color"
)

// WritePage writes a page in Markdown for people to read: without marks, and wrapped
// to a width. It knows what the project's own pages use: headings, paragraphs, lists,
// blocks of code, code, bold text and links. It does not wrap code blocks.
func WritePage(w io.Writer, markdown string, width int, paint bool) error {
	p := pager{style: newStyle(paint), width: width}
	p.page(strings.Split(strings.TrimRight(markdown, "\n"), "\n"))
	return p.out.flush(w)
}

// A pager writes the blocks of a page.
type pager struct {
	out   lines
	style *style
	width int
}

// A word is what a line is not broken in. Its parts can differ in colour.
type word []part

func (p *pager) page(text []string) {
	for len(text) > 0 {
		line := text[0]
		n := 1 // the lines of the block
		switch {
		case line == "":
			p.out.line()
		case strings.HasPrefix(line, "```"):
			for n < len(text) && text[n] != "```" {
				p.out.line(bare(strings.TrimRight("    "+text[n], " ")))
				n++
			}
			n = min(n+1, len(text))
		case strings.HasPrefix(line, "# "):
			p.out.line(colored(p.style.path, line[2:]))
		case strings.HasPrefix(line, "## "):
			p.out.line(colored(p.style.path, strings.ToUpper(line[3:])))
		case strings.HasPrefix(line, "- "):
			for n < len(text) && strings.HasPrefix(text[n], "  ") {
				n++
			}
			p.paragraph("- ", "  ", line[2:]+"\n"+strings.Join(text[1:n], "\n"))
		default:
			for !strings.HasSuffix(text[n-1], "  ") && n < len(text) && text[n] != "" {
				n++
			}
			p.paragraph("", "", strings.Join(text[:n], "\n"))
		}
		text = text[n:]
	}
}

// paragraph writes a text. Its first line begins with one text, the others with another
// of the same width.
func (p *pager) paragraph(first, next, text string) {
	for _, l := range wrapped(p.words(text, nil), p.width-textWidth(first)) {
		p.out.line(append([]part{bare(first)}, l...)...)
		first = next
	}
}

// words splits a text into words, in a colour unless they have one of their own. Two
// spaces in code have an empty word between them.
func (p *pager) words(text string, plain *color.Color) []word {
	var out []word
	var w word
	bold := false
	add := func(style *color.Color, s string) {
		if s != "" {
			w = append(w, colored(style, s))
		}
	}
	end := func() {
		if len(w) > 0 {
			out, w = append(out, w), nil
		}
	}
	for text != "" {
		style := plain
		if bold {
			style = p.style.path
		}
		switch {
		case text[0] == ' ' || text[0] == '\n':
			end()
			text = text[1:]
		case text[0] == '`':
			mark := text[:len(text)-len(strings.TrimLeft(text, "`"))]
			code, rest, _ := strings.Cut(text[len(mark):], mark)
			if len(mark) > 1 {
				code = strings.TrimSuffix(strings.TrimPrefix(code, " "), " ")
			}
			for i, s := range strings.Split(code, " ") {
				if i > 0 {
					out, w = append(out, w), nil
				}
				add(p.style.code, s)
			}
			text = rest
		case strings.HasPrefix(text, "**"):
			bold = !bold
			text = text[2:]
		default:
			n := strings.IndexAny(text[1:], " \n`*[") + 1
			if n == 0 {
				n = len(text)
			}
			if label, rest, ok := link(text); ok {
				add(style, label)
				text = rest
				continue
			}
			add(style, text[:n])
			text = text[n:]
		}
	}
	end()
	return out
}

// link splits a link from the beginning of a text: [label](address).
func link(text string) (label, rest string, ok bool) {
	if !strings.HasPrefix(text, "[") {
		return "", "", false
	}
	label, rest, ok = strings.Cut(text[1:], "](")
	if !ok || strings.ContainsAny(label, " \n]`") {
		return "", "", false
	}
	_, rest, ok = strings.Cut(rest, ")")
	return label, rest, ok
}

// wrapped returns the lines that words fill up to a width. A longer word has a line of
// its own.
func wrapped(words []word, width int) [][]part {
	var out [][]part
	var line []part
	used := 0
	for i, w := range words {
		n := length([]word{w})
		switch {
		case i > 0 && used+1+n > width:
			out, line, used = append(out, line), nil, 0
		case i > 0:
			line = append(line, bare(" "))
			used++
		}
		line = append(line, w...)
		used += n
	}
	return append(out, line)
}

// length returns how many cells of a terminal words take on one line.
func length(words []word) int {
	n := max(0, len(words)-1)
	for _, w := range words {
		for _, part := range w {
			n += textWidth(part.text)
		}
	}
	return n
}
