package write

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "report.txt")
	makeFile(t, path, []byte("old"), 0o640)
	o, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.WriteString("new"); err != nil {
		t.Fatal(err)
	}
	holds(t, path, []byte("old"))
	if err := o.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, path, []byte("new"))
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 && !isWindows {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	o.Discard()
	holds(t, path, []byte("new")) // discarding what was committed does nothing

	o, err = Create(path)
	if err != nil {
		t.Fatal(err)
	}
	o.Discard()
	holds(t, path, []byte("new"))
	if got := listing(t, dir); len(got) != 1 {
		t.Errorf("left behind %v", got)
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "report.txt")
	refused := func(name, want string) {
		t.Helper()
		_, err := Create(name)
		if err == nil || err.Error() != name+": "+want {
			t.Errorf("got %v, want %s: %s", err, name, want)
		}
	}
	refused(dir, "is a directory")
	refused(filepath.Join(dir, "none", "report.txt"), "no such file or directory")

	// Two runs do not write one file at the same time.
	first, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	refused(path, "another run of toolguard is writing it")
	if _, err := first.WriteString("first"); err != nil {
		t.Fatal(err)
	}
	if err := first.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, path, []byte("first"))

	// What a run that was killed left is removed, if it is a file.
	temp := filepath.Join(dir, ".report.txt.toolguard-new")
	makeFile(t, temp, []byte("half"), 0o600)
	second, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, path, nil)
	if got := listing(t, dir); len(got) != 1 {
		t.Errorf("left behind %v", got)
	}
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	refused(path, "the temporary file "+temp+" is not a regular file")
}

// TestCreateStreams: of what is no regular file only the streams are written to that
// a process was given, and what takes everything. A pipe that nobody reads is not
// waited for, and a link that leads nowhere is not replaced.
func TestCreateStreams(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, to := range map[string]string{"loop": "pool", "pool": "loop", "nowhere": "none"} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Skip(err)
		}
	}
	want := map[string]string{"nowhere": "links to a file that does not exist"}
	if !isWindows {
		want["loop"] = syscall.ELOOP.Error()
		if exec.Command("mkfifo", at("pipe")).Run() == nil {
			want["pipe"] = "is not a regular file"
		}
		if l, err := net.Listen("unix", at("socket")); err == nil {
			defer l.Close()
			want["socket"] = "is not a regular file"
		}
		if os.Symlink("/dev/zero", at("zero")) == nil {
			want["zero"] = "is not a regular file"
		}
	}
	for name, why := range want {
		before, err := os.Lstat(at(name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Create(at(name)); err == nil || err.Error() != at(name)+": "+why {
			t.Errorf("got %v, want %s: %s", err, at(name), why)
		}
		if after, err := os.Lstat(at(name)); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s is another file: %v", name, err)
		}
	}
	if _, err := os.Stat("/proc/self/fd"); err != nil || isWindows {
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, name := range []string{os.DevNull, fmt.Sprintf("/proc/self/fd/%d", w.Fd())} {
		o, err := Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.WriteString("x"); err != nil {
			t.Error(err)
		}
		if err := o.Commit(); err != nil {
			t.Error(err)
		}
	}
	if n, err := r.Read(make([]byte, 2)); n != 1 || err != nil {
		t.Errorf("%d bytes in the pipe, %v", n, err)
	}
}

// TestCreateOverNothingNew: a file does not replace one that took its name
// meanwhile.
func TestCreateOverNothingNew(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "s.jsonl.bak")
		if before {
			makeFile(t, path, []byte("old"), 0o600)
		}
		o, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		makeFile(t, path+".new", []byte("the original"), 0o600)
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		if err := o.Commit(); err == nil || err.Error() != path+": not written: another program created it in the meantime" {
			t.Errorf("got %v", err)
		}
		holds(t, path, []byte("the original"))
		if got := listing(t, dir); len(got) != 1 {
			t.Errorf("left behind %v", got)
		}
	}
}

