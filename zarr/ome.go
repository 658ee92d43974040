package zarr

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

// Limits of OME metadata. No real image reaches them.
const (
	maxImages      = 1000
	maxResolutions = 1000
	maxTransforms  = 100
)

// ome returns the OME metadata of a group: version 0.5 has them in a member of its own.
func (n *node) ome() object {
	var inner object
	if n.attrs.Get("ome", &inner) == nil && inner != nil {
		return inner
	}
	return n.attrs
}

// multiscale is an image at several resolutions (OME-Zarr, "multiscales" metadata).
type multiscale struct {
	name        string
	axes        []axis
	resolutions []resolution
	outer       []transformation // apply to all resolutions, after their own
}

// axis is an axis of an image. Before version 0.4 it is only a name.
type axis struct{ Name, Type, Unit string }

func (a *axis) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &a.Name) == nil {
		return nil
	}
	type plain axis // without this method
	return json.Unmarshal(b, (*plain)(a))
}

type resolution struct {
	path            string
	isTransformed   bool // there are transformations, even if they are the identity
	transformations []transformation
}

// images returns the metadata of the images of a group. There may be none.
func images(o object) ([]object, error) {
	if !o.Has("multiscales") {
		return nil, nil
	}
	all, err := jsonlimit.List[object](o["multiscales"], maxImages, "images")
	if err != nil || len(all) == 0 {
		return nil, fmt.Errorf("multiscales: expected a list of images, found %s",
			jsonlimit.Abbreviate(o["multiscales"]))
	}
	return all, nil
}

// parseMultiscale parses an image of a group.
func parseMultiscale(image object) (*multiscale, error) {
	m := &multiscale{}
	if err := image.Get("name", &m.name); err != nil {
		m.name = ""
	}
	levels, err := jsonlimit.List[object](orNull(image["datasets"]), maxResolutions, "resolutions")
	if err != nil || len(levels) == 0 {
		return nil, fmt.Errorf("multiscales: datasets: expected a list of resolutions, found %s",
			jsonlimit.Abbreviate(image["datasets"]))
	}
	system := ""
	for _, level := range levels {
		r := resolution{isTransformed: level.Has(transformationsMember)}
		var output string
		if r.path, err = text(level, "path"); err == nil {
			r.transformations, output, err = transformations(level)
		}
		if err != nil {
			return nil, fmt.Errorf("multiscales: datasets: %w", err)
		}
		m.resolutions = append(m.resolutions, r)
		system = cmp.Or(system, output)
	}
	if err := m.parseAxes(image, system); err != nil {
		return nil, fmt.Errorf("multiscales: %w", err)
	}
	if err := m.checkTransformations(); err != nil {
		return nil, fmt.Errorf("multiscales: %w", err)
	}
	m.sort()
	return m, nil
}

// parseAxes parses the axes of an image. In version 0.6 they are those of the coordinate system that its resolutions
// lead to, and transformations of the whole image lead to others, which are not shown. Before, these place the image.
func (m *multiscale) parseAxes(image object, system string) (err error) {
	if image.Has("coordinateSystems") {
		m.axes, err = systemAxes(image, system)
		return err
	}
	if m.axes, err = jsonlimit.List[axis](orNull(image["axes"]), maxRank, "axes"); err != nil {
		return fmt.Errorf("axes: %w", err)
	}
	m.outer, _, err = transformations(image)
	return err
}

// axisNames returns the names of the axes for [ArrayOptions], or nil if there are none.
func (m *multiscale) axisNames() (names []string) {
	for _, a := range m.axes {
		name := a.Name
		switch a.Type {
		case "channel":
			name = "c"
		case "time":
			name = "t"
		}
		names = append(names, name)
	}
	return names
}

// image opens the image of a group as a layer, or as one for each time. A resolution that cannot be read is omitted.
func (n *node) image(m *multiscale, category string) ([]chunked.NamedLayer, error) {
	finest := m.transform(m.resolutions[0])
	statMetadata := chunked.StatFiles(nil, n.fsys, path.Join(n.dir, n.file), path.Join(n.dir, attributesV2))
	var arrays []resolutionArray
	var finestSize volume.Vec
	for i, r := range m.resolutions {
		a := n.resolution(r)
		size := a.size(m)
		if i == 0 {
			finestSize = size
		}
		t := m.transform(r)
		factor := t.Factor(finest)
		if !r.isTransformed {
			factor = chunked.FactorOfSizes(finestSize, size)
			t = finest.Coarser(factor)
		}
		a.options = ArrayOptions{
			Axes: m.axisNames(), Factor: factor, Spacing: t.Spacing(), Origin: t.Origin(finest), Category: category,
			StatMetadata: statMetadata,
		}
		arrays = append(arrays, a)
	}
	layers, err := layersOf(chunked.Layer{FS: n.fsys, Dir: n.dir}, arrays)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Join(n.dir, n.file), err)
	}
	return layers, nil
}

// resolution reads the array of a resolution.
func (n *node) resolution(r resolution) (a resolutionArray) {
	if a.name, a.err = magName(r.path); a.err == nil {
		a.node, a.err = readNode(n.fsys, path.Join(n.dir, r.path))
	}
	a.read()
	return a
}

// size returns the size of a resolution in voxels. It is zero if the array cannot be read.
func (r *resolutionArray) size(m *multiscale) volume.Vec {
	if r.err != nil {
		return volume.Vec{}
	}
	mag, err := r.node.newMag(r.array, ArrayOptions{Axes: m.axisNames(), Index: []int{}})
	if err != nil {
		return volume.Vec{}
	}
	box, _ := mag.Bounds() // of an array that is open, it does not fail
	return box.Size()
}

// magName returns the name of a mag for the path of a resolution. It fails for a path that leads out of the group.
func magName(p string) (string, error) {
	clean := path.Clean(p)
	if !fs.ValidPath(clean) || clean == "." || strings.Contains(p, "://") || strings.ContainsRune(p, 0) {
		return p, fmt.Errorf("path: %q leads out of the group", jsonlimit.Abbreviate(p))
	}
	return strings.ReplaceAll(clean, "/", "_"), nil
}
