package report

import (
	"cmp"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/filter"
	"github.com/toolguard/toolguard/internal/rules"
)

// The parts of an answer of serve. Fields that do not apply are null, except in a verdict, where they
// are left out, because there are very many.
type (
	jsonServed struct {
		Dialect       *string `json:"dialect"`
		Container     string  `json:"container"`
		Conversations int     `json:"conversations"`
		Calls         int     `json:"calls"`
		Results       int     `json:"results"`
		CheckOnly     *string `json:"check_only"`
		// Worst is the highest severity of the findings.
		Worst    *string       `json:"worst"`
		Errors   int           `json:"errors"`
		Warnings int           `json:"warnings"`
		Infos    int           `json:"infos"`
		Findings []jsonFinding `json:"findings"`
		// Omitted are the findings that are only counted.
		Omitted int `json:"omitted"`
	}
	jsonVerdict struct {
		Keep     bool          `json:"keep"`
		Rules    []string      `json:"rules,omitempty"`
		Reason   string        `json:"reason,omitempty"`
		Findings []jsonFinding `json:"findings,omitempty"`
		Omitted  int           `json:"omitted,omitempty"`
	}
)

// Served returns the report about one transcript as a part of an answer of serve, with at most so
// many findings.
func Served(r *engine.Report, most int) any {
	out := jsonServed{
		Dialect: known(r.File.Dialect), Container: r.File.Container, Conversations: r.File.Conversations,
		Calls: r.Calls, Results: r.Results, CheckOnly: known(r.File.CheckOnly), Findings: []jsonFinding{},
	}
	worst := rules.Off
	for f, n := range r.All() {
		switch f.Severity {
		case rules.Error:
			out.Errors += n
		case rules.Warning:
			out.Warnings += n
		case rules.Info:
			out.Infos += n
		}
		worst = max(worst, f.Severity)
	}
	if worst > rules.Off {
		out.Worst = known(worst.String())
	}
	for f := range r.Findings.All() {
		if len(out.Findings) == most {
			break
		}
		out.Findings = append(out.Findings, finding(f))
	}
	out.Omitted = out.Errors + out.Warnings + out.Infos - len(out.Findings)
	return out
}

// Rejection returns why a row was rejected as a part of an answer of serve, with at most so many
// findings. Their places are in the row, which begins at an offset and on a line of the source.
func Rejection(r *filter.Reason, at int64, line, most int) any {
	out := jsonVerdict{Rules: r.Rules}
	if r.Internal {
		out.Reason = filter.InternalError
	}
	shift := func(p *jsonPosition) { p.Offset, p.Line = p.Offset-at, p.Line-line+1 }
	for f := range r.Findings.All() {
		if len(out.Findings) == most {
			out.Omitted++
			continue
		}
		x := finding(f)
		x.Record = 1
		shift(&x.Start)
		shift(&x.End)
		for i := range x.Related {
			shift(&x.Related[i].Start)
			shift(&x.Related[i].End)
		}
		out.Findings = append(out.Findings, x)
	}
	return out
}

// Repairs returns the repairs of a transcript as a part of an answer of serve, as they are in the JSON
// report of fix, but at most so many.
func Repairs(f *engine.Fixed, most int) any {
	all := applied(f, false).Repairs
	return all[:min(len(all), cmp.Or(most, len(all)))]
}

// JSON returns a value as the JSON of a report, which is safe on a terminal and in a CI log.
func JSON(v any) ([]byte, error) { return encode(v) }
