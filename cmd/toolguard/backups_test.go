package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/backup"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/store"
)

// TestStoresPage checks that docs/fix.md names all agents whose sessions are backed
// up in the state directory.
func TestStoresPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "fix.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, known, found := strings.Cut(string(page), "Known places are those of")
	if known, _, _ = strings.Cut(known, "with the"); !found {
		t.Fatal("docs/fix.md does not say which places are known")
	}
	known = strings.Join(strings.Fields(known), " ")
	for _, s := range store.All() {
		if len(s.Roots) > 0 && !strings.Contains(known, s.Agent) {
			t.Errorf("docs/fix.md does not name %s", s.Agent)
		}
	}
}

// longSession returns a session with a number of turns, before and after the
// repair.
func longSession(t *testing.T, turns int) (text, repaired string) {
	t.Helper()
	text = cut[:len(cut)-1] + strings.Repeat(`
{"role":"assistant","content":"`+strings.Repeat("so ", 300)+`"}
{"role":"user","content":"on"}`, turns) + "\n"
	_, repaired, _ = runCommand(t, strings.NewReader(text), "fix", "-")
	if repaired == "" || repaired == text {
		t.Fatal("there is nothing to repair")
	}
	return text, repaired
}

// TestKilledAtRandom kills the command at random moments while it repairs sessions
// in a store. Then each session is either the original or repaired, each repaired
// one has a backup in a manifest, and the next run repairs the rest and leaves no
// other files.
func TestKilledAtRandom(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts many processes")
	}
	kills, late := sample.Size(500, 5, 5), sample.Until(t)
	const files = 8
	text, repaired := longSession(t, sample.Size(100, 50, 50))
	var span time.Duration // the duration of a complete run
	originals, done := 0, 0
	for i := range kills + 1 {
		if i > 12 && late() {
			t.Logf("stopped after %d of %d kills", i-1, kills)
			break
		}
		home := t.TempDir()
		sessions := filepath.Join(home, ".claude", "projects", "-srv")
		for j := range files {
			fixture(t, sessions, fmt.Sprintf("%d.jsonl", j), []byte(text))
		}
		fix := func() *exec.Cmd {
			cmd := exec.Command("toolguard", "fix", "--write", "-q", sessions)
			cmd.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"), "GORACE=atexit_sleep_ms=0")
			return cmd
		}
		cmd := fix()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if i > 0 {
			// Most kills hit the run while it only reads. The first run may have taken longer
			// than the others.
			wait := span/4 + rand.N(span)
			if i > 1 && originals == 0 {
				wait = rand.N(span / 4)
			}
			time.Sleep(wait)
			_ = cmd.Process.Kill()
		}
		if cmd.Wait() == nil {
			span = time.Since(began)
		}
		kept := manifests(t, filepath.Join(home, "state"))
		var copies []os.FileInfo
		entries, err := os.ReadDir(sessions)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			path := filepath.Join(sessions, e.Name())
			if strings.HasPrefix(e.Name(), ".") {
				left, err := os.Stat(path)
				if err != nil {
					t.Fatal(err)
				}
				// A killed run may leave one file with two names.
				if !slices.ContainsFunc(copies, func(other os.FileInfo) bool { return os.SameFile(left, other) }) {
					copies = append(copies, left)
				}
				continue
			}
			got, err := os.ReadFile(path)
			switch {
			case err != nil:
				t.Fatal(err)
			case string(got) == text:
				originals++
			case string(got) == repaired:
				done++
				if entry := kept[path]; entry.Before != content(text) || entry.After != content(repaired) {
					t.Errorf("kill %d: the manifest has %+v for %s", i, entry, e.Name())
				}
			default:
				t.Fatalf("kill %d: %s is neither as it was nor repaired", i, e.Name())
			}
		}
		if len(copies) > 1 {
			t.Errorf("kill %d: it left %v", i, entries)
		}
		if out, err := fix().CombinedOutput(); err != nil {
			t.Fatalf("kill %d: the next run: %v\n%s", i, err, out)
		}
		for j := range files {
			if got, err := os.ReadFile(filepath.Join(sessions, fmt.Sprintf("%d.jsonl", j))); err != nil || string(got) != repaired {
				t.Errorf("kill %d: %d.jsonl is not repaired by the next run: %v", i, j, err)
			}
		}
		if entries, err := os.ReadDir(sessions); err != nil || len(entries) != files {
			t.Errorf("kill %d: the next run left %v, %v", i, entries, err)
		}
	}
	t.Logf("%d kills: %d originals, %d repaired files", kills, originals, done)
	if originals == 0 || done <= files {
		t.Error("all kills came too early or too late")
	}
}

// content returns the entry of a manifest for a text.
func content(text string) backup.Content {
	return backup.Content{Bytes: int64(len(text)), SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}
}

// manifests reads the manifests in a state directory, by the path of the files,
// and checks that the copies match them.
func manifests(t *testing.T, state string) map[string]backup.Entry {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(state, "toolguard", "backups", "*", backup.Manifest))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]backup.Entry{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var e backup.Entry
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatalf("%s: %v: %s", name, err, line)
			}
			original, err := os.ReadFile(filepath.Join(filepath.Dir(name), e.Copy))
			if err != nil || content(string(original)) != e.Before {
				t.Errorf("%s: %v, %+v", e.Copy, err, e)
			}
			out[e.Path] = e
		}
	}
	return out
}
