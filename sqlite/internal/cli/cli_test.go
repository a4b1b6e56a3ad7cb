package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/hostile"
	"github.com/toolguard/toolguard/internal/manpage"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/sqlite/internal/fixture"
)

// TestMain runs the program if the test is called by its name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == program {
		limitFiles()
		os.Exit(Run(context.Background(), os.Args[1:], "1.2.3", os.Getenv, os.Stdout, os.Stderr)) //nolint:forbidigo // it is the program
	}
	os.Exit(m.Run()) //nolint:forbidigo // it is the end of the tests
}

// A result is what a command line does.
type result struct {
	code           int
	stdout, stderr string
}

func run(t testing.TB, args ...string) (r result) {
	t.Helper()
	var stdout, stderr strings.Builder
	r.code = Run(t.Context(), args, "1.2.3", func(string) string { return "" }, &stdout, &stderr)
	r.stdout, r.stderr = stdout.String(), stderr.String()
	return r
}

// TestCommands compares what commands print, with their exit codes, for the database of each agent. No
// file changes.
func TestCommands(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, name := range fixture.Names(t) {
		dir := t.TempDir()
		path := fixture.Make(t, dir, name)
		before := fixture.Files(t, dir)
		for _, args := range [][]string{
			{"list", path},
			{"list", "--json", path},
			{"check", path},
			{"check", "-o", "concise", "-v", path},
			{"check", "--select", "orphan-tool-result", path},
			{"check", "--no-excerpt", "--fail-on", "info", "-o", "jsonl", path},
		} {
			got := run(t, args...)
			text := fmt.Sprintf("$ %s\n%s%sexit code %d\n\n", strings.Join(args, " "), got.stdout, got.stderr, got.code)
			text = regexp.MustCompile(`("fingerprint":)"[0-9a-f]+"`).ReplaceAllString(text, `$1"…"`)
			b.WriteString(strings.ReplaceAll(text, dir+string(filepath.Separator), ""))
		}
		if diff := cmp.Diff(before, fixture.Files(t, dir)); diff != "" {
			t.Errorf("%s: files changed", name)
		}
	}
	golden.File(t, filepath.Join("testdata", "commands.golden"), b.String())
}

// TestMistakes: a wrong command line says what was expected.
func TestMistakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := fixture.Make(t, dir, "opencode")
	fixture.Exec(t, filepath.Join(dir, "other.db"), "CREATE TABLE message (id, session_id); CREATE VIEW session AS SELECT 1 AS id; CREATE VIEW part AS SELECT 1 AS id")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"chek", path}, `unknown command "chek"; did you mean "check"?`},
		{[]string{path}, `unexpected argument "` + path + `"; did you mean toolguard-sqlite check ` + path + `?`},
		{[]string{"check"}, "expected the path of a database: toolguard-sqlite check [flags] database..."},
		{[]string{"check", "--sesion", "x", path}, "unknown flag --sesion; did you mean --session?"},
		{[]string{"check", "-x", path}, "unknown flag -x; toolguard-sqlite check --help lists the flags"},
		{[]string{"check", "--session"}, "--session needs a value: --session id"},
		{[]string{"check", "-o", "jsn", path}, `--output-format: unknown output format "jsn"; did you mean "json"?`},
		{[]string{"check", "--fail-on", "fatal", path}, `--fail-on: expected error, warning or info, got "fatal"`},
		{[]string{"check", "--select", "orphan-result", path}, `--select: unknown rule or category "orphan-result"; did you mean "orphan-tool-result"?`},
		{[]string{"dump", path}, path + ": has 2 sessions: name one of those that toolguard-sqlite list shows, or give --out directory"},
		{[]string{"dump", path, "ses_3"}, path + `: unknown session "ses_3"; did you mean "ses_2"?`},
		{[]string{"list", filepath.Join(dir, "none.db")}, filepath.Join(dir, "none.db") + ": no such file"},
		{[]string{"list", dir}, dir + ": is not a regular file"},
		{[]string{"list", filepath.Join(dir, "other.db")}, filepath.Join(dir, "other.db") + ": has no tables of a known agent (opencode, OpenClaw, goose, Hermes, Crush, Zed, Cursor, LangGraph, OpenAI Agents SDK)"},
	} {
		got := run(t, c.args...)
		if got.code != exitTrouble || got.stderr != program+": "+c.want+"\n" || got.stdout != "" && c.args[0] != "list" {
			t.Errorf("%q: exit code %d\n%s%s\nwant %s", c.args, got.code, got.stdout, got.stderr, c.want)
		}
	}
}

