package main

import (
	_ "embed" // for page.md
	"fmt"
	"math"
	"strings"
	"time"
)

// A goal is a row of the first table: a figure and its limit.
type goal struct {
	input, measured string
	value, most     float64
	peak            int // in MB; 0 if it is not shown
}

func (g goal) met() string {
	if g.value <= g.most {
		return "yes"
	}
	return "**no**"
}

// A share is a row of the second table: the cost of another tool for an input.
type share struct {
	input, tool string
	times       float64 // of the CPU time of toolguard
	peak        int     // MB
}

// A page holds the figures of one run.
type page struct {
	goals  []goal
	shares []share

	machine, software, date string
	load                    string   // "" if it is not known
	missing                 []string // tools
	rounds, floor           int
}

// ratio rounds to the digits that are printed, so that a page survives a round trip.
func ratio(a, b time.Duration) float64 { return hundredths(float64(a) / float64(max(b, 1))) }

func hundredths(x float64) float64 { return math.Round(100*x) / 100 }

func megabytes(bytes int64) int { return int((bytes + mb/2) / mb) }

// chartName is the file with the chart, beside the page.
const chartName = "performance.svg"

// form is the page with marks for the results of a run.
//
//go:embed page.md
var form string

// markdown writes the page.
func (p *page) markdown() string {
	var goals, shares strings.Builder
	for _, g := range p.goals {
		fmt.Fprintf(&goals, "| %s | %s | %.2f | ≤ %g | %s | %s |\n", g.input, g.measured, g.value, g.most, g.met(), memory(g.peak))
	}
	for _, s := range p.shares {
		fmt.Fprintf(&shares, "| %s | %s | %.2f | %s |\n", s.input, s.tool, s.times, memory(s.peak))
	}
	run := fmt.Sprintf("- Machine: %s\n- Software: %s\n- Date: %s\n- Rounds: %d\n- Smallest peak that can be shown: %d MB\n",
		p.machine, p.software, p.date, p.rounds, p.floor)
	if p.load != "" {
		run += fmt.Sprintf("- Load average at the beginning: %s\n", p.load)
	}
	if len(p.missing) > 0 {
		run += fmt.Sprintf("- Not installed, and left out: %s\n", strings.Join(p.missing, ", "))
	}
	return strings.NewReplacer("{{chart}}", chartName, "{{goals}}\n", goals.String(), "{{shares}}\n", shares.String(), "{{run}}\n", run).Replace(form)
}

func memory(peak int) string {
	if peak == 0 {
		return ""
	}
	return fmt.Sprintf("%d MB", peak)
}
