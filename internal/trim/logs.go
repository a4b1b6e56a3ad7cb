package trim

import "slices"

// A Log says what is left of a session log when it is cut, besides the messages. Records that name a
// dropped one always go.
type Log struct {
	Dialect string
	// Stay are the types of headers, titles and the like, which stay wherever they are.
	Stay []string
	// Lead are the types and subtypes of records that begin a turn. They stay if they are directly
	// before the first kept message.
	Lead []string
	// Refs are the paths at which records name others, besides those of the dialect.
	Refs []string
	// Go are the types of records that repeat what was sent, and so what is dropped.
	Go []string
	// Refuse are the types of records with which toolguard does not cut a log, or paths that they have.
	Refuse []string
}

// logs lists the session logs that can be cut.
var logs = [...]Log{
	{
		Dialect: "claude-code",
		Stay:    []string{"custom-title", "ai-title", "agent-name", "agent-color", "agent-setting", "tag", "mode", "permission-mode", "pr-link", "worktree-state", "summary"},
		Refs:    []string{"messageId", "sourceToolAssistantUUID", "sourceToolUseUUID"},
		Go:      []string{"api-request", "api-request-blob", "api-request-shape"},
	},
	{Dialect: "qwen-code", Refs: []string{"systemPayload.targetUuid"}},
	{Dialect: "pi", Stay: []string{"session", "session_info"}},
	{Dialect: "codex", Stay: []string{"session_meta"}, Lead: []string{"turn_context", "task_started", "turn_started", "world_state"}},
	{Dialect: "factory-droid", Stay: []string{"session_start"}, Refuse: []string{"compaction_state"}},
	{Dialect: "gemini-cli", Stay: []string{""}, Refuse: []string{"$rewindTo", "$set.messages"}},
	{Dialect: "copilot-cli", Stay: []string{"session.start"}, Refuse: []string{"session.compaction_complete"}},
}

// LogOf returns what is left of a log of a dialect, nil if it is not cut.
func LogOf(dialect string) *Log {
	i := slices.IndexFunc(logs[:], func(l Log) bool { return l.Dialect == dialect })
	if i < 0 {
		return nil
	}
	return &logs[i]
}
