// Package ignore knows what .gitignore files hide, as git reads them. It does
// not know how directories are walked.
package ignore

import (
	"bytes"
	"path"
	"strings"
)

// A List holds the patterns of a .gitignore file, and below them those of the
// directories above. The nil List hides nothing.
type List struct {
	above    *List
	dir      string // relative to the root of the walk, "" for the root itself
	patterns []pattern
}

// A pattern is a line of a .gitignore file.
type pattern struct {
	literal  string // how a matching path begins
	glob     string // the rest of the pattern, from its first special character on
	negated  bool
	dirOnly  bool
	anywhere bool // the pattern matches a name at any depth, not a path
}

// special are the characters that have a meaning in a glob.
const special = `*?[\`

// With returns the list that holds in a directory with a .gitignore file. The
// path of the directory has slashes and is relative to the root of the walk.
func (l *List) With(dir string, text []byte) *List {
	out := &List{above: l, dir: dir}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		if p, ok := parse(string(bytes.TrimSuffix(line, []byte("\r")))); ok {
			out.patterns = append(out.patterns, p)
		}
	}
	return out
}

// parse reads a line. It reports whether the line holds a pattern.
func parse(line string) (pattern, bool) {
	if strings.HasPrefix(line, "#") {
		return pattern{}, false
	}
	line, _, _ = strings.Cut(line, "\x00") // git reads C strings
	text := line[:trimmed(line)]
	var p pattern
	text, p.negated = strings.CutPrefix(text, "!")
	text, p.dirOnly = strings.CutSuffix(text, "/")
	p.anywhere = !strings.Contains(text, "/")
	text = strings.TrimPrefix(text, "/")
	p.literal = text
	if i := strings.IndexAny(text, special); i >= 0 {
		p.literal, p.glob = text[:i], text[i:]
	}
	return p, text != ""
}

// trimmed returns the length of a line without the spaces at its end. A space
// after a backslash stays.
func trimmed(line string) int {
	n := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		n = min(i+1, len(line))
	}
	return n
}

// Hides reports whether a file or directory is ignored. No directory above it
// may be: nothing is looked up below an ignored directory. The path has slashes
// and is relative to the root of the walk.
func (l *List) Hides(name string, isDir bool) bool {
	base := path.Base(name)
	for ; l != nil; l = l.above {
		below := name
		if l.dir != "" {
			below = name[len(l.dir)+1:]
		}
		for i := len(l.patterns) - 1; i >= 0; i-- {
			p := &l.patterns[i]
			against := below
			if p.anywhere {
				against = base
			}
			if p.dirOnly && !isDir {
				continue
			}
			if rest, ok := strings.CutPrefix(against, p.literal); ok && match(p.glob, rest) {
				return !p.negated
			}
		}
	}
	return false
}
