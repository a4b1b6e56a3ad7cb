package redact

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/source"
)

// newTestFiller returns a filler with a key, and the function that hashes values with it.
func newTestFiller(key string) (*filler, func(k kind, v string) sum) {
	words := newVocabulary(nil).words
	r := &redactor{mac: hmac.New(sha256.New, []byte(key))}
	return newFiller(func(s sum) sum { return s }, words), func(k kind, v string) sum {
		r.begin(k)
		r.mac.Write([]byte(v))
		return r.finish()
	}
}

// chiSquared fails the test if the counts of the characters of an alphabet differ from n/len(set)
// so much that the chance is less than one in a million, or if the count of one of them differs by
// five sigma.
func chiSquared(t *testing.T, what string, set string, counts map[byte]int, original byte) {
	t.Helper()
	n := 0
	for c, k := range counts {
		if strings.IndexByte(set, c) < 0 {
			t.Errorf("%s: %q is not in the alphabet", what, c)
		}
		n += k
	}
	want := float64(n) / float64(len(set))
	chi := 0.0
	for i := range len(set) {
		d := float64(counts[set[i]]) - want
		chi += d * d / want
	}
	df := float64(len(set) - 1)
	z := (math.Cbrt(chi/df) - (1 - 2/(9*df))) / math.Sqrt(2/(9*df)) // Wilson and Hilferty
	if math.Abs(z) > 4.75 {
		t.Errorf("%s: chi-squared %.1f of %v degrees of freedom", what, chi, df)
	}
	if found := strings.Contains(set, string([]byte{original})); found {
		if d := math.Abs(float64(counts[original])-want) / math.Sqrt(want*(1-1/float64(len(set)))); d > 5 {
			t.Errorf("%s: the original %q occurs %d times instead of %.0f", what, original, counts[original], want)
		}
	}
}

// secretPath begins all texts of these tests.
const secretPath = "/home/kim/Projects/AcmePayroll/src/BearerTokenAbCdEfXyZ"

// secretID begins all ids of these tests.
const secretID = "AcmePayroll0007Kim"

// TestCommonPrefix: of 2,000 texts with one prefix, no column tells the prefix. The same holds for
// ids, and for arguments.
func TestCommonPrefix(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, `{"role":"user","content":"%s%04d"}`+"\n", secretPath, i)
		fmt.Fprintf(&b, `{"role":"assistant","content":null,"tool_calls":[{"id":"call_%s%04d","type":"function","function":{"name":"f","arguments":"{\"a\":\"%s/%04d\"}"}}]}`+"\n", secretID, i, secretPath, i)
		fmt.Fprintf(&b, `{"role":"tool","tool_call_id":"call_%s%04d","content":"r"}`+"\n", secretID, i)
	}
	out, err := redacted(t, []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ at, set, original string }{
		{`"role":"user","content":"`, letters, secretPath},
		{`"id":"call_`, letters + digits, secretID},
		{`\"a\":\"`, letters + digits, secretPath},
	} {
		if strings.HasPrefix(tt.at, `\`) { // the key is filler too
			tt.at = regexp.MustCompile(`arguments":"\{(\\"[A-Za-z]\\":\\")`).FindStringSubmatch(string(out))[1]
		}
		rows := strings.Split(string(out), tt.at)[1:]
		if len(rows) != 2000 {
			t.Fatalf("%d rows after %s", len(rows), tt.at)
		}
		for i := range len(tt.original) {
			counts := map[byte]int{}
			for _, row := range rows {
				counts[row[i]]++
			}
			set := tt.set
			if i == 0 {
				set = letters
			}
			chiSquared(t, fmt.Sprintf("%s, byte %d", tt.at, i), set, counts, tt.original[i])
		}
	}
}

// TestManyRuns: of 500 redacted texts of one file, no column tells what is in the file.
func TestManyRuns(t *testing.T) {
	file := `[{"role":"user","content":"` + secretPath + `"},{"role":"assistant","content":"n 4711"},{"role":"user","content":"x","acme":"` + secretPath + `"}]`
	var columns [2][]map[byte]int
	pooled, n := 0, 0
	for j := range columns {
		columns[j] = make([]map[byte]int, len(secretPath))
		for i := range columns[j] {
			columns[j][i] = map[byte]int{}
		}
	}
	for run := range 500 {
		got, err := redact(t.Context(), source.FromBytes("in", []byte(file)), engine.Options{}, fmt.Appendf(nil, "key %d", run), func(s sum) sum { return s })
		if err != nil {
			t.Fatal(err)
		}
		text := got.Source.Text()
		at := []int{strings.Index(file, secretPath), strings.LastIndex(file, secretPath)}
		for j, from := range at {
			for i := range secretPath {
				columns[j][i][text[from+i]]++
				if c := secretPath[i]; strings.IndexByte(letters, c) >= 0 && j == 0 {
					n++
					if text[from+i] == c {
						pooled++
					}
				}
			}
		}
	}
	for j, set := range []string{letters, letters + digits} {
		for i, counts := range columns[j] {
			if i == 0 {
				chiSquared(t, "the first byte", letters, counts, secretPath[i])
				continue
			}
			chiSquared(t, fmt.Sprintf("byte %d", i), set, counts, secretPath[i])
		}
	}
	want := float64(n) / float64(len(letters))
	if d := math.Abs(float64(pooled)-want) / math.Sqrt(want); d > 5 {
		t.Errorf("characters of the original come again %d times instead of %.0f", pooled, want)
	}
}

// TestFull: different values get different filler as long as there is any, and then an error.
func TestFull(t *testing.T) {
	for _, tt := range []struct {
		k    kind
		n    int
		most int
	}{
		{word, 1, 35}, {word, 2, 3000}, {value, 1, 78}, {text, 1, 90}, {text, 2, 8000}, {number, 1, 10}, {number, 2, 100}, {number, 3, 1200},
	} {
		f, hash := newTestFiller("k")
		seen := map[string]bool{}
		for i := 0; ; i++ {
			s := hash(tt.k, strconv.Itoa(i))
			out, err := f.short(s, tt.k, tt.n, "")
			if err != nil {
				want := "cannot be redacted: a check of the redacted text would not tell apart all "
				if i < tt.most || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("kind %d of %d bytes: after %d, %v", tt.k, tt.n, i, err)
				}
				break
			}
			if seen[string(out)] || len(out) != tt.n || tt.k == number && !isNumber(out) {
				t.Fatalf("kind %d of %d bytes: %q comes again, or is none", tt.k, tt.n, out)
			}
			seen[string(out)] = true
			if again, err := f.short(s, tt.k, tt.n, ""); err != nil || !bytes.Equal(out, again) {
				t.Fatalf("%d became %q and %q", i, out, again)
			}
		}
	}
}

