package store

import (
	"context"
	"io/fs"
	"iter"
	"sync"
	"time"

	boundary "github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// Describe implements [vfs.DescribeFS]. If lookups are late, it has up to Depth of them in flight.
func (s *Scheduled) Describe(dir string, wanted func(name string) bool) iter.Seq2[[]vfs.Described, error] {
	if d, ok := s.fsys.(vfs.DescribeFS); ok && !isLister(s.fsys) {
		return inTurns(s, 0, func() iter.Seq2[[]vfs.Described, error] { return d.Describe(dir, wanted) })
	}
	return func(yield func([]vfs.Described, error) bool) {
		var l *listing
		defer func() {
			if l != nil {
				l.close()
			}
		}()
		batches := inTurns(s, vfs.BatchSize, func() iter.Seq2[[]fs.DirEntry, error] {
			opened, err := openListing(s.fsys, dir)
			if err != nil {
				return func(yield func([]fs.DirEntry, error) bool) { yield(nil, err) }
			}
			l = opened
			return l.batches
		})
		vfs.DescribeBatches(batches, wanted, func(found []vfs.Described) { s.statAll(found, l.stat) })(yield)
	}
}

// statAll describes the entries: one after the other until an answer is late, then the rest at once.
func (s *Scheduled) statAll(found []vfs.Described, stat func(fs.DirEntry) (fs.FileInfo, error)) {
	for late := s.queue.lookups.lateness.late(); len(found) > 0; {
		if late {
			s.statAtOnce(found, stat)
			return
		}
		n := 0
		n, late = s.statInTurn(found[:min(len(found), inTurn)], stat)
		found = found[n:]
	}
}

// statInTurn describes entries in one slot, until an answer is late. It returns how many it described, and
// whether the last answer was late.
func (s *Scheduled) statInTurn(found []vfs.Described, stat func(fs.DirEntry) (fs.FileInfo, error)) (n int, late bool) {
	slot, _ := s.queue.acquire(context.Background(), &s.queue.lookups)
	var took [inTurn]time.Duration
	for start := s.queue.now(); n < len(found) && !late; n++ {
		found[n].Info, found[n].Err = guardedStat(stat, found[n].DirEntry)
		end := s.queue.now()
		took[n], start = end-start, end
		late = s.queue.lookups.lateness.isLateAnswer(took[n], 0)
	}
	s.queue.releaseLookups(slot, took[:n])
	return n, late
}

// statAtOnce describes the entries, as many at a time as there are slots.
func (s *Scheduled) statAtOnce(found []vfs.Described, stat func(fs.DirEntry) (fs.FileInfo, error)) {
	var all sync.WaitGroup
	defer all.Wait()
	for i := range found {
		slot, _ := s.queue.acquire(context.Background(), &s.queue.lookups)
		all.Go(boundary.FuncElse("store.describe", func() {
			s.queue.restart(slot, &s.queue.lookups)
			found[i].Info, found[i].Err = guardedStat(stat, found[i].DirEntry)
			s.queue.release(slot, &s.queue.lookups, 0, timed)
		}, func(err error) { found[i].Err = err }))
	}
}

// guardedStat is stat. A panic is an error.
func guardedStat(stat func(fs.DirEntry) (fs.FileInfo, error), e fs.DirEntry) (fs.FileInfo, error) {
	return boundary.Call("store.describe", func() (fs.FileInfo, error) {
		boundary.Pass("store.describe")
		return stat(e)
	})
}
