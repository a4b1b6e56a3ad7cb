package profile

const (
	openAINoResponse = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {id}"
	openAINoCall     = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
	openAINotFound   = "Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous message."
)

var chatRoles = []string{"user", "assistant", "tool", "system", "developer", "function"}

var openAI = Profile{
	Name: "openai", Title: "OpenAI Chat Completions API", Wire: Chat,
	IDMax: 64, IDSoftMax: 40, NameChars: WordDash, NameMax: 64,
	Roles: chatRoles, ResultForms: FormString | FormList,
	Cells: Cells{
		Missing:          {Error, High, openAINoResponse, "gh:router-for-me/CLIProxyAPI#2798", nil},
		Orphan:           {Error, High, openAINoCall, "gh:miurla/morphic#136", []string{openAINotFound}},
		Misplaced:        {Error, High, openAINoResponse, "gh:mozilla-ai/any-llm#1312", nil},
		Before:           {Error, High, openAINoCall, "gh:smarter-sh/smarter#264", nil},
		Duplicate:        {Error, High, "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', in messages[7] and messages[8].", "gh:agno-agi/agno#5116", nil},
		DuplicateID:      {Warning, Low, "", "gh:latitude-dev/latitude-llm#1840 (OpenAI tolerates it, compatible servers do not)", nil},
		ReusedID:         {Info, Low, "", "gh:vercel/ai#4936", nil},
		Split:            {Accepted, High, "", "the API reference: a message a result", nil},
		Order:            {Info, Low, "", "no refusal is reported", nil},
		WrongKind:        {Error, Medium, openAINoResponse, "gh:router-for-me/CLIProxyAPI#2798", nil},
		MissingID:        {Error, High, "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.", "gh:vercel/ai#2177", nil},
		BadID:            {Error, High, "Invalid 'messages[10].tool_calls[0].id': string too long. Expected a string with maximum length 64, but got a string with length 116 instead.", "gh:openclaw/openclaw#875", nil},
		LongID:           {Warning, Medium, "Invalid 'messages[10].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 53 instead.", "gh:agno-agi/agno#5382", nil},
		BadName:          {Error, High, "Invalid 'messages[9].tool_calls[0].function.name': empty string. Expected a string with minimum length 1, but got an empty string instead.", "gh:continuedev/continue#11645", nil},
		BadNamePattern:   {Error, High, "Invalid 'messages[9].tool_calls[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", "gh:mcp-use/mcp-use#90", nil},
		NoResultName:     {Accepted, High, "", "the API reference: tool messages have no name", nil},
		EmptyCalls:       {Error, High, "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.", "gh:openai/openai-node#1341", nil},
		NoCallType:       {Error, High, "Missing required parameter: 'messages[2].tool_calls[0].type'.", "gh:langchain-ai/langchain-azure#35", nil},
		ArgsNotString:    {Error, High, "Invalid type for 'messages[2].tool_calls[0].function.arguments': expected a string, but got an object instead.", "the API reference: arguments is a string", nil},
		ArgsBadJSON:      {Warning, Low, "", "", nil},
		NoArgs:           {Error, Medium, "", "the API reference: arguments is required", nil},
		ResultContent:    {Error, High, "", "the API reference: a string or a list of parts", nil},
		NullResult:       {Error, High, "Invalid value for 'content': expected a string, got null.", "gh:vercel/ai#13744", nil},
		EmptyText:        {Accepted, Medium, "", "", nil},
		EmptyMessage:     {Accepted, Medium, "", "", nil},
		NullMessage:      {Error, High, "Invalid value for 'content': expected a string, got null.", "gh:vercel/ai#13744", nil},
		TrailingSpace:    {Accepted, Medium, "", "", nil},
		BadRole:          {Error, High, "", "the API reference", nil},
		WrongRole:        {Error, Medium, "", "the API reference: only messages of the assistant have tool_calls", nil},
		FirstRole:        {Accepted, Medium, "", "", nil},
		ConsecutiveRoles: {Info, Low, "", "", nil},
		UserAfterTool:    {Accepted, High, "", "", nil},
		LastRole:         {Accepted, Medium, "", "", nil},
		NullSchema:       {Error, High, "Invalid schema for function '{name}': None is not of type 'array'.", "gh:yomorun/yomo#860", []string{"Invalid schema for function '{name}': None is not of type 'object', 'boolean'."}},
	},
}

var itemPrefixes = ItemPrefixes{Message: "msg", Reasoning: "rs", Function: "fc", Custom: "ctc"}

