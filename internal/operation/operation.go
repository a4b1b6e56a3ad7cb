// Package operation defines the operations that rules request as repairs. It has only types.
// Package repair turns operations into bytes.
package operation

import (
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Class says what a repair may cost.
type Class uint8

// The classes.
const (
	// Safe loses nothing and claims nothing.
	Safe Class = iota
	// Additive removes nothing and adds a clearly labelled placeholder.
	Additive
	// Unsafe removes recorded content, chooses between two values, or changes what a turn
	// seems to have seen.
	Unsafe
)

// String returns the class's name.
func (c Class) String() string { return [...]string{"safe", "additive", "unsafe"}[c] }

// An Operation is one repair that a rule requests. Several findings may share one operation.
type Operation struct {
	// Title describes the operation, as a command.
	Title string
	// Do is the action to carry out.
	Do Action
	// ID numbers the operations of a report, from 1.
	ID int32
	// Turn is the turn of the operation, -1 if it has none.
	Turn int32
	// Class is the lowest class that the rule assigns. The content that the repair really
	// removes or adds may raise it.
	Class Class
	// ByStrategy says that the operation is carried out only if the user requests it by
	// --strategy.
	ByStrategy bool
	// Else is the operation to carry out if this one cannot be, nil if there is none. It has
	// the same turn and class.
	Else *Operation
}

// Instead makes the operation the one in Else.
func (o *Operation) Instead() { o.Title, o.Do, o.Else = o.Else.Title, o.Else.Do, o.Else.Else }

// An Action is one of the types below. Its indices refer to the conversation of the finding,
// its spans to the source.
type Action interface {
	// Kind returns the action's name in reports.
	Kind() Kind
}

// A Kind is the name of a type of action in reports.
type Kind string

// The actions. The actions that arrange the results of a turn (InsertResults, MoveResults,
// MergeResults, ReorderResults and MoveBlock of a result) are laid out together.
type (
	// InsertResults inserts a result for each of Calls: a placeholder, or what another record
	// repeats. Recorded is the number of the latter.
	InsertResults struct {
		Calls    []int32
		Recorded int
	}
	// SetState updates the record of each of Calls to say that a placeholder answers it.
	SetState struct{ Calls []int32 }
	// MoveResults moves each of Results to its call.
	MoveResults struct{ Results []int32 }
	// MergeResults moves Results into the turn's first message with results.
	MergeResults struct{ Results []int32 }
	// ReorderResults moves the results of the turn before other content and, if InOrder is
	// set, sorts them by call.
	ReorderResults struct{ InOrder bool }
	// CallsLast moves the calls of Message after its other blocks.
	CallsLast struct{ Message int32 }
	// SplitMessage separates the results of Message from its other blocks.
	SplitMessage struct{ Message int32 }
	// SplitResults replaces Message, which has a list of results in the shape of another
	// program, by a message for each of them.
	SplitResults struct{ Message int32 }
	// MoveBlock moves Block to a message with the right role.
	MoveBlock struct{ Block int32 }

	// DropResults drops each of Results. CopyOf is the result of which each is an exact copy,
	// -1 if they are not copies.
	DropResults struct {
		Results []int32
		CopyOf  int32
	}
	// DropCalls drops each of Calls with its results. CopyOf is the call of which each is an
	// exact copy, -1 if they are not copies; the results of a copy stay.
	DropCalls struct {
		Calls  []int32
		CopyOf int32
	}
	// DropTurn drops the turn with all its results.
	DropTurn struct{}
	// DropBlocks drops each of Blocks.
	DropBlocks struct{ Blocks []int32 }
	// DropMessages drops each of Messages. CopyOf is the message of which each is an exact
	// copy, -1 if they are not copies.
	DropMessages struct {
		Messages []int32
		CopyOf   int32
	}
	// DropElement drops the element at At, which is among the messages but is not one.
	DropElement struct{ At source.Span }
	// Texts turns each of Calls and each of Results into text that is labelled with tool and
	// id.
	Texts struct{ Calls, Results []int32 }
	// ImageTexts replaces each of the blocks at At, which hold images, by a block with the text
	// at the same index of Texts.
	ImageTexts struct {
		At    []source.Span
		Texts []string
	}
	// MergeMessage joins Message with the one before it.
	MergeMessage struct{ Message int32 }

	// RelinkResult makes Result answer Call.
	RelinkResult struct{ Result, Call int32 }
	// RenamePairs gives each of Calls and its results a unique id.
	RenamePairs struct{ Calls []int32 }
	// RenameID replaces every use of the id of Call, or of Result if Call is -1, by an id
	// that the provider accepts.
	RenameID struct{ Call, Result int32 }
	// MintIDs gives each of Calls and the result at the same index of Results a common id, if
	// they have none. A result of -1 means no result.
	MintIDs struct{ Calls, Results []int32 }
	// Retag gives Result the type that matches Call.
	Retag struct{ Result, Call int32 }

	// AddMember adds the field Member, with the JSON text Text, to the element at At.
	AddMember struct {
		At     source.Span
		Member transcript.Member
		Text   string
	}
	// SetValue replaces the value at At by the JSON text Text. If the value is the name of a
	// call, Call is that call, and copies of the name change too; otherwise Call is -1.
	SetValue struct {
		At   source.Span
		Text string
		Call int32
	}
	// RemoveMember removes the field of Message whose value is at At.
	RemoveMember struct {
		Message int32
		At      source.Span
	}
	// RemoveNulls removes the fields that are null at the offsets At from the start of List, an
	// array or a string that holds one. The offsets are in the text of the string, and in order.
	RemoveNulls struct {
		List source.Span
		At   []int64
	}
	// StripReasoning removes the values at Drop, which hold the reasoning of Message or tie it to
	// reasoning, and Message itself if it then says nothing. It replaces the value at the span of
	// each of Set by its text. Message is -1 if they are in Aside, an element among the messages that
	// is none.
	StripReasoning struct {
		Message int32
		Aside   source.Span
		Drop    []source.Span
		Set     []Setting
	}
	// TrimText cuts the white space at the end of the last text of Message.
	TrimText struct{ Message int32 }

	// DropRecord drops the record at At. CopyOf is the record of which it is an exact copy
	// except for its timestamp, zero if it is not a copy. Torn says that the client leaves the
	// record out because it is cut off: what is complete in it must be in other records, or the
	// repair is unsafe. Last says that it is the last record of a log, and that the client would
	// append to what stays.
	DropRecord struct {
		At, CopyOf source.Span
		Torn, Last bool
	}
	// DropBytes drops the bytes at At. Torn is as in DropRecord.
	DropBytes struct {
		At   source.Span
		Torn bool
	}
	// EscapeNewlines escapes line feeds inside the strings of the record at At.
	EscapeNewlines struct{ At source.Span }
	// ReplaceBytes replaces bytes that are not valid text in the record at At.
	ReplaceBytes struct{ At source.Span }
	// RelinkRecord changes the parent at At of a record to the record with the id at To or, if To
	// is zero, to the previous record in its scope.
	RelinkRecord struct{ At, To source.Span }
	// KeepCall has a compaction keep the record of Call and what follows it. At is where the
	// compaction names the first record that it keeps.
	KeepCall struct {
		At   source.Span
		Call int32
	}
	// MoveRecord moves the record at At behind the record of a message, in the file and in the
	// chain of records.
	MoveRecord struct {
		At     source.Span
		Behind int32
	}
	// Renumber renumbers the record with the ordinal at At, and the records after it, so that
	// they continue from the record before.
	Renumber struct{ At source.Span }
)

// A Setting is a value at a span, and the JSON text that replaces it.
type Setting struct {
	At   source.Span
	Text string
}

// Kind implements Action.
func (*InsertResults) Kind() Kind { return "insert-result" }

// Kind implements Action.
func (*SetState) Kind() Kind { return "set-state" }

// Kind implements Action.
func (*MoveResults) Kind() Kind { return "move-result" }

// Kind implements Action.
func (*MergeResults) Kind() Kind { return "merge-results" }

// Kind implements Action.
func (*ReorderResults) Kind() Kind { return "reorder-blocks" }

// Kind implements Action.
func (*CallsLast) Kind() Kind { return "reorder-blocks" }

// Kind implements Action.
func (*SplitMessage) Kind() Kind { return "split-message" }

// Kind implements Action.
func (*SplitResults) Kind() Kind { return "split-results" }

// Kind implements Action.
func (*MoveBlock) Kind() Kind { return "move-block" }

// Kind implements Action.
func (*DropResults) Kind() Kind { return "drop-result" }

// Kind implements Action.
func (*DropCalls) Kind() Kind { return "drop-call" }

// Kind implements Action.
func (*DropTurn) Kind() Kind { return "drop-turn" }

// Kind implements Action.
func (*DropBlocks) Kind() Kind { return "drop-block" }

// Kind implements Action.
func (*DropMessages) Kind() Kind { return "drop-message" }

// Kind implements Action.
func (*DropElement) Kind() Kind { return "drop-message" }

// Kind implements Action.
func (*Texts) Kind() Kind { return "text-result" }

// Kind implements Action.
func (*ImageTexts) Kind() Kind { return "text-image" }

// Kind implements Action.
func (*MergeMessage) Kind() Kind { return "merge-messages" }

// Kind implements Action.
func (*RelinkResult) Kind() Kind { return "relink-result" }

// Kind implements Action.
func (*RenamePairs) Kind() Kind { return "rename-id" }

// Kind implements Action.
func (*RenameID) Kind() Kind { return "rename-id" }

// Kind implements Action.
func (*MintIDs) Kind() Kind { return "mint-id" }

// Kind implements Action.
func (*Retag) Kind() Kind { return "retag" }

// Kind implements Action.
func (*AddMember) Kind() Kind { return "add-member" }

// Kind implements Action.
func (*SetValue) Kind() Kind { return "set-value" }

// Kind implements Action.
func (*RemoveMember) Kind() Kind { return "remove-member" }

// Kind implements Action.
func (*RemoveNulls) Kind() Kind { return "remove-member" }

// Kind implements Action.
func (*StripReasoning) Kind() Kind { return "strip-reasoning" }

// Kind implements Action.
func (*TrimText) Kind() Kind { return "trim-text" }

// Kind implements Action.
func (*DropRecord) Kind() Kind { return "drop-record" }

// Kind implements Action.
func (*DropBytes) Kind() Kind { return "drop-bytes" }

// Kind implements Action.
func (*EscapeNewlines) Kind() Kind { return "escape-newline" }

// Kind implements Action.
func (*ReplaceBytes) Kind() Kind { return "replace-bytes" }

// Kind implements Action.
func (*RelinkRecord) Kind() Kind { return "relink" }

// Kind implements Action.
func (*KeepCall) Kind() Kind { return "relink" }

// Kind implements Action.
func (*MoveRecord) Kind() Kind { return "move-record" }

// Kind implements Action.
func (*Renumber) Kind() Kind { return "renumber" }
