package mosaic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/ttl"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// smallMag is a planeMag whose cubes can be opened. Their only voxel is their version.
type smallMag struct {
	*planeMag
	open      map[volume.Vec]int // how often a cube is open
	announced map[volume.Vec]volume.Box
}

func (m smallMag) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	info, err := m.StatCubes(c[2], c[1], c[0])
	if err != nil {
		return nil, err
	}
	m.open[c]++
	return smallCube{m: m, at: c, info: info}, nil
}

// smallCube is an open cube of a smallMag.
type smallCube struct {
	seven
	m    smallMag
	at   volume.Vec
	info fs.FileInfo
}

func (c smallCube) Version() vfs.Version { return vfs.VersionOf(c.info) }
func (c smallCube) Info() fs.FileInfo    { return c.info }
func (c smallCube) Close() error         { c.m.open[c.at]--; return nil }

func (c smallCube) Announce(_ context.Context, box volume.Box) { c.m.announced[c.at] = box }

func (c smallCube) Fill(_ context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	for i := range blocks {
		blocks[i].Voxels = append(memory(blocks[i].At)[:0], byte(c.info.Size()))
	}
}

// newSmallMag returns a mag of the cubes of 2 × 2 whose bits are set.
func newSmallMag(cubes int) smallMag {
	p := newPlaneMag(2)
	for i := range 4 {
		if cubes>>i&1 == 0 {
			delete(p.cubes, [2]int{i % 2, i / 2})
		}
	}
	return smallMag{p, map[volume.Vec]int{}, map[volume.Vec]volume.Box{}}
}

// allBoxes returns all boxes of 2 × 2 cubes.
func allBoxes() (all []volume.Box) {
	for lo := range (volume.Box{Max: volume.Vec{2, 2, 1}}).All() {
		for hi := range (volume.Box{Min: lo, Max: volume.Vec{2, 2, 1}}).All() {
			all = append(all, volume.Box{Min: lo, Max: hi.Add(volume.Cube(1))})
		}
	}
	return all
}

// TestAllChanges changes one cube of all sets of 2 × 2 cubes, with all limits. The change counts for exactly the boxes
// that have the cube, and reading the cube in the old snapshot is an error, if its handle is not open.
func TestAllChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for n := range 16 * 4 * 2 * 4 * 3 {
			if testing.Short() && n%7 != 0 {
				continue
			}
			cubes, changed, version, complete, few := n&15, n>>4&3, n>>6&1, n>>7&3, n>>9
			mag := newSmallMag(cubes)
			before := mag.cubes[[2]int{changed % 2, changed / 2}]
			version = 2 * version // 0: the cube is removed
			what := fmt.Sprintf("cubes %04b, cube %d becomes %d, versions of %d, checks of %d", cubes, changed, version,
				complete, few)
			m, err := newMosaic(&surveyor{mag: mag, limits: limits{complete: complete, few: few, rows: 9, idle: 4}})
			if err != nil {
				t.Fatal(err)
			}
			if m.snapshot.complete() != (len(mag.cubes) <= complete) {
				t.Fatalf("%s: complete: %v", what, m.snapshot.complete())
			}
			at := volume.Vec{changed % 2, changed / 2}
			for c := range m.Bounds().All() {
				want := []byte{byte(mag.cubes[[2]int{c[0], c[1]}])}
				got, err := volume.ReadBlock(t.Context(), m, c)
				if got == nil {
					got = []byte{0}
				}
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%s: cube %v: got %v, %v, expected %v", what, c, got, err, want)
				}
			}
			m.CloseIdle()
			if version == 0 {
				delete(mag.cubes, [2]int{at[0], at[1]})
			} else {
				mag.set(at[0], at[1], version)
			}
			time.Sleep(2 * ttl.Least)
			for _, box := range allBoxes() {
				switch same, current := before == version || !box.Contains(at), m.Current(box); {
				// the next snapshot is of the other kind
				case same && !current && (len(mag.cubes) <= complete) != m.snapshot.complete():
				case current != same:
					t.Errorf("%s: current in %v: %v", what, box, current)
				}
			}
			if _, err := volume.ReadBlock(t.Context(), m, at); before != 0 && version != before &&
				!errors.Is(err, vfs.ErrChanged) {
				t.Errorf("%s: it can be read: %v", what, err)
			}
			synctest.Wait()
		}
	})
}

// TestAllAnnouncements announces all boxes of all sets of 2 × 2 cubes, with all limits. Each cube gets its part, or
// none does if they are many. No more cubes stay open than are kept.
func TestAllAnnouncements(t *testing.T) {
	for cubes := range 16 {
		for idle := 1; idle < 20; idle++ {
			for _, box := range allBoxes() {
				mag := newSmallMag(cubes)
				m, err := newMosaic(&surveyor{mag: mag, limits: limits{complete: 4, few: 2, rows: 9, idle: idle}})
				if err != nil {
					t.Fatal(err)
				}
				m.Announce(t.Context(), box)
				size := box.Size()
				few := size[0]*size[1] <= idle/4
				open := 0
				for c := range m.Bounds().All() {
					got, announced := mag.announced[c]
					if want := few && box.Contains(c) && mag.cubes[[2]int{c[0], c[1]}] != 0; announced != want ||
						want && got != (volume.Box{Max: volume.Cube(1)}) {
						t.Errorf("cubes %04b, %d stay open, %v is announced: cube %v got %v, %v", cubes, idle, box, c,
							got, announced)
					}
					if _, err := volume.ReadBlock(t.Context(), m, c); err != nil {
						t.Error(err)
					}
				}
				for _, n := range mag.open {
					open += n
				}
				if open > idle || open < min(idle, len(mag.cubes)) || open != m.idle.Len() {
					t.Errorf("cubes %04b: %d are open, %d idle, expected at most %d", cubes, open, m.idle.Len(), idle)
				}
			}
		}
	}
}
