package detect

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/unfold"
)

// A Class is the role of a value of a file in a transcript.
type Class uint8

// The classes.
const (
	ClassOther        Class = iota
	ClassLog                // a record of a log
	ClassMessage            // an element of a conversation
	ClassConversation       // a value that holds conversations
	ClassPatch              // a record of a log of changes to a document
	ClassFold               // a record of a log whose later records replace earlier ones
	ClassRow                // a row of a table with a message as text in a column
	ClassYAML               // a document of a YAML file
)

// isMessage reports whether a claim of the given weight makes v a message.
func isMessage(claim evidence.Weight, v source.Value) bool {
	return claim > evidence.Plain || claim == evidence.Plain && plainRole(v)
}

// KnownRole reports whether a plain message has a role that agents use. Dialects that
// store the role elsewhere check it themselves.
func KnownRole(v source.Value) bool {
	role := v.Get("role")
	switch role.Str() {
	case "system", "developer", "user", "human", "assistant", "agent", "model", "tool", "function":
		return true
	}
	return strings.HasPrefix(role.Str(), "_")
}

// plainRole reports whether a plain message has a role that agents use, or a field other
// than role for its speaker.
func plainRole(v source.Value) bool {
	return v.Get("role").Kind() != source.String || KnownRole(v)
}

// skipped reports whether v is a bookkeeping record of some dialect.
func skipped(set *dialect.Set, v source.Value) bool {
	return set.First(dialect.Skips, func(d *dialect.Dialect) bool { return d.Driver.(dialect.Skipper).Skips(v) }) != nil
}

// A tally counts the classes of the first records of a file.
type tally struct {
	set           *dialect.Set
	n             int // records counted
	known         int // records that are decisive for a dialect
	unread        int // records of no class that are no sign against a transcript
	books         int // leading records of no class that do not look like messages
	byClass       [ClassRow + 1]int
	logs          candidates // the logs that the records may belong to
	candidates    candidates // the dialects of messages
	pointer       string
	conversations int
	sure          bool
	marked        bool // a record has the marks of a user-defined dialect
	emptyArray    bool
	newSession    *dialect.Dialect // the dialect of a new session file without messages, if the first record begins one
	other         int              // records of no known kind
	prompt        *dialect.Dialect // the dialect of the first request whose only message is a text, such as a request with "input":"hello"
	unspoken      bool             // an object with a conversation that has no messages yet
	unknownTools  int              // messages of an unknown format
	spans         int              // span records without messages
	pieces        int              // records with events of a stream
	noneAlone     bool             // the last record has no single message that makes a call or answers one
	places        []Place
	forced        *dialect.Dialect
	docLog        *dialect.Dialect
	patch         *dialect.Dialect // of the document that a log begins with
	weak          candidates       // dialects whose records could all belong to other dialects
	wraps         wrapTally
	wrap          string   // of the first place found
	keys          []string // of the first object, for the reason
	objects       int      // records that are objects
}

func newTally(opts Options) *tally {
	t := &tally{set: opts.Dialects, forced: opts.Dialect, wraps: wrapTally{set: opts.Dialects}}
	for _, d := range t.set.Having(dialect.Skips) {
		t.weak.of(d)
	}
	return t
}

// startOf returns the offset in the source at which a value starts.
func startOf(v source.Value, in *unfold.Unfolded) int64 {
	if in != nil {
		return in.Origin(v.Span()).Start
	}
	return v.Span().Start
}

// element counts one element of a conversation for every dialect that may have written
// it. It is decisive for at most one dialect, the first one that is sure.
func (t *tally) element(v source.Value, in *unfold.Unfolded) (claimed bool) {
	sure := false
	for _, c := range t.set.Ask(v).Claims() {
		if !isMessage(c.Weight, v) {
			continue
		}
		if sure {
			c.Weight = evidence.Plain
		}
		claimed, sure = true, sure || c.Weight == evidence.Decisive
		t.candidates.element(c.Dialect, c.Weight, c.Sign.In(v), startOf(v, in))
	}
	return claimed
}

