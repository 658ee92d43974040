package integration

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// model is a cube file, written voxel by voxel from the specification. It shares no code with the program, so
// that tests can compare the program with it.
type model struct {
	blockLog, cubeLog int // log2 of voxels per block side, of blocks per cube side
	blockType         int // 1 RAW, 2 LZ4, 3 LZ4HC
	voxelType         int // 1 to 10, as in the specification
	channels          int
	seed              uint32
}

// typeSizes has the bytes of a value by voxelType.
var typeSizes = [...]int{1: 1, 2: 2, 3: 4, 4: 8, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8}

func (m model) String() string {
	return fmt.Sprintf("block%d_cube%d_%s_type%d_channels%d", 1<<m.blockLog, 1<<m.cubeLog,
		[...]string{1: "raw", 2: "lz4", 3: "lz4hc"}[m.blockType], m.voxelType, m.channels)
}

func (m model) voxelSize() int { return typeSizes[m.voxelType] * m.channels }
func (m model) side() int      { return 1 << (m.blockLog + m.cubeLog) }

// byteAt returns byte i of the voxel at x, y, z. It encodes these coordinates. A third of the voxels repeat, so
// that there is something to compress.
func (m model) byteAt(x, y, z, i int) byte {
	if (x/5+y/3+z)%3 == 0 {
		return byte(z + i)
	}
	h := uint32(x)*2654435761 ^ uint32(y)*40503<<3 ^ uint32(z)*2246822519 ^ uint32(i)*97 ^ m.seed
	return byte(h >> 15)
}

// flat returns the voxels of the cube in Fortran order.
func (m model) flat() []byte { return m.part(0, 0, 0, m.side()) }

// part returns the voxels of the box of side³ voxels at x0, y0, z0, in Fortran order.
func (m model) part(x0, y0, z0, side int) []byte {
	b := make([]byte, 0, side*side*side*m.voxelSize())
	for z := range side {
		for y := range side {
			for x := range side {
				for i := range m.voxelSize() {
					b = append(b, m.byteAt(x0+x, y0+y, z0+z, i))
				}
			}
		}
	}
	return b
}

// header returns the 16 bytes at the start of a cube file.
func (m model) header(dataOffset int) []byte {
	h := []byte{'W', 'K', 'W', 1, byte(m.cubeLog<<4 | m.blockLog), byte(m.blockType), byte(m.voxelType),
		byte(m.voxelSize())}
	return binary.LittleEndian.AppendUint64(h, uint64(dataOffset))
}

// file returns the bytes of the cube file.
func (m model) file(t testing.TB) []byte {
	n := 1 << (3 * m.cubeLog)
	if m.blockType == 1 {
		b := m.header(16)
		for i := range n {
			b = append(b, m.block(i)...)
		}
		return b
	}
	start := 16 + 8*n
	table, data := m.header(start), []byte{}
	for i := range n {
		data = append(data, compress(t, m.block(i), m.blockType == 3)...)
		table = binary.LittleEndian.AppendUint64(table, uint64(start+len(data)))
	}
	return append(table, data...)
}

// block returns the voxels of block i in Morton order: bit 3k of i is bit k of x, bit 3k+1 of y, bit 3k+2 of z.
func (m model) block(i int) []byte {
	var at [3]int
	for bit := range 3 * m.cubeLog {
		at[bit%3] |= i >> bit & 1 << (bit / 3)
	}
	side := 1 << m.blockLog
	return m.part(at[0]*side, at[1]*side, at[2]*side, side)
}

// compress compresses a block with LZ4, or LZ4HC.
func compress(t testing.TB, raw []byte, hc bool) []byte {
	b := make([]byte, lz4.CompressBlockBound(len(raw)))
	var n int
	var err error
	if hc {
		n, err = lz4.CompressBlockHC(raw, b, lz4.Level9, nil, nil)
	} else {
		n, err = lz4.CompressBlock(raw, b, nil)
	}
	if err != nil || n == 0 {
		t.Fatalf("compress %d bytes: got %d bytes, error %v", len(raw), n, err)
	}
	return b[:n]
}

// write writes cube x, y, z into the directory of a mag. It returns the path.
func (m model) write(t testing.TB, mag string, x, y, z int) string {
	t.Helper()
	return writeFile(t, filepath.Join(mag, fmt.Sprintf("z%d/y%d/x%d.wkw", z, y, x)), m.file(t))
}

// writeHeader writes header.wkw into the directory of a mag.
func (m model) writeHeader(t testing.TB, mag string) {
	t.Helper()
	writeFile(t, filepath.Join(mag, "header.wkw"), m.header(0))
}

// writeFile writes a file and the directories that it needs. It returns the path.
func writeFile(t testing.TB, name string, b []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}
