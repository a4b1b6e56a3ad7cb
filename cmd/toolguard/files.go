package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/config"
	"github.com/toolguard/toolguard/internal/ignore"
	"github.com/toolguard/toolguard/internal/quantity"
	"github.com/toolguard/toolguard/internal/small"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/write"
	"github.com/toolguard/toolguard/internal/yamldoc"
)

// stdinName names standard input in reports.
const stdinName = "<stdin>"

// gitignoreName is how a file is called that hides others in a walk.
const gitignoreName = ".gitignore"

// A target is a file to be read.
type target struct {
	path  string // as reports name it
	real  string // absolute, without links; "" for standard input
	most  int64  // the largest unpacked size, 0 for the default limits
	stdin bool
	// named is set for a file that the user named. The others were found in a
	// directory, and are skipped unless they are transcripts.
	named  bool
	size   int64
	roots  []int        // the walked directories that contain it
	config *config.File // nil for none
}

// targets are the files of a run, in the order of their paths.
type targets struct {
	files    []*target
	roots    []string          // the directories that the user named
	unseen   map[int]bool      // by root: a hidden directory in it was skipped
	dirs     []string          // they, and the directories in them
	walked   []*config.File    // the config files of these
	excluded []string          // what was found and excluded
	ignored  map[string]string // files and directories that a .gitignore hides, by their real paths, unless they are named too
	unread   []unread
}

// An unread path is a directory that could not be walked, or a .gitignore in it
// that could not be read.
type unread struct {
	path string
	err  error
}

// fileFlags say which files are checked, and which config file applies.
type fileFlags struct {
	configFlags

	stdinName    string
	exclude      []string
	forceExclude bool
	noGitignore  bool
	maxSize      quantity.Bytes
}

// define adds the flags to a command.
func (f *fileFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.stdinName, "stdin-filename", stdinName, "use this `name` for standard input in reports")
	f.configFlags.define(cmd)
	flags.StringArrayVar(&f.exclude, "exclude", nil, "skip paths that match this `glob`; repeatable")
	flags.BoolVar(&f.noGitignore, "no-gitignore", false, "read files that a .gitignore in a named directory hides")
	flags.Var(&f.maxSize, "max-size", "unpack compressed files up to this `size`, such as 500MiB (default: 4GiB, but at most 200 times the size of the file)")
	flags.BoolVar(&f.forceExclude, "force-exclude", false, "skip excluded files even if they are named")
}

// configFlags say which config file applies.
type configFlags struct {
	config   string
	isolated bool
}

// define adds the flags to a command.
func (f *configFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", "use this config `file` for all files (default: the nearest toolguard.toml in the directory of each file or above it)")
	flags.BoolVar(&f.isolated, "isolated", false, "ignore all config files and default baselines")
	exclusive(cmd, "config", "isolated")
	complete(cmd, "config", completeConfig)
}

// completeConfig completes the name of a config file.
func completeConfig(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"toml"}, cobra.ShellCompDirectiveFilterFileExt
}

// file returns the config file that applies to the current directory, nil for
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
	file, _ := f.file() // running the command reports the error
	return file.Dialects().Names(), cobra.ShellCompDirectiveNoFileComp
}

// A search finds the files that paths name.
type search struct {
	fileFlags
	finder config.Finder
	given  *config.File // by --config
	dir    string       // the directory that globs of --exclude are relative to
	// everywhere includes hidden directories and node_modules, which an agent may name like a
	// project.
	everywhere bool
}

// newSearch validates the flags and returns the search that they ask for.
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
		// Its globs are relative to the current directory, wherever the file is.
		s.given, err = config.Read(f.config, dir)
	}
	return s, err
}

// configOf returns the config file that applies to the files of a directory.
func (s *search) configOf(dir string) (*config.File, error) {
	if s.isolated || s.given != nil {
		return s.given, nil
	}
	return s.finder.Find(dir)
}

// eachConfig calls f with the config file of each target, nil for none. Without
// targets it calls f with the config file of the current directory.
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

// excludes reports whether a path is excluded.
func (s *search) excludes(file *config.File, path string) bool {
	return file != nil && file.Excludes(path) || len(s.exclude) > 0 && config.Match(s.exclude, s.dir, path)
}

