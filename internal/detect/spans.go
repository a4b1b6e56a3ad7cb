package detect

import (
	"bytes"
	"iter"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/unfold"
)

// spanCheckOnly says why spans are not repaired.
const spanCheckOnly = "spans record what was sent"

// A telling is a convention for the span attributes that hold the input and output of a
// model. An attribute may hold the messages directly or as JSON text. It may also be
// spread over attributes whose names have its name as a prefix.
type telling struct {
	in, out string
	// call is the name of the attribute with output calls that are in no message.
	call string
	// drop are segments in the names of spread attributes that only wrap.
	drop []string
	// into maps a place of a spread value in its message to the place where it belongs;
	// "*" stands for a number.
	into map[string]string
	// dialect is the dialect of messages that could be in several. Messages from spread
	// attributes are always in it.
	dialect *dialect.Dialect
	// sum is set if the attribute repeats the messages of child spans.
	sum bool
}

// tellings lists the conventions. For each span, only the first one with messages counts,
// because the others repeat it.
var tellings = []telling{
	{in: "gen_ai.input.messages", out: "gen_ai.output.messages", dialect: dialect.OTel}, // the semantic conventions of OpenTelemetry
	{
		in: "llm.input_messages", out: "llm.output_messages", // OpenInference
		drop: []string{"message"}, dialect: dialect.OpenInference,
	},
	{
		in: "gen_ai.prompt", out: "gen_ai.completion", // OpenLLMetry
		into: map[string]string{
			"tool_calls.*.id": "tool_calls.*.tool_call.id", "tool_calls.*.name": "tool_calls.*.tool_call.function.name",
			"tool_calls.*.arguments": "tool_calls.*.tool_call.function.arguments",
		},
		dialect: dialect.OpenInference,
	},
	{in: "ai.prompt.messages", out: "ai.response.messages", call: "ai.response.toolCalls", dialect: dialect.AISDK},
	{in: "input.value", out: "output.value"},
	{in: "input", out: "output"}, // observations of Langfuse
	{in: "langfuse.observation.input", out: "langfuse.observation.output"},
	{in: "mlflow.spanInputs", out: "mlflow.spanOutputs"},
	{in: "traceloop.entity.input", out: "traceloop.entity.output"},
	{in: "gcp.vertex.agent.llm_request", out: "gcp.vertex.agent.llm_response"}, // the Agent Development Kit
	{in: "request_data", out: "response_data"},                                 // Logfire
	{in: "events"}, // Pydantic AI, before it had the conventions
	{in: "pydantic_ai.all_messages", sum: true},
	{in: "all_messages_events", sum: true},
}

// hasAttribute reports whether a key makes an object the attributes of a span even without
// the span. Only the names of some conventions are unique enough for that.
func hasAttribute(v source.Value) bool {
	for k, val := range v.Members() {
		if raw := k.Raw(); val.Kind() != source.Null && bytes.IndexByte(raw, '.') > 0 {
			key := k.Str()
			if slices.ContainsFunc(tellings, func(t telling) bool {
				return t.names(key, t.in) || t.names(key, t.out) || t.names(key, t.call)
			}) {
				return true
			}
		}
	}
	return false
}

// names reports whether an attribute has the given name or is a part of it.
func (t *telling) names(key, name string) bool {
	return strings.IndexByte(name, '.') > 0 && strings.HasPrefix(key, name) && (len(key) == len(name) || key[len(name)] == '.')
}

// span searches a span for messages that are not stored as plain messages.
func (f *finder) span(v source.Value, path []string, ctx Place) {
	f.spans = true
	get := func(key string) source.Value {
		for k, val := range v.Members() {
			if k.Is(key) && val.Kind() != source.Null {
				return val
			}
		}
		return source.Value{}
	}
	f.tell(v, path, ctx)
	for _, key := range []string{"attributes", "span_attributes", "tags"} {
		f.tell(get(key), append(path, key), ctx)
	}
	for _, key := range []string{"events", "span_events", "logs"} {
		list := get(key)
		if f.spoken(list, append(path, key), ctx) {
			continue
		}
		for i, e := range list.Elements() {
			for _, in := range []string{"attributes", "fields"} {
				f.tell(e.Get(in), append(path, key, strconv.Itoa(i), in), ctx)
			}
		}
	}
}

