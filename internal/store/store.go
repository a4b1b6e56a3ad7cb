// Package store is a table of where agents keep their sessions. It does not know the format
// of the sessions.
package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Store is where one agent keeps its sessions.
type Store struct {
	Agent string
	// Repaired says that toolguard repairs sessions of this agent; otherwise it only checks
	// them.
	Repaired bool
	// Roots are all directories that contain sessions. A variable can move the store, but
	// older sessions stay where they were. Paths use slashes. They begin with ~ for the home
	// directory, with a variable, or with CODE for the data of VS Code and its relatives. A *
	// matches any single name.
	Roots []string
	// Source is where this is documented or can be read in the agent's code.
	Source string
}

// All returns the stores, those with repaired sessions first.
func All() []Store {
	return []Store{
		{
			"Claude Code", true,
			[]string{"$CLAUDE_CONFIG_DIR/projects", "~/.claude/projects"},
			"https://code.claude.com/docs/en/claude-directory",
		},
		{
			"Codex", true,
			[]string{
				"$CODEX_HOME/sessions", "$CODEX_HOME/archived_sessions",
				"~/.codex/sessions", "~/.codex/archived_sessions",
			},
			"https://github.com/openai/codex",
		},
		{
			"Gemini CLI", true,
			[]string{"$GEMINI_CLI_HOME/.gemini/tmp/*/chats", "~/.gemini/tmp/*/chats"},
			"https://geminicli.com/docs/reference/configuration",
		},
		{
			"Qwen Code", true,
			[]string{"$QWEN_RUNTIME_DIR/projects/*/chats", "$QWEN_HOME/projects/*/chats", "~/.qwen/projects/*/chats"},
			"https://github.com/QwenLM/qwen-code/blob/main/packages/core/src/config/storage.ts",
		},
		{
			"Copilot CLI", true,
			[]string{"$COPILOT_HOME/session-state", "~/.copilot/session-state"},
			"https://github.com/microsoft/vscode/pull/314917",
		},
		{
			"droid", true,
			[]string{"~/.factory/sessions"},
			"https://github.com/getagentseal/codeburn/blob/master/docs/providers/droid.md",
		},
		{
			"Continue", true,
			[]string{"$CONTINUE_GLOBAL_DIR/sessions", "~/.continue/sessions"},
			"https://github.com/continuedev/continue/blob/main/core/util/paths.ts",
		},
		{
			"pi", true,
			[]string{"$PI_CODING_AGENT_SESSION_DIR", "$PI_CODING_AGENT_DIR/sessions", "~/.pi/agent/sessions"},
			"https://github.com/earendil-works/pi/blob/main/packages/coding-agent/docs/configuration.md",
		},
		{
			"oh-my-pi", true,
			[]string{
				"$PI_CODING_AGENT_DIR/sessions", "$XDG_DATA_HOME/omp/sessions", "$XDG_DATA_HOME/omp/profiles/*/sessions",
				"~/.omp/agent/sessions", "~/.omp/profiles/*/agent/sessions",
			},
			"https://github.com/can1357/oh-my-pi/blob/main/packages/utils/src/dirs.ts",
		},
		{
			"OpenClaw", true,
			[]string{"$OPENCLAW_STATE_DIR/agents/*/sessions", "~/.openclaw/agents/*/sessions"},
			"https://github.com/openclaw/openclaw",
		},
		{
			"Cline", true,
			[]string{"CODE/globalStorage/saoudrizwan.claude-dev/tasks"},
			"https://github.com/cline/cline",
		},
		{
			"Roo Code", true,
			[]string{"CODE/globalStorage/rooveterinaryinc.roo-cline/tasks"},
			"https://github.com/RooCodeInc/Roo-Code",
		},
		{
			"GitHub Copilot Chat", false,
			[]string{"CODE/workspaceStorage/*/chatSessions"},
			"https://github.com/microsoft/vscode",
		},
		{
			"Amp", false,
			[]string{"$XDG_DATA_HOME/amp/threads", "~/.local/share/amp/threads"},
			"https://github.com/Dicklesworthstone/coding_agent_session_search/issues/103",
		},
		{
			"Kiro", false,
			[]string{"~/.kiro/sessions/cli"},
			"https://pypi.org/project/kiro-session-index/",
		},
		{
			"Kimi", false,
			[]string{
				"$KIMI_SHARE_DIR/sessions", "$KIMI_CODE_HOME/sessions",
				"~/.kimi/sessions", "~/.kimi-code/sessions",
			},
			"https://github.com/MoonshotAI/kimi-cli/blob/main/src/kimi_cli/share.py",
		},
		{
			"OpenHands", false,
			[]string{
				"$OPENHANDS_CONVERSATIONS_DIR", "$OPENHANDS_PERSISTENCE_DIR/conversations",
				"~/.openhands/conversations",
			},
			"https://github.com/OpenHands/OpenHands-CLI",
		},
	}
}

