package rules_test

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// png returns an image of a size in base64, with n more bytes behind its header.
func png(w, h uint32, n int) string {
	b := binary.BigEndian.AppendUint32([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), w)
	b = append(binary.BigEndian.AppendUint32(b, h), "\x08\x02\x00\x00\x00"...)
	return base64.StdEncoding.EncodeToString(append(b, make([]byte, n)...))
}

// TestImagesOfDialects: an image is found wherever a dialect holds one, in a message and in a
// result, and the repair replaces its block and nothing else.
func TestImagesOfDialects(t *testing.T) {
	large := png(9000, 200, 0)
	const label = "[toolguard] Image (image/png, 9000 × 200 pixels), removed."
	url := "data:image/png;base64," + large
	text := `{"type":"text","text":"` + label + `"}`
	anthropic := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + large + `"}}`
	log := func(inner string) string {
		return `{"type":"user","uuid":"u0","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"q"}}
{"type":"assistant","uuid":"a1","parentUuid":"u0","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]}}
{"type":"user","uuid":"u1","parentUuid":"a1","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[` + inner + `]}]},"toolUseResult":{"file":{"base64":"` + large + `"}}}
`
	}
	for _, c := range []struct{ dialect, text, block, written string }{
		{"anthropic", `{"model":"claude-opus-4-6","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"q"},%[1]s]}]}`, anthropic, text},
		{"anthropic", `[{"role":"user","content":[%[1]s]},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"},%[1]s]}]}]`, anthropic, text},
		{"claude-code", log("%[1]s"), anthropic, text},
		{
			"openai-chat", `[{"role":"user","content":[{"type":"text","text":"q"},%[1]s]},{"role":"assistant","content":null,"tool_calls":[` + call("c", "f") + `]},{"role":"tool","tool_call_id":"c","content":[%[1]s]}]`,
			`{"type":"image_url","image_url":{"url":"` + url + `","detail":"high"}}`, text,
		},
		{
			"openai-responses", `[{"role":"user","content":[{"type":"input_text","text":"q"},%[1]s]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[%[1]s]}]`,
			`{"type":"input_image","image_url":"` + url + `"}`, `{"type":"input_text","text":"` + label + `"}`,
		},
		{"codex", `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"x","cwd":"/"}}
{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"q"},%[1]s]}}
{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{"type":"function_call","call_id":"c","name":"view_image","arguments":"{}"}}
{"timestamp":"2026-01-01T00:00:03Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":[%[1]s]}}
`, `{"type":"input_image","image_url":"` + url + `"}`, `{"type":"input_text","text":"` + label + `"}`},
		{
			"gemini", `{"contents":[{"role":"user","parts":[{"text":"q"},%[1]s]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"x"},"parts":[%[1]s]}}]}]}`,
			`{"inlineData":{"mimeType":"image/png","data":"` + large + `"}}`, `{"text":"` + label + `"}`,
		},
		{
			"gemini", `{"contents":[{"role":"user","parts":[%[1]s]},{"role":"model","parts":[{"function_call":{"name":"f","args":{}}}]},{"role":"user","parts":[{"function_response":{"name":"f","response":{"output":"x"}}}]}]}`,
			`{"inline_data":{"mime_type":"image/png","data":"` + large + `"}}`, `{"text":"` + label + `"}`,
		},
		{
			"bedrock", `{"messages":[{"role":"user","content":[{"text":"q"},%[1]s]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"t","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"t","content":[{"text":"x"},%[1]s]}}]}]}`,
			`{"image":{"format":"png","source":{"bytes":"` + large + `"}}}`, `{"text":"` + label + `"}`,
		},
		{"pi", `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}
{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":[{"type":"text","text":"q"},%[1]s]}}
{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"3","parentId":"2","message":{"role":"toolResult","toolCallId":"c","toolName":"read","content":[%[1]s],"isError":false}}
`, `{"type":"image","data":"` + large + `","mimeType":"image/png"}`, text},
		{
			"ai-sdk", `[{"role":"user","content":[{"type":"text","text":"q"},%[1]s]},{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"f","input":{}}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"f","output":{"type":"content","value":[%[1]s]}}]}]`,
			`{"type":"file","data":"` + large + `","mediaType":"image/png"}`, text,
		},
		{
			"goose", `[{"id":null,"role":"user","created":1,"content":[{"type":"text","text":"q"},%[1]s]},{"id":null,"role":"assistant","created":2,"content":[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"f","arguments":{}}}}]},{"id":null,"role":"user","created":3,"content":[{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"x"},%[1]s],"isError":false}}}]}]`,
			`{"type":"image","data":"` + large + `","mimeType":"image/png"}`, text,
		},
		{
			"langchain", `[{"type":"human","content":[{"type":"text","text":"q"},%[1]s]},{"type":"ai","content":"","tool_calls":[{"id":"c","name":"f","args":{}}]},{"type":"tool","tool_call_id":"c","content":[%[1]s]}]`,
			`{"type":"image_url","image_url":{"url":"` + url + `"}}`, text,
		},
		{
			"ai-sdk-ui", `[{"id":"1","role":"user","parts":[{"type":"text","text":"q"},%[1]s]},{"id":"2","role":"assistant","parts":[{"type":"tool-f","toolCallId":"c","state":"output-available","input":{},"output":"x"}]}]`,
			`{"type":"file","mediaType":"image/png","url":"` + url + `"}`, text,
		},
		{
			"meai", `[{"role":"user","contents":[{"$type":"text","text":"q"},%[1]s]},{"role":"assistant","contents":[{"$type":"functionCall","callId":"c","name":"f","arguments":{}}]},{"role":"tool","contents":[{"$type":"functionResult","callId":"c","result":"x"}]}]`,
			`{"$type":"data","uri":"` + url + `"}`, `{"$type":"text","text":"` + label + `"}`,
		},
	} {
		before := fmt.Sprintf(c.text, c.block)
		n := strings.Count(c.text, "%[1]s")
		rep := check(t, before, "--provider anthropic")
		if found := count(rep.Findings.List(), "image-limit", rules.Error); found != n || rep.File.Dialect != c.dialect {
			t.Errorf("%s, read as %s: %d images are reported, want %d: %v", c.dialect, rep.File.Dialect, found, n, messages(rep.Findings.List()))
			continue
		}
		f := fixed(t, before, "--provider anthropic", "image-limit", "text")
		src := f.Pieces.Source()
		got := string(must(src.Bytes(source.Span{End: src.Size()})))
		if want := fmt.Sprintf(c.text, c.written); got != want {
			t.Errorf("%s became\n%s\nwant\n%s", c.dialect, got, want)
		}
	}
}

