package stats

import (
	"context"
	"strings"
	"time"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/session"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// An About is what is known about a session besides its calls.
type About struct {
	Agent, Project string
	// Version is that of the session, for records that do not name one. VersionAt is where they do.
	Version   string
	VersionAt []string
}

// Options say how a file is read.
type Options struct {
	// Check are the options of the check. Its Shown is set by Read.
	Check engine.Options
	// Tables are the dimensions of each table.
	Tables [][]Dimension
	// Discreet leaves out other text of the transcript than ids and names.
	Discreet bool
	// About returns what is known about a file with conversations of a dialect.
	About func(*dialect.Dialect) About
}

// The rules whose findings are counted in groups.
const (
	orphanRule    = "orphan-tool-result"
	duplicateRule = "duplicate-tool-result"
	misplacedRule = "misplaced-tool-result"
	beforeRule    = "result-before-call"
)

// Read checks a source and counts what is in it. The report has no findings. A source that is no
// transcript has no counts.
func Read(ctx context.Context, src *source.Source, opts Options) (*Shard, *engine.Report, error) {
	r := &reader{Shard: NewShard(opts.Tables), opts: opts, src: src, inList: map[int64]int{}}
	for _, by := range opts.Tables {
		for _, d := range by {
			r.wants[d] = true
		}
	}
	check := opts.Check
	check.Shown = func(rule *rules.Rule, at rules.Severity) bool {
		switch rule.Name {
		case orphanRule, duplicateRule, misplacedRule, beforeRule:
			return true
		}
		return at >= rules.Error
	}
	rep, err := engine.SeeUnits(ctx, src, check, r.conversation, r.unit)
	if err != nil || rep.Skipped != "" {
		return NewShard(opts.Tables), rep, err
	}
	r.end(rep)
	return r.Shard, rep, nil
}

// A reader counts what is in one file.
type reader struct {
	*Shard
	opts  Options
	src   *source.Source
	wants [dimensions]bool

	of                   *dialect.Dialect // of which the following was learnt
	about                About
	time, model, version session.Field
	id                   dialect.Lens
	prefix               uint64 // of the ids of calls

	results map[source.Span]int32 // the messages of results, nil until it is needed
	last    lastSaid
	timed   timed
	told    string // the model that the session named last
	dataset *Dataset
	calls   int           // of the current row
	row     int64         // the last row or element that was begun, from 1
	inList  map[int64]int // the calls of elements, by their offsets
	bad     bool          // an error was found
}

// A said is what a record says.
type said struct {
	id, version, model string
	at                 int64
}

// A lastSaid is what the record that was read last says. Most have one call.
type lastSaid struct {
	conversation int
	record       int32
	said
}

// A timed is the time of the record with results that was read last.
type timed struct {
	conversation int
	record       int32
	at           int64
}

// learn learns what is known about a dialect.
func (r *reader) learn(v *engine.View) {
	r.of, r.about = v.Dialect, r.opts.About(v.Dialect)
	r.time, r.model, r.version = session.TimeField(v.Dialect), session.ModelField(), session.Field{}
	if len(r.about.VersionAt) > 0 {
		r.version = session.NewField(dialect.Lens(strings.Join(r.about.VersionAt, "|")))
	}
	r.id, r.prefix = "", 0
	if log := v.Dialect.Log; log != nil {
		r.id, r.prefix = dialect.Lens(log.ID), hash(offset, v.Dialect.Name)
	}
	r.told = r.begins(v)
}

// headRecords is in how many records at the beginning of a log its model is looked for.
const headRecords = 16

// begins returns the model that a log names at its beginning.
func (r *reader) begins(v *engine.View) string {
	if !r.wants[Model] || !v.Lines || v.Row || v.Unfolded != nil {
		return ""
	}
	for n := int32(1); n <= headRecords; n++ {
		at := v.RecordSpan(n)
		if at.IsZero() {
			break
		}
		record := v.Value(at)
		field := session.ModelField()
		if got := field.In(record); got.Kind() == source.String {
			return valueOf(got.Str())
		}
	}
	return ""
}

// conversation counts a conversation.
func (r *reader) conversation(v *engine.View) error {
	if r.of != v.Dialect {
		r.learn(v)
	}
	row := int64(0)
	switch {
	case !v.Element.IsZero():
		row = v.Element.Start + 1
	case v.Row && len(v.Messages) > 0:
		row = int64(v.Messages[0].Record)
	}
	if r.sessions == 0 || row != r.row {
		r.begin()
		r.Totals.Sessions++
		if r.row = row; row != 0 {
			r.told = ""
		}
	}
	r.results = nil
	before := r.calls
	for i := range v.Calls {
		if v.Calls[i].Counts() {
			r.calls++
			r.call(v, i)
		}
	}
	n := r.calls - before
	r.Totals.Calls += n
	if !v.Element.IsZero() {
		r.inList[v.Element.Start] += n
	}
	for i := range v.Results {
		if v.Results[i].Counts() {
			r.Totals.Results++
		}
	}
	for f := range v.Findings() {
		r.finding(v, f)
	}
	return nil
}

// call counts a call.
func (r *reader) call(v *engine.View, i int) {
	c, x := &v.Calls[i], &v.Pairing.Calls[i]
	st, why, left := stateOf(v, i)
	if left {
		r.LeftOut[why]++
		return
	}
	m := &v.Messages[c.Message]
	of := r.said(v, m)
	tool := ""
	if !c.Name.IsNested() {
		tool = c.Name.Text()
	}
	key := r.key(v, &of, tool)
	bytes, ms := int64(-1), int64(-1)
	if st == answered && x.Result >= 0 {
		res := &v.Results[x.Result]
		bytes = res.Payload.Len()
		if res.Message != c.Message {
			if of.at != 0 {
				if at := r.when(v, &v.Messages[res.Message]); at >= of.at {
					ms = at - of.at
				}
			}
		}
	}
	id := uint64(0)
	if name := pairing.Key(c.ID); name != "" && of.id != "" {
		id = hash(hash(r.prefix, of.id), name) | 1
	}
	r.count(&key, id, st, bytes, ms)
}

// stateOf returns what became of a call, or why it is left out.
func stateOf(v *engine.View, i int) (st state, why Reason, left bool) {
	x := &v.Pairing.Calls[i]
	switch {
	case x.State == pairing.Copy, v.Messages[v.Calls[i].Message].Has(transcript.MessageReplay):
		return 0, Repeated, true
	case x.State == pairing.Exempt, v.Calls[i].Unsent:
		return 0, Exempt, true
	case v.Use == transcript.UseTrace:
		return 0, Traced, true
	case v.Incomplete:
		return 0, Damaged, true
	case v.Slice, v.ElsewhereState, v.References:
		return 0, Elsewhere, true
	case x.State == pairing.Answered:
		return answered, 0, false
	case x.State == pairing.Pending:
		return open, 0, false
	case x.State == pairing.Interrupted, x.State == pairing.Missing && v.Calls[i].State == transcript.CallInterrupted:
		return interrupted, 0, false
	case v.Missing(i):
		return missing, 0, false
	}
	return 0, Unclear, true
}

// finding counts a finding about a result in its groups.
func (r *reader) finding(v *engine.View, f *rules.Finding) {
	var add func(*Group)
	switch f.Rule.Name {
	case orphanRule:
		add = func(g *Group) { g.Orphans++ }
	case duplicateRule:
		add = func(g *Group) { g.Duplicates++ }
	case misplacedRule, beforeRule:
		add = func(g *Group) { g.Misplaced++ }
	default:
		return
	}
	if r.results == nil {
		r.results = map[source.Span]int32{}
		for i := range v.Results {
			r.results[v.Origin(v.Results[i].ID.Span)] = v.Results[i].Message
		}
	}
	of := said{}
	if m, is := r.results[f.Span]; is {
		of = r.said(v, &v.Messages[m])
	}
	tool := f.Tool
	if f.NestedTool {
		tool = ""
	}
	key := r.key(v, &of, tool)
	for g := range r.seen(&key) {
		add(g)
	}
}

// value returns the record of a message, or the message if it is not the only one of its record. alone
// says which.
func (r *reader) value(v *engine.View, m *transcript.Message) (value source.Value, alone bool) {
	if v.Lines && !v.Row && v.Unfolded == nil {
		if at := v.RecordSpan(m.Record); !at.IsZero() {
			return v.Value(at), true
		}
	}
	return v.Value(m.Span()), false
}

// when returns the time of a message, 0 if it is not recorded.
func (r *reader) when(v *engine.View, m *transcript.Message) int64 {
	if r.time.Absent() {
		return 0
	}
	if m.Record == r.timed.record && v.Index == r.timed.conversation {
		return r.timed.at
	}
	value, alone := r.value(v, m)
	at := session.Time(r.time.In(value))
	if alone {
		r.timed = timed{v.Index, m.Record, at}
	}
	return at
}

// said returns what the record of a message says.
func (r *reader) said(v *engine.View, m *transcript.Message) said {
	if m.Record == r.last.record && v.Index == r.last.conversation {
		return r.last.said
	}
	version, model := r.wants[Version] && r.about.VersionAt != nil, r.wants[Model] && m.Role == transcript.RoleAssistant
	if !version && !(model && !r.model.Absent()) && r.id == "" && r.time.Absent() {
		return said{}
	}
	value, alone := r.value(v, m)
	out := said{at: session.Time(r.time.In(value))}
	if model {
		out.model = text(r.model.In(value))
		if out.model != "" {
			r.told = out.model
		}
	}
	if version {
		out.version = text(r.version.In(value))
	}
	if r.id != "" {
		out.id = text(r.id.In(value))
	}
	if alone {
		r.last = lastSaid{v.Index, m.Record, out}
	}
	return out
}

// text returns a text that is not long.
func text(v source.Value) string {
	if v.Kind() != source.String || v.Span().Len() > 1<<10 {
		return ""
	}
	return strings.Clone(v.Str())
}

// key returns the key of a call or a result of a tool.
func (r *reader) key(v *engine.View, of *said, tool string) (k Key) {
	for d := range Dimension(dimensions) {
		if !r.wants[d] {
			continue
		}
		value := ""
		switch d {
		case Agent:
			value = r.about.Agent
		case Version:
			if value = of.version; value == "" && r.version.Unseen() {
				value = r.about.Version
			}
		case Tool:
			value = tool
		case Model:
			if value = of.model; value == "" {
				value = v.Model
			}
			if value == "" {
				value = r.told
			}
		case Month:
			if of.at != 0 {
				value = time.UnixMilli(of.at).UTC().Format("2006-01")
			}
		case Project:
			value = r.about.Project
		}
		k[d] = valueOf(value)
	}
	return k
}

// unit counts what was found in a unit of the file.
func (r *reader) unit(u *engine.Unit) error {
	var errors map[string]int // by rule
	var first map[string]Sample
	note := func(rule string, n int, sample Sample) {
		if errors == nil {
			errors, first = map[string]int{}, map[string]Sample{}
		}
		if _, is := errors[rule]; !is {
			first[rule] = sample
		}
		errors[rule] += n
	}
	for f := range u.Findings.All() {
		r.add(f.Severity, 1)
		if f.Severity < rules.Error {
			continue
		}
		message := f.Message
		if r.opts.Discreet && f.Discreet != "" {
			message = f.Discreet
		}
		note(f.Rule.Name, 1, Sample{r.src.Name(), int(f.Record), f.Start.Line, message})
	}
	if u.Caught != nil {
		note(InternalError, 1, Sample{Path: r.src.Name(), Record: int(u.Record), Message: "the check met a bug in toolguard"})
	}
	if u.Unreadable && u.Kind == engine.UnitRow && len(errors) == 0 { // its rule is not selected
		note("invalid-json", 0, Sample{Path: r.src.Name(), Record: int(u.Record)})
	}
	rejected := len(errors) > 0
	r.bad = r.bad || rejected
	calls := r.calls
	r.calls = 0
	if u.Kind == engine.UnitRow || u.Kind == engine.UnitElement {
		if u.Conversations == 0 && !rejected {
			return nil
		}
		if r.dataset == nil {
			r.dataset = &Dataset{Path: r.src.Name(), Causes: map[string]int{}}
		}
		d := r.dataset
		d.Rows++
		if rejected {
			d.Rejected++
		}
		for name := range errors {
			d.Causes[name]++
		}
		if u.Kind == engine.UnitElement {
			calls = r.inList[u.Span.Start]
		}
		d.Calls.Add(int64(calls))
		d.Strip.add(u.Span.Start, r.src.Size(), d.Rows, rejected)
	}
	for name, n := range errors {
		r.cause(&Cause{Rule: name, Errors: n, Sessions: 1, Sample: first[name]})
	}
	return nil
}

// InternalError is the cause of rows whose check met a bug in toolguard.
const InternalError = "internal-error"

// add counts findings of a severity.
func (r *reader) add(at rules.Severity, n int) {
	switch at {
	case rules.Error:
		r.Totals.Errors += n
	case rules.Warning:
		r.Totals.Warnings += n
	default:
		r.Totals.Infos += n
	}
}

// end counts the file.
func (r *reader) end(rep *engine.Report) {
	r.Totals.Files++
	r.Totals.Conversations += rep.File.Conversations
	for i := range rep.Rest {
		r.add(rep.Rest[i].Severity, rep.Rest[i].N)
	}
	if r.dataset != nil {
		r.datasets = append(r.datasets, r.dataset)
	}
	r.files = append(r.files, &mark{r.src.Name(), r.bad})
}

// offset is the hash of nothing.
const offset = 14695981039346656037

// hash continues a hash by a text. Copies of a call have the same hash on all machines.
func hash(h uint64, text string) uint64 {
	const prime = 1099511628211
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * prime
	}
	h ^= h >> 29
	return (h ^ 0xff) * prime
}
