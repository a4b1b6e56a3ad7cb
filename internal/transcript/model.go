package transcript

import (
	"strings"

	"github.com/tidwall/gjson"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/unfold"
)

// A Role is the speaker of a message.
type Role uint8

// The roles. RoleOther is an unknown role, and RoleNone an absent one.
const (
	RoleNone Role = iota
	RoleSystem
	RoleUser
	RoleAssistant
	RoleTool
	RoleOther
)

// String returns the common name of the role.
func (r Role) String() string {
	switch r {
	case RoleSystem:
		return "system"
	case RoleUser:
		return "user"
	case RoleAssistant:
		return "assistant"
	case RoleTool:
		return "tool"
	case RoleOther:
		return "other"
	}
	return "none"
}

// A Use is the purpose of a transcript. It decides the severity of an unfinished
// conversation and what a repair may do by default.
type Use uint8

// The uses.
const (
	UseLog     Use = iota // a session or a saved history
	UseBody               // a request body, about to be sent
	UseDataset            // training or evaluation data
	UseTrace              // a recorded part: an output, a span, one API response
)

// String returns the name of the use as reports print it.
func (u Use) String() string {
	return [...]string{"log", "request body", "dataset", "trace"}[u]
}

// A Window says where the results of a turn with calls are expected.
type Window uint8

// The windows. The zero value is none of them.
const (
	// WindowTool is the run of tool messages directly after the turn.
	WindowTool Window = iota + 1
	// WindowUser is the user messages before the next other role. They are sent as one
	// message, so any of them closes the turn.
	WindowUser
	// WindowNext is everything before the next call with the same id.
	WindowNext
	// WindowLog is WindowNext in a session log, whose agent rebuilds the messages. Rules
	// about position do not apply. Only a new assistant message or one typed by a human
	// closes a turn.
	WindowLog
	// WindowOwn is the turn itself: results are in the message with the calls.
	WindowOwn
)

// A Conversation is one history as it would be sent to a model: a main thread, a
// sub-agent, a branch, or a row of a dataset. All indexes in it refer to its own slices.
type Conversation struct {
	// Index counts the conversations of a file from 0.
	Index int
	// Name distinguishes it from the other conversations of the file: a JSON pointer, or
	// a scope such as "agent a1b2". It is empty if the file has only one.
	Name    string
	Dialect string
	// Row says that the conversation is one of many in a file, without a request around it.
	Row bool
	// Seed is what new ids are derived from, if each record of the file is a row of its own: its place
	// in the record. So they do not depend on other rows. It is "" for other conversations.
	Seed string
	// Provider is the profile of the provider if the messages have features that only
	// this provider has; "" means that of the dialect.
	Provider string
	Use      Use
	Window   Window
	// Merged is set if consecutive messages of one role are sent as one. Results in the
	// window of one assistant message then answer the calls of all of them. It matters
	// with WindowUser.
	Merged bool
	// ElsewhereState is set if the other half of a call or result may be stored by the
	// provider, as with previous_response_id.
	ElsewhereState bool
	// References is set if an item only refers to one that the provider stores, which may be
	// the other half of a call or result.
	References bool
	// Slice is set for formats whose files hold only part of a conversation, so a missing
	// result may be in another file.
	Slice bool
	// Incomplete is set if a record of the conversation could not be read. A missing
	// result may be in that record.
	Incomplete bool
	// Torn are the parts of the source that could not be read, in order.
	Torn []source.Span
	// Compactions are the records that mark compactions and name what they keep, in the order of
	// the file.
	Compactions []Compaction
	// Notes are what else the client sends: texts of records without a message, in the order of the file.
	Notes []Note
	// Replaced are the contents that the client sends in place of those of messages, by the offset of the
	// message.
	Replaced map[int64]source.Span
	// Unread are elements among the messages that no dialect recognizes.
	Unread []Unread
	// Strays are fields of messages that are about calls or results and that no dialect
	// has read. Only the first one of each name is kept, and only a few names.
	Strays []Stray
	// Enveloped is set if the messages are in the records of a session log, and Linked if
	// those records refer to each other.
	Enveloped, Linked bool
	// Idless is set if no call and no result of the conversation has a field for an id.
	Idless bool

	// AppendOnly is set if the records of the log are numbered, so that a new one must be
	// appended. OnResume says what the agent does with a call without a result when it
	// resumes the session, as a clause without a period.
	AppendOnly bool
	OnResume   string

	// Closes is set if messages of a log end the turn before them (MessageCloses). If the log is
	// linked, Above has for each message the one that its record descends from, -1 for none, because
	// then the order of the file does not count.
	Closes bool
	Above  []int32

	// Folded is set if a later record replaces an earlier one with the same id. A message
	// is then changed by appending it again.
	Folded bool

	// Doubled are the offsets of keys that occur twice in an object, for the part of the
	// source that has been read. Which of the two values counts is unknown. There are a
	// few runs, each sorted.
	Doubled [][]int64

	// Unfolded is the text that the messages were unfolded into, nil if they are in the
	// source. If it is set, spans refer to it.
	Unfolded *unfold.Unfolded

	// Model is the model that a request names. Hosts are the addresses, hosts and
	// providers named by the request or the objects around it, the nearest first.
	Model string
	Hosts []string

	// Holder is the object that holds the messages, if there is one: a request body or a
	// row of a dataset.
	Holder source.Span

	// Element is the outermost array element around the conversation, if it is in a list of
	// conversations in a document, and List is that array.
	Element, List source.Span

	// Lists are the arrays whose elements are the messages. Lines is set if the messages
	// are the records of a file. Neither is set for a single message.
	Lists []source.Span
	Lines bool

	Turns    int // the number of turns
	Messages []Message
	Blocks   []Block
	Calls    []Call
	Results  []Result
	Copies   []Copy
	Aliases  []Alias
	Mentions []Mention
	Echoes   []Echo
}

