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
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var loadDuration = flag.Duration("load.duration", 5*time.Second, "how long TestLoad reads")

// loadLayer is the layer that TestLoad reads: cubes of 128³ voxels, some of them absent, and a bounding box
// that is not aligned to blocks.
var loadLayer = layer{
	model: model{blockLog: 4, cubeLog: 3, blockType: 2, voxelType: 1, channels: 1},
	min:   [3]int{5, 3, 2},
	size:  [3]int{299, 201, 155},
	cubes: map[[3]int]bool{{0, 0, 0}: true, {1, 0, 0}: true, {2, 1, 0}: true, {0, 1, 1}: true, {1, 1, 1}: true},
}

// TestLoad reads a mount in all ways at once, with a cache that is far too small, and compares every byte. At
// the end the server must have no more open files than before, and its memory and goroutines must be within
// their limits.
func TestLoad(t *testing.T) {
	const budget = 1 << 20
	source, log := loadLayer.write(t), filepath.Join(tempDir(t), "log")
	s := mountServer(t, source, "--cache-size", strconv.Itoa(budget), "--log-file", log)
	l := &load{
		dir:  filepath.Join(s.dir, "color/1"),
		want: loadLayer.box(loadLayer.min, loadLayer.max()),
		cube: loadLayer.flat(),
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
				l.record(way.name, time.Since(start))
			}
		})
	}
	group.Wait()
	l.report(t)

	eventually(t, "the server closes the files of its readers", func() bool { return openFiles(t, s.pid) <= files })
	if os.Getenv(raceVariable) != "1" { // the race detector has memory of its own
		checkPeak(t, s, budget)
	}
	checkGoroutines(t, s, log)
}

// load has what its readers share.
type load struct {
	dir  string
	want []byte // voxels of the bounding box
	cube []byte // voxels of each cube

	mu   sync.Mutex
	took map[string][]time.Duration // by way of reading
}

// record records the time of one use of a way, including the open.
func (l *load) record(way string, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took[way] = append(l.took[way], took)
}

// report logs the times of each way.
func (l *load) report(t testing.TB) {
	t.Helper()
	for _, way := range ways {
		took := l.took[way.name]
		if len(took) == 0 {
			t.Errorf("%s: no use ended", way.name)
			continue
		}
		slices.Sort(took)
		t.Logf("%-13s %7d times, p50 %v, p99 %v, longest %v", way.name, len(took),
			took[len(took)/2].Round(10*time.Microsecond), took[len(took)*99/100].Round(10*time.Microsecond),
			took[len(took)-1].Round(10*time.Microsecond))
	}
}

// openFiles returns the number of files that a process has open.
func openFiles(t testing.TB, pid int) int {
	t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}

// maxIdle limits the goroutines of an idle server. go-fuse alone has 16 that wait for requests.
const maxIdle = 64

// readPath matches the frame of a goroutine in a package that reads or decodes.
var readPath = regexp.MustCompile(
	`(?m)^github\.com/wkwfs/wkwfs/(wkw|cache|internal/(view|mosaic|prefetch|flat|store))\..*`)

// checkGoroutines ends an idle server by SIGQUIT, which makes Go print all goroutines. None of them may be
// reading.
func checkGoroutines(t testing.TB, s *server, log string) {
	t.Helper()
	s.signal(t, unix.SIGQUIT)
	s.wantExit(t, -1)
	dump, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	idle := regexp.MustCompile(`(?m)^goroutine \d+ .*\[`).FindAll(dump, -1)
	if len(idle) == 0 || len(idle) > maxIdle {
		t.Errorf("the idle server has %d goroutines, want 1 to %d", len(idle), maxIdle)
	}
	t.Logf("the idle server had %d goroutines", len(idle))
	if frame := readPath.Find(dump); frame != nil {
		t.Errorf("a goroutine still runs %s:\n%s", frame, dump)
	}
}
