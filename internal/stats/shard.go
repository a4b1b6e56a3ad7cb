package stats

import (
	"cmp"
	"slices"
)

// MostGroups is how many groups a table has at most. The others are one group together.
const MostGroups = 10_000

// A Group is the calls with one key.
type Group struct {
	// Sessions have such calls. It is 0 for the rest of a table.
	Sessions int
	// Calls are those that could have a result, Missing those of them that have none.
	Calls, Missing int
	// Interrupted and Open are further calls: those that their writer interrupted, and those at the
	// end of a conversation.
	Interrupted, Open int
	// Orphans, Duplicates and Misplaced are what a check finds about results.
	Orphans, Duplicates, Misplaced int
	// Bytes are the sizes of results, and Latency how many milliseconds passed until they came.
	Bytes, Latency Buckets

	session int // the last one that was counted
}

// add adds the counts of another group, but not its sessions.
func (g *Group) add(o *Group) {
	g.Calls, g.Missing = g.Calls+o.Calls, g.Missing+o.Missing
	g.Interrupted, g.Open = g.Interrupted+o.Interrupted, g.Open+o.Open
	g.Orphans, g.Duplicates, g.Misplaced = g.Orphans+o.Orphans, g.Duplicates+o.Duplicates, g.Misplaced+o.Misplaced
	g.Bytes.Merge(&o.Bytes)
	g.Latency.Merge(&o.Latency)
}

// A state is what became of a call.
type state uint8

// The states of calls that are counted in groups. If a call is copied, the first of these counts.
const (
	answered state = iota
	missing
	interrupted
	open
)

// A Reason says why a call is in no group, or not among those that could have a result.
type Reason uint8

// The reasons.
const (
	Interrupted Reason = iota // its writer says so
	Open                      // it is at the end of its conversation
	Repeated                  // it is a copy of another one
	Unclear                   // nobody knows whether it has a result
	Exempt                    // it needs none
	Damaged                   // a record of its conversation cannot be read
	Traced                    // it is part of a trace
	Elsewhere                 // its result may be stored elsewhere
	reasons     = iota
)

// reasonNames are their names in JSON, and what they are called.
var reasonNames = [reasons][2]string{
	{"interrupted", "interrupted"},
	{"open", "open at the end"},
	{"repeated", "copies of others"},
	{"unclear", "unclear"},
	{"no_result_needed", "without need for a result"},
	{"damaged", "in damaged conversations"},
	{"traces", "in traces"},
	{"elsewhere", "whose results may be elsewhere"},
}

// String returns the name of the reason in JSON.
func (r Reason) String() string { return reasonNames[r][0] }

// Describe returns what calls that are left out for the reason are called.
func (r Reason) Describe() string { return reasonNames[r][1] }

// Reasons returns all reasons.
func Reasons() []Reason {
	out := make([]Reason, reasons)
	for i := range out {
		out[i] = Reason(i)
	}
	return out
}

// A table is the groups of some dimensions.
type table struct {
	by     []Dimension
	groups map[Key]*Group
	rest   Group // those above the limit
}

// group returns the group of a key.
func (t *table) group(k *Key) *Group {
	key := k.of(t.by)
	g := t.groups[key]
	if g == nil {
		g = &Group{}
		t.groups[key] = g
		t.limit(2 * MostGroups)
	}
	return g
}

// limit keeps the groups with the first keys if there are more than most, so that it does not matter
// in which order groups come.
func (t *table) limit(most int) {
	if len(t.groups) <= most {
		return
	}
	var keys []*Key
	for k := range t.groups {
		keys = append(keys, &k)
	}
	slices.SortFunc(keys, (*Key).compare)
	for _, k := range keys[MostGroups:] {
		t.rest.add(t.groups[*k])
		delete(t.groups, *k)
	}
}

// A call is one that can be a copy of another one.
type call struct {
	id   uint64 // a hash of what copies have in common
	key  uint32 // an index of Shard.keys
	what uint32
}

// none is the bucket of a number that is not known.
const none = 1<<12 - 1

// pack returns call.what.
func pack(s state, bytes, ms int) uint32 { return uint32(s)<<24 | uint32(bytes)<<12 | uint32(ms) }

// unpack returns the parts of call.what.
func (c call) unpack() (s state, bytes, ms int) {
	return state(c.what >> 24), int(c.what >> 12 & none), int(c.what & none)
}

// A Totals counts what is in the files.
type Totals struct {
	Files, Conversations, Calls, Results int
	Errors, Warnings, Infos              int
	// Sessions are files, or the rows of datasets.
	Sessions int
}

func (t *Totals) add(o *Totals) {
	t.Files, t.Conversations, t.Calls, t.Results = t.Files+o.Files, t.Conversations+o.Conversations, t.Calls+o.Calls, t.Results+o.Results
	t.Errors, t.Warnings, t.Infos, t.Sessions = t.Errors+o.Errors, t.Warnings+o.Warnings, t.Infos+o.Infos, t.Sessions+o.Sessions
}

// A Sample is an example of a cause: the first one by path and record.
type Sample struct {
	Path         string
	Record, Line int
	Message      string
}

// before reports whether a sample comes before another one.
func (s *Sample) before(o *Sample) bool {
	return cmp.Or(cmp.Compare(s.Path, o.Path), cmp.Compare(s.Record, o.Record), cmp.Compare(s.Line, o.Line), cmp.Compare(s.Message, o.Message)) < 0
}

