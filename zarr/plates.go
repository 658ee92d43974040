package zarr

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/volume"
)

// plates is a group with plates, or a row of a plate that was opened alone: its wells are plates of one well. The
// layers of a plate lie below its name. The others are those of the group.
type plates struct {
	*chunked.Dataset
	all   map[string]*plate // by name
	names []string          // of all, as they were found
}

var (
	_ volume.Dataset   = (*plates)(nil)
	_ volume.LayerTree = (*plates)(nil)
	_ volume.Omitter   = (*plates)(nil)
)

// add adds a plate.
func (p *plates) add(name string, one *plate) {
	if p.all[name] != nil {
		p.Omit(name, errors.New("another plate has this name"))
		return
	}
	if p.all == nil {
		p.all = map[string]*plate{}
	}
	p.all[name], p.names = one, append(p.names, name)
}

// omitHidden omits the layers whose paths lie in plates.
func (p *plates) omitHidden() {
	p.List = slices.DeleteFunc(p.List, func(l chunked.NamedLayer) bool {
		hidden, _ := p.split(l.Name)
		if hidden != nil {
			p.Omit(l.Name, errors.New("a plate has this name"))
		}
		return hidden != nil
	})
}

// split returns the plate that has a path, and the path in it. It returns nil if there is none.
func (p *plates) split(name string) (one *plate, rest string) {
	first, rest, _ := strings.Cut(name, "/")
	return p.all[first], rest
}

// Layers returns the names of all layers. It opens all fields.
func (p *plates) Layers() ([]string, error) {
	names, err := p.Dataset.Layers()
	for _, name := range p.names {
		below, _ := p.all[name].Layers() // it has no error of its own
		for _, layer := range below {
			names = append(names, path.Join(name, layer))
		}
	}
	return names, err
}

// Layer returns a layer of a plate, or another one of the group.
func (p *plates) Layer(name string) (volume.Layer, error) {
	one, rest := p.split(name)
	switch {
	case one == nil:
		return p.Dataset.Layer(name)
	case rest == "" && !one.isWell():
		return nil, notExist(name)
	}
	return one.Layer(rest)
}

// Omitted returns what is not shown of the group and of its plates.
func (p *plates) Omitted() []volume.Omission {
	all := slices.Clone(p.Left)
	for _, name := range p.names {
		for _, o := range p.all[name].Omitted() {
			o.Name = path.Join(name, o.Name)
			all = append(all, o)
		}
	}
	return all
}

// StatLayers implements [volume.LayerTree].
func (p *plates) StatLayers(dir string) (fs.FileInfo, error) {
	one, rest := p.split(dir)
	if one != nil {
		return one.StatLayers(rest)
	}
	if dir == "" || len(p.below(dir)) > 0 {
		return p.Stat()
	}
	l, err := p.Dataset.Layer(dir)
	if err != nil {
		return nil, err
	}
	return l.Stat()
}

// ListLayers implements [volume.LayerTree].
func (p *plates) ListLayers(dir string) ([]string, error) {
	one, rest := p.split(dir)
	if one != nil {
		return one.ListLayers(rest)
	}
	names := p.below(dir)
	if dir == "" {
		return append(slices.Clone(p.names), names...), nil
	}
	if len(names) == 0 {
		return nil, notExist(dir)
	}
	return names, nil
}

// below returns the entries of a directory of layers that are in no plate.
func (p *plates) below(dir string) (names []string) {
	if dir != "" {
		dir += "/"
	}
	for _, l := range p.List {
		if rest, ok := strings.CutPrefix(l.Name, dir); ok {
			first, _, _ := strings.Cut(rest, "/")
			if !slices.Contains(names, first) {
				names = append(names, first)
			}
		}
	}
	return names
}
