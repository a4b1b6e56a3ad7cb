package repair

import (
	"cmp"
	"reflect"
	"sync"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A row says how one kind of operation is carried out. Columns that do not apply are nil.
type row struct {
	rank rank
	// copies says that a safe operation drops copies or empty elements, so it comes first.
	copies bool
	// about returns the calls and the results of the operation.
	about func(operation.Action) (calls, results []int32)
	// counts returns what reports count of the operation.
	counts func(operation.Action) Count
	// lay adds the operation to the layout of a turn: that of the operation or, if turn is set,
	// the one that it returns, -1 for none.
	lay  func(*layout, operation.Action) bool
	turn func(*Plan, operation.Action) int32
	// do carries out the operation on a conversation, record on the records of a log, and bytes
	// on the bytes of a record. They return false if that is impossible.
	do, record func(*draft, operation.Action) bool
	bytes      func(*patch, operation.Action) error
}

// A rank orders operations that overlap.
type rank uint8

// The ranks, the first one first.
const (
	first     rank = iota // copies, and the reasoning, without which the rest is decided anew
	naming                // which result answers which call
	texting               // calls and results that become text
	layingOut             // the places of results
	arranging             // the order inside messages
	setting               // single fields
	last
)

// A Count is what reports count of an operation.
type Count struct {
	Results  int  // calls or results, at least 1
	Recorded int  // inserted results that another record repeats
	Removed  int  // dropped elements
	Copy     bool // the dropped elements are copies
}

// rows has a row for each kind of operation.
var rows = sync.OnceValue(func() map[reflect.Type]row {
	return map[reflect.Type]row{
		of[*operation.InsertResults](): {
			rank:   layingOut,
			about:  about(func(a *operation.InsertResults) (calls, results []int32) { return a.Calls, nil }),
			counts: counted(func(a *operation.InsertResults) Count { return Count{Results: len(a.Calls), Recorded: a.Recorded} }),
			lay:    on((*layout).insertResults),
		},
		of[*operation.MoveResults](): {
			rank:  layingOut,
			about: about(func(a *operation.MoveResults) (calls, results []int32) { return nil, a.Results }),
			lay:   on(func(l *layout, a *operation.MoveResults) bool { return l.bring(a.Results...) }),
		},
		of[*operation.MergeResults](): {
			rank:  layingOut,
			about: about(func(a *operation.MergeResults) (calls, results []int32) { return nil, a.Results }),
			lay:   on(func(l *layout, a *operation.MergeResults) bool { return l.Log == nil && l.bring(a.Results...) }),
		},
		of[*operation.ReorderResults](): {rank: layingOut, lay: on((*layout).reorder)},
		of[*operation.MoveBlock](): {
			rank: layingOut,
			turn: on((*Plan).turnOfBlock),
			lay: on(func(l *layout, a *operation.MoveBlock) bool {
				return l.Log == nil && l.bring(l.Conv.Blocks[a.Block].Ref)
			}),
			do: on(func(d *draft, a *operation.MoveBlock) bool { return d.callersRole(a.Block) }),
		},
		of[*operation.SetState](): {
			rank:   layingOut,
			about:  about(func(a *operation.SetState) (calls, results []int32) { return a.Calls, nil }),
			counts: counted(func(a *operation.SetState) Count { return Count{Results: len(a.Calls)} }),
			do:     on(func(d *draft, a *operation.SetState) bool { return d.setState(a.Calls) }),
		},

		of[*operation.CallsLast]():    {rank: arranging, do: on(func(d *draft, a *operation.CallsLast) bool { return d.callsLast(a.Message) })},
		of[*operation.SplitMessage](): {rank: arranging, do: on(func(d *draft, a *operation.SplitMessage) bool { return d.splitMessage(a.Message) })},
		of[*operation.SplitResults](): {rank: arranging, do: on(func(d *draft, a *operation.SplitResults) bool { return d.splitResults(a.Message) })},
		of[*operation.MergeMessage](): {rank: arranging, do: on(func(d *draft, a *operation.MergeMessage) bool { return d.merge(a.Message) })},

		of[*operation.DropResults](): {
			rank: last, copies: true,
			about:  about(func(a *operation.DropResults) (calls, results []int32) { return nil, a.Results }),
			counts: counted(func(a *operation.DropResults) Count { return Count{Removed: len(a.Results), Copy: a.CopyOf >= 0} }),
			turn:   on((*Plan).turnOfCopy),
			lay:    on((*layout).dropCopies),
			do:     on((*draft).dropResults),
		},
		of[*operation.DropCalls](): {
			rank: last, copies: true,
			about:  about(func(a *operation.DropCalls) (calls, results []int32) { return a.Calls, nil }),
			counts: counted(func(a *operation.DropCalls) Count { return Count{Removed: len(a.Calls), Copy: a.CopyOf >= 0} }),
			do:     on((*draft).dropAllCalls),
		},
		of[*operation.DropTurn](): {
			rank:   last,
			counts: counted(func(*operation.DropTurn) Count { return Count{Removed: 1} }),
			do:     on(func(d *draft, _ *operation.DropTurn) bool { return d.dropTurn(d.op.Turn) }),
		},
		of[*operation.DropBlocks](): {
			rank:   last,
			counts: counted(func(a *operation.DropBlocks) Count { return Count{Removed: len(a.Blocks)} }),
			do:     on(func(d *draft, a *operation.DropBlocks) bool { return d.each(a.Blocks, d.dropBlock) }),
		},
		of[*operation.DropMessages](): {
			rank: last, copies: true,
			counts: counted(func(a *operation.DropMessages) Count { return Count{Removed: len(a.Messages), Copy: a.CopyOf >= 0} }),
			do:     on((*draft).dropMessages),
		},
		of[*operation.DropElement](): {rank: last, do: on(func(d *draft, a *operation.DropElement) bool { return d.dropUnread(a.At) })},
		of[*operation.Texts](): {
			rank:  texting,
			about: about(func(a *operation.Texts) (calls, results []int32) { return a.Calls, a.Results }),
			do:    on(func(d *draft, a *operation.Texts) bool { return d.texts(a.Calls, a.Results) }),
		},
		of[*operation.ImageTexts](): {rank: last, counts: counted(func(a *operation.ImageTexts) Count { return Count{Removed: len(a.At)} }), do: on((*draft).imageTexts)},
		of[*operation.StripReasoning](): {
			rank:   first,
			counts: counted(func(a *operation.StripReasoning) Count { return Count{Removed: len(a.Drop)} }),
			do:     on((*draft).stripReasoning),
		},

		of[*operation.RelinkResult](): {
			rank:  naming,
			about: about(func(a *operation.RelinkResult) (calls, results []int32) { return []int32{a.Call}, []int32{a.Result} }),
			do:    on(func(d *draft, a *operation.RelinkResult) bool { return d.relink(a.Result, a.Call) }),
		},
		of[*operation.RenamePairs](): {
			rank:  naming,
			about: about(func(a *operation.RenamePairs) (calls, results []int32) { return a.Calls, nil }),
			do: on(func(d *draft, a *operation.RenamePairs) bool {
				return d.renamePairs(a.Calls, d.op.Class == operation.Unsafe)
			}),
		},
		of[*operation.RenameID](): {rank: naming, do: on((*draft).renameAll)},
		of[*operation.MintIDs](): {
			rank:  naming,
			about: about(func(a *operation.MintIDs) (calls, results []int32) { return a.Calls, a.Results }),
			do:    on((*draft).mint),
		},
		of[*operation.Retag](): {
			rank: last, copies: true,
			about: about(func(a *operation.Retag) (calls, results []int32) { return []int32{a.Call}, []int32{a.Result} }),
			do:    on(func(d *draft, a *operation.Retag) bool { return d.retag(a.Result, a.Call) }),
		},

		of[*operation.AddMember]():    {rank: setting, do: on((*draft).addMember)},
		of[*operation.SetValue]():     {rank: setting, do: on((*draft).setValue)},
		of[*operation.RemoveMember](): {rank: setting, counts: counted(func(*operation.RemoveMember) Count { return Count{Removed: 1} }), do: on((*draft).removeValue)},
		of[*operation.RemoveNulls]():  {rank: setting, counts: counted(func(a *operation.RemoveNulls) Count { return Count{Removed: len(a.At)} }), do: on((*draft).removeNulls)},
		of[*operation.TrimText]():     {rank: setting, do: on(func(d *draft, a *operation.TrimText) bool { return d.trimText(a.Message) })},

		of[*operation.DropRecord](): {
			rank:   last,
			counts: counted(func(a *operation.DropRecord) Count { return Count{Removed: 1, Copy: !a.CopyOf.IsZero()} }),
			record: on((*draft).dropRecord),
			bytes:  on((*patch).dropRecord),
		},
		of[*operation.RelinkRecord](): {rank: last, record: on((*draft).relinkRecord)},
		of[*operation.Renumber]():     {rank: last, record: on((*draft).renumber)},
		of[*operation.KeepCall](): {
			rank: last,
			do: on(func(d *draft, a *operation.KeepCall) bool {
				return d.Log != nil && d.log().keepCall(a.At, d.standing(d.Conv.Calls[a.Call].Message))
			}),
		},
		of[*operation.MoveRecord](): {
			rank: last,
			do: on(func(d *draft, a *operation.MoveRecord) bool {
				return d.Log != nil && d.log().moveRecord(a.At, d.standing(a.Behind))
			}),
		},

		of[*operation.DropBytes]():      {rank: last, counts: counted(func(*operation.DropBytes) Count { return Count{Removed: 1} }), bytes: on((*patch).dropBytes)},
		of[*operation.EscapeNewlines](): {rank: last, bytes: on((*patch).escapeNewlines)},
		of[*operation.ReplaceBytes]():   {rank: last, bytes: on((*patch).replaceBytes)},
	}
})

func of[A operation.Action]() reflect.Type { return reflect.TypeFor[A]() }

// on makes a column from a function for one kind of operation.
func on[A operation.Action, C, R any](f func(C, A) R) func(C, operation.Action) R {
	return func(c C, a operation.Action) R { return f(c, a.(A)) }
}

func counted[A operation.Action](f func(A) Count) func(operation.Action) Count {
	return func(a operation.Action) Count { return f(a.(A)) }
}

func about[A operation.Action](f func(A) (calls, results []int32)) func(operation.Action) (calls, results []int32) {
	return func(a operation.Action) (calls, results []int32) { return f(a.(A)) }
}

func rowOf(op *operation.Operation) row { return rows()[reflect.TypeOf(op.Do)] }

// Before orders operations that overlap. The first is carried out, and the others are decided
// again after it.
func Before(a, b *operation.Operation) int { return cmp.Compare(rankOf(a), rankOf(b)) }

func rankOf(op *operation.Operation) rank {
	r := rowOf(op)
	if r.copies && op.Class == operation.Safe {
		return first
	}
	return r.rank
}

// subjects returns the calls and the results of an operation.
func subjects(op *operation.Operation) (calls, results []int32) {
	if r := rowOf(op); r.about != nil {
		return r.about(op.Do)
	}
	return nil, nil
}

// CountOf returns what reports count of an operation.
func CountOf(op *operation.Operation) (n Count) {
	if r := rowOf(op); r.counts != nil {
		n = r.counts(op.Do)
	}
	if n.Results == 0 {
		_, results := subjects(op)
		n.Results = max(1, len(results))
	}
	return n
}

// LaidOut returns the turn that an operation lays out, -1 for none. All operations that
// arrange the results of one turn become one fix.
func (p *Plan) LaidOut(op *operation.Operation) int32 {
	switch r := rowOf(op); {
	case r.lay == nil:
		return -1
	case r.turn != nil:
		return r.turn(p, op.Do)
	}
	return op.Turn
}

// turnOfCopy returns the turn of the message that a copy is dropped from if the message is written once
// more for that, so that it is written once for all copies; otherwise -1.
func (p *Plan) turnOfCopy(do *operation.DropResults) int32 {
	if !p.Conv.Folded || do.CopyOf < 0 {
		return -1
	}
	return p.Conv.Messages[p.Conv.Results[do.Results[0]].Message].Turn
}

// turnOfBlock returns the turn of the call that a block answers, -1 if it answers none.
func (p *Plan) turnOfBlock(do *operation.MoveBlock) int32 {
	if b := &p.Conv.Blocks[do.Block]; b.Kind == transcript.BlockResult && p.Pairing.Results[b.Ref].Call >= 0 {
		return p.turn(p.Pairing.Results[b.Ref].Call)
	}
	return -1
}
