package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
)

// longestTitle is how many columns of a title are shown at most.
const longestTitle = 40

// printStores prints a line for each agent.
func (d *doctor) printStores() error {
	if len(d.stores) == 0 {
		d.say("No sessions found: none of the known stores exists.")
		return nil
	}
	type row struct {
		agent, number, noun string
		state               []report.Piece
	}
	var rows []row
	var widths [3]int
	for i, r := range d.stores {
		if slices.ContainsFunc(d.stores[:i], func(o *storeReport) bool { return o.agent == r.agent && o.unread == r.unread }) {
			continue // counted with the first one
		}
		sum := *r
		n := 1
		for _, o := range d.stores[i+1:] {
			if o.agent == r.agent && o.unread == r.unread {
				sum.sessions, sum.broken, sum.mended, sum.inUse = sum.sessions+o.sessions, sum.broken+o.broken, sum.mended+o.mended, sum.inUse+o.inUse
				sum.excluded, sum.reasoned, sum.unsent = sum.excluded+o.excluded, sum.reasoned+o.reasoned, sum.unsent+o.unsent
				n++
			}
		}
		x := row{agent: r.agent, number: grouped(sum.sessions), noun: noun(sum.sessions, "session"), state: sum.counts()}
		if r.unread {
			kind := "database"
			if len(r.Store.Databases) == 0 && len(r.Store.Roots) > 0 {
				kind = "store"
			}
			x = row{r.agent, strconv.Itoa(n), noun(n, kind), []report.Piece{{Text: "not read: " + r.Store.Instead}}}
		}
		rows = append(rows, x)
		for i, text := range []string{x.agent, x.number, x.noun} {
			widths[i] = max(widths[i], len(text))
		}
	}
	width, _ := d.columns(d.rawStdout)
	out := report.NewSheet(d.colors)
	for _, x := range rows {
		rest := fmt.Sprintf("%*s  %*s %-*s  ", widths[0]-len(x.agent), "", widths[1], x.number, widths[2], x.noun)
		hang := strings.Repeat(" ", widths[0]+widths[1]+widths[2]+5)
		out.Fold(width, hang, append([]report.Piece{{Ink: report.Name, Text: x.agent}, {Text: rest}}, x.state...)...)
	}
	return out.Flush(d.stdout)
}

// counts says what was found in a store.
func (r *storeReport) counts() []report.Piece {
	out := []report.Piece{{Ink: report.Repair, Text: "none broken"}}
	if r.broken > 0 {
		out[0] = report.Piece{Ink: report.Fault, Text: grouped(r.broken) + " broken"}
	}
	for _, c := range []struct {
		n    int
		what string
	}{{r.reasoned, "with reasoning"}, {r.mended, "that " + r.agent + " repairs itself"}, {r.inUse, "in use"}, {r.unsent, "with results that are not sent"}, {r.excluded, noun(r.excluded, "path") + " excluded"}} {
		if c.n > 0 {
			out = append(out, report.Piece{Text: ", " + grouped(c.n) + " " + c.what})
		}
	}
	return out
}

// noun returns a noun for a number of things.
func noun(n int, one string) string {
	if n == 1 {
		return one
	}
	return one + "s"
}

// grouped returns a number with commas: 1,046.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// printSessions lists the broken sessions.
func (d *doctor) printSessions(sessions []*stored) error {
	for _, s := range sessions {
		if err := d.printSession(s); err != nil {
			return err
		}
	}
	return nil
}

// printSession prints what is wrong with a session, and what to do.
func (d *doctor) printSession(s *stored) error {
	width, _ := d.columns(d.rawStdout)
	hang := s.hang()
	out := report.NewSheet(d.colors)
	out.Line(d.headline(s, width)...)
	out.Fold(width, hang, append([]report.Piece{{Text: hang}}, s.finding()...)...)
	if s.uncut != "" {
		out.Line(report.Piece{Text: hang + s.in.agent + " has removed lines; the file as it was: " + d.short(s.uncut)})
	}
	switch {
	case s.inUse != "":
		out.Fold(width, hang, report.Piece{Text: hang + "in use: " + s.inUse})
	case d.flags.fix.made:
	default:
		// It stays one line, because it is to be copied.
		out.Line(report.Piece{Text: hang}, report.Piece{Ink: report.Command, Text: d.command(s)})
		if said := d.extractCommand(s); said != "" {
			out.Line(report.Piece{Text: hang}, report.Piece{Ink: report.Command, Text: said})
		}
	}
	return out.Flush(d.stdout)
}

