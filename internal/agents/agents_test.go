package agents

import (
	"path/filepath"
	"strings"
	"syscall"
)

// An agent is how a program is started that keeps sessions.
type agent struct {
	name    string // as in package store
	module  string // its package in npm
	program string
	// files are the files in its home, and env its variables. {model} stands for the address of
	// the model.
	files map[string]string
	env   []string
	// call and result are in each record of a session that has calls or results, and link is the key
	// of the id of a record and that of its parent, if records have any.
	call, result string
	link         [2]string
	// minutes says that it names its session after the minute, and records another history if it is
	// resumed in the same one.
	minutes bool
	// breaks is the rule that it breaks itself when it resumes a session, "" if there is none.
	breaks string
	// list is the key of the messages in its session if that is one JSON document, and database names
	// its file if that is a database, which the test does not damage or repair.
	list, database string
	// damages are what the test does to the rows of the database.
	damages func() []rowDamage
	// strays are hosts that it tries to reach, whatever its settings are.
	strays []string
	// omits is a record that takes the one with the id $target out of what is sent, "" if there are
	// none. $parent stands for the id of the record before it.
	omits string
	// start is its command line for a prompt, and resume that for a session. An argument that begins with
	// typed is no argument: a human types the rest of it.
	start  func(prompt string) []string
	resume func(session, prompt string) []string
}

const typed = "type: "

// all returns the agents. Their settings turn off updates and telemetry, and let them run
// commands without a question.
func all() []agent {
	return []agent{
		{
			name: "Claude Code", module: "@anthropic-ai/claude-code", program: "claude",
			call: `"type":"tool_use"`, result: `"type":"tool_result"`, link: [2]string{"uuid", "parentUuid"},
			env: []string{
				"ANTHROPIC_BASE_URL={model}", "ANTHROPIC_API_KEY=none", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
				"DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			},
			start: func(prompt string) []string { return []string{"--allowedTools=Bash", "-p", prompt} },
			resume: func(session, prompt string) []string {
				return []string{"--allowedTools=Bash", "--resume", stem(session), "-p", prompt}
			},
		},
		{
			name: "Codex", module: "@openai/codex", program: "codex",
			call: `"type":"function_call"`, result: `"type":"function_call_output"`,
			env: []string{"OPENAI_API_KEY=none"},
			files: map[string]string{".codex/config.toml": `model = "gpt-5.1"
model_provider = "script"
check_for_update_on_startup = false
[features]
plugins = false
apps = false
[analytics]
enabled = false
[model_providers.script]
name = "script"
base_url = "{model}/v1"
wire_api = "responses"
supports_websockets = false
env_key = "OPENAI_API_KEY"
`},
			start: func(prompt string) []string {
				return []string{"exec", "--skip-git-repo-check", "-s", "danger-full-access", prompt}
			},
			resume: func(session, prompt string) []string {
				id := stem(session)
				return []string{"exec", "--skip-git-repo-check", "-s", "danger-full-access", "resume", id[max(0, len(id)-36):], prompt}
			},
		},
		{
			name: "Gemini CLI", module: "@google/gemini-cli", program: "gemini",
			call: `"toolCalls":`, result: `"toolCalls":`,
			env: []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL={model}", "GEMINI_CLI_TRUST_WORKSPACE=true"},
			files: map[string]string{".gemini/settings.json": `{
				"security": {"auth": {"selectedType": "gemini-api-key"}},
				"privacy": {"usageStatisticsEnabled": false},
				"telemetry": {"enabled": false},
				"general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "disableAutoUpdate": true, "disableUpdateNag": true}
			}`},
			minutes: true,
			breaks:  "duplicate-tool-result", // google-gemini/gemini-cli#29365
			start:   func(prompt string) []string { return []string{"-m", "gemini-2.5-pro", "-y", "-p", prompt} },
			resume: func(_, prompt string) []string {
				return []string{"-m", "gemini-2.5-pro", "-y", "--resume", "latest", "-p", prompt}
			},
		},
		{
			name: "Qwen Code", module: "@qwen-code/qwen-code", program: "qwen",
			call: `"functionCall":`, result: `"functionResponse":`, link: [2]string{"uuid", "parentUuid"},
			env: []string{"OPENAI_API_KEY=none", "OPENAI_BASE_URL={model}/v1", "OPENAI_MODEL=qwen3-coder-plus"},
			files: map[string]string{".qwen/settings.json": `{
				"security": {"auth": {"selectedType": "openai"}},
				"privacy": {"usageStatisticsEnabled": false},
				"telemetry": {"enabled": false},
				"memory": {"enableManagedAutoMemory": false, "enableManagedAutoDream": false, "enableAutoSkill": false},
				"general": {"enableAutoUpdate": false, "disableAutoUpdate": true, "disableUpdateNag": true}
			}`},
			start: func(prompt string) []string { return []string{"-y", "-p", prompt} },
			resume: func(session, prompt string) []string {
				return []string{"-y", "--resume", stem(session), "-p", prompt}
			},
		},
		{
			name: "Kimi", module: "@moonshot-ai/kimi-code", program: "kimi",
			call: `"type":"tool.call"`, result: `"type":"tool.result"`,
			env: []string{
				"KIMI_MODEL_NAME=kimi-k2", "KIMI_MODEL_PROVIDER_TYPE=kimi", "KIMI_MODEL_BASE_URL={model}/v1", "KIMI_MODEL_API_KEY=none",
				"KIMI_DISABLE_TELEMETRY=1", "KIMI_CODE_NO_AUTO_UPDATE=1", "KIMI_DISABLE_CRON=1",
			},
			start: func(prompt string) []string { return []string{"-p", prompt} },
			resume: func(session, prompt string) []string {
				// The session is a directory with a log of each agent in it.
				return []string{"--session", filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(session)))), "-p", prompt}
			},
		},
		{
			name: "pi", module: "@earendil-works/pi-coding-agent", program: "pi",
			call: `"type":"toolCall"`, result: `"role":"toolResult"`, link: [2]string{"id", "parentId"},
			omits: `{"type":"context_edit","id":"0badcafe","parentId":"$parent","timestamp":"2026-01-02T03:04:05.000Z","targetId":"$target","replacement":null}`,
			env:   []string{"PI_OFFLINE=1", "PI_TELEMETRY=0", "PI_SKIP_VERSION_CHECK=1"},
			files: map[string]string{".pi/agent/models.json": `{"providers": {"script": {
				"baseUrl": "{model}/v1", "api": "openai-completions", "apiKey": "none", "models": [{"id": "script"}]
			}}}`},
			start: func(prompt string) []string { return []string{"--model", "script/script", "-p", prompt} },
			resume: func(session, prompt string) []string {
				return []string{"--model", "script/script", "--session", session, "-p", prompt}
			},
		},
		{
			name: "Copilot CLI", module: "@github/copilot", program: "copilot",
			call: `"toolRequests":`, result: `"type":"tool.execution_complete"`, link: [2]string{"id", "parentId"},
			env: []string{
				"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL={model}/v1", "COPILOT_PROVIDER_API_KEY=none",
				"COPILOT_MODEL=gpt-4.1", "COPILOT_CACHE_HOME={cache}",
			},
			start: func(prompt string) []string { return []string{"--allow-all", "-p", prompt} },
			resume: func(session, prompt string) []string {
				return []string{"--allow-all", "--resume=" + filepath.Base(filepath.Dir(session)), "-p", prompt}
			},
		},
	}
}