// TestDump: a session goes to standard output or to a new file, and an id leads nowhere else.
func TestDump(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := fixture.Make(t, dir, "opencode")
	fixture.Exec(t, path, `UPDATE session SET id = '../../x/' || char(10) || 'é' WHERE id = 'ses_2'; UPDATE message SET session_id = '../../x/' || char(10) || 'é' WHERE session_id = 'ses_2'`)
	one := run(t, "dump", path, "ses_1")
	if one.code != exitOK || one.stderr != "" || !strings.HasPrefix(one.stdout, `{"info":{"id":"ses_1",`) || !json.Valid([]byte(one.stdout)) {
		t.Errorf("%+v", one)
	}
	out := filepath.Join(dir, "out", "sessions")
	if got := run(t, "dump", "--out", out, path); got.code != exitOK || got.stdout+got.stderr != "" {
		t.Errorf("%+v", got)
	}
	files := fixture.Files(t, out)
	if len(files) != 2 || files["ses_1.json"] != one.stdout || !strings.Contains(files["_.._x___.json"], "List files") {
		t.Errorf("%q", files)
	}
	again := run(t, "dump", "--out", out, path, "ses_1")
	if want := program + ": " + path + "#ses_1: " + filepath.Join(out, "ses_1.json") + " already exists\n"; again.code != exitTrouble || again.stderr != want {
		t.Errorf("%+v, want %s", again, want)
	}
	if info, err := os.Stat(filepath.Join(out, "ses_1.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestNames: ids that have the same safe name go to different files.
func TestNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := fixture.Make(t, dir, "opencode")
	fixture.Exec(t, path, `UPDATE session SET id = 'SES/1' WHERE id = 'ses_2'; UPDATE message SET session_id = 'SES/1' WHERE session_id = 'ses_2'`)
	out := filepath.Join(dir, "out")
	if got := run(t, "dump", "--out", out, path); got.code != exitOK || got.stdout+got.stderr != "" {
		t.Errorf("%+v", got)
	}
	files := fixture.Files(t, out)
	if len(files) != 2 || !strings.Contains(files["SES_1.json"], "List files") || !strings.Contains(files["ses_1-2.json"], "Read both") {
		t.Errorf("%q", files)
	}
}

// TestLarge: a row that is too large, and a session that is not under its id, do not keep others from
// being read. A session is sorted outside of the memory of SQLite.
func TestLarge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := fixture.Make(t, dir, "opencode")
	fixture.Exec(t, path, `INSERT INTO part VALUES ('prt_0', 'msg_4', 'ses_2', 1, 1, zeroblob(200000000));
		DROP TABLE message; CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created, time_updated, data text);
		INSERT INTO message VALUES ('msg_1', 'ses_1', 1, 1, '{"role":"user"}'), ('msg_4', 'ses_2', 1, 1, '{"role":"user"}');
		INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) VALUES (x'736573', 'p', 's', 'd', 't', 'v', 1, 1)`)
	got := run(t, "check", path)
	want := program + ": " + path + "#ses_2: one of its rows is too large for the memory that SQLite has here\n" +
		program + ": " + path + "#ses: no row has its id\nNo problems found. 1 session checked, 2 failed.\n"
	if got.code != exitTrouble || got.stdout != "" || got.stderr != want {
		t.Errorf("%+v, want %s", got, want)
	}
	path = fixture.Make(t, dir, "goose")
	fixture.Exec(t, path, `DROP TABLE messages; CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, created_timestamp INTEGER, metadata_json TEXT,
		content_json TEXT AS ('[{"type":"text","text":"' || hex(zeroblob(500000)) || '"}]'));
		WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 300)
		INSERT INTO messages (session_id, role, created_timestamp) SELECT s.id, 'user', -i FROM sessions AS s, n`)
	if got := run(t, "check", path); got.code != exitOK || got.stderr != "No problems found. 1 session checked.\n" {
		t.Errorf("%+v", got)
	}
}

// TestCopyWithoutLog: a copy in which nothing is yet says which file it lacks.
func TestCopyWithoutLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	fixture.Exec(t, path, "PRAGMA journal_mode=WAL")
	if got := run(t, "list", path); got.code != exitTrouble || !strings.HasSuffix(got.stderr, "; if it is a copy, copy a.db-wal too\n") {
		t.Errorf("%+v", got)
	}
}

// TestFailed: a session that cannot be read does not keep others from being checked, and ends with 2.
func TestFailed(t *testing.T) {
	t.Parallel()
	path := fixture.Make(t, t.TempDir(), "opencode")
	fixture.Exec(t, path, `UPDATE part SET data = '{' WHERE id = 'prt_7'`)
	got := run(t, "check", "-o", "json", path)
	var doc struct {
		Files  []struct{ Path string }
		Failed []struct{ Path, Error string }
	}
	if err := json.Unmarshal([]byte(got.stdout), &doc); err != nil || got.code != exitTrouble || len(doc.Files) != 2 || len(doc.Failed) != 1 {
		t.Fatalf("%v, %+v", err, got)
	}
	const why = "row prt_7: data: invalid JSON at byte 1: unexpected end of JSON input"
	if f := doc.Failed[0]; f.Path != path+"#ses_2" || f.Error != why {
		t.Errorf("%+v", f)
	}
	if want := program + ": " + path + "#ses_2: " + why + "\n"; got.stderr != want {
		t.Errorf("%q, want %q", got.stderr, want)
	}
}

