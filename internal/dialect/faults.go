package dialect

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Fault is an error in a row. It uses the names that the fields have in
// toolguard.toml.
type Fault struct {
	// Table is the path of the table: keys, and indices in arrays of tables.
	Table []string
	// Key is the wrong key in the table; "" for the table itself.
	Key string
	// Missing is a key that the table needs; "" for another fault.
	Missing string
	Message string
}

// Faults returns the errors in a row that no single field shows: missing fields,
// and results that toolguard would write but not read back.
func (d *Dialect) Faults() []Fault {
	c := &checker{repaired: d.CheckOnly == ""}
	if d.Name == "" {
		c.found = append(c.found, Fault{Missing: "name", Message: "a format needs a name"})
	}
	if row, ok := d.Driver.(interface{ faults(c *checker) }); ok {
		row.faults(c)
	}
	if d.Log != nil {
		c.in("log").tagged(d.Log).merge()
	}
	if d.Fold != nil {
		c.in("fold").tagged(d.Fold).merge()
	}
	if d.Holder != nil {
		c.in("holder").tagged(d.Holder).merge()
	}
	return c.found
}

// unusable returns an error for the first field that a dialect of this package
// cannot do without, or "".
func (d *Dialect) unusable() string {
	switch {
	case d.Driver == nil:
		return "a built-in dialect needs Driver"
	case d.Evidence == nil:
		return "a built-in dialect needs Evidence"
	case d.Provider == "":
		return "a built-in dialect needs Provider"
	}
	return ""
}

// A checker collects the faults of one table.
type checker struct {
	table []string
	found []Fault
	outer *checker
	// repaired is set for a dialect whose files can be repaired.
	repaired bool
}

// in returns a checker for a nested table.
func (c *checker) in(table ...string) *checker {
	return &checker{table: slices.Concat(c.table, table), outer: c, repaired: c.repaired}
}

// merge passes the faults on to the outer checker.
func (c *checker) merge() { c.outer.found = append(c.outer.found, c.found...) }

// where returns the name of the table in messages.
func (c *checker) where() string {
	var keys []string
	for _, part := range c.table {
		if _, err := strconv.Atoi(part); err != nil {
			keys = append(keys, part)
		}
	}
	if len(keys) == 0 {
		return "a dialect"
	}
	return strings.Join(keys, ".")
}

func (c *checker) report(key, message string) {
	c.found = append(c.found, Fault{Table: c.table, Key: key, Message: message})
}

// needs reports a missing key.
func (c *checker) needs(key string, has bool) {
	if !has {
		c.found = append(c.found, Fault{Table: c.table, Missing: key, Message: c.where() + " needs " + key})
	}
}

// tagged reports what the tags of the fields of a table say: `row:"needed"` that it needs the key, and
// `row:"name"` that the value is the name of a field, or a list of names, and not a path.
func (c *checker) tagged(row any) *checker {
	v := reflect.ValueOf(row).Elem()
	for i := range v.NumField() {
		f, val := v.Type().Field(i), v.Field(i)
		if tag := f.Tag.Get("row"); strings.HasPrefix(tag, "needed") {
			c.needs(KeyOf(f), !val.IsZero() && (val.Kind() != reflect.Slice || val.Len() > 0))
		} else if tag == "" {
			continue
		}
		names, _ := reflect.TypeAssert[[]string](val)
		if val.Kind() == reflect.String {
			names = []string{val.String()}
		}
		for _, name := range names {
			if strings.HasSuffix(f.Tag.Get("row"), "name") && strings.Contains(name, ".") {
				c.report(KeyOf(f), fmt.Sprintf("%s.%s must be the name of a field; %q is a path", c.where(), KeyOf(f), name))
			}
		}
	}
	return c
}

