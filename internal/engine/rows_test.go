package engine

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// unrepaired are fixtures of dialects that are repaired elsewhere.
var unrepaired = map[string]string{
	"agentscope/broken/version-2-missing.json": "a result of version 2 stands in the message of its call",
}

// TestRows: sound fixtures of each dialect are read as that dialect, and broken ones are
// sound after a repair, unless the dialect is only checked.
func TestRows(t *testing.T) {
	for _, d := range dialect.All() {
		if profile.ByName(d.Provider) == nil {
			t.Fatalf("%s: the Provider %q is none of %v", d.Name, d.Provider, profile.Names())
		}
	}
	count := map[string]int{}
	for _, f := range fixtures(t) {
		folder, state := f.kind()
		if state == "" || applicable[folder] != nil {
			continue // TestFixtures checks more of those
		}
		count[folder+"/"+state]++
		t.Run(f.name, func(t *testing.T) {
			d := dialect.ByName(folder)
			if d == nil {
				t.Fatalf("no dialect %s", folder)
			}
			rep := check(t, f.name, f.text, Options{})
			if rep.File.Dialect != d.Name {
				t.Errorf("read as %s (%s)", rep.File.Dialect, rep.File.Key)
			}
			if state == "ok" {
				return
			}
			// A dataset is repaired only if a strategy is given.
			opts := FixOptions{Options: Options{Send: true, Strategy: map[string]string{"missing-tool-result": "insert"}}, Unsafe: true}
			if only := cmp.Or(d.CheckOnly, rep.File.CheckOnly); only != "" {
				if _, err := Settle(t.Context(), source.FromBytes(f.name, f.text), opts); err == nil || !strings.Contains(err.Error(), only) {
					t.Errorf("not refused: %v", err)
				}
				return
			}
			if why := unrepaired[f.name]; why != "" {
				if fixed, f := fixText(t, f.name, f.text, opts); f.Changed() {
					t.Errorf("%s, and yet repaired:\n%s", why, fixed)
				}
				return
			}
			fixed, _ := fixText(t, f.name, f.text, opts)
			after := check(t, f.name, fixed, Options{})
			if faulty(after) {
				t.Errorf("what is broken must be in order after fix --unsafe --strategy missing-tool-result=insert; this is left:\n%s\n%s", render(after), fixed)
			}
		})
	}
	for _, d := range dialect.All() {
		for _, state := range []string{"ok", "broken"} {
			if applicable[d.Name] == nil && count[d.Name+"/"+state] == 0 {
				t.Errorf("%s: no fixtures in testdata/transcripts/%[1]s/%s", d.Name, state)
			}
		}
	}
}

// TestRowExamples: the call and the result in each dialect's example are read, and a
// generated result answers the call.
func TestRowExamples(t *testing.T) {
	for _, d := range dialect.All() {
		t.Run(d.Name, func(t *testing.T) {
			lines := strings.Split(d.Example, "\n")
			rep := check(t, "example", []byte(strings.Join(lines, "\n")+"\n"), Options{})
			if _, states := d.Driver.(dialect.StateWriter); states {
				return // call and result are states of one record
			}
			if rep.File.Dialect != d.Name || rep.Calls != 1 || rep.Results != 1 || faulty(rep) {
				t.Errorf("the example:\n%s", render(rep))
			}
			w, ok := d.Driver.(dialect.Writer)
			if !ok || d.CheckOnly != "" || d.Log != nil || len(lines) != 2 {
				return
			}
			var conv *transcript.Conversation
			b := transcript.NewBuilder(&transcript.Conversation{})
			d.Driver.Reader(b).Read(source.NewValue([]byte(lines[0]), 0))
			conv = b.Conv
			if len(conv.Calls) != 1 {
				t.Fatalf("%d calls in %s", len(conv.Calls), lines[0])
			}
			call := &conv.Calls[0]
			el := conv.Blocks[call.Block].Span
			r := dialect.NewResult{
				Kind: call.Kind, ID: call.ID.Raw, Name: call.Name.Raw, Text: `"made up"`,
				Message: source.NewValue([]byte(lines[0]), 0), Named: source.NewValue([]byte(lines[1]), 0),
				Element: source.NewValue([]byte(lines[0])[el.Start:el.End], 0),
			}
			text := written(t, w.WriteResult(r))
			if text == "{}" {
				t.Fatal("the row does not say how a result is written: its calls need an Answer, and the driver may need Message; or CheckOnly says why toolguard does not repair such files")
			}
			if msg := dialect.WriteMessage(w, "["+text+"]", source.NewValue([]byte(lines[0]), 0)); msg != nil {
				text = written(t, msg)
			}
			again := check(t, "written", []byte(lines[0]+"\n"+text+"\n"), Options{})
			if again.Calls != 1 || again.Results != 1 || faulty(again) {
				t.Errorf("with a result that was written:\n%s\n%s", text, render(again))
			}
		})
	}
}

// faulty reports whether a finding is more severe than an info.
func faulty(rep *Report) bool {
	return anyOf(&rep.Findings, func(f *Finding) bool { return f.Severity > rules.Info })
}

// written writes fields as a JSON object.
func written(t *testing.T, members []dialect.Field) string {
	t.Helper()
	parts := make([]string, len(members))
	for i, m := range members {
		parts[i] = `"` + m.Key + `":` + m.Raw
	}
	text := "{" + strings.Join(parts, ",") + "}"
	if !json.Valid([]byte(text)) {
		t.Errorf("no JSON: %s", text)
	}
	return text
}

// TestMarks: a dialect never claims a value without its keywords.
func TestMarks(t *testing.T) {
	for _, d := range dialect.All() {
		if d.Log != nil {
			continue
		}
		for line := range strings.SplitSeq(d.Example, "\n") {
			v := source.NewValue([]byte(line), 0)
			claim, _ := d.Evidence.Weigh(v, false)
			if asked := slices.Contains(slices.Collect(dialect.Builtin().Candidates(v)), d); claim != evidence.Decisive || !asked {
				t.Errorf("%s: claim %d, asked %v: %s", d.Name, claim, asked, line)
			}
		}
	}
}
