package integration

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestEditMags writes into each mag of segmentations in WKW, Zarr, N5 and Precomputed. Their mags have names such as
// 1-1-1, 2-2-1 and 8_8_30, and boxes that start within a block. What was written into a mag is in that mag, also in the
// next mount, and in a mount of the annotation over the dataset.
func TestEditMags(t *testing.T) {
	parallelHeavy(t)
	skipOneByOne(t)
	for _, c := range []struct {
		data   string
		layers []string
		mags   string // of all layers
	}{
		{"zarr/wk_mixed", []string{"n5_seg", "precomputed", "wkw_rgb", "zarr2_u16", "zarr3_rgb"},
			"1 8_8_30 1 1 4-4-2 1 2"},
		{"zarr/wk_paths", []string{"no_path", "no_path_long"}, "1 2 4-4-2 1-1-1 2-2-1"},
	} {
		dir := tempDir(t)
		source := filepath.Join(dir, "source")
		if err := os.CopyFS(source, os.DirFS(refdata.Dir(t, c.data))); err != nil {
			t.Fatal(err)
		}
		makeSegmentations(t, source)
		edits := func(layer string) string { return filepath.Join(dir, "edits of "+layer) }
		var args []string
		for _, layer := range c.layers {
			args = append(args, "--edit="+layer+"="+edits(layer))
		}
		s := mountServer(t, source, args...)
		want, mags := map[string][]byte{}, []string(nil)
		for i, layer := range c.layers {
			found, err := filepath.Glob(filepath.Join(s.dir, layer, "*/volume.raw"))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range found {
				name, _ := filepath.Rel(s.dir, path)
				mags = append(mags, filepath.Base(filepath.Dir(path)))
				want[name] = writeSome(t, path, uint64(i))
			}
		}
		if got := strings.Join(mags, " "); got != c.mags {
			t.Errorf("%s: the mags are %s, expected %s", c.data, got, c.mags)
		}
		s.stop(t)
		checkMags(t, mountServer(t, source, args...), want, "")
		for _, layer := range c.layers {
			checkMags(t, mountServer(t, edits(layer), "--over="+source), want, layer+"/")
		}
	}
}

// makeSegmentations changes the category of all layers of a dataset, also where a layer of Precomputed has its own.
func makeSegmentations(t *testing.T, dir string) {
	t.Helper()
	category := regexp.MustCompile(`("category": *)"color"|("type": *)"image"`)
	for _, file := range []string{"datasource-properties.json", "precomputed/info"} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, file), category.ReplaceAll(text, []byte(`$1$2"segmentation"`)))
	}
}

// writeSome writes into the middle and the end of a file. It returns what the file then must have.
func writeSome(t *testing.T, path string, seed uint64) []byte {
	t.Helper()
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := labels(len(want)/16, seed)
	for _, off := range []int{len(want) / 3, len(want) - len(p)} {
		if _, err := f.WriteAt(p, int64(off)); err != nil {
			t.Fatal(err)
		}
		copy(want[off:], p)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return want
}

// checkMags compares those files of a mount whose names start with prefix.
func checkMags(t *testing.T, s *server, want map[string][]byte, prefix string) {
	t.Helper()
	defer s.stop(t)
	for name, b := range want {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		got, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, b) {
			t.Errorf("%s differs at byte %d", name, firstDifference(got, b))
		}
	}
}
