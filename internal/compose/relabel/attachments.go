package relabel

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Attachment is a mapping of a layer, where the metadata of a WEBKNOSSOS dataset say, or where older datasets have
// it.
type Attachment struct {
	Name   string
	Format string // zarr3, hdf5, json or another
	Path   string // as in the metadata, relative to the dataset
}

// Home is a WEBKNOSSOS dataset whose layers have mappings.
type Home struct {
	FS  fs.FS
	Dir string // of the dataset
	// Outside opens the directory that a path or a URL in the metadata leads to, if it is not in the dataset. Nil:
	// such mappings are left out.
	Outside func(path string) (fs.FS, error)
}

const (
	propertiesFile  = "datasource-properties.json"
	maxProperties   = 16 << 20
	maxLayers       = 10_000
	maxAttachments  = 1000 // of a layer
	agglomeratesDir = "agglomerates"
	mappingsDir     = "mappings"
	suffixHDF5      = ".hdf5"
	suffixJSON      = ".json"
	cumsumFile      = "cumsum.json" // an index of agglomerates, and no mapping
)

// described is what the metadata say about mappings, by layers.
type described struct {
	version vfs.Version
	all     map[string][]Attachment // of segmentations
}

// describe reads the metadata of the dataset, unless they are those of last. A part that cannot be parsed is left
// out: others read it, too, and report it.
func (h Home) describe(last *described) *described {
	file := path.Join(h.Dir, propertiesFile)
	info, err := fs.Stat(h.FS, file)
	if err != nil {
		return &described{}
	}
	version := vfs.VersionOf(info)
	if last != nil && last.version == version {
		return last
	}
	d := &described{version: version, all: map[string][]Attachment{}}
	b, err := jsonlimit.ReadFile(h.FS, file, maxProperties)
	var o jsonlimit.Object
	if err != nil || json.Unmarshal(b, &o) != nil || !o.Has("dataLayers") {
		return d
	}
	for raw, err := range jsonlimit.Values[json.RawMessage](o["dataLayers"], maxLayers, "layers") {
		var l struct {
			Name        string          `json:"name"`
			Category    string          `json:"category"`
			Mappings    json.RawMessage `json:"mappings"`
			Attachments struct {
				Agglomerates json.RawMessage `json:"agglomerates"`
			} `json:"attachments"`
		}
		if err == nil {
			err = json.Unmarshal(raw, &l)
		}
		if _, twice := d.all[l.Name]; err != nil || twice || l.Category != "segmentation" {
			continue
		}
		d.all[l.Name] = attachmentsOf(l.Name, l.Attachments.Agglomerates, l.Mappings)
	}
	return d
}

// attachmentsOf returns the mappings in the metadata of a layer.
func attachmentsOf(layer string, agglomerates, mappings json.RawMessage) (all []Attachment) {
	if agglomerates != nil {
		list, _ := jsonlimit.List[struct {
			Name       string `json:"name"`
			Path       string `json:"path"`
			DataFormat string `json:"dataFormat"`
		}](agglomerates, maxAttachments, "agglomerates")
		for _, a := range list {
			all = append(all, Attachment{Name: a.Name, Format: a.DataFormat, Path: a.Path})
		}
	}
	if mappings != nil {
		names, _ := jsonlimit.List[string](mappings, maxAttachments, "mappings")
		for _, n := range names {
			all = append(all, Attachment{Name: n, Format: "json", Path: path.Join(layer, mappingsDir, n+suffixJSON)})
		}
	}
	return all
}

// of returns the mappings of a layer: those in the metadata, and files where older datasets have them.
func (h Home) of(layer string, d *described) []Attachment {
	all, ok := d.all[layer]
	if !ok {
		return nil
	}
	all = slices.Clone(all)
	for _, legacy := range []struct{ dir, suffix, format string }{{agglomeratesDir, suffixHDF5, "hdf5"},
		{mappingsDir, suffixJSON, "json"}} {
		dir := path.Join(layer, legacy.dir)
		if !fs.ValidPath(path.Join(h.Dir, dir)) {
			continue
		}
		for entries := range vfs.ListDir(h.FS, path.Join(h.Dir, dir)) {
			for _, e := range entries {
				name, ok := strings.CutSuffix(e.Name(), legacy.suffix)
				if ok && e.Name() != cumsumFile && !e.IsDir() && len(all) < maxAttachments {
					all = append(all, Attachment{Name: name, Format: legacy.format, Path: path.Join(dir, e.Name())})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Attachment) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b Attachment) bool { return a.Name == b.Name }) // those in the metadata win
}

// open opens a mapping. It reads nothing of the table.
func (h Home) open(a Attachment) (*Table, error) {
	if !plainName.MatchString(a.Name) {
		return nil, fmt.Errorf("expected a name of letters, digits, dots, _ and -, found %q",
			jsonlimit.Abbreviate(a.Name))
	}
	switch a.Format {
	case "zarr3", "json":
	case "hdf5":
		return h.openHDF5(a)
	default:
		return nil, unsupported(a, "the format zarr3, hdf5 or json", fmt.Sprintf("%q", jsonlimit.Abbreviate(a.Format)))
	}
	fsys, dir, err := h.locate(a.Path)
	if err != nil {
		return nil, err
	}
	if a.Format == "json" {
		return OpenJSON(a.Name, fsys, path.Dir(dir)), nil
	}
	return OpenZarr(a.Name, fsys, dir), nil
}

// openHDF5 opens a mapping that is a file of HDF5.
func (h Home) openHDF5(a Attachment) (*Table, error) {
	dir, name := parentOf(a.Path)
	if dir == "" {
		dir = "."
	}
	fsys, in, err := h.locate(dir)
	if err != nil {
		return nil, err
	}
	return OpenHDF5(a.Name, fsys, path.Join(in, name)), nil
}

// locate returns where a path of the metadata leads: relative to the dataset, or out of it.
func (h Home) locate(p string) (fs.FS, string, error) {
	local := path.Clean(p)
	if p != "" && !strings.Contains(p, "://") && !path.IsAbs(p) && fs.ValidPath(local) {
		return h.FS, path.Join(h.Dir, local), nil
	}
	if h.Outside == nil || p == "" {
		return nil, "", &volume.UnsupportedError{
			Part: "path of a mapping", Offset: -1, Expected: "one in SOURCE; --follow-links follows others",
			Found: fmt.Sprintf("%q", jsonlimit.Abbreviate(p)),
		}
	}
	fsys, err := h.Outside(p)
	return fsys, ".", err
}

// unsupported returns the error for a mapping that may be sound.
func unsupported(a Attachment, expected, found string) error {
	return &volume.UnsupportedError{File: jsonlimit.Abbreviate(a.Path), Part: "mapping", Offset: -1, Expected: expected,
		Found: found}
}
