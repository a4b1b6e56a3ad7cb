package dialect

import (
	"iter"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Combined is the driver for messages in which a call and its result are states
// of one record.
type Combined struct {
	// Needs are members of which each message has one at least: without any,
	// nothing else is looked at. Like Lacks, Kind, Evidence and OwnRoles they tell the
	// messages of a dialect that a user defines, in a file of it; built-in dialects
	// have a table of evidence.
	Needs []string `toml:"members"`
	// Lacks are members that no message has.
	Lacks []string `toml:"never"`
	// Kind says what an element is; where it is given, one that is none of Kinds
	// is not the dialect's. One that ends in "*" is the beginning of a kind.
	Kind  Lens
	Kinds []string
	// Evidence are sets of paths: only this dialect's messages have all of one.
	Evidence [][]Lens `toml:"marks"`
	// OwnRoles are the ways to write a role that only this dialect has.
	OwnRoles []string `toml:"own"`
	// Plain lead to what a message without calls has, all of it.
	Plain []Lens
	// Role is who speaks; without it the model does. Roles are spellings of its
	// own. What is said in another role than the four is for nobody.
	Role  Lens
	Roles []RoleName
	// Turn is what the messages of one turn share. Two built-in dialects have it,
	// but nothing else tells that messages are one.
	Turn Lens
	Text Lens // a text, or a list of parts with one
	// Records are where the calls stand. A call that an earlier one of them has
	// as well is a copy.
	Records []Records
	// Results are where results stand by themselves, beside the calls.
	Results ResultList
	// Aborted holds where the calls of a message were broken off: any of them.
	Aborted []Cond
	// NoResultTools are tools that are never answered.
	NoResultTools []string `toml:"needless"`
}

// Records are a list of records of calls, or one record.
type Records struct {
	In  Lens
	Tag Lens // says what an element of the list is; "" where all are calls
	// Calls are the tags of calls. One that ends in "*" is the beginning of a
	// tag, which goes on with the tool's name.
	Calls []string
	// Text, Reasoning and Step are tags of other elements; at a Step the model
	// goes on.
	Text, Reasoning, Step string
	// Record leads from the element to the record.
	Record         Lens
	ID, Name, Args Lens
	Want           transcript.ArgsConvention
	// Free is set where arguments are free text: with few built-in dialects, but no
	// call of such a tool could be described without it.
	Free bool
	// State says what became of the call, in the words of States.
	State  Lens
	States []StateName
	// Result is what it was answered with, Failure the same after an error.
	Result, Failure Lens
	// Apart is set where results stand in elements of their own.
	Apart bool
	// Answered is set where only a call with a Result was answered, whatever its
	// State says: two built-in dialects write the state first, as others may.
	Answered bool
	// ByProvider is true on a call that the provider runs. Two built-in dialects have it,
	// but who has such tools cannot do without.
	ByProvider Lens `toml:"server"`
	// Answer is what to set so that a call was answered.
	Answer []Setting
	// AsText is how an element is written that is a text in the place of a record;
	// none where there is no such element.
	AsText Form
}

// A ResultList is where results stand by themselves and name their calls.
type ResultList struct {
	In  Lens // a list of results, or one
	Has Lens // leads to what a result has
	// Without an ID results have none by design. Error is there on a result that
	// is an error, which every other driver lets a row say too.
	ID, Name, Payload Lens
	Error             Lens
	// Unnamed is set where a result need not say which call it answers: two built-in
	// dialects have such results, and whoever keeps no ids.
	Unnamed bool
}

// A StateName is how a dialect writes a state.
type StateName struct {
	Written string
	State   transcript.CallState
	// Ended is set where it says how the call ended, though not that it was answered:
	// two built-in dialects have such a state, and nobody's is to be lost.
	Ended bool
	// Answer is what to set in this state, where that differs.
	Answer []Setting
}

// A Setting is a member of a record that is set when its call gets a result.
type Setting struct {
	To Lens
	// Raw is its value, where "$text" stands for the text of the result, "$id"
	// and "$name" for the call's.
	Raw Template
	// Keep leaves a value that is there already, and is not null: two built-in
	// dialects do, and a repair must not write over what somebody else's row has.
	Keep bool
}

// Reads implements Driver.
func (d *Combined) Reads(v source.Value) evidence.Weight {
	if !hasMember(v, d.Needs) || hasMember(v, d.Lacks) || d.Kind != "" && !tagged(d.Kinds, d.Kind.In(v)) {
		return evidence.None
	}
	if slices.ContainsFunc(d.Records, func(rs Records) bool { return rs.makes(v) }) || d.Results.Has != "" && d.Results.answers(v) ||
		slices.ContainsFunc(d.Evidence, func(set []Lens) bool { return leadsTo(v, set) }) {
		return evidence.Decisive
	}
	if len(d.Plain) == 0 || !leadsTo(v, d.Plain) {
		return evidence.None
	}
	switch role := member(d.Role, v); {
	case contains(d.OwnRoles, role):
		return evidence.Decisive
	case d.roleOf(role) != transcript.RoleOther || d.OwnRoles != nil:
		return evidence.Plain
	}
	return evidence.None
}

// member returns what a path leads to, None for a path that a row leaves empty.
func member(p Lens, v source.Value) source.Value {
	if p == "" {
		return source.Value{}
	}
	return p.In(v)
}

// hasMember reports whether v has a member of one of the names.
func hasMember(v source.Value, names []string) bool {
	for k, val := range v.Members() {
		if contains(names, k) && val.Kind() != source.Null {
			return true
		}
	}
	return false
}

// leadsTo reports whether all lenses lead to something in v.
func leadsTo(v source.Value, lenses []Lens) bool {
	return !slices.ContainsFunc(lenses, func(l Lens) bool { return !there(l.In(v)) })
}

func (d *Combined) roleOf(v source.Value) transcript.Role {
	if !there(v) {
		return transcript.RoleAssistant
	}
	return roleIn(d.Roles, v)
}

// makes reports whether there is a call in v.
func (rs *Records) makes(v source.Value) bool {
	for e := range rs.elements(v) {
		if rec, _, ok := rs.record(e); ok && rs.decisive(rec) {
			return true
		}
	}
	return false
}

// answers reports whether there is a result in v.
func (a *ResultList) answers(v source.Value) bool {
	for e := range listed(a.In.In(v)) {
		if a.result(e) && there(a.ID.In(e)) {
			return true
		}
	}
	return false
}

// elements yields what may be a call, or stands beside calls. An object in the place of
// a list is one that says which or of what.
func (rs *Records) elements(v source.Value) iter.Seq[source.Value] {
	list := rs.In.In(v)
	if rs.In != "" && list.Kind() == source.Object && !there(rs.ID.In(list)) && !there(rs.Name.In(list)) {
		return func(func(source.Value) bool) {}
	}
	return listed(list)
}

// elements yields what may be a result.
func (a *ResultList) elements(v source.Value) iter.Seq[source.Value] {
	if a.ID == "" && a.Name == "" {
		return func(func(source.Value) bool) {}
	}
	return listed(a.In.In(v))
}

// listed yields the elements of a list, or the one object that is there instead.
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
		return rec, tag, false // the message itself, and no call
	}
	return rec, tag, rec.Kind() == source.Object
}

