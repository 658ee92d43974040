package arrayfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// omeFile returns a TIFF of pages of one pixel with a description.
func omeFile(description string, pixels ...byte) []byte {
	var pages [][][]byte
	for _, p := range pixels {
		pages = append(pages, [][]byte{{p}})
	}
	return tiffOf(tiffFields{width: 1, height: 1, description: description}, pages...)
}

// omeText returns OME-XML of an image with planes in files.
func omeText(uuid string, z, c, t int, pieces ...string) string {
	return fmt.Sprintf(
		`<?xml version="1.0"?><OME UUID="%s"><Image><Pixels DimensionOrder="XYZCT" SizeZ="%d" SizeC="%d" SizeT="%d">%s</Pixels></Image></OME>`,
		uuid, z, c, t, strings.Join(pieces, ""))
}

func piece(attributes, uuid, file string) string {
	return fmt.Sprintf(`<TiffData %s><UUID FileName="%s">%s</UUID></TiffData>`, attributes, file, uuid)
}

// TestOMEFiles: the planes of an OME-TIFF may lie in other files of its directory. Whichever of the files is opened,
// the planes are the same. A file that is missing, or elsewhere, is an error that names it.
func TestOMEFiles(t *testing.T) {
	set := []string{piece(`FirstT="0"`, "urn:a", "a.tif"), piece(`FirstT="1"`, "urn:b", "b.tif")}
	a, b := omeText("urn:a", 2, 1, 2, set...), omeText("urn:b", 2, 1, 2, set...)
	channels := omeText("urn:a", 2, 2, 1, piece(`FirstC="0" IFD="0" PlaneCount="2"`, "urn:a", "a.tif"),
		piece(`FirstC="1" IFD="1" PlaneCount="2"`, "urn:b", "b.tif"))
	binary := `<OME UUID="urn:b"><BinaryOnly MetadataFile="%s" UUID="urn:m"/></OME>`
	for name, c := range map[string]struct {
		files map[string][]byte
		open  string
		want  []byte
		err   string
	}{
		"times, first file": {map[string][]byte{"a.tif": omeFile(a, 1, 2), "b.tif": omeFile(b, 3, 4)}, "a.tif",
			[]byte{1, 2, 3, 4}, ""},
		"times, second file": {map[string][]byte{"a.tif": omeFile(a, 1, 2), "b.tif": omeFile(b, 3, 4)}, "b.tif",
			[]byte{1, 2, 3, 4}, ""},
		"channels": {map[string][]byte{"a.tif": omeFile(channels, 1, 2), "b.tif": omeFile("", 9, 3, 4)},
			"a.tif", []byte{1, 3, 2, 4}, ""},
		"renamed": {map[string][]byte{"new.tif": omeFile(a, 1, 2), "b.tif": omeFile(b, 3, 4)}, "new.tif",
			[]byte{1, 2, 3, 4}, ""},
		"renamed alone": {map[string][]byte{"new.tif": omeFile(omeText("", 2, 1, 1, piece(`IFD="0"`, "", "old.tif"),
			piece(`IFD="1" FirstZ="1"`, "", "old.tif")), 1, 2)},
			"new.tif", []byte{1, 2}, ""},
		"metadata in a TIFF": {map[string][]byte{"a.tif": omeFile(a, 1, 2),
			"b.tif": omeFile(fmt.Sprintf(binary, "a.tif"), 3, 4)}, "b.tif", []byte{1, 2, 3, 4}, ""},
		"metadata in a file": {map[string][]byte{"a.tif": omeFile("", 1, 2), "m.companion.ome": []byte(a),
			"b.tif": omeFile(fmt.Sprintf(binary, "m.companion.ome"), 3, 4)}, "b.tif", []byte{1, 2, 3, 4}, ""},
		"without the metadata": {map[string][]byte{"b.tif": omeFile(fmt.Sprintf(binary, "m.companion.ome"), 3, 4)},
			"b.tif", nil, "m.companion.ome"},
		"without a file": {map[string][]byte{"a.tif": omeFile(a, 1, 2)}, "a.tif", nil, "b.tif"},
		"no TIFF": {map[string][]byte{"a.tif": omeFile(a, 1, 2),
			"b.tif": []byte("text that is long enough")}, "a.tif", nil, "b.tif"},
		"too few pages": {map[string][]byte{"a.tif": omeFile(a, 1, 2), "b.tif": omeFile(b, 3)}, "a.tif", nil,
			"found 3 pages"},
		"outside": {map[string][]byte{"a.tif": omeFile(omeText("urn:a", 1, 1, 2,
			piece("", "urn:a", "a.tif"), piece(`FirstT="1"`, "urn:b", "../b.tif")), 1)}, "a.tif", nil, "../b.tif"},
	} {
		dir := t.TempDir()
		for file, content := range c.files {
			write(t, filepath.Join(dir, file), content)
		}
		array, err := OpenFS(os.DirFS(dir), c.open)
		if c.want == nil {
			if err == nil || !strings.Contains(err.Error(), c.err) ||
				strings.HasPrefix(name, "without") != errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: got %v, want an error with %q", name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		defer array.Close()
		if got := voxelsOf(t, array); !bytes.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
