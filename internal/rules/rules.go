// Package rules holds one file for each rule. A rule examines exchanges and a profile,
// reports findings, and names the operation that would repair each. Rules do not depend on how
// a transcript is written as bytes, or on how findings are printed.
package rules

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/picture"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Severity is the severity of a finding.
type Severity uint8

// The severities, in ascending order.
const (
	Off Severity = iota
	Info
	Warning
	Error
)

// String returns the severity's name.
func (s Severity) String() string { return [...]string{"off", "info", "warning", "error"}[s] }

// ParseSeverity returns the severity with a name.
func ParseSeverity(name string) (Severity, bool) {
	for s := Off; s <= Error; s++ {
		if s.String() == name {
			return s, true
		}
	}
	return Off, false
}

// severityOf returns the severity for a cell of a profile.
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
	// Family is the family in which the proof of a repair counts the findings of the rule, the
	// name of the rule if it is "". A repair nearby may change which rule of a family reports a
	// problem.
	Family string
	// Severity describes the severity of its findings, for the list of rules. The check sets
	// the severity of each finding.
	Severity string
	Summary  string // one sentence, without a full stop
	// The sections of its page, in Markdown: what the rule checks, why that matters,
	// and how toolguard repairs findings and at what cost.
	What, Why, Repair string
	// Points are what the profiles say of it, the main one first; nil where
	// providers do not differ.
	Points []profile.Point
	// Strategies are the repairs to choose from, the default first; nil if there is no
	// choice.
	Strategies []string
	// Together says that its findings about the calls of one turn are one event, so that people
	// are shown one entry for them.
	Together bool
	// OnDemand is nil if the rule always runs. Otherwise it reports whether the user asked for the
	// repairs of the rule. They are then made whatever their class is, and never without that.
	OnDemand func(*Options) bool
	// Args are the flags with which the examples are checked: --send, --provider NAME, --select NAME.
	Args string
	// Bad and Good are transcripts with and without findings of the rule.
	Bad, Good string
	// Check examines one conversation.
	Check func(*Context)
	// CheckFile examines the file as a whole.
	CheckFile func(*FileContext)
}

// URL returns the address of the rule's documentation.
func (r *Rule) URL() string {
	return "https://github.com/toolguard/toolguard/blob/main/docs/rules/" + r.Name + ".md"
}

// Families that a proof treats specially.
const (
	// Unanswered is the family of calls without a result, which are one problem whichever rule
	// reports them.
	Unanswered = "missing-tool-result"
	// MessageOrder is the family of what providers require of the order of messages, and of the
	// reasoning in the last turns. Moving a result to its place can reveal such findings.
	MessageOrder = "message-order"
)

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
		staleParent,
		unsentBranch,
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
		imageLimit,
		emptyToolCalls,
		missingCallType,
		emptyText,
		emptyMessage,
		trailingWhitespace,
		invalidRole,
		blockInWrongRole,
		firstRole,
		missingUserMessage,
		consecutiveRoles,
		userAfterTool,
		lastRole,
		toolUseNotLast,
		reasoningUnreplayable,
		interleavedReasoning,
		itemNotStored,
		replayedReasoning,
		serverToolUnpaired,
		cacheControlLimit,
		missingToolConfig,
		unknownTool,
		schemaViolation,
		nullInSchema,
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

// Change returns the first strategy of a rule that changes something, "" if it has none.
func (r *Rule) Change() string {
	for _, s := range r.Strategies {
		if s != "leave" {
			return s
		}
	}
	return ""
}

// ByName returns the rule with a name, or nil.
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

// A Related is another place that belongs to a finding.
type Related struct {
	Message string
	Span    source.Span
}

