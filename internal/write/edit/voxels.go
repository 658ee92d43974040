package edit

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/writable"
	"github.com/wkwfs/wkwfs/internal/small/atomicfile"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// Voxels is what was written over a mag. It implements [writable.Voxels].
type Voxels struct {
	dir     string // of the mag
	header  fs.FileInfo
	disk    disk
	grid    volume.Grid // of a block
	bounds  volume.Box
	factor  volume.Factor
	base    base
	memory  *memory
	largest *largest // nil: in tests
	bound   int64    // the most bytes that a file of a block takes

	encoders sync.Pool

	generation atomic.Uint64
	changed    atomic.Int64    // ns since 1970; 0: never
	turn       chan struct{}   // has an item while a goroutine syncs
	dirs       map[string]bool // whose names are durable; the goroutine with the turn has it

	mu     sync.RWMutex
	blocks map[volume.Vec]*block // those with a file, and those in memory
	rows   map[rowOfBlocks][]*block
	loaded map[*block]bool // those in memory
	dirty  int64           // of these, how many are not as on the disk
	copies uint64          // calls of copyIn
}

var _ writable.Voxels = (*Voxels)(nil)

// block is a block that has a file, or is in memory. The lock of its Voxels guards it.
type block struct {
	at     volume.Vec
	voxels []byte // nil: not in memory
	pins   int    // of goroutines that need it in memory
	used   uint64 // when it was last used
	stored *file  // nil: there is none
	writes uint64 // that have changed it
	synced uint64 // of these, those that are durable
	copied uint64 // the call of copyIn that has changed it last
}

func (b *block) dirty() bool { return b.writes != b.synced }

// base reads the blocks of the layer.
type base interface {
	// read returns a block in new memory. Voxels outside of the layer are 0.
	read(ctx context.Context, at volume.Vec) ([]byte, error)
}

// slack is more than what a file system needs for the names of a block, in bytes.
const slack = 8 << 10

// openVoxels opens what was written over a mag into the directory data.
func openVoxels(data string, m volume.Mag, c *cache.Cache, memory *memory, l *largest) (*Voxels, error) {
	g, err := m.CubeGrid()
	if err != nil {
		return nil, err
	}
	bounds, err := m.Bounds()
	if err != nil {
		return nil, err
	}
	factor := m.About().Factor
	dir, header, err := openMag(data, factor, g)
	if err != nil {
		return nil, err
	}
	v := newVoxels(dir, header, g, bounds, newLayerBase(m, c), memory, l.disk)
	v.factor, v.largest = factor, l
	return v, v.list()
}

func newVoxels(dir string, header fs.FileInfo, g volume.Grid, bounds volume.Box, b base, m *memory, d disk) *Voxels {
	v := &Voxels{
		dir: dir, header: header, disk: d, bounds: bounds, base: b, memory: m,
		turn: make(chan struct{}, 1), dirs: map[string]bool{}, blocks: map[volume.Vec]*block{},
		rows: map[rowOfBlocks][]*block{}, loaded: map[*block]bool{},
	}
	v.grid = headerOf(g).Grid()
	v.grid.Spacing = g.Spacing
	v.encoders.New = func() any { return wkw.NewEncoder(headerOf(v.grid)) }
	v.bound = int64(wkw.HeaderSize+tableSize+wkw.NewEncoder(headerOf(v.grid)).Bound()) + slack
	m.add(v)
	return v
}

// list finds the blocks in the directory, and removes what a killed process has left.
func (v *Voxels) list() error {
	return filepath.WalkDir(v.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if atomicfile.IsTemp(e.Name()) {
			return os.Remove(path)
		}
		name, err := filepath.Rel(v.dir, path)
		if err != nil {
			return err
		}
		at, ok := parseName(filepath.ToSlash(name))
		if !ok {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		v.put(&block{at: at, stored: fileOf(info)})
		return nil
	})
}

func (v *Voxels) put(b *block) {
	v.blocks[b.at] = b
	row := rowOfBlocks{b.at[1], b.at[2]}
	v.rows[row] = append(v.rows[row], b)
}

func (v *Voxels) forget(b *block) {
	delete(v.blocks, b.at)
	row := rowOfBlocks{b.at[1], b.at[2]}
	rest := slices.DeleteFunc(v.rows[row], func(o *block) bool { return o == b })
	if v.rows[row] = rest; len(rest) == 0 {
		delete(v.rows, row)
	}
}

// Info implements [writable.Voxels].
func (v *Voxels) Info() fs.FileInfo {
	if info, err := os.Stat(v.dir); err == nil {
		return info
	}
	return v.header
}

// Changed implements [writable.Voxels].
func (v *Voxels) Changed() time.Time {
	if ns := v.changed.Load(); ns != 0 {
		return time.Unix(0, ns)
	}
	return time.Time{}
}

func (v *Voxels) array(box volume.Box) array {
	return array{box: box, bounds: v.bounds, voxel: v.grid.VoxelBytes()}
}

