package transcript

import "github.com/toolguard/toolguard/internal/source"

// Shared is what the builders of one source share: what is known of the keys of
// structural objects, of which those that are read by one reader mostly have the
// same, and what is needed to read texts in strings. The zero value is ready for use.
type Shared struct {
	keys    []*knownKeys
	scanner source.Scanner
	text    []byte // what was decoded last
}

// knownKeys are the keys of the objects that one reader reads.
type knownKeys struct {
	reader any
	keys   source.Keys
	of     []keyNote // by number
	// members is the walk that goes on, one at a time.
	members Members
	// kept is what the reader keeps from one object to the next.
	kept any
}

// A keyNote is what is known of a key.
type keyNote struct {
	// note is what its reader has noted.
	note int
	// ofTools is set if it speaks of calls or results, marks if it marks the prompt
	// cache.
	ofTools, marks bool
}

// by returns the keys of the objects that a reader reads.
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

// Members goes over the members of a structural object, and reports doubled keys.
type Members struct {
	source.Walk
	b    *Builder
	keys *knownKeys
	of   source.Span
	// fresh is set if the key was not met before, or has no number.
	fresh bool
	// seen has a bit for the number of each key before.
	seen uint64
	// spelled are the keys before by what they say, once one was among them that
	// has no number or was there before; nil until then.
	spelled map[string]source.Span
}

// Members begins with the members of v. What it returns is good until the same
// reader begins with another object.
func (b *Builder) Members(v source.Value, reader any) *Members {
	keys := b.shared().by(reader)
	m := &keys.members
	m.b, m.keys, m.of, m.seen, m.spelled = b, keys, v.Span(), 0, nil
	m.Begin(v, &keys.keys)
	return m
}

// Kept returns what the reader keeps from one object to the next, nil at first.
func (m *Members) Kept() any { return m.keys.kept }

// Keep says what the reader keeps.
func (m *Members) Keep(what any) { m.keys.kept = what }

// Next goes to the next member, and reports whether there is one.
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

// meet finds out what is to be known of a key that is fresh.
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

// Note returns what the reader has noted of the key, unless it is fresh.
func (m *Members) Note() (note int, fresh bool) { return m.keys.of[m.Number()].note, m.fresh }

// SetNote notes something of the key, for all objects to come.
func (m *Members) SetNote(note int) { m.keys.of[m.Number()].note = note }

// spell compares the key with those before it by what they say.
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

// again reports that the key was there before.
func (m *Members) again(first source.Span) {
	m.b.OnKeyFault(KeyFault{First: first, Again: m.KeySpan(), Key: m.Key().Str(), Record: m.b.Record})
}
