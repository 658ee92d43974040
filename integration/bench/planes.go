package main

import (
	"context"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"time"
)

// maxPlanes is the number of planes that a turn of xyPlane reads.
const maxPlanes = 8

// xyPlane reads planes across z. No two planes are in the same slab.
func (b *bench) xyPlane(data string) job {
	return job{
		name:    "one xy plane of " + data + ", first touch, decoded-cold",
		figures: []figure{{"ms", []bound{atMost(1.6, decoderOnTwo)}}},
		setup: func(ctx context.Context) ([]contender, error) {
			c, err := b.open(ctx, data)
			if err != nil {
				return nil, err
			}
			planes := c.planes()
			decoder := contender{name: decoderOnTwo, turn: func(ctx context.Context) (turn, error) {
				if err := cacheFiles(ctx, c.files()); err != nil {
					return turn{}, err
				}
				seconds, _, err := timed(func() error { return c.decodeSlabs(ctx, planes) })
				return turn{values: []float64{seconds * 1000 / float64(len(planes))}}, err
			}}
			return append(b.fileSystems(c, decodedCold, func(_ context.Context, r reading) (turn, error) {
				seconds, sum, err := c.readPlanes(r.path, planes, b.buffer(c.planeBytes()))
				return turn{values: []float64{seconds * 1000 / float64(len(planes))}, sum: sum}, err
			}), decoder), nil
		},
	}
}

// planes returns the z of random planes. No two of them have a block in common.
func (m mag) planes() []int {
	r := rand.New(rand.NewPCG(3, 4))
	slabs := r.Perm(m.header.CubeBlocks)
	planes := slabs[:min(maxPlanes, len(slabs))]
	for i := range planes {
		planes[i] = planes[i]*blockSide + r.IntN(blockSide)
	}
	return planes
}

// decodeSlabs decodes the slabs of the planes.
func (c *cube) decodeSlabs(ctx context.Context, planes []int) error {
	for _, z := range planes {
		box := allBlocks(c.file)
		box.Min[2], box.Max[2] = z/blockSide, z/blockSide+1
		if err := decode(ctx, c.file, box, 2); err != nil {
			return err
		}
	}
	return nil
}

// readPlanes reads planes of the flat file into the memory of one plane. It returns the time in seconds and the
// CRC.
func (c *cube) readPlanes(path string, planes []int, plane []byte) (seconds float64, sum uint32, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	for _, z := range planes {
		start := time.Now()
		if _, err := f.ReadAt(plane, int64(z*len(plane))); err != nil {
			return 0, 0, err
		}
		seconds += time.Since(start).Seconds()
		sum = crc32.Update(sum, crc32.IEEETable, plane)
	}
	return seconds, sum, nil
}

// planeBytes returns the size of a plane across z in bytes.
func (p piece) planeBytes() int64 { return p.header.Grid().Bytes() / int64(p.side()) }
