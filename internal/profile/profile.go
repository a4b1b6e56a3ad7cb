// Package profile knows what each model API accepts, as a table of data: one
// row a provider. A second table says by which hosts, providers and models a
// request asks for one. It holds no code that judges; rules read the cells.
package profile

import (
	"fmt"
	"slices"
	"strings"
)

// A Level is how a provider takes what a cell describes.
type Level uint8

// The levels. The zero Level is that of a cell that nobody filled in.
const (
	Unknown Level = iota
	Accepted
	Info
	Warning
	Error
)

// String returns the level's name as tables print it.
func (l Level) String() string {
	return [...]string{"unknown", "accepted", "info", "warning", "error"}[l]
}

// A Confidence says how well a cell is known.
type Confidence uint8

// The confidences: High is an exact error text in a raw response with the
// documentation or a second report beside it, Medium one raw report, Low
// inference. A cell of low confidence never makes an error.
const (
	Low Confidence = iota
	Medium
	High
)

// String returns the confidence's letter.
func (c Confidence) String() string { return [...]string{"L", "M", "H"}[c] }

// A Cell is what is known of one point.
type Cell struct {
	Level      Level
	Confidence Confidence
	// Text is the provider's error. {id} and {name} stand for those of the call,
	// … for anything else that varies, and so does any number.
	Text string
	// Source is where that was seen: a repository and its issue, or a page.
	Source string
	// Also are other wordings of the same error.
	Also []string
}

// Effective returns the level at which a finding is reported.
func (c Cell) Effective() Level {
	if c.Confidence == Low && c.Level == Error {
		return Warning
	}
	return c.Level
}

// A Point is one thing on which providers differ.
type Point uint8

// The points.
const (
	Missing          Point = iota // a call without its result
	Orphan                        // a result without its call
	Misplaced                     // something stands between a call and its result
	Before                        // a result before its call
	Duplicate                     // two results for one call
	DuplicateID                   // one id twice in a turn
	ReusedID                      // one id in several turns
	Split                         // results of a turn in several messages
	NotFirst                      // other blocks before results
	Mixed                         // results beside other content
	Order                         // results out of call order
	WrongKind                     // a result of another type than its call
	MissingID                     // no id
	BadID                         // an id outside of IDChars, IDMin and IDMax
	LongID                        // an id longer than IDSoftMax
	ServerID                      // an id that does not fit who runs the tool
	ItemID                        // an id that does not fit its item
	DuplicateItemID               // two items with one id
	BadName                       // no name, or one longer than NameMax
	BadNamePattern                // a name outside of NameChars
	NoResultName                  // a result that does not repeat the tool's name
	EmptyCalls                    // a list of calls without any
	NoCallType                    // a call that does not say what it is
	ArgsNotString                 // arguments as a value where a string is due
	ArgsBadJSON                   // a string of arguments that holds no JSON
	ArgsNotObject                 // arguments that are no object where one is due
	NoArgs                        // no arguments
	ResultContent                 // content of a result in a form outside of ResultForms
	NullResult                    // null as the content of a result
	EmptyText                     // a blank block of text
	EmptyBlock                    // a block that holds nothing, not even a text
	EmptyMessage                  // content "" or []
	NullMessage                   // content null or absent
	TrailingSpace                 // white space at the end of a last message of the assistant
	BadRole                       // a role that is none of Roles
	SystemPlace                   // a system prompt behind a role that is none of SystemAfter
	WrongRole                     // a block under the wrong role
	FirstRole                     // a history that does not begin with the user
	ConsecutiveRoles              // two messages of one role in a row
	UserAfterTool                 // a message of the user right behind results
	LastRole                      // a history that ends with the assistant
	CallsNotLast                  // other blocks behind calls
	CallsNotLastHard              // the same beside reasoning or server tools
	Unreplayable                  // reasoning that cannot be sent again as it stands
	NoReasoning                   // calls without the reasoning that belongs to them
	ServerUnpaired                // a server tool without its result, or the reverse
	CacheLimit                    // more marks for the cache than CacheMax
	NoToolConfig                  // calls in a request that declares no tools
	points
)