// result reports whether an element is a result.
func (a *ResultList) result(e source.Value) bool {
	return e.Kind() == source.Object && (a.Has == "" || there(a.Has.In(e)))
}

// tagged reports whether a tag is one of a list, or begins like one of it that
// ends in "*".
func tagged(tags []string, tag source.Value) bool {
	return slices.ContainsFunc(tags, func(t string) bool {
		prefix, open := strings.CutSuffix(t, "*")
		return !open && writes(tag, t) || open && strings.HasPrefix(tag.Str(), prefix)
	})
}

// nameIn reports whether a tag is a call's, and returns the name in it.
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

// decisive reports whether a record has what only a call has: its id, and where
// no tag tells its kind its name and arguments too.
func (rs *Records) decisive(rec source.Value) bool {
	if rs.Tag != "" {
		return there(rs.ID.In(rec))
	}
	return there(rs.ID.In(rec)) && there(rs.Name.In(rec)) && there(rs.Args.In(rec))
}

// state returns what a record says of its call, nil where it says nothing in
// words that are known.
func (rs *Records) state(rec source.Value) *StateName {
	v := member(rs.State, rec)
	for i := range rs.States {
		if writes(v, rs.States[i].Written) {
			return &rs.States[i]
		}
	}
	return nil
}

// Reader implements Driver.
func (d *Combined) Reader(b *transcript.Builder) Reader {
	return &combinedReader{Combined: d, b: b, made: map[string]int32{}, answered: map[string]int32{}, noResult: map[string]int32{}}
}

