package cli

import (
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

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/sqlite/internal/fixture"
)

// madeLog makes the database of OpenClaw, in which a row is to be added.
func madeLog(t testing.TB) (home, path string) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "a.db")
	if err := os.Rename(fixture.Make(t, dir, "openclaw"), path); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(t.TempDir(), "state"), path
}

const placeholder = `{\"type\":\"message\",\"id\":\"7012be37\",\"parentId\":\"e3\",\"timestamp\":\"2026-05-28T20:26:43.000Z\",\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"call_2\",\"toolName\":\"read\",\"content\":[{\"type\":\"text\",\"text\":\"[toolguard] No result was recorded for this tool call; it may or may not have run.\"}],\"isError\":true}}`

// TestFixRows: a repair that adds a row to a log changes the rows behind it, and all that says what is in the
// log. An undo restores each row.
func TestFixRows(t *testing.T) {
	t.Parallel()
	home, path := madeLog(t)
	before := fixture.Rows(t, path)
	talk(t, home, path,
		says{args: []string{"fix"}, code: exitFindings, stdout: "DB#s1:5:1: insert a placeholder result after messages.2 (additive) [missing-tool-result]\n      messages.2 result call_1 read [{\"type\":\"text\",\"text\":\"1.0\"}]\n    + messages.3 result call_2 read [placeholder, error]\n      messages.4 user \"And?\"\n    5 | parentId: \"e3\" → \"7012be37\"\n", stderr: "Would repair 1 problem in 1 session (1 inserted); run with --write to do it. No problems would be left.\n"},
		says{args: []string{"fix", "--write"}, stderr: "DB: changed 10 rows; the database as it was is saved as STATE/" + firstRun + "/0001-a.db\nRepaired 1 problem in 1 session (1 inserted). No problems left.\n"},
	)
	after, now := maps.Clone(before), fixture.Rows(t, path)
	generation := regexp.MustCompile(`"([0-9a-f]{32})"`).FindStringSubmatch(now["transcript_rewrite_watermarks 1"])
	if generation == nil || strings.Trim(generation[1], "0") == "" {
		t.Fatalf("the generation is not another one: %s", now["transcript_rewrite_watermarks 1"])
	}
	edit := func(key string, oldnew ...string) {
		if after[key] = strings.NewReplacer(oldnew...).Replace(before[key]); after[key] == before[key] {
			t.Errorf("%s: %q is not in %s", key, oldnew, before[key])
		}
	}
	edit("transcript_events 4", `seq=INTEGER:"4"`, `seq=INTEGER:"5"`, `\"parentId\":\"e3\"`, `\"parentId\":\"7012be37\"`, `event_utf8_bytes=NULL:""`, `event_utf8_bytes=INTEGER:"132"`)
	edit("transcript_event_identities 5", `seq=INTEGER:"4"`, `seq=INTEGER:"5"`, `parent_id=TEXT:"e3"`, `parent_id=TEXT:"7012be37"`)
	edit("session_transcript_index_state 1", `indexed_seq=INTEGER:"4"`, `indexed_seq=INTEGER:"5"`, `event_count=INTEGER:"4"`, `event_count=INTEGER:"5"`, `message_count=INTEGER:"4"`, `message_count=INTEGER:"5"`)
	edit("transcript_rewrite_watermarks 1", strings.Repeat("0", 32), generation[1])
	edit("session_windows 1", `transcript_updated_at=INTEGER:"1780000009000"`, `transcript_updated_at=INTEGER:"1780000009002"`)
	after["session_transcript_active_events 5"] = `session_id=TEXT:"s1" active_position=INTEGER:"4" event_seq=INTEGER:"5" message_position=INTEGER:"4" context_eligible=INTEGER:"1" `
	after["transcript_events 6"] = `session_id=TEXT:"s1" seq=INTEGER:"4" event_json=TEXT:"` + placeholder + `" created_at=INTEGER:"1780000003000" event_zstd=NULL:"" event_utf8_bytes=INTEGER:"296" navigation_json=NULL:"" `
	after["transcript_event_identities 6"] = `session_id=TEXT:"s1" event_id=TEXT:"7012be37" seq=INTEGER:"4" event_type=TEXT:"message" parent_id=TEXT:"e3" message_idempotency_key=NULL:"" created_at=INTEGER:"1780000003000" `
	if diff := cmp.Diff(after, now); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	fixture.Intact(t, path)
	talk(t, home, path,
		says{args: []string{"fix", "--write"}, stderr: "Nothing to repair. No problems left. 1 session checked.\n"})
	fixture.Exec(t, path, "PRAGMA user_version = 1") // else the file is restored
	talk(t, home, path,
		says{args: []string{"fix", "--undo"}, stderr: "DB: restored 10 rows of the repair " + firstRun + "\n"},
		says{args: []string{"fix", "--undo"}, code: exitTrouble, stderr: program + ": DB: no repair of it is left to undo\n"},
	)
	if diff := cmp.Diff(before, fixture.Rows(t, path)); diff != "" {
		t.Errorf("rows after the undo (-want +got):\n%s", diff)
	}
}

