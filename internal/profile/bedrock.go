package profile

const (
	bedrockDocs  = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html"
	bedrockNoRes = "Expected toolResult blocks at messages.2.content for the following Ids: {id}"
	bedrockExtra = "The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn."
)

var bedrockCells = Cells{
	Missing:          {Error, High, bedrockNoRes, "gh:anomalyco/opencode#41445", nil},
	Orphan:           {Error, High, bedrockExtra, "gh:strands-agents/harness-sdk#1435", nil},
	Misplaced:        {Error, High, bedrockNoRes, "gh:genkit-ai/aws-bedrock-js-plugin#664", nil},
	Before:           {Error, High, bedrockExtra, "gh:pydantic/pydantic-ai#2327", nil},
	Duplicate:        {Error, High, "The toolResult blocks at messages.2.content contain duplicate Ids: {id}", "gh:BerriAI/litellm#20048", nil},
	DuplicateID:      {Error, High, "The toolUse blocks at messages.10.content contain duplicate Ids: {id}", "gh:BerriAI/litellm#20047", nil},
	ReusedID:         {Info, Low, "", "", nil},
	Split:            {Error, High, bedrockNoRes, "gh:agentjido/req_llm#250", nil},
	NotFirst:         {Error, Medium, bedrockNoRes, "gh:agno-agi/agno#6694", nil},
	Mixed:            {Accepted, High, "", "gh:langchain-ai/langchain-aws#141 (Claude takes it)", nil},
	Order:            {Info, Low, "", "no refusal is reported", nil},
	MissingID:        {Error, High, "", bedrockDocs, nil},
	BadID:            {Error, High, "", bedrockDocs, nil},
	BadName:          {Error, High, "", bedrockDocs, nil},
	BadNamePattern:   {Error, High, "", bedrockDocs, nil},
	NoResultName:     {Accepted, High, "", bedrockDocs, nil},
	ArgsNotObject:    {Error, Medium, "", bedrockDocs, nil},
	NoArgs:           {Error, Medium, "", bedrockDocs, nil},
	ResultContent:    {Error, High, "", "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultBlock.html", nil},
	EmptyText:        {Error, High, "The text field in the ContentBlock object at messages.0.content.0 is blank. Add text to the text field, and try again.", "gh:archestra-ai/archestra#4220", nil},
	EmptyBlock:       {Error, Medium, "", "the API reference: a block has one member", nil},
	EmptyMessage:     {Error, High, "The content field in the Message object at messages.1 is empty.", "gh:archestra-ai/archestra#4220", nil},
	NullMessage:      {Error, High, "The content field in the Message object at messages.1 is empty.", "gh:archestra-ai/archestra#4220", nil},
	TrailingSpace:    {Error, Medium, "messages: final assistant content cannot end with trailing whitespace", "gh:crewAIInc/crewAI#4430", nil},
	BadRole:          {Error, High, "", "the API reference: user or assistant", nil},
	WrongRole:        {Error, Medium, "", "the API reference: toolUse in messages of the assistant, toolResult in those of the user", nil},
	FirstRole:        {Error, High, "A conversation must start with a user message. …", "gh:elastic/kibana#246393", nil},
	ConsecutiveRoles: {Error, High, "A conversation must alternate between user and assistant roles. …", "gh:Portkey-AI/gateway#748", nil},
	UserAfterTool:    {Accepted, High, "", "", nil},
	LastRole:         {Warning, Medium, "This model does not support assistant message prefill. The conversation must end with a user message.", "gh:ericc-ch/copilot-api#261", nil},
	CallsNotLast:     {Warning, Low, "", "", nil},
	CallsNotLastHard: {Error, Low, "", "", nil},
	Unreplayable:     {Warning, Medium, "messages.3.content.0: Invalid `signature` in `thinking` block", "gh:NousResearch/hermes-agent#6086", nil},
	ImageSide:        {Error, High, imageSide, "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html", nil},
	ImageManySide:    {Error, Medium, imageManySide, "gh:anthropics/claude-code#9375 (the models are the same)", nil},
	ImageSoftBytes:   {Warning, Medium, imageBytes, "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html (3.75 MB before the encoding)", nil},
	ImageSoftCount:   {Warning, Medium, "", "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html (another page says that there is no limit)", nil},
	NoToolConfig:     {Error, High, "The toolConfig field must be defined when using toolUse and toolResult content blocks.", "gh:langgenius/dify#17545", nil},
}

