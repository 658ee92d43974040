package cseg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/precomputed/internal/reftest"
	"github.com/wkwfs/wkwfs/volume"
)

// source is a chunk of labels to encode.
type source struct {
	size, block [3]int
	channels    int
	width       int // bytes of a label
	indexBits   int // at least; a block with more labels uses more
	label       func(c, x, y, z int) uint64
}

// everyVoxel returns a different label for each voxel and channel.
func everyVoxel(c, x, y, z int) uint64 { return uint64(c+1)<<28 | uint64(z<<16|y<<8|x) }

// bands returns few different labels per block.
func bands(c, x, y, z int) uint64 { return uint64(c)*1000 + uint64(x/3+y/5*10+z/7*100) }

// flat returns the decoded labels.
func (s source) flat() []byte {
	var out []byte
	for c := range s.channels {
		for z := range s.size[2] {
			for y := range s.size[1] {
				for x := range s.size[0] {
					out = s.put(out, s.label(c, x, y, z))
				}
			}
		}
	}
	return out
}

// put appends a label.
func (s source) put(out []byte, label uint64) []byte {
	return append(out, binary.LittleEndian.AppendUint64(nil, label)[:s.width]...)
}

// encode returns the chunk. For each channel it has the headers, then the table and the indices of each block.
func (s source) encode() []byte {
	out := make([]byte, s.channels*wordBytes)
	for c := range s.channels {
		start := len(out)
		binary.LittleEndian.PutUint32(out[c*wordBytes:], uint32(start/wordBytes))
		var grid [3]int
		for axis := range grid {
			grid[axis] = (s.size[axis] + s.block[axis] - 1) / s.block[axis]
		}
		header := start
		out = append(out, make([]byte, reftest.Voxels(grid)*headerBytes)...)
		for z := range grid[2] {
			for y := range grid[1] {
				for x := range grid[0] {
					table, values, indexBits := s.encodeBlock(c, [3]int{x, y, z})
					at := uint64(len(out)-start) / wordBytes
					word := at | uint64(indexBits)<<24 | (at+uint64(len(table)/wordBytes))<<32
					binary.LittleEndian.PutUint64(out[header:], word)
					header += headerBytes
					out = slices.Concat(out, table, values)
				}
			}
		}
	}
	return out
}

// encodeBlock returns the table and the indices of block b of channel c.
func (s source) encodeBlock(c int, b [3]int) (table, values []byte, indexBits int) {
	var labels []uint64
	at := func(v int) uint64 {
		var p [3]int
		for axis, rest := 0, v; axis < 3; axis, rest = axis+1, rest/s.block[axis] {
			p[axis] = min(b[axis]*s.block[axis]+rest%s.block[axis], s.size[axis]-1)
		}
		return s.label(c, p[0], p[1], p[2])
	}
	voxels := reftest.Voxels(s.block)
	for v := range voxels {
		labels = append(labels, at(v))
	}
	slices.Sort(labels)
	labels = slices.Compact(labels)
	for indexBits = s.indexBits; indexBits < 32 && len(labels) > 1<<indexBits; {
		indexBits = max(1, indexBits*2)
	}
	values = make([]byte, (voxels*indexBits+31)/32*wordBytes)
	for v := range voxels {
		index, _ := slices.BinarySearch(labels, at(v))
		for bit := range indexBits {
			to := v*indexBits + bit
			values[to/8] |= byte(index>>bit&1) << (to % 8)
		}
	}
	for _, l := range labels {
		table = s.put(table, l)
	}
	return table, values, indexBits
}

func (s source) decode(data []byte) ([]byte, error) {
	dst := bytes.Repeat([]byte{0xEE}, reftest.Voxels(s.size)*s.channels*s.width)
	return dst, Decode(data, s.size, s.block, s.channels, s.width, dst)
}

