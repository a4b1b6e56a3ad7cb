package report

import (
	"io"

	"github.com/toolguard/toolguard/internal/engine"
)

// jsonl writes the parts of the JSON report line by line, each with a type, and the summary
// last. It keeps nothing in memory.
type jsonl struct {
	w    io.Writer
	opts Options
	enc  encoder
}

// The lines of the report.
type (
	jsonlFile struct {
		Type string `json:"type"`
		jsonFile
	}
	jsonlFinding struct {
		Type string `json:"type"`
		jsonFinding
	}
	jsonlMissed struct {
		Type string `json:"type"`
		jsonMissed
	}
	jsonlApplied struct {
		Type string `json:"type"`
		jsonApplied
	}
	jsonlSummary struct {
		Type    string   `json:"type"`
		Version int      `json:"version"`
		Tool    jsonTool `json:"tool"`
		jsonSummary
	}
)

func newJSONL(w io.Writer, opts Options) Reporter { return &jsonl{w: w, opts: opts} }

func (j *jsonl) line(v any) error {
	b, err := j.enc.encode(v)
	if err != nil {
		return err
	}
	return j.write(b)
}

// write writes an encoded line.
func (j *jsonl) write(b []byte) error {
	_, err := j.w.Write(append(b, '\n'))
	return err
}

// Fixed implements FixReporter.
func (j *jsonl) Fixed(f *engine.Fixed, written bool) error {
	return j.line(jsonlApplied{"applied", applied(f, written)})
}

// File implements Reporter.
func (j *jsonl) File(r *engine.Report) error {
	if err := j.line(jsonlFile{"file", file(r)}); err != nil {
		return err
	}
	for f := range r.Findings.All() {
		out := finding(f)
		if err := j.write(j.enc.writeFinding("finding", &out)); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Reporter.
func (j *jsonl) Close(s *Summary) error {
	for _, m := range s.Failed {
		if err := j.line(jsonlMissed{"failed", jsonMissed{m.Path, m.Why}}); err != nil {
			return err
		}
	}
	return j.line(jsonlSummary{"summary", jsonVersion, jsonTool{"toolguard", j.opts.Version}, summary(s)})
}
