package prefetch

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/span"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// tiny are limits that arrays of some hundred bytes exceed. Memory is in blocks of up to 64 bytes, which take 256 bytes
// more.
var tiny = limits{
	page:              tinyPage,
	wideSlack:         24,
	narrowSlack:       8,
	history:           128,
	sequentialLength:  40,
	kernelReadahead:   8,
	headLength:        12,
	strideSlack:       1,
	maxGuess:          12 * tinyBlock,
	maxPartialPortion: 100,
	thickPortion:      200,
	thickPlanes:       6,
	maxSmall:          60,
	maxOnce:           300,
	maxWindow:         60 * tinyBlock,
	maxAnnounced:      150,
	leastBatch:        16,
	cell:              volume.Vec{2, 2, 2},
}

const (
	tinyPage  = 4
	tinyPiece = 16
	tinyBlock = 256 + 64
)

// enumerated is a case: an array in a file, where its blocks are from, and how it is read.
type enumerated struct {
	size, block, lo volume.Vec // of the box, of a block, and where the box starts in the grid
	clipped         bool       // the last voxel on each axis is not valid
	head            int64      // bytes in the file before the array
	source          sourceKind
	sink            sinkKind
	readers         readerKind
	hint            Hint
	settle          bool // everything that a read has started ends before the next read
}

type sourceKind int

const (
	local       sourceKind = iota // answers at once and takes announcements
	slow                          // may answer late, but does not
	late                          // answers late
	distant                       // answers late, and requests should be long
	near                          // a disk cache answers for it
	nearAtFirst                   // a disk cache answers for its first blocks
	damaged                       // a block cannot be read
	sourceKinds
)

type sinkKind int

const (
	noSink   sinkKind = iota
	someSink          // takes only what would have to be decoded again
	allSink           // takes everything
	keeping           // takes everything, and keeps it, so that it is not read any more
	refusing          // takes three writes
	sinkKinds
)

type readerKind int

const (
	inPieces  readerKind = iota // of 5 bytes, from one end to the other
	inPages                     // whole pages of the file, two at a time, as the kernel reads ahead
	inOne                       // all in one read
	inPlanes                    // the first page of each plane, then the rest of it
	strided                     // the same rows of each plane
	backward                    // from the end to the start, page by page
	scattered                   // pages in an order that looks random
	two                         // two Readers in turn: one from the start, the other from the middle
	twoInOne                    // the same with one Reader
	inSlices                    // the planes in order, as files of their own
	readerKinds
)

func (c enumerated) String() string {
	return fmt.Sprintf(
		"%v in blocks of %v at %v after %d, clipped %v, source %d, sink %d, readers %d, hint %d, settle %v",
		c.size, c.block, c.lo, c.head, c.clipped, c.source, c.sink, c.readers, c.hint, c.settle)
}

// enumeratedSource is the source of a case.
type enumeratedSource struct {
	voxeltest.Source
	kind   sourceKind
	near   *atomic.Int32 // blocks that the disk cache still has
	t      testing.TB
	blocks volume.Box
}

func (s enumeratedSource) Speed() vfs.Speed {
	speed := vfs.Speed{AtOnce: s.kind == local, Late: s.kind >= late && s.kind != damaged, Near: s.kind == near ||
		s.kind == nearAtFirst && s.near.Load() > 0}
	if speed.Late && s.kind != late {
		speed.Long = 64
	}
	return speed
}

func (s enumeratedSource) Announce(_ context.Context, box volume.Box) {
	if box.Empty() || box.Intersect(s.blocks) != box {
		s.t.Errorf("blocks %v are announced, the array has %v", box, s.blocks)
	}
}

func (s enumeratedSource) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	s.near.Add(-int32(len(blocks)))
	if speed := s.Speed(); speed.Late && !speed.Near {
		time.Sleep(time.Millisecond)
	}
	s.Source.Fill(ctx, blocks, memory)
}

