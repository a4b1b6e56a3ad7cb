package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/config"
	"github.com/toolguard/toolguard/internal/small"
	"github.com/toolguard/toolguard/internal/source"
)

// stdinName names standard input in reports.
const stdinName = "<stdin>"

// A target is a file to be read.
type target struct {
	path  string // as reports name it
	real  string // absolute, behind all links; "" for standard input
	most  int64  // how large it may become when it is unpacked, 0 for the usual limits
	stdin bool
	// named is set for a file that was named itself. Others were met in a walk,
	// and are read only if they are transcripts.
	named  bool
	size   int64
	roots  []int        // the directories in whose walk it was met
	config *config.File // nil for none
}

// targets are the files of a run, in the order of their paths.
type targets struct {
	files    []*target
	roots    []string // the directories that were walked
	excluded []string // what was met and left out
	unread   []unreadDir
}

// An unreadDir is a directory that could not be walked.
type unreadDir struct {
	path string
	err  error
}

// fileFlags say which files are looked at, and by which config file.
type fileFlags struct {
	configFlags

	stdinName    string
	exclude      []string
	forceExclude bool
	maxSize      byteSize
}

// define adds the flags to a command.
func (f *fileFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.stdinName, "stdin-filename", stdinName, "the `name` of standard input in reports")
	f.configFlags.define(cmd)
	flags.StringArrayVar(&f.exclude, "exclude", nil, "leave out paths that match this `glob`; repeatable")
	flags.Var(&f.maxSize, "max-size", "unpack compressed files up to this `size`, such as 500MiB (default: 4GiB, and 200 times the size of the file)")
	flags.BoolVar(&f.forceExclude, "force-exclude", false, "leave out files that match although they are named")
}

// configFlags say which config file holds.
type configFlags struct {
	config   string
	isolated bool
}

// define adds the flags to a command.
func (f *configFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", "use this config `file` for all files (default: the nearest toolguard.toml upward from each)")
	flags.BoolVar(&f.isolated, "isolated", false, "use no config file")
	cmd.MarkFlagsMutuallyExclusive("config", "isolated")
	complete(cmd, "config", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"toml"}, cobra.ShellCompDirectiveFilterFileExt
	})
}

// file returns the config file that holds for the current directory, nil for
// none.
func (f *configFlags) file() (*config.File, error) {
	switch {
	case f.isolated:
		return nil, nil
	case f.config != "":
		return config.Read(f.config, "")
	}
	return new(config.Finder).Find(".")
}

// completeDialects completes the name of a dialect.
func completeDialects(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	f := configFlags{}
	f.config, _ = cmd.Flags().GetString("config")
	f.isolated, _ = cmd.Flags().GetBool("isolated")
	file, _ := f.file() // what is wrong with it is told when it is used
	return file.Dialects().Names(), cobra.ShellCompDirectiveNoFileComp
}

// A search looks up what paths stand for.
type search struct {
	fileFlags
	finder config.Finder
	given  *config.File // by --config
	dir    string       // where the globs of --exclude start from
}

