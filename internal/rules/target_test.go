package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
)

// A shape is how one API writes a history of one call. In text, ARGS stands for
// the arguments of the call, SAID for a text beside it, and ROLE for the role of
// a message that only says something.
type shape struct {
	native, text string
	args         []string // each is refused by some API
}

var (
	stringArgs = []string{``, `"{\"a\":"`, `"[1]"`, `"[]"`, `"null"`, `"\"text\""`, `"text"`, `""`, `"7"`, `[1]`, `[]`, `null`, `7`, `true`, `{"a":1}`}
	objectArgs = []string{``, `"{\"a\":"`, `"[1]"`, `"text"`, `""`, `"{}"`, `[1]`, `[]`, `null`, `7`, `true`}
)

var shapes = []shape{
	{"openai", `[{"role":"user","content":"q"},{"role":"ROLE","content":"x"},
{"role":"assistant","content":"SAID","tool_calls":[{"id":"abcdefghi","type":"function","function":{"name":"f","arguments":ARGS}}]},
{"role":"tool","tool_call_id":"abcdefghi","name":"f","content":"1"}]`, stringArgs},
	{"openai-responses", `[{"role":"user","content":"q"},{"role":"ROLE","content":"x"},{"type":"function_call","call_id":"abcdefghi","name":"f","arguments":ARGS},
{"type":"function_call_output","call_id":"abcdefghi","output":"1"}]`, stringArgs},
	{"anthropic", `[{"role":"user","content":"q"},{"role":"ROLE","content":"x"},
{"role":"assistant","content":[{"type":"text","text":"SAID"},{"type":"tool_use","id":"abcdefghi","name":"f","input":ARGS}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"abcdefghi","content":"1"}]}]`, objectArgs},
	{"bedrock", `[{"role":"user","content":[{"text":"q"}]},{"role":"ROLE","content":[{"text":"x"}]},
{"role":"assistant","content":[{"text":"SAID"},{"toolUse":{"toolUseId":"abcdefghi","name":"f","input":ARGS}}]},
{"role":"user","content":[{"toolResult":{"toolUseId":"abcdefghi","content":[{"text":"1"}]}}]}]`, objectArgs},
	{"gemini", `{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"ROLE","parts":[{"text":"x"}]},
{"role":"model","parts":[{"text":"SAID"},{"functionCall":{"name":"f","args":ARGS}}]},
{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"o":1}}}]}]}`, objectArgs},
}

// with returns the history with such arguments, "" for none at all, text beside the
// call, and role.
func (s *shape) with(args, said, role string) string {
	if args == "" {
		return strings.NewReplacer(`,"arguments":ARGS`, "", `,"input":ARGS`, "", `,"args":ARGS`, "", "SAID", said, "ROLE", role).Replace(s.text)
	}
	return strings.NewReplacer("ARGS", args, "SAID", said, "ROLE", role).Replace(s.text)
}

// worst returns how bad the worst finding of some rules is.
func worst(found []engine.Finding, names ...string) (worst rules.Severity) {
	for i := range found {
		if slices.Contains(names, found[i].Rule.Name) {
			worst = max(worst, found[i].Severity)
		}
	}
	return worst
}

// targeted calls a test for every history in a shape and every target. For those
// that take another shape the history is converted.
func targeted(t *testing.T, test func(t *testing.T, s *shape, target *profile.Profile, converted bool)) {
	t.Helper()
	for i := range shapes {
		native := profile.ByName(shapes[i].native)
		for _, target := range profile.All() {
			t.Run(native.Name+"/"+target.Name, func(t *testing.T) { test(t, &shapes[i], target, target.Wire != native.Wire) })
		}
	}
}

