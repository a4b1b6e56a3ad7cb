package transcript

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/toolguard/toolguard/internal/source"
)

// TestModelSize limits the sizes of the types of which a model holds a million values.
func TestModelSize(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, most uintptr
	}{
		{"Message", unsafe.Sizeof(Message{}), 40},
		{"Block", unsafe.Sizeof(Block{}), 32},
	} {
		if c.got > c.most {
			t.Errorf("a %s takes %d bytes, more than %d", c.name, c.got, c.most)
		}
	}
}

// TestTextBlocks checks that a message gets blocks with its first block that is not plain
// text, and that earlier texts are kept.
func TestTextBlocks(t *testing.T) {
	c := &Conversation{}
	b := NewBuilder(c)
	v := source.NewValue([]byte(`{"role":"user","content":["a","","b",1]}`), 10)
	var parts []source.Value
	for _, e := range v.Get("content").Elements() {
		parts = append(parts, e)
	}
	b.Begin(v, v.Get("role"), RoleUser, "") // nothing
	b.Begin(v, v.Get("role"), RoleUser, "") // text only
	b.Block(BlockText, parts[0], 0)
	b.Block(BlockText, parts[2], 0)
	b.Begin(v, v.Get("role"), RoleUser, "") // text that a rule may ask for
	b.Block(BlockText, parts[1], BlockBlank)
	b.Block(BlockText, parts[0], 0)
	b.Begin(v, v.Get("role"), RoleUser, "") // text and a call
	b.Block(BlockText, parts[0], 0)
	b.Block(BlockText, parts[2], 0)
	b.Call(parts[3], Call{}, 0)
	b.Block(BlockText, parts[2], 0)

	var got strings.Builder
	for _, m := range c.Messages {
		fmt.Fprintf(&got, "%v %v void %t text %t:", m.Span(), m.RoleSpan(), m.Void(), m.Has(MessageText))
		for k := m.BlockLo; k < m.BlockHi; k++ {
			fmt.Fprintf(&got, " %d at %d in %d", c.Blocks[k].Kind, c.Blocks[k].Span.Start, c.Blocks[k].Message)
		}
		got.WriteByte('\n')
	}
	fmt.Fprintf(&got, "call in block %d of %d\n", c.Calls[0].Block, len(c.Blocks))
	want := `{10 50} {18 24} void true text false:
{10 50} {18 24} void false text true:
{10 50} {18 24} void false text false: 0 at 40 in 2 0 at 36 in 2
{10 50} {18 24} void false text false: 0 at 36 in 3 0 at 43 in 3 1 at 47 in 3 0 at 43 in 3
call in block 4 of 6
`
	if got.String() != want {
		t.Errorf("got:\n%swant:\n%s", got.String(), want)
	}
}
