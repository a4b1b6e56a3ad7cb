// Package config knows the config file: where it is, what it may contain, and
// which settings apply to a file. It does not know flags, nor what a setting is
// used for.
package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
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

// Names returns the names that a config file may have. If a directory has both,
// the first one applies.
func Names() []string { return []string{"toolguard.toml", ".toolguard.toml"} }

// DefaultBaseline is the name of the baseline that applies if the config file names
// none.
const DefaultBaseline = ".toolguard-baseline"

// A File holds the settings of a config file. A key that the file does not have
// is nil or empty.
type File struct {
	FailOn      string            `toml:"fail-on,omitempty" doc:"exit with 1 for findings of this severity or higher; error by default"`
	Select      []string          `toml:"select,omitempty" doc:"run only these rules or categories"`
	Ignore      []string          `toml:"ignore,omitempty" doc:"do not run these rules or categories"`
	Exclude     []string          `toml:"exclude,omitempty" doc:"globs of files and directories to skip, relative to the directory of this file"`
	Provider    string            `toml:"provider,omitempty" doc:"check as this provider would; toolguard profiles lists them"`
	Placeholder string            `toml:"placeholder,omitempty" doc:"the text of inserted results; {tool} and {id} are replaced"`
	Baseline    string            `toml:"baseline,omitempty" doc:"the file with known findings, which toolguard baseline writes and check reads; .toolguard-baseline beside this file by default"`
	Backup      string            `toml:"backup,omitempty" doc:"the suffix of the originals that fix --write keeps beside their files, or none to keep no originals, like --backup"`
	Rules       map[string]string `toml:"rules,omitempty" doc:"the severities of rules: off, info, warning or error"`
	Strategy    map[string]string `toml:"strategy,omitempty" doc:"how the findings of rules are repaired; toolguard explain RULE lists the choices"`
	PerFile     []PerFile         `toml:"per-file,omitempty" doc:"findings that are not reported in files that match paths: those of the rules in ignore about the calls in ids"`
	Dialect     []map[string]any  `toml:"dialect,omitempty" doc:"formats of your own"`

	// Target is the old name of Provider, which has its value once the file is read.
	Target string `toml:"target,omitempty" doc:"the former name of provider" former:"provider"`

	// Path is the path of the file.
	Path string `toml:"-"`
	// dir is the directory that its globs and paths are relative to.
	dir string
	// dialects are those of the file, followed by the built-in ones.
	dialects *dialect.Set
}

// Dialects returns the dialects of the config file, followed by the built-in ones.
// The file may be nil.
func (f *File) Dialects() *dialect.Set {
	if f == nil {
		return dialect.Builtin()
	}
	return f.dialects
}

// PerFile suppresses findings in some files: those of the rules in Ignore, or of
// all rules if it is empty. If IDs is not empty, it suppresses only findings about
// these calls.
type PerFile struct {
	Paths  []string `toml:"paths,omitempty" doc:"globs of the files, relative to the directory of this file"`
	Ignore []string `toml:"ignore,omitempty" doc:"rules or categories; all, if only ids is set"`
	IDs    []string `toml:"ids,omitempty" doc:"ids of calls; all, if only ignore is set"`
}

// Read reads the config file at name. Its globs and paths are relative to dir, or
// to the file's own directory if dir is empty. Its paths must not lead out of the
// repository that contains this directory.
func Read(name, dir string) (*File, error) {
	text, err := small.File(name, small.Config)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
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
	f.Provider, f.Target = cmp.Or(f.Provider, f.Target), ""
	return f, nil
}

// BaselinePath returns the path of the baseline, and whether the file names it.
// Otherwise it is DefaultBaseline in the directory that paths in the file are relative
// to, which is the current directory if f is nil.
func (f *File) BaselinePath() (path string, named bool) {
	dir, name := "", DefaultBaseline
	if f != nil {
		dir = f.dir
		if f.Baseline != "" {
			name, named = filepath.FromSlash(f.Baseline), true
		}
	}
	if filepath.IsAbs(name) {
		return name, named
	}
	return shortest(filepath.Join(dir, name)), named
}

// Leads returns an error if a file is a link out of the repository that contains its
// directory, or out of the directory if no repository does.
func Leads(name string) error {
	dir, err := filepath.Abs(filepath.Dir(name))
	if err == nil {
		err = within(dir, filepath.Base(name))
	}
	if err != nil {
		return fmt.Errorf("leads to a file that is %w", err)
	}
	return nil
}

// Excludes reports whether a path is excluded.
func (f *File) Excludes(name string) bool {
	return len(f.Exclude) > 0 && Match(f.Exclude, f.dir, name)
}

// An Ignored holds the entries of per-file that apply to a file.
type Ignored []PerFile

// For returns the entries of per-file that apply to the file at name.
func (f *File) For(name string) Ignored {
	var out Ignored
	for _, p := range f.PerFile {
		if Match(p.Paths, f.dir, name) {
			out = append(out, p)
		}
	}
	return out
}

// Has reports whether findings of a rule are suppressed. The id is that of the
// call that the finding is about, "" for none.
func (g Ignored) Has(rule, category, id string) bool {
	for _, p := range g {
		named := len(p.Ignore) == 0 || slices.Contains(p.Ignore, rule) || slices.Contains(p.Ignore, category)
		if named && (len(p.IDs) == 0 || slices.Contains(p.IDs, id)) {
			return true
		}
	}
	return false
}

// Match reports whether one of the globs matches a path or a directory above it,
// relative to dir. A glob without a slash matches a name at any depth. Paths
// outside of dir never match.
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
		if err := Leads(name); err != nil {
			return nil, &Error{Path: shortest(name), Problems: []Problem{{Message: err.Error()}}}
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
