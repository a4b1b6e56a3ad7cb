package main

import (
	"context"
	"io"
	"io/fs"
	"runtime"
	"slices"

	"github.com/toolguard/toolguard/internal/backup"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/store"
	"github.com/toolguard/toolguard/internal/write"
)

const (
	// backupSuffix is the default suffix of backups.
	backupSuffix = ".bak"
	// noBackup is the suffix that turns backups off.
	noBackup = "none"
)

// backups decides where the originals of repaired files are kept.
type backups struct {
	suffix string // the value of the flag
	chosen bool   // the flag is set
	run    *backup.Run
	stores *store.Finder // nil until it is needed
	// reserved reports names that backups must not have. It is nil until it is needed.
	reserved func(name string) bool
}

// newBackups returns the backups for a value of the flag.
func newBackups(env func(string) string, suffix string, chosen bool) *backups {
	dir := func() (string, error) { return backup.Dir(env, runtime.GOOS) }
	return &backups{suffix: suffix, chosen: chosen, run: backup.NewRun(dir, started(env))}
}

// stored reports whether a file is in a directory where an agent keeps its sessions.
func (b *backups) stored(t *target, env func(string) string) bool {
	if b.stores == nil {
		b.stores = store.Find(env, runtime.GOOS)
	}
	return b.stores.Of(t.path) != nil
}

// options returns how to keep the original of a file. No backup takes the name of
// a report of the run.
func (b *backups) options(t *target, x *fix, repairs []engine.Repair) write.Options {
	opts := b.place(t, x, repairs)
	if b.reserved == nil {
		b.reserved = write.Reserve(x.reports())
	}
	opts.Reserved = b.reserved
	if b.stored(t, x.env) {
		opts.Copies, opts.Known = copies(x.env), written(x.env)
	}
	return opts
}

// written returns a function that recognizes texts that earlier runs wrote to a file.
func written(env func(string) string) func(path string, text io.Reader) bool {
	return func(path string, text io.Reader) bool {
		root, err := backup.Dir(env, runtime.GOOS)
		return err == nil && backup.Wrote(root, path, text)
	}
}

// copies returns a function that finds copies of a file in the state directory.
func copies(env func(string) string) func(path string) []string {
	return func(path string) []string {
		root, err := backup.Dir(env, runtime.GOOS)
		if err != nil {
			return nil
		}
		return backup.Copies(root, path)
	}
}

// place returns where to keep the original of a file. Without a choice of the
// user, the session of an agent goes to the state directory, because the agent
// could take a copy beside it for another session. Other files are kept beside
// the repaired file if a repair is unsafe.
func (b *backups) place(t *target, x *fix, repairs []engine.Repair) write.Options {
	suffix, chosen := b.suffix, b.chosen
	if set := x.settings(t.config).backup; !chosen && set != "" {
		suffix, chosen = set, true
	}
	unsafe := func(r engine.Repair) bool { return r.Class == operation.Unsafe }
	switch {
	case chosen && suffix == noBackup:
		return write.Options{}
	case chosen:
		return write.Options{Backup: suffix}
	case b.stored(t, x.env):
		return write.Options{Keeper: keeper{b.run, rulesOf(repairs)}}
	case slices.ContainsFunc(repairs, unsafe):
		return write.Options{Backup: backupSuffix}
	}
	return write.Options{}
}

// rulesOf lists the rules of repairs.
func rulesOf(repairs []engine.Repair) []string {
	names := []string{}
	for i := range repairs {
		names = append(names, repairs[i].Rule)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// A keeper keeps the original of one file in the state directory.
type keeper struct {
	run   *backup.Run
	rules []string
}

// Keep implements write.Keeper.
func (k keeper) Keep(ctx context.Context, path string, info fs.FileInfo, original io.Reader) (write.Kept, error) {
	kept, err := k.run.Keep(ctx, path, info, k.rules, original)
	if err != nil {
		return nil, err // not kept, which would be a non-nil interface
	}
	return kept, nil
}
