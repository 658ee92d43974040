package n5

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// writeTimes writes an array of 2×2×1 voxels, one channel and three times, in blocks of two times. Voxel i of time t is
// 10 t + i + first.
func writeTimes(files fstest.MapFS, dir string, first byte) {
	files[dir+"attributes.json"] = &fstest.MapFile{Data: []byte(
		`{"dimensions":[2,2,1,1,3],"blockSize":[2,2,1,1,2],"dataType":"uint8","compression":{"type":"raw"}}`)}
	for block, times := range [][]byte{{0, 1}, {2}} {
		b := binary.BigEndian.AppendUint16(nil, 0)
		b = binary.BigEndian.AppendUint16(b, 5)
		for _, n := range []int{2, 2, 1, 1, len(times)} {
			b = binary.BigEndian.AppendUint32(b, uint32(n))
		}
		for _, t := range times {
			for i := range byte(4) {
				b = append(b, 10*t+i+first)
			}
		}
		files[fmt.Sprintf("%s0/0/0/0/%d", dir, block)] = &fstest.MapFile{Data: b}
	}
}

// TestTimes: each time of an array is a layer with its voxels, t0000 and so on; in a group of resolutions, with a mag
// for each of these, and below the name of a group in a group.
func TestTimes(t *testing.T) {
	array, group := fstest.MapFS{}, fstest.MapFS{"attributes.json": {Data: []byte(`{"n5":"2.5.1"}`)}}
	writeTimes(array, "", 0)
	writeTimes(group, "movie/s0/", 0)
	writeTimes(group, "movie/s1/", 100)
	for _, c := range []struct {
		files        fstest.MapFS
		prefix, mags string
	}{{array, "", "1"}, {group, "movie/", "s0 s1"}} {
		r, err := Recognise(c.files, ".")
		if err != nil || r.Dataset == nil {
			t.Fatalf("got %+v, %v, expected a dataset", r, err)
		}
		names, err := r.Dataset.Layers()
		if want := fmt.Sprintf("%[1]st0000 %[1]st0001 %[1]st0002", c.prefix); err != nil ||
			strings.Join(names, " ") != want {
			t.Fatalf("got the layers %q, %v, expected %s", names, err, want)
		}
		for n, name := range names {
			l, err := r.Dataset.Layer(name)
			if err != nil {
				t.Fatal(err)
			}
			mags, _ := l.Mags()
			if strings.Join(mags, " ") != c.mags {
				t.Errorf("%s: got the mags %q, expected %s", name, mags, c.mags)
			}
			for i, mag := range mags {
				m, err := l.Mag(mag)
				if err != nil {
					t.Fatal(err)
				}
				first := byte(10*n + 100*i)
				got, err := volume.ReadBox(t.Context(), m, volume.Box{Max: volume.Vec{2, 2, 1}})
				if want := []byte{first, first + 1, first + 2, first + 3}; err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s/%s: got %v, %v, expected %v", name, mag, got, err, want)
				}
			}
		}
	}
}
