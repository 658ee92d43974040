package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// blockSide is in voxels, for all of the data.
const blockSide = 32

// piece is a mag of equal cubes.
type piece struct {
	name   string     // of its directory
	cubes  volume.Vec // how many there are on each axis
	header wkw.Header // of all cubes
	origin origin
}

// origin is where the voxels of a piece come from.
type origin interface {
	// version returns a text that differs where the voxels differ.
	version(ctx context.Context) (string, error)

	// write writes cube c as a cube file.
	write(ctx context.Context, path string, c volume.Vec) error
}

// mag is a piece that lies in a directory.
type mag struct {
	piece
	dir string
}

// side returns the voxels per side of a cube.
func (p piece) side() int { return p.header.CubeSide() }

// bytes returns the size of all voxels.
func (p piece) bytes() int64 {
	return p.header.Grid().Bytes() * int64(p.cubes[0]*p.cubes[1]*p.cubes[2])
}

// stamp returns a text that differs where the cube files differ. The voxels may have
// changed since the files were made.
func (p piece) stamp(ctx context.Context) (string, error) {
	version, err := p.origin.version(ctx)
	return fmt.Sprintf("%v cubes of %d, %v, %s\n", p.cubes, p.side(), p.header.BlockType, version), err
}

// make writes the mag below dir, unless it is there. It removes an earlier version of
// the mag, and everything that was made of that.
func (p piece) make(ctx context.Context, dir string, say func(string, ...any)) (mag, error) {
	dir = filepath.Join(dir, p.name)
	m := mag{p, filepath.Join(dir, "mag")}
	stamp, err := p.stamp(ctx)
	if err != nil {
		return m, err
	}
	made := filepath.Join(dir, "made")
	if b, err := os.ReadFile(made); err == nil && string(b) == stamp {
		return m, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return m, err
	}
	say("making %s: %v cubes of %d voxels a side", p.name, p.cubes, p.side())
	if err := m.write(ctx); err != nil {
		return m, fmt.Errorf("make %s: %w", dir, err)
	}
	return m, os.WriteFile(made, []byte(stamp), 0o666)
}

// write writes all cubes and their header.
func (m mag) write(ctx context.Context) error {
	if err := needSpace(filepath.Dir(filepath.Dir(m.dir)), m.bytes()); err != nil {
		return err
	}
	for c := range (volume.Box{Max: m.cubes}).All() {
		path := filepath.Join(m.dir, cubeName(c))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := m.origin.write(ctx, path, c); err != nil {
			return err
		}
	}
	return wkw.WriteHeader(filepath.Join(m.dir, "header.wkw"), m.header)
}

// repeat makes a mag of the given number of cubes, unless it is there. The cubes are
// those of m, over and over; put(from, to) makes each.
func (m mag) repeat(name string, cubes volume.Vec, put func(from, to string) error) (mag, error) {
	to := mag{m.piece, filepath.Join(filepath.Dir(m.dir), name)}
	to.cubes = cubes
	if _, err := os.Stat(to.dir); !errors.Is(err, fs.ErrNotExist) {
		return to, err
	}
	part := to.dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return to, err
	}
	for c := range (volume.Box{Max: cubes}).All() {
		from := c.Sub(c.Div(m.cubes).Mul(m.cubes))
		path := filepath.Join(part, cubeName(c))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return to, err
		}
		if err := put(filepath.Join(m.dir, cubeName(from)), path); err != nil {
			return to, err
		}
	}
	if err := wkw.WriteHeader(filepath.Join(part, "header.wkw"), m.header); err != nil {
		return to, err
	}
	return to, os.Rename(part, to.dir)
}

func cubeName(c volume.Vec) string { return fmt.Sprintf("z%d/y%d/x%d.wkw", c[2], c[1], c[0]) }

// stored returns the bytes of all cube files.
func (m mag) stored() (int64, error) {
	var sum int64
	for c := range (volume.Box{Max: m.cubes}).All() {
		info, err := os.Stat(filepath.Join(m.dir, cubeName(c)))
		if err != nil {
			return 0, err
		}
		sum += info.Size()
	}
	return sum, nil
}

// needSpace fails where the disk of dir lacks room for n bytes.
func needSpace(dir string, n int64) error {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return fmt.Errorf("free space of %s: %w", dir, err)
	}
	if free := int64(s.Bavail) * s.Bsize; free < n {
		return fmt.Errorf("%s: %d MiB are needed, %d MiB are free (BENCH_DIR says where the data goes)", dir, n>>20, free>>20)
	}
	return nil
}
