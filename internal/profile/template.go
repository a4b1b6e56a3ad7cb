package profile

const (
	templateDocs = "https://huggingface.co/docs/transformers/chat_extras"
	notMapping   = "Can only get item pairs from a mapping."
)

// chatTemplate is for rows of training sets, which chat templates and trainers turn into text. They
// look at the order of messages and at the arguments of calls, which must be objects; ids may be
// absent, and Arrow adds empty lists and nulls to the columns of each message.
var chatTemplate = Profile{
	Name: "chat-template", Title: "chat template of a model", Wire: Chat, ArgsBoth: true,
	Roles: []string{"user", "assistant", "tool", "system", "developer", "function", "tool_call", "tool_response", "tool_output", "observation", "answer", "human", "gpt", "function_call"},
	Cells: Cells{
		Missing:          {Error, Medium, "", templateDocs, nil},
		Orphan:           {Error, Medium, "", templateDocs, nil},
		Misplaced:        {Error, Medium, "", templateDocs, nil},
		Before:           {Error, Medium, "", templateDocs, nil},
		Duplicate:        {Error, Medium, "", templateDocs, nil},
		DuplicateID:      {Warning, Medium, "", templateDocs, nil},
		ReusedID:         {Info, Medium, "", templateDocs, nil},
		Order:            {Info, Medium, "", templateDocs, nil},
		MissingID:        {Accepted, High, "", templateDocs, nil},
		BadID:            {Accepted, Medium, "", templateDocs, nil},
		BadName:          {Error, Medium, "", templateDocs, nil},
		BadNamePattern:   {Accepted, Medium, "", templateDocs, nil},
		NoResultName:     {Accepted, High, "", templateDocs, nil},
		EmptyCalls:       {Accepted, High, "", "https://huggingface.co/docs/datasets/about_arrow", nil},
		NoCallType:       {Accepted, Medium, "", templateDocs, nil},
		ArgsNotString:    {Accepted, High, "", templateDocs, nil},
		ArgsBadJSON:      {Error, High, notMapping, "gh:benchflow-ai/benchflow#848", nil},
		ArgsNotObject:    {Error, High, notMapping, "gh:QwenLM/Qwen3-Coder#444", nil},
		NoArgs:           {Warning, Medium, "", "gh:huggingface/trl#4881", nil},
		NullResult:       {Warning, Low, "", templateDocs, nil},
		NullMessage:      {Accepted, High, "", templateDocs, nil},
		EmptyMessage:     {Accepted, High, "", templateDocs, nil},
		EmptyText:        {Accepted, Medium, "", templateDocs, nil},
		BadRole:          {Warning, Medium, "Unexpected message role.", "gh:0xku/kon#5", nil},
		WrongRole:        {Error, Medium, "", templateDocs, nil},
		ConsecutiveRoles: {Info, Medium, "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.", "gh:mistralai/mistral-vibe#1006", nil},
		LastRole:         {Accepted, High, "", templateDocs, nil},
	},
}

// OfRows returns the profile for rows of a training set whose messages are as in requests to the
// profile's API.
func (p *Profile) OfRows() *Profile {
	if p == &openAI {
		return &chatTemplate
	}
	return p
}
