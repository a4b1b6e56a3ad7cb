package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/sample"
)

// TestCheckKnowsWhatBaselineRecords: after baseline, check finds nothing new with the same
// arguments. The trees have config files at random places, and the command runs in a random
// directory.
func TestCheckKnowsWhatBaselineRecords(t *testing.T) {
	trees := uint64(sample.Inputs(150, 15, 10))
	several := uint64(0) // runs that wrote more than one baseline
	for seed := range trees {
		r := rand.New(rand.NewPCG(seed, 1))
		root := t.TempDir()
		dirs, files := randomTree(t, r, root)
		wd := dirs[r.IntN(len(dirs))]
		t.Chdir(wd)

		var args []string
		for range 1 + r.IntN(3) {
			path := dirs[r.IntN(len(dirs))]
			if r.IntN(2) == 0 {
				path = files[r.IntN(len(files))]
			}
			if rel, err := filepath.Rel(wd, path); err == nil && r.IntN(4) > 0 {
				path = rel
			}
			args = append(args, path)
		}
		switch r.IntN(6) {
		case 0:
			args = append(args, "--config", filepath.Join(root, "given.toml"))
		case 1:
			args = append(args, "--baseline", filepath.Join(dirs[r.IntN(len(dirs))], "known"))
		case 2:
			args = append(args, "--isolated", "--baseline", "known")
		}
		call := func(command ...string) (int, string) {
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), append(command, args...), strings.NewReader(""), &stdout, &stderr, noEnv)
			return code, stdout.String() + stderr.String()
		}
		before, _ := call("check", "-q", "-o", "concise", "--allow-empty")
		code, said := call("baseline")
		if code != exitOK {
			t.Fatalf("seed %d: baseline %q in %s: exit code %d\n%s", seed, args, wd, code, said)
		}
		if strings.Count(said, "known finding") > 1 {
			several++
		}
		if code, out := call("check", "-q", "-o", "concise", "--allow-empty"); code != exitOK || out != "" {
			t.Fatalf("seed %d: check %q in %s after %s: exit code %d\n%s", seed, args, wd, said, code, out)
		}
		// There was something to record unless a directory is empty. If a baseline that a config
		// file names does not exist, check fails.
		if found := strings.Contains(said, "known finding"); found != (before != exitOK) {
			t.Fatalf("seed %d: check %q: exit code %d, and baseline said\n%s", seed, args, before, said)
		}
		if code, again := call("baseline", "--prune"); code != exitOK || strings.ReplaceAll(again, " (+0)", "") != said {
			t.Fatalf("seed %d: baseline --prune %q: exit code %d\n%s\nwant\n%s", seed, args, code, again, said)
		}
	}
	if several < trees/15 {
		t.Errorf("%d runs wrote more than one baseline", several)
	}
}

// randomTree makes directories with transcripts, of which each has a finding, and with config
// files. It returns the paths of the directories and of the transcripts.
func randomTree(t *testing.T, r *rand.Rand, root string) (dirs, files []string) {
	t.Helper()
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(root, "given.toml"), []string{"", `baseline = "known"`}[r.IntN(2)])
	dirs = []string{root}
	for i := range 6 {
		dir := filepath.Join(dirs[r.IntN(len(dirs))], fmt.Sprintf("d%d", i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	for i, dir := range dirs {
		if name := filepath.Join(dir, fmt.Sprintf("s%d.jsonl", i)); i == 0 || r.IntN(3) > 0 {
			write(name, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":"x"}]}`+"\n", i))
			files = append(files, name)
		}
		name := filepath.Join(dir, []string{"toolguard.toml", ".toolguard.toml"}[r.IntN(2)])
		switch r.IntN(4) {
		case 0:
			write(name, "")
		case 1:
			write(name, `baseline = "known-here"`)
		}
	}
	return dirs, files
}
