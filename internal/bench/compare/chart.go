package main

import (
	"fmt"
	"html"
	"strings"
)

// Sizes in the chart, in pixels.
const (
	chartWidth = 760
	barLeft    = 200
	barMost    = 440 // the width of the longest bar
	barHeight  = 16
	barStep    = 22
	margin     = 20
)

// chart draws the second table as bars.
func (p *page) chart() string {
	longest := 1.0
	for _, s := range p.shares {
		longest = max(longest, s.times)
	}
	plain := strings.NewReplacer("`", "", `\|`, "|") // the names are Markdown
	var body strings.Builder
	y, input := margin, ""
	for _, s := range p.shares {
		if s.input != input {
			if input != "" {
				y += barStep / 2
			}
			input = s.input
			fmt.Fprintf(&body, "<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s</text>\n", margin, y+12, html.EscapeString(input))
			y += barStep
		}
		colour := "#6e7681"
		if s.tool == ours {
			colour = "#3fb950"
		}
		width := max(1, int(s.times*barMost/longest))
		fmt.Fprintf(&body, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", barLeft-8, y+12, html.EscapeString(plain.Replace(s.tool)))
		fmt.Fprintf(&body, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>", barLeft, y, width, barHeight, colour)
		fmt.Fprintf(&body, "<text x=\"%d\" y=\"%d\">%.2f</text>\n", barLeft+width+8, y+12, s.times)
		y += barStep
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img">
<title>CPU time of other tools, as multiples of that of toolguard</title>
<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>
<g font-family="system-ui, sans-serif" font-size="13" fill="#e6edf3">
%[3]s</g>
</svg>
`, chartWidth, y+margin, body.String())
}
