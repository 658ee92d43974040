package copier

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// TestOffered copies files that offer pieces of what follows while they are read, and asks
// for nothing twice.
func TestOffered(t *testing.T) {
	const size = 20*side + 100
	for _, c := range []struct {
		name   string
		pieces [][2]int64 // begin and end
		read   int64      // bytes that are asked for
	}{
		{"nothing", nil, size},
		{"one page", [][2]int64{{5 * side, 5*side + page}}, size - page},
		{"across ranges", [][2]int64{{6*side - 3*page, 8*side + 2*page}}, size - 2*side - 5*page},
		{"every other page", func() (pieces [][2]int64) {
			for at := int64(4 * side); at < 20*side; at += 2 * page {
				pieces = append(pieces, [2]int64{at, at + page})
			}
			return pieces
		}(), size - 8*side},
		{"all that is left", [][2]int64{{4 * side, 20 * side}}, 4*side + 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakeFile{name: "a", size: size}
			var offer func(p []byte, off int64) bool
			var offered atomic.Bool
			f.offer = func(take func(p []byte, off int64) bool) { offer = take }
			f.reading = func(off, n int64) error {
				if offered.CompareAndSwap(false, true) {
					for _, p := range c.pieces {
						if !offer(f.bytes()[p[0]:p[1]], p[0]) {
							return fmt.Errorf("%v is not welcome", p)
						}
					}
				}
				return nil
			}
			dir := t.TempDir()
			said, _, err := run(t, t.Context(), newFake(f), "a", dir, "b", func(o *Options) { o.Jobs = 1 })
			if err != nil || said != "" {
				t.Fatalf("%v\n%s", err, said)
			}
			check(t, dir, "b", f)
			read := int64(0)
			for _, r := range f.reads {
				read += r[1] - r[0]
			}
			if read != c.read {
				t.Errorf("%d bytes were read, expected %d", read, c.read)
			}
			if offer(make([]byte, page), 0) {
				t.Error("a piece is welcome after the end")
			}
			check(t, dir, "b", f)
		})
	}
}
