package main

import (
	"bytes"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
)

func newProfilesCmd(a *app) *cobra.Command {
	return newListCmd(a, &cobra.Command{
		Use:   "profiles",
		Short: "List the providers whose rules toolguard knows",
		Long: `profiles lists the values of --provider, and which ids and names each provider
accepts. With --output-format json it also prints how each rule applies to the
provider, the error of the provider, and the source of that information.`,
	}, profileTable, profileList)
}

func profileTable() []byte {
	var b bytes.Buffer
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "name\tprovider\tids\tnames")
	for _, p := range profile.All() {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", p.Name, p.Title, p.IDs(), p.Names())
	}
	tw.Flush()
	return trimLines(b.Bytes())
}

func profileList() any {
	type point struct {
		Rule       string   `json:"rule"`
		Level      string   `json:"level"`
		Confidence string   `json:"confidence"`
		Error      string   `json:"error,omitempty"`
		Also       []string `json:"also,omitempty"`
		Source     string   `json:"source,omitempty"`
	}
	type row struct {
		Name   string   `json:"name"`
		Title  string   `json:"title"`
		Shape  string   `json:"shape"`
		Like   string   `json:"like,omitempty"`
		IDs    string   `json:"ids"`
		Names  string   `json:"names"`
		Roles  []string `json:"roles,omitempty"`
		Images string   `json:"images,omitempty"`
		Points []point  `json:"points"`
	}
	var list []row
	for _, p := range profile.All() {
		r := row{Name: p.Name, Title: p.Title, Shape: string(p.Wire), IDs: p.IDs(), Names: p.Names(), Images: p.Images.String()}
		if p.Like != nil {
			r.Like = p.Like.Name
		}
		for _, role := range p.Roles {
			if role != "" {
				r.Roles = append(r.Roles, role)
			}
		}
		for _, rule := range rules.All() {
			for _, at := range rule.Points {
				if c := p.Cell(at); c.Level != profile.Unknown {
					r.Points = append(r.Points, point{rule.Name, c.Level.String(), c.Confidence.String(), c.Text, c.Also, c.Source})
				}
			}
		}
		list = append(list, r)
	}
	return list
}
