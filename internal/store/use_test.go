package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// byAgent returns the row of an agent.
func byAgent(t *testing.T, name string) *Store {
	t.Helper()
	for _, s := range All() {
		if s.Agent == name {
			return &s
		}
	}
	t.Fatalf("no row of %s", name)
	return nil
}

// TestLocks: each agent's notes are understood. Process 7 is running, process 8 is not.
func TestLocks(t *testing.T) {
	t.Parallel()
	const code = "Code/User/globalStorage/saoudrizwan.claude-dev/tasks"
	for _, tt := range []struct {
		agent, root, session string
		lock, text           string
		used                 bool
	}{
		{"Claude Code", "projects", "-srv/s1.jsonl", "sessions/7.json", `{"pid":7,"sessionId":"s1"}`, true},
		{"Claude Code", "projects", "-srv/s1.jsonl", "sessions/8.json", `{"pid":8,"sessionId":"s1"}`, false},
		{"Claude Code", "projects", "-srv/s1.jsonl", "sessions/8.json", `{"pid":`, false}, // its name says that it ended
		{"Claude Code", "projects", "-srv/s1.jsonl", "sessions/7.json", `{"pid":`, true},
		{"Claude Code", "projects", "-srv/s1.jsonl", "sessions/7.json", `{"pid":8,"sessionId":"s1"}`, false},
		{"Claude Code", "projects", "-srv/s1.jsonl", "sessions/7.json", `{"pid":7,"sessionId":"s2","cwd":"/w"}`, true},
		{"Claude Code", "projects", "-srv/s1.jsonl", "sessions/7.json", `{"pid":7,"sessionId":"s2","cwd":"/w/"}`, true},
		{"Claude Code", "projects", "-srv/s1.jsonl", "sessions/7.json", `{"pid":7,"sessionId":"s2","cwd":"/x"}`, false},
		{"Claude Code", "projects", "-srv/s1/subagents/agent-2.jsonl", "sessions/7.json", `{"pid":7,"sessionId":"s1"}`, true},
		{"Claude Code", "projects", "-srv/s1.jsonl", "sessions/7.txt", `{"pid":7,"sessionId":"s1"}`, false},
		{"Claude Code", "projects", "-srv/s1.jsonl", "sessions/.json", `{"pid":7,"sessionId":"s1"}`, false},
		{"Qwen Code", "chats", "s1.jsonl", "chats/s1.runtime.json", `{"pid":7}`, true},
		{"Qwen Code", "chats", "s1.jsonl", "chats/s1.runtime.json", `{"pid":8}`, false},
		{"Qwen Code", "chats", "s1.jsonl", "chats/s2.runtime.json", `{"pid":7}`, false},
		{"Qwen Code", "chats", "s1.jsonl", "chats/s1.runtime.json", `{"pid":"7"}`, true},
		{"Qwen Code", "chats", "s1.jsonl", "chats/s1.runtime.json", ``, true},
		{"Copilot CLI", "state", "s1/events.jsonl", "state/s1/inuse.7.lock", "", true},
		{"Copilot CLI", "state", "s1/events.jsonl", "state/s1/inuse.8.lock", "7", false},
		{"Copilot CLI", "state", "s1/events.jsonl", "state/s2/inuse.7.lock", "", false},
		{"Copilot CLI", "state", "s1/events.jsonl", "state/s1/inuse.x.lock", "", true},
		{"OpenClaw", "sessions", "s1.jsonl", "sessions/s1.jsonl.lock", `{"pid":7,"createdAt":"x"}`, true},
		{"OpenClaw", "sessions", "s1.jsonl", "sessions/s1.jsonl.lock", `{"pid":8}`, false},
		{"Cline", code, "1/api_conversation_history.json", "Code/code.lock", "7", true},
		{"Cline", code, "1/api_conversation_history.json", "Code/code.lock", "7\n", true},
		{"Cline", code, "1/api_conversation_history.json", "Code/code.lock", "8", false},
		{"Cline", code, "1/api_conversation_history.json", "Code/code.lock", "", true},
		{"Cline", code, "1/api_conversation_history.json", "VSCodium/code.lock", "7", false},
		{"Roo Code", strings.Replace(code, "saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", 1), "1/api_conversation_history.json", "Code/code.lock", "7", true},
		{"Codex", "sessions", "rollout-1.jsonl", "sessions/rollout-1.jsonl.lock", "7", false},
	} {
		home := t.TempDir()
		path := func(name string) string { return filepath.Join(home, filepath.FromSlash(name)) }
		session := put(t, path(tt.root+"/"+tt.session))
		put(t, path(tt.lock))
		if err := os.WriteFile(path(tt.lock), []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		x := Session{Root: path(tt.root), Path: session, Project: func() string { return "/w" }}
		alive := func(pid int) bool { return pid == 7 }
		s := byAgent(t, tt.agent)
		if now := s.Now(x.Root, alive).InUse(x, time.Time{}, time.Now(), alive); (now != "") != tt.used {
			t.Errorf("%s: %s with %q: %q at a look at many", tt.agent, tt.lock, tt.text, now)
		}
		if why := s.InUse(x, time.Time{}, time.Now(), alive); (why != "") != tt.used || why != "" && !strings.Contains(why, path(tt.lock)) {
			t.Errorf("%s: %s with %q: %q", tt.agent, tt.lock, tt.text, why)
		}
	}
}

// TestEachLockIsTested: TestLocks has a row for each agent with locks. It counts them, so that
// a new one is not forgotten.
func TestEachLockIsTested(t *testing.T) {
	t.Parallel()
	n := 0
	for _, s := range All() {
		n += len(s.Locks)
	}
	if n != 6 {
		t.Errorf("the table has %d locks; TestLocks needs a row for each", n)
	}
}

func TestRecent(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := byAgent(t, "Codex")
	for age, used := range map[time.Duration]bool{0: true, 10*time.Minute - 1: true, 10 * time.Minute: false, -time.Hour: true, time.Hour: false} {
		if why := s.InUse(Session{}, now.Add(-age), now, nil); (why != "") != used {
			t.Errorf("%v: %q", age, why)
		}
	}
	if why := s.InUse(Session{}, time.Time{}, now, nil); why != "" {
		t.Errorf("not written: %q", why)
	}
}

func TestAlive(t *testing.T) {
	t.Parallel()
	if !Alive(os.Getpid()) {
		t.Error("this process is not running")
	}
	if Alive(1 << 30) {
		t.Error("a process that cannot exist is running")
	}
}

func TestMendsBy(t *testing.T) {
	t.Parallel()
	m := Mends{Rules: []string{"r"}, Since: "2.1.86"}
	for version, want := range map[string]bool{
		"": false, "2.1.85": false, "2.1.9": false, "2.1.86": true, "2.1.100": true, "2.2": true, "3": true, "2.1": false, "1.9.99": false,
		"2.1.86-beta": true, "x": false, "99999999999999999999.1": true,
	} {
		if got := m.By("r", version); got != want {
			t.Errorf("version %q: %v", version, got)
		}
	}
	if m.By("s", "3") || !(&Mends{Rules: []string{"r"}}).By("r", "") {
		t.Error("the rule does not decide")
	}
}

// TestDescribe: each agent's sessions are described from the fixtures of its format.
func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		agent, fixture string
		want           Description
	}{
		{"Claude Code", "claude-code/broken/missing-results.jsonl", Description{"/home/kim/boats", "2.1.33", "start"}},
		{"Codex", "codex/ok/aborted.jsonl", Description{"/w", "0.99.0", "first"}},
		{"Gemini CLI", "gemini-cli/broken/session.jsonl", Description{"", "", "Read both files"}},
		{"Gemini CLI", "gemini-cli/broken/legacy.json", Description{"", "", "Make a.txt"}},
		{"Qwen Code", "qwen-code/broken/missing.jsonl", Description{"/w", "0.21.4", "look"}},
		{"Copilot CLI", "copilot-cli/broken/missing.jsonl", Description{"", "1.0.34", "look"}},
		{"droid", "factory-droid/broken/missing.jsonl", Description{"/w", "", "t"}},
		{"Continue", "continue/broken/interrupted.json", Description{"/w", "", "Cut off"}},
		{"pi", "pi/broken/session-3-missing.jsonl", Description{"/w", "", "look"}},
		{"Cline", "anthropic/broken/missing-and-pending.json", Description{"", "", "Start both."}},
		{"GitHub Copilot Chat", "vscode-chat/broken/missing.json", Description{"", "", "Which tides are in the table?"}},
		{"GitHub Copilot Chat", "vscode-chat/ok/changes.jsonl", Description{"", "", "Which tides are in the table?"}},
		{"Amp", "amp/broken/missing.json", Description{"", "", "go"}},
		{"Kiro", "kiro/ok/session.jsonl", Description{"", "", "Read both."}},
		{"Kimi", "kimi-wire/ok/cleared.jsonl", Description{"", "", "look"}},
	} {
		f, err := os.Open(filepath.Join("..", "..", "testdata", "transcripts", filepath.FromSlash(tt.fixture)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if got := byAgent(t, tt.agent).About.Describe(f, info.Size()); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.fixture, got, tt.want)
		}
	}
}

