package agents

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFaults runs real agents. It ends their sessions in the middle, or damages their files as crashes
// do, and resumes them as they are, after a repair, after one with --unsafe, and after trim. A repair
// takes no output out of the next request.
func TestFaults(t *testing.T) {
	dir := os.Getenv("TOOLGUARD_AGENTS")
	if dir == "" {
		t.Skip("TOOLGUARD_AGENTS is not set to a directory that internal/agents/setup.sh has filled")
	}
	toolguard := build(t)
	page := readPage(t, faultsTable)
	for _, a := range slices.Concat(all(), others()) {
		version := installed(t, dir, a.module)
		name := a.name + " " + version
		if !slices.ContainsFunc(a.faults(), func(fault string) bool { return !page.skips(name, fault) }) {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			d, path := begun(t, func() *desk { return newDesk(t, a, dir, toolguard) })
			d.pinned, d.left = version == pinned(t, a), 1
			begun, base := d.saved("begun"), d.read(path)
			if a.minutes {
				time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
			}

			try := func(fault string, do func() (home string, log []byte)) {
				if page.skips(name, fault) {
					return
				}
				t.Run(fault, func(t *testing.T) {
					outer := d.t
					d.t = t
					defer func() { d.t = outer }()
					home, log := do()
					page.record(t, append(row{name, fault}, d.harmed(home, path, log)...))
				})
			}
			for _, e := range lastCalls() {
				try(e.name, func() (string, []byte) {
					d.again(begun, path, nil)
					d.ends(e, path)
					return d.saved("ended"), d.read(path)
				})
			}

			// resumes lets the session go on.
			resumes := func(replies ...reply) []byte {
				d.again(begun, path, nil)
				d.model.play(replies...)
				d.talk(a.resume(path, "go further"))
				return d.read(path)
			}
			calls := moreCalls()
			var log []byte
			for try := 1; outputs(log, allCalls()) != 8; try++ { // as in begun
				if try > 3 {
					t.Fatalf("the session has %d outputs of 8", outputs(log, allCalls()))
				}
				log = resumes(reply{"Fourth.", calls[:1]}, reply{"Fifth.", calls[1:3]}, reply{"Sixth.", calls[3:]}, reply{text: "Done again."})
			}
			whole := d.saved("whole")
			for _, h := range a.harms() {
				try(h.name, func() (string, []byte) {
					if h.writers {
						other := resumes(reply{"Other.", []command{commandK()}}, reply{text: "Done beside."})
						return whole, bytes.Join(inTurns(t, base, log, other), nil)
					}
					harmed, err := a.damaged(h, log)
					if err != nil {
						t.Fatal(err)
					}
					return whole, harmed
				})
			}
		})
	}
}

// begun runs a session with the first calls, and returns its path. All outputs are in it: on a busy
// machine Qwen Code sometimes records an empty one, and then there is another session, at most three
// in all.
func begun(t *testing.T, desk func() *desk) (*desk, string) {
	t.Helper()
	calls := firstCalls()
	for try := 1; ; try++ {
		d := desk()
		d.model.play(reply{"First.", calls[:1]}, reply{"Second.", calls[1:3]}, reply{"Third.", calls[3:]}, reply{text: "Done."})
		d.talk(d.agent.start("begin"))
		path := d.log()
		n := outputs(d.read(path), calls)
		if n == len(calls) {
			return d, path
		}
		if try == 3 {
			t.Fatalf("the session has %d outputs of %d", n, len(calls))
		}
		t.Logf("%s has recorded %d outputs of %d", d.agent.program, n, len(calls))
	}
}

// saved copies the home of the agent, and returns the copy.
func (d *desk) saved(name string) string {
	d.t.Helper()
	path := d.home + "." + name
	if err := os.RemoveAll(path); err != nil {
		d.t.Fatal(err)
	}
	d.copy(d.home, path)
	return path
}

// ends resumes a session until it ends. After an answer that breaks off, the agent asks again; the
// second time, it is killed.
func (d *desk) ends(e ending, path string) {
	d.t.Helper()
	d.model.play(append(slices.Clone(e.script), reply{text: "Done again."})...)
	if e.name != brokenAnswer {
		d.interrupt(d.agent.resume(path, "go further"), "started-c", e.signal)
		return
	}
	d.model.tear(commandJ())
	cmd, out, done := d.start(d.agent.resume(path, "go further"))
	for limit := time.Now().Add(patience); d.model.tornAnswers() < 2 && time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
		select {
		case <-done: // it gives up
			limit = time.Now()
		default:
		}
	}
	if d.model.tornAnswers() == 0 {
		d.t.Errorf("no answer broke off:\n%s", out)
	}
	d.settle()
	syscall.Kill(-cmd.Process.Pid, e.signal) //nolint:errcheck // it may have ended by now
	d.clear()
	<-done
}

// harmed resumes a session with a fault, and returns the cells of its row.
func (d *desk) harmed(home, path string, log []byte) []string {
	d.t.Helper()
	commands := allCalls()
	put := func() {
		d.again(home, path, nil)
		if !bytes.Equal(d.read(path), log) {
			if err := os.WriteFile(path, log, 0o600); err != nil {
				d.t.Fatal(err)
			}
		}
		past := time.Now().Add(-time.Hour)
		if err := os.Chtimes(path, past, past); err != nil {
			d.t.Fatal(err)
		}
	}
	put()
	has := outputs(log, commands)
	cells := []string{strconv.Itoa(has)}
	sends := func(has int) sent {
		s := d.sent(path, has)
		cells = append(cells, s.String())
		return s
	}
	if d.agent.database != "" {
		cells = append(cells, unread)
		sends(has)
		d.alone()
		return append(cells, unread, unread, unread)
	}
	cells = append(cells, summary(d.check(path)))
	before := sends(has)
	put()
	d.repair(path)
	fixed := sends(has)
	put()
	d.repair(path, "--unsafe")
	sends(has)
	put()
	if _, says := d.run(2, "trim", "--keep-last-user", "1", "--write", path); bytes.Equal(d.read(path), log) {
		d.t.Logf("trim: %s", says)
		cells = append(cells, untrimmed)
	} else {
		sends(outputs(d.read(path), commands))
	}
	if fixed.outputs < before.outputs {
		d.t.Errorf("the request of the repaired session has %d results, and that of the damaged one %d", fixed.outputs, before.outputs)
	}
	d.alone()
	return cells
}

// sent resumes a session whose file has some outputs, and says what was sent.
func (d *desk) sent(path string, has int) sent {
	d.t.Helper()
	commands := allCalls()
	next := d.resumed(path, commands)
	if next.request == nil {
		return sent{of: has, trouble: next.String()}
	}
	s := sent{valid: len(next.faults) == 0, outputs: outputs(next.request.body, commands), of: has}
	for _, fault := range next.faults {
		d.t.Logf("the model refuses the request: %s", fault)
	}
	for _, c := range commands {
		text, answered := next.results[c.id]
		switch {
		case next.called[c.id] && !answered:
			s.valid = false
		case answered && (c.output() == "" || !strings.Contains(text, c.output())):
			s.filled++
		}
	}
	for _, fault := range errorsOf(d.t, next.request.wire, next.request.body) {
		if s.valid {
			d.t.Errorf("toolguard rejects a request that the model accepts: %s", fault)
		}
	}
	return s
}
