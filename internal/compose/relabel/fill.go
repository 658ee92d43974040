package relabel

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/wkwfs/wkwfs/volume"
)

// convert maps the values of a block. from is the stored values; to has the mapped ones, as many, and may overlap
// with from if from is its end. Values are mostly equal to those before them, so each run is looked up once. An id
// that does not fit into the type is an error.
func (c *cursor) convert(to []byte, toType volume.Type, from []byte, fromType volume.Type) error {
	switch {
	case fromType == volume.Uint32 && toType == volume.Uint32:
		return c.convert32(to, from)
	case fromType == volume.Uint64:
		return c.convert64(to, from)
	}
	size, wide := fromType.Size(), toType.Size()
	last, mapped := uint64(0), uint64(0)
	for i := range len(from) / size {
		v := get(from[i*size:], size)
		if v != last {
			m, err := c.find(v)
			if err == nil {
				err = checkFits(v, m, toType)
			}
			if err != nil {
				return err
			}
			last, mapped = v, m
		}
		put(to[i*wide:], wide, mapped)
	}
	return nil
}

// convert32 is convert for 32 bits. Two equal values are seen at once.
func (c *cursor) convert32(to, from []byte) error {
	const pair = 1<<32 + 1 // a value in both halves
	last, mapped := uint64(0), uint64(0)
	i := 0
	for ; i+8 <= len(from); i += 8 {
		both := binary.LittleEndian.Uint64(from[i:])
		if both == last*pair {
			binary.LittleEndian.PutUint64(to[i:], mapped*pair)
			i += runOf(to[i+8:], from[i+8:], both, mapped*pair)
			continue
		}
		var word uint64
		for shift := 0; shift < 64; shift += 32 {
			if v := both >> shift & (1<<32 - 1); v != last {
				m, err := c.find(v)
				if err == nil {
					err = checkFits(v, m, volume.Uint32)
				}
				if err != nil {
					return err
				}
				last, mapped = v, m
			}
			word |= mapped << shift
		}
		binary.LittleEndian.PutUint64(to[i:], word)
	}
	if i < len(from) {
		m, err := c.find(get(from[i:], 4))
		if err == nil {
			err = checkFits(get(from[i:], 4), m, volume.Uint32)
		}
		if err != nil {
			return err
		}
		put(to[i:], 4, m)
	}
	return nil
}

// runOf maps as many words as are equal to one that is known, four at a time. It returns their bytes.
func runOf(to, from []byte, word, mapped uint64) (n int) {
	for len(from) >= 32 && len(to) >= 32 {
		a, b := binary.LittleEndian.Uint64(from[0:8]), binary.LittleEndian.Uint64(from[8:16])
		c, d := binary.LittleEndian.Uint64(from[16:24]), binary.LittleEndian.Uint64(from[24:32])
		if (a^word)|(b^word)|(c^word)|(d^word) != 0 {
			break
		}
		binary.LittleEndian.PutUint64(to[0:8], mapped)
		binary.LittleEndian.PutUint64(to[8:16], mapped)
		binary.LittleEndian.PutUint64(to[16:24], mapped)
		binary.LittleEndian.PutUint64(to[24:32], mapped)
		from, to, n = from[32:], to[32:], n+32
	}
	return n
}

func (c *cursor) convert64(to, from []byte) error {
	last, mapped := uint64(0), uint64(0)
	for i := 0; i+8 <= len(from); i += 8 {
		if v := binary.LittleEndian.Uint64(from[i:]); v != last {
			m, err := c.find(v)
			if err != nil {
				return err
			}
			last, mapped = v, m
		}
		binary.LittleEndian.PutUint64(to[i:], mapped)
		i += runOf(to[i+8:], from[i+8:], last, mapped)
	}
	return nil
}

// checkFits fails if an id does not fit into a type.
func checkFits(id, mapped uint64, t volume.Type) error {
	if fits(mapped, t) {
		return nil
	}
	return fmt.Errorf("id %d: expected one that fits into %v, as the size of the mapping tells, found %d", id, t, mapped)
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
	zero := c.checkZero()
	for i := range blocks {
		b := &blocks[i]
		if b.Err == nil {
			b.Err = zero
		}
		if b.Err == nil && b.Voxels != nil {
			to := whole[b.At]
			b.Err = c.convert(to, result.Type, b.Voxels, grid.Type)
			b.Voxels = to
		}
		if b.Err != nil {
			b.Voxels = nil
		}
	}
}
