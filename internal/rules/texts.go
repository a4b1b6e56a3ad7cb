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
	// Aside says that the error often stands beside another one in a log. Then the other one
	// matters.
	Aside bool
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
	badImage    = Meaning{Advice: &Advice{Name: "image", Page: badImagePage, Aside: true}}
	elsewhere   = Meaning{Advice: &Advice{Name: "elsewhere", Page: elsewherePage, Aside: true}}
	notString   = Meaning{Rules: []*Rule{toolInputNotObject}}

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

The second command also shortens long results. Both also cut session logs of Claude Code, Codex, Copilot CLI,
Factory droid, Gemini CLI, pi and Qwen Code. Close the agent first. Of any other session,
` + "`toolguard extract session.jsonl`" + ` writes what was said, for a new session.

https://github.com/toolguard/toolguard/blob/main/docs/trim.md
`
	badImagePage = `The provider cannot read an image, or does not accept its type. No rule finds that, because toolguard
reads only the size of an image. Every further request with this image fails, too.

- In a request, remove the image. Or make ` + "`media_type`" + ` fit its data, or convert the image to PNG or
  JPEG.
- In an agent, go back to a message before the image, or start a new session.

If the image has too many pixels or bytes, the error is another one, and image-limit finds it.
`
	elsewherePage = `This error is not about the history. No change to the history helps against it.

- If there are too many requests or the provider is overloaded, wait and try again.
- If the key, the login or the credit is not accepted, log in again, or check the account.
- If the connection fails, check the network, the proxy, the certificates and the address.

