package main

import (
	"context"
	"time"

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

// openEM makes the cube and its images, unless they are there.
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
	if e.cube, err = m.openCube(m.cubes.Sub(m.cubes)); err != nil {
		return nil, err
	}
	b.em = e
	b.say("comparing everybody's bytes with the cube's")
	for _, p := range append(e.others, b.wkwfs(m, cubeFile, b.cache), inMemory(e.flat), plain(e.flat)) {
		if err := m.verify(ctx, p); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// cubeFile is the flat file of a mag's first cube, in a mount of the mag.
const cubeFile = "z0/y0/x0.raw"

// ddEM reads the cube from start to end in a state of the page cache.
func (b *bench) ddEM(s state, bounds ...bound) job {
	j := job{name: "dd of E, " + s.String(), figures: []figure{{"GB/s", bounds}}}
	j.setup = func(ctx context.Context) ([]contender, error) {
		e, err := b.openEM(ctx)
		if err != nil {
			return nil, err
		}
		all := []contender{b.wkwfs(e.mag, cubeFile, b.cache).reads(s, b.cache, dd)}
		for _, p := range e.others {
			all = append(all, p.reads(s, 0, dd))
		}
		if s != cold {
			all = append(all, inMemory(e.flat).reads(s, 0, dd))
		}
		if s != decodedCold {
			all = append(all, plain(e.flat).reads(s, 0, dd))
		} else {
			all = append(all, e.decodesAll())
		}
		return all, nil
	}
	return j
}

// oneThread is the name of the contender that is no file system: the voxels, decoded
// in one thread into memory that is there.
const oneThread = "decoding in one thread"

// decodesAll decodes the whole cube.
func (e *em) decodesAll() contender {
	return contender{name: oneThread, turn: func(ctx context.Context) (turn, error) {
		if err := cacheFiles(ctx, e.mag.files()); err != nil {
			return turn{}, err
		}
		before, err := ownTime()
		if err != nil {
			return turn{}, err
		}
		start := time.Now()
		if err := decodeFlat(ctx, e.cube, allBlocks(e.cube), e.array); err != nil {
			return turn{}, err
		}
		seconds := time.Since(start).Seconds()
		after, err := ownTime()
		n := int64(len(e.array))
		return turn{values: []float64{float64(n) / 1e9 / seconds}, bytes: n, cpu: after - before}, err
	}}
}
