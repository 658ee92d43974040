package zarr

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/internal/small/lru"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/volume"
)

// Limits of plates. The largest have 3,456 wells.
const (
	maxWells  = 10_000
	maxFields = 10_000 // of a well
)

// What a plate keeps of its metadata. A well counts as many as it has fields, a field as many as it has mags.
const (
	keptFields = 100_000
	keptMags   = 4096
)

// plate is a plate of a microscope, or a well that was opened alone (OME-Zarr, "plate" and "well" metadata). Each field
// is a layer with its path in the plate, ROW/COLUMN/FIELD. Its times and its labels are below it, as [fieldLayers] has
// them. Metadata of wells and fields are read when they are needed, and some are kept.
type plate struct {
	root  *node
	wells []string // paths, in the order of the metadata; "" if the root is a well
	left  []volume.Omission

	mu     sync.Mutex
	listed *lru.Cache[string, []string]     // fields of wells
	opened *lru.Cache[string, *fieldLayers] // by path
}

var (
	_ volume.Dataset   = (*plate)(nil)
	_ volume.LayerTree = (*plate)(nil)
	_ volume.Omitter   = (*plate)(nil)
)

// plate returns the node as a plate, or nil if it is none.
func (n *node) plate() (*plate, error) {
	p := &plate{root: n, listed: lru.New[string, []string](keptFields), opened: lru.New[string, *fieldLayers](keptMags)}
	var described object
	switch o := n.ome(); {
	case o.Has("plate") && !o.Has("multiscales"):
		if err := o.Get("plate", &described); err != nil {
			return nil, err
		}
		return p, p.readWells(described)
	case o.Has("well") && !o.Has("multiscales"):
		p.wells = []string{""}
		_, err := p.fields("")
		return p, err
	}
	return nil, nil
}

// readWells reads the paths of the wells, each a row and a column.
func (p *plate) readWells(described object) error {
	paths, err := pathsIn(described, "wells", maxWells)
	if err != nil {
		return fmt.Errorf("plate: %w", err)
	}
	seen := map[string]bool{}
	for _, well := range paths {
		row, column, _ := strings.Cut(well, "/")
		reason := ""
		switch {
		case !plainName(row) || !plainName(column):
			reason = "plate: wells: path: expected a row and a column, such as A/1"
		case seen[well]:
			reason = "plate: wells: path: another well has it"
		}
		if reason != "" {
			p.left = append(p.left, volume.Omission{Name: jsonlimit.Abbreviate(well), Reason: reason})
			continue
		}
		seen[well], p.wells = true, append(p.wells, well)
	}
	return nil
}

