package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
)

var nullInSchema = &Rule{
	Name: "null-in-schema", Category: Declared, Severity: "warning; by provider in requests",
	Summary: "The schema of a declared tool has null fields",
	Points:  []profile.Point{profile.NullSchema},
	What: `Checks the schemas of the tools that are declared beside the messages. It reports a property that is
null instead of a schema, and a keyword that is null, such as ` + "`\"enum\": null`" + `. The list of tools may be JSON in a string.

The rule ` + "`schema-violation`" + ` checks arguments as if a schema did not have these fields.

JSON Schema allows null in ` + "`default`" + `, ` + "`const`" + `, ` + "`enum`" + ` lists, examples and keywords that it does not define. These are not
reported.`,
	Why: `Arrow and Parquet store all schemas of a column with the same fields, so each tool gets the properties
of all other tools, with the value null. A chat template shows the model these properties. Templates that read
a property fail, and APIs that validate schemas reject the request.`,
	Repair: `toolguard removes the null fields of a schema (safe, because null is no schema and no value of the
keyword; unsafe if one of them is a property that the schema requires, because that may have lost its schema).
` + "`\"default\": null`" + ` stays, because nothing tells whether Arrow added it.`,
	Bad:  `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}],"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string","enum":null},"query":null},"required":["city"]}}}]}`,
	Good: `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}],"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":["string","null"],"default":null}},"required":["city"]}}}]}`,
	Check: func(c *Context) {
		if len(c.Declarations.Nulls) == 0 {
			return
		}
		list, cell := c.Value(c.Declarations.List), c.cell(profile.NullSchema)
		text := list.Kind() == source.String
		offset := func(at int64) int64 { return c.Declarations.List.Start + at }
		if text {
			escaped := source.EscapedOffset(slices.Clone(list.Raw()[1 : len(list.Raw())-1])) // the text is not valid for long
			offset = func(at int64) int64 { return c.Declarations.List.Start + 1 + int64(escaped(int(at))) }
		}
		severity := Warning
		if c.sent() {
			severity = max(severity, severityOf(cell))
		}
		remove := func(class operation.Class, title string) (*operation.Operation, *operation.RemoveNulls) {
			do := &operation.RemoveNulls{List: c.Declarations.List}
			return c.op(-1, class, title, do), do
		}
		op, do := remove(operation.Safe, "remove the null fields from the schemas of the tools")
		lossy, lost := remove(operation.Unsafe, "remove the null fields from the schemas of the tools, even required properties")
		for _, t := range c.Declarations.Nulls {
			first := t.Nulls[0]
			about := plural(len(t.Nulls), "field", "fields") + " in the schema of tool " + strconv.Quote(clip(t.Tool))
			if len(t.Nulls) == 1 {
				about += " is null"
			} else {
				about += " are null"
			}
			f := Finding{
				Severity: severity, Tool: t.Tool, Refusal: cell.Text, Fix: op,
				Span:    source.Span{Start: offset(first.At), End: offset(first.At + int64(len("null")))},
				Message: about + ": " + keysOf(t.Nulls), Discreet: about,
			}
			if !text {
				f.Within = first.Depth
			}
			out := do
			if slices.ContainsFunc(t.Nulls, func(n Null) bool { return n.Required }) {
				f.Fix, out = lossy, lost
			}
			for _, n := range t.Nulls {
				out.At = append(out.At, n.At)
			}
			c.emit(-1, c.Messages[0].Record, f)
		}
	},
}

// keysOf lists the first different keys of nulls.
func keysOf(nulls []Null) string {
	const most = 3
	var keys []string
	for _, n := range nulls {
		key := strconv.Quote(clip(n.Key))
		switch {
		case slices.Contains(keys, key):
		case len(keys) == most:
			return strings.Join(keys, ", ") + " and others"
		default:
			keys = append(keys, key)
		}
	}
	return strings.Join(keys, ", ")
}
