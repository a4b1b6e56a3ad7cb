// Package backup keeps originals that are not kept beside their files, in one directory for
// each run, with a manifest of the replacements. It does not know why a file is replaced.
package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// Manifest is the name of the manifest in the directory of a run.
	Manifest = "manifest.jsonl"
	// mostName is the number of bytes of a file's name that its copy repeats.
	mostName = 200
	// mostRuns is the maximum number of runs that begin in one second.
	mostRuns = 1000
	// runFormat is how the name of a run begins.
	runFormat = "20060102T150405Z"
)

// An Entry is a line of a manifest. It describes a file that a run was about to replace. If
// the run was killed at that moment, the file is unchanged.
type Entry struct {
	Version int `json:"version"`
	// Path is the path of the file. If it is not UTF-8, RawPath has its bytes.
	Path    string `json:"path"`
	RawPath []byte `json:"raw_path,omitempty"`
	// Copy is the name of the copy in the directory of the manifest. It is UTF-8, also if the
	// path is not.
	Copy     string    `json:"copy"`
	Mode     string    `json:"mode"` // octal
	Modified time.Time `json:"modified"`
	Before   Content   `json:"before"`
	After    Content   `json:"after,omitzero"`
	// Rules are the rules whose findings were repaired.
	Rules []string `json:"rules"`
	// Rows is the name of the file with the rows of a database that the run was about to change,
	// beside the copy; "" for other files. Then After is only known if the copy has all bytes of the
	// database.
	Rows string `json:"rows,omitempty"`
}

// Content identifies a text.
type Content struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // hexadecimal
}

// Dir returns the directory of all runs on a system, which is named as in runtime.GOOS.
func Dir(env func(string) string, system string) (string, error) {
	return stateDir(env, system, "backups")
}

// DatabaseDir returns the directory of all runs that changed rows of databases. They are apart,
// because a database has its write-ahead log beside it and cannot be replaced like a file.
func DatabaseDir(env func(string) string, system string) (string, error) {
	return stateDir(env, system, "databases")
}

// stateDir returns a directory of toolguard for files that stay.
func stateDir(env func(string) string, system, name string) (string, error) {
	if dir := env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "toolguard", name), nil
	}
	home, below := "HOME", filepath.Join(".local", "state")
	switch system {
	case "darwin":
		below = filepath.Join("Library", "Application Support")
	case "windows":
		home, below = "LOCALAPPDATA", ""
	}
	if dir := env(home); filepath.IsAbs(dir) {
		return filepath.Join(dir, below, "toolguard", name), nil
	}
	return "", fmt.Errorf("no state directory: neither $XDG_STATE_HOME nor $%s is an absolute path", home)
}

// A Run keeps the originals of one run. It creates nothing until the first call of Keep.
type Run struct {
	root    func() (string, error)
	started time.Time

	dir      string
	manifest *os.File
	size     int64 // of the manifest
	copies   int   // started
	kept     int   // not withdrawn
}

// NewRun begins a run that keeps originals below the directory that root returns.
func NewRun(root func() (string, error), started time.Time) *Run {
	return &Run{root: root, started: started}
}

// open creates the directory of the run. Transcripts hold secrets, so only the owner has
// access.
func (r *Run) open() error {
	if r.manifest != nil {
		return nil
	}
	root, err := r.root()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	name := r.started.UTC().Format(runFormat)
	for i := range mostRuns {
		r.dir = filepath.Join(root, name)
		if i > 0 {
			r.dir += fmt.Sprintf("-%d", i+1)
		}
		if err = os.Mkdir(r.dir, 0o700); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return err
	}
	r.manifest, err = os.OpenFile(filepath.Join(r.dir, Manifest), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		_ = os.Remove(r.dir)
		return err
	}
	sync(root)
	return nil
}

// A Kept is the copy of one original.
type Kept struct {
	run   *Run
	entry Entry
	start int64 // of its line in the manifest, -1 if it has none yet
}

// Keep copies the original of the file at path, which has findings of rules.
func (r *Run) Keep(ctx context.Context, path string, info fs.FileInfo, rules []string, original io.Reader) (*Kept, error) {
	return r.keep(path, info, rules, func(k *Kept) error { return k.copy(ctx, original) })
}

