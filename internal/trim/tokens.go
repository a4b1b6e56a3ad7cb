package trim

import (
	"bytes"
	"unicode/utf8"
)

const (
	// EstimateMargin is the factor by which the estimate may be too low.
	EstimateMargin = 1.15
	// MediaTokens are the tokens of an image or another medium.
	MediaTokens = 1600
	// shortestMedia is the length from which base64 is taken for a medium.
	shortestMedia = 256
)

// Media returns the spans of media in a part of a JSON text: the texts of data URLs, and long
// base64 in fields for it. The quotes are not in the spans.
func Media(text []byte) [][2]int {
	var out [][2]int
	for i := 0; i < len(text); {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			break
		}
		from := i + n + 1
		end := from
		for end < len(text) && text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(text))
		if end-from >= shortestMedia && (bytes.HasPrefix(text[from:], []byte("data:")) && isMedia(text[from-1:]) ||
			holdsMedia(text[:from-1]) && isBase64(text[from:end])) {
			out = append(out, [2]int{from, end})
		}
		i = end + 1
	}
	return out
}

// holdsMedia reports whether the value after the text is in a field for media.
func holdsMedia(before []byte) bool {
	before = bytes.TrimRight(before, " \t\r\n")
	before, isField := bytes.CutSuffix(before, []byte(":"))
	before = bytes.TrimRight(before, " \t\r\n")
	for _, key := range []string{`"data"`, `"bytes"`, `"file_data"`, `"image"`, `"b64_json"`} {
		if isField && bytes.HasSuffix(before, []byte(key)) {
			return true
		}
	}
	return false
}

// isBase64 reports whether a text is base64.
func isBase64(text []byte) bool {
	for _, c := range bytes.TrimRight(text, "=") {
		if !isLetter(c) && !isDigit(c) && c != '+' && c != '/' && c != '-' && c != '_' && c != '\\' {
			return false
		}
	}
	return true
}

// Estimate estimates the tokens of a text without media. It is linear in the words, the
// letters beyond the sixth of a word, groups of three digits, runs of white space, punctuation,
// and characters outside of ASCII.
func Estimate(text []byte) float64 {
	var words, long, digits, blanks, marks, more, other, wide int
	for i := 0; i < len(text); {
		from := i
		switch c := text[i]; {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(text[i:])
			i += n
			if r >= firstWide {
				wide++
			} else {
				other++
			}
		case isBlank(c):
			for i < len(text) && isBlank(text[i]) {
				i++
			}
			if i-from > 1 || c != ' ' { // a single space is a part of the word after it
				blanks++
			}
		case isDigit(c):
			for i < len(text) && isDigit(text[i]) {
				i++
			}
			digits += (i - from + 2) / 3
		case isLetter(c):
			for i < len(text) && text[i] >= 'A' && text[i] <= 'Z' {
				i++
			}
			for i < len(text) && text[i] >= 'a' && text[i] <= 'z' {
				i++
			}
			words++
			long += max(0, i-from-6)
		default:
			for i < len(text) && text[i] < utf8.RuneSelf && !isBlank(text[i]) && !isDigit(text[i]) && !isLetter(text[i]) {
				i++
			}
			marks++
			more += i - from - 1
		}
	}
	return perWord*float64(words) + perLetter*float64(long) + perDigits*float64(digits) + perBlank*float64(blanks) +
		perMarks*float64(marks) + perMark*float64(more) + perOther*float64(other) + perWide*float64(wide)
}

// firstWide is the first character of the scripts of East Asia.
const firstWide = 0x2e80

func isBlank(c byte) bool  { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// CountTokens counts the tokens of a part of a JSON text. count is nil for Estimate.
func CountTokens(text []byte, count func([]byte) (float64, error)) (float64, error) {
	media := Media(text)
	if len(media) > 0 {
		var rest []byte
		at := 0
		for _, m := range media {
			rest = append(rest, text[at:m[0]]...)
			at = m[1]
		}
		text = append(rest, text[at:]...)
	}
	all := float64(len(media) * MediaTokens)
	if count == nil {
		return all + Estimate(text), nil
	}
	n, err := count(text)
	return all + n, err
}

// The weights were fitted to the tokens that the encoding o200k_base makes of 147 recorded
// transcripts. On 147 others, nine of ten estimates were 0.89 to 1.05 of the true number, and the
// extremes 0.69 and 1.12.
const (
	perWord   = 1.095
	perLetter = 0.067
	perDigits = 1.363
	perBlank  = 1.724
	perMarks  = 0.615
	perMark   = 0.088
	perOther  = 0.288
	perWide   = 0.811
)