// A Mark is the lengths of the lists of a conversation at one time.
type Mark struct{ messages, blocks, calls, results, copies, aliases, strays int }

// Mark returns the current lengths of the lists.
func (c *Conversation) Mark() Mark {
	return Mark{len(c.Messages), len(c.Blocks), len(c.Calls), len(c.Results), len(c.Copies), len(c.Aliases), len(c.Strays)}
}

// Relocate replaces the spans of everything added since a mark with those that where
// returns. It is for text that was assembled from pieces of the source.
func (c *Conversation) Relocate(since Mark, where func(source.Span) (at source.Span, record int32)) {
	move := func(spans ...*source.Span) {
		for _, s := range spans {
			if !s.IsZero() {
				*s, _ = where(*s)
			}
		}
	}
	for i := since.messages; i < len(c.Messages); i++ {
		m := &c.Messages[i]
		role := m.RoleSpan()
		var at source.Span
		at, m.Record = where(m.Span())
		m.start, m.length = at.Start, uint32(at.Len())
		if role, _ = where(role); m.RoleLen > 0 && at.Contains(role) {
			m.RoleAt, m.RoleLen = uint32(role.Start-at.Start), uint8(min(role.Len(), 255))
		} else {
			m.RoleLen = 0
		}
	}
	for i := since.blocks; i < len(c.Blocks); i++ {
		move(&c.Blocks[i].Span)
	}
	for i := since.calls; i < len(c.Calls); i++ {
		call := &c.Calls[i]
		bad := call.BadAt()
		move(&call.ID.Span, &call.Name.Span, &call.Args, &bad)
		call.SetBad(bad)
	}
	for i := since.results; i < len(c.Results); i++ {
		res := &c.Results[i]
		move(&res.ID.Span, &res.Name.Span, &res.Payload)
	}
	for i := since.copies; i < len(c.Copies); i++ {
		cp := &c.Copies[i]
		move(&cp.List, &cp.Block, &cp.ID.Span, &cp.Name.Span)
	}
	for i := since.aliases; i < len(c.Aliases); i++ {
		move(&c.Aliases[i].ID.Span)
	}
	for i := since.strays; i < len(c.Strays); i++ {
		move(&c.Strays[i].Span)
	}
}

