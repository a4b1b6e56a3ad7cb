package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A harm is a fault that a crash, a full disk or a second process leaves in the file of a session.
type harm struct {
	name string
	// apart says that only sessions can have the fault in which a result is not in the record of its call.
	apart bool
	// edits says that only sessions can have it whose records can take out others.
	edits bool
	// lines says that only files of lines can have it, and ends that the file ends with its last record.
	lines, ends bool
	// writers says that two processes have resumed the session: their records are in turns. Outputs of
	// one may be on a branch that is not sent.
	writers bool
	do      func(a agent, lines [][]byte) [][]byte
}

// harms returns the faults. The sessions have the calls a, then b and e in one turn, then g, which
// fails. They were resumed, and have h, then i and j in one turn, then f. All have results.
func harms() []harm {
	return []harm{
		{name: "a result is lost", apart: true, do: func(a agent, lines [][]byte) [][]byte { return a.lose(lines, a.resultOf(lines, commandB())) }},
		{name: "a call is lost", apart: true, do: func(a agent, lines [][]byte) [][]byte { return a.lose(lines, a.callOf(lines, commandA())) }},
		{name: "the last line is torn", ends: true, do: func(a agent, lines [][]byte) [][]byte {
			i := a.resultOf(lines, commandF())
			return append(slices.Clone(lines[:i]), torn(lines[i], commandF()))
		}},
		{name: "a record is behind a torn one", lines: true, do: func(a agent, lines [][]byte) [][]byte {
			i := a.resultOf(lines, commandF())
			out := slices.Clone(lines)
			out[i] = slices.Concat(torn(lines[i], commandF()), lines[i])
			return out
		}},
		{name: "a line of NULs", lines: true, do: func(a agent, lines [][]byte) [][]byte {
			return slices.Insert(slices.Clone(lines), a.resultOf(lines, commandF()), append(make([]byte, 512), '\n'))
		}},
		{name: "a result is NULs", lines: true, do: func(a agent, lines [][]byte) [][]byte {
			i := a.resultOf(lines, commandB())
			out := slices.Clone(lines)
			out[i] = append(make([]byte, len(lines[i])-1), '\n')
			return out
		}},
		{name: "a record occurs twice", do: func(a agent, lines [][]byte) [][]byte {
			i := a.resultOf(lines, commandA())
			return slices.Insert(slices.Clone(lines), i, lines[i])
		}},
		{name: "a call has two results", apart: true, lines: true, do: func(a agent, lines [][]byte) [][]byte {
			i := a.resultOf(lines, commandA())
			twin := lines[i]
			if id, _ := a.ids(twin); id != "" {
				other := id[:len(id)-4] + "ffff"
				twin = bytes.Replace(twin, a.key(1, a.parent(twin)), a.key(1, id), 1)
				twin = bytes.Replace(twin, a.key(0, id), a.key(0, other), 1)
				lines = a.relinked(lines, id, other)
			}
			return slices.Insert(slices.Clone(lines), i+1, twin)
		}},
		{name: "a result is behind the next turn", apart: true, do: func(a agent, lines [][]byte) [][]byte {
			return a.moved(lines, a.resultOf(lines, commandB()), a.resultOf(lines, commandG())+1)
		}},
		{name: "a result is before its call", apart: true, do: func(a agent, lines [][]byte) [][]byte {
			return a.moved(lines, a.resultOf(lines, commandG()), a.callOf(lines, commandG()))
		}},
		{name: "a result names another call", apart: true, do: func(a agent, lines [][]byte) [][]byte {
			i := a.resultOf(lines, commandB())
			out := slices.Clone(lines)
			out[i] = bytes.ReplaceAll(lines[i], []byte(commandB().id), []byte("tgx"))
			return out
		}},
		{name: "arguments are torn", do: func(a agent, lines [][]byte) [][]byte {
			i := a.callOf(lines, commandA())
			out := slices.Clone(lines)
			out[i] = tornArguments(lines[i], commandA())
			return out
		}},
		{name: "an output is not UTF-8", do: func(a agent, lines [][]byte) [][]byte {
			i := a.resultOf(lines, commandB())
			out := slices.Clone(lines)
			out[i] = bytes.Replace(lines[i], []byte(commandB().output()), []byte(commandB().output()+"\xe2\x82"), 1)
			return out
		}},
		{name: "two processes write", lines: true, writers: true},
		{name: "a call is taken out", apart: true, edits: true, do: func(a agent, lines [][]byte) [][]byte {
			target, _ := a.ids(lines[a.callOf(lines, commandA())])
			parent, _ := a.ids(lines[len(lines)-1])
			record := strings.NewReplacer("$target", target, "$parent", parent).Replace(a.omits)
			return append(slices.Clone(lines), []byte(record+"\n"))
		}},
	}
}

