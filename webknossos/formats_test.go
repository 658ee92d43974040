package webknossos

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// foreignMag is a mag of another data format.
type foreignMag struct {
	volume.Mag
	dir     string
	options MagOptions
}

// foreignOptions open a mag of the format "other" if its directory has a file named "array".
func foreignOptions() Options {
	return Options{Formats: map[string]Opener{"other": func(fsys fs.FS, dir string, m MagOptions) (volume.Mag, error) {
		b, err := fs.ReadFile(fsys, path.Join(dir, "array"))
		if err == nil && len(b) > 0 {
			err = errors.New(string(b))
		}
		return foreignMag{nil, dir, m}, err
	}}}
}

const foreignProperties = `{"scale":[4,4,30],"dataLayers":[
	{"name":"a","dataFormat":"other","numChannels":1,"boundingBox":{"topLeft":[5,6,7],"width":10,"height":10,"depth":10},"mags":[
		{"mag":[1,1,1],"path":"./deep/er","axisOrder":{"c":0,"x":3,"z":1},"channelIndex":2},{"mag":[2,2,1]},{"mag":[4,4,2]},{"mag":[8,8,4],"path":"../out"}]},
	{"name":"b","dataFormat":"other","mags":[{"mag":[1,1,1],"path":"b/1"}]},
	{"name":"c","dataFormat":"hologram","mags":[{"mag":[1,1,1]}]}]}`

func foreignFiles() fstest.MapFS {
	return fstest.MapFS{
		PropertiesFile:  &fstest.MapFile{Data: []byte(foreignProperties)},
		"deep/er/array": &fstest.MapFile{}, "a/2-2-1/array": &fstest.MapFile{},
		"a/4-4-2/array": &fstest.MapFile{Data: []byte("broken")},
		"a/16/array":    &fstest.MapFile{}, "b/1/array": &fstest.MapFile{Data: []byte("broken, too")},
	}
}

// TestForeignLayers: layers of other formats are opened mag by mag: by their paths, by their names, and those that no
// metadata has. What cannot be opened is left out, with the reason.
func TestForeignLayers(t *testing.T) {
	r, err := Recognise(foreignFiles(), ".", foreignOptions())
	if err != nil {
		t.Fatal(err)
	}
	if names, err := r.Dataset.Layers(); err != nil || !slices.Equal(names, []string{"a"}) {
		t.Fatalf("got the layers %v, %v", names, err)
	}
	l, err := r.Dataset.Layer("a")
	if err != nil {
		t.Fatal(err)
	}
	if names, err := l.Mags(); err != nil || !slices.Equal(names, []string{"1", "2-2-1", "16"}) {
		t.Errorf("got the mags %v, %v", names, err)
	}
	for _, of := range []struct {
		o    any
		want string
	}{
		{l, "4-4-2: broken; 8-8-4: its path \"../out\" leads out of the dataset; --follow-links follows it; "},
		{r.Dataset, "b: data format other: mag 1: broken, too; c: data format hologram; "},
	} {
		var got strings.Builder
		for _, x := range of.o.(volume.Omitter).Omitted() {
			fmt.Fprintf(&got, "%s: %s; ", x.Name, x.Reason)
		}
		if got.String() != of.want {
			t.Errorf("left out: got %s, expected %s", &got, of.want)
		}
	}
	m, err := l.Mag("1")
	if err != nil {
		t.Fatal(err)
	}
	wantForeign(t, m, "deep/er", []string{"c", "z", "", "x"}, 2)
	if again, err := l.Mag("1"); err != nil || len(again.(foreignMag).options.StatMetadata()) != 1 {
		t.Errorf("got %v, %v", again, err)
	}
}

func wantForeign(t *testing.T, m volume.Mag, dir string, axes []string, channel int) {
	t.Helper()
	f := m.(foreignMag)
	got, err := f.options.Axes()
	first, count := f.options.Channels()
	if f.dir != dir || err != nil || !slices.Equal(got, axes) || first != channel || count != min(channel, 1) {
		t.Errorf("got directory %s, axes %q, %v, channel %d of %d", f.dir, got, err, first, count)
	}
	if f.options.Factor == (volume.Factor{1, 1, 1}) && f.options.Spacing() != [3]float64{4, 4, 30} {
		t.Errorf("got the spacing %v", f.options.Spacing())
	}
	lo := volume.Vec{5, 6, 7}.Div(volume.Vec(f.options.Factor))
	if box := f.options.Bounds(); box == nil || box.Min != lo {
		t.Errorf("got the box %v, expected it from %v", box, lo)
	}
}

// TestRecogniseForeign opens a layer and a mag alone. The metadata are those of the dataset above.
func TestRecogniseForeign(t *testing.T) {
	files := foreignFiles()
	props, err := ReadProperties(files, ".")
	if err != nil {
		t.Fatal(err)
	}
	open := func(dir, name string, levels int, layer string) (volume.Root, error) {
		o := foreignOptions()
		o.Name = name
		o.Parent = func(n int) Parent {
			if n != levels {
				return Parent{}
			}
			return Parent{Properties: props, Layer: layer}
		}
		sub, err := fs.Sub(files, dir)
		if err != nil {
			t.Fatal(err)
		}
		return RecogniseForeign(sub, ".", o)
	}
	r, err := open("a", "a", 1, "a")
	if err != nil {
		t.Fatal(err)
	}
	if names, err := r.Layer.Mags(); err != nil || !slices.Equal(names, []string{"2-2-1", "16"}) {
		t.Errorf("got the mags %v, %v", names, err)
	}
	if r, err = open("a/2-2-1", "2-2-1", 2, "a"); err != nil {
		t.Fatal(err)
	}
	wantForeign(t, r.Mag, ".", nil, 0)
	if _, err := open("a/4-4-2", "4-4-2", 2, "a"); err == nil || err.Error() != "broken" {
		t.Errorf("a mag that cannot be opened: got %v", err)
	}
	for _, c := range []struct{ dir, name, layer string }{{"deep", "deep", "deep"}, {"a", "a", "c"},
		{"a/2-2-1", "x", "a"}} {
		for levels := 1; levels <= 2; levels++ {
			if _, err := open(c.dir, c.name, levels, c.layer); !errors.Is(err, ErrNotRecognised) {
				t.Errorf("%v: got %v", c, err)
			}
		}
	}
}

// TestAxesOfMag: an order of axes that is not one is an error.
func TestAxesOfMag(t *testing.T) {
	for _, order := range []string{`{"x":-1}`, `{"x":16}`, `{"x":1.5}`, `{"x":"0"}`, `[0,1,2]`, `{"x":`} {
		if axes, err := (MagOptions{Mag: MagProperties{AxisOrder: []byte(order)}}).Axes(); err == nil ||
			!strings.Contains(err.Error(), "axisOrder") {
			t.Errorf("%s: got %v, %v", order, axes, err)
		}
	}
}
