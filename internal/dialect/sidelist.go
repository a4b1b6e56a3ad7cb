package dialect

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A SideList is the row of a dialect whose messages list their calls beside the
// content, and whose results are messages of their own. Paths lead from a
// message's body, those of a call from the call.
type SideList struct {
	// Body holds the members of a message where the message itself does not: a
	// dialect with a wrapper of its own has an alternative for each.
	Body Lens
	// Envelope are the members of such a wrapper that a message which is inserted has
	// as well, with the same values.
	Envelope []string
	// Role leads, from the message, to who speaks; of several alternatives the
	// first counts whose value is a role.
	Role Lens
	// Roles are the ways to write a role, where the dialect has its own; then
	// nothing else is a message.
	Roles []RoleName
	// User, Assistant and Tool are how a role is written anew: an alternative
	// for each of Role.
	User, Assistant, Tool Lens
	// Faint is set for a dialect that writes plain messages as another does.
	Faint bool
	// Own are roles that only this dialect writes, Never members that its
	// messages do not have.
	Own, Never []string
	// Control is a prefix of roles that mark book-keeping, Controls are such roles.
	Control  string
	Controls []string

	Content   Lens
	MessageID Lens // the same on all elements of a turn
	Calls     Lens // the list of calls, by an alternative for each spelling
	Invalid   Lens // a list of calls whose arguments could not be parsed
	// Lists is set where every message has a list of calls, be it empty.
	Lists     bool
	ID        Lens // of a call
	Function  Lens // of a call: the object that holds name and arguments
	Custom    Lens // of a call: the same for custom tools, with free text
	Name      Lens // of the function
	Args      Lens
	Input     Lens // of a custom tool
	Want      transcript.ArgsConvention
	ResultID  Lens // of a result, by the alternatives of Calls
	ResultIDs Lens // the same as a list
	// ResultName repeats the tool's name in a result; Named is set where every
	// result does.
	ResultName Lens
	Named      bool
	// Error marks a result of a tool that failed: by the value Failed or, where
	// that is empty, by being there.
	Error  Lens
	Failed string
	// Mark are members of a result that only this dialect writes, one at least.
	Mark []Lens
	// Extra are members that a new result gets where the message of its call has
	// them.
	Extra []Extra

	// Foreign names the profile of another provider than the dialect's, where its
	// calls are told by ForeignCall, or its results by ForeignResult: all of it.
	Foreign                    string
	ForeignCall, ForeignResult []Cond
	// ForeignBare is set where its calls may have neither an id nor a type, and
	// an object for arguments: all calls are such, or none is told by that.
	ForeignBare bool

	// Spoken are roles whose content is one call, or a list of calls, as JSON
	// text without an id; then results have none either.
	Spoken []string
	// SpokenParts are tags of parts of the content of which the same is true: the
	// text is at PartText.
	SpokenParts []string
	PartText    string
	LegacyCall  Lens   // one call, without an id
	LegacyRole  string // the role of its result
	Reasoning   Lens
	// Thoughts are tags of parts that are reasoning; Signature are members of
	// such a part that sign it.
	Thoughts, Signature []string
	Other               []Lens // members that are content too
	// Copies are the places where a message repeats its calls.
	Copies []CopyList
}

// An Extra is a member of a new result. Raw is its value as JSON, "" for a new
// id.
type Extra struct {
	Key, Raw string
}

// A CopyList is a list in which a message repeats its calls.
type CopyList struct {
	List Lens
	Tags []string // of the type of an element; any where there are none
	ID   Lens     // of an element
	Name Lens
}

// Slots of the members that are read of every message.
const (
	slotContent = iota
	slotMessageID
	slotCalls
	slotInvalid
	slotResultID
	slotResultIDs
	slotResultName
	slotError
	slotLegacy
	slotReasoning
	slotRole // only where who speaks stands beside the rest
	slots
)

// NewSideList returns the driver for a row.
func NewSideList(row SideList) Driver { return sideListOf(row) }

