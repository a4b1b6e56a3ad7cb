package evidence

import (
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

func TestCond(t *testing.T) {
	t.Parallel()
	const text = `{
		"app":"acme","n":1,"no":null,"on":true,"meta":{"author.id":"x","at":{"n":2}},"w*":"star",
		"l":[{"k":"a"},{"k":null,"m":"b"},"{\"k\":\"c\"}"],"s":"{\"app\":\"in a text\"}","app":"again","\u0065sc":"e"
	}`
	v := source.NewValue([]byte(text), 7)
	for _, test := range []struct {
		cond string
		want bool
	}{
		{"app", true},
		{"no", false},
		{"no:any", true},
		{"none:any", false},
		{"!none", true},
		{"!app", false},
		{"app=acme", true},
		{"app=other|acme", true},
		{"app!=acme", false},
		{"!app=acme", false},
		{"none!=acme", true},
		{"app=ac*", true},
		{"app=*me", true},
		{"app=*cm*", true},
		{"app=*x*", false},
		{"app=again", false}, // the first of two fields with the same key counts
		{"n=1", true},
		{"n:number", true},
		{"on=true", true},
		{"on:bool", true},
		{"app:string", true},
		{"n:string", false},
		{"l:array", true},
		{"meta:object", true},
		{"esc=e", true},
		{"meta.at.n=2", true},
		{`meta.author\.id=x`, true},
		{"meta.author.id", false},
		{`w\*=star`, true},
		{"l.0.k=a", true},
		{"l.-2.m=b", true},
		{"l.0.m|l.1.m=b", true},
		{"none|app", true},
		{"l.#.m", true},
		{"l.#.m=b", true},
		{"l.#.k=a", true},
		{"l.#.k=c", false}, // it is in a string
		{`l.#(k=="a").k`, true},
		{`l.#(m=="b")#.k`, false},
		{"l.#=3", true},
		{"meta.@keys.0=author\\.id", false},
		{"meta.@keys.1=at", true},
		{"@keys.0=app", true},
		{"s.app", false}, // gjson would search the string
		{"app.x", false},
	} {
		c := &Cond{}
		if err := c.UnmarshalText([]byte(test.cond)); err != nil {
			t.Fatal(err)
		}
		if got := c.Holds(v); got != test.want {
			t.Errorf("%s: %t", test.cond, got)
		}
		if c.String() != test.cond {
			t.Errorf("%s is written %s", test.cond, c)
		}
	}
}

func TestCondErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":       "expected a path: field names joined by dots",
		"=x":     "expected a path: field names joined by dots",
		"a..b=c": `"a..b" is not a path: a field name is empty`,
		"/a":     `"/a" is not a path: expected field names joined by dots`,
		"a.#(b":  `"a.#(b" is not a path: a bracket is not closed`,
	} {
		if err := new(Cond).UnmarshalText([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
