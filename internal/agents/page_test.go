package agents

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/golden"
)

var (
	keep  = flag.Bool("record", false, "write what real agents do to observations.md, if it does not say that yet")
	again = flag.Bool("again", false, "with -record, also run what observations.md says already")
)

// The tables in observations.md begin with these columns.
const (
	endingsTable = "| agent | ended |"
	faultsTable  = "| agent | ending or fault |"
)

// A row is a row of a table. The first two cells name it, and the last one is the date.
type row []string

// A page is the page with one of the tables, and the lines around it.
type page struct {
	path, table   string
	before, after []string
	columns       int
	rows          []row
}

// readPage reads observations.md.
func readPage(t *testing.T, table string) *page {
	t.Helper()
	p := &page{path: "observations.md", table: table}
	raw, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(raw), "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, table) })
	if i < 0 || i+2 > len(lines) {
		t.Fatalf("%s: expected a table that begins with %s", p.path, table)
	}
	p.columns = strings.Count(lines[i], "|") - 1
	p.before, lines = lines[:i+2], lines[i+2:]
	for len(lines) > 0 && strings.HasPrefix(lines[0], "| ") {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(lines[0], "| "), " |"), " | ")
		if len(cells) != p.columns {
			t.Fatalf("%s: expected %d cells: %s", p.path, p.columns, lines[0])
		}
		p.rows = append(p.rows, cells)
		lines = lines[1:]
	}
	p.after = lines
	return p
}

