package report

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/hostile"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// annotation is a command of the github format.
var annotation = regexp.MustCompile(`^::(error|warning|notice) file=[^:]*,(?:line=\d+,[^:]*)?title=[a-z0-9-]+::`)

// hostileReport is a report with a text in every place to which a transcript, a
// path or a config can bring one. With excerpts there is one for each way to
// underline a part of it.
func hostileReport(text, behind string, excerpts bool) *engine.Report {
	at := source.Position{Offset: 5, Line: 1, Column: 6, Char: 6}
	r := &engine.Report{
		Path: text,
		File: &container.File{
			Decision:  detect.Decision{Dialect: text, Container: detect.ContainerLines},
			CheckOnly: text,
		},
	}
	var found []engine.Finding
	add := func(excerpt string, from, to int) {
		fix := &operation.Operation{ID: 1, Title: text + behind}
		found = append(found, engine.Finding{
			Finding: rules.Finding{
				Rule: rules.ByName("missing-tool-result"), Severity: rules.Error,
				Message: text + behind, Discreet: behind + text, Span: source.Span{Start: 5, End: 9},
				CallID: text, Tool: text, Kind: text, Refusal: text + "{id}{name}" + behind, Confidence: text,
				Related: []rules.Related{{Message: text}}, Fix: fix,
			},
			Path: text, Dialect: text, Pointer: "/" + text + "/" + behind + "/id",
			Start: at, End: at, RelatedAt: []source.Position{at, at}, Fingerprint: text,
			Excerpt: engine.Excerpt{Text: []byte(excerpt), Mark: [2]int{from, to}},
			Edits:   []edit.Edit{{Span: source.Span{Start: 5, End: 9}, Text: []byte(text)}},
			EditAt:  &[2]source.Position{at, at},
		})
	}
	excerpt := text + behind
	add(excerpt, 0, len(excerpt))
	for from := range len(excerpt) + 1 {
		for to := from; excerpts && to <= min(len(excerpt), from+2); to++ {
			add(excerpt, from, to)
		}
	}
	id := `"` + text + `"`
	add(id, 0, len(id))
	found[len(found)-1].Span.End = 5 + int64(len(id))
	found[0].Fix, found[0].Unfixed = nil, text+behind
	r.Findings = engine.Pack(found...)
	return r
}

// pairs calls f with each hostile text alone and with each part of one that
// could complete it, by default with one in three of these.
func pairs(f func(text, behind string)) {
	for i, text := range hostile.Texts() {
		f(text, "")
		for k, behind := range []string{"#[x]", "[x]", ":", "::x", "\x80\xae"} {
			if (i+k)%sample.Size(1, 3, 3) == 0 {
				f(text, behind)
			}
		}
	}
}

// TestNothingIsObeyed: whatever text stands in a finding, no report in any format
// is obeyed by a terminal or a CI, and colours change nothing about that.
func TestNothingIsObeyed(t *testing.T) {
	t.Parallel()
	for _, f := range Formats() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			pairs(func(text, behind string) {
				rep := hostileReport(text, behind, f.Excerpts)
				for i := range 4 {
					opts := Options{Color: i&1 > 0, NoExcerpt: i&2 > 0, Version: text, Started: time.Unix(0, 0)}
					var b bytes.Buffer
					out := f.New(&b, opts)
					if err := out.File(rep); err != nil {
						t.Fatal(err)
					}
					if err := out.Close(&Summary{}); err != nil {
						t.Fatal(err)
					}
					may := hostile.Allowed{Colors: opts.Color && f.Human}
					if f.Name == "github" {
						may.Commands = annotation
					}
					if err := hostile.Obeyed(b.String(), may); err != nil {
						t.Errorf("%q and %q, color %v, no excerpt %v: %v", text, behind, opts.Color, opts.NoExcerpt, err)
					}
				}
			})
		})
	}
}

