package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/config"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/names"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
)

func newRulesCmd(a *app) *cobra.Command {
	return newListCmd(a, &cobra.Command{
		Use:   "rules",
		Short: "List the rules",
		Long:  "rules lists all rules with their severities. toolguard explain RULE describes one.",
	}, ruleTable, ruleList)
}

func newFormatsCmd(a *app) *cobra.Command {
	f := &configFlags{}
	var file *config.File
	var chosen []*dialect.Dialect // nil for all
	cmd := newListCmd(a, &cobra.Command{
		Use:   "formats [format]...",
		Short: "List the formats of transcripts, with examples",
		Long: `formats lists the formats of messages that toolguard reads, and the containers
that store them. A format can occur in any container that stores messages the
same way. Formats that toolguard.toml defines come first.

Given the names of formats, it shows only these.`,
		Example: `  toolguard formats
  toolguard formats claude-code`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeDialects,
		PreRunE: func(_ *cobra.Command, names []string) (err error) {
			if file, err = f.file(); err != nil {
				return err
			}
			chosen, err = formatsNamed(file.Dialects(), names)
			return err
		},
	}, func() []byte { return formatTable(file, chosen) }, func() any { return formatList(file, chosen) })
	f.define(cmd)
	return cmd
}

// newListCmd makes cmd print a table, or the same list as JSON.
func newListCmd(a *app, cmd *cobra.Command, table func() []byte, list func() any) *cobra.Command {
	format := "text"
	if cmd.Args == nil {
		cmd.Args = atMost(0)
	}
	cmd.Flags().StringVarP(&format, "output-format", "o", format, "print as `format`: text or json")
	complete(cmd, "output-format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(*cobra.Command, []string) error {
		var err error
		switch format {
		case "text":
			err = a.printTable(string(table()))
		case "json":
			_, err = a.stdout.Write(indentedJSON(list()))
		default:
			err = fmt.Errorf("--output-format: expected text or json, got %q", format)
		}
		return err
	}
	return cmd
}

// printTable prints a table. On a terminal its last column is folded.
func (a *app) printTable(table string) error {
	if width, terminal := a.columns(a.rawStdout); terminal {
		table = report.FoldTable(table, width)
	}
	_, err := io.WriteString(a.screen, table)
	return err
}

// indentedJSON returns v as indented JSON.
func indentedJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic(err) // strings and lists can be encoded
	}
	return report.EscapeJSON(b.Bytes())
}

// ruleTable lists the rules by category. A severity that has exceptions is marked
// with a star.
func ruleTable() []byte {
	var b bytes.Buffer
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for i, category := range rules.Categories() {
		if i > 0 {
			fmt.Fprintln(tw, "\t\t")
		}
		fmt.Fprintf(tw, "%s\t\t\n", category)
		for _, r := range rules.All() {
			if r.Category == category {
				severity := r.Severity
				if i := strings.IndexAny(severity, " ;:"); i >= 0 {
					severity = severity[:i] + "*"
				}
				fmt.Fprintf(tw, "  %s\t%s\t%s\n", r.Name, severity, r.Summary)
			}
		}
	}
	tw.Flush()
	b.WriteString("\nprofile: the severity depends on the provider. *: there are exceptions; toolguard explain RULE lists them.\n")
	return trimLines(b.Bytes())
}

// trimLines removes the spaces that pad the last column of a table.
func trimLines(b []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(b) {
		out.Write(bytes.TrimRight(line, " \n"))
		out.WriteByte('\n')
	}
	return out.Bytes()
}

func ruleList() any {
	type rule struct {
		Name     string `json:"name"`
		Category string `json:"category"`
		Severity string `json:"severity"`
		Summary  string `json:"summary"`
		URL      string `json:"url"`
	}
	list := []rule{}
	for _, r := range rules.All() {
		list = append(list, rule{r.Name, r.Category, r.Severity, r.Summary, r.URL()})
	}
	return list
}

// A containerKind is a way to store messages in a file.
type containerKind struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Example string `json:"example"`
}

