package relabel

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Layer is a layer whose ids are mapped.
type Layer struct {
	volume.Layer
	table *Table
	kind  volume.Type // of the result
}

// NewLayer maps the ids of a layer. It fails if the layer has no ids, or if the table cannot be read.
func NewLayer(l volume.Layer, t *Table) (*Layer, error) {
	names, err := l.Mags()
	if err != nil {
		return nil, err
	}
	most, err := t.Most()
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("mapping %s: the layer has no mags", t.Name)
	}
	m, err := l.Mag(names[0])
	if err != nil {
		return nil, err
	}
	g, err := m.CubeGrid()
	if err != nil {
		return nil, err
	}
	if !g.Type.IsUnsigned() || g.Channels != 1 {
		return nil, fmt.Errorf("mapping %s: expected a layer of unsigned integers, one for each voxel, found %d × %v",
			t.Name, g.Channels, g.Type)
	}
	kind := g.Type
	if !fits(most, kind) {
		kind = volume.Uint64
	}
	return &Layer{l, t, kind}, nil
}

// Mag returns a mag of the layer.
func (l *Layer) Mag(name string) (volume.Mag, error) {
	m, err := l.Layer.Mag(name)
	if err != nil {
		return nil, err
	}
	return mag{m, l.table, l.kind}, nil
}

// Omitted implements [volume.Omitter].
func (l *Layer) Omitted() []volume.Omission {
	if o, ok := l.Layer.(volume.Omitter); ok {
		return o.Omitted()
	}
	return nil
}

// mag is a mag whose ids are mapped. Values with the same mag and table are equal: callers keep what they know about
// a mag by its value.
type mag struct {
	volume.Mag
	table *Table
	kind  volume.Type
}

var (
	_ volume.Omitter        = (*Layer)(nil)
	_ volume.Indexed        = mag{}
	_ volume.MemoryReporter = mag{}
	_ vfs.SpeedReporter     = mag{}
	_ volume.CubeFile       = (*cube)(nil)
)

// About describes the mag: its blocks are not stored, so they have no compression.
func (m mag) About() volume.About {
	a := m.Mag.About()
	a.LZ4, a.Category, a.Window = false, "segmentation", volume.Window{}
	return a
}

func (m mag) CubeGrid() (volume.Grid, error) {
	g, err := m.Mag.CubeGrid()
	g.Type = m.kind
	if err == nil {
		err = g.Validate() // wider voxels may be too many
	}
	return g, err
}

// Speed implements [vfs.SpeedReporter].
func (m mag) Speed() vfs.Speed { return vfs.SpeedOf(m.Mag) }

// Index tells what the mag tells whose ids are mapped. But it has no files and parts: they are those of that mag.
func (m mag) Index() volume.Index {
	i := volume.IndexOf(m.Mag)
	i.Describe, i.Metadata, i.StoredIn, i.Files, i.Parts = m.describeCubes, m.statMetadata, nil, nil, nil
	return i
}

// WorkMemory implements [volume.MemoryReporter].
func (m mag) WorkMemory(volume.Grid) int {
	g, err := m.Mag.CubeGrid()
	if err != nil {
		return 0
	}
	return volume.WorkMemory(m.Mag, g)
}

// statMetadata describes the table, too: a user must be allowed to read it.
func (m mag) statMetadata() []fs.FileInfo {
	all := volume.StatMetadata(m.Mag)
	if m.table.files != nil {
		all = slices.Concat(all, m.table.files())
	}
	return all
}

func (m mag) StatCubes(zyx ...int) (fs.FileInfo, error) {
	info, err := m.Mag.StatCubes(zyx...)
	if err != nil || len(zyx) < 3 {
		return info, err
	}
	s, err := m.table.now()
	if err != nil {
		return nil, err
	}
	return describe(info, s), nil
}

func (m mag) describeCubes(zy ...int) iter.Seq2[[]volume.CubeEntry, error] {
	if len(zy) < 2 {
		return volume.DescribeCubes(m.Mag, zy...)
	}
	return func(yield func([]volume.CubeEntry, error) bool) {
		s, failed := m.table.now()
		for entries, err := range volume.DescribeCubes(m.Mag, zy...) {
			entries = slices.Clone(entries)
			for i, e := range entries {
				switch {
				case e.Err != nil:
				case failed != nil:
					entries[i].Info, entries[i].Err = nil, failed
				default:
					entries[i].Info = describe(e.Info, s)
				}
			}
			if !yield(entries, err) {
				return
			}
		}
	}
}

// OpenCube opens a cube with the table as it is now.
func (m mag) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	s, failed := m.table.now()
	f, err := m.Mag.OpenCube(c)
	if err != nil {
		return nil, err
	}
	if failed != nil {
		f.Close() // read-only: nothing can be lost
		return nil, failed
	}
	return &cube{f, m.table, s, m.kind}, nil
}

// cube is a cube whose ids are mapped by a table as it was when the cube was opened.
type cube struct {
	volume.CubeFile
	table *Table
	state *state
	kind  volume.Type
}

func (f *cube) Info() fs.FileInfo       { return describe(f.CubeFile.Info(), f.state) }
func (f *cube) Version() volume.Version { return vfs.VersionOf(f.Info()) }

func (f *cube) Grid() volume.Grid {
	g := f.CubeFile.Grid()
	g.Type = f.kind
	return g
}

// WorkMemory implements [volume.MemoryReporter].
func (f *cube) WorkMemory(volume.Grid) int { return volume.WorkMemory(f.CubeFile, f.CubeFile.Grid()) }

// newLender returns a function that lends the end of the memory of blocks, from byte start on. It keeps the whole in
// a map.
func newLender(whole map[volume.Vec][]byte, memory func(volume.Vec) []byte, start int) func(volume.Vec) []byte {
	var mu sync.Mutex // Fill may ask from several goroutines at once
	return func(at volume.Vec) []byte {
		b := memory(at)
		mu.Lock()
		defer mu.Unlock()
		whole[at] = b
		return b[start:]
	}
}

// describe describes a cube whose content depends on a table, too.
func describe(info fs.FileInfo, s *state) fs.FileInfo {
	old := vfs.VersionOf(info)
	sum := sha256.Sum256(slices.Concat([]byte("relabel"), old[:], s.version[:]))
	return vfs.WithVersion(info, vfs.Version(sum[:16]))
}
