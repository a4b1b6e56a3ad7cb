package page

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/session"
	"github.com/toolguard/toolguard/internal/source"
)

// A row is what the script knows about a row of the map. See Row in data.js.
type row struct {
	Kind    string    `json:"k"`
	Depth   uint8     `json:"d,omitempty"`
	Turn    int       `json:"t"` // -1 for none
	First   bool      `json:"f,omitempty"`
	Role    string    `json:"r,omitempty"`
	Time    int64     `json:"ms,omitempty"`
	Since   *int64    `json:"dt,omitempty"` // the turn before, in milliseconds
	At      [2]int64  `json:"at"`
	Message *[2]int64 `json:"m,omitempty"`
	Content *[2]int64 `json:"c,omitempty"`
	Line    int       `json:"l,omitempty"`
	Name    string    `json:"n,omitempty"`
	ID      string    `json:"id,omitempty"`
	Text    string    `json:"x,omitempty"`
	Other   int32     `json:"o"` // the row of the result or of the call; -1 for none
	State   string    `json:"s,omitempty"`
	Bytes   int64     `json:"b,omitempty"`
	Took    *int64    `json:"w,omitempty"` // in milliseconds
	Edited  bool      `json:"e,omitempty"`
	Past    bool      `json:"q,omitempty"` // it is no longer sent
	Notes   []note    `json:"p,omitempty"`
}

// A note is a finding in a row.
type note struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Refusal  string `json:"refusal,omitempty"`
	Fix      string `json:"fix,omitempty"`
	Command  string `json:"command,omitempty"`
}

// rows writes blocks of rows, from lo to hi.
func (p *writer) rows(prefix string, l *layout, src *source.Source, made *pieces, lo, hi int) {
	opts := p.opts
	if lo >= hi || p.err != nil {
		return
	}
	notes := map[int32][]note{} // of the rows of these blocks
	i := 0
	for f := range p.findings(l.s) {
		if row := l.problems[i]; int(row)/rowsInBlock >= lo && int(row)/rowsInBlock < hi && len(notes[row]) < mostNotes {
			notes[row] = append(notes[row], p.note(f, made != nil))
		}
		i++
	}
	var lines *source.Lines
	if made == nil {
		lines = source.NewLines(src)
	}
	var edits []source.Span
	if made == nil && opts.After != nil {
		edits = cut(opts.After.Edits, src.Size()).gone
	}
	for b := lo; b < hi; b++ {
		out := []row{}
		span := [2]int64{1 << 62, 0}
		for n := b * rowsInBlock; n < min((b+1)*rowsInBlock, len(l.entries)); n++ {
			r := l.row(n)
			if opts.NoPayload {
				r.Text = ""
			} else if r.Kind == "record" && made == nil {
				text, err := src.Bytes(source.Span{Start: r.At[0], End: r.At[0] + r.At[1]}.First(2 * mostText))
				if p.err == nil {
					p.err = err
				}
				r.Text = short(string(text), r.At[1] > 2*mostText)
			}
			r.Notes = notes[int32(n)]
			at := source.Span{Start: r.At[0], End: r.At[0] + r.At[1]}
			if r.At[1] > 0 {
				span[0], span[1] = min(span[0], at.Start), max(span[1], at.End)
				switch {
				case made != nil:
					r.Edited = made.isNew(at)
				default:
					r.Edited = overlap(edits, at)
					where, err := lines.Position(at.Start)
					if p.err == nil {
						p.err = err
					}
					r.Line = where.Line
				}
			}
			out = append(out, r)
		}
		l.spans = append(l.spans, span)
		p.json(prefix+strconv.Itoa(b), out)
	}
}

// mostNotes is how many findings a row shows.
const mostNotes = 20

