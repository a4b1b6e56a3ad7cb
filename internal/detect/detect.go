// Package detect knows what a file is: how it is framed and in what container,
// which dialect it speaks, at which places of a document a conversation lies, or
// why it is no transcript. One verdict a file. How to read on is the business of
// package container.
package detect

import (
	"cmp"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

// Options steer how a file is read.
type Options struct {
	// Dialects are those that a file may be written in; nil means the built-in
	// ones.
	Dialects *dialect.Set
	// Dialect skips the choice of a dialect; nil means that the file decides.
	Dialect *dialect.Dialect
}

// A Candidate is a dialect that a file could speak.
type Candidate struct {
	Dialect  string
	Decisive int    // elements that only this dialect writes
	Shared   int    // elements that only few dialects write
	Plain    int    // elements that it could have written too
	Hints    int    // requests around messages that are for its API
	Holders  int    // objects around messages that only its files have
	Key      string // the first discriminating key, with where it stands

	at     int64 // where the first decisive element stands
	marked int   // elements that have the marks of a user-defined dialect
}

// before reports whether more speaks for one candidate than for another.
func (a *Candidate) before(b *Candidate) bool {
	n := cmp.Or(
		cmp.Compare(b.marked, a.marked), cmp.Compare(b.Holders, a.Holders), cmp.Compare(b.Decisive, a.Decisive),
		cmp.Compare(b.Hints+b.Shared, a.Hints+a.Shared),
	)
	if n == 0 && a.Decisive > 0 {
		n = cmp.Compare(a.at, b.at) // the first decisive element wins
	}
	return cmp.Or(n, cmp.Compare(b.Plain, a.Plain)) < 0
}

// A Decision says what a file was found to be, and why.
type Decision struct {
	Framing   source.Framing
	Container string
	Dialect   string
	// Pointer is where the first conversation stands: a JSON pointer, "" for
	// the root, and for a log the member that holds the message.
	Pointer string
	// Wrap leads from an element of the list, or from a record, to the message
	// or the log's record that it holds: "message". Empty where none does.
	Wrap string
	// Looks is set for a file that is no transcript, or not surely one, and yet
	// speaks of calls as one would.
	Looks bool
	// Key is what decided the dialect: `tool_calls[0].function at byte 120`.
	Key string
	// Sure is false for a file that is JSON but shows no sign of a transcript
	// that only a transcript would show.
	Sure      bool
	RunnersUp []Candidate
}

// ErrNotTranscript is the error of a file that can be read, but in which no
// transcript is to be found.
type ErrNotTranscript struct {
	// Reason says what it is instead, Discreet the same without names of members
	// that stand in the file.
	Reason, Discreet string
}

// Error implements error.
func (e *ErrNotTranscript) Error() string { return "not a transcript: " + e.Reason }

// Containers, as reports name them.
const (
	ContainerDocument      = "json-messages"       // a JSON document with one list of messages
	ContainerDocuments     = "json-conversations"  // a JSON document with several
	ContainerLog           = "json-log"            // a JSON document with a list of log records
	ContainerLines         = "jsonl-messages"      // a message a line
	ContainerConversations = "jsonl-conversations" // a conversation a line
	ContainerLinkedLog     = "linked-log"          // a log whose records name their parents
	ContainerEventLog      = "event-log"           // a log without links
	ContainerFoldingLog    = "folding-log"         // a log in which a record takes the place of an earlier one, or changes it
	ContainerEmpty         = "empty"
)

// headRecords and headBytes are what a survey looks at. Where nothing in that says
// whether the file is a transcript, it looks on until something does, up to
// mostHead bytes: an agent can keep books for long before anybody says a word.
const (
	headRecords = 256
	headBytes   = 4 << 20
	mostHead    = 64 << 20
)

// A Verdict is what a survey found.
type Verdict struct {
	Decision
	Class    Class
	reason   string   // why it is no transcript
	discreet string   // the same without names of members, where that differs
	foreign  bool     // it is of a format that is known to have nothing to pair
	Into     []string // leads from a record to what speaks in it
	// Else leads to it in records in which nothing is there: what came in and what went
	// out may have names of their own.
	Else     [][]string
	Log      *dialect.Dialect
	Document source.Record // of a file that is one
	Places   []Place       // in the document
}