// newSearch settles what the flags ask for.
func newSearch(f *fileFlags) (*search, error) {
	for _, glob := range f.exclude {
		if err := config.CheckGlob(glob); err != nil {
			return nil, fmt.Errorf("--exclude: %w", err)
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	s := &search{fileFlags: *f, dir: dir}
	if f.config != "" {
		// What it says is about files here, wherever it lies itself.
		s.given, err = config.Read(f.config, dir)
	}
	return s, err
}

// configOf returns the config file that holds for the files of a directory.
func (s *search) configOf(dir string) (*config.File, error) {
	if s.isolated || s.given != nil {
		return s.given, nil
	}
	return s.finder.Find(dir)
}

// eachConfig calls f with the config file of each target, nil for none; where
// there are no targets, with that of the current directory.
func eachConfig(s *search, ts *targets, f func(*config.File) error) error {
	if len(ts.files) == 0 {
		file, err := s.configOf(".")
		return cmp.Or(err, f(file))
	}
	for _, t := range ts.files {
		if err := f(t.config); err != nil {
			return err
		}
	}
	return nil
}

// excludes reports whether a path is left out.
func (s *search) excludes(file *config.File, path string) bool {
	return file != nil && file.Excludes(path) || len(s.exclude) > 0 && config.Match(s.exclude, s.dir, path)
}

// find looks up what paths stand for. A path that cannot be looked at is a
// target nevertheless: reading it says why.
func (s *search) find(paths []string) (*targets, error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	ts := &targets{}
	seen := identities{}
	add := func(t *target, info fs.FileInfo) {
		t.most = int64(s.maxSize)
		if old := seen.add(t, info); old != nil {
			old.named = old.named || t.named
			old.roots = append(old.roots, t.roots...)
			return
		}
		ts.files = append(ts.files, t)
	}
	hasStdin := false
	for _, path := range paths {
		t := &target{path: filepath.Clean(path), named: true}
		switch path {
		case "":
			return nil, errors.New(`want a path, not ""`)
		case "-":
			if hasStdin {
				continue
			}
			hasStdin, t.path, t.stdin = true, s.stdinName, true
		}
		var err error
		if t.config, err = s.configOf(filepath.Dir(t.path)); err != nil {
			return nil, err
		}
		if s.forceExclude && s.excludes(t.config, t.path) {
			ts.excluded = append(ts.excluded, t.path)
			continue
		}
		var info fs.FileInfo
		if !t.stdin {
			t.real = realPath(t.path)
			info, err = os.Stat(t.path)
			if err == nil && info.IsDir() {
				root := len(ts.roots)
				ts.roots = append(ts.roots, t.path)
				from, to := t.path, t.real
				err := s.walk(ts, from, func(t *target) {
					t.roots = []int{root}
					// A walk follows no links.
					if rel, err := filepath.Rel(from, t.path); err == nil {
						t.real = filepath.Join(to, rel)
					}
					add(t, nil)
				})
				if err != nil {
					return nil, err
				}
				continue
			}
			if err == nil {
				t.size = info.Size()
			}
		}
		add(t, info)
	}
	slices.SortStableFunc(ts.files, func(a, b *target) int { return cmp.Compare(a.path, b.path) })
	return ts, nil
}

// walk looks for files in a directory whose names are those of transcripts. It
// follows no links, and leaves out directories that hold other things. Its
// error is that of a config file.
func (s *search) walk(ts *targets, dir string, found func(*target)) error {
	file, err := s.configOf(dir)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		ts.unread = append(ts.unread, unreadDir{dir, pathError(dir, err)})
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			// .git, .hg and .svn are hidden as well.
			if strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" {
				continue
			}
			if s.excludes(file, path) {
				ts.excluded = append(ts.excluded, path)
				continue
			}
			if err := s.walk(ts, path, found); err != nil {
				return err
			}
		case e.Type().IsRegular() && walked(e.Name()):
			if s.excludes(file, path) {
				ts.excluded = append(ts.excluded, path)
				continue
			}
			t := &target{path: path, config: file}
			if info, err := e.Info(); err == nil {
				t.size = info.Size()
			}
			found(t)
		}
	}
	return nil
}

// walked reports whether a file of that name is looked at in a walk.
func walked(name string) bool {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	switch filepath.Ext(name) {
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

// open opens a target as a source, of which a large one is read ahead if more than one
// job may be done at a time. The caller closes it.
func (a *app) open(ctx context.Context, t *target, jobs int) (src *source.Source, err error) {
	a.beforeFiles()
	if t.stdin {
		src, err = source.Spool(ctx, t.path, a.stdin, t.most)
	} else {
		src, err = source.Open(ctx, t.path, t.most)
	}
	if err == nil && jobs > 1 {
		src.SetAhead(source.LeastAhead)
	}
	return src, err
}

// sidecar is how the file is called in which an agent counts the lines of a
// transcript.
const sidecar = ".meta.json"

// counted says why a transcript is not to be repaired beside which its agent
// counts its messages; "" where there is no such file.
func counted(t *target) string {
	stem, lines := strings.CutSuffix(t.path, ".jsonl")
	if t.stdin || !lines {
		return ""
	}
	text, err := small.File(stem+sidecar, small.Sidecar)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	name := filepath.Base(stem) + sidecar
	if err != nil { // it may count them for all that anybody knows
		return pathError(name, err).Error()
	}
	if !json.Valid(text) {
		return ""
	}
	v := source.NewValue(text, 0)
	if v.Get("skip").Kind() != source.Number && v.Get("count").Kind() != source.Number {
		return ""
	}
	return name + " counts its messages"
}
