package report

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/digest"
	"github.com/toolguard/toolguard/internal/stats"
)

// statsStyle is the style of the page. The page has no other style and no script.
const statsStyle = `:root{color-scheme:light dark;--fg:#1b1b1b;--bg:#fff;--dim:#595959;--line:#d0d0d0;--bar:#2a6fb0;--whisker:#12324f;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--fg:#e8e8e8;--bg:#161616;--dim:#a8a8a8;--line:#444;--bar:#6aa9e0;--whisker:#d5e8f8;--bad:#ff8a80}}
body{margin:2rem auto;max-width:80rem;padding:0 1rem;font:16px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg)}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.5rem;overflow-wrap:anywhere}
.wide{overflow-x:auto}.wide:focus-visible{outline:2px solid var(--bar)}
table{border-collapse:collapse}caption{text-align:left;color:var(--dim);padding:.3rem 0}
th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap;font-variant-numeric:tabular-nums}
th{font-weight:600}th.k,td.k{text-align:left;min-width:12rem;max-width:28rem;white-space:normal;overflow-wrap:anywhere}
p,.dim{overflow-wrap:anywhere}.dim{color:var(--dim)}
@media(max-width:40rem){body{font-size:14px;margin:1rem auto}th,td{padding:.2rem .25rem}th.k,td.k{min-width:5.5rem}}
svg{vertical-align:middle}.b{fill:var(--bar)}.w{stroke:var(--whisker)}.x{fill:var(--bad)}.o{fill:var(--line)}
`

// The sizes of pictures on the page, in pixels.
const (
	pageBar    = 140
	pageCell   = 8
	pageHeight = 32
)

// A statsPage collects the page.
type statsPage struct {
	strings.Builder
	minCalls int
}

