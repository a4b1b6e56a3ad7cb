package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/internal/backup"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/sqlite/internal/fixture"
	"github.com/toolguard/toolguard/sqlite/internal/layout"
	"github.com/toolguard/toolguard/sqlite/internal/rows"
)

// runAt runs a command line of a user whose state directory is below home. The time is always the same.
func runAt(t testing.TB, home string, args ...string) (r result) {
	t.Helper()
	env := map[string]string{"XDG_STATE_HOME": home, "SOURCE_DATE_EPOCH": "1780000000"}
	var stdout, stderr strings.Builder
	r.code = Run(t.Context(), args, "1.2.3", func(name string) string { return env[name] }, &stdout, &stderr)
	r.stdout, r.stderr = stdout.String(), stderr.String()
	return r
}

// says is a command line and all that it prints.
type says struct {
	args   []string
	code   int
	stdout string
	stderr string
}

// firstRun is the name of the first run at the time of runAt.
const firstRun = "20260528T202640Z"

// talk runs command lines one after the other. DB stands for the database, and STATE for the
// directory of the copies.
func talk(t *testing.T, home, path string, lines ...says) {
	t.Helper()
	state := filepath.Join(home, "toolguard", "databases")
	names := strings.NewReplacer(path, "DB", state, "STATE", "(cli.test)", "(PROGRAM)")
	for _, want := range lines {
		got := runAt(t, home, append(slices.Clone(want.args), path)...)
		if diff := cmp.Diff(want.stderr, regexp.MustCompile(`process \d+`).ReplaceAllString(names.Replace(got.stderr), "process N")); diff != "" || got.code != want.code {
			t.Errorf("%q: exit code %d, want %d (-want +got):\n%s", want.args, got.code, want.code, diff)
		}
		if want.stdout != "*" {
			if diff := cmp.Diff(want.stdout, names.Replace(got.stdout)); diff != "" {
				t.Errorf("%q prints (-want +got):\n%s", want.args, diff)
			}
		}
	}
}

const (
	instead  = "opencode: start a new session; toolguard sqlite dump DATABASE SESSION | toolguard extract - writes what was said.\n"
	repaired = "DB: changed 1 row; the database as it was is saved as STATE/" + firstRun + "/0001-a.db\nRepaired 1 problem in 1 session (1 inserted). No problems left. 2 sessions checked.\n"
	finding  = `DB#ses_1:6:25: error: call "toolu_2" to "read" has no result [missing-tool-result]
    6 | {"type":"tool","callID":"toolu_2","tool":"read","state":{"status":"running","input":{"file…
      |                         ^~~~~~~~~
    7 | {"info":{"role":"user","time":{"created":1780000009000},"id":"msg_3","sessionID":"ses_1"},…
      |                 ------ the conversation goes on here: 7:17
        fix: record a placeholder as the result of the call (additive)
`
	notRepaired = "1 problem left. 2 sessions checked, 1 not repaired.\n" + instead
)

// made makes the database of opencode, in which the row of one part is to be repaired.
func made(t testing.TB) (home, path string) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "a.db")
	if err := os.Rename(fixture.Make(t, dir, "opencode"), path); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(t.TempDir(), "state"), path
}

