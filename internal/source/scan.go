package source

// A ScanMode says what a Scanner accepts.
type ScanMode uint8

// Strict accepts only valid JSON. AllowNewlines also accepts and counts unescaped line
// ends in strings.
const (
	Strict        ScanMode = 0
	AllowNewlines ScanMode = 1
)

// A Scanner checks JSON: its grammar, UTF-8, and nesting no deeper than MaxDepth. It may
// keep state between calls and is not safe for concurrent use.
type Scanner interface {
	// Scan checks the value that starts at text[pos], after optional blanks. It stops at
	// the end of the value.
	Scan(text []byte, pos int, mode ScanMode) Scan
	// Resume continues a scan that ended with FaultTruncated. text is the text of that
	// scan with more bytes appended. The scan must be the last one of this scanner.
	Resume(text []byte, s Scan) Scan
	// remember sets the least length of values whose ends are recorded. of is their
	// document if it is not held in memory.
	remember(least int, of *pages)
	// watch ends scans soon after the context of a source is done. The source then has an
	// error, and the scan ends as if the text ended.
	watch(src *Source)
}

// newScanner returns a scanner of the text of a source.
func newScanner(src *Source) Scanner {
	scan := NewScanner()
	scan.watch(src)
	return scan
}

// lookEvery is the number of bytes after which a scan looks at the context of its source.
const lookEvery = 256 << 10

// A Scan is the result of a Scanner. Offsets are indexes of the text.
type Scan struct {
	// Start is the first byte of the value, after the blanks.
	Start int
	// End is the offset after the value, or how far it could be read.
	End int
	// Kind is FaultNone for a complete value and FaultTruncated if the text ends inside
	// or before the value. Otherwise it is FaultInvalidJSON or FaultTooDeep.
	Kind FaultKind
	// At is the offset of the first byte that cannot be valid. For FaultTruncated it is
	// the length of the text.
	At int
	// Want describes what was expected at At.
	Want string
	// InString reports whether a truncated text ends inside a string.
	InString bool
	// The defects in strings that can still be read.
	InvalidUTF8, LoneSurrogate, RawNewline Flaw

	// The state for Resume: next is at a value or, if after is set, after one.
	next  int
	depth int
	after bool
	mode  ScanMode

	// ends are the ends of the long values if their turn is equal to turn.
	ends *ends
	turn uint32

	// of is the source whose context is looked at from offset look on. It is nil if nothing
	// ends the scan.
	of   *Source
	look int
}

// stopped looks at the context if the scan has come far enough since the last time. It
// reports whether the scan must end at offset i.
func (s *Scan) stopped(i int) bool {
	if i < s.look {
		return false
	}
	if s.look = i + lookEvery; s.of == nil {
		return false
	}
	err := s.of.Err()
	if err != nil {
		s.of.fail(err)
	}
	return err != nil
}

// A Flaw is a defect that leaves its string readable: the location of the first one, and
// how many there are. A run of bytes that are not UTF-8 counts once.
type Flaw struct {
	Start, End int
	Count      int

	seen int // defects before this offset have been counted
}

// add counts one defect. Resume rereads a token that was cut, so add ignores defects that
// were already counted.
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

// What was expected at the fault.
const (
	wantValue       = "a value"
	wantFirst       = "a value or ']'"
	wantFirstMember = "a key in double quotes or '}'"
	wantName        = "a key in double quotes"
	wantColon       = "':' after a key"
	wantAfterMember = "',' or '}' after a field"
	wantAfterElem   = "',' or ']' after an element"
	wantQuote       = "'\"' at the end of a string"
	wantControl     = "an escaped control character"
	wantEscape      = "one of \"\\/bfnrtu after a backslash"
	wantHex         = "four hexadecimal digits after \\u"
	wantDigit       = "a digit"
	wantDepth       = "at most 1000 levels of nesting"
)

// value returns the scanned value. base is the offset of text in its source.
func (s *Scan) value(text []byte, base int64) Value {
	v := Value{text: text, base: base, from: s.Start, to: s.End, ends: s.ends, turn: s.turn}
	if end, _ := v.ends.at(v.turn, v.from, 0); end > 0 {
		v.inner = 1
	}
	return v
}

// fail ends the scan at a byte that cannot be valid.
func (s *Scan) fail(kind FaultKind, at int, want string) {
	s.Kind, s.At, s.End, s.Want = kind, at, at, want
}

// cut ends the scan at the end of the text.
func (s *Scan) cut(text []byte, mark, depth int, after bool, want string) {
	s.fail(FaultTruncated, len(text), want)
	s.resume(mark, depth, after)
}

// resume records where Resume continues: at the token that was cut.
func (s *Scan) resume(mark, depth int, after bool) {
	s.next, s.depth, s.after = mark, depth, after
}
