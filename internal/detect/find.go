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

// freeDepth is how deep in a document conversations are looked for, whatever it
// holds. Deeper they are looked for until as many bytes have been looked at again as
// the document has on so many levels, and freeBytes in a small one: nesting alone makes
// no work that grows faster than the document.
const (
	freeDepth = 8
	freeBytes = 1 << 20
)

// A Place is where in a value a conversation stands.
type Place struct {
	Pointer string
	Class   Class
	Log     *dialect.Dialect
	// Parts are the lists, or single messages, that make up the conversation.
	Parts []source.Value
	// Into leads from an element of a list to what speaks in it.
	Into []string

	Holder   source.Span // the object that holds it
	body     bool        // an object with a model and the options of a request holds it
	model    bool        // an object with a model holds it
	Model    string      // that model
	Hosts    []string    // the addresses and providers that it or one around it names
	listed   bool        // it is one of a list of conversations
	Traced   bool        // it is an output, a choice or a span
	answered bool        // it ends with what the model put out
	// Hint is the dialect that its object speaks of, for messages that do not
	// tell; HintSure is set where no other dialect has such an object.
	Hint      *dialect.Dialect
	HintSure  bool
	Elsewhere bool // its object names state on the provider's side
	Expected  bool // its calls are only expected, and nothing answers them
	// CheckOnly says why the file is not to be repaired in which it stands.
	CheckOnly string
	// Unfolded is what the parts were put together in; nil where they stand in
	// the record.
	Unfolded *unfold.Unfolded
}

// Use says what the conversation is for; lines is set where it stands on a line of
// its own.
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

// Slice reports whether the conversation may go on elsewhere: what seems to be
// missing can be in another place.
func (p *Place) Slice() bool { return p.Traced || p.CheckOnly == spanCheckOnly }

// Answered reports whether it ends with what the model put out.
func (p *Place) Answered() bool { return p.answered }

// A composite is two lists that make up one conversation together, as paths from
// the object that holds them.
type composite struct {
	first, second []string
	// bothSent is set where both are sent; else the second is what was answered.
	bothSent bool
}

var composites = []composite{
	{first: []string{"responses_create_params", "input"}, second: []string{"response", "output"}},
	{first: []string{"messages"}, second: []string{"response", "choices", "0", "message"}},
	{first: []string{"input"}, second: []string{"output"}},
	{first: []string{"chat_history"}, second: []string{"tool_results"}, bothSent: true},
}

// copies are members that repeat messages of the members named with them, where
// these make any calls.
var copies = map[string][]string{
	"trajectory": {"history", "messages"},
	"events":     {"messages", "Messages", "samples", "history"},
	"spans":      {"messages"},
	"trace":      {"observations"},
}

// forms are members that hold the messages of another member, or of any where none
// is named, in another form: what was made of them before they were sent, or a part
// of them.
var forms = map[string]string{
	"raw_messages":         "messages",
	"model_input_messages": "",
	"tool_results":         "message", // each of which repeats its call
}

// requestKeys are members that only a request body has beside its messages.
var requestKeys = []string{
	"max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "top_p", "stream", "tool_choice",
	"parallel_tool_calls", "response_format", "stop", "reasoning", "thinking", "anthropic_version", "system",
	"inferenceConfig", "toolConfig", "generationConfig", "generation_config",
}

// requestBeside are members that make a request of the object that they stand in
// together with a member.
var requestBeside = map[string][]string{
	"contents": {"generationConfig", "generation_config", "tools", "systemInstruction", "system_instruction"},
}

// traceKeys are members that hold what a model or a step put out.
var traceKeys = []string{"output", "outputs", "choices", "spans", "response", "preferred_output", "non_preferred_output"}

// alternatives are members whose elements wrap one message each, but make up no
// conversation.
var alternatives = []string{"choices", "candidates", "generations", "results", "responses"}

// Find returns the places in v where conversations stand, in order.
func Find(set *dialect.Set, v source.Value) []Place {
	return finderOf(set, v).found
}