// A Finding is one problem that a rule found.
type Finding struct {
	Rule     *Rule
	Severity Severity
	Message  string
	// Discreet is the message without the text of a payload; "" if Message quotes none.
	Discreet string
	// Within is how many of the last keys on the path to Span belong to a payload.
	Within int
	// Span is the text to underline.
	Span source.Span
	// Conversation is the index in the file, -1 for a finding about the file.
	Conversation int
	Turn         int   // -1 for none
	Record       int32 // from 1
	CallID, Tool string
	// NestedID and NestedTool say that the id or the name is an object or an array, which can
	// hold a payload.
	NestedID, NestedTool bool
	Kind                 string // of the call, as named in provider errors
	// Refusal is the error of the provider as the profile has it, "" if it is not known.
	Refusal    string
	Confidence string // of the pairing on which the finding depends, "" if there is none
	Related    []Related
	Fix        *operation.Operation
	// Recorded says that the missing result is recorded elsewhere in the file. An agent that
	// repairs such a finding itself does not look there.
	Recorded bool
	// Unfixed says why there is no Fix, if the rule does not say so.
	Unfixed string
	// Offer says which flag has the finding repaired if there is no Fix without it, and how:
	// "with --send, insert a placeholder result".
	Offer string

	// by is the rule whose strategy chose Fix; nil means Rule.
	by *Rule
}

// hidden reports whether no provider sees a message.
func (c *Context) hidden(message int32) bool {
	m := &c.Messages[message]
	return m.Has(transcript.MessageSuperseded) || m.Has(transcript.MessageOmitted)
}

// placeWords and placeSeparators are what is before a number that is the position in a provider error,
// which depends on the request: messages.2, input[3].
var (
	placeWords      = []string{"messages", "message", "input", "contents", "content", "parts", "tool_calls"}
	placeSeparators = []string{".[", ".", "[", " index "}
)

// withoutPlaces replaces positions in a provider error by an ellipsis.
func withoutPlaces(text string) string {
	digit := func(i int) bool { return i < len(text) && text[i] >= '0' && text[i] <= '9' }
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); i++ {
		if !digit(i) {
			continue
		}
		end := i
		for digit(end) {
			end++
		}
		if isPlace(text[:i]) {
			b.WriteString(text[done:i] + "…")
			done = end
		}
		i = end
	}
	return b.String() + text[done:]
}

// isPlace reports whether a text ends where the number of a position follows.
func isPlace(before string) bool {
	for _, separator := range placeSeparators {
		if word, is := strings.CutSuffix(before, separator); is && slices.ContainsFunc(placeWords, func(w string) bool { return strings.HasSuffix(word, w) }) {
			return true
		}
	}
	return false
}

// lazily returns a function that compiles an expression on its first call. Few runs need any
// of the expressions.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// ProviderError returns the error of the provider, with the values of the finding filled in;
// "" if it is not known.
func (f *Finding) ProviderError() string {
	or := func(s string) string {
		if s == "" {
			return "…"
		}
		return s
	}
	out, text := "", withoutPlaces(f.Refusal)
	for { // compiling a strings.Replacer for each finding takes longer
		before, rest, found := strings.Cut(text, "{")
		if out += before; !found {
			return out
		}
		name, behind, _ := strings.Cut(rest, "}")
		switch name {
		case "id":
			out += or(f.CallID)
		case "name":
			out += or(f.Tool)
		case "kind":
			out += or(f.Kind)
		default:
			out, behind = out+"{", rest
		}
		text = behind
	}
}

// Options are the options of a user.
type Options struct {
	Send bool
	// Over says that no program is going to write to the history any more, so that a call
	// without a result stays without one.
	Over bool
	// Target says that the user chose the profile by name.
	Target bool
	// StripReasoning says that reasoning is removed.
	StripReasoning bool
	// Strategy selects one of a rule's repairs by rule name.
	Strategy map[string]string
	// Explicit are the rules that were selected by name. They are repaired even if the
	// default is to leave the decision to the user.
	Explicit map[string]bool
}

// Tools are declared tools.
type Tools interface {
	// Names lists them.
	Names() []string
	// Violations checks arguments, as JSON, against the schema of a tool. It returns none for
	// a tool without a schema.
	Violations(tool string, arguments []byte) []Violation
	// Unchecked lists the patterns in the schema of a tool that are not checked, because
	// toolguard does not support their syntax.
	Unchecked(tool string) []string
}