type combinedReader struct {
	*Combined
	b    *transcript.Builder
	made map[string]int32 // the message's calls by their ids as written, the first of each
	// answered are the calls whose record has a result, by their ids as written,
	// until another call uses the id; what else has one for them is a copy.
	answered map[string]int32
	// noResult are the calls that need no result, by their ids as written.
	noResult map[string]int32
}

func (r *combinedReader) Read(v source.Value) {
	r.b.Fields(v, nil, nil)
	from := len(r.b.Conv.Messages)
	r.message(v)
	if anyHolds(r.Aborted, v) {
		flagFrom(r.b.Conv, from, transcript.MessageAborted)
	}
}

// flagFrom flags the messages from one of a number on.
func flagFrom(c *transcript.Conversation, from int, flags transcript.MessageFlags) {
	for i := from; i < len(c.Messages); i++ {
		c.Messages[i].Flags |= flags
	}
}

// forget begins a message without calls.
func (r *combinedReader) forget() {
	if len(r.made) > 0 { // a large map stays large when it is cleared
		r.made = map[string]int32{}
	}
}

// message reads an element.
func (r *combinedReader) message(v source.Value) {
	b := r.b
	roleVal := member(r.Role, v)
	role := r.roleOf(roleVal)
	if role == transcript.RoleOther {
		return
	}
	m := b.Begin(v, roleVal, role, r.Turn.name(v))
	if role == transcript.RoleUser {
		m.Flags |= transcript.MessageTyped
	}
	r.forget()
	at := len(b.Conv.Calls)
	r.text(member(r.Text, v))
	for i := range r.Records {
		r.records(v, &r.Records[i], role)
	}
	results := len(b.Conv.Results)
	calls := len(b.Conv.Calls)
	for e := range r.Results.elements(v) {
		if e.Span() == v.Span() && (calls > at || r.Results.ID != "" && !there(r.Results.ID.In(e))) {
			continue // a message is no result if it makes a call, or names none
		}
		r.result(e, calls > at)
	}
	if len(b.Conv.Results) > results && calls == at {
		m := b.Message()
		m.Role = transcript.RoleTool
		m.Flags &^= transcript.MessageTyped | transcript.MessagePlainRole
	}
	if b.Message().Void() && len(r.Plain) > 0 && leadsTo(v, r.Plain) {
		b.Message().Flags |= transcript.MessageEmpty
	}
}

func (r *combinedReader) text(v source.Value) {
	switch v.Kind() {
	case source.String:
		if len(v.Raw()) > 2 {
			r.b.Block(transcript.BlockText, v, textFlags(v))
		}
	case source.Array:
		for _, part := range v.Present() {
			if text := part.Get("text"); text.Kind() == source.String {
				r.b.Block(transcript.BlockText, part, textFlags(text))
			} else if !r.pairs(part) {
				r.b.Block(transcript.BlockOther, part, 0)
			}
		}
	}
}

