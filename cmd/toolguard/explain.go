package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/names"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/suggest"
)

func newExplainCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "explain <rule>|<error>|-",
		Short: "Explain a rule, or find the rule for an error of a provider",
		Long: `explain shows what a rule means, why it matters, and how findings are repaired.
Given the error of a provider or of a client, a part of it, or its code, it explains the
rule that finds the cause, or says what else helps. With -, it reads the error from
standard input. A log or a JSON body around the error does not matter.

If it is not sure which rule finds the cause, it guesses none. It lists up to five rules,
each with an error whose cause it finds. For a word that is no rule, such as tool, it lists
the rules with this word in their names and those of this category, or else the rules with
this word in their summaries.

The playground, a page for the browser, does the same, and checks the transcript as
well: see docs/javascript.md.

Exit codes: 0 for a sure answer, 1 if it lists rules, 2 if nothing is like the error or the
command line is wrong.`,
		Example: `  toolguard explain missing-tool-result
  toolguard explain 'tool_use ids were found without tool_result blocks'
  toolguard explain - < error.txt`,
		Args:              needs("a rule, the error of a provider, or - for standard input"),
		ValidArgsFunction: completeFrom(rules.Names),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := args[0]
			if text == "-" {
				var err error
				if text, err = a.errorText(); err != nil {
					return err
				}
			}
			within := 0
			if n, known := a.columns(a.rawStdout); known {
				within = n - pageIndent
			}
			page, sure, err := explanation(cmd.Context(), text, within)
			if err != nil {
				return err
			}
			paint, err := useColor("auto", a.env, a.terminal)
			if err != nil {
				return err
			}
			width, _ := a.columns(a.rawStdout)
			if err := report.WritePage(a.stdout, page, width, paint); err != nil || sure {
				return err
			}
			return errFindings
		},
	}
}

// explanation returns the page for the name of a rule or for an error, in Markdown. It is sure
// of the rule or the advice on the page, or lists rules.
func explanation(ctx context.Context, text string, width int) (page string, sure bool, err error) {
	if r := rules.ByName(text); r != nil {
		page, err = explain(ctx, r, width)
		return page, true, err
	}
	read := rules.Read(text)
	matching := matchingRules(text)
	oneWord := !strings.ContainsAny(text, " \t\n")
	switch {
	case len(read.Matches) > 0:
		page, err = explainError(ctx, read.Matches, width)
		return page, true, err
	case read.Advice != nil:
		return "No rule finds the cause of this error:\n\n" + read.Said.Item() + "\n" + read.Advice.Page, true, nil
	case read.Open:
		return suggested("This error ("+read.Said.Who()+") does not say what is wrong. These rules find the usual causes:", read.Near), false, nil
	case len(matching) > 0:
		return listed(text, matching), false, nil
	case oneWord && suggest.Nearest(text, rules.Names()) != "":
		_, unknown := names.User.Rule(text)
		return "", false, unknown
	case oneWord && len(read.Near) == 0 && isFile(text):
		return "", false, fmt.Errorf("no rule with the name %q; to explain the error in this file, use: toolguard explain - < %s", text, text)
	case oneWord && len(read.Near) == 0:
		return "", false, fmt.Errorf("no rule or error with the name %q; toolguard rules lists all rules", text)
	case len(read.Near) == 0:
		return "", false, errors.New("no rule matches this error; toolguard check FILE checks the history, and toolguard rules lists all rules")
	}
	return suggested("No rule surely finds the cause of this error. These rules find the causes of similar ones:", read.Near), false, nil
}

// isFile reports whether a name is that of a regular file.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// suggested lists rules that may find the cause of an error.
func suggested(why string, near []rules.Match) string {
	var b strings.Builder
	b.WriteString(why + "\n\n")
	for _, m := range near {
		who, _, _ := strings.Cut(m.Who(), ",")
		fmt.Fprintf(&b, "- %s: %s. For example, %s:\n  %s\n", m.Rule.Name, m.Rule.Summary, who, m.Code())
	}
	b.WriteString("\n`toolguard check` says which of them apply to a history, and `toolguard explain RULE` explains one.\n")
	return b.String()
}

