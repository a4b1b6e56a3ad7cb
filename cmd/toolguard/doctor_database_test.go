package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// databaseReport is a report of toolguard-sqlite: of four sessions, one is broken, and one has only
// errors that opencode repairs itself.
const databaseReport = `{"version":1,"findings":[` +
	`{"rule":"missing-tool-result","severity":"error","path":"DB#a"},` +
	`{"rule":"duplicate-call-id","severity":"error","path":"DB#a"},` +
	`{"rule":"missing-tool-result","severity":"error","path":"DB#b"},` +
	`{"rule":"duplicate-call-id","severity":"warning","path":"DB#c"}],` +
	`"files":[{"path":"DB#a"},{"path":"DB#b"},{"path":"DB#c"},{"path":"DB#d"}],"failed":[FAILED],"summary":{}}`

// TestDoctorDatabase: the sessions in a database are counted if toolguard-sqlite is installed.
func TestDoctorDatabase(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no scripts")
	}
	const unread = "opencode  1 database  not read: opencode export SESSION | toolguard fix - > s.json, then opencode\n                      import s.json\n"
	const counted = "opencode  4 sessions  1 broken, 1 that opencode repairs itself\n"
	const closing = "opencode: 1 broken session in a database; close the agent, and repair it: toolguard sqlite fix\n~/.local/share/opencode/opencode.db\n"
	const torn = "opencode  5 sessions  2 broken, 1 that opencode repairs itself\n"
	version := "echo toolguard-sqlite " + programVersion()
	for name, tt := range map[string]struct {
		script, failed string
		code           int
		stdout, stderr string
	}{
		"none":        {stdout: unread},
		"read":        {script: version, code: exitFindings, stdout: counted, stderr: closing},
		"other":       {script: "echo toolguard-sqlite 0.0.1", stdout: unread, stderr: "toolguard: warning: PROGRAM: toolguard-sqlite has the version 0.0.1, and toolguard " + programVersion() + ": install both from the same archive or package of toolguard\n"},
		"failed":      {script: version, failed: `{"path":"DB#e","error":"row 1: data: is empty"}`, code: exitTrouble, stdout: torn, stderr: "toolguard: DB#e: row 1: data: is empty\n" + strings.Replace(closing, "1 broken session", "2 broken sessions", 1)},
		"no database": {script: version, failed: `{"path":"HOME/.local/share/opencode/opencode.db","error":"is not an SQLite database"}`, code: exitTrouble, stdout: unread, stderr: "toolguard: HOME/.local/share/opencode/opencode.db: is not an SQLite database\n"},
		"damaged":     {script: "[ $1 = check ] && exit 2; " + version, code: exitTrouble, stdout: unread, stderr: "toolguard: HOME/.local/share/opencode/opencode.db: toolguard-sqlite: exit status 2\n"},
	} {
		p := newPatient(t)
		p.put(t, ".local/share/opencode/opencode.db", []byte(sqliteMagic))
		program := filepath.Join(t.TempDir(), "toolguard-sqlite")
		var stdout, stderr strings.Builder
		a := newApp(strings.NewReader(""), &stdout, &stderr, p.env)
		if tt.script != "" {
			text := strings.Replace(databaseReport, "FAILED", strings.ReplaceAll(tt.failed, "HOME", p.home), 1)
			if name == "no database" {
				_, failed, _ := strings.Cut(text, `"failed"`)
				text = `{"version":1,"findings":[],"files":[],"failed"` + failed
			}
			script := "#!/bin/sh\nif [ $1 = --version ]; then " + version + "; exit; fi\ncat <<'END'\n" + text + "\nEND\n[ $4 = " + p.home + "/.local/share/opencode/opencode.db ] && exit 1\n"
			if name == "other" || name == "damaged" {
				script = "#!/bin/sh\n" + tt.script + "\n"
			}
			if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			a.lookPath = func(string) (string, error) { return program, nil }
		} else {
			a.lookPath = notInstalled
		}
		code := a.run(t.Context(), []string{"doctor"})
		got := strings.NewReplacer(program, "PROGRAM", p.home, "HOME").Replace(stderr.String())
		// The lines of a long message depend on the paths.
		got, want := strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(tt.stderr), " ")
		if diff := cmp.Diff(tt.stdout, stdout.String()); diff != "" || code != tt.code || got != want {
			t.Errorf("%s: exit code %d, want %d\n%s\nwant %s\n(-want +got):\n%s", name, code, tt.code, got, want, diff)
		}
		if name != "read" {
			continue
		}
		stdout.Reset()
		if code := a.run(t.Context(), []string{"doctor", "--json"}); code != exitFindings {
			t.Errorf("exit code %d", code)
		}
		var doc jsonDoctor
		if err := json.Unmarshal([]byte(stdout.String()), &doc); err != nil {
			t.Fatal(err)
		}
		command := "toolguard sqlite fix ~/.local/share/opencode/opencode.db"
		one := jsonStore{Agent: "opencode", Path: filepath.Join(p.home, ".local/share/opencode/opencode.db"), Sessions: 4, State: "checked", Broken: 1, Mended: 1, Instead: &command}
		if diff := cmp.Diff([]jsonStore{one}, doc.Stores); diff != "" {
			t.Error(diff)
		}
	}
}
