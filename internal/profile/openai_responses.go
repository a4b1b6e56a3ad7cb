package profile

var openAIResponses = Profile{
	Name: "openai-responses", Title: "OpenAI Responses API",
	IDMax: 64, NameChars: WordDash, NameMax: 64,
	Cells: Cells{
		Missing:        Cell{Error, High, "No tool output found for function call ….", "gh:openai/openai-agents-python#1855"},
		Orphan:         Cell{Error, High, "No tool call found for function call output with call_id ….", "gh:microsoft/vscode#320060"},
		Duplicate:      Cell{Error, Low, "", ""},
		DuplicateID:    Cell{Error, Low, "", "gh:openai/gpt-oss#309"},
		ReusedID:       Cell{Info, Low, "", ""},
		Order:          Cell{Info, Medium, "", ""},
		MissingID:      Cell{Error, High, "Invalid 'input[4].call_id': empty string.", "gh:openai/codex#14355"},
		BadID:          Cell{Error, High, "Invalid 'input[95].call_id': string too long. Expected a string with maximum length 64", "gh:AnswerDotAI/fastllm#45"},
		BadName:        Cell{Error, Medium, "", ""},
		BadNamePattern: Cell{Error, Low, "", ""},
		ArgsNotString:  Cell{Error, Medium, "", ""},
		ArgsBadJSON:    Cell{Warning, Low, "", ""},
		WrongRole:      Cell{Error, Low, "", ""},
		Unreplayable:   Cell{Error, High, "Item 'rs_…' of type 'reasoning' was provided without its required following item.", "gh:vercel/ai#7099"},
	},
}
