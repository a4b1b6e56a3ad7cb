// Package serve answers requests to check, repair, filter and trim transcripts: one line of JSON
// each, and one line for each answer, in the order of the requests. It knows the protocol, how many
// requests are in work at a time, and how much memory those have that wait. It knows no files.
package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/rules"
)

// A Server answers requests.
type Server struct {
	Program string // its version
	// MaxRequest is the size of the longest request. Requests and answers that wait take
	// as much memory again, and one more request.
	MaxRequest int64
	Jobs       int // how many requests are in work at a time
	// Internal returns the message about a panic.
	Internal func(*contain.Error) string
	// Dialects and Rules are those that there are; nil for all.
	Dialects *dialect.Set
	Rules    []*rules.Rule
}

// headOfLine is how much is kept of a line that is too long: its id may be there.
const headOfLine = 4 << 10

// overhead is what a waiting request takes besides its text.
const overhead = 256

// writeAt is how many bytes of answers are collected before they are written.
const writeAt = 64 << 10

// A job is a request and its answer. It is first one and then the other.
type job struct {
	line []byte
	long bool // the line was too long; this is its head
	size int64
	done bool
}

// A queue holds the jobs that wait.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	held    int64 // by all jobs
	todo    []*job
	order   []*job // all jobs, in the order of the requests
	ended   bool   // there are no more requests
	err     error  // ends everything
}

func newQueue() *queue {
	q := &queue{}
	q.changed.L = &q.mu
	return q
}

// stop ends everything with an error, which is nil if the reader of the answers has gone.
func (q *queue) stop(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil {
		q.err = err
	}
	q.changed.Broadcast()
}

// Run reads requests until in ends, and returns when all are answered. It returns soon after ctx
// is done, and after an error of in or out.
func (s *Server) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	q := newQueue()
	failed := func(caught *contain.Error) { q.stop(caught) }
	defer context.AfterFunc(ctx, func() { q.stop(ctx.Err()) })()
	contain.Go(func() { s.read(in, q) }, failed)
	for range s.Jobs {
		contain.Go(func() { s.work(ctx, q) }, failed)
	}
	return write(out, q)
}

// read puts requests into the queue. It waits while the queue is full.
func (s *Server) read(in io.Reader, q *queue) {
	r := bufio.NewReaderSize(in, 256<<10)
	for {
		j, err := s.next(r)
		if j != nil && !q.add(j, s.MaxRequest) {
			return
		}
		if err != nil {
			q.mu.Lock()
			q.ended = true
			if !errors.Is(err, io.EOF) && q.err == nil {
				q.err = fmt.Errorf("standard input: %w", err)
			}
			q.changed.Broadcast()
			q.mu.Unlock()
			return
		}
	}
}

// next reads a line. The job is nil for a blank one.
func (s *Server) next(r *bufio.Reader) (*job, error) {
	j := &job{}
	for {
		part, err := r.ReadSlice('\n')
		if !j.long && int64(len(j.line)+len(bytes.TrimRight(part, "\r\n"))) > s.MaxRequest {
			j.line = append(j.line, part[:min(len(part), headOfLine)]...)
			j.line, j.long = bytes.Clone(j.line[:min(len(j.line), headOfLine)]), true
		}
		if !j.long {
			j.line = append(j.line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(bytes.TrimSpace(j.line)) == 0 {
			j = nil
		}
		return j, err
	}
}

// add adds a job when there is room for it. It reports whether to go on.
func (q *queue) add(j *job, most int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	j.size = int64(len(j.line)) + overhead
	for q.held > 0 && q.held+j.size > most && q.err == nil {
		q.changed.Wait()
	}
	q.held += j.size
	q.todo, q.order = append(q.todo, j), append(q.order, j)
	q.changed.Broadcast()
	return q.err == nil
}

// work answers requests.
func (s *Server) work(ctx context.Context, q *queue) {
	for {
		q.mu.Lock()
		for len(q.todo) == 0 && !q.ended && q.err == nil {
			q.changed.Wait()
		}
		if len(q.todo) == 0 || q.err != nil {
			q.mu.Unlock()
			return
		}
		j := q.todo[0]
		q.todo = q.todo[1:]
		q.mu.Unlock()
		answer := s.answer(ctx, j)
		q.mu.Lock()
		j.line, j.done = answer, true
		q.held += int64(len(answer)) + overhead - j.size
		j.size = int64(len(answer)) + overhead
		q.changed.Broadcast()
		q.mu.Unlock()
	}
}

// write writes the answers. Those that are ready go out together.
func write(out io.Writer, q *queue) error {
	var text []byte
	for {
		q.mu.Lock()
		for (len(q.order) == 0 || !q.order[0].done) && !(len(q.order) == 0 && q.ended) && q.err == nil {
			q.changed.Wait()
		}
		if len(q.order) == 0 || q.err != nil {
			defer q.mu.Unlock()
			return q.err
		}
		text = text[:0]
		size := int64(0)
		for len(q.order) > 0 && q.order[0].done && len(text) < writeAt {
			j := q.order[0]
			q.order[0], q.order = nil, q.order[1:]
			size += j.size
			if len(text) == 0 && len(j.line) >= writeAt {
				text = j.line // no copy
				break
			}
			text = append(text, j.line...)
		}
		q.mu.Unlock()
		_, err := out.Write(text)
		if cap(text) > 4*writeAt {
			text = nil
		}
		q.mu.Lock()
		q.held -= size
		q.changed.Broadcast()
		q.mu.Unlock()
		if err != nil {
			q.stop(err)
			return err
		}
	}
}
