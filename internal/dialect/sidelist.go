package dialect

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A SideList is the row of a dialect whose messages list their calls beside the
// content, and whose results are messages of their own. Paths lead from a
// message's body, those of a call from the call.
type SideList struct {
	// Body holds the members of a message where the message itself does not: a
	// dialect with a wrapper of its own has an alternative for each. One built-in
	// dialect has such wrappers, and many stores that people build themselves.
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
	// WeakPlain is set for a dialect that writes plain messages as another does: its
	// claim of them is a weak one. Like OwnRoles, Lacks and ResultNeeds it tells the
	// messages of a dialect that a user defines, in a file of it; built-in dialects
	// have a table of evidence.
	WeakPlain bool `toml:"faint"`
	// OwnRoles are roles that only this dialect writes.
	OwnRoles []string `toml:"own"`
	// Lacks are members that its messages never have.
	Lacks []string `toml:"never"`
	// Controls are roles that mark book-keeping, which most logs have that people make
	// themselves.
	Controls []string

	Content Lens
	// MessageID is the same on all elements of a turn. It is there for dialects that
	// people describe themselves, as nothing else tells that messages are one.
	MessageID Lens
	Calls     Lens // the list of calls, by an alternative for each spelling
	ID        Lens // of a call
	Function  Lens // of a call: the object that holds name and arguments
	Name      Lens // of the function
	Args      Lens
	Want      transcript.ArgsConvention
	// ResultID is of a result, by the alternatives of Calls: an id, or the list of
	// the ids of all calls that it answers.
	ResultID   Lens
	ResultName Lens // repeats the tool's name in a result
	// Error marks a result of a tool that failed: by the value Failed or, where
	// that is empty, by being there.
	Error  Lens
	Failed string
	// ResultNeeds are members of which each result has one at least, for a dialect
	// whose results are like those of another.
	ResultNeeds []Lens `toml:"mark"`
	// CallTag and ResultTag open a call and a result in the words of a text, as
	// models write them that are trained to. Nothing of that can be told from other
	// text.
	CallTag, ResultTag string
	// Reasoning is what the model thought, where it stands beside the content: no
	// dialect that people describe themselves could say so otherwise.
	Reasoning Lens
	// Thoughts are tags of parts that are reasoning; Signature are members of
	// such a part that sign it.
	Thoughts, Signature []string
	// Other are members that are content too. Without them, people who describe a
	// dialect of their own are told that messages are empty which are not.
	Other []Lens

	// more is what the hooks of a dialect's own file ask for of each message: calls
	// that do not stand in the list of calls. One that stands alone is an object.
	more Lens
	// number is what few stacks write of a function, and those hooks ask for of each.
	number Lens
	// also are members of a message that are read for another driver.
	also []Lens

	once   sync.Once
	flat   bool // who speaks is one of the fields
	fields Plan // of a message
	alsoAt int  // the slot of the first of also
	call   Plan // id, function, name and arguments of a call
	called Plan // name, arguments and number of a function
	// ids and resultIDs are the spellings of the ids of calls and results, behind
	// the other fields.
	ids, resultIDs spellings
}

// Slots of the members that are read of every message.
const (
	slotContent = iota
	slotMessageID
	slotCalls
	slotResultID
	slotResultName
	slotError
	slotReasoning
	slotMore
	slotRole // only where who speaks stands beside the rest
	slots
)

// compile makes the plans of what is read of a message and of a call.
func (d *SideList) compile() {
	var role Lens
	if d.flat = d.flatRole(); d.flat {
		role = d.Role
	}
	paths := append([]Lens{
		d.Content, d.MessageID, d.Calls, d.ResultID, d.ResultName, d.Error, d.Reasoning, d.more, role,
	}, d.Other...)
	d.resultIDs = spellingsOf(d.ResultID, len(paths))
	paths = append(paths, d.resultIDs.alts...)
	d.alsoAt = len(paths)
	d.fields.lenses = slices.Concat(paths, d.also)
	call := []Lens{d.ID, d.Function, d.Name, d.Args}
	d.ids = spellingsOf(d.ID, len(call))
	d.call.lenses = slices.Concat(call, d.ids.alts)
	d.called.lenses = []Lens{d.Name, d.Args, d.number}
}

