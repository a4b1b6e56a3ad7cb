package layout

// All returns the schemas.
func All() []*Schema {
	return []*Schema{openCode(), openClaw(), goose(), hermes(), agentsSDK()}
}

// openCode is opencode since 1.2. The ids of a message and of a part are in columns of their own, and
// opencode export writes them last.
func openCode() *Schema {
	return &Schema{
		Agent: "opencode", Others: []string{"Kilo"}, Dialect: "opencode",
		Tables: map[string][]string{
			"session": {"id", "title", "directory", "version", "time_created", "time_updated", "parent_id"},
			"message": {"id", "session_id", "time_created", "data"},
			"part":    {"id", "session_id", "message_id", "data"},
		},
		Sessions: "SELECT id, title, directory, version, time_updated FROM session",
		Text: Rows{
			// Not every version has all columns.
			Query: "SELECT id, * FROM session WHERE id = ?",
			Fields: []Field{{Key: "info", Is: Object, Fields: []Field{
				{Key: "id", Column: "id"},
				{Key: "slug", Column: "slug"},
				{Key: "projectID", Column: "project_id"},
				{Key: "workspaceID", Column: "workspace_id"},
				{Key: "parentID", Column: "parent_id"},
				{Key: "directory", Column: "directory"},
				{Key: "path", Column: "path"},
				{Key: "title", Column: "title"},
				{Key: "agent", Column: "agent"},
				{Key: "model", Column: "model", Is: JSON},
				{Key: "version", Column: "version"},
				{Key: "summary", Is: Object, Fields: []Field{
					{Key: "additions", Column: "summary_additions"},
					{Key: "deletions", Column: "summary_deletions"},
					{Key: "files", Column: "summary_files"},
					{Key: "diffs", Column: "summary_diffs", Is: JSON},
				}},
				{Key: "cost", Column: "cost"},
				{Key: "tokens", Is: Object, Fields: []Field{
					{Key: "input", Column: "tokens_input"},
					{Key: "output", Column: "tokens_output"},
					{Key: "reasoning", Column: "tokens_reasoning"},
					{Key: "cache", Is: Object, Fields: []Field{{Key: "read", Column: "tokens_cache_read"}, {Key: "write", Column: "tokens_cache_write"}}},
				}},
				{Key: "metadata", Column: "metadata", Is: JSON},
				{Key: "revert", Column: "revert", Is: JSON},
				{Key: "permission", Column: "permission", Is: JSON},
				{Key: "time", Is: Object, Fields: []Field{
					{Key: "created", Column: "time_created"},
					{Key: "updated", Column: "time_updated"},
					{Key: "compacting", Column: "time_compacting"},
					{Key: "archived", Column: "time_archived"},
				}},
			}}},
			List: "messages",
			Each: &Rows{
				Table: "message", Key: "id",
				Query: "SELECT id, session_id, data FROM message WHERE session_id = ? ORDER BY time_created, id",
				Fields: []Field{{Key: "info", Is: Object, Fields: []Field{
					{Column: "data", Is: Members}, {Key: "id", Column: "id"}, {Key: "sessionID", Column: "session_id"},
				}}},
				List: "parts",
				Each: &Rows{
					Table: "part", Key: "id",
					Query: "SELECT id, session_id, message_id, data FROM part WHERE message_id = ? ORDER BY id",
					Fields: []Field{
						{Column: "data", Is: Members},
						{Key: "id", Column: "id"},
						{Key: "sessionID", Column: "session_id"},
						{Key: "messageID", Column: "message_id"},
					},
				},
			},
		},
		Instead:  "it answers calls without a result itself when it resumes a session. For other errors, close it, and then: toolguard sqlite fix --write DATABASE",
		Left:     "start a new session; toolguard sqlite dump DATABASE SESSION | toolguard extract - writes what was said",
		Repaired: "opencode 1.18.33, Kilo 7.7.7",
		Source:   "https://github.com/anomalyco/opencode/blob/dev/packages/opencode/src/session/session.sql.ts",
		Tried:    "opencode 1.18.33, Kilo 7.7.7",
	}
}

// openClaw is OpenClaw since 2026.8: the lines of its session logs, those of 1 KB and more
// compressed.
func openClaw() *Schema {
	return &Schema{
		Agent: "OpenClaw", Dialect: "pi",
		Tables: map[string][]string{
			"session_windows":   {"session_id", "session_key", "updated_at"},
			"transcript_events": {"session_id", "seq", "event_json", "event_zstd"},
		},
		Sessions: "SELECT DISTINCT e.session_id, w.session_key, NULL, NULL, w.updated_at FROM transcript_events AS e LEFT JOIN session_windows AS w ON w.session_id = e.session_id",
		Text: Rows{
			Query:  "SELECT seq, coalesce(event_json, event_zstd) AS event FROM transcript_events WHERE session_id = ? ORDER BY seq",
			Fields: []Field{{Column: "event", Is: Whole}},
			Lines:  true,
		},
		Elsewhere: "SELECT count(*) FROM session_transcript_cold_archives",
		Why:       "OpenClaw has moved them to its archive",
		Instead:   "it answers calls without a result itself when it resumes a session. For other errors, start a new session; toolguard-sqlite dump DATABASE SESSION | toolguard show - shows what was said",
		Source:    "https://github.com/openclaw/openclaw/tree/main/src/state",
		Tried:     "OpenClaw 2026.9.6",
	}
}

