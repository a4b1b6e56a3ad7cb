// Package store is a table of where agents keep their sessions. It does not know the format
// of the sessions.
package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// A Store is where one agent keeps its sessions, and what is known about them. Its paths use
// slashes. They begin with ~ for the home directory, with a variable, with APP for the data of
// applications, or with CODE for the data of VS Code and its relatives. A * matches any single
// name.
type Store struct {
	Agent string
	// Repaired says that toolguard repairs sessions of this agent; otherwise it only checks
	// them.
	Repaired bool
	// Dialect is the name of the format of the sessions; "" if other programs use it too.
	Dialect string
	// Roots are all directories that contain sessions. A variable can move the store, but
	// older sessions stay where they were.
	Roots []string
	// Files are patterns for the names of the files that are sessions. There are none if no
	// file is a whole session.
	Files []string
	// Index is the name of a file beside the sessions that lists them, "" if there is none.
	Index string
	// Databases are files in which the agent keeps all sessions.
	Databases []string
	// Projects are files that list directories in which the agent keeps one database each.
	Projects []Projects
	// Read says that toolguard-sqlite reads the databases, and Mended that it also repairs them.
	Read, Mended bool
	// Instead says what to do, or why, where toolguard does not read the sessions.
	Instead string
	// Source is where this is documented or can be read in the agent's code.
	Source string
	// Locks are the files in which the agent notes that a process uses a session.
	Locks []Lock
	// Mends is what the agent repairs itself when it resumes a session.
	Mends Mends
	// Uncut is the ending of the copy beside a session from which the agent has removed a line
	// that it could not read and all lines behind it; "" if it keeps none.
	Uncut string
	// About says where a session names its project, its title and the version of the agent.
	About About
}

// Projects is a file of JSON that lists directories.
type Projects struct {
	File     string // as the paths of a Store
	At       string // a path of gjson to the directories
	Database string // the name of the database in each
}

// mostListed is how much is read of a list of directories.
const mostListed = 4 << 20

// Mends is what an agent repairs itself when it resumes a session.
type Mends struct {
	// Rules are the rules whose findings it repairs.
	Rules []string
	// Since is the first version that does; "" for all versions.
	Since  string
	Source string
}

// By reports whether the agent itself repairs findings of a rule in a session that a version
// of it wrote last.
func (m *Mends) By(rule, version string) bool {
	return slices.Contains(m.Rules, rule) && (m.Since == "" || version != "" && !less(version, m.Since))
}

// less reports whether version a is older than b: 2.1.9 than 2.1.33.
func less(a, b string) bool {
	for a != "" || b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		if n, m := number(x), number(y); n != m {
			return n < m
		}
	}
	return false
}

