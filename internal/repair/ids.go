package repair

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/transcript"
)

// names are the ids that operations on a conversation make up. They are settled for
// all of it at once, so that no two operations make up the same one, whichever of
// them are carried out.
type names struct {
	uses map[string]uses   // by id, as it is written
	fit  map[string]string // by id, as it is written: what every use of it becomes, as JSON
	own  map[int32]string  // by call: an id that no other has
	used map[string]int    // how many calls and results have an id
	next map[string]int    // by id that is wanted: the last number that made another of it
}

// uses are the calls and results of one id.
type uses struct{ calls, results []int32 }

// made returns the ids that operations make up.
func (p *Plan) made() *names {
	if p.names != nil {
		return p.names
	}
	c := p.Conv
	n := &names{uses: map[string]uses{}, fit: map[string]string{}, own: map[int32]string{}, used: map[string]int{}, next: map[string]int{}}
	p.names = n
	for i := range c.Calls {
		u := n.uses[c.Calls[i].ID.Raw]
		u.calls = append(u.calls, int32(i))
		n.uses[c.Calls[i].ID.Raw] = u
		n.used[pairing.Key(c.Calls[i].ID)]++
	}
	for i := range c.Results {
		u := n.uses[c.Results[i].ID.Raw]
		u.results = append(u.results, int32(i))
		n.uses[c.Results[i].ID.Raw] = u
		n.used[pairing.Key(c.Results[i].ID)]++
	}
	// In the order in which they come, each id once.
	settle := func(t transcript.Token, server bool, partner int32) {
		if _, done := n.fit[t.Raw]; done || pairing.Key(t) == "" {
			return
		}
		if fits := p.proper(t, server); fits != t.Text() || !t.IsString() {
			if n.fit[t.Raw] = transcript.Quote(p.fresh(fits, partner)); t.IsString() && n.fit[t.Raw] == transcript.Quote(strings.TrimSpace(t.Text())) {
				n.fit[t.Raw] = trimmed(t.Raw)
			}
		} else {
			n.fit[t.Raw] = ""
		}
	}
	for i := range c.Calls {
		settle(c.Calls[i].ID, c.Calls[i].Server, p.Pairing.Calls[i].Result)
	}
	for i := range c.Results {
		settle(c.Results[i].ID, c.Results[i].Server, -1)
	}
	// Of several calls of one id the later ones first: the first one keeps it.
	var firsts []int32
	seen := map[string]bool{}
	for i := range c.Calls {
		t := p.idOf(int32(i))
		switch key := pairing.Key(t); {
		case key == "":
			call := &c.Calls[i]
			h := fnv.New64a()
			fmt.Fprintf(h, "%d/%d/%s", c.Index, i, call.Name.Text())
			minted := fmt.Sprintf("call_%012x", h.Sum64()&(1<<48-1))
			n.own[int32(i)] = p.fresh(p.fit(minted, minted), -1)
		case !seen[key]:
			seen[key] = true
			firsts = append(firsts, int32(i))
		default:
			n.own[int32(i)] = p.fresh(p.whole(t), -1)
		}
	}
	for _, c := range firsts {
		if t := p.idOf(c); n.used[pairing.Key(t)] > 1 {
			n.own[c] = p.fresh(p.whole(t), -1)
		}
	}
	return n
}

// trimmed returns a JSON string without white space at its ends, written as it was.
func trimmed(raw string) string {
	said, offset := transcript.Unescape([]byte(raw[1 : len(raw)-1]))
	from := len(said) - len(bytes.TrimSpace(append(slices.Clip(said), 'x'))) + 1
	to := len(bytes.TrimSpace(append([]byte{'x'}, said...))) - 1
	return `"` + raw[1+offset(from):1+offset(to)] + `"`
}

// whole returns an id that others are made of: without halves of characters.
func (p *Plan) whole(t transcript.Token) string {
	return strings.ReplaceAll(p.proper(t, false), "\uFFFD", "_")
}

// idOf returns the id of a call or, where it has none, of its result.
func (p *Plan) idOf(c int32) transcript.Token {
	id := p.Conv.Calls[c].ID
	if r := p.Pairing.Calls[c].Result; r >= 0 && pairing.Key(id) == "" {
		id = p.Conv.Results[r].ID
	}
	return id
}

// fresh returns an id that no call or result of the conversation has, but for
// one result, and that was not made up before.
func (p *Plan) fresh(id string, partner int32) string {
	n := p.names
	own := ""
	if partner >= 0 {
		own = pairing.Key(p.Conv.Results[partner].ID)
	}
	used := func(id string) bool {
		k := n.used[id]
		if id == own {
			k--
		}
		return k > 0
	}
	sep := "-"
	if !p.Profile.IDChars.Allows(sep) {
		sep = ""
	}
	out := id
	if used(out) {
		// Many may want the same one: it is not looked for from the start.
		k := max(2, n.next[id])
		for ; ; k++ {
			numbered := id + sep + strconv.Itoa(k)
			if out = p.fit(numbered, numbered); !used(out) {
				break
			}
		}
		n.next[id] = k
	}
	n.used[out] += 2 // also where one result has it
	return out
}

