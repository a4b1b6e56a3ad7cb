package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/hostile"
	"github.com/toolguard/toolguard/internal/sample"
)

// An actionStep is a step of action.yml.
type actionStep struct {
	name, uses, condition, command string
	env                            map[string]string
}

// actionSteps reads the steps of action.yml, in the plain YAML that it is written
// in.
func actionSteps(t *testing.T) map[string]actionStep {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(raw), "\n  steps:\n")
	steps := map[string]actionStep{}
	for block := range strings.SplitSeq(text, "\n\n") {
		s := actionStep{env: map[string]string{}}
		for line := range strings.Lines(block) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch indent := len(line) - len(strings.TrimLeft(line, " ")); {
			case key == "- name":
				s.name = value
			case indent == 6 && key == "uses":
				s.uses = value
			case indent == 6 && key == "if":
				s.condition = value
			case indent == 6 && key == "run":
				s.command = value
			case indent == 8:
				s.env[key] = value
			}
		}
		steps[s.name] = s
	}
	return steps
}

// A runner runs steps of action.yml as GitHub's runner does.
type runner struct {
	t     *testing.T
	steps map[string]actionStep
	bash  string
	temp  string            // its directories have a space in their names
	work  string            // the checkout
	tools string            // comes first on the PATH
	vars  map[string]string // the expressions of action.yml, and environment variables
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no bash that takes the paths of this system")
	}
	for _, name := range []string{"curl", "tar"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("no", name)
		}
	}
	r := &runner{t: t, steps: actionSteps(t), bash: bash, vars: map[string]string{
		"${{ inputs.version }}": "", "${{ github.action_ref }}": "main",
		"${{ github.action_repository || 'toolguard/toolguard' }}":               "toolguard/toolguard",
		"${{ github.server_url == 'https://github.com' && github.token || '' }}": "",
		"${{ inputs.paths }}": ".", "${{ inputs.args }}": "", "${{ inputs.annotations }}": "true", "${{ inputs.summary }}": "true",
	}}
	for _, dir := range []*string{&r.temp, &r.work, &r.tools} {
		*dir = filepath.Join(t.TempDir(), "a b")
		if err := os.Mkdir(*dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	switch runtime.GOOS {
	case "darwin":
		r.vars["RUNNER_OS"] = "macOS"
	default:
		r.vars["RUNNER_OS"] = "Linux"
	}
	r.vars["RUNNER_ARCH"] = map[string]string{"arm64": "ARM64", "amd64": "X64"}[runtime.GOARCH]
	return r
}

// run carries out a step and returns its standard output, standard error and exit
// code.
func (r *runner) run(name string) (stdout, stderr string, code int) {
	r.t.Helper()
	s, ok := r.steps[name]
	if !ok || s.command == "" {
		r.t.Fatalf("action.yml has no step %q with a script", name)
	}
	project, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.Command(r.bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", s.command)
	cmd.Dir = r.work
	path := strings.ReplaceAll(strings.TrimSpace(r.file("path")), "\n", string(os.PathListSeparator))
	cmd.Env = append(os.Environ(),
		"GITHUB_ACTION_PATH="+project, "RUNNER_TEMP="+r.temp, "GITHUB_PATH="+filepath.Join(r.temp, "path"),
		"GITHUB_OUTPUT="+filepath.Join(r.temp, "output"), "GITHUB_STEP_SUMMARY="+filepath.Join(r.temp, "summary"),
		"RUNNER_OS="+r.vars["RUNNER_OS"], "RUNNER_ARCH="+r.vars["RUNNER_ARCH"],
		"PATH="+strings.Join([]string{path, r.tools, os.Getenv("PATH")}, string(os.PathListSeparator)))
	for key, expression := range s.env {
		value, ok := r.vars[expression]
		if !ok {
			r.t.Fatalf("%s: the test has no value for %s", key, expression)
		}
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// file returns a file of the runner, "" if no step wrote it.
func (r *runner) file(name string) string {
	raw, err := os.ReadFile(filepath.Join(r.temp, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.t.Fatal(err)
	}
	return string(raw)
}

// write makes a file of the checkout.
func (r *runner) write(name, text string) {
	r.t.Helper()
	name = filepath.Join(r.work, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		r.t.Fatal(err)
	}
}

// releases is the expression of action.yml for the address of the releases.
const releases = "${{ github.server_url }}/${{ github.action_repository || 'toolguard/toolguard' }}/releases/download"

// archived is what the program in an archive prints.
const archived = "the program of the archive\n"

// release makes a release v1.2.3 with an archive for this machine in a directory,
// and returns the archive's name.
func (r *runner) release(dir string) string {
	r.t.Helper()
	config, err := os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml"))
	if err != nil {
		r.t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^    name_template: "(.*)"$`).FindSubmatch(config)
	if m == nil {
		r.t.Fatal(".goreleaser.yaml has no names of archives")
	}
	name := strings.NewReplacer("{{ .ProjectName }}", "toolguard", "{{ .Version }}", "1.2.3",
		"{{ .Os }}", runtime.GOOS, "{{ .Arch }}", runtime.GOARCH).Replace(string(m[1])) + ".tar.gz"
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range []struct{ name, text string }{
		{"LICENSE", "text"},
		{"toolguard", "#!/bin/sh\nprintf '" + strings.TrimSuffix(archived, "\n") + "\\n'\n"},
	} {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o755, Size: int64(len(f.text))}); err != nil {
			r.t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.text)); err != nil {
			r.t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		r.t.Fatal(err)
	}
	dir = filepath.Join(dir, "v1.2.3")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		r.t.Fatal(err)
	}
	sums := fmt.Sprintf("%064d  %s.sbom.json\n%x  %s\n", 0, name, sha256.Sum256(b.Bytes()), name)
	for path, text := range map[string][]byte{name: b.Bytes(), "checksums.txt": []byte(sums)} {
		if err := os.WriteFile(filepath.Join(dir, path), text, 0o666); err != nil {
			r.t.Fatal(err)
		}
	}
	return name
}

// TestActionDownloads runs the download against releases that are whole, missing
// and changed.
func TestActionDownloads(t *testing.T) {
	t.Parallel()
	const (
		verified = "toolguard: ARCHIVE has the checksum in checksums.txt\n"
		noToken  = "toolguard: attestation not verified: no token for gh\n"
		noGH     = "toolguard: attestation not verified: no gh with the command attestation\n"
		attested = "gh attestation verify TEMP/toolguard-download/ARCHIVE --repo toolguard/toolguard --signer-workflow toolguard/toolguard/.github/workflows/release.yml\n"
		source   = "; building it from source\n"
	)
	rewrite := func(name, from, to string) func(t *testing.T, dir, archive string) {
		return func(t *testing.T, dir, archive string) {
			t.Helper()
			path := filepath.Join(dir, "v1.2.3", strings.ReplaceAll(name, "ARCHIVE", archive))
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed := bytes.Replace(raw, []byte(strings.ReplaceAll(from, "ARCHIVE", archive)), []byte(strings.ReplaceAll(to, "ARCHIVE", archive)), 1)
			if bytes.Equal(raw, changed) {
				changed = append(changed, to...)
			}
			if err := os.WriteFile(path, changed, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(name string) func(t *testing.T, dir, archive string) {
		return func(t *testing.T, dir, archive string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dir, "v1.2.3", strings.ReplaceAll(name, "ARCHIVE", archive))); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name        string
		ref, input  string
		gh          string // what gh does: "" for none that knows attestations
		token       string
		system      string
		change      func(t *testing.T, dir, archive string)
		code        int
		out, output string
	}{
		{name: "a tag", ref: "v1.2.3", gh: "exit 0", out: verified + noToken, output: "build=false\n"},
		{name: "an input", ref: "0123456789abcdef0123456789abcdef01234567", input: "v1.2.3", gh: "exit 0", out: verified + noToken, output: "build=false\n"},
		{name: "no gh", ref: "v1.2.3", token: "t", out: verified + noGH, output: "build=false\n"},
		{name: "attested", ref: "v1.2.3", gh: "exit 0", token: "t", out: verified + attested + "toolguard: ARCHIVE has an attestation of the release workflow\n", output: "build=false\n"},
		{name: "not attested", ref: "v1.2.3", gh: "exit 1", token: "t", code: 1, out: verified + attested + "::error title=toolguard::ARCHIVE has no valid attestation of the release workflow\n"},
		{name: "a changed archive", ref: "v1.2.3", change: rewrite("ARCHIVE", "no such text", "x"), code: 1, out: "::error title=toolguard::ARCHIVE does not have the checksum in checksums.txt of release v1.2.3\n"},
		{name: "a changed checksum", ref: "v1.2.3", change: rewrite("checksums.txt", "  ARCHIVE\n", "0  ARCHIVE\n"), code: 1, out: "::error title=toolguard::ARCHIVE does not have the checksum in checksums.txt of release v1.2.3\n"},
		{name: "two checksums", ref: "v1.2.3", change: func(t *testing.T, dir, archive string) {
			t.Helper()
			rewrite("checksums.txt", "no such text", fmt.Sprintf("%064d  %s\n", 1, archive))(t, dir, archive)
		}, code: 1, out: "::error title=toolguard::ARCHIVE does not have the checksum in checksums.txt of release v1.2.3\n"},
		{name: "no release", ref: "v9.9.9", out: "toolguard: no release v9.9.9 can be downloaded" + source, output: "build=true\n"},
		{name: "no checksums", ref: "v1.2.3", change: remove("checksums.txt"), out: "toolguard: no release v1.2.3 can be downloaded" + source, output: "build=true\n"},
		{name: "no archive", ref: "v1.2.3", change: remove("ARCHIVE"), out: "toolguard: ARCHIVE cannot be downloaded" + source, output: "build=true\n"},
		{name: "an archive without a checksum", ref: "v1.2.3", change: rewrite("checksums.txt", "  ARCHIVE\n", "  ARCHIVE.old\n"), out: "toolguard: release v1.2.3 has no ARCHIVE" + source, output: "build=true\n"},
		{name: "a branch", ref: "main", out: "toolguard: the action is not used by the tag of a release" + source, output: "build=true\n"},
		{name: "a moving tag", ref: "v1", out: "toolguard: the action is not used by the tag of a release" + source, output: "build=true\n"},
		{name: "another system", ref: "v1.2.3", system: "Plan9", out: "toolguard: no release for this system" + source, output: "build=true\n"},
		{name: "a hostile version", ref: "v1.2.3", input: "v1.2.3/../../evil\n::error::x", code: 1, out: "::error title=toolguard::the input version is not of the form v1.2.3\n"},
	}
	for _, scheme := range []string{"file", "http"} {
		for _, tt := range tests {
			t.Run(scheme+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				r := newRunner(t)
				dir := filepath.Join(t.TempDir(), "releases")
				archive := r.release(dir)
				if tt.change != nil {
					tt.change(t, dir, archive)
				}
				r.vars[releases] = "file://" + filepath.ToSlash(dir)
				if scheme == "http" {
					server := httptest.NewServer(http.FileServer(http.Dir(dir)))
					defer server.Close()
					r.vars[releases] = server.URL
				}
				r.vars["${{ github.action_ref }}"], r.vars["${{ inputs.version }}"] = tt.ref, tt.input
				r.vars["${{ github.server_url == 'https://github.com' && github.token || '' }}"] = tt.token
				if tt.system != "" {
					r.vars["RUNNER_OS"] = tt.system
				}
				gh := "exit 1"
				if tt.gh != "" {
					gh = "case \"$*\" in *--help) exit 0;; esac\necho gh \"$@\"\n" + tt.gh
				}
				if err := os.WriteFile(filepath.Join(r.tools, "gh"), []byte("#!/bin/sh\n"+gh+"\n"), 0o777); err != nil {
					t.Fatal(err)
				}
				out, stderr, code := r.run("Download toolguard")
				want := strings.NewReplacer("ARCHIVE", archive, "TEMP", r.temp).Replace(tt.out)
				if code != tt.code || out != want {
					t.Errorf("exit code %d, want %d\n%s%s", code, tt.code, cmp.Diff(want, out), stderr)
				}
				if got := r.file("output"); got != tt.output {
					t.Errorf("output is %q, want %q", got, tt.output)
				}
				path := ""
				if tt.output == "build=false\n" {
					path = filepath.Join(r.temp, "toolguard-bin") + "\n"
				}
				if got := r.file("path"); got != path {
					t.Errorf("the PATH has %q, want %q", got, path)
				}
				if path == "" {
					return
				}
				if got, err := exec.Command(filepath.Join(r.temp, "toolguard-bin", "toolguard")).Output(); err != nil || string(got) != archived {
					t.Errorf("the program printed %q, %v", got, err)
				}
			})
		}
	}
}

// TestActionBuilds builds the program as the action does without a release, and
// checks with it.
func TestActionBuilds(t *testing.T) {
	t.Parallel()
	if !sample.Long() {
		t.Skip("it builds the program once more")
	}
	r := newRunner(t)
	for _, name := range []string{"Set up Go", "Build toolguard"} {
		if got := r.steps[name].condition; got != "steps.download.outputs.build == 'true'" {
			t.Errorf("%s: the condition is %s", name, got)
		}
	}
	if out, stderr, code := r.run("Build toolguard"); code != 0 || out != "" {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	r.write("ok.jsonl", `{"role":"user","content":"q"}`+"\n")
	out, stderr, code := r.run("Check transcripts")
	if code != exitOK || out != "" || stderr != "No problems found. 1 file checked.\n" {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if got, want := r.file("path"), filepath.Join(r.temp, "toolguard-bin")+"\n"; got != want {
		t.Errorf("the PATH has %q, want %q", got, want)
	}
}

// TestActionPins: actions are named by their commits, with the version beside it.
func TestActionPins(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", ".github", "workflows", "*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, filepath.Join("..", "..", "action.yml"))
	if len(files) != 3 {
		t.Errorf("files are %q", files)
	}
	uses := regexp.MustCompile(`^ +(- )?uses: [^.]`) // not a workflow of this commit
	pinned := regexp.MustCompile(`uses: [a-z-]+/[a-z-]+(/[a-z-]+)?@[0-9a-f]{40} # v\d+\.\d+\.\d+\n$`)
	commits := map[string]string{}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			if !uses.MatchString(line) {
				continue
			}
			if !pinned.MatchString(line) {
				t.Errorf("%s: not pinned: %s", name, line)
			}
			_, line, _ = strings.Cut(line, "uses: ")
			action, commit, _ := strings.Cut(line, "@")
			if before, ok := commits[action]; ok && before != commit {
				t.Errorf("%s: %s is used at two commits", name, action)
			}
			commits[action] = commit
		}
	}
	if commits["actions/setup-go"] == "" || commits["actions/attest"] == "" {
		t.Errorf("actions are %v", commits)
	}
}

// TestActionChecks runs the check on paths with spaces, and with inputs that want
// to be obeyed.
func TestActionChecks(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.write("runs/cut.jsonl", cut)
	r.write("a b/ok.jsonl", `{"role":"user","content":"q"}`+"\n")
	r.write("a b/cut 2.jsonl", cut)
	r.vars["${{ inputs.paths }}"], r.vars["${{ inputs.args }}"] = "runs\na b", "--fail-on=error\n--provider=anthropic"
	out, stderr, code := r.run("Check transcripts")
	annotation := func(file string) string {
		return "::error file=" + file + ",line=2,col=56,endColumn=60,title=missing-tool-result::call \"c1\" to \"ls\" has no result%0Afix: insert a placeholder result into messages.2 (additive)\n"
	}
	concise := func(file string) string {
		return file + ":2:56: error: call \"c1\" to \"ls\" has no result [missing-tool-result]\n"
	}
	if code != exitFindings || !strings.HasPrefix(out, "a b/cut 2.jsonl:2:56: error: ") || !strings.HasSuffix(out, "\n"+annotation("a b/cut 2.jsonl")+annotation("runs/cut.jsonl")) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if !strings.HasPrefix(stderr, "Found 2 problems in 2 files ") {
		t.Errorf("standard error is %q", stderr)
	}
	want := "### toolguard\n\n| errors | warnings | notices |\n|---:|---:|---:|\n| 2 | 0 | 0 |\n\n<pre><code>" +
		concise("a b/cut 2.jsonl") + concise("runs/cut.jsonl") + "</code></pre>\n\n<pre><code>" + stderr + "</code></pre>\n"
	if diff := cmp.Diff(want, r.file("summary")); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	sarif := filepath.Join(r.temp, "toolguard.sarif")
	if got, want := r.file("output"), "sarif="+sarif+"\n"; got != want {
		t.Errorf("output is %q, want %q", got, want)
	}
	if got := r.file("toolguard.sarif"); !strings.Contains(got, `"uri":"a%20b/cut%202.jsonl"`) {
		t.Errorf("SARIF is %s", got)
	}
	// An input is data: nothing in it is run.
	r.vars["${{ inputs.paths }}"] = "$(touch owned); touch owned\n`touch owned`\n\"; touch owned; \""
	if out, stderr, code := r.run("Check transcripts"); code != exitTrouble {
		t.Errorf("no such paths: exit code %d\n%s%s", code, out, stderr)
	}
	if _, err := os.Stat(filepath.Join(r.work, "owned")); err == nil {
		t.Error("an input was run as a script")
	}
}

func TestActionFindsNothing(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.write("ok.jsonl", `{"role":"user","content":"q"}`+"\n")
	const said = "No problems found. 1 file checked.\n"
	if out, stderr, code := r.run("Check transcripts"); code != exitOK || out != "" || stderr != said {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	want := "### toolguard\n\n| errors | warnings | notices |\n|---:|---:|---:|\n| 0 | 0 | 0 |\n\n<pre><code>" + said + "</code></pre>\n"
	if diff := cmp.Diff(want, r.file("summary")); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	r.vars["${{ inputs.summary }}"], r.vars["${{ inputs.annotations }}"] = "false", "false"
	r.write("cut.jsonl", cut)
	if out, _, code := r.run("Check transcripts"); code != exitFindings || strings.Contains(out, "::error") || r.file("summary") != want {
		t.Errorf("without summary and annotations: exit code %d\n%s\n%s", code, out, r.file("summary"))
	}
}

// TestActionFindsMuch: ten annotations of a level, errors first, and 50 findings in
// the summary.
func TestActionFindsMuch(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	for i := range 1000 {
		r.write(fmt.Sprintf("errors/%04d.jsonl", i), cut)
	}
	pending := `{"role":"user","content":"q"}` + "\n" + `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}]}` + "\n"
	for i := range 10 {
		r.write(fmt.Sprintf("warnings/%d.jsonl", i), pending)
	}
	out, stderr, code := r.run("Check transcripts")
	if code != exitFindings {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	var got []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "::") {
			level, _, _ := strings.Cut(line, ",")
			got = append(got, strings.TrimSuffix(level, "\n"))
		}
	}
	var want []string
	for i := range 9 {
		want = append(want, fmt.Sprintf("::error file=errors/%04d.jsonl", i))
	}
	want = append(want, "::error title=toolguard::991 more")
	for i := range 10 {
		want = append(want, fmt.Sprintf("::warning file=warnings/%d.jsonl", i))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	summary := r.file("summary")
	if !strings.Contains(summary, "\n| 1000 | 10 | 0 |\n") || !strings.Contains(summary, "</code></pre>\n\n960 more, see the log.\n") {
		t.Errorf("summary is\n%s", summary)
	}
	if n := strings.Count(summary, "[missing-tool-result]\n"); n != 50 {
		t.Errorf("the summary has %d findings", n)
	}
}

// TestActionShowsFailedFilesFirst: more errors than GitHub shows do not hide files that could
// not be checked.
func TestActionShowsFailedFilesFirst(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	for i := range 20 {
		r.write(fmt.Sprintf("errors/%02d.jsonl", i), cut)
	}
	r.vars["${{ inputs.paths }}"] = "errors\nz.jsonl"
	out, stderr, code := r.run("Check transcripts")
	first := ""
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "::") {
			first = line
			break
		}
	}
	if want := "::error file=z.jsonl,title=failed::failed: no such file or directory\n"; code != exitTrouble || first != want {
		t.Errorf("exit code %d, the first annotation is %q, want %q\n%s", code, first, want, stderr)
	}
	if n := strings.Count(out, "::error file="); n != 9 || !strings.Contains(out, "::error title=toolguard::12 more") {
		t.Errorf("%d annotations\n%s", n, out)
	}
}

// TestActionArgs: arguments with which nothing or something else would be checked are errors,
// and line ends of Windows are no part of an input.
func TestActionArgs(t *testing.T) {
	t.Parallel()
	const help = "::error title=toolguard::nothing was checked: the input args may have only flags of toolguard check, and not --help\n"
	for _, tt := range []struct {
		args   string
		code   int
		last   string // of standard output
		stderr string
	}{
		{"--fail-on=error\r\n--provider=anthropic\r\n\r\n", exitFindings, "(additive)\n", "Found 1 problem in 1 file (1 fixable with toolguard fix --write). 1 file checked.\n"},
		{"--help", exitTrouble, help, ""},
		{"-h", exitTrouble, help, ""},
		{"-qh", exitTrouble, help, ""},
		{"--", exitTrouble, "::error title=toolguard::the input args has --, after which there are only paths: name them in the input paths\n", ""},
		{"--\r\nother.jsonl", exitTrouble, "::error title=toolguard::the input args has --, after which there are only paths: name them in the input paths\n", ""},
		{"-o\njson", exitTrouble, "", "toolguard: --output-format: text and json both write to standard output\n"},
		{"-o=json=/dev/stdout", exitTrouble, "", "toolguard: --output-format: text and json=/dev/stdout both write to standard output\n"},
		{"-o\njson=report.json", exitFindings, "(additive)\n", "Found 1 problem in 1 file (1 fixable with toolguard fix --write). 1 file checked.\n"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t)
			r.write("cut.jsonl", cut)
			r.write("report.json", "")
			r.vars["${{ inputs.paths }}"], r.vars["${{ inputs.args }}"] = "cut.jsonl\r\n", tt.args
			out, stderr, code := r.run("Check transcripts")
			if code != tt.code || stderr != tt.stderr || !strings.HasSuffix(out, tt.last) || tt.last == "" && out != "" {
				t.Errorf("exit code %d, want %d\n%s\n%s", code, tt.code, out, stderr)
			}
			reported := tt.code == exitFindings
			if got := r.file("output") != ""; got != reported {
				t.Errorf("the output is %q", r.file("output"))
			}
			raw, err := os.ReadFile(filepath.Join(r.work, "report.json"))
			if err != nil {
				t.Fatal(err)
			}
			if got := json.Valid(raw); got != strings.HasSuffix(tt.args, "report.json") {
				t.Errorf("report.json is %q", raw)
			}
		})
	}
}

// shown is the form of a summary: a table, and texts in blocks.
var shown = regexp.MustCompile(`^### toolguard\n\n\| errors \| warnings \| notices \|\n\|---:\|---:\|---:\|\n\| \d+ \| \d+ \| \d+ \|\n(\n<pre><code>[^<>]*</code></pre>\n(\n\d+ more, see the log\.\n)?)*$`)

// TestActionObeysNothing: whatever a transcript holds stays text, in the log and in
// the summary.
func TestActionObeysNothing(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	texts := append(hostile.Texts(), "</code></pre><img src=x onerror=alert(1)>", "```\n# owned\n[x](https://example.com)", "&lt;b&gt;", "<!--", "@octocat #1 $x$",
		strings.Repeat("<&>é", 100_000))
	for i, text := range texts {
		if !utf8.ValidString(text) {
			continue // it would be a fault of its own
		}
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		r.write(fmt.Sprintf("%02d <b>&amp;.jsonl", i), strings.ReplaceAll(cut, `"ls"`, string(raw)))
		r.write(fmt.Sprintf("%02d id.jsonl", i), strings.ReplaceAll(cut, `"c1"`, string(raw)))
	}
	r.vars["${{ inputs.args }}"] = "--color=always"
	out, stderr, code := r.run("Check transcripts")
	if code != exitFindings {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	commands := regexp.MustCompile(`^::(error|warning|notice) (file=[^:]*,line=\d+,[^:]*title=[a-z0-9-]+::|title=toolguard::\d+ more)`)
	for _, text := range []string{out, stderr} {
		if err := hostile.Obeyed(text, hostile.Allowed{Colors: true, Commands: commands}); err != nil {
			t.Error(err)
		}
	}
	summary := r.file("summary")
	if !shown.MatchString(summary) {
		t.Errorf("the summary has more than its own markup:\n%s", summary)
	}
	if err := hostile.Obeyed(html.UnescapeString(summary), hostile.Allowed{}); err != nil {
		t.Errorf("summary: %v", err)
	}
	if len(summary) >= 1<<20 {
		t.Errorf("the summary has %d bytes", len(summary))
	}
	for _, want := range []string{"00 &lt;b&gt;&amp;amp;.jsonl:2:", "\n| "} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary lacks %q:\n%s", want, summary)
		}
	}
}

