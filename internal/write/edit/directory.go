package edit

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wkwfs/wkwfs/internal/files/nml"
	"github.com/wkwfs/wkwfs/internal/small/atomicfile"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// nmlName is the name of the NML file that a new directory gets.
const nmlName = "annotation.nml"

// side is the side of a block of an annotation, in voxels.
const side = 32

// headerOf returns the header of files with one block of a mag with the geometry g.
func headerOf(g volume.Grid) wkw.Header {
	return wkw.Header{BlockSide: side, CubeBlocks: 1, BlockType: wkw.LZ4, Type: g.Type, Channels: g.Channels}
}

// prepare returns the directory of the blocks, and the path of the NML file. It writes one if the directory has none.
func prepare(dir, dataset, layer string, spacing [3]float64) (data, file string, err error) {
	names, err := nmlFiles(dir)
	switch {
	case err != nil:
		return "", "", err
	case len(names) > 1:
		return "", "", fmt.Errorf("expected one NML file, found %d: %s, %s", len(names), names[0], names[1])
	case len(names) == 0:
		names = []string{nmlName}
		if err := create(dir, dataset, layer, spacing); err != nil {
			return "", "", err
		}
	}
	a, err := nml.Read(os.DirFS(dir), names[0])
	if err != nil {
		return "", "", err
	}
	for _, v := range a.Volumes {
		if v.Fallback == layer {
			data, err = dataOf(dir, v)
			return data, filepath.Join(dir, names[0]), err
		}
	}
	return "", "", fmt.Errorf("%s: expected a volume over the layer %s, found none", names[0], layer)
}

// nmlFiles returns the NML files of a directory. It fails if there is none and the directory has something else. It
// removes what a killed process has left of one.
func nmlFiles(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	other := ""
	for _, e := range entries {
		switch {
		case atomicfile.IsTemp(e.Name()) && strings.Contains(e.Name(), ".nml."):
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return nil, err
			}
		case strings.HasPrefix(e.Name(), "."):
		case strings.EqualFold(filepath.Ext(e.Name()), ".nml") && !e.IsDir():
			names = append(names, e.Name())
		default:
			other = e.Name()
		}
	}
	if len(names) == 0 && other != "" {
		return nil, fmt.Errorf("expected an annotation or an empty directory, found %s and no NML file", other)
	}
	return names, nil
}

// dataOf returns the directory of the blocks of a volume.
func dataOf(dir string, v nml.Volume) (string, error) {
	if v.Location == "" || !fs.ValidPath(v.Location) {
		return "", fmt.Errorf("volume %s: expected the location of its data, found %q", v.Name, v.Location)
	}
	data := filepath.Join(dir, strings.TrimSuffix(v.Location, filepath.Ext(v.Location)))
	if _, err := os.Lstat(filepath.Join(dir, v.Location)); err == nil && filepath.Ext(v.Location) != "" {
		return "", fmt.Errorf("%s: expected the data of the volume in a directory: unpack it to %s, and remove it",
			v.Location, data)
	}
	if _, err := os.Lstat(filepath.Join(data, webknossos.PropertiesFile)); err == nil {
		return "", fmt.Errorf("%s: expected blocks of WKW, found those of Zarr", data)
	}
	return data, os.MkdirAll(data, 0o777)
}

// create writes the NML file of a new directory.
func create(dir, dataset, layer string, spacing [3]float64) error {
	var b bytes.Buffer
	quote := func(s string) string {
		var q bytes.Buffer
		_ = xml.EscapeText(&q, []byte(s)) // a bytes.Buffer takes everything
		return q.String()
	}
	fmt.Fprintf(&b, `<things>
  <meta name="writer" content="wkwfs" />
  <parameters>
    <experiment name="%s" description="" />
`, quote(dataset))
	if spacing != ([3]float64{}) {
		fmt.Fprintf(&b, "    <scale x=\"%v\" y=\"%v\" z=\"%v\" unit=\"nanometer\" />\n", spacing[0], spacing[1],
			spacing[2])
	}
	fmt.Fprintf(&b, `  </parameters>
  <volume id="0" name="%s" location="data_0_%s.zip" fallbackLayer="%s" />
</things>
`, quote(layer), quote(locationOf(layer)), quote(layer))
	return atomicfile.Replace(filepath.Join(dir, nmlName), 0o666, func(f *os.File) error {
		if _, err := f.Write(b.Bytes()); err != nil {
			return err
		}
		return f.Sync()
	})
}

// locationOf returns the name of a layer as a part of the name of a file.
func locationOf(layer string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == '.' || r < ' ' {
			return '_'
		}
		return r
	}, layer)
}

// openMag returns the directory of the blocks of a mag, and the description of its header. It makes them if they do not
// exist.
func openMag(data string, factor volume.Factor, g volume.Grid) (dir string, header fs.FileInfo, err error) {
	entries, err := os.ReadDir(data)
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(data, factor.String())
	for _, e := range entries {
		if f, ok := volume.ParseFactor(e.Name()); ok && f == factor {
			dir = filepath.Join(data, e.Name())
		}
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", nil, err
	}
	name := filepath.Join(dir, headerName)
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = wkw.WriteHeader(name, headerOf(g))
	} else if err == nil {
		err = checkHeader(b, name, g)
	}
	if err != nil {
		return "", nil, err
	}
	header, err = os.Stat(name)
	return dir, header, err
}

const headerName = "header.wkw"

// checkHeader returns an error if the blocks in a directory have another form than those that this package writes.
func checkHeader(b []byte, name string, g volume.Grid) error {
	h, err := wkw.ParseHeader(b, name)
	if err != nil {
		return err
	}
	if want := headerOf(g); !h.Fits(want) {
		return fmt.Errorf(
			"%s: expected one block of %d³ voxels of %d × %v in a file, found cubes of %d³ blocks of %d³ voxels of %d × %v",
			name, side, want.Channels, want.Type, h.CubeBlocks, h.BlockSide, h.Channels, h.Type)
	}
	return nil
}
