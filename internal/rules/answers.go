package rules

import (
	"regexp"
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
	length int // how many bytes of the known error matched
}

// MatchError returns the rules whose known provider errors occur in a text, the best match
// first. Ids, names and numbers may differ.
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
			return out[:i] // the others match only a part of the text
		}
	}
	return out
}

// flat undoes the changes of copying a text from a log or a terminal: escapes, quotes and
// line breaks.
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
	// where is the address at the start of an error, which clients omit.
	where  = lazily(`^(?:[a-z]+[.\[]?\d+[^ ]*: |invalid params, |invalid parameter: |<400> [^ ]+: )`)
	varies = lazily(`…|\{(?:id|name|kind)\}|\d+`)
)

// shortest is how many bytes of an error must match, and part how many bytes of a sentence
// that stands alone.
const (
	shortest = 12
	part     = 30
)

// matches returns how many bytes of a known error occur in a text, 0 if it is another error.
// Clients truncate errors, so single sentences count too.
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

// says returns the number of fixed bytes of a known error if the text contains it, 0
// otherwise.
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
	if !there { // cheaper than compiling the expression
		return 0
	}
	if re, err := regexp.Compile(expr.String()); err != nil || !re.MatchString(text) {
		return 0
	}
	return n
}
