package cache

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// atOnce is an array that answers at once, or not. It counts its loads in goroutines of readers.
type atOnce struct {
	*array
	answers bool
	own     atomic.Int32 // calls of Fill by a reader
	others  atomic.Int32
}

func (a *atOnce) Speed() vfs.Speed { return vfs.Speed{AtOnce: a.answers} }

func (a *atOnce) Fill(ctx context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	if strings.Contains(string(debug.Stack()), "(*request).read(") {
		a.own.Add(1)
	} else {
		a.others.Add(1)
	}
	a.array.Fill(ctx, blocks, memory)
}

// TestAtOnce: a reader loads few blocks of a source that answers at once in its own goroutine, with one call of Fill,
// and a part of many blocks. It loads no block of another source.
func TestAtOnce(t *testing.T) {
	const blockBytes = 32 << 10
	for _, c := range []struct {
		answers  bool
		blocks   int
		own, all int32 // loads of the reader, or −1 for any number; of all goroutines
	}{
		{true, 1, 1, 1},
		{true, 32, 1, 1},
		{true, ownBytes / blockBytes, 1, 1},
		{true, 4 * ownBytes / blockBytes, -1, 16},
		{false, 1, 0, 1},
		{false, 32, 0, 2},
	} {
		t.Run(fmt.Sprint(c.answers, c.blocks), func(t *testing.T) {
			a := &atOnce{array: newArray(3, volume.Vec{c.blocks, 1, 1}, blockBytes), answers: c.answers}
			src := newTestCache(t, 1<<20).Source(a)
			read := 0
			err := src.Read(t.Context(), slices.Collect(allBlocks(a.array)), IfSeen,
				func(at volume.Vec, voxels []byte) {
					read++
					if !bytes.Equal(voxels, a.content(at)) {
						t.Errorf("block %v is wrong", at)
					}
				})
			if err != nil || read != c.blocks || a.total() != c.blocks {
				t.Errorf("%d blocks read, %d loaded, %v; expected %d", read, a.total(), err, c.blocks)
			}
			own, all := a.own.Load(), a.own.Load()+a.others.Load()
			if all != c.all || c.own >= 0 && own != c.own {
				t.Errorf("%d loads of the reader, %d in all; expected %d, %d", own, all, c.own, c.all)
			}
		})
	}
}

// TestRoundWithoutLoads: a round releases its bytes in flight if another request has started all of its loads.
func TestRoundWithoutLoads(t *testing.T) {
	for _, answers := range []bool{true, false} {
		a := &atOnce{array: newArray(3, volume.Vec{4, 1, 1}, 4096), answers: answers}
		c := newTestCache(t, 1<<20)
		for _, small := range []bool{true, false} {
			flight, err := c.flights.start(t.Context(), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			r := &round{cache: c, flight: flight, small: small}
			r.start(c.Source(a))
			r.release() // newTestCache checks at the end that nothing is in flight
		}
	}
}

// TestAtOncePanics: a panic of such a source becomes the error of the read, as that of any other source.
func TestAtOncePanics(t *testing.T) {
	a := &atOnce{array: newArray(3, volume.Vec{4, 1, 1}, 4096), answers: true}
	a.wait = func(context.Context, volume.Vec) error { panic("broken") }
	_, err := newTestCache(t, 1<<20).Source(a).Block(t.Context(), volume.Vec{1, 0, 0})
	if err == nil || !strings.Contains(err.Error(), "broken") || a.own.Load() != 1 {
		t.Errorf("got %v after %d loads", err, a.own.Load())
	}
}
