package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// hdf5File is a file of HDF5 that another program wrote. README.md of the reference data explains the fields.
type hdf5File struct {
	File, Mount, Group, Expect string
	Datasets                   []hdf5Dataset
}

// hdf5Dataset is a dataset of an hdf5File. Positions and sizes are x, y, z.
type hdf5Dataset struct {
	Path, Expect, DType, SHA256 string
	Channels                    int
	Size, Offset                [3]int
	Optional, Refusable         bool
	VoxelSize                   *[3]float64  `json:"voxel_size"`
	VoxelSizeOr                 [][3]float64 `json:"voxel_size_or"`
	VoxelSizeOptional           bool         `json:"voxel_size_optional"`
	AnyOffset                   bool         `json:"any_offset"`
	Or                          []struct{ SHA256 string }
	Times                       []string        `json:"or_times"`
	RestSHA256                  string          `json:"sha256_rest"`
	BadBoxes                    json.RawMessage `json:"bad_boxes"`
	MayBoxes                    json.RawMessage `json:"may_boxes"`
	MayAll                      bool            `json:"may_all"`
	Voxels                      []refdata.Voxel
}

// hashes returns the hashes that the volume of a dataset may have.
func (d hdf5Dataset) hashes() []string {
	all := []string{d.SHA256}
	for _, o := range d.Or {
		all = append(all, o.SHA256)
	}
	return all
}

// hdf5Files returns the files of HDF5, and the directory that they are in.
func hdf5Files(t *testing.T) (root string, files []hdf5File) {
	t.Helper()
	name := refdata.Outside(t, "hdf5", "manifest.json")
	b, err := os.ReadFile(name)
	var m struct{ Files []hdf5File }
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil || len(m.Files) < 200 {
		t.Fatalf("%d files, want at least 200: %v", len(m.Files), err)
	}
	return filepath.Dir(name), slices.DeleteFunc(m.Files,
		func(f hdf5File) bool { return strings.HasSuffix(f.File, ".xz") })
}

// maxHashed is the largest volume that is read as a whole, in bytes. Sparse ones are larger.
const maxHashed = 1 << 30

// TestHDF5Files mounts every file of HDF5: sound ones show the voxels that were written, with their place and the size
// of voxels; what depends on damage is an I/O error or is not shown with the reason, and everything else reads.
func TestHDF5Files(t *testing.T) {
	root, files := hdf5Files(t)
	for _, f := range files {
		t.Run(f.File, func(t *testing.T) {
			t.Parallel()
			f.check(t, filepath.Join(root, f.Mount))
		})
	}
}

