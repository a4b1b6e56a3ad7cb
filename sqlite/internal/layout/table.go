package layout

// All returns the schemas.
func All() []*Schema {
	return []*Schema{openCode(), openClaw(), goose(), hermes(), crush(), zed(), cursor(), langGraph(), agentsSDK()}
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

// openClaw is OpenClaw since 2026.8: the lines of its session logs, those of 1 KB and more compressed. It
// writes a log again in the same way (replaceSqliteTranscriptEventsInTransaction): with the ids of rows, the
// path to the leaf, and another generation. It does not resume a session with needs_rebuild, and does not
// rebuild it then.
func openClaw() *Schema {
	text := func(path string) string {
		return "nullif(trim(iif(json_type(event, '" + path + "') = 'text', json_extract(event, '" + path + "'), NULL), ' ' || char(9, 10, 13)), '')"
	}
	const at = "coalesce(CAST(round(unixepoch(json_extract(event, '$.timestamp'), 'subsec') * 1000) AS INTEGER), earlier)"
	return &Schema{
		Agent: "OpenClaw", Dialect: "pi",
		Tables: map[string][]string{
			"session_windows":   {"session_id", "session_key", "updated_at"},
			"transcript_events": {"session_id", "seq", "event_json", "event_zstd"},
		},
		Sessions: "SELECT DISTINCT e.session_id, w.session_key, NULL, NULL, w.updated_at FROM transcript_events AS e LEFT JOIN session_windows AS w ON w.session_id = e.session_id",
		Text: Rows{
			Table: "transcript_events", Key: "rowid",
			Query:  "SELECT seq, coalesce(event_json, event_zstd) AS event FROM transcript_events WHERE session_id = ? ORDER BY seq",
			Fields: []Field{{Column: "event", Is: Whole}},
			Lines:  true,
			Log: &Log{
				Session: "session_id", Number: "seq", Body: []string{"event_json", "event_zstd"},
				Written: []Column{{"event_json", "event"}, {"event_zstd", "NULL"}, {"event_utf8_bytes", "octet_length(event)"}, {"navigation_json", "NULL"}},
				Time:    Column{"created_at", at},
				Index:   "transcript_event_identities",
				Indexed: []Column{
					{"event_id", text("$.id")},
					{"event_type", "iif(json_type(event, '$.type') = 'text', json_extract(event, '$.type'), NULL)"},
					{"parent_id", "iif(json_type(event, '$.parentId') = 'text', json_extract(event, '$.parentId'), NULL)"},
					{"message_idempotency_key", text("$.message.idempotencyKey")},
				},
				Path: Path{
					Table: "session_transcript_active_events", Number: "event_seq", Position: "active_position",
					Columns: []Column{{"message_position", "messages"}, {"context_eligible", "json_type(event, '$.message.excludeFromContext') IS NOT 'true'"}},
					Kinds: []string{
						"message", "thinking_level_change", "model_change", "compaction", "branch_summary", "custom", "custom_message", "label", "session_info",
					},
					Others: []string{"leaf", "reset"},
				},
				Search: Search{
					Table: "session_transcript_fts", Of: "session_transcript_fts_rows", ID: "message_id",
					Columns: []Column{
						{"text", `iif(json_extract(event, '$.type') = 'message' AND json_extract(event, '$.message.role') IN ('user', 'assistant'), CASE json_type(event, '$.message.content')
							WHEN 'text' THEN nullif(trim(json_extract(event, '$.message.content'), ' ' || char(9, 10, 13)), '')
							WHEN 'array' THEN (SELECT group_concat(json_extract(value, '$.text'), char(10) ORDER BY key) FROM json_each(event, '$.message.content')
								WHERE type = 'object' AND json_extract(value, '$.type') IN ('text', 'input_text', 'output_text') AND json_type(value, '$.text') = 'text' AND trim(json_extract(value, '$.text'), ' ' || char(9, 10, 13)) <> '') END, NULL)`},
						{"role", "json_extract(event, '$.message.role')"},
						{"timestamp", "CAST(" + at + " AS REAL)"},
					},
				},
				Marked: []Mark{
					{"session_transcript_index_state", []Column{{"indexed_seq", "last"}, {"leaf_event_id", "leaf"}, {"needs_rebuild", "0"}, {"active_event_count", "events"}, {"active_message_count", "messages"}}},
					{"transcript_rewrite_watermarks", []Column{{"generation", "lower(hex(randomblob(16)))"}}},
					{"session_windows", []Column{{"transcript_updated_at", "max(coalesce(transcript_updated_at, -1), coalesce(transcript_observed_at, -1)) + 1"}}},
				},
			},
		},
		Elsewhere: "SELECT count(*) FROM session_transcript_cold_archives",
		Why:       "OpenClaw has moved them to its archive",
		Instead:   "it answers calls without a result itself when it resumes a session. For other errors, close it, and then: toolguard sqlite fix --write DATABASE",
		Left:      "start a new session; toolguard sqlite dump DATABASE SESSION | toolguard extract - writes what was said",
		Repaired:  "OpenClaw 2026.9.6",
		Tested:    "SELECT 1 FROM schema_meta WHERE role = 'agent' AND schema_version = 23",
		// Of session_windows, a repair changes a column that they are not about. The last one removes what is
		// removed already.
		Idle:   []string{"session_windows_canonical_pending_after_insert", "session_windows_canonical_pending_after_update", "session_windows_canonical_pending_after_delete", "session_transcript_fts_rows_after_delete"},
		Source: "https://github.com/openclaw/openclaw/tree/main/src/state",
		Tried:  "OpenClaw 2026.9.6",
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

// crush is Crush since 0.6. It does not send what a summary replaced.
func crush() *Schema {
	return &Schema{
		Agent: "Crush", Dialect: "crush",
		Tables: map[string][]string{
			"sessions": {"id", "title", "message_count", "updated_at", "summary_message_id"},
			"messages": {"id", "session_id", "role", "parts", "created_at", "is_summary_message"},
		},
		Sessions: "SELECT id, title, NULL, NULL, updated_at FROM sessions",
		Text: Rows{
			Query:  "SELECT id, title, created_at, updated_at, summary_message_id FROM sessions WHERE id = ?",
			Fields: []Field{{Key: "id", Column: "id"}, {Key: "title", Column: "title"}, {Key: "created_at", Column: "created_at"}, {Key: "updated_at", Column: "updated_at"}, {Key: "summary_message_id", Column: "summary_message_id"}},
			List:   "messages",
			Each: &Rows{
				// Times are in seconds, and rows of one second are in the order in which they were written.
				Query: "SELECT m.id, m.role, m.parts, m.model, m.is_summary_message, m.created_at, iif((m.created_at, m.rowid) < (s.created_at, s.rowid), 1, NULL) AS summarized FROM messages AS m LEFT JOIN messages AS s ON s.id = (SELECT summary_message_id FROM sessions WHERE id = m.session_id) AND s.session_id = m.session_id WHERE m.session_id = ? ORDER BY m.created_at, m.rowid",
				Fields: []Field{
					{Key: "id", Column: "id"},
					{Key: "role", Column: "role"},
					{Key: "parts", Column: "parts", Is: JSON},
					{Key: "model", Column: "model"},
					{Key: "is_summary_message", Column: "is_summary_message"},
					{Key: "created_at", Column: "created_at"},
					{Key: "summarized", Column: "summarized"},
				},
			},
		},
		Instead: "it answers calls without a result and drops results without a call itself when it resumes a session. For other errors, start a new session; toolguard-sqlite dump DATABASE SESSION | toolguard show - shows what was said",
		Source:  "https://github.com/charmbracelet/crush/tree/main/internal/db",
	}
}

// zed is the threads of Zed's agent. A thread is one value, mostly compressed.
func zed() *Schema {
	return &Schema{
		Agent: "Zed", Dialect: "zed",
		Tables:   map[string][]string{"threads": {"id", "summary", "updated_at", "data_type", "data"}},
		Sessions: "SELECT id, summary, NULL, NULL, updated_at FROM threads",
		Text: Rows{
			Query:  "SELECT id, iif(data_type = 'json', CAST(data AS TEXT), data) AS data FROM threads WHERE id = ?",
			Fields: []Field{{Column: "data", Is: Whole}},
			Lines:  true,
		},
		Instead: "start a new thread; toolguard-sqlite dump DATABASE SESSION | toolguard show - shows what was said",
		Source:  "https://github.com/zed-industries/zed/blob/main/crates/agent/src/db.rs",
	}
}

// cursor is the chats of Cursor, in a table of keys and values. A chat names its bubbles in order, which have rows of
// their own; older ones were in the chat, and SQLite writes their JSON again. Keys are only found by the index, because there may be
// millions. Values may be blobs, and none may be there at all.
func cursor() *Schema {
	const chat = "substr(key, 14)"
	return &Schema{
		Agent: "Cursor", Dialect: "cursor",
		Tables: map[string][]string{"cursorDiskKV": {"key", "value"}},
		Sessions: `SELECT ` + chat + `, v ->> '$.name', NULL, NULL, coalesce(v ->> '$.lastUpdatedAt', v ->> '$.createdAt') FROM (
			SELECT key, iif(json_valid(CAST(value AS TEXT)), CAST(value AS TEXT), NULL) AS v
			FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;' AND value IS NOT NULL)
			WHERE v IS NULL OR coalesce(v ->> '$.fullConversationHeadersOnly[0]', v ->> '$.conversation[0]') IS NOT NULL`,
		Text: Rows{
			Query: `SELECT ` + chat + ` AS id, v ->> '$.name' AS name, v ->> '$.createdAt' AS created, v ->> '$.lastUpdatedAt' AS updated FROM (
				SELECT key, CAST(value AS TEXT) AS v FROM cursorDiskKV WHERE key = 'composerData:' || ?)`,
			Fields: []Field{
				{Key: "composerId", Column: "id"},
				{Key: "name", Column: "name"},
				{Key: "createdAt", Column: "created"},
				{Key: "lastUpdatedAt", Column: "updated"},
			},
			List: "messages",
			Each: &Rows{
				Query: `WITH c AS MATERIALIZED (SELECT CAST(value AS TEXT) AS v FROM cursorDiskKV WHERE key = 'composerData:' || ?1)
					SELECT h.value ->> '$.bubbleId' AS id, CAST(b.value AS TEXT) AS data,
						iif(b.value IS NULL, h.value ->> '$.bubbleId', NULL) AS lost, iif(b.value IS NULL, h.value ->> '$.type', NULL) AS type
					FROM c, json_each(c.v, '$.fullConversationHeadersOnly') AS h
						LEFT JOIN cursorDiskKV AS b ON b.key = 'bubbleId:' || ?1 || ':' || (h.value ->> '$.bubbleId')
					UNION ALL SELECT h.value ->> '$.bubbleId', h.value, NULL, NULL FROM c, json_each(c.v, '$.conversation') AS h
					WHERE c.v ->> '$.fullConversationHeadersOnly[0]' IS NULL`,
				Fields: []Field{{Column: "data", Is: Members}, {Key: "bubbleId", Column: "lost"}, {Key: "type", Column: "type"}},
			},
		},
		Instead: "its server builds the messages, and nothing here is sent again. If a chat does not go on, start a new one with what this prints: toolguard sqlite dump DATABASE SESSION | toolguard extract -",
		Source:  "https://github.com/michaeldhood/chatrxiv/blob/main/docs/cursor/storage-reference.md",
	}
}

// langGraph is SqliteSaver of LangGraph: the last state of each thread, if that has all messages.
func langGraph() *Schema {
	return &Schema{
		Agent: "LangGraph", Dialect: "langchain",
		Tables:   map[string][]string{"checkpoints": {"thread_id", "checkpoint_ns", "checkpoint_id", "type", "checkpoint"}},
		Sessions: "SELECT DISTINCT thread_id, NULL, NULL, NULL, NULL FROM checkpoints WHERE checkpoint_ns = ''",
		Text: Rows{
			Query:  "SELECT checkpoint_id, thread_id, iif(type = 'json', CAST(checkpoint AS TEXT), checkpoint) AS checkpoint FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' ORDER BY checkpoint_id DESC LIMIT 1",
			Fields: []Field{{Key: "thread_id", Column: "thread_id"}, {Key: "checkpoint_id", Column: "checkpoint_id"}, {Key: "checkpoint", Column: "checkpoint", Is: Packed}},
		},
		Instead: "toolguard-sqlite dump DATABASE SESSION | toolguard fix - shows the messages that graph.update_state needs",
		Source:  "https://github.com/langchain-ai/langgraph/blob/main/libs/checkpoint-sqlite/langgraph/checkpoint/sqlite/__init__.py",
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
