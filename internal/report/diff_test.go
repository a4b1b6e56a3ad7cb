package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// A splice is an edit of a text, as tests write it.
type splice struct {
	start, end int64
	text       string
}

// pieces returns a source with edits made.
func pieces(t testing.TB, src *source.Source, edits ...edit.Edit) *edit.Pieces {
	t.Helper()
	p, err := edit.Apply(src, edits)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func diffOf(t testing.TB, path, text string, edits ...splice) (diff, after string) {
	t.Helper()
	src := source.FromBytes(path, []byte(text))
	var list []edit.Edit
	for _, e := range edits {
		list = append(list, edit.Edit{Span: source.Span{Start: e.start, End: e.end}, Text: []byte(e.text)})
	}
	pieces := pieces(t, src, list...)
	d, err := NewDiff(path, src, pieces)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	n, err := d.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("%d of %d bytes, %v", n, b.Len(), err)
	}
	whole, err := io.ReadAll(io.NewSectionReader(pieces, 0, pieces.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), string(whole)
}

// apply applies a diff and checks every part of it.
func apply(text, diff string) (string, error) {
	const noEnd = "\\ No newline at end of file\n"
	if diff == "" {
		return text, nil
	}
	old := strings.SplitAfter(text, "\n")
	if old[len(old)-1] == "" {
		old = old[:len(old)-1]
	}
	lines := strings.SplitAfter(diff, "\n")
	lines = lines[:len(lines)-1]
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "--- ") || !strings.HasPrefix(lines[1], "+++ ") {
		return "", errors.New("no header")
	}
	lines = lines[2:]
	var out strings.Builder
	at, written := 0, 0
	for len(lines) > 0 {
		var from, to [2]int
		head := strings.Fields(lines[0])
		if len(head) != 4 || head[0] != "@@" || head[3] != "@@" {
			return "", fmt.Errorf("not the start of a hunk: %q", lines[0])
		}
		for i, r := range []*[2]int{&from, &to} {
			start, n, several := strings.Cut(head[i+1][1:], ",")
			r[0], _ = strconv.Atoi(start)
			r[1] = 1
			if several {
				r[1], _ = strconv.Atoi(n)
			}
			if r[1] > 0 {
				r[0]-- // now lines count from 0
			}
		}
		lines = lines[1:]
		if from[0] < at {
			return "", errors.New("hunks overlap")
		}
		for ; at < from[0]; at++ {
			out.WriteString(old[at])
			written++
		}
		if written != to[0] {
			return "", fmt.Errorf("the hunk says line %d, the text is at %d", to[0], written)
		}
		before, after := 0, 0
		for len(lines) > 0 && !strings.HasPrefix(lines[0], "@@") {
			mark, line := lines[0][0], lines[0][1:]
			lines = lines[1:]
			if len(lines) > 0 && lines[0] == noEnd {
				line = strings.TrimSuffix(line, "\n")
				lines = lines[1:]
			}
			if mark != '+' {
				if at >= len(old) || old[at] != line {
					return "", fmt.Errorf("line %d is not %q", at+1, line)
				}
				at++
				before++
			}
			if mark != '-' {
				out.WriteString(line)
				written++
				after++
			}
		}
		if before != from[1] || after != to[1] {
			return "", fmt.Errorf("the hunk says %v and %v, it has %d and %d lines", from, to, before, after)
		}
	}
	for ; at < len(old); at++ {
		out.WriteString(old[at])
	}
	return out.String(), nil
}

