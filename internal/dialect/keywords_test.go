package dialect

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/golden"
)

// TestKeywords: keywords.txt has the keywords of the built-in dialects.
func TestKeywords(t *testing.T) {
	table := &keywordTable{often: map[string]int{}}
	var bare []*Dialect
	for _, d := range All() {
		if d.Bare() {
			bare = append(bare, d)
			table.count(d, nil)
		}
	}
	var text strings.Builder
	for _, word := range slices.Sorted(maps.Keys(table.often)) {
		fmt.Fprintf(&text, "%s\t%d\n", word, table.often[word])
	}
	for _, d := range bare {
		fmt.Fprintf(&text, "=\t%s\t%s\n", d.Name, strings.Join(table.choose(d, nil), "\t"))
	}
	golden.File(t, "keywords.txt", text.String())
}
