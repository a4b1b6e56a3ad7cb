package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/stats"
)

// StatsOptions say how counts are shown.
type StatsOptions struct {
	Width int  // of a line
	ASCII bool // the terminal may show no other characters
	Color bool
	// MinCalls is how many calls a group needs for a rate.
	MinCalls int
}

// A StatsRun is counts, and which files are not in them.
type StatsRun struct {
	*stats.Result
	Summary *Summary
	// InUse and Old are how many sessions were left out because an agent uses them, or because they
	// did not change since the date that was asked for.
	InUse, Old int
}

// How much people are shown.
const (
	mostStatsRows     = 50
	mostStatsDatasets = 20
	leastStatsBar     = 8
	mostStatsBar      = 30
	leastStatsKey     = 12
	leastPeak         = 3 // elements of a cell
	statsIndent       = "  "
)

// A statsColumn is a column of a table for people.
type statsColumn struct {
	title string
	left  bool // its texts are at the left
	drop  int  // which goes first if the line is too short; 0 for none
	cells []string
}

// width returns how many characters the widest text of a column has.
func (c *statsColumn) width() int {
	n := textWidth(c.title)
	for _, cell := range c.cells {
		n = max(n, textWidth(cell))
	}
	return n
}

// Stats writes counts for people.
func Stats(w io.Writer, r *StatsRun, opts StatsOptions) error {
	s := &statsText{opts: opts, style: newStyle(opts.Color), out: lines{ascii: opts.ASCII}}
	s.head(r)
	s.files(r)
	s.causes(r)
	s.datasets(r)
	for i := range r.Tables {
		if len(r.Tables[i].Rows) > 0 {
			s.out.line()
			s.table(&r.Tables[i])
		}
	}
	if s.dashes {
		s.out.fold(opts.Width, statsIndent, bare(fmt.Sprintf("-: fewer than %s; --min-calls sets the limit", statsCount(opts.MinCalls, "call"))))
	}
	if left := leftOut(r); left != "" {
		s.out.line()
		s.out.fold(opts.Width, statsIndent, bare(left))
	}
	return s.out.flush(w)
}

type statsText struct {
	opts   StatsOptions
	style  *style
	out    lines
	dashes bool // a rate is not shown
}

// head says how much there is.
func (s *statsText) head(r *StatsRun) {
	s.out.fold(s.opts.Width, statsIndent, bare(statsHead(r)))
}

// statsHead says how much there is.
func statsHead(r *StatsRun) string {
	t := &r.Totals
	text := fmt.Sprintf("%s, %s, %s, %s", statsCount(t.Files, "file"), statsCount(t.Conversations, "conversation"), statsCount(t.Calls, "call"), statsCount(t.Results, "result"))
	if t.Errors == 0 {
		return text + ": no errors."
	}
	return text + fmt.Sprintf(": %s in %s.", statsCount(t.Errors, "error"), statsCount(r.BadFiles, "file"))
}

