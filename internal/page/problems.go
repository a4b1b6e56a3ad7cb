package page

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/session"
)

// signs are what is before the name of a severity, so that nobody needs to see colors.
var signs = map[rules.Severity]string{rules.Error: "✗", rules.Warning: "▲", rules.Info: "ℹ"}

// tally counts the findings of a session by severity.
func tally(s *session.Session) (n [rules.Error + 1]int) {
	for f, k := range s.Report.All() {
		n[f.Severity] += k
	}
	return n
}

// counted says how many findings there are: "2 errors, 1 warning".
func counted(s *session.Session) string {
	n := tally(s)
	var parts []string
	for _, v := range []rules.Severity{rules.Error, rules.Warning, rules.Info} {
		if n[v] > 0 {
			parts = append(parts, plural(n[v], v.String()))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "no problems")
}

// header writes what the session is.
func (p *writer) header(s *session.Session, longest int64) {
	opts := p.opts
	p.put(`<header id="top"><div class="title">`)
	if opts.Index != "" {
		p.put(`<a class="up" href="`, escape(opts.Index), `">all sessions</a> `)
	}
	p.put("<h1>", escape(opts.Name), "</h1>")
	if opts.Version != "" {
		p.put(`<span class="by">toolguard `, escape(opts.Version), "</span>")
	}
	p.put("</div>\n<p class=\"facts\">")
	for i, fact := range facts(s, opts) {
		if i > 0 {
			p.put(" <span>·</span> ")
		}
		p.put("<span>", escape(fact), "</span>")
	}
	p.put("</p>\n<div id=\"bar\" role=\"toolbar\" aria-label=\"Page\" hidden></div>\n")
	if s.Report.Skipped != "" {
		p.put(`<p class="note">Not a transcript: `, escape(s.Report.Skipped), "</p>\n")
	}
	if opts.Redacted {
		p.put(`<p class="note">Redacted: texts are replaced by filler of the same length.</p>`, "\n")
	}
	if opts.NoPayload {
		p.put(`<p class="note">Only ids, names, types and roles of the session are on this page.</p>`, "\n")
	}
	if longest > 0 {
		p.put(`<p class="note">The session is long: only the first `, number(longest), " bytes of each string are on this page.</p>\n")
	}
	p.put("</header>\n")
}

// facts are what is known about a session, in short texts.
func facts(s *session.Session, opts Options) []string {
	dialect := ""
	if s.Report.File != nil {
		dialect = s.Report.File.Dialect
	}
	var out []string
	for _, fact := range []string{cmp.Or(opts.Agent, dialect), s.Model} {
		if fact != "" {
			out = append(out, fact)
		}
	}
	var turns, calls, results int
	for i := range s.Threads {
		turns, calls, results = turns+s.Threads[i].Turns, calls+s.Threads[i].Calls, results+s.Threads[i].Results
	}
	out = append(out, plural(turns, "turn"), plural(calls, "call"), plural(results, "result"))
	if s.Last > s.First {
		out = append(out, duration(s.Last-s.First))
	}
	return append(out, size(s.Size))
}

// size writes a number of bytes.
func size(n int64) string {
	for _, u := range []struct {
		bytes float64
		name  string
	}{{1e9, " GB"}, {1e6, " MB"}, {1e3, " KB"}} {
		if v := float64(n) / u.bytes; v >= 1 {
			if v < 9.95 {
				return strconv.FormatFloat(v, 'f', 1, 64) + u.name
			}
			return strconv.FormatFloat(v, 'f', 0, 64) + u.name
		}
	}
	return number(n) + " B"
}

// duration writes a number of milliseconds.
func duration(ms int64) string {
	s := ms / 1000
	switch {
	case s >= 48*3600:
		return number(s/86400) + " days"
	case s >= 3600:
		return number(s/3600) + " h " + number(s/60%60) + " min"
	case s >= 120:
		return number(s/60) + " min"
	case s >= 10:
		return number(s) + " s"
	}
	return strconv.FormatFloat(float64(ms)/1000, 'f', 1, 64) + " s"
}

// findings yields the kept findings of a session, without payloads if none is to be on the page.
func (p *writer) findings(s *session.Session) iter.Seq[*engine.Finding] {
	if p.opts.NoPayload {
		without := s.Report.Findings.Changed(func(f *engine.Finding) {
			f.Message = cmp.Or(f.Discreet, f.Message)
			if strings.Contains(f.Message, `"{`) || strings.Contains(f.Message, `"[`) {
				f.Message = f.Rule.Summary // a repair made an id of an object, which can hold any text
			}
			if f.NestedID {
				f.CallID = ""
			}
			if f.NestedTool {
				f.Tool = ""
			}
		})
		return without.All()
	}
	return s.Report.Findings.All()
}

// command returns the command that repairs a finding, "" if there is none.
func (p *writer) command(f *engine.Finding) string {
	if p.opts.Command == nil {
		return ""
	}
	return p.opts.Command(f)
}

// A group is the findings of a kind that the same command repairs, and for which the provider has the
// same words.
type group struct {
	rule     *rules.Rule
	severity rules.Severity
	command  string
	refusal  string // as the profile has it
	n        int
	shown    []int // numbers of findings
}

// mostShown is how many findings of a group are listed. The map marks all.
const mostShown = 100

// problems writes the findings of a session.
func (p *writer) problems(l *layout) {
	s := l.s
	var groups []*group
	texts := map[int]*engine.Finding{}
	i := 0
	for f := range p.findings(s) {
		command := p.command(f)
		k := slices.IndexFunc(groups, func(g *group) bool {
			return g.rule == f.Rule && g.severity == f.Severity && g.command == command && g.refusal == f.Refusal
		})
		if k < 0 {
			k = len(groups)
			groups = append(groups, &group{rule: f.Rule, severity: f.Severity, command: command, refusal: f.Refusal})
		}
		g := groups[k]
		g.n++
		if len(g.shown) < mostShown {
			g.shown = append(g.shown, i)
			copied := *f
			texts[i] = &copied
		}
		i++
	}
	for _, rest := range s.Report.Rest {
		k := slices.IndexFunc(groups, func(g *group) bool { return g.rule == rest.Rule && g.severity == rest.Severity })
		if k < 0 {
			k = len(groups)
			groups = append(groups, &group{rule: rest.Rule, severity: rest.Severity})
		}
		groups[k].n += rest.N
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(b.severity, a.severity) })

	p.put(`<section id="problems" aria-labelledby="counted"><details`)
	if len(groups) > 0 {
		p.put(" open")
	}
	p.put("><summary><h2 id=\"counted\">", escape(counted(s)), "</h2></summary>\n")
	for _, g := range groups {
		p.group(g, texts, l)
	}
	p.put("</details></section>\n")
}

