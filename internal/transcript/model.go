package transcript

import (
	"github.com/tidwall/gjson"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/unfold"
)

// A Role is who speaks a message.
type Role uint8

// The roles. RoleOther is a role that no dialect knows, RoleNone an absent one.
const (
	RoleNone Role = iota
	RoleSystem
	RoleUser
	RoleAssistant
	RoleTool
	RoleOther
)

// String returns the role's common name.
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

// A Use is what a transcript is for. It decides how severe an unfinished
// conversation is, and what a repair may do by default.
type Use uint8

// The uses.
const (
	UseLog     Use = iota // a session or a saved history
	UseBody               // a request body, about to be sent
	UseDataset            // training or evaluation data
	UseTrace              // a recorded slice: an output, a span, one API response
)

// String returns the use's name as reports print it.
func (u Use) String() string {
	return [...]string{"log", "request body", "dataset", "trace"}[u]
}

// A Window says where a call-bearing turn's results are looked for.
type Window uint8

// The windows. Zero is none of them.
const (
	// WindowTool is the unbroken run of tool messages after the turn.
	WindowTool Window = iota + 1
	// WindowUser is the next user messages before another role; they travel as
	// one message, so that any of them closes the turn.
	WindowUser
	// WindowNext is everything before the next call with that id.
	WindowNext
	// WindowLog is WindowNext in a session log, whose agent rebuilds the
	// messages: rules about position do not apply, and a turn is closed only
	// by a new assistant message or one typed by a human.
	WindowLog
	// WindowOwn is the turn itself: results stand in the message that calls.
	WindowOwn
)

// A Conversation is one history as a model would be sent it: a main thread, a
// sub-agent, a branch, a row of a dataset. All indices into it are positions
// in its own slices.
type Conversation struct {
	// Index counts the conversations of a file from 0.
	Index int
	// Name tells it from the file's other conversations: a JSON pointer, a
	// scope such as "agent a1b2". Empty for a file's only one.
	Name    string
	Dialect string
	// Provider names the profile of a provider of which the messages have what no
	// other's have; "" where the dialect's own stands.
	Provider string
	Use      Use
	Window   Window
	// Merged is set where messages of one role in a row are sent as one, so that
	// results in the window of any of the model's answer the calls of them all. It
	// matters with WindowUser.
	Merged bool
	// ElsewhereState is set when the partner of a call or result may lie on
	// the provider's side (previous_response_id and its kind).
	ElsewhereState bool
	// Slice is set when the messages are a fragment of a conversation by the
	// nature of the format.
	Slice bool
	// Incomplete is set when a record of the conversation could not be read:
	// what seems to be missing may be in it.
	Incomplete bool
	// Unread are elements among the messages that no dialect knows.
	Unread []Unread
	// Strays are members of messages that speak of calls or results and that nobody
	// read, the first of each name and of few names.
	Strays []Stray
	// Enveloped is set when the messages stand in the records of a session log,
	// Linked when those point at each other.
	Enveloped, Linked bool
	// Idless is set when the dialect at hand writes no ids at all: no call and
	// no result of the conversation has a member for one.
	Idless bool

	// AppendOnly is set when the records of the log are numbered, so that a new
	// one goes to its end. OnResume says what the agent does with a call that has no
	// result when it resumes such a session, as a clause without a full stop.
	AppendOnly bool
	OnResume   string

	// Folded is set when a later record with the same id takes the place of an
	// earlier one: a message is changed by appending it again.
	Folded bool

	// Doubled is where keys stand that stand twice in an object, in the whole
	// source as far as it is read: which of the two values counts is not known.
	// It is a few runs, each in order.
	Doubled [][]int64

	// Unfolded is what the messages were put together in, where they do not stand
	// as they are in the source: then it is what spans are places in.
	Unfolded *unfold.Unfolded

	// Model is the model that a request names. Hosts are the addresses, hosts and
	// providers that it or an object around it names, the nearest first.
	Model string
	Hosts []string

	// Holder is the object that holds the messages, where one does: a request
	// body with what else is sent, a line of a dataset.
	Holder source.Span

	// Lists are the arrays whose elements the messages are; Lines is set where
	// they are the records of a file. Neither is where a message stands alone.
	Lists []source.Span
	Lines bool

	Turns    int // how many turns the messages make up
	Messages []Message
	Blocks   []Block
	Calls    []Call
	Results  []Result
	Copies   []Copy
	Aliases  []Alias
}

