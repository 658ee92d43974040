package webknossos

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/ttl"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

const headerFile = "header.wkw"

// Location says where the mags of this package are in their source. A volume.Mag of this package implements it.
type Location interface {
	Dir() string                 // of the cube files, in the fs.FS that was recognised
	Header() (wkw.Header, error) // that all cubes fit
}

// mag is a directory of cube files. It implements volume.Mag.
type mag struct {
	fsys   fs.FS
	dir    string
	factor volume.Factor
	props  *LayerProperties
	scale  Scale // of mag 1
	log    *slog.Logger

	properties func() (fs.FileInfo, error) // describes the metadata of the dataset; nil if the source has none

	mu      sync.Mutex
	header  wkw.Header
	err     error       // why header is not known
	version vfs.Version // of header.wkw; zero if it does not exist
	checked time.Time   // when header was last compared with the source
}

func newMag(fsys fs.FS, dir string, f volume.Factor, props *LayerProperties, scale Scale, log *slog.Logger) *mag {
	return &mag{fsys: fsys, dir: dir, factor: f, props: props, scale: scale, log: log}
}

func (m *mag) Stat() (fs.FileInfo, error) { return fs.Stat(m.fsys, m.dir) }

// statMetadata describes header.wkw and the metadata of the dataset.
func (m *mag) statMetadata() (found []fs.FileInfo) {
	if info, err := fs.Stat(m.fsys, path.Join(m.dir, headerFile)); err == nil {
		found = append(found, info)
	}
	if m.properties != nil {
		if info, err := m.properties(); err == nil {
			found = append(found, info)
		}
	}
	return found
}

// About returns the factor, the category and the window in the metadata, and what the header says about blocks.
func (m *mag) About() volume.About {
	about := volume.About{Factor: m.factor}
	if m.props != nil {
		about.Category, about.Window = m.props.Category, m.props.Window()
	}
	if h, err := m.geometry(); err == nil {
		about.Compression, about.LZ4 = h.BlockType.String(), h.BlockType != wkw.Raw
	}
	return about
}

// CubeGrid returns the geometry in header.wkw, else that of the first cube that can be read.
func (m *mag) CubeGrid() (volume.Grid, error) {
	h, err := m.geometry()
	if err != nil {
		return volume.Grid{}, err
	}
	return m.gridOf(h.Grid(), volume.Vec{}), nil
}

// WorkMemory implements [volume.MemoryReporter].
func (m *mag) WorkMemory(g volume.Grid) int { return wkw.WorkMemory(g) }

// gridOf returns the grid of cube c with its origin and spacing.
func (m *mag) gridOf(g volume.Grid, c volume.Vec) volume.Grid {
	g.Origin = c.Mul(g.Size)
	for axis := range 3 {
		g.Spacing[axis] = m.scale[axis] * float64(m.factor[axis])
	}
	return g
}

// geometry returns the header that all cubes of the mag fit. Opening 100,000 cubes does not stat it 100,000 times.
func (m *mag) geometry() (wkw.Header, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ttl.IsRecent(m.checked) {
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
	if m.err != nil && !isFormatError(m.err) {
		m.checked = time.Time{} // an I/O error may be temporary
	}
	return m.header, m.err
}

// isFormatError reports whether an error is about the content of a file, and not about reading it.
func isFormatError(err error) bool {
	_, isFormat := errors.AsType[*volume.FormatError](err)
	_, isUnsupported := errors.AsType[*volume.UnsupportedError](err)
	return isFormat || isUnsupported
}

// readGeometry reads header.wkw. If that is damaged or missing, as it often is, it reads the header of the first cube
// that can be read.
func (m *mag) readGeometry(name string, warn bool) (wkw.Header, error) {
	h, err := readHeader(m.fsys, name)
	if err == nil {
		return h, nil
	}
	noCube, tried := errors.New("there are no cube files"), 0
	for cube, cubeErr := range cubeFiles(m.fsys, m.dir) {
		var f *wkw.File
		if cubeErr == nil {
			f, cubeErr = wkw.OpenFile(m.fsys, cube)
		}
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
	return wkw.Header{}, notAbsence(fmt.Errorf("%w; no cube has the geometry: %w", err, noCube))
}

// triedCubes is the number of damaged cubes after which readGeometry fails.
const triedCubes = 64

// readHeader reads the header at the start of a file.
func readHeader(fsys fs.FS, name string) (wkw.Header, error) {
	f, _, err := vfs.OpenRegular(fsys, name)
	if err != nil {
		return wkw.Header{}, vfs.CheckAbsent(fsys, path.Dir(name), name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, wkw.HeaderSize))
	if err != nil {
		return wkw.Header{}, fmt.Errorf("%s: %w", name, err)
	}
	return wkw.ParseHeader(b, name)
}

// Bounds returns the bounding box in the metadata, else the box of all cubes.
func (m *mag) Bounds() (volume.Box, error) {
	if box, ok := m.props.box(m.factor); ok {
		return box, nil
	}
	var cubes volume.Box
	for c, err := range volume.AllCubes(m) {
		if err != nil {
			return volume.Box{}, err
		}
		cubes = cubes.Union(c.BoxOfOne())
	}
	return m.boundsOfCubes(cubes)
}

// boundsOfCubes is Bounds for the box of all cubes.
func (m *mag) boundsOfCubes(cubes volume.Box) (volume.Box, error) {
	if box, ok := m.props.box(m.factor); ok {
		return box, nil
	}
	g, err := m.CubeGrid()
	if err != nil {
		return volume.Box{}, err
	}
	return cubes.Mul(g.Size), nil
}

// OpenCube opens a cube file. It fails if the header of the file does not fit the mag.
func (m *mag) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	name := m.path(c[2], c[1], c[0])
	if min(c[0], c[1], c[2]) < 0 { // not in the index, even if a file has this name
		return nil, notExist("open", name)
	}
	want, err := m.geometry()
	if err != nil {
		return nil, err
	}
	f, err := wkw.OpenFile(m.fsys, name)
	if err != nil {
		return nil, vfs.CheckAbsent(m.fsys, m.dir, name, err)
	}
	if err := f.CheckFits(want, m.dir); err != nil {
		f.Close()
		return nil, err
	}
	return &cube{f, m.gridOf(f.Grid(), c)}, nil
}

// cube is a cube file with its position in the dataset.
type cube struct {
	*wkw.File
	grid volume.Grid
}

// Grid returns the geometry of the file with its origin and spacing.
func (c *cube) Grid() volume.Grid { return c.grid }

// notAbsence returns an error with the text of err that is not fs.ErrNotExist. Otherwise the caller would treat the
// cube as one that was never written.
func notAbsence(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New(err.Error())
	}
	return err
}

// Dir implements Location.
func (m *mag) Dir() string { return m.dir }

// Header implements Location.
func (m *mag) Header() (wkw.Header, error) { return m.geometry() }
