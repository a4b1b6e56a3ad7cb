package transcript

// A Member is a field of an element that only a few rules need or that a repair adds. A
// dialect knows its key.
type Member uint8

// The members.
const (
	MemberCallType      Member = iota // of a call: its type
	MemberArguments                   // of a call
	MemberSignature                   // of a call: the provider's signature of its reasoning
	MemberResultName                  // of a result: the name of the tool
	MemberContent                     // of a message: its text or the array of its blocks
	MemberLastText                    // of a message: the text of its last block
	MemberCacheMark                   // of a block: a mark for the prompt cache
	MemberReasoning                   // of a message: the text of its reasoning
	MemberItemID                      // of an item of a flat list: its own id
	MemberResultContent               // of a result: its content
	MemberRole                        // of a message: its role
	MemberCallName                    // of a call: the name of the tool
	MemberImage                       // of a block with an image: its bytes, in base64 or as a data URL
	MemberResultBlocks                // of a result: the list of its blocks, if its content is another value
	MemberStore                       // of a request: whether the provider is to store it
	MemberThinking                    // of a request: whether, or how much, the model is to think
	MemberResultID                    // of a message that may be a result: the id of its call
	MemberCount                       // the number of members
)
