package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/bench"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// settledText returns all that a repair says, as texts.
func settledText(text []byte, opts FixOptions, p *probe) (out map[string]any) {
	opts.probe, opts.ProveFull = p, p == nil
	var err error
	var f *Fixed
	func() {
		defer recovered(&err)
		f, err = Settle(context.Background(), source.NewSource("history", bytes.NewReader(text), int64(len(text))), opts)
	}()
	out = map[string]any{"error": fmt.Sprint(err)}
	if f == nil {
		return out
	}
	out["before"], out["after"], out["rounds"] = reportText(f.Before), reportText(f.After), f.Rounds
	out["repairs"], out["places"] = fmt.Sprintf("%+v", f.Repairs), fmt.Sprint(f.Places)
	if f.Changed() {
		whole, err := io.ReadAll(io.NewSectionReader(f.Pieces, 0, f.Pieces.Size()))
		out["text"], out["read"], out["results"] = string(whole), err, fmt.Sprint(f.NewResults())
	}
	return out
}

// rowed returns a dataset of at most so many histories, most of them broken, and some other rows, all of
// them readable.
func rowed(t *testing.T, rnd *rand.Rand, all []string, most int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := wires[rnd.IntN(2)*4] // of Chat or Messages
	mutants := breaker{rnd, &w}
	for range 6 + rnd.IntN(most-5) {
		history := mutants.talk()
		for range rnd.IntN(4) {
			history = mutants.breakOnce(history)
		}
		row := map[string]any{"messages": history}
		if rnd.IntN(3) == 0 {
			row["note"] = strings.Repeat("x", rnd.IntN(300))
		}
		b.Write(must(json.Marshal(row)))
		b.WriteString([]string{"\n", "\n", "\n\n", "\r\n", "\n  "}[rnd.IntN(5)*rnd.IntN(2)])
		if rnd.IntN(12) == 0 {
			b.WriteString(all[rnd.IntN(len(all))] + "\n")
		}
	}
	return b.Bytes()
}

// shortened returns the beginning of a text that says what failed.
func shortened(text string) string { return text[:min(len(text), 3000)] }

// rowSets returns options of a repair of rows.
func rowSets(rnd *rand.Rand) FixOptions {
	opts := FixOptions{Options: Options{Send: rnd.IntN(2) > 0, Excerpts: rnd.IntN(2) > 0}, Unsafe: rnd.IntN(2) > 0}
	if rnd.IntN(2) > 0 {
		opts.Strategy = map[string]string{"missing-tool-result": "insert"}
	}
	switch rnd.IntN(5) {
	case 0:
		opts.Most = 1 + rnd.IntN(5)
	case 1:
		opts.Most, opts.Shown = 3, func(_ *rules.Rule, s rules.Severity) bool { return s > rules.Info }
	case 2:
		opts.Explicit = map[string]bool{"consecutive-roles": true, "orphan-tool-result": true}
	}
	return opts
}

// TestProofByTouched: a repair that is proved by what its edits touch is that of a proof by a second check
// of the whole result.
func TestProofByTouched(t *testing.T) {
	t.Parallel()
	all := rowsOf(t)
	kept, tried := 0, 0
	compare := func(name string, text []byte, opts FixOptions) {
		t.Helper()
		p := &probe{}
		tried++
		if diff := cmp.Diff(settledText(text, opts, nil), settledText(text, opts, p)); diff != "" {
			t.Fatalf("%s (-full +touched):\n%s\n%s", name, shortened(diff), shortened(string(text)))
		}
		if slices.Contains(p.kept, true) {
			kept++
		}
	}
	done := sample.Until(t)
	for seed := range uint64(sample.Size(1500, 60, 30)) {
		if done() {
			break
		}
		rnd := rand.New(rand.NewPCG(seed, 3))
		compare(fmt.Sprint("rows ", seed), rowed(t, rnd, all, 28), rowSets(rnd))
		if seed%4 == 0 {
			compare(fmt.Sprint("odd rows ", seed), dataset(rnd, all), rowSets(rnd))
		}
	}
	if kept < tried/4 {
		t.Errorf("of %d proofs, only %d are by what was touched", tried, kept)
	}
	t.Logf("%d proofs, %d by what was touched", tried, kept)
}

