// Package planted has a dialect and a rule that panic, for tests of what becomes of everything
// else. It knows neither who catches a panic nor what follows from it.
package planted

import (
	"bytes"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// The ids of calls at which the dialect or the rule panics.
const (
	InReader = "panic-reader" // while the message with the call is read
	InRule   = "panic-rule"   // while the rule looks at the call
	InRepair = "panic-repair" // while a result for the call is written
	InProof  = "panic-proof"  // while the result that was written is read
)

// Value is the value of each panic.
const Value = "planted"

// Dialect returns a dialect of sessions with the fields by, says, does and answers.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{
		Name: "planted", Title: "Planted", Provider: "neutral", Window: transcript.WindowTool, Marks: evidence.All("by"),
		Driver: driver{dialect.NewSideList(&dialect.SideList{
			Role: "by", User: "user", Assistant: "model", Tool: "tool",
			Roles:   []dialect.RoleName{{Written: "user", Role: transcript.RoleUser}, {Written: "model", Role: transcript.RoleAssistant}, {Written: "tool", Role: transcript.RoleTool}},
			Content: "says", Calls: "does", ID: "id", Name: "tool", Args: "input", ResultID: "answers",
		})},
	}
}

// Session returns the messages of a session with one call, without a result, that has an id.
func Session(id string) []string {
	return []string{
		`{"by":"user","says":"go"}`,
		`{"by":"model","says":"","does":[{"id":"` + id + `","tool":"ls","input":{}}]}`,
		`{"by":"user","says":"well?"}`,
	}
}

// Lines returns the session as lines.
func Lines(id string) string { return strings.Join(Session(id), "\n") + "\n" }

// Row returns the session as a row of a dataset.
func Row(id string) string { return `{"history":[` + strings.Join(Session(id), ",") + `]}` }

// driver is a driver that panics.
type driver struct{ *dialect.SideListDriver }

// Reader implements dialect.Driver.
func (d driver) Reader(b *transcript.Builder) dialect.Reader {
	return reader{d.SideListDriver.Reader(b)}
}

// WriteResult implements dialect.Writer.
func (d driver) WriteResult(r dialect.NewResult) []dialect.Field {
	if strings.Contains(r.ID, InRepair) {
		panic(Value)
	}
	return d.SideListDriver.WriteResult(r)
}

type reader struct{ dialect.Reader }

// Read implements dialect.Reader.
func (r reader) Read(v source.Value) {
	raw := v.Raw()
	if bytes.Contains(raw, []byte(InReader)) || bytes.Contains(raw, []byte(InProof)) && bytes.Contains(raw, []byte(`"answers"`)) {
		panic(Value)
	}
	r.Reader.Read(v)
}

// Rule returns a rule without findings.
func Rule() *rules.Rule {
	return &rules.Rule{Name: "planted-rule", Category: rules.Pairing, Severity: "error", Check: func(c *rules.Context) {
		for i := range c.Calls {
			if strings.Contains(c.Calls[i].ID.Raw, InRule) {
				panic(Value)
			}
		}
	}}
}