// TestFixLogOrder: two repairs of a log are undone one after the other. A log that the agent has written since is not
// restored.
func TestFixLogOrder(t *testing.T) {
	t.Parallel()
	home, path := madeLog(t)
	write := func(run, rows string) says {
		return says{args: []string{"fix", "--write"}, stdout: "*", stderr: "DB: changed " + rows + "; the database as it was is saved as STATE/" + run + "/0001-a.db\nRepaired 1 problem in 1 session (1 inserted). No problems left.\n"}
	}
	undone := func(run, rows string) says {
		return says{args: []string{"fix", "--undo"}, stderr: "DB: restored " + rows + " of the repair " + run + "\n"}
	}
	talk(t, home, path, write(firstRun, "10 rows"))
	fixture.Exec(t, path, `PRAGMA foreign_keys=ON; DELETE FROM transcript_events WHERE seq = 3`)
	lost := fixture.Rows(t, path)
	talk(t, home, path,
		says{args: []string{"fix", "--write", "--unsafe"}, stdout: "*", stderr: "DB: changed 9 rows; the database as it was is saved as STATE/" + firstRun + "-2/0001-a.db\nRepaired 2 problems in 1 session (1 inserted). No problems left.\n"},
	)
	fixture.Exec(t, path, "PRAGMA user_version = 1") // else the file is restored
	talk(t, home, path, undone(firstRun+"-2", "9 rows"))
	if diff := cmp.Diff(lost, fixture.Rows(t, path)); diff != "" {
		t.Errorf("rows after the undo (-want +got):\n%s", diff)
	}
	fixture.Exec(t, path, `UPDATE session_transcript_index_state SET indexed_seq = 9`)
	talk(t, home, path, says{args: []string{"fix", "--undo"}, code: exitTrouble, stderr: program + ": DB: row session_transcript_index_state 1 changed after the repair " + firstRun + ", so nothing is restored; the database as it was before is saved as STATE/" + firstRun + "/0001-a.db\n"})
}

