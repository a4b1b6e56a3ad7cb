package engine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// An anatomy is the structure of a text, as places in it. It lets tests break, mark or split
// texts of any dialect without the names of fields.
type anatomy struct {
	text  []byte
	file  *container.File
	convs []*transcript.Conversation // the conversations whose spans are places in the text
}

// anatomyOf reads a text, in a dialect if one is given. It is empty if the text is not a
// transcript.
func anatomyOf(text []byte, d *dialect.Dialect) *anatomy {
	a := &anatomy{text: text}
	file, convs := container.Read(source.FromBytes("anatomy", text), detect.Options{Dialect: d})
	a.file = file
	for c, err := range convs {
		if err != nil {
			break
		}
		if c.Unfolded == nil {
			a.convs = append(a.convs, kept(c))
		}
	}
	return a
}

// kept copies a conversation, so that it stays valid when the next one is read.
func kept(c *transcript.Conversation) *transcript.Conversation {
	k := *c
	k.Unread, k.Strays, k.Lists = slices.Clone(c.Unread), slices.Clone(c.Strays), slices.Clone(c.Lists)
	k.Messages, k.Blocks = slices.Clone(c.Messages), slices.Clone(c.Blocks)
	k.Calls, k.Results = slices.Clone(c.Calls), slices.Clone(c.Results)
	k.Copies, k.Aliases = slices.Clone(c.Copies), slices.Clone(c.Aliases)
	return &k
}

// lines reports whether messages are the records of the text.
func (a *anatomy) lines() bool {
	return a.file.Framing != source.FramingDocument && len(a.lists()) == 0
}

// lists returns the lists whose elements are messages, contain messages, or are records of a
// log.
func (a *anatomy) lists() (out []source.Span) {
	for _, c := range a.convs {
		out = append(out, c.Lists...)
		if len(c.Lists) > 0 || len(c.Messages) == 0 || a.file.Framing != source.FramingDocument {
			continue
		}
		all := c.Messages[0].Span()
		for i := range c.Messages {
			all.Start, all.End = min(all.Start, c.Messages[i].Span().Start), max(all.End, c.Messages[i].Span().End)
		}
		if list := a.around(all); !list.IsZero() {
			out = append(out, list)
		}
	}
	for _, l := range a.file.Logs {
		out = append(out, l.Array)
	}
	return outermost(out)
}

// around returns the innermost list of the document that contains a span, except lists that
// belong to a single element; zero if there is none.
func (a *anatomy) around(s source.Span) (list source.Span) {
	at := jsonPlace{start: a.file.Document.Span.Start, end: a.file.Document.Span.End}
	for {
		_, in := children(a.text[at.start:at.end], at.start)
		holder := slices.IndexFunc(in, func(p jsonPlace) bool { return p.contains(s) })
		if a.text[at.start] == '[' {
			list = source.Span{Start: at.start, End: at.end}
		}
		if holder < 0 {
			return list
		}
		at = in[holder]
	}
}

// elements returns the places of the elements of a list.
func (a *anatomy) elements(list source.Span) (out []source.Span) {
	_, places := children(a.text[list.Start:list.End], list.Start)
	for _, p := range places {
		out = append(out, source.Span{Start: p.start, End: p.end})
	}
	return out
}

