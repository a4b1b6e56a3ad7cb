// Picture runs toolguard as a terminal would show it and writes that as an SVG:
//
//	go run ./scripts/picture > docs/toolguard.svg
package main

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// The commands, and the file that they are about: a copy of a fixture.
const fixture = "testdata/transcripts/anthropic/broken/cut-session.json"

func commands() [][]string {
	return [][]string{
		{"check", "session.json"},
		{"fix", "--color=always", "session.json"},
	}
}

func main() {
	if err := picture(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func picture(w io.Writer) error {
	dir, err := os.MkdirTemp("", "picture-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	text, err := os.ReadFile(fixture)
	if err != nil {
		return err
	}
	if err := os.WriteFile(dir+"/session.json", text, 0o666); err != nil {
		return err
	}
	build := exec.Command("go", "build", "-o", dir+"/toolguard", "./cmd/toolguard")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	var screen bytes.Buffer
	for i, args := range commands() {
		if i > 0 {
			screen.WriteString("\n")
		}
		shown := strings.ReplaceAll(strings.Join(args, " "), " --color=always", "")
		fmt.Fprintf(&screen, "\x1b[32m$\x1b[0m toolguard %s\n", shown)
		cmd := exec.Command(dir+"/toolguard", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "FORCE_COLOR=1", "NO_COLOR=")
		cmd.Stdout, cmd.Stderr = &screen, &screen
		if err := cmd.Run(); err != nil {
			if !errors.As(err, new(*exec.ExitError)) {
				return err
			}
		}
	}
	_, err = io.WriteString(w, svg(screen.String()))
	return err
}

const (
	charWidth  = 8.1 // of SF Mono, which is wider than other fonts of the list
	lineHeight = 19
	margin     = 16
)

// colours of the escape sequences that toolguard writes.
func colours() map[string]string {
	return map[string]string{"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "36": "#76e3ea", "2": "#8b949e"}
}

var escape = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// svg draws lines of text with escape sequences.
func svg(screen string) string {
	lines := strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
	columns := 0
	var body strings.Builder
	for i, line := range lines {
		columns = max(columns, len([]rune(escape.ReplaceAllString(line, ""))))
		// Chromium does not inherit xml:space from the group.
		fmt.Fprintf(&body, "<text xml:space=\"preserve\" x=\"%d\" y=\"%d\">", margin, margin+lineHeight*(i+1)-5)
		colour, bold := "", false
		for line != "" {
			at := escape.FindStringSubmatchIndex(line)
			part, rest := line, ""
			if at != nil {
				part, rest = line[:at[0]], line[at[1]:]
			}
			if part != "" {
				style := ""
				if colour != "" {
					style += ` fill="` + colour + `"`
				}
				if bold {
					style += ` font-weight="bold"`
				}
				fmt.Fprintf(&body, "<tspan%s>%s</tspan>", style, html.EscapeString(part))
			}
			if at != nil {
				for code := range strings.SplitSeq(line[at[2]:at[3]], ";") {
					switch c, known := colours()[code]; {
					case known:
						colour = c
					case code == "1":
						bold = true
					case code == "22":
						bold, colour = false, ""
					default:
						colour, bold = "", false
					}
				}
			}
			line = rest
		}
		body.WriteString("</text>\n")
	}
	width, height := int(float64(columns)*charWidth)+2*margin, lineHeight*len(lines)+2*margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img">
<title>toolguard check and toolguard fix in a terminal</title>
<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="#e6edf3">
%[3]s</g>
</svg>
`, width, height, body.String())
}
