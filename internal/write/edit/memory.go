package edit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// memory is the memory of the blocks of all mags of a layer.
type memory struct {
	limit int64
	limits

	bytes atomic.Int64
	now   atomic.Uint64

	mu  sync.Mutex
	all []*Voxels
}

// limits bound the memory. Tests make them small.
type limits struct {
	least int64 // bytes that are always allowed
	parts int64 // one call has at most a part of the memory in use
}

var usual = limits{least: 16 << 20, parts: 4}

func newMemory(limit int64) *memory { return &memory{limit: max(limit, usual.least), limits: usual} }

// tick returns a number that is larger than all before.
func (m *memory) tick() uint64 { return m.now.Add(1) }

// share returns how many blocks of some bytes a call may have in use.
func (m *memory) share(block int) int { return int(max(m.limit/m.parts/int64(block), 1)) }

func (m *memory) add(v *Voxels) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, v)
}

// mags returns all mags.
func (m *memory) mags() []*Voxels {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.all)
}

// reserve fails if the disk has no room for all changed blocks and n more of v. It makes changed blocks durable before:
// most take less room than they may.
func (m *memory) reserve(ctx context.Context, v *Voxels, n int64) error {
	if n == 0 || !v.isFull(v.dirtyBlocks()+n) {
		return nil
	}
	for _, o := range m.mags() {
		if err := o.syncAll(ctx); err != nil {
			return err
		}
	}
	if v.isFull(v.dirtyBlocks() + n) {
		return fmt.Errorf("%s: no room for %d more blocks: %w", v.dir, n, errFull)
	}
	return nil
}

// shrink frees memory until it is within the limit, if it can: first of blocks that are as on the disk, then of the
// changed ones that were not used for longest. These become durable. An error is seen by the Sync that has to make them
// durable.
func (m *memory) shrink(ctx context.Context) {
	if m.bytes.Load() <= m.limit {
		return
	}
	m.drop()
	if m.bytes.Load() <= m.limit {
		return
	}
	for _, v := range m.mags() {
		if old := v.oldest(); len(old) > 0 {
			_ = v.sync(ctx, old)
		}
	}
	m.drop()
}

// drop forgets voxels that are as on the disk, those that were not used for longest first, until a quarter of the
// memory is free.
func (m *memory) drop() {
	for _, v := range m.mags() {
		v.drop(func() bool { return m.bytes.Load() > m.limit-m.limit/4 })
	}
}

// drop forgets voxels of blocks that nobody uses and that are not dirty, while more returns true.
func (v *Voxels) drop(more func() bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var clean []*block
	for b := range v.loaded {
		if b.pins == 0 && !b.dirty() {
			clean = append(clean, b)
		}
	}
	slices.SortFunc(clean, func(a, b *block) int { return cmp.Compare(a.used, b.used) })
	for _, b := range clean {
		if !more() {
			return
		}
		v.memory.bytes.Add(-int64(len(b.voxels)))
		delete(v.loaded, b)
		if b.voxels = nil; b.stored == nil {
			v.forget(b)
		}
	}
}

// oldest returns the half of the changed blocks that was not used for longest.
func (v *Voxels) oldest() []*block {
	all := v.dirtyIn(everywhere)
	v.mu.RLock()
	defer v.mu.RUnlock()
	slices.SortFunc(all, func(a, b *block) int { return cmp.Compare(a.used, b.used) })
	return all[:(len(all)+1)/2]
}

// dirtyBlocks returns how many blocks are not durable.
func (v *Voxels) dirtyBlocks() int64 {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.dirty
}
