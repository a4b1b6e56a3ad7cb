package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolguard/toolguard/internal/usage"
)

// newRootCmd returns the root command. If args begin with the name of a subcommand, only
// that one is added, because defining the flags of all of them would take most of the time
// of a short run.
func newRootCmd(a *app, args []string) *cobra.Command {
	wanted := false
	cmd := &cobra.Command{
		Use:   "toolguard",
		Short: "Find and repair tool calls without results and other errors in transcripts of AI agents",
		Long: `toolguard checks transcripts of AI agents: session logs, request bodies, saved
histories and datasets. It finds tool calls without results, results without
calls, and other errors that make a provider reject a request, and repairs them.`,
		Example: `  toolguard check session.jsonl
  toolguard fix --write session.jsonl
  toolguard doctor`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		Args:              unknownCommand,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if wanted {
				return a.printVersion()
			}
			return cmd.Help()
		},
	}
	cmd.SetIn(a.stdin)
	cmd.SetOut(a.stdout)
	cmd.SetErr(a.stderr)
	cmd.SetFlagErrorFunc(flagError)
	cmd.SetGlobalNormalizationFunc(usage.Renamed(map[string]string{"dialect": "from", "target": "provider"}))
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { a.help(cmd) })
	// cobra's own version flag needs text/template, which calls methods by name: the
	// linker would have to keep every exported method of every type.
	cmd.Flags().BoolVar(&wanted, "version", false, "print the version")
	// An internal error asks for it. It is hidden because nothing else does.
	cmd.PersistentFlags().BoolVar(&a.debug, "debug", false, "print the stack of an internal error")
	_ = cmd.PersistentFlags().MarkHidden("debug") // it exists
	own := func(c namedCommand) bool { return len(args) > 0 && args[0] == c.name }
	one := slices.ContainsFunc(commands(), own)
	for _, c := range commands() {
		if !one || own(c) {
			cmd.AddCommand(c.command(a))
		}
	}
	usage.Define(cmd)
	if completes(args) {
		unquoteUsage(cmd)
	}
	return cmd
}

// A namedCommand is a command that can be made.
type namedCommand struct {
	name  string
	make  func(*app) *cobra.Command
	files bool // it reads or writes files, and tidies up when a signal ends it
	// short names the flags that most people need; "" stands for all flags.
	short string
}

// command makes the command.
func (c namedCommand) command(a *app) *cobra.Command {
	cmd := c.make(a)
	if c.short != "" {
		cmd.Annotations = usage.Short(c.short)
	}
	if c.files {
		cmd.PersistentPreRun = func(*cobra.Command, []string) { a.listen() }
	}
	return cmd
}

// commands lists the commands of toolguard.
func commands() []namedCommand {
	list := []namedCommand{
		{"check", newCheckCmd, true, "provider send from select fail-on exit-zero allow-empty output-format verbose exclude jobs"},
		{"fix", newFixCmd, true, "write diff safe-only unsafe strategy provider send from select output-format verbose"},
		{"filter", newFilterCmd, true, "out rejects reasons overwrite dry-run fix max-rejects provider from select fail-on json"},
		{"doctor", newDoctorCmd, true, "agent since fix yes unsafe undo list json"},
		{"show", newShowCmd, true, "problems turn call all scope fix html jsonl provider from no-pager"},
		{"trim", newTrimCmd, true, "keep-last max-tokens max-bytes results-max-bytes boundary out write dry-run provider from json"},
		{"extract", newExtractCmd, true, "max-tokens only scope all results-max-bytes out overwrite from json"},
		{"explain", newExplainCmd, false, ""},
		{"rules", newRulesCmd, false, ""},
		{"formats", newFormatsCmd, false, ""},
		{"profiles", newProfilesCmd, false, ""},
		{"detect", newDetectCmd, true, "from verbose exclude"},
		{"stats", newStatsCmd, true, "by since min-calls json csv html provider from select exclude jobs"},
		{"redact", newRedactCmd, true, "out overwrite provider from json"},
		{"serve", newServeCmd, true, ""},
		{"baseline", newBaselineCmd, true, "prune baseline provider from select fail-on exclude"},
		{"config", newConfigCmd, true, ""},
		{"completion", newCompletionCmd, false, ""},
		{"version", newVersionCmd, false, ""},
	}
	for _, p := range programs() {
		list = append(list, namedCommand{p.name, p.command, false, ""})
	}
	return list
}

// commandNames lists the names of the commands.
func commandNames() []string {
	var out []string
	for _, c := range commands() {
		out = append(out, c.name)
	}
	return out
}

// unquoteUsage takes the marks from the help of flags that say what their values are
// called: shells show the help as it is.
func unquoteUsage(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) })
	for _, c := range cmd.Commands() {
		unquoteUsage(c)
	}
}

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  atMost(0),
		RunE:  func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *app) printVersion() error {
	_, err := fmt.Fprintf(a.screen, "toolguard %s\n", programVersion())
	return err
}

func newCompletionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a completion script for a shell",
		Long: `completion prints a script that completes the commands, flags and rules of
toolguard in a shell. To load it into the current shell:

  bash        source <(toolguard completion bash)
  zsh         source <(toolguard completion zsh)
  fish        toolguard completion fish | source
  powershell  toolguard completion powershell | Out-String | Invoke-Expression`,
		Args:      needs("a shell: bash, zsh, fish or powershell"),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.stdout)
			case "fish":
				return root.GenFishCompletion(a.stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.stdout)
			}
			return fmt.Errorf("completion: expected bash, zsh, fish or powershell, got %q", args[0])
		},
	}
}
