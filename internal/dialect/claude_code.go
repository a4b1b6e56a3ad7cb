package dialect

import (
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// ClaudeCode is the session log of Claude Code: one record per line, each with one
// block of an Anthropic message, linked by uuid and parentUuid.
var ClaudeCode = &Dialect{
	Name:    "claude-code",
	Title:   "Claude Code session log",
	Summary: "A log of linked records that each wrap part of an Anthropic message.",
	Where:   "~/.claude/projects/<directory>/<session>.jsonl",
	Example: `{"type":"assistant","uuid":"a1","parentUuid":null,"sessionId":"s","message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]}}
{"type":"user","uuid":"u1","parentUuid":"a1","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a.txt"}]}}`,
	Provider: "anthropic",
	Window:   transcript.WindowLog,
	// Since 2.1.121 a resume skips a damaged line (gh:delexw/claude-code-trace#66).
	DamagedLine: DamagedSkipped,
	Evidence:    anthropicEvidence,
	Members:     anthropicMembers,
	Driver:      claudeCodeMessages{anthropicBlocks},
	Log: &Log{
		Type: "type", Subtype: "subtype", Speaks: []string{"user", "assistant"}, Payload: "message",
		Evidence: []string{"uuid", "parentUuid", "sessionId", "leafUuid", "messageId"}, Lacks: []string{"session_id", "parent_tool_use_id"},
		Header: "summary", HeaderHas: []string{"leafUuid"},
		ID: "uuid", Parent: "parentUuid", Time: "timestamp",
		TurnAlt: "requestId",
		// Behind the first message of another answer, results are removed, and their calls get others
		// (ensureToolResultPairing of 2.1.330).
		Closes: []string{"assistant"},
		Side:   "isSidechain", Agent: "agentId",
		Meta: "isMeta", Summary: "isCompactSummary", Hidden: "isVisibleInTranscriptOnly",
		Interrupt: "[Request interrupted by user",
		Boundary:  []string{"compact_boundary"},
		Preserved: "compactMetadata.preservedMessages.uuids|compactMetadata.preservedMessages",
		Head:      "compactMetadata.preservedSegment.headUuid", Tail: "compactMetadata.preservedSegment.tailUuid",
		// What a human typed while the agent worked is no message, but it is sent.
		Notes:      []Noted{{"attachment", "attachment.prompt"}},
		ResultType: "user", ResultCopy: "toolUseResult", ResultSource: "sourceToolAssistantUUID",
		Envelope: []string{
			"isSidechain", "agentId", "userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug", "teamName", "timestamp",
		},
		Refs: []string{
			"leafUuid", "logicalParentUuid", "compactMetadata.preservedSegment.anchorUuid", "compactMetadata.preservedMessages.anchorUuid",
		},
		CallRefs: []Lens{"toolUseID", "parentToolUseID", "sourceToolUseID"},
		Hooks: LogHooks{Progress: func(record source.Value) bool {
			return record.Get("type").Is("progress") || record.Get("subtype").Is("progress")
		}},
	},
}

// claudeCodeMessages are messages that may take their role from the type of the
// record.
type claudeCodeMessages struct{ *BlocksDriver }

// Damaged implements Guesser. The type of a message is not the tag of a block.
func (d claudeCodeMessages) Damaged(v source.Value) bool {
	content := d.Content.In(v)
	if !content.Exists() || isSet(d.Role.In(v)) {
		return false
	}
	for _, block := range content.Present() {
		if d.kindOf(block) == nil {
			return false
		}
	}
	return true
}
