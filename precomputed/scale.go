package precomputed

import (
	"errors"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// scale is one resolution of a volume. It implements [volume.Mag].
type scale struct {
	*scaleInfo
	lattice.Catalogue
	fsys     fs.FS
	dir      string // of the chunks
	stat     func() (fs.FileInfo, error)
	volume   *chunked.Layer
	category string
	chunks   chunkStore
}

// newScale returns a scale with its chunks in dir. Until that directory exists, Stat describes the directory of the
// volume.
func newScale(l *chunked.Layer, fsys fs.FS, dir string, s *scaleInfo, category string) *scale {
	sc := &scale{scaleInfo: s, volume: l, fsys: fsys, dir: dir, category: category,
		chunks: &files{fsys: fsys, dir: dir, scale: s, limit: lattice.MaxPositions, all: lattice.All}}
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
	sc.Catalogue = lattice.NewCatalogue(sc.chunks, s.lattice, s.key, sc.stat)
	return sc
}

// Index implements [volume.Indexed].
func (s *scale) Index() volume.Index {
	return volume.Index{Walk: s.WalkCubes, Describe: s.DescribeCubes, StoredIn: s.storedIn, Metadata: s.statMetadata,
		Files: s.cubeFiles}
}

// statMetadata describes the info file.
func (s *scale) statMetadata() []fs.FileInfo {
	info, err := fs.Stat(s.volume.FS, path.Join(s.volume.Dir, infoFile))
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

// storedIn returns the shard of a chunk: a shard has many chunks.
func (s *scale) storedIn(c volume.Vec) string {
	if s.sharding == nil {
		return ""
	}
	return s.sharding.stem(s.sharding.locate(s.lattice.Morton(c)).shard)
}

// OpenCube opens a chunk. It does not read the chunk, so it does not find damage.
func (s *scale) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	if !c.In(s.lattice.Size) {
		return nil, s.NoChunk("open", c[2], c[1], c[0])
	}
	opened, err := s.chunks.open(c)
	if err != nil {
		return nil, err
	}
	return &chunk{opened, s.scaleInfo, c}, nil
}
