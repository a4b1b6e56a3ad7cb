package pairing

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A chooser makes the choices of the generator, from a seed or from bytes until they are
// used up.
type chooser struct {
	state uint64
	bytes []byte
	fuzz  bool
}

// n returns a number below most.
func (c *chooser) n(most int) int {
	if c.fuzz {
		if len(c.bytes) == 0 {
			return 0
		}
		b := c.bytes[0]
		c.bytes = c.bytes[1:]
		return int(b) % most
	}
	// splitmix64
	c.state += 0x9E3779B97F4A7C15
	z := c.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return int((z ^ z>>31) % uint64(most))
}

// one returns true with probability 1/most.
func (c *chooser) one(most int) bool { return c.n(most) == most-1 }

func (c *chooser) raw(list []string) string { return list[c.n(len(list))] }

// A maker makes conversations.
type maker struct {
	*chooser
	*transcript.Builder
	segment int32
	turns   int
	// want maps each call of a sound conversation to its result.
	want map[int32]int32
}

func newMaker(ch *chooser, w transcript.Window) *maker {
	c := &transcript.Conversation{Window: w, Merged: w == transcript.WindowUser && ch.one(2)}
	return &maker{chooser: ch, Builder: transcript.NewBuilder(c), want: map[int32]int32{}}
}

// message begins a message. Elements with the same nonempty turn belong together.
func (m *maker) message(r transcript.Role, turn string, flags transcript.MessageFlags) {
	msg := m.Begin(source.Value{}, source.Value{}, r, turn)
	msg.Segment, msg.Flags = m.segment, flags
}

// newTurn returns a name for a turn of several messages.
func (m *maker) newTurn() string {
	m.turns++
	return fmt.Sprint("turn ", m.turns)
}

func (m *maker) text() { m.Block(transcript.BlockText, source.Value{}, 0) }

// call adds a call. args distinguishes calls with the same name.
func (m *maker) call(id, name string, args int64) int32 {
	m.Call(source.Value{}, transcript.Call{
		ID: transcript.Token{Raw: id}, Name: transcript.Token{Raw: name},
		Args: source.Span{Start: args, End: args + 1},
	}, 0)
	return int32(len(m.Conv.Calls) - 1)
}

func (m *maker) result(id, name string) int32 {
	m.Result(source.Value{}, transcript.Result{ID: transcript.Token{Raw: id}, Name: transcript.Token{Raw: name}})
	return int32(len(m.Conv.Results) - 1)
}

// sameArgs reports which generated calls are copies of each other.
func sameArgs(c *transcript.Conversation) func(a, b int) bool {
	return func(a, b int) bool {
		return c.Calls[a].Name.Raw == c.Calls[b].Name.Raw && c.Calls[a].Args == c.Calls[b].Args
	}
}

var windows = []transcript.Window{transcript.WindowTool, transcript.WindowUser, transcript.WindowNext, transcript.WindowLog}

// sound makes a conversation in which every call has its result in its window.
func sound(ch *chooser) *maker {
	m := newMaker(ch, windows[ch.n(len(windows))])
	for range 1 + m.n(6) {
		switch m.n(6) {
		case 0:
			m.message(transcript.RoleUser, "", transcript.MessageTyped)
			m.text()
		case 1:
			m.message(transcript.RoleAssistant, "", 0)
			m.text()
		case 2:
			if m.Conv.Window == transcript.WindowLog {
				m.segment++
			}
		default:
			m.soundTurn()
		}
	}
	return m
}

// soundTurn makes a turn with its results. Ids are reused in each turn.
func (m *maker) soundTurn() {
	ids := []string{`"call_0"`, `"call_1"`, `"functions.f:2"`, `" x"`, `4`, `"\u0066\n"`}
	ids = ids[:1+m.n(len(ids))]
	m.shuffle(ids)
	names := []string{"", `"f"`, `"g"`}
	turn, several := "", false
	switch m.Conv.Window {
	case transcript.WindowLog:
		turn, several = m.newTurn(), m.one(2)
	case transcript.WindowNext:
		turn, several = m.newTurn(), m.one(2) // consecutive items
	case transcript.WindowUser:
		several = m.Conv.Merged && m.one(2) // consecutive turns
	}
	m.message(transcript.RoleAssistant, turn, 0)
	if m.one(3) {
		m.serverPair()
	}
	var calls []int32
	var due []int // calls without a result so far
	for k, id := range ids {
		if k > 0 && several {
			// A log can have results of a turn between its messages.
			for m.Conv.Window == transcript.WindowLog && len(due) > 0 && m.one(3) {
				m.soundResult(ids, names, calls, &due)
			}
			m.message(transcript.RoleAssistant, turn, 0)
		}
		calls = append(calls, m.call(id, m.raw(names), int64(k)))
		due = append(due, k)
		if m.one(4) {
			m.text()
		}
	}
	for begun := false; len(due) > 0; begun = true {
		m.wedge()
		if !begun || m.Conv.Window != transcript.WindowUser || m.one(3) {
			m.soundMessage()
		}
		m.soundBlock(ids, names, calls, &due)
	}
}

