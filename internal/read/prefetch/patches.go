package prefetch

import (
	"slices"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/small/span"
)

// patches recognises readers that copy patches out of a mapped file, and guesses what they read next. A patch is a box
// that has some rows of each of its planes: the kernel reads these rows of one plane after the other. Several threads
// may copy patches at the same time.
//
// A guess is about no more planes than the reader has read of this patch, or of the patches before. Only a read proves
// that a reader has come to a plane. So a guess leaves out a page of the last plane. Planes are numbered from 0, all
// other numbers are bytes.
type patches struct {
	*limits
	plane int64 // size of a plane of the array
	count int64 // planes of the array
	above int64 // planes of the first slab that are not in the array
	slab  int64 // planes of a slab

	rows      int64 // size of the rows of a plane that a row of blocks has
	rowMemory int64 // memory for a row of blocks
	memory    int64 // for the blocks of a guess

	recent []patch // the one that was read last is the last one

	length    int64 // of the run of a plane that the next patch has
	least     int64 // what length was found to be at least
	checked   int   // patches since least was found or made less
	longest   int64 // length of the longest first read of a patch
	fromStart bool  // the reader needs the first half of what the kernel reads, so it does not map the file
}

// guess is what a reader of a patch probably reads next: a run of each of the planes [from, to). If proof is true, the
// page in the middle of the run of the last plane is left out: its read proves the guess. It is in the middle because
// the kernel reads the pages around it, too, if they are not in memory.
type guess struct {
	run      span.Span
	from, to int64
	proof    bool
}

const (
	// maxPatches is the number of patches that are remembered.
	maxPatches = 8
	// maxUnproven is the number of remembered patches that may be guessed when they begin without a read that proves
	// them.
	maxUnproven = 6
	// leastPatches is the number of patches after which a run that was too short once is tried again.
	leastPatches = 32
)

// newPatches returns patches of an array whose guesses may use some memory.
func newPatches(a *flat.Array, memory int64, l *limits) patches {
	box, side := a.Box(), a.Grid().Block
	size := a.Blocks().Size()
	return patches{
		limits: l,
		plane:  a.PlaneBytes(), count: int64(box.Size()[2]), slab: int64(side[2]),
		above: int64(box.Min[2] - box.Min.Div(side)[2]*side[2]),
		rows:  a.RowBytes() * int64(side[1]), rowMemory: min(int64(size[0]),
			l.maxGuess) * cache.BlockMemory(a.Grid().BlockBytes()),
		memory: min(memory, l.maxGuess),
	}
}

// observe records a read of n bytes at off. It reports whether the reader reads the same rows of one plane after the
// other, and returns what it probably reads next, which may be nothing.
func (p *patches) observe(off, n int64) (strided bool, g guess) {
	if p.plane <= 2*p.strideSlack || n <= 0 {
		return false, guess{}
	}
	middle := off + n/2/p.page*p.page
	z := middle / p.plane
	read := span.New(off-z*p.plane, off-z*p.plane+n).To(p.plane)
	i := len(p.recent) - 1
	for i >= 0 && !p.continues(&p.recent[i], z, read) {
		i--
	}
	if i < 0 {
		return false, p.begin(z, read, middle-z*p.plane)
	}
	q := p.recent[i]
	p.recent = append(slices.Delete(p.recent, i, i+1), q)
	return p.goOn(&p.recent[len(p.recent)-1], z, read)
}

// begin adds a patch that begins with a read of plane z. If a page of a mapped file is not in memory, the kernel reads
// as much before this page as after it: so the reader needs the middle of the read.
func (p *patches) begin(z int64, read span.Span, middle int64) guess {
	if len(p.recent) > 0 {
		p.learn(&p.recent[len(p.recent)-1])
	}
	if len(p.recent) == maxPatches {
		p.recent = slices.Delete(p.recent, 0, 1)
	}
	p.longest = max(p.longest, read.Len())
	q := patch{first: z, last: z, read: read, need: read, readahead: read.Start(), pushed: z + 1}
	q.typical = read.Len() == p.longest
	if !p.fromStart { // pages that are in memory may have cut off a part of the read
		q.need = read.From(min(read.End()-p.longest/2/p.page*p.page, middle))
	}
	var g guess
	depth := min(p.depth(), p.count-z)
	if depth == 0 {
		p.least = 0 // patches of another size may follow
	}
	if depth > 2 && p.length > 0 {
		q.need = span.Of(q.need.Start(), p.length).To(p.plane)
		q.guessed = depth
		g = p.guess(&q)
	}
	p.recent = append(p.recent, q)
	return g
}

// depth returns the number of planes that a new patch probably has, or 0 if too many guesses turned out to be wrong, or
// may.
func (p *patches) depth() (depth int64) {
	unproven := 0
	for i := range p.recent {
		q := &p.recent[i]
		depth = max(depth, q.planes())
		if q.planes() < q.guessed {
			unproven++
		}
	}
	if unproven >= maxUnproven {
		return 0
	}
	return depth
}

