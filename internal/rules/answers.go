package rules

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/toolguard/toolguard/internal/profile"
)

// An Answer is an error for the findings of a rule: that of the providers with some profiles, or
// a text of the table.
type Answer struct {
	Profiles []*profile.Profile
	By       string // who says it, if the profiles do not
	profile.Cell
}

// answer returns the text as an answer.
func (t *Text) answer() Answer {
	return Answer{By: t.By, Cell: profile.Cell{Text: t.Text, Source: t.Source}}
}

// Texts lists the texts of the table whose cause the rule surely finds.
func (r *Rule) Texts() []Answer {
	var out []Answer
	for _, t := range Texts() {
		if !t.Open && slices.Contains(t.Rules, r) {
			out = append(out, t.answer())
		}
	}
	return out
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

// A Match is a rule that finds the cause of an error, with the known error that is like it.
type Match struct {
	Rule *Rule
	Answer
	length int // how many bytes of the words of the known error matched
	rank   int // the place of the rule among those of the known error
	of     int // how many bytes they have
}

// A Reading is what is known of an error that somebody pasted.
type Reading struct {
	// Matches are the rules that surely find the cause, the most likely first.
	Matches []Match
	// Advice is what helps if no rule finds the cause. Said is the known error.
	Advice *Advice
	Said   Answer
	// Open says that the error is known, but not which of the rules in Near finds its cause.
	Open bool
	// Near are at most five rules with errors that are like this one, if nothing is sure.
	Near []Match
}

// mostNear is the number of rules that a reading suggests.
const mostNear = 5

// MatchError returns the rules that surely find the cause of an error, the most likely first.
// Ids, names, numbers and quotes may differ from those of the known error.
func MatchError(text string) []Match { return Read(text).Matches }

// Read returns what is known of an error, whatever is around it.
func Read(text string) Reading {
	said := newSaying(text)
	var sure, codes, open, aside []hit
	for _, k := range knownErrors() {
		switch n := said.match(k); {
		case n == 0:
		case k.Open:
			open = append(open, hit{k, n})
		case k.Advice != nil && k.Advice.Aside:
			aside = append(aside, hit{k, n})
		case k.code != "":
			codes = append(codes, hit{k, n})
		default:
			sure = append(sure, hit{k, n})
		}
	}
	for _, hits := range [][]hit{sure, codes} {
		if r := decide(hits); len(r.Matches) > 0 || r.Advice != nil {
			return r
		}
	}
	if len(open) > 0 {
		best := slices.MaxFunc(open, func(a, b hit) int { return a.length - b.length })
		r := Reading{Open: true, Said: best.Answer}
		for _, rule := range best.Rules {
			r.Near = append(r.Near, Match{Rule: rule, Answer: rule.example(best.API)})
		}
		return r
	}
	if len(aside) > 0 {
		return decide(aside)
	}
	return Reading{Near: said.near()}
}

// A hit is a known error that occurs in a text.
type hit struct {
	*knownError
	length int
}

// decide returns what the longest of the known errors in a text say.
func decide(hits []hit) Reading {
	best := map[*Rule]Match{}
	longest, advice := 0, 0
	var r Reading
	for _, h := range hits {
		longest = max(longest, h.length)
		if h.Advice != nil && h.length > advice {
			advice, r.Advice, r.Said = h.length, h.Advice, h.Answer
		}
		for i, rule := range h.Rules {
			if b, ok := best[rule]; !ok || h.length > b.length {
				best[rule] = Match{Rule: rule, Answer: h.by(i), length: h.length, of: h.of, rank: i}
			}
		}
	}
	if advice > 0 && advice == longest {
		return r
	}
	r = Reading{}
	for _, rule := range All() {
		// Shorter ones match only a part of the text.
		if m, ok := best[rule]; ok && m.length >= longest*9/10 {
			r.Matches = append(r.Matches, m)
		}
	}
	sort.SliceStable(r.Matches, func(i, j int) bool {
		a, b := &r.Matches[i], &r.Matches[j]
		return a.length > b.length || a.length == b.length && a.rank < b.rank
	})
	return r
}

// example returns a known error of the rule, that of a profile if it has one.
func (r *Rule) example(api string) Answer {
	answers := append(r.Answers(), r.Texts()...)
	if len(answers) == 0 {
		return Answer{}
	}
	i := slices.IndexFunc(answers, func(a Answer) bool {
		return slices.ContainsFunc(a.Profiles, func(p *profile.Profile) bool { return p.Name == api })
	})
	return answers[max(i, 0)]
}

// A knownError is one wording of an error in the profiles or the table.
type knownError struct {
	Answer
	Meaning
	answers []Answer // those of the rules, if they differ
	words   []word
	whole   int    // the number of words
	code    string // the text, if it is a code
	of      int    // how many bytes the words have
}

// by returns the answer for one of the rules.
func (k *knownError) by(rule int) Answer {
	if rule < len(k.answers) {
		return k.answers[rule]
	}
	return k.Answer
}

// wording returns what two errors have in common that differ only in what varies.
func (k *knownError) wording() string {
	texts := []string{k.code}
	for _, w := range k.words {
		texts = append(texts, w.text)
	}
	return strings.Join(texts, " ")
}

// opening returns the first words of an error, without those that vary.
func (k *knownError) opening(n int) string {
	words := strings.Fields(k.wording())
	return strings.Join(words[:min(len(words), n)], " ")
}

// knownErrors lists all wordings, each once.
var knownErrors = sync.OnceValue(func() []*knownError {
	var out []*knownError
	seen := map[string]*knownError{}
	for _, r := range All() {
		for _, a := range r.Answers() {
			for _, text := range append([]string{a.Text}, a.Also...) {
				n := newKnownError(text, a)
				wording := n.wording()
				k := seen[wording]
				if k == nil {
					k = n
					seen[wording] = k
					out = append(out, k)
				}
				i := slices.Index(k.Rules, r)
				if i < 0 {
					i = len(k.Rules)
					k.Rules, k.answers = append(k.Rules, r), append(k.answers, a)
				}
				if surer(a, k.answers[i]) < 0 {
					k.answers[i] = a
				}
			}
		}
	}
	for _, k := range out {
		k.sort()
	}
	for _, t := range Texts() {
		k := newKnownError(t.Text, t.answer())
		k.Meaning = t.Meaning
		out = append(out, k)
	}
	return out
})

// sort sorts the rules with the same error by how sure it is that they find its cause, and
// then as in the catalogue.
func (k *knownError) sort() {
	order := make([]int, len(k.Rules))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return surer(k.answers[a], k.answers[b]) })
	rules, answers := k.Rules, k.answers
	k.Rules, k.answers = nil, nil
	for _, i := range order {
		k.Rules, k.answers = append(k.Rules, rules[i]), append(k.answers, answers[i])
	}
}

