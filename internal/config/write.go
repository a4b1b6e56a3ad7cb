package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Format returns a file as TOML, without settings that are not set. It is written here,
// because the encoder of the library takes 100 KB of the program and this is its only use.
func (f *File) Format() []byte {
	var w tomlWriter
	w.table("", reflect.ValueOf(*f))
	return w.out
}

// A tomlWriter writes the values that a config file may have.
type tomlWriter struct{ out []byte }

func (w *tomlWriter) add(texts ...string) {
	for _, text := range texts {
		w.out = append(w.out, text...)
	}
}

// An entry is a key of a table, as it is written, and its value.
type entry struct {
	key   string
	value reflect.Value
}

// entries returns the entries of a struct or a map. Fields that are not set are left out.
func entries(table reflect.Value) []entry {
	var out []entry
	if table.Kind() == reflect.Struct {
		for i := range table.NumField() {
			name, _, _ := strings.Cut(table.Type().Field(i).Tag.Get("toml"), ",")
			v := table.Field(i)
			if name == "" || name == "-" {
				continue
			}
			if unset := v.IsZero() || v.Kind() != reflect.String && v.Len() == 0; !unset {
				out = append(out, entry{tomlKey(name), v})
			}
		}
		return out
	}
	values := map[string]reflect.Value{}
	for _, key := range table.MapKeys() {
		values[key.String()] = concrete(table.MapIndex(key))
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, entry{tomlKey(name), values[name]})
	}
	return out
}

// concrete returns the value that an interface holds.
func concrete(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Interface {
		return v.Elem()
	}
	return v
}

// hasKeys reports whether a value is a table.
func hasKeys(v reflect.Value) bool { return v.Kind() == reflect.Map || v.Kind() == reflect.Struct }

// areTables reports whether a value is a list of tables only.
func areTables(v reflect.Value) bool {
	if v.Kind() != reflect.Slice || v.Len() == 0 {
		return false
	}
	for i := range v.Len() {
		if !hasKeys(concrete(v.Index(i))) {
			return false
		}
	}
	return true
}

// table writes the entries of a table: the values first, because what follows a header
// belongs to it.
func (w *tomlWriter) table(path string, table reflect.Value) {
	all := entries(table)
	for _, e := range all {
		if !hasKeys(e.value) && !areTables(e.value) {
			w.add(e.key, " = ")
			w.inline(e.value)
			w.add("\n")
		}
	}
	header := func(begin, name, end string, table reflect.Value) {
		if len(w.out) > 0 {
			w.add("\n")
		}
		w.add(begin, name, end, "\n")
		w.table(name+".", table)
	}
	for _, e := range all {
		switch {
		case hasKeys(e.value):
			header("[", path+e.key, "]", e.value)
		case areTables(e.value):
			for i := range e.value.Len() {
				header("[[", path+e.key, "]]", concrete(e.value.Index(i)))
			}
		}
	}
}

// inline writes a value on one line.
func (w *tomlWriter) inline(v reflect.Value) {
	switch v = concrete(v); {
	case v.Kind() == reflect.String:
		w.add(tomlString(v.String()))
	case v.Kind() == reflect.Slice:
		w.add("[")
		for i := range v.Len() {
			if i > 0 {
				w.add(", ")
			}
			w.inline(v.Index(i))
		}
		w.add("]")
	case hasKeys(v):
		w.add("{")
		for i, e := range entries(v) {
			if i > 0 {
				w.add(", ")
			}
			w.add(e.key, " = ")
			w.inline(e.value)
		}
		w.add("}")
	default: // a boolean or an integer: no key has a value of another type
		w.out = fmt.Append(w.out, v.Interface())
	}
}

// tomlKey returns a key as it is written.
func tomlKey(name string) string {
	const bare = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	if name != "" && strings.Trim(name, bare) == "" {
		return name
	}
	return tomlString(name)
}

// tomlString returns a string as it is written: literally if that is possible.
func tomlString(s string) string {
	isControl := func(r rune) bool { return r < ' ' || r == 0x7f }
	if !strings.ContainsRune(s, '\'') && !strings.ContainsFunc(s, isControl) {
		return "'" + s + "'"
	}
	out := []byte{'"'}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\t':
			out = append(out, `\t`...)
		case isControl(r):
			out = append(out, `\u00`...)
			out = append(out, strconv.FormatInt(int64(r>>4), 16)...)
			out = append(out, strconv.FormatInt(int64(r&0xf), 16)...)
		default:
			out = append(out, string(r)...)
		}
	}
	return string(append(out, '"'))
}