// number returns the number that a text begins with, 0 if there is none.
func number(text string) (n int) {
	for _, c := range text {
		if c < '0' || c > '9' || n > 1<<30 {
			break
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// base paths of stores.
const (
	appData  = "APP/"
	codeData = "CODE/"
)

// apps returns the path of the data of applications.
func apps(system string) string {
	switch system {
	case "darwin":
		return "~/Library/Application Support/"
	case "windows":
		return "$APPDATA/"
	}
	return "~/.config/"
}

// code returns where VS Code and its relatives keep the data of a user.
func code(system string) []string {
	var out []string
	for _, name := range []string{"Code", "Code - Insiders", "VSCodium", "Cursor"} {
		out = append(out, apps(system)+name+"/User/")
	}
	return append(out, "~/.vscode-server/data/User/")
}

// paths returns the paths that a path of a store stands for on a system.
func paths(path, system string) []string {
	if rest, ok := strings.CutPrefix(path, appData); ok {
		return []string{apps(system) + rest}
	}
	rest, ok := strings.CutPrefix(path, codeData)
	if !ok {
		return []string{path}
	}
	out := code(system)
	for i := range out {
		out[i] += rest
	}
	return out
}

// A Finder finds the stores of a user.
type Finder struct {
	places    []place
	databases []Place
}

// A place is an existing directory of a store, and the pattern of the names between it and the
// sessions.
type place struct {
	store *Store
	info  fs.FileInfo
	dir   string
	rest  []string
}

// A Place is a directory that contains sessions, or a database.
type Place struct {
	Store *Store
	Path  string
}

// Find looks for the stores of a user on a system, which is named as in runtime.GOOS.
func Find(env func(string) string, system string) *Finder {
	f := &Finder{}
	stores := All()
	for i := range stores {
		s := &stores[i]
		for _, path := range s.Roots {
			for _, path := range paths(path, system) {
				f.add(s, path, env, system)
			}
		}
		for _, path := range s.Databases {
			for _, path := range paths(path, system) {
				f.addDatabase(s, path, env, system)
			}
		}
		for _, p := range s.Projects {
			f.addListed(s, p, env, system)
		}
	}
	return f
}

// add adds a root, if it exists.
func (f *Finder) add(s *Store, path string, env func(string) string, system string) {
	head, names, _ := strings.Cut(path, "/")
	dir := base(head, env, system)
	if dir == "" {
		return
	}
	fixed, rest, many := strings.Cut(names, "*")
	p := place{store: s, dir: filepath.Join(dir, filepath.FromSlash(fixed))}
	var err error
	p.info, err = os.Stat(p.dir)
	if err != nil || !p.info.IsDir() {
		return
	}
	if many {
		p.rest = strings.Split("*"+rest, "/")
	}
	f.places = append(f.places, p)
}

// addDatabase adds the databases that a path names, if they exist.
func (f *Finder) addDatabase(s *Store, path string, env func(string) string, system string) {
	head, names, _ := strings.Cut(path, "/")
	dir := base(head, env, system)
	if dir == "" {
		return
	}
	fixed, rest, many := strings.Cut(names, "/*/")
	if !many {
		f.addFile(s, filepath.Join(dir, filepath.FromSlash(names)))
		return
	}
	dirs, _ := expand(filepath.Join(dir, filepath.FromSlash(fixed)), []string{"*"})
	for _, dir := range dirs {
		f.addFile(s, filepath.Join(dir, filepath.FromSlash(rest)))
	}
}

// addListed adds the databases in the directories that a file lists.
func (f *Finder) addListed(s *Store, p Projects, env func(string) string, system string) {
	head, name, _ := strings.Cut(p.File, "/")
	dir := base(head, env, system)
	if dir == "" {
		return
	}
	list := filepath.Join(dir, filepath.FromSlash(name))
	if info, err := os.Stat(list); err != nil || !info.Mode().IsRegular() { // opening a pipe would wait
		return
	}
	file, err := os.Open(list)
	if err != nil {
		return
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostListed))
	if err != nil || !gjson.ValidBytes(text) {
		return
	}
	for _, listed := range gjson.GetBytes(text, p.At).Array() {
		if filepath.IsAbs(listed.Str) {
			f.addFile(s, filepath.Join(listed.Str, p.Database))
		}
	}
}

// addFile adds a database, if it exists.
func (f *Finder) addFile(s *Store, path string) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	for _, d := range f.databases {
		if other, err := os.Stat(d.Path); err == nil && os.SameFile(info, other) {
			return
		}
	}
	f.databases = append(f.databases, Place{s, path})
}

// Databases lists the databases that exist.
func (f *Finder) Databases() []Place { return f.databases }

// Dirs lists the directories that contain sessions, each once. The error is that of a
// directory that cannot be read; the others are listed all the same.
func (f *Finder) Dirs() (dirs []Place, failed []error) {
	var seen []fs.FileInfo
	for _, p := range f.places {
		found, err := expand(p.dir, p.rest)
		if err != nil {
			failed = append(failed, err)
		}
		for _, dir := range found {
			info, err := os.Stat(dir)
			if err != nil || !info.IsDir() || slices.ContainsFunc(seen, func(other fs.FileInfo) bool { return os.SameFile(info, other) }) {
				continue
			}
			seen = append(seen, info)
			dirs = append(dirs, Place{p.store, dir})
		}
	}
	return dirs, failed
}

// expand lists the paths that a pattern of names stands for.
func expand(dir string, rest []string) (dirs []string, failed error) {
	if len(rest) == 0 {
		return []string{dir}, nil
	}
	if rest[0] != "*" {
		return expand(filepath.Join(dir, rest[0]), rest[1:])
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		failed = err
	}
	for _, e := range entries {
		below := filepath.Join(dir, e.Name())
		if info, err := os.Stat(below); err != nil || !info.IsDir() {
			continue
		}
		more, err := expand(below, rest[1:])
		if dirs = append(dirs, more...); err != nil {
			failed = err
		}
	}
	return dirs, failed
}

// ByDialect returns the store of the agent that writes sessions in a format, nil if there is
// none.
func ByDialect(name string) *Store {
	stores := All()
	i := slices.IndexFunc(stores, func(s Store) bool { return name != "" && s.Dialect == name })
	if i < 0 {
		return nil
	}
	return &stores[i]
}

// Holds reports whether a file of this name is a session.
func (s *Store) Holds(name string) bool {
	return name != s.Index && slices.ContainsFunc(s.Files, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

// base returns the directory for the first element of a path: the value of a variable, or the
// home directory. It returns "" if the variable is not set or has a relative path, because
// only the agent knows what that is relative to.
func base(head string, env func(string) string, system string) string {
	home := env("HOME")
	if system == "windows" {
		home = env("USERPROFILE")
	}
	dir := home
	if name, ok := strings.CutPrefix(head, "$"); ok {
		dir = env(name)
		if tail, ok := strings.CutPrefix(dir, "~"); ok && (tail == "" || tail[0] == '/') {
			dir = home + tail
		}
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}

// Of returns the store that contains a file, nil if there is none. It follows links.
func (f *Finder) Of(path string) *Store {
	s, _ := f.At(path)
	return s
}

// At returns the store that contains a file, and its directory that contains the sessions. It
// returns nil if there is none. It follows links.
func (f *Finder) At(path string) (*Store, string) {
	if len(f.places) == 0 {
		return nil, ""
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, ""
	}
	if s, dir := f.above(path); s != nil {
		return s, dir
	}
	if target, err := filepath.EvalSymlinks(path); err == nil && target != path {
		return f.above(target)
	}
	return nil, ""
}

// above looks for a place among the directories above a file.
func (f *Finder) above(path string) (*Store, string) {
	var below []string // the names from the directory down to the file
	for path != filepath.Dir(path) {
		below = append(below, filepath.Base(path))
		path = filepath.Dir(path)
		dir, err := os.Stat(path)
		if err != nil {
			continue
		}
		for _, p := range f.places {
			if len(below) > len(p.rest) && os.SameFile(p.info, dir) && matches(p.rest, below) {
				sessions := path
				for i := range p.rest {
					sessions = filepath.Join(sessions, below[len(below)-1-i])
				}
				return p.store, sessions
			}
		}
	}
	return nil, ""
}

// matches reports whether the names below a directory, last first, begin as a root requires.
func matches(rest, below []string) bool {
	for i, name := range slices.Backward(below) {
		i = len(below) - 1 - i
		if i == len(rest) {
			return true
		}
		if rest[i] != "*" && rest[i] != name {
			return false
		}
	}
	return true
}
