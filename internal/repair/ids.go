package repair

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/transcript"
)

// rename gives calls and results another id.
func (p *Plan) rename(op *operation.Operation) bool {
	if len(op.Calls) == 0 && len(op.Results) == 0 {
		return false
	}
	for _, c := range op.Calls {
		if p.minted[c] {
			return false // it gets an id first
		}
	}
	var old transcript.Token
	if len(op.Calls) > 0 {
		old = p.Conv.Calls[op.Calls[0]].ID
	} else {
		old = p.Conv.Results[op.Results[0]].ID
	}
	if !op.All {
		done := false
		for _, c := range op.Calls {
			if !p.behind(c) {
				continue
			}
			done = true
			id := transcript.Quote(p.fresh(p.proper(p.Conv.Calls[c].ID, false), -1))
			p.setCallID(c, id)
			for _, r := range p.answersOf(c) {
				p.set(p.Conv.Results[r].ID.Span, id)
			}
		}
		return done
	}
	// Every use of the id, as written, becomes one new id. A partner whose id
	// is what this one becomes is no obstacle.
	partner := int32(-1)
	if len(op.Calls) > 0 {
		partner = p.Pairing.Calls[op.Calls[0]].Result
	}
	server := len(op.Calls) > 0 && p.Conv.Calls[op.Calls[0]].Server
	fits := p.proper(old, server)
	if pairing.Key(old) != "" && fits == old.Text() && old.IsString() {
		return false
	}
	id := p.fresh(fits, partner)
	if p.Log != nil {
		p.Log.rename[old.Raw] = transcript.Quote(id)
	}
	all := p.usesOf(old.Raw)
	for _, i := range all.calls {
		if p.Conv.Calls[i].Server == server {
			p.setCallID(i, transcript.Quote(id))
			if r := p.Pairing.Calls[i].Result; r >= 0 && p.Conv.Results[r].ID.Raw != old.Raw {
				if key := pairing.Key(p.Conv.Results[r].ID); key != id && key != "" {
					p.set(p.Conv.Results[r].ID.Span, transcript.Quote(id))
				}
			}
		}
	}
	for _, i := range all.results {
		if r := &p.Conv.Results[i]; r.Server == server {
			p.set(r.ID.Span, transcript.Quote(id))
		}
	}
	return true
}

// proper returns the id as the profile takes it of who runs the tool.
func (p *Plan) proper(t transcript.Token, server bool) string {
	id, prefix := strings.TrimSpace(t.Text()), p.Profile.ServerID
	switch rest, has := strings.CutPrefix(id, prefix); {
	case prefix == "":
	case server:
		id = prefix + strings.ReplaceAll(rest, "-", "_")
	case has:
		id = "toolu_" + rest
	}
	return p.fit(id, t.Raw)
}

// fit makes an id that the profile takes out of a text. Where not all of it
// has room, a hash of what it stands for tells it from others.
func (p *Plan) fit(id, of string) string {
	least, most := p.Profile.IDMin, p.Profile.IDMax
	if soft := p.Profile.IDSoftMax; soft > 0 && (most == 0 || soft < most) {
		most = soft
	}
	out := strings.Map(func(r rune) rune {
		switch {
		case !unicode.IsControl(r) && p.Profile.IDChars.Allows(string(r)):
			return r
		case p.Profile.IDChars.Allows("_"):
			return '_'
		}
		return -1
	}, id)
	n := utf8.RuneCountInString(out)
	switch {
	case n > 0 && n >= least && (most == 0 || n <= most):
		return out
	case n > most && most > 9 && p.Profile.IDChars.Allows("_"):
		return string([]rune(out)[:most-9]) + "_" + digits(of, 8)
	}
	return digits(of, max(1, min(12, max(most, least))))
}

// digits returns a hash of a text as letters and digits.
func digits(of string, n int) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(of))
	text := strconv.FormatUint(h.Sum64(), 36)
	text = strings.Repeat("0", max(0, n-len(text))) + text
	return text[len(text)-n:]
}

// fresh returns an id that no call or result of the conversation has, but for
// one result.
func (p *Plan) fresh(id string, partner int32) string {
	own := ""
	if partner >= 0 {
		own = pairing.Key(p.Conv.Results[partner].ID)
	}
	used := func(id string) bool {
		n := p.taken[id]
		if id == own {
			n--
		}
		return n > 0 || p.fresher[id]
	}
	sep := "-"
	if !p.Profile.IDChars.Allows(sep) {
		sep = ""
	}
	out := id
	if used(out) {
		// Many may want the same one: it is not looked for from the start.
		n := max(2, p.free[id], p.next[id])
		for ; ; n++ {
			numbered := id + sep + strconv.Itoa(n)
			if out = p.fit(numbered, numbered); !used(out) {
				break
			}
		}
		if p.next == nil {
			p.next = map[string]int{}
		}
		if p.free == nil {
			p.free = map[string]int{}
		}
		if p.next[id] == 0 {
			p.free[id] = n
		}
		p.next[id] = n
	}
	if p.fresher == nil {
		p.fresher = map[string]bool{}
	}
	p.fresher[out] = true
	return out
}