// TestTargetSeesBadArguments: with a target, bad arguments are reported at least as
// severely as without one, and everything that is no object where the target takes
// objects. Of a target that copies the API in whose shape they are written less may
// be known, so that it is a warning.
func TestTargetSeesBadArguments(t *testing.T) {
	about := []string{"arguments-invalid-json", "arguments-not-string", "tool-input-not-object", "missing-arguments"}
	targeted(t, func(t *testing.T, s *shape, target *profile.Profile, converted bool) {
		t.Helper()
		for i, args := range s.args {
			if (i+len(t.Name()))%sample.Size(1, 3, 3) > 0 {
				continue // another target gets them
			}
			text := s.with(args, "x", "user")
			if !converted && target.Own(profile.ArgsNotString).Level == profile.Accepted && strings.HasPrefix(args, "{") {
				continue // the target wants it so
			}
			native := worst(findingsWith(t, s.native, text, "--send"), about...)
			got := worst(findingsWith(t, target.Name, text, "--send --provider "+target.Name), about...)
			if !converted {
				native = min(native, rules.Warning)
			}
			if got < native {
				t.Errorf("arguments %s: %v for its own API, %v for the target", args, native, got)
			}
			if converted && got < rules.Error && target.Cell(profile.ArgsNotObject).Effective() == profile.Error && strings.HasPrefix(args, `"{\"a`) {
				t.Errorf("arguments %s are cut, and the target takes objects: %v", args, got)
			}
			if got < rules.Warning && target.Cell(profile.ArgsNotObject).Effective() == profile.Error && args != "" && !strings.Contains(args, "{") {
				t.Errorf("arguments %s are no object: %v", args, got)
			}
		}
	})
}

// TestTargetSeesUnknownRoles: a role that the API of the shape does not know is
// known to no converter.
func TestTargetSeesUnknownRoles(t *testing.T) {
	targeted(t, func(t *testing.T, s *shape, target *profile.Profile, converted bool) {
		t.Helper()
		text := s.with("{}", "x", "weird")
		native := worst(findingsWith(t, s.native, text, "--send"), "invalid-role")
		if !converted {
			native = min(native, rules.Warning)
		}
		if got := worst(findingsWith(t, target.Name, text, "--send --provider "+target.Name), "invalid-role"); native == rules.Off || got < native {
			t.Errorf("%v for its own API, %v for the target", native, got)
		}
	})
}

// TestTargetSeesWhiteSpace: converters send white space beside calls on, and leave
// out a text that is empty.
func TestTargetSeesWhiteSpace(t *testing.T) {
	targeted(t, func(t *testing.T, s *shape, target *profile.Profile, converted bool) {
		t.Helper()
		if !strings.Contains(s.text, "SAID") {
			return
		}
		args := "{}"
		if s.native == "openai" {
			args = `"{}"`
		}
		empty := target.Cell(profile.EmptyText).Effective()
		if converted {
			empty = profile.Unknown
		}
		blank := target.Cell(profile.EmptyText).Effective()
		if target.BlankBesideCalls && !converted {
			blank = profile.Accepted
		}
		want := map[string]profile.Level{"": empty, "\\n\\n": blank, " ": blank}
		for said, level := range want {
			got := worst(findingsWith(t, target.Name, s.with(args, said, "user"), "--send --provider "+target.Name), "empty-text")
			if refuses := level >= profile.Warning; got >= rules.Warning != refuses {
				t.Errorf("%q beside a call: %v, and the target's level is %v", said, got, level)
			}
		}
	})
}

// TestWhiteSpaceBehindMedia: Bedrock answered requests of Claude models with white space between a
// document and a marker of the prompt cache.
func TestWhiteSpaceBehindMedia(t *testing.T) {
	const document, cache = `{"document":{"name":"d","format":"txt","source":{"bytes":"aA=="}}}`, `{"cachePoint":{"type":"default"}}`
	for content, want := range map[string]rules.Severity{
		`{"text":"q"},` + document + `,{"text":"\n"},` + cache + `,{"text":"What is it?"}`: rules.Off,
		`{"text":"q"},` + document + `,{"text":""},` + cache:                               rules.Error,
		`{"text":"q"},{"text":"\n"},` + cache:                                              rules.Error,
		`{"text":"q"},` + document + `,{"text":"\n"}`:                                      rules.Error,
		`{"text":"q"},` + document + `,{"text":"\n"},{"text":"What is it?"}`:               rules.Error,
	} {
		for _, from := range [][2]string{{"user", "bedrock"}, {"assistant", "bedrock"}, {"user", "bedrock-nova"}} {
			role, target, due := from[0], from[1], want
			if role == "assistant" || target != "bedrock" {
				due = rules.Error
			}
			text := `{"modelId":"m","inferenceConfig":{},"messages":[{"role":"` + role + `","content":[` + content + `]},{"role":"assistant","content":[{"text":"a"}]},{"role":"user","content":[{"text":"b"}]}]}`
			if got := worst(findingsWith(t, content, text, "--send --provider "+target), "empty-text"); got != due {
				t.Errorf("%s, %s: %s is %v, want %v", target, role, content, got, due)
			}
		}
	}
}

