package config

import (
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A node is a value of a config file with where it stands.
type node struct {
	key, at unstable.Range // at is the key's where the value has no place of its own
	kind    nodeKind
	text    string
	list    []*node
	names   []string // of the members of a table, in order
	members map[string]*node
}

type nodeKind uint8

const (
	isTable nodeKind = iota
	isList
	isString
	isBool
	isOther // a number or a date
)

func newTable(at unstable.Range) *node {
	return &node{key: at, at: at, members: map[string]*node{}}
}

// get returns a member of a table, nil where there is none.
func (n *node) get(name string) *node { return n.members[name] }

func (n *node) put(name string, val *node) {
	n.names = append(n.names, name)
	n.members[name] = val
}

// down returns the table of that name in n, which is made where it is not there;
// of a list of tables the last.
func (n *node) down(name string, at unstable.Range) *node {
	next := n.get(name)
	if next == nil {
		next = newTable(at)
		n.put(name, next)
	}
	if next.kind == isList && len(next.list) > 0 {
		return next.list[len(next.list)-1]
	}
	return next
}

// tree returns the tables of a config file that can be decoded.
func tree(text []byte) *node {
	var p unstable.Parser
	p.Reset(text)
	root := newTable(unstable.Range{})
	here := root
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			here = root
			for it := e.Key(); it.Next(); {
				k := it.Node()
				if name := string(k.Data); e.Kind == unstable.ArrayTable && it.IsLast() {
					list := here.get(name)
					if list == nil {
						list = &node{key: k.Raw, at: k.Raw, kind: isList}
						here.put(name, list)
					}
					list.list = append(list.list, newTable(k.Raw))
				}
				here = here.down(string(k.Data), k.Raw)
				here.key, here.at = k.Raw, k.Raw
			}
		case unstable.KeyValue:
			here.set(e)
		}
	}
	return root
}

// set adds a member as it is written, with a dotted key.
func (n *node) set(e *unstable.Node) {
	for it := e.Key(); it.Next(); {
		k := it.Node()
		if it.IsLast() {
			n.put(string(k.Data), valueOf(e.Value(), k.Raw))
			return
		}
		n = n.down(string(k.Data), k.Raw)
	}
}

func valueOf(e *unstable.Node, key unstable.Range) *node {
	n := &node{key: key, at: e.Raw, text: string(e.Data)}
	switch e.Kind {
	case unstable.InlineTable:
		n = newTable(key)
		for it := e.Children(); it.Next(); {
			n.set(it.Node())
		}
	case unstable.Array:
		n.kind, n.at = isList, key
		for it := e.Children(); it.Next(); {
			if it.Node().Kind == unstable.Comment {
				continue
			}
			val := valueOf(it.Node(), key)
			if len(val.names) > 0 { // of many tables with one key
				val.key = val.get(val.names[0]).key
				val.at = val.key
			}
			n.list = append(n.list, val)
		}
	case unstable.String:
		n.kind = isString
	case unstable.Bool:
		n.kind = isBool
	default:
		n.kind = isOther
	}
	if n.at.Length == 0 {
		n.at = key
	}
	return n
}

// A rowReader makes the rows of dialects of the tables that describe them.
type rowReader struct {
	text     []byte
	problems []Problem
}

func (r *rowReader) complain(at unstable.Range, message string) {
	r.problems = append(r.problems, problemAt(r.text, int(at.Offset), int(at.Length), message))
}

// rows returns the dialects that a config file describes.
func rows(text []byte) ([]*dialect.Dialect, []Problem) {
	r := &rowReader{text: text}
	list := tree(text).get("dialect")
	switch {
	case list == nil:
		return nil, nil
	case list.kind != isList:
		r.complain(list.key, "want a list of tables for dialect: [[dialect]]")
		return nil, r.problems
	}
	var out []*dialect.Dialect
	named := map[string]bool{}
	for _, n := range list.list {
		d := r.dialect(n)
		if name := n.get("name"); name != nil && d.Name != "" {
			switch {
			case dialect.ByName(d.Name) != nil:
				r.complain(name.at, fmt.Sprintf("there is a built-in dialect %q: want another name", d.Name))
			case named[d.Name]:
				r.complain(name.at, fmt.Sprintf("there is another dialect %q in this file", d.Name))
			}
			named[d.Name] = true
		}
		out = append(out, d)
	}
	return out, r.problems
}

