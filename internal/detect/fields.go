package detect

import (
	"slices"
	"sync"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

// A field is what a key says about the object that has it, or about the messages that it
// leads to.
type field struct {
	key  string
	role role
	// needs are keys of which the object must have one, too: for a copy and another form, the
	// fields with the messages.
	needs []string
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
	roleTimed                     // it says when a span began
	roleColumn                    // it is in a table whose rows people export
	roleUser                      // it has the user's message of an invocation
	rolePiece                     // a piece of an answer has it
)

// fields lists the fields with a role. A key may have several.
var fields = []field{
	{"trajectory", roleCopy, []string{"history", "messages"}},
	{"events", roleCopy, []string{"messages", "Messages", "samples", "history"}},
	{"spans", roleCopy, []string{"messages"}},
	{"trace", roleCopy, []string{"observations"}},

	{"raw_messages", roleForm, []string{"messages"}},
	{"tool_results", roleForm, []string{"message"}}, // each repeats its call
	{"model_input_messages", roleForm, nil},

	{"output", roleTrace | roleTold, nil},
	{"input", roleTold, nil},
	{"inputs", roleTrace, []string{"outputs", "run_type"}},
	{"outputs", roleTrace, nil},
	{"choices", roleTrace, nil},
	{"spans", roleTrace, nil},
	{"response", roleTrace, nil},
	{"preferred_output", roleTrace, nil},
	{"non_preferred_output", roleTrace, nil},

	{"max_tokens", roleRequest, nil},
	{"max_completion_tokens", roleRequest, nil},
	{"max_output_tokens", roleRequest, nil},
	{"temperature", roleRequest, nil},
	{"top_p", roleRequest, nil},
	{"stream", roleRequest, nil},
	{"tool_choice", roleRequest, nil},
	{"parallel_tool_calls", roleRequest, nil},
	{"response_format", roleRequest, nil},
	{"stop", roleRequest, nil},
	{"reasoning", roleRequest, nil},
	{"thinking", roleRequest, nil},
	{"anthropic_version", roleRequest | roleAPI, nil},
	{"system", roleRequest, nil},
	{"inferenceConfig", roleRequest, nil},
	{"toolConfig", roleRequest, nil},
	{"generationConfig", roleRequest, nil},
	{"generation_config", roleRequest, nil},
	{"contents", roleAPI, []string{"generationConfig", "generation_config", "tools", "systemInstruction", "system_instruction"}},
	{"model", roleModel, nil},
	{"modelId", roleModel, nil},

	{"previous_response_id", roleState, nil},
	{"conversation", roleState, nil},

	{"host", roleHost, nil},
	{"url", roleHost, nil},
	{"uri", roleHost, nil},
	{"endpoint", roleHost, nil},
	{"base_url", roleHost, nil},
	{"baseUrl", roleHost, nil},
	{"baseURL", roleHost, nil},
	{"api_base", roleHost, nil},
	{"apiBase", roleHost, nil},
	{"provider", roleHost, nil},
	{"custom_llm_provider", roleHost, nil},

	{"traceId", roleSpan, nil},
	{"trace_id", roleSpan, nil},
	{"traceID", roleSpan, nil},
	{"spanId", roleSpan, nil},
	{"span_id", roleSpan, nil},
	{"spanID", roleSpan, nil},
	{"spanContext", roleSpan, nil},
	{"context", roleSpan, nil},
	{"parentObservationId", roleSpan | roleObserved, nil},
	{"attributes", roleRecorded, nil},
	{"tags", roleRecorded, nil},
	{"span_attributes", roleRecorded, nil},
	{"startTime", roleTimed, nil},
	{"start_time", roleTimed, nil},

	{"type", rolePiece, nil},
	{"messageStart", rolePiece, nil},
	{"contentBlockStart", rolePiece, nil},
	{"contentBlockDelta", rolePiece, nil},
	{"contentBlockStop", rolePiece, nil},
	{"messageStop", rolePiece, nil},
	{"message_start", rolePiece, nil},
	{"content_block_start", rolePiece, nil},
	{"content_block_delta", rolePiece, nil},
	{"message_delta", rolePiece, nil},
	{"object", rolePiece, nil},
	{"done", rolePiece, nil},

	{columns[0].Text, roleColumn, nil},
	{"user_content", roleUser, nil},
	{"userContent", roleUser, nil},
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
	needs uint64 // the bits of the keys that it needs; 0 for none
	field *field
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
	for i := range fields {
		f := &fields[i]
		row := fieldRow{role: f.role, field: f}
		for _, key := range f.needs {
			row.needs |= bit(key)
		}
		m := meant(f.key)
		m.rows, m.needs = append(m.rows, row), m.needs || row.needs != 0
	}
	for i := range composites {
		t.pairs = append(t.pairs, bit(composites[i].first[0])|bit(composites[i].second[0]))
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
		switch is := val.Kind(); {
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
	case roles&roleForm != 0 && m.of() == nil:
		return 2
	case roles&roleCopy != 0:
		return 1
	}
	return 0
}

// of returns the keys of the fields whose messages a form has.
func (m *meaning) of() []string {
	i := slices.IndexFunc(m.rows, func(r fieldRow) bool { return r.role == roleForm })
	return m.rows[i].field.needs
}

// repeats reports whether a field repeats the messages of v in another form. found says whether
// other fields have messages.
func (m *meaning) repeats(v source.Value, skip func(key source.Value) bool, found bool) bool {
	of := m.of()
	if of == nil {
		return found
	}
	for key, val := range v.Members() {
		if slices.ContainsFunc(of, key.Is) && holdsAny(val) && (skip == nil || !skip(key)) {
			return true
		}
	}
	return false
}
