package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/sqlite/internal/fixture"
)

// reasoned makes a database of opencode with foreign keys, and with a part that --strip-reasoning removes.
func reasoned(t *testing.T) (home, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.db")
	fixture.Exec(t, path, `
CREATE TABLE session (id text PRIMARY KEY, parent_id, directory, title, version, time_created int, time_updated int);
CREATE TABLE message (id text PRIMARY KEY, session_id REFERENCES session (id) ON DELETE CASCADE, time_created int, data text);
CREATE TABLE part (id text PRIMARY KEY, session_id, message_id REFERENCES message (id) ON DELETE CASCADE, data text);
INSERT INTO session VALUES ('s', NULL, '/d', 't', '1', 1, 1);
INSERT INTO message VALUES ('m1', 's', 1, '{"role":"user"}'), ('m2', 's', 2, '{"role":"assistant"}');
INSERT INTO part VALUES ('p1', 's', 'm1', '{"type":"text","text":"hi"}'), ('p2', 's', 'm2', '{"type":"text","text":"yo"}'),
	('p3', 's', 'm2', '{"type":"reasoning","text":"hm","metadata":{"anthropic":{"signature":"c2ln"}}}')`)
	return filepath.Join(t.TempDir(), "state"), path
}

const stripped = "DB: changed 1 row; the database as it was is saved as STATE/" + firstRun + "/0001-a.db\nRepaired 1 problem in 1 session (2 pieces of reasoning dropped). No problems left.\n"

// TestUndoAfterMore: a removed row comes back, also if the agent has written more since, and a new row has got
// its number.
func TestUndoAfterMore(t *testing.T) {
	t.Parallel()
	home, path := reasoned(t)
	before := fixture.Rows(t, path)
	talk(t, home, path, says{args: []string{"fix", "--write", "--strip-reasoning"}, stdout: "*", stderr: stripped})
	fixture.Exec(t, path, `INSERT INTO message VALUES ('m3', 's', 3, '{"role":"user"}'); INSERT INTO part VALUES ('p4', 's', 'm3', '{"type":"text","text":"more"}')`)
	want := fixture.Rows(t, path)
	if want["part 3"] == before["part 3"] || want["part 3"] == "" {
		t.Fatalf("the new row has another number: %v", want)
	}
	want["part 4"] = before["part 3"]
	talk(t, home, path, says{args: []string{"fix", "--undo"}, stderr: "DB: restored 1 row of the repair " + firstRun + "\n"})
	if diff := cmp.Diff(want, fixture.Rows(t, path)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	talk(t, home, path, says{args: []string{"fix", "--undo"}, code: exitTrouble, stderr: "toolguard-sqlite: DB: no repair of it is left to undo\n"})
}

// TestUndoOfNothing: rows do not come back if what they belong to is gone.
func TestUndoOfNothing(t *testing.T) {
	t.Parallel()
	home, path := reasoned(t)
	talk(t, home, path, says{args: []string{"fix", "--write", "--strip-reasoning"}, stdout: "*", stderr: stripped})
	fixture.Exec(t, path, "PRAGMA foreign_keys=on; DELETE FROM session")
	want := fixture.Rows(t, path)
	talk(t, home, path, says{args: []string{"fix", "--undo"}, code: exitTrouble, stderr: "toolguard-sqlite: DB: rows of the repair belong to a session or a message that does not exist any more, " +
		"so nothing is restored; the database as it was before the repair " + firstRun + " is saved as STATE/" + firstRun + "/0001-a.db\n"})
	if diff := cmp.Diff(want, fixture.Rows(t, path)); diff != "" {
		t.Errorf("rows changed:\n%s", diff)
	}
}

// TestUnreadable: a row that cannot be read is not removed, whatever the repair is.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	home, path := reasoned(t)
	fixture.Exec(t, path, `
UPDATE message SET data = '{"role":"assistant"' WHERE id = 'm2';
DELETE FROM part WHERE message_id = 'm2';
INSERT INTO part VALUES ('p3', 's', 'm2', '{"type":"tool","callID":"c","tool":"read","state":{"status":"running","input":{}}}');
INSERT INTO message VALUES ('m3', 's', 3, '{"role":"user"}');
INSERT INTO part VALUES ('p4', 's', 'm3', '{"type":"text","text":"on"}')`)
	want := fixture.Rows(t, path)
	got := runAt(t, home, "fix", "--write", "--unsafe", "--strategy", "missing-tool-result=strip-turn", path)
	if got.code != exitTrouble || !strings.Contains(got.stderr, "the repair removes the row m2, which cannot be read\n") {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(want, fixture.Rows(t, path)); diff != "" {
		t.Errorf("rows changed:\n%s", diff)
	}
}
