package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/transcript"
)

// stdinName names standard input in reports.
const stdinName = "<stdin>"

// A target is a file to be read.
type target struct {
	path  string // as reports name it
	stdin bool
	// named is set for a file that was named itself. Others were met in a walk,
	// and are read only if they are transcripts.
	named bool
	size  int64
	roots []int // the directories in whose walk it was met
}

// targets are the files of a run, in the order of their paths.
type targets struct {
	files []*target
	roots []string // the directories that were walked
	errs  []error
}

// findTargets looks up what paths stand for. A path that cannot be looked at is
// a target nevertheless: reading it says why.
func findTargets(paths []string, stdin string) *targets {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	ts := &targets{}
	byPath := map[string]*target{}
	add := func(t *target) {
		if old := byPath[t.path]; old != nil && !old.stdin && !t.stdin {
			old.named = old.named || t.named
			old.roots = append(old.roots, t.roots...)
			return
		}
		byPath[t.path] = t
		ts.files = append(ts.files, t)
	}
	hasStdin := false
	for _, path := range paths {
		if path == "-" {
			if !hasStdin {
				hasStdin = true
				add(&target{path: stdin, stdin: true, named: true})
			}
			continue
		}
		if path != "" {
			path = filepath.Clean(path)
		}
		info, err := os.Stat(path)
		if err == nil && info.IsDir() {
			root := len(ts.roots)
			ts.roots = append(ts.roots, path)
			ts.walk(path, func(path string, size int64) {
				add(&target{path: path, size: size, roots: []int{root}})
			})
			continue
		}
		t := &target{path: path, named: true}
		if err == nil {
			t.size = info.Size()
		}
		add(t)
	}
	slices.SortStableFunc(ts.files, func(a, b *target) int { return cmp.Compare(a.path, b.path) })
	return ts
}

// walk looks for files in a directory whose names are those of transcripts. It
// follows no links, and leaves out directories that hold other things.
func (ts *targets) walk(dir string, found func(path string, size int64)) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		ts.errs = append(ts.errs, pathError(dir, err))
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			// .git, .hg and .svn are hidden as well.
			if !strings.HasPrefix(e.Name(), ".") && e.Name() != "node_modules" {
				ts.walk(path, found)
			}
		case e.Type().IsRegular() && walked(e.Name()):
			size := int64(0)
			if info, err := e.Info(); err == nil {
				size = info.Size()
			}
			found(path, size)
		}
	}
}

// walked reports whether a file of that name is looked at in a walk.
func walked(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson", ".json":
		return true
	}
	return false
}

// pathError puts the path first and leaves out the system call. What goes wrong
// most has the same text on all systems.
func pathError(path string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New(path + ": no such file or directory")
	case errors.Is(err, fs.ErrPermission):
		return errors.New(path + ": permission denied")
	}
	return fmt.Errorf("%s: %w", path, err)
}

// open opens a target as a source. The caller closes it.
func (a *app) open(t *target) (*transcript.Source, error) {
	if t.stdin {
		return transcript.Spool(t.path, a.stdin)
	}
	return transcript.Open(t.path)
}
