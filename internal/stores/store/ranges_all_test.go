package store

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"sync"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// small is a file in memory, and its own file system. One byte may be unreadable. It keeps its requests.
type small struct {
	fs.File
	data []byte
	bad  int64 // -1: none

	mu             sync.Mutex
	requests       []request
	inFlight, most int // bytes
}

func (s *small) Open(string) (fs.File, error) { return s, nil }

func (s *small) ReadAt(p []byte, off int64) (int, error) {
	s.count(off, len(p))
	defer s.count(off, -len(p))
	end := off + int64(len(p))
	switch {
	case off < 0:
		return 0, syscall.EINVAL
	case s.bad >= off && s.bad < end:
		return 0, syscall.EIO
	}
	return bytes.NewReader(s.data).ReadAt(p, off)
}

func (s *small) count(off int64, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inFlight += n; n > 0 {
		s.requests = append(s.requests, request{"read", off, n})
	}
	s.most = max(s.most, s.inFlight)
}

// smallParts is a small that reads parts of a request, as objects do.
type smallParts struct{ *small }

func (s smallParts) Open(string) (fs.File, error) { return s, nil }

func (s smallParts) ReadParts(_ context.Context, ranges []vfs.Range) error {
	last := ranges[len(ranges)-1]
	p := make([]byte, last.Off+int64(len(last.P))-ranges[0].Off)
	n, err := s.ReadAt(p, ranges[0].Off)
	if n < len(p) && (err == nil || err == io.EOF) {
		return io.ErrUnexpectedEOF
	}
	for _, r := range ranges {
		copy(r.P, p[r.Off-ranges[0].Off:])
	}
	return err
}

func (s smallParts) ReadCached([]byte, int64) bool { return false }

// TestAllRanges reads all lists of one and two small ranges of a file of 12 bytes, and many of three, with requests of
// up to 4 bytes: in time, late and from an object store.
func TestAllRanges(t *testing.T) {
	var all, some [][2]int64
	for off := int64(0); off < 14; off++ {
		for n := int64(0); n < 7; n++ {
			if all = append(all, [2]int64{off, n}); (off%5 == 0 || off == 12) && n%3 < 2 && n < 6 {
				some = append(some, [2]int64{off, n})
			}
		}
	}
	all = append(all, [][2]int64{{-1, 1}, {-2, 5}, {math.MinInt64, 9}, {math.MaxInt64 - 1, 1},
		{math.MaxInt64 - 2, 9}}...)
	for what, o := range map[string]Options{"in time": {Depth: 2, Local: true}, "late": {Depth: 2},
		"objects": {Depth: 2, Remote: true}} {
		for _, bad := range []int64{-1, 0, 5, 11} {
			r := newRangesCase(t, what, o, bad)
			for i, a := range all {
				r.check(a)
				for j, b := range all {
					if bad >= 0 && (i+j)%8 != 0 || testing.Short() && (i*j)%32 != 0 {
						continue
					}
					r.check(a, b)
				}
			}
			for i := range len(some) * len(some) * len(some) {
				if !testing.Short() && (bad < 0 || i%4 == 0) {
					r.check(some[i%len(some)], some[i/len(some)%len(some)], some[i/len(some)/len(some)])
				}
			}
			checkIdle(t, r.s)
		}
	}
}

// rangesCase reads ranges of a small file.
type rangesCase struct {
	t    *testing.T
	what string
	late bool
	file *small
	s    *Scheduled
	open fs.File
}

func newRangesCase(t *testing.T, what string, o Options, bad int64) *rangesCase {
	file := &small{data: []byte("ABCDEFGHIJKL"), bad: bad}
	fsys := fs.FS(file)
	if o.Remote {
		fsys = smallParts{file}
	}
	r := &rangesCase{t: t, what: fmt.Sprintf("%s, byte %d is unreadable", what, bad), late: !o.Local, file: file}
	r.s, r.open = open(t, fsys, o)
	r.s.queue.setLimits(limits{longest: 4, page: 2, gap: 1, most: 8})
	return r
}

func (c *rangesCase) check(parts ...[2]int64) {
	c.t.Helper()
	ranges := make([]vfs.Range, len(parts))
	for i, p := range parts {
		ranges[i] = vfs.Range{Off: p[0], P: make([]byte, p[1]), Err: io.ErrNoProgress}
	}
	if c.late {
		makeLate(c.s)
	}
	c.file.requests, c.file.most = nil, 0
	vfs.ReadRanges(context.Background(), c.open, ranges)
	size := int64(len(c.file.data))
	for i, r := range ranges {
		n := int64(len(r.P))
		damaged := n > 0 && c.file.bad >= r.Off && c.file.bad-r.Off < n
		short := n > 0 && r.Off > size-n
		negative := n > 0 && r.Off < 0
		// a request of an object store fails as a whole
		spread := c.s.queue.remote && len(ranges) > 1 && c.file.bad >= 0
		ok := map[error]bool{nil: !damaged && !short && !negative, syscall.EIO: damaged ||
			spread, io.ErrUnexpectedEOF: short, syscall.EINVAL: negative}
		if !ok[r.Err] || r.Err == nil && n > 0 && !bytes.Equal(r.P, c.file.data[r.Off:r.Off+n]) {
			c.t.Fatalf("%s, ranges %v: range %d is %q, %v", c.what, parts, i, r.P, r.Err)
		}
	}
	if c.late {
		c.checkRequests(parts)
	}
}

// checkRequests checks that each request has a byte of a range at its start and at its end and no large gap, and is no
// longer than it may be.
func (c *rangesCase) checkRequests(parts [][2]int64) {
	c.t.Helper()
	within := func(off int64) bool {
		for _, p := range parts {
			if off >= p[0] && off-p[0] < p[1] {
				return true
			}
		}
		return false
	}
	for _, q := range c.file.requests {
		last := q.off + int64(q.n) - 1
		if q.off < 0 || last < 0 {
			continue // it fails
		}
		wide := last/2-q.off/2+1 > 2 // pages
		for off := q.off; off < last; off++ {
			wide = wide || !within(off) && !within(off+1)
		}
		if wide || !within(q.off) || !within(last) {
			c.t.Fatalf("%s, ranges %v: requests %v", c.what, parts, c.file.requests)
		}
	}
	if c.file.most > 8 && !within(-1) && !within(math.MaxInt64-1) && !within(math.MinInt64) {
		c.t.Fatalf("%s, ranges %v: %d bytes are in flight", c.what, parts, c.file.most)
	}
}
