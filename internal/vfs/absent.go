package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// CheckAbsent returns err, the error of a request for name. If err says that name does not exist although an element of
// the path exists, CheckAbsent returns an error that names this element and is not fs.ErrNotExist: a link that cannot
// be followed, or a file where a directory has to be. Such an element stands for data that were written, so a format
// must not treat them as absent and return zeros.
//
// CheckAbsent checks the elements of name below dir. name is a path in fsys, not relative to dir.
func CheckAbsent(fsys fs.FS, dir, name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	rest, at := name, "."
	if dir != "." {
		rest, at = strings.TrimPrefix(name, dir+"/"), dir
	}
	for part := range strings.SplitSeq(rest, "/") {
		at = path.Join(at, part)
		info, lstatErr := fs.Lstat(fsys, at)
		if lstatErr != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if fault := LinkFault(fsys, at); fault != "" {
				return fmt.Errorf("%s: %s", at, fault)
			}
			if info, lstatErr = fs.Stat(fsys, at); lstatErr != nil {
				return err
			}
		}
		if at != name {
			if kindErr := CheckKind(at, info, fs.ModeDir); kindErr != nil {
				return kindErr
			}
		}
	}
	return err
}

// ErrLeadsOut is the error of a path with a symbolic link that leads out of the source.
var ErrLeadsOut = errors.New("a symbolic link leads out of SOURCE; --follow-links follows it")

// LinkFault returns why the symbolic link name cannot be followed. It returns "" if it can.
func LinkFault(fsys fs.FS, name string) string {
	_, err := fs.Stat(fsys, name)
	switch {
	case err == nil:
		return ""
	case errors.Is(err, fs.ErrNotExist):
		return "a symbolic link that leads nowhere"
	case errors.Is(err, ErrLeadsOut):
		return ErrLeadsOut.Error()
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Sprintf("a symbolic link that is not followed: %v", err)
}
