// Package baseline knows the file of known findings, so that a run reports only
// new ones. It does not know how findings come about.
package baseline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"sort"
)

// A Key identifies findings independently of line numbers: by rule, path and id of
// the call, or by a hash of the record for findings that are not about a call.
type Key struct {
	Path   string `json:"path"`
	Rule   string `json:"rule"`
	CallID string `json:"call_id,omitempty"`
	Record string `json:"record,omitempty"`
}

// entry is a line of the file.
type entry struct {
	Key
	// Count is the number of findings with the key. 0 means one.
	Count int `json:"count,omitempty"`
}

// maxCount is the largest count of an entry. Sums of counts never overflow.
const maxCount = 1_000_000_000

// A Baseline counts known findings by their key.
type Baseline map[Key]int

// Parse parses a baseline: JSON Lines with one entry per line. Errors name the line.
func Parse(text []byte) (Baseline, error) {
	b := Baseline{}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var e entry
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&e); err != nil || dec.More() || e.Path == "" || e.Rule == "" || e.Count < 0 {
			return nil, fmt.Errorf("line %d: expected a JSON object with \"path\" and \"rule\"", n)
		}
		if e.Count > maxCount {
			return nil, fmt.Errorf("line %d: expected a \"count\" of at most %d, got %d", n, maxCount, e.Count)
		}
		// A merge may leave a line twice.
		b[e.Key] = max(b[e.Key], e.Count, 1)
	}
	return b, nil
}

// Format returns a baseline with one entry per line. The lines are sorted, so that
// branches merge cleanly.
func (b Baseline) Format() ([]byte, error) {
	entries := make([]entry, 0, len(b))
	for key, n := range b {
		e := entry{Key: key}
		if n > 1 {
			e.Count = n
		}
		entries = append(entries, e)
	}
	sort.SliceStable(entries, func(i, j int) bool {
		a, b := &entries[i], &entries[j]
		return cmp.Or(
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.CallID, b.CallID), cmp.Compare(a.Record, b.Record),
		) < 0
	})
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, e := range entries {
		if err := enc.Encode(e); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// Known reports which findings of a file are in the baseline, by their keys.
func (b Baseline) Known(keys []Key) []bool {
	seen := Baseline{}
	known := make([]bool, len(keys))
	for i, k := range keys {
		seen[k]++
		known[i] = seen[k] <= b[k]
	}
	return known
}
