package arrayfile

import (
	"fmt"
	"image"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
	"github.com/wkwfs/wkwfs/volume"
)

// TestStoredBytes: the stored bytes of each plane are known before it is read, unless all planes have as many.
func TestStoredBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := image.NewGray(image.Rect(0, 0, 32, 32))
	for i := range noise.Pix {
		noise.Pix[i] = byte(random.Uint32())
	}
	black := image.NewGray(noise.Rect)

	for name, encode := range map[string]func(image.Image) []byte{"png": pngOf, "jpg": jpegOf} {
		dir := t.TempDir()
		var want []int64
		for z, m := range []image.Image{black, noise, black, noise} {
			b := encode(m)
			write(t, filepath.Join(dir, fmt.Sprintf("%d.%s", z, name)), b)
			want = append(want, int64(len(b)))
		}
		if got := mustOpen(t, dir).StoredBytes(); !slices.Equal(got, want) || want[0]*2 > want[1] {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}

	n, b := len(deflated(noise.Pix)), len(deflated(black.Pix))
	half, dark := len(deflated(noise.Pix[:512])), len(deflated(black.Pix[:512]))
	chunks := func(pix []byte, rows int) (all [][]byte) {
		for part := range slices.Chunk(pix, rows*32) {
			all = append(all, deflated(part))
		}
		return all
	}
	plain := [][]byte{noise.Pix[:512], noise.Pix[512:]}
	for name, test := range map[string]struct {
		file []byte
		want []int64
	}{
		"pages": {tiffOf(tiffFields{width: 32, height: 32, compression: tiff.Deflate}, chunks(noise.Pix, 32),
			chunks(black.Pix, 32)), []int64{int64(n), int64(b)}},
		"strips": {tiffOf(tiffFields{width: 32, height: 32, compression: tiff.Deflate, rows: 16}, chunks(noise.Pix, 16),
			chunks(black.Pix, 16)),
			[]int64{int64(half + len(deflated(noise.Pix[512:]))), int64(2 * dark)}},
		"tiles": {tiffOf(tiffFields{width: 20, height: 30, compression: tiff.Deflate, tile: 32}, chunks(black.Pix, 32),
			chunks(noise.Pix, 32)), []int64{int64(b), int64(n)}},
		"channels": {tiffOf(tiffFields{width: 32, height: 32, compression: tiff.Deflate,
			description: "ImageJ=1.5\nimages=4\nchannels=2\nslices=2\n"},
			chunks(noise.Pix, 32), chunks(black.Pix, 32), chunks(black.Pix, 32), chunks(black.Pix, 32)),
			[]int64{int64(n + b), int64(2 * b)}},
		"plain": {tiffOf(tiffFields{width: 32, height: 32, rows: 16}, plain, plain), nil},
		"one page": {tiffOf(tiffFields{width: 32, height: 32, compression: tiff.Deflate}, chunks(noise.Pix, 32)),
			nil},
		"ImageJ, 1 page": {tiffOf(tiffFields{width: 32, height: 16, description: "ImageJ=1.5\nimages=2\nslices=2\n"},
			[][]byte{noise.Pix}), nil},
	} {
		path := filepath.Join(t.TempDir(), "f.tif")
		write(t, path, test.file)
		if got := mustOpen(t, path).StoredBytes(); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}

	page := &tiffPage{tiffReader: &tiffReader{f: &file{size: 1000}}, counts: []uint64{600, 600, 1 << 63, 7}}
	if got := page.stored(); got != 1000 {
		t.Errorf("strips that overlap: got %d, want the size of the file", got)
	}
	raw := filepath.Join(t.TempDir(), "v.raw")
	write(t, raw, noise.Pix)
	a, err := OpenRaw(raw, RawShape{Size: volume.Vec{32, 8, 4}, Type: volume.Uint8, Channels: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if got := a.StoredBytes(); got != nil {
		t.Errorf("raw voxels: got %d", got)
	}
}
