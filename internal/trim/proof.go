package trim

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Breach returns what a cut does that the request or the history does not allow, as the end of
// "the cut would", or "". It neither uses ties nor boundaries, so that it finds mistakes in them.
func (h *History) Breach(r *Request, cut Cut) string {
	c, n := h.conv, h.Len()
	head, users := true, 0 // users is the number of messages that a human typed after this one
	for i := range n {
		if h.human(i) {
			users++
		}
	}
	last := int32(0)
	if n > 0 {
		last = c.Messages[n-1].Segment
	}
	for i := range n {
		m := &c.Messages[i]
		head = head && m.Role == transcript.RoleSystem
		if h.human(i) {
			users--
		}
		summary := last > 0 && m.Segment == last && c.Messages[max(0, i-1)].Segment != last
		switch {
		case !h.Drops(cut, i):
		case head:
			return "drop the system prompt"
		case i < r.Pin:
			return fmt.Sprintf("drop %s, one of the first %d", h.at(i), r.Pin)
		case summary:
			return "drop the summary of the last compaction"
		case !r.Newer && r.KeepLast > 0 && i >= n-r.KeepLast:
			return fmt.Sprintf("drop %s of %d, one of the last %d", h.at(i), n, r.KeepLast)
		case !r.Newer && users < r.KeepLastUser:
			return fmt.Sprintf("drop %s of %d, which follows the last user messages", h.at(i), n)
		}
	}
	if cut.Head > r.KeepFirst && cut.Head < n {
		return fmt.Sprintf("keep the first %d messages instead of %d", cut.Head, r.KeepFirst)
	}
	if parted := h.parted(cut); parted != "" {
		return parted
	}
	return h.misplaced(r, cut)
}

// parted returns what a cut parts that belongs together.
func (h *History) parted(cut Cut) string {
	c := h.conv
	apart := func(a, b int32) bool { return h.Drops(cut, int(a)) != h.Drops(cut, int(b)) }
	for i := range h.pairing.Results {
		if call := h.pairing.Results[i].Call; call >= 0 && apart(c.Calls[call].Message, c.Results[i].Message) {
			return fmt.Sprintf("part the result in %s from its call", h.at(int(c.Results[i].Message)))
		}
	}
	const stays, goes = 1, 2
	turns := make([]uint8, c.Turns)
	for i := range c.Messages {
		turn, fate := &turns[c.Messages[i].Turn], uint8(stays)
		if h.Drops(cut, i) {
			fate = goes
		}
		if *turn |= fate; *turn == stays|goes {
			return fmt.Sprintf("part %s from the rest of its turn", h.at(i))
		}
		if i > 0 && apart(int32(i-1), int32(i)) && h.speaks(i) && h.only(i-1, transcript.BlockReasoning) {
			return fmt.Sprintf("part %s from its reasoning", h.at(i))
		}
	}
	return ""
}

// misplaced returns why a cut may not be where it is.
func (h *History) misplaced(r *Request, cut Cut) string {
	if cut.Index >= h.Len() || !h.dropsAny(cut) || h.human(cut.Index) {
		return ""
	}
	if r.Boundary == User {
		return fmt.Sprintf("leave %s first, which no human typed", h.at(cut.Index))
	}
	from, to := cut.Index, cut.Index+1
	for from > 0 && !h.human(from) {
		from--
	}
	for to < h.Len() && !h.human(to) {
		to++
	}
	for i := from; i < to; i++ {
		if h.has(i, func(b *transcript.Block) bool { return b.Has(transcript.BlockSigned) }) {
			return "cut through the signed reasoning around " + h.at(i)
		}
	}
	return ""
}

// ShortenBreach returns what edits do to a result that Shorten does not promise, as the end of
// "the cut would", or "". payload are the bytes of the result, and base is the offset of the
// first one. It reads the texts from their start, and not around a cut as Shorten does.
func ShortenBreach(payload []byte, base int64, edits []edit.Edit, most int64) string {
	at := 0
	for _, e := range edits {
		outside := fmt.Sprintf("change bytes %d to %d, which are not in a text of a result", e.Span.Start, e.Span.End)
		from, to := int(e.Span.Start-base), int(e.Span.End-base)
		for {
			open := bytes.IndexByte(payload[at:], '"')
			if open < 0 || at+open >= from {
				return outside
			}
			open += at + 1
			end := open
			for end < len(payload) && payload[end] != '"' {
				if payload[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end, len(payload))
			if at = min(end+1, len(payload)); from > end {
				continue
			}
			if to < from || to > end || bytes.HasPrefix(bytes.TrimLeft(payload[at:], " \t\r\n"), []byte(":")) {
				return outside
			}
			if breach := textBreach(payload[open:end], from-open, to-open, e, most); breach != "" {
				return breach
			}
			break
		}
	}
	return ""
}

// textBreach is ShortenBreach for one text. The edit replaces its bytes between from and to.
func textBreach(text []byte, from, to int, e edit.Edit, most int64) string {
	after := len(text) - (to - from) + len(e.Text)
	starts, ends := from == 0, to == len(text)
	for i := 0; i < to; {
		switch c := text[i]; {
		case c == '\\' && isHigh(text[i:]) && isLow(text[i+6:]):
			i += 12
		case c == '\\' && bytes.HasPrefix(text[i:], []byte(`\u`)):
			i += 6
		case c == '\\':
			i += 2
		case c < utf8.RuneSelf:
			i++
		default:
			_, size := utf8.DecodeRune(text[i:])
			i += size
		}
		starts, ends = starts || i == from, ends || i == to
	}
	switch {
	case string(e.Text) != label(int64(to-from), int64(len(text))):
		return fmt.Sprintf("put %q for %d of %d bytes of a result", e.Text, to-from, len(text))
	case !starts || !ends:
		return fmt.Sprintf("cut bytes %d to %d inside of a character", e.Span.Start, e.Span.End)
	case int64(after) > max(most, SmallestResult) || after >= len(text):
		return fmt.Sprintf("leave %d of %d bytes of a result", after, len(text))
	}
	return ""
}