// TestSystemPlaces: behind which roles a provider takes a system prompt is told by
// its profile, and holds for histories of every shape.
func TestSystemPlaces(t *testing.T) {
	const history = `[{"role":"user","content":"q"},{"role":"assistant","content":"","tool_calls":[{"id":"abcdefghi","type":"function","function":{"name":"f","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"abcdefghi","content":"1"}%s,{"role":"assistant","content":"x"}%s,{"role":"user","content":"n"}%s,{"role":"assistant","content":"y"},{"role":"user","content":"n"}]`
	const system = `,{"role":"system","content":"s"}`
	for _, target := range profile.All() {
		if target.Wire != profile.Chat {
			continue
		}
		for after, text := range map[string]string{
			"tool": fmt.Sprintf(history, system, "", ""), "assistant": fmt.Sprintf(history, "", system, ""), "user": fmt.Sprintf(history, "", "", system),
		} {
			got := worst(findingsWith(t, target.Name, text, "--send --provider "+target.Name), "invalid-role")
			refuses := target.Cell(profile.SystemPlace).Effective() == profile.Error && !slices.Contains(target.SystemAfter, after)
			if got == rules.Error != refuses {
				t.Errorf("%s: a system prompt after the role %s: %v", target.Name, after, got)
			}
		}
	}
	if profile.ByName("mistral").Cell(profile.SystemPlace).Effective() != profile.Error {
		t.Error("no provider refuses any")
	}
}

// TestBlankEnds: the last message of the assistant may be empty where the provider
// allows it; it may not hold a blank block, or null.
func TestBlankEnds(t *testing.T) {
	const history = `[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]},{"role":"assistant"%s}]`
	about := []string{"empty-text", "empty-message"}
	for content, bad := range map[string]bool{
		`,"content":""`: false, `,"content":[]`: false, `,"content":"a"`: false,
		`,"content":null`: true, ``: true, `,"content":" "`: true,
		`,"content":[{"type":"text","text":""}]`: true, `,"content":[{"type":"text","text":"\n"}]`: true,
		`,"content":[{"type":"text","text":"a"},{"type":"text","text":" "}]`: true,
	} {
		for _, args := range []string{"", "--send", "--provider anthropic"} {
			if got := worst(findingsWith(t, content, fmt.Sprintf(history, content), args), about...); got == rules.Error != bad {
				t.Errorf("%s at the end, %q: %v", content, args, got)
			}
		}
	}
}

// TestNullResults: null as the content of a result is an error in the shape of an
// API that refuses it, whether it is sent or kept; another value only when it is
// sent.
func TestNullResults(t *testing.T) {
	const history = `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c1","content":%s}]`
	for content, want := range map[string][2]rules.Severity{
		"null": {rules.Error, rules.Error}, "7": {rules.Warning, rules.Error}, `{"a":1}`: {rules.Warning, rules.Error}, `""`: {}, `[]`: {},
	} {
		for i, args := range []string{"", "--send"} {
			if got := worst(findingsWith(t, content, fmt.Sprintf(history, content), args), "result-content-type"); got != want[i] {
				t.Errorf("content %s, %q: %v, want %v", content, args, got, want[i])
			}
		}
	}
}
