package detect

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/unfold"
)

// RowsCheckOnly says why the rows of a table are not repaired.
const RowsCheckOnly = "its messages are JSON text in a column"

// unwritable says why some messages in a string are not repaired.
const unwritable = "its messages are JSON text that toolguard cannot write back exactly"

// A Column is a table column that holds one message per row as JSON text.
type Column struct {
	Text    string           // the column with the message
	Session string           // the column that identifies the conversation
	Dialect *dialect.Dialect // of messages that could be in several dialects
}

// columns lists the known tables whose rows people export.
var columns = []Column{
	{Text: "message_data", Session: "session_id", Dialect: dialect.OpenAIResponses}, // sessions of the Agents SDK
}

// ColumnOf returns the column of a row that holds a message, or nil. It decodes the
// message into u.
func ColumnOf(row source.Value, u *unfold.Unfolded) *Column {
	for i := range columns {
		c := &columns[i]
		if text := row.Get(c.Text); text.Kind() == source.String && row.Get(c.Session).Exists() && u.Decode(text, nil) {
			return c
		}
	}
	return nil
}

// rows finds the conversations in an array of rows, one for each session. It reports
// whether there are any.
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
			p.Unfolded.Make("[", row, nil)
		}
		p.Unfolded.Next(row, nil)
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
		if class, _ := f.listClass(p.Unfolded.Value(), nil); class == ClassMessage {
			f.emit(*p, at, ClassMessage, nil, p.Unfolded.Value())
		}
	}
	return len(f.found) > before
}

// textColumns are the columns of training sets that hold the messages of a row as JSON text.
var textColumns = []string{
	"messages", "conversations", "conversation", "dialogue", "dialog", "chat", "history", "trajectory", "traces", "prompt", "chosen", "rejected",
}

// columns finds the conversations that the columns of a row hold as JSON text.
func (f *finder) columns(row source.Value, path []string, ctx Place) {
	for key, val := range row.Members() {
		if val.Kind() != source.String || !slices.ContainsFunc(textColumns, key.Is) {
			continue
		}
		u := &unfold.Unfolded{}
		if !u.Decode(val, nil) || u.Value().Kind() != source.Array {
			continue
		}
		if class, _ := f.listClass(u.Value(), nil); class == ClassMessage {
			sub := ctx
			if sub.Unfolded = u; !u.Editable() {
				sub.CheckOnly = cmp.Or(ctx.CheckOnly, unwritable)
			}
			f.emit(sub, append(path, key.Str()), ClassMessage, nil, u.Value())
		}
	}
}
