package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/rules"
)

// mostMarks is more marks than can be taken from a fixture.
const mostMarks = 30

// TestWithoutMarks takes the marks of their dialect from the fixtures of each dialect, until nothing shows it
// any more, and checks that what is left is not repaired. For each dialect, the golden file has the
// first mark of each fixture, and what becomes of the fixtures without their marks.
func TestWithoutMarks(t *testing.T) {
	t.Parallel()
	opts := FixOptions{Unsafe: true, Options: Options{Strategy: map[string]string{}}}
	for _, r := range rules.All() {
		if n := len(r.Strategies); n > 0 {
			opts.Strategy[r.Name] = r.Strategies[0]
		}
	}
	words := regexp.MustCompile(`\w+`)
	marks, ends := map[string]map[string]int{}, map[string]map[string]int{}
	for _, f := range fixtures(t) {
		name, state := f.kind()
		d := dialect.ByName(name)
		if state == "" || d == nil || d.CheckOnly != "" {
			continue
		}
		records := strings.SplitAfter(string(f.text), "\n")
		if json.Valid(f.text) {
			records = []string{string(f.text)}
		}
		if marks[name] == nil {
			marks[name], ends[name] = map[string]int{}, map[string]int{}
		}
		for n := 0; ; n++ {
			text := strings.Join(records, "")
			rep, err := checked([]byte(text), opts.Options)
			if err != nil {
				t.Fatal(err)
			}
			if n == mostMarks {
				ends[name]["the marks are in texts or damaged records"]++
				break
			}
			if rep.Skipped != "" || !rep.File.Marked {
				ends[name][withoutMarks(t, f.name, text, opts)]++
				break
			}
			key, _, _ := strings.Cut(rep.File.Key, " at byte")
			if n == 0 {
				marks[name][key]++
			}
			for i, r := range records {
				records[i] = without(r, append(words.FindAllString(key, -1), "model")) + "\n" // a model names an API
			}
		}
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(marks)) {
		fmt.Fprintf(&out, "%s\n", name)
		for _, of := range []map[string]int{marks[name], ends[name]} {
			for _, text := range slices.Sorted(maps.Keys(of)) {
				fmt.Fprintf(&out, "  %3d %s\n", of[text], text)
			}
		}
	}
	golden.File(t, filepath.Join("testdata", "marks.golden"), out.String())
}

// withoutMarks repairs a fixture that has lost its marks, and returns what becomes of it.
func withoutMarks(t *testing.T, name, text string, opts FixOptions) string {
	t.Helper()
	out, fixed, err := repaired([]byte(text), opts)
	var only *CheckOnlyError
	switch {
	case errors.As(err, &only):
		return "refused: " + only.Reason
	case err != nil:
		t.Errorf("%s: %v\n%s", name, err, text)
	case fixed.Before.Skipped != "":
		return "not a transcript"
	case fixed.Before.File.Marked:
		t.Errorf("%s: it is marked by %s\n%s", name, fixed.Before.File.Key, text)
	case fixed.Changed() && !slices.ContainsFunc(fixed.Repairs, func(r Repair) bool { return rules.ByName(r.Rule).Category != rules.Framing }):
		return "only bytes are repaired"
	case fixed.Changed():
		t.Errorf("%s: it is repaired\n%s\n%s", name, text, out)
	}
	return "nothing to repair"
}
