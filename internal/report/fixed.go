package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// A FixReporter is a Reporter that also reports repairs.
type FixReporter interface {
	Reporter
	// Fixed reports a repaired file, and whether it was written. It comes before File, which
	// reports the remaining findings.
	Fixed(f *engine.Fixed, written bool) error
}

// A FixSummary counts what a run repaired, and the remaining findings.
type FixSummary struct {
	Summary // of the remaining findings
	// Written says that repairs were made, and not only shown.
	Written bool
	// Unlisted says that the run does not report the remaining findings.
	Unlisted bool
	// SafeOnly and Unsafe are the allowed classes of repairs, and Strategy the chosen
	// strategies.
	SafeOnly, Unsafe bool
	Strategy         map[string]string

	Repaired      int // problems that are gone
	RepairedFiles int

	did      map[string]int  // by verb, and by name what was dropped
	additive int             // problems left that a run without SafeOnly repairs
	unsafes  int             // that one with Unsafe does
	choice   int             // that a strategy must be chosen for
	choices  map[string]bool // the strategies, as --strategy takes them
}

// AddFixed counts a file.
func (s *FixSummary) AddFixed(f *engine.Fixed) {
	s.Add(f.After)
	for x, n := range f.After.Kinds() {
		switch {
		case x.Severity <= rules.Info:
		case x.Fix == nil:
			// Some rules repair nothing by default.
			if len(x.Rule.Strategies) > 0 && x.Rule.Strategies[0] == "leave" && s.Strategy[x.Rule.Name] == "" {
				s.choose(x, n)
			}
		case x.Fix.ByStrategy:
			s.choose(x, n)
		case x.Fix.Class == operation.Unsafe && !s.Unsafe:
			s.unsafes += n
		case x.Fix.Class == operation.Additive && s.SafeOnly:
			s.additive += n
		}
	}
	if !f.Changed() {
		return
	}
	s.RepairedFiles++
	s.Repaired += gone(f)
	if s.did == nil {
		s.did = map[string]int{}
	}
	for i := range f.Repairs {
		if r := &f.Repairs[i]; done(r.Kind) == dropped {
			s.did[removed(r)] += r.Removed
		} else {
			s.did[done(r.Kind)] += r.Results - r.Recorded
			s.did["restored"] += r.Recorded
		}
	}
}

// choose counts n problems that are repaired if a strategy is chosen.
func (s *FixSummary) choose(f *engine.Finding, n int) {
	value := chosen(f)
	if value == "" {
		return
	}
	if f.Fix != nil && f.Fix.Class == operation.Unsafe && !s.Unsafe {
		value += " --unsafe"
	}
	if s.choices == nil {
		s.choices = map[string]bool{}
	}
	s.choice += n
	s.choices[value] = true
}

// chosen returns the first strategy that repairs a finding, as --strategy takes it, or "".
func chosen(f *engine.Finding) string {
	i := slices.IndexFunc(f.Rule.Strategies, func(name string) bool { return name != "leave" })
	if i < 0 {
		return ""
	}
	return f.Rule.Name + "=" + f.Rule.Strategies[i]
}

// gone counts the problems of a file that its repair resolved. Infos count if their rule was
// repaired.
func gone(f *engine.Fixed) int {
	type key struct {
		rule string
		info bool
	}
	repaired := map[string]bool{}
	for i := range f.Repairs {
		repaired[f.Repairs[i].Rule] = true
	}
	n := map[key]int{}
	add := func(r *engine.Report, sign int) {
		demanded := false
		for x, many := range r.Kinds() {
			demanded = demanded || x.Rule.OnDemand != nil
			n[key{x.Rule.Name, x.Severity <= rules.Info}] += sign * many
		}
		if !demanded {
			return
		}
		twice := subsumed(r)
		for x, many := range r.All() {
			if twice(x) {
				n[key{x.Rule.Name, x.Severity <= rules.Info}] -= sign * many
			}
		}
	}
	add(f.Before, 1)
	add(f.After, -1)
	sum := 0
	for k, left := range n {
		if left > 0 && (!k.info || repaired[k.rule]) {
			sum += left
		}
	}
	return sum
}

// subsumed tells the findings that the user asked for by a flag if a problem at the same place is
// reported anyway: one repair resolves both, and counts once.
func subsumed(r *engine.Report) func(*engine.Finding) bool {
	places := map[source.Span]bool{}
	for x := range r.All() {
		if x.Rule.OnDemand == nil && x.Severity > rules.Info {
			places[x.Span] = true
		}
	}
	return func(x *engine.Finding) bool { return x.Rule.OnDemand != nil && places[x.Span] }
}