func TestDiff(t *testing.T) {
	t.Parallel()
	const ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	tests := []struct {
		name, text string
		edits      []splice
		want       string // without the two lines of the header
	}{
		{"nothing", ten, nil, ""},
		{"the same again", ten, []splice{{2, 3, "2"}}, ""},
		{"a line put in", ten, []splice{{8, 8, "4½\n"}}, "@@ -2,6 +2,7 @@\n 2\n 3\n 4\n+4½\n 5\n 6\n 7\n"},
		{"a line put in behind the end of another", ten, []splice{{7, 7, "\n4½"}}, "@@ -2,6 +2,7 @@\n 2\n 3\n 4\n+4½\n 5\n 6\n 7\n"},
		{"a line taken out", ten, []splice{{8, 10, ""}}, "@@ -2,7 +2,6 @@\n 2\n 3\n 4\n-5\n 6\n 7\n 8\n"},
		{"the first line", ten, []splice{{0, 2, ""}}, "@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4\n"},
		{"before the first line", ten, []splice{{0, 0, "0\n"}}, "@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n"},
		{"behind the last line", ten, []splice{{21, 21, "11\n"}}, "@@ -8,3 +8,4 @@\n 8\n 9\n 10\n+11\n"},
		{"behind the last line, without an end", ten, []splice{{21, 21, "11"}}, "@@ -8,3 +8,4 @@\n 8\n 9\n 10\n+11\n\\ No newline at end of file\n"},
		{"the last end", ten, []splice{{20, 21, ""}}, "@@ -7,4 +7,4 @@\n 7\n 8\n 9\n-10\n+10\n\\ No newline at end of file\n"},
		{"an end at last", "a\nb", []splice{{3, 3, "\n"}}, "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		{"behind a last line without an end", "a\nb", []splice{{3, 3, "\nc"}}, "@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n"},
		{"before a last line without an end", "a\nb", []splice{{2, 2, "c\n"}}, "@@ -1,2 +1,3 @@\n a\n+c\n b\n\\ No newline at end of file\n"},
		{"in a last line without an end", "a\nb", []splice{{2, 3, "c"}}, "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"},
		{"two edits in a line", "a\nb c d\ne\n", []splice{{2, 3, "B"}, {6, 7, "D"}}, "@@ -1,3 +1,3 @@\n a\n-b c d\n+B c D\n e\n"},
		{"two lines joined", ten, []splice{{7, 8, ""}}, "@@ -1,8 +1,7 @@\n 1\n 2\n 3\n-4\n-5\n+45\n 6\n 7\n 8\n"},
		{"joined by two edits", "a b\nc d\n", []splice{{0, 1, "A"}, {2, 5, "+"}, {6, 7, "D"}}, "@@ -1,2 +1 @@\n-a b\n-c d\n+A + D\n"},
		{"a line split", "ab\n", []splice{{1, 1, "\n"}}, "@@ -1 +1,2 @@\n-ab\n+a\n+b\n"},
		{"all of it taken out", "a\nb\n", []splice{{0, 4, ""}}, "@@ -1,2 +0,0 @@\n-a\n-b\n"},
		{"all of it put in", "", []splice{{0, 0, "a\n"}}, "@@ -0,0 +1 @@\n+a\n"},
		{"CRLF", "a\r\nb\r\n", []splice{{3, 3, "c\r\n"}}, "@@ -1,2 +1,3 @@\n a\r\n+c\r\n b\r\n"},
		{"neighbours", ten, []splice{{2, 3, "two"}, {4, 5, "three"}}, "@@ -1,6 +1,6 @@\n 1\n-2\n-3\n+two\n+three\n 4\n 5\n 6\n"},
		{"a line moved up", ten, []splice{{3, 3, "\n4"}, {5, 7, ""}}, "@@ -1,7 +1,7 @@\n 1\n 2\n+4\n 3\n-4\n 5\n 6\n 7\n"},
		{"near enough to be one hunk", ten, []splice{{0, 1, "one"}, {14, 15, "eight"}}, "@@ -1,10 +1,10 @@\n-1\n+one\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+eight\n 9\n 10\n"},
		{"too far from each other for it", ten, []splice{{0, 0, "0\n"}, {16, 17, "nine"}}, "@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -6,5 +7,5 @@\n 6\n 7\n 8\n-9\n+nine\n 10\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, after := diffOf(t, "s.jsonl", tt.text, tt.edits...)
			want := tt.want
			if want != "" {
				want = "--- a/s.jsonl\n+++ b/s.jsonl\n" + want
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if applied, err := apply(tt.text, got); err != nil || applied != after {
				t.Errorf("applied: %q, %v; want %q", applied, err, after)
			}
		})
	}
}

// randomText returns lines of which many are equal or empty.
func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(30) {
		b.WriteString([]string{"", "a", "b", "ab", "a b c", "{}"}[r.IntN(6)])
		b.WriteString([]string{"\n", "\n", "\r\n", "\n\n"}[r.IntN(4)])
	}
	if r.IntN(2) == 0 {
		b.WriteString("end")
	}
	return b.String()
}

