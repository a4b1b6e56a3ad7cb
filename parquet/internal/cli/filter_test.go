package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestUnfit: a repaired row that does not fit the columns is rejected with the reason.
func TestUnfit(t *testing.T) {
	t.Parallel()
	type row struct {
		Messages []struct {
			Role    string       `parquet:"role"`
			Content *string      `parquet:"content,optional"`
			Calls   []nestedCall `parquet:"tool_calls,optional,list"`
		} `parquet:"messages,list"`
	}
	var r row
	text := "ls"
	r.Messages = append(r.Messages, struct {
		Role    string       `parquet:"role"`
		Content *string      `parquet:"content,optional"`
		Calls   []nestedCall `parquet:"tool_calls,optional,list"`
	}{"user", &text, nil})
	whole := r
	call := nestedCall{ID: "c1", Type: "function"}
	call.Function.Name, call.Function.Arguments = "ls", "{}"
	r.Messages = append(r.Messages[:1:1], r.Messages[0], r.Messages[0])
	r.Messages[1].Role, r.Messages[1].Content, r.Messages[1].Calls = "assistant", nil, []nestedCall{call}
	dir := t.TempDir()
	in, out, reasons := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "out.parquet"), filepath.Join(dir, "reasons.jsonl")
	if err := parquet.WriteFile(in, []row{whole, r}); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := run(t, "filter", "--isolated", "--from", "openai-chat", "--provider", "openai", "--fix", "--strategy", "missing-tool-result=insert", "--out", out, "--reasons", reasons, in)
	if code != exitOK || !strings.Contains(stderr, "Kept 1 of 2 conversations, rejected 1 (50.0 %).") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	got, err := os.ReadFile(reasons)
	if want := `"reason":"the repaired row does not fit the columns: messages.list.element: has no field \"tool_call_id\""`; err != nil || !strings.Contains(string(got), want) {
		t.Errorf("%v\n%s", err, got)
	}
	if kept, err := parquet.ReadFile[row](out); err != nil || len(kept) != 1 {
		t.Errorf("%d rows, %v", len(kept), err)
	}
}

// TestRefused: what would be lost or is not there is refused.
func TestRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, lines := writeBoth(t, dir, nestedRows(10), 5)
	stream := writeArrow(t, filepath.Join(dir, "rows.arrows"), lines, nestedSchema(), 5)
	for _, c := range []struct {
		args, want string
	}{
		{"filter --out " + in + " " + in, in + ": not written: this run reads it"},
		{"filter --out x.parquet --rejects x.parquet " + in, "x.parquet: not written: this run also writes it for another purpose"},
		{"filter --column text " + in, in + `: no column "text": the file has "id", "messages"`},
		{"filter -", "-: expected a file, because the rows are read twice"},
		{"filter", "expected the path of a Parquet or Arrow file, or of a directory with such files"},
		{"filter --out x.arrow " + in, "x.arrow: not written: " + in + " is a Parquet file: expected a name such as *.parquet, or one of JSON Lines"},
		{"filter --out x.parquet " + stream, "x.parquet: not written: " + stream + " is an Arrow file: expected a name such as *.arrow, or one of JSON Lines"},
		{"filter --reasons x.arrow " + in, "--reasons: x.arrow: expected a name for JSON Lines"},
		{"check --max-memory 1KiB " + in, in + ": footer: its"},
		{"check --max-memory 1 " + in, in + ": footer: its"},
		{"check --provider opnai " + in, `--provider: unknown provider "opnai"; did you mean "openai"?`},
		{"filter --strategy missing-tool-result=insert " + in, "--strategy needs --fix"},
		{"filter --out=" + dir + "/no/out.parquet " + in, dir + "/no"},
		{"stat " + in, `unknown command "stat"; did you mean "stats"?`},
	} {
		code, stdout, stderr := run(t, strings.Fields(c.args)...)
		if code != exitTrouble || !strings.HasPrefix(stderr, "toolguard: "+c.want) || c.args[:5] != "check" && stdout != "" {
			t.Errorf("%s: exit code %d: %s", c.args, code, stderr)
		}
	}
}

// TestAnyName: files in a directory are Parquet, whatever their names.
func TestAnyName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, _ := writeBoth(t, dir, nestedRows(110), 50)
	data, out := filepath.Join(dir, "data.bin"), filepath.Join(dir, "out")
	if err := os.Rename(in, data); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := run(t, "filter", "--isolated", "-q", "--out", out+"/", data); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if kept, err := parquet.ReadFile[nestedRow](filepath.Join(out, "data.bin")); err != nil || len(kept) != 109 {
		t.Errorf("%d rows, %v", len(kept), err)
	}
}
