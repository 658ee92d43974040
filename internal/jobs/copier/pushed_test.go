package copier

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// TestPushed copies files that push pieces of later ranges while they are read. Pushed bytes are not read.
func TestPushed(t *testing.T) {
	const size = 20*rangeBytes + 100
	for _, c := range []struct {
		name   string
		pieces [][2]int64 // start and end
		read   int64      // bytes
	}{
		{"nothing", nil, size},
		{"one page", [][2]int64{{5 * rangeBytes, 5*rangeBytes + pageSize}}, size - pageSize},
		{"across ranges", [][2]int64{{6*rangeBytes - 3*pageSize, 8*rangeBytes + 2*pageSize}},
			size - 2*rangeBytes - 5*pageSize},
		{"every other page", func() (pieces [][2]int64) {
			for at := int64(4 * rangeBytes); at < 20*rangeBytes; at += 2 * pageSize {
				pieces = append(pieces, [2]int64{at, at + pageSize})
			}
			return pieces
		}(), size - 8*rangeBytes},
		{"all later ranges", [][2]int64{{4 * rangeBytes, 20 * rangeBytes}}, 4*rangeBytes + 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakeFile{name: "a", size: size}
			var push func(p []byte, off int64) bool
			var pushed atomic.Bool
			f.onPush = func(write func(p []byte, off int64) bool) { push = write }
			f.reading = func(off, n int64) error {
				if pushed.CompareAndSwap(false, true) {
					for _, p := range c.pieces {
						if !push(f.bytes()[p[0]:p[1]], p[0]) {
							return fmt.Errorf("%v was rejected", p)
						}
					}
				}
				return nil
			}
			dir := t.TempDir()
			output, _, err := run(t, t.Context(), newFake(f), "a", dir, "b", func(o *Options) { o.Jobs = 1 })
			if err != nil || output != "" {
				t.Fatalf("%v\n%s", err, output)
			}
			check(t, dir, "b", f)
			read := int64(0)
			for _, r := range f.reads {
				read += r[1] - r[0]
			}
			if read != c.read {
				t.Errorf("%d bytes were read, expected %d", read, c.read)
			}
			if push(make([]byte, pageSize), 0) {
				t.Error("a piece was accepted after the end")
			}
			check(t, dir, "b", f)
		})
	}
}