// TestNoCollision: many values of one length get different filler.
func TestNoCollision(t *testing.T) {
	f, hash := newTestFiller("k")
	seen := map[string]bool{}
	for i := range 150_000 {
		out, err := f.short(hash(number, strconv.Itoa(i)), number, 6, "")
		if err != nil || seen[string(out)] {
			t.Fatalf("%d: %q comes again, %v", i, out, err)
		}
		seen[string(out)] = true
	}
}

// TestKeys: two keys give different filler, and no filler is a word that a reader looks for.
func TestKeys(t *testing.T) {
	f, hash := newTestFiller("k")
	g, other := newTestFiller("l")
	a, _ := f.short(hash(word, "x"), word, 8, "")
	b, _ := g.short(other(word, "x"), word, 8, "")
	if bytes.Equal(a, b) {
		t.Error("two keys give the same filler")
	}
	for i := range 2000 {
		if out, err := f.short(hash(word, fmt.Sprint("w", i)), word, 2, ""); err != nil || f.words[string(out)] {
			t.Errorf("%d became the word %s, %v", i, out, err)
		}
	}
}

// TestImages: of an image, the type and the size stay, and nothing else.
func TestImages(t *testing.T) {
	for kind, head := range map[string]string{
		"png":  "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x40\x00\x00\x00\xf0\x08\x02\x00\x00\x00",
		"gif":  "GIF87a\x40\x01\xf0\x00\xf7\x00\x00",
		"jpeg": "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xc0\x00\x11\x08\x00\xf0\x01\x40\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01",
		"webp": "RIFF\x24\x00\x00\x00WEBPVP8L\x18\x00\x00\x00\x2f\x3f\xc1\x3b\x10\x00\x00\x00\x00",
	} {
		raw := head + strings.Repeat("secret pixels ", 20)
		data := base64.StdEncoding.EncodeToString([]byte(raw))
		text := `[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/` + kind + `","data":"` + data + `"}},{"type":"image_url","image_url":{"url":"data:image/` + kind + `;base64,` + data + `"}}]},{"role":"assistant","content":"a"}]`
		out, err := redacted(t, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, before := range []string{`"data":"`, ";base64,"} {
			from := strings.Index(text, before) + len(before)
			b, err := base64.StdEncoding.DecodeString(string(out[from : from+len(data)/4*4]))
			if err != nil || bytes.Contains(b, []byte("pixels")) || bytes.HasPrefix(b, []byte(raw[:len(head)])) && kind != "png" {
				t.Errorf("%s: %q, %v", kind, b, err)
				continue
			}
			if kind == "webp" {
				if !bytes.HasPrefix(b, []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x3f\x01\x00\xef\x00\x00")) {
					t.Errorf("webp: %q", b[:32])
				}
				continue
			}
			if kind == "png" {
				if !bytes.HasPrefix(b, []byte(raw[:24])) {
					t.Errorf("png: %q", b[:32])
				}
				continue
			}
			if c, format, err := image.DecodeConfig(io.LimitReader(bytes.NewReader(b), 64)); kind == "gif" && (err != nil || format != kind || c.Width != 320 || c.Height != 240) {
				t.Errorf("%s: %v %s, %v", kind, c, format, err)
			}
			if kind == "jpeg" && !bytes.HasPrefix(b, []byte("\xff\xd8\xff\xc0\x00\x11\x08\x00\xf0\x01\x40\x03")) {
				t.Errorf("jpeg: %q", b[:16])
			}
		}
	}
}
