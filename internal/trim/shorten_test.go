package trim

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
)

// shortened returns a JSON text with its strings shortened.
func shortened(text string, most int64) string {
	return string(edit.Splice([]byte(text), 0, Shorten(source.NewValue([]byte(text), 0), most)))
}

// TestShortenCutsBetweenCharacters cuts strings of all kinds of characters to every size. What
// is left is valid, has no half of a character, and begins and ends as before.
func TestShortenCutsBetweenCharacters(t *testing.T) {
	for _, unit := range []string{"a", "é", "漢", "😀", `\n`, `\\`, `\"`, `\u00e9`, `\ud83d\ude00`, `\\\n`, `\\ud83d`, `\\\u00e9`, `a\ud83d\ude00\\`} {
		for lead := range 12 {
			text := `"` + strings.Repeat("x", lead) + strings.Repeat(unit, 1200/len(unit)) + `"`
			for most := int64(SmallestResult); most < SmallestResult+14; most++ {
				out := shortened(text, most)
				if !json.Valid([]byte(out)) || !utf8.ValidString(out) {
					t.Fatalf("%q at %d: invalid %s", unit, most, out)
				}
				var was, is string
				if json.Unmarshal([]byte(text), &was) != nil || json.Unmarshal([]byte(out), &is) != nil {
					t.Fatalf("%q at %d: cannot be decoded", unit, most)
				}
				head, tail, found := strings.Cut(is, "[toolguard] ")
				_, tail, also := strings.Cut(tail, "were cut.")
				if !found || !also || !strings.HasPrefix(was, head) || !strings.HasSuffix(was, tail) || head == "" || tail == "" {
					t.Fatalf("%q at %d: %s", unit, most, out)
				}
				if n := int64(len(out) - 2); n > most || n < most-40 {
					t.Fatalf("%q at %d: %d bytes", unit, most, n)
				}
				if again := shortened(out, most); again != out {
					t.Fatalf("%q at %d: a second run makes %s of %s", unit, most, again, out)
				}
			}
		}
	}
}

// TestShortenStructure checks which strings of a result are shortened.
func TestShortenStructure(t *testing.T) {
	long := strings.Repeat("z", 1000)
	part := func(most int64) string { return shortened(`"`+long+`"`, most) }
	for text, want := range map[string]string{
		`[{"type":"text","text":"` + long + `"},{"type":"text","text":"short"}]`:              `[{"type":"text","text":` + part(495) + `},{"type":"text","text":"short"}]`,
		`{"a":"` + long + `","b":["` + long + `"]}`:                                           `{"a":` + part(250) + `,"b":[` + part(250) + `]}`,
		`{"type":"image","source":{"media_type":"image/png","data":"` + long + `"}}`:          `{"type":"image","source":{"media_type":"image/png","data":"` + long + `"}}`,
		`"data:image/png;base64,` + long + `"`:                                                `"data:image/png;base64,` + long + `"`,
		`{"signature":"` + long + `","encrypted_content":"` + long + `","id":"` + long + `"}`: `{"signature":"` + long + `","encrypted_content":"` + long + `","id":"` + long + `"}`,
		`{"a":1,"b":null,"c":true}`:                                                           `{"a":1,"b":null,"c":true}`,
		`"short"`:                                                                             `"short"`,
	} {
		if got := shortened(text, 500); got != want {
			t.Errorf("%.60s:\n got %s\nwant %s", text, got, want)
		}
	}
	many := make([]string, 50)
	for i := range many {
		many[i] = fmt.Sprintf("%d%s", i, long)
	}
	b, _ := json.Marshal(many)
	once := shortened(string(b), 2000)
	if again := shortened(once, 2000); again != once || len(once) > 50*(SmallestResult+3)+2 {
		t.Errorf("%d bytes, and then %d", len(once), len(again))
	}
}

// TestMedia checks which strings count as media, each as one image.
func TestMedia(t *testing.T) {
	data := strings.Repeat("iVBORw0KGgo", 400)
	for text, want := range map[string]bool{
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}`: true,
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}}`:              true,
		`{"inlineData": {"mimeType": "image/png", "data" : "` + data + `"}}`:                         true,
		`{"role":"tool","content":"` + data + `"}`:                                                   false,
		`{"data":"` + strings.Repeat("plain words here ", 400) + `"}`:                                false,
		`{"data":"aGk="}`: false,
	} {
		n, err := CountTokens([]byte(text), nil)
		if is := n >= MediaTokens && n < MediaTokens+100; err != nil || is != want {
			t.Errorf("%.80s: %v tokens", text, n)
		}
	}
}

// TestEstimate checks the estimate of texts whose tokens are known.
func TestEstimate(t *testing.T) {
	for text, want := range map[string]float64{
		"":                            0,
		"hello":                       1.095,
		"the history":                 2*1.095 + 0.067,
		"12345":                       2 * 1.363,
		"\n\n":                        1.724,
		`{"`:                          0.615 + 0.088,
		"é":                           0.288,
		"漢字":                          2 * 0.811,
		"\x00\x01":                    0.615 + 0.088,
		strings.Repeat("word ", 1000): 1095 - 0,
	} {
		if got := Estimate([]byte(text)); got < want-1e-6 || got > want+1e-6 {
			t.Errorf("%.20q: %v, want %v", text, got, want)
		}
	}
}

// TestValidate checks the errors of contradicting requests.
func TestValidate(t *testing.T) {
	same := func(field string) string { return field }
	index := -1
	for _, c := range []struct {
		req  Request
		want string
	}{
		{Request{}, "nothing to trim; expected KeepLast, KeepLastUser, Target, KeepFirst, MaxBytes, MaxTokens or ResultsMax"},
		{Request{KeepLast: 1, KeepLastUser: 1}, "KeepLast, KeepLastUser and Target exclude each other"},
		{Request{Target: new(int), KeepFirst: 1}, "Target and KeepFirst exclude each other"},
		{Request{Target: &index}, "Target: expected an index from 0, got -1"},
		{Request{MaxTokens: -1}, "MaxTokens: expected a number from 0, got -1"},
		{Request{ResultsMax: 10}, "ResultsMax: expected at least 200 bytes, got 10"},
		{Request{KeepLast: 1, Boundary: 3}, "Boundary: expected one of user, loop, pair"},
		{Request{KeepLast: 1}, ""},
	} {
		got := ""
		if err := c.req.Validate(same); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.req, got, c.want)
		}
	}
}

func BenchmarkEstimate(b *testing.B) {
	text := []byte(strings.Repeat(`{"role":"tool","tool_call_id":"call_123","content":"The quick brown fox reads 404 files."},`, 1000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Estimate(text)
	}
}
