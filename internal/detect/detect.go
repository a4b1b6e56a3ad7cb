// Package detect decides what a file is: its framing, its container, its dialect, and
// where in a document the conversations are, or why the file is not a transcript. There
// is one verdict per file. Package container reads the rest of the file.
package detect

import (
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

// Options control how a file is read.
type Options struct {
	// Dialects are the dialects that a file may be written in; nil means the built-in
	// ones.
	Dialects *dialect.Set
	// Dialect skips dialect detection; nil means that the file decides.
	Dialect *dialect.Dialect
	// Request says that the file is one request to the API of Dialect, which has a Body.
	// Nothing is searched then.
	Request bool
}

// A Decision says what a file is and why.
type Decision struct {
	Framing   source.Framing
	Container string
	Dialect   string
	// Pointer is the JSON pointer to the first conversation, "" for the root. For a log
	// it is the field that holds the message.
	Pointer string
	// Wrap is the path from an array element or a record to the message or log record
	// inside it, such as "message". It is empty if nothing wraps them.
	Wrap string
	// Looks is set for a file that is not a transcript, or not certainly one, although it
	// contains calls written as in transcripts.
	Looks bool
	// Unknown is set for a file without messages whose objects may be messages in a format that
	// nobody has described.
	Unknown bool
	// Key is what decided the dialect: `tool_calls[0].function at byte 120`.
	Key string
	// Sure is false for a JSON file without any sign that only transcripts have.
	Sure bool
	// Marked says that something is written as only the dialect does, or a few that write it alike.
	Marked    bool
	RunnersUp []Candidate
}

// ErrNotTranscript is the error for a file that can be read but contains no transcript.
type ErrNotTranscript struct {
	// Reason says what the file is instead. Discreet says the same without names of
	// fields from the file.
	Reason, Discreet string
}

// Error implements error.
func (e *ErrNotTranscript) Error() string { return "not a transcript: " + e.Reason }

// The names of containers in reports.
const (
	ContainerDocument      = "json-messages"       // a JSON document with one messages array
	ContainerDocuments     = "json-conversations"  // a JSON document with several messages arrays
	ContainerLog           = "json-log"            // a JSON document with an array of log records
	ContainerLines         = "jsonl-messages"      // one message per line
	ContainerConversations = "jsonl-conversations" // one conversation per line
	ContainerLinkedLog     = "linked-log"          // a log whose records name their parents
	ContainerEventLog      = "event-log"           // a log without links
	ContainerFoldingLog    = "folding-log"         // a log whose later records replace or change earlier ones
	ContainerYAML          = "yaml-documents"      // conversations in the documents of a YAML file
	ContainerEmpty         = "empty"
)

// headRecords and headBytes are how much a survey reads. If that does not decide whether
// the file is a transcript, the survey reads on until something does, up to mostHead
// bytes. An agent may write many bookkeeping records before the first message.
const (
	headRecords = 256
	headBytes   = 4 << 20
	mostHead    = 64 << 20
)

// A Verdict is the result of a survey.
type Verdict struct {
	Decision
	Class    Class
	reason   string   // why it is not a transcript
	discreet string   // reason without names of fields, if that differs
	foreign  bool     // it is in a format that is known to have nothing to pair
	Into     []string // the path from a record to the message in it
	// Else are paths for records that have nothing at Into, because input and output may
	// have different keys.
	Else     [][]string
	Log      *dialect.Dialect
	Document source.Record // the record of a JSON document
	Places   []Place       // the conversations in the document
	YAML     *YAML         // the documents of a YAML file
}