// ToolNulls are the nulls in the schema of a tool that no JSON Schema may have.
type ToolNulls struct {
	Tool  string
	Nulls []Null
}

// A Null is a null in a schema, where a schema or another value must be.
type Null struct {
	At    int64 // the offset from the start of the list of tools, in its text if it is a string
	Key   string
	Named bool // Key names a property or another schema, and is not a keyword
	// Required says that the schema requires the property.
	Required bool
	Depth    int // the number of keys and indexes on the path from the schema
}

// Declarations are the tools that the object around the messages declares.
type Declarations struct {
	List  source.Span // an array, or a string that holds one
	Nulls []ToolNulls
}

// A Violation is one way in which arguments violate a schema.
type Violation struct {
	Pointer string      // from the root of the arguments
	Depth   int         // the number of keys on the path to Span
	Span    source.Span // in the arguments
	Message string
	// Broken is the violated part of the schema. It quotes no arguments.
	Broken string
}

// A Looker reads the source of a conversation for rules, and receives their findings.
type Looker interface {
	// Text returns the text of a span.
	Text(at source.Span) string
	// Value returns the value at a span. It is valid until the next call.
	Value(at source.Span) source.Value
	// Look returns a field of the element at a span.
	Look(what transcript.Member, at source.Span) transcript.Token
	// Knows reports whether the dialect has such a field.
	Knows(what transcript.Member) bool
	// Strips returns the values in the message at a span that tie it to reasoning, besides its
	// blocks of reasoning.
	Strips(at source.Span) []source.Span
	// Asides returns the elements among the messages that are none and have reasoning.
	Asides() []Aside
	// Marked returns the blocks with a prompt cache marker in the message at a span.
	Marked(at source.Span) []source.Span
	// Elements returns the elements of the list at a span.
	Elements(at source.Span) []source.Span
	// Image returns the header of the image in the block at a span, and the length of its
	// data. It returns false if there is no image of a known type.
	Image(block source.Span) (h picture.Header, length int64, is bool)
	// Own returns the text, as JSON, that this run inserts in the place of a result, "" if it
	// is the default text.
	Own(result int32) string
	// Echoed returns the record, from 1, that repeats the result of a call which has none, 0 if
	// there is none. differs says that such records contradict each other, or that another call
	// has the same id.
	Echoed(call int32) (record int32, differs bool)
	// Broken reports whether toolguard reads a record, but no client that parses line by line.
	Broken(record int32) bool
	// Seen reports whether the messages of such findings will be shown to anybody.
	Seen(r *Rule, s Severity) bool
	// Emit receives a finding.
	Emit(f Finding)
	// Settle says that the operations of all findings so far are complete. It may read the source.
	Settle()
}

// A Context gives a rule one conversation.
type Context struct {
	*transcript.Conversation
	Looker
	Pairing pairing.Pairing
	Profile *profile.Profile
	// Native is the profile of the provider that a request names, or else of the
	// conversation's dialect. Named says that the request names it.
	Native *profile.Profile
	Named  bool
	// NumericIDs says that ids may be numbers.
	NumericIDs bool
	// AnyIDs says that ids may be any text.
	AnyIDs bool
	Options
	// Tools are the tools declared for the conversation, nil if none are known.
	Tools Tools
	// Declarations are those that the object around the messages declares. They are empty for all
	// conversations of one object but the first.
	Declarations Declarations

	rule        *Rule
	ops         map[operation.Kind][]*operation.Operation // of the rule, by turn + 1
	texts       map[textKey]bool                          // calls and results that an operation of the rule turns into text
	unanswered  []int                                     // calls; nil until needed
	signedTurns map[int32]bool                            // valid if signedKnown is set
	signedKnown bool
	placing     placing           // the last block that Place found
	twins       []twins           // by call; nil until needed
	opaque      map[string]int    // the positions of what cannot be read, by the texts in it; nil until needed
	byStart     []int32           // messages in the order of the file; nil until needed
	unread      []int32           // for each element of a list that is not read, the message after it; nil until needed
	lost        map[string]int32  // records with results that are not read, by the ids of their calls; nil until needed
	answers     map[int32][]int32 // results by call; nil until needed
	strays      map[stray]int32   // the last results that name no call; nil until needed
	tails       []int32           // for each message, the last one with an answer of those with results from it on; nil until needed
	minted      *mintings
	onward      onward  // of the turn that was asked about last
	sign        *sign   // the result of onlySign; nil until needed
	why         *causes // the result of causes; nil until needed
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
	c.Settle()
}

