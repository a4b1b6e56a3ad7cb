package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/toolguard/toolguard/internal/config"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/names"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/schema"
	"github.com/toolguard/toolguard/internal/small"
)

// ruleFlags say which rules run, and how severe their findings are. They mean the same as those of toolguard.
type ruleFlags struct {
	selected, ignored, severities []string
	failOn, target, dialect       string
	send                          bool
	tools                         string

	strategy map[string]string
	severity map[string]rules.Severity
	profile  *profile.Profile
	declared *schema.Tools
}

// define adds the flags to a command.
func (f *ruleFlags) define(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.selected, "select", nil, "run only these `rules` or categories")
	flags.StringSliceVar(&f.ignored, "ignore", nil, "do not run these `rules` or categories")
	flags.StringSliceVar(&f.severities, "severity", nil, "set the severity of a rule: `rule=severity`; off disables it")
	flags.StringVar(&f.target, "provider", "", "check as this `provider` would; toolguard profiles lists them (default: the one that a request names, or that of the format)")
	flags.BoolVar(&f.send, "send", false, "is this about to be sent? Then a call that still waits for its result is an error")
	flags.StringVar(&f.tools, "tools", "", "check calls against the tools that this `file` declares, in the format of OpenAI, Anthropic, Gemini or MCP (default: the tools in the request)")
	flags.StringVar(&f.dialect, "from", "", "read files in this `format`, without detection; toolguard formats lists them")
}

// parse checks the values of the flags.
func (f *ruleFlags) parse() (err error) {
	for flag, values := range map[string][]string{"--select": f.selected, "--ignore": f.ignored} {
		if err := names.User.Rules(values); err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
	}
	f.severity = map[string]rules.Severity{}
	for _, value := range f.severities {
		name, level, _ := strings.Cut(value, "=")
		if f.severity[name], err = names.User.Severity(name, level); err != nil {
			return fmt.Errorf("--severity: %w", err)
		}
	}
	if f.failOn != "" {
		if _, err := names.FailOn(f.failOn); err != nil {
			return fmt.Errorf("--fail-on: %w", err)
		}
	}
	if f.target != "" {
		if f.profile, err = names.User.Provider(f.target); err != nil {
			return fmt.Errorf("--provider: %w", err)
		}
	}
	if f.tools != "" {
		text, err := small.File(f.tools, small.Tools)
		if err != nil {
			return fmt.Errorf("--tools: %w", err)
		}
		if f.declared, err = schema.Parse(text); err != nil {
			return fmt.Errorf("--tools: %s: %w", f.tools, err)
		}
	}
	return nil
}

// parseStrategies parses the values of --strategy: rule=name.
func (f *ruleFlags) parseStrategies(values []string) error {
	f.strategy = map[string]string{}
	for _, value := range values {
		name, strategy, _ := strings.Cut(value, "=")
		if err := names.User.Strategy(name, strategy); err != nil {
			return fmt.Errorf("--strategy: %w", err)
		}
		if f.strategy[name] != "" && f.strategy[name] != strategy {
			return fmt.Errorf("--strategy: %s cannot be both %s and %s", name, f.strategy[name], strategy)
		}
		f.strategy[name] = strategy
	}
	return nil
}

// A settings is what flags and a config file say about a file.
type settings struct {
	engine.Options
	failOn      rules.Severity
	placeholder string
}

// settings merges the flags with the config file of a target. A list of flags replaces the list in the file.
func (f *ruleFlags) settings(t *target) (*settings, error) {
	said := t.config
	if said == nil {
		said = &config.File{}
	}
	s := &settings{failOn: rules.Error, placeholder: said.Placeholder}
	s.Dialects, s.Target, s.Send, s.Tools = t.config.Dialects(), f.profile, f.send, f.declared
	if f.dialect != "" {
		var err error
		if s.Dialect, err = names.User.Format(s.Dialects, f.dialect); err != nil {
			return nil, fmt.Errorf("--from: %w", err)
		}
	}
	if s.Target == nil {
		s.Target = profile.ByName(said.Provider)
	}
	selected, ignored := f.selected, f.ignored
	if len(selected) == 0 {
		if selected = said.Select; len(ignored) == 0 {
			ignored = said.Ignore
		}
	}
	s.Rules, s.Explicit = rules.Select(selected, ignored)
	s.Severity, s.Strategy = map[string]rules.Severity{}, map[string]string{}
	for name, level := range said.Rules {
		s.Severity[name], _ = rules.ParseSeverity(level)
		if s.Severity[name] == rules.Off && slices.Contains(f.selected, name) {
			delete(s.Severity, name)
		}
	}
	maps.Copy(s.Severity, f.severity)
	maps.Copy(s.Strategy, said.Strategy)
	maps.Copy(s.Strategy, f.strategy)
	for _, level := range []string{said.FailOn, f.failOn} {
		if v, ok := rules.ParseSeverity(level); ok && level != "" {
			s.failOn = v
		}
	}
	if t.config != nil {
		if list := t.config.For(t.path); len(list) > 0 {
			s.Ignore = func(f *rules.Finding) bool { return list.Has(f.Rule.Name, f.Rule.Category, f.CallID) }
		}
	}
	return s, nil
}

// shows reports whether reports for people show infos of a rule.
func (s *settings) shows(r *rules.Rule) bool { return s.failOn == rules.Info || s.Explicit[r.Name] }
