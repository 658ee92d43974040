package main

import (
	"context"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	page     = 4 << 10
	maxReads = 512
)

// offsets returns the offsets of random pages of the flat file. No two pages share a row of blocks, so no read
// finds a decoded block.
func (p piece) offsets() []int64 {
	seen := map[[2]int]bool{}
	var offsets []int64
	for _, n := range rand.New(rand.NewPCG(1, 2)).Perm(int(p.bytes() / page)) {
		off := int64(n) * page
		rows := p.blockRows(off)
		if slices.ContainsFunc(rows, func(row [2]int) bool { return seen[row] }) {
			continue
		}
		for _, row := range rows {
			seen[row] = true
		}
		offsets = append(offsets, off)
		if len(offsets) == maxReads {
			break
		}
	}
	return offsets
}

// blockRows returns the rows of blocks, by y and z, that have voxels in the page at off.
func (p piece) blockRows(off int64) [][2]int {
	row := int64(p.side() * p.header.Grid().VoxelBytes())
	var rows [][2]int
	for n := off / row; n <= (off+page-1)/row; n++ {
		y, z := int(n)%p.side(), int(n)/p.side()
		rows = append(rows, [2]int{y / blockSide, z / blockSide})
	}
	return slices.Compact(rows)
}

// serverCPU is the unit of a figure that only contenders with a server have.
const serverCPU = "server CPU µs a read"

// preads measures random access by one reader: the time of a read of 4 KiB, and the CPU time of the server. p50
// is the maximum of the ratio of median times to squashfs.
func (b *bench) preads(data string, p50 float64, cpu ...bound) job {
	return job{
		name: "4 KiB random preads of " + data + ", decoded-cold",
		figures: []figure{
			{"µs, p50", []bound{atMost(p50, squashfsName)}},
			{"µs, p99", []bound{atMost(3, squashfsName)}},
			{serverCPU, cpu},
		},
		setup: func(ctx context.Context) ([]contender, error) {
			c, err := b.open(ctx, data)
			if err != nil {
				return nil, err
			}
			offsets := c.offsets()
			return b.fileSystems(c, decodedCold, func(ctx context.Context, r reading) (turn, error) {
				var times []time.Duration
				var sum uint32
				cpu, err := r.serverTime(func() (err error) {
					times, sum, err = readPages(ctx, r.path, offsets, 1)
					return err
				})
				if err != nil {
					return turn{}, err
				}
				slices.Sort(times)
				p50, p99 := times[len(times)/2], times[len(times)*99/100]
				return turn{values: []float64{micros(p50), micros(p99), cpu * 1e6 / float64(len(offsets))}, sum: sum}, nil
			}), nil
		},
	}
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// manyReaders compares random access by 64 readers with one reader.
func (b *bench) manyReaders() job {
	const one, many = "wkwfs, one reader", "wkwfs, 64 readers"
	return job{
		name:    "4 KiB random preads of E by 64 readers, decoded-cold",
		figures: []figure{{"IOPS", []bound{atLeast(1.7, one)}}},
		setup: func(ctx context.Context) ([]contender, error) {
			c, err := b.open(ctx, dataE)
			if err != nil {
				return nil, err
			}
			offsets := c.offsets()
			by := func(name string, readers int) contender {
				p := b.wkwfs(c.mag, cubeFile, b.cache)
				p.name = name
				return p.reads(decodedCold, func(ctx context.Context, r reading) (turn, error) {
					start := time.Now()
					_, sum, err := readPages(ctx, r.path, offsets, readers)
					return turn{values: []float64{float64(len(offsets)) / time.Since(start).Seconds()}, sum: sum}, err
				})
			}
			return []contender{by(many, 64), by(one, 1)}, nil
		},
	}
}

// readPages reads the page at each offset once. It returns the time of each read, and the sum of the CRCs of
// the pages.
func readPages(ctx context.Context, path string, offsets []int64, readers int) ([]time.Duration, uint32, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	times := make([]time.Duration, len(offsets))
	var next atomic.Int64
	var sum atomic.Uint32
	group, ctx := errgroup.WithContext(ctx)
	for range readers {
		group.Go(func() error {
			p := make([]byte, page)
			for i := next.Add(1) - 1; i < int64(len(offsets)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				start := time.Now()
				if _, err := f.ReadAt(p, offsets[i]); err != nil {
					return err
				}
				times[i] = time.Since(start)
				sum.Add(crc32.ChecksumIEEE(p))
			}
			return ctx.Err()
		})
	}
	err = group.Wait()
	return times, sum.Load(), err
}
