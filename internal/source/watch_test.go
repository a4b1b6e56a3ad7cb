package source

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// An asked is a context that counts how often it is asked, and is done after most questions.
type asked struct {
	context.Context
	n, most int
}

func (a *asked) Err() error {
	if a.n++; a.n > a.most {
		return context.Canceled
	}
	return nil
}

// TestScanLooksAtContext: a scan looks at the context of its source at least once in lookEvery
// bytes, also inside one string, and ends when the context is done.
func TestScanLooksAtContext(t *testing.T) {
	t.Parallel()
	const size = 16 * lookEvery
	for name, text := range map[string]string{
		"a long string":    `["` + strings.Repeat("a", size) + `"]`,
		"a string outside": `"` + strings.Repeat("a", size) + `"`,
		"escapes":          `["` + strings.Repeat(`\\`, size/2) + `"]`,
		"a long key":       `{"` + strings.Repeat("a", size) + `":1}`,
		"short values":     `[` + strings.Repeat(`{"a":"b"},`, size/10) + `1]`,
		"line ends":        `["` + strings.Repeat("a\n", size/2) + `"]`,
	} {
		for _, scan := range []Scanner{NewScanner(), new(portable)} {
			ctx := &asked{Context: t.Context(), most: size}
			src := FromBytes("text", []byte(text))
			src.ctx = ctx
			scan.watch(src)
			whole := scan.Scan([]byte(text), 0, AllowNewlines)
			if whole.Kind != FaultNone || whole.End != len(text) || ctx.n < 15 || ctx.n > 40 {
				t.Errorf("%s, %T: kind %d, end %d of %d, asked %d times", name, scan, whole.Kind, whole.End, len(text), ctx.n)
			}
			ctx.n, ctx.most = 0, 5
			cut := scan.Scan([]byte(text), 0, AllowNewlines)
			if cut.Kind != FaultTruncated || ctx.n > 7 || !errors.Is(src.Err(), context.Canceled) {
				t.Errorf("%s, %T: kind %d, asked %d times, %v", name, scan, cut.Kind, ctx.n, src.Err())
			}
		}
	}
}
