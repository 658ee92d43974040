package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/copier"
	"github.com/wkwfs/wkwfs/internal/view"
)

// copySettings is what the user asked of a copy.
type copySettings struct {
	from      sourceFlags
	config    configFlag
	source    string
	path      string // in the tree, as fs.ValidPath wants it
	contents  bool   // of the folder at path: its name is left out
	dest      string
	cacheSize byteSize
	jobs      int
	choice    choice
	force     bool
	quiet     bool
}

func newCopyCommand() *cobra.Command {
	s := copySettings{cacheSize: defaultCacheSize}
	cmd := &cobra.Command{
		Use:   "cp [flags] SOURCE PATH DEST",
		Short: "Copy flat raw files out of a dataset, without a mount",
		Long: `Copy the file or folder that a mount of SOURCE would show at PATH to DEST: for
machines that have no FUSE. DEST is a file, a folder to be made, or an existing
folder to copy into. PATH/. is what is in a folder, without the folder; . is all.

A mag shows the same voxels in many forms. Of a folder with mags in it, the cubes
are copied, and volume.json, which describes them. The volumes, the slices, the
folder precomputed and the blocks are copied where PATH names them or is below them,
else with --all and --blocks. Boxes have to be named: there are too many.

What is not whole is called DEST.part. A copy that was ended, by Ctrl-C or a crash,
goes on where it stopped when the same command is given again, unless the source
has changed. Files that exist with the size and time of the source are kept;
others are not replaced without --force.

While SOURCE answers late, as file servers do, more is read at once: see --io-depth.

If a file cannot be read, the others of the folder are copied; the exit code is 1.`,
		Example: `  wkwfs cp /data/cortex color/1/volume.nii .
  wkwfs cp /data/cortex color/1/box/0-512_0-512_0-64.npy corner.npy
  wkwfs cp --cache-size 8GiB /data/cortex color/2-2-1/slices /scratch/slices
  wkwfs cp /data/cortex . /scratch/cortex`,
		Args: exactArgs("SOURCE", "PATH", "DEST"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.source, s.dest = args[0], args[2]
			if err := s.config.settle(cmd.Flags(), s.source); err != nil {
				return err
			}
			if err := s.setPath(args[1]); err != nil {
				return err
			}
			if s.jobs < 1 {
				return usageError("", "--jobs: expected at least 1, found %d", s.jobs)
			}
			ctx, stop := endOfCopy()
			defer stop()
			return s.run(ctx, cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	s.from.register(flags)
	s.config.register(flags)
	flags.Var(&s.cacheSize, "cache-size", "memory for decoded blocks, such as 512MiB or 4GB")
	flags.IntVarP(&s.jobs, "jobs", "j", processors, "read `N` ranges or files at once, 4 MiB each")
	flags.BoolVar(&s.choice.all, "all", false, "with the volumes, slices and precomputed: several times the size")
	flags.BoolVar(&s.choice.blocks, "blocks", false, "with a file for every block: twice the size, often millions of files")
	flags.BoolVar(&s.force, "force", false, "replace files that are there")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "say nothing but errors")
	return cmd
}

// endOfCopy returns a context that is done with the first signal; the second one ends
// the program.
func endOfCopy() (context.Context, context.CancelFunc) {
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// setPath takes a path of the tree as people write them.
func (s *copySettings) setPath(text string) error {
	trimmed, isContents := strings.CutSuffix(text, "/.")
	trimmed = strings.TrimRight(strings.TrimPrefix(trimmed, "./"), "/")
	if text == "." || text == "./" {
		trimmed, isContents = ".", true
	}
	if !fs.ValidPath(trimmed) {
		return usageError(". is all there is", "PATH %q is not a path below SOURCE, such as color/1/volume.raw", text)
	}
	s.path, s.contents = trimmed, isContents
	return nil
}

// run copies.
func (s *copySettings) run(ctx context.Context, stderr io.Writer) error {
	source, err := realPath(s.source)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	tuneRuntime(int64(s.cacheSize) + int64(s.jobs)*copier.RangeSize + copier.HelpersSize)
	screen := newScreen(stderr, s.quiet)
	log := slog.New(slog.NewTextHandler(screen, &slog.HandlerOptions{Level: slog.LevelWarn}))
	opened, err := openSource(source, s.from, log)
	if err != nil {
		return err
	}
	blocks := cache.New(int64(s.cacheSize))
	defer blocks.Close()
	tree := newLasting(view.New(opened.Root, view.Options{Cache: blocks, Log: log, Private: true}), s.from.depth())

	info, err := fs.Stat(tree, s.path)
	if err != nil {
		return hinted("wkwfs info "+shellWord(s.source)+" shows what there is", "%s: %w", s.source, err)
	}
	target, err := s.findTarget(source, info.IsDir())
	if err != nil {
		return err
	}
	defer target.close()
	return s.copy(ctx, tree, info.IsDir(), opened.Late, target, screen)
}

// copy copies from the tree to the target.
func (s *copySettings) copy(ctx context.Context, tree fs.FS, folder bool, late func() bool, to *target, screen *screen) error {
	var stats copier.Stats
	var failed error // of a single file
	options := copier.Options{
		Jobs:   s.jobs,
		Depth:  s.from.depth(),
		Late:   late,
		Force:  s.force,
		Select: s.choice.entries,
		Stats:  &stats,
		Note:   func(name, text string) { screen.print(name + ": " + text) },
		Failed: func(name string, err error) { failed = named(name, err) },
	}
	if folder {
		options.Failed = func(name string, err error) { screen.print(oneLine(named(name, err).Error())) }
	}
	finish := screen.follow(&stats)
	err := copier.Copy(ctx, tree, s.path, to.root, to.name, options)
	finish()

	const again = "the same command goes on where it stopped"
	n := stats.FailedFiles.Load()
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return hinted("make room; "+again, "%w", err)
	case ctx.Err() != nil:
		return hinted(again, "interrupted")
	case err != nil:
		return err
	case errors.Is(failed, copier.ErrExists):
		return hinted("--force replaces it", "%w", failed)
	case failed != nil:
		return failed
	case n > 0:
		return hinted("the same command tries those again", "%d of %d files could not be copied", n, stats.FoundFiles.Load())
	}
	return to.complete()
}

// named puts the name in front, once.
func named(name string, err error) error {
	if p, ok := err.(*fs.PathError); ok && p.Path == name {
		err = p.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}