// run reads an array as the case says, and compares each byte that is read or pushed. It runs in a synctest bubble.
func (c enumerated) run(t testing.TB, p *Prefetcher) {
	grid := voxeltest.Grid(c.lo.Add(c.size), c.block, volume.Uint8, 1)
	box := volume.Box{Min: c.lo, Max: c.lo.Add(c.size)}
	valid := box
	model := voxeltest.Source{Shape: grid}
	if c.clipped {
		valid.Max = valid.Max.Sub(volume.Cube(1))
		model.Shape.Size = valid.Max
	}
	src := enumeratedSource{Source: voxeltest.Source{Shape: grid}, kind: c.source, near: new(atomic.Int32), t: t}
	src.near.Store(5)
	want := model.Flat(box)
	r := enumeratedRun{enumerated: c, t: t, want: want, pushed: map[int64]bool{}}
	if c.source == damaged {
		bad := c.lo.Add(c.size.Div(volume.Cube(2))).Div(c.block)
		src.Damaged = map[volume.Vec]error{bad: errDamaged}
		r.bad = func(off int64) bool {
			at := off / int64(1) % int64(c.size[0])
			v := volume.Vec{int(at), int(off / int64(c.size[0]) % int64(c.size[1])),
				int(off / int64(c.size[0]*c.size[1]))}.Add(c.lo)
			return v.Div(c.block) == bad && valid.Contains(v)
		}
	}
	a := flat.New(grid, box, valid)
	src.blocks = a.Blocks()
	array := Array{Array: a, Source: p.cache.Source(src), Head: c.head}
	r.plane = a.PlaneBytes()
	r.read(p, array)
	synctest.Wait()
	if free := p.cache.Reservable(); !p.cache.Reserve(free) {
		t.Errorf("memory is still reserved")
	} else {
		p.cache.Unreserve(free)
	}
	if len(p.owners) > 0 {
		t.Errorf("%d readers still own memory", len(p.owners))
	}
}

// enumeratedRun is a case while it runs.
type enumeratedRun struct {
	enumerated
	t     testing.TB
	want  []byte               // the array
	bad   func(off int64) bool // reports whether a byte of the array cannot be read; nil: none
	plane int64

	mu     sync.Mutex
	writes int
	pushed map[int64]bool // pages of the file that the sink has, by their offset
}

// file returns the span of the array in the file.
func (r *enumeratedRun) file() span.Span { return span.Of(r.head, int64(len(r.want))) }

