package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/planted"
	"github.com/toolguard/toolguard/internal/report"
)

// internalError is what a user sees of a panic.
const internalError = "internal error in toolguard 0.0.0-test; please report it at https://github.com/toolguard/toolguard/issues, with what --debug prints"

// A planting is a run of a command with the dialect and the rule that panic.
type planting struct {
	*app
	stdout, stderr bytes.Buffer
	jobs           int
	formats        []string
	spoil          func([]*output) // changes the outputs
}

func newPlanting(jobs int, formats ...string) *planting {
	p := &planting{jobs: jobs, formats: formats, spoil: func([]*output) {}}
	p.app = newApp(strings.NewReader(""), &p.stdout, &p.stderr, func(key string) string {
		switch key {
		case "SOURCE_DATE_EPOCH":
			return "1700000000"
		case "XDG_STATE_HOME", "LOCALAPPDATA":
			return whole("state")
		}
		return ""
	})
	return p
}

func (p *planting) checkFlags() checkFlags {
	return checkFlags{formats: p.formats, color: "auto", jobs: p.jobs}
}

// plant adds the dialect and the rule to the settings of all files.
func plant(r *resolver) {
	s := r.settings(nil)
	s.dialects, s.rules = s.dialects.With(planted.Dialect()), append(s.rules, planted.Rule())
}

func (p *planting) check(t *testing.T, paths ...string) error {
	t.Helper()
	f := p.checkFlags()
	c, err := newCheck(p.app, &f)
	if err != nil {
		t.Fatal(err)
	}
	plant(c.resolver)
	p.spoil(c.outputs)
	return c.run(t.Context(), paths)
}

func (p *planting) fix(t *testing.T, write bool, paths ...string) error {
	t.Helper()
	f := &fixFlags{prove: proofs[0], checkFlags: p.checkFlags(), write: write, backup: "none"}
	x, err := newFix(p.app, f, paths, func(flag string) bool { return flag == "backup" })
	if err != nil {
		t.Fatal(err)
	}
	plant(x.resolver)
	p.spoil(x.outputs)
	return x.run(t.Context(), paths)
}

// allFormats returns an output in each format, in a directory.
func allFormats(dir string) []string {
	var out []string
	for _, f := range report.Formats() {
		out = append(out, f.Name+"="+filepath.Join(dir, f.Name))
	}
	return out
}

// contents returns the files of a directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	return out
}

// sessions writes sessions: some with a call without a result, some without a problem, and bad in
// the middle unless it is "". It returns their paths, also that of a file that is not written.
func sessions(t *testing.T, bad string) (paths []string) {
	t.Helper()
	for i, name := range []string{"a", "b", "m", "x", "y"} {
		path := filepath.Join("in", name+".jsonl")
		paths = append(paths, path)
		text := planted.Lines("c" + name)
		switch {
		case name == "m":
			text = bad
		case i%2 == 1:
			text = `{"by":"user","says":"x"}` + "\n" + `{"by":"model","says":"y"}` + "\n"
		}
		if text != "" {
			fixture(t, ".", path, []byte(text))
		}
	}
	return paths
}

// TestPanicInFile: a panic in one file is an internal error of that file. All reports are those of
// a run in which this file does not exist, except for why it failed, and of two files that are
// written both are.
func TestPanicInFile(t *testing.T) {
	type result struct {
		reports, written map[string]string
		stdout, stderr   string
	}
	home := t.TempDir()
	n := 0
	// try runs a command in a new directory.
	try := func(command, bad string, jobs int) result {
		n++
		t.Chdir(home)
		if err := os.MkdirAll(fmt.Sprintf("%d/out", n), 0o777); err != nil {
			t.Fatal(err)
		}
		t.Chdir(strconv.Itoa(n))
		paths := sessions(t, bad)
		p := newPlanting(jobs, allFormats("out")...)
		var err error
		switch command {
		case "check":
			err = p.check(t, paths...)
		case "fix":
			err = p.fix(t, false, paths...)
		default:
			err = p.fix(t, true, paths...)
		}
		if !errors.Is(err, errReported) {
			t.Errorf("%s, %s: got the error %v, so the exit code is not 2", command, bad, err)
		}
		return result{contents(t, "out"), contents(t, "in"), p.stdout.String(), p.stderr.String()}
	}
	for _, tt := range []struct{ command, id string }{
		{"check", planted.InReader},
		{"check", planted.InRule},
		{"check", planted.InRepair}, // a repair is tried
		{"fix", planted.InReader},
		{"fix", planted.InRepair},
		{"fix", planted.InProof},
		{"fix --write", planted.InReader},
		{"fix --write", planted.InRepair},
		{"fix --write", planted.InProof},
	} {
		want := try(tt.command, "", 1)
		bad := planted.Lines(tt.id)
		same := strings.NewReplacer(internalError, "no such file or directory")
		for _, jobs := range []int{1, 2} {
			got := try(tt.command, bad, jobs)
			name := fmt.Sprintf("%s, %s, -j%d", tt.command, tt.id, jobs)
			if got.written["m.jsonl"] != bad {
				t.Errorf("%s: the file is now\n%s", name, got.written["m.jsonl"])
			}
			delete(got.written, "m.jsonl")
			if diff := gocmp.Diff(want.written, got.written); diff != "" {
				t.Errorf("%s: the other files: %s", name, diff)
			}
			if got.stdout != want.stdout || same.Replace(got.stderr) != want.stderr || strings.Count(got.stderr, internalError) != 1 {
				t.Errorf("%s: standard output\n%s\nand standard error\n%s\ninstead of\n%s\n%s", name, got.stdout, got.stderr, want.stdout, want.stderr)
			}
			for _, f := range report.Formats() {
				text := got.reports[f.Name]
				if !strings.Contains(text, "internal error in toolguard 0.0.0-test") {
					t.Errorf("%s: the %s report does not name the file:\n%s", name, f.Name, text)
				}
				if diff := gocmp.Diff(want.reports[f.Name], same.Replace(text)); diff != "" {
					t.Errorf("%s: the %s report: %s", name, f.Name, diff)
				}
			}
		}
	}
}