func TestDecode(t *testing.T) {
	for _, size := range [][3]int{{1, 1, 1}, {7, 8, 9}, {8, 8, 8}, {17, 5, 12}} {
		for _, block := range [][3]int{{8, 8, 8}, {16, 8, 4}, {3, 5, 7}, {1, 1, 1}, {64, 1, 2}} {
			for _, width := range []int{4, 8} {
				for _, indexBits := range []int{0, 1, 2, 4, 8, 16, 32} {
					for channels := 1; channels <= 2; channels++ {
						for n, label := range []func(c, x, y, z int) uint64{everyVoxel, bands} {
							s := source{size, block, channels, width, indexBits, label}
							got, err := s.decode(s.encode())
							if err != nil || !bytes.Equal(got, s.flat()) {
								t.Fatalf("size %v, block %v, %d × %d bytes, %d bits, labels %d: wrong or %v", size,
									block, channels, width, indexBits, n, err)
							}
						}
					}
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	valid := source{[3]int{9, 8, 8}, [3]int{8, 8, 8}, 2, 4, 0, bands}
	type bytesOf = []byte
	put := func(at int, word uint32) func(bytesOf) bytesOf {
		return func(b bytesOf) bytesOf {
			binary.LittleEndian.PutUint32(b[at:], word)
			return b
		}
	}
	const prefix = "compressed_segmentation: "
	for _, c := range []struct {
		name   string
		change func(bytesOf) bytesOf
		want   string
	}{
		{"empty", func(bytesOf) bytesOf { return nil },
			"chunk at byte 0: expected whole words of 4 bytes, 2 or more, found 0 bytes"},
		{"not in words", func(b bytesOf) bytesOf { return b[:len(b)-1] },
			"chunk at byte 0: expected whole words of 4 bytes, 2 or more, found 935 bytes"},
		{"no headers", func(b bytesOf) bytesOf { return b[:20] },
			"offset of channel 0 at byte 0: expected room for [2 1 1] block headers in a chunk of 20 bytes, found 2 words"},
		{"channel past the end", put(4, 1<<32-1),
			"offset of channel 1 at byte 4: expected room for [2 1 1] block headers in a chunk of 936 bytes, found 4294967295 words"},
		{"bits", put(16, 3<<24),
			"bits of an index of block [1 0 0], channel 0, at byte 19: expected 0, 1, 2, 4, 8, 16 or 32, found 3"},
		{"64 bits", put(16, 64<<24),
			"bits of an index of block [1 0 0], channel 0, at byte 19: expected 0, 1, 2, 4, 8, 16 or 32, found 64"},
		{"table past the end", put(8, 4<<24|232),
			"table offset of block [0 0 0], channel 0, at byte 8: expected room for a label in a channel of 232 words, found 232"},
		{"values past the end", put(12, 1<<32-1),
			"values offset of block [0 0 0], channel 0, at byte 12: expected room for 4 bits for each of [8 8 8] voxels in a channel of 232 words, found 4294967295"},
		{"values cut off", put(12, 169),
			"values offset of block [0 0 0], channel 0, at byte 12: expected room for 4 bits for each of [8 8 8] voxels in a channel of 232 words, found 169"},
		{"index past the table", put(8, 4<<24|231),
			"index into the table of block [0 0 0], channel 0, at byte 72: expected less than 1, the labels from word 231 to the end, found 1"},
	} {
		_, err := valid.decode(c.change(valid.encode()))
		if _, is := errors.AsType[*volume.FormatError](err); !is || err.Error() != prefix+c.want {
			t.Errorf("%s: got\n%v, expected\n%s", c.name, err, prefix+c.want)
		}
	}
}

// TestArguments: invalid arguments are errors.
func TestArguments(t *testing.T) {
	s := source{[3]int{8, 8, 8}, [3]int{8, 8, 8}, 1, 4, 0, bands}
	data := s.encode()
	for _, c := range []struct {
		size, block     [3]int
		channels, width int
		dst             int
	}{
		{[3]int{0, 8, 8}, s.block, 1, 4, 0},
		{[3]int{8, 8, -8}, s.block, 1, 4, 0},
		{s.size, [3]int{8, 0, 8}, 1, 4, 2048},
		{s.size, s.block, 0, 4, 0},
		{s.size, s.block, 1, 2, 1024},
		{s.size, s.block, 1, 4, 2047},
		{s.size, s.block, 1, 4, 2052},
		{[3]int{1 << 40, 1 << 40, 1 << 40}, s.block, 1, 4, 0},
	} {
		if err := Decode(data, c.size, c.block, c.channels, c.width, make([]byte, c.dst)); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
	// Blocks are stored whole: a huge one does not fit the chunk.
	err := Decode(data, s.size, [3]int{1 << 40, 1 << 40, 1 << 40}, 1, 4, make([]byte, 2048))
	if _, is := errors.AsType[*volume.FormatError](err); !is {
		t.Errorf("a huge block: got %v, expected a volume.FormatError", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, width := range []int{4, 8} {
		for _, indexBits := range []int{0, 1, 8, 32} {
			s := source{[3]int{5, 4, 3}, [3]int{4, 4, 2}, 2, width, indexBits, bands}
			f.Add(s.encode(), uint32(0x040302), uint32(0x030301), 2, width)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, size, block uint32, channels, width int) {
		vec := func(n uint32) [3]int { return [3]int{1 + int(n>>16), 1 + int(n>>8&0xFF), 1 + int(n&0xFF)} }
		if channels < 1 || channels > 4 || (width != 4 && width != 8) ||
			product(vec(size)[0], vec(size)[1], vec(size)[2]) > 1<<16 {
			return
		}
		dst := make([]byte, reftest.Voxels(vec(size))*channels*width)
		err := Decode(data, vec(size), vec(block), channels, width, dst)
		if _, is := errors.AsType[*volume.FormatError](err); err != nil && !is {
			t.Fatal(err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, width := range []int{4, 8} {
		for _, indexBits := range []int{0, 1, 2, 4, 8, 16} {
			b.Run(fmt.Sprintf("uint%d/%dbits", width*8, indexBits), func(b *testing.B) {
				s := source{[3]int{64, 64, 64}, [3]int{8, 8, 8}, 1, width, indexBits, func(c, x, y, z int) uint64 {
					return uint64(z/8*64+y/8*8+x/8)*1000 + uint64((x*y*z)%(1<<min(indexBits, 8)))
				}}
				data, dst := s.encode(), make([]byte, 64*64*64*width)
				b.SetBytes(int64(len(dst)))
				for b.Loop() {
					if err := Decode(data, s.size, s.block, 1, width, dst); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
