// Package hostile has texts that try to control the terminal or CI system that shows
// them, and a check of whether an output lets one do so. It is for tests, and uses other
// means than the program itself.
package hostile

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Texts returns texts that move the cursor, set colors, change the writing direction, are
// not valid text, or give commands to a CI system. It also returns parts of such texts,
// which work only together with adjacent output.
func Texts() []string {
	return []string{
		"\x1b[2J\x1b]0;owned\a",
		"\x1b[31mred\x1b[0m",
		"back\b\b\b\bfeed\f\v\x00\x7f\ttab",
		"one\r::error::two\r\n::error::three",
		"\n::add-mask::a\n  ::set-output name=x::y\n##[group]",
		"::error file=x,line=1::y",
		" \u3000\u00a0::warning::x",
		"##[error]x",
		"##vso[task.setvariable variable=PATH]/evil",
		"###teamcity[message text='x']",
		"#\u200d#\u200cvso[x]",
		"##\ufe0f[x] :\u200d:x",
		"\u009b31m\u0085::error::x",
		"\u202etxt.exe\u2066 \u200b\u200e\U000e0041\ufeff",
		"\u2028::error::x\u2029##[x]",
		"\xff\xfe##[x]\xc3(\xed\xa0\x80\xf0\x9f",
		"\xe2",     // the first byte of U+202E,
		"\x80\xae", // and the other bytes
		`\u0023\u0023[error] \u001b[31m \r\n::error::x`,
		"]]></failure><x a=\"\x0b\">&#27;[31m&#x23;#[x]",
		"%0A::error::x%0D%25 %23%23[x]",
		"](https://example.com) ```\n::error::x",
		"#", "##", "##vso", "[x]", "vso[x]", ":", "::", ":error::x",
	}
}

// Spellings returns the ways to write a text in a JSON string: in the usual way, with
// everything escaped, and raw. The raw form is invalid JSON if the text has control
// characters, and invalid text if it is not UTF-8.
func Spellings(text string) []string {
	var plain, escaped strings.Builder
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(err) // encoding a string never fails
	}
	for _, r := range text {
		if r > 0xffff {
			r -= 0x10000
			fmt.Fprintf(&escaped, `\u%04X\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
			continue
		}
		fmt.Fprintf(&escaped, `\u%04X`, r)
	}
	usual := strings.TrimSuffix(plain.String(), "\n")
	return []string{
		usual[1 : len(usual)-1], escaped.String(),
		strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text),
	}
}

// Allowed is what an output may contain.
type Allowed struct {
	Colors   bool           // color codes
	Commands *regexp.Regexp // complete lines that begin like commands; nil for none
	Tabs     bool
}

var (
	colors = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	// orders are the commands of Azure Pipelines, GitHub Actions and TeamCity.
	orders = regexp.MustCompile(`##\pL*\[`)
)

// Obeyed returns an error that describes what in an output a terminal or CI system would
// obey, or nil.
func Obeyed(output string, may Allowed) error {
	for i, line := range strings.Split(output, "\n") {
		wrong := func(what string) error { return fmt.Errorf("line %d %s: %.500q", i+1, what, line) }
		seen := line
		if may.Colors {
			seen = colors.ReplaceAllString(seen, "")
		}
		if !utf8.ValidString(seen) {
			return wrong("is not UTF-8")
		}
		for _, r := range seen {
			joins := r == '\u200c' || r == '\u200d'
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !joins && !(r == '\t' && may.Tabs) {
				return wrong(fmt.Sprintf("holds %U", r))
			}
		}
		// Check the line as it is, as it is displayed, without escape characters, and
		// without invisible characters.
		for _, s := range []string{line, seen, strings.ReplaceAll(line, "\x1b", "")} {
			s = strings.Map(func(r rune) rune {
				if unicode.In(r, unicode.Join_Control, unicode.Variation_Selector) {
					return -1
				}
				return r
			}, s)
			if orders.MatchString(s) {
				return wrong("holds an order")
			}
			if strings.HasPrefix(strings.TrimSpace(s), "::") && (may.Commands == nil || !may.Commands.MatchString(line)) {
				return wrong("is an order")
			}
		}
	}
	return nil
}