// matchingRules returns the rules with all words of a text in their names, the best first, and those
// of a category with this name. If there are none, it looks at their summaries.
func matchingRules(text string) []*rules.Rule {
	var out []*rules.Rule
	for _, name := range suggest.Containing(text, rules.Names()) {
		out = append(out, rules.ByName(name))
	}
	for _, r := range rules.All() {
		if r.Category == text && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, r := range rules.All() {
		if len(suggest.Containing(text, []string{r.Summary})) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// listed lists the rules that match a text.
func listed(text string, found []*rules.Rule) string {
	var b strings.Builder
	match, end := "These rules match, the best first", "`toolguard explain RULE` explains one"
	if len(found) == 1 {
		match, end = "This rule matches", "`toolguard explain "+found[0].Name+"` explains it"
	}
	fmt.Fprintf(&b, "No rule is called %q. %s:\n\n", text, match)
	for _, r := range found {
		fmt.Fprintf(&b, "- %s: %s\n", r.Name, r.Summary)
	}
	b.WriteString("\n" + end + ".\n")
	return b.String()
}

// maxErrorText is how long an error on standard input may be.
const maxErrorText = 64 << 10

// errorText reads the error of a provider from standard input.
func (a *app) errorText() (string, error) {
	text, err := io.ReadAll(io.LimitReader(a.stdin, maxErrorText+1))
	if err != nil {
		return "", fmt.Errorf("standard input: %w", err)
	}
	if len(text) > maxErrorText {
		return "", errors.New("standard input: the error is longer than 64 KiB; give only its message")
	}
	trimmed := strings.TrimSpace(string(text))
	if trimmed == "" {
		return "", errors.New("standard input is empty; expected the error of a provider")
	}
	return trimmed, nil
}

// pageIndent is how many columns report.WritePage indents an example.
const pageIndent = 4

// explain returns the page of a rule in Markdown. The lines of its example report take at
// most width columns, or the default if width is 0.
func explain(ctx context.Context, r *rules.Rule, width int) (string, error) {
	reported, err := example(ctx, r, width)
	if err != nil {
		return "", err
	}
	return r.Page(reported) + "\n" + r.URL() + "\n", nil
}

// explainError returns the page of the rule that best matches an error.
func explainError(ctx context.Context, found []rules.Match, width int) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "The rule for this error is %s:\n\n%s", found[0].Rule.Name, found[0].Item())
	for i, m := range found[1:] {
		if i == 0 {
			b.WriteString("\nIt is also the answer to:\n\n")
		}
		fmt.Fprintf(&b, "- %s: %s\n", m.Rule.Name, m.Rule.Summary)
	}
	page, err := explain(ctx, found[0].Rule, width)
	if err != nil {
		return "", err
	}
	return b.String() + "\n" + page, nil
}

// example checks the bad example of a rule and returns the report for lines of so many
// columns.
func example(ctx context.Context, r *rules.Rule, width int) (string, error) {
	name := "bad.jsonl"
	if strings.HasPrefix(r.Bad, "[") || json.Valid([]byte(r.Bad)) {
		name = "bad.json"
	}
	opts := engine.Options{Rules: []*rules.Rule{r}, Excerpts: true, Send: r.Args == "--send"}
	if target, ok := strings.CutPrefix(r.Args, "--provider "); ok {
		opts.Target = profile.ByName(target)
	}
	if r.OnDemand != nil {
		opts.Explicit = map[string]bool{r.Name: true}
	}
	rep, err := engine.Check(ctx, source.FromBytes(name, []byte(r.Bad)), opts)
	if err != nil || rep.Findings.Len() == 0 {
		return "", err
	}
	var b strings.Builder
	text := report.Formats()[0].New(&b, report.Options{Width: width})
	if err := text.File(rep); err != nil {
		return "", err
	}
	return b.String(), nil
}
