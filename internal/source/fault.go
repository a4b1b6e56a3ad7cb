package source

// A FaultKind is a kind of defect in the bytes of a record.
type FaultKind uint8

// The kinds of faults, in the order of the framing rules that report them.
const (
	FaultNone          FaultKind = iota
	FaultInvalidJSON             // a syntax error
	FaultTruncated               // the input ends inside the last record
	FaultNUL                     // a run of NUL bytes before or after a record
	FaultGlued                   // a torn record and a whole one on one line
	FaultSameLine                // the second of several whole records on one line
	FaultRawNewline              // an unescaped line feed inside a string
	FaultTooDeep                 // nesting deeper than MaxDepth
	FaultInvalidUTF8             // bytes that are not UTF-8
	FaultLoneSurrogate           // half of a surrogate pair in \u escapes
)

// MaxDepth is the deepest nesting of arrays and objects that is accepted.
const MaxDepth = 1000

// A Fault is one defect in the bytes of a record.
type Fault struct {
	Kind FaultKind
	// Span is the location of the fault: the character of a syntax error, the run of NULs, the
	// torn prefix or the offending escape. It is empty at the end of the input.
	Span Span
	// Want describes for a user what was expected at the fault: `',' or '}' after a
	// field`. It is empty if Kind says it all.
	Want string
	// Count is how often the fault occurs in the record; 0 means once.
	Count int
}

// Unreadable reports whether the fault makes its record unreadable. A record with only
// other faults still has a value.
func (f Fault) Unreadable() bool {
	switch f.Kind {
	case FaultInvalidJSON, FaultTruncated, FaultTooDeep:
		return true
	}
	return false
}

// A Framing says how the records of a source are separated.
type Framing uint8

// The framings. They are detected from the bytes; only YAML may be known from the file name.
const (
	FramingEmpty    Framing = iota // only white space
	FramingDocument                // one JSON value
	FramingLines                   // one JSON value per line
	FramingValues                  // several JSON values in a row, not one per line
	FramingYAML                    // YAML, which this package does not read
	FramingNone                    // not JSON, such as an image, UTF-16, or a log with pieces of JSON
)

// String returns the name of the framing as reports print it.
func (f Framing) String() string {
	switch f {
	case FramingEmpty:
		return "empty"
	case FramingDocument:
		return "json"
	case FramingLines:
		return "jsonl"
	case FramingYAML:
		return "yaml"
	case FramingValues:
		return "json-values"
	}
	return "none"
}

// A Record is one framed JSON value, or the bytes in place of one.
type Record struct {
	// Index counts the records of a source from 1.
	Index int
	// Span is the value without the white space or line end around it.
	Span Span
	// Faults are the defects of the record, in order. If one of them is Unreadable, Value
	// is None.
	Faults []Fault
	// Shared is set if another whole record is before it on its line.
	Shared bool
	// Value is the parsed record. It aliases a buffer that the next record overwrites, so
	// callers must copy everything they keep.
	Value Value
}

// Readable reports whether the record has a value.
func (r Record) Readable() bool { return r.Value.Kind() != None }
