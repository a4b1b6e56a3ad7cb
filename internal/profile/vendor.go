package profile

import (
	"net/url"
	"slices"
	"strings"
	"sync"
)

// A Vendor is a row of the table of whom a request asks: by what a file names, a
// host, a provider or a model, the profiles of the APIs behind it.
type Vendor struct {
	// Hosts are the ends of the hosts' names.
	Hosts []string
	// Names are what clients and gateways call the provider.
	Names []string
	// Models are how the names of the models begin.
	Models []string
	// Direct is set where models are the provider's only in its own spelling. With a
	// slash or a colon in them the names are those of weights, which others serve.
	Direct bool
	// APIs are the profiles of its APIs, one for a shape. An API in another shape is
	// a copy of which nothing is known.
	APIs []*Profile
}

// Vendors lists the table. The first row that fits counts, so a name comes before one
// that it begins with. A row without hosts and names is of weights or of models
// that are asked through others.
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
			// Clients call every copy of the API by this provider's name: it tells nothing.
			Hosts:  []string{"api.openai.com", "openai.azure.com"},
			Models: []string{"gpt-", "chatgpt-", "codex-", "computer-use-", "o1", "o3", "o4", "ft:gpt-", "ft:o"},
			APIs:   []*Profile{&openAI, &openAIResponses},
		},
		{Hosts: []string{"anthropic.com"}, Names: []string{"anthropic"}, Models: []string{"claude", "anthropic"}, APIs: []*Profile{&anthropic, &bedrock}},
		{Models: []string{"gemini-3"}, APIs: []*Profile{&gemini3}},
		{Models: []string{"gemini"}, APIs: []*Profile{&gemini}},
		{Models: []string{"nova-", "amazon.nova"}, APIs: []*Profile{&bedrockNova}},
		{Models: []string{"llama", "meta-llama", "meta.llama", "jamba", "ai21", "titan"}, APIs: []*Profile{&bedrockOther}},
		{Models: []string{"gemma", "granite", "hermes", "nemotron", "phi-", "sonar", "doubao", "ernie", "hunyuan"}, APIs: []*Profile{&bedrockOpen}},
	}
})

// copies are the profiles of APIs that copy another one, by nobody in particular.
func copies() []*Profile {
	return []*Profile{&openAICompatible, &responsesCompatible, &anthropicCompatible}
}

// A Request is what a file says of whom a request goes to.
type Request struct {
	Model string
	// Hosts are addresses, names of hosts and names of providers, the nearest to
	// the messages first.
	Hosts []string
}

// Asked returns the profile of the API that a request goes to which is written in
// the shape of p: p itself where the request does not tell. named reports whether
// the request names the provider of that profile.
func (p *Profile) Asked(r Request) (asked *Profile, named bool) {
	if p.Like != nil || p.Wire == Framework {
		return p, false // the messages tell already
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

// api returns the profile of the vendor's API in the shape of another one.
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

// answers reports whether an address, or the name of a host or a provider, is the
// vendor's.
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
		model = strings.ToLower(model)
		return !strings.ContainsAny(model, "/:") && slices.ContainsFunc(v.Models, func(start string) bool { return strings.HasPrefix(model, start) })
	}
	return begins(model, v.Models)
}

// begins reports whether the name of a model begins with one of the given ones. A
// gateway writes the provider, or its own name, before a slash or a dot.
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

// modelsIn returns the models that addresses name, as those of requests do whose
// body names none: …/model/NAME/converse, …/models/NAME:generateContent.
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

// Thinks reports whether a model may be one of those that are to see their
// reasoning again. A model that is not named may be.
func (p *Profile) Thinks(model string) bool { return model == "" || begins(model, p.Thinking) }
