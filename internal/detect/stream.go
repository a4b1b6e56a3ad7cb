package detect

import (
	"slices"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

const streamReason = "a recorded event stream, which has a model's answer in pieces and no results, so there is " +
	"nothing to pair; check the history in the next request, or the message that an SDK assembles from the stream"

// pieceSigns describe the stream events that deliver an answer in pieces, wherever they
// occur.
var pieceSigns = []string{
	// Anthropic and Bedrock.
	"decisive if type=message_start|message_delta|message_stop|content_block_start|content_block_delta|content_block_stop",
	"decisive if messageStart|contentBlockStart|contentBlockDelta|contentBlockStop|messageStop",
	"decisive if message_start|content_block_start|content_block_delta|message_delta",
	"decisive if object=chat.completion.chunk and !choices.#.message",
	"decisive if type=response.* and sequence_number|response|output_index",
	// Cohere.
	"decisive if type=message-start|content-start|content-delta|tool-plan-delta|tool-call-start|tool-call-delta|citation-start and delta.message",
	// Ollama.
	"decisive if done=false and message.role|response:string and created_at",
}

var pieces = &evidence.Table{Rows: pieceSigns}

// isPiece reports whether v is a piece of an answer.
func isPiece(v source.Value) bool {
	weight, _ := pieces.Weigh(v, false)
	return weight > evidence.None
}

// streamSigns also describe events that are known only among other events of a stream.
var streamSigns = &evidence.Table{Rows: append(slices.Clone(pieceSigns),
	"decisive if type=content_block_*|ping",
	"decisive if ping:object",
	"decisive if type=content-end|tool-call-end|citation-end|message-end",
	"decisive if data.kind=message*|contentBlock*|metadata",
	"decisive if metadata.usage|metadata.metrics", // Bedrock reports the usage at the end
)}

// pieceMembers are the fields of a stream event that hold a piece of an answer.
var pieceMembers = []string{
	"choices", "message", "content_block", "delta", "response", "item", "part",
	"message_start", "content_block_start", "messageStart", "contentBlockStart",
}
