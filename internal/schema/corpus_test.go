package schema

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// TestCorpus compares the validation of the tools in real transcripts and fixtures with
// another implementation.
func TestCorpus(t *testing.T) {
	t.Parallel()
	tools, pairs, broken := 0, 0, 0
	for _, root := range []string{"../../testdata", "../../../shared/corpus"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.Contains(path, ".json") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil || len(text) > 16<<20 {
				return err
			}
			var h harvest
			for at := 0; at < len(text); {
				scan := source.NewScanner().Scan(text, at, source.Strict)
				if scan.Kind != source.FaultNone {
					// After a torn line, the next line may be complete.
					next := bytes.IndexByte(text[at:], '\n')
					if next < 0 {
						break
					}
					at += next + 1
					continue
				}
				h.gather(source.NewValue(text[at:scan.End], 0))
				at = scan.End
			}
			for _, schema := range slices.Sorted(maps.Keys(h.schemas)) {
				tools++
				n, unchecked := compile(parsed(schema), nil)
				ref := newOther(t, schema)
				for i, args := range slices.Sorted(maps.Keys(h.arguments)) {
					if i == 40 {
						break
					}
					pairs++
					if n != nil && violations(n, []byte(args)) != nil {
						broken++
					}
					if d := differOf(t, n, unchecked, ref, args); d != "" {
						t.Errorf("%s: %s\n%s\n%s", path, schema, args, d)
					}
				}
			}
			return nil
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	t.Logf("%d schemas, %d pairs, %d of them invalid", tools, pairs, broken)
	if tools < 5 || pairs < 20 {
		t.Error("found too few schemas or pairs")
	}
}

// A harvest is the schemas and the arguments in a file.
type harvest struct {
	schemas, arguments map[string]bool
}

// gather finds them in a value by the keys that APIs use.
func (h *harvest) gather(v source.Value) {
	if h.schemas == nil {
		h.schemas, h.arguments = map[string]bool{}, map[string]bool{}
	}
	for k, val := range v.Members() {
		switch k.Str() {
		case "parameters", "input_schema", "inputSchema", "parametersJsonSchema":
			if in := val.Get("json"); in.Kind() == source.Object {
				val = in
			}
			if val.Get("type").Exists() || val.Get("properties").Exists() {
				h.schemas[string(val.Raw())] = true
			}
		case "arguments", "input", "args":
			switch val.Kind() {
			case source.Object:
				h.arguments[string(val.Raw())] = true
			case source.String:
				h.arguments[val.Str()] = true
			}
		}
		h.gather(val)
	}
	for _, e := range v.Elements() {
		h.gather(e)
	}
}
