// Command notices writes the licences of everything that is linked into
// toolguard and the programs beside it, and compares that file with a binary.
//
//	go run ./scripts/notices THIRD_PARTY_NOTICES
//	go run ./scripts/notices -check bin/toolguard THIRD_PARTY_NOTICES
package main

import (
	"bufio"
	"bytes"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

const (
	module = "github.com/toolguard/toolguard"
	// line is the template of go-licenses: one component a line.
	line = `{{range .}}{{printf "%q %q %q %q %q\n" .Name .Version .LicenseName .LicensePath .LicenseText}}{{end}}`
	rule = "================================================================================"
)

// commands are the programs of a release, and the directories of their modules.
var commands = [...]struct{ dir, name string }{
	{".", "./cmd/toolguard"},
	{"proxy", "./cmd/toolguard-proxy"},
	{"sqlite", "./cmd/toolguard-sqlite"},
	{"parquet", "./cmd/toolguard-parquet"},
}

// systems are those that a release has binaries for. Some modules are linked
// for one of them only.
var systems = [...]string{"linux", "darwin", "windows"}

// accepted are the licences that a component may have.
var accepted = [...]string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0"}

func main() {
	binary := flag.String("check", "", "compare the file with this `binary` instead of writing it")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: notices [-check binary] file")
		os.Exit(2)
	}
	work := func() error { return generate(flag.Arg(0)) }
	if *binary != "" {
		work = func() error { return compare(*binary, flag.Arg(0)) }
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// A component is a part of the program with a licence of its own: a module, or
// a directory of one.
type component struct {
	name, version, licence, text string
}

// heading names the component in the file.
func (c component) heading() string {
	return fmt.Sprintf("%s %s (%s)", c.name, c.version, c.licence)
}

// generate writes the file at path.
func generate(path string) error {
	temp, err := os.MkdirTemp("", "notices")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	template := filepath.Join(temp, "template")
	if err := os.WriteFile(template, []byte(line), 0o600); err != nil {
		return err
	}
	tool := filepath.Join(temp, "go-licenses")
	// The tool is built first, because it runs here whatever GOOS it reports on.
	if _, err := output("", nil, "go", "build", "-modfile=tools/licenses/go.mod", "-o", tool, "github.com/google/go-licenses"); err != nil {
		return err
	}
	root, golang, err := toolchain()
	if err != nil {
		return err
	}
	all := []component{golang}
	for _, system := range systems {
		// go-licenses tells packages of the standard library by GOROOT.
		env := []string{"GOOS=" + system, "CGO_ENABLED=0", "GOROOT=" + root}
		for _, command := range commands {
			report, err := output(command.dir, env, tool, "report", "--ignore", module, "--template", template, command.name)
			if err != nil {
				return err
			}
			found, err := parse(report)
			if err != nil {
				return err
			}
			for i := range found {
				if err := found[i].classify(command.dir); err != nil {
					return err
				}
			}
			all = append(all, found...)
		}
	}
	text, err := notices(all)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// classify recognizes the licence that go-licenses does not know, in the file of the module with a package that
// is linked into the module in dir. go-licenses names each such package.
func (c *component) classify(dir string) error {
	if c.licence != "Unknown" {
		return nil
	}
	of, err := output(dir, nil, "go", "list", "-f", "{{.Module.Path}}\n{{.Module.Version}}\n{{.Module.Dir}}", c.name)
	if err != nil {
		return err
	}
	module := strings.SplitN(strings.TrimSpace(string(of)), "\n", 3)
	if len(module) < 3 {
		return fmt.Errorf("%s: expected a package of a module, got %q", c.name, of)
	}
	c.name, c.version = module[0], module[1]
	text, err := os.ReadFile(filepath.Join(module[2], "LICENSE"))
	if err != nil {
		return err
	}
	if strings.HasPrefix(string(text), "MIT No Attribution License\n") {
		c.licence, c.text = "MIT-0", string(text)
	}
	return nil
}

// toolchain returns the directory of the toolchain, and the component that is the
// standard library and the runtime, which go-licenses leaves out.
func toolchain() (root string, c component, err error) {
	env, err := output("", nil, "go", "env", "GOROOT", "GOVERSION")
	if err != nil {
		return "", component{}, err
	}
	root, version, _ := strings.Cut(strings.TrimSpace(string(env)), "\n")
	root, version = strings.TrimSpace(root), strings.TrimSpace(version)
	text, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return "", component{}, err
	}
	return root, component{name: "Go", version: version, licence: "BSD-3-Clause", text: string(text)}, nil
}

// output runs a command in a directory and returns what it prints. The warnings of
// a command that fails are part of the error.
func output(dir string, env []string, name string, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.Bytes())
	}
	return stdout.Bytes(), nil
}

