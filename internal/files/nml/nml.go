// Package nml reads the annotation files of WEBKNOSSOS: the volumes of an annotation, the size of a voxel, and trees.
// The format has no specification: NmlWriter.scala of webknossos and nml of webknossos-libs are its writers.
//
// A file is read as a stream, and is not trusted: it may have up to 256 MiB. A document type is
// an error: its entities could stand for any number of bytes.
package nml

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Annotation is what a file says.
type Annotation struct {
	Dataset string     // name of the dataset that was annotated
	Spacing [3]float64 // size of a voxel of mag 1, in nm; 0 if unknown
	Volumes []Volume
	Trees   []Tree
}

// Volume is a volume layer of an annotation.
type Volume struct {
	ID, Name string // the name is "" in old files
	Location string // of its data, relative to the file; "" if they were left out at download
	Fallback string // the layer of the dataset that the volume lies over; "" if there is none
	Mapping  string // that was active
	Edited   bool   // the mapping was edited: proofreading
}

// Tree is a skeleton.
type Tree struct {
	ID, Name string
	Nodes    []Node
	Edges    [][2]int64 // ids of nodes
}

// Node is a point of a tree.
type Node struct {
	ID     int64
	Radius float64 // in nm, as the file has it
	At     [3]float64
}

// Limits of a file. No real one reaches them.
const (
	maxBytes   = 256 << 20
	maxVolumes = 1000
	maxNodes   = 4 << 20 // with edges and trees
)

// Read reads a file.
func Read(fsys fs.FS, name string) (*Annotation, error) {
	f, info, err := vfs.OpenRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > maxBytes {
		return nil, &volume.UnsupportedError{
			File: name, Part: "NML", Offset: -1, Expected: fmt.Sprintf("at most %d bytes", maxBytes),
			Found: fmt.Sprint(info.Size()),
		}
	}
	return parse(name, f)
}

// parser is a file that is being read.
type parser struct {
	Annotation
	items int // nodes, edges and trees
}

// parse reads a file to its end. An error has the offset of what is wrong.
func parse(name string, r io.Reader) (*Annotation, error) {
	d := xml.NewDecoder(io.LimitReader(r, maxBytes))
	p := &parser{}
	root, depth := false, 0
	for {
		at := d.InputOffset()
		token, err := d.RawToken()
		if err == io.EOF && root && depth == 0 {
			return &p.Annotation, nil
		}
		if err == io.EOF {
			err = fmt.Errorf("expected the end of %d elements, found that of the file", depth)
		}
		if err == nil {
			switch token := token.(type) {
			case xml.Directive:
				err = errors.New("expected no document type, found one")
			case xml.StartElement:
				if depth++; depth == 1 {
					if root = token.Name.Local == "things"; !root {
						err = fmt.Errorf("expected the element things, found %.100q", token.Name.Local)
					}
				}
				if err == nil {
					err = p.element(token.Name.Local, attributesOf(token))
				}
			case xml.EndElement:
				if depth--; depth < 0 {
					err = fmt.Errorf("expected no end of an element, found that of %.100q", token.Name.Local)
				}
			}
		}
		if err != nil {
			return nil, &volume.FormatError{File: name, Part: "NML", Offset: at, Err: err}
		}
	}
}

// attributes are those of an element, by name.
type attributes map[string]string

func attributesOf(e xml.StartElement) attributes {
	a := make(attributes, len(e.Attr))
	for _, x := range e.Attr {
		a[x.Name.Local] = x.Value
	}
	return a
}

func (a attributes) number(name string) float64 {
	f, err := strconv.ParseFloat(a[name], 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// integer returns an attribute that must be an integer.
func (a attributes) integer(name string) (int64, error) {
	n, err := strconv.ParseInt(a[name], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: expected an integer, found %.100q", name, a[name])
	}
	return n, nil
}

// element adds an element.
func (p *parser) element(name string, a attributes) error {
	switch name {
	case "experiment":
		p.Dataset = a["name"]
	case "scale":
		p.setSpacing(a)
	case "volume":
		if len(p.Volumes) == maxVolumes {
			return fmt.Errorf("volume: expected at most %d, found more", maxVolumes)
		}
		edited := a["editedMappingEdgesLocation"] != ""
		p.Volumes = append(p.Volumes, Volume{a["id"], a["name"], a["location"], a["fallbackLayer"], a["mappingName"],
			edited})
	case "thing", "node", "edge":
		if p.items++; p.items > maxNodes {
			return fmt.Errorf("trees: expected at most %d nodes, edges and trees, found more", maxNodes)
		}
		return p.tree(name, a)
	}
	return nil
}

// setSpacing reads the size of a voxel. A unit that is not known leaves it unknown.
func (p *parser) setSpacing(a attributes) {
	unit := 1.0
	if name := a["unit"]; name != "" {
		unit = chunked.Nanometres(name)
	}
	t := chunked.Transform{Scale: [3]float64{a.number("x"), a.number("y"), a.number("z")},
		Unit: [3]float64{unit, unit, unit}}
	p.Spacing = t.Spacing()
}

// tree adds a part of a tree.
func (p *parser) tree(name string, a attributes) error {
	if name == "thing" {
		p.Trees = append(p.Trees, Tree{ID: a["id"], Name: a["name"]})
		return nil
	}
	if len(p.Trees) == 0 {
		return fmt.Errorf("%s: expected it in a thing, found it outside", name)
	}
	t := &p.Trees[len(p.Trees)-1]
	if name == "edge" {
		from, err := a.integer("source")
		if err != nil {
			return fmt.Errorf("edge: %w", err)
		}
		to, err := a.integer("target")
		if err != nil {
			return fmt.Errorf("edge: %w", err)
		}
		t.Edges = append(t.Edges, [2]int64{from, to})
		return nil
	}
	id, err := a.integer("id")
	if err != nil {
		return fmt.Errorf("node: %w", err)
	}
	t.Nodes = append(t.Nodes, Node{id, a.number("radius"), [3]float64{a.number("x"), a.number("y"), a.number("z")}})
	return nil
}