// learn records how long the run of a patch was that probably ends. A length that was enough may be too long: the next
// patch has one page less. But it has no less than was found to be needed, because a run that is too short costs more
// than one that is too long.
func (p *patches) learn(q *patch) {
	if q.planes() == 1 || !q.typical {
		return
	}
	if p.length == 0 {
		p.length = q.need.Len()
	}
	if p.checked++; p.checked > leastPatches {
		p.least, p.checked = p.least-p.page, 0
	}
	p.length = max(p.length-p.page, p.least, p.page)
}

// goOn records a read of plane z of a patch.
func (p *patches) goOn(q *patch, z int64, read span.Span) (strided bool, g guess) {
	proved := q.proves(z)
	missed := z < q.pushed && !q.need.Contains(read.Start())
	q.read = q.read.Union(read)
	if z == q.first {
		q.readahead = max(q.readahead, read.Start())
	}
	if z <= q.last {
		return q.last > q.first, guess{}
	}
	if q.last == q.first && q.guessed == 0 && q.readahead > q.need.Start() {
		// the kernel reads ahead of a reader, who did not need its last read
		q.need = span.New(q.need.Start(), q.readahead)
	}
	q.last = z
	if proved {
		return true, guess{}
	}
	if missed {
		return true, p.correct(q, read)
	}
	return true, p.guess(q)
}

// correct records a read of rows that a guess left out. The reader needs them in the other planes of the guess, too.
func (p *patches) correct(q *patch, read span.Span) guess {
	g := guess{from: q.last + 1, to: q.pushed}
	if read.Start() < q.need.Start() {
		p.fromStart = p.fromStart || q.typical && p.near(read.Start(), q.read.Start())
		g.run = span.New(read.Start(), q.need.Start())
		q.need = span.New(read.Start(), q.need.End())
		return g
	}
	least := read.Start() + p.page - q.need.Start()
	g.run = span.New(q.need.End(), min(read.Start()+max(read.Len()/2/p.page, 1)*p.page, p.plane))
	q.need = span.New(q.need.Start(), g.run.End())
	if q.typical {
		p.least, p.checked = max(p.least, least), 0
		p.length = max(p.length, q.need.Len())
	}
	return g
}

// guess returns what follows the last plane that was read of a patch: the planes up to the last one that was guessed
// when the patch began. Of a patch with more planes, it returns as many planes as were read more, in the same slab.
func (p *patches) guess(q *patch) guess {
	from, slabs := q.last+1, p.slabs(q)
	end := q.first + q.guessed
	to := end
	if more := q.planes() - max(q.guessed, 1); more >= 0 {
		to = min(from+more, p.slabEnd(q.last))
	}
	q.pushed = max(from, min(to, p.slabEnd(q.last)+(slabs-1)*p.slab, p.count))
	q.proof = q.pushed == end && from < end
	if slabs == 0 {
		return guess{}
	}
	return guess{q.need, from, q.pushed, q.proof}
}

// slabEnd returns the first plane after the slab of plane z.
func (p *patches) slabEnd(z int64) int64 { return z - (z+p.above)%p.slab + p.slab }

// slabs returns the number of slabs that a guess may have.
func (p *patches) slabs(q *patch) int64 {
	return p.memory / ((q.read.Union(q.need).Len()/p.rows + 2) * p.rowMemory)
}

// patch is a place that a reader reads, plane by plane.
type patch struct {
	first, last int64     // the planes that were read first and last
	read        span.Span // all that was read of a plane
	need        span.Span // what the reader needs of a plane, as far as known

	readahead int64 // start of the last read of the first plane
	pushed    int64 // the first plane after those that were guessed
	typical   bool  // the first read was as long as those of other patches: no page of it was in memory before
	guessed   int64 // planes that were guessed when the patch began; 0: none
	proof     bool  // the last plane that was guessed lacks a page
}

// continues reports whether a read of plane z probably belongs to patch q.
func (p *patches) continues(q *patch, z int64, read span.Span) bool {
	switch {
	case z < q.last-1 || z > max(q.last+1, q.pushed):
		return false
	case z <= q.last || q.pushed == q.last+1 || q.proves(z):
		return read.Start() <= q.read.End()+p.strideSlack && read.End() >= q.read.Start()-p.strideSlack
	case z < q.pushed && p.misses(q, read):
		return true
	}
	return p.near(read.Start(), q.read.Start())
}

// proves reports whether a read of plane z shows that the guess was right up to this plane.
func (q *patch) proves(z int64) bool { return q.proof && z == q.pushed-1 }

// misses reports whether the read is of the pages after a guess of patch q, or before it, which the reader needs as
// well.
func (p *patches) misses(q *patch, read span.Span) bool {
	return p.near(read.Start(), q.need.End()) || p.near(read.End(), q.need.Start())
}

// near reports whether two offsets in a plane are in the same page or in neighbours. Planes need not consist of pages.
func (p *patches) near(a, b int64) bool { return a-b < 2*p.page && b-a < 2*p.page }

// planes returns the number of planes that the patch is known to have.
func (q *patch) planes() int64 { return q.last - q.first + 1 }
