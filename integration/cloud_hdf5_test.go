//go:build clients

package integration

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestClientCloudHDF5 mounts files of HDF5 from each server: their volumes, also those of times, are those of the files
// here. A mount takes few requests, and so does a chunk, however its index is made.
func TestClientCloudHDF5(t *testing.T) {
	root, _ := hdf5Files(t)
	dir := tempDir(t)
	files := []string{"cremi.hdf", "imaris.ims", "bdv_times.h5", "ilastik_time.h5", "netcdf.nc", "index_big.h5"}
	here := map[string]string{}
	for _, name := range append(files, "bdv_times.xml") {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			err = putObject(filepath.Join(dir, name), b)
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, ".xml") {
			here[name] = mount(t, filepath.Join(dir, name))
		}
	}
	const most, mostNext = 16, 4 // less than TestHDF5Requests: nobody looks beside an object
	for _, name := range cloudNames {
		t.Run(name, func(t *testing.T) {
			c := startCloud(t, name, dir)
			for _, file := range files {
				c.proxy.Requests()
				s := c.mount(t, c.url+"/"+file)
				if n := len(c.proxy.Requests()); n > most {
					t.Errorf("%s: %d requests for a mount, want at most %d", file, n, most)
				}
				if file != "index_big.h5" { // whose volumes are large
					sameVolumes(t, s.dir, here[file])
					continue
				}
				for _, layer := range []string{"tree2_deep", "fixed_paged_gz", "extensible", "tree2_gz"} {
					c.proxy.Requests()
					box := filepath.Join(layer, "1", "box", "2-3_2-3_9-10.raw")
					sameFile(t, filepath.Join(s.dir, box), filepath.Join(here[file], box))
					if n := len(c.proxy.Requests()); n > mostNext {
						t.Errorf("%s: %d requests, want at most %d", box, n, mostNext)
					}
				}
			}
		})
	}
}

// sameVolumes compares the raw volumes below a directory with those below another one, which has some.
func sameVolumes(t *testing.T, got, want string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(want, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (strings.HasSuffix(name, ".zarr") || d.Name() == "precomputed") {
			return fs.SkipDir
		}
		if err != nil || d.Name() != "volume.raw" {
			return err
		}
		n++
		sameFile(t, filepath.Join(got, strings.TrimPrefix(name, want)), name)
		return nil
	})
	if err != nil || n == 0 {
		t.Errorf("%s: %d volumes, %v", want, n, err)
	}
}

// sameFile compares a file with another one.
func sameFile(t *testing.T, got, want string) {
	t.Helper()
	gotSum, _ := hash(t, got)
	if wantSum, n := hash(t, want); gotSum != wantSum {
		t.Errorf("%s: hash %s, want %s of %d bytes", got, gotSum, wantSum, n)
	}
}
