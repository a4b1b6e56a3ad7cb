package detect

import (
	"slices"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// A head is the fields of a record, read once for all logs that the record could belong
// to.
type head struct {
	of     source.Value
	n      int
	names  [24][]byte
	val    [24]source.Value
	lenses [4]ledLens // that were followed first
	led    int

	answers  [6]answer // of the tables that were asked first
	answered int
	any      answer // of all tables, from the last call of claimOf
	dialect  *dialect.Dialect
}

// An answer is a table's answer about a value in a record. It is kept because several
// logs wrap the same messages.
type answer struct {
	table *evidence.Table
	at    source.Span
	evidence.Weight
	sign evidence.Sign
}

// claim is Claim of a dialect for a value in the record.
func (h *head) claim(set *dialect.Set, d *dialect.Dialect, v source.Value) (evidence.Weight, evidence.Sign) {
	for i := range h.answered {
		if a := &h.answers[i]; a.table == d.Evidence && a.at == v.Span() {
			return a.Weight, a.sign
		}
	}
	claim, sign := set.Claim(d, v)
	if h.answered < len(h.answers) {
		h.answers[h.answered] = answer{d.Evidence, v.Span(), claim, sign}
		h.answered++
	}
	return claim, sign
}

// claimOf is dialect.Set.ClaimOf for a value in the record.
func (h *head) claimOf(set *dialect.Set, v source.Value) (*dialect.Dialect, evidence.Weight, evidence.Sign) {
	if !v.Exists() || h.any.at != v.Span() {
		var claim evidence.Weight
		var sign evidence.Sign
		h.dialect, claim, sign = set.ClaimOf(v)
		h.any = answer{at: v.Span(), Weight: claim, sign: sign}
	}
	return h.dialect, h.any.Weight, h.any.sign
}

func (h *head) read(v source.Value) {
	h.of, h.n, h.answered, h.any = v, 0, 0, answer{}
	h.led = 0
	for k, val := range v.Members() {
		h.names[h.n], h.val[h.n] = k.Text(), val
		if h.n++; h.n == len(h.names) {
			break
		}
	}
}

// get returns the field with the given key.
func (h *head) get(key string) source.Value {
	for i := range h.n {
		if string(h.names[i]) == key {
			return h.val[i]
		}
	}
	return source.Value{}
}

// A ledLens is a lens and the value that it leads to.
type ledLens struct {
	lens dialect.Lens
	to   source.Value
}

// in follows a lens. It remembers the first ones, because most logs have their type in the
// same fields.
func (h *head) in(l dialect.Lens) source.Value {
	for i := range h.led {
		if h.lenses[i].lens == l {
			return h.lenses[i].to
		}
	}
	to := l.From(h.get, h.of)
	if h.led < len(h.lenses) {
		h.lenses[h.led] = ledLens{l, to}
		h.led++
	}
	return to
}

// has returns the first of the keys with a value that is not null, and how many of the
// keys are present. A log writes the fields of its records even if they are null.
func (h *head) has(keys []string) (first string, n int) {
	for _, key := range keys {
		v := h.get(key)
		if v.Exists() {
			n++
		}
		if first == "" && v.Exists() && v.Kind() != source.Null {
			first = key
		}
	}
	return first, n
}

// filled reports whether one of the keys has a value that is not null.
func filled(h *head, keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		v := h.get(key)
		return v.Exists() && v.Kind() != source.Null
	})
}

// A recordClaim says with what certainty a value is a record of a log.
type recordClaim struct {
	evidence.Weight
	sign   recordSign
	header bool // it begins the log
	speaks bool // it wraps a message
	owned  int  // the number of fields for the log minus the number against it
	// like is set if the value could also be a message without an envelope. It is then a
	// record only among other records.
	like bool
}

// A recordSign describes how a record was recognized: by its fields or by its message.
type recordSign struct {
	text               string // the whole sign, if not empty
	name, payload, own string // keys
	kind               string // the value of the first key
	message            evidence.Sign
	told               bool // recognized by the message
}