// wedge adds messages that may occur among results.
func (m *maker) wedge() {
	switch w := m.Conv.Window; {
	case !m.one(4):
	case w == transcript.WindowUser:
		m.message(transcript.RoleUser, "", 0)
		m.text()
	case w == transcript.WindowNext || w == transcript.WindowLog:
		m.message(transcript.RoleUser, "", transcript.MessageTyped)
		m.text()
		if m.one(2) {
			m.message(transcript.RoleAssistant, "", 0)
			m.text()
		}
	}
	if m.one(8) {
		m.message(transcript.RoleAssistant, "", transcript.MessageReplay)
		m.call(`"call_0"`, "", 0)
		m.message(transcript.RoleTool, "", transcript.MessageReplay)
		m.result(`"call_0"`, "")
	}
}

func (m *maker) soundMessage() {
	role := transcript.RoleTool
	if w := m.Conv.Window; w == transcript.WindowUser || w == transcript.WindowLog {
		role = transcript.RoleUser
	}
	m.message(role, "", 0)
	if m.one(6) && role == transcript.RoleUser {
		m.text()
	}
}

func (m *maker) soundResult(ids, names []string, calls []int32, due *[]int) {
	m.soundMessage()
	m.soundBlock(ids, names, calls, due)
}

// soundBlock adds the result of one of the calls in due.
func (m *maker) soundBlock(ids, names []string, calls []int32, due *[]int) {
	if m.Message().Has(transcript.MessageReplay) || m.Message().Role == transcript.RoleAssistant {
		m.soundMessage()
	}
	at := m.n(len(*due))
	k := (*due)[at]
	*due = append((*due)[:at], (*due)[at+1:]...)
	m.want[calls[k]] = m.result(ids[k], m.raw(names))
}

func (m *maker) serverPair() {
	id := m.raw([]string{`"srvtoolu_1"`, `"srvtoolu_2"`, `"call_0"`})
	call, result := m.server(id, true), m.server(id, false)
	m.want[call] = result
}

// server adds a call or a result of a tool that the provider runs.
func (m *maker) server(id string, call bool) int32 {
	t := transcript.Token{Raw: id}
	if call {
		m.Call(source.Value{}, transcript.Call{ID: t, Answer: transcript.AnswerProvider, Kind: transcript.KindServer}, 0)
		return int32(len(m.Conv.Calls) - 1)
	}
	m.Result(source.Value{}, transcript.Result{ID: t, Answer: transcript.AnswerProvider, Kind: transcript.KindServer})
	return int32(len(m.Conv.Results) - 1)
}

