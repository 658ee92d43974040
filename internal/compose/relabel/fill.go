package relabel

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/volume"
)

// convert maps the values of a block. from is the stored values; to has the mapped ones, as many, and may overlap
// with from if from is its end. An id that does not fit into the type is an error.
//
// Each value is looked up in the memo, whether or not it is equal to the one before: the processor foresees that a
// value is in the memo, but it does not foresee where a run of equal values ends.
func (c *cursor) convert(to []byte, toType volume.Type, from []byte, fromType volume.Type) error {
	switch {
	case fromType == volume.Uint32 && toType == volume.Uint32:
		return c.convert32(to, from)
	case fromType == volume.Uint64:
		return c.convert64(to, from)
	case fromType == volume.Uint32 && toType == volume.Uint64:
		return c.widen32(to, from)
	}
	size, wide := fromType.Size(), toType.Size()
	for i := range len(from) / size {
		v := get(from[i*size:], size)
		e := c.memo[slotOf(v)]
		if e.from != v {
			var err error
			if e, err = c.learn(v, toType); err != nil {
				return err
			}
		}
		put(to[i*wide:], wide, e.to)
	}
	return nil
}

// convert32 is convert for 32 bits. Two values at a time are one word.
func (c *cursor) convert32(to, from []byte) error {
	n := min(len(to), len(from)) &^ 7
	if err := c.convertWords(&c.twos, (*cursor).findTwo, to[:n], from[:n]); err != nil || n == len(from) {
		return err
	}
	last, err := c.find32(binary.LittleEndian.Uint32(from[n:]))
	binary.LittleEndian.PutUint32(to[n:], last)
	return err
}

// convert64 is convert for 64 bits.
func (c *cursor) convert64(to, from []byte) error {
	return c.convertWords(&c.memo, (*cursor).find, to, from)
}

// convertWords maps words of 8 bytes. Those that are not in the memo are looked up by find.
func (c *cursor) convertWords(memo *[memoLength]pair, find func(*cursor, uint64) (uint64, error),
	to, from []byte) error {
	n := min(len(to), len(from)) &^ 7
	for done := 0; done < n; {
		done += knownWords(memo, to[done:n], from[done:n])
		for end := min(done+16, n); done < end; done += 8 {
			v := binary.LittleEndian.Uint64(from[done:])
			e := &memo[slotOf(v)]
			if e.from != v {
				mapped, err := find(c, v)
				if err != nil {
					return err
				}
				*e = pair{v, mapped}
			}
			binary.LittleEndian.PutUint64(to[done:], e.to)
		}
	}
	return nil
}

// knownWords maps words until one of the next two is not in a memo. It returns how many bytes it has mapped. Both
// slices have the same length. It reads and writes them without checks, which took a third of the time.
func knownWords(memo *[memoLength]pair, to, from []byte) (done int) {
	if len(to) != len(from) {
		panic("relabel: slices of different lengths")
	}
	src, dst := unsafe.Pointer(unsafe.SliceData(from)), unsafe.Pointer(unsafe.SliceData(to))
	for ; done+16 <= len(from); done += 16 {
		f, t := (*[16]byte)(unsafe.Add(src, done)), (*[16]byte)(unsafe.Add(dst, done))
		v, w := binary.LittleEndian.Uint64(f[:8]), binary.LittleEndian.Uint64(f[8:])
		d, e := &memo[slotOf(v)], &memo[slotOf(w)]
		if (d.from^v)|(e.from^w) != 0 {
			return done
		}
		to0, to1 := d.to, e.to
		binary.LittleEndian.PutUint64(t[:8], to0)
		binary.LittleEndian.PutUint64(t[8:], to1)
	}
	return done
}

