package engine

import (
	"bytes"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// members finds members of elements by the names that a dialect has for them.
type members struct {
	c     *checker
	paths map[transcript.Member]dialect.Lens
}

// look returns a member of the element at a span, an absent token where there is
// none.
func (m members) look(what transcript.Member, at source.Span) transcript.Token {
	path := m.paths[what]
	if path == "" {
		return transcript.Token{Span: at}
	}
	return transcript.TokenOf(path.In(m.c.value(at)), at)
}

// knows reports whether the dialect has a member of that kind.
func (m members) knows(what transcript.Member) bool { return m.paths[what] != "" }

// marked returns the blocks of the message at a span that have a mark for the
// prompt cache.
func (m members) marked(at source.Span) []source.Span {
	key := m.paths[transcript.MemberCacheMark].Key()
	if key == "" {
		return nil
	}
	message := m.c.value(at)
	if !bytes.Contains(message.Raw(), []byte(key)) {
		return nil
	}
	var out []source.Span
	for _, block := range m.paths[transcript.MemberContent].In(message).Elements() {
		if block.Get(key).Exists() {
			out = append(out, block.Span())
		}
	}
	return out
}
