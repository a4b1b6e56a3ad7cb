package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/source"
)

// jsonVersion is the version of the JSON document. It changes when a field is removed or
// changes its meaning, not when one is added.
const jsonVersion = 1

// The parts of the JSON document. All fields are always present; a field that does not apply
// is null.
type (
	jsonTool struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	jsonSummary struct {
		Files   int `json:"files"`
		Failed  int `json:"failed"`
		Skipped int `json:"skipped"`
		Ignored int `json:"ignored"`
		// Lookalikes are skipped files that speak of calls as a transcript does.
		Lookalikes []string `json:"lookalikes"`
		// Silent are dialects of the config file whose files contain no call and no result.
		Silent        []string `json:"silent_dialects"`
		Conversations int      `json:"conversations"`
		Calls         int      `json:"calls"`
		Results       int      `json:"results"`
		Findings      int      `json:"findings"`
		Errors        int      `json:"errors"`
		Warnings      int      `json:"warnings"`
		Infos         int      `json:"infos"`
		Known         int      `json:"known"`
		// Baselines are the files that hold the known findings.
		Baselines     []string `json:"baselines"`
		Fixable       int      `json:"fixable"`
		FixableUnsafe int      `json:"fixable_unsafe"`
	}
	jsonFile struct {
		Path          string  `json:"path"`
		Dialect       *string `json:"dialect"`
		Container     string  `json:"container"`
		Conversations int     `json:"conversations"`
		Calls         int     `json:"calls"`
		Results       int     `json:"results"`
		CheckOnly     *string `json:"check_only"` // why it is not repaired
	}
	// jsonMissed is a file that could not be checked or repaired.
	jsonMissed struct {
		Path  string `json:"path"`
		Error string `json:"error"`
	}
	jsonFinding struct {
		Rule          string        `json:"rule"`
		Category      string        `json:"category"`
		Severity      string        `json:"severity"`
		Message       string        `json:"message"`
		URL           string        `json:"url"`
		Path          string        `json:"path"`
		Dialect       *string       `json:"dialect"`
		Conversation  *int          `json:"conversation"`
		Turn          *int          `json:"turn"`
		Index         *int          `json:"index"`
		Place         *string       `json:"place"`
		Record        int32         `json:"record"`
		Pointer       string        `json:"pointer"`
		CallID        *string       `json:"call_id"`
		Tool          *string       `json:"tool"`
		Start         jsonPosition  `json:"start"`
		End           jsonPosition  `json:"end"`
		ProviderError *string       `json:"provider_error"`
		Confidence    *string       `json:"confidence"`
		Related       []jsonRelated `json:"related"`
		Fingerprint   string        `json:"fingerprint"`
		Fix           *jsonFix      `json:"fix"`
		// Unfixed says why there is no repair, if the rule does not say so.
		Unfixed *string `json:"unfixed"`
	}
	jsonRelated struct {
		Message string       `json:"message"`
		Start   jsonPosition `json:"start"`
		End     jsonPosition `json:"end"`
	}
	jsonPosition struct {
		Offset int64 `json:"offset"`
		Line   int   `json:"line"`
		Column int   `json:"column"`
	}
	jsonFix struct {
		Title      string `json:"title"`
		Class      string `json:"class"`
		Operation  string `json:"operation"`
		ByStrategy bool   `json:"by_strategy"`
		// Edits are the edits of this repair alone, as offsets in the file; nil if the report
		// does not list them.
		Edits []jsonEdit `json:"edits"`
	}
	jsonEdit struct {
		Start int64  `json:"start"`
		End   int64  `json:"end"`
		Text  string `json:"text"`
	}
)

// jsonReporter writes one JSON document, with a line for each file and finding. The findings
// come first, because there can be very many: they are written at once and not kept.
type jsonReporter struct {
	opts     Options
	findings array
	files    bytes.Buffer // encoded
	applied  bytes.Buffer
}

func newJSON(w io.Writer, opts Options) Reporter { return NewJSON(w, opts) }

// NewJSON returns the reporter of the format json, for programs that link no other one.
func NewJSON(w io.Writer, opts Options) FixReporter {
	return &jsonReporter{opts: opts, findings: array{w: w, open: fmt.Sprintf("{\"version\":%d,\n \"findings\":[", jsonVersion), close: "],", nested: true}}
}