// count counts the findings of a rule with a severity.
func count(found []engine.Finding, rule string, s rules.Severity) (n int) {
	for i := range found {
		if found[i].Rule.Name == rule && found[i].Severity == s {
			n++
		}
	}
	return n
}

// TestImageLimits: sides, bytes and numbers, each at its limit and beyond.
func TestImageLimits(t *testing.T) {
	block := func(data string) string {
		return `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}`
	}
	request := func(model string, images ...string) string {
		return `{"model":"` + model + `","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"q"},` + strings.Join(images, ",") + `]}]}`
	}
	times := func(n int, s string) (out []string) {
		for range n {
			out = append(out, s)
		}
		return out
	}
	small := block(png(10, 10, 0))
	const mb = 1 << 20
	bytes := func(n int) string { return block(png(100, 100, n/4*3-29)) } // of n bytes in base64
	history := `[` + strings.TrimSuffix(strings.TrimPrefix(request("", block(png(9000, 1, 0))), `{"model":"","max_tokens":9,"messages":[`), "}") + "\n"
	for _, c := range []struct {
		name, text, args string
		severity         rules.Severity
		n                int
	}{
		{"the longest side", request("claude", block(png(8000, 8000, 0))), "", rules.Error, 0},
		{"a longer one", request("claude", block(png(1, 8001, 0)), block(png(8001, 1, 0))), "", rules.Error, 2},
		{"20 images", request("claude", append(times(19, small), block(png(2400, 1, 0)))...), "", rules.Error, 0},
		{"21 images", request("claude", append(times(20, small), block(png(2400, 1, 0)))...), "", rules.Error, 1},
		{"21 images of the longest side", request("claude", append(times(20, small), block(png(2000, 2000, 0)))...), "", rules.Error, 0},
		{"21 images, all beside many too large", request("claude", times(21, block(png(2001, 1, 0)))...), "", rules.Error, 1},
		{"24 images, three of them too large", request("claude", append(times(21, small), times(3, block(png(2001, 1, 0)))...)...), "", rules.Error, 3},
		{"22 images, one too large for any request", request("claude", append(times(21, block(png(2001, 1, 0))), block(png(8001, 1, 0)))...), "", rules.Error, 2},
		{"21 images, one too large for any request", request("claude", append(times(20, block(png(2001, 1, 0))), block(png(8001, 1, 0)))...), "", rules.Error, 1},
		{"5 MB", request("claude", bytes(5*mb)), "", rules.Warning, 0},
		{"more", request("claude", bytes(5*mb+4)), "", rules.Warning, 1},
		{"10 MB", request("claude", bytes(10*mb)), "", rules.Warning, 1},
		{"still more", request("claude", bytes(10*mb+4)), "", rules.Error, 1},
		{"100 images", request("claude", times(100, small)...), "", rules.Warning, 0},
		{"102 images", request("claude", times(102, small)...), "", rules.Warning, 1},
		{"600 images", request("claude", times(600, small)...), "", rules.Warning, 1},
		{"603 images", request("claude", times(603, small)...), "", rules.Error, 1},
		{"one of 101 is too large", request("claude", append(times(100, small), block(png(8001, 1, 0)))...), "", rules.Error, 1},
		{"an address", request("claude", `{"type":"image","source":{"type":"url","url":"https://example.com/9000x9000.png"}}`), "", rules.Error, 0},
		{"a header that is cut off", request("claude", block(png(9000, 1, 0)[:28])), "", rules.Error, 0},
		{"no image", request("claude", block("aGVsbG8gd29ybGQsIHRoaXMgaXMgbm8gaW1hZ2U=")), "", rules.Error, 0},
		{"a provider without a limit", request("claude", block(png(9000, 1, 0))), "--provider openai", rules.Error, 0},
		{"a history", history[:len(history)-1], "--provider anthropic", rules.Error, 1},
		{"a saved history", history[:len(history)-1], "", rules.Warning, 1},
		{"a dataset", history + history, "", rules.Info, 2},
		{"an image that is no longer sent", `{"type":"user","uuid":"u0","parentUuid":null,"sessionId":"s","message":{"role":"user","content":[` + block(png(9000, 1, 0)) + `]}}
{"type":"system","subtype":"compact_boundary","uuid":"c0","parentUuid":null,"logicalParentUuid":"u0","sessionId":"s","content":"Conversation compacted"}
{"type":"user","uuid":"u1","parentUuid":"c0","sessionId":"s","isCompactSummary":true,"message":{"role":"user","content":"so far"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"ok"}]}}
`, "--send", rules.Error, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := check(t, c.text, c.args).Findings.List()
			if n := count(found, "image-limit", c.severity); n != c.n || len(found) != c.n {
				t.Errorf("%d findings with severity %s, want %d: %v", n, c.severity, c.n, messages(found))
			}
		})
	}
}

