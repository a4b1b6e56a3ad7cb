package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/store"
)

// TestDoctorOddNames: an agent may give a session any name that its file system allows.
func TestDoctorOddNames(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	longest := strings.Repeat("n", 255-len(".jsonl"))
	for _, name := range []string{
		".claude/projects/-srv/" + longest, ".claude/projects/.hidden/a", ".claude/projects/node_modules/a",
		".claude/projects/-srv/.b/node_modules/a",
	} {
		p.put(t, name+".jsonl", transcriptFile(t, brokenSession))
	}
	// Names of locks are made of the name of the session.
	p.put(t, ".openclaw/agents/a/sessions/"+longest+".jsonl", transcriptFile(t, "pi/broken/session-1-missing.jsonl"))
	p.put(t, ".claude/projects/.git/a.jsonl", transcriptFile(t, brokenSession)) // it belongs to git
	before := p.snapshot(t)
	code, doc := p.jsonOf(t, "--fix", "--yes")
	if code != exitOK || len(doc.Sessions) != 5 {
		t.Errorf("exit code %d, %d sessions", code, len(doc.Sessions))
	}
	for _, s := range doc.Sessions {
		if s.Done == nil {
			t.Errorf("%s is not repaired", s.Path)
		}
	}
	if code, _, stderr := p.doctor(t, "--undo"); code != exitOK || !strings.Contains(stderr, "Restored 5 of 5 files") {
		t.Errorf("--undo: exit code %d, %s", code, stderr)
	}
	if after := p.snapshot(t); len(after) != len(before) {
		t.Errorf("%d files, want %d", len(after), len(before))
	}
}

// TestDoctorOddTimes: no modification time hides a session or spoils the document.
func TestDoctorOddTimes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		at              time.Time
		inUse, modified string // "null" if the document cannot say it
	}{
		{time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC), "null", `"1970-01-01T00:00:00Z"`},
		{time.Date(9999, 12, 30, 0, 0, 0, 0, time.UTC), `"its modification time is in the future"`, `"9999-12-30T00:00:00Z"`},
		{time.Date(10000, 6, 1, 0, 0, 0, 0, time.UTC), `"its modification time is in the future"`, "null"},
		{time.Date(-1199, 6, 1, 0, 0, 0, 0, time.UTC), "null", "null"},
	} {
		s := &session{modified: tt.at}
		s.inUse = new(store.Store).InUse(store.Session{}, tt.at, time.Now(), nil)
		text, err := json.Marshal(struct {
			By       *string
			Modified *string
		}{orNull(s.inUse), jsonTime(s.modified)})
		if want := `{"By":` + tt.inUse + `,"Modified":` + tt.modified + `}`; err != nil || string(text) != want {
			t.Errorf("%v: %s, %v, want %s", tt.at, text, err, want)
		}
	}
}

// TestDoctorAlwaysOneDocument: --json prints one document with the reason after an error too.
func TestDoctorAlwaysOneDocument(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args   []string
		before func(*testing.T, *patient)
		reason string
	}{
		"nothing to undo":  {[]string{"--undo"}, func(*testing.T, *patient) {}, "there is no run to undo"},
		"unknown run":      {[]string{"--undo=x"}, func(*testing.T, *patient) {}, "no run is called"},
		"no directory":     {[]string{"--path", "/no/such"}, func(*testing.T, *patient) {}, "no such file or directory"},
		"no home":          {[]string{"--list"}, func(_ *testing.T, p *patient) { p.home = "none" }, "no state directory"},
		"no home for undo": {[]string{"--undo"}, func(_ *testing.T, p *patient) { p.home = "relative" }, "no state directory"},
		"config": {nil, func(t *testing.T, p *patient) {
			t.Helper()
			p.put(t, ".claude/projects/-srv/a.jsonl", transcriptFile(t, brokenSession))
			p.put(t, ".claude/projects/toolguard.toml", []byte("x = ["))
		}, "array is incomplete"},
		"changed": {[]string{"--undo"}, func(t *testing.T, p *patient) {
			t.Helper()
			path := p.put(t, ".claude/projects/-srv/a.jsonl", transcriptFile(t, brokenSession))
			p.doctor(t, "--fix", "--yes")
			if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not restored: it changed after the repair"},
	} {
		if runtime.GOOS == "windows" && name != "nothing to undo" {
			continue // the reasons have other words there
		}
		p := newPatient(t)
		tt.before(t, p)
		code, stdout, stderr := p.doctor(t, append(tt.args, "--json")...)
		var doc struct {
			Version int
			Failed  []jsonFailed
		}
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
			t.Errorf("%s: %v: %q", name, err, stdout)
			continue
		}
		if code != exitTrouble || doc.Version != 1 || len(doc.Failed) != 1 || !strings.Contains(doc.Failed[0].Error, tt.reason) {
			t.Errorf("%s: exit code %d, %+v, want %q", name, code, doc, tt.reason)
		}
		if !strings.Contains(stderr, tt.reason) {
			t.Errorf("%s: %q", name, stderr)
		}
	}
}

