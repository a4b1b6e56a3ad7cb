package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/bench"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/hostile"
	"github.com/toolguard/toolguard/internal/session"
	"github.com/toolguard/toolguard/internal/source"
)

// read reads a session as pages need it.
func read(t testing.TB, src *source.Source) *session.Session {
	t.Helper()
	s, err := session.Read(context.Background(), src, session.Options{Times: true, Texts: true, Elements: true, Rows: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fixtures are all transcripts for tests.
func fixtures(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/transcripts/*/*/*")
	if err != nil || len(paths) < 100 {
		t.Fatalf("%d transcripts: %v", len(paths), err)
	}
	return paths
}

var block = regexp.MustCompile(`<script type="text/plain" id="([a-z]+\d*)">([^<]*)</script>`)

// unpacked returns the blocks of a page.
func unpacked(t testing.TB, page []byte) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, m := range block.FindAllSubmatch(page, -1) {
		r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(m[2])))
		if err != nil {
			t.Fatalf("%s: %v", m[1], err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("%s: %v", m[1], err)
		}
		out[string(m[1])] = text
	}
	return out
}

// decoded returns a block that holds a value.
func decoded[V any](t testing.TB, blocks map[string][]byte, id string) V {
	t.Helper()
	var v V
	if err := json.Unmarshal(blocks[id], &v); err != nil {
		t.Fatalf("block %s: %v", id, err)
	}
	return v
}

// rowsOf returns the rows of a variant.
func rowsOf(t testing.TB, blocks map[string][]byte, v variant) []row {
	t.Helper()
	var out []row
	for i := 0; len(out) < v.Rows; i++ {
		out = append(out, decoded[[]row](t, blocks, fmt.Sprint(v.Prefix, i))...)
	}
	return out
}

// payloadOf returns the bytes of a source that a page has, with zeros for those that it has not.
func payloadOf(t testing.TB, blocks map[string][]byte, h head) (text []byte, missing int64) {
	t.Helper()
	text, missing = make([]byte, h.Size), h.Size
	for i := int64(0); i*h.Width < h.Size; i++ {
		line, rest, _ := bytes.Cut(blocks[fmt.Sprint("p", i)], []byte("\n"))
		var parts []int64
		if err := json.Unmarshal(line, &parts); err != nil {
			t.Fatalf("block p%d: %v", i, err)
		}
		for k := 0; k < len(parts); k += 2 {
			copy(text[parts[k]:], rest[:parts[k+1]])
			rest = rest[parts[k+1]:]
			missing -= parts[k+1]
		}
		if len(rest) > 0 {
			t.Errorf("block p%d has %d bytes that are no part", i, len(rest))
		}
	}
	return text, missing
}

// TestWrite: the page of each transcript has its bytes, and rows for all that is in it.
func TestWrite(t *testing.T) {
	for _, path := range fixtures(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		html := page(t, path, text, mostPayload)
		blocks := unpacked(t, html)
		h := decoded[head](t, blocks, "head")
		if got, _ := payloadOf(t, blocks, h); !bytes.Equal(got, text) {
			t.Errorf("%s: the page has other bytes than the file", path)
		}
		s := read(t, source.FromBytes(path, text))
		checkRows(t, path, s, rowsOf(t, blocks, h.Before), text)
		if want := s.Report.Findings.Len(); s.Report.Skipped == "" && len(layOut(s).problems) != want && h.Before.Rows > 0 {
			t.Errorf("%s: %d of %d findings have a row", path, len(layOut(s).problems), want)
		}
		if h.After != nil {
			checkAfter(t, path, blocks, h, text)
		}
	}
}

// checkRows compares the rows of a page with the session.
func checkRows(t *testing.T, path string, s *session.Session, rows []row, text []byte) {
	t.Helper()
	kinds := map[string]int{}
	turns := 0
	for i, r := range rows {
		kinds[r.Kind]++
		if r.First {
			turns++
		}
		if r.Kind != "thread" && (r.At[1] <= 0 || r.At[0] < 0 || r.At[0]+r.At[1] > int64(len(text))) {
			t.Errorf("%s: row %d is at %v", path, i, r.At)
		}
		if r.Other >= 0 && rows[r.Other].Other != int32(i) {
			t.Errorf("%s: row %d has the other end %d, which has %d", path, i, r.Other, rows[r.Other].Other)
		}
	}
	wanted := 0
	for i := range s.Threads {
		wanted += int(s.Threads[i].TurnHi - s.Threads[i].TurnLo)
	}
	if turns != wanted {
		t.Errorf("%s: %d turns, want %d", path, turns, wanted)
	}
	if kinds["call"] != len(s.Calls) || kinds["loose"] != len(s.Loose) {
		t.Errorf("%s: %d calls and %d results without one, want %d and %d", path, kinds["call"], kinds["loose"], len(s.Calls), len(s.Loose))
	}
}

// checkAfter compares the pieces of a repaired source with what they must be.
func checkAfter(t *testing.T, path string, blocks map[string][]byte, h head, text []byte) {
	t.Helper()
	_, inserted, _ := bytes.Cut(blocks["q0"], []byte("\n"))
	var got []byte
	for _, p := range *h.After.Pieces {
		if p[2] >= 0 {
			got = append(got, text[p[2]:p[2]+p[1]]...)
		} else {
			got = append(got, inserted[-1-p[2]:][:p[1]]...)
		}
	}
	fixed, err := settle(source.FromBytes(path, text))
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if _, err := fixed.Pieces.WriteTo(&want); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s: the page has another repaired file", path)
	}
	checkRows(t, path+", repaired", read(t, source.FromBytes(path, want.Bytes())), rowsOf(t, blocks, *h.After), want.Bytes())
}

