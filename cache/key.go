package cache

import (
	"encoding/binary"
	"unsafe"

	"github.com/wkwfs/wkwfs/vfs"
)

// key names one block of one version of an array.
type key struct {
	version vfs.Version
	block   uint64 // index in the grid of blocks, x fastest
}

// hash spreads keys over 64 bits. Ristretto takes shard and counters from the low
// bits of a key, in which the block indices of all arrays are alike. The steps are
// those of SplitMix64; two blocks of one version never have the same hash.
func hash(k key) uint64 {
	lo := binary.LittleEndian.Uint64(k.version[:8])
	hi := binary.LittleEndian.Uint64(k.version[8:])
	h := mix(mix(lo)^hi) + k.block
	return mix(h)
}

func mix(h uint64) uint64 {
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// entry is a block that is kept. Key and data never change.
type entry struct {
	key  key
	hash uint64
	data []byte // nil: the block was never written
	stamps
}

// overhead is what an entry costs beside its data, in bytes: itself, its place in the
// window's queue and in the map of a shard, or in the two maps of ristretto, with the
// empty places of these maps.
const overhead = 256

// Entries of blocks without data must not be free of charge.
const _ = uint(overhead - unsafe.Sizeof(entry{}))

// cost is what the entry takes of the budget, in bytes.
func (e *entry) cost() int64 { return int64(cap(e.data)) + overhead }
