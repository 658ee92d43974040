package importer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
)

// Need is a value that an import needs and that neither options, input nor dataset have.
type Need struct {
	Field Field
	Err   error  // why it is needed
	Value string // the only one that is possible, if there is only one
}

// Field is a field of Options, or of the description of an input without a header.
type Field string

// Values of Field.
const (
	FieldLayer     Field = "layer"
	FieldShape     Field = "shape"
	FieldType      Field = "dtype"
	FieldVoxelSize Field = "voxel-size"
	FieldOffset    Field = "offset"
	FieldCategory  Field = "category"
	FieldAxes      Field = "axes"
)

// MissingError is the error of an import that lacks values. It has all of them.
type MissingError struct{ Needs []Need }

func (e *MissingError) Error() string {
	var all []string
	for _, n := range e.Needs {
		all = append(all, fmt.Sprintf("%s is missing: %v", n.Field, n.Err))
	}
	return strings.Join(all, "; ")
}

// Unwrap returns the errors of all needs.
func (e *MissingError) Unwrap() (all []error) {
	for _, n := range e.Needs {
		all = append(all, n.Err)
	}
	return all
}

// Missing returns the needs that an import into the dataset in dir, or an update, has for every input without a header.
// It is for an input that cannot be opened before its shape and type are given.
func Missing(dir string, o Options, update bool) ([]Need, error) {
	meta, err := readMetadata(dir)
	if err != nil {
		return nil, err
	}
	l := &layer{Options: o, in: &arrayfile.Array{}}
	var needs []Need
	second := func() error { return l.setVoxelSize(meta) }
	if update {
		second = l.checkOffset
	}
	err = collect(&needs, l.checkName, second)
	return needs, err
}

// collect calls functions, and adds the needs of their errors to the list. It stops at the first other error.
func collect(needs *[]Need, steps ...func() error) error {
	for _, step := range steps {
		err := step()
		if need, ok := errors.AsType[*MissingError](err); ok {
			*needs = append(*needs, need.Needs...)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func missing(f Field, err error) error { return &MissingError{[]Need{{Field: f, Err: err}}} }

// unknownVoxelSize returns the error of voxels without a size on some axes.
func unknownVoxelSize(size, have [3]float64) error {
	var axes []string
	for axis := range 3 {
		if have[axis] == 0 && !validLength(size[axis]) {
			axes = append(axes, string("xyz"[axis]))
		}
	}
	if axes == nil {
		return nil
	}
	return missing(FieldVoxelSize, fmt.Errorf("%w on axis %s", ErrNoScale, strings.Join(axes, ", ")))
}

func validLength(nm float64) bool { return nm > 0 && nm <= arrayfile.MaxSpacing }