// TestActionSummaryIsSmall: 1 MiB is not reached, whatever the lines hold.
func TestActionSummaryIsSmall(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	line := strings.Repeat("&", 1997) + "é" + strings.Repeat("é", 10_000)
	for name, text := range map[string]string{"long": strings.Repeat(line+"\n", 100), "annotations": "::error file=a::x\n"} {
		if err := os.WriteFile(filepath.Join(r.temp, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	long := filepath.Join(r.temp, "long")
	script := filepath.Join("..", "..", "scripts", "action", "summary.sh")
	got, err := exec.Command(r.bash, script, filepath.Join(r.temp, "annotations"), long, long).Output()
	if err != nil {
		t.Fatal(err)
	}
	short := strings.Repeat("&amp;", 1997) + "é...\n"
	want := "### toolguard\n\n| errors | warnings | notices |\n|---:|---:|---:|\n| 1 | 0 | 0 |\n" +
		"\n<pre><code>" + strings.Repeat(short, 50) + "</code></pre>\n\n50 more, see the log.\n" +
		"\n<pre><code>" + strings.Repeat(short, 20) + "</code></pre>\n\n80 more, see the log.\n"
	if string(got) != want || len(got) >= 1<<20 {
		t.Errorf("%d bytes, want %d: %.200s", len(got), len(want), got)
	}
}

// TestActionWithoutTranscripts: a repository without transcripts is no error, unless the inputs
// say where they are.
func TestActionWithoutTranscripts(t *testing.T) {
	t.Parallel()
	for paths, want := range map[string]int{
		".": exitOK, ".\n": exitOK, ".\r\n": exitOK, "./": exitOK, "": exitOK,
		"runs": exitTrouble, ".\nruns": exitTrouble, "./runs": exitTrouble,
	} {
		r := newRunner(t)
		r.write("runs/package.json", "{}")
		r.vars["${{ inputs.paths }}"] = paths
		if out, stderr, code := r.run("Check transcripts"); code != want {
			t.Errorf("%q: exit code %d, want %d\n%s\n%s", paths, code, want, out, stderr)
		}
	}
}