// pairs reports whether a part of a text is read as a call or a result besides.
func (r *combinedReader) pairs(part source.Value) bool {
	is := r.Results.result(part) && r.Results.In == r.Text
	for i := range r.Records {
		_, _, record := r.Records[i].record(part)
		is = is || record && r.Records[i].In == r.Text
	}
	return is
}

// records reads a list of records, and what stands between them.
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

// call reads the call of a message v that the record of an element holds.
func (r *combinedReader) call(v, e, rec, tag source.Value, rs *Records, role transcript.Role) {
	b := r.b
	main := rs == &r.Records[0]
	if rs.In != "" {
		b.Fields(rec, nil, nil)
	}
	id := member(rs.ID, rec)
	if id.Kind() == source.String && len(id.Raw()) > 2 {
		first, again := r.made[string(id.Raw())]
		switch {
		case again && !main:
			r.copied(first, rs.In.In(v), e, rec, rs)
			return
		case !again:
			r.made[string(id.Raw())] = int32(len(b.Conv.Calls))
		}
	} else if !main && len(r.made) > 0 {
		return // a copy that does not tell of which
	}
	call := transcript.Call{
		ID: token(rec, rs.ID, id), Name: transcript.TokenOf(rs.Name.In(rec), e.Span()),
		WrongRole: role == transcript.RoleUser || role == transcript.RoleSystem,
	}
	if name, ok := rs.nameIn(tag); ok && name != "" && !there(rs.Name.In(rec)) {
		call.Name = transcript.Token{Raw: `"` + name + `"`, Span: tag.Span()}
		call.NameInTag = true
	}
	switch {
	case member(rs.ByProvider, rec).True():
		call.Answer = transcript.AnswerProviderRecord
	case slices.Contains(r.NoResultTools, call.Name.Text()):
		call.Answer = transcript.AnswerNone
	case !rs.Apart:
		call.Answer = transcript.AnswerOwnRecord
	case rs.ID == "":
		call.Answer = transcript.AnswerByPosition
	}
	if args := member(rs.Args, rec); !rs.Free {
		setArgs(b, &call, args, rs.Want)
	} else if call.Form = transcript.ArgsText; args.Exists() {
		call.Args = args.Span()
	}
	defer r.again(int32(len(b.Conv.Calls)), e, rec, rs)
	delete(r.answered, call.ID.Raw)
	if rs.Apart {
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
	answered := payload.Exists() && payload.Kind() != source.Null
	switch {
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
			call.Answer = transcript.AnswerOwnRecord // a call that needs no result may have one
		}
	}
	b.Combined(e, call, res)
}

// copied notes the copy of a call that an element of a list is.
func (r *combinedReader) copied(call int32, list, e, rec source.Value, rs *Records) {
	c := r.b.Conv
	cp := transcript.Copy{Call: call, List: list.Span(), Block: e.Span(), ID: transcript.TokenOf(rs.ID.In(rec), rec.Span()), IDKey: rs.ID.Key()}
	if !c.Calls[call].NameInTag {
		cp.Name = transcript.TokenOf(rs.Name.In(rec), rec.Span())
	}
	c.Copies = append(c.Copies, cp)
}

