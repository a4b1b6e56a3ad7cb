package filter

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// merged puts the rejected bytes back.
func (p *parted) merged(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	out, rejects := p.out, p.rejects
	for _, r := range p.reasons {
		kept := int(r.Span.Start) - b.Len()
		if kept < 0 || kept > len(out) || int(r.Span.Len()) > len(rejects) {
			t.Fatalf("the rejected span %v is not in order, or longer than what was rejected", r.Span)
		}
		b.WriteString(out[:kept])
		b.WriteString(rejects[:r.Span.Len()])
		out, rejects = out[kept:], rejects[r.Span.Len():]
	}
	if rejects != "" {
		t.Fatalf("rejected for no reason: %q", rejects)
	}
	return b.String() + out
}

// holds checks what is true of every filter without repairs.
func (p *parted) holds(t *testing.T, text string) {
	t.Helper()
	for _, r := range p.reasons {
		if r.SHA256 != sha256.Sum256([]byte(text[r.Span.Start:r.Span.End])) {
			t.Fatalf("wrong hash of %v", r.Span)
		}
		if want := 1 + strings.Count(text[:r.Span.Start], "\n"); r.Line != want {
			t.Fatalf("%v begins on line %d, not %d", r.Span, want, r.Line)
		}
	}
	if p.Kept+p.Rejected != p.Conversations || p.Rejected != len(p.reasons) {
		t.Fatalf("counts %+v with %d reasons", p.Counts, len(p.reasons))
	}
	list := len(p.reasons) == 0 && p.rejects == "[]\n" || len(p.reasons) > 0 && strings.HasPrefix(p.rejects, "[\n")
	if list && p.opened == "out rejects " && p.Report.File.Framing == source.FramingDocument {
		p.holdsList(t, text)
	} else if got := p.merged(t); got != text {
		t.Fatalf("the parts make up\n%q\nnot the input\n%q", got, text)
	}
}

// holdsList checks that each element of a document is in exactly one of the outputs.
func (p *parted) holdsList(t *testing.T, text string) {
	t.Helper()
	left, want := text, "[]\n"
	var rejected []string
	for _, r := range p.reasons {
		rejected = append(rejected, text[r.Span.Start:r.Span.End])
	}
	if len(rejected) > 0 {
		want = "[\n" + strings.Join(rejected, ",\n") + "\n]\n"
	}
	if p.rejects != want {
		t.Fatalf("rejected\n%s\nwant\n%s", p.rejects, want)
	}
	for _, r := range slices.Backward(p.reasons) {
		left = left[:r.Span.Start] + left[r.Span.End:]
	}
	bare := strings.NewReplacer(",", "", " ", "", "\n", "", "\r", "", "\t", "")
	if bare.Replace(left) != bare.Replace(p.out) {
		t.Fatalf("what was not rejected is\n%s\nand the output\n%s", left, p.out)
	}
	if json.Valid([]byte(text)) && !json.Valid([]byte(p.out)) {
		t.Fatalf("not valid JSON: %s", p.out)
	}
}

// passes checks that a check finds nothing in the output. A single row that is left is read as
// a document, in which more is known, so it is left out.
func (p *parted) passes(t *testing.T, opts Options) {
	t.Helper()
	rep, err := engine.Check(t.Context(), source.FromBytes("t", []byte(p.out)), opts.Check)
	if err != nil {
		t.Fatal(err)
	}
	if was := p.Report.File; rep.Skipped != "" || rep.File.Container != was.Container || rep.File.Dialect != was.Dialect {
		return
	}
	for f := range rep.Findings.All() {
		if f.Severity >= opts.FailOn {
			t.Fatalf("%s at byte %d is left in\n%s", f.Rule.Name, f.Span.Start, p.out)
		}
	}
}

// A fixture is a file of testdata/transcripts.
type fixture struct{ name, text string }

// fixtures returns all fixtures.
func fixtures(t *testing.T) []fixture {
	t.Helper()
	root := filepath.Join("..", "..", "testdata", "transcripts")
	paths, err := filepath.Glob(filepath.Join(root, "*", "*", "*.json*"))
	if err != nil || len(paths) < 100 {
		t.Fatalf("%d fixtures: %v", len(paths), err)
	}
	var out []fixture
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fixture{strings.TrimPrefix(path, root), string(raw)})
	}
	return out
}

