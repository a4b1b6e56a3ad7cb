package report

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/toolguard/toolguard/internal/filter"
	"github.com/toolguard/toolguard/internal/rules"
)

// The parts of the reports of the filter.
type (
	jsonFiltered struct {
		Version int              `json:"version"`
		Summary jsonFilterCounts `json:"summary"`
		Rules   map[string]int   `json:"rules"`
		Warned  map[string]int   `json:"warned_rules"`
		Missing map[string]int   `json:"repair_rules"`
		Failed  []jsonMissed     `json:"failed,omitempty"`
	}
	jsonFilterCounts struct {
		Conversations int `json:"conversations"`
		Kept          int `json:"kept"`
		Rejected      int `json:"rejected"`
		Repaired      int `json:"repaired"`
		NotJudged     int `json:"not_judged"`
		WithWarnings  int `json:"with_warnings"`
		Repairable    int `json:"repairable"`
		// Untried are rejected conversations of which nobody knows whether more repairs save them.
		Untried int `json:"untried"`
	}
	jsonReason struct {
		Path     string        `json:"path"`
		Record   int32         `json:"record"`
		Line     int           `json:"line"`
		Start    int64         `json:"start"`
		End      int64         `json:"end"`
		SHA256   string        `json:"sha256"`
		Reason   string        `json:"reason,omitempty"`
		Findings []jsonFinding `json:"findings"`
	}
)

// Reason writes why a conversation was rejected, as a line of JSON. The findings are as in the
// JSON report.
func Reason(w io.Writer, r *filter.Reason, noExcerpt bool) error {
	out := jsonReason{
		Path: r.Path, Record: r.Record, Line: r.Line, Start: r.Span.Start, End: r.Span.End,
		SHA256: hex.EncodeToString(r.SHA256[:]), Findings: []jsonFinding{},
	}
	if out.Reason = r.Unfit; r.Internal {
		out.Reason = filter.InternalError
	}
	for f := range r.Findings.All() {
		if noExcerpt {
			discreet(f)
		}
		out.Findings = append(out.Findings, finding(f))
	}
	b, err := encode(out)
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}

// FilteredJSON writes the counts of a filter as JSON.
func FilteredJSON(w io.Writer, c *filter.Counts, s *Summary) error {
	out := jsonFiltered{
		Version: jsonVersion, Summary: jsonFilterCounts{c.Conversations, c.Kept, c.Rejected, c.Repaired, c.NotJudged, c.Warned, c.Repairable, c.Untried},
		Rules: c.Rules, Warned: c.WarnedBy, Missing: c.Missing,
	}
	for _, m := range []*map[string]int{&out.Rules, &out.Warned, &out.Missing} {
		if *m == nil {
			*m = map[string]int{}
		}
	}
	for _, m := range s.Failed {
		out.Failed = append(out.Failed, jsonMissed{m.Path, m.Why})
	}
	b, err := encode(out)
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}

// FilteredTable writes how many conversations were rejected by each rule, and how many were kept
// with its warnings, the most frequent one first. It writes nothing if there were neither.
func FilteredTable(w io.Writer, c *filter.Counts) error {
	all := maps.Clone(c.Rules)
	if all == nil {
		all = map[string]int{}
	}
	for name := range c.WarnedBy {
		all[name] += 0
	}
	if len(all) == 0 {
		return nil
	}
	tw := tabwriter.NewWriter(w, len("  rejected"), 0, 0, ' ', tabwriter.AlignRight)
	row := func(rejected, kept any, name string) {
		if len(c.WarnedBy) == 0 {
			fmt.Fprintf(tw, "%v\t  %s\n", rejected, name)
		} else {
			fmt.Fprintf(tw, "%v\t%v\t  %s\n", rejected, kept, name)
		}
	}
	row("rejected", "warned", "rule")
	for _, name := range byCount(all, c.WarnedBy) {
		row(c.Rules[name], c.WarnedBy[name], name)
	}
	return tw.Flush()
}

// byCount returns names of rules by their numbers, the largest first.
func byCount(n, then map[string]int) []string {
	return slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(then[b], then[a]), cmp.Compare(a, b))
	})
}

// Repairable says which flags would repair rejected conversations, or "" if none would.
func Repairable(c *filter.Counts) string {
	if c.Repairable == 0 {
		return ""
	}
	var how strings.Builder
	how.WriteString("--fix")
	for _, name := range byCount(c.Missing, nil) {
		how.WriteString(" --strategy " + name + "=" + rules.ByName(name).Change())
	}
	atLeast := ""
	if c.Untried > 0 {
		atLeast = "At least "
	}
	return fmt.Sprintf("%s%d of the rejected can be repaired: %s.", atLeast, c.Repairable, how.String())
}

// Filtered returns the sentences at the end of a filter. several says that there may be more
// than one file.
func Filtered(c *filter.Counts, s *Summary, several bool) string {
	out := "No conversations found."
	switch {
	case c.Conversations == 0 && s.Files == 0 && len(s.Failed) > 0:
		return s.checked() // nobody knows what is in them
	case c.Conversations > 0:
		var of []string
		if c.Repaired > 0 {
			of = append(of, fmt.Sprintf("%d repaired", c.Repaired))
		}
		if c.Warned > 0 {
			of = append(of, fmt.Sprintf("%d with warnings", c.Warned))
		}
		kept := ""
		if len(of) > 0 {
			kept = " (" + strings.Join(of, ", ") + ")"
		}
		share := strconv.FormatFloat(100*float64(c.Rejected)/float64(c.Conversations), 'f', 1, 64)
		out = fmt.Sprintf("Kept %d of %s%s, rejected %d (%s %%).", c.Kept, count(c.Conversations, "conversation"), kept, c.Rejected, share)
	}
	if c.NotJudged > 0 {
		out += fmt.Sprintf(" Kept %s without a conversation too.", count(c.NotJudged, "row"))
	}
	if several || s.Skipped+s.Ignored+len(s.Failed) > 0 {
		out += " " + s.checked()
	}
	return out
}
