package report

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"
	"strings"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// text writes each finding with its place in the file, for people.
type text struct {
	w     io.Writer
	opts  Options
	style *style
	begun bool // something was written
}

func newText(w io.Writer, opts Options) Reporter {
	return &text{w: w, opts: opts, style: newStyle(opts.Color)}
}

// File implements Reporter.
func (t *text) File(r *engine.Report) error {
	var l lines
	events := t.events(r)
	for f := range r.Findings.All() {
		if !t.opts.shows(f) {
			continue
		}
		e := events[eventOf(f)]
		if e != nil && e.told {
			continue
		}
		t.gap(&l)
		l.fold(t.opts.headWidth(), indent, headlineOf(t.style, f, e)...)
		t.places(&l, f)
		if e != nil {
			e.told = true
			l.fold(t.opts.width(), hang, bare(indent), colored(t.style.related, "also:"), bare(" "), bare(e.others()))
		}
		t.fix(&l, f)
	}
	for f := range t.opts.more(r) {
		t.gap(&l)
		l.fold(t.opts.headWidth(), indent, rest(t.style, f)...)
	}
	return l.flush(t.w)
}

// gap writes a blank line, except before the first finding.
func (t *text) gap(l *lines) {
	if t.begun {
		l.line()
	}
	t.begun = true
}

// Close implements Reporter.
func (t *text) Close(s *Summary) error {
	var l lines
	for i, line := range missed(t.style, &t.opts, s) {
		if i == 0 {
			t.gap(&l)
		}
		l.fold(t.opts.headWidth(), indent, line...)
	}
	return l.flush(t.w)
}

// headline returns where a finding is and what it says, as compilers write it.
func headline(s *style, f *engine.Finding) []part { return headlineOf(s, f, nil) }

// headlineOf is headline for the first finding of an event, or for one that is none.
func headlineOf(s *style, f *engine.Finding, e *event) []part {
	more := ""
	if e != nil {
		more = " (and " + count(e.n-1, "more call") + " of the turn)"
	}
	return []part{
		unbroken(s.path, f.Path),
		bare(fmt.Sprintf(":%d:%d: ", f.Start.Line, f.Start.Column)),
		colored(s.severity(f.Severity), f.Severity.String()),
		bare(": "), bare(f.Message), bare(more), bare(" "),
		colored(s.gutter, "["+f.Rule.Name+"]"),
	}
}

// An eventKey tells the events of a file apart: findings about the calls of one turn that have
// the same repair.
type eventKey struct {
	rule         string
	severity     rules.Severity
	conversation int
	turn         int
	repair       int32
	unfixed      string
}

// eventOf returns the event that a finding is part of; the zero key if it stands alone.
func eventOf(f *engine.Finding) eventKey {
	if !f.Rule.Together || f.Turn < 0 {
		return eventKey{}
	}
	k := eventKey{rule: f.Rule.Name, severity: f.Severity, conversation: f.Conversation, turn: f.Turn, unfixed: cmp.Or(f.Unfixed, f.Offer)}
	if f.Fix != nil {
		k.repair = f.Fix.ID
	}
	return k
}

// An event is several findings that are shown as one.
type event struct {
	n     int
	at    []string // the places of the findings but the first, mostPlaces at most
	tools []string // of those findings, each once, in their order
	calls map[string]int
	told  bool
}

// mostPlaces is how many further places an event names.
const mostPlaces = 10

// An event names mostCalled tools, and longestTool columns of the name of each.
const (
	mostCalled  = 5
	longestTool = 40
)

// add counts a finding that is not the first.
func (e *event) add(f *engine.Finding) {
	if len(e.at) < mostPlaces {
		e.at = append(e.at, fmt.Sprintf("%d:%d", f.Start.Line, f.Start.Column))
	}
	if f.Tool == "" {
		return
	}
	if e.calls == nil {
		e.calls = map[string]int{}
	}
	if e.calls[f.Tool]++; e.calls[f.Tool] == 1 {
		e.tools = append(e.tools, f.Tool)
	}
}