// TestFixtures filters all fixtures as the files of a directory.
func TestFixtures(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	for _, f := range fixtures(t) {
		for _, at := range []rules.Severity{rules.Error, rules.Warning} {
			opts := Options{FailOn: at, Whole: true}
			p := parts(t, f.text, opts)
			switch {
			case p.err != nil:
				t.Fatalf("%s: %v", f.name, p.err)
			case p.Report.Skipped != "" || !p.Report.File.Sure:
				if p.opened != "" {
					t.Errorf("%s: %s was opened", f.name, p.opened)
				}
				continue
			}
			kinds[p.Report.File.Container]++
			p.holds(t, f.text)
			p.passes(t, opts)
		}
	}
	for _, name := range []string{detect.ContainerConversations, detect.ContainerDocuments, detect.ContainerLinkedLog} {
		if kinds[name] < 4 {
			t.Errorf("%d fixtures are %s", kinds[name], name)
		}
	}
}

// pool returns rows with a conversation, made of the fixtures.
func pool(t *testing.T) []string {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range fixtures(t) {
		var b bytes.Buffer
		if json.Compact(&b, []byte(f.text)) == nil {
			seen[b.String()] = true
		} else if p := parts(t, f.text, Options{Whole: true}); p.err == nil && p.Report.Skipped == "" && p.Report.File.Container == detect.ContainerConversations {
			for row := range strings.Lines(f.text) {
				seen[strings.TrimSpace(row)] = true
			}
		}
	}
	delete(seen, "")
	return slices.Sorted(maps.Keys(seen))
}

// damage changes a row at random.
func damage(r *rand.Rand, row string) string {
	at := r.IntN(len(row))
	switch r.IntN(12) {
	case 0:
		return row[:at]
	case 1:
		return row[at:]
	case 2:
		return row[:at] + row[min(len(row), at+1+r.IntN(40)):]
	case 3:
		return row[:at] + "\x00" + row[at:]
	case 4:
		return row[:at] + "\xff" + row[at:]
	case 5:
		return strings.Replace(row, "call_", "Call_", 1)
	case 6:
		return row + row
	case 7:
		return "\x00\x00" + row
	case 8:
		return " \t" + row + " "
	}
	return row
}

// mutant returns a dataset with damaged rows. If wild is set, its rows may have nothing in
// common, and values may reach over several lines.
func mutant(r *rand.Rand, rows []string, wild bool) string {
	var b strings.Builder
	if r.IntN(4) == 0 {
		b.WriteString(byteOrderMark)
	}
	ends := []string{"\n", "\n", "\n", "\r\n", "\n\n", " \n\t\n", "\x00\n", "\n" + byteOrderMark, "", " "}
	base := rows[r.IntN(len(rows))]
	for range 1 + r.IntN(8) {
		row := base
		if wild && r.IntN(3) == 0 {
			row = rows[r.IntN(len(rows))]
		}
		row = damage(r, row)
		if wild && r.IntN(12) == 0 && len(row) > 0 {
			at := r.IntN(len(row))
			row = row[:at] + "\n" + row[at:]
		}
		b.WriteString(row)
		if wild {
			b.WriteString(ends[r.IntN(len(ends))])
		} else {
			b.WriteString(ends[r.IntN(len(ends)-2)])
		}
	}
	return b.String()
}

