package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// A fixSet is a set of options.
type fixSet struct {
	name string
	opts FixOptions
	rule string // whose strategy it sets, "" for none
}

// The sets that every input goes through.
func basicSets() []fixSet {
	return []fixSet{
		{"default", FixOptions{}, ""},
		{"safe only", FixOptions{SafeOnly: true}, ""},
		{"unsafe", FixOptions{Unsafe: true}, ""},
		{"unsafe and send", FixOptions{Options: Options{Send: true}, Unsafe: true}, ""},
	}
}

// targetSets have targets that differ in what they accept.
func targetSets() (out []fixSet) {
	for _, name := range []string{
		"anthropic-thinking", "openai", "openai-responses", "gemini-3", "bedrock-other", "mistral", "deepseek",
		"deepseek-responses", "minimax", "ollama", "vllm",
	} {
		p := profile.ByName(name)
		out = append(out,
			fixSet{"target " + p.Name, FixOptions{Options: Options{Target: p}}, ""},
			fixSet{"unsafe and send, target " + p.Name, FixOptions{Options: Options{Target: p, Send: true}, Unsafe: true}, ""})
	}
	return out
}

// strategySets have each strategy of each rule.
func strategySets() (out []fixSet) {
	for _, r := range rules.All() {
		for _, s := range r.Strategies {
			strategy := map[string]string{r.Name: s}
			out = append(out,
				fixSet{r.Name + "=" + s, FixOptions{Options: Options{Strategy: strategy}}, r.Name},
				fixSet{"unsafe, " + r.Name + "=" + s, FixOptions{Options: Options{Strategy: strategy}, Unsafe: true}, r.Name})
		}
	}
	return out
}

func allSets() []fixSet { return slices.Concat(basicSets(), targetSets(), strategySets()) }

// caseInputs returns the inputs of the worked cases whose dialect is read.
func caseInputs(t testing.TB) (out []fixture) {
	t.Helper()
	for _, c := range readCases(t) {
		if supported[c.Dialect] {
			out = append(out, fixture{"case " + c.Name, c.text(t)})
		}
	}
	return out
}

// tryFix repairs a text. It returns every fault as an error.
func tryFix(name string, text []byte, opts FixOptions) (out []byte, f *Fixed, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	f, err = Settle(context.Background(), source.FromBytes(name, text), opts)
	if errors.As(err, new(*CheckOnlyError)) {
		rep, failed := Check(context.Background(), source.FromBytes(name, text), opts.Options)
		if failed == nil && !rep.File.Marked {
			return text, nil, err // a check offers its repairs, for those who name the dialect
		}
		return text, &Fixed{Before: rep, After: rep}, failed
	}
	if err != nil {
		return nil, nil, err
	}
	if !f.Changed() {
		return text, f, nil
	}
	out, err = io.ReadAll(io.NewSectionReader(f.Pieces, 0, f.Pieces.Size()))
	return out, f, err
}

// checkedOnly reports whether a text was not repaired because of its kind.
func checkedOnly(err error) bool {
	var checkOnly *CheckOnlyError
	return errors.As(err, &checkOnly)
}

// refusal begins a fault that is an error of the repair, and not a wrong result.
const refusal = "refused: "

// misfixed repairs a text and returns the fault of the result, "" if there is none.
func misfixed(name string, text []byte, opts FixOptions) (fault string, out []byte, f *Fixed) {
	out, f, err := tryFix(name, text, opts)
	if checkedOnly(err) {
		return "", text, nil
	}
	if err != nil {
		return refusal + err.Error(), out, nil
	}
	if f.Before.Skipped != "" {
		if f.Changed() {
			return "a file that is no transcript was repaired", out, f
		}
		return "", out, f
	}
	looks := []func() string{
		func() string { return faultyEdits(text, out, f) },
		func() string { return faultyRepairs(text, f, opts) },
		func() string { return undone(f, opts) },
		func() string { return unlikeCheck(name, out, f, opts) },
		func() string { return faultyFraming(text, out, f) },
		func() string { return notSettled(name, out, opts) },
		func() string { return unexplained(text, out, f) },
		func() string { return lostContent(text, out, f) },
		func() string { return faultyLinks(text, out, f) },
	}
	if !f.Changed() {
		looks = looks[:4] // the others hold what it became against what it was
	}
	for _, look := range looks {
		if s := look(); s != "" {
			return s, out, f
		}
	}
	return "", out, f
}

// compactly shortens a text for an error message.
func compactly(text []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, text) == nil {
		text = b.Bytes()
	}
	return fmt.Sprintf("%.5000s", text)
}

// faultyEdits checks that the edits are in order and do not overlap, that each is a change,
// and that they turn the original into the result.
func faultyEdits(text, out []byte, f *Fixed) string {
	if !f.Changed() {
		if len(f.Repairs) > 0 || f.Rounds > 0 {
			return fmt.Sprintf("%d repairs in %d rounds, and yet unchanged", len(f.Repairs), f.Rounds)
		}
		return ""
	}
	if len(f.Repairs) == 0 {
		return "changed without a repair"
	}
	if bytes.Equal(text, out) {
		return fmt.Sprintf("%d repairs that change nothing: %+v", len(f.Repairs), f.Repairs)
	}
	var naive []byte
	at := int64(0)
	for i, e := range f.Pieces.Edits() {
		if e.Span.Start < at || i > 0 && e.Span.Start == at || e.Span.End < e.Span.Start || e.Span.End > int64(len(text)) {
			return fmt.Sprintf("edit %d at %v begins before %d", i, e.Span, at)
		}
		if bytes.Equal(text[e.Span.Start:e.Span.End], e.Text) {
			return fmt.Sprintf("edit %d at %v puts %q in its own place", i, e.Span, e.Text)
		}
		naive = append(append(naive, text[at:e.Span.Start]...), e.Text...)
		at = e.Span.End
	}
	if naive = append(naive, text[at:]...); !bytes.Equal(naive, out) {
		return "the edits do not make the result"
	}
	return ""
}

