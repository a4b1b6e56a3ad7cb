package engine

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// repaired returns a text after its repair. It returns a panic as an error.
func repaired(text []byte, opts FixOptions) (out []byte, f *Fixed, err error) {
	defer recovered(&err)
	f, err = Settle(context.Background(), source.FromBytes("history", text), opts)
	if err != nil || !f.Changed() {
		return text, f, err
	}
	out, err = io.ReadAll(io.NewSectionReader(f.Pieces, 0, f.Pieces.Size()))
	return out, f, err
}

// checked returns the report of a text. It returns a panic as an error.
func checked(text []byte, opts Options) (rep *Report, err error) {
	defer recovered(&err)
	return Check(context.Background(), source.FromBytes("history", text), opts)
}

// recovered turns a panic into an error that has the frames of this module.
func recovered(err *error) {
	r := recover()
	if r == nil {
		return
	}
	var at []string
	for line := range strings.Lines(string(debug.Stack())) {
		if _, place, ok := strings.Cut(line, "/internal/"); ok && strings.Contains(place, ".go:") && !strings.Contains(place, "_test.go:") {
			at = append(at, strings.Fields(place)[0])
		}
	}
	*err = &panicError{fmt.Sprintf("%v at %s", r, strings.Join(at[:min(3, len(at))], ", from "))}
}

// A panicError is a panic of the code under test.
type panicError struct{ what string }

func (p *panicError) Error() string { return "panic: " + p.what }

// folds reports whether a dialect changes a message by appending it again.
func folds(name string) bool {
	d := dialect.ByName(name)
	return d != nil && d.Fold != nil
}

// A markedSet is a set of options.
type markedSet struct {
	name string
	opts FixOptions
}

// keepingSets are the sets of options without unsafe repairs.
func keepingSets() []markedSet {
	sets := []markedSet{
		{"default", FixOptions{}},
		{"safe only", FixOptions{SafeOnly: true}},
		{"send", FixOptions{Options: Options{Send: true}}},
		{"consecutive-roles by name", FixOptions{Options: Options{Explicit: map[string]bool{"consecutive-roles": true}}}},
		{"consecutive-roles alone", FixOptions{
			Options: Options{Rules: []*rules.Rule{rules.ByName("consecutive-roles")}, Explicit: map[string]bool{"consecutive-roles": true}},
		}},
	}
	for _, name := range []string{"vllm", "bedrock", "anthropic", "gemini"} {
		sets = append(sets, markedSet{"target " + name, FixOptions{Options: Options{Target: profile.ByName(name)}}})
	}
	return append(sets, markedSet{"send, target anthropic, safe only", FixOptions{
		Options: Options{Send: true, Target: profile.ByName("anthropic")}, SafeOnly: true,
	}})
}

// repairedDialects are the dialects whose files are repaired.
func repairedDialects() (out []*dialect.Dialect) {
	for _, d := range dialect.All() {
		if _, ok := d.Driver.(dialect.Writer); ok && d.CheckOnly == "" {
			out = append(out, d)
		}
	}
	return out
}

// fixturesOf returns the fixtures of each dialect.
func fixturesOf(t *testing.T) map[string][]fixture {
	t.Helper()
	out := map[string][]fixture{}
	for _, in := range fixtures(t) {
		folder, _ := in.kind()
		out[folder] = append(out[folder], in)
	}
	return out
}

// marker finds the texts, keys and numbers that a scribe wrote.
var marker = regexp.MustCompile(`[A-Z]\d{6}z|\b77\d{6}77\b`)

// labels are the keys whose values are names, types or states, wherever they occur.
var labels = map[string]bool{
	"type": true, "role": true, "name": true, "status": true, "state": true, "kind": true, "model": true, "mimetype": true, "mediatype": true,
	"signature": true, "thoughtsignature": true, "encryptedcontent": true, "format": true, "author": true, "source": true, "subtype": true, "op": true,
	"timestamp": true, "created": true, "createdat": true, "time": true, "uuid": true, "parentuuid": true, "sessionid": true, "cwd": true, "version": true,
	"gitbranch": true, "usertype": true, "provider": true, "stopreason": true, "finishreason": true, "toolname": true, "lc": true, "detail": true,
	"partkind": true, "tool": true, "event": true, "class": true, "level": true, "lang": true, "encoding": true, "data": true, "outcome": true, "exitcode": true, "phase": true,
}

