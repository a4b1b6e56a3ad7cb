// Command pack makes the npm packages of the programs from the archives of a release: a package for
// each platform, and toolguard, which starts the program in it. It verifies the archives with
// checksums.txt.
//
//	go run ./npm/pack [-only OS-CPU] DIST OUT
//
// OUT gets a directory for each package, which npm pack packs.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	only := flag.String("only", "", "make only the package for this `platform`, such as linux-x64")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: pack [-only OS-CPU] DIST OUT")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Arg(1), *only, filepath.Join("npm", "cli")); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// A platform is one for which there is an archive.
type platform struct {
	archive, os, cpu string // as in the name of the archive, and as npm names the platform
}

// name returns the name of its package without the scope.
func (p platform) name() string { return "cli-" + p.os + "-" + p.cpu }

var platforms = []platform{
	{"darwin_amd64", "darwin", "x64"},
	{"darwin_arm64", "darwin", "arm64"},
	{"linux_amd64", "linux", "x64"},
	{"linux_arm64", "linux", "arm64"},
	{"windows_amd64", "win32", "x64"},
	{"windows_arm64", "win32", "arm64"},
}

// programs are the programs of an archive, and notices the other files that each package has.
var (
	programs = []string{"toolguard", "toolguard-proxy", "toolguard-sqlite", "toolguard-parquet"}
	notices  = []string{"LICENSE", "THIRD_PARTY_NOTICES"}
)

// An archive is a line of checksums.txt.
type archive struct{ sum, file string }

var archiveLine = regexp.MustCompile(`^([0-9a-f]{64})  (toolguard_([0-9A-Za-z.+-]+)_([a-z]+_[a-z0-9]+)\.(?:tar\.gz|zip))$`)

// run makes the packages from the archives in dist. cli is the directory of the starter.
func run(dist, out, only, cli string) error {
	archives, version, err := list(filepath.Join(dist, "checksums.txt"))
	if err != nil {
		return err
	}
	starter, err := manifest(filepath.Join(cli, "package.json"))
	if err != nil {
		return err
	}
	dependencies := map[string]string{}
	for _, p := range platforms {
		if only != "" && "cli-"+only != p.name() {
			continue
		}
		a, ok := archives[p.archive]
		if !ok {
			return fmt.Errorf("%s: no archive for %s", filepath.Join(dist, "checksums.txt"), p.archive)
		}
		files, err := unpack(filepath.Join(dist, a.file), a.sum)
		if err != nil {
			return err
		}
		if err := p.write(filepath.Join(out, p.name()), files, starter, version); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(dist, a.file), err)
		}
		dependencies["@toolguard/"+p.name()] = version
	}
	if len(dependencies) == 0 {
		return fmt.Errorf("-only: unknown platform %q", only)
	}
	dir := filepath.Join(out, "toolguard")
	if err := os.CopyFS(dir, os.DirFS(cli)); err != nil {
		return err
	}
	for _, name := range notices {
		text, err := os.ReadFile(name)
		if err == nil {
			err = write(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	starter["version"], starter["optionalDependencies"] = version, dependencies
	return writeJSON(filepath.Join(dir, "package.json"), starter)
}

// list reads the archives by platform, which are all of one version.
func list(name string) (archives map[string]archive, version string, err error) {
	sums, err := os.ReadFile(name)
	if err != nil {
		return nil, "", err
	}
	archives = map[string]archive{}
	for line := range strings.Lines(string(sums)) {
		m := archiveLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue // a package of a distribution, for example
		}
		if version != "" && version != m[3] {
			return nil, "", fmt.Errorf("%s: archives of the versions %s and %s; expected one version", name, version, m[3])
		}
		version, archives[m[4]] = m[3], archive{m[1], m[2]}
	}
	return archives, version, nil
}

// write writes the package of a platform.
func (p platform) write(dir string, files map[string][]byte, starter map[string]any, version string) error {
	m := map[string]any{
		"name": "@toolguard/" + p.name(), "version": version, "description": "The programs of toolguard for " + p.os + " on " + p.cpu,
		"license": starter["license"], "repository": starter["repository"], "os": []string{p.os}, "cpu": []string{p.cpu}, "preferUnplugged": true,
	}
	if err := writeJSON(filepath.Join(dir, "package.json"), m); err != nil {
		return err
	}
	for _, name := range slices.Concat(notices, programs) {
		to, mode := name, os.FileMode(0o644)
		if slices.Contains(programs, name) {
			if p.os == "win32" {
				name += ".exe"
			}
			to, mode = filepath.Join("bin", name), 0o755
		}
		if files[name] == nil {
			return fmt.Errorf("no file %s in it", name)
		}
		if err := write(filepath.Join(dir, to), files[name], mode); err != nil {
			return err
		}
	}
	return nil
}

// unpack verifies an archive and returns its files.
func unpack(name, sum string) (map[string][]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(text)); got != sum {
		return nil, fmt.Errorf("%s: the checksum is %s, expected %s", name, got, sum)
	}
	files := map[string][]byte{}
	if strings.HasSuffix(name, ".zip") {
		r, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, f := range r.File {
			in, err := f.Open()
			if err == nil {
				files[path.Clean(f.Name)], err = io.ReadAll(in)
				err = errors.Join(err, in.Close())
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, f.Name, err)
			}
		}
		return files, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			files[path.Clean(h.Name)], err = io.ReadAll(r)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
}

// manifest reads a package.json.
func manifest(name string) (m map[string]any, err error) {
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

func writeJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return write(name, append(text, '\n'), 0o644)
}

func write(name string, text []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, mode)
}
