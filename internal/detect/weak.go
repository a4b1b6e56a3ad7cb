package detect

import (
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// A weakVote counts the messages and bookkeeping records of a dialect whose records could
// all belong to other dialects.
type weakVote struct {
	dialect         *dialect.Dialect
	driver          dialect.Skipper
	messages, skips int
	left            bool  // a record is neither
	at              int64 // of the first record
}

// add counts a record. The records of the head are enough.
func (n *weakVote) add(v source.Value) {
	if n.messages+n.skips == 0 {
		n.at = v.Span().Start
	}
	if n.driver.Skips(v) {
		n.skips++
	} else if c, _ := n.dialect.Evidence.Weigh(v, false); c != evidence.None {
		n.messages++
	} else {
		n.left = true
	}
}

// weakWinner returns the dialect if the file has both its messages and its bookkeeping
// records and nothing else, or nil.
func (t *tally) weakWinner() *weakVote {
	for i := range t.weak {
		if n := &t.weak[i]; n.messages > 0 && n.skips > 0 && !n.left {
			return n
		}
	}
	return nil
}