// others returns agents that keep sessions in other files than logs: documents and databases.
func others() []agent {
	return []agent{
		{
			name: "opencode", module: "opencode-ai", program: "opencode",
			database: ".local/share/opencode/opencode.db", damages: partDamages,
			strays: []string{"registry.npmjs.org:443"},
			env:    []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"},
			files: map[string]string{".config/opencode/opencode.json": `{
				"autoupdate": false, "share": "disabled", "model": "script/script", "small_model": "script/script", "permission": {"bash": "allow"},
				"provider": {"script": {"npm": "@ai-sdk/openai-compatible", "name": "script",
					"options": {"baseURL": "{model}/v1", "apiKey": "none"}, "models": {"script": {"name": "script", "tool_call": true}}}}
			}`},
			start:  func(prompt string) []string { return []string{"run", prompt} },
			resume: func(_, prompt string) []string { return []string{"run", "--continue", prompt} },
		},
		{
			name: "Kilo", module: "@kilocode/cli", program: "kilo",
			database: ".local/share/kilo/kilo.db", damages: partDamages,
			strays: []string{"api.kilo.ai:443", "kilo.ai:443", "example.com:443", "cloudflare.com:443"}, // the last ones when an answer breaks off
			env: []string{
				"KILO_DISABLE_AUTOUPDATE=1", "KILO_DISABLE_MODELS_FETCH=1", "KILO_DISABLE_SESSION_INGEST=1", "KILO_DISABLE_CODEBASE_INDEXING=1",
				"KILO_DISABLE_PRESENCE=1", "KILO_TELEMETRY_LEVEL=off",
			},
			files: map[string]string{".config/kilo/kilo.json": `{
				"autoupdate": false, "share": "disabled", "model": "script/script", "small_model": "script/script", "permission": {"bash": "allow"},
				"provider": {"script": {"npm": "@ai-sdk/openai-compatible", "name": "script",
					"options": {"baseURL": "{model}/v1", "apiKey": "none"}, "models": {"script": {"name": "script", "tool_call": true}}}}
			}`},
			start:  func(prompt string) []string { return []string{"run", prompt} },
			resume: func(_, prompt string) []string { return []string{"run", "--continue", prompt} },
		},
		{
			name: "Continue", module: "@continuedev/cli", program: "cn",
			list: "history", call: `"toolCallStates":`, result: `"toolCallStates":`,
			files: map[string]string{".continue/config.yaml": `name: script
version: 1.0.0
schema: v1
models:
  - name: script
    provider: openai
    model: gpt-4.1
    apiBase: {model}/v1
    apiKey: none
    roles: [chat]
    capabilities: [tool_use]
`},
			start: func(prompt string) []string {
				return []string{"--config", "../.continue/config.yaml", "--auto", "-p", prompt}
			},
			resume: func(_, prompt string) []string {
				return []string{"--config", "../.continue/config.yaml", "--auto", "--resume", "-p", prompt}
			},
		},
		{
			name: "OpenClaw", module: "openclaw", program: "openclaw",
			database: ".openclaw/agents/main/agent/openclaw-agent.sqlite", damages: eventDamages,
			env: []string{"OPENCLAW_OFFLINE=1", "OPENCLAW_NO_AUTO_UPDATE=1", "OPENCLAW_DISABLE_BONJOUR=1", "OPENCLAW_SKIP_CHANNELS=1"},
			files: map[string]string{".openclaw/openclaw.json": `{
				"agents": {"defaults": {"model": {"primary": "script/script"}, "skipBootstrap": true, "workspace": "~/work"}},
				"models": {"providers": {"script": {"baseUrl": "{model}/v1", "apiKey": "none", "api": "openai-completions",
					"models": [{"id": "script", "name": "script", "contextWindow": 120000, "maxTokens": 8192}]}}},
				"tools": {"profile": "coding", "exec": {"mode": "full"}}
			}`},
			start:  func(prompt string) []string { return []string{"agent", "--local", "--agent", "main", "-m", prompt} },
			resume: func(_, prompt string) []string { return []string{"agent", "--local", "--agent", "main", "-m", prompt} },
		},
		{
			name: "Cline CLI", module: "cline", program: "cline",
			list: "messages", call: `"type":"tool_use"`, result: `"type":"tool_result"`,
			strays: []string{"api.cline.bot:443", "data.cline.bot:443", "models.dev:443", "otel.cline.bot:443"},
			files: map[string]string{".cline/data/settings/providers.json": `{"version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {
				"openai-compatible": {"settings": {"provider": "openai-compatible", "apiKey": "none", "model": "gpt-4.1", "baseUrl": "{model}/v1"},
					"updatedAt": "2026-01-02T03:04:05.000Z", "tokenSource": "manual"}
			}}`},
			start: func(prompt string) []string { return []string{"-P", "openai-compatible", "please " + prompt} },
			// With a session, it takes no prompt from its command line.
			resume: func(session, prompt string) []string {
				return []string{"-P", "openai-compatible", "--id", filepath.Base(filepath.Dir(session)), typed + "please " + prompt}
			},
		},
	}
}

