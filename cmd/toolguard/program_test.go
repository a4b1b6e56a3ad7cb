package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestFindProgram: a program is looked for beside the file of toolguard, whatever link it was started
// by, and then on the PATH.
func TestFindProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	p := programs()[0]
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	place := func(name ...string) string {
		t.Helper()
		path := filepath.Join(append([]string{dir}, name...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	self, onPath := place("opt", "toolguard"), place("bin", p.file())
	link := filepath.Join(dir, "bin", "toolguard")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "bin"))
	started := func() (string, error) { return link, nil }
	if got, err := p.find(started, exec.LookPath); got != onPath || err != nil {
		t.Errorf("on the PATH: %s, %v", got, err)
	}
	beside := place("opt", p.file())
	if got, err := p.find(started, exec.LookPath); got != beside || err != nil {
		t.Errorf("beside: %s, %v", got, err)
	}
	t.Setenv("PATH", dir)
	if got, err := p.find(func() (string, error) { return "", errors.New("unknown") }, exec.LookPath); err == nil ||
		err.Error() != "proxy: toolguard-proxy is not installed: it is in the archives and packages of toolguard "+programVersion()+", beside toolguard; in a checkout, make build builds both" {
		t.Errorf("nowhere: %s, %v", got, err)
	}
}

// TestHangingProgram: a program that leaves processes behind, such as a script around another one, does
// not keep toolguard waiting.
func TestHangingProgram(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no scripts")
	}
	p := programs()[0]
	path := filepath.Join(t.TempDir(), p.file())
	if err := os.WriteFile(path, []byte("#!/bin/sh\nsleep 20 &\necho toolguard-proxy 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	err := p.matches(t.Context(), path)
	if want := path + ": it does not print its version"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestSameVersion: programs of one release, or of one commit, belong together.
func TestSameVersion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"0.2.0", "0.2.0", true},
		{"dev", "dev", true},
		{"0.2.0", "0.2.1", false},
		{"0.2.0", "dev", false},
		{"0.0.0-20260102030405-0123456789ab", "0.2.1-0.20260102030405-0123456789ab", true},
		{"0.0.0-20260102030405-0123456789ab+dirty", "0.2.1-0.20260102030405-0123456789ab+dirty", true},
		{"0.0.0-20260102030405-0123456789ab", "0.2.1-0.20260102030405-0123456789ac", false},
		{"0.0.0-20260102030405-0123456789ab+dirty", "0.2.1-0.20260102030405-0123456789ab", false},
		{"0.2.0-rc.1-3-g0123456", "0.2.0-rc.2-3-g0123456", false},
		{"a-b-c", "d-b-c", false},
	} {
		if got := sameVersion(tt.a, tt.b); got != tt.want {
			t.Errorf("%s and %s: %t", tt.a, tt.b, got)
		}
	}
}

// TestNoServer: toolguard opens no connections, and does not contain what would.
func TestNoServer(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"net/http", "crypto/tls", "html/template", "github.com/prometheus/client_golang/prometheus", "github.com/ncruces/go-sqlite3", "database/sql"} {
		if strings.Contains("\n"+string(out), "\n"+name+"\n") {
			t.Errorf("toolguard imports %s", name)
		}
	}
}
