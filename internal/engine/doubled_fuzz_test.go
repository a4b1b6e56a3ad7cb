package engine

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// A doubling inserts a key a second time into an object of a transcript.
type doubling struct {
	key  string // with the keys on the path to it
	at   int64  // where the text is inserted
	text []byte
}

// apply returns the text with the doubled key.
func (d doubling) apply(text []byte) []byte {
	return slices.Concat(text[:d.at], d.text, text[d.at:])
}

// doublings lists every way to double a key of a text: in each object, each key as the first and
// as the last one, with its own value and with another one. Several objects on one path, such as
// the elements of a list, count as one. JSON in strings is read too.
func doublings(t testing.TB, text []byte) (out []doubling) {
	t.Helper()
	seen := map[string]bool{}
	var walk func(v source.Value, path string, add func(doubling))
	walk = func(v source.Value, path string, add func(doubling)) {
		switch v.Kind() {
		case source.String:
			inner := v.Str()
			if strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[") {
				start := v.Span().Start + 1
				walk(source.NewValue([]byte(inner), 0), path+`"`, func(d doubling) {
					quoted := func(b string) []byte { return []byte(strings.Trim(source.Quote(b), `"`)) }
					d.at, d.text = start+int64(len(quoted(inner[:d.at]))), quoted(string(d.text))
					if string(v.Raw()) == source.Quote(inner) {
						add(d)
					}
				})
			}
		case source.Array:
			for _, e := range v.Elements() {
				walk(e, path+"/", add)
			}
		case source.Object:
			for k, val := range v.Members() {
				name := path + "." + k.Str()
				walk(val, name, add)
				if seen[name] {
					continue
				}
				seen[name] = true
				other := `"other"`
				if val.Kind() == source.String {
					other = `null`
				}
				for _, raw := range []string{string(val.Raw()), other} {
					pair := string(k.Raw()) + ":" + raw
					add(doubling{name, v.Span().Start + 1, []byte(pair + ",")})
					add(doubling{name, v.Span().End - 1, []byte("," + pair)})
				}
			}
		}
	}
	for rec, err := range source.Records(source.FromBytes("f", text)) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Readable() {
			walk(rec.Value, "", func(d doubling) { out = append(out, d) })
		}
	}
	return out
}

// TestDoubledKeysAnywhere doubles each key of the fixtures. Whatever is doubled, with and without
// a line end behind the last record, a check and a repair end, their spans are in the source, and
// a repair is proved, loses nothing and has nothing left to do.
func TestDoubledKeysAnywhere(t *testing.T) {
	t.Parallel()
	type one struct {
		fixture
		doubling
	}
	var all []one
	for _, in := range sampled(t, 10, append(fixtures(t), caseInputs(t)...)) {
		if len(in.text) > 20_000 {
			continue
		}
		for _, d := range doublings(t, in.text) {
			all = append(all, one{in, d})
		}
	}
	seed := sample.Seed(28)
	r := rand.New(rand.NewPCG(seed, 3))
	r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	sets := allSets()
	done := sample.Until(t)
	tried := 0
	for i, x := range all[:min(len(all), sample.Inputs(len(all), 200, 50))] {
		if done() {
			break
		}
		text := bytes.TrimRight(x.apply(x.fixture.text), "\n")
		for _, text := range [][]byte{text, append(slices.Clip(text), '\n')} {
			tried++
			for _, set := range []fixSet{{"send", FixOptions{Options: Options{Send: true}}, ""}, sets[i%len(sets)]} {
				s, out, f := misfixed(x.name, text, set.opts)
				if f != nil && f.After.File.Conversations < f.Before.File.Conversations && set.opts.Unsafe {
					continue // without what it removes, a list is no conversation, and the rest cannot be compared
				}
				if s != "" {
					t.Errorf("%s, %s doubled, %s: %s\n%s\n%s", x.name, x.key, set.name, s, compactly(text), compactly(out))
				}
			}
			if s := unsound(text, check(t, x.name, text, Options{Send: true})); s != "" {
				t.Errorf("%s, %s doubled: %s\n%s", x.name, x.key, s, compactly(text))
			}
		}
	}
	t.Logf("%d of %d texts", tried, 2*len(all))
}

// FuzzDuplicateKeys doubles a key of any text and repairs it. It must not panic, the spans of what
// is left are in the result, and a second repair has nothing to do.
func FuzzDuplicateKeys(f *testing.F) {
	bits := uint16(0)
	for _, in := range sampled(f, 10, append(fixtures(f), caseInputs(f)...)) {
		f.Add(in.text, bits, bits&7)
		bits = bits*31 + 7
		f.Add(in.text, bits, bits)
	}
	f.Add([]byte(doubledBefore), uint16(0), uint16(4))
	f.Fuzz(func(t *testing.T, text []byte, which, bits uint16) {
		if len(text) > 20_000 {
			return
		}
		all := doublings(t, text)
		if len(all) == 0 {
			return
		}
		text = bytes.TrimRight(all[int(which)%len(all)].apply(text), "\n")
		opts := fuzzSet(bits)
		for _, text := range [][]byte{text, append(slices.Clip(text), '\n')} {
			out, fixed, err := tryFix("fuzz", text, opts)
			var unproved *ProofError
			switch {
			case errors.As(err, &unproved), checkedOnly(err):
				continue // nothing would be written
			case err != nil:
				t.Fatalf("%v\n%s", err, text)
			}
			if s := unsound(out, check(t, "fuzz", out, opts.Options)); s != "" {
				t.Fatalf("%s\n%s\n%s", s, text, out)
			}
			if s := notSettled("fuzz", out, opts); fixed.Changed() && s != "" {
				t.Fatalf("%s\n%s\n%s", s, text, out)
			}
		}
	})
}
