package integration

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// mapWide maps volume.raw of a layer of 1024 × 1024 × 128 voxels into memory. The returned function copies a patch of
// 64³ voxels out of it and compares it with the layer.
func mapWide(t *testing.T, s *server, want []byte) (comparePatch func(x, y, z int)) {
	t.Helper()
	f, err := os.Open(filepath.Join(s.dir, "volume.raw"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapped, err := unix.Mmap(int(f.Fd()), 0, len(want), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mapped) })
	return func(x, y, z int) {
		for i := range 64 * 64 {
			at := x + 1024*(y+i%64+1024*(z+i/64))
			if !bytes.Equal(mapped[at:at+64], want[at:at+64]) {
				t.Errorf("wrong voxels at %d, %d, %d", x, y+i%64, z+i/64)
				return
			}
		}
	}
}

// TestPatches copies patches of 64³ voxels out of a mapped file. The server pushes the next planes of a patch into the
// page cache, so that the kernel reads far fewer than 64 times for a patch. The memory of the server stays in its
// budget.
func TestPatches(t *testing.T) {
	parallelHeavy(t)
	source := t.TempDir()
	w := writeWide(t, source)
	var want []byte
	for z := range w.side() {
		want = append(want, w.plane(z)...)
	}
	t.Run("one after another", func(t *testing.T) {
		s := mountServer(t, source)
		comparePatch := mapWide(t, s, want)
		total := uint64(0)
		const patches = 12
		for i := range patches {
			before := statusOf(t, s.dir).Reads.Count
			comparePatch(i*31, 20+i%6*160, 3+i/6*61)
			got := statusOf(t, s.dir).Reads.Count - before
			t.Logf("patch %d: %d reads", i, got)
			total += got
		}
		if total > patches*64/2 { // about a quarter of that on an idle machine
			t.Errorf("%d reads for %d patches", total, patches)
		}
	})
	t.Run("four threads", func(t *testing.T) {
		const budget = 64 << 20
		s := mountServer(t, source, "--cache-size", strconv.Itoa(budget))
		comparePatch := mapWide(t, s, want)
		var group sync.WaitGroup
		for i := range 4 {
			group.Go(func() {
				r := rand.New(rand.NewPCG(5, uint64(i)))
				for range 20 {
					comparePatch(r.IntN(960), r.IntN(960), r.IntN(64))
				}
			})
		}
		group.Wait()
		if os.Getenv(raceVariable) != "1" {
			checkPeak(t, s, budget)
		}
	})
}
