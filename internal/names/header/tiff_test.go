package header

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/wkwfs/wkwfs/volume"
)

// page is a directory: values by tag.
type page map[uint16][]uint64

// readTIFF reads all directories of a layout. voxels is the size of the voxels in bytes. It shares no code with the
// writer.
func readTIFF(t *testing.T, l Layout, voxels int64) (pages []page, description string) {
	t.Helper()
	tailStart := int64(len(l.Head)) + voxels
	read := func(at uint64, n int) []byte {
		b := make([]byte, n)
		switch {
		case at+uint64(n) <= uint64(len(l.Head)):
			copy(b, l.Head[at:])
		case int64(at) >= tailStart:
			if _, err := l.Tail.ReadAt(b, int64(at)-tailStart); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
		default:
			t.Fatalf("directory data at %d, between head and tail", at)
		}
		return b
	}
	number := func(b []byte) uint64 {
		var wide [8]byte
		copy(wide[:], b)
		return binary.LittleEndian.Uint64(wide[:])
	}
	big := l.Head[2] == 43
	w := 4
	if big {
		w = 8
	}
	for at := number(read(uint64(w), w)); at != 0; {
		if at%16 != 0 && len(pages) > 0 {
			t.Fatalf("directory at %d", at)
		}
		countBytes := map[bool]int{false: 2, true: 8}[big]
		n := int(number(read(at, countBytes)))
		at += uint64(countBytes)
		p := page{}
		for lastTag := uint64(0); n > 0; n-- {
			f := read(at, 4+2*w)
			at += uint64(len(f))
			tag, count := number(f[:2]), int(number(f[4:4+w]))
			if tag <= lastTag {
				t.Fatalf("tag %d after %d", tag, lastTag)
			}
			lastTag = tag
			size := map[uint64]int{2: 1, 3: 2, 4: 4, 5: 8, 16: 8}[number(f[2:4])]
			data := f[4+w:]
			if size*count > w {
				data = read(number(data), size*count)
			}
			if tag == 270 {
				description = string(data[:count])
			}
			for i := range count {
				p[uint16(tag)] = append(p[uint16(tag)], number(data[i*size:(i+1)*size]))
			}
		}
		pages = append(pages, p)
		at = number(read(at, w))
	}
	return pages, description
}

func TestTIFFPages(t *testing.T) {
	tests := map[string]struct {
		array  Array
		big    bool
		strips int
	}{
		"gray": {gray, false, 1}, "rgb": {rgb, false, 1}, "pair": {pair, false, 1}, "unplaced": {unplaced, false, 1},
		"large": {large, true, 3},
		"movie": {movie, false, 1},
		"slice": {with(func(a *Array) { a.Grid.Size[2] = 1 }), false, 1},
		"many":  {with(func(a *Array) { a.Grid.Size = volume.Vec{1, 1, 1001} }), false, 1},
		// A file with 32-bit offsets. One more row and one more plane need a BigTIFF.
		"just classic": {with(func(a *Array) { a.Grid.Size = volume.Vec{1 << 14, 1<<14 - 1, 8 - 1} }), false, 1},
		"just big":     {with(func(a *Array) { a.Grid.Size = volume.Vec{1 << 14, 1 << 14, 8} }), true, 1},
		"big slice":    {with(func(a *Array) { a.Grid.Size = volume.Vec{1 << 16, 1 << 15, 1} }), true, 4},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := test.array.Grid
			l, err := TIFF(test.array)
			if err != nil {
				t.Fatal(err)
			}
			if big := l.Head[2] == 43; big != test.big {
				t.Errorf("big %v, want %v", big, test.big)
			}
			pages, description := readTIFF(t, l, test.array.Bytes())
			if want := g.Size[2] * max(test.array.Times, 1); len(pages) != want {
				t.Fatalf("%d pages, want %d", len(pages), want)
			}
			prefix, suffix := "ImageJ=", "\n\x00"
			if test.big && ome(test.array) != nil {
				prefix, suffix = "<?xml ", "</OME>\x00"
			}
			if !strings.HasPrefix(description, prefix) || !strings.HasSuffix(description, suffix) {
				t.Errorf("description %q", description)
			}
			next := uint64(len(l.Head))
			for z, p := range pages {
				if p[256][0] != uint64(g.Size[0]) || p[257][0] != uint64(g.Size[1]) || p[277][0] != uint64(g.Channels) {
					t.Fatalf("page %d: %v", z, p)
				}
				if len(p[258]) != g.Channels || p[258][g.Channels-1] != uint64(8*g.Type.Size()) ||
					len(p[339]) != g.Channels {
					t.Fatalf("page %d: bits %v, formats %v", z, p[258], p[339])
				}
				if len(p[273]) != test.strips || len(p[279]) != test.strips {
					t.Fatalf("page %d: %d strips, want %d", z, len(p[273]), test.strips)
				}
				rows := min(p[278][0]*uint64(test.strips), uint64(g.Size[1]))
				if rows != uint64(g.Size[1]) {
					t.Fatalf("page %d: %d rows in a strip", z, p[278][0])
				}
				for i, offset := range p[273] { // strips are adjacent
					if offset != next {
						t.Fatalf("page %d strip %d at %d, want %d", z, i, offset, next)
					}
					next += p[279][i]
				}
			}
			if next != uint64(len(l.Head))+uint64(test.array.Bytes()) {
				t.Errorf("pages end at %d", next)
			}
		})
	}
}

