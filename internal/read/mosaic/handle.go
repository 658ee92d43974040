package mosaic

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// handle is a cube file that is open or being opened.
type handle struct {
	at    volume.Vec
	users int // acquired and not yet released; guarded by Mosaic.mu. A handle without users is in Mosaic.idle

	opened chan struct{} // closed when file and err are final
	file   volume.CubeFile
	err    error
}

// idleTimeout is how long cubes stay open after the last file of the mosaic was closed. Programs that read boxes or
// slices open one file after another.
const idleTimeout = 5 * time.Second

// acquire returns an open handle of the cube. The caller releases it. It returns nil if there is no cube, or an error.
func (m *Mosaic) acquire(ctx context.Context, c volume.Vec) (*handle, error) {
	if version, known := m.snapshot.version(c); known && version == absent {
		return nil, nil
	}
	h, first := m.use(c)
	if first {
		m.open(h)
	}
	select {
	case <-h.opened:
	case <-ctx.Done():
		m.release(h)
		return nil, ctx.Err()
	}
	if h.file != nil {
		return h, nil
	}
	m.discard(h)
	m.release(h)
	return nil, h.err
}

// use adds a user to the handle of the cube. If first, the handle is new, and the caller has to open it.
func (m *Mosaic) use(c volume.Vec) (h *handle, first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h = m.handles[c]
	if first = h == nil; first {
		h = &handle{at: c, opened: make(chan struct{})}
		m.handles[c] = h
	}
	h.users++
	m.idle.Remove(c)
	return h, first
}

// open opens the cube of a handle. A panic is the error of all who wait for the handle: the cube must not be treated as
// absent.
func (m *Mosaic) open(h *handle) {
	defer close(h.opened)
	h.file, h.err = guard.Call("mosaic.open", func() (volume.CubeFile, error) {
		guard.Pass("mosaic.open")
		return m.openVersion(h.at)
	})
}

// openVersion opens a cube in the version of the snapshot. It returns nil without an error if there is no cube.
func (m *Mosaic) openVersion(c volume.Vec) (volume.CubeFile, error) {
	version, known := m.snapshot.version(c)
	f, err := m.openCube(c)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !known:
		m.snapshot.pin(c, absent)
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		m.outdated.Store(true)
		return nil, fmt.Errorf("cube %v was removed: %w", c, vfs.ErrChanged)
	case err != nil:
		return nil, err
	case known && f.Version() != version:
		m.outdated.Store(true)
		f.Close() // read-only: no data can be lost
		return nil, fmt.Errorf("cube %v: %w", c, vfs.ErrChanged)
	case m.surveyor.shared && !m.surveyor.last().access.Within(f.Info()):
		// The user who opened the whole may not be allowed to read this cube.
		m.outdated.Store(true)
		f.Close()
		return nil, fmt.Errorf("cube %v: its permissions: %w", c, vfs.ErrChanged)
	}
	m.snapshot.pin(c, f.Version())
	return f, nil
}

// openCube opens a cube file. If the process has too many open files, it closes idle cubes and tries again.
func (m *Mosaic) openCube(c volume.Vec) (volume.CubeFile, error) {
	for {
		f, err := m.mag.OpenCube(c)
		if !errors.Is(err, syscall.EMFILE) || !m.reduceIdle() {
			return f, err
		}
	}
}

// reduceIdle halves how many handles stay open without users, and closes those beyond it, at least one. It returns
// false if no handle is idle.
func (m *Mosaic) reduceIdle() bool {
	closing := m.shrinkIdle()
	closeAll(closing)
	return len(closing) > 0
}

// shrinkIdle removes idle handles for reduceIdle, and returns them.
func (m *Mosaic) shrinkIdle() (closing []*handle) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if oldest, ok := m.idle.RemoveOldest(); ok {
		closing = append(closing, oldest)
	}
	closing = append(closing, m.idle.Resize(int64(max(len(m.handles)/2, 1)))...)
	m.remove(closing)
	return closing
}

// discard makes the next reader open the cube again.
func (m *Mosaic) discard(h *handle) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.handles[h.at] == h {
		delete(m.handles, h.at)
	}
}

// release ends a use of a handle. A handle without users becomes idle. It is closed instead if the mosaic is unused, or
// if the handle was discarded.
func (m *Mosaic) release(h *handle) { closeAll(m.leave(h)) }

// leave removes a user of a handle. It returns the handles to close.
func (m *Mosaic) leave(h *handle) (closing []*handle) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h.users--; h.users > 0 {
		return nil
	}
	switch {
	case m.unused, h.file == nil, m.handles[h.at] != h: // no file: opening failed
		closing = []*handle{h}
	default:
		closing = m.idle.Put(h.at, h, 1)
	}
	m.remove(closing)
	return closing
}

// remove removes handles from the map. The caller holds mu.
func (m *Mosaic) remove(handles []*handle) {
	for _, h := range handles {
		if m.handles[h.at] == h {
			delete(m.handles, h.at)
		}
	}
}

// closeAll closes the files of handles that were removed.
func closeAll(handles []*handle) {
	for _, h := range handles {
		if h.file != nil {
			h.file.Close() // read-only: no data can be lost
		}
	}
}

// CloseIdle closes all idle cubes, and reports whether there was one. It is for callers that have too many open files.
func (m *Mosaic) CloseIdle() bool {
	closing := m.takeIdle(func() bool { return true })
	closeAll(closing)
	return len(closing) > 0
}

// takeIdle removes all idle handles and returns them, if wanted returns true, which is called with mu held.
func (m *Mosaic) takeIdle(wanted func() bool) (handles []*handle) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for wanted() {
		h, ok := m.idle.RemoveOldest()
		if !ok {
			m.remove(handles)
			return handles
		}
		handles = append(handles, h)
	}
	return nil
}

// Open counts an open file that reads from the mosaic. The caller calls Close when the file is closed.
func (m *Mosaic) Open() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files++
	m.opens++
	m.unused = false
}

// Close ends an [Mosaic.Open]. Some seconds after the last file, the cubes are closed.
func (m *Mosaic) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files--; m.files == 0 {
		opens := m.opens
		time.AfterFunc(idleTimeout, guard.Func("mosaic.idle", func() { m.closeUnused(opens) }))
	}
}

// closeUnused closes all idle cubes, unless Open was called again since it had been called opens times.
func (m *Mosaic) closeUnused(opens int) {
	closing := m.takeIdle(func() bool {
		m.unused = m.opens == opens
		return m.unused
	})
	defer closeAll(closing)
	guard.Pass("mosaic.idle")
}
