package serve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/names"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/schema"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/trim"
)

// An op is an operation.
type op struct {
	name   string
	fields []string // that it takes besides v, id and op
	run    func(context.Context, *Server, *request, *object) error
}

// ops lists the operations.
func ops() []*op {
	judge := []string{"from", "provider", "send", "tools", "select", "ignore", "severity", "max_findings"}
	repair := []string{"strip_reasoning", "strategy", "placeholder"}
	return []*op{
		{"check", slices.Concat([]string{"text", "json"}, judge), check},
		{"fix", slices.Concat([]string{"text", "json", "safe_only", "unsafe"}, judge, repair), fix},
		{"filter", slices.Concat([]string{"rows", "lines", "like", "fix", "fail_on"}, judge, repair), filterRows},
		{"trim", slices.Concat([]string{"text", "json", "from", "provider", "send"}, trimFields()), cut},
		{"version", nil, version},
	}
}

// trimFields are the fields that say what a trim keeps.
func trimFields() []string {
	return []string{
		"keep_last", "keep_last_user", "target_index", "keep_first", "max_tokens", "max_bytes", "boundary", "prefer", "pin",
		"results_max_bytes", "keep_results",
	}
}

// Ops lists the names of the operations and the fields that they take.
func Ops() map[string][]string {
	out := map[string][]string{}
	for _, o := range ops() {
		out[o.name] = o.fields
	}
	return out
}

// opOf returns the operation that a value names.
func opOf(v source.Value) (*op, error) {
	var names []string
	for _, o := range ops() {
		if v.Kind() == source.String && v.Str() == o.name {
			return o, nil
		}
		names = append(names, o.name)
	}
	if v.Kind() != source.String {
		return nil, bad("op", "expected "+strings.Join(names, ", "))
	}
	return nil, failure{codeBad, suggest.Unknown("operation", v.Str(), names, "expected "+strings.Join(names, ", ")).Error()}
}

// version says what this program is.
func version(_ context.Context, s *Server, _ *request, out *object) error {
	out.add("version", s.Program)
	out.add("protocol", Version)
	out.add("max_request", s.MaxRequest)
	return nil
}

// inputName is the name of every input in reports.
const inputName = "<input>"

// input returns the source that a request is about.
func (r *request) input() (*source.Source, error) {
	switch text, document := r.text.Exists(), r.document.Exists(); {
	case text == document:
		return nil, failure{codeBad, "expected either text or json"}
	case text && r.text.Kind() != source.String:
		return nil, bad("text", "expected a string")
	case text:
		return source.FromBytes(inputName, r.text.Text()), nil
	}
	return source.FromBytes(inputName, r.document.Raw()), nil
}

// give adds a changed text to an answer, in the form of the input; null if it is nil.
func (r *request) give(out *object, text []byte) {
	switch {
	case r.text.Exists() && text != nil:
		out.add("text", string(text))
	case r.text.Exists():
		out.raw("text", []byte("null"))
	case text != nil:
		out.raw("json", flat(text))
	default:
		out.raw("json", []byte("null"))
	}
}

// most returns how many findings an answer lists.
func (r *request) most() int {
	if r.findings != nil {
		return *r.findings
	}
	return defaultFindings
}

// asked returns the source that a request is about, and the options of the engine.
func (s *Server) asked(r *request) (*source.Source, engine.Options, error) {
	src, err := r.input()
	if err != nil {
		return nil, engine.Options{}, err
	}
	opts, err := s.options(r)
	return src, opts, err
}

// options returns the options of the engine.
func (s *Server) options(r *request) (o engine.Options, err error) {
	o.Dialects, o.Send, o.StripReasoning, o.Placeholder = s.dialects(), r.send, r.stripReasoning, r.placeholder
	if o.Dialect, err = s.dialect("from", r.from); err != nil {
		return o, err
	}
	if r.provider != "" {
		if o.Target, err = names.User.Provider(r.provider); err != nil {
			return o, failure{codeBad, err.Error()}
		}
	}
	if r.tools.Exists() {
		if o.Tools, err = schema.Parse(r.tools.Raw()); err != nil {
			return o, bad("tools", err.Error())
		}
	}
	for _, l := range []struct {
		field string
		names []string
	}{{"select", r.selected}, {"ignore", r.ignored}} {
		if err := names.User.Rules(l.names); err != nil {
			return o, bad(l.field, err.Error())
		}
	}
	o.Rules, o.Explicit = rules.Select(r.selected, r.ignored)
	if len(r.selected) == 0 {
		o.Rules = append(o.Rules, s.Rules...)
	}
	o.Severity = map[string]rules.Severity{}
	for _, name := range slices.Sorted(maps.Keys(r.severity)) {
		if o.Severity[name], err = names.User.Severity(name, r.severity[name]); err != nil {
			return o, bad("severity", err.Error())
		}
	}
	o.Strategy = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(r.strategy)) {
		if err := names.User.Strategy(name, r.strategy[name]); err != nil {
			return o, bad("strategy", err.Error())
		}
		o.Strategy[name] = r.strategy[name]
	}
	switch {
	case r.findings != nil && *r.findings < 0:
		return o, bad("max_findings", "expected an integer from 0")
	case r.placeholder != "" && strings.TrimSpace(r.placeholder) == "":
		return o, bad("placeholder", "expected a text")
	case r.stripReasoning && (slices.Contains(r.ignored, rules.ReplayedReasoning) || slices.Contains(r.ignored, rules.ByName(rules.ReplayedReasoning).Category)):
		return o, failure{codeBad, "strip_reasoning and ignore exclude each other: give only one"}
	}
	return o, nil
}

