package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// The cubes that are read as flat files, as the table calls them. PERFORMANCE.md says
// what they are.
const (
	dataE = "E"
	dataR = "R"
	dataQ = "Q"
	dataC = "C"
)

// cube is a mag of one cube, and every other file system that shows it.
type cube struct {
	mag
	flat   string // the plain file
	others []peer // other file systems with that file in them
	file   *wkw.File
}

// piece returns what a cube consists of.
func (b *bench) piece(ctx context.Context, data string) (piece, error) {
	switch data {
	case dataR:
		return scannedPiece(ctx, named("scanned", b.sizes.scan), filepath.Join(b.refdata, "l4_blocks/color/2-2-1"), b.sizes.scan)
	case dataQ:
		return scannedPiece(ctx, named("labels", b.sizes.labels), filepath.Join(b.refdata, "l4_blocks/segmentation/2-2-1"), b.sizes.labels)
	case dataC:
		return b.sizes.start(), nil
	}
	return b.sizes.em(), nil
}

// open makes a cube and its images, unless they are there. It compares everybody's bytes
// with those of the cube, once in a run.
func (b *bench) open(ctx context.Context, data string) (*cube, error) {
	if c := b.cubes[data]; c != nil {
		return c, nil
	}
	p, err := b.piece(ctx, data)
	if err != nil {
		return nil, err
	}
	c := &cube{}
	if c.mag, err = p.make(ctx, b.dir, b.say); err != nil {
		return nil, err
	}
	if c.flat, err = c.flatFile(ctx); err != nil {
		return nil, err
	}
	if c.others, err = others(ctx, c.flat); err != nil {
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

// room returns memory for n bytes. All jobs share it, so that the first round finds the
// memory there.
func (b *bench) room(n int64) []byte {
	if int64(len(b.array)) < n {
		b.array = make([]byte, n)
		clear(b.array) // touches each page
	}
	return b.array[:n]
}

// cubeFile is the flat file of a mag's first cube, in a mount of the mag.
const cubeFile = "z0/y0/x0.raw"

// shows returns the contenders that read the cube through a file system: wkwfs, then others.
func (b *bench) shows(c *cube, s state, do work) []contender {
	return read(append(b.pair(c.mag, cubeFile), c.others...), s, do)
}

// dd reads a cube from start to end in a state of the page cache.
func (b *bench) dd(data string, s state, bounds ...bound) job {
	return job{
		name:    "dd of " + data + ", " + s.String(),
		figures: []figure{{"GB/s", bounds}},
		setup: func(ctx context.Context) ([]contender, error) {
			c, err := b.open(ctx, data)
			if err != nil {
				return nil, err
			}
			all := b.shows(c, s, dd)
			if s != cold {
				all = append(all, inMemory(c.flat).reads(s, dd))
			}
			if s != decodedCold {
				return append(all, plain(c.flat).reads(s, dd)), nil
			}
			direct := b.wkwfs(c.mag, cubeFile, b.cache)
			direct.name += ", O_DIRECT"
			return append(all, direct.reads(s, ddDirect), c.decodes(oneThread, func(ctx context.Context) error {
				return decodeFlat(ctx, c.file, allBlocks(c.file), b.room(c.bytes()))
			})), nil
		},
	}
}

// How contenders are called that are no file systems.
const (
	oneThread    = "decoding in one thread" // into flat memory that is there
	decoderOnOne = "decoder alone, 1 thread"
	decoderOnTwo = "decoder alone, 2 threads"
)

// decoder is how fast blocks are decoded, which bounds all other figures.
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

// decodes returns a contender that decodes the whole cube in our own memory.
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
