package precomputed

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// TestCompressedFiles reads chunks in files that CloudVolume and others compressed, voxel for voxel. A chunk that was
// cut off is an error, and the others are read.
func TestCompressedFiles(t *testing.T) {
	root, sources := refdata.Sources(t, "zarr")
	count := 0
	for _, s := range sources {
		if !strings.HasPrefix(s.Name, "pre_") {
			continue
		}
		count++
		mag := openScale(t, filepath.Join(root, s.Mount), "8_8_40")
		box, err := mag.Bounds()
		if err != nil {
			t.Fatal(err)
		}
		voxels, err := volume.ReadBox(t.Context(), mag, box)
		if s.Expect == "error" {
			if _, ok := errors.AsType[*volume.FormatError](err); !ok || !strings.Contains(err.Error(), ".br") {
				t.Errorf("%s: got %v, expected an error with the file", s.Name, err)
			}
			continue
		}
		if sum := sha256.Sum256(voxels); err != nil || hex.EncodeToString(sum[:]) != s.Volumes[0].SHA256 {
			t.Errorf("%s: got %v, voxels with the checksum %x, expected %s", s.Name, err, sum, s.Volumes[0].SHA256)
		}
	}
	if count < 5 {
		t.Errorf("%d sources, expected at least 5", count)
	}
}

func brotliOf(b []byte) []byte {
	var out bytes.Buffer
	w := brotli.NewWriter(&out)
	w.Write(b) // to memory: it cannot fail
	w.Close()
	return out.Bytes()
}

// TestOrderOfForms: of several files of a chunk, that without a suffix is read, then the first one in the order of
// cloud-files.
func TestOrderOfForms(t *testing.T) {
	_, s := infoFor(t, "8_8_30", "8_8_30")
	want := voxelsOf(s, volume.Vec{})
	other := make([]byte, len(want))
	dir := writeFiles(t, map[string][]byte{
		"info": []byte(goodInfo), name000 + ".br": brotliOf(want), name000 + ".zstd": {1}, name000 + ".foo": {1},
		name100: voxelsOf(s, volume.Vec{1}), name100 + ".gz": gzipOf(other),
	})
	mag := openScale(t, dir, "8_8_30")
	checkVoxels(t, mag, volume.Vec{})
	checkVoxels(t, mag, volume.Vec{1})
	walked := 0
	for _, err := range volume.AllCubes(limited(t, dir, 1)) {
		if walked++; err != nil {
			t.Error(err)
		}
	}
	if walked != 2 {
		t.Errorf("walked %d chunks, expected 2", walked)
	}
}

// FuzzBrotli: any bytes as a compressed chunk. What is longer than the chunk is an error.
func FuzzBrotli(f *testing.F) {
	f.Add(brotliOf([]byte("some voxels, some voxels")))
	f.Add(brotliOf(make([]byte, 1<<16)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		dst := make([]byte, 1<<12, 1<<13)
		if n, err := unbrotli(bytes.NewReader(b), dst); err == nil && n > len(dst) {
			t.Fatalf("got %d bytes", n)
		}
		if !bytes.Equal(dst[len(dst):cap(dst)], make([]byte, 1<<12)) {
			t.Fatal("wrote past the end")
		}
	})
}
