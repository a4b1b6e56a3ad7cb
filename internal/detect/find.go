package detect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
	"github.com/toolguard/toolguard/internal/unfold"
)

// freeDepth is the depth to which any document is searched for conversations. Deeper
// levels are searched until the bytes examined there add up to freeDepth times the
// document plus freeBytes. Deep nesting therefore takes only linear work.
const (
	freeDepth = 8
	freeBytes = 1 << 20
)

// A Place is the location of a conversation in a value.
type Place struct {
	Pointer string
	Class   Class
	Log     *dialect.Dialect
	// Parts are the arrays or single messages of the conversation.
	Parts []source.Value
	// Into is the path from an element of an array to the message in it.
	Into []string

	// Element is the outermost array element around the conversation, and List is its array.
	// Both are zero if there is none.
	Element, List source.Span

	Holder   source.Span // the object that holds the conversation
	body     bool        // the holder has a model and the options of a request
	model    bool        // the holder has a model
	Model    string      // the model of the holder
	Hosts    []string    // the addresses and providers named by the holder or the objects around it
	listed   bool        // it is in an array of conversations
	Traced   bool        // it is an output, a choice or a span
	answered bool        // it ends with output of the model
	// Hint is the dialect that the holder suggests for messages that could be in several.
	// HintSure is set if no other dialect has such an object.
	Hint      *dialect.Dialect
	HintSure  bool
	Elsewhere bool // the holder refers to state on the provider's side
	Expected  bool // its calls are only expected, and nothing answers them
	// CheckOnly says why the file of the conversation must not be repaired.
	CheckOnly string
	// Unfolded holds the parts if they were unfolded; nil if they are in the record.
	Unfolded *unfold.Unfolded
}

// Use says what the conversation is for. lines is set if it has a line of its own.
func (p *Place) Use(lines bool) transcript.Use {
	switch {
	case p.Traced, p.answered && !lines:
		return transcript.UseTrace
	case p.body, p.model && !lines && !p.listed:
		return transcript.UseBody
	case lines, p.listed:
		return transcript.UseDataset
	}
	return transcript.UseLog
}

// Modelled reports whether the object around the messages names a model, as a request does.
func (p *Place) Modelled() bool { return p.model }

// Slice reports whether this may be only part of a conversation, so that a missing result
// may be elsewhere.
func (p *Place) Slice() bool { return p.Traced || p.CheckOnly == spanCheckOnly }

// Answered reports whether the conversation ends with output of the model.
func (p *Place) Answered() bool { return p.answered }

// A composite is a conversation of two arrays, to which paths lead from the object that holds
// them.
type composite struct {
	first, second dialect.Lens
	// bothSent is set if both are sent; otherwise the second is the answer.
	bothSent bool
}

var composites = []composite{
	{first: "responses_create_params.input", second: "response.output"},
	{first: "messages", second: "response.choices.0.message"},
	{first: "input", second: "output"},
	{first: "chat_history", second: "tool_results", bothSent: true},
}

// begin returns the fields of the object that holds the two arrays.
func (c *composite) begin() (first, second string) {
	first, _, _ = strings.Cut(string(c.first), ".")
	second, _, _ = strings.Cut(string(c.second), ".")
	return first, second
}

// alternatives are the keys of arrays whose elements wrap one message each but do not
// form a conversation.
var alternatives = []string{"choices", "candidates", "generations", "results", "responses"}

// Find returns the places of conversations in v, in order.
func Find(set *dialect.Set, v source.Value) []Place {
	return finderOf(set, v).found
}

func finderOf(set *dialect.Set, v source.Value) *finder {
	return finderFrom(set, v, Place{})
}

// finderFrom searches a value for conversations. ctx is what is known about all of them.
func finderFrom(set *dialect.Set, v source.Value, ctx Place) *finder {
	f := newFinder(set, v)
	f.value(v, nil, ctx, 0)
	for i := 0; i < len(f.sums) && len(f.found) == 0; i++ {
		f.sums[i]()
	}
	if len(f.found) > 0 || !f.lists || f.spans || !f.wrapping() {
		return f
	}
	f.wraps, f.left = true, budget(v)
	f.value(v, nil, ctx, 0)
	return f
}

// findLone returns the single messages in v, under any key, that make a call or answer
// one. It is for documents without any other messages.
func findLone(set *dialect.Set, v source.Value) []Place {
	f := newFinder(set, v)
	f.lone = true
	f.value(v, nil, Place{}, 0)
	return f.found
}

