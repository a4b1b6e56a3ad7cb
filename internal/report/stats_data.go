package report

import (
	"io"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/stats"
)

// These are the parts of the JSON document of counts.
type (
	jsonStats struct {
		Version  int              `json:"version"`
		Summary  jsonStatsSummary `json:"summary"`
		Groups   []jsonGroup      `json:"groups"`
		LeftOut  map[string]int   `json:"left_out"`
		Causes   []jsonCause      `json:"causes"`
		Datasets []jsonDataset    `json:"datasets"`
		Failed   []jsonMissed     `json:"failed"`
	}
	jsonStatsSummary struct {
		Files         int `json:"files"`
		FilesBad      int `json:"files_with_errors"`
		Empty         int `json:"empty"`
		Skipped       int `json:"skipped"`
		Sessions      int `json:"sessions"`
		Conversations int `json:"conversations"`
		Calls         int `json:"calls"`
		Results       int `json:"results"`
		Errors        int `json:"errors"`
		Warnings      int `json:"warnings"`
		Infos         int `json:"infos"`
	}
	jsonGroup struct {
		By          map[string]string `json:"by"`
		Rest        bool              `json:"rest,omitempty"`
		Sessions    int               `json:"sessions"`
		Calls       int               `json:"calls"`
		Missing     int               `json:"missing"`
		Interrupted int               `json:"interrupted"`
		Open        int               `json:"open"`
		Orphans     int               `json:"orphans"`
		Duplicates  int               `json:"duplicates"`
		Misplaced   int               `json:"misplaced"`
		Rate        *jsonRate         `json:"rate"`
		Bytes       *jsonBuckets      `json:"result_bytes"`
		Latency     *jsonBuckets      `json:"latency_ms"`
	}
	jsonRate struct {
		Value float64 `json:"value"`
		Low   float64 `json:"low"`
		High  float64 `json:"high"`
	}
	jsonBuckets struct {
		N   int   `json:"n"`
		P50 int64 `json:"p50"`
		P90 int64 `json:"p90"`
		P99 int64 `json:"p99"`
		Max int64 `json:"max"`
	}
	jsonCause struct {
		Rule     string     `json:"rule"`
		Errors   int        `json:"errors"`
		Sessions int        `json:"sessions"`
		Sample   jsonSample `json:"sample"`
	}
	jsonSample struct {
		Path    string `json:"path"`
		Record  int    `json:"record"`
		Line    *int   `json:"line"`
		Message string `json:"message"`
	}
	jsonDataset struct {
		Path     string         `json:"path"`
		Rows     int            `json:"rows"`
		Kept     int            `json:"kept"`
		Rejected int            `json:"rejected"`
		Causes   map[string]int `json:"causes"`
		Calls    *jsonBuckets   `json:"calls_per_row"`
		Strip    []jsonCell     `json:"strip"`
	}
	jsonCell struct {
		First    int `json:"first"`
		Rows     int `json:"rows"`
		Rejected int `json:"rejected"`
	}
)

func bucketsOf(b *stats.Buckets) *jsonBuckets {
	if b.N() == 0 {
		return nil
	}
	return &jsonBuckets{b.N(), b.At(0.5), b.At(0.9), b.At(0.99), b.Max()}
}

// StatsJSON writes counts as JSON.
func StatsJSON(w io.Writer, r *StatsRun) error {
	t := &r.Totals
	out := jsonStats{
		Version: jsonVersion,
		Summary: jsonStatsSummary{
			t.Files, r.BadFiles, r.Summary.Empty, r.Summary.Skipped, t.Sessions, t.Conversations, t.Calls, t.Results, t.Errors, t.Warnings, t.Infos,
		},
		Groups: []jsonGroup{}, LeftOut: map[string]int{"sessions_in_use": r.InUse, "older_files": r.Old},
		Causes: []jsonCause{}, Datasets: []jsonDataset{}, Failed: []jsonMissed{},
	}
	for _, why := range stats.Reasons() {
		out.LeftOut[why.String()] = r.LeftOut[why]
	}
	for i := range r.Tables {
		for j := range r.Tables[i].Rows {
			out.Groups = append(out.Groups, groupOf(&r.Tables[i], r.Tables[i].Rows[j]))
		}
	}
	for i := range r.Causes {
		c := r.Causes[i]
		sample := jsonSample{c.Sample.Path, c.Sample.Record, nil, c.Sample.Message}
		if c.Sample.Line > 0 {
			sample.Line = &c.Sample.Line
		}
		out.Causes = append(out.Causes, jsonCause{c.Rule, c.Errors, c.Sessions, sample})
	}
	for i := range r.Datasets {
		d := r.Datasets[i]
		x := jsonDataset{d.Path, d.Rows, d.Kept(), d.Rejected, d.Causes, bucketsOf(&d.Calls), []jsonCell{}}
		for _, c := range d.Strip.Cells {
			x.Strip = append(x.Strip, jsonCell{c.First, c.All, c.Bad})
		}
		out.Datasets = append(out.Datasets, x)
	}
	for _, m := range r.Summary.Failed {
		out.Failed = append(out.Failed, jsonMissed{m.Path, m.Why})
	}
	b, err := encode(out)
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}

