package repair

import (
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/transcript"
)

// texts turns calls and results into text, all or none.
func (d *draft) texts(calls, results []int32) bool {
	return len(calls)+len(results) > 0 &&
		(len(calls) == 0 || d.each(calls, d.textCall)) && (len(results) == 0 || d.each(results, d.textResult))
}

func (d *draft) textCall(int32) bool { return false }

// textResult keeps the payload of a result as text.
func (d *draft) textResult(r int32) bool {
	res := &d.Conv.Results[r]
	if d.foreign(res.Message) {
		return false
	}
	raw := `""`
	if !res.Payload.IsZero() {
		raw = string(d.text(res.Payload))
	}
	if !strings.HasPrefix(raw, `"`) {
		raw = transcript.Quote(raw)
	}
	blk := d.Conv.Blocks[res.Block]
	if !d.blockwise() && !d.alone(res.Message) {
		return false
	}
	text := d.build(d.driver.WriteText(d.at(blk.Span), raw))
	if text == nil {
		return false
	}
	d.taken = append(d.taken, blk.Span)
	d.set(blk.Span, string(render(text, styleOf(d.at(blk.Span)), 0)))
	if d.Log != nil && d.results(res.Message) == 1 {
		c := d.log()
		c.texted = append(c.texted, d.standing(res.Message))
	}
	return true
}

// textBlock returns the members of a block with a text of a message.
func (p *Plan) textBlock(m int32, text transcript.Value) []dialect.Field {
	keys := p.keys(m)
	return keys.TextFields(string(text.Raw()))
}
