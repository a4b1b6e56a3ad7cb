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
		NoCut      *jsonNoCut      `json:"no_cut"`
		Kept       *jsonKept       `json:"kept"`
		Dropped    int             `json:"dropped"`
		Shortened  []jsonShortened `json:"shortened"`
		Spared     int             `json:"spared"`
		CacheMarks int             `json:"cache_marks"`
		Unsent     int             `json:"unsent_records"`
		Backup     *string         `json:"backup"`
	}
	jsonCut struct {
		Head   int    `json:"head"`
		Index  int    `json:"index"`
		Line   *int   `json:"line"`
		Reason string `json:"reason"`
	}
	jsonNoCut struct {
		Reason  string       `json:"reason"`
		Instead *jsonInstead `json:"instead"`
	}
	jsonInstead struct {
		Flags    []string `json:"flags"`
		Messages int      `json:"messages"`
		Bytes    int64    `json:"bytes"`
		Tokens   int64    `json:"tokens"`
	}
	jsonKept struct {
		Pinned   int   `json:"pinned"`
		Messages int   `json:"messages"`
		Calls    int   `json:"calls"`
		Results  int   `json:"results"`
		Bytes    int64 `json:"bytes"`
		Tokens   int64 `json:"tokens"`
	}
	jsonShortened struct {
		CallID *string `json:"call_id"`
		From   int64   `json:"from"`
		To     int64   `json:"to"`
		Start  int64   `json:"start"`
		End    int64   `json:"end"`
	}
)

// TrimmedJSON writes what was trimmed as JSON. backup is the name of the original, "" if it was
// not kept.
func TrimmedJSON(w io.Writer, t *engine.Trimmed, backup string) error {
	out := jsonTrimmed{
		Dropped: t.Messages - t.Pinned - t.Kept, Spared: t.Spared, CacheMarks: t.Marks, Unsent: t.Unsent, Backup: known(backup),
		Kept: &jsonKept{Pinned: t.Pinned, Messages: t.Kept, Calls: t.Calls, Results: t.Results, Bytes: t.Cut.Size.Bytes, Tokens: t.Tokens},
	}
	if t.Cut.Head < t.Cut.Index {
		out.Cut = &jsonCut{Head: t.Cut.Head, Index: t.Cut.Index, Reason: t.Cut.Reason}
		if t.At.Line > 0 {
			out.Cut.Line = &t.At.Line
		}
	}
	for _, s := range t.Shortened {
		out.Shortened = append(out.Shortened, jsonShortened{known(s.CallID), s.From, s.To, s.Span.Start, s.Span.End})
	}
	return writeTrimmed(w, out)
}

// NoCutJSON writes as JSON that there is no safe cut.
func NoCutJSON(w io.Writer, none *trim.NoCutError) error {
	out := jsonTrimmed{NoCut: &jsonNoCut{Reason: none.Reason}}
	if way := none.Way; way != nil {
		in := &jsonInstead{Messages: way.Messages, Bytes: way.Size.Bytes, Tokens: way.Request.Tokens(way.Size)}
		for _, c := range way.Changes {
			in.Flags = append(in.Flags, trim.Flag(c.Field), c.Value)
		}
		out.NoCut.Instead = in
	}
	return writeTrimmed(w, out)
}

func writeTrimmed(w io.Writer, out jsonTrimmed) error {
	out.Version = jsonVersion
	if out.Shortened == nil {
		out.Shortened = []jsonShortened{}
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
		out = append(out, fmt.Sprintf("Cut after %s of %s: %s.", t.Name(cut.Head-1), trim.Plural(t.Messages, "message"), cut.Reason))
	case cut.Head > 0:
		out = append(out, fmt.Sprintf("Cut from %s to before %s of %s (%s, line %d): %s.", t.Name(cut.Head), t.Name(cut.Index), trim.Plural(t.Messages, "message"), t.Role, t.At.Line, cut.Reason))
	default:
		out = append(out, fmt.Sprintf("Cut before %s of %s (%s, line %d): %s.", t.Name(cut.Index), trim.Plural(t.Messages, "message"), t.Role, t.At.Line, cut.Reason))
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
	if t.Spared > 0 {
		kept += fmt.Sprintf(" Did not shorten %s: --keep-results %d.", trim.Plural(t.Spared, "longer result"), req.KeepResults)
	}
	if t.Marks > 0 {
		kept += fmt.Sprintf(" Dropped %s for the prompt cache.", trim.Plural(t.Marks, "mark"))
	}
	out = append(out, kept)
	if t.Unsent > 0 {
		out = append(out, fmt.Sprintf("Removed %s that the agent does not send, such as those of sub-agents and other branches.", trim.Plural(t.Unsent, "record")))
	}
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
