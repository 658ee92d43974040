package integration

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// composedCases returns the cases of annotations and mappings, with paths that can be opened.
func composedCases(t *testing.T, kind string) (all []refdata.Composed) {
	t.Helper()
	dir := refdata.Dir(t, kind)
	var manifest refdata.ComposedManifest
	readJSON(t, filepath.Join(dir, "manifest.json"), &manifest)
	for _, c := range manifest.Cases {
		c.Mount = filepath.Join(dir, c.Mount)
		if c.Over != nil {
			c.Flags = append(c.Flags, "--over="+filepath.Join(dir, *c.Over))
		}
		all = append(all, c)
	}
	return all
}

// fits reports whether a file has the voxels of a volume: in its own type, or in 64 bits, which is always right.
func fits(t *testing.T, file io.Reader, v refdata.ComposedVolume) bool {
	t.Helper()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		t.Error(err)
	}
	got := hex.EncodeToString(sum.Sum(nil))
	return got == v.SHA256 || got == v.SHA256Uint64
}

// isShown reports whether a volume of the reference data must be shown: time is no axis of a layer.
func isShown(c refdata.Composed, v refdata.ComposedVolume) bool {
	return !c.Optional && !v.Optional && v.Part == nil && v.Time == nil && (c.Expect == "ok" || v.Readable)
}

// TestComposedReferenceData reads all annotations, merged with their dataset or alone, and all mapped layers, in
// mounts.
func TestComposedReferenceData(t *testing.T) {
	skipOneByOne(t)
	parallelHeavy(t)
	compared := 0
	for _, kind := range []string{"annotations", "mappings"} {
		for _, c := range composedCases(t, kind) {
			if !slices.ContainsFunc(c.Volumes, func(v refdata.ComposedVolume) bool { return isShown(c, v) }) {
				continue
			}
			t.Run(c.Name, func(t *testing.T) {
				dir := mount(t, c.Mount, c.Flags...)
				for _, v := range c.Volumes {
					file := filepath.Join(dir, v.Layer, v.Mag, "volume.raw")
					f, err := os.Open(file)
					if err != nil {
						if isShown(c, v) {
							t.Error(err)
						}
						continue
					}
					if c.Expect == "error" && !v.Readable {
						if _, err := io.Copy(io.Discard, f); err == nil {
							t.Errorf("%s is read without an error", file)
						}
					} else if isShown(c, v) && !fits(t, f, v) {
						t.Errorf("%s has other voxels", file)
					}
					compared++
					f.Close()
				}
				for _, absent := range c.Absent {
					if c.Name == "bad_h5_filter" { // LZF, which other readers lack
						continue
					}
					if _, err := os.Stat(filepath.Join(dir, absent, "1/volume.raw")); c.Expect == "refused" &&
						err == nil {
						t.Errorf("%s is shown", absent)
					}
				}
			})
		}
	}
	if compared < 100 {
		t.Errorf("%d volumes were compared", compared)
	}
}

// TestComposedRefused: what cannot be shown ends the mount with a reason that names it.
func TestComposedRefused(t *testing.T) {
	skipOneByOne(t)
	parallelHeavy(t)
	for _, c := range composedCases(t, "annotations") {
		if c.Expect != "refused" && c.Name != "bomb_zip" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			args := append([]string{"info", c.Mount}, c.Flags...)
			if c.Name == "bomb_zip" {
				args[0] = "check"
			}
			r := wkwfs(t, args...)
			out := r.stdout + r.stderr
			if r.code == 0 || !strings.Contains(strings.ToLower(out), "volume") &&
				!strings.Contains(out, filepath.Base(c.Mount)) {
				t.Errorf("exit code %d: %s", r.code, out)
			}
		})
	}
}

// TestComposedForms: merged and mapped layers are copied and served as all others are.
func TestComposedForms(t *testing.T) {
	skipOneByOne(t)
	parallelHeavy(t)
	cases := slices.Concat(composedCases(t, "annotations"), composedCases(t, "mappings"))
	for _, name := range []string{"z2_over_wkw", "wkw_over_zarr3", "u32_wkw"} {
		c := cases[slices.IndexFunc(cases, func(c refdata.Composed) bool { return c.Name == name })]
		copied := filepath.Join(t.TempDir(), "copy")
		if r := wkwfs(t, slices.Concat([]string{"cp", "--quiet", "--all"}, c.Flags,
			[]string{c.Mount, ".", copied})...); r.code != 0 {
			t.Errorf("%s: exit code %d: %s", name, r.code, r.stderr)
		}
		server := startWeb(t, nil, append(c.Flags, "--listen", "127.0.0.1:0", c.Mount)...)
		for _, v := range c.Volumes {
			if !isShown(c, v) {
				continue
			}
			path := v.Layer + "/" + v.Mag + "/volume.raw"
			b, err := os.ReadFile(filepath.Join(copied, path))
			if err != nil || !fits(t, bytes.NewReader(b), v) {
				t.Errorf("%s: the copy of %s has other voxels: %v", name, path, err)
			}
			response, voxels := server.get(t, path)
			if response.StatusCode != http.StatusOK || !fits(t, bytes.NewReader(voxels), v) {
				t.Errorf("%s: %s has other voxels over HTTP: %s", name, path, response.Status)
			}
		}
	}
}
