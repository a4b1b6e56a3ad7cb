package engine

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// eachFixture yields each fixture that is valid JSON without duplicate keys, record by
// record, so that the order of its fields has no meaning. The name is its path below the
// folder of all fixtures.
func eachFixture(t *testing.T, each func(name string, records []source.Value, seps [][]byte)) {
	t.Helper()
	n := 0
	for _, f := range fixtures(t) {
		if !strings.HasPrefix(path.Ext(f.name), ".json") {
			continue
		}
		if records, seps, ok := recordsOf(t, f); ok {
			n++
			each(f.name, records, seps)
		}
	}
	if n < 300 {
		t.Fatalf("%d fixtures", n)
	}
}

// recordsOf returns the records of a fixture and the text between them, and false if it is
// damaged or has a duplicate key.
func recordsOf(t *testing.T, f fixture) (records []source.Value, seps [][]byte, ok bool) {
	t.Helper()
	at := int64(0)
	for rec, err := range source.Records(source.FromBytes(f.name, f.text)) {
		if err != nil || !rec.Readable() || len(rec.Faults) > 0 || doubles(rec.Value) {
			return nil, nil, false
		}
		seps = append(seps, f.text[at:rec.Span.Start])
		records = append(records, rec.Value)
		at = rec.Span.End
	}
	return records, append(seps, f.text[at:]), len(records) > 0
}

// someFixtures yields a sample of those fixtures that fit, and returns how many there are.
func someFixtures(t *testing.T, fits func(name string, records []source.Value) bool, each func(name string, records []source.Value, seps [][]byte)) (all int) {
	t.Helper()
	var whole []fixture
	records, seps := map[string][]source.Value{}, map[string][][]byte{}
	eachFixture(t, func(name string, r []source.Value, s [][]byte) {
		if fits(name, r) {
			whole = append(whole, fixture{name, glued(s, raws(r))})
			records[name], seps[name] = r, s
		}
	})
	for _, f := range sampled(t, 10, whole) {
		each(f.name, records[f.name], seps[f.name])
	}
	return len(whole)
}

// everyFixture runs a test for each of those fixtures, or a sample of them.
func everyFixture(t *testing.T, each func(t *testing.T, name string, records []source.Value, seps [][]byte)) {
	t.Helper()
	done := sample.Until(t)
	someFixtures(t, func(string, []source.Value) bool { return true }, func(name string, records []source.Value, seps [][]byte) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if done() {
				return
			}
			each(t, path.Base(name), records, seps)
		})
	})
}

// doubles reports whether an object in v has a key twice.
func doubles(v source.Value) bool {
	seen := map[string]bool{}
	for k, val := range v.Members() {
		if seen[k.Str()] || doubles(val) {
			return true
		}
		seen[k.Str()] = true
	}
	for _, e := range v.Elements() {
		if doubles(e) {
			return true
		}
	}
	return false
}

// told returns the findings of a file without their places.
func told(t *testing.T, name string, text []byte) []string {
	t.Helper()
	rep := check(t, name, text, Options{})
	out := []string{fmt.Sprintf("%s %s, %d calls, %d results, skipped: %v", rep.File.Dialect, rep.File.Container, rep.Calls, rep.Results, rep.Skipped != "")}
	for f := range rep.Findings.All() {
		message := f.Message
		if f.Rule.Name == "duplicate-record" {
			message = "" // it says whether two records are written alike
		}
		out = append(out, fmt.Sprintf("%s %s: %s", f.Rule.Name, f.Severity, message))
	}
	slices.Sort(out[1:])
	return out
}

func glued(seps [][]byte, records [][]byte) []byte {
	var out bytes.Buffer
	for i, r := range records {
		out.Write(seps[i])
		out.Write(r)
	}
	out.Write(seps[len(records)])
	return out.Bytes()
}

// namesAreData are the keys of objects whose own keys are data: parameters of a tool, ids of
// calls.
var namesAreData = []string{"tools", "toolCallResults"}

// inOrderOf writes a value with the fields of each object in the order of order.
func inOrderOf(v source.Value, order func(members []string) []string) []byte {
	var parts []string
	switch v.Kind() {
	case source.Object:
		for k, val := range v.Members() {
			raw := val.Raw()
			if !slices.ContainsFunc(namesAreData, k.Is) {
				raw = inOrderOf(val, order)
			}
			parts = append(parts, string(k.Raw())+":"+string(raw))
		}
		return []byte("{" + strings.Join(order(parts), ",") + "}")
	case source.Array:
		for _, e := range v.Elements() {
			parts = append(parts, string(inOrderOf(e, order)))
		}
		return []byte("[" + strings.Join(parts, ",") + "]")
	}
	return v.Raw()
}

