package repair

import (
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Echoed returns the result of a call as another record of its log repeats it, and that
// record, from 1; 0 if there is none. differs says that such records contradict each other, or
// that another call has the same id.
func (p *Plan) Echoed(call int32) (text string, record int32, differs bool) {
	if p.Dialect.Log == nil {
		return "", 0, false
	}
	var first dialect.Said
	var form *dialect.Echo
	for _, e := range p.echoesOf(call) {
		raw, err := p.Source.Bytes(e.At)
		if err != nil {
			return "", 0, false // the source reports it
		}
		v := source.NewValue(raw, e.At.Start)
		echo := p.Dialect.Log.EchoIn(v)
		if echo == nil || string(echo.ID.In(v).Raw()) != p.Conv.Calls[call].ID.Raw {
			continue
		}
		said, unsure, is := echo.Result(v)
		switch {
		case !is:
		case unsure, e.Unsure, record != 0 && said != first:
			return "", e.Record, true
		case record == 0:
			first, form, record = said, echo, e.Record
		case slices.Contains(echo.Tools, p.Conv.Calls[call].Name.Text()):
			form = echo // the tool of the call has this one
		}
	}
	if form == nil {
		return "", 0, false
	}
	return form.Written(first), record, false
}

// echoesOf returns the records that repeat the result of a call.
func (p *Plan) echoesOf(call int32) []transcript.Echo {
	all := p.Conv.Echoes
	from := sort.Search(len(all), func(i int) bool { return all[i].Call >= call })
	to := from
	for to < len(all) && all[to].Call == call {
		to++
	}
	return all[from:to]
}

// resultText returns the text of a result that is inserted for a call: what a record repeats,
// or else a placeholder.
func (p *Plan) resultText(c int32) string {
	if text, record, differs := p.Echoed(c); record != 0 && !differs {
		return text
	}
	return p.placeholderText(&p.Conv.Calls[c])
}
