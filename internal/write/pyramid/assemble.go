package pyramid

import (
	"context"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// assembler copies complete sub-cubes out of the spool, in the order of their files, and has them written past the page cache. It
// does that in a goroutine of its own, while the next slabs are encoded. The memory of encoded blocks is used again at once.
type assembler struct {
	disk   *directWriter
	worker *worker
	tasks  chan func()
	ended  chan struct{}
}

// assemblerTasks is the number of tasks that wait at most. A mag adds one for each slab that completes sub-cubes.
const assemblerTasks = 64

func newAssembler(w *writer) *assembler {
	a := &assembler{disk: w.disk, worker: &worker{}, tasks: make(chan func(), assemblerTasks), ended: make(chan struct{})}
	go func() {
		defer close(a.ended)
		for task := range a.tasks {
			task()
		}
	}()
	return a
}

// wait waits until the tasks so far are done. What they have written may still wait for the disk.
func (a *assembler) wait() {
	if a == nil {
		return
	}
	done := make(chan struct{})
	a.tasks <- func() { close(done) }
	<-done
}

// end waits until all tasks are done, and ends the goroutine.
func (a *assembler) end() {
	if a != nil {
		close(a.tasks)
		<-a.ended
	}
}

// waitWritten waits until everything that was given to the disk is written, and returns the first error.
func (w *writer) waitWritten() error {
	w.assembler.wait()
	return w.disk.wait()
}

// assemble has sub-cubes written in the background. Those of one cube are next to each other in the list and in its file. It reports
// false if they must be written through the page cache: the disk is slow at this, or the spool is too large for the memory.
func (m *mag) assemble(ctx context.Context, parts []*subCube) (bool, error) {
	if !m.direct || len(parts) == 0 {
		return m.direct, nil
	}
	if err := m.disk.failure(); err != nil {
		return true, err
	}
	if m.disk.pace.slow.Load() || !m.spool.inMemory() {
		return false, nil
	}
	if err := m.sealChunks(); err != nil || !m.spool.inMemory() {
		return false, err
	}
	m.spool.leave(len(parts))
	m.assembler.tasks <- func() { m.assembler.copy(ctx, parts) }
	return true, nil
}

// sealChunks ends the chunks of all workers, so that another goroutine may read them while workers go on. No worker is busy.
func (w *writer) sealChunks() error {
	for range w.Jobs {
		k := <-w.workers
		err := w.spool.sealOf(k)
		w.workers <- k
		if err != nil {
			return err
		}
	}
	return nil
}

// copy copies sub-cubes of one mag.
func (a *assembler) copy(ctx context.Context, parts []*subCube) {
	s := &stream{disk: a.disk}
	for _, p := range parts {
		err := ctx.Err()
		if err == nil && a.disk.failure() == nil {
			err = a.copyPart(s, p)
		}
		if err != nil {
			a.disk.do(func() error { return err })
		}
		p.cube.m.spool.leave(-1)
	}
	s.close()
}

func (a *assembler) copyPart(s *stream, p *subCube) error {
	if err := s.open(p); err != nil {
		return err
	}
	blocks, err := p.blocks(a.worker)
	if err != nil {
		return err
	}
	ends, end := make([]uint64, len(blocks)), uint64(0)
	for i, b := range blocks {
		if err := s.add(b); err != nil {
			return err
		}
		end += uint64(len(b))
		ends[i] = end
	}
	f := s.file
	a.disk.do(func() error { return p.cube.m.layout.writeTable(f.File, p, ends) })
	return p.release()
}

// blocks returns the stored blocks in Morton order. They are in the spool until release.
func (p *subCube) blocks(k *worker) ([][]byte, error) {
	m := p.cube.m
	side := m.subCubeSide()
	all := make([][]byte, side*side*side)
	err := p.rows(func(y, z int, r run) error {
		stored, err := p.readRow(k, r)
		if err != nil {
			return err
		}
		for x := range side {
			n, b := stored.sizes[x], m.zero
			if n > 0 {
				b, stored.bytes = stored.bytes[:n], stored.bytes[n:]
			}
			all[wkw.MortonIndex(volume.Vec{x, y, z})] = b
		}
		return nil
	})
	return all, err
}

// release gives back the memory of the sub-cube in the spool.
func (p *subCube) release() error {
	return p.rows(func(_, _ int, r run) error {
		if r != 0 {
			p.cube.m.spool.release(r)
		}
		return nil
	})
}