// check checks a text with the flags of a rule's examples.
func check(t *testing.T, text, args string) *engine.Report {
	t.Helper()
	rep, err := engine.Check(t.Context(), source.FromBytes("history", []byte(text)), options(t, args))
	if err != nil || rep.Skipped != "" {
		t.Fatal(err, rep.Skipped)
	}
	return rep
}

// TestTooManyImages: the first images become texts, as many as there are too many.
func TestTooManyImages(t *testing.T) {
	var blocks []string
	for i := range 103 {
		blocks = append(blocks, `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+png(uint32(i+1), 7, 0)+`"}}`)
	}
	text := `{"model":"claude","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"q"},` + strings.Join(blocks, ",") + `]}]}`
	f := fixed(t, text, "", "image-limit", "text")
	src := f.Pieces.Source()
	for i := range 3 {
		text = strings.Replace(text, blocks[i], fmt.Sprintf(`{"type":"text","text":"[toolguard] Image (image/png, %d × 7 pixels), removed."}`, i+1), 1)
	}
	if got := string(must(src.Bytes(source.Span{End: src.Size()}))); got != text {
		t.Errorf("it became\n%.900s", got)
	}
}

// TestBesideManyImages: of images that are too large only beside many others, no more become texts
// than needed: the first ones, until the others are no longer many, or all if they are fewer.
func TestBesideManyImages(t *testing.T) {
	for _, c := range []struct {
		name    string
		sides   []uint32
		long    int   // the index of an image that is too long for some hosts, too
		removed []int // indexes
	}{
		{"all too large", slices.Repeat([]uint32{2001}, 21), -1, []int{0}},
		{"all too large, three too many", slices.Repeat([]uint32{2001}, 23), -1, []int{0, 1, 2}},
		{"one too large, five too many", append(slices.Repeat([]uint32{9}, 24), 2001), -1, []int{24}},
		{"as many too large as too many", append(slices.Repeat([]uint32{9}, 20), 2001, 2002), -1, []int{20, 21}},
		{"more too large than too many", append(slices.Repeat([]uint32{9}, 10), slices.Repeat([]uint32{2001}, 12)...), -1, []int{10, 11}},
		{"one goes anyway", append(slices.Repeat([]uint32{2001}, 20), 8001), -1, []int{20}},
		{"one goes anyway, one more is too many", append(slices.Repeat([]uint32{2001}, 21), 8001), -1, []int{0, 21}},
		{"one is too long, too", slices.Repeat([]uint32{2001}, 21), 7, []int{7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var blocks []string
			for i, side := range c.sides {
				more := 0
				if i == c.long {
					more = 4 << 20
				}
				blocks = append(blocks, `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+png(side, uint32(i+1), more)+`"}}`)
			}
			request := func() string {
				return `{"model":"claude","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"q"},` + strings.Join(blocks, ",") + `]}]}`
			}
			f := fixed(t, request(), "", "image-limit", "text")
			for _, i := range c.removed {
				blocks[i] = fmt.Sprintf(`{"type":"text","text":"[toolguard] Image (image/png, %d × %d pixels), removed."}`, c.sides[i], i+1)
			}
			src := f.Pieces.Source()
			got := string(must(src.Bytes(source.Span{End: src.Size()})))
			if got != request() {
				t.Errorf("it became\n%.3000s", got)
			}
			if left := check(t, got, "").Findings.List(); len(left) > 0 {
				t.Errorf("after the repair: %v", messages(left))
			}
		})
	}
}
