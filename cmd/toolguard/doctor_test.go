package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"

	"github.com/toolguard/toolguard/internal/hostile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/store"
)

// A patient is a made-up home directory.
type patient struct {
	home string
	set  map[string]string // other variables
	born time.Time
}

func newPatient(t *testing.T) *patient {
	t.Helper()
	return &patient{home: t.TempDir(), set: map[string]string{"SOURCE_DATE_EPOCH": "1767323045"}, born: time.Now()}
}

// env returns a variable of the user.
func (p *patient) env(name string) string {
	switch name {
	case "HOME", "USERPROFILE":
		return p.home
	case "APPDATA", "LOCALAPPDATA":
		return filepath.Join(p.home, "AppData")
	}
	return p.set[name]
}

// put writes a file that is two hours old.
func (p *patient) put(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(p.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o640); err != nil {
		t.Fatal(err)
	}
	then := p.born.Add(-2*time.Hour - 30*time.Second)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	return path
}

func aged(t *testing.T, path string, age time.Duration) {
	t.Helper()
	then := time.Now().Add(-age)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

// doctor runs the command and returns the exit code and its output, with ~ for the home
// directory.
func (p *patient) doctor(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), append([]string{"doctor"}, args...), strings.NewReader(""), &out, &errs, p.env)
	tidy := func(b *bytes.Buffer) string { return strings.ReplaceAll(b.String(), p.home, "~") }
	return code, tidy(&out), tidy(&errs)
}

