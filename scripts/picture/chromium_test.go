package main

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// A row is a text of a picture as Chromium shows it.
type row struct {
	Text  string
	Fixed bool         // the font is monospaced
	Chars [][2]float64 // where each character begins and ends
	Box   [4]float64   // left, top, right and bottom
	Frame [2]float64   // the size of the picture
}

// measure replaces the contents of an SVG by its rows.
const measure = `<script><![CDATA[
const svg = document.documentElement, frame = svg.getBoundingClientRect()
svg.textContent = JSON.stringify([...svg.querySelectorAll('text')].map(t => {
	const box = t.getBoundingClientRect(), chars = []
	const nodes = document.createTreeWalker(t, NodeFilter.SHOW_TEXT)
	while (nodes.nextNode()) {
		for (let i = 0; i < nodes.currentNode.length; i++) {
			const range = document.createRange()
			range.setStart(nodes.currentNode, i)
			range.setEnd(nodes.currentNode, i + 1)
			const c = range.getBoundingClientRect()
			chars.push([c.left, c.right])
		}
	}
	return {
		Text: t.textContent,
		Fixed: getComputedStyle(t).fontFamily.includes('monospace'),
		Chars: chars,
		Box: [box.left, box.top, box.right, box.bottom],
		Frame: [frame.width, frame.height],
	}
}))
]]></script></svg>`

// TestInChromium shows that a browser keeps the blanks of the pictures: each mark is below the
// text that it is about, and each character of a terminal in its column.
func TestInChromium(t *testing.T) {
	browser := chromium(t)
	marked := map[string][]string{
		"doctor.svg":      nil,
		"performance.svg": nil,
		"toolguard.svg":   {`"toolu_02Test"`, `"user"`, `"toolu_03Read"`, `"toolu_00Grep"`},
	}
	paths, err := filepath.Glob("../../docs/*.svg")
	if err != nil || len(paths) != len(marked) {
		t.Fatalf("docs has the pictures %q: %v", paths, err)
	}
	for _, path := range paths {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			rows := render(t, browser, string(text))
			checkRows(t, rows)
			if diff := cmp.Diff(marked[name], marks(rows)); diff != "" {
				t.Errorf("marked texts (-want +got)\n%s", diff)
			}
		})
	}
}

// checkRows reports rows that are not shown as they are written.
func checkRows(t *testing.T, rows []row) {
	t.Helper()
	if len(rows) == 0 {
		t.Fatal("the picture has no text")
	}
	for i, r := range rows {
		if hidden := func(c [2]float64) bool { return c[0] >= c[1] }; slices.ContainsFunc(r.Chars, hidden) {
			t.Errorf("%q: character %d is not shown", r.Text, slices.IndexFunc(r.Chars, hidden))
		}
		if r.Box[0] < 0 || r.Box[1] < 0 || r.Box[2] > r.Frame[0] || r.Box[3] > r.Frame[1] {
			t.Errorf("%q: is at %.1f, and the picture ends at %.1f", r.Text, r.Box, r.Frame)
		}
		for _, o := range rows[:i] {
			// The boxes of lines contain the space between them.
			if level := math.Abs(r.Box[1]-o.Box[1]) < lineHeight/2; level && r.Box[0] < o.Box[2] && o.Box[0] < r.Box[2] {
				t.Errorf("%q covers %q", r.Text, o.Text)
			}
		}
		if !r.Fixed || !rows[0].Fixed {
			continue
		}
		left, width := rows[0].Chars[0][0], rows[0].Chars[0][1]-rows[0].Chars[0][0]
		for c, at := range r.Chars {
			if want := left + float64(c)*width; math.Abs(at[0]-want) > width/2 {
				t.Errorf("%q: character %d begins at %.1f, want %.1f", r.Text, c, at[0], want)
				break
			}
		}
	}
}

// mark finds the marks of an excerpt in the line below it.
var mark = regexp.MustCompile(`^ +\| +(\^~*|-+)`)

// marks returns the text above each mark.
func marks(rows []row) []string {
	var out []string
	for i, r := range rows {
		m := mark.FindStringSubmatchIndex(r.Text)
		if m == nil || i == 0 {
			continue
		}
		left, right := r.Chars[m[2]][0], r.Chars[m[3]-1][1]
		above, shown := rows[i-1], []uint16(nil)
		text := utf16.Encode([]rune(above.Text))
		for c, at := range above.Chars {
			if middle := (at[0] + at[1]) / 2; left < middle && middle < right {
				shown = append(shown, text[c])
			}
		}
		out = append(out, string(utf16.Decode(shown)))
	}
	return out
}

// render returns the texts of an SVG as Chromium shows them.
func render(t *testing.T, browser, svg string) []row {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "picture.svg")
	if err := os.WriteFile(path, []byte(strings.Replace(svg, "</svg>", measure, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	address := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")}
	cmd := exec.CommandContext(ctx, browser, "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--no-sandbox", // root has none, and the page is ours
		"--user-data-dir="+filepath.Join(dir, "profile"), "--dump-dom", address.String())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr // all processes of Chromium write it, so Output waits for them
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, stderr.String())
	}
	_, body, _ := strings.Cut(string(out), ">")
	body, _, _ = strings.Cut(body, "</svg>")
	var rows []row
	if err := json.Unmarshal([]byte(html.UnescapeString(body)), &rows); err != nil {
		t.Fatalf("%s wrote %q: %v\n%s", browser, out, err, stderr.String())
	}
	return rows
}

// chromium returns the path of Chromium or a relative, also of one that Playwright or Puppeteer
// have installed.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	places := []string{"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", `C:\Program Files\Google\Chrome\Application\chrome.exe`}
	home, _ := os.UserHomeDir()
	cache, _ := os.UserCacheDir()
	for _, program := range []string{"chrome", "headless_shell", "chrome-headless-shell", "chrome.exe", "*.app/Contents/MacOS/*"} {
		places = append(places,
			filepath.Join(cache, "ms-playwright", "chromium*", "chrome-*", program),
			filepath.Join(home, ".cache", "puppeteer", "chrome*", "*", "chrome-*", program))
	}
	for _, place := range places {
		if found, _ := filepath.Glob(place); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	t.Skip("Chromium is not installed")
	return ""
}
