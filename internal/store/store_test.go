package store

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// environment returns the variables of a user.
func environment(set map[string]string) func(string) string {
	return func(name string) string { return set[name] }
}

// put makes an empty file.
func put(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOf(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	elsewhere := t.TempDir()
	env := environment(map[string]string{
		"HOME": home, "USERPROFILE": home, "APPDATA": filepath.Join(home, ".config"),
		"CODEX_HOME": filepath.Join(elsewhere, "codex"), "QWEN_HOME": "~/qwen", "KIMI_SHARE_DIR": "relative",
		"PI_CODING_AGENT_SESSION_DIR": filepath.Join(elsewhere, "pi"),
	})
	tests := []struct{ path, want string }{
		{".claude/projects/-srv-app/6f1c.jsonl", "Claude Code"},
		{".claude/projects/-srv-app/6f1c/subagents/agent-1.jsonl", "Claude Code"},
		{".claude/projects/6f1c.jsonl", "Claude Code"},
		{".claude/history.jsonl", ""},
		{".claude/projects2/s.jsonl", ""},
		{"other/.claude/projects/s.jsonl", ""},
		{".codex/sessions/2026/01/02/rollout-1.jsonl", "Codex"},
		{".codex/archived_sessions/rollout-1.jsonl", "Codex"},
		{elsewhere + "/codex/sessions/2026/01/02/rollout-1.jsonl", "Codex"},
		{".gemini/tmp/abc/chats/session-1.json", "Gemini CLI"},
		{".gemini/tmp/abc/logs.json", ""},
		{".gemini/tmp/chats/session-1.json", ""},
		{".gemini/tmp/abc/chats", ""}, // a file of that name
		{".qwen/projects/-srv/chats/1.jsonl", "Qwen Code"},
		{"qwen/projects/-srv/chats/1.jsonl", "Qwen Code"},
		{".copilot/session-state/1/events.jsonl", "Copilot CLI"},
		{".factory/sessions/-srv/1.jsonl", "droid"},
		{".continue/sessions/1.json", "Continue"},
		{".pi/agent/sessions/--srv--/1.jsonl", "pi"},
		{elsewhere + "/pi/1.jsonl", "pi"},
		{".omp/agent/sessions/1.jsonl", "oh-my-pi"},
		{".omp/profiles/work/agent/sessions/1.jsonl", "oh-my-pi"},
		{".openclaw/agents/main/sessions/1.jsonl", "OpenClaw"},
		{".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json", "Cline"},
		{".config/Cursor/User/globalStorage/rooveterinaryinc.roo-cline/tasks/1/api_conversation_history.json", "Roo Code"},
		{".vscode-server/data/User/globalStorage/rooveterinaryinc.roo-cline/tasks/1/api_conversation_history.json", "Roo Code"},
		{".config/Code - Insiders/User/workspaceStorage/ab12/chatSessions/1.jsonl", "GitHub Copilot Chat"},
		{".config/Code/User/workspaceStorage/ab12/state.json", ""},
		{".cline/data/sessions/1784094124598_rruoq/1784094124598_rruoq.messages.json", "Cline CLI"},
		{".local/share/amp/threads/T-1.json", "Amp"},
		{".kiro/sessions/cli/1.jsonl", "Kiro"},
		{".kimi/sessions/ab/1/wire.jsonl", "Kimi"},
		{".kimi-code/sessions/ab/1/agents/main/wire.jsonl", "Kimi"},
		{".openhands/conversations/ab/events/event-1.json", "OpenHands"},
		{"src/s.jsonl", ""},
	}
	paths := make([]string, len(tests))
	for i, tt := range tests {
		if paths[i] = filepath.FromSlash(tt.path); !filepath.IsAbs(paths[i]) {
			paths[i] = filepath.Join(home, paths[i])
		}
		if tt.path != ".gemini/tmp/abc/chats" {
			put(t, paths[i])
		}
	}
	system := "linux"
	if runtime.GOOS == "windows" {
		system = "windows"
	}
	f := Find(env, system)
	check := func(path, want string) {
		t.Helper()
		got := ""
		if s := f.Of(path); s != nil {
			got = s.Agent
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for i, tt := range tests {
		check(paths[i], tt.want)
	}

	if s := f.Of(filepath.Join(home, ".continue", "sessions", "1.json")); !s.Holds("1.json") || s.Holds("sessions.json") {
		t.Error("the index of the sessions of Continue is a session, or the others are none")
	}

	// Links lead into a store, and out of one.
	if err := os.Symlink(filepath.Join(home, ".claude"), filepath.Join(elsewhere, "link")); err != nil {
		t.Skip(err)
	}
	check(filepath.Join(elsewhere, "link", "projects", "-srv-app", "6f1c.jsonl"), "Claude Code")
	out := put(t, filepath.Join(elsewhere, "out.jsonl"))
	check(out, "")
	in := filepath.Join(home, ".claude", "projects", "link.jsonl")
	if err := os.Symlink(out, in); err != nil {
		t.Fatal(err)
	}
	check(in, "Claude Code")
	// A store that is itself a link to a directory.
	moved := put(t, filepath.Join(elsewhere, "copilot", "1", "events.jsonl"))
	if err := os.Remove(filepath.Join(home, ".copilot", "session-state", "1", "events.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(home, ".copilot", "session-state")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(elsewhere, "copilot"), filepath.Join(home, ".copilot", "session-state")); err != nil {
		t.Fatal(err)
	}
	f = Find(env, system)
	check(moved, "Copilot CLI")
	check(filepath.Join(home, ".copilot", "session-state", "1", "events.jsonl"), "Copilot CLI")
}

// TestNoHome: where nothing is set nothing is a store.
func TestNoHome(t *testing.T) {
	t.Parallel()
	path := put(t, filepath.Join(t.TempDir(), ".claude", "projects", "s.jsonl"))
	if s := Find(environment(nil), runtime.GOOS).Of(path); s != nil {
		t.Errorf("%s is in the store of %s", path, s.Agent)
	}
}

func TestBase(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("its paths look different")
	}
	env := environment(map[string]string{"HOME": "/home/kim", "A": "/a", "B": "~/b", "C": "~kim/c", "D": "d", "USERPROFILE": "/users/kim"})
	for _, tt := range []struct{ head, system, want string }{
		{"~", "linux", "/home/kim"},
		{"~", "windows", "/users/kim"},
		{"$A", "linux", "/a"},
		{"$B", "linux", "/home/kim/b"},
		{"$C", "linux", ""},
		{"$D", "linux", ""},
		{"$NONE", "linux", ""},
	} {
		if got := base(tt.head, env, tt.system); got != tt.want {
			t.Errorf("%s on %s: %q, want %q", tt.head, tt.system, got, tt.want)
		}
	}
}

// TestAll: the table is complete.
func TestAll(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	kind := 0 // of the row before: repaired, checked, database
	for _, s := range All() {
		is := 0
		switch {
		case s.Instead != "":
			is = 2
		case !s.Repaired:
			is = 1
		}
		files := len(s.Roots) > 0 && len(s.Files) > 0 && s.Instead == ""
		unread := len(s.Roots) == 0 == (len(s.Databases) > 0) && len(s.Files) == 0 && s.Instead != "" && !s.Repaired
		if s.Agent == "" || seen[s.Agent] || files == unread || !strings.HasPrefix(s.Source, "https://") {
			t.Errorf("%+v", s)
		}
		seen[s.Agent] = true
		if is < kind {
			t.Errorf("%s is in the wrong part of the table", s.Agent)
		}
		kind = is
		roots := slices.Concat(s.Roots, s.Databases)
		for _, p := range s.Projects {
			roots = append(roots, p.File)
		}
		for _, root := range roots {
			begins := func(prefix string) bool { return strings.HasPrefix(root, prefix) }
			if strings.Contains(root, `\`) || strings.HasSuffix(root, "/") || !begins("~/") && !begins("$") && !begins(codeData) && !begins(appData) {
				t.Errorf("%s: %s", s.Agent, root)
			}
		}
		for _, l := range s.Locks {
			begins := func(prefix string) bool { return strings.HasPrefix(l.Path, prefix) }
			if !begins(rootPath+"/") && !begins(dirPath+"/") && !begins(filePath+".") && !begins(stemPath+".") || !strings.HasPrefix(l.Source, "https://") {
				t.Errorf("%s: %+v", s.Agent, l)
			}
		}
		if m := s.Mends; len(m.Rules) > 0 != strings.HasPrefix(m.Source, "https://") || m.Since != "" && m.By(m.Rules[0], "") {
			t.Errorf("%s: %+v", s.Agent, m)
		}
	}
}
