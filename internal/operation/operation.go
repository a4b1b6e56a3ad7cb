// Package operation is the vocabulary of repairs: what a rule asks for. It
// holds types only; how an operation becomes bytes is the business of package
// repair.
package operation

import "github.com/toolguard/toolguard/internal/transcript"

// A Class says what a repair may cost.
type Class uint8

// The classes.
const (
	// Safe loses nothing and claims nothing.
	Safe Class = iota
	// Additive removes nothing and adds a clearly labelled placeholder.
	Additive
	// Unsafe removes recorded content, chooses between two values, or changes
	// what a turn seems to have seen.
	Unsafe
)

// String returns the class's name.
func (c Class) String() string { return [...]string{"safe", "additive", "unsafe"}[c] }

// A Kind is what an operation does.
type Kind string

// The kinds of operation.
const (
	InsertResult  Kind = "insert-result"  // a placeholder result for each of Calls
	SetState      Kind = "set-state"      // the record of each of Calls says that it was answered by a placeholder
	MoveResult    Kind = "move-result"    // each of Results to its call
	DropResult    Kind = "drop-result"    // each of Results
	DropCall      Kind = "drop-call"      // each of Calls, with what answered it
	DropTurn      Kind = "drop-turn"      // the turn with all its results
	TextResult    Kind = "text-result"    // each of Results becomes text
	MergeResults  Kind = "merge-results"  // the turn's results into one message
	ReorderBlocks Kind = "reorder-blocks" // results first, or calls last, in their message
	SplitMessage  Kind = "split-message"  // results apart from other content
	RelinkResult  Kind = "relink-result"  // each of Results answers the call beside it in Calls
	RenameID      Kind = "rename-id"      // on both sides and in every copy
	MintID        Kind = "mint-id"        // where there is none
	Retag         Kind = "retag"          // the type of a result
	AddMember     Kind = "add-member"     // Member of the element at Span becomes Text
	TrimText      Kind = "trim-text"      // white space at the end of each of Messages
	SetValue      Kind = "set-value"      // Span becomes Text
	RemoveMember  Kind = "remove-member"  // the member whose value is at Span
	DropBlock     Kind = "drop-block"     // each of Blocks
	DropMessage   Kind = "drop-message"   // each of Messages
	MoveBlock     Kind = "move-block"     // each of Blocks to a message of the right role
	Merge         Kind = "merge-messages" // each of Messages with the one before it
	DropRecord    Kind = "drop-record"    // the record at Span
	DropBytes     Kind = "drop-bytes"     // the bytes at Span
	EscapeNewline Kind = "escape-newline" // line feeds inside strings of the record at Span
	ReplaceBytes  Kind = "replace-bytes"  // what is no text in the record at Span
	Relink        Kind = "relink"         // the parent of the record at Span
)

// An Operation is one repair that a rule asks for. Indices point into the
// conversation that the finding is about; several findings may share one
// operation.
type Operation struct {
	// ID names the operation within a report: op1, op2, …
	ID    string
	Kind  Kind
	Class Class
	// Title says what is done, as a verb phrase.
	Title string
	// All is set on a rename that concerns every use of the id, and not one
	// pair.
	All bool
	// ByStrategy is set when the operation is carried out only if the user
	// asked for it by --strategy.
	ByStrategy bool

	Conversation int   // index in the file
	Turn         int32 // the turn that is laid out anew, -1 for none
	Calls        []int32
	Results      []int32
	Messages     []int32
	Blocks       []int32
	Record       int32
	Span         transcript.Span
	Text         string
	Member       transcript.Member
}