// MessageFlags are properties of a message.
type MessageFlags uint16

// The message flags.
const (
	// MessageSuperseded marks a message that is no longer sent: it is before a
	// compaction, on a dead branch, or hidden.
	MessageSuperseded MessageFlags = 1 << iota
	// MessageTyped marks a message typed by a human. It closes a turn in a log.
	MessageTyped
	// MessageAborted marks a message that its writer recorded as aborted or failed.
	MessageAborted
	// MessageReplay marks a copy of an earlier record. Pairing ignores it.
	MessageReplay
	// MessageForeign marks a message in another dialect than the rest.
	MessageForeign
	// MessageEmpty marks a message with empty content and without calls.
	MessageEmpty
	// MessageNull marks a message with null or absent content and without calls.
	MessageNull
	// MessageItem marks an element that is an item of a flat list, such as a Responses
	// call or output, rather than a message with its own role.
	MessageItem
	// MessagePlainRole marks a message whose role is spelled as the model's API spells
	// it.
	MessagePlainRole
	// MessageText marks a message that has only text. Most messages do. They have no
	// blocks, because nothing needs the spans of their text.
	MessageText
	// MessageStray marks a message with a stray, which may hold its calls.
	MessageStray
	// MessageOtherShape marks a message about calls that has the shape of another program,
	// so that nothing of it is read but its role.
	MessageOtherShape
	// MessageUnmarked marks a message whose blocks were all examined and have no mark for
	// the prompt cache.
	MessageUnmarked
	// MessageOmitted marks a message that the client leaves out of its requests, although it
	// sends the results of its calls.
	MessageOmitted
	// MessageCloses marks a message of the model behind which the client finds no results of
	// earlier turns.
	MessageCloses
)

// A Message is one message of the transcript: an element of a messages array, an item, or
// a line of a log. It is small and holds no text, because a file can have a million
// messages.
type Message struct {
	start  int64
	length uint32 // no record is longer
	Record int32  // the record that holds it, counted from 1
	// Turn is the turn of the message. Elements that share a message id are one turn.
	// Turns are counted from 0 in the order of their first elements.
	Turn    int32
	BlockLo int32 // its blocks are Blocks[BlockLo:BlockHi]
	BlockHi int32
	Segment int32 // the number of compactions before it
	// RoleAt and RoleLen are the span of the role's value, relative to the start. RoleLen
	// is 0 if there is no role.
	RoleAt  uint32
	RoleLen uint8
	Role    Role
	Flags   MessageFlags
}

// Span returns the span of the message.
func (m Message) Span() source.Span {
	return source.Span{Start: m.start, End: m.start + int64(m.length)}
}

// RoleSpan returns the span of the role, or of the message if it has none.
func (m Message) RoleSpan() source.Span {
	if m.RoleLen == 0 {
		return m.Span()
	}
	at := m.start + int64(m.RoleAt)
	return source.Span{Start: at, End: at + int64(m.RoleLen)}
}

// Has reports whether all the given flags are set.
func (m Message) Has(f MessageFlags) bool { return m.Flags&f == f }

// Void reports whether the message has neither blocks nor text.
func (m Message) Void() bool { return m.BlockLo == m.BlockHi && !m.Has(MessageText) }

// A BlockKind is the kind of a block.
type BlockKind uint8

// The kinds of blocks.
const (
	BlockText BlockKind = iota
	BlockCall
	BlockResult
	BlockReasoning
	BlockServerCall
	BlockServerResult
	BlockMedia
	BlockEmptyCalls // an empty list of calls
	BlockOther
)

// BlockFlags are properties of a block.
type BlockFlags uint8

// The block flags.
const (
	// BlockSigned marks reasoning, or another block, with a signature or encrypted
	// content. Its message must not be edited.
	BlockSigned BlockFlags = 1 << iota
	// BlockBlank marks text that is empty or only white space.
	BlockBlank
	// BlockHasID marks an item with its own id, which ties it to the reasoning item
	// before it.
	BlockHasID
	// BlockHollow marks a block without any field that says what it is.
	BlockHollow
	// BlockReference marks an item that only refers to one that the provider stores.
	BlockReference
	// BlockUnsigned marks reasoning without the signature that it needs.
	BlockUnsigned
)

