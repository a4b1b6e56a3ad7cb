package detect

import (
	"slices"
	"strconv"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/unfold"
)

// RowsCheckOnly says why the rows of a table are not repaired.
const RowsCheckOnly = "its messages are JSON in the text of a column"

// A Column is one of a table in which a program keeps its messages, each as JSON
// text in a row of its own.
type Column struct {
	Text    string           // the column
	Session string           // the column that says of which conversation a row is
	Dialect *dialect.Dialect // of messages that do not tell
}

// columns lists the tables that people export rows of.
var columns = []Column{
	{Text: "message_data", Session: "session_id", Dialect: dialect.OpenAIResponses}, // sessions of the Agents SDK
}

// ColumnOf returns the column in which a row keeps a message, nil for none. The
// message is put together in u.
func ColumnOf(row source.Value, u *unfold.Unfolded) *Column {
	for i := range columns {
		c := &columns[i]
		if text := row.Get(c.Text); text.Kind() == source.String && row.Get(c.Session).Exists() && u.Decode(text, nil) {
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
		name := string(row.Get(c.Session).Raw())
		p, more := places[name]
		if !more {
			sub := ctx
			sub.Unfolded, sub.Hint, sub.CheckOnly = &unfold.Unfolded{}, c.Dialect, RowsCheckOnly
			p = &sub
			sessions, places[name], starts[name] = append(sessions, name), p, i
		}
		mark := ","
		if !more {
			mark = "["
		}
		p.Unfolded.Make(mark, row, nil)
		p.Unfolded.Decode(row.Get(c.Text), nil)
	}
	before := len(f.found)
	for _, name := range sessions {
		p := places[name]
		p.Unfolded.Make("]", list, nil)
		at := path
		if len(sessions) > 1 {
			at = append(slices.Clone(path), strconv.Itoa(starts[name]))
		}
		if class, _ := listClass(f.set, p.Unfolded.Value(), nil); class == ClassMessage {
			f.emit(*p, at, ClassMessage, nil, p.Unfolded.Value())
		}
	}
	return len(f.found) > before
}
