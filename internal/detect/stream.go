package detect

import (
	"slices"

	"github.com/toolguard/toolguard/internal/evidence"
)

const streamReason = "a recorded stream of events, in which an answer of a model comes piece by piece and no results stand, so that there is " +
	"nothing to pair; check the history that the next request sends, or the message that an SDK makes of the stream"

// pieceSigns are what the events of a stream look like that bring an answer piece by
// piece, wherever they stand.
var pieceSigns = []string{
	// As Anthropic names them, and Bedrock.
	"decisive if type=message_start|message_delta|message_stop|content_block_start|content_block_delta|content_block_stop",
	"decisive if messageStart|contentBlockStart|contentBlockDelta|contentBlockStop|messageStop",
	"decisive if message_start|content_block_start|content_block_delta|message_delta",
	"decisive if object=chat.completion.chunk and !choices.#.message",
	"decisive if type=response.* and sequence_number|response|output_index",
	// As Cohere names them.
	"decisive if type=message-start|content-start|content-delta|tool-plan-delta|tool-call-start|tool-call-delta|citation-start and delta.message",
	// As Ollama does.
	"decisive if done=false and message.role|response:string and created_at",
}

var pieces = evidence.NewTable(pieceSigns...)

// streamSigns are those, and events that are told only among others of a stream.
var streamSigns = evidence.NewTable(append(slices.Clone(pieceSigns),
	"decisive if type=content_block_*|ping",
	"decisive if ping:object",
	"decisive if type=content-end|tool-call-end|citation-end|message-end",
	"decisive if data.kind=message*|contentBlock*|metadata",
	"decisive if metadata.usage|metadata.metrics", // Bedrock says in the end what it took
)...)

// pieceMembers are where an event of a stream has its piece of an answer.
var pieceMembers = []string{
	"choices", "message", "content_block", "delta", "response", "item", "part",
	"message_start", "content_block_start", "messageStart", "contentBlockStart",
}
