package repair

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Labels of calls and results that become text.
const (
	callLabel   = "[toolguard] Call to {tool} (id {id}), kept as text:"
	resultLabel = "[toolguard] Result of {tool} (id {id}), kept as text:"
	emptyLabel  = "[toolguard] Result of {tool} (id {id}), which was empty."
)

// label returns a label with the name and the id of a call filled in, as a JSON string.
func label(text string, name, id transcript.Token) string {
	name.Raw, id.Raw = cmp.Or(name.Raw, `"an unknown tool"`), cmp.Or(id.Raw, `"unknown"`)
	return source.Quote(filledIn(text, name, id))
}

// texts turns calls and results into text, all or none.
func (d *draft) texts(calls, results []int32) bool {
	said := map[int32]string{} // by message: the text that is added to it
	for _, c := range calls {
		if !d.textCall(c, said) {
			return false
		}
	}
	for _, r := range results {
		// A record that is both a call and its result becomes one text.
		if c := d.Conv.OwnCall(r); c >= 0 {
			if !slices.Contains(calls, c) && !d.textCall(c, said) {
				return false
			}
		} else if !d.textResult(r) {
			return false
		}
	}
	for m, text := range said {
		put(&d.kept, m, true)
		if !d.say(m, text, false) {
			return false
		}
	}
	return len(calls)+len(results) > 0
}

// textCall turns a call into text.
func (d *draft) textCall(c int32, said map[int32]string) bool {
	call := &d.Conv.Calls[c]
	element := d.Conv.Blocks[call.Block].Span
	t := d.driver.WriteText(dialect.NewText{
		Call: true, Label: label(callLabel, call.Name, call.ID), Content: d.at(call.Args),
		Element: d.at(element), Message: d.value(call.Message),
	})
	if d.foreign(call.Message) || !d.callRemovable(c) {
		return false
	}
	if t.Said == "" {
		d.dropCopies(c)
		return d.write(call.Block, &t)
	}
	said[call.Message] = joined(said[call.Message], t.Said)
	d.takeCall(c)
	return true
}

// textResult turns a result into text.
func (d *draft) textResult(r int32) bool {
	res := &d.Conv.Results[r]
	if d.foreign(res.Message) {
		return false
	}
	name := res.Name
	if c := d.Pairing.Results[r].Call; !name.Present() && c >= 0 {
		name = d.Conv.Calls[c].Name
	}
	d.keysOf()
	element, mark := d.at(d.Conv.Blocks[res.Block].Span), d.Dialect.Members[transcript.MemberCacheMark].Key()
	said := []source.Span{res.ID.Span, res.Name.Span}
	for _, a := range d.Conv.Aliases {
		if a.Result == r {
			said = append(said, a.ID.Span)
		}
	}
	as := dialect.NewText{
		Label: label(resultLabel, name, res.ID), Content: d.at(res.Payload),
		Model:   d.Conv.Messages[res.Message].Role == transcript.RoleAssistant,
		Element: element, Message: d.value(res.Message),
		Said: said, Without: append(slices.Clip(d.boilerplate), mark),
	}
	t := d.driver.WriteText(as)
	if saysOnly(&t, as.Label) {
		as.Label = label(emptyLabel, name, res.ID)
		t = d.driver.WriteText(as)
	}
	// The prompt cache ends at the same place.
	if v := element.Get(mark); mark != "" && v.Exists() && v.Kind() != source.Null {
		for i := range slices.Backward(t.Blocks) {
			if b := &t.Blocks[i]; !b.Kept.Exists() {
				b.Fields = append(b.Fields, dialect.Field{Key: mark, Raw: string(v.Raw())})
				break
			}
		}
	}
	if d.Log != nil && d.results(res.Message) == 1 {
		c := d.log()
		c.texted = append(c.texted, d.standing(res.Message))
	}
	return d.write(res.Block, &t)
}

// saysOnly reports whether a text is a label with nothing behind it.
func saysOnly(t *dialect.Text, label string) bool {
	fields := t.Message
	if len(t.Blocks) == 1 {
		fields = t.Blocks[0].Fields
	}
	return len(t.Blocks) < 2 && slices.ContainsFunc(fields, func(f dialect.Field) bool {
		return f.Raw == label || strings.HasPrefix(f.Raw, "[") && strings.HasSuffix(f.Raw, label+"}]")
	})
}

// imageText replaces a block with an image by a block of text. Such a block is in a message of
// the user or in a result.
func (d *draft) imageText(at source.Span, said string) bool {
	m := d.messageAt(at.Start)
	if m < 0 || d.foreign(m) {
		return false
	}
	keys, mark := d.keys(m), d.Dialect.Members[transcript.MemberCacheMark].Key()
	fields := keys.UserTextFields(source.Quote(said))
	if v := d.at(at).Get(mark); mark != "" && v.Exists() && len(fields) > 0 {
		fields = append(fields, dialect.Field{Key: mark, Raw: string(v.Raw())}) // the prompt cache ends at the same place
	}
	text := d.build(fields)
	if text == nil {
		return false
	}
	d.taken = append(d.taken, at)
	d.set(at, string(render(text, styleOf(d.at(at)), 0)), false)
	return true
}

// write replaces a block by a text.
func (d *draft) write(b int32, t *dialect.Text) bool {
	blk := &d.Conv.Blocks[b]
	msg := d.Conv.Messages[blk.Message].Span()
	d.taken = append(d.taken, blk.Span)
	if t.Blocks == nil {
		text := render(d.build(t.Message), styleOf(d.at(msg)), 0)
		if text != nil && (blk.Span == msg || len(d.blocksOf(blk.Message)) == 1) {
			if d.Log != nil && d.Log.Format.Hooks.TextRecord != nil {
				return d.writeRecord(msg, text)
			}
			d.set(msg, string(text), false)
			return true
		}
		h := d.holder(blk.Message)
		if text == nil || h == nil || !d.takeBlock(b) {
			return false
		}
		h.after(msg, text)
		return true
	}
	l := d.contents(blk.Message)
	if l == nil {
		return false
	}
	l.remove(blk.Span)
	for _, block := range t.Blocks {
		text := block.Kept.Raw()
		if !block.Kept.Exists() {
			text = render(d.build(block.Fields), styleOf(d.at(blk.Span)), 0)
		}
		if text == nil {
			return false
		}
		l.after(blk.Span, text)
	}
	return true
}

// writeRecord replaces a message by one that is in the kind of record for texts.
func (d *draft) writeRecord(msg source.Span, text []byte) bool {
	becomes, payload := d.Log.Format.Hooks.TextRecord()
	record := d.at(d.Log.recordAt(msg.Start))
	typ := d.Log.Format.Type.In(record)
	for k, v := range record.Members() {
		if v.Span() != msg || typ.Kind() != source.String {
			continue
		}
		colon := d.src.text(k.Span().End, msg.Start)
		d.set(source.Span{Start: k.Span().Start, End: msg.End}, source.Quote(payload)+colon+string(text), false)
		d.set(typ.Span(), source.Quote(becomes), true)
		return true
	}
	return false
}
