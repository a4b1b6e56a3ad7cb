package repair

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/dialect"
)

// TestNested: fields under one key come in one object, and if a field is set twice, the first
// value counts.
func TestNested(t *testing.T) {
	got := nested([]dialect.Member{
		{Path: []string{"error"}, Raw: `"x"`},
		{Path: []string{"time", "start"}, Raw: "1"},
		{Path: []string{"error"}, Raw: `"y"`},
		{Path: []string{"time", "end"}, Raw: "2"},
		{Path: []string{"time", "by", "whom"}, Raw: "3"},
		{Path: []string{"time", "end"}, Raw: "4"},
	})
	want := []dialect.Field{{Key: "error", Raw: `"x"`}, {Key: "time", Raw: `{"start":1,"end":2,"by":{"whom":3}}`}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
