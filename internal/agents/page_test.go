package agents

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write what TestAgents sees to docs/agents.md")

// A row is a row of the table in docs/agents.md.
type row struct {
	agent, ended, log, check, asItIs, repaired, date string
}

// A page is the page with the table, and the lines around it.
type page struct {
	path          string
	before, after []string
	rows          []row
}

// readPage reads docs/agents.md. The table on it begins with the cell "agent".
func readPage(t *testing.T) *page {
	t.Helper()
	p := &page{path: filepath.Join("..", "..", "docs", "agents.md")}
	raw, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(raw), "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "| agent ") })
	if i < 0 || i+2 > len(lines) {
		t.Fatalf("%s: expected a table that begins with the column agent", p.path)
	}
	p.before, lines = lines[:i+2], lines[i+2:]
	for len(lines) > 0 && strings.HasPrefix(lines[0], "| ") {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(lines[0], "| "), " |"), " | ")
		if len(cells) != 7 {
			t.Fatalf("%s: expected seven cells: %s", p.path, lines[0])
		}
		p.rows = append(p.rows, row{cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6]})
		lines = lines[1:]
	}
	p.after = lines
	return p
}

// String returns the row as a line of the page.
func (r row) String() string {
	cells := []string{r.agent, r.ended, r.log, r.check, r.asItIs, r.repaired, r.date}
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", "/")
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

// record compares what was seen with the page. If the page has other versions of the agent
// only, it says what was seen. With -update, the row is put on the page.
func (p *page) record(t *testing.T, r row) {
	t.Helper()
	r.date = time.Now().UTC().Format(time.DateOnly)
	i := slices.IndexFunc(p.rows, func(o row) bool { return o.agent == r.agent && o.ended == r.ended })
	if i >= 0 {
		old := p.rows[i]
		old.date = r.date
		if old.String() == r.String() {
			return
		}
	}
	switch {
	case *update && i >= 0:
		p.rows[i] = r
	case *update:
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
			if strings.HasPrefix(r.agent, a.name+" ") {
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
	p := readPage(t)
	seen := map[string]int{}
	for _, r := range p.rows {
		seen[r.agent+": "+r.ended]++
		if !strings.HasPrefix(r.repaired, "valid: ") || strings.Contains(r.repaired, "; open") {
			t.Errorf("%s was not resumed: %s", r.agent, r)
		}
		if _, err := time.Parse(time.DateOnly, r.date); err != nil {
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
