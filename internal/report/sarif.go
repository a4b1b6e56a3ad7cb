package report

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// sarifReporter writes SARIF 2.1.0. It quotes nothing of a transcript but what
// messages and repairs hold.
type sarifReporter struct {
	opts    Options
	rules   []*sarif.ReportingDescriptor // those that found something
	index   map[*rules.Rule]int
	results array // comes first, so that it is written and not kept
}

func newSARIF(w io.Writer, opts Options) Reporter {
	return &sarifReporter{opts: opts, index: map[*rules.Rule]int{}, results: array{
		w: w, close: "],", nested: true,
		open: `{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{` + "\n" + ` "results":[`,
	}}
}

// File implements Reporter.
func (s *sarifReporter) File(r *engine.Report) error {
	for i := range r.Findings {
		if err := s.results.add(s.result(&r.Findings[i])); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Reporter. Files that were not checked are notifications: a
// result would need a rule, and be kept as an alert.
func (s *sarifReporter) Close(sum *Summary) error {
	if err := s.results.end(); err != nil {
		return err
	}
	driver := sarif.NewToolComponent().WithName("toolguard").WithInformationURI(homepage).
		WithVersion(s.opts.Version).WithRules(s.rules)
	if len(s.rules) == 0 {
		driver.Rules = []*sarif.ReportingDescriptor{}
	}
	tool, err := encode(sarif.NewTool().WithDriver(driver))
	if err != nil {
		return err
	}
	invocation := sarif.NewInvocation().WithExecutionSuccessful(len(sum.Failed) == 0)
	err = sum.eachMissed(func(kind missedKind, m Missed) error {
		level := sarif.LevelNote
		if kind == missedFailed {
			level = sarif.LevelError
		}
		invocation.AddToolExecutionNotification(sarif.NewNotification().WithLevel(level).WithMessage(sarifText(kind.says(m))).
			WithDescriptor(sarif.NewReportingDescriptorReference().WithID(string(kind))).
			AddLocation(sarif.NewLocation().WithPhysicalLocation(sarif.NewPhysicalLocation().WithArtifactLocation(artifact(m.Path)))))
		return nil
	})
	if err != nil {
		return err
	}
	ran, err := encode(invocation)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.results.w, ` "columnKind":"unicodeCodePoints",
 "tool":%s,
 "invocations":[%s]}]}
`, tool, ran)
	return err
}

func (s *sarifReporter) result(f *engine.Finding) *sarif.Result {
	location := func(start, end source.Position) *sarif.Location {
		region := sarif.NewRegion().
			WithStartLine(start.Line).WithStartColumn(start.Char).WithEndLine(end.Line).WithEndColumn(end.Char).
			WithByteOffset(int(start.Offset)).WithByteLength(int(end.Offset - start.Offset))
		return sarif.NewLocation().WithPhysicalLocation(
			sarif.NewPhysicalLocation().WithArtifactLocation(artifact(f.Path)).WithRegion(region))
	}
	out := sarif.NewRuleResult(f.Rule.Name).WithRuleIndex(s.rule(f.Rule)).
		WithLevel(sarifLevel(f.Severity)).
		WithMessage(sarifText(f.Message)).
		WithLocations([]*sarif.Location{location(f.Start, f.End)}).
		WithPartialFingerprints(map[string]string{"toolguard/v1": f.Fingerprint})
	for i, r := range f.Related {
		place := location(f.RelatedAt[2*i], f.RelatedAt[2*i+1]).WithID(i + 1).WithMessage(sarifText(r.Message))
		out.RelatedLocations = append(out.RelatedLocations, place)
	}
	if f.Fix != nil && len(f.Edits) > 0 {
		change := sarif.NewArtifactChange().WithArtifactLocation(artifact(f.Path))
		for _, e := range f.Edits {
			deleted := sarif.NewRegion().WithByteOffset(int(e.Span.Start)).WithByteLength(int(e.Span.Len()))
			r := sarif.NewReplacement().WithDeletedRegion(deleted)
			if len(e.Text) > 0 {
				r.WithInsertedContent(sarif.NewArtifactContent().WithText(string(e.Text)))
			}
			change.Replacements = append(change.Replacements, r)
		}
		title := sarifText(f.Fix.Title + " (" + cost(f) + ")")
		out.Fixes = []*sarif.Fix{sarif.NewFix().WithDescription(title).WithArtifactChanges([]*sarif.ArtifactChange{change})}
	}
	return out
}

// rule returns the index of a rule among those of the report.
func (s *sarifReporter) rule(r *rules.Rule) int {
	i, known := s.index[r]
	if !known {
		i = len(s.rules)
		s.index[r] = i
		level := rules.Warning // where it depends on the provider
		if word, _, _ := strings.Cut(strings.TrimRight(r.Severity, ",;:"), " "); word != "" {
			if severity, ok := rules.ParseSeverity(strings.TrimRight(word, ",;:")); ok {
				level = severity
			}
		}
		s.rules = append(s.rules, sarif.NewRule(r.Name).WithName(r.Name).
			WithDescription(r.Summary).
			WithFullDescription(sarif.NewMultiformatMessageString().WithText(r.Summary)).
			WithMarkdownHelp(strings.TrimSpace(r.Doc)).
			WithHelpURI(r.URL()).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(sarifLevel(level))).
			WithProperties(sarif.NewPropertyBag().AddTag(r.Category)))
	}
	return i
}

// sarifText returns a message in which nothing is a link: [text](address) would
// be one.
func sarifText(s string) *sarif.Message {
	return sarif.NewTextMessage(strings.ReplaceAll(s, "](", `\](`))
}

func sarifLevel(v rules.Severity) string {
	return [...]string{rules.Off: sarif.LevelNone, rules.Info: sarif.LevelNote, rules.Warning: sarif.LevelWarning, rules.Error: sarif.LevelError}[v]
}

func artifact(path string) *sarif.ArtifactLocation {
	return sarif.NewArtifactLocation().WithURI(uri(path))
}

// uri returns a path as a URI reference, relative where the path is.
func uri(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
		if !strings.HasPrefix(u.Path, "/") {
			u.Path = "/" + u.Path // a drive of Windows
		}
	}
	return u.String()
}
