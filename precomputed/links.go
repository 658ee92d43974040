package precomputed

import (
	"errors"
	"fmt"
	"io/fs"
)

// absent returns the error that the name gave, but lets it say that there is no such
// file only where that is so. What is behind a symbolic link that leads nowhere was
// written once, and must not be shown as zeros.
func absent(fsys fs.FS, name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for end := range len(name) + 1 {
		if end < len(name) && name[end] != '/' {
			continue
		}
		part := name[:end]
		info, lstatErr := fs.Lstat(fsys, part)
		if lstatErr != nil {
			return err
		}
		if _, statErr := fs.Stat(fsys, part); statErr != nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s: a symbolic link that leads nowhere", part)
		}
	}
	return err
}
