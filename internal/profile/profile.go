// Package profile is a table of what each model API accepts, one row for each provider. A
// second table maps the hosts, providers and models that a request names to profiles. Package
// rules does the checking.
package profile

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Level is how a provider reacts to the problem of a cell.
type Level uint8

// The levels. The zero Level is that of an empty cell.
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

// The confidences. High is an exact error text in a raw response, confirmed by the
// documentation or a second report. Medium is one raw report. Low is inferred. A cell of low
// confidence never causes an error.
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
	// Text is the provider's error. {id} and {name} stand for the id and the name of the
	// call, and … for other text that varies. Numbers vary too.
	Text string
	// Source is where the error was seen: a repository with the number of an issue, or a
	// page.
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

// Citation returns the source in Markdown, as a link where it names an issue of a
// repository.
func (c Cell) Citation() string {
	ref, rest, _ := strings.Cut(c.Source, " ")
	repo, issue, ok := strings.Cut(strings.TrimPrefix(ref, "gh:"), "#")
	if !strings.HasPrefix(ref, "gh:") || !ok {
		return c.Source
	}
	return strings.TrimSpace(fmt.Sprintf("[%s#%s](https://github.com/%s/issues/%s) %s", repo, issue, repo, issue, rest))
}

// A Point is one thing on which providers differ.
type Point uint8

// The points.
const (
	Missing          Point = iota // a call without its result
	Orphan                        // a result without its call
	Misplaced                     // something between a call and its result
	Before                        // a result before its call
	Duplicate                     // two results for one call
	DuplicateID                   // one id twice in a turn
	ReusedID                      // one id in several turns
	Split                         // results of a turn in several messages
	NotFirst                      // other blocks before results
	Mixed                         // results beside other content
	Order                         // results out of call order
	WrongKind                     // a result of another type than its call
	MissingID                     // a call or a result without an id
	BadID                         // an id outside of IDChars, IDMin and IDMax
	LongID                        // an id longer than IDSoftMax
	ServerID                      // an id in the wrong form for who runs the tool
	ItemID                        // an id in the wrong form for its item
	DuplicateItemID               // two items with one id
	BadName                       // no name, or one longer than NameMax
	BadNamePattern                // a name outside of NameChars
	NoResultName                  // a result that does not repeat the tool's name
	EmptyCalls                    // an empty list of calls
	NoCallType                    // a call without a type
	ArgsNotString                 // arguments as a value instead of a string
	ArgsBadJSON                   // a string of arguments that is not JSON
	ArgsNotObject                 // arguments that are not an object
	NoArgs                        // no arguments
	ResultContent                 // content of a result in a form that is not in ResultForms
	NullResult                    // null as the content of a result
	EmptyText                     // a blank text block
	EmptyBlock                    // an empty block that is not a text block
	EmptyMessage                  // content "" or []
	NullMessage                   // content null or absent
	TrailingSpace                 // white space at the end of a last message of the assistant
	BadRole                       // a role that is not in Roles
	SystemPlace                   // a system message after a role that is not in SystemAfter
	WrongRole                     // a block under the wrong role
	FirstRole                     // a history that does not begin with the user
	NoUser                        // a history without a message of the user
	ConsecutiveRoles              // two messages of one role in a row
	UserAfterTool                 // a message of the user right after results
	LastRole                      // a history that ends with the assistant
	CallsNotLast                  // other blocks after calls
	CallsNotLastHard              // the same beside reasoning or server tools
	Unreplayable                  // reasoning that cannot be sent again as it is
	NoReasoning                   // calls without their reasoning
	Sealed                        // reasoning that another account, model or conversation wrote
	ServerUnpaired                // a server tool without its result, or the reverse
	CacheLimit                    // more prompt cache markers than CacheMax
	SplitReasoning                // the parts of an answer with reasoning apart, with another answer between them
	NotStored                     // an item that is only stored by the provider, in a request that stores nothing
	NoToolConfig                  // calls in a request that declares no tools
	NullSchema                    // a null in the schema of a declared tool
	ImageSide                     // an image with a side longer than Images.Side
	ImageManySide                 // an image with a side longer than Images.ManySide beside many others
	ImageBytes                    // an image longer than Images.Bytes
	ImageSoftBytes                // an image longer than Images.SoftBytes
	ImageCount                    // more images than Images.Count
	ImageSoftCount                // more images than Images.SoftCount
	points
)

