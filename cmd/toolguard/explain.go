package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/transcript"
)

func newExplainCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "explain <rule>",
		Short:             "Explain a rule: what it means, why it matters, how it is repaired",
		Example:           "  toolguard explain missing-tool-result",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(ruleNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := findRule(args[0])
			if err != nil {
				return err
			}
			page, err := explain(cmd.Context(), r)
			if err != nil {
				return err
			}
			_, err = a.stdout.Write(page)
			return err
		},
	}
}

// explain returns what there is to know about a rule.
func explain(ctx context.Context, r *rules.Rule) ([]byte, error) {
	found, send, err := example(ctx, r)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s (%s, %s)\n\n%s.\n\n%s\n", r.Name, r.Category, r.Severity, r.Summary, strings.TrimSpace(r.Doc))
	fmt.Fprintf(&b, "\nFor example:\n\n%s\n", indented(r.Bad))
	if found != "" {
		verb := "check"
		if send {
			verb = "check --send"
		}
		fmt.Fprintf(&b, "\nis reported by toolguard %s as:\n\n%s\n", verb, indented(found))
	}
	fmt.Fprintf(&b, "\nThis is right:\n\n%s\n\n%s\n", indented(r.Good), r.URL())
	return b.Bytes(), nil
}

// example checks the rule's bad example and returns the report, and whether it
// was found only in a history that is about to be sent.
func example(ctx context.Context, r *rules.Rule) (found string, send bool, err error) {
	name := "bad.jsonl"
	if strings.HasPrefix(r.Bad, "[") {
		name = "bad.json"
	}
	for _, send = range []bool{false, true} {
		rep, err := engine.Check(ctx, transcript.FromBytes(name, []byte(r.Bad)), engine.Options{Rules: []*rules.Rule{r}, Send: send})
		if err != nil {
			return "", false, err
		}
		if len(rep.Findings) == 0 {
			continue
		}
		var b strings.Builder
		text := report.Formats()[0].New(&b, report.Options{})
		if err := text.File(rep); err != nil {
			return "", false, err
		}
		return b.String(), send, nil
	}
	return "", false, nil
}

// indented returns text as a block that stands apart. Examples may hold bytes
// that no terminal should get.
func indented(s string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		b.WriteString(strings.TrimRight("    "+report.Printable(line), " ") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
