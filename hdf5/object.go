package hdf5

import (
	"fmt"
	"sync"
)

// Object is a *[Group], a *[Dataset] or a *[NamedType].
type Object interface {
	// Path returns the path of the object. It begins with a slash, and has no soft links.
	Path() string
	// Address returns the address of the object's header. It identifies the object in its file, whatever its path.
	Address() uint64
	// Attribute returns the attribute of a name, and whether there is one. The error is about this attribute, or about
	// the place of all.
	Attribute(name string) (*Attribute, bool, error)
	// Attributes returns all attributes that can be read, in the order of the file, and an error if there are others.
	Attributes() ([]*Attribute, error)
}

// object is what all objects have.
type object struct {
	file   *File
	path   string
	header *header

	attributes *attributes
}

// Path implements [Object].
func (o *object) Path() string { return o.path }

// Address implements [Object].
func (o *object) Address() uint64 { return o.header.addr }

// NamedType is a committed datatype.
type NamedType struct {
	object
	datatype Datatype
}

// Type returns the datatype.
func (n *NamedType) Type() Datatype { return n.datatype }

// AtAddress returns the object whose header is at an address, as of a reference. path is the name that messages and
// Path have.
func (f *File) AtAddress(address uint64, path string) (Object, error) {
	h, err := f.header(address)
	if err != nil {
		return nil, named(path, err)
	}
	o := object{file: f, path: path, header: h, attributes: new(attributes)}
	_, isDataset := h.first(msgLayout)
	for _, kind := range []uint16{msgSymbolTable, msgLinkInfo, msgGroupInfo, msgLink} {
		if _, ok := h.first(kind); ok && !isDataset {
			return &Group{object: o}, nil
		}
	}
	m, hasType := h.first(msgType)
	switch {
	case isDataset:
		d := &Dataset{object: o}
		if err := d.read(); err != nil {
			return nil, named(path, err)
		}
		return d, nil
	case hasType:
		n := &NamedType{object: o}
		if n.datatype, err = f.readType(m); err != nil {
			return nil, named(path, err)
		}
		return n, nil
	}
	return nil, &FormatError{Path: path, Address: address, Field: "object header",
		Expected: "a group, a dataset or a datatype",
		Found:    fmt.Sprintf("%d messages of others", len(h.messages))}
}

// kindOf names the kind of an object.
func kindOf(o Object) string {
	switch o.(type) {
	case *Group:
		return "a group"
	case *Dataset:
		return "a dataset"
	}
	return "a datatype"
}

// attributes has the messages of the attributes of an object, once they were read.
type attributes struct {
	mu     sync.Mutex
	read   bool
	all    []message
	failed error // what prevents to read some
}