// tell searches the attributes in an object, or in an array of keys and values.
func (f *finder) tell(holder source.Value, path []string, ctx Place) {
	if holder.Kind() != source.Object && holder.Kind() != source.Array {
		return
	}
	all := attributesOf(holder)
	for i := range tellings {
		t := &tellings[i]
		if t.sum {
			at := slices.Clone(path)
			f.sums = append(f.sums, func() { f.told(t, all, at, ctx) })
			continue
		}
		if f.told(t, all, path, ctx) {
			return
		}
	}
}

// told reports whether a convention has any messages.
func (f *finder) told(t *telling, all attributes, path []string, ctx Place) bool {
	w := attributeWriter{u: &unfold.Unfolded{}, telling: t}
	w.write(all)
	if !w.unfolded {
		// The conversation is found in its own place.
		return slices.ContainsFunc(w.plain, func(p plainAttribute) bool { return len(Find(f.set, p.val)) > 0 })
	}
	before := len(f.found)
	ctx.Unfolded, ctx.Traced = w.u, true
	if t.dialect != nil {
		ctx.Hint, ctx.HintSure = t.dialect, w.spread
	}
	v := w.u.Value()
	if parts := f.composite(v.Get(t.in), v.Get(t.out), &composite{}); parts != nil {
		ctx.answered = true
		f.emit(ctx, append(path, t.in), ClassMessage, nil, parts...)
	} else {
		f.object(v, path, ctx, freeDepth/2)
	}
	if len(f.found) == before {
		return false
	}
	for _, at := range w.read {
		f.taken[at] = true
	}
	return true
}

// attributes are the attributes of a holder. There can be very many, so only the offsets
// of each are kept.
type attributes struct {
	holder source.Value
	list   []attribute
}

// An attribute is the offsets of a key and its value, relative to the holder. They fit in
// 32 bits because a record is at most 4 GiB long.
type attribute struct {
	key, keyEnd, val, valEnd uint32
	// rest is the offset of the rest of the name if the attribute is one part of a spread
	// value; 0 otherwise.
	rest int32
	// number is the number at the start of the rest.
	number int32
}

// attributesOf returns the attributes of a holder.
func attributesOf(holder source.Value) attributes {
	n := 0
	for range members(holder) {
		n++
	}
	as := attributes{holder, make([]attribute, 0, n)} // growing the list would hold it twice
	start := holder.Span().Start
	for k, val := range members(holder) {
		key, val := k.Span(), val.Span()
		as.list = append(as.list, attribute{
			key: uint32(key.Start - start), keyEnd: uint32(key.End - start), val: uint32(val.Start - start), valEnd: uint32(val.End - start),
		})
	}
	return as
}

// value returns the value at two offsets.
func (as *attributes) value(from, to uint32) source.Value {
	start := as.holder.Span().Start
	return as.holder.Part(source.Span{Start: start + int64(from), End: start + int64(to)})
}

// val returns the value of an attribute.
func (as *attributes) val(a *attribute) source.Value { return as.value(a.val, a.valEnd) }

// key returns the key of an attribute.
func (as *attributes) key(a *attribute) []byte {
	k := as.value(a.key, a.keyEnd)
	if raw := k.Raw(); bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	return []byte(k.Str())
}

// rest returns the rest of the name of a spread attribute.
func (as *attributes) rest(a *attribute) string { return string(as.key(a)[a.rest:]) }

