package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
		Use:   "explain <rule>|<error>",
		Short: "Explain a rule, or find the rule for an error of a provider",
		Long: `explain shows what a rule means, why it matters, and how findings are repaired.
Given the error message of a provider, it explains the rule that finds the cause.`,
		Example: `  toolguard explain missing-tool-result
  toolguard explain "tool_use ids were found without tool_result blocks"`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeFrom(rules.Names),
		RunE: func(cmd *cobra.Command, args []string) error {
			var page []byte
			r, err := findRule(args[0])
			switch {
			case err == nil:
				page, err = explain(cmd.Context(), r)
			case strings.ContainsAny(args[0], " \t\n"):
				page, err = explainError(cmd.Context(), args[0])
			}
			if err != nil {
				return err
			}
			_, err = a.screen.Write(page)
			return err
		},
	}
}

// explain returns the documentation of a rule.
func explain(ctx context.Context, r *rules.Rule) ([]byte, error) {
	found, err := example(ctx, r)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s (%s, %s)\n\n%s.\n\n%s\n", r.Name, r.Category, r.Severity, r.Summary, strings.TrimSpace(r.Doc))
	if answers := r.Answers(); len(answers) > 0 {
		b.WriteString("\nProviders answer:\n")
		for _, a := range answers {
			b.WriteString("\n" + answered(a))
		}
	}
	fmt.Fprintf(&b, "\nFor example:\n\n%s\n", indented(r.Bad))
	if found != "" {
		fmt.Fprintf(&b, "\nis reported by toolguard %s as:\n\n%s\n", strings.TrimSpace("check "+r.Args), indented(found))
	}
	fmt.Fprintf(&b, "\nThis is correct:\n\n%s\n\n%s\n", indented(r.Good), r.URL())
	return b.Bytes(), nil
}

// answered returns the error of a provider and the source of that knowledge.
func answered(a rules.Answer) string {
	var names []string
	for _, p := range a.Profiles {
		names = append(names, p.Name)
	}
	text := strings.NewReplacer("{id}", "…", "{name}", "…", "{kind}", "…").Replace(a.Text)
	return indented(strings.Join(names, ", ")+": "+text+"\n  ("+a.Source+", confidence "+a.Confidence.String()+")") + "\n"
}

// explainError returns the documentation of the rule that best matches the error
// of a provider.
func explainError(ctx context.Context, text string) ([]byte, error) {
	found := rules.MatchError(text)
	if len(found) == 0 {
		return nil, errors.New("no rule matches this error; toolguard rules lists all rules")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "The rule for this error is %s:\n\n%s", found[0].Rule.Name, answered(found[0].Answer))
	for i, m := range found[1:] {
		if i == 0 {
			b.WriteString("\nProviders also answer it to:\n\n")
		}
		fmt.Fprintf(&b, "    %s: %s\n", m.Rule.Name, m.Rule.Summary)
	}
	page, err := explain(ctx, found[0].Rule)
	if err != nil {
		return nil, err
	}
	b.WriteString("\n")
	b.Write(page)
	return b.Bytes(), nil
}

// example checks the bad example of a rule and returns the report.
func example(ctx context.Context, r *rules.Rule) (string, error) {
	name := "bad.jsonl"
	if strings.HasPrefix(r.Bad, "[") || json.Valid([]byte(r.Bad)) {
		name = "bad.json"
	}
	opts := engine.Options{Rules: []*rules.Rule{r}, Excerpts: true, Send: r.Args == "--send"}
	if target, ok := strings.CutPrefix(r.Args, "--target "); ok {
		opts.Target = profile.ByName(target)
	}
	rep, err := engine.Check(ctx, source.FromBytes(name, []byte(r.Bad)), opts)
	if err != nil || rep.Findings.Len() == 0 {
		return "", err
	}
	var b strings.Builder
	text := report.Formats()[0].New(&b, report.Options{})
	if err := text.File(rep); err != nil {
		return "", err
	}
	return b.String(), nil
}

// indented returns text with each line indented by four spaces.
func indented(s string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