// snapshot returns all files below the home directory, without what the program saved.
func (p *patient) snapshot(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(p.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(p.home, path)
		if strings.Contains(filepath.ToSlash(rel), "toolguard/backups/") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		out[filepath.ToSlash(rel)] = fmt.Sprintf("%s %s %s", info.Mode(), info.ModTime().UTC(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func transcriptFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "transcripts", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A ward is where sessions of an agent are in a made-up home, and fixtures for them.
type ward struct {
	agent      string
	path       string // with %s for a name
	ok, broken string
	is         string // what doctor does with the broken one
}

const editorTasks = "CODE/globalStorage/%s/tasks/"

// wards has every store with files.
func wards() []ward {
	code := ".config/Code/User"
	switch runtime.GOOS {
	case "darwin":
		code = "Library/Application Support/Code/User"
	case "windows":
		code = "AppData/Code/User"
	}
	task := func(id string) string {
		return strings.Replace(fmt.Sprintf(editorTasks, id), "CODE", code, 1) + "%s/api_conversation_history.json"
	}
	return []ward{
		{"Claude Code", ".claude/projects/-srv/%s.jsonl", "claude-code/ok/interrupted.jsonl", "claude-code/broken/missing-results.jsonl", "repaired"},
		{"Codex", ".codex/sessions/2026/01/02/rollout-%s.jsonl", "codex/ok/parallel.jsonl", "codex/broken/id-before-too.jsonl", "repaired"},
		{"Gemini CLI", ".gemini/tmp/ab/chats/session-%s.jsonl", "gemini-cli/ok/session.jsonl", "gemini-cli/broken/session.jsonl", "repaired"},
		{"Qwen Code", ".qwen/projects/-srv/chats/%s.jsonl", "qwen-code/ok/parallel.jsonl", "qwen-code/broken/missing.jsonl", "repaired"},
		{"Copilot CLI", ".copilot/session-state/%s/events.jsonl", "copilot-cli/ok/parallel.jsonl", "copilot-cli/broken/missing.jsonl", "repaired"},
		{"droid", ".factory/sessions/-srv/%s.jsonl", "factory-droid/ok/parallel.jsonl", "factory-droid/broken/missing.jsonl", "repaired"},
		{"Continue", ".continue/sessions/%s.json", "continue/ok/session.json", "continue/broken/interrupted.json", "repaired"},
		{"pi", ".pi/agent/sessions/--srv--/%s.jsonl", "pi/ok/session-3.jsonl", "pi/broken/session-3-missing.jsonl", "repaired"},
		{"oh-my-pi", ".omp/agent/sessions/-srv/%s.jsonl", "pi/ok/session-3.jsonl", "pi/broken/session-3-missing.jsonl", "mended"},
		{"OpenClaw", ".openclaw/agents/main/sessions/%s.jsonl", "pi/ok/session-3.jsonl", "pi/broken/session-3-missing.jsonl", "repaired"},
		{"Cline", task("saoudrizwan.claude-dev"), "anthropic/ok/array.json", "anthropic/broken/missing-and-pending.json", "repaired"},
		{"Roo Code", task("rooveterinaryinc.roo-cline"), "anthropic/ok/array.json", "anthropic/broken/missing-and-pending.json", "repaired"},
		{"Cline CLI", ".cline/data/sessions/%[1]s/%[1]s.messages.json", "anthropic/ok/array.json", "anthropic/broken/missing-and-pending.json", "repaired"},
		{"GitHub Copilot Chat", code + "/workspaceStorage/ab/chatSessions/%s.json", "vscode-chat/ok/session.json", "vscode-chat/broken/missing.json", "checked"},
		{"Amp", ".local/share/amp/threads/T-%s.json", "amp/ok/thread.json", "amp/broken/missing.json", "checked"},
		{"Kiro", ".kiro/sessions/cli/%s.jsonl", "kiro/ok/session.jsonl", "kiro/broken/missing.jsonl", "checked"},
		{"Kimi", ".kimi/sessions/ab/%s/wire.jsonl", "kimi-wire/ok/parallel.jsonl", "kimi-wire/broken/missing.jsonl", "repaired"},
	}
}

// sessionsEach is how many sessions a store of TestWards has.
const sessionsEach = 12

// ill makes a home with all stores, each with one broken session.
func ill(t *testing.T) *patient {
	t.Helper()
	p := newPatient(t)
	for _, w := range wards() {
		for i := range sessionsEach {
			name, fixture := fmt.Sprint("s", i), w.ok
			if i == 7 {
				name, fixture = "ill", w.broken
			}
			p.put(t, fmt.Sprintf(w.path, name), transcriptFile(t, fixture))
		}
	}
	p.put(t, ".local/share/opencode/opencode.db", []byte(sqliteMagic))
	return p
}

// jsonOf runs doctor with --json and returns the document.
func (p *patient) jsonOf(t *testing.T, args ...string) (code int, doc jsonDoctor) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), append([]string{"doctor", "--json"}, args...), strings.NewReader(""), &stdout, &stderr, p.env)
	if err := json.Unmarshal(stdout.Bytes(), &doc); err != nil {
		t.Fatalf("%v: %s%s", err, stdout.String(), stderr.String())
	}
	return code, doc
}

// TestWards: in a home with every store, the broken session of each is found, what can be
// repaired is healed, and undone to the byte.
func TestWards(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for _, s := range store.All() {
		listed[s.Agent] = len(s.Files) == 0
	}
	p := ill(t)
	before := p.snapshot(t)
	code, doc := p.jsonOf(t, "--all")
	if code != exitFindings || len(doc.Failed) > 0 {
		t.Errorf("exit code %d, %v", code, doc.Failed)
	}
	found := map[string]jsonSession{}
	for _, s := range doc.Sessions {
		if _, twice := found[s.Agent]; twice {
			t.Errorf("%s is listed twice: %s", s.Agent, s.Path)
		}
		found[s.Agent] = s
	}
	for _, w := range wards() {
		listed[w.agent] = true
		i := slices.IndexFunc(doc.Stores, func(s jsonStore) bool { return s.Agent == w.agent })
		s, is := found[w.agent]
		if i < 0 || !is || !strings.Contains(s.Path, "ill") || s.InUse {
			t.Errorf("%s: %+v", w.agent, s)
			continue
		}
		if got := doc.Stores[i]; got.Sessions != sessionsEach || got.Broken+got.Mended != 1 || (got.Mended == 1) != (w.is == "mended") || s.Mended != (w.is == "mended") || (got.State == "checked") != (s.Repair == nil) {
			t.Errorf("%s: %+v, %+v", w.agent, got, s)
		}
	}
	for agent, is := range listed {
		if !is {
			t.Errorf("no made-up home has the store of %s", agent)
		}
	}
	if diff := cmp.Diff(before, p.snapshot(t)); diff != "" {
		t.Errorf("doctor changed something (-want +got):\n%s", diff)
	}

	// What agents repair themselves stays as it is.
	code, doc = p.jsonOf(t, "--fix", "--yes", "--unsafe")
	if code != exitFindings { // those that are only checked
		t.Errorf("exit code %d", code)
	}
	healed := map[string]bool{}
	for _, s := range doc.Sessions {
		healed[s.Agent] = s.Done != nil
	}
	after := p.snapshot(t)
	for _, w := range wards() {
		name := fmt.Sprintf(w.path, "ill")
		changed := before[name] != after[name]
		if changed != (w.is == "repaired") || changed != healed[w.agent] {
			t.Errorf("%s: changed: %v, told: %v", w.agent, changed, healed[w.agent])
		}
		mode := strings.SplitN(before[name], " ", 5)[:5]
		if got := strings.SplitN(after[name], " ", 5)[:5]; !slices.Equal(mode[:4], got[:4]) {
			t.Errorf("%s: mode and time are %q, want %q", w.agent, got, mode)
		}
		delete(before, name)
		delete(after, name)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("other files changed (-want +got):\n%s", diff)
	}
	_, doc = p.jsonOf(t)
	for _, s := range doc.Sessions {
		if i := slices.IndexFunc(wards(), func(w ward) bool { return w.agent == s.Agent }); wards()[i].is == "repaired" {
			t.Errorf("%s is still broken: %+v", s.Agent, s)
		}
	}
	if code, _, stderr := p.doctor(t, "--undo"); code != exitOK {
		t.Errorf("undo: exit code %d, %s", code, stderr)
	}
	want := ill(t).snapshot(t)
	for name, got := range p.snapshot(t) {
		if _, text, _ := strings.Cut(got, " UTC "); !strings.HasSuffix(want[name], " UTC "+text) {
			t.Errorf("%s is not as it was", name)
		}
	}
}

const brokenSession = "claude-code/broken/missing-results.jsonl"

// TestDoctorText: the whole output of a small home.
func TestDoctorText(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("its paths look different")
	}
	p := newPatient(t)
	p.put(t, ".claude/projects/-srv/a.jsonl", transcriptFile(t, brokenSession))
	orphan := bytes.Join(bytes.SplitAfter(transcriptFile(t, brokenSession), []byte("\n"))[:1], nil)
	orphan = append(orphan, `{"parentUuid":"fe3b2cb8-76db-4d3f-addf-96715251ae5c","isSidechain":false,"cwd":"/home/kim/boats","sessionId":"7a7a7a7a-2222-4b4b-8c8c-000000000001","version":"2.1.33","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_9","content":"x"},{"type":"text","text":"go on"}]},"uuid":"0a0b0c0d-76db-4d3f-addf-96715251ae5c","timestamp":"2026-02-08T17:00:02.037Z"}`+"\n"...)
	p.put(t, ".claude/projects/-srv/it's b.jsonl", orphan)
	p.put(t, ".claude/projects/-srv/mixed.jsonl", transcriptFile(t, "claude-code/broken/orphan-and-duplicates.jsonl"))
	p.put(t, ".codex/sessions/rollout-1.jsonl", transcriptFile(t, "codex/broken/missing.jsonl"))
	p.put(t, ".kiro/sessions/cli/1.jsonl", transcriptFile(t, "kiro/broken/missing.jsonl"))
	p.put(t, ".hermes/state.db", []byte(sqliteMagic))
	p.put(t, ".openhands/conversations/1/events/event-0.json", []byte("{}"))
	const stores = `Claude Code  3 sessions  3 broken
Codex        1 session   none broken, 1 that Codex repairs itself
Kiro         1 session   1 broken
Hermes       1 database  not read: hermes sessions export s.jsonl, then toolguard check s.jsonl
OpenHands    1 store     not read: in its directory: jq -c . events/*.json | toolguard check -
`
	const kiro = `  Kiro  "go"  3 hours ago
   1 call without a result (fs_read); toolguard only checks sessions of Kiro
`
	aged(t, filepath.Join(p.home, ".kiro/sessions/cli/1.jsonl"), 3*time.Hour+time.Minute)
	want := stores + `1  Claude Code 2.1.33  /home/kim/boats  "start"  2 hours ago
   2 calls without a result (Bash); fix: 2 placeholders (additive)
   toolguard fix --write ~/.claude/projects/-srv/a.jsonl
2  Claude Code 2.1.33  /home/kim/boats  "start"  2 hours ago
   1 result without a call; fix: 1 kept as text (unsafe)
   toolguard fix --write --unsafe ~/'.claude/projects/-srv/it'\''s b.jsonl'
3  Claude Code 2.1.33  /home/kim/boats  "start"  2 hours ago
   1 result without a call, 2 duplicate results (Bash); fix: 1 identical copy dropped (safe); 2 more
   with --unsafe
   toolguard fix --write ~/.claude/projects/-srv/mixed.jsonl
4` + kiro + `   toolguard check ~/.kiro/sessions/cli/1.jsonl
   toolguard extract ~/.kiro/sessions/cli/1.jsonl
`
	code, stdout, stderr := p.doctor(t)
	if diff := cmp.Diff(want, stdout); diff != "" || code != exitFindings || stderr != "toolguard doctor --fix repairs 2 of 4, 1 of them only in part without --unsafe.\n" {
		t.Errorf("exit code %d, %q (-want +got):\n%s", code, stderr, diff)
	}
	// In a narrow terminal only the commands are wider.
	p.set["COLUMNS"], p.set["NO_COLOR"] = "50", "1"
	var narrow bytes.Buffer
	a := newApp(strings.NewReader(""), &narrow, &narrow, p.env)
	a.terminal = true
	if code := a.run(t.Context(), []string{"doctor"}); code != exitFindings || strings.Count(narrow.String(), "\n   toolguard ") != 5 {
		t.Errorf("exit code %d: %s", code, narrow.String())
	}
	for line := range strings.Lines(narrow.String()) {
		if !strings.HasPrefix(line, "   toolguard ") && len([]rune(line)) > 51 {
			t.Errorf("too wide: %s", line)
		}
	}
	delete(p.set, "COLUMNS")

	const kept = "~/.local/state/toolguard/backups/20260102T030405Z"
	if runtime.GOOS == "darwin" {
		return
	}
	want = stores + `1  Claude Code 2.1.33  /home/kim/boats  "start"  2 hours ago
   2 calls without a result (Bash); fix: 2 placeholders (additive)
   repaired 2 problems (2 inserted); the original is saved as
   ` + kept + `/0001-a.jsonl
2  Claude Code 2.1.33  /home/kim/boats  "start"  2 hours ago
   1 result without a call; fix: 1 kept as text (unsafe)
   needs --unsafe
3  Claude Code 2.1.33  /home/kim/boats  "start"  2 hours ago
   1 result without a call, 2 duplicate results (Bash); fix: 1 identical copy dropped (safe); 2 more
   with --unsafe
   repaired 1 problem (1 identical copy dropped); the original is saved as
   ` + kept + `/0002-mixed.jsonl
4` + kiro
	code, stdout, stderr = p.doctor(t, "--fix", "--yes")
	if diff := cmp.Diff(want, stdout); diff != "" || code != exitFindings || stderr != "Repaired 2 sessions, 1 of them only in part. 3 broken sessions left.\n" {
		t.Errorf("exit code %d, %q (-want +got):\n%s", code, stderr, diff)
	}
	code, stdout, stderr = p.doctor(t, "--fix", "--yes", "--unsafe", "--agent", "Claude Code")
	if code != exitOK || stderr != "Repaired 2 sessions. No broken session left.\n" {
		t.Errorf("exit code %d, %q, %s", code, stderr, stdout)
	}
	_, stdout, _ = p.doctor(t, "--list")
	want = `20260102T030405Z-2  2 files
  ~/.claude/projects/-srv/it's b.jsonl  repaired
  ~/.claude/projects/-srv/mixed.jsonl  repaired
20260102T030405Z  2 files
  ~/.claude/projects/-srv/a.jsonl  repaired
  ~/.claude/projects/-srv/mixed.jsonl  changed after the repair
`
	if stdout != want {
		t.Errorf("--list: %s", stdout)
	}
	// A later run changed a session again, so the earlier one can only be undone after it.
	code, stdout, stderr = p.doctor(t, "--undo=20260102T030405Z")
	if code != exitTrouble || stdout != "~/.claude/projects/-srv/a.jsonl: restored\n" ||
		stderr != "toolguard: ~/.claude/projects/-srv/mixed.jsonl: not restored: it changed after the repair; its original is "+kept+"/0002-mixed.jsonl\nRestored 1 of 2 files of run 20260102T030405Z.\n" {
		t.Errorf("--undo=RUN: exit code %d, %q, %q", code, stdout, stderr)
	}
	if _, _, stderr = p.doctor(t, "--undo=20260102T030405Z"); !strings.HasSuffix(stderr, "\nRestored 0 of 2 files of run 20260102T030405Z. 1 is already as before the repair.\n") {
		t.Errorf("--undo=RUN again: %q", stderr)
	}
	if _, stdout, _ = p.doctor(t, "--list"); stdout != strings.Replace(want, "a.jsonl  repaired", "a.jsonl  as before the repair", 1) {
		t.Errorf("--list: %s", stdout)
	}
	for _, want := range []string{
		"~/.claude/projects/-srv/it's b.jsonl: restored\n~/.claude/projects/-srv/mixed.jsonl: restored\n",
		"~/.claude/projects/-srv/mixed.jsonl: restored\n",
	} {
		if code, stdout, stderr = p.doctor(t, "--undo"); code != exitOK || stdout != want {
			t.Errorf("--undo: exit code %d, %q, %s", code, stdout, stderr)
		}
	}
	// A run can be undone again, which changes nothing.
	if code, stdout, _ = p.doctor(t, "--undo=20260102T030405Z"); code != exitOK || stdout != "" {
		t.Errorf("again: exit code %d, %q", code, stdout)
	}
	if code, _, stderr = p.doctor(t, "--undo"); code != exitTrouble || stderr != "toolguard: --undo: all runs are undone; toolguard doctor --list shows them\n" {
		t.Errorf("--undo of nothing: exit code %d, %q", code, stderr)
	}
}

