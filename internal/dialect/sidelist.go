package dialect

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// SideList is the driver for messages that list their calls beside the content, and
// whose results are separate messages. Paths start at the body of a message; those
// of a call start at the call.
type SideList struct {
	// Body leads to the object that holds the fields of a message, if that is not
	// the message itself. It has an alternative for each wrapper. One built-in
	// dialect has wrappers, as do many stores that people build themselves.
	Body Lens
	// Envelope lists the keys of the wrapper that an inserted message copies.
	Envelope []string
	// Role leads from the message to its role. The first alternative whose value is
	// a role counts.
	Role Lens `row:"needed"`
	// Roles are the spellings of roles, if the dialect has its own. No other
	// element is then a message.
	Roles []RoleName
	// User, Assistant and Tool are the spellings of roles in new messages, with one
	// alternative for each alternative of Role.
	User      Lens `row:"needed"`
	Assistant Lens `row:"needed"`
	Tool      Lens `row:"needed"`
	// Controls lists roles of bookkeeping elements, which most logs that people
	// build themselves have.
	Controls []string

	Content Lens `row:"needed"`
	// MessageID is an id that all elements of one turn share. It is for
	// user-defined dialects, in which nothing else joins messages.
	MessageID Lens
	Calls     Lens // the list of calls, with an alternative for each spelling
	ID        Lens // of a call
	Function  Lens // of a call: the object with name and arguments
	Name      Lens // of the function
	Args      Lens
	Want      transcript.ArgsConvention
	// ResultID is the id of the call that a result answers, or the list of the ids
	// of all calls that it answers. It has the same alternatives as Calls.
	ResultID   Lens
	ResultName Lens // the tool's name in a result
	// Error marks the result of a failed tool: by the value Failed or, if Failed is
	// empty, by being present.
	Error  Lens
	Failed string
	// CallTag and ResultTag begin a call and a result inside a text, as some models
	// are trained to write them. Such calls cannot be told apart from other text.
	CallTag, ResultTag string
	// Reasoning is the model's reasoning, if it is beside the content.
	Reasoning Lens
	// Thoughts lists the tags of parts that are reasoning, and Signature the keys
	// of fields that sign such a part.
	Thoughts, Signature []string
	// Other lists further fields that count as content. Without them, messages with
	// such content would be reported as empty.
	Other []Lens
}

// A SideListDriver reads and writes what a SideList describes.
type SideListDriver struct {
	*SideList
	extra  sideExtra
	once   sync.Once
	lenses sideLenses
}

// NewSideList returns the driver for a row.
func NewSideList(row *SideList) *SideListDriver { return &SideListDriver{SideList: row} }

// A sideExtra lists the fields that only hooks look at.
type sideExtra struct {
	// more leads to calls that are not in the list of calls. A single call is an object.
	more   Lens
	number Lens   // of a function
	also   []Lens // of a message
}

// A sideLenses says how the fields of messages and calls are read, each in one pass.
type sideLenses struct {
	flat    bool    // the role is one of the fields
	message *Lenses // the slots of a message
	alsoAt  int     // the slot of the first lens in also
	call    *Lenses // id, function, name and arguments
	called  *Lenses // of a function: name, arguments and number
	// ids and resultIDs are the spellings of the ids of calls and results. Their
	// slots come after the other fields.
	ids, resultIDs spellings
}

// Slots of the fields that are read of every message.
const (
	slotContent = iota
	slotMessageID
	slotCalls
	slotResultID
	slotResultName
	slotError
	slotReasoning
	slotMore
	slotRole // only used if the role is beside the other fields
	slots
)

// compiled returns the lenses, which are made on first use.
func (d *SideListDriver) compiled() *sideLenses {
	d.once.Do(d.compile)
	return &d.lenses
}

func (d *SideListDriver) compile() {
	p := &d.lenses
	var role Lens
	if p.flat = d.flatRole(); p.flat {
		role = d.Role
	}
	paths := append([]Lens{
		d.Content, d.MessageID, d.Calls, d.ResultID, d.ResultName, d.Error, d.Reasoning, d.extra.more, role,
	}, d.Other...)
	p.resultIDs = spellingsOf(d.ResultID, len(paths))
	paths = append(paths, p.resultIDs.alts...)
	p.alsoAt = len(paths)
	p.message = NewLenses(slices.Concat(paths, d.extra.also)...)
	call := []Lens{d.ID, d.Function, d.Name, d.Args}
	p.ids = spellingsOf(d.ID, len(call))
	p.call = NewLenses(slices.Concat(call, p.ids.alts)...)
	p.called = NewLenses(d.Name, d.Args, d.extra.number)
}

