// Package profile knows what each model API accepts, as a table of data: one
// row a provider. It holds no code that judges; rules read the cells.
package profile

// A Level is how a provider takes what a cell describes.
type Level uint8

// The levels.
const (
	Off Level = iota // accepted
	Info
	Warning
	Error
)

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

// A Cell is what is known of one point.
type Cell struct {
	Level      Level
	Confidence Confidence
	// Text is the provider's error, with … for what varies.
	Text string
	// Source is where that was seen.
	Source string
}

// Effective returns the level at which a finding is reported.
func (c Cell) Effective() Level {
	if c.Confidence == Low && c.Level == Error {
		return Warning
	}
	return c.Level
}

// Cells names the points on which providers differ.
type Cells struct {
	Missing          Cell // a call without its result
	Orphan           Cell
	Duplicate        Cell // two results for one call
	DuplicateID      Cell // one id twice in a turn
	ReusedID         Cell // one id in several turns
	Split            Cell // results of a turn in several messages
	NotFirst         Cell // other blocks before results
	Mixed            Cell // results beside other content
	Order            Cell // results out of call order
	MissingID        Cell
	BadID            Cell // an id with characters outside IDChars, or longer than IDMax
	LongID           Cell // an id longer than IDSoftMax
	BadName          Cell
	BadNamePattern   Cell // characters outside NameChars
	EmptyCalls       Cell
	ArgsNotString    Cell
	ArgsBadJSON      Cell
	ArgsNotObject    Cell
	WrongRole        Cell
	EmptyMessage     Cell // content "" or []
	NullMessage      Cell // content null or absent
	ConsecutiveRoles Cell
	CallsNotLast     Cell
	CallsNotLastHard Cell // the same beside signed reasoning or server tools
	Unreplayable     Cell // reasoning that cannot be sent again
	ServerUnpaired   Cell
}

// A Charset is the set of bytes that an id or a name may hold.
type Charset uint8

// The charsets.
const (
	AnyText      Charset = iota
	WordDash             // A-Z a-z 0-9 _ -
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
		case c == WordDash && (b == '_' || b == '-'):
		default:
			return false
		}
	}
	return true
}

// String describes the set as a regular expression does.
func (c Charset) String() string {
	return [...]string{"any text", "[A-Za-z0-9_-]", "[A-Za-z0-9]"}[c]
}

// A Profile is what one provider accepts.
type Profile struct {
	Name  string
	Title string
	// IDChars, IDMax and IDSoftMax bound call ids; 0 means no bound known.
	IDChars          Charset
	IDMax, IDSoftMax int
	// NameChars and NameMax bound tool names in a history.
	NameChars Charset
	NameMax   int
	// EmptyLastAssistant is set where the last message may be an empty one of
	// the assistant.
	EmptyLastAssistant bool
	Cells
}

// All lists the profiles.
func All() []*Profile { return []*Profile{&anthropic, &openAI, &openAIResponses} }

// ByName returns the profile of that name, or nil.
func ByName(name string) *Profile {
	for _, p := range All() {
		if p.Name == name {
			return p
		}
	}
	return nil
}