func sideListOf(row SideList) *sideList {
	d := &sideList{SideList: row}
	var role Lens
	if d.flat = row.Body == "" && !strings.ContainsAny(string(row.Role), "|."); d.flat {
		role = row.Role
	}
	paths := append([]Lens{
		row.Content, row.MessageID, row.Calls, row.Invalid, row.ResultID, row.ResultIDs, row.ResultName, row.Error,
		row.LegacyCall, row.Reasoning, role,
	}, row.Other...)
	d.resultIDs = spellingsOf(row.ResultID, len(paths))
	d.fields = NewPlan(append(paths, d.resultIDs.alts...)...)
	call := []Lens{row.ID, row.Function, row.Custom, row.Name, row.Args}
	d.ids = spellingsOf(row.ID, len(call))
	d.call = NewPlan(append(call, d.ids.alts...)...)
	d.called = NewPlan(row.Name, row.Args, row.Input)
	return d
}

type sideList struct {
	SideList
	flat   bool  // who speaks is one of the fields
	fields *Plan // of a message
	call   *Plan // id, function, custom function, name and arguments of a call
	called *Plan // name, arguments and input of a function
	// ids and resultIDs are the spellings of the ids of calls and results, behind
	// the other fields.
	ids, resultIDs spellings
}

// role returns who speaks in v, and how that is written; nothing where v is no
// message.
func (d *sideList) role(v source.Value) (source.Value, transcript.Role) {
	for alt := range d.Role.Alternatives() {
		if val := alt.In(v); val.Kind() == source.String {
			if role, known := d.named(val); known {
				return val, role
			}
		}
	}
	return source.Value{}, transcript.RoleNone
}

// named returns the role that a string writes, and whether it is one.
func (d *sideList) named(val source.Value) (role transcript.Role, known bool) {
	if val.Kind() != source.String {
		return transcript.RoleNone, false
	}
	if len(d.Roles) == 0 {
		return roleOf(val), true
	}
	for i := range d.Roles {
		if val.Is(d.Roles[i].Written) {
			return d.Roles[i].Role, true
		}
	}
	return transcript.RoleNone, false
}

// Skips implements Skipper.
func (d *sideList) Skips(v source.Value) bool {
	if len(d.Controls) == 0 {
		return false
	}
	for alt := range d.Role.Alternatives() {
		if contains(d.Controls, alt.In(v)) {
			return true
		}
	}
	return false
}

// Damaged implements Guesser. What has a type is something of its own.
func (d *sideList) Damaged(v source.Value) bool {
	if d.flat && d.stripped(d.Calls.In(v)) {
		_, known := d.named(d.Role.In(v))
		return known
	}
	if !d.flat || v.Kind() != source.Object || !absentRole(d.Role.In(v)) || v.Get("type").Exists() {
		return false
	}
	return bare(v) || d.Content.In(v).Exists() ||
		d.callsIn(d.Calls.In(v)) || d.ResultID.In(v).Kind() == source.String || d.ResultName.Leads(v)
}

// stripped reports whether of the first of a list of calls nothing is left that
// would tell in which dialect it was written.
func (d *sideList) stripped(calls source.Value) bool {
	first := firstCall(calls)
	for k := range first.Members() {
		if !k.Is(d.ID.Key()) && !k.Is("type") && !k.Is("index") {
			return false
		}
	}
	return first.Kind() == source.Object
}

// bare reports whether v is an object without members.
func bare(v source.Value) bool {
	for range v.Members() {
		return false
	}
	return v.Kind() == source.Object
}

// absentRole reports whether a role is not there, or null.
func absentRole(role source.Value) bool {
	return !role.Exists() || role.Kind() == source.Null
}

// body returns what holds the members of a message.
func (d *sideList) body(v source.Value) source.Value {
	if d.Body != "" {
		if body := d.Body.In(v); body.Kind() == source.Object {
			return body
		}
	}
	return v
}