// faultyRepairs checks that the repairs were allowed.
func faultyRepairs(text []byte, f *Fixed, opts FixOptions) string {
	for _, r := range f.Repairs {
		for _, s := range r.Dropped {
			if s.Start < 0 || s.End < s.Start || s.End > int64(len(text)) {
				return fmt.Sprintf("%+v dropped what is not there", r)
			}
		}
		if r.Rule == rules.ReplayedReasoning && opts.StripReasoning {
			continue // asked for, whatever the class
		}
		if r.Class == operation.Unsafe && !opts.Unsafe || r.Class == operation.Additive && opts.SafeOnly {
			return fmt.Sprintf("%s was not allowed: %+v", r.Class, r)
		}
		if r.Title == "" || r.Kind == "" || rules.ByName(r.Rule) == nil || r.Results < 1 {
			return fmt.Sprintf("repair %+v", r)
		}
	}
	return ""
}

func validLines(text []byte) (valid, invalid int) {
	for line := range bytes.Lines(text) {
		switch {
		case len(bytes.TrimSpace(line)) == 0:
		case json.Valid(line):
			valid++
		default:
			invalid++
		}
	}
	return valid, invalid
}

// faultyFraming checks that the result has the same framing as the text, and is not less
// valid.
func faultyFraming(text, out []byte, f *Fixed) string {
	b, a := f.Before.File, f.After.File
	if f.After.Skipped != "" {
		return "the result is no transcript: " + f.After.Skipped
	}
	bom := []byte("\ufeff")
	if bytes.HasPrefix(text, bom) != bytes.HasPrefix(out, bom) {
		return "the byte order mark"
	}
	text, out = bytes.TrimPrefix(text, bom), bytes.TrimPrefix(out, bom)
	if lines, _ := validLines(out); a.Framing != b.Framing && lines > 1 && !byteRepairs(f) {
		return fmt.Sprintf("framing was %v and is %v", b.Framing, a.Framing)
	}
	if json.Valid(text) && !json.Valid(out) && len(bytes.TrimSpace(out)) > 0 {
		return "the document is not valid any more"
	}
	if good, bad := validLines(text); !json.Valid(text) && good > bad { // else values are spread over lines
		if _, worse := validLines(out); worse > bad {
			return fmt.Sprintf("%d lines were invalid, and %d are", bad, worse)
		}
	}
	if cr := bytes.Count(text, []byte("\r\n")); cr == 0 && bytes.Contains(out, []byte("\r")) != bytes.Contains(text, []byte("\r")) {
		return "carriage returns"
	} else if lf := bytes.Count(text, []byte("\n")); cr > 0 && cr == lf && bytes.Count(out, []byte("\r\n")) != bytes.Count(out, []byte("\n")) {
		return "line feeds among carriage returns"
	}
	if bytes.HasSuffix(text, []byte("\n")) != bytes.HasSuffix(out, []byte("\n")) && len(out) > 0 && !byteRepairs(f) {
		return "the final newline"
	}
	return ""
}

// kindOf returns the name of an action in reports.
func kindOf[T any, A interface {
	*T
	operation.Action
}]() operation.Kind {
	return A(new(T)).Kind()
}

func byteRepairs(f *Fixed) bool {
	return slices.ContainsFunc(f.Repairs, func(r Repair) bool {
		return r.Kind == kindOf[operation.DropRecord]() || r.Kind == kindOf[operation.DropBytes]() || r.Kind == kindOf[operation.EscapeNewlines]() || r.Kind == kindOf[operation.ReplaceBytes]()
	})
}

