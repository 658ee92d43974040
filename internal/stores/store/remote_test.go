package store

import (
	"io"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestRemoteOption: an object store is late from the start and for ever, gets long requests, and none again after an
// error.
func TestRemoteOption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 3 * maxRemoteRequest
		fault := false
		server := &remote{FS: pattern(size), takes: func(q request) (time.Duration, error) {
			if fault && q.op == "read" {
				return 0, syscall.EIO
			}
			return 0, nil
		}}
		s, f := open(t, server, Options{Remote: true})
		if !s.Speed().Late || !s.Stats().Late {
			t.Error("not late at first")
		}
		whole := []vfs.Range{{Off: 100, P: make([]byte, size-100)}}
		vfs.ReadRanges(t.Context(), f, whole)
		if got := server.requestsOf("read"); len(got) != 3 || whole[0].Err != nil || wrong(whole[0]) >= 0 ||
			got[1].n != maxRemoteRequest {
			t.Errorf("got %v, %v", got, whole[0].Err)
		}
		near := []vfs.Range{{Off: 0, P: make([]byte, 1<<20)}, {Off: 1<<20 + maxGap, P: make([]byte, 1<<20)},
			{Off: 3<<20 + 1, P: make([]byte, 9)}}
		server.forget()
		vfs.ReadRanges(t.Context(), f, near)
		for _, r := range near {
			if r.Err != nil || wrong(r) >= 0 {
				t.Errorf("range at %d: %v", r.Off, r.Err)
			}
		}
		if got := server.requestsOf("read"); len(got) != 2 {
			t.Errorf("got %v, expected two requests", got)
		}
		if !s.Speed().Late {
			t.Error("not late after prompt answers")
		}
		server.forget()
		fault = true
		vfs.ReadRanges(t.Context(), f, near[:2])
		if got := server.requestsOf("read"); len(got) != 1 || near[0].Err != syscall.EIO || near[1].Err != syscall.EIO {
			t.Errorf("got %v, %v, %v, expected one request", got, near[0].Err, near[1].Err)
		}
	})
}

// TestLongRead: a request to an object store may be long, and one to a distant file server. One to a server that is
// near should have what is needed. A server is distant or near by its last answers.
func TestLongRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const near, distant = distantAnswer - time.Millisecond, distantAnswer + time.Millisecond
		answers := near
		server := &remote{FS: pattern(1), takes: func(request) (time.Duration, error) { return answers, nil }}
		_, object := open(t, server, Options{Remote: true})
		s, f := open(t, server, Options{})
		check := func(when string, want int) {
			t.Helper()
			if got := vfs.SpeedOf(f).Long; got != want || vfs.SpeedOf(object).Long != distantRead ||
				vfs.SpeedOf(s).Remote {
				t.Errorf("%s: got %d, want %d; an object store: %d", when, got, want, vfs.SpeedOf(object).Long)
			}
		}
		read := func(n int, takes time.Duration) {
			answers = takes
			for range n {
				f.(io.ReaderAt).ReadAt(make([]byte, 1), 0)
			}
		}
		check("no answer", 0)
		read(1, distant)
		check("first answer", distantRead)
		read(latenessWindow, near)
		check("a window of answers", 0)
		read(lateInRow-1, distant)
		check("few distant answers", 0)
		read(1, distant)
		check("distant answers in a row", distantRead)
	})
}

// TestRemoteInFlight: an object store has more bytes in flight than a file server, up to a limit.
func TestRemoteInFlight(t *testing.T) {
	for _, longRequests := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			const requests, each = 100, 2 << 20
			server := &remote{FS: pattern(2 * requests * each)}
			_, f := open(t, server, Options{Remote: longRequests, Depth: 10 * requests})
			if !longRequests {
				vfs.ReadRanges(t.Context(), f, apart(11, 100)) // so that it is late
			}
			var ranges []vfs.Range
			for i := range requests {
				ranges = append(ranges, vfs.Range{Off: int64(2 * i * each), P: make([]byte, each)})
			}
			vfs.ReadRanges(t.Context(), f, ranges)
			for _, r := range ranges {
				if r.Err != nil || wrong(r) >= 0 {
					t.Fatalf("range at %d: %v", r.Off, r.Err)
				}
			}
			limit := int64(maxInFlight)
			if longRequests {
				limit = maxRemoteInFlight
			}
			if int64(server.peak) != limit {
				t.Errorf("remote %v: %d bytes in flight, expected %d", longRequests, server.peak, limit)
			}
		})
	}
}
