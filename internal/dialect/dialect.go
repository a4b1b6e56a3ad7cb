// Package dialect knows how each kind of message stores tool calls and tool
// results. A dialect is a table row for one of five drivers: tagged blocks inside a
// message, a side list of calls, flat items, events, or combined records.
//
// The package knows nothing of files, lines or other dialects. Package detect finds
// the messages in a file.
package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Driver reads the messages of one shape.
type Driver interface {
	// recognize adds the evidence for the elements of the driver's row in a file that is known
	// to be in the dialect.
	recognize(r *recognition)
	// Reader returns a reader of one conversation. The reader adds each element to
	// b.
	Reader(b *transcript.Builder) Reader
}

// A Skipper is a driver that recognizes elements that are in the list of messages
// but are not messages.
type Skipper interface {
	Driver
	// Skips reports whether v is a bookkeeping record rather than a message.
	Skips(v source.Value) bool
	// skipsAny reports whether the row has bookkeeping records.
	skipsAny() bool
}

// A Guesser is a driver that recognizes damaged messages: elements that lack the
// fields that identify them.
type Guesser interface {
	Driver
	// Damaged reports whether v is a message that lacks only its role, or an item
	// that has only its type.
	Damaged(v source.Value) bool
}

// A Reader reads the elements of one conversation, in order.
type Reader interface {
	Read(v source.Value)
}

// A Renewer is a Reader that can be reset for another conversation of its builder.
type Renewer interface {
	Reader
	Renew()
}

// A Compactor is a Reader that needs to know about compactions. The elements after
// a compaction are a separate history.
type Compactor interface {
	Reader
	Compacted()
}

// A Dialect is one way to write a transcript.
type Dialect struct {
	Name    string // the value of --from
	Title   string
	Summary string // one or two sentences
	Where   string // where such files are found
	// Example is a call and its result, one JSON value per line.
	Example string
	// Provider names the profile of the dialect's own provider.
	Provider string
	Window   transcript.Window
	// Marks identify an element of a user-defined dialect, or a record of its log:
	// all conditions must hold. Identity says what else does.
	Marks    []*evidence.Cond
	Identity Identity `toml:"-"`
	// Evidence weighs an element of the dialect, or the message in a record of its log. That of
	// a user-defined dialect follows from Marks, Identity and Driver.
	Evidence *evidence.Table `toml:"-"`
	Driver   Driver          `toml:"-"`
	// Beside lists the fields of a message that concern tools but hold only copies
	// of other values, or declare tools.
	Beside []string
	// Members are the fields that a few rules look up and repairs add. The paths
	// start at the element of the call or the result, at the block, or at the
	// message.
	Members Members
	// Strip lists what ties a message to reasoning that only its provider can read, besides the
	// blocks that the driver reads as reasoning.
	Strip []Trace
	// Dataset marks formats whose files are used to train or evaluate models.
	Dataset bool
	// Slice marks formats whose files hold only part of a conversation, so a
	// missing result may be in another file.
	Slice bool
	// NumericIDs is set if call ids may be numbers. Providers reject such ids, so
	// no built-in dialect has them, but some programs number their calls.
	NumericIDs bool
	// AnyIDs is set if the ids of calls are never sent as they are, so that any text is right.
	AnyIDs bool `toml:"-"`
	// CheckOnly says why transcripts in this dialect are not repaired, as a clause
	// without a full stop. It is empty if they are repaired.
	CheckOnly string
	// DamagedLine is what the client does about a line that it cannot read when it resumes a
	// session.
	DamagedLine DamagedLine
	// Log describes the envelope of a session log. It is nil if messages have no
	// envelope.
	Log *Log
	// Fold describes a log in which records replace earlier ones.
	Fold *Fold
	// Patch describes a log of changes to a document, if the dialect's messages are
	// stored in such logs too.
	Patch *Patch `toml:"-"`
	// NewSession recognizes the first record of a file that has no messages yet:
	// all conditions must hold. It is empty if such a file cannot be recognized.
	NewSession []*evidence.Cond `toml:"begun"`
	// Unsent returns how many of the messages after a record are no longer sent,
	// and false if the record does not say. It is nil if no record does.
	Unsent func(v source.Value) (n int, says bool) `toml:"-"`
	// Request recognizes a request to the dialect's API by the fields beside its
	// messages: all conditions of one of the lists must hold.
	Request [][]*evidence.Cond
	// Body says where a request to the dialect's API has its messages. It is nil if no API
	// accepts the dialect.
	Body *Body `toml:"-"`
	// Prompt recognizes a request to the dialect's API whose only message is a text
	// and not in a list: all conditions must hold. It is empty if there are none.
	Prompt []*evidence.Cond `toml:"-"`
	// MessagePaths lead from an element of a list to its messages, in order. They
	// are for formats that keep messages in pairs or under keys.
	MessagePaths []Lens `toml:"within"`
	// Holder describes the object that holds the messages if it identifies the
	// dialect. It is nil otherwise.
	Holder *Holder
}

