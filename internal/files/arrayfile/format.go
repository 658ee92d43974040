package arrayfile

import "bytes"

// format is a format of files. Each has a file of this package, beside the one of its position if it has any.
type format struct {
	// is reports whether a file starts as those of the format do.
	is func(start []byte) bool
	// open reads the header of a file, and describes the array.
	open func(a *Array, in input) error
	// packs says that files of the format may be compressed by gzip as a whole.
	packs bool

	// plane opens a file that is a plane of a directory. The first one describes the array. Nil: there are no such
	// files. Those that there are have a name of the format, for messages, and suffixes in lower case.
	plane    func(a *Array, f *file, first bool) (plane, error)
	name     string
	suffixes []string
}

// formats has all formats with a header. The first one that a file starts as is its format.
var formats = []format{npyFormat, nrrdFormat, tiffFormat, niftiFormat, mrcFormat, metaFormat, pngFormat, jpegFormat}

// input is a file whose format is known.
type input struct {
	file   *file
	start  []byte  // its first bytes, or those that a stream has: startSize, if there are as many
	packed *stream // nil, unless the file is compressed by gzip as a whole
}

// formatOf returns the format of a file with these first bytes.
func formatOf(start []byte) (format, bool) {
	for _, f := range formats {
		if f.is(start) {
			return f, true
		}
	}
	return format{}, false
}

// startsWith returns a function that reports whether bytes start with magic.
func startsWith(magic string) func([]byte) bool {
	return func(start []byte) bool { return bytes.HasPrefix(start, []byte(magic)) }
}

// asPlane returns a function that opens a file as an array of one plane.
func asPlane(open func(*Array, *file, bool) (plane, error)) func(*Array, input) error {
	return func(a *Array, in input) error {
		p, err := open(a, in.file, true)
		if err != nil {
			return err
		}
		return a.setPlanes([]plane{p})
	}
}
