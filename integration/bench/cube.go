package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// The names of the cubes in the table. PERFORMANCE.md describes them.
const (
	dataE = "E"
	dataR = "R"
	dataQ = "Q"
	dataC = "C"
)

// cube is a mag of one cube, with all other file systems that have its voxels as a file.
type cube struct {
	mag
	flat   string // the plain file
	others []peer // other file systems that contain the plain file
	file   *wkw.File
}

// piece returns the definition of a cube.
func (b *bench) piece(ctx context.Context, data string) (piece, error) {
	switch data {
	case dataR:
		return scannedPiece(ctx, nameWithSize("scanned", b.sizes.scan), filepath.Join(b.refdata, "l4_blocks/color/2-2-1"), b.sizes.scan)
	case dataQ:
		return scannedPiece(ctx, nameWithSize("labels", b.sizes.labels), filepath.Join(b.refdata, "l4_blocks/segmentation/2-2-1"), b.sizes.labels)
	case dataC:
		return b.sizes.start(), nil
	}
	return b.sizes.em(), nil
}

// flat returns a cube as a mag, and the path of its plain file. The first call makes them, unless they exist.
func (b *bench) flat(ctx context.Context, data string) (mag, string, error) {
	p, err := b.piece(ctx, data)
	if err != nil {
		return mag{}, "", err
	}
	m, err := p.make(ctx, b.dir, b.progress)
	if err != nil {
		return m, "", err
	}
	path, err := m.flatFile(ctx)
	return m, path, err
}

// open returns a cube. The first call in a run makes the cube and its images, unless they exist, and compares
// the bytes of all contenders with those of the cube.
func (b *bench) open(ctx context.Context, data string) (*cube, error) {
	if c := b.cubes[data]; c != nil {
		return c, nil
	}
	c := &cube{}
	var err error
	if c.mag, c.flat, err = b.flat(ctx, data); err != nil {
		return nil, err
	}
	if c.others, err = otherFileSystems(ctx, c.flat); err != nil {
		return nil, err
	}
	if c.file, err = c.openCube(volume.Vec{}); err != nil {
		return nil, err
	}
	stored, err := c.stored()
	if err != nil {
		return nil, err
	}
	b.notes = append(b.notes, fmt.Sprintf("%s: %v %.2f ×", data, c.header.BlockType, float64(c.bytes())/float64(stored)))
	b.cubes[data] = c
	return c, b.verify(ctx, c.mag, append(b.pair(c.mag, cubeFile), append(c.others, inMemory(c.flat), plain(c.flat))...)...)
}

// buffer returns memory for n bytes. All jobs share it, so that it is resident before the first round.
func (b *bench) buffer(n int64) []byte {
	if int64(len(b.memory)) < n {
		b.memory = make([]byte, n)
		clear(b.memory) // touches each page
	}
	return b.memory[:n]
}

// cubeFile is the path of a mag's first cube in a mount of the mag.
const cubeFile = "z0/y0/x0.raw"

// fileSystems returns the contenders that read the cube through a file system, wkwfs first.
func (b *bench) fileSystems(c *cube, s state, do work) []contender {
	return read(append(b.pair(c.mag, cubeFile), c.others...), s, do)
}

// dd returns the job that reads a cube from start to end.
func (b *bench) dd(data string, s state, bounds ...bound) job {
	return job{
		name:    "dd of " + data + ", " + s.String(),
		figures: []figure{{"GB/s", bounds}},
		setup: func(ctx context.Context) ([]contender, error) {
			c, err := b.open(ctx, data)
			if err != nil {
				return nil, err
			}
			all := b.fileSystems(c, s, dd)
			if s != cold {
				all = append(all, inMemory(c.flat).reads(s, dd))
			}
			if s != decodedCold {
				return append(all, plain(c.flat).reads(s, dd)), nil
			}
			direct := b.wkwfs(c.mag, cubeFile, b.cache)
			direct.name += ", O_DIRECT"
			return append(all, direct.reads(s, ddDirect), c.decodes(oneThread, func(ctx context.Context) error {
				return decodeFlat(ctx, c.file, allBlocks(c.file), b.buffer(c.bytes()))
			})), nil
		},
	}
}

// The names of contenders that are not file systems.
const (
	oneThread    = "decoding in one thread" // into flat memory that is resident
	decoderOnOne = "decoder alone, 1 thread"
	decoderOnTwo = "decoder alone, 2 threads"
)

// decoder returns the job that decodes blocks in memory. Its speed bounds all other figures.
func (b *bench) decoder() job {
	return job{
		name:    "decoding of E, in memory",
		figures: []figure{{unit: "GB/s"}},
		setup: func(ctx context.Context) ([]contender, error) {
			c, err := b.open(ctx, dataE)
			if err != nil {
				return nil, err
			}
			on := func(name string, threads int) contender {
				return c.decodes(name, func(ctx context.Context) error { return decode(ctx, c.file, allBlocks(c.file), threads) })
			}
			return []contender{on(decoderOnTwo, 2), on(decoderOnOne, 1)}, nil
		},
	}
}

// decodes returns a contender that decodes the whole cube in this process.
func (c *cube) decodes(name string, do func(context.Context) error) contender {
	return contender{name: name, turn: func(ctx context.Context) (turn, error) {
		if err := cacheFiles(ctx, c.files()); err != nil {
			return turn{}, err
		}
		seconds, cpu, err := timed(func() error { return do(ctx) })
		n := c.bytes()
		return turn{values: []float64{float64(n) / 1e9 / seconds}, bytes: n, cpu: cpu}, err
	}}
}
