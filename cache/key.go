package cache

import (
	"encoding/binary"

	"github.com/wkwfs/wkwfs/volume"
)

// hash spreads keys over 64 bits with the steps of SplitMix64. Ristretto selects shards and counters by the low bits
// of a key. Without hash, these bits would be the block index, and alike for all arrays. Blocks of the same version
// never have the same hash.
func hash(k volume.Key) uint64 {
	lo := binary.LittleEndian.Uint64(k.Version[:8])
	hi := binary.LittleEndian.Uint64(k.Version[8:])
	return mix(mix(mix(lo)^hi) + k.Index)
}

func mix(h uint64) uint64 {
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