// settleEvery is the number of calls after which a rule may have the operations so far decided.
const settleEvery = 1 << 10

// eachCall yields each call of the pairing, for a rule whose operations on a turn are requested by calls of
// that turn. Operations on turns that are over are settled, because very many take much memory.
func (c *Context) eachCall() iter.Seq[int] {
	return func(yield func(int) bool) {
		over := c.over()
		for i := range c.Pairing.Calls {
			if i%settleEvery == 0 && over != nil && over[i/settleEvery] {
				for _, ops := range c.ops {
					clear(ops)
				}
				clear(c.texts)
				c.Settle()
			}
			if !yield(i) {
				return
			}
		}
	}
}

// over reports for each settleEvery calls whether all turns of the calls before them are over. It is nil for
// few calls.
func (c *Context) over() []bool {
	if len(c.Calls) < settleEvery {
		return nil
	}
	out := make([]bool, (len(c.Calls)+settleEvery-1)/settleEvery)
	first := make([]int32, len(out)) // the first turn of the calls from there on
	next := int32(math.MaxInt32)
	for i := range slices.Backward(c.Calls) {
		next = min(next, c.turn(c.Calls[i].Message))
		first[i/settleEvery] = next
	}
	last := int32(-1)
	for i := range c.Calls {
		if i%settleEvery == 0 {
			out[i/settleEvery] = last < first[i/settleEvery]
		}
		last = max(last, c.turn(c.Calls[i].Message))
	}
	return out
}

