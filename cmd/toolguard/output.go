package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/suggest"
)

// formatEnv names the environment variable with the default output format.
const formatEnv = "TOOLGUARD_OUTPUT_FORMAT"

// An output is one place to which findings are written.
type output struct {
	format report.Format
	path   string // "" for standard output
	file   *outputFile
	rep    report.Reporter
}

// parseOutputs reads values of --output-format: FMT or FMT=FILE.
func parseOutputs(values []string) ([]*output, error) {
	var outs []*output
	used := map[string]string{}
	for _, value := range values {
		name, path, toFile := strings.Cut(value, "=")
		o := &output{}
		if toFile && path == "" {
			return nil, fmt.Errorf("%s: no file after the =", value)
		}
		if path != "-" {
			o.path = path
		}
		for _, f := range report.Formats() {
			if f.Name == name {
				o.format = f
			}
		}
		if o.format.New == nil {
			return nil, suggest.Unknown("output format", name, formatNames(), "known are "+strings.Join(formatNames(), ", "))
		}
		key := o.path
		if key != "" {
			key = filepath.Clean(key)
		}
		if before, twice := used[key]; twice {
			where := "standard output"
			if key != "" {
				where = key
			}
			return nil, fmt.Errorf("%s and %s both go to %s", before, value, where)
		}
		used[key] = value
		outs = append(outs, o)
	}
	return outs, nil
}

func formatNames() []string {
	var names []string
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// A sidePipe is standard output beside files: when nobody reads it any more,
// the files are still written.
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

// An outputFile is a file that gets its name only when it is complete.
type outputFile struct {
	*bufio.Writer
	f    *os.File
	path string // the name it is to have
	temp string // the name it has so far, "" if it is written to in place
}

// createOutput creates the file path, or rather one beside it. What is no
// regular file, such as a pipe, is written to in place.
func createOutput(path string) (*outputFile, error) {
	mode := os.FileMode(0o666)
	name := path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil {
		switch {
		case info.IsDir():
			return nil, errors.New(name + ": is a directory")
		case !info.Mode().IsRegular():
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return nil, pathError(name, err)
			}
			return &outputFile{Writer: bufio.NewWriter(f), f: f, path: path}, nil
		}
		mode = info.Mode().Perm()
	}
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+strconv.FormatUint(rand.Uint64(), 36)+".tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, pathError(name, err)
	}
	return &outputFile{Writer: bufio.NewWriter(f), f: f, path: path, temp: temp}, nil
}

// commit writes what is left and gives the file its name.
func (o *outputFile) commit() error {
	err := o.Flush()
	if e := o.f.Close(); err == nil {
		err = e
	}
	if err == nil && o.temp != "" {
		err = os.Rename(o.temp, o.path)
	}
	if err != nil {
		o.discard()
		if le, ok := errors.AsType[*os.LinkError](err); ok {
			err = le.Err
		}
		return pathError(o.path, err)
	}
	o.temp = ""
	return nil
}

// discard removes a file that was not committed.
func (o *outputFile) discard() {
	o.f.Close()
	if o.temp != "" {
		os.Remove(o.temp)
		o.temp = ""
	}
}

// openOutputs opens all outputs; stdout is the writer of those without a file.
func openOutputs(outs []*output, stdout io.Writer, reporter func(*output, io.Writer) (report.Reporter, error)) error {
	for _, o := range outs {
		w := stdout
		if o.path != "" {
			f, err := createOutput(o.path)
			if err != nil {
				discardOutputs(outs)
				return err
			}
			o.file, w = f, f
		}
		rep, err := reporter(o, w)
		if err != nil {
			discardOutputs(outs)
			return err
		}
		o.rep = rep
	}
	return nil
}

// discardOutputs removes files that were not committed.
func discardOutputs(outs []*output) {
	for _, o := range outs {
		if o.file != nil {
			o.file.discard()
		}
	}
}