// unlikeCheck compares the findings after the repairs with a check of the result, and with
// the findings before.
func unlikeCheck(name string, out []byte, f *Fixed, opts FixOptions) string {
	rep, err := Check(context.Background(), source.FromBytes(name, out), opts.Options)
	if err != nil {
		return err.Error()
	}
	if was := f.After.File.Dialect; opts.Dialect == nil && rep.File.Dialect != was && dialect.ByName(was) != nil {
		// What told the dialect may be repaired; it holds all the same.
		opts.Dialect = dialect.ByName(was)
		return unlikeCheck(name, out, f, opts)
	}
	if is, left := rep.Findings.List(), f.After.Findings.List(); len(is) == len(left) {
		for i := range is {
			// What was withheld is tried again by the next one.
			if left[i].Unfixed != "" {
				is[i].Fix = nil
			}
		}
		rep.Findings = Pack(is...)
	}
	if a, b := render(rep), render(f.After); a != b {
		return fmt.Sprintf("found after the repair:\n%sfound in the result:\n%s", b, a)
	}
	if s := unsound(out, rep); s != "" {
		return s
	}
	// A call without a result may be missing one or wait for one; a result that
	// stands in a wrong place may be an orphan, late, early, or one too many.
	const order = rules.MessageOrder
	same := map[string]string{
		"pending-tool-call": "missing-tool-result",
		"truncated-record":  "invalid-json", "unknown-tool": "invalid-tool-name",
		"orphan-tool-result": "misplaced-tool-result", "result-before-call": "misplaced-tool-result", "duplicate-tool-result": "misplaced-tool-result",
		"missing-arguments": "schema-violation", "consecutive-roles": order, "first-role": order, "missing-user-message": order, "last-role": order, "user-after-tool": order,
		"mixed-tool-result-message": order, "result-order-mismatch": order, "reasoning-unreplayable": order,
	}
	was, is := map[string]int{}, map[string]int{}
	count := func(to map[string]int, fs []Finding) {
		for i := range fs {
			if name := fs[i].Rule.Name; fs[i].Severity >= rules.Warning {
				to[cmp.Or(same[name], name)]++
			}
		}
	}
	count(was, f.Before.Findings.List())
	count(is, rep.Findings.List())
	for rule, n := range is {
		if rule == order && n-was[rule] <= settled(was, is) {
			continue
		}
		if n > was[rule] {
			return fmt.Sprintf("%s: %d before, %d after", rule, was[rule], n)
		}
	}
	return ""
}

// notSettled repairs the result once more.
func notSettled(name string, out []byte, opts FixOptions) string {
	again, f, err := tryFix(name, out, opts)
	if err != nil {
		return "the second time: " + err.Error()
	}
	if f.Changed() || !bytes.Equal(again, out) {
		return fmt.Sprintf("changed again: %+v\n%s", f.Repairs, again)
	}
	if s := undone(f, opts); s != "" {
		return "the second time, " + s
	}
	return ""
}

// keysOf returns the last names of the paths in fields of the rows of all dialects.
func keysOf(fields ...string) []string { return keysIn(dialect.All(), fields...) }

// keysIn is keysOf for some dialects.
func keysIn(dialects []*dialect.Dialect, fields ...string) []string {
	var out []string
	var walk func(v reflect.Value, field string)
	walk = func(v reflect.Value, field string) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem(), field)
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i), field)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name)
			}
		case reflect.String:
			if !slices.Contains(fields, field) {
				return
			}
			for path := range strings.SplitSeq(v.String(), "|") {
				out = append(out, path[strings.LastIndexByte(path, '.')+1:])
			}
		}
	}
	for _, d := range dialects {
		walk(reflect.ValueOf(d), "")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// idKeys are the fields that a new id may change. The last two list ids of calls, and only a
// hook knows them.
var idKeys = append(keysOf("Part.ID", "SideList.ID", "SideList.ResultID", "Items.ID", "ItemPair.CallID", "ItemPair.OutputID", "CallEvent.ID",
	"ResultEvent.ID", "Records.ID", "Answers.ID", "copyList.id", "Log.CallRefs"), "longRunningToolIds", "long_running_tool_ids")

// linkKeys are the fields that an insertion or a removal may change.
var linkKeys = keysOf("Log.Parent", "Log.Refs", "Log.KeptFrom", "Log.KeptIndex", "Log.ResultSource", "Log.Preserved")

// without returns a unit as compact JSON without some fields.
func without(raw string, keys []string) string {
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	var v any
	if len(keys) == 0 || dec.Decode(&v) != nil {
		return raw
	}
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				strip(e)
			}
		case map[string]any:
			for k, e := range v {
				if slices.Contains(keys, k) {
					delete(v, k)
				} else {
					strip(e)
				}
			}
		}
	}
	strip(v)
	b, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return string(b)
}

// common returns the length of the longest common subsequence.
func common(a, b []string) int {
	n := 0
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b, n = a[1:], b[1:], n+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b, n = a[:len(a)-1], b[:len(b)-1], n+1
	}
	row := make([]int, len(b)+1)
	for i := range a {
		diag := 0
		for k := range b {
			up := row[k+1]
			switch {
			case a[i] == b[k]:
				row[k+1] = diag + 1
			case row[k] > up:
				row[k+1] = row[k]
			}
			diag = up
		}
	}
	return n + row[len(b)]
}

