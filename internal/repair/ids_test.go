package repair

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

func token(id string) transcript.Token { return transcript.Token{Raw: source.Quote(id)} }

// TestProperIDs: accepted ids stay, and others are replaced by accepted ones.
func TestProperIDs(t *testing.T) {
	long := strings.Repeat("x", 70)
	for _, c := range []struct{ profile, id, want string }{
		{"anthropic", "functions.Bash:0", "functions_Bash_0"},
		{"anthropic", "toolu_01", "toolu_01"},
		{"anthropic", " c1 ", "c1"},
		{"anthropic", "srvtoolu_9", "toolu_9"},
		{"openai", "functions.Bash:0", "functions.Bash:0"},
		{"openai", long, strings.Repeat("x", 31) + "_"},
		{"bedrock", "a|b", "a_b"},
		{"mistral", "abcdefghi", "abcdefghi"},
		{"mistral", "abcdefgh-i", "abcdefghi"},
		{"mistral", "call_abc", ""},
	} {
		p := &Plan{Profile: profile.ByName(c.profile)}
		got := p.proper(token(c.id), false)
		if c.want != "" && got != c.want && !(strings.HasSuffix(c.want, "_") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: %q becomes %q, want %q", c.profile, c.id, got, c.want)
		}
		if again := p.proper(token(got), false); again != got {
			t.Errorf("%s: %q becomes %q and then %q", c.profile, c.id, got, again)
		}
		if !accepted(p.Profile, got) {
			t.Errorf("%s does not take %q, made of %q", c.profile, got, c.id)
		}
	}
	p := &Plan{Profile: profile.ByName("anthropic")}
	if got := p.proper(token("ws-1.x"), true); got != "srvtoolu_ws_1_x" {
		t.Errorf("a server tool's id becomes %q", got)
	}
}

func accepted(p *profile.Profile, id string) bool {
	n := len([]rune(id))
	return n > 0 && p.IDChars.Allows(id) && n >= p.IDMin && (p.IDMax == 0 || n <= p.IDMax)
}

// TestFreshIDs: different ids stay different after they are shortened or characters are
// replaced, and each run gives the same ids.
func TestFreshIDs(t *testing.T) {
	prefix := strings.Repeat("p", 64)
	var ids []string
	for i := range 300 {
		ids = append(ids, fmt.Sprintf("%s%d", prefix, i), fmt.Sprintf("call_%d", i), fmt.Sprintf("call.%d", i), fmt.Sprintf("call:%d", i), strings.Repeat("é", i+1))
	}
	for _, prof := range profile.All() {
		var first []string
		for range 2 {
			p := &Plan{Profile: prof, names: &names{used: map[string]int{}, next: map[string]int{}}}
			for _, id := range ids {
				p.names.used[id]++
			}
			seen := map[string]string{}
			var all []string
			for _, id := range ids {
				got := p.proper(token(id), false)
				if got != id {
					got = p.fresh(got)
				}
				if before, again := seen[got]; again {
					t.Fatalf("%s: both %q and %q become %q", prof.Name, before, id, got)
				}
				if !accepted(prof, got) {
					t.Fatalf("%s does not take %q, made of %q", prof.Name, got, id)
				}
				seen[got] = id
				all = append(all, got)
			}
			if first != nil && strings.Join(first, " ") != strings.Join(all, " ") {
				t.Fatalf("%s: another run makes other ids", prof.Name)
			}
			first = all
		}
	}
}
