package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/internal/sample"
)

const mib = 1 << 20

type kind struct {
	name  string
	write func(w io.Writer) error
	sum   string // SHA-256 of the first MiB
	// How it is read, how many calls have no result, and how many backslashes
	// are in 1,000 bytes of eight MiB.
	dialect, container   string
	missing, backslashes int
}

func kinds(size int64) []kind {
	return []kind{
		{
			"log", func(w io.Writer) error { return Log(w, 1, size) },
			"34062ab80fc16d9af7273ce03de70dbd3f755392846fa8fc197f947ec78b8b1a", "claude-code", "linked-log", 0, 51,
		},
		{
			"call log", func(w io.Writer) error { return CallLog(w, 2, size, 600, 20) },
			"e69ed4158b68dcee1b88588614356938a348f7d96f29be815d55232fb0077c36", "claude-code", "linked-log", 20, 42,
		},
		{
			"chat rows", func(w io.Writer) error { return ChatRows(w, 3, size) },
			"d657515d7ce098c4df577faa7b35e606d58ffbea9fe4b81ab64c09afbc975dfd", "openai-chat", "jsonl-conversations", 0, 37,
		},
		{
			"ShareGPT rows", func(w io.Writer) error { return ShareGPTRows(w, 4, size) },
			"44a75ab1deff07f7874b5d3c7fa52d1e1b7312a1ce05723a63b8023343ae4ee2", "sharegpt", "jsonl-conversations", 0, 73,
		},
		{
			"chat document", func(w io.Writer) error { return ChatDocument(w, 5, int(size/256)) },
			"f6633e9c4f1d95fe2bd351a6cbd36ec7b92be4dbf35f70fec1c636bcc4ae07d2", "openai-chat", "json-messages", 0, 44,
		},
		{
			"messages document", func(w io.Writer) error { return MessagesDocument(w, 6, size) },
			"854ab653633f4d9236d22d27a2f560ec6a01095e26db9a8053f5bd2245096c31", "anthropic", "json-messages", 0, 69,
		},
	}
}

func (k kind) text(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := k.write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSame: figures can be compared only if the same seed gives the same bytes,
// on every machine and after every change.
func TestSame(t *testing.T) {
	for _, k := range kinds(mib) {
		sum := sha256.Sum256(k.text(t)[:mib])
		if got := hex.EncodeToString(sum[:]); got != k.sum {
			t.Errorf("%s: %s, want %s", k.name, got, k.sum)
		}
	}
}

// TestRead: every transcript is read in its format, and has exactly the requested faults.
func TestRead(t *testing.T) {
	for _, k := range kinds(mib) {
		rep, err := toolguard.Check(context.Background(), bytes.NewReader(k.text(t)))
		if err != nil {
			t.Errorf("%s: %v", k.name, err)
			continue
		}
		if rep.Dialect != k.dialect || rep.Container != k.container || rep.Calls-rep.Results != k.missing {
			t.Errorf("%s: read as %s in %s with %d calls and %d results, want %s in %s and %d calls more than results",
				k.name, rep.Dialect, rep.Container, rep.Calls, rep.Results, k.dialect, k.container, k.missing)
		}
		for _, f := range rep.Findings {
			if f.Rule != "missing-tool-result" {
				t.Errorf("%s: %s: %s", k.name, f.Rule, f.Message)
			}
		}
		if len(rep.Findings) != k.missing {
			t.Errorf("%s: %d findings, want %d", k.name, len(rep.Findings), k.missing)
		}
	}
}

// TestBackslashes: readers of strings stop at each backslash, so text with few of them would
// be unrealistically fast. Real session logs have about 50 in 1,000 bytes.
func TestBackslashes(t *testing.T) {
	for _, k := range kinds(8 * mib) {
		text := k.text(t)
		if got := bytes.Count(text, []byte{'\\'}) * 1000 / len(text); got != k.backslashes {
			t.Errorf("%s: %d, want %d", k.name, got, k.backslashes)
		}
	}
}

// TestSessions: the number of files, their folders and their maximum length.
func TestSessions(t *testing.T) {
	dir := t.TempDir()
	n := sample.Size(100, 20, 20)
	if err := Sessions(dir, 7, n); err != nil {
		t.Fatal(err)
	}
	all := sha256.New()
	least, most, files := int64(mib), int64(0), 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		fmt.Fprintf(all, "%s %d\n", filepath.ToSlash(name), len(text))
		all.Write(text)
		least, most, files = min(least, int64(len(text))), max(most, int64(len(text))), files+1
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%d files of %d to %d bytes, %x", files, least, most, all.Sum(nil)[:8])
	want := map[int]string{
		100: "100 files of 17232 to 88120 bytes, 07152ccc766a3315",
		20:  "20 files of 17232 to 85009 bytes, b8dd43fd37e9b920",
	}
	if got != want[n] {
		t.Errorf("%s, want %s", got, want[n])
	}
}
