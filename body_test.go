package toolguard_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/toolguard/toolguard"
)

// body returns a request of about size bytes, whose results take about result bytes each. If it
// is broken, one call in its middle and the last one have no result.
func body(size, result int, isBroken bool) []byte {
	lines := [...]string{
		"func (r *Reader) Next() (Record, error) {\n", "\treturn nil, fmt.Errorf(\"read %q: %w\", path, err)\n",
		"src/main.go:120: undefined: parseToken\n", "\"name\": \"value\", C:\\Users\\dev\n", "naïve café — ошибка 文件 ✅\n",
	}
	var b, text bytes.Buffer
	b.WriteString(`{"model":"claude-sonnet-4-5","max_tokens":1024,"tools":[{"name":"read","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}],"messages":[{"role":"user","content":"Find the fault."}`)
	for i, lost := 0, 0; b.Len() < size && lost < 2; i++ {
		text.Reset()
		for k := i; text.Len() < result; k++ {
			text.WriteString(lines[k%len(lines)])
		}
		quoted, _ := json.Marshal(text.String())
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"text","text":"I read file %d."},{"type":"tool_use","id":"toolu_%06d","name":"read","input":{"path":"src/%d.go"}}]}`, i, i, i)
		if isBroken && (lost == 0 && b.Len() > size/2 || b.Len()+len(quoted) > size) {
			lost++
			b.WriteString(`,{"role":"user","content":"Go on."}`)
			continue
		}
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%06d","content":%s}]}`, i, quoted)
	}
	b.WriteString("]}")
	return b.Bytes()
}

// BenchmarkBody measures a check and a repair of requests of several sizes. x-json.Valid is how
// many times as long as json.Valid each takes.
func BenchmarkBody(b *testing.B) {
	for _, size := range []int{100_000, 1_000_000, 10_000_000} {
		for _, result := range []int{300, 3_000} {
			for _, state := range []string{"sound", "broken"} {
				text := body(size, result, state == "broken")
				b.Run(fmt.Sprintf("%s/%dKB/results-%d", state, size/1000, result), func(b *testing.B) {
					b.ReportAllocs()
					b.SetBytes(int64(len(text)))
					var valid time.Duration
					for b.Loop() {
						b.StopTimer()
						start := time.Now()
						if !json.Valid(text) {
							b.Fatal("not valid")
						}
						valid += time.Since(start)
						b.StartTimer()
						_, fixed, err := toolguard.FixBytes(b.Context(), text, toolguard.Dialect("anthropic"), toolguard.Request())
						if err != nil || fixed.Changed() != (state == "broken") {
							b.Fatal(fixed, err)
						}
					}
					b.ReportMetric(float64(b.Elapsed())/float64(valid), "x-json.Valid")
				})
			}
		}
	}
}
