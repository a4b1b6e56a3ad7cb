package repair

import (
	"os"
	"regexp"
	"testing"
)

// TestEveryKindHasRow: each type of action has a row that carries it out.
func TestEveryKindHasRow(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("../operation/operation.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`func \(\*(\w+)\) Kind\(\)`).FindAllSubmatch(src, -1) {
		names[string(m[1])] = true
	}
	for a, r := range rows() {
		if r.lay == nil && r.do == nil && r.record == nil && r.bytes == nil {
			t.Errorf("the row of %s carries out nothing", a)
		}
		delete(names, a.Elem().Name())
	}
	if len(names) > 0 {
		t.Errorf("no rows: %v", names)
	}
}
