package engine

import (
	"iter"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A mode is what a check is for. It sees one conversation after another, and answers what depends on what
// becomes of findings and repairs. Whoever makes a checker gives it a mode, which knows the checker.
type mode interface {
	// Open begins the check of a source, and returns its conversations.
	Open(*container.Reading) iter.Seq2[*transcript.Conversation, error]
	// Conversation has the checker check a conversation, and uses what it finds. If reading it failed, it
	// returns that error, unless the check goes on without the conversation.
	Conversation(*transcript.Conversation, error) error
	// End ends the check, once all conversations were seen.
	End() error
	// Rules returns the rules to run.
	Rules() []*rules.Rule
	// Emits sees each finding of these rules, and reports whether the user asked for its rule.
	Emits(*rules.Finding) bool
	// Needs reports whether a finding must be kept, however many there are of its kind.
	Needs(*rules.Finding) bool
	// Kept sees the kind of each finding that is kept, the zero kind if all of the kind are.
	Kept(findingKind)
	// Repairs reports whether repairs are made. Otherwise they are only tried.
	Repairs() bool
	// Looks reports whether the findings of a conversation and their repairs are looked at once it has been
	// checked.
	Looks() bool
}

// checking is the mode of a check of which only the report is of interest. Other modes differ from it.
type checking struct{ *checker }

// Open implements mode.
func (checking) Open(r *container.Reading) iter.Seq2[*transcript.Conversation, error] {
	return r.Conversations
}

// Conversation implements mode.
func (c checking) Conversation(conv *transcript.Conversation, err error) error {
	if err != nil {
		return err
	}
	c.conversation(conv)
	return c.err
}

// End implements mode.
func (c checking) End() error {
	c.file()
	if err := c.finish(); err != nil {
		return err
	}
	clear(c.logs) // which have much memory
	return c.place(c.src.Size(), false)
}

// Rules and the other answers are those of a check that nothing else is asked of.
func (c checking) Rules() []*rules.Rule    { return c.opts.Rules }
func (checking) Emits(*rules.Finding) bool { return true }
func (checking) Needs(*rules.Finding) bool { return false }
func (checking) Kept(findingKind)          {}
func (checking) Repairs() bool             { return false }
func (checking) Looks() bool               { return false }
