package volume

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// Source is an array that is stored in blocks. It is safe for use by many goroutines at once.
type Source interface {
	Grid() Grid

	// Fill decodes blocks of the grid, no two of which are the same, into memory of the caller.
	// It sets Voxels or Err of each block, and may change the order of the slice.
	//
	// For each block that is stored, Fill calls memory with the block's position and decodes into
	// the Grid().BlockBytes() bytes that it returns. It calls memory only when the stored size of the
	// block is plausible, so that a damaged file takes no memory, and may do so from several
	// goroutines. What memory returned for a block with an error is undefined.
	Fill(ctx context.Context, blocks []Block, memory func(at Vec) []byte)
}

// Block is one block of a Source.
type Block struct {
	At     Vec    // position in the grid, in blocks: 0 ≤ At < Grid().Blocks()
	Voxels []byte // decoded voxels in Fortran order; nil if the block was never written and reads as zeros
	Err    error  // why the block cannot be read; it concerns this block only
}

// ReadBlock decodes one block of a source into new memory. It returns nil for a block that was never written.
func ReadBlock(ctx context.Context, src Source, at Vec) ([]byte, error) {
	block := [1]Block{{At: at}}
	src.Fill(ctx, block[:], func(Vec) []byte { return make([]byte, src.Grid().BlockBytes()) })
	return block[0].Voxels, block[0].Err
}

// Versioned is a Source that can tell when its bytes may have changed: two
// sources with the same version hold the same voxels.
type Versioned interface {
	Version() vfs.Version
}

// Key names the content of a block: blocks with the same key have the same voxels.
type Key struct {
	Version vfs.Version // of the file that holds the block; zero if the block was never written
	Index   uint64      // of the block in that file, x fastest
}

// Keyed is a Source of blocks from several files, each with a version of its own.
type Keyed interface {
	Source
	// Key returns the key of a block without any I/O; false if the version is not known before the
	// file is opened.
	Key(at Vec) (Key, bool)
	// Resolve finds out the version of the file that holds the block. Key knows it afterwards.
	Resolve(ctx context.Context, at Vec) error
}

// Sized is a Source that knows how many bytes a block takes where it is stored.
type Sized interface {
	StoredSize(b Vec) (int64, error)
}

// CubeFile is one open file of blocks. It stays consistent while it is open: when
// the file below changes, Fill fails rather than mix old and new.
type CubeFile interface {
	Source
	Versioned
	// Info describes the file as it was when it was opened.
	Info() fs.FileInfo
	io.Closer
}

// Root is what a user named as SOURCE: exactly one of the fields is set.
type Root struct {
	Dataset Dataset
	Layer   Layer
	Mag     Mag
	Cube    *SingleCube
}

// SingleCube is one cube file that stands for itself.
type SingleCube struct {
	Name string // without its suffix
	Grid Grid   // as it was found when the source was recognised
	Stat func() (fs.FileInfo, error)
	Open func() (CubeFile, error)
}

// Dataset is a directory of layers.
type Dataset interface {
	// Stat describes the directory, for its times, owner and permissions.
	Stat() (fs.FileInfo, error)
	// Layers lists the names of the layers that are there now, sorted.
	Layers() ([]string, error)
	// Layer returns the layer; an error that is fs.ErrNotExist where there is none.
	Layer(name string) (Layer, error)
	// Files is the dataset's metadata files, which are shown as they are.
	Files() fs.FS
}

// Layer is one array of a dataset at several mags.
type Layer interface {
	Stat() (fs.FileInfo, error)
	// Mags lists the names of the mags that are there now, finest first.
	Mags() ([]string, error)
	// Mag returns the mag; an error that is fs.ErrNotExist where there is none.
	Mag(name string) (Mag, error)
}

// Mag is one layer at one resolution. Its voxels are stored in cube files on a
// regular grid; cube c covers the voxels from CubeGrid().Origin + c × cube side on.
type Mag interface {
	Stat() (fs.FileInfo, error)

	// About is what is known of the mag beyond its geometry.
	About() About

	// CubeGrid is the geometry that every cube of the mag has. Its Origin is where
	// cube 0,0,0 begins.
	CubeGrid() (Grid, error)

	// Bounds is the layer's bounding box in voxels of this mag, absolute.
	Bounds() (Box, error)

	// Cubes lists one level of the index of cube files, in rising order: with no
	// argument the z that have cubes, with z the y, with z, y the x. An error that is
	// fs.ErrNotExist where there is no such level.
	Cubes(zy ...int) ([]int, error)

	// StatCubes describes an entry of that index: the directory z, the directory
	// z, y or the cube file z, y, x. No file is opened for it.
	StatCubes(zyx ...int) (fs.FileInfo, error)

	// OpenCube opens the cube file; an error that is fs.ErrNotExist where there is none.
	OpenCube(c Vec) (CubeFile, error)
}

// About describes a mag in words; fields that are not known are zero.
type About struct {
	Factor      Factor
	Category    string // of its layer: color or segmentation
	Compression string // of its blocks, as a rule: a cube may differ

	// Chunks says that its cube files are known by the box that they cover, rather than
	// by their place in the grid.
	Chunks bool
}

// Factor is the side of a mag's voxel in voxels of mag 1.
type Factor Vec

// ParseFactor reads the name of a mag: "4", or "4-4-2" where the axes differ.
// Numbers have no sign and no leading zero, so that a factor has few names.
func ParseFactor(name string) (Factor, bool) {
	parts := strings.Split(name, "-")
	if len(parts) != 1 && len(parts) != 3 {
		return Factor{}, false
	}
	var f Factor
	for i, part := range parts {
		n, ok := ParseIndex(part)
		if !ok || n < 1 {
			return Factor{}, false
		}
		f[i] = n
	}
	if len(parts) == 1 {
		f[1], f[2] = f[0], f[0]
	}
	return f, true
}

// String returns the usual name of the mag: "4" or "4-4-2".
func (f Factor) String() string {
	if f[0] == f[1] && f[1] == f[2] {
		return fmt.Sprint(f[0])
	}
	return fmt.Sprintf("%d-%d-%d", f[0], f[1], f[2])
}

// ParseIndex reads a number ≥ 0 in its shortest decimal form, at most 2^40, so
// that later arithmetic with it cannot overflow.
func ParseIndex(s string) (int, bool) {
	if s == "" || len(s) > 13 || (s[0] == '0' && len(s) > 1) {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, n <= 1<<40
}

// Omission is something in a source that is not shown, and why.
type Omission struct{ Name, Reason string }

// Omitter is a Dataset or a Layer that can tell what it does not show.
type Omitter interface {
	Omitted() []Omission
}