// named returns the attributes with the given name, and those that have it as a prefix.
// Keys may also be nested.
func (as *attributes) named(name string) attributes {
	out := attributes{holder: as.holder}
	alike := func(key []byte) bool {
		return len(key) >= len(name) && string(key[:len(name)]) == name && (len(key) == len(name) || key[len(name)] == '.')
	}
	n := 0
	for i := range as.list {
		if alike(as.key(&as.list[i])) {
			n++
		}
	}
	out.list = slices.Grow(out.list, n)
	for _, a := range as.list {
		key := as.key(&a)
		if alike(key) {
			if len(key) > len(name) {
				a.rest = int32(len(name) + 1)
			}
			out.list = append(out.list, a)
			continue
		}
		if len(name) <= len(key) || name[len(key)] != '.' || name[:len(key)] != string(key) {
			continue
		}
		if v := as.val(&a); v.Kind() == source.Object {
			inner := attributesOf(v)
			for _, in := range inner.named(name[len(key)+1:]).list {
				in.key, in.keyEnd, in.val, in.valEnd = in.key+a.val, in.keyEnd+a.val, in.val+a.val, in.valEnd+a.val
				out.list = append(out.list, in)
			}
		}
	}
	return out
}

// members yields the attributes in a holder, which is an object or an array of keys and
// values. It skips null values.
func members(holder source.Value) iter.Seq2[source.Value, source.Value] {
	return func(yield func(key, val source.Value) bool) {
		for key, val := range holder.Members() {
			if there(val) && !yield(key, val) {
				return
			}
		}
		for _, e := range holder.Elements() {
			if key, val := e.Get("key"), e.Get("value"); key.Kind() == source.String && there(val) && !yield(key, val) {
				return
			}
		}
	}
}

// An attributeWriter assembles the values of a telling.
type attributeWriter struct {
	*telling
	u        *unfold.Unfolded
	unfolded bool // part of it was stored in another form
	spread   bool // it is spread over several attributes
	plain    []plainAttribute
	read     []source.Span // the arrays and objects that were read for it
}

// A plainAttribute holds messages in plain form.
type plainAttribute struct {
	name string
	val  source.Value
}

func (w *attributeWriter) write(all attributes) {
	holder := all.holder
	listed := holder.Kind() == source.Array
	w.u.Make("{", holder, nil)
	for _, name := range []string{w.in, w.out} {
		if name == "" {
			continue
		}
		attrs := all.named(name)
		if name == w.out && len(attrs.list) == 0 && w.call != "" {
			attrs = all.named(w.call)
		}
		for i := range attrs.list {
			v := attrs.val(&attrs.list[i])
			if k := v.Kind(); k == source.Array || k == source.Object {
				w.read = append(w.read, v.Span())
			}
		}
		whole := slices.IndexFunc(attrs.list, func(a attribute) bool { return a.rest == 0 })
		switch {
		case len(attrs.list) == 0:
		case whole < 0:
			w.tree(name, attrs)
		default:
			w.whole(name, attrs.val(&attrs.list[whole]), listed)
		}
	}
	if !w.unfolded {
		return
	}
	for _, p := range w.plain {
		w.u.Field(p.name, p.val, nil)
		w.u.Copy(p.val, nil)
	}
	w.u.Make("}", holder, nil)
}

// whole writes the value of one attribute, unless that is only text or plain messages.
func (w *attributeWriter) whole(name string, val source.Value, listed bool) {
	before := w.u.Len()
	w.u.Field(name, val, nil)
	at := w.u.Len()
	v := unfolded(w.u, val, listed)
	if v.Exists() {
		w.u.Cut(before)
		if k := v.Kind(); k != source.Array && k != source.Object {
			return
		}
		if !framed(v) {
			w.plain = append(w.plain, plainAttribute{name, v})
			return
		}
		w.u.Field(name, val, nil)
		writeMessages(w.u, v, nil)
	} else if framed(w.u.Since(at)) {
		w.u.Cut(at)
		one := &unfold.Unfolded{}
		unfolded(one, val, listed)
		writeMessages(w.u, one.Value(), one)
	}
	w.unfolded = true
}

// unfolded writes a value that is stored in another form. It returns any other value
// without writing it.
func unfolded(u *unfold.Unfolded, val source.Value, listed bool) source.Value {
	if listed && val.Kind() == source.Object {
		return anyValue(u, val)
	}
	if unfoldedValue(u, val) {
		return source.Value{}
	}
	return val
}