// TestRunThatCannotBeRead: a manifest that cannot be read does not keep other runs from being
// listed and undone.
func TestRunThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, year := range []string{"2020", "2030"} { // before and after the other run
		p := newPatient(t)
		p.put(t, ".claude/projects/-srv/a.jsonl", transcriptFile(t, brokenSession))
		before := p.snapshot(t)
		p.set["XDG_STATE_HOME"] = filepath.Join(p.home, "state")
		p.doctor(t, "--fix", "--yes")
		run := year + "0101T000000Z"
		if err := os.MkdirAll(filepath.Join(p.home, "state/toolguard/backups", run, "manifest.jsonl"), 0o700); err != nil {
			t.Fatal(err)
		}
		const reason = "/manifest.jsonl: is a directory\n"
		code, stdout, stderr := p.doctor(t, "--list")
		if code != exitTrouble || !strings.Contains(stdout, "a.jsonl  repaired\n") || !strings.Contains(stderr, run+reason) {
			t.Errorf("--list: exit code %d, %s%s", code, stdout, stderr)
		}
		if code, _, stderr = p.doctor(t, "--undo="+run); code != exitTrouble || !strings.Contains(stderr, run+reason) {
			t.Errorf("--undo=%s: exit code %d, %s", run, code, stderr)
		}
		want := exitOK
		if year == "2030" { // it may be the last run, so the user is told
			want = exitTrouble
		}
		code, stdout, stderr = p.doctor(t, "--undo")
		if code != want || !strings.Contains(stdout, "a.jsonl: restored\n") || strings.Contains(stderr, reason) != (want == exitTrouble) {
			t.Errorf("--undo: exit code %d, %s%s", code, stdout, stderr)
		}
		after := p.snapshot(t)
		if name := ".claude/projects/-srv/a.jsonl"; after[name] != before[name] {
			t.Errorf("%s is not restored", name)
		}
	}
}

// TestUnreadableIsNotInUse: a session that cannot be read is a failure, however new it is.
func TestUnreadableIsNotInUse(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("this user can read everything")
	}
	p := newPatient(t)
	path := p.put(t, ".claude/projects/-srv/a.jsonl", transcriptFile(t, brokenSession))
	aged(t, path, time.Minute)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if code, doc := p.jsonOf(t); code != exitTrouble || len(doc.Failed) != 1 || doc.Failed[0].Error != "permission denied" {
		t.Errorf("exit code %d, %+v", code, doc)
	}
}

// TestInUseInAnotherPlace: the locks of an agent are found in whatever way --path leads to a
// session, and for --undo without the variable that moved the store.
func TestInUseInAnotherPlace(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.put(t, "moved/projects/-srv/a.jsonl", transcriptFile(t, brokenSession))
	p.set["CLAUDE_CONFIG_DIR"] = filepath.Join(p.home, "moved")
	if code, _, stderr := p.doctor(t, "--fix", "--yes"); code != exitOK {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	delete(p.set, "CLAUDE_CONFIG_DIR")
	lock := p.put(t, "moved/sessions/"+strconv.Itoa(os.Getpid())+".json", fmt.Appendf(nil, `{"pid":%d,"sessionId":"a"}`, os.Getpid()))
	if code, _, stderr := p.doctor(t, "--undo"); code != exitTrouble || !strings.Contains(stderr, "not restored: it is in use: process ") {
		t.Errorf("--undo: exit code %d, %s", code, stderr)
	}
	session := p.put(t, "moved/projects/-srv/a.jsonl", transcriptFile(t, brokenSession))
	paths := []string{session, filepath.Dir(session), filepath.Dir(filepath.Dir(session)), filepath.Join(p.home, "moved"), p.home}
	for _, agent := range [][]string{nil, {"--agent", "claude-code"}} {
		for _, path := range paths {
			args := append([]string{"--path", path, "--fix", "--yes"}, agent...)
			code, doc := p.jsonOf(t, args...)
			if code != exitFindings || len(doc.Sessions) != 1 || !doc.Sessions[0].InUse || doc.Sessions[0].Done != nil {
				t.Errorf("%q: exit code %d, %+v", args, code, doc)
			}
		}
	}
	// Another session is not in use, nor does another file called like a lock count.
	for name, text := range map[string]string{
		lock: fmt.Sprintf(`{"pid":%d,"sessionId":"b"}`, os.Getpid()), filepath.Join(filepath.Dir(lock), "notes.json"): `[]`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code, doc := p.jsonOf(t, "--path", session); code != exitFindings || doc.Sessions[0].InUse {
		t.Errorf("exit code %d, %+v", code, doc)
	}
}
