package container

import (
	"bytes"
	"errors"
	"slices"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A memo is what is kept of a record of a log, so that a reading of the edited log need not read it again: the
// flags of its message when it was read, or memoRead. The rest is in its link and its message.
type memo uint32

// memoRead says that a record must be read: it does more than to add a link and a message, or less than it
// should.
const memoRead memo = 1 << 16 // no flag is that high

// A Touched is consecutive records of a log that edits touch: where they were, where they are, how many they
// were, and how many were before them.
type Touched struct {
	Was, Is         source.Span
	Before, Records int
}

// A recall is how a reading takes records from an earlier one.
type recall struct {
	of      *Reading
	touched []Touched
}

// ErrDoubt is the error of a reading that cannot take records from an earlier one after all. Then the source
// must be read as a whole.
var ErrDoubt = errors.New("container: records that are not read again may mean something else")

// A follower gets what lenses lead to in each record of a log that is an object, and the keys that occur twice
// in it.
type follower struct {
	lenses []dialect.Lens
	link   func(at []source.Value, twice []transcript.KeyFault)
}

// Follow has link called for each record of a log that is an object, with what lenses lead to in it and the
// keys that occur twice, as soon as the record was looked at. It returns false if the file is no log of this
// format.
func (r *Reading) Follow(format *dialect.Log, lenses []dialect.Lens, link func(at []source.Value, twice []transcript.KeyFault)) bool {
	if !r.InLog() || r.shape.Log.Log != format {
		return false
	}
	r.follow = follower{lenses, link}
	return true
}

// Keep keeps what is known of each record of a log, or of the forms of rows, for a reading of the edited file.
func (r *Reading) Keep() { r.keeps = true }

// InLog reports whether the lines of the file are the records of one log.
func (r *Reading) InLog() bool {
	return r.err == nil && r.shape.Class == detect.ClassLog && r.shape.Framing == source.FramingLines && r.shape.Into == nil && r.shape.Else == nil
}

// Recall lets the reading take the records that no edit touches from an earlier one, which has read the source
// as it was and cannot be used any more. It returns false if that cannot be done.
func (r *Reading) Recall(of *Reading, touched []Touched) bool {
	if !r.InLog() || !of.InLog() || !alike(r.shape, of.shape) || of.asLog == nil || !of.asLog.apart() || touched[0].Before == 0 {
		return false
	}
	r.seed, r.recall = of.seed, &recall{of, touched}
	return true
}

// apart reports whether each record of the log, except for those that must be read, does the same whatever
// the other records are: it adds a link, and a message to the only thread.
func (l *log) apart() bool {
	f, row := l.file, l.d.Log
	if len(f.Faults)+len(f.Broken)+len(f.Keys)+len(f.Logs)+f.Opaque > 0 || f.CheckOnly != "" || len(l.memos) != f.Records || len(l.threads) != 1 ||
		row.Ordinal != "" || len(row.Echoes)+len(row.Rollback) > 0 || row.Hooks.Once != nil || row.Hooks.Edit != nil || row.Hooks.Sessions != nil ||
		slices.ContainsFunc(f.Links, func(k transcript.LinkFault) bool { return k.Duplicate }) {
		return false
	}
	q, c := l.threads[0].q, l.threads[0].conv()
	return len(c.Strays)+len(c.Unread)+len(c.Copies)+len(c.Aliases)+len(c.Mentions) == 0 && !c.References &&
		!slices.ContainsFunc(q.readers, func(r reader) bool {
			rd, is := r.Reader.(dialect.Apart)
			return !is || r.of != l.d || !rd.Apart()
		})
}

// remember keeps what a record did that was read. t has its message, or is nil.
func (l *log) remember(e element, t *thread) {
	if !l.keeps || l.odd {
		return
	}
	l.memos[e.record-1] = 0
	if t != nil {
		l.memos[e.record-1] = memo(t.q.b.Message().Flags)
	}
}

// recalled reads the records that edits touch, and takes the others from the earlier reading.
func (l *log) recalled() error {
	of, touched := l.recall.of, l.recall.touched
	was := of.asLog
	l.recall, of.asLog = nil, nil
	if !l.agrees(of, touched) {
		return ErrDoubt
	}
	l.last = l.newThread(was.threads[0].conv().Name, was.threads[0].side)
	replay := l.last.q.b.Replay(was.threads[0].q.b)
	links, messages := was.chain.links, replay.Messages()
	next := 0 // of touched
	link, message := int32(0), int32(0)
	by := int64(0)
	record := int32(0)
	for at := range of.File.Starts.All() {
		record++
		for int(link) < len(links) && links[link].record < record {
			link++
		}
		for int(message) < len(messages) && messages[message].Record < record {
			message++
		}
		if next < len(touched) && int(record) > touched[next].Before {
			s := &touched[next]
			if int(record) == s.Before+1 {
				if err := l.again(s.Is.Start, s.Is.End); err != nil {
					return err
				}
			}
			if int(record) == s.Before+s.Records {
				by = s.Is.End - s.Was.End
				next++
			}
			continue
		}
		memo := was.memos[record-1]
		if memo == memoRead {
			if err := l.again(at+by, at+by+1); err != nil {
				return err
			}
			continue
		}
		l.file.Records++
		l.file.Starts.Append(at + by)
		l.memos = append(l.memos, memo)
		more := int32(l.file.Records) - record
		said := int32(-1)
		if int(message) < len(messages) && messages[message].Record == record {
			m, added := replay.Add(message, by, more, transcript.MessageFlags(memo))
			if !added {
				return ErrDoubt
			}
			message++ // its place may be in use now
			l.seen, l.taken, said = l.seen+1, l.taken+1, int32(len(l.last.conv().Messages)-1)
			if m.Role == transcript.RoleAssistant {
				l.last.speak(m)
			}
		} else {
			l.file.Skipped++
		}
		if int(link) < len(links) && links[link].record == record {
			k, id := links[link], was.chain.ids.At(link)
			k.start, k.record = k.start+by, k.record+more
			if k.msg != progress {
				k.msg = said
			}
			if _, again := l.chain.add(id, k, l.end); again {
				return ErrDoubt
			}
			l.last.conv().Linked = l.last.conv().Linked || l.d.Log.Parent != ""
		}
	}
	if !l.apart() || l.threads[0] != l.last {
		return ErrDoubt
	}
	return nil
}

// again reads the records that begin in a part of the source.
func (l *log) again(from, to int64) error {
	s := source.Stretch{From: from, To: to, Before: l.file.Records}
	l.from.framed = source.ReadStretch(l.src, &s)
	if err := each(l.from.elements, l.record); err != nil {
		return err
	}
	if s.Wasted > 0 || s.End > to && to > from+1 {
		return ErrDoubt
	}
	return nil
}

// agrees reports whether the records that edits touch are where they should be, and the texts between them
// look like those of the earlier reading.
func (l *log) agrees(of *Reading, touched []Touched) bool {
	starts, size := &of.File.Starts, of.src.Size()
	at := func(record int) int64 {
		if record == starts.Len() {
			return size
		}
		return starts.At(record)
	}
	last := Touched{}
	var both [2][]byte
	for _, s := range append(slices.Clip(touched), Touched{Was: source.Span{Start: size}, Is: source.Span{Start: l.src.Size()}, Before: starts.Len()}) {
		if s.Before < last.Before+last.Records || s.Records < 0 || s.Before+s.Records > starts.Len() || s.Was.Start != at(s.Before) ||
			s.Records > 0 && s.Was.End != at(s.Before+s.Records) || s.Is.Start-s.Was.Start != last.Is.End-last.Was.End ||
			!l.same(of, source.Span{Start: last.Was.End, End: s.Was.Start}, last.Is.End, &both) {
			return false
		}
		last = s
	}
	return true
}

// same reports whether a part of the earlier source and one of this source begin and end alike. both is the memory
// that it reads into.
func (l *log) same(of *Reading, was source.Span, at int64, both *[2][]byte) bool {
	const most = 64
	n := min(was.Len(), most)
	for _, off := range []int64{0, was.Len() - n} {
		var err, failed error
		both[0], err = of.src.Into(both[0], source.Span{Start: was.Start + off, End: was.Start + off + n})
		both[1], failed = l.src.Into(both[1], source.Span{Start: at + off, End: at + off + n})
		if err != nil || failed != nil || !bytes.Equal(both[0], both[1]) {
			return false
		}
	}
	return true
}
