package serve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/report"
)

// The codes of errors.
const (
	codeTooLarge      = "too-large"      // the line is longer than the limit
	codeBroken        = "broken"         // the line is not a JSON object
	codeVersion       = "version"        // the request has another version
	codeBad           = "bad-request"    // an operation, a field or a value is wrong
	codeNotTranscript = "not-transcript" // the input is not a transcript, or not certainly one
	codeRefused       = "refused"        // the input is a transcript, but not one for this
	codeInternal      = "internal"       // a fault of toolguard
)

// Codes lists the codes of errors.
func Codes() []string {
	return []string{codeTooLarge, codeBroken, codeVersion, codeBad, codeNotTranscript, codeRefused, codeInternal}
}

// A failure is the error in an answer.
type failure struct{ code, message string }

// Error implements error.
func (f failure) Error() string { return f.message }

// bad returns the error for a field.
func bad(field, message string) error { return failure{codeBad, field + ": " + message} }

// An object is a JSON object that is written field by field, so that parts of transcripts are
// neither read nor written again.
type object struct {
	b   []byte
	err error
}

// raw adds a field whose value is JSON.
func (o *object) raw(key string, value []byte) {
	o.b = append(o.b, ',', '"')
	o.b = append(o.b, key...)
	o.b = append(o.b, '"', ':')
	o.b = append(o.b, value...)
}

// add adds a field.
func (o *object) add(key string, value any) {
	b, err := report.JSON(value)
	o.err = cmp.Or(o.err, err)
	o.raw(key, b)
}

// line returns the object as a line.
func (o *object) line() ([]byte, error) {
	o.b[0] = '{' // for the comma before the first field
	return append(o.b, '}', '\n'), o.err
}

// newAnswer begins the answer to a request.
func newAnswer(id []byte) *object {
	o := &object{}
	o.raw("v", strconv.AppendInt(nil, Version, 10))
	if id == nil {
		id = []byte("null")
	}
	o.raw("id", id)
	return o
}

// flat returns JSON without line ends. Outside of strings they are white space, and inside there are none.
func flat(text []byte) []byte {
	text = bytes.TrimSpace(text)
	if bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	return bytes.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, text)
}

// answer returns the answer to a job, which is one line.
func (s *Server) answer(ctx context.Context, j *job) []byte {
	var id []byte
	var line []byte
	err := contain.Do(func() error {
		if j.long {
			id = idIn(j.line)
			return failure{codeTooLarge, fmt.Sprintf("expected a line of at most %d bytes", s.MaxRequest)}
		}
		r, err := parse(j.line)
		id = r.id
		if err != nil {
			return err
		}
		out := newAnswer(id)
		if err := r.op.run(ctx, s, r, out); err != nil {
			return err
		}
		line, err = out.line()
		return err
	})
	if err == nil {
		return line
	}
	f := failure{codeRefused, err.Error()}
	if caught := contain.From(err); caught != nil {
		f = failure{codeInternal, s.Internal(caught)}
	}
	errors.As(err, &f)
	out := newAnswer(id)
	out.add("error", struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}{f.code, f.message})
	line, _ = out.line() // two texts can be encoded
	return line
}