// hang returns the white space before the lines below the headline of a session.
func (s *stored) hang() string { return strings.Repeat(" ", len(strconv.Itoa(s.number))+2) }

// leastPart is how many columns of a project or a title are shown at least.
const leastPart = 12

// headline names a session in one line of a width. Its age is never cut.
func (d *doctor) headline(s *stored, width int) []report.Piece {
	number, age := strconv.Itoa(s.number), ago(d.now.Sub(s.modified))
	room := width - len(number) - len(age) - 2
	// take returns the beginning or the end of a text that fits, and nothing if too little would fit.
	take := func(text string, most int, cut func(string, int) string) string {
		if most = min(most, room-2); most < leastPart && runewidth.StringWidth(text) > most {
			return ""
		}
		text = cut(text, most)
		if text != "" {
			room -= 2 + runewidth.StringWidth(text)
		}
		return text
	}
	begin := func(text string, most int) string { return runewidth.Truncate(text, most, "…") }
	// The end of a path says more than its beginning.
	end := func(text string, most int) string {
		if over := runewidth.StringWidth(text) - most; over > 0 {
			text = runewidth.TruncateLeft(text, over+1, "…")
		}
		return text
	}
	agent := s.in.agent
	if s.in.Store.Source == "" {
		agent = "session"
	}
	agent = take(strings.TrimRight(agent+" "+begin(report.Printable(s.Version), 20), " "), width, begin)
	title := ""
	if s.Title != "" {
		line, _, _ := strings.Cut(s.Title, "\n")
		title = begin(report.Printable(strings.TrimSpace(line)), longestTitle)
	}
	project := report.Printable(s.Project)
	// A long title leaves room for the project.
	forTitle := room - 2
	if project != "" {
		forTitle -= 2 + min(leastPart, runewidth.StringWidth(project))
	}
	if title != "" {
		quoted := func(text string, most int) string { return `"` + begin(text, most-2) + `"` }
		title = take(title, forTitle, quoted)
	}
	project = take(project, width, end)
	out := []report.Piece{{Text: number}}
	for _, p := range []report.Piece{{Ink: report.Name, Text: agent}, {Text: project}, {Text: title}, {Ink: report.Aside, Text: age}} {
		if p.Text != "" {
			out = append(out, report.Piece{Text: "  "}, p)
		}
	}
	return out
}

// finding says what is wrong with a session, and how it can be repaired.
func (s *stored) finding() []report.Piece {
	var parts []string
	for _, t := range s.tallies {
		parts = append(parts, t.String())
	}
	out := []report.Piece{{Ink: report.Fault, Text: strings.Join(parts, ", ")}}
	if s.mended {
		out = append(out, report.Piece{Text: "; " + s.in.agent + " repairs that itself"})
	}
	if s.repair.what == "" {
		return append(out, report.Piece{Text: "; " + s.repair.none})
	}
	out = append(out, report.Piece{Text: "; "}, report.Piece{Ink: report.Repair, Text: "fix: " + s.repair.what})
	rest := fmt.Sprintf(" (%s)", s.repair.class)
	if s.repair.fewer > 0 {
		rest += fmt.Sprintf("; %d more with --unsafe", s.repair.fewer)
	}
	if n := s.repair.left - s.repair.fewer; n > 0 {
		rest += fmt.Sprintf("; %d left", n)
	}
	return append(out, report.Piece{Text: rest})
}

// command returns the command that repairs a session, or shows what is wrong, with the settings
// of this run.
func (d *doctor) command(s *stored) string {
	out := "toolguard fix --write"
	switch {
	case s.repair.what == "":
		out = "toolguard check"
	case s.repair.asks == operation.Unsafe:
		out += " --unsafe"
	}
	switch {
	case s.repair.what != "" && slices.ContainsFunc(s.tallies, isReasoning):
		out += " --strip-reasoning"
	case s.reasoned && s.repair.what == "":
		out += " --select " + rules.ReplayedReasoning
	}
	if slices.ContainsFunc(s.tallies, func(t report.Tally) bool { return t.Rule == "pending-tool-call" }) {
		out += " --send"
	}
	return out + d.settingsOf(s)
}

// extractCommand returns the command that writes what was said in a session that cannot be repaired, ""
// for others.
func (d *doctor) extractCommand(s *stored) string {
	if s.repair.what != "" || s.reasoned || s.mended {
		return ""
	}
	return "toolguard extract" + d.settingsOf(s)
}

