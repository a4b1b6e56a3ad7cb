package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
)

// Help returns what the rule checks, why that matters and how it is repaired, in
// Markdown.
func (r *Rule) Help() string {
	return r.Summary + ".\n\n" + r.What + "\n\n## Why\n\n" + r.Why + "\n\n## Repair\n\n" + r.repair()
}

// PageWords is the most words that the page of a rule may have.
const PageWords = 350

// The least number of words of an error on a page, and the most.
const (
	leastWords = 7
	mostWords  = 20
)

// Page returns the rule's page in Markdown. Reported is the report of its bad example. Only the
// beginnings of errors are shown if the page would be too long otherwise.
func (r *Rule) Page(reported string) string {
	for words := mostWords; ; words-- {
		if page := r.page(reported, words); words == leastWords || len(strings.Fields(page)) <= PageWords {
			return page
		}
	}
}

func (r *Rule) page(reported string, words int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s.\n\n", r.Name, r.Summary)
	fmt.Fprintf(&b, "Severity: %s  \nCategory: [%s](README.md#%s)", r.Severity, r.Category, r.Category)
	if r.OnDemand == nil {
		fmt.Fprintf(&b, "  \nSilence: `--ignore %s`", r.Name)
	}
	b.WriteString("\n")
	fmt.Fprintf(&b, "\n%s\n\n## Why\n\n%s\n", r.What, r.Why)
	command := strings.TrimSpace("toolguard check " + r.Args)
	fmt.Fprintf(&b, "\n## Example\n\n%s\n`%s` reports:\n\n```text\n%s```\n\nThis is correct:\n\n%s", block(r.Bad), command, reported, block(r.Good))
	fmt.Fprintf(&b, "\n## Repair\n\n%s\n", r.repair())
	if refusals := r.refusals(words); len(refusals) > 0 {
		b.WriteString("\n## What providers answer\n\n")
		for _, a := range refusals {
			fmt.Fprintf(&b, "%s\n  %s\n", a.who, strings.Join(a.texts, ",\n  "))
		}
	}
	return b.String()
}

// A refusal is what some providers answer to a history with findings of a rule, in Markdown.
type refusal struct {
	who   string
	texts []string
}

// refusals lists the known errors for findings of the rule: the first words, without the addresses
// at their start. Errors that begin with the same words are listed once. Those of clients are the last.
func (r *Rule) refusals(words int) []refusal {
	type said struct {
		text, opening string
		profiles      []*profile.Profile
	}
	var all []*said
	for _, a := range append(r.Answers(), r.Texts()...) {
		for _, text := range append([]string{a.Text}, a.Also...) {
			s := &said{text: code(begin(shown(content(text)), words)), opening: newKnownError(text, a).opening(words)}
			i := slices.IndexFunc(all, func(t *said) bool {
				return strings.HasPrefix(s.opening, t.opening) || strings.HasPrefix(t.opening, s.opening)
			})
			if i < 0 {
				i = len(all)
				all = append(all, s)
			}
			all[i].profiles = append(all[i].profiles, a.Profiles...)
		}
	}
	var out []refusal
	for _, s := range all {
		who := r.saidBy(s.profiles)
		i := slices.IndexFunc(out, func(f refusal) bool { return f.who == who })
		if i < 0 {
			i = len(out)
			out = append(out, refusal{who: who})
		}
		out[i].texts = append(out[i].texts, s.text)
	}
	return out
}

// begin returns the first words of a text.
func begin(text string, n int) string {
	words := strings.Fields(text)
	if len(words) <= n {
		return text
	}
	return strings.TrimRight(strings.Join(words[:n], " "), ".:…") + "…"
}

// saidBy begins an item of a list in Markdown with the names of providers: name* for a provider with
// all of its variants, unless some of them are known to differ.
func (r *Rule) saidBy(of []*profile.Profile) string {
	if len(of) == 0 {
		return "- others:"
	}
	listed := func(p *profile.Profile) bool { return slices.Contains(of, p) }
	differs := func(p *profile.Profile) bool {
		return !listed(p) && slices.ContainsFunc(r.Points, func(at profile.Point) bool { return p.Own(at).Level != profile.Unknown })
	}
	var out []string
	covered := map[*profile.Profile]bool{}
	for _, p := range profile.All() {
		if !listed(p) || covered[p] {
			continue
		}
		name := p.Name
		variants := slices.DeleteFunc(profile.All(), func(v *profile.Profile) bool { return !v.VariantOf(p) })
		if slices.ContainsFunc(variants, listed) && !slices.ContainsFunc(variants, differs) {
			name += "*"
			for _, v := range variants {
				covered[v] = true
			}
		}
		out = append(out, code(name))
	}
	return "- " + strings.Join(out, ", ") + ":"
}

// repair returns how the rule is repaired, and which flags that takes.
func (r *Rule) repair() string {
	text := r.Repair
	switch {
	case r.OnDemand != nil:
	case strings.Contains(text, operation.Unsafe.String()):
		text += "\n\n`toolguard fix --unsafe` also makes unsafe repairs."
	case strings.Contains(text, "(safe"), strings.Contains(text, "additive"):
		text += "\n\n`toolguard fix` makes this repair."
	}
	if len(r.Strategies) > 1 {
		text += " Choose with `--strategy " + r.Name + "=NAME`."
	}
	return text
}

// Item returns the answer as an item of a list in Markdown.
func (a *Answer) Item() string {
	return fmt.Sprintf("- %s (%s):\n  %s\n", a.Who(), a.Citation(), a.Code())
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
func (a *Answer) Shown() string { return shown(a.Text) }

// shown returns a known error with an ellipsis for each part that varies.
func shown(text string) string {
	return strings.NewReplacer("{id}", "…", "{name}", "…", "{kind}", "…", "{n}", "…").Replace(text)
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
