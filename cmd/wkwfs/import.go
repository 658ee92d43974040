package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/lockfile"
	"github.com/wkwfs/wkwfs/internal/small/paths"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
	"github.com/wkwfs/wkwfs/internal/write/downsample"
	"github.com/wkwfs/wkwfs/internal/write/importer"
	"github.com/wkwfs/wkwfs/internal/write/pyramid"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// importSettings are the settings of an import.
type importSettings struct {
	input, dataset string
	flags          *pflag.FlagSet
	options        importer.Options
	raw            arrayfile.RawShape
	format         string
	compression    string
	values         rawFlags
	axes           string
	shape, offset  *volume.Vec // nil if not given
	update, finish bool
	quiet, json    bool
	dryRun         bool
}

func newImportCommand() *cobra.Command {
	s := importSettings{options: importer.Options{Block: 32, Memory: importer.DefaultMemory}}
	cmd := &cobra.Command{
		Use:   "import [flags] INPUT DATASET --layer NAME",
		Short: "Write voxels from other programs into a dataset",
		Long: `Write the voxels of INPUT into DATASET as a new layer, and add the layer to
datasource-properties.json. DATASET is created if it does not exist.

INPUT is an .npy, NRRD, MetaImage, NIfTI, MRC, TIFF, PNG or JPEG file, a dataset of an HDF5
file (FILE.h5:/path), or a directory of TIFF, PNG or JPEG files with one plane each. With --shape and --dtype, it is a file that
contains only voxels. Of a file with its voxels in a second file, INPUT is the header.

The axes of an .npy file in Fortran order, as in a mount, are x, y, z, or channel, x, y, z.
In C order they may be z, y, x, or z, y, x, channel, as most programs write them; or still
x, y, z, because scipy and skimage return C order. import finds out by the size of the box
in the name of INPUT, or of the layers of DATASET. If that does not show it, it asks for
--axes, except for the first layer of a dataset, which has z, y, x. --axes has the letters
of the axes of the shape as numpy prints it, with c for channels. The pages of a TIFF, and
the files of a directory, are z. With --axes xyz, they are x, and their rows y. A file that
contains only voxels has x next to each other. With --axes xyz it is what numpy's tofile
writes of an array with the axes x, y, z.

The offset and the voxel size come from the header of INPUT, unless --offset and
--voxel-size are given. All layers of a dataset have the same voxel size.

The layer is a segmentation if the name of the layer or of INPUT says so (a word that
starts with seg or label, or is mask), or if its header says so (a palette, an intent),
or if a sample of its voxels shows it: most are equal to their neighbour. import prints
what it has chosen and why. If the category is in doubt, it asks for --category and
writes nothing. If more is missing, one error names all of it, with the command to type.
What import assumes, such as a unit, is printed as a warning.

With --mags N, coarser mags are written too. As in WEBKNOSSOS, each doubles the axes with
the shortest voxels. A voxel gets the mean of the finer voxels. In a segmentation it gets
the most frequent value, or the smallest of equally frequent ones. Voxels outside of
INPUT count as 0. Cubes of zeros are not written.

INPUT is read once, from front to end. What does not fit in --memory waits in temporary
files in the directory of the layer.

With --format zarr3, cubes are shards of Zarr 3, as WEBKNOSSOS writes them.

With --update, INPUT replaces its box of an existing WKW layer, in all mags. Only the
cubes of that box are written, each as a whole. Type and channels must be those of the
layer. With --backup DIR, the cubes that it may replace are kept in DIR first, where they
take no room of their own if DIR is on the same disk. DIR must not exist or be empty. It
is a dataset: to undo the update, copy the box out of it (wkwfs cp DIR LAYER/1/box/BOX.nrrd),
and give that as INPUT of another --update.

INPUT of an update may be a volume annotation, zip or directory. Then mag 1 of the layer
becomes what a mount shows of the annotation over it, and coarser mags are made again. The
layer is the one that the volume lies over, unless --layer names one. Only cubes with voxels
of the annotation are written.

If an import is interrupted, the same command resumes it, unless INPUT has changed.

With --dry-run, import prints the boxes, files and bytes that it would write, and what exists
already. It writes nothing, and fails where it would fail: but for a full disk, and for what
other processes write in the meantime. It does not look for cubes of zeros, so that there may
be fewer files.

With --part, it writes the cubes of a part of INPUT, in all mags, and no metadata. When all
parts are complete, the same command with --finish in place of --part adds the layer to the
metadata. If parts are missing, it names them. INPUT is cut between cubes of the coarsest mag:
there are no more parts with voxels than such cubes. All parts have about the same stored
bytes of INPUT, as far as whole cubes allow. INPUT must not be one compressed stream.
` + partHelp + `

With --json it prints objects with one key: "warning", "plan", "progress" about once a
second, and at the end "summary", "dry_run" or "error".`,
		Example: `  wkwfs import labels.nrrd /data/cortex --layer segmentation --mags 3
  wkwfs import prediction.raw /data/cortex --layer membranes --shape 1024,1024,256 --dtype float32 --offset 100,70,34
  wkwfs import corrected.nrrd /data/cortex --layer segmentation --update
  wkwfs import labels.npy /data/cortex --layer segmentation --update --offset 100,70,34 --axes xyz
  wkwfs import annotation.zip /data/cortex --update --backup /scratch/before
  wkwfs import slices /data/new --layer color --voxel-size 11.24,11.24,25
  wkwfs import --part auto em.nrrd /data/cortex --layer em --category color`,
		Args: exactArgs("INPUT", "DATASET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.input, s.dataset, s.flags = args[0], args[1], cmd.Flags()
			if err := cmp.Or(s.settleUpdate(cmd.Flags()), s.settlePart(cmd.Flags())); err != nil {
				return err
			}
			if cmd.Flags().Changed("compression") && s.format != pyramid.WKW.String() {
				return hint.Usagef("its blocks are compressed by zstd", "--compression is not for --format %s",
					s.format)
			}
			if err := s.settle(); err != nil {
				return err
			}
			ctx, stop := untilSignal()
			defer stop()
			return s.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	o := &s.options
	flags.StringVar(&o.Layer, "layer", "", "`NAME` of the new layer")
	flags.StringVar(&o.Category, "category", "",
		"`CATEGORY`: color or segmentation (default: as names, header and values show)")
	registerShape(flags, &s.shape, &s.axes)
	s.values.register(flags)
	flags.Var(voxelsFlag{&s.offset}, "offset",
		"position of the first voxel in the dataset (default: from the header, or 0,0,0)")
	flags.Var(lengthsFlag{&o.VoxelSize}, "voxel-size", "in nm (default: that of the dataset, or from the header)")
	flags.IntVar(&o.Mags, "mags", 0, "also write `N` coarser mags")
	flags.IntVar(&o.Block, "block", o.Block, "blocks have `N` voxels a side")
	flags.IntVar(&o.Cube, "cube", 0,
		"cube files have `N` voxels a side (default: as in the dataset, or the least that holds all, up to 1024)")
	flags.StringVar(&s.format, "format", "wkw",
		"`FORMAT` of the layer: wkw, or zarr3 as WEBKNOSSOS writes it, in shards compressed by zstd")
	flags.StringVar(&s.compression, "compression", "lz4", "`METHOD` that compresses blocks: raw, lz4 or lz4hc")
	flags.StringVar(&o.Downsample, "downsample", "",
		"`METHOD` for coarser mags: mean, mode, nearest, max or none (default: mean, and mode for a segmentation)")
	flags.Var((*settings.Size)(&o.Memory), "memory", "use about `SIZE` of memory")
	flags.IntVarP(&o.Jobs, "jobs", "j", processors, "compress with `N` goroutines")
	flags.BoolVar(&s.update, "update", false, "replace a box of an existing layer")
	flags.StringVar(&o.Backup, "backup", "", "keep in `DIR` what an update replaces, as a dataset")
	registerPart(flags, &o.Part)
	flags.BoolVar(&s.finish, "finish", false, "add the layer to the metadata when all parts are complete")
	flags.BoolVar(&o.Force, "force", false, "replace an existing layer of this name")
	flags.BoolVar(&s.dryRun, "dry-run", false, "print what would be written, and write nothing")
	flags.BoolVar(&s.json, "json", false, "print one JSON object per line: plan, progress, summary or error")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "print only errors")
	return cmd
}

// settleUpdate checks that no flag contradicts --update.
func (s *importSettings) settleUpdate(flags *pflag.FlagSet) (err error) {
	if !s.update {
		if flags.Changed("backup") {
			return hint.Usagef("an import without --update replaces nothing", "--backup is for --update")
		}
		return nil
	}
	for _, name := range []string{"force", "category", "voxel-size", "mags", "block", "cube", "format", "compression"} {
		if flags.Changed(name) {
			err = hint.Usagef("the layer has its own", "--%s is not for --update", name)
		}
	}
	return err
}

// settlePart checks that no flag contradicts --part or --finish.
func (s *importSettings) settlePart(flags *pflag.FlagSet) error {
	switch {
	case s.finish && s.dryRun:
		return hint.Usagef("if parts are missing, --finish names them and writes nothing",
			"--dry-run is not for --finish")
	case s.options.Part.Whole() && !s.finish:
	case s.finish && flags.Changed("part"):
		return hint.Usagef("give it when all parts are complete", "--finish is not for --part")
	case s.update:
		return hint.Usagef("", "--update is not for --part and --finish")
	case s.options.Force:
		return hint.Usagef("remove the directory of the layer first",
			"--force is not for --part and --finish: it would remove what other parts have written")
	}
	return nil
}

// settle checks flags that depend on each other.
func (s *importSettings) settle() (err error) {
	o := &s.options
	if paths.IsURL(s.dataset) {
		return hint.Usagef("import into a directory", "DATASET %s is a URL, and an import writes only to directories",
			remote.Display(s.dataset))
	}
	if o.Format, err = pyramid.ParseFormat(s.format); err != nil {
		return hint.Usagef("", "--format: %w", err)
	}
	if o.Compression, err = wkw.ParseBlockType(s.compression); err != nil {
		return hint.Usagef("", "--compression: expected raw, lz4 or lz4hc, found %q", s.compression)
	}
	switch {
	case o.Category != "" && o.Category != importer.Color && o.Category != importer.Segmentation:
		return hint.Usagef("", "--category: expected %s or %s, found %q", importer.Color, importer.Segmentation,
			o.Category)
	case o.Jobs < 1:
		return hint.Usagef("", "--jobs: expected at least 1, found %d", o.Jobs)
	case o.Mags < 0 || o.Mags > maxMags:
		return hint.Usagef("", "--mags: expected 0 to %d, found %d", maxMags, o.Mags)
	}
	switch _, err := downsample.ParseMethod(o.Downsample); {
	case o.Downsample == "none":
		o.Mags, o.Downsample = 0, ""
	case o.Downsample != "" && err != nil:
		return hint.Usagef("write none for no coarser mags", "--downsample: %w", err)
	}
	o.Offset = s.offset
	o.Named = namedBox(s.input)
	if s.shape != nil {
		s.raw.Size = *s.shape
	}
	s.raw.Channels, s.raw.BigEndian = s.values.channels, s.values.bigEndian
	if s.values.dtype != "" {
		if s.raw.Type, err = volume.ParseType(s.values.dtype); err != nil {
			return hint.Usagef("", "--dtype: %w", err)
		}
	}
	return nil
}

// namedBox returns the box of which a file has the name, as a copy out of a mount has. It is empty if there is none.
func namedBox(name string) volume.Box {
	base := filepath.Base(name)
	if box, ok := tree.ParseBox(strings.TrimSuffix(base, filepath.Ext(base))); ok {
		return box
	}
	return volume.Box{}
}

// maxMags keeps factors far below the largest number.
const maxMags = 20

// run imports, and shows it.
func (s *importSettings) run(ctx context.Context, stdout, stderr io.Writer) error {
	screen := newImportScreen(stdout, stderr, s.quiet, s.json)
	screen.layer, screen.dry = s.options.Layer, s.dryRun
	return screen.finish(s.write(ctx, screen))
}

func (s *importSettings) write(ctx context.Context, screen *importScreen) error {
	if isAnnotation, err := s.merge(ctx, screen); isAnnotation || err != nil {
		return err
	}
	in, err := s.open()
	if err != nil {
		return err
	}
	defer in.Close()
	debug.SetMemoryLimit(s.options.Memory + workMemory) // the collector does not wait until memory has doubled
	for _, text := range in.Warnings {
		screen.warning(s.input, text)
	}
	s.show(screen)
	finish := screen.followImport()
	write := importer.Import
	switch {
	case s.update:
		write = importer.Update
	case s.finish:
		write = importer.Finish
	}
	err = write(ctx, in, s.dataset, s.options)
	finish()
	return s.explain(ctx, err)
}

// show shows the import on a screen.
func (s *importSettings) show(screen *importScreen) {
	s.options.Stats, s.options.Planned, s.options.Waits = &screen.stats, screen.planned, screen.waits
	if s.dryRun {
		s.options.DryRun = func(d importer.DryRun) { screen.dryRun(d, s.update) }
	}
}

// explain adds a hint to an error.
func (s *importSettings) explain(ctx context.Context, err error) error {
	again := "the same command resumes it"
	if s.update {
		again = "the same command completes it"
	}
	if missing, ok := errors.AsType[*importer.MissingError](err); ok {
		return s.ask(missing)
	}
	if wrong, ok := errors.AsType[*importer.AxesError](err); ok {
		advice := fmt.Sprintf("--axes %s if these are its axes", wrong.Fit())
		if usual := wrong.Usual(); usual != "" {
			advice += fmt.Sprintf(", --axes %s if it belongs there all the same", usual)
		}
		return hint.Errorf(advice, "%w", err)
	}
	inParts := s.finish || !s.options.Part.Whole()
	if incomplete, ok := errors.AsType[*importer.MissingPartsError](err); ok {
		return hint.Errorf(fmt.Sprintf("give --part %d/%d in place of --finish", incomplete.Parts[0], incomplete.N),
			"%w", err)
	}
	switch {
	case errors.Is(err, lockfile.ErrBusy):
		return hint.Errorf("import again when the other process has ended", "%w", err)
	case errors.Is(err, importer.ErrReplaced):
		return hint.Errorf("on a file system without locks, give one import of a layer at a time", "%w", err)
	case errors.Is(err, importer.ErrBackup):
		return hint.Errorf("name a directory that does not exist", "%w", err)
	case errors.Is(err, importer.ErrUnfinished) && s.update:
		return hint.Errorf("give the command of the import again", "%w", err)
	case errors.Is(err, importer.ErrSequential):
		return hint.Errorf("decompress it first, or import it without --part", "%w", err)
	case errors.Is(err, importer.ErrNoParts):
		return hint.Errorf("give --part I/N in place of --finish", "%w", err)
	case errors.Is(err, importer.ErrUnfinished) && inParts:
		return hint.Errorf(
			"all parts and --finish have the same settings and the same N, and are of one release of wkwfs; to start over, remove "+hint.Quote(filepath.Join(s.dataset, s.options.Layer)), "%w", err)
	case errors.Is(err, importer.ErrExists) && inParts:
		return hint.Errorf("if it is this import, it was finished", "%w", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return hint.Errorf("make room; "+again, "%w", err)
	case ctx.Err() != nil:
		return hint.Errorf(again, "interrupted")
	case errors.Is(err, importer.ErrExists), errors.Is(err, importer.ErrUnfinished):
		return hint.Errorf("--force replaces it", "%w", err)
	}
	return err
}
