package annotations

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/files/annotation"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// open opens an annotation: an archive, or a directory.
func open(t *testing.T, name string) *annotation.Dataset {
	t.Helper()
	fsys, log := os.DirFS(filepath.Dir(name)), slog.New(slog.DiscardHandler)
	a, err := annotation.OpenArchive(fsys, filepath.Base(name), log)
	if info, failed := os.Stat(name); failed == nil && info.IsDir() {
		a, err = annotation.Open(os.DirFS(name), ".", log)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// contents returns the files of an archive, and of those in it.
func contents(t *testing.T, b []byte, prefix string, all map[string]string) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("%s%s: %v", prefix, f.Name, err)
		}
		switch {
		case strings.HasSuffix(f.Name, "/"): // some archives have directories
		case strings.HasSuffix(f.Name, ".zip"):
			all[prefix+f.Name] = "an archive"
			contents(t, text, prefix+f.Name+"/", all)
		default:
			all[prefix+f.Name] = string(text)
		}
	}
	return all
}

var largestID = regexp.MustCompile(` largestSegmentId="[0-9]*"`)

func packTo(t *testing.T, from string) []byte {
	t.Helper()
	to := filepath.Join(t.TempDir(), "out.zip")
	p, err := Pack(t.Context(), open(t, from), to, Options{})
	if err != nil {
		t.Fatalf("%s: %v", from, err)
	}
	b, err := os.ReadFile(to)
	if err != nil || p.Bytes != int64(len(b)) || p.Volumes < 1 {
		t.Errorf("%s: got %+v, %v, %d bytes", from, p, err, len(b))
	}
	return b
}

// TestPackLayout packs annotations of all formats and forms. The archives have the files that the reference annotations
// have, byte for byte: those of WKW with their headers, those of Zarr with their metadata. The same annotation makes
// the same bytes.
func TestPackLayout(t *testing.T) {
	dir := refdata.Dir(t, "annotations")
	for from, as := range map[string]string{
		"wkw.zip": "wkw.zip", "stored_stored.zip": "stored_stored.zip", "streamed.zip": "streamed.zip",
		"two_layers.zip": "two_layers.zip",
		"unpacked_both":  "unpacked_outer", "unpacked_outer": "unpacked_outer", "z1.zip": "z1.zip", "z3.zip": "z3.zip",
		"zl.zip": "zl.zip", "emptyzip.zip": "emptyzip.zip",
		"real/l4_sample__explorational__suser__94b271.zip": "real/l4_sample__explorational__suser__94b271.zip",
	} {
		t.Run(from, func(t *testing.T) {
			got := packTo(t, filepath.Join(dir, from))
			want := map[string]string{}
			if as == "unpacked_outer" {
				for _, name := range []string{"ann.nml", "data_Volume.zip"} {
					b, err := os.ReadFile(filepath.Join(dir, as, name))
					if err != nil {
						t.Fatal(err)
					}
					if want[name] = string(b); filepath.Ext(name) == ".zip" {
						want[name] = "an archive"
						contents(t, b, name+"/", want)
					}
				}
			} else {
				b, err := os.ReadFile(filepath.Join(dir, as))
				if err != nil {
					t.Fatal(err)
				}
				contents(t, b, "", want)
			}
			have := contents(t, got, "", map[string]string{})
			for _, name := range slices.Sorted(maps.Keys(want)) {
				text, ok := have[name]
				if !ok {
					t.Errorf("%s is missing", name)
				} else if text != want[name] && filepath.Ext(name) != ".nml" {
					t.Errorf("%s has other bytes", name)
				} else if largestID.ReplaceAllString(text, "") != largestID.ReplaceAllString(want[name], "") {
					t.Errorf("%s differs:\n%s", name, text)
				}
				delete(have, name)
			}
			for name := range have {
				if filepath.Base(name) != "header.wkw" {
					t.Errorf("%s is too many", name)
				}
			}
			if again := packTo(t, filepath.Join(dir, from)); !bytes.Equal(got, again) {
				t.Error("the second archive has other bytes")
			}
		})
	}
	if !bytes.Equal(packTo(t, filepath.Join(dir, "unpacked_both")), packTo(t, filepath.Join(dir, "unpacked_outer"))) {
		t.Error("a directory makes another archive than the archive of the same blocks")
	}
}

// TestPackHeaders: a mag without a header gets the one that it would have. The NML file gets the largest id.
func TestPackHeaders(t *testing.T) {
	dir := refdata.Dir(t, "annotations")
	got := contents(t, packTo(t, filepath.Join(dir, "noheader.zip")), "", map[string]string{})
	want := contents(t, packTo(t, filepath.Join(dir, "wkw.zip")), "", map[string]string{})
	headers := 0
	for name, text := range got {
		if filepath.Base(name) == "header.wkw" {
			if headers++; text != want[name] {
				t.Errorf("%s: got %x, want %x", name, text, want[name])
			}
		}
	}
	if headers != 3 {
		t.Errorf("%d headers", headers)
	}

	unpacked := filepath.Join(t.TempDir(), "a")
	if err := os.CopyFS(unpacked, os.DirFS(filepath.Join(dir, "unpacked_both"))); err != nil {
		t.Fatal(err)
	}
	nmlFile := filepath.Join(unpacked, "ann.nml")
	b, err := os.ReadFile(nmlFile)
	if err != nil {
		t.Fatal(err)
	}
	before := string(b)
	edited := strings.NewReplacer(`location="data_Volume.zip"`, `location="data_Volume"`, `largestSegmentId="7000"`,
		`largestSegmentId="1"`).Replace(before)
	if err := os.Chmod(nmlFile, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(nmlFile, []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
	text := contents(t, packTo(t, unpacked), "", map[string]string{})["ann.nml"]
	if !strings.Contains(text, `location="data_Volume.zip"`) || strings.Contains(text, `largestSegmentId="1"`) {
		t.Errorf("got %s", text)
	}
}

// TestPackErrors: what cannot be packed is an error, and leaves no file.
func TestPackErrors(t *testing.T) {
	dir := refdata.Dir(t, "annotations")
	for name, want := range map[string]string{
		"cutbucket.zip": "z2/y1/x1.wkw", "lostdata.zip": "data_Volume.zip", "crc.zip": "volume Volume",
		"nodata.zip": "left out at download", "traversal.zip": "volume",
	} {
		out := t.TempDir()
		_, err := Pack(t.Context(), open(t, filepath.Join(dir, name)), filepath.Join(out, "a.zip"), Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
		if left, _ := os.ReadDir(out); len(left) > 0 {
			t.Errorf("%s: %v is left", name, left)
		}
	}
	out := filepath.Join(t.TempDir(), "a.zip")
	a := open(t, filepath.Join(dir, "wkw.zip"))
	if _, err := Pack(t.Context(), a, out, Options{DryRun: true}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a dry run wrote it: %v", err)
	}
	if err := os.WriteFile(out, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Pack(t.Context(), a, out, Options{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing file: got %v", err)
	}
	if b, err := os.ReadFile(out); string(b) != "mine" {
		t.Errorf("the file has changed: %v", err)
	}
	if _, err := Pack(t.Context(), a, out, Options{Replace: true}); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(out); len(b) < 1000 {
		t.Errorf("the file was not replaced: %v", err)
	}
}
