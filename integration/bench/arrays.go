package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// arrayFormat is a format of arrays in which the voxels of a cube are stored again.
type arrayFormat int

const (
	zarr2 arrayFormat = iota // chunks of 64³ in blosc with LZ4, as zarr-python writes them
	zarr3                    // shards of 512³, blocks of 32³ in zstd, as WEBKNOSSOS writes them
)

func (f arrayFormat) String() string { return [...]string{"Zarr 2", "Zarr 3"}[f] }

const (
	chunkSide = 64  // of zarr2, in voxels
	shardSide = 512 // of zarr3; less if the cube has fewer than two shards on an axis
)

// shardSideOf returns the side of the shards of a cube.
func (p piece) shardSideOf() int { return min(shardSide, p.side()/2) }

// array is a cube as an array of another format.
type array struct {
	*cube
	format arrayFormat
	dir    string
	stored []string // files with voxels
	sum    uint32   // CRC of the voxels of the flat file
}

// noArray returns the contenders of a job whose array cannot be made: zarr-python writes those of Zarr 2.
func noArray() []contender { return []contender{{name: "wkwfs", absent: noPython}} }

// array returns a cube as an array. The first call makes the array, unless it exists. The array is nil if nothing can make it.
func (b *bench) array(ctx context.Context, data string, format arrayFormat) (*array, error) {
	w, err := b.flatInput(data)(ctx)
	if err != nil || format == zarr2 && findZarr() == "" {
		return nil, err
	}
	a := &array{cube: &cube{mag: w.mag, flat: w.flat}, format: format}
	if a.file, err = a.openCube(volume.Vec{}); err != nil {
		return nil, err
	}
	if err := a.make(ctx, w); err != nil {
		return nil, err
	}
	if a.stored, err = chunkFiles(a.dir); err != nil {
		return nil, err
	}
	if a.sum, err = sumFile(ctx, a.flat); err != nil {
		return nil, err
	}
	return a, nil
}

// make writes the array, unless it exists.
func (a *array) make(ctx context.Context, w writing) error {
	path := filepath.Join(filepath.Dir(a.flat), "zarr"+strconv.Itoa(2+int(a.format)))
	a.dir = path
	command := func(part string) []string {
		g := a.file.Grid()
		return []string{findZarr(), "-c", zarrProgram, "write", part, a.flat, g.Type.String(), g.Size.String(), strconv.Itoa(chunkSide)}
	}
	if a.format == zarr3 {
		a.dir = filepath.Join(path, "data", "1")
		command = w.importCommand(w.b.program, "--category", "color", "--format", "zarr3", "--cube", strconv.Itoa(a.shardSideOf()))
	}
	return createOnce(path, w.bytes, func(part string) error {
		w.b.progress("making %s", path)
		args := command(part)
		return call(ctx, args[0], args[1:]...)
	})
}

// chunkFiles returns the files in a directory that have chunks or shards.
func chunkFiles(dir string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if name := filepath.Base(path); err == nil && e.Type().IsRegular() && name != "zarr.json" && !strings.HasPrefix(name, ".") {
			paths = append(paths, path)
		}
		return err
	})
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s: expected chunks, found none: %w", dir, os.ErrNotExist)
	}
	return paths, err
}

// arrayPeers returns the measured wkwfs with the array, the wkwfs of -before, and the measured wkwfs with the cube.
func (b *bench) arrayPeers(a *array, file string) []peer {
	peers := b.pair(mag{a.piece, a.dir}, file)
	for i := range peers {
		peers[i].stored = a.stored
	}
	asCube := b.wkwfs(a.mag, file, b.cache)
	asCube.name = asCubeName
	return append(peers, asCube)
}

// The names of contenders beside an array in a mount.
const (
	asCubeName = "wkwfs, the same as WKW"
	codecName  = "codec alone, 2 threads"
	pythonName = "zarr-python, both cores"
)

// ddArray reads the voxels of an array from start to end.
func (b *bench) ddArray(data string, format arrayFormat, bounds ...bound) job {
	return job{
		name:    fmt.Sprintf("dd of %s as %v, decoded-cold", data, format),
		figures: []figure{{"GB/s", bounds}},
		setup: func(ctx context.Context) ([]contender, error) {
			a, err := b.array(ctx, data, format)
			if a == nil {
				return noArray(), err
			}
			peers := b.arrayPeers(a, volumeFile)
			return append(read(peers, decodedCold, dd), a.codecAlone(b), a.readByPython()), b.verify(ctx, a.mag, peers...)
		},
	}
}

// arrayPatches reads small boxes of an array.
func (b *bench) arrayPatches(data string, format arrayFormat, bounds ...bound) job {
	return job{
		name:    fmt.Sprintf("64³ patches of %s as %v, decoded-cold", data, format),
		figures: []figure{{"ms", bounds}},
		setup: func(ctx context.Context) ([]contender, error) {
			a, err := b.array(ctx, data, format)
			if a == nil {
				return noArray(), err
			}
			return append(read(b.arrayPeers(a, ""), decodedCold, func(_ context.Context, r reading) (turn, error) {
				return a.measureBoxFiles(r.path, a.patches())
			}), a.patchesByPython()), nil
		},
	}
}