// code returns where VS Code and its relatives keep the data of a user.
func code(system string) []string {
	base := "~/.config/"
	switch system {
	case "darwin":
		base = "~/Library/Application Support/"
	case "windows":
		base = "$APPDATA/"
	}
	var out []string
	for _, name := range []string{"Code", "Code - Insiders", "VSCodium", "Cursor"} {
		out = append(out, base+name+"/User")
	}
	return append(out, "~/.vscode-server/data/User")
}

// A Finder finds the store of a file.
type Finder struct{ roots []root }

// A root is an existing directory of a store, and the pattern of the names between it and the
// sessions.
type root struct {
	store *Store
	dir   fs.FileInfo
	rest  []string
}

// Find looks for the stores of a user on a system, which is named as in runtime.GOOS.
func Find(env func(string) string, system string) *Finder {
	f := &Finder{}
	stores := All()
	for i := range stores {
		for _, path := range stores[i].Roots {
			paths := []string{path}
			if rest, ok := strings.CutPrefix(path, "CODE/"); ok {
				paths = code(system)
				for i := range paths {
					paths[i] += "/" + rest
				}
			}
			for _, path := range paths {
				f.add(&stores[i], path, env, system)
			}
		}
	}
	return f
}

// add adds a root, if it exists.
func (f *Finder) add(s *Store, path string, env func(string) string, system string) {
	head, names, _ := strings.Cut(path, "/")
	dir := base(head, env, system)
	if dir == "" {
		return
	}
	fixed, rest, many := strings.Cut(names, "*")
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(fixed)))
	if err != nil || !info.IsDir() {
		return
	}
	r := root{store: s, dir: info}
	if many {
		r.rest = strings.Split("*"+rest, "/")
	}
	f.roots = append(f.roots, r)
}

// base returns the directory for the first element of a path: the value of a variable, or the
// home directory. It returns "" if the variable is not set or has a relative path, because
// only the agent knows what that is relative to.
func base(head string, env func(string) string, system string) string {
	home := env("HOME")
	if system == "windows" {
		home = env("USERPROFILE")
	}
	dir := home
	if name, ok := strings.CutPrefix(head, "$"); ok {
		dir = env(name)
		if tail, ok := strings.CutPrefix(dir, "~"); ok && (tail == "" || tail[0] == '/') {
			dir = home + tail
		}
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}

// Of returns the store that contains a file, nil if there is none. It follows links.
func (f *Finder) Of(path string) *Store {
	if len(f.roots) == 0 {
		return nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	if s := f.above(path); s != nil {
		return s
	}
	if target, err := filepath.EvalSymlinks(path); err == nil && target != path {
		return f.above(target)
	}
	return nil
}

// above looks for a root among the directories above a file.
func (f *Finder) above(path string) *Store {
	var below []string // the names from the directory down to the file
	for path != filepath.Dir(path) {
		below = append(below, filepath.Base(path))
		path = filepath.Dir(path)
		dir, err := os.Stat(path)
		if err != nil {
			continue
		}
		for _, r := range f.roots {
			if len(below) > len(r.rest) && os.SameFile(r.dir, dir) && matches(r.rest, below) {
				return r.store
			}
		}
	}
	return nil
}

// matches reports whether the names below a directory, last first, begin as a root requires.
func matches(rest, below []string) bool {
	for i, name := range slices.Backward(below) {
		i = len(below) - 1 - i
		if i == len(rest) {
			return true
		}
		if rest[i] != "*" && rest[i] != name {
			return false
		}
	}
	return true
}
