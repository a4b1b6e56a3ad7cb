package profile

var openAI = Profile{
	Name: "openai", Title: "OpenAI Chat Completions API",
	IDMax: 64, IDSoftMax: 40, NameChars: WordDash, NameMax: 64,
	Cells: Cells{
		Missing:          Cell{Error, High, "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: …", "gh:router-for-me/CLIProxyAPI#2798"},
		Orphan:           Cell{Error, High, "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", "gh:miurla/morphic#136"},
		Duplicate:        Cell{Error, High, "Invalid parameter: Duplicate value for 'tool_call_id' of '…'", "gh:agno-agi/agno#5116"},
		DuplicateID:      Cell{Error, Low, "", "gh:latitude-dev/latitude-llm#1840 (OpenAI tolerates it, compatible servers do not)"},
		ReusedID:         Cell{Info, Low, "", "gh:vercel/ai#4936"},
		Order:            Cell{Info, Medium, "", ""},
		MissingID:        Cell{Error, High, "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.", "gh:vercel/ai#2177"},
		BadID:            Cell{Error, High, "Invalid 'messages[10].tool_calls[0].id': string too long. Expected a string with maximum length 64", "gh:openclaw/openclaw#875"},
		LongID:           Cell{Warning, Medium, "Invalid 'messages[10].tool_calls[0].id': string too long. Expected a string with maximum length 40", "gh:agno-agi/agno#5382"},
		BadName:          Cell{Error, High, "messages[9].tool_calls[0].function.name: string does not match pattern '^[a-zA-Z0-9_-]+$'", "gh:mcp-use/mcp-use#90"},
		BadNamePattern:   Cell{Error, High, "messages[9].tool_calls[0].function.name: string does not match pattern '^[a-zA-Z0-9_-]+$'", "gh:mcp-use/mcp-use#90"},
		EmptyCalls:       Cell{Error, High, "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.", "gh:openai/openai-node#1341"},
		ArgsNotString:    Cell{Error, High, "Invalid type for 'messages[2].tool_calls[0].function.arguments': expected a string, but got an object instead.", "the API reference: arguments is a string"},
		ArgsBadJSON:      Cell{Warning, Low, "", ""},
		WrongRole:        Cell{Error, Medium, "", ""},
		NullMessage:      Cell{Error, High, "Invalid value for 'content': expected a string, got null.", "gh:vercel/ai#13744"},
		ConsecutiveRoles: Cell{Info, Low, "", ""},
	},
}