// A Block is one part of a message.
type Block struct {
	Span    source.Span
	Message int32 // the message that holds it
	Ref     int32 // an index into Calls or Results for blocks of those kinds
	Kind    BlockKind
	Flags   BlockFlags
}

// Has reports whether all the given flags are set.
func (b Block) Has(f BlockFlags) bool { return b.Flags&f == f }

// A Token is a scalar value as it was written: an id or a name.
type Token struct {
	// Raw is the JSON text including quotes; "" if the field is absent.
	Raw string
	// Span is the span of the value. If the field is absent, it is the span of the
	// element that should have it.
	Span source.Span
}

// TokenOf returns v as a token. If v is None, the token is absent and points at owner.
func TokenOf(v source.Value, owner source.Span) Token {
	if !v.Exists() {
		return Token{Span: owner}
	}
	return Token{Raw: string(v.Raw()), Span: v.Span()}
}

// Present reports whether the field exists, even if it is null.
func (t Token) Present() bool { return t.Raw != "" }

// Given reports whether the field exists and is not null.
func (t Token) Given() bool { return t.Raw != "" && t.Raw != "null" }

// IsString reports whether the token is a JSON string.
func (t Token) IsString() bool { return len(t.Raw) >= 2 && t.Raw[0] == '"' }

// Text returns the decoded text of a string token, or the raw text of any other token.
func (t Token) Text() string {
	if !t.IsString() {
		return t.Raw
	}
	if strings.IndexByte(t.Raw, '\\') >= 0 {
		return gjson.Parse(t.Raw).Str
	}
	return t.Raw[1 : len(t.Raw)-1]
}

// IsNested reports whether the token is an object or an array.
func (t Token) IsNested() bool {
	return t.Raw != "" && (t.Raw[0] == '{' || t.Raw[0] == '[')
}

// A CallKind is the protocol kind of a call or result. A result answers only calls of its
// own kind.
type CallKind uint8

// The kinds of calls.
const (
	KindFunction CallKind = iota
	KindCustom
	KindLegacyFunction
	KindComputer
	KindLocalShell
	KindShell
	KindApplyPatch
	KindToolSearch
	KindApproval
	KindServer // a provider-executed tool of the Anthropic Messages API
	KindMCP
	KindProgram
)

// An ArgsForm says how the arguments of a call are written.
type ArgsForm uint8

// The forms of arguments.
const (
	ArgsMissing     ArgsForm = iota // no field
	ArgsObject                      // a JSON object
	ArgsString                      // a string that contains a JSON object
	ArgsStringOther                 // a string that contains other JSON
	ArgsStringBad                   // a string that is not valid JSON
	ArgsStringEmpty                 // an empty string
	ArgsNull
	ArgsArray
	ArgsScalar
	ArgsText // free text by design (custom tools), with nothing to check
)

// An ArgsConvention says in which form the dialect expects arguments.
type ArgsConvention uint8

// The conventions.
const (
	ArgsWantAny ArgsConvention = iota
	ArgsWantString
	ArgsWantObject
)

// A CallState is the state of a call, as recorded in a combined record or in another
// block with its id.
type CallState uint8

// The states of a call.
const (
	CallOpen        CallState = iota // nothing was recorded
	CallDone                         // it was answered
	CallFailed                       // it was answered with an error
	CallWaiting                      // it is waiting for approval by a human
	CallInterrupted                  // its writer aborted it
	CallPassed                       // the model continued in the same message without an answer
	CallRunning                      // its tool had not finished
)

// An Answer says how a call gets its result, or how a result finds its call. One
// conversation can have several.
type Answer uint8

