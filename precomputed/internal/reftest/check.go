package reftest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// checkVolume decodes all chunks of a scale. It compares the checksum of the whole scale, and of each chunk with a
// known checksum.
func checkVolume(t *testing.T, root string, s Scale, decode Decoder) {
	dir := filepath.Join(root, s.Volume, s.Key)
	for _, chunk := range s.Chunks {
		if data := readChunk(t, dir, chunk.Name); data != nil && s.Expected == "" {
			checkSum(t, s, chunk, data, decode)
		}
	}
	flat := make([]byte, Voxels(s.Size)*s.Channels*s.ValueBytes())
	present := 0
	for offset := range s.offsets {
		size, name := s.chunk(offset)
		data := readChunk(t, dir, name)
		if data == nil {
			continue
		}
		present++
		values, err := decode(s, size, data)
		if err != nil {
			t.Fatalf("chunk %s: %v", name, err)
		}
		s.paste(flat, values, offset, size)
	}
	if present != s.Present {
		t.Errorf("%d chunks exist, expected %d", present, s.Present)
	}
	if s.Expected == "" {
		if sum(flat) != s.SHA256 {
			t.Errorf("the checksum of the volume is %s, expected %s", sum(flat), s.SHA256)
		}
		return
	}
	checkLossy(t, root, s, flat)
}

// checkLossy compares values with the output of other decoders for the same chunks. One of them must be close.
func checkLossy(t *testing.T, root string, s Scale, flat []byte) {
	var found []string
	for _, file := range []string{s.Expected, s.OrExpected} {
		if file == "" {
			continue
		}
		want := readChunk(t, root, file)
		if len(want) != len(flat) {
			t.Fatalf("%s: %d bytes, expected %d", file, len(want), len(flat))
		}
		worst := 0
		for i, v := range flat {
			worst = max(worst, int(v)-int(want[i]), int(want[i])-int(v))
		}
		if worst <= s.MaxAbsDiff {
			return
		}
		found = append(found, fmt.Sprintf("%d off %s", worst, file))
	}
	t.Errorf("values are up to %v, expected %d", found, s.MaxAbsDiff)
}

// checkSum compares the checksum of a decoded chunk.
func checkSum(t *testing.T, s Scale, chunk Chunk, data []byte, decode Decoder) {
	t.Helper()
	values, err := decode(s, chunk.Size, data)
	if err != nil {
		t.Errorf("chunk %s: %v", chunk.Name, err)
	} else if sum(values) != chunk.SHA256 {
		t.Errorf("chunk %s: the checksum is %s, expected %s", chunk.Name, sum(values), chunk.SHA256)
	}
}

// offsets yields the offset of each chunk from the start of the volume, in voxels.
func (s Scale) offsets(yield func([3]int) bool) {
	for z := 0; z < s.Size[2]; z += s.ChunkSize[2] {
		for y := 0; y < s.Size[1]; y += s.ChunkSize[1] {
			for x := 0; x < s.Size[0]; x += s.ChunkSize[0] {
				if !yield([3]int{x, y, z}) {
					return
				}
			}
		}
	}
}

// chunk returns the size and the name of the chunk at an offset.
func (s Scale) chunk(offset [3]int) (size [3]int, name string) {
	var span [3]string
	for axis := range size {
		size[axis] = min(s.ChunkSize[axis], s.Size[axis]-offset[axis])
		lo := s.Offset[axis] + offset[axis]
		span[axis] = fmt.Sprintf("%d-%d", lo, lo+size[axis])
	}
	return size, span[0] + "_" + span[1] + "_" + span[2]
}

// paste copies the values of a chunk to its offset in the volume.
func (s Scale) paste(flat, values []byte, offset, size [3]int) {
	voxel := s.Channels * s.ValueBytes()
	row := size[0] * voxel
	for z := range size[2] {
		for y := range size[1] {
			at := offset[0] + s.Size[0]*(offset[1]+y+s.Size[1]*(offset[2]+z))
			copy(flat[at*voxel:], values[(z*size[1]+y)*row:][:row])
		}
	}
}

// readChunk returns the content of file name or name.gz. It decompresses gzip. It returns nil if there is no such file.
func readChunk(t testing.TB, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		b, err = os.ReadFile(filepath.Join(dir, name+".gz"))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && bytes.HasPrefix(b, []byte{0x1F, 0x8B}) {
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
			b, err = io.ReadAll(r)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}
