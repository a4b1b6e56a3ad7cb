// Package reference validates values with another implementation of JSON Schema, for tests.
// The library is a dependency of the module in the directory validator, so that programs
// that import toolguard do not depend on it. The go command builds and runs that module.
package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// A Request asks for the validation of values, all of them JSON texts.
type Request struct {
	Schema  string
	URL     string   // the address of the schema
	Formats bool     // "format" restricts values
	Values  []string // may be empty, to compile the schema only
}

// An Answer is the result for one request.
type Answer struct {
	Invalid   string      // why the schema is invalid, or empty
	Unchecked []string    // the patterns that cannot be compiled
	Failures  [][]Failure // for each value
}

// A Failure says that a value violates one keyword of the schema.
type Failure struct {
	At      []string // the keys to the place
	Name    bool     // a key of an object is invalid; At does not say which object
	Keyword string   // "false" for a schema that allows nothing, "json" for an invalid text, empty if unknown
	Want    []string // the types that "type" allows
	Missing []string // the keys that are required
	Message string
}

// A Validator is a running validator. It is safe for concurrent use.
type Validator struct {
	mu     sync.Mutex
	in     *json.Encoder
	out    *json.Decoder
	cmd    *exec.Cmd
	stderr bytes.Buffer
}

// Start builds and runs the validator, which ends when the calling process ends. The current
// directory must be that of a package two levels below the root of the module, as it is in
// tests.
func Start() (*Validator, error) {
	// The tests of several packages start it at once. Whoever is first builds it, and the
	// others find it in the build cache.
	unlock, err := lockedfile.MutexAt(filepath.Join(os.TempDir(), fmt.Sprintf("toolguard-validator-%d.lock", os.Getuid()))).Lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	v, err := start()
	if err == nil {
		_, err = v.Validate(Request{Schema: "true"}) // it runs as soon as it answers
	}
	return v, err
}

func start() (*Validator, error) {
	v := &Validator{cmd: exec.Command("go", "run", ".")}
	v.cmd.Dir = filepath.Join("..", "..", "internal", "reference", "validator")
	// go test only repeats a test if a file that the test itself looks at has changed.
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		if _, err := os.Stat(filepath.Join(v.cmd.Dir, name)); err != nil {
			return nil, err
		}
	}
	v.cmd.Stderr = &v.stderr
	in, err := v.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := v.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	v.in, v.out = json.NewEncoder(in), json.NewDecoder(out)
	return v, v.cmd.Start()
}

// Validate returns the answer to a request.
func (v *Validator) Validate(r Request) (Answer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var a Answer
	err := v.in.Encode(r)
	if err == nil {
		err = v.out.Decode(&a)
	}
	if err != nil {
		return a, fmt.Errorf("validator: %w, %w\n%s", err, v.cmd.Wait(), v.stderr.String())
	}
	return a, nil
}
