package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolguard/toolguard/internal/small"
)

// Recent is how long a session must have been unchanged, or an agent may be about to write
// it: a tool can run for minutes.
const Recent = 10 * time.Minute

// The paths of locks begin with one of these.
const (
	rootPath = "ROOT" // the directory of the store
	dirPath  = "DIR"  // the directory of the session
	filePath = "FILE" // the file of the session
	stemPath = "STEM" // the same without its extension
)

// A Lock is a file in which an agent notes that a process uses a session.
type Lock struct {
	// Path begins with ROOT, DIR, FILE or STEM. A * in the last element stands for the id of
	// the process.
	Path string
	// PID is the key of the id of the process, for a JSON object. Without it and without a * in
	// the path, the file contains nothing else.
	PID string
	// Session and Project are keys of the id of the session and of its project. If there are
	// any, the lock is only for the sessions that match one of them.
	Session, Project string
	Source           string
}

// A Session is a file of a store.
type Session struct {
	Root string // the directory of the store
	Path string
	// Project returns the project of the session, "" if that is not known.
	Project func() string
	// Loose says that Root may be below the directory of the store, or no store at all. Then each
	// directory above the session may be the root.
	Loose bool

	guess bool // only a lock that clearly is one, and about this session, counts
}

// AllLocks returns the locks of all agents, for a session of an unknown agent.
func AllLocks() (locks []Lock) {
	for _, s := range All() {
		for _, l := range s.Locks {
			if !slices.Contains(locks, l) {
				locks = append(locks, l)
			}
		}
	}
	return locks
}

// InUse returns why a session is in use, or "". modified is when it was written last; the
// zero time means that it is known that nobody writes it. alive reports whether there is a
// process with an id.
func (s *Store) InUse(x Session, modified, now time.Time, alive func(pid int) bool) string {
	switch age := now.Sub(modified); {
	case modified.IsZero():
	case age < -Recent: // a clock is wrong, so nobody knows when it was written
		return "its modification time is in the future"
	case age < Recent:
		return fmt.Sprintf("it changed within the last %d minutes", int(Recent/time.Minute))
	}
	x.guess = s.Source == ""
	for i := range s.Locks {
		if why := s.Locks[i].holds(x, alive); why != "" {
			return why
		}
	}
	path, err := filepath.Abs(x.Path)
	if !x.Loose || err != nil {
		return ""
	}
	x.guess = true
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		x.Root, x.Path = dir, path
		for i := range s.Locks {
			if l := &s.Locks[i]; strings.HasPrefix(l.Path, rootPath) {
				if why := l.holds(x, alive); why != "" {
					return why
				}
			}
		}
	}
	return ""
}

// Now returns the store with only those locks that can hold for a session below root at this
// moment. It is for a look at many sessions, because most locks are files for all of them.
func (s *Store) Now(root string, alive func(pid int) bool) *Store {
	now := *s
	now.Locks = nil
	for _, l := range s.Locks {
		names, err := l.files(Session{Root: root})
		shared := strings.HasPrefix(l.Path, rootPath)
		if !shared || err != nil || slices.ContainsFunc(names, func(name string) bool { return l.exists(name, alive) }) {
			now.Locks = append(now.Locks, l)
		}
	}
	return &now
}

// exists reports whether there is a lock, unless its name says that its process has ended.
func (l *Lock) exists(name string, alive func(pid int) bool) bool {
	if pid := l.inName(name); pid > 0 && !alive(pid) {
		return false
	}
	_, err := os.Stat(name)
	return !small.Absent(err)
}

// files lists the files that may be the lock of a session.
func (l *Lock) files(x Session) ([]string, error) {
	pattern := l.expand(x)
	before, after, many := strings.Cut(filepath.Base(pattern), "*")
	if !many {
		return []string{pattern}, nil
	}
	entries, err := os.ReadDir(filepath.Dir(pattern))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if len(e.Name()) > len(before)+len(after) && strings.HasPrefix(e.Name(), before) && strings.HasSuffix(e.Name(), after) {
			names = append(names, filepath.Join(filepath.Dir(pattern), e.Name()))
		}
	}
	return names, nil
}

// inName returns the id of a process in the name of a file, 0 if there is none.
func (l *Lock) inName(name string) int {
	before, after, many := strings.Cut(l.Path[strings.LastIndexByte(l.Path, '/')+1:], "*")
	if !many {
		return 0
	}
	base := filepath.Base(name)
	pid, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(base, before), after))
	return pid
}

// holds returns why a lock says that a session is in use, or "".
func (l *Lock) holds(x Session, alive func(pid int) bool) string {
	names, err := l.files(x)
	switch {
	case err != nil && x.guess:
		return ""
	case err != nil:
		return filepath.Dir(l.expand(x)) + " cannot be read"
	}
	for _, name := range names {
		if why := l.held(name, l.inName(name), x, alive); why != "" {
			return why
		}
	}
	return ""
}

// expand returns the path of the lock of a session.
func (l *Lock) expand(x Session) string {
	for _, base := range []struct{ name, path string }{
		{rootPath, x.Root},
		{dirPath, filepath.Dir(x.Path)},
		{filePath, x.Path},
		{stemPath, strings.TrimSuffix(x.Path, filepath.Ext(x.Path))},
	} {
		if rest, ok := strings.CutPrefix(l.Path, base.name); ok {
			return filepath.Clean(base.path + filepath.FromSlash(rest))
		}
	}
	return l.Path
}

// held returns why one file says that a session is in use, or "". inName is the id of the
// process in the name of the file, 0 if there is none. A file that cannot be understood counts
// unless its name says that the process has ended.
func (l *Lock) held(name string, inName int, x Session, alive func(pid int) bool) string {
	if inName > 0 && !alive(inName) {
		return ""
	}
	text, err := small.File(name, small.Lock)
	switch {
	case small.Absent(err):
		return ""
	case err != nil:
		return x.doubt(name + " cannot be read")
	}
	fields := map[string]any{}
	pid := inName
	switch {
	case l.PID != "":
		in := json.NewDecoder(bytes.NewReader(text))
		in.UseNumber()
		if in.Decode(&fields) != nil {
			return x.doubt(name + " cannot be read")
		}
		if n, ok := fields[l.PID].(json.Number); ok {
			pid, _ = strconv.Atoi(n.String())
		}
	case pid == 0:
		pid, _ = strconv.Atoi(string(bytes.TrimSpace(text)))
	}
	switch {
	case pid <= 0:
		return x.doubt(name + " does not say which process uses it")
	case !alive(pid) || !l.about(fields, x):
		return ""
	}
	return fmt.Sprintf("process %d uses it (%s)", pid, name)
}

// doubt returns why a file that is not understood counts, "" if it may be none of an agent.
func (x *Session) doubt(why string) string {
	if x.guess {
		return ""
	}
	return why
}

// about reports whether a lock is about a session.
func (l *Lock) about(fields map[string]any, x Session) bool {
	if l.Session == "" && l.Project == "" {
		return true
	}
	id, _ := fields[l.Session].(string)
	dir, _ := fields[l.Project].(string)
	if id == "" && dir == "" {
		return !x.guess
	}
	rel, err := filepath.Rel(x.Root, x.Path)
	if err != nil {
		return true
	}
	// The logs of subagents are in a directory with the name of the session.
	names := strings.Split(strings.TrimSuffix(filepath.ToSlash(rel), filepath.Ext(rel)), "/")
	if slices.Contains(names, id) {
		return true
	}
	project := x.Project()
	return dir != "" && (project == "" && !x.guess || filepath.Clean(project) == filepath.Clean(dir))
}
