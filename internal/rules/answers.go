package rules

import (
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/toolguard/toolguard/internal/profile"
)

// An Answer is what providers say to what a rule finds.
type Answer struct {
	Profiles []*profile.Profile
	profile.Cell
}

// Answers lists what providers are known to answer, each wording once.
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

// A Match is a rule that an error of a provider speaks of.
type Match struct {
	Rule *Rule
	Answer
	length int // of what is the same in both
}

// MatchError returns the rules whose providers' errors a text holds, the best
// match first. Ids, names and numbers may differ.
func MatchError(text string) []Match {
	text = flat(text)
	var out []Match
	for _, r := range All() {
		best := Match{}
		for _, a := range r.Answers() {
			for _, known := range append([]string{a.Text}, a.Also...) {
				if n := matches(text, flat(known)); n > best.length {
					best = Match{r, a, n}
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
			return out[:i] // what only a part of the text speaks of
		}
	}
	return out
}

// flat writes a text without what copying it from a log or a terminal changes:
// escapes, quotes and line breaks.
func flat(s string) string {
	s = strings.NewReplacer(`\u0060`, "`", `\n`, " ").Replace(s)
	s = strings.Map(func(r rune) rune {
		switch r {
		case '\\', '`', '"', '\'', '“', '”', '‘', '’':
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(strings.ToLower(s)), " ")
}

var (
	// where is the address at the head of an error, which clients leave out.
	where  = lazily(`^(?:[a-z]+[.\[]?\d+[^ ]*: |invalid params, |invalid parameter: |<400> [^ ]+: )`)
	varies = lazily(`…|\{(?:id|name|kind)\}|\d+`)
)

// shortest is how much of an error must be the same for it to be told, and
// part how much of a sentence of it that stands alone.
const (
	shortest = 12
	part     = 30
)

// matches returns how much of a known error a text says, 0 where it is another.
// Clients cut errors off: a sentence can stand for the whole.
func matches(text, known string) int {
	known = where().ReplaceAllString(known, "")
	if n := says(text, known); n >= shortest {
		return n
	}
	total := 0
	for sentence := range strings.SplitSeq(known, ". ") {
		if n := says(text, sentence); n >= part {
			total += n
		}
	}
	return total
}

// says returns how much of a known error is the same in each, 0 where a text
// does not say it.
func says(text, known string) int {
	var expr strings.Builder
	n, from := 0, 0
	there := true
	add := func(s string) {
		there = there && strings.Contains(text, s)
		expr.WriteString(regexp.QuoteMeta(s))
		n += len(s)
	}
	known = strings.TrimSuffix(known, ".")
	for _, m := range varies().FindAllStringIndex(known, -1) {
		add(known[from:m[0]])
		switch known[m[0]:m[1]] {
		case "…":
			expr.WriteString(`.*?`)
		case "{id}", "{name}", "{kind}":
			expr.WriteString(`.{0,400}?`)
		default:
			expr.WriteString(`\d+`)
		}
		from = m[1]
	}
	add(known[from:])
	if !there { // most are told apart without an expression
		return 0
	}
	if re, err := regexp.Compile(expr.String()); err != nil || !re.MatchString(text) {
		return 0
	}
	return n
}