// table writes the groups of some dimensions.
func (s *statsText) table(t *stats.Table) {
	rows := t.Rows[:min(len(t.Rows), mostStatsRows)]
	var keys []statsColumn
	for _, d := range t.By {
		c := statsColumn{title: d.String(), left: true}
		for i := range rows {
			c.cells = append(c.cells, Printable(rows[i].Key[d]))
		}
		keys = append(keys, c)
	}
	number := func(title string, drop int, always bool, of func(*stats.Row) int) (statsColumn, bool) {
		c := statsColumn{title: title, drop: drop}
		for i := range rows {
			n := of(rows[i])
			always = always || n > 0
			c.cells = append(c.cells, statsNumber(n))
		}
		return c, always
	}
	var columns []statsColumn
	add := func(c statsColumn, shown bool) {
		if shown {
			columns = append(columns, c)
		}
	}
	add(number("sessions", 10, true, func(r *stats.Row) int { return r.Sessions }))
	add(number("calls", 0, true, func(r *stats.Row) int { return r.Calls }))
	add(number("missing", 0, true, func(r *stats.Row) int { return r.Missing }))
	rate, interval := statsColumn{title: "rate"}, statsColumn{title: "95 %", left: true, drop: 20}
	top := 0.0
	for i := range rows {
		one, both := "-", ""
		if rows[i].Calls >= max(s.opts.MinCalls, 1) {
			x := rows[i].Rate()
			one, both = statsPercent(x.Value)+" %", statsPercent(x.Low)+s.dash()+statsPercent(x.High)
			top = max(top, x.Value)
		} else if rows[i].Calls > 0 {
			s.dashes = true
		}
		rate.cells, interval.cells = append(rate.cells, one), append(interval.cells, both)
	}
	columns = append(columns, rate)
	if slices.ContainsFunc(interval.cells, func(s string) bool { return s != "" }) {
		columns = append(columns, interval)
	}
	barAt := len(columns)
	add(number("orphans", 7, false, func(r *stats.Row) int { return r.Orphans }))
	add(number("duplicates", 5, false, func(r *stats.Row) int { return r.Duplicates }))
	add(number("misplaced", 6, false, func(r *stats.Row) int { return r.Misplaced }))
	add(number("open", 4, false, func(r *stats.Row) int { return r.Open }))
	add(number("interrupted", 3, false, func(r *stats.Row) int { return r.Interrupted }))
	measure := func(title string, drop int, of func(*stats.Row) *stats.Buckets, write func(int64) string) {
		known := false
		for _, share := range []float64{0.5, 0.99} {
			c := statsColumn{title: "p" + strconv.Itoa(int(100*share)), drop: drop}
			if share == 0.5 {
				c.title = title + " p50"
			} else {
				c.drop = drop
			}
			for i := range rows {
				text := ""
				if b := of(rows[i]); b.N() > 0 {
					known = true
					text = write(b.At(share))
				}
				c.cells = append(c.cells, text)
			}
			add(c, known)
		}
	}
	measure("result", 2, func(r *stats.Row) *stats.Buckets { return &r.Bytes }, statsBytes)
	measure("time", 1, func(r *stats.Row) *stats.Buckets { return &r.Latency }, statsTime)
	bar := 0
	if top > 0 {
		bar = leastStatsBar
	}
	keys, columns, barAt, bar = s.fit(keys, columns, barAt, bar)
	all := slices.Concat(keys, columns)
	for i := -1; i < len(rows); i++ {
		var line strings.Builder
		var parts []part
		for k := range all {
			c := &all[k]
			if k > 0 {
				line.WriteString("  ")
			}
			text := c.title
			if i >= 0 {
				text = c.cells[i]
			}
			pad := strings.Repeat(" ", max(0, c.width()-textWidth(text)))
			if c.left {
				line.WriteString(text + pad)
			} else {
				line.WriteString(pad + text)
			}
			if k == len(keys)+barAt-1 && bar > 0 {
				drawn := ""
				if i >= 0 && rows[i].Calls >= max(s.opts.MinCalls, 1) {
					drawn = s.bar(rows[i].Rate().Value/top, bar)
				}
				parts = append(parts, bare(line.String()+"  "), colored(s.style.related, drawn))
				line.Reset()
				line.WriteString(strings.Repeat(" ", bar-textWidth(drawn)))
			}
		}
		parts = append(parts, bare(strings.TrimRight(line.String(), " ")))
		if i < 0 {
			parts = []part{colored(s.style.path, strings.TrimRight(statsJoined(parts), " "))}
		} else if line := statsJoined(parts); strings.HasSuffix(line, " ") {
			last := &parts[len(parts)-1]
			if last.text == "" {
				last = &parts[len(parts)-2]
			}
			last.text = strings.TrimRight(last.text, " ")
		}
		s.out.line(parts...)
	}
	if n := len(t.Rows) - len(rows); n > 0 {
		s.out.fold(s.opts.Width, statsIndent, bare(statsIndent+fmt.Sprintf("and %s more: --json and --csv have all", statsNumber(n))))
	}
}

// statsJoined returns the text of parts.
func statsJoined(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.text)
	}
	return b.String()
}