var bedrock = Profile{
	Name: "bedrock", Title: "Amazon Bedrock Converse API (Claude models)", Wire: Converse, Merges: true,
	// Recorded requests with "\n" between a document and a cachePoint were answered (Claude Sonnet 4.5:
	// test_bedrock_cache_write_and_read of pydantic/pydantic-ai, which says that a cachePoint behind a
	// document is refused). White space elsewhere is refused: gh:langchain-ai/langchainjs#8618,
	// gh:NousResearch/hermes-agent#41985.
	BlankBehindMedia: true,
	// The same models answered a recorded request that begins with a text of the assistant
	// (test_bedrock_anthropic_message_history_starting_with_response). Older reports of a refusal are in
	// the cell.
	TextFirst: true,
	IDChars:   WordDash, IDMax: 64, NameChars: WordDash, NameMax: 64,
	Roles: []string{"user", "assistant", "user"}, ResultForms: FormList,
	Images: ImageLimits{Side: 8000, Many: 20, ManySide: 2000, SoftBytes: 5 << 20, SoftCount: 20},
	Replay: ReplaySigned,
	Switch: Switch{
		At: "additionalModelRequestFields.thinking", On: "enabled", Off: `{"type":"disabled"}`,
		Source: anthropicSwitch.Source,
	},
	Cells: bedrockCells,
}

// bedrockOtherCells apply to models other than Claude, before bedrockCells. Beyond the checks
// of the API itself, it is known for few of them what they reject.
var bedrockOtherCells = Cells{
	ArgsNotObject: {Warning, Low, "", bedrockDocs, nil},
	LastRole:      {Accepted, Low, "", "", nil},
	TrailingSpace: {Accepted, Low, "", "", nil},
}

var bedrockNova = Profile{
	Name: "bedrock-nova", Title: "Amazon Bedrock Converse API (Nova models)", Wire: Converse, Like: &bedrock,
	IDChars: WordDash, IDMax: 64, NameChars: WordDash, NameMax: 64,
	Roles: []string{"user", "assistant", "user"}, ResultForms: FormList,
	Rest: []*Cells{&bedrockOtherCells, &bedrockCells},
	Cells: Cells{
		Mixed: {Accepted, High, "", "recorded requests that were answered", nil},
	},
}

var bedrockOther = Profile{
	Name: "bedrock-other", Title: "Amazon Bedrock Converse API (other models)", Wire: Converse, Like: &bedrock,
	IDChars: WordDash, IDMax: 64, NameChars: WordDash, NameMax: 64,
	Roles: []string{"user", "assistant", "user"}, ResultForms: FormList,
	Rest: []*Cells{&bedrockOtherCells, &bedrockCells},
	Cells: Cells{
		BadID: {Error, Low, "", bedrockDocs + " (a recorded request with another id was answered)", nil},
		Mixed: {Error, High, "messages.2.content: Conversation blocks and tool result blocks cannot be provided in the same turn.", "gh:langchain-ai/langchain-aws#141", []string{"messages.2.content: Conversation blocks and tool use blocks cannot be provided in the same turn."}},
	},
}

var bedrockOpen = Profile{
	Name: "bedrock-open", Title: "Amazon Bedrock Converse API (open-weight models)", Wire: Converse, Like: &bedrockOther,
	IDChars: WordDash, IDMax: 64, NameChars: WordDash, NameMax: 64,
	Roles: []string{"user", "assistant", "user"}, ResultForms: FormList,
	Rest: []*Cells{&bedrockOtherCells, &bedrockCells},
	Cells: Cells{
		BadID: {Error, Low, "", bedrockDocs + " (a recorded request with another id was answered)", nil},
		Mixed: {Error, Low, "", "as bedrock-other", nil},
	},
}
