package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// byAppearance returns seeds that count sums in the order of their first appearance.
func byAppearance() func(sum) sum {
	seen := map[sum]uint32{}
	return func(s sum) (out sum) {
		n, again := seen[s]
		if !again {
			n = uint32(len(seen))
			seen[s] = n
		}
		out[0], out[1], out[2], out[3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
		return out
	}
}

// appeared returns redacted text with the seeds of byAppearance.
func appeared(t testing.TB, text []byte) ([]byte, error) {
	t.Helper()
	got, err := redact(t.Context(), source.FromBytes("in", text), engine.Options{}, []byte("a key of a test"), byAppearance())
	if err != nil || got.Source == nil {
		return nil, err
	}
	defer func() { _ = got.Source.Close() }()
	return io.ReadAll(got.Source.Stream())
}

// What docs/redact.md says about what is left, in other words than those of the redactor.
var (
	publicWords  = slices.Concat(strings.Fields(wordList+" "+usageWords), countsIn)
	modelKey     = regexp.MustCompile(`(?i)model|url|host|endpoint|provider|base`)
	numberKey    = regexp.MustCompile(`(?i)token|index|ordinal|time|date|created|completed|start|end|step|turn|seq|version|type|kind|role|duration|^lc$|^[kiv]$|At$|^ts$|_at$|cache|format|Depth|epoch|consolidated|limit|min|max|multiple`)
	limitKey     = regexp.MustCompile(`(?i)^(min|max|exclusive|multiple|format$|pattern|\$|tool|.*tool|.*function|propert|additional|unevaluated)`)
	otherMeaning = regexp.MustCompile(`^\s*$|^<|<tool_|^\[Request interrupted|^null$|^\[toolguard\]|^\d{4}-\d\d-\d\d|^data:|\||^aborted$|^tool-|^_|_tool_result$|^#|^https?:|\^|\$`)
	plainText    = regexp.MustCompile(`^[A-Za-z0-9 .,_/-]*$`)
	idStart      = regexp.MustCompile(`^[A-Za-z_]{1,14}[_-]|^functions\.`)
	itemStart    = regexp.MustCompile(`^(msg|rs|fc|ctc)`)
	wordIn       = regexp.MustCompile(`\w+`)
	quoted       = regexp.MustCompile(`"([^"\\]*)`)
	idKey        = regexp.MustCompile(`(?i)ids?$`)
	saidKey      = regexp.MustCompile(`^(content|text|thinking|stdout|stderr|output|result|prompt)$`)
)

// isPublic reports whether a text is a word, begins like one, or is a path of words.
func isPublic(s string) bool {
	for _, w := range publicWords {
		if begin, open := strings.CutSuffix(w, "*"); open && begin != "" && strings.HasPrefix(s, begin) {
			return true
		}
	}
	return !slices.ContainsFunc(strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune("./", c) }), func(part string) bool {
		return !slices.Contains(publicWords, part) && strings.Trim(part, digits) != ""
	})
}

// A use is a string of a transcript.
type use struct {
	at, end int // without the quotes
	key     string
	text    string // decoded
	isKey   bool
	inner   bool // in a string
}

// A payloads is the strings and numbers of a transcript that may be replaced.
type payloads struct {
	strings []use
	numbers []use
	broken  []string // the words in lines and strings that may be torn JSON, in references, and in JSON in several strings
}

// find finds the payloads of a text whose values are all valid. base is where it is in the file.
func (p *payloads) find(text []byte, base int, inner bool) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	type level struct {
		object, onKey bool
		key           string
	}
	var open []level
	for {
		from := int(dec.InputOffset())
		tok, err := dec.Token()
		if err != nil {
			return
		}
		to := int(dec.InputOffset())
		key, isKey := "", false
		if n := len(open); n > 0 {
			top := &open[n-1]
			key = top.key
			if isKey = top.object && top.onKey; top.object {
				top.onKey = !top.onKey
			}
		}
		switch tok := tok.(type) {
		case json.Delim:
			if tok == '{' || tok == '[' {
				open = append(open, level{tok == '{', true, key})
			} else {
				open = open[:len(open)-1]
			}
		case string:
			from += bytes.IndexByte(text[from:to], '"') + 1
			if isKey {
				open[len(open)-1].key = tok
			}
			raw := text[from : to-1]
			if trimmed := strings.TrimSpace(tok); !isKey && trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid([]byte(tok)) {
				if inner {
					p.broken = append(p.broken, wordIn.FindAllString(tok, -1)...)
				} else if len(raw) > 2 {
					p.encoded(raw, base+from)
				}
				continue
			}
			p.strings = append(p.strings, use{base + from, base + to - 1, key, tok, isKey, inner})
			if tok != "" && strings.IndexByte(`{["#`, tok[0]) >= 0 { // torn JSON that a reader reads, or a reference
				p.broken = append(p.broken, wordIn.FindAllString(tok, -1)...)
			}
		case json.Number:
			p.numbers = append(p.numbers, use{at: base + to - len(tok.String()), end: base + to, key: key, text: tok.String()})
		}
	}
}

