package edit

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/files/nml"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
)

// largest is the largest id in the NML file of a directory, for all mags.
type largest struct {
	disk  disk
	path  string // of the NML file
	layer string
	id    atomic.Uint64 // the file has at least this one; 0: it was not read yet
	turn  chan struct{} // has an item while a goroutine writes the file
}

func newLargest(d disk, path, layer string) *largest {
	return &largest{disk: d, path: path, layer: layer, turn: make(chan struct{}, 1)}
}

// raise makes durable that the largest id is at least n.
func (l *largest) raise(ctx context.Context, n uint64) error {
	if l == nil || n <= l.id.Load() {
		return nil
	}
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if n <= l.id.Load() {
		return nil
	}
	old, err := os.ReadFile(l.path)
	if err != nil {
		return err
	}
	text, err := l.change(old, n)
	if err == nil && !bytes.Equal(text, old) {
		err = l.replace(text)
	}
	if err == nil {
		l.id.Store(n)
	}
	return err
}

// change returns the text of the NML file with a largest id of at least n. The first volume over the layer counts.
func (l *largest) change(text []byte, n uint64) ([]byte, error) {
	done := false
	return nml.Change(text, func(_ int, have map[string]string) (map[string]string, error) {
		changes := map[string]string{}
		if !done && have["fallbackLayer"] == l.layer {
			done = true
			nml.RaiseLargestID(have, changes, n)
		}
		return changes, nil
	})
}

// replace replaces the NML file.
func (l *largest) replace(text []byte) error {
	if _, err := writeFile(l.disk, l.path, text); err != nil {
		return err
	}
	return l.disk.SyncDir(filepath.Dir(l.path))
}

// measured is the largest id of a block after some writes.
type measured struct{ id, writes uint64 }

// raiseForAll raises the largest id for blocks that are about to get files: so the NML file is seldom written.
func (s *syncing) raiseForAll(ctx context.Context, blocks []*block) error {
	if s.largest == nil {
		return nil
	}
	var most uint64
	for b, m := range parallel.Each(blocks, s.measure) {
		s.measured[b] = m.writes
		most = max(most, m.id)
	}
	return s.largest.raise(ctx, most)
}

func (s *syncing) measure(b *block) measured {
	s.Voxels.mu.RLock()
	defer s.Voxels.mu.RUnlock()
	return measured{nml.LargestID(b.voxels, s.grid.Type), b.writes}
}

// raiseFor raises the largest id for a block that is about to get a file, if it was written since it was measured.
func (s *syncing) raiseFor(ctx context.Context, b *block, voxels []byte, writes uint64) error {
	if s.largest == nil || s.measured[b] == writes {
		return nil
	}
	return s.largest.raise(ctx, nml.LargestID(voxels, s.grid.Type))
}
