package layout_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/sqlite/internal/database"
	"github.com/toolguard/toolguard/sqlite/internal/fixture"
	"github.com/toolguard/toolguard/sqlite/internal/layout"
)

// read returns the texts of all sessions in a database, the newest first.
func read(t *testing.T, path string) (*layout.Schema, []*layout.Text, []string) {
	t.Helper()
	db, err := database.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	found, err := layout.Find(db)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d schemas, %v", len(found), err)
	}
	sessions, _, err := found[0].List(db)
	if err != nil {
		t.Fatal(err)
	}
	var texts []*layout.Text
	var all []string
	for _, s := range sessions {
		text, err := found[0].Read(db, s.ID)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { text.Close() })
		whole, err := io.ReadAll(io.NewSectionReader(text, 0, text.Size()))
		if err != nil {
			t.Fatal(err)
		}
		texts, all = append(texts, text), append(all, string(whole))
	}
	return found[0], texts, all
}

// TestTexts compares the text of each session, and what is wrong with it.
func TestTexts(t *testing.T) {
	var b strings.Builder
	seen := map[string]bool{}
	for _, name := range fixture.Names(t) {
		s, texts, all := read(t, fixture.Make(t, t.TempDir(), name))
		seen[s.Agent] = true
		b.WriteString("== " + s.Agent + "\n")
		for i, text := range all {
			b.WriteString(text)
			if len(texts[i].Bad) > 0 {
				t.Errorf("%s: %v", s.Agent, texts[i].Bad)
			}
			report, err := toolguard.CheckBytes(t.Context(), []byte(text), toolguard.Dialect(s.Dialect))
			if err != nil {
				t.Fatalf("%s: %v", s.Agent, err)
			}
			// The dialect is also what toolguard finds itself.
			alone, err := toolguard.CheckBytes(t.Context(), []byte(text))
			if err != nil || alone.Dialect != s.Dialect || len(alone.Findings) != len(report.Findings) {
				t.Errorf("%s: detected as %q, %v", s.Agent, alone.Dialect, err)
			}
			for _, f := range report.Findings {
				b.WriteString("-- " + f.Rule + " " + f.CallID + "\n")
			}
		}
	}
	for _, s := range layout.All() {
		if !seen[s.Agent] {
			t.Errorf("%s has no fixture", s.Agent)
		}
	}
	golden.File(t, filepath.Join("testdata", "texts.golden"), b.String())
}