// anyValue unwraps an AnyValue of the OpenTelemetry protocol. It returns the inner value
// if that needs no unfolding.
func anyValue(u *unfold.Unfolded, val source.Value) source.Value {
	switch scalar := anyScalar.In(val); {
	case !there(scalar):
		u.Reserve(len(val.Raw()) / 2) // the rest describes the types of the values
		writeAnyValue(u, val)
	case !u.Decode(scalar, nil):
		return scalar
	}
	return source.Value{}
}

// anyScalar selects a scalar in an AnyValue of OTLP.
const anyScalar dialect.Lens = "stringValue|string_value|boolValue|bool_value|intValue|int_value|doubleValue|double_value|bytesValue|bytes_value"

// anyCompound selects an array or object in an AnyValue of OTLP.
const anyCompound dialect.Lens = "arrayValue|array_value|kvlistValue|kvlist_value"

// known reports whether val is a known AnyValue. An AnyValue without fields is null.
func known(val source.Value) bool {
	return anyScalar.Leads(val) || anyCompound.Leads(val) || string(val.Raw()) == "{}"
}

// there reports whether an attribute has a value. The value of an array element is an
// AnyValue, which is null if all its fields are.
func there(val source.Value) bool {
	nulls := 0
	for _, v := range val.Members() {
		if v.Kind() != source.Null {
			return true
		}
		nulls++
	}
	return val.Exists() && val.Kind() != source.Null && nulls == 0
}

// writeAnyValue writes an AnyValue of OTLP as plain JSON.
func writeAnyValue(u *unfold.Unfolded, val source.Value) {
	list, object := dialect.Lens("arrayValue|array_value").In(val), dialect.Lens("kvlistValue|kvlist_value").In(val)
	switch scalar := anyScalar.In(val); {
	case there(scalar):
		u.Copy(scalar, nil)
	case there(list):
		u.Make("[", list, nil)
		for _, e := range list.Get("values").Elements() {
			if !known(e) {
				continue
			}
			u.Next(e, nil)
			if !u.Decode(dialect.Lens("stringValue|string_value").In(e), nil) {
				writeAnyValue(u, e)
			}
		}
		u.Make("]", list, nil)
	case there(object):
		u.Make("{", object, nil)
		for key, val := range members(object.Get("values")) {
			u.Next(key, nil)
			u.Copy(key, nil)
			u.Make(":", key, nil)
			writeAnyValue(u, val)
		}
		u.Make("}", object, nil)
	default:
		u.Make("null", val, nil)
	}
}

// unfoldedValue writes the array or object in a JSON string, or in an array of such
// strings. It returns false for anything else.
func unfoldedValue(u *unfold.Unfolded, val source.Value) bool {
	if val.Kind() != source.Array || val.First().Kind() != source.String {
		return u.Decode(val, nil)
	}
	before, decoded := u.Len(), false
	u.Reserve(len(val.Raw()))
	u.Make("[", val, nil)
	for _, e := range val.Elements() {
		u.Next(e, nil)
		if u.Decode(e, nil) {
			decoded = true
		} else {
			u.Copy(e, nil)
		}
	}
	u.Make("]", val, nil)
	if !decoded {
		u.Cut(before)
	}
	return decoded
}

// framed reports whether the elements of an array are not messages but can be converted:
// events, or single calls as the AI SDK writes them for output.
func framed(v source.Value) bool {
	e := v.First()
	return speakers[e.Get("event.name").Str()] != "" ||
		e.Get("toolCallId").Exists() && e.Get("toolName").Exists() && !e.Get("type").Is("tool-result")
}

