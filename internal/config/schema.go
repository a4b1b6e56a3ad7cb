package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/transcript"
)

// object is a JSON object that keeps the order of its fields.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Schema returns the JSON schema of the config file, for editors.
func Schema() ([]byte, error) {
	root := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", "toolguard.toml"},
		{"description", "The config file of toolguard"},
	}
	root = append(root, table(reflect.TypeFor[File](), "")...)
	var tables object
	for _, t := range rowTables() {
		tables = append(tables, member{t.name, t.schema()})
	}
	root = append(root, member{"$defs", tables})
	b, err := json.MarshalIndent(root, "", "  ")
	return append(b, '\n'), err
}

// table describes a struct.
func table(t reflect.Type, path string) object {
	var properties object
	var required []string
	for _, f := range reflect.VisibleFields(t) {
		name := keyName(f)
		if name == "" {
			continue
		}
		if path+name == "per-file/paths" {
			required = append(required, name)
		}
		about := values(f.Type, path+name)
		if name == "dialect" {
			about = object{{"type", "array"}, {"items", rowValue(reflect.TypeFor[dialect.Dialect]())}}
		}
		value := append(object{{"description", f.Tag.Get("doc")}}, about...)
		if f.Tag.Get("former") != "" {
			value = append(value, member{"deprecated", true})
		}
		properties = append(properties, member{name, value})
	}
	out := object{{"type", "object"}, {"additionalProperties", false}}
	if len(required) > 0 {
		out = append(out, member{"required", required})
	}
	return append(out, member{"properties", properties})
}

// schema describes a table of a format.
func (r rowTable) schema() object {
	var properties object
	for _, k := range rowKeys(r.typ) {
		about := rowValue(k.typ)
		switch {
		case r.typ != reflect.TypeFor[dialect.Dialect]():
		case k.name == "driver":
			about = object{{"enum", driverNames()}}
		case k.name == "provider":
			about = object{{"enum", profile.Names()}}
		}
		properties = append(properties, member{k.name, append(object{{"description", r.keys[k.name]}}, about...)})
	}
	out := object{{"type", "object"}, {"additionalProperties", false}}
	if r.typ == reflect.TypeFor[dialect.Dialect]() {
		out = append(out, member{"required", []string{"name", "driver", "marks"}})
	}
	return append(out, member{"properties", properties})
}

// rowValue describes the values of a key of a format. Tables are defined once, because several
// keys hold the same ones.
func rowValue(t reflect.Type) object {
	if known, _ := words(t); known != nil {
		return object{{"enum", slices.DeleteFunc(known, func(s string) bool { return s == "" })}}
	}
	switch {
	case isCond(t):
	case t == reflect.TypeFor[[]dialect.RoleName]():
		return object{{"type", "object"}, {"additionalProperties", rowValue(reflect.TypeFor[transcript.Role]())}}
	case t.Kind() == reflect.Bool:
		return object{{"type", "boolean"}}
	case t.Kind() == reflect.Pointer:
		return rowValue(t.Elem())
	case t.Kind() == reflect.Slice:
		return object{{"type", "array"}, {"items", rowValue(t.Elem())}}
	case t.Kind() == reflect.Array: // one path for each member
		return object{{"type", "object"}, {"propertyNames", rowValue(reflect.TypeFor[transcript.Member]())}, {"additionalProperties", rowValue(t.Elem())}}
	case t.Kind() == reflect.Struct:
		all := rowTables()
		i := slices.IndexFunc(all, func(r rowTable) bool { return r.typ == t })
		return object{{"$ref", "#/$defs/" + all[i].name}}
	}
	return object{{"type", "string"}}
}

// values describes the values of a key.
func values(t reflect.Type, path string) object {
	switch t.Kind() {
	case reflect.Slice:
		return object{{"type", "array"}, {"items", values(t.Elem(), path)}}
	case reflect.Struct:
		return table(t, path+"/")
	case reflect.Map:
		var properties object
		for _, r := range rules.All() {
			known := []string{"off", "info", "warning", "error"}
			if path == "strategy" {
				known = r.Strategies
			}
			if len(known) > 0 {
				properties = append(properties, member{r.Name, object{{"enum", known}}})
			}
		}
		return object{{"type", "object"}, {"additionalProperties", false}, {"properties", properties}}
	}
	switch path {
	case "fail-on":
		return object{{"enum", []string{"error", "warning", "info"}}}
	case "provider", "target":
		return object{{"enum", profile.Names()}}
	case "select", "ignore", "per-file/ignore":
		return object{{"enum", rules.Selectable()}}
	}
	return object{{"type", "string"}}
}
