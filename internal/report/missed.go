package report

import (
	"encoding/hex"

	"github.com/toolguard/toolguard/internal/digest"
)

// A missedKind is why a file was not checked. Reports show it in the place of a rule's name.
type missedKind string

const (
	missedFailed    missedKind = "failed"
	missedLookalike missedKind = "lookalike"
)

// eachMissed calls f for each file that the run did not check and that a reader should know
// of: those that failed, and those that were skipped although they look like transcripts. It
// stops at the first error.
func (s *Summary) eachMissed(f func(kind missedKind, m Missed) error) error {
	for _, m := range s.Failed {
		if err := f(missedFailed, m); err != nil {
			return err
		}
	}
	for _, m := range s.Lookalikes {
		if err := f(missedLookalike, m); err != nil {
			return err
		}
	}
	return nil
}

// says returns the sentence about a file that was not checked.
func (k missedKind) says(m Missed) string {
	if k == missedFailed {
		return "failed: " + m.Why
	}
	return "skipped, although it looks like a transcript: " + m.Why
}

// fingerprint identifies a file that was not checked.
func (k missedKind) fingerprint(m Missed) string {
	sum := digest.Sum256([]byte(string(k) + "\x00" + m.Path))
	return hex.EncodeToString(sum[:8])
}

// missed returns a line for each file that was not checked, for a report for people. There
// are none if standard error is shown in the same place and has just named them.
func missed(s *style, opts *Options, sum *Summary) [][]part {
	if !opts.Apart {
		return nil
	}
	var out [][]part
	_ = sum.eachMissed(func(kind missedKind, m Missed) error {
		out = append(out, []part{unbroken(s.path, m.Path), bare(": "), bare(kind.says(m))})
		return nil
	})
	return out
}