// A DamagedLine is what the client of a log does about a line that it cannot read.
type DamagedLine uint8

// The values of DamagedLine. The zero value means that it is not known, or that the client
// refuses the session.
const (
	// DamagedSkipped means that the client skips the line.
	DamagedSkipped DamagedLine = iota + 1
	// DamagedEnds means that the client reads up to the line, and drops it and all lines
	// behind it.
	DamagedEnds
)

// Members are the fields that a few rules look up and repairs add. "" means that
// the dialect has no such field.
type Members [transcript.MemberCount]Lens

// UserDefined reports whether the dialect comes from a config file and not from
// this package.
func (d *Dialect) UserDefined() bool { return len(d.Marks) > 0 }

// HasMarks reports whether the marks of a user-defined dialect hold of an element,
// or of a record of its log.
func (d *Dialect) HasMarks(v source.Value) bool {
	return d.UserDefined() && v.Kind() == source.Object && evidence.Hold(d.Marks, v)
}

// MarksText returns the marks as one text.
func (d *Dialect) MarksText() string {
	marks := make([]string, len(d.Marks))
	for i, c := range d.Marks {
		marks[i] = c.String()
	}
	return strings.Join(marks, ", ")
}

// isRequest reports whether v is a request to the dialect's API.
func (d *Dialect) isRequest(v source.Value) bool {
	return slices.ContainsFunc(d.Request, func(conds []*evidence.Cond) bool { return evidence.Hold(conds, v) })
}

// IsPrompt reports whether v is a request to the dialect's API whose only message is a text.
func (d *Dialect) IsPrompt(v source.Value) bool {
	return v.Kind() == source.Object && len(d.Prompt) > 0 && evidence.Hold(d.Prompt, v)
}

// IsNewSession reports whether v is the first record of a file in the dialect that
// has no messages yet.
func (d *Dialect) IsNewSession(v source.Value) bool {
	if v.Kind() != source.Object || len(d.NewSession) == 0 || !evidence.Hold(d.NewSession, v) {
		return false
	}
	for _, val := range v.Members() {
		if val.Kind() == source.Array && val.First().Exists() {
			return false
		}
	}
	return true
}

// Reads returns how strongly v looks like an element of the dialect in a file that is known to
// be in it. Such an element of a user-defined dialect need not have the marks.
func (d *Dialect) Reads(v source.Value) evidence.Weight {
	weight, _ := d.Evidence.Weigh(v, true)
	return weight
}

// Roleless reports whether v is a message that lacks only its role, while the type
// of its record names the role.
func (d *Dialect) Roleless(v, kind source.Value) bool {
	g, guesses := d.Driver.(Guesser)
	return guesses && speaks(kind) && g.Damaged(v)
}

// speaks reports whether the type of a record is a role: the user or the assistant.
func speaks(kind source.Value) bool { return kind.Is("user") || kind.Is("assistant") }

// A Fold says how the records of a log replace earlier ones.
type Fold struct {
	// ID is the id that such records share. The last record with an id counts.
	ID Lens `row:"needed"`
	// Append is set if a message is changed by appending another record with its
	// id. Only one built-in dialect is repaired this way, but user-defined ones may
	// be.
	Append bool
	// Effect returns what else a record does. It is nil if no record does anything
	// else.
	Effect func(v source.Value) Folding `toml:"-"`
}

// A Folding is the effect of a record in a folding log, apart from replacing the
// record with the same id.
type Folding struct {
	Silent bool // a bookkeeping record, not a message
	// Back is the id of a record that is removed together with all later ones. All
	// is a list of messages that replaces all others. Either may be None.
	Back, All source.Value
}

// EffectOf returns the effect of a record.
func (f *Fold) EffectOf(v source.Value) Folding {
	if f.Effect == nil || v.Kind() != source.Object {
		return Folding{}
	}
	return f.Effect(v)
}

// A Patch says how the records of a log change a document that holds a list of
// messages.
type Patch struct {
	List Lens // the list, in the record that holds the initial document
	// Effect returns the change that a record makes. The record is an object.
	Effect func(v source.Value) Change
}

// A Change is what a record does to a document.
type Change struct {
	Kind ChangeKind
	// At is the path to the changed value: keys, and indices of arrays.
	At []source.Value
	// Value is the list of messages in a new document, the new value, or the list
	// of appended values. Length is how much of the list to keep before appending.
	// If it is not a number, the whole list is kept.
	Value, Length source.Value
}

// A ChangeKind is a kind of change.
type ChangeKind uint8

// The kinds of change.
const (
	ChangesNothing ChangeKind = iota // the record does not belong to such a log
	ChangeBegins                     // the record holds a new document
	ChangeSets
	ChangeExtends
	ChangeDeletes
)

