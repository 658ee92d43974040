package prefetch

import "github.com/wkwfs/wkwfs/volume"

// limits are the numbers that only large arrays reach. They are fields so that tests can make them small: then arrays
// of some hundred bytes reach everything that depends on them. All but thickPlanes and cell are in bytes.
type limits struct {
	page int64 // size of the pages of mapped files

	// wideSlack is the maximum distance of a sequential read from the end of the reads before.
	wideSlack int64
	// narrowSlack is the same for a reader that has returned to a place.
	narrowSlack int64
	// history is the length of a stretch. Longer ones lose their older half. It has room for twice the sum of
	// sequentialLength and kernelReadahead.
	history int64
	// A reader is sequential when it has read sequentialLength, or a plane if that is less, without a large gap; and
	// kernelReadahead more, because the kernel may read that much ahead of a reader that stops.
	sequentialLength, kernelReadahead int64
	// headLength is enough at the start of the array: most programs that read more than this read all of it.
	headLength int64

	// strideSlack is how far a read may be from the same rows in the plane before.
	strideSlack int64
	// maxGuess bounds the memory of a guess.
	maxGuess int64

	// maxPartialPortion bounds portions that are not whole slabs, in bytes of blocks: the reader waits for the first
	// one.
	maxPartialPortion int64
	// thickPortion and thickPlanes bound portions of several thin slabs, in bytes of blocks and in planes. Portions of
	// one plane would not be pushed.
	thickPortion int64
	thickPlanes  int
	// maxSmall bounds arrays that are read as soon as a program starts to read them, in bytes of blocks.
	maxSmall int64
	// maxOnce bounds arrays that need no page cache if they are read once, in bytes of blocks.
	maxOnce int64
	// maxWindow bounds the window of a reader whose source answers late, unless two portions are more.
	maxWindow int64
	// maxAnnounced bounds the slabs that are announced and not yet decoded, in bytes of blocks. The page cache must
	// keep what they take in the file until they are decoded.
	maxAnnounced int64

	// leastBatch is the least number of decoded bytes of a batch. Smaller ones take longer to distribute than to
	// decode.
	leastBatch int
	// cell is the size of the boxes of blocks that are loaded at once from sources whose requests should be long. In
	// Morton order, the blocks of an aligned cell follow each other in the file: 1 MiB if they have 32³ voxels of a
	// byte and do not compress.
	cell volume.Vec
}

// usual are the limits of a Prefetcher.
var usual = limits{
	page:              4096,
	wideSlack:         16 << 20,
	narrowSlack:       1 << 20,
	history:           64 << 20,
	sequentialLength:  24 << 20,
	kernelReadahead:   512 << 10,
	headLength:        192 << 10,
	strideSlack:       64 << 10,
	maxGuess:          32 << 20,
	maxPartialPortion: 64 << 20,
	thickPortion:      32 << 20,
	thickPlanes:       16,
	maxSmall:          8 << 20,
	maxOnce:           32 << 20,
	maxWindow:         128 << 20,
	maxAnnounced:      256 << 20,
	leastBatch:        192 << 10,
	cell:              volume.Vec{4, 4, 2},
}
