package detect

import (
	"slices"
	"strings"
	"sync"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

// A field is what keys say about the object that has one of them, or about the messages that they
// lead to.
type field struct {
	keys string // separated by "|"
	role role
	// needs are keys of which the object must have one, too: for a copy and another form, the
	// fields with the messages.
	needs string // separated by "|"
}

// A role is a set of roles of a field. The roles of an object are those of its fields.
type role uint32

const (
	roleCopy     role = 1 << iota // it repeats the messages of another field, and is ignored if that has calls
	roleForm                      // it has messages of another field in another form, or of any field: a converted version or a part
	roleTrace                     // it is what a model or a step put out
	roleRequest                   // only a request has it beside its messages
	roleModel                     // it names the model
	roleAPI                       // it shows an API without naming the model
	roleState                     // it may refer to state on the provider's side
	roleHost                      // it is an address, or it names a provider
	roleSpan                      // it identifies a span of a trace
	roleObserved                  // it does so even if it is null
	roleRecorded                  // it has the attributes of a span
	roleTold                      // it is the input or the output of a span
	roleTimed                     // it says when a span began, or what it took
	rolePiece                     // a piece of an answer has it
)

// fields lists the fields with a role. A key may have several.
var fields = []field{
	{"trajectory", roleCopy, "history|messages"},
	{"events", roleCopy, "messages|Messages|samples|history"},
	{"spans", roleCopy, "messages"},
	{"trace", roleCopy, "observations"},

	{"raw_messages", roleForm, "messages"},
	{"tool_results", roleForm, "message"}, // each repeats its call
	{"model_input_messages", roleForm, ""},

	{"output|outputs|choices|spans|response|preferred_output|non_preferred_output", roleTrace, ""},
	{"inputs", roleTrace, "outputs|run_type"},

	{
		"max_tokens|max_completion_tokens|max_output_tokens|temperature|top_p|stream|tool_choice|parallel_tool_calls|response_format|" +
			"stop|reasoning|thinking|anthropic_version|system|inferenceConfig|toolConfig|generationConfig|generation_config",
		roleRequest, "",
	},
	{"model|modelId", roleModel, ""},
	{"anthropic_version", roleAPI, ""},
	{"contents", roleAPI, "generationConfig|generation_config|tools|systemInstruction|system_instruction"},
	{"previous_response_id|conversation", roleState, ""},
	{"host|url|uri|endpoint|base_url|baseUrl|baseURL|api_base|apiBase|provider|custom_llm_provider", roleHost, ""},

	{"traceId|trace_id|traceID|spanId|span_id|spanID|spanContext|context|parentObservationId|uuid|parentUuid|children", roleSpan, ""},
	{"parentObservationId", roleObserved, ""},
	{"attributes|tags|span_attributes", roleRecorded, ""},
	{"input|output", roleTold, ""},
	{"startTime|start_time|metrics", roleTimed, ""},

	{
		"type|object|done|messageStart|contentBlockStart|contentBlockDelta|contentBlockStop|messageStop|message_start|content_block_start|" +
			"content_block_delta|message_delta", rolePiece, "",
	},
}

// isSpan reports whether an object with these roles is a span.
func (r role) isSpan() bool {
	return r&roleSpan != 0 && (r&roleRecorded != 0 || r&roleTold != 0 && r&roleTimed != 0)
}

// A meaning is what the table says of a key.
type meaning struct {
	rows  []fieldRow
	needs bool   // a row needs other keys
	bit   uint64 // of the key, if others need it; otherwise 0
}

// A fieldRow is a compiled row of the table.
type fieldRow struct {
	role  role
	of    []string // the keys that it needs
	needs uint64   // their bits
}

// A fieldTable is the compiled table.
type fieldTable struct {
	of    map[string]*meaning
	pairs []uint64 // the first keys of each composite
}

var compiledFields = sync.OnceValue(func() *fieldTable {
	t := &fieldTable{of: map[string]*meaning{}}
	meant := func(key string) *meaning {
		if t.of[key] == nil {
			t.of[key] = &meaning{}
		}
		return t.of[key]
	}
	bits := 0
	bit := func(key string) uint64 {
		m := meant(key)
		if m.bit == 0 {
			m.bit = 1 << bits
			bits++
		}
		return m.bit
	}
	for _, f := range fields {
		row := fieldRow{role: f.role}
		if f.needs != "" {
			row.of = strings.Split(f.needs, "|")
		}
		for _, key := range row.of {
			row.needs |= bit(key)
		}
		for key := range strings.SplitSeq(f.keys, "|") {
			m := meant(key)
			m.rows, m.needs = append(m.rows, row), m.needs || row.needs != 0
		}
	}
	for i := range composites {
		first, second := composites[i].begin()
		t.pairs = append(t.pairs, bit(first)|bit(second))
	}
	return t
})

// roles returns the roles of a key in an object with certain other keys.
func (m *meaning) roles(has uint64) (all role) {
	if m == nil {
		return 0
	}
	for i := range m.rows {
		if r := &m.rows[i]; r.needs == 0 || r.needs&has != 0 {
			all |= r.role
		}
	}
	return all
}

// keys are what the keys of an object say about it. Programs write the fields of their objects
// even if they are null.
type keys struct {
	roles, named  role               // of the fields that are not null, and of all
	has           uint64             // the keys that others need and that are not null
	holds, naming dialect.HolderKeys // the keys of holders that are not null, and all
	model         string
	hosts         []string
	state         bool // it refers to state on the provider's side
}

// look looks at the keys of an object, once. Those for which skip is true are left out.
func look(set *dialect.Set, v source.Value, skip func(key source.Value) bool) (k keys) {
	t := compiledFields()
	var later []*meaning // of keys that need others
	for key, val := range v.Members() {
		text := key.Text()
		m, holder := t.of[string(text)], set.HolderKey(text)
		if m == nil && holder == 0 {
			continue
		}
		r := m.roles(0)
		is := val.Kind()
		if is == source.Number { // the words of a vocabulary are keys with numbers
			r &^= roleTold | roleRecorded
		}
		switch {
		case is == source.Null:
			k.named |= r
			k.naming |= holder
			continue
		case r&roleState != 0:
			k.state = k.state || stateID(val)
		case is != source.String:
			r &^= roleModel
		case r&roleModel != 0:
			k.model = val.Str()
		case r&roleHost != 0:
			k.hosts = append(k.hosts, val.Str())
		}
		if skip != nil && skip(key) {
			continue
		}
		k.roles |= r
		k.holds |= holder
		if m != nil {
			k.has |= m.bit
			if m.needs {
				later = append(later, m)
			}
		}
	}
	for _, m := range later {
		k.roles |= m.roles(k.has)
	}
	k.named |= k.roles
	k.naming |= k.holds
	return k
}

// turn returns when a field with certain roles is searched: copies after their originals, and
// another form of any field after all others.
func (m *meaning) turn(roles role) int {
	switch {
	case roles&roleForm != 0 && len(m.of()) == 0:
		return 2
	case roles&roleCopy != 0:
		return 1
	}
	return 0
}

// of returns the keys of the fields whose messages a form has.
func (m *meaning) of() []string {
	i := slices.IndexFunc(m.rows, func(r fieldRow) bool { return r.role == roleForm })
	return m.rows[i].of
}

// repeats reports whether a field repeats the messages of v in another form. found says whether
// other fields have messages.
func (m *meaning) repeats(v source.Value, skip func(key source.Value) bool, found bool) bool {
	of := m.of()
	if len(of) == 0 {
		return found
	}
	for key, val := range v.Members() {
		if slices.ContainsFunc(of, key.Is) && val.Kind() != source.String && val.Filled() && (skip == nil || !skip(key)) {
			return true
		}
	}
	return false
}
