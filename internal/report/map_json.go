package report

import (
	"io"
	"time"

	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/session"
	"github.com/toolguard/toolguard/internal/source"
)

// The lines of a map as JSON. Numbers of conversations, turns and messages count from 0, lines and
// records from 1. What is not known is null.
type (
	jsonSession struct {
		Type          string  `json:"type"`
		Version       int     `json:"version"`
		Path          string  `json:"path"`
		Dialect       *string `json:"dialect"`
		Container     string  `json:"container"`
		AgentVersion  *string `json:"agent_version"`
		Model         *string `json:"model"`
		Bytes         int64   `json:"bytes"`
		Start         *string `json:"start"`
		End           *string `json:"end"`
		Conversations int     `json:"conversations"`
		Calls         int     `json:"calls"`
		Results       int     `json:"results"`
	}
	// jsonThread is a conversation, or several rows in which nothing was found.
	jsonThread struct {
		Type         string  `json:"type"`
		Conversation int     `json:"conversation"`
		Rows         *int    `json:"rows"`
		Name         *string `json:"name"` // null for rows
		Line         int     `json:"line"`
		Record       int32   `json:"record"`
		Turns        int     `json:"turns"`
		Calls        int     `json:"calls"`
		Results      int     `json:"results"`
		Bytes        int64   `json:"bytes"`
		ParentCall   *string `json:"parent_call"`
	}
	jsonTurn struct {
		Type         string  `json:"type"`
		Conversation int     `json:"conversation"`
		Turn         int     `json:"turn"`
		Index        int32   `json:"index"` // of its first message
		Messages     int32   `json:"messages"`
		Line         int     `json:"line"`
		Record       int32   `json:"record"`
		Role         string  `json:"role"`
		Time         *string `json:"time"`
		Bytes        int64   `json:"bytes"`
		Text         *string `json:"text"`
		Sent         bool    `json:"sent"`
	}
	jsonCall struct {
		Type         string      `json:"type"`
		Conversation int         `json:"conversation"`
		Turn         int         `json:"turn"`
		Line         int         `json:"line"`
		Record       int32       `json:"record"`
		ID           string      `json:"id"`
		Tool         string      `json:"tool"`
		Arguments    *string     `json:"arguments"`
		State        string      `json:"state"`
		Misplaced    bool        `json:"misplaced"`
		Result       *jsonResult `json:"result"`
	}
	jsonResult struct {
		Turn        int    `json:"turn"`
		Line        int    `json:"line"`
		Record      int32  `json:"record"`
		Bytes       int64  `json:"bytes"`
		MS          *int64 `json:"ms"`
		Error       bool   `json:"error"`
		Placeholder bool   `json:"placeholder"`
	}
	// jsonLoose is a result that answers no call, or one that has a result already.
	jsonLoose struct {
		Type         string `json:"type"`
		Conversation int    `json:"conversation"`
		Turn         int    `json:"turn"`
		Line         int    `json:"line"`
		Record       int32  `json:"record"`
		ID           string `json:"id"`
		Tool         string `json:"tool"`
		State        string `json:"state"`
		Bytes        int64  `json:"bytes"`
	}
	jsonEnd struct {
		Type     string `json:"type"`
		Findings int    `json:"findings"`
	}
)

// fates are the states of results that answer no call.
var fates = map[pairing.Fate]string{pairing.Duplicate: "duplicate", pairing.Orphan: "orphan", pairing.Undecided: "unclear"}

