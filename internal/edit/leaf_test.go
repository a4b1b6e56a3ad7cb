package edit

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// A count is the leaves of a text as encoding/json reads it: keys and values.
type count struct {
	leaves [][2]string
	unsure bool // it holds what the two packages decode differently
}

func (c *count) add(key, value string) { c.leaves = append(c.leaves, [2]string{key, value}) }

// text counts the leaves of a text, false where it is not one JSON value.
func (c *count) text(text string, levels int) bool {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := c.value(d, "", levels); err != nil {
		return false
	}
	_, err := d.Token()
	return err == io.EOF
}

func (c *count) value(d *json.Decoder, key string, levels int) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	args := asks([]byte(key))
	if says([]byte(key)) {
		key = ""
	}
	switch v := token.(type) {
	case nil:
		if key != "" {
			c.add(key, "")
		}
	case json.Number:
		c.add(key, v.String())
	case bool:
		c.add(key, map[bool]string{false: "false", true: "true"}[v])
	case string:
		if args && strings.TrimSpace(v) == "null" {
			break
		}
		c.said(key, v, levels)
	case json.Delim:
		if key != "" {
			c.add(key, "")
		}
		for d.More() {
			name := ""
			if v == '{' {
				t, err := d.Token()
				if err != nil {
					return err
				}
				name = t.(string)
				c.unsure = c.unsure || strings.ContainsRune(name, utf8.RuneError)
			}
			if err := c.value(d, name, levels); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	return err
}

func (c *count) said(key, text string, levels int) {
	c.unsure = c.unsure || strings.ContainsRune(text, utf8.RuneError)
	text = strings.TrimSpace(text)
	if text == "" && key != "" {
		c.add(key, "")
	}
	if levels > 0 && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) {
		inner := count{}
		if inner.text(text, levels-1) {
			c.leaves = append(c.leaves, inner.leaves...)
			c.unsure = c.unsure || inner.unsure
			return
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			c.add(key, line)
		}
	}
}

// sum returns the sum of the leaves.
func (c *count) sum() (out Sum) {
	for _, l := range c.leaves {
		out = out.Plus(sumOf([]byte(l[0]), []byte(l[1])))
	}
	return out
}

// leafCases are texts and their leaves, each a key and a value.
var leafCases = []struct {
	text string
	want [][2]string
}{
	{`null`, nil},
	{`{}`, nil},
	{`""`, nil},
	{`" "`, nil},
	{`"a"`, [][2]string{{"", "a"}}},
	{`[1,true,"x",null]`, [][2]string{{"", "1"}, {"", "true"}, {"", "x"}}},
	{`{"k":"a"}`, [][2]string{{"k", "a"}}},
	{`{"arguments":"null","input":" null\n","content":null}`, nil},
	{`{"k":null,"l":[null]}`, [][2]string{{"k", ""}, {"l", ""}}},
	{`{"l":"null","content":" null\n"}`, [][2]string{{"l", "null"}, {"", "null"}}},
	{`{"k":"","l":{},"m":[]}`, [][2]string{{"k", ""}, {"l", ""}, {"m", ""}}},
	{`{"k":" \n"}`, [][2]string{{"k", ""}}}, // as if it were trimmed
	{`{"k":[1,{"l":2}]}`, [][2]string{{"k", ""}, {"", "1"}, {"l", "2"}}},
	{`{"content":"a","input":{},"text":"","output":[]}`, [][2]string{{"", "a"}}},
	{`{"content":[{"text":"a"},{"text":"b"}]}`, [][2]string{{"", "a"}, {"", "b"}}},
	{`{"k":"a\n  b \r\n\n c"}`, [][2]string{{"k", "a"}, {"k", "b"}, {"k", "c"}}},
	{`{"arguments":" {\"k\":[1,\"b\\nc\"]} "}`, [][2]string{{"k", ""}, {"", "1"}, {"", "b"}, {"", "c"}}},
	{`{"arguments":{"k":[1,"b\nc"]}}`, [][2]string{{"k", ""}, {"", "1"}, {"", "b"}, {"", "c"}}},
	{`{"arguments":"{\"k\""}`, [][2]string{{"", `{"k"`}}},
	{`{"k":"\"a\""}`, [][2]string{{"k", `"a"`}}},
	{`{"\u006b":"\u0061","l":"\ud83d\ude00"}`, [][2]string{{"k", "a"}, {"l", "😀"}}},
	{`{"k":"\uD800"}`, [][2]string{{"k", `\ud800`}}}, // half a character stays as it is written
	{`{"k":"a","k":"a"}`, [][2]string{{"k", "a"}, {"k", "a"}}},
	{"{\"k\" :\n1e3 , \"l\":-0}", [][2]string{{"k", "1e3"}, {"l", "-0"}}},
	{`"[\"[\\\"[\\\\\\\"a\\\\\\\"]\\\"]\"]"`, [][2]string{{"", "a"}}},
}

