//go:build linux

package fsnode

import "github.com/wkwfs/wkwfs/internal/vfs"

// limits are the sizes on which a mount depends, in bytes. Tests make them small, so that small files and directories
// reach them.
type limits struct {
	page  int64 // of the kernel
	piece int64 // the best size of a push: it fits into the cache of one core
	ahead int64 // how far reads in flight reach
	batch int   // entries of a full batch of a listing
	once  onceLimits
}

// usual are the limits of all mounts.
var usual = limits{page: pageSize, piece: 256 << 10, ahead: 512 << 10, batch: vfs.BatchSize, once: onceLimits{
	least: 128 << 10, unseen: 4 << 20, large: 512 << 10, smallPieces: 16, smallBytes: 512 << 10, opens: 256,
}}

// onceLimits decide which files are read past the page cache: see onceReads.
type onceLimits struct {
	// the size up to which a file is read through the page cache: the kernel reads that many bytes at once there
	least  int64
	unseen int64 // the largest file that is read past the page cache before a reader has used large pieces
	large  int   // the least length of a piece of a reader that gains, in bytes
	// A reader loses if it uses smallPieces smaller pieces, or smaller pieces of smallBytes together. Readers of a
	// header use fewer.
	smallPieces int32
	smallBytes  int64
	// opens is the number of opens that use the page cache after a reader that lost without it. It lost as much as some
	// tens of others gain.
	opens int32
}
