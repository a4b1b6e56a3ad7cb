package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

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
	n := 5
	if runtime.GOOS == "linux" { // elsewhere names are text
		for _, name := range []string{"-srv/\xff\xfe", "-srv/\ufffd\ufffd", "-\xe9/a", "-srv/" + strings.Repeat("\xfc", 240)} {
			p.put(t, ".claude/projects/"+name+".jsonl", transcriptFile(t, brokenSession))
			n++
		}
	}
	before := p.snapshot(t)
	code, doc := p.jsonOf(t, "--fix", "--yes")
	if code != exitOK || len(doc.Sessions) != n {
		t.Errorf("exit code %d, %d sessions", code, len(doc.Sessions))
	}
	for _, s := range doc.Sessions {
		if s.Done == nil {
			t.Errorf("%s is not repaired", s.Path)
		}
		exact(t, p, s.Path, s.RawPath)
	}
	var list struct{ Runs []jsonRun }
	if _, stdout, _ := p.doctor(t, "--list", "--json"); json.Unmarshal([]byte(stdout), &list) != nil || len(list.Runs) != 1 || len(list.Runs[0].Files) != n {
		t.Fatalf("--list: %s", stdout)
	}
	for _, f := range list.Runs[0].Files {
		exact(t, p, f.Path, f.RawPath)
	}
	if code, _, stderr := p.doctor(t, "--undo"); code != exitOK || !strings.Contains(stderr, fmt.Sprintf("Restored %d of %d files", n, n)) {
		t.Errorf("--undo: exit code %d, %s", code, stderr)
	}
	if diff := cmp.Diff(before, p.snapshot(t)); diff != "" {
		t.Errorf("not as before (-want +got):\n%s", diff)
	}
}

// exact checks that a document names a file below the home directory, by the bytes of its path if it is
// not UTF-8, and only then.
func exact(t *testing.T, p *patient, path string, raw []byte) {
	t.Helper()
	if strings.HasPrefix(path, "~") { // as patient.doctor shows it
		path = p.home + path[1:]
	}
	if raw != nil {
		if utf8.Valid(raw) || strings.ToValidUTF8(string(raw), "") != strings.ReplaceAll(path, "\ufffd", "") {
			t.Errorf("raw_path is %q for %q", raw, path)
		}
		path = string(raw)
	}
	if _, err := os.Stat(path); err != nil || !strings.HasPrefix(path, p.home) {
		t.Errorf("%q: %v", path, err)
	}
}

// TestDoctorFailedOddName: a file that fails is named by its bytes too.
func TestDoctorFailedOddName(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("names are text")
	}
	p := newPatient(t)
	path := p.put(t, ".claude/projects/-srv/\xff\xfe.jsonl", transcriptFile(t, brokenSession))
	p.doctor(t, "--fix", "--yes")
	appendLine(t, path, "{}")
	for _, args := range [][]string{{"--undo", "--json"}, {"--list", "--json"}} {
		_, stdout, _ := p.doctor(t, args...)
		var doc struct {
			Runs   []jsonRun
			Failed []jsonFailed
		}
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
			t.Fatal(err)
		}
		if len(doc.Runs) != 1 || string(doc.Runs[0].Files[0].RawPath) != path || doc.Runs[0].RawPath != nil {
			t.Errorf("%q: %s", args, stdout)
		}
		if args[0] == "--undo" && (len(doc.Failed) != 1 || string(doc.Failed[0].RawPath) != path) {
			t.Errorf("%q: %s", args, stdout)
		}
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
		s := &stored{modified: tt.at}
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
		"nothing to undo": {[]string{"--undo"}, func(*testing.T, *patient) {}, "there is no run to undo"},
		"all is undone": {[]string{"--undo"}, func(t *testing.T, p *patient) {
			t.Helper()
			path, original := p.put(t, ".claude/projects/-srv/a.jsonl", transcriptFile(t, brokenSession)), transcriptFile(t, brokenSession)
			p.doctor(t, "--fix", "--yes")
			if err := os.WriteFile(path, original, 0o600); err != nil { // by hand
				t.Fatal(err)
			}
		}, "all runs are undone; toolguard doctor --list shows them"},
		"unknown run":      {[]string{"--undo=x"}, func(*testing.T, *patient) {}, "no run is called"},
		"no directory":     {[]string{"--path", "/no/such"}, func(*testing.T, *patient) {}, "no such file or directory"},
		"no home":          {[]string{"--list"}, func(_ *testing.T, p *patient) { p.home = "none" }, "no state directory"},
		"no home for undo": {[]string{"--undo"}, func(_ *testing.T, p *patient) { p.home = "relative" }, "no state directory"},
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
	needsUser(t)
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