// The ways to answer a call. Results have the first three and AnswerProvider.
const (
	AnswerByID       Answer = iota // the result names the id of the call
	AnswerByPosition               // the format has no ids by design; name and position decide
	AnswerOwnRecord                // the result is part of the record of the call
	// AnswerLater is AnswerByID for a tool that continues after its turn. Results may
	// come at any time and more than once, and the last one counts.
	AnswerLater
	// AnswerProvider is for a tool that the provider runs and whose result is a block of
	// the same turn.
	AnswerProvider
	// AnswerProviderRecord is for a tool that the provider runs and whose result, if it
	// is kept, is part of the call.
	AnswerProviderRecord
	AnswerNone // the call needs no result of its own
)

// ByProvider reports whether the provider runs the tool. Rules for clients do not apply
// to such calls and results.
func (a Answer) ByProvider() bool { return a == AnswerProvider || a == AnswerProviderRecord }

// A Call is a model's request to run a tool.
type Call struct {
	ID      Token
	Name    Token
	Args    source.Span // the value of the arguments; zero if missing
	Message int32
	Block   int32
	Kind    CallKind
	Form    ArgsForm
	Want    ArgsConvention
	// bad is the character of the syntax error in Args, for ArgsStringBad: its offset, and its length plus 1, 0 for none.
	bad    uint32
	badLen uint8
	// State is the state recorded in the call's record or in another block.
	State CallState
	// Answer says how the call gets its result. With AnswerOwnRecord, its Result has the
	// same block.
	Answer Answer
	// NameInTag marks a name that is part of another field instead of having its own.
	NameInTag bool
	// Unread marks a call whose writer could not tell what was called. It names no tool.
	Unread bool
	// WrongRole marks a call in a message whose role cannot make calls.
	WrongRole bool
	// Held marks a call whose record has the content of a result, but not as its state says, so that
	// it is not sent.
	Held bool
	// Unsent marks a call that the client leaves out of its requests, although it reads it.
	Unsent bool
}

// BadAt returns the span of the character of the syntax error, for ArgsStringBad.
func (c *Call) BadAt() source.Span {
	if c.badLen == 0 {
		return source.Span{}
	}
	at := c.Args.Start + int64(c.bad)
	return source.Span{Start: at, End: at + int64(c.badLen) - 1}
}

// SetBad sets the span of the character of the syntax error, which is in Args; a zero span is none.
func (c *Call) SetBad(at source.Span) {
	c.bad, c.badLen = 0, 0
	if c.Args.Contains(at) && !at.IsZero() {
		c.bad, c.badLen = uint32(at.Start-c.Args.Start), uint8(at.Len()+1)
	}
}

// Counts reports whether the call is of a kind that clients run.
func (c *Call) Counts() bool {
	switch c.Answer {
	case AnswerProviderRecord:
		return false
	case AnswerProvider:
		return c.Kind == KindFunction
	}
	return c.Kind != KindApproval
}

// A Result is the answer to a call.
type Result struct {
	ID      Token
	Name    Token
	Payload source.Span // the value of the content; zero if missing
	Message int32
	Block   int32
	Kind    CallKind
	Answer  Answer // how it finds its call
	// Form is the kind of the content value.
	Form source.Kind
	// WrongRole marks a result in a message whose role cannot carry results.
	WrongRole bool
	// Error marks a result that its writer recorded as failed.
	Error bool
	// Mixed marks a result whose blocks are not all texts. They may be images.
	Mixed bool
	// Beside is what a log record stores about the result outside its message. It is set
	// for the first result of the message; otherwise it is zero.
	Beside source.Span
}

// Hold records the value of the content, which may be missing.
func (r *Result) Hold(content source.Value) {
	if content.Exists() {
		r.Payload, r.Form = content.Span(), content.Kind()
		r.Mixed = mixed(content)
	}
}

// HoldBlocks notes blocks of the result that are not in its content.
func (r *Result) HoldBlocks(list source.Value) { r.Mixed = r.Mixed || mixed(list) }

// mixed reports whether a value is a list with an object that is not a text.
func mixed(v source.Value) bool {
	if v.Kind() != source.Array {
		return false
	}
	for _, e := range v.Elements() {
		if e.Kind() == source.Object && e.Get("text").Kind() != source.String {
			return true
		}
	}
	return false
}