// lastCalls returns how sessions end while the call c runs beside i, or in the middle of an
// answer. They were resumed before.
func lastCalls() []ending {
	pair := []reply{{"Fourth.", []command{commandH()}}, {"Fifth.", []command{commandI(), commandC()}}}
	return []ending{
		{name: "killed (SIGKILL)", script: pair, signal: syscall.SIGKILL},
		{name: "terminated (SIGTERM)", script: pair, signal: syscall.SIGTERM},
		{name: "interrupted (SIGINT)", script: pair, signal: syscall.SIGINT},
		{name: brokenAnswer, script: []reply{pair[0], {"Fifth.", []command{commandI(), commandJ()}}}, signal: syscall.SIGKILL},
	}
}

// brokenAnswer is the ending in which the model is gone in the middle of the arguments of j.
const brokenAnswer = "an answer breaks off"

// harms returns the faults that sessions of the agent can have.
func (a agent) harms() []harm {
	return slices.DeleteFunc(harms(), func(h harm) bool {
		return a.database != "" || h.lines && a.list != "" || h.apart && a.call == a.result || h.edits && a.omits == ""
	})
}

// records returns the records of a session: the lines of a log, or the messages of a document, without
// white space, and what is around them.
func (a agent) records(log []byte) (head []byte, records [][]byte, tail []byte, err error) {
	if a.list == "" {
		return nil, slices.Collect(bytes.Lines(log)), nil, nil
	}
	at := regexp.MustCompile(`"` + a.list + `":\s*\[`).FindIndex(log)
	if at == nil {
		return nil, nil, nil, fmt.Errorf("expected a list %q", a.list)
	}
	dec := json.NewDecoder(bytes.NewReader(log[at[1]-1:]))
	if _, err := dec.Token(); err != nil {
		return nil, nil, nil, err
	}
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, nil, nil, err
		}
		var line bytes.Buffer
		if err := json.Compact(&line, raw); err != nil {
			return nil, nil, nil, err
		}
		records = append(records, line.Bytes())
	}
	return log[:at[1]], records, log[int64(at[1]-1)+dec.InputOffset():], nil
}

// damaged returns a session with a fault.
func (a agent) damaged(h harm, log []byte) ([]byte, error) {
	head, records, tail, err := a.records(log)
	if err != nil {
		return nil, err
	}
	records = h.do(a, records)
	switch {
	case a.list == "":
		return bytes.Join(records, nil), nil
	case h.ends:
		tail = nil
	}
	return slices.Concat(head, bytes.Join(records, []byte(",")), tail), nil
}

// callOf returns the index of the line with a call.
func (a agent) callOf(lines [][]byte, c command) int { return having(lines, a.call, c.line) }

// resultOf returns the index of the line with the result of a call.
func (a agent) resultOf(lines [][]byte, c command) int { return having(lines, a.result, c.output()) }

// having returns the index of the first line with all texts, -1 if there is none.
func having(lines [][]byte, texts ...string) int {
	return slices.IndexFunc(lines, func(line []byte) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return !bytes.Contains(line, []byte(text)) })
	})
}

// torn returns the beginning of a line, without the output of a command.
func torn(line []byte, c command) []byte {
	before, _, _ := bytes.Cut(line, []byte(c.output()))
	return before
}

// ids returns the id of a record and that of its parent, "" if records have none.
func (a agent) ids(line []byte) (id, parent string) {
	fields := map[string]any{}
	if a.link[0] == "" || json.Unmarshal(line, &fields) != nil {
		return "", ""
	}
	id, _ = fields[a.link[0]].(string)
	parent, _ = fields[a.link[1]].(string)
	return id, parent
}

func (a agent) parent(line []byte) string {
	_, parent := a.ids(line)
	return parent
}

// key returns the field with an id of a record (0) or of its parent (1).
func (a agent) key(i int, id string) []byte { return fmt.Appendf(nil, "%q:%q", a.link[i], id) }

// relinked gives the children of a record another parent.
func (a agent) relinked(lines [][]byte, from, to string) (out [][]byte) {
	for _, line := range lines {
		out = append(out, bytes.Replace(line, a.key(1, from), a.key(1, to), 1))
	}
	return out
}

// moved puts a record before another one, and links it there.
func (a agent) moved(lines [][]byte, from, to int) [][]byte {
	record := lines[from]
	out := a.lose(lines, from)
	if from < to {
		to--
	}
	if id, parent := a.ids(record); id != "" {
		last, _ := a.ids(out[to-1])
		record = bytes.Replace(record, a.key(1, parent), a.key(1, last), 1)
		out = a.relinked(out, last, id)
	}
	return slices.Insert(out, to, record)
}