// String returns the row as a line of the page.
func (r row) String() string {
	cells := slices.Clone(r)
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", "/")
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

// skips reports whether a row is on the page and need not be seen again.
func (p *page) skips(name, ending string) bool {
	return *keep && !*again && slices.ContainsFunc(p.rows, func(r row) bool { return r[0] == name && r[1] == ending })
}

// record compares what was seen with the page. If the page has other versions of the agent
// only, it says what was seen. With -record, the row is put on the page.
func (p *page) record(t *testing.T, r row) {
	t.Helper()
	r = append(r, time.Now().UTC().Format(time.DateOnly))
	if len(r) != p.columns {
		t.Fatalf("expected %d cells: %s", p.columns, r)
	}
	i := slices.IndexFunc(p.rows, func(o row) bool { return o[0] == r[0] && o[1] == r[1] })
	if i >= 0 {
		old := slices.Clone(p.rows[i])
		old[p.columns-1] = r[p.columns-1]
		if old.String() == r.String() && !*keep {
			return
		}
	}
	switch {
	case *keep:
		now := readPage(t, p.table) // another process may have written it meanwhile
		now.rows = append(slices.DeleteFunc(now.rows, func(o row) bool { return o[0] == r[0] && o[1] == r[1] }), r)
		now.write(t)
	case i >= 0:
		t.Errorf("this is not what %s says\nwas %s\nis  %s", p.path, p.rows[i], r)
	default:
		t.Logf("%s does not have this version:\n%s", p.path, r)
	}
}

// write writes the page with the rows of each agent together, in the order of the endings and faults.
func (p *page) write(t *testing.T) {
	t.Helper()
	lines := slices.Clone(p.before)
	for _, a := range slices.Concat(all(), others()) {
		rows := slices.DeleteFunc(slices.Clone(p.rows), func(r row) bool { return !strings.HasPrefix(r[0], a.name+" ") })
		slices.SortStableFunc(rows, func(r, o row) int {
			if r[0] != o[0] || p.table != faultsTable {
				return 0
			}
			return slices.Index(a.faults(), r[1]) - slices.Index(a.faults(), o[1])
		})
		for _, r := range rows {
			lines = append(lines, r.String())
		}
	}
	if err := os.WriteFile(p.path, []byte(strings.Join(append(lines, p.after...), "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestAgentsPage: the page has a row for each agent in the version that setup.sh installs and
// each ending, once, and the repaired session was resumed with a valid request.
func TestAgentsPage(t *testing.T) {
	t.Parallel()
	p := readPage(t, endingsTable)
	seen := map[string]int{}
	for _, r := range p.rows {
		seen[r[0]+": "+r[1]]++
		if repaired := r[5]; !strings.HasPrefix(repaired, "valid: ") || strings.Contains(repaired, "; open") {
			t.Errorf("%s was not resumed: %s", r[0], r)
		}
		if _, err := time.Parse(time.DateOnly, r[p.columns-1]); err != nil {
			t.Error(err)
		}
	}
	for _, a := range all() {
		version := pinned(t, a)
		for _, e := range endings() {
			if key := a.name + " " + version + ": " + e.name; seen[key] != 1 {
				t.Errorf("%s has %d rows for %s", p.path, seen[key], key)
			}
		}
	}
}

// TestObservedPage: the tables in docs/agents.md sum up observations.md.
func TestObservedPage(t *testing.T) {
	goldenTables(t, killedTable(t), marksTable(t), countsTable(t), openTable(t), curedTable(t))
}

// goldenTables compares tables with those in docs/agents.md that have the same first column.
func goldenTables(t *testing.T, tables ...string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "agents.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range tables {
		first := strings.Join(strings.SplitAfterN(want, "|", 3)[:2], "")
		table := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(first) + `.*\n(\|.*\n)*`)
		if len(table.FindAll(raw, -1)) != 1 {
			t.Fatalf("%s: expected one table that begins with %s", path, first)
		}
		raw = table.ReplaceAllLiteral(raw, []byte(want))
	}
	golden.File(t, path, string(raw))
}

// killedTable returns what each agent made of a session that was killed twice, the ending with
// an open call in the middle and one at the end.
func killedTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| agent, killed twice | `check` finds | resumed as it is | repaired and resumed |\n|---|---|---|---|\n")
	for _, r := range readPage(t, endingsTable).rows {
		if r[1] == "killed, resumed and killed again" {
			b.WriteString(row{r[0], r[3], r[4], r[5]}.String() + "\n")
		}
	}
	return b.String()
}

// A sent is what the next request of a session has of its calls.
type sent struct {
	valid   bool
	outputs int    // the outputs of calls in it
	of      int    // the outputs in the file
	filled  int    // the calls with another result
	trouble string // why there is no request
}

// The cells of sessions that trim does not cut, and of those that the test does not read or repair.
const (
	untrimmed = "not cut"
	unread    = "a database"
)

// String returns the cell of a request.
func (s sent) String() string {
	if s.trouble != "" {
		return s.trouble
	}
	cell := fmt.Sprintf("%d of %d", s.outputs, s.of)
	if !s.valid {
		cell = "invalid, " + cell
	}
	if s.filled > 0 {
		cell += fmt.Sprintf(", %d filled", s.filled)
	}
	return cell
}

// readSent reads the cell of a request.
func readSent(t *testing.T, cell string) (s sent) {
	t.Helper()
	s.valid = !strings.HasPrefix(cell, "invalid, ")
	text, filled, _ := strings.Cut(strings.TrimPrefix(cell, "invalid, "), ", ")
	if _, err := fmt.Sscanf(text, "%d of %d", &s.outputs, &s.of); err != nil {
		return sent{trouble: cell}
	}
	if filled != "" {
		if _, err := fmt.Sscanf(filled, "%d filled", &s.filled); err != nil {
			t.Fatalf("expected the number of calls with another result: %s", cell)
		}
	}
	if s.String() != cell {
		t.Fatalf("expected a cell like %q: %s", s, cell)
	}
	return s
}

// whole reports whether a request is valid and has all outputs.
func (s sent) whole() bool { return s.trouble == "" && s.valid && s.outputs == s.of }

// mark returns the mark of a request in docs/agents.md.
func (s sent) mark() string {
	switch {
	case s.trouble == untrimmed, s.trouble == unread:
		return "–"
	case s.trouble != "":
		return "∅"
	case !s.valid:
		return "✗"
	case s.outputs < s.of:
		return strconv.Itoa(s.of - s.outputs)
	case s.filled > 0:
		return "○"
	}
	return "✓"
}

// requests returns the requests of a row with an ending or a fault: from the session as it is, after
// a repair, after one with --unsafe, and after trim.
func requests(t *testing.T, r row) (out []sent) {
	t.Helper()
	for _, cell := range r[4:8] {
		out = append(out, readSent(t, cell))
	}
	return out
}

// marksTable returns what each agent sends from each session, as marks; a session that was not run yet
// has none.
func marksTable(t *testing.T) string {
	t.Helper()
	marks := map[[2]string]string{}
	for _, r := range readPage(t, faultsTable).rows {
		var b strings.Builder
		for _, s := range requests(t, r) {
			b.WriteString(s.mark())
		}
		marks[[2]string{r[0], r[1]}] = "`" + b.String() + "`"
	}
	header, lines := row{"ending or fault"}, map[string]row{}
	names := agent{call: "call", result: "result", omits: "omits"}.faults()
	for _, a := range slices.Concat(all(), others()) {
		name := a.name + " " + pinned(t, a)
		header = append(header, name)
		for _, fault := range names {
			cell := ""
			if slices.Contains(a.faults(), fault) {
				cell = cmp.Or(marks[[2]string{name, fault}], "?")
			}
			lines[fault] = append(lines[fault], cell)
		}
	}
	var b strings.Builder
	b.WriteString(header.String() + "\n|" + strings.Repeat("---|", len(header)) + "\n")
	for _, fault := range names {
		b.WriteString(append(row{fault}, lines[fault]...).String() + "\n")
	}
	return b.String()
}

// countsTable returns how many sessions of each agent lead to a valid request with all outputs.
func countsTable(t *testing.T) string {
	t.Helper()
	var agents []string
	counts := map[string]*[5]int{"all": {}}
	for _, r := range readPage(t, faultsTable).rows {
		if counts[r[0]] == nil {
			agents = append(agents, r[0])
			counts[r[0]] = &[5]int{}
		}
		for _, name := range []string{r[0], "all"} {
			counts[name][0]++
			for i, s := range requests(t, r) {
				if s.whole() {
					counts[name][i+1]++
				}
			}
		}
	}
	var b strings.Builder
	b.WriteString("| agent, all sessions | sessions | as they are | after `doctor --fix` | after `--unsafe` | after `trim` |\n|---|---|---|---|---|---|\n")
	for _, name := range append(agents, "all") {
		c := counts[name]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", name, c[0], c[1], c[2], c[3], c[4])
	}
	return b.String()
}

// openTable returns the sessions that are not whole after a repair with --unsafe, or invalid after trim.
func openTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| agent, session | `check` finds | after `--unsafe` | after `trim` |\n|---|---|---|---|\n")
	for _, r := range readPage(t, faultsTable).rows {
		if all := requests(t, r); !all[2].whole() && all[2].trouble != unread || !all[3].valid && all[3].trouble == "" {
			b.WriteString(row{r[0] + ", " + r[1], r[3], r[6], r[7]}.String() + "\n")
		}
	}
	return b.String()
}

// pinned returns the version of an agent that setup.sh installs.
func pinned(t *testing.T, a agent) string {
	t.Helper()
	setup, err := os.ReadFile("setup.sh")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^\t` + regexp.QuoteMeta(a.module) + `@(\S+)$`).FindSubmatch(setup)
	if m == nil {
		t.Fatalf("setup.sh does not install %s", a.module)
	}
	return string(m[1])
}
