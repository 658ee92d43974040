package pyramid

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/atomicfile"
	"github.com/wkwfs/wkwfs/volume"
)

// cube is a cube file that is being written.
type cube struct {
	m    *mag
	at   volume.Vec
	path string
	kept bool     // it exists, and stays as it is
	old  *oldCube // the cube that is replaced, or nil
	runs []run    // of each row of blocks; row y, z has index y + n·z, where n is CubeBlocks
	next uint64   // the next sub-cube in Morton order; those before it are written
	end  uint64   // offset of the end of the written blocks in the file

	mu   sync.Mutex
	temp string // name of the file until the cube is complete; "": nothing is written yet
	some bool   // a block is not zeros
}

func newCube(m *mag, at volume.Vec) (*cube, error) {
	n := m.Header.CubeBlocks
	c := &cube{m: m, at: at, end: m.layout.first()}
	c.path = m.File(at)
	switch _, err := os.Lstat(c.path); {
	case err == nil && m.Under != nil:
		if c.old, err = newOldCube(c.path, m.Header); err != nil {
			return nil, err
		}
		c.runs = make([]run, n*n)
		c.some = true
	case err == nil:
		c.kept = true
		m.writer.layer.Stats.Kept.Add(1)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	default:
		c.runs = make([]run, n*n)
	}
	return c, nil
}

// keepsOld reports whether a block is copied from the cube that is replaced.
func (c *cube) keepsOld(b volume.Vec) bool {
	if c.old == nil {
		return false
	}
	at := c.at.Mul(c.m.grid.Blocks()).Add(b).Mul(c.m.grid.Block)
	return !c.m.region.Contains(at)
}

// keep records the run of the row of blocks that starts at b. b is in blocks, from voxel 0,0,0 of the mag.
func (c *cube) keep(b volume.Vec, r run) {
	b = b.Sub(c.at.Mul(c.m.grid.Blocks()))
	c.runs[b[1]+c.m.Header.CubeBlocks*b[2]] = r
	c.mu.Lock()
	defer c.mu.Unlock()
	c.some = true
}

// create opens the temporary file, and creates it first if there is none.
func (c *cube) create() (*os.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.temp != "" {
		return os.OpenFile(c.temp, os.O_RDWR, 0)
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o777); err != nil {
		return nil, err
	}
	f, err := atomicfile.Create(c.path, 0o666)
	if err != nil {
		return nil, err
	}
	c.temp, c.some = f.Name(), true
	if c.old != nil && c.m.raw() {
		return f, c.copyOld(f)
	}
	return f, nil
}

func (c *cube) remove() {
	if c.temp != "" {
		os.Remove(c.temp)
	}
}

// finish gives the file its name, once its content is on disk.
func (c *cube) finish() error {
	f, err := os.OpenFile(c.temp, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(c.m.layout.finish(f, c.end), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := c.rename(); err != nil {
		return err
	}
	c.temp = ""
	c.m.writer.layer.Stats.Written.Add(1)
	return nil
}

// rename gives the file its name. It fails if another process has updated the cube since: on a file system without
// locks.
func (c *cube) rename() error {
	switch {
	case c.m.Under == nil:
		return os.Rename(c.temp, c.path)
	case c.old == nil:
		return atomicfile.RenameNew(c.temp, c.path)
	}
	same, err := c.old.open()
	if err != nil {
		return err
	}
	return errors.Join(same.Close(), os.Rename(c.temp, c.path))
}

// copyOld makes the file a copy of the cube that is replaced.
func (c *cube) copyOld(f *os.File) error {
	old, err := os.Open(c.path)
	if err != nil {
		return err
	}
	defer old.Close() // read-only
	if _, err = io.Copy(f, old); err != nil {
		return err
	}
	same, err := c.old.open() // was that the version that was checked?
	if err != nil {
		return err
	}
	return same.Close()
}
