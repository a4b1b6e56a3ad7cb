package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolguard/toolguard/internal/extract"
	"github.com/toolguard/toolguard/internal/session"
	"github.com/toolguard/toolguard/internal/transcript"
	"github.com/toolguard/toolguard/internal/trim"
)

// HoldsSecrets says what an extract holds.
const HoldsSecrets = "holds what was said word for word, secrets too"

// An Extraction is what the frame of an extract says.
type Extraction struct {
	Path, Dialect string
	*extract.Extract
	// Turns are the turns that are written, Older those before them that do not fit.
	Turns, Older int
	// Chosen says that only some speakers are wanted.
	Chosen bool
	Torn   []TornRecord
}

// A TornRecord is a record that could not be read.
type TornRecord struct {
	Line  int   `json:"line"`
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// An Extractor writes an extract: a head, an entry for each turn, and a tail.
type Extractor interface {
	Head(x *Extraction) ([]byte, error)
	// Entry writes a turn at a line. first says that it is the first one that is written, or the first
	// one of its conversation.
	Entry(e *extract.Entry, line int, first bool) ([]byte, error)
	// Between separates two entries.
	Between() string
	Tail(x *Extraction) ([]byte, error)
}

// Gaps says what an extract does not hold, a sentence each.
func (x *Extraction) Gaps() []string {
	var out []string
	add := func(n int, thing, why string) {
		if n > 0 {
			out = append(out, trim.Plural(n, thing)+why)
		}
	}
	add(x.Older, "older turn", " for which --max-tokens has no room")
	add(x.Unsent, "message", " that the client no longer sends, before a compaction or on another branch; --all writes them")
	add(x.Conversations, "other conversation", ", such as of sub-agents; --scope all writes them")
	if x.Texts == 0 && x.Report.Calls > 0 && !x.Chosen {
		out = append(out, "texts: toolguard found none; of some formats it reads only calls and results")
	}
	add(x.Media, "attachment", ", such as images")
	add(x.Reasoning, "block", " of reasoning")
	for i, t := range x.Torn {
		if i == mostTorn {
			out = append(out, trim.Plural(len(x.Torn)-i, "more record")+" that cannot be read")
			break
		}
		out = append(out, fmt.Sprintf("line %d, which cannot be read (%s)", t.Line, trim.Plural(int(t.End-t.Start), "byte")))
	}
	return out
}

// mostTorn is how many unreadable records are named.
const mostTorn = 20

// Markdown writes an extract as Markdown. All that was said is in fences that it cannot end.
type Markdown struct{}

// Head implements Extractor.
func (Markdown) Head(x *Extraction) ([]byte, error) {
	from := codeSpan(x.Path)
	if x.Dialect != "" {
		from += " (" + x.Dialect + ")"
	}
	return document("# What was said\n\nFrom " + from + ". This text " + HoldsSecrets + ".\n\n"), nil
}

// Between implements Extractor.
func (Markdown) Between() string { return "" }

// Entry implements Extractor.
func (Markdown) Entry(e *extract.Entry, line int, first bool) ([]byte, error) {
	var b strings.Builder
	if first && e.Name != "" {
		fmt.Fprintf(&b, "# Conversation %s\n\n", codeSpan(e.Name))
	}
	role := e.Role.String()
	if e.Role == transcript.RoleNone {
		role = "other"
	}
	unsent := ""
	if e.Unsent {
		unsent = ", no longer sent"
	}
	fmt.Fprintf(&b, "## %s (turn %d, line %d%s)\n\n", strings.ToUpper(role[:1])+role[1:], e.Turn, line, unsent)
	for _, text := range e.Texts {
		b.WriteString(fenced("text", text))
	}
	if e.Media > 0 {
		fmt.Fprintf(&b, "%s left out.\n\n", trim.Plural(e.Media, "attachment"))
	}
	for i := range e.Calls {
		c := &e.Calls[i]
		b.WriteString("Call of " + codeSpan(c.Tool) + ":\n\n" + fenced(language(c.Arguments), c.Arguments))
		switch {
		case c.Result != nil:
			b.WriteString(answer("Result", c.Result))
		case c.State != session.Exempt:
			b.WriteString(unanswered(c.State) + "\n\n")
		}
	}
	for i := range e.Loose {
		b.WriteString(answer("Result without a call", &e.Loose[i]))
	}
	return document(b.String()), nil
}

// unanswered says what became of a call without a result.
func unanswered(s session.State) string {
	switch s {
	case session.Pending:
		return "It has no result yet."
	case session.Interrupted:
		return "It was interrupted: no result was recorded."
	case session.Unclear:
		return "It is not clear which result answers it."
	}
	return "No result was recorded."
}

// Tail implements Extractor.
func (Markdown) Tail(x *Extraction) ([]byte, error) {
	gaps := x.Gaps()
	if len(gaps) == 0 {
		return nil, nil
	}
	return document("# Not in this text\n\n- " + strings.Join(gaps, "\n- ") + "\n"), nil
}

// answer writes a result.
func answer(what string, r *extract.Result) string {
	if r.Failed {
		what += " (error)"
	}
	switch {
	case r.Text == "":
		return what + ": empty.\n\n"
	case r.Cut:
		what += fmt.Sprintf(", shortened from %s bytes", trim.Grouped(int64(r.Bytes)))
	}
	return what + ":\n\n" + fenced("text", r.Text)
}

// language returns the language of arguments.
func language(arguments string) string {
	if json.Valid([]byte(arguments)) {
		return "json"
	}
	return "text"
}

// fenced writes a text in a fence that is longer than any in it.
func fenced(language, text string) string {
	if text == "" {
		return ""
	}
	fence := strings.Repeat("`", max(3, longestRun(text)+1))
	return fence + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n\n"
}

// codeSpan writes a text in one line as code.
func codeSpan(text string) string {
	text = Printable(session.InLine(text))
	ticks := strings.Repeat("`", longestRun(text)+1)
	if text == "" || strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// longestRun returns how many backticks follow each other at most.
func longestRun(text string) int {
	most, n := 0, 0
	for i := range len(text) {
		if n++; text[i] != '`' {
			n = 0
		}
		most = max(most, n)
	}
	return most
}

// document returns a text as a Screen for documents writes it.
func document(text string) []byte {
	var b bytes.Buffer
	_, _ = NewDocument(&b).Write([]byte(text)) // a buffer takes everything
	return b.Bytes()
}

// ExtractJSON writes an extract as one JSON document.
type ExtractJSON struct{}

// The parts of an extract as JSON.
type (
	jsonSaid struct {
		Conversation int          `json:"conversation"`
		Name         *string      `json:"name"`
		Turn         int          `json:"turn"`
		Line         int          `json:"line"`
		Role         string       `json:"role"`
		Sent         bool         `json:"sent"`
		Text         string       `json:"text"`
		Attachments  int          `json:"attachments"`
		Calls        []jsonAsked  `json:"calls"`
		Results      []jsonAnswer `json:"results"`
	}
	jsonAsked struct {
		ID        *string         `json:"id"`
		Tool      *string         `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
		State     string          `json:"state"`
		Result    *jsonAnswer     `json:"result"`
	}
	jsonAnswer struct {
		CallID *string `json:"call_id"`
		Tool   *string `json:"tool"`
		Text   string  `json:"text"`
		Bytes  int     `json:"bytes"`
		Cut    bool    `json:"cut"`
		Error  bool    `json:"error"`
	}
	jsonLeftOut struct {
		Older         int          `json:"older"`
		Unsent        int          `json:"unsent"`
		Conversations int          `json:"conversations"`
		Attachments   int          `json:"attachments"`
		Reasoning     int          `json:"reasoning"`
		Unreadable    []TornRecord `json:"unreadable"`
	}
)

// Head implements Extractor.
func (ExtractJSON) Head(x *Extraction) ([]byte, error) {
	head, err := encode(struct {
		Version int     `json:"version"`
		Path    string  `json:"path"`
		Dialect *string `json:"dialect"`
		Notice  string  `json:"notice"`
	}{jsonVersion, x.Path, known(x.Dialect), "This document " + HoldsSecrets + "."})
	if err != nil {
		return nil, err
	}
	return append(bytes.TrimSuffix(head, []byte("}")), ",\n \"messages\":[\n"...), nil
}

// Between implements Extractor.
func (ExtractJSON) Between() string { return ",\n" }

// Entry implements Extractor.
func (ExtractJSON) Entry(e *extract.Entry, line int, _ bool) ([]byte, error) {
	out := jsonSaid{
		Conversation: e.Conversation, Name: known(e.Name), Turn: e.Turn, Line: line, Role: e.Role.String(), Sent: !e.Unsent,
		Text: strings.Join(e.Texts, "\n\n"), Attachments: e.Media, Calls: []jsonAsked{}, Results: []jsonAnswer{},
	}
	for i := range e.Calls {
		c := &e.Calls[i]
		call := jsonAsked{ID: known(c.ID), Tool: known(c.Tool), State: c.State.String(), Arguments: json.RawMessage("null")}
		switch {
		case json.Valid([]byte(c.Arguments)):
			call.Arguments = json.RawMessage(c.Arguments)
		case c.Arguments != "":
			text, err := json.Marshal(c.Arguments)
			if err != nil {
				return nil, err
			}
			call.Arguments = text
		}
		if c.Result != nil {
			call.Result = answered(c.Result)
		}
		out.Calls = append(out.Calls, call)
	}
	for i := range e.Loose {
		out.Results = append(out.Results, *answered(&e.Loose[i]))
	}
	b, err := encode(out)
	return append([]byte("  "), b...), err
}

// answered returns a result as JSON has it.
func answered(r *extract.Result) *jsonAnswer {
	return &jsonAnswer{known(r.ID), known(r.Tool), r.Text, r.Bytes, r.Cut, r.Failed}
}

// Tail implements Extractor.
func (ExtractJSON) Tail(x *Extraction) ([]byte, error) {
	left := jsonLeftOut{x.Older, x.Unsent, x.Conversations, x.Media, x.Reasoning, x.Torn}
	if left.Unreadable == nil {
		left.Unreadable = []TornRecord{}
	}
	b, err := encode(left)
	return append(append([]byte("],\n \"left_out\":"), b...), "}\n"...), err
}
