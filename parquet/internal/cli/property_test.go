package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

// root is the directory of the other module.
var root = filepath.Join("..", "..", "..")

// build builds the command toolguard.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "toolguard")
	cmd := exec.Command("go", "build", "-o", bin, "./cmd/toolguard")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// run runs the program and returns its exit code, standard output and standard error.
func run(t *testing.T, args ...string) (int, string, string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Run(t.Context(), args, "1.2.3", &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// sameVerdicts filters the same rows as Parquet and as JSON Lines, and compares what is kept, why the others are
// not, what is said, and the exit codes.
func sameVerdicts(t *testing.T, toolguard, file, lines string, flags ...string) (kept string) {
	t.Helper()
	dir := t.TempDir()
	mine, others := filepath.Join(dir, "mine.reasons"), filepath.Join(dir, "others.reasons")
	code, stdout, stderr := run(t, append(append([]string{"filter", "--isolated", "--reasons", mine}, flags...), file)...)
	cmd := exec.Command(toolguard, append(append([]string{"filter", "--isolated", "--reasons", others}, flags...), lines)...)
	var wantOut, wantErr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &wantOut, &wantErr
	err := cmd.Run()
	if want := cmd.ProcessState.ExitCode(); code != want {
		t.Fatalf("%s: exit code %d, want %d (%v)\n%s%s", lines, code, want, err, stderr, wantErr.String())
	}
	if got, want := strings.ReplaceAll(stderr, file, lines), wantErr.String(); got != want {
		t.Errorf("%s: says %q, want %q", lines, got, want)
	}
	if stdout != wantOut.String() {
		t.Errorf("%s: keeps other rows: (-want +got)\n%s", lines, cmp.Diff(wantOut.String(), stdout))
	}
	if code == exitTrouble {
		return ""
	}
	if got, want := reasons(t, mine), reasons(t, others); !cmp.Equal(want, got) {
		t.Errorf("%s: rejects for other reasons: (-want +got)\n%s", lines, cmp.Diff(want, got))
	}
	return stdout
}

// reasons reads reasons without what names the file.
func reasons(t *testing.T, path string) (out []any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		delete(v, "path")
		for _, f := range v["findings"].([]any) {
			delete(f.(map[string]any), "path")
			delete(f.(map[string]any), "fingerprint")
		}
		out = append(out, v)
	}
	return out
}

// A textRow is a conversation as JSON in a column.
type textRow struct {
	ID       int64  `parquet:"id" json:"id"`
	Messages string `parquet:"messages,zstd" json:"messages"`
}

// write writes rows as Parquet and as JSON Lines.
func writeBoth[T any](t *testing.T, dir string, rows []T, group int64) (file, lines string) {
	t.Helper()
	file, lines = filepath.Join(dir, "rows.parquet"), filepath.Join(dir, "rows.jsonl")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewGenericWriter[T](f, parquet.MaxRowsPerRowGroup(group))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	for _, r := range rows {
		if err := e.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(lines, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, lines
}

// writeArrow writes lines of JSON as an Arrow file or stream.
func writeArrow(t *testing.T, path, lines string, schema *arrow.Schema, batch int) string {
	t.Helper()
	text, err := os.ReadFile(lines)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	} = ipc.NewWriter(f, ipc.WithSchema(schema), ipc.WithZstd())
	if filepath.Ext(path) == ".arrow" {
		if w, err = ipc.NewFileWriter(f, ipc.WithSchema(schema)); err != nil {
			t.Fatal(err)
		}
	}
	for list := range slices.Chunk(slices.Collect(strings.Lines(string(text))), batch) {
		b, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader("["+strings.Join(list, ",")+"]"))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTexts: the conversations of all fixtures and of the corpus, as JSON in a column, have the same verdicts as in JSON
// Lines, with and without repairs.
func TestTexts(t *testing.T) {
	t.Parallel()
	toolguard := build(t)
	groups := map[string][]textRow{} // by format
	for _, dir := range []string{filepath.Join(root, "testdata", "transcripts"), filepath.Join(root, "..", "shared", "corpus")} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || !strings.Contains(path, ".json") {
				return nil //nolint:nilerr // the corpus may be missing
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			format, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
			for line := range bytes.Lines(raw) {
				var v struct{ Messages json.RawMessage }
				if json.Unmarshal(line, &v) == nil && len(v.Messages) > 0 && v.Messages[0] == '[' && json.Valid(line) {
					groups[format] = append(groups[format], textRow{int64(len(groups[format])), string(v.Messages)})
				}
			}
			var v struct{ Messages json.RawMessage }
			if json.Unmarshal(raw, &v) == nil && len(v.Messages) > 0 && v.Messages[0] == '[' && bytes.Count(bytes.TrimSpace(raw), []byte("\n")) > 0 {
				groups[format] = append(groups[format], textRow{int64(len(groups[format])), string(v.Messages)})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	total := 0
	for format, rows := range groups {
		if total += len(rows); len(rows) == 1 { // alone, a line is judged as a request
			continue
		}
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file, lines := writeBoth(t, dir, rows, 5)
			schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "messages", Type: arrow.BinaryTypes.LargeString}}, nil)
			for _, file := range []string{file, writeArrow(t, filepath.Join(dir, "rows.arrows"), lines, schema, 5)} {
				sameVerdicts(t, toolguard, file, lines)
				sameVerdicts(t, toolguard, file, lines, "--provider", "openai", "--fail-on", "warning")
				sameVerdicts(t, toolguard, file, lines, "--fix", "--strategy", "missing-tool-result=insert", "--strategy", "orphan-tool-result=drop")
			}
		})
	}
	if len(groups) < 5 || total < 40 {
		t.Errorf("only %d conversations of %d formats", total, len(groups))
	}
}

