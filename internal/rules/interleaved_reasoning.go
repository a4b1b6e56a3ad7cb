package rules

import (
	"slices"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var interleavedReasoning = &Rule{
	Name: "interleaved-reasoning", Category: Reasoning, Severity: "error (Anthropic) with --send or --provider; else warning",
	Summary:    "An answer with reasoning is written between the parts of another answer",
	Points:     []profile.Point{profile.SplitReasoning},
	Strategies: []string{"drop"},
	What: `Checks the records of session logs that hold one answer of the model each in part. The records of an
answer have the same message id. The rule reports an answer that goes on behind a part of another
answer, if one of the two has reasoning. It looks only at what the agent did since the last message
of a human before its last reasoning.`,
	Why: `The agent puts the parts of each answer together before it sends them, and the provider takes
consecutive answers as one. Reasoning then comes before or behind other blocks than in the original
answer. The provider sees that and rejects every request of the session. Two requests at the same time
write such a log.`,
	Repair: `Nobody can tell in which order the provider sent the blocks.

- ` + "`drop`" + ` (default, unsafe): drop the reasoning of both answers.`,
	Args: "--send",
	Bad: `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"msg_1","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s1"}]}}
{"type":"assistant","uuid":"b1","parentUuid":"a1","sessionId":"s","message":{"id":"msg_2","role":"assistant","content":[{"type":"thinking","thinking":"so","signature":"s2"}]}}
{"type":"assistant","uuid":"a2","parentUuid":"b1","sessionId":"s","message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}}
{"type":"user","uuid":"u2","parentUuid":"a2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]}}`,
	Good: `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"msg_1","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s1"}]}}
{"type":"assistant","uuid":"a2","parentUuid":"a1","sessionId":"s","message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}}
{"type":"user","uuid":"u2","parentUuid":"a2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]}}`,
	Check: func(c *Context) {
		cell := c.cell(profile.SplitReasoning)
		severity := severityOf(cell)
		if severity == Off || c.arrays() || !c.shaped() {
			return
		}
		if !c.sent() {
			severity = min(severity, Warning)
		}
		from, to := c.lastReasoned()
		reasoning := map[int32][]int32{} // by turn
		last := map[int32]int32{}        // the last part of each turn
		before := int32(-1)              // the part before
		told := map[[2]int32]bool{}      // pairs of turns
		for i := from; i < to; i++ {
			if c.partOfAnswer(i) {
				turn := c.turn(i)
				reasoning[turn] = append(reasoning[turn], c.reasoning(i)...)
			}
		}
		for i := from; i < to; i++ {
			if !c.partOfAnswer(i) {
				continue
			}
			turn := c.turn(i)
			first, seen := last[turn]
			if seen && c.turn(before) != turn {
				pair := [2]int32{min(turn, c.turn(before)), max(turn, c.turn(before))}
				if blocks := slices.Concat(reasoning[pair[0]], reasoning[pair[1]]); len(blocks) > 0 && !told[pair] {
					told[pair] = true
					op, do := turnOp[operation.DropBlocks](c, turn, operation.Unsafe, "drop the reasoning of both answers")
					for _, b := range blocks {
						if !slices.Contains(do.Blocks, b) {
							do.Blocks = append(do.Blocks, b)
						}
					}
					c.report(i, Finding{
						Severity: severity, Span: c.Messages[i].RoleSpan(), Refusal: cell.Text, Fix: op,
						Message: "this part of an answer is behind a part of another answer, and there is reasoning in them",
						Related: []Related{
							{"the part before is here", c.Messages[first].RoleSpan()},
							{"the part of the other answer is here", c.Messages[before].RoleSpan()},
						},
					})
				}
			}
			last[turn], before = i, i
		}
	},
}

// partOfAnswer reports whether a message is a part of an answer of the model that is sent.
func (c *Context) partOfAnswer(i int32) bool {
	m := &c.Messages[i]
	return m.Role == transcript.RoleAssistant && !c.hidden(i) && !m.Has(transcript.MessageReplay) && !m.Void()
}

// lastReasoned returns the messages between two messages of a human in which the last reasoning
// is.
func (c *Context) lastReasoned() (from, to int32) {
	for i := range slices.Backward(c.Blocks) {
		b := &c.Blocks[i]
		if b.Kind != transcript.BlockReasoning || !c.partOfAnswer(b.Message) {
			continue
		}
		from, to = b.Message, b.Message
		for from > 0 && !c.Messages[from-1].Has(transcript.MessageTyped) {
			from--
		}
		for int(to) < len(c.Messages) && !c.Messages[to].Has(transcript.MessageTyped) {
			to++
		}
		return from, to
	}
	return 0, 0
}
