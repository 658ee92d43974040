package view

import "github.com/wkwfs/wkwfs/vfs"

// guess is what is thought of a reader who has read some of a plane on end: that it will read the rest of it, for which all
// blocks of the layer are needed. Then these are decoded at once, as a slab, and not kept. Who comes back to the layer has its
// blocks kept. A guess that was wrong has cost a layer of blocks; there is none again until somebody has read most of a plane.
type guess struct {
	way  pattern // what the reader has come through since it was last somewhere else
	made bool    // since then
}

const (
	// hint is how many bytes a reader has to read on end. The kernel asks for so much at once if the reader does: it reads less
	// ahead.
	hint = 128 << 10
	// leastRows is how many rows of blocks a layer has at least that is decoded at once: few would be decoded on few cores.
	leastRows = 16
	// maxGuesses is how many guesses are remembered.
	maxGuesses = 1 << 14
)

// note tells of a read. If the reader has left its way with it, note returns how much it has read there.
func (g *guess) note(off, n int64) (read int64, left bool) {
	read = g.way.seen
	return read, !g.way.note(off, n, near)
}

// guesses is what came of the guesses about all readers, whatever they had open.
type guesses struct {
	made  map[slabKey]bool     // layers that were decoded
	wrong map[vfs.Version]bool // arrays whose readers want less than planes
}

// remember tells that a layer is decoded for a guess.
func (g *guesses) remember(layer slabKey) {
	if g.made == nil || len(g.made)+len(g.wrong) >= maxGuesses {
		g.made, g.wrong = map[slabKey]bool{}, map[vfs.Version]bool{}
	}
	g.made[layer] = true
}

// judge tells how many bytes somebody has read on end of an array with planes of so many bytes, for whom a guess was made or not.
func (g *guesses) judge(array vfs.Version, guessed bool, read, plane int64) {
	if read >= plane/2 {
		delete(g.wrong, array)
	} else if guessed {
		g.wrong[array] = true
	}
}

// readsPlane reports whether a reader is thought to read the plane that it is in, and all blocks of that should be decoded for it: they
// are not too many, and were not before. A reader who comes from another layer has perhaps read its last plane, and the
// kernel goes on a little. It is called with slabs.mu held.
func (s *stream) readsPlane(off int64) bool {
	whole := s.cutting
	whole.rows = whole.all()
	if s.flat.plane < 4*hint || whole.size() > most || whole.rows < leastRows || s.memory > 0 && !s.guessed {
		return false
	}
	i, all := whole.index(off), s.slabs.guesses
	return s.guess.way.flows(hint-1) && whole.index(s.guess.way.begin) == i &&
		!all.wrong[s.version] && !all.made[slabKey{s.version, whole.box(i)}]
}

// beginGuessed has a layer decoded for a reader of a plane. It is called with slabs.mu held.
func (s *stream) beginGuessed(i int, off int64) *slab {
	s.come(off, false)
	begun := s.begin(i)
	if begun != nil {
		s.guess.made = true
		s.slabs.guesses.remember(begun.key)
	}
	return begun
}

// judge tells that the reader has left where it was, and how much it has read there. It is called with slabs.mu held.
func (s *stream) judge(read int64) {
	all := &s.slabs.guesses
	all.judge(s.version, s.guess.made, read, s.flat.plane)
	s.guess.made = false
	if s.guessed && all.wrong[s.version] && !s.busy() {
		s.drop()
	}
}
