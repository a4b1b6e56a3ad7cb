package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/usage"
)

// mistaken returns what is wrong with a command line that cobra would take for another
// one: nil for nothing.
func mistaken(args []string) error {
	if len(args) == 0 || completes(args) {
		return nil
	}
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if len(arg) > 1 && arg[0] == '-' && exists(arg) && !isFlag(args, i) {
			return fmt.Errorf("%s is a path and not a flag: write ./%s", arg, arg)
		}
	}
	if args[0] == "--" {
		return misplacedDashes(args[1:])
	}
	name := args[0]
	if name == "help" && len(args) > 1 {
		name = args[1]
		if slices.Contains(commandNames(), name) {
			return mistakenHelp(args[1:])
		}
	}
	known := append(commandNames(), "help")
	switch {
	case len(name) > 1 && name[0] == '-' || slices.Contains(known, name):
		return nil
	case args[0] != "help" && (name == "-" || exists(name)):
		return fmt.Errorf("%s is a path and not a command: write toolguard check %s", name, name)
	}
	if rules.ByName(name) != nil {
		return fmt.Errorf("%s is a rule and not a command: write toolguard explain %s", name, name)
	}
	if meant := customary(name); meant != "" {
		return fmt.Errorf("unknown command %q; did you mean %q?", name, meant)
	}
	return suggest.Unknown("command", name, known, "toolguard --help lists them")
}

// misplacedDashes returns the error for the arguments behind dashes that come before the
// command. It goes behind the command: what follows it are paths.
func misplacedDashes(args []string) error {
	if len(args) == 0 || !slices.Contains(commandNames(), args[0]) {
		return errors.New("expected a command before --; toolguard --help lists them")
	}
	line := append([]string{"toolguard", args[0], "--"}, args[1:]...)
	return fmt.Errorf("expected a command before --: write %s", strings.Join(line, " "))
}

// mistakenHelp returns what is wrong with the names of a command after help.
func mistakenHelp(names []string) error {
	cmd := newRootCmd(&app{}, names)
	for _, name := range names {
		if strings.HasPrefix(name, "-") {
			continue
		}
		i := slices.IndexFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
		switch {
		case i >= 0:
			cmd = cmd.Commands()[i]
		case cmd.HasSubCommands():
			return unknownCommand(cmd, []string{name})
		default:
			return surplus(cmd, name)
		}
	}
	return nil
}

// customary returns the command that has another name in other programs, or "".
func customary(name string) string {
	switch name {
	case "lint", "validate":
		return "check"
	case "repair", "format":
		return "fix"
	case "shorten", "truncate", "cut", "compact", "compress", "prune":
		return "trim"
	case "anonymize", "anonymise", "sanitize", "sanitise", "mask", "scrub":
		return "redact"
	}
	return ""
}

// completes reports whether a shell asks for completions.
func completes(args []string) bool { return len(args) > 0 && strings.HasPrefix(args[0], "__complete") }

// isFlag reports whether argument i is a flag of the command, or the value of the flag
// before it. Several shorthands in one argument do not count, because many names of files
// could be read as such.
func isFlag(args []string, i int) bool {
	cmd, _, err := newRootCmd(&app{}, args).Find(args)
	if err != nil {
		return false
	}
	flag := func(arg string) *pflag.Flag {
		if name, long := strings.CutPrefix(arg, "--"); long {
			name, _, _ = strings.Cut(name, "=")
			return cmd.Flags().Lookup(name)
		}
		if len(arg) == 2 && arg[0] == '-' {
			return cmd.Flags().ShorthandLookup(arg[1:])
		}
		return nil
	}
	if flag(args[i]) != nil {
		return true
	}
	if i == 0 || strings.Contains(args[i-1], "=") {
		return false
	}
	before := flag(args[i-1])
	return before != nil && before.NoOptDefVal == ""
}

// exists reports whether there is something at a path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// unknownCommand returns the error for the name of a subcommand that there is not.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var known []string
	for _, c := range cmd.Commands() {
		known = append(known, c.Name())
	}
	return suggest.Unknown("command", args[0], known, cmd.CommandPath()+" --help lists them")
}

