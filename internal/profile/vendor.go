package profile

import (
	"net/url"
	"slices"
	"strings"
	"sync"
)

// A Vendor maps the hosts, providers and models that a file names to the profiles of the APIs
// behind them.
type Vendor struct {
	// Hosts are suffixes of host names.
	Hosts []string
	// Names are the names of the provider in clients and gateways.
	Names []string
	// Models are prefixes of model names.
	Models []string
	// Direct says that a model name must be in the provider's own spelling. A name with a
	// slash or a colon is the name of weights, which others serve.
	Direct bool
	// APIs are the profiles of its APIs, one for each shape. An API in another shape is a
	// copy about which nothing is known.
	APIs []*Profile
}

// Vendors lists the table. The first matching row applies, so a longer prefix comes before a
// shorter one. A row without hosts and names is for weights, or for models that are served by
// others.
func Vendors() []Vendor { return vendors() }

var vendors = sync.OnceValue(func() []Vendor {
	return []Vendor{
		{
			Hosts: []string{"deepseek.com"}, Names: []string{"deepseek"}, Models: []string{"deepseek"},
			APIs: []*Profile{&deepSeek, &deepSeekAnthropic, &deepSeekResponses, &bedrockOpen},
		},
		{
			Hosts: []string{"moonshot.ai", "moonshot.cn", "kimi.com"}, Names: []string{"moonshot", "moonshotai", "kimi"}, Models: []string{"kimi", "moonshot"},
			APIs: []*Profile{&kimi, &bedrockOpen},
		},
		{
			Hosts: []string{"minimax.io", "minimaxi.com", "minimax.chat"}, Names: []string{"minimax"}, Models: []string{"minimax", "abab"},
			APIs: []*Profile{&miniMax, &bedrockOpen},
		},
		{
			Hosts: []string{"aliyuncs.com"}, Names: []string{"qwen", "dashscope", "alibaba"}, Models: []string{"qwen", "qwq", "qvq"},
			APIs: []*Profile{&qwen, &bedrockOpen},
		},
		{
			Hosts: []string{"bigmodel.cn", "z.ai"}, Names: []string{"zhipu", "zhipuai", "zai", "z-ai", "glm"}, Models: []string{"glm", "chatglm"},
			APIs: []*Profile{&glm, &bedrockOpen},
		},
		{
			Hosts: []string{"mistral.ai"}, Names: []string{"mistral", "mistralai"}, Direct: true,
			Models: []string{
				"mistral-tiny", "mistral-small", "mistral-medium", "mistral-large", "open-mistral", "open-mixtral",
				"codestral", "devstral", "magistral", "ministral", "pixtral",
			},
			APIs: []*Profile{&mistral, &bedrockOther},
		},
		{Models: []string{"mistral", "mixtral", "codestral", "devstral", "magistral", "ministral", "pixtral"}, APIs: []*Profile{&bedrockOther}},
		{Hosts: []string{"groq.com"}, Names: []string{"groq"}, APIs: []*Profile{&groq}},
		{Hosts: []string{"x.ai"}, Names: []string{"xai", "x-ai"}, Models: []string{"grok"}, APIs: []*Profile{&xAI}},
		{Hosts: []string{"cohere.com", "cohere.ai"}, Names: []string{"cohere"}, Models: []string{"command", "c4ai"}, APIs: []*Profile{&cohere, &bedrockOther}},
		{Models: []string{"gpt-oss"}, APIs: []*Profile{&bedrockOpen}},
		{
			// Clients use this provider's name for every copy of the API, so it is no
			// evidence.
			Hosts:  []string{"api.openai.com", "openai.azure.com"},
			Models: []string{"gpt-", "chatgpt-", "codex-", "computer-use-", "o1", "o3", "o4", "ft:gpt-", "ft:o"},
			APIs:   []*Profile{&openAI, &openAIResponses},
		},
		{Hosts: []string{"anthropic.com"}, Names: []string{"anthropic"}, Models: []string{"claude", "anthropic"}, APIs: []*Profile{&anthropic, &bedrock}},
		// Gateways have their own places for signatures in the shape of OpenAI's API.
		{Models: []string{"gemini-3"}, Direct: true, APIs: []*Profile{&gemini3, &gemini3Chat}},
		{Models: []string{"gemini-3"}, APIs: []*Profile{&gemini3}},
		{Models: []string{"gemini"}, APIs: []*Profile{&gemini}},
		{Models: []string{"nova-", "amazon.nova"}, APIs: []*Profile{&bedrockNova}},
		{Models: []string{"llama", "meta-llama", "meta.llama", "jamba", "ai21", "titan"}, APIs: []*Profile{&bedrockOther}},
		{Models: []string{"gemma", "granite", "hermes", "nemotron", "phi-", "sonar", "doubao", "ernie", "hunyuan"}, APIs: []*Profile{&bedrockOpen}},
	}
})

