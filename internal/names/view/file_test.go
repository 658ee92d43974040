package view

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/read/prefetch"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// gaps are the holes of voxels by a naive model: which bytes are in one.
type gaps []bool

func (g gaps) next(off int64, in bool) int64 {
	for off < int64(len(g)) && g[off] != in {
		off++
	}
	return off
}

func (g gaps) SeekHole(off int64) (int64, error) { return g.next(off, true), nil }
func (g gaps) SeekData(off int64) (int64, error) {
	if off = g.next(off, false); off >= int64(len(g)) {
		return 0, io.EOF
	}
	return off, nil
}

// TestAllFiles reads all ranges of files with all small heads, voxels and tails, and looks for data and holes at each
// offset.
func TestAllFiles(t *testing.T) {
	blocks := cache.New(1 << 20)
	defer blocks.Close()
	p := prefetch.New(blocks)
	size := volume.Vec{2, 2, 3}
	src := voxeltest.Source{Shape: voxeltest.Grid(size, volume.Vec{2, 1, 2}, volume.Uint8, 1)}
	newReader := func(box volume.Box) *prefetch.Reader {
		array := flat.New(src.Shape, box, volume.Box{Max: size})
		return p.NewReader(prefetch.Array{Array: array, Source: blocks.Source(src)}, prefetch.NoHint)
	}
	for head := range 5 {
		for tail := range 4 {
			for _, box := range []volume.Box{{}, {Max: volume.Cube(1)}, {Min: volume.Vec{1, 0, 1}, Max: size},
				{Max: volume.Vec{2, 2, 2}}} {
				voxels := src.Flat(box)
				content := bytes.Join([][]byte{bytes.Repeat([]byte{0xE1}, head), voxels,
					bytes.Repeat([]byte{0xE2}, tail)}, nil)
				layout := header.Layout{Head: content[:head], TailSize: int64(tail)}
				if tail > 0 {
					layout.Tail = bytes.NewReader(content[len(content)-tail:])
				}
				for _, whole := range []bool{false, true} {
					if whole && (box.Empty() || box.Min != volume.Vec{}) {
						continue
					}
					var r voxelReader
					if !box.Empty() {
						r = arrayReader{newReader(box)}
					}
					f := newFile(info{size: int64(len(content))}, layout, r, func() {})
					if whole { // the box is a part of a larger array, as a plane is
						f.whole = newReader(volume.Box{Min: volume.Vec{0, 0, -1}, Max: size})
						f.offset, f.closeWhole = 4, f.whole.Close
					}
					checkFile(t, fmt.Sprintf("head of %d, voxels of %v, tail of %d, whole %v", head, box, tail, whole),
						f, content, len(voxels))
					f.Close()
				}
			}
		}
	}
}

// checkFile compares a file with its content. voxels is the length of the voxels in it.
func checkFile(t *testing.T, what string, f *openFile, content []byte, voxels int) {
	t.Helper()
	head, size := len(f.layout.Head), len(content)
	for off := -1; off <= size+2; off++ {
		for n := range size + 4 {
			want := content[min(max(off, 0), size):min(max(off+n, 0), size)]
			got := bytes.Repeat([]byte{0xAA}, n)
			read, err := f.ReadAtContext(t.Context(), got, int64(off))
			if off < 0 {
				want = nil
			}
			if !bytes.Equal(got[:read], want) || (err == nil) != (off >= 0 && read == n) ||
				off >= 0 && err != nil && err != io.EOF {
				t.Fatalf("%s: %d bytes at %d: got %v, %v, expected %v", what, n, off, got[:read], err, want)
			}
		}
	}
	for first := range voxels + 1 {
		for end := first; end <= voxels; end++ {
			in := make(gaps, size+1) // the end is a hole
			in[size] = true
			for i := first; i < end; i++ {
				in[head+i] = true
			}
			if f.holes = in[head : head+voxels]; f.voxels == nil {
				f.holes = nil
			}
			for off := range size {
				data, err := f.SeekData(int64(off))
				if want := in.next(int64(off), false); (err == io.EOF) != (want == int64(size+1)) ||
					err == nil && data != want {
					t.Fatalf("%s, hole from %d to %d: data from %d is at %d, %v, expected %d", what, first, end, off,
						data, err, want)
				}
				hole, err := f.SeekHole(int64(off))
				if want := in.next(int64(off), true); err != nil || hole != want {
					t.Fatalf("%s, hole from %d to %d: the hole from %d is at %d, %v, expected %d", what, first, end,
						off, hole, err, want)
				}
			}
		}
	}
}
