package report_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/report"
)

const pageText = "# a-rule\n\nSeverity: error  \nCategory: [pairing](README.md#pairing)\n\n" +
	"## Why\n\nChecks for `tool_calls` that have **no result**. A [page](../page.md), not a [list].\n\n" +
	"- The first item\n  is long enough for two lines.\n- `` a `tick`  here ``: last\n\n" +
	"```json\n{\"a\": \"a line of code that is much longer than the page is wide\"}\n\n```\n" +
	"\nhttps://example.com/an/address/that/is/too/long/for/a/line\n"

// TestWritePage: a page has no marks left, and no line but code and words that are too
// long by themselves is wider than asked.
func TestWritePage(t *testing.T) {
	const want = `a-rule

Severity: error
Category: pairing

WHY

Checks for tool_calls that have no
result. A page, not a [list].

- The first item is long enough for two
  lines.
- a ` + "`tick`" + `  here: last

    {"a": "a line of code that is much longer than the page is wide"}


https://example.com/an/address/that/is/too/long/for/a/line
`
	if diff := cmp.Diff(want, written(t, pageText, 40, false)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestWritePageInColor: headings and bold text are bold, and code is cyan.
func TestWritePageInColor(t *testing.T) {
	text, _, _ := strings.Cut(pageText, "```")
	const want = "\x1b[1ma-rule\x1b[22m\n\nSeverity: error\nCategory: pairing\n\n" +
		"\x1b[1mWHY\x1b[22m\n\n" +
		"Checks for \x1b[36mtool_calls\x1b[0m that have \x1b[1mno\x1b[22m \x1b[1mresult\x1b[22m. A page, not a [list].\n\n" +
		"- The first item is long enough for two lines.\n" +
		"- \x1b[36ma\x1b[0m \x1b[36m`tick`\x1b[0m  \x1b[36mhere\x1b[0m: last\n"
	if diff := cmp.Diff(want, written(t, text, 100, true)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestWritePageIsSafe: nothing on a page drives a terminal.
func TestWritePageIsSafe(t *testing.T) {
	if got, want := written(t, "a \x1b[31m `b\u202e`\n", 100, false), "a <1b>[31m b<e2><80><ae>\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func written(t *testing.T, markdown string, width int, color bool) string {
	t.Helper()
	var b strings.Builder
	if err := report.WritePage(&b, markdown, width, color); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
