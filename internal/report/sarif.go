package report

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// sarifReporter writes SARIF 2.1.0. It quotes a transcript only in messages and repairs.
type sarifReporter struct {
	opts    Options
	rules   []*sarifRule // the rules with findings
	index   map[*rules.Rule]int
	path    string // of the last finding
	file    *sarifArtifact
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
	for f := range r.Findings.All() {
		if !s.opts.shows(f) {
			continue
		}
		if err := s.results.add(s.result(f)); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Reporter. Files that were not checked are notifications: a result would
// need a rule, and would be kept as an alert.
func (s *sarifReporter) Close(sum *Summary) error {
	if err := s.results.end(); err != nil {
		return err
	}
	tool, err := encode(sarifTool{Driver: sarifDriver{
		Contents: []string{"localizedData", "nonLocalizedData"}, InformationURI: homepage, Language: "en-US",
		Locations: never{}, Name: "toolguard", Notifications: never{}, Rules: append([]*sarifRule{}, s.rules...),
		SupportedTaxonomies: never{}, Taxa: never{}, Version: s.opts.Version,
	}, Extensions: never{}})
	if err != nil {
		return err
	}
	invocation := sarifInvocation{
		ExecutionSuccessful:                len(sum.Failed) == 0,
		NotificationConfigurationOverrides: never{}, RuleConfigurationOverrides: never{},
		ToolConfigurationNotifications: never{}, ToolExecutionNotifications: []*sarifNotification{},
	}
	err = sum.eachMissed(func(kind missedKind, m Missed) error {
		n := &sarifNotification{
			Descriptor: sarifReference{ID: string(kind), Index: -1},
			Level:      sarifLevel(rules.Info),
			Locations:  []*sarifLocation{newSARIFLocation(newSARIFArtifact(m.Path), nil)},
			Message:    sarifText(kind.says(m)),
		}
		if kind == missedFailed {
			n.Level = sarifLevel(rules.Error)
		}
		invocation.ToolExecutionNotifications = append(invocation.ToolExecutionNotifications, n)
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

func (s *sarifReporter) result(f *engine.Finding) *sarifResult {
	if s.path != f.Path || s.file == nil { // once for all findings of a file
		s.path, s.file = f.Path, newSARIFArtifact(f.Path)
	}
	location := func(start, end source.Position) *sarifLocation {
		return newSARIFLocation(s.file, &sarifRegion{
			ByteLength: end.Offset - start.Offset, ByteOffset: start.Offset, CharOffset: -1,
			EndColumn: end.Char, EndLine: end.Line, StartColumn: start.Char, StartLine: start.Line,
		})
	}
	out := &sarifResult{
		PartialFingerprints: sarifFingerprints{f.Fingerprint},
		Attachments:         never{}, CodeFlows: never{}, Fixes: []*sarifFix{}, GraphTraversals: never{}, Graphs: never{},
		Kind: "fail", Level: sarifLevel(f.Severity),
		Locations: []*sarifLocation{location(f.Start, f.End)},
		Message:   sarifText(f.Message), Rank: -1, RelatedLocations: []*sarifLocation{},
		RuleID: f.Rule.Name, RuleIndex: s.rule(f.Rule), Stacks: never{}, Taxa: never{},
	}
	for i, r := range f.Related {
		place := location(f.RelatedAt[2*i], f.RelatedAt[2*i+1])
		place.ID, place.Message = i+1, sarifText(r.Message)
		out.RelatedLocations = append(out.RelatedLocations, place)
	}
	if f.Fix != nil && len(f.Edits) > 0 {
		change := &sarifChange{ArtifactLocation: s.file}
		for _, e := range f.Edits {
			r := &sarifReplacement{DeletedRegion: &sarifRegion{ByteLength: e.Span.Len(), ByteOffset: e.Span.Start, CharOffset: -1}}
			if len(e.Text) > 0 {
				r.InsertedContent = &sarifContent{Text: string(e.Text)}
			}
			change.Replacements = append(change.Replacements, r)
		}
		title := sarifText(f.Fix.Title + " (" + cost(f) + ")")
		out.Fixes = append(out.Fixes, &sarifFix{ArtifactChanges: []*sarifChange{change}, Description: title})
	}
	return out
}

// rule returns the index of a rule among those of the report.
func (s *sarifReporter) rule(r *rules.Rule) int {
	i, known := s.index[r]
	if !known {
		i = len(s.rules)
		s.index[r] = i
		level := rules.Warning // if it depends on the provider
		if word, _, _ := strings.Cut(strings.TrimRight(r.Severity, ",;:"), " "); word != "" {
			if severity, ok := rules.ParseSeverity(strings.TrimRight(word, ",;:")); ok {
				level = severity
			}
		}
		help := r.Help()
		s.rules = append(s.rules, &sarifRule{
			DefaultConfiguration: sarifConfiguration{Enabled: true, Level: sarifLevel(level), Rank: -1},
			FullDescription:      sarifForms{Text: r.Summary},
			Help:                 sarifForms{Markdown: help, Text: help},
			HelpURI:              r.URL(), ID: r.Name, Name: r.Name,
			Properties:       sarifProperties{Tags: []string{r.Category}},
			Relationships:    never{},
			ShortDescription: sarifForms{Text: r.Summary},
		})
	}
	return i
}

// sarifText returns a message without links: [text](address) would be one.
func sarifText(s string) *sarifMessage {
	return &sarifMessage{Arguments: never{}, Text: strings.ReplaceAll(s, "](", `\](`)}
}

func sarifLevel(v rules.Severity) string {
	return [...]string{rules.Off: "none", rules.Info: "note", rules.Warning: "warning", rules.Error: "error"}[v]
}

func newSARIFLocation(file *sarifArtifact, region *sarifRegion) *sarifLocation {
	return &sarifLocation{
		Annotations: never{}, ID: -1, LogicalLocations: never{}, Relationships: never{},
		PhysicalLocation: sarifPhysical{ArtifactLocation: file, Region: region},
	}
}

func newSARIFArtifact(path string) *sarifArtifact {
	return &sarifArtifact{Index: -1, URI: uri(path)}
}

// uri returns a path as a URI reference, relative if the path is.
func uri(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
		if !strings.HasPrefix(u.Path, "/") {
			u.Path = "/" + u.Path // a Windows drive
		}
	}
	return u.String()
}

// never is a list that is always empty in a report.
type never []struct{}

// The objects of SARIF 2.1.0 that a report consists of. Their fields are in the order in
// which they are written.
type (
	sarifTool struct {
		Driver     sarifDriver `json:"driver"`
		Extensions never       `json:"extensions"`
	}
	sarifDriver struct {
		Contents            []string     `json:"contents"`
		InformationURI      string       `json:"informationUri"`
		IsComprehensive     bool         `json:"isComprehensive"`
		Language            string       `json:"language"`
		Locations           never        `json:"locations"`
		Name                string       `json:"name"`
		Notifications       never        `json:"notifications"`
		Rules               []*sarifRule `json:"rules"`
		SupportedTaxonomies never        `json:"supportedTaxonomies"`
		Taxa                never        `json:"taxa"`
		Version             string       `json:"version"`
	}
	sarifRule struct {
		DefaultConfiguration sarifConfiguration `json:"defaultConfiguration"`
		FullDescription      sarifForms         `json:"fullDescription"`
		Help                 sarifForms         `json:"help"`
		HelpURI              string             `json:"helpUri"`
		ID                   string             `json:"id"`
		Name                 string             `json:"name"`
		Properties           sarifProperties    `json:"properties"`
		Relationships        never              `json:"relationships"`
		ShortDescription     sarifForms         `json:"shortDescription"`
	}
	sarifConfiguration struct {
		Enabled bool   `json:"enabled"`
		Level   string `json:"level"`
		Rank    int    `json:"rank"`
	}
	sarifForms struct {
		Markdown string `json:"markdown,omitempty"`
		Text     string `json:"text"`
	}
	sarifProperties struct {
		Tags []string `json:"tags"`
	}
	sarifInvocation struct {
		ExecutionSuccessful                bool                 `json:"executionSuccessful"`
		NotificationConfigurationOverrides never                `json:"notificationConfigurationOverrides"`
		RuleConfigurationOverrides         never                `json:"ruleConfigurationOverrides"`
		ToolConfigurationNotifications     never                `json:"toolConfigurationNotifications"`
		ToolExecutionNotifications         []*sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		Descriptor sarifReference   `json:"descriptor"`
		Level      string           `json:"level"`
		Locations  []*sarifLocation `json:"locations"`
		Message    *sarifMessage    `json:"message"`
	}
	sarifReference struct {
		ID    string `json:"id"`
		Index int    `json:"index"`
	}
	sarifResult struct {
		PartialFingerprints sarifFingerprints `json:"partialFingerprints"`
		Attachments         never             `json:"attachments"`
		CodeFlows           never             `json:"codeFlows"`
		Fixes               []*sarifFix       `json:"fixes"`
		GraphTraversals     never             `json:"graphTraversals"`
		Graphs              never             `json:"graphs"`
		Kind                string            `json:"kind"`
		Level               string            `json:"level"`
		Locations           []*sarifLocation  `json:"locations"`
		Message             *sarifMessage     `json:"message"`
		Rank                int               `json:"rank"`
		RelatedLocations    []*sarifLocation  `json:"relatedLocations"`
		RuleID              string            `json:"ruleId"`
		RuleIndex           int               `json:"ruleIndex"`
		Stacks              never             `json:"stacks"`
		Taxa                never             `json:"taxa"`
	}
	sarifFingerprints struct {
		V1 string `json:"toolguard/v1"`
	}
	sarifLocation struct {
		Annotations      never         `json:"annotations"`
		ID               int           `json:"id"`
		LogicalLocations never         `json:"logicalLocations"`
		Message          *sarifMessage `json:"message,omitempty"`
		PhysicalLocation sarifPhysical `json:"physicalLocation"`
		Relationships    never         `json:"relationships"`
	}
	sarifPhysical struct {
		ArtifactLocation *sarifArtifact `json:"artifactLocation"`
		Region           *sarifRegion   `json:"region,omitempty"`
	}
	sarifArtifact struct {
		Index int    `json:"index"`
		URI   string `json:"uri"`
	}
	sarifRegion struct {
		ByteLength  int64 `json:"byteLength"`
		ByteOffset  int64 `json:"byteOffset"`
		CharOffset  int   `json:"charOffset"`
		EndColumn   int   `json:"endColumn,omitempty"`
		EndLine     int   `json:"endLine,omitempty"`
		StartColumn int   `json:"startColumn,omitempty"`
		StartLine   int   `json:"startLine,omitempty"`
	}
	sarifMessage struct {
		Arguments never  `json:"arguments"`
		Text      string `json:"text"`
	}
	sarifFix struct {
		ArtifactChanges []*sarifChange `json:"artifactChanges"`
		Description     *sarifMessage  `json:"description"`
	}
	sarifChange struct {
		ArtifactLocation *sarifArtifact      `json:"artifactLocation"`
		Replacements     []*sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		DeletedRegion   *sarifRegion  `json:"deletedRegion"`
		InsertedContent *sarifContent `json:"insertedContent,omitempty"`
	}
	sarifContent struct {
		Text string `json:"text"`
	}
)
