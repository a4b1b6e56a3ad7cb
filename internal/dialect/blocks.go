package dialect

import (
	"bytes"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Blocks is the driver for messages whose content is a list of blocks, calls
// and results among them. What a block is tells the value of a member, or that
// a member is there.
type Blocks struct {
	Role    Lens
	Roles   []RoleName // roles that only this dialect writes so
	NoRole  string     // the role of a message that names none; "" where it is no message
	Content Lens       // the list of blocks, or a text
	// MessageID is of a message, the same on all elements of a turn.
	MessageID Lens
	// Needs is a member that every message has, for a dialect that writes its
	// calls as another does; "" for none. It is for dialects that a user defines.
	Needs Lens `toml:"mark"`
	// Tag is the member that says what a block is; "" where the members of a
	// block tell.
	Tag   Lens
	Parts []Part
	// ResultMessage is a result that is a message, and not a block of one; ResultRole is
	// the role of such a message. Few of the built-in dialects mix the two, but what
	// people write for themselves does.
	ResultMessage *Part  `toml:"own"`
	ResultRole    string `toml:"own-role"`
	// Positional is set where calls may go without an id, and are answered by
	// name and position.
	Positional bool
	// Inline is set where a result in the message of its call says that the
	// provider has run the tool.
	Inline bool
	// Joined is set where messages of the model in a row are one turn.
	Joined bool
	// Aborted and Hidden hold of messages whose writer gave them up, and of
	// those that are not sent: any of them. Whoever describes a log of their own
	// needs both.
	Aborted, Hidden []Cond
	// Skip holds of elements that stand among the messages and are none: all of
	// it; none for no such elements.
	Skip []Cond
	// Message is how a message that carries results is written, the first
	// whose If the message of the call has. None where each result is
	// written as a message.
	Message []Form
	// ResultsAlone is set where a message that carries results has no place for text.
	ResultsAlone bool `toml:"only"`
	// TextBlock is how a block of text is written, the first whose If the
	// message has, or the block that it takes the place of.
	TextBlock []Form

	// onCall and onResult are hooks of a dialect's own file: what they return is
	// added instead of the call or the result that was read from a block.
	onCall   func(block source.Value, call transcript.Call) transcript.Call
	onResult func(block source.Value, res transcript.Result) transcript.Result

	members Plan // role, content, message id, and what Aborted and Hidden ask for
}

// compile makes the plan of what is read of a message.
func (d *Blocks) compile() {
	d.members.lenses = slices.Concat([]Lens{d.Role, d.Content, d.MessageID}, lensesOf(d.Aborted), lensesOf(d.Hidden))
	d.members.compile()
}

// lensesOf returns what conditions ask for.
func lensesOf(conds []Cond) []Lens {
	out := make([]Lens, len(conds))
	for i := range conds {
		out[i] = conds[i].At
	}
	return out
}

// A PartKind is what a block is to a transcript.
type PartKind string

// The kinds of part.
const (
	PartText         PartKind = "text"
	PartCall         PartKind = "call"
	PartResult       PartKind = "result"
	PartServerCall   PartKind = "server-call"
	PartServerResult PartKind = "server-result"
	PartReasoning    PartKind = "reasoning"
	PartMedia        PartKind = "media"
	PartState        PartKind = "state" // it says of a call that it goes on
	PartAside        PartKind = "aside" // it is for a human, and no model is sent it
	PartOther        PartKind = "other" // known, and nothing to check
)

// A Part is one kind of block. Paths lead from the block.
type Part struct {
	Is PartKind
	// Tag is what the driver's tag says, "*" before the end of it. Key is a
	// member that is there instead.
	Tag, Key string
	With     []Cond // what must hold besides: all of them
	// Kind tells the protocols apart by which the provider runs tools.
	Kind transcript.CallKind

	ID, Name Lens
	Args     Lens
	Want     transcript.ArgsConvention
	Payload  Lens
	// Inner leads to the blocks that a result is made of, in its payload or beside
	// it, where the payload itself is not their list.
	Inner Lens
	Error []Cond // of a result: any of them
	// State is what a state says of the call that has its id.
	State transcript.CallState
	Text  Lens
	// Signature is an opaque text that must not be parted from what it signs.
	// Signs is set where a part of the kind needs one.
	Signature Lens
	Signs     bool
	// Answer is how a result of a call of this kind is written.
	Answer Template

	plan Plan // what is read of such a block
}

// compile makes the plan of what is read of a block of the kind: of a call its id,
// name and arguments, of a result id, payload, name and what Error asks for, of
// others the text.
func (p *Part) compile() {
	switch p.Is {
	case PartCall, PartServerCall:
		p.plan.lenses = []Lens{p.ID, p.Name, p.Args}
	case PartResult, PartServerResult:
		p.plan.lenses = append([]Lens{p.ID, p.Payload, p.Name}, lensesOf(p.Error)...)
	default:
		p.plan.lenses = []Lens{p.Text}
	}
	p.plan.compile()
}

// read returns what is read of a block of the kind.
func (p *Part) read(b *transcript.Builder, v source.Value) []source.Value {
	p.plan.once.Do(p.compile)
	return p.plan.read(b, v)
}

// A Form is a template for what is written near a message.
type Form struct {
	If   Lens // a member of what it is written for; "" for always
	JSON Template
	Copy []string // members that are taken over from that message
}

// fits reports whether a block with the given tag is of the kind. A member that
// tells is an object where it holds the rest.
func (p *Part) fits(block, tag source.Value) bool {
	switch {
	case p.Key != "":
		val := block.Get(p.Key)
		if !val.Exists() || val.Kind() == source.Null || val.Kind() != source.Object && strings.HasPrefix(string(p.ID), p.Key+".") {
			return false
		}
	case strings.HasPrefix(p.Tag, "*"):
		if raw := tag.Raw(); tag.Kind() != source.String || !bytes.HasSuffix(raw[:len(raw)-1], []byte(p.Tag[1:])) {
			return false
		}
	case !tag.Is(p.Tag):
		return false
	}
	for i := range p.With {
		if !p.With[i].holds(block) {
			return false
		}
	}
	return true
}

// speaks reports whether a block that is tagged as a call or a result has any
// of the members of one.
func (p *Part) speaks(block source.Value) bool {
	switch p.Is {
	case PartCall, PartServerCall:
		return p.ID.Leads(block) || p.Name.Leads(block) || p.Args.Leads(block)
	case PartResult, PartServerResult:
		return p.ID.Leads(block) || p.Payload.Leads(block)
	}
	return true
}

// begins reports whether an alternative of the path begins with a key.
func (l Lens) begins(key source.Value) bool {
	for alt := range l.Alternatives() {
		if head, _, _ := strings.Cut(string(alt), "."); key.Is(head) {
			return true
		}
	}
	return false
}

// hollow reports whether a block is nothing, where its members would tell what
// it is: what serializers make of an empty text.
func (d *Blocks) hollow(block source.Value) bool {
	return d.Tag == "" && bare(block)
}

// kindOf returns what kind of block v is, nil for none that is known.
func (d *Blocks) kindOf(block source.Value) *Part {
	var tag source.Value
	if d.Tag != "" {
		tag = d.Tag.In(block)
	}
	for i := range d.Parts {
		if p := &d.Parts[i]; p.fits(block, tag) {
			return p
		}
	}
	return nil
}

// roleOf returns the role that a message of the dialect names.
func (d *Blocks) roleOf(v source.Value) transcript.Role {
	if !v.Exists() && d.NoRole != "" {
		return roleNamed([]byte(d.NoRole))
	}
	return roleIn(d.Roles, v)
}

// Skips implements Skipper.
func (d *Blocks) Skips(v source.Value) bool { return allHold(d.Skip, v) }

// Damaged implements Guesser.
func (d *Blocks) Damaged(v source.Value) bool {
	if d.NoRole != "" || bare(v) {
		return bare(v)
	}
	content := d.Content.In(v)
	if !content.Exists() || !notGiven(d.Role.In(v)) || d.Tag != "" && d.Tag.Leads(v) {
		return false
	}
	for _, block := range content.Present() {
		if d.kindOf(block) == nil && !d.hollow(block) && !d.keyed(block) {
			return false
		}
	}
	return true
}

// keyed reports whether a block has a member that says what it is, whatever it
// holds.
func (d *Blocks) keyed(block source.Value) bool {
	for k := range block.Members() {
		for i := range d.Parts {
			if key := d.Parts[i].Key; key != "" && k.Is(key) {
				return true
			}
		}
	}
	return false
}

// speaker returns who speaks a message that names no role, by what it holds:
// calls are the model's, results are sent to it.
func (d *Blocks) speaker(content source.Value) transcript.Role {
	for _, block := range content.Present() {
		p := d.kindOf(block)
		switch {
		case p == nil:
		case p.Is == PartCall || p.Is == PartServerCall || p.Is == PartReasoning:
			return transcript.RoleAssistant
		case p.Is == PartResult && d.ResultsAlone:
			return transcript.RoleTool
		case p.Is == PartResult:
			return transcript.RoleUser
		}
	}
	return transcript.RoleNone
}

// Reads implements Driver.
func (d *Blocks) Reads(v source.Value) evidence.Weight {
	role, content := d.Role.In(v), d.Content.In(v)
	switch {
	case d.Needs != "" && !d.Needs.Leads(v):
		return evidence.None
	case d.ResultMessage != nil && role.Is(d.ResultRole) && d.ResultMessage.ID.Leads(v):
		return evidence.Decisive
	case role.Kind() != source.String && (role.Exists() || d.NoRole == "") || !content.Exists():
		return evidence.None
	}
	for _, block := range content.Present() {
		switch p := d.kindOf(block); {
		case p == nil || !p.speaks(block):
		case p.Is == PartCall || p.Is == PartResult || p.Is == PartServerCall || p.Is == PartServerResult:
			return evidence.Decisive
		}
	}
	if r := d.roleOf(role); r == transcript.RoleTool || r == transcript.RoleOther && (d.Role != "role" || d.Roles != nil) {
		return evidence.None
	}
	return evidence.Plain
}

// Reader implements Driver.
func (d *Blocks) Reader(b *transcript.Builder) Reader { return &blocksReader{Blocks: d, b: b} }

type blocksReader struct {
	*Blocks
	b      *transcript.Builder
	part   bool                      // a record of a log is read
	turn   source.Value              // names the turn of a part without an id
	kind   source.Value              // the type of that record
	others func(v source.Value) bool // whether another dialect is sure of a message
	split  splitTurn
	model  bool // the message before was the model's
	calls  callIndex
}

// A TurnReader reads the messages of a log, in which records that are no
// neighbours can be parts of one turn.
type TurnReader interface {
	Reader
	// ReadPart reads a message that belongs to the turn of its message id, and
	// without one to the turn of that name. The type of its record tells who
	// speaks where the message does not. It returns false, and reads nothing, when
	// the message is plainly another dialect's; others reports whether one is sure of
	// a message.
	ReadPart(v, kind, turn source.Value, others func(v source.Value) bool) bool
}

func (r *blocksReader) ReadPart(v, kind, turn source.Value, others func(v source.Value) bool) bool {
	r.part, r.kind, r.turn, r.others = true, kind, turn, others
	ok := r.read(v)
	r.part, r.kind, r.turn, r.others = false, source.Value{}, source.Value{}, nil
	return ok
}

func (r *blocksReader) Read(v source.Value) { r.read(v) }

func (r *blocksReader) read(v source.Value) bool {
	r.members.once.Do(r.compile)
	f := r.members.read(r.b, v)
	own := r.ResultMessage != nil && f[0].Is(r.ResultRole)
	role := r.roleOf(f[0])
	if own {
		role = transcript.RoleTool
	}
	content := f[1]
	if role == transcript.RoleNone {
		if role = r.speaker(content); role == transcript.RoleNone && speaks(r.kind) {
			role = roleOf(r.kind)
		}
	}
	if r.part && !own && content.Kind() != source.Array && (role == transcript.RoleTool || evidence.HasToolMember(v) && r.others(v)) {
		return false
	}
	var turn string
	switch {
	case !r.part:
		turn = r.split.turn(role, f[2], role == transcript.RoleUser && r.split.last != "" && !r.answers(content))
	case role == transcript.RoleAssistant:
		name := r.turn
		if f[2].Kind() == source.String && len(f[2].Raw()) > 2 {
			name = f[2]
		}
		if name.Kind() == source.String {
			turn = string(name.Raw())
		}
	}
	m := r.b.Begin(v, f[0], role, turn)
	if r.Joined && role == transcript.RoleAssistant && r.model {
		r.b.SameTurn()
	}
	if r.model && role == transcript.RoleAssistant && r.asides(content) {
		r.b.SameTurn() // nothing of it is sent, so that it does not come between
	}
	r.model = role == transcript.RoleAssistant
	for i := range r.Aborted {
		if r.Aborted[i].accepts(f[3+i]) {
			m.Flags |= transcript.MessageAborted
		}
	}
	for i := range r.Hidden {
		if r.Hidden[i].accepts(f[3+len(r.Aborted)+i]) {
			m.Flags |= transcript.MessageSuperseded
		}
	}
	if own {
		r.result(v, r.ResultMessage, role)
		return true
	}
	r.b.Marked = false
	switch content.Kind() {
	case source.String:
		r.b.Block(transcript.BlockText, content, textFlags(content))
	case source.Array:
		for _, block := range content.Present() {
			r.block(block, role)
		}
	}
	if !r.b.Marked {
		m.Flags |= transcript.MessageUnmarked
	}
	if hollow(content) {
		markHollow(m, content)
	}
	return true
}

// answers reports whether content has a result in it.
func (d *Blocks) answers(content source.Value) bool {
	for _, block := range content.Present() {
		if p := d.kindOf(block); p != nil && p.Is == PartResult {
			return true
		}
	}
	return false
}

// asides reports whether content is nothing but what no model is sent.
func (d *Blocks) asides(content source.Value) bool {
	for _, block := range content.Present() {
		if p := d.kindOf(block); p == nil || p.Is != PartState && p.Is != PartAside {
			return false
		}
	}
	return content.First().Exists()
}

func (r *blocksReader) block(v source.Value, role transcript.Role) {
	if v.Kind() != source.Object {
		r.b.Block(transcript.BlockOther, v, 0)
		return
	}
	p := r.kindOf(v)
	if p == nil {
		r.b.Fields(v, nil, nil)
		if d := r.Blocks; d.hollow(v) {
			r.b.Block(transcript.BlockText, v, transcript.BlockBlank|transcript.BlockHollow)
			return
		}
		r.b.Block(transcript.BlockOther, v, 0)
		return
	}
	if p.Key != "" {
		r.b.Fields(v.Get(p.Key), nil, nil)
	}
	switch p.Is {
	case PartCall, PartServerCall:
		r.call(v, p, role)
	case PartResult, PartServerResult:
		r.result(v, p, role)
	case PartState:
		r.state(v, p)
	case PartAside:
		r.b.Fields(v, nil, nil)
	case PartText:
		f := p.read(r.b, v)
		r.b.Block(transcript.BlockText, v, textFlags(f[0])|p.signed(v))
	case PartReasoning:
		r.b.Fields(v, nil, nil)
		r.b.Block(transcript.BlockReasoning, v, p.signed(v))
	case PartMedia:
		r.b.Fields(v, nil, nil)
		r.b.Block(transcript.BlockMedia, v, p.signed(v))
	default:
		r.b.Fields(v, nil, nil)
		r.b.Block(transcript.BlockOther, v, p.signed(v))
	}
}

// state notes what a block says of the last call of its id.
func (r *blocksReader) state(v source.Value, p *Part) {
	r.b.Fields(v, nil, nil)
	if id := p.ID.In(v); !absent(id) {
		if i, known := r.calls.latest(r.b.Conv, string(id.Raw())); known {
			r.b.Conv.Calls[i].State = p.State
			return
		}
	}
	r.b.Block(transcript.BlockOther, v, 0)
}

// signed returns the flags that the signature of a block makes.
func (p *Part) signed(v source.Value) transcript.BlockFlags {
	if p.Signature != "" {
		for alt := range p.Signature.Alternatives() {
			if s := alt.In(v); s.Kind() == source.String && len(s.Raw()) > 2 {
				return transcript.BlockSigned
			}
		}
	}
	if p.Signs {
		return transcript.BlockUnsigned
	}
	return 0
}

func (r *blocksReader) call(v source.Value, p *Part, role transcript.Role) {
	f := p.read(r.b, v)
	call := transcript.Call{
		ID: token(v, p.ID, f[0]), Name: token(v, p.Name, f[1]), Kind: p.kind(), Answer: r.answer(p, f[0]),
		WrongRole: role == transcript.RoleUser || role == transcript.RoleSystem || role == transcript.RoleTool,
	}
	setArgs(r.b, &call, f[2], p.Want)
	if r.onCall != nil {
		call = r.onCall(v, call)
	}
	r.b.Call(v, call, p.signed(v))
}

// token returns what a path leads to in v. An absent one points at the object
// that should hold it.
func token(v source.Value, p Lens, val source.Value) transcript.Token {
	at := v
	if !val.Exists() {
		if in, _ := owner(v, p.Nth(0)); in.Kind() == source.Object {
			at = in
		}
	}
	return transcript.TokenOf(val, at.Span())
}

// answer returns how a call is answered, or how a result finds its call.
func (d *Blocks) answer(p *Part, id source.Value) transcript.Answer {
	switch {
	case p.Is == PartServerCall || p.Is == PartServerResult:
		return transcript.AnswerProvider
	case d.Positional && absent(id):
		return transcript.AnswerByPosition
	}
	return transcript.AnswerByID
}

// kind returns of which kind a call or a result is.
func (p *Part) kind() transcript.CallKind {
	if p.Kind == transcript.KindFunction && (p.Is == PartServerCall || p.Is == PartServerResult) {
		return transcript.KindServer
	}
	return p.Kind
}

func (r *blocksReader) result(v source.Value, p *Part, role transcript.Role) {
	f := p.read(r.b, v)
	res := transcript.Result{
		ID: token(v, p.ID, f[0]), Name: token(v, p.Name, f[2]), Kind: p.kind(), Answer: r.answer(p, f[0]),
	}
	for i := range p.Error {
		res.Error = res.Error || p.Error[i].accepts(f[3+i])
	}
	res.Hold(f[1])
	if r.onResult != nil {
		res = r.onResult(v, res)
	}
	switch {
	case res.Answer == transcript.AnswerProvider:
		res.WrongRole = role == transcript.RoleUser
	case role == transcript.RoleAssistant && r.Inline && r.inline(res):
		res.Answer = transcript.AnswerProvider
	case role == transcript.RoleAssistant:
		res.WrongRole = true
	}
	r.b.Result(v, res)
}

// inline finds the call that a result in a message of the model answers, and
// marks it as one that the provider ran: a call of the same message, or one
// that is known to be the provider's.
func (r *blocksReader) inline(res transcript.Result) bool {
	c := r.b.Conv
	match, found := r.calls.answered(c, res)
	if !found {
		return false
	}
	c.Calls[match].Answer = transcript.AnswerProvider
	c.Blocks[c.Calls[match].Block].Kind = transcript.BlockServerCall
	r.calls.ran(c, match)
	return true
}

// absent reports whether an id counts as none.
func absent(id source.Value) bool { return absentRaw(string(id.Raw())) }

func absentRaw(raw string) bool {
	return raw == "" || raw == "null" || raw == `""` || raw == `"null"`
}

// WriteResult implements Writer.
func (d *Blocks) WriteResult(r NewResult) []Field {
	p := d.kindOf(r.Element)
	if p == nil || p.Answer == "" || r.ID == "" && !d.Positional {
		return nil
	}
	args := ""
	if p.Args != "" {
		args = string(p.Args.In(r.Element).Raw())
	}
	return fill(p.Answer, map[string]string{"$id": r.ID, "$name": r.Name, "$args": args, "$text": r.Text})
}

// WriteMessage implements Writer.
func (d *Blocks) WriteMessage(content string, near source.Value) []Field {
	f := formFor(d.Message, near)
	if f == nil {
		return nil
	}
	out := fill(f.JSON, map[string]string{"$blocks": content})
	for _, key := range f.Copy {
		if val := near.Get(key); val.Exists() {
			out = append(out, Field{key, string(val.Raw())})
		}
	}
	return out
}

// WriteText implements Writer.
func (d *Blocks) WriteText(t NewText) Text {
	form := d.textBlock(t.Element)
	p := d.kindOf(t.Element)
	if form == "" || p != nil && p.Is == PartServerResult && len(d.TextBlock) > 1 {
		return Text{} // where texts differ, none is known to be the model's
	}
	own := d.ResultMessage != nil && !t.Call && t.Element.Span() == t.Message.Span()
	stays := func(block source.Value) bool {
		return (own || !t.Call && p != nil && p.Is == PartResult) && d.stays(block)
	}
	blocks := t.blocks(t.inner(p), stays, func(raw string) []Field { return fill(form, map[string]string{"$text": raw}) })
	switch {
	case own:
		content := t.said()
		if len(blocks) > 1 {
			content = list(blocks)
		}
		set := []Field{{d.Role.Key(), `"` + d.user() + `"`}, {d.Content.Key(), content}}
		return Text{Message: instead(t.Message, set, func(key, _ source.Value) bool {
			return d.ResultMessage.ID.begins(key) || d.ResultMessage.Name.begins(key) || slices.ContainsFunc(d.ResultMessage.Error, func(c Cond) bool { return c.At.begins(key) })
		})}
	case !t.Call && d.ResultsAlone:
		return Text{Message: d.userMessage(d.WriteMessage(list(blocks), t.Message))}
	}
	return Text{Blocks: blocks}
}

// inner returns the values that make up the content of a block.
func (t *NewText) inner(p *Part) []source.Value {
	if p == nil || p.Inner == "" {
		return []source.Value{t.Content}
	}
	switch v := p.Inner.In(t.Element); {
	case !v.Exists():
		return []source.Value{t.Content}
	case t.Content.Span().Contains(v.Span()):
		return []source.Value{v}
	default:
		return []source.Value{t.Content, v}
	}
}

// stays reports whether a block of a result can be a block of a message of the
// user as it is.
func (d *Blocks) stays(block source.Value) bool {
	if block.Kind() != source.Object {
		return false
	}
	p := d.kindOf(block)
	return p != nil && (p.Is == PartText && p.Text.In(block).Kind() == source.String || p.Is == PartMedia)
}

// user returns how the dialect writes that the user speaks.
func (d *Blocks) user() string { return writtenRole(d.Roles, transcript.RoleUser) }

// userMessage returns the members of a message that carries results, with the user
// as who speaks; nil for none.
func (d *Blocks) userMessage(fields []Field) []Field {
	if fields == nil {
		return nil
	}
	raw := object(fields)
	if at := d.Role.In(source.NewValue([]byte(raw), 0)).Span(); at.Len() > 0 {
		raw = raw[:at.Start] + `"` + d.user() + `"` + raw[at.End:]
	}
	var out []Field
	for k, v := range source.NewValue([]byte(raw), 0).Members() {
		out = append(out, Field{k.Str(), string(v.Raw())})
	}
	return out
}

// textBlock returns how a block of text is written for v.
func (d *Blocks) textBlock(v source.Value) Template {
	if f := formFor(d.TextBlock, v); f != nil {
		return f.JSON
	}
	return ""
}

// formFor returns the first form whose condition holds of v, the last where
// none does, and nil where there is none.
func formFor(forms []Form, v source.Value) *Form {
	for i := range forms {
		if f := &forms[i]; f.If == "" || i == len(forms)-1 || f.If.Leads(v) {
			return f
		}
	}
	return nil
}

// Retagged implements Writer.
func (d *Blocks) Retagged(_, _ transcript.CallKind) string { return "" }

// Keys implements Writer.
func (d *Blocks) Keys(v source.Value) WriterKeys {
	out := WriterKeys{Type: d.Tag.Key(), TextBlock: d.textBlock(v), Assistant: writtenRole(d.Roles, transcript.RoleAssistant)}
	content := d.Content.Nth(0)
	for alt := range d.Content.Alternatives() {
		if alt.In(v).Exists() {
			content = alt
			break
		}
	}
	out.Body, out.Content = owner(v, content)
	for i := range d.Parts {
		switch p := &d.Parts[i]; {
		case p.Is == PartCall && out.ID == "":
			out.ID = p.ID.Key()
		case p.Is == PartResult && out.ResultID == "":
			out.ResultID = p.ID.Key()
		}
	}
	if d.ResultMessage != nil {
		out.ResultID = d.ResultMessage.ID.Key()
	}
	return out
}

// owner returns the object that holds, or should hold, the member that a path
// without alternatives leads to, and the member's name.
func owner(v source.Value, p Lens) (source.Value, string) {
	i := strings.LastIndexByte(string(p), '.')
	if i < 0 {
		return v, string(p)
	}
	return p[:i].In(v), string(p[i+1:])
}
