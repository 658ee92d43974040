package arrayfile

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
	"github.com/wkwfs/wkwfs/volume"
)

// BenchmarkRead reads an array of 64 MiB in boxes of 8 whole planes.
func BenchmarkRead(b *testing.B) {
	const side, planes = 1024, 32
	g := volume.Grid{Size: volume.Vec{side, side, planes}, Block: volume.Cube(1), Type: volume.Uint16, Channels: 1}
	voxels := make([]byte, g.Bytes())
	for i := range voxels {
		voxels[i] = byte(i * i >> 7)
	}
	pages := func(compress func([]byte) []byte, rows int) (all [][][]byte) {
		for z := range planes {
			var strips [][]byte
			for y := 0; y < side; y += rows {
				at := (z*side + y) * side * 2
				strips = append(strips, compress(voxels[at:at+rows*side*2]))
			}
			all = append(all, strips)
		}
		return all
	}
	f := tiffFields{width: side, height: side, rows: 64, bits: 16}
	packed := f
	packed.compression = tiff.Deflate
	header := func(encoding string) []byte {
		return fmt.Appendf(nil,
			"NRRD0005\ntype: ushort\ndimension: 3\nsizes: %d %d %d\nendian: little\nencoding: %s\n\n", side, side,
			planes, encoding)
	}
	for _, test := range []struct {
		name string
		file func() []byte
	}{
		{"npy", func() []byte { return npy("<u2", "False", fmt.Sprintf("%d, %d, %d", planes, side, side), voxels) }},
		{"npy-big-endian",
			func() []byte { return npy(">u2", "False", fmt.Sprintf("%d, %d, %d", planes, side, side), voxels) }},
		{"tiff", func() []byte { return tiffOf(f, pages(func(b []byte) []byte { return b }, 64)...) }},
		{"tiff-deflate", func() []byte { return tiffOf(packed, pages(deflated, 64)...) }},
		{"nrrd-gzip", func() []byte { return append(header("gzip"), gzipped(voxels)...) }},
	} {
		b.Run(test.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "file")
			write(b, path, test.file())
			dst := make([]byte, g.Bytes()/planes*8)
			b.SetBytes(g.Bytes())
			for b.Loop() {
				a, err := Open(path)
				if err != nil {
					b.Fatal(err)
				}
				for z := 0; z < planes; z += 8 {
					if err := a.Read(b.Context(), volume.Box{Min: volume.Vec{0, 0, z},
						Max: volume.Vec{side, side, z + 8}}, dst); err != nil {
						b.Fatal(err)
					}
				}
				a.Close()
			}
		})
	}
}
