package source

// A FaultKind says in which way the bytes of a record are at fault.
type FaultKind uint8

// The kinds of fault, in the order of the framing rules that report them.
const (
	FaultNone          FaultKind = iota
	FaultInvalidJSON             // not JSON at the byte of the fault
	FaultTruncated               // the input ends inside the last record
	FaultNUL                     // a run of NUL bytes between or after records
	FaultGlued                   // a torn record and a whole one on one line
	FaultRawNewline              // an unescaped line feed inside a string
	FaultTooDeep                 // nesting deeper than MaxDepth
	FaultInvalidUTF8             // bytes that are not UTF-8
	FaultLoneSurrogate           // half of a surrogate pair in \u escapes
)

// MaxDepth is the deepest nesting of arrays and objects that is read.
const MaxDepth = 1000

// A Fault is one defect in the bytes of a record.
type Fault struct {
	Kind FaultKind
	// Span is where the fault is: the exact byte of a syntax error, the run of
	// NULs, the torn prefix, the offending escape. At the end of the input it
	// is empty.
	Span Span
	// Want says what was expected there, for a reader: `',' or '}' after a
	// member`. Empty where the kind says it all.
	Want string
	// Count is how often the fault occurs in the record; 0 means once.
	Count int
}

// Unreadable reports whether a record with this fault cannot be read. The
// other kinds are defects in a record that can.
func (f Fault) Unreadable() bool {
	switch f.Kind {
	case FaultInvalidJSON, FaultTruncated, FaultTooDeep:
		return true
	}
	return false
}

// A Framing says how records follow one another in a source.
type Framing uint8

// The framings. They are decided from the bytes, never from a file's name.
const (
	FramingEmpty    Framing = iota // nothing but white space
	FramingDocument                // one JSON value
	FramingLines                   // one JSON value a line
	FramingValues                  // several JSON values one after another, not line by line
	FramingNone                    // not JSON: an image, UTF-16, a log with pieces of JSON
)

// String returns the framing's name as reports print it.
func (f Framing) String() string {
	switch f {
	case FramingEmpty:
		return "empty"
	case FramingDocument:
		return "json"
	case FramingLines:
		return "jsonl"
	case FramingValues:
		return "json-values"
	}
	return "none"
}

// A Record is one framed JSON value, or the bytes that should have been one.
type Record struct {
	// Index counts the records of a source from 1.
	Index int
	// Span is the value itself, without white space or line end around it.
	Span Span
	// Faults are the defects found in it, in order. If one of them is
	// Unreadable, Value is None.
	Faults []Fault
	// Value is the parsed record. It aliases a buffer that the next record
	// overwrites: copy what must outlive it.
	Value Value
}

// Readable reports whether the record holds a value.
func (r Record) Readable() bool { return r.Value.Kind() != None }
