package pairing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/transcript"
)

// sketch returns a short form of a conversation, for failure messages.
func sketch(c *transcript.Conversation) string {
	var out strings.Builder
	fmt.Fprintf(&out, "window %d\n", c.Window)
	for i, m := range c.Messages {
		fmt.Fprintf(&out, "%3d %-9s turn %d segment %d flags %d:", i, m.Role, m.Turn, m.Segment, m.Flags)
		for b := m.BlockLo; b < m.BlockHi; b++ {
			ref := c.Blocks[b].Ref
			switch c.Blocks[b].Kind {
			case transcript.BlockCall, transcript.BlockServerCall:
				x := c.Calls[ref]
				fmt.Fprintf(&out, "  call %d {%s %s %d answer %d}", ref, x.ID.Raw, x.Name.Raw, x.Args.Start, x.Answer)
			case transcript.BlockResult, transcript.BlockServerResult:
				x := c.Results[ref]
				fmt.Fprintf(&out, "  result %d {%s %s answer %d}", ref, x.ID.Raw, x.Name.Raw, x.Answer)
			default:
				out.WriteString("  text")
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// equal compares two pairings of one conversation.
func equal(a, b Pairing) error {
	for i := range a.Calls {
		if a.Calls[i] != b.Calls[i] {
			return fmt.Errorf("call %d: got %+v, want %+v", i, a.Calls[i], b.Calls[i])
		}
	}
	for i := range a.Results {
		if a.Results[i] != b.Results[i] {
			return fmt.Errorf("result %d: got %+v, want %+v", i, a.Results[i], b.Results[i])
		}
	}
	return nil
}

// consistent checks properties of every pairing.
func consistent(c *transcript.Conversation, p Pairing) error {
	if len(p.Calls) != len(c.Calls) || len(p.Results) != len(c.Results) {
		return fmt.Errorf("%d exchanges for %d calls, %d leftovers for %d results", len(p.Calls), len(c.Calls), len(p.Results), len(c.Results))
	}
	for i, x := range p.Calls {
		switch {
		case (x.State == Answered) != (x.Result >= 0):
			return fmt.Errorf("call %d: state %d with result %d", i, x.State, x.Result)
		case x.Result >= 0 && p.Results[x.Result] != (Leftover{Fate: Answers, Call: int32(i)}):
			return fmt.Errorf("call %d has result %d, which is %+v", i, x.Result, p.Results[x.Result])
		case (x.State == Copy) != (x.CopyOf >= 0):
			return fmt.Errorf("call %d: state %d, copy of %d", i, x.State, x.CopyOf)
		case x.State == Answered && x.Candidates < 1:
			return fmt.Errorf("call %d: answered without candidates", i)
		}
	}
	for i, l := range p.Results {
		switch l.Fate {
		case Answers:
			if p.Calls[l.Call].Result != int32(i) {
				return fmt.Errorf("result %d answers call %d, which has %d", i, l.Call, p.Calls[l.Call].Result)
			}
		case Duplicate, Update:
			if p.Calls[l.Call].State != Answered {
				return fmt.Errorf("result %d repeats the answer of call %d, which has none", i, l.Call)
			}
		default:
			if l.Call >= 0 {
				return fmt.Errorf("result %d of fate %d names call %d", i, l.Fate, l.Call)
			}
		}
	}
	return nil
}

// check compares a conversation with the reference and checks the properties.
func check(t *testing.T, c *transcript.Conversation) Pairing {
	t.Helper()
	got := Pair(c, sameArgs(c))
	fail := func(what string, err error) {
		if err != nil {
			t.Fatalf("%s: %v\n%s", what, err, sketch(c))
		}
	}
	fail("consistency", consistent(c, got))
	fail("the reference has it otherwise", equal(got, refPair(c, sameArgs(c))))
	fail("pairing depends on the names of ids", equal(Pair(respell(c, renamed), sameArgs(c)), got))
	fail("pairing depends on the spelling of ids", equal(Pair(respell(c, escaped), sameArgs(c)), got))
	return got
}

// checkSound checks that a conversation without flaws is paired as it was made.
func checkSound(t *testing.T, m *maker) {
	t.Helper()
	p := check(t, m.Conv)
	for i, x := range p.Calls {
		if m.Conv.Messages[m.Conv.Calls[i].Message].Has(transcript.MessageReplay) {
			continue
		}
		if x.State != Answered || x.Place != InWindow || x.Confidence != Exact || x.Result != m.want[int32(i)] {
			t.Fatalf("call %d: got %+v, want result %d\n%s", i, x, m.want[int32(i)], sketch(m.Conv))
		}
	}
	for i, l := range p.Results {
		if l.Fate != Answers && l.Fate != Ignored {
			t.Fatalf("result %d: %+v\n%s", i, l, sketch(m.Conv))
		}
	}
}

// conversations returns how many conversations to generate.
func conversations() uint64 { return uint64(sample.Inputs(240_000, 12_000, 2_000)) }

func TestReference(t *testing.T) {
	for seed := range conversations() * 3 / 4 {
		check(t, wild(&chooser{state: seed}).Conv)
	}
}

func TestSound(t *testing.T) {
	for seed := range conversations() / 4 {
		checkSound(t, sound(&chooser{state: seed}))
	}
}

func FuzzPair(f *testing.F) {
	for seed := range uint64(64) {
		ch := chooser{state: seed}
		data := make([]byte, 16+ch.n(240))
		for i := range data {
			data[i] = byte(ch.n(256))
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4096 {
			return
		}
		check(t, wild(&chooser{bytes: data, fuzz: true}).Conv)
		checkSound(t, sound(&chooser{bytes: data, fuzz: true}))
	})
}