func (m *maker) shuffle(list []string) {
	for i := len(list) - 1; i > 0; i-- {
		j := m.n(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}

// wildIDs are the ids of broken conversations, some of them repeated.
var wildIDs = []string{
	`"a"`, `"a"`, `"a"`, `"a"`, `"b"`, `"b"`, `"b"`, `"c"`, `"c"`, `"d"`, `"e"`, "", "", `""`,
	`"\u0061"`, `" a"`, `"a\t"`, `"\u00a0a "`, `"b\n"`, `null`, `"null"`, `"\u006eull"`, `" "`, `1`, `"1"`, `" 1"`, `"\u00001"`,
}

var wildNames = []string{"", "", `"f"`, `"f"`, `"g"`, `"h"`, `null`, `""`, `"\u0066"`}

// wild makes a conversation that can be broken in every way that the types permit.
func wild(ch *chooser) *maker {
	m := newMaker(ch, windows[ch.n(len(windows))])
	// With few ids they collide, and with few flaws most of a conversation stays intact.
	ids := wildIDs[:4+m.n(len(wildIDs)-3)]
	if m.one(6) {
		ids = wildIDs[11:14]
	}
	turns := []string{}
	for range 1 + m.n(9) {
		switch m.n(16) {
		case 0:
			m.message(transcript.RoleUser, "", 0)
			m.text()
		case 1:
			m.message(transcript.RoleUser, "", transcript.MessageTyped)
			m.text()
		case 2:
			m.message(transcript.RoleAssistant, "", 0)
			m.text()
		case 3, 4, 5:
			m.wildMessage(ids)
		case 6:
			m.segment++
		case 7:
			if len(turns) > 0 {
				m.wildTurn(m.raw(turns), ids, false)
			}
		default:
			turn := ""
			if m.one(2) {
				turn = m.newTurn()
				turns = append(turns, turn)
			}
			m.wildTurn(turn, ids, true)
		}
	}
	m.flaws()
	return m
}

// wildTurn makes an assistant message and usually results for its calls.
func (m *maker) wildTurn(turn string, ids []string, results bool) {
	flags := transcript.MessageFlags(0)
	if m.one(12) {
		flags = transcript.MessageAborted
	}
	m.message(transcript.RoleAssistant, turn, flags)
	var of []transcript.Call
	for range m.n(4) {
		switch m.n(10) {
		case 0:
			m.server(m.raw(ids), m.one(2))
		case 1:
			m.text()
		case 2:
			m.result(m.raw(ids), "") // in the wrong role
		default:
			of = append(of, m.Conv.Calls[m.call(m.raw(ids), m.raw(wildNames), int64(m.n(2)))])
		}
	}
	if m.one(16) && len(m.Conv.Calls) > 0 {
		a := &m.Conv.Calls[len(m.Conv.Calls)-1].Answer
		if *a == transcript.AnswerProvider {
			*a = transcript.AnswerProviderRecord
		} else {
			*a = transcript.AnswerNone
		}
	}
	if m.one(16) && len(of) > 0 {
		if a := &m.Conv.Calls[len(m.Conv.Calls)-1].Answer; *a == transcript.AnswerByID {
			*a = transcript.AnswerLater
		}
	}
	for results && len(of) > 0 {
		k := m.n(len(of) + 1)
		if k == len(of) {
			break // the other results are missing, or come later by chance
		}
		if m.one(6) {
			m.message(transcript.RoleUser, "", 0)
			m.text()
		}
		m.message(m.answers(), "", 0)
		m.result(of[k].ID.Raw, m.raw([]string{of[k].Name.Raw, ""}))
		if !m.one(8) {
			of = append(of[:k], of[k+1:]...)
		}
	}
}

// answers chooses the role of a message with results.
func (m *maker) answers() transcript.Role {
	if m.one(12) {
		return []transcript.Role{transcript.RoleAssistant, transcript.RoleSystem, transcript.RoleNone, transcript.RoleOther}[m.n(4)]
	}
	if m.Conv.Window == transcript.WindowUser || m.Conv.Window == transcript.WindowLog {
		return []transcript.Role{transcript.RoleUser, transcript.RoleUser, transcript.RoleUser, transcript.RoleTool}[m.n(4)]
	}
	return []transcript.Role{transcript.RoleTool, transcript.RoleTool, transcript.RoleTool, transcript.RoleUser}[m.n(4)]
}

// wildMessage makes a message with arbitrary blocks.
func (m *maker) wildMessage(ids []string) {
	flags := transcript.MessageFlags(0)
	if m.one(6) {
		flags = transcript.MessageForeign
	}
	m.message(m.answers(), "", flags)
	for range m.n(4) {
		switch m.n(10) {
		case 0:
			m.text()
		case 1:
			m.call(m.raw(ids), m.raw(wildNames), int64(m.n(2)))
		case 2:
			m.server(m.raw(ids), m.one(2))
		default:
			m.result(m.raw(ids), m.raw(wildNames))
		}
	}
}

// flaws marks messages as replays and lets a compaction keep some.
func (m *maker) flaws() {
	for m.one(3) && len(m.Conv.Messages) > 0 {
		msg := &m.Conv.Messages[m.n(len(m.Conv.Messages))]
		if m.one(2) {
			msg.Flags |= transcript.MessageReplay
		} else {
			msg.Segment = m.segment
		}
	}
}

// respell spells every id differently with the same meaning.
func respell(c *transcript.Conversation, spell func(string) string) *transcript.Conversation {
	out := *c
	out.Calls = append([]transcript.Call(nil), c.Calls...)
	out.Results = append([]transcript.Result(nil), c.Results...)
	for i := range out.Calls {
		out.Calls[i].ID.Raw = spell(out.Calls[i].ID.Raw)
	}
	for i := range out.Results {
		out.Results[i].ID.Raw = spell(out.Results[i].ID.Raw)
	}
	return &out
}

// renamed returns a different id for each id. Absent ids stay absent, and white space at
// the ends stays.
func renamed(raw string) string {
	if refKey(transcript.Token{Raw: raw}) == "" {
		return raw
	}
	if raw[0] != '"' {
		return "7" + raw
	}
	var s string
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		panic(err)
	}
	core := strings.TrimSpace(s)
	if core == "" {
		return raw
	}
	lead, tail, _ := strings.Cut(s, core)
	out, err := json.Marshal(lead + fmt.Sprintf("renamed_%x", core) + tail)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// escaped writes every character of an id as an escape.
func escaped(raw string) string {
	if raw == "" || raw[0] != '"' {
		return raw
	}
	var s string
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		panic(err)
	}
	var out strings.Builder
	for _, r := range s {
		fmt.Fprintf(&out, `\u%04x`, r)
	}
	return `"` + out.String() + `"`
}
