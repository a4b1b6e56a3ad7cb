package engine

import (
	"hash/fnv"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// foreignValues are values under the keys of other programs.
var foreignValues = []string{`"a1b2c3d4"`, `7`, `"0d3c9a52-9d4e-4a0b-8a3b-5a1c7e2f9b10"`, `"2026-03-01T10:00:00.000Z"`, `""`}

// everybodys are keys that every program uses, so they identify no format.
var everybodys = []string{
	"role", "type", "kind", "content", "contents", "text", "message", "messages", "parts", "name", "id", "value", "from", "tool_calls",
}

// meanAlike are keys with the same meaning in several formats.
var meanAlike = map[string]string{
	"conversation": "the provider has what seems to be missing",
	"model":        "the object is a request for that model",
	"modelId":      "the object is a request for that model",
	"function":     "what a call or a result is one of",
	"tool_call_id": "which call a message answers",
	"toolCallId":   "which call a message answers",
	"call_id":      "which call a message answers, or the id of a call",
	"tool_use_id":  "which call a block answers",
	"tool_name":    "which tool is called",
}

// keyedByID are dialects with objects whose keys can be ids: a change in VS Code may set the
// results of calls by their ids.
var keyedByID = []string{"vscode-chat"}

// given adds a key with a value to each object of one depth that does not have it.
func given(v source.Value, key, val string, depth int) []byte {
	var parts []string
	switch v.Kind() {
	case source.Object:
		for k, inner := range v.Members() {
			raw := inner.Raw()
			if depth > 0 && !slices.ContainsFunc(payloadKeys, k.Is) {
				raw = given(inner, key, val, depth-1)
			}
			parts = append(parts, string(k.Raw())+":"+string(raw))
		}
		if depth == 0 && !v.Get(key).Exists() {
			parts = append(parts, source.Quote(key)+":"+val)
		}
		return []byte("{" + strings.Join(parts, ",") + "}")
	case source.Array:
		for _, e := range v.Elements() {
			parts = append(parts, string(given(e, key, val, depth)))
		}
		return []byte("[" + strings.Join(parts, ",") + "]")
	}
	return v.Raw()
}

// foreignKeys returns, for each folder of fixtures, the keys that only other formats have.
func foreignKeys(t *testing.T) map[string][]string {
	t.Helper()
	own, often := map[string]map[string]bool{}, map[string]int{}
	eachFixture(t, func(name string, records []source.Value, _ [][]byte) {
		folder, _, _ := strings.Cut(name, "/")
		if own[folder] == nil {
			own[folder] = map[string]bool{}
		}
		has, in := fields{}, map[string]bool{}
		for _, r := range records {
			has.add("", r)
		}
		for _, keys := range has {
			maps.Copy(in, keys)
		}
		maps.Copy(own[folder], in)
		for key := range in {
			often[key]++
		}
	})
	out := map[string][]string{}
	for folder, has := range own {
		for _, key := range slices.Sorted(maps.Keys(often)) {
			// A name with dots is an attribute's, which makes a trace of any object.
			if often[key] >= 2 && !strings.Contains(key, ".") && !has[key] && !slices.Contains(everybodys, key) && meanAlike[key] == "" {
				out[folder] = append(out[folder], key)
			}
		}
	}
	return out
}

// withoutUnread omits findings about unread tool fields, and about empty messages, because a
// message with such a key is not empty.
func withoutUnread(found []string) []string {
	return slices.DeleteFunc(found, func(f string) bool {
		return strings.HasPrefix(f, "unread-tool-field ") || strings.HasPrefix(f, "empty-message ")
	})
}

// TestForeignKeys: a key of another format in each object of one depth changes neither the
// detected format nor the findings.
func TestForeignKeys(t *testing.T) {
	t.Parallel()
	keys := foreignKeys(t)
	share := uint32(sample.Size(6, 120, 120))
	everyFixture(t, func(t *testing.T, name string, records []source.Value, seps [][]byte) {
		t.Helper()
		_, file, _ := strings.Cut(t.Name(), "/")
		folder, _, _ := strings.Cut(file, "/")
		if folder == "not-transcripts" || slices.Contains(keyedByID, folder) {
			return // what is no transcript has nothing to keep
		}
		want := withoutUnread(told(t, name, glued(seps, raws(records))))
		for _, key := range keys[folder] {
			for depth := range 4 {
				h := fnv.New32a()
				h.Write([]byte(path.Join(file, key, string(rune('0'+depth)))))
				n := h.Sum32()
				if n%share != 0 {
					continue
				}
				val := foreignValues[n/share%uint32(len(foreignValues))]
				out := make([][]byte, len(records))
				changed := false
				for i, r := range records {
					out[i] = given(r, key, val, depth)
					changed = changed || len(out[i]) != len(r.Raw())
				}
				if !changed {
					break
				}
				if diff := cmp.Diff(want, withoutUnread(told(t, name, glued(seps, out)))); diff != "" {
					t.Errorf("%s:%s at depth %d (-without +with):\n%s", key, val, depth, diff)
				}
			}
		}
	})
}
