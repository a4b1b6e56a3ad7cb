package cli

import (
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"

	"github.com/toolguard/toolguard/proxy/internal/upstream"
)

// versioned matches a path that ends with the version of an API, behind which clients of OpenAI put
// their paths.
var versioned = regexp.MustCompile(`/v\d+[a-z0-9]*$`)

// A setting is what a client needs to send its requests to the proxy.
type setting struct {
	variable string
	path     func(*upstream.Preset) string // "-" if the provider does not take such requests
	custom   func(versioned bool) string   // the same, for a URL whose path ends with a version or not
	also     []string                      // other settings that go with it
}

// settings lists the clients.
func settings() []setting {
	bare := func(versioned bool) string {
		if versioned {
			return "-"
		}
		return ""
	}
	return []setting{
		{
			variable: "ANTHROPIC_BASE_URL", custom: bare,
			path: func(p *upstream.Preset) string { return p.Anthropic },
			// Claude Code drops tool search behind any other address than that of Anthropic.
			also: []string{"export ENABLE_TOOL_SEARCH=true"},
		},
		{
			variable: "OPENAI_BASE_URL",
			path:     func(p *upstream.Preset) string { return p.OpenAI },
			custom: func(versioned bool) string {
				if versioned {
					return ""
				}
				return "/v1"
			},
		},
		{
			variable: "GOOGLE_GEMINI_BASE_URL", custom: bare,
			path: func(p *upstream.Preset) string { return p.Gemini },
		},
	}
}

// printEnv prints the settings of clients, as a shell reads them. Of several upstreams for one
// variable, the first one is set, and the others are comments.
func printEnv(w io.Writer, listen string, all []*upstream.Upstream) error {
	set := map[string]bool{}
	for i, u := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		base := "http://" + reachable(listen) + u.Prefix
		fmt.Fprintf(w, "# %s -> %s\n", base, u.URL)
		for _, s := range settings() {
			path := s.custom(versioned.MatchString(u.URL.EscapedPath()))
			if u.Preset != nil {
				path = s.path(u.Preset)
			}
			if path == "-" {
				continue
			}
			lines := append([]string{fmt.Sprintf("export %s=%s%s", s.variable, base, path)}, s.also...)
			if set[s.variable] {
				lines = slices.DeleteFunc(lines, func(l string) bool { return slices.Contains(s.also, l) })
				lines[0] = "# " + lines[0]
			}
			set[s.variable] = true
			for _, l := range lines {
				fmt.Fprintln(w, l)
			}
			if s.variable == "OPENAI_BASE_URL" && (u.Preset == nil || u.Preset.Responses) {
				codex(w, u, base+path)
			}
		}
	}
	return nil
}

// codex prints the settings of Codex, which has a file for them. Its built-in provider ignores the
// variable for WebSockets.
func codex(w io.Writer, u *upstream.Upstream, base string) {
	name := "toolguard"
	if u.Prefix != "" {
		name += "-" + regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(u.Prefix[1:], "-")
	}
	fmt.Fprintf(w, `# Codex, in ~/.codex/config.toml:
#   model_provider = %[1]q
#   [model_providers.%[1]s]
#   name = %[1]q
#   base_url = %[2]q
#   env_key = "OPENAI_API_KEY"
#   wire_api = "responses"
#   supports_websockets = false
`, name, base)
}

// reachable returns the address at which clients on this machine reach a listener.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
