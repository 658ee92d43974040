package integration

import (
	"bytes"
	"encoding/binary"
)

// read reads a cube file that lies in a mag of the model, as the specification says
// and with no code in common with the program: its blocks in Morton order, nil for
// each that is damaged.
func (m model) read(file []byte) [][]byte {
	blocks := make([][]byte, 1<<(3*m.cubeLog))
	sound := m.header(0)
	if len(file) < 16 || !bytes.Equal(file[:5], sound[:5]) || !bytes.Equal(file[6:8], sound[6:8]) || file[5] < 1 || file[5] > 3 {
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
			if begin := offset + uint64(i)*length; begin+length <= size {
				blocks[i] = file[begin : begin+length]
			}
			continue
		}
		begin, end := offset, binary.LittleEndian.Uint64(file[16+8*i:])
		if i > 0 {
			begin = binary.LittleEndian.Uint64(file[8+8*i:])
		}
		if begin >= offset && begin < end && end <= size {
			blocks[i] = decompress(file[begin:end], int(length))
		}
	}
	return blocks
}

// decompress decodes an LZ4 block byte by byte; nil if it is no LZ4 or has not just
// so many bytes.
func decompress(in []byte, size int) []byte {
	var out []byte
	for {
		if len(in) == 0 {
			return nil
		}
		token := in[0]
		literals, rest, ok := lengthOf(int(token>>4), in[1:])
		if !ok || literals > len(rest) || len(out)+literals > size {
			return nil
		}
		out, in = append(out, rest[:literals]...), rest[literals:]
		if len(in) == 0 {
			if token&15 != 0 {
				return nil
			}
			break // the last sequence ends behind its literals
		}
		if len(in) < 2 {
			return nil
		}
		distance := int(binary.LittleEndian.Uint16(in))
		match, rest, ok := lengthOf(int(token&15), in[2:])
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

// lengthOf reads a length that begins with the number in a token.
func lengthOf(n int, in []byte) (int, []byte, bool) {
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