// TestDamaged: a database with damaged bytes is never changed, and no command panics or hangs.
func TestDamaged(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same bytes in each run
	codes := map[int]int{}
	for _, name := range fixture.Names(t) {
		dir := t.TempDir()
		path := fixture.Make(t, dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range sample.Size(300, 30, 10) {
			text := []byte(string(whole))
			for range 1 + rng.IntN(20) {
				at := rng.IntN(len(text))
				if i%2 == 0 { // the structures at the beginning of a page
					at = at/4096*4096 + rng.IntN(120)
				}
				text[at] = byte(rng.IntN(256))
			}
			if i%5 == 0 {
				text = text[:rng.IntN(len(text))]
			}
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"list", path}, {"check", path}, {"dump", "--out", filepath.Join(dir, fmt.Sprint("out", i)), path}} {
				got := run(t, args...)
				codes[got.code]++
				if got.code == exitTrouble && !strings.Contains(got.stderr, program+": "+path) || strings.Contains(got.stderr, "sqlite3:") || strings.Contains(got.stderr, "internal error") {
					t.Errorf("%s: %+v", name, got)
				}
			}
			after, err := os.ReadFile(path)
			if err != nil || string(after) != string(text) {
				t.Fatalf("%s: the database changed", name)
			}
			for _, suffix := range []string{"-wal", "-shm", "-journal"} {
				if _, err := os.Stat(path + suffix); err == nil {
					t.Fatalf("%s%s is left", name, suffix)
				}
			}
		}
	}
	if codes[exitOK] == 0 || codes[exitFindings] == 0 || codes[exitTrouble] == 0 {
		t.Errorf("exit codes: %v", codes)
	}
}

// TestHostile: what a database says is not interpreted by a terminal or a CI.
func TestHostile(t *testing.T) {
	t.Parallel()
	path := fixture.Make(t, t.TempDir(), "opencode")
	for _, text := range hostile.Texts() {
		conn := fixture.Open(t, path)
		for _, sql := range []string{"UPDATE session SET title = ?, id = ? WHERE slug = 'shy-owl'", "UPDATE message SET session_id = ? WHERE id = 'msg_4'", "UPDATE part SET id = ?, data = '{' WHERE message_id = 'msg_4'"} {
			stmt, _, err := conn.Prepare(sql)
			if err != nil {
				t.Fatal(err)
			}
			for i := range stmt.BindCount() {
				if err := stmt.BindText(i+1, text); err != nil {
					t.Fatal(err)
				}
			}
			if err := stmt.Exec(); err != nil {
				t.Fatal(err)
			}
			stmt.Close()
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"list", path}, {"list", "--json", path}, {"check", path}, {"check", "-o", "json", path}, {"fix", path}, {"fix", "--write", "-v", path}, {"fix", "--undo", path}, {"check", "--session", text + "?", path}, {"dump", path, text + "?"}, {text}} {
			got := run(t, args...)
			if len(got.stdout+got.stderr) == 0 {
				t.Errorf("%q prints nothing", args)
			}
			for _, out := range []string{got.stdout, got.stderr} {
				if err := hostile.Obeyed(out, hostile.Allowed{}); err != nil {
					t.Errorf("%q: %v", args, err)
				}
			}
		}
	}
}

// TestStopped: a run that is interrupted ends.
func TestStopped(t *testing.T) {
	t.Parallel()
	path := fixture.Make(t, t.TempDir(), "opencode")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	state := func(string) string { return filepath.Dir(path) }
	for _, command := range []string{"list", "check", "dump", "fix", "fix --write", "fix --undo"} {
		var stdout, stderr strings.Builder
		if code := Run(ctx, append(strings.Fields(command), path), "1", state, &stdout, &stderr); code != exitTrouble || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d\n%s%s", command, code, &stdout, &stderr)
		}
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(whole) {
		t.Errorf("the database has changed: %v", err)
	}
}

// TestVersion: the version is that which toolguard looks for.
func TestVersion(t *testing.T) {
	t.Parallel()
	if got := run(t, "--version"); got.stdout != "toolguard-sqlite 1.2.3\n" || got.code != exitOK {
		t.Errorf("%+v", got)
	}
	for _, args := range [][]string{{}, {"--help"}, {"check", "-h"}, {"help"}} {
		if got := run(t, args...); got.code != exitOK || !strings.Contains(got.stdout, "Usage:\n") || got.stderr != "" {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

// TestMan compares the man page.
func TestMan(t *testing.T) {
	t.Parallel()
	cmd := New(&app{version: "1.2.3"})
	cmd.RemoveCommand(cmd.Commands()...) // the page is the only one
	golden.File(t, filepath.Join("..", "..", "..", "docs", "man", program+".1"), manpage.All(cmd)[program+".1"])
}