// TestFix: a repair is shown, made, made again and undone. It changes one column of one row.
func TestFix(t *testing.T) {
	t.Parallel()
	home, path := made(t)
	before, files := fixture.Rows(t, path), fixture.Files(t, filepath.Dir(path))
	talk(t, home, path, says{args: []string{"fix"}, code: exitFindings, stdout: `DB#ses_1:6:67: record a placeholder as the result of the call (additive) [missing-tool-result]
    5 |   {"type":"tool","callID":"toolu_1","tool":"read","state":{"status":"completed","input":{"f…
    6 | - {"type":"tool","callID":"toolu_2","tool":"read","state":{"status":"running","input":{"fil…
    6 | + {"type":"tool","callID":"toolu_2","tool":"read","state":{"status":"error","input":{"fileP…
    7 |   {"info":{"role":"user","time":{"created":1780000009000},"id":"msg_3","sessionID":"ses_1"}…
`, stderr: "Would repair 1 problem in 1 session (1 inserted); run with --write to do it. No problems would be left. 2 sessions checked.\n"})
	if diff := cmp.Diff(files, fixture.Files(t, filepath.Dir(path))); diff != "" {
		t.Errorf("files changed:\n%s", diff)
	}
	talk(t, home, path,
		says{args: []string{"fix", "--write", "--safe-only"}, code: exitFindings, stdout: finding, stderr: "Nothing to repair. 1 problem left (1 fixable without --safe-only). 2 sessions checked.\n" + instead},
		says{args: []string{"fix", "--write", "--session", "ses_2"}, stderr: "Nothing to repair. No problems left. 1 session checked.\n"},
		says{args: []string{"fix", "--write"}, stderr: repaired},
	)
	after := maps.Clone(before)
	after["part 3"] = strings.NewReplacer(`\"running\"`, `\"error\"`, `1780000001100}}`,
		`1780000001100,\"end\":1780000001100},\"error\":\"[toolguard] No result was recorded for this tool call; it may or may not have run.\"}`).Replace(before["part 3"])
	if diff := cmp.Diff(after, fixture.Rows(t, path)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	kept := filepath.Join(home, "toolguard", "databases", firstRun)
	if diff := cmp.Diff(before, fixture.Rows(t, filepath.Join(kept, "0001-a.db"))); diff != "" {
		t.Errorf("the copy (-want +got):\n%s", diff)
	}
	talk(t, home, path,
		says{args: []string{"fix", "--write"}, stderr: "Nothing to repair. No problems left. 2 sessions checked.\n"},
		says{args: []string{"fix", "--undo"}, stderr: "DB: restored the database as it was before the repair " + firstRun + "\n"},
	)
	if diff := cmp.Diff(before, fixture.Rows(t, path)); diff != "" {
		t.Errorf("rows after the undo (-want +got):\n%s", diff)
	}
	talk(t, home, path, says{args: []string{"fix", "--undo"}, code: exitTrouble, stderr: program + ": DB: no repair of it is left to undo\n"})
	for _, name := range []string{"0001-a.db", "0001-a.db.rows.jsonl", backup.Manifest} {
		if info, err := os.Stat(filepath.Join(kept, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(files)), slices.Sorted(maps.Keys(fixture.Files(t, filepath.Dir(path))))); diff != "" {
		t.Errorf("files beside the database:\n%s", diff)
	}
}

// TestFixReport: a report of a repair is that of toolguard fix.
func TestFixReport(t *testing.T) {
	t.Parallel()
	home, path := made(t)
	for _, write := range []bool{false, true} {
		args := []string{"fix", "-o", "json", path}
		if write {
			args = append(args, "--write")
		}
		got := runAt(t, home, args...)
		var doc struct {
			Applied []struct {
				Path    string
				Written bool
				Results struct{ Inserted int }
			}
			Findings []struct{ Rule string }
		}
		if err := json.Unmarshal([]byte(got.stdout), &doc); err != nil || len(doc.Applied) != 1 || doc.Applied[0].Path != path+"#ses_1" ||
			doc.Applied[0].Written != write || doc.Applied[0].Results.Inserted != 1 || len(doc.Findings) != 0 {
			t.Errorf("%v, %+v\n%+v", err, doc, got)
		}
	}
}

// TestFixTorn: --unsafe removes a part that is not JSON, because the agent would not read the session. It stays
// if the session is not repaired, and undo restores it.
func TestFixTorn(t *testing.T) {
	t.Parallel()
	home, path := made(t)
	fixture.Exec(t, path, `UPDATE part SET data = substr(data, 1, 20) WHERE id = 'prt_2'`)
	before := fixture.Rows(t, path)
	const (
		torn  = "DB#ses_1: row prt_2: data: invalid JSON at byte 20: unexpected end of JSON input"
		shown = `DB#ses_1:5:67: record a placeholder as the result of the call (additive) [missing-tool-result]
    4 |   {"info":{"role":"assistant","time":{"created":1780000001000},"modelID":"m1","id":"msg_2",…
    5 | - {"type":"tool","callID":"toolu_2","tool":"read","state":{"status":"running","input":{"fil…
    5 | + {"type":"tool","callID":"toolu_2","tool":"read","state":{"status":"error","input":{"fileP…
    6 |   {"info":{"role":"user","time":{"created":1780000009000},"id":"msg_3","sessionID":"ses_1"}…
`
	)
	talk(t, home, path,
		says{args: []string{"fix", "--unsafe"}, code: exitFindings, stdout: shown, stderr: program + ": " + torn + "; --write removes the row\n" +
			"Would repair 1 problem in 1 session (1 inserted); run with --write to do it. No problems would be left. 2 sessions checked.\n"},
		says{args: []string{"fix", "--write", "--unsafe"}, stderr: "DB: changed 2 rows; the database as it was is saved as STATE/" + firstRun + "/0001-a.db\n" +
			torn + "; removed the row\nRepaired 1 problem in 1 session (1 inserted). No problems left. 2 sessions checked.\n"},
	)
	after := fixture.Rows(t, path)
	if _, there := after["part 2"]; there || len(after) != len(before)-1 || !strings.Contains(after["part 3"], `\"error\"`) {
		t.Errorf("%v", after)
	}
	talk(t, home, path,
		says{args: []string{"check"}, stderr: "No problems found. 2 sessions checked.\n"},
		says{args: []string{"fix", "--undo"}, stderr: "DB: restored the database as it was before the repair " + firstRun + "\n"},
		says{args: []string{"fix", "--write"}, code: exitTrouble, stderr: program + ": " + torn + "\nDB: changed 1 row; the database as it was is saved as STATE/" + firstRun + "-2/0001-a.db\n" +
			"Repaired 1 problem in 1 session (1 inserted). No problems left in the other sessions. 2 sessions checked, 1 failed.\n"},
		says{args: []string{"fix", "--write", "--unsafe"}, stderr: "DB: changed 1 row; the database as it was is saved as STATE/" + firstRun + "-3/0001-a.db\n" +
			torn + "; removed the row\nNothing to repair. No problems left. 2 sessions checked.\n"},
		says{args: []string{"fix", "--undo"}, stderr: "DB: restored the database as it was before the repair " + firstRun + "-3\n"},
		says{args: []string{"fix", "--undo"}, stderr: "DB: restored the database as it was before the repair " + firstRun + "-2\n"},
	)
	if diff := cmp.Diff(before, fixture.Rows(t, path)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	// The parts of a message are not removed with it.
	fixture.Exec(t, path, `UPDATE message SET data = substr(data, 1, 20) WHERE id = 'msg_2'; DELETE FROM part WHERE id = 'prt_2'; CREATE TRIGGER tr DELETE ON part BEGIN SELECT 1; END`)
	before = fixture.Rows(t, path)
	talk(t, home, path, says{
		args: []string{"fix", "--write", "--unsafe", "--session", "ses_1"}, code: exitTrouble, stdout: "*",
		stderr: program + ": DB#ses_1: row msg_2: data: invalid JSON at byte 20: unexpected end of JSON input\n" +
			program + ": DB: its table part has the trigger tr, whose effect is not known\n1 problem left. 1 session checked, 1 not repaired, 1 failed.\n" + instead,
	})
	// Neither is a part if something else of the repair cannot be done.
	fixture.Exec(t, path, `UPDATE message SET data = '{"role":"assistant"}' WHERE id = 'msg_2'; UPDATE part SET data = 'x' WHERE id = 'prt_1'`)
	talk(t, home, path, says{
		args: []string{"fix", "--write", "--unsafe", "--session", "ses_1"}, code: exitTrouble, stdout: "*",
		stderr: program + ": DB: its table part has the trigger tr, whose effect is not known\n" +
			program + ": DB#ses_1: row prt_1: data: invalid JSON at byte 1: invalid character 'x' looking for beginning of value\n1 problem left. 1 session checked, 1 not repaired, 1 failed.\n" + instead,
	})
	if got := fixture.Rows(t, path); got["part 1"] == "" || got["part 3"] != before["part 3"] {
		t.Errorf("%v", got)
	}
}

// TestFixOrder: two repairs of a row are undone one after the other, in any state of others.
func TestFixOrder(t *testing.T) {
	t.Parallel()
	home, path := made(t)
	before := fixture.Rows(t, path)
	talk(t, home, path, says{args: []string{"fix", "--write"}, stderr: repaired})
	first := fixture.Rows(t, path)
	fixture.Exec(t, path, `UPDATE part SET data = replace(data, 'toolu_1', 'toolu_2') WHERE id = 'prt_2'; UPDATE session SET title = 'x'`)
	talk(t, home, path,
		says{args: []string{"fix", "--write", "--unsafe"}, stderr: "DB: changed 1 row; the database as it was is saved as STATE/" + firstRun + "-2/0001-a.db\nRepaired 1 problem in 1 session (1 renamed). No problems left. 2 sessions checked.\n"},
		says{args: []string{"fix", "--undo"}, stderr: "DB: restored the database as it was before the repair " + firstRun + "-2\n"},
		says{args: []string{"fix", "--undo"}, stderr: "DB: restored 1 row of the repair " + firstRun + "\n"},
		says{args: []string{"fix", "--undo"}, code: exitTrouble, stderr: program + ": DB: no repair of it is left to undo\n"},
	)
	fixture.Exec(t, path, `UPDATE part SET data = replace(data, 'toolu_2', 'toolu_1') WHERE id = 'prt_2'; UPDATE session SET title = CASE id WHEN 'ses_1' THEN 'Read both' ELSE 'List files' END`)
	if diff := cmp.Diff(before, fixture.Rows(t, path)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	// What was written after a repair stays, and a row that has changed is not restored.
	talk(t, home, path, says{args: []string{"fix", "--write"}, stderr: strings.Replace(repaired, firstRun, firstRun+"-3", 1)})
	fixture.Exec(t, path, `UPDATE part SET data = '{}' WHERE id = 'prt_3'`)
	talk(t, home, path, says{args: []string{"fix", "--undo"}, code: exitTrouble, stderr: program + ": DB: row part prt_3 changed after the repair " + firstRun + "-3, so nothing is restored; the database as it was before is saved as STATE/" + firstRun + "-3/0001-a.db\n"})
	if got := fixture.Rows(t, path)["part 3"]; got == first["part 3"] || !strings.Contains(got, `data=TEXT:"{}"`) {
		t.Error(got)
	}
}

// TestNotRepaired: a database that must not be changed is not, and the reason is told.
func TestNotRepaired(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql  string // of the database
		hold string // that another connection runs, and keeps open
		why  string
		code int
	}{
		"open":        {hold: "SELECT 1", why: "process N (PROGRAM) has the database open: close it first"},
		"locked":      {hold: "PRAGMA query_only=ON; BEGIN; SELECT * FROM part", why: "another program uses the database: close it first"},
		"trigger":     {sql: "CREATE TRIGGER t AFTER UPDATE ON part BEGIN UPDATE session SET title = 'x'; END", why: "its table part has the trigger t, whose effect is not known"},
		"foreign":     {sql: "CREATE UNIQUE INDEX u ON part (data); CREATE TABLE note (about REFERENCES part (data)); INSERT INTO note SELECT data FROM part WHERE id = 'prt_3'", why: "the repair leaves rows without the row that they belong to"},
		"two rows":    {sql: "ALTER TABLE part RENAME TO p; CREATE TABLE part AS SELECT * FROM p; INSERT INTO part SELECT * FROM part WHERE id = 'prt_3'", why: "row prt_3: 2 rows of part have the id prt_3, expected one"},
		"encoding":    {sql: "PRAGMA encoding='UTF-16le'; CREATE TABLE x (y); ", why: "its texts are in UTF-16le, expected UTF-8"},
		"generated":   {sql: "ALTER TABLE part RENAME TO p; CREATE TABLE part (id, message_id, session_id, was, data AS (was)); INSERT INTO part SELECT id, message_id, session_id, data FROM p", why: "row part prt_3: cannot UPDATE generated column \"data\""},
		"constrained": {sql: "ALTER TABLE part RENAME TO p; CREATE TABLE part (id, message_id, session_id, data CHECK (data NOT LIKE '%toolguard%')); INSERT INTO part SELECT id, message_id, session_id, data FROM p", why: "row part prt_3: CHECK constraint failed: data NOT LIKE '%toolguard%'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, path := made(t)
			if strings.HasPrefix(c.sql, "PRAGMA encoding") {
				inUTF16(t, path)
			} else {
				fixture.Exec(t, path, c.sql)
			}
			if c.hold != "" {
				conn := fixture.Open(t, path)
				if name == "locked" { // a reader
					conn.Close()
					conn = fixture.Reader(t, path)
				}
				defer conn.Close()
				if err := conn.Exec(c.hold); err != nil {
					t.Fatal(err)
				}
			}
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := program + ": DB: " + c.why + "\n" + notRepaired
			if c.hold != "" { // it helps to close the other program
				want = strings.TrimSuffix(want, instead)
			}
			if name == "two rows" {
				want = program + ": DB#ses_1: " + c.why + "\n" + strings.Replace(notRepaired, "1 problem", "2 problems", 1)
			}
			talk(t, home, path, says{args: []string{"fix", "--write"}, code: exitTrouble, stdout: "*", stderr: want})
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, whole) {
				t.Errorf("the database has changed: %v", err)
			}
			if left, err := os.ReadDir(filepath.Join(home, "toolguard", "databases")); err == nil && len(left) > 0 {
				t.Errorf("%s is left", left[0])
			}
		})
	}
}

// inUTF16 writes a database with another encoding.
func inUTF16(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script, err := os.ReadFile(filepath.Join("..", "fixture", "testdata", "opencode.sql"))
	if err != nil {
		t.Fatal(err)
	}
	fixture.Exec(t, filepath.Join(dir, "x.db"), "PRAGMA encoding='UTF-16le';"+string(script))
	if err := os.Rename(filepath.Join(dir, "x.db"), path); err != nil {
		t.Fatal(err)
	}
}

// TestOnlyChecked: sessions of an agent whose repaired sessions nobody has seen resumed stay as they are,
// and fix says what else helps.
func TestOnlyChecked(t *testing.T) {
	t.Parallel()
	for _, name := range fixture.Names(t) {
		if name == "opencode" {
			continue
		}
		dir := t.TempDir()
		path := fixture.Make(t, dir, name)
		if name == "openclaw" { // another version of its tables
			fixture.Exec(t, path, "UPDATE schema_meta SET schema_version = 24")
		}
		files := fixture.Files(t, dir)
		got := runAt(t, filepath.Join(t.TempDir(), "state"), "fix", "--write", "--unsafe", path)
		if name == "cursor" { // nothing is an error there
			if got.code != exitOK || !strings.Contains(got.stdout, "        no fix: toolguard only checks this file: Cursor keeps its chats in a database\n") || got.stderr != "Nothing to repair. 1 problem left. 2 sessions checked.\n" {
				t.Errorf("%s: %+v", name, got)
			}
		} else if got.code != exitTrouble || !regexp.MustCompile(`is only checked: (a session of [A-Za-z ]+ in a database is not repaired|its tables are not those of OpenClaw 2026.9.6, whose sessions are repaired|(Crush|Zed) keeps its (sessions|threads) in a database)\n`).MatchString(got.stderr) || !strings.Contains(got.stderr, ", 1 not repaired.\n") {
			t.Errorf("%s: %+v", name, got)
		}
		if diff := cmp.Diff(files, fixture.Files(t, dir)); diff != "" {
			t.Errorf("%s: files changed:\n%s", name, diff)
		}
	}
}

// TestFixMistakes: a wrong command line says what was expected.
func TestFixMistakes(t *testing.T) {
	t.Parallel()
	home, path := made(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"fix", "--write", "--undo", path}, "--write and --undo exclude each other: give only one"},
		{[]string{"fix", "--safe-only", "--unsafe", path}, "--safe-only and --unsafe exclude each other: give only one"},
		{[]string{"fix", "--placeholder", " ", path}, "--placeholder: expected a text"},
		{[]string{"fix", "--strategy", "x", path}, `--strategy: expected rule=name, got "x"`},
		{[]string{"fix", "--provider", "anthropik", path}, `--provider: unknown provider "anthropik"; did you mean "anthropic"?`},
		{[]string{"fix"}, "expected the path of a database: toolguard-sqlite fix [flags] database..."},
	} {
		if got := runAt(t, home, c.args...); got.code != exitTrouble || got.stderr != program+": "+c.want+"\n" || got.stdout != "" {
			t.Errorf("%q: %+v, want %s", c.args, got, c.want)
		}
	}
	var stdout, stderr strings.Builder
	if code := Run(t.Context(), []string{"fix", "--write", path}, "1", func(string) string { return "" }, &stdout, &stderr); code != exitTrouble ||
		!strings.HasPrefix(stderr.String(), program+": "+path+": no state directory: ") {
		t.Errorf("%d, %s", code, &stderr)
	}
}

