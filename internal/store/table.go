package store

// These are the names of files with sessions.
var (
	jsonLines = []string{"*.jsonl"}
	anyJSON   = []string{"*.jsonl", "*.json"}
)

// These are the rules about calls without a result, and about results without a call too.
var (
	openCalls  = []string{"missing-tool-result", "pending-tool-call"}
	openAndOff = []string{"missing-tool-result", "pending-tool-call", "orphan-tool-result"}
)

// All returns the stores: those with repaired sessions first, then those that are only
// checked, then the databases.
func All() []Store {
	return []Store{
		{
			Agent: "Claude Code", Repaired: true, Dialect: "claude-code",
			Roots:  []string{"$CLAUDE_CONFIG_DIR/projects", "~/.claude/projects"},
			Files:  jsonLines,
			Source: "https://code.claude.com/docs/en/claude-directory",
			// The file has the id of the session with which the process began. After /clear and
			// with --continue the process writes another session of the same directory.
			Locks: []Lock{{
				Path: rootPath + "/../sessions/*.json", PID: "pid", Session: "sessionId", Project: "cwd",
				Source: "https://github.com/sverrirsig/claude-control/issues/10",
			}},
			// The changelog says of 2.1.86 that --resume no longer fails with "tool_use ids were
			// found without tool_result blocks". For results without a call it names one case
			// only, a history that begins with one (2.1.69).
			Mends: Mends{
				Rules: openCalls, Since: "2.1.86",
				Source: "https://github.com/anthropics/claude-code/blob/main/CHANGELOG.md",
			},
			About: About{
				Project: []string{"cwd"}, Version: []string{"version"},
				Title:  []string{"customTitle", "aiTitle", "summary"},
				Prompt: []string{"message.content", "message.content.*.text"}, Human: []Is{{"type", "user"}}, Robot: "isMeta",
			},
		},
		{
			Agent: "Codex", Repaired: true, Dialect: "codex",
			Roots: []string{
				"$CODEX_HOME/sessions", "$CODEX_HOME/archived_sessions",
				"~/.codex/sessions", "~/.codex/archived_sessions",
			},
			Files:  []string{"rollout-*.jsonl"},
			Source: "https://github.com/openai/codex",
			// Before each request, ensure_call_outputs_present answers open calls with "aborted",
			// and remove_orphan_outputs removes results without a call.
			Mends: Mends{
				Rules:  openAndOff,
				Source: "https://github.com/openai/codex/blob/main/codex-rs/core/src/context_manager/normalize.rs",
			},
			About: About{
				Project: []string{"payload.cwd"}, Version: []string{"payload.cli_version"},
				Prompt: []string{"payload.content.*.text"}, Human: []Is{{"payload.type", "message"}, {"payload.role", "user"}},
			},
		},
		{
			Agent: "Gemini CLI", Repaired: true, Dialect: "gemini-cli",
			Roots:  []string{"$GEMINI_CLI_HOME/.gemini/tmp/*/chats", "~/.gemini/tmp/*/chats"},
			Files:  anyJSON,
			Source: "https://geminicli.com/docs/reference/configuration",
			About: About{
				Project: []string{"directories.0"}, Title: []string{"summary"},
				Prompt: []string{"content", "content.*.text", "messages.0.content", "messages.0.content.0.text"},
				Human:  []Is{{"type", "user"}},
			},
		},
		{
			Agent: "Qwen Code", Repaired: true, Dialect: "qwen-code",
			Roots:  []string{"$QWEN_RUNTIME_DIR/projects/*/chats", "$QWEN_HOME/projects/*/chats", "~/.qwen/projects/*/chats"},
			Files:  jsonLines,
			Source: "https://github.com/QwenLM/qwen-code/blob/main/packages/core/src/config/storage.ts",
			Locks:  []Lock{{Path: stemPath + ".runtime.json", PID: "pid", Source: "https://github.com/QwenLM/qwen-code/pull/3714"}},
			// 0.10.1 was seen to leave calls without a result out of its next request, and 0.24.4
			// to answer them in it.
			Mends: Mends{Rules: openCalls, Source: "https://github.com/toolguard/toolguard/blob/main/docs/agents.md#killed-in-a-call"},
			About: About{
				Project: []string{"cwd"}, Version: []string{"version"}, Title: []string{"systemPayload.customTitle"},
				Prompt: []string{"message.parts.*.text"}, Human: []Is{{"type", "user"}},
			},
		},
		{
			Agent: "Copilot CLI", Repaired: true, Dialect: "copilot-cli",
			Roots:  []string{"$COPILOT_HOME/session-state", "~/.copilot/session-state"},
			Files:  []string{"events.jsonl"},
			Source: "https://github.com/microsoft/vscode/pull/314917",
			// The process tests such files of others with kill(pid, 0), too. Crashes leave them.
			Locks: []Lock{{Path: dirPath + "/inuse.*.lock", Source: "https://github.com/github/copilot-cli/issues/4805"}},
			// This version was seen to answer calls without a result, wherever they are. Earlier ones
			// were not tried.
			Mends: Mends{Rules: openCalls, Since: "1.0.102", Source: "https://github.com/toolguard/toolguard/blob/main/docs/agents.md#killed-in-a-call"},
			About: About{
				Project: []string{"data.context.cwd"}, Version: []string{"data.copilotVersion"},
				Prompt: []string{"data.content"}, Human: []Is{{"type", "user.message"}},
			},
		},
		{
			Agent: "droid", Repaired: true, Dialect: "factory-droid",
			Roots:  []string{"~/.factory/sessions"},
			Files:  jsonLines,
			Source: "https://github.com/getagentseal/codeburn/blob/master/docs/providers/droid.md",
			About: About{
				Project: []string{"cwd"}, Title: []string{"sessionTitle", "title"},
				Prompt: []string{"message.content.*.text"}, Human: []Is{{"message.role", "user"}},
			},
		},
		{
			Agent: "Continue", Repaired: true, Dialect: "continue",
			Roots: []string{"$CONTINUE_GLOBAL_DIR/sessions", "~/.continue/sessions"},
			Files: []string{"*.json"}, Index: "sessions.json",
			Source: "https://github.com/continuedev/continue/blob/main/core/util/paths.ts",
			About: About{
				Project: []string{"workspaceDirectory"}, Title: []string{"title"}, Prompt: []string{"history.0.message.content"},
			},
		},
		{
			Agent: "pi", Repaired: true, Dialect: "pi",
			Roots:  []string{"$PI_CODING_AGENT_SESSION_DIR", "$PI_CODING_AGENT_DIR/sessions", "~/.pi/agent/sessions"},
			Files:  jsonLines,
			Source: "https://github.com/earendil-works/pi/blob/main/packages/coding-agent/docs/configuration.md",
			// transformMessages inserts "No result provided" for calls without a result before each
			// request, once a user message follows them.
			Mends: Mends{Rules: openCalls, Source: "https://github.com/earendil-works/pi/issues/3555"},
			About: piAbout,
		},
		{
			Agent: "oh-my-pi", Repaired: true,
			Roots: []string{
				"$PI_CODING_AGENT_DIR/sessions", "$XDG_DATA_HOME/omp/sessions", "$XDG_DATA_HOME/omp/profiles/*/sessions",
				"~/.omp/agent/sessions", "~/.omp/profiles/*/agent/sessions",
			},
			Files:  jsonLines,
			Source: "https://github.com/can1357/oh-my-pi/blob/main/packages/utils/src/dirs.ts",
			// session-context.ts leaves out calls without a result when it builds the context, and
			// transformMessages results without a call (can1357/oh-my-pi#1165).
			Mends: Mends{
				Rules:  openAndOff,
				Source: "https://github.com/can1357/oh-my-pi/issues/10006",
			},
			About: piAbout,
		},
		{
			Agent: "OpenClaw", Repaired: true,
			Roots:  []string{"$OPENCLAW_STATE_DIR/agents/*/sessions", "~/.openclaw/agents/*/sessions"},
			Files:  jsonLines,
			Source: "https://github.com/openclaw/openclaw",
			// docs/reference/transcript-hygiene.md: pairing is repaired in memory, but only for
			// some providers, so a session counts as broken all the same.
			Locks: []Lock{{Path: filePath + ".lock", PID: "pid", Source: "https://github.com/openclaw/openclaw/blob/main/src/agents/session-write-lock.ts"}},
			About: piAbout,
		},
		{
			Agent: "Cline", Repaired: true,
			Roots:  []string{"CODE/globalStorage/saoudrizwan.claude-dev/tasks"},
			Files:  []string{"api_conversation_history.json"},
			Source: "https://github.com/cline/cline",
			Locks:  editorLocks,
			About:  taskAbout,
		},
		{
			Agent: "Roo Code", Repaired: true,
			Roots:  []string{"CODE/globalStorage/rooveterinaryinc.roo-cline/tasks"},
			Files:  []string{"api_conversation_history.json"},
			Source: "https://github.com/RooCodeInc/Roo-Code",
			// resumeTaskFromHistory repairs only the last messages, where an open call is no
			// error: https://github.com/RooCodeInc/Roo-Code/issues/11764
			Locks: editorLocks,
			About: taskAbout,
		},
		{
			Agent: "Kimi", Dialect: "kimi-wire", Repaired: true,
			Roots: []string{
				"$KIMI_SHARE_DIR/sessions", "$KIMI_CODE_HOME/sessions",
				"~/.kimi/sessions", "~/.kimi-code/sessions",
			},
			Files:  []string{"wire.jsonl"},
			Source: "https://github.com/MoonshotAI/kimi-cli/blob/main/src/kimi_cli/share.py",
			// Since that change Kimi Code closes interrupted calls anywhere in the history when it
			// restores a session. Its logs do not name its version.
			Mends: Mends{Rules: openCalls, Source: "https://github.com/MoonshotAI/kimi-code/pull/1027"},
			// wireJournalBackupKey of @moonshot-ai/kimi-code 2.1.0. It keeps the first copy.
			Uncut: ".bak",
			About: About{Prompt: []string{"message.content.*.text"}, Human: []Is{{"message.role", "user"}}},
		},
		{
			Agent: "Cline CLI", Repaired: true,
			Roots: []string{
				"$CLINE_SESSION_DATA_DIR", "$CLINE_DATA_DIR/sessions", "$CLINE_DIR/data/sessions", "~/.cline/data/sessions",
			},
			Files:  []string{"*.messages.json"},
			Source: "https://github.com/cline/cline",
			About:  About{Prompt: []string{"messages.0.content.0.text", "messages.0.content"}},
		},
		{
			Agent: "GitHub Copilot Chat", Dialect: "vscode-chat",
			Roots:  []string{"CODE/workspaceStorage/*/chatSessions"},
			Files:  anyJSON,
			Source: "https://github.com/microsoft/vscode",
			About: About{
				Title:  []string{"customTitle", "v.customTitle"},
				Prompt: []string{"requests.0.message.text", "v.requests.0.message.text", "v.0.message.text"},
			},
		},
		{
			Agent: "Amp", Dialect: "amp",
			Roots:  []string{"$XDG_DATA_HOME/amp/threads", "~/.local/share/amp/threads"},
			Files:  []string{"T-*.json"},
			Source: "https://github.com/Dicklesworthstone/coding_agent_session_search/issues/103",
			About: About{
				Project: []string{"env.initial.trees.0.uri"}, Title: []string{"title"}, Prompt: []string{"messages.0.content.0.text"},
			},
		},
		{
			Agent: "Kiro", Dialect: "kiro",
			Roots:  []string{"~/.kiro/sessions/cli"},
			Files:  jsonLines,
			Source: "https://pypi.org/project/kiro-session-index/",
			About:  About{Prompt: []string{"data.content.0.data"}, Human: []Is{{"kind", "Prompt"}}},
		},
		{
			Agent: "OpenHands",
			Roots: []string{
				"$OPENHANDS_CONVERSATIONS_DIR", "$OPENHANDS_PERSISTENCE_DIR/conversations",
				"~/.openhands/conversations",
			},
			Instead: "in its directory: jq -c . events/*.json | toolguard check -",
			Source:  "https://github.com/OpenHands/OpenHands-CLI",
		},
		{
			Agent: "opencode", Read: true, Mended: true,
			Databases: []string{"$XDG_DATA_HOME/opencode/opencode.db", "~/.local/share/opencode/opencode.db"},
			Instead:   "opencode export SESSION | toolguard fix - > s.json, then opencode import s.json",
			Source:    "https://opencode.ai/docs/cli/",
			// 1.18.33 was seen to answer calls without a result in its next request.
			Mends: Mends{Rules: openCalls, Source: "https://github.com/toolguard/toolguard/blob/main/docs/sqlite.md#repair"},
		},
		{
			// OpenClaw keeps its sessions there since 2026.8.
			Agent: "OpenClaw database", Read: true, Mended: true,
			Databases: []string{"$OPENCLAW_STATE_DIR/agents/*/agent/openclaw-agent.sqlite", "~/.openclaw/agents/*/agent/openclaw-agent.sqlite"},
			Instead:   "toolguard-sqlite, which reads it, is not installed",
			Source:    "https://github.com/openclaw/openclaw/tree/main/src/state",
		},
		{
			Agent: "Kilo", Read: true, Mended: true,
			Databases: []string{"$XDG_DATA_HOME/kilo/kilo.db", "~/.local/share/kilo/kilo.db"},
			Instead:   "kilo export SESSION | toolguard check -",
			Source:    "https://github.com/samzong/Recall/pull/197",
			// 7.7.7 was seen to do what opencode does.
			Mends: Mends{Rules: openCalls, Source: "https://github.com/toolguard/toolguard/blob/main/docs/sqlite.md#repair"},
		},
		{
			Agent: "goose", Read: true,
			Databases: []string{
				"$XDG_DATA_HOME/goose/sessions/sessions.db", "~/.local/share/goose/sessions/sessions.db",
				"$APPDATA/Block/goose/sessions/sessions.db",
			},
			Instead: "goose session export --format json --session-id SESSION | toolguard check -",
			Source:  "https://github.com/aaif-goose/goose/blob/main/documentation/docs/guides/goose-cli-commands.md",
		},
		{
			Agent: "Hermes", Read: true,
			Databases: []string{"$HERMES_HOME/state.db", "~/.hermes/state.db"},
			Instead:   "hermes sessions export s.jsonl, then toolguard check s.jsonl",
			Source:    "https://hermes-agent.nousresearch.com/docs/user-guide/sessions",
		},
		{
			Agent: "Crush", Read: true,
			// Each project has a database of its own.
			Databases: []string{"~/.crush/crush.db"},
			Projects: []Projects{
				{"$CRUSH_GLOBAL_DATA/projects.json", "projects.#.data_dir", "crush.db"},
				{"$XDG_DATA_HOME/crush/projects.json", "projects.#.data_dir", "crush.db"},
				{"~/.local/share/crush/projects.json", "projects.#.data_dir", "crush.db"},
				{"$LOCALAPPDATA/crush/projects.json", "projects.#.data_dir", "crush.db"},
			},
			Instead: "crush session show --json SESSION | toolguard check -",
			Source:  "https://github.com/charmbracelet/crush/blob/main/internal/projects/projects.go",
			Mends:   Mends{Rules: openAndOff, Source: "https://github.com/charmbracelet/crush/blob/main/internal/agent/agent.go"},
		},
		{
			Agent: "Zed", Read: true,
			Databases: []string{
				"$XDG_DATA_HOME/zed/threads/threads.db", "~/.local/share/zed/threads/threads.db",
				"~/Library/Application Support/Zed/threads/threads.db", "$LOCALAPPDATA/Zed/threads/threads.db",
			},
			Instead: "open the thread as Markdown, for a new thread",
			Source:  "https://github.com/zed-industries/zed/blob/main/crates/agent/src/db.rs",
			// It does not send calls without a result.
			Mends: Mends{Rules: openCalls, Source: "https://github.com/zed-industries/zed/blob/main/crates/agent/src/thread.rs"},
		},
		{
			Agent: "Cursor", Read: true,
			Databases: []string{"APP/Cursor/User/globalStorage/state.vscdb"},
			Instead:   "export the chat as Markdown, for a new chat",
			Source:    "https://github.com/michaeldhood/chatrxiv/blob/main/docs/cursor/storage-reference.md",
		},
	}
}

// editorLocks is the file with the id of the main process of VS Code or a relative. It is
// environmentMainService.mainLockfile, and is in the directory that contains User.
var editorLocks = []Lock{{
	Path:   rootPath + "/../../../../code.lock",
	Source: "https://github.com/microsoft/vscode/blob/main/src/vs/platform/environment/electron-main/environmentMainService.ts",
}}

// piAbout is for pi and the agents that are built on it.
var piAbout = About{
	Project: []string{"cwd"}, Title: []string{"title", "name"},
	Prompt: []string{"message.content", "message.content.*.text"}, Human: []Is{{"message.role", "user"}},
}

// taskAbout is for a list of messages that begins with the task.
var taskAbout = About{Prompt: []string{"0.content.0.text", "0.content"}}
