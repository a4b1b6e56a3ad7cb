package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/toolguard/toolguard/internal/store"
)

// sqlite is the program that reads databases.
const sqlite = "sqlite"

// A checkedDatabase is the part of the JSON report of toolguard-sqlite check that doctor reads.
type checkedDatabase struct {
	Files    []struct{ Path string }
	Failed   []struct{ Path, Error string }
	Findings []struct{ Path, Rule, Severity string }
}

// readDatabases lets toolguard-sqlite check the databases that it reads, if it is installed.
func (d *doctor) readDatabases(ctx context.Context) error {
	reads := func(r *storeReport) bool { return r.unread && r.database && r.Store.Read }
	if !slices.ContainsFunc(d.stores, reads) {
		return nil
	}
	i := slices.IndexFunc(programs(), func(p program) bool { return p.name == sqlite })
	p := programs()[i]
	path, err := p.find(os.Executable, d.lookPath)
	if err != nil {
		return nil // the databases are not read
	}
	if err := p.matches(ctx, path); err != nil {
		d.warn(path, strings.TrimPrefix(err.Error(), path+": "))
		return ctx.Err()
	}
	for _, r := range d.stores {
		if reads(r) {
			if err := d.readDatabase(ctx, r, path); err != nil {
				return err
			}
		}
	}
	return nil
}

// readDatabase lets a program check a database. Its error ends the run.
func (d *doctor) readDatabase(ctx context.Context, r *storeReport, program string) error {
	got, err := checkDatabase(ctx, program, r.Path)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		d.fail(r.Path, fmt.Errorf("%s: %w", r.Path, err))
		return nil
	}
	mended := map[string]bool{} // by session with errors: the agent repairs all of them
	r.sessions, r.unread = len(got.Files), false
	for _, f := range got.Failed {
		d.fail(f.Path, fmt.Errorf("%s: %s", f.Path, f.Error))
		if f.Path == r.Path {
			r.unread = len(got.Files) == 0
			continue
		}
		if _, known := mended[f.Path]; !known && !slices.ContainsFunc(got.Files, func(is struct{ Path string }) bool { return is.Path == f.Path }) {
			r.sessions++
		}
		mended[f.Path] = false // a part of it cannot be read
	}
	for _, f := range got.Findings {
		if f.Severity == "error" {
			all, known := mended[f.Path]
			mended[f.Path] = (all || !known) && r.Store.Mends.By(f.Rule, "")
		}
	}
	for _, itself := range mended {
		if itself {
			r.mended++
		} else {
			r.broken++
		}
	}
	return nil
}

// checkDatabase returns what a program finds in a database.
func checkDatabase(ctx context.Context, program, path string) (got checkedDatabase, err error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "check", "--output-format", "json", "--", path)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	// It removes its copy of the database.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	err = cmd.Run()
	if json.Unmarshal(stdout.Bytes(), &got) == nil {
		return got, nil // the exit code says no more than the document
	}
	if err == nil {
		err = errors.New("it prints no report")
	}
	return got, fmt.Errorf("toolguard-%s: %w", sqlite, err)
}

// databaseCommand returns the command that shows what is wrong in a database, or how it is repaired.
func (d *doctor) databaseCommand(p store.Place) string {
	command := " check "
	if p.Store.Mended {
		command = " fix "
	}
	return "toolguard " + sqlite + command + shellPath(p.Path, d.home)
}

// closeDatabases says at the end which databases have broken sessions.
func (d *doctor) closeDatabases() {
	for _, r := range d.stores {
		if r.inDatabase() && r.broken > 0 {
			what := "in a database, which toolguard does not repair; what else helps"
			if r.Store.Mended {
				what = "in a database; close the agent, and repair it"
			}
			d.say(fmt.Sprintf("%s: %d broken %s %s: %s", r.agent, r.broken, noun(r.broken, "session"), what, d.databaseCommand(r.Place)), r.Path)
		}
	}
}

// inDatabase reports whether the sessions of a store were read from a database.
func (r *storeReport) inDatabase() bool { return r.database && !r.unread }
