package pyramid

import "context"

// assembler copies complete sub-cubes out of the spool, in the order of their files, and has them written past the page
// cache. It does that in a goroutine of its own, while the next slabs are encoded. The memory of encoded blocks is used
// again at once.
type assembler struct {
	disk   *directWriter
	worker *worker
	tasks  chan func()
	ended  chan struct{}
}

// assemblerTasks is the number of tasks that wait at most. A mag adds one for each slab that completes sub-cubes.
const assemblerTasks = 64

func newAssembler(w *writer) *assembler {
	a := &assembler{disk: w.disk, worker: &worker{}, tasks: make(chan func(), assemblerTasks),
		ended: make(chan struct{})}
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

// assemble has sub-cubes written in the background. Those of one cube are next to each other in the list and in its
// file. It reports false if they must be written through the page cache: the disk is slow at this, or the spool is too
// large for the memory.
func (m *mag) assemble(ctx context.Context, parts []*subCube) (bool, error) {
	if !m.direct || len(parts) == 0 {
		return m.direct, nil
	}
	if err := m.writer.disk.failure(); err != nil {
		return true, err
	}
	if m.writer.disk.pace.slow.Load() || !m.writer.spool.inMemory() {
		return false, nil
	}
	if err := m.writer.sealChunks(); err != nil || !m.writer.spool.inMemory() {
		return false, err
	}
	m.writer.spool.leave(len(parts))
	m.writer.assembler.tasks <- func() { m.writer.assembler.copy(ctx, parts) }
	return true, nil
}

// sealChunks ends the chunks of all workers, so that another goroutine may read them while workers go on. No worker is
// busy.
func (w *writer) sealChunks() error {
	for range w.layer.Jobs {
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
			err = p.assemble(a.worker, s)
		}
		if err != nil {
			a.disk.do(func() error { return err })
		}
		p.cube.m.writer.spool.leave(-1)
	}
	s.close()
}
