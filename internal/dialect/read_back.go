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
	triedID   = "call_1"
	triedName = "tool_1"
	triedText = "text_1"
)

// tried fills in a template with the test values.
func tried(t Template) source.Value {
	return source.NewValue([]byte(object(fill(t, map[string]string{
		"$id": quoted(triedID), "$name": quoted(triedName), "$args": "{}", "$text": quoted(triedText),
	}))), 0)
}

func quoted(s string) string { return source.Quote(s) }

// holdsText reports whether the path is set and leads to a value that holds the
// test text.
func holdsText(l Lens, v source.Value) bool {
	return l != "" && strings.Contains(string(l.In(v).Raw()), triedText)
}

// agrees reports a fault if the id or the text of a written result is not read
// back.
func (c *checker) agrees(key string, v source.Value, id, payload Lens) {
	if id != "" && !id.In(v).Is(triedID) {
		c.say(key, fmt.Sprintf(`%s.%s cannot be read back: the id of a result is read from %q, but "$id" is not there`, c.where(), key, id))
	}
	if payload != "" && !holdsText(payload, v) {
		c.say(key, fmt.Sprintf(`%s.%s cannot be read back: the payload of a result is read from %q, but "$text" is not there`, c.where(), key, payload))
	}
}

// readsBack checks the result that is written for a call of this kind.
func (d *Blocks) readsBack(c *checker, p *Part) {
	if p.Answer == "" || !c.object("answer", p.Answer) {
		return
	}
	v := tried(p.Answer)
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
		c.say("answer", c.where()+`.answer cannot be read back: no part with is = "result" matches it`)
		return
	}
	c.agrees("answer", v, q.ID, q.Payload)
}

// formBack checks the message that is written around results.
func (d *Blocks) formBack(c *checker, f *Form) {
	if f.JSON == "" || !c.object("json", f.JSON) {
		return
	}
	v := source.NewValue([]byte(object(fill(f.JSON, map[string]string{"$blocks": "[1]"}))), 0)
	if d.Content.In(v).Kind() != source.Array {
		c.say("json", fmt.Sprintf(`%s.json cannot be read back: the blocks of a message are read from %q, but "$blocks" is not there`, c.where(), d.Content))
	}
}

// textBack checks the block that is written for a text.
func (d *Blocks) textBack(c *checker, f *Form) {
	v := tried(f.JSON)
	if f.JSON == "" || v.Kind() != source.Object {
		return
	}
	if p := d.kindOf(v); p == nil || p.Is != PartText || !holdsText(p.Text, v) {
		c.say("json", c.where()+`.json cannot be read back: no part with is = "text" matches it and reads "$text"`)
	}
}

// readsBack checks the result that is written for a call of this kind.
func (d *Events) readsBack(c *checker, e *CallEvent) {
	if e.Answer == "" || !c.object("answer", e.Answer) {
		return
	}
	v := tried(e.Answer)
	r := d.result(d.Type.In(v))
	if r == nil {
		c.say("answer", fmt.Sprintf("%s.answer cannot be read back: no entry of results has its type, which is read from %q", c.where(), d.Type))
		return
	}
	if r.In != "" {
		v = r.In.In(v).First()
	}
	c.agrees("answer", v, r.ID, r.Payload)
}

// answersBack checks the output that is written for a call of a pair, once for each
// id key that the call may have.
func (d *Items) answersBack(c *checker, p *ItemPair) {
	keys := d.ID
	if p.CallID != "" && slices.Contains(p.Outputs, p.answer()) {
		keys = append(slices.Clone(keys), p.CallID)
	}
	for _, key := range keys {
		call := source.NewValue([]byte(object([]Field{{d.Type, quoted(p.Call)}, {key, quoted(triedID)}, {d.Name, quoted(triedName)}})), 0)
		fields := d.WriteResult(NewResult{Kind: p.Kind, ID: quoted(triedID), Name: quoted(triedName), Text: quoted(triedText), Element: call})
		if fields == nil {
			return // no output is written for such a call
		}
		v := source.NewValue([]byte(object(fields)), 0)
		q, isCall := d.pair(v.Get(d.Type))
		if q == nil || isCall || !d.id(v, q, false).Is(triedID) {
			c.say("answer", fmt.Sprintf("%s.answer cannot be read back: %q is not one of the outputs", c.where(), v.Get(d.Type).Str()))
			return
		}
	}
}

// readsBack checks the values that are set in a record to answer its call, once for
// each state of the call.
func (rs *Records) readsBack(c *checker) {
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
		if why := rs.leaves(s.Written, sets); why != "" {
			at.say("answer", at.where()+".answer cannot be read back: "+why)
		}
		if at != c {
			at.merge()
		} else if s.Answer == nil && len(c.found) > 0 {
			return // it is the same for the other states
		}
	}
}

// leaves applies the settings to a record with the given state, and returns why the
// call would not count as answered, or "".
func (rs *Records) leaves(state string, sets []Setting) string {
	rec := map[string]any{}
	if state != "" && !put(rec, rs.State, quoted(state)) {
		return ""
	}
	values := map[string]string{"$text": quoted(triedText), "$id": quoted(triedID), "$name": quoted(triedName)}
	for _, s := range sets {
		raw := filled(source.NewValue([]byte(s.Raw), 0), values)
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
	case said == nil && there(member(rs.State, v)):
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
