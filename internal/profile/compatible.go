package profile

// These are the profiles of APIs that copy another one. They hold what is known of the copy.

var openAICompatible = Profile{
	Name: "openai-compatible", Title: "OpenAI-compatible chat API", Wire: Chat, Like: &openAI,
	NameChars: WordDash, NameMax: 64,
	Roles: chatRoles, ResultForms: FormString | FormList,
}

var responsesCompatible = Profile{
	Name: "responses-compatible", Title: "OpenAI-compatible Responses API", Wire: Items, Like: &openAIResponses,
	NameChars: WordDash, NameMax: 64, ItemPrefixes: itemPrefixes,
	Roles: []string{"user", "assistant", "", "system", "developer"}, ResultForms: FormString | FormList | FormObject | FormScalar,
	Cells: Cells{
		ItemID:          {Info, Medium, "", "recorded requests that were answered", nil},
		DuplicateItemID: {Info, Medium, "", "recorded requests that were answered", nil},
	},
}

var anthropicCompatible = Profile{
	Name: "anthropic-compatible", Title: "Anthropic-compatible Messages API", Wire: Messages, BlankBesideCalls: true, Like: &anthropic,
	NameChars: WordDash, NameMax: 200,
	Roles: []string{"user", "assistant", "user", "system"}, ResultForms: FormString | FormList | FormAbsent,
	EmptyLastAssistant: true,
}

const mistralSource = "https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py"

var mistral = Profile{
	Name: "mistral", Title: "Mistral chat API", Wire: Chat, Like: &openAI,
	IDChars: Alphanumeric, IDMin: 9, IDMax: 9, NameChars: WordDash, NameMax: 64, UsersInRow: true,
	Roles: []string{"user", "assistant", "tool", "system"}, SystemAfter: []string{"system", "user"}, ResultForms: FormString | FormList,
	Cells: Cells{
		Missing:          {Error, High, "Not the same number of function calls and responses", mistralSource, nil},
		Orphan:           {Error, High, "Unexpected tool call id {id} in tool results", mistralSource, []string{"Not the same number of function calls and responses"}},
		Misplaced:        {Error, High, "Not the same number of function calls and responses", mistralSource, nil},
		Before:           {Error, High, "Unexpected tool call id {id} in tool results", mistralSource, nil},
		Duplicate:        {Error, High, "Duplicate tool call id {id} in tool results", mistralSource, nil},
		DuplicateID:      {Error, High, "Duplicate tool call id {id} in assistant message", mistralSource, nil},
		ReusedID:         {Accepted, High, "", mistralSource, nil},
		MissingID:        {Error, High, "Tool call id has to be defined.", "gh:Gage-Technologies/mistral-go#8", nil},
		BadID:            {Error, High, "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.", "gh:editor-code-assistant/eca#233", nil},
		BadNamePattern:   {Error, High, "", mistralSource, nil},
		BadName:          {Error, High, "", mistralSource, nil},
		EmptyCalls:       {Accepted, Medium, "", mistralSource, nil},
		NoCallType:       {Accepted, Medium, "", mistralSource, nil},
		NullMessage:      {Error, High, "Assistant message must have either content or tool_calls, but not both.", mistralSource, nil},
		BadRole:          {Error, High, "", mistralSource, nil},
		SystemPlace:      {Error, High, "Unexpected role 'system' after role 'assistant'", mistralSource, []string{"Unexpected role 'system' after role 'tool'"}},
		ConsecutiveRoles: {Info, Medium, "", mistralSource, nil},
		FirstRole:        {Warning, Medium, "", mistralSource, nil},
		UserAfterTool:    {Error, High, "Unexpected role 'user' after role 'tool'", "gh:datapizza-labs/datapizza-ai#98", []string{"Unexpected role RoleEnum.tool"}},
		LastRole:         {Error, High, "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant", mistralSource, nil},
	},
}

var deepSeekThinking = []string{"deepseek-reasoner", "deepseek-v4"}

