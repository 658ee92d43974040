package integration

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// packedNIfTI returns a .nii.gz of n planes of 512 × 512 voxels, which are partly noise, and the voxels.
func packedNIfTI(t *testing.T, n int) (file, voxels []byte) {
	t.Helper()
	header := make([]byte, 352)
	le := binary.LittleEndian
	le.PutUint32(header, 348)
	for i, v := range []int{3, 512, 512, n} {
		le.PutUint16(header[40+2*i:], uint16(v))
	}
	le.PutUint16(header[70:], 2) // uint8
	le.PutUint16(header[72:], 8)
	le.PutUint32(header[108:], 0x43b00000) // 352 as a float
	copy(header[344:], "n+1\x00")
	r := rand.New(rand.NewPCG(7, 8))
	voxels = make([]byte, n*512*512)
	for i := range voxels {
		if voxels[i] = byte(i >> 13); i%3 == 0 {
			voxels[i] = byte(r.IntN(256))
		}
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	_, failed := w.Write(append(header, voxels...))
	if err := errors.Join(failed, w.Close()); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes(), voxels
}

// TestRestarts: a compressed NIfTI says when it is mounted how much is unpacked, and how slow that is. After one pass,
// a later mount unpacks only the parts that are read, in any order. A damaged index costs a pass. A wrong checksum at
// the end is an I/O error.
func TestRestarts(t *testing.T) {
	const planes = 160
	file, voxels := packedNIfTI(t, planes)
	source, cache := filepath.Join(tempDir(t), "scan.nii.gz"), filepath.Join(tempDir(t), "cache")
	writeFile(t, source, file)
	if r := wkwfs(t, "info", source); r.code != 0 ||
		!strings.Contains(r.stderr, "one stream of gzip without random access") ||
		!strings.Contains(r.stderr, fmt.Sprintf("up to %d bytes in ", len(voxels)+352)) ||
		!strings.Contains(r.stderr, "takes about 1 s") {
		t.Errorf("info: exit code %d, %s", r.code, r.stderr)
	}
	plane := func(dir string, z int) ([]byte, error) {
		f, err := os.Open(filepath.Join(dir, "1", "volume.raw"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b := make([]byte, 512*512)
		_, err = f.ReadAt(b, int64(z)*int64(len(b)))
		return b, err
	}
	check := func(step, dir string, all ...int) {
		t.Helper()
		for _, z := range all {
			if got, err := plane(dir, z); err != nil || !bytes.Equal(got, voxels[z*512*512:][:512*512]) {
				t.Errorf("%s: plane %d: %v", step, z, err)
			}
		}
	}
	first := mountServer(t, source, "--disk-cache", cache)
	check("the pass", first.dir, planes-1, 0)
	first.stop(t)
	indexes, err := filepath.Glob(filepath.Join(cache, "v1", "indexes", "*"))
	if err != nil || len(indexes) != 1 {
		t.Fatalf("indexes %v, %v", indexes, err)
	}

	second := mountServer(t, source, "--disk-cache", cache)
	check("with the index", second.dir, 130)
	if read := statusOf(t, second.dir).SourceIO.ReadBytes; read > uint64(len(file)/3) {
		t.Errorf("with the index, %d bytes of %d were read for a plane", read, len(file))
	}
	check("backwards", second.dir, 159, 100, 70, 3)
	second.stop(t)

	f, err := os.OpenFile(indexes[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte("?"), 3000)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	third := mountServer(t, source, "--disk-cache", cache)
	check("a damaged index", third.dir, 130, 20)
	third.stop(t)

	file[len(file)-6] ^= 1
	writeFile(t, source, file)
	last := mount(t, source, "--disk-cache", cache)
	for range 2 {
		if _, err := plane(last, planes-1); !errors.Is(err, syscall.EIO) {
			t.Errorf("a wrong checksum: got %v, want EIO", err)
		}
	}
	if r := wkwfs(t, "check", source); r.code != 1 || !strings.Contains(r.stdout, "scan.nii.gz") ||
		!strings.Contains(r.stdout, "checksum") {
		t.Errorf("check: exit code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	if _, err := os.ReadFile(filepath.Join(last, "1", "volume.raw")); !errors.Is(err, syscall.EIO) {
		t.Errorf("the whole volume with a wrong checksum: got %v, want EIO", err)
	}
}