// KeepDatabase keeps a copy of the database at path that copyTo makes: it fills an empty file.
func (r *Run) KeepDatabase(ctx context.Context, path string, info fs.FileInfo, rules []string, copyTo func(name string) error) (*Kept, error) {
	return r.keep(path, info, rules, func(k *Kept) error {
		k.entry.Rows = k.entry.Copy + ".rows.jsonl"
		f, err := os.OpenFile(k.Name(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := copyTo(k.Name()); err != nil {
			return err
		}
		if k.entry.Before, err = Describe(reader{ctx, f}); err != nil {
			return err
		}
		return f.Sync()
	})
}

// keep starts a copy, and lets fill write it.
func (r *Run) keep(path string, info fs.FileInfo, rules []string, fill func(k *Kept) error) (*Kept, error) {
	if year := info.ModTime().UTC().Year(); year < 0 || year > 9999 {
		return nil, fmt.Errorf("its modification time is in the year %d, which a manifest cannot say", year)
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	r.copies++
	k := &Kept{run: r, start: -1, entry: Entry{
		Version: 1, Path: path, Copy: fmt.Sprintf("%04d-%s", r.copies, shortened(strings.ToValidUTF8(filepath.Base(path), "_"))),
		Mode: fmt.Sprintf("%04o", info.Mode().Perm()), Modified: info.ModTime(), Rules: rules,
	}}
	if !utf8.ValidString(path) {
		k.entry.RawPath = []byte(path)
	}
	r.kept++
	if err := fill(k); err != nil {
		k.Withdraw()
		return nil, err
	}
	return k, nil
}

// shortened returns a name short enough for every file system, with a number before it.
func shortened(name string) string {
	for cut := mostName; cut < len(name); cut-- {
		if utf8.RuneStart(name[cut]) {
			return name[:cut]
		}
	}
	return name
}

// copy writes the copy and syncs it to disk.
func (k *Kept) copy(ctx context.Context, original io.Reader) error {
	f, err := os.OpenFile(k.Name(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), reader{ctx, original})
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	k.entry.Before = Content{n, hex.EncodeToString(sum.Sum(nil))}
	return err
}

// A reader reads until its context ends.
type reader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// Name returns the path of the copy.
func (k *Kept) Name() string { return filepath.Join(k.run.dir, k.entry.Copy) }

// Record writes a line of the manifest: that the file is about to be replaced by a text of
// that size and hash.
func (k *Kept) Record(size int64, sum [sha256.Size]byte) error {
	k.entry.After = Content{size, hex.EncodeToString(sum[:])}
	return k.record()
}

// RecordRows writes the changed rows of a database beside its copy, and a line of the manifest: that
// the rows are about to be changed.
func (k *Kept) RecordRows(write func(w io.Writer) error) error {
	f, err := os.OpenFile(filepath.Join(k.run.dir, k.entry.Rows), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return k.record()
}

// RecordAfter writes the line of a database once more, which then says what the database has become.
func (k *Kept) RecordAfter(is Content) error {
	k.entry.After = is
	return k.record()
}

// record writes the line of the manifest.
func (k *Kept) record() error {
	line, err := json.Marshal(k.entry)
	if err != nil {
		return err
	}
	k.start = k.run.size
	n, err := k.run.manifest.Write(append(line, '\n'))
	k.run.size += int64(n)
	if err == nil {
		err = k.run.manifest.Sync()
	}
	sync(k.run.dir)
	return err
}

// Withdraw removes the copy and its line, because the file was not replaced. It also removes
// the directory of the run if nothing else is in it.
func (k *Kept) Withdraw() {
	r := k.run
	r.kept--
	if k.start >= 0 && r.manifest.Truncate(k.start) == nil {
		r.size = k.start
	}
	_ = os.Remove(k.Name())
	if k.entry.Rows != "" {
		_ = os.Remove(filepath.Join(r.dir, k.entry.Rows))
	}
	if r.kept == 0 {
		r.manifest.Close()
		_ = os.Remove(filepath.Join(r.dir, Manifest))
		_ = os.Remove(r.dir)
		r.manifest, r.dir, r.size = nil, "", 0
	}
}

// Close ends the run.
func (r *Run) Close() error {
	if r.manifest == nil {
		return nil
	}
	return r.manifest.Close()
}

// sync makes new names in a directory durable, if the system supports it.
func sync(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