// A Body says where a request to an API has its messages.
type Body struct {
	// Lists are the fields with the messages, in order. A request has the first one.
	Lists []string
	// Text is set if that field may be a plain text instead, and Single if it may be one
	// message without a list around it.
	Text, Single bool
	// Instead are fields with which a request need not have that field: a prompt or a
	// history that the provider keeps, or a message that is only a text.
	Instead []string
}

// A Holder is an object that only one dialect uses to hold messages.
type Holder struct {
	Members  []string `row:"needed"` // the fields that identify it; it has all of them
	ReadFrom []string `toml:"only"`  // the fields among Members that hold messages; empty means all of them
	// Waits is set if the calls at the end wait for a human's approval. Few
	// built-in dialects have such an object, but nothing else shows it.
	Waits bool
}

// Reads reports whether a field with that key may hold messages.
func (h *Holder) Reads(key string) bool {
	return len(h.ReadFrom) == 0 || slices.Contains(h.ReadFrom, key)
}

// Bare reports whether messages of the dialect may have no envelope.
func (d *Dialect) Bare() bool { return d.Log == nil || d.Log.Bare }

// All lists the built-in dialects in the order in which detection tries them. If
// two claim an element equally, the first wins.
func All() []*Dialect {
	return []*Dialect{
		ClaudeCode,
		ADK,
		ADKEvents,
		Gemini,
		Bedrock,
		AISDK,
		Pi,
		Amp,
		Goose,
		Crush,
		Zed,
		PydanticAI,
		OTel,
		AgentFramework,
		SemanticKernel,
		MEAI,
		AutoGen,
		Haystack,
		LlamaIndex,
		Kiro,
		Inspect,
		ClaudeStreamJSON,
		Cursor,
		CursorStreamJSON,
		QwenCode,
		Codex,
		CodeBuddy,
		CopilotCLI,
		FactoryDroid,
		KimiWire,
		ACP,
		GeminiStreamJSON,
		DroidStreamJSON,
		GooseStreamJSON,
		ManagedAgents,
		MuseCode,
		DeepSeekHarness,
		LLaMAFactory,
		MSSwift,
		Tau2,
		LlamaStack,
		Vapi,
		Retell,
		OpenAIChat,
		AgentScope,
		Anthropic,
		OpenAIResponses,
		OpenInference,
		TanStackAI,
		AISDKUI,
		Mastra,
		LibreChat,
		LangChain,
		LangChain4j,
		OpenCode,
		GeminiCLI,
		Continue,
		OpenHands,
		ATIF,
		CodexExec,
		VSCodeChat,
		VSCodeChatReplay,
		Letta,
		Trae,
		ElevenLabs,
		AmazonQ,
		CohereV1,
		ShareGPT,
		GrokChat,
		MistralEntries,
	}
}

// plain is the dialect for messages that fit several dialects: a role and a text.
// Most programs write them this way.
var plain = OpenAIChat

// ByName returns the built-in dialect of that name, or nil.
func ByName(name string) *Dialect { return builtin().ByName(name) }

// roleOf returns the role that a value names, in any known spelling.
func roleOf(v source.Value) transcript.Role {
	if !v.Exists() || v.Kind() == source.Null {
		return transcript.RoleNone
	}
	return roleNamed(v.Text())
}

// roleNamed returns the role for a name, in any known spelling.
func roleNamed(name []byte) transcript.Role { return roleNameIn(usual, string(name)) }

// textFlags returns BlockBlank for blank text.
func textFlags(v source.Value) transcript.BlockFlags {
	if v.Blank() {
		return transcript.BlockBlank
	}
	return 0
}

// hollow reports whether content is absent, null, "" or [].
func hollow(content source.Value) bool {
	switch content.Kind() {
	case source.None, source.Null:
		return true
	case source.String:
		return len(content.Raw()) == 2
	case source.Array:
		return !content.First().Exists()
	}
	return false
}

// markHollow flags a message whose content is hollow.
func markHollow(m *transcript.Message, content source.Value) {
	switch {
	case content.Kind() == source.None || content.Kind() == source.Null:
		m.Flags |= transcript.MessageNull
	case hollow(content):
		m.Flags |= transcript.MessageEmpty
	}
}

// splitTurn finds the messages of an array that are parts of one turn: assistant
// messages with the same id, without another id or a human message between them.
type splitTurn struct {
	last string
	n    int // distinguishes turns that reuse an id
}

// turn returns a name for the turn that a message is part of, or "" if the message
// is a turn of its own. human is set for a message from a human.
func (s *splitTurn) turn(role transcript.Role, id source.Value, human bool) string {
	if role != transcript.RoleAssistant {
		if human {
			s.last = ""
		}
		return ""
	}
	if id.Kind() != source.String || len(id.Raw()) <= 2 {
		s.last = ""
		return ""
	}
	if raw := string(id.Raw()); raw != s.last {
		s.last = raw
		s.n++
	}
	return s.last + strconv.Itoa(s.n)
}

// contains reports whether v is one of the texts.
func contains(texts []string, v source.Value) bool { return slices.ContainsFunc(texts, v.Is) }