// Patch implements [writable.Voxels].
func (v *Voxels) Patch(ctx context.Context, box volume.Box, p []byte, off int64) error {
	if v.isEmpty() {
		return nil
	}
	a := v.array(box)
	written := func(off int64, n int) []volume.Vec { return v.written(a, off, n) }
	return v.pieces(written, p, off, func(p []byte, off int64, touched []volume.Vec) error {
		if len(touched) == 0 {
			return nil
		}
		found, err := v.acquire(ctx, touched)
		defer v.memory.shrink(ctx)
		defer v.release(found)
		if err != nil {
			return err
		}
		v.mu.RLock()
		defer v.mu.RUnlock()
		found.common(a, off, len(p), func(b *block, at, from, n int) bool {
			copy(p[at:at+n], b.voxels[from:])
			return true
		})
		return nil
	})
}

func (v *Voxels) isEmpty() bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.blocks) == 0
}

// written returns those blocks of a range that have a file or are in memory, each once.
func (v *Voxels) written(a array, off int64, n int) (touched []volume.Vec) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	wide := side * a.voxel
	var seen map[*block]bool
	var blocks []*block
	at, first, end := rowOfBlocks{-1}, 0, 0 // the last row, and the part of it that was searched
	a.lines(off, n, func(l line) bool {
		lo, hi := a.inside(l)
		row := rowOf(l)
		if row != at {
			at, first, end, blocks = row, 0, 0, v.rows[row]
		}
		if len(blocks) == 0 || lo >= first && hi <= end {
			return true
		}
		first, end = lo, hi
		for _, b := range blocks {
			if start := b.at[0] * wide; start < hi && start+wide > lo && !seen[b] {
				if seen == nil {
					seen = map[*block]bool{}
				}
				seen[b] = true
				touched = append(touched, b.at)
			}
		}
		return true
	})
	return touched
}

// pieces calls do for parts of a range, in order, that touch no more blocks than may be in use by one call. list
// returns the blocks of a part.
func (v *Voxels) pieces(list func(off int64, n int) []volume.Vec, p []byte, off int64,
	do func(p []byte, off int64, touched []volume.Vec) error) error {
	touched := list(off, len(p))
	if len(touched) > v.memory.share(v.grid.BlockBytes()) && len(p) > 1 {
		half := len(p) / 2
		if err := v.pieces(list, p[:half], off, do); err != nil {
			return err
		}
		return v.pieces(list, p[half:], off+int64(half), do)
	}
	return do(p, off, touched)
}

// acquire pins blocks that were written, and reads them into memory. The caller releases what it returns, also after an
// error.
func (v *Voxels) acquire(ctx context.Context, all []volume.Vec) (*pinned, error) {
	found, missing := v.pin(all, false)
	return found, v.loadAll(ctx, missing)
}

// loadAll reads pinned blocks into memory.
func (v *Voxels) loadAll(ctx context.Context, missing []*block) (failed error) {
	if len(missing) == 0 {
		return nil
	}
	for _, err := range parallel.Each(missing, func(b *block) error { return v.load(ctx, b) }) {
		if err != nil {
			failed = err
		}
	}
	return failed
}

// pin pins blocks, and returns those that are not in memory. If make is false, it leaves out blocks that were not
// written.
func (v *Voxels) pin(all []volume.Vec, make bool) (found *pinned, missing []*block) {
	v.mu.Lock()
	defer v.mu.Unlock()
	found = &pinned{rows: map[rowOfBlocks][]*block{}}
	for _, at := range all {
		b := v.blocks[at]
		switch {
		case !make && (b == nil || b.voxels == nil && b.stored == nil):
			continue // at most, its first write is in progress
		case b == nil:
			b = &block{at: at}
			v.put(b)
		}
		b.pins++
		b.used = v.memory.tick()
		found.add(b)
		if b.voxels == nil {
			missing = append(missing, b)
		}
	}
	return found, missing
}

// release ends the use of blocks. One that was not written, and whose voxels could not be read, is forgotten.
func (v *Voxels) release(found *pinned) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, b := range found.all {
		if b.pins--; b.pins == 0 && b.voxels == nil && b.stored == nil {
			v.forget(b)
		}
	}
}

// load reads a pinned block into memory.
func (v *Voxels) load(ctx context.Context, b *block) error {
	stored := v.storedOf(b)
	var voxels []byte
	var err error
	if stored == nil {
		voxels, err = v.base.read(ctx, b.at)
	} else {
		voxels, err = v.readFile(ctx, b.at)
	}
	if err != nil {
		return fmt.Errorf("block %v of mag %v: %w", b.at, v.factor, err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if b.voxels == nil { // else another goroutine was faster
		v.keep(b, voxels)
	}
	return nil
}

// keep takes voxels as those of a block.
func (v *Voxels) keep(b *block, voxels []byte) {
	b.voxels = voxels
	v.loaded[b] = true
	v.memory.bytes.Add(int64(len(voxels)))
}

func (v *Voxels) storedOf(b *block) *file {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return b.stored
}
