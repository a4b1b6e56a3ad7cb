package redact

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// redacted returns redacted text and the error.
func redacted(t testing.TB, text []byte) ([]byte, error) {
	t.Helper()
	got, err := redact(t.Context(), source.FromBytes("in", text), engine.Options{}, []byte("a key of a test"), func(s sum) sum { return s })
	if err != nil {
		return nil, err
	}
	if got.Source == nil {
		return nil, fmt.Errorf("not a transcript: %s", got.Report.Skipped)
	}
	defer func() { _ = got.Source.Close() }()
	out, err := io.ReadAll(got.Source.Stream())
	if err != nil {
		t.Fatal(err)
	}
	return out, nil
}

// window is the length of a piece of a secret that must not survive.
const window = 6

// secret is a text that occurs nowhere else.
const secret = "Zq7xWv9kJp2hRt5m"

// planted returns a text in the places of a transcript in turn: in each string, as a key, as a
// comment, behind the text. n counts the places.
func planted(text []byte, secret string) (out [][]byte) {
	inString, escaped := false, false
	for i, c := range text {
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
			if inString {
				out = append(out, slices.Concat(text[:i+1], []byte(secret), text[i+1:]))
			} else {
				out = append(out, slices.Concat(text[:i], []byte(secret), text[i:]))
			}
		case !inString && (c == '{' || c == ',' || c == '}'):
			at := i
			if c != '}' {
				at++
			}
			out = append(out, slices.Concat(text[:at], []byte("/*"+secret+"*/"), text[at:]))
			if c == '{' {
				rest := text[at:]
				key := `"` + secret + `":"` + secret + `"`
				if trimmed := bytes.TrimLeft(rest, " \n"); len(trimmed) > 0 && trimmed[0] != '}' {
					key += ","
				}
				out = append(out, slices.Concat(text[:at], []byte(key), rest))
			}
		}
	}
	out = append(out, slices.Concat(text, []byte(secret)), slices.Concat([]byte(secret), text), slices.Concat([]byte("\xef\xbb\xbf"+secret+"\n"), text),
		slices.Concat(text, []byte("\n"+secret+"\n")), slices.Concat(text, []byte("\x00\x00"+secret+"\n")))
	return out
}

// escaped finds characters that are written as their numbers.
var escaped = regexp.MustCompile(`\\u00([0-9a-f]{2})`)

// leaked returns a piece of a secret that is in a text, "" for none. Of a secret with escapes,
// pieces are six characters: the escape of one has six bytes, and one may be there by chance.
func leaked(text []byte, secret string) string {
	if escaped.MatchString(secret) {
		character := func(escape []byte) []byte {
			n, _ := strconv.ParseUint(string(escape[4:]), 16, 8)
			return []byte{byte(n)}
		}
		text = escaped.ReplaceAllFunc(text, character)
		secret = string(escaped.ReplaceAllFunc([]byte(secret), character))
	}
	for i := range len(secret) - window + 1 {
		if piece := secret[i : i+window]; bytes.Contains(text, []byte(piece)) {
			return piece
		}
	}
	return ""
}

// files returns the transcripts in the test data.
func files(t testing.TB) map[string][]byte {
	t.Helper()
	root := filepath.Join("..", "..", "testdata", "transcripts")
	all := map[string][]byte{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasSuffix(name, ".gz") && !strings.HasSuffix(name, ".zst") {
			all[filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))], err = os.ReadFile(name)
		}
		return err
	})
	if err != nil || len(all) < 300 {
		t.Fatalf("%d files, %v", len(all), err)
	}
	return all
}

