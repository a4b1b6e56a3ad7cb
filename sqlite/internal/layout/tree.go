package layout

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/sqlite/internal/rows"
)

// errOther says that a log has rows whose effect on its path is not known.
var errOther = errors.New("the session was reset or has other branches, so its rows are not repaired")

// A tree is a log that is read from its first row to its last one.
type tree struct {
	Path

	nodes []node
	byID  map[string]int
	leaf  string // the id of the last row that can be one
	last  string // the id of the last row that has one
}

// A node is a row of a log with an id.
type node struct {
	id, parent string
	number     int64
	message    bool
	time       rows.Value
	record     record
}

// grow adds a row with a text.
func (t *tree) grow(n node, text []byte) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return errors.New("is not a JSON object, so it has no place in the log")
	}
	word := func(key string) string {
		var s string
		if json.Unmarshal(fields[key], &s) != nil {
			return ""
		}
		return strings.TrimSpace(s)
	}
	kind := word("type")
	n.id, n.parent = word("id"), word("parentId")
	if slices.Contains(t.Others, kind) || word("appendMode") != "" {
		return errOther
	}
	raw, linked := fields["parentId"]
	canLead := slices.Contains(t.Kinds, kind)
	switch {
	case n.id == "", kind == "session", !canLead && !linked, linked && n.parent == "" && string(raw) != "null":
		return nil
	}
	_, known := t.byID[n.parent]
	if canLead && (!linked || n.parent != "" && (!known || n.parent == t.last)) {
		n.parent = t.leaf
	}
	if t.byID == nil {
		t.byID = map[string]int{}
	}
	t.byID[n.id] = len(t.nodes)
	_, n.message = fields["message"]
	t.nodes = append(t.nodes, n)
	if t.last = n.id; canLead {
		t.leaf = n.id
	}
	return nil
}

// path returns the rows from the first one to the leaf.
func (t *tree) path() (path []node) {
	seen := map[string]bool{}
	for id := t.leaf; id != ""; {
		i, known := t.byID[id]
		if !known {
			break
		}
		if seen[id] {
			return nil
		}
		seen[id] = true
		path = append(path, t.nodes[i])
		id = t.nodes[i].parent
	}
	slices.Reverse(path)
	return path
}
