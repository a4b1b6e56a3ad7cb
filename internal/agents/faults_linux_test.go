package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// unneeded is the cell of a repair that was not made, because another one had sufficed.
const unneeded = "–"

// A harm is a fault that a crash, a full disk or a second process leaves in the file of a session.
type harm struct {
	name string
	// apart says that only sessions can have the fault in which a result is not in the record of its call.
	apart bool
	// edits says that only sessions can have it whose records can take out others.
	edits bool
	do    func(a agent, lines [][]byte) [][]byte
}

// harms returns the faults. The sessions have the calls a, then b and e in one turn, then f, and
// all results.
func harms() []harm {
	return []harm{
		{name: "a result is lost", apart: true, do: func(a agent, lines [][]byte) [][]byte { return a.lose(lines, a.resultOf(lines, commandB())) }},
		{name: "a call is lost", apart: true, do: func(a agent, lines [][]byte) [][]byte { return a.lose(lines, a.callOf(lines, commandA())) }},
		{name: "the last line is torn", do: func(a agent, lines [][]byte) [][]byte {
			i := a.resultOf(lines, commandF())
			return append(slices.Clone(lines[:i]), torn(lines[i], commandF()))
		}},
		{name: "a record is behind a torn one", do: func(a agent, lines [][]byte) [][]byte {
			i := a.resultOf(lines, commandF())
			out := slices.Clone(lines)
			out[i] = slices.Concat(torn(lines[i], commandF()), lines[i])
			return out
		}},
		{name: "a line of NULs", do: func(a agent, lines [][]byte) [][]byte {
			return slices.Insert(slices.Clone(lines), a.resultOf(lines, commandF()), append(make([]byte, 512), '\n'))
		}},
		{name: "a result is NULs", do: func(a agent, lines [][]byte) [][]byte {
			i := a.resultOf(lines, commandB())
			out := slices.Clone(lines)
			out[i] = append(make([]byte, len(lines[i])-1), '\n')
			return out
		}},
		{name: "a record occurs twice", do: func(a agent, lines [][]byte) [][]byte {
			i := a.resultOf(lines, commandA())
			return slices.Insert(slices.Clone(lines), i, lines[i])
		}},
		{name: "a call has two results", apart: true, do: func(a agent, lines [][]byte) [][]byte {
			i := a.resultOf(lines, commandA())
			twin := lines[i]
			if id, _ := a.ids(twin); id != "" {
				other := id[:len(id)-4] + "ffff"
				twin = bytes.Replace(twin, a.key(1, a.parent(twin)), a.key(1, id), 1)
				twin = bytes.Replace(twin, a.key(0, id), a.key(0, other), 1)
				lines = a.relinked(lines, id, other)
			}
			return slices.Insert(slices.Clone(lines), i+1, twin)
		}},
		{name: "a call is taken out", apart: true, edits: true, do: func(a agent, lines [][]byte) [][]byte {
			target, _ := a.ids(lines[a.callOf(lines, commandA())])
			parent, _ := a.ids(lines[len(lines)-1])
			record := strings.NewReplacer("$target", target, "$parent", parent).Replace(a.omits)
			return append(slices.Clone(lines), []byte(record+"\n"))
		}},
	}
}

// harms returns the faults that sessions of the agent can have.
func (a agent) harms() []harm {
	return slices.DeleteFunc(harms(), func(h harm) bool {
		return h.apart && a.call == a.result || h.edits && a.omits == ""
	})
}

// callOf returns the index of the line with a call.
func (a agent) callOf(lines [][]byte, c command) int { return having(lines, a.call, c.line) }

// resultOf returns the index of the line with the result of a call.
func (a agent) resultOf(lines [][]byte, c command) int { return having(lines, a.result, c.output()) }

// having returns the index of the first line with all texts, -1 if there is none.
func having(lines [][]byte, texts ...string) int {
	return slices.IndexFunc(lines, func(line []byte) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return !bytes.Contains(line, []byte(text)) })
	})
}

// torn returns the beginning of a line, without the output of a command.
func torn(line []byte, c command) []byte {
	before, _, _ := bytes.Cut(line, []byte(c.output()))
	return before
}

// ids returns the id of a record and that of its parent, "" if records have none.
func (a agent) ids(line []byte) (id, parent string) {
	fields := map[string]any{}
	if a.link[0] == "" || json.Unmarshal(line, &fields) != nil {
		return "", ""
	}
	id, _ = fields[a.link[0]].(string)
	parent, _ = fields[a.link[1]].(string)
	return id, parent
}

func (a agent) parent(line []byte) string {
	_, parent := a.ids(line)
	return parent
}

// key returns the field with an id of a record (0) or of its parent (1).
func (a agent) key(i int, id string) []byte { return fmt.Appendf(nil, "%q:%q", a.link[i], id) }