// surer compares two answers with the same error, the surer one first, or that of more profiles.
func surer(a, b Answer) int {
	return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.Effective(), a.Effective()), cmp.Compare(len(b.Profiles), len(a.Profiles)))
}

func newKnownError(text string, a Answer) *knownError {
	k := &knownError{Answer: a}
	if !strings.ContainsAny(text, " 。") {
		k.code = strings.ToLower(text)
		k.of = len(k.code)
		return k
	}
	k.words = weigh(text)
	for _, w := range k.words {
		k.of += len(w.text)
		if w.text != anything {
			k.whole++
		}
	}
	return k
}

// RefusesReasoning reports whether a provider error says that it does not accept the reasoning of a
// request, or what ties its messages to reasoning. The request without them may be accepted.
func RefusesReasoning(text string) bool {
	about := func(r *Rule) bool {
		return slices.Contains([]*Rule{reasoningUnreplayable, interleavedReasoning, itemNotStored, replayedReasoning}, r)
	}
	if !slices.ContainsFunc(MatchError(text), func(m Match) bool { return about(m.Rule) }) {
		return false
	}
	// A part of a long error does not suffice: it may be about a parameter. But a longer error that
	// matches in part must not hide a shorter one, or a code, that matches as a whole.
	said := newSaying(text)
	return slices.ContainsFunc(knownErrors(), func(k *knownError) bool {
		return !k.Open && slices.ContainsFunc(k.Rules, about) && 5*said.match(k) >= 4*k.of
	})
}