// String describes the sign: `type and message with type "tool_use"`.
func (s recordSign) String() string {
	switch {
	case s.text != "":
		return s.text
	case s.kind != "":
		return s.name + " " + s.kind
	case s.own != "" && s.payload != "":
		return s.name + ", " + s.payload + " and " + s.own
	case s.own != "":
		return s.name + " and " + s.own
	case s.payload != "" && s.told:
		return s.name + " and " + s.payload + " with " + s.message.String()
	case s.payload != "":
		return s.name + " and " + s.payload
	case s.told:
		return s.message.String()
	}
	return s.name
}

// claimRecord says with what certainty a value with a type is a record of a dialect's log. It is
// decisive if the record begins such a log, or if it wraps a message and either only this
// dialect writes the message or only this log has one of the fields.
func claimRecord(set *dialect.Set, d *dialect.Dialect, h *head, v source.Value) recordClaim {
	l := d.Log
	typ := h.in(l.Type)
	speaks := slices.ContainsFunc(l.Speaks, typ.Is)
	marked := d.HasMarks(v)
	if !speaks && !marked && l.Kinds != nil && !typ.Is(l.Header) && !l.Knows(typ) {
		return recordClaim{} // other logs have other types
	}
	own, n := h.has(l.Evidence)
	_, lacked := h.has(l.Lacks)
	switch {
	case marked && speaks:
		return recordClaim{Weight: evidence.Decisive, sign: recordSign{text: d.MarksText()}, speaks: true}
	case marked:
		return recordClaim{Weight: evidence.Plain, sign: recordSign{text: d.MarksText()}}
	case d.UserDefined() && !set.Knows(d) && speaks:
		return recordClaim{}
	}
	name := l.Type.Key()
	if speaks {
		payload := l.Message(h.get, v)
		claim, sign := evidence.None, evidence.Sign{}
		if payload.Kind() == source.Object {
			claim, sign = h.claim(set, d, payload)
		}
		c := recordClaim{Weight: claim, sign: recordSign{name: name, payload: string(l.Payload)}, speaks: true, owned: n - lacked}
		switch {
		case claim == evidence.Decisive && l.Payload == "":
			c.sign.message, c.sign.told = sign, true
		case own != "" && claim != evidence.None:
			c.Weight = evidence.Decisive
			c.sign.own = own
		case claim == evidence.Decisive:
			c.sign.message, c.sign.told = sign, true
		case claim == evidence.Plain && l.Payload == "":
			c.Weight, c.like = evidence.None, true
		case (own != "" || evidence.HasToolBlocks(payload)) && d.Roleless(payload, typ):
			c.Weight = evidence.Decisive
			c.sign.own = own
		case claim == evidence.None && own != "" && l.Payload != "":
			// A message of another dialect in an envelope of this one.
			if _, other, _ := h.claimOf(set, payload); other != evidence.None {
				c.Weight, c.sign.own = evidence.Plain, own
			}
		}
		return c
	}
	switch {
	case l.Header != "" && typ.Is(l.Header) && filled(h, l.HeaderHas):
		return recordClaim{Weight: evidence.Decisive, sign: recordSign{name: name, kind: string(typ.Raw())}, header: true}
	case l.Knows(typ):
		return recordClaim{Weight: evidence.Plain, sign: recordSign{name: name, kind: string(typ.Raw())}}
	case l.Kinds == nil && own != "" && !h.in(l.Payload).Exists():
		return recordClaim{Weight: evidence.Plain, sign: recordSign{name: name, own: own}}
	}
	return recordClaim{}
}

// yields reports whether a value is a message rather than a record. That is so if it
// holds no message as a record, because keys in common with a log are not enough, or if
// only a dialect without the log writes it.
func (c recordClaim) yields(set *dialect.Set, v source.Value) bool {
	if c.header || c.Weight == evidence.Decisive {
		return false
	}
	_, claim, _ := set.ClaimOf(v)
	if c.speaks {
		return claim == evidence.Decisive
	}
	return isMessage(claim, v)
}
