package bench

// A tool is declared in requests and called in all kinds of transcripts.
type tool struct {
	name, description string
	parameters        object
	required          list
	input             func(r *random) object
}

func property(name, kind, description string) field {
	return field{name, object{{"type", kind}, {"description", description}}}
}

// Deciles of sizes in bytes, of text before it is escaped. The sizes for sessions were
// measured in real sessions, the sizes for rows in public datasets.
var (
	resultSizes  = []int{20, 90, 200, 420, 800, 1400, 2400, 4200, 8000, 16000, 48000}
	spokenSizes  = []int{30, 70, 120, 180, 260, 360, 500, 750, 1200, 2200, 5000}
	thoughtSizes = []int{80, 200, 320, 450, 600, 800, 1100, 1500, 2200, 3600, 9000}
	rowSizes     = []int{20, 40, 60, 80, 110, 150, 200, 280, 400, 700, 2500}
)

// tools never changes.
var tools = []tool{
	{
		"run_command", "Run a command in a shell and return what it prints.",
		object{property("command", "string", "The command line"), property("description", "string", "Why it is run")},
		list{"command"},
		func(r *random) object {
			return object{{"command", r.fill("cd /home/dev/{i} && go test ./{i}/... -run '{i}' 2>&1 | tail -{n}")}, {"description", r.fill("Run {w} tests")}}
		},
	},
	{
		"read_file", "Read a part of a file.",
		object{property("path", "string", "The file"), property("offset", "integer", "The first line"), property("limit", "integer", "How many lines")},
		list{"path"},
		func(r *random) object {
			return object{{"path", r.fill("{p}")}, {"offset", r.below(1000)}, {"limit", r.below(500)}}
		},
	},
	{
		"edit_file", "Replace a text that is in a file once.",
		object{property("path", "string", "The file"), property("old", "string", "The text"), property("new", "string", "What replaces it"), property("all", "boolean", "Replace it everywhere")},
		list{"path", "old", "new"},
		func(r *random) object {
			return object{{"path", r.fill("{p}")}, {"old", r.text(code, r.size(spokenSizes))}, {"new", r.text(code, r.size(spokenSizes))}, {"all", r.one(4)}}
		},
	},
	{
		"search", "Find the lines that match a regular expression.",
		object{property("pattern", "string", "The expression"), property("path", "string", "Where to look")},
		list{"pattern"},
		func(r *random) object {
			return object{{"pattern", r.fill("func \\(\\w \\*{i}\\) \\w+\\(\"")}, {"path", r.fill("{p}")}}
		},
	},
	{
		"get_weather", "The weather at a place, now or on a day to come.",
		object{
			property("place", "string", "City and country"),
			{"unit", object{{"type", "string"}, {"enum", list{"celsius", "fahrenheit"}}}},
			property("days", "integer", "How many days ahead"),
		},
		list{"place"},
		func(r *random) object {
			return object{{"place", r.fill("{i}, {f}")}, {"unit", r.pick([]string{"celsius", "fahrenheit"})}, {"days", r.below(9)}}
		},
	},
	{
		"write_list", "Write the list of what is to be done.",
		object{{"items", object{{"type", "array"}, {"items", object{
			{"type", "object"},
			{"properties", object{property("text", "string", "What"), property("done", "boolean", "Whether it is done")}},
			{"required", list{"text"}},
		}}}}},
		list{"items"},
		func(r *random) object {
			var items list
			for range 1 + r.below(5) {
				items = append(items, object{{"text", r.fill("{w} {w} {i} {w}")}, {"done", r.one(2)}})
			}
			return object{{"items", items}}
		},
	},
}

// shortTool returns a tool with short arguments, as in datasets.
func (r *random) shortTool() tool {
	for {
		if t := tools[r.below(len(tools))]; t.name != "edit_file" {
			return t
		}
	}
}

// declared returns the schema of the arguments.
func (t tool) declared() object {
	return object{{"type", "object"}, {"properties", t.parameters}, {"required", t.required}}
}
