package integration

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeignFiles: mount, info and import refuse files of microscopes that are not read, alone, in a folder and on a
// server, with the name of the format and what to do. In a folder of others, info names them.
func TestForeignFiles(t *testing.T) {
	dir := tempDir(t)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	for name, c := range map[string]struct{ start, format, instead string }{
		"stack.czi":  {"ZISRAWFILE", "Zeiss CZI", "OME-Zarr"},
		"stack.nd2":  {"", "Nikon ND2", "OME-Zarr"},
		"stack.lif":  {"", "Leica LIF", "OME-Zarr"},
		"slide.svs":  {"II*\x00\x08\x00\x00\x00", "Aperio SVS", "TIFF"},
		"plane.jp2":  {"\x00\x00\x00\x0cjP  \r\n", "JPEG 2000", "PNG"},
		"IM0001.dcm": {strings.Repeat("\x00", 128) + "DICM", "DICOM", "NIfTI"},
	} {
		folder := filepath.Join(dir, name+"-only")
		for _, at := range []string{filepath.Join(dir, name), filepath.Join(folder, name)} {
			writeFile(t, at, []byte(c.start))
		}
		for _, source := range []string{filepath.Join(dir, name), folder, server.URL + "/" + name} {
			commands := [][]string{{"info", source}, {"mount", source, tempDir(t)},
				{"import", source, filepath.Join(tempDir(t), "d"), "--layer", "l"}}
			if strings.HasPrefix(source, "http") {
				commands = commands[:2]
			}
			for _, command := range commands {
				r := wkwfs(t, command...)
				if r.code == 0 || !strings.Contains(r.stderr, c.format) || !strings.Contains(r.stderr, c.instead) ||
					!strings.Contains(r.stderr, name) {
					t.Errorf("%q: exit code %d, %s", command, r.code, r.stderr)
				}
			}
		}
	}
	mixed := filepath.Join(dir, "mixed")
	writeFile(t, filepath.Join(mixed, "a.czi"), []byte("ZISRAWFILE"))
	writeFile(t, filepath.Join(mixed, "b.nrrd"),
		[]byte("NRRD0004\ntype: uchar\ndimension: 3\nsizes: 1 1 2\nencoding: raw\n\n12"))
	if r := wkwfs(t, "info", mixed); r.code != 0 || !strings.Contains(r.stdout, "a.czi") ||
		!strings.Contains(r.stdout, "Zeiss CZI") {
		t.Errorf("info: exit code %d, %s%s", r.code, r.stdout, r.stderr)
	}
}