// StatsHTML writes counts as a page that needs no network, no script and no other file.
func StatsHTML(w io.Writer, r *StatsRun, minCalls int) error {
	p := &statsPage{minCalls: max(minCalls, 1)}
	sum := digest.Sum256([]byte(statsStyle))
	p.add(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-` + base64.StdEncoding.EncodeToString(sum[:]) + `'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Tool calls without results</title>
<style>` + statsStyle + `</style>
</head>
<body>
<main>
<h1>Tool calls without results</h1>
`)
	p.add("<p>", inHTML(statsHead(r)), "</p>\n")
	if r.Totals.Files > 1 && r.BadFiles > 0 {
		p.add("<h2>Files with errors</h2>\n<p>")
		p.strip(&r.Files, r.Totals.Files, "file")
		p.add("</p>\n<p>", inHTML(fmt.Sprintf("%s of %s %s errors. They are in the order of their paths.", statsNumber(r.BadFiles), statsCount(r.Totals.Files, "file"), pick(r.BadFiles, "has", "have"))), "</p>\n")
	}
	p.causes(r)
	list := worstFirst(r.Datasets)
	for i := range list {
		p.dataset(list[i])
	}
	for i := range r.Tables {
		if len(r.Tables[i].Rows) > 0 {
			p.table(&r.Tables[i])
		}
	}
	if left := leftOut(r); left != "" {
		p.add(`<h2>Not counted</h2>`, "\n<p>", inHTML(left), "</p>\n")
	}
	p.add("</main>\n</body>\n</html>\n")
	_, err := io.WriteString(w, p.String())
	return err
}

// add adds parts of HTML.
func (p *statsPage) add(parts ...string) {
	for _, s := range parts {
		p.WriteString(s)
	}
}

// inHTML returns any text as HTML, which also stands in an attribute. It says of characters that hide or
// move text which they are.
func inHTML(s string) string {
	return escapeXML(Printable(s))
}

// table adds the groups of some dimensions.
func (p *statsPage) table(t *stats.Table) {
	var by []string
	for _, d := range t.By {
		by = append(by, d.String())
	}
	title := "By " + strings.Join(by, " and ")
	p.add("<h2>", inHTML(title), "</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"", inHTML(title), "\">\n<table>\n<caption>The rate is the share of the calls that have no result, with its 95 % interval.</caption>\n<thead><tr>")
	for _, name := range by {
		p.add(`<th scope="col" class="k">`, inHTML(name), "</th>")
	}
	head := func(names ...string) {
		for _, name := range names {
			p.add(`<th scope="col">`, name, "</th>")
		}
	}
	head("sessions", "calls", "missing", "rate", "95 %")
	p.add("<td></td>")
	var numbers []func(*stats.Row) int // of the columns in which something was found
	for _, c := range []struct {
		name string
		of   func(*stats.Row) int
	}{
		{"interrupted", func(r *stats.Row) int { return r.Interrupted }},
		{"open", func(r *stats.Row) int { return r.Open }},
		{"orphans", func(r *stats.Row) int { return r.Orphans }},
		{"duplicates", func(r *stats.Row) int { return r.Duplicates }},
		{"misplaced", func(r *stats.Row) int { return r.Misplaced }},
	} {
		if slices.ContainsFunc(t.Rows, func(r *stats.Row) bool { return c.of(r) > 0 }) {
			head(c.name)
			numbers = append(numbers, c.of)
		}
	}
	head("result p50", "p90", "p99", "max", "time p50", "p90", "p99", "max")
	p.add("</tr></thead>\n<tbody>\n")
	top := 0.0
	for i := range t.Rows {
		if r := t.Rows[i]; r.Calls >= p.minCalls && r.Missing > 0 {
			top = max(top, r.Rate().High)
		}
	}
	for i := range t.Rows {
		r := t.Rows[i]
		p.add("<tr>")
		for k, d := range t.By {
			tag := "td"
			if k == 0 {
				tag = "th"
				p.add(`<th scope="row" class="k">`)
			} else {
				p.add(`<td class="k">`)
			}
			p.add(inHTML(r.Key[d]), "</", tag, ">")
		}
		cell := func(s string) { p.add("<td>", s, "</td>") }
		sessions := statsNumber(r.Sessions)
		if r.Rest {
			sessions = ""
		}
		cell(sessions)
		cell(statsNumber(r.Calls))
		cell(statsNumber(r.Missing))
		if r.Calls >= p.minCalls {
			x := r.Rate()
			cell(statsPercent(x.Value) + " %")
			cell(statsPercent(x.Low) + "–" + statsPercent(x.High))
			p.add("<td>")
			p.bar(x, top)
			p.add("</td>")
		} else {
			p.add("<td>–</td><td></td><td></td>")
		}
		for _, of := range numbers {
			cell(statsNumber(of(r)))
		}
		for _, b := range []struct {
			of    *stats.Buckets
			write func(int64) string
		}{{&r.Bytes, statsBytes}, {&r.Latency, statsTime}} {
			for _, v := range []int64{b.of.At(0.5), b.of.At(0.9), b.of.At(0.99), b.of.Max()} {
				if b.of.N() == 0 {
					cell("")
					continue
				}
				cell(b.write(v))
			}
		}
		p.add("</tr>\n")
	}
	p.add("</tbody>\n</table>\n</div>\n")
}

// bar draws a rate and its interval, of the largest one.
func (p *statsPage) bar(x stats.Rate, top float64) {
	if top == 0 {
		return
	}
	at := func(share float64) string { return strconv.FormatFloat(min(share/top, 1)*pageBar, 'f', 1, 64) }
	fmt.Fprintf(p, `<svg width="%d" height="14" role="img" aria-label="%s %%"><rect class="b" y="2" width="%s" height="10"/><path class="w" d="M%s 7H%s"/></svg>`,
		pageBar, statsPercent(x.Value), at(x.Value), at(x.Low), at(x.High))
}

// strip draws the share of bad ones in each cell, of the largest share.
func (p *statsPage) strip(x *stats.Strip, n int, one string) {
	peak := x.Peak()
	fmt.Fprintf(p, `<svg width="%d" height="%d" role="img" aria-label="where the %ss with errors are">`, len(x.Cells)*pageCell, pageHeight, one)
	for i, c := range x.Cells {
		if c.All == 0 {
			continue
		}
		class, height := "o", 2.0
		if c.Bad > 0 && peak >= 0 {
			top := x.Cells[peak]
			class, height = "x", max(4, pageHeight*float64(c.Bad)/float64(c.All)*float64(top.All)/float64(top.Bad))
		}
		what := fmt.Sprintf("%s %s–%s: %s of %s have errors", one, statsNumber(c.First), statsNumber(x.Last(i, n)), statsNumber(c.Bad), statsNumber(c.All))
		if c.All == 1 {
			what = fmt.Sprintf("%s %s", one, statsNumber(c.First))
		}
		fmt.Fprintf(p, `<rect class="%s" x="%d" y="%.1f" width="%d" height="%.1f"><title>%s</title></rect>`,
			class, i*pageCell, pageHeight-height, pageCell-1, height, inHTML(what))
	}
	p.add("</svg>")
}

// causes adds what is wrong, with an example of each.
func (p *statsPage) causes(r *StatsRun) {
	if len(r.Causes) == 0 {
		return
	}
	p.add("<h2>Causes</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Causes\">\n<table>\n<thead><tr><th scope=\"col\" class=\"k\">rule</th><th scope=\"col\">",
		causesIn(r), "</th><td></td><th scope=\"col\">errors</th><th scope=\"col\" class=\"k\">example</th></tr></thead>\n<tbody>\n")
	top := r.Causes[0].Sessions
	for i := range r.Causes {
		c := r.Causes[i]
		p.add(`<tr><th scope="row" class="k">`, inHTML(c.Rule), "</th><td>", statsNumber(c.Sessions), "</td><td>")
		fmt.Fprintf(p, `<svg width="%d" height="14" aria-hidden="true"><rect class="b" y="2" width="%.1f" height="10"/></svg>`, pageBar, float64(c.Sessions)/float64(max(top, 1))*pageBar)
		p.add("</td><td>", statsNumber(c.Errors), `</td><td class="k"><span class="dim">`, inHTML(samplePlace(&c.Sample)), "</span> ", inHTML(c.Sample.Message), "</td></tr>\n")
	}
	p.add("</tbody>\n</table>\n</div>\n")
}

// dataset adds how many rows of a dataset are rejected, and where they are.
func (p *statsPage) dataset(d *stats.Dataset) {
	p.add("<h2>", inHTML(d.Path), "</h2>\n<p>", inHTML(datasetHead(d)), "</p>\n")
	if d.Rejected == 0 {
		return
	}
	p.add("<p>")
	p.strip(&d.Strip, d.Rows, "row")
	p.add("</p>\n<p>", inHTML(datasetCauses(d)), "</p>\n")
}

// datasetHead says how many rows a dataset has.
func datasetHead(d *stats.Dataset) string {
	return fmt.Sprintf("%s, %s kept, %s rejected (%s %%); calls per row: p50 %s, p90 %s, p99 %s, at most %s",
		statsCount(d.Rows, "row"), statsNumber(d.Kept()), statsNumber(d.Rejected), statsPercent(float64(d.Rejected)/float64(max(d.Rows, 1))),
		statsNumber(int(d.Calls.At(0.5))), statsNumber(int(d.Calls.At(0.9))), statsNumber(int(d.Calls.At(0.99))), statsNumber(int(d.Calls.Max())))
}

// datasetCauses counts the rejected rows by rule, the most frequent one first.
func datasetCauses(d *stats.Dataset) string {
	var causes []string
	for _, rule := range byCount(d.Causes, nil) {
		causes = append(causes, statsNumber(d.Causes[rule])+" "+rule)
	}
	return strings.Join(causes, ", ")
}

// worstFirst returns datasets in the order of the share of their rejected rows.
func worstFirst(all []*stats.Dataset) []*stats.Dataset {
	list := slices.Clone(all)
	slices.SortStableFunc(list, func(a, b *stats.Dataset) int {
		return cmp.Compare(b.Rejected*max(a.Rows, 1), a.Rejected*max(b.Rows, 1))
	})
	return list
}
