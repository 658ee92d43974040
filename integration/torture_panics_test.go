package integration

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// panicsTrial lets goroutines of a server panic at random places, again and again, while a volume of a random geometry
// is read in several ways. Every read has the right bytes, or fails with EIO. When the panics are over, all reads
// succeed. In the end nothing stays open.
var panicsTrial = torture.New("panics", newPanicsCase, runPanics)

type panicsCase struct {
	Geometry geometryCase `json:"geometry"`
	Places   []string     `json:"places"` // where goroutines panic
	Pause    int          `json:"pause"`  // µs between a panic and the next one at the same place
	Most     int          `json:"most"`   // panics at one place
}

// notInMounts are places that no read of a mount reaches, or whose panic may end the server.
var notInMounts = []string{"dataset.", "daemon.", "diskcache.", "gaps.", "mount.", "mounts.", "nfs.", "object.",
	"remote.", "view.", "web.", "fsnode.serve"}

// optional are places whose panics make no read fail.
var optional = []string{"prefetch.", "status.", "mosaic.survey", "cache.announce", "fsnode.statahead",
	"fsnode.attributes"}

func startsWithOne(place string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(place, prefix) })
}

func newPanicsCase(r *rand.Rand) panicsCase {
	all, _ := places() // a case without places is skipped
	all = slices.DeleteFunc(slices.Clone(all), func(place string) bool { return startsWithOne(place, notInMounts) })
	if r.IntN(3) == 0 {
		all = slices.DeleteFunc(all, func(place string) bool { return !startsWithOne(place, optional) })
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	c := panicsCase{Geometry: newGeometryCase(r), Places: all[:min(len(all), 1+r.IntN(8))],
		Pause: randomOf(r, []int{0, 1000, 20_000}), Most: randomOf(r, []int{1, 10, 1000})}
	for c.Geometry.bytes() > 20_000_000 {
		c.Geometry.Size[1] = (c.Geometry.Size[1] + 1) / 2
		c.Geometry.Empty = [2]int{}
	}
	return c
}

func runPanics(t testing.TB, c panicsCase) {
	all, err := places()
	if err != nil {
		t.Fatal(err)
	}
	known := func(place string) bool { return slices.Contains(all, place) && !startsWithOne(place, notInMounts) }
	if !c.Geometry.valid() || len(c.Places) == 0 || c.Pause < 0 || c.Most < 1 ||
		slices.ContainsFunc(c.Places, func(place string) bool { return !known(place) }) {
		t.Skip("no panics of a mount")
	}
	voxels := c.Geometry.voxels()
	source := c.Geometry.write(t, voxels)
	if c.Geometry.Delay > 0 {
		source = serveLate(t, source, "-read", (time.Duration(c.Geometry.Delay) * time.Microsecond).String()).Dir
	}
	p, s := mountPanicking(t, source, "--cache-size", fmt.Sprintf("%dMiB", c.Geometry.Cache))
	w := &watched{server: s, log: p.log, budget: c.Geometry.Cache << 20,
		files: openFiles(t, s.pid) + idleFiles + c.Geometry.count(c.Geometry.Block*c.Geometry.Cube)}
	m := geometryMount{t: t, w: w, c: c.Geometry, voxels: voxels, dir: filepath.Join(s.dir, "v/1")}
	m.faulty = slices.ContainsFunc(c.Places, func(place string) bool { return !startsWithOne(place, optional) })
	end := c.panicAgain(p)
	err = m.readAll()
	if end(); err != nil {
		t.Fatalf("while goroutines panic: %v", err)
	}
	m.faulty = false
	if err := m.readAll(); err != nil {
		t.Fatalf("after %d panics: %v", statusOf(t, s.dir).Panics, err)
	}
	w.checkIdle(t)
}

// panicAgain lets goroutines panic until the function that it returns is called.
func (c panicsCase) panicAgain(p *panicServer) (end func()) {
	over := make(chan struct{})
	var group sync.WaitGroup
	for _, place := range slices.Compact(slices.Sorted(slices.Values(c.Places))) {
		name := filepath.Join(p.places, place)
		group.Go(func() {
			defer os.Remove(name) // perhaps it has panicked by now
			for range c.Most {
				if err := os.WriteFile(name, nil, 0o644); err != nil {
					p.t.Error(err)
					return
				}
				for waiting := true; waiting; {
					select {
					case <-over:
						return
					case <-time.After(time.Duration(c.Pause)*time.Microsecond + time.Millisecond):
						_, err := os.Lstat(name)
						waiting = err == nil
					}
				}
			}
		})
	}
	return func() { close(over); group.Wait() }
}
