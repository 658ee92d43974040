package store

import (
	"context"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// readCached fills the ranges that need no request. It returns the others, and their indexes in ranges: those are all
// if the file is no [vfs.ObjectFile]. Ranges of a disk are not joined over gaps, and wait for no slot.
func (f *readable) readCached(ctx context.Context, ranges []vfs.Range) (rest []vfs.Range, index []int) {
	c, ok := f.File.(vfs.ObjectFile)
	if !ok || ctx.Err() != nil {
		return ranges, nil
	}
	for i := range ranges {
		r := &ranges[i]
		if len(r.P) > 0 && c.ReadCached(r.P, r.Off) {
			f.s.queue.near.hit()
			r.Err = nil
			continue
		}
		if len(r.P) > 0 {
			f.s.queue.near.miss()
		}
		rest, index = append(rest, *r), append(index, i)
	}
	return rest, index
}
