package dialect

import (
	"strings"

	"github.com/toolguard/toolguard/internal/transcript"
)

// A SideList is the driver for messages that list their calls beside the
// content, and whose results are messages of their own.
type SideList struct {
	Role, Content string
	MessageID     string // of a message, the same on all elements of a turn
	Calls         string // the list of calls
	ID            string // of a call
	Function      string // of a call: the object that holds name and arguments
	Custom        string // of a call: the same for custom tools, with free text
	Name, Args    string // of the function
	Input         string // of a custom tool
	ResultID      string // of a result message
	ResultIDs     string // the same as a list
	ResultName    string // of a result message
	LegacyCall    string // one call, without an id
	LegacyRole    string // the role of its result
	Reasoning     string
	Other         []string // members that are content too
	Want          transcript.ArgsConvention
	// Control is a prefix of roles that mark lines of book-keeping.
	Control string
}

// Claim implements Driver.
func (d *SideList) Claim(v transcript.Value) (Claim, Sign) {
	if v.Kind() != transcript.Object {
		return ClaimNone, Sign{}
	}
	var role, content, calls, id, ids, legacy transcript.Value
	alien := false
	for k, val := range v.Members() {
		switch {
		case k.Is(d.Role):
			role = val
		case k.Is(d.Content):
			content = val
		case k.Is(d.Calls):
			calls = val
		case k.Is(d.ResultID):
			id = val
		case k.Is(d.ResultIDs):
			ids = val
		case k.Is(d.LegacyCall):
			legacy = val
		default:
			alien = alien || alienMember(k, val)
		}
	}
	if role.Kind() != transcript.String {
		return ClaimNone, Sign{}
	}
	if first := firstCall(calls); first.Kind() == transcript.Object {
		if f := first.Get(d.Function).Kind(); f == transcript.Object || f == transcript.String || first.Get(d.Custom).Kind() == transcript.Object {
			return ClaimDecisive, Sign{Member: d.Calls}
		}
		return ClaimNone, Sign{}
	}
	if roleOf(role) == transcript.RoleTool {
		switch {
		case id.Exists() && id.Kind() != transcript.Null:
			return ClaimDecisive, Sign{Member: d.ResultID}
		case ids.Kind() == transcript.Array:
			return ClaimDecisive, Sign{Member: d.ResultIDs}
		case role.Is(d.LegacyRole) && content.Exists():
			return ClaimDecisive, Sign{d.Role, role}
		case content.Exists() && !taggedResults(content):
			return ClaimDecisive, Sign{d.Role, role}
		}
		return ClaimNone, Sign{}
	}
	if legacy.Get(d.Name).Kind() == transcript.String {
		return ClaimDecisive, Sign{Member: d.LegacyCall}
	}
	if alien || alienContent(content) {
		return ClaimNone, Sign{}
	}
	if content.Exists() || calls.Kind() == transcript.Array || d.Control != "" && strings.HasPrefix(string(role.Text()), d.Control) {
		return ClaimPlain, Sign{d.Role, role}
	}
	return ClaimNone, Sign{}
}

// taggedResults reports whether content is a list whose first block has a tag
// that speaks of tools: such a message is another dialect's.
func taggedResults(content transcript.Value) bool {
	first := content.First()
	return first.Kind() == transcript.Object && strings.Contains(first.Get("type").Str(), "tool") ||
		first.Get("toolResult").Exists() || first.Get("functionResponse").Exists()
}

// Reader implements Driver.
func (d *SideList) Reader(b *transcript.Builder) Reader {
	return &sideListReader{SideList: d, b: b, keys: append([]string{
		d.Role, d.Content, d.Calls, d.LegacyCall, d.ResultID, d.ResultIDs, d.ResultName, d.Reasoning, d.MessageID,
	}, d.Other...), vals: make([]transcript.Value, 9+len(d.Other))}
}

type sideListReader struct {
	*SideList
	b     *transcript.Builder
	keys  []string
	vals  []transcript.Value
	split splitTurn
}