// TestPreviewIsNotObeyed: neither is a preview, whatever is replaced by what.
func TestPreviewIsNotObeyed(t *testing.T) {
	t.Parallel()
	pairs(func(text, behind string) {
		line := "\n" + text + behind + text + "\n"
		src := source.FromBytes("s", []byte(line))
		for cut := 1; cut < len(line); cut++ {
			at := source.Span{Start: int64(cut), End: int64(min(cut+2, len(line)-1))}
			f := &engine.Fixed{
				Pieces:  pieces(t, src, edit.Edit{Span: at, Text: []byte(text)}),
				Repairs: []engine.Repair{{Rule: "reused-call-id", Title: behind}, {Rule: "reused-call-id", Title: text}},
			}
			for _, opts := range []Options{{Color: cut%2 > 0}, {Color: cut%2 == 0, NoExcerpt: cut%8 == 0}} {
				var b bytes.Buffer
				if err := Preview(&b, text, src, f, opts); err != nil {
					t.Fatal(err)
				}
				if err := hostile.Obeyed(b.String(), hostile.Allowed{Colors: opts.Color}); err != nil {
					t.Errorf("%q and %q, %v: %v", text, behind, opts, err)
				}
			}
		}
	})
}

// TestWidthOfHostileLines: no row of a preview and no line of a report is wider than it may be,
// although more of it has to be escaped where a colour begins.
func TestWidthOfHostileLines(t *testing.T) {
	t.Parallel()
	const width = 60
	judge := func(what, out string) {
		t.Helper()
		for line := range strings.Lines(out) {
			plain := colourCodes.ReplaceAllString(strings.TrimSuffix(line, "\n"), "")
			if n := textWidth(plain); n > width && strings.Contains(strings.TrimSpace(plain), " ") {
				t.Errorf("%s: %d columns:\n%s", what, n, plain)
			}
		}
	}
	for _, text := range []string{"##", "##vso", "日##", strings.Repeat("a", 40) + "##", strings.Repeat("##", 40), strings.Repeat("❤\ufe0f", 60)} {
		for pad := range 12 {
			line := strings.Repeat("x", pad) + text
			src := source.FromBytes("s", []byte(line+"old"+strings.Repeat("y", 80)))
			f := &engine.Fixed{
				Pieces: pieces(t, src, edit.Edit{
					Span: source.Span{Start: int64(len(line)), End: int64(len(line) + 3)}, Text: []byte("n" + text),
				}),
				Repairs: []engine.Repair{{Rule: "reused-call-id", Title: strings.Repeat("t", pad) + text + " " + text}},
				Places:  [][]source.Span{{{Start: int64(len(line)), End: int64(len(line) + 3)}}},
			}
			var b bytes.Buffer
			if err := Preview(&b, "s", src, f, Options{Color: true, Width: width}); err != nil {
				t.Fatal(err)
			}
			judge("preview of "+line, b.String())
			x := engine.Finding{
				Finding: rules.Finding{Rule: rules.ByName("missing-tool-result"), Severity: rules.Error, Message: line + " " + line, Related: []rules.Related{{Message: strings.Repeat("m", 30+pad) + "##"}}},
				Path:    "s", RelatedAt: make([]source.Position, 2),
				Excerpt: engine.Excerpt{Text: []byte(line + line), Mark: [2]int{len(line), 2 * len(line)}},
			}
			x.RelatedExcerpts = []engine.Excerpt{x.Excerpt}
			rep := &engine.Report{File: &container.File{}, Findings: engine.Pack(x)}
			b.Reset()
			out := newText(&b, Options{Color: true, Width: width})
			if err := out.File(rep); err != nil {
				t.Fatal(err)
			}
			judge("report of "+line, b.String())
		}
	}
}

