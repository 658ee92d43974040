package importer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/write/pyramid"
	"github.com/wkwfs/wkwfs/volume"
)

// openTree returns the tree of a dataset whose layers have any format.
func openTree(t *testing.T, dir string) fs.FS {
	t.Helper()
	s, err := dataset.Open(t.Context(), dir, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	blocks := cache.New(64 << 20)
	t.Cleanup(func() { blocks.Close() })
	return view.New(s.Root, view.Options{Cache: blocks})
}

// TestZarr3 imports arrays as shards of Zarr 3 and as WKW. All mags have the same voxels.
func TestZarr3(t *testing.T) {
	for seed := range cases(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			types := volume.Types()
			a := array(types[int(seed)%len(types)], 1+2*r.IntN(2))
			a.Grid.Size = volume.Vec{20 + r.IntN(60), 20 + r.IntN(60), 20 + r.IntN(60)}
			voxels := voxeltest.Pattern(a.Grid)
			clear(voxels[:len(voxels)/3]) // inner chunks and shards that are absent
			dir := voxeltest.TempDir(t)
			name := voxeltest.Export(t, dir, a, voxels, ".raw")
			o := small("l")
			o.Mags, o.Memory = r.IntN(3), []int64{1, 1 << 24}[r.IntN(2)]
			for _, format := range []pyramid.Format{pyramid.WKW, pyramid.Zarr3} {
				o.Format, o.Stats = format, nil
				if err := Import(t.Context(), mustOpenRaw(t, name, a.Grid), filepath.Join(dir, format.String()),
					o); err != nil {
					t.Fatal(err)
				}
			}
			want, got := openTree(t, filepath.Join(dir, "wkw")), openTree(t, filepath.Join(dir, "zarr3"))
			for _, f := range factors(spacing, a.Grid.Size, o.Mags) {
				// the voxels, and their place, size and type
				for _, file := range []string{"volume.raw", "volume.nrrd"} {
					path := fmt.Sprintf("l/%v/%s", f, file)
					if !bytes.Equal(read(t, got, path), read(t, want, path)) {
						t.Errorf("%s differs from that of WKW", path)
					}
				}
			}
			if left := names(t, dir, ".tmp"); len(left) > 0 {
				t.Errorf("files are left: %v", left)
			}
		})
	}
}

// TestShard checks the index of a shard by the specification: offsets and lengths, z fastest, and the checksum.
func TestShard(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := array(volume.Uint8, 1)
	a.Grid.Size, a.Grid.Origin = volume.Cube(16), volume.Vec{}
	voxels := make([]byte, 16*16*16)
	voxels[(volume.Vec{9, 1, 2}).Index(a.Grid.Size)] = 7 // in block 1,0,0 of 2 × 2 × 2
	voxels[(volume.Vec{0, 8, 9}).Index(a.Grid.Size)] = 8 // in block 0,1,1
	o := small("l")
	o.Format = pyramid.Zarr3
	if err := Import(t.Context(), mustOpenRaw(t, voxeltest.Export(t, dir, a, voxels, ".raw"), a.Grid), dir,
		o); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "l/1/c/0/0/0/0"))
	if err != nil {
		t.Fatal(err)
	}
	index, sum := b[len(b)-8*16-4:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if got := crc32.Checksum(index, crc32.MakeTable(crc32.Castagnoli)); got != sum {
		t.Errorf("checksum %x, want %x", sum, got)
	}
	const absent = 1<<64 - 1
	end := uint64(0)
	for i := range 8 { // x, y, z with z fastest
		offset, n := binary.LittleEndian.Uint64(index[16*i:]), binary.LittleEndian.Uint64(index[16*i+8:])
		if present := i == 0b100 || i == 0b011; present != (offset != absent) || present != (n != absent) {
			t.Errorf("inner chunk %03b: offset %d, %d bytes", i, offset, n)
		} else if present {
			end = max(end, offset+n)
		}
	}
	if end != uint64(len(b)-8*16-4) {
		t.Errorf("the inner chunks end at %d of %d bytes", end, len(b))
	}
}