func randomEdits(r *rand.Rand, size int) []splice {
	var out []splice
	for at := 0; ; {
		at += r.IntN(12)
		end := at + r.IntN(6)*r.IntN(3)
		if end > size || len(out) > 8 {
			return out
		}
		var text strings.Builder
		for range r.IntN(4) {
			text.WriteString([]string{"x", "a", "\n", "ab\n", "\r\n", "{}"}[r.IntN(6)])
		}
		if end > at || text.Len() > 0 {
			out = append(out, splice{int64(at), int64(end), text.String()})
		}
		at = end
	}
}

func TestDiffRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range sample.Inputs(20_000, 5_000, 2_000) {
		text := randomText(r)
		edits := randomEdits(r, len(text))
		diff, after := diffOf(t, "s", text, edits...)
		if got, err := apply(text, diff); err != nil || got != after {
			t.Fatalf("%q with %v: %q, %v; want %q\n%s", text, edits, got, err, after, diff)
		}
	}
}

// gitApply applies a diff of a file with git.
func gitApply(t *testing.T, dir, diff string) {
	t.Helper()
	cmd := exec.Command("git", "apply", "--whitespace=nowarn", "-")
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(diff)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("git apply: %v\n%s\n%s", err, out, diff)
	}
}

func TestDiffGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(3, 4))
	names := []string{
		"s.jsonl", "a b.jsonl", "übel.jsonl", "sub/s.jsonl", "-n", "a\tb", "quote\".json", `back\slash`, "line\nfeed",
		"trailing ", " leading", "日本", "\xff.json", "b/a/x", "x\t2020-01-01",
	}
	for i := range 3 * len(names) {
		name := names[i%len(names)]
		text := randomText(r)
		edits := randomEdits(r, len(text))
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Logf("not a name here: %q", name)
			continue
		}
		diff, after := diffOf(t, name, text, edits...)
		if diff == "" || text == "" || after == "" {
			continue // to git these are files that come and go
		}
		gitApply(t, dir, diff)
		if got, err := os.ReadFile(path); err != nil || string(got) != after {
			t.Errorf("%q: %q with %v: %q, %v; want %q\n%s", name, text, edits, got, err, after, diff)
		}
	}
}

// TestDiffLongLines: a diff may have lines far longer than a block.
func TestDiffLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 5*diffBlock/10)
	text := "a\n" + long + "\nb\n" + long + "\n" + long + "\nc"
	at := int64(2 + len(long) + 1)
	for _, edits := range [][]splice{
		{{at, at, "new\n"}},
		{{at - 7, at - 5, "x"}, {at + 1, at + 2, ""}},
		{{2, 3, ""}, {int64(len(long)), int64(len(long)) + 1, "y"}, {int64(len(text)), int64(len(text)), long}},
		{{1, 2, ""}},
		{{0, at + 5, long + "\n"}},
	} {
		diff, after := diffOf(t, "s", text, edits...)
		if got, err := apply(text, diff); err != nil || got != after {
			t.Errorf("%v", err)
		}
	}
	src := source.FromBytes("s", []byte(text))
	pieces := pieces(t, src, edit.Edit{Text: []byte("x")})
	d, err := NewDiff("s", src, pieces)
	if err != nil || d.Empty() || d.LongestLine() != int64(len(long))+1 {
		t.Errorf("longest line %d of %d, %v", d.LongestLine(), len(long)+1, err)
	}
}

func TestDiffOfAbsolutePath(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	diff, _ := diffOf(t, path, "a\n", splice{0, 1, "b"})
	want := "--- a/" + strings.TrimPrefix(filepath.ToSlash(path[len(filepath.VolumeName(path)):]), "/") + "\n"
	if !strings.HasPrefix(diff, want) {
		t.Errorf("%q does not begin with %q", diff, want)
	}
}

// failing is a source that cannot be read from an offset on.
type failing struct {
	text string
	from int64
}

