package profile

const (
	geminiCount    = "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
	geminiCall     = "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
	geminiResponse = "Please ensure that function response turn comes immediately after a function call turn."
)

var geminiCells = Cells{
	Missing:          {Error, High, geminiCount, "gh:google-gemini/gemini-cli#16984", nil},
	Orphan:           {Error, High, geminiResponse, "gh:langchain-ai/langchain#27799", []string{geminiCount}},
	Misplaced:        {Error, High, geminiCount, "gh:google-gemini/gemini-cli#4217", nil},
	Before:           {Error, High, geminiResponse, "gh:BerriAI/litellm#26755", nil},
	Duplicate:        {Error, High, geminiCount, "gh:google-gemini/gemini-cli#3814", nil},
	DuplicateID:      {Accepted, Medium, "", "ids are optional", nil},
	ReusedID:         {Accepted, Medium, "", "ids are optional", nil},
	Split:            {Warning, Medium, geminiCount, "gh:quarkiverse/quarkus-langchain4j#1271 (other requests were answered)", nil},
	NotFirst:         {Error, Medium, geminiCount, "gh:anomalyco/opencode#43479", nil},
	Mixed:            {Accepted, Low, "", "gh:anomalyco/opencode#43479 (older models take text beside responses)", nil},
	Order:            {Info, Low, "", "no refusal is reported", nil},
	MissingID:        {Accepted, High, "", "ids are optional", nil},
	BadName:          {Error, High, "", "gh:router-for-me/CLIProxyAPI#2104", nil},
	BadNamePattern:   {Warning, Low, "", "gh:google-gemini/gemini-cli#6704 (of declarations)", nil},
	NoResultName:     {Error, High, "GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.", "gh:router-for-me/CLIProxyAPI#2104", nil},
	ArgsNotObject:    {Error, High, "", "gh:router-for-me/CLIProxyAPI#2103", nil},
	NoArgs:           {Accepted, Medium, "", "the API reference: args is optional", nil},
	ResultContent:    {Error, High, "Invalid value at 'contents[2].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct), …", "gh:router-for-me/CLIProxyAPI#2103", nil},
	EmptyText:        {Info, Medium, "", "recorded requests that were answered", nil},
	EmptyBlock:       {Error, High, "GenerateContentRequest.contents[1].parts[0].data: required oneof field 'data' must have one initialized field", "gh:router-for-me/CLIProxyAPI#1292", nil},
	EmptyMessage:     {Error, High, "GenerateContentRequest.contents[0].parts: contents.parts must not be empty.", "gh:genkit-ai/genkit#3690", []string{"Unable to submit request because it must include at least one parts field, which describes the prompt input."}},
	NullMessage:      {Error, High, "GenerateContentRequest.contents[0].parts: contents.parts must not be empty.", "gh:langgenius/dify#30566", nil},
	TrailingSpace:    {Accepted, Medium, "", "", nil},
	BadRole:          {Error, High, "Please use a valid role: user, model.", "the API reference", nil},
	WrongRole:        {Error, Medium, geminiCall, "gh:lobehub/lobehub#10049", nil},
	FirstRole:        {Error, High, geminiCall, "gh:google-gemini/gemini-cli#11814", nil},
	ConsecutiveRoles: {Info, Medium, geminiCall, "gh:lobehub/lobehub#10049 (recorded requests were answered)", nil},
	UserAfterTool:    {Accepted, Medium, "", "", nil},
	LastRole:         {Error, Medium, "Please ensure that multiturn requests ends with a user role or a function response.", "the API's older models", []string{"Please ensure that multiturn requests alternate between user and model."}},
	CallsNotLast:     {Accepted, Low, "", "", nil},
	CallsNotLastHard: {Accepted, Low, "", "", nil},
	ImageCount:       {Warning, Medium, "", "https://docs.cloud.google.com/vertex-ai/docs/generative-ai/image/image-captioning", nil},
}

var gemini = Profile{
	Name: "gemini", Title: "Google Gemini API", Wire: Contents, Merges: true,
	NameChars: WordDashDot, NameMax: 64, UsersInRow: true, RoleOptional: true, TextFirst: true,
	Roles: []string{"user", "model", "user", "function", "tool"}, ResultForms: FormObject,
	Images: ImageLimits{Count: 3000},
	Cells:  geminiCells,
}

var gemini3 = Profile{
	Name: "gemini-3", Title: "Google Gemini API (Gemini 3 and later)", Wire: Contents, Like: &gemini, Merges: true,
	NameChars: WordDashDot, NameMax: 64, UsersInRow: true, RoleOptional: true, TextFirst: true,
	Roles: []string{"user", "model", "user", "function", "tool"}, ResultForms: FormObject,
	Images: ImageLimits{Count: 3000}, Replay: ReplaySignature, Sentinel: "skip_thought_signature_validator",
	Rest: []*Cells{&geminiCells},
	Cells: Cells{
		Mixed: {Warning, Medium, "", "gh:anomalyco/opencode#43479", nil},
		Sealed: {
			Error, High, "Corrupted thought signature.", "gh:google-gemini/gemini-cli#13467",
			[]string{"Unable to submit request because Thought signature is not valid.. Learn more: …", "Invalid thought signature."},
		},
		NoReasoning: {Error, High, "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, … Additional data, function call `default_api:{name}` , position 2.", "https://ai.google.dev/gemini-api/docs/thought-signatures", nil},
	},
}

const geminiUnsigned = "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:{name}` , position 2."

var gemini3Chat = Profile{
	Name: "gemini-3-chat", Title: "Google Gemini API (OpenAI-compatible, Gemini 3 and later)", Wire: Chat, Like: &openAI,
	NameChars: WordDashDot, NameMax: 64,
	Roles: chatRoles, ResultForms: FormString | FormList,
	Replay: ReplaySignature, Sentinel: "skip_thought_signature_validator",
	Cells: Cells{
		NoReasoning: {Error, High, geminiUnsigned, "gh:langroid/langroid#969", nil},
	},
}