// parse reads the components of a report. A NOTICE file belongs to the licence
// beside it.
func parse(report []byte) ([]component, error) {
	var found []component
	for raw := range bytes.Lines(report) {
		var c component
		var path string
		if _, err := fmt.Sscanf(string(raw), "%q %q %q %q %q", &c.name, &c.version, &c.licence, &path, &c.text); err != nil {
			return nil, fmt.Errorf("go-licenses printed %q: %w", raw, err)
		}
		if c.name == module || strings.HasPrefix(c.name, module+"/") {
			continue
		}
		notice, err := os.ReadFile(filepath.Join(filepath.Dir(path), "NOTICE"))
		switch {
		case err == nil:
			c.text = strings.TrimRight(c.text, "\n") + "\n\n" + string(notice)
		case !errors.Is(err, os.ErrNotExist):
			return nil, err
		}
		found = append(found, c)
	}
	return found, nil
}

// notices returns the file for the components, each of them once, by name.
func notices(all []component) ([]byte, error) {
	slices.SortFunc(all, func(a, b component) int { return strings.Compare(a.heading(), b.heading()) })
	all = slices.Compact(all)
	var b bytes.Buffer
	fmt.Fprintf(&b, "toolguard contains the following components. Each has its own licence.\n")
	for _, c := range all {
		if !slices.Contains(accepted[:], c.licence) {
			return nil, fmt.Errorf("%s %s has the licence %q, which is not accepted", c.name, c.version, c.licence)
		}
		if strings.TrimSpace(c.text) == "" {
			return nil, fmt.Errorf("%s %s has no licence text", c.name, c.version)
		}
		text := strings.Trim(strings.ReplaceAll(c.text, "\r\n", "\n"), "\n")
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n\n%s\n", rule, c.heading(), rule, text)
	}
	return b.Bytes(), nil
}

// compare returns an error that names what is linked into the binary and
// missing in the file.
func compare(binary, path string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	named, err := headings(f)
	if err != nil {
		return err
	}
	if missing := unnamed(info, named); len(missing) > 0 {
		return fmt.Errorf("%s does not name what is linked into %s: %s", path, binary, strings.Join(missing, ", "))
	}
	return nil
}

// unnamed lists what is linked into a binary and not named.
func unnamed(info *debug.BuildInfo, named []component) []string {
	var missing []string
	look := func(path, version string) {
		if !has(named, path, version) {
			missing = append(missing, path+" "+version)
		}
	}
	// The version of a toolchain may be followed by its experiments.
	version, _, _ := strings.Cut(info.GoVersion, " ")
	look("Go", version)
	for _, dep := range info.Deps {
		if dep.Path == module {
			continue // toolguard itself, which the modules beside it import
		}
		if dep.Replace != nil {
			dep = dep.Replace
		}
		look(dep.Path, strings.TrimSuffix(dep.Version, "+incompatible")) // a module without go.mod
	}
	return missing
}

// headings returns the names and versions of the components in a file.
func headings(r io.Reader) ([]component, error) {
	var named []component
	before := ""
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for ; lines.Scan(); before = lines.Text() {
		if fields := strings.Fields(lines.Text()); before == rule && len(fields) == 3 {
			named = append(named, component{name: fields[0], version: fields[1]})
		}
	}
	return named, lines.Err()
}

// has reports whether a component of the module is named.
func has(named []component, path, version string) bool {
	return slices.ContainsFunc(named, func(c component) bool {
		return c.version == version && (c.name == path || strings.HasPrefix(c.name, path+"/"))
	})
}