func (f failing) ReadAt(b []byte, off int64) (int, error) {
	if off+int64(len(b)) > f.from {
		return 0, errors.New("broken")
	}
	return copy(b, f.text[off:]), nil
}

func TestDiffOfFailingSource(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a line\n", 100<<10)
	edits := []edit.Edit{{Span: source.Span{Start: 70, End: 71}, Text: []byte("x")}, {Span: source.Span{Start: 300 << 10, End: 300<<10 + 1}, Text: []byte("x")}}
	for _, from := range []int64{0, 100, 200 << 10, 310 << 10} {
		src := source.NewSource("s", failing{text, from}, int64(len(text)))
		d, err := NewDiff("s", src, pieces(t, src, edits...))
		if err == nil {
			_, err = d.WriteTo(io.Discard)
		}
		if err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("broken from %d on: %v", from, err)
		}
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	text := "{\"a\":1}\n{\"content\":\"\x1b[31m\u202e" + strings.Repeat("x", 200) + "\",\"id\":\"c1\"}\r\n{}\n"
	at := int64(strings.Index(text, `"c1"`))
	src := source.FromBytes("s", []byte(text))
	pieces := pieces(t, src, []edit.Edit{
		{Span: source.Span{Start: 5, End: 6}, Text: []byte("\x1b]0;")},
		{Span: source.Span{Start: at, End: at + 4}, Text: []byte(`"c1-2"`)},
		{Span: source.Span{Start: at + 7, End: at + 7}, Text: []byte("{\r\n  \"new\": true}\r\n")},
		{Span: source.Span{Start: at + 7, End: at + 9}},
	}...)
	f := &engine.Fixed{
		Pieces: pieces,
		Repairs: []engine.Repair{
			{Rule: "reused-call-id", Title: "rename the id\n"},
			{Rule: "missing-tool-result", Class: operation.Additive, Title: "insert a placeholder result", Fix: 1},
			{Rule: "orphan-tool-result", Class: operation.Unsafe, Title: "drop the result", Fix: 1},
			{Rule: "empty-message", Title: "drop the message", Fix: 2},
		},
		Places: [][]source.Span{
			{{Start: at, End: at + 4}, {Start: 5, End: 6}},
			{{Start: at + 7, End: at + 9}},
			{{Start: 2, End: 2}},
		},
	}
	for _, color := range []bool{false, true} {
		var b bytes.Buffer
		if err := Preview(&b, "s\x1b.jsonl", src, f, Options{Color: color}); err != nil {
			t.Fatal(err)
		}
		golden.File(t, filepath.Join("testdata", fmt.Sprintf("preview-color=%v.golden", color)), b.String())
		if !color && bytes.ContainsAny(b.Bytes(), "\x1b\u202e") {
			t.Error("a terminal is told what to do")
		}
	}
	var b bytes.Buffer
	if err := Preview(&b, "s.jsonl", src, f, Options{NoExcerpt: true}); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b.Bytes(), []byte("xxx")) || bytes.Contains(b.Bytes(), []byte("new")) {
		t.Errorf("the transcript shows:\n%s", b.Bytes())
	}
}