// tornArguments ends the arguments of a call behind its command. Arguments that are an object become
// a string.
func tornArguments(line []byte, c command) []byte {
	start := bytes.Index(line, []byte(c.line))
	end := start + len(c.line)
	if line[end] == '\\' { // the arguments are a string
		rest := line[end:]
		quote := regexp.MustCompile(`[^\\]"`).FindIndex(rest)
		return slices.Concat(line[:end], rest[quote[1]-1:])
	}
	object := bytes.LastIndexByte(line[:start], '{')
	whole := json.RawMessage{}
	if err := json.NewDecoder(bytes.NewReader(line[object:])).Decode(&whole); err != nil {
		return line
	}
	return slices.Concat(line[:object], []byte(encode(string(line[object:end]))), line[object+len(whole):])
}

// lose removes a record as if it had never been written: its children get its parent.
func (a agent) lose(lines [][]byte, i int) [][]byte {
	out := slices.Delete(slices.Clone(lines), i, i+1)
	if id, parent := a.ids(lines[i]); id != "" {
		out = a.relinked(out, id, parent)
	}
	return out
}

// firstCalls returns the commands of a session before it is resumed, and moreCalls those after.
func firstCalls() []command { return []command{commandA(), commandB(), commandE(), commandG()} }

func moreCalls() []command { return []command{commandH(), commandI(), commandJ(), commandF()} }

// allCalls returns the commands of a session with faults, and those of its endings.
func allCalls() []command {
	return slices.Concat(firstCalls(), moreCalls(), []command{commandC(), commandK()})
}

// inTurns returns the lines of a file that begins with base, and gets the other lines of two files
// in turns.
func inTurns(t *testing.T, base, one, two []byte) (out [][]byte) {
	t.Helper()
	if !bytes.HasPrefix(one, base) || !bytes.HasPrefix(two, base) {
		t.Fatal("the agent does not append to its session")
	}
	a, b := slices.Collect(bytes.Lines(one[len(base):])), slices.Collect(bytes.Lines(two[len(base):]))
	for i := range max(len(a), len(b)) {
		if i < len(b) {
			out = append(out, b[i])
		}
		if i < len(a) {
			out = append(out, a[i])
		}
	}
	return slices.Concat([][]byte{base}, out)
}

// faults returns the names of the endings and faults that sessions of the agent can have.
func (a agent) faults() (names []string) {
	for _, e := range lastCalls() {
		names = append(names, e.name)
	}
	for _, h := range a.harms() {
		names = append(names, h.name)
	}
	return names
}

// outputs returns how many of the outputs of commands are in a text.
func outputs(text []byte, commands []command) (n int) {
	for _, c := range commands {
		if c.output() != "" && bytes.Contains(text, []byte(c.output())) {
			n++
		}
	}
	return n
}

// TestFaultsPage: each row is about an ending or a fault that sessions of the agent can have, once, and
// the repair takes no output out of the request.
func TestFaultsPage(t *testing.T) {
	t.Parallel()
	p := readPage(t, faultsTable)
	known := map[string]bool{}
	for _, a := range slices.Concat(all(), others()) {
		for _, fault := range a.faults() {
			known[a.name+" "+pinned(t, a)+": "+fault] = true
		}
	}
	for _, r := range p.rows {
		key := r[0] + ": " + r[1]
		if !known[key] {
			t.Errorf("expected one row for an agent that setup.sh installs: %s", r)
		}
		delete(known, key)
		if sent := requests(t, r); sent[1].outputs < sent[0].outputs && sent[1].trouble != unread {
			t.Errorf("the repair takes outputs out of the request: %s", r)
		}
		if _, err := time.Parse(time.DateOnly, r[p.columns-1]); err != nil {
			t.Error(err)
		}
	}
}

