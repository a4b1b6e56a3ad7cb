package agents

import (
	"strings"
	"testing"
	"time"
)

// databasesTable is how the table of damaged databases begins in observations.md.
const databasesTable = "| agent with a database | damage |"

// A rowDamage is what is wrong with the rows of a session that has the calls of a session with faults. It is
// SQL. Call tgb is the first of two calls of a turn.
type rowDamage struct{ name, sql string }

// partDamages returns the damages of opencode and Kilo.
func partDamages() []rowDamage {
	const ofB = ` WHERE json_extract(data, '$.callID') = 'call_tgb'`
	return []rowDamage{
		{"none", `SELECT 1`},
		{"two calls of a turn have the same id", `UPDATE part SET data = json_set(data, '$.callID', 'call_tgb') WHERE json_extract(data, '$.callID') = 'call_tge'`},
		{"a part occurs twice", `INSERT INTO part SELECT substr(id, 1, length(id) - 4) || 'zzzz', message_id, session_id, time_created, time_updated, data FROM part` + ofB},
		{"a call has no tool name", `UPDATE part SET data = json_set(data, '$.tool', '')` + ofB},
		{"a tool name has a space", `UPDATE part SET data = json_set(data, '$.tool', 'ba sh')` + ofB},
		{"a call lost its result", `UPDATE part SET data = json_remove(json_set(data, '$.state.status', 'running'), '$.state.output')` + ofB},
		{"a call with a result is still running", `UPDATE part SET data = json_set(data, '$.state.status', 'running')` + ofB},
		{"a call has no state", `UPDATE part SET data = json_remove(data, '$.state')` + ofB},
		{"a call has an unknown state", `UPDATE part SET data = json_set(data, '$.state.status', 'done')` + ofB},
		{"a failed call has no error", `UPDATE part SET data = json_set(data, '$.state.status', 'error')` + ofB},
		{"a finished call has no output", `UPDATE part SET data = json_remove(data, '$.state.output')` + ofB},
		{"a call has no id", `UPDATE part SET data = json_remove(data, '$.callID')` + ofB},
		{"a call has no arguments", `UPDATE part SET data = json_remove(data, '$.state.input')` + ofB},
		{"arguments are torn", `UPDATE part SET data = json_set(data, '$.state.input', '{"command":"printf ''real-%s-b'' 42')` + ofB},
		{"an output has half of a character", `UPDATE part SET data = replace(data, '"output":"real-42-b"', '"output":"real-42-b\ud800"')` + ofB},
		{"a part is in another place", `UPDATE part SET id = substr(id, 1, 4) || '0' || substr(id, 6)` + ofB},
		{"a part is lost", `DELETE FROM part` + ofB},
		{"calls are in a message of the user", `UPDATE message SET data = json_set(data, '$.role', 'user') WHERE id = (SELECT message_id FROM part` + ofB + `)`},
		{"the messages of the user are lost", `DELETE FROM message WHERE json_extract(data, '$.role') = 'user'`},
		{"a row is torn", `UPDATE part SET data = substr(data, 1, 60)` + ofB},
	}
}

