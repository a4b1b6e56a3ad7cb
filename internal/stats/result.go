package stats

import (
	"cmp"
	"slices"
)

// A Table is the groups of some dimensions, in order.
type Table struct {
	By   []Dimension
	Rows []*Row
}

// A Row is a group with its key.
type Row struct {
	Key Key
	// Rest says that it is all groups above the limit.
	Rest bool
	Group
}

// Rate returns how often calls of the row have no result.
func (r *Row) Rate() Rate { return Wilson(r.Missing, r.Calls) }

// A Result is what was counted.
type Result struct {
	Totals  Totals
	LeftOut [reasons]int
	Tables  []Table
	// Causes are those of the most sessions first.
	Causes []*Cause
	// Datasets are in the order of their paths.
	Datasets []*Dataset
	// Files shows which files have errors, in the order of their paths. BadFiles are how many.
	Files    Strip
	BadFiles int
}

// Finish returns what was counted. Copies of a call are counted once.
func (s *Shard) Finish() *Result {
	r := &Result{Totals: s.Totals, LeftOut: s.LeftOut}
	slices.SortFunc(s.calls, func(a, b call) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.what, b.what), s.keys[a.key].compare(&s.keys[b.key]))
	})
	for i, c := range s.calls {
		if i > 0 && c.id == s.calls[i-1].id {
			r.LeftOut[Repeated]++
			continue
		}
		st, bytes, ms := c.unpack()
		switch st {
		case interrupted:
			r.LeftOut[Interrupted]++
		case open:
			r.LeftOut[Open]++
		}
		for j := range s.tables {
			g := s.tables[j].of(&s.keys[c.key])
			g.count(st, 1)
			if bytes != none {
				g.Bytes.count(bytes, 1)
				g.Bytes.top(s.longest[c.key].bytes)
			}
			if ms != none {
				g.Latency.count(ms, 1)
				g.Latency.top(s.longest[c.key].ms)
			}
		}
	}
	for i := range s.tables {
		r.Tables = append(r.Tables, s.tables[i].finish())
	}
	for _, c := range s.causes {
		r.Causes = append(r.Causes, c)
	}
	slices.SortFunc(r.Causes, func(a, b *Cause) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(b.Errors, a.Errors), cmp.Compare(a.Rule, b.Rule))
	})
	r.Datasets = s.datasets
	for _, d := range r.Datasets {
		if d.Rows < Width { // each row has a cell
			d.Strip.Cells = slices.DeleteFunc(slices.Clone(d.Strip.Cells), func(c Cell) bool { return c.All == 0 })
		}
	}
	slices.SortFunc(r.Datasets, func(a, b *Dataset) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(s.files, func(a, b *mark) int { return cmp.Compare(a.path, b.path) })
	bad := make([]bool, len(s.files))
	for i, f := range s.files {
		if bad[i] = f.bad; f.bad {
			r.BadFiles++
		}
	}
	r.Files = Spread(bad)
	return r
}

// of returns the group of a key that was seen, or the rest if the group is not kept.
func (t *table) of(k *Key) *Group {
	t.limit(MostGroups)
	if g := t.groups[k.of(t.by)]; g != nil {
		return g
	}
	return &t.rest
}

// finish returns the groups in order: versions and months by their names, others with the most calls
// first.
func (t *table) finish() Table {
	t.limit(MostGroups)
	out := Table{By: t.by}
	for k, g := range t.groups {
		g.session = 0
		out.Rows = append(out.Rows, &Row{Key: k, Group: *g})
	}
	named := slices.Contains([]Dimension{Version, Month}, t.by[0])
	slices.SortFunc(out.Rows, func(a, b *Row) int {
		if named {
			for _, d := range t.by {
				if c := natural(a.Key[d], b.Key[d]); c != 0 {
					return c
				}
			}
		}
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(b.Interrupted+b.Open, a.Interrupted+a.Open), a.Key.compare(&b.Key))
	})
	if t.rest.all() > 0 {
		row := &Row{Rest: true, Group: t.rest}
		for _, d := range t.by {
			row.Key[d] = "other"
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// all is how much was counted in a group.
func (g *Group) all() int {
	return g.Calls + g.Interrupted + g.Open + g.Orphans + g.Duplicates + g.Misplaced
}
