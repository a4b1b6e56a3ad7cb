// Package dialect knows how one kind of message writes calls and results. A
// dialect is a row of data for one of five drivers: tagged blocks inside a
// message, a side list of calls, flat items, events, or combined records.
//
// It knows no files, no lines and no other dialect than the one at hand: where
// messages stand in a file is the business of package detect.
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
	// Reads weighs whether v has the form of an element of the driver's row. It is
	// asked about a dialect that a user has defined, in a file that is known to be
	// written in it.
	Reads(v source.Value) evidence.Weight
	// Reader returns a reader of one conversation. It adds each element to b.
	Reader(b *transcript.Builder) Reader
}

// A Skipper is a driver that knows elements which stand among messages and are
// none.
type Skipper interface {
	Driver
	// Skips reports whether v is mere book-keeping.
	Skips(v source.Value) bool
}

// A Guesser is a driver that knows elements of a list of messages which lack
// what it would claim them by.
type Guesser interface {
	Driver
	// Damaged reports whether v is a message but for its role, or for all that an
	// item of its type holds.
	Damaged(v source.Value) bool
}

// A Reader reads the elements of one conversation, in order.
type Reader interface {
	Read(v source.Value)
}

// A Renewer is a Reader that can be made ready for another conversation of its builder.
type Renewer interface {
	Reader
	Renew()
}

// A Compactor is a Reader that wants to know of compactions: what it reads from
// there on is a history of its own.
type Compactor interface {
	Reader
	Compacted()
}

// A Dialect is one way to write a transcript.
type Dialect struct {
	Name    string // as --dialect takes it
	Title   string
	Summary string // one sentence
	Where   string // where such files lie
	// Example is a call and its result, one JSON value a line.
	Example string
	// Provider names the profile that the dialect's own provider has.
	Provider string
	Window   transcript.Window
	// Marks are conditions by which an element, or a record of the dialect's log, is
	// known in a dialect that a user defines: an element of which all hold is the
	// dialect's, and no other is. Built-in dialects have none, but evidence.
	Marks []evidence.Cond
	// Evidence is what speaks for an element of a built-in dialect, or for the message
	// in a record of its log.
	Evidence *evidence.Table `toml:"-"`
	Driver   Driver          `toml:"-"`
	// Beside are members of a message that speak of tools, and hold no call and no
	// result but copies of what stands elsewhere.
	Beside []string
	// Members name what a few rules ask for and repairs add, from the element of
	// the call or the result, from the block or the message.
	Members Members
	// Dataset is set where such files are there to train or to evaluate models.
	Dataset bool
	// Slice is set where messages are fragments of a conversation by the nature
	// of the format: what seems to be missing can be in another one.
	Slice bool
	// NumericIDs is set where the ids of calls may be numbers. No built-in dialect has
	// such ids, because no provider takes them; programs that number calls do.
	NumericIDs bool
	// CheckOnly says why no such transcript is repaired; "" where they are. It
	// is a clause without a full stop.
	CheckOnly string
	// Log describes the envelope of a session log; nil where messages stand
	// bare.
	Log *Log
	// Fold describes a log in which records take the place of earlier ones.
	Fold *Fold
	// Patch describes a log of changes to a document, where the dialect's
	// messages stand in such logs too.
	Patch *Patch `toml:"-"`
	// NewSession holds of the record that begins a file in which nobody has said
	// anything yet, all of it; none where that is not to be told.
	NewSession []evidence.Cond `toml:"begun"`
	// Unsent returns how many messages behind a record are not sent any more, false
	// for a record that says nothing of it; nil where none does.
	Unsent func(v source.Value) (n int, says bool) `toml:"-"`
	// Request tells a request to the dialect's API by what stands around its messages:
	// all conditions of one of the lists hold of the object.
	Request [][]evidence.Cond
	// MessagePaths lead from an element of a list to its messages, in their order,
	// for a format that keeps messages in pairs or under names.
	MessagePaths []Lens `toml:"within"`
	// Holder describes the object that holds the messages, where that tells the
	// dialect; nil elsewhere.
	Holder *Holder

	forced bool
}

