package container

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// The slots of the envelope fields of a record. The slots of the fields that number
// records follow.
const (
	envType = iota
	envSubtype
	envPayload
	envID
	envParent
	envSide
	envAgent
	envMeta
	envSummary
	envHidden
	envTurnAlt
	envSuccess
	envPreserved
	envHead
	envTail
	envKeptFrom
	envKeptIndex
	envHistory
	envTurns
	envBeside
	envOrdinal
	envNumbered
)

// An envelope reads the fields around the message in a record of a log.
type envelope struct {
	log    *dialect.Log
	lenses *dialect.Lenses
	at     []source.Value // of the last record, indexed by slot
	more   []source.Value // what more was asked for
	keys   transcript.Builder

	counted bool  // the records are numbered
	ordinal int64 // the number of the previous record
}

// newEnvelope returns a reader of a log's envelopes, and of what more is asked for. It passes keys that occur
// twice in an envelope to onKey.
func newEnvelope(l *dialect.Log, onKey func(transcript.KeyFault), more []dialect.Lens) envelope {
	lenses := []dialect.Lens{
		envType: l.Type, envSubtype: l.Subtype, envPayload: l.Payload, envID: dialect.Lens(l.ID), envParent: dialect.Lens(l.Parent),
		envSide: l.Side, envAgent: l.Agent, envMeta: l.Meta, envSummary: l.Summary, envHidden: l.Hidden, envTurnAlt: l.TurnAlt,
		envSuccess: l.Success, envPreserved: l.Preserved, envHead: l.Head, envTail: l.Tail, envKeptFrom: l.KeptFrom, envKeptIndex: l.KeptIndex,
		envHistory: l.History, envTurns: l.Turns, envBeside: dialect.Lens(l.ResultCopy), envOrdinal: dialect.Lens(l.Ordinal),
	}
	for _, key := range l.Numbered {
		lenses = append(lenses, dialect.Lens(key))
	}
	return envelope{log: l, keys: transcript.Builder{OnKeyFault: onKey}, lenses: dialect.NewLenses(append(lenses, more...)...)}
}

// read reads the envelope of a record, which must be an object.
func (n *envelope) read(e element) {
	n.keys.Record = e.record
	n.at = n.lenses.Read(&n.keys, e.val)
	n.at, n.more = n.at[:envNumbered+len(n.log.Numbered)], n.at[envNumbered+len(n.log.Numbered):]
}

// payload returns the part of the record that can be a message.
func (n *envelope) payload(record source.Value) source.Value {
	if n.log.Payload == "" {
		return record
	}
	if got := n.at[envPayload]; got.Kind() == source.Object || !got.Exists() {
		return got
	}
	return n.log.Message(record)
}

// speaks reports whether the record holds a message.
func (n *envelope) speaks(payload source.Value) bool {
	return payload.Kind() == source.Object && slices.ContainsFunc(n.log.Speaks, n.at[envType].Is)
}

// is reports whether the record has one of the types or subtypes.
func (n *envelope) is(kinds []string) bool {
	return slices.ContainsFunc(kinds, n.at[envType].Is) || slices.ContainsFunc(kinds, n.at[envSubtype].Is)
}

// checkOnly says why a log with a field that numbers its records must not be repaired. It
// returns "" if there is no such field.
func (n *envelope) checkOnly() string {
	why := ""
	for i, v := range n.at[envNumbered:] {
		if v.Exists() {
			why = fmt.Sprintf("its records are numbered (%s), so toolguard cannot add or remove any", n.log.Numbered[i])
		}
	}
	return why
}

// count compares the number of a record with that of the previous one. If it does not
// follow, count returns false and the expected number.
func (n *envelope) count() (want int64, follows bool) {
	v := n.at[envOrdinal]
	if !v.Exists() || v.Kind() == source.Null {
		return 0, true
	}
	is, err := strconv.ParseInt(string(v.Raw()), 10, 64)
	want = n.ordinal + 1
	follows = !n.counted || err == nil && is == want
	if n.counted = n.counted || err == nil; err != nil {
		is = want
	}
	n.ordinal = is
	return want, follows
}