// relinked gives the children of a record another parent.
func (a agent) relinked(lines [][]byte, from, to string) (out [][]byte) {
	for _, line := range lines {
		out = append(out, bytes.Replace(line, a.key(1, from), a.key(1, to), 1))
	}
	return out
}

// lose removes a record as if it had never been written: its children get its parent.
func (a agent) lose(lines [][]byte, i int) [][]byte {
	out := slices.Delete(slices.Clone(lines), i, i+1)
	if id, parent := a.ids(lines[i]); id != "" {
		out = a.relinked(out, id, parent)
	}
	return out
}

// TestFaults runs real agents, damages the files of their sessions as crashes do, and resumes them
// as they are, after a repair, and, if that did not bring all results into the request, after one
// with --unsafe. The last request must be valid and have each result that the file has.
func TestFaults(t *testing.T) {
	dir := os.Getenv("TOOLGUARD_AGENTS")
	if dir == "" {
		t.Skip("TOOLGUARD_AGENTS is not set to a directory that internal/agents/setup.sh has filled")
	}
	toolguard := build(t)
	page := readPage(t, faultsTable)
	for _, a := range all() {
		t.Run(a.name, func(t *testing.T) {
			version := installed(t, dir, a.module)
			d := newDesk(t, a, dir, toolguard)
			d.pinned, d.left = version == pinned(t, a), 1
			commands := []command{commandA(), commandB(), commandE(), commandF()}
			d.model.play(reply{"First.", commands[:1]}, reply{"Second.", commands[1:3]}, reply{"Third.", commands[3:]}, reply{text: "Done."})
			_, out, done := d.start(a.start("begin"))
			select {
			case <-done:
			case <-time.After(90 * time.Second):
				d.clear()
				<-done
				t.Fatalf("%s does not end:\n%s", a.program, out)
			}
			path, aside := d.log(), d.home+".aside"
			log := d.read(path)
			if n := outputs(log, commands); n != len(commands) {
				t.Fatalf("the session has %d outputs of %d:\n%s", n, len(commands), out)
			}
			d.copy(d.home, aside)
			for _, h := range a.harms() {
				t.Run(h.name, func(t *testing.T) {
					lines := h.do(a, slices.Collect(bytes.Lines(log)))
					outer := d.t
					d.t = t
					defer func() { d.t = outer }()
					page.record(t, append(row{a.name + " " + version, h.name}, d.harmed(aside, path, bytes.Join(lines, nil), commands)...))
				})
			}
		})
	}
	if *keep {
		page.write(t)
	}
}

// harmed resumes a session with a fault, and returns the cells of its row.
func (d *desk) harmed(aside, path string, log []byte, commands []command) []string {
	d.t.Helper()
	has := outputs(log, commands)
	cells := []string{strconv.Itoa(has)}
	var finds string
	sends := func(repair bool, flags ...string) (n int, valid bool) {
		d.again(aside, path, nil)
		if err := os.WriteFile(path, log, 0o600); err != nil {
			d.t.Fatal(err)
		}
		if finds == "" {
			finds = summary(d.check(path))
			cells = append(cells, finds)
		}
		if repair {
			d.repair(path, flags...)
		}
		next := d.resumed(path, commands)
		if next.request == nil {
			cells = append(cells, next.String())
			return 0, false
		}
		n, valid = outputs(next.request.body, commands), true
		for _, fault := range append(next.faults, errorsOf(d.t, next.request.wire, next.request.body)...) {
			d.t.Logf("repaired: %t %q, fault: %s", repair, flags, fault)
			valid = false
		}
		for _, c := range commands {
			if _, answered := next.results[c.id]; next.called[c.id] && !answered {
				valid = false
			}
		}
		cell := fmt.Sprintf("%d of %d", n, has)
		if !valid {
			cell = "invalid, " + cell
		}
		cells = append(cells, cell)
		return n, valid
	}
	before, _ := sends(false)
	n, valid := sends(true)
	if n < before {
		d.t.Errorf("the request of the repaired session has %d results, and that of the damaged one %d", n, before)
	}
	if valid && n == has {
		cells = append(cells, unneeded)
	} else {
		n, valid = sends(true, "--unsafe")
	}
	if !valid || n != has {
		d.t.Errorf("the file has %d results, and the request of the repaired session %d: %q", has, n, cells)
	}
	d.alone()
	return cells
}

// outputs returns how many of the outputs of commands are in a text.
func outputs(text []byte, commands []command) (n int) {
	for _, c := range commands {
		if bytes.Contains(text, []byte(c.output())) {
			n++
		}
	}
	return n
}