// Of a long record that is inserted what matters is the result, wherever in it
// that stands.
func TestPreviewOfResults(t *testing.T) {
	t.Parallel()
	const call = `{"parentUuid":null,"isSidechain":false,"cwd":"/home/dev/work","sessionId":"5d9c2c7e-0000-4000-8000-000000000000","type":"assistant",` +
		`"message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]},"uuid":"5d9c2c7e-0000-4000-8000-000000000001"}`
	const user = `{"parentUuid":"5d9c2c7e-0000-4000-8000-000000000001","isSidechain":false,"cwd":"/home/dev/work","sessionId":"5d9c2c7e-0000-4000-8000-000000000000",` +
		`"type":"user","message":{"role":"user","content":"and?"},"uuid":"5d9c2c7e-0000-4000-8000-000000000002"}`
	for _, c := range []struct{ name, text, want string }{
		{
			"a record", call + "\n" + user + "\n",
			"s:2:1: insert a placeholder result after messages.0 (additive) [missing-tool-result]\n" +
				`    2 | + …{"type":"tool_result","tool_use_id":"toolu_1","content":"[toolguard] No result was reco…` + "\n" +
				`    2 | - {"parentUuid":"5d9c2c7e-0000-4000-8000-000000000001","isSidechain":false,"cwd":"/home/d…` + "\n" +
				`    3 | + {"parentUuid":"7d0cf294-bf7d-4ec9-8ed8-2e82e93762b2","isSidechain":false,"cwd":"/home/d…` + "\n",
		},
		{
			"a message", `[{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]},{"role":"assistant","content":"So."}]`,
			"s:1:93: insert a placeholder result after messages.0 (additive) [missing-tool-result]\n" +
				`    1 | + …1","name":"ls","input":{}}]},…{"type":"tool_result","tool_use_id":"toolu_1","content":"[…` + "\n",
		},
		{
			"a block", `[{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]},{"role":"user","content":[{"type":"text","text":"So?"}]}]`,
			"s:1:119: insert a placeholder result into messages.1 (additive) [missing-tool-result]\n" +
				`    1 | + …]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"[…` + "\n",
		},
	} {
		src := source.FromBytes("s", []byte(c.text))
		f, err := engine.Settle(t.Context(), src, engine.FixOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Preview(&b, "s", src, f, Options{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, b.String()); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

// TestPreviewOfLines: what changes is shown line by line, without the lines that stay.
func TestPreviewOfLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 300)
	numbers := func(from, to int, indent string) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintf(&b, "%s%d\n", indent, i)
		}
		return b.String()
	}
	for _, tt := range []struct {
		name, text string
		at, to     int
		new, want  string
	}{
		{"a line is dropped", "a\nb\nc\n", 2, 4, "", ":2:1\n    2 | - b\n"},
		{"the last line is dropped", "a\nb", 1, 3, "", ":1:2\n    2 | - b\n"},
		{"the only line is dropped", "a", 0, 1, "", ":1:1\n    1 | - a\n    1 | +\n"},
		{"a line is inserted", "a\nc\n", 2, 2, "b\n", ":2:1\n    2 | + b\n"},
		{"a line is inserted behind the end of another", "a\nc\n", 1, 1, "\nb", ":1:2\n    2 | + b\n"},
		{"a line is appended", "a", 1, 1, "\nb\n", ":1:2\n    2 | + b\n    3 | +\n"},
		{"a line with a return is dropped", "a\r\nb\r\nc\r\n", 3, 6, "", ":2:1\n    2 | - b\n"},
		{"an element is appended", "[\n  {\n  }\n]", 9, 9, ",\n  {\n  }", ":3:4\n    3 | +   },\n    4 | +   {\n"},
		{"a part of a line is removed", "[1,2]", 2, 4, "", ":1:3\n    1 | - [1,2]\n    1 | + [1]\n"},
		{
			"the middle of several lines", "[\n1,\n2,\n3\n]\n", 2, 11, "1,\nzwei,\nx,\n3\n]",
			":2:1\n    3 | - 2,\n    3 | + zwei,\n    4 | + x,\n",
		},
		{"twelve lines", "[\n]", 2, 2, numbers(1, 12, ""), ":2:1\n" + numbered(2, 1, 12)},
		{"more lines", "[\n]", 2, 2, numbers(1, 14, ""), ":2:1\n" + numbered(2, 1, 12) + "      | … 2 more lines\n"},
		{
			"many lines for many", numbers(101, 120, ""), 0, 80, numbers(1, 20, ""),
			":1:1\n" + strings.ReplaceAll(numbered(1, 101, 106), "+", "-") + numbered(1, 1, 6) + "      | … 28 more lines\n",
		},
		{
			"one line for many", numbers(101, 120, ""), 0, 80, "1\n",
			":1:1\n" + strings.ReplaceAll(numbered(1, 101, 111), "+", "-") + "    1 | + 1\n      | … 9 more lines\n",
		},
		{
			"long lines", "[" + long + "]", 301, 303, "x" + long,
			":1:302\n    1 | - …" + long[:2*(29+58)] + "…\n    1 | + …" + long[:2*29] + "x" + long[:2*57] + "…\n",
		},
	} {
		src := source.FromBytes("s", []byte(tt.text))
		f := &engine.Fixed{
			Pieces:  pieces(t, src, edit.Edit{Span: source.Span{Start: int64(tt.at), End: int64(tt.to)}, Text: []byte(tt.new)}),
			Repairs: []engine.Repair{{Rule: "reused-call-id", Title: "t"}},
			Places:  [][]source.Span{{{Start: int64(tt.at), End: int64(tt.to)}}},
		}
		var b bytes.Buffer
		if err := Preview(&b, "s", src, f, Options{}); err != nil {
			t.Fatal(err)
		}
		head, rows, _ := strings.Cut(strings.TrimPrefix(b.String(), "s"), "\n")
		got := strings.TrimSuffix(head, ": t (safe) [reused-call-id]") + "\n" + rows
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
		if !utf8.ValidString(got) || strings.Contains(got, "<") {
			t.Errorf("%s: a character is cut:\n%s", tt.name, got)
		}
	}
}

