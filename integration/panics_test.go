package integration

import (
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// elsewhere are the places that no case of TestPanicsOfMounts reaches, and the tests that inject panics there.
var elsewhere = map[string]string{
	"cache.prepare":      "only while the memory of the cache grows: TestPanics in cache",
	"cache.resolve":      "only mags of more than 20,000 cubes: TestPanics in cache",
	"dataset.opening":    "TestOpenEndsWithItsContext in dataset",
	"edit.sync":          "only with --edit: TestEditPanic",
	"fsnode.grace":       "TestPanicsInBackground in fsnode",
	"diskcache.stop":     "a server ends without waiting for it: TestPanics in diskcache",
	"fsnode.interrupted": "TestPanicsInBackground in fsnode",
	"fsnode.listing":     "TestPanicsInBackground in fsnode",
	"fsnode.reopen":      "TestPanicsInBackground in fsnode",
	"parallel.drain":     "only check: TestPanics in parallel",
	"parallel.extra":     "only check: TestPanics in parallel",
	"prefetch.guess":     "only mapped files: TestPanics in prefetch",
	"prefetch.off":       "only after another panic: TestPanics in prefetch",
	"prefetch.end":       "TestPanics in prefetch",
	"view.times":         "only many times: TestTimesPanic in view",
	"prefetch.series":    "TestPanics in prefetch",
	"mounts.watch":       "before the first read: TestWatchPanics in mounts",
	"object.span":        "only stores that list by prefixes: TestLargeListingStops in object",
	"remote.credentials": "TestCredentialsPanic in remote",
	"remote.stall":       "TestStallPanics in remote",
	"store.close":        "TestPanics in store",
	"nfs.idle":           "after 15 seconds: TestPanicsInBackground in nfs",
	"nfs.close":          "after 256 files: TestPanicsInBackground in nfs",
	"nfs.listener":       "TestPanicsInBackground in nfs",
	"nfs.cut":            "TestPanicsInBackground in nfs",
	"status.serve":       "only with --metrics: TestServePanics in status",
	"daemon.watch":       "only with a service manager: TestWatch in daemon",
	"daemon.wait":        "only the command that starts a server: TestWaitPanics in daemon",
	"mounts.ask":         "only commands: TestAskPanics in mounts",
	"fsnode.write":       "only with --edit: TestEditPanic",
	"gaps.look":          "before the first read: TestLookPanics in cmd/wkwfs",
	"view.browser":       "only with a browser: TestBrowserPanics in cmd/wkwfs",
}

// TestPanicsOfMounts lets goroutines of servers panic, one place after the other, while programs read. Every read has
// the right bytes, or fails; nothing that is done ahead of a reader makes a read fail; and all reads succeed after the
// panic. The server lives, counts the panics, and logs the stack of each once, with the path of the file if a read
// failed.
func TestPanicsOfMounts(t *testing.T) {
	parallelHeavy(t)
	source := writePanicVolume(t)
	want := mount(t, source)
	reached := map[string]bool{}
	for _, c := range []struct {
		name      string
		cacheSize string
		source    func(*testing.T) (source string, args []string)
		first     map[string]bool // places that are reached by the first reads, and whether reads may fail
		places    map[string]bool // others
		later     string          // a place that is reached some seconds after the last read
		end       string          // a place that is reached when the server ends
	}{
		{"local", "12MiB", func(*testing.T) (string, []string) { return source, nil }, nil, map[string]bool{
			"fsnode.request": true, "fsnode.read": true, "fsnode.source": true, "fsnode.attributes": false,
			"cache.publish": false, "cache.request": true, "cache.hold": false, "cache.announce": false,
			"prefetch.together": true,
			"prefetch.plan":     false, "prefetch.push": false, "mosaic.fill": true, "store.read": true,
			"store.lookup": true, "store.describe": true,
			"parallel.items": true, "parallel.call": true, "status.numbers": false, "status.sample": false,
		}, "mosaic.idle", "mount.wait"},
		{"small cache", "8MiB", func(*testing.T) (string, []string) { return source, nil },
			map[string]bool{"mosaic.open": true}, map[string]bool{
				"cache.load": true, "cache.round": false, "cache.evict": false,
			}, "", "fsnode.serve"},
		{"late", "24MiB", func(t *testing.T) (string, []string) {
			return serveLate(t, source, "-read", "3ms", "-metadata", "1ms").Dir, nil
		}, nil, map[string]bool{
			"fsnode.statahead": false, "fsnode.source": true, "store.ranges": true, "mosaic.survey": false,
			"parallel.map": true, "parallel.late": true,
		}, "", ""},
		{"object store", "24MiB", func(t *testing.T) (string, []string) {
			return newFileServer(t, source).URL + "/?token=geheim", []string{"--disk-cache", tempDir(t)}
			// Directories are listed ahead once a minute.
		}, map[string]bool{"diskcache.flight": true, "diskcache.writer": false, "object.ahead": false}, nil, "", ""},
	} {
		reached[c.later], reached[c.end] = true, true
		maps.Copy(reached, c.first)
		maps.Copy(reached, c.places)
		t.Run(c.name, func(t *testing.T) {
			source, args := c.source(t)
			p, s := mountPanicking(t, source, append(args, "--cache-size", c.cacheSize)...)
			p.arm(slices.Collect(maps.Keys(c.first))...)
			p.start(4, newWitness(t, s.dir, want).uses()...)
			p.panicAll(c.first)
			p.panicAll(c.places)
			p.end()
			p.panicAt(c.later, false)
			p.checkLog()
			if got := int(statusOf(t, s.dir).Panics); got != len(p.panicked) {
				t.Errorf("the status counts %d panics, expected %d", got, len(p.panicked))
			}
			p.arm(c.end)
			s.stop(t) // the exit code is 0
			p.await(c.end)
		})
	}
	for name, c := range map[string]struct {
		uses   func(e *witness, address string) []func(r *rand.Rand) error
		args   []string
		places map[string]bool
		end    string
	}{
		// A program without a built-in viewer has the state of Neuroglancer in the address of another site. This one
		// may have a viewer.
		"serve": {(*witness).webUses, []string{"--neuroglancer", "https://neuroglancer.example.org"},
			map[string]bool{"web.request": true, "web.read": true, "web.contrast": false}, "web.shutdown"},
		"nfs": {(*witness).nfsUses, nil, map[string]bool{
			"nfs.call": true, "nfs.open": true, "nfs.list": true, "nfs.describe": false, "nfs.connection": true,
		}, "nfs.end"},
	} {
		maps.Copy(reached, c.places)
		reached[c.end] = true
		t.Run(name, func(t *testing.T) {
			p, cmd := newPanicServer(t, append([]string{name, "--listen", "127.0.0.1:0", source}, c.args...)...)
			url := p.startCommand(cmd)
			p.start(4, c.uses(newWitness(t, "", want), url)...)
			p.panicAll(c.places)
			p.end()
			p.checkLog()
			p.arm(c.end)
			endCommand(t, cmd)
			p.await(c.end)
		})
	}
	delete(reached, "")
	checkPlaces(t, reached)
}

// checkPlaces checks that a case or another test injects a panic at each place that ARCHITECTURE.md lists.
func checkPlaces(t *testing.T, reached map[string]bool) {
	t.Helper()
	all, err := places()
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range all {
		if _, ok := reached[place]; ok == (elsewhere[place] != "") {
			t.Errorf("%s: expected a case or another test: %v, %q", place, ok, elsewhere[place])
		}
	}
}

// places returns the places that ARCHITECTURE.md lists.
var places = sync.OnceValues(func() (all []string, err error) {
	document, err := os.ReadFile("../ARCHITECTURE.md")
	_, section, _ := strings.Cut(string(document), "\n## Boundaries\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range regexp.MustCompile("`([a-z]+\\.[a-z]+)`").FindAllStringSubmatch(cells[1], -1) {
			all = append(all, m[1])
		}
	}
	return all, err
})