// containers lists the containers, with … for messages.
func containers() []containerKind {
	return []containerKind{
		{detect.ContainerDocument, "a JSON document with one list of messages", `{"model":"m","messages":[…]}`},
		{detect.ContainerDocuments, "a JSON document with several conversations", `[{"messages":[…]},{"messages":[…]}]`},
		{detect.ContainerLines, "JSON Lines, one message per line", `{"role":"user","content":"hi"}`},
		{detect.ContainerConversations, "JSON Lines, one conversation per line", `{"messages":[…]}`},
		{detect.ContainerLinkedLog, "a session log whose records name their parents", `{"type":"user","uuid":"u1","parentUuid":null,"message":{…}}`},
		{detect.ContainerEventLog, "a session log without links", `{"type":"user","message":{…}}`},
		{detect.ContainerLog, "a JSON document with a list of log records", `[{"type":"user","message":{…}}]`},
		{detect.ContainerFoldingLog, "a log whose records can replace or change earlier ones", `{"$set":{"lastUpdated":"…"}}`},
		{detect.ContainerYAML, "documents of YAML, such as recordings of requests", `interactions: [{request: {body: '{"messages":[…]}'}}]`},
	}
}

// containersOf lists the containers that a dialect occurs in.
func containersOf(d *dialect.Dialect) []string {
	if d.Log != nil {
		return []string{detect.ContainerLinkedLog, detect.ContainerEventLog, detect.ContainerLog}
	}
	all := []string{detect.ContainerDocument, detect.ContainerDocuments, detect.ContainerLines, detect.ContainerConversations}
	switch {
	case d.Fold != nil:
		all[2] = detect.ContainerFoldingLog // each line can replace an earlier one
	case d.Patch != nil:
		all = append(all, detect.ContainerFoldingLog)
	}
	return all
}

// formatsNamed returns the formats with these names.
func formatsNamed(set *dialect.Set, named []string) ([]*dialect.Dialect, error) {
	var out []*dialect.Dialect
	for _, name := range named {
		d, err := names.User.Format(set, name)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

func formatTable(file *config.File, chosen []*dialect.Dialect) []byte {
	var b bytes.Buffer
	list := func(dialects []*dialect.Dialect) {
		for _, d := range dialects {
			fmt.Fprintf(&b, "\n%s: %s\n", d.Name, d.Title)
			for _, line := range []struct{ name, value string }{
				{"", d.Summary},
				{"where: ", d.Where},
				{"marks: ", strings.Join(marks(d), ", ")},
				{"containers: ", strings.Join(containersOf(d), ", ")},
				{"only checked: ", d.CheckOnly},
			} {
				if line.value != "" {
					fmt.Fprintf(&b, "  %s%s\n", line.name, line.value)
				}
			}
			if d.Example != "" {
				fmt.Fprintf(&b, "\n%s\n", indented(strings.TrimSpace(d.Example)))
			}
		}
	}
	if chosen != nil {
		list(chosen)
		return bytes.TrimPrefix(b.Bytes(), []byte("\n"))
	}
	if defined := file.Dialects().UserDefined(); len(defined) > 0 {
		fmt.Fprintf(&b, "Formats of %s\n", file.Path)
		list(defined)
		b.WriteByte('\n')
	}
	b.WriteString("Formats\n")
	list(dialect.All())
	b.WriteString("\nContainers\n\n")
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, c := range containers() {
		fmt.Fprintf(tw, "  %s\t%s\t%s\n", c.Name, c.Summary, c.Example)
	}
	tw.Flush()
	return b.Bytes()
}

// marks lists the marks of a user-defined dialect.
func marks(d *dialect.Dialect) []string {
	var out []string
	for _, c := range d.Marks {
		out = append(out, c.String())
	}
	return out
}

func formatList(file *config.File, chosen []*dialect.Dialect) any {
	type format struct {
		Name       string   `json:"name"`
		Title      string   `json:"title"`
		Summary    string   `json:"summary"`
		Where      string   `json:"where"`
		Provider   string   `json:"provider"`
		Containers []string `json:"containers"`
		CheckOnly  *string  `json:"check_only"` // why it is not repaired
		Marks      []string `json:"marks"`      // null for a built-in dialect
		Example    string   `json:"example"`
	}
	var list struct {
		Dialects   []format        `json:"dialects"`
		Containers []containerKind `json:"containers"`
	}
	if chosen == nil {
		chosen = file.Dialects().All()
	}
	for _, d := range chosen {
		f := format{d.Name, d.Title, d.Summary, d.Where, d.Provider, containersOf(d), nil, marks(d), d.Example}
		if d.CheckOnly != "" {
			f.CheckOnly = &d.CheckOnly
		}
		list.Dialects = append(list.Dialects, f)
	}
	list.Containers = containers()
	return list
}

// indented returns text as a block that is indented.
func indented(s string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