// again notes where the record of a call writes its id a second time.
func (r *combinedReader) again(call int32, e, rec source.Value, rs *Records) {
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

// result reads a result that stands by itself.
func (r *combinedReader) result(e source.Value, called bool) {
	if !r.Results.result(e) {
		return
	}
	id := member(r.Results.ID, e)
	switch call, repeats := r.answered[string(id.Raw())]; {
	case pairsNothing(id) && (r.Results.Unnamed && !called || len(r.answered) > 0): // it answers nothing
		r.b.Block(transcript.BlockOther, e, 0)
		return
	case repeats: // what the record of its call says
		r.b.Block(transcript.BlockOther, e, 0)
		r.b.Conv.Copies = append(r.b.Conv.Copies, transcript.Copy{
			Call: call, Block: e.Span(), ID: transcript.TokenOf(id, e.Span()), IDKey: r.Results.ID.Key(), Name: transcript.Token{Span: e.Span()},
		})
		return
	}
	if call, is := r.noResult[string(id.Raw())]; is && !pairsNothing(id) {
		r.b.Conv.Calls[call].Answer = transcript.AnswerByID // it has one all the same
		delete(r.noResult, string(id.Raw()))
	}
	res := transcript.Result{
		ID: token(e, r.Results.ID, id), Name: transcript.TokenOf(member(r.Results.Name, e), e.Span()),
		Error: there(member(r.Results.Error, e)),
	}
	if (r.Results.Unnamed || r.Results.ID == "") && pairsNothing(id) {
		res.Answer = transcript.AnswerByPosition
	}
	res.Hold(r.Results.Payload.In(e))
	r.b.Result(e, res)
}

// IDKey implements IDKeyer.
func (d *Combined) IDKey(message source.Value, at source.Span) string {
	key := func(rs *Records) string {
		for e := range rs.elements(message) {
			if _, _, ok := rs.record(e); ok && e.Span() == at {
				return rs.ID.Key()
			}
		}
		return ""
	}
	for i := range d.Records {
		if k := key(&d.Records[i]); k != "" {
			return k
		}
	}
	for e := range d.Results.elements(message) {
		if d.Results.result(e) && e.Span() == at {
			return d.Results.ID.Key()
		}
	}
	return ""
}

// pairsNothing reports whether an id is none.
func pairsNothing(id source.Value) bool {
	return id.Kind() == source.None || id.Kind() == source.Null || id.Kind() == source.String && len(id.Raw()) <= 2
}

// payload returns what a record says that its call was answered with.
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

// A Member is a member of an object that is to be set.
type Member struct {
	Object source.Value
	Path   []string // from the object
	Raw    string   // the value as JSON
	// Left is set where what stands there says that the call goes on, which it
	// then does no more: that is no recorded content.
	Left bool
}

// A StateWriter is a driver that answers a call by what its record says.
type StateWriter interface {
	Writer
	// WriteState returns what to set in the record of a call, which stands at a
	// span of its message, and in the copies of it, so that it was answered by a
	// text. The text is JSON.
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
				return nil // a result stands there, whatever the state says
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
			if inTag, ok := rs.nameIn(tag); ok && inTag != "" && !there(rs.Name.In(rec)) {
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

// member returns the member that a setting sets.
func (s *Setting) member(rec source.Value, values map[string]string) (Member, bool) {
	m := Member{Object: rec, Path: strings.Split(string(s.To), ".")}
	if s.Keep && s.To.Leads(rec) {
		return m, false
	}
	m.Raw = filled(source.NewValue([]byte(s.Raw), 0), values)
	return m, m.Raw != ""
}

// WriteResult implements Writer: results are states of their calls.
func (d *Combined) WriteResult(NewResult) []Field { return nil }

// WriteMessage implements Writer.
func (d *Combined) WriteMessage(string, source.Value) []Field { return nil }

// WriteText implements Writer. A record is kept as it is, with what its call was
// answered with.
func (d *Combined) WriteText(t NewText) Text {
	for i := range d.Records {
		rs := &d.Records[i]
		if _, _, ok := rs.record(t.Element); !ok || rs.AsText.JSON == "" || !rs.In.In(t.Message).Span().Contains(t.Element.Span()) {
			continue
		}
		fields := fill(rs.AsText.JSON, map[string]string{"$text": lines(t.Label, t.Element)})
		for _, key := range rs.AsText.Copy {
			if val := t.Element.Get(key); val.Exists() {
				fields = append(fields, Field{key, string(val.Raw())})
			}
		}
		if t.Element.Span() == t.Message.Span() {
			return Text{Message: fields}
		}
		return Text{Blocks: []NewBlock{{Fields: fields}}}
	}
	return Text{}
}

// Retagged implements Writer.
func (d *Combined) Retagged(_, _ transcript.CallKind) string { return "" }

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
