package main

import (
	"context"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/internal/jobs/copier"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// copySettings are the settings of a copy.
type copySettings struct {
	from      sourceFlags
	diskCache diskCacheFlags
	source    string
	path      string // in the tree, as fs.ValidPath wants it
	contents  bool   // copy the entries of the directory at path, without its name
	dest      string
	cacheSize settings.Size
	unit      settings.Unit
	jobs      int
	forms     copier.Forms
	part      batch.Part
	force     bool
	dryRun    bool
	quiet     bool
}

func newCopyCommand() *cobra.Command {
	s := copySettings{cacheSize: defaultCacheSize}
	var packed bool
	cmd := &cobra.Command{
		Use:   "cp [flags] SOURCE PATH DEST",
		Short: "Copy files of voxels out of a dataset, without a mount",
		Long: `Copy the file or directory that a mount of SOURCE would show at PATH to DEST. It needs
no FUSE. DEST is a file, a directory to create, or an existing directory to copy into.
` + sourceHelp + `
PATH/. is the content of a directory, without the directory; . is everything.

A mag shows the same voxels in many forms. From a directory, cp copies only the cubes,
and volume.json, which describes the mag. To copy volumes, slices or a layer as
Precomputed or OME-Zarr, name one in PATH, or use --all. To copy blocks, name them, or use
--blocks. To copy a box, name it.

An incomplete file is called DEST.part. If a copy is interrupted, the same command
resumes it, unless the source has changed. Existing files with the size, time and header
of the source are kept. Other existing files are replaced only with --force.

If a file, mag or layer cannot be read, cp copies the others, and the exit code is 1. If SOURCE
answers late, as file servers do, cp reads more at once: see --io-depth.

With --dry-run, cp prints the number of files and bytes that it would copy and keep in each
directory. It writes nothing, and fails where it would fail: but for a full disk, for damage,
and for what other processes write in the meantime. It does not look at incomplete files.

With --part, cp copies a part of the files of a directory, which PATH/. names. All parts have
about the same number of stored bytes. They may run at the same time, on any machine, and
twice. The same command without --part then copies what is missing.

With --annotation, SOURCE is a volume annotation, and there is no PATH: DEST becomes the zip that
WEBKNOSSOS takes. Each block is decoded before; if one is damaged, there is no zip.
` + partHelp,
		Example: `  wkwfs cp /data/cortex color/1/volume.nii .
  wkwfs cp /data/cortex color/1/box/0-512_0-512_0-64.npy corner.npy
  wkwfs cp --cache-size 8GiB /data/cortex color/2-2-1/slices /scratch/slices
  wkwfs cp /data/cortex . /scratch/cortex
  wkwfs cp --part auto /data/cortex . /scratch/cortex
  wkwfs cp --annotation /data/edits annotation.zip`,
		Args: func(cmd *cobra.Command, args []string) error {
			if packed {
				return exactArgs("SOURCE", "DEST")(cmd, args)
			}
			return exactArgs("SOURCE", "PATH", "DEST")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s.source, s.dest = args[0], args[len(args)-1]
			if err := settings.Settle(cmd.Flags(), s.source); err != nil {
				return err
			}
			if packed {
				return s.pack(cmd)
			}
			if err := fitCache(cmd.Flags(), &s.cacheSize, thisMemory()); err != nil {
				return err
			}
			if err := s.setPath(args[1]); err != nil {
				return err
			}
			if s.jobs < 1 {
				return hint.Usagef("", "--jobs: expected at least 1, found %d", s.jobs)
			}
			ctx, stop := untilSignal()
			defer stop()
			return s.run(ctx, cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	s.from.register(flags)
	s.diskCache.register(flags)
	settings.RegisterConfig(flags)
	flags.Var(&s.cacheSize, cacheSizeFlag, "memory for decoded blocks, such as 512MiB or 4GB")
	registerUnit(flags, &s.unit)
	flags.IntVarP(&s.jobs, "jobs", "j", processors, "read `N` ranges or files at once, 4 MiB each")
	flags.BoolVar(&s.forms.All, "all", false,
		"also copy volumes, slices, and layers as Precomputed and OME-Zarr: several times the size")
	flags.BoolVar(&s.forms.Blocks, "blocks", false,
		"also copy each block as a file: twice the size, often millions of files")
	registerPart(flags, &s.part)
	flags.BoolVar(&packed, "annotation", false, "make the zip of a volume annotation that WEBKNOSSOS takes")
	flags.BoolVar(&s.force, "force", false, "replace existing files")
	flags.BoolVar(&s.dryRun, "dry-run", false, "print what would be copied, and write nothing")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "print only errors")
	return cmd
}

// untilSignal returns a context that ends with the first signal. The second signal ends the
// program.
func untilSignal() (context.Context, context.CancelFunc) {
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// setPath sets the path from an argument of the command line.
func (s *copySettings) setPath(text string) error {
	trimmed, isContents := strings.CutSuffix(text, "/.")
	trimmed = strings.TrimRight(strings.TrimPrefix(trimmed, "./"), "/")
	if text == "." || text == "./" {
		trimmed, isContents = ".", true
	}
	if !fs.ValidPath(trimmed) {
		return hint.Usagef("PATH . is everything", "PATH %q is not a path below SOURCE, such as color/1/volume.raw",
			text)
	}
	s.path, s.contents = trimmed, isContents
	return nil
}
