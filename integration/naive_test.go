package integration

import (
	"bytes"
	"encoding/binary"
)

// read decodes a cube file of a mag of this model, as the specification describes it and without code of the
// program. It returns the blocks in Morton order, nil for each damaged block.
func (m model) read(file []byte) [][]byte {
	blocks := make([][]byte, 1<<(3*m.cubeLog))
	want := m.header(0)
	if len(file) < 16 || !bytes.Equal(file[:5], want[:5]) || !bytes.Equal(file[6:8], want[6:8]) || file[5] < 1 ||
		file[5] > 3 {
		return blocks
	}
	offset, size := binary.LittleEndian.Uint64(file[8:]), uint64(len(file))
	isRaw := file[5] == 1
	table := uint64(16)
	if !isRaw {
		table += 8 * uint64(len(blocks))
	}
	if offset < table || offset > size {
		return blocks
	}
	length := uint64(m.voxelSize()) << (3 * m.blockLog)
	for i := range blocks {
		if isRaw {
			if start := offset + uint64(i)*length; start+length <= size {
				blocks[i] = file[start : start+length]
			}
			continue
		}
		start, end := offset, binary.LittleEndian.Uint64(file[16+8*i:])
		if i > 0 {
			start = binary.LittleEndian.Uint64(file[8+8*i:])
		}
		if start >= offset && start < end && end <= size {
			blocks[i] = decompress(file[start:end], int(length))
		}
	}
	return blocks
}

// decompress decodes an LZ4 block byte by byte. It returns nil if the block is not valid or does not have size
// bytes.
func decompress(in []byte, size int) []byte {
	var out []byte
	for {
		if len(in) == 0 {
			return nil
		}
		token := in[0]
		literals, rest, ok := readLength(int(token>>4), in[1:])
		if !ok || literals > len(rest) || len(out)+literals > size {
			return nil
		}
		out, in = append(out, rest[:literals]...), rest[literals:]
		if len(in) == 0 {
			if token&15 != 0 {
				return nil
			}
			break // the last sequence has no match
		}
		if len(in) < 2 {
			return nil
		}
		distance := int(binary.LittleEndian.Uint16(in))
		match, rest, ok := readLength(int(token&15), in[2:])
		match += 4
		if !ok || distance == 0 || distance > len(out) || len(out)+match > size {
			return nil
		}
		for range match {
			out = append(out, out[len(out)-distance])
		}
		in = rest
	}
	if len(out) != size {
		return nil
	}
	return out
}

// readLength reads a length. n is the part of it in the token.
func readLength(n int, in []byte) (int, []byte, bool) {
	if n < 15 {
		return n, in, true
	}
	for i, b := range in {
		n += int(b)
		if b < 255 {
			return n, in[i+1:], true
		}
	}
	return 0, nil, false
}
