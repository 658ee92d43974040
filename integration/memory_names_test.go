package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestMemoryOfNames looks the planes of a volume up. The server keeps a node for each name that the kernel remembers,
// which may be millions, and nothing else: no header, for one, which would be some kilobytes.
func TestMemoryOfNames(t *testing.T) {
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector has memory of its own")
	}
	parallelHeavy(t)
	const planes, first, side = 40_000, 5000, 16
	source := filepath.Join(t.TempDir(), "a.npy")
	head := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d, %d), }", planes, side, side)
	head = fmt.Sprintf("\x93NUMPY\x01\x00\x76\x00%-117s\n", head)
	writeFile(t, source, []byte(head))
	if err := os.Truncate(source, int64(len(head)+planes*side*side)); err != nil {
		t.Fatal(err)
	}
	s := mountServer(t, source)
	look := func(from, to int) {
		for z := from; z < to; z++ {
			if _, err := os.Lstat(filepath.Join(s.dir, "1", "slices", fmt.Sprintf("z%07d.tif", z))); err != nil {
				t.Fatal(err)
			}
		}
	}
	look(0, first)
	before := peakMemory(t, s.pid)
	look(first, planes)
	each := (peakMemory(t, s.pid) - before) / (planes - first)
	t.Logf("%d bytes for each of %d names", each, planes-first)
	if each > 3<<10 { // half of it is garbage that is not collected yet
		t.Errorf("a name takes %d bytes of the server, want at most %d", each, 3<<10)
	}
}