// Claim implements Driver.
func (d *sideList) Claim(v source.Value) (Claim, Sign) {
	if v.Kind() != source.Object {
		return ClaimNone, Sign{}
	}
	var roleVal source.Value
	var role transcript.Role
	if !d.flat {
		if roleVal, role = d.role(v); !roleVal.Exists() {
			return ClaimNone, Sign{}
		}
	}
	body := d.body(v)
	var buf [3 * fewSlots]source.Value
	var ranks [3 * fewSlots]int
	fill := d.fields.fill(buf[:], ranks[:])
	f := fill.out
	alien := false
	var callsKey, idKey source.Value
	for k, val := range body.Members() {
		if len(d.Never) > 0 && slices.ContainsFunc(d.Never, k.Is) && body.Span() == v.Span() {
			return ClaimNone, Sign{}
		}
		calls, id := f[slotCalls].Span(), f[slotResultID].Span()
		if !d.fields.put(&fill, k, val) {
			alien = alien || alienMember(k, val)
		}
		if f[slotCalls].Span() != calls {
			callsKey = k
		}
		if f[slotResultID].Span() != id {
			idKey = k
		}
	}
	if d.flat {
		var known bool
		roleVal = f[slotRole]
		if role, known = d.named(roleVal); !known {
			return ClaimNone, Sign{}
		}
	}
	content, calls, legacy := f[slotContent], f[slotCalls], f[slotLegacy]
	sign := Sign{string(d.Role.Nth(0)), roleVal}
	if firstCall(calls).Kind() == source.Object {
		if d.callsIn(calls) || contains(d.Own, roleVal) && firstCall(calls).Get(d.ID.Key()).Kind() == source.String {
			return ClaimDecisive, Sign{Member: written(d.Calls, callsKey)}
		}
		return ClaimNone, Sign{}
	}
	if firstCall(f[slotInvalid]).Kind() == source.Object {
		return ClaimDecisive, Sign{Member: d.Invalid.Key()}
	}
	if role == transcript.RoleTool {
		switch id := f[slotResultID]; {
		case len(d.Mark) > 0 && !slices.ContainsFunc(d.Mark, func(p Lens) bool { return p.Leads(body) }):
			return ClaimNone, Sign{}
		case id.Exists() && id.Kind() != source.Null:
			return ClaimDecisive, Sign{Member: written(d.ResultID, idKey)}
		case f[slotResultIDs].Kind() == source.Array:
			return ClaimDecisive, Sign{Member: d.ResultIDs.Key()}
		case roleVal.Is(d.LegacyRole) && content.Exists():
			return ClaimDecisive, sign
		case content.Exists() && !taggedResults(content):
			return ClaimDecisive, sign
		}
		return ClaimNone, Sign{}
	}
	if d.LegacyCall != "" && d.Name.In(legacy).Kind() == source.String {
		return ClaimDecisive, Sign{Member: d.LegacyCall.Key()}
	}
	if content.Exists() && (body.Span() != v.Span() || contains(d.Own, roleVal)) {
		return ClaimDecisive, sign
	}
	if len(d.SpokenParts) > 0 {
		for _, part := range content.Elements() {
			if tag := part.Get("type"); contains(d.SpokenParts, tag) && part.Get(d.PartText).Kind() == source.String {
				return ClaimDecisive, Sign{"type", tag}
			}
		}
	}
	if alien || alienContent(content) {
		return ClaimFaint, sign
	}
	if content.Exists() || calls.Kind() == source.Array || d.Control != "" && strings.HasPrefix(string(roleVal.Text()), d.Control) {
		if d.Faint {
			return ClaimFaint, sign
		}
		return ClaimPlain, sign
	}
	return ClaimNone, Sign{}
}

// callsIn reports whether an element of a list or a map of calls is one of this
// dialect: others of the list may be damaged.
func (d *sideList) callsIn(calls source.Value) bool {
	for _, c := range calls.Elements() {
		if d.isCall(c) {
			return true
		}
	}
	for _, c := range calls.Members() {
		if d.isCall(c) {
			return true
		}
	}
	return false
}

// isCall reports whether v is written as a call of this dialect.
func (d *sideList) isCall(v source.Value) bool {
	if d.Name.In(v).Kind() == source.String && d.Args.In(v).Exists() {
		return true // the call itself has the fields of a function
	}
	if d.Function == "" {
		return false
	}
	return d.Function.In(v).Kind() == source.Object || d.Custom != "" && d.Custom.In(v).Kind() == source.Object ||
		v.Get("type").Is(d.Function.Key()) && d.ID.In(v).Exists() && !v.Get(d.Name.Key()).Exists()
}

// taggedResults reports whether content is a list whose first block has no tag,
// or one that speaks of tools: such a message is another dialect's.
func taggedResults(content source.Value) bool {
	first := content.First()
	tag := first.Get("type")
	return first.Kind() == source.Object && (!tag.Exists() || strings.Contains(tag.Str(), "tool"))
}

// Reader implements Driver.
func (d *sideList) Reader(b *transcript.Builder) Reader {
	return &sideListReader{
		sideList: d, b: b, vals: make([]source.Value, d.fields.slots), callVals: make([]source.Value, d.call.slots),
	}
}

