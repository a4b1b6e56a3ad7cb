// Package config knows the config file: where it is found, what may stand in
// it, and which of it holds for a file. It does not know flags, nor what a
// setting is used for.
package config

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/pelletier/go-toml/v2"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/small"
)

// Names returns the names a config file may have. In one directory the first
// wins.
func Names() []string { return []string{"toolguard.toml", ".toolguard.toml"} }

// A File is what a config file says. Its fields are the keys of the file; what
// does not stand in it is nil or empty.
type File struct {
	FailOn      string            `toml:"fail-on,omitempty" doc:"the least severity that makes the exit code 1"`
	Select      []string          `toml:"select,omitempty" doc:"run only these rules or categories"`
	Ignore      []string          `toml:"ignore,omitempty" doc:"do not run these rules or categories"`
	Exclude     []string          `toml:"exclude,omitempty" doc:"leave out paths that match these globs, as seen from the directory of this file"`
	Target      string            `toml:"target,omitempty" doc:"check as the provider of this profile would"`
	Placeholder string            `toml:"placeholder,omitempty" doc:"the text of inserted results; {tool} and {id} are filled in"`
	Baseline    string            `toml:"baseline,omitempty" doc:"a file with known findings, which are not reported, as seen from the directory of this file"`
	Backup      string            `toml:"backup,omitempty" doc:"the suffix under which fix --write keeps originals beside their files, or none"`
	Rules       map[string]string `toml:"rules,omitempty" doc:"how much a rule matters"`
	Strategy    map[string]string `toml:"strategy,omitempty" doc:"how what a rule finds is repaired"`
	PerFile     []PerFile         `toml:"per-file,omitempty" doc:"findings that are not reported in some files"`
	Dialect     []map[string]any  `toml:"dialect,omitempty" doc:"formats of your own, in the terms of the built-in ones"`

	// Path is where the file was read.
	Path string `toml:"-"`
	// dir is the directory that its globs and paths start from.
	dir string
	// dialects are those of the file, and behind them the built-in ones.
	dialects *dialect.Set
}

// Dialects returns those that files may be written in: the built-in ones, and
// before them those that the config file describes. The file may be nil.
func (f *File) Dialects() *dialect.Set {
	if f == nil {
		return dialect.Builtin()
	}
	return f.dialects
}

// PerFile takes findings out of the report of some files: those of the rules
// in Ignore, or of all rules if it is empty, and only those of the calls in IDs
// if there are any.
type PerFile struct {
	Paths  []string `toml:"paths,omitempty" doc:"globs of the files, as seen from the directory of this file"`
	Ignore []string `toml:"ignore,omitempty" doc:"rules or categories; all, if there are none but ids"`
	IDs    []string `toml:"ids,omitempty" doc:"ids of calls; all, if there are none but rules"`
}

// Read reads the config file at name. What its globs and paths start from is
// dir, or the file's own directory if that is empty. Its paths must not lead out
// of the repository that this directory belongs to.
func Read(name, dir string) (*File, error) {
	text, err := small.File(name, small.Config)
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("no such file or directory")
		}
		return nil, &Error{Path: name, Problems: []Problem{{Message: err.Error()}}}
	}
	f := &File{Path: name, dir: dir}
	if f.dir == "" {
		f.dir = filepath.Dir(name)
	}
	if f.dir, err = filepath.Abs(f.dir); err != nil {
		return nil, err
	}
	dec := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	if problems := problems(text, dec.Decode(f)); len(problems) > 0 {
		return nil, &Error{Path: name, Problems: problems}
	}
	own, wrong := rows(text)
	if problems := append(invalid(text, f.dir), wrong...); len(problems) > 0 {
		sort.SliceStable(problems, func(i, j int) bool {
			a, b := &problems[i], &problems[j]
			return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
		})
		return nil, &Error{Path: name, Problems: problems}
	}
	f.dialects = dialect.Builtin().With(own...)
	return f, nil
}

// BaselinePath returns where the baseline is, "" if there is none.
func (f *File) BaselinePath() string {
	if f.Baseline == "" || filepath.IsAbs(f.Baseline) {
		return f.Baseline
	}
	return shortest(filepath.Join(f.dir, filepath.FromSlash(f.Baseline)))
}

// Excludes reports whether a path is left out.
func (f *File) Excludes(name string) bool {
	return len(f.Exclude) > 0 && Match(f.Exclude, f.dir, name)
}

// An Ignored says which findings of a file are not reported.
type Ignored []PerFile

// For returns what holds for the file at name.
func (f *File) For(name string) Ignored {
	var out Ignored
	for _, p := range f.PerFile {
		if Match(p.Paths, f.dir, name) {
			out = append(out, p)
		}
	}
	return out
}

// Has reports whether a finding of a rule is not reported. The id is that of
// the call it is about, "" for none.
func (g Ignored) Has(rule, category, id string) bool {
	for _, p := range g {
		named := len(p.Ignore) == 0 || slices.Contains(p.Ignore, rule) || slices.Contains(p.Ignore, category)
		if named && (len(p.IDs) == 0 || slices.Contains(p.IDs, id)) {
			return true
		}
	}
	return false
}

// Match reports whether one of the globs matches a path or a directory above
// it, seen from dir. A glob without a slash matches a name at any depth.
// Nothing outside of dir is matched.
func Match(globs []string, dir, name string) bool {
	abs, err := filepath.Abs(name)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	for rel = filepath.ToSlash(rel); rel != "."; rel = path.Dir(rel) {
		for _, glob := range globs {
			glob = strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
			against := rel
			if !strings.Contains(glob, "/") {
				against = path.Base(rel)
			}
			if doublestar.MatchUnvalidated(glob, against) {
				return true
			}
		}
	}
	return false
}

// A Finder finds the config files that hold for directories, and reads each
// once. It is not safe for concurrent use.
type Finder struct {
	byDir map[string]*File
}

// Find returns the config file nearest to a directory, upward from it; nil if
// there is none.
func (f *Finder) Find(dir string) (*File, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if file, known := f.byDir[dir]; known {
		return file, nil
	}
	file, err := here(dir)
	if parent := filepath.Dir(dir); file == nil && err == nil && parent != dir {
		file, err = f.Find(parent)
	}
	if err != nil {
		return nil, err
	}
	if f.byDir == nil {
		f.byDir = map[string]*File{}
	}
	f.byDir[dir] = file
	return file, nil
}

// here reads the config file in a directory, if there is one.
func here(dir string) (*File, error) {
	for _, name := range Names() {
		name = filepath.Join(dir, name)
		if _, err := os.Lstat(name); err != nil {
			continue
		}
		// Whoever can put a link here could have any file read and quoted.
		if err := within(dir, name); err != nil {
			return nil, &Error{Path: shortest(name), Problems: []Problem{{Message: "leads to a file that is " + err.Error()}}}
		}
		return Read(shortest(name), "")
	}
	return nil, nil
}

// shortest returns a path as it looks from the working directory, if that is
// shorter.
func shortest(name string) string {
	wd, err := os.Getwd()
	if err != nil {
		return name
	}
	if rel, err := filepath.Rel(wd, name); err == nil && len(rel) < len(name) {
		return rel
	}
	return name
}
