package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/toolguard/toolguard/internal/names"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/suggest"
)

// An Error says what is wrong with a config file.
type Error struct {
	Path     string
	Problems []Problem
}

// A Problem is one thing that is wrong with a config file.
type Problem struct {
	Message string
	// Line and Column count from 1. They are 0 if the problem has no place.
	Line, Column int
	// Text is the line, and Width the number of bytes to underline.
	Text  string
	Width int
}

// Error implements error: a line for each problem.
func (e *Error) Error() string {
	var lines []string
	for _, p := range e.Problems {
		lines = append(lines, e.About(p))
	}
	return strings.Join(lines, "\n")
}

// About returns a problem with its place.
func (e *Error) About(p Problem) string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d:%d: %s", e.Path, p.Line, p.Column, p.Message)
	}
	return e.Path + ": " + p.Message
}

// problemAt describes a problem with a part of a config file.
func problemAt(text []byte, start, width int, message string) Problem {
	lineStart := bytes.LastIndexByte(text[:start], '\n') + 1
	line := text[lineStart:]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	line = bytes.TrimSuffix(line, []byte("\r"))
	return Problem{
		Message: message, Line: bytes.Count(text[:start], []byte("\n")) + 1, Column: start - lineStart + 1,
		Text: string(line), Width: max(0, min(width, len(line)-(start-lineStart))),
	}
}

// problems converts the errors of the decoder.
func problems(text []byte, err error) []Problem {
	if err == nil {
		return nil
	}
	place := func(e *toml.DecodeError, message string) Problem {
		line, column := e.Position()
		start := 0
		for range line - 1 {
			start += bytes.IndexByte(text[start:], '\n') + 1
		}
		start = min(start+column-1, len(text))
		width := 1
		if key := e.Key(); len(key) > 0 && bytes.HasPrefix(text[start:], []byte(key[len(key)-1])) {
			width = len(key[len(key)-1])
		}
		return problemAt(text, start, width, message)
	}
	var missing *toml.StrictMissingError
	if errors.As(err, &missing) {
		var out []Problem
		for i := range missing.Errors {
			e := &missing.Errors[i]
			key := e.Key()
			known := keysOf(key[:len(key)-1])
			unknown := suggest.Unknown("key", key[len(key)-1], known, "expected one of "+strings.Join(known, ", "))
			out = append(out, place(e, unknown.Error()))
		}
		return out
	}
	var e *toml.DecodeError
	if errors.As(err, &e) {
		message := strings.TrimPrefix(e.Error(), "toml: ")
		message = strings.Replace(message, "unexpected character U+000A", "unexpected end of the line", 1)
		key := e.Key()
		for len(key) > 1 && field(key) == nil { // such as fail-on.x, where a string is expected
			key = key[:len(key)-1]
		}
		if len(key) > 0 && (strings.HasPrefix(message, "cannot decode") || strings.HasPrefix(message, "cannot store")) {
			message = fmt.Sprintf("expected %s for %s", wanted(key), strings.Join(key, "."))
		}
		return []Problem{place(e, message)}
	}
	return []Problem{{Message: err.Error()}}
}

// field returns the type of the value of a key.
func field(key []string) reflect.Type {
	t := reflect.TypeFor[File]()
	for _, part := range key {
		for t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Map:
			t = t.Elem()
		case reflect.Struct:
			i := slices.IndexFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return keyName(f) == part })
			if i < 0 {
				return nil
			}
			t = t.Field(i).Type
		default:
			return nil
		}
	}
	return t
}

// keyName returns the key of a field, "" for a field that is none.
func keyName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
	return strings.TrimPrefix(name, "-")
}

// keysOf lists the keys of a table.
func keysOf(key []string) []string {
	t := field(key)
	for t != nil && t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	var out []string
	if t != nil && t.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(t) {
			if name := keyName(f); name != "" && f.Tag.Get("former") == "" {
				out = append(out, name)
			}
		}
	}
	return out
}

// wanted describes the type that the value of a key must have.
func wanted(key []string) string {
	switch t := field(key); {
	case t == nil:
		return "another value"
	case t.Kind() == reflect.String:
		return "a string"
	case t.Kind() == reflect.Map:
		return "a table"
	case t.Elem().Kind() == reflect.String:
		return "a list of strings"
	default:
		return "a list of tables"
	}
}

