package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/toolguard/toolguard/internal/source"
)

// benchSize is the size of a generated transcript: large enough not to train the branch
// predictor on it.
const benchSize = 8 << 20

// payload is typical output of tools: with escapes and paths, some of it not ASCII.
func payload(seed, size int) string {
	lines := []string{
		"func (r *Reader) Next() (Record, error) {\n", "\treturn nil, fmt.Errorf(\"read %q: %w\", path, err)\n",
		"src/main.go:120: undefined: parseToken\n", "\"name\": \"value\", C:\\\\Users\\\\dev\n", "naïve café — ошибка 文件 ✅\n",
	}
	var b bytes.Buffer
	for i := seed; b.Len() < size; i++ {
		b.WriteString(lines[i%len(lines)])
	}
	return b.String()
}

// claudeLog returns a session log with a call and a result every two lines.
func claudeLog() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	parent := any(nil)
	for i := 0; b.Len() < benchSize; i++ {
		id, call := fmt.Sprintf("u%08d", i), fmt.Sprintf("toolu_%012d", i/2)
		rec := map[string]any{"uuid": id, "parentUuid": parent, "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z"}
		if i%2 == 0 {
			rec["type"] = "assistant"
			rec["message"] = map[string]any{"id": fmt.Sprintf("msg_%d", i), "role": "assistant", "content": []any{
				map[string]any{"type": "tool_use", "id": call, "name": "Read", "input": map[string]any{"path": "src/main.go"}},
			}}
		} else {
			text := payload(i, 200+i*37%9000)
			rec["type"] = "user"
			rec["toolUseResult"] = text
			rec["message"] = map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "tool_result", "tool_use_id": call, "content": text},
			}}
		}
		parent = id
		_ = enc.Encode(rec)
	}
	return b.Bytes()
}

// chatDocument returns one indented array of chat messages.
func chatDocument() []byte {
	var messages []any
	for i, n := 0, 0; n < benchSize; i++ {
		id, text := fmt.Sprintf("call_%d", i), payload(i, 100+i*53%4000)
		messages = append(messages,
			map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{
				map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "read", "arguments": `{"path":"src/main.go"}`}},
			}},
			map[string]any{"role": "tool", "tool_call_id": id, "content": text})
		n += len(text) + 300
	}
	out, _ := json.MarshalIndent(messages, "", "  ")
	return out
}

// BenchmarkCheck compares whole checks with mere validation of the same bytes; the ratio
// within one run counts.
func BenchmarkCheck(b *testing.B) {
	for _, kind := range []struct {
		name  string
		bytes []byte
		lines bool
	}{{"claude-log", claudeLog(), true}, {"chat-document", chatDocument(), false}} {
		run := func(name string, f func() error) {
			b.Run(kind.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(kind.bytes)))
				b.ReportAllocs()
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		eachLine := func(valid func([]byte) bool) error {
			text := kind.bytes
			if !kind.lines {
				if !valid(text) {
					return errors.New("not valid")
				}
				return nil
			}
			for line := range bytes.Lines(text) {
				if !valid(line) {
					return errors.New("not valid")
				}
			}
			return nil
		}
		run("check", func() error {
			rep, err := Check(context.Background(), source.FromBytes("bench", kind.bytes), Options{})
			if err == nil && (rep.Findings.Len() > 0 || rep.Calls == 0) {
				err = fmt.Errorf("%d findings, %d calls", rep.Findings.Len(), rep.Calls)
			}
			return err
		})
		run("yardstick-framing", func() error { _ = bytes.Count(kind.bytes, []byte{'\n'}); return nil })
		run("yardstick-gjson-valid", func() error { return eachLine(gjson.ValidBytes) })
		run("yardstick-json-valid", func() error { return eachLine(json.Valid) })
	}
}
