package dialect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	c := &checker{builtin: d.Evidence != nil, repaired: d.CheckOnly == ""}
	if d.Name == "" {
		c.found = append(c.found, Fault{Missing: "name", Message: "a format needs a name"})
	}
	if slices.Contains(All(), d) {
		c.found = append(c.found, d.builtInFaults()...)
	}
	if row, ok := d.Driver.(interface{ faults(c *checker) }); ok {
		row.faults(c)
	}
	if l := d.Log; l != nil {
		c := c.in("log")
		c.needs("type", l.Type != "")
		c.needs("speaks", len(l.Speaks) > 0)
		c.merge()
	}
	if f := d.Fold; f != nil {
		c := c.in("fold")
		c.needs("id", f.ID != "")
		c.merge()
	}
	if h := d.Holder; h != nil {
		c := c.in("holder")
		c.needs("members", len(h.Members) > 0)
		c.merge()
	}
	return c.found
}

// builtInFaults returns the fields that a dialect of this package lacks, by their
// names in Go. Package config sets some of them for a user's dialect, which does
// not need the others.
func (d *Dialect) builtInFaults() (found []Fault) {
	if why := d.unusable(); why != "" {
		found = append(found, Fault{Message: why})
	}
	for _, field := range []struct {
		name string
		has  bool
	}{
		{"Title", d.Title != ""},
		{"Summary", d.Summary != ""},
		{"Where", d.Where != ""},
		{"Example", d.Example != ""},
		{"Window", d.Window != 0},
	} {
		if !field.has {
			found = append(found, Fault{Missing: field.name, Message: "a built-in dialect needs " + field.name})
		}
	}
	return found
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
	// builtin is set for a dialect that has Evidence. Its row needs no fields that
	// identify messages.
	builtin bool
	// repaired is set for a dialect whose files can be repaired.
	repaired bool
}

// in returns a checker for a nested table.
func (c *checker) in(table ...string) *checker {
	return &checker{table: slices.Concat(c.table, table), outer: c, builtin: c.builtin, repaired: c.repaired}
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

// field reports the name of a field that is a path.
func (c *checker) field(key, name string) {
	if strings.Contains(name, ".") {
		c.report(key, fmt.Sprintf("%s.%s must be the name of a field; %q is a path", c.where(), key, name))
	}
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
		in := c.in(key, strconv.Itoa(i))
		check(in, &list[i])
		in.merge()
	}
}

func (d *Blocks) faults(outer *checker) {
	c := outer.in("blocks")
	defer c.merge()
	is := func(kind PartKind) bool {
		for i := range d.Parts {
			if d.Parts[i].Is == kind {
				return true
			}
		}
		return false
	}
	c.needs("role", d.Role != "")
	c.needs("content", d.Content != "")
	c.needs("parts", len(d.Parts) > 0)
	if len(d.Parts) > 0 {
		c.wants(`a part with is = "call"`, is(PartCall))
		c.wants(`a part with is = "result", or own`, is(PartResult) || d.ResultMessage != nil)
	}
	if d.ResultMessage != nil {
		c.needs("own-role", d.ResultRole != "")
	}
	each(c, "parts", d.Parts, func(c *checker, p *Part) {
		c.needs("is", p.Is != "")
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
	each(c, "message", d.Message, func(c *checker, f *Stencil) {
		c.needs("json", f.JSON != "")
		d.checkMessage(c, f)
	})
	each(c, "text-block", d.TextBlock, func(c *checker, f *Stencil) {
		c.stencil(f)
		d.checkTextBlock(c, f)
	})
}

func (c *checker) stencil(f *Stencil) {
	c.needs("json", f.JSON != "")
	c.object("json", f.JSON)
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
	c := outer.in("side-list")
	defer c.merge()
	c.needs("role", d.Role != "")
	c.needs("user", d.User != "")
	c.needs("assistant", d.Assistant != "")
	c.needs("tool", d.Tool != "")
	c.needs("content", d.Content != "")
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
	c := outer.in("items")
	defer c.merge()
	c.needs("type", d.Type != "")
	c.needs("role", d.Role != "")
	c.needs("text", d.Text != "")
	c.needs("messages", len(d.Messages) > 0)
	c.needs("id", len(d.ID) > 0)
	c.needs("name", d.Name != "")
	c.needs("pairs", len(d.Pairs) > 0)
	c.field("type", d.Type)
	c.field("role", d.Role)
	c.field("text", d.Text)
	c.field("item", d.Item)
	c.field("name", d.Name)
	for _, name := range d.ID {
		c.field("id", name)
	}
	if len(d.ID) == 0 || d.Type == "" {
		return
	}
	each(c, "pairs", d.Pairs, func(c *checker, p *ItemPair) {
		c.needs("call", p.Call != "")
		c.needs("outputs", len(p.Outputs) > 0)
		c.field("args", p.Args)
		c.field("payload", p.Payload)
		c.field("call-id", p.CallID)
		c.field("output-id", p.OutputID)
		if len(p.Outputs) > 0 {
			d.checkAnswer(c, p)
		}
	})
}

func (d *Events) faults(outer *checker) {
	c := outer.in("events")
	defer c.merge()
	c.needs("type", d.Type != "")
	c.needs("results", len(d.Results) > 0)
	calls := len(d.Calls) > 0 || slices.ContainsFunc(d.Messages, func(s MessageEvent) bool { return s.Calls != "" })
	c.wants("calls, or an entry of says that has calls", calls)
	call := func(c *checker, e *CallEvent) {
		c.needs("id", e.ID != "")
		c.needs("name", e.Name != "")
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
		c.needs("type", e.Type != "")
		c.needs("id", e.ID != "")
		c.checkHolder(e.ID, e.Payload.Parent())
	})
	each(c, "says", d.Messages, func(c *checker, s *MessageEvent) {
		c.needs("type", s.Type != "")
		c.needs("text", s.Text != "")
		c.wants("role or role-at", s.Role != transcript.RoleNone || s.RoleAt != "")
		if s.Calls != "" {
			c.needs("call", s.Call != nil)
		}
		if s.Call != nil {
			c := c.in("call")
			call(c, s.Call)
			c.merge()
		}
	})
}

func (d *Combined) faults(outer *checker) {
	c := outer.in("combined")
	defer c.merge()
	c.needs("records", len(d.Records) > 0)
	each(c, "records", d.Records, func(c *checker, rs *Records) {
		// Results without ids name the tool.
		c.needs("id", rs.ID != "" || rs.Apart && d.Results.ID == "" && d.Results.Name != "")
		c.needs("name", rs.Name != "")
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
			c.needs("written", s.Written != "")
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
	c.needs("to", s.To != "")
	if s.To != "" && !s.To.writable() {
		c.report("to", fmt.Sprintf("%s.to: cannot write to %q: expected field names joined by dots", c.where(), s.To))
	}
	c.needs("raw", s.Raw != "")
}
