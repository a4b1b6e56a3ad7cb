package transcript

import (
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// Shared is the state that the builders of one source share. It caches what is known
// about the keys of structural objects, because objects read by the same reader usually
// have the same keys. It also has buffers for reading text in strings. The zero value is
// ready to use.
type Shared struct {
	keys    []*knownKeys
	scanner source.Scanner
	text    []byte // the last decoded text
	// kept holds the texts of tokens, and known are some that occur often.
	kept  strings.Builder
	known [mostKnown]string
}

const (
	// keptTogether is the number of bytes of texts that are stored together.
	keptTogether = 4 << 10
	// mostKnown is the number of texts that are known.
	mostKnown = 64
)

// keep returns a text as a string.
func (k *Shared) keep(text []byte) string {
	if len(text) > keptTogether/16 {
		return string(text)
	}
	if k.kept.Cap()-k.kept.Len() < len(text) {
		k.kept.Reset() // strings of it stay valid
		k.kept.Grow(keptTogether)
	}
	from := k.kept.Len()
	k.kept.Write(text)
	return k.kept.String()[from:]
}

// knownKeys are the keys of the objects that one reader reads.
type knownKeys struct {
	reader any
	keys   source.Keys
	of     []keyNote // indexed by number
	// members is the current walk. A reader has only one at a time.
	members Members
	// kept is a value that the reader keeps between objects.
	kept any
}

// A keyNote is what is known about a key.
type keyNote struct {
	// note is the reader's note about the key.
	note int
	// ofTools is set if the key is about calls or results, and marks if it marks the
	// prompt cache.
	ofTools, marks bool
}

// by returns the known keys of a reader.
func (k *Shared) by(reader any) *knownKeys {
	for _, keys := range k.keys {
		if keys.reader == reader {
			return keys
		}
	}
	keys := &knownKeys{reader: reader, of: make([]keyNote, 1, 8)}
	k.keys = append(k.keys, keys)
	return keys
}

// Members iterates over the fields of a structural object and reports duplicate keys.
type Members struct {
	source.Walk
	b    *Builder
	keys *knownKeys
	of   source.Span
	// fresh is set if the key is new or has no number.
	fresh bool
	// seen has the bit of each earlier key's number set.
	seen uint64
	// spelled maps the decoded earlier keys to their spans. It is nil until a key has no
	// number or occurs again.
	spelled map[string]source.Span
}

// Members starts a walk over the fields of v. The result is valid until the same reader
// starts another walk.
func (b *Builder) Members(v source.Value, reader any) *Members {
	keys := b.shared().by(reader)
	m := &keys.members
	m.b, m.keys, m.of, m.seen, m.spelled = b, keys, v.Span(), 0, nil
	m.Begin(v, &keys.keys)
	return m
}

// Kept returns the value that the reader keeps between objects, initially nil.
func (m *Members) Kept() any { return m.keys.kept }

// Keep sets the value that the reader keeps.
func (m *Members) Keep(what any) { m.keys.kept = what }

// Next advances to the next field and reports whether there is one.
func (m *Members) Next() bool {
	if !m.Walk.Next() {
		return false
	}
	n := m.Number()
	if m.fresh = n == 0 || n == len(m.keys.of); m.fresh {
		m.meet(n)
	}
	key := &m.keys.of[n]
	if key.ofTools && m.b.OfTools != nil && m.Value().Filled() {
		m.b.candidates = append(m.b.candidates, candidate{m.of, m.KeySpan(), m.Value().Span()})
	}
	if key.marks {
		m.b.Marked = true
	}
	switch bit := uint64(1) << n; {
	case m.b.OnKeyFault == nil:
	case n == 0 || m.spelled != nil:
		m.spell()
	case m.seen&bit != 0:
		m.spell()
	default:
		m.seen |= bit
	}
	return true
}

// meet initializes the note of a new key.
func (m *Members) meet(n int) {
	key := keyNote{
		ofTools: m.b.OfTools != nil && m.b.OfTools(m.Key()),
		marks:   m.b.MarksCache != nil && m.b.MarksCache(m.Key()),
	}
	if n == 0 {
		m.keys.of[0] = key
		return
	}
	m.keys.of = append(m.keys.of, key)
}

// Note returns the reader's note about the key, unless the key is fresh.
func (m *Members) Note() (note int, fresh bool) { return m.keys.of[m.Number()].note, m.fresh }

// SetNote sets the reader's note about the key for all further objects.
func (m *Members) SetNote(note int) { m.keys.of[m.Number()].note = note }

// spell compares the decoded key with the earlier ones.
func (m *Members) spell() {
	if m.spelled == nil {
		m.spelled = map[string]source.Span{}
		for key := range m.Of().Members() {
			if key.Span() == m.KeySpan() {
				break
			}
			m.spelled[key.Str()] = key.Span()
		}
	}
	key := m.Key().Str()
	if first, again := m.spelled[key]; again {
		m.again(first)
		return
	}
	m.spelled[key] = m.KeySpan()
}

// again reports that the key occurred before.
func (m *Members) again(first source.Span) {
	m.b.OnKeyFault(KeyFault{First: first, Again: m.KeySpan(), Key: m.Key().Str(), Record: m.b.Record})
}