func (f hdf5File) check(t *testing.T, source string) {
	refused := !slices.ContainsFunc(f.Datasets, func(d hdf5Dataset) bool {
		return d.Expect == "ok" && !d.Optional || d.Expect == "error" && !d.Refusable && d.RestSHA256 != ""
	})
	if refused {
		if got := wkwfs(t, "info", source); got.code != 0 {
			if got.code > 2 || !strings.Contains(got.stderr, filepath.Base(source)) {
				t.Errorf("exit code %d, an error without the name of the file: %s", got.code, got.stderr)
			}
			return
		}
	}
	dir := mount(t, source)
	found := map[string]string{} // by hash
	volumes, err := filepath.Glob(filepath.Join(dir, "*", "*", "volume.raw"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range volumes {
		if info, err := os.Stat(name); err != nil || info.Size() > maxHashed {
			continue
		}
		sum, err := tryHash(name)
		if err != nil && !errors.Is(err, syscall.EIO) {
			t.Error(err)
		}
		found[sum] = name
	}
	for _, d := range f.Datasets {
		switch {
		case d.Expect == "ok" && !d.Optional && d.SHA256 != "" && d.MayBoxes == nil && !d.MayAll:
			d.wantSound(t, found)
		case d.Expect == "error" && d.RestSHA256 != "":
			d.wantRest(t, dir, volumes)
		}
	}
}

// tryHash returns the hash of a file, or its error and "".
func tryHash(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return "", err
	}
	return hashOf(b), nil
}

// wantSound fails unless one of the volumes is that of the dataset, in its place.
func (d hdf5Dataset) wantSound(t *testing.T, found map[string]string) {
	t.Helper()
	for i, sum := range d.hashes() {
		name, ok := found[sum]
		if !ok {
			continue
		}
		var about struct {
			Origin    [3]int
			VoxelSize *[3]float64 `json:"voxel_size"`
		}
		readJSON(t, strings.TrimSuffix(name, "raw")+"json", &about)
		if i == 0 && !d.AnyOffset && about.Origin != d.Offset {
			t.Errorf("%s is at %v, want %v", d.Path, about.Origin, d.Offset)
		}
		if i == 0 && d.VoxelSize != nil && !d.VoxelSizeOptional &&
			!closeTo(about.VoxelSize, append(d.VoxelSizeOr, *d.VoxelSize)) {
			t.Errorf("%s has voxels of %v nm, want %v", d.Path, about.VoxelSize, *d.VoxelSize)
		}
		return
	}
	t.Errorf("no volume is that of %s; found %v", d.Path, found)
}

// wantRest reads a damaged dataset in boxes: those with damage are I/O errors, and all others are right.
func (d hdf5Dataset) wantRest(t *testing.T, dir string, volumes []string) {
	t.Helper()
	a := refdata.Array{Path: d.Path, DType: d.DType, Channels: d.Channels, Size: d.Size, RestSHA256: d.RestSHA256,
		Voxels: d.Voxels}
	if json.Unmarshal(d.BadBoxes, &a.BadBoxes) != nil { // all of it
		a.BadBoxes = []refdata.Box{{Size: d.Size}}
	}
	mag := filepath.Join(dir, strings.ReplaceAll(d.Path, "/", "_"), "1")
	if !slices.Contains(volumes, filepath.Join(mag, "volume.raw")) {
		if !d.Refusable && string(d.BadBoxes) != `"all"` {
			t.Errorf("%s is not shown", d.Path)
		}
		return
	}
	wantRest(t, mag, a)
}

// TestHDF5Everywhere: wkwfs cp, serve, check and import, and a mount by HTTP, have the voxels of a mount.
func TestHDF5Everywhere(t *testing.T) {
	root, files := hdf5Files(t)
	i := slices.IndexFunc(files, func(f hdf5File) bool { return f.File == "cremi.hdf" })
	source, want := filepath.Join(root, files[i].Mount), files[i].Datasets[0].SHA256
	raw := filepath.Join("volumes_raw", "1", "volume.raw")

	copied := filepath.Join(tempDir(t), "copy")
	mustRun(t, "cp", "--quiet", "--all", source, ".", copied)
	if sum, n := hash(t, filepath.Join(copied, raw)); sum != want {
		t.Errorf("cp: %d bytes with hash %s, want %s", n, sum, want)
	}
	if _, b := startWeb(t, nil, "--listen", "127.0.0.1:0", source).get(t, filepath.ToSlash(raw)); hashOf(b) != want {
		t.Errorf("serve: %d bytes with hash %s, want %s", len(b), hashOf(b), want)
	}
	served := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer served.Close()
	if sum, n := hash(t, filepath.Join(mount(t, served.URL+"/cremi.hdf"), raw)); sum != want {
		t.Errorf("by HTTP: %d bytes with hash %s, want %s", n, sum, want)
	}
	if got := wkwfs(t, "check", source); got.code != 0 {
		t.Errorf("check of a sound file: exit code %d, %s", got.code, got.stdout)
	}
	if got := wkwfs(t, "check", filepath.Join(root, "damaged", "deflate_cut.h5")); got.code != 1 ||
		!strings.Contains(got.stdout, "vol") {
		t.Errorf("check of a damaged file: exit code %d, %s", got.code, got.stdout)
	}
}

// TestTimesOfHDF5: the times of BigDataViewer and of ilastik are layers, also of import, and all times of a mag are one
// file. A setup has only the times that the file has.
func TestTimesOfHDF5(t *testing.T) {
	root, files := hdf5Files(t)
	want := map[string]map[string]string{}
	for _, f := range files {
		volumes := map[string]string{}
		for _, d := range f.Datasets {
			var time, setup int
			if n, _ := fmt.Sscanf(d.Path, "t%d/s%d/0/cells", &time, &setup); n == 2 {
				volumes[fmt.Sprintf("s%02d/t%04d", setup, time)] = d.SHA256
			}
			for time, sum := range d.Times {
				volumes[fmt.Sprintf("%s/t%04d", d.Path, time)] = sum
			}
		}
		want[f.File] = volumes
	}
	for file, times := range map[string]int{"bdv_times.h5": 3, "ilastik_time.h5": 3} {
		source := filepath.Join(root, file)
		dir := mount(t, source)
		listed, err := filepath.Glob(filepath.Join(dir, "*", "t0*"))
		if err != nil || len(listed) != times || len(want[file]) != times {
			t.Errorf("%s: got %q, %v, want %v", file, listed, err, want[file])
		}
		for layer, sum := range want[file] {
			if got, n := hash(t, filepath.Join(dir, layer, "1", "volume.raw")); got != sum {
				t.Errorf("%s: %s: %d bytes with hash %s, want %s", file, layer, n, got, sum)
			}
		}
		if got := wkwfs(t, "check", source); got.code != 0 {
			t.Errorf("check %s: exit code %d, %s", file, got.code, got.stdout)
		}
	}
	source := filepath.Join(root, "ilastik_time.h5")
	var all []byte
	dir := filepath.Join(mount(t, source), "exported_data")
	for time := range 3 {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("t%04d", time), "1", "volume.raw"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "1", "volume.raw")); err != nil || !bytes.Equal(got, all) {
		t.Errorf("all times: got %d bytes, %v, want %d", len(got), err, len(all))
	}
	imported := filepath.Join(tempDir(t), "dataset")
	mustRun(t, "import", "--quiet", "--layer", "l", "--category", "color", "--voxel-size", "4,4,40",
		source+":/exported_data/t0001", imported)
	if sum, n := hash(t, filepath.Join(mount(t, imported), "l", "1",
		"volume.raw")); sum != hashOf(all[len(all)/3:][:n]) {
		t.Errorf("import: %d bytes with hash %s, want those of t0001", n, sum)
	}
}

