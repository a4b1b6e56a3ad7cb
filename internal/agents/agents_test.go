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
	// breaks is the rule that it breaks itself when it resumes a session, "" if there is none.
	breaks string
	// start is its command line for a prompt, and resume that for a session.
	start  func(prompt string) []string
	resume func(session, prompt string) []string
}

// all returns the agents. Their settings turn off updates and telemetry, and let them run
// commands without a question.
func all() []agent {
	return []agent{
		{
			name: "Claude Code", module: "@anthropic-ai/claude-code", program: "claude",
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
			env: []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL={model}", "GEMINI_CLI_TRUST_WORKSPACE=true"},
			files: map[string]string{".gemini/settings.json": `{
				"security": {"auth": {"selectedType": "gemini-api-key"}},
				"privacy": {"usageStatisticsEnabled": false},
				"telemetry": {"enabled": false},
				"general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "disableAutoUpdate": true, "disableUpdateNag": true}
			}`},
			breaks: "duplicate-tool-result", // google-gemini/gemini-cli#29365
			start:  func(prompt string) []string { return []string{"-m", "gemini-2.5-pro", "-y", "-p", prompt} },
			resume: func(_, prompt string) []string {
				return []string{"-m", "gemini-2.5-pro", "-y", "--resume", "latest", "-p", prompt}
			},
		},
		{
			name: "Qwen Code", module: "@qwen-code/qwen-code", program: "qwen",
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
	}
}

// stem returns the name of a file without its extension.
func stem(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// The commands of the script. The outputs of a and b are not in their calls, so where they are
// is a result. c and d run until they are killed.
func commandA() command { return command{"tga", "printf 'real-%s-a' 42"} }
func commandB() command { return command{"tgb", "printf 'real-%s-b' 42"} }
func commandC() command { return command{"tgc", "touch started-c; sleep 300"} }
func commandD() command { return command{"tgd", "touch started-d; sleep 300"} }

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
