package chunked

import (
	"errors"
	"fmt"
	"sync"

	"github.com/wkwfs/wkwfs/internal/codec"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// decode decodes the stored bytes of a piece into its block.
func (f *filler) decode(p piece) error {
	a, at := f.array, f.blocks[p.block].At
	data, size := p.data, f.part
	if a.Header != nil {
		var err error
		if data, size, err = a.Header(data); err != nil {
			return f.undecodable(at, p, err)
		}
		if err := f.checkCut(at, p, size); err != nil {
			return err
		}
	}
	n, _ := product(a.Type.Size(), size)
	l := f.layout(p.channel, size)
	isSwapped := a.BigEndian && a.Type.Size() > 1
	block := f.voxels(p.block)
	if !isSwapped && n == len(block) && l.isIdentity(n/a.Type.Size()) {
		return f.decodeInto(block, p, data)
	}
	scratch := getBuffer(n)
	defer putBuffer(scratch)
	if err := f.decodeInto((*scratch)[:n:n], p, data); err != nil {
		return err
	}
	l.copyTo(block, *scratch, a.Type.Size(), isSwapped)
	return nil
}

// decodeInto decodes the part of a chunk that the block of p has, as it is stored. data is what was read of the chunk, without its
// header.
func (f *filler) decodeInto(dst []byte, p piece, data []byte) error {
	at := f.blocks[p.block].At
	if p.data != nil && f.cut == none {
		if err := codec.DecodeInto(f.array.Codecs, dst, data); err != nil {
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
		offset := p.offset + int64(from)
		if err := vfs.ReadFull(f.ctx, f.parts[p.part].file, b, offset); err != nil {
			failed = f.unreadable(p, offset, err)
		}
		return failed
	}
	err := f.array.partDecoder().DecodePart(dst, p.index*len(dst), f.blocksOf()*len(dst), int(p.size), read)
	if err == nil || failed != nil {
		return failed
	}
	return f.undecodable(at, p, err)
}

// checkCut fails if a chunk with an extent of its own lacks voxels of the array.
func (f *filler) checkCut(at volume.Vec, p piece, size []int) error {
	need := f.position(len(size), f.blockBox(at).Size(), min(f.channelChunk(), f.channels[1]-p.channel*f.channelChunk()))
	for axis, n := range need {
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
	l := layout{n: [4]int{1, 1, 1, 1}, to: [4]int{1, g.Channels, g.Channels * g.Block[0], g.Channels * g.Block[0] * g.Block[1]}}
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
	return l
}

// unreadable returns the error for an error of a read at a byte of the file of p.
func (f *filler) unreadable(p piece, offset int64, err error) error {
	return fmt.Errorf("%s: %s at byte %d: %w", f.parts[p.part].name, f.partName(f.blocks[p.block].At), offset, err)
}

func (c *cube) undecodable(at volume.Vec, p piece, err error) error {
	fault := volume.FormatError{File: c.parts[p.part].name, Part: c.partName(at), Offset: p.offset, Err: err}
	if _, unsupported := errors.AsType[*volume.UnsupportedError](err); unsupported {
		other := volume.UnsupportedError(fault)
		return &other
	}
	return &fault
}

// buffers keeps memory of stored and decoded chunks for reuse, up to maxBuffer bytes each.
var buffers sync.Pool

const maxBuffer = 16 << 20

// getBuffer returns memory of n bytes.
func getBuffer(n int) *[]byte {
	if b, ok := buffers.Get().(*[]byte); ok && cap(*b) >= n {
		*b = (*b)[:n]
		return b
	}
	b := make([]byte, n)
	return &b
}

func putBuffer(b *[]byte) {
	if cap(*b) <= maxBuffer {
		buffers.Put(b)
	}
}
