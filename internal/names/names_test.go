package names

import (
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/rules"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want string
	}{
		{second(User.Rule("broken-links")), `unknown rule "broken-links"; did you mean "broken-link"?`},
		{second(User.Rule("")), `unknown rule ""; toolguard rules lists them`},
		{User.Rules([]string{"pairing", "broken-link", "pairng"}), `unknown rule or category "pairng"; did you mean "pairing"?`},
		{User.Rules([]string{"E501"}), `unknown rule or category "E501"; toolguard rules lists them`},
		{second(User.Severity("E501", "off")), `unknown rule "E501"; toolguard rules lists them`},
		{second(User.Severity("broken-link", "fatal")), `expected off, info, warning or error for broken-link, got "fatal"`},
		{second(User.Severity("broken-link", "warn")), `expected off, info, warning or error for broken-link, got "warn"; did you mean "warning"?`},
		{second(FailOn("off")), `expected error, warning or info, got "off"`},
		{second(FailOn("errors")), `expected error, warning or info, got "errors"; did you mean "error"?`},
		{User.Strategy("E501", "drop"), `unknown rule "E501"; toolguard rules lists them`},
		{User.Strategy("broken-link", "drop"), "broken-link has no strategies"},
		{User.Strategy("orphan-tool-result", "dorp"), `unknown strategy "dorp"; did you mean "drop"? (known for orphan-tool-result: text, drop, relink, leave)`},
		{User.Strategy("orphan-tool-result", ""), `unknown strategy "" (known for orphan-tool-result: text, drop, relink, leave)`},
		{second(User.Provider("antropic")), `unknown provider "antropic"; did you mean "anthropic"?`},
		{second(User.Provider("")), `unknown provider ""; toolguard profiles lists them`},
		{second(User.Format(dialect.Builtin(), "antropic")), `unknown format "antropic"; did you mean "anthropic"?`},
		{second(User.Format(dialect.Builtin(), "")), `unknown format ""; toolguard formats lists them`},
		{Program.Rules([]string{"E501"}), `unknown rule or category "E501"; expected one of ` + strings.Join(rules.Selectable(), ", ")},
	} {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("got %v, want %s", tt.err, tt.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestKnown(t *testing.T) {
	t.Parallel()
	for _, r := range rules.All() {
		if got, err := User.Rule(r.Name); got != r || err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
		if err := User.Rules([]string{r.Name, r.Category}); err != nil {
			t.Error(err)
		}
		if s, err := User.Severity(r.Name, "info"); s != rules.Info || err != nil {
			t.Errorf("%s: %v, %v", r.Name, s, err)
		}
		for _, s := range r.Strategies {
			if err := User.Strategy(r.Name, s); err != nil {
				t.Error(err)
			}
		}
	}
	if s, err := FailOn("warning"); s != rules.Warning || err != nil {
		t.Errorf("%v, %v", s, err)
	}
	if p, err := User.Provider("anthropic"); err != nil || p.Name != "anthropic" {
		t.Error(err)
	}
	if d, err := User.Format(dialect.Builtin(), "anthropic"); err != nil || d.Name != "anthropic" {
		t.Error(err)
	}
}