// add counts a record and reports whether a dialect reads it.
func (t *tally) add(v source.Value, document bool) (read bool) {
	known, other, unread := t.decisive(), t.byClass[ClassOther], t.unread
	t.wraps.n++
	t.count(v, document)
	if t.decisive() > known {
		t.known++
	}
	if t.byClass[ClassOther] > other {
		if t.books == t.n-1 && !v.Get("role").Exists() {
			t.books++
			return false
		}
		for i := range t.weak {
			t.weak[i].mixed = true
		}
		return false
	}
	// Bookkeeping records before the first message do not count.
	t.n -= t.books
	t.byClass[ClassOther] -= t.books
	t.books = 0
	for i := range t.weak {
		if w := &t.weak[i]; !document && !w.mixed && t.n <= headRecords {
			w.only(v)
		}
	}
	return t.unread == unread
}

// agrees reports whether most records are of one class, several of them are decisive for
// one dialect, and no other dialect comes close.
func (t *tally) agrees() bool {
	bulk := max(t.byClass[ClassLog], t.byClass[ClassMessage], t.byClass[ClassConversation])
	if 4*bulk < 3*t.n || t.unknownTools > 0 {
		return false
	}
	for i := range t.wraps.paths {
		if t.wraps.paths[i].sure > 0 {
			return false
		}
	}
	name, sure := "", 0
	for i := range t.candidates {
		if c := &t.candidates[i]; c.Decisive > 0 {
			if name != "" {
				return false
			}
			name, sure = c.Dialect, c.Decisive
		}
	}
	best := t.logs.best()
	if best == nil || best.Decisive == 0 {
		return sure >= leastSure
	}
	if bulk != t.byClass[ClassLog] || name != "" && name != best.Dialect || best.speaks < leastSure || best.bare() < leastSure {
		return false
	}
	for i := range t.logs {
		if l := &t.logs[i]; l != best && (l.headers > 0 || l.Decisive+leastSure > best.bare()) {
			return false
		}
	}
	return true
}

// leastSure is the number of records that must be decisive for a dialect, in excess of
// any other dialect.
const leastSure = 4

// decisive returns how often something was decisive for a dialect.
func (t *tally) decisive() int {
	n := 0
	for i := range t.candidates {
		n += t.candidates[i].Decisive
	}
	for i := range t.logs {
		n += t.logs[i].Decisive
	}
	return n + t.wraps.sure()
}

