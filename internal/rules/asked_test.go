package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
)

// body returns a request with the history of a shape, and with what it says of
// itself.
func (s *shape) body(history, says string) string {
	switch s.native {
	case "openai-responses":
		return `{` + says + `"stream":false,"input":` + history + `}`
	case "gemini":
		return `{` + says + `"generationConfig":{},` + strings.TrimPrefix(history, "{")
	}
	return `{` + says + `"temperature":1,"messages":` + history + `}`
}

// tellings are ways in which a file tells whom a request asks: AT stands for the
// name of a host, PROVIDER and MODEL for theirs, BODY for the request.
var tellings = []string{
	`{"url":"https://api.AT/v1/chat","body":BODY}`,
	`{"request":{"method":"POST","host":"AT","body":BODY},"status":400}`,
	`[{"base_url":"https://AT:443/v1","request":BODY}]`,
	`{"provider":"PROVIDER","request":BODY}`,
	`{"request":{"uri":"https://gateway.example/model/MODEL/converse","body":BODY}}`,
	`"model":"MODEL",`,
	`"model":"gateway/MODEL","provider":"gateway",`,
	`"modelId":"MODEL",`,
}

// TestProfileFollowsTheRequest: a request is checked with the profile of the provider that it
// names, however it names it. The message about an unknown role shows the profile.
func TestProfileFollowsTheRequest(t *testing.T) {
	for _, v := range profile.Vendors() {
		for i := range shapes {
			s := &shapes[i]
			for _, telling := range tellings {
				r := profile.Request{}
				at, tells := strings.NewReplacer(), false
				switch {
				case strings.Contains(telling, "AT") && len(v.Hosts) > 0:
					at, tells = strings.NewReplacer("AT", v.Hosts[0]), true
					r.Hosts = v.Hosts
				case strings.Contains(telling, "PROVIDER") && len(v.Names) > 0:
					at, tells = strings.NewReplacer("PROVIDER", v.Names[0]), true
					r.Hosts = v.Names
				case strings.Contains(telling, "MODEL") && len(v.Models) > 0:
					at, tells = strings.NewReplacer("MODEL", v.Models[0]+"-1"), true
					r.Model = v.Models[0] + "-1"
					if strings.Contains(telling, "/MODEL") && !strings.HasPrefix(telling, "{") {
						r.Model = "gateway/" + r.Model
					}
				}
				if !tells {
					continue
				}
				history := s.with("{}", "x", "weird")
				if s.native == "openai" || s.native == "openai-responses" {
					history = s.with(`"{}"`, "x", "weird")
				}
				says := `"model":"m",`
				if !strings.HasPrefix(telling, "{") && !strings.HasPrefix(telling, "[") {
					says = at.Replace(telling)
				} else if strings.Contains(telling, "MODEL") {
					says = ""
					if s.native != "bedrock" && s.native != "gemini" {
						continue // only there the address names the model
					}
				}
				text := s.body(history, says)
				if strings.HasPrefix(telling, "{") || strings.HasPrefix(telling, "[") {
					text = strings.ReplaceAll(at.Replace(telling), "BODY", text)
				}
				want, _ := profile.ByName(s.native).Asked(r)
				found := findings(t, text, text)
				if !slices.ContainsFunc(found, func(f engine.Finding) bool {
					return f.Rule.Name == "invalid-role" && f.Message == "the "+want.Title+` does not accept the role "weird"`
				}) {
					t.Errorf("%s\nis not held against %s: %v", text, want.Name, messages(found))
				}
			}
		}
	}
}

