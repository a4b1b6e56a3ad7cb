package agents

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// TestTrimmed lets real agents work for three prompts, cuts their sessions before the second one, and
// resumes them: the next request is valid, begins with the second prompt and has its results.
func TestTrimmed(t *testing.T) {
	dir := os.Getenv("TOOLGUARD_AGENTS")
	if dir == "" {
		t.Skip("TOOLGUARD_AGENTS is not set to a directory that internal/agents/setup.sh has filled")
	}
	toolguard := build(t)
	for _, a := range all() {
		if a.name == "Kimi" || a.name == "Gemini CLI" {
			continue // its sessions are not trimmed, or not once they were resumed
		}
		t.Run(a.name, func(t *testing.T) {
			d := newDesk(t, a, dir, toolguard)
			t.Logf("%s %s", a.name, installed(t, dir, a.module))
			d.model.play(reply{"First.", []command{commandA()}}, reply{text: "Done with one."})
			d.talk(a.start("prompt-one"))
			path := d.newest()
			d.model.play(reply{"Second.", []command{commandB(), commandE()}}, reply{text: "Done with two."})
			d.talk(a.resume(path, "prompt-two"))
			path = d.newest()
			d.model.play(reply{"Third.", []command{commandF()}}, reply{text: "Done with three."})
			d.talk(a.resume(path, "prompt-three"))
			path = d.newest()
			was := d.read(path)
			for _, c := range []command{commandA(), commandB(), commandE(), commandF()} {
				if !bytes.Contains(was, []byte(c.line)) {
					t.Fatalf("the session has no call %s", c.letter())
				}
			}
			past := time.Now().Add(-time.Hour)
			if err := os.Chtimes(path, past, past); err != nil {
				t.Fatal(err)
			}
			_, says := d.run(0, "trim", "--keep-last-user", "2", "--write", path)
			t.Log(says)
			next := d.resumed(path, []command{commandA(), commandB(), commandE(), commandF()})
			if next.request == nil {
				t.Fatalf("the trimmed session is not resumed: %s", next.trouble)
			}
			for _, fault := range next.faults {
				t.Errorf("the request of the trimmed session is invalid: %s", fault)
			}
			for _, fault := range errorsOf(t, next.request.wire, next.request.body) {
				t.Errorf("toolguard rejects the request of the trimmed session: %s", fault)
			}
			body := string(next.request.body)
			if next.called["tga"] || strings.Contains(body, "prompt-one") || !strings.Contains(body, "prompt-two") || !strings.Contains(body, "prompt-three") {
				t.Errorf("the request has prompts %v %v %v", strings.Contains(body, "prompt-one"), strings.Contains(body, "prompt-two"), strings.Contains(body, "prompt-three"))
			}
			for _, c := range []command{commandB(), commandE(), commandF()} {
				if bytes.Contains(was, []byte(c.output())) && !strings.Contains(next.results[c.id], c.output()) {
					t.Errorf("the request has %q as the result of %s", next.results[c.id], c.letter())
				}
			}
			for _, f := range d.check(path) {
				if f.Severity == "error" {
					t.Errorf("the resumed session: %s", f.Message)
				}
			}
			d.alone()
		})
	}
}

// newest returns the session that was written last.
func (d *desk) newest() (newest string) {
	d.t.Helper()
	var at time.Time
	for _, path := range d.logs() {
		info, err := os.Stat(path)
		if err != nil {
			d.t.Fatal(err)
		}
		if !info.ModTime().Before(at) {
			newest, at = path, info.ModTime()
		}
	}
	if newest == "" {
		d.t.Fatalf("%s keeps no session", d.agent.name)
	}
	return newest
}

// talk runs the agent to its end.
func (d *desk) talk(args []string) {
	d.t.Helper()
	_, out, done := d.start(args)
	select {
	case <-done:
	case <-time.After(patience):
		d.t.Errorf("%s does not end", d.agent.program)
	}
	d.clear()
	<-done
	if len(d.model.seen()) == 0 {
		d.t.Fatalf("%s sends no request:\n%s", d.agent.program, out)
	}
}