// fit leaves out columns and shortens keys until a line fits, and gives the rest to the bar.
func (s *statsText) fit(keys, columns []statsColumn, barAt, bar int) (k, c []statsColumn, at, width int) {
	total := func() int {
		n := 0
		for _, c := range slices.Concat(keys, columns) {
			n += c.width() + 2
		}
		if bar > 0 {
			n += bar + 2
		}
		return n - 2
	}
	shorten := func(least int) {
		for total() > s.opts.Width {
			widest := slices.MaxFunc(keys, func(a, b statsColumn) int { return a.width() - b.width() })
			n := widest.width()
			if n <= least {
				return
			}
			for i := range keys {
				if keys[i].width() == n {
					to := max(least, n-(total()-s.opts.Width))
					for j, cell := range keys[i].cells {
						keys[i].cells[j] = s.cut(cell, to)
					}
					break
				}
			}
		}
	}
	shorten(3 * leastStatsKey)
	for total() > s.opts.Width {
		first := -1
		for i := range columns {
			if d := columns[i].drop; d > 0 && (first < 0 || d <= columns[first].drop) {
				first = i
			}
		}
		if first < 0 || columns[first].drop == 20 && total()-bar-2 <= s.opts.Width {
			break
		}
		columns = slices.Delete(columns, first, first+1)
		if first < barAt {
			barAt--
		}
	}
	shorten(leastStatsKey)
	if bar > 0 && total() > s.opts.Width {
		bar = 0
	}
	if bar > 0 {
		bar = min(mostStatsBar, bar+s.opts.Width-total())
	}
	shorten(leastStatsKey / 2)
	return keys, columns, barAt, bar
}