// plainKey returns a key without differences in spelling.
func plainKey(raw string) string {
	return strings.ToLower(strings.Map(func(c rune) rune {
		if strings.ContainsRune(`_-$"`, c) {
			return -1
		}
		return c
	}, raw))
}

// labelled reports whether the value of a key is a name, a type, an id or a state.
func labelled(key string) bool {
	return labels[key] || strings.HasSuffix(key, "id") || strings.HasSuffix(key, "ids") || strings.HasSuffix(key, "uuid") || strings.HasSuffix(key, "name") || strings.HasSuffix(key, "type")
}

// oddities are unusual endings of texts, as JSON.
var oddities = []string{`\u00e9`, `\ud83d`, `\ud83d\ude00`, `\u003cb\u003e`, `a\/b`, `é<&>`, `\udc00x`}

// write marks every text in a record: the texts of messages, arguments and payloads. Equal
// texts get equal marks everywhere, so that copies stay copies.
func (s *scribe) write(record *tree, texts *texts) {
	known := map[string]string{}
	s.writeIn(record, "", false, known, texts.letter)
	s.writeIn(record, "", false, known, func(t *tree, key string, _ bool) (letter string, said bool) {
		if text, _ := unquoted(t.raw); known[text] != "" && !labelled(key) && !texts.within(t, texts.tokens) {
			return "X", false
		}
		return "", false
	})
}

// writeIn marks the texts with a letter in a value below a key. Texts inside a marked value
// are marked too.
func (s *scribe) writeIn(t *tree, key string, said bool, known map[string]string, letterOf func(t *tree, key string, said bool) (string, bool)) {
	letter, said := letterOf(t, key, said)
	if t.kind == 0 && letter != "" {
		s.writeText(t, letter, known)
	}
	for i, k := range t.kids {
		if t.kind == '{' {
			key = plainKey(t.keys[i])
		}
		switch key {
		case "role", "author", "cachecontrol": // an object in some dialects
		default:
			s.writeIn(k, key, said, known, letterOf)
		}
	}
}

// writeText marks a text, or the texts of the JSON in it.
func (s *scribe) writeText(t *tree, letter string, known map[string]string) {
	text, is := unquoted(t.raw)
	if !is || strings.TrimSpace(text) == "" || knownPlaceholder(text) || marker.MatchString(text) {
		return
	}
	if inner, err := parseTree([]byte(text)); err == nil && inner.kind != 0 {
		if known[text] == "" {
			s.writeIn(inner, "", true, known, func(_ *tree, key string, _ bool) (string, bool) {
				if labelled(key) {
					return "", true
				}
				return letter, true
			})
			if l := oneLine.text(inner); inner.kind == '{' && !marker.MatchString(l) && s.odds(.7) {
				inner.set("note", val(s.mark(letter)))
			}
			known[text] = quoted(oneLine.text(inner))
		}
		t.raw = known[text]
		return
	}
	if known[text] == "" {
		known[text] = " " + s.mark(letter)
		if s.odds(.15) {
			known[text] += oneOf(s, oddities...)
		}
		if s.odds(.05) {
			known[text] += "  "
		}
	}
	t.raw = t.raw[:len(t.raw)-1] + known[text] + `"`
}

