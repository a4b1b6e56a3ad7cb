package rules

import (
	"slices"
	"sort"
	"strings"

	"github.com/toolguard/toolguard/internal/profile"
)

// An Answer is a provider error for the findings of a rule.
type Answer struct {
	Profiles []*profile.Profile
	profile.Cell
}

// Answers lists the known provider errors of a rule, each wording once.
func (r *Rule) Answers() []Answer {
	var out []Answer
	for _, p := range profile.All() {
		for _, at := range r.Points {
			c := p.Own(at)
			if c.Text == "" {
				continue
			}
			i := slices.IndexFunc(out, func(a Answer) bool { return a.Text == c.Text && a.Source == c.Source })
			if i < 0 {
				i = len(out)
				out = append(out, Answer{Cell: c})
			}
			if !slices.Contains(out[i].Profiles, p) {
				out[i].Profiles = append(out[i].Profiles, p)
			}
		}
	}
	return out
}

// A Match is a rule that matches a provider error.
type Match struct {
	Rule *Rule
	Answer
	length int // how many bytes of the words of the known error matched
	of     int // how many bytes they have
}

// MatchError returns the rules whose known provider errors have parts in a text, the best
// match first. Ids, names, numbers and quotes may differ.
func MatchError(text string) []Match {
	said := newSaying(text)
	lengths := map[string]int{}
	var out []Match
	for _, r := range All() {
		best := Match{}
		for _, a := range r.Answers() {
			for _, known := range append([]string{a.Text}, a.Also...) {
				n, ok := lengths[known]
				if !ok {
					n = said.common(words(known))
					lengths[known] = n
				}
				if n > best.length {
					best = Match{r, a, n, lengthOf(words(known))}
				}
			}
		}
		if best.length > 0 {
			out = append(out, best)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].length > out[j].length })
	for i := range out {
		if out[i].length < out[0].length*9/10 {
			return out[:i] // the others match only a part of the text
		}
	}
	return out
}

// lengthOf returns how many bytes words have.
func lengthOf(words []string) (n int) {
	for _, w := range words {
		n += len(w)
	}
	return n
}

// RefusesReasoning reports whether a provider error says that it does not accept the reasoning of a
// request, or what ties its messages to reasoning. The request without them may be accepted.
func RefusesReasoning(text string) bool {
	about := []*Rule{reasoningUnreplayable, replayedReasoning}
	for _, m := range MatchError(text) {
		if slices.Contains(about, m.Rule) && 5*m.length >= 4*m.of { // most of the error
			return true
		}
	}
	return false
}

// anything stands for a part of an error that varies, such as an id.
const anything = ""

var (
	// where is the address at the start of an error, which clients omit.
	where = lazily(`^(?:[A-Za-z]+[.\[]?\d+[^ ]*: |invalid params, |Invalid parameter: |<400> [^ ]+: )`)
	// escapes are what logs write for a line feed, a tab, and quotes.
	escapes = lazily(`\\(?:[nrt]|u00[26][0-7])`)
	word    = lazily(`…[\p{L}\p{N}_]*|\{(?:id|name|kind)\}|[\p{L}\p{N}_]+`)
)

// words returns the words of an error in lower case. What varies is anything: ids,
// placeholders, and words with digits.
func words(text string) []string {
	text = where().ReplaceAllString(escapes().ReplaceAllString(text, " "), "")
	out := word().FindAllString(strings.ToLower(text), -1)
	for i, w := range out {
		if strings.HasPrefix(w, "…") || w[0] == '{' || strings.ContainsAny(w, "0123456789") {
			out[i] = anything
		}
	}
	return slices.Compact(out)
}

// ordinary matches words that say nothing about the subject of an error.
var ordinary = lazily(`^(?:an?|the|of|to|in|is|are|was|were|be|has|have|had|it|its|this|that|and|or|but|not|no|for|with|by|at|on|as|if|from|you|your|i|my|we|can|could|should|will|would|must|do|does|did)$`)