// TestLogNotRepaired: a log whose path to the leaf is not known is not changed.
func TestLogNotRepaired(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sql, why string }{
		"a reset":          {`INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES ('s1', 5, '{"type":"reset","id":"e5","parentId":"e4","reason":"new"}', 1)`, "DB#s1: row 5: the session was reset or has other branches, so its rows are not repaired"},
		"a leaf":           {`INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES ('s1', 5, '{"type":"leaf","id":"e5","parentId":"e4","targetId":"e1"}', 1)`, "DB#s1: row 5: the session was reset or has other branches, so its rows are not repaired"},
		"a row beside":     {`UPDATE transcript_events SET event_json = replace(event_json, '"type":"message"', '"type":"message","appendMode":"side"') WHERE seq = 3`, "DB#s1: row 3: the session was reset or has other branches, so its rows are not repaired"},
		"two of the index": {`INSERT INTO transcript_event_identities VALUES ('s1', 'other', 4, NULL, NULL, NULL, 1)`, "DB#s1: row 4: the repair changes more of the text than what its rows hold"},
		"a trigger":        {`CREATE TRIGGER t AFTER UPDATE ON transcript_events BEGIN SELECT 1; END`, "DB: its table transcript_events has the trigger t, whose effect is not known"},
		"another trigger":  {`DROP TRIGGER session_windows_canonical_pending_after_update; CREATE TRIGGER session_windows_canonical_pending_after_update AFTER UPDATE ON session_windows BEGIN UPDATE session_windows SET updated_at = 1; END`, "DB: row session_windows 1: the row is not as it was read"},
		"the id is taken":  {`PRAGMA foreign_keys=OFF; INSERT INTO transcript_event_identities VALUES ('s1', '7012be37', 77, NULL, NULL, NULL, 1)`, "DB: row transcript_event_identities 7: UNIQUE constraint failed: transcript_event_identities.session_id, transcript_event_identities.event_id"},
		"another table":    {`ALTER TABLE session_transcript_active_events RENAME TO other`, "DB#s1: no such table: session_transcript_active_events"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, path := madeLog(t)
			fixture.Exec(t, path, c.sql)
			before := fixture.Rows(t, path)
			talk(t, home, path, says{args: []string{"fix", "--write"}, code: exitTrouble, stdout: "*", stderr: program + ": " + c.why + "\n1 problem left. 1 session checked, 1 not repaired.\n" + strings.Replace(instead, "opencode", "OpenClaw", 1)})
			if diff := cmp.Diff(before, fixture.Rows(t, path)); diff != "" {
				t.Errorf("rows changed:\n%s", diff)
			}
		})
	}
}

// A logForge makes databases of OpenClaw with random logs.
type logForge struct{ *forge }

// event returns an event with members, in a random order and with random others between them.
func (f logForge) event(members ...string) string {
	text := strings.TrimSpace(f.object(members...))
	if f.IntN(30) > 0 { // OpenClaw writes no line breaks
		text = strings.NewReplacer("\n", " ", "\r", " ").Replace(text)
	}
	return text
}

// events returns the events of a session: some results are lost, late, double or of no call, some calls have no
// id or the id of another, and some links are broken.
func (f logForge) events(session string) (events []string) {
	events = append(events, `{"type":"session","version":4,"id":"`+session+`","timestamp":"2026-05-28T20:26:40.000Z","cwd":"/d"}`)
	parent, n := "null", 0
	add := func(kind string, members ...string) {
		n++
		id := fmt.Sprintf("%s-%d", session, n)
		members = append(members, `"type":"`+kind+`"`, `"parentId":`+parent, fmt.Sprintf(`"timestamp":"2026-05-28T20:26:%02d.%03dZ"`, n%60, f.IntN(1000)))
		if f.IntN(40) > 0 {
			members = append(members, `"id":"`+id+`"`)
			parent = quote(id)
		}
		if f.IntN(40) == 0 {
			parent = quote(fmt.Sprintf("%s-%d", session, 1+f.IntN(n)))
		}
		if f.IntN(20) == 0 {
			return // it is lost
		}
		events = append(events, f.event(members...))
	}
	message := func(members ...string) { add("message", `"message":{`+strings.Join(members, ",")+`}`) }
	for range f.IntN(5) {
		message(`"role":"user"`, `"content":`+[]string{quote(f.text()), `[{"type":"text","text":` + quote(f.text()) + `}]`}[f.IntN(2)], `"idempotencyKey":`+quote(f.text()))
		for range f.IntN(3) {
			var blocks, results []string
			for range f.IntN(4) {
				f.ids++
				call := fmt.Sprintf("call_%d", f.ids-f.IntN(6)/5)
				id := `"id":"` + call + `",`
				if f.IntN(15) == 0 {
					id = ""
				}
				blocks = append(blocks, `{"type":"toolCall",`+id+`"name":"`+[]string{"exec", "exec", "", "read"}[f.IntN(4)]+`","arguments":`+f.object()+`}`)
				if f.IntN(4) > 0 {
					results = append(results, call)
				}
				if f.IntN(10) == 0 {
					results = append(results, call)
				}
			}
			if f.IntN(2) == 0 {
				blocks = append(blocks, `{"type":"text","text":`+quote(f.text())+`}`)
			}
			message(`"role":"assistant"`, `"content":[`+strings.Join(blocks, ",")+`]`, `"stopReason":"toolUse"`)
			f.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
			for _, call := range results {
				message(`"role":"toolResult"`, `"toolCallId":"`+call+`"`, `"toolName":"exec"`, `"content":[{"type":"text","text":`+quote(f.text())+`}]`, `"isError":false`)
				if f.IntN(3) == 0 {
					add("custom", `"customType":"openclaw.cache-ttl"`, `"data":`+f.json(2))
				}
			}
		}
	}
	if f.IntN(3) == 0 && len(events) > 3 {
		i := 1 + f.IntN(len(events)-2)
		events[i], events[i+1] = events[i+1], events[i]
	}
	if f.IntN(10) == 0 {
		i := f.IntN(len(events))
		events[i] = events[i][:f.IntN(len(events[i]))]
	}
	return events
}