// TestTIFFColours: three or four channels of uint8 are RGB. The other channels are extra samples without a meaning.
func TestTIFFColours(t *testing.T) {
	for _, c := range []struct {
		kind        volume.Type
		channels    int
		photometric uint64
		extra       int
	}{
		{volume.Uint8, 1, 1, 0}, {volume.Uint8, 2, 1, 1}, {volume.Uint8, 3, 2, 0}, {volume.Uint8, 4, 2, 1},
		{volume.Uint8, 5, 1, 4},
		{volume.Int8, 4, 1, 3}, {volume.Uint16, 3, 1, 2}, {volume.Uint16, 4, 1, 3},
	} {
		a := with(func(a *Array) { a.Grid.Type, a.Grid.Channels = c.kind, c.channels })
		l, err := TIFF(a)
		if err != nil {
			t.Fatal(err)
		}
		pages, _ := readTIFF(t, l, a.Grid.Bytes())
		for z, p := range pages {
			if p[262][0] != c.photometric || !slices.Equal(p[338], repeat(0, c.extra)) {
				t.Errorf("%d × %v, page %d: interpretation %v, extra samples %v", c.channels, c.kind, z, p[262], p[338])
			}
		}
	}
}

func TestTIFFTailIsReadAnywhere(t *testing.T) {
	for name, a := range arrays {
		l, err := TIFF(a)
		if err != nil {
			t.Fatal(err)
		}
		if l.TailSize == 0 {
			continue
		}
		whole := make([]byte, l.TailSize)
		if n, err := l.Tail.ReadAt(whole, 0); n != len(whole) || err != nil {
			t.Fatalf("%s: %d of %d, %v", name, n, len(whole), err)
		}
		if err := iotest.TestReader(io.NewSectionReader(l.Tail, 0, l.TailSize), whole); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 2000 {
			off := random.Int64N(l.TailSize)
			p := bytes.Repeat([]byte{0xff}, random.IntN(700))
			n, err := l.Tail.ReadAt(p, off)
			end := min(off+int64(len(p)), l.TailSize)
			if !bytes.Equal(p[:n], whole[off:end]) || (err == io.EOF) != (n < len(p)) {
				t.Fatalf("%s: %d bytes at %d: got %d, %v", name, len(p), off, n, err)
			}
		}
	}
}