// pathsIn returns the paths of the objects in a list.
func pathsIn(o object, name string, limit int) (paths []string, err error) {
	list, err := jsonlimit.List[object](orNull(o[name]), limit, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, entry := range list {
		at, err := text(entry, "path")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		paths = append(paths, at)
	}
	return paths, nil
}

// place is a path in a plate: a well, a field of it, and what is below that. Those after its end are "".
type place struct{ well, field, below string }

// isWell reports whether the root is a well.
func (p *plate) isWell() bool { return slices.Equal(p.wells, []string{""}) }

// split returns the place of a path. ok is false if the path ends above the wells, or in no well.
func (p *plate) split(name string) (at place, ok bool) {
	if p.isWell() {
		at.field, at.below, _ = strings.Cut(name, "/")
		return at, true
	}
	parts := strings.SplitN(name, "/", 4)
	if len(parts) < 2 {
		return at, false
	}
	at.well = path.Join(parts[:2]...)
	parts = append(parts[2:], "", "")
	at.field, at.below = parts[0], parts[1]
	return at, slices.Contains(p.wells, at.well)
}

// Stat describes the directory of the plate.
func (p *plate) Stat() (fs.FileInfo, error) { return fs.Stat(p.root.fsys, p.root.dir) }

// Files returns a file system without files.
func (p *plate) Files() fs.FS { return (&chunked.Dataset{}).Files() }

// Layers returns the names of all layers, and those of the wells and fields that cannot be read: Layer has the reason.
// It opens all fields.
func (p *plate) Layers() (names []string, err error) {
	for name := range volume.EachLayer(p) {
		names = append(names, name)
	}
	return names, nil
}

// Omitted returns the wells of the metadata that cannot be such.
func (p *plate) Omitted() []volume.Omission { return p.left }

// Layer returns a field, or a part of it such as one of its times. The error of a well is why it cannot be read, or
// fs.ErrNotExist.
func (p *plate) Layer(name string) (volume.Layer, error) {
	at, ok := p.split(name)
	if ok && at.field == "" {
		if _, err := p.fields(at.well); err != nil {
			return nil, err
		}
	}
	if !ok || at.field == "" {
		return nil, notExist(name)
	}
	f, err := p.field(at.well, at.field)
	if err != nil {
		return nil, err
	}
	return f.layer(at.below)
}

// StatLayers implements [volume.LayerTree].
func (p *plate) StatLayers(dir string) (fs.FileInfo, error) {
	at, ok := p.split(dir)
	switch {
	case dir == "":
		return p.Stat()
	case !ok && len(p.columns(dir)) == 0:
		return nil, notExist(dir)
	case !ok || at.field == "":
		return fs.Stat(p.root.fsys, path.Join(p.root.dir, dir))
	case at.below != "":
		f, err := p.field(at.well, at.field)
		if err != nil {
			return nil, err
		}
		if !f.has(at.below) {
			return nil, notExist(dir)
		}
	case !p.hasField(at):
		return nil, notExist(dir)
	}
	return fs.Stat(p.root.fsys, path.Join(p.root.dir, at.well, at.field))
}

// hasField reports whether the metadata of a well name a field. A well that cannot be read may have it.
func (p *plate) hasField(at place) bool {
	fields, err := p.fields(at.well)
	return err != nil && !errors.Is(err, fs.ErrNotExist) || slices.Contains(fields, at.field)
}

// ListLayers implements [volume.LayerTree]. Rows are those of the metadata. Of the wells of a row and the fields of a
// well, those that have no metadata of their own are left out: microscopes write them one after the other.
func (p *plate) ListLayers(dir string) ([]string, error) {
	at, ok := p.split(dir)
	switch {
	case ok && at.field != "":
		f, err := p.field(at.well, at.field)
		if err != nil {
			return nil, err
		}
		return f.list(at.below)
	case ok:
		fields, err := p.fields(at.well)
		return p.existing(at.well, fields), err
	case dir == "":
		return p.rows(), nil
	}
	columns := p.columns(dir)
	if len(columns) == 0 {
		return nil, notExist(dir)
	}
	return p.existing(dir, columns), nil
}

// rows returns the names of the rows.
func (p *plate) rows() (rows []string) {
	seen := map[string]bool{}
	for _, well := range p.wells {
		if row := path.Dir(well); !seen[row] {
			seen[row], rows = true, append(rows, row)
		}
	}
	return rows
}

// columns returns the names of the wells of a row.
func (p *plate) columns(row string) (columns []string) {
	for _, well := range p.wells {
		if path.Dir(well) == row {
			columns = append(columns, path.Base(well))
		}
	}
	return columns
}

// existing returns those directories that have attributes. One whose attributes cannot be looked up is not left out.
func (p *plate) existing(dir string, names []string) (all []string) {
	stat := func(name string) error {
		_, err := fs.Stat(p.root.fsys, path.Join(p.root.dir, dir, name, p.root.attributesFile()))
		return err
	}
	for name, err := range parallel.Each(names, stat) {
		if !errors.Is(err, fs.ErrNotExist) {
			all = append(all, name)
		}
	}
	return all
}

// attributesFile returns the name of the file with the attributes of a node, and of those in it.
func (n *node) attributesFile() string {
	if n.file == metadataV3 {
		return metadataV3
	}
	return attributesV2
}

// below reads the attributes of a group in the node with a single file.
func (n *node) below(dir string) (*node, error) {
	child := &node{fsys: n.fsys, dir: path.Join(n.dir, dir), file: n.attributesFile()}
	members, err := readObject(child.fsys, child.dir, child.file)
	if err != nil {
		return nil, err
	}
	if child.file == metadataV3 {
		child.members = members
		return child, child.readKind()
	}
	child.attrs = members
	return child, nil
}

// fields returns the names of the fields of a well, as its metadata have them.
func (p *plate) fields(well string) ([]string, error) {
	if fields, ok := keptIn(p, p.listed, well); ok {
		return fields, nil
	}
	n, err := p.root.below(well)
	if err != nil {
		return nil, err
	}
	var described object
	if err := n.ome().Get("well", &described); err != nil {
		return nil, inFile(path.Join(n.dir, n.file), err)
	}
	fields, err := pathsIn(described, "images", maxFields)
	if err != nil {
		return nil, inFile(path.Join(n.dir, n.file), fmt.Errorf("well: %w", err))
	}
	slices.Sort(fields)
	fields = slices.DeleteFunc(slices.Compact(fields), func(name string) bool { return !plainName(name) })
	return keepIn(p, p.listed, well, fields, len(fields)+1), nil
}

// field opens a field.
func (p *plate) field(well, name string) (*fieldLayers, error) {
	at := path.Join(well, name)
	if f, ok := keptIn(p, p.opened, at); ok {
		return f, nil
	}
	if fields, err := p.fields(well); err != nil {
		return nil, err
	} else if !slices.Contains(fields, name) {
		return nil, notExist(at)
	}
	n, err := p.root.below(at)
	if err != nil {
		return nil, err
	}
	f := n.field()
	return keepIn(p, p.opened, at, f, f.mags()+1), nil
}

// keptIn returns what a plate has kept under a path.
func keptIn[V any](p *plate, cache *lru.Cache[string, V], at string) (V, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	value, ok := cache.Get(at)
	return value, ok && !isStale(value)
}

// keepIn keeps a value under a path, and returns it; or the value that another goroutine has kept there first.
func keepIn[V any](p *plate, cache *lru.Cache[string, V], at string, value V, cost int) V {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first, ok := cache.Get(at); ok && !isStale(first) {
		return first
	}
	cache.Put(at, value, int64(cost))
	return value
}

// isStale reports whether a value is a field that has to be read again.
func isStale(value any) bool {
	f, ok := value.(*fieldLayers)
	return ok && f.isStale()
}

func notExist(name string) error { return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist} }
