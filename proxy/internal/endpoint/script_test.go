package endpoint

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/golden"
)

// TestScript holds the table of the npm package to that of the proxy.
func TestScript(t *testing.T) {
	var b strings.Builder
	b.WriteString("// The table of the proxy: make docs writes it. A row is the end of a path, in which * stands for any text in\n" +
		"// one segment, and the format of the requests.\n\nimport type { RequestFormat } from './index.js';\n\n" +
		"export const endpoints: readonly (readonly [string, RequestFormat])[] = [\n")
	for _, e := range All() {
		for _, path := range e.Paths {
			row, err := json.Marshal([]string{path, e.Dialect})
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString("  " + strings.Replace(string(row), `","`, `", "`, 1) + ",\n")
		}
	}
	b.WriteString("];\n")
	golden.File(t, "../../../npm/core/src/endpoints.ts", b.String())
}
