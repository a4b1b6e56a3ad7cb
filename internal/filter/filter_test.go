package filter

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

func TestX(t *testing.T) {
	for _, in := range []string{
		"\xef\xbb\xbf{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}\r\n\r\n  {\"messages\":[{\"role\":\"user\",\"content\":\"what\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"ls\",\"arguments\":\"{}\"}}]},{\"role\":\"assistant\",\"content\":\"a.txt\"}]}  \r\n{\"messages\":[{\"role\":\"user\",\"content\":\"y\"}]}\n{\"messa",
		"[{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]},\n  {\"messages\":[{\"role\":\"user\",\"content\":\"what\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"ls\",\"arguments\":\"{}\"}}]},{\"role\":\"assistant\",\"content\":\"a.txt\"}]}]",
		"{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}\n",
		"[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"content\":\"x\"}]\n",
		"{\"role\":\"user\",\"content\":\"x\"}\n", "[]", "", "  \n", "[[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"content\":\"x\"}]]",
		"[{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}]",
	} {
		var out, rej bytes.Buffer
		res, err := Run(context.Background(), source.FromBytes("t", []byte(in)), Options{FailOn: rules.Error, Row: true,
			Out: func() (io.Writer, error) { return &out, nil }, Rejects: func() (io.Writer, error) { return &rej, nil },
			Reason: func(r *Reason) error { t.Log(r.Path, r.Record, r.Line, r.Span, r.Findings.Len()); return nil },
		})
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		t.Logf("%+v %s sure %t %s\n%q\n%q", res.Counts, res.Report.File.Container, res.Report.File.Sure, res.Report.File.Pointer, out.String(), rej.String())
	}
}
