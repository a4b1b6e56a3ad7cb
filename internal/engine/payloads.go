package engine

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/repair"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A recorded is where the content of a result stands.
type recorded struct {
	at           transcript.Span
	lead         uint32 // how many bytes of the result stand before it
	conversation int32
	window       transcript.Window
}

// payloads are the contents of the results of a source. What stands as it stood
// is not read to prove that it is there.
type payloads struct {
	src  *transcript.Source
	list []recorded
}

// add adds those of a conversation.
func (p *payloads) add(c *transcript.Conversation) {
	p.list = slices.Grow(p.list, len(c.Results))
	for i := range c.Results {
		if at := c.Results[i].Payload; !at.IsZero() {
			r := recorded{at: at, conversation: int32(c.Index), window: c.Window}
			if block := c.Blocks[c.Results[i].Block].Span; block.Contains(at) {
				r.lead = uint32(at.Start - block.Start)
			}
			p.list = append(p.list, r)
		}
	}
}

// hash returns the hash of a payload, and whether it was recorded: placeholders
// were not.
func (p *payloads) hash(r recorded) (h uint64, is bool, err error) {
	read := func(s transcript.Span) string {
		b, e := p.src.Bytes(s)
		err = cmp.Or(err, e)
		return string(b)
	}
	if rules.IsPlaceholder(r.at, r.window, read) || err != nil {
		return 0, false, err
	}
	h, err = payloadHash(p.src, r.at)
	return h, true, err
}

// hashes returns the recorded payloads by their hashes.
func (p *payloads) hashes() (map[uint64]recorded, error) {
	out := map[uint64]recorded{}
	for _, r := range p.list {
		h, is, err := p.hash(r)
		if err != nil {
			return nil, err
		}
		if is {
			out[h] = r
		}
	}
	return out, nil
}

// seed makes hashes of payloads comparable within one run.
var seed = maphash.MakeSeed()

func payloadHash(src *transcript.Source, s transcript.Span) (uint64, error) {
	b, err := src.Bytes(s)
	if err != nil {
		return 0, err
	}
	return maphash.Bytes(seed, repair.Payload(b)), nil
}

// A waiver names the payloads that unsafe operations drop: by where they stood in
// the original, and by their hashes where they did not stand there as they were
// dropped.
type waiver struct {
	spans  map[transcript.Span]bool
	hashes map[uint64]bool
}

func (w *waiver) add(c operation.Class, s transcript.Span) {
	if c != operation.Unsafe {
		return
	}
	if w.spans == nil {
		w.spans = map[transcript.Span]bool{}
	}
	w.spans[s] = true
}

func (w *waiver) addHash(c operation.Class, h uint64) {
	if c != operation.Unsafe {
		return
	}
	if w.hashes == nil {
		w.hashes = map[uint64]bool{}
	}
	w.hashes[h] = true
}

// lose returns the recorded payloads that are not in the repaired source any
// more, and that nothing allows to be dropped.
func lose(pieces *edit.Pieces, had, has *payloads, named *waiver) ([]recorded, error) {
	gone := had.moved(has, pieces)
	gone = slices.DeleteFunc(gone, func(r recorded) bool { return named.spans[r.at] })
	if len(gone) == 0 {
		return nil, nil
	}
	// They may stand elsewhere, in another form, or once less.
	now, err := has.hashes()
	if err != nil {
		return nil, err
	}
	for s := range named.spans {
		h, err := payloadHash(had.src, s)
		if err != nil {
			return nil, err
		}
		named.addHash(operation.Unsafe, h)
	}
	return slices.DeleteFunc(gone, func(r recorded) bool {
		h, is, e := had.hash(r)
		err = cmp.Or(err, e)
		_, there := now[h]
		return !is || there || named.hashes[h]
	}), err
}

// moved returns the payloads that do not stand in the repaired source as they
// stood.
func (p *payloads) moved(has *payloads, pieces *edit.Pieces) []recorded {
	stay := make([]transcript.Span, 0, len(has.list))
	for _, r := range has.list {
		if s, there := whole(pieces, r.at); there {
			stay = append(stay, s)
		}
	}
	slices.SortFunc(stay, bySpan)
	var out []recorded
	for _, r := range p.list {
		if _, found := slices.BinarySearchFunc(stay, r.at, bySpan); !found {
			out = append(out, r)
		}
	}
	return out
}

func bySpan(a, b transcript.Span) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
}
