package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/internal/files/annotation"
	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/internal/jobs/check"
	"github.com/wkwfs/wkwfs/internal/jobs/gaps"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// checkSettings are the settings of a check.
type checkSettings struct {
	from      sourceFlags
	diskCache diskCacheFlags
	source    string
	part      batch.Part
	jobs      int
	json      bool
}

func newCheckCommand() *cobra.Command {
	var s checkSettings
	var merge bool
	cmd := &cobra.Command{
		Use:   "check [flags] SOURCE",
		Short: "Read every block of a dataset and list the damage",
		Long: `Read every block of SOURCE and print a line for each fault: the file, the block or field,
the byte offset, what was expected and what was found. Nothing is mounted or changed.
` + sourceHelp + `

  error    voxels or metadata cannot be read, and a mount returns EIO; or voxels are missing, and
           a mount returns zeros: an import is not finished, or no file of a mag is read
  warning  what the metadata name can be read, but something is not as expected
  note     a file that is not part of the dataset; it was not checked

Of a directory of edits, it also lists temporary files that a killed writer has left.

The exit code is 1 if there is an error, and 0 if there are only warnings and notes. With
--json it prints an object for each fault, and a last one with the key "summary".

If SOURCE answers late, as file servers do, check reads more at once: see --io-depth.

With --part, it checks a part of the cubes. All parts have about the same number of stored
bytes. They may run at the same time, on any machine. Reports of --json of all parts become
one report with --merge. If parts are missing, it names them, and the exit code is 1.
` + partHelp,
		Example: `  wkwfs check /data/cortex
  wkwfs check --json --part 3/8 /data/cortex > report-3.json
  wkwfs check --merge report-*.json
  wkwfs check --json /data/cortex | jq -r 'select(.severity == "error") | .path' | sort -u`,
		Args: func(cmd *cobra.Command, args []string) error {
			if merge && len(args) > 0 {
				return nil
			}
			return exactArgs(map[bool]string{false: "SOURCE", true: "REPORT"}[merge])(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if merge {
				return mergeChecks(args, cmd.Flags(), s.json, cmd.OutOrStdout())
			}
			s.source = args[0]
			if err := settings.Settle(cmd.Flags(), s.source); err != nil {
				return err
			}
			if s.jobs < 1 {
				return hint.Usagef("", "--jobs: expected at least 1, found %d", s.jobs)
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return s.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	s.from.register(cmd.Flags())
	s.diskCache.register(cmd.Flags())
	settings.RegisterConfig(cmd.Flags())
	cmd.Flags().BoolVar(&s.json, "json", false, "print one JSON object per line")
	registerPart(cmd.Flags(), &s.part)
	cmd.Flags().BoolVar(&merge, "merge", false, "print the reports of all parts, files of --json, as one")
	cmd.Flags().IntVarP(&s.jobs, "jobs", "j", processors, "read `N` parts of cubes at once, 1 MiB each")
	return cmd
}

// run checks. It returns errPrinted if there are errors in the source.
func (s *checkSettings) run(ctx context.Context, stdout, stderr io.Writer) error {
	// Nothing is logged: what the source would log is a finding.
	disk, err := s.diskCache.open(nil)
	if err != nil {
		return err
	}
	defer disk.close()
	source, err := disk.open(s.from, s.source, nil)
	if err != nil {
		return err
	}
	var stats check.Stats
	screen := newCheckScreen(stdout, stderr, s.json)
	screen.part = s.part
	finish := screen.follow(&stats)
	start := time.Now()
	if err := annotation.CheckNML(os.DirFS(s.source)); err != nil && s.part.First() {
		screen.finding(check.Finding{Severity: check.Error, Place: check.Place{Path: "."}, Err: err})
	}
	err = check.Run(ctx, source.Root, check.Options{
		Jobs:   s.jobs,
		Depth:  s.from.depth(),
		Late:   source.Late,
		Count:  screen.bar != nil,
		Stats:  &stats,
		Gaps:   gaps.Options{Unfinished: source.Unfinished(0)},
		Part:   s.part,
		Report: screen.finding,
	})
	finish()
	screen.summary(&stats, time.Since(start), err != nil)
	switch {
	case err != nil:
		return fmt.Errorf("interrupted: the rest was not checked")
	case screen.failed != nil:
		return fmt.Errorf("printing the result: %w", screen.failed)
	case screen.found[check.Error] > 0:
		return errPrinted
	}
	return nil
}