// usesOf returns the calls and results that have an id, as it is written.
func (p *Plan) usesOf(raw string) uses {
	if p.uses == nil {
		p.uses = map[string]uses{}
		for i := range p.Conv.Calls {
			u := p.uses[p.Conv.Calls[i].ID.Raw]
			u.calls = append(u.calls, int32(i))
			p.uses[p.Conv.Calls[i].ID.Raw] = u
		}
		for i := range p.Conv.Results {
			u := p.uses[p.Conv.Results[i].ID.Raw]
			u.results = append(u.results, int32(i))
			p.uses[p.Conv.Results[i].ID.Raw] = u
		}
	}
	return p.uses[raw]
}

// uses are the calls and results of one id.
type uses struct{ calls, results []int32 }

// mint gives calls and their results an id where there is none.
func (p *Plan) mint(op *operation.Operation) bool {
	did := false
	for _, c := range op.Calls {
		if p.minted[c] || !p.behind(c) {
			continue
		}
		did, p.minted[c] = true, true
		call := &p.Conv.Calls[c]
		res := p.Pairing.Calls[c].Result
		// One side may have an id already: the other gets it as it is written,
		// unless others of the conversation have it too.
		id := call.ID
		if res >= 0 && pairing.Key(id) == "" {
			id = p.Conv.Results[res].ID
		}
		raw := id.Raw
		switch n := p.taken[pairing.Key(id)]; {
		case pairing.Key(id) == "":
			h := fnv.New64a()
			fmt.Fprintf(h, "%d/%d/%s", p.Conv.Index, c, call.Name.Text())
			minted := fmt.Sprintf("call_%012x", h.Sum64()&(1<<48-1))
			raw = transcript.Quote(p.fresh(p.fit(minted, minted), -1))
		case n > 1:
			raw = transcript.Quote(p.fresh(id.Text(), -1))
		}
		if call.ID.Raw != raw {
			p.setCallID(c, raw)
		}
		for _, r := range p.answersOf(c) {
			if res := &p.Conv.Results[r]; res.ID.Raw != raw && p.Conv.Combined(r) < 0 {
				p.setToken(res.ID, p.keys(res.Message).ResultID, raw)
			}
		}
	}
	return did
}

// setCallID gives a call, and every copy of it, an id.
func (p *Plan) setCallID(c int32, raw string) {
	call := &p.Conv.Calls[c]
	p.setToken(call.ID, p.keys(call.Message).ID, raw)
	for _, cp := range p.copiesOf(c) {
		p.setToken(cp.ID, cp.IDKey, raw)
	}
}

// setCopies writes the name that an operation gives a call into its copies.
func (p *Plan) setCopies(op *operation.Operation) {
	for _, c := range op.Calls {
		for _, cp := range p.copiesOf(c) {
			if name := p.Conv.Calls[c].Name; op.Span == name.Span && cp.Name.Raw == name.Raw {
				p.set(cp.Name.Span, op.Text)
			}
		}
	}
}

// copiesOf returns the copies of a call: those of one message stand together,
// in the order of the messages.
func (p *Plan) copiesOf(c int32) []transcript.Copy {
	all := p.Conv.Copies
	m := p.Conv.Calls[c].Message
	at, _ := slices.BinarySearchFunc(all, m, func(cp transcript.Copy, m int32) int { return cmp.Compare(p.Conv.Calls[cp.Call].Message, m) })
	var out []transcript.Copy
	for ; at < len(all) && p.Conv.Calls[all[at].Call].Message == m; at++ {
		if all[at].Call == c {
			out = append(out, all[at])
		}
	}
	return out
}

// setToken writes a member: in its place, or as the first one of the element
// that should have it.
func (p *Plan) setToken(t transcript.Token, key, raw string) {
	if t.Present() {
		p.set(t.Span, raw)
		return
	}
	v := p.at(t.Span)
	st := styleOf(v)
	var first, second, end int64
	n := 0
	for k, val := range v.Members() {
		if n == 0 {
			first, end = k.Span().Start, val.Span().End
		} else if n == 1 {
			second = k.Span().Start
			break
		}
		n++
	}
	if n == 0 && first == 0 {
		return
	}
	sep := st.comma
	if second > 0 {
		sep = p.src.text(end, second)
	}
	p.sets = append(p.sets, edit.Edit{
		Span: transcript.Span{Start: first, End: first}, Text: []byte(transcript.Quote(key) + st.colon + raw + sep),
	})
}
