package arrayfile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/wkwfs/wkwfs/volume"
)

// Array is an array of voxels in a file or in a directory of files.
type Array struct {
	// Grid has type, channels, size and spacing in nm. Axes without a spacing in the header have 0. Origin is the
	// position in the header, in voxels, if Positioned. There are no blocks.
	Grid       volume.Grid
	Positioned bool
	// Times is the number of points in time, if they are several; else 0. Each has as many planes: those of the first
	// come first.
	Times int
	// PositionErr is the error of a position that a layer cannot have. The voxels can be read.
	PositionErr error
	Labels      Labels
	// Layout has the axes of the file, unless its header names them. SetAxes changes them.
	Layout Layout
	// Coarser has the smaller copies of a pyramid, finest first. They share the files of the array.
	Coarser []*Array
	// Warnings has a sentence for each assumption about the header, and for each part of the header that is not
	// followed.
	Warnings []string

	voxels    voxels
	natural   *natural // what SetAxes has changed; nil if it was not called
	bigEndian bool
	dir       directory // of the files
	files     []*file
	also      func() error // closes what is open besides; may be nil
}

// directory is where the files of an array are.
type directory struct {
	fs.FS
	name    string // in the file system
	display string // for messages; "": it has no path
}

// path returns the path of a file for messages.
func (d directory) path(name string) string { return filepath.Join(d.display, name) }

// voxels is where the voxels of an array are.
type voxels interface {
	// read reads a box, which is not empty and within the array, into dst, as little-endian values.
	read(ctx context.Context, box volume.Box, dst []byte) error
}

// Labels is what a header says about the meaning of values.
type Labels struct {
	Content Content
	Why     string // what in the header says so; empty if Unknown
}

// Content is the meaning of values.
type Content int

// Values of Content.
const (
	Unknown      Content = iota
	Image                // intensities
	Segmentation         // ids
)

// warn adds a warning.
func (a *Array) warn(format string, args ...any) {
	a.Warnings = append(a.Warnings, fmt.Sprintf(format, args...))
}

// Close closes the files. Later reads open those that they need, and fail if one has changed.
func (a *Array) Close() error {
	var all []error
	for _, f := range a.files {
		if f.held() != nil {
			all = append(all, f.drop())
		}
	}
	if a.also != nil {
		all = append(all, a.also())
	}
	return errors.Join(all...)
}

// Name returns the path of the file, or of the directory of several files.
func (a *Array) Name() string {
	if len(a.files) > 1 {
		return filepath.Dir(a.files[0].Name())
	}
	return a.files[0].Name()
}

// Fingerprint returns a hash of the versions of all files, and of the order of their bytes and axes. It is the same on
// all machines that see the files.
func (a *Array) Fingerprint() []byte {
	sum := sha256.New()
	for _, f := range a.files {
		fmt.Fprintln(sum, f.state)
	}
	fmt.Fprintln(sum, a.bigEndian, a.Layout.Axes)
	return sum.Sum(nil)
}

// Unchanged fails if a file has changed since it was opened.
func (a *Array) Unchanged() error {
	for _, f := range a.files {
		if err := f.unchanged(); err != nil {
			return err
		}
	}
	return nil
}