// The rows of TestNested.
type (
	nestedRow struct {
		ID       int64    `parquet:"id" json:"id"`
		Messages []nested `parquet:"messages,list" json:"messages"`
	}
	nested struct {
		Role    string       `parquet:"role,dict" json:"role"`
		Content *string      `parquet:"content,optional" json:"content"`
		Calls   []nestedCall `parquet:"tool_calls,optional,list" json:"tool_calls"`
		CallID  *string      `parquet:"tool_call_id,optional" json:"tool_call_id"`
	}
	nestedCall struct {
		ID       string `parquet:"id" json:"id"`
		Type     string `parquet:"type,dict" json:"type"`
		Function struct {
			Name      string `parquet:"name,dict" json:"name"`
			Arguments string `parquet:"arguments" json:"arguments"`
		} `parquet:"function" json:"function"`
	}
)

// nestedSchema is the type of these rows in Arrow.
func nestedSchema() *arrow.Schema {
	text := func(name string) arrow.Field { return arrow.Field{Name: name, Type: arrow.BinaryTypes.String} }
	null := func(f arrow.Field) arrow.Field { f.Nullable = true; return f }
	call := arrow.StructOf(text("id"), text("type"), arrow.Field{Name: "function", Type: arrow.StructOf(text("name"), text("arguments"))})
	message := arrow.StructOf(text("role"), null(text("content")), null(arrow.Field{Name: "tool_calls", Type: arrow.ListOf(call)}), null(text("tool_call_id")))
	return arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "messages", Type: arrow.ListOf(message)}}, nil)
}

// nestedRows returns n conversations, every one in a hundred of which is broken.
func nestedRows(n int) []nestedRow {
	say := func(text string) *string { return &text }
	rows := make([]nestedRow, n)
	for i := range rows {
		id := fmt.Sprintf("call_%d", i)
		c := nestedCall{ID: id, Type: "function"}
		c.Function.Name, c.Function.Arguments = "ls", `{"path":"/srv"}`
		messages := []nested{
			{Role: "user", Content: say(fmt.Sprintf("what is in /srv/%d?\n\"é\"", i))},
			{Role: "assistant", Calls: []nestedCall{c}},
			{Role: "tool", Content: say("a.txt"), CallID: &id},
			{Role: "assistant", Content: say("a.txt")},
		}
		switch i % 500 {
		case 99: // no result
			messages = append(messages[:2:2], messages[3])
		case 199: // a result of no call
			messages = append(messages[:1:1], messages[2:]...)
		case 299:
			messages[1].Calls[0].Function.Arguments = `{"path":`
		case 399: // two results
			messages = append(messages[:3:3], messages[2:]...)
		case 499:
			messages[2].CallID = say("call_other")
		}
		rows[i] = nestedRow{int64(i), messages}
	}
	return rows
}

// TestNested: rows of nested lists, of which one in a hundred is broken, have the same verdicts as in JSON Lines, and
// Parquet and Arrow files of those that are kept have the same rows.
func TestNested(t *testing.T) {
	t.Parallel()
	toolguard := build(t)
	dir := t.TempDir()
	n := 2_000
	if os.Getenv("TOOLGUARD_LONG") != "" {
		n = 50_000
	}
	flags := []string{"--provider", "openai", "--fix", "--strategy", "missing-tool-result=insert"}
	file, lines := writeBoth(t, dir, nestedRows(n), 700)
	for _, file := range []string{
		file,
		writeArrow(t, filepath.Join(dir, "rows.arrow"), lines, nestedSchema(), 700),
		writeArrow(t, filepath.Join(dir, "rows.arrows"), lines, nestedSchema(), 300),
	} {
		sameVerdicts(t, toolguard, file, lines, "--provider", "openai")
		kept := sameVerdicts(t, toolguard, file, lines, flags...)
		out := filepath.Join(dir, "out"+filepath.Ext(file))
		code, _, stderr := run(t, append(append([]string{"filter", "--isolated", "-q"}, flags...), "--out", out, file)...)
		if code != exitOK {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		code, got, stderr := run(t, "filter", "--isolated", "-q", "--select", "invalid-json", out)
		if code != exitOK {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		want := nestedOf(t, kept)
		if diff := cmp.Diff(want, nestedOf(t, got)); diff != "" {
			t.Errorf("%s: other rows: (-JSON Lines +file)\n%s", out, diff)
		}
		if len(want) < n*98/100 || len(want) == n {
			t.Errorf("%s: %d rows of %d are kept", file, len(want), n)
		}
		if filepath.Ext(file) == ".parquet" {
			read, err := parquet.ReadFile[nestedRow](out)
			if diff := cmp.Diff(want, read); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		}
	}
}

// nestedOf returns the rows in lines of JSON.
func nestedOf(t *testing.T, lines string) (rows []nestedRow) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var row nestedRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}
