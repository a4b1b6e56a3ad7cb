package engine

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

var (
	fixtureDir    = filepath.Join("..", "..", "testdata", "transcripts")
	fixtureGolden = filepath.Join("testdata", "fixtures.golden")
)

// A fixture is one of the project's own transcripts, by its path below
// testdata/transcripts.
type fixture struct {
	name string
	text []byte
}

// kind returns the folders of the fixture: its dialect, and "ok" or "broken". The second is
// "" for a file that is not a transcript.
func (f fixture) kind() (dialect, state string) {
	parts := strings.Split(f.name, "/")
	if len(parts) == 2 {
		return parts[0], ""
	}
	return parts[0], parts[1]
}

func fixtures(t testing.TB) []fixture {
	t.Helper()
	var out []fixture
	err := filepath.WalkDir(fixtureDir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(fixtureDir, p)
		if err != nil {
			return err
		}
		out = append(out, fixture{filepath.ToSlash(rel), text})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(out, func(a, b fixture) int { return strings.Compare(a.name, b.name) })
	return out
}

// check checks a text and fails on an error of reading.
func check(t testing.TB, name string, text []byte, opts Options) *Report {
	t.Helper()
	rep, err := Check(context.Background(), source.FromBytes(name, text), opts)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return rep
}

// render writes a report as in the golden file.
func render(rep *Report) string {
	var b strings.Builder
	if rep.Skipped != "" {
		fmt.Fprintf(&b, "%s: skipped: %s\n", rep.Path, rep.Skipped)
		return b.String()
	}
	name := rep.File.Dialect
	if name == "" {
		name = "no dialect"
	}
	fmt.Fprintf(&b, "%s: %s, %s, %d conversations, %d calls, %d results\n",
		rep.Path, name, rep.File.Container, rep.File.Conversations, rep.Calls, rep.Results)
	for f := range rep.Findings.All() {
		fmt.Fprintf(&b, "  %d:%d: %s: %s: %s", f.Start.Line, f.Start.Column, f.Severity, f.Rule.Name, f.Message)
		if f.Fix != nil {
			strategy := ""
			if f.Fix.ByStrategy {
				strategy = " by strategy"
			}
			fmt.Fprintf(&b, " [%s%s: %s]", f.Fix.Class, strategy, f.Fix.Title)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// unreadable are torn documents: they have one record, and only the place of the tear is
// known.
var unreadable = map[string]bool{
	"openai-chat/broken/cut-document.json":   true,
	"openai-chat/broken/trailing-comma.json": true,
}

// TestFixtures reads every fixture. The findings of the broken ones, and the infos of the
// others, are in the golden file.
func TestFixtures(t *testing.T) {
	var got strings.Builder
	count := map[string]int{}
	for _, f := range fixtures(t) {
		folder, state := f.kind()
		count[folder+"/"+state]++
		rep := check(t, f.name, f.text, Options{})
		got.WriteString(render(rep))
		if folder == "not-transcripts" {
			if len(rep.Skipped) < len("JSON without messages") {
				t.Errorf("%s: skipped because %q", f.name, rep.Skipped)
			}
			if rep.Findings.Len() > 0 || rep.Calls > 0 || rep.Results > 0 {
				t.Errorf("%s: skipped, and yet reported:\n%s", f.name, render(rep))
			}
			continue
		}
		if rep.Skipped != "" {
			t.Errorf("%s: skipped: %s", f.name, rep.Skipped)
			continue
		}
		plain := strings.HasPrefix(path.Base(f.name), "plain-")
		switch {
		case unreadable[f.name]:
			if rep.File.Dialect != "" || rep.File.Sure || rep.File.Conversations > 0 || rep.Findings.Len() != 1 || rep.Findings.List()[0].Rule.Category != rules.Framing {
				t.Errorf("%s: cannot be read, but:\n%+v\n%s", f.name, rep.File.Decision, render(rep))
			}
		case rep.File.Dialect != folder && !plain: // messages without calls could be of any dialect
			t.Errorf("%s: read as %s (%s)", f.name, rep.File.Dialect, rep.File.Key)
		case !rep.File.Sure:
			t.Errorf("%s: not sure that it is a transcript", f.name)
		}
		worst := rules.Off
		for f := range rep.Findings.All() {
			worst = max(worst, f.Severity)
		}
		switch state {
		case "ok":
			if worst > rules.Info {
				t.Errorf("%s: is in order, but:\n%s", f.name, render(rep))
			}
			if plain != (rep.Calls+rep.Results == 0) {
				t.Errorf("%s: %d calls and %d results", f.name, rep.Calls, rep.Results)
			}
		case "broken":
			if worst == rules.Off {
				t.Errorf("%s: is broken, and nothing was found", f.name)
			}
		default:
			t.Errorf("%s: neither ok nor broken", f.name)
		}
	}
	for _, d := range dialect.All() {
		for _, state := range []string{"/ok", "/broken"} {
			least := 1
			if applicable[d.Name] != nil {
				least = 8
			}
			if n := count[d.Name+state]; n < least {
				t.Errorf("only %d fixtures in %s", n, d.Name+state)
			}
		}
	}
	if n := count["not-transcripts/"]; n < 8 {
		t.Errorf("only %d files that are no transcripts", n)
	}
	golden.File(t, fixtureGolden, got.String())
}

// everywhere are the rules that every dialect can break.
var everywhere = []string{
	"invalid-json", "truncated-record", "nul-padding", "glued-records", "raw-newline-in-string", "too-deep", "duplicate-key",
	"invalid-utf8", "lone-surrogate",
	"missing-tool-result", "pending-tool-call", "orphan-tool-result", "result-before-call", "duplicate-tool-result",
	"duplicate-call-id", "reused-call-id", "ambiguous-pairing", "mixed-dialect", "missing-call-id", "invalid-call-id",
	"invalid-tool-name", "unread-tool-field",
}

// applicable are the rules beyond those that a dialect can break, for the first
// dialects of each driver: further rows share their code.
var applicable = map[string][]string{
	"openai-chat": {
		"misplaced-tool-result", "result-order-mismatch", "result-kind-mismatch", "arguments-not-string",
		"arguments-invalid-json", "empty-tool-calls", "empty-message", "block-in-wrong-role", "consecutive-roles",
		"missing-result-name", "result-name-mismatch", "missing-arguments", "result-content-type", "missing-call-type",
		"invalid-role", "unknown-tool", "schema-violation", "null-in-schema",
	},
	"anthropic": {
		"misplaced-tool-result", "split-tool-results", "tool-result-not-first", "mixed-tool-result-message",
		"result-order-mismatch", "tool-input-not-object", "empty-message", "block-in-wrong-role", "consecutive-roles",
		"tool-use-not-last", "reasoning-unreplayable", "server-tool-unpaired", "invalid-server-tool-id", "missing-arguments",
		"result-content-type", "empty-text", "trailing-whitespace", "first-role", "cache-control-limit", "image-limit", "unknown-tool", "schema-violation",
	},
	"claude-code": {
		"misplaced-tool-result", "duplicate-record", "broken-link", "stale-parent", "unsent-branch", "interrupted-tool-call", "tool-input-not-object", "empty-message",
		"block-in-wrong-role", "reasoning-unreplayable", "server-tool-unpaired", "image-limit", "interleaved-reasoning",
	},
	"openai-responses": {
		"result-order-mismatch", "result-kind-mismatch", "arguments-not-string", "arguments-invalid-json",
		"reasoning-unreplayable", "item-not-stored", "invalid-item-id", "duplicate-item-id", "missing-arguments", "unknown-tool", "schema-violation",
	},
}

// TestFixturesCoverRules: each rule is broken by a fixture of every dialect that can break
// it, and of no other dialect.
func TestFixturesCoverRules(t *testing.T) {
	found := map[string]map[string]bool{}
	for _, f := range fixtures(t) {
		folder, _ := f.kind()
		rep := check(t, f.name, f.text, Options{})
		for x := range rep.Findings.All() {
			if found[folder] == nil {
				found[folder] = map[string]bool{}
			}
			found[folder][x.Rule.Name] = true
		}
	}
	broken := map[string]bool{}
	for _, d := range dialect.All() {
		if applicable[d.Name] == nil {
			continue
		}
		want := map[string]bool{}
		for _, name := range append(slices.Clone(everywhere), applicable[d.Name]...) {
			if rules.ByName(name) == nil {
				t.Errorf("no rule %s", name)
			}
			want[name] = true
		}
		for _, r := range rules.All() {
			switch got := found[d.Name][r.Name]; {
			case got && !want[r.Name]:
				t.Errorf("%s: %s is reported, but not listed as applicable", d.Name, r.Name)
			case !got && want[r.Name]:
				t.Errorf("%s: no fixture breaks %s", d.Name, r.Name)
			}
		}
	}
	for _, names := range found {
		maps.Copy(broken, names)
	}
	for _, r := range rules.All() {
		if !broken[r.Name] && r.Args == "" { // else a rule's own example shows it
			t.Errorf("no fixture breaks %s", r.Name)
		}
	}
}

// TestFixturesAsTheirDialect: naming the detected dialect changes nothing.
func TestFixturesAsTheirDialect(t *testing.T) {
	for _, f := range fixtures(t) {
		folder, state := f.kind()
		if state == "" || strings.Contains(f.name, "mixed-dialect") || strings.Contains(f.name, "/plain-") {
			// Messages in another dialect are not recognised when one is asked
			// for; messages without calls could be of any.
			continue
		}
		auto := render(check(t, f.name, f.text, Options{}))
		forced := render(check(t, f.name, f.text, Options{Dialect: dialect.ByName(folder)}))
		if diff := cmp.Diff(auto, forced); diff != "" {
			t.Errorf("%s (-detected +asked for):\n%s", f.name, diff)
		}
	}
}

// TestTargetAndSend: with --send no finding becomes less severe, and a pending call is an
// error with a placeholder offered. With its own provider as the target, a sound fixture has
// no errors except pending calls and roles of its own.
func TestTargetAndSend(t *testing.T) {
	pending := 0
	for _, f := range fixtures(t) {
		folder, state := f.kind()
		if state == "" {
			continue
		}
		rep := check(t, f.name, f.text, Options{Send: true})
		for fd := range rep.Findings.All() {
			switch {
			case fd.Rule.Name == "pending-tool-call" && fd.Severity == rules.Error:
				pending++
			case fd.Rule.Name == "pending-tool-call" && fd.Severity == rules.Info && fd.Fix == nil:
				// on a dead branch, or before a compaction
			case fd.Rule.Name == "pending-tool-call":
				t.Errorf("%s:%d: pending is %s with --send", f.name, fd.Start.Line, fd.Severity)
			case fd.Rule.Name == "last-role", fd.Rule.Name == "first-role", fd.Rule.Name == "invalid-role" && strings.Contains(f.name, "agent-role"):
				// a saved history need not be one to send
			case state == "ok" && fd.Severity > rules.Info && !idless(f.name):
				t.Errorf("%s: with --send:\n%s", f.name, render(rep))
			}
		}
		own := profile.ByName(dialect.ByName(folder).Provider)
		if state == "ok" && !idless(f.name) {
			rep := check(t, f.name, f.text, Options{Target: own})
			for fd := range rep.Findings.All() {
				if fd.Severity == rules.Error && fd.Rule.Name != "invalid-role" {
					t.Errorf("%s: with its own target:\n%s", f.name, render(rep))
					break
				}
			}
		}
	}
	if pending < 10 {
		t.Errorf("only %d pending calls", pending)
	}
}

// idless reports whether a fixture is data that no provider accepts as it is: without ids,
// with objects for arguments.
func idless(name string) bool { return strings.Contains(name, "object-arguments") }

// TestSeverityAndRules: rules can be chosen, and their severity set.
func TestSeverityAndRules(t *testing.T) {
	const name = "openai-chat/broken/missing-results.json"
	text, err := os.ReadFile(filepath.Join(fixtureDir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	missing := rules.ByName("missing-tool-result")
	if got := check(t, name, text, Options{Rules: []*rules.Rule{}}); got.Findings.Len() != 0 || got.Calls != 4 || got.Results != 2 {
		t.Errorf("without rules: %s", render(got))
	}
	got := check(t, name, text, Options{Rules: []*rules.Rule{missing}, Severity: map[string]rules.Severity{missing.Name: rules.Info}})
	for f := range got.Findings.All() {
		if f.Severity != rules.Info || f.Rule != missing {
			t.Errorf("%s: %s", f.Rule.Name, render(got))
		}
	}
	if got.Findings.Len() != 2 {
		t.Errorf("want the two missing results:\n%s", render(got))
	}
	if off := check(t, name, text, Options{Severity: map[string]rules.Severity{missing.Name: rules.Off}}); strings.Contains(render(off), missing.Name) {
		t.Errorf("a rule that is off reports:\n%s", render(off))
	}
}