// File implements Reporter.
func (j *jsonReporter) File(r *engine.Report) error {
	err := element(&j.files, file(r))
	if err != nil {
		return err
	}
	for f := range r.Findings.All() {
		out := finding(f)
		if err := j.findings.write(j.findings.enc.writeFinding("", &out)); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Reporter.
func (j *jsonReporter) Close(s *Summary) error {
	if err := j.findings.end(); err != nil {
		return err
	}
	tool, err := encode(jsonTool{"toolguard", j.opts.Version})
	if err != nil {
		return err
	}
	counts, err := encode(summary(s))
	if err != nil {
		return err
	}
	applied := ""
	if j.opts.Fix {
		applied = fmt.Sprintf(",\n \"applied\":[%s]", j.applied.Bytes())
	}
	var failed bytes.Buffer
	for _, m := range s.Failed {
		if err := element(&failed, jsonMissed{m.Path, m.Why}); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(j.findings.w, " \"files\":[%s],\n \"failed\":[%s]%s,\n \"tool\":%s,\n \"summary\":%s}\n",
		j.files.Bytes(), failed.Bytes(), applied, tool, counts)
	return err
}

func file(r *engine.Report) jsonFile {
	return jsonFile{
		Path: r.Path, Dialect: known(r.File.Dialect), Container: r.File.Container,
		Conversations: r.File.Conversations, Calls: r.Calls, Results: r.Results,
		CheckOnly: known(r.File.CheckOnly),
	}
}

func summary(s *Summary) jsonSummary {
	known := 0
	for _, n := range s.Known {
		known += n
	}
	return jsonSummary{
		Files: s.Files, Failed: len(s.Failed), Skipped: s.Skipped, Ignored: s.Ignored, Lookalikes: paths(s.Lookalikes), Silent: s.Silent(), Conversations: s.Conversations, Calls: s.Calls, Results: s.Results,
		Findings: s.Findings(), Errors: s.Errors, Warnings: s.Warnings, Infos: s.Infos, Known: known, Baselines: s.baselines(),
		Fixable: s.Fixable, FixableUnsafe: s.FixableUnsafe,
	}
}

func finding(f *engine.Finding) jsonFinding {
	out := jsonFinding{
		Rule: f.Rule.Name, Category: f.Rule.Category, Severity: f.Severity.String(),
		Message: f.Message, URL: f.Rule.URL(),
		Path: f.Path, Dialect: known(f.Dialect),
		Conversation: index(f.Conversation), Turn: index(f.Turn), Index: index(f.Index), Place: known(f.Place), Record: f.Record, Pointer: f.Pointer,
		CallID: known(f.CallID), Tool: known(f.Tool),
		Start: position(f.Start), End: position(f.End),
		ProviderError: known(f.ProviderError()), Confidence: known(f.Confidence),
		Related: []jsonRelated{}, Fingerprint: f.Fingerprint, Unfixed: known(cmp.Or(f.Unfixed, f.Offer)),
	}
	for i, r := range f.Related {
		out.Related = append(out.Related, jsonRelated{r.Message, position(f.RelatedAt[2*i]), position(f.RelatedAt[2*i+1])})
	}
	if f.Fix != nil {
		out.Fix = &jsonFix{f.Fix.Title, f.Fix.Class.String(), "op" + strconv.Itoa(int(f.Fix.ID)), f.Fix.ByStrategy, nil}
		for _, e := range f.Edits {
			out.Fix.Edits = append(out.Fix.Edits, jsonEdit{e.Span.Start, e.Span.End, string(e.Text)})
		}
	}
	return out
}

func position(p source.Position) jsonPosition { return jsonPosition{p.Offset, p.Line, p.Column} }

// known returns nil for "".
func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// index returns nil for a negative index.
func index(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

// element adds a line with a value to the elements of a list.
func element(list *bytes.Buffer, v any) error {
	b, err := encode(v)
	if err != nil {
		return err
	}
	if list.Len() > 0 {
		list.WriteByte(',')
	}
	list.WriteString("\n  ")
	list.Write(b)
	return nil
}

// encode returns v as JSON that is safe on a terminal and in a CI log, like the result of
// EscapeJSON. Bytes that are not UTF-8 are replaced. All JSON of a report is encoded by it.
func encode(v any) ([]byte, error) { return new(encoder).encode(v) }

// An encoder encodes one value after another in the same memory, because there may be very many.
type encoder struct {
	plain bytes.Buffer
	out   []byte
	to    *json.Encoder
}

// encode is the function encode. The result is valid until the next call.
func (e *encoder) encode(v any) (b []byte, err error) {
	e.out, err = e.append(e.out[:0], v)
	return e.out, err
}

// append appends what encode returns.
func (e *encoder) append(out []byte, v any) ([]byte, error) {
	if e.to == nil {
		e.to = json.NewEncoder(&e.plain)
		e.to.SetEscapeHTML(false)
	}
	e.plain.Reset()
	if err := e.to.Encode(v); err != nil {
		return out, err
	}
	return appendEscaped(out, bytes.TrimSuffix(e.plain.Bytes(), []byte("\n"))), nil
}

// EscapeJSON returns equivalent JSON that is safe on a terminal and in a CI log: characters
// that Printable escapes become JSON escapes. CI commands begin with two hashes. The
// first one is escaped. Line feeds stay, because strings contain none.
func EscapeJSON(in []byte) []byte { return appendEscaped(make([]byte, 0, len(in)), in) }

// appendEscaped appends the result of EscapeJSON.
func appendEscaped(out, in []byte) []byte {
	for len(in) > 0 {
		plain := 0
		for plain < len(in) && (in[plain] >= ' ' && in[plain] < 0x7f && in[plain] != '#' || in[plain] == '\n') {
			plain++
		}
		out, in = append(out, in[:plain]...), in[plain:]
		if len(in) == 0 {
			break
		}
		r, n := utf8.DecodeRune(in)
		switch {
		case r == '\n', !unprintable(r, n) && !(r == '#' && bytes.HasPrefix(bytes.TrimLeftFunc(in[n:], weightless), []byte("#"))):
			out = append(out, in[:n]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		in = in[n:]
	}
	return out
}
