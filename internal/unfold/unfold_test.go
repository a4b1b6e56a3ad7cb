package unfold

import (
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// TestUnfolded checks that the parts of an unfolded text map to their places in the
// source.
func TestUnfolded(t *testing.T) {
	for _, tt := range []struct{ name, source, want string }{
		{"plain", `{"a":"[{\"id\":\"c1\"}]"}`, `[{"id":"c1"}]`},
		{"blank before it", `{"a":" \n[\"c1\"]"}`, " \n[\"c1\"]"},
		{"escapes before it", `{"a":"[\"\\n\\u00e9\\\"\\ud83d\\ude00 é\",\"c1\"]"}`, `["\n\u00e9\"\ud83d\ude00 é","c1"]`},
		{"escaped characters", `{"a":"[\"\u00e9\ud83d\ude00\",\u0022c1\u0022]"}`, `["é😀","c1"]`},
		{"twice", `{"a":"\"[\\\"\\\\n\\\",\\\"c1\\\"]\""}`, `["\n","c1"]`},
		{"text", `{"a":"c1 [1]"}`, ""},
		{"cut off", `{"a":"[{\"id\":\"c1\"}"}`, ""},
		{"a number", `{"a":"12345"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := &Unfolded{}
			v := source.NewValue([]byte(tt.source), 100)
			if u.Decode(v.Get("a"), nil) != (tt.want != "") || string(u.Value().Raw()) != strings.TrimSpace(tt.want) {
				t.Fatalf("unfolded to %q, want %q", u.Value().Raw(), tt.want)
			}
			at := int64(strings.Index(tt.want, "c1"))
			if at < 0 {
				return
			}
			got := u.Origin(source.Span{Start: at, End: at + 2})
			if want := int64(100 + strings.Index(tt.source, "c1")); got != (source.Span{Start: want, End: want + 2}) {
				t.Errorf("c1 is at %v, want %d", got, want)
			}
		})
	}
}

// TestUnfoldedPieces checks the origins of a text that comes from several values.
func TestUnfoldedPieces(t *testing.T) {
	whole := `{"b":"2","a":"[\"x\"]"}`
	v := source.NewValue([]byte(whole), 0)
	one, u := &Unfolded{}, &Unfolded{}
	if !one.Decode(v.Get("a"), nil) {
		t.Fatal("not unfolded")
	}
	u.Make(`{"list":`, v, nil)
	u.Copy(one.Value(), one)
	u.Make(`,"n":`, v, nil)
	u.Copy(v.Get("b"), nil)
	u.Make("}", v, nil)
	text := string(u.Value().Raw())
	if want := `{"list":["x"],"n":"2"}`; text != want {
		t.Fatalf("got %s, want %s", text, want)
	}
	for part, want := range map[string]string{`x`: `x`, `"2"`: `"2"`, `"list"`: whole, `["x"],"n":"2"`: `[\"x\"]`} {
		at := int64(strings.Index(text, part))
		if got := u.Origin(source.Span{Start: at, End: at + int64(len(part))}); whole[got.Start:got.End] != want {
			t.Errorf("the origin of %s is %s, want %s", part, whole[got.Start:got.End], want)
		}
	}
	if got := string(u.Bytes(source.Span{Start: 1, End: 7})); got != `"list"` {
		t.Errorf("bytes 1 to 7 are %s", got)
	}
}

// TestNext checks that elements and fields are separated by commas, also after a part was removed.
func TestNext(t *testing.T) {
	v := source.NewValue([]byte(`"x"`), 7)
	u := &Unfolded{}
	u.Make("{", v, nil)
	u.Field(`a"`, v, nil)
	u.Make("[", v, nil)
	for range 2 {
		u.Next(v, nil)
		u.Copy(v, nil)
	}
	u.Make("]", v, nil)
	before := u.Len()
	u.Field("gone", v, nil)
	u.Cut(before)
	u.Field("b", v, nil)
	u.Copy(v, nil)
	u.Make("}", v, nil)
	if got, want := string(u.Value().Raw()), `{"a\"":["x","x"],"b":"x"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if at := int64(strings.Index(string(u.Value().Raw()), `"b":`)); u.Origin(source.Span{Start: at, End: at + 4}) != v.Span() {
		t.Errorf("the field comes from %v, want %v", u.Origin(source.Span{Start: at, End: at + 4}), v.Span())
	}
}
