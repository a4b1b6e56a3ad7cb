package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// A readCounter counts the bytes that are read.
type readCounter struct {
	io.ReaderAt
	n int64
}

// ReadAt implements io.ReaderAt.
func (r *readCounter) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	r.n += int64(n)
	return n, err
}

// TestPassesOfFix: a repair reads a session log twice, once to check it and once to prove the
// repair.
func TestPassesOfFix(t *testing.T) {
	t.Parallel()
	const records = 4_000
	var b bytes.Buffer
	for i := range records {
		parent := "null"
		if i > 0 {
			parent = fmt.Sprintf(`"r%d"`, i-1)
		}
		role, message := "user", fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat("ask ", 200))
		switch {
		case i == records/2:
			role, message = "assistant", `{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]}`
		case i%2 == 1:
			role, message = "assistant", fmt.Sprintf(`{"id":"m%d","role":"assistant","content":[{"type":"text","text":"yes"}]}`, i)
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"sessionId":"s","type":%q,"message":%s,"uuid":"r%d"}`+"\n", parent, role, message, i)
	}
	size := int64(b.Len())
	from := &readCounter{ReaderAt: bytes.NewReader(b.Bytes())}
	f, err := Settle(context.Background(), source.NewSource("log.jsonl", from, size), FixOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Repairs) != 1 || f.Rounds != 1 || f.After.Findings.Len() > 0 {
		t.Fatalf("%d repairs in %d rounds, %d findings are left", len(f.Repairs), f.Rounds, f.After.Findings.Len())
	}
	if most := 2*size + size/2; from.n > most {
		t.Errorf("%d bytes were read of a log of %d", from.n, size)
	}
}

// TestPassesOfCheck: a long document is scanned and then read. Only the beginning of its list
// is read once more, to detect its format.
func TestPassesOfCheck(t *testing.T) {
	t.Parallel()
	const turns = 4_000
	var b bytes.Buffer
	b.WriteString(`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"go"}`)
	for i := range turns {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"ls","input":{}}]}`, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":%q}]}`, i, strings.Repeat("file ", 400))
	}
	b.WriteString("]}")
	size := int64(b.Len())
	from := &readCounter{ReaderAt: bytes.NewReader(b.Bytes())}
	r, err := Check(context.Background(), source.NewSource("request.json", from, size), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Calls != turns || r.Results != turns || r.Findings.Len() > 0 {
		t.Fatalf("%d calls, %d results, %d findings", r.Calls, r.Results, r.Findings.Len())
	}
	if most := 3 * size; from.n > most {
		t.Errorf("%d bytes were read of a document of %d", from.n, size)
	}
}