// colourCodes are what switches colours on and off.
var colourCodes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestLinesAreNotObeyed: text that is printed as a line, as an underlined one, or
// through a Screen is not, wherever the writes to that end.
func TestLinesAreNotObeyed(t *testing.T) {
	t.Parallel()
	judge := func(name, text, shown string) {
		t.Helper()
		if err := hostile.Obeyed(shown, hostile.Allowed{}); err != nil {
			t.Errorf("%s of %q: %v", name, text, err)
		}
	}
	pairs(func(text, behind string) {
		text += behind
		line := Printable(text)
		judge("line", text, line)
		if strings.Contains(line, "\n") || Printable(line) != line {
			t.Errorf("%q becomes %q, and that %q", text, line, Printable(line))
		}
		for cut := range len(text) + 1 {
			if i := strings.IndexByte(text, '\n'); i < 0 { // it is a line of a file
				judge("underlined", text, Underlined(1, text, cut, min(3, len(text)-cut), DefaultWidth))
			}
			var b strings.Builder
			s := NewScreen(&b)
			for _, part := range []string{text[:cut], text[cut:], "\n"} {
				if n, err := s.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			judge("screen", text, b.String())
			if strings.Count(b.String(), "\n") != strings.Count(text, "\n")+1 {
				t.Errorf("screen of %q: %q", text, b.String())
			}
		}
	})
}

// TestScreen: what a Screen lets through is what Printable does, line by line,
// and characters that several writes share stay whole.
func TestScreen(t *testing.T) {
	t.Parallel()
	const text = "日本語 é ##[x]\n::error::x\n\x1b[2J\xff\xc3(\n"
	const want = "日本語 é ##<5b>x]\n<3a>:error::x\n<1b>[2J<ff><c3>(\n"
	for cut := range len(text) + 1 {
		var b strings.Builder
		s := NewScreen(&b)
		for _, part := range []string{text[:cut], text[cut:]} {
			if _, err := s.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
		}
		// Of a colon that was written nothing can be changed any more.
		late := strings.Replace(want, "<3a>:", ":<3a>", 1)
		if got := b.String(); got != want && (got != late || !strings.HasSuffix(text[:cut], "\n:")) {
			t.Errorf("cut at %d: %q", cut, got)
		}
	}
}

// TestEscapedJSON: JSON that was made harmless says what it said.
func TestEscapedJSON(t *testing.T) {
	t.Parallel()
	pairs(func(text, behind string) {
		in := map[string]any{"k": text, text: []any{behind, text + behind}, "n": 1.5}
		plain, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := encode(in)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if err := json.Unmarshal(plain, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got, &b); err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%q (-plain +escaped):\n%s", text+behind, diff)
		}
		if err := hostile.Obeyed(string(got), hostile.Allowed{}); err != nil {
			t.Error(err)
		}
	})
	indented := EscapeJSON([]byte("{\n  \"a\": \"###\"\n}\n"))
	if want := "{\n  \"a\": \"\\u0023\\u0023#\"\n}\n"; string(indented) != want {
		t.Errorf("%q, want %q", indented, want)
	}
}

