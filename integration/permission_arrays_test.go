package integration

import (
	"bytes"
	"path/filepath"
	"testing"
)

// hiddenArray is a source with an array of 8³ uint8 at deep/secret/s0.
type hiddenArray struct {
	name     string
	files    map[string]string // of the source; the content "chunk" is that of a chunk
	layer    string            // of the mount, with "/" at its end
	mag      string
	metadata string // of the array
	chunks   string // a directory of chunks
	chunk    string
	header   string // before the voxels of a chunk
}

const (
	multiscales = `"multiscales":[{"axes":[{"name":"z","type":"space"},{"name":"y","type":"space"},{"name":"x","type":"space"}],"datasets":[{"path":"deep/secret/s0"}]}]`
	zarr2Axes   = `"dtype":"|u1","order":"C","fill_value":0,"compressor":null,"filters":null`
)

var hiddenArrays = []hiddenArray{
	{
		"Zarr 2", map[string]string{
			".zgroup": `{"zarr_format":2}`, ".zattrs": "{" + multiscales + "}",
			"deep/secret/s0/.zarray": `{"zarr_format":2,"shape":[8,8,8],"chunks":[8,8,8],"dimension_separator":"/",` +
				zarr2Axes + `}`,
			"deep/secret/s0/0/0/0": "chunk",
		}, "", "deep_secret_s0/", "deep/secret/s0/.zarray", "deep/secret/s0/0", "deep/secret/s0/0/0/0", "",
	},
	{
		"Zarr 2 with a chunk for each channel", map[string]string{
			".zgroup":                `{"zarr_format":2}`,
			".zattrs":                `{"multiscales":[{"axes":["c","z","y","x"],"datasets":[{"path":"deep/secret/s0"}]}]}`,
			"deep/secret/s0/.zarray": `{"zarr_format":2,"shape":[2,8,8,8],"chunks":[1,8,8,8],"dimension_separator":"/",` + zarr2Axes + `}`,
			"deep/secret/s0/0/0/0/0": "chunk", "deep/secret/s0/1/0/0/0": "chunk",
		}, "", "deep_secret_s0/", "deep/secret/s0/.zarray", "deep/secret/s0/1", "deep/secret/s0/1/0/0/0", "",
	},
	{
		"Zarr 3", map[string]string{
			"zarr.json": `{"zarr_format":3,"node_type":"group","attributes":{"ome":{"version":"0.5",` + multiscales +
				`}}}`,
			"deep/secret/s0/zarr.json": `{"zarr_format":3,"node_type":"array","shape":[8,8,8],"data_type":"uint8","fill_value":0,"codecs":["bytes"],
				"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[8,8,8]}},"chunk_key_encoding":{"name":"default"}}`,
			"deep/secret/s0/c/0/0/0": "chunk",
		}, "", "deep_secret_s0/", "deep/secret/s0/zarr.json", "deep/secret/s0/c", "deep/secret/s0/c/0/0/0", "",
	},
	{
		"N5", map[string]string{
			"attributes.json":                `{"n5":"2.5.1"}`,
			"deep/secret/s0/attributes.json": `{"dimensions":[8,8,8],"blockSize":[8,8,8],"dataType":"uint8","compression":{"type":"raw"}}`,
			"deep/secret/s0/0/0/0":           "chunk",
		}, "deep_secret/", "s0/", "deep/secret/s0/attributes.json", "deep/secret/s0/0", "deep/secret/s0/0/0/0",
		"\x00\x00\x00\x03\x00\x00\x00\x08\x00\x00\x00\x08\x00\x00\x00\x08",
	},
}

// write writes a source that all users may read.
func (a hiddenArray) write(t *testing.T) string {
	t.Helper()
	source := tempDir(t)
	for name, content := range a.files {
		b := []byte(content)
		if content == "chunk" {
			b = append([]byte(a.header), bytes.Repeat([]byte("voxels.."), 64)...)
		}
		writeFile(t, filepath.Join(source, name), b)
	}
	return openTree(t, source)
}

// TestHiddenArraysAreNotReadable checks for arrays of Zarr and N5 what [TestHiddenDataIsNotReadable] checks for cubes.
// A voxel needs the files of all its channels.
func TestHiddenArraysAreNotReadable(t *testing.T) {
	requireRoot(t)
	for _, a := range hiddenArrays {
		mag := a.layer + a.mag
		files := []string{
			mag + "chunks/0-8_0-8_0-8.raw", mag + "volume.raw", mag + "slices/z0000003.tif",
			mag + "box/0-4_0-4_0-4.raw",
			a.layer + "precomputed/" + a.mag + "0-8_0-8_0-8",
		}
		for _, place := range []hiddenPlace{
			{"no change", func(string) error { return nil }, true},
			{"search of a directory above", chmod("deep/secret", 0o700), false},
			{"list of a directory above", chmod("deep/secret", 0o711), true},
			{"the metadata", chmod(a.metadata, 0o600), false},
			{"a chunk", chmod(a.chunk, 0o600), false},
			{"a chunk with an access control list", accessList(otherUser, 0, a.chunk), false},
			{"search of a directory of chunks", chmod(a.chunks, 0o700), false},
		} {
			t.Run(a.name+", "+place.name, func(t *testing.T) {
				t.Parallel()
				source := a.write(t)
				if err := place.forbid(source); err != nil {
					t.Fatal(err)
				}
				checkAccess(t, mount(t, source, "--allow-other"), files, place.allowed)
			})
		}
	}
}
