package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/internal/importer"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// importSettings is what the user asked of an import.
type importSettings struct {
	input, dataset string
	options        importer.Options
	raw            importer.RawShape
	compression    string
	dtype          string
	shape, offset  *volume.Vec // nil: not given
	quiet          bool
}

func newImportCommand() *cobra.Command {
	s := importSettings{options: importer.Options{Block: 32, Cube: 1024}, raw: importer.RawShape{Channels: 1}}
	cmd := &cobra.Command{
		Use:   "import [flags] RAW DATASET --layer NAME",
		Short: "Write flat voxels into a dataset, as a new layer",
		Long: `Write the voxels of RAW into DATASET as the layer NAME, with coarser mags if asked,
and enter it in datasource-properties.json. DATASET is made if it does not exist.

RAW is an .npy, NRRD, single-file NIfTI or TIFF file, a folder of TIFF files with a
plane in each, or with --shape and --dtype a file of nothing but voxels. x is the
axis whose voxels lie next to each other: of an .npy in C order, the last. Compressed
NRRD and NIfTI have to be expanded first.

The place and the size of voxels are those of RAW's header, where it has them. All
layers of a dataset have voxels of one size. Values of 32 and 64 bits that are whole
numbers are taken for a segmentation.

Coarser mags double the axes on which voxels are shortest, as webKNOSSOS does, and have
the mean of the values, or for a segmentation the most frequent one (the smallest, if
there are several). Cubes of zeros are not written.

An import that was ended, by Ctrl-C or a crash, goes on where it stopped when the same
command is given again, unless RAW has changed.`,
		Example: `  wkwfs import labels.nrrd /data/cortex --layer segmentation --mags 3
  wkwfs import prediction.raw /data/cortex --layer membranes --shape 1024,1024,256 --dtype float32 --offset 100,70,34
  wkwfs import slices /data/new --layer color --voxel-size 11.24,11.24,25`,
		Args: exactArgs("RAW", "DATASET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.input, s.dataset = args[0], args[1]
			if err := s.settle(); err != nil {
				return err
			}
			ctx, stop := endOfCopy()
			defer stop()
			return s.run(ctx, cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	o := &s.options
	flags.StringVar(&o.Layer, "layer", "", "`NAME` of the layer")
	flags.StringVar(&o.Category, "category", "", "color or segmentation (default by the type)")
	flags.Var(voxelsFlag{&s.shape}, "shape", "voxels on each axis, of a file without a header")
	flags.StringVar(&s.dtype, "dtype", "", "`TYPE` of its values: uint8, int8, … uint64, int64, float32, float64")
	flags.IntVar(&s.raw.Channels, "channels", 1, "how many values its voxels have, next to each other")
	flags.BoolVar(&s.raw.BigEndian, "big-endian", false, "its values have the most significant byte first")
	flags.Var(voxelsFlag{&s.offset}, "offset", "where in the dataset the first voxel is (default by the header, or 0,0,0)")
	flags.Var(lengthsFlag{&o.Scale}, "voxel-size", "in nm (default that of the dataset, or by the header)")
	flags.IntVar(&o.Mags, "mags", 0, "write `N` coarser mags too")
	flags.IntVar(&o.Block, "block", o.Block, "voxels a side of a block")
	flags.IntVar(&o.Cube, "cube", o.Cube, "voxels a side of a cube file")
	flags.StringVar(&s.compression, "compression", "lz4", "of blocks: raw, lz4 or lz4hc")
	flags.IntVarP(&o.Jobs, "jobs", "j", processors, "write `N` cubes at once")
	flags.BoolVar(&o.Force, "force", false, "remove a layer of this name first")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "say nothing but errors")
	return cmd
}

// settle checks the flags that cannot be checked one by one.
func (s *importSettings) settle() (err error) {
	o := &s.options
	if o.Compression, err = wkw.ParseBlockType(s.compression); err != nil {
		return usageError("", "--compression: expected raw, lz4 or lz4hc, found %q", s.compression)
	}
	raw := s.shape != nil
	switch {
	case o.Layer == "":
		return usageError("name the layer that is to be written", "--layer is missing")
	case o.Category != "" && o.Category != importer.Color && o.Category != importer.Segmentation:
		return usageError("", "--category: expected %s or %s, found %q", importer.Color, importer.Segmentation, o.Category)
	case o.Jobs < 1:
		return usageError("", "--jobs: expected at least 1, found %d", o.Jobs)
	case o.Mags < 0 || o.Mags > maxMags:
		return usageError("", "--mags: expected 0 to %d, found %d", maxMags, o.Mags)
	case raw != (s.dtype != ""):
		return usageError("", "--shape and --dtype: a file without a header needs both, others neither")
	case !raw && (s.raw.Channels != 1 || s.raw.BigEndian):
		return usageError("", "--channels and --big-endian are for a file without a header, with --shape and --dtype")
	}
	o.Offset = s.offset
	if !raw {
		return nil
	}
	s.raw.Size = *s.shape
	if s.raw.Type, err = volume.ParseType(s.dtype); err != nil {
		return usageError("", "--dtype: %w", err)
	}
	return nil
}

// maxMags keeps factors far below what a number can hold.
const maxMags = 20

func (s *importSettings) run(ctx context.Context, stderr io.Writer) error {
	in, err := s.open()
	if err != nil {
		return err
	}
	defer in.Close()
	screen := newScreen(stderr, s.quiet)
	var stats importer.Stats
	s.options.Stats = &stats
	finish := screen.followWith(
		func() { screen.showImport(&stats) },
		func(took time.Duration) string { return importSummary(&stats, took) })
	err = importer.Import(ctx, in, s.dataset, s.options)
	finish()
	return explainImport(ctx, err)
}

// open opens the input, as raw voxels if the user says what they are.
func (s *importSettings) open() (*importer.Input, error) {
	if s.shape != nil {
		return importer.OpenRaw(s.input, s.raw)
	}
	in, err := importer.Open(s.input)
	if errors.Is(err, importer.ErrNotRecognised) {
		return nil, hinted("--shape X,Y,Z and --dtype TYPE say what a file without a header holds", "%w", err)
	}
	return in, err
}

// explainImport adds what can be done about an error.
func explainImport(ctx context.Context, err error) error {
	const again = "the same command goes on where it stopped"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return hinted("make room; "+again, "%w", err)
	case ctx.Err() != nil:
		return hinted(again, "interrupted")
	case errors.Is(err, importer.ErrExists), errors.Is(err, importer.ErrOther):
		return hinted("--force removes what is there", "%w", err)
	case errors.Is(err, importer.ErrNoScale):
		return hinted("--voxel-size X,Y,Z gives it, in nm", "%w", err)
	case errors.Is(err, importer.ErrPlace):
		return hinted("--offset X,Y,Z says where the first voxel is", "%w", err)
	}
	return err
}

// showImport draws the bar, or writes a line.
func (s *screen) showImport(stats *importer.Stats) {
	done, all := stats.DoneBytes.Load(), stats.AllBytes.Load()
	if s.bar == nil {
		s.print(bytesText(done) + " of " + bytesText(all) + " imported")
		return
	}
	s.draw(done, all)
}

// importSummary says what was done; nothing where it has not begun.
func importSummary(stats *importer.Stats, took time.Duration) string {
	var b strings.Builder
	if stats.AllBytes.Load() == 0 {
		return ""
	}
	bytes := stats.DoneBytes.Load()
	fmt.Fprintf(&b, "imported %s in %s", bytesText(bytes), took.Round(time.Millisecond))
	if seconds := took.Seconds(); seconds >= 1 {
		fmt.Fprintf(&b, " (%s/s)", bytesText(int64(float64(bytes)/seconds)))
	}
	fmt.Fprintf(&b, ": wrote %s", filesText(stats.Written.Load()))
	if kept := stats.Kept.Load(); kept > 0 {
		fmt.Fprintf(&b, "; kept %s", filesText(kept))
	}
	if empty := stats.Empty.Load(); empty > 0 {
		fmt.Fprintf(&b, "; left out %d of zeros", empty)
	}
	return b.String()
}
