package source

// A ScanMode says what a Scanner lets pass.
type ScanMode uint8

// Strict is JSON as it is written down; AllowNewlines lets unescaped line ends
// stand in strings and counts them.
const (
	Strict        ScanMode = 0
	AllowNewlines ScanMode = 1
)

// A Scanner checks JSON: grammar, nesting no deeper than MaxDepth, UTF-8. It
// may keep state between calls and is not safe for concurrent use.
type Scanner interface {
	// Scan looks at the one value that starts at text[pos], blanks before it
	// allowed. It stops behind the value: what follows is not its concern.
	Scan(text []byte, pos int, mode ScanMode) Scan
	// Resume goes on with a scan that ended with FaultTruncated. text is the
	// text of that scan with more bytes behind it. It must be the scanner's
	// last scan.
	Resume(text []byte, s Scan) Scan
	// remember says how long the values are of which the ends are remembered, and of
	// which document they are if that is not held in memory.
	remember(least int, of *pages)
}

// A Scan is what a Scanner found. Offsets are indexes of the text.
type Scan struct {
	// Start is the first byte of the value, behind the blanks.
	Start int
	// End is the offset behind the value, or how far it could be read.
	End int
	// Kind is FaultNone for a whole value, FaultTruncated if the text ends
	// inside it or before it, else FaultInvalidJSON or FaultTooDeep.
	Kind FaultKind
	// At is the byte of the fault: the first that cannot be right. It is the
	// length of the text for FaultTruncated.
	At int
	// Want says what had to stand at At.
	Want string
	// InString reports that a truncated text ends inside a string.
	InString bool
	// What is wrong in strings that can be read nevertheless.
	InvalidUTF8, LoneSurrogate, RawNewline Flaw

	// Where Resume starts: at a value or, if after is set, behind one.
	next  int
	depth int
	after bool
	mode  ScanMode

	// ends are where the long values end, if they are of this turn.
	ends *ends
	turn uint32
}

// A Flaw is a defect that leaves its string readable: where the first one is,
// and how many there are. Bytes that are not UTF-8 count as one as long as
// they are neighbours.
type Flaw struct {
	Start, End int
	Count      int

	seen int // up to where they are counted
}

// add counts one more. Resume reads a token again that it has read in part, so
// what is not behind the last one is not new.
func (f *Flaw) add(start, end int) {
	if start < f.seen {
		return
	}
	if f.Count == 0 {
		f.Start, f.End = start, end
	}
	f.Count++
	f.seen = end
}

// What has to stand where a text goes wrong.
const (
	wantValue       = "a value"
	wantFirst       = "a value or ']'"
	wantFirstMember = "a member name in double quotes or '}'"
	wantName        = "a member name in double quotes"
	wantColon       = "':' after a member name"
	wantAfterMember = "',' or '}' after a member"
	wantAfterElem   = "',' or ']' after an element"
	wantQuote       = "'\"' at the end of a string"
	wantControl     = "an escaped control character"
	wantEscape      = "one of \"\\/bfnrtu after a backslash"
	wantHex         = "four hexadecimal digits after \\u"
	wantDigit       = "a digit"
	wantDepth       = "no more than 1000 levels of nesting"
)

// value returns the value that was found in text, which is at base in its
// source.
func (s *Scan) value(text []byte, base int64) Value {
	v := Value{text: text, base: base, from: s.Start, to: s.End, ends: s.ends, turn: s.turn}
	if end, _ := v.ends.at(v.turn, v.from, 0); end > 0 {
		v.inner = 1
	}
	return v
}

// fail ends the scan at a byte that cannot be right.
func (s *Scan) fail(kind FaultKind, at int, want string) {
	s.Kind, s.At, s.End, s.Want = kind, at, at, want
}

// cut ends the scan at the end of the text.
func (s *Scan) cut(text []byte, mark, depth int, after bool, want string) {
	s.fail(FaultTruncated, len(text), want)
	s.resume(mark, depth, after)
}

// resume notes where Resume goes on: at the token that was cut.
func (s *Scan) resume(mark, depth int, after bool) {
	s.next, s.depth, s.after = mark, depth, after
}
