package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/quantity"
	"github.com/toolguard/toolguard/internal/serve"
)

// maxRequest is the default of --max-request.
const maxRequest = 64 << 20

func newServeCmd(a *app) *cobra.Command {
	var stdio bool
	var jobs int
	most := quantity.Bytes(maxRequest)
	cmd := &cobra.Command{
		Use:   "serve --stdio",
		Short: "Answer requests of another program on standard input",
		Long: `serve reads a request from each line of standard input and writes a line with the
answer to standard output, so that a program can check, repair, filter and trim
transcripts without a process for each. Requests and answers are JSON. The
answers have the order of the requests, which are worked on side by side, and
repeat their ids. An error is an answer, too, and does not end the program.

serve ends with its input. It reads no files and no toolguard.toml: a request
has all settings. Requests and answers that wait take at most --max-request;
then serve reads on when answers have been read. docs/serve.md describes the
requests, and docs/serve.schema.json is their JSON Schema.

Exit codes: 0 at the end of the input or if nobody reads the answers any more, 2
if standard input or output fails or the command line is wrong.`,
		Example: `  echo '{"op":"version"}' | toolguard serve --stdio
  toolguard serve --stdio --jobs 1 --max-request 8MiB`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !stdio {
				return errors.New("serve: expected --stdio, which is the only way to serve")
			}
			if jobs < 0 {
				return fmt.Errorf("--jobs: expected a number of requests, got %d", jobs)
			}
			n, err := atATime(jobs)
			if err != nil {
				return err
			}
			a.beforeFiles(n)
			s := &serve.Server{
				Program: programVersion(), MaxRequest: int64(most), Jobs: n,
				Internal: func(caught *contain.Error) string { return a.internal("", caught).Error() },
			}
			return s.Run(cmd.Context(), a.stdin, a.stdout)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&stdio, "stdio", false, "serve on standard input and output")
	flags.Var(&most, "max-request", "answer longer requests with an error, and let requests and answers of this `size` wait")
	flags.IntVarP(&jobs, "jobs", "j", 0, "work on `n` requests at a time; 0, the default, means all processors; at most 16, or 4 per processor")
	return cmd
}
