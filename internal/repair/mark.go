package repair

import (
	"fmt"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Mark returns what tells an operation from others of its rule, whatever was
// written in between: what it is made on and what it writes. "" is returned for
// what takes something away or apart, which comes to an end by itself. Where an
// operation bears the same mark once more, it has not done what it is for.
func (p *Plan) Mark(op *operation.Operation) string {
	on := ""
	at := func(s transcript.Span) (message, block int32) {
		if !p.prepare() {
			return -1, -1
		}
		if message = p.messageAt(s.Start); message < 0 {
			return -1, -1
		}
		if block = p.blockAt(message, s.Start); block >= 0 {
			block -= p.Conv.Messages[message].BlockLo
		}
		return message, block
	}
	switch do := op.Do.(type) {
	case *operation.AddMember:
		m, b := at(do.At)
		on = fmt.Sprint(m, b, do.Member, do.Text)
	case *operation.SetState, *operation.InsertResults, *operation.RenamePairs, *operation.MintIDs, *operation.RelinkResult, *operation.Retag:
		calls, results := operation.Subjects(do)
		on = fmt.Sprint(calls, results)
	case *operation.RenameID:
		on = fmt.Sprint(do.Call, do.Result)
	default:
		return ""
	}
	c := p.Conv
	return fmt.Sprint(op.Do.Kind(), c.Index, len(c.Messages), len(c.Blocks), len(c.Calls), len(c.Results), on)
}
