package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/config"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/schema"
	"github.com/toolguard/toolguard/internal/small"
	"github.com/toolguard/toolguard/internal/suggest"
)

// ruleFlags say what is looked for in a file, and how severely.
type ruleFlags struct {
	selected, ignored []string
	severities        []string
	failOn            string
	target, dialect   string
	send              bool
	tools             string
}

// define adds the flags to a command.
func (f *ruleFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.selected, "select", nil, "run only these `rules` or categories")
	flags.StringSliceVar(&f.ignored, "ignore", nil, "do not run these `rules` or categories")
	flags.StringSliceVar(&f.severities, "severity", nil, "set how much a rule matters: `rule=severity`, where off silences it")
	flags.StringVar(&f.failOn, "fail-on", "", "the least `severity` that makes the exit code 1: error, warning or info (default error)")
	flags.StringVar(&f.target, "target", "", "check as the provider of this `profile` would: "+strings.Join(profile.Names(), ", ")+" (default: the dialect's own)")
	flags.BoolVar(&f.send, "send", false, "the history is about to be sent: a call that still waits for its result is an error")
	flags.StringVar(&f.tools, "tools", "", "hold calls against the tools that this `file` declares: a list as OpenAI, Anthropic, Gemini or MCP write it (default: a request's own)")
	flags.StringVar(&f.dialect, "dialect", "", "read files as the dialect of this `name`, without detection")

	selectable := completeFrom(rules.Selectable)
	complete(cmd, "select", selectable)
	complete(cmd, "ignore", selectable)
	complete(cmd, "severity", completeFrom(allSeverities))
	complete(cmd, "fail-on", cobra.FixedCompletions([]string{"error", "warning", "info"}, cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "target", completeFrom(profile.Names))
	complete(cmd, "dialect", completeDialects)
}

// allSeverities lists what --severity takes.
func allSeverities() []string {
	var out []string
	for _, r := range rules.All() {
		for s := rules.Off; s <= rules.Error; s++ {
			out = append(out, r.Name+"="+s.String())
		}
	}
	return out
}

// A resolver makes settings of the flags and the config file that holds for a
// file.
type resolver struct {
	flags    *ruleFlags
	severity map[string]rules.Severity
	strategy map[string]string
	failOn   rules.Severity // rules.Off where the flag is not given
	target   *profile.Profile
	tools    *schema.Tools
	known    map[*config.File]*settings
}

// settings are what holds for a file.
type settings struct {
	dialects    *dialect.Set
	dialect     *dialect.Dialect // nil lets the file decide
	target      *profile.Profile
	send        bool
	tools       *schema.Tools
	severity    map[string]rules.Severity
	strategy    map[string]string
	failOn      rules.Severity
	selected    []string        // rules and categories that were asked for
	ignored     []string        // those that were not
	rules       []*rules.Rule   // to run
	byName      map[string]bool // the rules that were selected by their own names
	placeholder string
	baseline    string // where it is, "" for none
	backup      string // a suffix or none, "" where nothing is said
}

