package dialect

import "github.com/toolguard/toolguard/internal/source"

// A Stencil is a template for something that is written next to a message.
type Stencil struct {
	If   Lens     // a field that must be present; "" for always
	JSON Template `row:"needed"`
	Copy []string // fields that are copied from that message
}

// stencilFor returns the first stencil whose condition holds of v, the last one if none
// does, or nil if there are none.
func stencilFor(all []Stencil, v source.Value) *Stencil {
	for i := range all {
		if f := &all[i]; f.If == "" || i == len(all)-1 || f.If.Leads(v) {
			return f
		}
	}
	return nil
}

// write returns the fields of the object that the stencil makes with values, next to near.
func (f *Stencil) write(near source.Value, values map[string]string) []Field {
	out := fill(f.JSON, values)
	for _, key := range f.Copy {
		if val := near.Get(key); val.Exists() {
			out = append(out, Field{key, string(val.Raw())})
		}
	}
	return out
}
