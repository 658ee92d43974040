package pyramid

import (
	"context"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/wkwfs/wkwfs/internal/small/atomicfile"
	"github.com/wkwfs/wkwfs/volume"
)

// cubes are all cubes of a mag at one z.
type cubes struct {
	m    *mag
	box  volume.Box // of cubes
	list []*cube    // in Fortran order
}

// newCubes returns the cubes with plane z.
func newCubes(m *mag, z int) (*cubes, error) {
	side := m.grid.Size
	at := z / side[2]
	l := &cubes{m: m, box: m.region.Div(side)}
	l.box.Min[2], l.box.Max[2] = at, at+1
	for c := range l.box.All() {
		add, err := newCube(m, c)
		if err != nil {
			l.remove()
			return nil, err
		}
		l.list = append(l.list, add)
	}
	return l, nil
}

// of returns cube c.
func (l *cubes) of(c volume.Vec) *cube { return l.list[c.Sub(l.box.Min).Index(l.box.Size())] }

// flush writes the sub-cubes that come next in their files. All blocks below plane z are in the spool. last means that
// no slab follows.
func (l *cubes) flush(ctx context.Context, z int, last bool) error {
	m := l.m
	done := z/m.grid.Block[2] - l.box.Min[2]*m.Header.CubeBlocks
	if last {
		done = m.Header.CubeBlocks
	}
	var parts []*subCube
	for _, c := range l.list {
		parts = append(parts, c.complete(done)...)
	}
	if err := l.each(ctx, parts, (*subCube).measure); err != nil {
		return err
	}
	for _, p := range parts {
		p.offset = p.cube.end
		p.cube.end += p.bytes
	}
	if done, err := m.assemble(ctx, parts); done || err != nil {
		return err
	}
	return l.each(ctx, parts, (*subCube).write)
}

// each calls do with each part. All workers take part.
func (l *cubes) each(ctx context.Context, parts []*subCube, do func(*subCube, *worker) error) error {
	group, running := errgroup.WithContext(ctx)
	for _, p := range parts {
		if running.Err() != nil {
			break
		}
		k := <-l.m.writer.workers
		group.Go(func() error {
			defer func() { l.m.writer.workers <- k }()
			return do(p, k)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// remove removes the temporary files.
func (l *cubes) remove() {
	for _, c := range l.list {
		c.remove()
	}
}

// closing are cubes that are being closed in the background.
type closing struct {
	cubes *cubes
	group *errgroup.Group
	dirs  map[string]bool // directories with new names that may not be on disk yet
}

// closers is the number of files that are synced at a time. A file system writes them together.
const closers = 16

// start closes cubes in the background, once all that was given to the disk is written. It first waits for those of the
// call before.
func (c *closing) start(l *cubes) error {
	if err := c.wait(); err != nil {
		l.remove()
		return err
	}
	c.cubes, c.group = l, &errgroup.Group{}
	c.group.SetLimit(closers + 1)
	group := c.group
	group.Go(func() error {
		if err := l.m.writer.waitWritten(); err != nil {
			return err
		}
		for _, one := range l.written() {
			c.addDirs(one)
			group.Go(one.finish)
		}
		return nil
	})
	return nil
}

// written returns the cubes that have a file to close. It counts the cubes of zeros.
func (l *cubes) written() (all []*cube) {
	for _, c := range l.list {
		switch {
		case c.kept:
		case c.temp == "":
			l.m.writer.layer.Stats.Empty.Add(1)
		default:
			all = append(all, c)
		}
	}
	return all
}

// addDirs adds the directories that may have a new name because of a cube.
func (c *closing) addDirs(one *cube) {
	if c.dirs == nil {
		c.dirs = map[string]bool{}
	}
	for dir := one.path; dir != one.m.Dir; {
		dir = filepath.Dir(dir)
		c.dirs[dir] = true
	}
}

// syncDirs syncs the directories, so that the names of cubes survive a power failure.
func (c *closing) syncDirs() error {
	var group errgroup.Group
	group.SetLimit(closers)
	for dir := range c.dirs {
		group.Go(func() error { return atomicfile.SyncDir(dir) })
	}
	c.dirs = nil
	return group.Wait()
}

// wait waits until the cubes are on disk. After an error it removes those that are not complete.
func (c *closing) wait() error {
	if c.group == nil {
		return nil
	}
	err := c.group.Wait()
	if err != nil {
		c.cubes.remove()
	}
	c.cubes, c.group = nil, nil
	return err
}