// A FileContext gives a rule the facts about a file.
type FileContext struct {
	Faults []transcript.RecordFault
	Keys   []transcript.KeyFault
	Links  []transcript.LinkFault
	// Branches are the results that are not sent.
	Branches []transcript.Branch
	Lines    bool // the records are the lines of the file
	// LeavesOut says that the client leaves out a line that it cannot read, and Stops that it
	// leaves out all lines behind it too.
	LeavesOut, Stops bool

	Text func(source.Span) string
	// Broken reports whether toolguard reads a record, but no client that parses line by line.
	Broken func(record int32) bool
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

// report emits a finding about a message of the conversation. A finding about a message that
// no provider sees is at most an info, and is not repaired.
func (c *Context) report(message int32, f Finding) {
	if f.Severity == Off {
		return
	}
	m := &c.Messages[message]
	if c.hidden(message) {
		f.Severity = min(f.Severity, Info)
		f.Fix = nil
	}
	c.emit(m.Turn, m.Record, f)
}

// reportUnread emits a finding about an element among the messages that was not read.
func (c *Context) reportUnread(u *transcript.Unread, f Finding) {
	f.Span = u.Span
	c.emit(-1, u.Record, f)
}

// emit completes a finding and emits it.
func (c *Context) emit(turn, record int32, f Finding) {
	if f.Fix != nil {
		if why := c.unrepairable(f.Fix.Do); why != "" {
			f.Fix, f.Unfixed = nil, cmp.Or(f.Unfixed, why)
		}
	}
	if f.Fix != nil {
		c.leftBroken(&f)
	}
	if f.Fix != nil {
		c.halfRenamed(&f)
	}
	if f.Fix != nil && c.Incomplete && f.Fix.Class == operation.Additive && !f.Recorded {
		f.Fix, f.Unfixed = nil, unreadable
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
	f.Turn = int(turn)
	f.Record = record
	c.Emit(f)
}

// leftBroken removes the fix of a finding if clients would lose what it drops or moves, because
// they do not read the line in which it stays.
func (c *Context) leftBroken(f *Finding) {
	var stays, goes int32
	switch do := f.Fix.Do.(type) {
	case *operation.DropCalls:
		if do.CopyOf < 0 {
			return
		}
		stays, goes = c.Calls[do.CopyOf].Message, c.Calls[do.Calls[0]].Message
	case *operation.DropMessages:
		if do.CopyOf < 0 {
			return
		}
		stays, goes = do.CopyOf, do.Messages[0]
	case *operation.MergeMessage:
		stays, goes = do.Message-1, do.Message
	default:
		return
	}
	if why := c.onlyBroken(stays, goes); why != "" {
		f.Fix, f.Unfixed = nil, why
	}
}

// onlyBroken says why what is in one message must not be left to another one: clients do not
// read its line. It returns "" if they do, or if they read neither.
func (c *Context) onlyBroken(stays, goes int32) string {
	if c.Broken(c.Messages[stays].Record) && !c.Broken(c.Messages[goes].Record) {
		return stayBroken
	}
	return ""
}

// stayBroken says why nothing is dropped that would stay only in a line that clients cannot read.
const stayBroken = "it would stay only in a line that clients cannot read"

// halfRenamed removes the fix of a finding if it would rename an id that also occurs in a
// message that toolguard cannot read, because it would not be renamed there. If the fix
// separates pairs with one id, it becomes unsafe, because it is a guess which pair such a
// message means.
func (c *Context) halfRenamed(f *Finding) {
	switch do := f.Fix.Do.(type) {
	case *operation.RenameID:
		var id transcript.Token
		if do.Call >= 0 {
			id = c.Calls[do.Call].ID
		} else {
			id = c.Results[do.Result].ID
		}
		if at, named := c.named(pairing.Key(id)); named {
			f.Fix, f.Unfixed = nil, c.elementAt(at)+", which toolguard cannot read, contains the id too, and the id would not change there"
		}
	case *operation.RenamePairs:
		for _, i := range do.Calls {
			if _, named := c.named(pairing.Key(c.Calls[i].ID)); named {
				f.Fix.Class = operation.Unsafe
			}
		}
	}
}

// unrepairable says why an action cannot be carried out in this conversation, "" if it can.
// Nothing can be inserted around a single message outside a list, and the message cannot be
// removed.
func (c *Context) unrepairable(do operation.Action) string {
	switch do := do.(type) {
	case *operation.AddMember:
		if !c.Knows(do.Member) {
			return "toolguard does not know how this format writes the field"
		}
		return ""
	case *operation.SetState, *operation.ImageTexts, *operation.RenameID, *operation.RenamePairs, *operation.MintIDs, *operation.Retag, *operation.SetValue,
		*operation.RemoveNulls, *operation.TrimText, *operation.RemoveMember, *operation.StripReasoning, *operation.ReorderResults, *operation.CallsLast:
		return ""
	case *operation.Texts, *operation.DropCalls, *operation.DropResults, *operation.DropBlocks:
		if c.Folded {
			return ""
		}
	}
	switch {
	case c.Folded:
		return "a later record of this log changes a message, so toolguard inserts and removes no messages"
	case !c.Lines && len(c.Lists) == 0:
		return "toolguard does not know the format around the message, so it inserts and removes no messages"
	}
	return ""
}

// aboutCall emits a finding about a call. One about a call that no provider sees is at most an
// info, and is not repaired.
func (c *Context) aboutCall(i int, f Finding) {
	call := &c.Calls[i]
	if call.Unsent {
		f.Severity, f.Fix = min(f.Severity, Info), nil
	}
	if f.Span.IsZero() {
		f.Span = call.ID.Span
	}
	f.identify(call.ID)
	f.nameTool(call.Name)
	f.Kind = kindNames[call.Kind]
	c.report(call.Message, f)
}

// aboutResult emits a finding about a result.
func (c *Context) aboutResult(i int, f Finding) {
	res := &c.Results[i]
	if f.Span.IsZero() {
		f.Span = res.ID.Span
	}
	f.identify(res.ID)
	f.nameTool(res.Name)
	f.Kind = kindNames[res.Kind]
	if call := c.Pairing.Results[i].Call; f.Tool == "" && call >= 0 {
		f.nameTool(c.Calls[call].Name)
	}
	c.report(res.Message, f)
}

// identify sets the id of a finding.
func (f *Finding) identify(id transcript.Token) { f.CallID, f.NestedID = id.Text(), id.IsNested() }

// nameTool sets the name of the tool of a finding.
func (f *Finding) nameTool(name transcript.Token) {
	f.Tool, f.NestedTool = name.Text(), name.IsNested()
}

// kindNames are the names of the kinds of call in provider errors.
var kindNames = map[transcript.CallKind]string{
	transcript.KindFunction: "function call", transcript.KindCustom: "custom tool call", transcript.KindComputer: "computer call",
	transcript.KindLocalShell: "local shell call", transcript.KindShell: "shell call", transcript.KindApplyPatch: "apply patch call",
	transcript.KindToolSearch: "tool search call", transcript.KindMCP: "MCP tool call",
}

// turnOp returns the operation of type T on a turn, which the rule's findings about it share.
func turnOp[T any, A interface {
	*T
	operation.Action
}](c *Context, turn int32, class operation.Class, title string) (*operation.Operation, A) {
	kind, n := A(nil).Kind(), int(turn)+1 // -1 is none
	ops := c.ops[kind]
	if missing := n + 1 - len(ops); missing > 0 {
		if c.ops == nil {
			c.ops = map[operation.Kind][]*operation.Operation{}
		}
		ops = append(ops, make([]*operation.Operation, missing)...)
		c.ops[kind] = ops
	}
	op := ops[n]
	if op == nil {
		op = c.op(turn, class, title, A(new(T)))
		ops[n] = op
	}
	op.Class = max(op.Class, class)
	return op, op.Do.(A)
}

// op returns a new operation on a turn.
func (c *Context) op(turn int32, class operation.Class, title string, do operation.Action) *operation.Operation {
	return &operation.Operation{Class: class, Title: title, Turn: turn, Do: do}
}

// asText returns the operation that turns calls and results of a turn into text, together
// with those that the rule already turns into text. It is nil if the message of the calls
// must not be edited.
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

// answersTo returns the results of a call: its answer and duplicates of it.
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

// callAsText returns the operation that turns a call and its results into text.
func (c *Context) callAsText(call int32) *operation.Operation {
	return c.asText(c.turn(c.Calls[call].Message), []int32{call}, c.answersTo(call))
}

// messageAsText returns the operation that turns the calls and the results of a message into
// text, together with their counterparts.
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

// allAsText returns the operation that turns all calls and results of the conversation into
// text.
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

// userSays returns the operation that gives a message of the assistant the role of the user.
// Calls and results must have become text before.
func (c *Context) userSays(message int32) *operation.Operation {
	m := &c.Messages[message]
	word := c.Native.Role("user")
	switch {
	case c.calls(m) || c.holds(message, transcript.BlockResult):
		return c.messageAsText(message)
	case c.holds(message, transcript.BlockReasoning) || c.holds(message, transcript.BlockServerResult) || word == "":
		return nil // a user message cannot hold these blocks, or the word for the user is unknown
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

// dropCall returns the operation that drops a call with its results.
func (c *Context) dropCall(call int32) *operation.Operation {
	return c.op(c.turn(c.Calls[call].Message), operation.Unsafe, "drop the call with its result", &operation.DropCalls{Calls: []int32{call}, CopyOf: -1})
}

// cell returns the profile's cell for a point.
func (c *Context) cell(at profile.Point) profile.Cell { return c.Profile.Cell(at) }

// stricter returns the cell for a point. Converters send on what they are given, so a history
// in another shape is also checked against the profile of its own shape, and the more severe
// cell counts.
func (c *Context) stricter(at profile.Point) profile.Cell {
	cell := c.cell(at)
	if native := c.Native.Cell(at); !c.shaped() && severityOf(native) > severityOf(cell) {
		return native
	}
	return cell
}

// objectDue reports whether the arguments of a call, which are a string in this dialect, must
// become an object for the target.
func (c *Context) objectDue(call *transcript.Call) bool {
	return (!c.shaped() || c.Profile.ArgsBoth) && call.Want == transcript.ArgsWantString && severityOf(c.cell(profile.ArgsNotObject)) != Off
}

// shaped reports whether the conversation has the shape that the profile's provider accepts,
// so that the provider's rules about shapes apply. Each library has a shape of its own.
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

// asks reports whether the history is part of a request that names its provider.
func (c *Context) asks() bool { return c.Use == transcript.UseBody && c.Named }

// known reports whether it is known which provider gets the history: the user says that it is
// sent or to whom, or it is part of a request that names the provider. What providers do not
// agree on is otherwise at most an info.
func (c *Context) known() bool { return c.Send || c.Target || c.asks() }

// ordersSeverity describes the severity of findings about the order of roles.
const ordersSeverity = "info; by provider with --send or --provider, and in a request body that names the provider"

// sent reports whether the history is about to be sent to a provider.
func (c *Context) sent() bool { return c.Send || c.Target || c.Use == transcript.UseBody }

// past reports whether the conversation is a record of the past, which nobody asks to judge as a
// request.
func (c *Context) past() bool {
	return !c.Send && !c.Target && (c.Use == transcript.UseDataset || c.Use == transcript.UseTrace)
}

// want returns the required form of the arguments of a call. A provider that copies an API
// may require another form.
func (c *Context) want(call *transcript.Call) transcript.ArgsConvention {
	if c.Target && c.shaped() && !c.Profile.ArgsBoth && call.Want == transcript.ArgsWantString && severityOf(c.cell(profile.ArgsNotString)) == Off &&
		severityOf(c.cell(profile.ArgsNotObject)) != Off {
		return transcript.ArgsWantObject
	}
	return call.Want
}

// strategy returns the chosen repair of the rule, "" for the default.
func (c *Context) strategy() string { return c.Strategy[c.rule.Name] }

// strategyOr returns the chosen repair of the rule, or else the given default.
func (c *Context) strategyOr(name string) string {
	if s := c.strategy(); s != "" {
		return s
	}
	return name
}

// chosen reports whether the user chose how a rule repairs. Selecting a rule with only one
// repair by name chooses that repair.
func (c *Context) chosen(r *Rule) bool {
	if r.OnDemand != nil {
		return r.OnDemand(&c.Options)
	}
	return c.Strategy[r.Name] != "" || len(r.Strategies) == 0 && c.Explicit[r.Name]
}

// wanted reports whether the user requested a repair of a rule that by default leaves things
// as they are: by its strategy or, if no other strategy was chosen, by the name of the rule.
func (c *Context) wanted(strategy string) bool {
	s := c.strategy()
	return s == strategy || s == "" && c.Explicit[c.rule.Name]
}

// turn returns the turn of a message.
func (c *Context) turn(message int32) int32 { return c.Messages[message].Turn }

// arrays reports whether the messages of the conversation are sent in the order of the file,
// so that their positions matter.
func (c *Context) arrays() bool { return c.Window != transcript.WindowLog }

// signed reports whether a turn contains signed content, which must not be changed.
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

// named reports whether a name exists and is not null.
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

// quote quotes an id or a name so that it cannot be confused with the text around it, and
// truncates it if it is long. An object or a list in its place is not shown, because it is
// not a name.
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

func plural(n int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, one)
	}
	return fmt.Sprintf("%d %s", n, many)
}