// flatRole reports whether the role is beside the other fields of a message.
func (d *SideList) flatRole() bool {
	return d.Body == "" && !strings.ContainsAny(string(d.Role), "|.")
}

// role returns the role of v and its value, or None if v is not a message.
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

// named returns the role that a string names, and whether it is a known role.
func (d *SideList) named(val source.Value) (role transcript.Role, known bool) {
	if val.Kind() != source.String {
		return transcript.RoleNone, false
	}
	if len(d.Roles) == 0 {
		return roleOf(val), true
	}
	if n := first(d.Roles, func(n *RoleName) bool { return val.Is(n.Written) }); n != nil {
		return n.Role, true
	}
	return transcript.RoleNone, false
}

// Skips implements Skipper.
func (d *SideList) Skips(v source.Value) bool {
	if !d.skipsAny() {
		return false
	}
	for alt := range d.Role.Alternatives() {
		if contains(d.Controls, alt.In(v)) {
			return true
		}
	}
	return false
}

func (d *SideList) skipsAny() bool { return len(d.Controls) > 0 }

// Damaged implements Guesser. An object with a type is not a damaged message.
func (d *SideList) Damaged(v source.Value) bool {
	if d.flatRole() && d.stripped(d.Calls.In(v)) {
		_, known := d.named(d.Role.In(v))
		return known
	}
	if !d.flatRole() || v.Kind() != source.Object || isSet(d.Role.In(v)) || v.Get("type").Exists() {
		return false
	}
	return isEmptyObject(v) || d.Content.In(v).Exists() ||
		d.callsIn(d.Calls.In(v)) || d.ResultID.In(v).Kind() == source.String || d.ResultName.Leads(v)
}

// stripped reports whether the first call of a list lacks every field that would
// identify its dialect.
func (d *SideList) stripped(calls source.Value) bool {
	first := firstCall(calls)
	for k := range first.Members() {
		if !k.Is(d.ID.Key()) && !k.Is("type") && !k.Is("index") {
			return false
		}
	}
	return first.Kind() == source.Object
}

// isEmptyObject reports whether v is an empty object.
func isEmptyObject(v source.Value) bool {
	for range v.Members() {
		return false
	}
	return v.Kind() == source.Object
}

// body returns the object that holds the fields of a message. That is the message
// itself if it has content or calls, even if it also has a field with the key of a
// body.
func (d *SideList) body(v source.Value) source.Value {
	if d.Body != "" && !isSet(d.Content.In(v)) && !isSet(d.Calls.In(v)) {
		if body := d.Body.In(v); body.Kind() == source.Object {
			return body
		}
	}
	return v
}

// callsIn reports whether a list or a map of calls has a call of this dialect.
// Other calls in it may be damaged.
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

// isCall reports whether v is a call of this dialect.
func (d *SideList) isCall(v source.Value) bool {
	if d.Name.In(v).Kind() == source.String && (d.Args.In(v).Exists() || d.ID.In(v).Exists()) {
		return true // the call itself has the fields of a function, perhaps without arguments
	}
	if d.Function == "" {
		return false
	}
	return d.Function.In(v).Kind() == source.Object ||
		v.Get("type").Is(d.Function.Key()) && d.ID.In(v).Exists() && !v.Get(d.Name.Key()).Exists()
}

// Reader implements Driver.
func (d *SideListDriver) Reader(b *transcript.Builder) Reader {
	r := d.reader(b)
	return hook(&r)
}

// reader returns a reader that has no hooks yet.
func (d *SideListDriver) reader(b *transcript.Builder) sideListReader {
	return sideListReader{row: d.SideList, lenses: d.compiled(), hooked: hooked{b: b}}
}

type sideListReader struct {
	row *SideList
	hooked
	lenses *sideLenses
	vals   []source.Value
	split  splitTurn
	// said is set if the last assistant message has content and no calls, opened if
	// that content has the tag of a call. They are flags because the message's
	// bytes may be gone by the next message.
	said, opened bool

	now sideMessage
	// numbered is set while the call being read has a function with a number.
	numbered bool
}