// make makes a database, and returns the session ids.
func (f logForge) make(t *testing.T, path string) {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("..", "fixture", "testdata", "openclaw.sql"))
	if err != nil {
		t.Fatal(err)
	}
	tables, _, _ := strings.Cut(string(script), "INSERT INTO")
	const fast = "PRAGMA synchronous=OFF;"
	fixture.Exec(t, path, fast+tables+"INSERT INTO schema_meta VALUES ('primary', 'agent', 23)")
	f.sql.Reset()
	for s := range 1 + f.IntN(3) {
		session := fmt.Sprintf("s%d", s)
		fmt.Fprintf(&f.sql, "INSERT INTO session_windows VALUES ('%s', 'k%s', 1, 2, 3, NULL);\nINSERT INTO transcript_rewrite_watermarks VALUES ('%[1]s', 'g', 1);\n", session, session)
		seq := 0
		for _, e := range f.events(session) {
			text := fmt.Sprintf("CAST(x'%x' AS TEXT)", e)
			if f.IntN(3) == 0 && e != "" {
				fmt.Fprintf(&f.sql, "INSERT INTO transcript_events VALUES ('%s', %d, NULL, %d, zstd(%s), %d, '{}');\n", session, seq, 1780000000000+seq, text, len(e))
			} else {
				fmt.Fprintf(&f.sql, "INSERT INTO transcript_events VALUES ('%s', %d, %s, %d, NULL, %d, NULL);\n", session, seq, text, 1780000000000+seq, len(e))
			}
			seq += 1 + f.IntN(12)/11
		}
	}
	fixture.Exec(t, path, fast+f.sql.String())
	conn := fixture.Open(t, path)
	defer conn.Close()
	for _, session := range sessionsOf(t, conn) {
		if err := conn.Exec(fast + derived(session, logOf(t, conn, session)).sql()); err != nil {
			t.Fatal(err)
		}
	}
}

// An eventRow is a row of a log.
type eventRow struct {
	seq     int
	created int64
	text    string
}

func sessionsOf(t testing.TB, conn *sqlite3.Conn) (ids []string) {
	t.Helper()
	for _, row := range query(t, conn, "SELECT DISTINCT session_id FROM transcript_events ORDER BY 1") {
		ids = append(ids, row[0])
	}
	return ids
}

