package agents

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/golden"
)

var keep = flag.Bool("record", false, "write what real agents do to observations.md")

// The tables in observations.md begin with these columns.
const (
	endingsTable = "| agent | ended |"
	faultsTable  = "| agent | fault of the file |"
)

// A row is a row of a table. The first two cells name it, and the last one is the date.
type row []string

// A page is the page with one of the tables, and the lines around it.
type page struct {
	path          string
	before, after []string
	columns       int
	rows          []row
}

// readPage reads observations.md.
func readPage(t *testing.T, table string) *page {
	t.Helper()
	p := &page{path: "observations.md"}
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
		if old.String() == r.String() {
			return
		}
	}
	switch {
	case *keep && i >= 0:
		p.rows[i] = r
	case *keep:
		p.rows = append(p.rows, r)
	case i >= 0:
		t.Errorf("this is not what %s says\nwas %s\nis  %s", p.path, p.rows[i], r)
	default:
		t.Logf("%s does not have this version:\n%s", p.path, r)
	}
}

// write writes the page with the rows of each agent together.
func (p *page) write(t *testing.T) {
	t.Helper()
	lines := slices.Clone(p.before)
	for _, a := range all() {
		for _, r := range p.rows {
			if strings.HasPrefix(r[0], a.name+" ") {
				lines = append(lines, r.String())
			}
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

// TestObservedPage: the tables in docs/formats.md sum up observations.md.
func TestObservedPage(t *testing.T) {
	goldenTables(t, killedTable(t), damagedTable(t))
}

// goldenTables compares tables with those in docs/formats.md that have the same first column.
func goldenTables(t *testing.T, tables ...string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "formats.md")
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

// damagedTable returns how many outputs each agent sends from a damaged file.
func damagedTable(t *testing.T) string {
	t.Helper()
	var agents, faults []string
	cells := map[[2]string]string{}
	for _, r := range readPage(t, faultsTable).rows {
		if !slices.Contains(agents, r[0]) {
			agents = append(agents, r[0])
		}
		if !slices.Contains(faults, r[1]) {
			faults = append(faults, r[1])
		}
		steps := slices.DeleteFunc(slices.Clone(r[4:7]), func(s string) bool { return s == "–" })
		cells[[2]string{r[0], r[1]}] = strings.Join(slices.Compact(steps), " → ")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| fault of the file | %s |\n|---|%s\n", strings.Join(agents, " | "), strings.Repeat("---|", len(agents)))
	for _, fault := range faults {
		out := row{fault}
		for _, a := range agents {
			out = append(out, cmp.Or(cells[[2]string{a, fault}], "–"))
		}
		b.WriteString(out.String() + "\n")
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
