package dialect

import (
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// A Log describes the records of a session log. Most records wrap one message.
// Fields of type Lens are paths from the record; strings are keys of the record.
type Log struct {
	// Type is the type of a record, and Subtype its subtype.
	Type    Lens `row:"needed"`
	Subtype Lens
	// Speaks lists the types of records that hold a message at Payload. An empty
	// Payload means the record itself.
	Speaks  []string `row:"needed"`
	Payload Lens
	// Kinds lists the types of other records that identify the log. A "*" at the
	// end matches any ending. Header is the type of the first record, which has one
	// of the fields in HeaderHas.
	Kinds     []string
	Header    string
	HeaderHas []string
	// Evidence lists keys that only records of this log have.
	Evidence []string
	// Lacks lists keys that records of this log never have.
	Lacks []string `toml:"unlike"`
	// Bare is set if messages may also have no envelope.
	Bare bool

	ID     string // the record's id
	Parent string // the id of the record before it
	Time   string
	// ShortIDs is set if ids are eight hex digits instead of a UUID.
	ShortIDs bool
	// Straight is set if each record names the record that was written before it, except
	// where the user goes back. So the position of a record shows its parent if that is lost.
	Straight bool
	// Closes lists the types of records whose messages of the model end the turn before them: the
	// agent does not send results of that turn that are behind such a record. Other agents find
	// results by the id of the call, wherever they are.
	Closes []string
	// Numbered lists keys of fields that count records. A log with one of them is
	// only checked.
	Numbered []string
	// Ordinal is the key of a field that numbers the records without gaps. Such a
	// log is only ever appended to. OnResume says what the agent does about a call
	// without a result when it resumes the log, as a clause without a full stop.
	Ordinal, OnResume string

	TurnAlt Lens // the value that records of one message share, if the message has no id
	Side    Lens // true on records of a subagent
	Agent   Lens // the id of the subagent
	Meta    Lens // true on messages that no human wrote
	Summary Lens // true on the summary after a compaction
	Hidden  Lens // true on messages that are never sent, and on summaries, which are
	// Interrupt is the prefix of the text that the agent writes when a human
	// interrupts a turn. Aborts lists the types and subtypes of records for such an
	// interruption.
	Interrupt string
	Aborts    []string

	// Boundary lists the types and subtypes of records that mark a compaction,
	// unless Success is false in them. Preserved leads to the ids of records that
	// stay in the context, KeptFrom to the id of the first one, KeptIndex to its
	// index among the records, from 0. History leads to the messages that replace
	// the earlier ones.
	Boundary                                []string
	Success, Preserved, KeptFrom, KeptIndex Lens
	History                                 Lens
	// Notes are the records without a message whose text the client sends, such as summaries.
	Notes []Noted `toml:"-"`
	// Head and Tail lead, in a record at Boundary, to the ids of the first and the last record of
	// those that stay in the context: the client goes from the last one from parent to parent. One
	// built-in dialect has them. They are no hook, since all paths are read in one pass.
	Head Lens `toml:"-"`
	Tail Lens `toml:"-"`
	// Rollback lists the types and subtypes of records that take back turns. Turns
	// leads to their number; one if it is absent.
	Rollback []string
	Turns    Lens

	// ResultType is the type of records with results, if it differs from the type
	// of records with calls.
	ResultType string
	// ResultCopy is the key of a copy of a result's content beside the message.
	// ResultSource is the key of the id of its call's record. Envelope lists the
	// keys that an inserted record copies from the call's record, and Copied the
	// paths of deeper values that it copies.
	ResultCopy, ResultSource string
	Envelope                 []string
	Copied                   []Lens
	// Echoes are the records that repeat results beside the messages. Two built-in dialects
	// have them.
	Echoes []Echo `toml:"-"`
	// Follows lists the types of records that may be between a call and its result.
	Follows []string
	// Refs lists the keys of references to records other than the parent. CallRefs
	// are paths to references to calls.
	Refs     []string
	CallRefs []Lens

	Hooks LogHooks `toml:"-"`
}

// LogHooks are what the file of one dialect adds to its log. Each may be nil.
type LogHooks struct {
	// Once returns an id with which no two records are the same, in a log whose records have no
	// ids of their own.
	Once func(record source.Value) source.Value
	// Progress reports whether a record is about the progress of a call. Newer versions of the
	// agent do not load such records.
	Progress func(record source.Value) bool
	// Edit returns how a record changes what the client sends of an earlier one, on whose branch
	// it is. The last one about a record counts.
	Edit func(record source.Value) (_ RecordEdit, is bool)
	// Sessions returns the names of the session in the header, and Session the one that an echo
	// is about. Without them, all echoes are about the session of the log.
	Sessions func(header source.Value) []source.Value
	Session  func(echo source.Value) source.Value
	// TextRecord returns the type of a record for a result that becomes text, and the key of the
	// message in it, if it is not that of the result.
	TextRecord func() (typ, payload string)
}

// A RecordEdit changes what the client sends of a record.
type RecordEdit struct {
	Target source.Value // its id
	// With replaces its message: null if it is left out. Calls are the ids of the calls in it, as
	// JSON.
	With  source.Value
	Calls []string
}

// Noted says which records have a text that the client sends: their type, and where the text is.
type Noted struct {
	Type string
	Text Lens
}

// Message returns the value of a record that may be a message. It is the first
// alternative of Payload that leads to an object, because other programs use the
// same key for a text.
func (l *Log) Message(record source.Value) source.Value {
	var other source.Value
	for alt := range l.Payload.Alternatives() {
		got := alt.In(record)
		if got.Kind() == source.Object {
			return got
		}
		if !other.Exists() {
			other = got
		}
	}
	return other
}

// Knows reports whether the log has records of this type that hold no message.
func (l *Log) Knows(typ source.Value) bool {
	text := typ.Text()
	return slices.ContainsFunc(l.Kinds, func(kind string) bool {
		prefix, all := strings.CutSuffix(kind, "*")
		return string(text) == kind || all && len(text) >= len(prefix) && string(text[:len(prefix)]) == prefix
	})
}