func newFinder(set *dialect.Set, v source.Value) *finder {
	return &finder{set: set, taken: map[source.Span]bool{}, left: budget(v)}
}

// budget is how many bytes of a value may be searched below freeDepth.
func budget(v source.Value) int64 { return freeBytes + freeDepth*v.Span().Len() }

// pairs reports whether a message makes a call or answers one.
func pairs(d *dialect.Dialect, v source.Value) bool {
	c := &transcript.Conversation{}
	d.Driver.Reader(transcript.NewBuilder(c)).Read(v)
	return len(c.Calls)+len(c.Results) > 0
}

type finder struct {
	set   *dialect.Set
	found []Place
	spans bool // there are spans of a trace
	// pieces is set if there are events of a stream that delivers an answer in pieces.
	pieces bool
	// sums search the values that repeat the messages of other spans.
	sums []func()
	// taken are the values whose messages have been found.
	taken map[source.Span]bool
	lists bool           // there are arrays of objects that are not messages
	wraps bool           // the elements of arrays are searched for wrapped messages
	later []source.Value // arrays whose elements may wrap messages, up to mostLater
	wrap  bool           // the elements of an earlier array do
	sole  bool           // a single message makes a call or answers one, as far as its dialect tells
	left  int64          // how many bytes may still be searched below freeDepth
	lone  bool           // single messages are wanted too
	index source.Indexer // of an element of a list
}

// isTaken reports whether the messages of a value have been found.
func (f *finder) isTaken(v source.Value, ctx Place) bool {
	return ctx.Unfolded == nil && len(f.taken) > 0 && f.taken[v.Span()]
}

func (f *finder) value(v source.Value, path []string, ctx Place, depth int) {
	if f.isTaken(v, ctx) {
		return
	}
	if depth > freeDepth {
		if f.left -= v.Span().Len(); f.left < 0 {
			return
		}
	}
	switch v.Kind() {
	case source.Array:
		f.array(v, path, ctx, depth)
	case source.Object:
		f.object(v, path, ctx, depth)
	}
}

func (f *finder) array(v source.Value, path []string, ctx Place, depth int) {
	if ctx.Unfolded == nil && (f.invocations(v, path, ctx) || f.rows(v, path, ctx)) {
		return
	}
	if class, log := f.listClass(v, nil); class != ClassOther {
		f.emit(ctx, path, class, log, v)
		return
	}
	if d, parts := nestedMessages(f.set, v); d != nil {
		ctx.CheckOnly = cmp.Or(ctx.CheckOnly, nestedCheckOnly)
		f.emit(ctx, path, ClassMessage, nil, parts...)
		return
	}
	if f.lists = f.lists || v.First().Kind() == source.Object; f.wraps && f.wrapped(v, path, ctx) {
		return
	}
	f.postpone(v, path)
	n := 0
	for range v.Present() {
		if n++; n > 1 {
			break
		}
	}
	sub := ctx
	sub.listed = sub.listed || n > 1
	var rows *Rows // for an array of similar rows
	if n > 1 && ctx.Unfolded == nil && !ctx.HintSure && !f.lone {
		rows = NewRows(f.set)
	}
	for i, e := range v.Present() {
		if k := e.Kind(); k != source.Array && k != source.Object {
			continue
		}
		if ctx.Element.IsZero() && ctx.Unfolded == nil {
			sub.Element, sub.List = e.Span(), v.Span()
		}
		f.element(rows, e, append(path, strconv.Itoa(i)), sub, depth+1)
	}
}

// element searches an element of an array whose other elements may be similar.
func (f *finder) element(rows *Rows, e source.Value, path []string, ctx Place, depth int) {
	if rows == nil || e.Kind() != source.Object || f.isTaken(e, ctx) {
		f.value(e, path, ctx, depth)
		return
	}
	at := pointer(path)
	reads := func(first source.Value) bool {
		_, claim, _ := f.set.ClaimOf(first)
		return isMessage(claim, first)
	}
	if p, list, known := rows.known(e, ctx, reads); known {
		p.Parts = []source.Value{list}
		p.Pointer, p.listed, p.Element, p.List = at+p.Pointer, ctx.listed, ctx.Element, ctx.List
		f.found = append(f.found, p)
		return
	}
	e = e.Indexed()
	before := len(f.found)
	if f.value(e, path, ctx, depth); len(f.found) == before+1 {
		place := f.found[before]
		place.Pointer, place.listed = strings.TrimPrefix(place.Pointer, at), false
		rows.note(place, e)
	}
}

