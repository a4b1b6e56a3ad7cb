package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/write"
)

// formatEnv names the environment variable with the default output format.
const formatEnv = "TOOLGUARD_OUTPUT_FORMAT"

// An output is a report format and its destination.
type output struct {
	format report.Format
	path   string // "" for standard output
	file   *write.Output
	rep    report.Reporter
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
func parseOutputs(values []string) ([]*output, error) {
	var outs []*output
	used := map[string]string{}
	for _, value := range values {
		name, path, toFile := strings.Cut(value, "=")
		o := &output{}
		if toFile && path == "" {
			return nil, fmt.Errorf("%s: expected a file name after =", value)
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
			return nil, suggest.Unknown("output format", name, formatNames(), "expected one of "+strings.Join(formatNames(), ", "))
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
			return nil, fmt.Errorf("%s and %s both write to %s", before, value, where)
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

// openOutputs opens all outputs. Those without a file write to stdout.
func openOutputs(outs []*output, stdout io.Writer, reporter func(*output, io.Writer) (report.Reporter, error)) error {
	for _, o := range outs {
		w := stdout
		if o.path != "" {
			f, err := write.Create(o.path)
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
			o.file.Discard()
		}
	}
}
