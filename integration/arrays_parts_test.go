package integration

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDamagedPartOfChunk mounts an array of one chunk of Blosc with two blocks, of which the second is damaged. What
// lies in the first one reads, the rest is an I/O error, and wkwfs check finds it.
func TestDamagedPartOfChunk(t *testing.T) {
	const metadata = `{"zarr_format":2,"shape":[64,64,64],"chunks":[64,64,64],"dtype":"<u4","order":"C","fill_value":0,"filters":null,
		"compressor":{"id":"blosc","cname":"lz4","clevel":5,"shuffle":1,"blocksize":0}}`
	const blockBytes = 512 << 10
	voxels := make([]byte, 2*blockBytes)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range voxels {
		voxels[i] = byte(r.Uint32())
	}
	// Blocks of LZ4 that are not split, shuffled or compressed. The second one claims to be shorter than it is.
	le := binary.LittleEndian
	chunk := []byte{2, 1, 1<<5 | 1<<4, 4}
	first, second := 24, 24+4+blockBytes
	for _, n := range []int{len(voxels), blockBytes, second + 4 + blockBytes, first, second} {
		chunk = le.AppendUint32(chunk, uint32(n))
	}
	chunk = append(le.AppendUint32(chunk, blockBytes), voxels[:blockBytes]...)
	chunk = append(le.AppendUint32(chunk, blockBytes-1), voxels[blockBytes:]...)
	source := tempDir(t)
	for name, content := range map[string][]byte{".zarray": []byte(metadata), "0.0.0": chunk} {
		if err := os.WriteFile(filepath.Join(source, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	dir := mount(t, source)
	b, err := os.ReadFile(filepath.Join(dir, "box", "0-64_0-64_0-32.raw"))
	if err != nil || !bytes.Equal(b, voxels[:blockBytes]) {
		t.Errorf("the sound block: %d bytes, %v", len(b), err)
	}
	for _, box := range []string{"0-64_0-64_32-64", "0-1_0-1_63-64", "0-64_0-64_0-64"} {
		if _, err := os.ReadFile(filepath.Join(dir, "box", box+".raw")); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v, expected an I/O error", box, err)
		}
	}
	check := wkwfs(t, "check", source)
	if check.code == 0 || !strings.Contains(check.stdout+check.stderr, "blosc block 1") {
		t.Errorf("wkwfs check: exit code %d, %s%s", check.code, check.stdout, check.stderr)
	}
}
