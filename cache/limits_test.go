package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// kindOfArray is an array that answers at once, late, or late and with long requests.
type kindOfArray struct {
	*array
	kind int
}

const (
	inTime = iota
	answersAtOnce
	late
	long
)

func (a kindOfArray) Speed() vfs.Speed {
	s := vfs.Speed{AtOnce: a.kind == answersAtOnce, Late: a.kind >= late}
	if a.kind == long {
		s.Long = 64
	}
	return s
}

// TestAllLimits lets several readers read the same few small blocks, with all kinds of small limits. Every block is
// right, the budget is kept, loads are not too large, and all memory is given back.
func TestAllLimits(t *testing.T) {
	n := 0
	for kind := range 4 {
		for _, size := range []int{32, pageSize, 2*pageSize + 1} {
			for _, load := range []int{1, 2, 3} { // blocks; as below
				for _, blocks := range []int{1, 2, 4} {
					for _, round := range []int{0, 2} {
						for _, inFlight := range []int64{1, 100} {
							for _, budget := range []int64{0, 1, 3, 9} {
								if n++; testing.Short() && n%37 != 0 {
									continue
								}
								memory := int64(max(bufferSize(size), overhead))
								l := limits{
									load: load * size, own: (4 - load) * size, round: round * int(memory),
									blocks: blocks, inFlight: inFlight * memory,
									shortTerm: budget * memory / 3, span: pageSize * (1 + n%5), history: 1 << (n % 3),
								}
								runLimits(t, kind, size, 1+n%3, budget*BlockMemory(size), l)
							}
						}
					}
				}
			}
		}
	}
}

func runLimits(t *testing.T, kind, size, batch int, budget int64, l limits) {
	t.Helper()
	const count = 7
	c := newCache(budget, l)
	a := kindOfArray{newArray(1, volume.Vec{count, 1, 1}, size), kind}
	src := c.Source(a)
	what := fmt.Sprintf("kind %d, blocks of %d in batches of %d, budget of %d, %+v", kind, size, batch, budget, l)
	check := func(at volume.Vec, voxels []byte) {
		if !bytes.Equal(voxels, a.content(at)) {
			t.Errorf("%s: block %v: wrong bytes", what, at)
		}
	}
	fail := func(err error) {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	backwards := row(0, count)
	slices.Reverse(backwards)
	var readers sync.WaitGroup
	for _, read := range []func(){
		func() { fail(src.Read(context.Background(), row(0, count), Always, check)) },
		func() {
			for pair := range slices.Chunk(backwards, 2) {
				fail(src.Read(context.Background(), pair, ShortTerm, check))
			}
		},
		func() {
			for part := range slices.Chunk(row(1, count), batch) {
				fail(src.Read(context.Background(), part, IfSeen, check))
			}
		},
		func() {
			memory := count * BlockMemory(size)
			reserved := c.Reserve(memory)
			h, err := src.Hold(row(0, count), HoldOptions{BatchSize: batch})
			if fail(err); err == nil {
				fail(h.WaitAll(context.Background()))
				for i, voxels := range h.Voxels() {
					check(volume.Vec{i, 0, 0}, voxels)
				}
				h.Close()
			}
			if reserved {
				c.Unreserve(memory)
			}
		},
	} {
		readers.Go(read)
	}
	readers.Wait()
	fail(src.Read(context.Background(), row(0, count), Always, check))
	if held := c.Stats().HeldBytes; held > budget {
		t.Errorf("%s: %d bytes are held", what, held)
	}
	most := max(min(max(l.load, l.own)/size, l.blocks), batch)
	for _, fill := range a.fills {
		if len(fill) > most {
			t.Errorf("%s: a load of %d blocks", what, len(fill))
		}
	}
	c.Close()
	checkEmpty(t, c)
}

// TestAllWaits waits for all ranges of the blocks of a hold, also for those that it does not have. It returns an error
// exactly if a batch of the range has a block that cannot be read.
func TestAllWaits(t *testing.T) {
	damaged := errors.New("damaged")
	for count := range 5 {
		for size := 1; size <= 3; size++ {
			for bad := range count + 1 {
				a := newArray(1, volume.Vec{5, 1, 1}, 32)
				a.wait = func(_ context.Context, b volume.Vec) error {
					if b[0] == bad {
						return damaged
					}
					return nil
				}
				h := newHold(t, newTestCache(t, 0).Source(a), row(0, count), size, Never)
				for first := -2; first < 7; first++ {
					for last := -3; last < 7; last++ {
						var want error
						for i := max(first, 0); i <= min(last, count-1); i++ {
							if i/size == bad/size && bad < count {
								want = damaged
							}
						}
						if err := h.Wait(t.Context(), first, last); !errors.Is(err, want) {
							t.Errorf("blocks %d to %d of %d, %d to a batch, block %d is damaged: got %v", first, last,
								count, size, bad, err)
						}
					}
				}
				h.Close()
			}
		}
	}
}
