package engine

import (
	"bytes"
	"hash/fnv"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// A fields is the keys of objects by place: the keys above them, with "*" for any element of
// a list.
type fields map[string]map[string]bool

// add notes the keys of all objects in a value.
func (f fields) add(where string, v source.Value) {
	for k, val := range v.Members() {
		if f[where] == nil {
			f[where] = map[string]bool{}
		}
		f[where][k.Str()] = true
		f.add(path.Join(where, k.Str()), val)
	}
	for _, e := range v.Elements() {
		f.add(path.Join(where, "*"), e)
	}
}

// nulled adds a null key to each object of a place that does not have the key.
func nulled(v source.Value, where, at, key string, first bool) []byte {
	var parts []string
	switch v.Kind() {
	case source.Object:
		for k, val := range v.Members() {
			parts = append(parts, string(k.Raw())+":"+string(nulled(val, path.Join(where, k.Str()), at, key, first)))
		}
		if where == at && !v.Get(key).Exists() {
			i := len(parts)
			if first {
				i = 0
			}
			parts = slices.Insert(parts, i, source.Quote(key)+":null")
		}
		return []byte("{" + strings.Join(parts, ",") + "}")
	case source.Array:
		for _, e := range v.Elements() {
			parts = append(parts, string(nulled(e, path.Join(where, "*"), at, key, first)))
		}
		return []byte("[" + strings.Join(parts, ",") + "]")
	}
	return v.Raw()
}

// ofNull are rules for which null differs from an absent value.
var ofNull = []string{"missing-arguments", "arguments-not-string", "tool-input-not-object", "result-content-type", "schema-violation"}

// withoutNull omits findings about the null itself and, for files that are not transcripts,
// the candidate dialects.
func withoutNull(found []string) []string {
	if strings.HasSuffix(found[0], "skipped: true") {
		return nil
	}
	return slices.DeleteFunc(found, func(f string) bool {
		name, _, _ := strings.Cut(f, " ")
		return slices.Contains(ofNull, name)
	})
}

// TestNullIsAbsent: a null in a key that other objects of the same place have changes no
// finding.
func TestNullIsAbsent(t *testing.T) {
	t.Parallel()
	byDialect := map[string]fields{}
	share := uint32(sample.Size(1, 10, 16))
	eachFixture(t, func(name string, records []source.Value, _ [][]byte) {
		d, _, _ := strings.Cut(name, "/")
		if byDialect[d] == nil {
			byDialect[d] = fields{}
		}
		for _, r := range records {
			byDialect[d].add("", r)
		}
	})
	everyFixture(t, func(t *testing.T, name string, records []source.Value, seps [][]byte) {
		t.Helper()
		want := withoutNull(told(t, name, glued(seps, raws(records))))
		_, file, _ := strings.Cut(t.Name(), "/")
		folder, _, _ := strings.Cut(file, "/")
		keys := byDialect[folder]
		for _, where := range slices.Sorted(maps.Keys(keys)) {
			for _, key := range slices.Sorted(maps.Keys(keys[where])) {
				h := fnv.New32a()
				h.Write([]byte(path.Join(file, where, key)))
				if h.Sum32()%share != 0 {
					continue // another file has it
				}
				out := make([][]byte, len(records))
				for i, r := range records {
					out[i] = nulled(r, "", where, key, false)
				}
				text := glued(seps, out)
				if diff := cmp.Diff(want, withoutNull(told(t, name, text))); diff != "" {
					t.Errorf("%s (-without +with null):\n%s", path.Join(where, key), diff)
				}
			}
		}
	})
}

// nullAmong adds a null to each list of objects: first, second or last. It skips arguments,
// schemas of tools, and lists with a meaning for each index.
func nullAmong(v source.Value, at int) []byte {
	var parts []string
	switch v.Kind() {
	case source.Object:
		for k, val := range v.Members() {
			raw := val.Raw()
			if !slices.ContainsFunc(payloadKeys, k.Is) {
				raw = nullAmong(val, at)
			}
			parts = append(parts, string(k.Raw())+":"+string(raw))
		}
		return []byte("{" + strings.Join(parts, ",") + "}")
	case source.Array:
		objects := v.First().Exists()
		for _, e := range v.Elements() {
			objects = objects && e.Kind() == source.Object
			if e.Kind() == source.Array {
				parts = append(parts, string(e.Raw())) // what is said first and what second
				continue
			}
			parts = append(parts, string(nullAmong(e, at)))
		}
		if objects {
			parts = slices.Insert(parts, min(at, len(parts)), "null")
		}
		return []byte("[" + strings.Join(parts, ",") + "]")
	}
	return v.Raw()
}

// withoutNullMessages omits the findings about a null among the messages of a request, which no
// provider accepts.
func withoutNullMessages(found []string) []string {
	return slices.DeleteFunc(found, func(f string) bool {
		return strings.HasPrefix(f, "invalid-role ") && strings.Contains(f, "expected a message, but this is null")
	})
}

// TestNullAmongObjects: a null in a list of objects is ignored, and changes no finding.
func TestNullAmongObjects(t *testing.T) {
	t.Parallel()
	everyFixture(t, func(t *testing.T, name string, records []source.Value, seps [][]byte) {
		t.Helper()
		if strings.Contains(t.Name(), "/vscode-chat/") && strings.HasSuffix(name, ".jsonl") {
			t.Skip("its records change the elements of lists by their places")
		}
		want := withoutNull(told(t, name, glued(seps, raws(records))))
		for _, at := range []int{0, 1, math.MaxInt} {
			out := make([][]byte, len(records))
			for i, r := range records {
				out[i] = nullAmong(r, at)
			}
			if diff := cmp.Diff(want, withoutNullMessages(withoutNull(told(t, name, glued(seps, out))))); diff != "" {
				t.Errorf("at %d (-without +with null):\n%s\n%.1000s", at, diff, glued(seps, out))
			}
		}
	})
}

// TestTextAmongCalls: a text in the list of calls of an event is ignored.
func TestTextAmongCalls(t *testing.T) {
	t.Parallel()
	seen := false
	eachFixture(t, func(name string, records []source.Value, seps [][]byte) {
		if !strings.HasPrefix(name, "copilot-cli/ok/") {
			return
		}
		plain := glued(seps, raws(records))
		text := bytes.ReplaceAll(plain, []byte(`"toolRequests":[{`), []byte(`"toolRequests":["x",{`))
		seen = seen || len(text) > len(plain)
		if diff := cmp.Diff(told(t, name, plain), told(t, name, text)); diff != "" {
			t.Errorf("%s (-without +with a text):\n%s", name, diff)
		}
	})
	if !seen {
		t.Error("there is no list of calls")
	}
}

// nulledAll adds a null key to each object that does not have the key, except in arguments
// and schemas of tools.
func nulledAll(v source.Value, key string) []byte {
	var parts []string
	switch v.Kind() {
	case source.Object:
		if !v.Get(key).Exists() {
			parts = append(parts, source.Quote(key)+":null")
		}
		for k, val := range v.Members() {
			raw := val.Raw()
			if !slices.ContainsFunc(payloadKeys, k.Is) {
				raw = nulledAll(val, key)
			}
			parts = append(parts, string(k.Raw())+":"+string(raw))
		}
		return []byte("{" + strings.Join(parts, ",") + "}")
	case source.Array:
		for _, e := range v.Elements() {
			parts = append(parts, string(nulledAll(e, key)))
		}
		return []byte("[" + strings.Join(parts, ",") + "]")
	}
	return v.Raw()
}

var payloadKeys = []string{
	"arguments", "input", "inputs", "args", "params", "properties", "schema", "input_schema", "parameters", "parametersJsonSchema", "edits", "toolCallResults",
}

// TestNullOfOthers: a null in a key of another format changes neither the detected format nor
// the findings.
func TestNullOfOthers(t *testing.T) {
	t.Parallel()
	often := map[string]int{}
	eachFixture(t, func(_ string, records []source.Value, _ [][]byte) {
		has := fields{}
		for _, r := range records {
			has.add("", r)
		}
		in := map[string]bool{}
		for _, keys := range has {
			maps.Copy(in, keys)
		}
		for key := range in {
			often[key]++
		}
	})
	share, done := uint32(sample.Size(2, 32, 40)), sample.Until(t)
	everyFixture(t, func(t *testing.T, name string, records []source.Value, seps [][]byte) {
		t.Helper()
		_, file, _ := strings.Cut(t.Name(), "/")
		want := withoutNull(told(t, name, glued(seps, raws(records))))
		for _, key := range slices.Sorted(maps.Keys(often)) {
			h := fnv.New32a()
			h.Write([]byte(path.Join(file, key)))
			if often[key] < 3 || h.Sum32()%share != 0 {
				continue
			}
			if done() {
				return
			}
			out := make([][]byte, len(records))
			for i, r := range records {
				out[i] = nulledAll(r, key)
			}
			if diff := cmp.Diff(want, withoutNull(told(t, name, glued(seps, out)))); diff != "" {
				t.Errorf("%s (-without +with null):\n%s", key, diff)
			}
		}
	})
}

// lacking removes a key from the objects of a place, or sets it to null.
func lacking(v source.Value, where, at, key string, null bool) []byte {
	var parts []string
	switch v.Kind() {
	case source.Object:
		for k, val := range v.Members() {
			raw := lacking(val, path.Join(where, k.Str()), at, key, null)
			if where == at && k.Is(key) {
				if !null {
					continue
				}
				raw = []byte("null")
			}
			parts = append(parts, string(k.Raw())+":"+string(raw))
		}
		return []byte("{" + strings.Join(parts, ",") + "}")
	case source.Array:
		for _, e := range v.Elements() {
			parts = append(parts, string(lacking(e, path.Join(where, "*"), at, key, null)))
		}
		return []byte("[" + strings.Join(parts, ",") + "]")
	}
	return v.Raw()
}

// TestNullNamesNoTurn: messages whose turn id is null do not form one turn.
func TestNullNamesNoTurn(t *testing.T) {
	t.Parallel()
	ids := map[string]string{
		"letta": "*/id", "kimi-wire": "event/stepUuid", "copilot-cli": "data/messageId", "opencode": "part/messageID",
	}
	seen := map[string]bool{}
	eachFixture(t, func(name string, records []source.Value, seps [][]byte) {
		folder, _, _ := strings.Cut(name, "/")
		id, ok := ids[folder]
		if !ok {
			return
		}
		var texts [2][]byte
		for n := range texts {
			out := make([][]byte, len(records))
			for i, r := range records {
				out[i] = lacking(r, "", path.Dir(id), path.Base(id), n == 1)
			}
			texts[n] = glued(seps, out)
		}
		seen[folder] = seen[folder] || string(texts[0]) != string(texts[1])
		if diff := cmp.Diff(told(t, name, texts[0]), told(t, name, texts[1])); diff != "" {
			t.Errorf("%s, %s (-without +with null):\n%s", name, id, diff)
		}
	})
	if len(seen) != len(ids) || slices.Contains(slices.Collect(maps.Values(seen)), false) {
		t.Errorf("ids are found in %v, want them in %v", seen, ids)
	}
}