func TestShortened(t *testing.T) {
	var b bytes.Buffer
	if err := bench.CallLog(&b, 3, 3<<20, 50, 5); err != nil {
		t.Fatal(err)
	}
	text := append(b.Bytes(), `{"type":"user","message":{"role":"user","content":"`+strings.Repeat(`\"x`, 1<<20)...)
	for _, most := range []int64{1 << 20, 1 << 21} {
		blocks := unpacked(t, page(t, "a.jsonl", text, most))
		h := decoded[head](t, blocks, "head")
		got, missing := payloadOf(t, blocks, h)
		kept := 0
		for i, c := range got {
			if c != 0 {
				kept++
				if c != text[i] {
					t.Fatalf("%d: byte %d is %q, want %q", most, i, c, text[i])
				}
			}
		}
		if int64(len(text))-missing != int64(kept) || int64(kept) > most {
			t.Errorf("%d: %d bytes are kept, %d are missing", most, kept, missing)
		}
		if int64(kept) < most/4 {
			t.Errorf("%d: only %d bytes are kept", most, kept)
		}
		for id, text := range blocks {
			if id[0] == 'p' && len(text) > 2*blockSize {
				t.Errorf("%d: block %s has %d bytes", most, id, len(text))
			}
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	at := func(lo, hi int64) source.Span { return source.Span{Start: lo, End: hi} }
	p := cut([]edit.Edit{{Span: at(2, 2), Text: []byte("ab")}, {Span: at(4, 6)}, {Span: at(8, 9), Text: []byte("c")}}, 10)
	want := [][3]int64{{0, 2, 0}, {2, 2, -1}, {4, 2, 2}, {6, 2, 6}, {8, 1, -3}, {9, 1, 9}}
	if diff := cmp.Diff(want, p.list); diff != "" || p.size != 10 || string(p.text) != "abc" {
		t.Errorf("%d bytes, %q (-want +got)\n%s", p.size, p.text, diff)
	}
	for _, c := range []struct {
		at   source.Span
		want bool
	}{{at(0, 2), false}, {at(0, 3), true}, {at(3, 4), true}, {at(4, 8), false}, {at(7, 9), true}, {at(9, 10), false}} {
		if got := p.isNew(c.at); got != c.want {
			t.Errorf("%v: %v, want %v", c.at, got, c.want)
		}
	}
	if overlap(p.gone, at(3, 4)) || !overlap(p.gone, at(3, 5)) || overlap(p.gone, at(6, 8)) || !overlap(p.gone, at(0, 10)) {
		t.Errorf("gone: %v", p.gone)
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	for _, text := range append(hostile.Texts(), "</script>", "a & b", `" onload='x'`, "\u00ad\ue000") {
		got := escape(text)
		if strings.ContainsAny(got, "<>\"'\n") {
			t.Errorf("%q: %q", text, got)
		}
		for _, r := range got {
			if r < ' ' || unicode.In(r, unicode.C) && r != '\u200c' && r != '\u200d' {
				t.Errorf("%q: %q has %U", text, got, r)
			}
		}
	}
	if got, want := escape("a<b>&\"'\u202e\xff\n é\U000e0041"), `a&lt;b&gt;&amp;&quot;&#39;\u202e\xff\u000a é\u{e0041}`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

var (
	program = regexp.MustCompile(`(?s)<script>.*?</script>|<style>.*?</style>`)
	tag     = regexp.MustCompile(`</?([a-zA-Z0-9!-]+)[^<>]*>`)
)

// checkMarkup reports what no page has by itself.
func checkMarkup(t *testing.T, html []byte) {
	t.Helper()
	names := strings.Fields("!DOCTYPE html head meta title body header div h1 h2 h3 p span a section details summary code q ul li small main noscript label select option table thead tbody tr th td")
	rest := program.ReplaceAll(block.ReplaceAll(html, nil), nil)
	for _, m := range tag.FindAllSubmatch(rest, -1) {
		if !slices.Contains(names, string(m[1])) {
			t.Errorf("the page has %.100q", m[0])
		}
	}
	if left := tag.ReplaceAll(rest, nil); bytes.ContainsAny(left, "<>") {
		i := bytes.IndexAny(left, "<>")
		t.Errorf("%.200q is no tag", left[max(0, i-50):])
	}
	for _, r := range string(rest) {
		if r != '\n' && hidden(r) {
			t.Errorf("the page has %U", r)
		}
	}
	if !utf8.Valid(html) {
		t.Error("the page is not UTF-8")
	}
}

// TestHostile: no text of a transcript becomes markup, in pages and in the index.
func TestHostile(t *testing.T) {
	html := page(t, "</title><script>a</script>\x1b\u202e", attacks(), mostPayload)
	checkMarkup(t, html)
	if n := bytes.Count(html, []byte("<script>")); n != 1 {
		t.Errorf("%d scripts", n)
	}
	var all []Entry
	for i, text := range hostile.Texts() {
		text += `"><script>'`
		all = append(all, Entry{
			Name: text, Title: text, Href: text, Agent: text, Version: text, Project: text, Model: text,
			State: State(i % len(marks)), Causes: []string{text}, Note: text,
		})
	}
	var out bytes.Buffer
	if err := Index(&out, "</title>\u202e", all); err != nil {
		t.Fatal(err)
	}
	checkMarkup(t, out.Bytes())
}

func TestNotes(t *testing.T) {
	t.Parallel()
	text := attacks()[:2000]
	src := source.FromBytes("a", text)
	var out bytes.Buffer
	if err := write(&out, src, read(t, src), Options{Name: "a", Version: "1.2.3", Agent: "claude-code 2.1.33", Index: "a?b=\"c\"", Redacted: true}, 1000); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"toolguard 1.2.3", "claude-code 2.1.33", `href="a?b=&quot;c&quot;"`, "Redacted: ", "bytes of each string are on this page"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestNoPayload: nothing that was said is on a page without payloads.
func TestNoPayload(t *testing.T) {
	for _, path := range fixtures(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		src := source.FromBytes(path, text)
		s := read(t, src)
		var payloads []string
		for i := range s.Elements {
			// Short texts and single words may be names, too.
			if e := &s.Elements[i]; e.Content.Len() > 20 {
				if said := string(s.Bytes(e.Text)); len(said) > 20 && strings.Count(said, " ") > 2 {
					payloads = append(payloads, strings.Trim(said, `"`))
				}
			}
		}
		if s, err = session.Read(context.Background(), src, session.Options{Times: true, Elements: true}); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := Write(&out, src, s, Options{Name: path, NoPayload: true}); err != nil {
			t.Fatal(err)
		}
		blocks := unpacked(t, out.Bytes())
		for _, said := range payloads {
			for id, block := range blocks {
				if bytes.Contains(block, []byte(said)) {
					t.Errorf("%s: block %s has %q", path, id, said)
				}
			}
			if bytes.Contains(out.Bytes(), []byte(escape(said))) {
				t.Errorf("%s: the page has %q", path, said)
			}
		}
		if blocks["p0"] != nil {
			t.Errorf("%s: the source is on the page", path)
		}
	}
}

// TestNoPayloadOfIDs: an id or a name that is an object or a list is no id of which a page without
// payloads may tell more than the kind, also after a repair made a text of it.
func TestNoPayloadOfIDs(t *testing.T) {
	t.Parallel()
	src := source.FromBytes("s", []byte(`{"messages":[{"role":"user","content":"a"},`+
		`{"role":"assistant","content":null,"tool_calls":[{"id":{"k":"SeCrEt"},"type":"function","function":{"name":{"k":"SeCrEt"},"arguments":"{}"}},{"id":"c","type":"function","function":{"name":"ok","arguments":"{}"}}]},`+
		`{"role":"tool","tool_call_id":{"k":"SeCrEt"},"name":["SeCrEt"],"content":"b"},{"role":"tool","tool_call_id":{"l":"SeCrEt"},"content":"b"}]}`))
	read := func(src *source.Source) *session.Session {
		s, err := session.Read(t.Context(), src, session.Options{Times: true, Elements: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	fixed, err := settle(src)
	if err != nil || !fixed.Changed() {
		t.Fatal("nothing is repaired", err)
	}
	var out bytes.Buffer
	after := &Variant{Session: read(fixed.Pieces.Source()), Edits: fixed.Edits()}
	if err := Write(&out, src, read(src), Options{Name: "s", NoPayload: true, After: after}); err != nil {
		t.Fatal(err)
	}
	blocks := unpacked(t, out.Bytes())
	blocks["the page"] = out.Bytes()
	for id, block := range blocks {
		if bytes.Contains(block, []byte("SeCrEt")) {
			t.Errorf("%s: %s", id, block)
		}
	}
	if !bytes.Contains(blocks["r0"], []byte(`"id":"{…}"`)) || !bytes.Contains(blocks["s0"], []byte(`"id":"{…}"`)) {
		t.Errorf("no id: %s", blocks["r0"])
	}
}

func TestEntryOf(t *testing.T) {
	t.Parallel()
	of := func(text string) Entry { return EntryOf(read(t, source.FromBytes("a", []byte(text)))) }
	broken := `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}]},{"role":"user","content":"b"}]}`
	want := Entry{Agent: "anthropic", Model: "m", State: Broken, Errors: 1, Turns: 3, Calls: 1, Causes: []string{"missing-tool-result"}}
	if diff := cmp.Diff(want, of(broken)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if e := of(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"}]}]}`); e.State != Sound || e.Turns != 2 {
		t.Errorf("%+v", e)
	}
	if e := of("Dear Kim"); e.State != Unread || e.Note == "" {
		t.Errorf("%+v", e)
	}
}

// TestIndex: the most errors are first, then the newest.
func TestIndex(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	var out bytes.Buffer
	err := Index(&out, "all", []Entry{
		{Name: "sound", Modified: day(9)},
		{Name: "old", State: Broken, Errors: 2, Modified: day(1), Href: "old.html"},
		{Name: "warned", State: Warned, Warnings: 1, Modified: day(8)},
		{Name: "new", State: Broken, Errors: 2, Modified: day(2)},
		{Name: "worst", State: Broken, Errors: 9, Modified: day(3)},
		{Name: "sounder", Modified: day(10)},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`class="cell [a-z]+" title="([a-z]+):`).FindAllStringSubmatch(out.String(), -1) {
		got = append(got, m[1])
	}
	if diff := cmp.Diff([]string{"worst", "new", "old", "warned", "sounder", "sound"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestPolicy: browsers run what is embedded, and nothing else.
func TestPolicy(t *testing.T) {
	t.Parallel()
	total := 0
	for name, text := range map[string]string{"page.css": styles, "data.js": dataScript, "map.js": mapScript, "page.js": pageScript, "index.js": indexScript} {
		total += len(text)
		if lower := strings.ToLower(text); strings.Contains(lower, "</s") || strings.Contains(lower, "<!--") || strings.ContainsAny(text, "\r\x00") {
			t.Errorf("%s cannot be in a page", name)
		}
		if strings.Contains(text, "innerHTML") || strings.Contains(text, "http://") && !strings.Contains(text, "http://www.w3.org/2000/svg") {
			t.Errorf("%s sets markup, or has an address", name)
		}
	}
	if total > 60<<10 {
		t.Errorf("scripts and styles have %d bytes, want at most 60 KiB", total)
	}
	var out bytes.Buffer
	if err := Index(&out, "a", nil); err != nil {
		t.Fatal(err)
	}
	want := `content="default-src 'none'; base-uri 'none'; form-action 'none'; script-src 'sha256-`
	if !strings.Contains(out.String(), want) {
		t.Errorf("the page has no policy: %.500s", out.String())
	}
}

func TestFullOutput(t *testing.T) {
	src := source.FromBytes("a", attacks()[:20_000])
	s := read(t, src)
	var whole bytes.Buffer
	if err := Write(&whole, src, s, Options{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	full := errors.New("full")
	for n := 0; n < whole.Len(); n += 10_000 {
		if err := Write(&limited{n, full}, src, s, Options{Name: "a"}); !errors.Is(err, full) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	if err := Index(&limited{100, full}, "a", entries(50)); !errors.Is(err, full) {
		t.Errorf("index: %v", err)
	}
	broken := source.NewSource("a", readerAt{iotest.ErrReader(full)}, src.Size())
	if err := Write(io.Discard, broken, s, Options{Name: "a"}); !errors.Is(err, full) {
		t.Errorf("source: %v", err)
	}
}

// A limited is a writer that fails after some bytes.
type limited struct {
	n   int
	err error
}

func (l *limited) Write(b []byte) (int, error) {
	if l.n -= len(b); l.n < 0 {
		return 0, l.err
	}
	return len(b), nil
}

type readerAt struct{ io.Reader }

func (r readerAt) ReadAt(b []byte, _ int64) (int, error) { return r.Read(b) }

// settle repairs a source.
func settle(src *source.Source) (*engine.Fixed, error) {
	return engine.Settle(context.Background(), src, engine.FixOptions{Unsafe: true, Options: engine.Options{
		Over: true, Strategy: map[string]string{"missing-tool-result": "insert"},
	}})
}