// Cells hold what is known of each point.
type Cells [points]Cell

// A Charset is the set of characters that an id or a name may hold.
type Charset uint8

// The charsets.
const (
	AnyText      Charset = iota
	WordDash             // A-Z a-z 0-9 _ -
	WordDashDot          // the same and .
	Alphanumeric         // A-Z a-z 0-9
)

// Allows reports whether every byte of s is in the set.
func (c Charset) Allows(s string) bool {
	if c == AnyText {
		return true
	}
	for i := 0; i < len(s); i++ {
		b := s[i]
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9':
		case c != Alphanumeric && (b == '_' || b == '-'):
		case c == WordDashDot && b == '.':
		default:
			return false
		}
	}
	return true
}

// String describes the set as a regular expression does.
func (c Charset) String() string {
	return [...]string{"any text", "[A-Za-z0-9_-]", "[A-Za-z0-9_.-]", "[A-Za-z0-9]"}[c]
}

// A Wire is the shape in which an API takes a history. What a profile says of
// shapes holds for histories that are written in its own.
type Wire string

// The wires.
const (
	Messages  Wire = "messages"  // Anthropic: blocks in messages
	Chat      Wire = "chat"      // OpenAI: calls beside the content, results as messages
	Items     Wire = "items"     // Responses: flat items
	Contents  Wire = "contents"  // Gemini: parts in contents
	Converse  Wire = "converse"  // Bedrock: blocks in messages
	Framework Wire = "framework" // no API: a library's own checks
)

// A Form is a kind of JSON value, as a set.
type Form uint8

// The forms.
const (
	FormString Form = 1 << iota
	FormList
	FormObject
	FormNull
	FormScalar
	FormAbsent
)

