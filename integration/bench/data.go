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

// blockSide is the side of all blocks in voxels.
const blockSide = 32

// piece defines a mag of equal cubes.
type piece struct {
	name   string     // of the directory
	cubes  volume.Vec // number of cubes on each axis
	header wkw.Header // of all cubes
	origin origin
}

// origin is the source of the voxels of a piece.
type origin interface {
	// version returns a text that identifies the voxels.
	version(ctx context.Context) (string, error)

	// write writes cube c as a cube file.
	write(ctx context.Context, path string, c volume.Vec) error
}

// mag is a piece that is written to a directory.
type mag struct {
	piece
	dir string
}

// side returns the side of a cube in voxels.
func (p piece) side() int { return p.header.CubeSide() }

// bytes returns the size of all voxels in bytes.
func (p piece) bytes() int64 {
	return p.header.Grid().Bytes() * int64(p.cubes[0]*p.cubes[1]*p.cubes[2])
}

// stamp returns a text that identifies the cube files. make compares it with the stamp of the files on disk.
func (p piece) stamp(ctx context.Context) (string, error) {
	version, err := p.origin.version(ctx)
	return fmt.Sprintf("%v cubes of %d, %v, %s\n", p.cubes, p.side(), p.header.BlockType, version), err
}

// make writes the mag below dir, unless it exists. It first removes an older version of the mag, and all files
// made from that.
func (p piece) make(ctx context.Context, dir string, progress func(string, ...any)) (mag, error) {
	dir = filepath.Join(dir, p.name)
	m := mag{p, filepath.Join(dir, "mag")}
	stamp, err := p.stamp(ctx)
	if err != nil {
		return m, err
	}
	stampFile := filepath.Join(dir, "made")
	if b, err := os.ReadFile(stampFile); err == nil && string(b) == stamp {
		return m, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return m, err
	}
	progress("making %s: %v cubes with a side of %d voxels", p.name, p.cubes, p.side())
	if err := m.write(ctx); err != nil {
		return m, fmt.Errorf("make %s: %w", dir, err)
	}
	return m, os.WriteFile(stampFile, []byte(stamp), 0o666)
}

// write writes all cubes and header.wkw.
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

// repeat makes a mag of the given number of cubes, unless it exists. It repeats the cubes of m on each axis.
// create makes a cube file from the cube file of m.
func (m mag) repeat(name string, cubes volume.Vec, create func(from, to string) error) (mag, error) {
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
		if err := create(filepath.Join(m.dir, cubeName(from)), path); err != nil {
			return to, err
		}
	}
	if err := wkw.WriteHeader(filepath.Join(part, "header.wkw"), m.header); err != nil {
		return to, err
	}
	return to, os.Rename(part, to.dir)
}

// cubeName returns the path of cube c below the directory of its mag.
func cubeName(c volume.Vec) string { return fmt.Sprintf("z%d/y%d/x%d.wkw", c[2], c[1], c[0]) }

// stored returns the size of all cube files in bytes.
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

// needSpace returns an error unless the disk of dir has n free bytes.
func needSpace(dir string, n int64) error {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return fmt.Errorf("free space of %s: %w", dir, err)
	}
	if free := int64(s.Bavail) * s.Bsize; free < n {
		return fmt.Errorf("%s: expected %d MiB of free space, found %d MiB (BENCH_DIR sets the directory of the data)", dir, n>>20, free>>20)
	}
	return nil
}
