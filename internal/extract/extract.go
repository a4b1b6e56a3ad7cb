// Package extract reads what was said in a transcript, turn by turn: texts, calls with their arguments,
// and what their results say. It knows neither flags nor how any of this is written.
package extract

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/session"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
	"github.com/toolguard/toolguard/internal/trim"
)

// Options say what is read.
type Options struct {
	// Check are the options of the check.
	Check engine.Options
	// Scope reports whether a conversation is wanted; nil for all.
	Scope func(name string, conversation int) bool
	// Unsent also reads what the client no longer sends.
	Unsent bool
	// Only are the speakers that are wanted; empty for all.
	Only []string
	// ResultsMax is how many bytes of a result are kept.
	ResultsMax int
}

// Tools is the speaker of calls and results.
const Tools = "tools"

// Speakers lists the values of Options.Only.
func Speakers() []string { return []string{"system", "user", "assistant", Tools} }

// An Entry is what one turn says.
type Entry struct {
	Conversation int
	Name         string // of the conversation, "" if there is only one
	Dialect      string
	Turn         int // in the conversation, from 0
	At           int64
	Role         transcript.Role
	// Unsent says that the client no longer sends it.
	Unsent bool
	Texts  []string
	Media  int // images, files and the like
	Calls  []Call
	Loose  []Result // results without a call
}

// A Call is a call with its result.
type Call struct {
	ID, Tool string
	// Arguments are JSON, or a text if they are none.
	Arguments string
	State     session.State
	// Result is nil if there is none.
	Result *Result
}

// A Result is what a result says.
type Result struct {
	ID, Tool string
	Text     string
	// Bytes is the size of the whole text, of which Text may be a part.
	Bytes  int
	Cut    bool
	Failed bool
}

// LeftOut counts what was not read.
type LeftOut struct {
	Conversations int // out of scope
	Unsent        int // messages that the client no longer sends
	Media         int
	Reasoning     int
}

// An Extract is what was read.
type Extract struct {
	Report *engine.Report
	// Names are the names of the conversations, and Found how many are in scope.
	Names []string
	Found int
	LeftOut
	// Texts are how many texts were read.
	Texts int
	// Torn are the records that could not be read.
	Torn []Torn
}

// A Torn is a record that could not be read.
type Torn struct {
	Record int32 // from 1
	At     source.Span
}

// Read checks a source and passes what each turn says to take, in order.
func Read(ctx context.Context, src *source.Source, opts Options, take func(*Entry) error) (*Extract, error) {
	r := &reader{opts: opts, take: take}
	rep, err := engine.See(ctx, src, opts.Check, r.conversation)
	if err != nil {
		return nil, err
	}
	r.out.Report = rep
	if rep.File != nil {
		for _, f := range rep.File.Faults {
			if n := len(r.out.Torn); f.Unreadable() && (n == 0 || r.out.Torn[n-1].Record != f.Record) {
				r.out.Torn = append(r.out.Torn, Torn{f.Record, f.Whole})
			}
		}
	}
	return &r.out, nil
}

// A reader reads conversations.
type reader struct {
	opts Options
	take func(*Entry) error
	out  Extract
}

// wants reports whether a speaker is wanted.
func (r *reader) wants(speaker string) bool {
	return len(r.opts.Only) == 0 || slices.Contains(r.opts.Only, speaker)
}

