package zarr

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// TestTwoOtherAxes: each index on two axes besides x and y is a layer with its voxels. Chunks have several indices of
// both.
func TestTwoOtherAxes(t *testing.T) {
	files := fstest.MapFS{metadataV3: {Data: []byte(`{"zarr_format":3,"node_type":"array","shape":[2,3,1,2,2],"data_type":"uint8","fill_value":0,
		"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,2,1,2,2]}},"chunk_key_encoding":{"name":"default"},
		"codecs":["bytes"],"dimension_names":["time","angle","one","y","x"]}`)}}
	for second := range 2 { // on the second axis, in chunks
		var b []byte
		for i := range 2 {
			for j := range 2 {
				for k := range 4 {
					b = append(b, byte(100*i+10*(2*second+j)+k))
				}
			}
		}
		files[fmt.Sprintf("c/0/%d/0/0/0", second)] = &fstest.MapFile{Data: b}
	}
	r, err := Recognise(files, ".")
	if err != nil || r.Dataset == nil {
		t.Fatalf("got %+v, %v, expected a dataset", r, err)
	}
	names, err := r.Dataset.Layers()
	if got := strings.Join(names, " "); err != nil ||
		got != "t0000/angle0000 t0000/angle0001 t0000/angle0002 t0001/angle0000 t0001/angle0001 t0001/angle0002" {
		t.Fatalf("got the layers %s, %v", got, err)
	}
	for n, name := range names {
		l, err := r.Dataset.Layer(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Mag("1")
		if err != nil {
			t.Fatal(err)
		}
		first := byte(100*(n/3) + 10*(n%3))
		got, err := volume.ReadBox(t.Context(), m, volume.Box{Max: volume.Vec{2, 2, 1}})
		if want := []byte{first, first + 1, first + 2, first + 3}; err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: got %v, %v, expected %v", name, got, err, want)
		}
	}
}

// TestTooLongSeries: an axis with more volumes than a directory is made for is refused by name.
func TestTooLongSeries(t *testing.T) {
	_, err := Recognise(fstest.MapFS{metadataV3: {Data: []byte(`{"zarr_format":3,"node_type":"array","shape":[1000000,1,2,2],"data_type":"uint8","fill_value":0,
		"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[1,1,2,2]}},"chunk_key_encoding":{"name":"default"},"codecs":["bytes"],
		"dimension_names":["time","z","y","x"]}`)}}, ".")
	if err == nil || !strings.Contains(err.Error(), `unsupported axis "t`) {
		t.Errorf("got %v, expected the axis", err)
	}
}
