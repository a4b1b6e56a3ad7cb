package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/toolguard/toolguard/internal/engine"
)

// junit writes JUnit XML: a test case for each file, which fails by findings
// that make the run fail.
type junit struct {
	w     io.Writer
	opts  Options
	cases bytes.Buffer // kept encoded, because their number comes first
	notes lines        // what was found and lets nothing fail
	tests int
	fails int
}

func newJUnit(w io.Writer, opts Options) Reporter { return &junit{w: w, opts: opts} }

// File implements Reporter.
func (j *junit) File(r *engine.Report) error {
	j.tests++
	var failed *engine.Finding
	n := 0
	var found lines
	plain := newStyle(false)
	for f := range r.Findings.All() {
		switch {
		case j.opts.fails(f):
			if failed == nil {
				failed = f
			}
			n++
			found.line(headline(plain, f)...)
		case j.opts.shows(f):
			j.notes.line(headline(plain, f)...)
		}
	}
	for i := range r.Rest {
		switch f := &r.Rest[i]; {
		case j.opts.fails(&f.Finding): // some of its kind are shown
			n += f.N
			found.line(rest(plain, f)...)
		case j.opts.shows(&f.Finding):
			j.notes.line(rest(plain, f)...)
		}
	}
	fmt.Fprintf(&j.cases, `    <testcase name="%s" classname="toolguard" time="0"`, inXML(r.Path))
	if failed == nil {
		j.cases.WriteString("/>\n")
		return nil
	}
	j.fails++
	message := failed.Message
	if n > 1 {
		message = fmt.Sprintf("%s, the first: %s", count(n, "finding"), message)
	}
	fmt.Fprintf(&j.cases, ">\n      <failure type=\"%s\" message=\"%s\">%s</failure>\n    </testcase>\n",
		inXML(failed.Rule.Name), inXML(message), found.inXML())
	return nil
}

// Close implements Reporter. A file that failed is a test that could not be run,
// and one that was skipped although it looks like a transcript a skipped test.
func (j *junit) Close(s *Summary) error {
	err := s.eachMissed(func(kind missedKind, m Missed) error {
		j.tests++
		element := "skipped"
		if kind == missedFailed {
			element = `error type="failed"`
		}
		_, err := fmt.Fprintf(&j.cases, "    <testcase name=\"%s\" classname=\"toolguard\" time=\"0\">\n      <%s message=\"%s\"/>\n    </testcase>\n",
			inXML(m.Path), element, inXML(m.Why))
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(j.w, `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="toolguard" package="toolguard" id="0" timestamp="%s" hostname="localhost" tests="%d" failures="%d" errors="%d" skipped="%d" time="0">
    <properties/>
%s    <system-out>%s</system-out>
    <system-err/>
  </testsuite>
</testsuites>
`, j.opts.Started.UTC().Format(time.DateOnly+"T"+time.TimeOnly), j.tests, j.fails, len(s.Failed), len(s.Lookalikes), j.cases.Bytes(), j.notes.inXML())
	return err
}

// inXML returns a line of text for an element or an attribute. What could drive
// a terminal or a CI is spelled out, so that XML can hold what is left.
func inXML(s string) string { return escapeXML(Printable(s)) }

// inXML returns lines as the text of an element.
func (l *lines) inXML() string { return escapeXML(l.String()) }

// escapeXML escapes text. Nothing of a transcript comes here but by way of inXML, which
// has spelled out the other characters that XML cannot hold.
func escapeXML(s string) string {
	return strings.NewReplacer(
		`"`, "&#34;", "'", "&#39;", "&", "&amp;", "<", "&lt;", ">", "&gt;", "\ufffe", "\ufffd", "\uffff", "\ufffd",
	).Replace(s)
}
