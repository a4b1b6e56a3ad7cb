package main

import (
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/write"
)

// overwrites returns an error if the run would write a file that it reads, or
// write a file twice. others are the files that it writes besides reports.
func (c *check) overwrites(files []*target, others ...string) error {
	if err := c.prints(files); err != nil {
		return err
	}
	written := slices.Concat(others, c.reports())
	for i, name := range written {
		rest := slices.Values(written[i+1:])
		if one, other, twice := write.Overlap(write.Existing(rest), write.Existing(slices.Values([]string{name}))); twice {
			return fmt.Errorf("%s: not written: it is the same file as %s, which this run also writes", one, other)
		}
	}
	return c.reads(files, written)
}

// admitsOut returns an error if out, the output of a command that reads one file, is a file that the run
// reads, or one that exists and may not be overwritten. "-" is standard output.
func (c *check) admitsOut(t *target, out string, overwrite bool) error {
	files := []*target{t}
	if out == "-" {
		return c.overwrites(files)
	}
	if err := c.overwrites(files, out); err != nil || overwrite {
		return err
	}
	for name := range write.Existing(slices.Values([]string{out})) {
		return fmt.Errorf("%s: already exists; --overwrite replaces it", name)
	}
	return nil
}

// reads returns an error if one of the files that the run writes is one that it reads.
func (c *check) reads(files []*target, written []string) error {
	out, in, found := write.Overlap(write.Existing(slices.Values(written)), c.inputs(files))
	if !found {
		return nil
	}
	why := "this run also reads it"
	if out != in {
		why = "it is the same file as " + in + ", which this run reads"
	}
	if slices.ContainsFunc(files, func(t *target) bool { return t.path == in && !t.named }) {
		why += " (--exclude skips it)"
	}
	return fmt.Errorf("%s: not written: %s", out, why)
}

// reports lists the files of the reports.
func (c *check) reports() []string {
	var names []string
	for _, o := range c.outputs {
		if o.to == toFile {
			names = append(names, o.path)
		}
	}
	return names
}

// prints returns an error if standard output goes to a file that the user named.
// A file that was found in a directory may be an older report, which is harmless.
func (c *check) prints(files []*target) error {
	out := regularFile(c.rawStdout)
	if out == nil {
		return nil
	}
	stdout := func(yield func(string, fs.FileInfo) bool) { yield("standard output", out) }
	if _, in, found := write.Overlap(stdout, c.targetFiles(files, true)); found {
		return fmt.Errorf("%s: standard output goes to this file, which this run reads", in)
	}
	return nil
}

// targetFiles yields the files that the run checks, or only those that the user
// named.
func (c *check) targetFiles(files []*target, named bool) iter.Seq2[string, fs.FileInfo] {
	return func(yield func(string, fs.FileInfo) bool) {
		for _, t := range files {
			if named && !t.named {
				continue
			}
			var info fs.FileInfo
			if t.stdin {
				info = regularFile(c.stdin)
			} else if i, err := os.Stat(t.path); err == nil {
				info = i
			}
			if info != nil && !yield(t.path, info) {
				return
			}
		}
	}
}

// inputs yields the files that the run reads: the transcripts, the files beside
// them, configs, tools, and baselines unless the run writes them.
func (c *check) inputs(files []*target) iter.Seq2[string, fs.FileInfo] {
	var more []string
	add := func(name string) {
		if name != "" && !slices.Contains(more, name) {
			more = append(more, name)
		}
	}
	add(c.resolver.flags.tools)
	for file := range c.known {
		if file != nil {
			add(file.Path)
		}
		if !c.records {
			add(c.baselines.path(c.settings(file)))
		}
	}
	slices.Sort(more)
	return func(yield func(string, fs.FileInfo) bool) {
		for name, info := range c.targetFiles(files, false) {
			if !yield(name, info) {
				return
			}
		}
		beside := func(yield func(string) bool) {
			for _, t := range files {
				if stem, lines := strings.CutSuffix(t.path, ".jsonl"); lines && !t.stdin && !yield(stem+sidecar) {
					return
				}
			}
		}
		for _, names := range []iter.Seq[string]{slices.Values(more), beside} {
			for name, info := range write.Existing(names) {
				if !yield(name, info) {
					return
				}
			}
		}
	}
}

// regularFile returns the file info of a stream that is a regular file, nil for
// any other stream.
func regularFile(stream any) fs.FileInfo {
	if info := infoOf(stream); info != nil && info.Mode().IsRegular() {
		return info
	}
	return nil
}

// infoOf returns the file info of a stream, nil if it is not a file.
func infoOf(stream any) fs.FileInfo {
	f, ok := stream.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err == nil {
		return info
	}
	return nil
}