// eventDamages returns the damages of OpenClaw. Its events are compressed if they are long.
func eventDamages() []rowDamage {
	const (
		event  = `coalesce(event_json, unzip(event_zstd))`
		call   = event + ` LIKE '%"id":"call_tgb"%'`
		result = event + ` LIKE '%"toolCallId":"call_tgb"%'`
		gone   = `DELETE FROM transcript_events WHERE `
	)
	becomes := func(what, where string) string {
		return `UPDATE transcript_events SET event_json = ` + what + `, event_zstd = NULL, event_utf8_bytes = NULL, navigation_json = NULL WHERE ` + where
	}
	// instead puts the result of b into the first row with a note behind that with another text.
	instead := func(behind string) string {
		return becomes(`json_set(event_json, '$.type', 'message', '$.message', json((SELECT json_extract(`+event+`, '$.message') FROM transcript_events WHERE `+result+`)))`,
			`seq = (SELECT min(seq) FROM transcript_events WHERE event_json LIKE '{"type":"custom"%' AND seq > (SELECT seq FROM transcript_events WHERE `+event+` LIKE '%"toolCallId":"`+behind+`"%'))`)
	}
	return []rowDamage{
		{"none", `SELECT 1`},
		{"a result is lost", gone + result},
		{"a call is lost", gone + event + ` LIKE '%"id":"call_tga"%'`},
		{"a result names another call", becomes(`json_set(`+event+`, '$.message.toolCallId', 'call_tgx')`, result)},
		{"two calls of a turn have the same id", becomes(`json_set(`+event+`, '$.message.content[2].id', 'call_tgb')`, call)},
		{"a row is torn", becomes(`substr(`+event+`, 1, 60)`, result)},
		{"a call has two results", instead("call_tge")},
		{"a result is before its call", instead("call_tga") + `; DELETE FROM transcript_events WHERE seq = (SELECT max(seq) FROM transcript_events WHERE ` + result + `)`},
		{"a result is behind the next turn", instead("call_tgg") + `; DELETE FROM transcript_events WHERE seq = (SELECT min(seq) FROM transcript_events WHERE ` + result + `)`},
		{"a call has no tool name", becomes(`json_set(`+event+`, '$.message.content[1].name', '')`, call)},
		{"a call has no id", becomes(`json_remove(`+event+`, '$.message.content[1].id')`, call)},
		{"a call has no arguments", becomes(`json_remove(`+event+`, '$.message.content[1].arguments')`, call)},
		{"an output has half of a character", becomes(`replace(`+event+`, '"text":"real-42-b"', '"text":"real-42-b\ud800"')`, result)},
		{"the messages of the user are lost", gone + event + ` LIKE '%"role":"user"%'`},
		{"calls are in a message of the user", becomes(`json_set(`+event+`, '$.message.role', 'user')`, call)},
		{"arguments are torn", becomes(`json_set(`+event+`, '$.message.content[1].arguments', '{"command":"printf ''real-%s-b'' 42')`, call)},
		{"a tool name has a space", becomes(`json_set(`+event+`, '$.message.content[1].name', 'ex ec')`, call)},
	}
}

// TestDatabasesPage: the page has a row for each damage, once. No repair takes an output out of the request, and
// some sessions are only accepted after their repair: without them, sessions of the agent would only be checked.
func TestDatabasesPage(t *testing.T) {
	t.Parallel()
	p := readPage(t, databasesTable)
	known := map[string]bool{}
	for _, a := range others() {
		if a.damages == nil {
			continue
		}
		for _, d := range a.damages() {
			known[a.name+" "+pinned(t, a)+": "+d.name] = true
		}
	}
	cured := 0
	for _, r := range p.rows {
		key := r[0] + ": " + r[1]
		if !known[key] {
			t.Errorf("expected one row for an agent that setup.sh installs: %s", r)
		}
		delete(known, key)
		before, after := readSent(t, r[4]), readSent(t, r[5])
		if after.outputs < before.outputs || before.valid && before.trouble == "" && !after.valid {
			t.Errorf("the repair takes something out of the request: %s", r)
		}
		if !before.valid && after.whole() {
			cured++
		}
		if _, err := time.Parse(time.DateOnly, r[p.columns-1]); err != nil {
			t.Error(err)
		}
	}
	for key := range known {
		t.Errorf("%s has no row for %s", p.path, key)
	}
	if cured < 3 {
		t.Errorf("only %d damages are cured", cured)
	}
}

// curedTable returns the damages that show in the next request, and what it has after a repair.
func curedTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| agent, damage of rows | `check` finds | as they are | after `fix` |\n|---|---|---|---|\n")
	for _, r := range readPage(t, databasesTable).rows {
		if before := readSent(t, r[4]); !before.whole() || before.filled > 0 {
			b.WriteString(row{r[0] + ", " + r[1], r[3], r[4], r[5]}.String() + "\n")
		}
	}
	return b.String()
}

// TestRowDamages: no two damages of an agent have the same name.
func TestRowDamages(t *testing.T) {
	t.Parallel()
	for _, damages := range [][]rowDamage{partDamages(), eventDamages()} {
		names := map[string]bool{}
		for _, d := range damages {
			names[d.name] = true
		}
		if len(names) != len(damages) || len(names) < 15 {
			t.Error(names)
		}
	}
}