// group writes a group of findings.
func (p *writer) group(g *group, texts map[int]*engine.Finding, l *layout) {
	name := g.severity.String()
	p.put(`<div class="group `, name, `"><h3><span class="sign">`, signs[g.severity], " ", name, `</span> <code>`, escape(g.rule.Name), "</code>")
	if g.n > 1 {
		p.put(` <span class="n">`, number(g.n), "×</span>")
	}
	p.put("</h3>\n<p class=\"rule\">", escape(g.rule.Summary), "</p>\n")
	if g.command != "" {
		p.put(`<p class="fix"><span>Repair:</span> <code>`, escape(g.command), "</code></p>\n")
	}
	if g.refusal != "" {
		p.put(`<p class="says">The provider says: <q>`, escape(texts[g.shown[0]].ProviderError()), "</q></p>\n")
	}
	p.put("<ul>")
	for _, i := range g.shown {
		f := texts[i]
		p.put("<li>")
		if place := escape(l.where(i, f)); len(l.entries) > 0 {
			p.put(`<a href="#row-`, strconv.Itoa(int(l.problems[i])), `">`, place, "</a> ")
		} else {
			p.put(place, " ")
		}
		p.put(escape(f.Message))
		if fix := remedy(f); fix != "" {
			p.put(` <small>`, escape(fix), "</small>")
		}
		p.put("</li>\n")
	}
	if more := g.n - len(g.shown); more > 0 {
		p.put("<li>", number(more), " more of this kind</li>\n")
	}
	p.put("</ul></div>\n")
}

// where says where a finding is: the place that its link leads to.
func (l *layout) where(finding int, f *engine.Finding) string {
	var parts []string
	if len(l.entries) > 0 {
		thread, turn := int32(-1), int32(-1)
		switch e := l.entries[l.problems[finding]]; e.kind {
		case ofElement:
			turn = l.s.Elements[e.ref].Turn
		case ofTurn:
			turn = e.ref
		case ofThread:
			thread = e.ref
		}
		if turn >= 0 {
			thread = l.s.Turns[turn].Thread
		}
		if thread >= 0 && len(l.s.Threads) > 1 && l.s.Threads[thread].Name != "" {
			parts = append(parts, l.s.Threads[thread].Name)
		}
		if turn >= 0 {
			parts = append(parts, "turn "+number(l.s.Number(turn)))
		}
	}
	return strings.Join(append(parts, "line "+number(f.Start.Line)), ", ")
}

// A head is what the script knows before it reads blocks. See Head in data.js.
type head struct {
	Rows    int      `json:"rowsInBlock"`
	Width   int64    `json:"width"`
	Size    int64    `json:"size"`
	Longest int64    `json:"longest"`
	Payload bool     `json:"payload"`
	Before  variant  `json:"before"`
	After   *variant `json:"after,omitempty"`
}

// A variant is the session before or after the repair.
type variant struct {
	Prefix   string      `json:"prefix"`
	Rows     int         `json:"rows"`
	Size     int64       `json:"size"`
	Counted  string      `json:"counted"`
	Problems [][2]int32  `json:"problems"` // row and severity, in order
	Far      [][2]int32  `json:"far"`
	Threads  [][2]int32  `json:"threads"` // first row, and the row after the last one
	Pieces   *[][3]int64 `json:"pieces,omitempty"`
	Block    int         `json:"block"` // bytes of inserted text in one block
}

func (p *writer) head(before, after *layout, made *pieces, r *raw) {
	h := head{Rows: rowsInBlock, Width: r.width, Size: r.src.Size(), Longest: r.longest, Payload: !r.left, Before: before.variant("r")}
	h.Before.Size = r.src.Size()
	if after != nil {
		v := after.variant("s")
		v.Pieces, v.Size, v.Block = &made.list, made.size, blockSize
		h.After = &v
	}
	p.json("head", h)
}

func (l *layout) variant(prefix string) variant {
	v := variant{Prefix: prefix, Rows: len(l.entries), Counted: counted(l.s), Problems: [][2]int32{}, Far: l.far(), Threads: append([][2]int32{}, l.threads...)}
	for row := range l.at {
		v.Problems = append(v.Problems, [2]int32{row, int32(l.severity(row))})
	}
	slices.SortFunc(v.Problems, func(a, b [2]int32) int { return cmp.Compare(a[0], b[0]) })
	return v
}

// tail writes where the rows of each block are in the source.
func (p *writer) tail(before, after *layout) {
	spans := map[string][][2]int64{"r": before.spans}
	if after != nil {
		spans["s"] = after.spans
	}
	p.json("tail", spans)
}
