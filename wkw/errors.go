package wkw

import "github.com/wkwfs/wkwfs/volume"

func invalid(file, part string, offset int64, expected, found string) error {
	return &volume.FormatError{File: file, Part: part, Offset: offset, Expected: expected, Found: found}
}

func unsupported(file, part string, offset int64, expected, found string) error {
	return &volume.UnsupportedError{File: file, Part: part, Offset: offset, Expected: expected, Found: found}
}
