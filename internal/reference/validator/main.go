// Command validator validates values with the JSON Schema library of Santhosh Kumar
// Tekuri, for the tests of toolguard. It reads requests from standard input and writes one
// answer for each to standard output, as JSON. Package reference, which starts it, describes
// both.
//
// It is a module of its own, so that programs that import toolguard do not depend on the
// library.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

type request struct {
	Schema  string
	URL     string
	Formats bool
	Values  []string
}

type answer struct {
	Invalid   string
	Unchecked []string
	Failures  [][]failure
}

type failure struct {
	At      []string
	Name    bool
	Keyword string
	Want    []string
	Missing []string
	Message string
}

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve answers requests until the input ends. It compiles a schema once if requests with
// the same schema follow each other.
func serve(r io.Reader, w io.Writer) error {
	in, out := json.NewDecoder(r), json.NewEncoder(w)
	var last request
	var c compiled
	for {
		var r request
		if err := in.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if c.schema == nil || r.Schema != last.Schema || r.URL != last.URL || r.Formats != last.Formats {
			last, c = r, compile(r)
		}
		a := answer{Invalid: c.invalid, Unchecked: c.unchecked}
		if c.schema != nil {
			for _, text := range r.Values {
				a.Failures = append(a.Failures, failures(c.schema, text))
			}
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
}

// A compiled is a compiled schema, or the reason why it is invalid.
type compiled struct {
	schema    *jsonschema.Schema
	invalid   string
	unchecked []string
}

func compile(r request) compiled {
	var unchecked []string
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if r.Formats {
		c.AssertFormat()
	}
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) {
		re, err := regexp.Compile(pattern)
		if err != nil {
			if !slices.Contains(unchecked, pattern) {
				unchecked = append(unchecked, pattern)
			}
			return unreadable(pattern), nil
		}
		return re, nil
	})
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(r.Schema))
	if err != nil {
		return compiled{invalid: err.Error()}
	}
	if err := c.AddResource(r.URL, doc); err != nil {
		return compiled{invalid: err.Error()}
	}
	schema, err := c.Compile(r.URL)
	if err != nil {
		return compiled{invalid: err.Error()}
	}
	slices.Sort(unchecked)
	return compiled{schema, "", unchecked}
}

// failures returns the failures of a value, except those by schemas that only refer back
// to themselves, because they are not caused by the value.
func failures(schema *jsonschema.Schema, text string) []failure {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return []failure{{Keyword: "json", Message: err.Error()}}
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(schema.Validate(value), &invalid) {
		return nil
	}
	printer := message.NewPrinter(language.English)
	var out []failure
	var walk func(e *jsonschema.ValidationError, name bool)
	walk = func(e *jsonschema.ValidationError, name bool) {
		if _, of := e.ErrorKind.(*kind.PropertyNames); of {
			name = true
		}
		for _, cause := range e.Causes {
			walk(cause, name)
		}
		if len(e.Causes) > 0 {
			return
		}
		f := failure{At: e.InstanceLocation, Name: name}
		switch k := e.ErrorKind.(type) {
		case *kind.RefCycle:
			return
		case *kind.AdditionalProperties:
			slices.Sort(k.Properties)
			f.Keyword = "additionalProperties"
		case *kind.Type:
			f.Keyword, f.Want = "type", k.Want
		case *kind.Required:
			f.Keyword, f.Missing = "required", k.Missing
		case *kind.DependentRequired:
			f.Keyword, f.Missing = "dependentRequired", k.Missing
		case *kind.Dependency:
			f.Keyword, f.Missing = "dependencies", k.Missing
		case *kind.Not:
			f.Keyword = "not"
		case *kind.FalseSchema:
			f.Keyword = "false"
		default:
			if path := k.KeywordPath(); len(path) > 0 {
				f.Keyword = path[0]
			}
		}
		f.Message = e.ErrorKind.LocalizedString(printer)
		out = append(out, f)
	}
	walk(invalid, false)
	return out
}

// An unreadable is an invalid pattern, which matches everything.
type unreadable string

func (unreadable) MatchString(string) bool { return true }
func (u unreadable) String() string        { return string(u) }