// A sideMessage is the message being read.
type sideMessage struct {
	role                          transcript.Role
	body, roleVal, content, calls source.Value
}

// wrong reports whether the message's role must not make calls.
func (m *sideMessage) wrong() bool { return mustNotCall(m.role) }

// mustNotCall reports whether messages of a role must not make calls.
func mustNotCall(role transcript.Role) bool {
	return role == transcript.RoleUser || role == transcript.RoleSystem || role == transcript.RoleTool
}

// otherShape reports whether a message that must not make calls has a list of objects in
// the place of calls, none of which has the fields of one. Some programs store the results of
// several calls that way.
func (d *SideList) otherShape(role transcript.Role, answers, calls source.Value) bool {
	return mustNotCall(role) && !isSet(answers) && d.Calls != "" && !strings.Contains(string(d.Calls), ".") && calls.Kind() == source.Array &&
		calls.First().Kind() == source.Object && !d.callsIn(calls) && !d.stripped(calls)
}

// answersText reports whether the current tool message answers a call that the
// assistant wrote as text. Some models are trained to call tools only that way, and
// such calls cannot be told apart from other text.
func (r *sideListReader) answersText(content source.Value) bool {
	if id := r.vals[slotResultID]; id.Kind() == source.String || id.First().Exists() {
		return false
	}
	return r.opened || r.opens(content, r.row.ResultTag)
}

