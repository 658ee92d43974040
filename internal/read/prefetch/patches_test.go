package prefetch

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// testPatches returns the patches of an array with 1024 planes of 1 MiB, of slabs of 32 planes.
func testPatches() *patches {
	grid := voxeltest.Grid(volume.Cube(1024), volume.Cube(32), volume.Uint8, 1)
	box := volume.Box{Max: volume.Cube(1024)}
	p := newPatches(flat.New(grid, box, box), usual.maxGuess, &usual)
	return &p
}

// mapped reads a patch as the kernel does for a reader that maps the file: the page of a row that is missing with 7 or
// 8 pages around it, and then two times ahead of the reader. Planes that were guessed are in memory, but the pages that
// were not guessed are read. It returns the planes of which something was read, and the guesses.
func mapped(p *patches, z, planes, page, pages int64) (read []int64, guesses []guess) {
	has := map[[2]int64]bool{} // plane and page
	request := func(z, from, to int64) {
		for from < to && has[[2]int64{z, from}] {
			from++
		}
		for to > from && has[[2]int64{z, to - 1}] {
			to--
		}
		if from == to {
			return
		}
		if len(read) == 0 || read[len(read)-1] != z {
			read = append(read, z)
		}
		for i := from; i < to; i++ {
			has[[2]int64{z, i}] = true
		}
		_, g := p.observe(z*m+from*usual.page, (to-from)*usual.page)
		if g.run.Start() == g.run.End() {
			return
		}
		guesses = append(guesses, g)
		for plane := g.from - 1; plane < g.to; plane++ { // with the rest of the plane that is read
			for i := g.run.Start() / usual.page; i < g.run.End()/usual.page; i++ {
				if !g.proof || plane < g.to-1 || i != (g.run.Start()+g.run.End())/2/usual.page {
					has[[2]int64{plane, i}] = true
				}
			}
		}
	}
	for plane := z; plane < z+planes; plane++ {
		fault := int64(-100) // the page that was missing last
		for i := page; i < page+pages; i++ {
			if !has[[2]int64{plane, i}] {
				request(plane, i-8, i+8)
				fault = i
			}
			switch i {
			case fault + 4:
				request(plane, fault+8, fault+21)
			case fault + 8:
				request(plane, fault+21, fault+37)
			}
		}
	}
	return read, guesses
}

// TestPatch checks of which planes of a first patch something is read: guesses become twice as large with each read,
// and end with the slab.
func TestPatch(t *testing.T) {
	p := testPatches()
	read, guesses := mapped(p, 100, 64, 150, 17)
	if want := []int64{100, 101, 103, 107, 115, 128, 157, 160}; fmt.Sprint(read) != fmt.Sprint(want) {
		t.Errorf("planes %v were read, expected %v", read, want)
	}
	for _, g := range guesses {
		if g.to > g.from && (g.from-1)/32 != (g.to-1)/32 {
			t.Errorf("guess %v has planes of two slabs", g)
		}
		if g.run.Start() != 150*usual.page || g.run.End() > 174*usual.page {
			t.Errorf("guess of pages %d to %d, expected 150 to 174 at most", g.run.Start()/usual.page,
				g.run.End()/usual.page)
		}
	}
}

// TestNextPatches checks that patches after the first one are guessed with their first read, but for a page of their
// last plane, and that the run that is guessed becomes as short as that of the patches.
func TestNextPatches(t *testing.T) {
	p := testPatches()
	mapped(p, 100, 64, 150, 17)
	var guesses []guess
	for i := range int64(12) {
		var read []int64
		read, guesses = mapped(p, 300+i%3*200, 64, 20+i*19, 17)
		if i >= 9 && len(read) > 3 {
			t.Errorf("patch %d: planes %v were read", i, read)
		}
	}
	if g := guesses[0]; g.to-g.from != 63 || g.run.End()-g.run.Start() != 17*usual.page {
		t.Errorf("guess %+v of %d pages, expected 63 planes of 17 pages", g, (g.run.End()-g.run.Start())/usual.page)
	}
}

