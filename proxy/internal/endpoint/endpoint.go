// Package endpoint is a table of the requests that have a history in their body. It does not know
// how a body is read.
package endpoint

import (
	"net/http"
	"path"
	"strings"

	"github.com/toolguard/toolguard/proxy/internal/refusal"
	"github.com/toolguard/toolguard/proxy/internal/target"
)

// An Endpoint is a row of the table.
type Endpoint struct {
	Name string // in logs and metrics
	// Paths are the last segments of the path. * stands for any text in one segment.
	Paths   []string
	Dialect string // of the messages in the body
	Errors  refusal.Shape
	// Mixed says that the API takes other bodies here too, which are no requests with a history.
	Mixed bool
}

// All lists the endpoints. All of them take POST.
func All() []Endpoint { return endpoints }

var endpoints = []Endpoint{
	{Name: "messages", Paths: []string{"v1/messages"}, Dialect: "anthropic", Errors: refusal.Anthropic},
	{Name: "count_tokens", Paths: []string{"v1/messages/count_tokens"}, Dialect: "anthropic", Errors: refusal.Anthropic},
	{Name: "chat", Paths: []string{"chat/completions"}, Dialect: "openai-chat", Errors: refusal.OpenAI},
	// llama.cpp, Moonshot and Mistral take the messages of a chat here too.
	{Name: "chat-input_tokens", Paths: []string{"chat/completions/input_tokens"}, Dialect: "openai-chat", Errors: refusal.OpenAI},
	{Name: "estimate-token-count", Paths: []string{"tokenizers/estimate-token-count"}, Dialect: "openai-chat", Errors: refusal.OpenAI},
	{Name: "agents", Paths: []string{"agents/completions"}, Dialect: "openai-chat", Errors: refusal.OpenAI},
	{Name: "responses", Paths: []string{"responses"}, Dialect: "openai-responses", Errors: refusal.OpenAI},
	{Name: "input_tokens", Paths: []string{"responses/input_tokens"}, Dialect: "openai-responses", Errors: refusal.OpenAI},
	{Name: "compact", Paths: []string{"responses/compact"}, Dialect: "openai-responses", Errors: refusal.OpenAI},
	{
		Name: "generateContent", Dialect: "gemini", Errors: refusal.Google,
		Paths: []string{"models/*:generateContent", "tunedModels/*:generateContent", "endpoints/*:generateContent"},
	},
	{
		Name: "streamGenerateContent", Dialect: "gemini", Errors: refusal.Google,
		Paths: []string{"models/*:streamGenerateContent", "tunedModels/*:streamGenerateContent", "endpoints/*:streamGenerateContent"},
	},
	{
		// The history can also be inside of a generateContentRequest.
		Name: "countTokens", Dialect: "gemini", Errors: refusal.Google, Mixed: true,
		Paths: []string{"models/*:countTokens", "tunedModels/*:countTokens", "endpoints/*:countTokens"},
	},
	{Name: "converse", Paths: []string{"model/*/converse"}, Dialect: "bedrock", Errors: refusal.Amazon},
	{Name: "converse-stream", Paths: []string{"model/*/converse-stream"}, Dialect: "bedrock", Errors: refusal.Amazon},
	{
		// The model decides about the body, and the ARN of a profile does not name the model.
		Name: "invoke", Dialect: "anthropic", Errors: refusal.Amazon, Mixed: true,
		Paths: []string{"model/*anthropic.*/invoke", "model/arn:*/invoke"},
	},
	{
		Name: "invoke-with-response-stream", Dialect: "anthropic", Errors: refusal.Amazon, Mixed: true,
		Paths: []string{"model/*anthropic.*/invoke-with-response-stream", "model/arn:*/invoke-with-response-stream"},
	},
	// One of these models is count-tokens, whose body has the name of the model and the messages.
	{Name: "rawPredict", Paths: []string{"publishers/anthropic/models/*:rawPredict"}, Dialect: "anthropic", Errors: refusal.Anthropic},
	{Name: "streamRawPredict", Paths: []string{"publishers/anthropic/models/*:streamRawPredict"}, Dialect: "anthropic", Errors: refusal.Anthropic},
}

// Find returns the endpoint of a request with this method to this path, as it is escaped in a
// URL, or nil. Paths with the same names are the same, however many slashes they have.
func Find(method, escapedPath string) *Endpoint {
	if method != http.MethodPost {
		return nil
	}
	names := target.Names(escapedPath)
	for i := range endpoints {
		for _, pattern := range endpoints[i].Paths {
			n := strings.Count(pattern, "/") + 1
			if n > len(names) {
				continue
			}
			if ok, err := path.Match(pattern, strings.Join(names[len(names)-n:], "/")); ok && err == nil {
				return &endpoints[i]
			}
		}
	}
	return nil
}
