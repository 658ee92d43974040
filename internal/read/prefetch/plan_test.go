package prefetch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/small/span"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// TestPlanIsPure parses the files of access and plan: they use no clock, no goroutine, no lock, no channel and no I/O.
func TestPlanIsPure(t *testing.T) {
	imports := []string{"iter", "maps", "math", "slices", "cache", "internal/read/flat", "internal/small/span",
		"internal/vfs", "volume"}
	ofCache := []string{"Keep", "Never", "IfSeen", "ShortTerm", "Always", "BlockMemory"}
	for _, name := range []string{"access.go", "patches.go", "plan.go", "layout.go", "pushes.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			path := strings.TrimPrefix(strings.Trim(i.Path.Value, `"`), "github.com/wkwfs/wkwfs/")
			if !slices.Contains(imports, path) {
				t.Errorf("%s imports %s", name, path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
				t.Errorf("%s has a goroutine or a channel: %T", name, n)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "cache" && !slices.Contains(ofCache, n.Sel.Name) {
					t.Errorf("%s uses cache.%s", name, n.Sel.Name)
				}
			}
			return true
		})
	}
}

// planned is the memory of a plan in a test. It checks what the plan decides.
type planned struct {
	t        testing.TB
	plan     *plan
	budget   int64
	inUse    func(part) bool
	portions []part
	reserved int64
	starts   map[int]int // how often each part was started
	told     volume.Box  // what was announced
	inOrder  bool        // the reader reads from one end to the other
}

func (m *planned) reserve(n int64, _ bool) bool {
	if n > m.budget {
		return false
	}
	m.reserved = max(m.reserved, n)
	return true
}

func (m *planned) find(i int) (part, bool) {
	for _, s := range m.portions {
		if s.has(i) {
			return s, true
		}
	}
	return part{}, false
}

func (m *planned) used() (n int64) {
	for _, s := range m.portions {
		n += s.memory()
	}
	return n
}

func (m *planned) start(s part, most int64, isBehind func(part) bool) bool {
	l := m.plan.layout
	if s.number < 0 || s.count < 1 || s.number+s.count > l.count() || s.box.Empty() ||
		s.box.Intersect(l.array.Box()) != s.box {
		m.t.Errorf("portion %+v starts, of %d parts", s, l.count())
	}
	if _, ok := m.find(s.number); ok {
		m.t.Errorf("part %d starts, and is in memory", s.number)
	}
	need := s.memory()
	m.portions = slices.DeleteFunc(m.portions, func(old part) bool {
		return m.used()+need > m.reserved && !m.inUse(old) && isBehind(old)
	})
	if m.used()+need > m.reserved && (m.used()+need > most || !m.reserve(m.used()+need, false)) {
		return false
	}
	m.portions = append(m.portions, s)
	for i := range s.count {
		m.starts[s.number+i]++
	}
	return true
}

func (m *planned) announce(blocks volume.Box) {
	if blocks.Empty() || blocks.Intersect(m.plan.layout.blocks) != blocks ||
		m.inOrder && !blocks.Intersect(m.told).Empty() {
		m.t.Errorf("blocks %v are announced, of %v, after %v", blocks, m.plan.layout.blocks, m.told)
	}
	m.told = m.told.Union(blocks)
}

func (m *planned) release() { m.portions, m.reserved = nil, 0 }

// planCase is an array, a world and how much is in use: what a plan depends on besides its reads.
type planCase struct {
	size, lo volume.Vec
	block    int
	head     int64
	hint     Hint
	world    world
	budget   int64
	refuses  bool // the sink, from the second half on
	busy     bool // the portion that was started last is in use
}

// run reads all of the array in pieces, in order or not, and checks each decision. It returns the number of plans.
func (c planCase) run(t testing.TB, order int) (plans int) {
	box := volume.Box{Min: c.lo, Max: c.lo.Add(c.size)}
	a := flat.New(voxeltest.Grid(box.Max, volume.Cube(c.block), volume.Uint8, 1), box, box)
	p := newPlan(a, c.hint, c.budget/4, &tiny)
	m := &planned{t: t, plan: &p, budget: c.budget, starts: map[int]int{}, inOrder: order == 0}
	m.inUse = func(s part) bool { return c.busy && s.number == m.portions[len(m.portions)-1].number }
	to := target{c.head, tinyPage, tinyPiece}
	file, all := span.Of(c.head, a.Size()), span.Of(0, a.Size())
	n := all.Pieces(5)
	for i := range n {
		i = []int64{i, n - 1 - i, i * 7 % n, i ^ 1}[order]
		piece := all.Piece(i, 5)
		if piece.Empty() {
			continue
		}
		w := c.world
		w.accepts = w.accepts && !(c.refuses && plans > int(n)/2)
		s, ok, h := p.read(piece.Start(), piece.Len(), w, m)
		plans++
		if ok {
			if _, rest := s.runAt(piece.Start()); rest.Empty() {
				t.Errorf("byte %d is not in the portion %v", piece.Start(), s.box)
			}
		}
		if (p.state == random) != (m.reserved == 0) || m.used() > m.reserved || m.reserved > c.budget {
			t.Errorf("state %d, %d bytes used, %d reserved of %d", p.state, m.used(), m.reserved, c.budget)
		}
		if g, rest, ok := p.guessed(h.next, piece.End(), to); ok {
			if g.memory() > tiny.maxGuess || g.box.Intersect(box) != g.box {
				t.Errorf("guess %+v has the blocks %+v", h.next, g)
			}
			c.checkPushes(t, to.guessed(h.next, rest, a.PlaneBytes()), file)
		}
	}
	for _, s := range m.portions {
		if p.pushing && p.layout.perSlab() == 1 {
			c.checkPushes(t, to.planesAfterFirst(s), file)
		}
	}
	for i, n := range m.starts {
		if n > 1 && order == 0 {
			t.Errorf("part %d was started %d times for a reader in order", i, n)
		}
	}
	if t.Failed() {
		t.Fatalf("%+v, order %d", c, order)
	}
	return plans
}

// checkPushes checks that pieces are whole pages of the file, and no more than a write takes.
func (c planCase) checkPushes(t testing.TB, pieces []span.Span, file span.Span) {
	for _, s := range pieces {
		if s.Empty() || s.AlignIn(tinyPage) != s || s.Clip(file) != s || s.Len() > tinyPiece {
			t.Errorf("bytes %v are pushed, the array is at %v", s, file)
		}
	}
}

// TestAllPlans makes about a million plans: for small arrays in all places of a block, speeds of sources, sinks,
// budgets and orders. With -every 1, it makes 19 millions.
func TestAllPlans(t *testing.T) {
	plans, step := 0, 19
	if *every == 1 {
		step = 1
	}
	if voxeltest.Race || testing.Short() {
		step *= 29
	}
	for i := 0; ; i += step {
		rest := i
		pick := func(count int) int { n := rest % count; rest /= count; return n }
		c := planCase{size: volume.Vec{4, 1 + pick(5)*2, 1 + pick(5)*2}, block: 1 + pick(4)}
		c.lo, c.head, c.hint = volume.Cube(pick(2)*(c.block-1)), int64(pick(2)*3), Hint(pick(3))
		c.world.speed = []vfs.Speed{{AtOnce: true}, {}, {Late: true}, {Late: true, Long: 64},
			{Late: true, Long: 64, Near: true}}[pick(5)]
		sink := pick(4)
		c.world.all, c.world.accepts, c.refuses = sink > 1, sink > 0, sink == 3
		c.budget = budgets[pick(len(budgets))] / 2
		c.busy = pick(2) == 0
		order := pick(4)
		if rest > 0 {
			break
		}
		plans += c.run(t, order)
	}
	if t.Logf("%d plans", plans); plans < 19_000_000/step {
		t.Errorf("%d plans only", plans)
	}
}

// TestStartedInNextPlane: a portion of some rows of a slab that found no room in the first plane starts in the next
// one. Otherwise its blocks would be decoded for each plane.
func TestStartedInNextPlane(t *testing.T) {
	size := volume.Vec{4, 16, 8}
	a := flat.New(voxeltest.Grid(size, volume.Cube(4), volume.Uint8, 1), volume.Box{Max: size}, volume.Box{Max: size})
	p := newPlan(a, NoHint, 0, &tiny)
	busy := false
	mem := &planned{t: t, plan: &p, budget: 2 * tinyBlock, inUse: func(part) bool { return busy },
		starts: map[int]int{}}
	for off := int64(0); off < 2*a.PlaneBytes(); off += 8 {
		busy = off >= 16 && off < 48
		p.read(off, 8, world{speed: vfs.Speed{AtOnce: true}, all: true, accepts: true}, mem)
	}
	if p.layout.perSlab() != 4 {
		t.Fatalf("a slab has %d portions", p.layout.perSlab())
	}
	for i := range 4 {
		if mem.starts[i] != 1 {
			t.Errorf("portion %d was started %d times", i, mem.starts[i])
		}
	}
}

// TestFirstPlanes: a reader that finds all but the first plane of each portion in the page cache stays sequential, with
// portions of one slab and of two. Each slab is decoded once.
func TestFirstPlanes(t *testing.T) {
	size := volume.Vec{8, 8, 64}
	a := flat.New(voxeltest.Grid(size, volume.Cube(4), volume.Uint8, 1), volume.Box{Max: size}, volume.Box{Max: size})
	for _, c := range []struct {
		speed  vfs.Speed
		planes int64 // of a portion
	}{{vfs.Speed{AtOnce: true}, 4}, {vfs.Speed{Late: true}, 4}, {vfs.Speed{Late: true, Long: 64}, 8}} {
		p := newPlan(a, NoHint, 0, &tiny)
		mem := &planned{t: t, plan: &p, budget: 400 * tinyBlock, inUse: func(part) bool { return false },
			starts: map[int]int{}}
		w := world{speed: c.speed, all: true, accepts: true}
		p.read(0, 16, w, mem)
		for z := int64(0); z < 64; z += c.planes {
			for off := int64(0); off < 64; off += 16 {
				if p.read(z*64+off, 16, w, mem); p.state != sequential {
					t.Fatalf("%+v: state %d at plane %d", c.speed, p.state, z)
				}
			}
		}
		for i := range 16 {
			if mem.starts[i] != 1 {
				t.Errorf("%+v: slab %d was started %d times", c.speed, i, mem.starts[i])
			}
		}
	}
}

// TestAheadOfLateSource: the window of a reader of a late source has one portion more with each that the reader has
// come to, up to the bound of its memory. It has two portions of any other source, and of one for which a disk cache
// answers.
func TestAheadOfLateSource(t *testing.T) {
	size := volume.Vec{512, 512, 1024} // slabs of 8 MiB
	a := flat.New(voxeltest.Grid(size, volume.Cube(32), volume.Uint8, 1), volume.Box{Max: size}, volume.Box{Max: size})
	for _, c := range []struct {
		name       string
		speed      vfs.Speed
		reservable int64
		want       []int // portions in memory after an eighth of each slab
	}{
		{"disk", vfs.Speed{AtOnce: true}, 1 << 30, []int{2, 2, 2, 2}},
		{"late", vfs.Speed{Late: true}, 1 << 30, []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15, 15}},
		{"little memory", vfs.Speed{Late: true}, 140 * m, []int{2, 3, 4, 4}},
		{"near", vfs.Speed{Late: true, Near: true}, 1 << 30, []int{2, 2, 2, 2}},
	} {
		p := newPlan(a, HintSequential, c.reservable/4, &usual)
		mem := &planned{t: t, plan: &p, budget: 1 << 30, inUse: func(part) bool { return false }, starts: map[int]int{}}
		for i, want := range c.want {
			start := int64(i) * 8 * m
			p.read(start, 4*m, world{speed: c.speed}, mem)
			if got := len(mem.portions); got != want {
				t.Errorf("%s: %d portions in memory at slab %d, expected %d", c.name, got, i, want)
			}
		}
	}
}

// BenchmarkPlan plans the reads of a sequential reader of a cube, 128 KiB each.
func BenchmarkPlan(b *testing.B) {
	size := volume.Cube(1024)
	a := flat.New(voxeltest.Grid(size, volume.Cube(32), volume.Uint8, 1), volume.Box{Max: size}, volume.Box{Max: size})
	p := newPlan(a, NoHint, m, &usual)
	mem := &planned{t: b, plan: &p, budget: 1 << 30, inUse: func(part) bool { return false }, starts: map[int]int{}}
	w := world{speed: vfs.Speed{AtOnce: true}, all: true, accepts: true}
	b.ReportAllocs()
	for i := range b.N {
		if i%8192 == 0 {
			p, mem.portions, mem.reserved, mem.told = newPlan(a, NoHint, m, &usual), nil, 0, volume.Box{}
		}
		p.read(int64(i%8192)*128*k, 128*k, w, mem)
	}
}
