package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/internal/check"
)

// checkSettings is what the user asked of a check.
type checkSettings struct {
	from   sourceFlags
	source string
	jobs   int
	json   bool
}

func newCheckCommand() *cobra.Command {
	var s checkSettings
	cmd := &cobra.Command{
		Use:   "check [flags] SOURCE",
		Short: "Read every block of a dataset and list what is damaged",
		Long: `Read every block of SOURCE, a WKW dataset, layer, mag or cube file, and print a line
for each fault: the file, the block or field, the byte offset, what was expected and
what was found. Nothing is mounted and nothing is changed.

  error    voxels, or what describes them, cannot be read: a mount answers EIO
  warning  all can be read, but something is not as it should be
  note     something is no part of the dataset, and was not checked

While SOURCE answers late, as file servers do, more is read at once: see --io-depth.

The exit code is 1 if there is an error, 0 if there are only warnings and notes. With
--json there is an object for each fault, and one with the key "summary" at the end.`,
		Example: `  wkwfs check /data/cortex
  wkwfs check --json /data/cortex | jq -r 'select(.severity == "error") | .path' | sort -u`,
		Args: exactArgs("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.source = args[0]
			if s.jobs < 1 {
				return usageError("", "--jobs: expected at least 1, found %d", s.jobs)
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return s.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	s.from.register(cmd.Flags())
	cmd.Flags().BoolVar(&s.json, "json", false, "for programs: one JSON object a line")
	cmd.Flags().IntVarP(&s.jobs, "jobs", "j", processors, "read `N` parts of cubes at once, 1 MiB each")
	return cmd
}

// run checks, and fails where there is an error.
func (s *checkSettings) run(ctx context.Context, stdout, stderr io.Writer) error {
	// What the source would log, it tells as a finding.
	source, err := openSource(s.source, s.from, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	var stats check.Stats
	screen := newCheckScreen(stdout, stderr, s.json)
	finish := screen.follow(&stats)
	begin := time.Now()
	err = check.Run(ctx, source.Root, check.Options{
		Jobs:   s.jobs,
		Depth:  s.from.depth(),
		Late:   source.Late,
		Count:  screen.bar != nil,
		Stats:  &stats,
		Report: screen.finding,
	})
	finish()
	screen.summary(&stats, time.Since(begin))
	switch {
	case err != nil:
		return fmt.Errorf("interrupted: the rest was not checked")
	case screen.failed != nil:
		return fmt.Errorf("the result of the check: %w", screen.failed)
	case screen.found[check.Error] > 0:
		return errReported
	}
	return nil
}
