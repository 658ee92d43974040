package chunked

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// cube is an open cube: the files of its chunks on the channel axis.
type cube struct {
	*Mag
	at      volume.Vec     // in cubes
	parts   []lattice.File // one has no File if it does not exist
	info    fs.FileInfo
	loading chan struct{} // holds an item while a shard index is read
}

var (
	_ volume.CubeFile   = (*cube)(nil)
	_ vfs.SpeedReporter = (*cube)(nil)
)

// OpenCube opens the files of a cube. It does not read them, so it does not find damage.
func (m *Mag) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	if !c.In(m.lattice.Size) {
		return nil, m.NoChunk("open", c[2], c[1], c[0])
	}
	opened := &cube{Mag: m, at: c, loading: make(chan struct{}, 1)}
	var infos []fs.FileInfo
	for k := range m.eachPart {
		p, err := lattice.OpenFile(m.fsys, m.path(c, k))
		if err = vfs.CheckAbsent(m.fsys, ".", p.Name, err); err != nil && !errors.Is(err, fs.ErrNotExist) {
			opened.Close()
			return nil, err
		}
		opened.parts, infos = append(opened.parts, p), append(infos, p.Info)
	}
	var err error
	if opened.info, err = m.cubeInfo(c, infos); err != nil {
		return nil, err
	}
	return opened, nil
}

// Grid returns the geometry of the cube: a whole one, even if it is cut at the end of the array.
func (c *cube) Grid() volume.Grid {
	g := c.grid
	g.Origin = g.CubeBox(c.at).Min
	return g
}

// Info returns the attributes that the files had when they were opened.
func (c *cube) Info() fs.FileInfo { return c.info }

// Version returns the version that the files had when they were opened.
func (c *cube) Version() vfs.Version { return vfs.VersionOf(c.info) }

// Speed implements [vfs.SpeedReporter]. A cube is as slow as the slowest of its files.
func (c *cube) Speed() vfs.Speed {
	slowest := vfs.Speed{Near: true, AtOnce: true}
	for _, p := range c.parts {
		if p.File != nil {
			slowest = slowest.With(vfs.SpeedOf(p.File))
		}
	}
	return slowest
}

// Close closes the files.
func (c *cube) Close() error {
	var errs []error
	for _, p := range c.parts {
		if p.File != nil {
			errs = append(errs, p.Close())
		}
	}
	return errors.Join(errs...)
}

// checkUnchanged fails with volume.ErrChanged if a file changed since it was opened.
func (c *cube) checkUnchanged() error {
	for _, p := range c.parts {
		if p.File == nil {
			continue
		}
		if err := p.CheckUnchanged(); err != nil {
			return err
		}
	}
	return nil
}

func (c *cube) outside(b volume.Vec) error {
	return fmt.Errorf("%s: block %v: the cube has %v blocks", c.path(c.at, c.Mag.parts(c.array)[0]), b, c.grid.Blocks())
}

// blockBox returns the voxels of block b that are in the array, in absolute voxels of the mag. It may be empty.
func (c *cube) blockBox(b volume.Vec) volume.Box {
	lo := c.at.Mul(c.grid.Size).Add(b.Mul(c.grid.Block))
	hi := lo.Add(c.grid.Block).Min(c.size)
	return volume.Box{Min: lo.Add(c.grid.Origin), Max: hi.Add(c.grid.Origin)}
}