// writeMessages writes such elements as messages.
func writeMessages(u *unfold.Unfolded, v source.Value, in *unfold.Unfolded) {
	if v.First().Get("event.name").Exists() {
		u.Make("[", v, in)
		for _, e := range v.Elements() {
			if name := e.Get("event.name").Str(); speakers[name] != "" {
				writeEvent(u, name, e, in)
			}
		}
		u.Make("]", v, in)
		return
	}
	u.Make(`{"role":"assistant","content":[`, v, in)
	for _, e := range v.Elements() {
		u.Next(e, in)
		u.Make(`{"type":"tool-call"`, e, in)
		for k, val := range e.Members() {
			if k.Is("type") {
				continue
			}
			u.Next(k, in)
			u.Copy(k, in)
			u.Make(":", k, in)
			u.Copy(val, in)
		}
		u.Make("}", e, in)
	}
	u.Make("]}", v, in)
}

// speakers maps the names of events that are messages to their roles.
var speakers = map[string]string{
	"gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant",
	"gen_ai.tool.message": "tool", "gen_ai.choice": "assistant",
}

// spoken finds the conversation in the events of a span, each of which is a message. It
// returns false if there is none.
func (f *finder) spoken(list source.Value, path []string, ctx Place) bool {
	u := &unfold.Unfolded{}
	u.Make("[", list, nil)
	is := false
	for _, e := range list.Elements() {
		name := e.Get("name").Str()
		if speakers[name] == "" {
			continue
		}
		is = true
		body, in := e.Get("attributes"), (*unfold.Unfolded)(nil)
		all := attributesOf(body)
		if whole := all.named("gen_ai.event.content"); len(whole.list) == 1 {
			one := &unfold.Unfolded{}
			if one.Decode(plainLeaf(whole.val(&whole.list[0])), nil) {
				body, in = one.Value(), one
			}
		}
		writeEvent(u, name, body, in)
	}
	u.Make("]", list, nil)
	if !is {
		return false
	}
	before := len(f.found)
	ctx.Unfolded, ctx.Traced = u, true
	f.value(u.Value(), path, ctx, freeDepth/2)
	if len(f.found) == before {
		return false
	}
	f.taken[list.Span()] = true
	return true
}

// writeEvent writes an event with the given name as a message.
func writeEvent(u *unfold.Unfolded, name string, body source.Value, in *unfold.Unfolded) {
	role := speakers[name]
	u.Next(body, in)
	u.Make("{", body, in)
	member := func(key string, k, val source.Value) {
		u.Field(key, k, in)
		one := &unfold.Unfolded{}
		switch {
		case one.Decode(val, in) && one.Value().Kind() == source.Array:
			if one.Value().First().Get("toolResult").Exists() {
				role = "user" // the role that Bedrock uses for results
			}
			u.Copy(one.Value(), one)
		default:
			u.Copy(val, in)
		}
	}
	inner := func(k, val source.Value) {
		switch key := k.Str(); {
		case key == "id" && role == "tool":
			member("tool_call_id", k, val)
		case key == "content", key == "tool_calls", key == "tool_call_id", key == "name", key == "parts":
			member(key, k, val)
		}
	}
	for k, val := range members(body) {
		val = plainLeaf(val)
		if !k.Is("message") {
			inner(k, val)
			continue
		}
		one := &unfold.Unfolded{}
		switch {
		case val.Kind() == source.Object:
			for k, val := range members(val) {
				inner(k, val)
			}
		case one.Decode(val, in) && one.Value().Kind() == source.Object:
			for k, val := range one.Value().Members() {
				if k.Is("content") || k.Is("tool_calls") {
					u.Next(k, one)
					u.Copy(k, one)
					u.Make(":", k, one)
					u.Copy(val, one)
				}
			}
		default:
			member("content", k, val)
		}
	}
	u.Field("role", body, in)
	u.Make(source.Quote(role)+"}", body, in)
}

// A branch is a part of an array that is spread over attributes.
type branch struct {
	key  string
	val  source.Value // of a leaf
	subs []*branch
	at   map[string]*branch // by key, if there are many subs
}

// fewSubs is how many subs are searched linearly.
const fewSubs = 16