// newResolver settles what the flags ask for.
func newResolver(f *ruleFlags) (*resolver, error) {
	r := &resolver{flags: f, known: map[*config.File]*settings{}}
	for _, list := range []struct {
		flag  string
		names []string
	}{{"--select", f.selected}, {"--ignore", f.ignored}} {
		known := rules.Selectable()
		for _, name := range list.names {
			if !slices.Contains(known, name) {
				return nil, fmt.Errorf("%s: %w", list.flag, suggest.Unknown("rule or category", name, known, "toolguard rules lists them"))
			}
		}
	}
	var err error
	if r.severity, err = severities(f.severities); err != nil {
		return nil, err
	}
	if f.failOn != "" {
		var ok bool
		if r.failOn, ok = rules.ParseSeverity(f.failOn); !ok || r.failOn == rules.Off {
			return nil, fmt.Errorf("--fail-on: want error, warning or info, not %q", f.failOn)
		}
	}
	if r.target, err = findTarget(f.target); err != nil {
		return nil, err
	}
	if f.tools != "" {
		if r.tools, err = readTools(f.tools); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// knows returns an error where a config file leaves unknown what the flags name.
func (r *resolver) knows(file *config.File) error {
	return knowsDialect(file.Dialects(), r.flags.dialect)
}

// settings returns what a config file and the flags say together; file is nil
// where there is none. Flags come first: a list replaces that of the file, a
// table is taken entry by entry.
func (r *resolver) settings(file *config.File) *settings {
	if s := r.known[file]; s != nil {
		return s
	}
	said := file
	if said == nil {
		said = &config.File{}
	}
	s := &settings{
		dialects: file.Dialects(), target: r.target, send: r.flags.send, tools: r.tools,
		severity: map[string]rules.Severity{}, strategy: map[string]string{},
		selected: r.flags.selected, ignored: r.flags.ignored,
		placeholder: said.Placeholder, baseline: said.BaselinePath(), backup: said.Backup,
	}
	s.dialect = s.dialects.ByName(r.flags.dialect)
	if len(s.selected) == 0 {
		s.selected = said.Select
		if len(s.ignored) == 0 {
			s.ignored = said.Ignore
		}
	}
	s.rules, s.byName = rules.Select(s.selected, s.ignored)
	for name, level := range said.Rules {
		s.severity[name], _ = rules.ParseSeverity(level)
		if s.severity[name] == rules.Off && slices.Contains(r.flags.selected, name) {
			delete(s.severity, name)
		}
	}
	maps.Copy(s.severity, r.severity)
	maps.Copy(s.strategy, said.Strategy)
	maps.Copy(s.strategy, r.strategy)

	if s.failOn = r.failOn; s.failOn == rules.Off {
		s.failOn = rules.Error
		if v, ok := rules.ParseSeverity(said.FailOn); ok {
			s.failOn = v
		}
	}
	if s.target == nil {
		s.target = profile.ByName(said.Target)
	}
	r.known[file] = s
	return s
}

// options returns how a file is to be looked at.
func (s *settings) options(t *target) engine.Options {
	o := engine.Options{
		Dialects: s.dialects, Dialect: s.dialect, Target: s.target, Send: s.send, Tools: s.tools,
		Rules: s.rules, Severity: s.severity, Strategy: s.strategy, CheckOnly: counted(t),
	}
	if t.config != nil {
		if ignored := t.config.For(t.path); len(ignored) > 0 {
			o.Ignore = func(f *rules.Finding) bool { return ignored.Has(f.Rule.Name, f.Rule.Category, f.CallID) }
		}
	}
	return o
}

// shows reports whether people see an info.
func (s *settings) shows(r *rules.Rule) bool {
	return s.failOn == rules.Info || s.byName[r.Name]
}

// readTools reads a file that declares tools.
func readTools(path string) (*schema.Tools, error) {
	text, err := small.File(path, small.Tools)
	if err != nil {
		return nil, fmt.Errorf("--tools: %w", pathError(path, err))
	}
	t, err := schema.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("--tools: %s: %w", path, err)
	}
	return t, nil
}

// severities reads values of --severity: rule=severity.
func severities(values []string) (map[string]rules.Severity, error) {
	set := map[string]rules.Severity{}
	for _, value := range values {
		name, level, ok := strings.Cut(value, "=")
		if !ok {
			return nil, fmt.Errorf("--severity: want rule=severity, not %q", value)
		}
		if _, err := findRule(name); err != nil {
			return nil, fmt.Errorf("--severity: %w", err)
		}
		severity, ok := rules.ParseSeverity(level)
		if !ok {
			return nil, fmt.Errorf("--severity: want off, info, warning or error for %s, not %q", name, level)
		}
		set[name] = severity
	}
	return set, nil
}