// dropped is done by an operation that takes something out.
const dropped = "dropped"

// verbs say what else was done, in the order in which they are told.
var verbs = []string{"moved", "inserted", "restored", "renamed", "relinked", "renumbered", "rearranged", "rewritten", "kept as text"}

// A drop says what an operation takes out. The first one that fits holds.
type drop struct {
	kind     operation.Kind
	rule     string // "" for any
	one      string
	more     string // "" for one with an s
	verb     string // "" for dropped
	isCopied bool   // it is the same as something else
}

// drops are in the order in which they are told.
var drops = []drop{
	{one: "identical copy", more: "identical copies", isCopied: true},
	{kind: "drop-result", rule: "orphan-tool-result", one: "orphaned result"},
	{kind: "drop-result", rule: "duplicate-tool-result", one: "duplicate result"},
	{kind: "drop-result", one: "misplaced result"},
	{kind: "drop-call", one: "call"},
	{kind: "drop-turn", one: "turn"},
	{kind: "drop-block", rule: "empty-text", one: "empty text"},
	{kind: "drop-block", rule: "server-tool-unpaired", one: "server tool block"},
	{kind: "drop-block", one: "reasoning block"},
	{kind: "text-image", one: "image", verb: "replaced"},
	{kind: "drop-message", rule: "empty-message", one: "empty message"},
	{kind: "drop-message", rule: "empty-text", one: "empty message"},
	{kind: "drop-message", one: "message"},
	{kind: "drop-record", rule: "truncated-record", one: "torn record"},
	{kind: "drop-record", rule: "invalid-json", one: "invalid line"},
	{kind: "drop-record", one: "record"},
	{kind: "drop-bytes", rule: "nul-padding", one: "run of NUL bytes", more: "runs of NUL bytes"},
	{kind: "drop-bytes", one: "torn record"},
	{kind: "strip-reasoning", one: "piece of reasoning", more: "pieces of reasoning"},
	{kind: "remove-member", rule: "cache-control-limit", one: "cache mark"},
	{kind: "remove-member", rule: "empty-tool-calls", one: "empty list"},
	{kind: "remove-member", rule: "duplicate-item-id", one: "item id"},
	{kind: "remove-member", one: "field"},
}

// removed returns what a repair took out, as one of it is called.
func removed(r *engine.Repair) string {
	for i := range drops {
		if d := &drops[i]; d.isCopied == r.Copy && (d.isCopied || d.kind == r.Kind) && (d.rule == "" || d.rule == r.Rule) {
			return d.one
		}
	}
	return ""
}

// done returns the word for an operation.
func done(k operation.Kind) string {
	switch k {
	case "insert-result", "set-state":
		return "inserted"
	case "move-result", "move-record":
		return "moved"
	case "rename-id", "mint-id":
		return "renamed"
	case "relink-result", "relink":
		return "relinked"
	case "renumber":
		return "renumbered"
	case "merge-results", "reorder-blocks", "split-message", "split-results", "move-block", "merge-messages":
		return "rearranged"
	case "text-result":
		return "kept as text"
	case "drop-result", "drop-call", "drop-turn", "drop-block", "text-image",
		"drop-message", "drop-record", "drop-bytes", "remove-member", "strip-reasoning":
		return dropped
	}
	return "rewritten"
}

// String returns the sentences at the end of a run.
func (s *FixSummary) String() string {
	if s.Files == 0 {
		return s.checked()
	}
	var b strings.Builder
	switch {
	case s.RepairedFiles == 0 && s.Unrepaired == 0:
		b.WriteString("Nothing to repair. ")
	case s.RepairedFiles > 0:
		what := count(s.Repaired, "problem") + " in "
		if s.Repaired == 0 { // only infos were repaired
			what = ""
		}
		verb, then := "Would repair", "; run with --write to do it."
		if s.Written {
			verb, then = "Repaired", "."
		}
		fmt.Fprintf(&b, "%s %s%s (%s)%s ", verb, what, s.files(s.RepairedFiles), s.deeds(), then)
	}
	left := s.left()
	b.WriteString(left)
	if s.Files != s.RepairedFiles || s.Skipped > 0 || s.Ignored > 0 || len(s.Failed) > 0 {
		if left != "" {
			b.WriteByte(' ')
		}
		b.WriteString(s.checked())
	}
	return b.String()
}

