package integration

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var loadDuration = flag.Duration("load.duration", 20*time.Second, "for how long TestLoad reads")

// loaded is the mag that is read under load: cubes of 128³, some of them absent, in a
// box aligned to nothing.
var loaded = layer{
	model: model{blockLog: 4, cubeLog: 3, blockType: 2, voxelType: 1, channels: 1},
	min:   [3]int{5, 3, 2},
	size:  [3]int{299, 201, 155},
	cubes: map[[3]int]bool{{0, 0, 0}: true, {1, 0, 0}: true, {2, 1, 0}: true, {0, 1, 1}: true, {1, 1, 1}: true},
}

// TestLoad reads a mount in all ways at once, with a cache that is far too small, and
// compares every byte. Afterwards the server holds no more files, goroutines and memory
// than it should.
func TestLoad(t *testing.T) {
	const budget = 1 << 20
	source, log := loaded.write(t), filepath.Join(tempDir(t), "log")
	s := mountServer(t, source, "--cache-size", strconv.Itoa(budget), "--log-file", log)
	l := &load{
		dir:  filepath.Join(s.dir, "color/1"),
		want: loaded.box(loaded.min, loaded.max()),
		cube: loaded.flat(),
		took: map[string][]time.Duration{},
	}
	files := openFiles(t, s.pid)

	end := time.Now().Add(*loadDuration)
	var group sync.WaitGroup
	for i := range 64 {
		group.Go(func() {
			way, r := ways[i%len(ways)], rand.New(rand.NewPCG(11, uint64(i)))
			for time.Now().Before(end) && !t.Failed() {
				start := time.Now()
				if err := way.read(l, r); err != nil {
					t.Errorf("%s: %v", way.name, err)
				}
				l.note(way.name, time.Since(start))
			}
		})
	}
	group.Wait()
	l.report(t)

	eventually(t, "the server closes the files of its readers", func() bool { return openFiles(t, s.pid) <= files })
	switch peak := peakMemory(t, s.pid); {
	case os.Getenv(raceVariable) == "1": // the race detector's own memory would be measured
	case peak > budget+128<<20:
		t.Errorf("the server used %d MiB, want at most %d + 128", peak>>20, budget>>20)
	default:
		t.Logf("the server used %d MiB with a cache of %d", peak>>20, budget>>20)
	}
	checkGoroutines(t, s, log)
}

// load is what the readers have in common.
type load struct {
	dir  string
	want []byte // the voxels of the bounding box
	cube []byte // those of every cube

	mu   sync.Mutex
	took map[string][]time.Duration
}

func (l *load) note(way string, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took[way] = append(l.took[way], took)
}

// report logs how long it took to read in each way, the open included.
func (l *load) report(t *testing.T) {
	t.Helper()
	for _, way := range ways {
		took := l.took[way.name]
		if len(took) == 0 {
			t.Errorf("%s: never ended", way.name)
			continue
		}
		slices.Sort(took)
		t.Logf("%-13s %7d times, p50 %v, p99 %v, longest %v", way.name, len(took),
			took[len(took)/2].Round(10*time.Microsecond), took[len(took)*99/100].Round(10*time.Microsecond), took[len(took)-1].Round(10*time.Microsecond))
	}
}

// openFiles returns how many files a process has open.
func openFiles(t *testing.T, pid int) int {
	t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}

// maxIdle is how many goroutines an idle server may have: go-fuse alone lets 16
// wait for requests.
const maxIdle = 64

// checkGoroutines ends an idle server in the way that makes it tell what its
// goroutines do: none of them reads any more.
func checkGoroutines(t *testing.T, s *server, log string) {
	t.Helper()
	s.signal(t, unix.SIGQUIT)
	s.wantExit(t, 2)
	dump, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	idle := regexp.MustCompile(`(?m)^goroutine \d+ .*\[`).FindAll(dump, -1)
	if len(idle) == 0 || len(idle) > maxIdle {
		t.Errorf("the idle server has %d goroutines, want 1 to %d", len(idle), maxIdle)
	}
	t.Logf("the idle server had %d goroutines", len(idle))
	for _, busy := range []string{"wkwfs/view.", "wkwfs/wkw.", "wkwfs/cache.(*loader)"} {
		if strings.Contains(string(dump), busy) {
			t.Errorf("something of %s still runs:\n%s", busy, dump)
		}
	}
}
