package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// TestDatabases damages the rows of sessions of real agents that have a database, and resumes the sessions as they
// are, and after toolguard-sqlite fix. The agent keeps what was repaired, and does not replay its own log of events.
func TestDatabases(t *testing.T) {
	dir := os.Getenv("TOOLGUARD_AGENTS")
	if dir == "" {
		t.Skip("TOOLGUARD_AGENTS is not set to a directory that internal/agents/setup.sh has filled")
	}
	toolguard := build(t)
	if out, err := exec.Command("go", "-C", filepath.Join("..", "..", "sqlite"), "build", "-o", toolguard+"-sqlite", "./cmd/toolguard-sqlite").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	page := readPage(t, databasesTable)
	for _, a := range others() {
		if a.damages == nil {
			continue
		}
		version := installed(t, dir, a.module)
		name := a.name + " " + version
		if !slices.ContainsFunc(a.damages(), func(d rowDamage) bool { return !page.skips(name, d.name) }) {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			d, path := begun(t, func() *desk { return newDesk(t, a, dir, toolguard) })
			d.pinned = version == pinned(t, a)
			calls := moreCalls()
			d.model.play(reply{"Fourth.", calls[:1]}, reply{"Fifth.", calls[1:3]}, reply{"Sixth.", calls[3:]}, reply{text: "Done again."})
			d.talk(a.resume(path, "go further"))
			whole := d.saved("whole")
			for _, x := range a.damages() {
				if page.skips(name, x.name) {
					continue
				}
				t.Run(x.name, func(t *testing.T) {
					outer := d.t
					d.t = t
					defer func() { d.t = outer }()
					page.record(t, append(row{name, x.name}, d.inDatabase(whole, path, x)...))
				})
			}
		})
	}
}

// inDatabase resumes a session with a damage, and returns the cells of its row.
func (d *desk) inDatabase(home, path string, x rowDamage) []string {
	d.t.Helper()
	put := func() {
		d.again(home, path, nil)
		const script = `const { DatabaseSync } = require("node:sqlite"); const db = new DatabaseSync(process.argv[1]);
			db.function("unzip", b => require("node:zlib").zstdDecompressSync(b).toString()); db.exec(process.argv[2]); db.close()`
		cmd := exec.Command("env", "node", "-e", script, path, x.sql) // the node of the agents
		cmd.Env = d.env
		if out, err := cmd.CombinedOutput(); err != nil {
			d.t.Fatalf("%v\n%s", err, out)
		}
	}
	put()
	text, _ := d.sqlite(2, "dump", path)
	has := outputs([]byte(text), allCalls())
	cells := []string{strconv.Itoa(has), d.findings(path)}
	sends := func() sent {
		s := d.sent(path, has)
		if s.trouble != "" { // what the agent prints has paths in it
			s.trouble = "no request"
		}
		return s
	}
	before := sends()
	put()
	_, says := d.sqlite(2, "fix", "--write", "--unsafe", "--provider", "openai", path)
	d.t.Log(says)
	left := d.findings(path)
	after := sends()
	if now := d.findings(path); now != left {
		d.t.Errorf("the session has %s after its repair, and %s after it was resumed", left, now)
	}
	if after.outputs < before.outputs {
		d.t.Errorf("the request of the repaired session has %d results, and that of the damaged one %d", after.outputs, before.outputs)
	}
	d.alone()
	return append(cells, before.String(), after.String())
}

// findings returns what toolguard finds in a database.
func (d *desk) findings(path string) string {
	d.t.Helper()
	out, stderr := d.sqlite(2, "check", "--provider", "openai", "-o", "json", path)
	var report struct {
		Findings []finding
		Failed   []struct{ Error string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		d.t.Fatalf("toolguard-sqlite check: %v\n%s%s", err, out, stderr)
	}
	if len(report.Failed) > 0 {
		return "a row that is not JSON"
	}
	return summary(report.Findings)
}

// sqlite runs toolguard-sqlite in the home of the agent.
func (d *desk) sqlite(highest int, args ...string) (stdout, stderr string) {
	d.t.Helper()
	cmd := exec.Command(d.toolguard+"-sqlite", args...)
	var out, err bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = d.home, []string{"HOME=" + d.home}, &out, &err
	var exit *exec.ExitError
	if e := cmd.Run(); e != nil && (!errors.As(e, &exit) || exit.ExitCode() > highest || exit.ExitCode() < 0) {
		d.t.Fatalf("toolguard-sqlite %q: %v\n%s%s", args, e, &out, &err)
	}
	return out.String(), err.String()
}