// A driver is a driver as a config file names it.
type driver struct {
	name   string
	row    reflect.Type
	window transcript.Window
	make   func(row any) dialect.Driver
}

// drivers lists the drivers that a row may be for.
func drivers() []driver {
	return []driver{
		{"blocks", reflect.TypeFor[dialect.Blocks](), transcript.WindowNext, func(row any) dialect.Driver { return row.(*dialect.Blocks) }},
		{"side-list", reflect.TypeFor[dialect.SideList](), transcript.WindowTool, func(row any) dialect.Driver { return row.(*dialect.SideList) }},
		{"items", reflect.TypeFor[dialect.Items](), transcript.WindowNext, func(row any) dialect.Driver { return row.(*dialect.Items) }},
		{"events", reflect.TypeFor[dialect.Events](), transcript.WindowLog, func(row any) dialect.Driver { return row.(*dialect.Events) }},
		{"combined", reflect.TypeFor[dialect.Combined](), transcript.WindowOwn, func(row any) dialect.Driver { return row.(*dialect.Combined) }},
	}
}

func driverNames() []string {
	var names []string
	for _, d := range drivers() {
		names = append(names, d.name)
	}
	return names
}

// dialect makes one dialect of its table.
func (r *rowReader) dialect(n *node) *dialect.Dialect {
	d := &dialect.Dialect{Provider: "neutral"}
	before := len(r.problems)
	var drv *driver
	all, known := drivers(), strings.Join(driverNames(), ", ")
	switch name := n.get("driver"); {
	case name == nil:
		r.complain(n.key, "a dialect needs a driver: "+known)
	case name.kind != isString:
		r.complain(name.at, "want a string for dialect.driver")
	default:
		i := slices.IndexFunc(all, func(d driver) bool { return d.name == name.text })
		if i < 0 {
			r.complain(name.at, suggest.Unknown("driver", name.text, driverNames(), "known are "+known).Error())
			break
		}
		drv = &all[i]
		d.Window = drv.window
	}
	if n.get("log") != nil {
		d.Window = transcript.WindowLog
	}
	r.value(n, reflect.ValueOf(d).Elem(), "dialect")
	for _, name := range driverNames() {
		table := n.get(name)
		switch {
		case drv == nil:
		case name == drv.name && table == nil:
			r.complain(n.key, fmt.Sprintf("a dialect of the driver %s needs a table %s", name, name))
		case name == drv.name && table.kind != isTable:
			r.complain(table.at, "want a table for "+name)
		case name == drv.name:
			row := reflect.New(drv.row)
			r.value(table, row.Elem(), name)
			d.Driver = drv.make(row.Interface())
		case table != nil:
			r.complain(table.key, fmt.Sprintf("the driver of this dialect is %s: want a table of that name", drv.name))
		}
	}
	if d.Title == "" {
		d.Title = d.Name
	}
	r.faults(n, d, len(r.problems) == before)
	return d
}

// value sets a value to what a node says. Where names it in errors.
func (r *rowReader) value(n *node, v reflect.Value, where string) {
	if want, ok := r.set(n, v, where); !ok {
		r.complain(n.at, fmt.Sprintf("want %s for %s", want, where))
	}
}

// set sets a value. It returns what was wanted where that is something else.
func (r *rowReader) set(n *node, v reflect.Value, where string) (want string, ok bool) {
	t := v.Type()
	if cond, is := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); is && isCond(t) {
		return r.parsed(n, cond.UnmarshalText)
	}
	if known := words(t); known != nil {
		if n.kind != isString {
			return "a string", false
		}
		i := slices.Index(known, n.text)
		if i < 0 {
			r.complain(n.at, oneOf(called(t), n.text, slices.DeleteFunc(slices.Clone(known), func(s string) bool { return s == "" })).Error())
			return "", true
		}
		if t.Kind() == reflect.String {
			v.SetString(n.text)
		} else {
			v.SetUint(uint64(i))
		}
		return "", true
	}
	switch t.Kind() {
	case reflect.String:
		if n.kind != isString {
			return "a string", false
		}
		v.SetString(n.text)
		if err := check(v); err != nil {
			r.complain(n.at, err.Error())
		}
	case reflect.Bool:
		if n.kind != isBool {
			return "true or false", false
		}
		v.SetBool(n.text == "true")
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		return r.set(n, v.Elem(), where)
	case reflect.Slice:
		return r.slice(n, v, where)
	case reflect.Array: // by member
		if n.kind != isTable {
			return "a table", false
		}
		for _, name := range n.names {
			var of transcript.Member
			member := n.get(name)
			r.value(&node{key: member.key, at: member.key, kind: isString, text: name}, reflect.ValueOf(&of).Elem(), where)
			r.value(member, v.Index(int(of)), where+"."+name)
		}
	case reflect.Struct:
		if n.kind != isTable {
			return "a table", false
		}
		r.structure(n, v, where)
	}
	return "", true
}