// TestNothingSurvives: wherever a secret is in a transcript, no piece of it survives. Where the
// text is no transcript any more, nothing is written.
func TestNothingSurvives(t *testing.T) {
	secrets := []string{secret, "\u0444\u0443\u0446\u0447\u0448\u0449\u044e\u044f", "\xe9\xf4\xfb\xe8\xea\xfc\xe7", "7391846205318", "aaaa\\u005a\\u0071\\u0037\\u0078\\u0057\\u0076", "p@$$ w(rd*#!"}
	all := files(t)
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	names = sample.Of(t, 40, names, func(s string) string { return s }, func(string) []string { return nil })
	done, refused := 0, 0
	late := sample.Until(t)
	for k, name := range names {
		if late() {
			break
		}
		places := planted(all[name], secrets[k%len(secrets)])
		step := 1 + len(places)/sample.Size(40, 6, 3)
		for i := 0; i < len(places); i += step {
			out, err := redacted(t, places[i])
			if err != nil {
				refused++
				continue
			}
			done++
			if len(out) != len(places[i]) {
				t.Errorf("%s, place %d: %d bytes instead of %d", name, i, len(out), len(places[i]))
			}
			if piece := leaked(out, secrets[k%len(secrets)]); piece != "" {
				t.Errorf("%s, place %d: %q survives of\n%s\nin\n%s", name, i, piece, places[i], out)
			}
		}
	}
	if done < 20 {
		t.Errorf("%d texts were redacted, %d refused", done, refused)
	}
	t.Logf("%d texts were redacted, %d refused", done, refused)
}

// TestHardPlaces: what looks like something that stays, in places where it does not.
func TestHardPlaces(t *testing.T) {
	for _, tt := range []struct{ field, secret string }{
		{`"content":"1985-03-12"`, "1985-03-12"},
		{`"content":"2025-12-16T01:00:00Z"`, "2025-12-16T01:00:00Z"},
		{`"name":"2025-12-16T01:00:00Z"`, "2025-12-16T01:00:00Z"},
		{`"content":90210`, "90210"},
		{`"content":"ok","base_url":"https://10.231.47.190:8443/v1"`, "10.231.47.190:8443"},
		{`"content":"ok","model":"gpt-4o-zanzibar-4111-2222"`, "zanzibar-4111-2222"},
		{`"content":"ok","version":"zanzibar"`, "zanzibar"},
		{`"content":"ok","version":"739-184-6205"`, "739-184-6205"},
		{`"content":"ok","version":"10.231.47.190"`, "10.231.47.190"},
		{`"content":"ok","model":"4zq-7kx-739"`, "4zq-7kx-739"},
		{`"content":"ok","model":"20317391-20318462"`, "20317391-20318462"},
		{`"content":"ok","name":"10.231.47.190"`, "10.231.47.190"},
		{`"content":"ok","10.231.47.190":"up"`, "10.231.47.190"},
		{`"content":"ok","739/184/620":"739/184/620"`, "739/184/620"},
		{`"content":"ok","messages.739.184.role":1`, "739.184"},
		{`"content":"ok","update":7391846205318`, "7391846205318"},
		{`"content":"ok","index":73918462`, "73918462"},
		{`"content":"ok","index":73.9184`, "73.9184"},
		{`"content":"ok","index":7.391e84`, "7.391e84"},
		{`"content":"ok","index":[73918,46205,31873]`, "73918,46205,31873"},
		{`"content":"ok","index":[[73918],[46205]]`, "73918],[46205"},
		{`"content":"ok","parameters":[73918,46205,31873]`, "73918,46205,31873"},
		{`"content":"ok","parameters":{"time":1739184620}`, "1739184620"},
		{`"content":"ok","created":[1739184620]`, "1739184620"},
		{`"content":"ok","created":"1957-11-23"`, "1957-11-23"},
		{`"content":"ok","acme":{"start":1739184620}`, "1739184620"},
		{`"content":"ok","acme":[{"metadata":{"timestamp":"2031-04-17T11:22:33.739184620Z"}}]`, "33.739184620Z"},
		{`"content":"{\"timestamp\":\"2031-04-17T11:22:33.739184620Z\"}"`, "33.739184620Z"},
		{`"content":"ok","args":{"start":1739184620`, "1739184620"},
		{`"content":"ok","created":5551234567`, "5551234567"},
		{`"content":"ok","index":7391846205318`, "7391846205318"},
		{`"content":"ok","index":1.7391846205318e9`, "7391846205318"},
		{`"content":"ok","index":739:184:620`, "739:184:620"},
		{`"content":"ok","created":1/*1739184620531*/`, "1739184620531"},
		{`"content":"<tool_call>zanzibar</tool_call>"`, "zanzibar"},
		{`"content":"[Request interrupted by user zanzibar"`, "zanzibar"},
		{`"content":"[zanzibar] {\"zanzibar\":\"zanzibar\"}"`, "zanzibar"},
		{`"content":"{\"role\":\"{\\\"zanzibar\\\":73918462}\"}"`, "zanzibar"},
		{`"content":"\\z\a\n\z\i\b\a\r"`, `\z\a\n\z\i\b\a\r`},
		{`"content":"\ф\у\ц\ч\ш"`, `\ф\у\ц\ч\ш`},
		{`"content":"\u0中\u0文\u0字"`, `中\u0`},
		{`"content":"--------------------"`, "--------------------"},
		{`"content":"!#$%&!#$%&*+"`, "!#$%&!#$%&*+"},
		{`"content":"ok","zanzibar.role.0":1`, "zanzibar"},
		{`"content":"ok","id":"call_zanzibar"`, "zanzibar"},
		{`"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"emFuemliYXI="}}]`, "emFuemliYXI"},
		{`"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,emFuemliYXI="}}]`, "emFuemliYXI"},
		{`"content":[{"type":"thinking","thinking":"x","signature":"emFuemliYXI="}]`, "emFuemliYXI"},
		{`"content":"ok" zanzibar`, "zanzibar"},
		{`"content":"ok",'zanzibar':'zanzibar'`, "zanzibar"},
	} {
		text := `[{"role":"user","content":"q"},
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"call_1","content":"1"},
{"role":"user",` + tt.field + `}]`
		out, err := redacted(t, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", tt.field, err)
			continue
		}
		piece := ""
		if len(tt.secret) < window && bytes.Contains(out, []byte(tt.secret)) {
			piece = tt.secret
		}
		if piece = cmp.Or(piece, leaked(out, tt.secret)); piece != "" {
			t.Errorf("%s: %q survives in %s", tt.field, piece, out[len(text)-len(tt.field)-2:])
		}
	}
}

