package precomputed

import (
	"errors"
	"io/fs"
	"iter"
	"path"
	"strconv"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// scale is one resolution of a volume. It implements [volume.Mag].
type scale struct {
	*scaleInfo
	fsys     fs.FS
	dir      string // of the chunks
	stat     func() (fs.FileInfo, error)
	volume   *layer
	category string
	chunks   chunkStore
}

// newScale returns a scale with its chunks in dir. Until that directory exists, Stat describes the directory of the
// volume.
func newScale(l *layer, fsys fs.FS, dir string, s *scaleInfo, category string) *scale {
	sc := &scale{scaleInfo: s, volume: l, fsys: fsys, dir: dir, category: category, chunks: &files{fsys: fsys, dir: dir, scale: s, limit: lattice.MaxPositions, all: lattice.All}}
	if s.sharding != nil {
		sc.chunks = newShards(fsys, dir, s)
	}
	sc.stat = func() (fs.FileInfo, error) {
		info, err := fs.Stat(fsys, dir)
		if errors.Is(err, fs.ErrNotExist) {
			return l.Stat()
		}
		return info, err
	}
	return sc
}

// Index implements [volume.Indexed].
func (s *scale) Index() volume.Index {
	return volume.Index{Walk: s.walkCubes, Describe: s.describeCubes, StoredIn: s.storedIn, Metadata: s.statMetadata, Files: s.cubeFiles}
}

// statMetadata describes the info file.
func (s *scale) statMetadata() []fs.FileInfo {
	info, err := s.volume.statInfo()
	if err != nil {
		return nil
	}
	return []fs.FileInfo{info}
}

// Stat describes the directory of the chunks.
func (s *scale) Stat() (fs.FileInfo, error) { return s.stat() }

// Speed implements [vfs.SpeedReporter].
func (s *scale) Speed() vfs.Speed { return vfs.SpeedOf(s.fsys).OfChunks() }

// About describes the scale. Its compression is the name of the encoding.
func (s *scale) About() volume.About {
	return volume.About{Factor: s.factor, Category: s.category, Compression: s.encoding.name, NamedByBox: true}
}

// CubeGrid returns the geometry of a chunk. Its origin is voxel_offset.
func (s *scale) CubeGrid() (volume.Grid, error) { return s.grid(), nil }

// Bounds returns the box from voxel_offset, with the size of the scale.
func (s *scale) Bounds() (volume.Box, error) { return s.bounds, nil }

// Cubes lists one level of the positions of the chunks. If a shard cannot be read, it lists all chunks that may be in
// it. In a scale that may have more than 4 million chunks it returns an error instead, and the chunks that it found. In
// a scale that has more, it returns only an error: [volume.AllCubes] lists them.
func (s *scale) Cubes(zy ...int) ([]int, error) {
	all, err := s.chunks.positions(len(zy) == 0)
	list, ok := all.Level(zy...)
	if err == nil && !ok {
		err = s.noChunk("readdir", zy)
	}
	return list, err
}

func (s *scale) walkCubes() iter.Seq2[volume.Vec, error] {
	return func(yield func(volume.Vec, error) bool) {
		all, err := s.chunks.positions(true)
		if lattice.IsTooMany(err) {
			s.chunks.walk(yield)
			return
		}
		for c := range all.All {
			if !yield(c, nil) {
				return
			}
		}
		if err != nil {
			yield(volume.Vec{}, err)
		}
	}
}

// storedIn returns the shard of a chunk: a shard has many chunks.
func (s *scale) storedIn(c volume.Vec) string {
	if s.sharding == nil {
		return ""
	}
	return s.sharding.stem(s.sharding.locate(s.lattice.Morton(c)).shard)
}

// StatCubes describes a chunk, or a level above that has chunks. The attributes of such a level are those of the
// directory.
func (s *scale) StatCubes(zyx ...int) (fs.FileInfo, error) {
	if len(zyx) == 3 {
		c := volume.Vec{zyx[2], zyx[1], zyx[0]}
		if !c.In(s.lattice.Size) {
			return nil, s.noChunk("stat", zyx)
		}
		return s.chunks.stat(c)
	}
	all, err := s.chunks.positions(false)
	if _, ok := all.Level(zyx...); ok {
		return s.stat()
	}
	if err == nil {
		err = s.noChunk("stat", zyx)
	}
	return nil, err
}

// describeCubes describes chunks. Those that are in one shard need one look at it.
func (s *scale) describeCubes(zy ...int) iter.Seq2[[]volume.CubeEntry, error] {
	return func(yield func([]volume.CubeEntry, error) bool) {
		stat := func(int) (fs.FileInfo, error) { return s.stat() }
		if len(zy) == 2 {
			chunk := s.chunks.statSome()
			stat = func(x int) (fs.FileInfo, error) { return chunk(volume.Vec{x, zy[1], zy[0]}) }
		}
		for numbers, err := range volume.ListCubes(s, zy...) {
			entries := make([]volume.CubeEntry, 0, len(numbers))
			for _, n := range numbers {
				if info, err := stat(n); !errors.Is(err, fs.ErrNotExist) {
					entries = append(entries, volume.CubeEntry{N: n, Info: info, Err: err})
				}
			}
			if !yield(entries, err) {
				return
			}
		}
	}
}

// OpenCube opens a chunk. It does not read the chunk, so it does not find damage.
func (s *scale) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	if !c.In(s.lattice.Size) {
		return nil, s.noChunk("open", []int{c[2], c[1], c[0]})
	}
	opened, err := s.chunks.open(c)
	if err != nil {
		return nil, err
	}
	return &chunk{opened, s.scaleInfo, c}, nil
}

// noChunk returns the error for a position without a chunk.
func (s *scale) noChunk(op string, zyx []int) error {
	name := s.key
	for i, n := range zyx {
		name = path.Join(name, "zyx"[i:i+1]+strconv.Itoa(n))
	}
	return notExist(op, name)
}