// conversation reads a conversation.
func (r *reader) conversation(v *engine.View) error {
	if v.Name != "" {
		r.out.Names = append(r.out.Names, v.Name)
	}
	if r.opts.Scope != nil && !r.opts.Scope(v.Name, v.Index) {
		r.out.Conversations++
		return nil
	}
	r.out.Found++
	entries := make([]Entry, v.Turns)
	said := make([]bool, v.Turns) // whether a message of the turn is read
	skipped := make([]bool, len(v.Messages))
	for i := range v.Messages {
		m := &v.Messages[i]
		unsent := m.Has(transcript.MessageSuperseded) || m.Has(transcript.MessageOmitted)
		if unsent && !r.opts.Unsent || m.Has(transcript.MessageReplay) {
			skipped[i] = true
			if unsent {
				r.out.Unsent++
			}
			continue
		}
		e := &entries[m.Turn]
		if !said[m.Turn] {
			said[m.Turn] = true
			*e = Entry{
				Conversation: v.Index, Name: v.Name, Dialect: v.Conversation.Dialect, Turn: int(m.Turn),
				At: v.Origin(m.Span()).Start, Role: m.Role, Unsent: unsent,
			}
		}
		for b := m.BlockLo; b < m.BlockHi; b++ {
			switch v.Blocks[b].Kind {
			case transcript.BlockMedia:
				e.Media++
			case transcript.BlockReasoning:
				r.out.Reasoning++
			}
		}
		if speaker := m.Role.String(); r.wants(speaker) {
			for _, text := range session.Words(v, m) {
				e.Texts = append(e.Texts, clean(text))
			}
		} else {
			e.Media = 0
		}
	}
	if r.wants(Tools) {
		r.tools(v, entries, skipped)
	}
	notes := r.notes(v)
	for i := range entries {
		e := &entries[i]
		for said[i] && len(notes) > 0 && notes[0].At < e.At {
			notes[0].Turn = i
			if err := r.take(&notes[0]); err != nil {
				return err
			}
			notes = notes[1:]
		}
		r.out.Media += e.Media
		r.out.Texts += len(e.Texts)
		if len(e.Texts)+e.Media+len(e.Calls)+len(e.Loose) == 0 {
			continue
		}
		if err := r.take(e); err != nil {
			return err
		}
	}
	for i := range notes {
		notes[i].Turn = len(entries) - 1
		if err := r.take(&notes[i]); err != nil {
			return err
		}
	}
	return nil
}

// notes returns what the client sends of a conversation besides its messages. It sends that as the user.
func (r *reader) notes(v *engine.View) []Entry {
	var out []Entry
	for _, n := range v.Notes {
		if n.Unsent && !r.opts.Unsent {
			r.out.Unsent++
			continue
		}
		e := Entry{
			Conversation: v.Index, Name: v.Name, Dialect: v.Conversation.Dialect, At: n.Whole.Start,
			Role: transcript.RoleUser, Unsent: n.Unsent,
		}
		for _, text := range session.Texts(v.Value(n.Text)) {
			e.Texts = append(e.Texts, clean(text))
		}
		if len(e.Texts) > 0 && r.wants(e.Role.String()) {
			r.out.Texts += len(e.Texts)
			out = append(out, e)
		}
	}
	return out
}

// tools adds the calls of a conversation to their turns, and the results without a call.
func (r *reader) tools(v *engine.View, entries []Entry, skipped []bool) {
	for i := range v.Calls {
		c, x := &v.Calls[i], &v.Pairing.Calls[i]
		state := session.StateOf(c, x.State)
		if skipped[c.Message] || state == session.Repeated {
			continue
		}
		call := Call{ID: clean(c.ID.Text()), Tool: clean(c.Name.Text()), State: state}
		if !c.Args.IsZero() {
			call.Arguments = arguments(v.Value(c.Args))
		}
		if x.Result >= 0 {
			call.Result = r.result(v, x.Result)
		}
		e := &entries[v.Messages[c.Message].Turn]
		e.Calls = append(e.Calls, call)
	}
	for i := range v.Results {
		switch message := v.Results[i].Message; v.Pairing.Results[i].Fate {
		case pairing.Answers, pairing.Ignored, pairing.Update:
		default:
			if !skipped[message] {
				e := &entries[v.Messages[message].Turn]
				e.Loose = append(e.Loose, *r.result(v, int32(i)))
			}
		}
	}
}

// result reads a result.
func (r *reader) result(v *engine.View, i int32) *Result {
	res := &v.Results[i]
	out := &Result{ID: clean(res.ID.Text()), Tool: clean(res.Name.Text()), Failed: res.Error}
	payload := res.Payload
	if m := &v.Messages[res.Message]; m.Role == transcript.RoleTool {
		payload = cmp.Or(v.Replaced[m.Span().Start], payload)
	}
	if !payload.IsZero() {
		text := clean(session.Answer(v.Value(payload)))
		out.Text = trim.ShortenText(text, r.opts.ResultsMax)
		out.Bytes, out.Cut = len(text), out.Text != text
	}
	return out
}

// arguments returns the arguments of a call: the JSON in a text, or as they are.
func arguments(v source.Value) string {
	if v.Kind() == source.String {
		return clean(v.Str())
	}
	return clean(string(v.Raw()))
}

// clean returns a text in UTF-8 whose lines end as Unix ends them.
func clean(text string) string {
	if strings.Contains(text, "\r\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	return text
}
