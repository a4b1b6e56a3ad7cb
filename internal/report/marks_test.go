package report

import (
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// placed returns a finding about the words in angle brackets of a text: the first one between
// << and >> is the finding itself, and each other one, between < and >, is related to it.
func placed(t *testing.T, text string) *engine.Finding {
	t.Helper()
	f := &engine.Finding{Finding: rules.Finding{Rule: rules.All()[0], Severity: rules.Error}, Path: "p"}
	var plain strings.Builder
	type at struct {
		start source.Position
		n     int
	}
	var own *at
	var related []at
	line, column := 1, 1
	open, double := -1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '<':
			double = strings.HasPrefix(text[i:], "<<")
			if open = plain.Len(); double {
				i++
			}
		case '>':
			p := at{source.Position{Offset: int64(open), Line: line, Column: column - (plain.Len() - open)}, plain.Len() - open}
			if double {
				own = &p
				i++
			} else {
				related = append(related, p)
			}
		default:
			plain.WriteByte(c)
			if column++; c == '\n' {
				line, column = line+1, 1
			}
		}
	}
	all := plain.String()
	excerpt := func(p at) engine.Excerpt {
		begin := strings.LastIndexByte(all[:p.start.Offset], '\n') + 1
		end := begin + strings.IndexByte(all[begin:], '\n')
		mark := int(p.start.Offset) - begin
		return engine.Excerpt{Text: []byte(all[begin:end]), Mark: [2]int{mark, mark + p.n}}
	}
	f.Start, f.Excerpt = own.start, excerpt(*own)
	for _, p := range related {
		f.Related = append(f.Related, rules.Related{Message: "see"})
		f.RelatedAt = append(f.RelatedAt, p.start, p.start)
		f.RelatedExcerpts = append(f.RelatedExcerpts, excerpt(p))
	}
	return f
}

// TestPlaces: the places of a finding are shown in the order of the file.
func TestPlaces(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("=", 120)
	for _, tt := range []struct{ name, text, want string }{
		{"alone", "a <<bc>> d\n", "    1 | a bc d\n      |   ^~\n"},
		{"behind it", "a <<b>>\nc\n<d>\n", "    1 | a b\n      |   ^\n  ...\n    3 | d\n      | - see: 3:1\n"},
		{"before it", "<a>\nb <<c>>\n", "    1 | a\n      | - see: 1:1\n    2 | b c\n      |   ^\n"},
		{"on the line, behind it", "a <<bc>> d <ef>\n", "    1 | a bc d ef\n      |   ^~   -- see: 1:8\n"},
		{"on the line, before it", "a <bc> d <<ef>>\n", "    1 | a bc d ef\n      |   --   ^~\n      |   see: 1:3\n"},
		{"two on the line", "<a> <<b>> <c>\n", "    1 | a b c\n      | - ^ - see: 1:5\n      | see: 1:1\n"},
		{
			"too far away", "<<ab>>" + long + "<cd>\n",
			"    1 | ab" + long[:70] + "…\n      | ^~\n    1 | …" + long[:70] + "cd\n      | " + strings.Repeat(" ", 71) + "--\n      | " + strings.Repeat(" ", 46) + "see: 1:123, on the same line\n",
		},
	} {
		f := placed(t, tt.text)
		var l lines
		(&text{opts: Options{Width: 82}, style: newStyle(false)}).places(&l, f)
		got := l.String()
		if got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
		if wide := widest(got); wide > 82 {
			t.Errorf("%s: %d columns wide\n%s", tt.name, wide, got)
		}
	}
}

// widest returns the width of the widest line.
func widest(text string) int {
	most := 0
	for line := range strings.Lines(text) {
		most = max(most, textWidth(strings.TrimSuffix(line, "\n")))
	}
	return most
}
