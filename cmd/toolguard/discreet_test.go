package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// secret is the text in payloads that must not be shown.
const secret = "SECRET"

// withSecrets returns a transcript with secrets as keys and values in arguments,
// results, texts and unknown fields of messages, and with faults at these places.
// It also returns the names of the tools.
func withSecrets(t *testing.T, path string, text []byte) (out []byte, tools []string) {
	t.Helper()
	src := source.FromBytes(path, text)
	var edits []edit.Edit
	put := func(at int64, s string) {
		edits = append(edits, edit.Edit{Span: source.Span{Start: at, End: at}, Text: []byte(s)})
	}
	plant := func(s source.Span, more string) {
		value := text[s.Start:s.End]
		switch {
		case len(value) < 2:
		case value[0] == '{' && len(value) == 2:
			put(s.Start+1, `"`+secret+`k":"`+secret+`\ud800"`)
		case value[0] == '{':
			put(s.Start+1, `"`+secret+`k":"`+secret+`\ud800","`+secret+`k":{"`+secret+`":"\ud800"},`+more)
		case value[0] == '"' && strings.HasPrefix(string(value), `"{\"`):
			put(s.Start+2, `\"`+secret+`k\":\"`+secret+`\",\"id\":\"`+secret+`\",`)
		case value[0] == '"':
			put(s.Start+1, secret+`\udfff`)
		}
	}
	_, conversations := container.Read(src, detect.Options{})
	for c, err := range conversations {
		if errors.As(err, new(*detect.ErrNotTranscript)) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if c.Unfolded != nil {
			continue
		}
		for i := range c.Calls {
			plant(c.Calls[i].Args, `"id":"`+secret+`",`)
			tools = append(tools, c.Calls[i].Name.Text())
		}
		for i := range c.Results {
			plant(c.Results[i].Payload, "")
		}
		for i := range c.Blocks {
			if b := &c.Blocks[i]; b.Kind == transcript.BlockText {
				plant(b.Span, "")
			}
		}
		for i := range c.Messages {
			plant(c.Messages[i].Span(), "")
		}
	}
	slices.SortStableFunc(edits, func(a, b edit.Edit) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	edits = slices.CompactFunc(edits, func(a, b edit.Edit) bool { return a.Span == b.Span })
	for _, e := range slices.Backward(edits) {
		text = slices.Insert(slices.Clone(text), int(e.Span.Start), e.Text...)
	}
	return text, tools
}

// TestNoExcerptHidesPayloads checks that --no-excerpt hides the keys and values of
// payloads in all reports, previews and messages, for all fixtures and for all
// ways to break the schema of a tool.
func TestNoExcerptHidesPayloads(t *testing.T) {
	transcripts, err := filepath.Abs(filepath.Join("..", "..", "testdata", "transcripts"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	// The rules whose findings show a payload without the flag.
	shown := map[string]bool{"schema-violation": false, "lone-surrogate": false, "duplicate-key": false}
	var paths []string
	err = filepath.WalkDir(transcripts, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && !strings.HasSuffix(path, ".gz") && !strings.HasSuffix(path, ".zst") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	try := func(path string) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, tools := withSecrets(t, path, text)
		var declared []any
		for _, name := range tools {
			declared = append(declared, map[string]any{"name": name, "parameters": json.RawMessage(`{"type":"object",
				"required":["declared"],"additionalProperties":{"enum":[1]},"propertyNames":{"maxLength":3},"properties":{"id":{"type":"integer"}}}`)})
		}
		list, err := json.Marshal(append(declared, map[string]any{"name": "f"}))
		if err != nil {
			return err
		}
		name := filepath.Base(path)
		for name, text := range map[string][]byte{name: text, "tools": list} {
			if err := os.WriteFile(name, text, 0o666); err != nil {
				return err
			}
		}
		for _, args := range [][]string{
			{"check", "-v", "--tools", "tools", "--send"},
			{"fix", "-v", "--color=always", "--unsafe"},
			{"fix", "-v", "-o", "json", "--unsafe"},
		} {
			args = append(args, "--no-excerpt", name)
			if args[0] == "check" {
				for _, f := range report.Formats()[1:] {
					args = append(args, "-o", f.Name+"=out."+f.Name)
				}
				args = append(args, "-o", "text")
			}
			_, stdout, stderr := runCommand(t, nil, args...)
			out := map[string]string{"standard output": stdout, "standard error": stderr}
			for _, f := range report.Formats()[1:] {
				if args[0] != "check" {
					continue
				}
				got, err := os.ReadFile("out." + f.Name)
				if err != nil {
					return err
				}
				out[f.Name] = string(got)
			}
			for what, got := range out {
				for line := range strings.Lines(got) {
					if strings.Contains(line, secret) {
						t.Errorf("%s: %q: %s: %.500s", path, args, what, line)
					}
				}
			}
		}
		if !slices.Contains(slices.Collect(maps.Values(shown)), false) {
			return nil
		}
		_, stdout, _ := runCommand(t, nil, "check", "--tools", "tools", "-o", "json", name)
		var doc struct {
			Findings []struct{ Rule, Message, Pointer string }
		}
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil && stdout != "" {
			t.Errorf("%s: %v", path, err)
		}
		for _, f := range doc.Findings {
			if strings.Contains(f.Message+f.Pointer, secret) {
				shown[f.Rule] = true
			}
		}
		return nil
	}
	dialect := func(path string) []string {
		rel, err := filepath.Rel(transcripts, path)
		if err != nil {
			t.Fatal(err)
		}
		folder, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		return []string{folder}
	}
	for _, path := range sample.Of(t, 20, paths, filepath.Base, dialect) {
		if err := try(path); err != nil {
			t.Fatal(err)
		}
	}
	for rule, is := range shown {
		if !is {
			t.Errorf("%s: nothing of a payload is shown without the flag either", rule)
		}
	}
}