// Members name what a few rules ask for and repairs add; "" is what has no name.
type Members [transcript.MemberCount]Lens

// UserDefined reports whether a user has defined the dialect, and not this package.
func (d *Dialect) UserDefined() bool { return len(d.Marks) > 0 }

// Forced returns the dialect for a file that the user says is written in it: it
// claims what the driver does, with its marks or without.
func (d *Dialect) Forced() *Dialect {
	if !d.UserDefined() {
		return d
	}
	forced := *d
	forced.forced = true
	return &forced
}

// NeedsMarks reports whether an element without the marks is not the dialect's,
// whatever the driver makes of it.
func (d *Dialect) NeedsMarks() bool { return d.UserDefined() && !d.forced }

// HasMarks reports whether the marks of a user-defined dialect hold of an element,
// or of a record of its log.
func (d *Dialect) HasMarks(v source.Value) bool {
	return d.UserDefined() && v.Kind() == source.Object && evidence.Hold(d.Marks, v)
}

// MarksSign is the sign of an element that has the marks.
func (d *Dialect) MarksSign() evidence.Sign {
	marks := make([]string, len(d.Marks))
	for i, c := range d.Marks {
		marks[i] = c.String()
	}
	return evidence.Named(strings.Join(marks, ", "))
}

// Claim weighs what speaks for v as an element of the dialect, and says by which
// sign that was decided.
func (d *Dialect) Claim(v source.Value) (evidence.Weight, evidence.Sign) {
	switch {
	case !d.UserDefined():
		return d.Evidence.Weigh(v)
	case d.HasMarks(v):
		return evidence.Decisive, d.MarksSign()
	case d.NeedsMarks():
		return evidence.None, evidence.Sign{}
	}
	return d.Driver.Reads(v), evidence.Named("--dialect")
}

// isRequest reports whether v is a request to the dialect's API.
func (d *Dialect) isRequest(v source.Value) bool {
	return slices.ContainsFunc(d.Request, func(conds []evidence.Cond) bool { return evidence.Hold(conds, v) })
}

// IsNewSession reports whether v begins a file of the dialect in which nobody has
// said anything yet.
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

// Reads is Claim for an element of a file that is known to be written in the
// dialect: not all of its elements need have the marks.
func (d *Dialect) Reads(v source.Value) evidence.Weight {
	if d.UserDefined() && !d.HasMarks(v) {
		return d.Driver.Reads(v)
	}
	weight, _ := d.Claim(v)
	return weight
}

// Roleless reports whether v is a message of the dialect but for its role, which
// the type of its record tells.
func (d *Dialect) Roleless(v, kind source.Value) bool {
	g, guesses := d.Driver.(Guesser)
	return guesses && speaks(kind) && g.Damaged(v)
}

// speaks reports whether the type of a record says that the user speaks, or the
// model.
func speaks(kind source.Value) bool { return kind.Is("user") || kind.Is("assistant") }

// A Fold says how the records of a log take the place of earlier ones.
type Fold struct {
	// ID is what two records share of which the later one counts.
	ID Lens
	// Append is set where a message is changed by writing it again. Only one built-in
	// dialect is repaired so, but who describes another has to say it.
	Append bool
	// Effect says what a record does besides; nil where none does anything.
	Effect func(v source.Value) Folding `toml:"-"`
}

// A Folding is what a record of a folding log does, but for taking the place of the
// one with its id.
type Folding struct {
	Silent bool // it is one of book-keeping, and does not speak
	// Back is the id of the record that is taken back with all behind it, All a list
	// of messages that takes the place of all; None for nothing.
	Back, All source.Value
}

