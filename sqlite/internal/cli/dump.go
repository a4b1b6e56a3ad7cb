package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/sqlite/internal/layout"
)

func newDumpCmd(a *app) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "dump [flags] database [session...]",
		Short: "Write sessions in the form in which their agent exports them",
		Long: `dump writes a session to standard output, in the form in which its agent exports
it, so that other commands can read it. The text of the rows stays as it is. If
the database has one session, its id may be left out. With --out, dump writes all
sessions, or those that are named, to files in a directory, which may not exist yet.
A file that exists is not replaced.

A column that should be JSON and is not is named on standard error. It becomes a
string, or stays as it is if it is a line of its own.

Exit codes: 0 if all could be read, 2 otherwise.`,
		Example: `  toolguard-sqlite dump opencode.db ses_1 | toolguard show -
  toolguard-sqlite dump --out sessions ~/.local/share/goose/sessions/sessions.db`,
		Args: databases,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.dump(cmd.Context(), args[0], args[1:], out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write a file for each session to this `directory`")
	return cmd
}

// dump writes sessions of a database.
func (a *app) dump(ctx context.Context, path string, ids []string, out string) error {
	l, err := openLibrary(ctx, path)
	if err != nil {
		return err
	}
	defer l.Close()
	if err := l.choose(ids); err != nil {
		return err
	}
	n := 0
	for _, s := range l.shelves {
		n += len(s.sessions)
		if s.torn != nil {
			return about(path, s.torn)
		}
	}
	if out == "" && n != 1 {
		if n == 0 {
			return about(path, errors.New("has no sessions"))
		}
		return about(path, fmt.Errorf("has %s: name one of those that %s list shows, or give --out directory", count(n, "session"), program))
	}
	failed, taken := false, map[string]bool{}
	for _, s := range l.shelves {
		for i := range s.sessions {
			good, err := a.dumpSession(l, s, &s.sessions[i], out, taken)
			if err != nil {
				return about(name(path, s.sessions[i].ID), err)
			}
			failed = failed || !good
		}
	}
	if failed {
		return errReported
	}
	return nil
}

// dumpSession writes a session, and reports whether it could be read completely.
func (a *app) dumpSession(l *library, s *shelf, x *layout.Session, out string, taken map[string]bool) (bool, error) {
	text, err := l.read(s, x.ID, (*layout.Schema).Read)
	if err != nil {
		if l.ctx.Err() != nil || out == "" {
			return false, err
		}
		a.complain(about(name(l.path, x.ID), err).Error())
		return false, nil
	}
	defer text.Close()
	for _, b := range text.Bad {
		a.complain(about(name(l.path, x.ID), b).Error())
	}
	whole := io.NewSectionReader(text, 0, text.Size())
	if out == "" {
		_, err = io.Copy(a.stdout, whole)
		return len(text.Bad) == 0, err
	}
	return len(text.Bad) == 0, writeNew(filepath.Join(out, fileName(x.ID, s.Text.Lines, taken)), whole)
}

// longestName is the number of bytes that an id has at most in the name of a file.
const longestName = 200

// fileName returns the name of the file of a session, which is not taken yet, also where case does not
// count. An id can be anything, so only what is safe in a name stays.
func fileName(id string, lines bool, taken map[string]bool) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.", r) {
			return r
		}
		return '_'
	}, id)
	safe = strings.TrimLeft(safe[:min(len(safe), longestName)], ".")
	if safe == "" {
		safe = "session"
	}
	name := safe
	for n := 2; taken[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s-%d", safe, n)
	}
	taken[strings.ToLower(name)] = true
	if lines {
		return name + ".jsonl"
	}
	return name + ".json"
}

// writeNew writes a file that only the user can read, and that does not exist yet.
func writeNew(path string, text io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists", path)
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(f, text)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = os.Remove(path) // half a session is none
	}
	return err
}
