package container

import (
	"slices"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// progress is the message index of a record that reports the progress of a call. Newer
// versions of the agent do not load such records.
const progress = -2

// tops returns for each link on an abandoned branch the first link of that branch, and -1 for
// the other links.
func (j *judgement) tops() []int32 {
	tops := make([]int32, len(j.chain.links))
	for i := range tops {
		tops[i] = -1
		if j.state[i] == branchDead {
			tops[i] = int32(i)
		}
	}
	up := func(i int32) int32 {
		if p := j.above(i); p >= 0 && j.state[i] == branchDead && j.state[p] == branchDead {
			return p
		}
		return -1
	}
	descend(len(tops), up, func(i, above int32) {
		if above >= 0 {
			tops[i] = tops[above]
		}
	})
	return tops
}

// unsent records the results on abandoned branches, one entry for each thread. Results before
// the last compaction are not sent in any case.
func (j *judgement) unsent(tops []int32) error {
	found := make([]transcript.Branch, len(j.threads))
	first := slices.Repeat([]int32{-1}, len(j.threads)) // the first branch with results
	counted := map[int32]bool{}
	var sent []map[uint64]bool
	for i := range j.chain.links {
		k := &j.chain.links[i]
		if tops[i] < 0 || k.msg < j.threads[k.thread].start() {
			continue
		}
		c, n := j.threads[k.thread].conv(), 0
		for _, b := range c.Blocks[c.Messages[k.msg].BlockLo:c.Messages[k.msg].BlockHi] {
			if b.Kind != transcript.BlockResult {
				continue
			}
			if sent == nil {
				sent = j.sent()
			}
			if id := c.Results[b.Ref].ID; !id.Given() || !sent[k.thread][j.hash([]byte(id.Raw))] {
				n++
			}
		}
		if n == 0 {
			continue
		}
		f := &found[k.thread]
		if f.Results += n; !counted[tops[i]] {
			counted[tops[i]] = true
			f.Branches++
		}
		if first[k.thread] < 0 {
			first[k.thread] = tops[i]
		}
	}
	for t, top := range first {
		if top >= 0 {
			if err := j.branchAt(&found[t], top, tops); err != nil {
				return err
			}
			j.file.Branches = append(j.file.Branches, found[t])
		}
	}
	return nil
}

// sent returns for each thread the hashes of the ids of the results that are sent.
func (j *judgement) sent() []map[uint64]bool {
	out := make([]map[uint64]bool, len(j.threads))
	for t := range out {
		c := j.threads[t].conv()
		out[t] = map[uint64]bool{}
		for i := range c.Results {
			if r := &c.Results[i]; r.ID.Given() && !c.Messages[r.Message].Has(transcript.MessageSuperseded) {
				out[t][j.hash([]byte(r.ID.Raw))] = true
			}
		}
	}
	return out
}

// branchAt sets the place of an abandoned branch, and where the session goes on instead.
func (j *judgement) branchAt(f *transcript.Branch, top int32, tops []int32) error {
	at, err := j.field(dialect.Lens(j.d.Log.ID), top)
	if err != nil {
		return err
	}
	f.Span, f.Record = at, j.link(top).record
	on, parent := int32(-1), j.chain.parent(top)
	for i := range j.chain.links {
		k := &j.chain.links[i]
		switch {
		case on < 0 && j.live[i] && k.thread == j.link(top).thread && j.chain.parent(int32(i)) == parent:
			on = int32(i)
		case on >= 0 && tops[i] == top:
			f.Mixed = true
		}
	}
	if on >= 0 {
		f.On, err = j.field(dialect.Lens(j.d.Log.ID), on)
	}
	return err
}

// field returns the span of a field of the record of a link.
func (j *judgement) field(lens dialect.Lens, i int32) (source.Span, error) {
	v, err := j.value(j.link(i).span())
	return lens.In(v).Span(), err
}

// stale records the live links whose parent is a record of progress from before the last message
// of the thread. The messages in between are then on another branch or under another root, where
// the client does not find them.
func (j *judgement) stale(tops []int32) error {
	if j.d.Log.Hooks.Progress == nil {
		return nil
	}
	var roots, before []int32
	found := 0
	for i := range j.chain.links {
		k := &j.chain.links[i]
		p := j.chain.parent(int32(i))
		if !j.live[i] || k.msg == progress || p < 0 || j.link(p).msg != progress || j.above(int32(i)) != p {
			continue
		}
		if roots == nil {
			roots, before = j.chain.roots(), j.before()
		}
		tip := j.tip(int32(i), tops, roots, before)
		if tip < 0 {
			continue
		}
		found++
		sure := found <= mostStale && j.leadTo(tip, int32(i), tops, roots)
		at, err := j.field(dialect.Lens(j.d.Log.Parent), int32(i))
		if err != nil {
			return err
		}
		first, err := j.field(dialect.Lens(j.d.Log.ID), tip)
		if err != nil {
			return err
		}
		j.file.Links = append(j.file.Links, transcript.LinkFault{
			Passed: true, Sure: sure, Key: j.d.Log.Parent, Record: k.record, Whole: k.span(), Span: at, First: first,
		})
	}
	return nil
}

// real returns the nearest link from i upwards that is no record of progress, or -1.
func (j *judgement) real(i int32) int32 {
	for n := 0; i >= 0 && j.link(i).msg == progress && n < len(j.chain.links); n++ {
		i = j.above(i)
	}
	return i
}

// mostStale is the number of faults of one log that stale compares with all records to say whether
// they are sure. This takes long, and real logs have few such faults.
const mostStale = 16

// before returns for each link the message before it in its thread, or -1.
func (j *judgement) before() []int32 {
	last := slices.Repeat([]int32{-1}, len(j.threads))
	out := make([]int32, len(j.chain.links))
	for i := range out {
		k := j.link(int32(i))
		if out[i] = last[k.thread]; k.msg >= j.threads[k.thread].start() {
			last[k.thread] = int32(i)
		}
	}
	return out
}

// tip returns the last message before link i in its thread that the branch of i leaves out, or -1
// if it leaves out none.
func (j *judgement) tip(i int32, tops, roots, before []int32) int32 {
	for q := before[i]; q >= 0; q = before[q] {
		switch {
		case j.again(q, i, tops):
		case tops[q] >= 0, roots[q] >= 0 && roots[q] != roots[i]:
			return q
		default:
			return -1
		}
	}
	return -1
}

// again reports whether the branch of link q begins with a prompt that has the same parent as link
// i. A human edited the prompt, or the agent sent it again.
func (j *judgement) again(q, i int32, tops []int32) bool {
	top := tops[q]
	return top >= 0 && j.link(top).msg >= 0 && j.message(j.link(top)).Has(transcript.MessageTyped) &&
		j.real(j.chain.parent(top)) == j.real(j.chain.parent(i))
}

// leadTo reports whether all messages that link i leaves out lead to the tip or belong to a
// turn on the way to it. Then the parent of i must be the tip.
func (j *judgement) leadTo(tip, i int32, tops, roots []int32) bool {
	way, turns := map[int32]bool{}, map[int32]bool{}
	for q := tip; q >= 0 && !way[q] && !j.live[q]; q = j.above(q) {
		if way[q] = true; j.link(q).msg >= 0 {
			turns[j.message(j.link(q)).Turn] = true
		}
	}
	t := j.link(tip).thread
	start := j.threads[t].start()
	for q := range i {
		k := j.link(q)
		out := k.thread == t && k.msg >= start && (tops[q] >= 0 || roots[q] != roots[i]) && !j.again(q, i, tops)
		if !out || way[q] || turns[j.message(k).Turn] {
			continue
		}
		up := j.above(q)
		if result := up >= 0 && !j.speaks(k); result && (way[up] || j.link(up).msg >= 0 && turns[j.message(j.link(up)).Turn]) {
			continue
		}
		return false
	}
	return true
}