// TestNoGuess has readers of which nothing must be guessed.
func TestNoGuess(t *testing.T) {
	for name, all := range map[string][]read{
		"a plane":                   reads(100*m, 64*k, 64*k, 16),
		"rows of every other plane": reads(9*k, 2*m, 64*k, 500),
		"backwards":                 reads(500*m, -m, 64*k, 400),
		"random pages":              reads(0, 37*m+123*k, 4*k, 27),
		"the same page":             reads(50*m, 0, 4*k, 100),
		"a page of each row":        reads(50*m, 4*k, 4*k, 100),
	} {
		p := testPatches()
		for _, r := range all {
			if _, g := p.observe(r.off, r.n); g.from < g.to {
				t.Errorf("%s: %+v after a read at %d", name, g, r.off)
			}
		}
	}
}

// TestStrided checks which readers read the same rows of one plane after the other.
func TestStrided(t *testing.T) {
	for _, c := range []struct {
		name  string
		reads []read
		want  bool
	}{
		{"a first read", reads(9*k, m, 4*k, 1), false},
		{"a row of each plane", reads(9*k, m, 4*k, 500), true},
		{"some rows of each plane", reads(9*k, m+20*k, 100*k, 10), true},
		{"rows of every other plane", reads(9*k, 2*m, 4*k, 500), false},
		{"two patches in turn", join(reads(9*m, 300*m, 4*k, 2), reads(10*m, 300*m, 4*k, 1)), true},
		{"many patches in turn", join(reads(9*m, 30*m, 4*k, maxPatches+1), reads(10*m, 30*m, 4*k, 1)), false},
	} {
		p, strided := testPatches(), false
		for _, r := range c.reads {
			strided, _ = p.observe(r.off, r.n)
		}
		if strided != c.want {
			t.Errorf("%s: %v, expected %v", c.name, strided, c.want)
		}
	}
}

// TestWrongGuesses checks that a reader that stops to read patches costs a few wrong guesses at most.
func TestWrongGuesses(t *testing.T) {
	p := testPatches()
	mapped(p, 100, 64, 150, 17)
	wrong := 0
	for i := range int64(100) {
		if _, g := p.observe((i*379%1000)*m+i*53%200*usual.page, 64*k); g.from < g.to {
			wrong++
		}
	}
	if wrong > maxUnproven {
		t.Errorf("%d wrong guesses, expected %d at most", wrong, maxUnproven)
	}
}

// TestGuessBounds checks that guesses of reads at random lie in the array.
func TestGuessBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		p, guesses := testPatches(), 0
		at := r.Int64N(1000 * m)
		for range 300 {
			off := min(max(at+r.Int64N(9)*4*k-16*k, 0), 1024*m-1)
			at += r.Int64N(3) * m / 2
			_, g := p.observe(off, 1+r.Int64N(min(128*k, 1024*m-off)))
			if g.run.Start() == g.run.End() {
				continue
			}
			guesses++
			if g.run.Start() < 0 || g.run.Start() > g.run.End() || g.run.End() > m || g.from > g.to || g.from < 1 ||
				g.to > 1024 {
				t.Fatalf("guess %+v", g)
			}
		}
		if guesses == 0 {
			t.Error("no guess")
		}
	}
}

// TestFlatPatches checks that patches of two planes are not guessed to be deeper.
func TestFlatPatches(t *testing.T) {
	p, log := testPatches(), strings.Builder{}
	for i := range int64(30) {
		for z := range int64(2) { // two planes of each patch
			if _, g := p.observe((i*31%900+z)*m+i*37%200*usual.page, 64*k); g.to-g.from > 1 {
				fmt.Fprintln(&log, i, g)
			}
		}
	}
	if log.Len() > 0 {
		t.Errorf("guesses of more than a plane for patches of two planes:\n%s", &log)
	}
}
