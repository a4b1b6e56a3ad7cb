package config

import (
	"errors"
	"os"
	"path/filepath"
)

// within returns an error if a path relative to dir, with links resolved, leads out
// of the repository that contains dir, or out of dir if no repository does. A
// config file may come from other people, so it must not name files elsewhere.
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
		return errors.New("outside of the repository")
	}
	return errors.New("outside of the directory of this file, which is not in a git repository")
}

// repository returns the nearest directory with a .git that is or contains dir,
// or dir itself if there is none.
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

// resolve resolves the links in a path. Elements that do not exist are kept.
func resolve(name string) string {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		return target
	}
	if parent := filepath.Dir(name); parent != name {
		return filepath.Join(resolve(parent), filepath.Base(name))
	}
	return name
}
