package wkw

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

const headerFile = "header.wkw"

// mag is a directory of cube files. It implements volume.Mag.
type mag struct {
	fsys   fs.FS
	dir    string
	factor volume.Factor
	props  *LayerProperties
	scale  Scale // of mag 1
	log    *slog.Logger

	mu      sync.Mutex
	header  Header
	err     error       // why there is no header
	version vfs.Version // of header.wkw; zero where it is missing
	checked time.Time   // when header was last compared with the source
}

func newMag(fsys fs.FS, dir string, f volume.Factor, props *LayerProperties, scale Scale, log *slog.Logger) *mag {
	return &mag{fsys: fsys, dir: dir, factor: f, props: props, scale: scale, log: log}
}

func (m *mag) Stat() (fs.FileInfo, error) { return fs.Stat(m.fsys, m.dir) }

// About says what the metadata, and header.wkw, say beyond the geometry.
func (m *mag) About() volume.About {
	about := volume.About{Factor: m.factor}
	if m.props != nil {
		about.Category = m.props.Category
	}
	if h, err := m.geometry(); err == nil {
		about.Compression = h.BlockType.String()
	}
	return about
}

// CubeGrid is the geometry that header.wkw gives, else the first cube that can be read.
func (m *mag) CubeGrid() (volume.Grid, error) {
	h, err := m.geometry()
	if err != nil {
		return volume.Grid{}, err
	}
	return m.place(h.Grid(), volume.Vec{}), nil
}

// place puts the grid of cube c at its position in the dataset.
func (m *mag) place(g volume.Grid, c volume.Vec) volume.Grid {
	g.Origin = c.Mul(g.Size)
	for axis := range 3 {
		g.Spacing[axis] = m.scale[axis] * float64(m.factor[axis])
	}
	return g
}

// recheck is for how long the geometry of a mag is believed without a look at its
// header.wkw: listing 100,000 cubes should not stat it 100,000 times.
const recheck = time.Second

// geometry returns what all cubes of the mag have in common.
func (m *mag) geometry() (Header, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.checked.IsZero() && time.Since(m.checked) < recheck {
		return m.header, m.err
	}
	name := path.Join(m.dir, headerFile)
	var version vfs.Version
	info, err := fs.Stat(m.fsys, name)
	if err == nil {
		version = vfs.VersionOf(info)
	}
	if m.checked.IsZero() || version != m.version || m.err != nil {
		first := m.checked.IsZero() || version != m.version
		m.header, m.err = m.readGeometry(name, first)
	}
	m.version, m.checked = version, time.Now()
	if m.err != nil && !damage(m.err) {
		m.checked = time.Time{} // a disk may fail now and not in a moment
	}
	return m.header, m.err
}

// damage reports whether an error is about what a file says, not about reading it.
func damage(err error) bool {
	var format *FormatError
	var unsupported *UnsupportedError
	return errors.As(err, &format) || errors.As(err, &unsupported)
}

// readGeometry reads header.wkw or, where it is missing (users lose it often) or
// damaged, the header of the first cube that can be read: cubes describe themselves.
func (m *mag) readGeometry(name string, warn bool) (Header, error) {
	h, err := readHeader(m.fsys, name)
	if err == nil {
		return h, nil
	}
	noCube, tried := errors.New("there is none"), 0
	for cube := range cubeFiles(m.fsys, m.dir) {
		f, cubeErr := OpenFile(m.fsys, cube)
		if cubeErr == nil {
			defer f.Close()
			if warn {
				m.log.Warn("geometry taken from a cube", "because", err, "cube", cube)
			}
			return f.Header(), nil
		}
		if tried == 0 {
			noCube = cubeErr
		}
		if tried++; tried == triedCubes {
			break
		}
	}
	return Header{}, present(fmt.Errorf("%w; nor does a cube tell the geometry: %w", err, noCube))
}

// triedCubes is how many damaged cubes in a row it takes to give up a mag.
const triedCubes = 64

// readHeader reads the header at the start of a file.
func readHeader(fsys fs.FS, name string) (Header, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return Header{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, HeaderSize))
	if err != nil {
		return Header{}, fmt.Errorf("%s: %w", name, err)
	}
	return ParseHeader(b, name)
}

// Bounds is the bounding box in the metadata, else the extent of the cubes found.
func (m *mag) Bounds() (volume.Box, error) {
	if box, ok := m.props.box(m.factor); ok {
		return box, nil
	}
	var cubes volume.Box
	for c, err := range volume.AllCubes(m) {
		if err != nil {
			return volume.Box{}, err
		}
		cubes = cubes.Union(volume.Box{Min: c, Max: c.Add(volume.Cube(1))})
	}
	return m.BoundsOfCubes(cubes)
}

// BoundsOfCubes implements volume.CubeBounder.
func (m *mag) BoundsOfCubes(cubes volume.Box) (volume.Box, error) {
	if box, ok := m.props.box(m.factor); ok {
		return box, nil
	}
	g, err := m.CubeGrid()
	if err != nil {
		return volume.Box{}, err
	}
	return volume.Box{Min: cubes.Min.Mul(g.Size), Max: cubes.Max.Mul(g.Size)}, nil
}

// OpenCube opens a cube file, which must fit its mag.
func (m *mag) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	name := m.path(c[2], c[1], c[0])
	if min(c[0], c[1], c[2]) < 0 { // not in the index, even if there is such a name
		return nil, notExist("open", name)
	}
	want, err := m.geometry()
	if err != nil {
		return nil, err
	}
	f, err := OpenFile(m.fsys, name)
	if err != nil {
		return nil, m.reached(err, c[2], c[1], c[0])
	}
	if !f.Header().Fits(want) {
		f.Close()
		return nil, &FormatError{
			File: name, What: "geometry", Offset: 4,
			Expected: want.geometry() + " as the mag " + m.dir, Found: f.Header().geometry(),
		}
	}
	return &cube{f, m.place(f.Grid(), c)}, nil
}

// cube is a cube file at its place in the dataset.
type cube struct {
	*File
	grid volume.Grid
}

// Grid is the file's geometry with its position and the size of its voxels.
func (c *cube) Grid() volume.Grid { return c.grid }

// present makes an error out of one about something missing that does not pass for
// the absence of a cube.
func present(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New(err.Error())
	}
	return err
}

// geometry is what Header.Fits compares, in words.
func (h Header) geometry() string {
	return fmt.Sprintf("%d³ blocks of %d³ voxels of %d × %v", h.CubeBlocks, h.BlockSide, h.Channels, h.Type)
}