// isCond reports whether a type is one of conditions, which are written as texts.
func isCond(t reflect.Type) bool {
	return t == reflect.TypeFor[dialect.Cond]() || t == reflect.TypeFor[evidence.Cond]()
}

func (r *rowReader) slice(n *node, v reflect.Value, where string) (want string, ok bool) {
	t := v.Type()
	if t.Elem() == reflect.TypeFor[dialect.RoleName]() {
		if n.kind != isTable {
			return "a table", false
		}
		for _, name := range n.names {
			role := dialect.RoleName{Written: name}
			r.value(n.get(name), reflect.ValueOf(&role.Role).Elem(), where+"."+name)
			v.Set(reflect.Append(v, reflect.ValueOf(role)))
		}
		return "", true
	}
	if n.kind != isList {
		switch t.Elem().Kind() {
		case reflect.Struct:
			if !isCond(t.Elem()) {
				return "a list of tables", false
			}
		case reflect.Slice:
			return "a list of lists", false
		}
		return "a list of strings", false
	}
	for _, e := range n.list {
		val := reflect.New(t.Elem()).Elem()
		r.value(e, val, where)
		v.Set(reflect.Append(v, val))
	}
	return "", true
}

// parsed sets a value from a text.
func (r *rowReader) parsed(n *node, parse func([]byte) error) (want string, ok bool) {
	if n.kind != isString {
		return "a string", false
	}
	if err := parse([]byte(n.text)); err != nil {
		r.complain(n.at, err.Error())
	}
	return "", true
}

// structure fills in a table of a row.
func (r *rowReader) structure(n *node, v reflect.Value, where string) {
	known := rowKeys(v.Type())
	for _, name := range n.names {
		member := n.get(name)
		i := slices.IndexFunc(known, func(k rowKey) bool { return k.name == name })
		switch {
		case i >= 0 && known[i].field != nil:
			r.value(member, v.FieldByIndex(known[i].field), where+"."+name)
		case i < 0:
			var names []string
			for _, k := range known {
				names = append(names, k.name)
			}
			err := suggest.Unknown("key", name, names, "known are "+strings.Join(names, ", "))
			r.complain(member.key, fmt.Sprintf("%s: %s", where, err))
		}
	}
	// That is not to be told from the value: a state may be the first of its kind.
	if v.Type() == reflect.TypeFor[dialect.StateName]() && n.get("state") == nil {
		r.complain(n.key, where+" needs state")
	}
}

// A rowKey is a key of a table of a row.
type rowKey struct {
	name  string
	field []int // nil for what is read apart
	typ   reflect.Type
}

// rowKeys lists the keys of a table that stands for a struct.
func rowKeys(t reflect.Type) []rowKey {
	var out []rowKey
	for _, f := range reflect.VisibleFields(t) {
		name := f.Tag.Get("toml")
		if name == "" {
			name = kebab(f.Name)
		}
		if name != "-" && f.IsExported() {
			out = append(out, rowKey{name, f.Index, f.Type})
		}
	}
	if t == reflect.TypeFor[dialect.Dialect]() {
		out = slices.Insert(out, 1, rowKey{name: "driver", typ: reflect.TypeFor[string]()})
		for _, d := range drivers() {
			out = append(out, rowKey{name: d.name, typ: d.row})
		}
	}
	return out
}