// TestProofByTouchedOfFixtures: so are those of each fixture, of histories with marks and of mutants.
func TestProofByTouchedOfFixtures(t *testing.T) {
	t.Parallel()
	compare := func(name string, text []byte, opts FixOptions) {
		t.Helper()
		if diff := cmp.Diff(settledText(text, opts, nil), settledText(text, opts, &probe{})); diff != "" {
			t.Fatalf("%s (-full +touched):\n%s\n%s", name, shortened(diff), shortened(string(text)))
		}
	}
	sets := append(keepingSets(), markedSet{"insert", FixOptions{
		Options: Options{Send: true, Strategy: map[string]string{"missing-tool-result": "insert"}}, Unsafe: true,
	}})
	done := sample.Until(t)
	for i, in := range sampled(t, 8, fixtures(t)) {
		if done() {
			return
		}
		for k, set := range sets {
			if sample.Long() || k == i%len(sets) {
				compare(in.name+" "+set.name, in.text, set.opts)
			}
		}
		s := scribeOf(uint64(i), 7)
		for range sample.Size(4, 1, 1) {
			if text := s.history(in); text != nil {
				set := sets[s.IntN(len(sets))]
				compare("marks in "+in.name+" "+set.name, text, set.opts)
			}
		}
	}
	for i, w := range slices.Concat(wires, keptWires) {
		b := breaker{rand.New(rand.NewPCG(sample.Seed(5), uint64(i))), &w}
		for range sample.Size(100, 5, 2) {
			if done() {
				return
			}
			history := b.talk()
			for range 1 + b.IntN(5) {
				history = b.breakOnce(history)
			}
			compare("mutant of "+w.name(), w.text(history), FixOptions{Options: w.options(), Unsafe: b.IntN(2) > 0})
		}
	}
}

// logged returns a session log in which some records were lost, doubled, moved or changed, with a few records
// that are read in each proof.
func logged(t *testing.T, rnd *rand.Rand) []byte {
	t.Helper()
	var b bytes.Buffer
	calls := rnd.IntN(30)
	if err := bench.CallLog(&b, rnd.Uint64(), int64(20_000+rnd.IntN(60_000)), calls, rnd.IntN(calls/4+1)); err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSpace(b.Bytes()), []byte("\n"))
	change := func(i int, was, is string) { lines[i] = bytes.Replace(lines[i], []byte(was), []byte(is), 1) }
	each := func(was, is string) {
		for i := range lines {
			change(i, was, is)
		}
	}
	switch rnd.IntN(8) {
	case 0:
		each(`"isSidechain":false`, `"isSidechain":true`)
	case 1:
		each(`"isSidechain":false`, `"isSidechain":true,"agentId":"a"`)
	case 2:
		each(`"subtype":"turn_duration"`, `"subtype":"progress"`)
	}
	for range rnd.IntN(4) {
		i := 1 + rnd.IntN(len(lines)-2)
		switch rnd.IntN(15) {
		case 0, 1, 2:
			lines = slices.Delete(lines, i, i+1)
		case 3:
			lines = slices.Insert(lines, rnd.IntN(len(lines)), lines[i])
		case 4:
			lines[i], lines[i-1] = lines[i-1], lines[i]
		case 5:
			change(i, `"isSidechain":false`, `"isSidechain":true`)
		case 6:
			change(i, `toolu_01`, `toolu_02`)
		case 7:
			change(i, `"type":"text"`, `"type":"txt"`)
		case 8:
			lines[i] = lines[i][:len(lines[i])/2]
		case 9:
			change(i, `"content":"`, `"content":"[Request interrupted by user] `)
		case 10:
			lines[i] = append([]byte("\r\n \n"), lines[i]...)
		case 11:
			change(i, `"id":"msg_01`, `"id":"msg_02`)
		case 12, 13:
			for ; i < len(lines)-2 && !bytes.Contains(lines[i], []byte(`"subtype":"turn_duration"`)); i++ {
			}
			change(i, `"turn_duration"`, `"compact_boundary"`)
		case 14:
			change(i, `"type":"user"`, `"type":"attachment","attachment":{"prompt":"x"}`)
		}
	}
	return slices.Concat(lines...)
}