// flagError says in a user's words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		return unknownFlag(cmd, unknown)
	}
	var required *pflag.ValueRequiredError
	if errors.As(err, &required) {
		spelled := "--" + required.GetSpecifiedName()
		if required.GetSpecifiedShortnames() != "" {
			spelled = "-" + required.GetSpecifiedName()
		}
		value, _ := pflag.UnquoteUsage(required.GetFlag())
		return fmt.Errorf("%s needs a value: %s %s", spelled, spelled, value)
	}
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	want := ""
	switch flag := invalid.GetFlag(); flag.Value.Type() {
	case "tokens", "size":
		return fmt.Errorf("--%s: %w, got %q", flag.Name, invalid.Unwrap(), invalid.GetValue())
	case "int":
		want = "a number"
		// pflag does not say why it refuses a number.
		if _, err := strconv.ParseInt(invalid.GetValue(), 0, 0); errors.Is(err, strconv.ErrRange) {
			want = "a smaller number"
		}
	case "bool":
		if _, is := flag.Value.(*choice); is {
			return fmt.Errorf("--%s: %w", flag.Name, invalid.Unwrap())
		}
		want = "true or false"
	default:
		return err
	}
	return fmt.Errorf("--%s: expected %s, got %q", invalid.GetFlag().Name, want, invalid.GetValue())
}

// exclusive makes the flags of a command exclude each other.
func exclusive(cmd *cobra.Command, one, other string) {
	cmd.MarkFlagsMutuallyExclusive(one, other)
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed(one) && cmd.Flags().Changed(other) {
			return fmt.Errorf("--%s and --%s exclude each other: give only one", one, other)
		}
		if before == nil {
			return nil
		}
		return before(cmd, args)
	}
}

// needs returns a check for the one argument of a command. what says which one is missing.
func needs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return fmt.Errorf("%s needs %s", nameOf(cmd), what)
		case 1:
			return nil
		}
		return surplus(cmd, args[1])
	}
}

// atMost returns a check that a command has no more than n arguments.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return surplus(cmd, args[n])
		}
		return nil
	}
}

func surplus(cmd *cobra.Command, arg string) error {
	return fmt.Errorf("%s: unexpected argument %q; %s --help shows the usage", nameOf(cmd), arg, cmd.CommandPath())
}

// nameOf returns the name of a command without that of the program, which begins every message.
func nameOf(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "toolguard ") }

// A habit is a list of flags of other programs, and the answer of toolguard.
type habit struct {
	command string   // "" for any
	flags   []string // with their dashes
	has     string   // the flag that the command must have, "" for none
	says    string
}