// adorn adds fields to some objects that no dialect knows, or that only describe a message.
func (s *scribe) adorn(t *tree, p float64) {
	for i, k := range t.kids {
		if t.kind == '{' {
			switch plainKey(t.keys[i]) {
			case "cachecontrol", "cachepoint", "role", "author":
				continue // a target may reject it, or use another word
			}
		}
		s.adorn(k, p)
	}
	if t.kind != '{' || !s.odds(p) {
		return
	}
	for range 1 + s.IntN(2) {
		var v *tree
		switch s.IntN(6) {
		case 0:
			v = obj("k", s.mark("X"))
		case 1:
			v = arr(val(s.mark("X")), obj(s.mark("K"), 1))
		case 2:
			s.n++
			v = &tree{raw: fmt.Sprintf("77%06d77", s.n) + oneOf(s, "", ".50", "e2")}
		case 3:
			v = obj(s.mark("K"), nil)
		default:
			v = &tree{raw: `"` + s.mark("X") + oneOf(s, "", "", "", oneOf(s, oddities...)) + `"`}
		}
		key := oneOf(s, "metadata", "created", "timestamp", "human_label", "citations", "x_note", "K", "cache_control", "name", "refusal")
		role := t.str("role")
		switch {
		case t.get(key) != nil:
			continue
		case key == "K":
			key = s.mark("K")
		case key == "cache_control":
			v = obj("type", "ephemeral")
		case key == "refusal":
			v = val(nil)
		case key == "name" && role != "user" && role != "assistant":
			continue
		case key == "name":
			v = val(oneOf(s, "bob", "al"))
		case key == "citations" && v.kind != '[':
			v = arr(obj("type", "char_location", "cited_text", s.mark("X")))
		}
		t.set(key, v)
	}
}

// shuffle changes the order of the keys of some objects.
func (s *scribe) shuffle(t *tree, p float64) {
	if t.kind == '{' && s.odds(p) {
		s.Shuffle(len(t.kids), func(i, j int) {
			t.keys[i], t.keys[j] = t.keys[j], t.keys[i]
			t.kids[i], t.kids[j] = t.kids[j], t.kids[i]
		})
	}
	for _, k := range t.kids {
		s.shuffle(k, p)
	}
}

// afresh gives a copy new marks.
func (s *scribe) afresh(e string) string {
	return marker.ReplaceAllStringFunc(e, func(m string) string {
		if m[0] == '7' {
			s.n++
			return fmt.Sprintf("77%06d77", s.n)
		}
		return s.mark(m[:1])
	})
}

// ofCall finds keys that occur only in calls and results.
var ofCall = regexp.MustCompile(`(?i)"[a-z_]*(tool|function|call)[a-z_]*"`)

// oddIDs are ids that some or all providers reject.
var oddIDs = []string{`"x y"`, `""`, `"functions.a:0"`, `" c1 "`, `"\ud83d\ud83d\ude00 "`, `"` + strings.Repeat("l", 70) + `"`, `"call_\u00e9"`, `null`}

// disturb breaks the list of messages in one way that the mangler does not know. ids finds
// ids in them.
func (s *scribe) disturb(list []string, ids *regexp.Regexp) []string {
	if len(list) == 0 {
		return list
	}
	i := s.IntN(len(list))
	at := func() int { return oneOf(s, i+1, s.IntN(len(list)+1)) }
	switch s.IntN(7) {
	case 0, 1: // several messages of one role in a row
		for k := range list {
			if k = (i + k) % len(list); !ofCall.MatchString(list[k]) && marker.MatchString(list[k]) {
				for range 1 + s.IntN(2) {
					list = slices.Insert(list, k+1, s.afresh(list[k]))
				}
				break
			}
		}
	case 2: // a copy of an element that differs in one place
		if m := marker.FindAllStringIndex(list[i], -1); len(m) > 0 {
			p := m[s.IntN(len(m))]
			return slices.Insert(list, at(), list[i][:p[0]]+s.afresh(list[i][p[0]:p[1]])+list[i][p[1]:])
		}
	case 3: // a copy of a block that differs, or does not
		if p, ok := inner(list[i]); ok {
			b := p[s.IntN(len(p))]
			block := list[i][b.start:b.end]
			if m := marker.FindAllStringIndex(block, -1); len(m) > 0 && s.odds(.7) {
				p := m[s.IntN(len(m))]
				block = block[:p[0]] + s.afresh(block[p[0]:p[1]]) + block[p[1]:]
			}
			list[i] = list[i][:b.end] + "," + block + list[i][b.end:]
		}
	case 4: // an invalid id, or the id of another call, everywhere
		m := mangler{s.Rand}
		lo, hi, ok := m.id(ids, list[i])
		if !ok || hi-lo < 3 {
			break
		}
		was, is := list[i][lo:hi], oneOf(s, oddIDs...)
		if k := m.at(list); s.odds(.4) {
			if lo, hi, ok := m.id(ids, list[k]); ok {
				is = list[k][lo:hi]
			}
		}
		for k := range list {
			list[k] = strings.ReplaceAll(list[k], was, is)
		}
	case 5: // an empty text
		t, err := parseTree([]byte(list[i]))
		if err != nil {
			break
		}
		var said []*tree
		t.each(func(_ []*tree, t *tree) {
			if t.kind == 0 && strings.HasPrefix(t.raw, `"`) && strings.Contains(t.raw, "M") && marker.MatchString(t.raw) {
				said = append(said, t)
			}
		})
		if len(said) > 0 {
			said[s.IntN(len(said))].raw = oneOf(s, `""`, `" "`, `"\n"`)
			list[i] = oneLine.text(t)
		}
	case 6: // a result before all the others, or at the end
		if ofCall.MatchString(list[i]) {
			e := list[i]
			list = slices.Delete(list, i, i+1)
			return slices.Insert(list, oneOf(s, 0, len(list)), e)
		}
	}
	return list
}

