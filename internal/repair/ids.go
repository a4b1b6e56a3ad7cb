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
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// names are the new ids for a conversation. All are chosen at once, so that no two operations
// choose the same one, whichever of them are carried out.
type names struct {
	calls, results map[string][]int32 // by id, as JSON
	fit            map[string]string  // by id, as JSON: its replacement, as JSON; "" if it stays
	own            []string           // by call: a unique id; "" if its own is unique
	used           map[string]int     // how many calls and results have an id
	next           map[string]int     // by requested id: the last number appended to it
}

// made returns the new ids.
func (p *Plan) made() *names {
	if p.names != nil {
		return p.names
	}
	c := p.Conv
	n := &names{
		calls: map[string][]int32{}, results: map[string][]int32{}, fit: map[string]string{},
		own: make([]string, len(c.Calls)), used: map[string]int{}, next: map[string]int{},
	}
	p.names = n
	for i, call := range c.Calls {
		n.calls[call.ID.Raw] = append(n.calls[call.ID.Raw], int32(i))
		n.used[pairing.Key(call.ID)]++
	}
	for i, res := range c.Results {
		n.results[res.ID.Raw] = append(n.results[res.ID.Raw], int32(i))
		n.used[pairing.Key(res.ID)]++
	}
	// In file order, each id once.
	settle := func(t transcript.Token, server bool, call int32) {
		if _, done := n.fit[t.Raw]; done || pairing.Key(t) == "" {
			return
		}
		n.fit[t.Raw] = ""
		if fits := p.proper(t, server); fits != t.Text() || !t.IsString() {
			if call >= 0 && fits == p.callAs(call).Text() { // the same as its call's
				n.fit[t.Raw] = p.callAs(call).Raw
				return
			}
			n.fit[t.Raw] = source.Quote(p.fresh(fits, p.partners(t.Raw)...))
			if t.IsString() && n.fit[t.Raw] == source.Quote(strings.TrimSpace(t.Text())) {
				n.fit[t.Raw] = trimmed(t.Raw)
			}
		}
	}
	for _, call := range c.Calls {
		settle(call.ID, call.Answer.ByProvider(), -1)
	}
	for i, res := range c.Results {
		settle(res.ID, res.Answer.ByProvider(), p.Pairing.Results[i].Call)
	}
	// The later of several calls with one id are renamed; the first one keeps it.
	seen := map[string]bool{}
	for i, call := range c.Calls {
		t := p.idOf(int32(i))
		switch key := pairing.Key(t); {
		case key == "":
			h := fnv.New64a()
			fmt.Fprintf(h, "%s/%d/%s", cmp.Or(c.Seed, strconv.Itoa(c.Index)), i, call.Name.Text())
			minted := fmt.Sprintf("call_%012x", h.Sum64()&(1<<48-1))
			n.own[i] = p.fresh(p.fit(minted, minted))
		case seen[key]:
			n.own[i] = p.fresh(p.whole(t))
		default:
			seen[key] = true
		}
	}
	for i := range c.Calls {
		if t := p.idOf(int32(i)); n.own[i] == "" && n.used[pairing.Key(t)] > 1 {
			n.own[i] = p.fresh(p.whole(t))
		}
	}
	return n
}

// trimmed returns a JSON string without white space at its ends. Escapes stay as they are.
func trimmed(raw string) string {
	said, offset := source.Unescape([]byte(raw[1 : len(raw)-1]))
	from := len(said) - len(bytes.TrimLeftFunc(said, unicode.IsSpace))
	to := len(bytes.TrimRightFunc(said, unicode.IsSpace))
	return `"` + raw[1+offset(from):1+offset(to)] + `"`
}

// whole returns an id as the base of new ids, without halves of surrogate pairs.
func (p *Plan) whole(t transcript.Token) string {
	return strings.ReplaceAll(p.proper(t, false), "\uFFFD", "_")
}

// idOf returns the id of a call or, if it has none, of its result.
func (p *Plan) idOf(c int32) transcript.Token {
	id := p.Conv.Calls[c].ID
	if r := p.Pairing.Calls[c].Result; r >= 0 && pairing.Key(id) == "" {
		id = p.Conv.Results[r].ID
	}
	return id
}

// callAs returns the id that a call has after invalid ids are replaced.
func (p *Plan) callAs(c int32) transcript.Token {
	id := p.Conv.Calls[c].ID
	if raw := p.names.fit[id.Raw]; raw != "" {
		return transcript.Token{Raw: raw}
	}
	return id
}

// partners returns the results whose id differs from the id of their calls, for the calls
// with the id raw. They are renamed too.
func (p *Plan) partners(raw string) []int32 {
	var out []int32
	for _, c := range p.names.calls[raw] {
		for _, r := range p.answers[c] {
			if p.Conv.Results[r].ID.Raw != raw {
				out = append(out, r)
			}
		}
	}
	return out
}

// fresh returns an id that no call or result of the conversation has, except partners, and
// that was not chosen before.
func (p *Plan) fresh(id string, partners ...int32) string {
	n := p.names
	used := func(id string) bool {
		others := n.used[id]
		for _, r := range partners {
			if id == pairing.Key(p.Conv.Results[r].ID) {
				others--
			}
		}
		return others > 0
	}
	sep := "-"
	if !p.Profile.IDChars.Allows(sep) {
		sep = ""
	}
	out := id
	// Many calls may want the same id, so the search continues from the last number.
	for k := max(2, n.next[id]); used(out); k++ {
		numbered := id + sep + strconv.Itoa(k)
		out = p.fit(numbered, numbered)
		n.next[id] = k
	}
	n.used[out] += 2 // even if one result has it
	return out
}

