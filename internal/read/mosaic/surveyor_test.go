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

// planeMag is a mag of cubes of one voxel at z 0. The size of a cube file is its version.
type planeMag struct {
	oneCube
	mu       sync.Mutex
	cubes    map[[2]int]int // x, y → version
	late     atomic.Bool
	delay    time.Duration // of each request
	requests atomic.Int32
	side     int // of the bounding box
}

func newPlaneMag(side int) *planeMag {
	p := &planeMag{cubes: map[[2]int]int{}, side: side}
	for y := range side {
		for x := range side {
			p.cubes[[2]int{x, y}] = 1
		}
	}
	return p
}

func (p *planeMag) set(x, y, version int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cubes[[2]int{x, y}] = version
}

func (p *planeMag) Speed() vfs.Speed { return vfs.Speed{Late: p.late.Load()} }

func (p *planeMag) Bounds() (volume.Box, error) { return p.box(0, 0, p.side), nil }

func (p *planeMag) box(x, y, side int) volume.Box {
	return volume.Box{Min: volume.Vec{x, y, 0}, Max: volume.Vec{x + side, y + side, 1}}
}

func (p *planeMag) request() {
	p.requests.Add(1)
	time.Sleep(p.delay)
}

func (p *planeMag) Cubes(zy ...int) ([]int, error) {
	p.request()
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

func (p *planeMag) StatCubes(zyx ...int) (fs.FileInfo, error) {
	p.request()
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

// TestFewCubesAreChecked changes a cube. A file of few cubes shows the change at once, if the source does not answer
// late.
func TestFewCubesAreChecked(t *testing.T) {
	p := newPlaneMag(20)
	m, err := New(p, true)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Current(p.box(3, 3, 8)) {
		t.Error("not current, but nothing has changed")
	}
	p.set(4, 5, 2)
	if m.Current(p.box(3, 3, 8)) {
		t.Error("current, but a cube of the box has changed")
	}
	if !m.Current(p.box(0, 0, 4)) {
		t.Error("not current, but only a cube outside of the box has changed")
	}
	next, err := m.Next()
	if err != nil || !next.Current(p.box(3, 3, 8)) {
		t.Errorf("the next snapshot: %v", err)
	}
}

// TestSurveyExpires changes a cube of a file of many cubes, or of a source that answers late. The file shows the change
// when the survey expires: after a second, or after 20 times as long as the survey took. Until then, the source gets no
// request.
func TestSurveyExpires(t *testing.T) {
	for _, c := range []struct {
		name  string
		late  bool
		delay time.Duration
		side  int           // of the box, in cubes
		valid time.Duration // at most
	}{
		{"many cubes", false, 0, 20, time.Second},
		{"few cubes, late", true, time.Millisecond, 2, 20 * 50 * time.Millisecond},
		{"many cubes, late", true, 5 * time.Millisecond, 20, 20 * 250 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlaneMag(20)
				p.delay = c.delay
				p.late.Store(c.late)
				m, err := New(p, true)
				if err != nil {
					t.Fatal(err)
				}
				requests := p.requests.Load()
				for range 10 {
					time.Sleep(30 * time.Millisecond)
					if !m.Current(p.box(0, 0, c.side)) {
						t.Fatal("not current, but nothing has changed")
					}
				}
				if p.requests.Load() != requests {
					t.Errorf("%d requests while the survey was valid", p.requests.Load()-requests)
				}
				p.set(1, 1, 2)
				changed := time.Now()
				for m.Current(p.box(0, 0, c.side)) {
					time.Sleep(10 * time.Millisecond)
					if time.Since(changed) > c.valid+100*time.Millisecond {
						t.Fatalf("the change does not show after %v", time.Since(changed))
					}
				}
				if m, err = m.Next(); err != nil {
					t.Fatal(err)
				}
				if !m.Current(p.box(0, 0, c.side)) {
					t.Error("the next snapshot is not current")
				}
				synctest.Wait()
			})
		})
	}
}

// TestSurveyIsRenewed opens one file after another. No open waits for the source, because surveys are renewed in time.
func TestSurveyIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlaneMag(20)
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
				t.Fatal("not current, but nothing has changed")
			}
			if took := time.Since(start); took != 0 {
				t.Fatalf("waited %v", took)
			}
		}
		synctest.Wait()
	})
}

// TestSurveyIsConcurrent takes a survey of 400 cubes. It takes the time of a few requests.
func TestSurveyIsConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlaneMag(20)
		p.delay = time.Millisecond
		start := time.Now()
		s := takeSurvey(p, true, usual.complete)
		if len(*s.cubes) != 400 {
			t.Errorf("%d cubes", len(*s.cubes))
		}
		// One after another: the listings of z and y, then those of a row and its 20 entries.
		if took := time.Since(start); took > (2+21+21)*time.Millisecond {
			t.Errorf("the survey took %v", took)
		}
	})
}

// TestVersionsSame compares versions in boxes with a naive model.
func TestVersionsSame(t *testing.T) {
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
		for _, box := range []volume.Box{{Max: volume.Vec{5, 4, 3}}, volume.Everywhere(),
			{Min: volume.Vec{1, 1, 1}, Max: volume.Vec{3, 3, 2}}, {}} {
			want := !box.Contains(changed)
			if a.same(b, box) != want || b.same(a, box) != want {
				t.Errorf("%v changed, %v: expected %v", changed, box, want)
			}
		}
	}
}