type sideListReader struct {
	*sideList
	b     *transcript.Builder
	vals  []source.Value
	split splitTurn
	// callVals are the members of the call that is read.
	callVals []source.Value
	said     source.Value // what the model said last, where it made no calls
	// list are the calls that a text held which the model spoke last, answers how
	// many results have come since.
	list    []transcript.Call
	answers int
	spoke   bool // a text was a call
	bared   bareness
}

// A bareness says whether a conversation is told to be another provider's by
// what its calls do not have.
type bareness uint8

const (
	unbared   bareness = iota
	bareOnly           // all calls so far are such, and nothing else tells
	otherwise          // one is not
)

// jointly settles how a list of calls is answered: by the only result behind it,
// as turns of text alternate strictly, or by one for each.
func (r *sideListReader) jointly() {
	r.answers++
	for i := 1; i < len(r.list) && r.answers <= 2; i++ {
		r.list[i].Hosted = r.answers == 1
	}
}

// answersText reports whether the message of a tool that was read last answers
// what the model called in the words of its text, as models are trained to that
// have no other form for it. Nothing of that can be told from other text.
func (r *sideListReader) answersText(role, content source.Value) bool {
	if r.vals[slotResultID].Kind() == source.String || r.vals[slotResultIDs].First().Exists() {
		return false
	}
	if opens(content, "<tool_response>") || opens(r.said, "<tool_call>") {
		return true
	}
	// Some rows have calls in a notation of their own, as [f(a=1)], and then another
	// word for who answers.
	return len(r.Spoken) > 0 && !r.spoke && !hollow(r.said) && !role.Is(string(r.Tool.Nth(0)))
}

// opens reports whether a text, or one of the parts that it is made of, has an
// opening tag.
func opens(text source.Value, tag string) bool {
	switch text.Kind() {
	case source.String:
		return bytes.Contains(text.Text(), []byte(tag))
	case source.Array:
		for _, part := range text.Elements() {
			if opens(part.Get("text"), tag) {
				return true
			}
		}
	}
	return false
}

func (r *sideListReader) Read(v source.Value) {
	b := r.b
	body := r.body(v)
	if body.Span() != v.Span() {
		b.Fields(v, nil, nil)
	}
	r.fields.Read(b, body, r.vals)
	var roleVal source.Value
	var role transcript.Role
	if !r.flat {
		roleVal, role = r.role(v)
	} else if named, known := r.named(r.vals[slotRole]); known {
		roleVal, role = r.vals[slotRole], named
	}
	content, calls, invalid, legacy := r.vals[slotContent], r.vals[slotCalls], r.vals[slotInvalid], r.vals[slotLegacy]
	if !roleVal.Exists() {
		roleVal, role = r.Role.In(v), transcript.RoleOther
		if !roleVal.Exists() || roleVal.Kind() == source.Null {
			role = transcript.RoleNone
		}
	}
	// Some stacks have a role of their own for the model, and some messages name
	// none: what makes calls speaks as the assistant.
	makes := firstCall(calls).Exists() || legacy.Kind() == source.Object
	switch {
	case makes && (role == transcript.RoleOther || role == transcript.RoleNone):
		role = transcript.RoleAssistant
	case role == transcript.RoleNone && r.flat && r.vals[slotResultID].Kind() == source.String:
		role = transcript.RoleTool
	}
	m := b.Begin(v, roleVal, role, r.split.turn(role, r.vals[slotMessageID], role == transcript.RoleUser))
	if reasoning := r.vals[slotReasoning]; reasoning.Exists() && !hollow(reasoning) {
		b.Block(transcript.BlockReasoning, reasoning, 0)
	}
	switch {
	case contains(r.Spoken, roleVal):
		lo := len(b.Conv.Calls)
		r.spoke = true
		r.spoken(content)
		r.list, r.answers = b.Conv.Calls[lo:], 0
	case role == transcript.RoleTool && !r.answersText(roleVal, content):
		r.results(v, body, roleVal)
		r.jointly()
	default:
		r.list = nil
		r.text(content)
	}
	switch {
	case role == transcript.RoleAssistant && !makes && !contains(r.Spoken, roleVal):
		r.said = content
	case role != transcript.RoleTool:
		r.said = source.Value{}
	}
	// A list of calls that is none is something all the same.
	full := !hollow(content) || !hollow(calls) || !hollow(invalid) || !hollow(legacy) || role == transcript.RoleTool
	for _, other := range r.vals[slots : slots+len(r.Other)] {
		full = full || !hollow(other)
	}
	if !full {
		markHollow(m, content)
	}
	if calls.Kind() == source.Array && !makes && !r.Lists {
		b.Block(transcript.BlockEmptyCalls, calls, 0)
	}
	wrong := role == transcript.RoleUser || role == transcript.RoleSystem || role == transcript.RoleTool
	lo := len(b.Conv.Calls)
	for _, c := range calls.Elements() {
		r.readCall(c, r.Want, wrong)
	}
	for _, c := range calls.Members() { // some stacks write a map, by index
		r.readCall(c, r.Want, wrong)
	}
	for _, c := range invalid.Elements() {
		r.readCall(c, transcript.ArgsWantString, wrong)
	}
	if legacy.Kind() == source.Object {
		var f [3]source.Value
		r.called.Read(b, legacy, f[:])
		call := transcript.Call{
			ID: transcript.Token{Span: legacy.Span()}, Name: transcript.TokenOf(f[0], legacy.Span()),
			Kind: transcript.KindLegacyFunction, NoIDs: true, WrongRole: wrong,
		}
		setArgs(r.b, &call, f[1], r.Want)
		b.Call(legacy, call, 0)
	}
	if n := len(b.Conv.Calls); n > lo {
		for i := range r.Copies {
			r.copies(&r.Copies[i], body, lo, n)
		}
	}
}

