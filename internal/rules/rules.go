// Package rules holds one file for each rule. A rule looks at exchanges and a
// profile, reports findings, and names the operation that would repair each.
// It knows no bytes and no output format.
package rules

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Severity says how much a finding matters.
type Severity uint8

// The severities.
const (
	Off Severity = iota
	Info
	Warning
	Error
)

// String returns the severity's name.
func (s Severity) String() string { return [...]string{"off", "info", "warning", "error"}[s] }

// ParseSeverity returns the severity of that name.
func ParseSeverity(name string) (Severity, bool) {
	for s := Off; s <= Error; s++ {
		if s.String() == name {
			return s, true
		}
	}
	return Off, false
}

// severityOf maps a cell of a profile.
func severityOf(c profile.Cell) Severity {
	switch c.Effective() {
	case profile.Info:
		return Info
	case profile.Warning:
		return Warning
	case profile.Error:
		return Error
	}
	return Off
}

// A Rule is one check.
type Rule struct {
	Name     string
	Category string
	// Severity is how its findings are reported unless the check says
	// otherwise, in words for the list of rules.
	Severity string
	Summary  string // one sentence, without a full stop
	// Doc says what is found, why it breaks, and how it is repaired and at
	// what cost, in Markdown.
	Doc string
	// Points are what the profiles say of it, the main one first; nil where
	// providers do not differ.
	Points []profile.Point
	// Strategies are the repairs that can be chosen, the default first; nil
	// where there is no choice.
	Strategies []string
	// Args are flags with which the examples are checked: --send, --target NAME.
	Args string
	// Bad and Good are transcripts that the rule does and does not object to.
	Bad, Good string
	// Check looks at one conversation.
	Check func(*Context)
	// CheckFile looks at what is known of the file as a whole.
	CheckFile func(*FileContext)
}

// URL returns where the rule is documented.
func (r *Rule) URL() string {
	return "https://github.com/toolguard/toolguard/blob/main/docs/rules/" + r.Name + ".md"
}

// The categories, in the order of the catalogue.
const (
	Framing   = "framing"
	Links     = "links"
	Pairing   = "pairing"
	IDs       = "ids"
	Payload   = "payload"
	Roles     = "roles"
	Reasoning = "reasoning"
	Declared  = "tools"
)

// All lists the rules, in the order of the catalogue.
func All() []*Rule {
	return []*Rule{
		invalidJSON,
		truncatedRecord,
		nulPadding,
		gluedRecords,
		rawNewlineInString,
		tooDeep,
		duplicateKey,
		invalidUTF8,
		loneSurrogate,
		duplicateRecord,
		brokenLink,
		ordinalMismatch,
		missingToolResult,
		pendingToolCall,
		interruptedToolCall,
		orphanToolResult,
		misplacedToolResult,
		resultBeforeCall,
		splitToolResults,
		toolResultNotFirst,
		mixedToolResultMessage,
		duplicateToolResult,
		duplicateCallID,
		reusedCallID,
		resultOrderMismatch,
		resultKindMismatch,
		ambiguousPairing,
		mixedDialect,
		unreadToolField,
		missingCallID,
		invalidCallID,
		invalidServerToolID,
		invalidItemID,
		duplicateItemID,
		invalidToolName,
		missingResultName,
		resultNameMismatch,
		argumentsNotString,
		argumentsInvalidJSON,
		toolInputNotObject,
		missingArguments,
		resultContentType,
		emptyToolCalls,
		missingCallType,
		emptyText,
		emptyMessage,
		trailingWhitespace,
		invalidRole,
		blockInWrongRole,
		firstRole,
		consecutiveRoles,
		userAfterTool,
		lastRole,
		toolUseNotLast,
		reasoningUnreplayable,
		serverToolUnpaired,
		cacheControlLimit,
		missingToolConfig,
		unknownTool,
		schemaViolation,
	}
}

// Names lists the names of the rules, in the order of All.
func Names() []string {
	var names []string
	for _, x := range All() {
		names = append(names, x.Name)
	}
	return names
}