// kebab writes the name of a field as config files do: no-role for NoRole.
func kebab(name string) string {
	name = strings.NewReplacer("IDs", "Ids", "ID", "Id", "JSON", "Json").Replace(name)
	var b strings.Builder
	for i, c := range name {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// words lists the names of a type's values, by value; nil for a type whose values
// have no names.
func words(t reflect.Type) []string {
	switch t {
	case reflect.TypeFor[transcript.Role]():
		return []string{"", "system", "user", "assistant", "tool", "other"}
	case reflect.TypeFor[transcript.Window]():
		return []string{"", "tool", "user", "next", "log", "own"}
	case reflect.TypeFor[transcript.ArgsConvention]():
		return []string{"any", "string", "object"}
	case reflect.TypeFor[transcript.CallKind]():
		return []string{
			"function", "custom", "legacy-function", "computer", "local-shell", "shell", "apply-patch", "tool-search", "approval",
			"server", "mcp", "program",
		}
	case reflect.TypeFor[transcript.CallState]():
		return []string{"open", "done", "failed", "waiting", "interrupted", "passed", "running"}
	case reflect.TypeFor[transcript.Member]():
		return []string{
			"call-type", "arguments", "signature", "result-name", "content", "last-text", "cache-mark", "reasoning", "item-id",
			"result-content", "role", "call-name",
		}
	case reflect.TypeFor[dialect.PartKind]():
		return []string{
			string(dialect.PartText), string(dialect.PartCall), string(dialect.PartResult), string(dialect.PartServerCall),
			string(dialect.PartServerResult), string(dialect.PartReasoning), string(dialect.PartMedia), string(dialect.PartState), string(dialect.PartAside), string(dialect.PartOther),
		}
	}
	return nil
}

// called says what the values of a type with names are.
func called(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[transcript.Role]():
		return "role"
	case reflect.TypeFor[transcript.Window]():
		return "window"
	case reflect.TypeFor[transcript.ArgsConvention]():
		return "form of arguments"
	case reflect.TypeFor[transcript.CallKind]():
		return "kind of call"
	case reflect.TypeFor[transcript.CallState]():
		return "state of a call"
	case reflect.TypeFor[transcript.Member]():
		return "member"
	}
	return "kind of part"
}

// check says what is wrong with a text of a row.
func check(v reflect.Value) error {
	switch text := v.Interface().(type) {
	case dialect.Lens:
		if text != "" {
			return text.Valid()
		}
	case dialect.Template:
		if !json.Valid([]byte(text)) {
			return errors.New(`want JSON, with "$text" and the like for what is filled in`)
		}
	}
	return nil
}

// faults tells what is wrong with a dialect as a whole, where that stands in its
// table. Where not all of it could be read, it tells only what is missing.
func (r *rowReader) faults(n *node, d *dialect.Dialect, read bool) {
	for _, f := range d.Faults() {
		at := n.table(f.Table)
		switch v := at.get(cmp.Or(f.Missing, f.Key)); {
		case f.Key != "" && !read:
		case v == nil:
			r.complain(at.key, f.Message)
		case f.Missing == "", v.empty():
			r.complain(v.at, f.Message)
		}
	}
	if len(d.Marks) == 0 && n.get("marks").empty() {
		r.complain(n.key, `a dialect needs marks: what each of its messages has, such as "version" or "app=acme"`)
	}
	if name := n.get("name"); d.Name != "" && strings.ContainsFunc(d.Name, notInName) {
		r.complain(name.at, "want small letters, digits and dashes for dialect.name")
	}
	if profile.ByName(d.Provider) == nil {
		r.complain(n.get("provider").at, suggest.Unknown("profile", d.Provider, profile.Names(), "toolguard profiles lists them").Error())
	}
}

// empty reports whether there is nothing, an empty text or an empty list.
func (n *node) empty() bool {
	return n == nil || n.kind == isString && n.text == "" || n.kind == isList && len(n.list) == 0
}

// table returns the table that keys and numbers of elements lead to, as far as it is
// there.
func (n *node) table(path []string) *node {
	for _, part := range path {
		next := n.get(part)
		if i, err := strconv.Atoi(part); err == nil && n.kind == isList && i < len(n.list) {
			next = n.list[i]
		}
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// notInName reports whether a character does not belong in the name of a dialect.
func notInName(c rune) bool {
	return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-'
}
