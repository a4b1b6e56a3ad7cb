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

// A repair writes a result and has to find it again: what a row says of a result that
// is written must agree with what it says of one that is read. Both are tried with a
// result that is made up.
const (
	triedID   = "call_1"
	triedName = "tool_1"
	triedText = "text_1"
)

// tried fills in a template with what is made up.
func tried(t Template) source.Value {
	return source.NewValue([]byte(object(fill(t, map[string]string{
		"$id": quoted(triedID), "$name": quoted(triedName), "$args": "{}", "$text": quoted(triedText),
	}))), 0)
}

func quoted(s string) string { return source.Quote(s) }

// holdsText reports whether there is a path, and what it leads to holds the text that
// is made up.
func holdsText(l Lens, v source.Value) bool {
	return l != "" && strings.Contains(string(l.In(v).Raw()), triedText)
}

// agrees notes where a result that is written is not the one that is read.
func (c *checker) agrees(key string, v source.Value, id, payload Lens) {
	if id != "" && !id.In(v).Is(triedID) {
		c.say(key, fmt.Sprintf(`%s.%s is not read back: the id of a result is read at %q, where "$id" is not written`, c.where(), key, id))
	}
	if payload != "" && !holdsText(payload, v) {
		c.say(key, fmt.Sprintf(`%s.%s is not read back: the payload of a result is read at %q, where "$text" is not written`, c.where(), key, payload))
	}
}

// readsBack tries the answer to a call of a kind.
func (d *Blocks) readsBack(c *checker, p *Part) {
	if p.Answer == "" || !c.object("answer", p.Answer) {
		return
	}
	v := tried(p.Answer)
	q := d.kindOf(v)
	if len(d.Message) == 0 { // the result is a message of its own
		switch content := d.Content.In(v); {
		case d.ResultMessage != nil && d.Role.In(v).Is(d.ResultRole):
			q = d.ResultMessage
		case content.Kind() == source.Array:
			v = content.First()
			q = d.kindOf(v)
		}
	}
	if q == nil || q.Is != PartResult && q != d.ResultMessage {
		c.say("answer", c.where()+`.answer is not read back: no part that is "result" fits it`)
		return
	}
	c.agrees("answer", v, q.ID, q.Payload)
}

// formBack tries how a message that carries results is written.
func (d *Blocks) formBack(c *checker, f *Form) {
	if f.JSON == "" || !c.object("json", f.JSON) {
		return
	}
	v := source.NewValue([]byte(object(fill(f.JSON, map[string]string{"$blocks": "[1]"}))), 0)
	if d.Content.In(v).Kind() != source.Array {
		c.say("json", fmt.Sprintf(`%s.json is not read back: the blocks of a message are read at %q, where "$blocks" is not written`, c.where(), d.Content))
	}
}

// textBack tries how a block of text is written.
func (d *Blocks) textBack(c *checker, f *Form) {
	v := tried(f.JSON)
	if f.JSON == "" || v.Kind() != source.Object {
		return
	}
	if p := d.kindOf(v); p == nil || p.Is != PartText || !holdsText(p.Text, v) {
		c.say("json", c.where()+`.json is not read back: no part that is "text" fits it, and has "$text"`)
	}
}

// readsBack tries the answer to a call of a kind.
func (d *Events) readsBack(c *checker, e *CallEvent) {
	if e.Answer == "" || !c.object("answer", e.Answer) {
		return
	}
	v := tried(e.Answer)
	r := d.result(d.Type.In(v))
	if r == nil {
		c.say("answer", fmt.Sprintf("%s.answer is not read back: none of results has its type, which is read at %q", c.where(), d.Type))
		return
	}
	if r.In != "" {
		v = r.In.In(v).First()
	}
	c.agrees("answer", v, r.ID, r.Payload)
}

// answersBack tries the output of a call of a pair, which is known by each of the
// members that pair.
func (d *Items) answersBack(c *checker, p *ItemPair) {
	keys := d.ID
	if p.CallID != "" && slices.Contains(p.Outputs, p.answer()) {
		keys = append(slices.Clone(keys), p.CallID)
	}
	for _, key := range keys {
		call := source.NewValue([]byte(object([]Field{{d.Type, quoted(p.Call)}, {key, quoted(triedID)}, {d.Name, quoted(triedName)}})), 0)
		fields := d.WriteResult(NewResult{Kind: p.Kind, ID: quoted(triedID), Name: quoted(triedName), Text: quoted(triedText), Element: call})
		if fields == nil {
			return // none is written
		}
		v := source.NewValue([]byte(object(fields)), 0)
		q, isCall := d.pair(v.Get(d.Type))
		if q == nil || isCall || !d.id(v, q, false).Is(triedID) {
			c.say("answer", fmt.Sprintf("%s.answer is not read back: %q is not one of the outputs", c.where(), v.Get(d.Type).Str()))
			return
		}
	}
}

// readsBack tries what is set in a record whose call is to be answered, for each of
// its states.
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
			at.say("answer", at.where()+".answer is not read back: "+why)
		}
		if at != c {
			at.merge()
		} else if s.Answer == nil && len(c.found) > 0 {
			return // it is the same for the other states
		}
	}
}

// leaves says what is wrong with a record of a state once it has been set to its
// answer, "" for nothing.
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
		return "" // what is no JSON is told as such
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
		return fmt.Sprintf(`the call has failed, and failure (%q) does not lead to "$text"`, rs.Failure)
	case said == nil && there(member(rs.State, v)):
		return fmt.Sprintf("it writes %s at %q, which is none of states", rs.State.In(v).Raw(), rs.State)
	case now != transcript.CallDone && now != transcript.CallFailed && !rs.Answered:
		return fmt.Sprintf("the call stays %s, by what it says at %q", said.Written, rs.State)
	}
	return ""
}

// put sets what the first alternative of a path leads to, and returns false for a path
// through a list.
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