// anything stands for a part of an error that varies, such as an id.
const anything = ""

var (
	// where is the address at the start of an error, which clients omit.
	where = lazily(`^(?:[A-Za-z]+[.\[]?\d+[^ ]*: |invalid params, |Invalid parameter: |<400> [^ ]+: )`)
	// escapes are what logs write for a line feed, a tab, and quotes.
	escapes = lazily(`\\(?:[nrt]|u00[26][0-7])`)
	wording = lazily(`…[\p{L}\p{N}_]*|\{(?:id|name|kind|n)\}|[\p{L}\p{N}_]+`)
)

// split returns the words of an error. What varies is anything: ids, placeholders, and words
// with digits.
func split(text string) []string {
	out := wording().FindAllString(escapes().ReplaceAllString(text, " "), -1)
	for i, w := range out {
		if strings.HasPrefix(w, "…") || w[0] == '{' || strings.ContainsAny(w, "0123456789") {
			out[i] = anything
		}
	}
	return slices.Compact(out)
}

// A word of a known error says more or less about the subject of the error.
type word struct {
	text  string // in lower case
	tells int
	place bool // it does not say what is wrong
}

var (
	// ordinary matches words that say nothing about the subject of an error.
	ordinary = lazily(`^(?:.|an?|the|of|to|in|is|are|was|were|be|has|have|had|it|its|this|that|and|or|but|not|no|for|with|by|at|on|as|if|from|you|your|my|we|can|could|should|will|would|must|do|does|did|requests|limit)$`)
	// camel matches the name of a field of JSON in camel case.
	camel = lazily(`^\p{Ll}+\p{Lu}`)
	// subjects matches words that name a part of a history. Errors of all kinds have the other ones in
	// common.
	subjects = lazily(`^(?:tools?|tool(?:use|result|calls?)s?|functions?|functioncalls?|calls?|results?|responses?|ids|messages|roles?|assistant|turns?|conversation|thinking|thoughts?|reasoning|signatures?|encrypted|images?|blocks?|arguments|surrogates?|whitespace)$`)
	// places matches words that say where something is, or that it is wrong, but not what.
	places = lazily(`^(?:messages?|index|position|assistant|user|system|roles?|contents?|parts?|blocks?|fields?|input|requests?|param|type|errors?|api|code|string|object|array|value|invalid|expected|missing|required)$`)
	// list matches words that are part of an address if a number follows.
	list = lazily(`^(?i:messages?|contents?|parts|input|member)\z`)
)

// generics are what APIs say of any field, so they do not tell which error it is.
var generics = sync.OnceValue(func() [][]string {
	var out [][]string
	for _, phrase := range []string{
		"string too long. Expected a string with maximum length 64, but got a string with length 116 instead",
		"empty string. Expected a string with minimum length 1, but got an empty string instead",
		"empty array. Expected an array with minimum length 1, but got an empty array instead",
		"string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'",
		"expected a string, but got an object instead",
		"expected a string, got null",
		"String should match pattern '^[a-zA-Z0-9_-]+$'",
		"String should have at most 200 characters",
		"Input should be a valid dictionary",
		"failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
		"failed to satisfy constraint: Member must have length less than or equal to 64",
		"Missing required parameter",
		"Unable to submit request because",
		"tool_use and tool_result blocks",
		"toolUse and toolResult content blocks",
		"in the assistant message at message index",
		"function.arguments",
		"json: cannot unmarshal string into Go struct field ChatRequest.messages",
		"message Internal server error",
		"stream disconnected before completion",
		"Please try again later",
		"Please adjust your input and try again",
	} {
		out = append(out, split(strings.ToLower(phrase)))
	}
	return out
})

