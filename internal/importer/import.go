package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/arrayfile"
	"github.com/wkwfs/wkwfs/internal/atomicfile"
	"github.com/wkwfs/wkwfs/internal/batch"
	"github.com/wkwfs/wkwfs/internal/downsample"
	"github.com/wkwfs/wkwfs/internal/pyramid"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// Options describes the layer to write.
type Options struct {
	Layer       string         // name of the layer and of its directory
	Category    string         // Color or Segmentation; empty: as names, header and values of the input show
	Offset      *volume.Vec    // of voxel 0,0,0 of the input in the dataset; nil: as in the header of the input, else 0,0,0
	VoxelSize   [3]float64     // in nm; 0: as in the dataset, else as in the header of the input
	Block, Cube int            // voxels per side, powers of two
	Format      pyramid.Format // of the cube files
	Compression wkw.BlockType  // of the blocks of WKW
	Mags        int            // number of coarser mags
	Downsample  string         // how coarser mags are computed: a name of downsample.ParseMethod; empty: by the category
	Force       bool           // replace an existing layer
	Memory      int64          // bytes that the import may use, approximately; 0: DefaultMemory
	Jobs        int            // number of goroutines that compress blocks; 0: GOMAXPROCS
	Part        batch.Part     // Import writes the cubes of this part only, and no metadata of the dataset; see Finish
	Stats       *Stats         // may be nil
	Planned     func(Plan)     // called once, before anything is written; may be nil

	onRead func() // for tests: called before each read of the input; may be nil
}

// DefaultMemory is the memory that an import uses if the options do not set it, in bytes.
const DefaultMemory = 1 << 30

// Stats counts the progress of an import. It may be read at any time.
type Stats = pyramid.Stats

// maxCube is the side of cubes that WEBKNOSSOS writes, in voxels.
const maxCube = 1024

// The categories of layers.
const (
	Color        = "color"
	Segmentation = "segmentation"
)

// Plan is what an import is about to write.
type Plan struct {
	Choice                    // of the category; Why is empty if the options have it
	Box       volume.Box      // in voxels of mag 1
	VoxelSize [3]float64      // in nm
	Factors   []volume.Factor // of all mags, finest first
	Part      volume.Box      // what this call writes: Box, or a part of it, which may be empty
	Cube      int             // voxels per side of the new cubes; 0 for an update
}

// Import writes the input as a layer of the dataset in dir. It creates the dataset if necessary. Cubes and metadata appear
// complete or not at all. After an error, the same call resumes the import. Import fails with a *MissingError if the options lack
// something, with ErrExists if the layer exists, and with ErrUnfinished if the layer has an interrupted import that differs. With
// Force, it removes such a layer first. With Part, which excludes Force, the layer is not in the metadata until Finish.
func Import(ctx context.Context, in *arrayfile.Array, dir string, o Options) error {
	if o.Stats == nil {
		o.Stats = &Stats{}
	}
	if o.Jobs == 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	dir, err := filepath.Abs(dir) // the last element is the name of the dataset
	if err != nil {
		return err
	}
	meta, err := readMetadata(dir)
	if err != nil {
		return err
	}
	l, err := plan(ctx, in, dir, meta, o)
	if err != nil {
		return err
	}
	if !o.Part.Whole() {
		if in.Sequential() {
			return fmt.Errorf("%s: %w", in.Name(), ErrSequential)
		}
		l.setParts(o.Part.N)
		l.part = l.parts[o.Part.I-1]
	}
	if o.Planned != nil {
		o.Planned(l.plan())
	}
	if !o.Part.Whole() {
		return l.importPart(ctx, meta)
	}
	if err := l.prepare(meta); err != nil {
		return err
	}
	if err := l.write(ctx); err != nil {
		return fmt.Errorf("layer %s is not complete: %w", l.Layer, err)
	}
	if err := in.Unchanged(); err != nil {
		return err
	}
	if err := meta.write(l); err != nil {
		return err
	}
	return os.Remove(l.journalPath())
}

func (l *layer) plan() Plan {
	return Plan{Choice{l.Category, l.why}, l.box, l.VoxelSize, l.factors, l.part, l.Cube}
}

// layer is a layer that is being written.
type layer struct {
	Options
	in      *arrayfile.Array
	dir     string       // of the layer
	why     string       // the category was chosen; empty if it was given
	box     volume.Box   // of the input, in voxels of mag 1
	part    volume.Box   // of box: what is written
	parts   []volume.Box // all of box, if it is written in parts
	cut     string       // fingerprint of parts
	factors []volume.Factor
	method  downsample.Method
	from    int           // plane of mag 1: an interrupted import has written all below it
	largest atomic.Uint64 // id, of a segmentation
}

// prepare creates the directory of the layer, or finds that of an interrupted import.
func (l *layer) prepare(meta *metadata) error {
	journal := l.journal()
	found, err := os.ReadFile(l.journalPath())
	switch {
	case err == nil && bytes.HasPrefix(found, journal):
		return errors.Join(l.resume(found[len(journal):]), l.removeLeftovers())
	case err == nil && !l.Force:
		return fmt.Errorf("%s: %w", l.dir, ErrUnfinished)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if meta.has(l.Layer) || !isEmpty(l.dir) {
		if !l.Force {
			return fmt.Errorf("%s: %w", l.dir, ErrExists)
		}
		if err := os.RemoveAll(l.dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(l.dir, 0o777); err != nil {
		return err
	}
	if err := errors.Join(l.removeLeftovers(), atomicfile.SyncDir(filepath.Dir(l.dir))); err != nil {
		return err
	}
	return replaceFile(l.journalPath(), journal)
}

// isEmpty reports whether nothing has the name of the directory yet, or an import was killed before it had written its journal.
func isEmpty(dir string) bool {
	if _, err := os.Lstat(dir); err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	entries, err := os.ReadDir(dir)
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !atomicfile.IsTemp(e.Name()) })
}
