package dialect

import (
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/transcript"
)

// Blocks is the driver for messages whose content is a list of tagged blocks,
// calls and results among them.
type Blocks struct {
	Role, Content string
	MessageID     string // of a message, the same on all elements of a turn
	Tag           string // of a block
	Text          string // tag and member of a text block
	Call          string // tag of a call
	ID, Name      string // of a call
	Args          string
	Result        string   // tag of a result
	ResultID      []string // of a result, the first that is there
	Payload       []string // of a result, the first that is there
	Error         string   // of a result: true when the tool failed
	ServerCalls   []string // tags of calls that the provider runs itself
	ServerResult  string   // suffix of the tags of their results
	Reasoning     []string // tags
	Signature     []string // of reasoning, any that is there
	Media         []string // tags
	Want          transcript.ArgsConvention
}

// Claim implements Driver.
func (d *Blocks) Claim(v transcript.Value) (Claim, Sign) {
	if v.Kind() != transcript.Object {
		return ClaimNone, Sign{}
	}
	var role, content transcript.Value
	alien := false
	for k, val := range v.Members() {
		switch {
		case k.Is(d.Role):
			role = val
		case k.Is(d.Content):
			content = val
		default:
			alien = alien || alienMember(k, val)
		}
	}
	if role.Kind() != transcript.String || !content.Exists() {
		return ClaimNone, Sign{}
	}
	for _, block := range content.Elements() {
		if block.Kind() != transcript.Object {
			return ClaimNone, Sign{}
		}
		tag := block.Get(d.Tag)
		switch {
		case (tag.Is(d.Call) || tag.Is(d.Result) || d.serverCall(tag) || d.serverResult(tag)) && d.speaks(block, tag), contains(d.Reasoning, tag):
			return ClaimDecisive, Sign{d.Tag, tag}
		}
	}
	if alien || alienContent(content) || roleOf(role) == transcript.RoleTool {
		return ClaimNone, Sign{}
	}
	return ClaimPlain, Sign{d.Role, role}
}

// speaks reports whether a block that is tagged as a call or a result has any
// of the members of one.
func (d *Blocks) speaks(block, tag transcript.Value) bool {
	members := []string{d.ID, d.Name, d.Args}
	if tag.Is(d.Result) || d.serverResult(tag) {
		members = append(append([]string{}, d.ResultID...), d.Payload...)
	}
	for k := range block.Members() {
		if contains(members, k) {
			return true
		}
	}
	return false
}

func (d *Blocks) serverCall(tag transcript.Value) bool {
	return slices.ContainsFunc(d.ServerCalls, tag.Is)
}

func (d *Blocks) serverResult(tag transcript.Value) bool {
	return d.ServerResult != "" && !tag.Is(d.Result) && strings.HasSuffix(tag.Str(), d.ServerResult)
}

// Reader implements Driver.
func (d *Blocks) Reader(b *transcript.Builder) Reader { return &blocksReader{Blocks: d, b: b} }

type blocksReader struct {
	*Blocks
	b     *transcript.Builder
	part  bool   // a record of a log is read
	turn  string // names the turn of a part without an id
	split splitTurn
}

// A TurnReader reads the messages of a log, in which records that are no
// neighbours can be parts of one turn.
type TurnReader interface {
	Reader
	// ReadPart reads a message that belongs to the turn of its message id, and
	// without one to the turn of that name. It returns false, and reads
	// nothing, when the message is plainly another dialect's.
	ReadPart(v transcript.Value, turn string) bool
}

func (r *blocksReader) ReadPart(v transcript.Value, turn string) bool {
	r.part, r.turn = true, turn
	ok := r.read(v)
	r.part, r.turn = false, ""
	return ok
}

func (r *blocksReader) Read(v transcript.Value) { r.read(v) }

func (r *blocksReader) read(v transcript.Value) bool {
	var f [3]transcript.Value
	r.b.Fields(v, []string{r.Role, r.Content, r.MessageID}, f[:])
	role := roleOf(f[0])
	content := f[1]
	if r.part && content.Kind() != transcript.Array && (role == transcript.RoleTool || v.Get("tool_calls").First().Exists()) {
		return false
	}
	var turn string
	switch {
	case !r.part:
		turn = r.split.turn(role, f[2])
	case role == transcript.RoleAssistant:
		if turn = r.turn; f[2].Kind() == transcript.String && len(f[2].Raw()) > 2 {
			turn = string(f[2].Raw())
		}
	}
	m := r.b.Begin(v, f[0], role, turn)
	switch content.Kind() {
	case transcript.String:
		r.b.Block(transcript.BlockText, content, textFlags(content))
	case transcript.Array:
		for _, block := range content.Elements() {
			r.block(block, role)
		}
	}
	if hollow(content) {
		markHollow(m, content)
	}
	return true
}