// opens reports whether a text, or one of its parts, has an opening tag.
func (r *sideListReader) opens(text source.Value, tag string) bool {
	switch text.Kind() {
	case source.String:
		raw := text.Raw()
		// Few texts contain the first byte of a tag, plain or escaped, so few need
		// decoding.
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

// escapeOf returns the prefix that all escapes of characters with first byte c
// share.
func escapeOf(c byte) []byte {
	switch {
	case c < ' ', c == '"', c == '\\', c == '/':
		return []byte(`\`)
	case c < utf8.RuneSelf:
		return []byte(`\u00`)
	}
	return []byte(`\u`)
}

// Read implements Reader.
func (r *sideListReader) Read(v source.Value) { r.element(v, r.read) }

func (r *sideListReader) read(v source.Value) {
	b := r.b
	body := r.row.body(v)
	if body.Span() != v.Span() {
		b.Fields(v, nil, nil)
	}
	r.vals = r.lenses.message.Read(b, body)
	var roleVal source.Value
	var role transcript.Role
	if !r.lenses.flat {
		roleVal, role = r.row.role(v)
	} else if named, known := r.row.named(r.vals[slotRole]); known {
		roleVal, role = r.vals[slotRole], named
	}
	content, calls, more := r.vals[slotContent], r.vals[slotCalls], r.vals[slotMore]
	if !roleVal.Exists() {
		roleVal, role = r.row.Role.In(v), transcript.RoleOther
		if !roleVal.Exists() || roleVal.Kind() == source.Null {
			role = transcript.RoleNone
		}
	}
	// Some programs use another role for the model, and some messages have no role.
	// A message that makes calls is the assistant's.
	shaped := !r.row.otherShape(role, r.vals[slotResultID], calls)
	makes := firstCall(calls).Exists() && shaped || more.Kind() == source.Object
	switch {
	case makes && (role == transcript.RoleOther || role == transcript.RoleNone):
		role = transcript.RoleAssistant
	case role == transcript.RoleNone && r.lenses.flat && r.vals[slotResultID].Kind() == source.String:
		role = transcript.RoleTool
	}
	m := b.Begin(v, roleVal, role, r.split.turn(role, r.vals[slotMessageID], role == transcript.RoleUser))
	if reasoning := r.vals[slotReasoning]; reasoning.Exists() && !hollow(reasoning) {
		b.Block(transcript.BlockReasoning, reasoning, 0)
	}
	if !shaped {
		m.Flags |= transcript.MessageOtherShape
		r.said, r.opened = false, false
		return
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
		r.said, r.opened = !hollow(content), r.opens(content, r.row.CallTag)
	case role != transcript.RoleTool:
		r.said, r.opened = false, false
	}
	// A list of calls without a valid call still counts as content.
	full := !hollow(content) || !hollow(calls) || !hollow(more) || role == transcript.RoleTool
	for _, other := range r.vals[slots : slots+len(r.row.Other)] {
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
		r.readCall(c, r.row.Want, wrong)
	}
	for _, c := range calls.Members() { // some programs write a map, by index
		if isSet(c) {
			r.readCall(c, r.row.Want, wrong)
		}
	}
}

func (r *sideListReader) readCall(v source.Value, want transcript.ArgsConvention, wrong bool) {
	f := r.lenses.call.Read(r.b, v)
	id, function, name, args := r.lenses.ids.pick(f, f[0]), f[1], f[2], f[3]
	call := transcript.Call{ID: r.b.Token(id, v.Span()), WrongRole: wrong}
	r.callAliases(int32(len(r.b.Conv.Calls)), v, f, id)
	owner := v
	r.numbered = false
	if function.Kind() == source.Object {
		g := r.lenses.called.Read(r.b, function)
		owner, name, args, r.numbered = function, g[0], g[1], isSet(g[2])
	}
	call.Name = r.b.Name(name, owner.Span())
	if r.row.Function != "" && owner.Span() == v.Span() && name.Exists() {
		want = transcript.ArgsWantAny // such calls are not sent to the provider in this form
	}
	setArgs(r.b, &call, args, want)
	r.addCall(v, call, 0)
}

// spellings are the alternatives of an id, each with its slot.
type spellings struct {
	alts []Lens
	lo   int
}

// spellingsOf returns the alternatives of an id, with slots from lo on. There are
// none if p has a single alternative.
func spellingsOf(p Lens, lo int) spellings {
	if strings.IndexByte(string(p), '|') < 0 {
		return spellings{}
	}
	return spellings{slices.Collect(p.Alternatives()), lo}
}

// pick returns the value of the first alternative that is not null. If there is
// none, it returns got.
func (s *spellings) pick(vals []source.Value, got source.Value) source.Value {
	for i := range s.alts {
		if id := vals[s.lo+i]; id.Exists() && id.Kind() != source.Null {
			return id
		}
	}
	return got
}

// others yields the ids in other alternatives than the one that counts, each with
// its key.
func (s *spellings) others(vals []source.Value, id source.Value) iter.Seq2[string, source.Value] {
	return func(yield func(string, source.Value) bool) {
		for i, alt := range s.alts {
			other := vals[s.lo+i]
			if isSet(other) && other.Kind() != source.Array && other.Span() != id.Span() && !yield(alt.Key(), other) {
				return
			}
		}
	}
}

// callAliases notes the other ids of a call.
func (r *sideListReader) callAliases(call int32, v source.Value, f []source.Value, id source.Value) {
	c := r.b.Conv
	for key, other := range r.lenses.ids.others(f, id) {
		t := transcript.TokenOf(other, v.Span())
		c.Aliases = append(c.Aliases, transcript.Alias{Call: call, Result: -1, ID: t})
		c.Copies = append(c.Copies, transcript.Copy{Call: call, Block: v.Span(), ID: t, IDKey: key, Name: transcript.Token{Span: v.Span()}})
	}
}

func (r *sideListReader) results(v, body source.Value) {
	res := transcript.Result{Name: r.b.Name(r.vals[slotResultName], body.Span())}
	res.Hold(r.vals[slotContent])
	if failed := r.vals[slotError]; failed.Exists() && failed.Kind() != source.Null {
		res.Error = r.row.Failed == "" || writes(failed, r.row.Failed)
	}
	id := r.lenses.resultIDs.pick(r.vals, r.vals[slotResultID])
	if id.Kind() == source.Array && id.First().Exists() {
		for _, one := range id.Present() {
			res.ID = r.b.Token(one, v.Span())
			r.addResult(v, res)
		}
		return
	}
	if id.Kind() == source.Array {
		id = source.Value{}
	}
	res.ID = r.b.Token(id, body.Span())
	for _, other := range r.lenses.resultIDs.others(r.vals, id) {
		r.b.Conv.Aliases = append(r.b.Conv.Aliases, transcript.Alias{
			Call: -1, Result: int32(len(r.b.Conv.Results)), ID: transcript.TokenOf(other, body.Span()),
		})
	}
	r.addResult(v, res)
}

func (r *sideListReader) text(content source.Value) { r.texts(content, 0, r.part) }

func (r *sideListReader) part(v source.Value) {
	text := v.Get("text")
	tag := v.Get("type")
	if text.Kind() == source.String {
		r.b.Block(transcript.BlockText, v, textFlags(text))
		return
	}
	if contains(r.row.Thoughts, tag) {
		var flags transcript.BlockFlags
		for _, key := range r.row.Signature {
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

// firstCall returns the first call of a list or a map.
func firstCall(calls source.Value) source.Value {
	for _, c := range calls.Members() {
		if isSet(c) {
			return c
		}
	}
	return calls.First()
}

// spelling returns the index of the first alternative of p that leads to a value in
// v, or 0.
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
		return nil // the result could not name its call
	}
	if r.ID != "" && !r.Named.Exists() || name == "" {
		r.Name = "" // the id suffices
	}
	failed := ""
	if d.Failed != "" {
		failed = `"` + d.Failed + `"`
	}
	return d.message(r.Message, d.Tool, given(
		Field{string(d.ResultID.Nth(spelling(d.Calls, body))), r.ID}, Field{name, r.Name}, Field{d.Error.Key(), failed}, Field{d.Content.Key(), r.Text},
	))
}

// roleSpelling returns the index of the alternative of Role that v uses.
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

// message returns the fields of a message with one of the given roles and the given
// fields, in the spelling of the message near.
func (d *SideList) message(near source.Value, roles Lens, members []Field) []Field {
	role := `"` + string(roles.Nth(d.roleSpelling(near))) + `"`
	body, key := d.body(near), string(d.Role.Nth(0))
	if body.Span() == near.Span() {
		return append([]Field{{key, role}}, members...)
	}
	// The wrapper copies the neighbour's, with its own role and body, and only with
	// the fields of Envelope.
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

// object returns a JSON object with the given fields.
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
			return Text{} // calls are texts
		}
		return Text{Said: t.joined()}
	}
	body := d.body(t.Message)
	t.keep(body, d.Error.begins, t.Content)
	content := t.content(t.blocks([]source.Value{t.Content}, hasType, textBlock))
	// The other fields of the message are kept, except those that only results
	// have.
	members := replaceFields(body, []Field{{d.Content.Key(), content}}, func(key, _ source.Value) bool {
		return d.Role.Nth(0).begins(key) || d.ResultID.begins(key) || d.ResultName.begins(key) || d.Error.begins(key)
	})
	return Text{Message: d.message(t.Message, d.User, members)}
}

// SaysMore reports whether a message has content in other fields.
func (d *SideList) SaysMore(v source.Value) bool {
	body := d.body(v)
	return slices.ContainsFunc(d.Other, func(l Lens) bool { return !hollow(l.In(body)) })
}

// Split implements Splitter. The elements of the list have the fields of results, or the message
// has their contents in the same order. All else in the message is about none of them.
func (d *SideList) Split(message source.Value) [][]Field {
	var out [][]Field
	body := d.body(message)
	var beside []source.Value // the contents, if the message has one for each
	for _, e := range d.Content.In(body).Elements() {
		beside = append(beside, e)
	}
	for i, e := range d.Calls.In(body).Elements() {
		id, name, content := d.ResultID.In(e), d.ResultName.In(e), d.Content.In(e)
		if !content.Exists() && i < len(beside) {
			content = beside[i]
		}
		if !content.Exists() || !isSet(id) && !isSet(name) {
			return nil
		}
		var fields []Field
		if isSet(id) {
			fields = append(fields, Field{string(d.ResultID.Nth(spelling(d.Calls, body))), string(id.Raw())})
		}
		if isSet(name) {
			fields = append(fields, Field{string(d.ResultName.Nth(0)), string(name.Raw())})
		}
		out = append(out, d.message(message, d.Tool, append(fields, Field{d.Content.Key(), string(content.Raw())})))
	}
	return out
}

// Retagged implements Writer. The role names the kind of a result.
func (d *SideList) Retagged(_, _ transcript.CallKind) string { return string(d.Tool.Nth(0)) }

// Keys implements Writer.
func (d *SideList) Keys(v source.Value) WriterKeys {
	body := d.body(v)
	id := spelling(d.ResultID, body)
	if d.ResultID.In(body).Kind() == source.Array {
		id = 0 // a written result has no list of ids
	}
	return WriterKeys{
		Body: body, Content: d.Content.Key(), ID: d.ID.Key(), Type: string(d.Role.Nth(0)), TextBlock: `{"type":"text","text":"$text"}`,
		ResultID:  string(d.ResultID.Nth(id)),
		Calls:     []string{string(d.Calls.Nth(spelling(d.Calls, body)))},
		Assistant: string(d.Assistant.Nth(d.roleSpelling(v))),
	}
}
