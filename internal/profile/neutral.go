package profile

// neutral is for histories that are not sent to a provider as they are: an agent or a library
// makes requests from them for the provider in use.
var neutral = Profile{
	Name: "neutral", Title: "agent's own provider", Wire: Framework,
	Cells: Cells{
		Missing:     {Error, High, "", "", nil},
		Orphan:      {Error, High, "", "", nil},
		Before:      {Error, High, "", "", nil},
		Duplicate:   {Error, High, "", "", nil},
		DuplicateID: {Error, High, "", "", nil},
		ReusedID:    {Info, High, "", "", nil},
		MissingID:   {Error, High, "", "", nil},
		BadID:       {Error, High, "", "", nil},
		BadName:     {Error, High, "", "", nil},
		ArgsBadJSON: {Warning, High, "", "", nil},
		NoArgs:      {Error, High, "", "", nil},
		WrongRole:   {Error, High, "", "", nil},
	},
}