// invalid returns the problems of the values in a config file that was decoded.
// Paths in the file are relative to dir.
func invalid(text []byte, dir string) []Problem {
	v := &validation{text: text, dir: dir}
	v.parser.Reset(text)
	var table []string
	for v.parser.NextExpression() {
		switch e := v.parser.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = nil
			for it := e.Key(); it.Next(); {
				table = append(table, string(it.Node().Data))
				v.at = it.Node().Raw
			}
			v.endEntry()
			if e.Kind == unstable.ArrayTable && table[0] == "per-file" {
				v.entry = v.at
			}
		case unstable.KeyValue:
			v.member(table, e)
		}
	}
	v.endEntry()
	return v.problems
}

// A validation checks the values of a config file.
type validation struct {
	text     []byte
	dir      string
	parser   unstable.Parser
	problems []Problem
	at       unstable.Range
	// entry is the place of the current entry of per-file, and has is the set of
	// its keys.
	entry unstable.Range
	has   map[string]bool
}

func (v *validation) complain(at unstable.Range, message string) {
	v.problems = append(v.problems, problemAt(v.text, int(at.Offset), int(at.Length), message))
}

// endEntry checks that an entry of per-file has the required keys.
func (v *validation) endEntry() {
	if v.entry.Length > 0 {
		switch {
		case !v.has["paths"]:
			v.complain(v.entry, "missing key \"paths\" in [[per-file]]")
		case !v.has["ignore"] && !v.has["ids"]:
			v.complain(v.entry, "missing key \"ignore\" or \"ids\" in [[per-file]]")
		}
	}
	v.entry, v.has = unstable.Range{}, map[string]bool{}
}

// member checks a key and its value.
func (v *validation) member(table []string, e *unstable.Node) {
	path := slices.Clone(table)
	for it := e.Key(); it.Next(); {
		path = append(path, string(it.Node().Data))
		v.at = it.Node().Raw
	}
	v.value(path, v.at, e.Value())
}

func (v *validation) value(path []string, key unstable.Range, value *unstable.Node) {
	switch value.Kind {
	case unstable.InlineTable:
		whole := len(path) == 1 && path[0] == "per-file"
		if whole {
			v.endEntry()
			v.entry = key
		}
		for it := value.Children(); it.Next(); {
			v.member(path, it.Node())
		}
		if whole {
			v.endEntry()
		}
	case unstable.Array:
		for it := value.Children(); it.Next(); {
			if len(path) == 2 && path[0] == "per-file" {
				v.has[path[1]] = true
			}
			v.value(path, key, it.Node())
		}
	case unstable.String:
		v.str(path, key, value)
	}
}

// str checks a string.
func (v *validation) str(path []string, key unstable.Range, value *unstable.Node) {
	text := string(value.Data)
	name := path[len(path)-1]
	var err error
	switch strings.Join(path[:len(path)-1], ".") + "/" + name {
	case "/fail-on":
		_, err = names.FailOn(text)
	case "/select", "/ignore", "per-file/ignore":
		err = names.User.Rules([]string{text})
	case "/provider", "/target":
		_, err = names.User.Provider(text)
	case "/placeholder":
		if strings.TrimSpace(text) == "" {
			err = errors.New("expected a text for placeholder")
		}
	case "/backup":
		if strings.ContainsAny(text, "/\\\x00") {
			err = fmt.Errorf("expected a suffix or none, got %q", text)
		}
	case "/baseline":
		if e := within(v.dir, text); text != "" && e != nil {
			err = fmt.Errorf("%q is %w", text, e)
		}
	case "/exclude", "per-file/paths":
		err = CheckGlob(text)
	case "rules/" + name:
		if v.rule(key, name) != nil {
			_, err = names.User.Severity(name, text)
		}
	case "strategy/" + name:
		if v.rule(key, name) != nil {
			err = names.User.Strategy(name, text)
		}
	}
	if err != nil {
		v.complain(value.Raw, err.Error())
	}
}

// rule returns the rule that a key names.
func (v *validation) rule(key unstable.Range, name string) *rules.Rule {
	r, err := names.User.Rule(name)
	if err != nil {
		v.complain(key, err.Error())
	}
	return r
}

func oneOf(what, name string, known []string) error {
	if slices.Contains(known, name) {
		return nil
	}
	return fmt.Errorf("unknown %s %q; expected one of %s", what, name, strings.Join(known, ", "))
}
