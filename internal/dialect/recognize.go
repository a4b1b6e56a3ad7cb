package dialect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// An Identity says how the elements of a user's dialect differ from those of other dialects,
// besides its marks. Conditions are texts, as evidence.Cond describes.
type Identity struct {
	Needs []string   // each holds for every element
	Marks [][]string // only elements of the dialect meet all conditions of one of the lists
	// Results hold for every result that is a message of its own.
	Results []string
	Own     []string // roles that only this dialect uses
	Faint   bool     // plain messages look like those of another dialect
}

// recognize sets the evidence of a user's dialect. The marks are decisive. What the driver
// reads without marks counts only in files that are known to be in the dialect.
func (d *Dialect) recognize() {
	r := &recognition{Identity: d.Identity}
	for _, need := range r.Needs {
		r.row(evidence.None, not(need))
	}
	for _, sure := range r.Marks {
		r.row(evidence.Decisive, sure...)
	}
	d.Driver.recognize(r)
	rows := []evidence.Row{{Weight: evidence.Decisive, If: d.Marks, Sign: d.MarksText()}}
	d.Evidence = evidence.TableOf(append(rows, r.rows...)...)
}

// A recognition collects the rows of evidence for the elements that a driver reads.
type recognition struct {
	Identity
	rows []evidence.Row
}

// row adds a row. A condition "" always holds.
func (r *recognition) row(w evidence.Weight, conds ...string) {
	r.rows = append(r.rows, evidence.Row{Weight: w, If: condsOf(conds), Known: true})
}

// element adds a row for a value with an element in a list that meets conditions, such as a
// call. Without a list, the value itself meets them.
func (r *recognition) element(list Lens, object string, conds []string, others ...string) {
	if list == "" {
		r.row(evidence.Decisive, append(conds, others...)...)
		return
	}
	r.rows = append(r.rows, evidence.Row{
		Weight: evidence.Decisive, If: condsOf(others), Lists: []evidence.Elements{{List: string(list) + object, If: condsOf(conds)}}, Known: true,
	})
}