// A Mark is how far the lists of a conversation have got.
type Mark struct{ messages, blocks, calls, results, copies, aliases, strays int }

// Mark returns how far the conversation has got.
func (c *Conversation) Mark() Mark {
	return Mark{len(c.Messages), len(c.Blocks), len(c.Calls), len(c.Results), len(c.Copies), len(c.Aliases), len(c.Strays)}
}

// Relocate moves what was added since a mark to where a function says that it
// stands: for what was read from bytes that were put together from pieces of the
// source.
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
		move(&call.ID.Span, &call.Name.Span, &call.Args, &call.BadAt)
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

// MessageFlags are facts about a message.
type MessageFlags uint16

// The message flags.
const (
	// MessageSuperseded marks a message that no provider will see again: it
	// lies before a compaction, on a dead branch, or is hidden.
	MessageSuperseded MessageFlags = 1 << iota
	// MessageTyped marks a message typed by a human. It closes a turn in a log.
	MessageTyped
	// MessageAborted marks a message whose writer says that it was aborted or
	// failed.
	MessageAborted
	// MessageReplay marks a copy of a record that was read before. Pairing
	// ignores it.
	MessageReplay
	// MessageForeign marks a message written in another dialect than the rest.
	MessageForeign
	// MessageEmpty marks a message whose content is empty, and that has no calls.
	MessageEmpty
	// MessageNull marks a message whose content is null or absent, and that has
	// no calls.
	MessageNull
	// MessageItem marks an element that is one item of a flat list and not a
	// message with a role of its own (a Responses call or output).
	MessageItem
	// MessagePlainRole marks a message whose role is written in the word by which
	// the model knows it.
	MessagePlainRole
	// MessageText marks a message of text and nothing else. Most messages are,
	// and nothing ever asks where their text stands: they have no blocks.
	MessageText
	// MessageStray marks a message with a stray, in which its calls may be.
	MessageStray
	// MessageUnmarked marks a message of which each block was looked at, and none has
	// a mark for the prompt cache.
	MessageUnmarked
)

// A Message is one element of the transcript that speaks: an element of a
// messages array, an item, a line of a log. A file can hold a million of them:
// what is a message costs memory, whatever its text.
type Message struct {
	start  int64
	length uint32 // no record is longer
	Record int32  // the record it stands in, from 1
	// Turn is the turn it belongs to. Elements that share a message id are one
	// turn; turns count from 0 in order of their first element.
	Turn    int32
	BlockLo int32 // its blocks are Blocks[BlockLo:BlockHi]
	BlockHi int32
	Segment int32 // counts compactions before it
	// RoleAt and RoleLen are the role's value, from the start; RoleLen is 0
	// where no role is written.
	RoleAt  uint32
	RoleLen uint8
	Role    Role
	Flags   MessageFlags
}

// Span returns where the message stands.
func (m Message) Span() source.Span {
	return source.Span{Start: m.start, End: m.start + int64(m.length)}
}

// RoleSpan returns where the role is written, the message where it is not.
func (m Message) RoleSpan() source.Span {
	if m.RoleLen == 0 {
		return m.Span()
	}
	at := m.start + int64(m.RoleAt)
	return source.Span{Start: at, End: at + int64(m.RoleLen)}
}

// Has reports whether all the given flags are set.
func (m Message) Has(f MessageFlags) bool { return m.Flags&f == f }

// Void reports whether the message has no block, and no text either.
func (m Message) Void() bool { return m.BlockLo == m.BlockHi && !m.Has(MessageText) }

// A BlockKind is what a block of a message is.
type BlockKind uint8

// The kinds of block.
const (
	BlockText BlockKind = iota
	BlockCall
	BlockResult
	BlockReasoning
	BlockServerCall
	BlockServerResult
	BlockMedia
	BlockEmptyCalls // a member that lists calls, and lists none
	BlockOther
)

// BlockFlags are facts about a block.
type BlockFlags uint8