var deepSeek = Profile{
	Name: "deepseek", Title: "DeepSeek chat API (thinking models)", Wire: Chat, Like: &openAI,
	NameChars: WordDash, NameMax: 64,
	Roles: chatRoles, ResultForms: FormString | FormList, Replay: ReplayText, BlankReasoning: true,
	Thinking: deepSeekThinking, ThinksIfAsked: true,
	Cells: Cells{
		Missing:          {Error, High, openAINoResponse + " (insufficient tool messages following tool_calls message)", "gh:FoundationAgents/OpenManus#23", []string{"insufficient tool messages following tool_calls message"}},
		Orphan:           {Error, High, "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'", "gh:agno-agi/agno#3105", nil},
		Misplaced:        {Error, High, openAINoResponse + " (insufficient tool messages following tool_calls message)", "gh:FoundationAgents/OpenManus#744", nil},
		Before:           {Error, High, "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'", "gh:agno-agi/agno#3105", nil},
		Split:            {Accepted, Medium, "", "", nil},
		ConsecutiveRoles: {Info, Low, "", "reasoner models", nil},
		NoReasoning: {
			Error, High, "The `reasoning_content` in the thinking mode must be passed back to the API.", "gh:abhigyanpatwari/GitNexus#43",
			[]string{"Missing `reasoning_content` field in the assistant message at message index 2."},
		},
	},
}

var deepSeekAnthropic = Profile{
	Name: "deepseek-anthropic", Title: "DeepSeek API (Anthropic-compatible)", Wire: Messages, Like: &anthropic,
	IDChars: WordDash, NameChars: WordDash, NameMax: 200,
	Roles: []string{"user", "assistant", "user"}, ResultForms: FormString | FormList | FormAbsent, Replay: ReplayFirst,
	Thinking: deepSeekThinking, ThinksIfAsked: true,
	Cells: Cells{
		Missing:          {Error, High, anthropicNoRes, "gh:KunAgent/Kun#575", nil},
		Orphan:           {Error, Medium, "", "gh:KunAgent/Kun#575", nil},
		Split:            {Error, Medium, anthropicNoRes, "gh:agentscope-ai/agentscope#1894", nil},
		NotFirst:         {Error, Medium, anthropicNoRes, "gh:KunAgent/Kun#575", nil},
		ConsecutiveRoles: {Info, Low, "", "", nil},
		NoReasoning:      {Error, High, "The `content[].thinking` in the thinking mode must be passed back to the API.", "gh:earendil-works/pi#3636", nil},
	},
}

var deepSeekResponses = Profile{
	Name: "deepseek-responses", Title: "DeepSeek API (Responses-compatible)", Wire: Items, Like: &openAIResponses,
	Contiguous: true,
	IDMax:      64, NameChars: WordDash, NameMax: 64,
	Roles: []string{"user", "assistant", "", "system", "developer"}, ResultForms: FormString | FormList | FormObject | FormScalar,
	Cells: Cells{
		Missing:         {Error, High, "No tool output found for tool call {id}.", "gh:deepseek-ai/DeepSeek-V3#1588", nil},
		Misplaced:       {Error, High, "No tool output found for tool call {id}.", "gh:deepseek-ai/awesome-deepseek-integration#740", nil},
		ItemID:          {Accepted, Low, "", "", nil},
		DuplicateItemID: {Accepted, Low, "", "", nil},
		Unreplayable:    {Accepted, Low, "", "", nil},
		NoReasoning:     {Accepted, Low, "", "", nil},
		NotStored:       {Accepted, Low, "", "", nil},
	},
}

var kimi = Profile{
	Name: "kimi", Title: "Kimi (Moonshot) chat API (thinking models)", Wire: Chat, Like: &openAI,
	NameChars: WordDash, NameMax: 64,
	Roles: chatRoles, ResultForms: FormString | FormList, Replay: ReplayText,
	Thinking: []string{"kimi-k2-thinking", "kimi-k2.", "kimi-k3", "kimi-thinking"},
	Cells: Cells{
		Missing:     {Error, High, "an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {id}", "gh:MoonshotAI/kimi-cli#2405", nil},
		Orphan:      {Error, High, "tool_call_id {id} is not found", "gh:Gentleman-Programming/gentle-pi#1052", nil},
		Misplaced:   {Error, High, "an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {id}", "gh:MoonshotAI/kimi-cli#2405", nil},
		DuplicateID: {Error, High, "tool call id {id} is duplicated", "gh:HKUDS/nanobot#4473", nil},
		ReusedID:    {Accepted, High, "", "gh:vllm-project/vllm#50295 (by design)", nil},
		MissingID:   {Error, High, "tool_call_id  is not found", "gh:yaogang1991/harness#392", nil},
		NoReasoning: {Error, High, "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2", "gh:MoonshotAI/kimi-cli#2405", nil},
	},
}