// TestFilesThatAskNobody: a file that is not a request is checked as its format requires,
// whatever models it names.
func TestFilesThatAskNobody(t *testing.T) {
	for i := range shapes {
		s := &shapes[i]
		history := strings.ReplaceAll(s.with("{}", "x", "weird"), "\n", "")
		if s.native == "openai" || s.native == "openai-responses" {
			history = strings.ReplaceAll(s.with(`"{}"`, "x", "weird"), "\n", "")
		}
		if s.native == "gemini" {
			continue // it is a member of its object
		}
		for _, text := range []string{
			history,
			`{"messages":` + history + `}`,
			`{"model":"deepseek-chat","messages":` + history + `}` + "\n" + `{"model":"kimi-k2","messages":` + history + `}`,
		} {
			title := profile.ByName(s.native).Title
			if found := findings(t, text, text); !slices.ContainsFunc(found, func(f engine.Finding) bool {
				return f.Rule.Name == "invalid-role" && f.Severity == rules.Info && f.Message == "the "+title+` does not accept the role "weird"`
			}) {
				t.Errorf("%s\nis not held against %s: %v", text, s.native, messages(found))
			}
		}
	}
}

func messages(found []engine.Finding) (out []string) {
	for i := range found {
		out = append(out, found[i].Severity.String()+" "+found[i].Rule.Name+" "+found[i].Message)
	}
	return out
}

// TestRequestsOfVendors: what is known of one provider alone, and what of others.
func TestRequestsOfVendors(t *testing.T) {
	const (
		chatCall = `[{"role":"user","content":"q"},{"role":"assistant","content":"","tool_calls":[{"id":"ID","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"ID","content":"1"}]`
		items    = `[{"role":"user","content":"q"},{"type":"function_call","id":"call_1","call_id":"call_1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"call_1","output":"1"}]`
		converse = `[{"role":"user","content":[{"text":"q"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"functions.f:0","name":"f","input":{}}}]},
{"role":"user","content":[{"toolResult":{"toolUseId":"functions.f:0","content":[{"text":"1"}]}},{"text":"and?"}]}]`
		blocks = `[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"functions.f:0","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"functions.f:0","content":"1"}]}]`
	)
	chatBody := func(model, id string) string {
		return `{"model":"` + model + `","temperature":1,"messages":` + strings.ReplaceAll(chatCall, "ID", id) + `}`
	}
	saying := func(model, what string) string {
		return strings.Replace(chatBody(model, "call_1"), `"temperature":1`, what, 1)
	}
	itemsBody := func(model string) string { return `{"model":"` + model + `","stream":true,"input":` + items + `}` }
	converseBody := func(model string) string {
		return `{"modelId":"` + model + `","toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]},"messages":` + converse + `}`
	}
	blocksBody := func(model string) string { return `{"model":"` + model + `","max_tokens":9,"messages":` + blocks + `}` }
	for _, c := range []struct {
		text, rule string
		want       rules.Severity
	}{
		{chatBody("mistral-large-latest", "call_1"), "invalid-call-id", rules.Error},
		{chatBody("mistralai/mistral-large", "call_1"), "invalid-call-id", rules.Off},
		{chatBody("gpt-4o", "call_1"), "invalid-call-id", rules.Off},
		{chatBody("gpt-4o", strings.Repeat("a", 65)), "invalid-call-id", rules.Error},
		{chatBody("kimi-k2", strings.Repeat("a", 65)), "invalid-call-id", rules.Off},
		{chatBody("deepseek-chat", "call_1"), "reasoning-unreplayable", rules.Off},
		{chatBody("deepseek-reasoner", "call_1"), "reasoning-unreplayable", rules.Off},
		{chatBody("deepseek-v4-pro", "call_1"), "reasoning-unreplayable", rules.Off},
		{saying("deepseek-v4-pro", `"thinking":{"type":"enabled"}`), "reasoning-unreplayable", rules.Warning},
		{saying("deepseek-v4-pro", `"thinking":{"type":"disabled"}`), "reasoning-unreplayable", rules.Off},
		{saying("deepseek-v4-flash", `"reasoning_effort":"max"`), "reasoning-unreplayable", rules.Warning},
		{saying("deepseek-v4-flash", `"reasoning_effort":"none"`), "reasoning-unreplayable", rules.Off},
		{saying("deepseek-chat", `"reasoning_effort":"max"`), "reasoning-unreplayable", rules.Off},
		{blocksBody("deepseek-v4-pro"), "reasoning-unreplayable", rules.Off},
		{strings.Replace(blocksBody("deepseek-v4-pro"), `"max_tokens"`, `"thinking":{"type":"enabled"},"max_tokens"`, 1), "reasoning-unreplayable", rules.Warning},
		{saying("moonshotai/kimi-k2-thinking", `"thinking":{"type":"disabled"}`), "reasoning-unreplayable", rules.Off},
		{chatBody("gemini-3-pro-preview", "call_1"), "reasoning-unreplayable", rules.Error},
		{chatBody("models/gemini-3.5-flash", "call_1"), "reasoning-unreplayable", rules.Error},
		{chatBody("google/gemini-3-pro-preview", "call_1"), "reasoning-unreplayable", rules.Off},
		{chatBody("gemini-2.5-pro", "call_1"), "reasoning-unreplayable", rules.Off},
		{chatBody("kimi-k2-0905-preview", "call_1"), "reasoning-unreplayable", rules.Off},
		{chatBody("moonshotai/kimi-k2-thinking", "call_1"), "reasoning-unreplayable", rules.Warning},
		{itemsBody("gpt-5"), "invalid-item-id", rules.Error},
		{itemsBody("deepseek-chat"), "invalid-item-id", rules.Off},
		{itemsBody("Qwen/Qwen3-Coder"), "invalid-item-id", rules.Info},
		{itemsBody("m"), "invalid-item-id", rules.Info},
		{converseBody("us.anthropic.claude-sonnet-4-v1:0"), "invalid-call-id", rules.Error},
		{converseBody("us.amazon.nova-lite-v1:0"), "invalid-call-id", rules.Error},
		{converseBody("moonshot.kimi-k2-thinking"), "invalid-call-id", rules.Warning},
		{converseBody("us.anthropic.claude-sonnet-4-v1:0"), "mixed-tool-result-message", rules.Off},
		{converseBody("us.amazon.nova-lite-v1:0"), "mixed-tool-result-message", rules.Off},
		{converseBody("mistral.mistral-large-2407-v1:0"), "mixed-tool-result-message", rules.Error},
		{converseBody("moonshot.kimi-k2-thinking"), "mixed-tool-result-message", rules.Warning},
		{blocksBody("claude-sonnet-4"), "invalid-call-id", rules.Error},
		{blocksBody("kimi-k2"), "invalid-call-id", rules.Off},
	} {
		if got := worst(findings(t, c.text, c.text), c.rule); got != c.want {
			t.Errorf("%s: %s is %v, want %v", c.text, c.rule, got, c.want)
		}
	}
}

