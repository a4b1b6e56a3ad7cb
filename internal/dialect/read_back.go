package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A repair writes a result and then has to find it again, so the fields of a row
// that write results must agree with those that read them. The checks write a
// result with these values and read it.
const (
	sampleID   = "call_1"
	sampleName = "tool_1"
	sampleText = "text_1"
)

// sampleResult fills in a template with the sample values.
func sampleResult(t Template) source.Value {
	return source.NewValue([]byte(object(fill(t, map[string]string{
		"$id": quote(sampleID), "$name": quote(sampleName), "$args": "{}", "$text": quote(sampleText),
	}))), 0)
}

func quote(s string) string { return source.Quote(s) }

// holdsText reports whether the path is set and leads to a value that holds the
// sample text.
func holdsText(l Lens, v source.Value) bool {
	return l != "" && strings.Contains(string(l.In(v).Raw()), sampleText)
}

// checkReadBack reports a fault if the id or the text of a written result is not read
// back.
func (c *checker) checkReadBack(key string, v source.Value, id, payload Lens) {
	if id != "" && !id.In(v).Is(sampleID) {
		c.report(key, fmt.Sprintf(`%s.%s cannot be read back: the id of a result is read from %q, but "$id" is not there`, c.where(), key, id))
	}
	if payload != "" && !holdsText(payload, v) {
		c.report(key, fmt.Sprintf(`%s.%s cannot be read back: the payload of a result is read from %q, but "$text" is not there`, c.where(), key, payload))
	}
}

// checkAnswer checks the result that is written for a call of this kind.
func (d *Blocks) checkAnswer(c *checker, p *Part) {
	if p.Answer == "" || !c.object("answer", p.Answer) {
		return
	}
	v := sampleResult(p.Answer)
	q := d.kindOf(v)
	if len(d.Message) == 0 { // the result is a separate message
		switch content := d.Content.In(v); {
		case d.ResultMessage != nil && d.Role.In(v).Is(d.ResultRole):
			q = d.ResultMessage
		case content.Kind() == source.Array:
			v = content.First()
			q = d.kindOf(v)
		}
	}
	if q == nil || q.Is != PartResult && q != d.ResultMessage {
		c.report("answer", c.where()+`.answer cannot be read back: no part with is = "result" matches it`)
		return
	}
	c.checkReadBack("answer", v, q.ID, q.Payload)
}

// checkMessage checks the message that is written around results.
func (d *Blocks) checkMessage(c *checker, f *Stencil) {
	if f.JSON == "" || !c.object("json", f.JSON) {
		return
	}
	v := source.NewValue([]byte(object(fill(f.JSON, map[string]string{"$blocks": "[1]"}))), 0)
	if d.Content.In(v).Kind() != source.Array {
		c.report("json", fmt.Sprintf(`%s.json cannot be read back: the blocks of a message are read from %q, but "$blocks" is not there`, c.where(), d.Content))
		return
	}
	if first, _, _ := strings.Cut(string(d.Content), "|"); f.If == "" && Lens(first).In(v).Kind() != source.Array {
		c.report("json", fmt.Sprintf(`%s.json has "$blocks" in another field than %q; repairs add this one to messages, so name it first in content`, c.where(), first))
	}
}

// checkTextBlock checks the block that is written for a text.
func (d *Blocks) checkTextBlock(c *checker, f *Stencil) {
	if f.JSON == "" || !c.object("json", f.JSON) {
		return
	}
	v := sampleResult(f.JSON)
	if p := d.kindOf(v); p == nil || p.Is != PartText || !holdsText(p.Text, v) {
		c.report("json", c.where()+`.json cannot be read back: no part with is = "text" matches it and reads "$text"`)
	}
}

// checkAnswer checks the result that is written for a call of this kind.
func (d *Events) checkAnswer(c *checker, e *CallEvent) {
	if e.Answer == "" || !c.object("answer", e.Answer) {
		return
	}
	v := sampleResult(e.Answer)
	r := d.result(d.Type.In(v))
	if r == nil {
		c.report("answer", fmt.Sprintf("%s.answer cannot be read back: no entry of results has its type, which is read from %q", c.where(), d.Type))
		return
	}
	if r.In != "" {
		v = r.In.In(v).First()
	}
	c.checkReadBack("answer", v, r.ID, r.Payload)
}