// Cells hold what is known of each point. Most are nil, because profiles know little of their own.
type Cells [points]*Cell

// A Charset is the set of characters that an id or a name may contain.
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
	set := &charsets[c]
	for i := 0; i < len(s); i++ {
		if !set[s[i]] {
			return false
		}
	}
	return true
}

// charsets are the bytes of each set but AnyText.
var charsets = func() (sets [Alphanumeric + 1][256]bool) {
	for b := range 256 {
		word := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
		dash := b == '_' || b == '-'
		sets[Alphanumeric][b], sets[WordDash][b], sets[WordDashDot][b] = word, word || dash, word || dash || b == '.'
	}
	return sets
}()

// String describes the set as a regular expression.
func (c Charset) String() string {
	return [...]string{"any text", "[A-Za-z0-9_-]", "[A-Za-z0-9_.-]", "[A-Za-z0-9]"}[c]
}

// A Wire is the shape in which an API accepts a history. A profile's rules about shapes apply
// only to histories in its own shape.
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

// List returns the field of a request that has the messages.
func (w Wire) List() string {
	switch w {
	case Items:
		return "input"
	case Contents:
		return "contents"
	}
	return "messages"
}

// Blocks returns the field of a message that has the blocks, or the calls, that the provider
// numbers; "" if it numbers none.
func (w Wire) Blocks() string {
	switch w {
	case Messages, Converse:
		return "content"
	case Contents:
		return "parts"
	case Chat:
		return "tool_calls"
	}
	return ""
}

// A Form is a set of kinds of JSON values.
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

// A Replay says which reasoning a provider requires to be sent again.
type Replay uint8

// The replays.
const (
	ReplayNothing   Replay = iota
	ReplaySigned           // reasoning must carry its signature
	ReplayFirst            // the same, and a turn with calls must begin with it
	ReplayNever            // a last message of the assistant must have none
	ReplayItems            // reasoning items come before the items they led to
	ReplayText             // calls need the text of their reasoning
	ReplaySignature        // calls need a signature of their own
)

// String describes the reasoning that must be sent again.
func (r Replay) String() string {
	return [...]string{
		"", "thinking with its signature", "thinking before calls", "no thinking at the end", "reasoning items before the items they led to",
		"reasoning text with calls", "signatures of calls",
	}[r]
}

// ItemPrefixes are the prefixes of the ids of items, by type; "" if it is not known.
type ItemPrefixes struct {
	Message, Reasoning, Function, Custom string
}

// ImageLimits limit the images of a request; 0 means no known limit.
type ImageLimits struct {
	// Side is the longest side in pixels. ManySide is that in a request with more than Many
	// images.
	Side, Many, ManySide int
	// Bytes is the longest image in base64, and SoftBytes that for some models or hosts.
	Bytes, SoftBytes int64
	// Count is the number of images, and SoftCount that for some models or hosts.
	Count, SoftCount int
}

// String describes the limits.
func (l ImageLimits) String() string {
	var out []string
	add := func(n int64, format string, args ...any) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(int64(l.Side), "sides up to %d pixels", l.Side)
	add(int64(l.ManySide), "up to %d with more than %d images", l.ManySide, l.Many)
	add(l.Bytes, "up to %d MB", l.Bytes>>20)
	add(l.SoftBytes, "up to %d MB for some", l.SoftBytes>>20)
	add(int64(l.Count), "up to %d images", l.Count)
	add(int64(l.SoftCount), "up to %d images for some", l.SoftCount)
	return strings.Join(out, ", ")
}

