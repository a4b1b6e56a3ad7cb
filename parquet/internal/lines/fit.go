package lines

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/tidwall/gjson"
)

// Object returns the fields of an object.
func Object(v gjson.Result) (map[string]gjson.Result, error) {
	if !v.IsObject() {
		return nil, errors.New("expected an object")
	}
	out := map[string]gjson.Result{}
	var err error
	v.ForEach(func(key, value gjson.Result) bool {
		if _, twice := out[key.Str]; twice {
			err = fmt.Errorf("%s: a field twice", strconv.Quote(key.Str))
		}
		out[key.Str] = value
		return err == nil
	})
	return out, err
}

// Same reports whether two values are equal, except that fields of b with null may be absent in a.
func Same(a, b gjson.Result) bool {
	switch {
	case a.IsObject() && b.IsObject():
		x, errA := Object(a)
		y, errB := Object(b)
		if errA != nil || errB != nil {
			return a.Raw == b.Raw
		}
		for key, v := range y {
			w, there := x[key]
			if !there && v.Type != gjson.Null || there && !Same(w, v) {
				return false
			}
			delete(x, key)
		}
		return len(x) == 0
	case a.IsArray() && b.IsArray():
		x, y := a.Array(), b.Array()
		for i := range x {
			if len(x) != len(y) || !Same(x[i], y[i]) {
				return false
			}
		}
		return len(x) == len(y)
	case a.Type == gjson.String && b.Type == gjson.String:
		return a.Str == b.Str
	}
	return a.Raw == b.Raw && !a.IsObject() && !a.IsArray()
}