// dialects returns the formats that there are.
func (s *Server) dialects() *dialect.Set { return cmp.Or(s.Dialects, dialect.Builtin()) }

// dialect returns the format that a field names, nil for "".
func (s *Server) dialect(field, name string) (*dialect.Dialect, error) {
	if name == "" {
		return nil, nil
	}
	d, err := names.User.Format(s.dialects(), name)
	if err != nil {
		return nil, bad(field, err.Error())
	}
	return d, nil
}

// skipped returns an error if a report is about no transcript.
func skipped(r *engine.Report) error {
	if r.Skipped != "" {
		return failure{codeNotTranscript, "not a transcript: " + r.Skipped}
	}
	return nil
}

// check says what is wrong with a transcript.
func check(ctx context.Context, s *Server, r *request, out *object) error {
	src, opts, err := s.asked(r)
	if err != nil {
		return err
	}
	opts.Most = max(r.most(), 1)
	got, err := engine.Check(ctx, src, opts)
	if err != nil {
		return err
	}
	if err := skipped(got); err != nil {
		return err
	}
	out.add("report", report.Served(got, r.most()))
	return nil
}

// fix repairs a transcript.
func fix(ctx context.Context, s *Server, r *request, out *object) error {
	src, opts, err := s.asked(r)
	if err != nil {
		return err
	}
	if r.safeOnly && (r.unsafe || r.stripReasoning) {
		return failure{codeBad, "safe_only excludes unsafe and strip_reasoning"}
	}
	opts.Most = max(r.most(), 1)
	got, err := engine.Settle(ctx, src, engine.FixOptions{Options: opts, SafeOnly: r.safeOnly, Unsafe: r.unsafe})
	switch {
	case errors.As(err, new(*engine.ProofError)), errors.As(err, new(*engine.CheckOnlyError)):
		return failure{codeRefused, err.Error()}
	case err != nil:
		return err
	}
	if err := skipped(got.Before); err != nil {
		return err
	}
	var text []byte
	if got.Changed() {
		text = got.Pieces.Source().Text()
	}
	out.add("changed", got.Changed())
	r.give(out, text)
	out.add("before", report.Served(got.Before, r.most()))
	out.add("report", report.Served(got.After, r.most()))
	out.add("repairs", report.Repairs(got, defaultFindings))
	return nil
}

// cut trims a transcript.
func cut(ctx context.Context, s *Server, r *request, out *object) error {
	src, opts, err := s.asked(r)
	if err != nil {
		return err
	}
	req := &trim.Request{
		KeepLast: r.keepLast, KeepLastUser: r.keepLastUser, Target: r.target, KeepFirst: r.keepFirst,
		MaxTokens: r.maxTokens, MaxBytes: r.maxBytes, Pin: r.pin, ResultsMax: r.resultsMax, KeepResults: 3,
	}
	if r.keepResults != nil {
		req.KeepResults = *r.keepResults
	}
	for _, c := range []struct {
		field, value string
		names        []string
		take         func(int)
	}{
		{"boundary", r.boundary, trim.Boundaries(), func(i int) { req.Boundary = trim.Boundary(i) }},
		{"prefer", r.prefer, []string{"older", "newer"}, func(i int) { req.Newer = i == 1 }},
	} {
		i := slices.Index(c.names, cmp.Or(c.value, c.names[0]))
		if i < 0 {
			return bad(c.field, "expected "+strings.Join(c.names, ", "))
		}
		c.take(i)
	}
	if err := req.Validate(flagField); err != nil {
		return failure{codeBad, err.Error()}
	}
	opts.Most = 1
	got, err := engine.Trim(ctx, src, opts, req)
	var none *trim.NoCutError
	var b bytes.Buffer
	var text []byte
	switch {
	case errors.As(err, &none):
		err = report.NoCutJSON(&b, none)
	case errors.As(err, new(*engine.ProofError)):
		return failure{codeRefused, err.Error()}
	case errors.As(err, new(*trim.RequestError)):
		return failure{codeBad, err.Error()}
	case err != nil:
		return err
	default:
		if err := skipped(got.Before); err != nil {
			return err
		}
		if got.Changed() {
			text = got.Pieces.Source().Text()
		}
		err = report.TrimmedJSON(&b, got, "")
	}
	out.add("changed", text != nil)
	r.give(out, text)
	out.raw("trimmed", bytes.TrimSpace(b.Bytes()))
	return err
}

// flagField returns the field of a request that is called like a flag.
func flagField(name string) string {
	return strings.ReplaceAll(strings.TrimPrefix(trim.Flag(name), "--"), "-", "_")
}