// flatRole reports whether who speaks stands beside the rest of a message.
func (d *SideList) flatRole() bool {
	return d.Body == "" && !strings.ContainsAny(string(d.Role), "|.")
}

// role returns who speaks in v, and how that is written; nothing where v is no
// message.
func (d *SideList) role(v source.Value) (source.Value, transcript.Role) {
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
func (d *SideList) named(val source.Value) (role transcript.Role, known bool) {
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
func (d *SideList) Skips(v source.Value) bool {
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
func (d *SideList) Damaged(v source.Value) bool {
	if d.flatRole() && d.stripped(d.Calls.In(v)) {
		_, known := d.named(d.Role.In(v))
		return known
	}
	if !d.flatRole() || v.Kind() != source.Object || !notGiven(d.Role.In(v)) || v.Get("type").Exists() {
		return false
	}
	return bare(v) || d.Content.In(v).Exists() ||
		d.callsIn(d.Calls.In(v)) || d.ResultID.In(v).Kind() == source.String || d.ResultName.Leads(v)
}

// stripped reports whether of the first of a list of calls nothing is left that
// would tell in which dialect it was written.
func (d *SideList) stripped(calls source.Value) bool {
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

// notGiven reports whether a member is not there, or null.
func notGiven(v source.Value) bool {
	return !v.Exists() || v.Kind() == source.Null
}

// body returns what holds the members of a message: the message itself where they
// stand in it, whatever else is there under the name of a body.
func (d *SideList) body(v source.Value) source.Value {
	if d.Body != "" && notGiven(d.Content.In(v)) && notGiven(d.Calls.In(v)) {
		if body := d.Body.In(v); body.Kind() == source.Object {
			return body
		}
	}
	return v
}

// Reads implements Driver.
func (d *SideList) Reads(v source.Value) evidence.Weight {
	roleVal, role := d.role(v)
	body := d.body(v)
	wrapped := body.Span() != v.Span()
	if !roleVal.Exists() || !wrapped && slices.ContainsFunc(d.Lacks, func(key string) bool { return v.Get(key).Exists() }) {
		return evidence.None
	}
	content, calls := d.Content.In(body), member(d.Calls, body)
	own := contains(d.OwnRoles, roleVal)
	switch first := firstCall(calls); {
	case d.callsIn(calls), own && first.Get(d.ID.Key()).Kind() == source.String:
		return evidence.Decisive
	case first.Kind() == source.Object:
		return evidence.None
	case role == transcript.RoleTool:
		needed := len(d.ResultNeeds) == 0 || slices.ContainsFunc(d.ResultNeeds, func(p Lens) bool { return p.Leads(body) })
		if needed && (content.Exists() || d.ResultID.Leads(body)) {
			return evidence.Decisive
		}
		return evidence.None
	case content.Exists() && (wrapped || own):
		return evidence.Decisive
	case !content.Exists() && calls.Kind() != source.Array:
		return evidence.None
	case d.WeakPlain:
		return evidence.Weak
	}
	return evidence.Plain
}

// callsIn reports whether an element of a list or a map of calls is one of this
// dialect: others of the list may be damaged.
func (d *SideList) callsIn(calls source.Value) bool {
	for _, c := range calls.Present() {
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
func (d *SideList) isCall(v source.Value) bool {
	if d.Name.In(v).Kind() == source.String && (d.Args.In(v).Exists() || d.ID.In(v).Exists()) {
		return true // the call itself has the fields of a function, but for arguments that it can lack
	}
	if d.Function == "" {
		return false
	}
	return d.Function.In(v).Kind() == source.Object ||
		v.Get("type").Is(d.Function.Key()) && d.ID.In(v).Exists() && !v.Get(d.Name.Key()).Exists()
}

// Reader implements Driver.
func (d *SideList) Reader(b *transcript.Builder) Reader {
	r := d.reader(b)
	r.hooks = &r
	return &r
}

// reader returns a reader that lacks its hooks.
func (d *SideList) reader(b *transcript.Builder) sideListReader {
	d.once.Do(d.compile)
	return sideListReader{SideList: d, b: b}
}

// sideHooks are what the reader of a dialect's own file does besides, or instead. Each
// reader is its own hooks, and has those of sideListReader that it does not write anew.
type sideHooks interface {
	// onMessage is called when a message has begun, and reports whether it has read
	// the content.
	onMessage() bool
	// onPart reports whether it has read a part of the content that is neither text nor
	// reasoning.
	onPart(part, tag source.Value) bool
	// What onCall and onResult return is added instead of what was read.
	onCall(v source.Value, call transcript.Call) transcript.Call
	onResult(v source.Value, res transcript.Result) transcript.Result
	// onMore reads the calls of a message that stand alone, or in another list.
	onMore()
}

type sideListReader struct {
	*SideList
	b     *transcript.Builder
	vals  []source.Value
	split splitTurn
	// said is set where the model said something last and made no calls, opened where
	// what it said has the tag of a call. Its bytes may be gone by the next message.
	said, opened bool

	now   sideMessage
	hooks sideHooks
	// numbered is set while a call is read whose function has a number.
	numbered bool
}

func (r *sideListReader) onMessage() bool { return false }

func (r *sideListReader) onPart(_, _ source.Value) bool { return false }

func (r *sideListReader) onCall(_ source.Value, call transcript.Call) transcript.Call { return call }

func (r *sideListReader) onResult(_ source.Value, res transcript.Result) transcript.Result {
	return res
}

func (r *sideListReader) onMore() {}

// A sideMessage is the message that is read.
type sideMessage struct {
	role                          transcript.Role
	body, roleVal, content, calls source.Value
}

// wrong reports whether calls are nothing for who speaks.
func (m *sideMessage) wrong() bool {
	return m.role == transcript.RoleUser || m.role == transcript.RoleSystem || m.role == transcript.RoleTool
}

// answersText reports whether the message of a tool that was read last answers
// what the model called in the words of its text, as models are trained to that
// have no other form for it. Nothing of that can be told from other text.
func (r *sideListReader) answersText(content source.Value) bool {
	if id := r.vals[slotResultID]; id.Kind() == source.String || id.First().Exists() {
		return false
	}
	return r.opened || r.opens(content, r.ResultTag)
}

// opens reports whether a text, or one of the parts that it is made of, has an
// opening tag.
func (r *sideListReader) opens(text source.Value, tag string) bool {
	switch text.Kind() {
	case source.String:
		raw := text.Raw()
		// Few texts have the first byte of a tag, as it is or escaped, and need be decoded.
		return tag != "" && (bytes.IndexByte(raw, tag[0]) >= 0 || bytes.Contains(raw, escapeOf(tag[0]))) &&
			bytes.Contains(r.b.Decoded(raw[1:len(raw)-1]), []byte(tag))
	case source.Array:
		for _, part := range text.Present() {
			if r.opens(part.Get("text"), tag) {
				return true
			}
		}
	}
	return false
}

// escapeOf returns how each escape begins that stands for a character whose first byte is
// c.
func escapeOf(c byte) []byte {
	switch {
	case c < ' ', c == '"', c == '\\', c == '/':
		return []byte(`\`)
	case c < utf8.RuneSelf:
		return []byte(`\u00`)
	}
	return []byte(`\u`)
}

func (r *sideListReader) Read(v source.Value) {
	b := r.b
	body := r.body(v)
	if body.Span() != v.Span() {
		b.Fields(v, nil, nil)
	}
	r.vals = r.fields.Read(b, body)
	var roleVal source.Value
	var role transcript.Role
	if !r.flat {
		roleVal, role = r.role(v)
	} else if named, known := r.named(r.vals[slotRole]); known {
		roleVal, role = r.vals[slotRole], named
	}
	content, calls, more := r.vals[slotContent], r.vals[slotCalls], r.vals[slotMore]
	if !roleVal.Exists() {
		roleVal, role = r.Role.In(v), transcript.RoleOther
		if !roleVal.Exists() || roleVal.Kind() == source.Null {
			role = transcript.RoleNone
		}
	}
	// Some stacks have a role of their own for the model, and some messages name
	// none: what makes calls speaks as the assistant.
	makes := firstCall(calls).Exists() || more.Kind() == source.Object
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
	r.now = sideMessage{role: role, body: body, roleVal: roleVal, content: content, calls: calls}
	taken := r.hooks.onMessage()
	calls = r.now.calls
	switch {
	case taken:
	case role == transcript.RoleTool && !r.answersText(content):
		r.results(v, body)
	default:
		r.text(content)
	}
	switch {
	case role == transcript.RoleAssistant && !makes && !taken:
		r.said, r.opened = !hollow(content), r.opens(content, r.CallTag)
	case role != transcript.RoleTool:
		r.said, r.opened = false, false
	}
	// A list of calls that is none is something all the same.
	full := !hollow(content) || !hollow(calls) || !hollow(more) || role == transcript.RoleTool
	for _, other := range r.vals[slots : slots+len(r.Other)] {
		full = full || !hollow(other)
	}
	if !full {
		markHollow(m, content)
	}
	if calls.Kind() == source.Array && !makes {
		b.Block(transcript.BlockEmptyCalls, calls, 0)
	}
	wrong := r.now.wrong()
	for _, c := range calls.Present() {
		r.readCall(c, r.Want, wrong)
	}
	for _, c := range calls.Members() { // some stacks write a map, by index
		if there(c) {
			r.readCall(c, r.Want, wrong)
		}
	}
}

func (r *sideListReader) readCall(v source.Value, want transcript.ArgsConvention, wrong bool) {
	f := r.call.Read(r.b, v)
	id, function, name, args := r.ids.pick(f, f[0]), f[1], f[2], f[3]
	call := transcript.Call{ID: transcript.TokenOf(id, v.Span()), WrongRole: wrong}
	r.callAliases(int32(len(r.b.Conv.Calls)), v, f, id)
	owner := v
	r.numbered = false
	if function.Kind() == source.Object {
		g := r.called.Read(r.b, function)
		owner, name, args, r.numbered = function, g[0], g[1], there(g[2])
	}
	call.Name = transcript.TokenOf(name, owner.Span())
	if r.Function != "" && owner.Span() == v.Span() && name.Exists() {
		want = transcript.ArgsWantAny // such calls are not sent to the provider as they are
	}
	setArgs(r.b, &call, args, want)
	r.b.Call(v, r.hooks.onCall(v, call), 0)
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
			if there(other) && other.Kind() != source.Array && other.Span() != id.Span() && !yield(alt.Key(), other) {
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

func (r *sideListReader) results(v, body source.Value) {
	res := transcript.Result{Name: transcript.TokenOf(r.vals[slotResultName], body.Span())}
	res.Hold(r.vals[slotContent])
	if failed := r.vals[slotError]; failed.Exists() && failed.Kind() != source.Null {
		res.Error = r.Failed == "" || writes(failed, r.Failed)
	}
	id := r.resultIDs.pick(r.vals, r.vals[slotResultID])
	if id.Kind() == source.Array && id.First().Exists() {
		for _, one := range id.Present() {
			res.ID = transcript.TokenOf(one, v.Span())
			r.b.Result(v, r.hooks.onResult(v, res))
		}
		return
	}
	if id.Kind() == source.Array {
		id = source.Value{}
	}
	res.ID = transcript.TokenOf(id, body.Span())
	for _, other := range r.resultIDs.others(r.vals, id) {
		r.b.Conv.Aliases = append(r.b.Conv.Aliases, transcript.Alias{
			Call: -1, Result: int32(len(r.b.Conv.Results)), ID: transcript.TokenOf(other, body.Span()),
		})
	}
	r.b.Result(v, r.hooks.onResult(v, res))
}

func (r *sideListReader) text(content source.Value) {
	switch content.Kind() {
	case source.String:
		r.b.Block(transcript.BlockText, content, textFlags(content))
	case source.Array:
		for _, part := range content.Present() {
			r.part(part)
		}
	}
}

func (r *sideListReader) part(v source.Value) {
	text := v.Get("text")
	tag := v.Get("type")
	if text.Kind() == source.String {
		r.b.Block(transcript.BlockText, v, textFlags(text))
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
	if r.hooks.onPart(v, tag) {
		return
	}
	r.b.Block(transcript.BlockMedia, v, 0)
}

// firstCall returns the first of a list or a map of calls.
func firstCall(calls source.Value) source.Value {
	for _, c := range calls.Members() {
		if there(c) {
			return c
		}
	}
	return calls.First()
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
func (d *SideList) WriteResult(r NewResult) []Field {
	body := d.body(r.Message)
	name := string(d.ResultName.Nth(spelling(d.ResultName, d.body(r.Named))))
	if name == "" && r.ID == "" {
		return nil // it could not say which call it answers
	}
	var out []Field
	if r.ID != "" {
		out = append(out, Field{string(d.ResultID.Nth(spelling(d.Calls, body))), r.ID})
	}
	if (r.ID == "" || r.Named.Exists()) && r.Name != "" && name != "" {
		out = append(out, Field{name, r.Name})
	}
	if d.Failed != "" {
		out = append(out, Field{d.Error.Key(), `"` + d.Failed + `"`})
	}
	return d.message(r.Message, d.Tool, append(out, Field{d.Content.Key(), r.Text}))
}

// roleSpelling returns the number of the alternative by which the role of v is
// written.
func (d *SideList) roleSpelling(v source.Value) int {
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
func (d *SideList) message(near source.Value, roles Lens, members []Field) []Field {
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
func (d *SideList) WriteText(t NewText) Text {
	if t.Call {
		if d.Calls == "" {
			return Text{} // its calls are texts
		}
		return Text{Said: t.said()}
	}
	parts := t.blocks([]source.Value{t.Content}, func(e source.Value) bool { return e.Get("type").Kind() == source.String },
		func(raw string) []Field { return []Field{{"type", `"text"`}, {"text", raw}} })
	content := t.said()
	if len(parts) > 1 {
		content = list(parts)
	}
	// What the message says besides stays, but for what only results say.
	body := d.body(t.Message)
	members := instead(body, []Field{{d.Content.Key(), content}}, func(key, _ source.Value) bool {
		return d.Role.Nth(0).begins(key) || d.ResultID.begins(key) || d.ResultName.begins(key) || d.Error.begins(key)
	})
	return Text{Message: d.message(t.Message, d.User, members)}
}

// WriteMessage implements Writer: results are messages of their own.
func (d *SideList) WriteMessage(string, source.Value) []Field { return nil }

// Retagged implements Writer: it is the role that tells kinds apart.
func (d *SideList) Retagged(_, _ transcript.CallKind) string { return string(d.Tool.Nth(0)) }

// Keys implements Writer.
func (d *SideList) Keys(v source.Value) WriterKeys {
	body := d.body(v)
	id := spelling(d.ResultID, body)
	if d.ResultID.In(body).Kind() == source.Array {
		id = 0 // no result is given a list
	}
	return WriterKeys{
		Body: body, Content: d.Content.Key(), ID: d.ID.Key(), Type: string(d.Role.Nth(0)), TextBlock: `{"type":"text","text":"$text"}`,
		ResultID:  string(d.ResultID.Nth(id)),
		Calls:     []string{string(d.Calls.Nth(spelling(d.Calls, body)))},
		Assistant: string(d.Assistant.Nth(d.roleSpelling(v))),
	}
}