// TestUndoRefuses: what is not as the repair left it is not restored, and the original is
// named.
func TestUndoRefuses(t *testing.T) {
	t.Parallel()
	const kept = "/toolguard/backups/20260102T030405Z"
	for name, tt := range map[string]struct {
		spoil func(t *testing.T, p *patient, path string)
		why   string
	}{
		"grown": {func(t *testing.T, _ *patient, path string) {
			t.Helper()
			appendLine(t, path, "{}\n")
			aged(t, path, 2*time.Hour)
		}, "not restored: it changed after the repair; its original is"},
		"same size": {func(t *testing.T, _ *patient, path string) {
			t.Helper()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text[len(text)-2] = ' '
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not restored: it changed after the repair; its original is"},
		"gone": {func(t *testing.T, _ *patient, path string) {
			t.Helper()
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, "not restored: it does not exist any more; its original is"},
		"spoiled backup": {func(t *testing.T, p *patient, _ string) {
			t.Helper()
			appendLine(t, filepath.Join(p.set["XDG_STATE_HOME"], filepath.FromSlash("toolguard/backups/20260102T030405Z/0001-a.jsonl")), "x")
		}, "not restored: the backup is not what the manifest describes; its original is"},
		"in use": {func(t *testing.T, p *patient, _ string) {
			t.Helper()
			p.put(t, ".claude/sessions/1.json", fmt.Appendf(nil, `{"pid":%d,"sessionId":"a"}`, os.Getpid()))
		}, "not restored: it is in use: process "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			p.set["XDG_STATE_HOME"] = filepath.Join(p.home, "state")
			original := transcriptFile(t, brokenSession)
			path := p.put(t, ".claude/projects/-srv/a.jsonl", original)
			other := p.put(t, ".claude/projects/-srv/b.jsonl", original)
			if code, _, stderr := p.doctor(t, "--fix", "--yes"); code != exitOK {
				t.Fatalf("exit code %d, %s", code, stderr)
			}
			tt.spoil(t, p, path)
			before, _ := os.ReadFile(path)
			code, _, stderr := p.doctor(t, "--undo")
			if code != exitTrouble || !strings.HasPrefix(strings.ReplaceAll(stderr, `\`, "/"), "toolguard: ~/.claude/projects/-srv/a.jsonl: "+tt.why) ||
				!strings.Contains(filepath.ToSlash(stderr), "its original is ~/state"+kept+"/0001-a.jsonl\n") || !strings.HasSuffix(stderr, "Restored 1 of 2 files of run 20260102T030405Z.\n") {
				t.Errorf("exit code %d, %s", code, stderr)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("it is changed")
			}
			if text, err := os.ReadFile(other); err != nil || !bytes.Equal(text, original) {
				t.Errorf("the other session is not restored: %v", err)
			}
		})
	}
}

func appendLine(t *testing.T, path, line string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(line); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestInUseIsNotTouched: a session in use is listed with the reason, and never repaired.
func TestInUseIsNotTouched(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lock string
		age  time.Duration
		used bool
	}{
		"idle":                  {"", time.Hour, false},
		"recent":                {"", 9 * time.Minute, true},
		"not recent":            {"", 11 * time.Minute, false},
		"in the future":         {"", -time.Hour, true},
		"its process":           {`{"pid":%d,"sessionId":"a","cwd":"/elsewhere"}`, time.Hour, true},
		"process in its place":  {`{"pid":%d,"sessionId":"b","cwd":"/home/kim/boats"}`, time.Hour, true},
		"process elsewhere":     {`{"pid":%d,"sessionId":"b","cwd":"/home/kim/boat"}`, time.Hour, false},
		"unreadable":            {`{"pid":%d,`, time.Hour, true},
		"says not what it uses": {`{"pid":%d}`, time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			path := p.put(t, ".claude/projects/-home-kim-boats/a.jsonl", transcriptFile(t, brokenSession))
			aged(t, path, tt.age)
			if tt.lock != "" {
				p.put(t, fmt.Sprintf(".claude/sessions/%d.json", os.Getpid()), []byte(strings.Replace(tt.lock, "%d", strconv.Itoa(os.Getpid()), 1)))
			}
			before := p.snapshot(t)
			code, stdout, _ := p.doctor(t)
			if code != exitFindings || strings.Contains(stdout, "\n   in use: ") != tt.used || strings.Contains(stdout, "1 broken, 1 in use") != tt.used || strings.Contains(stdout, "toolguard fix") == tt.used {
				t.Errorf("exit code %d, %s", code, stdout)
			}
			code, stdout, stderr := p.doctor(t, "--fix", "--yes", "--unsafe")
			changed := !cmp.Equal(before, p.snapshot(t))
			if changed == tt.used || (code == exitOK) == tt.used {
				t.Errorf("changed: %v, exit code %d, %s%s", changed, code, stdout, stderr)
			}
		})
	}
}

// TestInUseAtTheLastMoment: a process that begins to use a session while doctor repairs or
// restores it is noticed right before the file is replaced. Here it begins when the new text is
// complete.
func TestInUseAtTheLastMoment(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	path := p.put(t, ".claude/projects/-srv/a.jsonl", transcriptFile(t, brokenSession))
	p.put(t, ".claude/sessions/77.json", []byte(`{"pid":77,"sessionId":"a"}`))
	begins := func(int) bool {
		_, err := os.Stat(filepath.Join(filepath.Dir(path), ".a.jsonl.toolguard-tmp"))
		return err == nil
	}
	try := func(alive func(int) bool, f *doctorFlags) (string, error) {
		var stderr bytes.Buffer
		d, err := newDoctor(newApp(strings.NewReader(""), &bytes.Buffer{}, &stderr, p.env), f, func(string) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		d.alive = alive
		if f.undo != "" {
			err = d.undo(t.Context())
		} else {
			err = d.run(t.Context())
		}
		return stderr.String(), err
	}
	before := p.snapshot(t)
	want := ": it is in use: process 77 uses it (~" + string(filepath.Separator) + filepath.FromSlash(".claude/sessions/77.json)")
	if out, err := try(begins, &doctorFlags{color: "auto", fix: choice{made: true}, yes: true}); !errors.Is(err, errReported) || !strings.Contains(out, path+": not written"+want) {
		t.Errorf("%v, %s", err, out)
	}
	if diff := cmp.Diff(before, p.snapshot(t)); diff != "" {
		t.Errorf("something changed:\n%s", diff)
	}
	if kept, err := filepath.Glob(filepath.Join(p.home, ".local", "state", "toolguard", "backups", "*")); err != nil || len(kept) > 0 {
		t.Errorf("kept %q, %v", kept, err)
	}
	never := func(int) bool { return false }
	if out, err := try(never, &doctorFlags{color: "auto", fix: choice{made: true}, yes: true}); err != nil {
		t.Fatalf("%v, %s", err, out)
	}
	repaired := p.snapshot(t)
	if out, err := try(begins, &doctorFlags{color: "auto", undo: lastRun, undoes: true}); !errors.Is(err, errReported) || !strings.Contains(out, path+": not written"+want) {
		t.Errorf("%v, %s", err, out)
	}
	if diff := cmp.Diff(repaired, p.snapshot(t)); diff != "" {
		t.Errorf("something changed:\n%s", diff)
	}
}

// TestDoctorFlags: wrong command lines are errors before anything is read.
func TestDoctorFlags(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.put(t, ".claude/projects/-srv/a.jsonl", transcriptFile(t, brokenSession))
	before := p.snapshot(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--fix"}, "--fix asks before each repair; without a terminal it needs --yes"},
		{[]string{"--yes"}, "--yes needs --fix"},
		{[]string{"--unsafe"}, "--unsafe needs --fix"},
		{[]string{"--fix", "--undo"}, "--fix and --undo exclude each other: give only one"},
		{[]string{"--fix", "--list"}, "--fix and --list exclude each other: give only one"},
		{[]string{"--undo", "--list"}, "--undo and --list exclude each other: give only one"},
		{[]string{"--list", "--since", "3d"}, "--since has no meaning with --list and --undo"},
		{[]string{"--undo="}, "--undo: expected a run; toolguard doctor --list lists them"},
		{[]string{"--undo=x"}, `--undo: no run is called "x"; toolguard doctor --list lists the runs`},
		{[]string{"--since", "soon"}, `--since: expected a date such as 2026-01-31, or a time such as 30d, got "soon"`},
		{[]string{"--since", ""}, `--since: expected a date such as 2026-01-31, or a time such as 30d, got ""`},
		{[]string{"--since", "99999999d"}, `--since: expected a date such as 2026-01-31, or a time such as 30d, got "99999999d"`},
		{[]string{"--path", ""}, `--path: expected a directory, got ""`},
		{[]string{"--path", "no-such"}, "--path: no-such: no such file or directory"},
		{[]string{"--path", ".", "--agent", "pi", "--agent", "codex"}, "--path: a directory has sessions of one agent; give only one --agent"},
		{[]string{"--jobs", "-1"}, "--jobs: expected a number of files, got -1"},
		{[]string{"."}, `doctor: unexpected argument "."; did you mean --path .?`},
		{[]string{"--undo", "x"}, `doctor: unexpected argument "x"; did you mean --undo=x?`},
		{[]string{"--undo=x", "y"}, `doctor: unexpected argument "y"; toolguard doctor --help shows the usage`},
		{[]string{"x"}, `doctor: unexpected argument "x"; toolguard doctor --help shows the usage`},
	} {
		code, stdout, stderr := p.doctor(t, tt.args...)
		if code != exitTrouble || stdout != "" || stderr != "toolguard: "+tt.want+"\n" {
			t.Errorf("%q: exit code %d, %q, %q", tt.args, code, stdout, stderr)
		}
	}
	if code, _, stderr := p.doctor(t, "--agent", "claude"); code != exitTrouble || !strings.Contains(stderr, `--agent: unknown agent "claude"`) {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if diff := cmp.Diff(before, p.snapshot(t)); diff != "" {
		t.Errorf("something changed:\n%s", diff)
	}
}

// TestDoctorAligns: the lines of the tenth session are below each other too.
func TestDoctorAligns(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.set["XDG_STATE_HOME"] = filepath.Join(p.home, "state")
	for i := range 10 {
		p.put(t, fmt.Sprintf(".claude/projects/-srv/%d.jsonl", i), transcriptFile(t, brokenSession))
	}
	code, stdout, stderr := p.doctor(t, "--fix", "--yes")
	const want = `10  Claude Code 2.1.33  /home/kim/boats  "start"  2 hours ago
    2 calls without a result (Bash); fix: 2 placeholders (additive)
    repaired 2 problems (2 inserted); the original is saved as
    ~/state/toolguard/backups/20260102T030405Z/0010-9.jsonl
`
	if code != exitOK || !strings.HasSuffix(stdout, "\n"+want) {
		t.Errorf("exit code %d, %s%s", code, stdout, stderr)
	}
}

// TestDoctorAge: however long the other texts are and however narrow the terminal is, the line of a
// session has its agent and ends with its age.
func TestDoctorAge(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.set["NO_COLOR"] = "1"
	body := string(transcriptFile(t, brokenSession))
	long := strings.Repeat("very long ", 20)
	for i, r := range []*strings.Replacer{
		strings.NewReplacer(`"start"`, `"`+long+`"`),
		strings.NewReplacer("/home/kim/boats", "/srv/"+long+"boats"),
		strings.NewReplacer(`"start"`, `"`+long+`"`, "/home/kim/boats", "/srv/"+long+"boats"),
		strings.NewReplacer(`"start"`, `"`+long+`"`, "/home/kim/boats", "/srv/"+long+"boats", "2.1.33", "2.1.33-"+long),
		strings.NewReplacer(`"start"`, `"船の一覧を作って、全部の船の名前を並べて"`, "/home/kim/boats", "/srv/船/船/船/船/船/船/船/船/船"),
	} {
		aged(t, p.put(t, fmt.Sprintf(".claude/projects/-srv/%d.jsonl", i), []byte(r.Replace(body))), time.Duration(100*(i+1))*24*time.Hour+time.Minute)
	}
	for width := narrowest; width <= 150; width++ {
		p.set["COLUMNS"] = strconv.Itoa(width)
		var out bytes.Buffer
		a := newApp(strings.NewReader(""), &out, io.Discard, p.env)
		a.terminal = true
		a.run(t.Context(), []string{"doctor"})
		found := 0
		for line := range strings.Lines(out.String()) {
			if line[0] < '1' || line[0] > '5' {
				continue
			}
			found++
			if end := fmt.Sprintf("  %d days ago\n", 100*found); !strings.HasSuffix(line, end) || !strings.HasPrefix(line, fmt.Sprintf("%d  Claude Code ", found)) || runewidth.StringWidth(strings.TrimSuffix(line, "\n")) > width {
				t.Errorf("%d columns: %s", width, line)
			}
		}
		if found != 5 {
			t.Errorf("%d columns: %s", width, out.String())
		}
		if width == 80 {
			const want = `1  Claude Code 2.1.33  …e/kim/boats  "very long very long very l…"  100 days ago
`
			if got := out.String()[strings.Index(out.String(), "\n1 ")+1:]; !strings.HasPrefix(got, want) {
				t.Errorf("80 columns: %s", got)
			}
		}
	}
}

// TestDoctorChooses: --agent, --since and --path say which sessions are looked at.
func TestDoctorChooses(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.put(t, ".claude/projects/-srv/a.jsonl", transcriptFile(t, brokenSession))
	old := p.put(t, ".qwen/projects/-srv/chats/b.jsonl", transcriptFile(t, "qwen-code/broken/missing.jsonl"))
	aged(t, old, 40*24*time.Hour)
	p.put(t, "else/where/c.jsonl", transcriptFile(t, brokenSession))
	p.put(t, "else/where/notes.json", []byte(`{"a":1}`))
	p.put(t, "else/s.db", []byte(sqliteMagic))
	elsewhere := filepath.Join(p.home, "else", "where")
	for _, tt := range []struct {
		args   []string
		stores []string
		want   []string
	}{
		{nil, []string{"Claude Code 1", "Qwen Code 1"}, []string{"a.jsonl", "b.jsonl"}},
		{[]string{"--agent", "qwen-code"}, []string{"Qwen Code 1"}, []string{"b.jsonl"}},
		{[]string{"--agent", "Qwen Code", "--agent", "CODEX"}, []string{"Qwen Code 1"}, []string{"b.jsonl"}},
		{[]string{"--since", "30d"}, []string{"Claude Code 1", "Qwen Code 0"}, []string{"a.jsonl"}},
		{[]string{"--since", "6w"}, []string{"Claude Code 1", "Qwen Code 1"}, []string{"a.jsonl", "b.jsonl"}},
		{[]string{"--since", "1h"}, []string{"Claude Code 0", "Qwen Code 0"}, nil},
		{[]string{"--since", "2020-01-31"}, []string{"Claude Code 1", "Qwen Code 1"}, []string{"a.jsonl", "b.jsonl"}},
		{[]string{"--path", elsewhere}, []string{"sessions 1"}, []string{"c.jsonl"}},
		{[]string{"--path", elsewhere, "--agent", "claude-code"}, []string{"Claude Code 1"}, []string{"c.jsonl"}},
		{[]string{"--path", filepath.Join(elsewhere, "c.jsonl")}, []string{"sessions 1"}, []string{"c.jsonl"}},
		{[]string{"--path", filepath.Join(p.home, ".claude", "projects")}, []string{"Claude Code 1"}, []string{"a.jsonl"}},
		{[]string{"--path", filepath.Join(p.home, "else", "s.db")}, []string{"sessions 0"}, nil},
	} {
		code, doc := p.jsonOf(t, tt.args...)
		var stores, got []string
		for _, s := range doc.Stores {
			stores = append(stores, fmt.Sprint(s.Agent, " ", s.Sessions))
		}
		for _, s := range doc.Sessions {
			got = append(got, filepath.Base(s.Path))
		}
		if !slices.Equal(stores, tt.stores) || !slices.Equal(got, tt.want) || (code == exitFindings) != (tt.want != nil) {
			t.Errorf("%q: exit code %d, %q, %q", tt.args, code, stores, got)
		}
	}
	// In and above a known store its locks hold, whatever --path names.
	p.put(t, ".claude/sessions/1.json", fmt.Appendf(nil, `{"pid":%d,"sessionId":"a"}`, os.Getpid()))
	for _, path := range []string{"", ".claude", ".claude/projects", ".claude/projects/-srv", ".claude/projects/-srv/a.jsonl"} {
		for _, args := range [][]string{{}, {"--agent", "claude-code"}, {"--agent", "codex"}} {
			_, doc := p.jsonOf(t, append(args, "--path", filepath.Join(p.home, filepath.FromSlash(path)))...)
			i := slices.IndexFunc(doc.Sessions, func(s jsonSession) bool { return filepath.Base(s.Path) == "a.jsonl" })
			// Hidden directories are skipped unless they are named.
			if (i < 0) != (path == "") || i >= 0 && (!doc.Sessions[i].InUse || doc.Sessions[i].Agent != "Claude Code") {
				t.Errorf("--path %q %q: %+v", path, args, doc.Sessions)
			}
		}
	}
	// What --path names keeps its description.
	_, doc := p.jsonOf(t, "--path", elsewhere)
	if s := doc.Sessions[0]; s.Project == nil || *s.Project != "/home/kim/boats" || s.Title == nil || *s.Title != "start" || s.AgentVersion == nil || *s.AgentVersion != "2.1.33" {
		t.Errorf("%+v", s)
	}
	nobody := newPatient(t)
	if code, stdout, stderr := nobody.doctor(t); code != exitOK || stdout != "" || stderr != "No sessions found: none of the known stores exists.\n" {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
}

// TestNoBackupNoRepair: without a place for the original nothing is repaired.
func TestNoBackupNoRepair(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.put(t, ".claude/projects/-srv/a.jsonl", transcriptFile(t, brokenSession))
	p.put(t, "state/toolguard", nil) // a file where the directory is to be
	p.set["XDG_STATE_HOME"] = filepath.Join(p.home, "state")
	p.put(t, ".claude/toolguard.toml", []byte("backup = \"none\"\n"))
	before := p.snapshot(t)
	code, _, stderr := p.doctor(t, "--fix", "--yes")
	if code != exitTrouble || !strings.Contains(stderr, "a.jsonl: not written: cannot make a backup: ") || strings.Contains(stderr, "--backup") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if diff := cmp.Diff(before, p.snapshot(t)); diff != "" {
		t.Errorf("something changed:\n%s", diff)
	}
}

// TestDoctorTellsOfFailures: a store that cannot be read is an error, and the others are
// listed.
func TestDoctorTellsOfFailures(t *testing.T) {
	t.Parallel()
	needsUser(t)
	p := newPatient(t)
	p.put(t, ".claude/projects/-srv/a.jsonl", transcriptFile(t, brokenSession))
	closed := filepath.Dir(p.put(t, ".factory/sessions/-srv/a.jsonl", nil))
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o700) })
	if code, doc := p.jsonOf(t); code != exitTrouble || len(doc.Failed) != 1 || doc.Failed[0].Error != "permission denied" || len(doc.Sessions) != 1 {
		t.Errorf("exit code %d, %+v", code, doc)
	}
}

// TestDoctorIsNotObeyed: no name and no text of a session is obeyed by a terminal or a CI.
func TestDoctorIsNotObeyed(t *testing.T) {
	t.Parallel()
	for i, text := range hostile.Texts() {
		p := newPatient(t)
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		inner := strings.Trim(string(quoted), `"`)
		body := string(transcriptFile(t, brokenSession))
		body = strings.NewReplacer(`"/home/kim/boats"`, `"`+inner+`"`, `"2.1.33"`, `"`+inner+`"`, `"start"`, `"`+inner+`"`, `"Bash"`, `"`+inner+`"`).Replace(body)
		dir := "-srv"
		if name := strings.NewReplacer("/", "", "\x00", "").Replace(text); runtime.GOOS == "linux" && name != "" && len(name) < 200 && name[0] != '.' {
			dir = name
		}
		p.put(t, ".claude/projects/"+dir+"/a.jsonl", []byte(body))
		for _, args := range [][]string{{}, {"--color=always"}, {"--json"}, {"--fix", "--yes"}, {"--list"}, {"--list", "--color=always"}, {"--undo"}} {
			_, stdout, stderr := p.doctor(t, args...)
			for _, out := range []string{stdout, stderr} {
				if err := hostile.Obeyed(out, hostile.Allowed{Colors: slices.Contains(args, "--color=always")}); err != nil {
					t.Errorf("%d: %q: %v: %q", i, args, err, out)
				}
			}
		}
	}
}

// TestShellPath: a shell reads the path that doctor prints.
func TestShellPath(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no bash")
	}
	for _, name := range []string{"a.jsonl", "it's", "a b", "$x", "`x`", "\x1b[31m", "é", "\u202e", "a\nb", "\xff", "##[x]", "-n", `a\b`, "*", "~", "!x"} {
		for _, dir := range []string{"/h/me", "/other"} {
			path := dir + "/" + name
			printed := shellPath(path, "/h/me")
			out, err := exec.Command("bash", "-c", "HOME=/h/me; printf %s "+printed).Output()
			if err != nil || string(out) != path {
				t.Errorf("%q: %s is read as %q, %v", path, printed, out, err)
			}
			if err := hostile.Obeyed(printed+"\n", hostile.Allowed{}); err != nil {
				t.Errorf("%q: %v", path, err)
			}
		}
	}
}

// TestShellPathIsNoFlag: a relative path never begins like a flag.
func TestShellPathIsNoFlag(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("paths are quoted in another way")
	}
	for path, want := range map[string]string{"-d/x": "./-d/x", "-d/a b": "'./-d/a b'", "-\n": `$'./-\x0a'`, "d/-x": "d/-x"} {
		if got := shellPath(path, "/h/me"); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

// TestMendedRules: the rules that agents repair themselves exist.
func TestMendedRules(t *testing.T) {
	t.Parallel()
	for _, s := range store.All() {
		for _, name := range s.Mends.Rules {
			if rules.ByName(name) == nil {
				t.Errorf("%s: there is no rule %s", s.Agent, name)
			}
		}
	}
}

// TestDoctorOpenCall: a session that ends with calls without results is broken once nobody writes
// it any more, unless its agent answers them when it resumes the session. The printed command
// repairs the same.
func TestDoctorOpenCall(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	cut := func(name string, lines int) []byte {
		return bytes.Join(bytes.SplitAfter(transcriptFile(t, name), []byte("\n"))[:lines], nil)
	}
	droid := cut("factory-droid/ok/parallel.jsonl", 3)
	path := p.put(t, ".factory/sessions/w/a.jsonl", droid)
	p.put(t, ".codex/sessions/2026/01/02/rollout-a.jsonl", cut("codex/broken/killed.jsonl", 5))
	const want = `Codex  1 session  none broken, 1 that Codex repairs itself
droid  1 session  1 broken
1  droid  /w  "t"  2 hours ago
   2 open calls (Execute, LS); fix: 2 placeholders (additive)
   toolguard fix --write --send ~/.factory/sessions/w/a.jsonl
`
	code, stdout, stderr := p.doctor(t)
	if diff := cmp.Diff(want, stdout); diff != "" || code != exitFindings {
		t.Errorf("exit code %d, %q (-want +got):\n%s", code, stderr, diff)
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"fix", "--write", "--send", path}, strings.NewReader(""), &out, &errs, p.env); code != exitOK {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	fixed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p.put(t, ".factory/sessions/w/a.jsonl", droid)
	if code, _, stderr := p.doctor(t, "--fix", "--yes"); code != exitOK {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(fixed) || bytes.Count(got, []byte("No result was recorded")) != 2 {
		t.Errorf("%v (-fix +doctor):\n%s", err, cmp.Diff(string(fixed), string(got)))
	}
}

// TestDoctorStripReasoning: with --strip-reasoning, a session with reasoning is listed apart from
// broken ones, and the printed command repairs the same as --fix.
func TestDoctorStripReasoning(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("its paths look different")
	}
	p := newPatient(t)
	sound := transcriptFile(t, "claude-code/ok/block-a-line.jsonl")
	path := p.put(t, ".claude/projects/-srv/a.jsonl", sound)
	if code, stdout, stderr := p.doctor(t); code != exitOK || stdout != "Claude Code  1 session  none broken\n" {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
	p.put(t, ".kiro/sessions/cli/1.jsonl", transcriptFile(t, "kiro/broken/missing.jsonl"))
	p.put(t, ".claude/projects/-srv/b.jsonl", transcriptFile(t, brokenSession))
	p.put(t, ".claude/projects/-srv/c.jsonl", bytes.ReplaceAll(transcriptFile(t, "claude-code/ok/block-a-line.jsonl"), []byte(`"type":"tool_result"`), []byte(`"type":"text","text":"x"`)))
	const want = `Claude Code  3 sessions  2 broken, 1 with reasoning
Kiro         1 session   1 broken
1  Claude Code 2.1.33  /home/kim/boats  "run the tests and show the log"  2 hours ago
   1 message with reasoning; fix: 1 piece of reasoning dropped (unsafe)
   toolguard fix --write --strip-reasoning ~/.claude/projects/-srv/a.jsonl
2  Claude Code 2.1.33  /home/kim/boats  "start"  2 hours ago
   2 calls without a result (Bash); fix: 2 placeholders (additive)
   toolguard fix --write ~/.claude/projects/-srv/b.jsonl
3  Claude Code 2.1.33  /home/kim/boats  "run the tests and show the log"  2 hours ago
   1 message with reasoning, 3 calls without a result (Bash, Read); fix: 3 placeholders, 1 piece of
   reasoning dropped (unsafe)
   toolguard fix --write --strip-reasoning ~/.claude/projects/-srv/c.jsonl
4  Kiro  "go"  2 hours ago
   1 call without a result (fs_read); toolguard only checks sessions of Kiro
   toolguard check ~/.kiro/sessions/cli/1.jsonl
   toolguard extract ~/.kiro/sessions/cli/1.jsonl
`
	code, stdout, stderr := p.doctor(t, "--strip-reasoning")
	if diff := cmp.Diff(want, stdout); diff != "" || code != exitFindings || stderr != "toolguard doctor --fix --strip-reasoning repairs 3 of 4.\n" {
		t.Errorf("exit code %d, %q (-want +got):\n%s", code, stderr, diff)
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"fix", "--write", "--strip-reasoning", path}, strings.NewReader(""), &out, &errs, p.env); code != exitOK {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	fixed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p.put(t, ".claude/projects/-srv/a.jsonl", sound)
	if code, _, stderr := p.doctor(t, "--fix", "--yes", "--strip-reasoning", "--agent", "claude-code"); code != exitOK || stderr != "Repaired 3 sessions. No broken session left.\n" {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(fixed) || bytes.Contains(got, []byte(`"thinking"`)) {
		t.Errorf("%v (-fix +doctor):\n%s", err, cmp.Diff(string(fixed), string(got)))
	}
}

// TestDoctorRecorded: a session is broken if the agent would make up a result that the session
// holds elsewhere.
func TestDoctorRecorded(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	path := p.put(t, ".codex/sessions/2026/01/02/rollout-a.jsonl", transcriptFile(t, "codex/broken/lost-outputs.jsonl"))
	const want = `Codex  1 session  1 broken
1  Codex 0.169.0  /w  "list, then look it up"  2 hours ago
   3 calls without a result (exec_command, lookup); fix: 3 restored (additive)
   toolguard fix --write ~/.codex/sessions/2026/01/02/rollout-a.jsonl
`
	code, stdout, stderr := p.doctor(t)
	if diff := cmp.Diff(want, stdout); diff != "" || code != exitFindings {
		t.Errorf("exit code %d, %q (-want +got):\n%s", code, stderr, diff)
	}
	if code, _, stderr := p.doctor(t, "--fix", "--yes"); code != exitOK {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, output := range []string{
		`"call_id":"call_a","output":"Process exited with code 0\nOutput:\na.txt\n"}`,
		`"call_id":"call_b","output":"Process exited with code 1\nOutput:\n"}`,
		`"call_id":"call_c","output":"[{\"type\":\"text\",\"text\":\"found\"}]"}`,
	} {
		if strings.Count(string(got), output) != 1 {
			t.Errorf("%s is not in the session:\n%s", output, got)
		}
	}
}

// TestDoctorUncut: doctor names the copy that an agent has kept of a session from which it has
// removed lines.
func TestDoctorUncut(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	path := p.put(t, ".kimi/sessions/ab/s/wire.jsonl", transcriptFile(t, "kimi-wire/broken/missing.jsonl"))
	line := "Kimi has removed lines; the file as it was: ~/.kimi/sessions/ab/s/wire.jsonl.bak\n"
	if _, stdout, _ := p.doctor(t); strings.Contains(stdout, "removed lines") {
		t.Errorf("without a copy: %s", stdout)
	}
	if _, doc := p.jsonOf(t); len(doc.Sessions) != 1 || doc.Sessions[0].Uncut != nil {
		t.Errorf("without a copy: %+v", doc.Sessions)
	}
	kept := p.put(t, ".kimi/sessions/ab/s/wire.jsonl.bak", transcriptFile(t, "kimi-wire/broken/torn.jsonl"))
	if _, stdout, _ := p.doctor(t); strings.Count(filepath.ToSlash(stdout), line) != 1 {
		t.Errorf("with a copy: %s", stdout)
	}
	if _, doc := p.jsonOf(t); len(doc.Sessions) != 1 || doc.Sessions[0].Path != path || doc.Sessions[0].Uncut == nil || *doc.Sessions[0].Uncut != kept {
		t.Errorf("with a copy: %+v", doc.Sessions)
	}
}

// TestDoctorPage: the page names what agents repair themselves, and all locks.
func TestDoctorPage(t *testing.T) {
	t.Parallel()
	page := readPage(t, "doctor.md")
	for _, s := range store.All() {
		row := "\n| " + s.Agent
		if m := s.Mends; len(m.Rules) > 0 {
			if m.Since != "" {
				row += " since " + m.Since
			}
			if _, after, found := strings.Cut(page, row+" |"); !found || !strings.Contains(strings.SplitN(after, "\n", 2)[0], m.Source) {
				t.Errorf("docs/doctor.md does not say what %s repairs itself", s.Agent)
			}
		}
		_, use, _ := strings.Cut(page, "### Sessions in use")
		use, _, _ = strings.Cut(use, "## Undo")
		if s.Uncut != "" && !strings.Contains(page, s.Agent+" removes a line that it cannot read") {
			t.Errorf("docs/doctor.md does not say where %s keeps what it removes", s.Agent)
		}
		if len(s.Locks) > 0 && !strings.Contains(use, s.Agent) {
			t.Errorf("docs/doctor.md does not say when a session of %s is in use", s.Agent)
		}
	}
}

// TestDoctorKilled kills doctor while it repairs and while it restores, at random moments or when
// it has created a temporary file. Then each session is whole, each repaired one has its original
// in a manifest, and the next run does the rest. It leaves no temporary file, whatever it writes.
func TestDoctorKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts many processes")
	}
	kills, late := sample.Size(200, 3, 2), sample.Until(t)
	const files = 6
	text := transcriptFile(t, brokenSession)
	var repaired []byte
	span, left := 50*time.Millisecond, 0
	for i := range kills {
		if i > 1 && late() {
			t.Logf("stopped after %d of %d kills", i, kills)
			break
		}
		p := newPatient(t)
		var paths []string
		for j := range files {
			paths = append(paths, p.put(t, fmt.Sprintf(".claude/projects/-srv/%d.jsonl", j), text))
		}
		start := func(args ...string) *exec.Cmd {
			cmd := exec.Command("toolguard", append([]string{"doctor"}, args...)...)
			cmd.Env = append(os.Environ(), "HOME="+p.home, "USERPROFILE="+p.home, "XDG_STATE_HOME="+filepath.Join(p.home, "state"), "CLAUDE_CONFIG_DIR=", "GORACE=atexit_sleep_ms=0")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			return cmd
		}
		check := func(when string, whole ...[]byte) {
			kept := manifests(t, filepath.Join(p.home, "state"))
			for _, path := range paths {
				got, err := os.ReadFile(path)
				if err != nil || !slices.ContainsFunc(whole, func(w []byte) bool { return bytes.Equal(w, got) }) {
					t.Fatalf("kill %d: %s: %s is not whole: %v", i, when, path, err)
				}
				if !bytes.Equal(got, text) && kept[path].Before != content(string(text)) {
					t.Errorf("kill %d: %s: the manifest has %+v", i, when, kept[path])
				}
			}
		}
		temporary := func() int {
			entries, err := os.ReadDir(filepath.Dir(paths[0]))
			if err != nil {
				t.Fatal(err)
			}
			return len(entries) - files
		}
		nothingLeft := func(when string) {
			if n := temporary(); n != 0 {
				t.Errorf("kill %d: %s: %d temporary files", i, when, n)
			}
		}
		began := time.Now()
		cmd := start("--fix", "--yes")
		if i > 0 {
			if i%2 == 0 {
				time.Sleep(rand.N(span))
			}
			for i%2 == 1 && temporary() == 0 && time.Since(began) < 2*span {
			}
			_ = cmd.Process.Kill()
		}
		_ = cmd.Wait()
		if i == 0 {
			span = time.Since(began)
			repaired, _ = os.ReadFile(paths[0])
		}
		left += min(temporary(), 1)
		check("fix", text, repaired)
		switch i % 3 {
		case 1: // the sessions are in use, so the next run writes none of them
			for _, path := range paths {
				aged(t, path, time.Minute)
			}
			_ = start("--fix", "--yes").Wait()
			check("a fix that writes nothing", text, repaired)
			nothingLeft("a fix that writes nothing")
			for _, path := range paths {
				aged(t, path, 2*time.Hour)
			}
		case 2:
			_ = start("--undo").Wait()
			check("an undo", text, repaired)
			nothingLeft("an undo")
		}
		if err := start("--fix", "--yes").Wait(); err != nil {
			t.Fatalf("kill %d: the next fix: %v", i, err)
		}
		check("the next fix", repaired)
		cmd = start("--undo")
		time.Sleep(rand.N(span))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		check("undo", text, repaired)
		for range 3 { // each run that repaired something
			_ = start("--undo").Wait()
		}
		check("the next undo", text)
		nothingLeft("the next undo")
	}
	t.Logf("%d kills left temporary files", left)
	if left == 0 && kills > 50 {
		t.Error("no kill left a temporary file")
	}
}

// brokenTurn returns the records of a turn of a session: a call without a result, and what the
// user typed next.
func brokenTurn(n int) string {
	parent := "null"
	if n > 0 {
		parent = fmt.Sprintf(`"u%d"`, n-1)
	}
	const envelope = `"isSidechain":false,"cwd":"/w","sessionId":"s","version":"2.1.33"`
	return fmt.Sprintf(`{"parentUuid":%s,%s,"type":"assistant","message":{"id":"m%d","role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{}}]},"uuid":"a%d"}
{"parentUuid":"a%d",%s,"type":"user","message":{"role":"user","content":"line %d."},"uuid":"u%d"}
`, parent, envelope, n, n, n, n, envelope, n, n)
}

// TestDoctorBesideWriter: a program that appends all the while loses nothing, whatever doctor
// repairs and restores. The writer makes the session look old, so that only the way of writing
// protects it.
func TestDoctorBesideWriter(t *testing.T) {
	t.Parallel()
	rounds, late := sample.Size(300, 8, 8), sample.Until(t)
	p := newPatient(t)
	path := p.put(t, ".claude/projects/-srv/a.jsonl", transcriptFile(t, brokenSession))
	stop, done := make(chan bool), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				done <- n
				return
			case <-time.After(rand.N(60 * time.Millisecond)):
			}
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				continue
			}
			if _, err := f.WriteString(brokenTurn(n)); err == nil {
				n++
			}
			f.Close()
			then := time.Now().Add(-time.Hour)
			_ = os.Chtimes(path, then, then)
		}
	}()
	repairs, refusals, undone := 0, 0, 0
	for i := range rounds {
		if i > 1 && late() {
			t.Logf("stopped after %d of %d rounds", i, rounds)
			break
		}
		_, stdout, stderr := p.doctor(t, "--fix", "--yes")
		repairs += strings.Count(stdout, "the original is saved as")
		refusals += strings.Count(stderr, ": not written: ")
		_, stdout, _ = p.doctor(t, "--undo")
		undone += strings.Count(stdout, ": restored\n")
	}
	close(stop)
	n := <-done
	t.Logf("%d lines, %d repairs, %d refusals, %d undone", n, repairs, refusals, undone)
	if n == 0 || repairs+refusals == 0 {
		t.Error("nothing was written, or nothing repaired")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if c := bytes.Count(text, fmt.Appendf(nil, "\"line %d.\"", i)); c != 1 {
			t.Fatalf("line %d of %d is there %d times", i, n, c)
		}
	}
}

// BenchmarkDoctor compares doctor with check over the same sessions.
func BenchmarkDoctor(b *testing.B) {
	home := b.TempDir()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "transcripts", "claude-code", "ok", "interrupted.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(home, ".claude", "projects", "-srv")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		b.Fatal(err)
	}
	then := time.Now().Add(-time.Hour)
	for i := range 2000 {
		path := filepath.Join(dir, fmt.Sprint(i, ".jsonl"))
		if err := os.WriteFile(path, text, 0o666); err != nil {
			b.Fatal(err)
		}
		if err := os.Chtimes(path, then, then); err != nil {
			b.Fatal(err)
		}
	}
	env := (&patient{home: home}).env
	for _, args := range [][]string{{"doctor"}, {"check", "-q", dir}} {
		b.Run(args[0], func(b *testing.B) {
			for b.Loop() {
				var out bytes.Buffer
				if code := run(b.Context(), args, strings.NewReader(""), &out, &out, env); code != exitOK {
					b.Fatal(code, out.String())
				}
			}
		})
	}
}

// TestDoctorUnsent: doctor counts results on branches that the agent does not send, and names the command
// that shows them, whether anything else is wrong or not.
func TestDoctorUnsent(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("its paths look different")
	}
	p := newPatient(t)
	p.put(t, ".claude/projects/-srv/two.jsonl", transcriptFile(t, "claude-code/ok/two-programs.jsonl"))
	code, stdout, stderr := p.doctor(t)
	command := "toolguard show --scope main ~/.claude/projects/-srv/two.jsonl"
	if want := "Claude Code  1 session  none broken, 1 with results that are not sent\n"; code != exitOK || stdout != want {
		t.Errorf("exit code %d: %s", code, stdout)
	}
	if got, want := strings.Join(strings.Fields(stderr), " "), "Claude Code does not send 1 result on 1 branch, as if two programs wrote the session: "+command; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	_, stdout, _ = p.doctor(t, "--json")
	var doc struct {
		Stores []struct{ Unsent int }
		Unsent []struct {
			Results, Branches int
			Mixed             bool
			Command           string
		}
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Unsent) != 1 || doc.Stores[0].Unsent != 1 {
		t.Fatalf("%+v", doc)
	}
	if u := doc.Unsent[0]; u.Results != 1 || u.Branches != 1 || !u.Mixed || u.Command != command {
		t.Errorf("%+v", u)
	}
}
