package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/mosaic"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// written is a layer of the blocks that have files.
type written struct {
	dir  string
	mags []*Voxels
}

func (w *written) Stat() (fs.FileInfo, error) { return os.Stat(w.dir) }

func (w *written) Mags() (names []string, err error) {
	for _, v := range w.mags {
		names = append(names, v.factor.String())
	}
	return names, nil
}

func (w *written) Mag(name string) (volume.Mag, error) {
	for _, v := range w.mags {
		if v.factor.String() == name {
			return (*files)(v), nil
		}
	}
	return nil, fmt.Errorf("mag %s: %w", name, fs.ErrNotExist)
}

// files is the blocks of a mag that have files, each as a cube.
type files Voxels

var (
	_ volume.Indexed    = (*files)(nil)
	_ vfs.Generational  = (*files)(nil)
	_ vfs.SpeedReporter = (*files)(nil)
	_ vfs.DetailedInfo  = (*file)(nil)
)

func (f *files) Stat() (fs.FileInfo, error)  { return os.Stat(f.dir) }
func (f *files) About() volume.About         { return volume.About{Factor: f.factor, Category: "segmentation"} }
func (f *files) Bounds() (volume.Box, error) { return f.bounds, nil }
func (f *files) Generation() uint64          { return f.generation.Load() }

// Speed implements [vfs.SpeedReporter]: writers want a fast disk.
func (f *files) Speed() vfs.Speed { return vfs.Speed{Near: true, AtOnce: true} }

// CubeGrid implements [volume.Mag].
func (f *files) CubeGrid() (volume.Grid, error) { return f.grid, nil }

// at returns the blocks with a file.
func (f *files) at() (found []volume.Vec) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for at, b := range f.blocks {
		if b.stored != nil {
			found = append(found, at)
		}
	}
	return found
}

// Index implements [volume.Indexed].
func (f *files) Index() volume.Index { return volume.Index{Walk: f.walkCubes} }

func (f *files) walkCubes() iter.Seq2[volume.Vec, error] {
	return func(yield func(volume.Vec, error) bool) {
		for _, at := range f.at() {
			if !yield(at, nil) {
				return
			}
		}
	}
}

// Cubes implements [volume.Mag].
func (f *files) Cubes(zy ...int) (numbers []int, err error) {
	for _, at := range f.at() {
		zyx := [3]int{at[2], at[1], at[0]}
		if slices.Equal(zyx[:len(zy)], zy) {
			numbers = append(numbers, zyx[len(zy)])
		}
	}
	if len(numbers) == 0 && len(zy) > 0 {
		return nil, fmt.Errorf("directory %v: %w", zy, fs.ErrNotExist)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), nil
}

// StatCubes implements [volume.Mag].
func (f *files) StatCubes(zyx ...int) (fs.FileInfo, error) {
	if len(zyx) < 3 {
		if _, err := f.Cubes(zyx...); err != nil {
			return nil, err
		}
		return f.Stat()
	}
	return f.describe(volume.Vec{zyx[2], zyx[1], zyx[0]})
}

func (f *files) describe(at volume.Vec) (fs.FileInfo, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if b := f.blocks[at]; b != nil && b.stored != nil {
		return b.stored, nil
	}
	return nil, fmt.Errorf("block %v: %w", at, fs.ErrNotExist)
}

// Details implements [vfs.DetailedInfo].
func (f *file) Details() vfs.Details {
	d := vfs.DetailsOf(f.FileInfo)
	d.Version = func() vfs.Version { return f.version }
	return d
}

// OpenCube implements [volume.Mag].
func (f *files) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	if _, err := f.describe(c); err != nil {
		return nil, err
	}
	opened, err := wkw.OpenFile(os.DirFS(f.dir), nameOf(c))
	if err != nil {
		return nil, err
	}
	o := &openFile{opened, f.grid, fileOf(opened.Info())}
	if g := opened.Grid(); g.Size != o.grid.Size || g.Type != o.grid.Type || g.Channels != o.grid.Channels {
		opened.Close() // read-only
		return nil, fmt.Errorf("%s: expected a block of %v voxels of %d × %v, found %v of %d × %v",
			nameOf(c), o.grid.Size, o.grid.Channels, o.grid.Type, g.Size, g.Channels, g.Type)
	}
	o.grid.Origin = c.Mul(f.grid.Size)
	return o, nil
}

// openFile is an open file of a block.
type openFile struct {
	*wkw.File
	grid volume.Grid
	file *file
}

func (o *openFile) Grid() volume.Grid    { return o.grid }
func (o *openFile) Info() fs.FileInfo    { return o.file }
func (o *openFile) Version() vfs.Version { return o.file.version }

// readFile reads a block from its file.
func (v *Voxels) readFile(ctx context.Context, at volume.Vec) ([]byte, error) {
	opened, err := (*files)(v).OpenCube(at)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	voxels, err := volume.ReadBlock(ctx, opened, volume.Vec{})
	if voxels == nil && err == nil {
		voxels = make([]byte, v.grid.BlockBytes())
	}
	return voxels, err
}

// layerBase reads the layer through the cache.
type layerBase struct {
	mag   volume.Mag
	cache *cache.Cache

	mu     sync.Mutex
	latest *snapshot
}

// snapshot is the layer at one time.
type snapshot struct {
	*mosaic.Mosaic
	blocks *cache.Source
}

func newLayerBase(m volume.Mag, c *cache.Cache) *layerBase { return &layerBase{mag: m, cache: c} }

func (b *layerBase) last() *snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.latest
}

// next returns a snapshot that is newer than one, which may be nil.
func (b *layerBase) next(old *snapshot) (*snapshot, error) {
	if s := b.last(); s != old {
		return s, nil
	}
	m, err := mosaic.New(b.mag, false)
	if err != nil {
		return nil, err
	}
	m.Open() // for as long as the layer is edited
	s := &snapshot{m, b.cache.Source(m)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.latest = s
	return s, nil
}

// read implements base. If the layer has changed, it reads what it has become.
func (b *layerBase) read(ctx context.Context, at volume.Vec) (voxels []byte, err error) {
	s := b.last()
	for range 2 {
		if s == nil || err != nil || !s.Current(at.BoxOfOne().Mul(volume.Cube(side))) {
			if s, err = b.next(s); err != nil {
				return nil, err
			}
		}
		if voxels, err = s.read(ctx, at); err == nil || !errors.Is(err, vfs.ErrChanged) {
			return voxels, err
		}
	}
	return nil, err
}

func (s *snapshot) read(ctx context.Context, at volume.Vec) ([]byte, error) {
	a := s.Flat(at.BoxOfOne().Mul(volume.Cube(side)))
	voxels := make([]byte, a.Size())
	err := a.Fill(voxels, 0, func(blocks []volume.Vec, copyBlock func(volume.Vec, []byte)) error {
		return s.blocks.Read(ctx, blocks, cache.ShortTerm, copyBlock)
	})
	return voxels, err
}
