package detect

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

// TestRowsAlike checks that the places in a row do not depend on earlier rows.
func TestRowsAlike(t *testing.T) {
	t.Parallel()
	const messages = `[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]`
	rows := []string{
		`{"id":1,"messages":` + messages + `,"model":"m-1","extra":[],"base_url":"https://a.example"}`,
		`{"id":2,"messages":` + messages + `,"model":"m-2","extra":[],"base_url":"https://b.example"}`,
		`{"model":"m-3","extra":[],"base_url":"https://b.example","messages":` + messages + `,"id":3}`,
		`{"id":4,"messages":` + messages + `,"model":"m-4","extra":` + messages + `,"base_url":"https://b.example"}`,
		`{"id":5,"messages":` + messages + `,"model":"m-5","extra":[{"type":"note","name":"x"}],"base_url":""}`,
		`{"id":6,"messages":` + messages + `,"model":"m-6","extra":[{"type":"function_call","name":"x"}],"base_url":""}`,
		`{"id":7,"messages":[],"model":"m-7","extra":[],"base_url":"https://b.example"}`,
		`{"id":8,"messages":[{"at":1}],"model":"m-8","extra":[],"base_url":"https://b.example"}`,
		`{"id":9,"messages":[{"type":"function_call","call_id":"c","name":"ls","arguments":"{}"}],"model":"m-9","extra":[],"base_url":"https://b.example"}`,
		`{"id":10,"messages":` + messages + `,"model":10,"extra":[],"base_url":"https://b.example"}`,
		`{"id":11,"messages":` + messages + `,"model":"m-11","extra":[],"base_url":"https://b.example","previous_response_id":"r"}`,
		`{"id":12,"messages":` + messages + `,"model":"m-12","extra":[],"base_url":"https://b.example","previous_response_id":""}`,
		`{"id":13,"messages":` + messages + `,"model":"m-13","extra":[],"base_url":"https://b.example","tools":[{"function":{"name":"ls"}}]}`,
		`{"id":14,"messages":` + messages + `,"model":"m-14","extra":[],"base_url":"https://b.example","tools":[{"input_schema":{},"name":"ls"}]}`,
	}
	r := NewRows(nil)
	for range 2 {
		for _, row := range rows {
			v := source.NewValue([]byte(row), 0)
			want, got := placesOf(Find(nil, v)), placesOf(r.Find(v, dialect.OpenAIChat))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", row, diff)
			}
		}
	}
	if n := len(r.forms); n != 7 {
		t.Errorf("%d forms", n)
	}
}

// placesOf describes everything that is known about places.
func placesOf(places []Place) (out []string) {
	for _, p := range places {
		hint := ""
		if p.Hint != nil {
			hint = p.Hint.Name
		}
		p.Hint, p.Log = nil, nil
		var parts []string
		for _, part := range p.Parts {
			parts = append(parts, string(part.Raw()))
		}
		p.Parts = nil
		out = append(out, fmt.Sprintf("%+v %s %s", p, hint, parts))
	}
	return out
}