// widen32 is convert from 32 to 64 bits. The values may be the end of the memory of the result: each is read before
// that is written over.
func (c *cursor) widen32(to, from []byte) error {
	n := min(len(to)/8, len(from)/4)
	src, dst := unsafe.Pointer(unsafe.SliceData(from)), unsafe.Pointer(unsafe.SliceData(to))
	memo := &c.memo
	for i := range n {
		f, t := (*[4]byte)(unsafe.Add(src, 4*i)), (*[8]byte)(unsafe.Add(dst, 8*i))
		v := uint64(binary.LittleEndian.Uint32(f[:]))
		e := &memo[slotOf(v)]
		if e.from != v {
			if _, err := c.learn(v, volume.Uint64); err != nil {
				return err
			}
		}
		binary.LittleEndian.PutUint64(t[:], e.to)
	}
	return nil
}

// learn looks an id up, and enters it into the memo.
func (c *cursor) learn(id uint64, t volume.Type) (pair, error) {
	to, err := c.find(id)
	if err == nil {
		err = checkFits(id, to, t)
	}
	if err != nil {
		return pair{}, err
	}
	e := pair{id, to}
	c.memo[slotOf(id)] = e
	return e, nil
}

// findTwo is find for a word of two ids of 32 bits.
func (c *cursor) findTwo(word uint64) (uint64, error) {
	first, err := c.find32(uint32(word))
	if err != nil {
		return 0, err
	}
	second, err := c.find32(uint32(word >> 32))
	return uint64(first) | uint64(second)<<32, err
}

// find32 is find for an id that is mapped to one of 32 bits.
func (c *cursor) find32(id uint32) (uint32, error) {
	to, err := c.find(uint64(id))
	if err == nil {
		err = checkFits(uint64(id), to, volume.Uint32)
	}
	return uint32(to), err
}

// checkFits fails if an id does not fit into a type.
func checkFits(id, mapped uint64, t volume.Type) error {
	if fits(mapped, t) {
		return nil
	}
	return fmt.Errorf("id %d: expected one that fits into %v, as the size of the mapping tells, found %d", id, t,
		mapped)
}

// fits reports whether an unsigned type has a value.
func fits(v uint64, t volume.Type) bool { return t.Size() == 8 || v>>(8*t.Size()) == 0 }

func get(b []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func put(b []byte, size int, v uint64) {
	switch size {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	default:
		binary.LittleEndian.PutUint64(b, v)
	}
}

// Fill implements [volume.Source]. Blocks are decoded into the end of their memory, and mapped from there.
func (f *cube) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	grid, result := f.CubeFile.Grid(), f.Grid()
	start := result.BlockBytes() - grid.BlockBytes()
	whole := make(map[volume.Vec][]byte, len(blocks)) // filled under the lock of lend
	lend := newLender(whole, memory, start)
	f.CubeFile.Fill(ctx, blocks, lend)
	c := f.table.cursor(ctx, f.state)
	defer c.release()
	zero := c.checkZero()
	for i := range blocks {
		b := &blocks[i]
		if b.Err == nil {
			b.Err = zero
		}
		switch {
		case b.Err != nil || b.Voxels == nil:
		case b.Shared:
			b.Err = c.convertShared(b, result, grid.Type, memory)
		default:
			to := whole[b.At]
			b.Err = c.convert(to, result.Type, b.Voxels, grid.Type)
			b.Voxels = to
		}
		if b.Err != nil {
			b.Voxels, b.Shared = nil, false
		}
	}
}

// convertShared maps a block whose memory nobody may write. If all its voxels have one id, the mapped ones are shared,
// too.
func (c *cursor) convertShared(b *volume.Block, g volume.Grid, from volume.Type,
	memory func(at volume.Vec) []byte) error {
	stored := b.Voxels
	if n := from.Size(); bytes.Equal(stored[n:], stored[:len(stored)-n]) {
		value := make([]byte, g.Type.Size())
		if err := c.convert(value, g.Type, stored[:n], from); err != nil {
			return err
		}
		row := [3]int{g.Block[0] * g.Type.Size(), g.Block[1], g.Block[2]}
		if b.Voxels = scratch.Filled(scratch.Pattern{Value: string(value), Block: row, Inside: row}); b.Voxels != nil {
			return nil
		}
	}
	b.Voxels, b.Shared = memory(b.At), false
	return c.convert(b.Voxels, g.Type, stored, from)
}