func groupOf(t *stats.Table, row *stats.Row) jsonGroup {
	g := jsonGroup{
		By: map[string]string{}, Rest: row.Rest, Sessions: row.Sessions, Calls: row.Calls, Missing: row.Missing, Interrupted: row.Interrupted,
		Open: row.Open, Orphans: row.Orphans, Duplicates: row.Duplicates, Misplaced: row.Misplaced,
		Bytes: bucketsOf(&row.Bytes), Latency: bucketsOf(&row.Latency),
	}
	for _, d := range t.By {
		g.By[d.String()] = row.Key[d]
	}
	if row.Calls > 0 {
		rate := row.Rate()
		g.Rate = &jsonRate{rounded(rate.Value), rounded(rate.Low), rounded(rate.High)}
	}
	return g
}

// rounded returns a share with the digits that mean something.
func rounded(x float64) float64 {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'f', 6, 64), 64)
	return x
}

// StatsCSV writes the groups as CSV with a header, one line for each. No field begins like a formula.
func StatsCSV(w io.Writer, r *StatsRun) error {
	var b strings.Builder
	row := func(fields ...string) {
		for i, f := range fields {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(csvField(f))
		}
		b.WriteByte('\n')
	}
	head := append([]string{"by"}, stats.Dimensions()...)
	head = append(head, "sessions", "calls", "missing", "interrupted", "open", "orphans", "duplicates", "misplaced", "rate", "rate_low", "rate_high")
	for _, of := range []string{"result_bytes", "latency_ms"} {
		for _, name := range []string{"n", "p50", "p90", "p99", "max"} {
			head = append(head, of+"_"+name)
		}
	}
	row(head...)
	for i := range r.Tables {
		t := &r.Tables[i]
		var by []string
		for _, d := range t.By {
			by = append(by, d.String())
		}
		for j := range t.Rows {
			x := t.Rows[j]
			fields := append([]string{strings.Join(by, " ")}, x.Key[:]...)
			for _, n := range []int{x.Sessions, x.Calls, x.Missing, x.Interrupted, x.Open, x.Orphans, x.Duplicates, x.Misplaced} {
				fields = append(fields, strconv.Itoa(n))
			}
			if x.Calls > 0 {
				rate := x.Rate()
				for _, v := range []float64{rate.Value, rate.Low, rate.High} {
					fields = append(fields, strconv.FormatFloat(rounded(v), 'f', -1, 64))
				}
			} else {
				fields = append(fields, "", "", "")
			}
			for _, of := range []*stats.Buckets{&x.Bytes, &x.Latency} {
				if of.N() == 0 {
					fields = append(fields, "0", "", "", "", "")
					continue
				}
				fields = append(fields, strconv.Itoa(of.N()))
				for _, v := range []int64{of.At(0.5), of.At(0.9), of.At(0.99), of.Max()} {
					fields = append(fields, strconv.FormatInt(v, 10))
				}
			}
			row(fields...)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// csvField returns a field of CSV. A text that a spreadsheet would take for a formula begins with an
// apostrophe.
func csvField(text string) string {
	text = Printable(text)
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		text = "'" + text
	}
	if strings.ContainsAny(text, "\",\n\r") || strings.TrimSpace(text) != text {
		text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}