// A Profile describes what one provider accepts.
type Profile struct {
	Name  string
	Title string
	Wire  Wire
	// Like is the API that a compatible one copies. For points that are unknown for the copy,
	// the cells of that API apply with low confidence and without the error text.
	Like *Profile
	// Contiguous says that nothing may come between calls and results, although the wire
	// would allow it.
	Contiguous bool
	// Merges says that successive messages with the same role are merged.
	Merges bool
	// NoIDs says that calls have no ids: results belong to them by position.
	NoIDs bool
	// IDChars, IDMin, IDMax and IDSoftMax limit call ids; 0 means no known limit.
	IDChars                 Charset
	IDMin, IDMax, IDSoftMax int
	// ItemPrefixes are the prefixes of the ids of items.
	ItemPrefixes ItemPrefixes
	// ServerID is the prefix of the ids of calls that the provider runs itself.
	ServerID string
	// NameChars and NameMax limit tool names in a history.
	NameChars Charset
	NameMax   int
	// Roles are the names of the roles, those of the user, the assistant and the tool first;
	// nil if they are not known.
	Roles []string
	// SystemAfter are the roles after which a system message is accepted, by their common
	// names. They matter only with the cell SystemPlace.
	SystemAfter []string
	// RoleOptional says that a message without a role is the user's.
	RoleOptional bool
	// ResultForms are the allowed forms of the content of a result.
	ResultForms Form
	// BlankBesideCalls says that a text of white space may stand beside calls.
	BlankBesideCalls bool
	// BlankBehindMedia says that a text of white space may stand between a document, an image or a
	// video and a marker of the prompt cache, which may not follow a document or a video directly.
	BlankBehindMedia bool
	// ArgsBoth says that arguments may be an object or a string that holds one.
	ArgsBoth bool
	// TextFirst says that the assistant may begin the history, unless it begins with a call.
	TextFirst bool
	// UsersInRow says that messages of the user may follow each other, although those of the
	// assistant may not.
	UsersInRow bool
	// EmptyLastAssistant says that the last message may be an empty message of the assistant.
	EmptyLastAssistant bool
	// CacheMax limits the prompt cache markers; 0 means no limit.
	CacheMax int
	// Unstored says that the provider stores no items, whatever the request says.
	Unstored bool
	Images   ImageLimits
	Replay   Replay
	// Thinking are the prefixes of the names of the models that require their reasoning to be
	// sent again, if not all of the provider's models do.
	Thinking []string
	// ThinksIfAsked says that requests without reasoning were answered unless they say that the
	// model is to think.
	ThinksIfAsked bool
	// BlankReasoning says that the reasoning may be an empty text.
	BlankReasoning bool
	// Sentinel is the documented substitute for a lost signature.
	Sentinel string
	// Switch is the parameter that turns thinking on and off.
	Switch Switch
	Cells  Cells
	// Rest are cells that the profile shares with others. If Cells do not know a point, the
	// first of Rest that knows it applies.
	Rest []*Cells

	once sync.Once
	all  []Cell // what Cell returns for each point
}

// Own returns what is known of a point, without the cells of the API that this one copies.
func (p *Profile) Own(at Point) Cell {
	c := p.Cells[at]
	for i := 0; c == nil && i < len(p.Rest); i++ {
		c = p.Rest[i][at]
	}
	if c == nil {
		return Cell{}
	}
	return *c
}

// VariantOf reports whether a profile is that of another provider with other models or settings, as
// bedrock-nova is of bedrock.
func (p *Profile) VariantOf(other *Profile) bool {
	for q := p.Like; q != nil; q = q.Like {
		if q == other {
			return strings.HasPrefix(p.Name, other.Name+"-")
		}
	}
	return false
}

// Cell returns what is known of a point.
func (p *Profile) Cell(at Point) Cell {
	p.once.Do(p.compile)
	return p.all[at]
}

// compile makes the table of all cells, with those of the API that this one copies.
func (p *Profile) compile() {
	p.all = make([]Cell, points)
	for at := range points {
		c := p.Own(at)
		if c.Level == Unknown && p.Like != nil {
			c = p.Like.Cell(at)
			c.Confidence, c.Text, c.Also = Low, "", nil
			if c.Source != "" {
				c.Source = "as " + p.Like.Name
			}
		}
		p.all[at] = c
	}
}

// Role returns the profile's name for a role, "" if it is not known.
func (p *Profile) Role(common string) string {
	i := slices.Index([]string{"user", "assistant", "tool"}, common)
	if i < 0 || i >= len(p.Roles) {
		return ""
	}
	return p.Roles[i]
}

// IDs describes the call ids that the profile accepts.
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

// Names describes the tool names that the profile accepts.
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
		&openAIResponsesZDR,
		&responsesCompatible,
		&gemini,
		&gemini3,
		&gemini3Chat,
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
		&chatTemplate,
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

// ByName returns the profile with a name, or nil.
func ByName(name string) *Profile {
	for _, p := range All() {
		if p.Name == name {
			return p
		}
	}
	return nil
}
