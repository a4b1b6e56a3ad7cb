package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/sample"
)

// installed skips a test whose programs are not installed.
func installed(t *testing.T, programs ...string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the pages are written for a shell")
	}
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
}

// TestDatasetRecipe runs the commands of docs/data.md on rows as they are in the
// wild, and compares the result with what encoding/json says about the rows.
func TestDatasetRecipe(t *testing.T) {
	t.Parallel()
	installed(t, "python3")
	const (
		call   = `{"messages":[{"role":"user","content":"%s"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"%s"}}]},`
		end    = `{"role":"assistant","content":"é\u0000 1.0"}],"weight":1.50}`
		result = `{"role":"tool","tool_call_id":"c1","content":"a.txt"},`
	)
	row := func(name, arguments, result string) string {
		return fmt.Sprintf(call, name, arguments) + result + end
	}
	pretty := func(row string) string {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(row), "", "  "); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	torn := row("torn", "{}", result)[:120]
	compact := []string{
		row("first", "{}", result), row("no result", "{}", ""), "", row("after a blank line", "{}", result), " \t",
		row("no arguments", `{\"path\":`, result), "  " + row("indented", "{}", result), torn, row("after a torn row", "{}", result),
		torn[:80], row("after a row that is torn between two values", "{}", result),
		"", "", "", row("no result again", "{}", ""), row("last", "{}", result), row("torn", "{}", result)[:200],
	}
	long := append([]string{pretty(row("pretty", "{}", result)), pretty(row("pretty, no result", "{}", ""))}, compact...)
	long = append(long[:len(long)-2], pretty(row("pretty, after a blank line", "{}", result)), torn[:80]+"\n"+torn, pretty(row("last", "{}", result))[:90])

	for i, test := range []struct {
		name, begin, end string
		rows             []string
		outputs          []string
	}{
		{"lines", "", "\n", compact, []string{"clean.jsonl", "clean-parts.jsonl", "clean-parallel.jsonl"}},
		{"CRLF and a BOM", bom, "\r\n", compact, []string{"clean.jsonl", "clean-parts.jsonl", "clean-parallel.jsonl"}},
		{"several lines per row", "", "\n", long, []string{"clean.jsonl"}},
		{"several lines per row, CRLF and a BOM", bom, "\r\n", long, []string{"clean.jsonl"}},
	} {
		if i%sample.Size(1, 3, 3) > 0 {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			input, want, dropped := test.begin, test.begin, 0
			for i, row := range test.rows {
				row = strings.ReplaceAll(row, "\n", test.end)
				if i < len(test.rows)-1 {
					row += test.end
				}
				input += row
				if soundRow(row) {
					want += row
				} else {
					dropped++
				}
			}
			if dropped < 5 || dropped > len(test.rows)/2 {
				t.Fatalf("%d of %d rows have faults", dropped, len(test.rows))
			}
			text := readPage(t, "data.md")
			if len(test.outputs) == 1 {
				// The rest of the page is for datasets with a row per line.
				var ok bool
				if text, _, ok = strings.Cut(text, "## Split the work\n"); !ok {
					t.Fatal("docs/data.md does not split the work")
				}
			}
			p := runPage(t, text, map[string][]byte{"train.jsonl": []byte(input)})
			for _, name := range test.outputs {
				got, err := os.ReadFile(filepath.Join(p.dir, name))
				if err != nil && name == "clean-parallel.jsonl" && len(p.lost) > 0 {
					continue
				}
				if err != nil {
					t.Fatalf("%v\n%s", err, p.out)
				}
				if diff := cmp.Diff(want, string(got)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			if passed := "--fail-on warning clean.jsonl\nNo problems found. 1 file checked.\n"; !strings.Contains(p.out, passed) {
				t.Errorf("the rows that are left have problems:\n%s", p.out)
			}
		})
	}
}

// soundRow reports whether a row of a dataset is blank, or JSON in which each call
// has arguments and a result.
func soundRow(row string) bool {
	row = strings.TrimSpace(row)
	if row == "" {
		return true
	}
	var conversation struct {
		Messages []struct {
			ToolCalls []struct {
				ID       string
				Function struct{ Arguments string }
			} `json:"tool_calls"`
			ToolCallID string `json:"tool_call_id"`
		}
	}
	if json.Unmarshal([]byte(row), &conversation) != nil {
		return false
	}
	open := map[string]bool{}
	for _, m := range conversation.Messages {
		delete(open, m.ToolCallID)
		for _, c := range m.ToolCalls {
			if !json.Valid([]byte(c.Function.Arguments)) {
				return false
			}
			open[c.ID] = true
		}
	}
	return len(open) == 0
}

// TestRecipesOnRoughInput runs the commands of docs/recipes.md on a request and on
// sessions with blank lines, CRLF and a byte order mark. Only the report about the
// first session has places, so the output of the commands must be that on the page.
func TestRecipesOnRoughInput(t *testing.T) {
	t.Parallel()
	installed(t, "curl", "python3", "node")
	text := readPage(t, "recipes.md")
	rough := func(text []byte) []byte {
		return append([]byte(bom+"\r\n"), bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n\r\n"))...)
	}
	instead := map[string][]byte{}
	for _, b := range pageBlocks(t, "recipes.md") {
		if b.name == "request.json" {
			instead[b.name] = rough([]byte(b.body))
		}
	}
	request := instead["request.json"]
	want := map[string]int{} // findings by session
	for line := range strings.SplitSeq(text, "\n") {
		m := fileComment.FindStringSubmatch(line)
		if m == nil || !strings.Contains(m[1], "-srv-web") {
			continue
		}
		raw, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(m[2])))
		if err != nil {
			t.Fatal(err)
		}
		instead[m[1]] = rough(raw)
		want["/home/me/"+m[1]] = faults(raw)
	}
	if request == nil || len(want) != 2 {
		t.Fatalf("the page has the request %q and the sessions %v", request, want)
	}
	p := runPage(t, text, instead)
	if diff := cmp.Diff(text, p.out); diff != "" {
		t.Errorf("(-page +output):\n%s", diff)
	}

	got := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^ +(\d+) (/home/me/\S+)$`).FindAllStringSubmatch(p.out, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		got[m[2]] = n
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings by session (-want +got):\n%s", diff)
	}

	if len(p.bodies) != 4 {
		t.Fatalf("the provider received %d requests, want 4", len(p.bodies))
	}
	if !bytes.Equal(p.bodies[0], request) {
		t.Errorf("the first request is %q, want %q", p.bodies[0], request)
	}
	// The second one is the same except for the result.
	fixed := p.bodies[1]
	const asked = `"content":"still there?"`
	const answered = `"content":[{"type":"tool_result","tool_use_id":"c1","content":"[toolguard] No result was recorded for this tool call; it may or may not have run.","is_error":true},{"type":"text","text":"still there?"}]`
	if bytes.Count(request, []byte(asked)) != 1 {
		t.Fatalf("the request is %q", request)
	}
	if diff := cmp.Diff(strings.Replace(string(request), asked, answered, 1), string(fixed)); diff != "" {
		t.Errorf("the second request (-want +got):\n%s", diff)
	}
	for i, body := range p.bodies[2:] {
		if diff := cmp.Diff(string(fixed), string(body)); diff != "" {
			t.Errorf("request %d (-second +this):\n%s", i+3, diff)
		}
	}
}

// faults counts the torn lines of a Claude Code session, the calls without a result,
// and the results without a call of their own.
func faults(session []byte) int {
	n := 0
	calls, results := map[string]bool{}, map[string]int{}
	for line := range bytes.Lines(session) {
		var record struct {
			Message struct{ Content json.RawMessage }
		}
		if json.Unmarshal(line, &record) != nil {
			n++
			continue
		}
		var blocks []struct {
			Type, ID  string
			ToolUseID string `json:"tool_use_id"`
		}
		if json.Unmarshal(record.Message.Content, &blocks) != nil {
			continue // a text
		}
		for _, b := range blocks {
			switch b.Type {
			case "tool_use":
				calls[b.ID] = true
			case "tool_result":
				results[b.ToolUseID]++
			}
		}
	}
	for id := range calls {
		if results[id] == 0 {
			n++
		}
		results[id]--
	}
	for _, surplus := range results {
		n += max(surplus, 0)
	}
	return n
}