// unexplained compares the elements before and after the repairs. The repairs must explain
// every element that is gone or out of order.
func unexplained(text, out []byte, f *Fixed) string {
	d := dialect.ByName(f.Before.File.Dialect)
	was, is := anatomyOf(text, d), anatomyOf(out, d)
	before, rest := was.units(was.records())
	after, restNow := is.units(was.records())
	var mask []string
	changed, moved, inserted := 0, 0, 0
	log := logOf(f) != nil
	folds := f.Before.File.Container == detect.ContainerFoldingLog // where a record is changed by another one
	for _, r := range f.Repairs {
		n := r.Results
		if folds {
			inserted += n
		}
		if r.Recorded > 0 { // the records behind the new ones get other numbers
			mask = append(mask, ordinalKeys()...)
		}
		switch r.Kind {
		case kindOf[operation.RenameID](), kindOf[operation.MintIDs](), kindOf[operation.RelinkResult]():
			mask = append(mask, idKeys...)
			if folds {
				inserted += n // the call and its result can stand in a record each
			}
		case kindOf[operation.InsertResults]():
			if !log {
				changed++
			}
			inserted += n
		case kindOf[operation.MoveResults](), kindOf[operation.MergeResults]():
			changed += n + 1
			moved += n
			inserted++
			if log { // the ordinals of those around it
				mask = append(mask, ordinalKeys()...)
			}
		case kindOf[operation.ReorderResults](), kindOf[operation.MoveBlock]():
			changed += n + 2
			moved += n + 2
			inserted++
		case kindOf[operation.SplitMessage](), kindOf[operation.SplitResults]():
			changed++
			inserted++
		case kindOf[operation.DropCalls]():
			changed += n + 3
		case kindOf[operation.DropTurn](), kindOf[operation.ReplaceBytes](), kindOf[operation.EscapeNewlines]():
			changed += len(before)
		case kindOf[operation.DropBlocks](), kindOf[operation.MergeMessage]():
			changed += 2
		case kindOf[operation.RelinkRecord]():
			mask = append(mask, linkKeys...)
		case kindOf[operation.MoveRecord]():
			mask = append(mask, linkKeys...)
			moved++
		case kindOf[operation.Texts]():
			changed += max(2*n, len(r.Dropped)) // a call and its result
		case kindOf[operation.Renumber]():
			mask = append(mask, ordinalKeys()...)
		default:
			changed += n
		}
	}
	if log && (inserted > 0 || changed > 0) {
		mask = append(mask, linkKeys...)
	}
	if slices.ContainsFunc(f.Repairs, func(r Repair) bool { return r.Rule == "null-in-schema" }) {
		rest, restNow = nullFields.ReplaceAllString(rest, ""), nullFields.ReplaceAllString(restNow, "")
	}
	if !byteRepairs(f) && rest != restNow {
		return fmt.Sprintf("between the messages there was %q, and there is %q", rest, restNow)
	}
	for i := range before {
		before[i] = without(before[i], mask)
	}
	for i := range after {
		after[i] = without(after[i], mask)
	}
	count := map[string]int{}
	for _, u := range after {
		count[u]++
	}
	stayed := 0
	var gone []string
	for _, u := range before {
		if count[u] > 0 {
			count[u]--
			stayed++
		} else if !byteRepairs(f) || json.Valid([]byte(u)) {
			gone = append(gone, u)
		}
	}
	if len(gone) > changed {
		return fmt.Sprintf("%d elements changed or went, %d are explained by %+v:\n%s", len(gone), changed, f.Repairs, strings.Join(gone, "\n"))
	}
	if fresh := len(after) - stayed; fresh > changed+inserted && !byteRepairs(f) {
		return fmt.Sprintf("%d elements are new, %d are explained by %+v", fresh, changed+inserted, f.Repairs)
	}
	if n := stayed - common(before, after); n > moved+changed {
		return fmt.Sprintf("%d elements are out of order, %d are explained by %+v", n, moved, f.Repairs)
	}
	return ""
}

// nullFields matches fields that are null, also in JSON in a string.
var nullFields = regexp.MustCompile(`\\?"[^"\\]*\\?":null`)

// contentKeys are the fields that contain recorded content.
var contentKeys = []string{"content", "text", "thinking", "signature", "output", "run", "summary", "reasoning_content", "encrypted_content", "refusal"}

