package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestLinked: the command has no network in it, nothing that makes the linker keep
// what is never called, and no library that works before main runs.
func TestLinked(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "toolguard")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", file, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	binary, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// The names of functions are in every binary, each with a zero before it.
	linked := func(name string) bool { return bytes.Contains(binary, []byte("\x00"+name)) }
	for _, name := range []string{"net/http.", "crypto/tls.", "github.com/santhosh-tekuri/jsonschema/", "golang.org/x/text/", "text/template.(*state).", "reflect.Value.MethodByName\x00"} {
		if linked(name) {
			t.Errorf("%q is linked in", name)
		}
	}
	if !linked("os.ReadFile\x00") {
		t.Error("no function is found at all")
	}
}
