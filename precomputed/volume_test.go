package precomputed

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

func TestRecognise(t *testing.T) {
	dir := writeFiles(t, map[string][]byte{
		"volume/info":   []byte(goodInfo),
		"other/info":    []byte("Dear reader"),
		"empty/nothing": nil,
		"odd/info/x":    nil,
		"long/info":     []byte(strings.Repeat(" ", maxInfoBytes+1)),
	})
	fsys := openDir(t, dir)
	for name, want := range map[string]error{
		"volume": nil, "other": ErrNotRecognised, "empty": ErrNotRecognised, "odd": ErrNotRecognised,
		"long":        ErrNotRecognised,
		"volume/info": ErrNotRecognised, "none": fs.ErrNotExist, ".": ErrNotRecognised,
	} {
		root, err := Recognise(fsys, name, Options{})
		if !errors.Is(err, want) || (root.Layer != nil) != (want == nil) {
			t.Errorf("%s: got %+v, %v, expected %v", name, root, err, want)
		}
	}
}

func TestLayer(t *testing.T) {
	b := changed(t, `"16_16_30"`, `"a/16_16_30"`)
	b = strings.Replace(b, `"scales":[`, `"scales":[{"key":"fine","encoding":"zfp","resolution":[4,4,30],`+
		`"size":[9,9,9],"chunk_sizes":[[8,8,4]]},`, 1)
	// The coarse scale comes before the fine one.
	b = strings.Replace(b, `[8,8,30]`, `[32,32,30]`, 1)
	root, err := Recognise(openDir(t, writeFiles(t, map[string][]byte{"in/info": []byte(b)})), "in", Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := root.Layer
	if names, err := l.Mags(); err != nil || !slices.Equal(names, []string{"a_16_16_30", "8_8_30"}) {
		t.Errorf("got %v, %v", names, err)
	}
	want := []volume.Omission{{Name: "fine", Reason: `encoding: unknown: "zfp"`}}
	if got := l.(volume.Omitter).Omitted(); !slices.Equal(got, want) {
		t.Errorf("got %v, expected %v", got, want)
	}
	if info, err := l.Stat(); err != nil || info.Name() != "in" {
		t.Errorf("got %v, %v", info, err)
	}
	_, err = l.Mag("fine")
	wantNotExist(t, err)
	m, err := l.Mag("8_8_30")
	if err != nil {
		t.Fatal(err)
	}
	about := volume.About{Factor: volume.Factor{8, 8, 1}, Category: "color", Compression: "raw", NamedByBox: true}
	if m.About() != about {
		t.Errorf("got %+v, expected %+v", m.About(), about)
	}
	if again, _ := l.Mag("8_8_30"); again != m {
		t.Error("Mag returns a new scale for the same name")
	}
}

func TestNoScale(t *testing.T) {
	dir := writeFiles(t, map[string][]byte{"info": []byte(strings.ReplaceAll(goodInfo, `"raw"`, `"zfp"`))})
	_, err := Recognise(openDir(t, dir), ".", Options{})
	wantError(t, err, `info: no scale can be read; 8_8_30: encoding: unknown: "zfp"; 16_16_30: `)
	if errors.Is(err, ErrNotRecognised) {
		t.Error("an unreadable volume is not one that is not recognised")
	}
}

// TestOutside: the caller decides whether keys that point outside the volume are followed.
func TestOutside(t *testing.T) {
	s := goodScale(t)
	dir := writeFiles(t, map[string][]byte{
		"volume/info":               []byte(changed(t, `"8_8_30"`, `"../other/8_8_30"`)),
		path.Join("other", name000): voxelsOf(s, volume.Vec{}),
	})
	refused := errors.New("not that one")
	for _, c := range []struct {
		outside func(string) (fs.FS, error)
		want    string // the reason for the omission
	}{
		{nil, `its key "../other/8_8_30" points outside the volume`},
		{func(string) (fs.FS, error) { return nil, refused },
			`its key "../other/8_8_30" points outside the volume: not that one`},
		{func(key string) (fs.FS, error) { return openDir(t, filepath.Join(dir, "volume", key)), nil }, ""},
	} {
		// The file system has more than the volume. That makes no difference.
		root, err := Recognise(openDir(t, dir), "volume", Options{Outside: c.outside})
		if err != nil {
			t.Fatal(err)
		}
		omitted := root.Layer.(volume.Omitter).Omitted()
		if c.want != "" {
			if !slices.Equal(omitted, []volume.Omission{{Name: "other_8_8_30", Reason: c.want}}) {
				t.Errorf("got %v, expected %q", omitted, c.want)
			}
			continue
		}
		mag, err := root.Layer.Mag("other_8_8_30")
		if err != nil || len(omitted) != 0 {
			t.Fatal(omitted, err)
		}
		checkVoxels(t, mag, volume.Vec{})
	}
}