// checkAnswer checks the output that is written for a call of a pair, once for each
// id key that the call may have.
func (d *Items) checkAnswer(c *checker, p *ItemPair) {
	keys := d.ID
	if p.CallID != "" && slices.Contains(p.Outputs, p.answer()) {
		keys = append(slices.Clone(keys), p.CallID)
	}
	for _, key := range keys {
		call := source.NewValue([]byte(object([]Field{{d.Type, quote(p.Call)}, {key, quote(sampleID)}, {d.Name, quote(sampleName)}})), 0)
		fields := d.WriteResult(NewResult{Kind: p.Kind, ID: quote(sampleID), Name: quote(sampleName), Text: quote(sampleText), Element: call})
		if fields == nil {
			return // no output is written for such a call
		}
		v := source.NewValue([]byte(object(fields)), 0)
		q, isCall := d.pair(v.Get(d.Type))
		if q == nil || isCall || !d.id(v, q, false).Is(sampleID) {
			c.report("answer", fmt.Sprintf("%s.answer cannot be read back: %q is not one of the outputs", c.where(), v.Get(d.Type).Str()))
			return
		}
	}
}

// checkAnswer checks the values that are set in a record to answer its call, once for
// each state of the call.
func (rs *Records) checkAnswer(c *checker) {
	states := append([]StateName{{}}, rs.States...)
	for i := range states {
		s := &states[i]
		if i > 0 && (s.State == transcript.CallDone || s.State == transcript.CallFailed) {
			continue
		}
		sets, at := rs.Answer, c
		if s.Answer != nil {
			sets, at = s.Answer, c.in("states", strconv.Itoa(i-1))
		}
		if len(sets) == 0 || i == 0 && len(rs.States) > 0 {
			continue
		}
		if why := rs.whyUnanswered(s.Written, sets); why != "" {
			at.report("answer", at.where()+".answer cannot be read back: "+why)
		}
		if at != c {
			at.merge()
		} else if s.Answer == nil && len(c.found) > 0 {
			return // it is the same for the other states
		}
	}
}

// whyUnanswered applies the settings to a record with the given state, and returns why
// the call would not count as answered, or "".
func (rs *Records) whyUnanswered(state string, sets []Setting) string {
	rec := map[string]any{}
	if state != "" && !put(rec, rs.State, quote(state)) {
		return ""
	}
	values := map[string]string{"$text": quote(sampleText), "$id": quote(sampleID), "$name": quote(sampleName)}
	for _, s := range sets {
		raw := filled(Template(s.Raw), source.NewValue([]byte(s.Raw), 0), values)
		if s.Keep && s.To == rs.State && state != "" {
			continue
		}
		if raw != "" && !put(rec, s.To, raw) {
			return ""
		}
	}
	text, err := json.Marshal(rec)
	if err != nil {
		return "" // invalid JSON is another fault
	}
	v := source.NewValue(text, 0)
	said := rs.state(v)
	now := transcript.CallDone
	if said != nil {
		now = said.State
	}
	switch {
	case !rs.Apart && !holdsText(rs.Result, v) && !holdsText(rs.Failure, v):
		return fmt.Sprintf(`neither result (%q) nor failure (%q) leads to "$text"`, rs.Result, rs.Failure)
	case !rs.Apart && now == transcript.CallFailed && rs.Failure != "" && !holdsText(rs.Failure, v):
		return fmt.Sprintf(`the call counts as failed, but failure (%q) does not lead to "$text"`, rs.Failure)
	case said == nil && isSet(member(rs.State, v)):
		return fmt.Sprintf("it writes %s to %q, but states does not list that value", rs.State.In(v).Raw(), rs.State)
	case now != transcript.CallDone && now != transcript.CallFailed && !rs.Answered:
		return fmt.Sprintf("the call stays %s according to %q", said.Written, rs.State)
	}
	return ""
}

// put sets the value at the end of the first alternative of a path. It returns
// false if the path leads through an array.
func put(in map[string]any, to Lens, raw string) bool {
	if !to.Nth(0).writable() {
		return false
	}
	keys := strings.Split(string(to.Nth(0)), ".")
	for _, key := range keys[:len(keys)-1] {
		next, is := in[key].(map[string]any)
		if !is {
			next = map[string]any{}
			in[key] = next
		}
		in = next
	}
	in[keys[len(keys)-1]] = json.RawMessage(raw)
	return true
}