// A Cause is a rule that reports errors.
type Cause struct {
	Rule string
	// Errors are how many it reports, and Sessions in how many files or rows.
	Errors, Sessions int
	Sample           Sample
}

// A Dataset is a file of rows, or of elements of a list.
type Dataset struct {
	Path string
	// Rows are those with a conversation, and those that cannot be read; Rejected those with errors.
	Rows, Rejected int
	// Causes counts the rejected rows by rule.
	Causes map[string]int
	// Strip shows where the rejected rows are, by bytes.
	Strip Strip
	// Calls are the calls of each row.
	Calls Buckets
}

// Kept is how many rows have no errors.
func (d *Dataset) Kept() int { return d.Rows - d.Rejected }

// A mark says whether a file has errors.
type mark struct {
	path string
	bad  bool
}

// A Shard is counts that can be merged. Merging is commutative and associative.
type Shard struct {
	Totals Totals
	// LeftOut counts calls that are in no group by their reasons. Interrupted and open calls, and
	// copies, are added by Finish.
	LeftOut [reasons]int

	tables   []table
	keys     []Key
	known    map[Key]uint32
	calls    []call
	longest  []longest // by key
	causes   map[string]*Cause
	datasets []*Dataset
	files    []*mark
	sessions int // the number of the current one
}

// longest are the largest result and the longest latency of the calls of a key.
type longest struct{ bytes, ms int64 }

// NewShard returns a shard with tables.
func NewShard(tables [][]Dimension) *Shard {
	s := &Shard{known: map[Key]uint32{}, causes: map[string]*Cause{}}
	for _, by := range tables {
		s.tables = append(s.tables, table{by: by, groups: map[Key]*Group{}})
	}
	return s
}

// index returns the number of a key.
func (s *Shard) index(k *Key) uint32 {
	n, known := s.known[*k]
	if !known {
		n = uint32(len(s.keys))
		s.known[*k] = n
		s.keys, s.longest = append(s.keys, *k), append(s.longest, longest{})
	}
	return n
}

// begin begins a session.
func (s *Shard) begin() { s.sessions++ }

// seen yields the groups of a key and counts the session in each.
func (s *Shard) seen(k *Key) func(func(*Group) bool) {
	return func(yield func(*Group) bool) {
		for i := range s.tables {
			g := s.tables[i].group(k)
			if g.session != s.sessions {
				g.session = s.sessions
				g.Sessions++
			}
			if !yield(g) {
				return
			}
		}
	}
}

// count counts a call. id is 0 for one that is not a copy. bytes and ms are -1 if they are not known.
func (s *Shard) count(k *Key, id uint64, st state, bytes, ms int64) {
	if id == 0 {
		for g := range s.seen(k) {
			g.count(st, 1)
			if bytes >= 0 {
				g.Bytes.Add(bytes)
			}
			if ms >= 0 {
				g.Latency.Add(ms)
			}
		}
		s.leave(st)
		return
	}
	for range s.seen(k) { // only counts the session
	}
	n := s.index(k)
	b, m := none, none
	if bytes >= 0 {
		b = bucketOf(bytes)
		s.longest[n].bytes = max(s.longest[n].bytes, bytes)
	}
	if ms >= 0 {
		m = bucketOf(ms)
		s.longest[n].ms = max(s.longest[n].ms, ms)
	}
	s.calls = append(s.calls, call{id, n, pack(st, b, m)})
}

// leave counts a call that is left out because of its state.
func (s *Shard) leave(st state) {
	switch st {
	case interrupted:
		s.LeftOut[Interrupted]++
	case open:
		s.LeftOut[Open]++
	}
}

// count counts calls of a state.
func (g *Group) count(st state, n int) {
	switch st {
	case answered:
		g.Calls += n
	case missing:
		g.Calls += n
		g.Missing += n
	case interrupted:
		g.Interrupted += n
	case open:
		g.Open += n
	}
}

// cause counts errors of a rule in a session.
func (s *Shard) cause(c *Cause) {
	was := s.causes[c.Rule]
	if was == nil {
		was = &Cause{Rule: c.Rule, Sample: c.Sample}
		s.causes[c.Rule] = was
	}
	was.Errors, was.Sessions = was.Errors+c.Errors, was.Sessions+c.Sessions
	if c.Sample.before(&was.Sample) {
		was.Sample = c.Sample
	}
}

// Merge adds the counts of another shard with the same tables, which is not used any more.
func (s *Shard) Merge(o *Shard) {
	s.Totals.add(&o.Totals)
	for i, n := range o.LeftOut {
		s.LeftOut[i] += n
	}
	for i := range o.tables {
		t, from := &s.tables[i], &o.tables[i]
		for k, g := range from.groups {
			if was := t.groups[k]; was != nil {
				was.add(g)
				was.Sessions += g.Sessions
				continue
			}
			g.session = 0
			t.groups[k] = g
		}
		t.rest.add(&from.rest)
		t.limit(2 * MostGroups)
	}
	to := make([]uint32, len(o.keys))
	for i := range o.keys {
		n := s.index(&o.keys[i])
		to[i] = n
		s.longest[n] = longest{max(s.longest[n].bytes, o.longest[i].bytes), max(s.longest[n].ms, o.longest[i].ms)}
	}
	for _, c := range o.calls {
		c.key = to[c.key]
		s.calls = append(s.calls, c)
	}
	for _, c := range o.causes {
		s.cause(c)
	}
	s.datasets = append(s.datasets, o.datasets...)
	s.files = append(s.files, o.files...)
}
