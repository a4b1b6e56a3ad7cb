package schema

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// toolAddress is the address of a schema that declares none.
const toolAddress = "schema:///tool"

// A section is a part of the text with its own address: the whole text, or a schema with
// an id.
type section struct {
	address  string
	draft    draft
	value    source.Value
	anchors  map[string]source.Value
	dynamic  []string // the anchors that $dynamicRef looks for
	resource *resource
}

// draftOf returns the draft with the given address, or false if it is unknown.
func draftOf(address string) (draft, bool) {
	address, fragment, _ := strings.Cut(address, "#")
	rest, ok := strings.CutPrefix(address, "http://")
	if !ok {
		rest = strings.TrimPrefix(address, "https://")
	}
	if fragment != "" {
		return 0, false
	}
	switch rest {
	case "json-schema.org/draft-04/schema":
		return draft4, true
	case "json-schema.org/draft-06/schema":
		return draft6, true
	case "json-schema.org/draft-07/schema":
		return draft7, true
	case "json-schema.org/draft/2019-09/schema":
		return draft2019, true
	case "json-schema.org/draft/2020-12/schema", "json-schema.org/schema":
		return draft2020, true
	}
	return 0, false
}

// idKey returns the keyword for an address.
func (d draft) idKey() string {
	if d == draft4 {
		return "id"
	}
	return "$id"
}

// id returns the address that a schema declares, without its fragment.
func (d draft) id(o *object) string {
	if d < draft2019 && o.has("$ref") {
		return ""
	}
	id, _, _ := strings.Cut(o.get(d.idKey()).Str(), "#")
	return id
}

// section returns the section that a schema begins, or the one that contains it. It
// returns nil if the schema is invalid.
func (c *compiler) section(v source.Value, o *object, in *section) *section {
	root := in == nil
	if root {
		in = &section{address: toolAddress, draft: draft2020}
	}
	d := in.draft
	if s := o.get("$schema"); s.Kind() == source.String {
		declared, known := draftOf(s.Str())
		if !known {
			return nil // it uses an unknown draft, which is not loaded
		}
		if root || declared.id(o) != "" {
			d = declared
		}
	}
	id := d.id(o)
	if id == "" && !root {
		return in
	}
	s := &section{address: in.address, draft: d, value: v, anchors: map[string]source.Value{}, resource: &resource{}}
	if id != "" {
		address, _, ok := joinAddress(in.address, id)
		if !ok || c.addresses[address] != nil {
			return nil
		}
		s.address = address
	}
	c.addresses[s.address] = s
	c.sections = append(c.sections, s)
	return s
}

// anchor adds the names that a schema declares to its section. It reports whether they
// are unique.
func (s *section) anchor(v source.Value, o *object) bool {
	add := func(name string) bool {
		if at, taken := s.anchors[name]; taken {
			return at.Span() == v.Span()
		}
		s.anchors[name] = v
		return true
	}
	if s.draft < draft2019 {
		if o.has("$ref") {
			return true
		}
		_, fragment, ok := splitAddress(o.get(s.draft.idKey()).Str())
		if !ok || fragment == "" || strings.HasPrefix(fragment, "/") {
			return ok
		}
		return add(fragment)
	}
	if name := o.get("$anchor"); name.Kind() == source.String && !add(name.Str()) {
		return false
	}
	if name := o.get("$dynamicAnchor"); name.Kind() == source.String && s.draft >= draft2020 {
		s.dynamic = append(s.dynamic, name.Str())
		return add(name.Str())
	}
	return true
}

// splitAddress splits the fragment off an address and decodes it.
func splitAddress(address string) (before, fragment string, ok bool) {
	before, fragment, _ = strings.Cut(address, "#")
	fragment, err := url.PathUnescape(fragment)
	return before, fragment, err == nil
}

// joinAddress resolves an address relative to a base.
func joinAddress(base, address string) (joined, fragment string, ok bool) {
	address, fragment, ok = splitAddress(address)
	if !ok {
		return "", "", false
	}
	if address == "" {
		return base, fragment, true
	}
	from, err := url.Parse(base)
	if err != nil {
		return "", "", false
	}
	to, err := url.Parse(address)
	if err != nil {
		return "", "", false
	}
	return from.ResolveReference(to).String(), fragment, true
}

// reference returns the schema that a keyword refers to, or nil. Other documents are not
// loaded, so a reference to one makes the whole schema invalid.
func (c *compiler) reference(o *object, key string, in *section) *node {
	v := o.get(key)
	if v.Kind() != source.String {
		return nil
	}
	address, fragment, ok := joinAddress(in.address, v.Str())
	if !ok {
		c.invalid = true
		return nil
	}
	to := c.addresses[address]
	if address == toolAddress {
		to = c.sections[0]
	}
	if to == nil {
		return c.draftNode(address, fragment)
	}
	var target source.Value
	var found bool
	if fragment == "" || strings.HasPrefix(fragment, "/") {
		target, found = c.follow(to.value, fragment)
	} else {
		target, found = to.anchors[fragment]
	}
	if !found {
		c.invalid = true
		return nil
	}
	if c.known[target.Span().Start] == nil {
		// It is in a place that is not a schema of any keyword.
		c.walk(target, c.around(target))
		if c.invalid {
			return nil
		}
	}
	return c.node(target)
}

// draftNode stands for the published meta-schema of a draft. That is not available, so
// only the kind of a value is checked against it.
func (c *compiler) draftNode(address, fragment string) *node {
	d, known := draftOf(address)
	if !known {
		c.invalid = true
		return nil
	}
	n := &node{draft: d, res: c.sections[0].resource}
	switch {
	case fragment != "":
		n.always = true
	case d == draft4:
		n.types = kindObject
	default:
		n.types = kindObject | kindBoolean
	}
	return n
}

// follow returns the value at a JSON pointer.
func (c *compiler) follow(v source.Value, pointer string) (source.Value, bool) {
	for _, key := range strings.Split(pointer, "/")[1:] {
		key, ok := unescapeKey(key)
		if !ok {
			return v, false
		}
		next := source.Value{}
		switch v.Kind() {
		case source.Object:
			next = c.object(v).get(key)
		case source.Array:
			want, err := strconv.Atoi(key)
			for i, e := range v.Elements() {
				if err == nil && i == want {
					next = e
					break
				}
			}
		}
		if !next.Exists() {
			return v, false
		}
		v = next
	}
	return v, true
}

// unescapeKey decodes a key of a JSON pointer.
func unescapeKey(key string) (string, bool) {
	rest := strings.NewReplacer("~0", "", "~1", "").Replace(key)
	if strings.Contains(rest, "~") {
		return "", false
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(key), true
}

// around returns the innermost section that contains a value.
func (c *compiler) around(v source.Value) *section {
	in := c.sections[0]
	for _, s := range c.sections {
		if s.value.Span().Contains(v.Span()) && in.value.Span().Contains(s.value.Span()) {
			in = s
		}
	}
	return in
}
