package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// A workedCase is one line of testdata/cases.json: a transcript and its expected findings.
type workedCase struct {
	Name     string
	Dialect  string
	Input    json.RawMessage
	Findings []string
	Infos    []string
	Args     []string
	// Fixed is the repaired transcript, or "unchanged"; FixedSays describes the result if
	// there is more than one good form.
	Fixed     json.RawMessage
	FixedSays string `json:"fixed_says"`
}

// text returns the case's input as a file.
func (c *workedCase) text(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	switch c.Dialect {
	case "jsonl-raw":
		var lines []string
		if err := json.Unmarshal(c.Input, &lines); err != nil {
			t.Fatal(err)
		}
		return []byte(strings.Join(lines, "\n"))
	case "claude-code", "pi", "codex":
		var records []json.RawMessage
		if err := json.Unmarshal(c.Input, &records); err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			out.Write(r)
			out.WriteByte('\n')
		}
		return out.Bytes()
	}
	if err := json.Indent(&out, c.Input, "", "  "); err != nil {
		t.Fatal(err)
	}
	out.WriteByte('\n')
	return out.Bytes()
}

func (c *workedCase) options(t *testing.T) Options {
	t.Helper()
	opts := Options{Send: slices.Contains(c.Args, "--send")}
	if i := slices.Index(c.Args, "--target"); i >= 0 {
		if opts.Target = profile.ByName(c.Args[i+1]); opts.Target == nil {
			t.Fatalf("no profile %q", c.Args[i+1])
		}
	}
	return opts
}

// known reports whether all rules of the case exist.
func (c *workedCase) known() bool {
	for _, name := range append(slices.Clone(c.Findings), c.Infos...) {
		if rules.ByName(name) == nil {
			return false
		}
	}
	return true
}

// supported are the dialects of the cases that can be read.
var supported = map[string]bool{
	"openai-chat": true, "anthropic": true, "claude-code": true, "openai-responses": true, "jsonl-raw": true, "ai-sdk-ui": true,
	"langchain": true,
	"gemini":    true, "bedrock": true, "ai-sdk": true, "pi": true,
}

func readCases(t testing.TB) []workedCase {
	t.Helper()
	raw, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []workedCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func TestCases(t *testing.T) {
	ran := 0
	for _, c := range readCases(t) {
		if !supported[c.Dialect] || !c.known() {
			continue
		}
		ran++
		t.Run(c.Name, func(t *testing.T) {
			text := c.text(t)
			rep, err := Check(context.Background(), source.FromBytes(c.Name, text), c.options(t))
			if err != nil {
				t.Fatal(err)
			}
			if rep.Skipped != "" {
				t.Fatalf("skipped: %s", rep.Skipped)
			}
			got, infos := []string{}, map[string]bool{}
			for f := range rep.Findings.All() {
				if f.Severity == rules.Info {
					infos[f.Rule.Name] = true
					continue
				}
				got = append(got, f.Rule.Name)
			}
			want := slices.Clone(c.Findings)
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%s", diff, text)
			}
			for _, info := range c.Infos {
				if !infos[info] {
					t.Errorf("no info %s; infos are %v", info, infos)
				}
			}
		})
	}
	if ran < 94 {
		t.Errorf("only %d cases ran", ran)
	}
}
