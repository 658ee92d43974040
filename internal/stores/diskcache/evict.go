package diskcache

import (
	"container/heap"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// blockSize is the unit of st_blocks.
	blockSize = 512
	// extentsCost is the most that a file system allocates for the places of the pages of a piece, in bytes. It may do
	// so later.
	extentsCost = 8 << 10
	// nameCost is more than the name of a piece takes in its directory on average, in bytes.
	nameCost = 128
	// dirCost is what a new directory takes, and fixedCost what the directories above the pieces and the files beside
	// them take.
	dirCost   = 4 << 10
	fixedCost = 64 << 10
	// reservePiece is the most that a piece takes besides its pages, in bytes: the first page, places, names,
	// directories.
	reservePiece = pageSize + extentsCost + 16<<10
	// slackShare is the part of the size that an eviction frees, so that the next one is not soon.
	slackShare = 20
	// fewPages is the size of a file whose places need no block of their own.
	fewPages = 4 * pageSize
)

var errFull = errors.New("no room: the cache, or the free space of the disk, is too small")

// cost returns how many bytes of the disk a file takes at most.
func cost(st unix.Stat_t) int64 {
	n := st.Blocks * blockSize
	if n > fewPages {
		n += extentsCost
	}
	return n
}

// reserve returns the most that writing an item takes on the disk, in bytes.
func (i item) reserve() int64 {
	pieces := (i.to-1)/pieceSize - i.from/pieceSize + 1
	return i.to - i.from + pageSize + pieces*reservePiece
}

// makeRoom evicts pieces until the cache can grow by need bytes. It returns the bytes in use. The lock is held.
func (w *writer) makeRoom(need int64) (used int64, err error) {
	used, ok, err := w.usage.load()
	if err != nil {
		return 0, err
	}
	for try := 0; ; try++ {
		lacking, err := w.lacking(used, need)
		if err != nil || ok && lacking <= 0 {
			return used, err
		}
		if ok && try == 2 || need > w.cache.options.Size {
			return used, errFull
		}
		goal := int64(0)
		if lacking > 0 {
			goal = lacking + w.cache.options.Size/slackShare
		}
		if used, err = w.evict(goal); err != nil {
			return used, err
		}
		ok = true
	}
}

// lacking returns how many bytes have to be removed before need bytes can be written.
func (w *writer) lacking(used, need int64) (int64, error) {
	var st unix.Statfs_t
	if err := statfs(w.cache.dir, &st); err != nil {
		return 0, err
	}
	o, unit := w.cache.options, int64(st.Bsize)
	minFree := max(o.MinFree, int64(st.Blocks)/100*unit*int64(o.MinFreePercent))
	return max(used+need+fixedCost-o.Size, minFree+need-int64(st.Bavail)*unit), nil
}

func statfs(dir string, st *unix.Statfs_t) error {
	for {
		err := unix.Statfs(dir, st)
		if err == nil {
			return nil
		}
		if err != unix.EINTR {
			return &fs.PathError{Op: "statfs", Path: dir, Err: err}
		}
	}
}

// evict removes the pieces and indexes that were not used for longest, until it has removed goal bytes. It returns the
// bytes in use.
func (w *writer) evict(goal int64) (used int64, err error) {
	oldest := &candidates{goal: goal}
	used, err = w.scan(oldest)
	if err != nil {
		return 0, err
	}
	for _, p := range oldest.all {
		path := filepath.Join(w.cache.dir, p.path)
		// Its blocks are free at once, even if a reader has it open.
		if err := os.Truncate(path, 0); err != nil && !os.IsNotExist(err) {
			return used, err
		}
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return used, err
		}
		used -= p.cost
		w.cache.counts.evicted.Add(1)
		w.cache.counts.evictedBytes.Add(uint64(p.cost))
	}
	w.cache.counts.used.Store(used)
	return used, w.usage.store(used)
}

// scan adds all pieces and indexes to the candidates. It returns the bytes of all files and directories of the cache.
func (w *writer) scan(oldest *candidates) (used int64, err error) {
	top, err := os.ReadDir(w.cache.dir)
	if err != nil {
		return 0, err
	}
	now := time.Now()
	for _, e := range top {
		if !e.IsDir() {
			continue // part of fixedCost
		}
		n, err := w.scanDir(e.Name(), now, oldest)
		if err != nil {
			return 0, err
		}
		used += n
	}
	return used, nil
}

// scanDir is scan for a directory of pieces.
func (w *writer) scanDir(name string, now time.Time, oldest *candidates) (used int64, err error) {
	dir := filepath.Join(w.cache.dir, name)
	if used, err = costOf(dir); err != nil {
		return 0, err
	}
	d, err := os.Open(dir)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1024)
		for _, file := range names {
			var st unix.Stat_t
			if unix.Lstat(filepath.Join(dir, file), &st) != nil {
				continue // removed meanwhile by a user
			}
			used += cost(st) + nameCost
			if name != indexesDir && !isPieceName(name, file) {
				continue
			}
			last := time.Unix(st.Mtim.Unix())
			if last.After(now.Add(time.Hour)) {
				last = time.Time{} // the clock was wrong: such a piece would stay for long
			}
			oldest.add(candidate{filepath.Join(name, file), last, cost(st) + nameCost})
		}
		if err == io.EOF {
			return used, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

func costOf(path string) (int64, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		if err == unix.ENOENT {
			return 0, nil
		}
		return 0, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return cost(st), nil
}

// candidate is a piece or an index that may be removed.
type candidate struct {
	path string // below the directory of the pieces
	last time.Time
	cost int64
}

// candidates keeps those that were not used for longest, as many as have goal bytes. It is a heap whose first element
// was used last.
type candidates struct {
	goal, sum int64
	all       []candidate
}

var _ heap.Interface = (*candidates)(nil)

func (c *candidates) Len() int           { return len(c.all) }
func (c *candidates) Less(i, j int) bool { return c.all[i].last.After(c.all[j].last) }
func (c *candidates) Swap(i, j int)      { c.all[i], c.all[j] = c.all[j], c.all[i] }
func (c *candidates) Push(x any)         { c.all = append(c.all, x.(candidate)) }

func (c *candidates) Pop() any {
	last := c.all[len(c.all)-1]
	c.all = c.all[:len(c.all)-1]
	return last
}

// add adds a candidate, and drops those used last that are not needed for the goal.
func (c *candidates) add(p candidate) {
	if c.sum >= c.goal && (c.goal <= 0 || !p.last.Before(c.all[0].last)) {
		return
	}
	heap.Push(c, p)
	c.sum += p.cost
	for c.sum-c.all[0].cost >= c.goal {
		c.sum -= heap.Pop(c).(candidate).cost
	}
}
