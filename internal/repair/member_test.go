package repair

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// TestRemoveNulls: the fields go with one comma each, nothing of it is recorded content, and the
// proof is about the whole list.
func TestRemoveNulls(t *testing.T) {
	for list, want := range map[string]string{
		`[{"a":null,"b":{"c":null, "d":1,"e":null},"f":[{"g" : null}]}]`: `[{"b":{"d":1},"f":[{}]}]`,
		`[{"a":null,"b":null},{"c":"x\u0000\"","d":null}]`:               `[{},{"c":"x\u0000\""}]`,
	} {
		for _, text := range []string{list, strconv.Quote(" " + list)} {
			whole := `{"tools":` + text + `}`
			in, do := list, &operation.RemoveNulls{List: source.Span{Start: 9, End: int64(9 + len(text))}}
			if text != list {
				in, want = " "+list, strconv.Quote(" "+strings.TrimSpace(want))
			}
			for i := range in {
				if strings.HasPrefix(in[i:], "null") {
					do.At = append(do.At, int64(i))
				}
			}
			p := &Plan{Source: source.FromBytes("in", []byte(whole)), Conv: &transcript.Conversation{}, Dialect: dialect.OpenAIChat}
			f, ok, err := p.Compile(&operation.Operation{Turn: -1, Do: do})
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			if got := string(edit.Splice([]byte(whole), 0, f.Edits)); got != `{"tools":`+want+`}` {
				t.Errorf("%s becomes %s", whole, got)
			}
			if ClassOf(&f) != operation.Safe || !slices.Equal(f.Within, []source.Span{do.List}) || new(edit.Set).ProveAlone(&f, p.Source) != nil {
				t.Errorf("%s: %+v", whole, f)
			}
		}
	}
}