// settingsOf returns how a command names a session, with the settings of this run.
func (d *doctor) settingsOf(s *stored) string {
	out := ""
	if d.flags.config != "" {
		out += " --config " + shellPath(d.flags.config, d.home)
	} else if file, err := d.search.finder.Find(filepath.Dir(s.target.path)); file != nil || err != nil {
		out += " --isolated"
	}
	return out + " " + shellPath(s.target.path, d.home)
}

// shellPath returns a path as a shell reads it. The home directory is ~.
func shellPath(path, home string) string {
	if runtime.GOOS == "windows" {
		return `"` + path + `"`
	}
	begin := ""
	if strings.HasPrefix(path, "-") {
		path = "./" + path // it is no flag
	}
	if rest, ok := strings.CutPrefix(path, home+"/"); ok && home != "" {
		begin, path = "~/", rest
	}
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@%=:,", r)
	}
	switch {
	case strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 && path != "":
		return begin + path
	case report.Printable(path) == path:
		return begin + "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	// A shell does not read what Printable shows of such a path.
	var b strings.Builder
	b.WriteString(begin + "$'")
	for i := range len(path) {
		switch c := path[i]; {
		case c == '\'' || c == '\\':
			b.WriteString(`\` + string(rune(c)))
		case c >= ' ' && c < 0x7f && c != '#' && c != ':':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	return b.String() + "'"
}

// short returns a path for people, in which ~ is the home directory.
func (d *doctor) short(path string) string {
	if rest, ok := strings.CutPrefix(path, d.home+string(filepath.Separator)); ok && d.home != "" {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

// ago describes an age: 2 hours ago.
func ago(age time.Duration) string {
	for _, unit := range []struct {
		name string
		d    time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}} {
		if n := int(age / unit.d); n > 0 {
			return fmt.Sprintf("%d %s ago", n, noun(n, unit.name))
		}
	}
	if age < -time.Minute {
		return "in the future"
	}
	return "just now"
}

// manySessions is how many listed sessions are summed up. Fewer are seen at a glance.
const manySessions = 5

// sum says what is wrong with many listed sessions, "" if there are few.
func (d *doctor) sum(sessions []*stored) string {
	if d.flags.fix.made || len(sessions) < manySessions {
		return ""
	}
	var all [][]report.Tally
	for _, s := range sessions {
		var bad []report.Tally
		for _, t := range s.tallies {
			if s.mended || !s.mends(t) {
				bad = append(bad, t)
			}
		}
		all = append(all, bad)
	}
	return fmt.Sprintf("%s sessions by their main fault: %s. ", grouped(len(sessions)), report.Causes(all))
}

// close says at the end what is wrong with the sessions, and how many can be repaired.
func (d *doctor) close(sessions []*stored) {
	n, unsafe, repaired, inPart, broken, reasoned := 0, 0, 0, 0, 0, 0
	halves, finished := 0, 0 // sessions that would be repaired only in part, and those that --unsafe finishes
	for _, s := range sessions {
		if s.outcome != "" && !s.repaired {
			repaired++
			inPart++
		}
		switch {
		case s.repaired:
			repaired++
			continue
		case s.reasoned:
			reasoned++
		case !s.mended:
			broken++
		}
		switch {
		case s.repair.what == "" || s.inUse != "":
		case s.repair.unsafe:
			unsafe++
		default:
			n++
			if s.repair.left > 0 {
				halves++
			}
			if s.repair.left > 0 && s.repair.left == s.repair.fewer {
				finished++
			}
		}
	}
	d.tellUnsent()
	command := "toolguard doctor --fix"
	if d.flags.strip {
		command += " --strip-reasoning"
	}
	switch {
	case d.flags.fix.made:
		left := "No broken session left"
		if broken > 0 {
			left = fmt.Sprintf("%d broken %s left", broken, noun(broken, "session"))
		}
		if reasoned > 0 {
			left += fmt.Sprintf(", %d with reasoning", reasoned)
		}
		part := ""
		if inPart > 0 {
			part = fmt.Sprintf(", %d of them only in part", inPart)
		}
		d.say(fmt.Sprintf("Repaired %d %s%s. %s.", repaired, noun(repaired, "session"), part, left))
	case n > 0:
		part := ""
		if halves > 0 {
			part = fmt.Sprintf(", %d of them only in part", halves)
		}
		if halves > 0 && halves == finished {
			part += " without --unsafe"
		}
		d.say(d.sum(sessions) + fmt.Sprintf("%s repairs %d of %d%s.", command, n, len(sessions), part))
	case unsafe > 0:
		d.say(d.sum(sessions) + fmt.Sprintf("%s --unsafe repairs %d of %d.", command, unsafe, len(sessions)))
	default:
		d.say(d.sum(sessions))
	}
}

// mostUnsent is how many sessions with results that are not sent are named.
const mostUnsent = 3

// tellUnsent says which sessions have results that their agent does not send, those first that two
// programs seem to have written.
func (d *doctor) tellUnsent() {
	if d.flags.fix.made {
		return
	}
	for i, s := range d.sortedUnsent() {
		if i == mostUnsent {
			d.say(fmt.Sprintf("%d more %s have such results; --json lists them.", len(d.unsent)-i, noun(len(d.unsent)-i, "session")))
			return
		}
		why := ""
		if s.unsent.Mixed {
			why = ", as if two programs wrote the session"
		}
		command := d.showCommand(s)
		d.say(fmt.Sprintf("%s does not send %s on %s%s: %s", s.in.agent, count(s.unsent.Results, "result"), branches(s.unsent.Branches), why, command), command)
	}
}

// branches writes a number of branches.
func branches(n int) string {
	if n == 1 {
		return "1 branch"
	}
	return grouped(n) + " branches"
}

// sortedUnsent returns the sessions with results that are not sent.
func (d *doctor) sortedUnsent() []*stored {
	out := slices.Clone(d.unsent)
	mixed := map[bool]int{false: 1}
	slices.SortStableFunc(out, func(a, b *stored) int {
		return cmp.Or(cmp.Compare(mixed[a.unsent.Mixed], mixed[b.unsent.Mixed]), b.modified.Compare(a.modified), cmp.Compare(a.target.path, b.target.path))
	})
	return out
}

// showCommand returns the command that shows the turns of a session, also those that are not sent.
func (d *doctor) showCommand(s *stored) string {
	return "toolguard show --scope main" + d.settingsOf(s)
}

// A sessionAge is when a session was modified, and what is wrong with it.
type sessionAge struct {
	modified time.Time
	tallies  []report.Tally
	broken   bool
}

// drawAges shows on a terminal which of many sessions are broken, the oldest first. The sentences of
// close name the causes if many are listed.
func (d *doctor) drawAges(sessions []*stored) error {
	if d.flags.fix.made {
		return nil
	}
	slices.SortStableFunc(d.ages, func(a, b *sessionAge) int { return a.modified.Compare(b.modified) })
	var s spread
	for _, age := range d.ages {
		if !age.broken {
			age.tallies = nil
		}
		s.add(age.tallies)
	}
	causes := s.causes()
	if len(sessions) >= manySessions {
		causes = ""
	}
	return d.draw(&s, "session", "the oldest first", causes, d.flags.color)
}

// These are the parts of the JSON document.
type (
	jsonDoctor struct {
		Version  int           `json:"version"`
		Stores   []jsonStore   `json:"stores"`
		Sessions []jsonSession `json:"sessions"`
		Unsent   []jsonUnsent  `json:"unsent"`
		Failed   []jsonFailed  `json:"failed"`
	}
	jsonStore struct {
		Agent    string  `json:"agent"`
		Path     string  `json:"path"`
		RawPath  []byte  `json:"raw_path,omitempty"`
		Sessions int     `json:"sessions"`
		State    string  `json:"state"`
		Broken   int     `json:"broken"`
		Reasoned int     `json:"with_reasoning"`
		Mended   int     `json:"mended"`
		InUse    int     `json:"in_use"`
		Excluded int     `json:"excluded"`
		Unsent   int     `json:"unsent"`
		Instead  *string `json:"instead"`
	}
	jsonSession struct {
		Agent        string        `json:"agent"`
		Path         string        `json:"path"`
		RawPath      []byte        `json:"raw_path,omitempty"`
		Project      *string       `json:"project"`
		Title        *string       `json:"title"`
		Modified     *string       `json:"modified"`
		AgentVersion *string       `json:"agent_version"`
		InUse        bool          `json:"in_use"`
		InUseBy      *string       `json:"in_use_by"`
		Uncut        *string       `json:"uncut"`
		Mended       bool          `json:"mended"`
		Findings     []jsonTally   `json:"findings"`
		Repair       *jsonRepair   `json:"repair"`
		Extract      *string       `json:"extract"`
		Done         *jsonRepaired `json:"done"`
	}
	jsonUnsent struct {
		Agent    string `json:"agent"`
		Path     string `json:"path"`
		RawPath  []byte `json:"raw_path,omitempty"`
		Results  int    `json:"results"`
		Branches int    `json:"branches"`
		Mixed    bool   `json:"mixed"`
		Command  string `json:"command"`
	}
	jsonTally struct {
		Rule  string   `json:"rule"`
		Count int      `json:"count"`
		Tools []string `json:"tools"`
	}
	jsonRepair struct {
		Class   string `json:"class"`
		Command string `json:"command"`
	}
	jsonRepaired struct {
		What   string `json:"what"`
		Backup string `json:"backup"`
	}
	jsonFailed struct {
		Path    string `json:"path"`
		RawPath []byte `json:"raw_path,omitempty"`
		Error   string `json:"error"`
	}
)

// rawPath returns the bytes of a path that JSON cannot hold, nil for one that is UTF-8.
func rawPath(path string) []byte {
	if utf8.ValidString(path) {
		return nil
	}
	return []byte(path)
}

// orNull returns a pointer to a text, nil for "".
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// jsonTime returns a time for the JSON document, nil if its year is none of RFC 3339.
func jsonTime(t time.Time) *string {
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return nil
	}
	return orNull(t.Format(time.RFC3339Nano))
}

// printJSON prints the stores and sessions as one document.
func (d *doctor) printJSON(sessions []*stored) error {
	doc := jsonDoctor{Version: 1, Stores: []jsonStore{}, Sessions: []jsonSession{}, Unsent: []jsonUnsent{}, Failed: nil}
	for _, r := range d.stores {
		x := jsonStore{Agent: r.agent, Path: r.Path, RawPath: rawPath(r.Path), Sessions: r.sessions, State: r.state(), Broken: r.broken, Reasoned: r.reasoned, Mended: r.mended, InUse: r.inUse, Excluded: r.excluded, Unsent: r.unsent}
		if r.unread {
			x.Instead = &r.Store.Instead
		}
		doc.Stores = append(doc.Stores, x)
	}
	for _, s := range sessions {
		x := jsonSession{
			Agent: s.in.agent, Path: s.target.path, RawPath: rawPath(s.target.path), Project: orNull(s.Project), Title: orNull(s.Title), Modified: jsonTime(s.modified),
			Extract: orNull(d.extractCommand(s)), AgentVersion: orNull(s.Version), InUse: s.inUse != "", InUseBy: orNull(s.inUse), Uncut: orNull(s.uncut), Mended: s.mended, Findings: []jsonTally{},
		}
		for _, t := range s.tallies {
			x.Findings = append(x.Findings, jsonTally{Rule: t.Rule, Count: t.Count, Tools: t.Tools})
		}
		if s.repair.what != "" {
			x.Repair = &jsonRepair{s.repair.class.String(), d.command(s)}
		}
		if s.outcome != "" {
			x.Done = &jsonRepaired{s.outcome, s.backup}
		}
		doc.Sessions = append(doc.Sessions, x)
	}
	for _, s := range d.sortedUnsent() {
		doc.Unsent = append(doc.Unsent, jsonUnsent{s.in.agent, s.target.path, rawPath(s.target.path), s.unsent.Results, s.unsent.Branches, s.unsent.Mixed, d.showCommand(s)})
	}
	doc.Failed = d.describeFailed()
	return d.printDocument(doc)
}

// describeFailed returns what failed for the JSON document.
func (d *doctor) describeFailed() []jsonFailed {
	out := []jsonFailed{}
	for _, f := range d.failed {
		out = append(out, jsonFailed{f.Path, rawPath(f.Path), f.Why})
	}
	return out
}

// printFailure prints a document that says only what failed, for an error after which there is
// nothing else to say.
func (d *doctor) printFailure(err error) error {
	if !errors.Is(err, errReported) {
		d.failed = append(d.failed, report.Missed{Why: err.Error()})
	}
	if d.flags.list || d.flags.undoes {
		return d.printRuns([]jsonRun{})
	}
	return d.printJSON(nil)
}

// printDocument prints a JSON document.
func (d *doctor) printDocument(doc any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	d.printed = true
	_, err := d.stdout.Write(report.EscapeJSON(b.Bytes()))
	return err
}