// ByName returns the rule of that name, or nil.
func ByName(name string) *Rule {
	for _, r := range All() {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// Categories lists the categories in order.
func Categories() []string {
	return []string{Framing, Links, Pairing, IDs, Payload, Roles, Reasoning, Declared}
}

// A Related is another place that a finding speaks of.
type Related struct {
	Message string
	Span    source.Span
}

// A Finding is one objection of a rule.
type Finding struct {
	Rule     *Rule
	Severity Severity
	Message  string
	// Discreet is the message without the text of a payload, "" where there is
	// none in Message.
	Discreet string
	// Within is how many of the last keys on the way to Span are those of a
	// payload.
	Within int
	// Span is what is underlined.
	Span source.Span
	// Conversation is the index in the file, -1 for a finding about the file.
	Conversation int
	Turn         int   // -1 for none
	Record       int32 // from 1
	CallID, Tool string
	Kind         string // of the call, as errors of providers name it
	// Refusal is what the provider would answer, as its profile has it, "" where
	// not known.
	Refusal    string
	Confidence string // of the pairing behind it, "" where none is
	Related    []Related
	Fix        *operation.Operation
	// Unfixed says why there is no Fix, where that is not what the rule says.
	Unfixed string

	// by is the rule whose strategy chose Fix; nil for Rule.
	by *Rule
}

// hidden reports whether no provider will see a message.
func (c *Context) hidden(message int32) bool {
	return c.Messages[message].Has(transcript.MessageSuperseded)
}

// place finds where an error says that it was: the request decides that.
var place = lazily(`((?:messages|message|input|content|contents|parts|tool_calls)(?:\.|\[|\.\[| index ))\d+`)

// lazily returns what compiles an expression when it is first wanted. Few runs
// want any of them, and all would wait for them.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// ProviderError returns what the provider would answer, with what the finding is
// about filled in; "" where not known.
func (f *Finding) ProviderError() string {
	or := func(s string) string {
		if s == "" {
			return "…"
		}
		return s
	}
	text := place().ReplaceAllString(f.Refusal, "${1}…")
	return strings.NewReplacer("{id}", or(f.CallID), "{name}", or(f.Tool), "{kind}", or(f.Kind)).Replace(text)
}

// Options are what a user asked for.
type Options struct {
	Send bool
	// Target is set when the profile was asked for by name.
	Target bool
	// Strategy chooses among the repairs of a rule by name.
	Strategy map[string]string
	// Explicit are the rules that were selected by name: they are repaired too
	// where that is left to the user.
	Explicit map[string]bool
}

// Tools are declared tools.
type Tools interface {
	// Names lists them.
	Names() []string
	// Violations holds arguments, as JSON, against the schema of a tool, and
	// returns where they break it: none for a tool without a schema.
	Violations(tool string, arguments []byte) []Violation
	// Unchecked lists the patterns in the schema of a tool that are not checked,
	// because they are written in a syntax that toolguard does not read.
	Unchecked(tool string) []string
}

// A Violation is one way in which arguments break a schema.
type Violation struct {
	Pointer string      // from the arguments' root
	Depth   int         // how many keys lead to Span
	Span    source.Span // in the arguments
	Message string
	// Broken is what of the schema is broken, in the words of the schema alone.
	Broken string
}

// A Looker looks at the source of a conversation for rules, and takes what they find.
type Looker interface {
	// Text returns the bytes of a span.
	Text(at source.Span) string
	// Value returns the value at a span. It is good until the next look.
	Value(at source.Span) source.Value
	// Look returns a member of the element at a span.
	Look(what transcript.Member, at source.Span) transcript.Token
	// Knows reports whether the dialect has a member of that kind.
	Knows(what transcript.Member) bool
	// Marked returns the blocks of the message at a span that have a mark for
	// the prompt cache.
	Marked(at source.Span) []source.Span
	// Own returns the text, as JSON writes it, that this run puts in the place of
	// a result, "" for the usual one.
	Own(result int32) string
	// Seen reports whether somebody will see what findings of a rule say.
	Seen(r *Rule, s Severity) bool
	// Emit takes a finding.
	Emit(f Finding)
}

// A Context is what a rule sees of one conversation.
type Context struct {
	*transcript.Conversation
	Looker
	Pairing pairing.Pairing
	Profile *profile.Profile
	// Native is the profile of the provider that a request names, or else of the
	// one whose dialect is spoken. Named is set where the request names it.
	Native *profile.Profile
	Named  bool
	// NumericIDs is set where ids may be numbers.
	NumericIDs bool
	Options
	// Tools are those that are declared for the conversation, nil where none
	// are known.
	Tools Tools

	rule        *Rule
	ops         map[opKey]*operation.Operation
	texts       map[textKey]bool // what becomes text by an operation of the rule
	unanswered  []int            // calls; nil before they are looked for
	signedTurns map[int32]bool   // once they are known
	signedKnown bool
	twins       []twins           // by call; nil before they are looked for
	opaque      map[string]int32  // texts in messages that cannot be read, by these; nil before they are looked for
	answers     map[int32][]int32 // results by call; nil before they are looked for
	strays      map[stray]int32   // results that name no call, the last ones; nil before they are looked for
	minted      *mintings
}

type opKey struct {
	kind operation.Kind
	turn int32
}

type textKey struct {
	by   *operation.Texts
	call bool
	ref  int32
}

// Run checks a conversation against one rule.
func (c *Context) Run(r *Rule) {
	if r.Check == nil {
		return
	}
	c.rule = r
	if c.ops != nil || c.texts != nil {
		c.ops, c.texts = nil, nil
	}
	r.Check(c)
}

// A FileContext is what a rule sees of a file.
type FileContext struct {
	Faults []transcript.RecordFault
	Keys   []transcript.KeyFault
	Links  []transcript.LinkFault
	Lines  bool // the file is framed by lines
	Text   func(source.Span) string
	Emit   func(Finding)

	rule *Rule
}

// Run checks a file against one rule.
func (c *FileContext) Run(r *Rule) {
	if r.CheckFile == nil {
		return
	}
	c.rule = r
	r.CheckFile(c)
}

// report emits a finding about the file.
func (c *FileContext) report(f Finding) {
	f.Rule = c.rule
	f.Conversation, f.Turn = -1, -1
	c.Emit(f)
}

// report emits a finding about a message of the conversation. What no provider
// will see is worth an info at most, and is not repaired.
func (c *Context) report(message int32, f Finding) {
	if f.Severity == Off {
		return
	}
	m := &c.Messages[message]
	if c.hidden(message) {
		f.Severity = min(f.Severity, Info)
		f.Fix = nil
	}
	if f.Fix != nil {
		if why := c.unrepairable(f.Fix.Do); why != "" {
			f.Fix, f.Unfixed = nil, cmp.Or(f.Unfixed, why)
		}
	}
	if f.Fix != nil {
		c.halfRenamed(&f)
	}
	if f.Fix != nil && c.Incomplete && f.Fix.Class == operation.Additive {
		f.Fix, f.Unfixed = nil, "a record of the conversation cannot be read, and the result may be in it"
	}
	if f.Fix != nil && f.Fix.Class != operation.Safe && (c.Use == transcript.UseDataset || c.Use == transcript.UseTrace) {
		by := c.rule
		if f.by != nil {
			by = f.by
		}
		f.Fix.ByStrategy = f.Fix.ByStrategy || !c.chosen(by)
	}
	f.Rule = c.rule
	f.Conversation = c.Index
	f.Turn = int(m.Turn)
	f.Record = m.Record
	c.Emit(f)
}

// halfRenamed looks for an id that is to be renamed where toolguard cannot read it, so
// that it would stay there as it is. Then it takes the fix from the finding; where pairs
// of one id are told apart, which of them is meant there is a guess.
func (c *Context) halfRenamed(f *Finding) {
	switch do := f.Fix.Do.(type) {
	case *operation.RenameID:
		var id transcript.Token
		if do.Call >= 0 {
			id = c.Calls[do.Call].ID
		} else {
			id = c.Results[do.Result].ID
		}
		if m, named := c.named(pairing.Key(id)); named {
			f.Fix, f.Unfixed = nil, "message "+number(m)+", which toolguard cannot read, names the id too: it would not be renamed there"
		}
	case *operation.RenamePairs:
		for _, i := range do.Calls {
			if _, named := c.named(pairing.Key(c.Calls[i].ID)); named {
				f.Fix.Class = operation.Unsafe
			}
		}
	}
}

// unrepairable says why an action cannot be carried out where the conversation
// stands: around a message that stands by itself nothing can be put, and it cannot
// be removed. It returns "" for an action that can.
func (c *Context) unrepairable(do operation.Action) string {
	switch do := do.(type) {
	case *operation.AddMember:
		if !c.Knows(do.Member) {
			return "toolguard does not know how this format writes the field"
		}
		return ""
	case *operation.SetState, *operation.RenameID, *operation.RenamePairs, *operation.MintIDs, *operation.Retag, *operation.SetValue,
		*operation.TrimText, *operation.RemoveMember, *operation.ReorderResults, *operation.CallsLast:
		return ""
	case *operation.Texts, *operation.DropCalls, *operation.DropResults, *operation.DropBlocks:
		if c.Folded {
			return ""
		}
	}
	switch {
	case c.Folded:
		return "a message of this log is changed by a later record, and none is inserted or removed"
	case !c.Lines && len(c.Lists) == 0:
		return "toolguard does not know the format around the message, so it inserts and removes none"
	}
	return ""
}

// aboutCall emits a finding about a call.
func (c *Context) aboutCall(i int, f Finding) {
	call := &c.Calls[i]
	if f.Span.IsZero() {
		f.Span = call.ID.Span
	}
	f.CallID, f.Tool, f.Kind = call.ID.Text(), call.Name.Text(), kindNames[call.Kind]
	c.report(call.Message, f)
}

// aboutResult emits a finding about a result.
func (c *Context) aboutResult(i int, f Finding) {
	res := &c.Results[i]
	if f.Span.IsZero() {
		f.Span = res.ID.Span
	}
	f.CallID, f.Tool, f.Kind = res.ID.Text(), res.Name.Text(), kindNames[res.Kind]
	if call := c.Pairing.Results[i].Call; f.Tool == "" && call >= 0 {
		f.Tool = c.Calls[call].Name.Text()
	}
	c.report(res.Message, f)
}

// kindNames are what errors of providers call the kinds of call.
var kindNames = map[transcript.CallKind]string{
	transcript.KindFunction: "function call", transcript.KindCustom: "custom tool call", transcript.KindComputer: "computer call",
	transcript.KindLocalShell: "local shell call", transcript.KindShell: "shell call", transcript.KindApplyPatch: "apply patch call",
	transcript.KindToolSearch: "tool search call", transcript.KindMCP: "MCP tool call",
}

// turnOp returns the operation on a turn that does a T, which the findings of
// the rule share.
func turnOp[T any, A interface {
	*T
	operation.Action
}](c *Context, turn int32, class operation.Class, title string) (*operation.Operation, A) {
	k := opKey{A(nil).Kind(), turn}
	op := c.ops[k]
	if op == nil {
		op = c.op(turn, class, title, A(new(T)))
		if c.ops == nil {
			c.ops = map[opKey]*operation.Operation{}
		}
		c.ops[k] = op
	}
	op.Class = max(op.Class, class)
	return op, op.Do.(A)
}

// op returns an operation of its own on a turn.
func (c *Context) op(turn int32, class operation.Class, title string, do operation.Action) *operation.Operation {
	return &operation.Operation{Class: class, Title: title, Turn: turn, Do: do}
}

// asText returns the operation that turns calls and results of a turn into text,
// beside those that it turned into text before. It is nil for calls of a message
// that must not be edited.
func (c *Context) asText(turn int32, calls, results []int32) *operation.Operation {
	if len(calls) > 0 && c.signed(turn) {
		return nil
	}
	op, do := turnOp[operation.Texts](c, turn, operation.Unsafe, "")
	if c.texts == nil {
		c.texts = map[textKey]bool{}
	}
	// A call and its result can have a finding each, and both name both.
	add := func(to, more []int32, call bool) []int32 {
		for _, ref := range more {
			if k := (textKey{do, call, ref}); !c.texts[k] {
				c.texts[k] = true
				to = append(to, ref)
			}
		}
		return to
	}
	do.Calls, do.Results = add(do.Calls, calls, true), add(do.Results, results, false)
	what := "the result"
	if len(do.Results) > 1 {
		what = "the results"
	}
	switch n := len(do.Calls); {
	case n == 1 && len(do.Results) > 0:
		what = "the call and its result"
	case n == 1:
		what = "the call"
	case n > 1 && len(do.Results) > 0:
		what = "the calls and their results"
	case n > 1:
		what = "the calls"
	}
	op.Title = "turn " + what + " into text"
	return op
}

// answersTo returns the results of a call: what answers it, and repeats of that.
func (c *Context) answersTo(call int32) []int32 {
	if c.answers == nil {
		c.answers = map[int32][]int32{}
		for i := range c.Pairing.Results {
			if to := c.Pairing.Results[i].Call; to >= 0 {
				c.answers[to] = append(c.answers[to], int32(i))
			}
		}
	}
	return c.answers[call]
}

// callAsText returns the operation that turns a call and what answers it into
// text.
func (c *Context) callAsText(call int32) *operation.Operation {
	return c.asText(c.turn(c.Calls[call].Message), []int32{call}, c.answersTo(call))
}

// messageAsText returns the operation that turns the calls and the results of a
// message into text, with what they belong to.
func (c *Context) messageAsText(message int32) *operation.Operation {
	m := &c.Messages[message]
	var calls, results []int32
	seen := map[int32]bool{}
	add := func(call int32) {
		if !seen[call] {
			seen[call] = true
			calls, results = append(calls, call), append(results, c.answersTo(call)...)
		}
	}
	for b := m.BlockLo; b < m.BlockHi; b++ {
		switch ref := c.Blocks[b].Ref; c.Blocks[b].Kind {
		case transcript.BlockCall:
			add(ref)
		case transcript.BlockResult:
			if call := c.Pairing.Results[ref].Call; call >= 0 {
				add(call)
			} else {
				results = append(results, ref)
			}
		}
	}
	if len(calls)+len(results) == 0 {
		return nil
	}
	turn := m.Turn
	if len(calls) > 0 {
		turn = c.turn(c.Calls[calls[0]].Message)
	}
	return c.asText(turn, calls, results)
}

// allAsText returns the operation that turns all calls and results of the
// conversation into text.
func (c *Context) allAsText() *operation.Operation {
	do := &operation.Texts{}
	for i := range c.Calls {
		do.Calls = append(do.Calls, int32(i))
	}
	for i := range c.Results {
		do.Results = append(do.Results, int32(i))
	}
	return c.op(-1, operation.Unsafe, "turn all calls and results into text", do)
}

// userSays returns the operation that makes the user say what a message of the
// assistant says. Calls and results become text before.
func (c *Context) userSays(message int32) *operation.Operation {
	m := &c.Messages[message]
	word := c.Native.Role("user")
	switch {
	case c.calls(m) || c.holds(message, transcript.BlockResult):
		return c.messageAsText(message)
	case c.holds(message, transcript.BlockReasoning) || c.holds(message, transcript.BlockServerResult) || word == "":
		return nil // what the user cannot say, or not in a word that is known
	case m.RoleLen == 0:
		return c.op(m.Turn, operation.Unsafe, `set role to "`+word+`"`, &operation.AddMember{At: m.Span(), Member: transcript.MemberRole, Text: source.Quote(word)})
	}
	return c.op(m.Turn, operation.Unsafe, `set role to "`+word+`"`, &operation.SetValue{At: m.RoleSpan(), Text: source.Quote(word), Call: -1})
}

// dropTurn returns the operation that drops the turn of a message with its results.
func (c *Context) dropTurn(message int32) *operation.Operation {
	op, _ := turnOp[operation.DropTurn](c, c.turn(message), operation.Unsafe, "drop the turn with its results")
	return op
}

// dropCall returns the operation that drops a call with what answers it.
func (c *Context) dropCall(call int32) *operation.Operation {
	return c.op(c.turn(c.Calls[call].Message), operation.Unsafe, "drop the call with its result", &operation.DropCalls{Calls: []int32{call}, CopyOf: -1})
}

// cell returns what the profile says of a point.
func (c *Context) cell(at profile.Point) profile.Cell { return c.Profile.Cell(at) }

// stricter returns what the profile says of a point. Converters send on what they
// are given, so a history in another shape is held against the profile of its own
// shape too, and the worse of the two counts.
func (c *Context) stricter(at profile.Point) profile.Cell {
	cell := c.cell(at)
	if native := c.Native.Cell(at); !c.shaped() && severityOf(native) > severityOf(cell) {
		return native
	}
	return cell
}

// objectDue reports whether the arguments of a call, a string in the shape at
// hand, have to become an object in the shape of the target.
func (c *Context) objectDue(call *transcript.Call) bool {
	return !c.shaped() && call.Want == transcript.ArgsWantString && severityOf(c.cell(profile.ArgsNotObject)) != Off
}

// shaped reports whether the conversation is written in the shape that the
// profile's provider takes, so that what it wants of shapes can be held
// against it. Each library has a shape of its own.
func (c *Context) shaped() bool {
	return c.Native.Wire == c.Profile.Wire && (c.Profile.Wire != profile.Framework || c.Native == c.Profile)
}

// form returns the form of the JSON value at a span.
func (c *Context) form(s source.Span) profile.Form {
	if s.IsZero() {
		return profile.FormAbsent
	}
	return formOf(c.Value(s).Kind())
}

// formOf returns the form of a value of a kind.
func formOf(k source.Kind) profile.Form {
	switch k {
	case source.None:
		return profile.FormAbsent
	case source.String:
		return profile.FormString
	case source.Array:
		return profile.FormList
	case source.Object:
		return profile.FormObject
	case source.Null:
		return profile.FormNull
	}
	return profile.FormScalar
}

// sent reports whether the history is on its way to a provider.
func (c *Context) sent() bool { return c.Send || c.Target || c.Use == transcript.UseBody }

// want returns how the arguments of a call are to be written. A provider that
// copies an API can want them in another form.
func (c *Context) want(call *transcript.Call) transcript.ArgsConvention {
	if c.Target && c.shaped() && call.Want == transcript.ArgsWantString && severityOf(c.cell(profile.ArgsNotString)) == Off &&
		severityOf(c.cell(profile.ArgsNotObject)) != Off {
		return transcript.ArgsWantObject
	}
	return call.Want
}

// strategy returns the repair that was chosen for the rule, "" for its
// default.
func (c *Context) strategy() string { return c.Strategy[c.rule.Name] }

// strategyOr returns the repair that was chosen for the rule, or else a default.
func (c *Context) strategyOr(name string) string {
	if s := c.strategy(); s != "" {
		return s
	}
	return name
}

// chosen reports whether the user chose how a rule repairs. A rule that has one
// repair is chosen by its name.
func (c *Context) chosen(r *Rule) bool {
	return c.Strategy[r.Name] != "" || len(r.Strategies) == 0 && c.Explicit[r.Name]
}

// wanted reports whether the user asked for the repair of a rule that leaves
// things as they are: by strategy or, where no other was chosen, by the rule's
// name.
func (c *Context) wanted(strategy string) bool {
	s := c.strategy()
	return s == strategy || s == "" && c.Explicit[c.rule.Name]
}

// turn returns the turn of a message.
func (c *Context) turn(message int32) int32 { return c.Messages[message].Turn }

// arrays reports whether the conversation is one whose messages are sent as
// they stand, so that their positions matter.
func (c *Context) arrays() bool { return c.Window != transcript.WindowLog }

// signed reports whether the turn holds something signed, so that it must not
// be touched.
func (c *Context) signed(turn int32) bool {
	if !c.signedKnown {
		c.signedKnown = true
		for i := range c.Blocks {
			if b := &c.Blocks[i]; b.Has(transcript.BlockSigned) {
				if c.signedTurns == nil {
					c.signedTurns = map[int32]bool{}
				}
				c.signedTurns[c.turn(b.Message)] = true
			}
		}
	}
	return c.signedTurns[turn]
}

// callName describes a call in a message: `call "c1" to "ls"`.
func callName(call *transcript.Call) string {
	s := "call"
	if pairing.Key(call.ID) != "" {
		s += " " + quote(call.ID)
	}
	if named(call.Name) {
		s += " to " + quote(call.Name)
	}
	return s
}

// named reports whether a name is there, and not null.
func named(t transcript.Token) bool { return t.Present() && t.Raw != "null" }

// resultName describes a result in a message: `result for "c1"`.
func resultName(res *transcript.Result) string {
	if pairing.Key(res.ID) == "" {
		if named(res.Name) {
			return "result of " + quote(res.Name)
		}
		return "result"
	}
	return "result for " + quote(res.ID)
}

// quote renders an id or a name so that it cannot be mistaken for the text
// around it, and cut where it is long. What is in an object or a list in its
// place is not shown: it is no name.
func quote(t transcript.Token) string {
	switch {
	case strings.HasPrefix(t.Raw, "{"):
		return "{…}"
	case strings.HasPrefix(t.Raw, "["):
		return "[…]"
	case !t.IsString():
		return clip(t.Raw)
	}
	return strconv.Quote(clip(t.Text()))
}

func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

// number returns a message's number for a reader, from 1.
func number(message int32) string { return strconv.Itoa(int(message) + 1) }

func plural(n int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, one)
	}
	return fmt.Sprintf("%d %s", n, many)
}
