package store

import (
	"io"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestReadRangesRandom reads random ranges. Answers arrive in any order, and one byte may be unreadable.
func TestReadRangesRandom(t *testing.T) {
	const size = 3 * maxRequest
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			damaged := random.Int64N(2 * size)
			if damaged >= size {
				damaged = -1 // none
			}
			var mu sync.Mutex
			server := &remote{FS: pattern(size), takes: func(q request) (time.Duration, error) {
				mu.Lock()
				defer mu.Unlock()
				took := time.Duration(random.Int64N(int64(roundTrip)))
				if q.off <= damaged && damaged < q.off+int64(q.n) {
					return took, syscall.EIO
				}
				return took, nil
			}}
			s, f := open(t, server, Options{Depth: 1 + random.IntN(10)})
			if seed%3 > 0 {
				makeLate(s)
			}
			ranges := randomRanges(random, size)
			vfs.ReadRanges(t.Context(), f, ranges)
			for i, r := range ranges {
				want, end := error(nil), r.Off+int64(len(r.P))
				switch {
				case r.Off <= damaged && damaged < end:
					want = syscall.EIO
				case r.Off < end && end > size:
					want = io.ErrUnexpectedEOF
				}
				if at := wrong(r); r.Err != want || want == nil && at >= 0 {
					t.Errorf("seed %d, range %d, %d bytes from %d on: got %v, expected %v; wrong at byte %d", seed, i,
						len(r.P), r.Off, r.Err, want, at)
				}
			}
			checkIdle(t, s)
		})
	}
}

// randomRanges returns ranges in mostly ascending order, with gaps of all sizes. Some are after the end of the
// file.
func randomRanges(random *rand.Rand, size int64) []vfs.Range {
	off := random.Int64N(size)
	var ranges []vfs.Range
	for range random.IntN(30) {
		n := random.IntN(1 << (1 + random.IntN(19)))
		ranges = append(ranges, vfs.Range{Off: off, P: make([]byte, n)})
		switch random.IntN(4) {
		case 0:
			off += int64(n)
		case 1:
			off += int64(n) + random.Int64N(2*maxGap)
		case 2:
			off += random.Int64N(int64(n) + 1)
		default:
			off = random.Int64N(size)
		}
	}
	return ranges
}
