package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// TestExplainExamples runs the examples in the help of explain, and checks that none has
// double quotes, in which shells run what is between backticks.
func TestExplainExamples(t *testing.T) {
	t.Parallel()
	lines := strings.Split(newExplainCmd(&app{}).Example, "\n")
	if len(lines) < 3 {
		t.Fatalf("examples: %q", lines)
	}
	for _, line := range lines {
		if strings.Contains(line, `"`) {
			t.Errorf("%s: double quotes", line)
		}
		command, from, reads := strings.Cut(strings.TrimSpace(line), " < ")
		var args []string
		for _, word := range regexp.MustCompile(`'[^']*'|[^ ]+`).FindAllString(command, -1) {
			args = append(args, strings.Trim(word, "'"))
		}
		stdin := ""
		if reads && from == "error.txt" {
			stdin = "messages.6: `tool_use` ids were found without `tool_result` blocks\n"
		}
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args[1:], strings.NewReader(stdin), &stdout, &stderr, noEnv); code != exitOK || stderr.Len() > 0 {
			t.Errorf("%s: exit %d, %s", line, code, stderr.String())
		}
		if !strings.Contains(stdout.String(), "\nmissing-tool-result\n") && !strings.HasPrefix(stdout.String(), "missing-tool-result\n") {
			t.Errorf("%s explains something else:\n%s", line, stdout.String())
		}
	}
}

// TestExplainLongError checks the limit for an error on standard input.
func TestExplainLongError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		strings.Repeat("x ", maxErrorText/2):       "toolguard: no rule matches this error; toolguard check FILE checks the history, and toolguard rules lists all rules\n",
		strings.Repeat("x ", maxErrorText/2) + "x": "toolguard: standard input: the error is longer than 64 KiB; give only its message\n",
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), []string{"explain", "-"}, strings.NewReader(text), &stdout, &stderr, noEnv); code != exitTrouble || stderr.String() != want || stdout.Len() > 0 {
			t.Errorf("%d bytes: exit %d, %q", len(text), code, stderr.String())
		}
	}
}
