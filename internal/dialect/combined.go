package dialect

import (
	"iter"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Combined is the driver for messages in which one record holds a call and its
// result.
type Combined struct {
	// Plain lists the fields that a message without calls has.
	Plain []Lens
	// Role is the role of a message, the assistant if it is absent. Roles are
	// additional spellings. An element with any other role is ignored.
	Role  Lens
	Roles []RoleName
	// Turn is a value that the messages of one turn share. Two built-in dialects
	// have it. Nothing else joins messages.
	Turn Lens
	Text Lens // a text, or a list of parts with one
	// Records describe the places of calls. A call that an earlier place also has
	// is a copy.
	Records []Records `row:"needed"`
	// Results describes results in elements of their own, apart from the calls.
	Results ResultList
	// Aborted recognizes messages whose calls were aborted. One condition is
	// enough.
	Aborted []*evidence.Cond
	// NoResultTools lists tools that never have a result.
	NoResultTools []string `toml:"needless"`
}

// Records describe a list of records of calls, or a single record.
type Records struct {
	In  Lens
	Tag Lens // the type of an element; "" if all elements are calls
	// Calls lists the tags of calls. A "*" at the end of a tag stands for the
	// tool's name.
	Calls []string
	// Text, Reasoning and Step are the tags of other elements. At a Step the model
	// goes on.
	Text, Reasoning, Step string
	// Record leads from an element to its record.
	Record Lens
	ID     Lens
	Name   Lens `row:"needed"`
	Args   Lens
	Want   transcript.ArgsConvention
	// Free is set if arguments are free text. Few built-in dialects have such
	// tools.
	Free bool
	// State is the state of the call, spelled as in States.
	State  Lens
	States []StateName
	// Result is the content of the result, and Failure that of a failed one.
	Result, Failure Lens
	// Apart is set if results are in elements of their own, except those in the record of
	// their call.
	Apart bool
	// Answered is set if only a call with a Result counts as answered, whatever its
	// State. Two built-in dialects write the state first.
	Answered bool
	// ByProvider is true on a call that the provider runs. Two built-in dialects
	// have it.
	ByProvider Lens `toml:"server"`
	// Answer lists the settings that mark a call as answered.
	Answer []Setting
	// AsText is the stencil of an element that replaces a record with text. It is
	// empty if the dialect has no such element.
	AsText Stencil
}

// A ResultList describes results in elements of their own, which name their calls.
type ResultList struct {
	In  Lens // a list of results, or one result
	Has Lens // a field that every result has
	// Results have no id if ID is empty. Error is present on a failed result.
	ID, Name, Payload Lens
	Error             Lens
	// Unnamed is set if a result need not name its call. Two built-in dialects have
	// such results, as do formats without ids.
	Unnamed bool
}

// A StateName is a dialect's name for a state.
type StateName struct {
	Written string `row:"needed"`
	State   transcript.CallState
	// Ended is set if the state says how the call ended but not that it was
	// answered. A repair must keep such a state.
	Ended bool
	// Answer replaces the Answer of Records in this state.
	Answer []Setting
}

// A Setting is a field of a record that is set when its call gets a result.
type Setting struct {
	To Lens `row:"needed"`
	// Raw is the value. "$text" stands for the text of the result, "$id" and
	// "$name" for those of the call.
	Raw Template `row:"needed"`
	// Keep leaves an existing value that is not null.
	Keep bool
}

// member returns the value at the end of a path, or None for an empty path.
func member(p Lens, v source.Value) source.Value {
	if p == "" {
		return source.Value{}
	}
	return p.In(v)
}

// leadsTo reports whether all lenses lead to a value in v.
func leadsTo(v source.Value, lenses []Lens) bool {
	return !slices.ContainsFunc(lenses, func(l Lens) bool { return !isSet(l.In(v)) })
}

func (d *Combined) roleOf(v source.Value) transcript.Role {
	if !isSet(v) {
		return transcript.RoleAssistant
	}
	return roleIn(d.Roles, v)
}

// elements yields the elements of v that may be calls, and those between them. An
// object in place of the list is a single call only if it has an id or a name.
func (rs *Records) elements(v source.Value) iter.Seq[source.Value] {
	list := rs.In.In(v)
	if rs.In != "" && list.Kind() == source.Object && !isSet(rs.ID.In(list)) && !isSet(rs.Name.In(list)) {
		return func(func(source.Value) bool) {}
	}
	return listed(list)
}

// elements yields the elements of v that may be results.
func (a *ResultList) elements(v source.Value) iter.Seq[source.Value] {
	if a.ID == "" && a.Name == "" {
		return func(func(source.Value) bool) {}
	}
	return listed(a.In.In(v))
}

// listed yields the elements of a list, or a single object in place of the list.
func listed(list source.Value) iter.Seq[source.Value] {
	return func(yield func(source.Value) bool) {
		if list.Kind() == source.Object {
			yield(list)
			return
		}
		for _, e := range list.Present() {
			if !yield(e) {
				return
			}
		}
	}
}

// record returns the record of an element that is a call, and its tag.
func (rs *Records) record(e source.Value) (rec, tag source.Value, ok bool) {
	if e.Kind() != source.Object {
		return rec, tag, false
	}
	if rs.Tag != "" {
		tag = rs.Tag.In(e)
		if _, ok := rs.nameIn(tag); !ok {
			return rec, tag, false
		}
	}
	rec = rs.Record.In(e)
	if rs.In == "" && rs.Tag == "" && !rs.decisive(rec) {
		return rec, tag, false // the message itself, not a call
	}
	return rec, tag, rec.Kind() == source.Object
}

// result reports whether an element is a result.
func (a *ResultList) result(e source.Value) bool {
	return e.Kind() == source.Object && (a.Has == "" || isSet(a.Has.In(e)))
}

// tagged reports whether a tag is in the list. An entry that ends in "*" matches
// any ending.
func tagged(tags []string, tag source.Value) bool {
	return slices.ContainsFunc(tags, func(t string) bool {
		prefix, open := strings.CutSuffix(t, "*")
		return !open && writes(tag, t) || open && strings.HasPrefix(tag.Str(), prefix)
	})
}

// nameIn reports whether a tag is that of a call, and returns the tool's name in
// it.
func (rs *Records) nameIn(tag source.Value) (name string, ok bool) {
	for _, t := range rs.Calls {
		prefix, open := strings.CutSuffix(t, "*")
		switch {
		case !open && tag.Is(t):
			return "", true
		case open && tag.Kind() == source.String && strings.HasPrefix(string(tag.Raw()[1:]), prefix):
			return string(tag.Raw()[1+len(prefix) : len(tag.Raw())-1]), true
		}
	}
	return "", false
}

// decisive reports whether a record has the fields that only a call has: its id
// and, if no tag identifies it, its name and arguments.
func (rs *Records) decisive(rec source.Value) bool {
	if rs.Tag != "" {
		return isSet(rs.ID.In(rec))
	}
	return isSet(rs.ID.In(rec)) && isSet(rs.Name.In(rec)) && isSet(rs.Args.In(rec))
}

// state returns the state that a record names, or nil if it is absent or unknown.
func (rs *Records) state(rec source.Value) *StateName {
	v := member(rs.State, rec)
	return first(rs.States, func(s *StateName) bool { return writes(v, s.Written) })
}

// Reader implements Driver.
func (d *Combined) Reader(b *transcript.Builder) Reader {
	r := d.reader(b)
	return hook(&r)
}

// reader returns a reader that has no hooks yet.
func (d *Combined) reader(b *transcript.Builder) combinedReader {
	return combinedReader{
		row: d, hooked: hooked{b: b}, made: map[string]int32{}, answered: map[string]int32{}, noResult: map[string]int32{},
	}
}

type combinedReader struct {
	row *Combined
	hooked
	made map[string]int32 // the message's calls by raw id, the first of each
	// answered holds the calls whose record has a result, by raw id, until another
	// call reuses the id. Another result for such a call is a copy.
	answered map[string]int32
	// noResult holds the calls that need no result, by raw id.
	noResult map[string]int32
	// strict is set if the agent sends only what the state of a call names: the Result of a call that
	// is done, and the Failure of one that failed.
	strict bool
	// resent is set if the agent sends a result in an element of its own besides the one in the
	// record of its call. Otherwise one of them is a copy. Then resent describes the list in the
	// record of a call, in which other results may be too.
	resent *ResultList
}

// Read implements Reader.
func (r *combinedReader) Read(v source.Value) { r.element(v, r.read) }

func (r *combinedReader) read(v source.Value) {
	r.b.Fields(v, nil, nil)
	from := len(r.b.Conv.Messages)
	r.message(v)
	if evidence.AnyHolds(r.row.Aborted, v) {
		flagMessages(r.b.Conv, from, transcript.MessageAborted)
	}
}

// flagMessages flags the messages from index from on.
func flagMessages(c *transcript.Conversation, from int, flags transcript.MessageFlags) {
	for i := from; i < len(c.Messages); i++ {
		c.Messages[i].Flags |= flags
	}
}

// clearCalls clears the calls of the previous message.
func (r *combinedReader) clearCalls() {
	if len(r.made) > 0 { // a cleared map would keep its size
		r.made = map[string]int32{}
	}
}

// message reads an element.
func (r *combinedReader) message(v source.Value) {
	b := r.b
	roleVal := member(r.row.Role, v)
	role := r.row.roleOf(roleVal)
	if role == transcript.RoleOther {
		return
	}
	m := b.Begin(v, roleVal, role, r.row.Turn.name(v))
	if role == transcript.RoleUser {
		m.Flags |= transcript.MessageTyped
	}
	r.clearCalls()
	at := len(b.Conv.Calls)
	r.text(member(r.row.Text, v))
	for i := range r.row.Records {
		r.records(v, &r.row.Records[i], role)
	}
	if r.resent != nil {
		r.others(v)
	}
	results := len(b.Conv.Results)
	calls := len(b.Conv.Calls)
	for e := range r.row.Results.elements(v) {
		if e.Span() == v.Span() && (calls > at || r.row.Results.ID != "" && !isSet(r.row.Results.ID.In(e))) {
			continue // such an element is a message, not a result
		}
		r.result(e, calls > at)
	}
	if len(b.Conv.Results) > results && calls == at {
		m := b.Message()
		m.Role = transcript.RoleTool
		m.Flags &^= transcript.MessageTyped | transcript.MessagePlainRole
	}
	if b.Message().Void() && len(r.row.Plain) > 0 && leadsTo(v, r.row.Plain) {
		b.Message().Flags |= transcript.MessageEmpty
	}
}

func (r *combinedReader) text(v source.Value) {
	if v.Kind() == source.String && hollow(v) {
		return
	}
	r.texts(v, 0, func(part source.Value) {
		if part.Get("text").Kind() == source.String || !r.pairs(part) {
			r.typed(part, transcript.BlockOther, 0)
		}
	})
}

// pairs reports whether a part of a text is also read as a call or a result.
func (r *combinedReader) pairs(part source.Value) bool {
	is := r.row.Results.result(part) && r.row.Results.In == r.row.Text
	for i := range r.row.Records {
		_, _, record := r.row.Records[i].record(part)
		is = is || record && r.row.Records[i].In == r.row.Text
	}
	return is
}

// records reads a list of records and the elements between them.
func (r *combinedReader) records(v source.Value, rs *Records, role transcript.Role) {
	first := len(r.b.Conv.Calls)
	for e := range rs.elements(v) {
		rec, tag, ok := rs.record(e)
		if ok {
			r.call(v, e, rec, tag, rs, role)
			continue
		}
		switch {
		case rs.Step != "" && tag.Is(rs.Step):
			for i := first; i < len(r.b.Conv.Calls); i++ {
				if s := &r.b.Conv.Calls[i].State; *s == transcript.CallOpen || *s == transcript.CallWaiting {
					*s = transcript.CallPassed
				}
			}
		case rs.Text != "" && tag.Is(rs.Text):
			r.b.Fields(e, nil, nil)
			r.b.Block(transcript.BlockText, e, textFlags(e.Get("text")))
			continue
		case rs.Reasoning != "" && tag.Is(rs.Reasoning):
			r.b.Block(transcript.BlockReasoning, e, 0)
			continue
		}
		if rs.Tag != "" && e.Span() != v.Span() {
			r.b.Block(transcript.BlockOther, e, 0)
		}
	}
}

// call reads the call in the record rec of element e, in message v.
func (r *combinedReader) call(v, e, rec, tag source.Value, rs *Records, role transcript.Role) {
	b := r.b
	main := rs == &r.row.Records[0]
	if rs.In != "" {
		b.Fields(rec, nil, nil)
	}
	id := member(rs.ID, rec)
	if id.Kind() == source.String && len(id.Raw()) > 2 {
		first, again := r.made[string(id.Raw())]
		switch {
		case again && !main:
			r.noteCopy(first, rs.In.In(v), e, rec, rs)
			return
		case !again:
			r.made[string(id.Raw())] = int32(len(b.Conv.Calls))
		}
	} else if !main && len(r.made) > 0 {
		return // a copy that does not name its call
	}
	call := transcript.Call{
		ID: r.b.Token(owned(rec, rs.ID, id)), Name: r.b.Name(rs.Name.In(rec), e.Span()),
		WrongRole: role == transcript.RoleUser || role == transcript.RoleSystem,
	}
	if name, ok := rs.nameIn(tag); ok && name != "" && !isSet(rs.Name.In(rec)) {
		call.Name = transcript.Token{Raw: `"` + name + `"`, Span: tag.Span()}
		call.NameInTag = true
	}
	apart := rs.Apart && !isSet(member(rs.Result, rec))
	switch {
	case member(rs.ByProvider, rec).True():
		call.Answer = transcript.AnswerProviderRecord
	case slices.Contains(r.row.NoResultTools, call.Name.Text()):
		call.Answer = transcript.AnswerNone
	case !apart:
		call.Answer = transcript.AnswerOwnRecord
	case rs.ID == "":
		call.Answer = transcript.AnswerByPosition
	}
	if args := member(rs.Args, rec); rs.Free {
		setText(&call, args)
	} else {
		setArgs(b, &call, args, rs.Want)
	}
	defer r.noteSecondID(int32(len(b.Conv.Calls)), e, rec, rs)
	delete(r.answered, call.ID.Raw)
	if apart {
		if call.Answer == transcript.AnswerNone {
			r.noResult[call.ID.Raw] = int32(len(b.Conv.Calls))
		}
		b.Call(e, call, 0)
		return
	}
	state := transcript.CallOpen
	said := rs.state(rec)
	if said != nil {
		state = said.State
	}
	payload := rs.payload(rec, state)
	if r.resent != nil {
		if own := r.resent.own(rec, call.ID.Raw); own.Exists() {
			payload = r.resent.Payload.In(own)
		}
	}
	answered := payload.Exists() && payload.Kind() != source.Null
	switch {
	case r.strict && !rs.proves(rec, state):
		call.Held = answered
		state = transcript.CallOpen
	case said == nil && answered:
		state = transcript.CallDone
	case rs.Answered && answered && state != transcript.CallFailed:
		state = transcript.CallDone
	case rs.Answered && !answered && (state == transcript.CallDone || state == transcript.CallFailed):
		state = transcript.CallOpen
	}
	call.State = state
	var res *transcript.Result
	if state == transcript.CallDone || state == transcript.CallFailed {
		res = &transcript.Result{ID: call.ID, Name: call.Name, Error: state == transcript.CallFailed}
		res.Hold(payload)
		r.answered[call.ID.Raw] = int32(len(b.Conv.Calls))
		if call.Answer == transcript.AnswerNone {
			call.Answer = transcript.AnswerOwnRecord // a call that needs no result may still have one
		}
	}
	b.Combined(e, call, res)
}

// noteCopy notes that an element of a list is a copy of a call.
func (r *combinedReader) noteCopy(call int32, list, e, rec source.Value, rs *Records) {
	c := r.b.Conv
	cp := transcript.Copy{Call: call, List: list.Span(), Block: e.Span(), ID: transcript.TokenOf(rs.ID.In(rec), rec.Span()), IDKey: rs.ID.Key()}
	if !c.Calls[call].NameInTag {
		cp.Name = transcript.TokenOf(rs.Name.In(rec), rec.Span())
	}
	c.Copies = append(c.Copies, cp)
}

// noteSecondID notes a second copy of a call's id in its record.
func (r *combinedReader) noteSecondID(call int32, e, rec source.Value, rs *Records) {
	if strings.IndexByte(string(rs.ID), '|') < 0 {
		return
	}
	c := r.b.Conv
	id := c.Calls[call].ID
	for alt := range rs.ID.Alternatives() {
		if other := alt.In(rec); other.Exists() && other.Span() != id.Span && string(other.Raw()) == id.Raw {
			c.Copies = append(c.Copies, transcript.Copy{
				Call: call, Block: e.Span(), ID: transcript.TokenOf(other, rec.Span()), IDKey: alt.Key(), Name: transcript.Token{Span: rec.Span()},
			})
		}
	}
}

// result reads a result in an element of its own.
func (r *combinedReader) result(e source.Value, called bool) {
	if !r.row.Results.result(e) {
		return
	}
	id := member(r.row.Results.ID, e)
	switch call, repeats := r.answered[string(id.Raw())]; {
	case noID(id) && (r.row.Results.Unnamed && !called || len(r.answered) > 0): // the result names no call
		r.b.Block(transcript.BlockOther, e, 0)
		return
	case repeats && r.resent == nil: // the result repeats the record of its call
		r.b.Block(transcript.BlockOther, e, 0)
		r.b.Conv.Copies = append(r.b.Conv.Copies, transcript.Copy{
			Call: call, Block: e.Span(), ID: transcript.TokenOf(id, e.Span()), IDKey: r.row.Results.ID.Key(), Name: transcript.Token{Span: e.Span()},
		})
		return
	}
	if call, is := r.noResult[string(id.Raw())]; is && !noID(id) {
		r.b.Conv.Calls[call].Answer = transcript.AnswerByID // it has a result after all
		delete(r.noResult, string(id.Raw()))
	}
	res := transcript.Result{
		ID: r.b.Token(owned(e, r.row.Results.ID, id)), Name: r.b.Name(member(r.row.Results.Name, e), e.Span()),
		Error: isSet(member(r.row.Results.Error, e)),
	}
	if (r.row.Results.Unnamed || r.row.Results.ID == "") && noID(id) {
		res.Answer = transcript.AnswerByPosition
	}
	res.Hold(r.row.Results.Payload.In(e))
	r.b.Result(e, res)
}

// own returns the element in the record of a call that is its result, the first one if none names it.
func (a *ResultList) own(rec source.Value, id string) (own source.Value) {
	for e := range a.elements(rec) {
		if !a.result(e) {
			continue
		}
		if string(a.ID.In(e).Raw()) == id {
			return e
		}
		if !own.Exists() {
			own = e
		}
	}
	return own
}

// others reads the results in the records of calls that are not those of the calls.
func (r *combinedReader) others(v source.Value) {
	for i := range r.row.Records {
		rs := &r.row.Records[i]
		for e := range rs.elements(v) {
			rec, _, ok := rs.record(e)
			if !ok {
				continue
			}
			own := r.resent.own(rec, string(rs.ID.In(rec).Raw()))
			for res := range r.resent.elements(rec) {
				if res.Span() != own.Span() && !noID(r.resent.ID.In(res)) {
					r.result(res, true)
				}
			}
		}
	}
}

// IDKey implements IDKeyer.
func (d *Combined) IDKey(message source.Value, at source.Span) string {
	for i := range d.Records {
		rs := &d.Records[i]
		for e := range rs.elements(message) {
			if _, _, ok := rs.record(e); ok && e.Span() == at && rs.ID != "" {
				return rs.ID.Key()
			}
		}
	}
	for e := range d.Results.elements(message) {
		if d.Results.result(e) && e.Span() == at {
			return d.Results.ID.Key()
		}
	}
	return ""
}

// noID reports whether an id is absent, null or empty.
func noID(id source.Value) bool {
	return id.Kind() == source.None || id.Kind() == source.Null || id.Kind() == source.String && len(id.Raw()) <= 2
}

// proves reports whether a record has the content that its state names.
func (rs *Records) proves(rec source.Value, state transcript.CallState) bool {
	return state == transcript.CallDone && isSet(rs.Result.In(rec)) || state == transcript.CallFailed && isSet(rs.Failure.In(rec))
}

// payload returns the content of the result in a record.
func (rs *Records) payload(rec source.Value, state transcript.CallState) source.Value {
	result, failure := rs.Result, rs.Failure
	if state == transcript.CallFailed {
		result, failure = failure, result
	}
	if v := member(result, rec); v.Exists() {
		return v
	}
	return member(failure, rec)
}

// A Member is a field of an object to set.
type Member struct {
	Object source.Value
	Path   []string // from the object
	Raw    string   // the value as JSON
	// Left is set if the old value says that the call is still going on. That value
	// is not recorded content, because it is no longer true.
	Left bool
}

// A StateWriter is a driver that answers a call by changing its record.
type StateWriter interface {
	Writer
	// WriteState returns the fields to set so that a call has text, a JSON value,
	// as its result. They are in the call's record, at a span of the message, and
	// in the copies of that record.
	WriteState(message source.Value, at source.Span, text string) []Member
}

// WriteState implements StateWriter.
func (d *Combined) WriteState(message source.Value, at source.Span, text string) []Member {
	var out []Member
	id := ""
	for i := range d.Records {
		rs := &d.Records[i]
		for e := range rs.elements(message) {
			rec, tag, ok := rs.record(e)
			if !ok {
				continue
			}
			own := string(rs.ID.In(rec).Raw())
			if e.Span() != at && (id == "" || own != id || i == 0) {
				continue
			}
			if !hollow(member(rs.Result, rec)) {
				return nil // there already is a result, whatever the state
			}
			id = own
			sets, goesOn := rs.Answer, false
			if state := rs.state(rec); state != nil {
				goesOn = !state.Ended && state.State != transcript.CallDone && state.State != transcript.CallFailed
				if state.Answer != nil {
					sets = state.Answer
				}
			}
			name := string(rs.Name.In(rec).Raw())
			if inTag, ok := rs.nameIn(tag); ok && inTag != "" && !isSet(rs.Name.In(rec)) {
				name = `"` + inTag + `"`
			}
			values := map[string]string{"$text": text, "$id": own, "$name": name}
			for _, s := range sets {
				if m, ok := s.member(rec, values); ok {
					m.Left = goesOn && s.To.In(rec).Exists() && s.To.In(rec).Span() == rs.State.In(rec).Span()
					out = append(out, m)
				}
			}
		}
	}
	return out
}

// member returns the field that a setting sets, and false if nothing is to be set.
func (s *Setting) member(rec source.Value, values map[string]string) (Member, bool) {
	m := Member{Object: rec, Path: strings.Split(string(s.To), ".")}
	if s.Keep && s.To.Leads(rec) {
		return m, false
	}
	m.Raw = filled(Template(s.Raw), source.NewValue([]byte(s.Raw), 0), values)
	return m, m.Raw != ""
}

// WriteResult implements Writer. Results are part of their call's record.
func (d *Combined) WriteResult(NewResult) []Field { return nil }

// WriteText implements Writer. The text of a record is the whole record, including its result.
func (d *Combined) WriteText(t NewText) Text {
	for i := range d.Records {
		rs := &d.Records[i]
		if _, _, ok := rs.record(t.Element); !ok || rs.AsText.JSON == "" || !rs.In.In(t.Message).Span().Contains(t.Element.Span()) {
			continue
		}
		fields := rs.AsText.write(t.Element, map[string]string{"$text": joinText(t.Label, t.Element)})
		if t.Element.Span() == t.Message.Span() {
			return Text{Message: fields}
		}
		return Text{Blocks: []NewBlock{{Fields: fields}}}
	}
	return Text{}
}

// Keys implements Writer.
func (d *Combined) Keys(v source.Value) WriterKeys {
	rs := &d.Records[0]
	k := WriterKeys{
		Body: v, Content: rs.In.Key(), ID: rs.ID.Key(), ResultID: rs.ID.Key(), Type: rs.Tag.Key(),
		TextBlock: `{"type":"text","text":"$text"}`, Assistant: writtenRole(d.Roles, transcript.RoleAssistant),
	}
	if rs.Tag == "" {
		k.Content, k.Calls = d.Text.Key(), []string{rs.In.Key()}
	}
	return k
}
