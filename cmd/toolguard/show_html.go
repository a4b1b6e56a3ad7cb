package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/page"
	"github.com/toolguard/toolguard/internal/redact"
	"github.com/toolguard/toolguard/internal/session"
	"github.com/toolguard/toolguard/internal/store"
	"github.com/toolguard/toolguard/internal/write"
)

// indexName is how the page of all sessions is called.
const indexName = "index.html"

// pages writes the sessions that paths name as pages: one file, or a directory with an index.
func (x *showing) pages(ctx context.Context, paths []string) error {
	to := x.flags.html
	switch {
	case x.streamed(to) == "-":
		return errors.New("--html: expected a file or a directory")
	case packedName(to):
		return fmt.Errorf("--html: %s: toolguard writes no compressed files", to)
	}
	ts, err := x.targets(paths)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(to, "/") && !isDir(to) {
		if len(paths) != 1 || isDir(paths[0]) {
			return fmt.Errorf("--html: %s: several sessions need a directory; write it with a slash at its end", to)
		}
		if len(ts.files) == 0 {
			return fmt.Errorf("%s: is excluded", paths[0])
		}
		t := ts.files[0]
		if err := x.mayWrite(ts, to); err != nil {
			return err
		}
		err := x.described(t.path, contain.Do(func() error {
			_, err := x.page(ctx, t, func() (string, error) { return to, nil }, "", true)
			return err
		}))
		if err == nil {
			x.say("Wrote "+to+".", to)
		}
		return err
	}
	index := filepath.Join(to, indexName)
	if err := x.mayWriteIn(ts, index); err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return pathError(to, err)
	}
	var entries []page.Entry
	for _, t := range ts.files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		name := pageName(t.path)
		if x.flags.redact {
			name = fmt.Sprintf("session-%d.html", len(entries)+1)
		}
		into := func() (string, error) { return filepath.Join(to, name), x.mayWriteIn(ts, filepath.Join(to, name)) }
		var entry *page.Entry
		err := contain.Do(func() (err error) {
			entry, err = x.page(ctx, t, into, indexName, false)
			return err
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			x.fail(t.path, x.described(t.path, err))
			entries = append(entries, page.Entry{Name: x.called(t, len(entries)), State: page.Unread, Note: "it could not be read"})
		case entry != nil:
			entry.Name = x.called(t, len(entries))
			if entry.Href != "" {
				entry.Href = name
			}
			entries = append(entries, *entry)
		}
	}
	if len(entries) == 0 {
		return errors.New("show: no session found")
	}
	if err := create(index, func(w io.Writer) error { return page.Index(w, "Sessions", entries) }); err != nil {
		return err
	}
	x.say(fmt.Sprintf("Wrote %s, a page of %s, and a page for each one with problems.", index, count(len(entries), "session")), index)
	if len(x.summary.Failed) > 0 {
		return errReported
	}
	return nil
}

// called returns what a page calls a session. The path of one that is redacted may tell something.
func (x *showing) called(t *target, n int) string {
	if x.flags.redact {
		return fmt.Sprintf("session %d", n+1)
	}
	return t.path
}