// inList reports whether a path ends with an array index. Such an element is not a single
// message if the other elements are not messages.
func inList(path []string) bool {
	if len(path) == 0 {
		return false
	}
	_, err := strconv.Atoi(path[len(path)-1])
	return err == nil
}

func (f *finder) object(v source.Value, path []string, ctx Place, depth int) {
	// An object with a role or a decisive claim is itself a message and holds none.
	if d, claim, _ := f.set.ClaimOf(v); claim == evidence.Decisive && depth > 0 ||
		v.Get("role").Kind() == source.String && (isMessage(claim, v) || evidence.UsesUnknownTools(v)) {
		if claim == evidence.Decisive && !inList(path) {
			if f.sole = true; f.lone && pairs(d, v) {
				ctx.Traced, ctx.Hint = true, d // a missing result may be elsewhere
				f.emit(ctx, path, ClassMessage, nil, v)
			}
		}
		return
	}
	k := look(f.set, v, nil)
	var isPart func(source.Value) bool // of a piece of an answer, which is no conversation; other fields may hold one
	if k.roles&rolePiece != 0 && isPiece(v) {
		isPart = func(key source.Value) bool { return slices.ContainsFunc(pieceMembers, key.Is) }
		f.pieces = true
		k = look(f.set, v, isPart)
	}
	ctx = f.beside(&k, v, ctx)
	// A field of this name holds a request, whatever else it contains.
	request := k.roles&roleRequest != 0 || len(path) > 0 && (path[len(path)-1] == "body" || path[len(path)-1] == "params")
	ctx.model = k.roles&(roleModel|roleAPI) != 0
	ctx.body = ctx.model && request
	switch {
	case ctx.Unfolded != nil:
	case k.roles.isSpan() || k.named&roleObserved != 0 && k.named.isSpan():
		ctx.CheckOnly = spanCheckOnly
		f.span(v, path, ctx)
	case ctx.CheckOnly != spanCheckOnly && hasAttribute(v): // not those of an enclosing span
		ctx.CheckOnly = spanCheckOnly
		f.spans = true
		f.tell(v, path, ctx)
	}
	holder := f.set.HolderOf(k.holds, k.naming)
	if holder != nil {
		ctx.Hint, ctx.HintSure = holder, true
		ctx.model, ctx.body = false, false // a file of a program is not a request
	}
	start := len(f.found)
	used := f.composites(v, &k, path, ctx)
	before := len(f.found)
	// Copies and other forms are searched last: a copy if the original has no calls, and
	// another form of any field if no field has messages.
	turns := 1
	if k.roles&(roleCopy|roleForm) != 0 {
		turns = 3
	}
	for turn := range turns {
		for key, val := range v.Members() {
			if kind := val.Kind(); kind != source.Array && kind != source.Object || isPart != nil && isPart(key) {
				continue
			}
			m := compiledFields().of[string(key.Text())]
			is := m.roles(k.has)
			name := key.Str()
			switch {
			case m.turn(is) != turn, slices.Contains(used, name), holder != nil && !holder.Holder.Reads(name), f.isTaken(val, ctx),
				is&roleCopy != 0 && slices.ContainsFunc(f.found[before:], f.decided),
				is&roleForm != 0 && m.repeats(v, isPart, len(f.found) > start):
				continue
			}
			sub := ctx
			sub.Traced = sub.Traced || is&roleTrace != 0
			if f.alone(name, path, sub.Traced) {
				if d, claim, _ := f.set.ClaimOf(val); isMessage(claim, val) {
					sub.Traced, sub.Hint = true, d
					f.emit(sub, append(path, name), ClassMessage, nil, val)
					continue
				}
			}
			f.value(val, append(path, name), sub, depth+1)
		}
	}
	if len(f.found) == start && ctx.Unfolded == nil && (depth == 0 || inList(path)) {
		f.columns(v, path, ctx)
	}
}

