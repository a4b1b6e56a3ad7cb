package profile

// These are the profiles of libraries that check a history before they send it.

const (
	aiSDKDocs    = "https://ai-sdk.dev/docs/troubleshooting/missing-tool-results-error"
	aiSDKMissing = "Tool result is missing for tool call {id}."
)

var aiSDK = Profile{
	Name: "ai-sdk", Title: "Vercel AI SDK", Wire: Framework,
	Roles: []string{"user", "assistant", "tool", "system"},
	Cells: Cells{
		Missing:      {Error, High, aiSDKMissing, aiSDKDocs, []string{"Tool results are missing for tool calls: {id}"}},
		Orphan:       {Accepted, High, "", "the check looks for missing results only", nil},
		Misplaced:    {Error, High, aiSDKMissing, aiSDKDocs, nil},
		Before:       {Error, Medium, aiSDKMissing, aiSDKDocs, nil},
		Order:        {Info, Low, "", "no refusal is reported", nil},
		MissingID:    {Error, Medium, "", "the library's types: toolCallId is a string", nil},
		BadName:      {Error, Low, "", "", nil},
		ReusedID:     {Info, Low, "", "", nil},
		NoResultName: {Warning, Medium, "", "the library's types: toolName is a string", nil},
		ArgsBadJSON:  {Warning, Low, "", "", nil},
		NoArgs:       {Warning, Low, "", "", nil},
		BadRole:      {Error, Medium, "", "the library's types", nil},
		WrongRole:    {Error, Medium, "", "the library's types", nil},
	},
}

const langGraphMissing = "Found AIMessages with tool_calls that do not have a corresponding ToolMessage. Here are the first few of those tool calls: …"

var langGraph = Profile{
	Name: "langgraph", Title: "LangGraph and LangChain", Wire: Framework,
	Cells: Cells{
		Missing:     {Error, High, langGraphMissing, "https://docs.langchain.com/oss/python/langgraph/errors/INVALID_CHAT_HISTORY", nil},
		Orphan:      {Accepted, High, "", "the check looks for missing results only", nil},
		Misplaced:   {Accepted, High, "", "the check looks for ids anywhere", nil},
		Order:       {Info, Low, "", "no refusal is reported", nil},
		MissingID:   {Error, Medium, "", "the library's types: tool_call_id is a string", nil},
		BadName:     {Error, Low, "", "", nil},
		ReusedID:    {Warning, Medium, "", "the check is by a set of ids, and takes such calls for answered", nil},
		ArgsBadJSON: {Warning, Low, "", "", nil},
		NoArgs:      {Warning, Low, "", "", nil},
		WrongRole:   {Error, Medium, "", "the types of the library: only an AIMessage has calls", nil},
	},
}

var pydanticAI = Profile{
	Name: "pydantic-ai", Title: "Pydantic AI", Wire: Framework,
	Cells: Cells{
		Missing:      {Error, Medium, "Cannot provide a new user prompt when the message history contains unprocessed tool calls.", "https://ai.pydantic.dev/message-history/", nil},
		Orphan:       {Accepted, Medium, "", "the check looks at the last response only", nil},
		Order:        {Info, Low, "", "no refusal is reported", nil},
		MissingID:    {Warning, Low, "", "", nil},
		BadName:      {Error, Low, "", "", nil},
		ReusedID:     {Info, Low, "", "", nil},
		NoResultName: {Warning, Medium, "", "the library's types: tool_name is a string", nil},
		ArgsBadJSON:  {Warning, Low, "", "", nil},
		WrongRole:    {Error, Low, "", "", nil},
	},
}
