package mosaic

import (
	"errors"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// plain is a mag of cubes of one voxel, each of a size that is its version. All cubes lie at z 0.
type plain struct {
	oneCube
	mu    sync.Mutex
	cubes map[[2]int]int // x, y → version
	late  atomic.Bool
	delay time.Duration // of each look
	looks atomic.Int32
	side  int // of the bounding box
}

func newPlain(side int) *plain {
	p := &plain{cubes: map[[2]int]int{}, side: side}
	for y := range side {
		for x := range side {
			p.cubes[[2]int{x, y}] = 1
		}
	}
	return p
}

func (p *plain) set(x, y, version int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cubes[[2]int{x, y}] = version
}

func (p *plain) Late() bool { return p.late.Load() }

func (p *plain) Bounds() (volume.Box, error) { return p.box(0, 0, p.side), nil }

func (p *plain) box(x, y, side int) volume.Box {
	return volume.Box{Min: volume.Vec{x, y, 0}, Max: volume.Vec{x + side, y + side, 1}}
}

func (p *plain) look() {
	p.looks.Add(1)
	time.Sleep(p.delay)
}

func (p *plain) Cubes(zy ...int) ([]int, error) {
	p.look()
	p.mu.Lock()
	defer p.mu.Unlock()
	found := map[int]bool{}
	for c := range p.cubes {
		switch {
		case len(zy) == 0:
			found[0] = true
		case len(zy) == 1:
			found[c[1]] = true
		case c[1] == zy[1]:
			found[c[0]] = true
		}
	}
	var list []int
	for n := range found {
		list = append(list, n)
	}
	slices.Sort(list)
	return list, nil
}

func (p *plain) StatCubes(zyx ...int) (fs.FileInfo, error) {
	p.look()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(zyx) < 3 {
		return cubeInfo, nil
	}
	version, ok := p.cubes[[2]int{zyx[2], zyx[1]}]
	switch {
	case !ok:
		return nil, fs.ErrNotExist
	case version < 0:
		return nil, errors.New("cannot be read")
	}
	return fs.Stat(fstest.MapFS{"x": {Data: make([]byte, version)}}, "x")
}

// TestFewCubesAreLookedAt: who opens a file of few cubes sees what is, if the source does not answer late.
func TestFewCubesAreLookedAt(t *testing.T) {
	p := newPlain(20)
	m, err := New(p, true)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Current(p.box(3, 3, 8)) {
		t.Error("nothing has changed")
	}
	p.set(4, 5, 2)
	if m.Current(p.box(3, 3, 8)) {
		t.Error("a cube of the box has changed")
	}
	if !m.Current(p.box(0, 0, 4)) {
		t.Error("a cube that is not of the box has changed")
	}
	next, err := m.Next()
	if err != nil || !next.Current(p.box(3, 3, 8)) {
		t.Errorf("the next snapshot: %v", err)
	}
}

// TestSurveyIsBelieved: a file of many cubes, and each file of a source that answers late, is shown as it was a second ago at
// most, or as long as a survey makes a twentieth of the time; and for as long nobody looks.
func TestSurveyIsBelieved(t *testing.T) {
	for _, c := range []struct {
		what     string
		late     bool
		delay    time.Duration
		box      int           // its side in cubes
		believed time.Duration // at most
	}{
		{"many cubes", false, 0, 20, time.Second},
		{"few cubes, late", true, time.Millisecond, 2, 20 * 50 * time.Millisecond},
		{"many cubes, late", true, 5 * time.Millisecond, 20, 20 * 250 * time.Millisecond},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlain(20)
				p.delay = c.delay
				p.late.Store(c.late)
				m, err := New(p, true)
				if err != nil {
					t.Fatal(err)
				}
				looks := p.looks.Load()
				for range 10 {
					time.Sleep(30 * time.Millisecond)
					if !m.Current(p.box(0, 0, c.box)) {
						t.Fatal("nothing has changed")
					}
				}
				if p.looks.Load() != looks {
					t.Errorf("%d looks within the time that a survey is believed", p.looks.Load()-looks)
				}
				p.set(1, 1, 2)
				changed := time.Now()
				for m.Current(p.box(0, 0, c.box)) {
					time.Sleep(10 * time.Millisecond)
					if time.Since(changed) > c.believed+100*time.Millisecond {
						t.Fatalf("not seen for %v", time.Since(changed))
					}
				}
				if m, err = m.Next(); err != nil {
					t.Fatal(err)
				}
				if !m.Current(p.box(0, 0, c.box)) {
					t.Error("the next snapshot is that of now")
				}
				synctest.Wait()
			})
		})
	}
}

// TestSurveyIsRenewed: who opens one file after the other never waits for a look at the source, and sees changes in time.
func TestSurveyIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlain(20)
		p.delay = time.Millisecond
		p.late.Store(true)
		m, err := New(p, true)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			time.Sleep(100 * time.Millisecond)
			start := time.Now()
			if !m.Current(p.box(0, 0, 20)) {
				t.Fatal("nothing has changed")
			}
			if took := time.Since(start); took != 0 {
				t.Fatalf("waited %v", took)
			}
		}
		synctest.Wait()
	})
}

// TestSurveyLooksAtOnce: a survey of 400 cubes takes the time of some looks. A mag that lists its cubes with their attributes takes
// fewer.
func TestSurveyLooksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlain(20)
		p.delay = time.Millisecond
		start := time.Now()
		s := takeSurvey(p, true)
		if len(*s.cubes) != 400 {
			t.Errorf("%d cubes", len(*s.cubes))
		}
		// The levels of z and of y, and a row of 20 cubes, each entry with a look of its own.
		if took := time.Since(start); took > (2+21+21)*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// TestVersionsAreCompared compares lists of versions in boxes with a naive model.
func TestVersionsAreCompared(t *testing.T) {
	a := versions{}
	for c := range (volume.Box{Max: volume.Vec{5, 4, 3}}).All() {
		a[c] = vfs.Version{byte(c[0] + 1)}
	}
	for changed := range (volume.Box{Max: volume.Vec{6, 4, 3}}).All() {
		b := versions{}
		for c, v := range a {
			b[c] = v
		}
		if _, ok := b[changed]; ok && changed[1] == 2 {
			delete(b, changed)
		} else {
			b[changed] = vfs.Version{99}
		}
		for _, box := range []volume.Box{{Max: volume.Vec{5, 4, 3}}, everywhere, {Min: volume.Vec{1, 1, 1}, Max: volume.Vec{3, 3, 2}}, {}} {
			want := !changed.Sub(box.Min).In(box.Size())
			if a.same(b, box) != want || b.same(a, box) != want {
				t.Errorf("%v changed, %v: expected %v", changed, box, want)
			}
		}
	}
}
