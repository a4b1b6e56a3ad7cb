package engine

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

const (
	unitGood = `{"messages":[{"role":"user","content":"ls"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"a"}]}`
	unitOpen = `{"messages":[{"role":"user","content":"ls"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"user","content":"well?"}]}`
)

// unitsOf lists the units of a text.
func unitsOf(t *testing.T, text string) []string {
	t.Helper()
	var out []string
	_, err := Units(t.Context(), source.FromBytes("t", []byte(text)), Options{}, func(u *Unit) error {
		bytes := strings.NewReplacer(unitGood, "good", unitOpen, "open").Replace(text[u.Span.Start:u.Span.End])
		line := fmt.Sprintf("%d %q record %d, %d conversations", u.Kind, bytes, u.Record, u.Conversations)
		if u.Unreadable {
			line += ", unreadable"
		}
		told := []string{line}
		for f := range u.Findings.All() {
			if f.Severity > rules.Info {
				told = append(told, f.Rule.Name)
			}
		}
		out = append(out, strings.Join(told, ", "))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestUnits(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"rows", unitGood + "\n\n " + unitOpen + " \n{\"a\":\n{\"b\":1}\n\x00" + unitGood, []string{
			`0 "good" record 1, 1 conversations`,
			`0 "open" record 2, 1 conversations, missing-tool-result`,
			`0 "{\"a\":" record 3, 0 conversations, unreadable, invalid-json`,
			`0 "{\"b\":1}" record 4, 0 conversations`,
			`0 "\x00good" record 5, 1 conversations, nul-padding`,
		}},
		{"a list", `{"n":1,"data":[ ` + unitGood + ` ,` + unitOpen + `,null]}`, []string{
			`1 "good" record 1, 1 conversations`,
			`1 "open" record 1, 1 conversations, missing-tool-result`,
			`1 "null" record 1, 0 conversations`,
		}},
		{"findings beside a list", `{"n":1,"n":1,"data":[` + unitGood + `,` + unitGood + `],"n":2}`, []string{
			`1 "good" record 1, 1 conversations`,
			`1 "good" record 1, 1 conversations`,
			`2 "{\"n\":1,\"n\":1,\"data\":[good,good],\"n\":2}" record 1, 0 conversations, duplicate-key, duplicate-key`,
		}},
		{"a body", unitOpen, []string{`3 "open" record 0, 1 conversations, missing-tool-result`}},
		{"a log", `{"role":"user","content":"a"}` + "\n" + `{"role":"user","content":"b"}`, []string{
			`3 "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"user\",\"content\":\"b\"}" record 0, 1 conversations`,
		}},
		{"an empty list", "[]", []string{`3 "[]" record 0, 0 conversations`}},
	} {
		if diff := cmp.Diff(tt.want, unitsOf(t, tt.text)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// TestUnitsAgree: the units of rows have the findings of a check, as it numbers and places
// them.
func TestUnitsAgree(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		row := []string{unitGood, unitOpen, strings.Replace(unitOpen, "c1", fmt.Sprint("call", i), 1), "\x00" + unitGood, `{"n":1}`, `{"messages":`}[i*i%7%6]
		b.WriteString(row + "\n")
	}
	src := func() *source.Source { return source.FromBytes("t", []byte(b.String())) }
	opts := Options{Edits: true}
	want, err := Check(t.Context(), src(), opts)
	if err != nil {
		t.Fatal(err)
	}
	var got []Finding
	rep, err := Units(t.Context(), src(), opts, func(u *Unit) error {
		got = append(got, u.Findings.List()...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Fix" || p.Last().String() == ".Rule" }, cmp.Ignore())
	if diff := cmp.Diff(want.Findings.List(), got, ignore, cmp.AllowUnexported(Finding{}, rules.Finding{})); diff != "" {
		t.Error(diff)
	}
	if want.Findings.Len() < 100 || rep.File.Conversations != want.File.Conversations || rep.File.Records != want.File.Records {
		t.Errorf("%d findings, %d of %d conversations", want.Findings.Len(), rep.File.Conversations, want.File.Conversations)
	}
}

// TestUnitsMemory: nothing that is kept grows with the findings of rows.
func TestUnitsMemory(t *testing.T) {
	c := newUnits(source.FromBytes("t", []byte(strings.Repeat(unitOpen+"\n{\"a\":\n", 2000))), Options{}, func(*Unit) error { return nil })
	c.mode = checking{c.checker}
	if _, err := c.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := c.report.File
	for name, n := range map[string]int{
		"findings": len(c.found.list), "reported": c.report.Findings.n, "offers": len(c.offers.list), "dialects": len(c.dials), "logs": len(c.logs),
		"faults": len(f.Faults), "keys": len(f.Keys), "links": len(f.Links), "unreadable": len(c.unreadable), "merging": len(c.merging),
	} {
		if n > 1 {
			t.Errorf("%d %s", n, name)
		}
	}
}

// A tally counts the bytes that are read.
type tally struct {
	io.ReaderAt
	n int64
}

// ReadAt implements io.ReaderAt.
func (c *tally) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.n += int64(n)
	return n, err
}

// TestUnitsReadRows: a row in which something was found is read again, but not what follows it.
func TestUnitsReadRows(t *testing.T) {
	t.Parallel()
	row := `{"messages":[{"role":"user","content":"` + strings.Repeat("x", 2000) + `"},{"role":"tool","tool_call_id":"c","content":"y"}]}` + "\n"
	text := strings.Repeat(row, 1000)
	in := &tally{ReaderAt: strings.NewReader(text)}
	found := 0
	_, err := Units(t.Context(), source.NewSource("rows.jsonl", in, int64(len(text))), Options{}, func(u *Unit) error {
		found += u.Findings.Len()
		return nil
	})
	if err != nil || found == 0 {
		t.Fatal(found, err)
	}
	if most := int64(20 * len(text)); in.n > most { // at least 16 KiB are read at a time
		t.Errorf("%d bytes of %d were read, want at most %d", in.n, len(text), most)
	}
}
