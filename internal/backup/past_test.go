package backup

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// keepRun makes a run that replaces files, by their texts before and after.
func keepRun(t *testing.T, root string, at time.Time, texts map[string][2]string) {
	t.Helper()
	r := NewRun(func() (string, error) { return root, nil }, at)
	for path, text := range texts {
		if err := os.WriteFile(path, []byte(text[0]), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		k, err := r.Keep(t.Context(), path, info, []string{"rule"}, strings.NewReader(text[0]))
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Record(int64(len(text[1])), sha256.Sum256([]byte(text[1]))); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text[1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	root, dir := filepath.Join(t.TempDir(), "backups"), t.TempDir()
	if runs, err := Runs(root); err != nil || len(runs) != 0 {
		t.Errorf("without a directory: %v, %v", runs, err)
	}
	path := filepath.Join(dir, "a")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for range 11 {
		keepRun(t, root, at, map[string][2]string{path: {"old", "newer"}})
	}
	keepRun(t, root, at.Add(-time.Hour), map[string][2]string{path: {"old", "newer"}})
	for name, text := range map[string]string{
		"empty/x": "",
		"torn/" + Manifest: `{"version":1,"path":"relative","copy":"c"}
{"version":1,"path":"/a","copy":"../c"}
{"version":1,"path":"/a","copy":"manifest.jsonl"}
{"version":1,"path":"/a"`,
	} {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := Runs(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range runs {
		names = append(names, p.Name)
		if p.Torn != (p.Name == "torn") || len(p.Entries) != 1 && !p.Torn || len(p.Entries) != 0 && p.Torn {
			t.Errorf("%+v", p)
		}
	}
	const want = "20260102T030405Z-11 20260102T030405Z-10 20260102T030405Z-9 20260102T030405Z-8 20260102T030405Z-7 20260102T030405Z-6 20260102T030405Z-5 20260102T030405Z-4 20260102T030405Z-3 20260102T030405Z-2 20260102T030405Z 20260102T020405Z torn"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("runs: %s", got)
	}
	if !runs[0].Started.Equal(at) || runs[0].CopyOf(&runs[0].Entries[0]) != filepath.Join(root, runs[0].Name, "0001-a") {
		t.Errorf("%+v", runs[0])
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	root, dir := t.TempDir(), t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	keepRun(t, root, at, map[string][2]string{path("a"): {"first", "second"}})
	keepRun(t, root, at.Add(time.Hour), map[string][2]string{path("a"): {"second", "third"}})
	for text, want := range map[string][2]State{
		"third":  {Repaired, Changed},
		"second": {Original, Repaired},
		"first":  {Original, Original}, // restored further than the later run
		"thirds": {Changed, Changed},
		"THIRD":  {Changed, Changed},
		"":       {Changed, Changed},
	} {
		if err := os.WriteFile(path("a"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		runs, err := Runs(root)
		if err != nil || len(runs) != 2 {
			t.Fatal(len(runs), err)
		}
		if got := [2]State{States(runs, 0)[0], States(runs, 1)[0]}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		wrote := text == "second" || text == "third"
		if Wrote(root, path("a"), strings.NewReader(text)) != wrote || Wrote(root, path("b"), strings.NewReader(text)) {
			t.Errorf("%q: a run wrote it: %v", text, !wrote)
		}
	}
	if err := os.Remove(path("a")); err != nil {
		t.Fatal(err)
	}
	runs, err := Runs(root)
	if err != nil || runs[0].Entries[0].State() != Gone {
		t.Errorf("without the file: %v, %v", runs[0].Entries[0].State(), err)
	}
	if err := os.Mkdir(path("a"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := runs[0].Entries[0].State(); got != Changed {
		t.Errorf("a directory: %v", got)
	}
}

// TestOldNames: a manifest of an older version has a name that is not UTF-8 as a text, and the copy
// is called like its file.
func TestOldNames(t *testing.T) {
	t.Parallel()
	root, dir := t.TempDir(), "/sessions/\xe9"
	for _, tt := range []struct{ base, copied, want string }{
		{"\xff\xfe.jsonl", "0001-\ufffd\ufffd.jsonl", "0001-\xff\xfe.jsonl"},                                                  // before
		{"\xff\xfe.jsonl", "0001-_.jsonl", "0001-_.jsonl"},                                                                    // now
		{"a-b.jsonl", "0001-a-b.jsonl", "0001-a-b.jsonl"},                                                                     // UTF-8 below a directory that is not
		{"\ufffd.jsonl", "0001-\ufffd.jsonl", "0001-\ufffd.jsonl"},                                                            // UTF-8
		{"\xff" + strings.Repeat("n", 250), "0001-\ufffd" + strings.Repeat("n", 199), "0001-\xff" + strings.Repeat("n", 199)}, // before, shortened
	} {
		path := filepath.Join(dir, tt.base)
		line, err := json.Marshal(Entry{Version: 1, Path: path, RawPath: []byte(path), Copy: tt.copied})
		if err != nil {
			t.Fatal(err)
		}
		run := filepath.Join(root, "20260102T030405Z")
		if err := errors.Join(os.MkdirAll(run, 0o700), os.WriteFile(filepath.Join(run, Manifest), line, 0o600)); err != nil {
			t.Fatal(err)
		}
		if got := Copies(root, path); len(got) != 1 || got[0] != filepath.Join(run, tt.want) {
			t.Errorf("%q: %q, want %q", tt.base, got, tt.want)
		}
	}
}
