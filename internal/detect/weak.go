package detect

import (
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// A weakVote counts what could be of a dialect of which every record could be
// another's as well: its messages and its book-keeping.
type weakVote struct {
	dialect         *dialect.Dialect
	driver          dialect.Skipper
	messages, skips int
	left            bool  // a record can be neither
	at              int64 // of the first
}

// add counts a record. Those of the head are enough.
func (n *weakVote) add(v source.Value) {
	if n.messages+n.skips == 0 {
		n.at = v.Span().Start
	}
	if n.driver.Skips(v) {
		n.skips++
	} else if c, _ := n.dialect.Claim(v); c != evidence.None {
		n.messages++
	} else {
		n.left = true
	}
}

// weakWinner returns the dialect in which messages and book-keeping stand one beside
// the other, and nothing else does, nil for none.
func (t *tally) weakWinner() *weakVote {
	for i := range t.weak {
		if n := &t.weak[i]; n.messages > 0 && n.skips > 0 && !n.left {
			return n
		}
	}
	return nil
}