// TestCells: what a text has from a column is the same bytes.
func TestCells(t *testing.T) {
	n := 0
	for _, name := range fixture.Names(t) {
		path := fixture.Make(t, t.TempDir(), name)
		_, texts, all := read(t, path)
		conn, err := sqlite3.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for i, text := range texts {
			at := int64(0)
			for _, c := range text.Cells {
				if c.Start < at || c.End < c.Start {
					t.Errorf("%s: %+v overlaps the one before", name, c)
				}
				at = c.End
				_, from, _ := strings.Cut(c.Query, " FROM ")
				table, _, _ := strings.Cut(from, " ")
				key, column := "id", c.Column
				switch column {
				case "event":
					key, column = "seq", "event_json"
				case "checkpoint":
					key = "checkpoint_id"
				}
				if table == "cursorDiskKV" {
					if key, column = "substr(key, 13)", "value"; i > 0 {
						continue // the bubbles of an older chat are written again
					}
				}
				stmt, _, err := conn.Prepare("SELECT " + column + " FROM " + table + " WHERE " + key + " = ?")
				if err != nil {
					t.Fatal(err)
				}
				if err := stmt.BindText(1, c.ID); err != nil || !stmt.Step() {
					t.Fatalf("%s: no row %s", table, c.ID)
				}
				if kind, was := stmt.ColumnType(0), stmt.ColumnText(0); kind == sqlite3.TEXT && was != "" { // others are compressed
					n++
					if got := all[i][c.Start:c.End]; got != was[c.From:c.From+len(got)] {
						t.Errorf("%s %s: %q is not a part of %q", table, c.ID, got, was)
					}
				}
				stmt.Close()
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d cells", n)
	}
}

// TestBad: a column that is not JSON is named, and the text can be read all the same.
func TestBad(t *testing.T) {
	for _, c := range []struct{ name, sql, want string }{
		{"opencode", `UPDATE part SET data = '{"type":"text","text":' WHERE id = 'prt_7'`, "row prt_7: data: invalid JSON at byte 22: unexpected end of JSON input"},
		{"opencode", `UPDATE part SET data = '[1]' WHERE id = 'prt_7'`, "row prt_7: data: expected a JSON object"},
		{"opencode", `UPDATE part SET data = '' WHERE id = 'prt_7'`, "row prt_7: data: is empty, expected JSON"},
		{"opencode", `UPDATE part SET data = x'ff00' WHERE id = 'prt_7'`, "row prt_7: data: invalid JSON at byte 1: invalid character 'ÿ' looking for beginning of value"},
		{"openclaw", `UPDATE transcript_events SET event_zstd = x'28b52ffd00' WHERE seq = 2`, "row 2: event: its zstd cannot be unpacked: unexpected EOF"},
		{"openclaw", `PRAGMA ignore_check_constraints=ON; UPDATE transcript_events SET event_zstd = NULL WHERE seq = 2`, "row 2: event: has no value"},
		{"goose", `UPDATE messages SET content_json = 'x' WHERE id = 2`, "row 2: content_json: invalid JSON at byte 1: invalid character 'x' looking for beginning of value"},
		{"cursor", `UPDATE cursorDiskKV SET value = substr(value, 1, 40) WHERE key = 'bubbleId:c1:b1'`, "row b1: data: invalid JSON at byte 40: unexpected end of JSON input"},
		{"cursor", `UPDATE cursorDiskKV SET value = CAST('' AS BLOB) WHERE key = 'bubbleId:c1:b3'`, "row b3: data: is empty, expected JSON"},
		{"hermes", `UPDATE messages SET tool_calls = '[' WHERE id = 3`, "row 3: tool_calls: invalid JSON at byte 1: unexpected end of JSON input"},
	} {
		path := fixture.Make(t, t.TempDir(), c.name)
		fixture.Exec(t, path, c.sql)
		s, texts, all := read(t, path)
		if len(texts[0].Bad) != 1 || texts[0].Bad[0].Error() != c.want {
			t.Errorf("%s: %v, want %s", c.sql, texts[0].Bad, c.want)
		}
		report, err := toolguard.CheckBytes(t.Context(), []byte(all[0]), toolguard.Dialect(s.Dialect))
		if err != nil || report.Conversations != 1 {
			t.Errorf("%s: %v\n%s", c.sql, err, all[0])
		}
	}
}

// TestCursorChats: a chat that is not JSON is listed, and cannot be read; a draft is not listed.
func TestCursorChats(t *testing.T) {
	for _, c := range []struct{ value, listed, want string }{
		{`'{"fullConversationHeadersOnly":[{"bubbleId"'`, "c1 c2", "malformed JSON"},
		{`x'ff00'`, "c1 c2", "malformed JSON"},
		{`NULL`, "c2", ""},
		{`''`, "c1 c2", "malformed JSON"},
		{`'[]'`, "c2", ""},
		{`'{"conversation":[]}'`, "c2", ""},
	} {
		path := fixture.Make(t, t.TempDir(), "cursor")
		fixture.Exec(t, path, `UPDATE cursorDiskKV SET value = `+c.value+` WHERE key = 'composerData:c1'`)
		db, err := database.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		found, err := layout.Find(db)
		if err != nil || len(found) != 1 {
			t.Fatal(len(found), err)
		}
		sessions, _, err := found[0].List(db)
		var listed []string
		for _, s := range sessions {
			listed = append(listed, s.ID)
		}
		slices.Sort(listed)
		if got := strings.Join(listed, " "); got != c.listed || err != nil {
			t.Errorf("%s: %s, %v", c.value, got, err)
		}
		if c.want == "" {
			continue
		}
		if _, err := found[0].Read(db, "c1"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.value, err, c.want)
		}
	}
}

// TestCursorKeys: of 200,000 keys, only those of a chat are read, and found by the index.
func TestCursorKeys(t *testing.T) {
	path := fixture.Make(t, t.TempDir(), "cursor")
	fixture.Exec(t, path, `PRAGMA synchronous=OFF; BEGIN;
		WITH n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 199999)
			INSERT INTO cursorDiskKV SELECT 'bubbleId:chat' || (i % 20) || ':' || i, '{"type":' || (1 + i / 20 % 2) || ',"bubbleId":"' || i || '","text":"bubble ' || i || '"}' FROM n;
		WITH n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 19)
			INSERT INTO cursorDiskKV SELECT 'composerData:chat' || i, json_object('composerId', 'chat' || i, 'fullConversationHeadersOnly', (
				WITH m(k) AS (VALUES (9999) UNION ALL SELECT k - 1 FROM m WHERE k > 0) SELECT json_group_array(json_object('bubbleId', '' || (20 * k + i), 'type', 1 + k % 2)) FROM m)) FROM n;
		COMMIT`)
	db, err := database.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	found, err := layout.Find(db)
	if err != nil || len(found) != 1 {
		t.Fatal(len(found), err)
	}
	s := found[0]
	for _, query := range []string{s.Sessions, s.Text.Query, s.Text.Each.Query} {
		stmt, _, err := db.Prepare("EXPLAIN QUERY PLAN " + query)
		if err != nil {
			t.Fatal(err)
		}
		searches := 0
		for stmt.Step() {
			step := stmt.ColumnText(3)
			if strings.Contains(step, "sqlite_autoindex_cursorDiskKV_1 (key") {
				searches++
			}
			if strings.HasPrefix(step, "SCAN cursorDiskKV") || strings.HasPrefix(step, "SCAN b") {
				t.Errorf("%s\n%s", step, query)
			}
		}
		if err := stmt.Close(); err != nil || searches == 0 {
			t.Errorf("%d searches, %v\n%s", searches, err, query)
		}
	}
	sessions, _, err := s.List(db)
	if err != nil || len(sessions) != 22 {
		t.Fatal(len(sessions), err)
	}
	text, err := s.Read(db, "chat7")
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	raw, err := io.ReadAll(io.NewSectionReader(text, 0, text.Size()))
	if err != nil {
		t.Fatal(err)
	}
	var chat struct{ Messages []struct{ Text string } }
	if err := json.Unmarshal(raw, &chat); err != nil || len(chat.Messages) != 10000 {
		t.Fatal(len(chat.Messages), err)
	}
	for i, m := range chat.Messages { // in the order of the chat, not of the keys
		if want := fmt.Sprintf("bubble %d", 20*(9999-i)+7); m.Text != want {
			t.Fatalf("%q, want %q", m.Text, want)
		}
	}
}

// TestPacked: MessagePack that is cut or changed becomes JSON, or it is said why not.
func TestPacked(t *testing.T) {
	for sql, want := range map[string]string{
		`substr(checkpoint, 1, 200)`:     "its MessagePack cannot be read: unexpected EOF",
		`unhex(hex(checkpoint) || '00')`: "its MessagePack ends 1 bytes before the end",
		`x'c1'`:                          "its MessagePack cannot be read: the type 0xc1 is unknown",
		`x'd50592c0c0'`:                  "its MessagePack cannot be read: an object has no value",
		`x'ddffffffff'`:                  "its MessagePack cannot be read: unexpected EOF",
		`unhex(replace(hex(zeroblob(999)), '00', '91'))`: "its MessagePack cannot be read: values are nested too deep",
	} {
		path := fixture.Make(t, t.TempDir(), "langgraph")
		fixture.Exec(t, path, `UPDATE checkpoints SET checkpoint = `+sql+` WHERE thread_id = 't1'`)
		_, texts, all := read(t, path)
		bad := texts[0].Bad
		if want = "row 1f13a0f2-0000-6000-8001-000000000002: checkpoint: " + want; len(bad) != 1 || bad[0].Error() != want {
			t.Errorf("%s: %v, want %s", sql, bad, want)
		}
		if got := `{"thread_id":"t1","checkpoint_id":"1f13a0f2-0000-6000-8001-000000000002","checkpoint":null}` + "\n"; all[0] != got {
			t.Errorf("%s: %s", sql, all[0])
		}
	}
	path := fixture.Make(t, t.TempDir(), "langgraph")
	random := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 40 {
		fixture.Exec(t, path, fmt.Sprintf(`UPDATE checkpoints SET checkpoint = unhex(substr(hex(checkpoint), 1, %d) || '%02x' || substr(hex(checkpoint), %d)) WHERE type = 'msgpack'`, 2*random.IntN(1100), random.IntN(256), 2*random.IntN(1100)+1))
		_, texts, all := read(t, path)
		refused += len(texts[0].Bad)
		for _, text := range all {
			if !json.Valid([]byte(text)) {
				t.Fatalf("%q", text)
			}
		}
		path = fixture.Make(t, t.TempDir(), "langgraph")
	}
	if refused < 5 || refused > 39 {
		t.Errorf("%d of 40 were refused", refused)
	}
}

// TestLong: a text that is longer than what is kept in memory is the same text.
func TestLong(t *testing.T) {
	path := fixture.Make(t, t.TempDir(), "opencode")
	fixture.Exec(t, path, `WITH n(i) AS (VALUES (1000) UNION ALL SELECT i + 1 FROM n WHERE i < 1079)
		INSERT INTO part SELECT 'prt_' || i, 'msg_5', 'ses_2', 1, 1, '{"type":"text","text":"' || i || replace(hex(zeroblob(250000)), '00', 'ab') || '"}' FROM n`)
	_, _, all := read(t, path)
	long := all[0]
	if len(long) < 35<<20 || !strings.HasSuffix(long, "\"}]}]}\n") {
		t.Fatalf("%d bytes", len(long))
	}
	for i := 1000; i < 1080; i++ {
		text := `"text":"` + string(rune('0'+i/1000)) + string(rune('0'+i/100%10)) + string(rune('0'+i/10%10)) + string(rune('0'+i%10)) + "abab"
		if strings.Count(long, text) != 1 {
			t.Errorf("%s is not there once", text)
		}
	}
	if _, err := toolguard.CheckBytes(t.Context(), []byte(long)); err != nil {
		t.Error(err)
	}
}
