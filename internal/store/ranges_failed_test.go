package store

import (
	"context"
	"fmt"
	"io"
	"math"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestReadRangesErrors: what cannot be read is an error of just the ranges that need it.
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
			t.Errorf("took %v, expected a round trip for all and one for each alone", took)
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

// TestReadRangesCut: an error in one part of a long range is one of the range, and of no other.
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

// TestReadRangesGivenUp: once nobody waits, nothing more is asked for; and what is in flight is waited for.
func TestReadRangesGivenUp(t *testing.T) {
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
				if got := s.Stats(); got.InFlight != most || got.Oldest != time.Minute {
					t.Errorf("%d reads in flight, since %v; expected %d since a minute ago", got.InFlight, got.Oldest, most)
				}
				cancel()
				synctest.Wait()
				if returned {
					t.Fatal("returned while reads write to its ranges")
				}
				close(answer)
				synctest.Wait()
				if !returned {
					t.Fatal("still waits")
				}
				if n := len(server.asked("read")); n != most {
					t.Errorf("%d reads, expected %d", n, most)
				}
				checkRanges(t, ranges[:most])
				for i, r := range ranges[most:] {
					if r.Err != context.Canceled {
						t.Errorf("range %d: got %v", most+i, r.Err)
					}
				}
				if got := s.Stats(); got.InFlight != 0 || got.Oldest != 0 {
					t.Errorf("%d reads in flight since %v", got.InFlight, got.Oldest)
				}
				checkIdle(t, s)
			})
		})
	}
}

// checkIdle checks that all that was taken was given back.
func checkIdle(t *testing.T, s *Scheduled) {
	t.Helper()
	if s.Stats().InFlight != 0 || s.queue.waiting.Len() != 0 || !s.queue.bytes.TryAcquire(maxInFlight) {
		t.Error("something is in flight")
	}
	s.queue.bytes.Release(maxInFlight)
}

// TestPromptEnd: what is answered without the source says nothing of it.
func TestPromptEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 10
		s, f := open(t, &remote{FS: pattern(size), takes: func(q request) (time.Duration, error) {
			switch q.off {
			case size:
				return 0, nil
			case size + 1:
				return 0, syscall.EIO
			}
			return roundTrip, nil
		}}, Options{})
		makeLate(s)
		for range paceWindow {
			f.(io.ReaderAt).ReadAt(make([]byte, 1), size)
			f.(io.ReaderAt).ReadAt(make([]byte, 1), size+1)
			vfs.ReadRanges(t.Context(), f, []vfs.Range{{Off: size, P: make([]byte, 1)}})
			if _, err := f.Stat(); err != nil {
				t.Fatal(err)
			}
		}
		if !s.Late() {
			t.Error("the source is prompt")
		}
	})
}

// TestHangs: reads that get no answer hold their slots, and nobody else.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		server := &remote{FS: pattern(math.MaxInt64), takes: func(q request) (time.Duration, error) {
			if q.op == "read" && q.off == 7 {
				<-answer
			}
			return roundTrip, nil
		}}
		s, f := open(t, server, Options{Depth: 4})
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { f.(io.ReaderAt).ReadAt(make([]byte, 10), 7) })
		}
		synctest.Wait()
		ranges, start := apart(10, 10), time.Now()
		vfs.ReadRanges(t.Context(), f, ranges)
		checkRanges(t, ranges)
		if took := time.Since(start); took != 10*roundTrip {
			t.Errorf("took %v, expected %v: one slot is left", took, 10*roundTrip)
		}
		all.Go(func() { f.(io.ReaderAt).ReadAt(make([]byte, 10), 7) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := vfs.ReadAt(ctx, f, make([]byte, 1), 0); err != context.DeadlineExceeded {
			t.Errorf("no slot is left: got %v", err)
		}
		close(answer)
		all.Wait()
		checkIdle(t, s)
	})
}