func finderOf(set *dialect.Set, v source.Value) *finder {
	f := newFinder(set, v)
	f.value(v, nil, Place{}, 0)
	for i := 0; i < len(f.sums) && len(f.found) == 0; i++ {
		f.sums[i]()
	}
	if len(f.found) > 0 || !f.lists || f.spans {
		return f
	}
	if f.left = budget(v); f.around(v, 0) {
		f.wraps, f.left = true, budget(v)
		f.value(v, nil, Place{}, 0)
	}
	return f
}

// findLone returns the messages in v that stand alone, under whatever keys, and make a
// call or answer one. It is for a document in which nothing else is found.
func findLone(set *dialect.Set, v source.Value) []Place {
	f := newFinder(set, v)
	f.lone = true
	f.value(v, nil, Place{}, 0)
	return f.found
}

func newFinder(set *dialect.Set, v source.Value) *finder {
	return &finder{set: set, taken: map[source.Span]bool{}, left: budget(v)}
}

// budget is how many bytes of a value may be looked at below freeDepth.
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
	// pieces is set where there are events of a stream that bring an answer piece by
	// piece.
	pieces bool
	// sums look into what repeats the messages of other spans.
	sums []func()
	// taken are values whose messages are found already.
	taken map[source.Span]bool
	lists bool  // there are lists of objects that are no messages
	wraps bool  // their elements are looked at for what they are around
	left  int64 // how many bytes may still be looked at below freeDepth
	lone  bool  // messages that stand alone are looked for too
}

// isTaken reports whether the messages of a value are found already.
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
	if class, log := listClass(f.set, v, nil); class != ClassOther {
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
	n := 0
	for range v.Present() {
		if n++; n > 1 {
			break
		}
	}
	sub := ctx
	sub.listed = sub.listed || n > 1
	var rows *Rows // of a list of rows that are made alike
	if n > 1 && ctx.Unfolded == nil && !ctx.HintSure && !f.lone {
		rows = NewRows(f.set)
	}
	for i, e := range v.Present() {
		if k := e.Kind(); k != source.Array && k != source.Object {
			continue
		}
		f.element(rows, e, append(path, strconv.Itoa(i)), sub, depth+1)
	}
}

// element looks into an element of a list, of which others may have been made alike.
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
		p.Pointer, p.listed = at+p.Pointer, ctx.listed
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

// inList reports whether a path ends with the place of an element: where the others of
// its list are no messages, one of them does not stand alone.
func inList(path []string) bool {
	if len(path) == 0 {
		return false
	}
	_, err := strconv.Atoi(path[len(path)-1])
	return err == nil
}

