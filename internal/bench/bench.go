// Package bench makes transcripts for measurements: session logs, rows of datasets and
// documents, of any size. The same seed gives the same bytes on every machine. It knows what
// such files look like, but not how they are read.
//
// The command in compare measures toolguard on them.
package bench

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A counter counts the bytes written.
type counter struct {
	w *bufio.Writer
	n int64
}

func count(w io.Writer) *counter { return &counter{w: bufio.NewWriterSize(w, 1<<18)} }

// Write implements io.Writer.
func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// Log writes one Claude Code session of about size bytes.
func Log(w io.Writer, seed uint64, size int64) error {
	return CallLog(w, seed, size, 0, 0)
}

// CallLog writes a log with additional short calls, spread evenly over it. Some of them, also
// spread evenly, have no result. The log is never compacted, because results that are missing
// before a compaction are not repaired.
func CallLog(w io.Writer, seed uint64, size int64, calls, unanswered int) error {
	c := count(w)
	s := newSession(seed)
	s.whole = calls > 0
	for done := 0; c.n < size || done < calls; {
		s.turn()
		for n := min(int64(calls), int64(calls)*c.n/size+1); int64(done) < n; done++ {
			s.shortCall((done+1)*unanswered/calls == done*unanswered/calls)
		}
		if err := s.flush(c); err != nil {
			return err
		}
	}
	if s.whole {
		s.turn() // otherwise the last call could still be running
		if err := s.flush(c); err != nil {
			return err
		}
	}
	return c.w.Flush()
}

// Sessions writes small logs to folders below dir, as agents keep them. They are 16 to 100 KB
// long.
func Sessions(dir string, seed uint64, files int) error {
	r := random{seed}
	for i := range files {
		folder := filepath.Join(dir, fmt.Sprintf("-home-dev-%03d", i/40))
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		f, err := os.Create(filepath.Join(folder, r.uuid()+".jsonl"))
		if err != nil {
			return err
		}
		size := int64(r.size([]int{20000, 22000, 25000, 31000, 37000, 44000, 51000, 60000, 70000, 84000, 100000}))
		err = smallLog(f, r.next(), size)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// smallLog writes a log that is at most size bytes long, and not much shorter.
func smallLog(w io.Writer, seed uint64, size int64) error {
	c := count(w)
	for s := newSession(seed); c.n < size/5*4; {
		last := s.parent
		s.turn()
		if c.n+int64(len(s.buf)) > size {
			s.buf, s.parent = s.buf[:0], last
			continue
		}
		if err := s.flush(c); err != nil {
			return err
		}
	}
	return c.w.Flush()
}

// rows writes rows of at least size bytes in all.
func rows(w io.Writer, seed uint64, size int64, row func(r *random, l layout) object) error {
	c, r := count(w), &random{seed}
	var b []byte
	for c.n < size {
		l := layout{}
		if r.one(2) {
			l = python()
		}
		b = append(l.write(b[:0], row(r, l), 0), '\n')
		if _, err := c.Write(b); err != nil {
			return err
		}
	}
	return c.w.Flush()
}

// ChatRows writes rows for fine-tuning with OpenAI's API. Half of them are formatted as in
// JavaScript, half as in Python.
func ChatRows(w io.Writer, seed uint64, size int64) error { return rows(w, seed, size, chatRow) }

// ShareGPTRows writes rows for fine-tuning with LLaMA-Factory. Half of them are formatted as
// in JavaScript, half as in Python.
func ShareGPTRows(w io.Writer, seed uint64, size int64) error {
	return rows(w, seed, size, shareGPTRow)
}

// ChatDocument writes one request to OpenAI's chat API on one line, with at least the given
// number of messages. Each takes about 350 bytes.
func ChatDocument(w io.Writer, seed uint64, messages int) error {
	r := &random{seed}
	n := 0
	return document(w, layout{}, object{{"model", "gpt-5"}}, func(_ int64) list {
		if n >= messages {
			return nil
		}
		more := r.chatTurn(r.shortTool(), layout{}, []int{65, 130, 220, 350, 550, 1150})
		n += len(more)
		return more
	})
}

// MessagesDocument writes one indented request to Anthropic's API of about
// size bytes.
func MessagesDocument(w io.Writer, seed uint64, size int64) error {
	r := &random{seed}
	return document(w, layout{indent: 2}, object{{"model", "claude-opus-4-6"}, {"max_tokens", 8192}}, func(written int64) list {
		if written >= size {
			return nil
		}
		return r.messagesTurn()
	})
}

// document writes an object whose last field is the list of messages. next returns the next
// messages, or none at the end.
func document(w io.Writer, l layout, head object, next func(written int64) list) error {
	c := count(w)
	b := l.write(nil, append(head, field{"messages", list{}}), 0)
	end := len("]}")
	if l.indent > 0 {
		end += len("\n")
	}
	b = b[:len(b)-end]
	index := 0
	for more := next(c.n); more != nil; more = next(c.n) {
		for _, m := range more {
			b = l.write(l.separate(b, index, 2), m, 2)
			index++
		}
		if _, err := c.Write(b); err != nil {
			return err
		}
		b = b[:0]
	}
	b = append(l.line(append(l.line(b, 1), ']'), 0), '}', '\n')
	if _, err := c.Write(b); err != nil {
		return err
	}
	return c.w.Flush()
}