// The block flags.
const (
	// BlockSigned marks reasoning, or another block, that carries a signature or
	// encrypted content: its message must not be edited.
	BlockSigned BlockFlags = 1 << iota
	// BlockBlank marks text without anything but white space.
	BlockBlank
	// BlockHasID marks an item with an id of its own, which ties it to the
	// reasoning item before it.
	BlockHasID
	// BlockHollow marks a block without any member, that would say what it is.
	BlockHollow
	// BlockUnsigned marks reasoning that lacks the signature it needs.
	BlockUnsigned
)

// A Block is one part of a message.
type Block struct {
	Span    source.Span
	Message int32 // the message it stands in
	Ref     int32 // index into Calls or Results for those kinds
	Kind    BlockKind
	Flags   BlockFlags
}

// Has reports whether all the given flags are set.
func (b Block) Has(f BlockFlags) bool { return b.Flags&f == f }

// A Token is a scalar member as it was written: an id or a name.
type Token struct {
	// Raw is the JSON text, quotes included; "" when the member is absent.
	Raw string
	// Span is where it stands; when absent, the element that should hold it.
	Span source.Span
}

// TokenOf returns the token that v is, or an absent one that points at owner.
func TokenOf(v source.Value, owner source.Span) Token {
	if !v.Exists() {
		return Token{Span: owner}
	}
	return Token{Raw: string(v.Raw()), Span: v.Span()}
}

// Present reports whether the member exists at all, whatever it holds.
func (t Token) Present() bool { return t.Raw != "" }

// Given reports whether the member exists and is not null.
func (t Token) Given() bool { return t.Raw != "" && t.Raw != "null" }

// IsString reports whether the token is a JSON string.
func (t Token) IsString() bool { return len(t.Raw) >= 2 && t.Raw[0] == '"' }

// Text returns the decoded text of a string token and the raw text of any
// other.
func (t Token) Text() string {
	if !t.IsString() {
		return t.Raw
	}
	for i := 1; i < len(t.Raw)-1; i++ {
		if t.Raw[i] == '\\' {
			return gjson.Parse(t.Raw).Str
		}
	}
	return t.Raw[1 : len(t.Raw)-1]
}

// A CallKind is the protocol kind of a call and of the result that fits it.
// Two kinds that differ do not answer each other.
type CallKind uint8

// The kinds of call.
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

// An ArgsForm says in what form a call's arguments are written.
type ArgsForm uint8

// The forms of arguments.
const (
	ArgsMissing     ArgsForm = iota // no member at all
	ArgsObject                      // a JSON object
	ArgsString                      // a string that holds a JSON object
	ArgsStringOther                 // a string that holds other JSON
	ArgsStringBad                   // a string that holds no JSON
	ArgsStringEmpty                 // a string with nothing in it
	ArgsNull
	ArgsArray
	ArgsScalar
	ArgsText // free text by design (custom tools): nothing to check
)

// ArgsConvention says in which form the dialect wants arguments.
type ArgsConvention uint8

// The conventions.
const (
	ArgsWantAny ArgsConvention = iota
	ArgsWantString
	ArgsWantObject
)

// A CallState is what a combined record says of its call, or a block of the call
// of its id.
type CallState uint8

// The states of a call.
const (
	CallOpen        CallState = iota // nothing was recorded
	CallDone                         // it was answered
	CallFailed                       // it was answered with an error
	CallWaiting                      // it waits for a human's approval
	CallInterrupted                  // its writer broke it off
	CallPassed                       // the model went on in the same message without an answer
	CallRunning                      // its tool had not come to an end
)

// An Answer is how a call gets its result, and how a result finds its call. One
// conversation can have several.
type Answer uint8

// The ways to answer a call. Results have the first three and AnswerProvider.
const (
	AnswerByID       Answer = iota // the result names the id of the call
	AnswerByPosition               // the form has no ids by design: name and position tell
	AnswerOwnRecord                // the result is a state of the call's own record
	// AnswerLater is AnswerByID for a tool that goes on when the turn is over: a
	// result may come at any time, and more than once. The last one counts.
	AnswerLater
	// AnswerProvider is for a tool that the provider runs, and whose result is a
	// block of the same turn.
	AnswerProvider
	// AnswerProviderRecord is for a tool that the provider runs, and whose result,
	// if it is kept, is part of the call.
	AnswerProviderRecord
	AnswerNone // the call needs no result of its own
)

