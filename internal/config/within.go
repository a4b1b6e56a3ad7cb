package config

import (
	"errors"
	"os"
	"path/filepath"
)

// within returns an error if a path, as seen from a directory, leads out of the
// repository that the directory belongs to, or out of the directory where it
// belongs to none. A config file comes with the files of other people, so it
// says nothing about files elsewhere. Links are followed.
func within(dir, name string) error {
	name = filepath.FromSlash(name)
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	root, known := repository(resolve(dir))
	if rel, err := filepath.Rel(root, resolve(name)); err == nil && filepath.IsLocal(rel) {
		return nil
	}
	if known {
		return errors.New("outside of this repository")
	}
	return errors.New("outside of the directory of this file (there is no .git upward from it)")
}

// repository returns the nearest directory with a .git upward from a directory;
// the directory itself where there is none.
func repository(dir string) (root string, known bool) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, true
		}
		if at == filepath.Dir(at) {
			return dir, false
		}
	}
}

// resolve follows the links in a path, as far as there is something to follow.
func resolve(name string) string {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		return target
	}
	if parent := filepath.Dir(name); parent != name {
		return filepath.Join(resolve(parent), filepath.Base(name))
	}
	return name
}