// write is the sink of the file.
func (r *enumeratedRun) write(p []byte, off int64) bool {
	s := span.Of(off, int64(len(p)))
	if s.Empty() || s.AlignIn(tinyPage) != s || s.Clip(r.file()) != s || s.Len() > tinyPiece {
		r.t.Errorf("bytes %v are pushed, the array is at %v", s, r.file())
		return false
	}
	if !bytes.Equal(p, r.want[off-r.head:][:len(p)]) {
		r.t.Errorf("wrong bytes are pushed at %d", off)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes++
	if r.sink == keeping {
		for page := range s.Cut(tinyPage) {
			r.pushed[page.Start()] = true
		}
	}
	return r.sink != refusing || r.writes < 3
}

// has reports whether the sink has a page.
func (r *enumeratedRun) has(page int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pushed[page]
}

func (r *enumeratedRun) open(p *Prefetcher, a Array) *Reader {
	x := p.NewReader(a, r.hint)
	if r.sink != noSink {
		x.Push(vfs.Sink{All: r.sink != someSink, Page: tinyPage, Piece: tinyPiece, Ahead: 4, Write: r.write})
	}
	return x
}

// check compares what a read returned.
func (r *enumeratedRun) check(p []byte, off int64, n int, err error) {
	part := span.Of(off, int64(len(p))).Clip(span.Of(0, int64(len(r.want))))
	if err != nil && err != io.EOF {
		for i := part.Start(); i < part.End(); i++ {
			if r.bad != nil && r.bad(i) {
				return
			}
		}
		r.t.Errorf("%v: %v", part, err)
		return
	}
	if int64(n) != part.Len() || !bytes.Equal(p[:n], r.want[off:][:n]) {
		r.t.Errorf("%v: %d bytes, %v, or wrong bytes", part, n, err)
	}
	for i := part.Start(); i < part.End(); i++ {
		if r.bad != nil && r.bad(i) {
			r.t.Errorf("%v: no error for the damaged byte %d", part, i)
		}
	}
}

// readAt reads a part of the array, and compares it. Pages that the sink has are not read.
func (r *enumeratedRun) readAt(x *Reader, part span.Span) {
	for page := range part.Clip(span.Of(0, int64(len(r.want)))).Add(r.head).Cut(tinyPage) {
		if r.has(page.AlignOut(tinyPage).Start()) {
			if before := part.To(page.Start() - r.head); !before.Empty() {
				r.readAll(x, before)
			}
			part = part.From(page.End() - r.head)
		}
	}
	if !part.Empty() {
		r.readAll(x, part)
	}
}

func (r *enumeratedRun) readAll(x *Reader, part span.Span) {
	p := make([]byte, part.Len())
	n, err := x.ReadAt(r.t.Context(), p, part.Start())
	r.check(p, part.Start(), n, err)
	if r.settle {
		synctest.Wait()
	}
}

// read reads the array.
func (r *enumeratedRun) read(p *Prefetcher, a Array) {
	if r.readers == inSlices {
		r.readSlices(p, a)
		return
	}
	x := r.open(p, a)
	defer x.Close()
	y := x
	if r.readers == two {
		y = r.open(p, a)
		defer y.Close()
	}
	for part := range r.parts() {
		z := x
		if (r.readers == two || r.readers == twoInOne) && part.second {
			z = y
		}
		r.readAt(z, part.Span)
	}
}

// turn is a read.
type turn struct {
	span.Span
	second bool // of the second reader
}

// parts yields the reads of the array.
func (r *enumeratedRun) parts() iter.Seq[turn] {
	size := int64(len(r.want))
	return func(yield func(turn) bool) {
		all := func(s iter.Seq[span.Span]) {
			for p := range s {
				if !yield(turn{p, false}) {
					return
				}
			}
		}
		switch file := span.New(0, r.head+size); r.readers {
		case inPieces:
			all(span.Of(0, size).Cut(5))
		case inOne:
			yield(turn{span.Of(0, size), false})
		case inPages, backward, scattered:
			n, unit := file.Pieces(tinyPage), int64(tinyPage)
			if r.readers == inPages {
				n, unit = file.Pieces(2*tinyPage), 2*tinyPage
			}
			for i := range n {
				switch {
				case r.readers == backward:
					i = n - 1 - i
				case r.readers == scattered && n%7 != 0:
					i = i * 7 % n
				}
				if s := file.Piece(i, unit).From(r.head).Add(-r.head); !s.Empty() && !yield(turn{s, false}) {
					return
				}
			}
		case inPlanes:
			for z := range size / r.plane {
				plane := span.Of(z*r.plane, r.plane)
				if !yield(turn{plane.To(plane.Start() + tinyPage), false}) ||
					r.plane > tinyPage && !yield(turn{plane.From(plane.Start() + tinyPage), false}) {
					return
				}
			}
		case strided:
			for z := range size / r.plane {
				rows := span.Of(z*r.plane, r.plane).From(z*r.plane + r.plane/3).To(z*r.plane + r.plane/3 + 2*tinyPage)
				if !yield(turn{rows, false}) {
					return
				}
			}
		case two, twoInOne:
			for s := range span.Of(0, size).Cut(6) {
				if !yield(turn{s, false}) || !yield(turn{s.Add(size/2 - size/2%6).To(size), true}) {
					return
				}
			}
		}
	}
}

// readSlices reads the planes of the array in order, as files.
func (r *enumeratedRun) readSlices(p *Prefetcher, a Array) {
	stack := p.NewStack(func() (Array, func()) { return a, func() {} })
	for z := range int64(len(r.want)) / r.plane {
		x, closed := stack.Open(int(z))
		plane := span.Of(z*r.plane, r.plane)
		for part := range plane.Cut(7) {
			if x != nil {
				r.readAll(x, part)
				continue
			}
			b := make([]byte, part.Len())
			alone := p.NewReader(a, NoHint)
			n, err := alone.ReadAt(r.t.Context(), b, part.Start())
			r.check(b, part.Start(), n, err)
			alone.Close()
		}
		closed()
	}
	time.Sleep(2 * closeDelay)
}

// budgets are those of caches in which nothing, some blocks, some rows of blocks, slabs, or all of a small array can be
// reserved.
var budgets = []int64{0, 24 * tinyBlock, 80 * tinyBlock, 400 * tinyBlock, 4000 * tinyBlock}

// every makes a test try every nth case only. n has no factor in common with the number of values of any property, so
// that all pairs of properties are tried.
var every = flag.Int("every", 479, "TestAllReaders tries one of so many cases; a prime number above 11, or 1")

// runEnumerated runs every nth case with each budget, each budget in a bubble of its own.
func runEnumerated(t *testing.T, budgets []int64, every int, cases iter.Seq[enumerated]) {
	if voxeltest.Race {
		every *= 13
	}
	panics := guard.Count()
	for _, budget := range budgets {
		t.Run(fmt.Sprint(budget), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := cache.New(budget)
				defer func() {
					c.Close()
					if lent := c.Stats().LentBytes; lent != 0 {
						t.Errorf("%d bytes of blocks are still lent", lent)
					}
				}()
				p := New(c)
				p.limits = &tiny
				n := 0
				for e := range cases {
					if n++; n%every != 0 {
						continue
					}
					e.run(t, p)
					if n := guard.Count() - panics; n > 0 {
						t.Errorf("%d panics: all reads may be right, but nothing is done ahead of the reader any more",
							n)
					}
					if t.Failed() {
						t.Fatalf("budget %d, %v", budget, e)
					}
				}
			})
		})
	}
}

