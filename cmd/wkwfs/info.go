package main

import (
	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/jobs/gaps"
	"github.com/wkwfs/wkwfs/internal/jobs/inspect"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
)

func newInfoCommand() *cobra.Command {
	var asJSON bool
	var from sourceFlags
	var diskCache diskCacheFlags
	var drawing previewSettings
	cmd := &cobra.Command{
		Use:   "info [flags] SOURCE [LAYER]",
		Short: "Print layers, mags and sizes of a dataset",
		Long: `Print the layers and mags of SOURCE with their boxes, types, blocks, cubes and sizes.
` + sourceHelp + `

FILES is the size of the cube files, FLAT that of volume.raw.

With --preview, draw the middle plane of LAYER on the terminal instead, as coloured half
blocks. If standard output is no terminal, NO_COLOR is set or TERM is dumb, the picture
is text. --preview=FORM chooses.
Without LAYER, it is the first image. Grey values are stretched: the first and the last
percentile are black and white. Segments have colours. What cannot be read has stripes,
and the exit code is 1. A plane that is too large for its coarsest mag is cropped.`,
		Example: `  wkwfs info /data/cortex
  wkwfs info --preview /data/cortex segmentation
  wkwfs info --preview --mag 2-2-1 --z 1700 /data/cortex color`,
		Args: drawing.args,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := settings.Settle(cmd.Flags(), args[0]); err != nil {
				return err
			}
			log := plainLogger(cmd.ErrOrStderr())
			disk, err := diskCache.open(log)
			if err != nil {
				return err
			}
			defer disk.close()
			opened, err := disk.open(from, args[0], log)
			if err != nil {
				return err
			}
			if drawing.form != "" {
				ctx, stop := untilSignal()
				defer stop()
				return drawing.run(ctx, args, opened, from.depth(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			r, err := inspectSource(opened, args[0], from.depth())
			if err != nil {
				return err
			}
			if !asJSON {
				return printReport(cmd.OutOrStdout(), r)
			}
			return printJSON(cmd.OutOrStdout(), r, "  ")
		},
	}
	from.register(cmd.Flags())
	diskCache.register(cmd.Flags())
	settings.RegisterConfig(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	drawing.register(cmd.Flags())
	return cmd
}

// inspectSource describes an open source with the name that the user gave it, and looks for gaps.
func inspectSource(opened *dataset.Dataset, path string, depth int) (*inspect.Report, error) {
	return inspect.Source(remote.Display(path), opened.Root, depth, gaps.Options{Unfinished: opened.Unfinished(0)})
}
