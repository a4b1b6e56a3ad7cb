package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/config"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/names"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/schema"
	"github.com/toolguard/toolguard/internal/small"
)

// ruleFlags say which rules run, and how severe their findings are.
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
	f.defineRules(cmd)
	cmd.Flags().StringVar(&f.failOn, "fail-on", "", "exit with 1 for findings of this `severity` or higher: error, warning or info (default: error)")
	complete(cmd, "fail-on", cobra.FixedCompletions([]string{"error", "warning", "info"}, cobra.ShellCompDirectiveNoFileComp))
	f.defineReading(cmd)
}

// defineRules adds the flags that say which rules run.
func (f *ruleFlags) defineRules(cmd *cobra.Command) {
	flags := cmd.Flags()
	// Lists with commas are split later: pflag would need encoding/csv for that.
	flags.StringArrayVar(&f.selected, "select", nil, "run only these `rules` or categories")
	flags.StringArrayVar(&f.ignored, "ignore", nil, "do not run these `rules` or categories")
	flags.StringSliceVar(&f.severities, "severity", nil, "set the severity of a rule: `rule=severity`; off disables it")

	selectable := completeFrom(rules.Selectable)
	complete(cmd, "select", selectable)
	complete(cmd, "ignore", selectable)
	complete(cmd, "severity", completeFrom(allSeverities))
}

// defineReading adds the flags that say how a transcript is read, and for whom it is checked.
func (f *ruleFlags) defineReading(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.target, "provider", "", "check as this `provider` would; toolguard profiles lists them (default: the one that a request names, or that of the format)")
	flags.BoolVar(&f.send, "send", false, "is this about to be sent? Then a call that still waits for its result is an error")
	flags.StringVar(&f.tools, "tools", "", "check calls against the tools that this `file` declares, in the format of OpenAI, Anthropic, Gemini or MCP (default: the tools in the request)")
	flags.StringVar(&f.dialect, "from", "", "read files in this `format`, without detection; toolguard formats lists them")

	complete(cmd, "provider", completeFrom(profile.Names))
	complete(cmd, "from", completeDialects)
}

// allSeverities lists the values of --severity.
func allSeverities() []string {
	var out []string
	for _, r := range rules.All() {
		for s := rules.Off; s <= rules.Error; s++ {
			out = append(out, r.Name+"="+s.String())
		}
	}
	return out
}

// A resolver merges the flags with the config file that applies to a file.
type resolver struct {
	flags    *ruleFlags
	severity map[string]rules.Severity
	strategy map[string]string
	failOn   rules.Severity // rules.Off if the flag is not set
	target   *profile.Profile
	tools    *schema.Tools
	known    map[*config.File]*settings
}

// settings are the merged settings for a file.
type settings struct {
	dialects    *dialect.Set
	dialect     *dialect.Dialect // nil lets the file decide
	target      *profile.Profile
	send        bool
	tools       *schema.Tools
	severity    map[string]rules.Severity
	strategy    map[string]string
	failOn      rules.Severity
	selected    []string        // rules and categories to run
	ignored     []string        // rules and categories not to run
	rules       []*rules.Rule   // to run
	byName      map[string]bool // the rules that were selected by their own names
	placeholder string
	baseline    string // its path, whether it exists or not
	named       bool   // the config file names the baseline, so it must exist
	backup      string // a suffix, or "none"; "" if it is not set
}

// newResolver validates the flags and returns their resolver.
func newResolver(f *ruleFlags) (*resolver, error) {
	r := &resolver{flags: f, known: map[*config.File]*settings{}}
	for _, list := range []*[]string{&f.selected, &f.ignored, &f.severities} {
		values := *list
		*list = nil
		for _, v := range values {
			if v != "" {
				*list = append(*list, strings.Split(v, ",")...)
			}
		}
	}
	err := cmp.Or(of("--select", names.User.Rules(f.selected)), of("--ignore", names.User.Rules(f.ignored)))
	if err != nil {
		return nil, err
	}
	if r.severity, err = severities(f.severities); err != nil {
		return nil, err
	}
	if f.failOn != "" {
		if r.failOn, err = names.FailOn(f.failOn); err != nil {
			return nil, of("--fail-on", err)
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

// knows returns an error if --from names a dialect that is neither built in nor
// defined in the config file.
func (r *resolver) knows(file *config.File) error {
	return knowsDialect(file.Dialects(), r.flags.dialect)
}

// settings merges a config file, which may be nil, with the flags. A list of flags
// replaces the list in the file. Tables are merged entry by entry.
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
		placeholder: said.Placeholder, backup: said.Backup,
	}
	s.baseline, s.named = file.BaselinePath()
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
		s.target = profile.ByName(said.Provider)
	}
	r.known[file] = s
	return s
}

// options returns the engine's options for a file.
func (s *settings) options(t *target) engine.Options {
	o := engine.Options{
		Dialects: s.dialects, Dialect: s.dialect, Target: s.target, Send: s.send, Tools: s.tools,
		Rules: s.rules, Severity: s.severity, Explicit: s.byName, Strategy: s.strategy, CheckOnly: counted(t),
	}
	if t.config != nil {
		if ignored := t.config.For(t.path); len(ignored) > 0 {
			o.Ignore = func(f *rules.Finding) bool { return ignored.Has(f.Rule.Name, f.Rule.Category, f.CallID) }
		}
	}
	return o
}

// shows reports whether reports for people show infos of a rule.
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

// severities parses the values of --severity: rule=severity.
func severities(values []string) (map[string]rules.Severity, error) {
	set := map[string]rules.Severity{}
	for _, value := range values {
		name, level, ok := strings.Cut(value, "=")
		if !ok {
			return nil, fmt.Errorf("--severity: expected rule=severity, got %q", value)
		}
		var err error
		if set[name], err = names.User.Severity(name, level); err != nil {
			return nil, of("--severity", err)
		}
	}
	return set, nil
}
