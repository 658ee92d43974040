package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// layerName returns the name of an array as a layer.
func layerName(a refdata.Array) string { return strings.ReplaceAll(a.Path, "/", "_") }

// arrayFormats has WEBKNOSSOS' name of each format.
var arrayFormats = map[string]string{"zarr2": "zarr", "zarr3": "zarr3", "n5": "n5"}

// layerOf returns the properties of a layer that has the array as its only mag.
func layerOf(root string, a refdata.Array) map[string]any {
	order := map[string]int{}
	for i, axis := range a.Axes {
		order[axis] = i
	}
	box := map[string]any{"topLeft": a.TopLeft, "width": a.Size[0], "height": a.Size[1], "depth": a.Size[2]}
	mag := map[string]any{"mag": []int{1, 1, 1}, "path": filepath.Join(root, a.Path), "axisOrder": order}
	return map[string]any{
		"name": layerName(a), "category": "color", "dataFormat": arrayFormats[a.Format], "boundingBox": box,
		"mags": []any{mag},
	}
}

// datasetOf writes a WEBKNOSSOS dataset with arrays as its layers.
func datasetOf(t *testing.T, root string, arrays []refdata.Array) (dir string) {
	t.Helper()
	var layers []any
	for _, a := range arrays {
		layers = append(layers, layerOf(root, a))
	}
	b, err := json.Marshal(map[string]any{"scale": []int{4, 4, 30}, "dataLayers": layers})
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	writeFile(t, filepath.Join(dir, "datasource-properties.json"), b)
	return dir
}

// TestArrayReferenceData reads every Zarr and N5 array that other programs wrote, voxel for voxel, through a mount,
// over HTTP and with wkwfs cp. All of them are layers of one dataset.
func TestArrayReferenceData(t *testing.T) {
	parallelHeavy(t)
	root, manifest := refdata.Arrays(t)
	var arrays []refdata.Array
	for _, a := range manifest.Arrays {
		if arrayFormats[a.Format] != "" && a.Expect != "error" {
			arrays = append(arrays, a)
		}
	}
	if len(arrays) < 100 {
		t.Errorf("%d arrays, want at least 100", len(arrays))
	}
	source := datasetOf(t, root, arrays)
	dir := mount(t, source, "--follow-links")
	web := startWeb(t, nil, "--listen", "127.0.0.1:0", "--follow-links", source)
	copied := filepath.Join(tempDir(t), "copy")
	mustRun(t, "cp", "--quiet", "--all", "--follow-links", source, ".", copied)
	info := wkwfs(t, "info", "--follow-links", source)
	for _, a := range arrays {
		t.Run(a.Path, func(t *testing.T) {
			volume := filepath.Join(layerName(a), "1", "volume.raw")
			_, err := os.Stat(filepath.Join(dir, volume))
			if a.Path == "v2_filters/delta" {
				return // the manifest has no hash of it; TestFilteredArrays reads arrays with filters
			}
			if a.Expect == "unsupported" || a.Optional && err != nil {
				if !os.IsNotExist(err) || !regexp.MustCompile(layerName(a)+` +data format `+arrayFormats[a.Format]+
					`.* unsupported`).MatchString(info.stdout) {
					t.Errorf("got %v; want no layer, and its name below not shown in:\n%s", err, info.stdout)
				}
				return
			}
			for _, at := range []string{dir, copied} {
				b, err := os.ReadFile(filepath.Join(at, volume))
				if sum := hashOf(a.Stored(b)); err != nil || sum != a.SHA256 {
					t.Errorf("%s: %v, %d bytes with hash %s, want %s", filepath.Join(at, volume), err, len(b), sum,
						a.SHA256)
				}
			}
			if _, b := web.get(t, strings.TrimPrefix((&url.URL{Path: volume}).EscapedPath(),
				"/")); hashOf(a.Stored(b)) != a.SHA256 {
				t.Errorf("over HTTP: %d bytes with hash %s, want %s", len(b), hashOf(b), a.SHA256)
			}
			for _, v := range a.Voxels {
				box := fmt.Sprintf("box/%d-%d_%d-%d_%d-%d.raw", v.At[0], v.At[0]+1, v.At[1], v.At[1]+1, v.At[2],
					v.At[2]+1)
				if b, err := os.ReadFile(filepath.Join(dir, layerName(a), "1", box)); fmt.Sprintf("%x",
					a.Stored(b)) != v.Hex {
					t.Errorf("%s: got %x, %v, want %s", box, b, err, v.Hex)
				}
			}
		})
	}
}

// TestArrayDamage mounts arrays with one thing broken in each. A layer that cannot be read at all is omitted by name,
// and the others are shown. Of the others, what depends on the damage is an I/O error, and wkwfs check finds it.
func TestArrayDamage(t *testing.T) {
	parallelHeavy(t)
	root, manifest := refdata.Arrays(t)
	var arrays []refdata.Array
	for _, a := range manifest.Damaged {
		if arrayFormats[a.Format] != "" && a.Scope != "group" {
			arrays = append(arrays, a)
		}
	}
	source := datasetOf(t, root, arrays)
	dir := mount(t, source, "--follow-links")
	info := wkwfs(t, "info", "--follow-links", source)
	check := wkwfs(t, "check", "--follow-links", "--json", source)
	if check.code == 0 {
		t.Error("wkwfs check found nothing")
	}
	for _, a := range manifest.Damaged {
		if arrayFormats[a.Format] == "" || a.Scope == "group" {
			continue
		}
		t.Run(a.Case, func(t *testing.T) {
			mag := filepath.Join(dir, layerName(a), "1")
			if a.Scope == "array" {
				if _, err := os.Stat(mag); !os.IsNotExist(err) || !strings.Contains(info.stdout, layerName(a)+" ") {
					t.Errorf("got %v; want no layer, and its name below not shown in:\n%s", err, info.stdout)
				}
				return
			}
			if !strings.Contains(check.stdout, layerName(a)) {
				t.Errorf("wkwfs check does not name %s", layerName(a))
			}
			wantRest(t, mag, a)
		})
	}
}

// wantRest reads an array in boxes: of each row the part before, in and after the bad boxes. Those in a bad box must be
// an I/O error, and count as 0.
func wantRest(t *testing.T, mag string, a refdata.Array) {
	t.Helper()
	ends := []int{0, a.Size[0]}
	for _, b := range a.BadBoxes {
		ends = append(ends, b.At[0], b.At[0]+b.Size[0])
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	var rest []byte
	for z := range a.Size[2] {
		for y := range a.Size[1] {
			for i, x := range ends[:len(ends)-1] {
				bad := a.IsBad([3]int{x, y, z})
				name := fmt.Sprintf("%s/box/%d-%d_%d-%d_%d-%d.raw", mag, x, ends[i+1], y, y+1, z, z+1)
				b, err := os.ReadFile(name)
				if bad != errors.Is(err, syscall.EIO) || !bad && err != nil {
					t.Fatalf("%s: got %v, want an I/O error: %v", name, err, bad)
				}
				if bad {
					b = make([]byte, len(a.Voxels[0].Hex)/2*(ends[i+1]-x))
				}
				rest = append(rest, b...)
			}
		}
	}
	if hashOf(rest) != a.RestSHA256 {
		t.Errorf("the rest has the hash %s, want %s", hashOf(rest), a.RestSHA256)
	}
}
