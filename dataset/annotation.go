package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"path/filepath"

	"github.com/wkwfs/wkwfs/internal/compose/overlay"
	"github.com/wkwfs/wkwfs/internal/compose/relabel"
	"github.com/wkwfs/wkwfs/internal/files/annotation"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/paths"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// recogniseAnnotation opens an annotation in a directory, or in an archive. It returns false if there is none. One with
// trees and no volume counts only if trees is true: another format may be meant.
func (d *directories) recogniseAnnotation(fsys fs.FS, name string, trees bool, log *slog.Logger) (root volume.Root,
	ok bool, err error) {
	open := annotation.Open
	if info, err := fs.Stat(fsys, name); err == nil && !info.IsDir() {
		open = annotation.OpenArchive
	}
	a, err := open(fsys, name, log)
	if errors.Is(err, annotation.ErrNotRecognised) {
		return root, false, nil
	}
	if err != nil {
		return root, true, err
	}
	if len(a.Volumes) == 0 && !trees {
		return root, false, a.Close()
	}
	d.onClose(a.Close)
	return volume.Root{Dataset: a}, true, nil
}

// recogniseNML opens an annotation by the name of its NML file.
func (d *directories) recogniseNML(fsys fs.FS, name string, log *slog.Logger) (root volume.Root, err error) {
	a, err := annotation.OpenFile(fsys, name, log)
	if err != nil {
		return root, err
	}
	d.onClose(a.Close)
	return volume.Root{Dataset: a}, nil
}

// recogniseUnpacked opens an annotation that was unpacked to a directory. It returns false if there is none, or if the
// directory has metadata of WEBKNOSSOS: these win. An object store would be asked for a list only to find that there is
// none.
func (d *directories) recogniseUnpacked(fsys fs.FS, name string, trees bool, log *slog.Logger) (root volume.Root,
	ok bool, err error) {
	info, err := fs.Stat(fsys, name)
	if err != nil || !info.IsDir() || vfs.SpeedOf(fsys).Remote {
		return root, false, nil
	}
	if _, err := fs.Lstat(fsys, path.Join(name, webknossos.PropertiesFile)); err == nil {
		return root, false, nil
	}
	return d.recogniseAnnotation(fsys, name, trees, log)
}

// compose lays the source over the dataset of [Options].Over, if there is one, and adds what is mapped. name is that of
// the source in fsys.
func (d *directories) compose(root volume.Root, fsys fs.FS, name, source string) (volume.Root, error) {
	a, isAnnotation := root.Dataset.(*annotation.Dataset)
	if isAnnotation {
		d.volumes = map[string]string{}
		for _, v := range a.Volumes {
			d.volumes[v.As] = v.Fallback
		}
	}
	switch {
	case d.options.Over != "" && !isAnnotation:
		return root,
			hint.Usagef(
				"leave out --over, or name an annotation as it was downloaded, or its directory with the NML file",
				"--over: %s is not an annotation", remote.Display(source))
	case d.options.Over != "":
		return d.over(a)
	case isAnnotation:
		if err := onlyReason(a.Omitted(), a); err != nil {
			return root, err
		}
	}
	return d.mapped(root, baseOf(source), d.homeOf(root, fsys, name, source), nil)
}

// onlyReason returns why a dataset has no layer at all.
func onlyReason(omitted []volume.Omission, d volume.Dataset) error {
	names, err := d.Layers()
	if err != nil || len(names) > 0 || len(omitted) == 0 {
		return err
	}
	return hint.Errorf("--over DATASET shows it over the dataset that was annotated", "volume %s: %s", omitted[0].Name,
		omitted[0].Reason)
}

// over lays the volumes of an annotation over the layers of a dataset.
func (d *directories) over(a *annotation.Dataset) (root volume.Root, err error) {
	below, home, err := d.openBelow(d.options.Over)
	if err != nil {
		return root, fmt.Errorf("--over: %w", err)
	}
	if name := baseOf(d.options.Over); a.NML.Dataset != "" && a.NML.Dataset != name {
		d.options.Log.Warn("the annotation is of a dataset of another name", "annotated", a.NML.Dataset, "dataset",
			name)
	}
	var added []overlay.Added
	var fault error
	shown := 0
	as := map[string]string{}
	for _, v := range a.Volumes {
		m := overlay.Added{Name: v.As}
		if m.Layer, m.Err = merged(below, a, v); m.Err == nil {
			shown++
		} else if m.Layer = nil; fault == nil {
			fault = fmt.Errorf("volume %s: %w", v.As, m.Err)
		}
		if v.Fallback != "" && m.Err == nil {
			as[v.As] = v.Fallback
			setSpacing(a, m.Layer)
		}
		added = append(added, m)
	}
	if shown == 0 && fault != nil {
		return root, fault
	}
	if len(a.Volumes) == 0 {
		setSpacingOf(a, below)
	}
	return d.mapped(volume.Root{Dataset: overlay.Add(below, added, a.Files())}, "", home, as)
}

// setSpacingOf is setSpacing for the first layer of a dataset: all have the same.
func setSpacingOf(a *annotation.Dataset, below volume.Dataset) {
	names, err := below.Layers()
	if err != nil || len(names) == 0 {
		return
	}
	if l, err := below.Layer(names[0]); err == nil {
		setSpacing(a, l)
	}
}

// setSpacing tells an annotation the size of a voxel of mag 1, as far as a layer of the dataset knows it.
func setSpacing(a *annotation.Dataset, l volume.Layer) {
	names, err := l.Mags()
	if err != nil || len(names) == 0 {
		return
	}
	m, err := l.Mag(names[0])
	if err != nil {
		return
	}
	g, err := m.CubeGrid()
	factor := m.About().Factor
	if err != nil || g.Spacing == ([3]float64{}) || factor == (volume.Factor{}) {
		return
	}
	for axis := range 3 {
		g.Spacing[axis] /= float64(factor[axis])
	}
	a.SetSpacing(g.Spacing)
}

// merged returns a volume over the layer that it names, or alone if it names none.
func merged(below volume.Dataset, a *annotation.Dataset, v *annotation.Layer) (volume.Layer, error) {
	if v.Err != nil {
		return nil, v.Err
	}
	if v.Fallback == "" {
		return a.Layer(v.As)
	}
	l, err := below.Layer(v.Fallback)
	if errors.Is(err, fs.ErrNotExist) {
		names, _ := below.Layers()
		return nil, fmt.Errorf("expected the layer %s in the dataset, found %s", v.Fallback, hint.List(names))
	}
	if err != nil {
		return nil, err
	}
	return overlay.NewLayer(l, v.Data, v.Fallback, v.As)
}

// openBelow opens the dataset at a path or a URL.
func (d *directories) openBelow(source string) (volume.Dataset, *relabel.Home, error) {
	var fsys fs.FS
	var err error
	if paths.IsURL(source) {
		source = remote.Clean(source)
		fsys, err = d.openURL(source)
	} else if source, err = filepath.Abs(source); err == nil {
		fsys, err = d.open(source)
	}
	if err != nil {
		return nil, nil, err
	}
	root, err := d.recognise(fsys, source, ".", d.options.Log)
	if err != nil {
		return nil, nil, d.explain(fsys, source, err)
	}
	return root.AsDataset(baseOf(source)), d.homeOf(root, fsys, ".", source), nil
}