// overlap reports whether one of the spans, which are in order, has a byte in common with another.
func overlap(spans []source.Span, at source.Span) bool {
	lo, hi := 0, len(spans)
	for lo < hi {
		if mid := (lo + hi) / 2; spans[mid].End > at.Start {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo < len(spans) && spans[lo].Start < at.End
}

func (p *writer) note(f *engine.Finding, repaired bool) note {
	n := note{Rule: f.Rule.Name, Severity: f.Severity.String(), Message: f.Message, Refusal: f.ProviderError(), Fix: remedy(f)}
	if !repaired {
		n.Command = p.command(f)
	}
	return n
}

// remedy says what repairs a finding, or why nothing does.
func remedy(f *engine.Finding) string {
	switch {
	case f.Fix != nil:
		return f.Fix.Title + " (" + f.Fix.Class.String() + ")"
	case f.Unfixed == "" && f.Offer != "":
		return f.Offer
	case f.Unfixed != "":
		return "no fix: " + f.Unfixed
	}
	return ""
}

func at(s source.Span) [2]int64 { return [2]int64{s.Start, s.Len()} }

func part(s source.Span) *[2]int64 {
	if s.IsZero() {
		return nil
	}
	return &[2]int64{s.Start, s.Len()}
}

// row returns what is in a row.
func (l *layout) row(n int) row {
	s := l.s
	e := l.entries[n]
	out := row{Depth: e.depth, Turn: -1, Other: -1, First: e.first, At: at(l.span(int32(n)))}
	switch e.kind {
	case ofThread:
		l.ofThread(&s.Threads[e.ref], &out)
		return out
	case ofFault:
		out.Kind, out.State = "record", "unreadable"
		return out
	case ofTurn:
		out.Kind = "empty"
		l.begin(e.ref, &out)
		return out
	}
	x := &s.Elements[e.ref]
	if e.first {
		l.begin(x.Turn, &out)
	}
	t := &s.Turns[x.Turn]
	out.Turn, out.Role, out.Past = s.Number(x.Turn), t.Role.String(), t.Superseded
	out.Message, out.Content = part(x.Message), part(x.Content)
	switch x.Kind {
	case session.ElementCall:
		c := &s.Calls[x.Ref]
		out.Kind, out.Name, out.ID, out.Other = "call", c.Tool, c.ID, l.result[x.Ref]
		out.Text = short(session.Arguments(s.Bytes(c.Args), c.Args.Cut()), c.Args.Cut())
		if c.State != session.Answered {
			out.State = c.State.String()
		} else if c.Misplaced {
			out.State = "misplaced"
		}
		if c.State == session.Answered && c.Result.Own {
			l.answered(c, &out)
		}
	case session.ElementResult:
		out.Kind, out.State = "result", "repeated"
		if x.Ref >= 0 {
			c := &s.Calls[x.Ref]
			out.Name, out.ID, out.Other, out.State = c.Tool, c.ID, l.call[x.Ref], ""
			if c.Misplaced {
				out.State = "misplaced"
			}
			out.Text = short(session.Gist(s.Bytes(c.Result.Text), c.Result.Text.Cut()), c.Result.Text.Cut())
			l.answered(c, &out)
		}
	case session.ElementLoose:
		r := &s.Loose[x.Ref]
		out.Kind, out.Name, out.ID, out.Bytes = "loose", r.Tool, r.ID, r.Bytes
		out.Text = short(session.Gist(s.Bytes(r.Text), r.Text.Cut()), r.Text.Cut())
		switch r.Fate {
		case pairing.Duplicate:
			out.State = "duplicate"
		case pairing.Orphan:
			out.State = "orphan"
		default:
			out.State = "undecided"
		}
	default:
		out.Kind = [...]string{"text", "reasoning", "media", "other"}[x.Kind]
		out.Text = short(session.Gist(s.Bytes(x.Text), x.Text.Cut()), x.Text.Cut())
		out.Bytes = x.Text.Size
	}
	return out
}

// answered notes how a call was answered.
func (l *layout) answered(c *session.Call, out *row) {
	out.Bytes = c.Result.Bytes
	if c.Result.MS >= 0 {
		out.Took = &c.Result.MS
	}
	switch {
	case c.Result.Placeholder:
		out.State = "placeholder"
	case c.Result.Failed && out.State == "":
		out.State = "failed"
	}
}

// begin notes what is known about a turn.
func (l *layout) begin(turn int32, out *row) {
	t := &l.s.Turns[turn]
	out.Turn, out.Role, out.Time = l.s.Number(turn), t.Role.String(), t.Time
	if turn > l.s.ThreadOf(turn).TurnLo && t.Time != 0 {
		if before := l.s.Turns[turn-1].Time; before != 0 {
			since := t.Time - before
			out.Since = &since
		}
	}
	switch {
	case t.Superseded && (turn == l.s.ThreadOf(turn).TurnLo || !l.s.Turns[turn-1].Superseded):
		out.State = "superseded"
	case t.Aborted:
		out.State = "aborted"
	}
}

// ofThread describes a thread.
func (l *layout) ofThread(t *session.Thread, out *row) {
	out.Kind, out.Name = "thread", t.Name
	counts := plural(t.Turns, "turn") + ", " + plural(t.Calls, "call") + ", " + plural(t.Results, "result")
	switch {
	case t.Folded:
		out.Name = plural(t.N, "conversation")
		out.Text = "nothing was found in " + plural(t.N, "conversation") + ": " + counts
	default:
		out.Name, out.Text = cmp.Or(t.Name, "main"), counts
	}
	if t.At > 0 || t.TurnLo < t.TurnHi {
		out.At = [2]int64{t.At, 0}
	}
}

// mostText is how many bytes of a text are in a row.
const mostText = 160

// short returns the beginning of a text in one line, marked if it is cut.
func short(text string, cut bool) string {
	text = session.InLine(strings.ToValidUTF8(text, "\ufffd"))
	if len(text) > mostText {
		n := mostText
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		text, cut = text[:n], true
	}
	if cut && text != "" {
		text += "…"
	}
	return text
}
