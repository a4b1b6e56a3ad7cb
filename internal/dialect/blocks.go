package dialect

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Blocks is the driver for messages whose content is a list of blocks, including
// calls and results. The kind of a block follows from the value of its tag field or
// from the fields that it has.
type Blocks struct {
	Role    Lens       `row:"needed"`
	Roles   []RoleName // spellings of roles that only this dialect uses
	NoRole  string     // the role of a message without a role; "" if such an element is not a message
	Content Lens       `row:"needed"` // the list of blocks, or a text
	// MessageID is an id that all elements of one turn share.
	MessageID Lens
	// Tag is the field that names the kind of a block. It is empty if the kind
	// follows from the fields of the block.
	Tag   Lens
	Parts []Part `row:"needed"`
	// ResultMessage is a result that is a separate message instead of a block, and
	// ResultRole is the role of such messages. Few built-in dialects mix the two,
	// but formats that people build themselves do.
	ResultMessage *Part  `toml:"own"`
	ResultRole    string `toml:"own-role"`
	// Positional is set if calls may have no id. Such calls are answered by name
	// and position.
	Positional bool
	// Inline is set if a result in the same message as its call means that the
	// provider ran the tool.
	Inline bool
	// Joined is set if consecutive assistant messages are one turn.
	Joined bool
	// Aborted and Hidden recognize messages that were aborted and messages that are
	// not sent. One condition is enough. User-defined logs need both.
	Aborted, Hidden []*evidence.Cond
	// Omitted recognizes messages that the client leaves out of its requests, although it
	// sends the results of their calls. One condition is enough.
	Omitted []*evidence.Cond
	// Says recognizes messages that say something without content. One condition is enough. One
	// built-in dialect has them.
	Says []*evidence.Cond `toml:"-"`
	// Skip recognizes elements that are not messages, such as bookkeeping. All its
	// conditions must hold. It may be empty.
	Skip []*evidence.Cond
	// Message holds the stencils of a message that carries results. The first one
	// whose If leads to a value in the call's message is used. It is empty if each
	// result is a separate message.
	Message []Stencil
	// ResultsAlone is set if a message that carries results cannot hold text.
	ResultsAlone bool `toml:"only"`
	// TextBlock holds the stencils of a block of text. The first one whose If leads
	// to a value is used, in the message or in the block that the text replaces.
	TextBlock []Stencil
}

// A BlocksDriver reads and writes what a Blocks describes.
type BlocksDriver struct {
	*Blocks
	once sync.Once
	// message reads role, content, message id, and the fields of Aborted, Hidden and Omitted.
	message *Lenses
	parts   []readPart // those of Parts, and that of ResultMessage
}

// NewBlocks returns the driver for a row.
func NewBlocks(row *Blocks) *BlocksDriver { return &BlocksDriver{Blocks: row} }

// A readPart is a kind of block with the lenses that read such blocks.
type readPart struct {
	*Part
	lenses *Lenses
}

// compile makes the lenses.
func (d *BlocksDriver) compile() {
	d.message = NewLenses(slices.Concat([]Lens{d.Role, d.Content, d.MessageID}, lensesOf(d.Aborted), lensesOf(d.Hidden), lensesOf(d.Omitted))...)
	for i := range d.Parts {
		d.parts = append(d.parts, readPart{&d.Parts[i], d.Parts[i].reads()})
	}
	if own := d.ResultMessage; own != nil {
		d.parts = append(d.parts, readPart{own, own.reads()})
	}
}

// lensesOf returns the first keys of the paths of conditions, which anyHoldsAt needs.
func lensesOf(conds []*evidence.Cond) (out []Lens) {
	for _, c := range conds {
		for _, key := range c.Keys() {
			out = append(out, Lens(key))
		}
	}
	return out
}

// anyHoldsAt reports whether one of the conditions holds for v. read are the values of
// lensesOf in v and the values after them, which it returns.
func anyHoldsAt(conds []*evidence.Cond, v source.Value, read []source.Value) (holds bool, others []source.Value) {
	for _, c := range conds {
		n := len(c.Keys())
		holds = holds || c.HoldsAt(v, read[:n])
		read = read[n:]
	}
	return holds, read
}

