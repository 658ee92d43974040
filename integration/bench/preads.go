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
	page      = 4 << 10
	mostReads = 512
)

// offsets returns the places of random pages of the flat file, no two of which have a
// block in common: every read has a whole row of blocks to decode.
func (m mag) offsets() []int64 {
	planeRow := int64(m.side) // bytes: one for each voxel
	seen := map[[2]int64]bool{}
	var all []int64
	for _, n := range rand.New(rand.NewPCG(1, 2)).Perm(int(m.bytes() / page)) {
		off := int64(n) * page
		y, z := off/planeRow%int64(m.side), off/planeRow/int64(m.side)
		row := [2]int64{y / blockSide, z / blockSide}
		if !seen[row] {
			seen[row] = true
			all = append(all, off)
		}
		if len(all) == mostReads {
			break
		}
	}
	return all
}

// preads is random access of one reader: how long it waits for 4 KiB.
func (b *bench) preads() job {
	return job{
		name: "4 KiB random preads of E, decoded-cold",
		figures: []figure{
			{"µs, p50", []bound{atMost(1.5, squashfsName)}},
			{"µs, p99", []bound{atMost(3, squashfsName)}},
		},
		setup: func(ctx context.Context) ([]contender, error) {
			e, err := b.openEM(ctx)
			if err != nil {
				return nil, err
			}
			offsets := e.mag.offsets()
			return e.shows(b, decodedCold, func(ctx context.Context, r reading) (turn, error) {
				waits, sum, err := readPages(ctx, r.path, offsets, 1)
				if err != nil {
					return turn{}, err
				}
				slices.Sort(waits)
				return turn{values: []float64{micros(waits[len(waits)/2]), micros(waits[len(waits)*99/100])}, sum: sum}, nil
			}), nil
		},
	}
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// manyReaders is random access of 64 readers, beside one.
func (b *bench) manyReaders() job {
	const one, many = "wkwfs, one reader", "wkwfs, 64 readers"
	return job{
		name:    "4 KiB random preads of E by 64 readers, decoded-cold",
		figures: []figure{{"IOPS", []bound{atLeast(1.7, one)}}},
		setup: func(ctx context.Context) ([]contender, error) {
			e, err := b.openEM(ctx)
			if err != nil {
				return nil, err
			}
			offsets := e.mag.offsets()
			by := func(name string, readers int) contender {
				p := b.wkwfs(e.mag, cubeFile, b.cache)
				p.name = name
				return p.reads(decodedCold, b.cache, func(ctx context.Context, r reading) (turn, error) {
					start := time.Now()
					_, sum, err := readPages(ctx, r.path, offsets, readers)
					return turn{values: []float64{float64(len(offsets)) / time.Since(start).Seconds()}, sum: sum}, err
				})
			}
			return []contender{by(many, 64), by(one, 1)}, nil
		},
	}
}

// readPages has readers read the pages at the offsets, each once. It returns how long
// each of them took, and the sum of their CRCs.
func readPages(ctx context.Context, path string, offsets []int64, readers int) ([]time.Duration, uint32, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	waits := make([]time.Duration, len(offsets))
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
				waits[i] = time.Since(start)
				sum.Add(crc32.ChecksumIEEE(p))
			}
			return ctx.Err()
		})
	}
	err = group.Wait()
	return waits, sum.Load(), err
}
