package detect

import (
	"slices"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// has returns the first of the keys with a value that is not null, and how many of the
// keys are present. A log writes the fields of its records even if they are null.
func has(record source.Value, keys []string) (first string, n int) {
	for _, key := range keys {
		v := record.Get(key)
		if v.Exists() {
			n++
		}
		if first == "" && v.Exists() && v.Kind() != source.Null {
			first = key
		}
	}
	return first, n
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

// claimRecord says with what certainty a value of the given type is a record of a dialect's log. It is
// decisive if the record begins such a log, or if it wraps a message and either only this
// dialect writes the message or only this log has one of the fields.
func claimRecord(set *dialect.Set, d *dialect.Dialect, v, typ source.Value) recordClaim {
	l := d.Log
	speaks := slices.ContainsFunc(l.Speaks, typ.Is)
	marked := d.HasMarks(v)
	if !speaks && !marked && l.Kinds != nil && !typ.Is(l.Header) && !l.Knows(typ) {
		return recordClaim{} // other logs have other types
	}
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
		own, n := has(v, l.Evidence)
		_, lacked := has(v, l.Lacks)
		payload := l.Message(v)
		claim, sign := evidence.None, evidence.Sign{}
		if payload.Kind() == source.Object {
			claim, sign = set.Claim(d, payload)
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
			if _, other, _ := set.ClaimOf(payload); other != evidence.None {
				c.Weight, c.sign.own = evidence.Plain, own
			}
		}
		return c
	}
	if l.Header != "" && typ.Is(l.Header) {
		if begun, _ := has(v, l.HeaderHas); begun != "" {
			return recordClaim{Weight: evidence.Decisive, sign: recordSign{name: name, kind: string(typ.Raw())}, header: true}
		}
	}
	if l.Knows(typ) {
		return recordClaim{Weight: evidence.Plain, sign: recordSign{name: name, kind: string(typ.Raw())}}
	}
	if l.Kinds == nil && !l.Payload.In(v).Exists() {
		if own, _ := has(v, l.Evidence); own != "" {
			return recordClaim{Weight: evidence.Plain, sign: recordSign{name: name, own: own}}
		}
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