// TestProofByTouchedOfLogs: so are those of session logs.
func TestProofByTouchedOfLogs(t *testing.T) {
	t.Parallel()
	kept, tried, repaired := 0, 0, 0
	done := sample.Until(t)
	for seed := range uint64(sample.Size(4000, 80, 40)) {
		if done() {
			break
		}
		rnd := rand.New(rand.NewPCG(seed, 8))
		text, opts, p := logged(t, rnd), rowSets(rnd), &probe{}
		full := settledText(text, opts, nil)
		if diff := cmp.Diff(full, settledText(text, opts, p)); diff != "" {
			t.Fatalf("seed %d (-full +touched):\n%s", seed, shortened(diff))
		}
		if tried++; slices.Contains(p.kept, true) {
			kept++
		}
		if full["text"] != nil {
			repaired++
		}
	}
	if kept < repaired/4 {
		t.Errorf("of %d repairs, only %d are proved by what was touched", repaired, kept)
	}
	t.Logf("%d logs, %d repaired, %d proved by what was touched", tried, repaired, kept)
}

// A plant is an error in what is known of edits, in one stretch. It reports whether there is such an error.
type plant struct {
	name  string
	plant func(rnd *rand.Rand, t *touched, i int, was *roundChecker) bool
}

// plants are the errors.
var plants = []plant{
	{"forgotten", func(_ *rand.Rand, t *touched, i int, _ *roundChecker) bool {
		t.list = slices.Delete(t.list, i, i+1)
		return true
	}},
	{"row before", func(_ *rand.Rand, t *touched, i int, was *roundChecker) bool { return t.elsewhere(was, i, -1) }},
	{"row behind", func(_ *rand.Rand, t *touched, i int, was *roundChecker) bool { return t.elsewhere(was, i, 1) }},
	{"without the last row", func(_ *rand.Rand, t *touched, i int, was *roundChecker) bool {
		s := &t.list[i]
		if s.ownRecords < 2 {
			return false
		}
		s.ownRecords--
		s.was.End = was.report.File.Starts.At(s.records + s.ownRecords)
		s.is.End = min(s.is.End, s.was.End)
		return true
	}},
	{"end", func(_ *rand.Rand, t *touched, i int, was *roundChecker) bool {
		t.list[i].is.End++                            // always more, because errors of two rounds could cancel each other out
		n := t.list[i].records + t.list[i].ownRecords // of rows behind it, no edit touches the first
		return n < was.report.File.Starts.Len() && (i+1 == len(t.list) || t.list[i+1].records > n)
	}},
	{"start", func(rnd *rand.Rand, t *touched, i int, _ *roundChecker) bool {
		t.list[i].is.Start += 1 + rnd.Int64N(9)
		return true
	}},
	{"old end", func(rnd *rand.Rand, t *touched, i int, _ *roundChecker) bool {
		t.list[i].was.End -= 4 + rnd.Int64N(9) // there are at most three blanks at the end
		return true
	}},
	{"records", func(rnd *rand.Rand, t *touched, i int, _ *roundChecker) bool {
		t.list[i].records += 1 - 2*rnd.IntN(2)
		return t.list[i].records >= 0
	}},
	{"conversations", func(rnd *rand.Rand, t *touched, i int, _ *roundChecker) bool {
		t.list[i].conversations += 1 - 2*rnd.IntN(2)
		return t.list[i].conversations >= 0
	}},
	{"own conversations", func(rnd *rand.Rand, t *touched, i int, _ *roundChecker) bool {
		t.list[i].ownConversation += 1 - 2*rnd.IntN(2)
		return true
	}},
}

// elsewhere takes another row for the touched ones: the one before or behind them.
func (t *touched) elsewhere(was *roundChecker, i, by int) bool {
	s, starts := &t.list[i], &was.report.File.Starts
	grown := s.is.Start - s.was.Start
	n := s.records + by
	if by > 0 {
		n, grown = s.records+s.ownRecords, s.is.End-s.was.End
	}
	if n < 0 || n >= starts.Len() || by < 0 && i > 0 && t.list[i-1].was.End > starts.At(n) || by > 0 && i+1 < len(t.list) && t.list[i+1].records <= n {
		return false
	}
	s.was = source.Span{Start: starts.At(n), End: was.src.Size()}
	if n+1 < starts.Len() {
		s.was.End = starts.At(n + 1)
	}
	s.is = source.Span{Start: s.was.Start + grown, End: s.was.End + grown}
	s.records, s.ownRecords = n, 1
	first, _ := slices.BinarySearch(was.rowOf, int32(n)+1)
	last, _ := slices.BinarySearch(was.rowOf, int32(n)+2)
	s.conversations, s.ownConversation = first, last-first
	return true
}

