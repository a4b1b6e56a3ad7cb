package report

import (
	"io"
	"path/filepath"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// homepage is the address of the program.
const homepage = "https://github.com/toolguard/toolguard"

// rdjson writes the Reviewdog Diagnostic Format.
type rdjson struct {
	opts Options
	list array
}

// The parts of the report. Columns are bytes, as in other formats.
type (
	rdDiagnostic struct {
		Message     string         `json:"message"`
		Location    rdLocation     `json:"location"`
		Severity    string         `json:"severity"`
		Code        rdCode         `json:"code"`
		Suggestions []rdSuggestion `json:"suggestions,omitempty"`
		Related     []rdRelated    `json:"related_locations,omitempty"`
	}
	rdCode struct {
		Value string `json:"value"`
		URL   string `json:"url,omitempty"`
	}
	rdLocation struct {
		Path  string   `json:"path"`
		Range *rdRange `json:"range,omitempty"` // nil for the whole file
	}
	rdRange struct {
		Start rdPosition `json:"start"`
		End   rdPosition `json:"end"`
	}
	rdPosition struct {
		Line   int `json:"line"`
		Column int `json:"column"`
	}
	rdSuggestion struct {
		Range rdRange `json:"range"`
		Text  string  `json:"text"`
	}
	rdRelated struct {
		Message  string     `json:"message"`
		Location rdLocation `json:"location"`
	}
)

func newRDJSON(w io.Writer, opts Options) Reporter {
	return &rdjson{opts, array{
		w: w, close: "]}",
		open: `{"source":{"name":"toolguard","url":"` + homepage + `"},"diagnostics":[`,
	}}
}

// File implements Reporter.
func (d *rdjson) File(r *engine.Report) error {
	for f := range r.Findings.All() {
		if !d.opts.shows(f) {
			continue
		}
		severity := [...]string{rules.Off: "INFO", rules.Info: "INFO", rules.Warning: "WARNING", rules.Error: "ERROR"}
		path := filepath.ToSlash(f.Path)
		at := between(f.Start, f.End)
		out := rdDiagnostic{
			Message: f.Message, Severity: severity[f.Severity], Code: rdCode{f.Rule.Name, f.Rule.URL()},
			Location: rdLocation{path, &at},
		}
		// Suggestions are applied one by one, so only a repair with a single edit is a
		// suggestion.
		if len(f.Edits) == 1 {
			out.Suggestions = []rdSuggestion{{between(f.EditAt[0], f.EditAt[1]), string(f.Edits[0].Text)}}
		}
		for k, rel := range f.Related {
			at := between(f.RelatedAt[2*k], f.RelatedAt[2*k+1])
			out.Related = append(out.Related, rdRelated{rel.Message, rdLocation{path, &at}})
		}
		if err := d.list.add(out); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Reporter. A file that was not checked is a diagnostic of the whole file.
func (d *rdjson) Close(s *Summary) error {
	err := s.eachMissed(func(kind missedKind, m Missed) error {
		severity := "INFO"
		if kind == missedFailed {
			severity = "ERROR"
		}
		return d.list.add(rdDiagnostic{
			Message: kind.says(m), Severity: severity, Code: rdCode{Value: string(kind)},
			Location: rdLocation{Path: filepath.ToSlash(m.Path)},
		})
	})
	if err != nil {
		return err
	}
	return d.list.end()
}

func between(start, end source.Position) rdRange {
	return rdRange{rdPosition{start.Line, start.Column}, rdPosition{end.Line, end.Column}}
}
