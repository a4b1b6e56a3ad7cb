package dialect

import "github.com/toolguard/toolguard/internal/transcript"

// A Field is a member of an object that is to be written. Raw is its value as
// JSON.
type Field struct {
	Key, Raw string
}

// A NewResult is what a result that is to be written says.
type NewResult struct {
	Kind transcript.CallKind
	// ID and Name are JSON strings, "" for none.
	ID, Name string
	// Text is a JSON string.
	Text string
	// Element is the call's element, whose spelling the result follows.
	Element transcript.Value
	// Named is set where results of the conversation repeat the tool's name.
	Named bool
}

// A Writer is a driver that can also write.
type Writer interface {
	Driver
	// WriteResult returns the members of a result: of a message or item of its own
	// or, where Message does not return nil, of a block. It returns nil for a
	// kind of call whose result cannot be made up.
	WriteResult(r NewResult) []Field
	// WriteMessage returns the members of a message that carries blocks of
	// results; content is their list as JSON.
	WriteMessage(content string) []Field
	// Retagged returns what the member that tells a result's kind says for that
	// kind of call, "" where kinds are not told apart.
	Retagged(kind transcript.CallKind) string
	// Keys returns the names of the members that hold a message's content, its
	// list of calls, a call's id, a result's id, what tells a result's kind, and
	// the text of a block of text.
	Keys() WriterKeys
}

// WriterKeys are names of members that a repair touches.
type WriterKeys struct {
	Content, Calls, ID, ResultID, Type, Text string
}

// WriteResult implements Writer.
func (d *SideList) WriteResult(r NewResult) []Field {
	if r.Kind == transcript.KindLegacyFunction {
		return []Field{{d.Role, `"` + d.LegacyRole + `"`}, {d.ResultName, r.Name}, {d.Content, r.Text}}
	}
	out := []Field{{d.Role, `"tool"`}, {d.ResultID, r.ID}}
	if r.Named && r.Name != "" {
		out = append(out, Field{d.ResultName, r.Name})
	}
	if r.ID == "" {
		out = []Field{{d.Role, `"tool"`}}
		if r.Name != "" {
			out = append(out, Field{d.ResultName, r.Name})
		}
	}
	return append(out, Field{d.Content, r.Text})
}

// WriteMessage implements Writer: results are messages of their own.
func (d *SideList) WriteMessage(string) []Field { return nil }

// Retagged implements Writer: it is the role that tells kinds apart.
func (d *SideList) Retagged(kind transcript.CallKind) string {
	if kind == transcript.KindLegacyFunction {
		return d.LegacyRole
	}
	return "tool"
}

// Keys implements Writer.
func (d *SideList) Keys() WriterKeys {
	return WriterKeys{Content: d.Content, Calls: d.Calls, ID: d.ID, ResultID: d.ResultID, Type: d.Role, Text: "text"}
}

// WriteResult implements Writer.
func (d *Blocks) WriteResult(r NewResult) []Field {
	if r.ID == "" {
		return nil
	}
	return []Field{
		{d.Tag, `"` + d.Result + `"`}, {d.ResultID[0], r.ID}, {d.Payload[0], r.Text}, {d.Error, "true"},
	}
}

// WriteMessage implements Writer.
func (d *Blocks) WriteMessage(content string) []Field {
	return []Field{{d.Role, `"user"`}, {d.Content, content}}
}

// Retagged implements Writer.
func (d *Blocks) Retagged(transcript.CallKind) string { return "" }

// Keys implements Writer.
func (d *Blocks) Keys() WriterKeys {
	return WriterKeys{Content: d.Content, ID: d.ID, ResultID: d.ResultID[0], Type: d.Tag, Text: d.Text}
}

// WriteResult implements Writer.
func (d *Items) WriteResult(r NewResult) []Field {
	if r.ID == "" {
		return nil
	}
	for i := range d.Pairs {
		p := &d.Pairs[i]
		if p.Kind != r.Kind || p.Args == "" {
			continue
		}
		// The SDK spells the same things in another way.
		if len(d.ID) > 1 && r.Element.Get(d.ID[1]).Exists() && len(p.Outputs) > 1 {
			return []Field{
				{d.Type, `"` + p.Outputs[1] + `"`},
				{d.Name, r.Name},
				{d.ID[1], r.ID},
				{"status", `"completed"`},
				{p.payload(), `{"type":"text","text":` + r.Text + `}`},
			}
		}
		return []Field{{d.Type, `"` + p.Outputs[0] + `"`}, {d.ID[0], r.ID}, {p.payload(), r.Text}}
	}
	return nil
}

// WriteMessage implements Writer: results are items of their own.
func (d *Items) WriteMessage(string) []Field { return nil }

// Retagged implements Writer.
func (d *Items) Retagged(kind transcript.CallKind) string {
	for i := range d.Pairs {
		if p := &d.Pairs[i]; p.Kind == kind {
			return p.Outputs[0]
		}
	}
	return ""
}

// Keys implements Writer.
func (d *Items) Keys() WriterKeys {
	return WriterKeys{Content: d.Text, ID: d.ID[0], ResultID: d.ID[0], Type: d.Type, Text: "text"}
}
