package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/write"
)

// formatEnv names the environment variable with the default output format.
const formatEnv = "TOOLGUARD_OUTPUT_FORMAT"

// A destination says where a report goes.
type destination uint8

const (
	toFile destination = iota
	toStdout
	toStderr
)

// An output is a report format and its destination.
type output struct {
	value  string // as the user gave it
	format report.Format
	to     destination
	path   string // as the user gave it, "" for the default
	file   *write.Output
	rep    report.Reporter
	failed bool // the report could not be written
}

// where names the place that an output writes to.
func (o *output) where() string {
	switch o.to {
	case toStdout:
		return "standard output"
	case toStderr:
		return "standard error"
	}
	return filepath.Clean(o.path)
}

// splitOutputs splits a value of --output-format at its commas if each part begins with the
// name of a format. Otherwise the commas are part of the name of a file.
func splitOutputs(value string) []string {
	parts := strings.Split(value, ",")
	for _, part := range parts {
		if name, _, _ := strings.Cut(part, "="); !slices.Contains(formatNames(), name) {
			return []string{value}
		}
	}
	return parts
}

// parseOutputs parses the values of --output-format: FMT or FMT=FILE.
func (a *app) parseOutputs(values []string) ([]*output, error) {
	var outs []*output
	for _, value := range values {
		name, path, named := strings.Cut(value, "=")
		o := &output{value: value, to: toStdout}
		if named && path == "" {
			return nil, fmt.Errorf("%s: expected a file name after =", value)
		}
		if named && path != "-" {
			o.path, o.to = path, a.destinationOf(path)
		}
		for _, f := range report.Formats() {
			if f.Name == name {
				o.format = f
			}
		}
		if o.format.New == nil {
			return nil, suggest.Unknown("output format", name, formatNames(), "expected one of "+strings.Join(formatNames(), ", "))
		}
		outs = append(outs, o)
	}
	return outs, distinct(outs)
}

// destinationOf returns where a report with this path goes. The standard streams have names,
// and they may be open files that have other names: if one is a regular file, a new file
// would take its place, and everything else that is written to the stream would be lost.
func (a *app) destinationOf(path string) destination {
	switch clean := filepath.ToSlash(filepath.Clean(path)); {
	case isStream(clean, "stdout", "1"):
		return toStdout
	case isStream(clean, "stderr", "2"):
		return toStderr
	}
	info, err := os.Stat(path)
	if err != nil {
		return toFile
	}
	if null, err := os.Stat(os.DevNull); err == nil && os.SameFile(info, null) {
		return toFile // it takes any number of reports
	}
	switch {
	case isOpen(info, a.rawStdout):
		return toStdout
	case isOpen(info, a.rawStderr):
		return toStderr
	}
	return toFile
}

// isOpen reports whether a stream is the file that info describes.
func isOpen(info fs.FileInfo, stream io.Writer) bool {
	open := infoOf(stream)
	return open != nil && os.SameFile(info, open)
}

// sameFile reports whether two streams are the same file, such as a terminal.
func sameFile(a, b io.Writer) bool {
	info := infoOf(a)
	return info != nil && isOpen(info, b)
}

// isStream reports whether a path is a name that the system gives to one of the standard
// streams of this process.
func isStream(path, name, number string) bool {
	switch path {
	case "/dev/" + name, "/dev/fd/" + number, "/proc/self/fd/" + number, "/proc/thread-self/fd/" + number:
		return true
	}
	return path == "/proc/"+strconv.Itoa(os.Getpid())+"/fd/"+number
}

// distinct returns an error if two outputs go to the same place.
func distinct(outs []*output) error {
	used := map[string]*output{}
	for _, o := range outs {
		key := o.where()
		if o.to == toFile {
			key = "file " + whole(o.path)
		}
		if before, twice := used[key]; twice {
			return fmt.Errorf("%s and %s both write to %s", before.value, o.value, o.where())
		}
		used[key] = o
	}
	return nil
}

// whole returns the absolute name of a file, with the links of its directory resolved. The
// file need not exist.
func whole(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return filepath.Clean(path)
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Join(dir, filepath.Base(path))
}

func formatNames() []string {
	var names []string
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// A sidePipe is standard output if the run also writes files. It ignores a broken
// pipe, so that the files are still written.
type sidePipe struct {
	io.Writer
	broken bool
}

// Write implements io.Writer.
func (p *sidePipe) Write(b []byte) (int, error) {
	if p.broken {
		return len(b), nil
	}
	n, err := p.Writer.Write(b)
	if isBrokenPipe(err) {
		p.broken = true
		return len(b), nil
	}
	return n, err
}

// openOutputs opens all outputs of a run.
func (c *check) openOutputs() error {
	for _, o := range c.outputs {
		if o.to != toFile {
			continue
		}
		f, err := write.Create(o.path)
		if err != nil {
			discardOutputs(c.outputs)
			return err
		}
		o.file = f
	}
	err := c.each(func(o *output) (err error) {
		var w io.Writer
		switch o.to {
		case toStdout:
			w = c.out
		case toStderr:
			w = c.errOut
		default:
			w = o.file
		}
		o.rep, err = c.reporter(o, w)
		return err
	})
	if err != nil {
		discardOutputs(c.outputs)
	}
	return err
}

// discardOutputs removes files that were not committed.
func discardOutputs(outs []*output) {
	for _, o := range outs {
		if o.file != nil {
			o.file.Discard()
		}
	}
}