func (t *tally) count(v source.Value, document bool) {
	t.n++
	if v.Kind() == source.Object {
		t.objects++
	}
	if v.Kind() == source.Object && t.keys == nil {
		for k := range v.Members() {
			if t.keys = append(t.keys, k.Str()); len(t.keys) == 6 {
				break
			}
		}
	}
	t.marked = t.marked || t.set.ByMarks(v) != nil
	if c := t.logs.record(t.set, v); t.isRecord(c, v, document) {
		t.byClass[ClassLog]++
		t.sure = t.sure || c.Weight == evidence.Decisive
		best := t.logs.best()
		if best.Decisive == 0 { // otherwise it is a log, whatever its records hold besides
			t.wraps.add(v)
		}
		// The first messages are enough to find other possible dialects.
		if l := best.of.Log; c.speaks && l.Payload != "" && t.n <= headElements/4 {
			msg := l.Message(v)
			if b, bc, sign := t.set.ClaimOf(msg); bc == evidence.Decisive {
				t.candidates.element(b, evidence.Plain, sign, msg.Span().Start)
			}
		}
		return
	}
	if t.element(v, nil) {
		t.byClass[ClassMessage]++
		t.sure = true
		return
	}
	if evidence.HasUnknownBlocks(v) {
		t.unknownTools++
		t.byClass[ClassOther]++
		return
	}
	if _, claim, _ := t.set.ClaimOf(v); claim == evidence.Weak || skipped(t.set, v) {
		t.unread++
		return // it is among messages and says nothing about them
	}
	if t.row(v) {
		return
	}
	if d, begins := patchOf(t.set, v); d != nil {
		t.byClass[ClassPatch]++
		if begins && t.patch == nil {
			t.patch = d
			t.candidates.element(d, evidence.Decisive, evidence.Named(string(d.Patch.List)), v.Span().Start)
		}
		return
	}
	if document {
		if found := findExchanges(t.set, v); found != nil {
			t.conversation(v, found, true)
			return
		}
	}
	look := finderOf(t.set, v)
	found := look.found
	if look.pieces {
		t.pieces++
	}
	if len(found) == 0 {
		t.noneAlone = !look.sole
		if look.spans {
			t.spans++
			t.unread++
			return // it does not affect what other spans show
		}
		if d := promptOf(t.set, v); d != nil {
			if t.prompt == nil {
				t.prompt = d
			}
			t.unread++
			return // it has nothing to pair, whatever the other records are
		}
		if t.n == 1 {
			t.newSession = t.set.First(dialect.Begins, func(d *dialect.Dialect) bool { return d.IsNewSession(v) })
		}
		if controls(t.set, v) {
			t.unread++
			return // it says nothing about the other records
		}
		if v.Kind() == source.Array && !v.First().Exists() {
			t.emptyArray = true
		}
		if t.n > 1 || t.newSession == nil {
			t.other++
		}
		t.unspoken = t.unspoken || unspoken(v)
		t.wraps.add(v)
		t.byClass[ClassOther]++
		return
	}
	t.conversation(v, found, document)
}

// isRecord reports whether a value is a record of the log that claims it. The first
// record of a log and a document without a message are records only if they hold no
// conversation.
func (t *tally) isRecord(c recordClaim, v source.Value, document bool) bool {
	if c.Weight == evidence.None || c.yields(t.set, v) {
		return false
	}
	return !c.header && (!document || c.speaks) || len(Find(t.set, v)) == 0
}

// row counts the message of a table row. It reports whether a record is such a row.
func (t *tally) row(v source.Value) bool {
	u := &unfold.Unfolded{}
	if ColumnOf(v, u) == nil {
		return false
	}
	if t.element(u.Value(), u) {
		t.byClass[ClassRow]++
		t.sure = true
	} else {
		t.unread++
	}
	return true
}

// alone counts single messages in a document without any other messages. It reports
// whether there are any.
func (t *tally) alone(v source.Value) bool {
	if t.noneAlone {
		return false
	}
	found := findLone(t.set, v)
	if len(found) > 0 {
		t.conversation(v, found, true)
	}
	return len(found) > 0
}

// conversation counts a record that holds conversations.
func (t *tally) conversation(v source.Value, found []Place, document bool) {
	t.byClass[ClassConversation]++
	t.sure = true
	if document {
		t.places = found
	} else {
		t.wraps.add(v)
	}
	if t.conversations == 0 {
		t.pointer = found[0].Pointer
		t.wrap = strings.Join(found[0].Into, ".")
	}
	t.conversations += len(found)
	// The first elements are enough, unless nothing in them is decisive.
	for _, p := range found {
		if p.Class == ClassLog {
			t.docLog = p.Log
			t.candidates.element(p.Log, evidence.Decisive, evidence.Named(cmp.Or(string(p.Log.Log.Payload), string(p.Log.Log.Type))), p.Parts[0].Span().Start)
			continue
		}
		for _, part := range p.Parts {
			if part.Kind() != source.Array {
				t.element(part, p.Unfolded)
			}
			if p.Hint != nil && part.Kind() == source.Array {
				t.hint(p, startOf(part, p.Unfolded))
			}
			looked := 0
			for e := range part.Each() {
				if looked++; looked > headElements && (!document || t.decided()) {
					break
				}
				t.element(e.Path(p.Into...), p.Unfolded)
			}
		}
	}
}

