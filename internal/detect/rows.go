package detect

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
	"github.com/toolguard/toolguard/internal/unfold"
)

// rowsCheckOnly says why the rows of a table are not repaired.
const rowsCheckOnly = "its messages are JSON in the text of a column"

// A Column is one of a table in which a program keeps its messages, each as JSON
// text in a row of its own.
type Column struct {
	text    string           // the column
	session string           // the column that says of which conversation a row is
	dialect *dialect.Dialect // of messages that do not tell
}

// columns lists the tables that people export rows of.
var columns = []Column{
	{text: "message_data", session: "session_id", dialect: dialect.OpenAIResponses}, // sessions of the Agents SDK
}

// ColumnOf returns the column in which a row keeps a message, nil for none. The
// message is put together in u.
func ColumnOf(row source.Value, u *unfold.Unfolded) *Column {
	for i := range columns {
		c := &columns[i]
		if text := row.Get(c.text); text.Kind() == source.String && row.Get(c.session).Exists() && u.Decode(text, nil) {
			return c
		}
	}
	return nil
}

// rows finds the conversations that a list of rows holds, one for each session,
// and reports whether there are any.
func (f *finder) rows(list source.Value, path []string, ctx Place) bool {
	is := false
	for i, row := range list.Elements() {
		if is = is || ColumnOf(row, &unfold.Unfolded{}) != nil; is || i == listHead {
			break
		}
	}
	if !is {
		return false
	}
	var sessions []string
	places := map[string]*Place{}
	starts := map[string]int{}
	for i, row := range list.Elements() {
		one := &unfold.Unfolded{}
		c := ColumnOf(row, one)
		if c == nil {
			continue
		}
		name := string(row.Get(c.session).Raw())
		p, more := places[name]
		if !more {
			sub := ctx
			sub.Unfolded, sub.Hint, sub.CheckOnly = &unfold.Unfolded{}, c.dialect, rowsCheckOnly
			p = &sub
			sessions, places[name], starts[name] = append(sessions, name), p, i
		}
		mark := ","
		if !more {
			mark = "["
		}
		p.Unfolded.Make(mark, row, nil)
		p.Unfolded.Decode(row.Get(c.text), nil)
	}
	before := len(f.found)
	for _, name := range sessions {
		p := places[name]
		p.Unfolded.Make("]", list, nil)
		at := path
		if len(sessions) > 1 {
			at = append(slices.Clone(path), strconv.Itoa(starts[name]))
		}
		if class, _ := listClass(f.set, p.Unfolded.Value()); class == ClassMessage {
			f.emit(*p, at, ClassMessage, nil, p.Unfolded.Value())
		}
	}
	return len(f.found) > before
}

// rowSink reads the rows of a table, one a line.
type rowSink struct {
	r        *reader
	sessions []*sequence
	of       map[string]*sequence
	torns    bool
}

func (s *rowSink) record(index int32, v source.Value) {
	// The text of a record does not stay.
	v = source.NewValue(bytes.Clone(v.Raw()), v.Span().Start)
	c := ColumnOf(v, &unfold.Unfolded{})
	if c == nil {
		s.r.file.Skipped++
		return
	}
	name := string(v.Get(c.session).Raw())
	q := s.of[name]
	if q == nil {
		q = s.r.newSequence("")
		u := &unfold.Unfolded{}
		q.b.Conv.Unfolded = u
		q.b.OnKeyFault = func(k transcript.KeyFault) {
			k.First, k.Again = u.Origin(k.First), u.Origin(k.Again)
			s.r.onKey(k)
		}
		if q.primary == nil {
			q.primary = c.dialect
		}
		s.of[name] = q
		s.sessions = append(s.sessions, q)
	}
	u := q.b.Conv.Unfolded
	before := u.Len()
	u.Decode(v.Get(c.text), nil)
	if !q.add(index, u.Since(before)) {
		s.r.file.Skipped++
	}
}

func (s *rowSink) torn(int32) { s.torns = true }

func (s *rowSink) end() {
	for i, q := range s.sessions {
		if len(s.sessions) > 1 {
			q.b.Conv.Name = "session " + strconv.Itoa(i+1)
		}
		q.b.Conv.Incomplete = s.torns
		s.r.finish(q)
		s.r.hand(q.b.Conv)
	}
	if s.r.file.CheckOnly == "" {
		s.r.file.CheckOnly = rowsCheckOnly
	}
}