func (f *finder) object(v source.Value, path []string, ctx Place, depth int) {
	// An object that speaks is somebody's message, not a holder of messages.
	if d, claim, _ := f.set.ClaimOf(v); claim == evidence.Decisive && depth > 0 ||
		v.Get("role").Kind() == source.String && (isMessage(claim, v) || evidence.UsesUnknownTools(v)) {
		if f.lone && claim == evidence.Decisive && !inList(path) && pairs(d, v) {
			ctx.Traced, ctx.Hint = true, d // what is missing can be in another place
			f.emit(ctx, path, ClassMessage, nil, v)
		}
		return
	}
	ctx = f.beside(v, ctx)
	// There can be very many members: only names are kept, and of them those that are
	// asked for below.
	var present, nulls []string
	model, request, attributes := false, false, false
	w, _ := pieces.Weigh(v)
	piece := w > evidence.None // a piece of an answer is no conversation, and the rest may hold one
	f.pieces = f.pieces || piece
	for k, val := range v.Members() {
		switch {
		case val.Kind() == source.Null: // as if it were not there
			if f.asksFor(k) {
				nulls = append(nulls, k.Str())
			}
			continue
		case piece && slices.ContainsFunc(pieceMembers, k.Is):
			continue
		case f.asksFor(k):
			present = append(present, k.Str())
		}
		model = model || (k.Is("model") || k.Is("modelId")) && val.Kind() == source.String || k.Is("anthropic_version")
		request = request || slices.ContainsFunc(requestKeys, k.Is)
		if ctx.Unfolded == nil && ctx.CheckOnly != spanCheckOnly && !attributes { // not those of a span around them
			attributes = isAttribute(k.Str())
		}
	}
	// A member of that name holds a request, whatever else is in it.
	if n := len(path); n > 0 && (path[n-1] == "body" || path[n-1] == "params") {
		request = true
	}
	has := func(key string) bool { return slices.Contains(present, key) }
	// A program writes what its objects have, whether there is anything in it or not.
	named := func(key string) bool { return has(key) || slices.Contains(nulls, key) }
	for key, beside := range requestBeside {
		model = model || has(key) && slices.ContainsFunc(beside, has)
	}
	ctx.model, ctx.body = model, model && request
	switch {
	case ctx.Unfolded != nil:
	case isSpan(has) || named("parentObservationId") && isSpan(named):
		ctx.CheckOnly = spanCheckOnly
		f.span(v, path, ctx)
	case attributes:
		ctx.CheckOnly = spanCheckOnly
		f.spans = true
		f.tell(v, path, ctx)
	}
	var used []string // members whose messages are found already
	start := len(f.found)
	holder := f.holderOf(has, named)
	if holder != nil {
		ctx.Hint, ctx.HintSure = holder, true
		ctx.model, ctx.body = false, false // a file of a program is not a request
	}
	for i := range composites {
		comp := &composites[i]
		parts := f.composite(v, comp)
		if parts == nil || ctx.HintSure {
			continue
		}
		sub := ctx
		params := v.Get(comp.first[0])
		if params.Kind() == source.Object {
			sub.Elsewhere = sub.Elsewhere || stateID(params.Get("previous_response_id"))
		}
		if !comp.bothSent {
			sub.body, sub.model, sub.answered = false, false, true
		}
		f.emit(sub, append(path, comp.first...), ClassMessage, nil, parts...)
		used = []string{comp.first[0], comp.second[0]}
		break
	}
	before := len(f.found)
	isCopy := func(key string) bool { return slices.ContainsFunc(copies[key], has) }
	holds := func(key string) bool {
		for k, val := range v.Members() {
			if k.Is(key) && holdsAny(val) && !(piece && slices.Contains(pieceMembers, key)) {
				return true
			}
		}
		return false
	}
	// isForm reports whether a member is another form of what has been found.
	isForm := func(key string) bool {
		of, form := forms[key]
		if of == "" {
			return form && len(f.found) > start
		}
		return holds(of)
	}
	// What repeats other members comes last: it is looked at where they make no
	// calls, and another form of any of them where none holds messages.
	rank := func(key string) int {
		switch of, form := forms[key]; {
		case form && of == "":
			return 2
		case isCopy(key):
			return 1
		}
		return 0
	}
	ranks := 1
	for turn := 0; turn < ranks; turn++ {
		for k, val := range v.Members() {
			if kind := val.Kind(); kind != source.Array && kind != source.Object || piece && slices.ContainsFunc(pieceMembers, k.Is) {
				continue
			}
			key := k.Str()
			if r := rank(key); r != turn {
				ranks = max(ranks, r+1)
				continue
			}
			if slices.Contains(used, key) || holder != nil && !holder.Holder.Reads(key) || f.isTaken(val, ctx) ||
				isForm(key) || isCopy(key) && slices.ContainsFunc(f.found[before:], f.decided) {
				continue
			}
			sub := ctx
			sub.Traced = sub.Traced || slices.Contains(traceKeys, key) || key == "inputs" && (has("outputs") || has("run_type"))
			if f.alone(key, path, sub.Traced) {
				if d, claim, _ := f.set.ClaimOf(val); isMessage(claim, val) {
					sub.Traced, sub.Hint = true, d
					f.emit(sub, append(path, key), ClassMessage, nil, val)
					continue
				}
			}
			f.value(val, append(path, key), sub, depth+1)
		}
	}
}

