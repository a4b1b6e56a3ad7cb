package config

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// A shown is a description of a format and a transcript in it.
type shown struct{ dir, row, name, text string }

// examples returns the examples of docs/dialects.md and docs/format-keys.md.
func examples(t *testing.T) []shown {
	t.Helper()
	file := regexp.MustCompile("(?sm)^```(?:toml|jsonl?) (\\S+)/(\\S+)\n(.*?)^```$")
	all := map[string]*shown{}
	for _, name := range []string{"dialects.md", "format-keys.md"} {
		page, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range file.FindAllStringSubmatch(string(page), -1) {
			e := all[m[1]]
			if e == nil {
				e = &shown{dir: m[1]}
				all[m[1]] = e
			}
			if m[2] == "toolguard.toml" {
				e.row = m[3]
			} else {
				e.name, e.text = m[2], m[3]
			}
		}
	}
	var out []shown
	for _, dir := range slices.Sorted(maps.Keys(all)) {
		out = append(out, *all[dir])
	}
	if len(out) != 6 {
		t.Fatalf("the pages have %d examples", len(out))
	}
	return out
}

// TestWildRows: whatever a row says that is taken, files are read and repaired by
// it without a panic. The rows are the examples of the pages, each with one
// thing in it left out or replaced.
func TestWildRows(t *testing.T) {
	t.Parallel()
	for _, e := range examples(t) {
		t.Run(e.dir, func(t *testing.T) {
			t.Parallel()
			var doc map[string]any
			if err := toml.Unmarshal([]byte(e.row), &doc); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "toolguard.toml")
			taken, tried, every := 0, 0, sample.Size(1, 4, 8)
			try := func(what string) {
				if tried++; tried%every != 1%every {
					return
				}
				if tryRows(t, what, file, doc, e.name, e.text) {
					taken++
				}
			}
			try("as it is")
			vary(doc, "", try)
			if taken < 40/every {
				t.Errorf("only %d rows were taken", taken)
			}
		})
	}
}

// tryRows writes a config file and, if it is taken, repairs a transcript by it. A
// panic fails the test.
func tryRows(t *testing.T, what, file string, doc map[string]any, name, session string) (taken bool) {
	t.Helper()
	text, err := toml.Marshal(doc)
	if err == nil {
		err = os.WriteFile(file, text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read(file, "")
	if err != nil {
		return false
	}
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: %v\n%s", what, p, text)
		}
	}()
	repair(f, name, session)
	return true
}

// repair repairs a transcript by the rows of a config file. Its errors are those
// of rows that say something else.
func repair(f *File, name, text string) {
	opts := engine.FixOptions{Unsafe: true}
	opts.Dialects = f.Dialects()
	_, _ = engine.Settle(context.Background(), source.FromBytes(name, []byte(text)), opts)
	for _, d := range opts.Dialects.UserDefined() {
		opts.Dialect = d
		_, _ = engine.Settle(context.Background(), source.FromBytes(name, []byte(text)), opts)
	}
}

// TestRandomRows is TestWildRows for rows of which any key may be set.
func TestRandomRows(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "toolguard.toml")
	word := regexp.MustCompile(`"([a-z.]+)"`)
	for _, e := range examples(t) {
		var words []string
		for _, w := range word.FindAllStringSubmatch(e.text, -1) {
			words = append(words, w[1])
		}
		taken := 0
		for seed := range uint64(80) {
			g := &generator{rand.New(rand.NewPCG(seed, 1)), words} //nolint:gosec // to be the same each time
			d := drivers()[seed%5]
			row := map[string]any{
				"name": "x", "driver": d.name, "marks": []string{g.word()}, d.name: g.table(d.table),
			}
			if seed%3 == 0 {
				row["log"] = g.table(reflect.TypeFor[dialect.Log]())
			}
			delete(row[d.name].(map[string]any), "roles") // nor are roles that are not those which are written
			if tryRows(t, fmt.Sprintf("seed %d", seed), file, map[string]any{"dialect": []any{row}}, e.name, e.text) {
				taken++
			}
		}
		if taken < 3 {
			t.Errorf("only %d rows were taken", taken)
		}
	}
}

// A generator makes rows of the words of a transcript.
type generator struct {
	*rand.Rand
	words []string
}

func (g *generator) word() string { return g.words[g.IntN(len(g.words))] }

func (g *generator) table(t reflect.Type) map[string]any {
	out := map[string]any{}
	for _, k := range rowKeys(t) {
		if g.IntN(12) > 0 {
			if v := g.value(k.typ); v != nil {
				out[k.name] = v
			}
		}
	}
	return out
}

func (g *generator) value(t reflect.Type) any {
	if known, _ := words(t); known != nil {
		return known[len(known)-1-g.IntN(len(known)-1)]
	}
	switch {
	case t == reflect.TypeFor[dialect.Template](), t == reflect.TypeFor[[]dialect.Stencil](), t == reflect.TypeFor[[]dialect.Setting]():
		return nil // what is written at random is not read back
	case t == reflect.TypeFor[[]dialect.RoleName]():
		return map[string]any{g.word(): "user", g.word(): "assistant", g.word(): "tool"}
	case t.Kind() == reflect.String, isCond(t):
		return g.word()
	case t.Kind() == reflect.Bool:
		return g.IntN(2) == 0
	case t.Kind() == reflect.Pointer:
		return g.value(t.Elem())
	case t.Kind() == reflect.Slice:
		list := []any{}
		for range 2 + g.IntN(5) {
			list = append(list, g.value(t.Elem()))
		}
		return list
	case t.Kind() == reflect.Struct:
		return g.table(t)
	}
	return nil
}

// vary changes one thing after another, and calls try each time.
func vary(v any, path string, try func(what string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			old := v[k]
			delete(v, k)
			try(path + "." + k + " left out")
			for _, other := range others(old) {
				v[k] = other
				try(path + "." + k + " replaced")
			}
			v[k] = old
			vary(old, path+"."+k, try)
		}
	case []any:
		for i, old := range v {
			for _, other := range others(old) {
				v[i] = other
				try(path + "." + strconv.Itoa(i) + " replaced")
			}
			v[i] = old
			vary(old, path+"."+strconv.Itoa(i), try)
		}
	}
}

func others(old any) []any {
	switch old := old.(type) {
	case string:
		return []any{"", "|" + old, old + ".x", "0.-1", "-2|x.y", old + "=x", "{}", `{"x":["$blocks","$text","$id"]}`, "*"}
	case []any:
		return []any{[]any{}, append(slices.Clip(old), old...)}
	}
	return nil
}
