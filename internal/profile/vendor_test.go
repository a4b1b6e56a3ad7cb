package profile

import (
	"slices"
	"strings"
	"testing"
)

// bases are the profiles of the shapes, as dialects name them.
var bases = []*Profile{&openAI, &openAIResponses, &anthropic, &bedrock, &gemini}

// spellings are ways in which a model is named.
func spellings(model string, direct bool) []string {
	out := []string{model, strings.ToUpper(model), model + "-2507"}
	if !direct {
		out = append(out, "vendor/"+model, "gateway/vendor/"+model+":free", "us.vendor."+model+"-v1:0", "accounts/x/models/"+model)
	}
	return out
}

// TestVendors: every name in the table leads to its own row, from every shape,
// however it is spelled; no row hides a later one.
func TestVendors(t *testing.T) {
	for i, v := range Vendors() {
		// A row of weights stands behind one of a provider that serves them under
		// their own names.
		direct := func(model string) bool {
			return slices.ContainsFunc(Vendors()[:i], func(before Vendor) bool { return before.Direct && before.serves(model) })
		}
		want := func(base *Profile) *Profile {
			p, _ := v.api(base)
			return p
		}
		var requests []Request
		for _, m := range v.Models {
			for _, s := range slices.DeleteFunc(spellings(m, v.Direct), direct) {
				requests = append(requests, Request{Model: s})
			}
			if direct(m) {
				continue
			}
			requests = append(
				requests,
				Request{Hosts: []string{"https://bedrock-runtime.us-east-1.amazonaws.com/model/" + m + "-v1/converse"}},
				Request{Hosts: []string{"https://gateway.example/v1beta/models/" + m + "-v1"}},
				Request{Model: m, Hosts: []string{"https://gateway.example/v1"}},
			)
		}
		for _, h := range v.Hosts {
			for _, s := range []string{h, "api." + h, "https://api." + h + "/v1/chat/completions", "https://" + h + ":443/v1", "api." + h + "/v1", strings.ToUpper(h) + ":443"} {
				requests = append(requests, Request{Hosts: []string{s}}, Request{Model: "another-model", Hosts: []string{"x", s}}, Request{Model: "gpt-4o", Hosts: []string{s}})
			}
		}
		for _, n := range v.Names {
			requests = append(requests, Request{Hosts: []string{n}}, Request{Model: "llama-3.3-70b", Hosts: []string{strings.ToUpper(n)}})
		}
		if len(requests) == 0 || len(v.APIs) == 0 {
			t.Errorf("a row says nothing: %+v", v)
		}
		for _, base := range bases {
			for _, r := range requests {
				if got, _ := base.Asked(r); got != want(base) {
					t.Errorf("%+v in the shape of %s asks %s, want %s", r, base.Name, got.Name, want(base).Name)
				}
			}
		}
		wires := map[Wire]bool{}
		for _, p := range v.APIs {
			if wires[p.Wire] || ByName(p.Name) != p {
				t.Errorf("%s stands beside another profile of its shape, or is not listed", p.Name)
			}
			wires[p.Wire] = true
		}
	}
}

// TestAskedOfNobody: a request that names nothing known asks whom its shape says,
// and what has a profile of its own keeps it.
func TestAskedOfNobody(t *testing.T) {
	for _, base := range bases {
		for _, r := range []Request{
			{},
			{Model: "m"},
			{Model: "my-deployment"},
			{Model: "/"},
			{Model: "."},
			{Model: "model/", Hosts: []string{"model/", "models/%zz", ":", "://", ""}},
			{Hosts: []string{"https://github.com/deepseek.com/x"}, Model: "x"},
			{Hosts: []string{"notdeepseek.com", "deepseek.com.example"}},
		} {
			if got, named := base.Asked(r); got != base || named {
				t.Errorf("%+v in the shape of %s asks %s", r, base.Name, got.Name)
			}
		}
	}
	for _, p := range All() {
		if got, named := p.Asked(Request{Model: "deepseek-chat"}); slices.Contains(bases, p) && p != &gemini == (got == p) || !slices.Contains(bases, p) && (got != p || named) {
			t.Errorf("%s: deepseek-chat asks %s", p.Name, got.Name)
		}
	}
}

// TestModels: names as providers and gateways write them.
func TestModels(t *testing.T) {
	for model, want := range map[string][2]string{ // in the shape of a chat, and of Converse
		"gpt-5": {"openai", "bedrock"}, "GPT-4o": {"openai", "bedrock"}, "azure/openai/o4-mini": {"openai", "bedrock"}, "ft:gpt-4o:me::1": {"openai", "bedrock"},
		"gpt-oss-120b": {"openai-compatible", "bedrock-open"}, "openai.gpt-oss-120b-1:0": {"openai-compatible", "bedrock-open"},
		"deepseek-chat": {"deepseek", "bedrock-open"}, "deepseek-ai/DeepSeek-V3": {"deepseek", "bedrock-open"}, "us.deepseek.r1-v1:0": {"deepseek", "bedrock-open"},
		"moonshotai/kimi-k2": {"kimi", "bedrock-open"}, "moonshot.kimi-k2-thinking": {"kimi", "bedrock-open"},
		"Qwen/Qwen3-Coder-30B-A3B-Instruct": {"qwen", "bedrock-open"}, "z-ai/glm-4.6": {"glm", "bedrock-open"}, "x-ai/grok-4": {"xai", "bedrock"},
		"mistral-large-latest": {"mistral", "bedrock-other"}, "mistralai/mistral-nemo": {"openai-compatible", "bedrock-other"}, "mistral:7b": {"openai-compatible", "bedrock-other"},
		"mistral.mistral-large-2407-v1:0":            {"openai-compatible", "bedrock-other"},
		"us.anthropic.claude-sonnet-4-20250514-v1:0": {"openai-compatible", "bedrock"}, "claude-opus-4-5": {"openai-compatible", "bedrock"},
		"us.amazon.nova-lite-v1:0": {"openai-compatible", "bedrock-nova"}, "meta.llama3-1-70b-instruct-v1:0": {"openai-compatible", "bedrock-other"},
		"gemini-2.5-flash": {"openai-compatible", "bedrock"}, "cohere.command-r-v1:0": {"cohere", "bedrock-other"}, "m": {"openai", "bedrock"},
	} {
		for i, base := range []*Profile{&openAI, &bedrock} {
			if got, _ := base.Asked(Request{Model: model}); got.Name != want[i] {
				t.Errorf("%s in the shape of %s asks %s, want %s", model, base.Name, got.Name, want[i])
			}
		}
	}
	for model, want := range map[string]string{"gemini-3-pro-preview": "gemini-3", "google/gemini-3-flash": "gemini-3", "gemini-2.5-pro": "gemini", "models/gemini-3-pro": "gemini-3"} {
		if got, _ := gemini.Asked(Request{Model: model}); got.Name != want {
			t.Errorf("%s asks %s, want %s", model, got.Name, want)
		}
	}
}

// TestCopies: of a copy of an API nothing is an error that only the original is
// known to refuse.
func TestCopies(t *testing.T) {
	for _, p := range copies() {
		if p.Like == nil || p.Like.Wire != p.Wire || p.IDMax > 0 || p.IDChars != AnyText {
			t.Errorf("%s says more than is known", p.Name)
		}
		for at := range points {
			if p.Cell(at).Effective() == Error {
				t.Errorf("%s, point %d: an error", p.Name, at)
			}
		}
	}
}
