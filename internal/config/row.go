package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/names"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A node is a value of a config file with its place.
type node struct {
	key, at unstable.Range // at is that of the key if the value has no place of its own
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

// get returns a member of a table, nil if there is none.
func (n *node) get(name string) *node { return n.members[name] }

func (n *node) put(name string, val *node) {
	n.names = append(n.names, name)
	n.members[name] = val
}

// down returns the table with a name in n and creates it if it does not exist. For
// a list of tables it returns the last one.
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

// tree returns the tables of a config file that was decoded.
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

// A rowReader makes rows of dialects from the tables that describe them.
type rowReader struct {
	text     []byte
	problems []Problem
}

func (r *rowReader) complain(at unstable.Range, message string) {
	r.problems = append(r.problems, problemAt(r.text, int(at.Offset), int(at.Length), message))
}

// rows returns the dialects that a config file defines.
func rows(text []byte) ([]*dialect.Dialect, []Problem) {
	r := &rowReader{text: text}
	list := tree(text).get("dialect")
	switch {
	case list == nil:
		return nil, nil
	case list.kind != isList:
		r.complain(list.key, "expected a list of tables for dialect: [[dialect]]")
		return nil, r.problems
	}
	var out []*dialect.Dialect
	named := map[string]bool{}
	for _, n := range list.list {
		d := r.dialect(n)
		if name := n.get("name"); name != nil && d.Name != "" {
			switch {
			case dialect.ByName(d.Name) != nil:
				r.complain(name.at, fmt.Sprintf("a built-in format is called %q; choose another name", d.Name))
			case named[d.Name]:
				r.complain(name.at, fmt.Sprintf("this file already defines a format %q", d.Name))
			}
			named[d.Name] = true
		}
		out = append(out, d)
	}
	return out, r.problems
}

// A driver is a driver of dialects under the name that config files use.
type driver struct {
	name   string
	window transcript.Window
	table  reflect.Type // a driverTable
}

// A driverTable is the table of a driver. Some tables have keys that are evidence and not part of
// the driver's row.
type driverTable interface {
	row() dialect.Driver
	identity() dialect.Identity
}

// drivers lists the drivers.
func drivers() []driver {
	return []driver{
		{"blocks", transcript.WindowNext, reflect.TypeFor[blocks]()},
		{"side-list", transcript.WindowTool, reflect.TypeFor[sideList]()},
		{"items", transcript.WindowNext, reflect.TypeFor[items]()},
		{"events", transcript.WindowLog, reflect.TypeFor[events]()},
		{"combined", transcript.WindowOwn, reflect.TypeFor[combined]()},
	}
}

func driverNames() []string {
	var names []string
	for _, d := range drivers() {
		names = append(names, d.name)
	}
	return names
}

// dialect makes a dialect from its table.
func (r *rowReader) dialect(n *node) *dialect.Dialect {
	d := &dialect.Dialect{Provider: "neutral"}
	before := len(r.problems)
	var drv *driver
	all, known := drivers(), strings.Join(driverNames(), ", ")
	switch name := n.get("driver"); {
	case name == nil:
		r.complain(n.key, "missing key \"driver\" in [[dialect]]; expected one of "+known)
	case name.kind != isString:
		r.complain(name.at, "expected a string for dialect.driver")
	default:
		i := slices.IndexFunc(all, func(d driver) bool { return d.name == name.text })
		if i < 0 {
			r.complain(name.at, suggest.Unknown("driver", name.text, driverNames(), "expected one of "+known).Error())
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
			r.complain(n.key, fmt.Sprintf("missing table [dialect.%s], because the driver is %q", name, name))
		case name == drv.name && table.kind != isTable:
			r.complain(table.at, "expected a table for "+name)
		case name == drv.name:
			row := reflect.New(drv.table)
			r.value(table, row.Elem(), name)
			written := row.Interface().(driverTable)
			d.Driver, d.Identity = written.row(), written.identity()
			if drv.table == reflect.TypeFor[combined]() && table.get("members").empty() {
				r.complain(table.key, "combined needs members")
			}
		case table != nil:
			r.complain(table.key, fmt.Sprintf("expected the table [dialect.%s], because the driver is %q", drv.name, drv.name))
		}
	}
	if d.Title == "" {
		d.Title = d.Name
	}
	r.faults(n, d, len(r.problems) == before)
	return d
}

// value sets v to the value of a node. where names it in errors.
func (r *rowReader) value(n *node, v reflect.Value, where string) {
	if want, ok := r.set(n, v, where); !ok {
		r.complain(n.at, fmt.Sprintf("expected %s for %s", want, where))
	}
}

// set sets v to the value of a node. If the node has another type, set returns the
// type that was expected.
func (r *rowReader) set(n *node, v reflect.Value, where string) (want string, ok bool) {
	t := v.Type()
	if cond, is := reflect.TypeAssert[*evidence.Cond](v.Addr()); is {
		return r.parsed(n, cond.UnmarshalText)
	}
	if known, called := words(t); known != nil {
		if n.kind != isString {
			return "a string", false
		}
		i := slices.Index(known, n.text)
		if i < 0 {
			r.complain(n.at, oneOf(called, n.text, slices.DeleteFunc(slices.Clone(known), func(s string) bool { return s == "" })).Error())
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

// isCond reports whether t is the type of conditions, which are written as strings.
func isCond(t reflect.Type) bool {
	return t == reflect.TypeFor[evidence.Cond]() || t == reflect.TypeFor[*evidence.Cond]()
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
			return "a list of tables", false
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

// parsed parses the string of a node.
func (r *rowReader) parsed(n *node, parse func([]byte) error) (want string, ok bool) {
	if n.kind != isString {
		return "a string", false
	}
	if err := parse([]byte(n.text)); err != nil {
		r.complain(n.at, err.Error())
	}
	return "", true
}

// structure sets the fields of a struct from a table.
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
			err := suggest.Unknown("key", name, names, "expected one of "+strings.Join(names, ", "))
			r.complain(member.key, fmt.Sprintf("%s: %s", where, err))
		}
	}
	// The zero value is a valid state, so only the table tells whether it was set.
	if v.Type() == reflect.TypeFor[dialect.StateName]() && n.get("state") == nil {
		r.complain(n.key, where+" needs state")
	}
}

// A rowKey is a key of a table of a row.
type rowKey struct {
	name  string
	field []int // nil for a key that is read separately
	typ   reflect.Type
}

// rowKeys lists the keys of the table for a struct.
func rowKeys(t reflect.Type) []rowKey {
	var out []rowKey
	for _, f := range reflect.VisibleFields(t) {
		name := dialect.KeyOf(f)
		if name != "-" && f.IsExported() && !f.Anonymous {
			out = append(out, rowKey{name, f.Index, f.Type})
		}
	}
	if t == reflect.TypeFor[dialect.Dialect]() {
		out = slices.Insert(out, 1, rowKey{name: "driver", typ: reflect.TypeFor[string]()})
		for _, d := range drivers() {
			out = append(out, rowKey{name: d.name, typ: d.table})
		}
	}
	return out
}

// An enumeration is a type whose values have names.
type enumeration struct {
	typ    reflect.Type
	called string   // what errors call its values
	words  []string // by value
}

func enumerations() []enumeration {
	return []enumeration{
		{reflect.TypeFor[transcript.Role](), "role", []string{"", "system", "user", "assistant", "tool", "other"}},
		{reflect.TypeFor[transcript.Window](), "window", []string{"", "tool", "user", "next", "log", "own"}},
		{reflect.TypeFor[dialect.DamagedLine](), "answer to a damaged line", []string{"", "skips", "stops"}},
		{reflect.TypeFor[transcript.ArgsConvention](), "form of arguments", []string{"any", "string", "object"}},
		{reflect.TypeFor[transcript.CallKind](), "kind of call", []string{
			"function", "custom", "legacy-function", "computer", "local-shell", "shell", "apply-patch", "tool-search", "approval",
			"server", "mcp", "program",
		}},
		{reflect.TypeFor[transcript.CallState](), "state of a call", []string{"open", "done", "failed", "waiting", "interrupted", "passed", "running"}},
		{reflect.TypeFor[transcript.Member](), "member", []string{
			"call-type", "arguments", "signature", "result-name", "content", "last-text", "cache-mark", "reasoning", "item-id",
			"result-content", "role", "call-name", "image", "result-blocks", "store", "thinking", "result-id",
		}},
		{reflect.TypeFor[dialect.PartKind](), "kind of part", []string{
			string(dialect.PartText), string(dialect.PartCall), string(dialect.PartResult), string(dialect.PartServerCall),
			string(dialect.PartServerResult), string(dialect.PartReasoning), string(dialect.PartMedia), string(dialect.PartState), string(dialect.PartAside), string(dialect.PartOther),
		}},
	}
}

// words lists the names of the values of an enumeration, and says what errors call them. It returns nil
// for other types.
func words(t reflect.Type) (known []string, called string) {
	for _, e := range enumerations() {
		if e.typ == t {
			return e.words, e.called
		}
	}
	return nil, ""
}

// check returns an error for an invalid path or template.
func check(v reflect.Value) error {
	switch text := v.Interface().(type) {
	case dialect.Lens:
		if text != "" {
			return text.Valid()
		}
	case dialect.Trace:
		return text.Valid()
	case dialect.Template:
		if !json.Valid([]byte(text)) {
			return errors.New(`expected JSON, with variables such as "$text"`)
		}
	}
	return nil
}

// faults reports the faults of a dialect as a whole at their places in its table.
// If parts of the table could not be read, it reports only missing keys.
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
		r.complain(n.key, `missing key "marks" in [[dialect]]: fields that all of its messages have, such as "version" or "app=acme"`)
	}
	if name := n.get("name"); d.Name != "" && strings.ContainsFunc(d.Name, notInName) {
		r.complain(name.at, "expected small letters, digits and dashes for dialect.name")
	}
	if _, err := names.User.Provider(d.Provider); err != nil {
		r.complain(n.get("provider").at, err.Error())
	}
}

// empty reports whether n is nil, an empty string or an empty list.
func (n *node) empty() bool {
	return n == nil || n.kind == isString && n.text == "" || n.kind == isList && len(n.list) == 0
}

// table follows keys and indexes of elements, and returns the last node that
// exists.
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

// notInName reports whether a character is not allowed in the name of a dialect.
func notInName(c rune) bool {
	return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-'
}