// spoken reads the calls that a text holds.
func (r *sideListReader) spoken(text source.Value) {
	if text.Kind() != source.String {
		return
	}
	form, bad := embedded(r.b, text)
	decoded, offset := source.Unescape(text.Raw()[1 : len(text.Raw())-1])
	inner := source.NewValue(decoded, 0)
	read := func(c source.Value) {
		block := text
		if c.Span() != inner.Span() {
			at := text.Span().Start + 1
			block = text.Part(source.Span{Start: at + int64(offset(int(c.Span().Start))), End: at + int64(offset(int(c.Span().End)))})
		}
		call := transcript.Call{
			ID: transcript.Token{Span: block.Span()}, Name: transcript.Token{Span: block.Span()},
			Args: block.Span(), Form: transcript.ArgsString, Want: transcript.ArgsWantString, NoIDs: true,
		}
		if name := r.Name.In(c); name.Exists() {
			call.Name.Raw = string(name.Raw())
		}
		if form == transcript.ArgsStringBad {
			call.Form, call.BadAt = form, bad
		}
		r.b.Call(block, call, 0)
	}
	if form != transcript.ArgsStringOther || inner.Kind() != source.Array {
		read(inner)
		return
	}
	for _, c := range inner.Elements() {
		read(c)
	}
}

func (r *sideListReader) readCall(v source.Value, want transcript.ArgsConvention, wrong bool) {
	f := r.callVals
	r.call.Read(r.b, v, f)
	id, function, custom, name, args := r.ids.pick(f, f[0]), f[1], f[2], f[3], f[4]
	call := transcript.Call{ID: transcript.TokenOf(id, v.Span()), WrongRole: wrong}
	r.callAliases(int32(len(r.b.Conv.Calls)), v, f, id)
	r.foreign(r.ForeignCall, v)
	owner := v
	var g [3]source.Value
	switch {
	case function.Kind() == source.Object:
		r.called.Read(r.b, function, g[:])
		owner, name, args = function, g[0], g[1]
	case custom.Kind() == source.Object:
		r.called.Read(r.b, custom, g[:])
		call.Name = transcript.TokenOf(g[0], custom.Span())
		call.Form = transcript.ArgsText
		if g[2].Exists() {
			call.Args = g[2].Span()
		}
		r.b.Call(v, call, 0)
		return
	}
	call.Name = transcript.TokenOf(name, owner.Span())
	if r.Function != "" && owner.Span() == v.Span() && name.Exists() {
		want = transcript.ArgsWantAny // such calls are not sent to the provider as they are
	}
	setArgs(r.b, &call, args, want)
	r.bare(!id.Exists() && function.Exists() && call.Form == transcript.ArgsObject && !v.Get("type").Exists())
	r.b.Call(v, call, 0)
}

// spellings are the alternatives of an id, each with its slot in a field set.
type spellings struct {
	alts []Lens
	lo   int
}