// A spoilt report panics or fails in one of its methods.
type spoilt struct {
	report.Reporter
	in   string
	fail error // nil for a panic
}

func (s spoilt) spoil(in string) error {
	if in != s.in {
		return nil
	}
	if s.fail == nil {
		panic(planted.Value)
	}
	return s.fail
}

func (s spoilt) File(r *engine.Report) error { return cmp.Or(s.spoil("File"), s.Reporter.File(r)) }

func (s spoilt) Close(sum *report.Summary) error {
	return cmp.Or(s.spoil("Close"), s.Reporter.Close(sum))
}

func (s spoilt) Fixed(f *engine.Fixed, written bool) error {
	if err := s.spoil("Fixed"); err != nil {
		return err
	}
	if rep, ok := s.Reporter.(report.FixReporter); ok {
		return rep.Fixed(f, written)
	}
	return nil
}

// TestPanicInReport: a report that panics or fails is named, and its file is not created. All
// others are complete, and files are written all the same.
func TestPanicInReport(t *testing.T) {
	home := t.TempDir()
	n := 0
	full := errors.New("out/sarif: no space left on device")
	try := func(write bool, jobs int, spoil func([]*output)) (reports map[string]string, stdout, stderr string, err error) {
		n++
		t.Chdir(home)
		if err := os.MkdirAll(fmt.Sprintf("%d/out", n), 0o777); err != nil {
			t.Fatal(err)
		}
		t.Chdir(strconv.Itoa(n))
		paths := sessions(t, planted.Lines("c9"))
		p := newPlanting(jobs, append(allFormats("out"), "concise")...)
		p.formats = slices.DeleteFunc(p.formats, func(f string) bool { return strings.HasPrefix(f, "concise=") })
		p.spoil = spoil
		if write {
			err = p.fix(t, true, paths...)
		} else {
			err = p.check(t, paths...)
		}
		if text := contents(t, "in")["m.jsonl"]; write != strings.Contains(text, "[toolguard]") {
			t.Errorf("the file is\n%s", text)
		}
		return contents(t, "out"), p.stdout.String(), p.stderr.String(), err
	}
	for _, write := range []bool{false, true} {
		want, stdout, stderr, err := try(write, 1, func([]*output) {})
		if len(want) != len(report.Formats())-1 || stdout == "" && !write || errors.Is(err, errReported) {
			t.Fatalf("%v: %d reports, and\n%s", err, len(want), stdout)
		}
		for _, jobs := range []int{1, 2} {
			for _, in := range []string{"New", "File", "Fixed", "Close"} {
				for _, fail := range []error{nil, full} {
					if in == "Fixed" && !write || in == "New" && fail != nil {
						continue
					}
					got, out, errs, err := try(write, jobs, func(outs []*output) {
						for _, o := range outs {
							if o.format.Name != "sarif" {
								continue
							}
							made := o.format.New
							o.format.New = func(w io.Writer, opts report.Options) report.Reporter {
								_ = spoilt{in: in}.spoil("New")
								return spoilt{made(w, opts), in, fail}
							}
						}
					})
					name := fmt.Sprintf("write %v, -j%d, %s, %v", write, jobs, in, fail)
					said := "toolguard: " + filepath.Join("out", "sarif") + ": the sarif report is not complete: " + internalError + "\n"
					if fail != nil {
						said = "toolguard: " + fail.Error() + "\n"
					}
					if !errors.Is(err, errReported) || strings.Count(errs, said) != 1 || strings.Replace(errs, said, "", 1) != stderr || out != stdout {
						t.Errorf("%s: %v, standard output\n%s\nstandard error\n%s\nwant\n%s", name, err, out, errs, said+stderr)
					}
					if _, created := got["sarif"]; created {
						t.Errorf("%s: the file is created", name)
					}
					for format, text := range want {
						if diff := gocmp.Diff(text, got[format]); format != "sarif" && diff != "" {
							t.Errorf("%s: the %s report: %s", name, format, diff)
						}
					}
					if len(got) != len(want)-1 {
						t.Errorf("%s: %d files", name, len(got))
					}
				}
			}
		}
	}
}

