package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/sample"
)

// TestDockerfile: the image has what the Dockerfile names and nothing else.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(raw)) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, "org.opencontainers.image.") {
			got = append(got, strings.TrimSuffix(line, "\n"))
		}
	}
	want := []string{
		"FROM scratch",
		"ARG TARGETPLATFORM",
		"COPY LICENSE THIRD_PARTY_NOTICES /licenses/",
		"COPY ca-certificates.crt /etc/ssl/certs/",
		"COPY $TARGETPLATFORM/toolguard $TARGETPLATFORM/toolguard-proxy $TARGETPLATFORM/toolguard-sqlite $TARGETPLATFORM/toolguard-parquet /",
		"WORKDIR /work",
		"USER 65532:65532",
		`ENTRYPOINT ["/toolguard"]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Dockerfile (-want +got):\n%s", diff)
	}
	for _, label := range []string{"title", "description", "source", "licenses"} {
		if !strings.Contains(string(raw), "org.opencontainers.image."+label+"=") {
			t.Errorf("no label %s", label)
		}
	}
}

// TestImage runs the program as the image does: in a file system that has nothing
// else, as a user without a name, and without an environment.
func TestImage(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root changes the root directory")
	}
	if !sample.Long() {
		t.Skip("it builds the program once more")
	}
	root := openDir(t)
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(root, "toolguard"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	work := filepath.Join(root, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	session := filepath.Join(work, "cut.jsonl")
	if err := os.WriteFile(session, []byte(cut), 0o644); err != nil {
		t.Fatal(err)
	}
	const fixed = `{"role":"user","content":"q"}
{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"[toolguard] No result was recorded for this tool call; it may or may not have run.","is_error":true},{"type":"text","text":"well?"}]}
`
	const (
		found    = "Found 1 problem in 1 file (1 fixable with toolguard fix --write). 1 file checked.\n"
		repaired = "Repaired 1 problem in 1 file (1 inserted). No problems left.\n"
		readOnly = "toolguard: cut.jsonl: not written: it is read-only\n1 problem left. 1 file checked, 1 not repaired.\n"
	)
	run := func(user uint32, stdin string, args ...string) (stdout, stderr string, code int) {
		t.Helper()
		var out, errs bytes.Buffer
		cmd := exec.Command("/toolguard", args...)
		cmd.Dir = "/work"
		cmd.Env = []string{}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: user, Gid: user}}
		err := cmd.Run()
		var exit *exec.ExitError
		if errors.Is(err, syscall.EPERM) {
			t.Skip("this machine does not let root change the root directory")
		}
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return out.String(), errs.String(), cmd.ProcessState.ExitCode()
	}
	const line = `cut.jsonl:2:56: error: call "c1" to "ls" has no result [missing-tool-result]` + "\n"
	if out, stderr, code := run(65532, "", "check", "-o", "concise", "cut.jsonl"); code != exitFindings || out != line || stderr != found {
		t.Errorf("check: exit code %d\n%s%s", code, out, stderr)
	}
	if out, stderr, code := run(65532, cut, "fix", "-"); code != exitOK || out != fixed || stderr != repaired {
		t.Errorf("fix -: exit code %d\n%s%s", code, out, stderr)
	}
	// The user of the image may not write into the directory of another one.
	if out, stderr, code := run(65532, "", "fix", "--write", "-o", "concise", "cut.jsonl"); code != exitTrouble || out != line+"cut.jsonl: failed: not written: it is read-only\n" || stderr != readOnly {
		t.Errorf("fix --write: exit code %d\n%s%s", code, out, stderr)
	}
	if got, err := os.ReadFile(session); err != nil || string(got) != cut {
		t.Errorf("the file holds %s, %v", got, err)
	}
	// docker run --user names the owner of the directory.
	const owner = 54321
	for _, path := range []string{work, session} {
		if err := os.Chown(path, owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	if out, stderr, code := run(owner, "", "fix", "--write", "cut.jsonl"); code != exitOK || out != "" || stderr != "cut.jsonl: repaired 1 problem (1 inserted)\n"+repaired {
		t.Errorf("fix --write as the owner: exit code %d\n%s%s", code, out, stderr)
	}
	if got, err := os.ReadFile(session); err != nil || string(got) != fixed {
		t.Errorf("the file holds %s, %v", got, err)
	}
	// Standard input of more than 8 MiB goes to a temporary file, for which
	// docker run has to be told --tmpfs /tmp.
	long := strings.Replace(cut, "well?", strings.Repeat("x", 9<<20), 1)
	if out, _, code := run(65532, long, "check", "-o", "concise", "-"); code != exitTrouble || out != "<stdin>: failed: no such file or directory\n" {
		t.Errorf("without /tmp: exit code %d\n%s", code, out)
	}
	temp := filepath.Join(root, "tmp")
	if err := errors.Join(os.Mkdir(temp, 0o777), os.Chmod(temp, 0o777|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	if out, stderr, code := run(65532, long, "check", "-o", "concise", "-"); code != exitFindings || out != strings.Replace(line, "cut.jsonl", "<stdin>", 1) || stderr != found {
		t.Errorf("with /tmp: exit code %d\n%s%s", code, out, stderr)
	}
}