// others lists where the other findings are, and the tools of their calls: 3:9, 4:9 (ls, read ×2).
func (e *event) others() string {
	out := strings.Join(e.at, ", ")
	if n := e.n - 1 - len(e.at); n > 0 {
		out += fmt.Sprintf(" and %d more", n)
	}
	var names []string
	for _, tool := range e.tools[:min(len(e.tools), mostCalled)] {
		name := Printable(truncate(tool, longestTool))
		if n := e.calls[tool]; n > 1 {
			name += fmt.Sprintf(" ×%d", n)
		}
		names = append(names, name)
	}
	if n := len(e.tools) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	if len(names) > 0 {
		out += " (" + strings.Join(names, ", ") + ")"
	}
	return out
}

// events returns the events with more than one shown finding.
func (t *text) events(r *engine.Report) map[eventKey]*event {
	if t.opts.EachCall {
		return nil
	}
	var out map[eventKey]*event
	for f := range r.Findings.All() {
		k := eventOf(f)
		if k == (eventKey{}) || !t.opts.shows(f) {
			continue
		}
		if out == nil {
			out = map[eventKey]*event{}
		}
		e := out[k]
		if e == nil {
			e = &event{}
			out[k] = e
		} else {
			e.add(f)
		}
		e.n++
	}
	maps.DeleteFunc(out, func(_ eventKey, e *event) bool { return e.n < 2 })
	return out
}

// more yields the kinds of finding that are not all shown.
func (o *Options) more(r *engine.Report) iter.Seq[*engine.Rest] {
	return func(yield func(*engine.Rest) bool) {
		for i := range r.Rest {
			if f := &r.Rest[i]; o.shows(&f.Finding) && !yield(f) {
				return
			}
		}
	}
}

// rest returns how many findings of a kind there are that are not shown.
func rest(s *style, f *engine.Rest) []part {
	return []part{
		unbroken(s.path, f.Path),
		bare(": "),
		colored(s.severity(f.Severity), f.Severity.String()),
		bare(": " + left(f) + " "),
		colored(s.gutter, "["+f.Rule.Name+"]"),
	}
}

// left says how many findings of a kind there are that are not shown.
func left(f *engine.Rest) string {
	if f.Kept == MostMinor {
		return fmt.Sprintf("%d more of this kind; -v shows all of them", f.N)
	}
	return fmt.Sprintf("%d more of this kind; -o json lists all of them", f.N)
}

// MostShown is how many findings of one kind in a file are shown in formats that
// show few.
const MostShown = 1000

// MostMinor is how many warnings or infos of one kind in a file are shown in the text report,
// unless somebody asks for more.
const MostMinor = 3

// indent is where the lines below an excerpt stand, and hang where they go on.
const (
	indent = "        "
	hang   = indent + "    "
)

// Underlined returns a line of a file with what is meant underlined, as the
// text report shows it: width bytes from the one at start. No line of it takes more
// than room columns.
func Underlined(line int, text string, start, width, room int) string {
	var l lines
	s := newStyle(false)
	m := mark{at: source.Position{Line: line}, excerpt: engine.Excerpt{Text: []byte(text), Mark: [2]int{start, start + width}}, signs: "^~", color: s.severity(rules.Error)}
	writeMarks(&l, s, []mark{m}, room)
	return l.String()
}

// fix writes what would repair a finding, and at what cost.
func (t *text) fix(l *lines, f *engine.Finding) {
	switch {
	case f.Fix != nil:
		l.fold(t.opts.width(), hang, bare(indent), colored(t.style.fix, "fix:"), bare(" "), bare(f.Fix.Title), bare(" ("+cost(f)+")"))
	case f.Unfixed == "" && f.Offer != "":
		l.fold(t.opts.width(), hang, bare(indent), colored(t.style.fix, "fix:"), bare(" "), bare(f.Offer))
	case f.Unfixed != "":
		l.fold(t.opts.width(), hang, bare(indent), colored(t.style.fix, "no fix:"), bare(" "), bare(f.Unfixed))
	}
}

// cost says what a repair costs, and what it takes to have it made.
func cost(f *engine.Finding) string {
	switch class := f.Fix.Class.String(); {
	case !f.Fix.ByStrategy:
		return class
	case chosen(f) != "":
		return class + ", only with --strategy " + chosen(f)
	default:
		return class + ", only with --select " + f.Rule.Name
	}
}