// OwnCall returns the index of the call whose record contains the result, or -1 if there
// is none.
func (c *Conversation) OwnCall(result int32) int32 {
	if c.Results[result].Answer == AnswerOwnRecord {
		return c.Blocks[c.Results[result].Block].Ref
	}
	return -1
}

// A Copy is a repetition of a call elsewhere in its message. It is neither counted nor
// paired, but repairs change it along with its call.
type Copy struct {
	Call  int32
	List  source.Span // the array that it is an element of; zero if it is another id in the call itself
	Block source.Span
	ID    Token
	IDKey string // the key of ID
	Name  Token
}

// An Alias is another id of a call or a result. Pairing tries it if the main id has no
// match, and repairs rename both. The aliases of calls are also Copies.
type Alias struct {
	Call, Result int32 // its owner; the other is -1
	ID           Token
}

// A Mention is a message that names a call without being its result.
type Mention struct {
	Message int32
	Call    Token
}

// Counts reports whether the result is of a kind that clients send.
func (r *Result) Counts() bool {
	return (r.Answer != AnswerProvider || r.Kind == KindFunction) && r.Kind != KindApproval
}

// A RecordFault is a fault in the bytes of one record.
type RecordFault struct {
	source.Fault
	Record int32
	Whole  source.Span // the record
}

// A KeyFault is a key that occurs twice in one structural object.
type KeyFault struct {
	First, Again source.Span // the two keys
	Key          string
	Record       int32
}

// An Echo is a record of a log that repeats the result of a call which has none. A call may
// have several, one after the other.
type Echo struct {
	Call   int32
	Record int32 // from 1
	At     source.Span
	// Unsure is set if the record may be about another call with the same id, or if there are
	// too many such records.
	Unsure bool
}

// A LinkFault is a defect in the references between the records of a log.
type LinkFault struct {
	// Duplicate is set if two records have the same id, and Ordinal if a record number
	// does not follow the previous one. If neither is set, and Passed is not, the parent
	// named at Span does not exist.
	Duplicate, Ordinal bool
	// Passed is set if the parent is a record of progress that the conversation had passed.
	// First is then the id of the last record that it leaves out, and Sure says that no other
	// record can be meant.
	Passed, Sure bool
	// Want is the expected number.
	Want int64
	// Identical is set for a duplicate that differs from the first record at most in its
	// timestamp.
	Identical bool
	// Sent is set for a duplicate that the agent reads too.
	Sent bool
	// Key is the key of the field that names the parent.
	Key string
	// Live is set if the fault cuts off the branch in use.
	Live bool
	// Relink is set if the scope has an earlier record that does not descend from this
	// one.
	Relink bool
	// Sole is set if only one record can be the parent, and the other links of the scope
	// are whole.
	Sole   bool
	Span   source.Span // the id, the parent reference or the number
	First  source.Span // for a duplicate, the first record's id; if Passed, another record's
	Record int32
	ID     string
	Whole  source.Span // the record
	// FirstRecord is, for a duplicate, the first record.
	FirstRecord int32
}

// A Note is a text that the client sends with the messages, such as the summary of a compaction.
type Note struct {
	Record      int32
	Whole, Text source.Span // the record, and the value in it
	Unsent      bool        // the client no longer sends it
}

// A Compaction is the record of a compaction.
type Compaction struct {
	Whole source.Span // the record
	// Kept is where it names the first record that it keeps: the id, or the number among the
	// records.
	Kept source.Span
}

// A Branch is the results on branches of a thread that the agent does not send, because the
// session goes on from another branch.
type Branch struct {
	Results, Branches int
	// Mixed is set if records of the first branch come after the other branch began.
	Mixed  bool
	Span   source.Span // the id of the first record of the first branch
	On     source.Span // the id of the record that follows instead; zero if there is none
	Record int32
}

// An Unread is an element that was not read.
type Unread struct {
	Span   source.Span
	Record int32
	Before int32 // the index of the message that would follow it
	Kind   source.Kind
	// Listed is set if it is an element of an array of messages, and not a record or a part of
	// one.
	Listed bool
	// Bare is set for an object with neither a role nor a type.
	Bare bool
}
