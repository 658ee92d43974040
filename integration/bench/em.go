package main

import (
	"context"
	"fmt"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// em is the cube of the image that most jobs read, and everybody who can show it.
type em struct {
	mag    mag
	flat   string // the plain file
	others []peer // other file systems with that file in them
	cube   *wkw.File
	array  []byte // room for all voxels
}

// openEM makes the cube and its images, unless they are there, and compares everybody's
// bytes with it, once.
func (b *bench) openEM(ctx context.Context) (*em, error) {
	if b.em != nil {
		return b.em, nil
	}
	m, err := b.sizes.em().make(ctx, b.dir, b.say)
	if err != nil {
		return nil, err
	}
	e := &em{mag: m, array: make([]byte, m.bytes())}
	clear(e.array) // so that the first round finds the memory there
	if e.flat, err = m.flatFile(ctx); err != nil {
		return nil, err
	}
	if e.others, err = others(ctx, e.flat); err != nil {
		return nil, err
	}
	if e.cube, err = m.openCube(volume.Vec{}); err != nil {
		return nil, err
	}
	b.em = e
	return e, b.verify(ctx, m, append(e.others, b.wkwfs(m, cubeFile, b.cache), inMemory(e.flat), plain(e.flat))...)
}

// cubeFile is the flat file of a mag's first cube, in a mount of the mag.
const cubeFile = "z0/y0/x0.raw"

// shows is the contenders that read the cube through a file system: wkwfs, then others.
func (e *em) shows(b *bench, s state, do work) []contender {
	all := []contender{b.wkwfs(e.mag, cubeFile, b.cache).reads(s, b.cache, do)}
	for _, p := range e.others {
		all = append(all, p.reads(s, 0, do))
	}
	return all
}

// ddEM reads the cube from start to end in a state of the page cache.
func (b *bench) ddEM(s state, bounds ...bound) job {
	return job{
		name:    "dd of E, " + s.String(),
		figures: []figure{{"GB/s", bounds}},
		setup: func(ctx context.Context) ([]contender, error) {
			e, err := b.openEM(ctx)
			if err != nil {
				return nil, err
			}
			all := e.shows(b, s, dd)
			if s == cold {
				return append(all, plain(e.flat).reads(s, 0, dd)), nil
			}
			all = append(all, inMemory(e.flat).reads(s, 0, dd))
			if s == warm {
				return append(all, plain(e.flat).reads(s, 0, dd)), nil
			}
			direct := b.wkwfs(e.mag, cubeFile, b.cache)
			direct.name += ", O_DIRECT"
			return append(all, direct.reads(s, b.cache, ddDirect), e.decodes(oneThread, func(ctx context.Context) error {
				return decodeFlat(ctx, e.cube, allBlocks(e.cube), e.array)
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

// decoder is how fast blocks are decoded, which is what the other figures are made of.
func (b *bench) decoder() job {
	return job{
		name:    "decoding of E, in memory",
		figures: []figure{{unit: "GB/s"}},
		setup: func(ctx context.Context) ([]contender, error) {
			e, err := b.openEM(ctx)
			if err != nil {
				return nil, err
			}
			stored, err := e.mag.stored()
			if err != nil {
				return nil, err
			}
			b.notes = append(b.notes, fmt.Sprintf("E: LZ4 %.2f ×", float64(e.mag.bytes())/float64(stored)))
			on := func(name string, threads int) contender {
				return e.decodes(name, func(ctx context.Context) error { return decode(ctx, e.cube, allBlocks(e.cube), threads) })
			}
			return []contender{on(decoderOnTwo, 2), on(decoderOnOne, 1)}, nil
		},
	}
}

// decodes is a contender that decodes the whole cube in our own memory.
func (e *em) decodes(name string, do func(context.Context) error) contender {
	return contender{name: name, turn: func(ctx context.Context) (turn, error) {
		if err := cacheFiles(ctx, e.mag.files()); err != nil {
			return turn{}, err
		}
		seconds, cpu, err := timed(func() error { return do(ctx) })
		n := e.mag.bytes()
		return turn{values: []float64{float64(n) / 1e9 / seconds}, bytes: n, cpu: cpu}, err
	}}
}