// TestLeaves: the leaves of a text, in order and with their places.
func TestLeaves(t *testing.T) {
	const base = 10
	for _, c := range leafCases {
		var got [][2]string
		for l := range Leaves([]byte(c.text), "", base) {
			i := len(got)
			if i < len(c.want) && l.Sum == sumOf([]byte(c.want[i][0]), []byte(c.want[i][1])) && l.Key == c.want[i][0] {
				got = append(got, c.want[i])
			} else {
				got = append(got, [2]string{l.Key, "?"})
			}
			if l.At.Start < base || l.At.End > base+int64(len(c.text)) || l.At.Len() < 1 {
				t.Errorf("%s: %q stands at %v", c.text, l.Key, l.At)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestLeavesStop: the iteration stops when the caller stops.
func TestLeavesStop(t *testing.T) {
	for _, c := range leafCases {
		for most := 1; most <= len(c.want); most++ {
			n := 0
			for range Leaves([]byte(c.text), "", 0) {
				if n++; n == most {
					break
				}
			}
			if n != most {
				t.Errorf("%s: %d leaves, want %d", c.text, n, most)
			}
		}
	}
}

// TestSum: a sum depends on the number and the key of each leaf, and not on the order.
func TestSum(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"k":1,"l":2}`, `{"l":2,"k":1}`, true},
		{`{"k":1,"l":2}`, `{"k":2,"l":1}`, false},
		{`["a","a"]`, `["a"]`, false},
		{`["ab"]`, `["a","b"]`, false},
		{`{"k":"v"}`, `{"kv":""}`, false},
		{`{"content":"a"}`, `[{"text":"a"}]`, true},
		{`{"content":"a\nb"}`, `{"content":[{"text":"a"},{"text":"b "}]}`, true},
		{`{"arguments":"{\"k\":1}"}`, `{"input":{"k":1}}`, true},
		{`{"metadata":{"k":1}}`, `{"k":1}`, false},
		{`{"k":{}}`, `{}`, false},
	} {
		a, b := Total([]byte(c.a)), Total([]byte(c.b))
		if (a == b) != c.same {
			t.Errorf("%s and %s: the same is %t", c.a, c.b, a == b)
		}
		if both := Total([]byte("[" + c.a + "," + c.b + "]")); both != a.Plus(b) || both.Minus(b) != a {
			t.Errorf("%s and %s do not add up", c.a, c.b)
		}
	}
}

// FuzzLeaves compares the sum of a text with one computed with encoding/json.
func FuzzLeaves(f *testing.F) {
	for _, c := range leafCases {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want count
		if len(text) > 1<<12 || !utf8.ValidString(text) || !want.text(text, mostNested) || want.unsure {
			t.Skip()
		}
		if Total([]byte(text)) != want.sum() {
			var keys []string
			for l := range Leaves([]byte(text), "", 0) {
				keys = append(keys, l.Key)
			}
			t.Errorf("leaves behind %q, want %q", keys, want.leaves)
		}
	})
}

// TestChanged: what is left out of the sums of a text before and after edits is the same in both.
func TestChanged(t *testing.T) {
	pieces := []string{
		"{", "}", "[", "]", ",", ":", " ", "\n", `"`, `\`, `"a"`, `"content"`, `"arguments":`, `"x":`, `"id": `, "null", "12", "-1.5e3", "true", `"null"`, `""`,
		`"{\"a\":[1,2]}"`, `"a\nb"`, `"\\"`, `"\ud800"`, "é", `{"role":"user","content":"hi"}`, `"text"`,
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	made := func(most int) (out []byte) {
		for range rnd.IntN(most) {
			out = append(out, pieces[rnd.IntN(len(pieces))]...)
		}
		return out
	}
	less := 0
	for range sample.Size(2_000_000, 50_000, 20_000) {
		text, key := made(24), []string{"", "x", "content"}[rnd.IntN(3)]
		var edits []Edit
		at := 0
		for range 1 + rnd.IntN(3) {
			from := at + rnd.IntN(len(text)-at+1)
			at = from + rnd.IntN(min(6, len(text)-from)+1)
			edits = append(edits, Edit{source.Span{Start: int64(100 + from), End: int64(100 + at)}, made(4)})
		}
		is := Splice(text, 100, edits)
		a, b := changed(text, is, 100, edits, key)
		if wantA, wantB := total(text, key), total(is, key); wantB.Minus(wantA) != b.Minus(a) {
			t.Fatalf("%q becomes %q with %+v: the difference is another one", text, is, edits)
		} else if wantA != a {
			less++
		}
	}
	if less == 0 {
		t.Error("nothing was left out")
	}
}