// stem returns the name of a file without its extension.
func stem(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// The commands of the script. Their outputs are not in their calls, so where they are is a
// result. c and d run until they are killed, and g fails.
func commandA() command { return command{"tga", "printf 'real-%s-a' 42"} }
func commandB() command { return command{"tgb", "printf 'real-%s-b' 42"} }
func commandC() command { return command{"tgc", "touch started-c; sleep 300"} }
func commandD() command { return command{"tgd", "touch started-d; sleep 300"} }
func commandE() command { return command{"tge", "printf 'real-%s-e' 42"} }
func commandF() command { return command{"tgf", "printf 'real-%s-f' 42"} }
func commandG() command { return command{"tgg", "printf 'real-%s-g' 42; exit 3"} }
func commandH() command { return command{"tgh", "printf 'real-%s-h' 42"} }
func commandI() command { return command{"tgi", "printf 'real-%s-i' 42"} }
func commandJ() command { return command{"tgj", "printf 'real-%s-j' 42"} }
func commandK() command { return command{"tgk", "printf 'real-%s-k' 42"} }

// output returns the output of a command, "" if it has none.
func (c command) output() string {
	if strings.HasPrefix(c.line, "printf 'real") {
		return "real-42-" + c.letter()
	}
	return ""
}

// letter returns the name of a command on the page.
func (c command) letter() string { return strings.TrimPrefix(c.id, "tg") }

// An ending is how the session of an agent ends.
type ending struct {
	name   string
	script []reply
	signal syscall.Signal
	// again is a reply to the session, resumed as it is, after which the agent is killed again.
	again *reply
}

// endings returns the ways in which sessions end.
func endings() []ending {
	alone := []reply{
		{"First.", []command{commandA()}},
		{"Second.", []command{commandC()}},
	}
	pair := []reply{
		{"First.", []command{commandA()}},
		{"Second.", []command{commandB(), commandC()}},
	}
	return []ending{
		{"killed in a call", alone, syscall.SIGKILL, nil},
		{"killed in the second of two calls", pair, syscall.SIGKILL, nil},
		{"interrupted in the second of two calls", pair, syscall.SIGINT, nil},
		{"killed, resumed and killed again", pair, syscall.SIGKILL, &reply{"Third.", []command{commandD()}}},
	}
}
