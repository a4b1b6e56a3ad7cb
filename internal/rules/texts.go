package rules

import "sync"

// A Text is what a program, a library or an API says of a history that it cannot use, apart
// from the errors in the profiles. It is matched like those.
type Text struct {
	By string // who says it
	// Text is written as in a profile.Cell. {n} stands for a number. A text without a blank is
	// a code: it is looked for as a word, and counts if no other text matches.
	Text   string
	Source string // as in a profile.Cell
	Meaning
}

// A Meaning is what an error says of a history.
type Meaning struct {
	// Rules are those that find the cause, the most likely first.
	Rules []*Rule
	// Open says that the text does not tell which of the rules it is. API is the profile with
	// examples of what they find.
	Open bool
	API  string
	// Advice is what helps if no rule finds the cause.
	Advice *Advice
}

// An Advice is what helps against an error whose cause is no fault of the history.
type Advice struct {
	Name string
	Page string // Markdown
}

// What texts mean. Those that several rows share have one place here.
var (
	unanswered = Meaning{Rules: []*Rule{missingToolResult}}
	orphaned   = Meaning{Rules: []*Rule{orphanToolResult}}
	unpaired   = Meaning{Rules: []*Rule{missingToolResult, orphanToolResult}}
	// concurrent is what one client makes of three errors of its API.
	concurrent  = Meaning{Rules: []*Rule{missingToolResult, duplicateCallID, orphanToolResult}}
	surrogates  = Meaning{Rules: []*Rule{loneSurrogate}}
	badName     = Meaning{Rules: []*Rule{invalidToolName}}
	alternation = Meaning{Rules: []*Rule{consecutiveRoles}}
	noUser      = Meaning{Rules: []*Rule{missingUserMessage}}
	noConfig    = Meaning{Rules: []*Rule{missingToolConfig}}
	unsigned    = Meaning{Rules: []*Rule{reasoningUnreplayable}}
	foreign     = Meaning{Rules: []*Rule{replayedReasoning}} // reasoning of another account, model or provider
	tooLong     = Meaning{Advice: &Advice{Name: "trim", Page: tooLongPage}}

	malformed = Meaning{Open: true, API: "bedrock", Rules: []*Rule{missingToolResult, orphanToolResult, duplicateToolResult, missingToolConfig, emptyMessage}}
	miniMax   = Meaning{Open: true, API: "minimax", Rules: []*Rule{orphanToolResult, missingToolResult, duplicateCallID, argumentsInvalidJSON, invalidRole}}
	glm       = Meaning{Open: true, API: "glm", Rules: []*Rule{firstRole, missingUserMessage}}
)

const (
	tooLongPage = `The history is longer than the model accepts. No rule finds that, because the length is no fault of the
history. ` + "`toolguard trim`" + ` shortens it without parting calls from their results:

` + "```sh" + `
toolguard trim --max-tokens 100k --write request.json
toolguard trim --max-tokens 100k --results-max-bytes 4KB --write request.json
` + "```" + `

The second command also shortens long results. A session of an agent is not trimmed. Let the agent
compact it, or start a new session.

https://github.com/toolguard/toolguard/blob/main/docs/trim.md
`
)

// Texts lists the table.
func Texts() []Text { return texts() }

