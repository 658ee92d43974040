package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/jobs/diff"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// diffSettings are the settings of a comparison.
type diffSettings struct {
	from       sourceFlags
	diskCache  diskCacheFlags
	a, b       string
	layer, mag string
	cacheSize  settings.Size
	jobs       int
	json       bool
}

const diffExitHelp = `Exit codes: 0 equal, 1 different, 2 failed.`

func newDiffCommand() *cobra.Command {
	s := diffSettings{cacheSize: defaultCacheSize}
	cmd := &cobra.Command{
		Use:   "diff [flags] A B",
		Short: "List the boxes in which two sources differ",
		Long: `Compare the voxels of A and B, and print each box that differs with the number of its voxels that
do. A and B are each a SOURCE. ` + sourceHelp + `

Layers of one name are compared, mag by mag; two sources with one layer each, whatever the names
are. Boxes have the names of box/ in a mount. They are made of blocks, cut at the bounding box, and
are in the voxels of the mag. What is outside of a bounding box, or was never written, is 0.

A volume annotation is laid over the dataset of --over, or over the other source if that is a
dataset. Then its volumes are compared with the layers that they lie over.

Only blocks that may differ are read: not those that neither has, or both have in one version.

The exit code is 0 if both are equal, 1 if voxels, boxes, layers or mags differ, and 2 if
something cannot be compared. With --json it prints an object for each box, and a last one with the
key "summary".`,
		Example: `  wkwfs diff /data/cortex annotation.zip
  wkwfs diff --over /data/cortex monday.zip tuesday.zip
  wkwfs diff --layer segmentation=labels --mag 1 /data/cortex s3://bucket/cortex`,
		Args: exactArgs("A", "B"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.a, s.b = args[0], args[1]
			err := settings.Settle(cmd.Flags(), s.a)
			if err == nil {
				err = fitCache(cmd.Flags(), &s.cacheSize, thisMemory())
			}
			if err == nil && s.jobs < 1 {
				err = hint.Usagef("", "--jobs: expected at least 1, found %d", s.jobs)
			}
			if err != nil {
				return trouble(err)
			}
			ctx, stop := untilSignal()
			defer stop()
			return s.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	s.from.register(flags)
	flags.Lookup(
		"over").Usage = "lay a volume annotation over the `DATASET` that was annotated (default: the other source)"
	s.diskCache.register(flags)
	settings.RegisterConfig(flags)
	flags.Var(&s.cacheSize, cacheSizeFlag, "memory for decoded blocks, such as 512MiB or 4GB")
	flags.StringVar(&s.layer, "layer", "", "compare the layer `NAME` only; A=B if it has another name in B")
	flags.StringVar(&s.mag, "mag", "", "compare the mag `NAME` only")
	flags.IntVarP(&s.jobs, "jobs", "j", processors, "compare `N` parts at once, up to 8 MiB each")
	flags.BoolVar(&s.json, "json", false, "print one JSON object per line")
	cmd.SetUsageTemplate(strings.Replace(cmd.UsageTemplate(), exitHelp, "", 1) + diffExitHelp + "\n")
	return cmd
}

// trouble is an error with the exit code 2: 1 says that the sources differ.
func trouble(err error) error {
	if known, ok := errors.AsType[*hint.Error](err); ok {
		return &hint.Error{Err: err, Hint: known.Hint, Usage: true}
	}
	return &hint.Error{Err: err, Usage: true}
}

// run compares. It returns errPrinted if the sources differ.
func (s *diffSettings) run(ctx context.Context, stdout, stderr io.Writer) error {
	tuneRuntime(int64(s.cacheSize) + int64(s.jobs)*16<<20)
	screen := newDiffScreen(stdout, stderr, s.json)
	err := s.compare(ctx, screen, stderr)
	switch {
	case ctx.Err() != nil:
		err = errors.New("interrupted: the rest was not compared")
	case err == nil:
		err = screen.failed
	}
	screen.summary(err != nil)
	switch {
	case err != nil:
		return trouble(err)
	case screen.sum.Faults > 0:
		return errPrintedUsage
	case !screen.sum.Equal():
		return errPrinted
	}
	return nil
}

// compare opens the sources, and compares them.
func (s *diffSettings) compare(ctx context.Context, screen *diffScreen, stderr io.Writer) error {
	log := plainLogger(stderr)
	disk, err := s.diskCache.open(log)
	if err != nil {
		return err
	}
	defer disk.close()
	a, b, err := s.openBoth(disk, log)
	if err != nil {
		return err
	}
	defer a.Close()
	defer b.Close()
	blocks := cache.New(int64(s.cacheSize))
	defer blocks.Close()
	want := diff.Choice{Mag: s.mag, VolumesA: a.Volumes(), VolumesB: b.Volumes()}
	if s.layer != "" {
		var renamed bool
		if want.Layer, want.Other, renamed = strings.Cut(s.layer, "="); !renamed {
			want.Other = want.Layer
		}
		if a.Root.Dataset == nil {
			want.Layer = sourceName(s.a)
		}
		if b.Root.Dataset == nil {
			want.Other = sourceName(s.b)
		}
	}
	o := diff.Options{Cache: blocks, Jobs: s.jobs, Stats: &screen.stats}
	finish := screen.follow()
	defer finish()
	return diff.Datasets(ctx, a.Root.AsDataset(sourceName(s.a)), b.Root.AsDataset(sourceName(s.b)), want, o,
		screen.report())
}

// openBoth opens both sources. An annotation is laid over the dataset of --over, or over the other source if that is
// none.
func (s *diffSettings) openBoth(disk *diskCache, log *slog.Logger) (a, b *dataset.Dataset, err error) {
	alone := func(path string) (*dataset.Dataset, error) {
		from := s.from
		from.over = ""
		return disk.open(from, path, slog.New(slog.DiscardHandler))
	}
	a, errA := alone(s.a)
	b, errB := alone(s.b)
	defer func() {
		if err != nil {
			closeOpened(a, b)
		}
	}()
	isDataset := func(d *dataset.Dataset) bool { return d != nil && d.Volumes() == nil }
	overA, overB := s.from.over, s.from.over
	if overA == "" && isDataset(b) {
		overA = s.b
	}
	if overB == "" && isDataset(a) {
		overB = s.a
	}
	reopen := func(d *dataset.Dataset, name, path, over string, err error) (*dataset.Dataset, error) {
		if isDataset(d) || over == "" {
			return d, withSide(name, err)
		}
		closeOpened(d)
		from := s.from
		from.over = over
		d, err = disk.open(from, path, log)
		return d, withSide(name, err)
	}
	if a, err = reopen(a, "A", s.a, overA, errA); err != nil {
		return nil, b, err
	}
	b, err = reopen(b, "B", s.b, overB, errB)
	return a, b, err
}

// withSide says which source an error is of.
func withSide(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

// closeOpened closes what is open.
func closeOpened(all ...*dataset.Dataset) {
	for _, d := range all {
		if d != nil {
			d.Close() // read-only: nothing can be lost
		}
	}
}
