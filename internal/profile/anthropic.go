package profile

const (
	anthropicDocs  = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls"
	anthropicNoRes = "messages.6: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
	anthropicOlder = "messages.48: Did not find 1 `tool_result` block(s) at the beginning of this message. Messages following `tool_use` blocks must begin with a matching number of `tool_result` blocks."
	anthropicEmpty = "messages.0: all messages must have non-empty content except for the optional final assistant message"
)

var anthropicRoles = []string{"user", "assistant", "user", "system"}

// anthropicImages are the limits of Anthropic's own API. It took images of up to 5 MB until the
// middle of 2026, and other hosts of the models still do. Models with a small context take 100
// images.
var anthropicImages = ImageLimits{Side: 8000, Many: 20, ManySide: 2000, Bytes: 10 << 20, SoftBytes: 5 << 20, Count: 600, SoftCount: 100}

const (
	imageSide     = "messages.3.content.2.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels"
	imageManySide = "messages.109.content.2.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"
	imageBytes    = "messages.2.content.0.image.source.base64: image exceeds 5 MB maximum: 8259148 bytes > 5242880 bytes"
	visionDocs    = "https://platform.claude.com/docs/en/build-with-claude/vision"
)

// anthropicCells apply with and without the thinking parameter.
var anthropicCells = Cells{
	Missing:     {Error, High, anthropicNoRes, "gh:anthropics/claude-code#5060", []string{anthropicOlder}},
	Orphan:      {Error, High, "messages.12.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", "gh:anthropics/claude-code#13460", nil},
	Misplaced:   {Error, High, anthropicNoRes, "gh:anthropics/claude-code#5060", []string{anthropicOlder}},
	Before:      {Error, High, "messages.12.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", "gh:anthropics/claude-code#31328", nil},
	Duplicate:   {Error, High, "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}", "gh:sipeed/picoclaw#1793", nil},
	DuplicateID: {Error, High, "messages.1.content.1: `tool_use` ids must be unique", "gh:anthropics/claude-code#20901", nil},
	ReusedID:    {Info, Low, "", "gh:NVIDIA-NeMo/Switchyard#502 (asserted; the API has answered such histories)", nil},
	Split:       {Warning, Medium, anthropicNoRes, "gh:MoonshotAI/kosong#45", nil},
	NotFirst:    {Error, High, anthropicNoRes, anthropicDocs, []string{anthropicOlder}},
	Mixed:       {Accepted, High, "", anthropicDocs, nil},
	Order:       {Info, Low, "", "no refusal is reported", nil},
	MissingID:   {Error, High, "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", "gh:anomalyco/opencode#1279", nil},
	BadID: {
		Error, High, "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", "gh:anomalyco/opencode#1279",
		[]string{"messages.2.content.0.tool_result.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
	},
	ServerID:         {Error, High, "messages.1.content.2.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'", "gh:tingly-dev/tingly-box#1401", nil},
	BadName:          {Error, High, "messages.1.content.2.tool_use.name: String should have at most 200 characters", "gh:anthropics/claude-code#23681", nil},
	BadNamePattern:   {Warning, Low, "", "gh:anthropics/claude-code#2673", nil},
	NoResultName:     {Accepted, High, "", anthropicDocs, nil},
	ArgsNotObject:    {Error, High, "messages.3.content.1.tool_use.input: Input should be a valid dictionary", "gh:anthropics/anthropic-sdk-typescript#648", nil},
	NoArgs:           {Error, Medium, "", "gh:anthropics/claude-code#6696", nil},
	ResultContent:    {Error, Medium, "all content must be type \"text\" if \"is_error\" is true", "the API reference: a string or a list of blocks", nil},
	EmptyText:        {Error, High, "messages: text content blocks must be non-empty", "gh:anthropics/claude-code#59812", []string{"messages: text content blocks must contain non-whitespace text", "messages.29.content.0.text: cache_control cannot be set for empty text blocks"}},
	EmptyMessage:     {Error, High, anthropicEmpty, "gh:anthropics/claude-code#6774", nil},
	NullMessage:      {Error, High, anthropicEmpty, "gh:anthropics/claude-code#6774", nil},
	TrailingSpace:    {Error, High, "messages: final assistant content cannot end with trailing whitespace", "gh:tailcallhq/forgecode#1872", nil},
	BadRole:          {Error, Medium, "", "the API reference: user or assistant", nil},
	WrongRole:        {Error, Medium, "messages.1: `tool_result` blocks can only be in `user` messages", "a re-implementation that copies the API's strings", []string{"messages.1: `tool_use` blocks can only be in `assistant` messages"}},
	FirstRole:        {Warning, Medium, "messages: first message must use the \"user\" role", "gh:lobehub/lobehub#1601 (2024)", nil},
	ConsecutiveRoles: {Info, High, "messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"user\" roles in a row", "gh:etkecc/baibot#13 (2024; such messages are merged today)", nil},
	UserAfterTool:    {Accepted, High, "", anthropicDocs, nil},
	LastRole:         {Warning, High, "This model does not support assistant message prefill. The conversation must end with a user message.", "gh:ericc-ch/copilot-api#261 (models from Claude 4.6 on)", nil},
	CallsNotLast:     {Warning, Medium, anthropicNoRes, "gh:vercel/ai#13013", nil},
	CallsNotLastHard: {Error, Medium, "This model does not support assistant message prefill. The conversation must end with a user message.", "gh:stacklok/mecatl#1481", nil},
	Sealed: {
		Error, High, "messages.1.content.5: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", "gh:anthropics/claude-code#63147",
		[]string{
			"messages.1.content.0: Invalid `signature` in `thinking` block",
			"messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
			"messages.1.content.0: Invalid `data` in `redacted_thinking` block",
		},
	},
	Unreplayable:   {Warning, Medium, "messages.3.content.0: Invalid `signature` in `thinking` block", "gh:NousResearch/hermes-agent#6086", []string{"messages.3.content.11: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."}},
	SplitReasoning: {Error, Medium, "messages.101.content.29: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", "gh:anthropics/claude-code#63412", nil},
	ServerUnpaired: {Error, High, "messages.33: `{name}` tool use with id `{id}` was found without a corresponding `…_tool_result` block", "gh:AnswerDotAI/lisette#108", []string{"messages.7.content.0: unexpected `tool_use_id` found in `…_tool_result` blocks: {id}. Each `…_tool_result` block must have a corresponding `server_tool_use` block before it."}},
	ImageSide:      {Error, High, imageSide, "gh:anthropics/claude-code#11576", nil},
	ImageManySide:  {Error, High, imageManySide, "gh:anthropics/claude-code#9375", []string{"An image in the conversation exceeds the dimension limit for many-image requests (2000px)."}},
	ImageBytes:     {Error, Medium, "", "gh:can1357/oh-my-pi#10633", nil},
	ImageSoftBytes: {Warning, High, imageBytes, "gh:anthropics/claude-code#19631", nil},
	ImageCount:     {Error, Medium, "", visionDocs, nil},
	ImageSoftCount: {Warning, Medium, "", visionDocs, nil},
	CacheLimit:     {Error, High, "A maximum of 4 blocks with cache_control may be provided. Found 5.", "gh:tghamm/Anthropic.SDK#50", nil},
	NullSchema:     {Error, Medium, "", "gh:openai/openai-agents-python#1698 (the error is that of any invalid schema)", nil},
}

var anthropic = Profile{
	Name: "anthropic", Title: "Anthropic Messages API", Wire: Messages, BlankBesideCalls: true, Merges: true,
	IDChars: WordDash, ServerID: "srvtoolu_", NameChars: WordDash, NameMax: 200,
	Roles: anthropicRoles, ResultForms: FormString | FormList | FormAbsent,
	EmptyLastAssistant: true, CacheMax: 4, Images: anthropicImages, Replay: ReplaySigned, Switch: anthropicSwitch,
	Cells: anthropicCells,
}

// anthropicSwitch is the parameter of extended thinking. Adaptive thinking does not require that
// calls begin with thinking.
var anthropicSwitch = Switch{
	At: "thinking", On: "enabled", Off: `{"type":"disabled"}`,
	Edits: "context_management.edits", Needs: "clear_thinking",
	Source: "https://platform.claude.com/docs/en/build-with-claude/extended-thinking",
}

var anthropicThinking = Profile{
	Name: "anthropic-thinking", Title: "Anthropic Messages API with thinking on", Wire: Messages, BlankBesideCalls: true, Like: &anthropic, Merges: true,
	IDChars: WordDash, ServerID: "srvtoolu_", NameChars: WordDash, NameMax: 200,
	Roles: anthropicRoles, ResultForms: FormString | FormList | FormAbsent,
	EmptyLastAssistant: true, CacheMax: 4, Images: anthropicImages, Replay: ReplayFirst,
	Rest: []*Cells{&anthropicCells},
	Cells: Cells{
		Unreplayable: {Error, High, "messages.3.content.0: Invalid `signature` in `thinking` block", "gh:NousResearch/hermes-agent#17890", nil},
		NoReasoning:  {Error, High, "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).", "gh:anomalyco/opencode#3077", nil},
	},
}

var anthropicNoThinking = Profile{
	Name: "anthropic-no-thinking", Title: "Anthropic Messages API with thinking off", Wire: Messages, BlankBesideCalls: true, Like: &anthropic, Merges: true,
	IDChars: WordDash, ServerID: "srvtoolu_", NameChars: WordDash, NameMax: 200,
	Roles: anthropicRoles, ResultForms: FormString | FormList | FormAbsent,
	EmptyLastAssistant: true, CacheMax: 4, Images: anthropicImages, Replay: ReplayNever,
	Rest: []*Cells{&anthropicCells},
	Cells: Cells{
		Unreplayable: {Error, High, "messages.1.content.0: When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`.", "gh:tailcallhq/forgecode#1853", nil},
	},
}