// TestArgumentsAnywhere: nothing of arguments and results stays, also in records, fields and torn
// text in which no reader reads them.
func TestArgumentsAnywhere(t *testing.T) {
	const planted = `{"status":"completed","role":"user","start":"2025-03-04T10:11:12Z","duration":4242,"index":77777,"model":"gpt-4o-2024-08-06","message":{"type":"text","email":"a"},"list":[{"type":"tool_use","version":4711}]}`
	stays := regexp.MustCompile(`status|completed|role|user|start|2025|duration|4242|index|77777|model|gpt|message|text|email|list|tool|version|4711`) // type stays in schemas
	all := files(t)
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	rnd := rand.New(rand.NewPCG(7, sample.Seed(1)))
	done, torn := 0, 0
	late := sample.Until(t)
	for _, name := range sample.Of(t, 4, names, func(s string) string { return s }, func(s string) []string { return []string{filepath.Dir(s)} }) {
		if done >= 100 && torn >= 10 && late() { // tests before it may have taken all the time
			break
		}
		text := all[name]
		var objects []int // where objects with members begin
		for i := range text {
			if text[i] == '{' && i+1 < len(text) && text[i+1] == '"' {
				objects = append(objects, i+1)
			}
		}
		if len(objects) == 0 {
			continue
		}
		for try := range 4 {
			at := objects[rnd.IntN(len(objects))]
			member := `"` + opaqueIn[rnd.IntN(len(opaqueIn))] + `":`
			changed := slices.Concat(text[:at], []byte(member+planted+","), text[at:])
			if try == 3 {
				changed = changed[:at+len(member)+len(planted)-rnd.IntN(20)]
			}
			out, err := redacted(t, changed)
			if err != nil || len(out) == 0 {
				continue // it is read as something else now
			}
			done++
			if try == 3 {
				torn++
			}
			from := at + len(member)
			if got := out[from:min(from+len(planted), len(out))]; stays.Match(got) {
				t.Errorf("%s: with %s at byte %d, the redacted text has %s", name, member, at, got)
			}
		}
	}
	t.Logf("%d redacted, %d of them torn", done, torn)
	if done < 100 || torn < 10 {
		t.Errorf("only %d texts were redacted, %d of them torn", done, torn)
	}
}