// page reads a session and writes its page, unless nothing was found in it and all is false. into returns
// the name of the page. The entry is nil if the file is not a session and was not named.
func (x *showing) page(ctx context.Context, t *target, into func() (string, error), index string, all bool) (*page.Entry, error) {
	src, err := x.open(ctx, t, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	defer src.Close()
	opts := session.Options{Check: x.checkOptions(t), Texts: !x.flags.noExcerpt, Rows: all, Times: true, Elements: true}
	about := store.Description{}
	if x.flags.redact {
		got, err := redact.Redact(ctx, src, opts.Check)
		switch {
		case errors.As(err, new(*redact.ProofError)):
			return nil, fmt.Errorf("%s: %w", t.path, err)
		case err != nil:
			return nil, err
		case got.Source == nil:
			return x.noSession(t, got.Report)
		}
		defer got.Source.Close()
		src = got.Source
	}
	s, err := page.Read(ctx, src, opts)
	if err != nil {
		return nil, err
	}
	if r := s.Report; r.Skipped != "" || r.File.Container == detect.ContainerEmpty || !t.named && !r.File.Sure {
		return x.noSession(t, r)
	}
	if st := store.ByDialect(s.Report.File.Dialect); st != nil {
		about = st.About.Describe(src, src.Size())
	}
	out := page.Options{
		Name: x.called(t, 0), Version: programVersion(), Agent: strings.TrimSpace(s.Report.File.Dialect + " " + about.Version),
		Command: x.commandFor(t), Redacted: x.flags.redact, NoPayload: x.flags.noExcerpt, Index: index,
	}
	e := page.EntryOf(s)
	entry := &e
	entry.Version = about.Version
	if !x.flags.redact && !x.flags.noExcerpt {
		entry.Title, entry.Project = about.Title, about.Project
	}
	if info, err := os.Stat(t.path); err == nil {
		entry.Modified = info.ModTime()
	}
	if !all && entry.State < page.Warned {
		return entry, nil
	}
	if out.After, err = page.After(ctx, src, x.fixOptions(t, opts.Check), opts); err != nil {
		return nil, err
	}
	name, err := into()
	if err != nil {
		return nil, err
	}
	entry.Href = name
	return entry, create(name, func(w io.Writer) error { return page.Write(w, src, s, out) })
}

// noSession returns an error for a file that is named and is not a session.
func (x *showing) noSession(t *target, r *engine.Report) (*page.Entry, error) {
	switch {
	case !t.named:
		return nil, nil
	case r.File.Container == detect.ContainerEmpty:
		return nil, fmt.Errorf("%s: is empty", t.path)
	case x.flags.redact:
		return nil, fmt.Errorf("%s: not a transcript: %s", t.path, r.SkippedDiscreet)
	}
	return nil, fmt.Errorf("%s: not a transcript: %s", t.path, r.Skipped)
}

// commandFor returns what to type to repair a finding in a file.
func (x *showing) commandFor(t *target) func(f *engine.Finding) string {
	path := shellPath(t.path, "")
	if x.flags.redact {
		path = "FILE"
	}
	return func(f *engine.Finding) string {
		class := []string{}
		switch {
		case f.Fix == nil || t.stdin:
			return ""
		case f.Fix.ByStrategy && f.Rule.Change() != "":
			class = []string{"--strategy " + f.Rule.Name + "=" + f.Rule.Change()}
		case f.Fix.Class == operation.Unsafe:
			class = []string{"--unsafe"}
		}
		return x.toFix(class) + " " + path
	}
}

// mayWrite returns an error if a page would replace what is read, or a file without --overwrite.
func (x *showing) mayWrite(ts *targets, name string) error {
	if err := x.overwrites(ts.files, name); err != nil || x.flags.overwrite {
		return err
	}
	for name := range write.Existing(slices.Values([]string{name})) {
		return fmt.Errorf("%s: already exists; --overwrite replaces it", name)
	}
	return nil
}

// mayWriteIn is mayWrite for a page in a directory. Nobody gave its name, so nobody meant the file that
// a link of this name leads to.
func (x *showing) mayWriteIn(ts *targets, name string) error {
	if info, err := os.Lstat(name); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return fmt.Errorf("%s: is a link; expected a file, or none", name)
	}
	return x.mayWrite(ts, name)
}

// create writes a file.
func create(name string, text func(io.Writer) error) error {
	out, err := write.Create(name)
	if err != nil {
		return err
	}
	defer out.Discard() // unless it is finished
	if err := text(out); err != nil {
		return err
	}
	return out.Commit()
}

// isDir reports whether a path is that of a directory.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// pageName returns the name of the page of a file, which no other file has.
func pageName(path string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, filepath.Base(path))
	sum := sha256.Sum256([]byte(path))
	return plain[:min(len(plain), 80)] + "-" + hex.EncodeToString(sum[:4]) + ".html"
}
