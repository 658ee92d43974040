package importer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// Options says what layer to make of an input.
type Options struct {
	Layer       string        // its name, which is that of its directory
	Category    string        // color or segmentation; empty: by the type
	Offset      *volume.Vec   // of voxel 0,0,0 in the dataset; nil: that of the input's header, else 0,0,0
	Scale       [3]float64    // nm per voxel; 0: that of the dataset, else of the input's header
	Block, Cube int           // voxels per side, powers of two
	Compression wkw.BlockType //
	Mags        int           // how many coarser mags
	Force       bool          // replace a layer of this name
	Jobs        int           // cubes that are written at once; 0: one a processor
	Stats       *Stats        // may be nil
}

// Stats is how far an import is. Bytes are those of voxels, before compression.
type Stats struct {
	AllBytes  atomic.Int64 // to be read, of all mags; final before the first is
	DoneBytes atomic.Int64
	Written   atomic.Int64 // cubes
	Kept      atomic.Int64 // cubes that an earlier import has written
	Empty     atomic.Int64 // cubes that are zeros throughout, and not written
}

// The categories of layers.
const (
	Color        = "color"
	Segmentation = "segmentation"
)

// Import writes the input as a layer of the dataset in dir, which is made where there is
// none. Cubes and metadata appear complete or not at all. What was written before an error
// stays, and is gone on with by the same call. A layer that exists is ErrExists, one
// that another import left unfinished ErrOther, unless Force is set: then it is
// removed first.
func Import(ctx context.Context, in *Input, dir string, o Options) error {
	if o.Stats == nil {
		o.Stats = &Stats{}
	}
	if o.Jobs == 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	dir, err := filepath.Abs(dir) // its last part is the name of the dataset
	if err != nil {
		return err
	}
	meta, err := readMetadata(dir)
	if err != nil {
		return err
	}
	l, err := plan(in, dir, meta, o)
	if err != nil {
		return err
	}
	if err := l.begin(meta); err != nil {
		return err
	}
	if err := l.write(ctx); err != nil {
		return err
	}
	if err := in.unchanged(); err != nil {
		return err
	}
	if err := meta.write(l); err != nil {
		return err
	}
	return os.Remove(l.journal())
}

// layer is a layer that is being written.
type layer struct {
	Options
	in      *Input
	dir     string     // of the layer
	box     volume.Box // of the input, in voxels of mag 1
	factors []volume.Factor
	largest atomic.Uint64 // value, of a segmentation
}

// plan decides what is left open by the options, and refuses what cannot be.
func plan(in *Input, dir string, meta *metadata, o Options) (*layer, error) {
	if o.Layer == "" || !fs.ValidPath(o.Layer) || strings.HasPrefix(o.Layer, ".") || strings.ContainsAny(o.Layer, "/\x00") {
		return nil, fmt.Errorf("layer %q: expected the name of a directory", o.Layer)
	}
	l := &layer{Options: o, in: in, dir: filepath.Join(dir, o.Layer)}
	for _, decide := range []func() error{
		l.checkSides,
		l.decideCategory,
		l.decideBox,
		func() error { return l.decideScale(meta) },
	} {
		if err := decide(); err != nil {
			return nil, err
		}
	}
	l.factors = factors(l.Scale, o.Mags)
	return l, nil
}

// checkSides asks the format whether it can have such cubes.
func (l *layer) checkSides() error {
	if l.Block < 1 || l.Cube < l.Block || l.Cube%l.Block != 0 {
		return fmt.Errorf("cubes of %d voxels a side: expected a power of two times the %d of a block", l.Cube, l.Block)
	}
	if _, err := l.header().MarshalBinary(); err != nil {
		return err
	}
	if n := l.header().Grid().BlockBytes(); n > wkw.MaxBlockBytes {
		return fmt.Errorf("blocks of %d bytes: expected at most %d", n, wkw.MaxBlockBytes)
	}
	return nil
}

func (l *layer) decideCategory() error {
	t := l.in.Grid.Type
	whole := t != volume.Float32 && t != volume.Float64
	switch {
	case l.Category == "" && l.in.Grid.Channels == 1 && whole && t.Size() >= 4:
		l.Category = Segmentation
	case l.Category == "":
		l.Category = Color
	case l.Category == Segmentation && (!whole || l.in.Grid.Channels > 1):
		return fmt.Errorf("a segmentation of %d × %v: expected one whole number a voxel", l.in.Grid.Channels, t)
	case l.Category != Segmentation && l.Category != Color:
		return fmt.Errorf("category %q: expected %s or %s", l.Category, Color, Segmentation)
	}
	return nil
}

func (l *layer) decideBox() error {
	at := l.in.Grid.Origin
	switch {
	case l.Offset != nil:
		at = *l.Offset
	case l.in.Misplaced != nil:
		return l.in.Misplaced
	case !l.in.Placed:
		at = volume.Vec{}
	}
	for axis := range 3 {
		if at[axis] < 0 || at[axis] > maxCoordinate || l.in.Grid.Size[axis] > maxCoordinate {
			return fmt.Errorf("%v voxels at %v: WKW has voxels from 0 to 2^40 alone: %w", l.in.Grid.Size, at, ErrPlace)
		}
	}
	l.box = volume.Box{Min: at, Max: at.Add(l.in.Grid.Size)}
	return nil
}

// decideScale makes sure that the voxels have the size of those of the dataset.
func (l *layer) decideScale(meta *metadata) error {
	scale := l.Scale
	if scale == ([3]float64{}) {
		scale = l.in.Grid.Spacing
	}
	have := meta.scale()
	for axis := range 3 {
		switch {
		case have[axis] == 0 && usable(scale[axis]) == 0:
			return fmt.Errorf("%w on axis %c", ErrNoScale, "xyz"[axis])
		case have[axis] == 0:
			l.Scale[axis] = scale[axis]
		case scale[axis] != 0 && !near(scale[axis], have[axis]):
			return fmt.Errorf("voxels of %v nm: the dataset has voxels of %v nm", scale, have)
		default:
			l.Scale[axis] = have[axis]
		}
	}
	return nil
}

// near reports whether two lengths are the same, but for the 32 bits of a header.
func near(a, b float64) bool { return a > b*(1-1e-4) && a < b*(1+1e-4) }

// header returns the header that all cubes of the layer have.
func (l *layer) header() wkw.Header {
	return wkw.Header{
		BlockSide:  l.Block,
		CubeBlocks: l.Cube / l.Block,
		BlockType:  l.Compression,
		Type:       l.in.Grid.Type,
		Channels:   l.in.Grid.Channels,
	}
}

// begin makes the directory of the layer, or finds the one of an import to go on with.
func (l *layer) begin(meta *metadata) error {
	journal := l.describe()
	found, err := os.ReadFile(l.journal())
	switch {
	case err == nil && string(found) == string(journal):
		return l.removeLeftovers()
	case err == nil && !l.Force:
		return fmt.Errorf("%s: %w", l.dir, ErrOther)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if _, err := os.Lstat(l.dir); err == nil || meta.has(l.Layer) {
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
	return replaceFile(l.journal(), journal)
}
