package profile

import "sync"

// A Switch is the parameter of a request that turns thinking on and off.
type Switch struct {
	// At is the path to the parameter, whose field "type" is On if thinking is on such that the
	// last calls must begin with it.
	At, On string
	// Off is the JSON text with which thinking is off.
	Off string
	// Edits is the path to a list of edits. While thinking is off, the API rejects edits whose
	// "type" begins with Needs.
	Edits, Needs string
	// Source is where this is documented.
	Source string
}

// ThinkingSwitch returns the parameter that turns thinking on and off, an empty one if none is
// known.
func (p *Profile) ThinkingSwitch() Switch {
	if p.Switch.At == "" && p.Like != nil {
		return p.Like.ThinkingSwitch()
	}
	return p.Switch
}

// Sentinels lists the documented substitutes for lost signatures.
var Sentinels = sync.OnceValue(func() (out []string) {
	for _, p := range All() {
		if p.Sentinel != "" {
			out = append(out, p.Sentinel)
		}
	}
	return out
})
