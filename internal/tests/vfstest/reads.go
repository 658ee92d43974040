package vfstest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// file reads a file in all ways.
func (s tester) file(name string) {
	s.Helper()
	want := s.e.Files[name]
	f := s.open(name)
	i, err := f.Stat()
	if err != nil {
		s.Fatal(err)
	}
	s.same(name, i, s.stat(name))
	if i.Size() != int64(len(want)) || vfs.StoredOf(i) < 0 || vfs.Unchanged(f, i) != nil {
		s.Errorf("%s: %d bytes, %d of them stored, %v, expected %d", name, i.Size(), vfs.StoredOf(i),
			vfs.Unchanged(f, i), len(want))
	}
	pushed := s.push(name, f)
	for _, off := range offsets(len(want)) {
		for _, n := range []int{1, 100, Page, len(want), len(want) + 1} {
			s.readAt(name, f, off, n)
		}
	}
	if n, err := vfs.ReadAt(s.Context(), f, make([]byte, 1), -1); n != 0 || err == nil || err == io.EOF {
		s.Errorf("%s: %d bytes before the start, %v", name, n, err)
	}
	s.ranges(name, f)
	s.canceled(name, f)
	s.holes(name, f)
	if advisor, ok := f.(vfs.Advisor); ok {
		advisor.WillNeed(0, int64(len(want))+1)
	}
	if err := f.Close(); err != nil {
		s.Errorf("%s: %v", name, err)
	}
	pushed.Store(true)
	s.closedWhileRead(name)
}

// offsets returns the offsets in a file of size bytes around which something may change, in order.
func offsets(size int) []int {
	all := []int{0, 1, Page - 1, Page, 2 * Page, size - 1, size, size + 1}
	all = slices.DeleteFunc(all, func(off int) bool { return off < 0 || off > size+1 })
	slices.Sort(all)
	return slices.Compact(all)
}

// part returns what a read of n bytes at an offset gets.
func part(content []byte, off, n int) []byte {
	return content[min(off, len(content)):min(off+n, len(content))]
}

func (s tester) readAt(name string, f fs.File, off, n int) {
	s.Helper()
	want, p := part(s.e.Files[name], off, n), make([]byte, n)
	got, err := vfs.ReadAt(s.Context(), f, p, int64(off))
	if !bytes.Equal(p[:got], want) || err != nil && err != io.EOF || err == nil && got < n {
		s.Errorf("%s: %d of %d bytes at %d, %v, expected %d", name, got, n, off, err, len(want))
	}
	if c, ok := f.(vfs.ObjectFile); ok && c.ReadCached(p, int64(off)) && !bytes.Equal(p, want) {
		s.Errorf("%s: the cached %d bytes at %d are wrong", name, n, off)
	}
}

// ranges reads many ranges at once, and parts with one request.
func (s tester) ranges(name string, f fs.File) {
	s.Helper()
	content := s.e.Files[name]
	var ranges, inside []vfs.Range
	for at, off := range offsets(len(content)) {
		for _, n := range []int{0, 1, Page + 1} {
			ranges = append(ranges, vfs.Range{Off: int64(off), P: make([]byte, n), Err: errors.New("not read")})
		}
		if off < len(content) {
			inside = append(inside, vfs.Range{Off: int64(off), P: make([]byte, (offsets(len(content))[at+1]-off+1)/2)})
		}
	}
	vfs.ReadRanges(s.Context(), f, ranges)
	for _, r := range ranges {
		want := part(content, int(r.Off), len(r.P))
		switch short := len(want) < len(r.P); {
		case short && !errors.Is(r.Err, io.ErrUnexpectedEOF):
			s.Errorf("%s: range of %d bytes at %d ends after the file: got %v", name, len(r.P), r.Off, r.Err)
		case !short && (r.Err != nil || !bytes.Equal(r.P, want)):
			s.Errorf("%s: range of %d bytes at %d: wrong, or %v", name, len(r.P), r.Off, r.Err)
		}
	}
	p, ok := f.(vfs.ObjectFile)
	if !ok || len(inside) == 0 {
		return
	}
	err := p.ReadParts(s.Context(), inside)
	for _, r := range inside {
		if err != nil || !bytes.Equal(r.P, part(content, int(r.Off), len(r.P))) {
			s.Errorf("%s: part of %d bytes at %d: wrong, or %v", name, len(r.P), r.Off, err)
		}
	}
	if err := p.ReadParts(s.Context(), []vfs.Range{{Off: int64(len(content)), P: make([]byte, 1)}}); !errors.Is(err,
		io.ErrUnexpectedEOF) {
		s.Errorf("%s: a part after the end: %v", name, err)
	}
}

