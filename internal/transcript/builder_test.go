package transcript

import (
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// TestDoubledKeys: a key is the same one however it is spelled.
func TestDoubledKeys(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":1,"\u0069d":2}`:      "id",
		`{"\u0069d":1,"id":2}`:      "id",
		`{"\u0069d":1,"i\u0064":2}`: "id",
		`{"id":1,"id":2}`:           "id",
		`{"id":1,"Id":2}`:           "",
	} {
		got := ""
		b := NewBuilder(&Conversation{})
		b.OnKeyFault = func(k KeyFault) { got += k.Key }
		b.Fields(source.NewValue([]byte(text), 0), nil, nil)
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
