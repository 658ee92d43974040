package pyramid

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// Cubes that are not compressed are written past the page cache where that is faster: the disk writes while blocks are copied, the
// copy into the page cache is saved, and the sync at the end is short. This file and its neighbours for each system are the only
// place that knows of O_DIRECT.

// minDirectBytes is the least number of bytes that are written past the page cache at a time. The disk is idle between two writes, for
// nearly as long as it needs for a small one.
const minDirectBytes = 256 << 10

// writeDirectly decides which mags are written past the page cache: those whose groups are large, unless cubes are changed. Then the page
// cache has the copy of the old cube.
func (w *writer) writeDirectly() {
	for _, m := range w.mags {
		if !m.raw() || m.Under != nil {
			continue
		}
		group := bytesOf(volume.Box{Max: m.group}, m.grid.BlockBytes())
		fits := int64(directRuns(w.Jobs))*group <= w.Memory/16
		m.direct = fits && group >= 2*minDirectBytes && writesDirectly(m.Dir)
		if m.direct && w.disk == nil {
			w.disk = newDirectWriter(w.Jobs)
		}
	}
}

// cubeFile is a cube file that is open for writing.
type cubeFile struct {
	*os.File
	direct directFile // the same file, past the page cache; nil: there is none
}

// directFile accepts only writes of whole pages, from memory that starts at a page.
type directFile interface {
	io.WriterAt
	io.Closer
}

// Close closes both. The sync before a cube gets its name finds errors of earlier writes.
func (f *cubeFile) Close() {
	f.closeDirect()
	f.File.Close()
}

func (f *cubeFile) closeDirect() {
	if f.direct != nil {
		f.direct.Close()
	}
	f.direct = nil
}

// fileRun is what is written to a file at an offset. Where it is written past the page cache, its memory is congruent to the offset.
type fileRun struct {
	bytes  []byte
	offset int64
}

// split divides a run at the first and after the last whole page.
func (r fileRun) split() (head, pages, tail fileRun) {
	n := len(r.bytes)
	first := min(int(-r.offset&(pageBytes-1)), n)
	end := first + (n-first)/pageBytes*pageBytes
	part := func(from, to int) fileRun { return fileRun{r.bytes[from:to], r.offset + int64(from)} }
	return part(0, first), part(first, end), part(end, n)
}

// directWriter writes past the page cache, in a goroutine of its own and in the order in which it is asked to. One write is in flight:
// ext4 lets no two writes into a file that grows, and small writes would wait for large ones.
type directWriter struct {
	tasks chan func() error
	free  chan []byte // memory of runs
	ended chan struct{}

	failed chan struct{} // closed after the first error
	err    error         // the first error; valid once failed is closed

	pace pace
}

// directRuns is how many runs of memory a directWriter has: one is written, one waits, and each worker fills one.
func directRuns(workers int) int { return workers + 2 }

func newDirectWriter(workers int) *directWriter {
	n := directRuns(workers)
	d := &directWriter{tasks: make(chan func() error, n), free: make(chan []byte, n), ended: make(chan struct{}), failed: make(chan struct{})}
	for range n {
		d.free <- nil
	}
	go d.run()
	return d
}

func (d *directWriter) run() {
	defer close(d.ended)
	for task := range d.tasks {
		if err := task(); err != nil && d.err == nil {
			d.err = err
			close(d.failed)
		}
	}
}

// memory returns memory for write, of any length. It fails if a write has failed.
func (d *directWriter) memory() ([]byte, error) {
	b := <-d.free
	select {
	case <-d.failed:
		d.free <- b
		return nil, d.err
	default:
		return b, nil
	}
}

// write has runs written. Their memory is from memory, and is given back.
func (d *directWriter) write(f *cubeFile, runs []fileRun, memory []byte) {
	d.tasks <- func() error {
		defer func() { d.free <- memory }()
		for _, r := range runs {
			if d.err != nil {
				return nil
			}
			if err := d.writeRun(f, r); err != nil {
				return err
			}
		}
		return nil
	}
}

// close has a file closed, after what was written to it.
func (d *directWriter) close(f *cubeFile) {
	d.tasks <- func() error { f.Close(); return nil }
}

// wait waits until everything is written, and returns the first error.
func (d *directWriter) wait() error {
	if d == nil {
		return nil
	}
	done := make(chan struct{})
	d.tasks <- func() error { close(done); return nil }
	<-done
	return d.err
}

// end waits until everything is written, and ends the goroutine.
func (d *directWriter) end() {
	if d != nil {
		close(d.tasks)
		<-d.ended
	}
}

// writeRun writes the whole pages of a run past the page cache, and its ends through it. The other part of the page of an end is written
// with a neighbouring run, at any time.
func (d *directWriter) writeRun(f *cubeFile, r fileRun) error {
	head, pages, tail := r.split()
	if f.direct == nil || len(pages.bytes) < minDirectBytes {
		return writeAt(f, r.bytes, r.offset)
	}
	start := time.Now()
	_, err := f.direct.WriteAt(pages.bytes, pages.offset)
	d.pace.add(len(pages.bytes), time.Since(start))
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EOPNOTSUPP) { // this disk has larger sectors, or this file system cannot
		f.closeDirect()
		return writeAt(f, r.bytes, r.offset)
	}
	if err != nil {
		return err
	}
	return errors.Join(writeAt(f, head.bytes, head.offset), writeAt(f, tail.bytes, tail.offset))
}

// The speed of writes past the page cache is measured for each paceBytes. A disk that writes fewer than slowBytes in a second may be
// slow because one write is in flight, or because it has to seek: the page cache would write more at a time, in the order of the disk.
const (
	paceBytes = 64 << 20
	slowBytes = 400 << 20
)

// pace is how fast a disk writes.
type pace struct {
	bytes int
	spent time.Duration
	slow  atomic.Bool // it was slow once
}

// add counts a write.
func (p *pace) add(n int, spent time.Duration) {
	p.bytes += n
	p.spent += spent
	if p.bytes < paceBytes {
		return
	}
	if float64(p.bytes) < slowBytes*p.spent.Seconds() {
		p.slow.Store(true)
	}
	p.bytes, p.spent = 0, 0
}