// TestCreateAtOnce lets runs create one file at the same time: whatever is
// committed is whole.
func TestCreateAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "report.txt")
	text := body(3 * copySize)
	results := make(chan error)
	const runs = 16
	for range runs {
		go func() {
			o, err := Create(path)
			if err == nil {
				if _, err = o.Write(text); err == nil {
					err = o.Commit()
				}
			}
			results <- err
		}()
	}
	done := 0
	for range runs {
		switch err := <-results; {
		case err == nil:
			done++
		case !errors.Is(err, errBusy):
			t.Error(err)
		}
	}
	if done == 0 {
		t.Error("nobody wrote it")
	}
	holds(t, path, text)
	if got := listing(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("left behind %v", got)
	}
}

func TestCreateBehindLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "report.txt"), filepath.Join(dir, "link")
	makeFile(t, path, []byte("old"), 0o600)
	if err := os.Symlink("report.txt", link); err != nil {
		t.Skip(err)
	}
	o, err := Create(link)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, path, nil)
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name ...string) string { return filepath.Join(append([]string{dir}, name...)...) }
	if err := os.Mkdir(at("sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		makeFile(t, at(name), []byte(name), 0o600)
	}
	type found struct{ output, input string }
	check := func(written, read []string, want found) {
		t.Helper()
		output, input, ok := Overlap(Existing(slices.Values(written)), Existing(slices.Values(read)))
		if got := (found{output, input}); got != want || ok != (want != found{}) {
			t.Errorf("%v and %v: %v, %v", written, read, got, ok)
		}
	}
	check([]string{at("a")}, []string{at("b"), at("c")}, found{})
	check([]string{at("none")}, []string{at("none")}, found{})
	check([]string{at("a")}, nil, found{})
	check([]string{at("c"), at("a")}, []string{at("none"), at("b"), at("a")}, found{at("a"), at("a")})
	spelling := at("sub") + string(filepath.Separator) + ".." + string(filepath.Separator) + "a"
	check([]string{spelling}, []string{at("a")}, found{spelling, at("a")})
	if os.Symlink("a", at("soft")) == nil {
		check([]string{at("soft")}, []string{at("a")}, found{at("soft"), at("a")})
		check([]string{at("a")}, []string{at("soft")}, found{at("a"), at("soft")})
	}
	if os.Link(at("a"), at("hard")) == nil {
		check([]string{at("hard")}, []string{at("a")}, found{at("hard"), at("a")})
	}
}

// TestRepeated: a file has one name, even if its directory does not exist yet.
func TestRepeated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name ...string) string { return filepath.Join(append([]string{dir}, name...)...) }
	check := func(want string, names ...string) {
		t.Helper()
		if got, found := Repeated(names); got != want || found != (want != "") {
			t.Errorf("%v: %q, %v", names, got, found)
		}
	}
	check("")
	check("", at("a"), at("b"), at("A"), at("none", "a"))
	check(at("none", "a"), at("none", "a"), at("b"), at("none", "a"))
	spelling := at("none") + string(filepath.Separator) + ".." + string(filepath.Separator) + "a"
	check(spelling, at("a"), spelling)
	if os.Symlink(dir, at("link")) != nil {
		return
	}
	check(at("link", "a"), at("a"), at("link", "a"))
	check(at("link", "none", "a"), at("none", "a"), at("link", "none", "a"))
	makeFile(t, at("b"), nil, 0o600)
	if err := os.Symlink("b", at("soft")); err != nil {
		t.Fatal(err)
	}
	check(at("soft"), at("b"), at("soft"))
	if err := os.Link(at("b"), at("hard")); err != nil {
		return
	}
	check("", at("b"), at("hard")) // a file takes the place of one name
}

// TestCreateRobbed: a temporary file that is no longer the one that was written
// is neither given the name nor removed.
func TestCreateRobbed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "report.txt")
	makeFile(t, path, []byte("old"), 0o600)
	o, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.WriteString("new"); err != nil {
		t.Fatal(err)
	}
	// Somebody else removes the temporary file, and puts another in its place.
	temp := filepath.Join(dir, ".report.txt.toolguard-new")
	if err := os.Remove(temp); err != nil {
		t.Skip(err) // not while it is open
	}
	if err := os.WriteFile(temp, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := o.Commit(); err == nil || err.Error() != path+": another run of toolguard is writing it" {
		t.Errorf("got %v", err)
	}
	holds(t, path, []byte("old"))
	holds(t, temp, []byte("half"))
}