// TestMutants damages datasets at random. All of the input is in the outputs, once; a check of
// what passes finds nothing; and repairs change nothing when they are made again.
func TestMutants(t *testing.T) {
	t.Parallel()
	rows := pool(t)
	n, done := 0, sample.Until(t)
	var rejected, repaired int
	for seed := range uint64(sample.Inputs(8_000, 100, 60)) {
		if done() {
			break
		}
		n++
		r := rand.New(rand.NewPCG(seed, sample.Seed(7)))
		wild := seed%2 == 0
		text := mutant(r, rows, wild)
		opts := Options{FailOn: []rules.Severity{rules.Error, rules.Warning}[r.IntN(2)], Row: true}
		name := fmt.Sprintf("seed %d", seed)
		p := filtered(t, name, text, opts)
		if p == nil {
			continue
		}
		p.holds(t, text)
		rejected += p.Rejected
		if wild {
			continue
		}
		p.passes(t, opts)
		opts = repairing(opts, map[string]string{"missing-tool-result": "insert", "orphan-tool-result": "drop"})
		fixed := filtered(t, name, text, opts)
		repaired += fixed.Repaired
		fixed.passes(t, opts)
		again := filtered(t, name, fixed.out, opts)
		if again == nil || again.Report.File.Container != fixed.Report.File.Container || again.Report.File.Dialect != fixed.Report.File.Dialect {
			continue
		}
		if again.out != fixed.out || again.Repaired > 0 {
			t.Errorf("%s: again %+v\n%q\n%q", name, again.Counts, fixed.out, again.out)
		}
	}
	if rejected < n || repaired < n/5 {
		t.Errorf("only %d rejected and %d repaired", rejected, repaired)
	}
}

// filtered filters a text. It returns nil if that is not a dataset.
func filtered(t *testing.T, name, text string, opts Options) *parted {
	t.Helper()
	p := parts(t, text, opts)
	if errors.As(p.err, new(*Error)) {
		return nil
	}
	if p.err != nil {
		t.Fatalf("%s: %v", name, p.err)
	}
	if p.Report.Skipped != "" || !p.Report.File.Sure {
		return nil
	}
	return &p
}

// TestReference compares rows with a check of each row alone.
func TestReference(t *testing.T) {
	t.Parallel()
	kinds := []string{good, open, orphan, late, preference(good, good), preference(good, orphan), header, torn, "", strings.Replace(good, "{}", "[", 1)}
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 3))
		var in, out, rejects strings.Builder
		var want Counts
		for i := range 20 {
			row := kinds[r.IntN(len(kinds))]
			if i < 2 {
				row = good // shows the format
			}
			end := []string{"\n", "\r\n"}[r.IntN(2)]
			in.WriteString(row + end)
			switch judge(t, row) {
			case "":
				if out.WriteString(row + end); row != "" {
					want.NotJudged++
				}
			case "kept":
				out.WriteString(row + end)
				want.Kept++
			default:
				rejects.WriteString(row + end)
				want.Rejected++
			}
		}
		p := parts(t, in.String(), Options{})
		if p.err != nil || p.out != out.String() || p.rejects != rejects.String() {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, p.err, p.out, p.rejects)
		}
		if p.Kept != want.Kept || p.Rejected != want.Rejected || p.NotJudged != want.NotJudged {
			t.Errorf("seed %d: got %+v, want %+v", seed, p.Counts, want)
		}
	}
}

// judge says what becomes of a row: "kept", "rejected", or "" if it is no conversation.
func judge(t *testing.T, row string) string {
	t.Helper()
	var fields map[string]json.RawMessage
	if row != "" && json.Unmarshal([]byte(row), &fields) != nil {
		return "rejected"
	}
	if fields["messages"] == nil && fields["chosen"] == nil {
		return ""
	}
	// Two of them are a dataset.
	rep, err := engine.Check(t.Context(), source.FromBytes("t", []byte(row+"\n"+row+"\n")), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for f := range rep.Findings.All() {
		if f.Severity == rules.Error {
			return "rejected"
		}
	}
	return "kept"
}

// TestAhead: reading ahead changes nothing.
func TestAhead(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 3000 {
		row := good
		if i%97 == 50 {
			row = open
		}
		b.WriteString(strings.Replace(row, "ls", strings.Repeat("x", i%1500), 1) + "\n")
	}
	want := parts(t, b.String(), Options{})
	src := source.NewSource("t", strings.NewReader(b.String()), int64(b.Len()))
	src.SetAhead(1)
	got := partsOf(t, src, Options{})
	if want.Rejected != 31 || got.out != want.out || got.rejects != want.rejects || len(got.reasons) != 31 {
		t.Errorf("%+v, %+v", want.Counts, got.Counts)
	}
	got.holds(t, b.String())
}