// numbered returns rows for added lines with the numbers as text.
func numbered(line, from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%5d | + %d\n", line+i-from, i)
	}
	return b.String()
}

// TestPreviewOfPrettyPrinted: a placeholder is shown whole in a file with a value per line.
func TestPreviewOfPrettyPrinted(t *testing.T) {
	t.Parallel()
	const text = `[
  {
    "role": "assistant",
    "content": [
      {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "ls",
        "input": {}
      }
    ]
  },
  {
    "role": "user",
    "content": "go on"
  }
]
`
	const want = `s:15:16: insert a placeholder result into messages.1 (additive) [missing-tool-result]
   15 | -     "content": "go on"
   15 | +     "content": [
   16 | +       {
   17 | +         "type": "tool_result",
   18 | +         "tool_use_id": "toolu_1",
   19 | +         "content": "[toolguard] No result was recorded for this tool call; it may or ma…
   20 | +         "is_error": true
   21 | +       },
   22 | +       {
   23 | +         "type": "text",
   24 | +         "text": "go on"
   25 | +       }
      | … 1 more line
`
	src := source.FromBytes("s", []byte(text))
	f, err := engine.Settle(t.Context(), src, engine.FixOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Preview(&b, "s", src, f, Options{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestPreviewOfManyLines: a text of many lines that is removed is not kept.
func TestPreviewOfManyLines(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x\n", 3*mostLines) + "y\n"
	src := source.FromBytes("s", []byte(text))
	f := &engine.Fixed{
		Pieces:  pieces(t, src, edit.Edit{Span: source.Span{End: int64(len(text) - 2)}}),
		Repairs: []engine.Repair{{Rule: "reused-call-id", Title: "t"}},
		Places:  [][]source.Span{{{End: 1}}},
	}
	var b bytes.Buffer
	if err := Preview(&b, "s", src, f, Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(b.String(), "\n   12 | - x\n      | … 29988 more lines\n") {
		t.Errorf("got\n%s", b.String())
	}
}

// many is a source of a line for each edit, and the edits: one in each line,
// or all of them in the only line.
func many(b testing.TB, n int, oneLine bool) (*source.Source, *edit.Pieces) {
	b.Helper()
	end := "\n"
	if oneLine {
		end = " "
	}
	var text strings.Builder
	var edits []edit.Edit
	for i := range n {
		fmt.Fprintf(&text, `{"id":"call_%06d","content":"%s"}%s`, i, strings.Repeat("x", 500), end)
		if i%2 == 0 {
			text.WriteString(strings.Repeat("{}"+end, 8))
		}
		at := int64(text.Len())
		edits = append(edits, edit.Edit{Span: source.Span{Start: at - 9, End: at - 8}, Text: []byte("y")})
	}
	src := source.FromBytes("s", []byte(text.String()))
	return src, pieces(b, src, edits...)
}

func BenchmarkDiff(b *testing.B) {
	for _, oneLine := range []bool{false, true} {
		for _, n := range []int{6000, 60000} {
			src, pieces := many(b, n, oneLine)
			b.Run(fmt.Sprintf("oneLine=%v/edits=%d", oneLine, n), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(src.Size())
				for b.Loop() {
					d, err := NewDiff("s", src, pieces)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := d.WriteTo(io.Discard); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