func (n *branch) sub(key string) *branch {
	if s := n.at[key]; s != nil {
		return s
	}
	for _, s := range n.subs[:min(len(n.subs), fewSubs)] {
		if s.key == key {
			return s
		}
	}
	s := &branch{key: key}
	if len(n.subs) >= fewSubs {
		if n.at == nil {
			n.at = map[string]*branch{}
		}
		n.at[key] = s
	}
	n.subs = append(n.subs, s)
	return s
}

// tree writes an array that is spread over attributes. It assembles the elements one by
// one.
func (w *attributeWriter) tree(name string, attrs attributes) {
	size, list := 0, attrs.list
	for i := range list {
		a := &list[i]
		key := attrs.key(a)[a.rest:]
		first, _, _ := bytes.Cut(key, []byte("."))
		n, err := strconv.Atoi(string(first))
		if err != nil || n < 0 || n > math.MaxInt32 {
			return // not an array
		}
		a.number = int32(n)
		size += len(key) + int(a.valEnd-a.val) + len(`{"":},`)
	}
	w.unfolded, w.spread = true, true
	w.u.Reserve(size)
	w.u.Field(name, attrs.val(&list[0]), nil)
	sort.SliceStable(list, func(i, j int) bool { return list[i].number < list[j].number })
	var n *branch
	for lo, hi := 0, 0; lo < len(list); lo = hi {
		n = &branch{}
		for hi = lo; hi < len(list) && list[hi].number == list[lo].number; hi++ {
			leaf := n
			for _, seg := range w.place(attrs.rest(&list[hi])) {
				leaf = leaf.sub(seg)
			}
			leaf.val = attrs.val(&list[hi])
		}
		if lo == 0 {
			w.u.Make("[", n.first(), nil)
		}
		for _, s := range n.subs { // a number can be spelled in two ways
			w.u.Next(s.first(), nil)
			w.branch(s)
		}
	}
	w.u.Make("]", n.last(), nil)
}

// place returns the path in the array of a value whose name has the given rest.
func (w *attributeWriter) place(name string) []string {
	rest := strings.Split(name, ".")
	if len(rest) > 1 && slices.Contains(w.drop, rest[1]) {
		rest = slices.Delete(rest, 1, 2)
	}
	if len(rest) != 4 {
		return rest
	}
	at := rest[2]
	if into := w.into[rest[1]+".*."+rest[3]]; into != "" {
		return append(rest[:1], strings.Split(strings.Replace(into, "*", at, 1), ".")...)
	}
	return rest
}

// plainLeaf returns the value of an attribute without an AnyValue around it.
func plainLeaf(val source.Value) source.Value {
	if s := anyScalar.In(val); there(s) {
		return s
	}
	return val
}

// order sorts the parts by their numbers. list reports whether they form an array.
func (n *branch) order() (subs []*branch, list bool) {
	num := func(s *branch) int {
		if i, err := strconv.Atoi(s.key); err == nil {
			return i
		}
		return -1
	}
	list = len(n.subs) > 0 && !slices.ContainsFunc(n.subs, func(s *branch) bool { return num(s) < 0 })
	if list {
		sort.SliceStable(n.subs, func(i, j int) bool { return num(n.subs[i]) < num(n.subs[j]) })
	}
	return n.subs, list
}

// first returns the first value of a branch.
func (n *branch) first() source.Value {
	for len(n.subs) > 0 {
		n = n.subs[0]
	}
	return plainLeaf(n.val)
}

func (n *branch) last() source.Value {
	for len(n.subs) > 0 {
		n = n.subs[len(n.subs)-1]
	}
	return plainLeaf(n.val)
}

func (w *attributeWriter) branch(n *branch) {
	if len(n.subs) == 0 {
		w.u.Copy(plainLeaf(n.val), nil)
		return
	}
	subs, list := n.order()
	begin, end := "{", "}"
	if list {
		begin, end = "[", "]"
	}
	w.u.Make(begin, n.first(), nil)
	for _, s := range subs {
		if list {
			w.u.Next(s.first(), nil)
		} else {
			w.u.Field(s.key, s.first(), nil)
		}
		w.branch(s)
	}
	w.u.Make(end, n.last(), nil)
}