// TestHDF5Assumed: info says by what the order of the axes and the size of voxels are known.
func TestHDF5Assumed(t *testing.T) {
	root, _ := hdf5Files(t)
	for name, want := range map[string]string{
		"cremi.hdf":      "axes z, y, x, slowest first, by habit: none are named; voxel size by resolution, as nm in the order z, y, x",
		"n5_hdf5.h5":     "voxel size by resolution, as nm in the order x, y, z",
		"ilastik_xyz.h5": "axes x, y, z, slowest first, by axistags of ilastik",
		"imaris.ims":     "by Imaris; voxel size by Imaris",
		"bdv_times.h5":   "voxel size by the XML of BigDataViewer",
		"snemi_main.h5":  "voxel size by nothing: it is unknown",
	} {
		if got := mustRun(t, "info", filepath.Join(root, name)); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in %s", name, want, got)
		}
	}
}

// TestHDF5Folder mounts a folder of files: their layers have the names of the files before their own. A file that
// cannot be opened is left out with the reason.
func TestHDF5Folder(t *testing.T) {
	root, files := hdf5Files(t)
	dir := tempDir(t)
	want := map[string]string{}
	for _, name := range []string{"cremi.hdf", "snemi_main.h5"} {
		i := slices.IndexFunc(files, func(f hdf5File) bool { return f.File == name })
		b, err := os.ReadFile(filepath.Join(root, files[i].Mount))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name), b)
		d := files[i].Datasets[0]
		stem := strings.TrimSuffix(name, filepath.Ext(name))
		want[stem+"_"+strings.ReplaceAll(d.Path, "/", "_")] = d.SHA256
	}
	writeFile(t, filepath.Join(dir, "broken.h5"), []byte("\x89HDF\r\n\x1a\n"))
	mounted := mount(t, dir)
	for layer, sum := range want {
		if got, n := hash(t, filepath.Join(mounted, layer, "1", "volume.raw")); got != sum {
			t.Errorf("%s: %d bytes with hash %s, want %s", layer, n, got, sum)
		}
	}
	if got := wkwfs(t, "info", dir); got.code != 0 || !strings.Contains(got.stdout, "broken.h5") {
		t.Errorf("info: exit code %d, %s", got.code, got.stdout)
	}
}

// TestHDF5Import: import writes the voxels of a dataset of a file. If the file has several and none is named, an error
// lists them.
func TestHDF5Import(t *testing.T) {
	root, files := hdf5Files(t)
	for name, path := range map[string]string{"cremi.hdf": ":/volumes/raw", "snemi_main.h5": "",
		"ilastik_zyxc.h5": ":/exported_data"} {
		i := slices.IndexFunc(files, func(f hdf5File) bool { return f.File == name })
		source := filepath.Join(root, files[i].Mount)
		dataset := filepath.Join(tempDir(t), "dataset")
		mustRun(t, "import", "--quiet", "--layer", "l", "--category", "color", "--voxel-size", "4,4,40", source+path,
			dataset)
		if sum, n := hash(t, filepath.Join(mount(t, dataset), "l", "1",
			"volume.raw")); sum != files[i].Datasets[0].SHA256 {
			t.Errorf("%s: %d bytes with hash %s, want %s", name, n, sum, files[i].Datasets[0].SHA256)
		}
	}
	got := wkwfs(t, "import", filepath.Join(root, "cremi.hdf"), filepath.Join(tempDir(t), "dataset"), "--layer", "l")
	if got.code == 0 || !strings.Contains(got.stderr, "cremi.hdf:/volumes_labels_clefts") {
		t.Errorf("exit code %d, %s", got.code, got.stderr)
	}
}

// TestHDF5Requests: a chunk of a remote file takes few requests, however its index is made, and those after it one
// each.
func TestHDF5Requests(t *testing.T) {
	root, _ := hdf5Files(t)
	var requests atomic.Int64
	files := http.FileServer(http.Dir(root))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	dir := mount(t, server.URL+"/index_big.h5")
	local := mount(t, filepath.Join(root, "index_big.h5"))
	const most, mostNext = 24, 4 // with those that look for what is beside a file, and for its version
	if n := requests.Swap(0); n > most {
		t.Errorf("%d requests for a mount, want at most %d", n, most)
	}
	for _, layer := range []string{"tree2_deep", "fixed_paged_gz", "extensible", "tree2_gz"} {
		box := filepath.Join(layer, "1", "box", "2-3_2-3_9-10.raw")
		got, err := os.ReadFile(filepath.Join(dir, box))
		want, wantErr := os.ReadFile(filepath.Join(local, box))
		if err != nil || wantErr != nil || string(got) != string(want) {
			t.Errorf("%s: %v, want %v: %v, %v", box, got, want, err, wantErr)
		}
		if n := requests.Swap(0); n > mostNext {
			t.Errorf("%s: %d requests, want at most %d", box, n, mostNext)
		}
	}
}