// TestDiscreet: with NoExcerpt no format shows what is marked as payload, in a
// message, on the way to it, in an excerpt or in an edit, and ids and names are
// still there.
func TestDiscreet(t *testing.T) {
	t.Parallel()
	const secret = "SECRET"
	at := source.Position{Line: 1, Column: 1, Char: 1}
	line := `{"id":"c1","name":"ls","input":{"id":"` + secret + `"}}`
	find := func(rule, pointer, mark, message, discreet string, within int) engine.Finding {
		i := strings.Index(line, mark)
		return engine.Finding{
			Finding: rules.Finding{
				Rule: rules.ByName(rule), Severity: rules.Error, Message: message, Discreet: discreet, Within: within,
				Span: source.Span{Start: int64(i), End: int64(i + len(mark))}, CallID: "c1", Tool: "ls",
				Fix: &operation.Operation{ID: 1, Title: "rewrite"},
			},
			Path: "p", Pointer: pointer, Start: at, End: at, Fingerprint: "f",
			Excerpt: engine.Excerpt{Text: []byte(line), Mark: [2]int{i, i + len(mark)}},
			Edits:   []edit.Edit{{Text: []byte(secret)}}, EditAt: &[2]source.Position{at, at},
		}
	}
	found := []engine.Finding{
		find("missing-tool-result", "/id", `"c1"`, `call "c1" has no result`, "", 0),
		find("schema-violation", "/input/id", `"`+secret+`"`, "breaks: "+secret, "breaks: additionalProperties", 1),
		find("schema-violation", "/input/"+secret+"/0", `"`+secret+`"`, "breaks: "+secret, "breaks: type", 2),
		find("lone-surrogate", "/input/"+secret, secret, "this escape is half of a surrogate pair", "", 0),
	}
	found = append(found, found[0])
	last := &found[len(found)-1]
	last.CallID, last.Tool = `{"k":"`+secret+`"}`, `["`+secret+`"]`
	last.NestedID, last.NestedTool = true, true
	rep := &engine.Report{Path: "p", File: &container.File{}, Findings: engine.Pack(found...)}
	want := map[string]string{"text": "c1", "json": `"tool":"ls"`, "jsonl": `"pointer":"/input","call_id":"c1"`, "sarif": "c1"}
	for _, f := range Formats() {
		for _, discreet := range []bool{false, true} {
			var b bytes.Buffer
			out := f.New(&b, Options{NoExcerpt: discreet})
			if err := out.File(rep); err != nil {
				t.Fatal(err)
			}
			if err := out.Close(&Summary{}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(b.String(), secret); got == discreet {
				t.Errorf("%s, NoExcerpt %v: the payload shows: %v\n%s", f.Name, discreet, got, b.String())
			}
			if discreet && !strings.Contains(b.String(), want[f.Name]) {
				t.Errorf("%s: there is no %q:\n%s", f.Name, want[f.Name], b.String())
			}
		}
	}
	if f := rep.Findings.List()[1]; f.Pointer != "/input/id" || len(f.Edits) != 1 {
		t.Error("the report itself was changed")
	}
	// What was repaired is told all the same.
	var b bytes.Buffer
	out, ok := Formats()[2].New(&b, Options{NoExcerpt: true, Fix: true}).(FixReporter)
	if !ok {
		t.Fatal("no FixReporter")
	}
	fixed := &engine.Fixed{Before: rep, Repairs: []engine.Repair{{Rule: "reused-call-id", Title: "rename"}}}
	if err := out.Fixed(fixed, true); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(&Summary{}); err != nil || !strings.Contains(b.String(), `"title":"rename"`) {
		t.Errorf("%v\n%s", err, b.String())
	}
	if err := Formats()[0].New(io.Discard, Options{NoExcerpt: true}).(FixReporter).Fixed(fixed, true); err != nil {
		t.Error(err)
	}
}

// TestLine: colours are put around parts of a line, and what is spelled out is so
// as a reader sees the line.
func TestLine(t *testing.T) {
	t.Parallel()
	red := newStyle(true).severity(rules.Error)
	off := newStyle(false).severity(rules.Error)
	for _, tt := range []struct {
		parts []part
		want  string
	}{
		{[]part{bare("a"), colored(red, "b"), bare("c\n")}, "a\x1b[31;1mb\x1b[0;22mc<0a>\n"},
		{[]part{bare("a"), colored(off, "b"), colored(red, ""), bare("\x1b")}, "ab<1b>\n"},
		{[]part{bare("#"), colored(off, "#[")}, "##<5b>\n"},
		{[]part{bare("#"), colored(red, "#"), bare("[x]")}, "#\x1b[31;1m<23>\x1b[0;22m[x]\n"},
		{[]part{bare("##vso"), colored(red, "[")}, "#<23>vso\x1b[31;1m[\x1b[0;22m\n"},
		{[]part{colored(red, ":"), bare(":1:2")}, "\x1b[31;1m<3a>\x1b[0;22m:1:2\n"},
		{[]part{bare("\xe2"), colored(off, "\x80\xae")}, "<e2><80><ae>\n"},
		{[]part{bare("a: "), bare("::error::x")}, "a: <3a>:error::x\n"},
	} {
		var l lines
		l.line(tt.parts...)
		if got := l.String(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
