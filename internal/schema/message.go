package schema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// mostWritten is the largest number of digits of a number that is shown.
const mostWritten = 64

// mostQuoted is the largest number of bytes of a text that is quoted. A longer list ends
// with an ellipsis. Messages must not contain a payload.
const mostQuoted = 200

// written returns the text of a number, shortened if it is very long.
func written(number []byte) string {
	if len(number) > mostWritten {
		return string(number[:mostWritten]) + "…"
	}
	return string(number)
}

// display formats a value that is neither an array nor an object.
func display(v source.Value) string {
	if v.Kind() == source.String {
		return single(v.Str())
	}
	return string(v.Raw())
}

// cut shortens a text to quote.
func cut(s string) string {
	if len(s) <= mostQuoted {
		return s
	}
	return strings.ToValidUTF8(s[:mostQuoted], "") + "…"
}

// single returns a text in single quotes.
func single(s string) string {
	s = cut(s)
	s = strconv.Quote(s)
	return "'" + strings.NewReplacer(`\"`, `"`, `\\`, `\\`, `'`, `\'`).Replace(s[1:len(s)-1]) + "'"
}

// singles returns a list of texts in single quotes.
func singles(names []string) string {
	return listed(len(names), func(i int) string { return single(names[i]) })
}

// doubles returns a list of texts in double quotes.
func doubles(names []string) string {
	return listed(len(names), func(i int) string { return strconv.Quote(cut(names[i])) })
}

// listed returns a list of n texts, as many as fit in a message.
func listed(n int, text func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > mostQuoted {
			b.WriteString("…")
			break
		}
		b.WriteString(text(i))
	}
	return b.String()
}

// missing says which properties are missing.
func missing(names []string) string {
	if len(names) == 1 {
		return "missing property " + single(names[0])
	}
	return "missing properties " + singles(names)
}

// counted says that a count is too low or too high.
func counted(keyword string, got, want int) string {
	return fmt.Sprintf("%s: got %d, want %d", keyword, got, want)
}

// matched says that too few or too many elements match.
func matched(which string, want int, got []int) string {
	said := fmt.Sprintf("%s %d items required to match contains schema, but ", which, want)
	if len(got) == 0 {
		return said + "none matched"
	}
	at := fmt.Sprint(got)
	return fmt.Sprintf("%smatched %d items at %s", said, len(got), at[1:len(at)-1])
}

// twoMatch says that two schemas of a oneOf match.
func twoMatch(first, second int) string {
	return fmt.Sprintf("'oneOf' failed, subschemas %d, %d matched", first, second)
}
