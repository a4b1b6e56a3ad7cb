package layout_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/sqlite/internal/database"
	"github.com/toolguard/toolguard/sqlite/internal/fixture"
	"github.com/toolguard/toolguard/sqlite/internal/layout"
)

// TestLogEdits: an edit of the text of a log is one of its rows, and of the rows that follow from them, or is not made
// at all.
func TestLogEdits(t *testing.T) {
	path := fixture.Make(t, t.TempDir(), "openclaw")
	w, err := database.OpenForWriting(t.Context(), path, layout.FTS()...)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s := layout.All()[1]
	text, err := s.Read(w.DB, "s1")
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	raw := make([]byte, text.Size())
	if _, err := text.ReadAt(raw, 0); err != nil {
		t.Fatal(err)
	}
	line := func(id string) string {
		for l := range strings.Lines(string(raw)) {
			if strings.Contains(l, `"id":"`+id+`"`) {
				return l
			}
		}
		t.Fatalf("no event %s", id)
		return ""
	}
	const (
		added = `{"type":"message","id":"n1","parentId":"e4","timestamp":"2026-05-28T20:26:50.123Z","message":{"role":"user","content":" new "}}` + "\n"
		other = `{"type":"custom","id":"n2","parentId":"e3"}` + "\n"
	)
	for name, c := range map[string]struct {
		from, to string
		want     []string // what becomes of rows, apart from marks
	}{
		"inside":             {`"text":"1.0"`, `"text":"2"`, []string{"transcript_events 3 event_json event_utf8_bytes"}},
		"of a packed row":    {`"name":"read","arguments":{"path":"b"}`, `"name":"x","arguments":{}`, []string{"transcript_events 5 event_json event_zstd event_utf8_bytes navigation_json"}},
		"another parent":     {`"parentId":"e3"`, `"parentId":"e1"`, []string{"transcript_events 4 event_json event_utf8_bytes", "transcript_event_identities 5 parent_id", "-session_transcript_active_events 2", "-session_transcript_active_events 3", "-session_transcript_active_events 4", "+session_transcript_active_events 5 1 4"}},
		"another id":         {`"id":"e4"`, `"id":"e9"`, []string{"transcript_events 4 event_json event_utf8_bytes", "transcript_event_identities 5 event_id", "+session_transcript_fts_rows 3", "+session_transcript_fts 3 And?", "-session_transcript_fts 2", "-session_transcript_fts_rows 2"}},
		"another text":       {`"content":"And?"`, `"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":" "},{"type":"text","text":"b"}]`, []string{"transcript_events 4 event_json event_utf8_bytes", "+session_transcript_fts_rows 3", "+session_transcript_fts 3 a\nb", "-session_transcript_fts 2", "-session_transcript_fts_rows 2"}},
		"removed":            {line("e3"), "", []string{"-transcript_event_identities 4", "-transcript_events 3", "-session_transcript_active_events 3", "-session_transcript_active_events 4", "+session_transcript_active_events 5 2 4"}},
		"the last removed":   {line("e4"), "", []string{"-transcript_event_identities 5", "-transcript_events 4", "-session_transcript_active_events 4", "-session_transcript_fts 2", "-session_transcript_fts_rows 2"}},
		"added":              {line("e4"), line("e4") + added, []string{"+transcript_events 6 5 1780000010123", "+transcript_event_identities 6 n1", "+session_transcript_active_events 5 4 5", "+session_transcript_fts_rows 3", "+session_transcript_fts 3 new"}},
		"added, no line end": {strings.TrimSuffix(line("e4"), "\n"), strings.TrimSuffix(line("e4")+added, "\n"), []string{"+transcript_events 6 5 1780000010123", "+transcript_event_identities 6 n1", "+session_transcript_active_events 5 4 5", "+session_transcript_fts_rows 3", "+session_transcript_fts 3 new"}},
		"between":            {line("e4"), other + line("e4"), []string{"+transcript_events 6 4 1780000003000", "+transcript_event_identities 6 n2", "transcript_events 4 session_id seq", "transcript_event_identities 5 session_id seq", "-session_transcript_active_events 4", "+session_transcript_active_events 5 3 5"}},
		"another row":        {line("e3"), other, []string{"transcript_events 3 event_json event_utf8_bytes", "transcript_event_identities 4 event_id event_type parent_id", "-session_transcript_active_events 3", "-session_transcript_active_events 4", "+session_transcript_active_events 5 2 3", "+session_transcript_active_events 6 3 4"}},
		"two for one":        {line("e3"), strings.ReplaceAll(line("e3"), `"e3"`, `"n3"`) + other, []string{"transcript_events 3 event_json event_utf8_bytes", "transcript_event_identities 4 event_id", "+transcript_events 6 4 1780000003000", "+transcript_event_identities 6 n2", "transcript_events 4 session_id seq", "transcript_event_identities 5 session_id seq", "-session_transcript_active_events 4", "+session_transcript_active_events 5 3 4", "+session_transcript_active_events 6 4 5"}},
		"one for two":        {line("e3") + line("e4"), line("e4"), []string{"-transcript_event_identities 4", "-transcript_events 3", "-session_transcript_active_events 3", "-session_transcript_active_events 4", "+session_transcript_active_events 5 2 4"}},
		"two lines joined":   {line("e3") + line("e4")[:1], line("e4")[:1], []string{"-transcript_event_identities 4", "-transcript_events 3", "-session_transcript_active_events 3", "-session_transcript_active_events 4", "+session_transcript_active_events 5 2 4"}},
		"an id less":         {`"id":"e4",`, ``, []string{"transcript_events 4 event_json event_utf8_bytes", "-transcript_event_identities 5", "-session_transcript_active_events 4", "-session_transcript_fts 2", "-session_transcript_fts_rows 2"}},
		"no object":          {strings.TrimSuffix(line("e3"), "\n"), `1`, nil},
		"not JSON":           {`"text":"1.0"`, `"text`, nil},
		"a reset":            {line("e4"), line("e4") + `{"type":"reset","id":"n1","parentId":"e4"}` + "\n", nil},
	} {
		at := bytes.Index(raw, []byte(c.from))
		if at < 0 || bytes.Count(raw, []byte(c.from)) != 1 {
			t.Fatalf("%s: %q is not once in\n%s", name, c.from, raw)
		}
		e := edit.Edit{Span: source.Span{Start: int64(at), End: int64(at + len(c.from))}, Text: []byte(c.to)}
		changes, become, err := text.Changes(w.DB, layout.Numbers{}, []edit.Edit{e})
		if (err == nil) != (c.want != nil) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		got := map[string]bool{}
		for _, x := range changes {
			what := fmt.Sprintf("%s %d", x.Table, x.ID.Int)
			switch {
			case x.Before == nil:
				what = "+" + what
				for i, column := range x.Columns {
					v := x.After[i]
					switch {
					case x.Table == "transcript_events" && (column == "seq" || column == "created_at"), x.Table == "session_transcript_active_events" && (column == "active_position" || column == "event_seq"):
						what += fmt.Sprintf(" %d", v.Int)
					case column == "text", x.Table == "transcript_event_identities" && column == "event_id":
						what += " " + string(v.Bytes)
					}
				}
			case x.After == nil:
				what = "-" + what
			case x.Table == "session_windows", x.Table == "transcript_rewrite_watermarks", x.Table == "session_transcript_index_state":
				continue
			default:
				changed := []string{what}
				for i, column := range x.Columns {
					if !x.Before[i].Equal(x.After[i]) || column == "session_id" {
						changed = append(changed, column)
					}
				}
				what = strings.Join(changed, " ")
			}
			got[what] = true
		}
		want := map[string]bool{}
		for _, w := range c.want {
			want[w] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		// The rows then have the text that is said.
		copied := fixture.Make(t, t.TempDir(), "openclaw")
		conn := fixture.Open(t, copied)
		if err := conn.Exec("PRAGMA foreign_keys=OFF"); err != nil {
			t.Fatal(err)
		}
		for i := range changes {
			if err := changes[i].Apply(conn); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		conn.Close()
		_, _, texts := read(t, copied)
		if diff := cmp.Diff(strings.TrimRight(string(edit.Splice(raw, 0, become)), "\n"), strings.TrimRight(texts[0], "\n")); diff != "" {
			t.Errorf("%s: text (-want +got):\n%s", name, diff)
		}
	}
}
