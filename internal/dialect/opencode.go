package dialect

import (
	"strings"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// OpenCode is the dialect of opencode and its forks.
var OpenCode = &Dialect{
	Name:    "opencode",
	Title:   "opencode sessions",
	Summary: "Messages with parts. A tool part holds the call, its status and its output.",
	Where:   "opencode export, opencode run --format json, part files below ~/.local/share/opencode/storage",
	Example: `{"id":"p1","sessionID":"s","messageID":"m","type":"tool","callID":"c1","tool":"ls","state":{"status":"running","input":{}}}
{"id":"p1","sessionID":"s","messageID":"m","type":"tool","callID":"c1","tool":"ls","state":{"status":"completed","input":{},"output":"a.txt"}}`,
	Provider: "neutral",
	Window:   transcript.WindowLog,
	Evidence: &evidence.Table{Rows: []string{
		"none if !parts|part|sessionID",
		"decisive if any parts.? has type=tool and callID",
		"decisive if any part.? has type=tool and callID",
		"decisive if type=tool and callID and !parts|part",
		"decisive if info.role and parts",
		"decisive if part.sessionID and part.type",
		"decisive if sessionID and messageID and type",
	}},
	Members: Members{transcript.MemberArguments: "state.input"},
	Fold:    &Fold{ID: "part.id|id"},
	Strip: []Trace{
		"@this if sessionID and type=reasoning",
		"parts.#.metadata.*." + sdkSealed,
		"part.metadata.*." + sdkSealed,
		"metadata.*." + sdkSealed + " if sessionID",
	},
	Driver: openCodeMessages{&Combined{
		Role:    "info.role|role",
		Turn:    "part.messageID|messageID",
		Aborted: []*evidence.Cond{{Text: "info.error.name"}},
		Records: []Records{{
			In: "parts|part|", Tag: "type", Calls: []string{"tool"}, Text: "text", Reasoning: "reasoning", Step: "step-start",
			AsText: Stencil{JSON: `{"type":"text","text":"$text"}`, Copy: []string{"id", "sessionID", "messageID"}},
			ID:     "callID", Name: "tool", Args: "state.input",
			State: "state.status", States: []StateName{
				{Written: "pending", State: transcript.CallOpen},
				{Written: "running", State: transcript.CallOpen},
				{Written: "completed", State: transcript.CallDone, Answer: []Setting{{To: "state.output", Raw: `"$text"`}}},
				{Written: "error", State: transcript.CallFailed},
			},
			Result: "state.output", Failure: "state.error",
			Answer: []Setting{
				{To: "state.status", Raw: `"error"`},
				{To: "state.error", Raw: `"$text"`, Keep: true},
			},
		}},
	}},
}

// openCodeMessages are messages whose parts record when a call began and ended. opencode sends the
// field that the status of a part names, and fails without the output of a finished call.
type openCodeMessages struct{ *Combined }

// Reader implements Driver.
func (d openCodeMessages) Reader(b *transcript.Builder) Reader {
	r := d.reader(b)
	r.strict = true
	return hook(&r)
}

// WriteState implements StateWriter.
func (d openCodeMessages) WriteState(message source.Value, at source.Span, text string) []Member {
	set := d.Combined.WriteState(message, at, text)
	if len(set) == 0 {
		set = d.complete(message, at)
	}
	if len(set) == 0 {
		return nil
	}
	part := set[0].Object
	put := func(to string, from Lens) {
		when := from.In(part)
		if !when.Exists() {
			when = from.In(message)
		}
		if when.Kind() == source.Number { // other values are not a time
			set = append(set, Member{Object: part, Path: strings.Split(to, "."), Raw: string(when.Raw())})
		}
	}
	if !Lens("state.time.start").Leads(part) {
		put("state.time.start", "info.time.created|timestamp")
	}
	if !Lens("state.time.end").Leads(part) {
		put("state.time.end", "state.time.start|info.time.completed|info.time.created|timestamp")
	}
	return set
}

// complete returns what makes the output that a part has the result of its call.
func (d openCodeMessages) complete(message source.Value, at source.Span) []Member {
	rs := &d.Records[0]
	for part := range rs.elements(message) {
		output, state := rs.Result.In(part), rs.state(part)
		switch {
		case part.Span() != at || output.Kind() != source.String:
		case state != nil && state.State == transcript.CallFailed:
			return []Member{{Object: part, Path: []string{"state", "error"}, Raw: string(output.Raw())}}
		default:
			return []Member{{Object: part, Path: []string{"state", "status"}, Raw: `"completed"`, Left: state != nil}}
		}
	}
	return nil
}