// A forge makes databases of opencode with random rows.
type forge struct {
	*rand.Rand
	sql strings.Builder
	ids int
}

// text returns a text that is nowhere else.
func (f *forge) text() string {
	f.ids++
	odd := []string{"", "é", "\u2028", "'", `"`, "\\", "\n", ",", "{", "}", "]", "\x00", "𝄞", `","id":"prt_1"`}
	return fmt.Sprintf("m%d%s%s", f.ids, odd[f.IntN(len(odd))], odd[f.IntN(len(odd))])
}

// space returns white space as JSON may have it.
func (f *forge) space() string { return []string{"", "", "", " ", "\n", "\t", " \r\n "}[f.IntN(7)] }

// json returns a random value.
func (f *forge) json(depth int) string {
	switch n := f.IntN(8); {
	case n < 2 && depth > 0:
		var parts []string
		for range f.IntN(4) {
			parts = append(parts, f.space()+quote(f.text())+f.space()+":"+f.json(depth-1)+f.space())
		}
		return "{" + strings.Join(parts, ",") + "}"
	case n == 2 && depth > 0:
		var parts []string
		for range f.IntN(4) {
			parts = append(parts, f.space()+f.json(depth-1))
		}
		return "[" + strings.Join(parts, ",") + f.space() + "]"
	case n == 3:
		return []string{"null", "true", "false", "0", "-1.50e+3", "1e400", "12345678901234567890"}[f.IntN(7)]
	case n == 4 && depth > 0: // JSON in a string
		return quote(f.json(depth - 1))
	}
	return quote(f.text())
}

