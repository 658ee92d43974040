package pyramid

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// Cubes are written past the page cache where that is faster: the disk writes while blocks are copied or encoded, the
// copy into the page cache is saved, and the sync at the end is short. This file and its neighbours for each system are
// the only place that knows of O_DIRECT.

// minDirectBytes is the least number of bytes that are written past the page cache at a time. The disk is idle between
// two writes, for nearly as long as it needs for a small one.
const minDirectBytes = 256 << 10

// minDirectCube is the least size of cubes that are compressed and written past the page cache, in bytes of voxels.
// Small cubes are many files, which the page cache writes together.
const minDirectCube = 16 << 20

// writeDirectly decides which mags are written past the page cache: those of large cubes, unless cubes are changed.
// Then the page cache has the copy of the old cube. Runs of memory may take a sixteenth of the budget. It returns the
// bytes of these runs.
func (w *writer) writeDirectly() (bytes int64) {
	runs := 0
	for _, m := range w.mags {
		n, run, large := streamRuns, int64(streamBytes), m.grid.Bytes() >= minDirectCube
		if m.raw() { // a run is a group
			n, run = directRuns(w.layer.Jobs), bytesOf(volume.Box{Max: m.group}, m.grid.BlockBytes())
			large = run >= 2*minDirectBytes
		}
		m.direct = m.Under == nil && large && int64(n)*run <= w.layer.Memory/16 && writesDirectly(m.Dir)
		if m.direct {
			runs, bytes = max(runs, n), max(bytes, int64(n)*run)
		}
	}
	if runs > 0 {
		w.disk = newDirectWriter(runs)
		w.assembler = newAssembler(w)
	}
	return bytes
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

// fileRun is what is written to a file at an offset. Where it is written past the page cache, its memory is congruent
// to the offset.
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

// directWriter writes past the page cache, in a goroutine of its own and in the order in which it is asked to. One
// write is in flight: ext4 lets no two writes into a file that grows, and small writes would wait for large ones.
type directWriter struct {
	tasks chan func() error
	free  chan []byte // memory of runs
	ended chan struct{}

	failed chan struct{} // closed after the first error
	err    error         // the first error; valid once failed is closed

	pace pace
}

// directRuns is how many runs of memory cubes need that are not compressed: one is written, one waits, and each worker
// fills one.
func directRuns(workers int) int { return workers + 2 }

// newDirectWriter returns a directWriter with memory for n runs.
func newDirectWriter(n int) *directWriter {
	d := &directWriter{tasks: make(chan func() error, n), free: make(chan []byte, n), ended: make(chan struct{}),
		failed: make(chan struct{})}
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
	if err := d.failure(); err != nil {
		d.free <- b
		return nil, err
	}
	return b, nil
}

// failure returns the first error, if there was one yet.
func (d *directWriter) failure() error {
	select {
	case <-d.failed:
		return d.err
	default:
		return nil
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
	d.do(func() error { f.Close(); return nil })
}

// do has a task done, after those before it. An error of it is an error of the directWriter.
func (d *directWriter) do(task func() error) { d.tasks <- task }

// cause returns the first error of the directWriter instead of an error that reports it, perhaps several times.
func (d *directWriter) cause(err error) error {
	if d != nil && d.err != nil && errors.Is(err, d.err) { // its goroutine has ended
		return d.err
	}
	return err
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

// writeRun writes the whole pages of a run past the page cache, and its ends through it. The other part of the page of
// an end is written with a neighbouring run, at any time.
func (d *directWriter) writeRun(f *cubeFile, r fileRun) error {
	head, pages, tail := r.split()
	if f.direct == nil || len(pages.bytes) < minDirectBytes || d.pace.slow.Load() {
		return writeAt(f, r.bytes, r.offset)
	}
	start := time.Now()
	_, err := f.direct.WriteAt(pages.bytes, pages.offset)
	d.pace.add(len(pages.bytes), time.Since(start))
	// this disk has larger sectors, or this file system cannot
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EOPNOTSUPP) {
		f.closeDirect()
		return writeAt(f, r.bytes, r.offset)
	}
	if err != nil {
		return err
	}
	return errors.Join(writeAt(f, head.bytes, head.offset), writeAt(f, tail.bytes, tail.offset))
}