// TestAllSmallTIFFs writes small arrays of all shapes with strips of all lengths, in both widths. The strips of all
// pages are the voxels, and all ranges of the tail agree.
func TestAllSmallTIFFs(t *testing.T) {
	for size := range (volume.Box{Min: volume.Cube(1), Max: volume.Vec{4, 6, 5}}).All() {
		for channels := 1; channels <= 5; channels += 2 {
			for strip := int64(0); strip <= 20; strip += 4 {
				for _, width := range []tiffWidth{classic, bigTIFF} {
					a := with(func(a *Array) { a.Grid.Size, a.Grid.Channels = size, channels })
					f, err := newTIFF(a, width, strip)
					if err != nil {
						t.Fatal(err)
					}
					checkStrips(t, a, f, strip)
					if size[0]+size[1] == 3 && channels == 1 && strip == 4 {
						checkTail(t, f.layout())
					}
				}
			}
		}
	}
}

func checkStrips(t *testing.T, a Array, f *tiffFile, strip int64) {
	t.Helper()
	g, l := a.Grid, f.layout()
	row := uint64(g.VoxelBytes() * g.Size[0])
	next := uint64(len(l.Head))
	pages, _ := readTIFF(t, l, g.Bytes())
	if len(pages) != g.Size[2] || int64(len(l.Head))%Align != 0 || f.end() != int64(len(l.Head))+g.Bytes()+l.TailSize {
		t.Fatalf("%v, strips of %d: %d pages, a head of %d, a file of %d", g, strip, len(pages), len(l.Head), f.end())
	}
	for z, p := range pages {
		for i, offset := range p[273] {
			n := p[279][i]
			if offset != next || n == 0 || n%row != 0 || n > max(uint64(strip), row) ||
				n != p[278][0]*row && i+1 < len(p[273]) {
				t.Errorf("%v, strips of %d, page %d, strip %d: %d bytes at %d, expected at %d", g, strip, z, i, n,
					offset, next)
			}
			next += n
		}
		if next != uint64(len(l.Head))+uint64(z+1)*uint64(g.Size[1])*row {
			t.Errorf("%v, strips of %d: page %d ends at %d", g, strip, z, next)
		}
	}
}

// checkTail compares all ranges of a tail with the whole tail.
func checkTail(t *testing.T, l Layout) {
	t.Helper()
	if l.TailSize == 0 {
		return
	}
	whole := make([]byte, l.TailSize)
	if n, err := l.Tail.ReadAt(whole, 0); n != len(whole) || err != nil && err != io.EOF {
		t.Fatalf("%d of %d, %v", n, len(whole), err)
	}
	p := make([]byte, len(whole)+1)
	for off := -1; off <= len(whole)+1; off++ {
		for n := 1; n <= len(whole)+1 && n < 40; n++ {
			read, err := l.Tail.ReadAt(p[:n], int64(off))
			if off < 0 || off >= len(whole) {
				if read != 0 || err == nil {
					t.Fatalf("%d bytes at %d of %d: got %d, %v", n, off, len(whole), read, err)
				}
				continue
			}
			if want := whole[off:min(off+n, len(whole))]; !bytes.Equal(p[:read], want) ||
				(err == io.EOF) != (read < n) {
				t.Fatalf("%d bytes at %d of %d: got %d, %v", n, off, len(whole), read, err)
			}
		}
	}
}

// BenchmarkTIFFTail reads from the tail of a volume with 100,000 planes. It must be as fast as with few planes.
func BenchmarkTIFFTail(b *testing.B) {
	a := with(func(a *Array) { a.Grid.Size = volume.Vec{100000, 100000, 100000} })
	l, err := TIFF(a)
	if err != nil {
		b.Fatal(err)
	}
	p := make([]byte, 128<<10)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		if _, err := l.Tail.ReadAt(p, l.TailSize/2); err != nil {
			b.Fatal(err)
		}
	}
}
