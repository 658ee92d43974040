package relabel

import (
	"context"
	"fmt"
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
	for _, kinds := range [][2]volume.Type{{volume.Uint32, volume.Uint32}, {volume.Uint64, volume.Uint64},
		{volume.Uint32, volume.Uint64}} {
		kind, result := kinds[0], kinds[1]
		b.Run(fmt.Sprint(kind, " as ", result), func(b *testing.B) {
			size := kind.Size()
			from := make([]byte, size<<15)
			for i := range 1 << 15 {
				put(from[i*size:], size, uint64(i%32/24+i/32/20)*7919*13%n)
			}
			to := make([]byte, result.Size()<<15)
			b.SetBytes(int64(len(to)))
			for b.Loop() {
				if err := c.convert(to, result, from, kind); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
