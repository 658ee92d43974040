package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

func newSampleCommand() *cobra.Command {
	return &cobra.Command{
		Use: "sample DIR",

		DisableFlagsInUseLine: true, // it has only --help

		Short: "Write a small dataset for first steps",
		Long: `Write a WKW dataset of synthetic electron microscopy to DIR, which must be empty or not
exist. It has an image and its segmentation in three mags, and one missing cube. The
bytes are the same every time.`,
		Example: `  wkwfs sample /tmp/sample
  wkwfs info /tmp/sample`,
		Args: exactArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			dir := args[0]
			if err := sample.Write(ctx, dir, sample.Defaults()); err != nil {
				return fmt.Errorf("sample: %w", err)
			}
			var from sourceFlags
			opened, err := from.open(dir, plainLogger(cmd.ErrOrStderr()))
			if err != nil {
				return err
			}
			r, err := inspectSource(opened, dir, from.depth())
			if err != nil {
				return err
			}
			if err := printReport(cmd.OutOrStdout(), r); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "\nnext: mkdir -p %[1]s && wkwfs mount %[2]s %[1]s\n",
				hint.Quote(dir+".flat"), hint.Quote(dir))
			return err
		},
	}
}