// outermost returns the spans that are not inside others, in order.
func outermost(spans []source.Span) (out []source.Span) {
	slices.SortFunc(spans, func(a, b source.Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	for _, s := range spans {
		if n := len(out); n == 0 || s.Start >= out[n-1].End {
			out = append(out, s)
		}
	}
	return out
}

// keyOf returns the key of the value at a place, "" if it has none.
func keyOf(text []byte, at int64) string {
	before := bytes.TrimRight(text[:at], " \t\r\n")
	before, is := bytes.CutSuffix(before, []byte(":"))
	before = bytes.TrimRight(before, " \t\r\n")
	if !is || !bytes.HasSuffix(before, []byte(`"`)) {
		return ""
	}
	before = before[:len(before)-1]
	return string(before[bytes.LastIndexByte(before, '"')+1:])
}

// ids returns a pattern that finds the ids of calls and results, and their keys, in parts of
// the text; nil if it has none.
func (a *anatomy) ids() *regexp.Regexp {
	var keys []string
	note := func(id transcript.Token) {
		if key := ""; id.Present() {
			if key = keyOf(a.text, id.Span.Start); key != "" {
				keys = append(keys, regexp.QuoteMeta(key))
			}
		}
	}
	for _, c := range a.convs {
		for i := range c.Calls {
			note(c.Calls[i].ID)
		}
		for i := range c.Results {
			note(c.Results[i].ID)
		}
		for i := range c.Copies {
			note(c.Copies[i].ID)
		}
		for i := range c.Aliases {
			note(c.Aliases[i].ID)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	slices.Sort(keys)
	return regexp.MustCompile(`"(` + strings.Join(slices.Compact(keys), "|") + `)"\s*:\s*("[^"]*"|null)`)
}

// A dissected text is a list of message elements, and the text around and between them.
type dissected struct {
	head, sep, tail string
	list            []string
	ids             *regexp.Regexp // of calls and results; nil where there are none
}

func (d *dissected) text() []byte { return []byte(d.head + strings.Join(d.list, d.sep) + d.tail) }

// dissect finds the longest list of messages in a text: its lines, or a list in it. It
// returns false if there is none, or if the text is too broken to be split into lines.
func dissect(text []byte) (dissected, bool) {
	a := anatomyOf(text, nil)
	d := dissected{ids: a.ids()}
	if a.lines() {
		d.sep, d.tail = "\n", "\n"
		for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
			if line = strings.TrimSpace(line); line != "" {
				d.list = append(d.list, line)
			}
		}
		good, bad := validLines(text)
		return d, len(d.list) > 1 && good > bad
	}
	for _, list := range a.lists() {
		places := a.elements(list)
		if len(places) <= len(d.list) {
			continue
		}
		d.head, d.sep, d.tail, d.list = string(text[:places[0].Start]), ", ", string(text[places[len(places)-1].End:]), nil
		if len(places) > 1 {
			d.sep = string(text[places[0].End:places[1].Start])
		}
		for _, p := range places {
			d.list = append(d.list, string(text[p.Start:p.End]))
		}
	}
	return d, len(d.list) > 0
}

// inner returns the places of the elements of the outermost list of objects in an element, be
// they blocks or calls.
func inner(e string) (places []jsonPlace, ok bool) {
	level := []jsonPlace{{start: 0, end: int64(len(e))}}
	for len(level) > 0 {
		var next []jsonPlace
		for _, p := range level {
			_, in := children([]byte(e[p.start:p.end]), p.start)
			if e[p.start] == '[' && len(in) > 0 && !slices.ContainsFunc(in, func(p jsonPlace) bool { return e[p.start] != '{' }) {
				return in, true
			}
			next = append(next, in...)
		}
		level = next
	}
	return nil, false
}

// records reports whether the text is split into its records, and not into the elements of
// lists.
func (a *anatomy) records() bool { return len(a.lists()) == 0 }

// units splits the text into its message elements, in order, and the text between them
// without white space and commas. The elements are records, or elements of lists.
func (a *anatomy) units(records bool) (list []string, rest string) {
	body := bytes.TrimPrefix(a.text, []byte("\ufeff"))
	if good, bad := validLines(body); !json.Valid(body) && bad > good {
		return nil, "" // values that are spread over lines
	}
	var spans []source.Span
	note := func(part []byte, at int64) {
		if trimmed := bytes.TrimSpace(part); len(trimmed) > 0 && (records || !json.Valid(trimmed)) {
			from := at + int64(bytes.Index(part, trimmed))
			spans = append(spans, source.Span{Start: from, End: from + int64(len(trimmed))})
		}
	}
	begin := int64(len(a.text) - len(body))
	if at := begin; json.Valid(body) {
		note(body, at)
	} else {
		for line := range bytes.Lines(body) {
			note(line, at)
			at += int64(len(line))
		}
	}
	for _, list := range a.lists() {
		spans = append(spans, a.elements(list)...)
	}
	for _, c := range a.convs {
		for i := range c.Messages {
			spans = append(spans, c.Messages[i].Span())
		}
	}
	var between strings.Builder
	gap := func(b []byte) {
		for _, c := range b {
			if c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != ',' {
				between.WriteByte(c)
			}
		}
	}
	at := begin
	for _, s := range outermost(spans) {
		gap(a.text[at:s.Start])
		list = append(list, string(a.text[s.Start:s.End]))
		at = s.End
	}
	gap(a.text[at:])
	return list, between.String()
}

// texts are the places of texts: of messages, arguments and payloads.
type texts struct {
	args, calls, thoughts, messages []source.Span
	bare                            []source.Span   // texts that are a string, and no object
	tokens                          []source.Span   // roles, ids and names
	keys                            map[string]bool // true of what is said in a message, false of what it is
}

// textFields are the fields of rows that lead to the text of a message.
var textFields = []string{"Blocks.Content", "Part.Text", "SideList.Content", "SideList.Reasoning", "Items.Text", "MessageEvent.Text", "Combined.Text", "Records.Text"}

// tagFields are the fields of rows that lead to the type, role or id of a message or a block.
var tagFields = []string{
	"Blocks.Role", "Blocks.Tag", "Blocks.MessageID", "Part.Signature", "SideList.Role", "SideList.MessageID", "SideList.Error", "Items.Type", "Items.Role",
	"Items.Item", "Items.Execution", "Items.Sealed", "Events.Type", "MessageEvent.RoleAt", "MessageEvent.Turn", "CallEvent.Turn", "Combined.Kind", "Combined.Role",
	"Combined.Turn", "Records.Tag", "Records.State", "Records.ByProvider", "Cond.At",
}

// texts finds the texts of what is read.
func (a *anatomy) texts() *texts {
	out := &texts{keys: map[string]bool{}}
	for _, c := range a.convs {
		for i := range c.Messages {
			m := &c.Messages[i]
			if out.messages = append(out.messages, m.Span()); m.RoleLen > 0 {
				out.tokens = append(out.tokens, m.RoleSpan())
			}
		}
		for i := range c.Blocks {
			switch b := &c.Blocks[i]; b.Kind {
			case transcript.BlockReasoning:
				out.thoughts = append(out.thoughts, b.Span)
			case transcript.BlockServerCall, transcript.BlockServerResult:
				out.calls = append(out.calls, b.Span)
			case transcript.BlockText:
				if a.text[b.Span.Start] == '"' {
					out.bare = append(out.bare, b.Span)
				}
			}
		}
		for i := range c.Calls {
			call := &c.Calls[i]
			out.args = append(out.args, call.Args)
			out.tokens = append(out.tokens, call.ID.Span, call.Name.Span)
		}
		for i := range c.Results {
			res := &c.Results[i]
			out.calls = append(out.calls, res.Payload)
			out.tokens = append(out.tokens, res.ID.Span, res.Name.Span)
		}
		for i := range c.Copies {
			out.tokens = append(out.tokens, c.Copies[i].ID.Span, c.Copies[i].Name.Span)
		}
		for i := range c.Aliases {
			out.tokens = append(out.tokens, c.Aliases[i].ID.Span)
		}
	}
	// An absent value is represented by the place that lacks it.
	out.tokens = slices.DeleteFunc(out.tokens, func(s source.Span) bool { return s.IsZero() || strings.IndexByte("{[", a.text[s.Start]) >= 0 })
	if d := dialect.ByName(a.file.Dialect); d != nil {
		for _, key := range keysIn([]*dialect.Dialect{d}, tagFields...) {
			out.keys[plainKey(key)] = false
		}
		for _, key := range keysIn([]*dialect.Dialect{d}, textFields...) {
			out.keys[plainKey(key)] = true
		}
	}
	return out
}

// within reports whether a value is inside one of the spans.
func (x *texts) within(t *tree, spans []source.Span) bool {
	return slices.ContainsFunc(spans, func(s source.Span) bool { return int(s.Start) <= t.start && t.end <= int(s.End) })
}

// letter returns the kind of a value below a key: A for arguments, T for payloads, R for
// reasoning, M for other text, and "" for no text. A value inside a text is text.
func (x *texts) letter(t *tree, key string, in bool) (letter string, said bool) {
	text, known := x.keys[key]
	said = in || text && x.within(t, x.messages)
	switch {
	case t.kind == 0 && (known && !text || !text && labelled(key) || x.within(t, x.tokens)):
		return "", said
	case x.within(t, x.args):
		return "A", said
	case x.within(t, x.calls):
		return "T", said
	case x.within(t, x.thoughts):
		return "R", said
	case said || x.within(t, x.bare):
		return "M", said
	}
	return "", false
}

// things are the messages, calls and results of a text, by place.
type things struct {
	roles map[source.Span]string
	calls map[source.Span]bool
}

// thingsIn returns the things of a text before or after a repair.
func thingsIn(text []byte, f *Fixed) *things {
	x := &things{map[source.Span]string{}, map[source.Span]bool{}}
	for _, c := range anatomyOf(text, dialect.ByName(f.Before.File.Dialect)).convs {
		for i := range c.Messages {
			m := &c.Messages[i]
			x.roles[m.Span()] = m.Role.String() + " "
		}
		for i := range c.Blocks {
			if b := &c.Blocks[i]; b.Kind == transcript.BlockCall || b.Kind == transcript.BlockResult {
				x.calls[b.Span] = true
			}
		}
	}
	return x
}

// at returns the role of a value, "" if it is not a message, and whether it is a call or a
// result.
func (x *things) at(t *tree) (role string, call bool) {
	if x == nil {
		return "", false
	}
	at := source.Span{Start: int64(t.start), End: int64(t.end)}
	return x.roles[at], x.calls[at]
}

// TestEveryDialectIsDissected: each dialect has a fixture that tests can split into messages
// and, unless the dialect has no ids, one with ids that tests can break.
func TestEveryDialectIsDissected(t *testing.T) {
	of := fixturesOf(t)
	for _, d := range dialect.All() {
		lists, ids, given := false, false, false
		for _, f := range of[d.Name] {
			cut, ok := dissect(f.text)
			lists, ids = lists || ok, ids || ok && cut.ids != nil
			for _, c := range anatomyOf(f.text, nil).convs {
				given = given || slices.ContainsFunc(c.Calls, func(c transcript.Call) bool { return c.ID.Given() })
			}
		}
		switch {
		case !lists:
			t.Errorf("%s: no fixture has a list of messages that other tests can break", d.Name)
		case given && !ids:
			t.Errorf("%s: no fixture has ids of calls below keys, which other tests could break", d.Name)
		}
	}
}
