//go:build wasip1

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/trim"
)

// operations are what a request can ask for.
var operations = map[string]func(ctx context.Context, r *request, input []byte, a *answered) error{
	"check":   check,
	"fix":     fix,
	"trim":    shorten,
	"explain": explain,
	"names":   allNames,
	"page":    look,
}

// A failure is an error as the host gets it.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	// Reason is the message without what the code says.
	Reason string `json:"reason,omitempty"`
	// Stack is that of an internal error. It has no text of the input.
	Stack string `json:"stack,omitempty"`
}

// A notTranscript is the reason why an input is none.
type notTranscript string

// Error implements error.
func (e notTranscript) Error() string { return "not a transcript: " + string(e) }

// failed returns an error as the host gets it.
func failed(err error) *failure {
	if caught := contain.From(err); caught != nil {
		return &failure{
			Code: "internal", Stack: string(caught.Stack),
			Message: "internal error in toolguard " + version + "; please report it at https://github.com/toolguard/toolguard/issues",
		}
	}
	f := &failure{Code: "input", Message: err.Error()}
	var (
		option  optionError
		none    notTranscript
		other   *detect.ErrOtherDialect
		proof   *engine.ProofError
		only    *engine.CheckOnlyError
		noCut   *trim.NoCutError
		refused *trim.RefusedError
	)
	switch {
	case errors.As(err, &option):
		f.Code = "option"
	case errors.As(err, &none):
		f.Code, f.Reason = "not-transcript", string(none)
	case errors.As(err, &other):
		f.Code = "not-transcript"
		f.Reason = "the message " + other.Pointer + " is in the format " + other.Found + ", not " + other.Dialect
		f.Message = "not a transcript: " + f.Reason
	case errors.As(err, &proof):
		f.Code, f.Reason, f.Message = "proof", proof.Reason, proof.Error()
	case errors.As(err, &only):
		f.Code, f.Reason, f.Message = "check-only", only.Reason, "is only checked: "+only.Reason
	case errors.As(err, &noCut):
		f.Code, f.Reason, f.Message = "no-cut", noCut.Reason, uncut(noCut)
	case errors.As(err, &refused):
		f.Code, f.Reason, f.Message = "not-trimmed", refused.Reason, "not trimmed: "+refused.Reason
	}
	return f
}

// uncut returns the message about a history that cannot be cut, with the names of options for those of flags.
func uncut(e *trim.NoCutError) string {
	sentences := []string{"no safe cut: " + e.Reason}
	if e.Way != nil {
		sentences = append(sentences, e.Way.Says(func(c trim.Change) string {
			if c.Field == "Boundary" {
				c.Value = "'" + c.Value + "'"
			}
			return fieldNames[c.Field] + ": " + c.Value
		}, ", "))
	}
	if e.Long != "" {
		sentences = append(sentences, strings.ReplaceAll(e.Long, trim.Flag("ResultsMax"), fieldNames["ResultsMax"]))
	}
	for i := range sentences[1:] {
		sentences[i] = strings.TrimSuffix(sentences[i], ".") + "."
	}
	return strings.Join(sentences, " ")
}

func check(ctx context.Context, r *request, input []byte, a *answered) error {
	o, err := r.settings()
	if err != nil {
		return err
	}
	src, err := source.Hold(ctx, r.Name, input)
	if err != nil {
		return err
	}
	found, err := engine.Check(ctx, src, o.Options)
	if err := cmp.Or(src.Err(), err); err != nil {
		return err
	}
	a.Before, err = document(found, nil)
	return err
}

func fix(ctx context.Context, r *request, input []byte, a *answered) error {
	o, err := r.settings()
	if err != nil {
		return err
	}
	src, err := source.Hold(ctx, r.Name, input)
	if err != nil {
		return err
	}
	done, err := engine.Settle(ctx, src, o)
	if err := cmp.Or(src.Err(), err); err != nil {
		return err
	}
	if a.Before, err = document(done.Before, nil); err != nil {
		return err
	}
	if a.After, err = document(done.After, done); err != nil || !done.Changed() {
		return err
	}
	a.text = done.Pieces.Source().Text()
	if r.List {
		a.Origin = origin(input, a.text, done.Edits())
	}
	return src.Err()
}

func shorten(ctx context.Context, r *request, input []byte, a *answered) error {
	o, err := r.settings()
	if err != nil {
		return err
	}
	req, err := r.Trim.cut()
	if err != nil {
		return err
	}
	src, err := source.Hold(ctx, r.Name, input)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	done, err := engine.Trim(ctx, src, o.Options, req)
	var noCut *trim.NoCutError
	if errors.As(err, &noCut) {
		if err := report.NoCutJSON(&b, noCut); err != nil {
			return err
		}
		a.Trimmed = b.Bytes()
	}
	if err := cmp.Or(src.Err(), err); err != nil {
		return err
	}
	if done.Before.Skipped != "" {
		return notTranscript(done.Before.Skipped)
	}
	if err := report.TrimmedJSON(&b, done, ""); err != nil {
		return err
	}
	a.Trimmed = b.Bytes()
	if !done.Changed() {
		return nil
	}
	a.text = done.Pieces.Source().Text()
	if r.List {
		a.Origin = origin(input, a.text, done.Pieces.Edits())
	}
	return src.Err()
}