// renamePairs gives calls and their results unique ids. If the order does not show which
// results belong to a call, that is a guess, which guess allows.
func (d *draft) renamePairs(calls []int32, guess bool) bool {
	did := false
	for _, c := range calls {
		own := d.made().own[c]
		if own == "" || !guess && !d.behind(c) {
			continue
		}
		did = true
		d.setCallID(c, source.Quote(own))
		for _, r := range d.answers[c] {
			d.setResultID(r, source.Quote(own))
		}
	}
	return did
}

// renameAll replaces every use of an id by the valid one, including the ids of results that
// answer its calls under another id. If the id of the call is valid, the id of the result is
// replaced.
func (d *draft) renameAll(do *operation.RenameID) bool {
	var old transcript.Token
	server := false
	if do.Call >= 0 {
		old, server = d.Conv.Calls[do.Call].ID, d.Conv.Calls[do.Call].Answer.ByProvider()
	}
	if do.Result >= 0 && d.made().fit[old.Raw] == "" {
		old = d.Conv.Results[do.Result].ID
	}
	raw := d.made().fit[old.Raw]
	if raw == "" {
		return false
	}
	for _, c := range d.made().calls[old.Raw] {
		if d.Conv.Calls[c].Answer.ByProvider() != server {
			continue
		}
		d.setCallID(c, raw)
		for _, r := range d.answers[c] {
			id := d.Conv.Results[r].ID
			if key := pairing.Key(id); id.Raw != old.Raw && key != "" && key != (transcript.Token{Raw: raw}).Text() {
				d.setResultID(r, raw)
			}
		}
	}
	for _, r := range d.made().results[old.Raw] {
		if d.Conv.Results[r].Answer.ByProvider() == server {
			d.setResultID(r, raw)
		}
	}
	if d.Log != nil {
		c := d.log()
		c.renamed = append(c.renamed, [2]string{old.Raw, raw})
	}
	return true
}

// proper returns an id in the form that the profile requires. server says that the provider
// runs the tool.
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

// fit makes an id that the profile accepts. If the id must be shortened, a hash of the text
// of keeps it unique.
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

// mint gives calls and their results an id if they have none.
func (d *draft) mint(do *operation.MintIDs) bool {
	did := false
	for i, c := range do.Calls {
		if !d.behind(c) {
			continue
		}
		did = true
		results := d.answers[c]
		if i < len(do.Results) && do.Results[i] >= 0 && !slices.Contains(results, do.Results[i]) {
			results = append(slices.Clone(results), do.Results[i])
		}
		// If one side has an id, the other side gets the same one, unless other calls or
		// results of the conversation have it too.
		id, n := d.idOf(c), d.made()
		raw := id.Raw
		if pairing.Key(id) == "" || len(n.calls[raw])+len(n.results[raw]) > 1 {
			raw = source.Quote(n.own[c])
		}
		if d.Conv.Calls[c].ID.Raw != raw {
			d.setCallID(c, raw)
		}
		for _, r := range results {
			if d.Conv.Results[r].ID.Raw != raw && d.Conv.OwnCall(r) < 0 {
				d.setResultID(r, raw)
			}
		}
	}
	return did
}

// relink makes a result answer a call, which must have an id.
func (d *draft) relink(r, c int32) bool {
	call := &d.Conv.Calls[c]
	if pairing.Key(call.ID) == "" {
		return false // it gets an id first
	}
	d.over = append(d.over, d.Conv.Blocks[call.Block].Span) // the call gets an answer
	d.setResultID(r, call.ID.Raw)
	return true
}

// setResultID sets the id of a result, in every field that holds it.
func (d *draft) setResultID(r int32, raw string) {
	res := &d.Conv.Results[r]
	d.setID(res.ID, res.Block, d.keys(res.Message).ResultID, raw)
	for i := range d.Conv.Aliases {
		if a := &d.Conv.Aliases[i]; a.Result == r {
			d.setToken(a.ID, "", raw)
		}
	}
}

// setCallID sets the id of a call and of its copies.
func (d *draft) setCallID(c int32, raw string) {
	call := &d.Conv.Calls[c]
	d.setID(call.ID, call.Block, d.keys(call.Message).ID, raw)
	for _, cp := range d.copiesOf(c) {
		d.setToken(cp.ID, cp.IDKey, raw)
	}
}

// setID writes the id of a block. If there is none yet, it adds one under the usual key,
// unless the dialect names another.
func (d *draft) setID(id transcript.Token, block int32, key, raw string) {
	if k, ok := d.driver.(dialect.IDKeyer); ok && !id.Present() {
		blk := &d.Conv.Blocks[block]
		key = cmp.Or(k.IDKey(d.value(blk.Message), blk.Span), key)
	}
	d.setToken(id, key, raw)
}

// copiesOf returns the copies of a call. Copies are sorted by message.
func (p *Plan) copiesOf(c int32) []transcript.Copy {
	all, m := p.Conv.Copies, p.Conv.Calls[c].Message
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

// addFirst returns the edit that adds a field to an object, as the first one.
func (d *draft) addFirst(v source.Value, key, raw string) edit.Edit {
	st := styleOf(v)
	at, end, sep := v.Span().Start+1, int64(0), ""
	for k, val := range v.Members() {
		if end > 0 {
			sep = d.src.text(end, k.Span().Start)
			break
		}
		at, end, sep = k.Span().Start, val.Span().End, st.comma
	}
	return edit.Edit{Span: source.Span{Start: at, End: at}, Text: []byte(source.Quote(key) + st.colon + raw + sep)}
}