func quote(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// object returns an object with some members, in a random order and with random others between them.
func (f *forge) object(members ...string) string {
	for range f.IntN(3) {
		members = append(members, quote(f.text())+f.space()+":"+f.json(2))
	}
	f.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	for i, m := range members {
		members[i] = f.space() + m + f.space()
	}
	return f.space() + "{" + strings.Join(members, ",") + "}" + f.space()
}

// insert adds a row.
func (f *forge) insert(table string, values ...string) {
	for i, v := range values {
		values[i] = "CAST(x'" + fmt.Sprintf("%x", v) + "' AS TEXT)"
	}
	fmt.Fprintf(&f.sql, "INSERT INTO %s VALUES (%s);\n", table, strings.Join(values, ", "))
}

// part returns what a part holds: of those that are calls, some lack a result, an id or a name, have the
// id of another, or are a copy.
func (f *forge) part(call string) string {
	switch f.IntN(5) {
	case 0:
		return f.object(`"type":"text"`, `"text":`+f.json(0))
	case 1:
		return f.object(`"type":"step-start"`)
	}
	tool := []string{"bash", "read", "bash", ""}[f.IntN(4)]
	state := []string{
		`"status":"completed","input":` + f.object() + `,"output":` + quote(f.text()) + `,"time":{"start":1,"end":2}`,
		`"status":"completed","input":{},"output":` + f.json(2),
		`"status":"running","input":` + f.json(2) + `,"time":{"start":1}`,
		`"status":"pending","input":{},"raw":""`,
		`"status":"error","input":` + f.object() + `,"error":` + quote(f.text()),
		`"status":"completed","input":{}`,
		`"status":"error","output":` + quote(f.text()),
		`"status":"done","input":{},"output":` + f.json(1),
		`"status":"running","input":{},"output":` + f.json(0) + `,"time":{"start":1}`,
	}[f.IntN(9)]
	members := []string{`"type":"tool"`, `"tool":` + quote(tool), `"state":{` + state + "}"}
	if f.IntN(8) > 0 {
		members = append(members, `"callID":`+quote(call))
	}
	if f.IntN(12) == 0 {
		members[2] = `"other":1`
	}
	return f.object(members...)
}

// make makes a database.
func (f *forge) make(t *testing.T, path string) {
	t.Helper()
	fixture.Exec(t, path, `CREATE TABLE session (id text PRIMARY KEY, title text, directory text, version text, time_created integer, time_updated integer, parent_id text);
		CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer, time_updated integer, data text NOT NULL);
		CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer, time_updated integer, data text NOT NULL, UNIQUE (data, id));
		CREATE TABLE event (id text PRIMARY KEY, data text); CREATE INDEX lengths ON part (length(data))`)
	f.sql.Reset()
	for s := range 1 + f.IntN(3) {
		session := fmt.Sprintf("ses_%d", s)
		f.insert("session", session, f.text(), "/d", "1.18.33", "1", "2", "")
		for m := range f.IntN(7) {
			message := fmt.Sprintf("msg_%d_%02d", s, m)
			role := []string{"user", "assistant", "assistant", "assistant", "system"}[f.IntN(5)]
			f.insert("message", message, session, "1", "1", f.object(`"role":"`+role+`"`, `"time":{"created":`+strconv.Itoa(1780000000000+m)+"}"))
			calls := []string{fmt.Sprintf("call_%d", f.ids), fmt.Sprintf("call_%d%s", f.ids, f.text())}
			for p := range f.IntN(6) {
				data := f.part(calls[f.IntN(2)])
				if f.IntN(20) == 0 {
					data = data[:f.IntN(len(data)-1)]
				}
				f.insert("part", fmt.Sprintf("prt_%d_%02d_%d", s, m, p), message, session, "1", "1", data)
				f.insert("event", fmt.Sprintf("evt_%d_%02d_%d", s, m, p), data)
			}
		}
	}
	fixture.Exec(t, path, f.sql.String())
}

// TestFixProperties: whatever is in a database, a repair changes only the rows that it lists, of them only
// one column, and there only what the edits of the text change. A second one changes nothing, and an undo
// restores each row.
func TestFixProperties(t *testing.T) {
	t.Parallel()
	f := &forge{Rand: rand.New(rand.NewPCG(sample.Seed(7), 1))} //nolint:gosec // the same databases in each run
	changed, removed, rounds, ended := 0, 0, 0, sample.Until(t)
	for i := range sample.Inputs(600, 40, 15) {
		if ended() {
			break
		}
		rounds++
		dir := t.TempDir()
		path, home := filepath.Join(dir, "x.db"), filepath.Join(dir, "state")
		f.make(t, path)
		flags := []string{"fix", "--write"}
		if i%4 > 0 {
			flags = append(flags, "--unsafe")
		}
		if i%4 > 1 {
			flags = append(flags, "--provider", "openai", "--strategy", []string{"missing-tool-result=strip", "missing-tool-result=text,duplicate-call-id=text", "pending-tool-call=insert", "missing-tool-result=strip-turn,invalid-tool-name=drop"}[f.IntN(4)])
		}
		before, texts, whole := fixture.Rows(t, path), textsOf(t, path), textsOf(t, path)
		if i%4 > 0 {
			whole = textsOf(t, untorn(t, path))
		}
		got := runAt(t, home, append(flags, path)...)
		if strings.Contains(got.stderr, "its rows would") || strings.Contains(got.stderr, "internal error") || strings.HasPrefix(got.stderr, program+": --") {
			t.Errorf("%q: %s\n%s", flags, got.stderr, f.sql.String())
		}
		after := fixture.Rows(t, path)
		changes := changesOf(t, home, path)
		fixture.Intact(t, path)

		// Only the rows of the changes differ, and they as the changes say.
		for key, row := range after {
			if before[key] != row && !slices.ContainsFunc(changes, func(c rows.Change) bool { return c.After != nil && strings.Contains(row, rowOf(c)) }) {
				t.Errorf("%s changed", key)
			}
		}
		gone := 0
		for key, row := range before {
			if _, there := after[key]; !there {
				gone++
				if !slices.ContainsFunc(changes, func(c rows.Change) bool {
					return c.After == nil && strings.Contains(row, fmt.Sprintf("id=TEXT:%q ", c.ID.Bytes))
				}) {
					t.Errorf("%s is gone", key)
				}
			}
		}
		updates := 0
		for _, c := range changes {
			if c.After == nil {
				gone--
				removed++
				continue
			}
			updates++
			changed++
			if !slices.Equal(c.Columns, []string{"data"}) {
				t.Errorf("columns %q", c.Columns)
			}
		}
		if gone != 0 {
			t.Errorf("%d more rows are gone than the changes say", gone)
		}
		// All that the engine drops from a text and adds to it is what the rows lose and get.
		leaves(t, flags, texts, whole, textsOf(t, path), got.stderr)

		if again := runAt(t, home, append(flags, path)...); len(changes) > 0 && strings.Contains(again.stderr, ": changed ") {
			t.Errorf("%q: a second run changes more: %s", flags, again.stderr)
		}
		if diff := cmp.Diff(after, fixture.Rows(t, path)); diff != "" {
			t.Errorf("a second run changes rows:\n%s", diff)
		}
		if len(changes)%2 == 0 { // else the file is restored
			fixture.Exec(t, path, "PRAGMA user_version = 1")
		}
		undo := runAt(t, home, "fix", "--undo", path)
		if want := len(changes) > 0; want != (undo.code == exitOK) {
			t.Errorf("undo: %+v", undo)
		}
		if diff := cmp.Diff(before, fixture.Rows(t, path)); diff != "" {
			t.Errorf("%q: rows after the undo:\n%s", flags, diff)
		}
		if t.Failed() {
			t.Fatalf("%q\n%s", flags, f.sql.String())
		}
	}
	if t.Logf("%d databases, %d rows changed, %d removed", rounds, changed, removed); changed < rounds/2 || removed == 0 {
		t.Errorf("too few repairs: %d rows changed, %d removed in %d databases", changed, removed, rounds)
	}
}

// rowOf returns what a row with the new values of a change has in fixture.Rows.
func rowOf(c rows.Change) string { return fmt.Sprintf("data=TEXT:%q", c.After[0].Bytes) }

// changesOf returns the changes of the last repair of a database.
func changesOf(t *testing.T, home, path string) []rows.Change {
	t.Helper()
	for run, e := range backup.About(filepath.Join(home, "toolguard", "databases"), path) {
		f, err := os.Open(run.RowsOf(e))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		changes, err := rows.Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		return changes
	}
	return nil
}

// textsOf returns the texts of the sessions of a database.
func textsOf(t *testing.T, path string) map[string]string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	run(t, "dump", "--out", out, path)
	return fixture.Files(t, out)
}

