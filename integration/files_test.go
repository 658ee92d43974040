package integration

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestSourceFiles mounts files and folders of other programs: each volume has the bytes that the reference data have,
// its type, its size, its place and the size of its voxels. What is refused is an error with a hint. What is cut off or
// damaged is an I/O error where bytes are missing, never zeros.
func TestSourceFiles(t *testing.T) {
	root, cases := refdata.Sources(t, "file")
	if len(cases) < 80 {
		t.Errorf("%d cases, want at least 80", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if c.Expect == "refused" {
				if got := wkwfs(t, append([]string{"info", filepath.Join(root, c.Mount)},
					c.Flags...)...); got.code == 0 && !c.Optional {
					t.Errorf("%s is shown; want it refused:\n%s", c.Mount, got.stdout)
				}
				return
			}
			if c.Expect == "error" || c.Optional {
				if got := wkwfs(t, append([]string{"info", filepath.Join(root, c.Mount)},
					c.Flags...)...); got.code != 0 {
					return // refused as a whole
				}
			}
			dir := mount(t, filepath.Join(root, c.Mount), c.Flags...)
			volumes, err := filepath.Glob(filepath.Join(dir, "*", "volume.raw"))
			deeper, deepErr := filepath.Glob(filepath.Join(dir, "*", "*", "volume.raw"))
			if volumes = append(volumes, deeper...); err != nil || deepErr != nil || len(volumes) == 0 {
				t.Fatalf("%d volumes, %v, %v", len(volumes), err, deepErr)
			}
			if c.Expect == "error" {
				wantUnreadable(t, volumes)
				return
			}
			for _, v := range c.Volumes {
				wantVolume(t, v, volumes)
			}
		})
	}
}

// wantUnreadable fails unless reading one of the volumes is an I/O error.
func wantUnreadable(t *testing.T, volumes []string) {
	t.Helper()
	for _, name := range volumes {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, f)
		f.Close()
		if errors.Is(err, syscall.EIO) {
			return
		}
	}
	t.Errorf("all of %v is read without an error", volumes)
}

// wantVolume fails unless one of the volumes of a mount is v.
func wantVolume(t *testing.T, v refdata.SourceVolume, volumes []string) {
	t.Helper()
	var found []string
	for _, name := range volumes {
		var about struct {
			DType         string
			Shape, Origin [3]int
			VoxelSize     *[3]float64 `json:"voxel_size"`
		}
		readJSON(t, strings.TrimSuffix(name, "raw")+"json", &about)
		sum, _ := hash(t, name)
		if sum != v.SHA256 && !slices.ContainsFunc(v.Or,
			func(o struct{ SHA256 string }) bool { return o.SHA256 == sum }) {
			found = append(found, fmt.Sprintf("%v of %s: %s", about.Shape, about.DType, sum))
			continue
		}
		if about.Shape != v.Size || about.Origin != v.Offset && !v.AnyOffset {
			t.Errorf("%s: size %v at %v, want %v at %v", name, about.Shape, about.Origin, v.Size, v.Offset)
		}
		if v.VoxelSize != nil && !closeTo(about.VoxelSize, append(v.VoxelSizeOr, *v.VoxelSize)) {
			t.Errorf("%s: voxels of %v nm, want %v", name, about.VoxelSize, *v.VoxelSize)
		}
		for _, voxel := range v.Voxels {
			box := "box/"
			for axis, at := range voxel.At {
				box += fmt.Sprintf("%d-%d%s", at, at+1, [...]string{"_", "_", ".raw"}[axis])
			}
			if b, err := os.ReadFile(filepath.Join(filepath.Dir(name), box)); sum == v.SHA256 &&
				fmt.Sprintf("%x", b) != voxel.Hex {
				t.Errorf("%s: got %x, %v, want %s", box, b, err, voxel.Hex)
			}
		}
		return
	}
	if !v.Optional {
		t.Errorf("no volume of %v %s with hash %s, only %v", v.Size, v.DType, v.SHA256, found)
	}
}

// closeTo reports whether a voxel size is one of those that are right, to a millionth.
func closeTo(got *[3]float64, right [][3]float64) bool {
	return got != nil && slices.ContainsFunc(right, func(want [3]float64) bool {
		for axis, size := range want {
			if math.Abs(got[axis]-size) > 1e-6*size {
				return false
			}
		}
		return true
	})
}

// TestSourceFilesEverywhere: what a mount shows of a file is what wkwfs cp copies, what wkwfs serve sends, and what
// wkwfs import writes. A server on the web is a source, too.
func TestSourceFilesEverywhere(t *testing.T) {
	root, cases := refdata.Sources(t, "file")
	files := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer files.Close()
	web := files.URL
	for _, name := range []string{"npy_rgb", "nii_gz", "tiles_edge", "folder_png", "nii_uint8", "nrrd_detached"} {
		i := slices.IndexFunc(cases, func(c refdata.Source) bool { return c.Name == name })
		if i < 0 {
			t.Errorf("no case %s", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			c := cases[i]
			source, want := filepath.Join(root, c.Mount), c.Volumes[0].SHA256
			copied := filepath.Join(tempDir(t), "copy")
			if got := wkwfs(t, "cp", "--quiet", "--all", source, ".", copied); got.code != 0 {
				t.Fatal(got.stderr)
			}
			if sum, n := hash(t, filepath.Join(copied, "1", "volume.raw")); sum != want {
				t.Errorf("cp: %d bytes with hash %s, want %s", n, sum, want)
			}
			served := startWeb(t, nil, "--listen", "127.0.0.1:0", source)
			if _, b := served.get(t, "1/volume.raw"); hashOf(b) != want {
				t.Errorf("serve: %d bytes with hash %s, want %s", len(b), hashOf(b), want)
			}
			dataset := filepath.Join(tempDir(t), "dataset")
			mustRun(t, "import", "--quiet", "--layer", "l", "--category", "color", "--voxel-size", "1,1,1", source,
				dataset)
			imported := mount(t, dataset)
			if sum, n := hash(t, filepath.Join(imported, "l", "1", "volume.raw")); sum != want {
				t.Errorf("import: %d bytes with hash %s, want %s", n, sum, want)
			}
			if name == "folder_png" {
				return // this server has no listings
			}
			dir := mount(t, web+"/"+c.Mount)
			if sum, n := hash(t, filepath.Join(dir, "1", "volume.raw")); sum != want {
				t.Errorf("by HTTP: %d bytes with hash %s, want %s", n, sum, want)
			}
		})
	}
}

// TestKNOSSOSByHTTP: a configuration of KNOSSOS on a server without listings is a source. Its mags are those that have
// a voxel size.
func TestKNOSSOSByHTTP(t *testing.T) {
	root, cases := refdata.Sources(t, "file")
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/") {
			http.NotFound(w, r)
			return
		}
		http.FileServer(http.Dir(root)).ServeHTTP(w, r)
	}))
	defer files.Close()
	dir := mount(t, files.URL+"/knossos_toml/em.k.toml")
	volumes, err := filepath.Glob(filepath.Join(dir, "*", "*", "volume.raw"))
	if err != nil || len(volumes) != 3 {
		t.Fatalf("got the volumes %v, %v", volumes, err)
	}
	for _, v := range cases[slices.IndexFunc(cases,
		func(c refdata.Source) bool { return c.Name == "knossos_toml" })].Volumes {
		wantVolume(t, v, volumes)
	}
}
