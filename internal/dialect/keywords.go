package dialect

import (
	_ "embed" // for keywords.txt
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// Candidates yields the dialects that could claim v, in the order of All. It
// decides in one pass over v. Logs that hold no bare messages are not among them.
func (s *Set) Candidates(v source.Value) iter.Seq[*Dialect] {
	return func(yield func(*Dialect) bool) {
		t := s.or().keywords
		for set := s.lookAt(v); set != 0; set &= set - 1 {
			n := bits.TrailingZeros64(set)
			if n == lastBit {
				t.rest(yield)
				return
			}
			if !yield(t.rows[n]) {
				return
			}
		}
	}
}

// lookAt returns the set of dialects that could claim v. It remembers the result
// for the last value whose text is not in memory, because each look reads much of
// the text.
func (s *Set) lookAt(v source.Value) uint64 {
	if s == nil || s.memory == nil || !v.Outside() {
		return s.or().keywords.look(v)
	}
	m := s.memory
	if m.outside != v.Span() {
		m.outside, m.seen = v.Span(), s.or().keywords.look(v)
	}
	return m.seen
}

// IsKeyword reports whether v is a key or a text that some dialect's evidence
// needs.
func (s *Set) IsKeyword(v source.Value) bool {
	if v.Span().Len() > maxKeyword+2 {
		return false
	}
	raw := v.Raw()
	return len(raw) > 2 && s.or().keywords.often[string(raw[1:len(raw)-1])] > 0
}

// rest yields the rows that share the last bit.
func (t *keywordTable) rest(yield func(*Dialect) bool) {
	for _, d := range t.rows[lastBit:] {
		if !yield(d) {
			return
		}
	}
}

// lastBit stands for all rows without a bit of their own.
const lastBit = 63

// A keywordTable maps keys and texts to the dialects that they are evidence for.
type keywordTable struct {
	rows   []*Dialect
	always uint64 // dialects that are asked about every element
	of     map[string]uint64
	often  map[string]int // how many dialects use a key or a text as evidence
	// heads holds the first bytes of the keywords by their length, so that few
	// other keys are looked up.
	heads [maxKeyword + 1][4]uint64
}

// maxKeyword bounds the length of a keyword.
const maxKeyword = 40

// builtinKeywords has what a search for keywords needs of the built-in dialects, because compiling
// all evidence takes longer than checking a short file. A line is a keyword and the number of
// dialects that use it, or "=", the name of a dialect and the keywords to look up for it.
//
//go:embed keywords.txt
var builtinKeywords string

// newKeywordTable returns the table of all dialects, which are the built-in ones and others.
func newKeywordTable(all []*Dialect, known *Dialect) *keywordTable {
	t := &keywordTable{of: map[string]uint64{}, often: map[string]int{}}
	builtin := map[string][]string{}
	for line := range strings.Lines(builtinKeywords) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if words[0] == "=" {
			builtin[words[1]] = words[2:]
		} else {
			t.often[words[0]], _ = strconv.Atoi(words[1])
		}
	}
	for _, d := range all {
		if !d.Bare() {
			continue
		}
		t.rows = append(t.rows, d)
		if builtin[d.Name] == nil {
			t.count(d, known)
		}
	}
	for i, d := range t.rows {
		bit := uint64(1) << min(i, lastBit)
		words := builtin[d.Name]
		if words == nil {
			words = t.choose(d, known)
		}
		for _, word := range words {
			if word == "" {
				t.always |= bit
				continue
			}
			t.of[word] |= bit
			t.heads[len(word)][word[0]>>6] |= 1 << (word[0] & 63)
		}
	}
	return t
}

// count counts the keywords of a dialect.
func (t *keywordTable) count(d, known *Dialect) {
	for word := range wordsOf(d.Evidence.Keywords(d == known)) {
		if t.often[word]++; d == plain {
			t.often[word] += len(All()) // most messages have these keywords
		}
	}
}

// choose returns the keywords to look up for a dialect, and "" if it is asked about every element.
func (t *keywordTable) choose(d, known *Dialect) (words []string) {
	for _, row := range d.Evidence.Keywords(d == known) {
		best := rarest(row, t.often)
		if best == nil {
			best = evidence.Keywords{""}
		}
		words = append(words, best...)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// wordsOf returns all keys and texts in lists of keywords.
func wordsOf(all [][]evidence.Keywords) map[string]bool {
	words := map[string]bool{}
	for _, row := range all {
		for _, k := range row {
			for _, word := range k {
				words[word] = true
			}
		}
	}
	return words
}

// rarest returns the list of keywords that the fewest dialects use, or nil if none
// can be looked up.
func rarest(all []evidence.Keywords, often map[string]int) (best evidence.Keywords) {
	least := 0
	for _, k := range all {
		n := 0
		for _, word := range k {
			n = max(n, often[word])
		}
		fits := !slices.ContainsFunc(k, func(word string) bool { return word == "" || len(word) > maxKeyword })
		if fits && (best == nil || n < least || n == least && len(k) < len(best)) {
			best, least = k, n
		}
	}
	return best
}

// look returns the set of dialects that could claim v.
func (t *keywordTable) look(v source.Value) uint64 {
	set := t.always
	for k, val := range v.Members() {
		if val.Kind() == source.Null {
			continue // null counts as absent
		}
		set |= t.keyword(k)
		switch val.Kind() {
		case source.String:
			set |= t.keyword(val)
		case source.Array:
			n := 0
			for e := range val.Each() {
				if n++; n > evidence.MostElements {
					break
				}
				set |= t.members(e)
			}
		case source.Object:
			set |= t.members(val)
		}
	}
	return set
}

func (t *keywordTable) members(v source.Value) uint64 {
	set := uint64(0)
	for k, val := range v.Members() {
		if val.Kind() == source.Null {
			continue
		}
		set |= t.keyword(k)
		if val.Kind() == source.String {
			set |= t.keyword(val)
		}
	}
	return set
}

// keyword returns the dialects that use a key or a text as evidence. It does not
// decode escapes, because no program writes keywords with escapes.
func (t *keywordTable) keyword(s source.Value) uint64 {
	if s.Span().Len() > maxKeyword+2 {
		return 0
	}
	raw := s.Raw()
	if len(raw) < 3 || len(raw) > maxKeyword+2 || t.heads[len(raw)-2][raw[1]>>6]&(1<<(raw[1]&63)) == 0 {
		return 0
	}
	return t.of[string(raw[1:len(raw)-1])]
}