// untorn returns a copy of a database without its torn parts.
func untorn(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(copied, text, 0o600); err != nil {
		t.Fatal(err)
	}
	fixture.Exec(t, copied, `DELETE FROM part WHERE NOT json_valid(data)`)
	return copied
}

// leaves compares what toolguard.FixBytes makes of each text, which is whole without torn rows, with what the
// rows have become: the same leaves, and in the order of the rows.
func leaves(t *testing.T, flags []string, before, whole, after map[string]string, stderr string) {
	t.Helper()
	stderr = regexp.MustCompile(`(?m)^.*: row \w+: data: .*$`).ReplaceAllString(stderr, "")
	for name, text := range before {
		if strings.Contains(stderr, strings.TrimSuffix(name, ".json")+":") { // it is not repaired
			if after[name] != text {
				t.Errorf("%s has changed, but is said not to be repaired: %s", name, stderr)
			}
			continue
		}
		opts := []toolguard.Option{toolguard.Dialect("opencode")}
		for i, flag := range flags {
			switch flag {
			case "--unsafe":
				opts = append(opts, toolguard.Allow(toolguard.Unsafe))
			case "--provider":
				opts = append(opts, toolguard.Target(flags[i+1]))
			case "--strategy":
				for s := range strings.SplitSeq(flags[i+1], ",") {
					rule, strategy, _ := strings.Cut(s, "=")
					opts = append(opts, toolguard.Strategy(rule, strategy))
				}
			}
		}
		want, _, err := toolguard.FixBytes(t.Context(), []byte(whole[name]), opts...)
		if err != nil {
			want = []byte(whole[name])
		}
		if diff := cmp.Diff(sums(string(want)), sums(after[name])); diff != "" {
			t.Errorf("%s has other content than its repair (-want +got):\n%s", name, diff)
		}
	}
}

// sums counts the leaves of a text.
func sums(text string) map[edit.Sum]int {
	out := map[edit.Sum]int{}
	for l := range edit.Leaves([]byte(text), "", 0) {
		out[l.Sum]++
	}
	return out
}

// TestReopened: a database that cannot be opened again once it has changed fails each of its sessions.
func TestReopened(t *testing.T) {
	t.Parallel()
	_, path := made(t)
	l, err := openLibrary(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { l.Close() }()
	read := func() error {
		text, err := l.read(l.shelves[0], "ses_1", (*layout.Schema).Read)
		if err == nil {
			text.Close()
		}
		return err
	}
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	done, end := context.WithCancel(t.Context())
	end()
	l.ctx = done
	for range 3 {
		if err := read(); err == nil || err.Error() != "sqlite3: interrupted" {
			t.Errorf("%v", err)
		}
	}
	l.ctx = t.Context()
	if err := read(); err != nil {
		t.Error(err)
	}
}
