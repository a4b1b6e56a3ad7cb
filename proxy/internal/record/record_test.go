package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/provider"
	"github.com/toolguard/toolguard/proxy/internal/endpoint"
)

// TestOutline: structure stays where the dialect knows it, and contents do not.
func TestOutline(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ dialect, text, want string }{
		{"anthropic", `{"role":"user","content":"words","max_tokens":1.50,"stream":true,"system":null}`, `{"role":"user","content":"<5 bytes>","max_tokens":1.50,"stream":true,"system":null}`},
		{"anthropic", ` { "type" : "tool_use" , "input" : { "secret" : [ 1 ] } , "type":"text" } `, `{"type":"tool_use","input":"<20 bytes>","type":"text"}`},
		{
			"openai-responses", `{"input":[{"type":"function_call","arguments":"{\"a\":1}","input":{"b":2},"output":[{"c":3}],"results":4}]}`,
			`{"input":[{"type":"function_call","arguments":"<7 bytes>","input":"<7 bytes>","output":"<9 bytes>","results":"<1 bytes>"}]}`,
		},
		{"openai-responses", `{"input":"words"}`, `{"input":"<5 bytes>"}`},
		{"openai-chat", `{"role":"robot","type":"Type","stop":["a","bc"],"messages":[{"role":["user"],"content":["user"]}]}`, `{"role":"<5 bytes>","type":"<4 bytes>","stop":["<1 bytes>","<2 bytes>"],"messages":[{"role":["<4 bytes>"],"content":["<4 bytes>"]}]}`},
		{"openai-chat", `{"a key":1,"k\u0000":"x","":null,"ключ":true,"maria":{"messages":[1]},"toolUseId":"a"}`, `{"<key of 5 bytes>":"<1 bytes>","<key of 2 bytes>":"<1 bytes>","<key of 0 bytes>":null,"<key of 8 bytes>":true,"<key of 5 bytes>":"<16 bytes>","<key of 9 bytes>":"<1 bytes>"}`},
		{"anthropic", `{"messages":[{"id":"a","tool_use_id":"b","name":7,"content":[{"id":"a"}]}]}`, `{"messages":[{"id":"<A>","tool_use_id":"<B>","name":"<C>","content":[{"id":"<A>"}]}]}`},
		{"anthropic", "[]", `[]`},
		{
			"anthropic", `{"metadata":{"user_id":"u"},"tools":[{"name":"f","input_schema":{"type":1},"max_uses":3,"temperature":3,"input_examples":[{"max_uses":1}]}]}`,
			`{"metadata":"<15 bytes>","tools":[{"name":"<A>","input_schema":"<10 bytes>","max_uses":3,"temperature":"<1 bytes>","input_examples":"<16 bytes>"}]}`,
		},
		// A number stays at its place only.
		{
			"openai-chat", `{"temperature":0.5,"max_tokens":[1,2],"messages":[{"temperature":36.6,"content":{"max_tokens":4111111111111111},"tool_calls":[{"index":0}],"index":7}]}`,
			`{"temperature":0.5,"max_tokens":["<1 bytes>","<1 bytes>"],"messages":[{"temperature":"<4 bytes>","content":{"max_tokens":"<16 bytes>"},"tool_calls":[{"index":0}],"index":"<1 bytes>"}]}`,
		},
		{"gemini", `{"generationConfig":{"topK":40,"max_tokens":1},"topK":40,"contents":[{"role":"model","parts":[{"functionCall":{"args":{"topK":1}}}]}]}`, `{"generationConfig":{"topK":40,"<key of 10 bytes>":"<1 bytes>"},"topK":"<2 bytes>","contents":[{"role":"model","parts":[{"functionCall":{"args":"<10 bytes>"}}]}]}`},
		{"bedrock", `{"inferenceConfig":{"maxTokens":9},"max_tokens":9,"messages":[{"role":"model"}]}`, `{"inferenceConfig":{"maxTokens":9},"<key of 10 bytes>":"<1 bytes>","messages":[{"role":"<5 bytes>"}]}`},
		{"unknown", `{"role":"user","messages":[]}`, `{"role":"<4 bytes>","<key of 8 bytes>":"<2 bytes>"}`},
	} {
		got, err := outline([]byte(tt.text), formOf(tt.dialect), []byte("key"))
		names := map[string]string{}
		named := regexp.MustCompile(`<[0-9a-f]{12}>`).ReplaceAllStringFunc(string(got), func(hash string) string {
			if names[hash] == "" {
				names[hash] = fmt.Sprintf("<%c>", 'A'+len(names))
			}
			return names[hash]
		})
		if diff := cmp.Diff(tt.want, named); diff != "" || err != nil || !json.Valid(got) {
			t.Errorf("%s: %v (-want +got):\n%s", tt.text, err, diff)
		}
	}
	for _, text := range []string{"", "{", `{"a":`, "nothing", `{"a":1`} {
		if got, err := outline([]byte(text), formOf("anthropic"), nil); err == nil {
			t.Errorf("%s: %s", text, got)
		}
	}
	one, _ := outline([]byte(`{"id":"a"}`), formOf("anthropic"), []byte("key"))
	other, _ := outline([]byte(`{"id":"a"}`), formOf("anthropic"), []byte("another"))
	if string(one) == string(other) {
		t.Errorf("%s does not depend on the key", one)
	}
}

