package hdf5

import (
	"cmp"
	"slices"

	"github.com/wkwfs/wkwfs/internal/small/parallel"
)

const (
	// smallGap is the most bytes between structures that are read together.
	smallGap = 16 << 10
	// maxRun is the most bytes of one request.
	maxRun = 1 << 20
)

// run is a range of the file, with some of the structures that are wanted.
type run struct {
	start, end int64
	b          []byte
	err        error
}

// together returns n bytes from each of the offsets, or fewer at the end of the file. What lies close together is
// read in one request, and the requests are made at the same time: a remote file takes as long for all as for one.
// The offsets are in ascending order.
func (p *pages) together(offsets []int64, n int) ([][]byte, error) {
	var runs []run
	for _, off := range offsets {
		end := min(off+int64(n), p.size)
		if i := len(runs) - 1; i >= 0 && off <= runs[i].end+smallGap && end-runs[i].start <= maxRun {
			runs[i].end = max(runs[i].end, end)
		} else {
			runs = append(runs, run{start: off, end: end})
		}
	}
	i := 0
	for _, r := range parallel.Each(runs, p.readRun) {
		if r.err != nil {
			return nil, r.err
		}
		runs[i] = r
		i++
	}
	all := make([][]byte, len(offsets))
	for k, off := range offsets {
		i, _ := slices.BinarySearchFunc(runs, off, func(r run, off int64) int { return cmp.Compare(r.start, off+1) })
		r := runs[i-1] // the last that starts at off or before
		all[k] = r.b[off-r.start : min(off+int64(n), p.size)-r.start]
	}
	return all, nil
}

// readRun reads a run, from the pages if they are in memory.
func (p *pages) readRun(r run) run {
	n := int(r.end - r.start)
	cached := true
	for i := r.start / pageBytes; cached && i*pageBytes < r.end; i++ {
		cached = p.has(i)
	}
	if cached {
		r.b, r.err = p.read(r.start, n)
		return r
	}
	r.b = make([]byte, n)
	r.err = p.fill(r.b, r.start)
	return r
}