// TestOrderOfMembers: the order of the fields of objects has no meaning.
func TestOrderOfMembers(t *testing.T) {
	t.Parallel()
	everyFixture(t, func(t *testing.T, name string, records []source.Value, seps [][]byte) {
		t.Helper()
		write := func(order func([]string) []string) []byte {
			out := make([][]byte, len(records))
			for i, r := range records {
				out[i] = inOrderOf(r, order)
			}
			return glued(seps, out)
		}
		as := func(members []string) []string { return members }
		want := told(t, name, write(as))
		for seed := range uint64(3) {
			text := write(func(members []string) []string {
				// The same fields get the same order.
				h := fnv.New64a()
				for _, m := range members {
					h.Write([]byte(m))
				}
				rand.New(rand.NewPCG(seed, h.Sum64())).Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
				return members
			})
			if diff := cmp.Diff(want, told(t, name, text)); diff != "" {
				t.Errorf("seed %d (-as it is +shuffled):\n%s\n%s", seed, diff, text)
				return
			}
		}
	})
}

// TestUnknownMembers: an unknown field on any object changes no finding.
func TestUnknownMembers(t *testing.T) {
	t.Parallel()
	everyFixture(t, func(t *testing.T, name string, records []source.Value, seps [][]byte) {
		t.Helper()
		want := told(t, name, glued(seps, raws(records)))
		if strings.HasSuffix(t.Name(), "vscode-chat/ok/changes.jsonl") || strings.HasSuffix(t.Name(), "vscode-chat/broken/changes.jsonl") {
			t.Skip("a record of it sets an object that is keyed by the ids of calls")
		}
		for where, with := range map[string]func(members []string) []string{
			"first": func(members []string) []string { return append([]string{`"nobody_knows":"x"`}, members...) },
			"last":  func(members []string) []string { return append(members, `"nobodyKnows":{"a":[1,null]}`) },
			"null":  func(members []string) []string { return append([]string{`"nobody":null`}, members...) },
		} {
			out := make([][]byte, len(records))
			for i, r := range records {
				out[i] = inOrderOf(r, with)
			}
			text := glued(seps, out)
			if diff := cmp.Diff(want, told(t, name, text)); diff != "" {
				t.Errorf("%s (-as it is +with members nobody knows):\n%s\n%s", where, diff, text)
			}
		}
	})
}

func raws(records []source.Value) [][]byte {
	out := make([][]byte, len(records))
	for i, r := range records {
		out[i] = r.Raw()
	}
	return out
}

// A widening inserts an unknown object among the objects of lists.
type widening struct {
	spoken []source.Span   // messages, and the lists of them
	calls  []source.Span   // what is in them is theirs
	lists  map[string]bool // the keys of lists of calls and results: what stands there is one
	lines  bool            // messages are lines
	last   bool            // to the end of each list
	n      int             // how many lists it has widened
}

// newWidening returns the widening of a text, given the keys of its lists of calls.
func newWidening(a *anatomy, lists map[string]bool, last bool) *widening {
	w := &widening{spoken: a.lists(), lists: lists, lines: a.lines(), last: last}
	for _, c := range a.convs {
		for i := range c.Messages {
			w.spoken = append(w.spoken, c.Messages[i].Span())
		}
		for i := range c.Calls {
			w.calls = append(w.calls, c.Blocks[c.Calls[i].Block].Span)
		}
	}
	return w
}

// records inserts such objects into records, and adds one as a line after the first or the
// last line.
func (w *widening) records(records []source.Value) [][]byte {
	out := make([][]byte, len(records))
	for i, r := range records {
		out[i] = w.widened(r, "")
	}
	if at := 0; w.lines {
		if w.last {
			at = len(out) - 1
		}
		out[at] = append(slices.Clip(out[at]), "\n"+nobodysObject...)
		w.n++
	}
	return out
}

// widened inserts such objects into a value. The key of a list shows whether it holds calls
// or results.
func (w *widening) widened(v source.Value, key string) []byte {
	within := func(s source.Span) bool { return s.Contains(v.Span()) }
	around := func(s source.Span) bool { return v.Span().Contains(s) }
	if v.Kind() == source.Array && (w.lists[key] || slices.ContainsFunc(w.calls, within)) {
		return v.Raw()
	}
	var parts []string
	switch v.Kind() {
	case source.Object:
		for k, val := range v.Members() {
			parts = append(parts, string(k.Raw())+":"+string(w.widened(val, k.Str())))
		}
		return []byte("{" + strings.Join(parts, ",") + "}")
	case source.Array:
		objects := v.First().Exists() && (slices.ContainsFunc(w.spoken, within) || slices.ContainsFunc(w.spoken, around))
		for _, e := range v.Elements() {
			objects = objects && e.Kind() == source.Object
			parts = append(parts, string(w.widened(e, "")))
		}
		if objects {
			at := 0
			if w.last {
				at = len(parts)
			}
			parts = slices.Insert(parts, at, nobodysObject)
			w.n++
		}
		return []byte("[" + strings.Join(parts, ",") + "]")
	}
	return v.Raw()
}