// deeds says what was done: 1 moved, 2 inserted, 1 orphaned result dropped.
func (s *FixSummary) deeds() string {
	var parts []string
	for _, verb := range verbs {
		if n := s.did[verb]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, verb))
		}
	}
	told := map[string]bool{}
	for i := range drops {
		d := &drops[i]
		if n := s.did[d.one]; n > 0 && !told[d.one] {
			told[d.one] = true
			parts = append(parts, fmt.Sprintf("%d %s %s", n, pick(n, d.one, cmp.Or(d.more, d.one+"s")), cmp.Or(d.verb, dropped)))
		}
	}
	return strings.Join(parts, ", ")
}

// left describes the remaining problems, and how to repair them.
func (s *FixSummary) left() string {
	left := "left"
	if s.RepairedFiles > 0 && !s.Written {
		left = "would be left"
	}
	if s.Problems() == 0 {
		switch {
		case len(s.Failed) == 0:
			return "No problems " + left + "."
		case s.Files > s.Unrepaired:
			return "No problems " + left + " in the other " + s.noun() + "s."
		}
		return "" // there are no others
	}
	strategy := "with --strategy"
	if len(s.choices) == 1 {
		strategy += " " + slices.Collect(maps.Keys(s.choices))[0]
	}
	var parts []string
	for _, p := range []struct {
		n   int
		how string
	}{{s.additive, "without --safe-only"}, {s.unsafes, "with --unsafe"}, {s.choice, strategy}} {
		switch {
		case p.n == 0:
		case len(parts) == 0:
			parts = append(parts, fmt.Sprintf("%d fixable %s", p.n, p.how))
		default:
			parts = append(parts, fmt.Sprintf("%d more %s", p.n, p.how))
		}
	}
	out := count(s.Problems(), "problem") + " " + left
	switch {
	case len(parts) > 0:
		out += " (" + strings.Join(parts, ", ") + ")"
	case s.Unlisted:
		out += " (toolguard check shows " + pick(s.Problems(), "it", "them") + ")"
	}
	return out + "."
}

// jsonApplied describes the repairs of a file.
type (
	jsonApplied struct {
		Path       string         `json:"path"`
		Written    bool           `json:"written"`
		Rounds     int            `json:"rounds"`
		Operations jsonOperations `json:"operations"`
		Results    jsonResults    `json:"results"`
		Dropped    []jsonDropped  `json:"dropped"`
		Repairs    []jsonRepair   `json:"repairs"`
	}
	jsonOperations struct {
		Safe     int `json:"safe"`
		Additive int `json:"additive"`
		Unsafe   int `json:"unsafe"`
	}
	jsonResults struct {
		Moved    int `json:"moved"`
		Inserted int `json:"inserted"`
		Renamed  int `json:"renamed"`
		Dropped  int `json:"dropped"`
	}
	// jsonDropped is the place of a dropped payload in the original.
	jsonDropped struct {
		Rule  string `json:"rule"`
		Start int64  `json:"start"`
		End   int64  `json:"end"`
	}
	jsonRepair struct {
		Rule      string `json:"rule"`
		Operation string `json:"operation"`
		Class     string `json:"class"`
		Title     string `json:"title"`
		Results   int    `json:"results"`
	}
)

// Fixed implements FixReporter.
func (j *jsonReporter) Fixed(f *engine.Fixed, written bool) error {
	return element(&j.applied, applied(f, written))
}

func applied(f *engine.Fixed, written bool) jsonApplied {
	out := jsonApplied{Path: f.Before.Path, Written: written, Rounds: f.Rounds, Dropped: []jsonDropped{}, Repairs: []jsonRepair{}}
	for i := range f.Repairs {
		r := &f.Repairs[i]
		switch r.Class {
		case operation.Safe:
			out.Operations.Safe++
		case operation.Additive:
			out.Operations.Additive++
		default:
			out.Operations.Unsafe++
		}
		switch r.Kind {
		case "insert-result", "set-state":
			out.Results.Inserted += r.Results
		case "move-result", "move-record":
			out.Results.Moved += r.Results
		case "rename-id", "mint-id":
			out.Results.Renamed += r.Results
		}
		out.Results.Dropped += len(r.Dropped)
		for _, s := range r.Dropped {
			out.Dropped = append(out.Dropped, jsonDropped{r.Rule, s.Start, s.End})
		}
		out.Repairs = append(out.Repairs, jsonRepair{r.Rule, string(r.Kind), r.Class.String(), r.Title, r.Results})
	}
	sort.SliceStable(out.Dropped, func(i, j int) bool { return out.Dropped[i].Start < out.Dropped[j].Start })
	return out
}
