package dialect

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFieldsOfOneDialect checks that no field of a row or a log that users cannot set is for one
// dialect only: it would be a hook. The exceptions say why.
func TestFieldsOfOneDialect(t *testing.T) {
	t.Parallel()
	exceptions := []string{
		"Log.Head", "Log.Tail", // read with all other paths of a record
	}
	setBy := map[string][]string{}
	for _, d := range All() {
		countFields(reflect.ValueOf(d.Driver), d.Name, setBy)
		countFields(reflect.ValueOf(d.Log), d.Name, setBy)
	}
	var lonely []string
	for field, names := range setBy {
		if len(names) == 1 {
			lonely = append(lonely, field)
		}
	}
	slices.Sort(lonely)
	if diff := cmp.Diff(exceptions, lonely); diff != "" {
		t.Errorf("fields that users cannot set and only one dialect sets (-want +got):\n%s", diff)
	}
	if n := len(setBy["Log.Echoes"]); n != 2 {
		t.Errorf("%d dialects set Log.Echoes, want 2", n)
	}
}

// countFields notes which fields of rows without a key in toolguard.toml a dialect sets.
func countFields(v reflect.Value, name string, setBy map[string][]string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			countFields(v.Elem(), name, setBy)
		}
	case reflect.Slice:
		for i := range v.Len() {
			countFields(v.Index(i), name, setBy)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			key := v.Type().Name() + "." + f.Name
			if f.Type != reflect.TypeFor[LogHooks]() && f.Tag.Get("toml") == "-" && !v.Field(i).IsZero() && !slices.Contains(setBy[key], name) {
				setBy[key] = append(setBy[key], name)
			}
			if (f.IsExported() || f.Anonymous) && !strings.HasSuffix(key, ".Hooks") {
				countFields(v.Field(i), name, setBy)
			}
		}
	}
}