// cut returns the beginning of a text that is not wider than a width.
func (s *statsText) cut(text string, width int) string {
	if textWidth(text) <= width {
		return text
	}
	more := "…"
	if s.opts.ASCII {
		more = "..."
	}
	for textWidth(text)+textWidth(more) > width && text != "" {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return text + more
}

// bar draws a share of a width.
func (s *statsText) bar(share float64, width int) string {
	if s.opts.ASCII {
		n := int(math.Round(share * float64(width)))
		if n == 0 && share > 0 {
			n = 1
		}
		return strings.Repeat("=", n)
	}
	eighths := int(math.Round(share * float64(8*width)))
	if eighths == 0 && share > 0 {
		eighths = 1
	}
	out := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		out += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return out
}

// strip draws a strip: the share of bad ones in each cell, of the largest share.
func (s *statsText) strip(x *stats.Strip) string {
	signs := []rune("▁▂▃▄▅▆▇█")
	if s.opts.ASCII {
		signs = []rune("._-=+*%@")
	}
	peak := x.Peak()
	var b strings.Builder
	for _, c := range x.Cells {
		switch {
		case c.All == 0:
			b.WriteByte(' ')
		case c.Bad == 0 || peak < 0:
			b.WriteRune(signs[0])
		default:
			top := x.Cells[peak]
			share := float64(c.Bad) / float64(c.All) / (float64(top.Bad) / float64(top.All))
			b.WriteRune(signs[1+int(math.Round(share*float64(len(signs)-2)))])
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// peak says where the largest share of bad ones is.
func (s *statsText) peak(x *stats.Strip, n int, one string) string {
	i := x.Peak()
	if i < 0 {
		return ""
	}
	c, last := x.Cells[i], x.Last(i, n)
	share := float64(c.Bad) / float64(c.All)
	if c.All < leastPeak {
		return ""
	}
	return fmt.Sprintf("peak: %s %% of %ss %s%s%s", statsPercent(share), one, statsNumber(c.First), s.dash(), statsNumber(last))
}

// dash returns what is between two ends.
func (s *statsText) dash() string {
	if s.opts.ASCII {
		return "-"
	}
	return "–"
}

// files says which files have errors.
func (s *statsText) files(r *StatsRun) {
	if n := r.Totals.Files; n > 1 && r.BadFiles > 0 {
		s.out.line()
		s.spread(&r.Files, n, r.BadFiles, "file", "in the order of their paths")
	}
}

// spread says which ones of a sequence have errors.
func (s *statsText) spread(x *stats.Strip, n, some int, one, order string) {
	if some == n {
		s.out.line(bare(fmt.Sprintf("All %s have errors.", statsCount(n, one))))
		return
	}
	narrow := x.Narrow(s.opts.Width)
	s.out.line(colored(s.style.severity(rules.Error), s.strip(&narrow)))
	text := fmt.Sprintf("%s of %s %s errors, %s", statsNumber(some), statsCount(n, one), pick(some, "has", "have"), order)
	if peak := s.peak(&narrow, n, one); peak != "" {
		text += "; " + peak
	}
	s.out.fold(s.opts.Width, statsIndent, bare(text+"."))
}

// causes writes what is wrong, and an example of each cause.
func (s *statsText) causes(r *StatsRun) {
	if len(r.Causes) == 0 {
		return
	}
	in := causesIn(r)
	name := statsColumn{title: "cause", left: true}
	n, found := statsColumn{title: in}, statsColumn{title: "errors"}
	for _, c := range r.Causes {
		name.cells, n.cells, found.cells = append(name.cells, c.Rule), append(n.cells, statsNumber(c.Sessions)), append(found.cells, statsNumber(c.Errors))
	}
	s.out.line()
	row := func(a, b, c string) string {
		return a + strings.Repeat(" ", name.width()-len(a)) + "  " + strings.Repeat(" ", n.width()-len(b)) + b + "  " + strings.Repeat(" ", found.width()-len(c)) + c
	}
	wide := textWidth(row("cause", in, "errors")) <= s.opts.Width
	if !wide {
		row = func(a, b, c string) string { return a + ": " + b + " in " + in + ", " + c + " errors" }
		s.out.line(colored(s.style.path, "causes"))
	} else {
		s.out.line(colored(s.style.path, row("cause", in, "errors")))
	}
	top := 0
	for _, c := range r.Causes {
		top = max(top, c.Sessions)
	}
	for i, c := range r.Causes {
		line := row(c.Rule, n.cells[i], found.cells[i])
		bar := ""
		if room := min(s.opts.Width-name.width()-n.width()-found.width()-6, mostStatsBar); wide && room >= leastStatsBar {
			bar = "  " + s.bar(float64(c.Sessions)/float64(top), room)
		}
		if wide {
			s.out.line(bare(line), colored(s.style.related, bar))
		} else {
			s.out.fold(s.opts.Width, statsIndent, bare(line))
		}
		sample := Printable(fmt.Sprintf("%s%s: %s", statsIndent, samplePlace(&c.Sample), c.Sample.Message))
		s.out.line(colored(s.style.gutter, s.cut(sample, s.opts.Width)))
	}
}

// causesIn says in what causes are counted.
func causesIn(r *StatsRun) string {
	switch {
	case len(r.Datasets) == 0:
		return "files"
	case r.Totals.Files > len(r.Datasets):
		return "files, rows"
	}
	return "rows"
}

// samplePlace returns where a sample is.
func samplePlace(x *stats.Sample) string {
	if x.Line == 0 {
		return fmt.Sprintf("%s, record %d", x.Path, x.Record)
	}
	return fmt.Sprintf("%s:%d", x.Path, x.Line)
}

// datasets says how many rows of each dataset are rejected, and where they are.
func (s *statsText) datasets(r *StatsRun) {
	if len(r.Datasets) == 0 {
		return
	}
	list := worstFirst(r.Datasets)
	for i := range list[:min(len(list), mostStatsDatasets)] {
		d := list[i]
		s.out.line()
		s.out.fold(s.opts.Width, statsIndent, unbroken(s.style.path, d.Path), bare(": "+datasetHead(d)))
		if d.Rejected == 0 {
			continue
		}
		narrow := d.Strip.Narrow(s.opts.Width - len(statsIndent))
		if d.Kept() > 0 {
			s.out.line(bare(statsIndent), colored(s.style.severity(rules.Error), s.strip(&narrow)))
		}
		text := statsIndent
		if peak := s.peak(&narrow, d.Rows, "row"); peak != "" && d.Rejected < d.Rows {
			text += peak + "; "
		}
		s.out.fold(s.opts.Width, statsIndent, bare(text+datasetCauses(d)))
	}
	if n := len(list) - mostStatsDatasets; n > 0 {
		s.out.line()
		s.out.line(bare(fmt.Sprintf("and %s more: --json has all", statsCount(n, "dataset"))))
	}
}

// leftOut says what is not counted.
func leftOut(r *StatsRun) string {
	var calls []string
	for _, why := range stats.Reasons() {
		if n := r.LeftOut[why]; n > 0 {
			text := statsNumber(n) + " " + why.Describe()
			if len(calls) == 0 {
				text = statsCount(n, "call") + " " + why.Describe()
			}
			calls = append(calls, text)
		}
	}
	var parts []string
	if len(calls) > 0 {
		parts = append(parts, strings.Join(calls, ", "))
	}
	if r.InUse > 0 {
		parts = append(parts, statsCount(r.InUse, "session")+" in use")
	}
	if r.Old > 0 {
		parts = append(parts, statsCount(r.Old, "older file"))
	}
	if n := r.Summary.Empty; n > 0 {
		parts = append(parts, statsCount(n, "empty file"))
	}
	if n := r.Summary.Skipped; n > 0 {
		parts = append(parts, statsCount(n, "file")+" "+pick(n, "that is no transcript", "that are no transcripts"))
	}
	if n := len(r.Summary.Failed); n > 0 {
		parts = append(parts, statsCount(n, "file")+" that could not be read")
	}
	if len(parts) == 0 {
		return ""
	}
	return "Left out: " + strings.Join(parts, "; ") + "."
}

// A SpreadRun is what check and doctor show of many files: which have errors, in order, and what is
// mainly wrong with them.
type SpreadRun struct {
	Bad    []bool
	Causes string
	// One is what one of them is called, Order says how they are ordered.
	One, Order string
}

// StatsSpread writes which ones of many files have errors.
func StatsSpread(w io.Writer, r *SpreadRun, opts StatsOptions) error {
	s := &statsText{opts: opts, style: newStyle(opts.Color), out: lines{ascii: opts.ASCII}}
	x := stats.Spread(r.Bad)
	bad := 0
	for _, is := range r.Bad {
		if is {
			bad++
		}
	}
	s.spread(&x, len(r.Bad), bad, r.One, r.Order)
	if r.Causes != "" {
		s.out.fold(opts.Width, statsIndent, bare("Causes: "+r.Causes+"."))
	}
	return s.out.flush(w)
}

// statsCount returns a number with commas and its noun.
func statsCount(n int, noun string) string { return statsNumber(n) + " " + pick(n, noun, noun+"s") }

// statsNumber returns a number with commas: 1,046.
func statsNumber(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// statsPercent returns a share as percent, with as many digits as people read.
func statsPercent(share float64) string {
	p := 100 * share
	switch {
	case p == 0:
		return "0"
	case p >= 99.95 && share < 1:
		return "99.9"
	case p >= 9.995:
		return strings.TrimSuffix(strconv.FormatFloat(p, 'f', 1, 64), ".0")
	case p < 0.01:
		return strconv.FormatFloat(p, 'g', 1, 64)
	}
	return strconv.FormatFloat(p, 'f', 2, 64)
}

// statsBytes returns a size.
func statsBytes(n int64) string { return statsScaled(float64(n), 1000, "B", "KB", "MB", "GB", "TB") }

// statsScaled returns a number with the largest unit that fits.
func statsScaled(x, step float64, units ...string) string {
	i := 0
	for x >= step-0.5 && i+1 < len(units) {
		x /= step
		i++
	}
	if i > 0 && x < 9.95 {
		return strconv.FormatFloat(x, 'f', 1, 64) + " " + units[i]
	}
	return strconv.FormatFloat(x, 'f', 0, 64) + " " + units[i]
}

// statsTime returns a time.
func statsTime(ms int64) string {
	s := float64(ms) / 1000
	switch {
	case ms < 1000:
		return strconv.FormatInt(ms, 10) + " ms"
	case s < 9.95:
		return strconv.FormatFloat(s, 'f', 1, 64) + " s"
	case s < 120:
		return strconv.FormatFloat(s, 'f', 0, 64) + " s"
	case s < 7200:
		return strconv.FormatFloat(s/60, 'f', 0, 64) + " min"
	}
	return strconv.FormatFloat(s/3600, 'f', 0, 64) + " h"
}
