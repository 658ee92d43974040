package store

import (
	"context"
	"io"
	"math"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestFairness: another reader waits for one of the requests of a reader of many ranges, not for all.
func TestFairness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &remote{FS: pattern(math.MaxInt64)}
		s, f := open(t, server, Options{Depth: 8})
		makeLate(s)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { vfs.ReadRanges(t.Context(), f, apart(100, 10)) })
		}
		synctest.Wait()
		for range 10 {
			time.Sleep(roundTrip / 3)
			start := time.Now()
			if _, err := vfs.ReadAt(t.Context(), f, make([]byte, 10), 0); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took > 2*roundTrip {
				t.Errorf("a reader of one range waited for %v", took)
			}
		}
		all.Wait()
		checkIdle(t, s)
	})
}

// TestReadAtLate: a long read of a late source is cut. At the end of the file it returns the number of bytes.
func TestReadAtLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := open(t, &remote{FS: pattern(8*maxRequest + 5)}, Options{})
		makeLate(s)
		p, start := make([]byte, 8*maxRequest), time.Now()
		n, err := f.(io.ReaderAt).ReadAt(p, 5)
		if n != len(p) || err != nil || wrong(vfs.Range{Off: 5, P: p}) >= 0 || time.Since(start) != roundTrip {
			t.Errorf("got %d bytes and %v after %v", n, err, time.Since(start))
		}
		n, err = f.(io.ReaderAt).ReadAt(p, 6)
		if n != len(p)-1 || err != io.EOF || wrong(vfs.Range{Off: 6, P: p[:n]}) >= 0 {
			t.Errorf("got %d bytes and %v", n, err)
		}
		checkIdle(t, s)
	})
}

// TestCachedAnswers: prompt answers that do not need the source do not make it prompt.
func TestCachedAnswers(t *testing.T) {
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
		for range latenessWindow {
			f.(io.ReaderAt).ReadAt(make([]byte, 1), size)
			f.(io.ReaderAt).ReadAt(make([]byte, 1), size+1)
			vfs.ReadRanges(t.Context(), f, []vfs.Range{{Off: size, P: make([]byte, 1)}})
			if _, err := f.Stat(); err != nil {
				t.Fatal(err)
			}
		}
		if !s.Speed().Late {
			t.Error("the source is prompt")
		}
	})
}

// TestHangs: reads without an answer keep their slots. Other reads use the rest.
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
			t.Errorf("took %v, expected %v with one free slot", took, 10*roundTrip)
		}
		all.Go(func() { f.(io.ReaderAt).ReadAt(make([]byte, 10), 7) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := vfs.ReadAt(ctx, f, make([]byte, 1), 0); err != context.DeadlineExceeded {
			t.Errorf("without a free slot: got %v", err)
		}
		close(answer)
		all.Wait()
		checkIdle(t, s)
	})
}
