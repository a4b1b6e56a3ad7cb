package page

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/session"
)

// A State says what is known about a session on an index.
type State uint8

// The states of sessions, the best first.
const (
	Sound  State = iota
	InUse        // its agent still writes to it
	Unread       // it could not be read
	Warned       // it has warnings
	Broken       // it has errors
)

// marks are how states are shown: the class of a cell, its sign, and the word.
var marks = [...]struct{ class, sign, word string }{
	Sound: {"sound", "·", "without problems"}, InUse: {"use", "…", "in use"}, Unread: {"unread", "?", "not read"},
	Warned: {"warning", "▲", "with warnings"}, Broken: {"error", "✗", "with errors"},
}

// An Entry is a session on an index.
type Entry struct {
	// Name is what the index calls the file, Title what its agent calls the session.
	Name, Title string
	// Href is the address of its page, "" if it has none.
	Href                           string
	Agent, Version, Project, Model string
	State                          State
	// Causes are the rules that found something.
	Causes                         []string
	Errors, Warnings, Turns, Calls int
	Modified                       time.Time
	Note                           string // why it was not read
}

// EntryOf returns what an index says of a session, as far as the session tells: not its names, its
// project, its version, its age and the address of its page.
func EntryOf(s *session.Session) Entry {
	e := Entry{Model: s.Model, Note: s.Report.Skipped}
	if s.Report.Skipped != "" {
		e.State = Unread
		return e
	}
	if s.Report.File != nil {
		e.Agent = s.Report.File.Dialect
	}
	for i := range s.Threads {
		e.Turns, e.Calls = e.Turns+s.Threads[i].Turns, e.Calls+s.Threads[i].Calls
	}
	for f, n := range s.Report.All() {
		switch f.Severity {
		case rules.Error:
			e.Errors, e.State = e.Errors+n, Broken
		case rules.Warning:
			e.Warnings, e.State = e.Warnings+n, max(e.State, Warned)
		default:
			continue
		}
		if !slices.Contains(e.Causes, f.Rule.Name) {
			e.Causes = append(e.Causes, f.Rule.Name)
		}
	}
	return e
}

// filters are the lists by which an index can be filtered.
var filters = []struct {
	name string
	of   func(*Entry) []string
}{
	{"agent", func(e *Entry) []string { return []string{e.Agent} }},
	{"version", func(e *Entry) []string { return []string{e.Version} }},
	{"model", func(e *Entry) []string { return []string{e.Model} }},
	{"project", func(e *Entry) []string { return []string{e.Project} }},
	{"cause", func(e *Entry) []string { return e.Causes }},
	{"state", func(e *Entry) []string { return []string{marks[e.State].word} }},
}

// Index writes a page with a cell for each session: the most errors first, then the newest.
func Index(w io.Writer, title string, entries []Entry) error {
	p := &writer{w: bufio.NewWriter(w)}
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Errors, a.Errors), cmp.Compare(b.State, a.State), b.Modified.Compare(a.Modified))
	})
	var states [len(marks)]int
	for i := range entries {
		states[entries[i].State]++
	}
	p.begin("index", title, indexScript)
	p.put("<header><h1>", escape(title), "</h1>\n<p class=\"facts\">", plural(len(entries), "session"), ": ")
	for s := Broken; ; s-- {
		if states[s] > 0 {
			p.put(`<span class="legend"><span class="cell `, marks[s].class, `" aria-hidden="true">`, marks[s].sign, "</span> ", number(states[s]), " ", marks[s].word, "</span>")
		}
		if s == Sound {
			break
		}
	}
	p.put("</p>\n")
	tokens := p.filters(entries)
	p.put("</header>\n<main>\n<div class=\"grid\" role=\"region\" aria-label=\"All sessions\" tabindex=\"0\"><ul class=\"cells\">\n")
	for i := range entries {
		e := &entries[i]
		mark := marks[e.State]
		p.put(`<li data-f="`, tokens[i], `">`)
		if e.Href != "" {
			p.put(`<a href="`, escape(e.Href), `" `)
		} else {
			p.put(`<span role="img" `)
		}
		label := escape(e.describe())
		p.put(`class="cell `, mark.class, `" title="`, label, `" aria-label="`, label, `">`, mark.sign)
		if e.Href != "" {
			p.put("</a></li>\n")
		} else {
			p.put("</span></li>\n")
		}
	}
	p.put("</ul></div>\n")
	p.table(entries, tokens)
	p.put("</main>\n<script>", indexScript, "</script>\n</body></html>\n")
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