// asksFor reports whether it is asked for a member of that name where others of the
// object are looked at.
func (f *finder) asksFor(key source.Value) bool {
	return slices.ContainsFunc(asked, key.Is) ||
		slices.ContainsFunc(f.set.Holders(), func(d *dialect.Dialect) bool { return slices.ContainsFunc(d.Holder.Members, key.Is) })
}

// asked are the names of members that are asked for beside those of holders.
var asked = func() []string {
	out := slices.Concat(spanIDs, spanMembers, []string{"outputs", "run_type"})
	for _, of := range copies {
		out = append(out, of...)
	}
	for key, beside := range requestBeside {
		out = append(append(out, key), beside...)
	}
	return out
}()

// holdsAny reports whether a value is a list or an object with anything in it.
func holdsAny(v source.Value) bool {
	for range v.Members() {
		return true
	}
	return v.First().Exists()
}

// beside returns what is known of the messages in an object by what it says beside
// them: for which model they are, whom they go to, and what else the API knows.
func (f *finder) beside(v source.Value, ctx Place) Place {
	ctx.Model = ""
	var hosts []string
	for k, val := range v.Members() {
		text := val.Kind() == source.String
		switch string(k.Text()) {
		case "model", "modelId":
			if text {
				ctx.Model = val.Str()
			}
		case "previous_response_id", "conversation":
			ctx.Elsewhere = ctx.Elsewhere || stateID(val)
		case "host", "url", "uri", "endpoint", "base_url", "baseUrl", "baseURL", "api_base", "apiBase", "provider", "custom_llm_provider":
			if text {
				hosts = append(hosts, val.Str())
			}
		}
	}
	ctx.Hosts = append(hosts, ctx.Hosts...)
	ctx.Holder = v.Span()
	ctx.Hint = cmp.Or(f.set.RequestOf(v), ctx.Hint)
	return ctx
}

// decided reports whether something in a place is written as only one dialect
// does.
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

// holderOf returns the dialect that alone keeps messages in an object with such
// members, nil where that does not tell. A member may be null, which named knows, if
// most are not.
func (f *finder) holderOf(has, named func(key string) bool) *dialect.Dialect {
	for _, d := range f.set.Holders() {
		filled, missing := 0, false
		for _, key := range d.Holder.Members {
			missing = missing || !named(key)
			if has(key) {
				filled++
			}
		}
		if !missing && 2*filled > len(d.Holder.Members) {
			return d
		}
	}
	return nil
}

// alone reports whether a member may hold a message that stands alone: a choice,
// a batch's result, or one of the outputs of a step. What was answered to a
// recorded request is left out, as it stands in the next request again; but not
// the candidates, each of which may be gone on with.
func (f *finder) alone(key string, path []string, traced bool) bool {
	if n := len(path); key == "content" && n > 1 && path[n-2] == "candidates" {
		return true
	}
	if key == "message" {
		return traced || slices.Contains(path, "result")
	}
	return traced && key != "response" && !slices.Contains(path, "response")
}

// composite returns the parts of a conversation that stands in two places of
// v, or nil unless the second is there and speaks. An answer that the first ends with
// is read once.
func (f *finder) composite(v source.Value, c *composite) []source.Value {
	var parts []source.Value
	for i, path := range [][]string{c.first, c.second} {
		p := v
		for _, key := range path {
			if n, err := strconv.Atoi(key); err == nil {
				next := source.Value{}
				for j, e := range p.Elements() {
					if j == n {
						next = e
						break
					}
				}
				p = next
				continue
			}
			p = p.Get(key)
		}
		switch {
		case p.Kind() == source.Array:
			class, _ := listClass(f.set, p, nil)
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
		case i == 0 && p.Kind() == source.String && len(path) > 1:
			// A prompt that is only text.
		default:
			return nil
		}
	}
	if len(parts) == 2 && !c.bothSent && endsWith(parts[0], parts[1]) {
		return parts[:1]
	}
	return parts
}

// stateID reports whether a value names state on the provider's side: an id, or an
// object with one and nothing that could be the state itself.
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

// escaped writes a name as JSON pointers do.
var escaped = strings.NewReplacer("~", "~0", "/", "~1")