func (r *sideListReader) Read(v transcript.Value) {
	b := r.b
	b.Fields(v, r.keys, r.vals)
	roleVal, content, calls, legacy := r.vals[0], r.vals[1], r.vals[2], r.vals[3]
	resultID, resultIDs, resultName, reasoning := r.vals[4], r.vals[5], r.vals[6], r.vals[7]
	role := roleOf(roleVal)
	// Some stacks have a role of their own for the model: what makes calls
	// speaks as the assistant.
	makes := firstCall(calls).Exists() || legacy.Kind() == transcript.Object
	if makes && role == transcript.RoleOther {
		role = transcript.RoleAssistant
	}
	m := b.Begin(v, roleVal, role, r.split.turn(role, r.vals[8]))
	if reasoning.Exists() && !hollow(reasoning) {
		b.Block(transcript.BlockReasoning, reasoning, 0)
	}
	if role == transcript.RoleTool {
		r.results(v, roleVal, content, resultID, resultIDs, resultName)
	} else {
		r.text(content)
	}
	// A list of calls that is none is something all the same.
	full := !hollow(content) || !hollow(calls) || !hollow(legacy) || role == transcript.RoleTool
	for _, other := range r.vals[9:] {
		full = full || !hollow(other)
	}
	if !full {
		markHollow(m, content)
	}
	if calls.Kind() == transcript.Array && !makes {
		b.Block(transcript.BlockEmptyCalls, calls, 0)
	}
	wrong := role == transcript.RoleUser || role == transcript.RoleSystem || role == transcript.RoleTool
	for _, c := range calls.Elements() {
		r.call(c, wrong)
	}
	for _, c := range calls.Members() { // some stacks write a map, by index
		r.call(c, wrong)
	}
	if legacy.Kind() == transcript.Object {
		var f [2]transcript.Value
		b.Fields(legacy, []string{r.Name, r.Args}, f[:])
		call := transcript.Call{
			ID: transcript.Token{Span: legacy.Span()}, Name: transcript.TokenOf(f[0], legacy.Span()),
			Kind: transcript.KindLegacyFunction, NoIDs: true, WrongRole: wrong,
		}
		setArgs(r.b, &call, f[1], r.Want)
		b.Call(legacy, call, 0)
	}
}

func (r *sideListReader) call(v transcript.Value, wrong bool) {
	var f [3]transcript.Value
	r.b.Fields(v, []string{r.ID, r.Function, r.Custom}, f[:])
	call := transcript.Call{ID: transcript.TokenOf(f[0], v.Span()), WrongRole: wrong}
	var g [3]transcript.Value
	switch {
	case f[2].Kind() == transcript.Object && f[1].Kind() != transcript.Object:
		r.b.Fields(f[2], []string{r.Name, r.Input}, g[:2])
		call.Name = transcript.TokenOf(g[0], f[2].Span())
		call.Form = transcript.ArgsText
		if g[1].Exists() {
			call.Args = g[1].Span()
		}
	case f[1].Kind() == transcript.String:
		// The function is only its name, with the arguments beside it.
		r.b.Fields(v, []string{r.Args}, g[:1])
		call.Name = transcript.TokenOf(f[1], v.Span())
		setArgs(r.b, &call, g[0], transcript.ArgsWantAny)
	default:
		owner := f[1]
		if owner.Kind() != transcript.Object {
			owner = v
		}
		r.b.Fields(owner, []string{r.Name, r.Args}, g[:2])
		call.Name = transcript.TokenOf(g[0], owner.Span())
		setArgs(r.b, &call, g[1], r.Want)
	}
	r.b.Call(v, call, 0)
}

func (r *sideListReader) results(v, role, content, id, ids, name transcript.Value) {
	res := transcript.Result{Name: transcript.TokenOf(name, v.Span())}
	if content.Exists() {
		res.Payload = content.Span()
	}
	if role.Is(r.LegacyRole) {
		res.Kind = transcript.KindLegacyFunction
		res.NoIDs = true
	}
	if !id.Exists() && ids.First().Exists() {
		for _, one := range ids.Elements() {
			res.ID = transcript.TokenOf(one, v.Span())
			r.b.Result(v, res)
		}
		return
	}
	res.ID = transcript.TokenOf(id, v.Span())
	r.b.Result(v, res)
}

func (r *sideListReader) text(content transcript.Value) {
	switch content.Kind() {
	case transcript.String:
		r.b.Block(transcript.BlockText, content, textFlags(content))
	case transcript.Array:
		for _, part := range content.Elements() {
			if text := part.Get("text"); text.Kind() == transcript.String {
				r.b.Block(transcript.BlockText, part, textFlags(text))
			} else {
				r.b.Block(transcript.BlockMedia, part, 0)
			}
		}
	}
}

// firstCall returns the first of a list or a map of calls.
func firstCall(calls transcript.Value) transcript.Value {
	for _, c := range calls.Members() {
		return c
	}
	return calls.First()
}