// content collects the texts of a document: every string in content fields except ids, names,
// states and the like, and the inputs of calls, which have rules of their own.
func content(text []byte) map[string]int {
	out := map[string]int{}
	var walk func(key string, v any, in bool)
	walk = func(key string, v any, in bool) {
		switch v := v.(type) {
		case string:
			if in && !slices.Contains(idKeys, key) && !slices.Contains(linkKeys, key) {
				out[strings.TrimRightFunc(v, unicode.IsSpace)]++ // white space at an end says nothing
			}
		case []any:
			for _, e := range v {
				walk(key, e, in)
			}
		case map[string]any:
			if _, block := v["type"]; block {
				in = false // its content stands under names of its own
			}
			for k, e := range v {
				switch k {
				case "arguments", "name", "type", "role", "timestamp", "uuid", "state":
				case "input":
					walk(k, e, false) // of a call, or the list of items
				default:
					walk(k, e, in || slices.Contains(contentKeys, k))
				}
			}
		}
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var v any
	if json.Unmarshal(text, &v) == nil {
		walk("", v, false)
		return out
	}
	for line := range bytes.Lines(text) {
		var v any
		if json.Unmarshal(line, &v) == nil {
			walk("", v, false)
		}
	}
	return out
}

// knownPlaceholder reports whether a text is one that tools insert in the place of a result.
func knownPlaceholder(s string) bool {
	for _, known := range []string{
		"[toolguard] ", "No result provided", "aborted", "[Tool call was interrupted", "Tool execution was interrupted", "Context condensation triggered",
		"The tool call was interrupted", "[System: Tool execution skipped", "[openclaw] missing tool result", "Tool was interrupted.",
		"[Tool execution was interrupted", "Tool canceled by user", "The tool execution result was lost", "[Tool result missing", "[Request interrupted by user",
	} {
		if strings.HasPrefix(s, known) {
			return true
		}
	}
	return false
}

// lostContent looks for texts that repairs without --unsafe lost. A copy may be removed if an
// identical text stays.
func lostContent(text, out []byte, f *Fixed) string {
	drops := false
	merged := map[string]int{} // the texts between the seams of merged ones
	for _, r := range f.Repairs {
		if r.Class == operation.Unsafe {
			return ""
		}
		switch r.Kind {
		case kindOf[operation.MergeMessage]():
			for s, n := range content(out) {
				for part := range strings.SplitSeq(s, "\n\n") {
					merged[part] += n
				}
			}
		case kindOf[operation.DropResults](), kindOf[operation.DropCalls](), kindOf[operation.DropRecord](), kindOf[operation.DropMessages](), kindOf[operation.DropBytes]():
			drops = true
		}
	}
	was, is := content(text), content(out)
	for s, n := range was {
		if len(merged) > 0 {
			is[s] = n
			for part := range strings.SplitSeq(s, "\n\n") {
				is[s] = min(is[s], merged[part])
			}
		}
		switch {
		case knownPlaceholder(s):
		case is[s] == 0 && s != "", !drops && is[s] < n && s != "":
			return fmt.Sprintf("the text %.200q stood there %d times, and now %d; %+v", s, n, is[s], f.Repairs)
		}
	}
	return ""
}

// A logRecord has the links of a record of a log.
type logRecord struct {
	UUID, ParentUUID, SessionID, CWD, Version, GitBranch, UserType, AgentID, Timestamp, Type string
	LeafUUID, LogicalParentUUID, SourceToolAssistantUUID                                     string
	RequestID                                                                                *string
	IsSidechain                                                                              bool
	Message                                                                                  struct {
		ID      string
		Content json.RawMessage
	}
	raw string
}

// logOf returns the kind of log of a repaired file, nil if it is not a log.
func logOf(f *Fixed) *dialect.Log {
	d := dialect.ByName(f.Before.File.Dialect)
	if d == nil || f.Before.File.Container != detect.ContainerLog && strings.HasPrefix(f.Before.File.Container, "json") {
		return nil
	}
	return d.Log
}

// callerOf returns the record that makes the call that a result answers.
func callerOf(records map[string]logRecord, result logRecord) logRecord {
	var content []struct {
		ToolUseID string `json:"tool_use_id"`
	}
	if json.Unmarshal(result.Message.Content, &content) == nil && len(content) > 0 {
		for _, r := range records {
			if strings.Contains(string(r.Message.Content), `"tool_use","id":"`+content[0].ToolUseID+`"`) {
				return r
			}
		}
	}
	return logRecord{}
}

func logRecords(text []byte, l *dialect.Log) (out []logRecord) {
	lines := bytes.Split(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\n"))
	var document struct{ Loglines []json.RawMessage }
	if json.Unmarshal(text, &document) == nil && len(document.Loglines) > 0 {
		lines = nil
		for _, e := range document.Loglines {
			lines = append(lines, e)
		}
	}
	for _, line := range lines {
		var r logRecord
		if err := json.Unmarshal(line, &r); err != nil {
			if !errors.As(err, new(*json.UnmarshalTypeError)) {
				continue
			}
		}
		r.raw = string(bytes.TrimSpace(line))
		member := func(key string) string {
			return source.NewValue([]byte(r.raw), 0).Get(key).Str()
		}
		r.UUID, r.ParentUUID = member(l.ID), member(l.Parent)
		out = append(out, r)
	}
	return out
}

// chains returns, by uuid, the number of records between a record and the root, or -1 if the
// chain is broken or endless.
func chains(records []logRecord) map[string]int {
	parent := map[string]string{}
	for _, r := range records {
		if r.UUID != "" {
			parent[r.UUID] = r.ParentUUID
		}
	}
	out := map[string]int{}
	for id := range parent {
		n, at := 0, id
		for n <= len(parent) && at != "" {
			next, known := parent[at]
			if !known {
				n = -1
				break
			}
			at = next
			n++
		}
		if n > len(parent) {
			n = -1
		}
		out[id] = n
	}
	return out
}

// faultyLinks compares the links between the records of a log before and after.
func faultyLinks(text, out []byte, f *Fixed) string {
	l := logOf(f)
	if l == nil || l.Parent == "" || !f.Changed() {
		return ""
	}
	before, after := logRecords(text, l), logRecords(out, l)
	had, has := chains(before), chains(after)
	inserted, removed := 0, 0
	known := map[string]logRecord{}
	for _, r := range before {
		if _, still := has[r.UUID]; !still && r.UUID != "" {
			removed++
		}
		known[r.UUID] = r
	}
	ids := map[string]int{}
	for _, r := range after {
		if r.UUID == "" {
			continue
		}
		ids[r.UUID]++
		if _, was := had[r.UUID]; !was {
			inserted++
		}
	}
	wasTwice := map[string]int{}
	for _, r := range before {
		wasTwice[r.UUID]++
	}
	for id, n := range ids {
		if n > max(1, wasTwice[id]) && !byteRepairs(f) {
			return fmt.Sprintf("%d records have the uuid %q", n, id)
		}
	}
	if slices.ContainsFunc(f.Repairs, func(r Repair) bool {
		return r.Kind == kindOf[operation.MoveRecord]() || r.Kind == kindOf[operation.MoveResults]()
	}) {
		removed, inserted = len(before), len(after) // chains with the record move
	}
	// A branch that left messages out has them again.
	more := inserted
	if slices.ContainsFunc(f.Repairs, func(r Repair) bool { return r.Rule == "stale-parent" }) {
		more = len(before)
	}
	for id, n := range has {
		was, there := had[id]
		switch {
		case !there:
			continue
		case n < 0 && was >= 0:
			return fmt.Sprintf("the chain of %q was whole, and is broken", id)
		case n >= 0 && was >= 0 && !byteRepairs(f) && (n > was+more || n < was-removed):
			return fmt.Sprintf("the chain of %q was %d long, and is %d; %d records are new and %d gone", id, was, n, inserted, removed)
		}
	}
	dangling := func(recs []logRecord) map[string]bool {
		there := map[string]bool{"": true}
		for _, r := range recs {
			there[r.UUID] = true
		}
		out := map[string]bool{}
		for _, r := range recs {
			for _, ref := range []string{r.ParentUUID, r.LeafUUID, r.LogicalParentUUID, r.SourceToolAssistantUUID} {
				if !there[ref] {
					out[ref] = true
				}
			}
		}
		return out
	}
	dangled := dangling(before)
	for ref := range dangling(after) {
		if !dangled[ref] && !byteRepairs(f) {
			return fmt.Sprintf("nothing has the uuid %q any more, but records name it", ref)
		}
	}
	return ""
}

// undone returns a remaining finding whose repair was allowed, or that says so although the next
// run will not make it.
func undone(f *Fixed, opts FixOptions) string {
	for fd := range f.After.Findings.All() {
		if fd.Fix != nil && !fd.Fix.ByStrategy && opts.covers(fd.Rule, fd.Fix.Class) {
			return fmt.Sprintf("%s was not done: to %s", fd.Rule.Name, fd.Fix.Title)
		}
	}
	return ""
}

// TestFixProperties repairs every fixture and every worked case in every way.
func TestFixProperties(t *testing.T) {
	t.Parallel()
	inputs := sampled(t, 10, append(fixtures(t), caseInputs(t)...))
	targets, strategies := targetSets(), strategySets()
	some := sample.Size(len(targets), 1, 0) // of the targets, others for each input
	strategies = strategies[:sample.Size(len(strategies), len(strategies), 0)]
	done := sample.Until(t)
	ran, tried := 0, make([]bool, len(strategies))
	for i, in := range inputs {
		if done() {
			break
		}
		found := map[string]bool{} // the rules that say anything, before the repairs or after
		try := func(set fixSet) {
			ran++
			s, out, f := misfixed(in.name, in.text, set.opts)
			if s != "" {
				t.Errorf("%s, %s: %s\n%s\n%s", in.name, set.name, s, compactly(in.text), compactly(out))
			}
			if f == nil {
				return
			}
			for _, fd := range slices.Concat(f.Before.Findings.List(), f.After.Findings.List()) {
				found[fd.Rule.Name] = true
			}
		}
		for _, set := range basicSets() {
			try(set)
		}
		for k := range some {
			try(targets[(i*some+k)%len(targets)])
		}
		for k, set := range strategies {
			// By default only the strategies of rules with findings are tried: each at once, and
			// then on one input in sixteen.
			if sample.Long() || found[set.rule] && (!tried[k] || (i+k)%16 == 0) {
				tried[k] = true
				try(set)
			}
		}
	}
	t.Logf("%d inputs, %d repairs", len(inputs), ran)
}

// corpusInputs returns the real transcripts of the dialects.
func corpusInputs(t *testing.T) (out []fixture) {
	t.Helper()
	dir := corpusDir(t)
	for _, c := range corpus(t) {
		if _, own := ownDialect[c.format]; !own {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, c.path))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fixture{c.path, text})
	}
	return out
}