// habits lists flags that users know from other programs.
func habits() []habit {
	flags := strings.Fields
	return []habit{
		{"fix", flags("--baseline --no-baseline"), "", "; fix repairs all findings, also those in a baseline"},
		{"fix", flags("--dry-run"), "write", ": fix shows its repairs without --write"},
		{"check", flags("--fix"), "", "; did you mean toolguard fix?"},
		{"filter", flags("-o --output"), "", "; did you mean --out?"},
		{"filter", flags("--force"), "", "; did you mean --overwrite?"},
		{"filter", flags("--exit-zero"), "", "; filter exits with 1 only for --max-rejects"},

		{"filter", flags("-n --check --stats"), "", "; did you mean --dry-run?"},

		{"trim", flags("-o --output"), "", "; did you mean --out?"},
		{"trim", flags("-i --in-place --inplace"), "", "; did you mean --write?"},
		{"trim", flags("--backup"), "", ": --write keeps the original with the suffix " + backupSuffix},
		{"trim", flags("--stdout"), "", ": the result goes to standard output, unless --out or --write says otherwise"},
		{"trim", flags("--check --diff"), "", "; did you mean --dry-run?"},
		{"trim", flags("-n --last --tail --keep --lines --messages --max-messages --last-messages"), "", "; did you mean --keep-last?"},
		{"trim", flags("--first --head"), "", "; did you mean --keep-first?"},
		{"trim", flags("--start --from-message --drop --drop-first --skip --skip-first --offset"), "", "; did you mean --target-index?"},
		{"trim", flags("-t --tokens --limit --budget --token-limit --token-budget --max-input-tokens --max-context --context-window --window"), "", "; did you mean --max-tokens?"},
		{"trim", flags("-c --bytes --size --max-size --max-chars --max-characters"), "", "; did you mean --max-bytes?"},
		{"trim", flags("--max-result-bytes --max-results-bytes --results-max-tokens --result-max-bytes --truncate-results --shorten-results --truncate --shorten --max-output"), "", "; did you mean --results-max-bytes?"},
		{"trim", flags("--system --keep-system --tools --keep-tools"), "", ": the system prompt and the declared tools always stay"},
		{"trim", flags("--model --api"), "", "; did you mean --provider?"},
		{"trim", flags("--tokenizer --encoding"), "", "; did you mean --counter?"},
		{"trim", flags("--format"), "", "; did you mean --from or --json?"},
		{"trim", flags("--output-format"), "", "; did you mean --json?"},
		{"trim", flags("-f"), "", "; did you mean --force?"},
		{"trim", flags("-v --verbose --statistics"), "", ": trim always says what it did, unless --quiet is given"},
		{"trim", flags("-y --yes --unsafe"), "", ": trim asks nothing and drops what the other flags say"},
		{"trim", flags("--select --ignore --severity --fail-on"), "", ": trim compares the result with the history by all rules"},
		{"trim", flags("--pretty --indent"), "", ": every byte that is kept stays as it was"},

		{"redact", flags("-o --output"), "", "; did you mean --out?"},
		{"redact", flags("--format --output-format"), "", "; did you mean --json?"},
		{"redact", flags("-f --force"), "", "; did you mean --overwrite?"},
		{"redact", flags("-w --write -i --in-place --inplace --backup"), "", ": redact never changes its input; --out names another file"},
		{"redact", flags("--stdout --dry-run --diff --check"), "", ": redact writes to standard output, unless --out names a file"},
		{"redact", flags("--fail-on --exit-zero"), "", ": redact does not fail because of findings"},
		{"redact", flags("--seed --key --salt --secret"), "", ": the filler comes from a random key, which is not kept"},
		{"redact", flags("--mask --replace --replacement --placeholder --pattern --regex --only --secrets --pii --text --no-excerpt"), "", ": redact replaces everything that toolguard does not look for"},
		{"redact", flags("--keep --keep-keys --keep-names --keep-text --allow"), "", ": what stays cannot be chosen; a check must find the same in what stays"},

		{"", flags("--format"), "output-format", "; did you mean --output-format?"},
		{"", flags("--json"), "output-format", "; did you mean --output-format json?"},
		{"", flags("-f"), "output-format", "; did you mean -o json?"},
		{"", flags("--no-color --no-colour"), "color", "; did you mean --color never?"},
		{"", flags("--strict"), "fail-on", "; did you mean --fail-on warning?"},
		{"fix", flags("-i --in-place"), "write", "; did you mean --write?"},
		{"fix", flags("--check"), "write", ": fix without --write only shows its repairs"},
		{"", flags("--keep-last --keep-last-user --keep-first --target-index --max-tokens --max-bytes --results-max-bytes"), "", ", but toolguard trim has it"},
		{"", flags("--rejects --reasons --max-rejects"), "", ", but toolguard filter has it"},
	}
}

// unknownFlag returns the error for a flag that a command does not have, with the one that
// was probably meant.
func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError) error {
	name := err.GetSpecifiedName()
	spelled := "--" + name
	short := err.GetSpecifiedShortnames() != ""
	if short {
		spelled = "-" + name
	}
	unknown := "unknown flag " + spelled
	if short {
		// A word or a number behind one dash is no list of shorthands.
		word, _, _ := strings.Cut(err.GetSpecifiedShortnames(), "=")
		if _, no := strconv.Atoi(word); no == nil && cmd.Flags().Lookup("keep-last") != nil {
			return fmt.Errorf("unknown flag -%s; did you mean --keep-last %[1]s?", word)
		}
		if len(word) > 2 && cmd.Flags().Lookup(word) != nil {
			return fmt.Errorf("unknown flag -%s; did you mean --%[1]s?", word)
		}
	}
	for _, h := range habits() {
		if slices.Contains(h.flags, spelled) && (h.command == "" || h.command == cmd.Name()) && (h.has == "" || cmd.Flags().Lookup(h.has) != nil) {
			return errors.New(unknown + h.says)
		}
	}
	// What comes near is a typing error, but a flag of another command is meant.
	for _, other := range []func(*app) *cobra.Command{newCheckCmd, newFixCmd} {
		flags := other(&app{})
		if has := flags.Flags().Lookup(name); !short && has != nil || short && flags.Flags().ShorthandLookup(name) != nil {
			return fmt.Errorf("%s; did you mean toolguard %s %s?", unknown, flags.Name(), spelled)
		}
	}
	known := usage.Visible(cmd)
	if near := suggest.Nearest(name, known); near != "" && !short {
		return fmt.Errorf("%s; did you mean --%s?", unknown, near)
	}
	return fmt.Errorf("%s; %s --help lists the flags", unknown, cmd.CommandPath())
}