// document returns the JSON report about one input: of a check, or of what remains after a repair.
func document(found *engine.Report, done *engine.Fixed) ([]byte, error) {
	if found.Skipped != "" {
		return nil, notTranscript(found.Skipped)
	}
	var b bytes.Buffer
	rep := report.NewJSON(&b, report.Options{Version: version, Fix: done != nil})
	var s report.Summary
	s.Add(found)
	if done != nil && done.Changed() {
		if err := rep.Fixed(done, false); err != nil {
			return nil, err
		}
	}
	if err := rep.File(found); err != nil {
		return nil, err
	}
	err := rep.Close(&s)
	return b.Bytes(), err
}

// origin returns for each element of the new list its index in the old one, or -1. An element that
// no edit touches is found by its place, and one that moved by its text.
func origin(before, after []byte, edits []edit.Edit) []int {
	type element struct{ start, end, index int }
	elements := func(list []byte) (out []element) {
		gjson.ParseBytes(list).ForEach(func(_, v gjson.Result) bool {
			out = append(out, element{v.Index, v.Index + len(v.Raw), len(out)})
			return true
		})
		return out
	}
	type place struct{ start, end int }
	placed, old := map[place]int{}, elements(before)
	shift, next := 0, 0 // by how much the edits before an element move it
	for _, e := range old {
		for next < len(edits) && int(edits[next].Span.End) <= e.start {
			shift += len(edits[next].Text) - int(edits[next].Span.End-edits[next].Span.Start)
			next++
		}
		if next == len(edits) || int(edits[next].Span.Start) >= e.end {
			placed[place{e.start + shift, e.end + shift}] = e.index
		}
	}
	fresh := elements(after)
	out, used := make([]int, len(fresh)), make([]bool, len(old))
	for i, e := range fresh {
		from, ok := placed[place{e.start, e.end}]
		if !ok {
			from = -1
		} else {
			used[from] = true
		}
		out[i] = from
	}
	texts := map[string][]int{}
	for _, e := range old {
		if !used[e.index] {
			text := string(before[e.start:e.end])
			texts[text] = append(texts[text], e.index)
		}
	}
	for i, e := range fresh {
		if same := texts[string(after[e.start:e.end])]; out[i] < 0 && len(same) > 0 {
			out[i], texts[string(after[e.start:e.end])] = same[0], same[1:]
		}
	}
	return out
}

// A reading is what is known of the name of a rule or of an error.
type reading struct {
	// Sure says that the rules surely find the cause, the most likely first, or that the advice is
	// about this error. Otherwise the rules find the causes of similar ones.
	Sure   bool        `json:"sure"`
	Rules  []explained `json:"rules"`
	Advice *string     `json:"advice"` // Markdown
}

// An explained is a rule and the known error that is like the given one.
type explained struct {
	Name       string   `json:"name"`
	Category   string   `json:"category"`
	Severity   string   `json:"severity"`
	Summary    string   `json:"summary"`
	What       string   `json:"what"`
	Why        string   `json:"why"`
	Repair     string   `json:"repair"`
	Strategies []string `json:"strategies"`
	URL        string   `json:"url"`
	Error      *string  `json:"error"`
	SaidBy     *string  `json:"said_by"`
}

func explain(_ context.Context, _ *request, input []byte, a *answered) error {
	out := reading{Rules: []explained{}}
	defer func() { a.Value = out }()
	about := func(r *rules.Rule, m *rules.Match) {
		e := explained{
			Name: r.Name, Category: r.Category, Severity: r.Severity, Summary: r.Summary, What: r.What, Why: r.Why,
			Repair: r.Repair, Strategies: append([]string{}, r.Strategies...), URL: r.URL(),
		}
		if m != nil {
			text, who := m.Shown(), m.Who()
			e.Error, e.SaidBy = &text, &who
		}
		out.Rules = append(out.Rules, e)
	}
	if r := rules.ByName(string(input)); r != nil {
		out.Sure = true
		about(r, nil)
		return nil
	}
	read := rules.Read(string(input))
	out.Sure = len(read.Matches) > 0 || read.Advice != nil
	if read.Advice != nil && len(read.Matches) == 0 {
		out.Advice = &read.Advice.Page
	}
	near := read.Matches
	if !out.Sure {
		near = read.Near
	}
	for i := range near {
		about(near[i].Rule, &near[i])
	}
	return nil
}

// allNames lists what options can name.
func allNames(_ context.Context, _ *request, _ []byte, a *answered) error {
	strategies := map[string][]string{}
	for _, r := range rules.All() {
		if len(r.Strategies) > 0 {
			strategies[r.Name] = r.Strategies
		}
	}
	var requests []string
	for _, d := range dialect.All() {
		if d.Body != nil {
			requests = append(requests, d.Name)
		}
	}
	a.Value = map[string]any{
		"version": version, "formats": dialect.Builtin().Names(), "requests": requests, "providers": profile.Names(), "rules": rules.Names(),
		"categories": rules.Categories(), "strategies": strategies,
	}
	return nil
}
