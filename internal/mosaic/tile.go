package mosaic

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// tile is a cube of a mosaic that is open, or being opened.
type tile struct {
	at   volume.Vec
	busy int           // readers in it; under Mosaic.mu, as what follows
	rest *list.Element // in Mosaic.idle while it is in no use

	opened chan struct{} // closed when what follows is final: readers of this cube wait for it, and no others
	file   volume.CubeFile
	err    error
}

const (
	// maxTiles is how many cubes a mosaic keeps open beyond those in use. If the process may not have so many files open, they
	// are fewer.
	maxTiles = 256

	// linger is for how long cubes stay open after the last file that reads from them was closed. Readers of boxes and of
	// planes open one file after the other.
	linger = 5 * time.Second
)

// acquire returns the cube, open, for the caller to release; nil where there is none.
func (m *Mosaic) acquire(ctx context.Context, c volume.Vec) (*tile, error) {
	if known, decided := m.shown.version(c); decided && known == absent {
		return nil, nil
	}
	m.mu.Lock()
	t := m.tiles[c]
	first := t == nil
	if first {
		t = &tile{at: c, opened: make(chan struct{}), err: errors.New("opening it ended in a panic")}
		m.tiles[c] = t
	}
	t.busy++
	if t.rest != nil {
		m.idle.Remove(t.rest)
		t.rest = nil
	}
	m.mu.Unlock()
	if first {
		m.openTile(t)
	}
	select {
	case <-t.opened:
	case <-ctx.Done():
		m.release(t)
		return nil, ctx.Err()
	}
	if t.file != nil {
		return t, nil
	}
	m.forget(t)
	m.release(t)
	return nil, t.err
}

// openTile opens the cube of a tile. If that ends in a panic, the tile has an error: it must not pass for a cube that is absent.
func (m *Mosaic) openTile(t *tile) {
	defer close(t.opened)
	t.file, t.err = m.open(t.at)
}

// open opens the cube in the version that the snapshot has. It returns nil without an error where there is none.
func (m *Mosaic) open(c volume.Vec) (volume.CubeFile, error) {
	known, decided := m.shown.version(c)
	f, err := m.openCube(c)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !decided:
		m.shown.pin(c, absent)
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		m.moved.Store(true)
		return nil, fmt.Errorf("cube %v, which is gone: %w", c, vfs.ErrChanged)
	case err != nil:
		return nil, err
	case decided && f.Version() != known:
		m.moved.Store(true)
		f.Close() // read-only: nothing can be lost
		return nil, fmt.Errorf("cube %v: %w", c, vfs.ErrChanged)
	case m.watch.shared && !m.watch.latest().access.covers(f.Info()):
		// A user who opened the whole may not be allowed to read this part of it.
		m.moved.Store(true)
		f.Close()
		return nil, fmt.Errorf("cube %v: its permissions: %w", c, vfs.ErrChanged)
	}
	m.shown.pin(c, f.Version())
	return f, nil
}

// openCube opens a cube file. Cubes in no use are closed for it if the process may have
// no more files open.
func (m *Mosaic) openCube(c volume.Vec) (volume.CubeFile, error) {
	for {
		f, err := m.mag.OpenCube(c)
		if !errors.Is(err, syscall.EMFILE) || !m.tighten() {
			return f, err
		}
	}
}

// tighten halves how many cubes are kept open, because the process may have no more files open, and closes some. It reports
// whether there was one in no use.
func (m *Mosaic) tighten() bool {
	m.mu.Lock()
	m.most = max(len(m.tiles)/2, 1)
	most := m.most
	m.mu.Unlock()
	closed := m.closeIdle(0)
	for m.closeIdle(most) {
	}
	return closed
}

// forget lets the next reader open the cube anew.
func (m *Mosaic) forget(t *tile) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tiles[t.at] == t {
		delete(m.tiles, t.at)
	}
}

// release takes a reader out of a cube; the cube stays open for the next one.
func (m *Mosaic) release(t *tile) {
	m.mu.Lock()
	t.busy--
	idle := t.busy == 0
	kept := m.tiles[t.at] == t
	if idle && kept && t.file == nil { // opening it failed, and nobody waited for that
		delete(m.tiles, t.at)
		kept = false
	}
	if idle && kept {
		t.rest = m.idle.PushBack(t)
	}
	most := m.most
	if m.closed {
		most = 0
	}
	m.mu.Unlock()
	switch {
	case idle && kept:
		m.closeIdle(most)
	case idle && t.file != nil:
		t.file.Close() // read-only: nothing can be lost
	}
}

// closeIdle closes the cube that was not used for longest, if more than most cubes are in no use.
func (m *Mosaic) closeIdle(most int) bool {
	m.mu.Lock()
	if m.idle.Len() <= most {
		m.mu.Unlock()
		return false
	}
	t := m.idle.Remove(m.idle.Front()).(*tile)
	t.rest = nil
	delete(m.tiles, t.at)
	m.mu.Unlock()
	t.file.Close() // read-only: nothing can be lost
	return true
}

// CloseIdle closes the cubes that are in no use, for those who may open no more files. It reports whether there was one.
func (m *Mosaic) CloseIdle() bool {
	closed := false
	for m.closeIdle(0) {
		closed = true
	}
	return closed
}

// Open counts a file that reads from here.
func (m *Mosaic) Open() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files++
	m.opens++
	m.closed = false
}

// Close counts a file that was closed. A while after the last one, the cubes are closed.
func (m *Mosaic) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files--; m.files == 0 {
		opens := m.opens
		time.AfterFunc(linger, func() { m.closeAll(opens) })
	}
}

// closeAll closes all cubes in no use, unless a file was opened since the time when there were so many opens.
func (m *Mosaic) closeAll(opens int) {
	m.mu.Lock()
	closed := m.opens == opens
	m.closed = closed
	m.mu.Unlock()
	for closed && m.closeIdle(0) {
	}
}
