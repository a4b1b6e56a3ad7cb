package transcript

// A Member is a member of an element that only a few rules ask about, or that a
// repair adds. A dialect says what it is called.
type Member uint8

// The members.
const (
	MemberCallType      Member = iota // of a call: what kind it is of
	MemberArguments                   // of a call
	MemberSignature                   // of a call: the provider's, for its reasoning
	MemberResultName                  // of a result: the tool's name
	MemberContent                     // of a message: its text or the list of its blocks
	MemberLastText                    // of a message: the text of its last block
	MemberCacheMark                   // of a block: a mark for the prompt cache
	MemberReasoning                   // of a message: the text of the reasoning
	MemberItemID                      // of an item of a flat list: its own id
	MemberResultContent               // of a result: what it holds
	MemberRole                        // of a message: who speaks
	MemberCallName                    // of a call: the tool's name
	MemberCount                       // how many there are
)
