package chunked

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Options say how an array is shown. All fields are optional.
type Options struct {
	Axes     []string // names of the axes, in the order of the array's Shape; they win over those of the array
	UsualXYZ bool     // unnamed axes are c, x, y, z in the order of Shape, as WEBKNOSSOS has them
	// what is shown of axes besides x, y, z and channels, by the order of Shape; nil: these must have length 1
	Index        []int
	Point        string        // name of what is shown of these axes, as in [Array.Series]; "": Index says it
	Channel      int           // the first channel that is shown
	Channels     int           // how many are shown; 0 means all
	Origin       volume.Vec    // position of the first voxel of the array
	Bounds       *volume.Box   // bounding box in voxels of the mag; nil means that of the array
	Factor       volume.Factor // zero if unknown
	Spacing      [3]float64    // of voxels, in nm; 0 if unknown
	Category     string        // color or segmentation
	Window       volume.Window // of an image; zero if unknown
	StatMetadata func() []fs.FileInfo
	maxPositions int  // kept in a list; 0 means lattice.MaxPositions
	whole        bool // a chunk is one block
	minPart      int  // of a chunk, in bytes; 0 means the constant, as below
	maxBatch     int  // in bytes
	piece        int  // of a stream, in bytes
}

// Mag is an array as a [volume.Mag].
type Mag struct {
	*geometry
	lattice.Catalogue
	array   *Array
	fsys    fs.FS
	dir     string
	options Options
	lattice lattice.Lattice
	list    listing
	indexes *indexes
	meaning string // of the stored bytes; part of versions
}

var (
	_ volume.Mag        = (*Mag)(nil)
	_ volume.Indexed    = (*Mag)(nil)
	_ vfs.SpeedReporter = (*Mag)(nil)
)

// New returns the array in directory dir of fsys as a mag. It reads no file. It fails if the array is not valid, or if
// it is not a volume: the error names the field of the metadata.
func New(fsys fs.FS, dir string, a *Array, o Options) (*Mag, error) {
	if err := a.validate(); err != nil {
		return nil, err
	}
	if o.Point != "" {
		index, err := a.indexOfPoint(o)
		if err != nil {
			return nil, err
		}
		o.Index = index
	}
	// another request for each part of a chunk would take as long as one for the chunk
	o.whole = vfs.SpeedOf(fsys).Remote
	g, err := newGeometry(a, o)
	if err != nil {
		return nil, err
	}
	for axis := range 3 {
		if at := o.Origin[axis]; at < -MaxExtent || at > MaxExtent {
			return nil, fmt.Errorf("origin: expected numbers up to 2^40, found %v", o.Origin)
		}
	}
	l, err := lattice.New(g.size.CeilDiv(g.grid.Size))
	if err != nil {
		return nil, err
	}
	g.grid.Origin, g.grid.Spacing = o.Origin, o.Spacing
	m := &Mag{geometry: g, array: a, fsys: fsys, dir: dir, options: o, lattice: l, indexes: allIndexes,
		meaning: meaningOf(g, a)}
	m.list = listing{mag: m, limit: lattice.MaxPositions, all: lattice.All}
	if o.maxPositions > 0 {
		m.list.limit = o.maxPositions
	}
	m.Catalogue = lattice.NewCatalogue(&m.list, l, dir, m.Stat)
	if !a.fillsZero() {
		m.ShowAll(m.list.limit)
	}
	return m, nil
}

// Stat describes the directory of the array.
func (m *Mag) Stat() (fs.FileInfo, error) { return fs.Stat(m.fsys, m.dir) }

// Index implements [volume.Indexed].
func (m *Mag) Index() volume.Index {
	return volume.Index{Walk: m.WalkCubes, Describe: m.DescribeCubes, Metadata: m.options.StatMetadata,
		Files: m.cubeFiles}
}

// Speed implements [vfs.SpeedReporter].
func (m *Mag) Speed() vfs.Speed { return vfs.SpeedOf(m.fsys).OfChunks() }

// About describes the mag. Files of chunks are named by their boxes.
func (m *Mag) About() volume.About {
	return volume.About{Factor: m.options.Factor, Category: m.options.Category, Window: m.options.Window,
		Compression: m.array.Compression, NamedByBox: true}
}

// CubeGrid returns the geometry of a chunk: a whole one, even if those at the end of the array are cut.
func (m *Mag) CubeGrid() (volume.Grid, error) { return m.grid, nil }

// Bounds returns the bounding box of the options, or else that of the array.
func (m *Mag) Bounds() (volume.Box, error) {
	if m.options.Bounds != nil {
		return *m.options.Bounds, nil
	}
	return volume.Box{Min: m.grid.Origin, Max: m.grid.Origin.Add(m.size)}, nil
}

// statCube describes the files of a cube.
func (m *Mag) statCube(c volume.Vec) (fs.FileInfo, error) {
	var parts []fs.FileInfo
	if m.list.lacks(c) {
		return m.cubeInfo(c, nil)
	}
	for k := range m.eachPart {
		name := m.path(c, k)
		info, err := fs.Stat(m.fsys, name)
		if err == nil {
			err = vfs.CheckKind(name, info, 0)
		}
		if err = vfs.CheckAbsent(m.fsys, ".", name, err); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		parts = append(parts, info)
		if err != nil {
			parts[len(parts)-1] = nil
		}
	}
	return m.cubeInfo(c, parts)
}

// eachPart yields the chunks of a cube on the channel axis.
func (m *Mag) eachPart(yield func(k int) bool) {
	parts := m.parts(m.array)
	for k := parts[0]; k < parts[1]; k++ {
		if !yield(k) {
			return
		}
	}
}
