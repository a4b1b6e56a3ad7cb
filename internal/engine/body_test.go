package engine

import "testing"

// TestBodyBeside: a field with the name of a message's body is not the body if the fields of
// the body are beside it.
func TestBodyBeside(t *testing.T) {
	t.Parallel()
	for _, data := range []string{`{}`, `{"a":1}`, `{"content":"x"}`} {
		text := `[{"type":"human","content":"ls","data":` + data + `},
			{"type":"ai","content":"","data":` + data + `,"tool_calls":[{"name":"ls","args":{},"id":"call_1","type":"tool_call"}]},
			{"type":"tool","content":"a.txt","name":"ls","data":` + data + `,"tool_call_id":"call_1","status":"success"}]`
		rep := check(t, "f", []byte(text), Options{})
		if rep.File.Dialect != "langchain" || rep.Calls != 1 || rep.Results != 1 || rep.Findings.Len() > 0 {
			t.Errorf("data %s: %s", data, render(rep))
		}
	}
}