// TestDoctorIgnoresConfigFiles: whoever puts a config file into a store, or above it, neither hides
// a session nor stops the others. The printed command does not read it either.
func TestDoctorIgnoresConfigFiles(t *testing.T) {
	t.Parallel()
	plant := func(t *testing.T, name, text string) *patient {
		t.Helper()
		p := newPatient(t)
		p.put(t, ".claude/projects/-srv/a.jsonl", transcriptFile(t, brokenSession))
		p.put(t, ".codex/sessions/2026/03/04/rollout-a.jsonl", transcriptFile(t, "codex/broken/missing.jsonl"))
		if name != "" {
			p.put(t, name, []byte(text))
		}
		return p
	}
	wantCode, want, wantErr := plant(t, "", "").doctor(t, "--all", "--json")
	if wantCode != exitFindings || strings.Count(want, `"command"`) != 2 || wantErr != "" {
		t.Fatalf("exit code %d, %s%s", wantCode, want, wantErr)
	}
	modified := regexp.MustCompile(`"modified": "[^"]*"`)
	for _, name := range []string{"toolguard.toml", ".claude/projects/toolguard.toml", ".claude/projects/-srv/.toolguard.toml", ".codex/sessions/2026/toolguard.toml"} {
		for i, text := range []string{
			"x = [", "unknown = true", `exclude = ["*"]`, `select = ["duplicate-call-id"]`, `fail-on = "info"`, "[rules]\nmissing-tool-result = \"off\"",
			"[[per-file]]\npaths = [\"*\"]\nids = [\"*\"]\nignore = [\"missing-tool-result\"]", `target = "openai"`, `placeholder = "mine"`,
		} {
			p := plant(t, name, text)
			code, stdout, stderr := p.doctor(t, "--all", "--json")
			got := modified.ReplaceAllString(strings.ReplaceAll(stdout, " --isolated ", " "), "")
			if diff := cmp.Diff(modified.ReplaceAllString(want, ""), got); code != wantCode || stderr != "" || diff != "" {
				t.Errorf("%s with %q: exit code %d, %s (-want +got):\n%s", name, text, code, stderr, diff)
			}
			if n := strings.Count(stdout, " --isolated "); n == 0 || n == 1 && name == "toolguard.toml" {
				t.Errorf("%s with %q: %d commands read it: %s", name, text, 2-n, stdout)
			}
			if i > 0 {
				continue
			}
			if code, _, stderr := p.doctor(t, "--fix", "--all", "--yes"); code != exitOK || !strings.HasPrefix(stderr, "Repaired 2 sessions") {
				t.Errorf("%s with %q: --fix: exit code %d, %s", name, text, code, stderr)
			}
			if code, _, stderr := p.doctor(t, "--undo"); code != exitOK {
				t.Errorf("%s with %q: --undo: exit code %d, %s", name, text, code, stderr)
			}
		}
	}
	// One that is named does apply, and the printed command has it.
	p := plant(t, "chosen.toml", `target = "openai"`)
	config := filepath.Join(p.home, "chosen.toml")
	if code, doc := p.jsonOf(t, "--config", config); code != exitFindings || len(doc.Sessions) != 1 || doc.Sessions[0].Repair == nil ||
		doc.Sessions[0].Repair.Command != "toolguard fix --write --config ~/chosen.toml ~/.claude/projects/-srv/a.jsonl" && runtime.GOOS != "windows" {
		t.Errorf("exit code %d, %+v", code, doc.Sessions)
	}
	if err := os.WriteFile(config, []byte("exclude = [\"*\"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Its globs are relative to the current directory, as for the other commands.
	if code, doc := p.jsonOf(t, "--config", config); code != exitFindings || len(doc.Sessions) != 1 {
		t.Errorf("exit code %d, %+v", code, doc.Sessions)
	}
	if code, _, stderr := p.doctor(t, "--isolated"); code != exitTrouble || !strings.Contains(stderr, "unknown flag") {
		t.Errorf("--isolated: exit code %d, %s", code, stderr)
	}
}

// TestDoctorSweeps: --fix and --undo remove what killed runs left, whatever becomes of the session
// beside it. A look removes nothing.
func TestDoctorSweeps(t *testing.T) {
	t.Parallel()
	const dir = ".claude/projects/-srv/"
	for _, args := range [][]string{{"--fix", "--yes"}, {"--undo"}, {"--fix", "--yes", "--path", "HOME/.claude"}, nil, {"--list"}, {"--json"}} {
		p := newPatient(t)
		p.set["XDG_STATE_HOME"] = filepath.Join(p.home, "state")
		broken := transcriptFile(t, brokenSession)
		p.put(t, dir+"repaired.jsonl", broken)
		p.doctor(t, "--fix", "--yes")
		p.doctor(t, "--undo")
		repair := []byte("half of a rep")
		for _, name := range []string{"repaired", "healthy", "in use", "not a session", "gone", "deep/below/healthy"} {
			text := map[string][]byte{
				"repaired": broken, "healthy": transcriptFile(t, "claude-code/ok/interrupted.jsonl"), "in use": broken, "not a session": []byte("{}\n"),
				"deep/below/healthy": transcriptFile(t, "claude-code/ok/interrupted.jsonl"),
			}[name]
			at := filepath.Dir(dir + name)
			p.put(t, at+"/."+filepath.Base(name)+".jsonl.toolguard-new", repair)
			if text == nil {
				continue
			}
			path := p.put(t, dir+name+".jsonl", text)
			p.put(t, at+"/."+filepath.Base(name)+".jsonl.toolguard-tmp", text)
			if name == "in use" {
				aged(t, path, time.Minute)
			}
		}
		mine := p.put(t, dir+".toolguard-tmp", []byte("mine"))
		left := func() (n int) {
			for name := range p.snapshot(t) {
				if strings.Contains(name, ".jsonl.toolguard-") {
					n++
				}
			}
			return n
		}
		before := left()
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "HOME", p.home)
		}
		_, _, stderr := p.doctor(t, args...)
		after := left()
		swept := slices.Contains(args, "--fix") || slices.Contains(args, "--undo")
		if before != 11 || after != 0 && swept || after != before && !swept {
			t.Errorf("%q: %d files are left of %d", args, after, before)
		}
		if strings.Contains(stderr, "warning") {
			t.Errorf("%q: %s", args, stderr)
		}
		if _, err := os.Stat(mine); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestDoctorCountsExcluded: what a config file hides is counted, so that nobody takes a store for empty.
func TestDoctorCountsExcluded(t *testing.T) {
	p := newPatient(t)
	for _, name := range []string{"a.jsonl", "b.jsonl", "notes.json"} { // the last one is no session
		p.put(t, ".claude/projects/-srv/"+name, transcriptFile(t, brokenSession))
	}
	p.put(t, ".codex/sessions/2026/03/04/rollout-a.jsonl", transcriptFile(t, "codex/broken/missing.jsonl"))
	config := filepath.Join(p.home, "chosen.toml")
	if err := os.WriteFile(config, []byte(`exclude = ["-srv/*", "*.json", ".claude/projects/-srv/*", "2026"]`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(p.home) // the globs are relative to it
	if code, stdout, stderr := p.doctor(t, "--config", config); code != exitOK || stderr != "" ||
		stdout != "Claude Code  0 sessions  none broken, 2 paths excluded\nCodex        0 sessions  none broken, 1 path excluded\n" {
		t.Errorf("exit code %d, %q, %s", code, stdout, stderr)
	}
	for path, want := range map[string]int{".claude": 2, ".claude/projects/-srv": 2, ".codex": 1} {
		if _, doc := p.jsonOf(t, "--config", config, "--path", filepath.Join(p.home, path)); len(doc.Stores) != 1 || doc.Stores[0].Excluded != want {
			t.Errorf("%s: %+v, want %d excluded", path, doc.Stores, want)
		}
	}
}