// TestGeminiBodies: contents beside what only a request has are a request, in which
// a call that waits is an error; without it they are a history.
func TestGeminiBodies(t *testing.T) {
	const contents = `"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}]`
	for text, want := range map[string]rules.Severity{
		`{` + contents + `}`:                                                                             rules.Warning,
		`{` + contents + `,"labels":{}}`:                                                                 rules.Warning,
		`{` + contents + `,"generationConfig":{"temperature":1}}`:                                        rules.Error,
		`{"generation_config":{},` + contents + `}`:                                                      rules.Error,
		`{"tools":[{"functionDeclarations":[{"name":"f"}]}],` + contents + `}`:                           rules.Error,
		`{` + contents + `,"systemInstruction":{"parts":[{"text":"s"}]}}`:                                rules.Error,
		`{"request":{` + contents + `,"system_instruction":{"parts":[{"text":"s"}]}}}`:                   rules.Error,
		`{"tools":[],` + contents + `}` + "\n" + `{"tools":[],` + contents + `}`:                         rules.Info, // rows of a dataset
		`{"request":{"generationConfig":{},` + contents + `}}` + "\n" + `{"request":{` + contents + `}}`: rules.Error,
	} {
		if got := worst(findings(t, text, text), "pending-tool-call"); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestRequestNamesItsProvider: the order of roles has the severity of the provider where a
// request names it, and in no other file.
func TestRequestNamesItsProvider(t *testing.T) {
	const (
		mistral = `[{"role":"user","content":"q"},{"role":"assistant","content":"","tool_calls":[{"id":"abcdefghi","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
			`{"role":"tool","tool_call_id":"abcdefghi","content":"1"},{"role":"user","content":"n"}]`
		bedrock = `[{"role":"assistant","content":[{"text":"a"}]},{"role":"user","content":[{"text":"b"}]},{"role":"user","content":[{"text":"c"}]},` +
			`{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"1"}]}}]}]`
		claude = `[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]},{"role":"assistant","content":"Sure,"}]`
	)
	for _, tt := range []struct {
		text, rule string
		want       rules.Severity
	}{
		{`{"model":"mistral-large-latest","messages":` + mistral + `}`, "user-after-tool", rules.Error},
		{`{"model":"weights/mistral-large-latest","messages":` + mistral + `}`, "user-after-tool", rules.Off},
		{`{"messages":` + mistral + `}`, "user-after-tool", rules.Off},
		{`{"modelId":"anthropic.claude-3","toolConfig":{"tools":[]},"messages":` + bedrock + `}`, "first-role", rules.Off},
		{`{"modelId":"amazon.nova-pro-v1:0","toolConfig":{"tools":[]},"messages":` + bedrock + `}`, "first-role", rules.Error},
		{`{"modelId":"anthropic.claude-3","toolConfig":{"tools":[]},"messages":` + bedrock + `}`, "consecutive-roles", rules.Error},
		{`{"modelId":"m","toolConfig":{"tools":[]},"messages":` + bedrock + `}`, "consecutive-roles", rules.Info},
		{`[` + strings.TrimPrefix(bedrock, `[{"role":"assistant","content":[{"text":"a"}]},{"role":"user","content":[{"text":"b"}]},{"role":"user","content":[{"text":"c"}]},`), "first-role", rules.Info},
		{`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":` + claude + `}`, "last-role", rules.Off}, // some models take it
		{`{"model":"mistral-large-latest","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`, "last-role", rules.Error},
		{`{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`, "last-role", rules.Off},
		{`{"model":"m","max_tokens":9,"messages":` + claude + `}`, "last-role", rules.Off},
		{claude, "last-role", rules.Off},
	} {
		if got := worst(findings(t, "request", tt.text), tt.rule); got != tt.want {
			t.Errorf("%s of %s: %v, want %v", tt.rule, tt.text, got, tt.want)
		}
	}
}

// TestLongNames: a name over the limit of the provider is an error whatever its characters
// are, and the repair leaves a name that is accepted.
func TestLongNames(t *testing.T) {
	const history = `[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"NAME","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`
	for _, tt := range []struct {
		name string
		want string
	}{
		{strings.Repeat("x", 200), ""},
		{strings.Repeat("x", 201), "error: the tool name has 201 characters; the Anthropic Messages API allows 200: shorten the name"},
		{"grep -rn " + strings.Repeat("x", 192), "error: the tool name has 201 characters; the Anthropic Messages API allows 200: shorten the name and replace the characters that are not allowed"},
		{"grep -rn", `warning: the tool name "grep -rn" contains characters that the Anthropic Messages API does not accept: only [A-Za-z0-9_-] are allowed: replace the characters that are not allowed`},
	} {
		var got []string
		for _, f := range findings(t, "name", strings.Replace(history, "NAME", tt.name, 1)) {
			if f.Rule.Name == "invalid-tool-name" {
				got = append(got, f.Severity.String()+": "+f.Message+": "+f.Fix.Title)
			}
		}
		if strings.Join(got, "\n") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