// TestFixCorpus repairs every real transcript.
func TestFixCorpus(t *testing.T) {
	t.Parallel()
	changed := 0
	repairs := map[string]int{}
	most := sample.Size(1<<30, 200_000, 50_000)
	done := sample.Until(t)
	for i, in := range corpusInputs(t) {
		if done() {
			break
		}
		sets := basicSets()
		switch {
		case len(in.text) > most:
			continue
		case len(in.text) > 1<<20:
			sets = sets[3:]
		case !sample.Long():
			sets = sets[i%len(sets):][:1]
		}
		for _, set := range sets {
			s, _, f := misfixed(in.name, in.text, set.opts)
			if s != "" {
				t.Errorf("%s, %s: %.3000s", in.name, set.name, s)
				continue
			}
			if f == nil {
				continue
			}
			if f.Changed() {
				changed++
			}
			for _, r := range f.Repairs {
				repairs[r.Rule]++
			}
		}
	}
	t.Logf("%d repaired: %v", changed, repairs)
}

// TestFixRuleOrder: the result does not depend on the order of the rules.
func TestFixRuleOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	done := sample.Until(t)
	for _, in := range sampled(t, 10, append(fixtures(t), caseInputs(t)...)) {
		if done() {
			break
		}
		sets := basicSets()
		for _, set := range sets[len(sets)-sample.Size(4, 1, 1):] {
			want, f, err := tryFix(in.name, in.text, set.opts)
			if checkedOnly(err) || err == nil && f.Before.Findings.Len() == 0 {
				continue
			}
			if err != nil {
				t.Errorf("%s, %s: %v", in.name, set.name, err)
				continue
			}
			for i := range 3 {
				opts := set.opts
				opts.Rules = slices.Clone(rules.All())
				slices.Reverse(opts.Rules)
				if i > 0 {
					r.Shuffle(len(opts.Rules), func(a, b int) { opts.Rules[a], opts.Rules[b] = opts.Rules[b], opts.Rules[a] })
				}
				if got, _, err := tryFix(in.name, in.text, opts); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, %s, rules in another order: %v\n%s\n%s", in.name, set.name, err, compactly(want), compactly(got))
					break
				}
			}
		}
	}
}

