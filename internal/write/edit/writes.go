package edit

import (
	"bytes"
	"context"
	"slices"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// Check implements [writable.Voxels].
func (v *Voxels) Check(box volume.Box, p []byte, off int64) error {
	a := v.array(box)
	return a.checkOutside(p, off)
}

// Write implements [writable.Voxels].
func (v *Voxels) Write(ctx context.Context, box volume.Box, p []byte, off int64) error {
	a := v.array(box)
	if err := a.checkOutside(p, off); err != nil {
		return err
	}
	return v.pieces(a.touched, p, off, func(p []byte, off int64, touched []volume.Vec) error {
		found, missing := v.pin(touched, true)
		defer v.memory.shrink(ctx)
		defer v.release(found)
		if err := v.loadAll(ctx, v.needed(a, found, missing, off, len(p))); err != nil {
			return err
		}
		if err := v.reserve(ctx, a, found, p, off); err != nil {
			return err
		}
		v.copyIn(a, found, p, off)
		return nil
	})
}

// reserve fails if the disk has no room for a write.
func (v *Voxels) reserve(ctx context.Context, a array, found *pinned, p []byte, off int64) error {
	if most := v.cleanOf(found); most == 0 || !v.isFull(v.dirtyBlocks()+most) {
		return nil // also if all of them change
	}
	return v.memory.reserve(ctx, v, v.newlyDirty(a, found, p, off))
}

// cleanOf returns how many blocks are as on the disk.
func (v *Voxels) cleanOf(found *pinned) (n int64) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, b := range found.all {
		if !b.dirty() {
			n++
		}
	}
	return n
}

// newlyDirty returns how many blocks a write would change that are as on the disk now.
func (v *Voxels) newlyDirty(a array, found *pinned, p []byte, off int64) (n int64) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	seen := map[*block]bool{}
	found.common(a, off, len(p), func(b *block, at, from, length int) bool {
		if !b.dirty() && !seen[b] && (b.voxels == nil || !bytes.Equal(b.voxels[from:from+length], p[at:at+length])) {
			seen[b] = true
			n++
		}
		return true
	})
	return n
}

// copyIn copies the bytes of a write that differ into their blocks.
func (v *Voxels) copyIn(a array, found *pinned, p []byte, off int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.copies++
	changed := false
	found.common(a, off, len(p), func(b *block, at, from, n int) bool {
		replaced := b.voxels == nil
		if replaced {
			v.keep(b, make([]byte, v.grid.BlockBytes()))
		}
		to := b.voxels[from : from+n]
		if b.copied != v.copies && !replaced && bytes.Equal(to, p[at:at+n]) {
			return true
		}
		copy(to, p[at:])
		if b.copied == v.copies {
			return true
		}
		if !b.dirty() {
			v.dirty++
		}
		b.copied, changed = v.copies, true
		b.writes++
		return true
	})
	if changed {
		v.changed.Store(time.Now().UnixNano())
	}
}

// needed returns those of the missing blocks that a write has to read. A block with a file need not be read if all of
// it is written. One without is read and compared, because blocks that are as in the layer get no file.
func (v *Voxels) needed(a array, found *pinned, missing []*block, off int64, n int) []*block {
	left := map[*block]int{} // bytes that are not written
	for _, b := range missing {
		if v.storedOf(b) != nil {
			size := b.at.BoxOfOne().Mul(volume.Cube(side)).Intersect(v.bounds).Size()
			left[b] = size[0] * size[1] * size[2] * a.voxel
		}
	}
	if len(left) == 0 {
		return missing
	}
	found.common(a, off, n, func(b *block, _, _, n int) bool {
		if _, ok := left[b]; ok {
			left[b] -= n
		}
		return true
	})
	return slices.DeleteFunc(missing, func(b *block) bool {
		n, ok := left[b]
		return ok && n == 0
	})
}

// isFull reports whether the disk has no room for n files of blocks.
func (v *Voxels) isFull(n int64) bool {
	free, err := v.disk.Free(v.dir)
	return err == nil && free < n*v.bound
}

// errFull is the error of a write for which the disk has no room.
var errFull error = syscall.ENOSPC