// controls reports whether v is a bookkeeping record of a folding log.
func controls(set *dialect.Set, v source.Value) bool {
	return set.First(dialect.Silences, func(d *dialect.Dialect) bool { return d.Fold.EffectOf(v).Silent }) != nil
}

// promptOf returns the dialect of a request whose only message is a text, or nil. The lines
// of a batch have the request as their body.
func promptOf(set *dialect.Set, v source.Value) *dialect.Dialect {
	body := v.Get("body")
	return set.First(dialect.Prompts, func(d *dialect.Dialect) bool { return d.IsPrompt(v) || d.IsPrompt(body) })
}

// unspoken reports whether v has an empty messages array and at most a model beside it.
// Files of other programs also have empty arrays of that name.
func unspoken(v source.Value) bool {
	list, model, members := false, false, 0
	for k, val := range v.Members() {
		members++
		switch {
		case k.Is("messages"), k.Is("input"):
			list = val.Kind() == source.Array && !val.First().Exists()
		case k.Is("model"):
			model = val.Kind() == source.String
		}
	}
	return list && (model || members == 1)
}

// hint counts what the object around messages says about their dialect. That weighs less
// than a decisive message and more than any other message.
func (t *tally) hint(p Place, at int64) {
	d, sure := p.Hint, p.HintSure
	key := "the request around the messages"
	switch {
	case p.CheckOnly == spanCheckOnly:
		key = "the attributes of a span"
	case sure && d.Holder != nil:
		key = strings.Join(d.Holder.Members, ", ") + " around the messages"
	}
	c := t.candidates.element(d, evidence.Plain, evidence.Named(key), at)
	if c.Hints++; sure {
		c.Holders++
	}
}

// headElements is the least number of elements of an array that are counted.
const headElements = 64

// decided reports whether an element was found that only one dialect writes.
func (t *tally) decided() bool {
	return slices.ContainsFunc(t.candidates, func(c Candidate) bool { return c.Decisive > 0 })
}