// history makes a history from a fixture: with marks and unknown fields, broken in up to four
// ways, in some layout. It returns nil if the fixture has nothing to mark.
func (s *scribe) history(in fixture) []byte {
	records := parseRecords(in.text)
	texts := anatomyOf(in.text, nil).texts()
	for _, r := range records {
		s.write(r, texts)
		s.adorn(r, oneOf(s, 0, .03, .1, .2))
	}
	if len(records) == 0 {
		return nil
	}
	var lines []string
	for _, r := range records {
		lines = append(lines, oneLine.text(r))
	}
	text := []byte(strings.Join(lines, "\n"))
	if d, ok := dissect(text); ok {
		m := mangler{s.Rand}
		for range s.IntN(5) {
			if s.odds(.5) {
				d.list = m.mangle(d.list, d.ids)
			} else {
				d.list = s.disturb(d.list, d.ids)
			}
		}
		if len(d.list) == 0 {
			return nil
		}
		text = d.text()
	}
	single := len(records) == 1 && !strings.HasSuffix(in.name, ".jsonl")
	if records = parseRecords(text); records == nil {
		return nil
	}
	if s.odds(.3) {
		for _, r := range records {
			s.shuffle(r, oneOf(s, .1, .5))
		}
	}
	l := oneOf(s, layouts...)
	if !single && l.indent != "" {
		l = layouts[1]
	}
	lines = nil
	for _, r := range records {
		lines = append(lines, l.text(r))
	}
	text = []byte(strings.Join(lines, "\n"))
	if !single || s.odds(.5) {
		text = append(text, '\n')
	}
	if !marker.Match(text) {
		return nil
	}
	return text
}

// callish reports whether an object is a call or a result, judging by its own fields.
func callish(t *tree) bool {
	if t.get("id") != nil && t.get("name") != nil && (t.get("arguments") != nil || t.get("input") != nil || t.get("args") != nil) {
		return true
	}
	for i, k := range t.kids {
		if t.kind != '{' {
			return false
		}
		switch plainKey(t.keys[i]) {
		case "type", "kind", "role", "partkind", "contenttype":
			if what, _ := unquoted(k.raw); ofTool(what) {
				return true
			}
		case "toolcallid", "tooluseid", "callid", "functioncall", "functionresponse", "tooluse", "toolresult", "toolname", "toolcall", "toolcallresult":
			return k.raw != "null"
		}
	}
	return false
}

func ofTool(name string) bool {
	name = strings.ToLower(name)
	if strings.HasSuffix(name, "_text") {
		return false // what a model says is output as well
	}
	for _, part := range []string{"tool", "function", "call", "result", "output"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