// KeyOf returns the key for a field of a row in a table of toolguard.toml: no-role for NoRole. It is "-"
// for a field that tables do not have.
func KeyOf(f reflect.StructField) string {
	if key := f.Tag.Get("toml"); key != "" {
		return key
	}
	var b strings.Builder
	for i, c := range strings.NewReplacer("IDs", "Ids", "ID", "Id", "JSON", "Json").Replace(f.Name) {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// wants reports that the table lacks something that is not one key.
func (c *checker) wants(what string, has bool) {
	if !has {
		c.report("", c.where()+" needs "+what)
	}
}

// A slot is a field that a repair writes, with its key in the table.
type slot struct {
	key string
	at  Lens
}

// slot returns the slot of a field. It reports a field that a repair could not write:
// every alternative must be the name of a field of the object. A field that is not
// written is not checked, and its slot has no path.
func (c *checker) slot(key string, at Lens, written bool) slot {
	if !written || !c.repaired {
		return slot{key, ""}
	}
	for alt := range at.Alternatives() {
		if at != "" && (!alt.writable() || strings.Contains(string(alt), ".")) {
			c.report(key, fmt.Sprintf("%s.%s: repairs write this field, so it must be a plain field name; %q is not", c.where(), key, alt))
			break
		}
	}
	return slot{key, at}
}

// checkDistinct reports two slots that use the same field of an object.
func (c *checker) checkDistinct(slots ...slot) {
	for i, s := range slots {
		for _, other := range slots[:i] {
			if s.at == "" || other.at == "" {
				continue
			}
			for alt := range s.at.Alternatives() {
				if slices.Contains(slices.Collect(other.at.Alternatives()), alt) && alt != "" {
					c.report(s.key, fmt.Sprintf("%s.%s: %q is already used by %s", c.where(), s.key, alt, other.key))
				}
			}
		}
	}
}

// checkHolder reports an id that a repair could not add. The id must be in an object
// that every call or result has, because other required fields are in it too.
func (c *checker) checkHolder(id Lens, holders ...Lens) {
	if id == "" || !c.repaired {
		return
	}
	first := id.Nth(0)
	holder := first.Parent()
	within := func(l Lens) bool { return l == holder || strings.HasPrefix(string(l), string(holder)+".") }
	if first.writable() && (holder == "" || slices.ContainsFunc(holders, within)) {
		return
	}
	c.report("id", fmt.Sprintf("%s.id: repairs write this field, so it must be in the object that holds the other fields; %q is not", c.where(), first))
}

// writable reports whether a value can be set at the end of the path: it consists
// of keys, without array indices.
func (l Lens) writable() bool {
	for name := range strings.SplitSeq(string(l), ".") {
		if _, err := strconv.Atoi(name); err == nil || name == "" || name == "#" || strings.Contains(name, "|") {
			return false
		}
	}
	return true
}

// each checks every table of an array.
func each[T any](c *checker, key string, list []T, check func(c *checker, row *T)) {
	for i := range list {
		in := c.in(key, strconv.Itoa(i)).tagged(&list[i])
		check(in, &list[i])
		in.merge()
	}
}

func (d *Blocks) faults(outer *checker) {
	c := outer.in("blocks").tagged(d)
	defer c.merge()
	is := func(kind PartKind) bool {
		for i := range d.Parts {
			if d.Parts[i].Is == kind {
				return true
			}
		}
		return false
	}
	if len(d.Parts) > 0 {
		c.wants(`a part with is = "call"`, is(PartCall))
		c.wants(`a part with is = "result", or own`, is(PartResult) || d.ResultMessage != nil)
	}
	if d.ResultMessage != nil {
		c.needs("own-role", d.ResultRole != "")
	}
	each(c, "parts", d.Parts, func(c *checker, p *Part) {
		c.wants("tag or key", p.Tag != "" || p.Key != "")
		switch p.Is {
		case PartCall:
			c.needs("name", p.Name != "")
			d.checkAnswer(c, p)
			c.checkHolder(p.ID, Lens(p.Key), p.Name.Parent())
		case PartResult:
			c.checkHolder(p.ID, Lens(p.Key), p.Payload.Parent(), p.Name.Parent())
		}
	})
	each(c, "message", d.Message, d.checkMessage)
	each(c, "text-block", d.TextBlock, d.checkTextBlock)
}

// object reports whether a template is a JSON object or empty, and reports a fault
// otherwise.
func (c *checker) object(key string, t Template) bool {
	is := t == "" || source.NewValue([]byte(t), 0).Kind() == source.Object
	if !is {
		c.report(key, c.where()+"."+key+" must be a JSON object")
	}
	return is
}

func (d *SideList) faults(outer *checker) {
	c := outer.in("side-list").tagged(d)
	defer c.merge()
	if d.Calls == "" && d.CallTag != "" {
		return // calls are texts
	}
	c.needs("calls", d.Calls != "")
	c.needs("name", d.Name != "")
	c.needs("args", d.Args != "")
	c.wants("result-id or result-name", d.ResultID != "" || d.ResultName != "")
	if d.ResultID != "" {
		c.needs("id", d.ID != "")
	}
	if d.Failed != "" && d.Error == "" {
		c.found = append(c.found, Fault{Table: c.table, Missing: "error", Message: c.where() + " needs error: failed is its value for a failed call"})
	}
	c.checkDistinct(c.slot("role", d.Role, d.Body == ""), c.slot("content", d.Content, true), c.slot("calls", d.Calls, true),
		c.slot("result-id", d.ResultID, true), c.slot("result-name", d.ResultName, true), c.slot("error", d.Error, d.Failed != ""))
	c.checkDistinct(c.slot("id", d.ID, true))
	c.checkRole(d, "user", d.User, transcript.RoleUser)
	c.checkRole(d, "assistant", d.Assistant, transcript.RoleAssistant)
	c.checkRole(d, "tool", d.Tool, transcript.RoleTool)
}

// checkRole reports a role that would not be read back as that role.
func (c *checker) checkRole(d *SideList, key string, written Lens, role transcript.Role) {
	if len(d.Roles) == 0 || written == "" {
		return
	}
	for alt := range written.Alternatives() {
		if roleIn(d.Roles, source.NewValue([]byte(quote(string(alt))), 0)) != role {
			c.report(key, fmt.Sprintf("%s.%s: roles does not map %q to %s", c.where(), key, alt, key))
		}
	}
}

func (d *Items) faults(outer *checker) {
	c := outer.in("items").tagged(d)
	defer c.merge()
	if len(d.ID) == 0 || d.Type == "" {
		return
	}
	each(c, "pairs", d.Pairs, func(c *checker, p *ItemPair) {
		if len(p.Outputs) > 0 {
			d.checkAnswer(c, p)
		}
	})
}

func (d *Events) faults(outer *checker) {
	c := outer.in("events").tagged(d)
	defer c.merge()
	calls := len(d.Calls) > 0 || slices.ContainsFunc(d.Messages, func(s MessageEvent) bool { return s.Calls != "" })
	c.wants("calls, or an entry of says that has calls", calls)
	call := func(c *checker, e *CallEvent) {
		c.checkHolder(e.ID, e.Name.Parent())
		if d.Type != "" {
			d.checkAnswer(c, e)
		}
	}
	each(c, "calls", d.Calls, func(c *checker, e *CallEvent) {
		c.needs("type", e.Type != "")
		call(c, e)
	})
	each(c, "results", d.Results, func(c *checker, e *ResultEvent) {
		c.checkHolder(e.ID, e.Payload.Parent())
	})
	each(c, "says", d.Messages, func(c *checker, s *MessageEvent) {
		c.wants("role or role-at", s.Role != transcript.RoleNone || s.RoleAt != "")
		if s.Calls != "" {
			c.needs("call", s.Call != nil)
		}
		if s.Call != nil {
			c := c.in("call").tagged(s.Call)
			call(c, s.Call)
			c.merge()
		}
	})
}

func (d *Combined) faults(outer *checker) {
	c := outer.in("combined").tagged(d)
	defer c.merge()
	each(c, "records", d.Records, func(c *checker, rs *Records) {
		// Results without ids name the tool.
		c.needs("id", rs.ID != "" || rs.Apart && d.Results.ID == "" && d.Results.Name != "")
		c.needs("args", rs.Args != "" || rs.Free)
		if rs.Tag != "" {
			c.needs("calls", len(rs.Calls) > 0)
		}
		if rs.State != "" {
			c.needs("states", len(rs.States) > 0)
		}
		if len(rs.States) > 0 {
			c.needs("state", rs.State != "")
		}
		c.checkHolder(rs.ID, rs.Name.Parent())
		each(c, "answer", rs.Answer, (*checker).setting)
		each(c, "states", rs.States, func(c *checker, s *StateName) {
			if first := rs.stateNamed(s.Written); first != s && s.Written != "" {
				c.report("written", fmt.Sprintf("%s: %q is listed twice; only the first entry is used", c.where(), s.Written))
			}
			each(c, "answer", s.Answer, (*checker).setting)
		})
		if rs == &d.Records[0] || len(rs.Answer) > 0 { // later entries are copies, which are set with the first
			rs.checkAnswer(c)
		}
	})
}

// stateNamed returns the first state with that spelling.
func (rs *Records) stateNamed(written string) *StateName {
	return first(rs.States, func(s *StateName) bool { return s.Written == written })
}

func (c *checker) setting(s *Setting) {
	if s.To != "" && !s.To.writable() {
		c.report("to", fmt.Sprintf("%s.to: cannot write to %q: expected field names joined by dots", c.where(), s.To))
	}
}
