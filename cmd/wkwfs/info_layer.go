package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/internal/serve/preview"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/volume"
)

// layerChoice is what a preview draws.
type layerChoice struct {
	root   volume.Root // without a Dataset
	name   string      // of the layer; empty if the source is no dataset
	others []string    // other layers of the dataset, if the user has not chosen
}

// chooseLayer returns the layer of a name. Without a name, it is the first image of a dataset, or the first layer.
func chooseLayer(root volume.Root, name string) (layerChoice, error) {
	if root.Dataset == nil {
		if name != "" {
			return layerChoice{}, hint.Usagef("leave out LAYER", "LAYER %q: SOURCE is no dataset", name)
		}
		return layerChoice{root: root}, nil
	}
	names, err := root.Dataset.Layers()
	if err != nil {
		return layerChoice{}, err
	}
	choice := layerChoice{name: name}
	if name == "" {
		if choice.name = firstImage(root.Dataset, names); choice.name == "" {
			return choice, errors.New("the dataset has no layers")
		}
		choice.others = slices.DeleteFunc(names, func(n string) bool { return n == choice.name })
	}
	layer, err := root.Dataset.Layer(choice.name)
	if errors.Is(err, fs.ErrNotExist) && name != "" {
		err = fmt.Errorf("no layer %q", name)
	}
	if err != nil {
		return choice, hint.Errorf(hint.DidYouMean(name, names, "the layers are "+hint.List(names)), "%w", err)
	}
	choice.root.Layer = layer
	return choice, nil
}

// firstImage returns the first layer of the category color, else the first layer. It returns "" if there is none.
func firstImage(d volume.Dataset, names []string) string {
	for _, name := range names {
		if l, err := d.Layer(name); err == nil && category(l) == "color" {
			return name
		}
	}
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

func category(l volume.Layer) string {
	names, _ := l.Mags() // a layer with an error has no category
	for _, name := range names {
		if m, err := l.Mag(name); err == nil {
			return m.About().Category
		}
	}
	return ""
}

// mags returns the mags that can be drawn, and why others cannot.
func (c layerChoice) mags() ([]preview.Mag, error) {
	var m preview.Mag
	var err error
	switch {
	case c.root.Layer != nil:
		return preview.OfLayer(c.root.Layer)
	case c.root.Mag != nil:
		m, err = preview.OfMag("", c.root.Mag)
	default:
		m, err = preview.OfCube(c.root.Cube)
	}
	if err != nil {
		return nil, err
	}
	return []preview.Mag{m}, nil
}

// caption returns the lines below a picture.
func (c layerChoice) caption(p *preview.Picture) string {
	var b strings.Builder
	if c.name != "" {
		fmt.Fprintf(&b, "%s, ", hint.Escape(c.name))
	}
	if p.Mag.Name != "" {
		fmt.Fprintf(&b, "mag %s, ", hint.Escape(p.Mag.Name))
	}
	factor, size := p.Mag.Factor[2], p.Drawn.Size()
	fmt.Fprintf(&b, "z %d of %d-%d, %d × %d voxels%s", p.Plane.Min[2]*factor, p.Mag.Bounds.Min[2]*factor,
		p.Mag.Bounds.Max[2]*factor,
		size[0], size[1], sizeText(p.Mag.Cube.Spacing))
	if w := p.Window; p.Zero {
		b.WriteString(", all of them 0; --z draws another plane")
	} else if w != nil {
		fmt.Fprintf(&b, ", black %.6g, white %.6g", w.Low, w.High)
	}
	b.WriteString("\n")
	if whole := p.Plane.Size(); whole != size {
		fmt.Fprintf(&b, "the middle of a plane of %d × %d voxels; a coarser mag would show all of it\n", whole[0],
			whole[1])
	}
	if len(c.others) > 0 {
		fmt.Fprintf(&b, "other layers: %s\n", hint.Escape(hint.List(c.others)))
	}
	return b.String()
}

// sizeText returns " of 8 × 8 nm", or nothing if the size of a voxel is not known.
func sizeText(nm [3]float64) string {
	if nm[0] == 0 {
		return ""
	}
	format := func(n float64) string { return strconv.FormatFloat(n, 'g', 6, 64) }
	return fmt.Sprintf(" of %s × %s nm", format(nm[0]), format(nm[1]))
}