// TestPanicOnStandardOutput: a report on standard output that panics does not harm the others.
func TestPanicOnStandardOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	paths := sessions(t, "")[:2]
	p := newPlanting(1, "json=good.json")
	if err := p.check(t, paths...); !errors.Is(err, errFindings) {
		t.Fatal(err)
	}
	p = newPlanting(1, "json=json", "concise")
	p.spoil = func(outs []*output) {
		made := outs[1].format.New
		outs[1].format.New = func(w io.Writer, opts report.Options) report.Reporter {
			return spoilt{made(w, opts), "File", nil}
		}
	}
	err := p.check(t, paths...)
	said := "toolguard: standard output: the concise report is not complete: " + internalError + "\n"
	if !errors.Is(err, errReported) || p.stdout.Len() > 0 || !strings.HasPrefix(p.stderr.String(), said) {
		t.Errorf("%v, standard output\n%s\nstandard error\n%s", err, &p.stdout, &p.stderr)
	}
	files := contents(t, ".")
	if diff := gocmp.Diff(files["good.json"], files["json"]); diff != "" {
		t.Error(diff)
	}
}

// TestPanicInOtherCommands: the commands that read one file, list files or write parts of them go on
// or fail without a trace of the file, and say so with its path first.
func TestPanicInOtherCommands(t *testing.T) {
	never := func(string) bool { return false }
	isolated := fileFlags{configFlags: configFlags{isolated: true}, stdinName: stdinName}
	failed := "toolguard: " + filepath.Join("in", "m.jsonl") + ": " + internalError + "\n"
	for _, tt := range []struct {
		name   string
		run    func(p *planting, paths []string) error
		stdout string // what it contains
		stderr string
		err    error
		files  []string // that are created
	}{
		{name: "filter", err: errReported, files: []string{"kept"}, stderr: failed, run: func(p *planting, paths []string) error {
			f := &filterFlags{checkFlags: p.checkFlags(), out: "kept"}
			f.fileFlags = isolated
			x, err := newFiltering(p.app, f, never)
			if err != nil {
				return err
			}
			plant(x.resolver)
			return x.run(t.Context(), append(paths, "in/../in"))
		}},
		{name: "doctor", err: errReported, stderr: failed, stdout: "4 sessions  2 broken", run: func(p *planting, _ []string) error {
			f := &doctorFlags{color: "auto", path: "in", jobs: p.jobs}
			d, err := newDoctor(p.app, f, never)
			if err != nil {
				return err
			}
			plant(d.resolver)
			return d.run(t.Context())
		}},
		{name: "doctor --fix", err: errReported, stderr: failed, stdout: "repaired 1 problem (1 inserted)", files: []string{"state"}, run: func(p *planting, _ []string) error {
			f := &doctorFlags{color: "auto", path: "in", jobs: p.jobs, fix: choice{made: true}, yes: true}
			d, err := newDoctor(p.app, f, never)
			if err != nil {
				return err
			}
			plant(d.resolver)
			return d.run(t.Context())
		}},
		{name: "baseline", err: errReported, stderr: failed + "toolguard: no baseline was written, because some files could not be checked\n", run: func(p *planting, paths []string) error {
			f := p.checkFlags()
			f.formats, f.baseline, f.fileFlags = []string{"text"}, "known", isolated
			c, err := newCheck(p.app, &f)
			if err != nil {
				return err
			}
			plant(c.resolver)
			r := &recording{check: c, updates: map[string]*update{}}
			return r.run(t.Context(), paths)
		}},
		{name: "trim", err: errors.New(strings.TrimSuffix(strings.TrimPrefix(failed, "toolguard: "), "\n")), run: func(p *planting, paths []string) error {
			f := &trimFlags{checkFlags: p.checkFlags(), counter: "estimate", boundary: "user", out: "short"}
			f.KeepLast, f.KeepResults, f.fileFlags = 1, 3, isolated
			x, err := newTrimming(p.app, f, never)
			if err != nil {
				return err
			}
			plant(x.resolver)
			return x.run(t.Context(), paths[2:3])
		}},
		{name: "redact", err: errors.New(strings.TrimSuffix(strings.TrimPrefix(failed, "toolguard: "), "\n")), run: func(p *planting, paths []string) error {
			f := &redactFlags{checkFlags: p.checkFlags(), out: "filler"}
			f.fileFlags = isolated
			x, err := newRedaction(p.app, f)
			if err != nil {
				return err
			}
			plant(x.resolver)
			return x.run(t.Context(), paths[2:3])
		}},
	} {
		for _, jobs := range []int{1, 2} {
			t.Chdir(t.TempDir())
			bad := planted.Lines(planted.InReader)
			paths := sessions(t, bad)
			p := newPlanting(jobs)
			err := tt.run(p, slices.Clone(paths))
			if fmt.Sprint(err) != fmt.Sprint(tt.err) || !strings.Contains(p.stderr.String(), tt.stderr) || !strings.Contains(p.stdout.String(), tt.stdout) {
				t.Errorf("%s, -j%d: %v, standard output\n%s\nand standard error\n%s", tt.name, jobs, err, &p.stdout, &p.stderr)
			}
			if text := contents(t, "in")["m.jsonl"]; text != bad {
				t.Errorf("%s, -j%d: the file is now\n%s", tt.name, jobs, text)
			}
			var created []string
			entries, err := os.ReadDir(".")
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if e.Name() != "in" {
					created = append(created, e.Name())
				}
			}
			if diff := gocmp.Diff(tt.files, created); diff != "" {
				t.Errorf("%s, -j%d: created: %s", tt.name, jobs, diff)
			}
		}
	}
}

