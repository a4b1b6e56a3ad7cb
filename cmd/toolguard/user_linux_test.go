package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// openDir returns a temporary directory that every user can reach.
func openDir(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for dir := root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestAsUser runs the tests that root skips as another user.
func TestAsUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("they run anyway")
	}
	want := slices.Clone(userTests)
	var scripts []string
	files, err := filepath.Glob("../../testdata/scripts/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if name := strings.TrimSuffix(filepath.Base(file), ".txtar"); strings.Contains(string(text), "[!root]") {
			scripts = append(scripts, name)
			want = append(want, "TestScripts/"+name)
		}
	}
	// This user may reach neither the project nor the directory of the test binary, which are
	// those of root.
	const nobody = 65534
	root := openDir(t)
	own := filepath.Join(root, "own")
	temp, work := filepath.Join(own, "temp"), filepath.Join(own, "cmd", "toolguard")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	self = filepath.Join(own, "test")
	err = errors.Join(
		os.MkdirAll(temp, 0o700), os.MkdirAll(work, 0o700), os.WriteFile(self, program, 0o700),
		os.CopyFS(filepath.Join(own, "testdata"), os.DirFS("../../testdata")),
		filepath.WalkDir(own, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, nobody, nobody))
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.v", fmt.Sprintf("-test.run=^(%s|TestScripts)$/^(%s)$", strings.Join(userTests, "|"), strings.Join(scripts, "|")))
	cmd.Dir, cmd.Env = work, append(os.Environ(), "HOME="+own, "TMPDIR="+temp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Skip("another user cannot run programs in the temporary directory: ", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	for _, name := range want {
		if !strings.Contains(out.String(), "--- PASS: "+name+" (") {
			t.Errorf("%s did not run:\n%s", name, out.String())
		}
	}
}
