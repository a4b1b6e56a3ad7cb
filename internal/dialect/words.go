package dialect

import (
	"reflect"
	"strings"

	"github.com/toolguard/toolguard/internal/evidence"
)

// Words lists the keys and values that the row of a user-defined dialect looks for. A "*" at
// an end of a word stands for any text.
func (d *Dialect) Words() []string {
	var out []string
	add := func(text string) {
		out = append(out, strings.FieldsFunc(text, func(r rune) bool {
			return r < 0x80 && r != '_' && r != '-' && r != '$' && r != '*' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		})...)
	}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			add(v.String())
		case reflect.Pointer, reflect.Interface:
			if v.Type() == reflect.TypeFor[*evidence.Cond]() {
				add(v.Elem().FieldByName("Text").String())
			} else if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Map:
			for it := v.MapRange(); it.Next(); {
				walk(it.Key())
				walk(it.Value())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		}
	}
	row := *d
	row.Name, row.Title, row.Summary, row.Where, row.Example, row.Provider, row.Evidence = "", "", "", "", "", "", nil
	walk(reflect.ValueOf(row))
	return out
}