// callLists returns the keys of lists in the messages of fixtures that hold only calls or
// results.
func callLists(of []fixture) map[string]bool {
	out := map[string]bool{}
	for _, f := range of {
		a := anatomyOf(f.text, nil)
		var messages, calls, others []source.Span
		for _, c := range a.convs {
			for i := range c.Messages {
				messages = append(messages, c.Messages[i].Span())
			}
			for i := range c.Blocks {
				switch b := &c.Blocks[i]; b.Kind {
				case transcript.BlockCall, transcript.BlockResult, transcript.BlockServerCall, transcript.BlockServerResult:
					calls = append(calls, b.Span)
				case transcript.BlockText, transcript.BlockReasoning, transcript.BlockMedia:
					others = append(others, b.Span)
				}
			}
			for i := range c.Copies {
				calls = append(calls, c.Copies[i].Block)
			}
		}
		for _, r := range parseRecords(f.text) {
			r.each(func(way []*tree, t *tree) {
				if t.kind != '[' || len(way) == 0 || way[len(way)-1].kind != '{' {
					return
				}
				at := source.Span{Start: int64(t.start), End: int64(t.end)}
				if !slices.ContainsFunc(messages, func(s source.Span) bool { return s.Contains(at) && s != at }) {
					return
				}
				up := way[len(way)-1]
				key, _ := unquoted(up.keys[slices.Index(up.kids, t)])
				for _, k := range t.kids {
					was, known := out[key]
					switch e := (source.Span{Start: int64(k.start), End: int64(k.end)}); {
					case k.kind != '{':
					case slices.ContainsFunc(calls, e.Contains):
						out[key] = was || !known
					case slices.ContainsFunc(others, e.Contains):
						out[key] = false
					}
				}
			})
		}
	}
	return out
}

const nobodysObject = `{"type":"nobody_knows","note":"x"}`

// TestUnknownBlocks: unknown blocks, items, messages and lines change no finding.
func TestUnknownBlocks(t *testing.T) {
	t.Parallel()
	lists := map[string]map[string]bool{}
	for folder, of := range fixturesOf(t) {
		lists[folder] = callLists(of)
	}
	widened := map[string]bool{}
	eachFixture(t, func(name string, records []source.Value, seps [][]byte) {
		folder, _, _ := strings.Cut(name, "/")
		w := newWidening(anatomyOf(glued(seps, raws(records)), nil), lists[folder], false)
		w.records(records)
		widened[folder] = widened[folder] || w.n > 0
	})
	for _, d := range dialect.All() {
		if !widened[d.Name] {
			t.Errorf("%s: no fixture has a list of blocks, items or messages in which an unknown one could stand", d.Name)
		}
	}
	everyFixture(t, func(t *testing.T, name string, records []source.Value, seps [][]byte) {
		t.Helper()
		for name, why := range map[string]string{
			"vscode-chat/":                            "a record of it changes what stands at a place in a list",
			"amazon-q/ok/saved.json":                  "an exchange is a list of two, each in its place",
			"amazon-q/broken/missing-and-orphan.json": "an exchange is a list of two, each in its place",
			"goose/ok/asked.json":                     "a message of questions alone is no answer, and this one has more",
			"otel/broken/missing.json":                "a message of results alone does not go on, and this one has more",
			"openai-chat/broken/mixed-dialect.json":   "a result is not the first of its message any more",
		} {
			if strings.Contains(t.Name(), name) {
				t.Skip(why)
			}
		}
		places := func(found []string) []string {
			// Messages of which nobody knows a part tell less of where others stand.
			found[0] = strings.Replace(found[0], "json-conversations", "json-messages", 1)
			return slices.DeleteFunc(found, func(f string) bool {
				return strings.HasPrefix(f, "tool-use-not-last ") || strings.HasPrefix(f, "tool-result-not-first ")
			})
		}
		folder, _, _ := strings.Cut(strings.TrimPrefix(t.Name(), "TestUnknownBlocks/"), "/")
		text := glued(seps, raws(records))
		want := places(told(t, name, text))
		for _, last := range []bool{false, true} {
			w := newWidening(anatomyOf(text, nil), lists[folder], last)
			text := glued(seps, w.records(records))
			if diff := cmp.Diff(want, places(told(t, name, text))); diff != "" {
				t.Errorf("last %v (-as it is +with blocks nobody knows):\n%s\n%s", last, diff, text)
			}
		}
	})
}
