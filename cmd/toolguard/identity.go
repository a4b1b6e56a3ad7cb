package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// identities tell whether a file was met before, in whatever spelling and through
// whatever link.
type identities struct {
	byPath map[string]*target
	named  map[stamp][]namedFile
}

// A stamp is what two names of one file have in common.
type stamp struct {
	size int64
	time time.Time
}

type namedFile struct {
	*target
	info fs.FileInfo
}

// add notes a target, and returns the one that is the same file, nil if there is
// none. Of files that were named, hard links are one file too; info is what is
// known of such a file.
func (x *identities) add(t *target, info fs.FileInfo) *target {
	if t.stdin {
		return nil
	}
	if old := x.byPath[t.real]; old != nil {
		return old
	}
	if x.byPath == nil {
		x.byPath, x.named = map[string]*target{}, map[stamp][]namedFile{}
	}
	x.byPath[t.real] = t
	if info == nil {
		return nil
	}
	key := stamp{info.Size(), info.ModTime()}
	for _, other := range x.named[key] {
		if os.SameFile(info, other.info) {
			return other.target
		}
	}
	x.named[key] = append(x.named[key], namedFile{t, info})
	return nil
}

// realPath returns a path that does not depend on how it is spelled: absolute,
// and behind all links as far as there is something to follow.
func realPath(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return filepath.Clean(name)
	}
	if target, err := filepath.EvalSymlinks(abs); err == nil {
		return target
	}
	if parent := filepath.Dir(abs); parent != abs {
		return filepath.Join(realPath(parent), filepath.Base(abs))
	}
	return abs
}

// identity returns the name by which fingerprints know a file: as seen from the
// working directory if it is in it.
func (t *target) identity() string {
	if t.stdin {
		return t.path
	}
	if rel, err := filepath.Rel(realPath("."), t.real); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(t.real)
}
