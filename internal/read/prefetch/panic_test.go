package prefetch

import (
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// TestMain lets no panic be logged.
func TestMain(m *testing.M) {
	guard.LogTo(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// TestPanics injects panics into what is done ahead of readers. All reads have the right bytes, and all memory is given
// back. Of the cases, it tries one of seven, and one of 23 with the race detector: these numbers have no factor in
// common with the number of values of a property. With -every 1, it tries all.
func TestPanics(t *testing.T) {
	// prefetch.off is passed after a panic only.
	step := 7
	switch {
	case *every == 1:
		step = 1
	case voxeltest.Race:
		step = 23
	}
	for _, places := range []string{"prefetch.plan", "prefetch.plan prefetch.off", "prefetch.push", "prefetch.guess",
		"prefetch.series", "prefetch.end"} {
		t.Run(places, func(t *testing.T) {
			before := guard.Count()
			for first := range int32(2) {
				withPanics(t, strings.Fields(places), first, func(t *testing.T, p *Prefetcher) {
					for i := 0; i < int(readerKinds)*int(sinkKinds)*3*3*2*2; i += step {
						i := i
						pick := func(count int) int { p := i % count; i /= count; return p }
						e := enumerated{size: []volume.Vec{{7, 5, 9}, {4, 3, 5}}[pick(2)], block: volume.Cube(2),
							head: 3}
						e.readers, e.sink, e.hint = readerKind(pick(int(readerKinds))), sinkKind(pick(int(sinkKinds))),
							Hint(pick(3))
						e.source, e.settle = []sourceKind{local, late, distant}[pick(3)], pick(2) == 0
						if e.run(t, p); t.Failed() {
							t.Fatal(e)
						}
					}
				})
			}
			if guard.Count() == before {
				t.Error("no read passes this place")
			}
		})
	}
}

// withPanics calls f in a bubble. Places panic when they are passed, but not the first times, and then each third time.
func withPanics(t *testing.T, places []string, first int32, f func(t *testing.T, p *Prefetcher)) {
	passed := map[string]*atomic.Int32{}
	for _, place := range places {
		passed[place] = new(atomic.Int32)
	}
	defer guard.Inject(func(place string) {
		if n := passed[place]; n != nil && (n.Add(1)-first)%3 == 1 {
			panic("injected")
		}
	})()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(budgets[3])
		p := New(c)
		p.limits = &tiny
		f(t, p)
		c.Close()
		if lent := c.Stats().LentBytes; lent != 0 {
			t.Errorf("%d bytes of blocks are still lent", lent)
		}
	})
}
