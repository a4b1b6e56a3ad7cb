package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
)

// pasted reads the texts of an archive in testdata. The words of a name are what the text
// means, and where it is from.
func pasted(t *testing.T, name string) []txtar.File {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return txtar.Parse(text).Files
}

// meant returns the name of what a text surely means: a rule or an advice, "?" for an error
// that is known not to say, "" for nothing.
func meant(r rules.Reading) string {
	switch {
	case len(r.Matches) > 0:
		return r.Matches[0].Rule.Name
	case r.Advice != nil:
		return r.Advice.Name
	case r.Open:
		return "?"
	}
	return ""
}

// TestPasted: what people pasted into reports is understood, with whatever is around it.
func TestPasted(t *testing.T) {
	files := pasted(t, "pasted.txtar")
	if len(files) < 250 {
		t.Errorf("%d texts", len(files))
	}
	for _, f := range files {
		want, source, _ := strings.Cut(f.Name, " ")
		if !strings.HasPrefix((profile.Cell{Source: source}).Citation(), "[") {
			t.Errorf("%s: no thread", f.Name)
		}
		if got := meant(rules.Read(string(f.Data))); got != want {
			t.Errorf("%s means %q, want %q:\n%s", source, got, want, f.Data)
		}
	}
}

// TestUnrelated: what is no error about a history has no sure rule. The third word of a name is
// the advice, if there is one.
func TestUnrelated(t *testing.T) {
	files := pasted(t, "unrelated.txtar")
	if len(files) < 100 {
		t.Errorf("%d texts", len(files))
	}
	for _, f := range files {
		r := rules.Read(string(f.Data))
		name := strings.Fields(f.Name)
		want := strings.Join(name[2:], " ")
		if got := meant(r); got != want || len(r.Matches) > 0 || r.Open {
			t.Errorf("%s means %q (%+v):\n%s", f.Name, got, r, f.Data)
		}
		if len(r.Near) > 0 && slices.Contains([]string{"rate", "quota", "auth", "overload", "network", "image"}, name[0]) {
			t.Errorf("%s is like %s (%s):\n%s", f.Name, r.Near[0].Rule.Name, r.Near[0].Text, f.Data)
		}
		if len(r.Near) > 5 {
			t.Errorf("%s: %d rules are suggested", f.Name, len(r.Near))
		}
	}
}

// TestTexts: each row of the table has a source, a meaning, and is found for itself.
func TestTexts(t *testing.T) {
	known := map[string]bool{}
	for _, r := range rules.All() {
		for _, a := range r.Answers() {
			known[a.Text] = true
		}
	}
	for _, x := range rules.Texts() {
		if known[x.Text] {
			t.Errorf("%s: two rows, or a row and a cell of a profile", x.Text)
		}
		known[x.Text] = true
		if x.By == "" || !strings.HasPrefix(x.Source, "gh:") && !strings.HasPrefix(x.Source, "https://") {
			t.Errorf("%s: %q says it in %q", x.Text, x.By, x.Source)
		}
		if (len(x.Rules) > 0) == (x.Advice != nil) || x.Open != (x.API != "") || x.Open && (len(x.Rules) < 2 || profile.ByName(x.API) == nil) || len(x.Rules) > 5 {
			t.Errorf("%s: rules %d, advice %v, open %v", x.Text, len(x.Rules), x.Advice, x.Open)
		}
		filled := strings.NewReplacer("{id}", "rs_1", "{name}", "ls", "{n}", "77").Replace(x.Text)
		r := rules.Read("Error: 400 " + filled)
		if strings.Trim(x.Text, "0123456789") == "" {
			r = rules.Read(" " + x.Text + "\n")
		}
		switch {
		case x.Open:
			if !r.Open || len(r.Near) != len(x.Rules) || len(r.Matches) > 0 || r.Advice != nil {
				t.Errorf("%s: %+v", x.Text, r)
			}
		case x.Advice != nil:
			if r.Advice != x.Advice || len(r.Matches) > 0 || len(r.Near) > 0 || r.Said.Source == "" {
				t.Errorf("%s: %+v", x.Text, r)
			}
		case !slices.EqualFunc(r.Matches[:min(len(r.Matches), len(x.Rules))], x.Rules, func(m rules.Match, r *rules.Rule) bool { return m.Rule == r }):
			t.Errorf("%s: %+v", x.Text, r.Matches)
		}
	}
}

// TestPlaces: the part of a known error that only says where something is has no sure rule if other words
// are around it.
func TestPlaces(t *testing.T) {
	place := regexp.MustCompile(`(?i)(?:\b(?:an?|the|at|in|of|to|for|is|must|be|with|messages?|index|assistant|user|roles?|contents?|parts|blocks?|fields?|input|type|invalid|expected|missing|string|object|array)\b[^\pL_]*)+`)
	n := 0
	for _, r := range rules.All() {
		for _, a := range r.Answers() {
			for _, text := range append([]string{a.Text}, a.Also...) {
				for _, part := range place.FindAllString(text, -1) {
					n++
					if got := rules.MatchError("The weather " + part + " sunny"); len(got) > 0 && len(part) < len(text) {
						t.Errorf("%q of %q means %s", part, text, got[0].Rule.Name)
					}
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("%d parts", n)
	}
}

// TestNear: an error that is only like known ones has suggestions, and no sure answer.
func TestNear(t *testing.T) {
	for text, want := range map[string]string{
		"the thought_signature was rejected":                 "reasoning-unreplayable",
		"unknown field tool_call_id in a tool message":       "missing-call-id",
		"toolUse and toolResult do not belong together here": "orphan-tool-result",
	} {
		r := rules.Read(text)
		if len(r.Matches) > 0 || r.Advice != nil || r.Open || len(r.Near) == 0 || len(r.Near) > 5 {
			t.Errorf("%s: %+v", text, r)
			continue
		}
		var names []string
		for _, m := range r.Near {
			names = append(names, m.Rule.Name)
			if m.Shown() == "" {
				t.Errorf("%s: %s without an error", text, m.Rule.Name)
			}
		}
		if !slices.Contains(names, want) {
			t.Errorf("%s suggests %v, want %s", text, names, want)
		}
	}
	for _, text := range []string{"", "xyzzy", "the printer is on fire", "{}"} {
		if r := rules.Read(text); len(r.Near) > 0 || meant(r) != "" {
			t.Errorf("%q: %+v", text, r)
		}
	}
}

// FuzzRead: a text has at most one kind of answer.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"", "2013", "invalid_encrypted_content", "prompt is too long: 3 tokens > 2 maximum", "Improperly formed request.",
		"messages.6: `tool_use` ids were found without `tool_result` blocks", `{"error":"…\\\" \u0060 messages 参数非法。请检查文档。"}`, "tool_call_id \xff\x00",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := rules.Read(text)
		answers := 0
		for _, is := range []bool{len(r.Matches) > 0, r.Advice != nil, r.Open, !r.Open && len(r.Near) > 0} {
			if is {
				answers++
			}
		}
		if answers > 1 || len(r.Near) > 5 || r.Open != (r.Open && len(r.Near) > 1) {
			t.Errorf("%q: %+v", text, r)
		}
		if m := rules.MatchError(text); len(m) != len(r.Matches) {
			t.Errorf("%q: %d and %d matches", text, len(m), len(r.Matches))
		}
	})
}