// composites finds the conversation in two places of v. It returns the fields that have it.
func (f *finder) composites(v source.Value, k *keys, path []string, ctx Place) (used []string) {
	for i := range composites {
		c := &composites[i]
		if pair := compiledFields().pairs[i]; ctx.HintSure || k.has&pair != pair {
			continue
		}
		parts := f.composite(c.first.In(v), c.second.In(v), c)
		if parts == nil {
			continue
		}
		first, second := c.begin()
		if params := v.Get(first); params.Kind() == source.Object {
			ctx.Elsewhere = ctx.Elsewhere || stateID(params.Get("previous_response_id"))
		}
		if !c.bothSent {
			ctx.body, ctx.model, ctx.answered = false, false, true
		}
		f.emit(ctx, append(path, strings.Split(string(c.first), ".")...), ClassMessage, nil, parts...)
		return []string{first, second}
	}
	return nil
}

// beside returns the place with what the keys of an object around it say, and the dialect of a
// request.
func (f *finder) beside(k *keys, v source.Value, ctx Place) Place {
	ctx = ctx.beside(k, v)
	if f.set.MayRequest(k.naming) {
		ctx.Hint = cmp.Or(f.set.RequestOf(v), ctx.Hint)
	}
	return ctx
}

// beside returns the place with what the keys of the object v, which are around the messages,
// say: the model, the addresses, and whether the API has other state.
func (p Place) beside(k *keys, v source.Value) Place {
	p.Model, p.Holder, p.Elsewhere = k.model, v.Span(), p.Elsewhere || k.state
	p.Hosts = append(k.hosts, p.Hosts...)
	return p
}

// decided reports whether a place contains something that only one dialect writes.
func (f *finder) decided(p Place) bool {
	if p.Class == ClassLog {
		return true
	}
	for _, part := range p.Parts {
		if part.Kind() != source.Array {
			if _, claim, _ := f.set.ClaimOf(part); claim == evidence.Decisive {
				return true
			}
		}
		for e := range part.Each() {
			if _, claim, _ := f.set.ClaimOf(e.Path(p.Into...)); claim == evidence.Decisive {
				return true
			}
		}
	}
	return false
}

// alone reports whether a field may hold a single message: a choice, the result of a
// batch request, or an output of a step. The response to a recorded request is left out,
// because the next request repeats it. Candidates are kept, because the conversation may
// continue with any of them.
func (f *finder) alone(key string, path []string, traced bool) bool {
	if n := len(path); key == "content" && n > 1 && path[n-2] == "candidates" {
		return true
	}
	if key == "message" {
		return traced || slices.Contains(path, "result")
	}
	return traced && key != "response" && !slices.Contains(path, "response")
}

// composite returns the parts of a conversation in two places. It returns nil unless
// the second part has messages. If the first part already ends with the answer, the
// second is left out.
func (f *finder) composite(first, second source.Value, c *composite) []source.Value {
	var parts []source.Value
	for i, p := range []source.Value{first, second} {
		switch {
		case p.Kind() == source.Array:
			class, _ := f.listClass(p, nil)
			empty := !p.First().Exists()
			if class != ClassMessage && !empty || i == 1 && empty {
				return nil
			}
			parts = append(parts, p)
		case i == 1 && p.Kind() == source.Object:
			if _, claim, _ := f.set.ClaimOf(p); claim == evidence.None {
				return nil
			}
			parts = append(parts, p)
		case i == 0 && p.Kind() == source.String && c.first.Parent() != "":
			// The prompt is plain text.
		default:
			return nil
		}
	}
	if len(parts) == 2 && !c.bothSent && endsWith(parts[0], parts[1]) {
		return parts[:1]
	}
	return parts
}

// stateID reports whether a value refers to state on the provider's side. It is an id, or
// an object with an id and without anything that could be the state itself.
func stateID(v source.Value) bool {
	if v.Kind() != source.Object {
		return v.Kind() == source.String && v.Span().Len() > 2
	}
	for _, val := range v.Members() {
		if val.Kind() == source.Array {
			return false
		}
	}
	return v.Get("id").Kind() == source.String
}

func (f *finder) emit(ctx Place, path []string, class Class, log *dialect.Dialect, parts ...source.Value) {
	ctx.Pointer = pointer(path)
	ctx.Class = class
	ctx.Log = log
	for i := range parts {
		parts[i] = parts[i].Light() // there may be very many places
	}
	ctx.Parts = parts
	f.found = append(f.found, ctx)
}

func pointer(path []string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteByte('/')
		_, _ = escaped.WriteString(&b, p)
	}
	return b.String()
}

// escaped escapes a key for a JSON pointer.
var escaped = strings.NewReplacer("~", "~0", "/", "~1")