// spellingsOf returns the alternatives of an id that has several, of which the
// first has the given slot.
func spellingsOf(p Lens, lo int) spellings {
	if strings.IndexByte(string(p), '|') < 0 {
		return spellings{}
	}
	return spellings{slices.Collect(p.Alternatives()), lo}
}

// pick returns the id that counts: that of the first alternative which is there and
// not null. Without alternatives it is got, and so it is where none is there.
func (s *spellings) pick(vals []source.Value, got source.Value) source.Value {
	for i := range s.alts {
		if id := vals[s.lo+i]; id.Exists() && id.Kind() != source.Null {
			return id
		}
	}
	return got
}

// others yields the ids that are spelt otherwise than the one that counts, each
// with the name of its member.
func (s *spellings) others(vals []source.Value, id source.Value) iter.Seq2[string, source.Value] {
	return func(yield func(string, source.Value) bool) {
		for i, alt := range s.alts {
			other := vals[s.lo+i]
			if other.Exists() && other.Kind() != source.Null && other.Span() != id.Span() && !yield(alt.Key(), other) {
				return
			}
		}
	}
}

// callAliases notes the other ids of a call.
func (r *sideListReader) callAliases(call int32, v source.Value, f []source.Value, id source.Value) {
	c := r.b.Conv
	for key, other := range r.ids.others(f, id) {
		t := transcript.TokenOf(other, v.Span())
		c.Aliases = append(c.Aliases, transcript.Alias{Call: call, Result: -1, ID: t})
		c.Copies = append(c.Copies, transcript.Copy{Call: call, Block: v.Span(), ID: t, IDKey: key, Name: transcript.Token{Span: v.Span()}})
	}
}

// bare notes whether a call is such as the other provider writes them that has no
// ids; a result with an id says that none is.
func (r *sideListReader) bare(is bool) {
	switch conv := r.b.Conv; {
	case !r.ForeignBare || r.bared == otherwise:
	case !is && r.bared == bareOnly:
		conv.Provider, r.bared = "", otherwise
	case !is:
		r.bared = otherwise
	case conv.Provider == "":
		conv.Provider, r.bared = r.Foreign, bareOnly
	}
}

// copies notes where a list repeats the calls lo to hi of a message: by id, in
// order, and by place where there are none.
func (r *sideListReader) copies(l *CopyList, body source.Value, lo, hi int) {
	c := r.b.Conv
	list := l.List.In(body)
	taken := make([]bool, hi-lo) // calls that have their copy in this list
	var byID map[string][]int    // those calls; nil before one is looked for elsewhere than at its place
	n := 0
	for _, e := range list.Elements() {
		if e.Kind() != source.Object || len(l.Tags) > 0 && !contains(l.Tags, e.Get("type")) {
			continue
		}
		id := transcript.TokenOf(l.ID.In(e), e.Span())
		at := -1
		switch {
		case lo+n < hi && !taken[n] && (c.Calls[lo+n].ID.Raw == id.Raw && id.IsString() || !id.IsString() && !c.Calls[lo+n].ID.IsString()):
			at = lo + n
		case id.IsString():
			if byID == nil {
				byID = map[string][]int{}
				for i := lo; i < hi; i++ {
					byID[c.Calls[i].ID.Raw] = append(byID[c.Calls[i].ID.Raw], i)
				}
			}
			for at < 0 && len(byID[id.Raw]) > 0 {
				if i := byID[id.Raw][0]; !taken[i-lo] {
					at = i
				}
				byID[id.Raw] = byID[id.Raw][1:]
			}
		}
		n++
		if at < 0 {
			continue
		}
		taken[at-lo] = true
		name := l.Name.In(e)
		c.Copies = append(c.Copies, transcript.Copy{
			Call: int32(at), List: list.Span(), Block: e.Span(), ID: id, IDKey: l.ID.Key(), Name: transcript.TokenOf(name, e.Span()),
		})
	}
}

