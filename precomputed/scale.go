package precomputed

import (
	"errors"
	"io/fs"
	"path"
	"strconv"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// scale is one resolution of a volume. It implements volume.Mag.
type scale struct {
	*scaleInfo
	fsys     fs.FS
	stat     func() (fs.FileInfo, error)
	category string
	chunks   chunkStore
}

// newScale makes a scale of the chunks in dir; while there is no such directory, the
// volume's describes it.
func newScale(fsys fs.FS, dir string, s *scaleInfo, category string, volumeStat func() (fs.FileInfo, error)) *scale {
	made := &scale{scaleInfo: s, fsys: fsys, category: category, chunks: &files{fsys: fsys, dir: dir, scale: s}}
	if s.sharding != nil {
		made.chunks = newShards(fsys, dir, s)
	}
	made.stat = func() (fs.FileInfo, error) {
		info, err := fs.Stat(fsys, dir)
		if errors.Is(err, fs.ErrNotExist) {
			return volumeStat()
		}
		return info, err
	}
	return made
}

func (s *scale) Stat() (fs.FileInfo, error) { return s.stat() }

// Late implements vfs.Later.
func (s *scale) Late() bool { return vfs.IsLate(s.fsys) }

// About has the encoding as the compression.
func (s *scale) About() volume.About {
	return volume.About{Factor: s.factor, Category: s.category, Compression: s.encoding.name, Chunks: true}
}

// CubeGrid is the geometry of a chunk; its origin is voxel_offset.
func (s *scale) CubeGrid() (volume.Grid, error) { return s.grid(), nil }

// Bounds is what voxel_offset and size say.
func (s *scale) Bounds() (volume.Box, error) { return s.bounds, nil }

// Cubes lists one level of the positions of chunks. Chunks that may or may not be
// in a shard that cannot be read are listed too; in a scale of very many chunks there
// is an error instead, and what was found.
func (s *scale) Cubes(zy ...int) ([]int, error) {
	all, err := s.chunks.positions(len(zy) == 0)
	list, ok := all.level(zy...)
	if err == nil && !ok {
		err = s.noChunk("readdir", zy)
	}
	return list, err
}

// StatCubes describes a chunk; levels above that have chunks are described by the
// scale's directory.
func (s *scale) StatCubes(zyx ...int) (fs.FileInfo, error) {
	if len(zyx) == 3 {
		c := volume.Vec{zyx[2], zyx[1], zyx[0]}
		if !c.In(s.lattice.size) {
			return nil, s.noChunk("stat", zyx)
		}
		return s.chunks.stat(c)
	}
	all, err := s.chunks.positions(false)
	if _, ok := all.level(zyx...); ok {
		return s.stat()
	}
	if err == nil {
		err = s.noChunk("stat", zyx)
	}
	return nil, err
}

// OpenCube opens the chunk. Whether it can be decoded is seen when it is read.
func (s *scale) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	if !c.In(s.lattice.size) {
		return nil, s.noChunk("open", []int{c[2], c[1], c[0]})
	}
	opened, err := s.chunks.open(c)
	if err != nil {
		return nil, err
	}
	return &chunk{opened, s.scaleInfo, c}, nil
}

func (s *scale) noChunk(op string, zyx []int) error {
	name := s.key
	for i, n := range zyx {
		name = path.Join(name, "zyx"[i:i+1]+strconv.Itoa(n))
	}
	return notExist(op, name)
}