// find returns the files that paths name. A path that cannot be examined is a
// target too, so that reading it reports the error.
func (s *search) find(paths []string) (*targets, error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	ts := &targets{ignored: map[string]string{}, unseen: map[int]bool{}}
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
			return nil, errors.New(`expected a path, got ""`)
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
				err := s.walk(ts, folder{t.path, t.real, "", nil}, func(t *target) {
					t.roots = []int{root}
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
	sort.SliceStable(ts.files, func(i, j int) bool { return ts.files[i].path < ts.files[j].path })
	for _, t := range ts.files {
		delete(ts.ignored, t.real)
	}
	for i, root := range ts.roots {
		root = realPath(root)
		delete(ts.ignored, root)
		for _, t := range ts.files {
			// The walk does not find a named file that a .gitignore hides.
			if rel, err := filepath.Rel(root, t.real); t.named && !t.stdin && err == nil && filepath.IsLocal(rel) {
				t.roots = append(t.roots, i)
			}
		}
	}
	return ts, nil
}

// A folder is a directory in a walk.
type folder struct {
	path   string       // its name in reports
	real   string       // absolute, with all links resolved
	place  string       // below the root of the walk, with slashes; "" for the root
	hidden *ignore.List // what the .gitignore files from the root to above it hide
}

// walk calls found for each file below a directory that has the extension of a
// transcript. It follows no links and skips hidden directories and
// node_modules. It returns an error only for an invalid config file.
func (s *search) walk(ts *targets, in folder, found func(*target)) error {
	dir := in.path
	file, err := s.configOf(dir)
	if err != nil {
		return err
	}
	ts.dirs = append(ts.dirs, dir)
	if !slices.Contains(ts.walked, file) {
		ts.walked = append(ts.walked, file)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		ts.unread = append(ts.unread, unread{dir, pathError(dir, err)})
	}
	isIgnore := func(e fs.DirEntry) bool { return e.Name() == gitignoreName && e.Type().IsRegular() }
	if !s.noGitignore && slices.ContainsFunc(entries, isIgnore) {
		name := filepath.Join(dir, gitignoreName)
		text, err := small.File(name, small.Gitignore)
		if err != nil {
			// Any file below may be one that git ignores.
			err = fmt.Errorf("%w; skipped the directory (--no-gitignore reads it)", pathError(name, err))
			ts.unread = append(ts.unread, unread{name, err})
			return nil
		}
		in.hidden = in.hidden.With(in.place, text)
	}
	for _, e := range entries {
		aside := strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules"
		if s.everywhere {
			aside = slices.Contains(versions, e.Name())
		}
		if e.IsDir() && strings.HasPrefix(e.Name(), ".") && !slices.Contains(versions, e.Name()) {
			ts.unseen[len(ts.roots)-1] = true
		}
		// .git, .hg and .svn are hidden as well.
		if e.IsDir() && aside ||
			!e.IsDir() && !(e.Type().IsRegular() && walked(e.Name())) {
			continue
		}
		path, actual := filepath.Join(dir, e.Name()), filepath.Join(in.real, e.Name())
		if !e.IsDir() && yamldoc.Named(e.Name()) && !isRecording(path) {
			continue
		}
		place := strings.TrimPrefix(in.place+"/"+e.Name(), "/")
		switch {
		case s.excludes(file, path):
			ts.excluded = append(ts.excluded, path)
		case in.hidden.Hides(place, e.IsDir()):
			ts.ignored[actual] = path
		case e.IsDir():
			if err := s.walk(ts, folder{path, actual, place, in.hidden}, found); err != nil {
				return err
			}
		default:
			t := &target{path: path, real: actual, config: file}
			if info, err := e.Info(); err == nil {
				t.size = info.Size()
			}
			found(t)
		}
	}
	return nil
}

// sweep removes what killed runs left beside the named files and in the directories. It returns
// notes for the user.
func (ts *targets) sweep(opts func(path string) write.Options) (notes []write.Note) {
	named := map[string]map[string]bool{} // by directory; nil for all files in it
	for _, t := range ts.files {
		if !t.named || t.stdin {
			continue
		}
		path := t.path
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
		}
		dir := filepath.Dir(path)
		if named[dir] == nil {
			named[dir] = map[string]bool{}
		}
		named[dir][path] = true
	}
	for _, dir := range ts.dirs {
		named[dir] = nil
	}
	for _, dir := range slices.Sorted(maps.Keys(named)) {
		wanted := func(path string) bool { return named[dir] == nil || named[dir][path] }
		notes = append(notes, write.Sweep(dir, wanted, opts)...)
	}
	return notes
}

// versions are the directories of version control, which hold no transcripts.
var versions = []string{".git", ".hg", ".svn"}

// noneIn says that a walked directory has no transcripts. odd is a file in it that may have messages
// in an unknown format, if there is one.
func (ts *targets) noneIn(root int, odd string) string {
	out := "warning: no transcripts found in " + ts.roots[root]
	if ts.unseen[root] {
		out += "; hidden directories are skipped: name one to check it"
	}
	if odd != "" {
		out += "; toolguard detect " + odd + " says why"
	}
	return out
}

// walked reports whether a walk includes files of this name.
func walked(name string) bool {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	switch filepath.Ext(name) {
	case ".jsonl", ".ndjson", ".json":
		return true
	}
	return yamldoc.Named(name)
}

// isRecording reports whether a YAML file begins like a recording. Most are something else, so the walk
// includes only these. A file that cannot be read is included, so that its error is reported.
func isRecording(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return true
	}
	defer func() { _ = file.Close() }() // it was only read
	head := make([]byte, yamldoc.HeadBytes)
	n, err := io.ReadFull(file, head)
	return err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || yamldoc.BeginsLikeRecording(head[:n])
}

// pathError returns err with the path first and without the system call. Common
// errors have the same text on all systems.
func pathError(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
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

// open opens a target as a source. A large one is read ahead if jobs is more than
// one. The caller closes the source.
func (a *app) open(ctx context.Context, t *target, jobs int) (src *source.Source, err error) {
	a.beforeFiles(jobs)
	ctx = a.bar.watch(ctx, t)
	if t.stdin {
		src, err = source.Spool(ctx, t.path, a.bar.pipe(a.stdin, t), t.most)
		a.bar.piped(t)
	} else {
		src, err = source.Open(ctx, t.path, t.most)
	}
	if size := new(source.SizeError); errors.As(err, &size) {
		err = fmt.Errorf("%w; use --max-size to set another limit", err)
	}
	if err == nil && jobs > 1 {
		src.SetAhead(source.LeastAhead)
		src.SetJobs(source.LeastAhead, jobs)
	}
	return src, err
}

// sidecar is the suffix of the file in which an agent counts the lines of a
// transcript.
const sidecar = ".meta.json"

// counted returns why a transcript must not be repaired if its agent counts its
// messages in a file beside it, "" if there is no such file.
func counted(t *target) string {
	stem, lines := strings.CutSuffix(t.path, ".jsonl")
	if t.stdin || !lines {
		return ""
	}
	text, err := small.File(stem+sidecar, small.Sidecar)
	if small.Absent(err) {
		return ""
	}
	name := filepath.Base(stem) + sidecar
	if err != nil { // an unreadable file may count messages
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