// A PartKind is the kind of a block.
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
	PartState        PartKind = "state" // marks the call with its id as still going on
	PartAside        PartKind = "aside" // only shown to a human, never sent
	PartOther        PartKind = "other" // known, but not checked
)

// A Part describes one kind of block. Its paths start at the block.
type Part struct {
	Is PartKind `row:"needed"`
	// Tag is the value of the driver's tag. A "*" at its start matches any
	// beginning. Key is a field that identifies the block instead.
	Tag, Key string
	With     []*evidence.Cond // further conditions, all of which must hold
	// Kind distinguishes the protocols for tools that the provider runs.
	Kind transcript.CallKind

	ID, Name Lens
	Args     Lens
	Want     transcript.ArgsConvention
	Payload  Lens
	// ByProvider recognizes calls and results of tools that the provider ran; one condition is
	// enough. Two built-in dialects have such conditions.
	ByProvider []*evidence.Cond `toml:"-"`
	// Inner leads to the list of blocks in a result, if the payload is not that
	// list itself. They may be in the payload or beside it.
	Inner Lens
	Error []*evidence.Cond // recognizes a failed result; one condition is enough
	// State is the new state of the call that a PartState names.
	State transcript.CallState
	Text  Lens
	// Signature is an opaque text that must stay together with the content that it
	// signs. Signs is set if the part needs a signature.
	Signature Lens
	Signs     bool
	// Answer is the template for a result of such a call.
	Answer Template
}

// reads returns the lenses that read such a block: id, name and arguments of a
// call; id, payload, name and error conditions of a result; the text of others.
func (p *Part) reads() *Lenses {
	switch p.Is {
	case PartCall, PartServerCall:
		return NewLenses(p.ID, p.Name, p.Args)
	case PartResult, PartServerResult:
		return NewLenses(append([]Lens{p.ID, p.Payload, p.Name}, lensesOf(p.Error)...)...)
	}
	return NewLenses(p.Text)
}

// fits reports whether a block with the given tag is of this kind. If a key
// identifies the kind and also holds the id, its value must be an object.
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
	return evidence.Hold(p.With, block)
}

// begins reports whether an alternative of the path begins with key.
func (l Lens) begins(key source.Value) bool {
	for alt := range l.Alternatives() {
		if head, _, _ := strings.Cut(string(alt), "."); key.Is(head) {
			return true
		}
	}
	return false
}

// hollow reports whether a block is an empty object in a dialect without tags.
// Serializers write an empty text that way.
func (d *Blocks) hollow(block source.Value) bool {
	return d.Tag == "" && isEmptyObject(block)
}

// kindOf returns the kind of a block, or nil if it is unknown.
func (d *Blocks) kindOf(block source.Value) *Part {
	if i := d.kindAt(block); i >= 0 {
		return &d.Parts[i]
	}
	return nil
}

// kindAt returns the index of the kind of a block in Parts, or -1 if it is unknown.
func (d *Blocks) kindAt(block source.Value) int {
	var tag source.Value
	if d.Tag != "" {
		tag = d.Tag.In(block)
	}
	for i := range d.Parts {
		if d.Parts[i].fits(block, tag) {
			return i
		}
	}
	return -1
}

// roleOf returns the role that a message names.
func (d *Blocks) roleOf(v source.Value) transcript.Role {
	if !v.Exists() && d.NoRole != "" {
		return roleNamed([]byte(d.NoRole))
	}
	return roleIn(d.Roles, v)
}

// Skips implements Skipper.
func (d *Blocks) Skips(v source.Value) bool { return d.skipsAny() && evidence.Hold(d.Skip, v) }

func (d *Blocks) skipsAny() bool { return len(d.Skip) > 0 }

// Damaged implements Guesser.
func (d *Blocks) Damaged(v source.Value) bool {
	if d.NoRole != "" || isEmptyObject(v) {
		return isEmptyObject(v)
	}
	content := d.Content.In(v)
	if !content.Exists() || isSet(d.Role.In(v)) || d.Tag != "" && d.Tag.Leads(v) {
		return false
	}
	for _, block := range content.Present() {
		if d.kindOf(block) == nil && !d.hollow(block) && !d.keyed(block) {
			return false
		}
	}
	return true
}

