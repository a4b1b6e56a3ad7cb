package write

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestHolder: where there are no leases, the processes are looked through.
func TestHolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	makeFile(t, path, body(100), 0o600)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	find := func(names ...string) string { return holder(f, names...) }
	if who := find("s.jsonl"); who != "" {
		t.Errorf("%s has it open for reading", who)
	}
	for _, flag := range []int{os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND} {
		agent, err := os.OpenFile(path, flag, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("process %d (%s)", os.Getpid(), processName(t))
		if who := find("s.jsonl"); who != want {
			t.Errorf("%q, want %s", who, want)
		}
		if who := find("another.jsonl"); who != "" {
			t.Errorf("%s has it open under another name", who)
		}
		if err := os.Rename(path, path+".old"); err != nil {
			t.Fatal(err)
		}
		if who := find("another.jsonl", "s.jsonl.old"); who != want {
			t.Errorf("under its new name: %q, want %s", who, want)
		}
		if err := os.Rename(path+".old", path); err != nil {
			t.Fatal(err)
		}
		agent.Close()
	}
	if who := find("s.jsonl"); who != "" {
		t.Errorf("%s has it open, once it is closed", who)
	}
}

// TestWriterOf: a file that is open for a moment only does not count as held
// open.
func TestWriterOf(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	makeFile(t, path, body(100), 0o600)
	agent, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if free, sure := leased(f); free || !sure {
		agent.Close()
		t.Skip("the file system has no leases")
	}
	time.AfterFunc(10*time.Millisecond, func() { agent.Close() })
	if who := writerOf(path, path); who != "" {
		t.Errorf("%s has it open", who)
	}
	if who := writerOf(path+".none", path); who != "" {
		t.Errorf("%s has open what is not there", who)
	}
}

// BenchmarkWriterOf asks who has a file open, with a lease and without.
func BenchmarkWriterOf(b *testing.B) {
	path := filepath.Join(b.TempDir(), "s.jsonl")
	makeFile(b, path, body(100), 0o600)
	b.Run("lease", func(b *testing.B) {
		for b.Loop() {
			if who := writerOf(path, path); who != "" {
				b.Fatal(who)
			}
		}
	})
	b.Run("proc", func(b *testing.B) {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		for b.Loop() {
			if who := holder(f, "s.jsonl"); who != "" {
				b.Fatal(who)
			}
		}
	})
}

// TestWriterNamed: who has a file open for writing is named, and that nobody has is sure for its owner.
func TestWriterNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if who, sure := Writer(path); who != "" || !sure {
		t.Errorf("%q, %t", who, sure)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if who, sure := Writer(path); who != fmt.Sprintf("process %d (write.test)", os.Getpid()) || !sure {
		t.Errorf("%q, %t", who, sure)
	}
	if who, sure := Writer(path + ".none"); who != "" || sure {
		t.Errorf("%q, %t", who, sure)
	}
}
