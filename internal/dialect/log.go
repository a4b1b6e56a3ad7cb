package dialect

import (
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// A Log describes the records of a session log, most of which wrap a message
// each. Paths lead from the record, keys name members of it.
type Log struct {
	// Type says what kind of record it is, Subtype what kind of that kind.
	Type, Subtype Lens
	// Speaks are the types of records that hold a message, at Payload; the
	// empty path is the record itself.
	Speaks  []string
	Payload Lens
	// Kinds are the types of other records by which the log is known: with a
	// "*" at the end all that begin so. Header is the type of the first record,
	// that has one of the members HeaderHas.
	Kinds     []string
	Header    string
	HeaderHas []string
	// Evidence are members that only records of this log have.
	Evidence []string
	// Lacks are members that its records never have.
	Lacks []string `toml:"unlike"`
	// Bare is set when the messages stand without the envelope too.
	Bare bool

	ID     string // the record's id
	Parent string // the id of the record before it
	Time   string
	// ShortIDs is set where ids are eight hex digits instead of a UUID.
	ShortIDs bool
	// Numbered are members that count records: a log with one of them is only
	// checked.
	Numbered []string
	// Ordinal is a member that numbers the records without a gap: a log with it is
	// only ever appended to. OnResume says what the agent does with a call that has
	// no result when it resumes such a log, as a clause without a full stop.
	Ordinal, OnResume string

	TurnAlt Lens // what the records of one message share, where the message has no id
	Side    Lens // true on records of a sub-agent
	Agent   Lens // the sub-agent's id
	Meta    Lens // true on messages that no human typed
	Summary Lens // true on the summary after a compaction
	Hidden  Lens // true on messages that are never sent
	// Interrupt is how the text begins that the agent writes where a human
	// broke off a turn, Aborts are the types and subtypes of records that say so.
	Interrupt string
	Aborts    []string

	// Boundary are the types and subtypes of records that mark a compaction,
	// unless Success is false there. Preserved leads to the ids of records that
	// stay in the context, KeptFrom to the id of the first record that does,
	// KeptIndex to its number among the records, from 0; History to the
	// messages that take the place of those before.
	Boundary                                []string
	Success, Preserved, KeptFrom, KeptIndex Lens
	History                                 Lens
	// Rollback are the types and subtypes of records that take back as many
	// turns as Turns says, one where it says nothing.
	Rollback []string
	Turns    Lens

	// ResultType is the type of a record with results, where it is not that of
	// the call's.
	ResultType string
	// ResultCopy repeats a result's content beside the message, ResultSource
	// names the record of its call. Envelope are the keys of what a record that
	// is inserted takes over from the call's record, Copied what lies deeper.
	ResultCopy, ResultSource string
	Envelope                 []string
	Copied                   []Lens
	// Follows are the types of records that may stand between a call and its
	// result.
	Follows []string
	// Refs are members by which a record names others than its parent, CallRefs
	// those by which it names a call.
	Refs     []string
	CallRefs []Lens
}

// Message returns what can be a message in a record: at Payload the first alternative
// that leads to an object, because other programs use such a name for a text.
func (l *Log) Message(get func(key string) source.Value, record source.Value) source.Value {
	var other source.Value
	for alt := range l.Payload.Alternatives() {
		got := alt.From(get, record)
		if got.Kind() == source.Object {
			return got
		}
		if !other.Exists() {
			other = got
		}
	}
	return other
}

// Knows reports whether records of a type are the log's, though they do not
// speak.
func (l *Log) Knows(typ source.Value) bool {
	for _, kind := range l.Kinds {
		if prefix, all := strings.CutSuffix(kind, "*"); all && strings.HasPrefix(typ.Str(), prefix) || typ.Is(kind) {
			return true
		}
	}
	return false
}