// logOf returns the rows of a session.
func logOf(t testing.TB, conn *sqlite3.Conn, session string) (log []eventRow) {
	t.Helper()
	for _, row := range query(t, conn, "SELECT seq, created_at, coalesce(event_json, unzip(event_zstd)) FROM transcript_events WHERE session_id = '"+session+"' ORDER BY seq") {
		seq, err := strconv.Atoi(row[0])
		if err != nil {
			t.Fatal(err)
		}
		created, err := strconv.ParseInt(row[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, eventRow{seq, created, row[2]})
	}
	return log
}

// query returns the rows of a query as texts, with NULL for NULL.
func query(t testing.TB, conn *sqlite3.Conn, sql string) (all [][]string) {
	t.Helper()
	stmt, _, err := conn.Prepare(sql)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	for stmt.Step() {
		row := make([]string, stmt.ColumnCount())
		for i := range row {
			if row[i] = stmt.ColumnText(i); stmt.ColumnType(i) == sqlite3.NULL {
				row[i] = "NULL"
			}
		}
		all = append(all, row)
	}
	if err := stmt.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// A derivation is what the tables of OpenClaw say about a log, as rows of texts.
type derivation struct {
	session                     string
	identities, path, texts, is [][]string
}

// derived derives it from the rows. It shares no code with package layout.
func derived(session string, log []eventRow) (d derivation) {
	d.session = session
	type event struct {
		eventRow
		id, up string
		fields map[string]any
	}
	ids, byID := map[string]bool{}, map[string]event{}
	leaf, last := "", ""
	for _, r := range log {
		e := event{eventRow: r}
		dec := json.NewDecoder(strings.NewReader(r.text))
		dec.UseNumber() // there are numbers that no float64 is
		if dec.Decode(&e.fields) != nil {
			continue
		}
		e.id, _ = e.fields["id"].(string)
		up, linked := e.fields["parentId"]
		e.up, _ = up.(string)
		kind, _ := e.fields["type"].(string)
		if e.id == "" {
			continue
		}
		message, _ := e.fields["message"].(map[string]any)
		if !ids[e.id] {
			ids[e.id] = true
			key, _ := message["idempotencyKey"].(string)
			d.identities = append(d.identities, []string{e.id, strconv.Itoa(r.seq), kind, cmp0(e.up), cmp0(strings.TrimSpace(key)), strconv.FormatInt(r.created, 10)})
		}
		if kind == "session" || !linked {
			continue
		}
		if _, known := byID[e.up]; e.up != "" && !known {
			e.up = leaf
		}
		byID[e.id] = e
		leaf, last = e.id, e.id
	}
	var path []event
	for id := leaf; id != "" && len(path) <= len(log); id = byID[id].up {
		if _, known := byID[id]; !known {
			break
		}
		path = append(path, byID[id])
	}
	slices.Reverse(path)
	messages := 0
	for i, e := range path {
		at := "NULL"
		if message, is := e.fields["message"].(map[string]any); is {
			at = strconv.Itoa(messages)
			messages++
			role, _ := message["role"].(string)
			var texts []string
			switch content := message["content"].(type) {
			case string:
				texts = append(texts, strings.TrimSpace(content))
			case []any:
				for _, b := range content {
					block, _ := b.(map[string]any)
					if text, is := block["text"].(string); is && block["type"] == "text" && strings.TrimSpace(text) != "" {
						texts = append(texts, text)
					}
				}
			}
			if text := strings.Join(texts, "\n"); text != "" && (role == "user" || role == "assistant") {
				d.texts = append(d.texts, []string{e.id, role, text})
			}
		}
		d.path = append(d.path, []string{strconv.Itoa(i), strconv.Itoa(e.seq), at, "1"})
	}
	if len(log) > 0 {
		d.is = [][]string{{strconv.Itoa(log[len(log)-1].seq), cmp0(last), "0", strconv.Itoa(len(path)), strconv.Itoa(messages)}}
	}
	return d
}

// cmp0 returns a text, or NULL if it is empty.
func cmp0(text string) string {
	if text == "" {
		return "NULL"
	}
	return text
}

// sql writes it.
func (d derivation) sql() string {
	var b strings.Builder
	insert := func(table string, cells ...string) {
		for i, c := range cells {
			if c != "NULL" {
				cells[i] = fmt.Sprintf("CAST(x'%x' AS TEXT)", c)
			}
		}
		fmt.Fprintf(&b, "INSERT INTO %s VALUES ('%s', %s);\n", table, d.session, strings.Join(cells, ", "))
	}
	for _, r := range d.identities {
		insert("transcript_event_identities", slices.Clone(r)...)
	}
	for _, r := range d.path {
		insert("session_transcript_active_events", slices.Clone(r)...)
	}
	for _, r := range d.is {
		insert("session_transcript_index_state", append(slices.Clone(r), "1")...)
	}
	for _, r := range d.texts {
		fmt.Fprintf(&b, "INSERT INTO session_transcript_fts_rows (session_id, message_id) VALUES ('%s', '%s');\nINSERT INTO session_transcript_fts (rowid, text, session_id, message_id, role, timestamp) VALUES (last_insert_rowid(), CAST(x'%x' AS TEXT), '%[1]s', '%[2]s', '%[4]s', 1.0);\n", d.session, r[0], r[2], r[1])
	}
	return b.String()
}

// stored returns what the tables say about a session.
func stored(t *testing.T, conn *sqlite3.Conn, session string) (d derivation) {
	t.Helper()
	d.session = session
	of := " WHERE session_id = '" + session + "' ORDER BY "
	d.identities = query(t, conn, "SELECT event_id, seq, event_type, parent_id, message_idempotency_key, created_at FROM transcript_event_identities"+of+"seq")
	d.path = query(t, conn, "SELECT active_position, event_seq, message_position, context_eligible FROM session_transcript_active_events"+of+"active_position")
	d.is = query(t, conn, "SELECT indexed_seq, leaf_event_id, needs_rebuild, active_event_count, active_message_count FROM session_transcript_index_state"+of+"1")
	d.texts = query(t, conn, "SELECT message_id, role, text FROM session_transcript_fts WHERE rowid IN (SELECT id FROM session_transcript_fts_rows WHERE session_id = '"+session+"') ORDER BY rowid")
	return d
}

// TestFixLogProperties: whatever is in a log, a repair makes of its rows the text that toolguard makes of the text, byte
// by byte, and of the other tables what follows from the rows. Other sessions keep each row. A second repair
// changes nothing, and an undo restores each row.
func TestFixLogProperties(t *testing.T) {
	t.Parallel()
	f := logForge{&forge{Rand: rand.New(rand.NewPCG(sample.Seed(11), 1))}} //nolint:gosec // the same databases in each run
	why := map[string]int{}
	rounds, ended := 0, sample.Until(t)
	for i := range sample.Inputs(600, 40, 15) {
		if ended() {
			break
		}
		rounds++
		dir := t.TempDir()
		path, home := filepath.Join(dir, "x.db"), filepath.Join(dir, "state")
		f.make(t, path)
		flags, opts := []string{"fix", "--write"}, []toolguard.Option{toolguard.Dialect("pi")}
		if i%4 > 0 {
			flags, opts = append(flags, "--unsafe"), append(opts, toolguard.Allow(toolguard.Unsafe))
		}
		if i%4 > 1 {
			strategy := []string{"strip", "text", "insert", "strip-turn"}[f.IntN(4)]
			flags = append(flags, "--provider", "openai", "--strategy", "missing-tool-result="+strategy)
			opts = append(opts, toolguard.Target("openai"), toolguard.Strategy("missing-tool-result", strategy))
		}
		before, texts := fixture.Rows(t, path), textsOf(t, path)
		got := runAt(t, home, append(flags, path)...)
		if strings.Contains(got.stderr, "its rows would") || strings.Contains(got.stderr, "internal error") || strings.Contains(got.stderr, "constraint") || strings.Contains(got.stderr, "no such") || strings.HasPrefix(got.stderr, program+": --") {
			t.Errorf("%q: %s", flags, got.stderr)
		}
		after, now := fixture.Rows(t, path), textsOf(t, path)
		fixture.Intact(t, path)
		conn := fixture.Open(t, path)
		if bad := query(t, conn, "SELECT * FROM pragma_foreign_key_check"); len(bad) > 0 {
			t.Errorf("rows without another: %v", bad)
		}
		if err := conn.Exec("INSERT INTO session_transcript_fts (session_transcript_fts) VALUES ('integrity-check')"); err != nil {
			t.Error(err)
		}
		for name, text := range texts {
			session := strings.TrimSuffix(name, filepath.Ext(name))
			want, _, err := toolguard.FixBytes(t.Context(), []byte(text), opts...)
			if why := regexp.MustCompile(regexp.QuoteMeta(path+"#"+session) + `: (row \d+: )?([a-z ]+)`).FindStringSubmatch(got.stderr); err != nil || why != nil && now[name] == text {
				want = []byte(text)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(now[name], "\n")); diff != "" {
				t.Errorf("%s has another text than its repair (-want +got):\n%s", name, diff)
			}
			if string(want) == text {
				for key, row := range before {
					if strings.Contains(row, `session_id=TEXT:"`+session+`"`) && after[key] != row {
						t.Errorf("%s is not repaired, and %s changed", session, key)
					}
				}
				why["same"]++
				continue
			}
			why["repaired"]++
			if diff := cmp.Diff(derived(session, logOf(t, conn, session)), stored(t, conn, session), cmp.AllowUnexported(derivation{}), cmp.Transformer("sorted", func(rows [][]string) []string {
				var all []string
				for _, r := range rows {
					all = append(all, strings.Join(r, "|"))
				}
				slices.Sort(all)
				return all
			})); diff != "" {
				t.Errorf("%s: the other tables (-want +got):\n%s", session, diff)
			}
		}
		conn.Close()
		changes := changesOf(t, home, path)
		for _, c := range changes {
			switch {
			case c.Table == "transcript_events" && c.Before == nil:
				why["added"]++
			case c.Table == "transcript_events" && c.After == nil:
				why["removed"]++
			case c.Table == "transcript_events" && slices.Contains(c.Columns, "seq"):
				why["moved"]++
			case c.Table == "session_transcript_fts":
				why["texts"]++
			}
		}
		for _, reason := range regexp.MustCompile(`(?m)^`+program+`: \S+ (?:row \d+: )?(.*)$`).FindAllStringSubmatch(got.stderr, -1) {
			why["refused: "+regexp.MustCompile(`[^a-zA-Z ].*`).ReplaceAllString(reason[1], "")]++
		}
		if again := runAt(t, home, append(flags, path)...); len(changes) > 0 && strings.Contains(again.stderr, ": changed ") {
			why["twice"]++ // as with a file
		} else if diff := cmp.Diff(after, fixture.Rows(t, path)); diff != "" {
			t.Errorf("a second run changes rows:\n%s", diff)
		}
		if len(changes)%2 == 0 { // else the file is restored
			fixture.Exec(t, path, "PRAGMA user_version = 1")
		}
		for range 9 {
			if undo := runAt(t, home, "fix", "--undo", path); undo.code != exitOK {
				break
			}
		}
		if diff := cmp.Diff(before, fixture.Rows(t, path)); diff != "" {
			t.Errorf("%q: rows after the undo:\n%s", flags, diff)
		}
		if t.Failed() {
			t.Fatalf("%q\n%s", flags, got.stderr)
		}
	}
	t.Logf("%d databases: %v", rounds, why)
	for _, kind := range []string{"repaired", "added", "removed", "moved", "texts"} {
		if why[kind] < rounds/8 {
			t.Errorf("too few rows: %s %d", kind, why[kind])
		}
	}
}
