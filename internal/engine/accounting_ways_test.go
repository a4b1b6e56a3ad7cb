package engine

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
)

// noWayOut are the errors that no repair resolves, and why. Files of dialects that are only
// checked are not repaired at all.
var noWayOut = []struct {
	rule, reason string
	files        map[string]bool // nil for all
}{
	{"too-deep", "what lies that deep is not read", nil},
	{"mixed-dialect", "what is written in another format is not rewritten", nil},
	{"invalid-json", "a document that cannot be read is one record, and nothing else is there to keep", unreadable},
	{"truncated-record", "a document that cannot be read is one record, and nothing else is there to keep", unreadable},
	{"pending-tool-call", "a message that stands in no list has no place for a result, and without it nothing is left", lone},
	{"result-before-call", "a call without a record of its state has no place for a result, so that its only one is not taken away", stateless},
}

// stateless are the fixtures in which messages answer calls, in a dialect that writes answers
// into state records.
var stateless = map[string]bool{"continue/ok/tool-messages.json": true}

// lone are the fixtures with a call in a message that is in no list: the response of a
// server, or one message of a store.
var lone = map[string]bool{
	"anthropic/ok/api-response.json":            true,
	"bedrock/ok/strands-message.json":           true,
	"langchain/ok/langsmith-run.json":           true,
	"openai-chat/ok/request-response-log.jsonl": true,
	"openai-responses/ok/input-and-output.json": true,
	"openai-responses/ok/response-only.json":    true,
	"opencode/broken/part.json":                 true,
}

// ways returns for each rule the first and the last of its strategies that repair anything.
func ways() (first, last map[string]string) {
	first, last = map[string]string{}, map[string]string{}
	for _, r := range rules.All() {
		names := slices.DeleteFunc(slices.Clone(r.Strategies), func(s string) bool { return s == "leave" })
		if len(names) > 0 {
			first[r.Name], last[r.Name] = names[0], names[len(names)-1]
		}
	}
	return first, last
}

// leftOver repairs a text with all repairs allowed and returns the remaining errors, except
// those in noWayOut.
func leftOver(from string, text []byte, opts FixOptions) (bad []misdeed, out []byte, f *Fixed) {
	out, f, err := repaired(text, opts)
	if checkedOnly(err) {
		return nil, text, nil
	}
	if err != nil {
		return []misdeed{{"refused", err.Error()}}, nil, nil
	}
	found := f.After.Findings.List()
	for i := range found {
		e := repairing(found, &found[i])
		if found[i].Severity != rules.Error {
			continue
		}
		// A file that would become empty is not written.
		left := anatomyOf(out, dialect.ByName(f.Before.File.Dialect))
		only, _ := left.units(left.records())
		excepted := len(only) == 1 && e.Rule.Name == "orphan-tool-result" || strings.Contains(e.Unfixed, "make the transcript unreadable")
		for _, no := range noWayOut {
			excepted = excepted || no.rule == e.Rule.Name && (no.files == nil || no.files[from])
		}
		if !excepted {
			bad = append(bad, misdeed{e.Rule.Name, fmt.Sprintf("%s (%s)", e.Message, e.Unfixed)})
		}
	}
	return bad, out, f
}

// repairing returns the finding about the same element of the rule that one refers to,
// which repairs it; without such a finding, the finding itself.
func repairing(found []Finding, f *Finding) *Finding {
	if _, rule, refers := strings.Cut(f.Unfixed, ": see "); refers {
		for i := range found {
			other := &found[i]
			// Of a mixture of dialects the first message is reported.
			same := other.Span == f.Span || rule == "mixed-dialect" && other.Conversation == f.Conversation
			if other.Rule.Name == rule && same {
				return other
			}
		}
	}
	return f
}

// stuck is leftOver without the errors that another strategy of their rule resolves.
func stuck(from string, text []byte, opts FixOptions) (bad []misdeed, out []byte, f *Fixed) {
	bad, out, f = leftOver(from, text, opts)
	bad = slices.DeleteFunc(bad, func(b misdeed) bool {
		r := rules.ByName(b.kind)
		if r == nil {
			return false
		}
		ways := r.Strategies
		otherwise := opts
		if len(ways) == 0 { // its one repair, which is asked for by its name
			ways, otherwise.Explicit = []string{""}, map[string]bool{r.Name: true}
		}
		if strings.Contains(b.what, "unless that is named") {
			otherwise.Dialect = dialect.ByName(f.Before.File.Dialect)
		}
		return slices.ContainsFunc(ways, func(s string) bool {
			otherwise.Strategy = maps.Clone(opts.Strategy)
			otherwise.Strategy[r.Name] = s
			leaves, _, _ := leftOver(from, text, otherwise)
			return !slices.ContainsFunc(leaves, func(o misdeed) bool { return o.kind == b.kind || o.kind == "refused" })
		})
	})
	return bad, out, f
}

// TestWaysOut: unsafe repairs, with a strategy for each rule that has one, resolve every
// error of the fixtures, and almost all errors of mutants, which can consist of nothing but
// damage.
func TestWaysOut(t *testing.T) {
	t.Parallel()
	first, last := ways()
	var sets []markedSet
	for _, send := range []bool{false, true} {
		name := map[bool]string{true: ", send"}[send]
		sets = append(sets,
			markedSet{"the first strategy of each rule" + name, FixOptions{Options: Options{Strategy: first, Send: send}, Unsafe: true}},
			markedSet{"the last strategy of each rule" + name, FixOptions{Options: Options{Strategy: last, Send: send}, Unsafe: true}})
	}
	look := func(e *ledgerEntry, text []byte) ([]misdeed, []byte, *Fixed) { return stuck(e.from, text, e.set.opts) }
	seed := markedSeed()
	of := fixturesOf(t)
	for _, d := range dialect.All() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			var l, ofMutants ledger
			ran, left := 0, 0
			try := func(l *ledger, e *ledgerEntry) {
				ran++
				bad, _, _ := look(e, e.text)
				left += min(len(bad), 1)
				for i, b := range bad {
					if !slices.ContainsFunc(bad[:i], func(o misdeed) bool { return o.kind == b.kind }) {
						l.note(b.kind, e)
					}
				}
			}
			for i, in := range of[d.Name] {
				for k, set := range sets {
					if sample.Long() || k == i%len(sets) {
						try(&l, &ledgerEntry{in.text, in.name, set, d.Name, in.name})
					}
				}
			}
			n := sample.Inputs(150, 4, 2)
			if d.CheckOnly != "" {
				n = 0
			}
			done := sample.Until(t)
			h := fnv.New64a()
			_, _ = h.Write([]byte(d.Name))
			for i := range n {
				if done() {
					t.Logf("stopped after %d of %d mutants", i, n)
					break
				}
				s := scribeOf(seed, h.Sum64()+uint64(i))
				in := of[d.Name][s.IntN(len(of[d.Name]))]
				if len(in.text) > 20_000 {
					continue
				}
				if text := s.history(in); text != nil {
					where := fmt.Sprintf("seed %d, mutant %d of %s", seed, i, in.name)
					try(&ofMutants, &ledgerEntry{text, where, sets[s.IntN(len(sets))], d.Name, in.name})
				}
			}
			t.Logf("%d repairs, %d with an error that has no way out", ran, left)
			l.report(t, look)
			if left > 1+ran/50 {
				ofMutants.report(t, look)
			}
		})
	}
}