// describe returns what a cell stands for.
func (e *Entry) describe() string {
	out := cmp.Or(e.Title, e.Name) + ": "
	if e.State == Broken || e.State == Warned {
		return out + e.found()
	}
	return out + marks[e.State].word
}

// found counts what was found.
func (e *Entry) found() string {
	switch {
	case e.Warnings == 0:
		return plural(e.Errors, "error")
	case e.Errors == 0:
		return plural(e.Warnings, "warning")
	}
	return plural(e.Errors, "error") + ", " + plural(e.Warnings, "warning")
}

// filters writes the lists for filters, and returns for each session what it has of each.
func (p *writer) filters(entries []Entry) []string {
	tokens := make([]string, len(entries))
	p.put(`<details id="filters" hidden><summary>Filters <span class="found" role="status"></span></summary><div role="search" aria-label="Filters">`, "\n")
	for n, f := range filters {
		counts := map[string]int{}
		for i := range entries {
			for _, v := range f.of(&entries[i]) {
				counts[v]++
			}
		}
		delete(counts, "")
		var values []string
		for v := range counts {
			values = append(values, v)
		}
		slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
		numbers := map[string]string{}
		p.put("<label>", f.name, ` <select name="`, f.name, `"><option value="">all</option>`)
		for i, v := range values {
			numbers[v] = string(rune('a'+n)) + strconv.Itoa(i)
			p.put(`<option value="`, numbers[v], `">`, escape(v), " (", number(counts[v]), ")</option>")
		}
		p.put("</select></label>\n")
		for i := range entries {
			for _, v := range f.of(&entries[i]) {
				if v != "" {
					tokens[i] += numbers[v] + " "
				}
			}
		}
	}
	p.put("</div></details>\n")
	return tokens
}

// mostListed is how many sessions the table has.
const mostListed = 2000

// table writes the sessions with problems.
func (p *writer) table(entries []Entry, tokens []string) {
	n := 0
	for i := range entries {
		if entries[i].State >= Unread {
			n++
		}
	}
	if n == 0 {
		return
	}
	p.put(`<div class="table" role="region" aria-label="Sessions with problems" tabindex="0"><table><thead><tr><th>session</th><th>problems</th><th>causes</th><th>agent</th><th>model</th><th>project</th><th>turns</th><th>calls</th><th>modified</th></tr></thead><tbody>`, "\n")
	listed := 0
	for i := range entries {
		e := &entries[i]
		if e.State < Unread || listed == mostListed {
			continue
		}
		listed++
		p.put(`<tr data-f="`, tokens[i], `"><td>`)
		if name := escape(cmp.Or(e.Title, e.Name)); e.Href != "" {
			p.put(`<a href="`, escape(e.Href), `">`, name, "</a>")
		} else {
			p.put(name)
		}
		found, causes := e.found(), e.Causes
		if e.State == Unread {
			found, causes = "not read: "+e.Note, nil
		}
		p.put(`</td><td class="`, marks[e.State].class, `"><span class="sign">`, marks[e.State].sign, "</span> ", escape(found), "</td><td>")
		for k, cause := range causes {
			if k > 0 {
				p.put(", ")
			}
			p.put("<code>", escape(cause), "</code>")
		}
		agent := e.Agent
		if e.Version != "" {
			agent += " " + e.Version
		}
		p.put("</td><td>", escape(agent), "</td><td>", escape(e.Model), "</td><td>", escape(e.Project), `</td><td class="num">`, number(e.Turns), `</td><td class="num">`, number(e.Calls), `</td><td class="when">`)
		if !e.Modified.IsZero() {
			p.put(e.Modified.UTC().Format("2006-01-02 15:04"))
		}
		p.put("</td></tr>\n")
	}
	p.put("</tbody></table>")
	if n > listed {
		p.put("<p>", number(n-listed), " more in the cells above</p>")
	}
	p.put("</div>\n")
}
