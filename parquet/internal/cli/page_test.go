package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/parquet-go/parquet-go"
	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/manpage"
)

// page is the page about Parquet.
const page = "parquet.md"

// TestMain runs the program if the test is called by its name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "toolguard-parquet" {
		os.Exit(Run(context.Background(), os.Args[1:], "1.2.3", os.Stdout, os.Stderr)) //nolint:forbidigo // it is the program
	}
	os.Exit(m.Run()) //nolint:forbidigo // it is the end of the tests
}

// A trainRow is a row of docs/data.md.
type trainRow struct {
	Messages []struct {
		Role    string  `parquet:"role,dict" json:"role"`
		Content *string `parquet:"content,optional,zstd" json:"content"`
		Calls   []struct {
			ID       string `parquet:"id" json:"id"`
			Type     string `parquet:"type" json:"type"`
			Function struct {
				Name      string `parquet:"name" json:"name"`
				Arguments string `parquet:"arguments" json:"arguments"`
			} `parquet:"function" json:"function"`
		} `parquet:"tool_calls,optional,list" json:"tool_calls"`
		CallID *string `parquet:"tool_call_id,optional" json:"tool_call_id"`
	} `parquet:"messages,list" json:"messages"`
}

// TestPage runs the commands of docs/parquet.md.
func TestPage(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the page is written for a shell")
	}
	docs := filepath.Join(root, "docs")
	data, err := os.ReadFile(filepath.Join(docs, "data.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "```jsonl train.jsonl\n")
	rest, _, _ = strings.Cut(rest, "```\n")
	dir := t.TempDir()
	lines := filepath.Join(dir, "train.jsonl")
	if err := os.WriteFile(lines, []byte(rest), 0o600); err != nil {
		t.Fatal(err)
	}
	writeArrow(t, filepath.Join(dir, "train.arrow"), lines, arrow.NewSchema(nestedSchema().Fields()[1:], nil), 2)
	var rows []trainRow
	for line := range strings.Lines(rest) {
		var r trainRow
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	if len(rows) != 4 {
		t.Fatalf("docs/data.md has %d rows", len(rows))
	}
	if err := parquet.WriteFile(filepath.Join(dir, "train.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "toolguard-parquet")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "toolguard"), []byte("#!/bin/sh\n[ \"$1\" = parquet ] || exit 9\nshift\nexec toolguard-parquet \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(docs, page)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := regexp.MustCompile("(?s)```shell-session\n(.*?)```\n").ReplaceAllStringFunc(string(text), func(block string) string {
		var b strings.Builder
		b.WriteString("```shell-session\n")
		for line := range strings.Lines(block) {
			command, is := strings.CutPrefix(line, "$ ")
			if !is {
				continue
			}
			cmd := exec.Command("sh", "-c", command)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			said, _ := cmd.CombinedOutput() // the page shows what went wrong
			fmt.Fprintf(&b, "$ %s%s", command, said)
		}
		return b.String() + "```\n"
	})
	golden.File(t, path, out)
}

// TestMan makes the man page.
func TestMan(t *testing.T) {
	t.Parallel()
	above := &cobra.Command{Use: "toolguard"}
	a := &app{version: "1.2.3"}
	above.AddCommand(a.root())
	pages := manpage.All(above)
	for _, name := range []string{"toolguard-parquet.1", "toolguard-parquet-check.1", "toolguard-parquet-filter.1", "toolguard-parquet-stats.1"} {
		golden.File(t, filepath.Join(root, "docs", "man", name), pages[name])
	}
}