// EffectOf returns what a record does.
func (f *Fold) EffectOf(v source.Value) Folding {
	if f.Effect == nil || v.Kind() != source.Object {
		return Folding{}
	}
	return f.Effect(v)
}

// A Patch says how the records of a log change a document, in which messages
// are the elements of a list.
type Patch struct {
	List Lens // the list, in the record that begins with the document
	// Effect says what a record, an object, does.
	Effect func(v source.Value) Change
}

// A Change is what a record does to a document.
type Change struct {
	Kind ChangeKind
	// At is the way there: names, and places in lists.
	At []source.Value
	// Value is the list of messages that a document begins with, what is set, or the
	// list of what is put at the end. Length is how much of the list is kept before,
	// all of it where that is no number.
	Value, Length source.Value
}

// A ChangeKind is a kind of change.
type ChangeKind uint8

// The kinds of change.
const (
	ChangesNothing ChangeKind = iota // the record is none of such a log
	ChangeBegins                     // it begins with a document
	ChangeSets
	ChangeExtends
	ChangeDeletes
)

// A Holder is an object in which only one dialect keeps messages.
type Holder struct {
	Members  []string // by which it is known: it has all of them
	ReadFrom []string `toml:"only"` // of them, those with messages; all of them where it is empty
	// Waits is set where the calls at the end wait for a human's approval. Few
	// built-in dialects have such an object, but nothing else tells it.
	Waits bool
}

// Reads reports whether the messages may be in a member of that name.
func (h *Holder) Reads(key string) bool {
	return len(h.ReadFrom) == 0 || slices.Contains(h.ReadFrom, key)
}

// Bare reports whether messages of the dialect stand without an envelope.
func (d *Dialect) Bare() bool { return d.Log == nil || d.Log.Bare }

// All lists the built-in dialects, in the order in which detection tries them: of two
// that claim an element equally, the first has it.
func All() []*Dialect {
	return []*Dialect{
		ClaudeCode,
		ADK,
		Gemini,
		Bedrock,
		AISDK,
		Pi,
		Amp,
		Goose,
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

// plain is the dialect of messages that any could have written: a role and a text,
// as most programs write them.
var plain = OpenAIChat

// ByName returns the built-in dialect of that name, or nil.
func ByName(name string) *Dialect { return builtin().ByName(name) }

// roleOf maps the spellings of roles that are in use.
func roleOf(v source.Value) transcript.Role {
	if !v.Exists() || v.Kind() == source.Null {
		return transcript.RoleNone
	}
	return roleNamed(v.Text())
}

// roleNamed maps the spellings of roles that are in use.
func roleNamed(name []byte) transcript.Role {
	switch string(name) {
	case "system", "developer":
		return transcript.RoleSystem
	case "user", "human":
		return transcript.RoleUser
	case "assistant", "agent", "model", "ai", "gpt":
		return transcript.RoleAssistant
	case "tool", "function":
		return transcript.RoleTool
	}
	return transcript.RoleOther
}

// textFlags returns BlockBlank for blank text.
func textFlags(v source.Value) transcript.BlockFlags {
	if v.Blank() {
		return transcript.BlockBlank
	}
	return 0
}

// hollow reports whether content holds nothing: null, "" or [].
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

// markHollow flags a message whose content holds nothing.
func markHollow(m *transcript.Message, content source.Value) {
	switch {
	case content.Kind() == source.None || content.Kind() == source.Null:
		m.Flags |= transcript.MessageNull
	case hollow(content):
		m.Flags |= transcript.MessageEmpty
	}
}

// splitTurn tells which messages of an array are parts of one: the
// assistant's with one id, with none of another id between them, and no human.
type splitTurn struct {
	last string
	n    int // tells turns apart that use an id again
}

// turn returns the name of the turn that a message is part of, "" for a turn
// of its own; human is set for what a human says.
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

// contains reports whether a text is one of a list.
func contains(texts []string, v source.Value) bool { return slices.ContainsFunc(texts, v.Is) }
