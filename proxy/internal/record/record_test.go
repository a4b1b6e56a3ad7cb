package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOutline: structure stays, and contents do not.
func TestOutline(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{`{"role":"user","content":"words","n":1.50,"t":true,"z":null}`, `{"role":"user","content":"<5 bytes>","n":1.50,"t":true,"z":null}`},
		{` { "type" : "tool_use" , "input" : { "secret" : [ 1 ] } , "type":"x" } `, `{"type":"tool_use","input":"<20 bytes>","type":"x"}`},
		{`{"input":[{"type":"function_call","arguments":"{\"a\":1}","input":{"b":2},"output":[{"c":3}],"args":4}]}`, `{"input":[{"type":"function_call","arguments":"<7 bytes>","input":"<7 bytes>","output":"<9 bytes>","args":"<1 bytes>"}]}`},
		{`{"input":"words"}`, `{"input":"<5 bytes>"}`},
		{`{"role":"two words","type":"` + strings.Repeat("x", 41) + `","stop":["a","bc"]}`, `{"role":"<9 bytes>","type":"<41 bytes>","stop":["<1 bytes>","<2 bytes>"]}`},
		{`{"a key":1,"k\u0000":2,"":3,"ключ":4}`, `{"<key of 5 bytes>":1,"<key of 2 bytes>":2,"<key of 0 bytes>":3,"<key of 8 bytes>":4}`},
		{`{"id":"a","tool_use_id":"b","call_id":"a","name":7}`, `{"id":"<A>","tool_use_id":"<B>","call_id":"<A>","name":"<C>"}`},
		{"\ufeff[]", `[]`},
		{`{"metadata":{"user_id":"u"},"tools":[{"name":"f","input_schema":{"p":1}}]}`, `{"metadata":"<15 bytes>","tools":[{"name":"<A>","input_schema":"<7 bytes>"}]}`},
	} {
		got, err := outline([]byte(tt.text), []byte("key"))
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
		if got, err := outline([]byte(text), nil); err == nil {
			t.Errorf("%s: %s", text, got)
		}
	}
	one, _ := outline([]byte(`{"id":"a"}`), []byte("key"))
	other, _ := outline([]byte(`{"id":"a"}`), []byte("another"))
	if string(one) == string(other) {
		t.Errorf("%s does not depend on the key", one)
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for pointer, want := range map[string]string{
		"":                                 "",
		"/messages/3/content/0":            "/messages/3/content/0",
		"/messages/3/content/0/input/key":  "/messages/3/content/0/input",
		"/input/3/arguments":               "/input/3/arguments",
		"/input/3/output/secret":           "/input/3/output",
		"/messages/1/a key/x":              "/messages/1",
		"/messages/1/a~1b":                 "/messages/1",
		"/tools/0/input_schema/properties": "/tools/0/input_schema",
	} {
		if got := shorten(pointer); got != want {
			t.Errorf("%s becomes %s, want %s", pointer, got, want)
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
			err := d.Add(Entry{}, []byte(`{}`))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, ErrFull):
				full++
			case err != nil:
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
}
