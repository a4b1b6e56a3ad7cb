package main

import (
	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/usage"
)

// flagGroups lists all flags of all commands.
func flagGroups() []usage.Group {
	return []usage.Group{
		{Title: "Which sessions", Names: "agent path since all"},
		{Title: "What is counted", Names: "by min-calls"},
		{Title: "What is shown", Names: "problems context turn call only scope jsonl redact no-pager"},
		{Title: "Where to cut", Names: "keep-last keep-last-user target-index keep-first max-tokens max-bytes counter boundary prefer pin results-max-bytes keep-results"},
		{Title: "Repair", Names: "write fix yes undo list prune diff dry-run safe-only unsafe strip-reasoning strategy placeholder backup force prove"},
		{Title: "What is judged", Names: "provider send from tools select ignore severity fail-on exit-zero allow-empty exit-non-zero-on-fix max-rejects"},
		{Title: "Output", Names: "out rejects reasons overwrite output-format json csv html quiet verbose color no-excerpt statistics"},
		{Title: "Files", Names: "exclude force-exclude no-gitignore skip-unrecognized stdin-filename max-size jobs"},
		{Title: "Requests", Names: "stdio max-request"},
		{Title: "Config", Names: "config isolated baseline no-baseline"},
		{Title: "Other flags", Names: "version help"},
	}
}

// help prints the help of a command. Lines of more than report.DefaultWidth columns are hard to
// read.
func (a *app) help(cmd *cobra.Command) {
	width, _ := a.columns(a.rawStdout)
	_ = usage.Write(a.screen, cmd, flagGroups(), min(width, report.DefaultWidth)) // the screen keeps its error
}
