package pairing

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/transcript"
)

// shapes are conversations of n calls. Each would make a careless implementation slow.
var shapes = []struct {
	name string
	make func(n int) *transcript.Conversation
}{
	{"calls and results in turn", func(n int) *transcript.Conversation {
		m := newMaker(&chooser{}, transcript.WindowTool)
		for i := range n {
			m.calls(1, id(i))
			m.answer(transcript.RoleTool, id(i), "")
		}
		return m.Conv
	}},
	{"one id in every turn", func(n int) *transcript.Conversation {
		m := newMaker(&chooser{}, transcript.WindowLog)
		for range n {
			m.calls(1, `"a"`)
			m.answer(transcript.RoleUser, `"a"`, "")
		}
		return m.Conv
	}},
	{"one turn", func(n int) *transcript.Conversation {
		m := newMaker(&chooser{}, transcript.WindowUser)
		m.message(transcript.RoleAssistant, "", 0)
		for i := range n {
			m.call(id(i), "", 0)
		}
		m.message(transcript.RoleUser, "", 0)
		for i := range n {
			m.result(id(i), "")
		}
		return m.Conv
	}},
	{"one turn of many messages", func(n int) *transcript.Conversation {
		m := newMaker(&chooser{}, transcript.WindowLog)
		for i := range n {
			m.message(transcript.RoleAssistant, "turn", 0)
			m.call(id(i), "", 0)
			m.answer(transcript.RoleUser, id(i), "")
		}
		return m.Conv
	}},
	{"one id in one turn, no result", oneID(0, "", false)},
	{"one id in one turn, too late", oneID(1, `"a"`, true)},
	{"one id in one turn, answered twice", oneID(2, `"a"`, false)},
	{"one id in one turn, results without one", oneID(2, "", false)},
	{"one id in one turn, trimmed", oneID(1, `" a"`, true)},
	{"one id, all results before the calls", func(n int) *transcript.Conversation {
		m := newMaker(&chooser{}, transcript.WindowTool)
		for range n {
			m.answer(transcript.RoleTool, `"a"`, "")
		}
		m.calls(n, `"a"`)
		return m.Conv
	}},
	{"one id, all results behind the turns", func(n int) *transcript.Conversation {
		m := newMaker(&chooser{}, transcript.WindowTool)
		for range n {
			m.calls(1, `"a"`)
		}
		m.message(transcript.RoleUser, "", 0)
		for range n {
			m.answer(transcript.RoleTool, `"a"`, "")
		}
		return m.Conv
	}},
	{"all results far away", func(n int) *transcript.Conversation {
		m := newMaker(&chooser{}, transcript.WindowTool)
		m.message(transcript.RoleAssistant, "", 0)
		for i := range n {
			m.call(id(i), "", 0)
		}
		for range n {
			m.message(transcript.RoleUser, "", 0)
			m.text()
		}
		for i := range n {
			m.answer(transcript.RoleTool, id(i), "")
		}
		return m.Conv
	}},
	{"ids on one side alone, and a call without", func(n int) *transcript.Conversation {
		m := newMaker(&chooser{}, transcript.WindowTool)
		m.message(transcript.RoleAssistant, "", 0)
		for i := range n {
			m.call(id(i), id(i), 0)
		}
		m.call("", "", 0)
		for i := range n {
			m.answer(transcript.RoleTool, id(n+i), id(i))
		}
		return m.Conv
	}},
	{"calls in messages that carry results", func(n int) *transcript.Conversation {
		m := newMaker(&chooser{}, transcript.WindowTool)
		for i := range n {
			m.message(transcript.RoleTool, "", 0)
			m.result(id(i), "")
			m.call(id(i), "", 0)
		}
		return m.Conv
	}},
	{"calls without ids in messages of users", func(n int) *transcript.Conversation {
		m := newMaker(&chooser{}, transcript.WindowLog)
		for range n {
			m.message(transcript.RoleUser, "", 0)
			m.call("", "", 0)
			m.call("", "", 0)
			m.result("", "")
		}
		return m.Conv
	}},
	{"turns that overlap", func(n int) *transcript.Conversation {
		m := newMaker(&chooser{}, transcript.WindowLog)
		for k := range 2 {
			for i := range n / 2 {
				m.message(transcript.RoleAssistant, strconv.Itoa(i), 0)
				m.call("", "", int64(k))
				m.answer(transcript.RoleUser, id(i), "")
			}
		}
		return m.Conv
	}},
	{"a compaction after every turn", func(n int) *transcript.Conversation {
		m := newMaker(&chooser{}, transcript.WindowLog)
		for i := range n {
			m.message(transcript.RoleAssistant, "turn", 0)
			m.call(id(i), "", 0)
			m.segment++
		}
		return m.Conv
	}},
	{"server tools of one id", func(n int) *transcript.Conversation {
		m := newMaker(&chooser{}, transcript.WindowUser)
		m.message(transcript.RoleAssistant, "", 0)
		for range n {
			m.server(`"s"`, true)
		}
		for range n {
			m.server(`"s"`, false)
		}
		return m.Conv
	}},
}

func id(i int) string { return fmt.Sprintf(`"call_%d"`, i) }

func (m *maker) calls(n int, id string) {
	m.message(transcript.RoleAssistant, "", 0)
	for i := range n {
		m.call(id, "", int64(i))
	}
}

func (m *maker) answer(r transcript.Role, id, name string) {
	m.message(r, "", 0)
	m.result(id, name)
}

// oneID makes a turn of n different calls with one id, and results for each.
func oneID(each int, result string, late bool) func(int) *transcript.Conversation {
	return func(n int) *transcript.Conversation {
		m := newMaker(&chooser{}, transcript.WindowTool)
		m.calls(n, `"a"`)
		if late {
			m.message(transcript.RoleUser, "", 0)
		}
		for range n * each {
			m.answer(transcript.RoleTool, result, "")
		}
		return m.Conv
	}
}

// TestShapes checks that pairing never panics for these shapes, and that it decides each
// call and result of a large one.
func TestShapes(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			c := s.make(10_000)
			p := Pair(c, sameArgs(c))
			for i, x := range p.Calls {
				if x.State == Answered && p.Results[x.Result] != (Leftover{Fate: Answers, Call: int32(i)}) {
					t.Fatalf("call %d has result %d, which is %+v", i, x.Result, p.Results[x.Result])
				}
			}
		})
	}
}

// BenchmarkPair measures large conversations. It also reports the ratio of the times to
// conversations of a tenth of the size: 10 if the work is linear, 100 if it is quadratic.
func BenchmarkPair(b *testing.B) {
	const n = 100_000
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			c, tenth := s.make(n), s.make(n/10)
			var small time.Duration
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				start := time.Now()
				Pair(tenth, sameArgs(tenth))
				small += time.Since(start)
				b.StartTimer()
				Pair(c, sameArgs(c))
			}
			b.ReportMetric(float64(b.Elapsed())/float64(small), "x/10x-calls")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(c.Calls)), "ns/call")
		})
	}
}