// A saying is an error as a user pasted it, in words.
type saying struct {
	words []string
	at    map[string][]int // the places of each word
	used  []bool
}

func newSaying(text string) *saying {
	s := &saying{at: map[string][]int{}}
	for _, w := range words(text) {
		if w != anything {
			s.at[w] = append(s.at[w], len(s.words))
			s.words = append(s.words, w)
		}
	}
	s.used = make([]bool, len(s.words))
	return s
}

// A run is a sequence of words of a known error that a saying has too.
type run struct {
	words, telling, length int // telling is how much the words say about the subject
	known, said            []int
}

// A run that says less than telling occurs in any text. A whole error, known or pasted, may
// say less, but it has several words.
const (
	telling = 4
	several = 3
	varying = 8 // the most words in place of a part that varies
)

// tells returns how much a word says about the subject of an error. The name of a field
// says more than other words.
func tells(word string) int {
	switch {
	case ordinary().MatchString(word):
		return 0
	case strings.Contains(strings.Trim(word, "_"), "_"):
		return 2
	}
	return 1
}

// common returns how many bytes of the words of a known error occur in the saying, in the
// same order. It counts only runs that tell which error it is.
func (s *saying) common(known []string) int {
	clear(s.used)
	known = slices.Clone(known)
	total := 0
	whole := len(slices.DeleteFunc(slices.Clone(known), func(w string) bool { return w == anything }))
	for {
		r := s.longest(known)
		all := r.words == whole || s.covered(r, known) && r.telling > 1 && r.telling+r.words > 6
		if r.telling < telling && (!all || r.words < several) {
			return total
		}
		total += r.length
		for _, i := range r.known {
			known[i] = "\x00" // no word
		}
		for _, i := range r.said {
			s.used[i] = true
		}
	}
}

// covered reports whether a run has all words of the saying, except for those in place of
// parts that vary at its ends.
func (s *saying) covered(r run, known []string) bool {
	if r.words == 0 {
		return false
	}
	first, last := len(r.known)-1, 0 // a run is read from its end
	before, after := r.said[first], len(s.words)-1-r.said[last]
	return (before == 0 || before <= varying && r.known[first] > 0 && known[r.known[first]-1] == anything) &&
		(after == 0 || after <= varying && r.known[last] < len(known)-1 && known[r.known[last]+1] == anything)
}

// A step is the end of a run at a word of the saying.
type step struct {
	words, telling, length int
	at                     int // the word of the known error
	before                 *step
	said                   int
}

// longest returns the longest run of a known error in unused words of the saying.
func (s *saying) longest(known []string) run {
	var best *step
	ends := make([]map[int]*step, len(known)) // by the word of the saying
	for i, w := range known {
		if w == anything {
			continue
		}
		ends[i] = map[int]*step{}
		for _, j := range s.at[w] {
			if s.used[j] {
				continue
			}
			e := &step{at: i, said: j, before: s.before(known, ends, i, j)}
			if b := e.before; b != nil {
				e.words, e.telling, e.length = b.words, b.telling, b.length
			}
			e.words++
			e.length += len(w)
			e.telling += tells(w)
			ends[i][j] = e
			if best == nil || e.length > best.length {
				best = e
			}
		}
	}
	if best == nil {
		return run{}
	}
	r := run{words: best.words, telling: best.telling, length: best.length}
	for e := best; e != nil; e = e.before {
		r.known, r.said = append(r.known, e.at), append(r.said, e.said)
	}
	return r
}

// before returns the longest run that word i of a known error continues at word j of the
// saying, or nil.
func (s *saying) before(known []string, ends []map[int]*step, i, j int) *step {
	if i == 0 {
		return nil
	}
	if known[i-1] != anything {
		return ends[i-1][j-1]
	}
	if i == 1 {
		return nil
	}
	var best *step
	for at := j - 1; at >= 0 && at >= j-1-varying; at-- {
		if s.used[at] {
			break
		}
		if e := ends[i-2][at]; e != nil && (best == nil || e.length > best.length) {
			best = e
		}
	}
	return best
}