func (r *blocksReader) block(v transcript.Value, role transcript.Role) {
	if v.Kind() != transcript.Object {
		r.b.Block(transcript.BlockOther, v, 0)
		return
	}
	tag := v.Get(r.Tag)
	switch {
	case tag.Is(r.Text):
		var f [1]transcript.Value
		r.b.Fields(v, []string{r.Text}, f[:])
		r.b.Block(transcript.BlockText, v, textFlags(f[0]))
	case (tag.Is(r.Call) || r.serverCall(tag)) && r.speaks(v, tag):
		var f [3]transcript.Value
		r.b.Fields(v, []string{r.ID, r.Name, r.Args}, f[:])
		call := transcript.Call{
			ID: transcript.TokenOf(f[0], v.Span()), Name: transcript.TokenOf(f[1], v.Span()),
			WrongRole: role == transcript.RoleUser || role == transcript.RoleSystem || role == transcript.RoleTool,
		}
		if !tag.Is(r.Call) {
			call.Server = true
			call.Kind = transcript.KindServer
			if strings.HasPrefix(tag.Str(), "mcp") {
				call.Kind = transcript.KindMCP
			}
		}
		setArgs(r.b, &call, f[2], r.Want)
		r.b.Call(v, call, 0)
	case (tag.Is(r.Result) || r.serverResult(tag)) && r.speaks(v, tag):
		r.result(v, tag, role)
	case contains(r.Reasoning, tag):
		r.b.Fields(v, nil, nil)
		flags := transcript.BlockUnsigned
		for _, key := range r.Signature {
			if s := v.Get(key); s.Kind() == transcript.String && len(s.Raw()) > 2 {
				flags = transcript.BlockSigned
			}
		}
		r.b.Block(transcript.BlockReasoning, v, flags)
	case contains(r.Media, tag):
		r.b.Fields(v, nil, nil)
		r.b.Block(transcript.BlockMedia, v, 0)
	default:
		r.b.Fields(v, nil, nil)
		r.b.Block(transcript.BlockOther, v, 0)
	}
}

func (r *blocksReader) result(v, tag transcript.Value, role transcript.Role) {
	keys := append(append([]string{r.Error}, r.ResultID...), r.Payload...)
	f := make([]transcript.Value, len(keys))
	r.b.Fields(v, keys, f)
	res := transcript.Result{
		ID: transcript.TokenOf(first(f[1:1+len(r.ResultID)]), v.Span()), Name: transcript.Token{Span: v.Span()},
		Error: f[0].True(), WrongRole: role == transcript.RoleAssistant,
	}
	if p := first(f[1+len(r.ResultID):]); p.Exists() {
		res.Payload = p.Span()
	}
	if !tag.Is(r.Result) {
		res.Server = true
		res.WrongRole = role == transcript.RoleUser
		res.Kind = transcript.KindServer
		if strings.HasPrefix(tag.Str(), "mcp") {
			res.Kind = transcript.KindMCP
		}
	}
	r.b.Result(v, res)
}

func first(vals []transcript.Value) transcript.Value {
	for _, v := range vals {
		if v.Exists() {
			return v
		}
	}
	return transcript.Value{}
}

func contains(tags []string, tag transcript.Value) bool {
	return slices.ContainsFunc(tags, tag.Is)
}

// WriteResult implements Writer.
func (d *Blocks) WriteResult(r NewResult) []Field {
	if r.ID == "" {
		return nil
	}
	return []Field{
		{d.Tag, `"` + d.Result + `"`}, {d.ResultID[0], r.ID}, {d.Payload[0], r.Text}, {d.Error, "true"},
	}
}

// WriteMessage implements Writer.
func (d *Blocks) WriteMessage(content string) []Field {
	return []Field{{d.Role, `"user"`}, {d.Content, content}}
}

// WriteText implements Writer.
func (d *Blocks) WriteText(_ transcript.Value, text string) []Field {
	return []Field{{d.Tag, `"` + d.Text + `"`}, {d.Text, text}}
}

// Retagged implements Writer.
func (d *Blocks) Retagged(_, _ transcript.CallKind) string { return "" }

// Keys implements Writer.
func (d *Blocks) Keys(v transcript.Value) WriterKeys {
	return WriterKeys{Body: v, Content: d.Content, ID: d.ID, ResultID: d.ResultID[0], Type: d.Tag, Text: d.Text, Assistant: "assistant"}
}
