package rules_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
)

// TestProfilesPage compares docs/profiles.md with the profiles.
func TestProfilesPage(t *testing.T) {
	golden.File(t, filepath.Join("..", "..", "docs", "profiles.md"), profilesPage())
}

func profilesPage() string {
	var b strings.Builder
	b.WriteString(`# Profiles

A profile says what one provider accepts. toolguard checks a transcript with the profile of the provider whose
format it has, and a request with the profile of [the API that it names](#which-profile-a-request-gets).
` + "`--provider`" + ` chooses another profile. ` + "`toolguard profiles -o json`" + ` prints the profiles with all error texts and sources.

The confidence says how well a fact is known:

- H (high): the exact error was seen in a raw response, and the documentation or a second report confirms it.
- M (medium): there is one raw report.
- L (low): the fact is inferred. toolguard reports a warning instead of an error.

An API can copy another one. For everything that is not known about the copy, the profile takes the facts of the original,
with confidence L.

## Fields

The shape is the form in which the API takes a history. The column "like" names the API that this one copies. The column
"replays" says which reasoning the API expects to be sent again.

| profile | provider | shape | like | ids | names | roles | results | images | replays |
|---|---|---|---|---|---|---|---|---|---|
`)
	for _, p := range profile.All() {
		like := ""
		if p.Like != nil {
			like = p.Like.Name
		}
		shape := string(p.Wire)
		if p.Contiguous {
			shape += ", results right after calls"
		}
		if p.Merges {
			shape += ", merges messages of one role"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", p.Name, p.Title, shape, like, p.IDs(), p.Names(), cell(strings.Join(slices.DeleteFunc(slices.Clone(p.Roles), func(s string) bool { return s == "" }), ", ")), p.ResultForms, p.Images, p.Replay)
	}
	b.WriteString(`
## Which profile a request gets

A request that names a host, a provider or a model is checked with the profile of that API, in the shape of the request.
Hosts and providers count before models, and the first row that matches counts. If the row has no profile of that shape,
or nothing is known about the copy of an API, toolguard takes a profile with ` + "`-compatible`" + ` in its name. A request
that names nothing in this table is checked with the profile of its format.

A request in which all messages are plain texts has the shape of OpenAI chat, whatever its model is: it may go to a
gateway, which takes all models in that shape. ` + "`--from`" + ` says that it has another one.

| hosts | providers | models | profiles |
|---|---|---|---|
`)
	for _, v := range profile.Vendors() {
		var models, names []string
		for _, m := range v.Models {
			models = append(models, m+"…")
		}
		for _, p := range v.APIs {
			names = append(names, p.Name)
		}
		note := ""
		if v.Direct {
			note = " (without a slash or a colon)"
		}
		fmt.Fprintf(&b, "| %s | %s | %s%s | %s |\n", strings.Join(v.Hosts, ", "), strings.Join(v.Names, ", "), strings.Join(models, ", "), note, strings.Join(names, ", "))
	}
	b.WriteString("\n## Rules\n\nE: rejected (error). W: harmful or doubtful (warning). i: worth knowing (info). –: accepted. ?: unknown. The second\nletter is the confidence. Some pairing rules are errors with every profile; the table shows what the provider does.\n\n| rule |")
	for _, p := range profile.All() {
		fmt.Fprintf(&b, " %s |", p.Name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(profile.All())) + "\n")
	for _, r := range rules.All() {
		if len(r.Points) == 0 {
			continue
		}
		fmt.Fprintf(&b, "| [%s](rules/%s.md) |", r.Name, r.Name)
		for _, p := range profile.All() {
			fmt.Fprintf(&b, " %s |", mark(p.Cell(r.Points[0])))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n## Sources\n")
	for _, p := range profile.All() {
		fmt.Fprintf(&b, "\n### %s\n\n", p.Name)
		for _, r := range rules.All() {
			for _, at := range r.Points {
				if c := p.Own(at); c.Source != "" {
					fmt.Fprintf(&b, "- %s: %s, %s: %s\n", r.Name, c.Level, c.Confidence, c.Citation())
				}
			}
		}
	}
	return b.String()
}

// mark is how the matrix shows a cell.
func mark(c profile.Cell) string {
	switch c.Effective() {
	case profile.Unknown:
		return "?"
	case profile.Accepted:
		return "–"
	}
	return map[profile.Level]string{profile.Error: "E", profile.Warning: "W", profile.Info: "i"}[c.Effective()] + " " + c.Confidence.String()
}

// TestProfiles: each row is whole, and each cell says where it is known from.
func TestProfiles(t *testing.T) {
	pointed := map[profile.Point]bool{}
	for _, r := range rules.All() {
		for _, at := range r.Points {
			pointed[at] = true
		}
	}
	seen := map[string]bool{}
	for _, p := range profile.All() {
		if seen[p.Name] || !kebab.MatchString(p.Name) || profile.ByName(p.Name) != p || p.Title == "" || p.Wire == "" {
			t.Errorf("profile %q", p.Name)
		}
		seen[p.Name] = true
		for at := range profile.Point(len(p.Cells)) {
			c := p.Own(at)
			switch {
			case !pointed[at]:
				t.Errorf("no rule asks for point %d", at)
			case c.Confidence == profile.High && c.Level == profile.Error && c.Source == "" && p.Name != "neutral":
				t.Errorf("%s, point %d: no source", p.Name, at)
			case c.Level == profile.Unknown && (c.Text != "" || c.Source != ""):
				t.Errorf("%s, point %d: no level", p.Name, at)
			case c.Confidence == profile.Low && c.Effective() == profile.Error:
				t.Errorf("%s, point %d: an error of low confidence", p.Name, at)
			}
		}
	}
	if profile.ByName("no-such-profile") != nil {
		t.Error("ByName made a profile up")
	}
}

// TestMatchError: whoever pastes what a provider answered gets the rule.
func TestMatchError(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"messages.12: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01, toolu_02. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", "missing-tool-result"},
		{`{"type":"error","error":{"type":"invalid_request_error","message":"messages.2.content.0: unexpected ` + "`tool_use_id`" + ` found in ` + "`tool_result`" + ` blocks: toolu_9. Each ` + "`tool_result`" + ` block must have a corresponding ` + "`tool_use`" + ` block in the previous message."}}`, "orphan-tool-result"},
		{"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_abc", "missing-tool-result"},
		{"openai.BadRequestError: Error code: 400 - Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", "orphan-tool-result"},
		{"Invalid 'messages[3].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.", "empty-tool-calls"},
		{"No tool output found for function call call_x1y2.", "missing-tool-result"},
		{"No tool call found for custom tool call output with call_id call_7.", "orphan-tool-result"},
		{"Duplicate item found with id rs_77. Remove duplicate items from your input and try again.", "duplicate-item-id"},
		{"Item 'rs_1' of type 'reasoning' was provided without its required following item.", "reasoning-unreplayable"},
		{"Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.", "missing-tool-result"},
		{"Expected toolResult blocks at messages.4.content for the following Ids: tooluse_a, tooluse_b", "missing-tool-result"},
		{"Tool call id was call_9 but must be a-z, A-Z, 0-9, with a length of 9.", "invalid-call-id"},
		{"messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", "missing-call-id"},
		{"A maximum of 4 blocks with cache_control may be provided. Found 7.", "cache-control-limit"},
		{"messages: text content blocks must contain non-whitespace text", "empty-text"},
		{"Unexpected role 'user' after role 'tool'", "user-after-tool"},
		{"tool_use ids were found without tool_result blocks", "missing-tool-result"},
		{"messages.6: `tool_use` ids were found without `tool_result` blocks immediately after", "missing-tool-result"},
		{"unexpected tool_use_id found in tool_result blocks", "orphan-tool-result"},
		{"An assistant message with 'tool_calls' must be followed by tool messages", "missing-tool-result"},
		{"the request failed: must be followed by tool messages responding to each (truncated)", "missing-tool-result"},
		{`"Each \u0060tool_use\u0060 block must have\na corresponding`, "missing-tool-result"},
		{"", ""},
	} {
		got := ""
		if m := rules.MatchError(c.text); len(m) > 0 {
			got = m[0].Rule.Name
		}
		if got != c.want {
			t.Errorf("%s\nis matched to %q, want %q", c.text, got, c.want)
		}
	}
	finds := func(r *rules.Rule, text string) {
		t.Helper()
		if !slices.ContainsFunc(rules.MatchError(text), func(m rules.Match) bool { return m.Rule == r }) {
			t.Errorf("%s is not found for its own text: %s", r.Name, text)
		}
	}
	number := regexp.MustCompile(`\d+`)
	for _, r := range rules.All() {
		for _, a := range r.Answers() {
			for _, text := range append([]string{a.Text}, a.Also...) {
				filled := strings.NewReplacer("{id}", "call_1", "{name}", "ls", "{kind}", "function call", "…", "x y").Replace(text)
				finds(r, filled)
				other := strings.NewReplacer("{id}", "call_of-the-other", "{name}", "read_file", "{kind}", "local shell call", "…", "something", "`", "").Replace(text)
				finds(r, number.ReplaceAllString(other, "77"))
				fields := strings.Fields(filled)
				finds(r, strings.Join(fields[:min(len(fields), max(8, len(fields)/2+3))], " "))
			}
		}
	}
}

// TestMatchErrorUnrelated checks that texts that are not errors of a provider about a
// transcript match no rule, even if they use its words.
func TestMatchErrorUnrelated(t *testing.T) {
	for _, text := range []string{
		"the printer is on fire",
		"connection refused",
		"messages",
		"tool_use",
		"an error in the message",
		"must be followed by",
		"in the previous message",
		"Rate limit reached for requests. Please try again in 20s.",
		"Your credit balance is too low to access the API.",
		"context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
		"prompt is too long: 204120 tokens > 200000 maximum",
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
		"The model `gpt-9` does not exist or you do not have access to it.",
		"Incorrect API key provided: sk-12345.",
		"invalid x-api-key",
		"Overloaded",
		"The server had an error while processing your request. Sorry about that!",
		"max_tokens: Field required",
		"temperature: range: 0..1",
		"Unsupported parameter: 'max_tokens' is not supported with this model.",
		"Could not resolve host: api.example.com",
		"dial tcp 127.0.0.1:8080: connect: connection refused",
		"panic: runtime error: index out of range [3] with length 3",
		"TypeError: Cannot read properties of undefined (reading 'map')",
		"json: cannot unmarshal string into Go value of type int",
		"please tell me how to write a tool for the assistant",
		"The user asked the assistant for a result and the tool was called twice.",
		"I called the function and it did not respond.",
		"Messages of the assistant are shown to the user in the order in which they were received.",
		"Each employee must have a corresponding badge at the beginning of the day.",
		"The quick brown fox jumps over the lazy dog.",
		"you cannot change the role of a user after the first login",
	} {
		if m := rules.MatchError(text); len(m) > 0 {
			t.Errorf("%s\nmatches %s: %s", text, m[0].Rule.Name, m[0].Text)
		}
	}
}