// canceled reads when the context is done: there are the right bytes, or the error is of the context.
func (s tester) canceled(name string, f fs.File) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	want := part(s.e.Files[name], 0, Page)
	p := make([]byte, len(want))
	if _, err := vfs.ReadAt(ctx, f, p, 0); err == nil && !bytes.Equal(p, want) ||
		err != nil && err != io.EOF && vfs.Classify(err) != vfs.Interrupted {
		s.Errorf("%s: a read whose context is done: %v", name, err)
	}
	ranges := []vfs.Range{{P: p}, {P: make([]byte, len(want))}}
	vfs.ReadRanges(ctx, f, ranges)
	for _, r := range ranges {
		if r.Err == nil && !bytes.Equal(r.P, want) || r.Err != nil && vfs.Classify(r.Err) != vfs.Interrupted {
			s.Errorf("%s: a range whose context is done: %v", name, r.Err)
		}
	}
}

// holes walks over the holes of a file: they are zeros, and end at the end of the file.
func (s tester) holes(name string, f fs.File) {
	s.Helper()
	h, ok := f.(vfs.HoleSeeker)
	content := s.e.Files[name]
	size := int64(len(content))
	for at := int64(0); ok && at < size; {
		data, err := h.SeekData(at)
		if err == io.EOF {
			data, err = size, nil
		}
		if err != nil || data < at || data > size || len(bytes.Trim(content[at:data], "\x00")) > 0 {
			s.Errorf("%s: data from %d is at %d, %v", name, at, data, err)
			return
		}
		if at = data; at == size {
			return
		}
		hole, err := h.SeekHole(at)
		if err != nil || hole <= at || hole > size {
			s.Errorf("%s: the hole from %d is at %d, %v", name, at, hole, err)
			return
		}
		at = hole
	}
}

// push takes what the file pushes: whole pages of its content, until it is closed. The caller then stores true in what
// push returns.
func (s tester) push(name string, f fs.File) *atomic.Bool {
	s.Helper()
	closed, content := new(atomic.Bool), s.e.Files[name]
	p, ok := f.(vfs.Pusher)
	if !ok {
		return closed
	}
	sink := vfs.Sink{All: true, Page: Page, Piece: 2 * Page}
	sink.Write = func(p []byte, off int64) bool {
		if closed.Load() || !sink.Takes(off, int64(len(p)), int64(len(content))) ||
			!bytes.Equal(p, part(content, int(off), len(p))) {
			s.Errorf("%s: pushed %d bytes at %d; closed before: %v", name, len(p), off, closed.Load())
		}
		return true
	}
	p.Push(sink)
	for off := 0; off < len(content); off += Page {
		s.readAt(name, f, off, Page)
	}
	return closed
}

// closedWhileRead closes a file while goroutines read it. They get the right bytes or an error.
func (s tester) closedWhileRead(name string) {
	s.Helper()
	f, want := s.open(name), part(s.e.Files[name], 0, Page)
	var readers sync.WaitGroup
	started := make(chan struct{}, 4)
	for range cap(started) {
		readers.Go(func() {
			for range 8 {
				p := make([]byte, len(want))
				if n, err := vfs.ReadAt(s.Context(), f, p, 0); err == nil && !bytes.Equal(p[:n], want) {
					s.Errorf("%s: wrong bytes while it is closed", name)
				}
				select {
				case started <- struct{}{}:
				default:
				}
			}
		})
	}
	<-started
	if err := f.Close(); err != nil {
		s.Errorf("%s: closed while it is read: %v", name, err)
	}
	readers.Wait()
}