func (r *sideListReader) results(v, body, role source.Value) {
	id, ids := r.vals[slotResultID], r.vals[slotResultIDs]
	res := transcript.Result{Name: transcript.TokenOf(r.vals[slotResultName], body.Span())}
	if content := r.vals[slotContent]; content.Exists() {
		res.Payload = content.Span()
	}
	if failed := r.vals[slotError]; failed.Exists() && failed.Kind() != source.Null {
		res.Error = r.Failed == "" || writes(failed, r.Failed)
	}
	if role.Is(r.LegacyRole) {
		res.Kind = transcript.KindLegacyFunction
	}
	res.NoIDs = role.Is(r.LegacyRole) || len(r.Spoken)+len(r.SpokenParts) > 0
	if !id.Exists() && ids.First().Exists() {
		for _, one := range ids.Elements() {
			res.ID = transcript.TokenOf(one, v.Span())
			r.b.Result(v, res)
		}
		return
	}
	id = r.resultIDs.pick(r.vals, id)
	res.ID = transcript.TokenOf(id, body.Span())
	for _, other := range r.resultIDs.others(r.vals, id) {
		r.b.Conv.Aliases = append(r.b.Conv.Aliases, transcript.Alias{
			Call: -1, Result: int32(len(r.b.Conv.Results)), ID: transcript.TokenOf(other, body.Span()),
		})
	}
	r.foreign(r.ForeignResult, body)
	if id.Exists() {
		r.bare(false)
	}
	r.b.Result(v, res)
}

// foreign notes whose conversation it is where a call or a result tells.
func (r *sideListReader) foreign(conds []Cond, v source.Value) {
	if r.Foreign != "" && (r.b.Conv.Provider == "" || r.bared == bareOnly) && allHold(conds, v) {
		r.b.Conv.Provider, r.bared = r.Foreign, otherwise
	}
}

func (r *sideListReader) text(content source.Value) {
	switch content.Kind() {
	case source.String:
		r.b.Block(transcript.BlockText, content, textFlags(content))
	case source.Array:
		for _, part := range content.Elements() {
			r.part(part)
		}
	}
}

func (r *sideListReader) part(v source.Value) {
	text := v.Get("text")
	tag := v.Get("type")
	if r.PartText != "" && tag.Is("text") {
		text = v.Get(r.PartText)
	}
	if text.Kind() == source.String {
		r.b.Block(transcript.BlockText, v, textFlags(text))
		return
	}
	if contains(r.SpokenParts, tag) {
		r.spoken(v.Get(r.PartText))
		return
	}
	if contains(r.Thoughts, tag) {
		var flags transcript.BlockFlags
		for _, key := range r.Signature {
			if s := v.Get(key); s.Kind() == source.String && len(s.Raw()) > 2 {
				flags = transcript.BlockSigned
			}
		}
		r.b.Block(transcript.BlockReasoning, v, flags)
		return
	}
	for i := range r.Copies {
		if contains(r.Copies[i].Tags, tag) {
			return // a call, which is counted where it is listed
		}
	}
	r.b.Block(transcript.BlockMedia, v, 0)
}

// firstCall returns the first of a list or a map of calls.
func firstCall(calls source.Value) source.Value {
	for _, c := range calls.Members() {
		return c
	}
	return calls.First()
}

// written returns the alternative of a path that a key is.
func written(p Lens, key source.Value) string {
	for alt := range p.Alternatives() {
		if key.Is(string(alt)) {
			return string(alt)
		}
	}
	return p.Key()
}

// spelling returns the number of the alternative of a path that is to be found
// in v, 0 for none.
func spelling(p Lens, v source.Value) int {
	n := 0
	for alt := range p.Alternatives() {
		if alt.Leads(v) {
			return n
		}
		n++
	}
	return 0
}

// WriteResult implements Writer.
func (d *sideList) WriteResult(r NewResult) []Field {
	body := d.body(r.Message)
	name := string(d.ResultName.Nth(spelling(d.ResultName, d.body(r.Named))))
	if name == "" && r.ID == "" || (name == "" || r.Name == "") && r.Kind == transcript.KindLegacyFunction {
		return nil // it could not say which call it answers
	}
	if r.Kind == transcript.KindLegacyFunction {
		return d.message(r.Message, Lens(d.LegacyRole), []Field{{name, r.Name}, {d.Content.Key(), r.Text}})
	}
	var out []Field
	if r.ID != "" {
		out = append(out, Field{string(d.ResultID.Nth(spelling(d.Calls, body))), r.ID})
	}
	if (r.ID == "" || r.Named.Exists() || d.Named) && r.Name != "" && name != "" {
		out = append(out, Field{name, r.Name})
	}
	if d.Failed != "" {
		out = append(out, Field{d.Error.Key(), `"` + d.Failed + `"`})
	}
	for _, e := range d.Extra {
		if !body.Get(e.Key).Exists() {
			continue
		}
		raw := e.Raw
		if raw == "" {
			raw = r.Fresh
		}
		out = append(out, Field{e.Key, raw})
	}
	return d.message(r.Message, d.Tool, append(out, Field{d.Content.Key(), r.Text}))
}