// ByProvider reports whether the provider runs the tool, so that nothing that is
// asked of a client is asked of the call or the result.
func (a Answer) ByProvider() bool { return a == AnswerProvider || a == AnswerProviderRecord }

// A Call is a model's request to run a tool.
type Call struct {
	ID      Token
	Name    Token
	Args    source.Span // the arguments' value; zero when missing
	BadAt   source.Span // the byte of the fault, for ArgsStringBad
	Message int32
	Block   int32
	Kind    CallKind
	Form    ArgsForm
	Want    ArgsConvention
	// State is what its record says of it, or a block elsewhere.
	State CallState
	// Answer is how it gets its result. With AnswerOwnRecord a Result of the same
	// block is there once it has one.
	Answer Answer
	// NameInTag marks a name that is part of another member and has none of
	// its own.
	NameInTag bool
	// Unread marks a call whose writer could not make out what was called: it
	// names no tool.
	Unread bool
	// WrongRole marks a call in a message whose role cannot make one.
	WrongRole bool
}

// Counts reports whether the call is written as those are that a client runs.
func (c *Call) Counts() bool {
	switch c.Answer {
	case AnswerProviderRecord:
		return false
	case AnswerProvider:
		return c.Kind == KindFunction
	}
	return c.Kind != KindApproval
}

// A Result is what a call was answered with.
type Result struct {
	ID      Token
	Name    Token
	Payload source.Span // the content's value; zero when missing
	Message int32
	Block   int32
	Kind    CallKind
	Answer  Answer // how it finds its call
	// Form is the kind of the content's value.
	Form source.Kind
	// WrongRole marks a result in a message whose role cannot carry one.
	WrongRole bool
	// Error marks a result that its writer flagged as failed.
	Error bool
	// Beside is what the record of a log keeps of the result beside its message, for
	// the message's first result; zero when there is none.
	Beside source.Span
}

// Hold notes the value of the content, which may be missing.
func (r *Result) Hold(content source.Value) {
	if content.Exists() {
		r.Payload, r.Form = content.Span(), content.Kind()
	}
}

// OwnCall returns the call whose record a result is a state of, -1 for none.
func (c *Conversation) OwnCall(result int32) int32 {
	if c.Results[result].Answer == AnswerOwnRecord {
		return c.Blocks[c.Results[result].Block].Ref
	}
	return -1
}

// A Copy is a call as its message repeats it, in another place than where it
// counts. It is neither counted nor paired, but changed along with its call.
type Copy struct {
	Call  int32
	List  source.Span // the list that it is an element of; zero where the call itself writes its id again
	Block source.Span
	ID    Token
	IDKey string // the name of the member ID
	Name  Token
}

// An Alias is another id that a call or a result writes of itself, beside the one
// that counts. It is tried where that one finds no partner, and renamed along. The
// aliases of calls are Copies too.
type Alias struct {
	Call, Result int32 // which it is of; the other is -1
	ID           Token
}

// Counts reports whether the result is written as those are that a client sends.
func (r *Result) Counts() bool {
	return (r.Answer != AnswerProvider || r.Kind == KindFunction) && r.Kind != KindApproval
}

// A RecordFault is a fault in the bytes of one record.
type RecordFault struct {
	source.Fault
	Record int32
	Whole  source.Span // the record
}

// A KeyFault is a member whose key stands twice in one structural object.
type KeyFault struct {
	First, Again source.Span // the two keys
	Key          string
	Record       int32
}

// A LinkFault is a defect in how the records of a log point at each other.
type LinkFault struct {
	// Duplicate is set for two records with one id, and Ordinal for a number that
	// does not follow on from that of the record before it; else the parent named
	// at Span does not exist.
	Duplicate, Ordinal bool
	// Want is what the number should be.
	Want int64
	// Identical is set for a duplicate that equals the first but for its
	// timestamp.
	Identical bool
	// Key is the name of the member that names the parent.
	Key string
	// Live is set when the branch in use is cut off by it.
	Live bool
	// Relink is set when there is a record before it in its scope that does not
	// hang on it.
	Relink bool
	Span   source.Span // the id, the parent reference or the number
	First  source.Span // for a duplicate, the first record's id
	Record int32
	ID     string
	Whole  source.Span // the record
}

// An Unread is an element that is not read.
type Unread struct {
	Span   source.Span
	Before int32 // the message that would follow it
}
