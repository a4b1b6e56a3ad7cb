package repair

import (
	"bytes"
	"iter"
	"slices"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
)

const (
	// mostTorn is how many leaves of torn records are looked up in a file. The torn records behind
	// them count as if they had a leaf of their own.
	mostTorn = 1 << 16
	// mostRests is the same for what is cut off itself, which is compared with each leaf.
	mostRests = 64
)

// Tears are the records of a source that are cut off, in the order of the file. The source is read
// once for all of them.
type Tears struct {
	Source *source.Source
	// Torn yields the spans of the bytes that may be torn records.
	Torn iter.Seq[source.Span]

	only map[source.Span]int // nil until it is needed
}

// onlyIn returns how many complete leaves of a torn record are in no readable record, at least 1 if
// the text is not the beginning of a record. A leaf that the record has twice must be in the
// others twice. The leaf that is cut off counts, unless a leaf of the others begins so.
func (t *Tears) onlyIn(torn source.Span) (int, error) {
	if t.only == nil {
		if err := t.read(); err != nil {
			return 0, err
		}
	}
	if n, known := t.only[torn]; known {
		return n, nil
	}
	return 1, nil
}

// A claim is how often a torn record has a leaf that no readable record had so far.
type claim struct {
	torn source.Span
	left int
}

// A cutOff is what a torn record has of a leaf that is cut off.
type cutOff struct {
	torn source.Span
	edit.Rest
}

// isIn reports whether the readable records up to this one have all of it.
func (c *cutOff) isIn(record []byte) bool {
	if c.Key != nil && bytes.Contains(record, c.Key) {
		c.Key = nil
	}
	if c.Value == nil {
		return c.Key == nil
	}
	for l := range edit.Leaves(record, "", 0) {
		if bytes.HasPrefix(record[l.At.Start:], c.Value) {
			c.Value = nil
			return c.Key == nil
		}
	}
	return false
}

// read counts the leaves of all torn records.
func (t *Tears) read() error {
	t.only = map[source.Span]int{}
	var rests []cutOff
	claims, n, scan := map[edit.Sum][]claim{}, 0, source.NewScanner()
	for torn := range t.Torn {
		text, err := t.Source.Bytes(torn)
		if err != nil {
			return err
		}
		if n > mostTorn || scan.Scan(text, 0, source.Strict).Kind != source.FaultTruncated {
			continue
		}
		t.only[torn] = 0
		if rest := edit.RestOf(text); rest.Key != nil || rest.Value != nil {
			t.only[torn]++
			if len(rests) < mostRests {
				rests = append(rests, cutOff{torn, rest})
			}
		}
		for l := range edit.Complete(text) {
			if n++; n > mostTorn {
				delete(t.only, torn)
				break
			}
			t.only[torn]++
			if of := claims[l.Sum]; len(of) > 0 && of[len(of)-1].torn == torn {
				of[len(of)-1].left++
			} else {
				claims[l.Sum] = append(of, claim{torn, 1})
			}
		}
	}
	for rec, err := range source.Records(t.Source) {
		if err != nil {
			return err
		}
		if len(claims) == 0 && len(rests) == 0 {
			break
		}
		if !rec.Readable() {
			continue
		}
		for i := len(rests) - 1; i >= 0; i-- {
			c := &rests[i]
			if !c.isIn(rec.Value.Raw()) {
				continue
			}
			if _, counts := t.only[c.torn]; counts {
				t.only[c.torn]--
			}
			rests = slices.Delete(rests, i, i+1)
		}
		for l := range edit.Leaves(rec.Value.Raw(), "", 0) {
			of, claimed := claims[l.Sum]
			if !claimed {
				continue
			}
			left := of[:0]
			for _, c := range of {
				if _, counts := t.only[c.torn]; counts {
					t.only[c.torn]--
				}
				if c.left--; c.left > 0 {
					left = append(left, c)
				}
			}
			if len(left) == 0 {
				delete(claims, l.Sum)
			} else {
				claims[l.Sum] = left
			}
		}
	}
	return nil
}

// drops sets what a fix drops that removes a torn record.
func (t *Tears) drops(f *edit.Fix, torn source.Span) (err error) {
	f.Drops, err = t.onlyIn(torn)
	f.Gone = []source.Span{torn}
	return err
}
