package upstream

// A Preset is a provider with a name. Its row says where the API is and how clients reach it.
type Preset struct {
	Name, URL string
	// Profile is the profile of the API. If it is empty, the host of the URL or the model selects
	// one.
	Profile string
	// The paths that clients append to the address of the proxy, for each shape of request that
	// the provider takes; a dash if it takes none.
	Anthropic, OpenAI, Gemini string
	// Responses says that the provider takes the Responses API below the path for OpenAI.
	Responses bool
}

// Presets lists the providers. The URLs have no path, so clients keep the paths that the provider
// documents.
func Presets() []Preset { return presets }

var presets = []Preset{
	{"anthropic", "https://api.anthropic.com", "", "", "-", "-", false},
	{"openai", "https://api.openai.com", "", "-", "/v1", "-", true},
	{"gemini", "https://generativelanguage.googleapis.com", "", "-", "/v1beta/openai", "", false},
	{"mistral", "https://api.mistral.ai", "", "-", "/v1", "-", false},
	{"deepseek", "https://api.deepseek.com", "", "/anthropic", "/v1", "-", false},
	{"openrouter", "https://openrouter.ai", "", "/api", "/api/v1", "-", true},
	{"groq", "https://api.groq.com", "", "-", "/openai/v1", "-", true},
	{"xai", "https://api.x.ai", "", "-", "/v1", "-", true},
	{"kimi", "https://api.moonshot.ai", "", "/anthropic", "/v1", "-", false},
	{"glm", "https://api.z.ai", "", "/api/anthropic", "/api/paas/v4", "-", false},
	{"minimax", "https://api.minimax.io", "", "/anthropic", "/v1", "-", false},
	{"qwen", "https://dashscope-intl.aliyuncs.com", "", "-", "/compatible-mode/v1", "-", false},
	{"cohere", "https://api.cohere.com", "", "-", "/compatibility/v1", "-", false},
	{"ollama", "http://127.0.0.1:11434", "openai-compatible", "", "/v1", "-", true},
	{"vllm", "http://127.0.0.1:8000", "vllm", "-", "/v1", "-", true},
	{"llama-cpp", "http://127.0.0.1:8080", "llama-cpp", "", "/v1", "-", false},
}
