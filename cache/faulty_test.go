package cache

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// errFault is in the text of all errors of a faulty source.
var errFault = errors.New("fault")

// faulty is a source of a row of blocks. It fills blocks in all the ways that a source may, and in some ways that it
// must not.
type faulty struct {
	grid    volume.Grid
	content uint64        // part of all bytes; the index of the block is the other part
	faults  bool          // Fill and Resolve may fail
	calls   atomic.Uint64 // determines what the next call does
}

func newFaulty(content uint64, blocks, size int, faults bool) *faulty {
	f := &faulty{grid: newArray(0, volume.Vec{blocks, 1, 1}, size).grid, content: content, faults: faults}
	f.calls.Store(content << 32)
	return f
}

func (f *faulty) Grid() volume.Grid { return f.grid }

// absent reports whether a block was never written.
func (f *faulty) absent(at volume.Vec) bool { return at[0]%11 == 7 }

func (f *faulty) mark(at volume.Vec) (m [16]byte) {
	binary.LittleEndian.PutUint64(m[:], f.content)
	binary.LittleEndian.PutUint64(m[8:], uint64(at[0]))
	return m
}

func (f *faulty) write(at volume.Vec, voxels []byte) {
	m := f.mark(at)
	for n := copy(voxels, m[:]); n < len(voxels); n *= 2 {
		copy(voxels[n:], voxels[:n])
	}
}

// matches reports whether these are the voxels of the block.
func (f *faulty) matches(at volume.Vec, voxels []byte) bool {
	if f.absent(at) {
		return voxels == nil
	}
	m := f.mark(at)
	return len(voxels) == f.grid.BlockBytes() && bytes.HasPrefix(voxels, m[:]) &&
		bytes.Equal(voxels[16:], voxels[:len(voxels)-16])
}

// allows reports whether err can be an error of the source.
func (f *faulty) allows(err error) bool {
	return f.faults && (strings.Contains(err.Error(), errFault.Error()) ||
		strings.Contains(err.Error(), "bytes, expected") || errors.Is(err, errGoexit))
}

func (f *faulty) Fill(ctx context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	chance := mix(f.calls.Add(1))
	f.delay(ctx, chance)
	if chance>>8%4 == 0 {
		slices.Reverse(blocks)
	}
	var wg sync.WaitGroup
	for i := range blocks {
		b := &blocks[i]
		switch {
		case ctx.Err() != nil:
			b.Err = ctx.Err()
		case f.absent(b.At):
			if chance>>16%4 == 0 {
				memory(b.At)
			}
		case chance>>28%8 == 0 && b.Shares:
			b.Voxels, b.Shared = make([]byte, f.grid.BlockBytes()), true
			f.write(b.At, b.Voxels)
		case chance>>24%8 == 0:
			wg.Go(func() { f.fill(b, memory) })
		default:
			f.fill(b, memory)
		}
	}
	wg.Wait()
	f.fail(chance>>32, blocks)
}

func (f *faulty) fill(b *volume.Block, memory func(volume.Vec) []byte) {
	b.Voxels = memory(b.At)
	f.write(b.At, b.Voxels)
}

// delay may wait for a moment, or until the load is abandoned.
func (f *faulty) delay(ctx context.Context, chance uint64) {
	switch chance % 16 {
	case 0, 1, 2:
		runtime.Gosched()
	case 3, 4:
		time.Sleep(50 * time.Microsecond)
	case 5:
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
		}
	}
}

// fail may panic, end the goroutine or spoil a block.
func (f *faulty) fail(chance uint64, blocks []volume.Block) {
	if !f.faults {
		return
	}
	b := &blocks[chance>>8%uint64(len(blocks))]
	switch chance % 16 {
	case 0:
		panic(errFault)
	case 1:
		runtime.Goexit()
	case 2, 3:
		b.Err = errFault
	case 4:
		b.Voxels = b.Voxels[:len(b.Voxels)/2]
	}
}

// faultyFile is a faulty source with a version.
type faultyFile struct {
	*faulty
	version vfs.Version
}

func (f faultyFile) Version() vfs.Version { return f.version }

// faultyFiles is a faulty source of files with 8 blocks each. Every third file does not exist. Tests reset known now
// and then.
type faultyFiles struct {
	*faulty
	known *[64]atomic.Bool
}

func (f faultyFiles) Key(at volume.Vec) (volume.Key, bool) {
	file := at[0] / 8
	k := volume.Key{Version: vfs.Version{byte(f.content), byte(file + 1)}, Index: uint64(at[0] % 8)}
	if file%3 == 2 {
		k = volume.Key{}
	}
	return k, f.known[file].Load()
}

func (f faultyFiles) Resolve(ctx context.Context, at volume.Vec) error {
	chance := mix(f.calls.Add(1))
	f.delay(ctx, chance)
	if f.faults {
		switch chance >> 32 % 16 {
		case 0:
			panic(errFault)
		case 1:
			runtime.Goexit()
		case 2:
			return errFault
		}
	}
	f.known[at[0]/8].Store(true)
	return ctx.Err()
}

func (f faultyFiles) matches(at volume.Vec, voxels []byte) bool {
	if at[0]/8%3 == 2 {
		return voxels == nil
	}
	return f.faulty.matches(at, voxels)
}
