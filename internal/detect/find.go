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

// Slice reports whether this may be only part of a conversation, so that a missing result
// may be elsewhere.
func (p *Place) Slice() bool { return p.Traced || p.CheckOnly == spanCheckOnly }

// Answered reports whether the conversation ends with output of the model.
func (p *Place) Answered() bool { return p.answered }

// A composite is a conversation of two arrays, given as paths from the object that holds
// them.
type composite struct {
	first, second []string
	// bothSent is set if both are sent; otherwise the second is the answer.
	bothSent bool
}

var composites = []composite{
	{first: []string{"responses_create_params", "input"}, second: []string{"response", "output"}},
	{first: []string{"messages"}, second: []string{"response", "choices", "0", "message"}},
	{first: []string{"input"}, second: []string{"output"}},
	{first: []string{"chat_history"}, second: []string{"tool_results"}, bothSent: true},
}

// copies maps fields to the fields whose messages they repeat. A copy is ignored if one
// of those fields has calls.
var copies = map[string][]string{
	"trajectory": {"history", "messages"},
	"events":     {"messages", "Messages", "samples", "history"},
	"spans":      {"messages"},
	"trace":      {"observations"},
}

// forms maps fields to the field whose messages they hold in another form, or to "" if
// that may be any field. The other form is a converted version or a part of the messages.
var forms = map[string]string{
	"raw_messages":         "messages",
	"model_input_messages": "",
	"tool_results":         "message", // each repeats its call
}

// requestKeys are keys that only a request body has beside its messages.
var requestKeys = []string{
	"max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "top_p", "stream", "tool_choice",
	"parallel_tool_calls", "response_format", "stop", "reasoning", "thinking", "anthropic_version", "system",
	"inferenceConfig", "toolConfig", "generationConfig", "generation_config",
}

// requestBeside maps a key to other keys. An object with the key and one of the others is
// a request.
var requestBeside = map[string][]string{
	"contents": {"generationConfig", "generation_config", "tools", "systemInstruction", "system_instruction"},
}

// traceKeys are the keys of what a model or a step put out.
var traceKeys = []string{"output", "outputs", "choices", "spans", "response", "preferred_output", "non_preferred_output"}

// alternatives are the keys of arrays whose elements wrap one message each but do not
// form a conversation.
var alternatives = []string{"choices", "candidates", "generations", "results", "responses"}

// Find returns the places of conversations in v, in order.
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
	lists bool  // there are arrays of objects that are not messages
	wraps bool  // the elements of arrays are searched for wrapped messages
	left  int64 // how many bytes may still be searched below freeDepth
	lone  bool  // single messages are wanted too
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
		if f.lone && claim == evidence.Decisive && !inList(path) && pairs(d, v) {
			ctx.Traced, ctx.Hint = true, d // a missing result may be elsewhere
			f.emit(ctx, path, ClassMessage, nil, v)
		}
		return
	}
	ctx = f.beside(v, ctx)
	// An object can have very many fields, so only the keys that are needed below are
	// kept.
	var present, nulls []string
	model, request, attributes := false, false, false
	w, _ := pieces.Weigh(v, false)
	piece := w > evidence.None // a piece of an answer is not a conversation, but other fields may hold one
	f.pieces = f.pieces || piece
	for k, val := range v.Members() {
		switch {
		case val.Kind() == source.Null: // null counts as absent
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
		if ctx.Unfolded == nil && ctx.CheckOnly != spanCheckOnly && !attributes { // not those of an enclosing span
			attributes = isAttribute(k.Str())
		}
	}
	// A field of this name holds a request, whatever else it contains.
	if n := len(path); n > 0 && (path[n-1] == "body" || path[n-1] == "params") {
		request = true
	}
	has := func(key string) bool { return slices.Contains(present, key) }
	// Programs write the fields of their objects even if they are null.
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
	var used []string // fields whose messages have been found
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
	// isForm reports whether a field is another form of what has been found.
	isForm := func(key string) bool {
		of, form := forms[key]
		if of == "" {
			return form && len(f.found) > start
		}
		return holds(of)
	}
	// Search copies and other forms last. A copy is searched if the original has no
	// calls, and another form of any field if no field has messages.
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

// asksFor reports whether the search of an object needs to know that it has the given
// key.
func (f *finder) asksFor(key source.Value) bool {
	return slices.ContainsFunc(asked, key.Is) ||
		slices.ContainsFunc(f.set.Holders(), func(d *dialect.Dialect) bool { return slices.ContainsFunc(d.Holder.Members, key.Is) })
}

// asked are the keys that asksFor reports in addition to those of holders.
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

// holdsAny reports whether a value is an array or object that is not empty.
func holdsAny(v source.Value) bool {
	for range v.Members() {
		return true
	}
	return v.First().Exists()
}

// beside returns the place with what the fields beside the messages say: the dialect, the
// model, the addresses, and whether the API has other state.
func (f *finder) beside(v source.Value, ctx Place) Place {
	ctx = ctx.beside(v)
	ctx.Hint = cmp.Or(f.set.RequestOf(v), ctx.Hint)
	return ctx
}

// beside is the part of finder.beside that does not depend on dialects.
func (p Place) beside(v source.Value) Place {
	p.Model = ""
	var hosts []string
	for k, val := range v.Members() {
		text := val.Kind() == source.String
		switch string(k.Text()) {
		case "model", "modelId":
			if text {
				p.Model = val.Str()
			}
		case "previous_response_id", "conversation":
			p.Elsewhere = p.Elsewhere || stateID(val)
		case "host", "url", "uri", "endpoint", "base_url", "baseUrl", "baseURL", "api_base", "apiBase", "provider", "custom_llm_provider":
			if text {
				hosts = append(hosts, val.Str())
			}
		}
	}
	p.Hosts = append(hosts, p.Hosts...)
	p.Holder = v.Span()
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

// holderOf returns the only dialect that keeps messages in an object with the given keys,
// or nil. named also accepts keys with null values, but most values must not be null.
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

// composite returns the parts of a conversation in two places of v. It returns nil unless
// the second part has messages. If the first part already ends with the answer, the
// second is left out.
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
