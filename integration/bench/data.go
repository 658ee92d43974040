package main

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// The names of the datasets, and of their directories. PERFORMANCE.md describes them.
const (
	dataE    = "E"
	dataR    = "R"
	dataQ    = "Q"
	dataMany = "many" // 100,000 cubes
)

// sizes are the sizes of the datasets. Sides are in voxels.
type sizes struct {
	image  int        // side of E and R
	labels int        // side of Q
	many   volume.Vec // cubes
	warm   int        // bytes of memory that are warmed before each turn: three times the flat file of E
}

var (
	usual = sizes{1024, 512, volume.Vec{1000, 100, 1}, 3 << 30}
	tiny  = sizes{128, 128, volume.Vec{10, 10, 1}, 8 << 20}
)

// blockSide is the side of all blocks in voxels.
const blockSide = 32

// The paths of a cube in its mag, and in a mount of the mag. All mags that are read have only this one.
const (
	cubeName = "z0/y0/x0.wkw"
	cubeFile = "z0/y0/x0.raw"
)

// cubeOf returns the path of the cube of a mag.
func cubeOf(mag string) string { return filepath.Join(mag, cubeName) }

// dataset is a mag in a directory.
type dataset struct {
	dir    string // has everything that is made from the mag, too
	mag    string
	stored []string    // the cube; nil: there are many, which are not read
	grid   volume.Grid // of the voxels
	flat   string      // the plain file with the voxels, alone in a directory
	sum    uint32      // CRC of the plain file
}

// data returns a dataset. The first call in a run makes it, unless it exists.
func (b *bench) data(ctx context.Context, name string) (d *dataset, err error) {
	if d := b.datasets[name]; d != nil {
		return d, nil
	}
	switch name {
	case dataMany:
		d, err = b.manyCubes(ctx, name, b.sizes.many)
	case dataE:
		d, err = b.cube(ctx, name, tissue(b.sizes.image))
	case dataR:
		d, err = b.scannedCube(ctx, name, "color", b.sizes.image)
	case dataQ:
		d, err = b.scannedCube(ctx, name, "segmentation", b.sizes.labels)
	}
	if err == nil {
		b.datasets[name] = d
	}
	return d, err
}

// recipe says how a cube is made.
type recipe struct {
	version string     // identifies the voxels
	header  wkw.Header // of the cube
	write   func(ctx context.Context, path string) error
}

// tissue returns the recipe of a cube that is cut from the tissue of package sample.
func tissue(side int) recipe {
	cut := sample.Usual.EM(sample.Cut{Box: volume.Box{Max: volume.Cube(side)}, Block: blockSide, Mag: 1})
	first, err := volume.ReadBlock(context.Background(), cut, volume.Vec{})
	g := cut.Grid()
	return recipe{
		fmt.Sprintf("tissue %08x", crc32.ChecksumIEEE(first)),
		wkw.Header{BlockSide: blockSide, CubeBlocks: side / blockSide, BlockType: wkw.LZ4, Type: g.Type, Channels: 1},
		func(ctx context.Context, path string) error {
			return errors.Join(err, wkw.WriteCube(ctx, path, wkw.LZ4, cut))
		},
	}
}

// cube returns a dataset of one cube. It makes the mag and the plain file, unless those of this version exist.
func (b *bench) cube(ctx context.Context, name string, r recipe) (*dataset, error) {
	dir := filepath.Join(b.dir, name)
	d := &dataset{dir: dir, mag: dir + "/mag", grid: r.header.Grid(), flat: dir + "/flat/x0.raw"}
	d.stored = []string{cubeOf(d.mag)}
	stamp := filepath.Join(dir, "version")
	if made, err := os.ReadFile(stamp); err != nil || string(made) != r.version {
		b.progress("making %s: %v voxels", name, d.grid.Size)
		err := os.RemoveAll(dir)
		if err == nil {
			err = d.make(ctx, r)
		}
		if err == nil {
			err = os.WriteFile(stamp, []byte(r.version), 0o666)
		}
		if err != nil {
			return nil, fmt.Errorf("make %s: %w", dir, err)
		}
	}
	info, err := os.Stat(cubeOf(d.mag))
	if err != nil {
		return nil, err
	}
	ratio := float64(d.grid.Bytes()) / float64(info.Size())
	b.notes = append(b.notes, fmt.Sprintf("%s: %v %.2f ×", name, r.header.BlockType, ratio))
	sum := crc32.NewIEEE()
	err = copyFile(sum, d.flat)
	d.sum = sum.Sum32()
	return d, err
}

// make writes the cube, the header of the mag, and the plain file, one slab of blocks after the other.
func (d *dataset) make(ctx context.Context, r recipe) error {
	err := errors.Join(
		os.MkdirAll(filepath.Dir(cubeOf(d.mag)), 0o777),
		os.MkdirAll(filepath.Dir(d.flat), 0o777),
		wkw.WriteHeader(d.mag+"/header.wkw", r.header),
		r.write(ctx, cubeOf(d.mag)))
	if err != nil {
		return err
	}
	cube, err := d.open()
	if err != nil {
		return err
	}
	defer cube.Close()
	f, err := os.Create(d.flat)
	if err != nil {
		return err
	}
	slab := make([]byte, d.grid.Bytes()/int64(d.grid.Blocks()[2]))
	for _, box := range layers(0, d.grid.Size[2], blockSide)(d.grid) {
		if err = decodeFlat(ctx, cube, box.Div(d.grid.Block), slab); err == nil {
			_, err = f.Write(slab)
		}
		if err != nil {
			break
		}
	}
	return errors.Join(err, f.Close())
}

// open opens the cube.
func (d *dataset) open() (*wkw.File, error) { return wkw.OpenFile(os.DirFS(d.mag), cubeName) }

// filesOfCube is the number of cubes that are links to the same file. File systems limit the links to a file.
const filesOfCube = 30_000

// manyCubes returns a dataset of small cubes that are links to few files.
func (b *bench) manyCubes(ctx context.Context, name string, cubes volume.Vec) (*dataset, error) {
	d := &dataset{dir: filepath.Join(b.dir, name)}
	d.mag = filepath.Join(d.dir, "mag")
	r := tissue(2 * blockSide)
	d.grid = r.header.Grid()
	d.grid.Size = cubes.Mul(d.grid.Size)
	if err := os.MkdirAll(d.dir, 0o777); err != nil {
		return nil, err
	}
	return d, createOnce(d.mag, func(part string) error {
		b.progress("making %s: %v cubes", name, cubes)
		n, last := 0, ""
		for c := range (volume.Box{Max: cubes}).All() {
			path := filepath.Join(part, fmt.Sprintf("z%d/y%d/x%d.wkw", c[2], c[1], c[0]))
			err := os.MkdirAll(filepath.Dir(path), 0o777)
			if n%filesOfCube == 0 {
				err = errors.Join(err, r.write(ctx, path))
				last = path
			} else {
				err = errors.Join(err, os.Link(last, path))
			}
			if err != nil {
				return err
			}
			n++
		}
		return wkw.WriteHeader(filepath.Join(part, "header.wkw"), r.header)
	})
}

// createOnce calls create with a temporary name and renames the file when it is complete. It does nothing if the file
// exists.
func createOnce(path string, create func(part string) error) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	part := path + ".part"
	if err := errors.Join(os.RemoveAll(part), create(part)); err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	return os.Rename(part, path)
}