// roleSpelling returns the number of the alternative by which the role of v is
// written.
func (d *sideList) roleSpelling(v source.Value) int {
	want, _ := d.role(v)
	n := 0
	for alt := range d.Role.Alternatives() {
		if want.Exists() && alt.In(v).Span() == want.Span() {
			return n
		}
		n++
	}
	return 0
}

// message returns the members of a message with one of the given roles and the
// given members, in the spelling of the message near.
func (d *sideList) message(near source.Value, roles Lens, members []Field) []Field {
	role := `"` + string(roles.Nth(d.roleSpelling(near))) + `"`
	body, key := d.body(near), string(d.Role.Nth(0))
	if body.Span() == near.Span() {
		return append([]Field{{key, role}}, members...)
	}
	// The wrapper is that of the neighbour, but for the role and the body, and
	// without what it says of the neighbour alone.
	inner := members
	if body.Get(key).Exists() {
		inner = append([]Field{{key, `"` + string(roles.Nth(0)) + `"`}}, members...)
	}
	at, _ := d.role(near)
	var out []Field
	for k, val := range near.Members() {
		raw := string(val.Raw())
		switch {
		case val.Span() == body.Span():
			raw = object(inner)
		case val.Span().Contains(at.Span()):
			from, to := at.Span().Start-val.Span().Start, at.Span().End-val.Span().Start
			raw = raw[:from] + role + raw[to:]
		case !contains(d.Envelope, k):
			continue
		}
		out = append(out, Field{k.Str(), raw})
	}
	return out
}

// object returns the object with the given members.
func object(members []Field) string {
	var b strings.Builder
	for i, m := range members {
		sep := ','
		if i == 0 {
			sep = '{'
		}
		b.WriteRune(sep)
		b.WriteString(source.Quote(m.Key) + ":" + m.Raw)
	}
	return b.String() + "}"
}

// WriteText implements Writer.
func (d *sideList) WriteText(t NewText) Text {
	if t.Call {
		if d.Calls == "" {
			return Text{} // its calls are texts
		}
		return Text{Said: t.said()}
	}
	text := "text"
	if d.PartText != "" {
		text = d.PartText
	}
	parts := t.blocks([]source.Value{t.Content}, func(e source.Value) bool { return e.Get("type").Kind() == source.String },
		func(raw string) []Field { return []Field{{"type", `"text"`}, {text, raw}} })
	content := t.said()
	if len(parts) > 1 {
		content = list(parts)
	}
	// What the message says besides stays, but for what only results say.
	body := d.body(t.Message)
	members := instead(body, []Field{{d.Content.Key(), content}}, func(key, _ source.Value) bool {
		return d.Role.Nth(0).begins(key) || d.ResultID.begins(key) || d.ResultIDs.begins(key) || d.ResultName.begins(key) || d.Error.begins(key)
	})
	return Text{Message: d.message(t.Message, d.User, members)}
}

// WriteMessage implements Writer: results are messages of their own.
func (d *sideList) WriteMessage(string, source.Value) []Field { return nil }

// Retagged implements Writer: it is the role that tells kinds apart.
func (d *sideList) Retagged(_, kind transcript.CallKind) string {
	if kind == transcript.KindLegacyFunction {
		return d.LegacyRole
	}
	return string(d.Tool.Nth(0))
}

// Keys implements Writer.
func (d *sideList) Keys(v source.Value) WriterKeys {
	body := d.body(v)
	k := WriterKeys{
		Body: body, Content: d.Content.Key(), ID: d.ID.Key(), Type: string(d.Role.Nth(0)), TextBlock: `{"type":"text","text":"$text"}`,
		ResultID:  string(d.ResultID.Nth(spelling(d.ResultID, body))),
		Calls:     []string{string(d.Calls.Nth(spelling(d.Calls, body)))},
		Assistant: string(d.Assistant.Nth(d.roleSpelling(v))), KeepCalls: d.Lists,
	}
	if d.Invalid != "" {
		k.Calls = append(k.Calls, string(d.Invalid))
	}
	return k
}
