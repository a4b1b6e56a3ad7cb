package evidence

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// TestOutlines checks that conditions and tables give the same answers for values with
// the same outline. It also checks that outlines contain nothing else, so that most
// values share one.
func TestOutlines(t *testing.T) {
	t.Parallel()
	type question struct {
		text string
		add  func(a *Aspect)
		ask  func(v source.Value) string
	}
	var all []question
	for _, text := range []string{
		"a", "!a", "a:any", "a:string", "a:number", "a:bool", "a:object", "a:array", "a=x", "a!=x|1", "a=null", "a=true", "a={}", "a=[]",
		"a=", "a=x*", "a=*x", "a=*x*", "a.b", "a.b|b.a=x", "a.0", "a.0=x", "a.1=x", "a.-1=x", "a.-2=1", "a.0.b", "a.b.0", "0", "0=x", "a.0:string",
		"a.#=1", "a.#", "a.#.b", "a.#.b=x", "a.#.b.#", "a.#.b.#=1", "a.#.b.0=x", "a.#(b=1)", "a.#(b=1)#", "a.@keys.0=b", "@keys.#!=1", "@this", "*:string",
		"*.a=x", "a.*", "a.*.b=x", "a.b|*.a=x", "a.*.b|*.*.a=x", "a.0|*.0.b=x", "a.?=x", `a\.b=x`, "@values.0=x", "a.@this.b", "[a,b]", "!@this:object", "a.@reverse.0=x", "@tools", "!@tools",
	} {
		c := All(text)
		all = append(all, question{text, func(a *Aspect) { a.Conds(c) }, func(v source.Value) string { return strconv.FormatBool(Hold(c, v)) }})
	}
	for text, table := range map[string]*Table{
		"chat":     chat(),
		"any":      {Rows: []string{"plain if any a has b=x and a"}},
		"no":       {Rows: []string{"plain if no a has b:any"}},
		"members":  {Rows: []string{"plain if any a.* has b=x"}},
		"or one":   {Rows: []string{"plain if any a.? has b=x"}},
		"itself":   {Rows: []string{"plain if any a has @this=x"}},
		"keys":     {Rows: []string{"plain if any a has @keys.#=1"}},
		"deep":     {Rows: []string{"plain if any a.b|b has b:string and a"}},
		"tools":    {Rows: []string{"plain if any a has @tools"}},
		"no tools": {Rows: []string{"none if @tools", "plain if a:any"}, Knows: []string{"tool"}},
	} {
		all = append(all, question{text, func(a *Aspect) { a.Table(table) }, func(v source.Value) string {
			weight, sign := table.Weigh(v, false)
			return fmt.Sprint(weight, " ", sign.Alike())
		}})
	}
	tools := &Table{Rows: []string{"none if @tools", "plain if a:any"}}
	others := All("tool.a=x", "tool.0=x")
	all = append(all, question{"tools of others", func(a *Aspect) { a.Table(tools); a.Conds(others) }, func(v source.Value) string {
		weight, _ := tools.Weigh(v, false)
		return fmt.Sprint(weight)
	}})
	values := someObjects(sample.Size(40_000, 8_000, 4_000))
	for _, q := range all {
		a := &Aspect{}
		q.add(a)
		p := NewPen(a, func(source.Value) bool { return false })
		said := map[string]string{}
		first := map[string]source.Value{}
		drawn, failed := 1, false
		for _, v := range values {
			outline, ok := p.Draw(v)
			if !ok {
				continue
			}
			drawn++
			said1 := q.ask(v)
			switch before, known := said[string(outline)]; {
			case !known:
				said[string(outline)], first[string(outline)] = said1, v
			case before != said1 && !failed:
				failed = true
				t.Errorf("%s: %s of %s, %s of %s, with the outline %q", q.text, before, first[string(outline)].Raw(), said1, v.Raw(), outline)
			}
		}
		if 2*len(said) > drawn {
			t.Errorf("%s: %d outlines of %d values", q.text, len(said), drawn)
		}
	}
}

// TestNoOutline checks that values that are too long or too complex have no outline.
func TestNoOutline(t *testing.T) {
	t.Parallel()
	a := &Aspect{}
	a.Keywords()
	a.Conds(All("type=x", "a.#(b=1)"))
	long := strings.Repeat("x", 8*mostOutline)
	for _, text := range []string{
		`[]`, `"x"`, `{"` + long + `":1}`, `{"type":"` + long + `"}`, `{"type":` + strings.Repeat("1", 100) + `}`, `{"a":{}}`, `{"\u0061":1}`,
		`{"b":[` + strings.Repeat("1,", MostElements) + `1]}`, `{"b":[` + strings.Repeat(`1,"x",`, mostOutline) + `1]}`,
	} {
		p := NewPen(a, func(source.Value) bool { return false })
		if outline, ok := p.Draw(source.NewValue([]byte(text), 0)); ok {
			t.Errorf("%.40s: %q", text, outline)
		}
		if n := cap(p.drawn); n > 4*mostOutline {
			t.Errorf("%.40s: %d bytes were drawn", text, n)
		}
	}
	p := NewPen(a, func(v source.Value) bool { return v.Is("tool") })
	text := `{"type":"x","k":"tool","m":"tools","o":{"m":"tool"},"l":[{"m":true},{"m":false},{},null]}`
	want := "{\x01\"x\"\x02\"tool\"\x03s\x04{\x01\"tool\"f}\x05[{\x01bf}{}n]f}"
	if got, ok := p.Draw(source.NewValue([]byte(text), 0)); !ok || string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// someObjects returns objects that are similar to each other.
func someObjects(n int) (out []source.Value) {
	r := rand.New(rand.NewPCG(1, 2))
	var write func(b *strings.Builder, depth int)
	object := func(b *strings.Builder, depth int) {
		b.WriteByte('{')
		for i := range r.IntN(4) {
			if i > 0 {
				b.WriteByte(',')
			}
			keys := []string{"a", "a", "b", "b", "0", "type", "tool", "content", "role", "a.b", `\u0061`, "calls", "#", "1", "*", "@this"}
			fmt.Fprintf(b, "%q:", keys[r.IntN(len(keys))])
			write(b, depth+1)
		}
		b.WriteByte('}')
	}
	write = func(b *strings.Builder, depth int) {
		scalars := []string{"null", "1", "true", `"x"`, `"x"`, `""`, `"axb"`, `"xb"`, `"tool_use"`, `"text"`, `"\u0078"`, `"` + strings.Repeat("x", 70) + `"`}
		switch kind := r.IntN(4); {
		case depth > 3 || kind > 1:
			b.WriteString(scalars[r.IntN(len(scalars))])
		case kind == 0:
			object(b, depth)
		default:
			b.WriteByte('[')
			for i := range r.IntN(4) {
				if i > 0 {
					b.WriteByte(',')
				}
				write(b, depth+1)
			}
			b.WriteByte(']')
		}
	}
	for range n {
		var b strings.Builder
		object(&b, 0)
		text := strings.ReplaceAll(b.String(), `\\`, `\`)
		out = append(out, source.NewValue([]byte(text), 0))
	}
	return out
}
