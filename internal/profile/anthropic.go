package profile

const anthropicDocs = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls"

var anthropic = Profile{
	Name: "anthropic", Title: "Anthropic Messages API",
	IDChars: WordDash, NameChars: WordDash, NameMax: 200,
	EmptyLastAssistant: true,
	Cells: Cells{
		Missing:          Cell{Error, High, "`tool_use` ids were found without `tool_result` blocks immediately after: …. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", "gh:anthropics/claude-code#5060"},
		Orphan:           Cell{Error, High, "unexpected `tool_use_id` found in `tool_result` blocks: …. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", "gh:anthropics/claude-code#13460"},
		Duplicate:        Cell{Error, High, "each tool_use must have a single result. Found multiple `tool_result` blocks with id: …", "gh:sipeed/picoclaw#1793"},
		DuplicateID:      Cell{Error, High, "`tool_use` ids must be unique", "gh:anthropics/claude-code#20901"},
		ReusedID:         Cell{Info, Low, "`tool_use` ids must be unique", "gh:NVIDIA-NeMo/Switchyard#502"},
		Split:            Cell{Warning, Medium, "`tool_use` ids were found without `tool_result` blocks immediately after: …", "gh:MoonshotAI/kosong#45"},
		NotFirst:         Cell{Error, High, "`tool_use` ids were found without `tool_result` blocks immediately after: …", anthropicDocs},
		Order:            Cell{Info, Medium, "", ""},
		MissingID:        Cell{Error, High, "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", "gh:anomalyco/opencode#1279"},
		BadID:            Cell{Error, High, "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", "gh:anomalyco/opencode#1279"},
		BadName:          Cell{Error, High, "tool_use.name: String should have at most 200 characters", "gh:anthropics/claude-code#23681"},
		BadNamePattern:   Cell{Warning, Low, "", "gh:anthropics/claude-code#2673"},
		ArgsNotObject:    Cell{Error, High, "tool_use.input: Input should be a valid dictionary", "gh:anthropics/anthropic-sdk-typescript#648"},
		WrongRole:        Cell{Error, Medium, "`tool_result` blocks can only be in `user` messages", "a re-implementation that copies the API's strings"},
		EmptyMessage:     Cell{Error, High, "all messages must have non-empty content except for the optional final assistant message", "gh:anthropics/claude-code#6774"},
		NullMessage:      Cell{Error, High, "all messages must have non-empty content except for the optional final assistant message", "gh:anthropics/claude-code#6774"},
		ConsecutiveRoles: Cell{Info, High, "messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"user\" roles in a row", "gh:etkecc/baibot#13 (2024; such messages are merged today)"},
		CallsNotLast:     Cell{Warning, Medium, "`tool_use` ids were found without `tool_result` blocks immediately after: …", "gh:vercel/ai#13013"},
		CallsNotLastHard: Cell{Error, Medium, "This model does not support assistant message prefill. The conversation must end with a user message.", "gh:stacklok/mecatl#1481"},
		Unreplayable:     Cell{Warning, Medium, "Invalid `signature` in `thinking` block", "gh:NousResearch/hermes-agent#6086"},
		ServerUnpaired:   Cell{Error, High, "`web_search` tool use with id … was found without a corresponding `web_search_tool_result` block", "gh:AnswerDotAI/lisette#108"},
	},
}
