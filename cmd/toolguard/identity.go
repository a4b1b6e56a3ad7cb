package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// identities finds paths that lead to the same file, by another spelling or
// through links.
type identities struct {
	byPath map[string]*target
	named  map[stamp][]namedFile
}

// A stamp holds what hard links to one file have in common.
type stamp struct {
	size int64
	time time.Time
}

type namedFile struct {
	*target
	info fs.FileInfo
}

// add adds a target. If an earlier target is the same file, add returns that one.
// Hard links are compared only among files that the user named, for which info
// is not nil.
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

// realPath returns the absolute path of a file with all links resolved. Elements
// that do not exist are kept as they are.
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

// identity returns the path of a file for fingerprints: relative to the working
// directory if the file is below it, absolute otherwise.
func (t *target) identity() string {
	if t.stdin {
		return t.path
	}
	if rel, err := filepath.Rel(realPath("."), t.real); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(t.real)
}
