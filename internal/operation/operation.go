// Package operation is the vocabulary of repairs: what a rule asks for. It
// holds types only; how an operation becomes bytes is the business of package
// repair.
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
	// Unsafe removes recorded content, chooses between two values, or changes
	// what a turn seems to have seen.
	Unsafe
)

// String returns the class's name.
func (c Class) String() string { return [...]string{"safe", "additive", "unsafe"}[c] }

// An Operation is one repair that a rule asks for. Several findings may share
// one operation.
type Operation struct {
	// Title says what is done, as a command.
	Title string
	// Do says what is done.
	Do Action
	// ID counts the operations of a report, from 1.
	ID int32
	// Turn is the turn that the operation belongs to, -1 for none.
	Turn int32
	// Class is what the rule says the repair costs at least. What it really
	// takes out and puts in decides in the end.
	Class Class
	// ByStrategy is set when the operation is carried out only if the user
	// asked for it by --strategy.
	ByStrategy bool
}

// An Action is what an operation does: one of the types below. Indices point
// into the conversation of the finding, spans into the source.
type Action interface {
	// Kind returns the action's name in reports.
	Kind() Kind
}

// A Kind names a type of action in reports.
type Kind string

// The actions. Those of one turn that say where results stand (InsertResults,
// MoveResults, MergeResults, ReorderResults and MoveBlock of a result) are laid
// out together.
type (
	// InsertResults inserts a placeholder result for each of Calls.
	InsertResults struct{ Calls []int32 }
	// SetState makes the record of each of Calls say that a placeholder
	// answered it.
	SetState struct{ Calls []int32 }
	// MoveResults moves each of Results to its call.
	MoveResults struct{ Results []int32 }
	// MergeResults moves Results into the first message with results of the turn.
	MergeResults struct{ Results []int32 }
	// ReorderResults puts the results of the turn before other content and, if
	// InOrder is set, in call order.
	ReorderResults struct{ InOrder bool }
	// CallsLast puts the calls of Message behind its other blocks.
	CallsLast struct{ Message int32 }
	// SplitMessage parts what is no result from the results of Message.
	SplitMessage struct{ Message int32 }
	// MoveBlock moves Block to a message of the right role.
	MoveBlock struct{ Block int32 }

	// DropResults drops each of Results. CopyOf is the result that each of them
	// is an exact copy of, -1 if they are none.
	DropResults struct {
		Results []int32
		CopyOf  int32
	}
	// DropCalls drops each of Calls with what answered it. CopyOf is the call
	// that each of them is an exact copy of, -1 if they are none; what answers
	// a copy stays.
	DropCalls struct {
		Calls  []int32
		CopyOf int32
	}
	// DropTurn drops the turn with all its results.
	DropTurn struct{}
	// DropBlocks drops each of Blocks.
	DropBlocks struct{ Blocks []int32 }
	// DropMessages drops each of Messages. CopyOf is the message that each of
	// them is an exact copy of, -1 if they are none.
	DropMessages struct {
		Messages []int32
		CopyOf   int32
	}
	// Texts turns each of Calls, and each of Results, into text that is
	// labelled with tool and id.
	Texts struct{ Calls, Results []int32 }
	// MergeMessage joins Message with the one before it.
	MergeMessage struct{ Message int32 }

	// RelinkResult makes Result answer Call.
	RelinkResult struct{ Result, Call int32 }
	// RenamePairs gives each of Calls an id of its own, and the results that
	// answer it.
	RenamePairs struct{ Calls []int32 }
	// RenameID gives every use of the id of Call, or of Result where Call is -1,
	// an id that the provider takes.
	RenameID struct{ Call, Result int32 }
	// MintIDs gives each of Calls, and the result of the same index in Results, one
	// id where there is none; a result of -1 is none.
	MintIDs struct{ Calls, Results []int32 }
	// Retag gives Result the type that fits Call.
	Retag struct{ Result, Call int32 }

	// AddMember adds Member, with the JSON text Text, to the element at At.
	AddMember struct {
		At     source.Span
		Member transcript.Member
		Text   string
	}
	// SetValue replaces the value at At by the JSON text Text. Call is the call
	// whose name it is, -1 if it is none: copies of the name change with it.
	SetValue struct {
		At   source.Span
		Text string
		Call int32
	}
	// RemoveMember removes the member of Message whose value is at At.
	RemoveMember struct {
		Message int32
		At      source.Span
	}
	// TrimText cuts the white space at the end of the last text of Message.
	TrimText struct{ Message int32 }

	// DropRecord drops the record at At. CopyOf is the record that it is an
	// exact copy of but for its timestamp, zero if it is none.
	DropRecord struct{ At, CopyOf source.Span }
	// DropBytes drops the bytes at At.
	DropBytes struct{ At source.Span }
	// EscapeNewlines escapes line feeds inside the strings of the record at At.
	EscapeNewlines struct{ At source.Span }
	// ReplaceBytes replaces what is no text in the record at At.
	ReplaceBytes struct{ At source.Span }
	// RelinkRecord makes the record before it, in its scope, the parent of the
	// record whose parent is named at At.
	RelinkRecord struct{ At source.Span }
	// Renumber gives the record whose ordinal is at At, and those behind it,
	// the ordinals that follow on from the record before.
	Renumber struct{ At source.Span }
)

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
func (*Texts) Kind() Kind { return "text-result" }

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
func (*Renumber) Kind() Kind { return "renumber" }

// Subjects returns the calls and the results that an action names.
func Subjects(a Action) (calls, results []int32) {
	switch a := a.(type) {
	case *InsertResults:
		return a.Calls, nil
	case *SetState:
		return a.Calls, nil
	case *MoveResults:
		return nil, a.Results
	case *MergeResults:
		return nil, a.Results
	case *DropResults:
		return nil, a.Results
	case *DropCalls:
		return a.Calls, nil
	case *Texts:
		return a.Calls, a.Results
	case *RelinkResult:
		return []int32{a.Call}, []int32{a.Result}
	case *RenamePairs:
		return a.Calls, nil
	case *MintIDs:
		return a.Calls, a.Results
	case *Retag:
		return []int32{a.Call}, []int32{a.Result}
	}
	return nil, nil
}
