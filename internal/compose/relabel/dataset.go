package relabel

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/ttl"
	"github.com/wkwfs/wkwfs/volume"
)

// separator is between the names of a layer and of its mapping.
const separator = "@"

// Named is a table for a layer.
type Named struct {
	Layer string // whose ids are mapped
	Name  string // of the mapping
	Table *Table
}

// Options say which mappings there are.
type Options struct {
	Home *Home // the dataset that has mappings; nil: none has
	// a layer that has the mappings of another one of Home: a merged layer those of what is below it. New ids stay.
	As     map[string]string
	Tables []Named // others
}

// Dataset is a dataset with a layer NAME@MAPPING for each mapping of each layer.
type Dataset struct {
	volume.Dataset
	options Options

	mu        sync.Mutex
	described *described
	found     map[string]*found
	tables    map[string]*Table // of Home, by NAME@MAPPING and what the metadata say
}

var (
	_ volume.Omitter         = (*Dataset)(nil)
	_ volume.MetadataChecker = (*Dataset)(nil)
)

// New adds layers for the mappings of a dataset. It reads nothing.
func New(d volume.Dataset, o Options) *Dataset {
	return &Dataset{Dataset: d, options: o, found: map[string]*found{}, tables: map[string]*Table{}}
}

// found is the mappings of a layer, and when they were looked for.
type found struct {
	all []Attachment
	ttl.Answer
}

// attachments returns the mappings of a layer in Home. It looks for them as rarely as for changes of tables.
func (d *Dataset) attachments(layer string) []Attachment {
	home := d.options.Home
	if home == nil {
		return nil
	}
	if as, ok := d.options.As[layer]; ok {
		layer = as
	}
	last, described := d.known(layer)
	if last != nil && last.Counts() {
		return last.all
	}
	f := &found{Answer: ttl.Ask()}
	described = home.describe(described)
	f.all = home.of(layer, described)
	f.End()
	d.setKnown(layer, f, described)
	return f.all
}

func (d *Dataset) known(layer string) (*found, *described) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.found[layer], d.described
}

func (d *Dataset) setKnown(layer string, f *found, now *described) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.found[layer], d.described = f, now
}

// table returns the table of a mapping in Home. The same one is returned as long as the metadata say the same about
// it.
func (d *Dataset) table(layer string, a Attachment) (*Table, error) {
	key := fmt.Sprintf("%q %q", layer, a)
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.tables[key]; t != nil {
		return t, nil
	}
	t, err := d.options.Home.open(a)
	if err != nil {
		return nil, err
	}
	_, t.Keep = d.options.As[layer]
	d.tables[key] = t
	return t, nil
}

// mapping is a mapping of a layer, or why there is none.
type mapping struct {
	name  string // NAME@MAPPING
	layer *Layer
	err   error
}

// mappings returns the mappings of a layer. The tables of the options win.
func (d *Dataset) mappings(name string, l volume.Layer) (all []mapping) {
	add := func(mapped string, t *Table, err error) {
		m := mapping{name: name + separator + mapped, err: err}
		if slices.ContainsFunc(all, func(o mapping) bool { return o.name == m.name }) {
			return
		}
		if err == nil {
			m.layer, m.err = NewLayer(l, t)
		}
		all = append(all, m)
	}
	for _, n := range d.options.Tables {
		if n.Layer == name {
			add(n.Name, n.Table, nil)
		}
	}
	for _, a := range d.attachments(name) {
		t, err := d.table(name, a)
		add(a.Name, t, err)
	}
	return all
}

// eachMapping calls f for each mapping of each layer whose names are given.
func (d *Dataset) eachMapping(names []string, f func(mapping)) {
	for _, name := range names {
		l, err := d.Dataset.Layer(name)
		if err != nil {
			continue // a caller that opens the layer gets the error
		}
		for _, m := range d.mappings(name, l) {
			f(m)
		}
	}
}

// Layers returns the layers, and those that are mapped.
func (d *Dataset) Layers() ([]string, error) {
	names, err := d.Dataset.Layers()
	if err != nil {
		return nil, err
	}
	all := slices.Clone(names)
	d.eachMapping(names, func(m mapping) {
		if m.err == nil {
			all = append(all, m.name)
		}
	})
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Layer returns a layer. The name of one that is mapped is NAME@MAPPING.
func (d *Dataset) Layer(name string) (volume.Layer, error) {
	l, err := d.Dataset.Layer(name)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return l, err
	}
	for at := range len(name) {
		if !strings.HasPrefix(name[at:], separator) {
			continue
		}
		below, failed := d.Dataset.Layer(name[:at])
		if failed != nil {
			continue
		}
		for _, m := range d.mappings(name[:at], below) {
			if m.name == name {
				if m.err != nil {
					return nil, m.err
				}
				return m.layer, nil
			}
		}
	}
	return nil, err
}

// Omitted lists the mappings that cannot be used.
func (d *Dataset) Omitted() (all []volume.Omission) {
	if o, ok := d.Dataset.(volume.Omitter); ok {
		all = slices.Clone(o.Omitted())
	}
	names, _ := d.Dataset.Layers() // callers list them, too
	d.eachMapping(names, func(m mapping) {
		if m.err != nil {
			_, mayBeSound := errors.AsType[*volume.UnsupportedError](m.err)
			all = append(all, volume.Omission{Name: m.name, Reason: m.err.Error(), Fault: !mayBeSound})
		}
	})
	return all
}

// CheckMetadata implements [volume.MetadataChecker].
func (d *Dataset) CheckMetadata() []error {
	if c, ok := d.Dataset.(volume.MetadataChecker); ok {
		return c.CheckMetadata()
	}
	return nil
}