// TestForms: there is a form for the dialect of each endpoint, and it knows all that a whole and a broken
// request have, so that an outline can be read.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, e := range endpoint.All() {
		if f := formOf(e.Dialect); len(f.keys) < 50 || len(f.numbers) < 5 || len(f.words["role"]) < 3 {
			t.Errorf("%s: no form for %s", e.Name, e.Dialect)
		}
	}
	for _, h := range provider.Histories() {
		dialect := strings.TrimSuffix(h.API, "-3")
		if dialect == "kimi" {
			dialect = "openai-chat"
		}
		body, err := h.Request()
		if err != nil {
			t.Fatal(err)
		}
		got, err := outline(body, formOf(dialect), nil)
		if err != nil || bytes.Contains(got, []byte("<key of")) {
			t.Errorf("%s, %s: %v\n%s", h.API, h.Name, err, got)
		}
	}
}

// TestStrangers: whatever keys, numbers, roles and types a body has that are those of other dialects or of
// nobody, none of them stays, wherever they are.
func TestStrangers(t *testing.T) {
	t.Parallel()
	all := map[string]bool{}
	for dialect := range forms {
		f := formOf(dialect)
		for _, words := range []map[string]bool{f.keys, f.words["role"], f.words["type"]} {
			maps.Copy(all, words)
		}
	}
	for dialect := range forms {
		f := formOf(dialect)
		for word := range all {
			const number = "314159265"
			bodies := map[string]bool{ // with whether the word may stay
				fmt.Sprintf(`{"messages":[{"role":%q}]}`, word): f.words["role"][word],
				fmt.Sprintf(`{"messages":[{"type":%q}]}`, word): f.words["type"][word],
				fmt.Sprintf(`{%q:%s}`, word, number):            f.keys[word],
				fmt.Sprintf(`{"x":{%q:%s}}`, word, number):      false,
			}
			for text, may := range bodies {
				got, err := outline([]byte(text), f, nil)
				if err != nil {
					t.Fatal(err)
				}
				if stays := bytes.Contains(got, []byte(`"`+word+`"`)) && word != "messages" && word != "role" && word != "type"; stays && !may {
					t.Errorf("%s: %s becomes %s", dialect, text, got)
				}
				if bytes.Contains(got, []byte(number)) && (!f.numbers["."+word] || strings.Contains(text, `"x"`)) {
					t.Errorf("%s: %s becomes %s", dialect, text, got)
				}
			}
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ dialect, pointer, text, want string }{
		{"anthropic", "", `{}`, ""},
		{"anthropic", "/messages/0/content/0", `{"messages":[{"content":["x"]}]}`, "/messages/0/content/0"},
		{"anthropic", "/messages/0/content/0/input/key", `{"messages":[{"content":[{"input":{"key":1}}]}]}`, "/messages/0/content/0/input"},
		{"openai-responses", "/input/1/arguments", `{"input":[1,{"arguments":"x"}]}`, "/input/1/arguments"},
		{"openai-responses", "/input/0/output/secret", `{"input":[{"output":{"secret":1}}]}`, "/input/0/output"},
		{"anthropic", "/messages/0/a key/x", `{"messages":[{"a key":{"x":1}}]}`, "/messages/0"},
		{"anthropic", "/messages/0/maria", `{"messages":[{"maria":1}]}`, "/messages/0"},
		{"anthropic", "/messages/4111", `{"messages":{"4111":1}}`, "/messages"},
		{"anthropic", "/messages/4111", `{"messages":[1]}`, "/messages"},
		{"anthropic", "/messages/content/0", `{"messages":"x"}`, "/messages"},
		{"anthropic", "/tools/0/input_schema/properties", `{"tools":[{"input_schema":{"properties":1}}]}`, "/tools/0/input_schema"},
		{"gemini", "/contents/0/parts/0/tool_use_id", `{"contents":[{"parts":[{"tool_use_id":1}]}]}`, "/contents/0/parts/0"},
	} {
		if got := shorten(tt.pointer, []byte(tt.text), formOf(tt.dialect)); got != tt.want {
			t.Errorf("%s becomes %s, want %s", tt.pointer, got, tt.want)
		}
	}
}

// TestMost: a directory gets no more files than it may, whoever writes them, and earlier ones stay.
func TestMost(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "b")
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 && runtime.GOOS != "windows" {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	early := filepath.Join(path, "request-002.json")
	if err := os.WriteFile(early, []byte("early"), 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	full := 0
	var all sync.WaitGroup
	for range 2 * Most {
		all.Go(func() {
			said, err := d.Add(Entry{}, []byte(`{}`))
			mu.Lock()
			defer mu.Unlock()
			if said {
				full++
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	files, err := filepath.Glob(filepath.Join(path, "request-*.json"))
	if err != nil || len(files) != Most || full != 1 {
		t.Errorf("%d files, said %d times, %v", len(files), full, err)
	}
	if text, err := os.ReadFile(early); err != nil || string(text) != "early" {
		t.Errorf("%s, %v", text, err)
	}
	// A later run fills the numbers that are free, and says when it has written the last one.
	for _, n := range []string{"050", "099"} {
		if err := os.Remove(filepath.Join(path, "request-"+n+".json")); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range [][]bool{{false, true, false}, {true, false}} {
		later, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, full := range want {
			if said, err := later.Add(Entry{}, []byte(`{}`)); said != full || err != nil {
				t.Errorf("outline %d of a later run: full %t, want %t, %v", i, said, full, err)
			}
		}
	}
	if files, err := filepath.Glob(filepath.Join(path, "request-*.json")); err != nil || len(files) != Most {
		t.Errorf("%d files, %v", len(files), err)
	}
}