// TestFaultsPage: the page has a row for each agent in the version that setup.sh installs and each
// fault that its sessions can have, once, and the last repair led to a valid request.
func TestFaultsPage(t *testing.T) {
	t.Parallel()
	p := readPage(t, faultsTable)
	seen := map[string]int{}
	for _, r := range p.rows {
		seen[r[0]+": "+r[1]]++
		last := r[6]
		if last == unneeded {
			last = r[5]
		}
		has, err := strconv.Atoi(r[2])
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%d of %d", has, has); last != want {
			t.Errorf("expected a request with %s outputs: %s", want, r)
		}
		if before, after := outputsIn(r[4]), outputsIn(r[5]); before < 0 || after < before {
			t.Errorf("the repair takes outputs out of the request: %s", r)
		}
		if _, err := time.Parse(time.DateOnly, r[p.columns-1]); err != nil {
			t.Error(err)
		}
	}
	for _, a := range all() {
		version := pinned(t, a)
		for _, h := range a.harms() {
			if key := a.name + " " + version + ": " + h.name; seen[key] != 1 {
				t.Errorf("%s has %d rows for %s", p.path, seen[key], key)
			}
		}
	}
}

// outputsIn returns the number of outputs that a cell of a request says, -1 if it says none.
func outputsIn(cell string) int {
	var n, of int
	if _, err := fmt.Sscanf(strings.TrimPrefix(cell, "invalid, "), "%d of %d", &n, &of); err != nil {
		return -1
	}
	return n
}

// TestHarms: each fault changes a file as it says, and the links of the records that are left.
func TestHarms(t *testing.T) {
	t.Parallel()
	a := agent{call: `"call"`, result: `"result"`, link: [2]string{"id", "up"}, omits: `{"id":"6-0006","up":"$parent","omits":"$target"}`}
	log := strings.Join([]string{
		`{"id":"1-0001","call":"printf 'real-%s-a' 42"}`,
		`{"id":"2-0002","up":"1-0001","result":"real-42-a"}`,
		`{"id":"3-0003","up":"2-0002","result":"real-42-b"}`,
		`{"id":"4-0004","up":"3-0003","result":"real-42-f"}`,
		`{"id":"5-0005","up":"4-0004"}`,
	}, "\n") + "\n"
	nuls := strings.Repeat("\x00", 512)
	for name, edit := range map[string][]string{ // what is replaced by what
		"a result is lost": {`{"id":"3-0003","up":"2-0002","result":"real-42-b"}` + "\n", "", `"up":"3-0003"`, `"up":"2-0002"`},
		"a call is lost":   {`{"id":"1-0001","call":"printf 'real-%s-a' 42"}` + "\n", "", `"up":"1-0001"`, `"up":""`},
		"the last line is torn": {
			`real-42-f"}` + "\n" + `{"id":"5-0005","up":"4-0004"}` + "\n", "",
		},
		"a record is behind a torn one": {
			`{"id":"4-0004"`, `{"id":"4-0004","up":"3-0003","result":"{"id":"4-0004"`,
		},
		"a line of NULs":   {`{"id":"4-0004"`, nuls + "\n" + `{"id":"4-0004"`},
		"a result is NULs": {`{"id":"3-0003","up":"2-0002","result":"real-42-b"}`, nuls[:50]},
		"a record occurs twice": {
			`{"id":"2-0002","up":"1-0001","result":"real-42-a"}`,
			`{"id":"2-0002","up":"1-0001","result":"real-42-a"}` + "\n" + `{"id":"2-0002","up":"1-0001","result":"real-42-a"}`,
		},
		"a call has two results": {
			`{"id":"2-0002","up":"1-0001","result":"real-42-a"}`,
			`{"id":"2-0002","up":"1-0001","result":"real-42-a"}` + "\n" + `{"id":"2-ffff","up":"2-0002","result":"real-42-a"}`,
			`{"id":"3-0003","up":"2-0002"`, `{"id":"3-0003","up":"2-ffff"`,
		},
		"a call is taken out": {
			`{"id":"5-0005","up":"4-0004"}`, `{"id":"5-0005","up":"4-0004"}` + "\n" + `{"id":"6-0006","up":"5-0005","omits":"1-0001"}`,
		},
	} {
		i := slices.IndexFunc(harms(), func(h harm) bool { return h.name == name })
		if i < 0 {
			t.Fatalf("there is no fault %q", name)
		}
		got := string(bytes.Join(harms()[i].do(a, slices.Collect(bytes.Lines([]byte(log)))), nil))
		if diff := cmp.Diff(strings.NewReplacer(edit...).Replace(log), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if n := len(a.harms()); n != 9 {
		t.Errorf("%d faults are tested, and there are %d", 9, n)
	}
	a.omits = ""
	if n := len(a.harms()); n != 8 {
		t.Errorf("records without edits can have %d faults", n)
	}
	a.result = a.call
	if n := len(a.harms()); n != 5 {
		t.Errorf("records with calls and results can have %d faults", n)
	}
}
