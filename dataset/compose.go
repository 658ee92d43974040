package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/wkwfs/wkwfs/internal/compose/relabel"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/paths"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// mapped adds a layer NAME@MAPPING for each mapping: of a WEBKNOSSOS dataset, and of [Options].Relabel. base is the
// name of the only layer of a source that is none.
func (d *directories) mapped(root volume.Root, base string, home *relabel.Home, as map[string]string) (volume.Root,
	error) {
	tables, err := d.tables()
	if err != nil || home == nil && len(tables) == 0 {
		return root, err
	}
	all := root.AsDataset(base)
	for _, t := range tables {
		l, err := all.Layer(t.Layer)
		if errors.Is(err, fs.ErrNotExist) {
			names, _ := all.Layers()
			return root, hint.Usagef(hint.DidYouMean(t.Layer, names, "the layers are "+hint.List(names)),
				"--relabel: there is no layer %q", t.Layer)
		}
		if err == nil {
			_, err = relabel.NewLayer(l, t.Table)
		}
		if err != nil {
			return root, fmt.Errorf("--relabel %s: %w", t.Layer, err)
		}
	}
	return volume.Root{Dataset: relabel.New(all, relabel.Options{Home: home, As: as, Tables: tables})}, nil
}

// homeOf returns the source as a dataset that may have mappings. It returns nil if it is no WEBKNOSSOS dataset.
func (d *directories) homeOf(root volume.Root, fsys fs.FS, name, source string) *relabel.Home {
	if root.Dataset == nil {
		return nil
	}
	if _, err := fs.Stat(fsys, path.Join(name, webknossos.PropertiesFile)); err != nil {
		return nil
	}
	return &relabel.Home{FS: fsys, Dir: name, Outside: d.outside(source)}
}

// tables opens the files of [Options].Relabel.
func (d *directories) tables() (all []relabel.Named, err error) {
	for _, r := range d.options.Relabel {
		layer, file, ok := strings.Cut(r, "=")
		if !ok || layer == "" || file == "" {
			return nil, hint.Usagef("write LAYER=FILE, such as segmentation=table.npy",
				"--relabel: expected LAYER=FILE, found %q", r)
		}
		t, err := d.tableAt(layer, file)
		if err != nil {
			return nil, fmt.Errorf("--relabel %s: %w", layer, err)
		}
		all = append(all, t)
	}
	return all, nil
}

// tableAt opens a table at a path or a URL. The user names it, so it may lie anywhere.
func (d *directories) tableAt(layer, file string) (n relabel.Named, err error) {
	var fsys fs.FS
	dir, base := remote.Dir(file), remote.Base(file)
	if paths.IsURL(file) {
		fsys, err = d.openURL(remote.Clean(dir))
	} else {
		if file, err = filepath.Abs(file); err != nil {
			return n, err
		}
		dir, base = filepath.Split(file)
		fsys, err = d.openFollowing(dir, true)
	}
	if err != nil {
		return n, err
	}
	suffix := strings.ToLower(path.Ext(base))
	n = relabel.Named{Layer: layer, Name: strings.TrimSuffix(base, path.Ext(base))}
	switch suffix {
	case ".npy":
		n.Table = relabel.OpenNPY(n.Name, fsys, base)
	case ".csv", ".tsv", ".txt":
		n.Table = relabel.OpenCSV(n.Name, fsys, base)
	case ".json":
		n.Table = relabel.OpenJSON(n.Name, fsys, ".")
	default:
		if info, err := fs.Stat(fsys, base); err == nil && info.IsDir() {
			n.Table = relabel.OpenZarr(n.Name, fsys, base)
			break
		}
		return n, hint.Usagef("name an .npy, .csv or .json file, or a directory with segment_to_agglomerate",
			"%s: not a table of ids", file)
	}
	return n, n.Table.Check()
}