// weigh returns the words of a known error, without the address at its start.
func weigh(text string) []word { return weighAll(content(text)) }

// content returns a known error without the address at its start, unless the rest says nothing.
func content(text string) string {
	rest := where().ReplaceAllString(text, "")
	if rest == text {
		return text
	}
	sum := 0
	for _, w := range weighAll(rest) {
		sum += w.tells
	}
	if sum < telling {
		return text
	}
	return rest
}

func weighAll(text string) []word {
	parts := split(text)
	out := make([]word, len(parts))
	for i, w := range parts {
		lower := strings.ToLower(w)
		out[i] = word{lower, 1, places().MatchString(lower)}
		switch {
		case w == anything, ordinary().MatchString(lower), list().MatchString(w) && i+1 < len(parts) && parts[i+1] == anything:
			out[i].tells = 0
		case strings.Contains(strings.Trim(w, "_"), "_"), camel().MatchString(w):
			out[i].tells = 2
		}
	}
	for _, phrase := range generics() {
		for i := 0; i+len(phrase) <= len(out); i++ {
			if slices.EqualFunc(out[i:i+len(phrase)], phrase, func(w word, s string) bool { return w.text == s }) {
				for j := range phrase {
					out[i+j].tells = 0
				}
			}
		}
	}
	return out
}

// A saying is an error as a user pasted it, in words.
type saying struct {
	text  string
	words []string
	lead  int              // the number of words in the address at the start
	at    map[string][]int // the places of each word
	used  []bool
}

func newSaying(text string) *saying {
	s := &saying{text: strings.ToLower(strings.TrimSpace(text)), at: map[string][]int{}}
	for _, w := range split(text) {
		if w = strings.ToLower(w); w != anything {
			s.at[w] = append(s.at[w], len(s.words))
			s.words = append(s.words, w)
		}
	}
	for _, w := range split(where().FindString(text)) {
		if w != anything {
			s.lead++
		}
	}
	s.used = make([]bool, len(s.words))
	return s
}

// A run is a sequence of words of a known error that a saying has too.
type run struct {
	words, telling, length int  // telling is how much the words say about the subject
	names                  bool // some word says what is wrong
	known, said            []int
}

// A run that says less than telling occurs in any text. A whole error, known or pasted, may
// say less, but it has several words.
const (
	telling = 4
	several = 3
	varying = 8 // the most words in place of a part that varies
)

// match returns how many bytes of the words of a known error occur in the saying, in the same
// order. It counts only runs that tell which error it is.
func (s *saying) match(k *knownError) int {
	if k.code != "" {
		// A number is a code only if nothing else is there.
		if len(s.at[k.code]) > 0 || s.text == k.code {
			return len(k.code)
		}
		return 0
	}
	clear(s.used)
	known := slices.Clone(k.words)
	total := 0
	for {
		r := s.longest(known)
		all := r.words == k.whole || s.covered(r, known) && r.telling > 2 && r.telling+r.words > 6
		if (r.telling < telling || !r.names) && (!all || r.words < several) {
			return total
		}
		total += r.length
		for _, i := range r.known {
			known[i].text = "\x00" // no word
		}
		for _, i := range r.said {
			s.used[i] = true
		}
	}
}

