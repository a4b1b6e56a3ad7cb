package rules

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/profile"
)

// Help returns what the rule checks, why that matters and how it is repaired, in
// Markdown.
func (r *Rule) Help() string {
	return "## What it does\n\n" + r.What + "\n\n## Why is this bad?\n\n" + r.Why + "\n\n## Repair\n\n" + r.repair()
}

// Page returns the rule's page in Markdown. Reported is the report of its bad
// example.
func (r *Rule) Page(reported string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s.\n\n", r.Name, r.Summary)
	fmt.Fprintf(&b, "Severity: %s  \nCategory: [%s](README.md#%s)\n", r.Severity, r.Category, r.Category)
	if strings.Contains(r.Severity, "by provider") {
		b.WriteString("\n[The provider](../profiles.md) decides how severe the finding is.\n")
	}
	fmt.Fprintf(&b, "\n## What it does\n\n%s\n\n## Why is this bad?\n\n%s\n", r.What, r.Why)
	command := strings.TrimSpace("toolguard check " + r.Args)
	fmt.Fprintf(&b, "\n## Example\n\n%s\n`%s` reports:\n\n```text\n%s```\n\nThis transcript is correct:\n\n%s", block(r.Bad), command, reported, block(r.Good))
	fmt.Fprintf(&b, "\n## Repair\n\n%s\n", r.repair())
	if answers := r.Answers(); len(answers) > 0 {
		b.WriteString("\n## What providers answer\n\n" + confidences + "\n\n")
		for _, a := range answers {
			b.WriteString(a.Item())
			for _, text := range a.Also {
				also := Answer{Cell: profile.Cell{Text: text}}
				fmt.Fprintf(&b, "- %s, also:\n  %s\n", a.Who(), also.Code())
			}
		}
	}
	if texts := r.Texts(); len(texts) > 0 {
		b.WriteString("\n## Other texts of this error\n\n")
		for _, a := range texts {
			b.WriteString(a.Item())
		}
	}
	return b.String()
}

// confidences explains the confidence of an answer.
const confidences = `The confidence says how well an answer is known. H (high): the exact error was seen in a raw
response, and the documentation or a second report confirms it. M (medium): there is one raw
report. L (low): the answer is inferred, and toolguard reports a warning instead of an error.`

// repair returns how the rule is repaired, and which flags that takes.
func (r *Rule) repair() string {
	text := r.Repair
	if len(r.Strategies) > 0 || strings.Contains(text, "(safe") || strings.Contains(text, "additive") {
		text += "\n\n`toolguard fix` makes safe and additive repairs. Unsafe repairs need `--unsafe`."
	}
	if len(r.Strategies) > 0 {
		text += "\nChoose a strategy with `--strategy " + r.Name + "=NAME`."
	}
	return text
}

// Item returns the answer as an item of a list in Markdown.
func (a *Answer) Item() string {
	how := a.Citation()
	if a.By == "" {
		how = "confidence " + a.Confidence.String() + ", " + how
	}
	return fmt.Sprintf("- %s (%s):\n  %s\n", a.Who(), how, a.Code())
}

// Who says it.
func (a *Answer) Who() string {
	if a.By != "" {
		return a.By
	}
	var names []string
	for _, p := range a.Profiles {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// Code returns the text as code in Markdown.
func (a *Answer) Code() string { return code(a.Shown()) }

// Shown returns the text with an ellipsis for each part that varies.
func (a *Answer) Shown() string {
	return strings.NewReplacer("{id}", "…", "{name}", "…", "{kind}", "…", "{n}", "…").Replace(a.Text)
}

// code writes a text as code, whatever quotes it holds.
func code(text string) string {
	if strings.Contains(text, "`") {
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}

// longestLine is the number of bytes up to which block shows a line whole.
const longestLine = 1000

// block returns an example as a block of code. It writes bytes that are not text as
// \x00, and cuts long lines in the middle.
func block(text string) string {
	lang, note := "json", ""
	for line := range strings.Lines(text) {
		if !json.Valid([]byte(line)) {
			lang = "text"
		}
	}
	if json.Valid([]byte(text)) {
		lang = "json"
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if len(line) > longestLine {
			note = "\nThe middle of a long line is left out.\n"
			line = line[:40] + "…" + line[len(line)-40:]
		}
		for i := 0; i < len(line); {
			c, n := utf8.DecodeRuneInString(line[i:])
			if c == utf8.RuneError && n == 1 || c < ' ' {
				lang, note = "text", "\nBytes that are not text are shown as `\\x`.\n"
				fmt.Fprintf(&b, `\x%02x`, line[i])
			} else {
				b.WriteString(line[i : i+n])
			}
			i += n
		}
		b.WriteByte('\n')
	}
	return "```" + lang + "\n" + b.String() + "```\n" + note
}
