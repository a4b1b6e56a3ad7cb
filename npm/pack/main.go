// Command pack makes the npm packages of the programs from the archives of a release: a package for
// each platform, and toolguard, which starts the program in it. It verifies the archives with
// checksums.txt.
//
//	go run ./npm/pack [-only OS-CPU] dist OUT
//
// OUT gets a directory for each package, which npm pack packs.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
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
	if err := run(flag.Arg(0), flag.Arg(1), *only, "npm/cli"); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// A platform is one for which there is an archive.
type platform struct {
	archive, os, cpu string // as in the name of the archive, and as npm names the platform
}

// name returns the name of its package without the scope.
func (p platform) name() string { return p.os + "-" + p.cpu }

var platforms = []platform{
	{"darwin_amd64", "darwin", "x64"},
	{"darwin_arm64", "darwin", "arm64"},
	{"linux_amd64", "linux", "x64"},
	{"linux_arm64", "linux", "arm64"},
	{"windows_amd64", "win32", "x64"},
	{"windows_arm64", "win32", "arm64"},
}

// programs are the programs that an archive may have. The first one is in all of them.
var programs = []string{"toolguard", "toolguard-proxy", "toolguard-sqlite"}

// notices are the other files of an archive that each package has.
var notices = []string{"LICENSE", "THIRD_PARTY_NOTICES"}

var archiveName = regexp.MustCompile(`^([0-9a-f]{64})  toolguard_([0-9A-Za-z.+-]+)_([a-z]+_[a-z0-9]+)\.(tar\.gz|zip)$`)

// run makes the packages from the archives in dist. cli is the directory of the starter.
func run(dist, out, only, cli string) error {
	sums, err := os.ReadFile(filepath.Join(dist, "checksums.txt"))
	if err != nil {
		return err
	}
	type archive struct{ sum, version, file string }
	archives := map[string]archive{}
	version := ""
	for line := range strings.Lines(string(sums)) {
		m := archiveName.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue // a package of a distribution, for example
		}
		if version != "" && version != m[2] {
			return fmt.Errorf("%s has archives of the versions %s and %s; expected one version", filepath.Join(dist, "checksums.txt"), version, m[2])
		}
		version = m[2]
		_, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		archives[m[3]] = archive{m[1], m[2], file}
	}
	starter, err := manifest(filepath.Join(cli, "package.json"))
	if err != nil {
		return err
	}
	var shipped []string // by all platforms
	dependencies := map[string]string{}
	for _, p := range platforms {
		if only != "" && only != p.name() {
			continue
		}
		a, ok := archives[p.archive]
		if !ok {
			return fmt.Errorf("%s lists no archive for %s", filepath.Join(dist, "checksums.txt"), p.archive)
		}
		files, err := unpack(filepath.Join(dist, a.file), a.sum)
		if err != nil {
			return err
		}
		dir := filepath.Join(out, "cli-"+p.name())
		has, err := p.write(dir, files, starter, version)
		if err != nil {
			return fmt.Errorf("%s: %w", a.file, err)
		}
		if shipped != nil && !slices.Equal(shipped, has) {
			return fmt.Errorf("%s has the programs %s, and another archive has %s", a.file, strings.Join(has, ", "), strings.Join(shipped, ", "))
		}
		shipped = has
		dependencies["@toolguard/cli-"+p.name()] = version
	}
	if len(dependencies) == 0 {
		return fmt.Errorf("unknown platform %q", only)
	}
	return start(filepath.Join(out, "toolguard"), filepath.Join(cli, "launch.js"), starter, version, shipped, dependencies)
}

// write writes the package of a platform, and returns the programs in it.
func (p platform) write(dir string, files map[string][]byte, starter map[string]any, version string) (has []string, err error) {
	m := map[string]any{
		"name": "@toolguard/cli-" + p.name(), "version": version, "description": "The programs of toolguard for " + p.name(),
		"license": starter["license"], "repository": starter["repository"], "os": []string{p.os}, "cpu": []string{p.cpu}, "preferUnplugged": true,
	}
	if err := writeJSON(filepath.Join(dir, "package.json"), m); err != nil {
		return nil, err
	}
	for _, name := range notices {
		if files[name] == nil {
			return nil, fmt.Errorf("it has no file %s", name)
		}
		if err := write(filepath.Join(dir, name), files[name], 0o644); err != nil {
			return nil, err
		}
	}
	for i, name := range programs {
		file := name
		if p.os == "win32" {
			file += ".exe"
		}
		if files[file] == nil {
			if i == 0 {
				return nil, fmt.Errorf("it has no file %s", file)
			}
			continue
		}
		if err := write(filepath.Join(dir, "bin", file), files[file], 0o755); err != nil {
			return nil, err
		}
		has = append(has, name)
	}
	return has, nil
}

// start writes the package that starts the programs.
func start(dir, launch string, m map[string]any, version string, shipped []string, dependencies map[string]string) error {
	m = maps.Clone(m)
	m["version"], m["optionalDependencies"] = version, dependencies
	bin := map[string]string{}
	for _, name := range shipped {
		bin[name] = "bin/" + name + ".js"
		text := fmt.Sprintf("#!/usr/bin/env node\nimport { launch } from '../launch.js';\n\nlaunch('%s');\n", name)
		if err := write(filepath.Join(dir, "bin", name+".js"), []byte(text), 0o755); err != nil {
			return err
		}
	}
	m["bin"] = bin
	text, err := os.ReadFile(launch)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(dir, "launch.js"), text, 0o644); err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, "package.json"), m)
}

// unpack verifies an archive and returns its files.
func unpack(name, sum string) (map[string][]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if got := sha256.Sum256(text); hex.EncodeToString(got[:]) != sum {
		return nil, fmt.Errorf("%s: the checksum is %x, expected %s", name, got, sum)
	}
	files := map[string][]byte{}
	if strings.HasSuffix(name, ".zip") {
		r, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, f := range r.File {
			in, err := f.Open()
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, f.Name, err)
			}
			files[path.Clean(f.Name)], err = io.ReadAll(in)
			if err := errors.Join(err, in.Close()); err != nil {
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
func manifest(name string) (map[string]any, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
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