func condsOf(texts []string) []*evidence.Cond {
	return evidence.All(slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" })...)
}

// not returns the negation of a condition.
func not(cond string) string {
	if rest, is := strings.CutPrefix(cond, "!"); is {
		return rest
	}
	return "!" + cond
}

// Present returns the condition that one of the paths leads to a value other than null. It
// never holds without any path.
func Present(paths ...Lens) string {
	return pathOf(slices.DeleteFunc(paths, func(l Lens) bool { return l == "" })...)
}

// kind returns the condition that a path leads to a value of a kind, "" for the empty path.
func kind(l Lens, of string) string {
	if l == "" {
		return ""
	}
	return pathOf(l) + ":" + of
}

// is returns the condition that a path leads to one of several texts.
func is(l Lens, texts ...string) string { return Present(l) + "=" + strings.Join(texts, "|") }

// pathOf returns lenses as one path of a condition, in which some characters of keys need an
// escape. No path leads to nothing.
func pathOf(paths ...Lens) string {
	var out []string
	for _, p := range paths {
		for alt := range p.Alternatives() {
			out = append(out, cmp.Or(special.Replace(string(alt)), "@this"))
		}
	}
	if len(out) == 0 {
		return `\#never`
	}
	return strings.Join(out, "|")
}

var special = strings.NewReplacer(`\`, `\\`, "@", `\@`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, "(", `\(`, ")", `\)`,
	"!", `\!`, "=", `\=`, ":", `\:`)

// in returns the lens for a path that starts at the value to which l leads.
func (l Lens) in(path Lens) Lens {
	var out []string
	for outer := range l.Alternatives() {
		for inner := range path.Alternatives() {
			out = append(out, strings.Trim(string(outer+"."+inner), "."))
		}
	}
	return Lens(strings.Join(out, "|"))
}

// usual are the spellings of roles that every dialect knows.
var usual = []RoleName{
	{"system", transcript.RoleSystem},
	{"developer", transcript.RoleSystem},
	{"user", transcript.RoleUser},
	{"human", transcript.RoleUser},
	{"assistant", transcript.RoleAssistant},
	{"agent", transcript.RoleAssistant},
	{"model", transcript.RoleAssistant},
	{"ai", transcript.RoleAssistant},
	{"gpt", transcript.RoleAssistant},
	{"tool", transcript.RoleTool},
	{"function", transcript.RoleTool},
}

// spelled returns the spellings of a role, or all spellings of roles for RoleNone.
func spelled(names []RoleName, role transcript.Role) (out []string) {
	for _, n := range names {
		if n.Role == role || role == transcript.RoleNone {
			out = append(out, n.Written)
		}
	}
	return out
}

// recognize implements Driver.
func (d *SideList) recognize(r *recognition) {
	names, known := d.Roles, kind(d.Role, "string")
	if len(names) == 0 {
		names = usual
	} else {
		known = is(d.Role, spelled(names, transcript.RoleNone)...)
	}
	r.row(evidence.None, not(known))
	if d.Body != "" { // the body is an object in a message that has neither content nor calls itself
		r.message(d, names, d.Body, kind(d.Body, "object"), not(Present(d.Content, d.Calls)))
	}
	r.message(d, names, "")
}

// message adds the rows for a message of a side list with the given names of roles. Its
// fields are in body, which has them if all conditions hold.
func (r *recognition) message(d *SideList, names []RoleName, body Lens, conds ...string) {
	in := func(l Lens) Lens {
		if l == "" {
			return ""
		}
		return body.in(l)
	}
	calls, content, result := in(d.Calls), in(d.Content), in(d.ResultID)
	call := func(fields ...string) { r.element(calls, ".*", fields, conds...) }
	has := func(w evidence.Weight, more ...string) { r.row(w, append(more, conds...)...) }
	if calls != "" {
		call(kind(d.Name, "string"), kind(d.Args, "any"))
		call(kind(d.Name, "string"), kind(d.ID, "any"))
		if d.Function != "" {
			call(kind(d.Function, "object"))
			call(is("type", d.Function.Key()), kind(d.ID, "any"), not(kind(Lens(d.Name.Key()), "any")))
		}
		if len(r.Own) > 0 {
			has(evidence.Decisive, is(d.Role, r.Own...), kind(calls.in("0").in(Lens(d.ID.Key())), "string"))
		}
		has(evidence.None, kind(calls.in("0"), "object"))
	}
	if tool := spelled(names, transcript.RoleTool); len(tool) > 0 {
		for _, said := range []string{kind(content, "any"), Present(result)} {
			has(evidence.Decisive, append(slices.Clone(r.Results), is(d.Role, tool...), said)...)
		}
		has(evidence.None, is(d.Role, tool...))
	}
	if body != "" {
		has(evidence.Decisive, kind(content, "any"))
		return
	}
	if len(r.Own) > 0 {
		has(evidence.Decisive, kind(content, "any"), is(d.Role, r.Own...))
	}
	weight := evidence.Plain
	if r.Faint {
		weight = evidence.Weak
	}
	has(weight, kind(content, "any"))
	if calls != "" {
		has(weight, kind(calls, "array"))
	}
}

// recognize implements Driver.
func (d *Blocks) recognize(r *recognition) {
	if p := d.ResultMessage; p != nil {
		r.row(evidence.Decisive, is(d.Role, d.ResultRole), Present(p.ID))
	}
	if d.NoRole != "" {
		r.row(evidence.None, kind(d.Role, "any"), not(kind(d.Role, "string")))
	} else {
		r.row(evidence.None, not(kind(d.Role, "string")))
	}
	r.row(evidence.None, not(kind(d.Content, "any")))
	for i := range d.Parts {
		p := &d.Parts[i]
		var says string
		switch p.Is {
		case PartCall, PartServerCall:
			says = Present(p.ID, p.Name, p.Args)
		case PartResult, PartServerResult:
			says = Present(p.ID, p.Payload)
		default:
			continue
		}
		fits := is(d.Tag, p.Tag)
		switch {
		case p.Key != "" && strings.HasPrefix(string(p.ID), p.Key+"."):
			fits = kind(Lens(p.Key), "object")
		case p.Key != "":
			fits = Present(Lens(p.Key))
		}
		conds := []string{fits, says}
		for _, c := range p.With {
			conds = append(conds, c.String())
		}
		r.element(d.Content, "", conds)
	}
	names := slices.Concat(d.Roles, usual)
	r.row(evidence.None, is(d.Role, slices.DeleteFunc(spelled(names, transcript.RoleNone), func(s string) bool {
		return roleNameIn(names, s) != transcript.RoleTool
	})...))
	if d.Role != "role" || d.Roles != nil {
		r.row(evidence.None, kind(d.Role, "any"), not(is(d.Role, spelled(names, transcript.RoleNone)...)))
	}
	r.row(evidence.Plain, kind(d.Content, "any"))
}

// roleNameIn returns the role with a spelling, the first of several.
func roleNameIn(names []RoleName, written string) transcript.Role {
	for i := range names {
		if names[i].Written == written {
			return names[i].Role
		}
	}
	return transcript.RoleOther
}

// recognize implements Driver.
func (d *Items) recognize(r *recognition) {
	typ, role := Lens(d.Type), Lens(d.Role)
	names := slices.Concat(d.Roles, usual)
	for _, message := range []string{not(kind(typ, "string")), is(typ, d.Messages...)} {
		for _, name := range names {
			if roleNameIn(names, name.Written) == transcript.RoleTool {
				r.row(evidence.None, message, is(role, name.Written))
			}
		}
		r.row(evidence.Plain, message, kind(role, "string"), kind(Lens(d.Text), "any"))
		r.row(evidence.None, message)
	}
	if len(d.ProviderCalls) > 0 {
		r.row(evidence.Decisive, is(typ, d.ProviderCalls...))
	}
	r.row(evidence.None, kind(role, "string"))
	if d.Reasoning != "" && d.Sealed != "" {
		r.row(evidence.Shared, is(typ, d.Reasoning), kind(Lens(d.Sealed), "any"))
	}
	for i := range d.Pairs {
		p := &d.Pairs[i]
		ids := []Lens{}
		for _, key := range d.ID {
			ids = append(ids, Lens(key))
		}
		r.row(evidence.Decisive, is(typ, p.Call), Present(append(slices.Clone(ids), Lens(p.CallID), Lens(d.Name))...))
		r.row(evidence.Decisive, is(typ, p.Outputs...), Present(append(ids, Lens(p.OutputID), Lens(p.payload()))...))
	}
}

// recognize implements Driver.
func (d *Events) recognize(r *recognition) {
	for i := range d.Calls {
		c := &d.Calls[i]
		r.row(evidence.Decisive, is(d.Type, c.Type), Present(c.Name))
		args := ""
		if c.Args != "" {
			args = Present(c.Args)
		}
		r.row(evidence.Decisive, is(d.Type, c.Type), Present(c.ID), args)
	}
	for i := range d.Results {
		e := &d.Results[i]
		if e.In != "" {
			r.element(e.In, "", []string{kind(e.ID, "any")}, is(d.Type, e.Type))
			continue
		}
		r.row(evidence.Decisive, is(d.Type, e.Type), kind(e.ID, "any"))
		if e.Payload != "" {
			r.row(evidence.Decisive, is(d.Type, e.Type), kind(e.Payload, "any"))
		}
	}
	for i := range d.Messages {
		m := &d.Messages[i]
		if m.Calls != "" {
			r.row(evidence.Decisive, is(d.Type, m.Type), kind(m.Calls, "array"))
		}
		r.row(evidence.Plain, is(d.Type, m.Type), kind(m.Text, "any"), kind(m.RoleAt, "string"))
	}
}

// recognize implements Driver.
func (d *Combined) recognize(r *recognition) {
	for i := range d.Records {
		rs := &d.Records[i]
		var conds []string
		if rs.Tag != "" {
			conds = []string{is(rs.Tag, rs.Calls...), Present(rs.Record.in(rs.ID))}
		} else {
			for _, field := range []Lens{rs.ID, rs.Name, rs.Args} {
				conds = append(conds, Present(rs.Record.in(field)))
			}
		}
		r.element(rs.In, ".?", conds)
	}
	if a := &d.Results; a.Has != "" {
		r.element(a.In, ".?", []string{Present(a.Has), Present(a.ID)})
	}
	if len(d.Plain) == 0 {
		return
	}
	var plain []string
	for _, l := range d.Plain {
		plain = append(plain, Present(l))
	}
	switch {
	case len(r.Own) > 0:
		r.row(evidence.Decisive, append(slices.Clone(plain), is(d.Role, r.Own...))...)
	case d.Role != "":
		r.row(evidence.None, Present(d.Role), not(is(d.Role, spelled(slices.Concat(d.Roles, usual), transcript.RoleNone)...)))
	}
	r.row(evidence.Plain, plain...)
}