// TestPlantedInTouched: an error in what is known of the edits is noticed by the proof itself, or by
// TestProofByTouched: the result is another one.
func TestPlantedInTouched(t *testing.T) {
	t.Parallel()
	all := rowsOf(t)
	plantedIn(t, sample.Size(1000, 40, 20), plants, func(rnd *rand.Rand) []byte { return rowed(t, rnd, all, 14) })
}

// TestPlantedInTouchedOfLogs: so is an error in what is known of the edits of a log.
func TestPlantedInTouchedOfLogs(t *testing.T) {
	t.Parallel()
	kinds := slices.DeleteFunc(slices.Clone(plants), func(p plant) bool { return strings.HasSuffix(p.name, "conversations") })
	plantedIn(t, sample.Size(1000, 40, 20), kinds, func(rnd *rand.Rand) []byte { return logged(t, rnd) })
}

// plantedIn plants so many errors in repairs of texts.
func plantedIn(t *testing.T, most int, plants []plant, made func(*rand.Rand) []byte) {
	t.Helper()
	refused, differs := map[string]int{}, map[string]int{}
	n := 0
	for seed := uint64(0); n < most && seed < uint64(most)*40; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 4))
		text, opts := made(rnd), rowSets(rnd)
		kind := plants[int(seed)%len(plants)]
		planted, at := false, 0
		p := &probe{}
		p.plant = func(m *touched, was *roundChecker) {
			if kind.plant(rnd, m, rnd.IntN(len(m.list)), was) && !planted {
				planted, at = true, len(p.kept)-1
			}
		}
		got := settledText(text, opts, p)
		if !planted {
			continue
		}
		n++
		diff := cmp.Diff(settledText(text, opts, nil), got)
		var without probe
		if diff == "" {
			settledText(text, opts, &without)
		}
		switch {
		case diff != "":
			differs[kind.name]++
		case len(p.kept) != len(without.kept): // the proof failed, and other repairs were tried
			refused[kind.name]++
		case slices.Contains(p.kept[at:], false): // then or in a later round
			refused[kind.name]++
		default:
			t.Errorf("seed %d: %s: nobody notices\n%s", seed, kind.name, shortened(string(text)))
		}
	}
	t.Logf("%d planted; refused: %v, noticed by the comparison: %v", n, refused, differs)
	if n < most {
		t.Errorf("only %d of %d planted", n, most)
	}
}

// TestTouchedBehindLine: a record that is inserted behind a line does not touch that line, only the next one,
// whose parent it becomes.
func TestTouchedBehindLine(t *testing.T) {
	var b bytes.Buffer
	if err := bench.CallLog(&b, 5, 200_000, 40, 4); err != nil {
		t.Fatal(err)
	}
	var at, inserted []int64
	p := &probe{least: 1, plant: func(d *touched, _ *roundChecker) {
		for _, s := range d.list {
			at = append(at, s.was.Start)
			if text := b.String()[s.was.Start:s.was.End]; s.ownRecords != 1 || strings.Count(text, "\n") != 1 {
				t.Errorf("%d records are touched: %s", s.ownRecords, shortened(text))
			}
		}
	}}
	f, err := Settle(context.Background(), source.FromBytes("log", b.Bytes()), FixOptions{probe: p})
	if err != nil || !slices.Equal(p.kept, []bool{true}) {
		t.Fatal(err, p.kept)
	}
	for _, e := range f.Edits() {
		if e.Span.Len() == 0 && b.Bytes()[e.Span.Start-1] == '\n' {
			inserted = append(inserted, e.Span.Start)
		}
	}
	if len(inserted) != 4 || !slices.Equal(at, inserted) {
		t.Errorf("records are inserted at %v, and those at %v are touched", inserted, at)
	}
}
