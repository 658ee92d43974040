package edit

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// file identifies the file of a block: a file that takes its place differs in one of them.
type file struct {
	fs.FileInfo
	version vfs.Version
}

func fileOf(info fs.FileInfo) *file {
	// The change time is that of the rename, which comes after the description.
	sys, _ := inodeOf(info)
	sum := fmt.Sprint(sys, info.Size(), info.ModTime().UnixNano())
	return &file{info, vfs.Version(shortHash(sum))}
}

// everywhere contains all blocks.
var everywhere = volume.Box{Max: volume.Cube(1 << 60)}

// Sync implements [writable.Voxels].
func (v *Voxels) Sync(ctx context.Context, box volume.Box) error {
	return v.sync(ctx, v.dirtyIn(box.Div(volume.Cube(side))))
}

func (v *Voxels) syncAll(ctx context.Context) error { return v.sync(ctx, v.dirtyIn(everywhere)) }

// dirtyIn returns the blocks in a box of blocks that are not durable.
func (v *Voxels) dirtyIn(box volume.Box) (dirty []*block) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for b := range v.loaded {
		if b.dirty() && box.Contains(b.at) {
			dirty = append(dirty, b)
		}
	}
	return dirty
}

// sync makes blocks durable. Some may have become so since they were listed.
func (v *Voxels) sync(ctx context.Context, dirty []*block) error {
	if len(dirty) == 0 {
		return nil
	}
	select {
	case v.turn <- struct{}{}:
		defer func() { <-v.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return guard.Do("edit.sync", func() error {
		guard.Pass("edit.sync")
		s := &syncing{Voxels: v, dirs: map[string]bool{}, measured: map[*block]uint64{}}
		return s.run(ctx, dirty)
	})
}

// syncing is a Sync in progress.
type syncing struct {
	*Voxels

	mu    sync.Mutex
	done  []renamed
	dirs  map[string]bool // with new names
	fresh map[string]bool // made by this process, as far as it knows

	measured map[*block]uint64 // after which writes the largest id of a block was raised
}

// renamed is a block with a new file, whose name is not durable yet.
type renamed struct {
	*block
	writes uint64 // that are in the file
}

// run writes the files of the blocks, and syncs the directories. Only then do the blocks count as durable.
func (s *syncing) run(ctx context.Context, dirty []*block) error {
	slices.SortFunc(dirty, func(a, b *block) int { return slices.Compare(a.at[:], b.at[:]) })
	if err := s.raiseForAll(ctx, dirty); err != nil {
		return err
	}
	var failed error
	for _, err := range parallel.Each(dirty, func(b *block) error { return s.replace(ctx, b) }) {
		if err != nil && failed == nil {
			failed = err
		}
	}
	if err := s.syncDirs(); err != nil {
		return errors.Join(failed, err)
	}
	s.Voxels.mu.Lock()
	defer s.Voxels.mu.Unlock()
	for _, r := range s.done {
		if r.synced = r.writes; !r.dirty() {
			s.dirty--
		}
	}
	return failed
}

// replace writes the file of a block, unless it has become durable.
func (s *syncing) replace(ctx context.Context, b *block) error {
	voxels, writes := s.copyOf(b)
	if voxels == nil {
		return nil
	}
	if err := s.raiseFor(ctx, b, voxels, writes); err != nil {
		return err
	}
	path := filepath.Join(s.dir, nameOf(b.at))
	if err := s.makeDirs(b.at); err != nil {
		return err
	}
	info, err := s.write(path, voxels)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	s.stored(b, info)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = append(s.done, renamed{b, writes})
	s.dirs[filepath.Dir(path)] = true
	return nil
}

// copyOf returns a copy of the voxels of a block and the number of writes that they have, or nil if all are durable.
func (s *syncing) copyOf(b *block) ([]byte, uint64) {
	s.Voxels.mu.RLock()
	defer s.Voxels.mu.RUnlock()
	if !b.dirty() {
		return nil, 0
	}
	return slices.Clone(b.voxels), b.writes
}

// stored records the file of a block. Readers see it from now on.
func (s *syncing) stored(b *block, info fs.FileInfo) {
	s.Voxels.mu.Lock()
	defer s.Voxels.mu.Unlock()
	b.stored = fileOf(info)
	s.generation.Add(1)
}

// write writes a file with one block.
func (s *syncing) write(path string, voxels []byte) (fs.FileInfo, error) {
	b, err := s.encode(voxels)
	if err != nil {
		return nil, err
	}
	return writeFile(s.disk, path, b)
}

// writeFile writes a new file beside its place, and renames it. It describes the file before that.
func writeFile(d disk, path string, b []byte) (info fs.FileInfo, err error) {
	f, err := d.Create(path)
	if err != nil {
		return nil, err
	}
	named := false
	defer func() {
		if !named {
			_ = d.Remove(f.Name()) // the first error counts
		}
	}()
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		info, err = f.Stat()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	err = d.Rename(f.Name(), path)
	named = err == nil
	return info, err
}

// makeDirs makes the directories of a block.
func (s *syncing) makeDirs(at volume.Vec) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	z := filepath.Join(s.dir, fmt.Sprint("z", at[2]))
	for _, dir := range []string{z, filepath.Join(z, fmt.Sprint("y", at[1]))} {
		if s.Voxels.dirs[dir] {
			continue // its name is durable
		}
		if err := s.disk.Mkdir(dir); err != nil {
			return err
		}
		s.dirs[filepath.Dir(dir)] = true
		if s.fresh == nil {
			s.fresh = map[string]bool{}
		}
		s.fresh[dir] = true
	}
	return nil
}

// syncDirs makes new names durable. A directory comes after those above it.
func (s *syncing) syncDirs() error {
	for _, dir := range slices.Sorted(maps.Keys(s.dirs)) {
		if err := s.disk.SyncDir(dir); err != nil {
			return err
		}
	}
	for dir := range s.fresh {
		s.Voxels.dirs[dir] = true
	}
	return nil
}

// syncAll makes the names of the directories and headers of an edit durable.
func syncAll(d disk, dir, data string, mags []*Voxels) error {
	for _, v := range mags {
		f, err := os.OpenFile(filepath.Join(v.dir, headerName), os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close(), d.SyncDir(v.dir)); err != nil {
			return err
		}
	}
	if err := errors.Join(d.SyncDir(data), d.SyncDir(dir)); err != nil {
		return err
	}
	return d.SyncDir(filepath.Dir(dir))
}

// tableSize is the size of the jump table of a file with one block, in bytes.
const tableSize = 8

// encode returns a file with one block.
func (v *Voxels) encode(voxels []byte) ([]byte, error) {
	h, err := wkw.CubeHeader(headerOf(v.grid))
	if err != nil {
		return nil, err
	}
	b, err := h.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	table := len(b)
	e := v.encoders.Get().(*wkw.Encoder)
	defer v.encoders.Put(e)
	if b, err = e.Encode(append(b, make([]byte, tableSize)...), voxels); err != nil {
		return nil, err
	}
	binary.LittleEndian.PutUint64(b[table:], uint64(len(b)))
	return b, nil
}