// TestAllSizes reads all arrays of 1 to 9 voxels a side in blocks of 1 to 4 from one end to the other, at all offsets
// in a block and in a page. That is with -every 31 or less; else it tries one of three cases, so that there is one of
// each array with each block at least.
func TestAllSizes(t *testing.T) {
	step := 3
	if *every <= 31 {
		step = 1
	}
	runEnumerated(t, budgets[1:4], step, func(yield func(enumerated) bool) {
		for size := range (volume.Box{Min: volume.Cube(1), Max: volume.Cube(10)}).All() {
			for block := 1; block <= 4; block++ {
				for i := range block * (tinyPage + 1) {
					e := enumerated{size: size, block: volume.Cube(block), lo: volume.Cube(i % block),
						head: int64(i / block), sink: allSink, settle: true}
					if !yield(e) {
						return
					}
				}
			}
		}
	})
}

// TestAllReaders reads arrays in all ways, from all kinds of sources, with all kinds of sinks.
func TestAllReaders(t *testing.T) {
	runEnumerated(t, budgets, *every, func(yield func(enumerated) bool) {
		for _, plane := range [][2]int{{1, 1}, {4, 1}, {3, 3}, {4, 4}, {7, 5}} {
			for z := 1; z <= 9; z++ {
				for block := 1; block <= 4; block++ {
					for i := range 2 * 2 * 2 * 3 * 3 * int(readerKinds) * int(sinkKinds) * int(sourceKinds) {
						pick := func(count int) int { p := i % count; i /= count; return p }
						e := enumerated{size: volume.Vec{plane[0], plane[1], z}, block: volume.Cube(block)}
						e.readers, e.sink, e.source = readerKind(pick(int(readerKinds))),
							sinkKind(pick(int(sinkKinds))), sourceKind(pick(int(sourceKinds)))
						e.hint, e.head = Hint(pick(3)), int64(pick(3))
						e.settle, e.clipped, e.lo = pick(2) == 0, pick(2) == 0, volume.Cube((block-1)*pick(2))
						if !yield(e) {
							return
						}
					}
				}
			}
		}
	})
}