// MapJSON writes a session as JSON Lines: what it is, its turns, each with its calls and its other
// results, and the findings as the report has them.
func MapJSON(w io.Writer, src *source.Source, s *session.Session, opts MapOptions) error {
	m := newMapper(src, s, &opts)
	j := jsonl{w: w, opts: opts.Options}
	r := s.Report
	err := j.line(jsonSession{
		Type: "session", Version: jsonVersion, Path: r.Path, Dialect: known(r.File.Dialect), Container: r.File.Container,
		AgentVersion: known(opts.Version), Model: known(s.Model), Bytes: s.Size, Start: m.moment(s.First), End: m.moment(s.Last),
		Conversations: r.File.Conversations, Calls: r.Calls, Results: r.Results,
	})
	for i := range s.Threads {
		if t := &s.Threads[i]; err == nil && m.shown(t) {
			err = m.threadJSON(&j, t)
		}
	}
	n := 0
	for f := range r.Findings.All() {
		p := &s.Problems[n]
		n++
		if p.Thread >= 0 && !m.shown(&s.Threads[p.Thread]) || err != nil {
			continue
		}
		if opts.NoExcerpt {
			discreet(f)
		}
		err = j.line(jsonlFinding{"finding", finding(f)})
	}
	if err == nil {
		err = m.err
	}
	if err == nil {
		err = j.line(jsonEnd{"end", n})
	}
	return err
}

// threadJSON writes a thread.
func (m *mapper) threadJSON(j *jsonl, t *session.Thread) error {
	out := jsonThread{
		Type: "conversation", Conversation: t.Conversation, Name: known(t.Name), Line: m.line(t.At), Record: t.Record,
		Turns: t.Turns, Calls: t.Calls, Results: t.Results, Bytes: t.Bytes,
	}
	switch {
	case t.Folded:
		out.Type, out.Rows = "rows", &t.N
	case t.Name == "" && !t.Row:
		out.Name = known(mainName)
	}
	if t.Parent >= 0 {
		out.ParentCall = known(m.Calls[t.Parent].ID)
	}
	if m.opts.Only == nil {
		if err := j.line(out); err != nil {
			return err
		}
	}
	for i := t.TurnLo; i < t.TurnHi && m.err == nil; i++ {
		if err := m.turnJSON(j, t, i); err != nil {
			return err
		}
	}
	return m.err
}

// turnJSON writes a turn.
func (m *mapper) turnJSON(j *jsonl, t *session.Thread, i int32) error {
	m.ReadTimes(i, i+1)
	turn, n := &m.Turns[i], int(i-t.TurnLo)
	only := func(id string) bool { return m.opts.Only == nil || m.opts.Only(t, n, id) }
	if only("") {
		out := jsonTurn{
			Type: "turn", Conversation: t.Conversation, Turn: n, Index: turn.Message, Messages: turn.Messages, Line: m.line(turn.At.Start), Record: turn.Record,
			Role: turn.Role.String(), Time: m.moment(turn.Time), Bytes: turn.Bytes, Sent: !turn.Superseded,
		}
		if !m.opts.NoExcerpt {
			out.Text = known(session.Said(m.Bytes(turn.Text), turn.Text.Cut()))
		}
		if err := j.line(out); err != nil {
			return err
		}
	}
	for k := turn.CallLo; k < turn.CallHi; k++ {
		c := &m.Calls[k]
		if !only(c.ID) {
			continue
		}
		out := jsonCall{
			Type: "call", Conversation: t.Conversation, Turn: n, Line: m.line(c.At.Start), Record: c.Record, ID: c.ID, Tool: c.Tool,
			State: c.State.String(), Misplaced: c.Misplaced,
		}
		if !m.opts.NoExcerpt {
			out.Arguments = known(string(m.Bytes(c.Args)))
		}
		if r := &c.Result; !r.At.IsZero() {
			out.Result = &jsonResult{
				Turn: int(r.Turn - t.TurnLo), Line: m.line(r.At.Start), Record: r.Record, Bytes: r.Bytes, Error: r.Failed, Placeholder: r.Placeholder,
			}
			if r.MS >= 0 {
				out.Result.MS = &r.MS
			}
		}
		if err := j.line(out); err != nil {
			return err
		}
	}
	for k := turn.LooseLo; k < turn.LooseHi; k++ {
		l := &m.Loose[k]
		if !only(l.ID) {
			continue
		}
		out := jsonLoose{"result", t.Conversation, n, m.line(l.At.Start), l.Record, l.ID, l.Tool, fates[l.Fate], l.Bytes}
		if err := j.line(out); err != nil {
			return err
		}
	}
	return nil
}

// moment writes a time, in UTC.
func (m *mapper) moment(ms int64) *string {
	if ms == 0 {
		return nil
	}
	return known(time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z"))
}