// TestDescribeParts: only the ends of a long session are read, the last title and version
// count, and damage is skipped.
func TestDescribeParts(t *testing.T) {
	t.Parallel()
	about := byAgent(t, "Claude Code").About
	filler := strings.Repeat(`{"type":"assistant","version":"0"}`+"\n", aboutRead/34+1)
	for _, tt := range []struct {
		text string
		want Description
	}{
		{"", Description{}},
		{"x", Description{}},
		{`{"cwd":"/a"`, Description{Project: "/a"}}, // a cut document
		{`{"cwd":"/a","version":"1"}` + "\n" + `{"cwd":"/b","version":"2"}` + "\n{\n", Description{Project: "/a", Version: "2"}},
		{`{"summary":"one"}` + "\n" + `{"customTitle":"two"}` + "\n" + `{"type":"user","message":{"content":"three"}}`, Description{Title: "two"}},
		{`{"type":"user","isMeta":true,"message":{"content":"meta"}}` + "\n" + `{"type":"user","message":{"content":"<tag>"}}` + "\n" + `{"type":"user","message":{"content":[{"text":"<tag>"},{"text":" hello "}]}}`, Description{Title: "hello"}},
		{`{"type":"user","version":"1","message":{"content":"first"}}` + "\n" + filler + filler + `{"version":"9","customTitle":"last"}` + "\n", Description{Title: "last", Version: "9"}},
		{`{"cwd":{"a":1},"version":3}` + "\n", Description{}},
	} {
		if got := about.Describe(strings.NewReader(tt.text), int64(len(tt.text))); got != tt.want {
			t.Errorf("%.80q: %+v, want %+v", tt.text, got, tt.want)
		}
	}
	deep := strings.Repeat(`[`, 100_000)
	if got := about.Describe(strings.NewReader(deep), int64(len(deep))); got != (Description{}) {
		t.Errorf("%+v", got)
	}
}

