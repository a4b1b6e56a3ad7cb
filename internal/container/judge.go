package container

import (
	"slices"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A judgement follows the links of a log to find the records on abandoned branches.
type judgement struct {
	*log
	// live is set for links on the live branch of their thread, which is the path from
	// its last message to the root.
	live []bool
	// turns[t][n] is set if turn n of thread t has a message on the live branch.
	turns [][]bool
	state []branch // indexed by link
}

// A branch is the state of the branch that a record is on.
type branch uint8

const (
	branchAlive branch = iota
	branchApart        // nothing connects it to the live branch
	branchDead
)

// judge marks the messages on abandoned branches and records the missing parents.
func (l *log) judge() error {
	live := l.chain.ascend(len(l.threads), func(k *link) bool { return k.msg >= 0 })
	j := judgement{log: l, live: live, state: make([]branch, len(l.chain.links))}
	j.findTurns()
	descend(len(j.state), j.above, func(i, above int32) {
		j.state[i] = j.branch(i, above)
		if k := j.link(i); j.state[i] == branchDead && k.msg >= 0 {
			l.message(k).Flags |= transcript.MessageSuperseded
		}
	})
	for _, t := range l.threads {
		for i := range t.notes {
			n := &t.notes[i]
			n.Unsent = n.link >= 0 && j.state[n.link] == branchDead
		}
	}
	if err := l.edited(); err != nil {
		return err
	}
	if err := j.missing(); err != nil || !j.strays() {
		return err
	}
	tops := j.tops()
	if err := j.unsent(tops); err != nil {
		return err
	}
	return j.stale(tops)
}

// strays reports whether records are on abandoned branches, or under several roots. In most
// logs none are.
func (j *judgement) strays() bool {
	roots := 0
	for i, state := range j.state {
		if state == branchDead {
			return true
		}
		if j.chain.parent(int32(i)) < 0 {
			roots++
		}
	}
	return roots > 1
}

func (j *judgement) findTurns() {
	j.turns = make([][]bool, len(j.threads))
	for i, t := range j.threads {
		j.turns[i] = make([]bool, t.conv().Turns)
	}
	for i := range j.chain.links {
		if k := &j.chain.links[i]; j.live[i] && k.msg >= 0 {
			j.turns[k.thread][j.message(k).Turn] = true
		}
	}
}

// inLiveTurn reports whether a record belongs to a turn of the live branch, even if it is
// not on the path itself.
func (j *judgement) inLiveTurn(k *link) bool {
	return k.msg >= 0 && j.turns[k.thread][j.message(k).Turn]
}

// above returns the parent of a link if it is in the same thread, or -1.
func (j *judgement) above(i int32) int32 {
	p := j.chain.parent(i)
	if p >= 0 && j.link(p).thread != j.link(i).thread {
		return -1
	}
	return p
}

// branch decides the state of a link from that of the link above it, which is -1 if there is none.
// A record off the live branch has the state of its parent. But below a record that is alive, a
// message of the model or of a human begins a dead branch. Results and bookkeeping records do not.
func (j *judgement) branch(i, above int32) branch {
	k := j.link(i)
	switch {
	case j.live[i], j.inLiveTurn(k):
		return branchAlive
	case above < 0:
		return branchApart // a separate root; nothing shows that it is dead
	case j.state[above] == branchAlive && j.speaks(k):
		return branchDead
	}
	return j.state[above]
}

// speaks reports whether a record holds a message made by the model or by a human.
// Results and records without messages belong to their parent.
func (j *judgement) speaks(k *link) bool {
	return k.msg >= 0 && (j.message(k).Role == transcript.RoleAssistant || j.message(k).Has(transcript.MessageTyped))
}

// missing records the parents that no record has as its id.
func (j *judgement) missing() error {
	var roots []firstRoots
	parent := dialect.Lens(j.d.Log.Parent)
	for i := range j.chain.links {
		k := &j.chain.links[i]
		if k.parent == 0 {
			continue
		}
		if _, known := j.chain.named(int32(i)); known {
			continue
		}
		if roots == nil {
			roots = j.firstRoots()
		}
		follows := roots[k.thread].before(int32(i))
		at, err := j.field(parent, int32(i))
		if err != nil {
			return err
		}
		j.file.Links = append(j.file.Links, transcript.LinkFault{
			Key: j.d.Log.Parent, Live: j.live[i] && follows, Relink: follows, Record: k.record,
			Sole: follows && j.d.Log.Straight && j.sole(int32(i)),
			Span: at, Whole: k.span(),
		})
	}
	return nil
}

// sole reports whether only one record can be the missing parent of a link: the records of its
// thread before it are one chain, and those after it descend from it.
func (j *judgement) sole(lost int32) bool {
	thread, last := j.link(lost).thread, int32(-1)
	for i := range j.chain.links {
		k, at := &j.chain.links[i], int32(i)
		if k.thread != thread || at == lost {
			continue
		}
		p, known := j.chain.named(at)
		switch {
		case at > lost:
			if !known || p < lost || p >= at || j.link(p).thread != thread {
				return false
			}
		case last < 0 && k.parent != 0, last >= 0 && (!known || p != last):
			return false
		default:
			last = at
		}
	}
	return last >= 0 && !slices.ContainsFunc(j.file.Links, func(l transcript.LinkFault) bool { return l.Duplicate }) && !j.torn(last, lost)
}

// torn reports whether a record that is not between two links cannot be read. An unreadable record
// between them may be the lost one. A truncated record is the last one, so it has no children.
func (j *judgement) torn(from, to int32) bool {
	return slices.ContainsFunc(j.file.Faults, func(f transcript.RecordFault) bool {
		switch {
		case f.Kind == source.FaultGlued:
			return f.Record <= j.link(from).record || f.Record > j.link(to).record
		case f.Kind == source.FaultTruncated, !f.Unreadable():
			return false
		}
		return f.Record <= j.link(from).record || f.Record >= j.link(to).record
	})
}

// A firstRoots is the first link of a thread that leads to a root, and the first link
// that leads to another root; -1 if there is none.
type firstRoots struct{ link, root, other int32 }

// before reports whether there is an earlier link that is in no cycle and does not descend from
// link i. If the parent of i is missing, i can be relinked to it.
func (f *firstRoots) before(i int32) bool {
	if f.root == i {
		return f.other >= 0 && f.other < i
	}
	return f.link >= 0 && f.link < i
}

// firstRoots returns the first roots of each thread.
func (j *judgement) firstRoots() []firstRoots {
	first := slices.Repeat([]firstRoots{{-1, -1, -1}}, len(j.threads))
	for i, root := range j.chain.roots() {
		switch f := &first[j.link(int32(i)).thread]; {
		case root < 0:
		case f.link < 0:
			f.link, f.root = int32(i), root
		case f.other < 0 && root != f.root:
			f.other = int32(i)
		}
	}
	return first
}