// decide fills in the verdict from the counts.
func (t *tally) decide(s *Verdict) {
	best := ClassOther
	// A file may have both the messages and the bookkeeping records of a dialect, and nothing else.
	is := func(c Candidate) bool { return c.Plain > 0 && c.Decisive > 0 && !c.mixed }
	if i := slices.IndexFunc(t.weak, is); i >= 0 && t.forced == nil {
		weak := t.weak[i]
		if c := t.candidates.of(weak.of); c.Decisive > 0 {
			weak.Key = c.Key
		}
		t.candidates = candidates{weak}
		t.byClass = [ClassRow + 1]int{ClassMessage: t.n}
	}
	log := t.logs.best()
	for _, c := range []Class{ClassLog, ClassMessage, ClassConversation, ClassPatch, ClassRow} {
		if c == ClassPatch && (t.patch == nil || t.forced != nil && t.forced != t.patch) {
			continue // the document that is changed is unknown
		}
		if c == ClassLog && (log == nil || log.headers+log.speaks == 0 && (!log.parents || t.sure)) {
			continue // it may not be a log, because records of any program have ids
		}
		if t.byClass[c] > t.byClass[best] || best == ClassOther && t.byClass[c] > 0 {
			best = c
		}
	}
	// Among records of a log, messages that could be bare are also records of the log.
	if log != nil && best == ClassMessage && log.Decisive > 0 && t.byClass[ClassLog]+log.like >= t.byClass[best]-log.like {
		best = ClassLog
	}
	// Other values may be mixed in but must not be the majority. Among lines of messages
	// they must not even be half, unless a message is decisive.
	if bulk := t.byClass[ClassOther]; best == ClassMessage && bulk > t.byClass[best] && !t.decided() || best == ClassConversation && bulk > 4*t.byClass[best]+4 && !t.decided() {
		best = ClassOther
	}
	// Messages with calls in an unknown form outweigh the others, unless something is
	// decisive for a known dialect.
	if best == ClassMessage && t.unknownTools > 0 && !t.decided() {
		best = ClassOther
	}
	s.Class = best
	s.Sure = t.sure
	s.Wrap = t.wrap
	sort.SliceStable(t.candidates, func(i, j int) bool { return t.candidates[i].before(&t.candidates[j]) })
	switch best {
	case ClassOther:
		return
	case ClassLog:
		s.Log, s.Dialect, s.Key = log.of, log.Dialect, log.Key
		s.Container = ContainerEventLog
		if log.linked {
			s.Container = ContainerLinkedLog
		}
		s.Pointer = pointer(strings.FieldsFunc(string(log.of.Log.Payload.Nth(0)), func(r rune) bool { return r == '.' }))
		s.Sure = log.Decisive > 0 || log.speaks > 0 && log.linked
		s.Marked = s.Sure
		s.RunnersUp = t.logs.others(log)
	case ClassMessage, ClassRow:
		s.Container = ContainerLines
		if s.Framing == source.FramingDocument {
			s.Container = ContainerDocument
		}
	case ClassPatch:
		s.Container, s.Sure, s.Marked = ContainerFoldingLog, true, true
		s.Dialect = t.patch.Name
		s.Pointer = pointer(strings.Split(string(t.patch.Patch.List), "."))
	case ClassConversation:
		s.Pointer, s.Places = t.pointer, t.places
		switch {
		case s.Framing != source.FramingDocument:
			s.Container = ContainerConversations
		case t.docLog != nil:
			s.Container = ContainerLog
		case t.conversations > 1:
			s.Container = ContainerDocuments
		default:
			s.Container = ContainerDocument
		}
	}
	for i, c := range t.candidates {
		switch {
		case best == ClassPatch && c.Dialect == s.Dialect:
			s.Key = c.Key
		case best == ClassLog && c.Dialect == s.Dialect, best != ClassLog && best != ClassPatch && i == 0:
			s.Dialect, s.Key = c.Dialect, c.Key
			s.Marked = s.Marked || c.Decisive+c.Shared+c.Hints+c.Holders > 0
		case !slices.ContainsFunc(s.RunnersUp, func(r Candidate) bool { return r.Dialect == c.Dialect }):
			s.RunnersUp = append(s.RunnersUp, c)
		}
	}
	if t.forced != nil {
		s.Dialect, s.Key = t.forced.Name, "--from"
		if t.forced.Log != nil && best == ClassLog {
			s.Log = t.forced
		}
	}
	if d := t.set.ByName(s.Dialect); best == ClassMessage && d != nil && d.Fold != nil && s.Framing != source.FramingDocument {
		s.Class, s.Container = ClassFold, ContainerFoldingLog
	}
}

// reason says what a file is if it is not a transcript. discreet is the same without
// names of fields, if that differs.
func (t *tally) reason(first source.Kind) (reason, discreet string) {
	const none = "no messages found"
	switch {
	case t.spans > 0:
		return "a trace whose spans contain no messages; configure the tracer to record model requests and export the trace again", ""
	case t.unknownTools > 0:
		return "its messages have tool calls in an unknown format", ""
	case first == source.Object && len(t.keys) > 0:
		fields := "fields "
		if len(t.keys) == 1 {
			fields = "field "
		}
		return none + ", only the " + fields + strings.Join(quoteAll(t.keys), ", "), none
	case first == source.Array:
		return "no messages found in the array", ""
	}
	return none, ""
}

func quoteAll(keys []string) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = fmt.Sprintf("%q", k)
	}
	return out
}

// patchOf returns the dialect of a log of changes that has v as a record. begins reports
// whether the record begins the log with a document.
func patchOf(set *dialect.Set, v source.Value) (d *dialect.Dialect, begins bool) {
	if v.Kind() != source.Object {
		return nil, false
	}
	for _, d := range set.Having(dialect.Patches) {
		if does := d.Patch.Effect(v); does.Kind != dialect.ChangesNothing {
			return d, does.Kind == dialect.ChangeBegins
		}
	}
	return nil, false
}
