package chunked

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// decode decodes the stored bytes of a piece into its block.
func (f *filler) decode(p piece) error {
	a, at := f.array, f.blocks[p.block].At
	data, size := p.data, f.part
	if a.Header != nil {
		var err error
		if p.data == nil {
			data = make([]byte, min(p.size, maxHeader))
			if err := f.readAt(p, data, 0); err != nil {
				return err
			}
		}
		n := len(data)
		if data, size, err = a.Header(data); err != nil {
			return f.undecodable(at, p, err)
		}
		p.header = n - len(data)
		if err := f.checkCut(at, p, size); err != nil {
			return err
		}
	}
	if f.cut != none && size[f.cut] > f.part[f.cut] {
		size = slices.Clone(size)
		size[f.cut] = f.part[f.cut]
	}
	n, _ := product(a.Type.Size(), size)
	l := f.layout(p.channel, size)
	isSwapped := a.BigEndian && a.Type.Size() > 1
	block := f.voxels(p.block)
	if l.isPacked(n / a.Type.Size()) {
		if err := f.decodeInto(block[:n:n], p, data); err != nil {
			return err
		}
		if isSwapped {
			values := steps{n / a.Type.Size(), 1, 1}
			squareCopier(a.Type.Size(), true)(block, block, square{inner: values, other: steps{n: 1}})
		}
		l.spread(block, a.Type.Size())
		return nil
	}
	buf := scratch.Get(n)
	defer scratch.Put(buf)
	if err := f.decodeInto((*buf)[:n:n], p, data); err != nil {
		return err
	}
	l.copyTo(block, *buf, a.Type.Size(), isSwapped)
	return nil
}

// decodeInto decodes the part of a chunk that the block of p has, as it is stored. data is what was read of the chunk,
// without its header.
func (f *filler) decodeInto(dst []byte, p piece, data []byte) error {
	at := f.blocks[p.block].At
	if by := f.array.partDecoder(); p.data != nil && (by == nil || f.cut == none) {
		decode := func() error { return codec.DecodeInto(f.array.Codecs, dst, data) }
		if f.cut != none {
			decode = func() error { return f.array.prefixDecoder().DecodePrefix(dst, data) }
		}
		if err := decode(); err != nil {
			return f.undecodable(at, p, err)
		}
		return nil
	}
	var failed error // to read
	read := func(b []byte, from int) error {
		if p.data != nil {
			copy(b, data[from:])
			return nil
		}
		failed = f.readAt(p, b, p.header+from)
		return failed
	}
	if by := f.array.streamDecoder(); by != nil {
		piece := codec.Piece
		if f.Speed().Late {
			piece = codec.LatePiece
		}
		s := codec.NewStream(int(p.size)-p.header, cmp.Or(f.options.piece, piece), read)
		defer s.Close()
		if err := by.DecodeStream(dst, s, f.cut != none); err != nil && failed == nil {
			return f.undecodable(at, p, err)
		}
		return failed
	}
	err := f.array.partDecoder().DecodePart(dst, p.index*len(dst), f.blocksOf()*len(dst), int(p.size), read)
	if err == nil || failed != nil {
		return failed
	}
	return f.undecodable(at, p, err)
}

// maxHeader is the most bytes that a header of a chunk has.
const maxHeader = 4 << 10

// readAt reads bytes of a piece, from a byte of it on.
func (f *filler) readAt(p piece, b []byte, from int) error {
	offset := p.offset + int64(from)
	if err := vfs.ReadFull(f.ctx, f.parts[p.part].File, b, offset); err != nil {
		return f.unreadable(p, offset, err)
	}
	return nil
}

// checkCut fails if a chunk with an extent of its own lacks voxels of the array.
func (f *filler) checkCut(at volume.Vec, p piece, size []int) error {
	need := f.position(len(size), f.blockBox(at).Size(),
		min(f.channelChunk(), f.channels[1]-p.channel*f.channelChunk()))
	for axis, n := range need {
		if f.index[axis] > 0 {
			n = f.inChunk(axis, f.array.block()) + 1
		}
		if whole := f.array.block()[axis]; size[axis] < max(n, 1) || size[axis] > whole {
			return f.broken(at, p, fmt.Sprintf("an extent from %v to %v", need, f.array.block()), fmt.Sprint(size))
		}
	}
	return nil
}

// layout returns where the values of a chunk go. channel is its position on the channel axis, in chunks, and size its
// extent on each axis of the array.
func (m *Mag) layout(channel int, size []int) layout {
	strides := make([]int, len(size))
	stride := 1
	for i := len(m.array.Order) - 1; i >= 0; i-- {
		axis := m.array.Order[i]
		strides[axis] = stride
		stride *= size[axis]
	}
	g := m.grid
	l := layout{n: [4]int{1, 1, 1, 1}, to: [4]int{1, g.Channels, g.Channels * g.Block[0],
		g.Channels * g.Block[0] * g.Block[1]}}
	for i := range 3 {
		if axis := m.axis[i]; axis != none {
			l.n[1+i], l.from[1+i] = size[axis], strides[axis]
		}
	}
	if axis := m.axis[axisC]; axis != none {
		start := channel * m.channelChunk()
		first, end := max(start, m.channels[0]), min(start+size[axis], m.channels[1])
		l.n[0], l.from[0] = end-first, strides[axis]
		l.fromAt, l.toAt = (first-start)*strides[axis], first-m.channels[0]
	}
	for axis := range m.index {
		l.fromAt += m.inChunk(axis, m.array.block()) * strides[axis]
	}
	return l
}

// unreadable returns the error for an error of a read at a byte of the file of p.
func (f *filler) unreadable(p piece, offset int64, err error) error {
	return f.parts[p.part].Unreadable(f.partName(f.blocks[p.block].At), offset, err)
}

func (c *cube) undecodable(at volume.Vec, p piece, err error) error {
	fault := c.parts[p.part].Undecodable(c.partName(at), p.offset, err)
	if _, unsupported := errors.AsType[*volume.UnsupportedError](err); unsupported {
		return (*volume.UnsupportedError)(fault)
	}
	return fault
}
