package omezarr

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
)

// Format is a version of OME-Zarr. Its metadata are files of the group and files of each level.
type Format struct {
	GroupFiles []string // names in the directory of the image
	LevelFiles []string // names in the directory of a level
	// directory of the chunks in the directory of a level; empty: the chunks are beside the metadata
	ChunkPrefix string

	group func(Image) map[string]any
	level func(Level) map[string]any
}

// V04 is OME-Zarr 0.4 on Zarr 2. Chunks have the names z/y/x, or c/z/y/x.
var V04 = &Format{
	GroupFiles: []string{".zattrs", ".zgroup", ".zmetadata"},
	LevelFiles: []string{".zarray", ".zattrs"},
	group:      groupV2,
	level:      levelV2,
}

// V05 is OME-Zarr 0.5 on Zarr 3. Chunks have the names of [V04] below c.
var V05 = &Format{
	GroupFiles:  []string{"zarr.json"},
	LevelFiles:  []string{"zarr.json"},
	ChunkPrefix: "c",
	group:       groupV3,
	level:       levelV3,
}

// Group returns the content of a file of the group. If there is no file of that name, the error is fs.ErrNotExist.
func (f *Format) Group(name string, img Image) ([]byte, error) { return encode(f.group(img), name) }

// Level returns the content of a file of a level. If there is no file of that name, the error is fs.ErrNotExist.
func (f *Format) Level(name string, l Level) ([]byte, error) { return encode(f.level(l), name) }

func encode(files map[string]any, name string) ([]byte, error) {
	content, ok := files[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false) // types are "<u2"
	to.SetIndent("", "  ")
	err := to.Encode(content)
	return b.Bytes(), err
}

// object is a JSON object.
type object = map[string]any

// compressor describes Blosc as c-blosc and numcodecs do. Readers take all that they need from the chunks.
const (
	bloscName  = "lz4"
	bloscLevel = 5
)

// levelV2 returns the files of an array of Zarr 2.
func levelV2(l Level) map[string]any {
	var compressor any
	if l.Blosc {
		compressor = object{"id": "blosc", "cname": bloscName, "clevel": bloscLevel, "shuffle": 0, "blocksize": 0}
	}
	return object{
		".zarray": object{
			"zarr_format": 2, "shape": l.shape(), "chunks": l.chunks(), "dtype": l.Type.Descr(), "order": "C",
			"compressor": compressor, "filters": nil, "fill_value": 0, "dimension_separator": "/",
		},
		".zattrs": object{"_ARRAY_DIMENSIONS": l.dimensions()},
	}
}

// groupV2 returns the files of a group of Zarr 2. .zmetadata has the content of all other files, so that programs read
// one file.
func groupV2(img Image) map[string]any {
	const version = "0.4"
	attributes := object{"multiscales": []multiscale{newMultiscale(version, img)}}
	if o := newOmero(version, img); o != nil {
		attributes["omero"] = o
	}
	if img.Labels {
		attributes["image-label"] = labels{version}
	}
	group := object{"zarr_format": 2}
	all := object{".zgroup": group, ".zattrs": attributes}
	for _, l := range img.Levels {
		for name, content := range levelV2(l) {
			all[path.Join(l.Name, name)] = content
		}
	}
	return object{".zgroup": group, ".zattrs": attributes, ".zmetadata": object{"zarr_consolidated_format": 1,
		"metadata": all}}
}

// levelV3 returns the file of an array of Zarr 3.
func levelV3(l Level) map[string]any {
	codecs := []object{{"name": "bytes"}}
	if l.Type.Size() > 1 {
		codecs[0]["configuration"] = object{"endian": "little"}
	}
	if l.Blosc {
		codecs = append(codecs, object{"name": "blosc", "configuration": object{
			"cname": bloscName, "clevel": bloscLevel, "shuffle": "noshuffle", "typesize": l.Type.Size(), "blocksize": 0,
		}})
	}
	return object{"zarr.json": object{
		"zarr_format": 3, "node_type": "array", "shape": l.shape(), "data_type": l.Type.String(),
		"chunk_grid":         object{"name": "regular", "configuration": object{"chunk_shape": l.chunks()}},
		"chunk_key_encoding": object{"name": "default", "configuration": object{"separator": "/"}},
		"fill_value":         0, "codecs": codecs, "dimension_names": l.names(), "attributes": object{},
	}}
}

// groupV3 returns the file of a group of Zarr 3. It has the metadata of the arrays, as zarr-python writes and reads
// them.
func groupV3(img Image) map[string]any {
	ome := object{"version": "0.5", "multiscales": []multiscale{newMultiscale("", img)}}
	if o := newOmero("", img); o != nil {
		ome["omero"] = o
	}
	if img.Labels {
		ome["image-label"] = labels{}
	}
	all := object{}
	for _, l := range img.Levels {
		all[l.Name] = levelV3(l)["zarr.json"]
	}
	return object{"zarr.json": object{
		"zarr_format": 3, "node_type": "group", "attributes": object{"ome": ome},
		"consolidated_metadata": object{"kind": "inline", "must_understand": false, "metadata": all},
	}}
}