// encoded finds the payloads of JSON in a string, as far as they are written without escapes.
func (p *payloads) encoded(raw []byte, base int) {
	text := source.AppendUnescaped(nil, raw)
	offset := source.EscapedOffset(raw)
	var in payloads
	in.find(text, 0, true)
	p.broken = append(p.broken, in.broken...)
	for _, u := range in.strings {
		u.at, u.end = base+offset(u.at), base+offset(u.end)
		p.strings = append(p.strings, u)
	}
}

// transformed returns a transcript with other payloads of the same lengths and kinds and the same
// pattern of equality, and how many it replaced.
func transformed(text []byte, rnd *rand.Rand) ([]byte, int) {
	var all payloads
	if json.Valid(text) {
		all.find(text, 0, false)
	} else {
		at := 0
		for line := range bytes.Lines(text) {
			if first := bytes.TrimLeft(line, " \t"); len(first) > 0 && (first[0] == '{' || first[0] == '[') && json.Valid(line) {
				all.find(line, at, false)
			} else { // it may be a piece of a torn record, and what stays in it must stay everywhere
				all.broken = append(all.broken, wordIn.FindAllString(string(line), -1)...)
				for _, m := range quoted.FindAllStringSubmatch(string(line), -1) {
					all.broken = append(all.broken, m[1])
				}
			}
			at += len(line)
		}
	}
	keep, sizes, rich, ids := map[string]bool{}, map[string]int{}, map[string]bool{}, map[string]bool{}
	for i := range all.strings {
		u := &all.strings[i]
		n := u.end - u.at
		if was, again := sizes[u.text]; again && was != n || u.inner && n != len(u.text) {
			keep[u.text] = true // its spellings differ
		}
		said := !u.isKey && !u.inner && saidKey.MatchString(u.key)
		if _, again := sizes[u.text]; !again {
			rich[u.text] = true
		}
		sizes[u.text] = n
		rich[u.text] = rich[u.text] && said
		ids[u.text] = ids[u.text] || idKey.MatchString(u.key) || u.isKey || u.key == ""
		known := isPublic(u.text) || slices.Contains(strings.Fields(moreWords), u.text) || slices.Contains(readTools, u.text)
		if known || otherMeaning.MatchString(u.text) || modelKey.MatchString(u.key) ||
			!said && !plainText.MatchString(u.text) || u.isKey && (limitKey.MatchString(u.text) || strings.ContainsAny(u.text, "./ ")) ||
			strings.TrimSpace(u.text) != u.text || !utf8.ValidString(u.text) || strings.Contains(u.text, "\ufffd") || u.key == "name" && strings.Contains(u.text, ".") {
			keep[u.text] = true
			keep[strings.TrimSpace(u.text)] = true // an id without the white space around it is equal to it
		}
	}
	for _, m := range all.broken {
		keep[m] = true
	}
	out := bytes.Clone(text)
	instead, taken, n := map[string]string{}, map[string]bool{}, 0
	for s := range sizes {
		taken[s] = true
	}
	for _, u := range all.strings {
		if keep[u.text] {
			continue
		}
		with, known := instead[u.text]
		for try := 0; !known && try < 50; try++ {
			with = another(u, rich[u.text], ids[u.text], rnd)
			var decoded string
			if json.Unmarshal([]byte(`"`+with+`"`), &decoded) == nil && !taken[decoded] && !alike(u.text, decoded, text) && !slices.Contains(publicWords, decoded) && !otherMeaning.MatchString(decoded) && strings.TrimSpace(decoded) == decoded {
				known, taken[decoded], instead[u.text] = true, true, with
			}
		}
		if known {
			n++
			copy(out[u.at:u.end], with)
		}
	}
	for _, u := range all.numbers {
		if len(u.text) < 4 || strings.Trim(u.text, "0123456789") != "" || numberKey.MatchString(u.key) {
			continue
		}
		with, known := instead["#"+u.text]
		for !known {
			with = strconv.Itoa(1 + rnd.IntN(9))
			for len(with) < len(u.text) {
				with += strconv.Itoa(rnd.IntN(10))
			}
			if known = !taken["#"+with]; known {
				taken["#"+with], instead["#"+u.text] = true, with
			}
		}
		n++
		copy(out[u.at:u.end], with)
	}
	return out, n
}

