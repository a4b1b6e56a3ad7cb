package report

import (
	"github.com/fatih/color"

	"github.com/toolguard/toolguard/internal/rules"
)

// A style colours parts of a text, or leaves them unchanged.
type style struct {
	path, gutter, fix, related, code *color.Color
	severities                       [rules.Error + 1]*color.Color
}

func newStyle(enabled bool) *style {
	// Each colour is switched explicitly, because the package's own guess looks at the
	// process and not at the writer.
	paint := func(attributes ...color.Attribute) *color.Color {
		c := color.New(attributes...)
		if enabled {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
		return c
	}
	s := &style{
		path:    paint(color.Bold),
		gutter:  paint(color.Faint),
		fix:     paint(color.FgGreen),
		related: paint(color.FgBlue),
		code:    paint(color.FgCyan),
	}
	s.severities[rules.Off] = paint()
	s.severities[rules.Info] = paint(color.FgCyan, color.Bold)
	s.severities[rules.Warning] = paint(color.FgYellow, color.Bold)
	s.severities[rules.Error] = paint(color.FgRed, color.Bold)
	return s
}

// severity returns the colour of a severity.
func (s *style) severity(v rules.Severity) *color.Color { return s.severities[v] }
