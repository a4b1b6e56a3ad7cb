package container

import (
	"slices"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A judgement follows the links of a log: which records lie on a branch that was
// given up.
type judgement struct {
	*log
	// live is set for links on the live branch of their thread: the path from its last
	// message to the root.
	live []bool
	// turns are, by thread, the turns of which a message is on the live branch.
	turns [][]bool
	state []branch // by link
}

// A branch is what is known of the branch on which a record lies.
type branch uint8

const (
	branchUnknown branch = iota
	branchAlive
	branchDead
)

// judge marks what lies on a branch that was given up, and notes which parents are
// missing.
func (l *log) judge() error {
	j := judgement{log: l, live: l.liveBranches(), state: make([]branch, len(l.chain.links))}
	j.findTurns()
	var path []int32
	for i := range l.chain.links {
		path = j.follow(int32(i), path[:0])
		if k := &l.chain.links[i]; j.state[i] == branchDead && k.msg >= 0 {
			l.message(k).Flags |= transcript.MessageSuperseded
		}
	}
	return j.missing()
}

// liveBranches finds the links on the live branches.
func (l *log) liveBranches() []bool {
	live := make([]bool, len(l.chain.links))
	leaf := slices.Repeat([]int32{-1}, len(l.threads))
	for i := range l.chain.links {
		if k := &l.chain.links[i]; k.msg >= 0 {
			leaf[k.thread] = int32(i)
		}
	}
	for _, at := range leaf {
		for i := at; i >= 0 && !live[i]; i = l.chain.parent(i) {
			live[i] = true
		}
	}
	return live
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

// inLiveTurn reports whether a record belongs to a turn of the live branch, though
// it need not lie on the path itself.
func (j *judgement) inLiveTurn(k *link) bool {
	return k.msg >= 0 && j.turns[k.thread][j.message(k).Turn]
}

// follow follows the parents of a link as far as nothing is known of them, and
// decides on the way back. The path is only passed to be used again.
func (j *judgement) follow(at int32, path []int32) []int32 {
	for j.state[at] == branchUnknown {
		j.state[at] = branchAlive // against circles
		path = append(path, at)
		p := j.above(at)
		if j.live[at] || p < 0 {
			break
		}
		at = p
	}
	for _, n := range slices.Backward(path) {
		j.state[n] = j.branch(n)
	}
	return path
}

// above returns the parent of a link in its thread, -1 where there is none.
func (j *judgement) above(i int32) int32 {
	p := j.chain.parent(i)
	if p >= 0 && j.chain.links[p].thread != j.chain.links[i].thread {
		return -1
	}
	return p
}

// branch decides on a record of whose parent it is known. One off the live branch is
// dead when the record by which its branch leaves it is a new message of the model
// or of the human; results and book-keeping only hang on.
func (j *judgement) branch(i int32) branch {
	k, p := &j.chain.links[i], j.above(i)
	switch {
	case j.live[i], j.inLiveTurn(k):
		return branchAlive
	case p < 0:
		return branchAlive // a root of its own: nothing is known against it
	case j.state[p] == branchDead:
		return branchDead
	case (j.live[p] || j.inLiveTurn(&j.chain.links[p])) && j.speaks(k):
		return branchDead
	}
	return j.state[p]
}

// speaks reports whether a record holds a message that the model or a human
// made: results, and what does not speak, hang on to their parent.
func (j *judgement) speaks(k *link) bool {
	return k.msg >= 0 && (j.message(k).Role == transcript.RoleAssistant || j.message(k).Has(transcript.MessageTyped))
}

// missing notes the parents that are in no record.
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
		v, err := j.value(k.span())
		if err != nil {
			return err
		}
		j.file.Links = append(j.file.Links, transcript.LinkFault{
			Key: j.d.Log.Parent, Live: j.live[i] && follows, Relink: follows, Record: k.record,
			Span: parent.In(v).Span(), Whole: k.span(),
		})
	}
	return nil
}

// A firstRoots is the first link of a thread that hangs on a root, and the first
// that hangs on another one; -1 where there is none.
type firstRoots struct{ link, root, other int32 }

// before reports whether a link before one stands in no circle and does not hang on
// it: a record that names a parent that is not there can follow that one.
func (f *firstRoots) before(i int32) bool {
	if f.root == i {
		return f.other >= 0 && f.other < i
	}
	return f.link >= 0 && f.link < i
}

// firstRoots finds the first roots by thread.
func (j *judgement) firstRoots() []firstRoots {
	first := slices.Repeat([]firstRoots{{-1, -1, -1}}, len(j.threads))
	for i, root := range j.chain.roots() {
		switch f := &first[j.chain.links[i].thread]; {
		case root < 0:
		case f.link < 0:
			f.link, f.root = int32(i), root
		case f.other < 0 && root != f.root:
			f.other = int32(i)
		}
	}
	return first
}
