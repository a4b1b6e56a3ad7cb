// Package provider says which requests a model API refuses, and in which words. It is for tests,
// which hold toolguard and its proxy to it, so it shares no code with them: it decodes requests
// with encoding/json and has the rules of the APIs a second time. It knows nothing of repairs.
//
// The words are those that the APIs were seen to use. Where an API checks what it alone knows,
// such as the signature of reasoning, Sign makes what these rules accept.
package provider

import (
	"encoding/json"
	"fmt"
	"slices"
)

// An API is a model API.
type API struct {
	// Name is the name of its dialect, or of its profile if it copies the API of another one.
	Name string
	// faults returns why a request is refused, the first reason first.
	faults func(r object, f *faults)
	// shape returns the body of a refusal.
	shape func(f Fault) any
}

// A Fault is a reason for which an API refuses a request.
type Fault struct {
	Message string
	Param   string // the field that OpenAI's APIs name, or ""
	Code    string // the code that they name, or ""
}

// APIs returns all APIs.
func APIs() []*API {
	return []*API{
		{"anthropic", messages, anthropicShape},
		{"openai-chat", chat, openAIShape},
		{"kimi", kimi, openAIShape},
		{"openai-responses", responses, openAIShape},
		{"gemini", func(r object, f *faults) { contents(r, f, false) }, geminiShape},
		{"gemini-3", func(r object, f *faults) { contents(r, f, true) }, geminiShape},
	}
}

// Find returns the API with a name.
func Find(name string) (*API, error) {
	all := APIs()
	i := slices.IndexFunc(all, func(a *API) bool { return a.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("no model API has the name %q", name)
	}
	return all[i], nil
}

// Faults returns why the API refuses a request, the first reason first. A request that is
// accepted has none.
func (a *API) Faults(body []byte) []Fault {
	var r object
	if err := json.Unmarshal(body, &r); err != nil {
		return []Fault{{Message: "the body is not a JSON object: " + err.Error()}}
	}
	var f faults
	a.faults(r, &f)
	return f.list
}

// Refusal returns the body of the refusal with a fault. Its status is 400.
func (a *API) Refusal(f Fault) []byte {
	raw, err := json.Marshal(a.shape(f))
	if err != nil {
		panic(err) // shapes have strings and numbers only
	}
	return raw
}

func anthropicShape(f Fault) any {
	return object{"type": "error", "error": object{"type": "invalid_request_error", "message": f.Message}}
}

func openAIShape(f Fault) any {
	e := object{"message": f.Message, "type": "invalid_request_error", "param": nil, "code": nil}
	if f.Param != "" {
		e["param"] = f.Param
	}
	if f.Code != "" {
		e["code"] = f.Code
	}
	return object{"error": e}
}

func geminiShape(f Fault) any {
	return object{"error": object{"code": 400, "message": f.Message, "status": "INVALID_ARGUMENT"}}
}

// faults collects the faults of a request.
type faults struct{ list []Fault }

// add adds a fault.
func (f *faults) add(format string, args ...any) { f.at("", "", format, args...) }

// at adds a fault of a field, with a code.
func (f *faults) at(param, code, format string, args ...any) {
	f.list = append(f.list, Fault{fmt.Sprintf(format, args...), param, code})
}

// An object is a JSON object.
type object = map[string]any

// list returns the elements of an array, or nil.
func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// text returns a string, or "".
func text(v any) string {
	s, _ := v.(string)
	return s
}

// fields returns an object, or nil. A nil map has no keys.
func fields(v any) object {
	o, _ := v.(object)
	return o
}

// kind returns the name that OpenAI's APIs have for the type of a value.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case []any:
		return "an array"
	case object:
		return "an object"
	case bool:
		return "a boolean"
	}
	return "a number"
}
