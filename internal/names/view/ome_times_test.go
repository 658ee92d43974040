package view

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/zarr"
)

// TestOMEZarrOfTimes: the chunks of times are those of an array with the axes t, c, z, y, x. A time of another size, or
// one that cannot be read, is an error of its chunks: absent chunks would be zeros. Without all times there is no
// image.
func TestOMEZarrOfTimes(t *testing.T) {
	files := fstest.MapFS{".zgroup": {Data: []byte(`{"zarr_format":2}`), Mode: 0o644}}
	add := func(at int, shape string) {
		dir := fmt.Sprintf("t%04d/", at)
		files[dir+".zarray"] = &fstest.MapFile{Mode: 0o644, Data: []byte(
			`{"zarr_format":2,"shape":` + shape +
				`,"chunks":[2,2,2],"dtype":"|u1","compressor":null,"fill_value":0,"order":"C","filters":null}`)}
		files[dir+"0.0.0"] = &fstest.MapFile{Mode: 0o644, Data: bytes.Repeat([]byte{'a' + byte(at)}, 8)}
	}
	add(0, "[2,2,2]")
	add(1, "[2,2,2]")
	add(2, "[2,2,3]")
	r, err := zarr.Recognise(files, ".")
	if err != nil {
		t.Fatal(err)
	}
	f := New(r, Options{})
	for at, want := range []byte{'a', 'b'} {
		for _, name := range []string{"ome.zarr/1/%d/0/0/0/0", "ome-v3.zarr/1/c/%d/0/0/0/0"} {
			name = fmt.Sprintf(name, at)
			if b, err := fs.ReadFile(f, name); err != nil || len(bytes.Trim(b, "\x00")) == 0 ||
				bytes.Count(b, []byte{want}) != 8 {
				t.Errorf("%s: got %d bytes, %v, expected 8 of %c", name, len(b), err, want)
			}
		}
	}
	if b, err := fs.ReadFile(f, "ome.zarr/1/.zarray"); err != nil ||
		!strings.Contains(strings.Join(strings.Fields(string(b)), ""), `"shape":[3,1,2,2,2]`) {
		t.Errorf("got %s, %v", b, err)
	}
	if _, err := fs.Stat(f, "ome.zarr/1/2/0/0/0/0"); err == nil || errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "as in t0000") {
		t.Errorf("got %v of a time that has another size", err)
	}
	for _, name := range []string{"ome.zarr/1/3", "ome.zarr/1/0/1", "ome.zarr/1/0/0/1", "ome.zarr/2",
		"ome-v3.zarr/1/0"} {
		if _, err := fs.Stat(f, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	delete(files, "t0001/.zarray")
	delete(files, "t0001/0.0.0")
	if r, err = zarr.Recognise(files, "."); err != nil {
		t.Fatal(err)
	}
	if _, err := fs.Stat(New(r, Options{}), "ome.zarr"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v without one of the times", err)
	}
}