If another error follows, explain it too.
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

		// Tool input.
		{"Ollama", "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments", "gh:aliasrobotics/cai#76", notString},
		{"Ollama", "json: cannot unmarshal string into Go struct field ChatRequest.messages of type api.ToolCallFunctionArguments", "gh:neuron-core/neuron-ai#219", notString},

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
		{"vLLM", "The decoder prompt (length {n}) is longer than the maximum model length of {n}.", "gh:xorbitsai/inference#3785", tooLong},
		{"OpenAI Responses API", "Your input exceeds the context window of this model. Please adjust your input and try again.", "gh:the-open-agent/openagent#2344", tooLong},
		{"Anthropic API", "input length and `max_tokens` exceed context limit: {n} + {n} > {n}, decrease input length or `max_tokens` and try again", "gh:anthropics/claude-code#228", tooLong},
		{"Anthropic API", "Request exceeds the maximum size", "gh:anthropics/claude-code#14567", tooLong},
		{"Anthropic API", "request_too_large", "gh:earendil-works/pi#2734", tooLong},
		{"Amazon Bedrock", "Input is too long for requested model.", "gh:aws-samples/bedrock-chat#95", tooLong},
		{"Kimi API", "Your request exceeded model token limit: {n} (requested: {n})", "gh:MoonshotAI/kimi-cli#2011", tooLong},
		{"GitHub Copilot", "prompt token count of {n} exceeds the limit of {n}", "gh:opencode-ai/opencode#305", tooLong},
		{"GitHub Copilot", "model_max_prompt_tokens_exceeded", "gh:microsoft/vscode#289514", tooLong},
		{"Codex", "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.", "gh:openai/codex#31535", tooLong},
		{"Claude Code", "Conversation too long. Press esc twice to go up a few messages and try again.", "gh:anthropics/claude-code#18199", tooLong},
		{"Claude Code", "Context limit reached · /compact or /clear to continue", "gh:anthropics/claude-code#66551", tooLong},

		// Images.
		{"Anthropic API", "Could not process image", "gh:anthropics/claude-code#1747", badImage},
		{"Anthropic API", "The image was specified using the {name} media type, but the image appears to be a {name} image", "gh:vybestack/llxprt-code#2130", badImage},
		{"Anthropic API", "Image does not match the provided media type {name}", "gh:anthropics/claude-code#13053", badImage},
		{"Anthropic API", "image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'", "gh:anthropics/claude-code#34517", badImage},
		{"GitHub Copilot", "image media type", "gh:github/copilot-cli#2030", badImage},

		// The network, limits, and accounts.
		{"Claude Code", "API Error: Connection error.", "gh:anthropics/claude-code#6596", elsewhere},
		{"Claude Code", "API Error: Request timed out.", "gh:anthropics/claude-code#2728", elsewhere},
		{"Codex", "stream disconnected before completion: error sending request for url", "gh:openai/codex#29609", elsewhere},
		{"Node.js", "ECONNREFUSED", "https://nodejs.org/api/errors.html", elsewhere},
		{"Node.js", "ECONNRESET", "https://nodejs.org/api/errors.html", elsewhere},
		{"Node.js", "ENOTFOUND", "https://nodejs.org/api/errors.html", elsewhere},
		{"Node.js", "ETIMEDOUT", "https://nodejs.org/api/errors.html", elsewhere},
		{"Node.js", "SELF_SIGNED_CERT_IN_CHAIN", "gh:anthropics/claude-code#8054", elsewhere},
		{"Node.js", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "gh:anthropics/claude-code#8223", elsewhere},
		{"Node.js", "self signed certificate in certificate chain", "gh:anthropics/claude-code#8054", elsewhere},
		{"Node.js", "unable to get local issuer certificate", "gh:anthropics/claude-code#22756", elsewhere},
		{"Claude Code", "Self-signed certificate detected. Check your proxy or corporate SSL certificates", "gh:anthropics/claude-code#74369", elsewhere},
		{"Python", "CERTIFICATE_VERIFY_FAILED", "gh:anthropics/claude-quickstarts#245", elsewhere},
		{"Anthropic API", `"api_error","message":"Internal server error"`, "https://docs.claude.com/en/api/errors", elsewhere},
		{"Anthropic API", "overloaded_error", "https://docs.claude.com/en/api/errors", elsewhere},
		{"Anthropic API", "rate_limit_error", "https://docs.claude.com/en/api/errors", elsewhere},
		{"Anthropic API", "This request would exceed your account's rate limit. Please try again later.", "gh:anthropics/claude-code#49036", elsewhere},
		{"Anthropic API", "authentication_error", "https://docs.claude.com/en/api/errors", elsewhere},
		{"Anthropic API", "OAuth token has expired. Please obtain a new token or refresh your existing token.", "gh:anthropics/claude-code#6459", elsewhere},
		{"Anthropic API", "permission_error", "https://docs.claude.com/en/api/errors", elsewhere},
		{"Anthropic API", "billing_error", "https://docs.claude.com/en/api/errors", elsewhere},
		{"Anthropic API", "invalid x-api-key", "gh:anthropics/claude-code#9694", elsewhere},
		{"Claude Code", "Invalid API key · Please run /login", "gh:anthropics/claude-code#6893", elsewhere},
		{"Claude Code", "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment.", "gh:anthropics/claude-code#81327", elsewhere},
		{"Claude Code", "Repeated 529 Overloaded errors", "gh:lbjlaq/Antigravity-Manager#183", elsewhere},
		{"Claude Code", "Credit balance is too low", "gh:anthropics/claude-code#55469", elsewhere},
		{"OpenAI API", "rate_limit_exceeded", "https://platform.openai.com/docs/guides/error-codes", elsewhere},
		{"OpenAI API", "insufficient_quota", "https://platform.openai.com/docs/guides/error-codes", elsewhere},
		{"OpenAI API", "invalid_api_key", "https://platform.openai.com/docs/guides/error-codes", elsewhere},
		{"OpenAI SDK", "RateLimitError", "https://platform.openai.com/docs/guides/error-codes", elsewhere},
		{"OpenAI SDK", "APIConnectionError: Connection error.", "https://platform.openai.com/docs/guides/error-codes", elsewhere},
		{"OpenAI SDK", "APITimeoutError", "https://platform.openai.com/docs/guides/error-codes", elsewhere},
		{"OpenAI SDK", "AuthenticationError", "https://platform.openai.com/docs/guides/error-codes", elsewhere},
		{"Gemini API", "RESOURCE_EXHAUSTED", "https://ai.google.dev/gemini-api/docs/troubleshooting", elsewhere},
		{"Gemini API", "PERMISSION_DENIED", "https://ai.google.dev/gemini-api/docs/troubleshooting", elsewhere},
		{"Amazon Bedrock", "ThrottlingException", "gh:RooCodeInc/Roo-Code#5050", elsewhere},
		{"Amazon Bedrock", "Too many tokens, please wait before trying again.", "gh:anthropics/claude-code#236", elsewhere},
	}
})
