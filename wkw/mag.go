package wkw

import (
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

const (
	headerFile = "header.wkw"
	cubeSuffix = ".wkw"
)

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

// Factor returns the side of the mag's voxels in voxels of mag 1.
func (m *mag) Factor() volume.Factor { return m.factor }

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
	return m.header, m.err
}

// readGeometry reads header.wkw or, where it is missing (users lose it often) or
// damaged, the header of the first cube that can be read: cubes describe themselves.
func (m *mag) readGeometry(name string, warn bool) (Header, error) {
	h, err := readHeader(m.fsys, name)
	if err == nil {
		return h, nil
	}
	tried := 0
	for cube := range cubeFiles(m.fsys, m.dir) {
		if f, cubeErr := OpenFile(m.fsys, cube); cubeErr == nil {
			defer f.Close()
			if warn {
				m.log.Warn("geometry taken from a cube", "because", err, "cube", cube)
			}
			return f.Header(), nil
		}
		if tried++; tried == 64 {
			break
		}
	}
	return Header{}, fmt.Errorf("%w; and no cube that tells the geometry instead", err)
}

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
	g, err := m.CubeGrid()
	if err != nil {
		return volume.Box{}, err
	}
	var cubes volume.Box
	zs, err := m.Cubes()
	if err != nil {
		return volume.Box{}, err
	}
	for _, z := range zs {
		ys, err := m.Cubes(z)
		if err != nil {
			return volume.Box{}, err
		}
		for _, y := range ys {
			xs, err := m.Cubes(z, y)
			if err != nil {
				return volume.Box{}, err
			}
			if len(xs) > 0 {
				cubes = cubes.Union(volume.Box{Min: volume.Vec{xs[0], y, z}, Max: volume.Vec{xs[len(xs)-1] + 1, y + 1, z + 1}})
			}
		}
	}
	return volume.Box{Min: cubes.Min.Mul(g.Size), Max: cubes.Max.Mul(g.Size)}, nil
}

// Cubes lists one level of z{Z}/y{Y}/x{X}.wkw, in rising order.
func (m *mag) Cubes(zy ...int) ([]int, error) {
	dir := m.path(zy...)
	entries, err := fs.ReadDir(m.fsys, dir)
	if err != nil {
		return nil, err
	}
	var found []int
	for _, e := range entries {
		n, ok := parseEntry(e.Name(), len(zy))
		if ok && m.isEntry(e, path.Join(dir, e.Name()), len(zy)) {
			found = append(found, n)
		}
	}
	slices.Sort(found)
	return found, nil
}

// isEntry reports whether the entry is of the kind that belongs at this level. Only
// links need another look.
func (m *mag) isEntry(e fs.DirEntry, name string, level int) bool {
	if e.Type()&fs.ModeSymlink != 0 {
		info, err := fs.Stat(m.fsys, name)
		return err == nil && info.IsDir() == (level < 2)
	}
	if level < 2 {
		return e.IsDir()
	}
	return e.Type().IsRegular()
}

// StatCubes describes z{Z}, z{Z}/y{Y} or z{Z}/y{Y}/x{X}.wkw.
func (m *mag) StatCubes(zyx ...int) (fs.FileInfo, error) {
	name := m.path(zyx...)
	info, err := fs.Stat(m.fsys, name)
	if err == nil && info.IsDir() != (len(zyx) < 3) {
		return nil, notExist("stat", name)
	}
	return info, err
}

// OpenCube opens a cube file, which must fit its mag.
func (m *mag) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	want, err := m.geometry()
	if err != nil {
		return nil, err
	}
	f, err := OpenFile(m.fsys, m.path(c[2], c[1], c[0]))
	if err != nil {
		return nil, err
	}
	if !f.Header().Fits(want) {
		f.Close()
		return nil, &FormatError{
			File: m.path(c[2], c[1], c[0]), What: "geometry", Offset: 4,
			Expected: want.geometry() + " as the mag " + m.dir, Found: f.Header().geometry(),
		}
	}
	return &cube{f, m.place(f.Grid(), c)}, nil
}

// path returns the path of an entry of the index of cubes, given as z, y, x.
func (m *mag) path(zyx ...int) string {
	switch len(zyx) {
	case 0:
		return m.dir
	case 1:
		return path.Join(m.dir, fmt.Sprintf("z%d", zyx[0]))
	case 2:
		return path.Join(m.dir, fmt.Sprintf("z%d/y%d", zyx[0], zyx[1]))
	}
	return path.Join(m.dir, fmt.Sprintf("z%d/y%d/x%d%s", zyx[0], zyx[1], zyx[2], cubeSuffix))
}

// cube is a cube file at its place in the dataset.
type cube struct {
	*File
	grid volume.Grid
}

// Grid is the file's geometry with its position and the size of its voxels.
func (c *cube) Grid() volume.Grid { return c.grid }

// parseEntry reads the name of an entry at a level of the index: z…, y…, x….wkw.
func parseEntry(name string, level int) (int, bool) {
	digits, ok := strings.CutPrefix(name, "zyx"[level:level+1])
	if ok && level == 2 {
		digits, ok = strings.CutSuffix(digits, cubeSuffix)
	}
	if !ok {
		return 0, false
	}
	return volume.ParseIndex(digits)
}

// cubeFiles yields the paths of the cube files in the directory of a mag.
func cubeFiles(fsys fs.FS, dir string) iter.Seq[string] {
	return func(yield func(string) bool) { walkCubes(fsys, dir, 0, yield) }
}

func walkCubes(fsys fs.FS, dir string, level int, yield func(string) bool) bool {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return true
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if _, ok := parseEntry(e.Name(), level); !ok {
			continue
		}
		if level < 2 {
			if !walkCubes(fsys, name, level+1, yield) {
				return false
			}
		} else if !e.IsDir() && !yield(name) {
			return false
		}
	}
	return true
}

// geometry is what Header.Fits compares, in words.
func (h Header) geometry() string {
	return fmt.Sprintf("%d³ blocks of %d³ voxels of %d × %v", h.CubeBlocks, h.BlockSide, h.Channels, h.Type)
}