// logLine writes a record of a log.
func logLine(uuid, parent, typ, more, message string, second int) string {
	if parent != "null" {
		parent = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/w","sessionId":"s","version":"2.1","gitBranch":"main",%s"type":%q,"message":%s,"uuid":%q,"timestamp":"2026-02-08T17:00:%02d.000Z"}`,
		parent, more, typ, message, uuid, second) + "\n"
}

func useLine(uuid, parent, message string, second int, ids ...string) string {
	var blocks []string
	for _, id := range ids {
		blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"ls","input":{}}`, id))
	}
	return logLine(uuid, parent, "assistant", `"requestId":"r","isApiErrorMessage":false,`, fmt.Sprintf(`{"id":%q,"role":"assistant","content":[%s]}`, message, strings.Join(blocks, ",")), second)
}

func resultLine(uuid, parent, id string, second int) string {
	return logLine(uuid, parent, "user", `"toolUseResult":"x","sourceToolAssistantUUID":"`+parent+`",`, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"x"}]}`, id), second)
}

func userLine(uuid, parent, text string, second int) string {
	return logLine(uuid, parent, "user", "", fmt.Sprintf(`{"role":"user","content":%q}`, text), second)
}

// TestFixLog tests the links of a repaired log.
func TestFixLog(t *testing.T) {
	insert := FixOptions{}
	unsafe := FixOptions{Unsafe: true, Options: Options{Strategy: map[string]string{"orphan-tool-result": "drop"}}}
	agent := func(s string) string {
		return strings.ReplaceAll(s, `"isSidechain":false,`, `"isSidechain":true,"agentId":"ag1",`)
	}
	for _, c := range []struct {
		name, text string
		opts       FixOptions
		// want are the records afterwards: uuid and parent, + for one that is new.
		want string
	}{
		{
			"one call", userLine("u1", "null", "go", 1) + useLine("a1", "u1", "m1", 2, "t1") + userLine("u2", "a1", "and?", 3), insert,
			"u1< a1<u1 +<a1 u2<+",
		},
		{
			"results of others hang on their calls", userLine("u1", "null", "go", 1) + useLine("a1", "u1", "m1", 2, "t1") + useLine("a2", "a1", "m1", 3, "t2") + useLine("a3", "a2", "m1", 4, "t3") +
				resultLine("r1", "a1", "t1", 5) + resultLine("r3", "a3", "t3", 6) + userLine("u2", "r3", "and?", 7), insert,
			"u1< a1<u1 a2<a1 a3<a2 r1<a1 +<a3 r3<+ u2<r3",
		},
		{
			"two calls on a line", userLine("u1", "null", "go", 1) + useLine("a1", "u1", "m1", 2, "t1", "t2") + userLine("u2", "a1", "and?", 3), insert,
			"u1< a1<u1 +<a1 +<+ u2<+",
		},
		{
			"interleaved results", userLine("u1", "null", "go", 1) + useLine("a1", "u1", "m1", 2, "t1") + resultLine("r1", "a1", "t1", 3) + useLine("a2", "r1", "m1", 4, "t2") + userLine("u2", "a2", "and?", 5), insert,
			"u1< a1<u1 r1<a1 a2<r1 +<a2 u2<+",
		},
		{
			"a note between the records of a turn", userLine("u1", "null", "go", 1) + useLine("a1", "u1", "m1", 2, "t1") + userLine("n1", "a1", "<note>", 3) +
				useLine("a2", "n1", "m1", 4, "t2") + resultLine("r2", "a2", "t2", 5) + userLine("u2", "r2", "and?", 6), insert,
			"u1< a1<u1 n1<a1 a2<n1 +<a2 r2<+ u2<r2",
		},
		{
			"what hung on an orphan", userLine("u1", "null", "go", 1) + useLine("a1", "u1", "m1", 2, "t1") + resultLine("r9", "a1", "t9", 3) + userLine("u2", "r9", "and?", 4), unsafe,
			"u1< a1<u1 +<a1 u2<+",
		},
		{
			"a sub-agent", userLine("u1", "null", "go", 1) + agent(userLine("s1", "null", "sub", 2)) + agent(useLine("s2", "s1", "m9", 3, "t1")) + userLine("u2", "u1", "meanwhile", 4) + agent(userLine("s3", "s2", "and?", 5)), insert,
			"u1< s1< s2<s1 +<s2 u2<u1 s3<+",
		},
		{
			"an orphan goes", userLine("u1", "null", "go", 1) + resultLine("r9", "u1", "t9", 2) + userLine("u2", "r9", "and?", 3), unsafe,
			"u1< u2<u1",
		},
		{
			"a chain of orphans goes", userLine("u1", "null", "go", 1) + resultLine("r7", "u1", "t7", 2) + resultLine("r8", "r7", "t8", 3) + resultLine("r9", "r8", "t9", 4) + userLine("u2", "r9", "and?", 5) + userLine("u3", "r7", "or?", 6), unsafe,
			"u1< u2<u1 u3<u1",
		},
		{
			"an orphan at the root goes", resultLine("r9", "null", "t9", 1) + userLine("u1", "r9", "go", 2), unsafe,
			"u1<",
		},
		{
			"an orphan beside text stays", userLine("u1", "null", "go", 1) + logLine("u2", "u1", "user", "", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t9","content":"x"},{"type":"text","text":"hey"}]}`, 2) + userLine("u3", "u2", "and?", 3), unsafe,
			"u1< u2<u1 u3<u2",
		},
		{
			"references lead to what stays", `{"type":"summary","summary":"s","leafUuid":"r9"}` + "\n" + userLine("u1", "null", "go", 1) + resultLine("r9", "u1", "t9", 2) + strings.Replace(userLine("u2", "r9", "and?", 3), `"type"`, `"logicalParentUuid":"r9","type"`, 1), unsafe,
			"leaf:u1 u1< u2<u1(u1)",
		},
		{
			"a copy goes, its children stay", userLine("u1", "null", "go", 1) + useLine("a1", "u1", "m1", 2, "t1") + useLine("a1", "u1", "m1", 2, "t1") + resultLine("r1", "a1", "t1", 3) + userLine("u2", "r1", "and?", 4), insert,
			"u1< a1<u1 r1<a1 u2<r1",
		},
		{
			"a broken link", userLine("u1", "null", "go", 1) + userLine("u2", "gone", "and?", 2), unsafe,
			"u1< u2<u1",
		},
		{
			"a stripped call", userLine("u1", "null", "go", 1) + useLine("a1", "u1", "m1", 2, "t1") + userLine("u2", "a1", "and?", 3),
			FixOptions{Unsafe: true, Options: Options{Strategy: map[string]string{"missing-tool-result": "strip"}}},
			"u1< u2<u1",
		},
	} {
		look := func(t *testing.T, text []byte) {
			t.Helper()
			fault, out, _ := misfixed(c.name, text, c.opts)
			if fault != "" {
				t.Fatalf("%s\n%s", fault, out)
			}
			if again, _ := fixText(t, c.name, text, c.opts); !bytes.Equal(again, out) {
				t.Errorf("not the same twice:\n%s\n%s", out, again)
			}
			had := map[string]logRecord{}
			lines := map[string]bool{}
			for _, r := range logRecords(text, dialect.ClaudeCode.Log) {
				had[r.UUID] = r
				lines[r.raw] = true
			}
			records := logRecords(out, dialect.ClaudeCode.Log)
			fresh := map[string]bool{}
			for _, r := range records {
				_, old := had[r.UUID]
				fresh[r.UUID] = !old && r.UUID != ""
			}
			name := func(id string) string {
				if fresh[id] {
					return "+"
				}
				return id
			}
			var got []string
			seen := map[string]bool{}
			for i, r := range records {
				if r.LeafUUID != "" {
					got = append(got, "leaf:"+r.LeafUUID)
					continue
				}
				s := name(r.UUID) + "<" + name(r.ParentUUID)
				if r.LogicalParentUUID != "" {
					s += "(" + r.LogicalParentUUID + ")"
				}
				got = append(got, s)
				if seen[r.UUID] {
					t.Errorf("the uuid %s twice", r.UUID)
				}
				seen[r.UUID] = true
				if !fresh[r.UUID] {
					continue
				}
				call := callerOf(had, r)
				if len(r.UUID) != 36 || r.UUID[14] != '4' || r.Type != "user" || r.RequestID != nil || strings.Contains(r.raw, "isApiErrorMessage") {
					t.Errorf("record %s", r.raw)
				}
				if r.SessionID != call.SessionID || r.CWD != call.CWD || r.Version != call.Version || r.GitBranch != call.GitBranch || r.UserType != call.UserType || r.AgentID != call.AgentID || r.IsSidechain != call.IsSidechain {
					t.Errorf("record %s\nbeside %s", r.raw, call.raw)
				}
				if before := records[max(0, i-1)]; r.Timestamp < before.Timestamp {
					t.Errorf("%s before %s", r.Timestamp, before.Timestamp)
				}
				if strings.Contains(c.text, "sourceToolAssistantUUID") && r.SourceToolAssistantUUID != call.UUID {
					t.Errorf("the source is %q in %s", r.SourceToolAssistantUUID, r.raw)
				}
				if strings.Contains(c.text, "toolUseResult") != strings.Contains(r.raw, "toolUseResult") {
					t.Errorf("toolUseResult in %s", r.raw)
				}
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%s, want %s\n%s", s, c.want, out)
			}
			// A line with the same parent is the same line.
			for _, r := range records {
				if was, old := had[r.UUID]; old && r.UUID != "" && was.ParentUUID == r.ParentUUID && was.LogicalParentUUID == r.LogicalParentUUID && !lines[r.raw] && !strings.Contains(c.name, "beside text") {
					t.Errorf("changed: %s", r.raw)
				}
			}
		}
		t.Run(c.name, func(t *testing.T) { look(t, []byte(c.text)) })
		t.Run(c.name+", in a document", func(t *testing.T) {
			records := strings.Split(strings.TrimSpace(c.text), "\n")
			look(t, []byte(`{"loglines":[`+strings.Join(records, ",")+`]}`))
			look(t, []byte("{\n  \"loglines\": [\n    "+strings.Join(records, ",\n    ")+"\n  ]\n}\n"))
		})
	}
}

// ordinalKeys lists the keys of the numbers of records.
func ordinalKeys() (keys []string) {
	for _, d := range dialect.Builtin().All() {
		if d.Log != nil && d.Log.Ordinal != "" {
			keys = append(keys, d.Log.Ordinal)
		}
	}
	return keys
}
