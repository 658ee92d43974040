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

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/internal/small/atomicfile"
	"github.com/wkwfs/wkwfs/internal/small/lockfile"
	"github.com/wkwfs/wkwfs/internal/write/downsample"
	"github.com/wkwfs/wkwfs/internal/write/pyramid"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// Options describes the layer to write.
type Options struct {
	Layer    string // name of the layer and of its directory
	Category string // Color or Segmentation; empty: as names, header and values of the input show
	// of the shape of the input, as arrayfile.Layout has them; empty: as its format and its size show
	Axes  string
	Named volume.Box // of which the input has the name; empty: of none
	// of voxel 0,0,0 of the input in the dataset; nil: as in the header of the input, else 0,0,0
	Offset      *volume.Vec
	VoxelSize   [3]float64     // in nm; 0: as in the dataset, else as in the header of the input
	Block, Cube int            // voxels per side, powers of two
	Format      pyramid.Format // of the cube files
	Compression wkw.BlockType  // of the blocks of WKW
	Mags        int            // number of coarser mags
	// how coarser mags are computed: a name of downsample.ParseMethod; empty: by the category
	Downsample string
	Force      bool         // replace an existing layer
	Memory     int64        // bytes that the import may use, approximately; 0: DefaultMemory
	Jobs       int          // number of goroutines that compress blocks; 0: GOMAXPROCS
	Part       batch.Part   // Import writes the cubes of this part only, and no metadata of the dataset; see Finish
	Backup     string       // directory in which Update keeps what it replaces; empty: nothing is kept
	Stats      *Stats       // may be nil
	Planned    func(Plan)   // called once, before anything is written; may be nil
	DryRun     func(DryRun) // if not nil, Import and Update write nothing. They call DryRun if they would go on
	// called when another process writes the layer or the metadata, and has to end first; may be nil
	Waits func()

	planned bool // Update has called Planned

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
	Input     volume.Grid
	Layout    arrayfile.Layout // of the input, with the axes that were chosen
	WhyAxes   string           // the axes were chosen; empty if they are those of the options or of the format
	Doubt     string           // about the axes or the position of the input; empty if there is none
}

// Import writes the input as a layer of the dataset in dir. It creates the dataset if necessary. Cubes and metadata
// appear complete or not at all. After an error, the same call resumes the import. Import fails with a *MissingError if
// the options lack something, with ErrExists if the layer exists, and with ErrUnfinished if the layer has an
// interrupted import that differs. With Force, it removes such a layer first. With Part, which excludes Force, the
// layer is not in the metadata until Finish.
//
// One process at a time writes a layer, except for parts of the same import. Otherwise Import and Finish fail with
// lockfile.ErrBusy, and Update waits.
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
	if o.DryRun != nil {
		return l.dryRun(ctx, meta)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	lock, err := l.lock(ctx, lockfile.Options{Shared: !o.Part.Whole()}, l.dir)
	if err != nil {
		return err
	}
	defer lock.Release()
	if err := l.prepare(); err != nil {
		return err
	}
	if !o.Part.Whole() {
		return l.importPart(ctx)
	}
	if err := l.write(ctx); err != nil {
		return fmt.Errorf("layer %s is not complete: %w", l.Layer, err)
	}
	if err := in.Unchanged(); err != nil {
		return err
	}
	if err := l.publish(ctx); err != nil {
		return err
	}
	return os.Remove(l.journalPath())
}

func (l *layer) plan() Plan {
	return Plan{Choice{l.Category, l.why}, l.box, l.VoxelSize, l.factors, l.part, l.Cube, l.in.Grid, l.in.Layout,
		l.whyAxes, l.doubt}
}

// layer is a layer that is being written.
type layer struct {
	Options
	in      *arrayfile.Array
	dir     string       // of the layer
	why     string       // the category was chosen; empty if it was given
	whyAxes string       // the axes of the input were chosen; empty if they were given
	doubt   string       // about the axes or the position of the input; empty if there is none
	box     volume.Box   // of the input, in voxels of mag 1
	part    volume.Box   // of box: what is written
	parts   []volume.Box // all of box, if it is written in parts
	cut     string       // fingerprint of parts
	factors []volume.Factor
	method  downsample.Method
	from    int           // plane of mag 1: an interrupted import has written all below it
	listed  bool          // the metadata had the layer before
	locked  string        // the layer whose lock is taken; empty: Layer
	largest atomic.Uint64 // id, of a segmentation
}

// prepare creates the directory of the layer and the journal, or finds those of an interrupted import, or of other
// parts.
func (l *layer) prepare() error {
	meta, err := readMetadata(l.dataset()) // another process may have changed it before l had its lock
	if err != nil {
		return err
	}
	l.listed = meta.has(l.Layer)
	lines, found, err := l.find()
	switch {
	case err != nil:
		return err
	case found && !l.Part.Whole():
		return nil
	case found:
		return errors.Join(l.resume(lines), removeLeftovers(l.dir))
	}
	if l.Force {
		err = os.RemoveAll(l.dir)
	} else if l.Part.Whole() {
		err = removeLeftovers(l.dir)
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(l.dir, 0o777); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(l.dataset()); err != nil {
		return err
	}
	return l.createJournal()
}

// find looks for the journal of an interrupted import, or of other parts, and returns its lines after the first. If the
// layer exists, or the import differs, it fails, or with Force it finds nothing.
func (l *layer) find() (lines []byte, found bool, err error) {
	// The directory is looked at before the journal is: another part may write both at this moment.
	empty := isEmpty(l.dir)
	journal, err := os.ReadFile(l.journalPath())
	lines, same := bytes.CutPrefix(journal, l.journal())
	switch {
	case err == nil && same:
		return lines, true, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, false, err
	case l.Force:
		return nil, false, nil
	case err == nil:
		return nil, false, fmt.Errorf("%s: %w", l.dir, ErrUnfinished)
	case l.listed || !empty:
		return nil, false, fmt.Errorf("%s: %w", l.dir, ErrExists)
	}
	return nil, false, nil
}

// createJournal creates the journal. It fails if another import has done so: on a file system without locks, or another
// part.
func (l *layer) createJournal() error {
	err := newFile(l.journalPath(), l.journal())
	if errors.Is(err, fs.ErrExist) {
		return l.checkJournal()
	}
	if err != nil || l.listed {
		return err
	}
	// The import of another process without locks may have ended since find.
	meta, err := readMetadata(l.dataset())
	if err == nil && meta.has(l.Layer) {
		err = errors.Join(fmt.Errorf("%s: %w", l.dir, ErrExists), os.Remove(l.journalPath()))
	}
	return err
}

// checkJournal fails if the journal is no longer that of this import. That happens on file systems without locks only.
func (l *layer) checkJournal() error {
	journal, err := os.ReadFile(l.journalPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.HasPrefix(journal, l.journal()) {
		return fmt.Errorf("%s: %w", l.dir, ErrReplaced)
	}
	return nil
}

// publish adds the layer to the metadata of the dataset, if it is still the layer of this import.
func (l *layer) publish(ctx context.Context) error {
	if err := l.checkJournal(); err != nil {
		return err
	}
	return changeMetadata(ctx, l.dataset(), l.Waits, func(m *metadata) (bool, error) { return m.setLayer(l) })
}

// isEmpty reports whether nothing has the name of the directory yet, or an import was killed before it had written its
// journal.
func isEmpty(dir string) bool {
	if _, err := os.Lstat(dir); err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	entries, err := os.ReadDir(dir)
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !atomicfile.IsTemp(e.Name()) })
}
