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

// checkVolume decodes all chunks of a scale and compares it as a whole, and those
// chunks whose sum is known one by one.
func checkVolume(t *testing.T, root string, s Scale, decode Decoder) {
	folder := filepath.Join(root, s.Volume, s.Key)
	for _, chunk := range s.Chunks {
		if data := readChunk(t, folder, chunk.Name); data != nil && s.Expected == "" {
			checkSum(t, s, chunk, data, decode)
		}
	}
	flat := make([]byte, Voxels(s.Size)*s.Channels*s.ValueBytes())
	present := 0
	for begin := range s.begins {
		size, name := s.chunk(begin)
		data := readChunk(t, folder, name)
		if data == nil {
			continue
		}
		present++
		values, err := decode(s, size, data)
		if err != nil {
			t.Fatalf("chunk %s: %v", name, err)
		}
		s.paste(flat, values, begin, size)
	}
	if present != s.Present {
		t.Errorf("%d chunks are there, expected %d", present, s.Present)
	}
	if s.Expected == "" {
		if sum(flat) != s.SHA256 {
			t.Errorf("the volume's sum is %s, expected %s", sum(flat), s.SHA256)
		}
		return
	}
	checkLossy(t, root, s, flat)
}

// checkLossy compares bytes with those that other decoders made of the same chunks.
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

func checkSum(t *testing.T, s Scale, chunk Chunk, data []byte, decode Decoder) {
	t.Helper()
	values, err := decode(s, chunk.Size, data)
	if err != nil {
		t.Errorf("chunk %s: %v", chunk.Name, err)
	} else if sum(values) != chunk.SHA256 {
		t.Errorf("chunk %s: sum is %s, expected %s", chunk.Name, sum(values), chunk.SHA256)
	}
}

// begins yields the first voxel of every chunk, counted from the volume's begin.
func (s Scale) begins(yield func([3]int) bool) {
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

// chunk returns the size and the name of the chunk that begins there.
func (s Scale) chunk(begin [3]int) (size [3]int, name string) {
	var span [3]string
	for axis := range size {
		size[axis] = min(s.ChunkSize[axis], s.Size[axis]-begin[axis])
		lo := s.Offset[axis] + begin[axis]
		span[axis] = fmt.Sprintf("%d-%d", lo, lo+size[axis])
	}
	return size, span[0] + "_" + span[1] + "_" + span[2]
}

// paste copies a chunk's values to where they belong in the volume.
func (s Scale) paste(flat, values []byte, begin, size [3]int) {
	voxel := s.Channels * s.ValueBytes()
	row := size[0] * voxel
	for z := range size[2] {
		for y := range size[1] {
			at := begin[0] + s.Size[0]*(begin[1]+y+s.Size[1]*(begin[2]+z))
			copy(flat[at*voxel:], values[(z*size[1]+y)*row:][:row])
		}
	}
}

// readChunk returns a file's content, taken out of gzip if it is in it; nil if neither
// name nor name.gz is there.
func readChunk(t testing.TB, folder, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		b, err = os.ReadFile(filepath.Join(folder, name+".gz"))
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