var miniMax = Profile{
	Name: "minimax", Title: "MiniMax chat API", Wire: Chat, Like: &openAI,
	NameChars: WordDash, NameMax: 64,
	Roles: []string{"user", "assistant", "tool", "system"}, ResultForms: FormString | FormList,
	Cells: Cells{
		Missing:     {Error, High, "tool call and result not match", "gh:MiniMax-AI/MiniMax-M2#76", nil},
		Orphan:      {Error, High, "invalid params, tool result's tool id({id}) not found", "gh:Kilo-Org/kilocode#3967", nil},
		Misplaced:   {Error, High, "tool call result does not follow tool call", "gh:can1357/oh-my-pi#2055", nil},
		Before:      {Error, High, "tool call result does not follow tool call", "gh:can1357/oh-my-pi#2055", nil},
		Duplicate:   {Error, Medium, "tool call and result not match", "gh:VicBilibily/GCMP#120", nil},
		DuplicateID: {Error, High, "duplicate tool_call id: {id}", "gh:can1357/oh-my-pi#2055", nil},
		ReusedID:    {Warning, Low, "", "gh:can1357/oh-my-pi#2055", nil},
		MissingID:   {Error, High, "tool call id is invalid", "gh:earendil-works/pi#5468", nil},
		ArgsBadJSON: {Error, High, "invalid function arguments json string, tool_call_id: {id}", "gh:MiniMax-AI/MiniMax-M2#76", nil},
		BadRole:     {Error, High, "chat content has invalid message role: …", "gh:earendil-works/pi#5468", nil},
	},
}

var qwen = Profile{
	Name: "qwen", Title: "Qwen (DashScope) chat API", Wire: Chat, Like: &openAI,
	NameChars: WordDash, NameMax: 64,
	Roles: chatRoles, ResultForms: FormString | FormList,
	Cells: Cells{
		Missing:    {Error, High, "<400> InternalError.Algo.InvalidParameter: An assistant message with \"tool_calls\" must be followed by tool messages responding to each \"tool_call_id\". The following tool_call_ids did not have response messages: message[532].role", "gh:QwenLM/qwen-code#606", nil},
		Orphan:     {Error, High, "<400> InternalError.Algo.InvalidParameter: messages with role \"tool\" must be a response to a preceeding message with \"tool_calls\".", "gh:QwenLM/qwen-code#869", nil},
		Misplaced:  {Error, High, "<400> InternalError.Algo.InvalidParameter: An assistant message with \"tool_calls\" must be followed by tool messages responding to each \"tool_call_id\". The following tool_call_ids did not have response messages: message[532].role", "gh:QwenLM/qwen-code#606", nil},
		Before:     {Error, High, "<400> InternalError.Algo.InvalidParameter: messages with role \"tool\" must be a response to a preceeding message with \"tool_calls\".", "gh:QwenLM/qwen-code#869", nil},
		EmptyCalls: {Error, High, "Empty tool_calls is not supported in message", "gh:smallmain/vscode-unify-chat-provider#65", nil},
		NoUser:     {Warning, Medium, "No user query found in messages.", "gh:langgenius/dify#33152 (the template of Qwen 3.5 and later)", nil},
	},
}

const glmRefusal = "messages 参数非法。请检查文档。"

var glm = Profile{
	Name: "glm", Title: "GLM (Zhipu) chat API", Wire: Chat, Like: &openAI,
	NameChars: WordDash, NameMax: 64,
	Roles: []string{"user", "assistant", "tool", "system"}, ResultForms: FormString | FormList,
	Cells: Cells{
		FirstRole: {Error, Medium, glmRefusal, "gh:MetaGLM/zhipuai-sdk-python-v4#14", []string{"The messages parameter is illegal"}},
		NoUser:    {Error, Medium, glmRefusal, "gh:anomalyco/opencode#2557", []string{"The messages parameter is illegal"}},
		Order:     {Warning, Medium, "", "gh:JustVugg/colibri#118 (the template pairs by position)", nil},
	},
}

var groq = Profile{
	Name: "groq", Title: "Groq chat API", Wire: Chat, Like: &openAI,
	NameChars: WordDash, NameMax: 64, Images: ImageLimits{Bytes: 4 << 20},
	Roles: chatRoles, ResultForms: FormString | FormList,
	Cells: Cells{
		MissingID:  {Error, High, "'messages.3' : for 'role:tool' the following must be satisfied[('messages.3.tool_call_id' : property 'tool_call_id' is missing)]", "gh:hackclub/ai#22", nil},
		ImageBytes: {Error, Medium, "", "https://console.groq.com/docs/vision (of the whole request)", nil},
	},
}