// TestHarms: each fault changes a file as it says, and the links of the records that are left.
func TestHarms(t *testing.T) {
	t.Parallel()
	a := agent{call: `"call"`, result: `"result"`, link: [2]string{"id", "up"}, omits: `{"id":"8-0008","up":"$parent","omits":"$target"}`}
	log := strings.Join([]string{
		`{"id":"1-0001","call":"printf 'real-%s-a' 42","x":1}`,
		`{"id":"2-0002","up":"1-0001","result":"real-42-a"}`,
		`{"id":"3-0003","up":"2-0002","of":"call_tgb","result":"real-42-b"}`,
		`{"id":"4-0004","up":"3-0003","call":{"line":"printf 'real-%s-g' 42; exit 3"}}`,
		`{"id":"5-0005","up":"4-0004","result":"real-42-g"}`,
		`{"id":"6-0006","up":"5-0005","result":"real-42-f"}`,
		`{"id":"7-0007","up":"6-0006"}`,
	}, "\n") + "\n"
	nuls := strings.Repeat("\x00", 512)
	const resultB = `{"id":"3-0003","up":"2-0002","of":"call_tgb","result":"real-42-b"}`
	for name, edit := range map[string][]string{ // what is replaced by what
		"a result is lost": {resultB + "\n", "", `"up":"3-0003"`, `"up":"2-0002"`},
		"a call is lost":   {`{"id":"1-0001","call":"printf 'real-%s-a' 42","x":1}` + "\n", "", `"up":"1-0001"`, `"up":""`},
		"the last line is torn": {
			`real-42-f"}` + "\n" + `{"id":"7-0007","up":"6-0006"}` + "\n", "",
		},
		"a record is behind a torn one": {
			`{"id":"6-0006"`, `{"id":"6-0006","up":"5-0005","result":"{"id":"6-0006"`,
		},
		"a line of NULs":   {`{"id":"6-0006"`, nuls + "\n" + `{"id":"6-0006"`},
		"a result is NULs": {resultB, nuls[:len(resultB)]},
		"a record occurs twice": {
			`{"id":"2-0002","up":"1-0001","result":"real-42-a"}`,
			`{"id":"2-0002","up":"1-0001","result":"real-42-a"}` + "\n" + `{"id":"2-0002","up":"1-0001","result":"real-42-a"}`,
		},
		"a call has two results": {
			`{"id":"2-0002","up":"1-0001","result":"real-42-a"}`,
			`{"id":"2-0002","up":"1-0001","result":"real-42-a"}` + "\n" + `{"id":"2-ffff","up":"2-0002","result":"real-42-a"}`,
			`{"id":"3-0003","up":"2-0002"`, `{"id":"3-0003","up":"2-ffff"`,
		},
		"a result is behind the next turn": {
			resultB + "\n", "", `"up":"3-0003"`, `"up":"2-0002"`, `{"id":"6-0006","up":"5-0005"`,
			strings.Replace(resultB, "2-0002", "5-0005", 1) + "\n" + `{"id":"6-0006","up":"3-0003"`,
		},
		"a result is before its call": {
			`{"id":"4-0004","up":"3-0003"`, `{"id":"5-0005","up":"3-0003","result":"real-42-g"}` + "\n" + `{"id":"4-0004","up":"5-0005"`,
			`{"id":"5-0005","up":"4-0004","result":"real-42-g"}` + "\n", "", `"up":"5-0005"`, `"up":"4-0004"`,
		},
		"a result names another call": {"call_tgb", "call_tgx"},
		"arguments are torn":          {`{"id":"1-0001","call":"printf 'real-%s-a' 42","x":1}`, `"{\"id\":\"1-0001\",\"call\":\"printf 'real-%s-a' 42"`},
		"an output is not UTF-8":      {"real-42-b", "real-42-b\xe2\x82"},
		"a call is taken out": {
			`{"id":"7-0007","up":"6-0006"}`, `{"id":"7-0007","up":"6-0006"}` + "\n" + `{"id":"8-0008","up":"7-0007","omits":"1-0001"}`,
		},
	} {
		i := slices.IndexFunc(harms(), func(h harm) bool { return h.name == name })
		if i < 0 {
			t.Fatalf("there is no fault %q", name)
		}
		got := string(bytes.Join(harms()[i].do(a, slices.Collect(bytes.Lines([]byte(log)))), nil))
		if diff := cmp.Diff(strings.NewReplacer(edit...).Replace(log), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if n := len(a.harms()); n != 15 {
		t.Errorf("%d faults are tested, and there are %d", 15, n)
	}
	text := `{"args":"{\"cmd\":\"printf 'real-%s-a' 42\",\"n\":\"1\"}","id":1}`
	if got, want := string(tornArguments([]byte(text), commandA())), `{"args":"{\"cmd\":\"printf 'real-%s-a' 42","id":1}`; got != want {
		t.Errorf("arguments in a string are torn as %s, want %s", got, want)
	}
	lines := inTurns(t, []byte("a\nb\n"), []byte("a\nb\n1\n2\n3\n"), []byte("a\nb\nx\n"))
	if got := string(bytes.Join(lines, nil)); got != "a\nb\nx\n1\n2\n3\n" {
		t.Errorf("the records of two processes are %q", got)
	}
	a.omits = ""
	if n := len(a.harms()); n != 14 {
		t.Errorf("records without edits can have %d faults", n)
	}
	a.result = a.call
	if n := len(a.harms()); n != 8 {
		t.Errorf("records with calls and results can have %d faults", n)
	}
}
