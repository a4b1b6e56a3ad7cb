package redact

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// longestKept is the longest string that may stay because of its form.
const longestKept = 128

// saidIn are the fields whose strings are said by somebody, whatever words they are.
var saidIn = []string{
	"text", "content", "thinking", "input", "output", "result", "title", "description",
	"command", "prompt", "instructions", "message", "arguments", "args", "summary",
	"path", "cwd", "refusal", "stdout", "stderr",
}

// namedIn are the parts of the keys whose values are made of public names: models, addresses,
// and versions of programs.
var namedIn = []string{"model", "version", "url", "host", "endpoint", "provider", "base", "schema"}

// numberedIn are those among them whose values also have public numbers.
var numberedIn = []string{"model", "version"}

// timestamp matches a date of the years in which there are transcripts, or such a date and a time.
var timestamp = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^20[0-4]\d-[01]\d-[0-3]\d([T ][0-2]\d:[0-5]\d(:[0-6]\d(\.\d{1,9})?)?(Z|[+-][0-2]\d:?[0-5]\d)?)?$`)
})

// keeps returns the text of a string if it stays in its place as it is, or is made of parts
// that stay.
func (r *redactor) keeps(text []rune, p place) (out []rune, kept bool) {
	switch {
	case len(text) == 0:
		return text, true
	case p.mode == pattern:
		return anyPattern(text), true
	case len(text) > longestKept:
		return nil, false
	}
	s := string(text)
	switch {
	case p.mode == payload:
		return text, r.level == allWords && r.words.words[s]
	case !p.known || p.mode == named:
		return nil, false
	case p.mode == declared && p.key == "$ref":
		return r.reference(text), true
	case p.key == "type" && r.words.words[strings.ToLower(s)]:
		return text, true
	case r.hasTime(p) && timestamp().MatchString(s):
		return text, true
	case r.words.hasKey(s) && !isIndex(s):
		return text, !slices.Contains(saidIn, p.key)
	case slices.Contains(saidIn, p.key):
		return nil, false
	case slices.Contains(mediaTypes, s):
		return text, true
	}
	low := strings.ToLower(p.key)
	in := func(part string) bool { return strings.Contains(low, part) }
	if slices.ContainsFunc(namedIn, in) && !slices.ContainsFunc(text, isSpace) {
		return r.parts(text, slices.ContainsFunc(numberedIn, in)), true
	}
	for _, end := range r.words.endings {
		if start, has := strings.CutSuffix(s, end); has {
			n := utf8.RuneCountInString(start)
			return slices.Concat(r.parts(text[:n], false), text[n:]), true
		}
	}
	for _, begin := range r.words.beginning {
		if strings.HasPrefix(s, begin) {
			n := utf8.RuneCountInString(begin)
			return slices.Concat(text[:n], r.parts(text[n:], false)), true
		}
	}
	return nil, false
}

// mediaTypes are those that providers accept.
var mediaTypes = []string{
	"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain",
	"application/json", "audio/wav", "audio/mpeg",
}

// anyPattern returns a regular expression of the length of another one. Any text matches it, if
// the other one is valid.
func anyPattern(text []rune) []rune {
	mark := '|'
	if _, err := regexp.Compile(string(text)); err != nil {
		mark = '('
	}
	out := slices.Clone(text)
	for i, c := range out {
		out[i] = inPattern(c, mark)
	}
	return out
}

// inPattern returns what is in a regular expression instead of a character.
func inPattern(c, mark rune) rune {
	switch {
	case c < 0 || c >= utf8.RuneSelf:
		return filledLike(c)
	case !stays(c):
		return mark
	}
	return c
}

// filledLike returns a character that takes as many bytes as another one.
func filledLike(c rune) rune {
	switch {
	case c < 0:
		return notUTF8 - 0xF8
	case c >= 0x10000:
		return 0x20000
	case c >= 0xD800 && c < 0xE000:
		return c
	case c >= 0x800:
		return 0x4E00
	}
	return 0x100
}

// mostNumbers is how many characters the parts with digits of a name may have to stay: enough for
// a version such as 0.128.10, but not for an address or a phone number.
const mostNumbers = 6

// date matches the date at the start of a text, with which names of models end.
var date = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^20\d\d([-.]?)(0[1-9]|1[0-2])([-.]?)(0[1-9]|[12]\d|3[01])($|[^0-9A-Za-z])`)
})

// parts redacts a text part by part. Words stay, and with numbers those of versions, and a date.
func (r *redactor) parts(text []rune, numbers bool) []rune {
	out := slices.Clone(text)
	numbered := 0       // characters of parts with digits
	var public [][2]int // those of them that stay if there are few
	dated := !numbers
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && (isLetter(text[j]) && text[j] != '_' || '0' <= text[j] && text[j] <= '9' || text[j] >= utf8.RuneSelf || text[j] < 0) {
			j++
		}
		part := string(text[i:j])
		if !dated && text[i] == '2' {
			m := date().FindStringSubmatchIndex(string(text[i:min(i+len("2006-01-02?"), len(text))]))
			if dated = m != nil && m[3]-m[2] == m[7]-m[6]; dated {
				i += m[9]
				continue
			}
		}
		n := r.numbers(part)
		switch {
		case j == i:
			j++
			if !strings.ContainsRune("_-./:@?=&#", text[i]) {
				copy(out[i:], r.fillString(text[i:j], false))
			}
		case r.words.words[part] || r.words.words[strings.ToLower(part)]:
		case numbers && n > 0:
			numbered += n
			public = append(public, [2]int{i, j})
		default:
			for _, c := range part {
				if '0' <= c && c <= '9' {
					numbered++
				}
			}
			copy(out[i:], r.fillString(text[i:j], false))
		}
		i = j
	}
	if numbered > mostNumbers {
		for _, at := range public {
			copy(out[at[0]:], r.fillString(text[at[0]:at[1]], false))
		}
	}
	return out
}

// numbers returns how many characters of a part of a name are not those of a word, if the part is
// or has a number as models and versions have it, else 0.
func (r *redactor) numbers(part string) int {
	letters := strings.Trim(strings.ToLower(part), digit)
	n := len(part) - len(letters)
	switch {
	case n == 0, letters == "" && n > 3 && (n != 4 || !strings.HasPrefix(part, "20")):
		return 0
	case letters == "" || len(part) <= 3:
		return len(part) // 4o, o3, 70b
	case n <= 2 && r.words.words[letters]:
		return n // names of models end in their numbers: gpt4, qwen2
	}
	return 0
}

// reference redacts the names in a reference to a part of a schema.
func (r *redactor) reference(text []rune) []rune {
	out := slices.Clone(text)
	name := false
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && text[j] != '/' {
			j++
		}
		segment := string(text[i:j])
		switch {
		case segment == "#" || segment == "":
		case name || !r.words.words[segment]:
			if r.level < allWords || !r.words.words[segment] {
				copy(out[i:], r.fillString(text[i:j], false))
			}
			name = false
		default:
			name = slices.Contains(namesIn, segment)
		}
		i = j + 1
	}
	return out
}