// keyed reports whether a block has the key of some kind, whatever its value.
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

// impliedRole returns the role of a message that names none: calls come from the
// assistant, results are sent to it.
func (d *Blocks) impliedRole(content source.Value) transcript.Role {
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

// Reader implements Driver.
func (d *BlocksDriver) Reader(b *transcript.Builder) Reader {
	r := d.reader(b)
	return hook(&r)
}

// reader returns a reader that has no hooks yet.
func (d *BlocksDriver) reader(b *transcript.Builder) blocksReader {
	d.once.Do(d.compile)
	return blocksReader{row: d, hooked: hooked{b: b}}
}

// Apart is implemented by readers of messages that may be read without each other.
type Apart interface {
	// Apart reports whether what is read in a message depends on no other message, except for the turn of
	// messages with the same id.
	Apart() bool
}

// Apart implements the interface Apart.
func (r *blocksReader) Apart() bool {
	_, own := r.hooks.(*blocksReader)
	return own && !r.row.Joined && !r.row.Inline &&
		!slices.ContainsFunc(r.row.Parts, func(p Part) bool { return p.Is == PartState || p.Is == PartAside })
}

type blocksReader struct {
	row *BlocksDriver
	hooked
	part   bool                      // a record of a log is being read
	turn   source.Value              // names the turn of a part without a message id
	kind   source.Value              // the type of that record
	others func(v source.Value) bool // reports whether another dialect is sure of a message
	split  splitTurn
	model  bool // the previous message was the assistant's
	calls  callIndex
}

// A TurnReader reads the messages of a log in which records that are not adjacent
// can be parts of one turn.
type TurnReader interface {
	Reader
	// ReadPart reads a message that is part of a turn: the turn of its message id
	// or, without an id, the one that turn names. kind, the type of its record,
	// gives the role if the message has none. It returns false and reads nothing if
	// the message clearly belongs to another dialect. others reports whether
	// another dialect is sure of a message.
	ReadPart(v, kind, turn source.Value, others func(v source.Value) bool) bool
}

// ReadPart implements TurnReader.
func (r *blocksReader) ReadPart(v, kind, turn source.Value, others func(v source.Value) bool) bool {
	r.part, r.kind, r.turn, r.others = true, kind, turn, others
	ok := true
	if as := r.hooks.onElement(v); as.Exists() {
		if ok = r.read(as); ok {
			r.hooks.onEnd(as)
		}
	}
	r.part, r.kind, r.turn, r.others = false, source.Value{}, source.Value{}, nil
	return ok
}

// Read implements Reader.
func (r *blocksReader) Read(v source.Value) {
	r.element(v, func(v source.Value) { r.read(v) })
}

func (r *blocksReader) read(v source.Value) bool {
	f := r.row.message.Read(r.b, v)
	own := r.row.ResultMessage != nil && f[0].Is(r.row.ResultRole)
	role := r.row.roleOf(f[0])
	if own {
		role = transcript.RoleTool
	}
	content := f[1]
	if role == transcript.RoleNone {
		if role = r.row.impliedRole(content); role == transcript.RoleNone && speaks(r.kind) {
			role = roleOf(r.kind)
		}
	}
	if r.part && !own && content.Kind() != source.Array && (role == transcript.RoleTool || evidence.HasToolMember(v) && r.others(v)) {
		return false
	}
	var turn string
	switch {
	case !r.part:
		turn = r.split.turn(role, f[2], role == transcript.RoleUser && r.split.last != "" && !r.row.hasResult(content))
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
	if r.row.Joined && role == transcript.RoleAssistant && r.model {
		r.b.SameTurn()
	}
	if r.model && role == transcript.RoleAssistant && r.row.neverSent(content) {
		r.b.SameTurn() // nothing in it is sent, so it does not end the turn
	}
	r.model = role == transcript.RoleAssistant
	rest := f[3:]
	for _, mark := range []struct {
		conds []*evidence.Cond
		flag  transcript.MessageFlags
	}{
		{r.row.Aborted, transcript.MessageAborted}, {r.row.Hidden, transcript.MessageSuperseded}, {r.row.Omitted, transcript.MessageOmitted},
	} {
		var holds bool
		if holds, rest = anyHoldsAt(mark.conds, v, rest); holds {
			m.Flags |= mark.flag
		}
	}
	if own {
		r.result(v, &r.row.parts[len(r.row.Parts)], role)
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
	case source.Object: // APIs that are defined as protocol buffers accept one block without a list
		if r.row.kindOf(content) != nil {
			r.block(content, role)
		}
	}
	if !r.b.Marked {
		m.Flags |= transcript.MessageUnmarked
	}
	if hollow(content) && !evidence.AnyHolds(r.row.Says, v) {
		markHollow(m, content)
	}
	return true
}

// hasResult reports whether content has a result.
func (d *Blocks) hasResult(content source.Value) bool {
	for _, block := range content.Present() {
		if p := d.kindOf(block); p != nil && p.Is == PartResult {
			return true
		}
	}
	return false
}

// neverSent reports whether content has only blocks that are never sent.
func (d *Blocks) neverSent(content source.Value) bool {
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
	at := r.row.kindAt(v)
	if at < 0 {
		r.b.Fields(v, nil, nil)
		if r.row.hollow(v) {
			r.b.Block(transcript.BlockText, v, transcript.BlockBlank|transcript.BlockHollow)
			return
		}
		r.b.Block(transcript.BlockOther, v, 0)
		return
	}
	p := &r.row.parts[at]
	if p.Key != "" {
		r.b.Fields(v.Get(p.Key), nil, nil)
	}
	switch p.Is {
	case PartCall, PartServerCall:
		r.call(v, p, role)
	case PartResult, PartServerResult:
		r.result(v, p, role)
	case PartState:
		r.state(v, p.Part)
	case PartAside:
		r.b.Fields(v, nil, nil)
	case PartText:
		f := p.lenses.Read(r.b, v)
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

// state sets the state of the latest call with the id of the block.
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

// signed returns the flags for the signature of a block.
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

func (r *blocksReader) call(v source.Value, p *readPart, role transcript.Role) {
	f := p.lenses.Read(r.b, v)
	call := transcript.Call{
		ID: r.b.Token(owned(v, p.ID, f[0])), Name: r.b.Name(owned(v, p.Name, f[1])), Kind: p.kind(), Answer: r.row.answer(v, p.Part, f[0]),
		WrongRole: mustNotCall(role),
	}
	setArgs(r.b, &call, f[2], p.Want)
	r.addCall(v, call, p.signed(v))
}

// owned returns val, which p leads to in v, and the span of its token if it is absent: that of the object
// that should hold it.
func owned(v source.Value, p Lens, val source.Value) (source.Value, source.Span) {
	at := v
	if !val.Exists() {
		if in, _ := owner(v, p.Nth(0)); in.Kind() == source.Object {
			at = in
		}
	}
	return val, at.Span()
}

// answer returns how a call is answered, or how a result finds its call.
func (d *Blocks) answer(block source.Value, p *Part, id source.Value) transcript.Answer {
	switch {
	case p.Is == PartServerCall || p.Is == PartServerResult || evidence.AnyHolds(p.ByProvider, block):
		return transcript.AnswerProvider
	case d.Positional && absent(id):
		return transcript.AnswerByPosition
	}
	return transcript.AnswerByID
}

// kind returns the kind of a call or a result.
func (p *Part) kind() transcript.CallKind {
	if p.Kind == transcript.KindFunction && (p.Is == PartServerCall || p.Is == PartServerResult) {
		return transcript.KindServer
	}
	return p.Kind
}

func (r *blocksReader) result(v source.Value, p *readPart, role transcript.Role) {
	f := p.lenses.Read(r.b, v)
	res := transcript.Result{
		ID: r.b.Token(owned(v, p.ID, f[0])), Name: r.b.Name(owned(v, p.Name, f[2])), Kind: p.kind(), Answer: r.row.answer(v, p.Part, f[0]),
	}
	res.Error, _ = anyHoldsAt(p.Error, v, f[3:])
	res.Hold(f[1])
	if p.Inner != "" {
		res.HoldBlocks(p.Inner.In(v))
	}
	res = r.hooks.onResult(v, res)
	switch {
	case res.Answer == transcript.AnswerProvider:
		res.WrongRole = role == transcript.RoleUser
	case role == transcript.RoleAssistant && r.row.Inline && r.inline(res):
		res.Answer = transcript.AnswerProvider
	case role == transcript.RoleAssistant:
		res.WrongRole = true
	}
	r.b.Result(v, res)
}

// inline finds the call that a result in an assistant message answers, and marks it
// as run by the provider. The call is in the same message or is already known to be
// the provider's. It returns false if there is none.
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

// absent reports whether id counts as missing.
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
	f := stencilFor(d.Message, near)
	if f == nil {
		return nil
	}
	return f.write(near, map[string]string{"$blocks": content})
}

// WriteText implements Writer.
func (d *Blocks) WriteText(t NewText) Text {
	template := d.textBlock(t.Element)
	p := d.kindOf(t.Element)
	if template == "" || p != nil && p.Is == PartServerResult && len(d.TextBlock) > 1 {
		return Text{} // with several blocks of text, the one for the assistant is unknown
	}
	own := d.ResultMessage != nil && !t.Call && t.Element.Span() == t.Message.Span()
	stays := func(block source.Value) bool {
		return (own || !t.Call && p != nil && p.Is == PartResult) && d.stays(block, t.Model)
	}
	inner := t.inner(p)
	if !t.Call {
		lost := anyKey
		switch {
		case own:
			lost = func(key source.Value) bool {
				return slices.ContainsFunc(d.ResultMessage.Error, func(c *evidence.Cond) bool { return slices.ContainsFunc(c.Keys(), key.Is) })
			}
		case d.ResultsAlone:
			if f := stencilFor(d.Message, t.Message); f != nil {
				lost = func(key source.Value) bool { return !contains(f.Copy, key) }
			}
		}
		t.keep(t.Element, lost, inner...)
	}
	blocks := t.blocks(inner, stays, func(raw string) []Field { return fill(template, map[string]string{"$text": raw}) })
	switch {
	case own:
		set := []Field{{d.Role.Key(), `"` + d.user() + `"`}, {d.Content.Key(), t.content(blocks)}}
		return Text{Message: replaceFields(t.Message, set, func(key, _ source.Value) bool {
			return d.ResultMessage.ID.begins(key) || d.ResultMessage.Name.begins(key) || slices.ContainsFunc(d.ResultMessage.Error, func(c *evidence.Cond) bool { return slices.ContainsFunc(c.Keys(), key.Is) })
		})}
	case !t.Call && d.ResultsAlone:
		return Text{Message: d.userMessage(d.WriteMessage(list(blocks), t.Message))}
	}
	return Text{Blocks: blocks}
}

// inner returns the values that are the content of the element.
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

// stays reports whether a block of a result can become a block of a user message
// unchanged.
func (d *Blocks) stays(block source.Value, model bool) bool {
	if block.Kind() != source.Object {
		return false
	}
	p := d.kindOf(block)
	return p != nil && (p.Is == PartText && p.Text.In(block).Kind() == source.String || p.Is == PartMedia && !model)
}

// user returns the dialect's name for the user role.
func (d *Blocks) user() string { return writtenRole(d.Roles, transcript.RoleUser) }

// userMessage changes the role of a message that carries results to the user. It
// returns nil for nil.
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

// textBlock returns the template of a text block for v.
func (d *Blocks) textBlock(v source.Value) Template {
	if f := stencilFor(d.TextBlock, v); f != nil {
		return f.JSON
	}
	return ""
}

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

// owner returns the object that holds or should hold the value at the end of p, and
// the value's key. The path has no alternatives.
func owner(v source.Value, p Lens) (source.Value, string) {
	i := strings.LastIndexByte(string(p), '.')
	if i < 0 {
		return v, string(p)
	}
	return p[:i].In(v), string(p[i+1:])
}
