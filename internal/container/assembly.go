package container

import (
	"sort"

	"github.com/toolguard/toolguard/internal/source"
)

// assembled is the offset at which an assembly starts. It is not 0, so that no span in an
// assembly is the zero Span.
const assembled = 1

// An assembly is a value that is assembled from pieces of the source.
type assembly struct {
	*reading
	text   []byte
	pieces []piece
}

// A piece is a run of bytes of an assembly and its place in the source.
type piece struct {
	at     int64 // offset in the assembly
	src    source.Span
	record int32
	whole  bool // it starts a value that is unchanged in the source
}

func (a *assembly) put(n *node, text []byte, whole bool) {
	a.pieces = append(a.pieces, piece{int64(len(a.text)), n.span, n.record, whole})
	a.text = append(a.text, text...)
}

func (a *assembly) add(n *node) error {
	if n.asWritten() {
		v, err := a.value(n.span)
		a.put(n, v.Raw(), false)
		return err
	}
	brackets := "{}"
	if n.list {
		brackets = "[]"
	}
	a.put(n, []byte(brackets[:1]), true)
	first := true
	for key, k := range n.kids.all() {
		if !first {
			a.text = append(a.text, ',')
		}
		first = false
		if key != "" {
			a.put(k, []byte(key+":"), true)
		}
		if err := a.add(k); err != nil {
			return err
		}
	}
	a.text = append(a.text, brackets[1:]...)
	return nil
}

// where returns the span in the source of a span of the assembly, and the record it is
// in.
func (a *assembly) where(s source.Span) (source.Span, int32) {
	from := s.Start - assembled
	p := &a.pieces[max(0, sort.Search(len(a.pieces), func(i int) bool { return a.pieces[i].at > from })-1)]
	if p.whole {
		return p.src, p.record
	}
	start := p.src.Start + min(from-p.at, p.src.Len())
	return source.Span{Start: start, End: min(start+s.Len(), p.src.End)}, p.record
}