// TestPanicInRow: filter rejects a row whose check panics, says so, and goes on.
func TestPanicInRow(t *testing.T) {
	t.Chdir(t.TempDir())
	sound := `{"history":[{"by":"user","says":"x"},{"by":"model","says":"y"}]}` + "\n"
	fixture(t, ".", "rows.jsonl", []byte(sound+planted.Row(planted.InRule)+"\n"+sound+planted.Row(planted.InReader)+"\n"))
	p := newPlanting(1)
	f := &filterFlags{checkFlags: p.checkFlags(), out: "kept", reasons: "reasons"}
	f.isolated = true
	x, err := newFiltering(p.app, f, func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	plant(x.resolver)
	if err := x.run(t.Context(), []string{"rows.jsonl"}); err != nil {
		t.Errorf("got the error %v", err)
	}
	files := contents(t, ".")
	if files["kept"] != sound+sound {
		t.Errorf("kept\n%s", files["kept"])
	}
	want := "toolguard: rows.jsonl: rejected 2 conversations: " + internalError + `
  rejected  rule
         2  internal-error
Kept 2 of 4 conversations, rejected 2 (50.0 %).
`
	if diff := gocmp.Diff(want, p.stderr.String()); diff != "" {
		t.Error(diff)
	}
	for i, reason := range strings.Split(strings.TrimSuffix(files["reasons"], "\n"), "\n") {
		start := fmt.Sprintf(`{"path":"rows.jsonl","record":%d,"line":%[1]d,`, 2*i+2)
		if !strings.HasPrefix(reason, start) || !strings.HasSuffix(reason, `,"reason":"internal-error","findings":[]}`) || i > 1 {
			t.Errorf("reason %d: %s", i, reason)
		}
	}
}

// TestDebug: --debug, before or behind the command, prints the stack of an internal error.
func TestDebug(t *testing.T) {
	t.Chdir(t.TempDir())
	paths := sessions(t, planted.Lines(planted.InReader))
	for _, args := range [][]string{{"--debug", "check", "-"}, {"check", "--debug", "-"}} {
		a := newApp(strings.NewReader(cut), io.Discard, io.Discard, noEnv)
		if code := a.run(t.Context(), args); code != exitFindings || !a.debug {
			t.Errorf("%q: exit code %d, debug %v", args, code, a.debug)
		}
	}
	p := newPlanting(1)
	p.debug = true
	err := p.check(t, paths...)
	said := p.stderr.String()
	want := strings.Replace(internalError, ", with what --debug prints", ", with the lines above", 1)
	if !errors.Is(err, errReported) || !strings.Contains(said, "panic: "+planted.Value+"\ngoroutine ") || !strings.Contains(said, "planted.reader.Read") || !strings.Contains(said, paths[2]+": "+want+"\n") {
		t.Errorf("%v, standard error\n%s", err, said)
	}
}

// TestPanicOutsideFiles: a panic anywhere else is an internal error of the run.
func TestPanicOutsideFiles(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	a := newApp(strings.NewReader(""), io.Discard, &stderr, noEnv)
	a.listen = func() { panic(planted.Value) }
	if code := a.run(t.Context(), []string{"check", "x"}); code != exitTrouble || stderr.String() != "toolguard: "+internalError+"\n" {
		t.Errorf("exit code %d, standard error\n%s", code, &stderr)
	}
}