// goose is goose since 1.10.
func goose() *Schema {
	return &Schema{
		Agent: "goose", Dialect: "goose",
		Tables: map[string][]string{
			"sessions": {"id", "name", "description", "working_dir", "updated_at"},
			"messages": {"id", "session_id", "role", "content_json", "created_timestamp", "metadata_json"},
		},
		Sessions: "SELECT id, coalesce(nullif(name, ''), description), working_dir, NULL, updated_at FROM sessions",
		Text: Rows{
			Query:  "SELECT id, working_dir, name, description FROM sessions WHERE id = ?",
			Fields: []Field{{Key: "id", Column: "id"}, {Key: "working_dir", Column: "working_dir"}, {Key: "name", Column: "name"}, {Key: "description", Column: "description"}},
			List:   "conversation",
			Each: &Rows{
				Query: "SELECT id, role, created_timestamp, content_json, metadata_json FROM messages WHERE session_id = ? ORDER BY created_timestamp, id",
				Fields: []Field{
					{Key: "role", Column: "role"},
					{Key: "created", Column: "created_timestamp"},
					{Key: "content", Column: "content_json", Is: JSON},
					{Key: "metadata", Column: "metadata_json", Is: JSON},
				},
			},
		},
		Instead: "start a new session; toolguard-sqlite dump DATABASE SESSION | toolguard show - shows what was said",
		Source:  "https://github.com/aaif-goose/goose/blob/main/crates/goose/src/session/session_manager.rs",
	}
}

// hermes is Hermes. Rows that are not active were compacted or rewound, and it does not send them.
func hermes() *Schema {
	return &Schema{
		Agent: "Hermes", Dialect: "openai-chat",
		Tables: map[string][]string{
			"sessions": {"id", "source", "title", "started_at"},
			"messages": {"id", "session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp", "finish_reason", "active"},
		},
		Sessions: "SELECT id, title, NULL, NULL, coalesce((SELECT max(timestamp) FROM messages WHERE session_id = sessions.id), started_at) FROM sessions",
		Text: Rows{
			Query:  "SELECT id, source, title, started_at FROM sessions WHERE id = ?",
			Fields: []Field{{Key: "id", Column: "id"}, {Key: "source", Column: "source"}, {Key: "title", Column: "title"}, {Key: "started_at", Column: "started_at"}},
			List:   "messages",
			Each: &Rows{
				Query: "SELECT id, role, content, tool_call_id, tool_calls, tool_name, timestamp, finish_reason FROM messages WHERE session_id = ? AND active = 1 ORDER BY id",
				Fields: []Field{
					{Key: "role", Column: "role"},
					{Key: "content", Column: "content", Is: Marked, Null: true},
					{Key: "tool_call_id", Column: "tool_call_id"},
					{Key: "tool_calls", Column: "tool_calls", Is: JSON},
					{Key: "tool_name", Column: "tool_name"},
					{Key: "timestamp", Column: "timestamp"},
					{Key: "finish_reason", Column: "finish_reason"},
				},
			},
		},
		Instead: "start a new session; toolguard-sqlite dump DATABASE SESSION | toolguard show - shows what was said",
		Source:  "https://github.com/NousResearch/hermes-agent/blob/main/hermes_state_common.py",
	}
}

// agentsSDK is SQLiteSession of the OpenAI Agents SDK, with its default names of tables. The items
// are what its get_items returns.
func agentsSDK() *Schema {
	return &Schema{
		Agent: "OpenAI Agents SDK", Dialect: "openai-responses",
		Tables: map[string][]string{
			"agent_sessions": {"session_id", "updated_at"},
			"agent_messages": {"id", "session_id", "message_data"},
		},
		Sessions: "SELECT session_id, NULL, NULL, NULL, updated_at FROM agent_sessions",
		Text: Rows{
			Query:  "SELECT id, message_data FROM agent_messages WHERE session_id = ? ORDER BY id",
			Fields: []Field{{Column: "message_data", Is: Whole}},
			Lines:  true,
		},
		Instead: "toolguard-sqlite dump DATABASE SESSION | toolguard fix - writes repaired items, a line each, for add_items of a new session",
		Source:  "https://github.com/openai/openai-agents-python/blob/main/src/agents/memory/sqlite_session.py",
	}
}
