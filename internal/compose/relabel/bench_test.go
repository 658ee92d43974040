package relabel

import (
	"context"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// BenchmarkConvert maps a block of 32³ ids in runs of 24 and 8 voxels through a list of 10^7 ids.
func BenchmarkConvert(b *testing.B) {
	const n = 10_000_000
	s, err := newList(vfs.Version{}, n, n, npyPage, func(_ context.Context, p uint64) ([]uint64, error) {
		ids := make([]uint64, npyPage)
		for i := range ids {
			ids[i] = (p*npyPage + uint64(i)) % 99_991
		}
		return ids, nil
	})
	if err != nil {
		b.Fatal(err)
	}
	c := (&Table{Name: "t"}).cursor(b.Context(), s)
	for _, kind := range []volume.Type{volume.Uint32, volume.Uint64} {
		b.Run(kind.String(), func(b *testing.B) {
			size := kind.Size()
			from := make([]byte, size<<15)
			for i := range 1 << 15 {
				put(from[i*size:], size, uint64(i%32/24+i/32/20)*7919*13%n)
			}
			to := make([]byte, len(from))
			b.SetBytes(int64(len(from)))
			for b.Loop() {
				if err := c.convert(to, kind, from, kind); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
