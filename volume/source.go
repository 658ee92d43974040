package volume

import (
	"context"
	"io"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// Source is an array that is stored in blocks. Its methods may be called by many goroutines at once.
type Source interface {
	Grid() Grid

	// Fill decodes blocks of the grid into memory of the caller. All positions must be different.
	// Fill sets Voxels or Err of each block, and may change the order of the slice.
	//
	// For each block that is stored, Fill calls memory with the block's position and decodes into
	// the Grid().BlockBytes() bytes that memory returns. Fill calls memory only if the stored size of
	// the block is plausible, so a damaged file takes no memory. It may call memory from several
	// goroutines at once. If a block has an error, the content of its memory is undefined.
	//
	// If Shares of a block is set, Fill may set Voxels to memory that other blocks have too, in place of
	// calling memory for the block, and then sets Shared.
	Fill(ctx context.Context, blocks []Block, memory func(at Vec) []byte)
}

// Block is one block of a Source.
type Block struct {
	At     Vec    // position in the grid, in blocks: 0 ≤ At < Grid().Blocks()
	Shares bool   // set by the caller: it takes voxels in shared memory, and never writes them
	Voxels []byte // decoded voxels in Fortran order; nil if the block was never written and reads as zeros
	Shared bool   // Voxels are in memory that other blocks have too, such as that of a fill value. Nobody may write it
	Err    error  // why this block cannot be read
}

// ReadBlock decodes the block at a position of the grid into new memory. It returns nil for a block
// that was never written: all its voxels are 0.
func ReadBlock(ctx context.Context, src Source, at Vec) ([]byte, error) {
	block := [1]Block{{At: at}}
	src.Fill(ctx, block[:], func(Vec) []byte { return make([]byte, src.Grid().BlockBytes()) })
	return block[0].Voxels, block[0].Err
}

// CubeFile is one open file of blocks: a cube of WKW, or a chunk of Precomputed. If the stored file
// changes while it is open, Fill fails with ErrChanged. So old and new voxels are never mixed.
type CubeFile interface {
	Source
	Versioned
	// Info returns the attributes that the file had when it was opened.
	Info() fs.FileInfo
	io.Closer
}

// ErrChanged is the error for a file that changed since it was opened.
var ErrChanged = vfs.ErrChanged

// Version names the content of a file. Files with the same version have the same bytes. It has 16 bytes, such as the
// first ones of a hash. A format makes it with [VersionOf] of what its stores say, or of anything else that changes
// with the content. The version 0 means that there is no file.
type Version = vfs.Version

// DetailedInfo is an [fs.FileInfo] that knows more about the file, such as the version of the content.
type DetailedInfo = vfs.DetailedInfo

// Details are what a [DetailedInfo] knows.
type Details = vfs.Details

// VersionOf returns the version of the file that info describes. If info does not know it, the version is a hash of the
// size, the time of the last change and, if Sys returns a *syscall.Stat_t, what else changes when the file is replaced.
func VersionOf(info fs.FileInfo) Version { return vfs.VersionOf(info) }

// Versioned is a Source that notices when its file is replaced. Two sources with the same version
// have the same voxels. The version of a cube is [VersionOf] what [Mag].StatCubes and [CubeFile].Info return for it.
type Versioned interface {
	Version() Version
}

// Key names the content of a block. Blocks with the same key have the same voxels.
type Key struct {
	Version Version // of the file that holds the block; zero if the block was never written
	Index   uint64  // of the block in that file, x fastest
}

// Keyed is a Source of blocks from several files, each with its own version.
type Keyed interface {
	Source
	// Key returns the key of a block without I/O. It returns false if the version is not known before
	// the file is opened.
	Key(at Vec) (Key, bool)
	// Resolve finds the version of the file that holds the block. After that, Key returns true.
	Resolve(ctx context.Context, at Vec) error
}

// MemoryReporter is a Source, or a Mag, that takes memory for decoding a block besides that of its voxels.
type MemoryReporter interface {
	// WorkMemory returns how many bytes Fill takes at most while it decodes a block: for what is stored, and for steps
	// between that and the voxels. It depends on metadata only. g is the Grid of the Source, or the CubeGrid of the
	// Mag. Fill decodes blocks of a file one after the other.
	WorkMemory(g Grid) int
}

// WorkMemory returns the WorkMemory of a [MemoryReporter], or 0.
func WorkMemory(of any, g Grid) int {
	if m, ok := of.(MemoryReporter); ok {
		return m.WorkMemory(g)
	}
	return 0
}

// Announcer is a Source that can fetch stored blocks before Fill decodes them.
type Announcer interface {
	// Announce says that Fill will be called for the blocks of a box, those with the least z first, and of these those
	// with the least y. It returns when ctx is done or all of them are being fetched. Reads do not depend on it, so it
	// has no errors.
	Announce(ctx context.Context, box Box)
}

// LZ4Source is a Source that may store its blocks as LZ4 blocks.
type LZ4Source interface {
	Source
	// LZ4Sizes returns the lengths of the LZ4 blocks that are stored for blocks, in bytes. It returns nil if the blocks
	// of the Source have another form. It does not read the blocks, and does not find damage in them.
	LZ4Sizes(blocks []Vec) ([]int64, error)
	// FillLZ4 is Fill for blocks as they are stored: Voxels of a block is set to its LZ4 block. memory returns memory
	// of the length that LZ4Sizes returned for the block. A block has the error of Fill if its LZ4 block does not
	// decode to Grid().BlockBytes() bytes.
	FillLZ4(ctx context.Context, blocks []Block, memory func(at Vec) []byte)
}
