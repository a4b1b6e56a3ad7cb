package source

import (
	"bytes"
	"slices"
)

// glued looks for a torn record that is followed by a complete one on the same line. s is the
// failed scan of the line, whose text begins at start, and next is where the next line begins.
// The window may move.
func (r *Reader) glued(start int64, text []byte, next int64, s Scan) (rec Record, is bool, err error) {
	for last := 0; ; {
		at := behindTear(text, s)
		if s.Kind == FaultTruncated {
			// The torn record ends where a value may begin, so the whole one is a value in it. So
			// is the last value of a record that is merely cut off.
			if at = lastValue(text); at > last {
				t := r.scan.Scan(text, at, Strict)
				if t.Kind != FaultNone {
					return rec, false, nil
				}
				keys, least := keysOf(r.win.bytes(start+int64(at), start+int64(t.End))), leastAlike
				if bytes.HasPrefix(text[at:], text[:at]) {
					least = leastAgain
				}
				switch is, err = r.isRecord(keys, least, start, next); {
				case err != nil || !is:
					return rec, false, err
				default:
					text = r.win.bytes(start, start+int64(len(text)))
				}
			}
		}
		if at <= last {
			return rec, false, nil
		}
		t := r.scan.Scan(text, at, Strict)
		if t.Kind == FaultNone && r.follows(start, text, t.End) {
			rec = r.good(start, t)
			rec.Faults = append([]Fault{{Kind: FaultGlued, Span: Span{start, start + int64(at)}}}, rec.Faults...)
			return rec, true, nil
		}
		if t.Kind != FaultInvalidJSON && t.Kind != FaultTruncated {
			return rec, false, nil
		}
		last, s = at, t
	}
}

// behindTear returns the offset of the value that is the reason why a scan failed, or 0. The
// torn record is valid JSON up to the tear, so the syntax error is at the first bracket of the
// next record. If the tear is inside a string, the first quote of the next record ends that
// string, and the error is at the byte after the quote.
func behindTear(text []byte, s Scan) int {
	opens := func(at int) bool { return at > 0 && at < len(text) && (text[at] == '{' || text[at] == '[') }
	if s.Kind != FaultInvalidJSON {
		return 0
	}
	if opens(s.At) {
		return s.At
	}
	at := s.At
	if at == 0 || at > len(text) || text[at-1] != '"' {
		return 0
	}
	for at -= 2; at > 0 && (text[at] == ' ' || text[at] == '\t'); at-- {
	}
	if !opens(at) {
		return 0
	}
	return at
}

// lastValue returns the offset of the object that ends at the end of a text without a syntax
// error, or 0.
func lastValue(text []byte) int {
	end := len(bytes.TrimRight(text, " \t\r"))
	if end == 0 || text[end-1] != '}' {
		return 0
	}
	var open []int
	for i := 0; i < end; i++ {
		switch text[i] {
		case '"':
			for i++; i < end && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			open = append(open, i)
		case '}', ']':
			if len(open) == 0 {
				return 0
			}
			at := open[len(open)-1]
			if open = open[:len(open)-1]; i == end-1 {
				return at
			}
		}
	}
	return 0
}

// A neighbour is a record with which others of the source are compared.
type neighbour struct {
	at   Span
	of   Span     // the record that has keys
	keys []string // of that record
}

// leastAlike is the number of keys that two records of one file have in common, unless all their
// keys are the same. leastAgain is that number if the torn record is the beginning of the one
// behind it, which was written again.
const leastAlike, leastAgain = 3, 2

// isRecord reports whether an object with some keys is like another record: the one before the
// line at start, or the one after it, at next. A log begins with records of different kinds. They
// have at least a number of keys in common.
func (r *Reader) isRecord(keys []string, least int, start, next int64) (bool, error) {
	n := &r.near
	if n.at.End > 0 {
		if n.of != n.at {
			text, err := r.src.Bytes(n.at)
			if err != nil {
				return false, err
			}
			n.of, n.keys = n.at, keysOf(text)
		}
		if alike(keys, n.keys, least) {
			return true, nil
		}
	}
	l, err := r.readLine(start, next, start+joinBytes)
	if err != nil || l.next == 0 {
		return false, err
	}
	text := r.win.bytes(next, l.end)
	if s := r.scan.Scan(text, 0, Strict); s.Kind != FaultNone {
		return false, nil
	}
	return alike(keys, keysOf(text), least), nil
}

// alike reports whether records with some keys are of one file: whether they have at least a
// number of keys in common.
func alike(a, b []string, least int) bool {
	shared := 0
	for _, k := range a {
		if slices.Contains(b, k) {
			shared++
		}
	}
	return shared >= least || shared > 1 && shared == len(a) && shared == len(b)
}

// keysOf returns the keys of an object, given as JSON.
func keysOf(text []byte) (keys []string) {
	for k := range NewValue(text, 0).Members() {
		keys = append(keys, k.Str())
	}
	return keys
}
