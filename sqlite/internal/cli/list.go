package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/report"
)

// These are the parts of the JSON document of list. A field that the database does not have is null.
type (
	jsonList struct {
		Version   int            `json:"version"`
		Databases []jsonDatabase `json:"databases"`
		Failed    []jsonFailed   `json:"failed"`
	}
	jsonDatabase struct {
		Path      string        `json:"path"`
		Agent     string        `json:"agent"`
		Dialect   string        `json:"dialect"`
		Elsewhere int           `json:"elsewhere"`
		Sessions  []jsonSession `json:"sessions"`
	}
	jsonSession struct {
		ID           string  `json:"id"`
		Title        *string `json:"title"`
		Directory    *string `json:"directory"`
		Modified     *string `json:"modified"`
		AgentVersion *string `json:"agent_version"`
	}
	jsonFailed struct {
		Path  string `json:"path"`
		Error string `json:"error"`
	}
)

func newListCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [flags] database...",
		Short: "List the sessions in databases, the newest first",
		Long: `list prints the id, the time of the last change and the title of each session,
the newest first.

Exit codes: 0 if all databases could be read, 2 otherwise.`,
		Example: `  toolguard-sqlite list ~/.local/share/opencode/opencode.db`,
		Args:    databases,
		RunE: func(cmd *cobra.Command, args []string) error {
			doc := jsonList{Version: 1, Databases: []jsonDatabase{}, Failed: []jsonFailed{}}
			for _, path := range args {
				l, err := openLibrary(cmd.Context(), path)
				if err != nil {
					if cmd.Context().Err() != nil {
						return cmd.Context().Err()
					}
					doc.fail(a, path, err)
					continue
				}
				doc.add(a, l)
				l.Close()
			}
			if err := doc.print(a, asJSON); err != nil {
				return err
			}
			if len(doc.Failed) > 0 {
				return errReported
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON document")
	return cmd
}

// fail notes a database that could not be read.
func (d *jsonList) fail(a *app, path string, err error) {
	a.complain(err.Error())
	d.Failed = append(d.Failed, jsonFailed{path, err.Error()})
}

// add adds the sessions of a database.
func (d *jsonList) add(a *app, l *library) {
	for _, s := range l.shelves {
		if s.torn != nil {
			d.fail(a, l.path, about(l.path, s.torn))
		}
		out := jsonDatabase{Path: l.path, Agent: s.Agent, Dialect: s.Dialect, Elsewhere: s.elsewhere, Sessions: []jsonSession{}}
		for _, x := range s.sessions {
			row := jsonSession{ID: x.ID, Title: orNull(x.Title), Directory: orNull(x.Directory), AgentVersion: orNull(x.Version)}
			if !x.Modified.IsZero() {
				row.Modified = orNull(x.Modified.Format(time.RFC3339))
			}
			out.Sessions = append(out.Sessions, row)
		}
		d.Databases = append(d.Databases, out)
	}
}

// print prints the list.
func (d *jsonList) print(a *app, asJSON bool) error {
	var b bytes.Buffer
	if asJSON {
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		if err := enc.Encode(d); err != nil {
			return err
		}
		_, err := a.stdout.Write(report.EscapeJSON(b.Bytes()))
		return err
	}
	for _, db := range d.Databases {
		fmt.Fprintf(&b, "%s: %s, %s\n", report.Printable(db.Path), db.Agent, count(len(db.Sessions), "session"))
		wide := 0
		for _, s := range db.Sessions {
			wide = max(wide, len(report.Printable(s.ID)))
		}
		for _, s := range db.Sessions {
			when := "-"
			if s.Modified != nil {
				when = *s.Modified
			}
			line := fmt.Sprintf("  %-*s  %-20s", wide, report.Printable(s.ID), when)
			if s.Title != nil {
				line += "  " + report.Printable(*s.Title)
			}
			b.WriteString(line + "\n")
		}
		if db.Elsewhere > 0 {
			fmt.Fprintf(&b, "  and %s elsewhere\n", count(db.Elsewhere, "session"))
		}
	}
	_, err := a.stdout.Write(b.Bytes())
	return err
}

// count returns a number of things.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// orNull returns a pointer to a text, nil for "".
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
