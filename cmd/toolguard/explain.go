package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

func newExplainCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "explain <rule>|<error>|-",
		Short: "Explain a rule, or find the rule for an error of a provider",
		Long: `explain shows what a rule means, why it matters, and how findings are repaired.
Given the error message of a provider, or a part of it, it explains the rule that
finds the cause. With -, it reads the error from standard input.`,
		Example: `  toolguard explain missing-tool-result
  toolguard explain 'tool_use ids were found without tool_result blocks'
  toolguard explain - < error.txt`,
		Args:              needs("a rule, or the error of a provider"),
		ValidArgsFunction: completeFrom(rules.Names),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := args[0]
			if text == "-" {
				var err error
				if text, err = a.errorText(); err != nil {
					return err
				}
			}
			var page string
			within := 0
			if n, known := a.columns(a.rawStdout); known {
				within = n - pageIndent
			}
			r, err := findRule(text)
			switch {
			case err == nil:
				page, err = explain(cmd.Context(), r, within)
			case strings.ContainsAny(text, " \t\n"):
				page, err = explainError(cmd.Context(), text, within)
			}
			if err != nil {
				return err
			}
			paint, err := useColor("auto", a.env, a.terminal)
			if err != nil {
				return err
			}
			width, _ := a.columns(a.rawStdout)
			return report.WritePage(a.stdout, page, width, paint)
		},
	}
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

// explainError returns the page of the rule that best matches the error of a
// provider.
func explainError(ctx context.Context, text string, width int) (string, error) {
	found := rules.MatchError(text)
	if len(found) == 0 {
		return "", errors.New("no rule matches this error; toolguard rules lists all rules")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The rule for this error is %s:\n\n%s", found[0].Rule.Name, found[0].Item())
	for i, m := range found[1:] {
		if i == 0 {
			b.WriteString("\nProviders also answer it to:\n\n")
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
	if target, ok := strings.CutPrefix(r.Args, "--target "); ok {
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