// TestDirs: patterns are expanded, each directory is listed once, and databases are found.
func TestDirs(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	join := func(name string) string { return filepath.Join(home, filepath.FromSlash(name)) }
	for _, name := range []string{
		".claude/projects/-srv/s.jsonl", ".gemini/tmp/a/chats/s.json", ".gemini/tmp/b/chats/s.json", ".gemini/tmp/c/logs.json", ".gemini/tmp/file",
		"data/opencode/opencode.db", ".hermes/state.db/x", "boats/.crush/crush.db", "gone/.crush/x", "near/.crush/crush.db", "data/crush/projects.json",
	} {
		put(t, join(name))
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	near, err := filepath.Rel(here, join("near/.crush")) // nobody knows from where
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]any{"projects": []map[string]any{
		{"path": join("boats"), "data_dir": join("boats/.crush")}, {"data_dir": join("gone/.crush")}, {"data_dir": near}, {"data_dir": 1}, {},
	}}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(join("data/crush/projects.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	env := environment(map[string]string{"HOME": home, "USERPROFILE": home, "CLAUDE_CONFIG_DIR": join(".claude"), "XDG_DATA_HOME": join("data")})
	f := Find(env, "linux")
	dirs, failed := f.Dirs()
	var got []string
	for _, p := range append(dirs, f.Databases()...) {
		rel, _ := filepath.Rel(home, p.Path)
		got = append(got, p.Store.Agent+" "+filepath.ToSlash(rel))
	}
	want := []string{"Claude Code .claude/projects", "Gemini CLI .gemini/tmp/a/chats", "Gemini CLI .gemini/tmp/b/chats", "opencode data/opencode/opencode.db", "Crush boats/.crush/crush.db"}
	if fmt.Sprint(got) != fmt.Sprint(want) || len(failed) > 0 {
		t.Errorf("got %q, %v", got, failed)
	}
	if s, dir := f.At(join(".gemini/tmp/b/chats/s.json")); s == nil || s.Agent != "Gemini CLI" || dir != join(".gemini/tmp/b/chats") {
		t.Errorf("at %s", dir)
	}
}

// TestSystems: the roots of editors and applications are where each system keeps them.
func TestSystems(t *testing.T) {
	t.Parallel()
	for system, want := range map[string][2]string{
		"linux":   {"~/.config/Cursor/User/globalStorage/state.vscdb", "~/.config/Code/User/x"},
		"freebsd": {"~/.config/Cursor/User/globalStorage/state.vscdb", "~/.config/Code/User/x"},
		"darwin":  {"~/Library/Application Support/Cursor/User/globalStorage/state.vscdb", "~/Library/Application Support/Code/User/x"},
		"windows": {"$APPDATA/Cursor/User/globalStorage/state.vscdb", "$APPDATA/Code/User/x"},
	} {
		db := byAgent(t, "Cursor").Databases[0]
		if got := paths(db, system); len(got) != 1 || got[0] != want[0] {
			t.Errorf("%s: %q", system, got)
		}
		if got := paths("CODE/x", system); len(got) != 5 || got[0] != want[1] {
			t.Errorf("%s: %q", system, got)
		}
	}
}
