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

	"github.com/toolguard/toolguard/internal/profile"
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
	// Line and Column count from 1; 0 where nothing in the file is meant.
	Line, Column int
	// Text is the line, Width how many bytes of it are meant.
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

// About returns what one of the problems is, and where.
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

// problems puts the errors of the decoder into words.
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
	if missing, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		var out []Problem
		for i := range missing.Errors {
			e := &missing.Errors[i]
			key := e.Key()
			known := keysOf(key[:len(key)-1])
			unknown := suggest.Unknown("key", key[len(key)-1], known, "known are "+strings.Join(known, ", "))
			out = append(out, place(e, unknown.Error()))
		}
		return out
	}
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		message := strings.TrimPrefix(e.Error(), "toml: ")
		if key := e.Key(); len(key) > 0 && strings.Contains(message, "cannot decode") {
			message = fmt.Sprintf("want %s for %s", wanted(key), strings.Join(key, "."))
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
			if name := keyName(f); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}

// wanted says what the value of a key is to be.
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

// invalid returns what is wrong with the values of a config file that can be
// decoded. Its paths start from dir.
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

// A validation goes through the values of a config file.
type validation struct {
	text     []byte
	dir      string
	parser   unstable.Parser
	problems []Problem
	at       unstable.Range
	// entry is where the entry of per-file stands that is being read, and has
	// which of its keys were met.
	entry unstable.Range
	has   map[string]bool
}

func (v *validation) complain(at unstable.Range, message string) {
	v.problems = append(v.problems, problemAt(v.text, int(at.Offset), int(at.Length), message))
}

// endEntry looks at an entry of per-file as a whole.
func (v *validation) endEntry() {
	if v.entry.Length > 0 {
		switch {
		case !v.has["paths"]:
			v.complain(v.entry, "an entry of per-file needs paths")
		case !v.has["ignore"] && !v.has["ids"]:
			v.complain(v.entry, "an entry of per-file needs ignore or ids")
		}
	}
	v.entry, v.has = unstable.Range{}, map[string]bool{}
}

// member looks at a key and its value.
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

// str looks at one string.
func (v *validation) str(path []string, key unstable.Range, value *unstable.Node) {
	text := string(value.Data)
	name := path[len(path)-1]
	var err error
	switch strings.Join(path[:len(path)-1], ".") + "/" + name {
	case "/fail-on":
		err = oneOf("severity", text, []string{"error", "warning", "info"})
	case "/select", "/ignore", "per-file/ignore":
		known := rules.Selectable()
		if !slices.Contains(known, text) {
			err = suggest.Unknown("rule or category", text, known, "toolguard rules lists them")
		}
	case "/target":
		if known := profile.Names(); !slices.Contains(known, text) {
			err = suggest.Unknown("profile", text, known, "toolguard profiles lists them")
		}
	case "/placeholder":
		if strings.TrimSpace(text) == "" {
			err = errors.New("want a text")
		}
	case "/backup":
		if strings.ContainsAny(text, "/\\\x00") {
			err = fmt.Errorf("want a suffix or none, not %q", text)
		}
	case "/baseline":
		if e := within(v.dir, text); text != "" && e != nil {
			err = fmt.Errorf("%q is %w", text, e)
		}
	case "/exclude", "per-file/paths":
		err = CheckGlob(text)
	case "rules/" + name:
		if v.rule(key, name) != nil {
			err = oneOf("severity", text, []string{"off", "info", "warning", "error"})
		}
	case "strategy/" + name:
		if r := v.rule(key, name); r != nil {
			if len(r.Strategies) == 0 {
				err = fmt.Errorf("there is nothing to choose from for %s", name)
			} else {
				err = oneOf("strategy", text, r.Strategies)
			}
		}
	}
	if err != nil {
		v.complain(value.Raw, err.Error())
	}
}

// rule returns the rule that a key names.
func (v *validation) rule(key unstable.Range, name string) *rules.Rule {
	r := rules.ByName(name)
	if r == nil {
		v.complain(key, suggest.Unknown("rule", name, rules.Names(), "toolguard rules lists them").Error())
	}
	return r
}

func oneOf(what, name string, known []string) error {
	if slices.Contains(known, name) {
		return nil
	}
	return fmt.Errorf("unknown %s %q; known are %s", what, name, strings.Join(known, ", "))
}
