// Picture runs toolguard as a terminal would show it and writes that as SVGs:
//
//	go run ./scripts/picture
package main

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A picture shows commands and their output.
type picture struct {
	path     string
	title    string
	files    []file // in the home directory, where the commands run
	commands [][]string
}

// A file is a copy of a fixture.
type file struct {
	path    string
	fixture string // below testdata
	age     time.Duration
}

const day = 24 * time.Hour

func pictures() []picture {
	return []picture{
		{
			path:  "docs/toolguard.svg",
			title: "toolguard check and toolguard fix in a terminal",
			files: []file{{"session.json", "transcripts/anthropic/broken/cut-session.json", 0}},
			commands: [][]string{
				{"check", "session.json"},
				{"fix", "--color=always", "session.json"},
			},
		},
		{
			path:  "docs/doctor.svg",
			title: "toolguard doctor in a terminal",
			files: []file{
				{".claude/projects/-srv/6f1c2ab0.jsonl", "transcripts/claude-code/broken/without-roles.jsonl", 2 * time.Hour},
				{".claude/projects/-w/b81e30d5.jsonl", "transcripts/claude-code/broken/stale-parent.jsonl", 6 * day},
				{".claude/projects/-home-kim-boats/0d9e77c4.jsonl", "transcripts/claude-code/ok/interrupted.jsonl", day},
				{".codex/sessions/2026/03/04/rollout-a.jsonl", "transcripts/codex/broken/lost-outputs.jsonl", 5 * time.Hour},
				{".codex/sessions/2026/03/04/rollout-b.jsonl", "transcripts/codex/broken/missing.jsonl", 5 * time.Hour},
				{".gemini/tmp/w/chats/session-1.jsonl", "transcripts/gemini-cli/broken/session.jsonl", day},
				{".pi/agent/sessions/--boats--/1f0a.jsonl", "transcripts/pi/broken/session-context-edit.jsonl", 3 * day},
				{".local/share/opencode/opencode.db", "ordinary/places.geojson.json", day},
			},
			commands: [][]string{{"doctor"}},
		},
	}
}

func main() {
	for _, p := range pictures() {
		text, err := p.draw()
		if err == nil {
			err = os.WriteFile(p.path, []byte(text), 0o666)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "picture:", err)
			os.Exit(1)
		}
	}
}

// draw runs the commands and returns the SVG.
func (p *picture) draw() (string, error) {
	dir, err := os.MkdirTemp("", "picture-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	program, home := filepath.Join(dir, "toolguard.exe"), filepath.Join(dir, "home")
	for _, f := range p.files {
		if err := f.copyTo(home); err != nil {
			return "", err
		}
	}
	build := exec.Command("go", "build", "-o", program, "./cmd/toolguard")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", err
	}
	var screen bytes.Buffer
	for i, args := range p.commands {
		if i > 0 {
			screen.WriteString("\n")
		}
		shown := strings.ReplaceAll(strings.Join(args, " "), " --color=always", "")
		fmt.Fprintf(&screen, "\x1b[32m$\x1b[0m toolguard %s\n", shown)
		cmd := exec.Command(program, args...)
		cmd.Dir = home
		// Variables of the user could name other stores.
		cmd.Env = []string{"HOME=" + home, "USERPROFILE=" + home, "FORCE_COLOR=1"}
		cmd.Stdout, cmd.Stderr = &screen, &screen
		if err := cmd.Run(); err != nil {
			if !errors.As(err, new(*exec.ExitError)) {
				return "", err
			}
		}
	}
	return svg(p.title, screen.String()), nil
}

// copyTo copies the fixture to the home directory.
func (f *file) copyTo(home string) error {
	text, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(f.fixture)))
	if err != nil {
		return err
	}
	path := filepath.Join(home, filepath.FromSlash(f.path))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		return err
	}
	modified := time.Now().Add(-f.age)
	return os.Chtimes(path, modified, modified)
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
func svg(title, screen string) string {
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
<title>%[3]s</title>
<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="#e6edf3">
%[4]s</g>
</svg>
`, width, height, html.EscapeString(title), body.String())
}