var xAI = Profile{
	Name: "xai", Title: "xAI API", Wire: Chat, Like: &openAI,
	NameChars: WordDash, NameMax: 64,
	Roles: chatRoles, ResultForms: FormString | FormList,
	Cells: Cells{
		Order: {Warning, Medium, "", "gh:xai-org/xai-proto#15 (the protocol has no ids)", nil},
	},
}

var cohere = Profile{
	Name: "cohere", Title: "Cohere chat API (version 2)", Wire: Chat, Like: &openAI,
	NameChars: WordDash, NameMax: 64,
	Roles: []string{"user", "assistant", "tool", "system"}, ResultForms: FormString | FormList,
	Cells: Cells{
		Missing:   {Error, Low, "", "gh:ethz-spylab/agentdojo#200", nil},
		MissingID: {Error, Medium, "", "the API reference: id and tool_call_id are required", nil},
		BadRole:   {Error, Medium, "", "the API reference", nil},
	},
}

var ollama = Profile{
	Name: "ollama", Title: "native Ollama chat API", Wire: Chat, Like: &openAI,
	NoIDs: true, NameChars: AnyText,
	Roles: []string{"user", "assistant", "tool", "system"}, ResultForms: FormString,
	Cells: Cells{
		Missing:       {Warning, Medium, "", "gh:ollama/ollama#11704 (not refused, but it confuses the model)", nil},
		Orphan:        {Warning, Medium, "", "gh:ollama/ollama#11704 (not refused, but it confuses the model)", nil},
		MissingID:     {Accepted, High, "", "the API has no ids", nil},
		ReusedID:      {Accepted, High, "", "the API has no ids", nil},
		Order:         {Warning, Medium, "", "results belong to calls by position", nil},
		NoResultName:  {Warning, Medium, "", "the API reference: tool_name", nil},
		EmptyCalls:    {Accepted, Low, "", "", nil},
		NoCallType:    {Accepted, High, "", "the API has no such member", nil},
		ArgsNotString: {Accepted, High, "", "gh:ollama/ollama#10604", nil},
		ArgsNotObject: {Error, High, "", "gh:ollama/ollama#10604", nil},
		NullMessage:   {Accepted, Low, "", "", nil},
		BadRole:       {Error, Medium, "", "the API reference", nil},
	},
}

var vllm = Profile{
	Name: "vllm", Title: "chat template in vLLM", Wire: Chat, Like: &openAI,
	NameChars: AnyText,
	Roles:     chatRoles, ResultForms: FormString | FormList,
	Cells: templateCells,
}

var llamaCPP = Profile{
	Name: "llama-cpp", Title: "chat template in llama.cpp", Wire: Chat, Like: &openAI,
	NameChars: AnyText,
	Roles:     chatRoles, ResultForms: FormString | FormList,
	Cells: templateCells,
}

var templateCells = Cells{
	Missing:          {Warning, Medium, "", "templates write what they get", nil},
	Orphan:           {Error, Medium, "Message has tool role, but there was no previous assistant message with a tool call!", "gh:ggml-org/llama.cpp#17040", nil},
	Before:           {Error, Medium, "Message has tool role, but there was no previous assistant message with a tool call!", "gh:ggml-org/llama.cpp#17040", nil},
	DuplicateID:      {Accepted, Low, "", "", nil},
	ReusedID:         {Accepted, Medium, "", "gh:vllm-project/vllm#50295", nil},
	Order:            {Warning, Medium, "", "gh:JustVugg/colibri#118", nil},
	EmptyCalls:       {Error, Medium, "", "gh:vllm-project/vllm#13978", nil},
	ArgsBadJSON:      {Error, Medium, "", "templates index the arguments", nil},
	NullMessage:      {Accepted, Low, "", "", nil},
	ConsecutiveRoles: {Error, High, "After the optional system message, conversation roles must alternate user/assistant/user/assistant/…", "gh:vllm-project/vllm#6862", []string{"conversation roles must alternate user and assistant roles except for tool calls and results"}},
	UserAfterTool:    {Warning, Medium, "After the optional system message, conversation roles must alternate user/assistant/user/assistant/…", "gh:aaif-goose/goose#6247", nil},
	FirstRole:        {Warning, Medium, "After the optional system message, conversation roles must alternate user/assistant/user/assistant/…", "gh:vllm-project/vllm#6862", nil},
	SystemPlace:      {Warning, Medium, "System message must be at the beginning.", "gh:ggml-org/llama.cpp#20733 (the template of Qwen 3.5 and later)", nil},
	NoUser:           {Warning, Medium, "No user query found in messages.", "gh:vllm-project/vllm#36432 (the template of Qwen 3.5 and later)", nil},
}
