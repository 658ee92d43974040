package pyramid

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// Format is the format of cube files.
type Format int

// The formats.
const (
	WKW   Format = iota
	Zarr3        // shards with an index at the end, of inner chunks that are blocks, compressed by zstd
)

// formats has the names of WEBKNOSSOS.
var formats = [...]string{WKW: "wkw", Zarr3: "zarr3"}

// ParseFormat returns the Format named "wkw" or "zarr3".
func ParseFormat(name string) (Format, error) {
	if i := slices.Index(formats[:], name); i >= 0 {
		return Format(i), nil
	}
	return 0, fmt.Errorf("%q is not %s", name, strings.Join(formats[:], " or "))
}

// String returns "wkw" or "zarr3", as dataFormat in datasource-properties.json has it.
func (f Format) String() string { return formats[f] }

// layout is how a format stores cubes.
type layout interface {
	// name returns the name of the file of a cube in the directory of its mag.
	name(cube volume.Vec) string
	newEncoder() encoder
	// first returns the offset of the first block in a file.
	first() uint64
	// writeTable writes where the blocks of a sub-cube are. ends has the offset after each block, in Morton order,
	// relative to that of the sub-cube.
	writeTable(f *os.File, p *subCube, ends []uint64) error
	// finish writes what a file has beside its blocks. end is the offset after the last of them.
	finish(f *os.File, end uint64) error
}

// File returns the path of the file of a cube.
func (m Mag) File(cube volume.Vec) string {
	var l layout = wkwLayout{}
	if m.Format == Zarr3 {
		l = shardLayout{}
	}
	return filepath.Join(m.Dir, filepath.FromSlash(l.name(cube)))
}

// encoder encodes blocks for one goroutine.
type encoder interface {
	// Encode appends the stored form of a block to dst.
	Encode(dst, block []byte) ([]byte, error)
	// Bound returns the most bytes of a stored block.
	Bound() int
}

// wkwLayout is that of WKW: a header, a jump table and the blocks in Morton order.
type wkwLayout struct{ header wkw.Header }

func (l wkwLayout) name(c volume.Vec) string {
	return fmt.Sprintf("z%d/y%d/x%d.wkw", c[2], c[1], c[0])
}

func (l wkwLayout) newEncoder() encoder { return wkw.NewEncoder(l.header) }
func (l wkwLayout) first() uint64       { return l.header.DataOffset }

func (l wkwLayout) writeTable(f *os.File, p *subCube, ends []uint64) error {
	table := make([]byte, 0, 8*len(ends))
	for _, end := range ends {
		table = binary.LittleEndian.AppendUint64(table, p.offset+end)
	}
	_, err := f.WriteAt(table, l.header.TableOffset(p.index*uint64(len(ends))))
	return err
}

func (l wkwLayout) finish(f *os.File, _ uint64) error {
	b, err := l.header.MarshalBinary()
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(b, 0); err != nil {
		return err
	}
	if l.header.BlockType == wkw.Raw { // blocks of zeros are holes, also the last
		return f.Truncate(int64(l.header.DataOffset) + l.header.Grid().Bytes())
	}
	return nil
}