var texts = sync.OnceValue(func() []Text {
	return []Text{
		// A call without a result, or a result without a call.
		{"Claude Code", "API Error: 400 due to tool use concurrency issues.", "gh:anthropics/claude-code#21088", concurrent},
		{"AI SDK", "AI_MissingToolResultsError", "gh:op7418/CodePilot#529", unanswered},
		{"AI SDK", "MissingToolResultsError", "gh:databricks/databricks-ai-bridge#302", unanswered},
		{"AI SDK", "ToolInvocation must have a result", "gh:vercel/ai#4584", unanswered},
		{"LangChain", "INVALID_TOOL_RESULTS", "https://docs.langchain.com/oss/python/langchain/errors/INVALID_TOOL_RESULTS", unpaired},
		{"LangGraph", "INVALID_CHAT_HISTORY", "gh:langchain-ai/langgraph#4289", unanswered},
		{"LangGraph", "Every tool call (LLM requesting to call a tool) in the message history MUST have a corresponding ToolMessage", "gh:langchain-ai/langgraph#4289", unanswered},
		{"Pydantic AI", "Tool call results were provided, but the message history does not contain any unprocessed tool calls.", "gh:pydantic/pydantic-ai#3528", orphaned},
		{"Mistral API", "Unexpected role 'tool' after role 'system'", "gh:nextcloud/context_agent#140", orphaned},
		{"Kiro", "TOOL_USE_RESULT_MISMATCH", "gh:ZyphrZero/kiro.rs#22", unpaired},
		{"Kiro", "TOOL_CONFIG_MISSING", "gh:lidge-jun/opencodex#4725", noConfig},

		// Errors that do not say what is wrong.
		{"Amazon Q and Kiro", "Improperly formed request.", "gh:hank9999/kiro.rs#56", malformed},
		{"MiniMax API", "2013", "gh:MiniMax-AI/MiniMax-M2#76", miniMax},
		{"GLM API", "1214", "gh:MetaGLM/zhipuai-sdk-python-v4#14", glm},

		// Chat templates and local servers.
		{"llama.cpp", "Failed to parse tool call arguments as JSON", "gh:OpenHands/software-agent-sdk#2887", Meaning{Rules: []*Rule{argumentsInvalidJSON}}},
		{"llama.cpp", "Cannot have 2 or more assistant messages at the end of the list.", "gh:co-l/openfox#367", alternation},
		{"LM Studio", "No user query found", "gh:anomalyco/opencode#25168", noUser},

		// Names and roles.
		{"Amazon Bedrock", "Value at 'messages.{n}.member.content.{n}.member.toolUse.name' failed to satisfy constraint: Member must have length less than or equal to 64", "gh:openclaw/openclaw#12892", badName},
		{"Amazon Bedrock", "Value at 'messages.{n}.member.content.{n}.member.toolUse.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+", "gh:pydantic/pydantic-ai#4631", badName},
		{"Mistral API", "invalid_request_message_order", "gh:onyx-dot-app/onyx#6458", Meaning{Open: true, API: "mistral", Rules: []*Rule{userAfterTool, invalidRole, orphanToolResult}}},

		// Characters that no request can hold.
		{"Anthropic API", "no low surrogate in string", "gh:anthropics/claude-code#3277", surrogates},
		{"DeepSeek API", "unexpected end of hex escape", "gh:esengine/DeepSeek-Reasonix#2201", surrogates},
		{"Python", "in position {n}: surrogates not allowed", "gh:Aider-AI/aider#3693", surrogates},

		// Reasoning.
		{"OpenAI Responses API", "invalid_encrypted_content", "gh:openai/codex#8119", foreign},
		{"Hermes", "Thinking block signature invalid — stripped all thinking blocks, retrying", "gh:NousResearch/hermes-agent#24401", foreign},
		{"Vertex AI", "Unable to submit request because function call `{name}` in the {n}. content block is missing a `thought_signature`.", "gh:GewoonJaap/gemini-cli-openai#156", unsigned},

		// Length.
		{"Anthropic API", "prompt is too long: {n} tokens > {n} maximum", "gh:anomalyco/opencode#8726", tooLong},
		{"OpenAI API", "This model's maximum context length is {n} tokens. However, your messages resulted in {n} tokens. Please reduce the length of the messages.", "gh:crewAIInc/crewAI#323", tooLong},
		{"OpenAI API", "This model's maximum context length is {n} tokens. However, you requested {n} tokens ({n} in the messages, {n} in the completion). Please reduce the length of the messages or completion.", "gh:langroid/langroid#820", tooLong},
		{"OpenAI API", "context_length_exceeded", "gh:crewAIInc/crewAI#323", tooLong},
		{"LiteLLM", "ContextWindowExceededError", "gh:agent0ai/agent-zero#1102", tooLong},
		{"OpenRouter", "This endpoint's maximum context length is {n} tokens. However, you requested about {n} tokens", "gh:refly-ai/refly#1177", tooLong},
		{"Gemini API", "The input token count ({n}) exceeds the maximum number of tokens allowed ({n}).", "gh:google-gemini/gemini-cli#6678", tooLong},
		{"llama.cpp", "request ({n} tokens) exceeds the available context size ({n} tokens), try increasing it", "gh:llmmllab/llmmllab-api#69", tooLong},
		{"llama.cpp", "request ({n} tokens) exceeds context size ({n} tokens)", "gh:llmmllab/llmmllab-api#56", tooLong},
		{"llama.cpp", "Context size has been exceeded.", "gh:llmmllab/llmmllab-api#202", tooLong},
		{"llama.cpp", "exceed_context_size_error", "gh:llmmllab/llmmllab-api#69", tooLong},
		{"LM Studio", "Trying to keep the first {n} tokens when context the overflows.", "gh:lmstudio-ai/lmstudio-bug-tracker#546", tooLong},
		{"vLLM", "You passed {n} input tokens and requested {n} output tokens. However, the model's context length is only {n} tokens", "gh:proxysoul/Empryo#52", tooLong},
	}
})