var openAIResponses = Profile{
	Name: "openai-responses", Title: "OpenAI Responses API", Wire: Items,
	IDMax: 64, NameChars: WordDash, NameMax: 64,
	Roles: []string{"user", "assistant", "", "system", "developer"}, ResultForms: FormString | FormList | FormObject | FormScalar,
	Replay: ReplayItems, ItemPrefixes: itemPrefixes,
	Cells: Cells{
		Missing: {
			Error, High, "No tool output found for {kind} {id}.", "gh:openai/openai-agents-python#1855", nil,
		},
		Orphan: {
			Error, High, "No tool call found for {kind} output with call_id {id}.", "gh:microsoft/vscode#320060", nil,
		},
		Misplaced:       {Accepted, Medium, "", "gh:deepseek-ai/DeepSeek-V3#1588", nil},
		Before:          {Error, Low, "", "", nil},
		Duplicate:       {Error, Low, "", "", nil},
		DuplicateID:     {Error, Low, "", "gh:openai/gpt-oss#309", nil},
		ReusedID:        {Info, Low, "", "", nil},
		Split:           {Accepted, High, "", "the API reference: an item a result", nil},
		Order:           {Info, Low, "", "no refusal is reported", nil},
		WrongKind:       {Error, Medium, "No tool output found for {kind} {id}.", "gh:microsoft/agent-framework#8663", nil},
		MissingID:       {Error, High, "Invalid 'input[4].call_id': empty string. …", "gh:openai/codex#14355", nil},
		BadID:           {Error, High, "Invalid 'input[95].call_id': string too long. Expected a string with maximum length 64, but got a string with length 116 instead.", "gh:AnswerDotAI/fastllm#45", nil},
		ItemID:          {Error, High, "Invalid 'input[1].id': '{id}'. Expected an ID that begins with '…'.", "gh:Wei-Shaw/sub2api#3785", []string{"Expected an ID that contains letters, numbers, underscores, or dashes"}},
		DuplicateItemID: {Error, High, "Duplicate item found with id {id}. Remove duplicate items from your input and try again.", "gh:vercel/ai#13307", nil},
		BadName:         {Error, Medium, "", "the API reference: name is required", nil},
		BadNamePattern:  {Error, Low, "", "", nil},
		NoResultName:    {Accepted, High, "", "the API reference", nil},
		ArgsNotString:   {Error, Medium, "", "the API reference: arguments is a string", nil},
		ArgsBadJSON:     {Warning, Low, "", "", nil},
		NoArgs:          {Error, Medium, "", "the API reference: arguments is required", nil},
		ResultContent:   {Error, Low, "", "the API reference: a string or a list of parts", nil},
		BadRole:         {Error, Medium, "", "the API reference", nil},
		WrongRole:       {Error, Low, "", "", nil},
		Sealed: {
			Error, High, "The encrypted content {id} could not be verified.", "gh:openai/codex#8119",
			[]string{
				"The encrypted content for item {id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
				"The encrypted content {id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
				"Encrypted content could not be decrypted or parsed.",
				"The encrypted content {id} could not be verified. Reason: Encrypted content organization_id did not match the target organization.",
				"reasoning `encrypted_content` was not issued to this caller",
			},
		},
		Unreplayable: {Error, High, "Item '{id}' of type 'reasoning' was provided without its required following item.", "gh:vercel/ai#7099", nil},
		NotStored: {
			Error, High, "Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", "gh:vercel/ai#7543",
			[]string{"Items are not persisted for Zero Data Retention organizations."},
		},
		NoReasoning: {Error, High, "Item '{id}' of type 'function_call' was provided without its required 'reasoning' item: '…'.", "gh:continuedev/continue#11994", []string{"Item '{id}' of type 'message' was provided without its required 'reasoning' item: '…'."}},
	},
}

// openAIResponsesZDR is the API as it treats organizations for which nothing is stored.
var openAIResponsesZDR = Profile{
	Name: "openai-responses-zdr", Title: "OpenAI Responses API with zero data retention", Wire: Items, Like: &openAIResponses,
	IDMax: 64, NameChars: WordDash, NameMax: 64,
	Roles: []string{"user", "assistant", "", "system", "developer"}, ResultForms: FormString | FormList | FormObject | FormScalar,
	Replay: ReplayItems, ItemPrefixes: itemPrefixes, Unstored: true,
	Rest: []*Cells{&openAIResponses.Cells},
	Cells: Cells{
		NotStored: {Error, High, "Items are not persisted for Zero Data Retention organizations.", "gh:runvendo/vendo#1071", nil},
	},
}
