package repair

import (
	"slices"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Log compiles what operations do to the records of a session log. Nothing
// is moved in a log: records are inserted, emptied or removed, and the links
// between them are kept. One Log serves all conversations of a file.
type Log struct {
	Source *transcript.Source
	Format *dialect.Log
	// Array is the list whose elements the records are; zero where they are the
	// lines of the file.
	Array transcript.Span
	// Trial is set where it is only asked what could be done: nothing will be
	// compiled.
	Trial bool

	lines *list
	// What is to become of records goes by where something of each stands.
	removed map[int64]bool
	dropped map[int64]transcript.Span // nothing is left of them, with where each has its content
	insert  []insertion
	texted  []int64                // their results became text
	says    []said                 // what the conversations that are repaired say of their records
	heard   map[int]bool           // those conversations
	rename  map[string]string      // ids of calls, as written
	relink  []*operation.Operation // parents that no record is
}

// An insertion is a record to be made for a call.
type insertion struct {
	behind  int64  // where the record stands that it goes behind
	call    int64  // where the one stands that holds the call
	message []byte // with the result
	content string // of the result
	id      string // of the call, as written
}

// A said is what a conversation says of the record at an offset.
type said struct {
	at           int64
	conversation int32
	turn         int32
	results      bool // it carries some
}

// NewLog returns a Log without any changes, of the records that are the elements
// of an array or, without one, the lines of the file.
func NewLog(src *transcript.Source, format *dialect.Log, array transcript.Span) *Log {
	return &Log{
		Source: src, Format: format, Array: array,
		removed: map[int64]bool{}, dropped: map[int64]transcript.Span{}, rename: map[string]string{}, heard: map[int]bool{},
	}
}

// changes counts what is to be changed; nothing is where there is no log.
func (l *Log) changes() int {
	if l == nil {
		return 0
	}
	return len(l.removed) + len(l.dropped) + len(l.insert) + len(l.texted) + len(l.rename) + len(l.relink)
}

// Record carries out an operation on a record as such.
func (l *Log) Record(op *operation.Operation) bool {
	switch op.Kind {
	case operation.DropRecord:
		l.removed[op.Span.Start] = true
	case operation.Relink:
		l.relink = append(l.relink, op)
	default:
		return false
	}
	return true
}

// lay inserts a record for each call of a turn that is to get a result.
func (l *Log) lay(p *Plan, lo *layout) {
	if !l.Trial {
		l.listen(p.Conv)
	}
	for _, e := range lo.news() {
		if e.msg >= 0 {
			continue // nothing is moved in a log
		}
		call := &p.Conv.Calls[e.call]
		ins := insertion{
			call: p.standing(call.Message), message: e.text, id: call.ID.Raw,
			content: l.shared(transcript.NewValue(e.text, 0).Get(p.keys(call.Message).Content).Raw()),
		}
		if fields := p.driver.WriteMessage("["+string(e.text)+"]", p.value(call.Message)); fields != nil {
			if ins.message, p.err = build(fields); p.err != nil {
				return
			}
		}
		ins.behind = p.standing(p.lastBeforeReuse(e.call))
		if last := p.lastAnswered(e.call); l.Format.Chain && !p.usedAgain(e.call, last) {
			ins.behind = max(ins.behind, last)
		}
		l.insert = append(l.insert, ins)
	}
}

// shared returns the content of a new result, that of the one before if it is
// the same.
func (l *Log) shared(content []byte) string {
	if n := len(l.insert); n > 0 && l.insert[n-1].content == string(content) {
		return l.insert[n-1].content
	}
	return string(content)
}

// listen notes what a conversation says of its records, where that decides what
// hangs on a new one.
func (l *Log) listen(c *transcript.Conversation) {
	if l.Format.Chain || l.heard[c.Index] {
		return
	}
	l.heard[c.Index] = true
	l.says = slices.Grow(l.says, len(c.Messages))
	for i := range c.Messages {
		m := &c.Messages[i]
		s := said{at: m.Span().Start, conversation: int32(c.Index), turn: m.Turn}
		for b := m.BlockLo; b < m.BlockHi; b++ {
			s.results = s.results || c.Blocks[b].Kind == transcript.BlockResult
		}
		l.says = append(l.says, s)
	}
}

// standing returns where a message stands.
func (p *Plan) standing(m int32) int64 { return p.Conv.Messages[m].Span().Start }

// lastAnswered returns where the last result of the calls before one in its turn
// stands, 0 for none. One that stands too late, and stays there, does not count.
func (p *Plan) lastAnswered(c int32) int64 {
	last := int64(0)
	turn := p.Conv.Messages[p.Conv.Calls[c].Message].Turn
	for k := c - 1; k >= 0 && p.Conv.Messages[p.Conv.Calls[k].Message].Turn == turn; k-- {
		if r := p.Pairing.Calls[k].Result; r >= 0 && p.Pairing.Calls[k].Place != pairing.Later {
			last = max(last, p.standing(p.Conv.Results[r].Message))
		}
	}
	return last
}

// usedAgain reports whether another turn uses the id of a call up to an offset.
func (p *Plan) usedAgain(c int32, off int64) bool {
	call := &p.Conv.Calls[c]
	for _, other := range p.Conv.Calls[c+1:] {
		if p.standing(other.Message) > off {
			return false
		}
		if p.Conv.Messages[other.Message].Turn != p.Conv.Messages[call.Message].Turn && pairing.Key(other.ID) == pairing.Key(call.ID) {
			return true
		}
	}
	return false
}

// lastBeforeReuse returns the message that a call's result goes behind: the last
// one of its turn or, where the lines of another turn that uses the id stand
// between, its own.
func (p *Plan) lastBeforeReuse(c int32) int32 {
	own := p.Conv.Calls[c].Message
	if last := p.ends[p.Conv.Messages[own].Turn]; !p.usedAgain(c, p.standing(last)) {
		return last
	}
	return own
}