// copies are the profiles of unidentified APIs that copy another one.
func copies() []*Profile {
	return []*Profile{&openAICompatible, &responsesCompatible, &anthropicCompatible}
}

// A Request is what a file says about the receiver of a request.
type Request struct {
	Model string
	// Hosts are addresses, host names and names of providers, those closest to the messages
	// first.
	Hosts []string
}

// Asked returns the profile of the API that receives a request in the shape of p, or p itself
// if the request does not show it. named reports whether the request names the provider of
// that profile.
func (p *Profile) Asked(r Request) (asked *Profile, named bool) {
	if p.Like != nil || p.Wire == Framework || p == &chatTemplate {
		return p, false // the messages already show it, or they are sent to nobody
	}
	if r.Model == "" && len(r.Hosts) == 0 {
		return p, false
	}
	for _, v := range Vendors() {
		if slices.ContainsFunc(r.Hosts, v.answers) {
			return v.api(p)
		}
	}
	models := append([]string{r.Model}, modelsIn(r.Hosts)...)
	for _, v := range Vendors() {
		if slices.ContainsFunc(models, v.serves) {
			return v.api(p)
		}
	}
	return p, false
}

// api returns the profile of the vendor's API in the shape of another profile.
func (v *Vendor) api(p *Profile) (api *Profile, named bool) {
	sameShape := func(x *Profile) bool { return x.Wire == p.Wire }
	if i := slices.IndexFunc(v.APIs, sameShape); i >= 0 {
		return v.APIs[i], true
	}
	if i := slices.IndexFunc(copies(), sameShape); i >= 0 {
		return copies()[i], false
	}
	return p, false
}

// For returns the profile of the same provider's API in the shape of another profile, or nil if
// none is known.
func (p *Profile) For(shape *Profile) *Profile {
	if p.Wire == shape.Wire {
		return p
	}
	for _, apis := range append([][]*Profile{copies()}, vendorAPIs()...) {
		i := slices.IndexFunc(apis, func(x *Profile) bool { return x.Wire == shape.Wire })
		if i >= 0 && slices.Contains(apis, p) {
			return apis[i]
		}
	}
	return nil
}

// vendorAPIs lists the profiles of each vendor.
func vendorAPIs() [][]*Profile {
	var out [][]*Profile
	for _, v := range Vendors() {
		out = append(out, v.APIs)
	}
	return out
}

// Like returns the first profile of the vendor that has a name or a model of this name, or
// nil.
func Like(name string) *Profile {
	for _, v := range Vendors() {
		if len(v.APIs) > 0 && (slices.Contains(v.Names, strings.ToLower(name)) || v.serves(name)) {
			return v.APIs[0]
		}
	}
	return nil
}

// answers reports whether an address, or the name of a host or a provider, belongs to the
// vendor.
func (v *Vendor) answers(at string) bool {
	at = strings.ToLower(at)
	if slices.Contains(v.Names, at) {
		return true
	}
	host := at
	if u, err := url.Parse(at); err == nil && u.Host != "" {
		host = u.Hostname()
	} else {
		host, _, _ = strings.Cut(host, "/")
		host, _, _ = strings.Cut(host, ":")
	}
	return slices.ContainsFunc(v.Hosts, func(end string) bool { return host == end || strings.HasSuffix(host, "."+end) })
}

// serves reports whether a model is one of the vendor's.
func (v *Vendor) serves(model string) bool {
	if v.Direct {
		model = strings.TrimPrefix(strings.ToLower(model), "models/") // as some providers list them
		return !strings.ContainsAny(model, "/:") && slices.ContainsFunc(v.Models, func(start string) bool { return strings.HasPrefix(model, start) })
	}
	return begins(model, v.Models)
}

// begins reports whether the name of a model begins with one of the given prefixes. Gateways
// put the provider, or their own name, before a slash or a dot.
func begins(model string, starts []string) bool {
	model = strings.ToLower(model)
	for {
		if slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(model, start) }) {
			return true
		}
		i := strings.IndexAny(model, "/.")
		if i < 0 {
			return false
		}
		model = model[i+1:]
	}
}

// modelsIn returns the models in addresses. Some requests name no model in the body:
// …/model/NAME/converse, …/models/NAME:generateContent.
func modelsIn(addresses []string) (models []string) {
	for _, at := range addresses {
		steps := strings.Split(at, "/")
		for i, step := range steps[1:] {
			if steps[i] != "model" && steps[i] != "models" {
				continue
			}
			if name, err := url.PathUnescape(step); err == nil && name != "" {
				models = append(models, name)
			}
		}
	}
	return models
}

// Thinks reports whether a model may be one that requires its reasoning to be sent again. An
// unnamed model may be.
func (p *Profile) Thinks(model string) bool { return model == "" || begins(model, p.Thinking) }
