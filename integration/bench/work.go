package main

import (
	"context"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// dd reads the whole file and measures GB/s.
func dd(ctx context.Context, r reading) (turn, error) {
	return timeCommand(ctx, r.grid.Bytes(), "dd", "if="+r.path, "of=/dev/null", "bs=1M")
}

// sumWhole reads the whole file for its CRC.
func sumWhole(_ context.Context, r reading) (turn, error) {
	sum := crc32.NewIEEE()
	err := copyFile(sum, r.path)
	return turn{sum: sum.Sum32()}, err
}

const (
	page     = 4 << 10
	maxReads = 512
)

// offsets returns the offsets of random pages of the flat file. No two pages share a row of blocks, so no read finds a
// decoded block.
func offsets(g volume.Grid) []int64 {
	row := int64(g.Size[0] * g.VoxelBytes())
	seen := map[[2]int]bool{} // rows of blocks, by y and z
	var offsets []int64
	for _, n := range rand.New(rand.NewPCG(1, 2)).Perm(int(g.Bytes() / page)) {
		off := int64(n) * page
		var rows [][2]int
		for n := off / row; n <= (off+page-1)/row; n++ {
			rows = append(rows, [2]int{int(n) % g.Size[1] / blockSide, int(n) / g.Size[1] / blockSide})
		}
		if slices.ContainsFunc(rows, func(row [2]int) bool { return seen[row] }) {
			continue
		}
		for _, row := range rows {
			seen[row] = true
		}
		if offsets = append(offsets, off); len(offsets) == maxReads {
			break
		}
	}
	return offsets
}

// preads reads pages at random offsets, one after the other: the figures are the median time and that of the 99th
// percentile.
func preads(ctx context.Context, r reading) (t turn, err error) {
	f, err := os.Open(r.path)
	if err != nil {
		return t, err
	}
	defer f.Close()
	var micros []float64
	before := ownTime()
	p := make([]byte, page)
	for _, off := range offsets(r.grid) {
		start := time.Now()
		if _, err := f.ReadAt(p, off); err != nil {
			return t, err
		}
		micros = append(micros, time.Since(start).Seconds()*1e6)
		t.sum = crc32.Update(t.sum, crc32.IEEETable, p)
		t.Bytes += page
	}
	t.CPU = ownTime() - before
	slices.Sort(micros)
	t.Values = []float64{median(micros), micros[len(micros)*99/100]}
	return t, ctx.Err()
}