// renamePairs gives calls, and what answers them, ids of their own. Where order does
// not tell what answers them that is a guess.
func (d *draft) renamePairs(calls []int32, guess bool) bool {
	did := false
	for _, c := range calls {
		own := d.made().own[c]
		if own == "" || !guess && !d.behind(c) {
			continue
		}
		did = true
		d.setCallID(c, transcript.Quote(own))
		for _, r := range d.answers[c] {
			d.setResultID(r, transcript.Quote(own))
		}
	}
	return did
}

// renameAll gives every use of an id, as it is written, the one that fits. A partner
// whose id is what this one becomes is no obstacle.
func (d *draft) renameAll(do *operation.RenameID) bool {
	var old transcript.Token
	server := false
	if do.Call >= 0 {
		old, server = d.Conv.Calls[do.Call].ID, d.Conv.Calls[do.Call].Server
	} else {
		old = d.Conv.Results[do.Result].ID
	}
	raw := d.made().fit[old.Raw]
	if raw == "" {
		return false
	}
	id := transcript.Token{Raw: raw}.Text()
	all := d.made().uses[old.Raw]
	for _, i := range all.calls {
		if d.Conv.Calls[i].Server != server {
			continue
		}
		d.setCallID(i, raw)
		if r := d.Pairing.Calls[i].Result; r >= 0 && d.Conv.Results[r].ID.Raw != old.Raw {
			if key := pairing.Key(d.Conv.Results[r].ID); key != id && key != "" {
				d.setResultID(r, raw)
			}
		}
	}
	for _, i := range all.results {
		if r := &d.Conv.Results[i]; r.Server == server {
			d.setResultID(i, raw)
		}
	}
	if d.Log != nil {
		d.log().renames(old.Raw, raw)
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

// mint gives calls and their results an id where there is none.
func (d *draft) mint(do *operation.MintIDs) bool {
	did := false
	for i, c := range do.Calls {
		if !d.behind(c) {
			continue
		}
		did = true
		call := &d.Conv.Calls[c]
		results := d.answers[c]
		if i < len(do.Results) && do.Results[i] >= 0 && !slices.Contains(results, do.Results[i]) {
			results = append(slices.Clone(results), do.Results[i])
		}
		// One side may have an id already: the other gets it as it is written,
		// unless others of the conversation have it too.
		id := d.idOf(c)
		raw := id.Raw
		if n := d.made().uses[id.Raw]; pairing.Key(id) == "" || len(n.calls)+len(n.results) > 1 {
			raw = transcript.Quote(d.made().own[c])
		}
		if call.ID.Raw != raw {
			d.setCallID(c, raw)
		}
		for _, r := range results {
			if res := &d.Conv.Results[r]; res.ID.Raw != raw && d.Conv.Combined(r) < 0 {
				d.setResultID(r, raw)
			}
		}
	}
	return did
}

// relink makes a result answer a call, which has an id.
func (d *draft) relink(r, c int32) bool {
	call := &d.Conv.Calls[c]
	if pairing.Key(call.ID) == "" {
		return false // it gets one first
	}
	d.over = append(d.over, d.Conv.Blocks[call.Block].Span) // the call is answered
	d.setResultID(r, call.ID.Raw)
	return true
}

// setResultID gives a result, and every other spelling of its id, an id.
func (d *draft) setResultID(r int32, raw string) {
	res := &d.Conv.Results[r]
	d.setToken(res.ID, d.idKey(res.ID, res.Block, d.keys(res.Message).ResultID), raw)
	for i := range d.Conv.Aliases {
		if a := &d.Conv.Aliases[i]; a.Result == r {
			d.setToken(a.ID, "", raw)
		}
	}
}

// setCallID gives a call, and every copy of it, an id.
func (d *draft) setCallID(c int32, raw string) {
	call := &d.Conv.Calls[c]
	d.setToken(call.ID, d.idKey(call.ID, call.Block, d.keys(call.Message).ID), raw)
	for _, cp := range d.copiesOf(c) {
		d.setToken(cp.ID, cp.IDKey, raw)
	}
}

// idKey returns the key under which an id is written that is not there yet.
func (d *draft) idKey(id transcript.Token, block int32, usual string) string {
	k, ok := d.driver.(dialect.IDKeyer)
	if !ok || id.Present() {
		return usual
	}
	blk := &d.Conv.Blocks[block]
	return cmp.Or(k.IDKey(d.value(blk.Message), blk.Span), usual)
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

// setToken writes an id.
func (d *draft) setToken(t transcript.Token, key, raw string) { d.setMember(t, key, raw, true) }

// addFirst returns the edit that adds a member to an object, as its first one.
func (d *draft) addFirst(v transcript.Value, key, raw string) edit.Edit {
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
	if n == 0 && first == 0 { // nothing tells a layout
		at := v.Span().Start + 1
		return edit.Edit{Span: transcript.Span{Start: at, End: at}, Text: []byte(transcript.Quote(key) + ":" + raw)}
	}
	sep := st.comma
	if second > 0 {
		sep = d.src.text(end, second)
	}
	return edit.Edit{Span: transcript.Span{Start: first, End: first}, Text: []byte(transcript.Quote(key) + st.colon + raw + sep)}
}
