package store

import (
	"context"
	"fmt"
	"io"
	"math"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestReadRangesErrors: only the ranges that contain an unreadable byte have an error.
func TestReadRangesErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1000 // bytes of the file; those from 200 to 300 cannot be read
		server := &remote{FS: pattern(size), takes: func(q request) (time.Duration, error) {
			if q.op == "read" && q.off < 300 && q.off+int64(q.n) > 200 {
				return roundTrip, syscall.EIO
			}
			return roundTrip, nil
		}}
		s, f := open(t, server, Options{})
		makeLate(s)
		var ranges []vfs.Range
		for off := int64(0); off < 1200; off += 100 {
			ranges = append(ranges, vfs.Range{Off: off, P: make([]byte, 100)})
		}
		ranges = append(ranges, vfs.Range{Off: 950, P: make([]byte, 100)})
		start := time.Now()
		vfs.ReadRanges(t.Context(), f, ranges)
		if took := time.Since(start); took != 2*roundTrip {
			t.Errorf("took %v, expected a round trip for all ranges and one for each range alone", took)
		}
		for i, r := range ranges {
			want := error(nil)
			switch {
			case r.Off == 200:
				want = syscall.EIO
			case r.Off+100 > size:
				want = io.ErrUnexpectedEOF
			}
			if r.Err != want || want == nil && wrong(r) >= 0 {
				t.Errorf("range %d at %d: got %v, expected %v", i, r.Off, r.Err, want)
			}
		}
	})
}

// TestReadRangesCut: an error in a part of a long range is an error of that range only.
func TestReadRangesCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &remote{FS: pattern(9 * maxRequest), takes: func(q request) (time.Duration, error) {
			if q.off == 5*maxRequest {
				return 0, syscall.EIO
			}
			return roundTrip, nil
		}}
		s, f := open(t, server, Options{})
		makeLate(s)
		ranges := make([]vfs.Range, 4)
		for i := range ranges {
			ranges[i] = vfs.Range{Off: int64(i) * 3 * maxRequest, P: make([]byte, 3*maxRequest)}
		}
		ranges[2].Off -= 1
		ranges[3].Off -= maxRequest
		vfs.ReadRanges(t.Context(), f, ranges)
		for i, want := range []error{nil, syscall.EIO, nil, io.ErrUnexpectedEOF} {
			if ranges[i].Err != want || want == nil && wrong(ranges[i]) >= 0 {
				t.Errorf("range %d: got %v, expected %v", i, ranges[i].Err, want)
			}
		}
	})
}

// TestReadRangesCanceled: after its context is done, ReadRanges sends no more requests and waits for those
// in flight.
func TestReadRangesCanceled(t *testing.T) {
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprintf("late %v", late), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := make(chan struct{})
				server := &remote{FS: pattern(math.MaxInt64), takes: func(q request) (time.Duration, error) {
					if q.op == "read" {
						<-answer
					}
					return 0, nil
				}}
				s, f := open(t, server, Options{Depth: 4})
				most := 1
				if late {
					makeLate(s)
					most = 4
				}
				ctx, cancel := context.WithCancel(t.Context())
				ranges, returned := apart(10, 10), false
				go func() {
					vfs.ReadRanges(ctx, f, ranges)
					returned = true
				}()
				synctest.Wait()
				time.Sleep(time.Minute)
				if got := s.Stats(); got.InFlight != most || got.LongestWait != time.Minute {
					t.Errorf("%d reads in flight, since %v; expected %d since a minute ago", got.InFlight,
						got.LongestWait, most)
				}
				cancel()
				synctest.Wait()
				if returned {
					t.Fatal("returned while reads are in flight")
				}
				close(answer)
				synctest.Wait()
				if !returned {
					t.Fatal("did not return")
				}
				if n := len(server.requestsOf("read")); n != most {
					t.Errorf("%d reads, expected %d", n, most)
				}
				checkRanges(t, ranges[:most])
				for i, r := range ranges[most:] {
					if r.Err != context.Canceled {
						t.Errorf("range %d: got %v", most+i, r.Err)
					}
				}
				if got := s.Stats(); got.InFlight != 0 || got.LongestWait != 0 {
					t.Errorf("%d reads in flight since %v", got.InFlight, got.LongestWait)
				}
				checkIdle(t, s)
			})
		})
	}
}
