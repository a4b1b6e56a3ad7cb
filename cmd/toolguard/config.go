package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/config"
	"github.com/toolguard/toolguard/internal/report"
)

func newConfigCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Create, show and describe the config file",
		Long: `toolguard reads toolguard.toml or .toolguard.toml. The nearest one in the
directory of a file or above it applies. Flags override it.`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigInitCmd(a), newConfigShowCmd(a), newConfigSchemaCmd(a))
	return cmd
}

func newConfigInitCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Create a config file with all settings commented out",
		Args:  atMost(0),
		RunE: func(*cobra.Command, []string) error {
			for _, name := range config.Names() {
				if _, err := os.Lstat(name); err == nil {
					return fmt.Errorf("%s already exists", name)
				}
			}
			name := config.Names()[0]
			if err := writeFile(name, []byte(config.Starter)); err != nil {
				return err
			}
			_, err := fmt.Fprintf(a.screen, "Created %s. All settings in it are commented out.\n", name)
			return err
		},
	}
}

func newConfigShowCmd(a *app) *cobra.Command {
	f := &checkFlags{}
	cmd := &cobra.Command{
		Use:   "show [flags] [path]",
		Short: "Show the settings that apply to a file or a directory",
		Long: `show prints the settings that apply to a file or a directory: the defaults, the
settings of its config file, and the flags of this command. The default is the
current directory.`,
		Args: atMost(1),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := newResolver(&f.ruleFlags)
			if err != nil {
				return err
			}
			look, err := newSearch(&f.fileFlags)
			if err != nil {
				return err
			}
			dir := "."
			if len(args) > 0 {
				dir = args[0]
				info, err := os.Stat(dir)
				if err != nil {
					return pathError(dir, err)
				}
				if !info.IsDir() {
					dir = filepath.Dir(dir)
				}
			}
			file, err := look.configOf(dir)
			if err != nil {
				return err
			}
			if err := r.knows(file); err != nil {
				return err
			}
			merged := r.settings(file)
			shown := shownSettings(merged, file, look.exclude)
			if !merged.named && !f.isolated && mayExist(merged.baseline) {
				shown.Baseline = config.DefaultBaseline
			}
			text := shown.Format()
			from := "no config file"
			if file != nil {
				from = file.Path
			}
			_, err = fmt.Fprintf(a.screen, "# from %s\n%s", report.Printable(from), text)
			return err
		},
	}
	cmd.Flags().SortFlags = false
	f.ruleFlags.define(cmd)
	f.fileFlags.define(cmd)
	return cmd
}

// shownSettings returns settings as the config file that would set them.
func shownSettings(s *settings, file *config.File, exclude []string) *config.File {
	out := &config.File{FailOn: s.failOn.String(), Placeholder: s.placeholder, Backup: s.backup, Strategy: s.strategy, Rules: map[string]string{}}
	if file != nil {
		out.Exclude, out.Baseline, out.PerFile, out.Dialect = file.Exclude, file.Baseline, file.PerFile, file.Dialect
	}
	out.Exclude = append(out.Exclude, exclude...)
	if s.target != nil {
		out.Provider = s.target.Name
	}
	out.Select, out.Ignore = s.selected, s.ignored
	for name, severity := range s.severity {
		out.Rules[name] = severity.String()
	}
	return out
}

func newConfigSchemaCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of the config file, for editors",
		Args:  atMost(0),
		RunE: func(*cobra.Command, []string) error {
			schema, err := config.Schema()
			if err == nil {
				_, err = a.stdout.Write(schema)
			}
			return err
		},
	}
}