// String lists the forms.
func (f Form) String() string {
	var out []string
	for i, name := range []string{"text", "list", "object", "null", "number", "nothing"} {
		if f&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

// A Replay says which reasoning a provider wants to see again.
type Replay uint8

// The replays.
const (
	ReplayNothing   Replay = iota
	ReplaySigned           // reasoning must carry its signature
	ReplayFirst            // so, and a turn with calls must begin with it
	ReplayNever            // a last message of the assistant must have none
	ReplayItems            // reasoning items stand before what they led to
	ReplayText             // calls must come with the text of the reasoning
	ReplaySignature        // calls must carry a signature of their own
)

// String says what is to be sent again.
func (r Replay) String() string {
	return [...]string{
		"", "thinking with its signature", "thinking before calls", "no thinking at the end", "reasoning items before what they led to",
		"the text of the reasoning with calls", "the signature of calls",
	}[r]
}

// ItemPrefixes are how the ids of items begin, by type; "" where that is not
// known.
type ItemPrefixes struct {
	Message, Reasoning, Function, Custom string
}

// A Profile is what one provider accepts.
type Profile struct {
	Name  string
	Title string
	Wire  Wire
	// Like is the API that a compatible one copies. What is not known of the
	// copy is taken from there, with low confidence and without the words.
	Like *Profile
	// Contiguous is set where nothing may stand between calls and results,
	// although the wire would allow it.
	Contiguous bool
	// Merges is set where messages of one role in a row are taken as one.
	Merges bool
	// NoIDs is set where calls have no ids: results belong to them by position.
	NoIDs bool
	// IDChars, IDMin, IDMax and IDSoftMax bound call ids; 0 is no bound known.
	IDChars                 Charset
	IDMin, IDMax, IDSoftMax int
	// ItemPrefixes are how the ids of items begin.
	ItemPrefixes ItemPrefixes
	// ServerID is how the ids of calls begin that the provider runs itself.
	ServerID string
	// NameChars and NameMax bound tool names in a history.
	NameChars Charset
	NameMax   int
	// Roles are the roles as they are spelled, the user's, the assistant's and
	// the tool's first; nil where that is not known.
	Roles []string
	// SystemAfter are the roles behind which a system prompt may stand, by their
	// common names; it matters only with the cell SystemPlace.
	SystemAfter []string
	// RoleOptional is set where a message that names no role is the user's.
	RoleOptional bool
	// ResultForms are the forms that the content of a result may have.
	ResultForms Form
	// TextFirst is set where the assistant may begin the history, if it does not
	// begin with a call.
	TextFirst bool
	// UsersInRow is set where messages of the user may follow each other, though
	// those of the assistant may not.
	UsersInRow bool
	// EmptyLastAssistant is set where the last message may be an empty one of
	// the assistant.
	EmptyLastAssistant bool
	// CacheMax bounds the marks for the prompt cache; 0 is no bound.
	CacheMax int
	Replay   Replay
	// Thinking are how the names of the models begin that want their reasoning
	// again, where not all of the provider's do.
	Thinking []string
	// BlankReasoning is set where an empty text of the reasoning will do.
	BlankReasoning bool
	// Sentinel is what the provider documents for a signature that was lost.
	Sentinel string
	Cells    Cells
	// Rest are cells that the profile shares with others. Of what Cells do not know, the
	// first counts that does.
	Rest []*Cells
}

// Own returns what is known of a point, but for what an API does that this one copies.
func (p *Profile) Own(at Point) Cell {
	c := p.Cells[at]
	for i := 0; c.Level == Unknown && i < len(p.Rest); i++ {
		c = p.Rest[i][at]
	}
	return c
}

// Cell returns what is known of a point.
func (p *Profile) Cell(at Point) Cell {
	c := p.Own(at)
	if c.Level == Unknown && p.Like != nil {
		c = p.Like.Cell(at)
		c.Confidence, c.Text, c.Also = Low, "", nil
		if c.Source != "" {
			c.Source = "as " + p.Like.Name
		}
	}
	return c
}

// Role returns how the profile spells a role, "" where it does not say.
func (p *Profile) Role(common string) string {
	i := slices.Index([]string{"user", "assistant", "tool"}, common)
	if i < 0 || i >= len(p.Roles) {
		return ""
	}
	return p.Roles[i]
}

// IDs describes the call ids that the profile takes.
func (p *Profile) IDs() string {
	switch {
	case p.NoIDs:
		return "none"
	case p.IDMin > 0 && p.IDMin == p.IDMax:
		return fmt.Sprintf("%s, %d", p.IDChars, p.IDMax)
	case p.IDSoftMax > 0:
		return fmt.Sprintf("%s, up to %d (%d for some)", p.IDChars, p.IDMax, p.IDSoftMax)
	case p.IDMax > 0:
		return fmt.Sprintf("%s, up to %d", p.IDChars, p.IDMax)
	}
	return p.IDChars.String()
}

// Names describes the tool names that the profile takes.
func (p *Profile) Names() string {
	if p.NameMax > 0 {
		return fmt.Sprintf("%s, up to %d", p.NameChars, p.NameMax)
	}
	return p.NameChars.String()
}

// All lists the profiles.
func All() []*Profile {
	return []*Profile{
		&anthropic,
		&anthropicThinking,
		&anthropicNoThinking,
		&anthropicCompatible,
		&openAI,
		&openAICompatible,
		&openAIResponses,
		&responsesCompatible,
		&gemini,
		&gemini3,
		&bedrock,
		&bedrockNova,
		&bedrockOther,
		&bedrockOpen,
		&mistral,
		&deepSeek,
		&deepSeekAnthropic,
		&deepSeekResponses,
		&kimi,
		&miniMax,
		&qwen,
		&glm,
		&groq,
		&xAI,
		&cohere,
		&ollama,
		&vllm,
		&llamaCPP,
		&aiSDK,
		&langGraph,
		&pydanticAI,
		&neutral,
	}
}

// Names lists the names of the profiles, in the order of All.
func Names() []string {
	var names []string
	for _, x := range All() {
		names = append(names, x.Name)
	}
	return names
}

// ByName returns the profile of that name, or nil.
func ByName(name string) *Profile {
	for _, p := range All() {
		if p.Name == name {
			return p
		}
	}
	return nil
}
