package engine

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// TestRecordedStreams: a stream of events is detected wherever it ends and however its events
// are kept, and it hides no messages beside it.
func TestRecordedStreams(t *testing.T) {
	t.Parallel()
	n := 0
	eachFixture(t, func(name string, records []source.Value, _ [][]byte) {
		if path.Dir(name) != "not-transcripts" || !strings.Contains(path.Base(name), "-stream") {
			return
		}
		n++
		for cut := 1; cut <= len(records); cut++ {
			events := raws(records[:cut])
			list := fmt.Appendf(nil, "[%s]", bytes.Join(events, []byte(",\n")))
			for how, text := range map[string][]byte{
				"lines":             bytes.Join(events, []byte("\n")),
				"a list":            list,
				"a document":        fmt.Appendf(nil, `{"id":7,"chunks":%s}`, list),
				"deep in one":       fmt.Appendf(nil, `{"runs":[{"log":{"events":%s}}]}`, list),
				"lines around them": fmt.Appendf(nil, `{"n":1,"rec":%s}`, bytes.Join(events, []byte("}\n"+`{"n":1,"rec":`))),
			} {
				if rep := check(t, name, text, Options{}); !strings.HasPrefix(rep.Skipped, "a recorded event stream") {
					t.Errorf("%s: %d events in %s: %s", name, cut, how, render(rep))
				}
			}
			for how, text := range map[string][]byte{
				"beside messages":  fmt.Appendf(nil, `{"messages":[%s],"chunks":%s}`, whereChat, list),
				"behind messages":  fmt.Appendf(nil, `[{"messages":[%s]},%s]`, whereChat, bytes.Join(events, []byte(","))),
				"between messages": fmt.Appendf(nil, "%s\n%s\n%s\n%s", whereUser, whereCall, events[0], whereTool),
			} {
				if rep := check(t, name, text, Options{}); rep.Skipped != "" || rep.Calls != 1 || rep.Results != 1 {
					t.Errorf("%s: %d events %s: %s", name, cut, how, render(rep))
				}
			}
		}
	})
	if n < 6 {
		t.Errorf("%d streams", n)
	}
}