// covered reports whether a run has all words of the saying, except for the address at its
// start, and those in place of parts that vary at its ends.
func (s *saying) covered(r run, known []word) bool {
	if r.words == 0 {
		return false
	}
	first, last := len(r.known)-1, 0 // a run is read from its end
	before, after := r.said[first], len(s.words)-1-r.said[last]
	return (before <= s.lead || before <= varying && r.known[first] > 0 && known[r.known[first]-1].text == anything) &&
		(after == 0 || after <= varying && r.known[last] < len(known)-1 && known[r.known[last]+1].text == anything)
}

// near returns the rules whose errors have the most words in common with the saying that few
// errors have, at most mostNear.
func (s *saying) near() []Match {
	best := map[*Rule]Match{}
	score := map[*Rule]float64{}
	for _, k := range knownErrors() {
		sum, all, named, subject := 0.0, 0.0, false, false
		done := map[string]bool{}
		for _, w := range k.words {
			if done[w.text] {
				continue
			}
			done[w.text] = true
			weight := float64(w.tells) * rarity()[w.text]
			all += weight
			if len(s.at[w.text]) > 0 {
				sum += weight
				named = named || w.tells > 1
				subject = subject || w.tells > 1 || subjects().MatchString(w.text)
			}
		}
		if !subject || sum < enough && (sum < enoughNamed || !named) {
			continue
		}
		sum /= math.Sqrt(all) // a long error has more words in common with any text
		if len(k.Rules) == 0 || k.Open {
			continue
		}
		// The other rules have the same error, so it would be suggested twice.
		if r := k.Rules[0]; sum > score[r] {
			score[r], best[r] = sum, Match{Rule: r, Answer: k.by(0)}
		}
	}
	var out []Match
	for _, r := range All() {
		if m, ok := best[r]; ok {
			out = append(out, m)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return score[out[i].Rule] > score[out[j].Rule] })
	return out[:min(len(out), mostNear)]
}

// A rule is suggested if the words in common say enough: as much as two that few errors have.
// It takes less if the name of a field is one of them.
const (
	enough      = 7.0
	enoughNamed = 5.0
)

// rarity returns by word how few of the known errors have it: the logarithm of their share.
var rarity = sync.OnceValue(func() map[string]float64 {
	in := map[string]float64{}
	for _, k := range knownErrors() {
		done := map[string]bool{}
		for _, w := range k.words {
			if !done[w.text] {
				done[w.text] = true
				in[w.text]++
			}
		}
	}
	for w, n := range in {
		in[w] = math.Log(float64(len(knownErrors())) / n)
	}
	return in
})

// A step is the end of a run at a word of the saying.
type step struct {
	words, telling, length int
	names                  bool
	at                     int // the word of the known error
	before                 *step
	said                   int
}

// longest returns the longest run of a known error in unused words of the saying.
func (s *saying) longest(known []word) run {
	var best *step
	ends := make([]map[int]*step, len(known)) // by the word of the saying
	for i, w := range known {
		if w.text == anything {
			continue
		}
		ends[i] = map[int]*step{}
		for _, j := range s.at[w.text] {
			if s.used[j] {
				continue
			}
			e := &step{at: i, said: j, before: s.before(known, ends, i, j)}
			if b := e.before; b != nil {
				e.words, e.telling, e.length, e.names = b.words, b.telling, b.length, b.names
			}
			e.words++
			e.length += len(w.text)
			e.telling += w.tells
			e.names = e.names || w.tells > 0 && !w.place
			ends[i][j] = e
			if best == nil || e.length > best.length {
				best = e
			}
		}
	}
	if best == nil {
		return run{}
	}
	r := run{words: best.words, telling: best.telling, length: best.length, names: best.names}
	for e := best; e != nil; e = e.before {
		r.known, r.said = append(r.known, e.at), append(r.said, e.said)
	}
	return r
}

// before returns the longest run that word i of a known error continues at word j of the
// saying, or nil.
func (s *saying) before(known []word, ends []map[int]*step, i, j int) *step {
	if i == 0 {
		return nil
	}
	if known[i-1].text != anything {
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