// alike reports whether a text instead of another one would mean something by chance: it begins as
// ids of some kind do and the other one does not, or it is already in the transcript.
func alike(was, with string, in []byte) bool {
	return idStart.FindString(with) != idStart.FindString(was) || itemStart.FindString(with) != itemStart.FindString(was) ||
		bytes.Contains(in, []byte(with))
}

// another returns a text that is written with as many bytes: of letters and digits, with the same
// prefix if it is an id somewhere, or of anything.
func another(u use, rich, id bool, rnd *rand.Rand) string {
	n := u.end - u.at
	if !rich {
		out := ""
		if id {
			for _, start := range []*regexp.Regexp{idStart, itemStart} {
				if m := start.FindString(u.text); out == "" && len(m) < n {
					out = m
				}
			}
		}
		if n != len(u.text) {
			out = "" // it has escapes
		}
		for len(out) < n {
			set := letters + digits
			if len(out) == 0 {
				set = letters
			}
			out += string(set[rnd.IntN(len(set))])
		}
		return out
	}
	pieces := []string{"a", "Q", "7", " ", "/", ".", "{", "[", `\n`, `\"`, `\\`, `\t`, "é", "中", "😀", `\u00e9`, `\ud83d\ude00`, "true", "null", "12", "-", ":", ","}
	out := []string{"["}
	for n--; n > 0; {
		if p := pieces[rnd.IntN(len(pieces))]; len(p) <= n {
			out = append(out, p)
			n -= len(p)
		}
	}
	rnd.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return strings.Join(out, "")
}

// said returns what a check says of a text: verdicts without texts.
func said(t testing.TB, text []byte) []string {
	t.Helper()
	r, err := engine.Check(t.Context(), source.FromBytes("in", text), engine.Options{})
	if err != nil {
		return []string{err.Error()}
	}
	if r.Skipped != "" {
		return []string{"no transcript"}
	}
	out := []string{fmt.Sprintln(r.File.Dialect, r.File.Container, r.File.Conversations, r.Calls, r.Results)}
	for f := range facts(r, true) {
		out = append(out, fmt.Sprint(f))
	}
	return out
}

// interferes compares the redacted texts of a transcript and of one with other payloads. It
// reports whether they could be compared.
func interferes(t testing.TB, name string, text []byte, rnd *rand.Rand) bool {
	t.Helper()
	other, n := transformed(text, rnd)
	if n == 0 || !slices.Equal(said(t, text), said(t, other)) {
		return false
	}
	want, err := appeared(t, text)
	if err != nil || want == nil {
		return false
	}
	got, err := appeared(t, other)
	if err != nil {
		t.Errorf("%s: with other payloads: %v", name, err)
		return true
	}
	if !bytes.Equal(want, got) {
		i := 0
		for want[i] == got[i] {
			i++
		}
		from, to := max(0, i-60), min(len(text), i+60)
		t.Errorf("%s: byte %d tells two texts apart:\n%s\n%s\nbecame\n%s\n%s", name, i, text[from:to], other[from:to], want[from:to], got[from:to])
	}
	return true
}

// TestNonInterference: redacted text is the same for any other payloads of the same lengths, kinds,
// verdicts and pattern of equality.
func TestNonInterference(t *testing.T) {
	all := files(t)
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	rnd := rand.New(rand.NewPCG(1, sample.Seed(1)))
	done, tried := 0, 0
	late := sample.Until(t)
	for _, name := range sample.Of(t, 6, names, func(s string) string { return s }, func(s string) []string { return []string{filepath.Dir(s)} }) {
		if late() {
			break
		}
		for range sample.Size(5, 1, 1) {
			tried++
			if interferes(t, name, all[name], rnd) {
				done++
			}
		}
	}
	t.Logf("%d of %d compared", done, tried)
	if done < tried*8/10 {
		t.Errorf("only %d of %d texts could be compared", done, tried)
	}
}

// FuzzNonInterference does the same for any transcript.
func FuzzNonInterference(f *testing.F) {
	f.Add([]byte(chat), uint64(1))
	for name, text := range files(f) {
		if len(text) < 2000 && strings.Contains(name, "broken") {
			f.Add(text, uint64(len(name)))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		interferes(t, "fuzzed", text, rand.New(rand.NewPCG(seed, 1)))
	})
}
