package layout_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/sqlite/internal/database"
	"github.com/toolguard/toolguard/sqlite/internal/fixture"
	"github.com/toolguard/toolguard/sqlite/internal/layout"
)

// TestEdits: an edit of the text of a session is one of its rows, or is not made at all.
func TestEdits(t *testing.T) {
	path := fixture.Make(t, t.TempDir(), "opencode")
	fixture.Exec(t, path, `UPDATE part SET data = ' { "type" : "text" , "text":"x" } ' WHERE id = 'prt_1'; UPDATE part SET data = '{}' WHERE id = 'prt_4'`)
	db, err := database.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := layout.All()[0]
	text, err := s.Read(db, "ses_1")
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	raw := make([]byte, text.Size())
	if _, err := text.ReadAt(raw, 0); err != nil {
		t.Fatal(err)
	}
	const (
		ids2 = `"id":"prt_2","sessionID":"ses_1","messageID":"msg_2"`
		ids3 = `"id":"prt_3","sessionID":"ses_1","messageID":"msg_2"`
	)
	part2, part3 := line(t, raw, "prt_2"), line(t, raw, "prt_3")
	for name, c := range map[string]struct {
		from, to string
		want     []string // each row, and what its column becomes; "-" if it is removed
	}{
		"inside":          {`"text":"x"`, `"text":"y"`, []string{"prt_1", ` { "type" : "text" , "text":"y" } `}},
		"at the start":    {`{ "type" : "text"`, `{"a":1, "type" : "text"`, []string{"prt_1", ` {"a":1, "type" : "text" , "text":"x" } `}},
		"at the end":      {`"text":"x" ,`, `"text":"x" ,"a":1,`, []string{"prt_1", ` { "type" : "text" , "text":"x" ,"a":1} `}},
		"behind the ids":  {`"id":"prt_1","sessionID":"ses_1","messageID":"msg_1"}`, `"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","a":1}`, []string{"prt_1", ` { "type" : "text" , "text":"x" ,"a":1} `}},
		"into nothing":    {`{"id":"prt_4"`, `{"a":1,"id":"prt_4"`, []string{"prt_4", `{"a":1}`}},
		"another object":  {part2, `{"b":[1,2],` + ids2 + `}`, []string{"prt_2", `{"b":[1,2]}`}},
		"other order":     {part2, `{"messageID":"msg_2","b":",","id":"prt_2","sessionID":"ses_1"}`, []string{"prt_2", `{"b":","}`}},
		"with its comma":  {part2 + ",\n", `{"b":1,` + ids2 + "},\n", []string{"prt_2", `{"b":1}`}},
		"two objects":     {part2 + ",\n" + part3, `{"b":1,` + ids2 + `},{"c":1,` + ids3 + `}`, []string{"prt_2", `{"b":1}`, "prt_3", `{"c":1}`}},
		"one of two":      {part2 + ",\n" + part3, `{"c":1,` + ids3 + `}`, []string{"prt_2", "-", "prt_3", `{"c":1}`}},
		"removed":         {part2 + ",\n", "", []string{"prt_2", "-"}},
		"removed, last":   {",\n" + part3, "", []string{"prt_3", "-"}},
		"of a message":    {`"modelID":"m1","id":"msg_2"`, `"modelID":"m2","id":"msg_2"`, []string{"msg_2", `{"role":"assistant","time":{"created":1780000001000},"modelID":"m2"}`}},
		"another id":      {`"id":"prt_1"`, `"id":"prt_9"`, nil},
		"an id less":      {`"id":"prt_1",`, ``, nil},
		"a new object":    {part2, part2 + `,{"a":1}`, nil},
		"of the session":  {`"title":"Read both"`, `"title":"x"`, nil},
		"half a row":      {part2[10:] + ",\n" + part3[:10], "", nil},
		"no object":       {part2, `1`, nil},
		"between rows":    {",\n" + part3, ",\n\n" + part3, nil},
		"into the list":   {"[\n" + part2, "[\n{},\n" + part2, nil},
		"objects swapped": {part2 + ",\n" + part3, part3 + "," + part2, nil},
	} {
		at := bytes.Index(raw, []byte(c.from))
		if at < 0 || bytes.Count(raw, []byte(c.from)) != 1 {
			t.Fatalf("%s: %q is not once in\n%s", name, c.from, raw)
		}
		e := edit.Edit{Span: source.Span{Start: int64(at), End: int64(at + len(c.from))}, Text: []byte(c.to)}
		changes, become, err := text.Changes(db, nil, []edit.Edit{e})
		var got []string
		for _, x := range changes {
			now := "-"
			if x.After != nil {
				now = string(x.After[0].Bytes)
			}
			got = append(got, string(x.ID.Bytes), now)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || (err == nil) != (c.want != nil) {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		if err != nil && !strings.HasSuffix(err.Error(), "the repair changes more of the text than what its rows hold") {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		// The rows then have the text that is said.
		copied := fixture.Make(t, t.TempDir(), "opencode")
		fixture.Exec(t, copied, `UPDATE part SET data = ' { "type" : "text" , "text":"x" } ' WHERE id = 'prt_1'; UPDATE part SET data = '{}' WHERE id = 'prt_4'`)
		conn := fixture.Open(t, copied)
		for i := range changes {
			if err := changes[i].Apply(conn); err != nil {
				t.Fatal(err)
			}
		}
		conn.Close()
		_, _, texts := read(t, copied)
		same, err := layout.Same(strings.NewReader(string(edit.Splice(raw, 0, become))), strings.NewReader(texts[1]))
		if err != nil || !same {
			t.Errorf("%s: %v\n%s\nis not\n%s", name, err, texts[1], edit.Splice(raw, 0, become))
		}
	}
}

// line returns the object of a part in a text.
func line(t *testing.T, text []byte, id string) string {
	t.Helper()
	for l := range strings.Lines(string(text)) {
		if strings.Contains(l, `"id":"`+id+`"`) {
			l = strings.TrimRight(l, "\n")
			l = strings.TrimSuffix(l, ",")
			return strings.TrimSuffix(l, "]}")
		}
	}
	t.Fatalf("no part %s in %s", id, text)
	return ""
}

// TestSame: only white space between tokens may differ.
func TestSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a": [1, "x y"]}`, "{\n\"a\":[1,\"x y\"] }\n", true},
		{`{"a":"x y"}`, `{"a":"xy"}`, false},
		{`{"a":"\" "}`, `{"a":"\""}`, false},
		{`{"a":1}`, `{"a":1}}`, false},
		{`{"a":1}`, `{"a":`, false},
		{`[1,2]`, `[12]`, false},
		{`["\\", "b"]`, `["\\","b"]`, true},
	} {
		if got, err := layout.Same(strings.NewReader(c.a), strings.NewReader(c.b)); err != nil || got != c.want {
			t.Errorf("%s and %s: %t, %v", c.a, c.b, got, err)
		}
	}
}
