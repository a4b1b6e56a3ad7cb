package report

import (
	"fmt"
	"io"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/trim"
)

// The parts of the report of trim.
type (
	jsonTrimmed struct {
		Version    int             `json:"version"`
		Cut        *jsonCut        `json:"cut"`
		Kept       jsonKept        `json:"kept"`
		Shortened  []jsonShortened `json:"shortened"`
		CacheMarks int             `json:"cache_marks,omitempty"`
	}
	jsonCut struct {
		Head   int    `json:"head,omitempty"`
		Index  int    `json:"index"`
		Line   int    `json:"line,omitempty"`
		Reason string `json:"reason"`
	}
	jsonKept struct {
		Pinned   int    `json:"pinned"`
		Messages int    `json:"messages"`
		Calls    int    `json:"calls"`
		Results  int    `json:"results"`
		Bytes    int64  `json:"bytes"`
		Tokens   *int64 `json:"tokens"`
	}
	jsonShortened struct {
		CallID string `json:"call_id"`
		From   int64  `json:"from"`
		To     int64  `json:"to"`
		Start  int64  `json:"start"`
		End    int64  `json:"end"`
	}
)

// TrimmedJSON writes what was trimmed as JSON.
func TrimmedJSON(w io.Writer, t *engine.Trimmed) error {
	out := jsonTrimmed{
		Version: jsonVersion, Shortened: []jsonShortened{}, CacheMarks: t.Marks,
		Kept: jsonKept{Pinned: t.Pinned, Messages: t.Kept, Calls: t.Calls, Results: t.Results, Bytes: t.Cut.Size.Bytes},
	}
	if t.Cut.Head < t.Cut.Index {
		out.Cut = &jsonCut{t.Cut.Head, t.Cut.Index, t.At.Line, t.Cut.Reason}
	}
	if t.Tokens >= 0 {
		out.Kept.Tokens = &t.Tokens
	}
	for _, s := range t.Shortened {
		out.Shortened = append(out.Shortened, jsonShortened{s.CallID, s.From, s.To, s.Span.Start, s.Span.End})
	}
	b, err := encode(out)
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}

// Trimmed returns the sentences of the report of trim, one line each.
func Trimmed(t *engine.Trimmed, req *trim.Request) []string {
	var out []string
	cut := t.Cut
	switch {
	case cut.Head == cut.Index:
		out = append(out, "Dropped no messages.")
	case cut.Index == t.Messages:
		out = append(out, fmt.Sprintf("Cut after message %d of %d: %s.", cut.Head, t.Messages, cut.Reason))
	case cut.Head > 0:
		out = append(out, fmt.Sprintf("Cut from message %d to before message %d of %d (%s, line %d): %s.", cut.Head+1, cut.Index+1, t.Messages, t.Role, t.At.Line, cut.Reason))
	default:
		out = append(out, fmt.Sprintf("Cut before message %d of %d (%s, line %d): %s.", cut.Index+1, t.Messages, t.Role, t.At.Line, cut.Reason))
	}
	kept := "Kept "
	if t.Pinned > 0 {
		kept += fmt.Sprintf("%d pinned and ", t.Pinned)
	}
	kept += trim.Plural(t.Kept, "message") + ", " + trim.Plural(t.Calls, "call") + "."
	if n := len(t.Shortened); n > 0 {
		var less int64
		for _, s := range t.Shortened {
			less += s.From - s.To
		}
		kept += fmt.Sprintf(" Shortened %s by %s.", trim.Plural(n, "result"), bytesOf(less))
	}
	if t.Marks > 0 {
		kept += fmt.Sprintf(" Dropped %s for the prompt cache.", trim.Plural(t.Marks, "mark"))
	}
	out = append(out, kept)
	if req.MaxTokens > 0 {
		how := "estimate"
		if req.Count != nil {
			how = "counter"
		}
		out = append(out, fmt.Sprintf("At most %s of %s tokens (%s).", trim.Grouped(t.Tokens), trim.Grouped(req.MaxTokens), how))
	}
	if req.MaxBytes > 0 {
		out = append(out, fmt.Sprintf("%s of %s bytes.", trim.Grouped(t.Cut.Size.Bytes), trim.Grouped(req.MaxBytes)))
	}
	return out
}

// bytesOf writes a size.
func bytesOf(n int64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	}
	return trim.Grouped(n) + " bytes"
}
